/* SPDX-License-Identifier: Apache-2.0
 * pav.h: what the parts of cpu_pav share: the record of a chunk, an entry of the stack, the work on one row. */
#ifndef IH_CPU_PAV_H
#define IH_CPU_PAV_H

#include "exact.h"

enum {
    PAV_CHUNK = 128, /* elements of a chunk */
    PAV_HALO  = 64,  /* longest slope window of the scan                                                     */
    PAV_TILE  = 512, /* elements scanned at once, a multiple of PAV_CHUNK                                    */
    PAV_SHORT = 48  /* rows below it are not filtered */
};

/* Sum of a chunk of values times weights, as hi + lo, of its weights, and the range of its values (after the sign). */
typedef struct pav_chunk {
    double  s, lo;   /* s + lo differs from the sum by at most 8 (128 u)^2 W max|y| (+ underflows); exact if `exact` */
    double  W, Wlo;  /* weights: unset for an unweighted row                                                       */
    double  low, high;
    int32_t rising;  /* non-decreasing                                                                             */
    int32_t exact;   /* s alone is the sum: no addition lost a bit                                                 */
    double  height;  /* of its start over the chord of its coarse block                                            */
    int64_t keep;    /* it may reach that chord: its boundaries are looked at one by one                           */
} pav_chunk;

/* An entry of the stack: a block [start, next start) with |sum - s| <= e, or a run: a non-decreasing stretch whose
 * blocks are its maximal stretches of equal values. A run is marked by e < 0 and its other fields are unset. */
typedef struct pav_entry {
    double  s, e, W, eW;
    int64_t start;
} pav_entry;

/* A block of the coarse pass: chunks [first, next first). */
typedef struct pav_coarse {
    double  s, W, m;   /* sum, weight, mean                                   */
    double  tolerance; /* of heights over its chord; set after the coarse pass */
    int64_t first;
} pav_coarse;

/* How the work on a row ended. */
typedef enum pav_end {
    PAV_DONE,    /* everything is written                                                                       */
    PAV_SUSPECT, /* a value is not finite or a weight not positive, or the sums leave the range: nothing written  */
    PAV_TIES,    /* too many decisions need integers: solve the whole row by them; nothing written                */
    PAV_FAILED   /* the exact level failed (memory)                                                              */
} pav_end;

typedef struct pav_job {
    ih_row      row;
    double      y_min, y_max;  /* rounded to dtype                                                    */
    void       *z;             /* [n] dtype                                                           */
    int64_t    *starts;        /* of the row's blocks, indices within the row, or NULL                 */
    double     *weights, *means;
    int         streaming;     /* z is large: write past the caches                                    */
    int         count_blocks;  /* the blocks are asked for                                             */
    int64_t     blocks;        /* out                                                                 */
    pav_chunk  *chunks;        /* [n / PAV_CHUNK + 1] workspace                                        */
    pav_coarse *coarse;        /* [n / PAV_CHUNK + 1] workspace                                        */
    pav_entry  *stack;         /* [2 n / 3 + 4] workspace: a block has two elements, runs do not touch  */
    int64_t     decisions_filter, decisions_pair, decisions_exact;
    int64_t     roundings_filter, roundings_exact;
    int64_t     elements_exact;
    int         differs;       /* debug build: a fast decision or rounding was not the exact one         */
} pav_job;

typedef pav_end (*pav_solver)(pav_job *);

/* Debug build (check_decisions): note that a decision over [a, b) and [b, d), or the mean of [a, b), was wrong. */
void pav_decision_differs(pav_job *job, int64_t a, int64_t b, int64_t d);

/* Solvers by dtype and instruction set; avx2 and avx512 only where the compiler can make them. */
pav_end pav_solve_f32_base(pav_job *), pav_solve_f64_base(pav_job *);
pav_end pav_solve_f32_avx2(pav_job *), pav_solve_f64_avx2(pav_job *);
pav_end pav_solve_f32_avx512(pav_job *), pav_solve_f64_avx512(pav_job *);

#endif
