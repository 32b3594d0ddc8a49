/* SPDX-License-Identifier: Apache-2.0
 * round.c: one limb of a quotient of long integers. */
#include "round.h"

ih_lead ih_divide(const uint64_t *s, int ns, int es, const uint64_t *w, int nw, int ew)
{
    const int bs = ih_limbs_bits(s, ns), bw = ih_limbs_bits(w, nw);
    const int ps = bs - (64 * nw + 63), pw = bw - 64 * nw; /* N = s 2^-ps, D = w 2^-pw */
    uint64_t  n[IH_LIMBS_W + 1], d[IH_LIMBS_W], borrow = 0, carry = 0;
    ih_u128   top, guess;
    ih_lead   v = { 0, 0, 0 };

    assert(nw > 0 && nw <= IH_LIMBS_W);
    if (ns == 0) return v;
    for (int k = 0; k < nw; ++k) d[k] = ih_limbs_window(w, nw, 64 * k + pw);
    for (int k = 0; k <= nw; ++k) n[k] = ih_limbs_window(s, ns, 64 * k + ps);
    v.e       = (es + ps) - (ew + pw);
    v.inexact = ps > 0 && ih_limbs_any_below(s, ns, ps);

    /* N < D 2^64 with D's top bit set, so n[nw] < d[nw - 1] */
    top   = (ih_u128)n[nw] << 64 | n[nw - 1];
    guess = top / d[nw - 1];
    if (nw > 1) {
        ih_u128 rest = top % d[nw - 1];
        while (!(rest >> 64) && (guess >> 64 || (ih_u128)(uint64_t)guess * d[nw - 2] > (rest << 64 | n[nw - 2]))) {
            --guess;
            rest += d[nw - 1];
        }
    }
    v.q = (uint64_t)guess;
    for (int k = 0; k < nw; ++k) { /* n -= q d */
        const ih_u128 p = (ih_u128)v.q * d[k] + carry;
        const ih_u128 t = (ih_u128)n[k] - (uint64_t)p - borrow;
        n[k]            = (uint64_t)t;
        borrow          = (uint64_t)(t >> 64) & 1;
        carry           = (uint64_t)(p >> 64);
    }
    if (n[nw] < (ih_u128)carry + borrow) { /* one too large: take it back */
        --v.q;
        ih_limbs_add(n, nw, d, nw);
    }
    for (int k = 0; k < nw; ++k) v.inexact |= n[k] != 0;
    return v;
}
