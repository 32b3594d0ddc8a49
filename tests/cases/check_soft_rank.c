/* SPDX-License-Identifier: Apache-2.0
 * check_soft_rank.c: soft ranks by a decreasing fit: with s the scores over eps in falling order and v the decreasing fit
 * of s - (n, n - 1, ..., 1), the ranks are s - v. */
#include "cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct score { double s; int64_t at; } score;

static int falling(const void *a, const void *b)
{
    const score *x = a, *y = b;
    return x->s != y->s ? (x->s < y->s ? 1 : -1) : (x->at > y->at) - (x->at < y->at);
}

void check_soft_rank(report *r, const test_case *c)
{
    const int64_t n = c->shape.n, total = c->shape.rows * n;
    const double  eps = number_of(case_field(c, "eps"));
    double       *ranks = numbers_of(case_expected(c, "ranks"), c->shape, IH_F64, NULL);
    double        tol;
    score        *scores;
    double       *y;
    fit_result    fit;
    ih_problem    p;
    verdict       v;

    if (!(eps > 0)) { /* soft ranks are not part of the library, which therefore has no strength to refuse */
        case_skip(r, "the strength is not above 0");
        return;
    }
    tol    = number_of(case_expected(c, "tol"));
    scores = calloc((size_t)total + 1, sizeof *scores);
    y      = calloc((size_t)total + 1, sizeof *y);
    for (int64_t k = 0; k < total; ++k) {
        scores[k].s  = c->y[k] / eps;
        scores[k].at = k;
    }
    for (int64_t row = 0; row < c->shape.rows; ++row) {
        qsort(scores + row * n, (size_t)n, sizeof *scores, falling);
        for (int64_t i = 0; i < n; ++i) y[row * n + i] = scores[row * n + i].s - (double)(n - i);
    }
    ih_problem_init(&p);
    p.dtype     = IH_F64;
    p.direction = IH_DECREASING;
    p.rows      = c->shape.rows;
    p.n         = n;
    p.y         = y;
    fit_result_open(&fit, &p);
    if (fit_run(r->impl, &p, NULL, 1, IH_OK, &fit, &v) != PASSED) case_fail(r, "%s", v.text);
    else
        for (int64_t k = 0; k < total; ++k) {
            const double rank = scores[k].s - problem_value(&p, fit.z.at, k);
            if (fabs(rank - ranks[scores[k].at]) > tol) case_fail(r, "rank of element %" PRId64 " is %a instead of %a", scores[k].at, rank, ranks[scores[k].at]);
        }
    fit_result_close(&fit);
    free(y);
    free(scores);
    free(ranks);
}
