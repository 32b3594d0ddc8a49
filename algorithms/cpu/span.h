/* SPDX-License-Identifier: Apache-2.0
 * span.h: numbers of any exponent in one fixed frame, stored only where their bits lie.
 *
 * The frame: a sum of weights is an integer times 2^-1074 (times 1 without weights, where it is a count); a sum of w y
 * is an integer times 2^-2148 (2^-1074 without weights). Limb k of a number has the place 2^(64 k) over that. So no
 * exponent is looked for in advance, and cost follows the limbs between a number's lowest and highest one. */
#ifndef IH_CPU_SPAN_H
#define IH_CPU_SPAN_H

#include "../common/row.h"
#include "limbs.h"
#include "round.h"

/* sign sum_k d[k - lo] 2^(64 k), k in [lo, hi); neither end limb is 0. Zero: sign 0, lo = hi. */
typedef struct ih_span { const uint64_t *d; int32_t lo, hi, sign; } ih_span;

/* Sums over a range of elements: positive and negative terms apart, so that carries only ever go up, and seldom far. */
typedef struct ih_sums {
    uint64_t positive[IH_LIMBS_S], negative[IH_LIMBS_S], weight[IH_LIMBS_W];
    ih_span  s, w; /* after ih_sums_of */
} ih_sums;

static inline int ih_frame_w(const ih_row *row) { return row->w ? -1074 : 0; }
static inline int ih_frame_s(const ih_row *row) { return row->w ? -2148 : -1074; }

static inline double ih_row_y(const ih_row *row, int64_t i)
{
    return row->dtype == IH_F32 ? (double)((const float *)row->y)[i] : ((const double *)row->y)[i];
}

static inline double ih_row_w(const ih_row *row, int64_t i)
{
    return row->dtype == IH_F32 ? (double)((const float *)row->w)[i] : ((const double *)row->w)[i];
}

/* Sum w and sign w y over [a, b) exactly. */
void ih_sums_of(const ih_row *row, int64_t a, int64_t b, ih_sums *sums);

/* The span without zero limbs at its ends. */
ih_span ih_span_trim(const uint64_t *d, int lo, int hi, int sign);

/* Sign of s1 w2 - s2 w1, both w positive. Two leading limbs decide unless the products agree to 2^-62. */
int ih_span_compare(ih_span s1, ih_span w1, ih_span s2, ih_span w2);

/* s - v w, held in room [2 IH_LIMBS_REST]; |v| at most a few times |s / w|. It lies in the frame of s, because v is a
 * multiple of 2^-1074. */
enum { IH_LIMBS_REST = IH_LIMBS_S + 2 };
ih_span ih_span_remainder(const ih_row *row, ih_span s, ih_span w, double v, uint64_t *room);

/* Sign of the mean s / w minus v. */
int ih_span_compare_value(const ih_row *row, ih_span s, ih_span w, double v);

/* Mean s / w as a number to be rounded (its sign is s.sign). */
static inline ih_lead ih_span_divide(const ih_row *row, ih_span s, ih_span w)
{
    return ih_divide(s.d, s.hi - s.lo, ih_frame_s(row) + 64 * s.lo, w.d, w.hi - w.lo, ih_frame_w(row) + 64 * w.lo);
}

static inline ih_lead ih_span_lead(ih_span v, int frame) { return ih_lead_of(v.d, v.hi - v.lo, frame + 64 * v.lo); }

#endif
