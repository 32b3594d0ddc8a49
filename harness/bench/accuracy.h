/* SPDX-License-Identifier: Apache-2.0
 * accuracy.h: how far a fit is from the exact one: the measures of paper 7.6, computed in quadruple precision (113 bits,
 * exponents to 16383, so that no product of three inputs overflows or vanishes), whose own error is far below what they
 * measure. Blocks, means and correctly rounded values of the exact fit come from the exact level in integers. */
#ifndef IH_BENCH_ACCURACY_H
#define IH_BENCH_ACCURACY_H

#include <isohull.h>
#include <jansson.h>

#include "io/fault.h"

/* The exact fit of a problem: maximal blocks of equal exact solution. */
typedef struct exact_fit {
    int64_t  blocks;
    int64_t *offsets;   /* [rows + 1] the blocks of row r are offsets[r] .. offsets[r + 1]                  */
    int64_t *starts;    /* [blocks] first element, an index into the flattened y                            */
    double  *high;      /* [blocks] exact mean rounded to double ...                                        */
    double  *low;       /* [blocks] ... and what is left of it, rounded to double                           */
    double  *value;     /* [blocks] exact mean rounded once to the dtype, clipped to the bounds: the canonical z */
} exact_fit;

fault_kind exact_fit_make(const ih_problem *p, exact_fit *out, fault *f); /* p as ih_fit takes it, data checked */
void       exact_fit_free(exact_fit *e);

/* Counts are sums over the rows, the others maxima over the rows. z* is the exact solution, clipped to the bounds. */
typedef struct accuracy {
    int64_t elements;
    int64_t not_finite;       /* outputs that are NaN or infinite; if there are any, only the counts of blocks mean something */
    int64_t not_rounded;      /* outputs that are not z* rounded to nearest-even (-0 counts as 0)                 */
    double  step_down;        /* max_i (z_i - z_i+1)+ over max|y| (decreasing: steps up)                          */
    double  deviation;        /* max_i |z_i - z*_i| / (1 + |z*_i|)                                                */
    double  ulps;             /* max_i |z_i - z*_i| in units of the last place of z*_i; at most 0.5 if all are rounded right */
    double  objective_excess; /* (objective(z) - objective(z*)) / max(objective(z*), eps sum w y^2); below 0 only where z steps down */
    double  kkt;              /* largest violation of the optimality conditions over 2 sum w|y|; -1 if there are bounds */
    int64_t blocks, blocks_exact; /* blocks is -1, with missing and extra, if the fit has no blocks               */
    int64_t missing, extra;   /* block starts of the exact fit that this one lacks, and the other way round       */
    int64_t coinciding;       /* neighbours in different exact blocks whose outputs are equal                     */
    int64_t coinciding_exact; /* the same of the canonical fit: different means that round to one float           */
} accuracy;

/* Measure z [elements] (of the dtype of p) with its blocks, as ih_outputs has them, or NULL for both. */
void accuracy_measure(const ih_problem *p, const exact_fit *e, const void *z, const int64_t *block_offsets,
                      const int64_t *block_starts, accuracy *out);

/* Does every bit that the measures see agree with the canonical fit? */
int accuracy_canonical(const accuracy *a);

/* As it stands in a record: what was not measured is left out. NULL: no memory. */
json_t *accuracy_to_json(const accuracy *a);

#endif
