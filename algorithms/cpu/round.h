/* SPDX-License-Identifier: Apache-2.0
 * round.h: exact integers and quotients of them, rounded once to nearest-even, gradual underflow included. */
#ifndef IH_CPU_ROUND_H
#define IH_CPU_ROUND_H

#include "isohull.h"
#include "limbs.h"

#include <assert.h>
#include <math.h>

enum { IH_LIMBS_S = 68, IH_LIMBS_W = 35 }; /* float64: 2148 + 2048 + 63 bits of sum w y, 1074 + 1024 + 63 of sum w */

/* A positive number known well enough to be rounded: between q 2^e, which it is if inexact is 0, and (q + 1) 2^e.
 * q has at least 62 bits, or is exact; 0 is q = 0. */
typedef struct ih_lead { uint64_t q; int32_t e; int32_t inexact; } ih_lead;

/* Round to `digits` bits, none of them below 2^least. Overflow gives infinity. */
static inline double ih_round_lead(ih_lead v, int negative, int digits, int least)
{
    const int bits = ih_bits64(v.q);
    int       drop = bits - digits;
    uint64_t  r    = v.q;
    double    z;

    if (drop < least - v.e) drop = least - v.e;
    if (drop > 64) { /* below half of the least number */
        r = 0;
    } else if (drop > 0) {
        const uint64_t half = (uint64_t)1 << (drop - 1), rest = v.q & (half - 1);
        const int      up = (v.q & half) != 0;
        r                 = drop == 64 ? 0 : v.q >> drop;
        if (up && (rest || v.inexact || (r & 1))) ++r;
    } else {
        drop = 0; /* few bits: exact by the definition of ih_lead */
    }
    if (r == 0) {
        z = 0.0;
    } else if (ih_bits64(r) + v.e + drop > (digits == 24 ? 128 : 1024)) {
        z = INFINITY;
    } else {
        z = ldexp((double)r, v.e + drop);
    }
    return negative ? -z : z;
}

static inline double ih_round_lead_to(ih_lead v, int negative, ih_dtype dtype)
{
    return dtype == IH_F32 ? ih_round_lead(v, negative, 24, -149) : ih_round_lead(v, negative, 53, -1074);
}

/* The leading bits of d 2^e, d trimmed. */
static inline ih_lead ih_lead_of(const uint64_t *d, int n, int e)
{
    ih_lead   v;
    const int bits = ih_limbs_bits(d, n), low = bits > 64 ? bits - 64 : 0;

    v.q       = ih_limbs_window(d, n, low);
    v.e       = e + low;
    v.inexact = ih_limbs_any_below(d, n, low);
    return v;
}

/* s 2^es / w 2^ew, both trimmed, w not 0.
 * With D = w brought to whole limbs (top bit set) and N the leading 64 nw + 63 bits of s, N / D is one limb, found by one
 * step of long division: an estimate from the top limbs, at most 2 too large, then corrected. */
ih_lead ih_divide(const uint64_t *s, int ns, int es, const uint64_t *w, int nw, int ew);

#endif
