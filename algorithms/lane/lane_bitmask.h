/* SPDX-License-Identifier: Apache-2.0
 * lane_bitmask.h: the hull of a lane of 32 elements by a monotone chain whose stack is a 32-bit mask (paper 3.1).
 *
 * Bit k of the mask stands for local point k = 0 .. 31, set while it is stacked; the lane's last point (32, or the end of
 * the chunk) is bit 0 of the next lane and is never popped here. Top and the entry under it are held; the one below is
 * found by counting leading zeros. Each iteration does one pop or one push.
 *
 * The paper pushes every point; only those where the values rise are pushed here: one between two elements that do not
 * rise is no vertex (Lemma 4.1 on three neighbouring points), which halves the chain on noise. */
#ifndef IH_LANE_BITMASK_H
#define IH_LANE_BITMASK_H

#include "../chunk/chunk_sums.h"
#include "../common/bits.h"

#if defined(IH_PAPER)
#  include "../paper/lane_hull.h" /* the same chain on sums of the working type */
#else
/* On input  c has its sums and rises; lane < lanes of c.
 * exact     all sums and their differences are exact as single doubles (a constant).
 * On output the mask of the vertices of the hull of points 32 lane .. min(32 lane + 32, n), without the last. */
IH_ANY_JUDGE IH_HD_FORCED uint32_t ih_lane_hull(const ih_chunk *c, ih_any_judge *j, int32_t lane, int32_t exact, int32_t kind)
{
    const int32_t weighted = kind & IH_KIND_WEIGHTED, first = 32 * lane, count = c->n - first < 32 ? c->n - first : 32;
    const int32_t base = ih_chunk_at(c, first), base_end = ih_chunk_at(c, first + count) - base; /* places of points of the lane: base + k, and the end's */
    uint32_t      todo = c->rise[lane] & ~1u, mask = 1;
    int32_t       under = -1, top = 0, next; /* points of the lane */
    double        y_under = 0, y_top, y_next, x_under = 0, x_top = 0, x_next = 0;

    /* The values rise everywhere: every point is a vertex. */
    if (todo == (count == 32 ? ~0u : (1u << count) - 1) - 1) return todo | 1u;
    next   = todo ? ih_bit_low(todo) : count;
    y_top  = c->y[base];
    y_next = c->y[base + (todo ? next : base_end)];
    if (weighted) {
        x_top  = c->x[base];
        x_next = c->x[base + (todo ? next : base_end)];
    }
    for (;;) { /* one pop or one push, and the one point that either needs: no branch but out */
        const double  x1 = weighted ? x_top - x_under : ih_small_double(top - under), x2 = weighted ? x_next - x_top : ih_small_double(next - top);
        /* three neighbours, the middle one a rise: convex by the values alone */
        const int32_t push = under < 0 || next - under == 2 ||
                             ih_chunk_convex_of(c, j, first + under, first + top, first + next, y_top - y_under, x1, y_next - y_top, x2, exact, kind);
        uint32_t below;
        int32_t  wanted, at;
        double   y, x = 0;

        if (push && next == count) return mask;
        below  = mask & ((1u << (under & 31)) - 1); /* under >= 0 where it matters */
        todo   = push ? todo & (todo - 1) : todo;
        wanted = push ? (todo ? ih_bit_low(todo) : count) : (below ? ih_bit_high(below) : -1);
        at     = push && !todo ? base_end : wanted < 0 ? 0 : wanted;
        y      = c->y[base + at];
        if (weighted) x = c->x[base + at];
        mask = push ? mask | 1u << next : mask & ~(1u << top);
        {
            const double  y_t = y_top, x_t = x_top;
            const int32_t t = top;
            y_top   = push ? y_next : y_under;
            y_under = push ? y_t : y;
            y_next  = push ? y : y_next;
            if (weighted) {
                x_top   = push ? x_next : x_under;
                x_under = push ? x_t : x;
                x_next  = push ? x : x_next;
            }
            top   = push ? next : under;
            under = push ? t : wanted;
            next  = push ? wanted : next;
        }
    }
}

#endif
#endif
