/* SPDX-License-Identifier: Apache-2.0
 * test_exact.c: the exact level on short rows of every kind against the min-max formula in rationals. */
#include "cpu/exact.h"
#include "cpu/exact_fixed.h"
#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 40 };

/* How often each solver was the one chosen: [limbs of S, 0 for the wide one][weighted]. */
static int64_t chosen[5][2];

static void count_solver(const ih_row *row)
{
    const ih_fixed_point fp   = ih_fixed_point_of(row);
    const int            wide = fp.s_bits > IH_FIXED_S_BITS || fp.w_bits > IH_FIXED_W_BITS;
    const int            limbs = wide ? 0 : fp.s_bits <= 128 && (!row->w || fp.w_bits <= 64) ? 2 : fp.s_bits <= 192 ? 3 : 4;
    ++chosen[limbs][row->w != NULL];
}

/* Everything the library says about the block [a, b) of sign*mean. */
static void check_block(const ref_row *row, int64_t a, int64_t b, const mpq_t mean, double weight, double mean_out)
{
    mpq_t   v, w;
    ih_mean m;

    mpq_inits(v, w, NULL);
    if (row->row.sign < 0) mpq_neg(v, mean);
    else mpq_set(v, mean);
    ref_weight(row, a, b, w);
    assert_true(ref_same(weight, ref_round(w, IH_F64)));
    assert_true(ref_same(mean_out, ref_round(v, IH_F64)));
    assert_int_equal(ih_exact_mean(&row->row, a, b, &m), IH_OK);
    assert_true(ref_same(m.hi, mean_out));
    assert_true(ref_same(m.weight, weight));
    assert_true(ref_same(m.z, ref_round(v, row->row.dtype)));
    assert_int_equal(m.sign, mpq_sgn(v));
    mpq_set_d(w, m.hi);
    mpq_sub(w, v, w);
    assert_true(ref_same(m.lo, ref_round(w, IH_F64)));
    mpq_clears(v, w, NULL);
}

static void check_row(const ref_row *row, mpq_t *z)
{
    const int64_t n     = row->n;
    int64_t       count = 0, starts[MOST], k = 0;
    double        weights[MOST], means[MOST], z64[MOST];
    float         z32[MOST];
    mpq_t         v;

    assert_int_equal(ih_exact_solve(&row->row, row->row.dtype == IH_F32 ? (void *)z32 : (void *)z64, starts, &count, weights, means), IH_OK);
    mpq_init(v);
    for (int64_t i = 0; i < n; ++i) {
        int64_t end = i + 1;
        if (row->row.sign < 0) mpq_neg(v, z[i]);
        else mpq_set(v, z[i]);
        assert_true(ref_same(row->row.dtype == IH_F32 ? (double)z32[i] : z64[i], ref_round(v, row->row.dtype)));
        if (i > 0 && mpq_equal(z[i], z[i - 1])) continue;
        while (end < n && mpq_equal(z[end], z[i])) ++end;
        assert_true(k < count);
        assert_int_equal(starts[k], i);
        check_block(row, i, end, z[i], weights[k], means[k]);
        ++k;
    }
    assert_int_equal(k, count);
    mpq_clear(v);
}

static void check_comparisons(const ref_row *row, rng *r)
{
    mpq_t p, q;

    mpq_inits(p, q, NULL);
    for (int t = 0; t < 6; ++t) {
        const int64_t a = rng_below(r, row->n), b = a + 1 + rng_below(r, row->n - a);
        const int64_t c = rng_below(r, row->n), d = c + 1 + rng_below(r, row->n - c);
        int           order = 9, expected;
        ref_mean(row, a, b, p);
        ref_mean(row, c, d, q);
        expected = mpq_cmp(p, q);
        assert_int_equal(ih_exact_compare(&row->row, a, b, c, d, &order), IH_OK);
        assert_int_equal(order, (expected > 0) - (expected < 0));
    }
    mpq_clears(p, q, NULL);
}

static void check_seed(uint64_t seed)
{
    rng      r = rng_seeded(seed);
    const int64_t n = 1 + rng_below(&r, rng_one_in(&r, 4) ? MOST : 12);
    const ih_dtype dtype = rng_one_in(&r, 2) ? IH_F32 : IH_F64;
    const int sign = rng_one_in(&r, 2) ? -1 : 1, kind = (int)rng_below(&r, KIND_COUNT), weights = (int)rng_below(&r, KIND_COUNT + 3);
    ref_row  row;
    mpq_t   *z = ref_array_open(n);

    ref_row_open(&row, &r, n, dtype, sign, kind, weights < KIND_COUNT ? weights : KIND_COUNT);
    count_solver(&row.row);
    ref_fit_minmax(&row, z);
    check_row(&row, z);
    check_comparisons(&row, &r);
    ref_row_close(&row);
    ref_array_close(z, n);
}

static void short_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20000; ++seed) check_seed(seed);
    for (int limbs = 0; limbs < 5; ++limbs)
        for (int weighted = 0; weighted < 2; ++weighted)
            if (limbs != 1) assert_true(chosen[limbs][weighted] > 50);
}

/* Means halfway between two numbers, and a hair beside. */
static void halfway_means(void **state)
{
    rng    r = rng_seeded(3);
    mpq_t *z = ref_array_open(3);

    (void)state;
    for (int t = 0; t < 4000; ++t) {
        const ih_dtype dtype = rng_one_in(&r, 2) ? IH_F32 : IH_F64;
        const double   base = ref_value(&r, (int)rng_below(&r, KIND_COUNT), dtype);
        const int      third = rng_one_in(&r, 2);
        ref_row        row;

        ref_row_open(&row, &r, third ? 3 : 2, dtype, 1, KIND_NOISE, third ? KIND_NOISE : KIND_COUNT);
        for (int64_t i = 0; i < row.n; ++i) {
            const double v = i == 1 ? base : i == 2 ? -INFINITY : INFINITY;
            row.y[i]       = dtype == IH_F32 ? (double)nextafterf((float)base, (float)v) : nextafter(base, v);
            if (!isfinite(row.y[i])) row.y[i] = base;
            if (row.w) row.w[i] = i == 2 ? (dtype == IH_F32 ? 0x1p-149 : 0x1p-1074) : 1.0;
            if (dtype == IH_F32) {
                ((float *)row.y_own)[i] = (float)row.y[i];
                if (row.w) ((float *)row.w_own)[i] = (float)row.w[i];
            } else {
                ((double *)row.y_own)[i] = row.y[i];
                if (row.w) ((double *)row.w_own)[i] = row.w[i];
            }
        }
        ref_fit_minmax(&row, z);
        check_row(&row, z);
        ref_row_close(&row);
    }
    ref_array_close(z, 3);
}

/* The largest and the least numbers together: bits at both ends of the frame in every sum. */
static void ends_of_range(void **state)
{
    const double big = 0x1.fffffffffffffp1023, small = 0x1p-1074;
    const double y[] = { big, -big, big, -big, small, -small, big, big, -0.0, small };
    const double w[] = { big, big, small, big, small, big, big, small, small, big };
    mpq_t       *z   = ref_array_open(10);

    (void)state;
    for (int weighted = 0; weighted < 2; ++weighted)
        for (int sign = -1; sign <= 1; sign += 2) {
            const ref_row row = { { y, weighted ? w : NULL, 10, IH_F64, sign }, 10, (double *)y, weighted ? (double *)w : NULL, NULL, NULL };
            ref_fit_minmax(&row, z);
            check_row(&row, z);
        }
    ref_array_close(z, 10);
}

static void zeros_are_positive(void **state)
{
    const double y[] = { -0.0, 0.0, 5.0, 1.0, -3.0, -3.0 };
    ih_row       row = { y, NULL, 6, IH_F64, 1 };
    int64_t      starts[6], count = 0;
    double       z[6];

    (void)state;
    assert_int_equal(ih_exact_solve(&row, z, starts, &count, NULL, NULL), IH_OK);
    assert_int_equal(count, 1);
    for (int i = 0; i < 6; ++i) assert_true(ref_same(z[i], 0.0));
    row.n = 1;
    for (row.sign = -1; row.sign <= 1; row.sign += 2) {
        assert_int_equal(ih_exact_solve(&row, z, starts, &count, NULL, NULL), IH_OK);
        assert_true(ref_same(z[0], 0.0));
    }
}

static void empty_row(void **state)
{
    const ih_row row     = { NULL, NULL, 0, IH_F64, 1 };
    int64_t      unused  = 0, count = 7;

    (void)state;
    assert_int_equal(ih_exact_solve(&row, NULL, &unused, &count, NULL, NULL), IH_OK);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_rows),
        cmocka_unit_test(halfway_means),
        cmocka_unit_test(ends_of_range),
        cmocka_unit_test(zeros_are_positive),
        cmocka_unit_test(empty_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
