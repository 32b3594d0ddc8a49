/* SPDX-License-Identifier: Apache-2.0
 * flush.h: emptying the caches of the CPU before a cold sample. */
#ifndef IH_BENCH_FLUSH_H
#define IH_BENCH_FLUSH_H

#include "io/fault.h"

#include <stdint.h>

int64_t    flush_bytes(void);      /* how much is written: twice what the last-level cache holds, whose replacement is not that of the oldest */
fault_kind flush_caches(fault *f); /* the buffer is made by the first call and kept             */
void       flush_free(void);

#endif
