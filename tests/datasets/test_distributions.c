/* SPDX-License-Identifier: Apache-2.0
 * test_distributions.c: random families and weightings against GSL's distribution functions, n = 1e6: the
 * Kolmogorov-Smirnov distance (its 1e-6 quantile is 2.69 / sqrt n; seeds are fixed, so a test passes always or never),
 * and no correlation of neighbours, of rows, or of y and w. */
#include "datasets/generate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>

enum { N = 1000000 };

static double *make(const char *text, int weights)
{
    char    message[IH_SPEC_MESSAGE];
    ih_spec s;
    double *v = malloc(N * sizeof *v);
    if (ih_spec_parse(&s, text, message, sizeof message)) fail_msg("%s: %s", text, message);
    assert_true(s.dtype == IH_F64 && ih_spec_elements(&s, NULL) == N);
    ih_generate(&s, NULL, 0, N, weights ? NULL : v, weights ? v : NULL, 0);
    return v;
}

static double normal_cdf(double x) { return gsl_cdf_ugaussian_P(x); }
static double cauchy_cdf(double x) { return gsl_cdf_cauchy_P(x, 1); }
static double signed_cdf(double x) { return gsl_cdf_flat_P(x, -1, 1); }
static double uniform_cdf(double x) { return gsl_cdf_flat_P(x, 0.5, 1.5); }
static double extreme_cdf(double x) { return gsl_cdf_flat_P(log(x), -4, 4); }
static double extreme8_cdf(double x) { return gsl_cdf_flat_P(log(x), -8, 8); }

static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

/* Sorts v. */
static void check_law(const char *name, double *v, int64_t n, double (*cdf)(double))
{
    double distance = 0;
    qsort(v, (size_t)n, sizeof *v, ascending);
    for (int64_t i = 0; i < n; i++) {
        const double p = cdf(v[i]);
        distance = fmax(distance, fmax(p - (double)i / (double)n, (double)(i + 1) / (double)n - p));
    }
    if (!(distance * sqrt((double)n) < 2.69)) fail_msg("%s: distance %g, times sqrt n %g", name, distance, distance * sqrt((double)n));
}

/* Of pairs (a[i], b[i]): below 5 standard deviations of independent ones. */
static void check_uncorrelated(const char *name, const double *a, const double *b, int64_t n)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (int64_t i = 0; i < n; i++) {
        ma += a[i] / (double)n;
        mb += b[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    if (!(fabs(ab / sqrt(aa * bb)) * sqrt((double)n) < 5)) fail_msg("%s: correlation %g", name, ab / sqrt(aa * bb));
}

static void laws(void **state)
{
    static const struct { const char *text; int weights; double (*cdf)(double); } cases[] = {
        { "noise:f64:n=1e6", 0, normal_cdf },           { "noise:f64:n=1e6:seed=12345", 0, normal_cdf },
        { "noise:f64:n=10:rows=1e5", 0, normal_cdf },   { "heavy:f64:n=1e6", 0, cauchy_cdf },
        { "noise:f64:w=uniform:n=1e6", 1, uniform_cdf }, { "noise:f64:w=extreme:n=1e6", 1, extreme_cdf },
        { "noise:f64:w=extreme8:n=1e6", 1, extreme8_cdf },
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double *v = make(cases[k].text, cases[k].weights);
        if (cases[k].cdf != cauchy_cdf) check_uncorrelated(cases[k].text, v, v + 1, N - 1); /* Cauchy values have no variance */
        check_law(cases[k].text, v, N, cases[k].cdf);
        free(v);
    }
}

static void scaled_laws(void **state)
{
    double *v = make("huge:f64:n=1e6", 0);
    (void)state;
    for (int64_t i = 0; i < N; i++) v[i] /= IH_F64_LARGEST;
    check_law("huge", v, N, signed_cdf);
    free(v);
    v = make("trend:f64:n=1e6:slope=0.5", 0);
    for (int64_t i = 0; i < N; i++) v[i] -= 0.5 * (double)i;
    check_law("trend", v, N, normal_cdf);
    free(v);
    v = make("sawtooth:f64:n=1e6:jitter=1", 0);
    for (int64_t i = 0; i < N; i++) v[i] -= 0.001 * (double)(i % 1500) + 1e-6 * (double)i;
    check_law("sawtooth", v, N, normal_cdf);
    free(v);
    v = make("tiny:f64:n=1e6:scale=1e10", 0); /* far enough from the subnormal grid */
    for (int64_t i = 0; i < N; i++) v[i] = v[i] / 0x1p-1022 / 1e10;
    check_law("tiny", v, N, normal_cdf);
    free(v);
}

/* The steps of the walk, over 1, 16 and 1024 places, are normal and independent. */
static void steps_of_the_walk(void **state)
{
    static const int64_t strides[] = { 1, 16, 1024 };
    (void)state;
    for (size_t k = 0; k < sizeof strides / sizeof strides[0]; k++) {
        const int64_t stride = strides[k], steps = (N - 1) / stride;
        double       *v      = make("random_walk:f64:n=1e6:seed=3", 0);
        char          name[64];
        snprintf(name, sizeof name, "random_walk over %lld places", (long long)stride);
        for (int64_t i = 0; i < steps; i++) v[i] = (v[(i + 1) * stride] - v[i * stride]) / sqrt((double)stride);
        check_uncorrelated(name, v, v + 1, steps - 1);
        check_law(name, v, steps, normal_cdf);
        free(v);
    }
}

static void nothing_depends_on_another(void **state)
{
    double *a = make("noise:f64:n=1e6:w=uniform", 0), *b = make("noise:f64:n=1e6:w=uniform", 1), *c = make("noise:f64:n=1e6:seed=1", 0);
    (void)state;
    check_uncorrelated("y and w", a, b, N);
    check_uncorrelated("seeds", a, c, N);
    free(c);
    c = make("noise:f64:n=5e5:rows=2", 0);
    check_uncorrelated("rows", c, c + N / 2, N / 2);
    free(a);
    free(b);
    free(c);
}

/* labels: the number of ones in each tenth of the row. */
static void labels_rise(void **state)
{
    double *v = make("labels:f64:n=1e6:low=0.2:high=0.8", 0);
    (void)state;
    for (int64_t part = 0; part < 10; part++) {
        const double p    = 0.2 + 0.6 * ((double)part + 0.5) / 10;
        double       ones = 0;
        for (int64_t i = part * (N / 10); i < (part + 1) * (N / 10); i++) ones += v[i];
        if (!(fabs(ones - p * N / 10) < 5 * sqrt(p * (1 - p) * N / 10))) fail_msg("part %lld: %g ones", (long long)part, ones);
    }
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws),
        cmocka_unit_test(scaled_laws),
        cmocka_unit_test(steps_of_the_walk),
        cmocka_unit_test(nothing_depends_on_another),
        cmocka_unit_test(labels_rise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
