/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves: the isotonic fit of y on x from a CSV table (`isohull fit data.csv`), and its evaluation (`isohull predict`).
 *
 * A curve has one row per distinct x, ascending, with columns GROUP (only if grouped, under its own name), x, fit and
 * weight. Groups are sorted by the bytes of their names. Numbers are float64 with the fewest digits that read back the same.
 */
#ifndef IH_HARNESS_CURVE_H
#define IH_HARNESS_CURVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "io/fault.h"
#include "isohull.h"

/* ---------------------------------------------------------------- observations of a table ---- */

typedef struct curve_columns {
    const char *x, *y; /* names of columns             */
    const char *w;     /* or NULL: weights of 1        */
    const char *by;    /* or NULL: one group           */
} curve_columns;

/* Observations as the solver takes them: group after group, x ascending; within tied x y falls (rises for a decreasing
 * fit), so that the solver pools them into one block, exactly. */
typedef struct curve_data {
    ih_direction direction;
    int64_t      n;          /* observations                                             */
    int64_t      skipped;    /* rows left out because of missing cells                   */
    int64_t      groups;     /* 1 without --by (also if n is 0)                          */
    char       **names;      /* [groups]; "" without --by                                */
    char        *by;         /* name of the group column, or NULL                        */
    int64_t     *offsets;    /* [groups + 1]: observations of group k                    */
    double      *x, *y, *w;  /* [n]; w is NULL without weights                           */
    int64_t     *source;     /* [n]: number of the observation in the input, from 0      */
} curve_data;

/* Read a CSV file. skip_missing: leave out rows in which a used cell is empty or NA. *data is initialised here. */
fault_kind curve_read(const char *path, const curve_columns *columns, ih_direction direction, bool skip_missing,
                      curve_data *data, fault *f);

/* The same from arrays of one group (w may be NULL), which are copied. */
fault_kind curve_from_arrays(const double *x, const double *y, const double *w, int64_t n, ih_direction direction,
                             curve_data *data, fault *f);
void       curve_free(curve_data *data);

/* The problem to fit: float64, ragged, one row per group. Bounds are the caller's to set. */
void       curve_problem(const curve_data *data, ih_problem *problem);

/* Write the curve of a fit z [n] of that problem. */
fault_kind curve_write(const curve_data *data, const double *z, FILE *stream, fault *f);

/* ---------------------------------------------------------------- evaluation ---- */

typedef enum curve_outside { CURVE_OUTSIDE_NAN, CURVE_OUTSIDE_CLIP, CURVE_OUTSIDE_ERROR } curve_outside;

/* The curve through (x[k], fit[k]), x rising strictly, at a finite query: linear between the points, and never outside
 * the two neighbours' fits. Out of range: *outside is set and the result is the nearest end's fit (NaN if n is 0). */
double curve_value(const double *x, const double *fit, int64_t n, double query, bool *outside);

typedef struct predict_request {
    const char   *curve_path, *data_path;
    const char   *x;       /* column of the data                                                         */
    const char   *by;      /* group column of the data, or NULL                                          */
    curve_outside outside; /* an unknown group is out of range of everything: NaN under clip too          */
} predict_request;

typedef struct predict_report {
    int64_t rows, outside; /* of the data; how many were out of range (unknown groups included) */
} predict_report;

/* Write the rows of the data as they stand, with a last column `fit`. */
fault_kind curve_predict(const predict_request *request, FILE *stream, predict_report *report, fault *f);

#endif
