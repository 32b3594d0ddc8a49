/* SPDX-License-Identifier: Apache-2.0
 * specs.h: problem strings made by tests: every family, with parameters other than the defaults too. */
#ifndef TESTS_SPECS_H
#define TESTS_SPECS_H

#include "rng.h"

#include "datasets/problem.h"

/* A problem of the family with default parameters: float32, one row of n elements. Ends the program if there is none. */
ih_spec spec_of(ih_family family, int64_t n);

/* Draw each parameter from values around its default, from whole numbers at seams, and from its limits. */
void spec_vary_parameters(ih_spec *s, rng *r);

/* Any family, weighting, type, rows, direction; n below max_n, most of them small. */
ih_spec spec_random(rng *r, int64_t max_n);

#endif
