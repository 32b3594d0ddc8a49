/* SPDX-License-Identifier: Apache-2.0
 * integer.h: integers of 32-bit limbs in memory of the caller's, for host and device. The limbs of a number may stand apart
 * (step), so that those of neighbouring threads lie side by side.
 *
 * A number at work is in two's complement, and only the limbs between its lowest and highest term are there:
 *
 *   limb     low                 high - 1
 *   0 0 0 0 | x | x | x | x | x | sign | sign sign ..      below low: zeros; the topmost limb is 0 or ~0, as all above are
 *
 * After ih_wide_finish it is a magnitude, without zero limbs at its ends. */
#ifndef IH_EXACT_INTEGER_H
#define IH_EXACT_INTEGER_H

#include "../common/bits.h"

typedef struct ih_wide {
    uint32_t *d;         /* limb k, of place 2^(32 k), at d[k step] */
    int64_t   step;
    int32_t   low, high; /* low = high: zero                        */
} ih_wide;

IH_HD int32_t ih_bits_of_word(uint64_t v)
{
    const uint32_t high = (uint32_t)(v >> 32), low = (uint32_t)v;
    return high ? 33 + ih_bit_high(high) : low ? 1 + ih_bit_high(low) : 0;
}

/* a b = high 2^64 + low. */
IH_HD uint64_t ih_multiply_words(uint64_t a, uint64_t b, uint64_t *low)
{
#if defined(__CUDA_ARCH__)
    *low = a * b;
    return __umul64hi(a, b);
#else
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t mid = a1 * b0 + (a0 * b0 >> 32), cross = a0 * b1 + (uint32_t)mid;
    *low = a * b;
    return a1 * b1 + (mid >> 32) + (cross >> 32);
#endif
}

IH_HD ih_wide ih_wide_at(uint32_t *d, int64_t step)
{
    ih_wide a;
    a.d    = d;
    a.step = step;
    a.low  = 0;
    a.high = 0;
    return a;
}

IH_HD uint32_t ih_wide_limb(const ih_wide *a, int32_t k) { return a->d[k * a->step]; }

/* Room for a term in limbs from .. to - 1, with a limb for its carry. */
IH_HD void ih_wide_reserve(ih_wide *a, int32_t from, int32_t to)
{
    uint32_t sign = 0;

    if (a->low == a->high) {
        a->low  = from;
        a->high = from;
    } else {
        sign = ih_wide_limb(a, a->high - 1);
    }
    while (a->low > from) a->d[--a->low * a->step] = 0;
    while (a->high < to + 1) a->d[a->high++ * a->step] = sign;
}

/* a += or -= (m1 2^64 + m0) 2^place, not 0; place >= 0. */
IH_HD void ih_wide_add(ih_wide *a, uint64_t m1, uint64_t m0, int32_t place, int32_t negative)
{
    const int32_t  k = place >> 5, s = place & 31;
    const uint64_t x0 = m0 << s, x1 = s ? m1 << s | m0 >> (64 - s) : m1, x2 = s ? m1 >> (64 - s) : 0;
    const int32_t  count = x2 ? 5 : x1 >> 32 ? 4 : x1 ? 3 : x0 >> 32 ? 2 : 1;
    const uint32_t flip  = negative ? ~0u : 0; /* -v = ~v + 1, and ~0 above it */
    uint32_t      *at;
    uint64_t       t;
    uint32_t       top;
    int32_t        i;

    ih_wide_reserve(a, k, k + count);
    at = a->d + k * a->step;
    t  = flip & 1;
    for (i = 0; i < count; ++i) {
        const uint64_t x = i < 2 ? x0 : i < 4 ? x1 : x2;
        t += (uint64_t)*at + ((uint32_t)(i & 1 ? x >> 32 : x) ^ flip);
        *at = (uint32_t)t;
        t >>= 32;
        at += a->step;
    }
    /* adding ~0 and a carry of 1 changes nothing, adding 0 and a carry of 0 neither */
    for (i = k + count; i < a->high && (uint32_t)t != (flip & 1); ++i) {
        t += (uint64_t)*at + flip;
        *at = (uint32_t)t;
        t >>= 32;
        at += a->step;
    }
    top = ih_wide_limb(a, a->high - 1);
    if (top != 0 && top != ~0u) a->d[a->high++ * a->step] = top >> 31 ? ~0u : 0;
}

/* a holds k limbs of two's complement from limb 0: leave out those that only repeat, or are 0 at the lower end. */
IH_HD void ih_wide_trim(ih_wide *a, int32_t k)
{
    const uint32_t sign = ih_wide_limb(a, k - 1) >> 31 ? ~0u : 0;

    a->d[k * a->step] = sign;
    a->low            = 0;
    a->high           = k + 1;
    while (a->high > 1 && ih_wide_limb(a, a->high - 2) == sign) --a->high;
    while (a->low < a->high - 1 && ih_wide_limb(a, a->low) == 0) ++a->low;
}

/* a = to - from, two's complement of k limbs side by side; NULL: 0. */
IH_HD void ih_wide_between(ih_wide *a, const uint32_t *from, const uint32_t *to, int32_t k)
{
    uint64_t borrow = 0;

    for (int32_t i = 0; i < k; ++i) {
        const uint64_t t = (uint64_t)(to ? to[i] : 0) - (from ? from[i] : 0) - borrow;
        a->d[i * a->step] = (uint32_t)t;
        borrow            = t >> 63;
    }
    ih_wide_trim(a, k);
}

/* a = b + c, two's complement of k limbs, all with the step of a; c NULL: 0. Not trimmed. */
IH_HD void ih_wide_sum(const ih_wide *a, const ih_wide *b, const ih_wide *c, int32_t k)
{
    uint64_t t = 0;

    for (int32_t i = 0; i < k; ++i) {
        t += (uint64_t)ih_wide_limb(b, i) + (c ? ih_wide_limb(c, i) : 0);
        a->d[i * a->step] = (uint32_t)t;
        t >>= 32;
    }
}

/* All k limbs of two's complement into out, out_step apart. */
IH_HD void ih_wide_store(const ih_wide *a, uint32_t *out, int64_t out_step, int32_t k)
{
    const uint32_t sign = a->low < a->high ? ih_wide_limb(a, a->high - 1) : 0;
    for (int32_t i = 0; i < k; ++i) out[i * out_step] = i < a->low ? 0 : i < a->high ? ih_wide_limb(a, i) : sign;
}

/* Leave out zero limbs at the ends of a magnitude; returns 0 if there is nothing else. */
IH_HD int32_t ih_wide_strip(ih_wide *a)
{
    while (a->low < a->high && ih_wide_limb(a, a->high - 1) == 0) --a->high;
    while (a->low < a->high && ih_wide_limb(a, a->low) == 0) ++a->low;
    return a->low < a->high;
}

/* Into a magnitude; returns the sign. */
IH_HD int32_t ih_wide_finish(ih_wide *a)
{
    int32_t sign = 1;

    if (a->low < a->high && ih_wide_limb(a, a->high - 1) != 0) {
        uint32_t carry = 1;
        for (int32_t k = a->low; k < a->high; ++k) {
            const uint32_t d  = ~ih_wide_limb(a, k) + carry;
            carry             = carry & (d == 0);
            a->d[k * a->step] = d;
        }
        sign = -1;
    }
    return ih_wide_strip(a) ? sign : 0;
}

/* A magnitude below 2^96 that begins at limb 0. */
IH_HD ih_wide ih_wide_small(uint32_t *d, uint64_t m1, uint64_t m0)
{
    ih_wide a = ih_wide_at(d, 1);
    d[0]      = (uint32_t)m0;
    d[1]      = (uint32_t)(m0 >> 32);
    d[2]      = (uint32_t)m1;
    a.high    = 3;
    ih_wide_strip(&a);
    return a;
}

/* The leading 64 bits of a magnitude, which lies in [q, q + 1) 2^place, q >= 2^63. */
IH_HD uint64_t ih_wide_lead(const ih_wide *a, int32_t *place)
{
    const int32_t  h    = a->high;
    const uint64_t top  = (uint64_t)ih_wide_limb(a, h - 1) << 32 | (h - 2 >= a->low ? ih_wide_limb(a, h - 2) : 0);
    const uint32_t next = h - 3 >= a->low ? ih_wide_limb(a, h - 3) : 0;
    const int32_t  lift = 64 - ih_bits_of_word(top);
    *place              = 32 * (h - 2) - lift;
    return lift ? top << lift | next >> (32 - lift) : top;
}

/* A sum of products of limbs, below 2^127, of either sign. */
typedef struct ih_column { uint64_t low; int64_t high; } ih_column;

/* Add the column `at` of a b. */
IH_HD void ih_column_add(ih_column *c, const ih_wide *a, const ih_wide *b, int32_t at, int32_t negative)
{
    const int32_t from = a->low > at - b->high + 1 ? a->low : at - b->high + 1;
    const int32_t to   = a->high - 1 < at - b->low ? a->high - 1 : at - b->low;

    for (int32_t i = from; i <= to; ++i) {
        const uint64_t p = (uint64_t)ih_wide_limb(a, i) * ih_wide_limb(b, at - i);
        if (negative) {
            c->high -= c->low < p;
            c->low -= p;
        } else {
            c->low += p;
            c->high += c->low < p;
        }
    }
}

/* Sign of a b 2^(32 shift) - c d in full, column by column from below, so that no product is kept. */
IH_HD_SLOW int32_t ih_wide_cross_full(const ih_wide *a, const ih_wide *b, const ih_wide *c, const ih_wide *d, int32_t shift)
{
    const int32_t low1 = a->low + b->low + shift, low2 = c->low + d->low;
    const int32_t high1 = a->high + b->high + shift, high2 = c->high + d->high;
    ih_column     sum   = { 0, 0 };
    uint32_t      any   = 0;

    for (int32_t k = low1 < low2 ? low1 : low2; k < high1 || k < high2; ++k) {
        ih_column_add(&sum, a, b, k - shift, 0);
        ih_column_add(&sum, c, d, k, 1);
        any |= (uint32_t)sum.low;
        sum.low = sum.low >> 32 | (uint64_t)sum.high << 32;
        sum.high >>= 32;
    }
    return sum.high < 0 ? -1 : (sum.low | any) != 0;
}

/* Sign of a b 2^(32 shift) - c d, all magnitudes, none 0. Leading bits decide unless the products agree to 2^-60:
 * with a, b in [q, q + 1), [r, r + 1) and h the high word of q r, the product is in [h, h + 3) 2^64. */
IH_HD int32_t ih_wide_cross(const ih_wide *a, const ih_wide *b, const ih_wide *c, const ih_wide *d, int32_t shift)
{
    int32_t        place[4], apart;
    const uint64_t qa = ih_wide_lead(a, &place[0]), qb = ih_wide_lead(b, &place[1]);
    const uint64_t qc = ih_wide_lead(c, &place[2]), qd = ih_wide_lead(d, &place[3]);
    uint64_t       p, q, unused;

    apart = place[0] + place[1] + 32 * shift - place[2] - place[3];
    if (apart >= 2) return 1; /* both products are in [2^126, 2^128) of their places */
    if (apart <= -2) return -1;
    p = ih_multiply_words(qa, qb, &unused);
    q = ih_multiply_words(qc, qd, &unused);
    if (apart > 0) q >>= 1;
    else if (apart < 0) p >>= 1;
    if (p > q && p - q >= 3) return 1;
    if (q > p && q - p >= 3) return -1;
    return ih_wide_cross_full(a, b, c, d, shift);
}

#endif
