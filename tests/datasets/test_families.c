/* SPDX-License-Identifier: Apache-2.0
 * test_families.c: what each family promises (docs/families.md), and that seeds, rows and weights are independent. */
#include "datasets/generate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/fenv.h"

static ih_spec spec(const char *text)
{
    char    message[IH_SPEC_MESSAGE];
    ih_spec s;
    if (ih_spec_parse(&s, text, message, sizeof message)) fail_msg("%s: %s", text, message);
    return s;
}

/* Values of y (or w) as doubles, to be freed. */
static double *values_of(const char *text, int64_t *n, int weights)
{
    const ih_spec s    = spec(text);
    const int64_t all  = ih_spec_elements(&s, NULL);
    void         *data = malloc((size_t)all * 8);
    double       *out  = malloc((size_t)all * 8);
    assert_true(data && out && s.ragged == IH_RAGGED_none);
    ih_generate(&s, NULL, 0, all, weights ? NULL : data, weights ? data : NULL, 0);
    for (int64_t i = 0; i < all; i++) {
        out[i] = s.dtype == IH_F32 ? (double)((float *)data)[i] : ((double *)data)[i];
        if (!isfinite(out[i]) || (out[i] == 0 && signbit(out[i]))) fail_msg("%s: element %lld is %a", text, (long long)i, out[i]);
        if (weights && !(out[i] > 0)) fail_msg("%s: weight %lld is %a", text, (long long)i, out[i]);
    }
    free(data);
    *n = all;
    return out;
}

static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

static int64_t distinct_of(double *v, int64_t n)
{
    int64_t count = n > 0;
    qsort(v, (size_t)n, sizeof *v, ascending);
    for (int64_t i = 1; i < n; i++) count += v[i] != v[i - 1];
    return count;
}

/* Blocks of the fit, by the integer referee. */
static int64_t blocks_of(const char *text)
{
    const ih_spec s = spec(text);
    char          message[IH_SPEC_MESSAGE];
    ih_data       d;
    ih_outputs    out;
    int64_t       blocks, all = ih_spec_elements(&s, NULL);
    assert_int_equal(ih_data_generate(&d, &s, 0, message, sizeof message), 0);
    ih_outputs_init(&out);
    out.z             = malloc((size_t)all * 8);
    out.block_offsets = malloc(((size_t)s.rows + 1) * sizeof *out.block_offsets);
    out.block_starts  = malloc((size_t)all * sizeof *out.block_starts);
    assert_int_equal(ih_fit(ih_impl_find("cpu_exact"), &d.problem, NULL, &out, NULL, 0, NULL), IH_OK);
    blocks = out.block_offsets[s.rows];
    free(out.z);
    free(out.block_offsets);
    free(out.block_starts);
    ih_data_free(&d);
    return blocks;
}

static void check_blocks(const char *text, int64_t least, int64_t most)
{
    const int64_t blocks = blocks_of(text);
    if (blocks < least || blocks > most)
        fail_msg("%s: %lld blocks, not %lld to %lld", text, (long long)blocks, (long long)least, (long long)most);
}

/* ---- all families ---- */

/* Every family at awkward lengths and with parameters at their ends is finite (values_of checks it). */
static void values_are_finite(void **state)
{
    static const char *const lengths[] = { "1", "2", "3", "63", "64", "65", "1000" };
    (void)state;
    for (int32_t f = 0; f < IH_FAMILY_COUNT; f++) {
        const ih_family_info *info = ih_family_at(f);
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
            for (int32_t type = 0; type < 2; type++)
                for (int32_t p = 0; p == 0 || (p < IH_MAX_PARAMETERS && info->parameter[p].name); p++)
                    for (int32_t end = 0; end < 3; end++) {
                        const ih_parameter_info *parameter = &info->parameter[p];
                        char                     text[512];
                        int64_t                  n;
                        int                      length = snprintf(text, sizeof text, "%s:%s:n=%s", info->name, type ? "f64" : "f32", lengths[k]);
                        if (parameter->name && end)
                            snprintf(text + length, sizeof text - (size_t)length, ":%s=%.17g", parameter->name,
                                     end == 1 ? parameter->least : parameter->most);
                        free(values_of(text, &n, 0));
                    }
    }
}

/* The share of equal elements of two arrays. */
static double equal_share(const double *a, const double *b, int64_t n)
{
    int64_t equal = 0;
    for (int64_t i = 0; i < n; i++) equal += a[i] == b[i];
    return (double)equal / (double)n;
}

static void seeds_and_rows_differ(void **state)
{
    static const char *const random_families[] = { "noise", "increasing", "decreasing", "sawtooth", "cliffs", "trend", "random_walk", "heavy",
                                                   "tiny", "huge", "wide" };
    (void)state;
    for (size_t k = 0; k < sizeof random_families / sizeof random_families[0]; k++) {
        char    text[128];
        int64_t n;
        double *a, *b;
        snprintf(text, sizeof text, "%s:f64:n=2000:rows=2", random_families[k]);
        a = values_of(text, &n, 0);
        snprintf(text, sizeof text, "%s:f64:n=2000:rows=2:seed=1", random_families[k]);
        b = values_of(text, &n, 0);
        if (equal_share(a, b, n) > 0.001) fail_msg("%s: seed 1 gives the values of seed 0", text);
        if (equal_share(a, a + 2000, 2000) > 0.001) fail_msg("%s: row 1 has the values of row 0", text);
        free(a);
        free(b);
    }
    for (int32_t w = 1; w < IH_WEIGHTING_COUNT; w++) {
        char    text[128];
        int64_t n;
        double *a, *b;
        snprintf(text, sizeof text, "noise:f64:n=2000:rows=2:w=%s", ih_weighting_at(w)->name);
        a = values_of(text, &n, 1);
        snprintf(text, sizeof text, "noise:f64:n=2000:rows=2:seed=1:w=%s", ih_weighting_at(w)->name);
        b = values_of(text, &n, 1);
        assert_true(equal_share(a, b, n) < 0.001 && equal_share(a, a + 2000, 2000) < 0.001);
        free(a);
        free(b);
    }
}

/* f32 is f64 rounded once, where a family does not speak of floats. */
static void float32_is_rounded_once(void **state)
{
    static const char *const same[] = { "noise", "sawtooth", "saw", "cliffs", "trend", "valley", "steps", "random_walk", "labels", "heavy", "ties", "constant" };
    (void)state;
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
        char    text[128];
        int64_t n;
        double *a, *b;
        snprintf(text, sizeof text, "%s:f64:n=3000:seed=5", same[k]);
        a = values_of(text, &n, 0);
        snprintf(text, sizeof text, "%s:f32:n=3000:seed=5", same[k]);
        b = values_of(text, &n, 0);
        for (int64_t i = 0; i < n; i++)
            if (b[i] != (double)(float)a[i]) fail_msg("%s: element %lld is %a, not %a rounded", text, (long long)i, b[i], a[i]);
        free(a);
        free(b);
    }
}

/* Flush-to-zero and another rounding mode of the caller change nothing. */
static void environment_of_the_caller(void **state)
{
#if defined(__x86_64__)
    static const char *const texts[] = { "tiny:f32:n=500:w=wide", "tiny:f64:n=500", "noise:f64:n=500:w=extreme", "random_walk:f64:n=500", "wide:f32:n=500" };
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        const ih_spec  s = spec(texts[k]);
        double         y[2][500] = { { 0 } }, w[2][500] = { { 0 } };
        const uint32_t saved = _mm_getcsr();
        ih_generate(&s, NULL, 0, 500, y[0], w[0], 1);
        _mm_setcsr(0x1f80 | 0x8040 | 0x6000); /* flush to zero, denormals are zero, toward zero */
        ih_generate(&s, NULL, 0, 500, y[1], w[1], 1);
        assert_int_equal(_mm_getcsr() & 0xe040, 0xe040);
        _mm_setcsr(saved);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_memory_equal(w[0], w[1], sizeof w[0]);
    }
#else
    (void)state;
    print_message("only on x86-64\n");
    skip();
#endif
}

/* ---- single families ---- */

static void increasing_rises_as_said(void **state)
{
    static const char *const types[] = { "f32", "f64" };
    static const int64_t     lengths[] = { 1, 2, 3, 1000, 4096, 99999, 3000000 };
    (void)state;
    for (int type = 0; type < 2; type++)
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            char    text[128];
            int64_t n;
            double *v;
            snprintf(text, sizeof text, "increasing:%s:n=%lld", types[type], (long long)lengths[k]);
            v = values_of(text, &n, 0);
            for (int64_t i = 1; i < n; i++)
                if (!(v[i] > v[i - 1])) fail_msg("%s: element %lld does not rise", text, (long long)i);
            for (int64_t i = 0; i < n; i++) assert_true(fabs(v[i]) >= 0x1p-8 && fabs(v[i]) <= 0x1p8);
            if (n >= 1000) { /* both ends of the range are reached */
                assert_true(v[0] < -0x1p8 * 0.98 && v[n - 1] > 0x1p8 * 0.98);
            }
            free(v);
        }
    check_blocks("increasing:f32:n=100000", 100000, 100000);
    check_blocks("increasing:f64:n=100000", 100000, 100000);
    check_blocks("increasing:f32:repeat=7:n=100000", 14286, 14286);
    check_blocks("decreasing:f64:n=100000", 1, 1);
    check_blocks("consecutive:f32:n=100000", 100000, 100000);
    check_blocks("consecutive:f64:n=100000", 100000, 100000);
}

/* Lengths that nobody wants in memory: windows of the row, by slices. */
static void increasing_at_great_lengths(void **state)
{
    static const struct { const char *text; int strict; } cases[] = {
        { "increasing:f32:n=1e8", 1 },      { "increasing:f32:n=268435455", 1 }, { "increasing:f32:n=1e9", 0 },
        { "increasing:f64:n=1e9", 1 },      { "increasing:f64:n=1e15", 1 },      { "decreasing:f32:n=1e8", 1 },
        { "increasing:f32:n=5000000000", 0 },
    };
    enum { WINDOW = 50000 };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const ih_spec s    = spec(cases[k].text);
        const double  sign = s.family == IH_FAMILY_decreasing ? -1 : 1;
        double       *v    = malloc(WINDOW * sizeof *v);
        for (int64_t at = 0; at + WINDOW <= s.n; at += (s.n - WINDOW) / 7) {
            int64_t equal = 0;
            ih_generate(&s, NULL, at, at + WINDOW, v, NULL, 0);
            for (int64_t i = 1; i < WINDOW; i++) {
                const double a = s.dtype == IH_F32 ? (double)((float *)v)[i - 1] : v[i - 1];
                const double b = s.dtype == IH_F32 ? (double)((float *)v)[i] : v[i];
                if (sign * a > sign * b) fail_msg("%s: falls at %lld", cases[k].text, (long long)(at + i));
                equal += a == b;
            }
            if (cases[k].strict ? equal != 0 : equal < WINDOW / 2) fail_msg("%s: %lld ties of %d", cases[k].text, (long long)equal, WINDOW);
        }
        free(v);
    }
}

/* The number of blocks past 2^28 float32 elements, on the formula itself: the last element's float numbered from the first. */
static void increasing_counts_its_blocks(void **state)
{
    const ih_spec s = spec("increasing:f32:n=1e9");
    float         first, last;
    int64_t       blocks;
    (void)state;
    ih_generate(&s, NULL, 0, 1, &first, NULL, 1);
    ih_generate(&s, NULL, s.n - 1, s.n, &last, NULL, 1);
    /* floats between -2^-8 and 2^-8 do not occur */
    blocks = ih_order_of(last, IH_F32) - ih_order_of(first, IH_F32) + 1 - (2 * ih_order_of(0x1p-8, IH_F32) - 1);
    assert_int_equal(blocks, 1 + (int64_t)((UINT64_C(999999999) * (UINT64_MAX / UINT64_C(1000000000))) >> 36));
    assert_in_range(blocks, (1 << 28) - 10, 1 << 28);
}

static void consecutive_stays_at_the_end(void **state)
{
    int64_t n;
    double *v = values_of("consecutive:f32:start=3.40281e38:n=1000", &n, 0);
    int64_t distinct;
    (void)state;
    for (int64_t i = 1; i < n; i++) assert_true(v[i] == fmin((double)nextafterf((float)v[i - 1], INFINITY), IH_F32_LARGEST));
    distinct = distinct_of(v, n);
    assert_true(distinct > 10 && distinct < 1000);
    free(v);
    v = values_of("consecutive:f64:start=-5e-322:n=1000", &n, 0);
    for (int64_t i = 1; i < n; i++) assert_true(v[i] == nextafter(v[i - 1], INFINITY));
    free(v);
    v = values_of("consecutive:f64:start=-1.7976931348623157e308:step=1099511627776:n=1000", &n, 0);
    for (int64_t i = 1; i < n; i++) assert_true(v[i] > v[i - 1]);
    free(v);
}

static void cancellation_cancels(void **state)
{
    static const char *const texts[] = { "cancellation:f64:n=6400", "cancellation:f32:n=6400", "cancellation:f32:B=1.1e12:n=6400", "cancellation:f64:B=1e-3:n=6400" };
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        int64_t n;
        double *v = values_of(texts[k], &n, 0);
        for (int64_t i = 0; i < n; i++) {
            const double expected = i % 64 < 32 ? v[0] : i % 64 == 32 ? -32 * v[0] : 1;
            if (!(fabs(v[i] - expected) <= (i % 64 > 32 ? 0.001 : 0))) fail_msg("%s: element %lld is %a", texts[k], (long long)i, v[i]);
        }
        free(v);
    }
    check_blocks("cancellation:f64:n=64000", 990, 1020);
}

static void hulls_are_as_documented(void **state)
{
    (void)state;
    check_blocks("noise:f64:n=100000", 4, 40);
    check_blocks("cliff:f64:n=100000", 1, 1);
    check_blocks("cliff:f32:w=uniform:n=100000", 1, 1);
    check_blocks("constant:f64:w=extreme:n=100000", 1, 1);
    check_blocks("constant:f32:n=100000", 1, 1);
    check_blocks("steps:f64:n=100500", 101, 101);
    check_blocks("steps:f32:w=extreme:length=10:n=100000", 10000, 10000);
    check_blocks("valley:f64:n=100000", 100000 - 70711, 100000 - 70709);
    check_blocks("trend:f64:n=100000", 500, 3000);
    check_blocks("labels:f64:n=100000", 20, 300);
    check_blocks("labels:f64:low=0.5:high=0.5:n=100000", 4, 40);
    check_blocks("saw:short=2:unit=0:n=100000", 3, 3);
    check_blocks("cliffs:f64:n=65536", 500, 10000);
}

static void values_are_as_documented(void **state)
{
    int64_t n;
    double *v;
    (void)state;
    v = values_of("ties:f64:levels=5:unit=0.25:n=10000", &n, 0);
    assert_int_equal(distinct_of(v, n), 5);
    assert_true(v[0] == 0 && v[n - 1] == 1);
    free(v);
    v = values_of("near_ties:f32:value=-2:ulps=3:n=10000", &n, 0);
    assert_int_equal(distinct_of(v, n), 3);
    assert_true(v[0] == -2 && v[n - 1] == -2 + 0x1p-22);
    free(v);
    v = values_of("labels:n=10000:low=1", &n, 0);
    assert_int_equal(distinct_of(v, n), 1);
    assert_true(v[0] == 1);
    free(v);
    v = values_of("saw:f64:n=3001", &n, 0);
    assert_true(v[0] == 0 && v[8] == 1 + 0.1 * 8 && v[1500] == 1500 % 7 && v[3000] == 3000 % 7);
    free(v);
    v = values_of("tiny:f32:n=10000", &n, 0);
    for (int64_t i = 0; i < n; i++) assert_true(v[i] != 0 && fabs(v[i]) < 6 * 0x1p-126);
    free(v);
    v = values_of("tiny:f64:n=10000", &n, 0);
    for (int64_t i = 0; i < n; i++) assert_true(v[i] != 0 && fabs(v[i]) < 6 * 0x1p-1022);
    free(v);
    v = values_of("huge:f64:n=10000", &n, 0);
    qsort(v, (size_t)n, sizeof *v, ascending);
    assert_true(v[0] < -0.99 * IH_F64_LARGEST && v[n - 1] > 0.99 * IH_F64_LARGEST && isinf(v[n - 1] + v[n - 2]));
    free(v);
}

/* Exponents of wide: all of them, equally often (chi-square beyond 6 standard deviations of its mean fails). */
static void wide_has_all_exponents(void **state)
{
    static const struct { const char *text; int exponents; } cases[] = { { "wide:f32:n=255000:w=wide", 255 }, { "wide:f64:n=2047000:w=wide", 2047 } };
    (void)state;
    for (int k = 0; k < 4; k++) {
        static int64_t counts[2047];
        const int      exponents = cases[k / 2].exponents;
        int64_t        n, negative = 0;
        double        *v  = values_of(cases[k / 2].text, &n, k % 2);
        double         chi = 0;
        memset(counts, 0, sizeof counts);
        for (int64_t i = 0; i < n; i++) {
            const int64_t order = ih_order_of(fabs(v[i]), exponents == 255 ? IH_F32 : IH_F64);
            counts[order >> (exponents == 255 ? 23 : 52)] += 1;
            negative += v[i] < 0;
        }
        for (int e = 0; e < exponents; e++) chi += ((double)counts[e] - 1000) * ((double)counts[e] - 1000) / 1000;
        if (!(fabs(chi - exponents) < 6 * sqrt(2.0 * exponents))) fail_msg("%s: chi-square %g", cases[k / 2].text, chi);
        if (k % 2) assert_int_equal(negative, 0);
        else assert_true(fabs((double)negative - 0.5 * (double)n) < 3 * sqrt((double)n));
        free(v);
    }
}

static void weights_are_in_range(void **state)
{
    static const struct { const char *text; double least, below; } cases[] = {
        { "noise:f32:w=uniform:n=1e6", 0.5, 1.5 },  { "noise:f64:w=uniform:n=1e6", 0.5, 1.5 },
        { "noise:f32:w=extreme:n=1e6", 0.0183156, 54.5982 }, { "noise:f64:w=extreme8:n=1e6", 3.354626e-4, 2980.958 },
        { "noise:f32:w=unit:n=10", 1, 1.0000001 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        int64_t n;
        double *w = values_of(cases[k].text, &n, 1);
        qsort(w, (size_t)n, sizeof *w, ascending);
        assert_true(w[0] >= cases[k].least && w[n - 1] < cases[k].below);
        assert_true(w[0] < cases[k].least * 1.001 && w[n - 1] > cases[k].below * 0.999);
        free(w);
    }
}

static void files_are_not_generated(void **state)
{
    const ih_spec s = spec("file:y.npy");
    char          message[IH_SPEC_MESSAGE] = "";
    ih_data       d;
    (void)state;
    assert_int_equal(ih_data_generate(&d, &s, 1, message, sizeof message), 1);
    assert_true(strlen(message) > 0);
    ih_data_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_finite),           cmocka_unit_test(seeds_and_rows_differ),
        cmocka_unit_test(float32_is_rounded_once),     cmocka_unit_test(environment_of_the_caller),
        cmocka_unit_test(increasing_rises_as_said),    cmocka_unit_test(increasing_at_great_lengths),
        cmocka_unit_test(increasing_counts_its_blocks), cmocka_unit_test(consecutive_stays_at_the_end),
        cmocka_unit_test(cancellation_cancels),        cmocka_unit_test(hulls_are_as_documented),
        cmocka_unit_test(values_are_as_documented),    cmocka_unit_test(wide_has_all_exponents),
        cmocka_unit_test(weights_are_in_range),        cmocka_unit_test(files_are_not_generated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
