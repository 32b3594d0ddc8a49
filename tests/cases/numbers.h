/* SPDX-License-Identifier: Apache-2.0
 * numbers.h: the arrays of a case: lists of numbers, formulas, references and runs. */
#ifndef TESTS_NUMBERS_H
#define TESTS_NUMBERS_H

#include "isohull.h"

#include <jansson.h>
#include <stdint.h>

typedef struct shape { int64_t rows, n; } shape;

/* A string in the notation of %a, or nan, inf, -inf. Ends the program on anything else. */
double number_of(const json_t *text);

/* num / den * 2^exp2 rounded once to the type (normal range); den > 0. */
double ratio_rounded(int64_t num, int64_t den, int exp2, ih_dtype dtype);

/* The elements of an array in any of the notations, as doubles; malloc'ed. same_as: what {"same_as": ...} refers to (may
 * be NULL). NULL for a JSON null or an absent field. */
double *numbers_of(const json_t *array, shape s, ih_dtype dtype, const double *same_as);

/* The indices at which block starts are expected: one byte for each element, malloc'ed. NULL for null. */
unsigned char *starts_of(const json_t *starts, shape s);

/* Doubles as an array of the type; malloc'ed, NULL for NULL. */
void *typed_copy(const double *values, int64_t count, ih_dtype dtype);

#endif
