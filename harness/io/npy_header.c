/* SPDX-License-Identifier: Apache-2.0
 *
 * A parser for the one kind of Python dict that stands at the head of a .npy file. It reads literals only and never more
 * than the header's length; everything else is a fault that names the byte.
 */
#include "io/npy_header.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES_MAX ((uint32_t)1 << 20) /* NumPy's own headers have 118 bytes; a shape and padding never need this */

typedef struct cursor {
    const char *name;  /* of the file         */
    const char *text;  /* 0-terminated        */
    size_t      at, bytes;
    int64_t     first; /* byte of the file at which text begins */
} cursor;

static fault_kind bad(const cursor *c, fault_kind kind, const char *what, fault *f)
{
    return fault_set(f, kind, "%s: byte %lld: %s", c->name, (long long)(c->first + (int64_t)c->at), what);
}

static void skip_blanks(cursor *c)
{
    while (c->at < c->bytes && strchr(" \t\r\n\f\v", c->text[c->at]) != NULL && c->text[c->at] != 0) c->at++;
}

/* Take one character, blanks before it skipped. */
static bool take(cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->at >= c->bytes || c->text[c->at] != wanted) return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    const size_t n = strlen(word);
    skip_blanks(c);
    if (c->bytes - c->at < n || memcmp(c->text + c->at, word, n) != 0) return false;
    c->at += n;
    return true;
}

/* A string in either kind of quotes, without escapes, into a buffer. */
static bool take_string(cursor *c, char *into, size_t room)
{
    skip_blanks(c);
    if (c->at >= c->bytes || (c->text[c->at] != '\'' && c->text[c->at] != '"')) return false;
    const char quote = c->text[c->at];
    size_t     end   = c->at + 1;
    while (end < c->bytes && c->text[end] != quote && c->text[end] != '\\') end++;
    const size_t n = end - c->at - 1;
    if (end >= c->bytes || c->text[end] != quote || n >= room || memchr(c->text + c->at + 1, 0, n) != NULL) return false;
    memcpy(into, c->text + c->at + 1, n);
    into[n] = 0;
    c->at   = end + 1;
    return true;
}

static fault_kind parse_descr(cursor *c, npy_header *h, fault *f)
{
    char text[24];
    skip_blanks(c);
    if (c->at < c->bytes && c->text[c->at] == '[') return bad(c, FAULT_DTYPE, "records of several fields are not read", f);
    if (!take_string(c, text, sizeof text)) return bad(c, FAULT_FORMAT, "descr is no short string", f);
    char      *end   = NULL;
    const bool order = text[0] != 0 && strchr("<>|=", text[0]) != NULL;
    const long width = order && text[1] != 0 && text[2] >= '1' && text[2] <= '9' ? strtol(text + 2, &end, 10) : 0;
    const char kind  = order ? text[1] : 0;
    const bool known = end != NULL && *end == 0 &&
        ((kind == 'f' && (width == 2 || width == 4 || width == 8)) ||
         ((kind == 'i' || kind == 'u') && (width == 1 || width == 2 || width == 4 || width == 8)) ||
         (kind == 'b' && width == 1)) &&
        (text[0] != '|' || width == 1);
    if (!known)
        return fault_set(f, FAULT_DTYPE, "%s: dtype '%s' is not read (f2, f4, f8, i1 to i8, u1 to u8 and b1 are)", c->name,
                         text);
    h->kind       = kind;
    h->width      = (int)width;
    h->big_endian = text[0] == '>' || (text[0] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return FAULT_NONE;
}

/* ( [length [, length]... [,]] ): a tuple of one needs its comma, as in Python. */
static fault_kind parse_shape(cursor *c, npy_header *h, fault *f)
{
    if (!take(c, '(')) return bad(c, FAULT_FORMAT, "shape is no tuple", f);
    int  n     = 0;
    bool comma = false;
    for (;;) {
        if (take(c, ')')) break;
        if (n > 0 && !comma) return bad(c, FAULT_FORMAT, "shape: a comma is missing", f);
        skip_blanks(c);
        if (c->at < c->bytes && c->text[c->at] == '-') return bad(c, FAULT_SHAPE, "shape: a length is negative", f);
        const size_t begin  = c->at;
        int64_t      length = 0;
        while (c->at < c->bytes && c->text[c->at] >= '0' && c->text[c->at] <= '9') {
            if (__builtin_mul_overflow(length, 10, &length) || __builtin_add_overflow(length, c->text[c->at] - '0', &length))
                return bad(c, FAULT_SHAPE, "shape: a length has more than 63 bits", f);
            c->at++;
        }
        if (c->at == begin) return bad(c, FAULT_FORMAT, "shape: no length", f);
        if (c->at < c->bytes && c->text[c->at] == 'L') c->at++; /* written by Python 2 */
        if (n < 2) h->shape[n] = length;
        n++;
        comma = take(c, ',');
    }
    if (n == 1 && !comma) return bad(c, FAULT_FORMAT, "shape is no tuple", f);
    if (n < 1 || n > 2)
        return fault_set(f, FAULT_SHAPE, "%s: an array of %d dimensions; one or two are needed", c->name, n);
    h->dimensions = n;
    if (n == 1) h->shape[1] = 1;
    int64_t bytes;
    if (__builtin_mul_overflow(h->shape[0], h->shape[1], &h->elements) ||
        __builtin_mul_overflow(h->elements, (int64_t)8, &bytes))
        return fault_set(f, FAULT_SHAPE, "%s: the size of shape (%lld, %lld) overflows", c->name, (long long)h->shape[0],
                         (long long)h->shape[1]);
    return FAULT_NONE;
}

static fault_kind parse_dict(cursor *c, npy_header *h, fault *f)
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    int seen = 0;
    if (!take(c, '{')) return bad(c, FAULT_FORMAT, "the header is no dict", f);
    while (!take(c, '}')) {
        char       key[24];
        fault_kind kind = FAULT_NONE;
        if (!take_string(c, key, sizeof key)) return bad(c, FAULT_FORMAT, "no key", f);
        const int k = strcmp(key, "descr") == 0 ? DESCR : strcmp(key, "fortran_order") == 0 ? ORDER
                      : strcmp(key, "shape") == 0                                            ? SHAPE
                                                                                             : 0;
        if (k == 0 || (seen & k) != 0) return bad(c, FAULT_FORMAT, "an unknown key, or one twice", f);
        seen |= k;
        if (!take(c, ':')) return bad(c, FAULT_FORMAT, "no colon behind a key", f);
        if (k == DESCR) {
            kind = parse_descr(c, h, f);
        } else if (k == SHAPE) {
            kind = parse_shape(c, h, f);
        } else {
            h->fortran_order = take_word(c, "True");
            if (!h->fortran_order && !take_word(c, "False"))
                kind = bad(c, FAULT_FORMAT, "fortran_order is neither True nor False", f);
        }
        if (kind != FAULT_NONE) return kind;
        if (!take(c, ',')) {
            if (take(c, '}')) break;
            return bad(c, FAULT_FORMAT, "neither a comma nor the end of the dict", f);
        }
    }
    skip_blanks(c);
    if (c->at != c->bytes) return bad(c, FAULT_FORMAT, "text behind the dict", f);
    if (seen != (DESCR | ORDER | SHAPE))
        return fault_set(f, FAULT_FORMAT, "%s: the header lacks '%s'", c->name,
                         (seen & DESCR) == 0   ? "descr"
                         : (seen & ORDER) == 0 ? "fortran_order"
                                               : "shape");
    return FAULT_NONE;
}

/* Compare what the header promises with what is there. */
static fault_kind check_size(const source *s, const npy_header *h, fault *f)
{
    const int64_t have = s->size - s->at, want = h->elements * h->width;
    if (have < want)
        return fault_set(f, FAULT_TRUNCATED, "%s: %lld bytes of data, where the header says %lld", s->name, (long long)have,
                         (long long)want);
    if (have > want)
        return fault_set(f, FAULT_FORMAT, "%s: %lld bytes behind the array", s->name, (long long)(have - want));
    return FAULT_NONE;
}

fault_kind npy_read_header(source *s, npy_header *h, fault *f)
{
    unsigned char head[12];
    fault_kind    kind = source_read(s, head, 8, f);
    if (kind == FAULT_TRUNCATED) return fault_set(f, kind, "%s: too short for a .npy file", s->name);
    if (kind != FAULT_NONE) return kind;
    if (memcmp(head, "\x93NUMPY", 6) != 0)
        return fault_set(f, FAULT_FORMAT, "%s: not a .npy file (it does not begin with \\x93NUMPY)", s->name);
    if (head[6] < 1 || head[6] > 3)
        return fault_set(f, FAULT_FORMAT, "%s: .npy version %d.%d is not known", s->name, head[6], head[7]);
    const int length_bytes = head[6] == 1 ? 2 : 4;
    uint32_t  length       = 0;
    kind                   = source_read(s, head + 8, length_bytes, f);
    if (kind != FAULT_NONE) return kind;
    for (int i = 0; i < length_bytes; i++) length |= (uint32_t)head[8 + i] << (8 * i);
    if (length > HEADER_BYTES_MAX || (int64_t)length > s->size - s->at)
        return fault_set(f, length > HEADER_BYTES_MAX ? FAULT_FORMAT : FAULT_TRUNCATED,
                         "%s: a header of %lu bytes, where %lld are left", s->name, (unsigned long)length,
                         (long long)(s->size - s->at));
    char *text = malloc((size_t)length + 1);
    if (text == NULL) return fault_set(f, FAULT_MEMORY, "%s: memory ran out", s->name);
    cursor c = {.name = s->name, .text = text, .bytes = length, .first = s->at};
    kind     = source_read(s, text, length, f);
    text[length] = 0;
    *h           = (npy_header){0};
    if (kind == FAULT_NONE) kind = parse_dict(&c, h, f);
    free(text);
    return kind != FAULT_NONE ? kind : check_size(s, h, f);
}
