/* SPDX-License-Identifier: Apache-2.0
 * test_cpu_exact.c: the referee over batches: every row as if alone, blocks in order, bounds, threads; the same for the
 * backward pass. */
#include "isohull.h"
#include "cpu/exact.h"
#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

enum { ROWS = 37, N = 70000 };

static double  y[N], w[N], g[N], z[2][N], weights[2][N], means[2][N], grad_y[2][N], grad_w[2][N];
static int64_t offsets[ROWS + 1], block_offsets[2][ROWS + 1], starts[2][N];

static void fill(void)
{
    rng r = rng_seeded(11);

    for (int64_t i = 0; i < N; ++i) {
        y[i] = rng_bell(&r) + 1e-4 * (double)(i % 4096);
        w[i] = 0.5 + rng_unit(&r);
        g[i] = rng_bell(&r);
    }
    for (int k = 1; k < ROWS; ++k) /* some rows empty, some of one element */
        offsets[k] = k % 5 == 0 ? offsets[k - 1] : k % 5 == 1 ? offsets[k - 1] + 1 : offsets[k - 1] + rng_below(&r, 2 * N / ROWS);
    offsets[ROWS] = N;
}

static ih_problem problem(void)
{
    ih_problem p;

    ih_problem_init(&p);
    p.dtype   = IH_F64;
    p.rows    = ROWS;
    p.n       = N;
    p.offsets = offsets;
    p.y       = y;
    p.w       = w;
    p.y_min   = -0.05;
    p.y_max   = 0.25;
    return p;
}

static void fit(const ih_problem *p, int threads, int k)
{
    ih_outputs out;
    ih_options o;

    ih_outputs_init(&out);
    ih_options_init(&o);
    o.threads         = threads;
    out.z             = z[k];
    out.block_offsets = block_offsets[k];
    out.block_starts  = starts[k];
    out.block_weights = weights[k];
    out.block_means   = means[k];
    assert_int_equal(ih_fit(ih_impl_find("cpu_exact"), p, &o, &out, NULL, 0, NULL), IH_OK);
}

static void rows_as_if_alone(void **state)
{
    const ih_problem p = problem();
    static double    row_z[N], row_weights[N], row_means[N];
    static int64_t   row_starts[N];
    int64_t          count, at = 0;

    (void)state;
    fit(&p, 3, 0);
    assert_int_equal(block_offsets[0][0], 0);
    for (int64_t k = 0; k < ROWS; ++k) {
        const ih_row  row   = ih_row_of(&p, k);
        const int64_t begin = offsets[k];
        count               = 0;
        if (row.n > 0) assert_int_equal(ih_exact_solve(&row, row_z, row_starts, &count, row_weights, row_means), IH_OK);
        assert_int_equal(block_offsets[0][k + 1], at + count);
        for (int64_t i = 0; i < row.n; ++i) {
            const double v = row_z[i] < p.y_min ? p.y_min : row_z[i] > p.y_max ? p.y_max : row_z[i];
            assert_true(ref_same(z[0][begin + i], v));
        }
        for (int64_t b = 0; b < count; ++b) {
            assert_int_equal(starts[0][at + b], begin + row_starts[b]);
            assert_true(ref_same(weights[0][at + b], row_weights[b]));
            assert_true(ref_same(means[0][at + b], row_means[b]));
        }
        at += count;
    }
}

static void threads_do_not_show(void **state)
{
    const ih_problem p = problem();

    (void)state;
    fit(&p, 1, 0);
    for (int threads = 2; threads < 6; ++threads) {
        const size_t blocks = (size_t)block_offsets[0][ROWS];
        fit(&p, threads, 1);
        assert_memory_equal(z[0], z[1], sizeof z[0]);
        assert_memory_equal(block_offsets[0], block_offsets[1], sizeof block_offsets[0]);
        assert_memory_equal(starts[0], starts[1], blocks * 8);
        assert_memory_equal(weights[0], weights[1], blocks * 8);
        assert_memory_equal(means[0], means[1], blocks * 8);
    }
}

/* The block arrays may be left out one by one, and z does not change. */
static void only_what_is_wanted(void **state)
{
    const ih_problem p = problem();
    ih_outputs       out;

    (void)state;
    fit(&p, 2, 0);
    ih_outputs_init(&out);
    out.z = z[1];
    assert_int_equal(ih_fit(ih_impl_find("cpu_exact"), &p, NULL, &out, NULL, 0, NULL), IH_OK);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    out.block_offsets = block_offsets[1];
    out.block_means   = means[1];
    assert_int_equal(ih_fit(ih_impl_find("cpu_exact"), &p, NULL, &out, NULL, 0, NULL), IH_OK);
    assert_memory_equal(block_offsets[0], block_offsets[1], sizeof block_offsets[0]);
    assert_memory_equal(means[0], means[1], (size_t)block_offsets[0][ROWS] * 8);
}

static void backward(const ih_problem *p, int threads, int k)
{
    ih_gradient d;
    ih_options  o;

    ih_gradient_init(&d);
    ih_options_init(&o);
    o.threads       = threads;
    d.block_offsets = block_offsets[0];
    d.block_starts  = starts[0];
    d.g             = g;
    d.grad_y        = grad_y[k];
    d.grad_w        = grad_w[k];
    assert_int_equal(ih_backward(ih_impl_find("cpu_exact"), p, &o, &d, NULL, 0, NULL), IH_OK);
}

static void gradients_of_rows(void **state)
{
    const ih_problem p = problem();
    static int64_t   own[N];
    static double    row_y[N], row_w[N];

    (void)state;
    fit(&p, 1, 0);
    backward(&p, 1, 0);
    for (int threads = 2; threads < 6; ++threads) {
        backward(&p, threads, 1);
        assert_memory_equal(grad_y[0], grad_y[1], sizeof grad_y[0]);
        assert_memory_equal(grad_w[0], grad_w[1], sizeof grad_w[0]);
    }
    for (int64_t k = 0; k < ROWS; ++k) { /* a row alone */
        const ih_row  row    = ih_row_of(&p, k);
        const int64_t blocks = block_offsets[0][k + 1] - block_offsets[0][k];
        for (int64_t b = 0; b < blocks; ++b) own[b] = starts[0][block_offsets[0][k] + b] - offsets[k];
        assert_int_equal(ih_exact_backward(&row, p.y_min, p.y_max, own, blocks, g + offsets[k], row_y, row_w), IH_OK);
        assert_memory_equal(row_y, grad_y[0] + offsets[k], (size_t)row.n * 8);
        assert_memory_equal(row_w, grad_w[0] + offsets[k], (size_t)row.n * 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_as_if_alone),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(only_what_is_wanted),
        cmocka_unit_test(gradients_of_rows),
    };
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
