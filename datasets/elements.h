/* SPDX-License-Identifier: Apache-2.0
 * elements.h: element i of a row of each family, as a formula, for host and device.
 *
 * Each function gives the exact value before it is rounded to the type (a double; float32 is then rounded once more,
 * ih_element_y). An element depends on seed, row, i, the row's length n, type and parameters only. What the families
 * are for and which hulls they give is in docs/families.md. */
#ifndef IH_DATASETS_ELEMENTS_H
#define IH_DATASETS_ELEMENTS_H

#include "datasets/arithmetic.h"
#include "datasets/counter.h"
#include "datasets/random_walk.h"

enum { IH_MAX_PARAMETERS = 4 };

typedef enum ih_family {
#define IH_FAMILY(id, ...) IH_FAMILY_##id,
#include "datasets/families.def"
#undef IH_FAMILY
    IH_FAMILY_COUNT,
    IH_FAMILY_file = IH_FAMILY_COUNT /* not a formula: values read from a file */
} ih_family;

typedef enum ih_weighting {
#define IH_WEIGHTING(id, summary) IH_WEIGHTING_##id,
#include "datasets/weightings.def"
#undef IH_WEIGHTING
    IH_WEIGHTING_COUNT
} ih_weighting;

/* All that the elements of one row depend on. */
typedef struct ih_row_law {
    ih_key       key_y, key_w;
    int64_t      n;
    ih_family    family;
    ih_weighting weighting;
    ih_dtype     dtype;
    double       p[IH_MAX_PARAMETERS];
} ih_row_law;

IH_HD double ih_row_normal(const ih_row_law *l, int64_t i)
{
    return ih_normal_quantile(ih_uniform(ih_draw(l->key_y, (uint64_t)i)));
}

IH_HD double element_noise(const ih_row_law *l, int64_t i) { return ih_row_normal(l, i); }

/* The floats of [-2^8, -2^-8] and [2^-8, 2^8] number 2^28 (float32) or 2^57 (float64): 16 binades of either sign. Their
 * numbers in order are the positions 0, 1, ... The range is cut into n even parts in 64-bit fixed point, begin(i) =
 * floor(i floor((2^64 - 1) / n) / 2^bits) with bits = 36 or 7, and element i is drawn from its own part. As long as
 * n < 2^28 (2^57) no part is empty: the row rises strictly and has n blocks. Beyond, neighbours share a float and the
 * row has begin(n - 1) + 1 blocks. */
IH_HD double element_rising(const ih_row_law *l, int64_t i, int64_t n)
{
    const int      f32   = l->dtype == IH_F32;
    const int      bits  = f32 ? 36 : 7;
    const int64_t  half  = f32 ? INT64_C(1) << 27 : INT64_C(1) << 56;
    const int64_t  least = f32 ? INT64_C(119) << 23 : INT64_C(1015) << 52; /* the bits of 2^-8 */
    const uint64_t step  = UINT64_MAX / (uint64_t)n;
    const int64_t  begin = (int64_t)((uint64_t)i * step >> bits);
    const int64_t  end   = (int64_t)((uint64_t)(i + 1) * step >> bits);
    int64_t        k     = begin;
    if (end > begin) k += (int64_t)ih_below(ih_draw(l->key_y, (uint64_t)i), (uint64_t)(end - begin));
    return ih_value_of_order(k >= half ? least + (k - half) : -(least + (half - 1 - k)), l->dtype);
}

IH_HD double element_increasing(const ih_row_law *l, int64_t i)
{
    const int64_t repeat = (int64_t)l->p[0];
    return element_rising(l, i / repeat, (l->n - 1) / repeat + 1);
}

IH_HD double element_decreasing(const ih_row_law *l, int64_t i) { return element_rising(l, l->n - 1 - i, l->n); }

IH_HD double element_sawtooth(const ih_row_law *l, int64_t i)
{
    const double ramp = l->p[1] * (double)(i % (int64_t)l->p[0]);
    return (ramp + l->p[2] * (double)i) + l->p[3] * ih_row_normal(l, i);
}

IH_HD double element_saw(const ih_row_law *l, int64_t i)
{
    return (double)(i % (int64_t)l->p[0]) + l->p[2] * (double)(i % (int64_t)l->p[1]);
}

IH_HD double element_cliff(const ih_row_law *l, int64_t i)
{
    return i == l->n - 1 ? -(l->p[0] * (double)l->n) : element_rising(l, i, l->n);
}

/* With 2^t the largest power of two that divides i + 1, an even i + 1 ends a span of 2^t elements. Its element lies
 * depth u 4^t below the line, u uniform in (0, 1); to pool a whole span of the line takes a depth of about 4^t / 2. */
IH_HD double element_cliffs(const ih_row_law *l, int64_t i)
{
    const double u    = ih_uniform(ih_draw(l->key_y, (uint64_t)i));
    const double span = (double)((i + 1) & -(i + 1));
    if (span == 1.0) return l->p[0] * ((double)i + u);
    return l->p[0] * ((double)i - (l->p[1] * u) * (span * span));
}

IH_HD double element_trend(const ih_row_law *l, int64_t i)
{
    return (ih_row_normal(l, i) + l->p[0] * (double)i) + l->p[1] * ((double)i / (double)l->n);
}

IH_HD double element_consecutive(const ih_row_law *l, int64_t i)
{
    const int64_t  first = ih_order_of(l->p[0], l->dtype);
    const int64_t  last  = ih_largest_order(l->dtype);
    const uint64_t room  = (uint64_t)last - (uint64_t)first; /* below 2^64, though last - first may pass 2^63 */
    const uint64_t step  = (uint64_t)l->p[1];
    return ih_value_of_order((uint64_t)i > room / step ? last : (int64_t)((uint64_t)first + (uint64_t)i * step), l->dtype);
}

IH_HD double element_cancellation(const ih_row_law *l, int64_t i)
{
    const int64_t place = i % 64;
    /* rounded to the type first, so that 32 of it are cancelled exactly */
    const double  large = l->dtype == IH_F32 ? (double)ih_to_f32(l->p[0]) : l->p[0];
    if (place < 32) return large;
    if (place == 32) return -32.0 * large;
    return (1.0 + l->p[1] * (double)i) + l->p[2] * (ih_uniform(ih_draw(l->key_y, (uint64_t)i)) - 0.5);
}

IH_HD double element_constant(const ih_row_law *l, int64_t i)
{
    (void)i;
    return l->p[0];
}

IH_HD double element_valley(const ih_row_law *l, int64_t i)
{
    const double x = (double)(2 * i + 1 - l->n) / (double)l->n;
    return (x < 0 ? -x : x) + (l->p[0] > 0 ? l->p[0] * ih_row_normal(l, i) : 0.0);
}

IH_HD double element_steps(const ih_row_law *l, int64_t i)
{
    return l->p[1] * (double)(i / (int64_t)l->p[0]) + (l->p[2] > 0 ? l->p[2] * ih_row_normal(l, i) : 0.0);
}

/* walk is W(i + 1), for callers that go from place to place with a cursor. */
IH_HD double element_random_walk_from(const ih_row_law *l, int64_t i, double walk)
{
    return l->p[0] * walk + l->p[1] * (double)i;
}

IH_HD double element_random_walk(const ih_row_law *l, int64_t i)
{
    return element_random_walk_from(l, i, ih_walk_at(l->key_y, l->n, i + 1));
}

IH_HD double element_labels(const ih_row_law *l, int64_t i)
{
    const double p = l->p[0] + (l->p[1] - l->p[0]) * (((double)i + 0.5) / (double)l->n);
    return ih_uniform(ih_draw(l->key_y, (uint64_t)i)) < p ? 1.0 : 0.0;
}

/* The ratio of two independent normal values is a Cauchy value. The divisor is never 0. */
IH_HD double element_heavy(const ih_row_law *l, int64_t i)
{
    const uint64_t k = 2 * (uint64_t)i;
    return ih_normal_quantile(ih_uniform(ih_draw(l->key_y, k))) / ih_normal_quantile(ih_uniform(ih_draw(l->key_y, k + 1)));
}

IH_HD double element_tiny(const ih_row_law *l, int64_t i)
{
    return (l->p[0] * ih_row_normal(l, i)) * (l->dtype == IH_F32 ? 0x1p-126 : 0x1p-1022);
}

IH_HD double element_huge(const ih_row_law *l, int64_t i)
{
    const double share = l->p[0] + (l->p[1] - l->p[0]) * ih_uniform(ih_draw(l->key_y, (uint64_t)i));
    return share * (l->dtype == IH_F32 ? IH_F32_LARGEST : IH_F64_LARGEST);
}

/* Sign and fraction are random bits, the biased exponent is uniform from 0 (subnormal) to the largest finite one. */
IH_HD double element_wide(const ih_row_law *l, int64_t i)
{
    const uint64_t fraction = ih_draw(l->key_y, 2 * (uint64_t)i);
    const uint64_t exponent = ih_draw(l->key_y, 2 * (uint64_t)i + 1);
    const int64_t  k        = l->dtype == IH_F32 ? (int64_t)(ih_below(exponent, 255) << 23 | fraction >> 41)
                                                 : (int64_t)(ih_below(exponent, 2047) << 52 | fraction >> 12);
    return ih_value_of_order(fraction & 1 ? -k : k, l->dtype);
}

IH_HD double element_ties(const ih_row_law *l, int64_t i)
{
    return l->p[1] * (double)ih_below(ih_draw(l->key_y, (uint64_t)i), (uint64_t)l->p[0]);
}

IH_HD double element_near_ties(const ih_row_law *l, int64_t i)
{
    const int64_t k = (int64_t)ih_below(ih_draw(l->key_y, (uint64_t)i), (uint64_t)l->p[1]);
    return ih_value_of_order(ih_order_of(l->p[0], l->dtype) + k, l->dtype);
}

/* Element i of y, 0 <= i < n, not yet rounded to the type: ih_to_f32 or ih_to_f64 does that. */
IH_HD double ih_element_y(const ih_row_law *l, int64_t i)
{
    switch (l->family) {
#define IH_FAMILY(id, ...) case IH_FAMILY_##id: return element_##id(l, i);
#include "datasets/families.def"
#undef IH_FAMILY
    default: return 0.0;
    }
}

/* Element i of w: positive and finite, a value of the type (but for extreme, which ih_to_f32 rounds). */
IH_HD double ih_element_w(const ih_row_law *l, int64_t i)
{
    const int      f32  = l->dtype == IH_F32;
    const uint64_t bits = ih_draw(l->key_w, (uint64_t)i);
    switch (l->weighting) {
    case IH_WEIGHTING_uniform: /* so few bits that no rounding reaches 1.5 */
        return 0.5 + (f32 ? (double)(bits >> 41) * 0x1p-23 : (double)(bits >> 12) * 0x1p-52);
    case IH_WEIGHTING_extreme: return ih_exp(8.0 * ih_uniform(bits) - 4.0);
    case IH_WEIGHTING_extreme8: return ih_exp(16.0 * ih_uniform(bits) - 8.0);
    case IH_WEIGHTING_wide: {
        const uint64_t exponent = ih_mix64(bits + IH_GOLDEN);
        const int64_t  k        = f32 ? (int64_t)(ih_below(exponent, 255) << 23 | bits >> 41)
                                      : (int64_t)(ih_below(exponent, 2047) << 52 | bits >> 12);
        return ih_value_of_order(k ? k : 1, l->dtype);
    }
    default: return 1.0;
    }
}

#endif
