/* SPDX-License-Identifier: Apache-2.0
 * guarded.c: memory between guard zones. */
#include "guarded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define WITH_ASAN 1
#  endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#  define WITH_ASAN 1
#endif
#if defined(WITH_ASAN)
#  include <sanitizer/asan_interface.h>
#  define LOCK(at, bytes) __asan_poison_memory_region(at, bytes)
#  define UNLOCK(at, bytes) __asan_unpoison_memory_region(at, bytes)
#else
#  define LOCK(at, bytes) ((void)0)
#  define UNLOCK(at, bytes) ((void)0)
#endif

enum { GUARD = 256, PATTERN = 0x5c };

static size_t tail_bytes(const guarded *g) { return g->base_bytes - GUARD - g->bytes; }

void guarded_open(guarded *g, size_t bytes, unsigned char poison)
{
    g->bytes      = bytes;
    g->base_bytes = GUARD + (bytes + GUARD - 1) / GUARD * GUARD + GUARD;
    g->base       = aligned_alloc(GUARD, g->base_bytes);
    if (!g->base) {
        fprintf(stderr, "no memory for %zu bytes\n", g->base_bytes);
        exit(1);
    }
    g->at = g->base + GUARD;
    memset(g->base, PATTERN, GUARD);
    memset(g->at + bytes, PATTERN, tail_bytes(g));
    guarded_fill(g, poison);
    LOCK(g->base, GUARD);
    LOCK(g->at + bytes, tail_bytes(g));
}

void guarded_fill(guarded *g, unsigned char poison)
{
    g->poison = poison;
    memset(g->at, poison, g->bytes);
}

static int all_equal(const unsigned char *at, size_t bytes, unsigned char value)
{
    return bytes == 0 || (at[0] == value && memcmp(at, at + 1, bytes - 1) == 0);
}

int guarded_intact(const guarded *g)
{
    int intact;
    UNLOCK(g->base, g->base_bytes);
    intact = all_equal(g->base, GUARD, PATTERN) && all_equal(g->at + g->bytes, tail_bytes(g), PATTERN);
    LOCK(g->base, GUARD);
    LOCK(g->at + g->bytes, tail_bytes(g));
    return intact;
}

int guarded_untouched(const guarded *g) { return all_equal(g->at, g->bytes, g->poison); }

void guarded_close(guarded *g)
{
    if (g->base) UNLOCK(g->base, g->base_bytes);
    free(g->base);
    memset(g, 0, sizeof *g);
}
