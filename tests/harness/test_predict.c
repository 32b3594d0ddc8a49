/* SPDX-License-Identifier: Apache-2.0
 *
 * Prediction: values between points, ranges, groups; the rows of the data come out as they went in.
 */
#include "curve.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static void check_value(const double *x, const double *z, int64_t n, double query, double expected, bool expected_outside)
{
    bool         outside;
    const double got = curve_value(x, z, n, query, &outside);
    if (!(got == expected || (isnan(got) && isnan(expected))) || outside != expected_outside)
        fail_msg("at %g: %a, expected %a, outside %d", query, got, expected, outside);
}

static void test_values(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 4}, z[] = {0, 3, 3, 6};
    check_value(x, z, 4, 0, 0, false);
    check_value(x, z, 4, 0.25, 0.75, false);
    check_value(x, z, 4, 1, 3, false);
    check_value(x, z, 4, 1.7, 3, false);
    check_value(x, z, 4, 2.5, 3.75, false);
    check_value(x, z, 4, 4, 6, false);
    check_value(x, z, 4, -0.0, 0, false);
    check_value(x, z, 4, -0x1p-1074, 0, true);
    check_value(x, z, 4, 4.0000001, 6, true);
    check_value(x, z, 1, 0, 0, false);
    check_value(x, z, 1, 1, 0, true);
    check_value(x, z, 0, 1, NAN, true);
    /* Differences past the range; between the two smallest numbers. */
    static const double wide[] = {-DBL_MAX, DBL_MAX}, wide_z[] = {-DBL_MAX, DBL_MAX}, far[] = {-0x1p1023, 0x1p1023};
    static const double small[] = {0, 0x1p-1073}, falling[] = {1, -1};
    check_value(wide, wide_z, 2, 0, 0, false);
    check_value(far, far, 2, 0x1p1022, 0x1p1022, false);
    check_value(wide, z, 2, -DBL_MAX / 2, 0.75, false);
    check_value(x, far, 2, 0.75, 0x1p1022, false);
    check_value(small, z, 2, 0x1p-1074, 1.5, false);
    check_value(wide, falling, 2, 0, 0, false);
    check_value(x, falling, 2, 0.25, 0.5, false);
}

static int compare_doubles(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Sorted finite doubles of all magnitudes, or near each other. */
static void random_rising(uint64_t *seed, double *v, int n, bool strict)
{
    const int kind = (int)(random_bits(seed) % 3);
    for (int i = 0; i < n; i++) {
        do {
            uint64_t bits = random_bits(seed);
            memcpy(&v[i], &bits, sizeof v[i]);
            if (kind == 1) v[i] = 1 + (double)(bits >> 54) * DBL_EPSILON;
            if (kind == 2) v[i] = (double)(bits >> 54) * 0x1p-1074;
        } while (!isfinite(v[i]));
    }
    qsort(v, (size_t)n, sizeof *v, compare_doubles);
    for (int i = 1; strict && i < n; i++)
        if (v[i] <= v[i - 1]) v[i] = nextafter(v[i - 1], INFINITY);
}

/* Values lie within their neighbours, rise with the query, and are the fit at the points. */
static void test_bounds_and_order(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int round = 0; round < 3000; round++) {
        enum { POINTS = 6, QUERIES = 40 };
        double x[POINTS], z[POINTS], q[QUERIES + POINTS];
        bool   outside;
        random_rising(&seed, x, POINTS, true);
        random_rising(&seed, z, POINTS, false);
        if (!isfinite(x[POINTS - 1])) continue;
        for (int i = 0; i < QUERIES; i++) {
            const int    k = (int)(random_bits(&seed) % (POINTS - 1));
            const double t = (double)(random_bits(&seed) >> 11) * 0x1p-53;
            q[i]           = x[k] * (1 - t) + x[k + 1] * t;
        }
        for (int i = 0; i < POINTS; i++) {
            assert_true(curve_value(x, z, POINTS, x[i], &outside) == z[i]);
            assert_false(outside);
            q[QUERIES + i] = nextafter(x[i], i % 2 ? INFINITY : -INFINITY);
        }
        qsort(q, QUERIES + POINTS, sizeof *q, compare_doubles);
        double before = -INFINITY;
        for (int i = 0; i < QUERIES + POINTS; i++) {
            const double v = curve_value(x, z, POINTS, q[i], &outside);
            assert_true(outside == (q[i] < x[0] || q[i] > x[POINTS - 1]));
            assert_true(v >= before); /* false for NaN too */
            before = v;
            for (int k = 0; k + 1 < POINTS; k++)
                if (x[k] <= q[i] && q[i] <= x[k + 1]) assert_true(v >= z[k] && v <= z[k + 1]);
        }
    }
}

static fault_kind predict(const char *curve, const char *data, const char *x, const char *by, curve_outside outside,
                          predict_report *report, fault *f)
{
    write_text("curve.csv", curve);
    write_text("data.csv", data);
    const predict_request request = {.curve_path = in_folder("curve.csv"), .data_path = in_folder("data.csv"), .x = x, .by = by, .outside = outside};
    FILE                 *stream  = fopen(in_folder("out.csv"), "wb");
    assert_non_null(stream);
    const fault_kind kind = curve_predict(&request, stream, report, f);
    fclose(stream);
    return kind;
}

static void check_predict(const char *curve, const char *data, const char *x, const char *by, curve_outside outside, const char *out,
                          int64_t n_outside)
{
    predict_report report;
    fault          f;
    assert_fault(FAULT_NONE, predict(curve, data, x, by, outside, &report, &f), f);
    assert_file("out.csv", out);
    assert_int_equal(report.outside, n_outside);
}

static const char one[] = "x,fit,weight\n0,1,3\n1,2,1\n3,2.5,1\n";
static const char two[] = "who,x,fit,weight\n\"a,1\",0,1,3\nb,0,-1,1\n\"a,1\",1,2,1\nb,10,1,1\n";

static void test_predict(void **state)
{
    (void)state;
    check_predict(one, "t\n0.5\n3\n4\n", "t", NULL, CURVE_OUTSIDE_NAN, "t,fit\n0.5,1.5\n3,2.5\n4,nan\n", 1);
    check_predict(one, "t\n0.5\n-1\n4\n", "t", NULL, CURVE_OUTSIDE_CLIP, "t,fit\n0.5,1.5\n-1,1\n4,2.5\n", 2);
    check_predict(one, "t\n0.5\n3\n", "t", NULL, CURVE_OUTSIDE_ERROR, "t,fit\n0.5,1.5\n3,2.5\n", 0);
    check_predict(one, "t\n", "t", NULL, CURVE_OUTSIDE_ERROR, "t,fit\n", 0);
    /* Rows as they were: quotes, blanks, line ends, mark, a cell over two lines, columns of any kind. */
    check_predict(one, "\xef\xbb\xbf\"a \"\"q\"\"\", t ,c\r\n\"x, y\", 0.50 ,\r\n\r\n\"k\nl\",1e0,nan", "t", NULL, CURVE_OUTSIDE_NAN,
                  "\xef\xbb\xbf\"a \"\"q\"\"\", t ,c,fit\r\n\"x, y\", 0.50 ,,1.5\r\n\"k\nl\",1e0,nan,2\r\n", 0);
    /* A curve without weights, its columns and rows in any order. */
    check_predict("fit,x\n2,1\n1,0\n", "t\n0.5\n", "t", NULL, CURVE_OUTSIDE_NAN, "t,fit\n0.5,1.5\n", 0);
    /* No points at all: everything is out of range, also for clip. */
    check_predict("x,fit,weight\n", "t\n0.5\n", "t", NULL, CURVE_OUTSIDE_CLIP, "t,fit\n0.5,nan\n", 1);
}

static void test_predict_groups(void **state)
{
    (void)state;
    check_predict(two, "g,t\nb,5\n\"a,1\",0.5\nc,0\nb,20\n", "t", "g", CURVE_OUTSIDE_NAN,
                  "g,t,fit\nb,5,0\n\"a,1\",0.5,1.5\nc,0,nan\nb,20,nan\n", 2);
    check_predict(two, "g,t\nc,0\nb,20\n,1\n", "t", "g", CURVE_OUTSIDE_CLIP, "g,t,fit\nc,0,nan\nb,20,1\n,1,nan\n", 3);
    /* With more columns in the curve, the one that --by names is the group. */
    check_predict("n,g,x,fit\nk,a,0,1\nl,b,0,2\n", "g,t\nb,0\n", "t", "g", CURVE_OUTSIDE_NAN, "g,t,fit\nb,0,2\n", 0);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct { const char *curve, *data, *by; fault_kind kind; int64_t line; const char *says; } cases[] = {
        {one, "t\n1\n-1\n", NULL, FAULT_RANGE, 3, "data.csv: line 3, column 't': \"-1\" is outside the curve, which goes from 0 to 3"},
        {two, "g,t\nc,1\n", "g", FAULT_RANGE, 2, "column 'g': \"c\" is no group"},
        {"x,fit\n", "t\n1\n", NULL, FAULT_RANGE, 2, "empty curve"},
        {one, "t,fit\n1,2\n", NULL, FAULT_COLUMN, 1, "'fit' already"},
        {one, "u\n1\n", NULL, FAULT_COLUMN, 1, "no column is called 't'"},
        {one, "t,g\n1\n", NULL, FAULT_COLUMN, 2, "1 cells"},
        {one, "t\nx\n", NULL, FAULT_NUMBER, 2, "not a decimal number"},
        {one, "t,g\nNA,1\n", NULL, FAULT_MISSING, 2, "is missing"},
        {one, "", NULL, FAULT_FORMAT, 0, "no header"},
        {"", "t\n1\n", NULL, FAULT_FORMAT, 0, "no header"},
        {"x,y\n1,2\n", "t\n1\n", NULL, FAULT_COLUMN, 1, "'fit'"},
        {"x,fit\n1,2\n1.0,3\n", "t\n1\n", NULL, FAULT_VALUE, 3, "line 2 already"},
        {"x,fit\n0,2\n-0,3\n", "t\n1\n", NULL, FAULT_VALUE, 3, "line 2 already"},
        {"x,fit\n1,inf\n", "t\n1\n", NULL, FAULT_NUMBER, 2, "curve.csv: line 2, column 'fit'"},
        {two, "g,t\nb,1\n", NULL, FAULT_USAGE, 0, "--by"},
        {one, "g,t\nb,1\n", "g", FAULT_USAGE, 0, "no group column"},
        {"n,m,x,fit\nk,a,0,1\n", "g,t\nb,0\n", "g", FAULT_COLUMN, 1, "'g'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        predict_report report;
        fault          f;
        assert_fault(cases[i].kind, predict(cases[i].curve, cases[i].data, "t", cases[i].by, CURVE_OUTSIDE_ERROR, &report, &f), f);
        if (strstr(f.message, cases[i].says) == NULL) fail_msg("%s", f.message);
        assert_int_equal(f.line, cases[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),         cmocka_unit_test(test_bounds_and_order), cmocka_unit_test(test_predict),
        cmocka_unit_test(test_predict_groups), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
