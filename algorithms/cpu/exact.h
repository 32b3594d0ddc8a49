/* SPDX-License-Identifier: Apache-2.0
 * exact.h: the exact level: decisions, means and whole rows from the inputs, in integers.
 *
 * Every function takes a row whose values are finite and whose weights are positive and finite, and runs in the
 * environment of ih_fenv_enter(). Ranges are [a, b) within the row, not empty. Values of y count multiplied by row->sign.
 * Cost: O(elements of the ranges) times the limbs that the exponents of those elements span. */
#ifndef IH_CPU_EXACT_H
#define IH_CPU_EXACT_H

#include "../common/row.h"

/* A block mean, exact, rounded in the ways that callers need. The values are in the caller's direction (y, not sign*y). */
typedef struct ih_mean {
    double  hi;     /* mean rounded once to double                                    */
    double  lo;     /* mean - hi, rounded once to double (0 when hi is exact)         */
    double  z;      /* mean rounded once to the row's dtype (float values as double); +0 if the mean is 0, else signed */
    double  weight; /* sum of weights rounded once to double, may be infinite         */
    int32_t sign;   /* sign of the exact mean: -1, 0, 1                               */
} ih_mean;

/* Sign of mean[a, b) - mean[c, d) of sign*y: -1, 0 or 1. */
ih_status ih_exact_compare(const ih_row *row, int64_t a, int64_t b, int64_t c, int64_t d, int *order);

ih_status ih_exact_mean(const ih_row *row, int64_t a, int64_t b, ih_mean *mean);

/* Fit a whole row (before bounds): starts [n] receives the first index of each maximal block and *blocks their number.
 * z, in the row's dtype and the caller's direction, may be NULL; weights and means [n] may be NULL. Allocates. */
ih_status ih_exact_solve(const ih_row *row, void *z, int64_t *starts, int64_t *blocks, double *weights, double *means);

/* The gradient of one row by the formulas of ih_gradient: starts [blocks] are indices within the row, bounds as doubles
 * already rounded to dtype. */
ih_status ih_exact_backward(const ih_row *row, double y_min, double y_max, const int64_t *starts, int64_t blocks,
                            const void *g, void *grad_y, void *grad_w);

#endif
