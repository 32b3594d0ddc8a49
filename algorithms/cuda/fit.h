/* SPDX-License-Identifier: Apache-2.0
 * fit.h: a fit at work on a device: the problem, and the parts of the workspace, as its kernels get them (by value).
 *
 * Rows of at most IH_CUDA_CHUNK elements are finished in one kernel (rows.cu). Longer ones have a tree: chunks (chunk.cu),
 * starts (scan.cu), merges (tree.cu), results (write.cu). A row that these cannot certify is put on a list and solved in integers by
 * exact_rows.cu; a row with a value that is not allowed is put there too and filled with NaN. All write z, and, if block
 * outputs are wanted, one bit for each element that begins a block; blocks.cu makes the block arrays from the bits. */
#ifndef IH_CUDA_FIT_H
#define IH_CUDA_FIT_H

#if defined(__cplusplus)
#  include "simt.h"
#elif !defined(IH_SIMT)
#  define IH_SIMT 1
#endif

#include "isohull.h"

#include "../chunk/store.h"

#include <stdint.h>

enum { IH_CUDA_CHUNK = 1024, IH_CUDA_STOP = 32 }; /* elements of a chunk; elements between stored prefix sums */
enum { IH_CUDA_TILE_BYTES = 64, IH_CUDA_TAIL_EDGES = 256 };

/* Head of every workspace, fit or gradient; zeroed at the begin. */
typedef struct ih_cuda_status {
    uint64_t fault;      /* 0, or ~((flattened index << 6) + (argument << 3) + ih_fault): the largest is the first fault */
    int64_t  fault_row, fault_begin; /* its row and that row's first element (exact_rows.cu, ragged rows)                  */
    uint64_t given_up;   /* rows on the list                                                                             */
    uint64_t decisions_filter, decisions_pair, decisions_exact;
    uint64_t roundings_filter, roundings_pair, roundings_exact;
    uint64_t rows_exact, elements_exact;
    uint64_t walks, walk_steps, walks_capped, searches, lane_walks, lane_walk_steps;
    uint64_t chunks, vertices_lanes, vertices_chunks;
    uint64_t stopped;                      /* the offsets are wrong: nothing is done  */
    uint64_t tree_rows, tree_chunks;       /* ragged: found on the device             */
    uint64_t merges[IH_MAX_LEVELS];        /* of each tree level, over the batch      */
    uint64_t class_rows[8];                /* ragged: short rows of 1, 2, 4, .. lanes */
} ih_cuda_status;

enum { IH_ARGUMENT_Y = 0, IH_ARGUMENT_W = 1, IH_ARGUMENT_G = 2, IH_ARGUMENT_OFFSETS = 3 };

/* State of a row. */
enum { IH_ROW_FINE = 0, IH_ROW_UNCERTAIN = 1, IH_ROW_FAULT = 2 };

/* A row with a tree. */
typedef struct ih_cuda_row {
    int64_t row, begin, n; /* in the batch; first element; elements      */
    int64_t chunk0;        /* number of its first chunk                  */
    int64_t chunks;        /* m = ceil(n / IH_CUDA_CHUNK), at least 2    */
} ih_cuda_row;

typedef struct ih_cuda_fit {
    /* the problem */
    const void    *y, *w;    /* [total]                                          */
    void          *z;        /* [total]                                          */
    const int64_t *offsets;  /* [rows + 1] or NULL                                */
    int64_t        rows, n;  /* n: rectangular: of a row; ragged: total           */
    int64_t        total;    /* elements                                          */
    double         sign;     /* values count multiplied by it: 1 or -1            */
    int32_t        kind;     /* values.h                                          */
    int32_t        counting; /* decisions settled by the filter are counted too    */
    double         y_min, y_max;
    int32_t        walk_cap, thread_merges;
    int32_t        overlap;  /* may kernels begin before those before them have ended (simt.h)? */
    /* the workspace */
    ih_cuda_status *status;
    int32_t        *state;   /* [rows] zeroed at the begin                                            */
    int64_t        *list;    /* [rows] rows given up, status->given_up of them, in any order           */
    uint32_t       *bits;    /* [ceil(total / 32)] zeroed at the begin: bit of each element that begins a block; NULL: not wanted */
    /* rows with a tree: chunks are numbered over all of them */
    int64_t         tree_rows, chunks; /* rectangular: exact; ragged: at most (status has the counts)  */
    int64_t         row_chunks;        /* rectangular: of each row                                     */
    int32_t         levels, tail;      /* tail: rectangular: the level from which on a kernel does all, a block a row; levels: none */
    ih_cuda_row    *tree;              /* [tree_rows] ragged only                                      */
    int32_t        *chunk_row;         /* [chunks] ragged only: number of the chunk's row in tree       */
    int64_t        *short_rows;        /* [rows] ragged only: rows with no tree, by number of lanes     */
    int64_t        *row_tiles;         /* ragged only: scratch of the scan over rows                   */
    ih_chunk_record *record;            /* [chunks]                                                     */
    void           *tile;              /* scratch of the scan over chunks: IH_CUDA_TILE_BYTES for each 256 of them */
    ih_segment     *segment;           /* [chunks] lists; that of a node begins at its first chunk      */
    uint32_t       *hull;              /* [chunks][32] vertices of chunk hulls, a bit each, but the end                    */
    int32_t        *length;            /* [chunks] of the list that begins there                       */
    double         *edge;              /* [chunks] value over the edge that leaves a segment of the root list */
    ih_pair        *stop;              /* [chunks][32] (with weights [64]: y, then x) prefix sums at every 32nd point */
    double         *slot_y, *slot_x;   /* [chunks * (IH_CUDA_CHUNK + 1)] coordinates of vertices; slot_x with weights only */
    uint16_t       *slot_at;           /* likewise: positions in the chunk                             */
    /* the exact level (exact_rows.cu) */
    uint32_t       *exact;
    size_t          exact_words;
} ih_cuda_fit;

/* Does the tail find the values over edges too? Where lists are so short that a block is enough. */
IH_HD int32_t ih_cuda_edges_in_tail(const ih_cuda_fit *f) { return f->tail < f->levels && f->row_chunks <= IH_CUDA_TAIL_EDGES; }

#if defined(IH_DEV) /* in kernels */

IH_DEV int64_t ih_cuda_row_begin(const ih_cuda_fit *f, int64_t r) { return f->offsets ? f->offsets[r] : r * f->n; }
IH_DEV int64_t ih_cuda_row_length(const ih_cuda_fit *f, int64_t r) { return f->offsets ? f->offsets[r + 1] - f->offsets[r] : f->n; }

/* Put a row on the list, once. */
IH_DEV void ih_cuda_give_up(const ih_cuda_fit *f, int64_t row, int32_t state)
{
    if (atomicOr(&f->state[row], state) == IH_ROW_FINE) f->list[atomicAdd((unsigned long long *)&f->status->given_up, 1ull)] = row;
}

/* A value is not allowed: element `flat` of the batch. */
IH_DEV void ih_cuda_fault(const ih_cuda_fit *f, int64_t row, int64_t flat, int32_t argument, ih_fault fault)
{
    atomicMax((unsigned long long *)&f->status->fault, ~(unsigned long long)((flat << 6) + (argument << 3) + fault));
    ih_cuda_give_up(f, row, IH_ROW_FAULT);
}

/* Row number k of those with a tree. */
IH_DEV ih_cuda_row ih_cuda_tree_row(const ih_cuda_fit *f, int64_t k)
{
    ih_cuda_row r;
    if (f->offsets) return f->tree[k];
    r.row    = k;
    r.begin  = k * f->n;
    r.n      = f->n;
    r.chunk0 = k * f->row_chunks;
    r.chunks = f->row_chunks;
    return r;
}

#endif
#endif
