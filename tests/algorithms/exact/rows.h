/* SPDX-License-Identifier: Apache-2.0
 * rows.h: rows that floating point cannot decide: all exponents, subnormal and huge values, cancellation, ties; and such a
 * row as the integers of algorithms/exact see it. */
#ifndef TESTS_EXACT_ROWS_H
#define TESTS_EXACT_ROWS_H

#include "common/row.h"
#include "exact/hull.h"
#include "exact/round.h"

#include "../../fits/rng.h"

enum { HARD_SHAPES = 11 };

typedef struct hard_row {
    ih_row       in;    /* for the exact level of the CPU */
    ih_exact_row row;   /* the same, without stops        */
    void        *y, *w;
    uint32_t    *stops; /* after hard_row_stops           */
    uint32_t    *room_words;
    ih_exact_space room;
} hard_row;

/* Memory is exactly as large as what it holds, so that AddressSanitizer sees every step outside. */
void hard_row_open(hard_row *h, rng *r, int64_t n, int shape, int32_t kind, int decreasing);
void hard_row_frame(hard_row *h); /* after y or w have changed */
void hard_row_stops(hard_row *h, int32_t shift);
void hard_row_close(hard_row *h);

#endif
