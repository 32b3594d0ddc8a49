/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's .npy files. Read: versions 1 to 3, one or two dimensions, C and Fortran order, both byte orders. float32 and
 * float64 stay what they are; float16 becomes float32; integers and booleans become float64, exactly or not at all.
 * Written: version 1.0, little-endian, C order.
 */
#ifndef IH_HARNESS_IO_NPY_H
#define IH_HARNESS_IO_NPY_H

#include <stdio.h>

#include "io/array.h"
#include "io/source.h"

/* Read the whole file into *a (initialised here). Faults name the file and the byte, or row and index of a value. */
fault_kind npy_read(const char *path, array *a, fault *f);
fault_kind npy_read_source(source *s, array *a, fault *f);

/* Row offsets: integers of any type, 1-D, as int64. */
fault_kind npy_read_int64(const char *path, array *a, fault *f);
fault_kind npy_read_int64_source(source *s, array *a, fault *f);

/* Write header and data to a stream opened for binary writing; errors of the stream are found at commit. */
fault_kind npy_write(FILE *stream, const char *name, array_type type, int dimensions, const int64_t shape[2],
                     const void *data, fault *f);

#endif
