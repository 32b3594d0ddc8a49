/* SPDX-License-Identifier: Apache-2.0
 * test_hull.c: hulls on sets of bits against whole rows solved by the exact level of the CPU; the tree of bits against a
 * plain array. */
#include "rows.h"

#include "cpu/exact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

static ih_vertices vertices_open(int64_t n)
{
    ih_vertices v;
    for (int32_t l = 0; l < IH_VERTICES_LEVELS; ++l) v.level[l] = malloc((size_t)ih_vertices_words(n, l) * sizeof(uint32_t));
    return v;
}

static void vertices_close(ih_vertices *v)
{
    for (int32_t l = 0; l < IH_VERTICES_LEVELS; ++l) free(v->level[l]);
}

/* The hull of a row, level by level as a kernel does it. */
static void solve(hard_row *h, ih_vertices *v)
{
    const int64_t n = h->row.n;
    ih_exact_hull hull = { &h->row, v, h->room, 0, 0 };
    int32_t       top = 0;

    for (int64_t lane = 0; lane <= n / 32; ++lane) v->level[0][lane] = ih_exact_lane(&hull, lane);
    for (int64_t width = 32; width < n; width *= 2) {
        if (ih_vertices_top(2 * width) > top) {
            ++top;
            for (int64_t j = 0; j < ih_vertices_words(n, top); ++j) ih_vertices_build(v, n, top, j);
        }
        for (int64_t start = 0; start + width < n; start += 2 * width)
            ih_exact_join(&hull, top, start, start + width, n - start < 2 * width ? n : start + 2 * width);
    }
    for (; top > 0; --top)
        for (int64_t j = 0; j < ih_vertices_words(n, top); ++j) ih_vertices_settle(v, n, top, j);
}

static void hulls_are_blocks(void **state)
{
    rng     r = rng_seeded(1);
    int64_t longest = 0;

    (void)state;
    for (int round = 0; round < 8 * HARD_SHAPES * IH_KINDS; ++round) {
        const int32_t kind  = round % IH_KINDS;
        const int     shape = round / IH_KINDS % HARD_SHAPES;
        const int64_t n     = 1 + (round % 9 == 0 ? rng_below(&r, 6000) : round % 3 ? rng_below(&r, 100) : 32 * (1 + rng_below(&r, 40)) - 1 + rng_below(&r, 2));
        int64_t      *starts = malloc((size_t)n * sizeof *starts), blocks = 0, k = 0;
        ih_vertices   v = vertices_open(n);
        hard_row      h;
        hard_row_open(&h, &r, n, shape, kind, round / 3 % 2);
        hard_row_stops(&h, 5 + (int32_t)rng_below(&r, 3));
        solve(&h, &v);
        assert_int_equal(ih_exact_solve(&h.in, NULL, starts, &blocks, NULL, NULL), IH_OK);
        for (int64_t i = 0; i < n; ++i) {
            const int start = v.level[0][i / 32] >> (i & 31) & 1u;
            assert_int_equal(start, k < blocks && starts[k] == i);
            k += start;
        }
        assert_int_equal(v.level[0][n / 32] >> (n & 31) & 1u, 1);
        if (blocks > longest) longest = blocks;
        hard_row_close(&h);
        vertices_close(&v);
        free(starts);
    }
    assert_true(longest > 500);
}

static void trees_of_bits(void **state)
{
    rng r = rng_seeded(2);

    (void)state;
    for (int round = 0; round < 200; ++round) {
        const int64_t n   = 33 + rng_below(&r, round % 4 ? 3000 : 70000);
        char         *set = malloc((size_t)n + 1);
        ih_vertices   v   = vertices_open(n);
        int32_t       top = 0;
        memset(set, 1, (size_t)n + 1);
        for (int64_t k = 0; k <= n / 32; ++k) v.level[0][k] = k < n / 32 ? ~0u : ~0u >> (31 - (n & 31));
        for (int64_t width = 32; width < n; width *= 2) {
            if (ih_vertices_top(2 * width) > top) {
                ++top;
                for (int64_t j = 0; j < ih_vertices_words(n, top); ++j) ih_vertices_build(&v, n, top, j);
            }
            for (int64_t start = 0; start + width < n; start += 2 * width) {
                const int64_t s = start + width, end = n - start < 2 * width ? n : start + 2 * width;
                const int64_t probe = start + 1 + rng_below(&r, end - start - 1);
                int64_t       a = probe - 1, b = probe + 1;
                while (!set[a]) --a;
                while (!set[b]) ++b;
                assert_int_equal(ih_vertices_up_to(&v, top, probe - 1), a);
                if (set[probe]) {
                    assert_int_equal(ih_vertices_before(&v, top, probe), a);
                    assert_int_equal(ih_vertices_after(&v, top, probe, end), b);
                }
                a = rng_one_in(&r, 8) ? start : s - 1 - rng_below(&r, s - start) / 2;
                b = rng_one_in(&r, 8) ? end : s + 1 + rng_below(&r, end - s) / 2;
                while (!set[a]) --a;
                while (!set[b]) ++b;
                ih_vertices_clear(&v, top, a, b);
                memset(set + a + 1, 0, (size_t)(b - a - 1));
            }
        }
        for (; top > 0; --top)
            for (int64_t j = 0; j < ih_vertices_words(n, top); ++j) ih_vertices_settle(&v, n, top, j);
        for (int64_t i = 0; i <= n; ++i) assert_int_equal(v.level[0][i / 32] >> (i & 31) & 1u, set[i]);
        vertices_close(&v);
        free(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_bits),
        cmocka_unit_test(hulls_are_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
