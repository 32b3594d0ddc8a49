/* SPDX-License-Identifier: Apache-2.0
 * support.h: run a fit with everything around it watched, and compare two fits bit for bit. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include "guarded.h"
#include "isohull.h"

#include <stdint.h>

/* A fit's outputs, in guarded memory of their exact size. */
typedef struct fit_result {
    guarded    z, block_offsets, block_starts, block_weights, block_means;
    ih_outputs out;     /* pointers to them */
    ih_status  status;
    ih_error   error;   /* if the status is not IH_OK */
} fit_result;

typedef struct verdict { char text[512]; } verdict; /* what is wrong, in one line */

typedef enum outcome { PASSED, FAILED, SKIPPED } outcome; /* SKIPPED: the implementation says it cannot do this */

int64_t problem_elements(const ih_problem *p);
int64_t problem_row_begin(const ih_problem *p, int64_t row);
int64_t problem_row_length(const ih_problem *p, int64_t row);
size_t  problem_item(const ih_problem *p); /* bytes of an element */
double  problem_value(const ih_problem *p, const void *array, int64_t i);

void fit_result_open(fit_result *r, const ih_problem *p);
void fit_result_close(fit_result *r);
int  fit_result_untouched(const fit_result *r);

/* Poison the outputs and fit into them with a poisoned workspace of exactly the size asked for (or, own_workspace = 0,
 * that of the library). FAILED: a guard, an input or the last error is not as it must be, or after an error something
 * was written; on a device after IH_EDATA, that it is not as isohull.h says (faulty.h). r->status is the status of the fit, of a
 * device after it was waited for; FAILED too if it is not `expected`. */
outcome fit_run(const ih_impl *impl, const ih_problem *p, const ih_options *o, int own_workspace, ih_status expected, fit_result *r, verdict *v);

/* Are all outputs of two successful fits of one problem equal, bit for bit? */
int fit_equal(const ih_problem *p, const fit_result *expected, const fit_result *got, verdict *v);

/* Fit and compare with `expected` (a fit by the referee). */
outcome fit_check(const ih_impl *impl, const ih_problem *p, const ih_options *o, const fit_result *expected, verdict *v);

/* The referee, cpu_exact, and the options it runs with: starting threads takes longer than most fits of the tests. */
const ih_impl    *referee(void);
const ih_options *one_thread(void);

/* The implementation named on the command line. Ends the program with 77 (skipped) if it is not there or not available;
 * with 1 if the name is unknown to the registry. */
const ih_impl *implementation_of(const char *program, const char *name);

/* A count or a time multiplied by the environment variable IH_TEST_SCALE (1 if unset), at least 1; less for an emulated device. */
int64_t scaled(int64_t count);

/* Under an IH_TEST_SCALE below 1: run every so-manieth test of a list only (odd, so that axes do not drop out). */
int64_t test_stride(void);

uint64_t hash_bytes(const void *at, size_t bytes);

/* Print y and w of one row as hexadecimal floats, at most `most` elements, to stderr. */
void print_row(const ih_problem *p, int64_t row, int64_t most);

#endif
