/* SPDX-License-Identifier: Apache-2.0
 *
 * An array of numbers in memory: what the readers of .npy, raw and CSV deliver and the writer takes.
 */
#ifndef IH_HARNESS_IO_ARRAY_H
#define IH_HARNESS_IO_ARRAY_H

#include <stdint.h>

#include "io/fault.h"

typedef enum array_type { ARRAY_F32 = IH_F32, ARRAY_F64 = IH_F64, ARRAY_I64 = 2 } array_type;

typedef struct array {
    array_type type;
    int        dimensions; /* 1 or 2                                                       */
    int64_t    shape[2];   /* 1-D: {n, 1}; 2-D: {rows, n}. C order                          */
    int64_t    elements;   /* the product of the shape                                     */
    void      *data;       /* [elements], native byte order, aligned to 64 bytes, owned; never NULL */
} array;

void       array_init(array *a); /* empty; free of an empty array is fine */
void       array_free(array *a);
fault_kind array_alloc(array *a, array_type type, int dimensions, const int64_t shape[2], fault *f);
int64_t    array_type_bytes(array_type type);

/* Make *a, of float32 or float64, an array of `type`. Values are never changed: float64 becomes float32 only if every value is
 * one, otherwise FAULT_DTYPE names the file, row and index, and *a is as before. */
fault_kind array_convert(array *a, array_type type, const char *path, fault *f);

/* Rows and their length: 1-D is one row. */
static inline int64_t array_rows(const array *a) { return a->dimensions == 2 ? a->shape[0] : 1; }
static inline int64_t array_row_length(const array *a) { return a->dimensions == 2 ? a->shape[1] : a->shape[0]; }

/* Read numbers from a file by its ending: .npy; .f32 and .f64 (raw); .raw and .bin (raw of type raw_type); .csv and .txt
 * (the first column; see table.h). Anything else is read as .npy. raw_type is for .raw and .bin only. */
fault_kind array_read(const char *path, array_type raw_type, array *a, fault *f);

#endif
