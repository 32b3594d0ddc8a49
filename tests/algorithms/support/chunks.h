/* SPDX-License-Identifier: Apache-2.0
 * chunks.h: rows cut in chunks as the chunk stage leaves them, in memory of their own, for tests of what comes after. */
#ifndef TESTS_CHUNKS_H
#define TESTS_CHUNKS_H

#include "chunk/chunk_hull.h"
#include "chunk/store.h"
#include "diagram.h"

/* What the hull of a chunk is made of: masks of its lanes (of 32), then of all joined; turns of the lanes, and what the joins cost. */
typedef struct chunk_masks {
    uint32_t      lane[32], mask[32];
    int64_t       turns;
    ih_walk_count walk;
    int32_t       undecided; /* a turn was left open, which only a device does */
} chunk_masks;

/* Of elements begin .. begin + n - 1, n at most 1024. d: for exact turns, or NULL. 0: a value is out of range. */
int32_t chunk_masks_of(chunk_masks *m, const ih_values *v, int64_t begin, int32_t n, diagram *d);

/* A judge that asks the diagram in the end; on a device it leaves turns open instead, which judge_left tells once. */
static inline ih_judge judge_of(diagram *d)
{
    ih_judge j = { 0 };
#if !defined(IH_SIMT)
    j.exact = diagram_exact;
    j.user  = d;
#endif
    (void)d;
    return j;
}

static inline int32_t judge_left(ih_judge *j)
{
    const int32_t left = j->undecided;
    j->undecided       = 0;
    return left;
}

/* Sizes of tests of rows in chunks: a device has chunks of one size, and rows of a few of them. */
#if defined(IH_SIMT)
enum { CHUNKED_ROUNDS = 60, CHUNKED_MOST = 5 * IH_SLOT_CHUNK, CHUNKED_LEAST = 20, CHUNKED_FAR = 3, CHUNK_LEFT_OPEN = 1 };
static inline int32_t chunked_size(rng *r, int64_t most) { return (void)r, (void)most, IH_SLOT_CHUNK; }
#else
enum { CHUNKED_ROUNDS = 500, CHUNKED_MOST = 400, CHUNKED_LEAST = 100, CHUNKED_FAR = 50, CHUNK_LEFT_OPEN = 0 };
static inline int32_t chunked_size(rng *r, int64_t most) { return (int32_t)(1 + rng_below(r, most)); }
#endif

#if !defined(IH_SIMT)
/* Memory of one chunk at work. */
void chunk_open(ih_chunk *c, int32_t n, int32_t kind);
void chunk_close(ih_chunk *c);

/* Sums, rises, lane hulls and joins of elements begin .. begin + n - 1. */
void chunk_build(ih_chunk *c, ih_judge *j, const ih_values *v, int64_t begin, int32_t n, ih_pair *stops, ih_walk_count *count);
#endif

/* A row after chunk stage and scan: the store and a list of one segment for each chunk. */
typedef struct chunked {
    ih_store    store;
    ih_segment *segments; /* [m] */
#if defined(IH_SIMT)
    void       *memory[16];
    int         memories;
    int32_t     given_up; /* the chunk stage left a turn open: nothing else is of use */
#endif
} chunked;

void chunked_open(chunked *c, ih_judge *j, const ih_values *v, int64_t n, int32_t size, int32_t wide);
void chunked_close(chunked *c);

/* Indices of the vertices of a list; returns their number. */
int64_t chunked_vertices(const chunked *c, const ih_segment *list, int64_t count, int64_t *vertices);

#endif
