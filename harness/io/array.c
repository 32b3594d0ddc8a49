/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of arrays, and the choice of a reader by a file's ending.
 */
#include "io/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/npy.h"
#include "io/raw.h"
#include "io/table.h"

void array_init(array *a)
{
    *a = (array){.type = ARRAY_F64, .dimensions = 1, .shape = {0, 1}};
}

void array_free(array *a)
{
    free(a->data);
    array_init(a);
}

int64_t array_type_bytes(array_type type)
{
    return type == ARRAY_F32 ? 4 : 8;
}

fault_kind array_alloc(array *a, array_type type, int dimensions, const int64_t shape[2], fault *f)
{
    array_init(a);
    int64_t elements = shape[0], bytes = 0;
    if (dimensions == 2 && __builtin_mul_overflow(elements, shape[1], &elements))
        return fault_set(f, FAULT_SHAPE, "the product of the shape overflows");
    /* Room for the last cache line, and never a request for 0 bytes. */
    if (__builtin_mul_overflow(elements, array_type_bytes(type), &bytes) || bytes > INT64_MAX - 64)
        return fault_set(f, FAULT_SHAPE, "the size in bytes overflows");
    a->data = aligned_alloc(64, ((size_t)bytes + 64) / 64 * 64);
    if (a->data == NULL) return fault_set(f, FAULT_MEMORY, "memory ran out (%lld bytes)", (long long)bytes);
    a->type       = type;
    a->dimensions = dimensions;
    a->shape[0]   = shape[0];
    a->shape[1]   = dimensions == 2 ? shape[1] : 1;
    a->elements   = elements;
    return FAULT_NONE;
}

fault_kind array_convert(array *a, array_type type, const char *path, fault *f)
{
    array      b;
    fault_kind kind;

    if (a->type == type) return FAULT_NONE;
    array_init(&b);
    kind = array_alloc(&b, type, a->dimensions, a->shape, f);
    for (int64_t i = 0; !kind && i < a->elements; ++i) {
        if (type == ARRAY_F64) {
            ((double *)b.data)[i] = ((const float *)a->data)[i];
            continue;
        }
        const double v = ((const double *)a->data)[i];
        ((float *)b.data)[i] = (float)v;
        if ((double)(float)v != v && !isnan(v)) {
            const int64_t length = array_row_length(a);
            kind = fault_set(f, FAULT_DTYPE, "%s: %.17g at row %lld, index %lld is not a float32: make both float64, or round it yourself",
                             path, v, (long long)(i / length), (long long)(i % length));
        }
    }
    array_free(kind ? &b : a);
    if (!kind) *a = b;
    return kind;
}

static bool ends_with(const char *path, const char *ending)
{
    size_t a = strlen(path), b = strlen(ending);
    return a > b && strcasecmp(path + a - b, ending) == 0;
}

fault_kind array_read(const char *path, array_type raw_type, array *a, fault *f)
{
    static const char *const first_column[] = {"column 1"};
    if (ends_with(path, ".f32")) return raw_read(path, ARRAY_F32, a, f);
    if (ends_with(path, ".f64")) return raw_read(path, ARRAY_F64, a, f);
    if (ends_with(path, ".raw") || ends_with(path, ".bin")) return raw_read(path, raw_type, a, f);
    if (ends_with(path, ".csv") || ends_with(path, ".txt"))
        return table_read_columns(path, TABLE_HEADER_AUTO, 1, first_column, ARRAY_F64, a, f);
    return npy_read(path, a, f);
}
