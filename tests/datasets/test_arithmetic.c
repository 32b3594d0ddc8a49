/* SPDX-License-Identifier: Apache-2.0
 * test_arithmetic.c: the accuracy that arithmetic.h claims, against long double functions of the C library, and floats
 * as ordered integers against nextafter. */
#include "datasets/arithmetic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "datasets/counter.h"

enum { DRAWS = 200000 };

static double relative(double got, long double expected) { return (double)fabsl((got - expected) / expected); }

static void exponential_and_logarithm(void **state)
{
    const ih_key key     = ih_make_key(2, 0, 0);
    double       exp_err = 0, ln_err = 0;
    (void)state;
    for (uint64_t k = 0; k < DRAWS; k++) {
        const double u     = ih_uniform(ih_draw(key, k));
        const double x     = k % 2 ? 16 * u - 8 : 1400 * u - 700;
        const double small = k % 3 == 0 ? u * u * u * u : k % 3 == 1 ? u : 1 + (u - 0.5) * 0x1p-20; /* down to tiny u, and near 1 */
        exp_err = fmax(exp_err, relative(ih_exp(x), expl((long double)x)));
        if (small != 1) ln_err = fmax(ln_err, relative(ih_ln(small), logl((long double)small)));
    }
    if (!(exp_err < 0x1p-51)) fail_msg("exp: relative error %g", exp_err);
    if (!(ln_err < 0x1p-51)) fail_msg("ln: relative error %g", ln_err);
    assert_true(ih_exp(0) == 1 && ih_ln(1) == 0);
    assert_true(relative(ih_ln(0x1p-53), logl(0x1p-53L)) < 0x1p-51);
}

/* Phi(quantile(u)) = u, with Phi from erfcl: the error of u divided by the slope u x there is that of x. */
static void normal_quantile(void **state)
{
    const ih_key key   = ih_make_key(3, 0, 0);
    double       worst = 0;
    (void)state;
    for (uint64_t k = 0; k < DRAWS; k++) {
        double u = ih_uniform(ih_draw(key, k)) * 0.5;
        if (k % 3 == 1) u = u * u * u;
        if (k % 3 == 2) u = ih_exp(-36 * ih_uniform(ih_draw(key, k + DRAWS)));
        if (u >= 0.5 || u < 0x1p-53) continue;
        const double      x     = ih_normal_quantile(u);
        const long double lower = erfcl(-(long double)x / sqrtl(2.0L)) / 2;
        const long double slope = expl(-(long double)x * x / 2) / sqrtl(2 * acosl(-1.0L));
        worst = fmax(worst, (double)fabsl((lower - u) / slope / (fabsl((long double)x) > 1e-3L ? x : 1e-3L)));
        assert_true(ih_normal_quantile(1 - u) == -x || 1 - (1 - u) != u);
    }
    if (!(worst < 2e-15)) fail_msg("relative error %g", worst);
}

static void floats_in_order(void **state)
{
    const ih_key key = ih_make_key(4, 0, 0);
    (void)state;
    for (uint64_t k = 0; k < DRAWS; k++) {
        const double x = ih_f64_of_bits(ih_draw(key, k));
        const float  f = ih_f32_of_bits((uint32_t)ih_draw(key, k + DRAWS));
        if (isfinite(x)) {
            assert_true(ih_value_of_order(ih_order_of(x, IH_F64), IH_F64) == x);
            assert_true(ih_value_of_order(ih_order_of(x, IH_F64) + 1, IH_F64) == fmin(nextafter(x, INFINITY), IH_F64_LARGEST));
        }
        if (isfinite(f)) {
            assert_true((float)ih_value_of_order(ih_order_of(f, IH_F32), IH_F32) == f);
            assert_true((float)ih_value_of_order(ih_order_of(f, IH_F32) - 1, IH_F32) == fmaxf(nextafterf(f, -INFINITY), (float)-IH_F32_LARGEST));
        }
    }
    assert_int_equal(ih_order_of(0, IH_F32), 0);
    assert_int_equal(ih_order_of(-0x1p-149, IH_F32), -1);
    assert_int_equal(ih_order_of(-0x1p-1074, IH_F64), -1);
    assert_true(ih_value_of_order(INT64_MAX, IH_F32) == IH_F32_LARGEST && ih_value_of_order(-INT64_MAX, IH_F64) == -IH_F64_LARGEST);
}

static void rounding_stays_finite(void **state)
{
    (void)state;
    assert_true(ih_to_f32(1e300) == (float)IH_F32_LARGEST && ih_to_f32(-0x1.ffffffp+127) == (float)-IH_F32_LARGEST);
    assert_true(ih_to_f64(INFINITY) == IH_F64_LARGEST && ih_to_f64(-INFINITY) == -IH_F64_LARGEST);
    assert_true(ih_to_f32(0x1p-149) == 0x1p-149f && ih_to_f32(0x1.8p-149) == 0x1p-148f); /* to even */
    assert_true(!signbit(ih_to_f32(-0.0)) && !signbit(ih_to_f64(-0.0)) && !signbit(ih_to_f32(-1e-300)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_and_logarithm),
        cmocka_unit_test(normal_quantile),
        cmocka_unit_test(floats_in_order),
        cmocka_unit_test(rounding_stays_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
