/* SPDX-License-Identifier: Apache-2.0
 * test_integer.c: integers of separate limbs against GMP: sums of signed terms at any place, differences, comparisons of
 * products that agree for long. */
#include "exact/integer.h"

#include "../../fits/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <gmp.h>
#include <stdlib.h>

enum { LIMBS = 40, STEP = 2 };

/* (m1 2^64 + m0) 2^place, signed. */
static void term(mpz_t z, uint64_t m1, uint64_t m0, int32_t place, int negative)
{
    const uint64_t words[2] = { m0, m1 };
    mpz_import(z, 2, -1, sizeof words[0], 0, 0, words);
    mpz_mul_2exp(z, z, (mp_bitcnt_t)place);
    if (negative) mpz_neg(z, z);
}

/* The value of a magnitude, whose end limbs are not 0. */
static void value(mpz_t z, const ih_wide *a)
{
    mpz_set_ui(z, 0);
    if (a->low < a->high) {
        assert_int_not_equal(ih_wide_limb(a, a->low), 0);
        assert_int_not_equal(ih_wide_limb(a, a->high - 1), 0);
    }
    for (int32_t k = a->high - 1; k >= a->low; --k) {
        mpz_mul_2exp(z, z, 32);
        mpz_add_ui(z, z, ih_wide_limb(a, k));
    }
    mpz_mul_2exp(z, z, (mp_bitcnt_t)(32 * a->low));
}

static uint64_t word(rng *r)
{
    const uint64_t v = rng_next(r);
    return rng_one_in(r, 4) ? ~(uint64_t)0 >> rng_below(r, 64) : rng_one_in(r, 3) ? (uint64_t)1 << rng_below(r, 64) : v >> rng_below(r, 64);
}

static void sums_of_terms(void **state)
{
    rng       r = rng_seeded(1);
    uint32_t *room = malloc((LIMBS + 1) * STEP * sizeof *room), stored[2][LIMBS];
    mpz_t     sum, t, was;

    (void)state;
    mpz_inits(sum, t, was, NULL);
    for (int round = 0; round < 4000; ++round) {
        const int32_t reach = 1 + (int32_t)rng_below(&r, 32 * LIMBS - 150);
        const int64_t terms = rng_below(&r, 30);
        ih_wide       a     = ih_wide_at(room, STEP);
        int           sign  = 0;
        mpz_set_ui(sum, 0);
        mpz_set_ui(was, 0);
        ih_wide_store(&a, stored[0], 1, LIMBS);
        for (int64_t i = 0; i < terms; ++i) {
            const uint64_t m0 = word(&r) | (uint64_t)rng_one_in(&r, 2), m1 = rng_one_in(&r, 2) ? word(&r) >> 22 : 0;
            const int32_t  place = (int32_t)rng_below(&r, reach), negative = (int32_t)rng_below(&r, 2);
            if (!(m0 | m1)) continue;
            term(t, m1, m0, place, negative);
            mpz_add(sum, sum, t);
            ih_wide_add(&a, m1, m0, place, negative);
            if (rng_one_in(&r, 6)) { /* and away again */
                mpz_sub(sum, sum, t);
                ih_wide_add(&a, m1, m0, place, !negative);
            }
            if (i == terms / 2) {
                ih_wide_store(&a, stored[0], 1, LIMBS);
                mpz_set(was, sum);
            }
        }
        ih_wide_store(&a, stored[1], 1, LIMBS);
        sign = ih_wide_finish(&a);
        value(t, &a);
        if (sign < 0) mpz_neg(t, t);
        assert_int_equal(sign, mpz_sgn(sum));
        assert_int_equal(mpz_cmp(t, sum), 0);

        a = ih_wide_at(room, STEP);
        ih_wide_between(&a, round % 3 ? stored[0] : NULL, stored[1], LIMBS);
        sign = ih_wide_finish(&a);
        value(t, &a);
        if (sign < 0) mpz_neg(t, t);
        if (round % 3) mpz_sub(sum, sum, was);
        assert_int_equal(mpz_cmp(t, sum), 0);
    }
    mpz_clears(sum, t, was, NULL);
    free(room);
}

static void words(void **state)
{
    rng   r = rng_seeded(2);
    mpz_t a, b, p;

    (void)state;
    mpz_inits(a, b, p, NULL);
    for (int round = 0; round < 20000; ++round) {
        const uint64_t x = word(&r), y = word(&r);
        uint64_t       low, high = ih_multiply_words(x, y, &low);
        term(a, 0, x, 0, 0);
        term(b, 0, y, 0, 0);
        mpz_mul(a, a, b);
        term(p, high, low, 0, 0);
        assert_int_equal(mpz_cmp(a, p), 0);
        assert_int_equal(ih_bits_of_word(x), x ? 64 - __builtin_clzll(x) : 0);
    }
    mpz_clears(a, b, p, NULL);
}

/* A magnitude of random limbs; some are equal to another one or differ from it in one limb. */
static ih_wide magnitude(rng *r, uint32_t *d, const ih_wide *like)
{
    ih_wide a = ih_wide_at(d, 1);
    if (like && rng_one_in(r, 2)) {
        a.low  = like->low;
        a.high = like->high;
        for (int32_t k = a.low; k < a.high; ++k) d[k] = ih_wide_limb(like, k);
        if (rng_one_in(r, 2)) d[a.low + rng_below(r, a.high - a.low)] ^= 1u << rng_below(r, 32);
    } else {
        a.low  = (int32_t)rng_below(r, LIMBS / 2);
        a.high = a.low + 1 + (int32_t)rng_below(r, LIMBS / 2);
        for (int32_t k = a.low; k < a.high; ++k) d[k] = (uint32_t)word(r);
        d[a.high - 1] |= 1;
    }
    if (!ih_wide_strip(&a)) { /* the last bit was cleared */
        d[0]   = 1;
        a.low  = 0;
        a.high = 1;
    }
    return a;
}

static void products_compared(void **state)
{
    rng      r = rng_seeded(3);
    uint32_t room[4][LIMBS + 1];
    mpz_t    p, q, t;
    int64_t  seen[3] = { 0, 0, 0 };

    (void)state;
    mpz_inits(p, q, t, NULL);
    for (int round = 0; round < 20000; ++round) {
        const int32_t shift = !rng_one_in(&r, 4) ? 0 : (int32_t)rng_below(&r, 9) - 4;
        const ih_wide a = magnitude(&r, room[0], NULL), b = magnitude(&r, room[1], NULL);
        const ih_wide c = magnitude(&r, room[2], &a), d = magnitude(&r, room[3], &b);
        int           order;
        value(p, &a);
        value(t, &b);
        mpz_mul(p, p, t);
        value(q, &c);
        value(t, &d);
        mpz_mul(q, q, t);
        if (shift > 0) mpz_mul_2exp(p, p, (mp_bitcnt_t)(32 * shift));
        else mpz_mul_2exp(q, q, (mp_bitcnt_t)(-32 * shift));
        order = mpz_cmp(p, q);
        order = order < 0 ? -1 : order > 0;
        ++seen[order + 1];
        assert_int_equal(ih_wide_cross(&a, &b, &c, &d, shift), order);
        assert_int_equal(ih_wide_cross(&c, &d, &a, &b, -shift), -order);
        assert_int_equal(ih_wide_cross_full(&b, &a, &c, &d, shift), order);
    }
    assert_true(seen[0] > 500 && seen[1] > 500 && seen[2] > 500);
    mpz_clears(p, q, t, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(sums_of_terms),
        cmocka_unit_test(products_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
