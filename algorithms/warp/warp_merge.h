/* SPDX-License-Identifier: Apache-2.0
 * warp_merge.h: one merge of two segment lists by a warp (paper 3.3): the search at once, 32 candidates a step; then the
 * descriptors in rounds of 32. Functions here are called by whole warps with the same arguments in every lane.
 *
 * The bridge is the pair of points that are each other's tangents. Taking tangents in turns from the shared point outwards is what a
 * walk does, too, and ends after a few turns as a rule; the nested search, whose cost has a bound, comes after those. */
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
IH_ANY_JUDGE IH_DEV ih_place ih_warp_tangent(const ih_store *s, ih_any_judge *j, const ih_vertex *p, const ih_run *r, int32_t lane)
{
    ih_place k;
    int64_t  lo = r->first.segment, hi = r->last.segment;

    while (lo < hi) {
        k.segment = ih_probe_candidate(lo, hi - lo, IH_WARP, lane);
        k.vertex  = ih_run_high(r, k.segment);
        const ih_vertex here = ih_run_point(s, r, k), next = ih_run_point(s, r, ih_run_next(r, k));
        ih_warp_narrow(&lo, &hi, k.segment, ih_store_convex(s, j, p, &here, &next));
    }
    k.segment = lo;
    lo        = ih_run_low(r, k.segment);
    hi        = ih_run_high(r, k.segment);
    while (lo < hi) {
        k.vertex = (int32_t)ih_probe_candidate(lo, hi - lo, IH_WARP, lane);
        const ih_vertex here = ih_run_point(s, r, k), next = ih_run_point(s, r, ih_run_next(r, k));
        ih_warp_narrow(&lo, &hi, k.vertex, ih_store_convex(s, j, p, &here, &next));
    }
    k.vertex = (int32_t)lo;
    return k;
}

/* As ih_search. */
IH_ANY_JUDGE IH_DEV void ih_warp_search(const ih_store *s, ih_any_judge *j, const ih_run *l, const ih_run *r, ih_bridge *to, int32_t lane)
{
    ih_place i;
    ih_vertex from;
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

enum { IH_TURNS = 12 }; /* tangents from either side before the nested search */

/* The tangent from point b, right of all of l, to its vertices up to the last: those before it make convex turns with b. */
IH_ANY_JUDGE IH_DEV ih_place ih_warp_tangent_left_of(const ih_store *s, ih_any_judge *j, const ih_run *l, const ih_vertex *b, int32_t lane)
{
    ih_place k;
    int64_t  lo = l->first.segment + 1, hi = l->last.segment + 1; /* the first segment whose first vertex is behind the tangent */

    while (lo < hi) {
        k.segment = ih_probe_candidate(lo, hi - lo, IH_WARP, lane);
        k.vertex  = ih_run_low(l, k.segment);
        const ih_vertex here = ih_run_point(s, l, k), before = ih_run_point(s, l, ih_run_before(l, k));
        ih_warp_narrow(&lo, &hi, k.segment, !ih_store_convex(s, j, &before, &here, b));
    }
    k.segment = lo - 1;
    lo        = ih_run_low(l, k.segment) + 1;
    hi        = ih_run_high(l, k.segment) + 1;
    while (lo < hi) {
        k.vertex = (int32_t)ih_probe_candidate(lo, hi - lo, IH_WARP, lane);
        const ih_vertex here = ih_run_point(s, l, k), before = ih_run_point(s, l, ih_run_before(l, k));
        ih_warp_narrow(&lo, &hi, k.vertex, !ih_store_convex(s, j, &before, &here, b));
    }
    k.vertex = (int32_t)lo - 1;
    return k;
}

/* On input  as for ih_search; *to is where a walk stopped (l's last and r's first vertex, if there was none).
 * On output *to is the bridge. */
IH_ANY_JUDGE IH_DEV void ih_warp_bridge(const ih_store *s, ih_any_judge *j, ih_run l, ih_run r, ih_bridge *to, int32_t lane)
{
    for (int32_t turn = 0; turn < IH_TURNS; ++turn) {
        ih_place next;
        l.last        = to->a;
        r.first       = to->b;
        ih_vertex end = ih_run_point(s, &r, to->b);
        to->a         = ih_warp_tangent_left_of(s, j, &l, &end, lane);
        end           = ih_run_point(s, &l, to->a);
        next          = ih_warp_tangent(s, j, &end, &r, lane);
        if (ih_place_same(next, to->b)) return;
        to->b = next;
    }
    l.last  = to->a;
    r.first = to->b;
    ih_warp_search(s, j, &l, &r, to, lane);
}

/* The same out of line, for the quick judge: where bridges are near, its instructions are not waited for. */
typedef struct ih_found { ih_bridge bridge; ih_judge_quick judge; } ih_found;

IH_DEV_SLOW ih_found ih_warp_bridge_found(ih_store s, ih_run l, ih_run r, ih_bridge from, int32_t lane)
{
    ih_found found = { from, ih_judge_quick() };
    ih_warp_bridge(&s, &found.judge, l, r, &found.bridge, lane);
    return found;
}

IH_DEV ih_bridge ih_warp_bridge_apart(const ih_store *s, ih_judge_quick *j, const ih_run *l, const ih_run *r, ih_bridge from, int32_t lane)
{
    const ih_found found = ih_warp_bridge_found(*s, *l, *r, from, lane);
    ih_judge_add(j, &found.judge);
    j->undecided |= found.judge.undecided;
    return found.bridge;
}

/* Cut both lists at the bridge and move the rest of the right one behind the left one. Returns the number of segments. */
IH_DEV int64_t ih_warp_cut(ih_segment *left, int64_t n_left, ih_segment *right, int64_t n_right, ih_bridge bridge, ih_merge_count *count, int32_t lane)
{
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

/* ---- merges whose work is near the shared point ---- */

/* Up to 32 vertices of a list, a lane each, counted from the shared point outwards, from which their coordinates are measured. */
typedef struct ih_window {
    int32_t segment, vertex; /* the lane's vertex: in the list, in its slot                                            */
    int32_t count;           /* vertices here                                                                          */
    int32_t whole;           /* the list has no others                                                                 */
    double  x, y;            /* from the shared point                                                                  */
} ih_window;

#if defined(IH_PAPER)
#  include "../paper/window.h" /* turns in plain doubles */
#else
/* Coordinates of a vertex from a shared point whose chunk starts at y0, x0. *error grows to a bound on the error. */
IH_DEV double ih_window_y(const ih_store *s, const ih_segment *of, int32_t vertex, ih_pair y0, double *error)
{
    const ih_chunk_record *r = &s->records[of->chunk];
    const double           y = s->y[of->slot + vertex], start = r->y.hi - y0.hi, low_part = r->y.lo - y0.lo;
    const double           e = 0x1p-51 * (fabs(start) + fabs(y) + fabs(low_part)) + (r->near_y + r->lost_y0);
    if (e > *error || e != e) *error = e;
    return (start + y) + low_part;
}

IH_DEV double ih_window_x(const ih_store *s, const ih_segment *of, int32_t vertex, ih_pair x0, double *error)
{
    const ih_chunk_record *r = &s->records[of->chunk];
    const double           x = s->x[of->slot + vertex], start = r->x.hi - x0.hi, low_part = r->x.lo - x0.lo;
    const double           e = 0x1p-51 * (fabs(start) + fabs(x) + fabs(low_part)) + (r->near_x + r->lost_x0);
    if (e > *error || e != e) *error = e;
    return (start + x) + low_part;
}

/* Of all lanes, and of the shared point's start. */
IH_DEV void ih_window_errors(const ih_chunk_record *origin, double *error_y, double *error_x)
{
    *error_y = ih_warp_bound(*error_y) + origin->lost_y0;
    *error_x = ih_warp_bound(*error_x) + origin->lost_x0;
}

/* Turn at points of windows: coordinates off by at most ey and ex each. 1, 0, or -1: undecided. */
IH_DEV int32_t ih_window_convex(double xa, double ya, double xb, double yb, double xd, double yd, double ey, double ex)
{
    const double  x1 = xb - xa, y1 = yb - ya, x2 = xd - xb, y2 = yd - yb;
    const ih_turn turn = ih_turn_filter(x1, 2 * ex + 0x1p-52 * fabs(x1), y1, 2 * ey + 0x1p-52 * fabs(y1), x2, 2 * ex + 0x1p-52 * fabs(x2), y2, 2 * ey + 0x1p-52 * fabs(y2));
    return turn == IH_TURN_UNDECIDED ? -1 : turn == IH_TURN_CONVEX;
}
#endif

/* segments [n]: a list, of which `from_end` says whether the shared point is its last vertex or its first. index0, y0, x0: of the
 * shared point's chunk start. *error grows to bounds on the errors of y and x. */
IH_DEV ih_window ih_window_of(const ih_store *s, const ih_segment *segments, int64_t n, int32_t from_end, int64_t index0, ih_pair y0, ih_pair x0, double *error_y,
                              double *error_x, int32_t lane)
{
    const int32_t listed = n < 32 ? (int32_t)n : 32;
    ih_segment    own = { 0, 0, -1, 0, 0 };
    ih_window     w;
    int32_t       sum, at = 0, first;

    if (lane < listed) own = segments[from_end ? n - 1 - lane : lane];
    sum = own.last - own.first + 1;
    for (int32_t by = 1; by < 32; by *= 2) {
        const int32_t before = __shfl_up_sync(IH_ALL_LANES, sum, (unsigned)by);
        if (lane >= by) sum = sum + before < 1 << 20 ? sum + before : 1 << 20;
    }
    w.count = __shfl_sync(IH_ALL_LANES, sum, 31);
    w.whole = n <= 32 && w.count <= 32;
    w.count = w.count < 32 ? w.count : 32;
    for (int32_t step = 16; step > 0; step /= 2) /* the segment of vertex number `lane` */
        if (__shfl_sync(IH_ALL_LANES, sum, at + step - 1) <= lane) at += step;
    first = __shfl_sync(IH_ALL_LANES, sum - (own.last - own.first + 1), at & 31);
    {
        const int32_t low = __shfl_sync(IH_ALL_LANES, own.first, at & 31), high = __shfl_sync(IH_ALL_LANES, own.last, at & 31);
        ih_segment    of;
        of.chunk  = __shfl_sync(IH_ALL_LANES, own.chunk, at & 31);
        of.slot   = __shfl_sync(IH_ALL_LANES, (long long)own.slot, at & 31);
        w.segment = from_end ? (int32_t)(n - 1 - at) : at;
        w.vertex  = from_end ? high - (lane - first) : low + (lane - first);
        w.x = w.y = 0;
        if (lane < w.count) {
            w.y = ih_window_y(s, &of, w.vertex, y0, error_y);
            if (s->values.kind & IH_KIND_WEIGHTED) {
                w.x = ih_window_x(s, &of, w.vertex, x0, error_x);
            } else {
                const int64_t index = ih_store_index(s, &of, w.vertex);
                w.x = index >= index0 ? ih_index_double(index - index0) : -ih_index_double(index0 - index);
            }
        }
    }
    return w;
}

/* The bridge, if it lies within 32 vertices of the shared point on either side and filters decide all on the way: 1 and *to.
 * 0: nothing is known. The turn at the shared point is not convex. */
IH_DEV int32_t ih_window_bridge(const ih_store *s, ih_judge_quick *j, const ih_segment *left, int64_t n_left, const ih_segment *right, int64_t n_right, ih_bridge *to,
                                int32_t lane)
{
    const ih_chunk_record *origin = &s->records[right[0].chunk]; /* the shared point is the first of this chunk */
    const int64_t          index0 = (int64_t)right[0].chunk * s->size;
    const ih_pair          y0 = origin->y, x0 = origin->x;
    double                 ey = 0, ex = 0;
    const ih_window        l = ih_window_of(s, left, n_left, 1, index0, y0, x0, &ey, &ex, lane), r = ih_window_of(s, right, n_right, 0, index0, y0, x0, &ey, &ex, lane);
    const double           lx = __shfl_down_sync(IH_ALL_LANES, l.x, 1), ly = __shfl_down_sync(IH_ALL_LANES, l.y, 1); /* the next ones outwards */
    const double           rx = __shfl_down_sync(IH_ALL_LANES, r.x, 1), ry = __shfl_down_sync(IH_ALL_LANES, r.y, 1);
    int32_t                a = 1, b = 1; /* 0 is the shared point in either */

    ih_window_errors(origin, &ey, &ex);
    for (;;) {
        const double bx = __shfl_sync(IH_ALL_LANES, r.x, b), by = __shfl_sync(IH_ALL_LANES, r.y, b);
        int32_t      turn = 0, next;
        uint32_t     hits;
        if (lane >= a && lane < l.count) { /* the first from there on that makes a convex turn with what is before it */
            if (lane + 1 < l.count) turn = ih_window_convex(lx, ly, l.x, l.y, bx, by, ey, ex), ++j->by_filter;
            else turn = l.whole;
        }
        if (__any_sync(IH_ALL_LANES, turn < 0)) return 0;
        hits = __ballot_sync(IH_ALL_LANES, turn);
        if (!hits) return 0;
        a = ih_bit_low(hits);
        {
            const double ax = __shfl_sync(IH_ALL_LANES, l.x, a), ay = __shfl_sync(IH_ALL_LANES, l.y, a);
            turn = 0;
            if (lane >= b && lane < r.count) {
                if (lane + 1 < r.count) turn = ih_window_convex(ax, ay, r.x, r.y, rx, ry, ey, ex), ++j->by_filter;
                else turn = r.whole;
            }
        }
        if (__any_sync(IH_ALL_LANES, turn < 0)) return 0;
        hits = __ballot_sync(IH_ALL_LANES, turn);
        if (!hits) return 0;
        next = ih_bit_low(hits);
        if (next == b) break;
        b = next;
    }
    to->a.segment = __shfl_sync(IH_ALL_LANES, l.segment, a);
    to->a.vertex  = __shfl_sync(IH_ALL_LANES, l.vertex, a);
    to->b.segment = __shfl_sync(IH_ALL_LANES, r.segment, b);
    to->b.vertex  = __shfl_sync(IH_ALL_LANES, r.vertex, b);
    return 1;
}

/* The bridge of two lists by a warp, from the test at the shared point on. */
IH_ANY_JUDGE IH_DEV ih_bridge ih_warp_bridge_of(const ih_store *s, ih_any_judge *j, const ih_segment *left, int64_t n_left, const ih_segment *right, int64_t n_right, int32_t lane)
{
    const ih_run   l = ih_run_without_last(left, n_left), r = ih_run_without_first(right, n_right);
    const ih_place shared = { n_left - 1, left[n_left - 1].last };
    ih_any_judge   first  = ih_any_judge(); /* alike in all lanes */
    ih_bridge      bridge = { l.last, r.first };
    const int32_t  convex = ih_merge_convex(s, &first, &l, &r, shared, left);
    if (lane == 0) ih_judge_add(j, &first);
    j->undecided |= first.undecided;
    if (convex) bridge.a = shared;
    else ih_warp_bridge(s, j, l, r, &bridge, lane);
    return bridge;
}

/* As ih_merge_lists with rule.warp. 0: a lane's judge is undecided. Where the turn at the shared point is convex, which is known after
 * three vertices, nothing else is read. */
IH_DEV int64_t ih_warp_merge_lists(const ih_store *s, ih_judge_quick *j, ih_segment *left, int64_t n_left, ih_segment *right, int64_t n_right,
                                   ih_merge_count *count, int32_t lane)
{
    const ih_run   l = ih_run_without_last(left, n_left), r = ih_run_without_first(right, n_right);
    const ih_place shared = { n_left - 1, left[n_left - 1].last };
    ih_judge_quick first = ih_judge_quick(); /* alike in all lanes */
    ih_bridge      bridge = { shared, r.first };
    const int32_t  convex = ih_merge_convex(s, &first, &l, &r, shared, left);

    if (lane == 0) ih_judge_add(j, &first);
    if (!convex) { /* or undecided */
        if (first.undecided) return 0;
        if (n_left > INT32_MAX || n_right > INT32_MAX || !ih_window_bridge(s, j, left, n_left, right, n_right, &bridge, lane)) {
            bridge.a = l.last;
            bridge.b = r.first;
            bridge   = ih_warp_bridge_apart(s, j, &l, &r, bridge, lane);
        }
        if (__any_sync(IH_ALL_LANES, j->undecided)) return 0; /* nothing is cut */
        ++count->searches;
    }
    return ih_warp_cut(left, n_left, right, n_right, bridge, count, lane);
}

#endif
