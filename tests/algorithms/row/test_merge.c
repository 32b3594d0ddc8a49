/* SPDX-License-Identifier: Apache-2.0
 * test_merge.c: trees of merges, by every rule, give the hull's vertices as a list with the invariants of Theorem 4.4. */
#include "bridges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void trees(void **state)
{
    static const ih_merge_rule rules[] = { { -1, 0 }, { 0, 0 }, { 1, 0 }, { 2, 0 }, { 8, 0 }, { 64, 0 }, { 64, 1 } };
    rng                        r = rng_seeded(1);
    static int64_t             want[CHUNKED_MOST + 2000], got[CHUNKED_MOST + 2000];
    int64_t                    moved = 0, searches = 0, alone = 0;

    (void)state;
    for (int round = 0; round < CHUNKED_ROUNDS / 5 * 3; ++round) {
        const int32_t size = chunked_size(&r, round % 2 ? 8 : 60), kind = round % IH_KINDS;
        const int64_t n    = size + 1 + rng_below(&r, CHUNKED_MOST);
        test_row      row;
        diagram       d;
        test_row_open(&row, &r, n, round % TEST_ROW_SHAPES, kind, 1);
        diagram_open(&d, &row.values, n);
        for (int k = 0; k < 7; ++k) {
            ih_judge       judge = judge_of(&d);
            ih_merge_count count = { { 0, 0, 0, 0 }, 0, 0 };
            chunked        c;
            int64_t        segments, vertices;
            chunked_open(&c, &judge, &row.values, n, size, 0);
#if defined(IH_SIMT)
            if (c.given_up) {
                chunked_close(&c);
                continue;
            }
#endif
            segments = bridge_tree(&c, &judge, 0, c.store.chunks, rules[k], &count);
            if (judge_left(&judge)) {
                chunked_close(&c);
                continue;
            }
            vertices = diagram_hull(&d, 0, n, want);
            assert_int_equal(chunked_vertices(&c, c.segments, segments, got), vertices);
            assert_memory_equal(want, got, (size_t)vertices * sizeof *want);
            assert_in_range(segments, 1, c.store.chunks);
            for (int64_t s = 0; s < segments; ++s) {
                assert_true(c.segments[s].first <= c.segments[s].last);
                assert_true(s == 0 || c.segments[s - 1].chunk < c.segments[s].chunk);
                alone += c.segments[s].first == c.segments[s].last;
            }
            assert_true(count.walk.excess <= 2);
            assert_true(rules[k].walk_cap != 0 || count.walk.walks == 0);
            assert_true(rules[k].walk_cap >= 0 || count.searches == 0);
            assert_true(!rules[k].warp || (count.walk.walks == 0));
            moved += count.moved;
            searches += count.searches;
            chunked_close(&c);
        }
        diagram_close(&d);
        test_row_close(&row);
    }
    assert_true(moved > CHUNKED_LEAST && searches > CHUNKED_LEAST && alone > CHUNKED_LEAST);
}

static void levels(void **state)
{
    (void)state;
    for (int64_t m = 1; m < 3000; ++m) {
        int64_t nodes = m, merges = 0;
        int32_t level = 0;
        for (; nodes > 1; ++level) {
            assert_int_equal(ih_tree_merges(m, level), nodes / 2);
            merges += nodes / 2;
            nodes = (nodes + 1) / 2;
        }
        assert_int_equal(ih_tree_levels(m), level);
        assert_int_equal(merges, m - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(trees), cmocka_unit_test(levels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
