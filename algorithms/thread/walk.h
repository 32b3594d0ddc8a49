/* SPDX-License-Identifier: Apache-2.0
 * walk.h: the bridge of two lists by walking from their shared point, at most so many steps (paper 3.2, 3.3). */
#ifndef IH_THREAD_WALK_H
#define IH_THREAD_WALK_H

#include "../chunk/store.h"
#include "walk_count.h"

/* A bridge: the list is cut after a on the left and before b on the right. */
typedef struct ih_bridge { ih_place a, b; } ih_bridge;

IH_HD ih_vertex ih_run_point(const ih_store *s, const ih_run *r, ih_place p) { return ih_store_vertex(s, &r->segments[p.segment], p.vertex); }

/* On input  the turn at the shared point s is flat; l ends before s, r begins after it; cap < 0: none.
 * On output 1: *to is the bridge. 0: cap steps were not enough; *to is where the walk stopped, and what it passed lies
 *           above the bridge, so that the search may look between the ends and these places only.
 * Cost      d removed vertices (s among them) cost at most 3 d + 2 steps (Lemma 5.1): all but the last pass remove one, and each has at
 *           most two failing steps. A step is one turn. */
IH_ANY_JUDGE IH_HD int32_t ih_walk(const ih_store *s, ih_any_judge *j, const ih_run *l, const ih_run *r, int64_t cap, ih_bridge *to, ih_walk_count *count)
{
    ih_place a = l->last, b = r->first, before = a, after = b;
    ih_vertex pa = ih_run_point(s, l, a), pb = ih_run_point(s, r, b), p_before = pa, p_after = pb;
    int64_t  steps = 0, removed = 1;
    int32_t  moved = 1, more_a = !ih_place_same(a, l->first), more_b = !ih_place_same(b, r->last);

    if (more_a) before = ih_run_before(l, a), p_before = ih_run_point(s, l, before);
    if (more_b) after = ih_run_next(r, b), p_after = ih_run_point(s, r, after);
    while (moved) {
        moved = 0;
        while (more_a) {
            if (cap >= 0 && steps >= cap) goto capped;
            ++steps;
            if (ih_store_convex(s, j, &p_before, &pa, &pb)) break;
            a  = before;
            pa = p_before;
            ++removed;
            more_a = !ih_place_same(a, l->first);
            if (more_a) before = ih_run_before(l, a), p_before = ih_run_point(s, l, before);
        }
        while (more_b) {
            if (cap >= 0 && steps >= cap) goto capped;
            ++steps;
            if (ih_store_convex(s, j, &pa, &pb, &p_after)) break;
            b  = after;
            pb = p_after;
            ++removed;
            moved  = 1; /* only then may the left end move again */
            more_b = !ih_place_same(b, r->last);
            if (more_b) after = ih_run_next(r, b), p_after = ih_run_point(s, r, after);
        }
    }
    to->a = a;
    to->b = b;
    ih_walk_finish(count, steps, removed);
    return 1;
capped:
    to->a = a;
    to->b = b;
    ih_walk_capped(count, steps);
    return 0;
}

#endif
