/* SPDX-License-Identifier: Apache-2.0
 * store.h: what the chunks of a row leave behind for the tree: vertices and starts. Two layouts, of the same functions: of
 * the CPU (store_stops.h: few bytes, coordinates formed again) and of a device (store_slots.h: the paper's slots, which
 * hold coordinates). Nothing else knows how a vertex is kept. IH_PAPER: slots, and the
 * paper's own turns. */
#ifndef IH_CHUNK_STORE_H
#define IH_CHUNK_STORE_H

#include "../common/judge.h"

#if defined(IH_PAPER)
#  include "../paper/store.h"
#else
#if defined(IH_SIMT)
#  include "store_slots.h"
#else
#  include "store_stops.h"
#endif

/* Do the values rise at the first point of a chunk? If not, it is no vertex of any hull that holds its neighbours: ties at
 * chunk starts cost nothing. first: the segment that begins there. */
IH_HD int32_t ih_store_rises(const ih_store *s, const ih_segment *first)
{
#if defined(IH_SIMT)
    (void)s;
    return first->rises; /* chunk.cu looked at the values: reading them again would be a merge's longest wait */
#else
    const int64_t index = (int64_t)first->chunk * s->size;
    return ih_value(&s->values, index - 1, s->values.kind) < ih_value(&s->values, index, s->values.kind);
#endif
}

/* Are two vertices the neighbours of one point? Then whether values rise there decides their turn. */
IH_HD int32_t ih_store_neighbours(const ih_vertex *before, const ih_vertex *after) { return after->index - before->index == 2; }

#if defined(IH_SIMT)
/* After the filter on single doubles: the same points as pairs, all levels. By value: what is passed here by its address would
 * have to stand in memory elsewhere too. Returns 1 if convex, + 2 if settled by pairs, + 4 if undecided. */
IH_HD_SLOW int32_t ih_store_convex_slow(ih_store s, ih_vertex a, ih_vertex b, ih_vertex d)
{
    const ih_point pa = ih_store_refined(&s, &a), pb = ih_store_refined(&s, &b), pd = ih_store_refined(&s, &d);
    ih_turn        turn = ih_turn_near(&pa, &pb, &pd);
    if (turn != IH_TURN_UNDECIDED) return turn == IH_TURN_CONVEX;
    turn = ih_turn_pair(&pa, &pb, &pd);
    return turn == IH_TURN_UNDECIDED ? 4 : 2 + (turn == IH_TURN_CONVEX);
}

IH_HD int32_t ih_store_convex_more(const ih_store *s, ih_judge *j, const ih_vertex *a, const ih_vertex *b, const ih_vertex *d)
{
    return ih_judge_slow(j, ih_store_convex_slow(*s, *a, *b, *d));
}

#  if defined(__cplusplus)
IH_HD int32_t ih_store_convex_more(const ih_store *s, ih_judge_quick *j, const ih_vertex *a, const ih_vertex *b, const ih_vertex *d)
{
    (void)s, (void)a, (void)b, (void)d;
    j->undecided = 1;
    return 0;
}
#  endif
#endif

/* Is the turn at vertices a < b < d convex? */
IH_ANY_JUDGE IH_HD int32_t ih_store_convex(const ih_store *s, ih_any_judge *j, const ih_vertex *a, const ih_vertex *b, const ih_vertex *d)
{
#if defined(IH_SIMT)
    {
        const ih_turn turn = ih_store_turn(s, a, b, d);
        if (turn == IH_TURN_UNDECIDED) return ih_store_convex_more(s, j, a, b, d);
        ++j->by_filter;
        return turn == IH_TURN_CONVEX;
    }
#else
    (void)s;
    return ih_judge_convex(j, a, b, d);
#endif
}

#endif
#endif
