/* SPDX-License-Identifier: Apache-2.0
 * names.h: a set of names, numbered in the order in which they were added (groups of curves). */
#ifndef IH_HARNESS_NAMES_H
#define IH_HARNESS_NAMES_H

#include <stddef.h>
#include <stdint.h>

typedef struct names {
    char   **text;  /* [n], each 0-terminated and owned                            */
    int64_t  n, room;
    int64_t *slots; /* [n_slots] open addressing: number of a name, or -1           */
    int64_t  n_slots;
} names;

void    names_init(names *s);
void    names_free(names *s);

/* The number of a name, which is added if it is new; -1 if memory ran out. text need not end with 0 but holds none. */
int64_t names_add(names *s, const char *text, size_t bytes);

/* The number of a name, or -1. */
int64_t names_find(const names *s, const char *text, size_t bytes);

/* Order by the bytes of the names: rank[k] is the place of name k. 0 if memory ran out, else 1. */
int     names_rank(const names *s, int64_t *rank);

#endif
