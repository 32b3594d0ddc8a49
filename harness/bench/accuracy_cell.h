/* SPDX-License-Identifier: Apache-2.0
 * accuracy_cell.h: one problem with its exact fit, and fits of it measured against that. */
#ifndef IH_BENCH_ACCURACY_CELL_H
#define IH_BENCH_ACCURACY_CELL_H

#include "accuracy.h"
#include "device.h"
#include "problem_load.h"

/* A problem in memory, its exact fit, and room for the outputs of a fit. */
typedef struct accuracy_case {
    problem_arrays arrays;
    ih_problem     problem;
    exact_fit      exact;
    char           digest_want[17]; /* of the canonical fit */
    void          *z;
    int64_t       *block_offsets, *block_starts;
} accuracy_case;

fault_kind accuracy_open(accuracy_case *c, const ih_spec *spec, fault *f);
void       accuracy_close(accuracy_case *c);

/* Fit by an implementation, on the device d if it is not NULL, and measure. A fault is one of the device. *status is the answer of ih_fit: IH_EUNSUPPORTED and the like are no fault of the
 * caller, their text is in the last error. digest: of what it returned. */
fault_kind accuracy_fit(accuracy_case *c, device *d, const ih_impl *impl, const ih_options *options, ih_status *status, accuracy *a, char digest[17], fault *f);

/* Measure values that were made elsewhere, read from a file of numbers; there are no blocks. */
fault_kind accuracy_file(accuracy_case *c, const char *path, accuracy *a, fault *f);

#endif
