/* SPDX-License-Identifier: Apache-2.0
 * test_growth.c: the time of a fit grows in proportion to the length of a row, whatever its values and weights: ties and
 * near ties, which need exact decisions, too. Times are compared with each other only.
 *
 *   test_growth IMPL [--show]   print all ratios */
#include "rows.h"
#include "call.h"
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 32 times the length takes 32 times as long in proportion and 1024 times with the square. Between lies room for caches,
 * for other work on the machine, and for the change to integers once the sums outgrow a double. */
enum { SHORT = 4000, TIMES = 32, MOST_RATIO = 320, CALLS = 3, TRIES = 5 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct row { ih_dtype dtype; int values, weights; uint64_t seed; } row; /* weights -1: none */

/* exact: rows that a device solved in integers */
static double time_of(const ih_impl *impl, const row *what, int64_t n, int64_t *exact)
{
    const size_t bytes = (size_t)n * 8;
    void        *y = malloc(bytes), *w = malloc(bytes), *z = malloc(bytes);
    rng          r    = rng_seeded(what->seed);
    double       best = 1e30;
    ih_problem   p;
    ih_outputs   out;
    ih_counters  counters;
    ih_options   o = *one_thread();

    values_of_kind(&r, what->dtype, n, y, what->values);
    if (what->weights >= 0) weights_of_kind(&r, what->dtype, n, w, what->weights);
    ih_problem_init(&p);
    p.dtype = what->dtype;
    p.rows  = 1;
    p.n     = n;
    p.y     = y;
    p.w     = what->weights >= 0 ? w : NULL;
    ih_outputs_init(&out);
    out.z = z;
    for (int k = 0; k < CALLS; ++k) { /* other work on the machine only makes a call longer */
        const double begin = now_s();
        if (call_fit(impl, &p, one_thread(), &out, NULL, 0) != IH_OK) best = 0;
        const double took = now_s() - begin;
        if (took < best) best = took;
    }
    if (on_device(impl)) {
        ih_counters_init(&counters);
        o.counters = &counters;
        if (call_fit(impl, &p, &o, &out, NULL, 0) != IH_OK) best = 0;
        *exact = counters.rows_exact;
    }
    free(y);
    free(w);
    free(z);
    return best;
}

/* The least of a few ratios, or the first that is good; 0 if the lengths cannot be compared. */
static double ratio_of(const ih_impl *impl, const row *what, int64_t length)
{
    double least = 1e30;
    for (int k = 0; k < TRIES && least > MOST_RATIO; ++k) {
        int64_t      exact[2] = { 0, 0 };
        const double ratio    = time_of(impl, what, length * TIMES, &exact[1]) / time_of(impl, what, length, &exact[0]);
        /* a device solves a row in integers with far fewer threads than otherwise: only like with like */
        if (exact[0] != exact[1]) return length > SHORT || emulated() ? 0 : ratio_of(impl, what, length * 8);
        if (ratio < least) least = ratio;
    }
    return least;
}

int main(int argc, char **argv)
{
    const ih_impl *impl = implementation_of("test_growth", argc > 1 ? argv[1] : NULL);
    const int      show = argc > 2 && strcmp(argv[2], "--show") == 0;
    const int64_t  stride = test_stride();
    int64_t        done = 0, failed = 0, not_compared = 0;
    double         greatest = 0;

    for (int values = 0; value_kind_name(values); ++values)
        for (int weights = -1; weights < 0 || weight_kind_name(weights); weights += weights < 1 ? 1 : 3)
            for (int k = 0; k < 4; ++k) {
                const row    what = { k % 2 ? IH_F64 : IH_F32, values, weights, 1 + (uint64_t)k / 2 };
                double       ratio;
                if (done++ % stride) continue; /* the first in any case */
                ratio = ratio_of(impl, &what, SHORT);
                not_compared += ratio == 0;
                if (ratio > greatest) greatest = ratio;
                if (ratio > MOST_RATIO) ++failed;
                if (show || ratio > MOST_RATIO)
                    printf("%s, %s, values '%s', weights '%s', seed %" PRIu64 ": %d times the length took %.1f times as long\n", impl->name,
                           what.dtype == IH_F32 ? "float32" : "float64", value_kind_name(values), weights < 0 ? "none" : weight_kind_name(weights),
                           what.seed, TIMES, ratio);
            }
    printf("%s: %" PRId64 " kinds of rows, %" PRId64 " out of proportion, %" PRId64 " solved in integers at one length only; the greatest ratio for %d times"
           " the length was %.1f\n", impl->name, (done + stride - 1) / stride, failed, not_compared, TIMES, greatest);
    return failed > 0 || greatest == 0;
}
