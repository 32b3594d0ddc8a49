/* SPDX-License-Identifier: Apache-2.0
 * hulls.h: what the stages of cpu_hulls share: the rows that have a tree, the workspace, and the workers. */
#ifndef IH_CPU_HULLS_H
#define IH_CPU_HULLS_H

#include "../chunk/chunk_hull.h"
#include "../chunk/store.h"
#include "../common/mean.h"
#include "../common/row.h"
#include "../row/merge.h"
#include "../row/root.h"

/* A row of more than one chunk. Chunks are numbered over all such rows. */
typedef struct hulls_row {
    int64_t row, n;           /* in the batch; elements                                                          */
    int64_t chunk0, chunks;   /* number of its first chunk; m                                                    */
    int64_t entries;          /* slot entries before it, n + m of its own                                        */
    int64_t merges;           /* merges before it in the level at work                                           */
    int64_t segments;         /* of the root list                                                                */
    double  lost_x0, lost_y0; /* bounds on the error of chunk starts                                             */
    int64_t exact;            /* elements summed again by the third level so far; added to by all threads         */
    int32_t failed;           /* set by any thread: the row is given up                                          */
    int32_t given_up;         /* the same, looked at between stages only, so that counts are deterministic        */
} hulls_row;

/* What one thread needs: its decisions, the chunk it works on, its counts. */
typedef struct hulls_worker {
    ih_judge       judge;
    ih_chunk       chunk;
    ih_row         row;         /* of the unit at work: a chunk, a merge, an edge or a short row */
    int64_t        row_number;
    int64_t        budget;      /* elements that the third level may still sum in this unit      */
    int32_t        failed;      /* the unit ran out of it, or is out of range                    */
    int32_t        suspect;     /* values out of range were seen: perhaps such as a fit refuses  */
    ih_status      status;
    char           fault[160];   /* debug build: what differs from the exact level               */
    int64_t        longest_move; /* rounds of descriptor moves of the level at work              */
    ih_walk_count  lane_walk;
    ih_merge_count merge;
    ih_counters    counters;
} hulls_worker;

/* A fit at work. Layout of the workspace: hulls_plan.c. */
typedef struct hulls {
    const ih_problem *p;
    const ih_options *o;
    const ih_outputs *out;
    int32_t           kind, size, wide, threads; /* size: elements of a chunk                              */
    int64_t           longest;                   /* elements of the longest row                            */
    int64_t           rows, chunks, entries;     /* rows with a tree, their chunks, their slot entries     */
    int32_t           levels;                    /* of the deepest tree                                    */
    hulls_row        *row;                       /* [rows]                                                 */
    hulls_worker     *worker;                    /* [threads]                                              */
    char             *scratch;                   /* [threads] x scratch_bytes: prefix sums and masks       */
    size_t            scratch_bytes;
    ih_chunk_record  *record;                    /* [chunks]                                               */
    ih_segment       *segment;                   /* [chunks]: the lists                                    */
    int32_t          *length;                    /* [chunks]: of the list that begins at this chunk        */
    int64_t          *rank;                      /* [chunks]: vertices of the root list before a segment   */
    ih_edge          *edge;                      /* [chunks]: edge out of a segment of the root list       */
    void             *slot;                      /* [entries]                                              */
    ih_pair          *stop;                      /* [chunks][size / 16] (times 2)                          */
} hulls;

/* hulls_plan.c: shapes and workspace */
void   hulls_shape(hulls *h, const ih_problem *p, const ih_options *o, const ih_outputs *out);
size_t hulls_layout(hulls *h, void *ws);
void   hulls_list_rows(hulls *h);

static inline int64_t hulls_row_chunks(const hulls *h, int64_t n) { return (n + h->size - 1) / h->size; }

/* The row with a tree that holds a chunk. */
const hulls_row *hulls_row_of_chunk(const hulls *h, int64_t chunk);

static inline ih_store hulls_store(const hulls *h, const hulls_row *row)
{
    const ih_row in = ih_row_of(h->p, row->row);
    ih_store     s;
    s.values.y    = in.y;
    s.values.w    = in.w;
    s.values.sign = (double)in.sign;
    s.values.kind = h->kind;
    s.n           = row->n;
    s.chunks      = row->chunks;
    s.size        = h->size;
    s.wide        = h->wide;
    s.slots       = (char *)h->slot + (size_t)row->entries * (h->wide ? 4 : 2);
    s.stops       = h->stop + row->chunk0 * ((h->size + IH_STOP_STRIDE - 1) / IH_STOP_STRIDE) * (h->kind & IH_KIND_WEIGHTED ? 2 : 1);
    s.records     = h->record + row->chunk0;
    s.lost_y0     = row->lost_y0;
    s.lost_x0     = row->lost_x0;
    return s;
}

/* hulls_exact.c: the third level, units and rows given up */
void hulls_worker_init(hulls *h, int32_t thread);
void hulls_unit_begin(const hulls *h, hulls_worker *w, int64_t row, int64_t elements);
void hulls_unit_end(hulls *h, hulls_worker *w, const hulls_row *row, int64_t elements);
void hulls_review(hulls *h);
void hulls_settle(const hulls *h, hulls_worker *w, int64_t a, int64_t b, const ih_block *block, ih_edge *to);
void hulls_solve_exactly(const hulls *h, hulls_worker *w, int64_t row);

static inline void hulls_take_row(const hulls *h, hulls_worker *w, int64_t row)
{
    w->row        = ih_row_of(h->p, row);
    w->row_number = row;
}

/* hulls_write.c: results of ranges of elements */
typedef struct hulls_target {
    void    *z;                /* of the row, dtype                                    */
    int64_t *starts;           /* NULL or of the row's blocks, as are weights and means */
    double  *weights, *means;
} hulls_target;
hulls_target hulls_target_of(const hulls *h, int64_t row);
void hulls_fill(const hulls *h, const hulls_target *t, int64_t a, int64_t b, double z);
void hulls_put_block(const hulls *h, const hulls_target *t, int64_t block, int64_t start, const ih_edge *e);
/* Blocks of one element each, and one block of more, from their values: z, and blocks numbered from `block`. */
void hulls_write_singles(const hulls *h, const hulls_worker *w, const hulls_target *t, int64_t a, int64_t b, int64_t block);
void hulls_write_block(const hulls *h, hulls_worker *w, const hulls_target *t, int64_t a, int64_t b, int64_t block);

/* The stages */
void hulls_chunk_stage(hulls *h);
void hulls_scan_stage(hulls *h);
void hulls_merge_level(hulls *h, int32_t level);
void hulls_reconstruct_stage(hulls *h);

/* hulls_count.c */
void hulls_count_level(hulls *h, int32_t level);
void hulls_count_all(hulls *h);

#endif
