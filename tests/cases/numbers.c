/* SPDX-License-Identifier: Apache-2.0
 * numbers.c: read the arrays of a case. A fault of the case file ends the program. */
#include "numbers.h"

#include "expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "case file: %s\n", what);
    exit(1);
}

double number_of(const json_t *text)
{
    const char *s = json_string_value(text);
    char       *end;
    double      v;

    must(s != NULL, "a number is not a string");
    v = strtod(s, &end);
    must(*s && !*end, "a string is no number");
    return v;
}

double ratio_rounded(int64_t num, int64_t den, int exp2, ih_dtype dtype)
{
    unsigned __int128 high = num < 0 ? -(unsigned __int128)num : (unsigned __int128)num, quotient;
    int               exponent = exp2;
    uint64_t          digits; /* 64 significant bits, the last one sticky: enough to round once to 53 or 24 */
    double            v;

    if (num == 0) return 0;
    while (!(high >> 126)) high <<= 1, --exponent;
    quotient         = high / (unsigned __int128)den;
    unsigned sticky  = high % (unsigned __int128)den != 0;
    while (quotient >> 64) sticky |= (unsigned)(quotient & 1), quotient >>= 1, ++exponent;
    digits = (uint64_t)quotient | sticky;
    v      = ldexp(dtype == IH_F32 ? (double)(float)digits : (double)digits, exponent);
    must(fabs(v) >= (dtype == IH_F32 ? 0x1p-126 : 0x1p-1022) && fabs(v) <= (dtype == IH_F32 ? 0x1.fffffep+127 : 0x1.fffffffffffffp+1023),
         "a formula leaves the normal range of its type");
    return num < 0 ? -v : v;
}

/* ---- formulas ---- */

enum { FIXED = 4 }; /* b, i, n, batch */

typedef struct formula {
    const char *names[EXPR_NAMES];
    char       *owned[EXPR_NAMES];
    expr       *let[EXPR_NAMES];
    int         count; /* names, lets from FIXED on */
} formula;

static void formula_open(formula *f, const json_t *lets)
{
    static const char *const fixed[FIXED] = { "b", "i", "n", "batch" };
    size_t                   k;
    json_t                  *text;

    memset(f, 0, sizeof *f);
    memcpy(f->names, fixed, sizeof fixed);
    f->count = FIXED;
    json_array_foreach(lets, k, text)
    {
        char *name = strdup(json_string_value(text)), *equals = strchr(name, '=');
        must(equals && f->count < EXPR_NAMES, "a let is not `name = expression`");
        f->let[f->count] = expr_parse(equals + 1, f->names, f->count);
        must(f->let[f->count] != NULL, "a let is no expression");
        while (equals > name && equals[-1] == ' ') --equals;
        *equals            = 0;
        f->owned[f->count] = name;
        f->names[f->count] = name;
        ++f->count;
    }
}

static expr *formula_part(const formula *f, const json_t *text)
{
    expr *e = json_is_string(text) ? expr_parse(json_string_value(text), f->names, f->count) : NULL;
    must(e != NULL, "a formula is no expression");
    return e;
}

static void formula_at(const formula *f, shape s, int64_t b, int64_t i, int64_t *values)
{
    values[0] = b;
    values[1] = i;
    values[2] = s.n;
    values[3] = s.rows;
    for (int k = FIXED; k < f->count; ++k) values[k] = expr_eval(f->let[k], values);
}

static void formula_close(formula *f)
{
    for (int k = FIXED; k < f->count; ++k) {
        expr_free(f->let[k]);
        free(f->owned[k]);
    }
}

static void fill_formula(const json_t *object, shape s, ih_dtype dtype, double *to)
{
    const int exp2 = (int)json_integer_value(json_object_get(object, "exp2"));
    formula   f;
    expr     *num, *den;

    formula_open(&f, json_object_get(object, "let"));
    num = formula_part(&f, json_object_get(object, "num"));
    den = formula_part(&f, json_object_get(object, "den"));
    for (int64_t b = 0; b < s.rows; ++b)
        for (int64_t i = 0; i < s.n; ++i) {
            int64_t values[EXPR_NAMES];
            formula_at(&f, s, b, i, values);
            to[b * s.n + i] = ratio_rounded(expr_eval(num, values), expr_eval(den, values), exp2, dtype);
        }
    expr_free(num);
    expr_free(den);
    formula_close(&f);
}

/* {"runs": [[start, value], ...]}: from each start on, the same in every row */
static void fill_runs(const json_t *runs, shape s, double *to)
{
    const size_t count = json_array_size(runs);
    for (int64_t b = 0; b < s.rows; ++b)
        for (size_t k = 0; k < count; ++k) {
            const json_t *run  = json_array_get(runs, k), *next = json_array_get(runs, k + 1);
            const int64_t from = json_integer_value(json_array_get(run, 0)), end = next ? json_integer_value(json_array_get(next, 0)) : s.n;
            for (int64_t i = from; i < end; ++i) to[b * s.n + i] = number_of(json_array_get(run, 1));
        }
}

double *numbers_of(const json_t *array, shape s, ih_dtype dtype, const double *same_as)
{
    const int64_t total = s.rows * s.n;
    double       *to;

    if (!array || json_is_null(array)) return NULL;
    to = calloc((size_t)total + 1, sizeof *to);
    must(to != NULL, "no memory for an array");
    if (json_is_array(array)) {
        must(json_array_size(array) == (size_t)total, "an array has not the length of its shape");
        for (int64_t i = 0; i < total; ++i) to[i] = number_of(json_array_get(array, (size_t)i));
    } else if (json_object_get(array, "same_as")) {
        must(same_as != NULL, "same_as refers to nothing");
        memcpy(to, same_as, (size_t)total * sizeof *to);
    } else if (json_object_get(array, "runs")) {
        fill_runs(json_object_get(array, "runs"), s, to);
    } else {
        fill_formula(array, s, dtype, to);
    }
    return to;
}

unsigned char *starts_of(const json_t *starts, shape s)
{
    unsigned char *to;

    if (!starts || json_is_null(starts)) return NULL;
    to = calloc((size_t)(s.rows * s.n) + 1, 1);
    must(to != NULL, "no memory for block starts");
    if (json_is_array(starts)) {
        must(json_array_size(starts) == (size_t)s.rows, "block_starts has not one list for each row");
        for (int64_t b = 0; b < s.rows; ++b) {
            const json_t *row = json_array_get(starts, (size_t)b);
            for (size_t k = 0; k < json_array_size(row); ++k) to[b * s.n + json_integer_value(json_array_get(row, k))] = 1;
        }
    } else {
        formula f;
        expr   *where;
        formula_open(&f, NULL);
        where = formula_part(&f, json_object_get(starts, "where"));
        for (int64_t b = 0; b < s.rows; ++b)
            for (int64_t i = 0; i < s.n; ++i) {
                int64_t values[EXPR_NAMES];
                formula_at(&f, s, b, i, values);
                to[b * s.n + i] = expr_eval(where, values) != 0;
            }
        expr_free(where);
        formula_close(&f);
    }
    return to;
}

void *typed_copy(const double *values, int64_t count, ih_dtype dtype)
{
    float *to;

    if (!values) return NULL;
    to = malloc((size_t)count * (dtype == IH_F32 ? 4 : 8) + 1);
    must(to != NULL, "no memory for an array");
    if (dtype == IH_F64) return memcpy(to, values, (size_t)count * 8);
    for (int64_t i = 0; i < count; ++i) to[i] = (float)values[i];
    return to;
}
