/* SPDX-License-Identifier: Apache-2.0
 * warp_merge.h: one merge of two segment lists by a warp (paper 3.3): the search at once, 32 candidates a step; then the
 * descriptors in rounds of 32. Functions here are called by whole warps with the same arguments in every lane. */
#ifndef IH_WARP_MERGE_H
#define IH_WARP_MERGE_H

#include "../row/merge.h"
#include "warp_chunk.h"

/* One step of a search: the lane's candidate answered `yes` (false .. true over lanes): the range becomes narrower. */
IH_DEV void ih_warp_narrow(int64_t *lo, int64_t *hi, int64_t own, int32_t yes)
{
    const uint32_t hits  = __ballot_sync(IH_ALL_LANES, yes);
    const int32_t  first = hits ? ih_bit_low(hits) : 32;
    const int64_t  at    = __shfl_sync(IH_ALL_LANES, (long long)own, first & 31);
    const int64_t  under = __shfl_sync(IH_ALL_LANES, (long long)own, (first + 31) & 31); /* the candidate before */
    if (first < 32) *hi = at;
    if (first > 0) *lo = under + 1;
}

/* The tangent from point p, left of all of r. */
IH_DEV ih_place ih_warp_tangent(const ih_store *s, ih_judge *j, const ih_point *p, const ih_run *r, int32_t lane)
{
    ih_place k;
    int64_t  lo = r->first.segment, hi = r->last.segment;

    while (lo < hi) {
        k.segment = ih_probe_candidate(lo, hi - lo, IH_WARP, lane);
        k.vertex  = ih_run_high(r, k.segment);
        const ih_point here = ih_run_point(s, r, k), next = ih_run_point(s, r, ih_run_next(r, k));
        ih_warp_narrow(&lo, &hi, k.segment, ih_store_convex(s, j, p, &here, &next));
    }
    k.segment = lo;
    lo        = ih_run_low(r, k.segment);
    hi        = ih_run_high(r, k.segment);
    while (lo < hi) {
        k.vertex = (int32_t)ih_probe_candidate(lo, hi - lo, IH_WARP, lane);
        const ih_point here = ih_run_point(s, r, k), next = ih_run_point(s, r, ih_run_next(r, k));
        ih_warp_narrow(&lo, &hi, k.vertex, ih_store_convex(s, j, p, &here, &next));
    }
    k.vertex = (int32_t)lo;
    return k;
}

/* As ih_search. */
IH_DEV void ih_warp_search(const ih_store *s, ih_judge *j, const ih_run *l, const ih_run *r, ih_bridge *to, int32_t lane)
{
    ih_place i;
    ih_point from;
    int64_t  lo = l->first.segment, hi = l->last.segment;

    while (lo < hi) {
        i.segment = ih_probe_candidate(lo, hi - lo, IH_WARP, lane);
        i.vertex  = ih_run_high(l, i.segment);
        ih_warp_narrow(&lo, &hi, i.segment, ih_side_reached(s, j, l, i, r, 1));
    }
    i.segment = lo;
    lo        = ih_run_low(l, i.segment);
    hi        = ih_run_high(l, i.segment);
    while (lo < hi) {
        i.vertex = (int32_t)ih_probe_candidate(lo, hi - lo, IH_WARP, lane);
        ih_warp_narrow(&lo, &hi, i.vertex, ih_side_reached(s, j, l, i, r, 1));
    }
    i.vertex = (int32_t)lo;
    from     = ih_run_point(s, l, i);
    to->a    = i;
    to->b    = ih_warp_tangent(s, j, &from, r, lane);
}

/* As ih_merge_lists with rule.warp. */
IH_DEV int64_t ih_warp_merge_lists(const ih_store *s, ih_judge *j, ih_segment *left, int64_t n_left, ih_segment *right, int64_t n_right,
                                   ih_merge_count *count, int32_t lane)
{
    const ih_run   l = ih_run_without_last(left, n_left), r = ih_run_without_first(right, n_right);
    const ih_place shared = { n_left - 1, left[n_left - 1].last };
    ih_bridge      bridge = { l.last, r.first };

    ih_judge       same = { 0, 0, 0, 0 }; /* of all lanes but the first, for what all do alike */

    if (ih_merge_convex(s, lane == 0 ? j : &same, &l, &r, shared, left)) {
        bridge.a = shared;
    } else {
        ++count->searches;
        ih_warp_search(s, j, &l, &r, &bridge, lane);
    }
    __syncwarp();
    if (lane == 0) {
        left[bridge.a.segment].last   = bridge.a.vertex;
        right[bridge.b.segment].first = bridge.b.vertex;
    }
    __syncwarp();
    n_left = bridge.a.segment + 1;
    n_right -= bridge.b.segment;
    if (left + n_left != right + bridge.b.segment) { /* the target lies below the source: rising order, read before write */
        for (int64_t k = lane; k - lane < n_right; k += IH_WARP) {
            ih_segment held = { 0, 0, 0, 0, 0 };
            if (k < n_right) held = right[bridge.b.segment + k];
            __syncwarp();
            if (k < n_right) left[n_left + k] = held;
            __syncwarp();
        }
        count->moved += n_right;
    }
    return n_left + n_right;
}

#endif
