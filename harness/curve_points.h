/* SPDX-License-Identifier: Apache-2.0
 * curve_points.h: the points of a curve file, as `isohull predict` looks them up. */
#ifndef IH_HARNESS_CURVE_POINTS_H
#define IH_HARNESS_CURVE_POINTS_H

#include <stdint.h>

#include "io/fault.h"
#include "names.h"

typedef struct curve_points {
    names    groups;   /* one group called "" without a group column */
    int64_t  n;
    int64_t *offsets;  /* [groups.n + 1] points of each group         */
    double  *x, *fit;  /* [n]; x rises strictly within a group        */
} curve_points;

/* Read a curve. by: whether it must be grouped (the name of the data's group column) or must not be (NULL). Its group
 * column is the one of that name, or else the only one that is not x, fit or weight. Rows may come in any order. */
fault_kind curve_points_read(const char *path, const char *by, curve_points *curve, fault *f);
void       curve_points_free(curve_points *curve);

/* The number of a group, or -1. */
int64_t    curve_points_group(const curve_points *curve, const char *name, size_t bytes);

#endif
