/* SPDX-License-Identifier: Apache-2.0
 * test_expansion.c: exact sums and signs of cross products against GMP rationals. */
#include "common/expansion.h"
#include "../../fits/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <gmp.h>
#include <math.h>

static double wild(rng *r, int span) { return ldexp(rng_bell(r), (int)rng_below(r, span) - span / 2); }

static void value_of(mpq_t sum, const double *e, int32_t n)
{
    mpq_t v;
    mpq_init(v);
    mpq_set_ui(sum, 0, 1);
    for (int32_t k = 0; k < n; ++k) {
        mpq_set_d(v, e[k]);
        mpq_add(sum, sum, v);
    }
    mpq_clear(v);
}

/* Terms of one difference: up to 8 doubles, often cancelling. */
static int32_t random_sum(rng *r, double *e, mpq_t exact, int span)
{
    const int terms = 1 + (int)rng_below(r, IH_SUM_TERMS);
    double    last  = 0;
    int32_t   n     = 0;
    mpq_t     v;

    mpq_init(v);
    mpq_set_ui(exact, 0, 1);
    for (int k = 0; k < terms; ++k) {
        const double x = rng_one_in(r, 3) ? -last : wild(r, span);
        last           = x;
        n              = ih_expansion_add(e, n, x);
        mpq_set_d(v, x);
        mpq_add(exact, exact, v);
    }
    mpq_clear(v);
    return n;
}

static void sums(void **state)
{
    rng   r = rng_seeded(1);
    mpq_t exact, got;

    (void)state;
    mpq_inits(exact, got, NULL);
    for (int k = 0; k < 30000; ++k) {
        double        e[IH_SUM_TERMS];
        const int32_t n = random_sum(&r, e, exact, k % 2 ? 30 : 400);
        assert_in_range(n, 0, IH_SUM_TERMS);
        value_of(got, e, n);
        assert_int_equal(mpq_cmp(got, exact), 0);
        assert_int_equal(ih_expansion_sign(e, n), mpq_sgn(exact));
        for (int32_t i = 0; i < n; ++i) assert_true(e[i] != 0 && (i == 0 || fabs(e[i - 1]) < fabs(e[i])));
    }
    mpq_clears(exact, got, NULL);
}

static void crosses(void **state)
{
    rng   r = rng_seeded(2);
    mpq_t x[4], t;
    int   zeros = 0, no_room = 0;

    (void)state;
    mpq_init(t);
    for (int i = 0; i < 4; ++i) mpq_init(x[i]);
    for (int k = 0; k < 30000; ++k) {
        double  e[4][IH_SUM_TERMS];
        int32_t n[4];
        for (int i = 0; i < 4; ++i) n[i] = random_sum(&r, e[i], x[i], k % 3 == 0 ? 8 : 300);
        if (k % 3 != 2) { /* a tie, or one but for the last bit: c = a, d = b */
            for (int i = 0; i < 2; ++i) {
                n[2 + i] = n[i];
                for (int32_t q = 0; q < n[i]; ++q) e[2 + i][q] = e[i][q];
                if (i == 0 && rng_one_in(&r, 2)) n[2] = ih_expansion_add(e[2], n[2] < IH_SUM_TERMS ? n[2] : IH_SUM_TERMS - 1, ldexp(1, -180));
                value_of(x[2 + i], e[2 + i], n[2 + i]);
            }
        }
        mpq_mul(t, x[0], x[1]);
        mpq_mul(x[2], x[2], x[3]);
        zeros += mpq_equal(t, x[2]) != 0;
        const int32_t sign = ih_expansion_cross(e[0], n[0], e[1], n[1], e[2], n[2], e[3], n[3]);
        no_room += sign == 2;
        if (sign != 2) assert_int_equal(sign, (mpq_cmp(t, x[2]) > 0) - (mpq_cmp(t, x[2]) < 0));
    }
    assert_true(zeros > 1000 && no_room <= (IH_CROSS_TERMS < 4 * IH_SUM_TERMS * IH_SUM_TERMS ? 20000 : 0));
    for (int i = 0; i < 4; ++i) mpq_clear(x[i]);
    mpq_clear(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sums), cmocka_unit_test(crosses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
