/* SPDX-License-Identifier: Apache-2.0
 * test_exact_long.c: rows of thousands of elements against pooling in rationals, and the solvers against each other. */
#include "cpu/exact.h"
#include "cpu/exact_fixed.h"
#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

typedef struct solved { void *z; int64_t *starts, count; double *weights, *means; } solved;

static solved solved_open(int64_t n)
{
    solved s = { malloc((size_t)n * 8), malloc((size_t)n * 8), 0, malloc((size_t)n * 8), malloc((size_t)n * 8) };
    if (!s.z || !s.starts || !s.weights || !s.means) abort();
    return s;
}

static void solved_close(solved *s)
{
    free(s->z);
    free(s->starts);
    free(s->weights);
    free(s->means);
}

static ih_exact_results results(solved *s)
{
    const ih_exact_results to = { s->z, s->starts, s->weights, s->means };
    return to;
}

static double z_at(const solved *s, ih_dtype dtype, int64_t i) { return dtype == IH_F32 ? (double)((float *)s->z)[i] : ((double *)s->z)[i]; }

/* A trend that leaves blocks of all sizes. */
static void add_trend(ref_row *row, double slope)
{
    for (int64_t i = 0; i < row->n; ++i) {
        row->y[i] += row->row.sign * slope * (double)i;
        if (row->row.dtype == IH_F32) row->y[i] = ((float *)row->y_own)[i] = (float)row->y[i];
        else ((double *)row->y_own)[i] = row->y[i];
    }
}

static void against_pooling(void **state)
{
    static const int kinds[] = { KIND_SMALL_INTEGERS, KIND_NOISE, KIND_NEAR_TIES, KIND_ALL_EXPONENTS, KIND_CANCELLING, KIND_MIDDLE_SPAN };
    const int64_t    n = 3000;
    mpq_t           *z = ref_array_open(n), v;
    solved           s = solved_open(n);
    uint64_t         seed = 100;

    (void)state;
    mpq_init(v);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind)
        for (int variant = 0; variant < 4; ++variant) {
            rng     r = rng_seeded(++seed);
            ref_row row;
            int64_t k = 0;
            ref_row_open(&row, &r, n, variant & 1 ? IH_F64 : IH_F32, variant == 2 ? -1 : 1, kinds[kind],
                         variant & 2 ? kinds[(kind + 1) % 4] : KIND_COUNT);
            if (kinds[kind] == KIND_NOISE) add_trend(&row, 0.01);
            ref_fit_pooling(&row, z);
            assert_int_equal(ih_exact_solve(&row.row, s.z, s.starts, &s.count, s.weights, s.means), IH_OK);
            for (int64_t i = 0; i < n; ++i) {
                if (i > 0 && mpq_equal(z[i], z[i - 1])) {
                    assert_true(ref_same(z_at(&s, row.row.dtype, i), z_at(&s, row.row.dtype, i - 1)));
                    continue;
                }
                if (row.row.sign < 0) mpq_neg(v, z[i]);
                else mpq_set(v, z[i]);
                assert_true(k < s.count);
                assert_int_equal(s.starts[k++], i);
                assert_true(ref_same(z_at(&s, row.row.dtype, i), ref_round(v, row.row.dtype)));
            }
            assert_int_equal(k, s.count);
            ref_row_close(&row);
        }
    mpq_clear(v);
    solved_close(&s);
    ref_array_close(z, n);
}

/* The few-limb solvers and the wide one know nothing of each other's arithmetic. */
static void solvers_agree(void **state)
{
    static const int kinds[] = { KIND_SMALL_INTEGERS, KIND_NOISE, KIND_NEAR_TIES, KIND_SHORT_SPAN, KIND_MIDDLE_SPAN };
    const int64_t    n       = 100000;
    solved           a = solved_open(n), b = solved_open(n);
    ih_exact_scratch scratch = { 0 };
    uint64_t         seed    = 200;
    int              compared = 0;

    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind)
        for (int variant = 0; variant < 8; ++variant) {
            rng                    r  = rng_seeded(++seed);
            const ih_exact_results ta = results(&a), tb = results(&b);
            ref_row                row;
            ih_fixed_point         fp;
            ref_row_open(&row, &r, n, variant & 1 ? IH_F64 : IH_F32, variant & 2 ? -1 : 1, kinds[kind],
                         variant & 4 ? kinds[(kind + 1) % 5] : KIND_COUNT);
            add_trend(&row, 0x1p-7);
            fp = ih_fixed_point_of(&row.row);
            if (fp.s_bits <= IH_FIXED_S_BITS && fp.w_bits <= IH_FIXED_W_BITS) {
                ++compared;
                assert_int_equal(ih_exact_solve_fixed(&scratch, &row.row, fp, &ta, &a.count), IH_OK);
                assert_int_equal(ih_exact_solve_wide(&scratch, &row.row, &tb, &b.count), IH_OK);
                assert_int_equal(a.count, b.count);
                assert_memory_equal(a.starts, b.starts, (size_t)a.count * 8);
                assert_memory_equal(a.weights, b.weights, (size_t)a.count * 8);
                assert_memory_equal(a.means, b.means, (size_t)a.count * 8);
                assert_memory_equal(a.z, b.z, (size_t)n * (row.row.dtype == IH_F32 ? 4 : 8));
            }
            ref_row_close(&row);
        }
    assert_true(compared > 25);
    ih_exact_scratch_free(&scratch);
    solved_close(&a);
    solved_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(against_pooling), cmocka_unit_test(solvers_agree) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
