/* SPDX-License-Identifier: Apache-2.0
 * test_problem.c: problem strings: canonical order, round trips, what is refused, and hostile text. */
#include "datasets/problem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "datasets/counter.h"

static char message[IH_SPEC_MESSAGE];

/* text is read, printed as `canonical`, and that is read as the same and printed the same. */
static void check_canonical(const char *text, const char *canonical)
{
    static ih_spec a, b;
    static char    printed[4 * IH_SPEC_PATH];
    size_t         length;
    if (ih_spec_parse(&a, text, message, sizeof message)) fail_msg("%s: %s", text, message);
    length = ih_spec_format(&a, printed, sizeof printed);
    assert_int_equal(length, strlen(printed));
    if (canonical) assert_string_equal(printed, canonical);
    if (ih_spec_parse(&b, printed, message, sizeof message)) fail_msg("%s: %s", printed, message);
    assert_true(ih_spec_equal(&a, &b));
    ih_spec_format(&b, printed, sizeof printed);
    if (canonical) assert_string_equal(printed, canonical);
}

static void check_refused(const char *text, const char *part)
{
    static ih_spec s;
    message[0] = 0;
    if (!ih_spec_parse(&s, text, message, sizeof message)) fail_msg("%s was accepted", text);
    if (!strstr(message, part)) fail_msg("%s: \"%s\" does not hold \"%s\"", text, message, part);
    assert_null(strchr(message, '\n'));
}

static void one_canonical_order(void **state)
{
    (void)state;
    check_canonical("noise:n=1e3", "noise:f32:n=1000");
    check_canonical("noise:seed=7:n=1025:rows=3:w=extreme:f32", "noise:f32:w=extreme:rows=3:n=1025:seed=7");
    check_canonical("noise:f32:seed=0:rows=1:w=unit:dec=0:min=-inf:max=inf:ragged=none:n=0", "noise:f32:n=0");
    check_canonical("trend:n=10:rise=1e1:slope=0.0:f64:max=-1e-3:min=-INF", "trend:f64:slope=0:rise=10:n=10:max=-0.001");
    check_canonical("trend:n=10:slope=0.001", "trend:f32:n=10");
    check_canonical("increasing:repeat=3e0:dec=1:n=5:min=inf:max=inf", "increasing:f32:repeat=3:n=5:dec=1:min=inf");
    check_canonical("constant:n=1:value=-0", "constant:f32:value=0:n=1");
    check_canonical("noise:n=1:min=-0x1p-1074:max=0.30000000000000004", "noise:f32:n=1:min=-5e-324:max=0.30000000000000004");
    check_canonical("noise:n=9007199254740992:seed=9223372036854775807:ragged=scales",
                    "noise:f32:ragged=scales:n=9007199254740992:seed=9223372036854775807");
    check_canonical("huge:low=-0.5:n=2", "huge:f32:low=-0.5:n=2");
}

static void files_are_paths(void **state)
{
    static ih_spec s;
    (void)state;
    check_canonical("file:/a/b.npy", "file:/a/b.npy");
    check_canonical("file:/a/b.npy:weights=/c/w.npy:dec=1:f64:max=2", "file:/a/b.npy:f64:weights=/c/w.npy:dec=1:max=2");
    check_canonical("file:%2fa%3ab%25%20=\xc3\xa9:w=uniform:offsets=o.npy", "file:/a%3Ab%25%20=\xc3\xa9:w=uniform:offsets=o.npy");
    assert_int_equal(ih_spec_parse(&s, "file:C%3A\\y %25:offsets=%3a", message, sizeof message), 0);
    assert_string_equal(s.path, "C:\\y %");
    assert_string_equal(s.offsets, ":");
    check_refused("file", "needs a path");
    check_refused("file:", "path is empty");
    check_refused("file::n=3", "path is empty");
    check_refused("file:a%", "hexadecimal");
    check_refused("file:a%4", "hexadecimal");
    check_refused("file:a%zz", "hexadecimal");
    check_refused("file:a%00b", "zero byte");
    check_refused("file:a:n=3", "unknown key of file");
    check_refused("file:a:w=uniform:weights=b", "exclude");
    check_refused("noise:n=1:weights=b", "unknown key of noise");
}

static void faults_are_named(void **state)
{
    (void)state;
    check_refused("", "unknown family");
    check_refused("nose:n=3", "known are noise, ");
    check_refused(" noise:n=3", "unknown family");
    check_refused("noise", "n is missing");
    check_refused("noise:", "neither");
    check_refused("noise:n=3:", "neither");
    check_refused("noise::n=3", "neither");
    check_refused("noise:f16:n=3", "neither");
    check_refused("noise:f32:n=3:f64", "type is given twice");
    check_refused("noise:n=3:n=3", "\"n\": the key is given twice");
    check_refused("noise:n=3:=5", "unknown key");
    check_refused("noise:n=3:slope=5", "known are f32, f64 and the keys n, rows, seed, w, ragged, dec, min, max");
    check_refused("trend:n=3:slop=5", "slope, rise");
    check_refused("noise:n=", "n: not a whole number");
    check_refused("noise:n=-3", "n: not a whole number");
    check_refused("noise:n=3.5", "n: not a whole number");
    check_refused("noise:n=9007199254740993", "n: at most 9007199254740992");
    check_refused("noise:n=3:rows=1e99", "rows: not a whole number");
    check_refused("noise:n=1e9:rows=1e9", "rows times n");
    check_refused("noise:n=3:seed=9223372036854775808", "seed: not a whole number");
    check_refused("noise:n=3:dec=2", "dec: at most 1");
    check_refused("noise:n=3:w=heavy", "unknown weighting; known are unit, ");
    check_refused("noise:n=3:ragged=heavy", "unknown law of row lengths; known are none, ");
    check_refused("noise:n=3:min=nan", "min: not a number");
    check_refused("noise:n=3:max=1e999", "max: not a number");
    check_refused("noise:n=3:min=2:max=1", "min is greater than max");
    check_refused("labels:n=3:low=1.1", "low: not a number from 0 to 1");
    check_refused("labels:n=3:low=nan", "low: not a number");
    check_refused("steps:n=3:length=0", "length: not a whole number from 1");
    check_refused("steps:n=3:length=1.5", "length: not a whole number");
    check_refused("noise:n=3:\n\x01=5", "\"??\": unknown key");
}

static void long_text_is_refused(void **state)
{
    static char text[3 * IH_SPEC_PATH];
    char        tiny[8] = "1234567";
    static ih_spec s;
    (void)state;
    memset(text, 'a', sizeof text - 1);
    check_refused(text, "unknown family");
    memcpy(text, "file:", 5);
    check_refused(text, "longer than 4095 bytes");
    text[5 + IH_SPEC_PATH - 1] = 0;
    check_canonical(text, text);
    assert_int_equal(ih_spec_parse(&s, "nothing", tiny, sizeof tiny), 1); /* messages are cut, as by snprintf */
    assert_int_equal(strlen(tiny), sizeof tiny - 1);
    assert_int_equal(ih_spec_parse(&s, "nothing", NULL, 0), 1);
    assert_int_equal(ih_spec_parse(&s, "noise:n=12", message, sizeof message), 0);
    assert_int_equal(ih_spec_format(&s, tiny, sizeof tiny), strlen("noise:f32:n=12"));
    assert_string_equal(tiny, "noise:f");
    assert_int_equal(ih_spec_format(&s, NULL, 0), strlen("noise:f32:n=12"));
}

/* Every family with every parameter at its ends. */
static void parameters_round_trip(void **state)
{
    (void)state;
    for (int32_t f = 0; f < IH_FAMILY_COUNT; f++) {
        const ih_family_info *info = ih_family_at(f);
        char                  text[512];
        for (int32_t k = 0; k < IH_MAX_PARAMETERS && info->parameter[k].name; k++) {
            const ih_parameter_info *p = &info->parameter[k];
            assert_true(p->least <= p->initial && p->initial <= p->most);
            snprintf(text, sizeof text, "%s:n=3:%s=%.17g", info->name, p->name, p->least);
            check_canonical(text, NULL);
            snprintf(text, sizeof text, "%s:n=3:%s=%.17g", info->name, p->name, p->most);
            check_canonical(text, NULL);
            snprintf(text, sizeof text, "%s:n=3:%s=inf", info->name, p->name);
            check_refused(text, "not a ");
        }
    }
    assert_null(ih_family_at(-1));
    assert_null(ih_family_at(IH_FAMILY_COUNT));
    assert_string_equal(ih_weighting_at(0)->name, "unit");
    assert_string_equal(ih_ragged_at(0)->name, "none");
}

/* Good strings with bytes changed, cut and doubled: either refused with a message or round trips. */
static void damaged_text_round_trips(void **state)
{
    static const char *const seeds[] = { "noise:f64:w=extreme:rows=3:n=1025:seed=7:min=-1e-3", "file:/a%3Ab.npy:weights=w:f32:dec=1",
                                         "trend:slope=0x1p-3:rise=1e5:n=2.5e1:ragged=empty" };
    static const char letters[] = "=:%0123456789.eE+-fnaix \n\xff";
    const ih_key   key      = ih_make_key(5, 0, 0);
    static ih_spec s;
    int            accepted = 0;
    (void)state;
    for (uint64_t k = 0; k < 20000; k++) {
        char   text[128];
        size_t length;
        strcpy(text, seeds[k % 3]);
        length = strlen(text);
        for (uint64_t change = 0; change <= k % 4; change++) {
            const uint64_t bits = ih_draw(key, 8 * k + change);
            const size_t   at   = (bits >> 32) % length;
            if (bits % 3 == 0) text[at] = letters[(bits >> 8) % (sizeof letters - 1)];
            else if (bits % 3 == 1 && length > 2) memmove(text + at, text + at + 1, length-- - at);
            else if (length + 2 < sizeof text) memmove(text + at + 1, text + at, ++length - at);
        }
        message[0] = 0;
        if (ih_spec_parse(&s, text, message, sizeof message)) assert_true(strlen(message) > 5);
        else {
            accepted++;
            check_canonical(text, NULL);
        }
    }
    assert_in_range(accepted, 1000, 19000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_canonical_order),   cmocka_unit_test(files_are_paths),       cmocka_unit_test(faults_are_named),
        cmocka_unit_test(long_text_is_refused),  cmocka_unit_test(parameters_round_trip), cmocka_unit_test(damaged_text_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
