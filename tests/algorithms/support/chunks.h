/* SPDX-License-Identifier: Apache-2.0
 * chunks.h: rows cut in chunks as the chunk stage leaves them, in memory of their own, for tests of what comes after. */
#ifndef TESTS_CHUNKS_H
#define TESTS_CHUNKS_H

#include "chunk/chunk_hull.h"
#include "chunk/store.h"
#include "diagram.h"

/* Memory of one chunk at work. */
void chunk_open(ih_chunk *c, int32_t n, int32_t kind);
void chunk_close(ih_chunk *c);

/* Sums, rises, lane hulls and joins of elements begin .. begin + n - 1. */
void chunk_build(ih_chunk *c, ih_judge *j, const ih_values *v, int64_t begin, int32_t n, ih_pair *stops, ih_walk_count *count);

/* A row after chunk stage and scan: the store and a list of one segment for each chunk. */
typedef struct chunked {
    ih_store    store;
    ih_segment *segments; /* [m] */
} chunked;

void chunked_open(chunked *c, ih_judge *j, const ih_values *v, int64_t n, int32_t size, int32_t wide);
void chunked_close(chunked *c);

/* Indices of the vertices of a list; returns their number. */
int64_t chunked_vertices(const chunked *c, const ih_segment *list, int64_t count, int64_t *vertices);

#endif
