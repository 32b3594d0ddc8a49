/* SPDX-License-Identifier: Apache-2.0
 * test_lane_bitmask.c: lane masks against hulls by a plain chain in GMP rationals. */
#include "chunks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void lanes_are_hulls(void **state)
{
    rng     r = rng_seeded(1);
    int64_t vertices[33], hull[3] = { 0, 0, 0 }, left = 0;

    (void)state;
    for (int round = 0; round < 1200; ++round) {
        const int32_t kind  = round % IH_KINDS;
        const int64_t begin = rng_below(&r, 20), n = begin + 1 + rng_below(&r, 100);
        const int32_t size  = (int32_t)(n - begin);
        chunk_masks   masks;
        test_row      row;
        diagram       d;
        test_row_open(&row, &r, n, round % TEST_ROW_SHAPES, kind, round % 5 ? 1 : -1);
        diagram_open(&d, &row.values, n);
        assert_true(chunk_masks_of(&masks, &row.values, begin, size, &d));
        left += masks.undecided;
        for (int32_t l = 0; l < ih_chunk_lanes(size) && !masks.undecided; ++l) {
            const int64_t first = begin + 32 * l, last = first + 32 < n ? first + 32 : n;
            const int64_t count = diagram_hull(&d, first, last, vertices);
            uint32_t      mask  = 0;
            for (int64_t k = 0; k + 1 < count; ++k) mask |= 1u << (vertices[k] - first);
            assert_int_equal(masks.lane[l], mask);
            ++hull[count == 2 ? 0 : count == last - first + 1 ? 2 : 1];
        }
        diagram_close(&d);
        test_row_close(&row);
    }
    assert_true(left <= (CHUNK_LEFT_OPEN ? 240 : 0));
    assert_true(hull[0] > 100 && hull[1] > 100 && hull[2] > 100); /* bare, middling and full ones were seen */
}

/* At most one push and one pop a point: turns of a lane never exceed 2 a point (paper 5.1). */
static void work_is_linear(void **state)
{
    rng r = rng_seeded(2);

    (void)state;
    for (int round = 0; round < 240; ++round) {
        chunk_masks masks;
        test_row    row;
        diagram     d;
        test_row_open(&row, &r, 32, round % TEST_ROW_SHAPES, 0, 1);
        diagram_open(&d, &row.values, 32);
        assert_true(chunk_masks_of(&masks, &row.values, 0, 32, &d));
        assert_true(masks.turns <= 64);
        diagram_close(&d);
        test_row_close(&row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lanes_are_hulls), cmocka_unit_test(work_is_linear) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
