/* SPDX-License-Identifier: Apache-2.0
 *
 * Decimal numbers in and out of text under the C locale, and exact sums of positive numbers.
 */
#include "io/number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static locale_t       c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t get_c_locale(void)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t skip_digits(const char *text, size_t at, size_t end)
{
    while (at < end && text[at] >= '0' && text[at] <= '9') at++;
    return at;
}

/* [sign] digits [. digits] [e [sign] digits] from at to end, all of it. */
static bool is_decimal(const char *text, size_t at, size_t end)
{
    if (at < end && (text[at] == '+' || text[at] == '-')) at++;
    size_t stop   = skip_digits(text, at, end);
    size_t digits = stop - at;
    at            = stop;
    if (at < end && text[at] == '.') {
        stop = skip_digits(text, at + 1, end);
        digits += stop - at - 1;
        at = stop;
    }
    if (digits == 0) return false;
    if (at < end && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < end && (text[at] == '+' || text[at] == '-')) at++;
        stop = skip_digits(text, at, end);
        if (stop == at) return false;
        at = stop;
    }
    return at == end;
}

static number_verdict parse_word(const char *text, size_t at, size_t end, double *value)
{
    const bool sign = text[at] == '-' || text[at] == '+', negative = text[at] == '-';
    if (sign) at++;
    const size_t n = end - at;
    if (n == 3 && strncasecmp(text + at, "nan", 3) == 0) {
        *value = NAN;
        return NUMBER_NAN;
    }
    if ((n == 3 && strncasecmp(text + at, "inf", 3) == 0) || (n == 8 && strncasecmp(text + at, "infinity", 8) == 0)) {
        *value = negative ? -INFINITY : INFINITY;
        return NUMBER_INFINITE;
    }
    return NUMBER_BAD;
}

number_verdict number_parse(const char *text, size_t length, ih_dtype dtype, double *value)
{
    size_t at = 0, end = length;
    while (at < end && is_blank(text[at])) at++;
    while (end > at && is_blank(text[end - 1])) end--;
    if (at == end || (end - at == 2 && memcmp(text + at, "NA", 2) == 0)) return NUMBER_MISSING;
    if (!is_decimal(text, at, end)) return parse_word(text, at, end, value);
    /* Straight to the type asked for: float32 by way of a double could be rounded twice. */
    const double v = dtype == IH_F32 ? (double)strtof_l(text + at, NULL, get_c_locale()) : strtod_l(text + at, NULL, get_c_locale());
    if (isinf(v)) return NUMBER_TOO_LARGE;
    *value = v;
    return NUMBER_GOOD;
}

const char *number_verdict_text(number_verdict verdict)
{
    switch (verdict) {
    case NUMBER_GOOD: return "is a number";
    case NUMBER_MISSING: return "is missing";
    case NUMBER_BAD: return "is not a decimal number";
    case NUMBER_TOO_LARGE: return "is too large";
    case NUMBER_NAN: return "is not a number (NaN)";
    case NUMBER_INFINITE: return "is infinite";
    }
    return "is not a number";
}

/* ---------------------------------------------------------------- writing ---- */

static bool reads_back(const char *text, double value, ih_dtype dtype)
{
    return dtype == IH_F32 ? strtof_l(text, NULL, get_c_locale()) == (float)value
                           : strtod_l(text, NULL, get_c_locale()) == value;
}

/* The next decimal of as many digits, away from zero, of "d.ddde+XX"; false if it would carry into the exponent. */
static bool step_up(char *text)
{
    for (char *p = strchr(text, 'e') - 1; p >= text; p--) {
        if (*p == '.') continue;
        if (*p < '9') {
            ++*p;
            return true;
        }
        *p = '0';
    }
    return false;
}

/* "d.ddde+XX" as a person would write it: without trailing zeros, and without an exponent where that is short. */
static size_t lay_out(const char *scientific, bool negative, char out[NUMBER_TEXT_BYTES])
{
    char      digits[20];
    int       n        = 0;
    const int exponent = (int)strtol(strchr(scientific, 'e') + 1, NULL, 10);
    size_t    at       = 0;
    for (const char *p = scientific; *p != 'e'; p++)
        if (*p != '.') digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0') n--;
    if (negative) out[at++] = '-';
    if (exponent < -4 || exponent > 15) {
        out[at++] = digits[0];
        if (n > 1) out[at++] = '.';
        for (int i = 1; i < n; i++) out[at++] = digits[i];
        return at + (size_t)snprintf(out + at, NUMBER_TEXT_BYTES - at, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    }
    if (exponent < 0) {
        out[at++] = '0';
        out[at++] = '.';
        for (int i = exponent + 1; i < 0; i++) out[at++] = '0';
    }
    for (int i = 0; i < n || i <= exponent; i++) {
        out[at++] = i < n ? digits[i] : '0';
        if (exponent >= 0 && i == exponent && i + 1 < n) out[at++] = '.';
    }
    out[at] = 0;
    return at;
}

size_t number_format(double value, ih_dtype dtype, char out[NUMBER_TEXT_BYTES])
{
    if (!isfinite(value) || value == 0)
        return (size_t)snprintf(out, NUMBER_TEXT_BYTES, "%s",
                                isnan(value)     ? "nan"
                                : value == 0     ? (signbit(value) ? "-0" : "0")
                                : signbit(value) ? "-inf"
                                                 : "inf");
    const bool     narrow    = dtype == IH_F32;
    const double   magnitude = fabs(value);
    const bool     tiny      = magnitude < (narrow ? 0x1p-126 : 0x1p-1022);
    const int      last      = narrow ? 9 : 17;
    const locale_t before    = uselocale(get_c_locale());
    char           text[NUMBER_TEXT_BYTES];
    /* 15 (6) digits survive the way through a normal double (float): if they read back, dropping zeros leaves the fewest. */
    for (int n = tiny ? 1 : narrow ? 6 : 15;; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, magnitude);
        if (n == last || reads_back(text, magnitude, dtype)) break;
        /* At a power of two the numbers below lie closer: the nearest decimal may miss where the next one above does not. */
        if (step_up(text) && reads_back(text, magnitude, dtype)) break;
    }
    const size_t length = lay_out(text, value < 0, out);
    uselocale(before);
    return length;
}

/* ---------------------------------------------------------------- exact sums ---- */

void number_sum_clear(number_sum *s)
{
    s->n = 0;
}

/* Shewchuk's growing expansion: parts do not overlap, so 2098 bits of doubles need at most 40 of them. */
void number_sum_add(number_sum *s, double value)
{
    int n = 0;
    if (s->n > 0 && isinf(s->parts[s->n - 1])) return;
    for (int i = 0; i < s->n; i++) {
        double large = value, small = s->parts[i];
        if (large < fabs(small)) {
            large = s->parts[i];
            small = value;
        }
        const double sum = large + small, rest = small - (sum - large);
        if (isinf(sum)) { /* all summands are positive: the sum never comes back */
            s->parts[0] = sum;
            s->n        = 1;
            return;
        }
        if (rest != 0) s->parts[n++] = rest;
        value = sum;
    }
    s->parts[n++] = value;
    s->n          = n;
}

double number_sum_round(const number_sum *s)
{
    int n = s->n;
    if (n == 0) return 0;
    double sum = s->parts[--n], rest = 0;
    while (n > 0) {
        const double large = sum, small = s->parts[--n];
        sum  = large + small;
        rest = small - (sum - large);
        if (rest != 0) break;
    }
    /* Halfway between two doubles as far as `rest` goes: what lies below decides. */
    if (n > 0 && ((rest < 0 && s->parts[n - 1] < 0) || (rest > 0 && s->parts[n - 1] > 0))) {
        const double twice = 2 * rest, further = sum + twice;
        if (further - sum == twice) sum = further;
    }
    return sum;
}
