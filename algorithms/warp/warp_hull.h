/* SPDX-License-Identifier: Apache-2.0
 * warp_hull.h: the hulls of the groups of a warp (paper 3.1, 3.2): lane hulls, joined in rounds. Two lanes of each pair of
 * halves walk a few steps from their shared point, one to the left and one to the right; where that is not enough the warp finds the bridge together: a walk
 * takes tangents in turns, from the right end to the left hull and back, and a tangent is found in two steps, first its
 * lane and then its bit, each a turn a lane. */
#ifndef IH_WARP_HULL_H
#define IH_WARP_HULL_H

#include "warp_chunk.h"

/* Steps that lanes walk before the warp takes over: more where many lanes walk at once. */
IH_DEV int32_t ih_lane_walk_cap(int32_t width, int32_t lanes) { return width >= lanes / 2 ? 4 : width >= 8 ? 6 : width >= 4 ? 10 : width >= 2 ? 16 : 24; }

/* The last vertex before each lane's first point, among the words given, -1: none. group: the lanes that are looked at, of which
 * `first` is the first. */
IH_DEV int32_t ih_vertex_before(uint32_t word, int32_t lane, int32_t first, uint32_t group)
{
    const int32_t  high  = word ? 32 * (lane - first) + ih_bit_high(word) : -1;
    const uint32_t below = __ballot_sync(IH_ALL_LANES, word != 0) & group & ((1u << lane) - 1);
    const int32_t  found = __shfl_sync(IH_ALL_LANES, high, below ? ih_bit_high(below) : lane);
    return below ? found : -1;
}

/* The first vertex after each lane's last point, among the words given, or end. */
IH_DEV int32_t ih_vertex_after(uint32_t word, int32_t lane, int32_t end)
{
    const int32_t  low   = word ? 32 * lane + ih_bit_low(word) : end;
    const uint32_t above = __ballot_sync(IH_ALL_LANES, word != 0) & ~((2u << lane) - 1);
    const int32_t  found = __shfl_sync(IH_ALL_LANES, low, above ? ih_bit_low(above) : lane);
    return above ? found : end;
}

/* The tangent from point b to the hull of vertices start .. a, on which it looks convex up to the tangent and no further. */
IH_ANY_JUDGE IH_DEV int32_t ih_warp_tangent_left(const ih_chunk *c, ih_any_judge *j, int32_t start, int32_t a, int32_t b, int32_t lane, int32_t exact, int32_t kind)
{
    uint32_t word = lane >= start >> 5 && lane <= a >> 5 ? c->mask[lane] : 0;
    int32_t  before, yes, from;

    if (lane == a >> 5) word &= ~0u >> (31 - (a & 31));
    before = ih_vertex_before(word, lane, 0, IH_ALL_LANES);
    yes    = 0;
    if (word) {
        const int32_t v = 32 * lane + ih_bit_low(word);
        yes = before < 0 || ih_chunk_turns(c, j, before, v, b, exact, kind);
    }
    from   = ih_bit_high(__ballot_sync(IH_ALL_LANES, yes)); /* start is one */
    word   = __shfl_sync(IH_ALL_LANES, word, from);
    before = __shfl_sync(IH_ALL_LANES, before, from);
    yes    = 0;
    if (word >> lane & 1u) {
        const uint32_t below = word & ((1u << lane) - 1);
        yes = !below || ih_chunk_turns(c, j, 32 * from + ih_bit_high(below), 32 * from + lane, b, exact, kind);
    }
    return 32 * from + ih_bit_high(__ballot_sync(IH_ALL_LANES, yes));
}

/* The tangent from point a to the hull of vertices b .. end. */
IH_ANY_JUDGE IH_DEV int32_t ih_warp_tangent_right(const ih_chunk *c, ih_any_judge *j, int32_t a, int32_t b, int32_t end, int32_t lane, int32_t exact, int32_t kind)
{
    uint32_t word = b < end && lane >= b >> 5 && lane <= (end - 1) >> 5 ? c->mask[lane] : 0, hits;
    int32_t  after, yes, from;

    if (lane == b >> 5) word &= ~0u << (b & 31);
    after = ih_vertex_after(word, lane, end);
    yes   = word && ih_chunk_turns(c, j, a, 32 * lane + ih_bit_high(word), after, exact, kind);
    hits  = __ballot_sync(IH_ALL_LANES, yes);
    if (!hits) return end;
    from  = ih_bit_low(hits);
    word  = __shfl_sync(IH_ALL_LANES, word, from);
    after = __shfl_sync(IH_ALL_LANES, after, from);
    yes   = 0;
    if (word >> lane & 1u) {
        const uint32_t above = lane == 31 ? 0 : word & ~((2u << lane) - 1);
        yes = !above || ih_chunk_turns(c, j, a, 32 * from + lane, 32 * from + ih_bit_low(above), exact, kind);
    }
    return 32 * from + ih_bit_low(__ballot_sync(IH_ALL_LANES, yes));
}

/* The joins of a round, by two lanes each, the first of either half: one moves the left end of the bridge, the other the right one,
 * against where the other end just was. What lies above a chord of points stays above it whatever is removed later, so that
 * both may move at once. *own: the lane's end. Returns whether steps were left when the cap was reached. */
IH_ANY_JUDGE IH_DEV int32_t ih_lane_walk(const ih_chunk *c, ih_any_judge *j, ih_lane_part p, int32_t lane, int32_t width, int32_t cap, int32_t *own, ih_walk_count *walks,
                                         int32_t exact, int32_t kind)
{
    const int32_t role  = p.own & (2 * width - 1), left = role == 0, first = p.own - role;
    const int32_t start = 32 * first, s = start + 32 * width, end = c->n - s < 32 * width ? c->n : s + 32 * width;
    const int32_t partner = lane + (left ? width : -width);
    int32_t       at = s, next = -1, go = (left || role == width) && s < c->n, moved = 0, steps = 0;

    if (go) at = left ? ih_mask_before(c->mask, s) : ih_mask_after(c->mask, s, end);
    {
        const int32_t b = __shfl_sync(IH_ALL_LANES, at, partner & 31);
        int32_t       convex = 0;
        if (go && left) convex = ih_chunk_rises(c, s) && ih_chunk_turns(c, j, at, s, b, exact, kind); /* nothing goes */
        convex = __shfl_sync(IH_ALL_LANES, convex, left ? lane : partner & 31);
        if (convex) go = 0;
    }
    *own = go ? at : -1;
    if (go && (left ? at > start : at < end)) next = left ? ih_mask_before(c->mask, at) : ih_mask_after(c->mask, at, end);
    for (;;) {
        const int32_t other = __shfl_sync(IH_ALL_LANES, at, partner & 31);
        moved = 0;
        if (next >= 0) {
            moved = !ih_chunk_turns(c, j, left ? next : other, at, left ? other : next, exact, kind);
            ++steps;
            if (moved) {
                at   = next;
                next = -1;
                if (left ? at > start : at < end) next = left ? ih_mask_before(c->mask, at) : ih_mask_after(c->mask, at, end);
            }
        }
        if (!__any_sync(IH_ALL_LANES, moved) || --cap == 0) break;
    }
    if (go) *own = at;
    walks->walks += go && left;
    walks->steps += steps;
    return moved | __shfl_sync(IH_ALL_LANES, moved, partner & 31);
}

IH_ANY_JUDGE IH_DEV void ih_warp_hull_of(const ih_chunk *c, ih_any_judge *j, ih_lane_part p, int32_t lane, ih_walk_count *walks, int32_t exact, int32_t kind)
{
    if (p.count > 0) c->mask[p.own] = ih_lane_hull(c, j, p.own, exact, kind);
    __syncwarp();
    for (int32_t width = 1; width < p.lanes; width *= 2) {
        const int32_t leads = (p.own & (2 * width - 1)) == 0, start = 32 * p.own, s = start + 32 * width, end = c->n - s < 32 * width ? c->n : s + 32 * width;
        int32_t       own, more, right;
        uint32_t      open;

        more  = ih_lane_walk(c, j, p, lane, width, ih_lane_walk_cap(width, p.lanes), &own, walks, exact, kind);
        right = __shfl_sync(IH_ALL_LANES, own, (lane + width) & 31);
        __syncwarp();
        if (leads && own >= 0 && !more) ih_mask_clear(c->mask, own, right);
        for (open = __ballot_sync(IH_ALL_LANES, leads && own >= 0 && more); open; open &= open - 1) { /* one after the other, by all lanes */
            const int32_t lead = ih_bit_low(open), shift = __shfl_sync(IH_ALL_LANES, lane - p.own, lead) - (lane - p.own);
            const int32_t from = __shfl_sync(IH_ALL_LANES, start, lead), to = __shfl_sync(IH_ALL_LANES, end, lead);
            int32_t       a = __shfl_sync(IH_ALL_LANES, own, lead), b = __shfl_sync(IH_ALL_LANES, right, lead);
            ih_chunk      g = *c; /* the group of that lane */
            ih_any_judge  judge = ih_any_judge();
            if (p.lanes < 32) {
                ih_chunk_shift(&g, shift, kind);
                g.n        = __shfl_sync(IH_ALL_LANES, c->n, lead);
                g.values.y = (const void *)__shfl_sync(IH_ALL_LANES, (unsigned long long)c->values.y, lead);
                g.values.w = (const void *)__shfl_sync(IH_ALL_LANES, (unsigned long long)c->values.w, lead);
            }
            __syncwarp();
            for (;;) {
                int32_t to_b;
                a    = ih_warp_tangent_left(&g, &judge, from, a, b, lane, exact, kind);
                to_b = ih_warp_tangent_right(&g, &judge, a, b, to, lane, exact, kind);
                if (to_b == b) break;
                b = to_b;
            }
            __syncwarp();
            if (lane == lead) ih_mask_clear(g.mask, a, b);
            judge.undecided = __any_sync(IH_ALL_LANES, judge.undecided);
            if (lane == lead) j->undecided |= judge.undecided;
            ih_judge_add(j, &judge);
        }
        __syncwarp();
    }
}

#if defined(IH_PAPER) /* one pass decides all */
template <int KIND> IH_DEV void ih_warp_hull(const ih_chunk *c, ih_judge *j, ih_lane_part p, int32_t lane, ih_walk_count *walks)
{
    ih_warp_hull_of(c, j, p, lane, walks, 0, KIND);
}
#else
/* The same with all levels, out of line. */
typedef struct ih_warp_answer { ih_judge judge; ih_walk_count walks; } ih_warp_answer;

template <int KIND> IH_DEV_SLOW ih_warp_answer ih_warp_hull_slow(ih_chunk c, ih_lane_part p, int32_t lane)
{
    ih_warp_answer a = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    ih_warp_hull_of(&c, &a.judge, p, lane, &a.walks, 0, KIND);
    return a;
}

/* On input  c from ih_warp_sums.
 * On output c->mask holds the hull of the group's chunk. */
template <int KIND> IH_DEV void ih_warp_hull(const ih_chunk *c, ih_judge *j, ih_lane_part p, int32_t lane, ih_walk_count *walks)
{
    ih_judge_quick quick = { 0, 0 };
    const uint32_t points = p.count == 32 ? ~0u : (1u << p.count) - 1;
    if (__all_sync(IH_ALL_LANES, p.count <= 0 || (c->rise[p.own] & points) == points)) { /* all values rise: every point is a vertex */
        if (p.count > 0) c->mask[p.own] = points;
        j->by_filter = p.count > 0 ? p.count : 0;
        __syncwarp();
        return;
    }
    if (c->near_y == 0 && c->near_x == 0) { /* alike in all lanes of a warp; nothing stays undecided */
        ih_warp_hull_of(c, &quick, p, lane, walks, 1, KIND);
        j->by_filter = quick.by_filter;
        return;
    }
    ih_warp_hull_of(c, &quick, p, lane, walks, 0, KIND);
    j->by_filter = quick.by_filter;
    if (__any_sync(IH_ALL_LANES, quick.undecided)) {
        const ih_warp_answer a = ih_warp_hull_slow<KIND>(*c, p, lane);
        *j     = a.judge;
        *walks = a.walks;
    }
}
#endif

#endif
