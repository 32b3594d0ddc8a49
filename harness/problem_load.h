/* SPDX-License-Identifier: Apache-2.0
 * problem_load.h: the arrays of any problem string, generated or read from the files it names. */
#ifndef IH_HARNESS_PROBLEM_LOAD_H
#define IH_HARNESS_PROBLEM_LOAD_H

#include <stdbool.h>

#include "datasets/generate.h"
#include "io/array.h"

typedef struct problem_arrays {
    array y, w, offsets; /* with data NULL where the problem has none: w for w=unit, offsets for equal rows */
} problem_arrays;

/* Fill *out (initialised here; free it with problem_arrays_free, after a fault too). With ones, w=unit gives ones
 * instead of nothing. y is 1-D if there is one row or ragged rows, else rows x n.
 *
 * A file problem: y and its type come from the file (.npy; .f32 and .f64; .raw and .bin, which need the type in the
 * problem; .csv and .txt, first column). A type in the problem is what text is rounded to, and other values must fit it
 * exactly. weights=PATH has the shape of y, offsets=PATH (integers) cuts a 1-D y into rows. w=NAME weights are those of a
 * generated problem of this shape with seed 0. */
fault_kind problem_load(const ih_spec *s, bool ones, problem_arrays *out, fault *f);
void       problem_arrays_free(problem_arrays *a);

/* The problem that the arrays are, which it points to. */
void problem_describe(ih_problem *p, const ih_spec *s, const problem_arrays *a);

#endif
