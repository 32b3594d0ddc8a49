/* SPDX-License-Identifier: Apache-2.0
 * hull.h: the hull of a row by exact turns: lanes of 32 points, then joins of neighbouring nodes of doubling width, by a
 * walk of at most so many steps and else a search, as on lists (paper 3.1 to 3.3), here on a set of bits. */
#ifndef IH_EXACT_HULL_H
#define IH_EXACT_HULL_H

#include "near.h"
#include "vertices.h"

enum { IH_EXACT_WALK_CAP = 64 };

/* A thread at work on a row. */
typedef struct ih_exact_hull {
    const ih_exact_row *row;
    const ih_vertices  *vertices;
    ih_exact_space       room;
    int64_t             near, exact; /* turns decided so far by doubles, by integers */
} ih_exact_hull;

IH_HD int32_t ih_exact_turns(ih_exact_hull *h, int64_t a, int64_t b, int64_t d)
{
    int32_t turn;
    if (d - a == 2) return ih_exact_rises(h->row, b);
    turn = ih_near_turn(h->row, a, b, d);
    if (turn != IH_TURN_UNDECIDED) {
        ++h->near;
        return turn == IH_TURN_CONVEX;
    }
    ++h->exact;
    return ih_exact_convex(h->row, h->room, a, b, d);
}

/* The mask of the vertices of points 32 lane .. min(32 lane + 32, n), without the last, unless that is n and in the word.
 * A monotone chain whose stack is the mask; points where the values do not rise are no vertices. */
IH_HD uint32_t ih_exact_lane(ih_exact_hull *h, int64_t lane)
{
    const int64_t first = 32 * lane, n = h->row->n;
    const int32_t end   = n - first < 32 ? (int32_t)(n - first) : 32;
    uint32_t      mask  = 1;
    int32_t       under = -1, top = 0, next = 1;

    if (end == 0) return 1; /* point n */
    for (;;) {
        while (next < end && !ih_exact_rises(h->row, first + next)) ++next;
        while (under >= 0 && !ih_exact_turns(h, first + under, first + top, first + next)) {
            const uint32_t below = mask & ~(~0u << under);
            mask &= ~(1u << top);
            top   = under;
            under = below ? ih_bit_high(below) : -1;
        }
        if (next == end) return end < 32 ? mask | 1u << end : mask;
        mask |= 1u << next;
        under = top;
        top   = next++;
    }
}

/* The tangent from point p, left of vertices b .. end: the first vertex k at which p, k, the one after k turns left. */
IH_HD_SLOW int64_t ih_exact_tangent(ih_exact_hull *h, int32_t top, int64_t p, int64_t b, int64_t end)
{
    int64_t low = b, high = end;
    while (low < high) {
        const int64_t k = ih_vertices_up_to(h->vertices, top, low + (high - low) / 2);
        const int64_t next = ih_vertices_after(h->vertices, top, k, end);
        if (ih_exact_turns(h, p, k, next)) high = k;
        else low = next;
    }
    return low;
}

/* The bridge of vertices start .. *a and *b .. end, which lie around it. */
IH_HD_SLOW void ih_exact_search(ih_exact_hull *h, int32_t top, int64_t start, int64_t *a, int64_t *b, int64_t end)
{
    int64_t low = start, high = *a;
    while (low < high) {
        const int64_t k = ih_vertices_up_to(h->vertices, top, low + (high - low) / 2);
        const int64_t next = ih_vertices_after(h->vertices, top, k, *a + 1);
        if (ih_exact_turns(h, k, next, ih_exact_tangent(h, top, k, *b, end))) low = next;
        else high = k;
    }
    *a = low;
    *b = ih_exact_tangent(h, top, low, *b, end);
}

/* Join the hulls of points start .. s and s .. end, the node's words holding both. */
IH_HD_SLOW void ih_exact_join(ih_exact_hull *h, int32_t top, int64_t start, int64_t s, int64_t end)
{
    const ih_vertices *v = h->vertices;
    int64_t            a, b, steps = 0;
    int32_t            moved = 1;

    a = ih_vertices_before(v, top, s);
    b = ih_vertices_after(v, top, s, end);
    if (ih_exact_rises(h->row, s) && ih_exact_turns(h, a, s, b)) return;
    while (moved && steps < IH_EXACT_WALK_CAP) {
        moved = 0;
        for (; a > start && steps < IH_EXACT_WALK_CAP; ++steps) {
            const int64_t before = ih_vertices_before(v, top, a);
            if (ih_exact_turns(h, before, a, b)) break;
            a = before;
        }
        for (; b < end && steps < IH_EXACT_WALK_CAP; ++steps) {
            const int64_t after = ih_vertices_after(v, top, b, end);
            if (ih_exact_turns(h, a, b, after)) break;
            b     = after;
            moved = 1;
        }
    }
    if (steps >= IH_EXACT_WALK_CAP) ih_exact_search(h, top, start, &a, &b, end);
    ih_vertices_clear(v, top, a, b);
}

#endif
