/* SPDX-License-Identifier: Apache-2.0
 * problem.c: reading and writing problem strings. */
#include "datasets/problem.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/number.h"

#define IH_SPEC_LIMIT (INT64_C(1) << 53) /* rows, lengths and elements in all stay exact as doubles */

/* ------------------------------------------------------------------ text buffers ---- */

/* Text that is cut at the end of its buffer, while length goes on counting. */
typedef struct text_out {
    char  *text;
    size_t bytes, length;
} text_out;

__attribute__((format(printf, 2, 3))) static void put(text_out *o, const char *format, ...)
{
    const size_t at   = o->length < o->bytes ? o->length : o->bytes;
    const size_t left = o->bytes - at;
    va_list      args;
    int          more;
    va_start(args, format);
    more = vsnprintf(left ? o->text + at : NULL, left, format, args);
    va_end(args);
    if (more > 0) o->length += (size_t)more;
}

/* At most 60 bytes of hostile text, shown in quotes. */
static void put_quoted(text_out *o, const char *text)
{
    size_t k;
    put(o, "\"");
    for (k = 0; text[k] && k < 60; k++) put(o, "%c", (unsigned char)text[k] < 0x20 || text[k] == 0x7f ? '?' : text[k]);
    put(o, text[k] ? "...\"" : "\"");
}

/* Always returns 1, the parser's error. */
__attribute__((format(printf, 3, 4))) static int fail(text_out *o, const char *quoted, const char *format, ...)
{
    char    line[IH_SPEC_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    o->length = 0;
    if (quoted) {
        put_quoted(o, quoted);
        put(o, ": ");
    }
    put(o, "%s", line);
    return 1;
}

/* ------------------------------------------------------------------ paths ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static int decode_path(const char *key, const char *text, char *path, text_out *m)
{
    size_t at = 0;
    for (; *text; text++) {
        char c = *text;
        if (c == '%') {
            const int high = hex_digit(text[1]);
            const int low  = high < 0 ? -1 : hex_digit(text[2]);
            if (low < 0) return fail(m, text, "%s: a %% in a path must be followed by two hexadecimal digits (%%25 is %%)", key);
            c = (char)(high << 4 | low);
            if (!c) return fail(m, text, "%s: a path cannot hold a zero byte", key);
            text += 2;
        }
        if (at + 1 >= IH_SPEC_PATH) return fail(m, NULL, "%s: the path is longer than %d bytes", key, IH_SPEC_PATH - 1);
        path[at++] = c;
    }
    path[at] = 0;
    if (!at) return fail(m, NULL, "%s: the path is empty", key);
    return 0;
}

static void put_path(text_out *o, const char *path)
{
    for (; *path; path++) {
        const unsigned char c = (unsigned char)*path;
        if (c == ':' || c == '%' || c <= 0x20 || c == 0x7f) put(o, "%%%02X", c);
        else put(o, "%c", c);
    }
}

/* ------------------------------------------------------------------ items ---- */

/* Keys that every problem or every file knows, besides the family's parameters; the order of `seen`. */
enum { KEY_TYPE, KEY_N, KEY_ROWS, KEY_SEED, KEY_W, KEY_RAGGED, KEY_DEC, KEY_MIN, KEY_MAX, KEY_WEIGHTS, KEY_OFFSETS, KEY_COUNT };
static const struct { const char *name; int32_t family, file; } keys[KEY_COUNT] = {
    { "f32 or f64", 1, 1 }, { "n", 1, 0 },   { "rows", 1, 0 }, { "seed", 1, 0 },   { "w", 1, 1 },       { "ragged", 1, 0 },
    { "dec", 1, 1 },        { "min", 1, 1 }, { "max", 1, 1 },  { "weights", 0, 1 }, { "offsets", 0, 1 },
};

typedef struct parser {
    ih_spec  *s;
    text_out *m;
    int32_t   seen[KEY_COUNT + IH_MAX_PARAMETERS];
} parser;

static const ih_parameter_info *parameter_at(const ih_spec *s, int32_t k)
{
    const ih_family_info *f = ih_family_at((int32_t)s->family);
    return f && k < IH_MAX_PARAMETERS && f->parameter[k].name ? &f->parameter[k] : NULL;
}

static int unknown_key(const parser *p, const char *key)
{
    char     list[IH_SPEC_MESSAGE / 2];
    text_out o = { list, sizeof list, 0 };
    for (int32_t k = KEY_N; k < KEY_COUNT; k++)
        if (p->s->family == IH_FAMILY_file ? keys[k].file : keys[k].family) put(&o, "%s%s", o.length ? ", " : "", keys[k].name);
    for (int32_t k = 0; parameter_at(p->s, k); k++) put(&o, ", %s", parameter_at(p->s, k)->name);
    return fail(p->m, key, "unknown key of %s; known are f32, f64 and the keys %s", ih_spec_family_name(p->s), list);
}

typedef const ih_name_info *name_at(int32_t);

static int read_name(const char *key, const char *value, name_at *at, int32_t *out, text_out *m)
{
    char     list[IH_SPEC_MESSAGE / 2];
    text_out o = { list, sizeof list, 0 };
    for (int32_t k = 0; at(k); k++) {
        if (!strcmp(value, at(k)->name)) {
            *out = k;
            return 0;
        }
        put(&o, "%s%s", k ? ", " : "", at(k)->name);
    }
    return fail(m, value, "unknown %s; known are %s", key, list);
}

static int read_count(const char *key, const char *value, int64_t most, int64_t *out, text_out *m)
{
    if (!ih_parse_count(value, out)) return fail(m, value, "%s: not a whole number from 0 to %lld", key, (long long)most);
    if (*out > most) return fail(m, value, "%s: at most %lld", key, (long long)most);
    return 0;
}

static int read_parameter(const ih_parameter_info *info, const char *value, double *out, text_out *m)
{
    double  x = 0;
    int64_t k;
    char    least[IH_NUMBER_TEXT], most[IH_NUMBER_TEXT];
    /* whole numbers below 2^53 are read exactly, so that 1e7 and 10000000 are the same parameter */
    const int good = info->whole ? ih_parse_count(value, &k) && k <= IH_SPEC_LIMIT : ih_parse_double(value, &x);
    if (good && info->whole) x = (double)k;
    ih_format_double(info->least, least);
    ih_format_double(info->most, most);
    if (!good || !(x >= info->least && x <= info->most))
        return fail(m, value, "%s: not a %snumber from %s to %s", info->name, info->whole ? "whole " : "", least, most);
    *out = x + 0.0;
    return 0;
}

static int read_bound(const char *key, const char *value, double *out, text_out *m)
{
    if (!ih_parse_double(value, out)) return fail(m, value, "%s: not a number (finite, inf or -inf)", key);
    *out += 0.0;
    return 0;
}

static int read_value(parser *p, int32_t key, const char *value)
{
    ih_spec *s = p->s;
    int32_t  k = 0;
    int64_t  flag;
    int      bad;
    switch (key) {
    case KEY_N: return read_count("n", value, IH_SPEC_LIMIT, &s->n, p->m);
    case KEY_ROWS: return read_count("rows", value, IH_SPEC_LIMIT, &s->rows, p->m);
    case KEY_SEED: return read_count("seed", value, INT64_MAX, &s->seed, p->m);
    case KEY_DEC:
        if ((bad = read_count("dec", value, 1, &flag, p->m)) == 0) s->decreasing = (int32_t)flag;
        return bad;
    case KEY_W:
        bad          = read_name("weighting", value, ih_weighting_at, &k, p->m);
        s->weighting = (ih_weighting)k;
        return bad;
    case KEY_RAGGED:
        bad       = read_name("law of row lengths", value, ih_ragged_at, &k, p->m);
        s->ragged = (ih_ragged)k;
        return bad;
    case KEY_MIN: return read_bound("min", value, &s->min, p->m);
    case KEY_MAX: return read_bound("max", value, &s->max, p->m);
    case KEY_WEIGHTS: return decode_path("weights", value, s->weights, p->m);
    case KEY_OFFSETS: return decode_path("offsets", value, s->offsets, p->m);
    default: return read_parameter(parameter_at(s, key - KEY_COUNT), value, &s->parameter[key - KEY_COUNT], p->m);
    }
}

/* The key's number: below KEY_COUNT, or KEY_COUNT + parameter, or -1. */
static int32_t find_key(const ih_spec *s, const char *name)
{
    for (int32_t k = KEY_N; k < KEY_COUNT; k++)
        if ((s->family == IH_FAMILY_file ? keys[k].file : keys[k].family) && !strcmp(name, keys[k].name)) return k;
    for (int32_t k = 0; parameter_at(s, k); k++)
        if (!strcmp(name, parameter_at(s, k)->name)) return KEY_COUNT + k;
    return -1;
}

static int read_item(parser *p, char *item)
{
    char   *equal = strchr(item, '=');
    int32_t key;
    if (!strcmp(item, "f32") || !strcmp(item, "f64")) {
        if (p->seen[KEY_TYPE]++) return fail(p->m, item, "the type is given twice");
        p->s->dtype       = !strcmp(item, "f64") ? IH_F64 : IH_F32;
        p->s->dtype_given = p->s->family == IH_FAMILY_file;
        return 0;
    }
    if (!equal) return fail(p->m, item, "neither f32, f64 nor key=value");
    *equal = 0;
    key    = find_key(p->s, item);
    if (key < 0) return unknown_key(p, item);
    if (p->seen[key]++) return fail(p->m, item, "the key is given twice");
    return read_value(p, key, equal + 1);
}

/* ------------------------------------------------------------------ whole strings ---- */

static int read_family(ih_spec *s, const char *name, text_out *m)
{
    char     list[IH_SPEC_MESSAGE / 2];
    text_out o = { list, sizeof list, 0 };
    for (int32_t k = 0; k < IH_FAMILY_COUNT; k++) {
        if (!strcmp(name, ih_family_at(k)->name)) {
            s->family = (ih_family)k;
            for (int32_t j = 0; parameter_at(s, j); j++) s->parameter[j] = parameter_at(s, j)->initial;
            return 0;
        }
        put(&o, "%s, ", ih_family_at(k)->name);
    }
    s->family = IH_FAMILY_file;
    return strcmp(name, "file") ? fail(m, name, "unknown family; known are %sfile", list) : 0;
}

static int check_whole(const parser *p)
{
    const ih_spec *s = p->s;
    if (s->min > s->max) return fail(p->m, NULL, "min is greater than max");
    if (s->family == IH_FAMILY_file) {
        if (s->weights[0] && s->weighting != IH_WEIGHTING_unit) return fail(p->m, NULL, "w and weights exclude each other");
        return 0;
    }
    if (!p->seen[KEY_N]) return fail(p->m, NULL, "n is missing: the length of a row, such as n=1000");
    if (s->n && s->rows > IH_SPEC_LIMIT / s->n)
        return fail(p->m, NULL, "rows times n is past %lld elements", (long long)IH_SPEC_LIMIT);
    return 0;
}

int ih_spec_parse(ih_spec *out, const char *text, char *message, size_t message_bytes)
{
    text_out m    = { message, message_bytes, 0 };
    parser   p    = { out, &m, { 0 } };
    char    *copy = strdup(text);
    char    *rest = copy;
    int      bad;

    if (!copy) return fail(&m, NULL, "memory ran out");
    memset(out, 0, sizeof *out);
    out->rows = 1;
    out->min  = -INFINITY;
    out->max  = INFINITY;
    bad = read_family(out, strsep(&rest, ":"), &m);
    if (!bad && out->family == IH_FAMILY_file)
        bad = rest ? decode_path("file", strsep(&rest, ":"), out->path, &m) : fail(&m, NULL, "file: needs a path, as in file:y.npy");
    while (!bad && rest) bad = read_item(&p, strsep(&rest, ":"));
    if (!bad) bad = check_whole(&p);
    free(copy);
    return bad;
}

const char *ih_spec_family_name(const ih_spec *s)
{
    return s->family == IH_FAMILY_file ? "file" : ih_family_at((int32_t)s->family)->name;
}

size_t ih_spec_format(const ih_spec *s, char *text, size_t text_bytes)
{
    text_out  o    = { text, text_bytes, 0 };
    const int file = s->family == IH_FAMILY_file;
    char      number[IH_NUMBER_TEXT];

    put(&o, "%s", ih_spec_family_name(s));
    if (file) {
        put(&o, ":");
        put_path(&o, s->path);
    }
    if (!file || s->dtype_given) put(&o, ":%s", s->dtype == IH_F32 ? "f32" : "f64");
    if (s->weighting != IH_WEIGHTING_unit) put(&o, ":w=%s", ih_weighting_at((int32_t)s->weighting)->name);
    if (file && s->weights[0]) {
        put(&o, ":weights=");
        put_path(&o, s->weights);
    }
    if (file && s->offsets[0]) {
        put(&o, ":offsets=");
        put_path(&o, s->offsets);
    }
    for (int32_t k = 0; parameter_at(s, k); k++) {
        const ih_parameter_info *info = parameter_at(s, k);
        if (s->parameter[k] == info->initial) continue;
        if (info->whole) snprintf(number, sizeof number, "%lld", (long long)s->parameter[k]);
        else ih_format_double(s->parameter[k], number);
        put(&o, ":%s=%s", info->name, number);
    }
    if (!file) {
        if (s->rows != 1) put(&o, ":rows=%lld", (long long)s->rows);
        if (s->ragged != IH_RAGGED_none) put(&o, ":ragged=%s", ih_ragged_at((int32_t)s->ragged)->name);
        put(&o, ":n=%lld", (long long)s->n);
        if (s->seed) put(&o, ":seed=%lld", (long long)s->seed);
    }
    if (s->decreasing) put(&o, ":dec=1");
    if (s->min != -INFINITY) {
        ih_format_double(s->min, number);
        put(&o, ":min=%s", number);
    }
    if (s->max != INFINITY) {
        ih_format_double(s->max, number);
        put(&o, ":max=%s", number);
    }
    return o.length;
}

int ih_spec_equal(const ih_spec *a, const ih_spec *b)
{
    if (a->family != b->family || a->dtype != b->dtype || a->dtype_given != b->dtype_given || a->weighting != b->weighting ||
        a->ragged != b->ragged || a->decreasing != b->decreasing || a->rows != b->rows || a->n != b->n || a->seed != b->seed ||
        a->min != b->min || a->max != b->max)
        return 0;
    for (int32_t k = 0; parameter_at(a, k); k++)
        if (a->parameter[k] != b->parameter[k]) return 0;
    return !strcmp(a->path, b->path) && !strcmp(a->weights, b->weights) && !strcmp(a->offsets, b->offsets);
}
