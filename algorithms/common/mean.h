/* SPDX-License-Identifier: Apache-2.0
 * mean.h: a block's sums, and its mean rounded once to nearest-even: by an interval, then by the exact sign of the
 * remainder at a rounding boundary. */
#ifndef IH_COMMON_MEAN_H
#define IH_COMMON_MEAN_H

#include "turn.h"
#include "values.h"

#include <string.h>

/* Sums of w y and of w over a block as expansions; lost bounds |exact - expansion|, 0: they are exact. */
typedef struct ih_block {
    double  y[IH_SUM_TERMS], x[IH_SUM_TERMS];
    int32_t ny, nx;
    double  lost_y, lost_x;
} ih_block;

typedef int32_t ih_level;
enum { IH_LEVEL_FILTER = 0, IH_LEVEL_PAIR = 1, IH_LEVEL_NONE = 2 }; /* who settled a rounding; NONE: nobody yet */

/* A block of n elements with these sums. */
IH_HD_FORCED ih_block ih_block_of(const ih_sums *s, int64_t n, int32_t kind)
{
    const double x_hi  = kind & IH_KIND_WEIGHTED ? s->x.hi : (double)n;
    ih_block     block = { { 0 }, { 0 }, 0, 0, 0, 0 };

    block.ny     = ih_expansion_add(block.y, ih_expansion_add(block.y, 0, s->y.lo), s->y.hi);
    block.nx     = ih_expansion_add(block.x, ih_expansion_add(block.x, 0, s->x.lo), x_hi);
    block.lost_y = s->lost_y * (1 + 0x1p-10); /* a sum of up to 2^40 roundings */
    block.lost_x = s->lost_x * (1 + 0x1p-10);
    return block;
}

/* Sum of elements a .. b - 1, from the values: its error is that of the block's own terms. */
IH_HD_FORCED ih_block ih_block_sum(const ih_values *v, int64_t a, int64_t b, int32_t kind)
{
    ih_sums s = { { 0, 0 }, { 0, 0 }, 0, 0 };
    for (int64_t i = a; i < b; ++i) ih_sums_add(&s, v, i, kind);
    return ih_block_of(&s, b - a, kind);
}

/* The block between two points of the diagram. */
IH_HD ih_block ih_block_between(const ih_point *a, const ih_point *b)
{
    const int32_t same  = a->chunk == b->chunk;
    ih_block      block = { { 0 }, { 0 }, 0, 0, 0, 0 };

    block.ny     = ih_difference_exact(block.y, a->y0, a->y, b->y0, b->y);
    block.nx     = ih_difference_exact(block.x, a->x0, a->x, b->x0, b->x);
    block.lost_y = ih_error_between(a->err_y0, a->err_y, b->err_y0, b->err_y, same) * (1 + 0x1p-50);
    block.lost_x = ih_error_between(a->err_x0, a->err_x, b->err_x0, b->err_x, same) * (1 + 0x1p-50);
    return block;
}

IH_HD uint64_t ih_bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Round to the type and back: kind F32 or not. */
IH_HD double ih_round_to(double v, int32_t kind) { return kind & IH_KIND_F32 ? (double)(float)v : v; }

IH_HD int32_t ih_is_even(double v, int32_t kind)
{
    if (!(kind & IH_KIND_F32)) return (ih_bits_of(v) & 1) == 0;
    return fabs(v) < 0x1p-126 ? ((int32_t)(v * 0x1p149) & 1) == 0 : (ih_bits_of(v) >> 29 & 1) == 0; /* subnormal floats */
}

/* Exact choice between neighbouring values low < high of the type, the mean between them or equal to one. 0: not possible.
 * The boundary is low + half the gap: one double for float32, two for float64, whose gap is above 2^-1000 (values.h). */
IH_HD_SLOW int32_t ih_round_between(const ih_block *b, double low, double high, int32_t kind, double *z)
{
    double  e[IH_SUM_TERMS + 4 * IH_SUM_TERMS], mid[2];
    int32_t n = 0, n_mid = 0, sign;

    if (b->lost_y != 0 || b->lost_x != 0) return 0;
    n_mid = ih_expansion_add(mid, n_mid, (high - low) / 2);
    n_mid = ih_expansion_add(mid, n_mid, low);
    for (int32_t i = 0; i < b->ny; ++i) n = ih_expansion_add(e, n, b->y[i]);
    n    = ih_expansion_add_product(e, n, mid, n_mid, b->x, b->nx, -1.0);
    sign = ih_expansion_sign(e, n);
    *z   = sign > 0 || (sign == 0 && ih_is_even(high, kind)) ? high : low;
    return 1;
}

/* Ends of an interval that holds y / x, rounded to the type of kind (its F32 bit); y and x renormalised, off by at most lost_y and lost_x.
 * 0: x is not known well enough.
 * With q1 = RN(y / x) of the leading pairs, r = y.hi - q1 x.hi is exact (fma), and q1 + t with
 * t = ((r + y.lo) - q1 x.lo) / x.hi misses y/x by less than 2^-100 |q1| (|t| <= 4 u |q1|; three roundings of its parts, one
 * of the quotient and the factor x.hi / x are within 16 u^2 |q1|) plus what the sums lost. float64: both ends q1 + (t -+ d), d = 2^-96 |q1| + lost (the rest of the expansions included), are
 * rounded once; float32: q1 -+ 2^-50 |q1| holds q1 + (t -+ d). Rounding is monotone: equal ends are the answer. */
IH_HD int32_t ih_round_quotient(ih_pair y, ih_pair x, double lost_y, double lost_x, int32_t kind, double *low, double *high)
{
    const double q1 = y.hi / x.hi;
    double       d  = 0x1p-96 * fabs(q1) + (lost_y + fabs(q1) * lost_x) / x.hi * (1 + 0x1p-10);
    if (kind & IH_KIND_F32) {
        d     = d + 0x1p-50 * fabs(q1);
        *low  = ih_round_to(q1 - d, kind);
        *high = ih_round_to(q1 + d, kind);
    } else {
        const double t = ((fma(-q1, x.hi, y.hi) + y.lo) - q1 * x.lo) / x.hi;
        *low  = q1 + (t - d);
        *high = q1 + (t + d);
    }
    return lost_x < 0x1p-20 * x.hi;
}

/* The mean of a block, rounded; *z in the direction of the sums, signed as the exact mean where it underflows, +0 where it is 0. */
IH_HD ih_level ih_round_mean(const ih_block *b, int32_t kind, double *z)
{
    double        rest_y, rest_x, low, high;
    const ih_pair y = ih_expansion_pair(b->y, b->ny, &rest_y), x = ih_expansion_pair(b->x, b->nx, &rest_x);

    if (b->ny == 0 && b->lost_y == 0) {
        *z = 0.0;
        return IH_LEVEL_FILTER;
    }
    if (!ih_round_quotient(y, x, b->lost_y + rest_y, b->lost_x + rest_x, kind, &low, &high)) return IH_LEVEL_NONE;
    if (ih_bits_of(low) == ih_bits_of(high)) {
        *z = low;
        return IH_LEVEL_FILTER;
    }
    return ih_round_between(b, low, high, kind, z) ? IH_LEVEL_PAIR : IH_LEVEL_NONE;
}

/* The sum of weights, rounded once; 0 if its error leaves a choice. */
IH_HD int32_t ih_round_weight(const ih_block *b, double *weight)
{
    double        rest, low, high;
    const ih_pair x = ih_expansion_pair(b->x, b->nx, &rest);

    rest += b->lost_x;
    if (rest > 0) rest = rest * (1 + 0x1p-40) + 0x1p-50 * fabs(x.lo); /* not to vanish in lo where that is half a unit of hi */
    low     = x.hi + (x.lo - rest);
    high    = x.hi + (x.lo + rest);
    *weight = low;
    return low == high;
}

#endif
