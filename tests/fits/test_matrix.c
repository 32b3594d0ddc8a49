/* SPDX-License-Identifier: Apache-2.0
 * test_matrix.c: one implementation against the referee over family, parameters, weighting, type, length, batch, direction,
 * bounds, threads, chunk size, instruction set, walk cap and warp threshold: every pair of values of two axes, and
 * for short rows the full product of the axes of the problem; and each family once with millions of elements.
 *
 *   test_matrix IMPL                       the matrix
 *   test_matrix IMPL[:option=value...] PROBLEM...   these problems only: a failure prints such a line */
#include "call.h"
#include "gradients.h"
#include "pairs.h"
#include "shrink.h"
#include "specs.h"

#include "datasets/generate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FAILURES = 5 };

static int64_t counts[3]; /* by outcome */

/* ---- one problem ---- */

/* Narrow the problem to bounds that cut its fit: 0 none, 1 below, 2 above, 3 both, 4 both equal. */
static void choose_bounds(ih_spec *s, const ih_problem *p, const fit_result *fit, int which, rng *r)
{
    const int64_t total = problem_elements(p);
    double        a, b;

    if (which == 0 || total == 0) return;
    a = problem_value(p, fit->z.at, rng_below(r, total));
    b = which == 4 ? a : problem_value(p, fit->z.at, rng_below(r, total));
    if (which != 2) s->min = a < b ? a : b;
    if (which != 1) s->max = a < b ? b : a;
}

static outcome run_problem(const ih_impl *impl, const ih_options *o, ih_spec *s, int bounds, int own_workspace, uint64_t seed)
{
    ih_data    data;
    fit_result expected, got;
    verdict    v = { "" };
    outcome    result;
    rng        r = rng_seeded(seed);
    char       message[IH_SPEC_MESSAGE], text[IH_SPEC_PATH], label[256];

    if (ih_data_generate(&data, s, 1, message, sizeof message) != 0) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    fit_result_open(&expected, &data.problem);
    fit_result_open(&got, &data.problem);
    result = fit_run(referee(), &data.problem, one_thread(), 1, IH_OK, &expected, &v);
    if (bounds && result == PASSED) {
        choose_bounds(s, &data.problem, &expected, bounds, &r);
        data.problem.y_min = s->min;
        data.problem.y_max = s->max;
        result = fit_run(referee(), &data.problem, one_thread(), 1, IH_OK, &expected, &v);
    }
    if (result != PASSED) result = FAILED; /* the referee refuses nothing */
    else result = fit_run(impl, &data.problem, o, own_workspace, IH_OK, &got, &v);
    if (result == PASSED && !fit_equal(&data.problem, &expected, &got, &v)) result = FAILED;
    /* several passes: long for large ones, and on a device, whose fits are the quicker part */
    const int with_gradient = (problem_elements(&data.problem) < 1 << 20 && !on_device(impl)) || seed % 4 == 1;
    if (result == PASSED && with_gradient && gradient_check(impl, &data.problem, o, &expected, seed, &v) == FAILED) result = FAILED;
    if (result == FAILED) {
        ih_spec_format(s, text, sizeof text);
        ih_impl_format(impl, o, label, sizeof label);
        fprintf(stderr, "%s\n  again: test_matrix %s %s\n", v.text, label, text);
        if (counts[FAILED] == 0) shrink_and_print(impl, &data.problem, o);
    }
    fit_result_close(&expected);
    fit_result_close(&got);
    ih_data_free(&data);
    ++counts[result];
    return result;
}

static int run_strings(const ih_impl *impl, const ih_options *o, int count, char **texts)
{
    for (int k = 0; k < count; ++k) {
        ih_spec s;
        char    message[IH_SPEC_MESSAGE];
        if (ih_spec_parse(&s, texts[k], message, sizeof message) != 0) {
            fprintf(stderr, "%s\n", message);
            return 2;
        }
        if (run_problem(impl, o, &s, 0, 1, 1) == SKIPPED) printf("refused: %s\n", texts[k]);
    }
    printf("%" PRId64 " equal, %" PRId64 " different\n", counts[PASSED], counts[FAILED]);
    return counts[FAILED] > 0;
}

/* ---- axes ---- */

static const int64_t lengths[] = { 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1023, 1024, 1025,
                                   2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 16385, 70001 };
enum { SHORT_LENGTHS = 9 };
static const int32_t chunks[] = { 0, 32, 64, 96, 128, 256, 512, 1024, 2048, 4096, 8192, 1, 33, 1000 };
static const int32_t caps[] = { 64, -1, 0, 1, 8, 1000 };
static const int32_t merges[] = { 256, 0, 1, 3, 1 << 20 };

#define COUNT(array) ((int)(sizeof array / sizeof array[0]))

/* layout 0: one row; 1: three rows; above: laws of ragged rows */
static void choose_rows(ih_spec *s, int layout)
{
    s->rows   = layout == 0 ? 1 : layout == 1 || s->n > 5000 ? 3 : 7;
    s->ragged = layout < 2 ? IH_RAGGED_none : (ih_ragged)(layout - 1);
}

static ih_spec make_spec(int family, int parameters, int weighting, int dtype, int64_t n, int layout, int decreasing, int64_t seed, rng *r)
{
    ih_spec s = spec_of((ih_family)family, n);

    s.dtype      = (ih_dtype)dtype;
    s.weighting  = (ih_weighting)weighting;
    s.decreasing = decreasing;
    s.seed       = seed;
    choose_rows(&s, layout);
    if (parameters > 0) spec_vary_parameters(&s, r);
    return s;
}

static void short_rows(const ih_impl *impl)
{
    const int64_t stride = test_stride();
    int64_t       done   = 0;
    rng           r      = rng_seeded(65);

    for (int family = 0; family < IH_FAMILY_COUNT; ++family)
        for (int weighting = 0; weighting < IH_WEIGHTING_COUNT; ++weighting)
            for (int dtype = IH_F32; dtype <= IH_F64; ++dtype)
                for (int length = 0; length < SHORT_LENGTHS; ++length)
                    for (int layout = 0; layout < 3; ++layout)
                        for (int decreasing = 0; decreasing < 2; ++decreasing)
                            for (int bounds = 0; bounds < 4 && counts[FAILED] < MOST_FAILURES; ++bounds) {
                                ih_options o;
                                ih_spec    s = make_spec(family, 0, weighting, dtype, lengths[length], layout, decreasing, done, &r);
                                if (++done % stride) continue;
                                ih_options_init(&o);
                                if (impl->options & IH_OPT_CHUNK) o.chunk = rng_one_in(&r, 2) ? 0 : 32;
                                if (impl->options & IH_OPT_ISA) o.isa = (int32_t)rng_below(&r, 4);
                                if (impl->options & IH_OPT_THREADS) o.threads = rng_one_in(&r, 16) ? 2 : 1; /* starting threads takes long */
                                run_problem(impl, &o, &s, bounds, done % 2, (uint64_t)done);
                            }
}

enum { FAMILY, PARAMETERS, WEIGHTING, DTYPE, LENGTH, LAYOUT, DECREASING, BOUNDS, WORKSPACE, THREADS, CHUNK, ISA, CAP, MERGES, AXES };

/* One test of the covering array; number makes it different data from every other. */
static void run_test(const ih_impl *impl, const int *t, int64_t number)
{
    const uint32_t has = impl->options;
    rng            r   = rng_seeded((uint64_t)number);
    ih_options     o;
    ih_spec        s = make_spec(t[FAMILY], t[PARAMETERS], t[WEIGHTING], t[DTYPE], lengths[t[LENGTH]], t[LAYOUT], t[DECREASING], number, &r);

    ih_options_init(&o);
    if (has & IH_OPT_THREADS) o.threads = 1 + t[THREADS];
    if (has & IH_OPT_CHUNK) o.chunk = chunks[t[CHUNK]];
    if (has & IH_OPT_ISA) o.isa = t[ISA];
    if (has & IH_OPT_WALK_CAP) o.walk_cap = caps[t[CAP]];
    if (has & IH_OPT_THREAD_MERGES) o.thread_merges = merges[t[MERGES]];
    run_problem(impl, &o, &s, t[BOUNDS], t[WORKSPACE], (uint64_t)number);
}

/* Several covering arrays, which put the pairs into different company. */
static void all_pairs(const ih_impl *impl)
{
    enum { ROUNDS = 5 };
    const uint32_t has = impl->options;
    const int      values[AXES] = {
        [FAMILY] = IH_FAMILY_COUNT, [PARAMETERS] = 3, [WEIGHTING] = IH_WEIGHTING_COUNT, [DTYPE] = 2, [LENGTH] = COUNT(lengths),
        [LAYOUT] = 1 + IH_RAGGED_COUNT, [DECREASING] = 2, [BOUNDS] = 5, [WORKSPACE] = 2, [THREADS] = has & IH_OPT_THREADS ? 3 : 1,
        [CHUNK] = has & IH_OPT_CHUNK ? COUNT(chunks) : 1, [ISA] = has & IH_OPT_ISA ? 4 : 1, [CAP] = has & IH_OPT_WALK_CAP ? COUNT(caps) : 1,
        [MERGES] = has & IH_OPT_THREAD_MERGES ? COUNT(merges) : 1,
    };
    const int64_t  stride = test_stride();
    int64_t        number = 0;

    for (uint64_t round = 0; round < ROUNDS; ++round) {
        pairs p;
        int   t[AXES];
        pairs_open(&p, values, AXES, round);
        while (pairs_next(&p, t) && counts[FAILED] < MOST_FAILURES)
            if (++number % stride == 0) run_test(impl, t, number);
        pairs_close(&p);
    }
}

/* Outputs past 16 MiB, which may be written in another way, and sums of millions of elements: each family once. */
static void large(const ih_impl *impl)
{
    static const int64_t rows[] = { 1, 701, 3 };

    for (int family = 0; family < IH_FAMILY_COUNT && counts[FAILED] < MOST_FAILURES; ++family) {
        const int64_t total = family % 2 ? (INT64_C(1) << 22) + 4099 : (INT64_C(1) << 21) + 2053;
        ih_options    o;
        rng           r = rng_seeded((uint64_t)family);
        ih_spec       s = make_spec(family, 0, family % IH_WEIGHTING_COUNT, family % 2 ? IH_F32 : IH_F64, total / rows[family % 3], 0, family % 4 == 3, family, &r);
        if (family % test_stride()) continue;
        s.rows = rows[family % 3];
        ih_options_init(&o);
        run_problem(impl, &o, &s, family % 5, 0, (uint64_t)family);
    }
}

int main(int argc, char **argv)
{
    const ih_impl *impl = NULL;
    ih_options     o;

    ih_options_init(&o);
    if (argc > 2) {
        if (ih_impl_parse(argv[1], &impl, &o) != IH_OK) impl = NULL;
        implementation_of("test_matrix", impl ? impl->name : NULL);
        return run_strings(impl, &o, argc - 2, argv + 2);
    }
    impl = implementation_of("test_matrix", argc > 1 ? argv[1] : NULL);
    short_rows(impl);
    printf("%s: short rows: %" PRId64 " fits equal to the referee's, %" PRId64 " different, %" PRId64 " refused by the implementation\n", impl->name,
           counts[PASSED], counts[FAILED], counts[SKIPPED]);
    fflush(stdout);
    all_pairs(impl);
    printf("%s: and all pairs: %" PRId64 " fits equal to the referee's, %" PRId64 " different, %" PRId64 " refused by the implementation\n", impl->name,
           counts[PASSED], counts[FAILED], counts[SKIPPED]);
    fflush(stdout);
    large(impl);
    printf("%s: and large ones: %" PRId64 " fits equal to the referee's, %" PRId64 " different, %" PRId64 " refused by the implementation\n", impl->name,
           counts[PASSED], counts[FAILED], counts[SKIPPED]);
    return counts[FAILED] > 0 || counts[PASSED] == 0;
}
