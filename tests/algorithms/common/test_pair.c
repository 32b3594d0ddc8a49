/* SPDX-License-Identifier: Apache-2.0
 * test_pair.c: error-free transforms and running sums against GMP rationals. */
#include "common/pair.h"
#include "../../fits/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gmp.h>
#include <math.h>

static double wild(rng *r, int span) { return ldexp(rng_bell(r), (int)rng_below(r, span) - span / 2); }

/* Is the exact value hi + lo, with hi rounded to nearest? */
static void is_pair(ih_pair p, const mpq_t exact)
{
    mpq_t hi, lo;
    mpq_inits(hi, lo, NULL);
    mpq_set_d(hi, p.hi);
    mpq_set_d(lo, p.lo);
    mpq_add(lo, lo, hi);
    assert_int_equal(mpq_cmp(lo, exact), 0);
    assert_true(p.hi + p.lo == p.hi);
    mpq_clears(hi, lo, NULL);
}

static void transforms(void **state)
{
    rng   r = rng_seeded(1);
    mpq_t a, b, c;

    (void)state;
    mpq_inits(a, b, c, NULL);
    for (int k = 0; k < 100000; ++k) {
        const double x = wild(&r, 120), y = rng_one_in(&r, 4) ? -x * (1 + 0x1p-50 * (double)rng_below(&r, 8)) : wild(&r, 120);
        mpq_set_d(a, x);
        mpq_set_d(b, y);
        mpq_add(c, a, b);
        is_pair(ih_two_sum(x, y), c);
        mpq_sub(c, a, b);
        is_pair(ih_two_diff(x, y), c);
        mpq_mul(c, a, b);
        is_pair(ih_two_prod(x, y), c);
    }
    mpq_clears(a, b, c, NULL);
}

/* |exact - pair| <= lost, and |exact - hi| <= |lo| + lost. */
static void within(ih_pair p, double lost, const mpq_t exact)
{
    mpq_t d, t, near;
    mpq_inits(d, t, near, NULL);
    mpq_set_d(d, p.hi);
    mpq_sub(d, exact, d);
    mpq_set_d(near, fabs(p.lo));
    mpq_set_d(t, lost * (1 + 0x1p-30));
    mpq_add(near, near, t);
    mpq_abs(t, d);
    assert_true(mpq_cmp(t, near) <= 0);
    mpq_set_d(t, p.lo);
    mpq_sub(d, d, t);
    mpq_abs(d, d);
    mpq_set_d(t, lost * (1 + 0x1p-30));
    assert_true(mpq_cmp(d, t) <= 0);
    mpq_clears(d, t, near, NULL);
}

static void running_sums(void **state)
{
    rng     r = rng_seeded(2);
    int64_t lossy = 0;
    mpq_t   exact, v;

    (void)state;
    mpq_inits(exact, v, NULL);
    for (int k = 0; k < 1500; ++k) {
        const int span = k % 3 == 0 ? 20 : k % 3 == 1 ? 100 : 280;
        ih_pair   sum  = { 0, 0 };
        double    lost = 0;
        mpq_set_d(exact, 0);
        for (int i = 0; i < 60; ++i) {
            const double x = rng_one_in(&r, 5) ? -sum.hi : wild(&r, span);
            ih_sum_add(&sum, x, &lost);
            mpq_set_d(v, x);
            mpq_add(exact, exact, v);
            if (span > 20 && rng_one_in(&r, 2)) {
                ih_sum_add_low(&sum, x * 0x1p-55, &lost);
                mpq_set_d(v, x * 0x1p-55);
                mpq_add(exact, exact, v);
            }
            within(sum, lost, exact);
        }
        lossy += lost > 0;
        if (span == 20) assert_true(lost == 0);
    }
    assert_true(lossy > 100);
    mpq_clears(exact, v, NULL);
}

static void pairs_added(void **state)
{
    rng     r = rng_seeded(3);
    int64_t lossy = 0, kept = 0;
    mpq_t   exact, v;

    (void)state;
    mpq_inits(exact, v, NULL);
    for (int k = 0; k < 40000; ++k) {
        const int span = k % 2 ? 40 : 200;
        ih_pair   a = ih_two_sum(wild(&r, span), wild(&r, span) * 0x1p-60), b, sum;
        double    lost = 0;
        b.hi = rng_one_in(&r, 3) ? -a.hi : wild(&r, span);
        b.lo = rng_one_in(&r, 3) ? -a.lo : b.hi * 0x1p-45 * rng_bell(&r); /* not renormalised, as running sums are */
        sum  = ih_pair_add(a, b, &lost);
        mpq_set_d(exact, a.hi);
        mpq_set_d(v, a.lo);
        mpq_add(exact, exact, v);
        mpq_set_d(v, b.hi);
        mpq_add(exact, exact, v);
        mpq_set_d(v, b.lo);
        mpq_add(exact, exact, v);
        within(sum, lost, exact);
        assert_true(sum.hi + sum.lo == sum.hi);
        if (lost > 0) ++lossy;
        else ++kept;
    }
    assert_true(lossy > 100 && kept > 100);
    mpq_clears(exact, v, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(transforms), cmocka_unit_test(running_sums), cmocka_unit_test(pairs_added) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
