/* SPDX-License-Identifier: Apache-2.0
 * exact.c: the exact level for single decisions and means: ranges are summed again from the inputs, in integers. */
#include "exact.h"

#include "span.h"

ih_status ih_exact_compare(const ih_row *row, int64_t a, int64_t b, int64_t c, int64_t d, int *order)
{
    ih_sums left, right;

    ih_sums_of(row, a, b, &left);
    ih_sums_of(row, c, d, &right);
    *order = ih_span_compare(left.s, left.w, right.s, right.w);
    return IH_OK;
}

/* (s - hi w) / w rounded to double. hi w lies in the frame of s: hi is a multiple of 2^-1074. */
static double remainder_mean(const ih_row *row, ih_span s, ih_span w, double hi)
{
    const ih_parts h = ih_parts_of(hi);
    uint64_t       t[IH_LIMBS_S + 2] = { 0 }, r[IH_LIMBS_S + 2] = { 0 }, scaled[IH_LIMBS_W + 1], m[1];
    ih_span        rest;
    int            sign;

    if (!h.m) return ih_round_lead(ih_span_divide(row, s, w), s.sign < 0, 53, -1074);
    m[0] = h.m;
    ih_limbs_multiply(scaled, w.d, w.hi - w.lo, m, 1);
    for (int k = 0; k <= w.hi - w.lo; ++k) ih_limbs_add_at(t, scaled[k], h.e + 1074 + 64 * (w.lo + k));
    memcpy(r + s.lo, s.d, (size_t)(s.hi - s.lo) * sizeof *r);
    sign = ih_limbs_compare(r, t, IH_LIMBS_S);
    if (sign >= 0) ih_limbs_sub(r, IH_LIMBS_S, t, IH_LIMBS_S);
    else ih_limbs_sub(t, IH_LIMBS_S, r, IH_LIMBS_S);
    rest = ih_span_trim(sign >= 0 ? r : t, 0, IH_LIMBS_S, 1);
    return sign == 0 ? 0.0 : ih_round_lead(ih_span_divide(row, rest, w), (sign < 0) != (s.sign < 0), 53, -1074);
}

ih_status ih_exact_mean(const ih_row *row, int64_t a, int64_t b, ih_mean *mean)
{
    ih_sums sums;
    ih_lead quotient;

    ih_sums_of(row, a, b, &sums);
    sums.s.sign *= row->sign;
    quotient     = ih_span_divide(row, sums.s, sums.w);
    mean->sign   = sums.s.sign;
    mean->hi     = ih_round_lead(quotient, mean->sign < 0, 53, -1074);
    mean->z      = ih_round_lead_to(quotient, mean->sign < 0, row->dtype);
    mean->lo     = remainder_mean(row, sums.s, sums.w, mean->hi);
    mean->weight = ih_round_lead(ih_span_lead(sums.w, ih_frame_w(row)), 0, 53, -1074);
    return IH_OK;
}
