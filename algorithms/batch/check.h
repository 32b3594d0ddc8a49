/* SPDX-License-Identifier: Apache-2.0
 * check.h: values that a fit refuses. */
#ifndef IH_BATCH_CHECK_H
#define IH_BATCH_CHECK_H

#include "isohull.h"

/* Look at every value of y and w (host memory) and report the smallest (row, index) at fault, y before w: IH_EDATA. */
ih_status ih_check_data(const ih_problem *p);

/* The same for one array alone: "g", which must be finite. */
ih_status ih_check_finite(const ih_problem *p, const char *argument, const void *values);

/* Report the fault of y or w at a place (the row holding the flattened index), for solvers that find it on their way.
 * from: no element before this flattened index is at fault. */
ih_status ih_report_data(const ih_problem *p, int64_t from);

#endif
