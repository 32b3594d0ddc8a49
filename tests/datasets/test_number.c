/* SPDX-License-Identifier: Apache-2.0
 * test_number.c: numbers of problem strings: exact whole numbers, doubles, shortest digits, under any locale. */
#include "datasets/number.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "datasets/counter.h"
#include "datasets/arithmetic.h"

static void whole_numbers_are_exact(void **state)
{
    static const struct { const char *text; int64_t value; } good[] = {
        { "0", 0 }, { "1024", 1024 }, { "1e7", 10000000 }, { "1E+7", 10000000 }, { "2.5e3", 2500 }, { "1.000", 1 }, { ".5e1", 5 },
        { "5.", 5 }, { "10e-1", 1 }, { "00012", 12 }, { "0e99999999999999999999", 0 }, { "0.000e-7", 0 }, { "100e-2", 1 },
        { "9223372036854775807", INT64_MAX }, { "9.223372036854775807e18", INT64_MAX }, { "9007199254740993", 9007199254740993 },
        { "1000000000000000000000e-21", 1 }, { "0.000000000000000000000001e24", 1 },
    };
    static const char *const bad[] = { "", "-1", "+1", "1.5", "1e", "1e+", "e7", ".", "1e-1", "0x10", " 1", "1 ", "1e7x", "1,000", "1.5e0",
                                       "9223372036854775808", "1e19", "1e999999999999", "123456789012345678901", "inf", "nan", "1..0" };
    (void)state;
    for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) {
        int64_t value = -1;
        if (!ih_parse_count(good[k].text, &value) || value != good[k].value) fail_msg("\"%s\"", good[k].text);
    }
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        int64_t value = -1;
        if (ih_parse_count(bad[k], &value) || value != -1) fail_msg("\"%s\" was read as %lld", bad[k], (long long)value);
    }
}

static void doubles_are_read_whole(void **state)
{
    static const struct { const char *text; double value; } good[] = {
        { "0.1", 0.1 }, { "-1e-3", -0.001 }, { "0x1p-3", 0.125 }, { "inf", INFINITY }, { "-inf", -INFINITY }, { "+Infinity", INFINITY },
        { "4.9e-324", 0x1p-1074 }, { "1e-400", 0 }, { "1.7976931348623157e308", 0x1.fffffffffffffp+1023 }, { "5.", 5 },
    };
    static const char *const bad[] = { "", " 1", "1 ", "1x", "nan", "-nan", "nan(1)", "1e999", "-1e999", "--1", "0,5", "1e", "\t1", "0x" };
    (void)state;
    for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) {
        double value = -99;
        if (!ih_parse_double(good[k].text, &value) || value != good[k].value) fail_msg("\"%s\"", good[k].text);
    }
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        double value = -99;
        if (ih_parse_double(bad[k], &value) || value != -99) fail_msg("\"%s\" was read as %a", bad[k], value);
    }
}

static void check_shortest(double x)
{
    char   text[IH_NUMBER_TEXT], shorter[IH_NUMBER_TEXT];
    double back;
    int    digits = 0;
    ih_format_double(x, text);
    assert_true(ih_parse_double(text, &back));
    if (back != x) fail_msg("%a became \"%s\"", x, text);
    for (const char *c = text; *c && *c != 'e'; c++) digits += (*c >= '1' && *c <= '9') || (*c == '0' && digits);
    if (digits > 1) { /* one digit less does not do */
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, x);
        if (strtod(shorter, NULL) == x) fail_msg("%a became \"%s\", though \"%s\" is the same", x, text, shorter);
    }
}

static void check_text(double x, const char *expected)
{
    char text[IH_NUMBER_TEXT];
    ih_format_double(x, text);
    assert_string_equal(text, expected);
}

static void digits_are_shortest(void **state)
{
    const ih_key key = ih_make_key(1, 0, 0);
    (void)state;
    check_text(-0.0, "0");
    check_text(-INFINITY, "-inf");
    check_text(INFINITY, "inf");
    check_text(0.1, "0.1");
    check_text(10, "10");
    check_text(-100000, "-100000");
    check_text(1e7, "1e7");
    check_text(12345678, "12345678");
    check_text(1e-5, "1e-5");
    check_text(-1.25e100, "-1.25e100");
    check_text(2e-300, "2e-300");
    check_shortest(0x1p-1074);
    check_shortest(-0x1.fffffffffffffp+1023);
    for (uint64_t k = 0; k < 2000; k++) {
        const double x = ih_f64_of_bits(ih_draw(key, k));
        if (isfinite(x)) check_shortest(x);
    }
}

/* A locale with a decimal comma, if the machine has one; the C library's own parser must then differ from ours. */
static void any_locale_will_do(void **state)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8", "de_DE" };
    char   text[IH_NUMBER_TEXT];
    double x    = 0;
    int    have = 0;
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0] && !have; k++) have = setlocale(LC_ALL, names[k]) != NULL;
    if (!have) {
        print_message("no locale with a decimal comma on this machine\n");
        skip();
    }
    assert_true(ih_parse_double("0.5", &x) && x == 0.5);
    assert_false(ih_parse_double("0,5", &x));
    ih_format_double(0.5, text);
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "0.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_exact),
        cmocka_unit_test(doubles_are_read_whole),
        cmocka_unit_test(digits_are_shortest),
        cmocka_unit_test(any_locale_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
