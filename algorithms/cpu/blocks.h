/* SPDX-License-Identifier: Apache-2.0
 * blocks.h: what the CPU implementations share in writing results: bounds, and block arrays over the rows of a batch. */
#ifndef IH_CPU_BLOCKS_H
#define IH_CPU_BLOCKS_H

#include "../common/row.h"

/* Clip z [n] to the problem's bounds, which are rounded to dtype. */
void ih_clip(const ih_problem *p, void *z, int64_t n);

/* Where row r may write its blocks while the counts of the rows before it are not known: at its own elements. A pointer
 * is NULL where the caller wants no such array. */
typedef struct ih_row_blocks { int64_t *starts; double *weights, *means; } ih_row_blocks;

static inline ih_row_blocks ih_row_blocks_of(const ih_problem *p, const ih_outputs *out, int64_t r)
{
    const int64_t at = ih_row_begin(p, r);
    ih_row_blocks b;
    b.starts  = out->block_starts ? out->block_starts + at : NULL;
    b.weights = out->block_weights ? out->block_weights + at : NULL;
    b.means   = out->block_means ? out->block_means + at : NULL;
    return b;
}

/* After every row has written its blocks there (starts as indices within the row) and its count at
 * block_offsets[r + 1]: move them together and make starts indices into the flattened y. */
void ih_blocks_gather(const ih_problem *p, const ih_outputs *out);

#endif
