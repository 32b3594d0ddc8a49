/* SPDX-License-Identifier: Apache-2.0
 * check.c: values that a fit refuses: NaN and infinities in y, w, g; weights that are not positive. */
#include "check.h"

#include "../common/error.h"
#include "../common/row.h"

#include <math.h>
#include <string.h>

enum { SPAN = 4096 }; /* elements looked at before the first fault is searched for; keeps the fast loop branch-free */

static int any_not_finite_32(const uint32_t *bits, int64_t n)
{
    uint32_t bad = 0;
    for (int64_t i = 0; i < n; ++i) bad |= (uint32_t)((bits[i] & 0x7f800000u) == 0x7f800000u);
    return bad != 0;
}

static int any_not_finite_64(const uint64_t *bits, int64_t n)
{
    uint64_t bad = 0;
    for (int64_t i = 0; i < n; ++i) bad |= (uint64_t)((bits[i] & 0x7ff0000000000000u) == 0x7ff0000000000000u);
    return bad != 0;
}

/* Positive finite values are the bit patterns 1 .. 0x7f7fffff. */
static int any_not_positive_32(const uint32_t *bits, int64_t n)
{
    uint32_t bad = 0;
    for (int64_t i = 0; i < n; ++i) bad |= (uint32_t)(bits[i] - 1u >= 0x7f7fffffu);
    return bad != 0;
}

static int any_not_positive_64(const uint64_t *bits, int64_t n)
{
    uint64_t bad = 0;
    for (int64_t i = 0; i < n; ++i) bad |= (uint64_t)(bits[i] - 1u >= 0x7fefffffffffffffu);
    return bad != 0;
}

static double value_at(ih_dtype dtype, const void *values, int64_t i)
{
    return dtype == IH_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static ih_fault fault_of(double v, int positive)
{
    if (isnan(v)) return IH_FAULT_NAN;
    if (positive && v < 0) return IH_FAULT_NEGATIVE; /* minus infinity included */
    if (isinf(v)) return IH_FAULT_INFINITE;
    if (positive && v == 0) return IH_FAULT_ZERO;
    return IH_FAULT_NONE;
}

/* The first element at fault in [from, total), or total. */
static int64_t first_fault(ih_dtype dtype, const void *values, int64_t from, int64_t total, int positive)
{
    for (int64_t i = from; i < total;) {
        const int64_t end = total - i < SPAN ? total : i + SPAN;
        int           bad;
        if (dtype == IH_F32)
            bad = positive ? any_not_positive_32((const uint32_t *)values + i, end - i)
                           : any_not_finite_32((const uint32_t *)values + i, end - i);
        else
            bad = positive ? any_not_positive_64((const uint64_t *)values + i, end - i)
                           : any_not_finite_64((const uint64_t *)values + i, end - i);
        if (bad) {
            while (!fault_of(value_at(dtype, values, i), positive)) ++i;
            return i;
        }
        i = end;
    }
    return total;
}

/* The row that holds flattened index i: the last that begins at or before it and is not empty. */
static int64_t row_holding(const ih_problem *p, int64_t i)
{
    if (!p->offsets) return p->n ? i / p->n : 0;
    int64_t lo = 0, hi = p->rows; /* offsets[lo] <= i < offsets[hi] */
    while (hi - lo > 1) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (p->offsets[mid] <= i) lo = mid;
        else hi = mid;
    }
    return lo;
}

static ih_status report(const ih_problem *p, const char *argument, const void *values, int64_t i, int positive)
{
    static const char *const words[] = { "", "NaN", "infinity", "weight of zero", "negative weight" };
    const ih_fault fault = fault_of(value_at(p->dtype, values, i), positive);
    const int64_t  row   = row_holding(p, i);
    const int64_t  index = i - ih_row_begin(p, row);
    return ih_set_error(IH_EDATA, fault, argument, row, index, "%s: %s at row %lld, index %lld", argument, words[fault],
                        (long long)row, (long long)index);
}

ih_status ih_report_data(const ih_problem *p, int64_t from)
{
    const int64_t total = ih_problem_elements(p);
    const int64_t at_y  = first_fault(p->dtype, p->y, from, total, 0);
    const int64_t at_w  = p->w ? first_fault(p->dtype, p->w, from, at_y, 1) : at_y; /* only before y's fault */

    if (at_w < at_y) return report(p, "w", p->w, at_w, 1);
    if (at_y < total) return report(p, "y", p->y, at_y, 0);
    return IH_OK;
}

ih_status ih_check_data(const ih_problem *p) { return ih_report_data(p, 0); }

ih_status ih_check_finite(const ih_problem *p, const char *argument, const void *values)
{
    const int64_t total = ih_problem_elements(p);
    const int64_t at    = first_fault(p->dtype, values, 0, total, 0);

    return at < total ? report(p, argument, values, at, 0) : IH_OK;
}
