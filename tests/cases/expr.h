/* SPDX-License-Identifier: Apache-2.0
 * expr.h: integer expressions of the generated arrays: + - * / %, comparisons that give 0 or 1, parentheses. */
#ifndef TESTS_EXPR_H
#define TESTS_EXPR_H

#include <stdint.h>

enum { EXPR_NAMES = 16 }; /* variables at most */

typedef struct expr expr;

/* names[0 .. count): what variables are called; their values are given in this order. NULL if the text is no expression
 * of known names. */
expr   *expr_parse(const char *text, const char *const *names, int count);
int64_t expr_eval(const expr *e, const int64_t *values);
void    expr_free(expr *e);

#endif
