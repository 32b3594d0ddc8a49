/* SPDX-License-Identifier: Apache-2.0
 * values.h: the values and weights of one row as doubles, whatever their type, and their running sums. */
#ifndef IH_COMMON_VALUES_H
#define IH_COMMON_VALUES_H

#include "pair.h"

#include <stdint.h>

/* Kind of a row. Functions that are forced inline with a constant kind are compiled once for each. */
enum { IH_KIND_F32 = 1, IH_KIND_WEIGHTED = 2, IH_KINDS = 4 };

#define IH_F32_MOST 0x1.fffffep127

typedef struct ih_values {
    const void *y, *w; /* [n]; w NULL without weights              */
    double      sign;  /* values count multiplied by it: 1 or -1   */
    int32_t     kind;
} ih_values;

/* A float as a double, if it is a normal number or 0. Devices convert very slowly (an H200 one value a cycle and multiprocessor):
 * it is put together from its bits. */
IH_HD_FORCED double ih_widen_normal(float v)
{
#if defined(__CUDA_ARCH__)
    const uint32_t bits = (uint32_t)__float_as_int(v), magnitude = bits & 0x7fffffffu, sign = bits & 0x80000000u;
    return __hiloint2double((int)(sign | (magnitude ? (magnitude >> 3) + 0x38000000u : 0u)), (int)(bits << 29));
#else
    return (double)v;
#endif
}

/* Any float. */
IH_HD_FORCED double ih_widen(float v)
{
#if defined(__CUDA_ARCH__)
    const uint32_t magnitude = (uint32_t)__float_as_int(v) & 0x7fffffffu;
    if (magnitude - 1u < 0x007fffffu || magnitude >= 0x7f800000u) return (double)v;
#endif
    return ih_widen_normal(v);
}

IH_HD_FORCED double ih_load(const void *values, int64_t i, int32_t kind)
{
    return kind & IH_KIND_F32 ? ih_widen(((const float *)values)[i]) : ((const double *)values)[i];
}

IH_HD_FORCED double ih_value(const ih_values *v, int64_t i, int32_t kind) { return v->sign * ih_load(v->y, i, kind); }

/* Sums of w y and of w over a range, from its left end: exact as pairs while `lost` is 0. Without weights x is not kept:
 * it is the number of elements. */
typedef struct ih_sums {
    ih_pair x, y;
    double  lost_x, lost_y;
} ih_sums;

IH_HD_FORCED void ih_sums_add(ih_sums *s, const ih_values *v, int64_t i, int32_t kind)
{
    const double y = ih_value(v, i, kind);
    if (!(kind & IH_KIND_WEIGHTED)) {
        ih_sum_add(&s->y, y, &s->lost_y);
    } else {
        const double w = ih_load(v->w, i, kind);
        ih_sum_add(&s->x, w, &s->lost_x);
        if (kind & IH_KIND_F32) { /* 24 + 24 bits: the product is exact */
            ih_sum_add(&s->y, w * y, &s->lost_y);
        } else {
            const ih_pair p = ih_two_prod(w, y);
            ih_sum_add(&s->y, p.hi, &s->lost_y);
            ih_sum_add_low(&s->y, p.lo, &s->lost_y);
        }
    }
}

/* May the row's double arithmetic be trusted not to underflow or overflow? float64 terms w y must be 0 or within
 * 2^-300 .. 2^300 and weights within 2^-150 .. 2^150 (float32 always are). Then sums of w y are multiples of 2^-406 and
 * below 2^363, sums of w multiples of 2^-202 and below 2^213; their products are multiples of 2^-608 and below 2^576; means
 * are above 2^-619 or 0, so that products of a rounding boundary and a sum of w are multiples of 2^-875. So two_prod is
 * exact and no product is subnormal. Rows outside are solved in integers. Values that a fit refuses (NaN, infinities, weights
 * that are not positive) are out of range too, for float32 only these. */
IH_HD_FORCED int32_t ih_value_in_range(const ih_values *v, int64_t i, int32_t kind)
{
    double  y, p;
    int32_t good = 1;
    y = ih_load(v->y, i, kind);
    p = fabs(y);
    if (kind & IH_KIND_F32) {
        good = p <= IH_F32_MOST;
        if (kind & IH_KIND_WEIGHTED) {
            const double w = ih_load(v->w, i, kind);
            good &= (w > 0) & (w <= IH_F32_MOST);
        }
        return good;
    }
    if (kind & IH_KIND_WEIGHTED) {
        const double w = ih_load(v->w, i, kind);
        p              = fabs(w * y);
        good           = (w >= 0x1p-150) & (w <= 0x1p150);
    }
    return good & ((y == 0) | ((p >= 0x1p-300) & (p <= 0x1p300)));
}

#endif
