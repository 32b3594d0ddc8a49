/* SPDX-License-Identifier: Apache-2.0
 * flush.c: emptying the caches. Each line of a buffer larger than the last-level cache is read and written: plain stores,
 * since memset of glibc may write long ranges past the caches. */
#include "flush.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char *buffer;

/* The largest cache that the first processor uses, as the kernel says: sysconf may add up those of a whole socket. */
static int64_t largest_cache(void)
{
    int64_t largest = 0;

    for (int k = 0; k < 8; ++k) {
        char      path[96], unit = 0;
        long long size = 0;
        FILE     *file;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", k);
        file = fopen(path, "re");
        if (!file) continue;
        if (fscanf(file, "%lld%c", &size, &unit) < 1) size = 0;
        fclose(file);
        size *= unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
        if (size > largest) largest = size;
    }
    return largest;
}

int64_t flush_bytes(void)
{
    int64_t last = largest_cache();

    if (last <= 0) last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (last <= 0) last = 64 << 20; /* not known: as much as most processors have */
    return 2 * last; /* X */
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
