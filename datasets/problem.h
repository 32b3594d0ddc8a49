/* SPDX-License-Identifier: Apache-2.0
 * problem.h: problem strings, which name a test, a benchmark cell and a record: "noise:f32:w=extreme:rows=3:n=1025:seed=7".
 *
 *   problem  = family *( ":" item )               the family first, the items in any order, each at most once
 *   item     = "f32" | "f64" | key "=" value
 *   key      = "n" | "rows" | "seed" | "w" | "ragged" | "dec" | "min" | "max" | a parameter of the family
 *   file     = "file:" path *( ":" item )         items: "f32" | "f64" | "w" | "weights" | "offsets" | "dec" | "min" | "max"
 *
 * In paths ':' and '%' are written %3A and %25; any byte may be written %XX. n is required (a family's) and is the
 * length of a row, or its nominal length if rows are ragged. Defaults: f32 (a file: its own type), rows 1, seed 0,
 * w unit, ragged none, dec 0, min -inf, max inf. docs/families.md explains the families and their parameters.
 *
 * Canonical order: family, type (always written for a family), w, parameters in the order of families.def, rows,
 * ragged, n (always written for a family), seed, dec, min, max; what has its default value is left out. */
#ifndef IH_DATASETS_PROBLEM_H
#define IH_DATASETS_PROBLEM_H

#include "datasets/families.h"

enum { IH_SPEC_PATH = 4096, IH_SPEC_MESSAGE = 1024 };

/* A parsed problem string. Plain data: copy it as you like. */
typedef struct ih_spec {
    ih_family    family;
    ih_dtype     dtype;
    int32_t      dtype_given; /* file only: the string names a type; otherwise dtype is not meaningful */
    ih_weighting weighting;
    ih_ragged    ragged;
    int32_t      decreasing;
    int64_t      rows, n, seed; /* not for a file */
    double       min, max;
    double       parameter[IH_MAX_PARAMETERS];
    char         path[IH_SPEC_PATH], weights[IH_SPEC_PATH], offsets[IH_SPEC_PATH]; /* file only, decoded; "" for none */
} ih_spec;

/* Parse text. 0: *out is filled. Otherwise *out is undefined and message (IH_SPEC_MESSAGE bytes are enough) holds one
 * line for a person. */
int ih_spec_parse(ih_spec *out, const char *text, char *message, size_t message_bytes);

/* Write the canonical string; returns its length without the terminating 0, as snprintf does. Parsing it gives *s. */
size_t ih_spec_format(const ih_spec *s, char *text, size_t text_bytes);

/* "noise", ... or "file". */
const char *ih_spec_family_name(const ih_spec *s);

/* 1 if both name the same problem. */
int ih_spec_equal(const ih_spec *a, const ih_spec *b);

#endif
