/* SPDX-License-Identifier: Apache-2.0
 * test_backward.c: gradients against exact rationals: the promised accuracy, exact zeros, bounds met exactly. */
#include "cpu/exact_backward.h"
#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 600 };

static int64_t by_pairs, by_integers, at_bound, clipped;

static double get(const void *v, ih_dtype dtype, int64_t i) { return dtype == IH_F32 ? (double)((const float *)v)[i] : ((const double *)v)[i]; }

/* |got - exact| <= 2^-bits scale, or the rounding of a subnormal; beyond the largest number it must be infinite. */
static void check_entry(double got, const mpq_t exact, const mpq_t scale, unsigned bits, ih_dtype dtype)
{
    mpq_t d, e;

    mpq_inits(d, e, NULL);
    if (!isfinite(got)) {
        assert_false(isnan(got));
        mpq_set_d(d, dtype == IH_F32 ? 0x1.fffffp127 : 0x1.ffffffffffp1023); /* a little below the largest */
        mpq_abs(e, exact);
        assert_true(mpq_cmp(e, d) > 0);
        assert_true((mpq_sgn(exact) < 0) == (got < 0));
    } else {
        mpq_set_d(d, got);
        mpq_sub(d, d, exact);
        mpq_abs(d, d);
        mpq_div_2exp(e, scale, bits);
        if (mpq_cmp(d, e) > 0) {
            mpq_set_d(e, dtype == IH_F32 ? 0x1p-149 : 0x1p-1074);
            assert_true(mpq_cmp(d, e) <= 0);
        }
    }
    mpq_clears(d, e, NULL);
}

static void largest_of(const mpq_t *v, int64_t n, mpq_t largest)
{
    mpq_t a;

    mpq_init(a);
    mpq_set_ui(largest, 0, 1);
    for (int64_t i = 0; i < n; ++i) {
        mpq_abs(a, v[i]);
        if (mpq_cmp(a, largest) > 0) mpq_set(largest, a);
    }
    mpq_clear(a);
}

typedef struct expected { mpq_t *z, *y, *w; int64_t starts[MOST], blocks; } expected;

/* The formulas of ih_gradient. z: the fit in the caller's direction. */
static void expect(const ref_row *row, const double *g, double y_min, double y_max, expected *e)
{
    mpq_t sum, weight, ratio, t;

    mpq_inits(sum, weight, ratio, t, NULL);
    ref_fit_pooling(row, e->z);
    e->blocks = 0;
    for (int64_t a = 0, b; a < row->n; a = b) {
        int outside = 0;
        for (b = a + 1; b < row->n && mpq_equal(e->z[b], e->z[a]); ++b) {}
        e->starts[e->blocks++] = a;
        mpq_set(t, e->z[a]);
        if (row->row.sign < 0) mpq_neg(t, t);
        for (int64_t i = a; i < b; ++i) mpq_set(e->z[i], t);
        if (isfinite(y_min)) {
            mpq_set_d(sum, y_min);
            outside |= mpq_cmp(t, sum) < 0;
            at_bound += mpq_equal(t, sum) != 0;
        }
        if (isfinite(y_max)) {
            mpq_set_d(sum, y_max);
            outside |= mpq_cmp(t, sum) > 0;
        }
        clipped += outside;
        ref_weight(row, a, b, weight);
        mpq_set_ui(sum, 0, 1);
        for (int64_t i = a; i < b; ++i) {
            mpq_set_d(t, g[i]);
            mpq_add(sum, sum, t);
        }
        if (outside) mpq_set_ui(sum, 0, 1);
        mpq_div(ratio, sum, weight);
        for (int64_t i = a; i < b; ++i) {
            mpq_set_d(t, row->w ? row->w[i] : 1.0);
            mpq_mul(e->y[i], t, ratio);
            mpq_set_d(t, row->y[i]);
            mpq_sub(t, t, e->z[i]);
            mpq_mul(e->w[i], t, ratio);
        }
    }
    mpq_clears(sum, weight, ratio, t, NULL);
}

static void check_gradient(const ref_row *row, const void *got, const mpq_t *exact, unsigned bits, int64_t a, int64_t b, int own_scale)
{
    mpq_t largest;

    mpq_init(largest);
    largest_of(exact + a, b - a, largest);
    for (int64_t i = a; i < b; ++i) {
        const double v = get(got, row->row.dtype, i);
        if (own_scale) mpq_abs(largest, exact[i]);
        if (mpq_sgn(exact[i]) == 0 && own_scale) assert_true(v == 0.0);
        check_entry(v, exact[i], largest, bits, row->row.dtype);
    }
    mpq_clear(largest);
}

/* Entries outside the bounds, in blocks of zeros, and of single elements are exact. */
static void check_exact_entries(const ref_row *row, const double *g, const expected *e, const void *grad_y, const void *grad_w)
{
    for (int64_t k = 0; k < e->blocks; ++k) {
        const int64_t a = e->starts[k], b = k + 1 < e->blocks ? e->starts[k + 1] : row->n;
        int           zero = 1;
        for (int64_t i = a; i < b; ++i) zero &= g[i] == 0 || mpq_sgn(e->y[i]) == 0;
        for (int64_t i = a; i < b; ++i) {
            if (zero) assert_true(ref_same(get(grad_y, row->row.dtype, i), 0.0) && ref_same(get(grad_w, row->row.dtype, i), 0.0));
            if (b - a == 1) assert_true(get(grad_w, row->row.dtype, i) == 0.0 && (zero || get(grad_y, row->row.dtype, i) == g[i]));
        }
    }
}

/* Every block by both ways, whichever is taken; the pairs must be right whenever they are accepted. */
static void check_both_ways(const ref_row *row, const ih_backward_row *b, const expected *e)
{
    for (int64_t k = 0; k < e->blocks; ++k) {
        const int64_t at = e->starts[k], end = k + 1 < e->blocks ? e->starts[k + 1] : row->n;
        if (end - at == 1) continue;
        ih_backward_block_exact(b, at, end);
        check_gradient(row, b->grad_y, e->y, row->row.dtype == IH_F32 ? 23 : 50, at, end, 1);
        check_gradient(row, b->grad_w, e->w, row->row.dtype == IH_F32 ? 23 : 50, at, end, 1);
        if (ih_backward_block_pairs(b, at, end)) {
            ++by_pairs;
            check_gradient(row, b->grad_y, e->y, row->row.dtype == IH_F32 ? 23 : 45, at, end, 1);
            check_gradient(row, b->grad_w, e->w, row->row.dtype == IH_F32 ? 23 : 45, at, end, 0);
        } else {
            ++by_integers;
        }
    }
}

static void check_problem(const ref_row *row, const double *g, double y_min, double y_max)
{
    const int64_t  n     = row->n;
    const ih_dtype dtype = row->row.dtype;
    const unsigned bits  = dtype == IH_F32 ? 20 : 44;
    expected       e     = { ref_array_open(n), ref_array_open(n), ref_array_open(n), { 0 }, 0 };
    double         grad_y[MOST], grad_w[MOST];
    float          g32[MOST];
    const void    *gv = dtype == IH_F32 ? (const void *)g32 : (const void *)g;

    for (int64_t i = 0; i < n; ++i) g32[i] = (float)g[i];
    expect(row, g, y_min, y_max, &e);
    {
        const ih_backward_row b = { { row->row.y, row->row.w, n, dtype, 1 }, y_min, y_max, gv, grad_y, grad_w };
        check_both_ways(row, &b, &e);
    }
    memset(grad_y, 0xff, sizeof grad_y);
    memset(grad_w, 0xff, sizeof grad_w);
    assert_int_equal(ih_exact_backward(&row->row, y_min, y_max, e.starts, e.blocks, gv, grad_y, grad_w), IH_OK);
    check_gradient(row, grad_y, e.y, bits, 0, n, 0);
    check_gradient(row, grad_w, e.w, bits, 0, n, 0);
    check_exact_entries(row, g, &e, grad_y, grad_w);
    ref_array_close(e.z, n);
    ref_array_close(e.y, n);
    ref_array_close(e.w, n);
}

static double bound_of(rng *r, const ref_row *row, double none)
{
    const double v = row->y[rng_below(r, row->n)];
    if (rng_one_in(r, 3)) return none;
    if (rng_one_in(r, 3)) return row->row.dtype == IH_F32 ? (double)nextafterf((float)v, 0) : nextafter(v, 0);
    return v;
}

static void check_seed(uint64_t seed, int64_t most)
{
    rng            r       = rng_seeded(seed);
    const int64_t  n       = 1 + rng_below(&r, most);
    const ih_dtype dtype   = rng_one_in(&r, 2) ? IH_F32 : IH_F64;
    const int      kind    = (int)rng_below(&r, KIND_COUNT), weights = (int)rng_below(&r, KIND_COUNT + 4);
    const int      g_kind  = (int)rng_below(&r, KIND_COUNT), pairs = rng_one_in(&r, 3);
    double         g[MOST], y_min, y_max;
    ref_row        row;

    ref_row_open(&row, &r, n, dtype, rng_one_in(&r, 2) ? -1 : 1, kind, weights < KIND_COUNT ? weights : KIND_COUNT);
    for (int64_t i = 0; i < n; ++i) {
        g[i] = ref_value(&r, g_kind, dtype);
        if (pairs && i % 2) g[i] = -g[i - 1]; /* sums cancel, wholly or but for one */
        if (pairs && rng_one_in(&r, 9)) g[i] *= 0.5;
        if (dtype == IH_F32) g[i] = (double)(float)g[i];
    }
    y_min = bound_of(&r, &row, -INFINITY);
    y_max = bound_of(&r, &row, INFINITY);
    check_problem(&row, g, y_min, y_min > y_max ? y_min : y_max);
    ref_row_close(&row);
}

static void random_gradients(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12000; ++seed) check_seed(seed, 24);
    for (uint64_t seed = 20000; seed < 20300; ++seed) check_seed(seed, MOST);
    assert_true(by_pairs > 1000 && by_integers > 1000 && at_bound > 100 && clipped > 1000);
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* n numbers that cancel in pairs, but for one needle, in random order. */
static void cancelling(rng *r, double *v, int64_t n, double needle)
{
    v[0] = needle;
    v[1] = 0;
    for (int64_t i = 2; i < n; i += 2) {
        v[i]     = ldexp(rng_bell(r), (int)rng_below(r, 20));
        v[i + 1] = -v[i];
    }
    for (int64_t i = n - 1; i > 0; --i) {
        const int64_t j = rng_below(r, i + 1);
        const double  t = v[i];
        v[i]            = v[j];
        v[j]            = t;
    }
}

/* One falling block whose mean, lost in the rounding errors of its terms, is a bound or next to one; sums of g alike. */
static void needles(void **state)
{
    rng r = rng_seeded(8);

    (void)state;
    for (int t = 0; t < 1000; ++t) {
        const int64_t n    = (int64_t)4 << rng_below(&r, 8);
        const double  mean = ldexp(rng_bell(&r), -(int)rng_below(&r, 160)), away = rng_one_in(&r, 2) ? INFINITY : -INFINITY;
        const double  bound = rng_one_in(&r, 3) ? mean : nextafter(mean, away);
        double        g[MOST];
        ref_row       row;

        ref_row_open(&row, &r, n, IH_F64, 1, KIND_NOISE, rng_one_in(&r, 2) ? KIND_NOISE : KIND_COUNT);
        cancelling(&r, row.y, n, mean * (double)n);
        qsort(row.y, (size_t)n, sizeof *row.y, falling);
        memcpy(row.y_own, row.y, (size_t)n * sizeof *row.y);
        for (int64_t i = 0; row.w && i < n; ++i) row.w[i] = ((double *)row.w_own)[i] = 0.7;
        cancelling(&r, g, n, ldexp(rng_bell(&r), -(int)rng_below(&r, 160)));
        if (rng_one_in(&r, 2)) check_problem(&row, g, bound, INFINITY);
        else check_problem(&row, g, -INFINITY, bound);
        ref_row_close(&row);
    }
}

/* Ordinary blocks must not need integers, at any length: the bound of the pairs grows with it. */
static void ordinary_blocks_by_pairs(void **state)
{
    static double y[1 << 16], w[1 << 16], g[1 << 16], grad_y[1 << 16], grad_w[1 << 16];
    rng           r = rng_seeded(7);

    (void)state;
    for (int i = 0; i < 1 << 16; ++i) {
        y[i] = rng_bell(&r);
        w[i] = 0.5 + rng_unit(&r);
        g[i] = rng_bell(&r);
    }
    for (int64_t n = 2; n <= 1 << 16; n = n * 2 + (n < 100))
        for (int weighted = 0; weighted < 2; ++weighted) {
            const ih_backward_row b = { { y, weighted ? w : NULL, n, IH_F64, 1 }, -10, 10, g, grad_y, grad_w };
            assert_true(ih_backward_block_pairs(&b, 0, n));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_gradients), cmocka_unit_test(needles), cmocka_unit_test(ordinary_blocks_by_pairs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
