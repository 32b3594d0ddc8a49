/* SPDX-License-Identifier: Apache-2.0
 * exact_backward.h: gradients of single blocks, for ih_exact_backward and for the backward pass over threads. */
#ifndef IH_CPU_EXACT_BACKWARD_H
#define IH_CPU_EXACT_BACKWARD_H

#include "exact.h"

/* What a block's gradient needs: arrays over the row, bounds rounded to dtype. */
typedef struct ih_backward_row {
    ih_row      row; /* its sign is +1: the formulas are those of y itself in both directions */
    double      y_min, y_max;
    const void *g;
    void       *grad_y, *grad_w; /* or NULL */
} ih_backward_row;

static inline double ih_backward_g(const ih_backward_row *r, int64_t j)
{
    return r->row.dtype == IH_F32 ? (double)((const float *)r->g)[j] : ((const double *)r->g)[j];
}

static inline void ih_backward_put(const ih_backward_row *r, void *to, int64_t j, double v)
{
    if (r->row.dtype == IH_F32) ((float *)to)[j] = (float)v;
    else ((double *)to)[j] = v;
}

/* Zero gradients over [a, b). */
void ih_backward_zero(const ih_backward_row *r, int64_t a, int64_t b);

/* The block [a, b) in pairs of doubles; 0, with nothing written, if their error bounds do not suffice. */
int ih_backward_block_pairs(const ih_backward_row *r, int64_t a, int64_t b);

/* The block [a, b) in integers: every entry right to a few units in its own last place. */
void ih_backward_block_exact(const ih_backward_row *r, int64_t a, int64_t b);

/* Blocks [k, end) of `blocks`, whose starts rise; the last one ends at row.n. */
void ih_backward_blocks(const ih_backward_row *r, const int64_t *starts, int64_t k, int64_t end, int64_t blocks);

#endif
