/* SPDX-License-Identifier: Apache-2.0
 * diagram.h: the cumulative sum diagram of a row in GMP rationals, its hulls by a plain chain, and rows whose hulls have
 * few vertices, many, ties and near ties. The reference of the stage headers. */
#ifndef TESTS_DIAGRAM_H
#define TESTS_DIAGRAM_H

#include "common/values.h"
#include "../../fits/rng.h"

#include <gmp.h>

typedef struct diagram {
    int64_t n;
    mpq_t  *x, *y; /* [n + 1] */
} diagram;

void diagram_open(diagram *d, const ih_values *v, int64_t n);
void diagram_close(diagram *d);

/* Sign of the turn at points a < b < c: 1 convex, 0 straight, -1 concave. */
int diagram_turn(const diagram *d, int64_t a, int64_t b, int64_t c);

/* Vertices of the lower hull of points from .. to, without middle points of edges; returns their number. */
int64_t diagram_hull(const diagram *d, int64_t from, int64_t to, int64_t *vertices);

/* Exact turns as the third level of a judge: user is a diagram. */
int32_t diagram_exact(void *user, int64_t a, int64_t b, int64_t c);

/* A row in memory of its own. */
typedef struct test_row {
    ih_values values;
    int64_t   n;
    void     *y, *w;
} test_row;

enum { TEST_ROW_SHAPES = 13 };

/* shape: see diagram.c; kind: of ih_values. */
void test_row_open(test_row *row, rng *r, int64_t n, int shape, int32_t kind, int sign);
void test_row_close(test_row *row);

#endif
