/* SPDX-License-Identifier: Apache-2.0
 * store.h: what the chunks of a row leave behind for the tree: vertices and starts. Two layouts, of the same functions: of
 * the CPU (store_stops.h: few bytes, coordinates formed again) and of a device (store_slots.h: the paper's slots, which
 * hold coordinates). Nothing else knows how a vertex is kept. IH_PAPER: slots, and the paper's own turns. */
#ifndef IH_CHUNK_STORE_H
#define IH_CHUNK_STORE_H

#if defined(IH_PAPER)
#  include "../paper/store.h"
#else
#include "../common/judge.h"

#if defined(IH_SIMT)
#  include "store_slots.h"
#else
#  include "store_stops.h"
#endif

/* Do the values rise at a point between two elements? If not, it is no vertex of any hull that holds its neighbours: ties
 * at chunk starts cost nothing. */
IH_HD int32_t ih_store_rises(const ih_store *s, int64_t index)
{
    return ih_value(&s->values, index - 1, s->values.kind) < ih_value(&s->values, index, s->values.kind);
}

/* After the filter on single doubles: the same points as pairs, all levels. */
IH_HD_SLOW int32_t ih_store_convex_slow(const ih_store *s, ih_judge *j, const ih_point *a, const ih_point *b, const ih_point *d)
{
    const ih_point pa = ih_store_refined(s, a), pb = ih_store_refined(s, b), pd = ih_store_refined(s, d);
    return ih_judge_convex(j, &pa, &pb, &pd);
}

/* Is the turn at vertices a < b < d convex? Where they are neighbours the two values decide, whatever their sums. */
IH_HD int32_t ih_store_convex(const ih_store *s, ih_judge *j, const ih_point *a, const ih_point *b, const ih_point *d)
{
    if (d->index - a->index == 2) {
        ++j->by_filter;
        return ih_value(&s->values, a->index, s->values.kind) < ih_value(&s->values, b->index, s->values.kind);
    }
#if defined(IH_SIMT)
    {
        const ih_turn turn = ih_turn_near(a, b, d);
        if (turn != IH_TURN_UNDECIDED) return ih_judge_settled(j, a->index, b->index, d->index, turn, 0);
        return ih_store_convex_slow(s, j, a, b, d);
    }
#else
    return ih_judge_convex(j, a, b, d);
#endif
}

#endif
#endif
