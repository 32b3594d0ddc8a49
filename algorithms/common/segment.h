/* SPDX-License-Identifier: Apache-2.0
 * segment.h: segment lists (paper 3.3, Definition 4.3): a hull as ranges of chunk hulls, at most one a chunk.
 *
 *   slot of chunk j:  | v0 | v1 | ... | v_last |
 *   segment (j,l,h,v):        ^l          ^h      cut by moving l and h; the vertices never move
 */
#ifndef IH_COMMON_SEGMENT_H
#define IH_COMMON_SEGMENT_H

#include "hd.h"

#include <stdint.h>

typedef struct ih_segment {
    int32_t chunk;       /* within the row                                   */
    int32_t first, last; /* vertices that survive, as positions in the slot  */
    int32_t rises;       /* devices: do the values rise at the chunk's first point? */
    int64_t slot;        /* where the chunk's vertices begin                 */
} ih_segment;

typedef struct ih_place { int64_t segment; int32_t vertex; } ih_place; /* a vertex of a list: in the slot of its segment */

/* A run of vertices of a list, from one place to another, both included. */
typedef struct ih_run {
    const ih_segment *segments;
    ih_place          first, last;
} ih_run;

IH_HD int32_t ih_place_same(ih_place a, ih_place b) { return a.segment == b.segment && a.vertex == b.vertex; }

/* Range of a segment within a run. */
IH_HD int32_t ih_run_low(const ih_run *r, int64_t segment) { return segment == r->first.segment ? r->first.vertex : r->segments[segment].first; }
IH_HD int32_t ih_run_high(const ih_run *r, int64_t segment) { return segment == r->last.segment ? r->last.vertex : r->segments[segment].last; }

/* Neighbours within a run; there must be one. */
IH_HD ih_place ih_run_next(const ih_run *r, ih_place p)
{
    if (p.vertex < ih_run_high(r, p.segment)) {
        ++p.vertex;
    } else {
        ++p.segment;
        p.vertex = ih_run_low(r, p.segment);
    }
    return p;
}

IH_HD ih_place ih_run_before(const ih_run *r, ih_place p)
{
    if (p.vertex > ih_run_low(r, p.segment)) {
        --p.vertex;
    } else {
        --p.segment;
        p.vertex = ih_run_high(r, p.segment);
    }
    return p;
}

/* A whole list of `count` segments. */
IH_HD ih_run ih_run_of(const ih_segment *segments, int64_t count)
{
    ih_run r;
    r.segments      = segments;
    r.first.segment = 0;
    r.first.vertex  = segments[0].first;
    r.last.segment  = count - 1;
    r.last.vertex   = segments[count - 1].last;
    return r;
}

#endif
