/* SPDX-License-Identifier: Apache-2.0
 * reference.h: isotonic fits in GMP rationals, roundings found by bisection over the floating-point numbers, and rows of
 * every nasty kind. Nothing here is shared with the library but the description of a row. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include "common/row.h"
#include "../../fits/rng.h"

#include <gmp.h>

/* Values of a row; negative ones become weights by their magnitude. */
enum {
    KIND_SMALL_INTEGERS, KIND_NOISE, KIND_NEAR_TIES, KIND_ALL_EXPONENTS, KIND_SUBNORMAL, KIND_HUGE, KIND_CANCELLING,
    KIND_SHORT_SPAN, KIND_MIDDLE_SPAN, KIND_POWERS, KIND_COUNT
};

typedef struct ref_row {
    ih_row  row;
    int64_t n;
    double *y, *w; /* w NULL: none */
    void   *y_own, *w_own;
} ref_row;

double ref_value(rng *r, int kind, ih_dtype dtype);

/* weight_kind KIND_COUNT: no weights. */
void ref_row_open(ref_row *row, rng *r, int64_t n, ih_dtype dtype, int sign, int kind, int weight_kind);
void ref_row_close(ref_row *row);

/* q rounded to nearest-even; 0 is +0, a negative number that underflows -0. */
double ref_round(const mpq_t q, ih_dtype dtype);

/* Mean of sign*y over [a, b). */
void ref_mean(const ref_row *row, int64_t a, int64_t b, mpq_t mean);
void ref_weight(const ref_row *row, int64_t a, int64_t b, mpq_t weight);

mpq_t *ref_array_open(int64_t n);
void   ref_array_close(mpq_t *v, int64_t n);

/* z [n], of sign*y, by max over a <= i of min over b >= i of mean[a, b], or by pooling. */
void ref_fit_minmax(const ref_row *row, mpq_t *z);
void ref_fit_pooling(const ref_row *row, mpq_t *z);

/* Equal bits: tells -0 from +0. */
int ref_same(double a, double b);

#endif
