/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of arrays, and the choice of a reader by a file's ending.
 */
#include "io/array.h"

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
