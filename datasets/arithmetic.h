/* SPDX-License-Identifier: Apache-2.0
 * arithmetic.h: exponential, logarithm and normal quantile in + - * / and sqrt alone, and floats as ordered integers.
 *
 * The C library's functions differ between libraries and devices in their last bits. These use operations that
 * IEEE 754 rounds in one way only, in a fixed order, without contraction (-ffp-contract=off, -fmad=false): the same
 * bits on every host and device. Round to nearest and gradual underflow are assumed. Accuracy is checked in
 * tests/datasets/test_arithmetic.c. */
#ifndef IH_DATASETS_ARITHMETIC_H
#define IH_DATASETS_ARITHMETIC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/hd.h"
#include "isohull.h"

IH_HD uint64_t ih_bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

IH_HD double ih_f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

IH_HD uint32_t ih_bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

IH_HD float ih_f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define IH_F32_LARGEST 0x1.fffffep+127
#define IH_F64_LARGEST 0x1.fffffffffffffp+1023

/* x rounded to float32; what lies outside the finite range becomes the largest finite value of its sign; -0 becomes +0. */
IH_HD float ih_to_f32(double x)
{
    if (x > IH_F32_LARGEST) return (float)IH_F32_LARGEST;
    if (x < -IH_F32_LARGEST) return (float)-IH_F32_LARGEST;
    return (float)x + 0.0f;
}

IH_HD double ih_to_f64(double x)
{
    if (x > IH_F64_LARGEST) return IH_F64_LARGEST;
    if (x < -IH_F64_LARGEST) return -IH_F64_LARGEST;
    return x + 0.0;
}

/* The floats of a type numbered in order: 0 for zero, k for the k-th positive one, -k for its negative. */
IH_HD int64_t ih_order_of(double x, ih_dtype dtype)
{
    const double   a = x < 0 ? -x : x;
    const int64_t  k = dtype == IH_F32 ? (int64_t)ih_bits_of_f32(ih_to_f32(a)) : (int64_t)ih_bits_of_f64(ih_to_f64(a));
    return x < 0 ? -k : k;
}

IH_HD int64_t ih_largest_order(ih_dtype dtype)
{
    return dtype == IH_F32 ? INT64_C(0x7f7fffff) : INT64_C(0x7fefffffffffffff);
}

/* The inverse; numbers past the largest finite value give that value. Every float32 is a double, so double holds both. */
IH_HD double ih_value_of_order(int64_t k, ih_dtype dtype)
{
    const int64_t largest = ih_largest_order(dtype);
    int64_t       a       = k < 0 ? -k : k;
    double        x;
    if (a > largest) a = largest;
    x = dtype == IH_F32 ? (double)ih_f32_of_bits((uint32_t)a) : ih_f64_of_bits((uint64_t)a);
    return k < 0 ? -x : x;
}

/* ln x, x a normal positive double, relative error below 2^-51. x = 2^e m with m in [1/sqrt 2, sqrt 2), and
 * ln m = 2 atanh s = 2 s (1 + s^2/3 + s^4/5 + ...) with s = (m - 1) / (m + 1), |s| < 0.1716: the first term left out is
 * below 2^-60 of the sum. */
IH_HD double ih_ln(double x)
{
    const uint64_t bits = ih_bits_of_f64(x);
    int64_t        e    = (int64_t)(bits >> 52) - 1023;
    double         m    = ih_f64_of_bits((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000));
    double         s, t, p;
    if (m > 1.4142135623730951) {
        m *= 0.5;
        e += 1;
    }
    s = (m - 1.0) / (m + 1.0);
    t = s * s;
    p = 1.0 / 21.0;
    p = p * t + 1.0 / 19.0;
    p = p * t + 1.0 / 17.0;
    p = p * t + 1.0 / 15.0;
    p = p * t + 1.0 / 13.0;
    p = p * t + 1.0 / 11.0;
    p = p * t + 1.0 / 9.0;
    p = p * t + 1.0 / 7.0;
    p = p * t + 1.0 / 5.0;
    p = p * t + 1.0 / 3.0;
    /* ln 2 in two parts; e times the first is exact */
    return (double)e * 0x1.62e42feep-1 + (2.0 * s + (2.0 * s * t * p + (double)e * 0x1.a39ef35793c76p-33));
}

/* exp x for |x| <= 700, relative error below 2^-51. x = k ln 2 + r with |r| < 0.3466; Taylor's series to r^13 leaves less than
 * 2^-57 of the sum; 2^k is a normal double. */
IH_HD double ih_exp(double x)
{
    const double t = x * 0x1.71547652b82fep+0; /* 1 / ln 2 */
    const int64_t k = (int64_t)(t < 0 ? t - 0.5 : t + 0.5);
    const double  r = (x - (double)k * 0x1.62e42feep-1) - (double)k * 0x1.a39ef35793c76p-33;
    double        p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    return ih_f64_of_bits((uint64_t)(k + 1023) << 52) * (1.0 + (r + r * r * p));
}

/* The quantile of the standard normal distribution at u in (0, 1): algorithm AS 241 (PPND16) of Wichura, "The
 * Percentage Points of the Normal Distribution", Applied Statistics 37 (1988); relative error about 1e-15. */
IH_HD double ih_normal_quantile(double u)
{
    const double q = u - 0.5;
    double       r, x;
    if (q >= -0.425 && q <= 0.425) {
        r = 0.180625 - q * q;
        return q *
               (((((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r +
                    45921.953931549871457) * r + 13731.693765509461125) * r + 1971.5909503065514427) * r +
                 133.14166789178437745) * r + 3.3871328727963666080) /
               (((((((5226.4952788528545610 * r + 28729.085735721942674) * r + 39307.895800092710610) * r +
                    21213.794301586595867) * r + 5394.1960214247511077) * r + 687.18700749205790830) * r +
                 42.313330701600911252) * r + 1.0);
    }
    r = sqrt(-ih_ln(q < 0 ? u : 1.0 - u));
    if (r <= 5.0) {
        r -= 1.6;
        x = (((((((7.74545014278341407640e-4 * r + 0.0227238449892691845833) * r + 0.241780725177450611770) * r +
                1.27045825245236838258) * r + 3.64784832476320460504) * r + 5.76949722146069140550) * r +
             4.63033784615654529590) * r + 1.42343711074968357734) /
            (((((((1.05075007164441684324e-9 * r + 5.47593808499534494600e-4) * r + 0.0151986665636164571966) * r +
                0.148103976427480074590) * r + 0.689767334985100004550) * r + 1.67638483018380384940) * r +
             2.05319162663775882187) * r + 1.0);
    } else {
        r -= 5.0;
        x = (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r + 0.00124266094738807843860) * r +
                0.0265321895265761230930) * r + 0.296560571828504891230) * r + 1.78482653991729133580) * r +
             5.46378491116411436990) * r + 6.65790464350110377720) /
            (((((((2.04426310338993978564e-15 * r + 1.42151175831644588870e-7) * r + 1.84631831751005468180e-5) * r +
                7.86869131145613259100e-4) * r + 0.0148753612908506148525) * r + 0.136929880922735805310) * r +
             0.599832206555887937690) * r + 1.0);
    }
    return q < 0 ? -x : x;
}

#endif
