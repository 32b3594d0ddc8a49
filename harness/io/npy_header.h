/* SPDX-License-Identifier: Apache-2.0
 *
 * The head of a .npy file: magic, version, and a Python dict with the keys descr, fortran_order and shape.
 *
 *   | \x93NUMPY | major minor | length, 2 or 4 bytes | {'descr': '<f4', 'fortran_order': False, 'shape': (3,), } ... \n | data
 */
#ifndef IH_HARNESS_IO_NPY_HEADER_H
#define IH_HARNESS_IO_NPY_HEADER_H

#include <stdbool.h>

#include "io/source.h"

typedef struct npy_header {
    char    kind;          /* 'f', 'i', 'u' or 'b'          */
    int     width;         /* bytes of an element           */
    bool    big_endian;
    bool    fortran_order; /* of two dimensions: by columns */
    int     dimensions;    /* 1 or 2                        */
    int64_t shape[2];
    int64_t elements;
} npy_header;

/* Read the head; the source then stands at the first byte of data, and what is left is exactly the data. */
fault_kind npy_read_header(source *s, npy_header *header, fault *f);

#endif
