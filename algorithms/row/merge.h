/* SPDX-License-Identifier: Apache-2.0
 * merge.h: one merge of two segment lists, in place (paper 3.3, Algorithm 1). */
#ifndef IH_ROW_MERGE_H
#define IH_ROW_MERGE_H

#include "../thread/search.h"

enum { IH_WARP = 32 };

/* How a merge looks for its bridge: a thread walks at most cap steps (-1: no cap), then bisects; a warp searches at once. */
typedef struct ih_merge_rule { int64_t walk_cap; int32_t warp; } ih_merge_rule;

typedef struct ih_merge_count {
    ih_walk_count walk;
    int64_t       searches;
    int64_t       moved; /* descriptors moved by this merge */
} ih_merge_count;

/* The list without its last or first vertex, which is shared; both have another one. A segment of that vertex alone is
 * left out whole. */
IH_HD ih_run ih_run_without_last(const ih_segment *segments, int64_t count)
{
    ih_run r = ih_run_of(segments, count);
    r.last   = ih_run_before(&r, r.last);
    return r;
}

IH_HD ih_run ih_run_without_first(const ih_segment *segments, int64_t count)
{
    ih_run r = ih_run_of(segments, count);
    r.first  = ih_run_next(&r, r.first);
    return r;
}

/* Is the turn at the shared point convex? l ends before it, r begins after it. Between neighbours the two values decide, whatever their sums. */
IH_ANY_JUDGE IH_HD int32_t ih_merge_convex(const ih_store *s, ih_any_judge *j, const ih_run *l, const ih_run *r, ih_place shared, const ih_segment *left)
{
    if (!ih_store_rises(s, &r->segments[0])) {
        ++j->by_filter;
        return 0;
    }
    {
        const ih_run    whole  = { left, l->first, shared };
        const ih_vertex before = ih_run_point(s, l, l->last), here = ih_run_point(s, &whole, shared), after = ih_run_point(s, r, r->first);
        if (ih_store_neighbours(&before, &after)) {
            ++j->by_filter;
            return 1;
        }
        return ih_store_convex(s, j, &before, &here, &after);
    }
}

/* Look for the bridge of two lists as a thread does; l ends before the shared point, r begins after it. 1: *bridge is it (a the
 * shared point itself, if the turn there is convex). 0: the walk was capped, or none is wanted; *bridge is where it stopped. */
IH_ANY_JUDGE IH_HD int32_t ih_merge_walk(const ih_store *s, ih_any_judge *j, const ih_segment *left, int64_t n_left, const ih_run *l, const ih_run *r, int64_t walk_cap,
                            ih_bridge *bridge, ih_merge_count *count)
{
    const ih_place shared = { n_left - 1, left[n_left - 1].last };

    bridge->a = l->last;
    bridge->b = r->first;
    if (ih_merge_convex(s, j, l, r, shared, left)) {
        bridge->a = shared; /* left stays whole, right begins at the successor of s */
        return 1;
    }
    return walk_cap != 0 && ih_walk(s, j, l, r, walk_cap, bridge, &count->walk);
}

/* Cut both lists at the bridge and move the rest of the right one behind the left one. Returns the number of segments. */
IH_HD int64_t ih_merge_cut(ih_segment *left, int64_t n_left, ih_segment *right, int64_t n_right, ih_bridge bridge, ih_merge_count *count)
{
    left[bridge.a.segment].last   = bridge.a.vertex;
    right[bridge.b.segment].first = bridge.b.vertex;
    n_left                        = bridge.a.segment + 1;
    n_right -= bridge.b.segment;
    if (left + n_left != right + bridge.b.segment) { /* the target lies below the source: rising order is safe */
        for (int64_t k = 0; k < n_right; ++k) left[n_left + k] = right[bridge.b.segment + k];
        count->moved += n_right;
    }
    return n_left + n_right;
}

/* Merge list left [n_left] with list right [n_right], which begins at the shared point s, at which left ends.
 * On output the merged list stands at left; the number of its segments is returned.
 * Before   both are segment lists of neighbouring nodes (Theorem 4.4); left has room for n_left + n_right.
 * After    so is the result. */
IH_ANY_JUDGE IH_HD int64_t ih_merge_lists(const ih_store *s, ih_any_judge *j, ih_segment *left, int64_t n_left, ih_segment *right, int64_t n_right,
                             ih_merge_rule rule, ih_merge_count *count)
{
    ih_run    l = ih_run_without_last(left, n_left), r = ih_run_without_first(right, n_right);
    ih_bridge bridge;

    if (!ih_merge_walk(s, j, left, n_left, &l, &r, rule.warp ? 0 : rule.walk_cap, &bridge, count)) {
        l.last  = bridge.a;
        r.first = bridge.b;
        ++count->searches;
        ih_search(s, j, &l, &r, rule.warp ? IH_WARP : 1, &bridge);
    }
    return ih_merge_cut(left, n_left, right, n_right, bridge, count);
}

/* Levels of the tree over m chunks: ceil(log2 m). */
IH_HD int32_t ih_tree_levels(int64_t chunks)
{
    int32_t levels = 0;
    while (((int64_t)1 << levels) < chunks) ++levels;
    return levels;
}

/* Merges of a level: pairs of nodes of 2^level chunks. */
IH_HD int64_t ih_tree_merges(int64_t chunks, int32_t level)
{
    const int64_t nodes = (chunks + ((int64_t)1 << level) - 1) >> level;
    return nodes / 2;
}

#endif
