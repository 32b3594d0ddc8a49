/* SPDX-License-Identifier: Apache-2.0
 * number.c: numbers as they stand in problem strings. */
#include "datasets/number.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ih_parse_count(const char *text, int64_t *out)
{
    const char *p        = text;
    int64_t     value    = 0;
    int64_t     zeros    = 0; /* decimal zeros still to be appended: kept back, since 1.000e3 is whole and 0e999 is 0 */
    int64_t     exponent = 0, fraction = 0;
    int         digits = 0, point = 0;

    for (; (*p >= '0' && *p <= '9') || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = 1;
            continue;
        }
        digits = 1;
        if (point) fraction += 1;
        if (*p == '0') {
            if (value) zeros += 1;
            continue;
        }
        for (; zeros > 0; zeros--)
            if (__builtin_mul_overflow(value, 10, &value)) return 0;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p - '0', &value)) return 0;
    }
    if (!digits) return 0;
    if (*p == 'e' || *p == 'E') {
        const int negative = p[1] == '-';
        p += 1 + (p[1] == '-' || p[1] == '+');
        if (*p < '0' || *p > '9') return 0;
        for (; *p >= '0' && *p <= '9'; p++)
            if (exponent < 100000) exponent = exponent * 10 + (*p - '0');
        if (negative) exponent = -exponent;
    }
    if (*p) return 0;
    if (value) {
        exponent += zeros - fraction;
        if (exponent < 0) return 0; /* the last digit is not 0, so the value is not whole */
        for (; exponent > 0; exponent--)
            if (__builtin_mul_overflow(value, 10, &value)) return 0;
    }
    *out = value;
    return 1;
}

int ih_parse_double(const char *text, double *out)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const int      saved = errno;
    char          *end;
    double         x;
    int            range;

    if (!c) return 0;
    errno = 0;
    x     = strtod_l(text, &end, c);
    range = errno == ERANGE && isinf(x);
    errno = saved;
    freelocale(c);
    if (end == text || *end || isspace((unsigned char)*text) || isnan(x) || range) return 0;
    *out = x;
    return 1;
}

/* "1e+07" to "1e7", "1e-05" to "1e-5". */
static void tidy_exponent(char *text)
{
    char *from = strchr(text, 'e'), *to;
    if (!from) return;
    to = ++from;
    if (*from == '-') to = ++from;
    while (*from == '+' || *from == '0') from++;
    memmove(to, from, strlen(from) + 1);
}

void ih_format_double(double x, char *text)
{
    const locale_t c    = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t back = c ? uselocale(c) : (locale_t)0;

    if (x == 0) x = 0.0;
    if (fabs(x) < 1e6 && x == floor(x)) snprintf(text, IH_NUMBER_TEXT, "%.0f", x); /* 10, not 1e+01 */
    else
        for (int digits = 1; digits <= 17; digits++) {
            snprintf(text, IH_NUMBER_TEXT, "%.*g", digits, x);
            if (strtod(text, NULL) == x) break;
        }
    tidy_exponent(text);
    if (c) {
        uselocale(back);
        freelocale(c);
    }
}
