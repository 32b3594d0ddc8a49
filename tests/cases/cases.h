/* SPDX-License-Identifier: Apache-2.0
 * cases.h: one case of tests/data/cases/cases.jsonl, and the checks that make up a run of it. */
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include "numbers.h"
#include "support.h"

typedef struct test_case {
    const char   *id, *kind;
    const json_t *json, *expect;
    ih_dtype      dtype;
    shape         shape;
    ih_problem    problem;   /* over y and w below                                    */
    double       *y, *w;     /* as they stand in the case, or as the file was read    */
    void         *typed_y, *typed_w;
    int64_t      *order;     /* case with positions: problem element k is element order[k] of the case; else NULL */
} test_case;

typedef struct report {
    const ih_impl *impl;
    const char    *id;
    int            failed, skipped; /* of the case at hand */
    char           why_skipped[128];
} report;

void case_fail(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void case_skip(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The field of the case or of its expectation; NULL if it is absent or null. */
const json_t *case_field(const test_case *c, const char *name);
const json_t *case_expected(const test_case *c, const char *name);

/* Build c->problem from c->y and c->w (in the order of c->order). */
void case_set_problem(test_case *c);

/* ---- the checks; each reports by case_fail or case_skip ---- */

/* read the file of the case into c->y and c->w, under its locale. 0: it could not be read, as expected or not. */
int  check_file(report *r, test_case *c);
/* put the observations into the order of their positions */
void check_positions(report *r, test_case *c);
/* fit, and compare status, place, z and blocks. 1: the fit succeeded, and its outputs are in *result (opened here) */
int  check_fit(report *r, const test_case *c, fit_result *result);
void check_gradient(report *r, const test_case *c, const fit_result *result);
void check_prediction(report *r, const test_case *c, const fit_result *result);
void check_text(report *r, const test_case *c, const fit_result *result);
void check_soft_rank(report *r, const test_case *c);
void check_growth(report *r, const test_case *c);

#endif
