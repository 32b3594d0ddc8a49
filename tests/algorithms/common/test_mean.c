/* SPDX-License-Identifier: Apache-2.0
 * test_mean.c: block sums and their rounded means against GMP rationals: ties, near ties, subnormal and cancelling means. */
#include "common/mean.h"
#include "diagram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

/* Twice q against the sum of z and its neighbour towards `to`: which side of the boundary is q on? */
static int beyond(const mpq_t q, double z, double to, int32_t kind)
{
    const double next = kind & IH_KIND_F32 ? (double)nextafterf((float)z, (float)to) : nextafter(z, to);
    mpq_t        sum, v;
    int          sign;
    mpq_inits(sum, v, NULL);
    mpq_set_d(sum, z);
    mpq_set_d(v, next);
    mpq_add(sum, sum, v);
    mpq_add(v, q, q);
    sign = mpq_cmp(v, sum);
    mpq_clears(sum, v, NULL);
    return to > 0 ? sign : -sign;
}

/* Is z the mean q rounded to nearest-even, +0 for 0, else signed as q? */
static void is_rounded(const mpq_t q, double z, int32_t kind)
{
    const int up = beyond(q, z, INFINITY, kind), down = beyond(q, z, -INFINITY, kind);
    assert_true(kind & IH_KIND_F32 ? z == (double)(float)z : 1);
    assert_true(up <= 0 && down <= 0);
    if (up == 0 || down == 0) assert_true(ih_is_even(z, kind));
    if (z == 0) assert_int_equal(signbit(z) != 0, mpq_sgn(q) < 0);
}

static int64_t check(const ih_block *b, const mpq_t q, int32_t kind)
{
    double         z     = NAN;
    const ih_level level = ih_round_mean(b, kind, &z);
    if (level == IH_LEVEL_NONE) {
        assert_true(b->lost_y > 0 || b->lost_x > 0); /* exact sums are always enough */
        return 1;
    }
    is_rounded(q, z, kind);
    return 0;
}

/* Blocks of rows of all shapes, rounded to both types. */
static void means_of_rows(void **state)
{
    rng     r    = rng_seeded(1);
    int64_t none = 0, all = 0;

    (void)state;
    for (int round = 0; round < 96; ++round) {
        const int64_t n    = 1 + rng_below(&r, 120);
        const int32_t kind = round % IH_KINDS;
        test_row      row;
        diagram       d;
        mpq_t         q, x;
        test_row_open(&row, &r, n, round % TEST_ROW_SHAPES, kind, round % 2 ? 1 : -1);
        diagram_open(&d, &row.values, n);
        mpq_inits(q, x, NULL);
        for (int k = 0; k < 200; ++k) {
            const int64_t  a = rng_below(&r, n), b = a + 1 + rng_below(&r, n - a);
            const ih_block block = ih_block_sum(&row.values, a, b, row.values.kind);
            mpq_sub(q, d.y[b], d.y[a]);
            mpq_sub(x, d.x[b], d.x[a]);
            mpq_div(q, q, x);
            all += 2;
            none += check(&block, q, kind);
            none += check(&block, q, kind ^ IH_KIND_F32);
        }
        mpq_clears(q, x, NULL);
        diagram_close(&d);
        test_row_close(&row);
    }
    assert_true(none < all / 100);
}

/* Blocks that are a boundary between two numbers of the type, or a hair off it. */
static void boundaries(void **state)
{
    rng     r = rng_seeded(2);
    mpq_t   q, t;
    int64_t ties = 0;

    (void)state;
    mpq_inits(q, t, NULL);
    for (int k = 0; k < 60000; ++k) {
        const int32_t kind = k & 1 ? IH_KIND_F32 : 0;
        const int     low = kind ? -149 : -500, high = kind ? 120 : 500;
        double        z = ldexp(rng_bell(&r), low + (int)rng_below(&r, high - low)), gap, w = 1 + (double)rng_below(&r, 1 << 20);
        ih_block      b = { { 0 }, { 0 }, 0, 0, 0, 0 };
        ih_pair       half;
        if (kind) z = (double)(float)z;
        if (rng_one_in(&r, 8)) z = (rng_one_in(&r, 2) ? 1 : -1) * (kind ? ldexp(1, -(int)rng_below(&r, 149)) : ldexp(1, -(int)rng_below(&r, 400)));
        if (fabs(z) < (kind ? 0x1p-149 : 0x1p-600)) z = kind ? 0x1p-149 : 1;
        gap  = kind ? (double)nextafterf((float)z, INFINITY) - z : nextafter(z, INFINITY) - z;
        b.nx = ih_expansion_add(b.x, 0, w);
        if (k % 3 == 0) b.nx = ih_expansion_add(b.x, b.nx, w * 0x1p-60); /* weights of two doubles */
        half = ih_two_sum(z, gap / 2);
        for (int32_t i = 0; i < b.nx; ++i) {
            const ih_pair p = ih_two_prod(b.x[i], half.hi), s = ih_two_prod(b.x[i], half.lo);
            b.ny = ih_expansion_add(b.y, b.ny, p.lo);
            b.ny = ih_expansion_add(b.y, b.ny, p.hi);
            b.ny = ih_expansion_add(b.y, b.ny, s.hi);
        }
        if (rng_one_in(&r, 2) && b.ny < IH_SUM_TERMS) b.ny = ih_expansion_add(b.y, b.ny, (rng_one_in(&r, 2) ? 1 : -1) * ldexp(fabs(z), -96 - (int)rng_below(&r, 72)));
        mpq_set_ui(q, 0, 1);
        for (int32_t i = 0; i < b.ny; ++i) {
            mpq_set_d(t, b.y[i]);
            mpq_add(q, q, t);
        }
        mpq_set_d(t, b.x[0]);
        if (b.nx > 1) {
            mpq_t u;
            mpq_init(u);
            mpq_set_d(u, b.x[1]);
            mpq_add(t, t, u);
            mpq_clear(u);
        }
        mpq_div(q, q, t);
        ties += beyond(q, z, INFINITY, kind) == 0;
        assert_int_equal(check(&b, q, kind), 0);
    }
    assert_true(ties > 10000);
    mpq_clears(q, t, NULL);
}

/* The exact mean is anywhere within what the sums lost: a result that is returned holds for both ends. */
static void lost_sums(void **state)
{
    rng     r = rng_seeded(3);
    int64_t none = 0, some = 0;
    mpq_t   q, x, v;

    (void)state;
    mpq_inits(q, x, v, NULL);
    for (int k = 0; k < 60000; ++k) {
        const int32_t kind = k & 1 ? IH_KIND_F32 : 0;
        ih_block      b    = { { 0 }, { 0 }, 0, 0, 0, 0 };
        const double  y = rng_one_in(&r, 20) ? 0 : ldexp(rng_bell(&r), (int)rng_below(&r, 100) - 50), w = 1 + rng_unit(&r);
        double        z = NAN;
        b.ny            = ih_expansion_add(b.y, 0, y);
        b.nx            = ih_expansion_add(b.x, 0, w);
        b.lost_y        = rng_one_in(&r, 4) ? 0 : ldexp(rng_unit(&r), -(int)rng_below(&r, 160));
        b.lost_x        = rng_one_in(&r, 4) ? 0 : ldexp(rng_unit(&r), -(int)rng_below(&r, 160));
        if (ih_round_mean(&b, kind, &z) == IH_LEVEL_NONE) {
            ++none;
            continue;
        }
        ++some;
        for (int corner = 0; corner < 4; ++corner) {
            mpq_set_d(q, y);
            mpq_set_d(v, corner & 1 ? b.lost_y : -b.lost_y);
            mpq_add(q, q, v);
            mpq_set_d(x, w);
            mpq_set_d(v, corner & 2 ? b.lost_x : -b.lost_x);
            mpq_add(x, x, v);
            mpq_div(q, q, x);
            is_rounded(q, z, kind);
        }
    }
    assert_true(none > 1000 && some > 1000);
    mpq_clears(q, x, v, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(means_of_rows), cmocka_unit_test(boundaries), cmocka_unit_test(lost_sums) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
