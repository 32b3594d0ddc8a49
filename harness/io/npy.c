/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing the data of .npy files.
 *
 * float32 and float64 in this machine's layout are read straight into the array. Everything else goes through a buffer of
 * 1 MiB and is converted element by element, so that no second copy of the file is ever held.
 */
#include "io/npy.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy_header.h"

#define BUFFER_BYTES ((int64_t)1 << 20)

static uint64_t load(const unsigned char *p, int width, bool big_endian)
{
    uint64_t v = 0;
    for (int i = 0; i < width; i++) v |= (uint64_t)p[big_endian ? width - 1 - i : i] << (8 * i);
    return v;
}

static float half_to_float(uint32_t bits)
{
    const uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    uint32_t       single;
    float          value;
    if (exponent == 0) { /* zero or subnormal: fraction times 2^-24, exact */
        value = (float)fraction * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    single = sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13;
    memcpy(&value, &single, sizeof value);
    return value;
}

static int64_t signed_value(uint64_t v, int width)
{
    const int shift = 64 - 8 * width;
    return (int64_t)(v << shift) >> shift;
}

/* Convert one element of the file into element `to` of the array; false if the array's type cannot hold it. */
static bool convert(const npy_header *h, const unsigned char *p, array *a, int64_t to)
{
    const uint64_t v = load(p, h->width, h->big_endian);
    if (a->type == ARRAY_I64) {
        ((int64_t *)a->data)[to] = h->kind == 'i' ? signed_value(v, h->width) : (int64_t)v;
        return h->kind == 'i' || v <= INT64_MAX;
    }
    if (h->kind == 'f') {
        if (h->width == 8) {
            memcpy((double *)a->data + to, &v, 8);
        } else if (h->width == 4) {
            const uint32_t v32 = (uint32_t)v;
            memcpy((float *)a->data + to, &v32, 4);
        } else {
            ((float *)a->data)[to] = half_to_float((uint32_t)v);
        }
        return true;
    }
    if (h->kind == 'b') {
        ((double *)a->data)[to] = v != 0 ? 1 : 0;
        return true;
    }
    /* A double holds every integer up to 2^53, and beyond it those with at most 53 significant bits. */
    const int64_t  s         = h->kind == 'i' ? signed_value(v, h->width) : 0;
    const uint64_t magnitude = h->kind == 'i' ? (s < 0 ? 0 - (uint64_t)s : (uint64_t)s) : v;
    ((double *)a->data)[to]  = h->kind == 'i' ? (double)s : (double)v;
    return magnitude == 0 || magnitude >> __builtin_ctzll(magnitude) < (uint64_t)1 << 53;
}

static fault_kind bad_integer(const source *s, const npy_header *h, const array *a, int64_t k, int64_t to, fault *f)
{
    const int64_t n   = h->dimensions == 2 ? h->shape[1] : h->elements;
    const int64_t row = to / n, index = to % n;
    fault_set(f, FAULT_NUMBER, "%s: row %lld, index %lld (element %lld of the file): the integer does not fit in %s exactly",
              s->name, (long long)row, (long long)index, (long long)k, a->type == ARRAY_I64 ? "int64" : "float64");
    if (f != NULL) {
        f->row   = row;
        f->index = index;
    }
    return FAULT_NUMBER;
}

static fault_kind read_converted(source *s, const npy_header *h, array *a, fault *f)
{
    unsigned char *buffer = malloc((size_t)BUFFER_BYTES);
    if (buffer == NULL) return fault_set(f, FAULT_MEMORY, "%s: memory ran out", s->name);
    const bool by_columns = h->fortran_order && h->dimensions == 2;
    fault_kind kind       = FAULT_NONE;
    int64_t    row = 0, column = 0;
    for (int64_t k = 0; k < h->elements && kind == FAULT_NONE;) {
        int64_t count = BUFFER_BYTES / h->width;
        if (count > h->elements - k) count = h->elements - k;
        kind = source_read(s, buffer, count * h->width, f);
        for (int64_t i = 0; i < count && kind == FAULT_NONE; i++, k++) {
            const int64_t to = by_columns ? row * h->shape[1] + column : k;
            if (!convert(h, buffer + i * h->width, a, to)) kind = bad_integer(s, h, a, k, to, f);
            if (by_columns && ++row == h->shape[0]) {
                row = 0;
                column++;
            }
        }
    }
    free(buffer);
    return kind;
}

static fault_kind read_data(source *s, const npy_header *h, array_type type, array *a, fault *f)
{
    fault_kind kind = array_alloc(a, type, h->dimensions, h->shape, f);
    if (kind != FAULT_NONE) {
        if (f != NULL) {
            const fault inner = *f;
            fault_set(f, kind, "%s: %s", s->name, inner.message);
        }
        return kind;
    }
    const bool native   = h->width == 1 || h->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    const bool in_order = !h->fortran_order || h->dimensions == 1 || h->shape[0] <= 1 || h->shape[1] <= 1;
    const bool same     = type == ARRAY_I64 ? h->kind == 'i' && h->width == 8 : h->kind == 'f' && h->width >= 4;
    if (native && in_order && same)
        kind = source_read(s, a->data, a->elements * h->width, f);
    else
        kind = read_converted(s, h, a, f);
    if (kind != FAULT_NONE) array_free(a);
    return kind;
}

fault_kind npy_read_source(source *s, array *a, fault *f)
{
    npy_header h;
    array_init(a);
    const fault_kind kind = npy_read_header(s, &h, f);
    if (kind != FAULT_NONE) return kind;
    return read_data(s, &h, h.kind == 'f' && h.width <= 4 ? ARRAY_F32 : ARRAY_F64, a, f);
}

fault_kind npy_read_int64_source(source *s, array *a, fault *f)
{
    npy_header h;
    array_init(a);
    const fault_kind kind = npy_read_header(s, &h, f);
    if (kind != FAULT_NONE) return kind;
    if (h.kind != 'i' && h.kind != 'u')
        return fault_set(f, FAULT_DTYPE, "%s: dtype %c%d, where integers are needed", s->name, h.kind, h.width);
    if (h.dimensions != 1) return fault_set(f, FAULT_SHAPE, "%s: two dimensions, where one is needed", s->name);
    return read_data(s, &h, ARRAY_I64, a, f);
}

static fault_kind read_path(const char *path, fault_kind (*read)(source *, array *, fault *), array *a, fault *f)
{
    source s;
    array_init(a);
    fault_kind kind = source_open(&s, path, f);
    if (kind != FAULT_NONE) return kind;
    kind = read(&s, a, f);
    source_close(&s);
    return kind;
}

fault_kind npy_read(const char *path, array *a, fault *f)
{
    return read_path(path, npy_read_source, a, f);
}

fault_kind npy_read_int64(const char *path, array *a, fault *f)
{
    return read_path(path, npy_read_int64_source, a, f);
}

/* ---------------------------------------------------------------- writing ---- */

static bool write_little_endian(FILE *stream, const void *data, int64_t elements, int width)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return fwrite(data, (size_t)width, (size_t)elements, stream) == (size_t)elements;
#else
    for (int64_t i = 0; i < elements; i++) {
        unsigned char bytes[8];
        for (int k = 0; k < width; k++) bytes[k] = ((const unsigned char *)data)[i * width + width - 1 - k];
        if (fwrite(bytes, (size_t)width, 1, stream) != 1) return false;
    }
    return true;
#endif
}

fault_kind npy_write(FILE *stream, const char *name, array_type type, int dimensions, const int64_t shape[2],
                     const void *data, fault *f)
{
    static const char *const descr[] = {[ARRAY_F32] = "<f4", [ARRAY_F64] = "<f8", [ARRAY_I64] = "<i8"};
    char          dict[128];
    const int64_t elements = dimensions == 2 ? shape[0] * shape[1] : shape[0];
    int n = snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (%lld,", descr[type],
                     (long long)shape[0]);
    if (dimensions == 2) n += snprintf(dict + n, sizeof dict - (size_t)n, " %lld", (long long)shape[1]);
    n += snprintf(dict + n, sizeof dict - (size_t)n, "), }");
    /* Blanks and a newline, so that the data begin at a multiple of 64, as NumPy writes them. */
    const int padded = (10 + n + 1 + 63) / 64 * 64 - 10;
    const unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255),
                                    (unsigned char)(padded >> 8)};
    bool good = fwrite(head, 1, sizeof head, stream) == sizeof head;
    good      = good && fprintf(stream, "%s%*s\n", dict, padded - n - 1, "") == padded;
    good      = good && (elements == 0 || write_little_endian(stream, data, elements, (int)array_type_bytes(type)));
    return good ? FAULT_NONE : fault_set(f, FAULT_WRITE, "%s: writing failed", name);
}
