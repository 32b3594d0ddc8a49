/* SPDX-License-Identifier: Apache-2.0
 * flush.c: emptying the caches. Each line of a buffer larger than the last-level cache is read and written: plain stores,
 * since memset of glibc may write long ranges past the caches. */
#include "flush.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char *buffer;

int64_t flush_bytes(void)
{
    const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    long       last = l3 > l2 ? l3 : l2;

    if (last <= 0) last = 64l << 20; /* not known: as much as most processors have */
    return last + last / 8;
}

/* Huge pages where the system has them, or misses of the address cache would cost more than those of the caches. */
static unsigned char *make(int64_t bytes)
{
    const size_t   page   = (size_t)2 << 20, rounded = ((size_t)bytes + page - 1) / page * page;
    unsigned char *memory = aligned_alloc(page, rounded);

    if (!memory) return NULL;
    madvise(memory, rounded, MADV_HUGEPAGE);
    memset(memory, 0, rounded);
    return memory;
}

fault_kind flush_caches(fault *f)
{
    const int64_t bytes = flush_bytes();

    if (!buffer) buffer = make(bytes);
    if (!buffer) return fault_set(f, FAULT_MEMORY, "no memory for the %lld bytes that empty the caches (--protocol hot needs none)", (long long)bytes);
    for (int64_t i = 0; i < bytes; i += 64) ((volatile unsigned char *)buffer)[i]++;
    return FAULT_NONE;
}

void flush_free(void)
{
    free(buffer);
    buffer = NULL;
}
