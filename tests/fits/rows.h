/* SPDX-License-Identifier: Apache-2.0
 * rows.h: random problems of high entropy and of every nasty kind, from a seed. */
#ifndef TESTS_ROWS_H
#define TESTS_ROWS_H

#include "isohull.h"
#include "rng.h"

typedef struct random_problem {
    ih_problem problem;
    void      *y, *w;   /* w NULL: weights of 1 */
    int64_t   *offsets; /* NULL: rectangular    */
} random_problem;

/* Rows of 0 to max_n elements, most of them short, at most 2 max_n in all. */
void random_problem_open(random_problem *rp, uint64_t seed, int64_t max_n);
void random_problem_close(random_problem *rp);

/* n values of y, or n weights, of a random kind. */
void random_values(rng *r, ih_dtype dtype, int64_t n, void *y);
void random_weights(rng *r, ih_dtype dtype, int64_t n, void *w);

/* The kinds of values and of weights by number, from 0; the name is NULL behind the last one. */
const char *value_kind_name(int kind);
const char *weight_kind_name(int kind);
void        values_of_kind(rng *r, ih_dtype dtype, int64_t n, void *y, int kind);
void        weights_of_kind(rng *r, ih_dtype dtype, int64_t n, void *w, int kind);

/* Random options out of those the implementation knows; the others keep their defaults. */
void random_options(rng *r, const ih_impl *impl, ih_options *o);

#endif
