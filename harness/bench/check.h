/* SPDX-License-Identifier: Apache-2.0
 * check.h: are journals what they claim to be: lines by the rules, derived numbers as their samples give them? */
#ifndef IH_BENCH_CHECK_H
#define IH_BENCH_CHECK_H

#include "journal.h"

typedef struct check_result {
    int64_t runs, cells, differences, torn_bytes;
} check_result;

/* Check one file. say_one is called for the first `most` differences, each in words with file and line. Returns a fault if
 * the file cannot be read at all. */
fault_kind check_file(const char *path, int64_t most, void (*say_one)(const char *text), check_result *out, fault *f);

#endif
