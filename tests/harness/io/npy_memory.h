/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of .npy share: reading from memory, and the types that are read.
 */
#ifndef IH_TESTS_NPY_MEMORY_H
#define IH_TESTS_NPY_MEMORY_H

#include "io/npy.h"
#include "support.h"

static inline fault_kind read_bytes(const unsigned char *bytes, size_t n, array *a, fault *f)
{
    source s;
    source_from_memory(&s, "test.npy", bytes, n);
    return npy_read_source(&s, a, f);
}

static inline double value_at(const array *a, int64_t i)
{
    return a->type == ARRAY_F32 ? (double)((const float *)a->data)[i] : ((const double *)a->data)[i];
}

static const struct { char kind; int width; } types[] = {
    {'f', 2}, {'f', 4}, {'f', 8}, {'i', 1}, {'i', 2}, {'i', 4}, {'i', 8}, {'u', 1}, {'u', 2}, {'u', 4}, {'u', 8}, {'b', 1},
};
enum { TYPES = sizeof types / sizeof types[0] };

#endif
