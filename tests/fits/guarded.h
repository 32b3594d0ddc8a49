/* SPDX-License-Identifier: Apache-2.0
 * guarded.h: memory of an exact size between guard zones, filled with poison, so that a test sees what was written and
 * what was overrun. Under AddressSanitizer the guard zones are poisoned too, and reads past the end are seen. */
#ifndef TESTS_GUARDED_H
#define TESTS_GUARDED_H

#include <stddef.h>

typedef struct guarded {
    unsigned char *at;     /* the memory, aligned to 256; never NULL once opened */
    size_t         bytes;
    unsigned char *base;   /* guard, memory, guard */
    size_t         base_bytes;
    unsigned char  poison; /* what the memory was filled with */
} guarded;

void guarded_open(guarded *g, size_t bytes, unsigned char poison); /* ends the program if memory runs out */
void guarded_fill(guarded *g, unsigned char poison);
int  guarded_intact(const guarded *g);    /* nothing was written outside */
int  guarded_untouched(const guarded *g); /* nor inside                  */
void guarded_close(guarded *g);           /* takes a zeroed one          */

#endif
