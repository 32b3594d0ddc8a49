/* SPDX-License-Identifier: Apache-2.0
 * shrink.c: drop elements, weights and bounds from a failing problem for as long as it still fails. */
#include "shrink.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 4000, MOST_PRINTED = 200 };

outcome fit_against_referee(const ih_impl *impl, const ih_problem *p, const ih_options *o, verdict *v)
{
    fit_result expected;
    outcome    result;

    fit_result_open(&expected, p);
    result = fit_run(referee(), p, one_thread(), 1, IH_OK, &expected, v);
    if (result == PASSED) result = fit_check(impl, p, o, &expected, v);
    fit_result_close(&expected);
    return result;
}

typedef struct shrunk {
    const ih_impl    *impl;
    const ih_options *o;
    ih_problem        p;    /* one row; y and w are owned */
    verdict           v;
    int               tries;
} shrunk;

static int still_fails(shrunk *s, const ih_problem *p)
{
    verdict v;
    if (++s->tries > MOST_TRIES || fit_against_referee(s->impl, p, s->o, &v) != FAILED) return 0;
    s->v = v;
    return 1;
}

static void *without(const ih_problem *p, const void *array, int64_t from, int64_t count)
{
    const size_t item = problem_item(p);
    char        *copy;

    if (!array) return NULL;
    copy = malloc((size_t)(p->n - count) * item + 1);
    memcpy(copy, array, (size_t)from * item);
    memcpy(copy + (size_t)from * item, (const char *)array + (size_t)(from + count) * item, (size_t)(p->n - from - count) * item);
    return copy;
}

static int drop_elements(shrunk *s, int64_t from, int64_t count)
{
    void      *y = without(&s->p, s->p.y, from, count), *w = without(&s->p, s->p.w, from, count);
    ih_problem p = s->p;

    p.y = y;
    p.w = w;
    p.n -= count;
    if (!still_fails(s, &p)) {
        free(y);
        free(w);
        return 0;
    }
    free((void *)(uintptr_t)s->p.y);
    free((void *)(uintptr_t)s->p.w);
    s->p = p;
    return 1;
}

static void drop_extras(shrunk *s)
{
    ih_problem p = s->p;

    p.y_min = -INFINITY;
    p.y_max = INFINITY;
    if (still_fails(s, &p)) s->p = p;
    p   = s->p;
    p.w = NULL;
    if (p.w != s->p.w && still_fails(s, &p)) {
        free((void *)(uintptr_t)s->p.w);
        s->p = p;
    }
}

void shrink_and_print(const ih_impl *impl, const ih_problem *p, const ih_options *o)
{
    shrunk  s   = { .impl = impl, .o = o };
    int64_t row = 0;

    for (; row < p->rows; ++row) {
        const int64_t begin = problem_row_begin(p, row);
        s.p         = *p;
        s.p.offsets = NULL;
        s.p.rows    = 1;
        s.p.n       = problem_row_length(p, row);
        s.p.y       = (const char *)p->y + (size_t)begin * problem_item(p);
        s.p.w       = p->w ? (const char *)p->w + (size_t)begin * problem_item(p) : NULL;
        if (still_fails(&s, &s.p)) break;
    }
    if (row == p->rows) {
        fprintf(stderr, "  none of the %" PRId64 " rows fails alone\n", p->rows);
        return;
    }
    s.p.y = without(&s.p, s.p.y, 0, 0); /* owned copies */
    s.p.w = without(&s.p, s.p.w, 0, 0);
    drop_extras(&s);
    for (int64_t count = s.p.n / 2; count >= 1; count = count > 1 ? (count + 1) / 2 : 0)
        for (int64_t from = 0; from + count <= s.p.n;)
            if (!drop_elements(&s, from, count)) from += count;
    drop_extras(&s);
    fprintf(stderr, "  row %" PRId64 " fails alone; made small: %s\n", row, s.v.text);
    print_row(&s.p, 0, MOST_PRINTED);
    free((void *)(uintptr_t)s.p.y);
    free((void *)(uintptr_t)s.p.w);
}
