/* SPDX-License-Identifier: Apache-2.0
 * test_search.c: bridges by search, with 1 and 32 candidates a step, alone and behind a capped walk, against hulls in GMP
 * rationals; the steps of a probe against a plain scan. */
#include "bridges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void searches(void **state)
{
    rng     r = rng_seeded(2);
    int64_t seen = 0, behind = 0;

    (void)state;
    for (int round = 0; round < CHUNKED_ROUNDS; ++round) {
        static const int64_t fans[] = { 1, 2, 7, IH_WARP_CANDIDATES };
        bridge_case c;
        if (!bridge_open(&c, &r, round)) continue;
        for (int f = 0; f < 4; ++f) {
            ih_bridge to = { { 0, 0 }, { 0, 0 } };
            ih_search(&c.rows.store, &c.judge, &c.left, &c.right, fans[f], &to);
            if (judge_left(&c.judge)) continue;
            assert_int_equal(bridge_index(&c, &c.left, to.a), c.a);
            assert_int_equal(bridge_index(&c, &c.right, to.b), c.b);
            ++seen;
        }
        for (int64_t cap = 1; cap < 50; cap *= 2) {
            ih_walk_count count = { 0 };
            ih_bridge     to    = { { 0, 0 }, { 0, 0 } };
            ih_run        left = c.left, right = c.right;
            if (ih_walk(&c.rows.store, &c.judge, &left, &right, cap, &to, &count) || judge_left(&c.judge)) break;
            left.last   = to.a;
            right.first = to.b;
            ih_search(&c.rows.store, &c.judge, &left, &right, 1, &to);
            if (judge_left(&c.judge)) break;
            assert_int_equal(bridge_index(&c, &c.left, to.a), c.a);
            assert_int_equal(bridge_index(&c, &c.right, to.b), c.b);
            ++behind;
        }
        bridge_close(&c);
    }
    assert_true(seen > 2 * CHUNKED_LEAST && behind > CHUNKED_LEAST / 2);
}

/* Every answer of every range, and no more evaluations than the candidates of a step need by bisection. */
static void probes(void **state)
{
    (void)state;
    for (int64_t fan = 1; fan <= 33; ++fan)
        for (int64_t span = 0; span < 200; ++span)
            for (int64_t answer = 0; answer <= span; answer += span > 40 ? 7 : 1) {
                ih_probe p     = ih_probe_begin(5, 5 + span, fan);
                int      steps = 0;
                while (ih_probe_open(&p)) {
                    const int64_t at = ih_probe_at(&p);
                    assert_in_range(at, 5, 5 + span - 1);
                    ih_probe_tell(&p, at - 5 >= answer);
                    ++steps;
                }
                assert_int_equal(p.lo, 5 + answer);
                assert_true(steps <= 24);
            }
    for (int64_t span = 33; span < 5000; span += 61)
        for (int64_t k = 1; k < 32; ++k) assert_true(ih_probe_candidate(9, span, 32, k) > ih_probe_candidate(9, span, 32, k - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(searches), cmocka_unit_test(probes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
