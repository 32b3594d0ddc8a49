/* SPDX-License-Identifier: Apache-2.0
 * faulty.c: faults found by a scan of the values, and the expected outputs around them. */
#include "faulty.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ih_fault fault_of(double value, int weight)
{
    if (isnan(value)) return IH_FAULT_NAN;
    if (weight && value < 0) return IH_FAULT_NEGATIVE;
    if (weight && value == 0) return IH_FAULT_ZERO;
    return isinf(value) ? IH_FAULT_INFINITE : IH_FAULT_NONE;
}

static first_fault fault_in_row(const ih_problem *p, int64_t row)
{
    const int64_t begin = problem_row_begin(p, row), n = problem_row_length(p, row);

    for (int64_t i = 0; i < n; ++i)
        for (int in_w = 0; in_w < (p->w ? 2 : 1); ++in_w) {
            const ih_fault fault = fault_of(problem_value(p, in_w ? p->w : p->y, begin + i), in_w);
            if (fault) return (first_fault){ fault, in_w ? "w" : "y", row, i };
        }
    return (first_fault){ IH_FAULT_NONE, "", -1, -1 };
}

first_fault first_fault_of(const ih_problem *p)
{
    first_fault f = { IH_FAULT_NONE, "", -1, -1 };
    for (int64_t row = 0; row < p->rows && !f.fault; ++row) f = fault_in_row(p, row);
    return f;
}

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    memcpy(to, from, bytes);
    return to;
}

static void set_one(const ih_problem *p, void *array, int64_t i)
{
    if (p->dtype == IH_F32) ((float *)array)[i] = 1;
    else ((double *)array)[i] = 1;
}

__attribute__((format(printf, 2, 3))) static outcome no(verdict *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->text, sizeof v->text, format, args);
    va_end(args);
    return FAILED;
}

static outcome compare_row(const ih_problem *p, int64_t row, int faulty, const fit_result *expected, const fit_result *r, verdict *v)
{
    const int64_t begin = problem_row_begin(p, row), n = problem_row_length(p, row);
    const size_t  item  = problem_item(p);
    const int64_t e = expected->out.block_offsets[row], g = r->out.block_offsets[row];
    const int64_t blocks = expected->out.block_offsets[row + 1] - e;

    if (r->out.block_offsets[row + 1] - g != (faulty ? 1 : blocks))
        return no(v, "row %" PRId64 "%s has %" PRId64 " blocks", row, faulty ? ", which is at fault," : "", r->out.block_offsets[row + 1] - g);
    if (faulty) {
        for (int64_t i = begin; i < begin + n; ++i)
            if (!isnan(problem_value(p, r->z.at, i))) return no(v, "row %" PRId64 " is at fault, but its z is not NaN at index %" PRId64, row, i - begin);
        if (r->out.block_starts[g] != begin || !isnan(r->out.block_means[g])) return no(v, "row %" PRId64 " is at fault, but not one block of NaN", row);
        return PASSED;
    }
    if (memcmp(expected->z.at + (size_t)begin * item, r->z.at + (size_t)begin * item, (size_t)n * item) != 0)
        return no(v, "z of row %" PRId64 ", beside rows at fault, differs", row);
    if (memcmp(expected->out.block_starts + e, r->out.block_starts + g, (size_t)blocks * 8) != 0 ||
        memcmp(expected->out.block_weights + e, r->out.block_weights + g, (size_t)blocks * 8) != 0 ||
        memcmp(expected->out.block_means + e, r->out.block_means + g, (size_t)blocks * 8) != 0)
        return no(v, "the blocks of row %" PRId64 ", beside rows at fault, differ", row);
    return PASSED;
}

outcome faulty_rows_check(const ih_problem *p, const fit_result *r, verdict *v)
{
    const size_t      bytes  = (size_t)problem_elements(p) * problem_item(p);
    const first_fault first  = first_fault_of(p);
    char             *faulty = calloc((size_t)p->rows + 1, 1);
    void             *y = copy_of(p->y, bytes), *w = p->w ? copy_of(p->w, bytes) : NULL;
    ih_problem        good   = *p;
    fit_result        expected;
    outcome           result = PASSED;

    if (r->error.fault != first.fault || strcmp(r->error.argument, first.argument) != 0 || r->error.row != first.row || r->error.index != first.index)
        result = no(v, "fault %d of '%s' at row %" PRId64 ", index %" PRId64 " was reported instead of %d of '%s' at %" PRId64 ", %" PRId64, r->error.fault,
                    r->error.argument, r->error.row, r->error.index, first.fault, first.argument, first.row, first.index);
    for (int64_t row = 0; row < p->rows; ++row) {
        faulty[row] = fault_in_row(p, row).fault != IH_FAULT_NONE;
        for (int64_t i = 0; faulty[row] && i < problem_row_length(p, row); ++i) {
            set_one(p, y, problem_row_begin(p, row) + i);
            if (w) set_one(p, w, problem_row_begin(p, row) + i);
        }
    }
    good.y = y;
    good.w = w;
    fit_result_open(&expected, &good);
    if (result == PASSED && ih_fit(referee(), &good, one_thread(), &expected.out, NULL, 0, NULL) != IH_OK) result = no(v, "the referee fails");
    for (int64_t row = 0; row < p->rows && result == PASSED; ++row) result = compare_row(p, row, faulty[row], &expected, r, v);
    fit_result_close(&expected);
    free(y);
    free(w);
    free(faulty);
    return result;
}
