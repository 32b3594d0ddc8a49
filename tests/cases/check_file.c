/* SPDX-License-Identifier: Apache-2.0
 * check_file.c: cases whose input is a file, by the readers of the command, and z as text. */
#include "cases.h"
#include "io/npy.h"
#include "io/number.h"
#include "io/table.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *from_base64(const char *text, size_t *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char    *to       = malloc(strlen(text) + 1);
    uint32_t          word     = 0;
    int               bits     = 0;

    *bytes = 0;
    for (; *text && *text != '='; ++text) {
        const char *digit = strchr(digits, *text);
        if (!digit) continue;
        word = word << 6 | (uint32_t)(digit - digits);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        to[(*bytes)++] = (unsigned char)(word >> bits);
    }
    return to;
}

static const struct { const char *word; fault_kind kind; } words[] = {
    { "truncated-file", FAULT_TRUNCATED },    { "bad-shape", FAULT_SHAPE },   { "unsupported-dtype", FAULT_DTYPE },
    { "unsupported-order", FAULT_FORMAT },    { "bad-number", FAULT_NUMBER }, { "missing-column", FAULT_COLUMN },
};

static int is_fault(const json_t *word, fault_kind kind)
{
    for (size_t k = 0; word && k < sizeof words / sizeof words[0]; ++k)
        if (words[k].kind == kind && strcmp(words[k].word, json_string_value(word)) == 0) return 1;
    return 0;
}

/* Read y, and w if the file has it. */
static fault_kind read_arrays(const test_case *c, const unsigned char *bytes, size_t size, array arrays[2], fault *f)
{
    const json_t *file    = case_field(c, "file"), *columns = json_object_get(file, "columns");
    const char   *names[2] = { NULL, NULL };
    const int     count    = (int)json_array_size(columns);
    source        s;
    fault_kind    kind;

    source_from_memory(&s, "case", bytes, size);
    for (int k = 0; k < count; ++k) names[k] = json_string_value(json_array_get(columns, (size_t)k));
    if (strcmp(json_string_value(json_object_get(file, "format")), "npy") == 0) kind = npy_read_source(&s, &arrays[0], f);
    else kind = table_read_columns_source(&s, TABLE_HEADER_NONE, count, names, c->dtype == IH_F32 ? ARRAY_F32 : ARRAY_F64, arrays, f);
    source_close(&s);
    return kind;
}

static double *doubles_of(const array *a)
{
    double *to = malloc((size_t)a->elements * sizeof *to + 1);
    for (int64_t i = 0; i < a->elements; ++i) to[i] = a->type == ARRAY_F32 ? (double)((float *)a->data)[i] : ((double *)a->data)[i];
    return to;
}

static void compare(report *r, const char *name, const json_t *expected, shape s, ih_dtype dtype, const double *got)
{
    double *values = numbers_of(expected, s, dtype, NULL);
    for (int64_t i = 0; values && i < s.rows * s.n; ++i)
        if (got[i] != values[i]) case_fail(r, "%s[%" PRId64 "] was read as %a instead of %a", name, i, got[i], values[i]);
    free(values);
}

/* Take over what was read, and compare it with `parse`. */
static int take_arrays(report *r, test_case *c, const array arrays[2])
{
    const json_t *parse  = case_expected(c, "parse"), *parsed_shape = json_object_get(parse, "shape");
    const int     with_w = !json_is_null(json_object_get(parse, "w"));

    if (!parse) {
        case_fail(r, "the file was read, but must be refused");
        return 0;
    }
    if (array_rows(&arrays[0]) != json_integer_value(json_array_get(parsed_shape, 0)) ||
        array_row_length(&arrays[0]) != json_integer_value(json_array_get(parsed_shape, 1)) ||
        (int)arrays[0].type != (int)c->dtype || (with_w && arrays[1].elements != arrays[0].elements)) {
        case_fail(r, "the file was read with another shape or type");
        return 0;
    }
    c->shape = (shape){ array_rows(&arrays[0]), array_row_length(&arrays[0]) };
    c->y     = doubles_of(&arrays[0]);
    c->w     = with_w ? doubles_of(&arrays[1]) : NULL;
    compare(r, "y", json_object_get(parse, "y"), c->shape, c->dtype, c->y);
    if (with_w) compare(r, "w", json_object_get(parse, "w"), c->shape, c->dtype, c->w);
    case_set_problem(c);
    return 1;
}

int check_file(report *r, test_case *c)
{
    const json_t *file = case_field(c, "file"), *locale = json_object_get(file, "locale");
    array         arrays[2];
    fault         f;
    fault_kind    kind;
    size_t        size;
    int           good  = 0;
    unsigned char *bytes = from_base64(json_string_value(json_object_get(file, "base64")), &size);

    array_init(&arrays[0]);
    array_init(&arrays[1]);
    if (locale && !setlocale(LC_ALL, json_string_value(locale))) {
        case_skip(r, "this machine has no locale %s", json_string_value(locale));
        free(bytes);
        return 0;
    }
    kind = read_arrays(c, bytes, size, arrays, &f);
    setlocale(LC_ALL, "C");
    if (kind == FAULT_NONE) {
        good = take_arrays(r, c, arrays);
    } else if (!is_fault(case_expected(c, "error"), kind) && !is_fault(case_expected(c, "or_error"), kind)) {
        case_fail(r, "the file was refused: %s", f.message);
    } else if (case_expected(c, "error_line") && json_integer_value(case_expected(c, "error_line")) != f.line) {
        case_fail(r, "the fault was reported in line %" PRId64, f.line);
    }
    array_free(&arrays[0]);
    array_free(&arrays[1]);
    free(bytes);
    return good;
}

void check_text(report *r, const test_case *c, const fit_result *fit)
{
    for (int64_t i = 0; i < c->shape.rows * c->shape.n; ++i) {
        const double z = problem_value(&c->problem, fit->z.at, i);
        double       back;
        char         text[NUMBER_TEXT_BYTES];
        const size_t length = number_format(z, c->dtype, text);
        if (number_parse(text, length, c->dtype, &back) == NUMBER_GOOD && memcmp(&back, &z, sizeof z) == 0) continue;
        case_fail(r, "z[%" PRId64 "] = %a is printed as '%s', which does not read back the same", i, z, text);
        return;
    }
}
