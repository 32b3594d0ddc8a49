/* SPDX-License-Identifier: Apache-2.0
 * test_sums.c: turns, means and weights of ranges, with stops and without, against the exact level of the CPU. */
#include "rows.h"

#include "exact/near.h"

#include "cpu/exact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static void frames_are_enough(void **state)
{
    (void)state;
    for (int32_t kind = 0; kind < IH_KINDS; ++kind) {
        const int32_t  f32 = kind & IH_KIND_F32;
        const ih_reach all = { f32 ? -149 : -1074, f32 ? 128 : 1024 };
        const ih_frame f   = ih_frame_of(all, all, INT64_MAX, kind);
        assert_int_equal(f.ky, ih_frame_most_y(kind));
        assert_int_equal(f.kx, ih_frame_most_x(kind));
    }
}

static void turns_and_means(void **state)
{
    rng     r = rng_seeded(1);
    int64_t orders[3] = { 0, 0, 0 }, near = 0;

    (void)state;
    for (int round = 0; round < 20 * HARD_SHAPES * IH_KINDS; ++round) {
        const int32_t kind = round % IH_KINDS;
        const int     shape = round / IH_KINDS % HARD_SHAPES;
        const int64_t n = 3 + rng_below(&r, round % 7 ? 200 : 1200);
        hard_row      h;
        hard_row_open(&h, &r, n, shape, kind, round / 3 % 2);
        if (round % 5) hard_row_stops(&h, 5 + (int32_t)rng_below(&r, 3));
        for (int k = 0; k < 40; ++k) {
            const int64_t span = rng_one_in(&r, 2) ? n - 1 : 3 + rng_below(&r, n - 2) / 8;
            const int64_t a = rng_below(&r, n - 1), most = n - a - 1 < span ? n - a - 1 : span;
            const int64_t b = a + 1 + rng_below(&r, most), d = b + 1 + rng_below(&r, n - b < span ? n - b : span);
            ih_exact_sum  sum;
            ih_mean       mean;
            int           order;
            ih_turn       turn;
            assert_int_equal(ih_exact_compare(&h.in, a, b, b, d, &order), IH_OK);
            assert_int_equal(ih_exact_convex(&h.row, h.room, a, b, d), order < 0);
            ++orders[order + 1];
            turn = ih_near_turn(&h.row, a, b, d);
            if (turn != IH_TURN_UNDECIDED) assert_int_equal(turn == IH_TURN_CONVEX, order < 0);
            if (order == 0) assert_int_equal(turn == IH_TURN_CONVEX, 0);
            near += turn != IH_TURN_UNDECIDED;
            assert_int_equal(ih_exact_mean(&h.in, a, d, &mean), IH_OK);
            sum = ih_exact_sum_of(&h.row, h.room, k & 1, a, d);
            assert_int_equal(bits_of(ih_exact_mean_of(&h.row, &sum, kind)), bits_of(mean.z));
            assert_int_equal(bits_of(ih_exact_mean_of(&h.row, &sum, kind & ~IH_KIND_F32)), bits_of(mean.hi));
            assert_int_equal(bits_of(ih_exact_weight_of(&h.row, &sum)), bits_of(mean.weight));
        }
        hard_row_close(&h);
    }
    assert_true(orders[0] > 1000 && orders[1] > 1000 && orders[2] > 1000);
    assert_true(near > (orders[0] + orders[2]) * 9 / 10); /* else the doubles are of no use */
}

/* Means beside the boundaries of rounding: v + (gap between v and the next) / 2, exactly, a little more and a little less. */
static void means_at_boundaries(void **state)
{
    rng r = rng_seeded(2);

    (void)state;
    for (int round = 0; round < 20000; ++round) {
        const int32_t kind = round % IH_KINDS, f32 = kind & IH_KIND_F32;
        const int     e    = f32 ? -149 + (int)rng_below(&r, 240) : -1074 + (int)rng_below(&r, 2000);
        const int64_t most = f32 ? 1 << 24 : (int64_t)1 << 53, m = rng_one_in(&r, 3) ? rng_below(&r, 4) : most - 1 - rng_below(&r, rng_one_in(&r, 2) ? 4 : most);
        const double  low = ldexp((double)m, e), high = ldexp((double)(m + 1), e), more = ldexp((double)(rng_below(&r, 3) - 1), e);
        double        y[4] = { low, high, low, high + more }, w[4] = { 3, 3, 1, 1 };
        float         y32[4], w32[4];
        hard_row      h;
        ih_exact_sum  sum;
        ih_mean       mean;
        hard_row_open(&h, &r, 4, 0, kind, (int)rng_below(&r, 2));
        for (int i = 0; i < 4; ++i) {
            if (round & 64) y[i] = -y[i];
            y32[i] = (float)y[i];
            w32[i] = (float)w[i];
        }
        memcpy(h.y, f32 ? (void *)y32 : (void *)y, f32 ? sizeof y32 : sizeof y);
        if (h.w) memcpy(h.w, f32 ? (void *)w32 : (void *)w, f32 ? sizeof w32 : sizeof w);
        hard_row_frame(&h);
        for (int64_t to = 2; to <= 4; ++to) {
            assert_int_equal(ih_exact_mean(&h.in, 0, to, &mean), IH_OK);
            sum = ih_exact_sum_of(&h.row, h.room, 0, 0, to);
            assert_int_equal(bits_of(ih_exact_mean_of(&h.row, &sum, kind)), bits_of(mean.z));
            assert_int_equal(bits_of(ih_exact_mean_of(&h.row, &sum, kind & ~IH_KIND_F32)), bits_of(mean.hi));
        }
        hard_row_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_enough),
        cmocka_unit_test(turns_and_means),
        cmocka_unit_test(means_at_boundaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
