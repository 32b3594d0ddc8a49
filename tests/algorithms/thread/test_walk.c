/* SPDX-License-Identifier: Apache-2.0
 * test_walk.c: bridges by walking, over lists of many segments, against hulls in GMP rationals; caps; Lemma 5.1. */
#include "bridges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void walks(void **state)
{
    rng     r      = rng_seeded(1);
    int64_t capped = 0, walked = 0, far = 0;

    (void)state;
    for (int round = 0; round < CHUNKED_ROUNDS; ++round) {
        bridge_case c;
        if (!bridge_open(&c, &r, round)) continue;
        for (int64_t cap = -1; cap < 200; cap = cap < 3 ? cap + 1 : cap * 3) {
            ih_walk_count count = { 0 };
            ih_bridge     to    = { { 0, 0 }, { 0, 0 } };
            const int32_t done  = ih_walk(&c.rows.store, &c.judge, &c.left, &c.right, cap, &to, &count);
            if (judge_left(&c.judge)) continue;
            const int64_t a = bridge_index(&c, &c.left, to.a), b = bridge_index(&c, &c.right, to.b);
            assert_int_equal(count.walks, 1);
            assert_true(cap < 0 || count.steps <= cap);
            assert_int_equal(count.capped, !done);
            if (done) {
                ++walked;
                assert_int_equal(a, c.a);
                assert_int_equal(b, c.b);
                assert_true(count.steps <= 3 * c.removed + 2);
                assert_int_equal(count.excess, count.steps - 3 * c.removed > 0 ? count.steps - 3 * c.removed : 0);
                far += c.removed > 20;
            } else {
                ++capped;
                assert_int_equal(count.steps, cap);
                assert_true(a >= c.a && b <= c.b); /* it stopped on the way */
            }
        }
        bridge_close(&c);
    }
    assert_true(capped > CHUNKED_LEAST && walked > CHUNKED_LEAST && far > CHUNKED_FAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(walks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
