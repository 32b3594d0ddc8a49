/* SPDX-License-Identifier: Apache-2.0
 * test_random.c: random rows, one seed each, by one implementation and by the referee, compared bit for bit.
 *
 *   test_random IMPL [--seed S] [--count N] [--seconds T] [--max-n M]
 *
 * Case k has the seed S + k, so that `--seed (S + k) --count 1` runs a failing case again. Ends after N cases or T seconds. */
#include "call.h"
#include "gradients.h"
#include "rows.h"
#include "shrink.h"
#include "specs.h"

#include "datasets/generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { FITS = 2 };

/* Fit under FITS sets of options, and the gradient; counts[outcome] counts the fits. */
static outcome run_problem(const ih_impl *impl, const ih_problem *p, uint64_t seed, int64_t *counts)
{
    rng        r = rng_seeded(~seed);
    fit_result expected;
    verdict    v;
    outcome    result;

    fit_result_open(&expected, p);
    result = fit_run(referee(), p, one_thread(), 1, IH_OK, &expected, &v);
    if (result != PASSED) {
        fprintf(stderr, "seed %" PRIu64 ": the referee: %s\n", seed, v.text);
        ++counts[result = FAILED];
    }
    for (int k = 0; result != FAILED && k < FITS; ++k) {
        ih_options o;
        char       label[256];
        random_options(&r, impl, &o);
        result = fit_check(impl, p, &o, &expected, &v);
        if (result == PASSED && k == 0 && gradient_check(impl, p, &o, &expected, seed, &v) == FAILED) result = FAILED;
        ++counts[result];
        if (result == FAILED) {
            ih_impl_format(impl, &o, label, sizeof label);
            fprintf(stderr, "seed %" PRIu64 ": %s: %s\n", seed, label, v.text);
            shrink_and_print(impl, p, &o);
        }
    }
    fit_result_close(&expected);
    return result;
}

/* One case: random rows, or a family of datasets/ with random parameters. */
static outcome run_case(const ih_impl *impl, uint64_t seed, int64_t max_n, int64_t *counts)
{
    rng            r = rng_seeded(seed ^ 0x5eed);
    random_problem rp;
    outcome        result;

    if (rng_one_in(&r, 3)) {
        ih_spec s = spec_random(&r, max_n);
        ih_data data;
        char    text[IH_SPEC_PATH];
        if (ih_data_generate(&data, &s, 1, text, sizeof text) != 0) {
            fprintf(stderr, "%s\n", text);
            exit(1);
        }
        result = run_problem(impl, &data.problem, seed, counts);
        ih_spec_format(&s, text, sizeof text);
        if (result == FAILED) fprintf(stderr, "  the problem: %s\n", text);
        ih_data_free(&data);
        return result;
    }
    random_problem_open(&rp, seed, max_n);
    result = run_problem(impl, &rp.problem, seed, counts);
    random_problem_close(&rp);
    return result;
}

int main(int argc, char **argv)
{
    const ih_impl *impl    = implementation_of("test_random", argc > 1 ? argv[1] : NULL);
    uint64_t       seed    = 20130101;
    int64_t        count   = INT64_MAX, max_n = 3000, counts[3] = { 0 };
    double         seconds = (double)scaled(8000) / 1000 * (on_device(impl) && emulated() ? 10 : 1), end;

    for (int k = 2; k < argc; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        char       *rest  = NULL;
        if (strcmp(argv[k], "--seed") == 0) seed = strtoull(value, &rest, 10);
        else if (strcmp(argv[k], "--count") == 0) count = strtoll(value, &rest, 10), seconds = 1e9;
        else if (strcmp(argv[k], "--seconds") == 0) seconds = strtod(value, &rest);
        else if (strcmp(argv[k], "--max-n") == 0) max_n = strtoll(value, &rest, 10);
        if (!rest || *rest || !*value) {
            fprintf(stderr, "test_random: bad argument '%s %s'\n", argv[k], value);
            return 2;
        }
    }
    end = now_s() + seconds;
    for (int64_t k = 0; k < count && now_s() < end && counts[FAILED] < 5; ++k) {
        if (run_case(impl, seed + (uint64_t)k, max_n, counts) == FAILED)
            fprintf(stderr, "  again: test_random %s --seed %" PRIu64 " --count 1 --max-n %" PRId64 "\n", impl->name, seed + (uint64_t)k, max_n);
    }
    printf("%s: %" PRId64 " fits of random rows equal to the referee's, %" PRId64 " different, %" PRId64 " refused by the implementation\n", impl->name,
           counts[PASSED], counts[FAILED], counts[SKIPPED]);
    return counts[FAILED] > 0 || counts[PASSED] == 0;
}
