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

/* (s - hi w) / w rounded to double. */
static double remainder_mean(const ih_row *row, ih_span s, ih_span w, double hi)
{
    uint64_t      room[2 * IH_LIMBS_REST];
    const ih_span rest = ih_span_remainder(row, s, w, hi, room);

    return rest.sign ? ih_round_lead(ih_span_divide(row, rest, w), rest.sign < 0, 53, -1074) : 0.0;
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
