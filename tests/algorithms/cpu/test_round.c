/* SPDX-License-Identifier: Apache-2.0
 * test_round.c: one limb of quotients of random long integers against GMP, and roundings at every seam. */
#include "cpu/round.h"
#include "reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Limbs that make estimates of quotient digits go wrong: all ones, a lone top bit, small ones, random ones. */
static int random_limbs(rng *r, uint64_t *d, int most)
{
    const int n = 1 + (int)rng_below(r, most);
    for (int k = 0; k < n; ++k) {
        switch (rng_below(r, 4)) {
        case 0: d[k] = UINT64_MAX; break;
        case 1: d[k] = (uint64_t)rng_below(r, 2) << 63; break;
        case 2: d[k] = (uint64_t)rng_below(r, 3); break;
        default: d[k] = rng_next(r); break;
        }
    }
    if (!d[n - 1]) d[n - 1] = 1 + (uint64_t)rng_below(r, 2);
    return n;
}

static void set_limbs(mpq_t q, const uint64_t *d, int n, int e)
{
    mpz_import(mpq_numref(q), (size_t)n, -1, sizeof *d, 0, 0, d);
    mpz_set_ui(mpq_denref(q), 1);
    if (e >= 0) mpq_mul_2exp(q, q, (mp_bitcnt_t)e);
    else mpq_div_2exp(q, q, (mp_bitcnt_t)-e);
}

static void quotients(void **state)
{
    rng   r = rng_seeded(1);
    mpq_t s, w, q, lead, next;

    (void)state;
    mpq_inits(s, w, q, lead, next, NULL);
    for (int t = 0; t < 200000; ++t) {
        uint64_t  sd[IH_LIMBS_S], wd[IH_LIMBS_W];
        const int nw = random_limbs(&r, wd, rng_one_in(&r, 20) ? IH_LIMBS_W : 4);
        int       ns = random_limbs(&r, sd, rng_one_in(&r, 20) ? IH_LIMBS_S : 6);
        const int es = (int)rng_below(&r, 200) - 100, ew = (int)rng_below(&r, 200) - 100;
        ih_lead   v;

        if (rng_one_in(&r, 4)) { /* an exact quotient, or one beside it */
            uint64_t       product[IH_LIMBS_W + 1];
            const uint64_t m = rng_next(&r) | 1;
            ih_limbs_multiply(product, wd, nw, &m, 1);
            ns = ih_limbs_trim(product, nw + 1);
            memcpy(sd, product, (size_t)ns * sizeof *sd);
            if (rng_one_in(&r, 2) && sd[0]) sd[0] -= 1;
            ns = ih_limbs_trim(sd, ns);
            if (ns == 0) continue;
        }
        v = ih_divide(sd, ns, es, wd, nw, ew);
        set_limbs(s, sd, ns, es);
        set_limbs(w, wd, nw, ew);
        mpq_div(q, s, w);
        set_limbs(lead, &v.q, 1, v.e);
        mpq_set_ui(next, 1, 1);
        if (v.e >= 0) mpq_mul_2exp(next, next, (mp_bitcnt_t)v.e);
        else mpq_div_2exp(next, next, (mp_bitcnt_t)-v.e);
        mpq_add(next, next, lead);
        assert_true(ih_bits64(v.q) >= 62);
        assert_int_equal(v.inexact, mpq_cmp(lead, q) != 0);
        assert_true(mpq_cmp(lead, q) <= 0 && mpq_cmp(q, next) < 0);
    }
    mpq_clears(s, w, q, lead, next, NULL);
}

/* Numbers of up to 70 bits at places around the ends of both ranges, halves and their neighbours among them. */
static void roundings(void **state)
{
    rng   r = rng_seeded(2);
    mpq_t q;

    (void)state;
    mpq_init(q);
    for (int t = 0; t < 100000; ++t) {
        const ih_dtype dtype  = rng_one_in(&r, 2) ? IH_F32 : IH_F64;
        const int      ends[] = { dtype == IH_F32 ? -149 : -1074, dtype == IH_F32 ? 127 : 1023, 0 };
        uint64_t       d[2]   = { rng_next(&r), (uint64_t)rng_below(&r, 64) };
        const int      keep   = 1 + (int)rng_below(&r, 60);
        int            n, e;
        double         v;

        if (rng_one_in(&r, 2)) d[1] = 0;
        if (rng_one_in(&r, 2)) d[0] = d[0] >> keep << keep; /* few bits: halves are common */
        if (rng_one_in(&r, 4)) d[0] |= UINT64_MAX >> keep;
        if (rng_one_in(&r, 4)) d[0] >>= keep;
        n = ih_limbs_trim(d, 2);
        if (n == 0) continue;
        e = ends[rng_below(&r, 3)] - (int)rng_below(&r, 75) + (int)rng_below(&r, 4);
        set_limbs(q, d, n, e);
        v = ih_round_lead_to(ih_lead_of(d, n, e), 0, dtype);
        assert_true(ref_same(v, ref_round(q, dtype)));
        mpq_neg(q, q);
        assert_true(ref_same(ih_round_lead_to(ih_lead_of(d, n, e), 1, dtype), ref_round(q, dtype)));
    }
    mpq_clear(q);
}

/* The reference itself, against the compiler's and the C library's roundings. */
static void reference_rounds(void **state)
{
    mpq_t q;

    (void)state;
    mpq_init(q);
    mpq_set_ui(q, 1, 3);
    assert_true(ref_same(ref_round(q, IH_F64), 1.0 / 3.0));
    assert_true(ref_same(ref_round(q, IH_F32), 1.0f / 3.0f));
    mpq_set_str(q, "9007199254740993", 10);
    assert_true(ref_same(ref_round(q, IH_F64), 9007199254740992.0));
    mpq_set_d(q, 0x1p-1074);
    mpq_div_2exp(q, q, 1);
    assert_true(ref_same(ref_round(q, IH_F64), 0.0));
    mpq_neg(q, q);
    assert_true(ref_same(ref_round(q, IH_F64), -0.0));
    mpq_set_d(q, 0x1.fffffffffffffp1023);
    mpq_mul_2exp(q, q, 1);
    assert_true(ref_same(ref_round(q, IH_F64), INFINITY));
    mpq_clear(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_rounds),
        cmocka_unit_test(quotients),
        cmocka_unit_test(roundings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
