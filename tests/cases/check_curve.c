/* SPDX-License-Identifier: Apache-2.0
 * check_curve.c: observations at positions, and the evaluation of their fit between them, by the code of the command. */
#include "cases.h"
#include "curve.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void check_positions(report *r, test_case *c)
{
    const int64_t n = c->shape.n;
    double       *x = numbers_of(case_field(c, "x"), c->shape, c->dtype, NULL);
    curve_data    data;
    fault         f;

    if (curve_from_arrays(x, c->y, c->w, n, c->problem.direction, &data, &f) != FAULT_NONE) {
        case_fail(r, "positions: %s", f.message);
    } else {
        c->order = malloc((size_t)n * sizeof *c->order + 1);
        memcpy(c->order, data.source, (size_t)n * sizeof *c->order);
        case_set_problem(c);
        curve_free(&data);
    }
    free(x);
}

static void check_value(report *r, const test_case *c, size_t k, double got)
{
    const double expected = number_of(json_array_get(case_expected(c, "values"), k)), tol = number_of(json_array_get(case_expected(c, "tol"), k));
    const double low = number_of(json_array_get(case_expected(c, "low"), k)), high = number_of(json_array_get(case_expected(c, "high"), k));

    if (isnan(expected) ? isnan(got) : fabs(got - expected) <= tol && got >= low && got <= high) return;
    case_fail(r, "value of query %zu is %a instead of %a", k, got, expected);
}

void check_prediction(report *r, const test_case *c, const fit_result *fit)
{
    const json_t *queries = case_field(c, "query");
    const char   *rule    = json_string_value(case_field(c, "outside"));
    const int     refused = case_expected(c, "values") == NULL; /* outside-range is expected */
    const shape   all     = { 1, (int64_t)json_array_size(queries) };
    double       *query = numbers_of(queries, all, c->dtype, NULL), *x = numbers_of(case_field(c, "x"), c->shape, c->dtype, NULL);
    double       *px = calloc((size_t)c->shape.n + 1, sizeof *px), *pz = calloc((size_t)c->shape.n + 1, sizeof *pz);
    int64_t       points = 0;

    for (int64_t k = 0; k < c->shape.n; ++k) { /* one point for each distinct x */
        if (points && px[points - 1] == x[c->order[k]]) continue;
        px[points]   = x[c->order[k]];
        pz[points++] = problem_value(&c->problem, fit->z.at, k);
    }
    for (size_t k = 0; k < (size_t)all.n; ++k) {
        bool         outside = false;
        const double value   = curve_value(px, pz, points, query[k], &outside);
        if (refused) {
            if (!outside) case_fail(r, "query %zu was not found to be outside", k);
            continue;
        }
        if (outside != (query[k] < px[0] || query[k] > px[points - 1])) case_fail(r, "query %zu: outside is %d", k, outside);
        check_value(r, c, k, outside && (!rule || strcmp(rule, "nan") == 0) ? (double)NAN : value);
    }
    free(pz);
    free(px);
    free(x);
    free(query);
}
