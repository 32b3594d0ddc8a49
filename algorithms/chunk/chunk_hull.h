/* SPDX-License-Identifier: Apache-2.0
 * chunk_hull.h: the hull of a chunk: lane hulls joined pairwise, by walking over their masks (paper 3.2). */
#ifndef IH_CHUNK_HULL_H
#define IH_CHUNK_HULL_H

#include "../lane/lane_bitmask.h"
#include "../thread/walk_count.h"

/* The vertex before point k > start, where start is one. */
IH_HD int32_t ih_mask_before(const uint32_t *mask, int32_t k)
{
    int32_t  lane = (k - 1) >> 5;
    uint32_t bits = mask[lane] & (~0u >> (31 - ((k - 1) & 31)));
    while (!bits) bits = mask[--lane];
    return 32 * lane + ih_bit_high(bits);
}

/* The vertex after point k, or end if there is none before it. */
IH_HD int32_t ih_mask_after(const uint32_t *mask, int32_t k, int32_t end)
{
    int32_t  lane = (k + 1) >> 5;
    uint32_t bits;
    if (k + 1 >= end) return end;
    bits = mask[lane] & (~0u << ((k + 1) & 31));
    while (!bits) {
        if (32 * ++lane >= end) return end;
        bits = mask[lane];
    }
    k = 32 * lane + ih_bit_low(bits);
    return k < end ? k : end;
}

/* Clear the bits strictly between points a and b. */
IH_HD void ih_mask_clear(uint32_t *mask, int32_t a, int32_t b)
{
    const int32_t from = (a + 1) >> 5, to = (b - 1) >> 5;
    const uint32_t head = ~0u << ((a + 1) & 31), tail = ~0u >> (31 - ((b - 1) & 31));
    if (a + 1 >= b) return;
    if (from == to) {
        mask[from] &= ~(head & tail);
        return;
    }
    mask[from] &= ~head;
    for (int32_t l = from + 1; l < to; ++l) mask[l] = 0;
    mask[to] &= ~tail;
}

IH_ANY_JUDGE IH_HD_FORCED int32_t ih_chunk_turns(const ih_chunk *c, ih_any_judge *j, int32_t a, int32_t b, int32_t d, int32_t exact, int32_t kind)
{
    if (d - a == 2) { /* three neighbours: the values decide */
        ++j->by_filter;
        return ih_chunk_rises(c, b);
    }
    return ih_chunk_convex(c, j, a, b, d, exact, kind);
}

/* Join the hulls of points start .. s and s .. end. A step is one turn of the walk; the neighbours of the ends are found
 * once per move, so that empty lanes are skipped once. */
IH_ANY_JUDGE IH_HD_FORCED void ih_chunk_join(const ih_chunk *c, ih_any_judge *j, int32_t start, int32_t s, int32_t end, ih_walk_count *count, int32_t kind)
{
    int32_t a = ih_mask_before(c->mask, s), b = ih_mask_after(c->mask, s, end);
    int32_t before, after, moved = 1;
    int64_t steps = 0, removed = 1;

    if (ih_chunk_rises(c, s) && ih_chunk_turns(c, j, a, s, b, 0, kind)) return; /* convex at s: nothing goes */
    before = a > start ? ih_mask_before(c->mask, a) : -1;
    after  = b < end ? ih_mask_after(c->mask, b, end) : -1;
    while (moved) {
        moved = 0;
        while (before >= 0) {
            ++steps;
            if (ih_chunk_turns(c, j, before, a, b, 0, kind)) break;
            a      = before;
            before = a > start ? ih_mask_before(c->mask, a) : -1;
            ++removed;
        }
        while (after >= 0) {
            ++steps;
            if (ih_chunk_turns(c, j, a, b, after, 0, kind)) break;
            b     = after;
            after = b < end ? ih_mask_after(c->mask, b, end) : -1;
            ++removed;
            moved = 1; /* only then may the left end move again */
        }
    }
    ih_mask_clear(c->mask, a, b);
    ih_walk_finish(count, steps, removed);
}

/* All joins, in rounds of doubling width. c->mask holds the lane hulls before and the chunk's hull after. */
IH_ANY_JUDGE IH_HD_FORCED void ih_chunk_join_lanes(const ih_chunk *c, ih_any_judge *j, ih_walk_count *count, int32_t kind)
{
    for (int32_t width = 32; width < c->n; width *= 2)
        for (int32_t start = 0; start + width < c->n; start += 2 * width) {
            const int32_t s = start + width, end = c->n - s < width ? c->n : s + width;
            ih_chunk_join(c, j, start, s, end, count, kind);
        }
}

#endif
