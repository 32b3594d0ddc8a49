/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw files: little-endian numbers and nothing else, one row.
 */
#ifndef IH_HARNESS_IO_RAW_H
#define IH_HARNESS_IO_RAW_H

#include "io/array.h"
#include "io/source.h"

fault_kind raw_read(const char *path, array_type type, array *a, fault *f);
fault_kind raw_read_source(source *s, array_type type, array *a, fault *f);

#endif
