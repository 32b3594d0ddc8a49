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

/* On input  c has its sums and rises; lane < lanes of c.
 * On output the mask of the vertices of the hull of points 32 lane .. min(32 lane + 32, n), without the last. */
IH_HD_FORCED uint32_t ih_lane_hull(const ih_chunk *c, ih_judge *j, int32_t lane, int32_t kind)
{
    const int32_t first = 32 * lane, count = c->n - first < 32 ? c->n - first : 32;
    const int32_t end   = first + count;
    uint32_t      todo  = c->rise[lane] & ~1u, mask = 1;
    int32_t       under = -1, top = first, next;

    /* The values rise everywhere: every point is a vertex. */
    if (todo == (count == 32 ? ~0u : (1u << count) - 1) - 1) return todo | 1u;
    next = todo ? first + ih_bit_low(todo) : end;
    for (;;) {
        /* three neighbours, the middle one a rise: convex by the values alone */
        if (under >= 0 && next - under != 2 && !ih_lane_convex(c, j, lane, under, top, next, kind)) {
            const uint32_t top_bit = 1u << (top - first), below = mask & ((1u << (under - first)) - 1);
            mask &= ~top_bit;
            top   = under;
            under = below ? first + ih_bit_high(below) : -1;
        } else {
            if (next == end) return mask;
            mask |= 1u << (next - first);
            under = top;
            top   = next;
            todo &= todo - 1;
            next = todo ? first + ih_bit_low(todo) : end;
        }
    }
}

#endif
