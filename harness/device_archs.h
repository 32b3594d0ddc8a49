/* SPDX-License-Identifier: Apache-2.0
 * device_archs.h: does device code that was built for some architectures run on a GPU? */
#ifndef IH_HARNESS_DEVICE_ARCHS_H
#define IH_HARNESS_DEVICE_ARCHS_H

#include <stdlib.h>

/* archs: numbers in a text, "75 80 90a"; is_ptx: intermediate code, else machine code; major, minor: compute capability. Machine code
 * runs on GPUs of its own major number from its minor number on, PTX on all from its number on; a letter behind a number (features
 * of one architecture only) ties either to exactly that GPU. */
static inline int device_archs_run(const char *archs, int is_ptx, int major, int minor)
{
    for (const char *at = archs; *at;) {
        char     *end;
        const int arch = (int)strtol(at, &end, 10), exact = end != at && *end != 0 && *end != ' ' && *end != ',' && *end != ';';
        if (end == at) {
            ++at;
            continue;
        }
        if (exact ? arch == 10 * major + minor : is_ptx ? 10 * major + minor >= arch : arch / 10 == major && arch % 10 <= minor) return 1;
        at = end;
    }
    return 0;
}

#endif
