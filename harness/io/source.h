/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the readers take their bytes from: a file (also a pipe), or memory (tests, fuzzing).
 */
#ifndef IH_HARNESS_IO_SOURCE_H
#define IH_HARNESS_IO_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "io/fault.h"

typedef struct source {
    const char          *name;   /* for messages; borrowed                           */
    int                  fd;     /* or -1: memory                                    */
    const unsigned char *memory;
    unsigned char       *owned;  /* memory to free at the end                        */
    int64_t              size;   /* bytes in all                                     */
    int64_t              at;     /* bytes read so far                                */
} source;

/* Open a file. What has no known size (a pipe) is read into memory at once. On failure nothing is left open. */
fault_kind source_open(source *s, const char *path, fault *f);
void       source_from_memory(source *s, const char *name, const void *bytes, size_t size);
void       source_close(source *s);

/* Read exactly `bytes` bytes, or fail with FAULT_TRUNCATED (the end came first) or FAULT_READ. */
fault_kind source_read(source *s, void *into, int64_t bytes, fault *f);

/* Read all that is left into memory that the source owns; *bytes is writable and followed by a 0. */
fault_kind source_slurp(source *s, char **bytes, int64_t *size, fault *f);

#endif
