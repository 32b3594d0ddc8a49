/* SPDX-License-Identifier: Apache-2.0
 * root.h: reading the fit off the root list (paper 3.4): the segment of a chunk, and the edges between segments. */
#ifndef IH_ROW_ROOT_H
#define IH_ROW_ROOT_H

#include "../common/segment.h"

/* The block over an edge that leaves a segment: one for every element from its last vertex to the next segment's first. */
typedef struct ih_edge { double z, mean, weight; } ih_edge;

/* The last segment of the list whose chunk is at or before `chunk`. The first segment is of the row's first chunk, so that
 * there is one. */
IH_HD int64_t ih_root_find(const ih_segment *segments, int64_t count, int64_t chunk)
{
    int64_t lo = 0, hi = count; /* segments[lo].chunk <= chunk < segments[hi].chunk */
    while (hi - lo > 1) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (segments[mid].chunk <= chunk) lo = mid;
        else hi = mid;
    }
    return lo;
}

#endif
