/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as text: what is taken, what is refused, rounding, locales, shortest digits; exact sums.
 */
#include "io/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static void test_parse(void **state)
{
    (void)state;
    static const struct { const char *text; number_verdict verdict; double value; } cases[] = {
        {"1", NUMBER_GOOD, 1},           {"-1.5", NUMBER_GOOD, -1.5},       {"+.5", NUMBER_GOOD, 0.5},
        {"5.", NUMBER_GOOD, 5},          {" 1e3\t", NUMBER_GOOD, 1000},     {"1E-3", NUMBER_GOOD, 1e-3},
        {"1e+3", NUMBER_GOOD, 1000},     {"-0", NUMBER_GOOD, 0},            {"0001", NUMBER_GOOD, 1},
        {"1e-400", NUMBER_GOOD, 0},      {"4.9e-324", NUMBER_GOOD, 0x1p-1074}, {"1.7976931348623157e308", NUMBER_GOOD, 0x1.fffffffffffffp1023},
        {"1.7976931348623159e308", NUMBER_TOO_LARGE, 0}, {"-1e309", NUMBER_TOO_LARGE, 0}, {"1e99999999999999999999", NUMBER_TOO_LARGE, 0},
        {"", NUMBER_MISSING, 0},         {"  ", NUMBER_MISSING, 0},         {"NA", NUMBER_MISSING, 0},
        {"na", NUMBER_BAD, 0},           {"NAN", NUMBER_NAN, 0},            {"-nan", NUMBER_NAN, 0},
        {"inf", NUMBER_INFINITE, 0},     {"-Infinity", NUMBER_INFINITE, 0}, {"infinite", NUMBER_BAD, 0},
        {"1,5", NUMBER_BAD, 0},          {"1 2", NUMBER_BAD, 0},            {"1e", NUMBER_BAD, 0},
        {"e5", NUMBER_BAD, 0},           {".", NUMBER_BAD, 0},              {"-", NUMBER_BAD, 0},
        {"--1", NUMBER_BAD, 0},          {"0x10", NUMBER_BAD, 0},           {"1.2.3", NUMBER_BAD, 0},
        {"1e5.", NUMBER_BAD, 0},         {"1f", NUMBER_BAD, 0},             {"\xc2\xa0" "1", NUMBER_BAD, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double               value   = 77;
        const number_verdict verdict = number_parse(cases[i].text, strlen(cases[i].text), IH_F64, &value);
        if (verdict != cases[i].verdict) fail_msg("'%s': %d", cases[i].text, (int)verdict);
        if (verdict == NUMBER_GOOD && value != cases[i].value) fail_msg("'%s': %a", cases[i].text, value);
    }
    double value;
    assert_int_equal(number_parse("1\0002", 3, IH_F64, &value), NUMBER_BAD);
    assert_int_equal(number_parse("-0", 2, IH_F64, &value), NUMBER_GOOD);
    assert_true(signbit(value));
    assert_int_equal(number_parse("-inf", 4, IH_F64, &value), NUMBER_INFINITE);
    assert_true(value == -INFINITY);
}

static void test_rounding(void **state)
{
    (void)state;
    double value;
    char   text[1200];
    /* Just above the middle of two floats, by less than a double sees: rounding twice would go to even, down. */
    const char *above = "1.00000005960464477539062500000000000000001";
    assert_int_equal(number_parse(above, strlen(above), IH_F32, &value), NUMBER_GOOD);
    assert_true(value == 0x1.000002p0);
    assert_int_equal(number_parse(above, strlen(above), IH_F64, &value), NUMBER_GOOD);
    assert_true(value == 0x1.000001p0);
    assert_int_equal(number_parse("1e39", 4, IH_F32, &value), NUMBER_TOO_LARGE);
    assert_int_equal(number_parse("1e-45", 5, IH_F32, &value), NUMBER_GOOD);
    assert_true(value == 0x1p-149);
    /* Halfway between two doubles, then one digit far behind. */
    memset(text, '0', sizeof text);
    memcpy(text, "1.00000000000000011102230246251565404236316680908203125", 55);
    text[1000] = 0;
    assert_int_equal(number_parse(text, 1000, IH_F64, &value), NUMBER_GOOD);
    assert_true(value == 1);
    text[999] = '1';
    assert_int_equal(number_parse(text, 1000, IH_F64, &value), NUMBER_GOOD);
    assert_true(value == 0x1.0000000000001p0);
}

static void check_format(double value, ih_dtype dtype, const char *expected)
{
    char         text[NUMBER_TEXT_BYTES];
    const size_t n = number_format(value, dtype, text);
    assert_string_equal(text, expected);
    assert_int_equal(n, strlen(expected));
}

static void test_format(void **state)
{
    (void)state;
    check_format(0, IH_F64, "0");
    check_format(-0.0, IH_F64, "-0");
    check_format(0.1, IH_F64, "0.1");
    check_format(-2.5, IH_F64, "-2.5");
    check_format(100, IH_F64, "100");
    check_format(1e15, IH_F64, "1000000000000000");
    check_format(1e16, IH_F64, "1e+16");
    check_format(123456789012345680, IH_F64, "1.2345678901234568e+17");
    check_format(0.0001, IH_F64, "0.0001");
    check_format(0.00001, IH_F64, "1e-05");
    check_format(0.1 + 0.2, IH_F64, "0.30000000000000004");
    check_format(1.0 / 3, IH_F64, "0.3333333333333333");
    check_format(0x1p-44, IH_F64, "5.684341886080802e-14"); /* the nearest 16 digits, ...801, read back as the number below */
    check_format(0x1p-1074, IH_F64, "5e-324");
    check_format(0x1.fffffffffffffp1023, IH_F64, "1.7976931348623157e+308");
    check_format(0.1f, IH_F32, "0.1");
    check_format(16777216, IH_F32, "16777216");
    check_format(0x1p-149, IH_F32, "1e-45");
    check_format(0x1.fffffep127, IH_F32, "3.4028235e+38");
    check_format(NAN, IH_F64, "nan");
    check_format(-INFINITY, IH_F64, "-inf");
}

/* Digits of a number: how many from the first to the last that is not 0. */
static int count_digits(const char *text)
{
    int n = 0, last = 0;
    for (; *text != 0 && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0')) continue;
        n++;
        if (*text != '0') last = n;
    }
    return last;
}

static void test_format_random(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 40000; i++) {
        uint64_t bits = random_bits(&seed);
        double   value, back;
        char     text[NUMBER_TEXT_BYTES], shorter[40];
        if (i % 4 == 1) bits &= UINT64_MAX << 52;    /* a power of two           */
        if (i % 4 == 2) bits &= ~(UINT64_C(2047) << 52); /* subnormal            */
        memcpy(&value, &bits, sizeof value);
        if (i % 4 == 3) value = (double)(int64_t)(bits >> 40) / 1000;
        if (!isfinite(value)) continue;
        const size_t n = number_format(value, IH_F64, text);
        assert_int_equal(number_parse(text, n, IH_F64, &back), NUMBER_GOOD);
        assert_memory_equal(&back, &value, sizeof value);
        /* One digit fewer does not read back. */
        const int digits = count_digits(text);
        if (digits > 1) {
            snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
            assert_true(strtod(shorter, NULL) != value);
        }
        const float single = (float)value;
        if (!isfinite(single)) continue;
        number_format(single, IH_F32, text);
        assert_true(strtof(text, NULL) == single);
    }
}

/* A locale with a decimal comma, made of the C.UTF-8 that every Debian has: the folder is its name. */
static bool set_comma_locale(void)
{
    static const char *const places[] = {"/usr/lib/locale/C.utf8/LC_NUMERIC", "/usr/lib/locale/C.UTF-8/LC_NUMERIC"};
    char                     bytes[512];
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(places[i], "rb");
        if (file == NULL) continue;
        const size_t n = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        for (size_t k = 0; k < n; k++)
            if (bytes[k] == '.') bytes[k] = ',';
        mkdir(in_folder("comma"), 0777);
        write_file("comma/LC_NUMERIC", bytes, n);
        setenv("LOCPATH", in_folder("."), 1);
        return setlocale(LC_NUMERIC, "comma") != NULL && strtod("1,5", NULL) == 1.5;
    }
    return false;
}

static void test_locale(void **state)
{
    (void)state;
    double     value;
    const bool set = set_comma_locale();
    if (set) {
        assert_int_equal(number_parse("1.5", 3, IH_F64, &value), NUMBER_GOOD);
        assert_true(value == 1.5);
        assert_int_equal(number_parse("1.5", 3, IH_F32, &value), NUMBER_GOOD);
        assert_true(value == 1.5);
        assert_int_equal(number_parse("1,5", 3, IH_F64, &value), NUMBER_BAD);
        check_format(1.5, IH_F64, "1.5");
        check_format(0.1 + 0.2, IH_F64, "0.30000000000000004");
        assert_true(strtod("1,5", NULL) == 1.5); /* the caller's locale is as it was */
        setlocale(LC_NUMERIC, "C");
    }
    unlink(in_folder("comma/LC_NUMERIC"));
    if (!set) skip();
}

static double sum_of(const double *values, int n)
{
    number_sum s;
    number_sum_clear(&s);
    for (int i = 0; i < n; i++) number_sum_add(&s, values[i]);
    return number_sum_round(&s);
}

static void test_sums(void **state)
{
    (void)state;
    assert_true(sum_of(NULL, 0) == 0);
    assert_true(sum_of((const double[]){1, 0x1p-53}, 2) == 1);                              /* a tie, to even           */
    assert_true(sum_of((const double[]){1, 0x1p-53, 0x1p-1074}, 3) == 0x1.0000000000001p0); /* just above it            */
    assert_true(sum_of((const double[]){0x1p-1074, 0x1p-53, 1}, 3) == 0x1.0000000000001p0);
    assert_true(sum_of((const double[]){0x1.fffffffffffffp1023, 0x1p969, 0x1p-1074}, 3) == 0x1.fffffffffffffp1023);
    assert_true(sum_of((const double[]){0x1.fffffffffffffp1023, 0x1p970}, 2) == INFINITY);
    assert_true(sum_of((const double[]){0x1p1023, 0x1p1023, 1, 2}, 4) == INFINITY);
    /* Against integers: up to 2^22 summands below 2^41 with a step of 2^-10 fit in 128 bits. */
    uint64_t seed = 3;
    for (int round = 0; round < 200; round++) {
        unsigned __int128 whole = 0;
        number_sum        s;
        number_sum_clear(&s);
        const int n = 1 + (int)(random_bits(&seed) % 300);
        for (int i = 0; i < n; i++) {
            const uint64_t v     = random_bits(&seed) >> 11 | 1; /* 53 bits */
            const int      shift = (int)(random_bits(&seed) % 64);
            whole += (unsigned __int128)v << shift;
            number_sum_add(&s, ldexp((double)v, shift - 70));
        }
        /* gcc and clang convert 128-bit integers rounding to nearest, ties to even */
        assert_true(number_sum_round(&s) == ldexp((double)whole, -70));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),         cmocka_unit_test(test_rounding), cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_random), cmocka_unit_test(test_locale),   cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
