/* SPDX-License-Identifier: Apache-2.0
 * check_growth.c: time must grow in proportion to the length. A formula of n is fitted at n and at n / 8. */
#include "cases.h"
#include "call.h"

#include <stdlib.h>
#include <time.h>

enum { SHORTER = 8, MOST_RATIO = 32, TRIES = 4, CALLS = 5 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The shortest of a few calls: other work on the machine only makes a call longer. */
static double time_of(report *r, const test_case *c, int64_t n)
{
    const shape s     = { c->shape.rows, n };
    double     *y     = numbers_of(case_field(c, "y"), s, c->dtype, NULL);
    void       *typed = typed_copy(y, s.rows * n, c->dtype);
    double      best  = 1e30;
    fit_result  result;
    ih_problem  p = c->problem;

    p.n = n;
    p.y = typed;
    fit_result_open(&result, &p);
    for (int k = 0; k < CALLS; ++k) {
        const double begin = now_s();
        if (call_fit(r->impl, &p, NULL, &result.out, NULL, 0) != IH_OK) case_fail(r, "a timed fit failed");
        const double took = now_s() - begin;
        if (took < best) best = took;
    }
    fit_result_close(&result);
    free(typed);
    free(y);
    return best;
}

void check_growth(report *r, const test_case *c)
{
    double ratio = 0;

    /* in proportion: 8; with the square: 64 */
    for (int k = 0; k < TRIES; ++k) {
        ratio = time_of(r, c, c->shape.n) / time_of(r, c, c->shape.n / SHORTER);
        if (ratio <= MOST_RATIO) return;
    }
    case_fail(r, "%d times the length took %.1f times as long", SHORTER, ratio);
}
