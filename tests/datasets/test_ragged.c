/* SPDX-License-Identifier: Apache-2.0
 * test_ragged.c: laws of row lengths: range, mean, shape; offsets that fit them. */
#include "datasets/generate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 20000 };

static ih_spec spec(const char *text)
{
    char    message[IH_SPEC_MESSAGE];
    ih_spec s;
    if (ih_spec_parse(&s, text, message, sizeof message)) fail_msg("%s: %s", text, message);
    return s;
}

typedef struct lengths {
    int64_t total, longest, shortest, empty;
    double  mean, deviation;
    int64_t offsets[ROWS + 1];
} lengths;

/* Of a problem with ROWS rows. */
static lengths *measure(const char *text)
{
    static lengths l;
    const ih_spec  s       = spec(text);
    double         squares = 0;
    l.total    = ih_spec_elements(&s, l.offsets);
    l.longest  = l.empty = 0;
    l.shortest = INT64_MAX;
    assert_int_equal(s.rows, ROWS);
    assert_int_equal(l.offsets[0], 0);
    assert_int_equal(l.offsets[ROWS], l.total);
    assert_int_equal(ih_spec_elements(&s, NULL), l.total);
    l.mean = (double)l.total / ROWS;
    for (int64_t r = 0; r < ROWS; r++) {
        const int64_t n = l.offsets[r + 1] - l.offsets[r];
        assert_true(n >= 0);
        assert_int_equal(n, ih_spec_row_length(&s, r));
        if (n > l.longest) l.longest = n;
        if (n < l.shortest) l.shortest = n;
        l.empty += n == 0;
        squares += ((double)n - l.mean) * ((double)n - l.mean);
    }
    l.deviation = sqrt(squares / ROWS);
    return &l;
}

/* A share of ROWS rows that is `expected`, within 5 standard deviations. */
static void check_share(int64_t count, double expected)
{
    const double off = fabs((double)count - ROWS * expected) / sqrt(ROWS * expected * (1 - expected));
    if (!(off < 5)) fail_msg("%lld of %d rows instead of a share of %g", (long long)count, ROWS, expected);
}

static void check_mean(const lengths *l, double expected, double deviation)
{
    if (!(fabs(l->mean - expected) < 5 * deviation / sqrt(ROWS))) fail_msg("mean length %g instead of %g", l->mean, expected);
    if (!(fabs(l->deviation / deviation - 1) < 0.05)) fail_msg("deviation %g instead of %g", l->deviation, deviation);
}

static void rectangular(void **state)
{
    const lengths *l = measure("noise:rows=20000:n=13");
    (void)state;
    assert_true(l->shortest == 13 && l->longest == 13);
}

static void uniform(void **state)
{
    const lengths *l = measure("noise:rows=20000:n=10:ragged=uniform");
    (void)state;
    assert_true(l->shortest == 0 && l->longest == 20);
    check_share(l->empty, 1.0 / 21);
    check_mean(l, 10, sqrt((21.0 * 21 - 1) / 12));
}

static void geometric(void **state)
{
    static const int64_t means[] = { 1, 10, 511, 512, 1000000 };
    (void)state;
    for (size_t k = 0; k < sizeof means / sizeof means[0]; k++) {
        const double   n = (double)means[k];
        char           text[64];
        const lengths *l;
        snprintf(text, sizeof text, "noise:rows=20000:ragged=geometric:n=%lld", (long long)means[k]);
        l = measure(text);
        check_mean(l, n, sqrt(n * (n + 1)));
        if (n <= 512) check_share(l->empty, 1 / (n + 1));
    }
    assert_int_equal(measure("noise:rows=20000:ragged=geometric:n=0")->total, 0);
}

static void half_empty(void **state)
{
    const lengths *l = measure("noise:rows=20000:n=100:ragged=empty");
    (void)state;
    assert_true(l->longest <= 400 && l->longest > 380);
    check_share(l->empty, 0.5 + 0.5 / 401);
    check_mean(l, 100, sqrt(0.5 * (400.0 * 401 * 801 / 6 / 401) - 100 * 100));
}

static void every_scale(void **state)
{
    const lengths *l     = measure("noise:rows=20000:n=1000:ragged=scales"); /* 11 octaves: 0, 1-2, 3-6, ... 1023-2046 cut at 2000 */
    int64_t        short_rows = 0, long_rows = 0;
    (void)state;
    for (int64_t r = 0; r < ROWS; r++) {
        const int64_t n = l->offsets[r + 1] - l->offsets[r];
        short_rows += n <= 6;
        long_rows += n >= 511;
    }
    assert_int_equal(l->longest, 2000);
    check_share(l->empty, 1.0 / 11);
    check_share(short_rows, 3.0 / 11);
    check_share(long_rows, 2.0 / 11);
    assert_int_equal(measure("noise:rows=20000:n=0:ragged=scales")->longest, 0);
}

static void one_long_row(void **state)
{
    const lengths *l = measure("noise:rows=20000:n=100:ragged=long");
    const ih_spec  a = spec("noise:rows=100:n=100:ragged=long"), b = spec("noise:rows=100:n=100:ragged=long:seed=1");
    int64_t        differ = 0;
    (void)state;
    assert_int_equal(l->total, (int64_t)ROWS * 100);
    assert_int_equal(l->shortest, 50);
    assert_int_equal(l->longest, (int64_t)ROWS * 100 - (ROWS - 1) * 50);
    for (int64_t r = 0; r < 100; r++) differ += ih_spec_row_length(&a, r) != ih_spec_row_length(&b, r);
    assert_int_equal(differ, 2); /* another seed, another place */
}

static void no_rows(void **state)
{
    const ih_spec s = spec("noise:rows=0:n=5:ragged=uniform");
    int64_t       offsets[1] = { -1 };
    ih_data       data;
    char          message[IH_SPEC_MESSAGE];
    (void)state;
    assert_int_equal(ih_spec_elements(&s, offsets), 0);
    assert_int_equal(offsets[0], 0);
    assert_int_equal(ih_data_generate(&data, &s, 1, message, sizeof message), 0);
    assert_true(data.problem.rows == 0 && data.problem.n == 0 && data.problem.offsets[0] == 0);
    ih_data_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectangular), cmocka_unit_test(uniform),      cmocka_unit_test(geometric), cmocka_unit_test(half_empty),
        cmocka_unit_test(every_scale), cmocka_unit_test(one_long_row), cmocka_unit_test(no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
