/* SPDX-License-Identifier: Apache-2.0
 * names.c: names in a hash table (open addressing, at most half full). */
#include "names.h"

#include <stdlib.h>
#include <string.h>

void names_init(names *s)
{
    *s = (names){0};
}

void names_free(names *s)
{
    for (int64_t i = 0; i < s->n; i++) free(s->text[i]);
    free(s->text);
    free(s->slots);
    names_init(s);
}

static uint64_t hash(const char *text, size_t bytes) /* FNV-1a */
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

/* The slot of a name: the one that holds it, or the free one where it belongs. */
static int64_t find_slot(const names *s, const char *text, size_t bytes)
{
    const uint64_t mask = (uint64_t)s->n_slots - 1;
    uint64_t       at   = hash(text, bytes) & mask;
    while (s->slots[at] >= 0) {
        const char *other = s->text[s->slots[at]];
        if (strncmp(other, text, bytes) == 0 && other[bytes] == 0) break;
        at = (at + 1) & mask;
    }
    return (int64_t)at;
}

static int grow(names *s)
{
    const int64_t n_slots = s->n_slots > 0 ? 2 * s->n_slots : 64, room = n_slots / 2;
    int64_t      *slots   = malloc((size_t)n_slots * sizeof *slots);
    char        **text    = realloc(s->text, (size_t)room * sizeof *text);
    if (text != NULL) s->text = text;
    if (slots == NULL || text == NULL) {
        free(slots);
        return 0;
    }
    free(s->slots);
    s->slots   = slots;
    s->n_slots = n_slots;
    s->room    = room;
    for (int64_t i = 0; i < n_slots; i++) slots[i] = -1;
    for (int64_t i = 0; i < s->n; i++) slots[find_slot(s, s->text[i], strlen(s->text[i]))] = i;
    return 1;
}

int64_t names_find(const names *s, const char *text, size_t bytes)
{
    return s->n == 0 ? -1 : s->slots[find_slot(s, text, bytes)];
}

int64_t names_add(names *s, const char *text, size_t bytes)
{
    const int64_t known = names_find(s, text, bytes);
    if (known >= 0) return known;
    if (s->n == s->room && !grow(s)) return -1;
    char *copy = strndup(text, bytes);
    if (copy == NULL) return -1;
    s->slots[find_slot(s, text, bytes)] = s->n;
    s->text[s->n]                       = copy;
    return s->n++;
}

typedef struct entry {
    const char *text;
    int64_t     number;
} entry;

static int compare_text(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->text, ((const entry *)b)->text);
}

int names_rank(const names *s, int64_t *rank)
{
    if (s->n == 0) return 1;
    entry *entries = malloc((size_t)s->n * sizeof *entries);
    if (entries == NULL) return 0;
    for (int64_t i = 0; i < s->n; i++) entries[i] = (entry){s->text[i], i};
    qsort(entries, (size_t)s->n, sizeof *entries, compare_text);
    for (int64_t i = 0; i < s->n; i++) rank[entries[i].number] = i;
    free(entries);
    return 1;
}
