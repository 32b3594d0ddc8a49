/* SPDX-License-Identifier: Apache-2.0
 * round.h: exact means and sums of weights rounded once to nearest-even, gradual underflow included, for host and device. */
#ifndef IH_EXACT_ROUND_H
#define IH_EXACT_ROUND_H

#include "sums.h"

/* A number of whole units of 2^e, e as wide as needed. */
typedef struct ih_rounded { uint64_t r; int32_t e; } ih_rounded;

/* q 2^e (a little above it if more is set), rounded to `digits` bits, none of them below 2^least. At most 64 bits are
 * dropped, or the number is below half of 2^least. *floor: the same, cut off. */
IH_HD ih_rounded ih_round_word(uint64_t q, int32_t e, int32_t more, int32_t digits, int32_t least, uint64_t *floor)
{
    int32_t    drop = ih_bits_of_word(q) - digits;
    ih_rounded v;

    if (drop < least - e) drop = least - e;
    if (drop < 0) drop = 0;
    v.e    = e + drop;
    *floor = drop < 64 ? q >> drop : 0;
    v.r    = *floor;
    if (drop > 0 && drop <= 64) {
        const uint64_t half = (uint64_t)1 << (drop - 1);
        if (q & half && ((q & (half - 1)) || more || (v.r & 1))) ++v.r;
    }
    return v;
}

IH_HD double ih_rounded_double(ih_rounded v, int32_t digits)
{
    if (v.r == 0) return 0.0;
    if (ih_bits_of_word(v.r) + v.e > (digits == 24 ? 128 : 1024)) return INFINITY;
    return ldexp((double)v.r, v.e);
}

/* floor(a 2^62 / b), a and b at least 2^63. */
IH_HD uint64_t ih_divide_words(uint64_t a, uint64_t b)
{
    uint64_t q = a >= b, rest = a >= b ? a - b : a;

    for (int32_t k = 0; k < 62; ++k) {
        const uint64_t top = rest >> 63, twice = rest << 1;
        const int32_t  take = top || twice >= b;
        rest = take ? twice - b : twice;
        q    = q << 1 | (uint64_t)take;
    }
    return q;
}

/* s / w of magnitudes, not 0, to the type of kind (its F32 bit). The leading words give the quotient between q - 1 and
 * q + 2, q >= 2^61; if these round apart, the exact sign of s - boundary w decides. */
IH_HD_SLOW double ih_exact_divide(const ih_wide *s, const ih_wide *w, ih_frame f, int32_t kind)
{
    const int32_t  digits = kind & IH_KIND_F32 ? 24 : 53, least = kind & IH_KIND_F32 ? -149 : -1074;
    int32_t        ps, pw, e;
    const uint64_t a = ih_wide_lead(s, &ps), b = ih_wide_lead(w, &pw), q = ih_divide_words(a, b);
    uint64_t       floor, unused;
    ih_rounded     low, high;

    e    = ps + f.ey - (pw + f.ex) - 62;
    low  = ih_round_word(q - 1, e, 0, digits, least, &floor);
    high = ih_round_word(q + 2, e, 0, digits, least, &unused);
    if (ih_rounded_double(low, digits) != ih_rounded_double(high, digits)) {
        /* (2 floor + 1) 2^(low.e - 1) w against s, places brought to whole limbs */
        const int32_t  bits = f.ey - f.ex - (low.e - 1), limbs = bits >= 0 ? (bits + 31) / 32 : -(-bits / 32), up = 32 * limbs - bits;
        const uint64_t m = 2 * floor + 1;
        uint32_t       room_m[3], room_one[3];
        const ih_wide  boundary = ih_wide_small(room_m, up ? m >> (64 - up) : 0, m << up), one = ih_wide_small(room_one, 0, 1);
        const int32_t  side = ih_wide_cross(s, &one, &boundary, w, limbs);
        low.r = floor + (side > 0 || (side == 0 && (floor & 1)));
    }
    return ih_rounded_double(low, digits);
}

/* The mean of a sum in the caller's direction: signed as the exact one where it underflows, +0 where it is 0. */
IH_HD double ih_exact_mean_of(const ih_exact_row *r, const ih_exact_sum *sum, int32_t kind)
{
    double q;
    if (sum->sign == 0) return 0.0;
    q = ih_exact_divide(&sum->s, &sum->w, r->frame, kind);
    return (sum->sign < 0) != (r->decreasing != 0) ? -q : q;
}

/* The sum of weights as a double, infinite if it is too large. */
IH_HD double ih_exact_weight_of(const ih_exact_row *r, const ih_exact_sum *sum)
{
    int32_t        place;
    const uint64_t q = ih_wide_lead(&sum->w, &place);
    uint64_t       unused;
    int32_t        more = 0;

    for (int32_t k = sum->w.low; k < sum->w.high - 3; ++k) more |= ih_wide_limb(&sum->w, k) != 0;
    if (sum->w.high - 3 >= sum->w.low) { /* bits of the third limb that are not in q */
        const int32_t rest = place - 32 * (sum->w.high - 3);
        more |= (ih_wide_limb(&sum->w, sum->w.high - 3) & (rest < 32 ? (1u << rest) - 1 : ~0u)) != 0;
    }
    return ih_rounded_double(ih_round_word(q, place + r->frame.ex, more, 53, -1074, &unused), 53);
}

#endif
