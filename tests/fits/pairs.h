/* SPDX-License-Identifier: Apache-2.0
 * pairs.h: few tests that together contain every pair of values of every two axes. */
#ifndef TESTS_PAIRS_H
#define TESTS_PAIRS_H

#include "rng.h"

enum { PAIRS_AXES = 16 };

typedef struct pairs {
    int            axes, values[PAIRS_AXES];  /* axis a has the values 0 .. values[a] - 1               */
    int            first[PAIRS_AXES], total;  /* value v of axis a has the number first[a] + v          */
    unsigned char *covered;                   /* [total][total], both ways round                        */
    int64_t        missing;
    int            seek_a, seek_b;            /* no pair before this one, in row order, is missing      */
    rng            random;
} pairs;

void pairs_open(pairs *p, const int *values, int axes, uint64_t seed);

/* The next test: one value for each axis. 0 when every pair has been in a test. */
int  pairs_next(pairs *p, int *test);
void pairs_close(pairs *p);

#endif
