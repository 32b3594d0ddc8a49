/* SPDX-License-Identifier: Apache-2.0
 * shrink.h: make a failing problem small before it is printed. */
#ifndef TESTS_SHRINK_H
#define TESTS_SHRINK_H

#include "support.h"

/* Fit by the referee and by impl, compare. */
outcome fit_against_referee(const ih_impl *impl, const ih_problem *p, const ih_options *o, verdict *v);

/* The problem fails: find a row that fails alone, drop what is not needed for it to fail, and print it to stderr with the
 * verdict that it gives. Where no row fails alone, say so. */
void shrink_and_print(const ih_impl *impl, const ih_problem *p, const ih_options *o);

#endif
