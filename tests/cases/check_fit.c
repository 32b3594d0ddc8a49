/* SPDX-License-Identifier: Apache-2.0
 * check_fit.c: the fit of a case: status and place of a fault, z by value, block starts, repeated calls. */
#include "cases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a word of the case file means in the library. */
static const struct word { const char *text; ih_status status; ih_fault fault; const char *argument; } words[] = {
    { "nan-in-y", IH_EDATA, IH_FAULT_NAN, "y" },
    { "inf-in-y", IH_EDATA, IH_FAULT_INFINITE, "y" },
    { "nan-in-w", IH_EDATA, IH_FAULT_NAN, "w" },
    { "inf-in-w", IH_EDATA, IH_FAULT_INFINITE, "w" },
    { "zero-weight", IH_EDATA, IH_FAULT_ZERO, "w" },
    { "negative-weight", IH_EDATA, IH_FAULT_NEGATIVE, "w" },
    { "bounds-reversed", IH_EARGUMENT, IH_FAULT_REVERSED, NULL },
    { "nan-bound", IH_EARGUMENT, IH_FAULT_NAN, NULL },
};

static const struct word *word_of(const json_t *text)
{
    for (size_t k = 0; text && k < sizeof words / sizeof words[0]; ++k)
        if (strcmp(words[k].text, json_string_value(text)) == 0) return &words[k];
    return NULL;
}

static int same_fault(const struct word *w, const ih_error *e)
{
    return e->status == w->status && e->fault == w->fault && (!w->argument || strcmp(w->argument, e->argument) == 0);
}

static void check_place(report *r, const test_case *c, const ih_error *e)
{
    const json_t *places = case_expected(c, "error_at");

    if (!places) {
        if (e->row != -1 || e->index != -1) case_fail(r, "a fault without a place was reported at row %" PRId64 ", index %" PRId64, e->row, e->index);
        return;
    }
    for (size_t k = 0; k < json_array_size(places); ++k) {
        const json_t *place = json_array_get(places, k);
        if (json_integer_value(json_array_get(place, 0)) == e->row && json_integer_value(json_array_get(place, 1)) == e->index) return;
    }
    case_fail(r, "the fault was reported at row %" PRId64 ", index %" PRId64, e->row, e->index);
}

static void check_error(report *r, const test_case *c, const fit_result *got)
{
    const json_t      *also  = case_expected(c, "error_also");
    const struct word *w     = word_of(case_expected(c, "error"));
    int                found = same_fault(w, &got->error);

    for (size_t k = 0; !found && k < json_array_size(also); ++k) {
        const struct word *other = word_of(json_array_get(also, k));
        found = other && same_fault(other, &got->error);
    }
    if (!found) case_fail(r, "expected %s, got '%s'", w->text, got->error.message);
    else check_place(r, c, &got->error);
}

static void check_z(report *r, const test_case *c, const fit_result *got)
{
    double *z = numbers_of(case_expected(c, "z"), c->shape, c->dtype, c->y);

    for (int64_t k = 0; z && k < c->shape.rows * c->shape.n; ++k) {
        const int64_t i     = c->order ? c->order[k] : k;
        const double  value = problem_value(&c->problem, got->z.at, k);
        if (value == z[i]) continue;
        case_fail(r, "z at row %" PRId64 ", index %" PRId64 " is %a instead of %a", i / c->shape.n, i % c->shape.n, value, z[i]);
        break;
    }
    free(z);
}

static void check_blocks(report *r, const test_case *c, const fit_result *got)
{
    unsigned char *starts = starts_of(case_expected(c, "block_starts"), c->shape);
    const int64_t *offsets = got->out.block_offsets;
    int64_t        k       = 0; /* block */

    for (int64_t b = 0; starts && b < c->shape.rows; ++b) {
        if (offsets[b] != k) break;
        for (int64_t i = b * c->shape.n; i < (b + 1) * c->shape.n; ++i) {
            if (!starts[i]) continue;
            if (k >= offsets[b + 1] || got->out.block_starts[k] != i) {
                case_fail(r, "no block starts at row %" PRId64 ", index %" PRId64, b, i - b * c->shape.n);
                free(starts);
                return;
            }
            ++k;
        }
    }
    if (starts && offsets[c->shape.rows] != k) case_fail(r, "%" PRId64 " blocks instead of %" PRId64, offsets[c->shape.rows], k);
    free(starts);
}

int check_fit(report *r, const test_case *c, fit_result *result)
{
    const struct word *w      = word_of(case_expected(c, "error"));
    const int64_t      repeat = json_integer_value(case_field(c, "repeat"));
    verdict            v;
    outcome            out;

    fit_result_open(result, &c->problem);
    out = fit_run(r->impl, &c->problem, NULL, 1, w ? w->status : IH_OK, result, &v);
    if (out == SKIPPED) {
        case_skip(r, "%s", result->error.message);
        return 0;
    }
    if (out == FAILED) {
        case_fail(r, "%s", v.text);
        return 0;
    }
    if (w) {
        check_error(r, c, result);
        return 0;
    }
    check_z(r, c, result);
    check_blocks(r, c, result);
    for (int64_t k = 1; k < repeat; ++k)
        if (fit_check(r->impl, &c->problem, NULL, result, &v) != PASSED) case_fail(r, "call %" PRId64 " of the same buffers: %s", k + 1, v.text);
    return 1;
}
