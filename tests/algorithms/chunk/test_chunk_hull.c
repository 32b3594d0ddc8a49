/* SPDX-License-Identifier: Apache-2.0
 * test_chunk_hull.c: joined masks of chunks of any length against hulls in GMP rationals; mask helpers; walks of joins. */
#include "chunks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

static void chunks_are_hulls(void **state)
{
    rng     r = rng_seeded(1);
    int64_t vertices[1100], walks = 0, left = 0;

    (void)state;
    for (int round = 0; round < 400; ++round) {
        static const int32_t seams[] = { 1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 128, 129, 511, 1024 };
        const int32_t kind = round % IH_KINDS, n = round < 120 ? seams[round % 15] : (int32_t)(1 + rng_below(&r, round < 360 ? 200 : 1000));
        chunk_masks   masks;
        test_row      row;
        diagram       d;
        int64_t       size, k = 0;
        test_row_open(&row, &r, n, round % TEST_ROW_SHAPES, kind, 1);
        diagram_open(&d, &row.values, n);
        assert_true(chunk_masks_of(&masks, &row.values, 0, n, &d));
        walks += masks.walk.walks;
        left += masks.undecided;
        assert_true(masks.walk.excess <= 2); /* Lemma 5.1: 3 d + 2 */
        size = diagram_hull(&d, 0, n, vertices);
        for (int32_t p = 0; p < n && !masks.undecided; ++p) {
            const int set = masks.mask[p >> 5] >> (p & 31) & 1;
            assert_int_equal(set, vertices[k] == p);
            k += set;
        }
        assert_int_equal(k, masks.undecided ? 0 : size - 1);
        diagram_close(&d);
        test_row_close(&row);
    }
    assert_true(walks > 1000 && left <= (CHUNK_LEFT_OPEN ? 80 : 0));
}

/* The helpers against a plain scan. */
static void masks(void **state)
{
    rng r = rng_seeded(2);

    (void)state;
    for (int round = 0; round < 20000; ++round) {
        const int32_t lanes = (int32_t)(1 + rng_below(&r, 5));
        uint32_t      mask[5], copy[5];
        for (int32_t l = 0; l < lanes; ++l) mask[l] = rng_one_in(&r, 3) ? 0 : (uint32_t)(rng_next(&r) & rng_next(&r) & rng_next(&r));
        mask[0] |= 1;
        const int32_t end = (int32_t)(1 + rng_below(&r, 32 * lanes)), k = (int32_t)rng_below(&r, end);
        int32_t       before = k - 1, after = k + 1;
        while (before >= 0 && !(mask[before >> 5] >> (before & 31) & 1)) --before;
        while (after < end && !(mask[after >> 5] >> (after & 31) & 1)) ++after;
        if (k > 0) assert_int_equal(ih_mask_before(mask, k), before);
        assert_int_equal(ih_mask_after(mask, k, end), after);
        for (int32_t l = 0; l < lanes; ++l) copy[l] = mask[l];
        for (int32_t p = k + 1; p < end; ++p) copy[p >> 5] &= ~(1u << (p & 31));
        ih_mask_clear(mask, k, end);
        assert_memory_equal(mask, copy, (size_t)lanes * sizeof mask[0]);
    }
}

static void out_of_range_is_seen(void **state)
{
    const double bad[] = { 0x1p301, -0x1p301, 0x1p-301, 5e-324, -0x1p1000 };
    double       y[40] = { 0 }, w[40];
    ih_values    v     = { y, w, 1, IH_KIND_WEIGHTED };
    chunk_masks  m;

    (void)state;
    for (int k = 0; k < 40; ++k) w[k] = 1;
    assert_true(chunk_masks_of(&m, &v, 0, 40, NULL));
    for (int k = 0; k < 5; ++k) {
        y[7 * k] = bad[k];
        assert_false(chunk_masks_of(&m, &v, 0, 40, NULL));
        v.w = NULL, v.kind = 0;
        assert_false(chunk_masks_of(&m, &v, 0, 40, NULL));
        v.w = w, v.kind = IH_KIND_WEIGHTED;
        y[7 * k] = 0;
    }
    w[39] = 0x1p151;
    assert_false(chunk_masks_of(&m, &v, 0, 40, NULL));
    w[39] = 0x1p-151;
    assert_false(chunk_masks_of(&m, &v, 0, 40, NULL));
    w[39] = 0x1p-150;
    assert_true(chunk_masks_of(&m, &v, 0, 40, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(chunks_are_hulls), cmocka_unit_test(masks), cmocka_unit_test(out_of_range_is_seen) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
