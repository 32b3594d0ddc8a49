/* SPDX-License-Identifier: Apache-2.0
 * bridges.h: two neighbouring segment lists of a random row whose shared point goes, and the bridge between them. */
#ifndef TESTS_BRIDGES_H
#define TESTS_BRIDGES_H

#include "chunks.h"
#include "row/merge.h"

enum { IH_WARP_CANDIDATES = IH_WARP };

typedef struct bridge_case {
    test_row row;
    diagram  exact;
    chunked  rows;
    ih_judge judge;
    ih_run   left, right; /* without the shared point                             */
    int64_t  a, b;        /* indices of the bridge's ends                         */
    int64_t  removed;     /* vertices that the merge removes, the shared one too   */
} bridge_case;

/* 0: the shared point stays (or, on a device, a turn was left open), nothing is open. */
int     bridge_open(bridge_case *c, rng *r, int round);
void    bridge_close(bridge_case *c);
int64_t bridge_index(const bridge_case *c, const ih_run *run, ih_place p);

/* Merge the chunks from .. to - 1 of a row, as a tree would; returns the number of segments at segments[from]. */
int64_t bridge_tree(chunked *c, ih_judge *j, int64_t from, int64_t to, ih_merge_rule rule, ih_merge_count *count);

#endif
