/* SPDX-License-Identifier: Apache-2.0
 * frame.h: the terms of a row as integers, and the place and size of integers that hold every sum of them. */
#ifndef IH_EXACT_FRAME_H
#define IH_EXACT_FRAME_H

#include "../common/values.h"
#include "integer.h"

#include <string.h>

/* A finite value is (-1)^negative m 2^e, m odd, or m = 0. */
typedef struct ih_digits { uint64_t m; int32_t e, negative; } ih_digits;

IH_HD ih_digits ih_digits_of(const void *values, int64_t i, int32_t kind)
{
    ih_digits v;
    int32_t   zeros;

    if (kind & IH_KIND_F32) {
        uint32_t bits;
        memcpy(&bits, (const float *)values + i, sizeof bits);
        v.negative = (int32_t)(bits >> 31);
        v.e        = (int32_t)(bits >> 23 & 255);
        v.m        = (bits & 0x7fffffu) | (uint32_t)(v.e != 0) << 23;
        v.e        = v.e - (v.e != 0) - 149;
    } else {
        uint64_t bits;
        memcpy(&bits, (const double *)values + i, sizeof bits);
        v.negative = (int32_t)(bits >> 63);
        v.e        = (int32_t)(bits >> 52 & 2047);
        v.m        = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)(v.e != 0) << 52;
        v.e        = v.e - (v.e != 0) - 1074;
    }
    if (v.m) {
        zeros = (uint32_t)v.m ? ih_bit_low((uint32_t)v.m) : 32 + ih_bit_low((uint32_t)(v.m >> 32));
        v.m >>= zeros;
        v.e += zeros;
    }
    return v;
}

/* No value has a bit below 2^low, all are below 2^top; low > top: all are 0. */
typedef struct ih_reach { int32_t low, top; } ih_reach;

IH_HD ih_reach ih_reach_none(void)
{
    ih_reach r;
    r.low = INT32_MAX;
    r.top = INT32_MIN;
    return r;
}

IH_HD void ih_reach_join(ih_reach *r, int32_t low, int32_t top)
{
    r->low = low < r->low ? low : r->low;
    r->top = top > r->top ? top : r->top;
}

IH_HD void ih_reach_value(ih_reach *r, const void *values, int64_t i, int32_t kind)
{
    const ih_digits v = ih_digits_of(values, i, kind);
    if (v.m) ih_reach_join(r, v.e, v.e + ih_bits_of_word(v.m));
}

/* Sums of w y are integers times 2^ey, of ky limbs in two's complement; sums of w integers times 2^ex, of kx limbs: 1 and
 * counts without weights. */
typedef struct ih_frame { int32_t ey, ky, ex, kx; } ih_frame;

/* The frame of rows of n elements. */
IH_HD ih_frame ih_frame_of(ih_reach y, ih_reach w, int64_t n, int32_t kind)
{
    const int32_t count = ih_bits_of_word((uint64_t)n);
    ih_frame      f;

    if (y.low > y.top) y.low = y.top = 0;
    if (!(kind & IH_KIND_WEIGHTED)) w.low = w.top = 0;
    f.ey = y.low + w.low;
    f.ky = (y.top + w.top - f.ey + count + 1 + 31) / 32;
    f.ex = w.low;
    f.kx = kind & IH_KIND_WEIGHTED ? (w.top - w.low + count + 1 + 31) / 32 : 2;
    return f;
}

/* Limbs that are always enough: float32 values have bits 2^-149 .. 2^127, float64 ones 2^-1074 .. 2^1023. */
IH_HD int32_t ih_frame_most_y(int32_t kind)
{
    const int32_t value = kind & IH_KIND_F32 ? 277 : 2098;
    return ((kind & IH_KIND_WEIGHTED ? 2 * value : value) + 63 + 1 + 31) / 32;
}

IH_HD int32_t ih_frame_most_x(int32_t kind) { return kind & IH_KIND_WEIGHTED ? ((kind & IH_KIND_F32 ? 277 : 2098) + 63 + 1 + 31) / 32 : 2; }

#endif
