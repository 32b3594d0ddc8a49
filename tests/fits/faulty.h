/* SPDX-License-Identifier: Apache-2.0
 * faulty.h: what a device does with values that are not allowed: their rows are filled with NaN, the others are fitted. */
#ifndef TESTS_FAULTY_H
#define TESTS_FAULTY_H

#include "support.h"

typedef struct first_fault { ih_fault fault; const char *argument; int64_t row, index; } first_fault;

/* The fault that is reported: of the smallest row and index, y before w. fault is IH_FAULT_NONE if all values are allowed. */
first_fault first_fault_of(const ih_problem *p);

/* r: the outputs and error of a fit that returned IH_EDATA, every output asked for. PASSED if the fault reported is the first, each row
 * at fault is one block of NaN, and each other row is as the referee fits it, bit for bit. */
outcome faulty_rows_check(const ih_problem *p, const fit_result *r, verdict *v);

#endif
