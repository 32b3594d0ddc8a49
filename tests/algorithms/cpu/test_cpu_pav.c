/* SPDX-License-Identifier: Apache-2.0
 * test_cpu_pav.c: the ways a row can take through cpu_pav: every level of decision is reached by data that force it, with
 * the referee's bits, in every instruction set; work stays linear on rows that are all ties; long rows are checked for
 * bad values on the way. */
#include "datasets/generate.h"
#include "datasets/problem.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ih_impl *pav(void) { return ih_impl_find("cpu_pav"); }

static void load(const char *text, ih_data *d)
{
    static ih_spec s;
    char           message[IH_SPEC_MESSAGE];

    if (ih_spec_parse(&s, text, message, sizeof message) || ih_data_generate(d, &s, 1, message, sizeof message)) fail_msg("%s: %s", text, message);
}

/* Fit by the referee and by cpu_pav in every instruction set; the counters are those of the last. */
static void check_problem(const char *name, const ih_problem *p, ih_counters *counters)
{
    fit_result expected;
    verdict    v;
    int        sets = 0;

    fit_result_open(&expected, p);
    if (fit_run(referee(), p, one_thread(), 1, IH_OK, &expected, &v) != PASSED) fail_msg("%s: referee: %s", name, v.text);
    for (int32_t isa = IH_ISA_BASE; isa <= IH_ISA_AVX512; ++isa) {
        ih_options o;
        ih_options_init(&o);
        ih_counters_init(counters);
        o.isa      = isa;
        o.counters = counters;
        switch (fit_check(pav(), p, &o, &expected, &v)) {
        case PASSED: ++sets; break;
        case FAILED: fail_msg("%s, isa %d: %s", name, isa, v.text);
        default: break; /* the machine lacks it */
        }
    }
    assert_true(sets >= 1);
    fit_result_close(&expected);
}

static void check(const char *text, ih_counters *counters)
{
    ih_data d;

    load(text, &d);
    check_problem(text, &d.problem, counters);
    ih_data_free(&d);
}

static void test_filter_decides_ordinary_rows(void **state)
{
    static const char *const rows[] = {
        "noise:f64:n=70001",       "noise:f64:w=uniform:n=70001",      "trend:f64:n=70001",        "trend:f32:w=extreme:n=70001",
        "random_walk:f64:n=70001", "sawtooth:f64:w=uniform:n=70001",   "heavy:f64:n=70001",        "cliffs:f64:n=70001",
        "steps:f64:n=70001",       "near_ties:f64:w=uniform:n=70001",  "labels:f64:w=uniform:n=70001",
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        ih_counters c;
        check(rows[k], &c);
        assert_int_equal(c.rows_exact, 0);
        assert_int_equal(c.decisions_exact, 0);
    }
}

static void test_exact_sums_settle_ties(void **state)
{
    static const char *const rows[] = { "labels:f64:low=0.5:high=0.5:n=70001", "saw:f64:short=2:unit=0:n=70001" };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        ih_counters c;
        check(rows[k], &c);
        assert_true(c.decisions_pair > 0);
        assert_int_equal(c.rows_exact, 0);
    }
}

/* Periods of long values: the means of whole periods tie exactly, in sums that no double holds. */
static void test_ties_of_long_numbers_stay_linear(void **state)
{
    enum { N = 300000 };
    double *const y = malloc(N * sizeof *y);
    ih_problem    p;
    ih_counters   c;

    (void)state;
    for (int64_t i = 0; i < N; ++i) y[i] = i % 3 == 0 ? 0x1.921fb54442d18p+1 : i % 3 == 1 ? 0x1.5bf0a8b145769p+1 : -0x1.6a09e667f3bcdp-9;
    ih_problem_init(&p);
    p.dtype = IH_F64, p.rows = 1, p.n = N, p.y = y;
    check_problem("period 3 of long values", &p, &c);
    assert_int_equal(c.rows_exact, 1);
    assert_true(c.elements_exact <= N); /* what was spent before giving up */
    free(y);
}

static void test_range_beyond_the_bounds_goes_to_integers(void **state)
{
    static const char *const rows[] = { "huge:f64:n=3001", "wide:f64:w=wide:n=1025", "noise:f64:w=wide:n=3001" };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        ih_counters c;
        check(rows[k], &c);
        assert_int_equal(c.rows_exact, 1);
    }
}

/* Blocks of two and four short values have means halfway between floats; longer sums lose bits and need the integers. */
static void test_midpoints_round_to_even(void **state)
{
    enum { N = 4096 };
    static float  y32[N];
    static double y64[N];
    ih_problem    p;
    ih_counters   c;

    (void)state;
    for (int i = 0; i < N; ++i) {
        const uint32_t base = 0x3f800000u + 4u * (uint32_t)(i / 2), bits = base + (i % 2 ? 0 : 1u + 2u * (uint32_t)(i / 2 % 2));
        const uint64_t wide = 0x3ff0000000000000u + (bits - 0x3f800000u);
        memcpy(&y32[i], &bits, 4);
        memcpy(&y64[i], &wide, 8);
    }
    ih_problem_init(&p);
    p.dtype = IH_F32, p.rows = 1, p.n = N, p.y = y32;
    check_problem("midpoints of floats", &p, &c);
    assert_true(c.roundings_filter >= N / 2);
    assert_int_equal(c.roundings_exact, 0);
    p.dtype = IH_F64, p.y = y64;
    check_problem("midpoints of doubles", &p, &c);
    assert_true(c.roundings_filter >= N / 2);
    assert_int_equal(c.roundings_exact, 0);
    p.n = 200; /* a short row */
    check_problem("midpoints of doubles, short", &p, &c);
}

/* Output past the caches: 16 MiB and more, with block ends at odd places. */
static void test_long_rows_written_past_the_caches(void **state)
{
    ih_counters c;
    (void)state;
    check("sawtooth:f64:n=2100001", &c);
    check("trend:f32:n=4200003:min=0.5:max=3000", &c);
}

/* Every boundary between chunks, tiles and windows, with vertices at it and beside it. */
static void test_seams(void **state)
{
    (void)state;
    for (int n = 40; n <= 1300; n += n < 400 ? 1 : 37) {
        static const char *const kinds[] = { "trend:f64:slope=0.3", "sawtooth:f32:period=127", "steps:f64:w=uniform", "cliffs:f64" };
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
            char        text[128];
            ih_counters c;
            if ((n + (int)k) % test_stride() != 0) continue;
            snprintf(text, sizeof text, "%s:seed=%d:n=%d", kinds[k], n, n);
            check(text, &c);
        }
    }
}

/* Near ties at every scale down to the subnormals, where the error bounds themselves underflow. */
static void test_near_ties_at_every_scale(void **state)
{
    enum { N = 512 };
    static double y[N];
    uint64_t      bits = 88172645463325252u;

    (void)state;
    for (int e = -1074; e <= -860; ++e)
        for (int n = 2; n <= N; n = n < 8 ? n + 1 : n * 8) {
            ih_problem  p;
            ih_counters c;
            for (int i = 0; i < n; ++i) {
                bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
                y[i] = ldexp(1.0 + 0x1p-52 * (double)(123456789012345u + bits % 4), e);
            }
            if ((e + n) % (int)test_stride() != 0) continue;
            ih_problem_init(&p);
            p.dtype = IH_F64, p.rows = 1, p.n = n, p.y = y;
            check_problem("near ties of small numbers", &p, &c);
        }
}

/* A long row is not looked through before it is fitted: the sums tell. */
static void test_bad_values_in_a_long_row(void **state)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    static const double bad_weight[] = { NAN, INFINITY, 0.0, -1.0, -0.0 };
    ih_data             d;

    (void)state;
    load("noise:f64:w=uniform:n=5003", &d);
    for (int64_t at = 0; at < d.problem.n; at += at < 300 || at > 4900 ? 1 : 311) {
        double *const y = d.y, *const w = d.w;
        for (size_t k = 0; k < sizeof bad / sizeof bad[0] + sizeof bad_weight / sizeof bad_weight[0]; ++k) {
            const int    of_y = k < sizeof bad / sizeof bad[0];
            double *const cell = of_y ? &y[at] : &w[at];
            const double kept = *cell;
            fit_result   r;
            verdict      v;
            if ((at + (int64_t)k) % test_stride() != 0) continue;
            *cell = of_y ? bad[k] : bad_weight[k - sizeof bad / sizeof bad[0]];
            fit_result_open(&r, &d.problem);
            if (fit_run(pav(), &d.problem, one_thread(), 1, IH_EDATA, &r, &v) != PASSED) fail_msg("bad value %zu at %lld: %s", k, (long long)at, v.text);
            assert_int_equal(r.error.row, 0);
            assert_int_equal(r.error.index, at);
            assert_string_equal(r.error.argument, of_y ? "y" : "w");
            fit_result_close(&r);
            *cell = kept;
        }
    }
    ih_data_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_decides_ordinary_rows),
        cmocka_unit_test(test_exact_sums_settle_ties),
        cmocka_unit_test(test_ties_of_long_numbers_stay_linear),
        cmocka_unit_test(test_range_beyond_the_bounds_goes_to_integers),
        cmocka_unit_test(test_midpoints_round_to_even),
        cmocka_unit_test(test_long_rows_written_past_the_caches),
        cmocka_unit_test(test_seams),
        cmocka_unit_test(test_near_ties_at_every_scale),
        cmocka_unit_test(test_bad_values_in_a_long_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
