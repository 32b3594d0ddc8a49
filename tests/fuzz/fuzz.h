/* SPDX-License-Identifier: Apache-2.0
 *
 * What the fuzz targets share: a check that also stands in release builds, and files in memory.
 */
#ifndef IH_TESTS_FUZZ_H
#define IH_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* libFuzzer reports an abort as a finding. */
#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "%s:%d: Assertion %s fails\n", __FILE__, __LINE__, #condition); \
            abort();                                                                    \
        }                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A file that is only in memory; its name is written to path. Close the descriptor to remove it. */
static inline int memory_file(const uint8_t *bytes, size_t n, char path[32])
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(n == 0 || write(fd, bytes, n) == (ssize_t)n);
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
