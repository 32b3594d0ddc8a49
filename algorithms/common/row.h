/* SPDX-License-Identifier: Apache-2.0
 * row.h: one row of a problem on the host, as the CPU solvers and the exact level see it. */
#ifndef IH_COMMON_ROW_H
#define IH_COMMON_ROW_H

#include "isohull.h"

/* A row to be fitted non-decreasing after its values are multiplied by sign: a decreasing fit of y is the negated
 * non-decreasing fit of -y, with the same blocks, because rounding to nearest is symmetric. */
typedef struct ih_row {
    const void *y;    /* [n] dtype                                    */
    const void *w;    /* [n] dtype or NULL for weights of 1           */
    int64_t     n;
    ih_dtype    dtype;
    int32_t     sign; /* +1 increasing, -1 decreasing                 */
} ih_row;

static inline int64_t ih_problem_elements(const ih_problem *p) { return p->offsets ? p->n : p->rows * p->n; }

static inline int64_t ih_row_begin(const ih_problem *p, int64_t r) { return p->offsets ? p->offsets[r] : r * p->n; }

static inline int64_t ih_row_length(const ih_problem *p, int64_t r)
{
    return p->offsets ? p->offsets[r + 1] - p->offsets[r] : p->n;
}

static inline ih_row ih_row_of(const ih_problem *p, int64_t r)
{
    const int64_t at   = ih_row_begin(p, r);
    const size_t  item = p->dtype == IH_F32 ? 4 : 8;
    ih_row        row;
    row.y     = p->y ? (const char *)p->y + (size_t)at * item : NULL;
    row.w     = p->w ? (const char *)p->w + (size_t)at * item : NULL;
    row.n     = ih_row_length(p, r);
    row.dtype = p->dtype;
    row.sign  = p->direction == IH_DECREASING ? -1 : 1;
    return row;
}

#endif
