/* SPDX-License-Identifier: Apache-2.0
 * test_store.c: vertices formed again from kept sums have the bits of the chunk stage, and their errors hold against GMP. */
#include "chunks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

static void within(ih_pair start, ih_pair in, double error, const mpq_t exact)
{
    const double part[4] = { start.hi, start.lo, in.hi, in.lo };
    mpq_t        sum, v;
    mpq_inits(sum, v, NULL);
    for (int k = 0; k < 4; ++k) {
        mpq_set_d(v, part[k]);
        mpq_add(sum, sum, v);
    }
    mpq_sub(sum, sum, exact);
    mpq_abs(sum, sum);
    mpq_set_d(v, error);
    assert_true(mpq_cmp(sum, v) <= 0);
    mpq_clears(sum, v, NULL);
}

static void vertices(void **state)
{
    rng     r = rng_seeded(1);
    int64_t exact = 0, lossy = 0;

    (void)state;
    for (int round = 0; round < 200; ++round) {
        const int32_t kind = round % IH_KINDS, size = (int32_t)(1 + rng_below(&r, 90));
        const int64_t n    = 1 + rng_below(&r, 300);
        ih_judge      judge = { 0 };
        ih_chunk      chunk;
        chunked       c;
        test_row      row;
        diagram       d;
        test_row_open(&row, &r, n, round % TEST_ROW_SHAPES, kind, 1);
        diagram_open(&d, &row.values, n);
        judge.exact = diagram_exact;
        judge.user  = &d;
        chunked_open(&c, &judge, &row.values, n, size, round % 2);
        chunk_open(&chunk, size, kind);
        for (int64_t k = 0; k < c.store.chunks; ++k) {
            ih_walk_count count = { 0 };
            chunk_build(&chunk, &judge, &row.values, k * size, (int32_t)(n - k * size < size ? n - k * size : size), NULL, &count);
            for (int32_t v = 0; v <= c.segments[k].last; ++v) {
                const ih_point p  = ih_store_vertex(&c.store, &c.segments[k], v);
                const int32_t  at = (int32_t)(p.index - k * size);
                assert_int_equal(p.index, ih_store_index(&c.store, &c.segments[k], v));
                assert_true(p.y.hi == chunk.y[at] && p.y.lo == chunk.y_lo[at]);
                if (kind & IH_KIND_WEIGHTED) assert_true(p.x.hi == chunk.x[at] && p.x.lo == chunk.x_lo[at]);
                within(p.y0, p.y, p.err_y + p.err_y0, d.y[p.index]);
                within(p.x0, p.x, p.err_x + p.err_x0, d.x[p.index]);
                if (p.err_y + p.err_y0 + p.err_x + p.err_x0 > 0) ++lossy;
                else ++exact;
            }
        }
        chunk_close(&chunk);
        chunked_close(&c);
        diagram_close(&d);
        test_row_close(&row);
    }
    assert_true(exact > 1000 && lossy > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(vertices) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
