/* SPDX-License-Identifier: Apache-2.0
 * block_job.h: work over the blocks of a batch (their weights and means, or the gradient), as its kernels get it, by value.
 *
 * The flattened elements are cut into windows of IH_WINDOW. A window does the blocks that begin in it and are no longer than
 * itself, whole. A longer one is summed in pieces of IH_WINDOW elements from its own start, each by the window in which it begins:
 *
 *   windows  |...............|...............|...............|
 *   block          [piece 0 . . . . |piece 1 . . . . |piece 2 ]
 *
 * How a sum is associated follows from the block's length alone, so that its bits do not depend on where the block lies:
 * up to IH_SHORT elements by one thread, up to IH_MEDIUM by a warp, longer ones and pieces by a CTA; pieces by their number. */
#ifndef IH_CUDA_BLOCK_JOB_H
#define IH_CUDA_BLOCK_JOB_H

#include "fit.h"

#include "../common/values.h"

#include <stddef.h>

enum { IH_WINDOW = 1024, IH_WINDOW_THREADS = 128, IH_SHORT = 32, IH_MEDIUM = 256 };

/* What is summed; together with the bits of ih_values.kind these are the constants that kernels are compiled for. */
enum {
    IH_SUM_G     = 4,  /* the gradient: sums of g, and of w with weights                       */
    IH_SUM_Y     = 8,  /* sums of w y; in a gradient the least and the largest y too           */
    IH_SUM_MEANS = 16, /* weights and means of blocks: with IH_SUM_Y, without IH_SUM_G          */
};

/* Sums over some elements of one block. As pairs while lost is 0 they are exact. */
typedef struct ih_block_sums {
    ih_pair g, y, x;
    double  lost_g, lost_y, lost_x;
    double  least, most; /* of y                                                                        */
    int64_t good;        /* weights are positive and, where y is summed, values in the range of values.h */
} ih_block_sums;

/* What a block's gradient is made of. */
typedef struct ih_block_rule {
    double  ratio;   /* sum of g / sum of w */
    ih_pair z;       /* mean                */
    int32_t code;
    int32_t huge;    /* number of a huge block that is OPEN */
} ih_block_rule;

enum { IH_RULE_ZERO = 0, IH_RULE_RATIO = 1, IH_RULE_OPEN = 2 }; /* OPEN: left to integers */

/* A block longer than IH_HUGE that is left to integers: the whole grid sums it, and writes it. */
enum { IH_HUGE = 16384, IH_EXACT_S = 136, IH_EXACT_W = 70 }; /* limbs of 32 bits in each: block_exact.h */

typedef struct ih_exact_rule {
    double  ratio, z, z_low; /* ratio 2^ratio_e; the mean 2^scale in two parts */
    int32_t ratio_e, scale, code, unused;
} ih_exact_rule;

typedef struct ih_block_huge {
    int64_t       a, b;
    int32_t       most_e, bad; /* exponent of the largest |y|; a value that is not allowed */
    ih_exact_rule rule;
    int64_t       s[IH_EXACT_S], w[IH_EXACT_W], g[IH_EXACT_W];
} ih_block_huge;

typedef struct ih_block_job {
    /* the problem */
    const void    *y, *w, *g; /* [total] */
    const int64_t *offsets;
    int64_t        rows, n, total;
    int32_t        kind, unused;
    double         y_min, y_max;
    const int64_t *block_offsets, *block_starts;
    /* results, NULL where they are not wanted */
    void          *grad_y, *grad_w;
    double        *weights, *means;
    /* the workspace */
    ih_cuda_status *status;
    const int32_t  *state;     /* means: state of the rows                                                    */
    uint64_t       *open;      /* [2] blocks left to integers, and those of them that are huge                */
    uint32_t       *open_bits; /* [ceil(total / 32)] zeroed at the begin: the first element of each of them   */
    uint32_t       *bad_rows;  /* [ceil(rows / 32)] zeroed at the begin: rows whose gradient is NaN           */
    int64_t         windows;
    int64_t        *first;     /* [windows + 1] number of the first block that begins in it or later          */
    int64_t        *long_of;   /* [windows] elements of the long block that begins in it; 0: none             */
    ih_block_sums  *part;      /* [2 windows] piece 0 of the block that begins there; the piece of one that began before */
    ih_block_rule  *rule;      /* [windows] of the long block that begins there                               */
    ih_block_huge  *huge;      /* [total / IH_HUGE]                                                          */
} ih_block_job;

static inline void *ih_job_room(unsigned char *base, size_t *at, size_t bytes)
{
    unsigned char *const here = base + *at;
    *at += (bytes + IH_WORKSPACE_ALIGN - 1) / IH_WORKSPACE_ALIGN * IH_WORKSPACE_ALIGN;
    return here;
}

/* Lay the parts of the workspace out from `base`, which may be NULL; returns their bytes. The first *zeroed of them must be 0
 * at the begin. */
static inline size_t ih_job_layout(ih_block_job *job, void *base, size_t *zeroed)
{
    const size_t         windows = (size_t)((job->total + IH_WINDOW - 1) / IH_WINDOW);
    unsigned char *const from    = (unsigned char *)base;
    size_t               at      = 0;

    job->windows   = (int64_t)windows;
    job->open      = (uint64_t *)ih_job_room(from, &at, 2 * sizeof *job->open);
    job->open_bits = (uint32_t *)ih_job_room(from, &at, ((size_t)job->total + 31) / 32 * sizeof *job->open_bits);
    job->bad_rows  = (uint32_t *)ih_job_room(from, &at, job->g ? ((size_t)job->rows + 31) / 32 * sizeof *job->bad_rows : 0);
    *zeroed        = at;
    job->first     = (int64_t *)ih_job_room(from, &at, (windows + 1) * sizeof *job->first);
    job->long_of   = (int64_t *)ih_job_room(from, &at, windows * sizeof *job->long_of);
    job->part      = (ih_block_sums *)ih_job_room(from, &at, 2 * windows * sizeof *job->part);
    job->rule      = (ih_block_rule *)ih_job_room(from, &at, windows * sizeof *job->rule);
    job->huge      = (ih_block_huge *)ih_job_room(from, &at, (size_t)(job->total / IH_HUGE) * sizeof *job->huge);
    return at;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Means and weights of blocks: inside ih_cuda_launch_blocks. */
size_t      ih_cuda_block_sums_bytes(int64_t total, int64_t rows);
cudaError_t ih_cuda_launch_block_sums(const ih_cuda_fit *f, const int64_t *block_offsets, const int64_t *block_starts, double *weights,
                                      double *means, void *ws, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
