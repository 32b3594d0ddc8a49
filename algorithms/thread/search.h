/* SPDX-License-Identifier: Apache-2.0
 * search.h: the bridge of two lists by nested bisection, first over segments, then within one (paper 3.3).
 *
 *   tangent q(i) of vertex L[i]: first k with turn(L[i], R[k], R[k+1]) convex, else the last of R   (false .. true in k)
 *   side of i: is L[i+1] strictly below the line from L[i] to q(i)?                                 (true .. false in i)
 *   the bridge begins at the first i whose side is false, else the last of L, and ends at q(i).
 * Exact predicates leave no vertex in the middle of an edge, whatever the ties. */
#ifndef IH_THREAD_SEARCH_H
#define IH_THREAD_SEARCH_H

#include "walk.h"

/* First true of a predicate on lo .. hi that is false .. true, where hi is known (or taken) to be true. A step compares
 * `fan` candidates spread over the range: 1 is bisection; 32 are those that the lanes of a warp evaluate at once. One
 * thread finds the first true among them by bisection, which gives the same answer with 5 evaluations for 32. */
typedef struct ih_probe {
    int64_t lo, hi;        /* the answer is in lo .. hi                                */
    int64_t fan;
    int64_t low, high;     /* candidates that may still be the first true of this step */
    int64_t base, span;    /* lo and hi - lo of this step                              */
} ih_probe;

/* Candidate k = 0 .. fan - 1 of a range: fewer elements than candidates repeat some, which costs nothing on a warp. */
IH_HD int64_t ih_probe_candidate(int64_t base, int64_t span, int64_t fan, int64_t k)
{
    return span <= fan ? base + (k < span ? k : span - 1) : base + (span / (fan + 1)) * (k + 1) + (span % (fan + 1)) * (k + 1) / (fan + 1);
}

IH_HD void ih_probe_step(ih_probe *p)
{
    p->base = p->lo;
    p->span = p->hi - p->lo;
    p->low  = 0;
    p->high = p->span < p->fan ? p->span : p->fan; /* high = number of candidates: none of them is true */
}

IH_HD ih_probe ih_probe_begin(int64_t lo, int64_t hi, int64_t fan)
{
    ih_probe p;
    p.lo  = lo;
    p.hi  = hi;
    p.fan = fan;
    ih_probe_step(&p);
    return p;
}

IH_HD int32_t ih_probe_open(const ih_probe *p) { return p->lo < p->hi; }

IH_HD int64_t ih_probe_at(const ih_probe *p) { return ih_probe_candidate(p->base, p->span, p->fan, (p->low + p->high) / 2); }

/* Was the predicate true there? */
IH_HD void ih_probe_tell(ih_probe *p, int32_t yes)
{
    const int64_t mid = (p->low + p->high) / 2, at = ih_probe_at(p);
    if (yes) {
        p->hi   = at;
        p->high = mid;
    } else {
        p->lo  = at + 1;
        p->low = mid + 1;
    }
    if (p->low >= p->high) ih_probe_step(p);
}

/* The tangent from point p, left of all of r. */
IH_ANY_JUDGE IH_HD ih_place ih_tangent(const ih_store *s, ih_any_judge *j, const ih_vertex *p, const ih_run *r, int64_t fan)
{
    ih_place k;
    ih_probe probe = ih_probe_begin(r->first.segment, r->last.segment, fan);

    while (ih_probe_open(&probe)) { /* the first segment whose last vertex is at the tangent or behind it */
        k.segment = ih_probe_at(&probe);
        k.vertex  = ih_run_high(r, k.segment);
        const ih_vertex here = ih_run_point(s, r, k), next = ih_run_point(s, r, ih_run_next(r, k));
        ih_probe_tell(&probe, ih_store_convex(s, j, p, &here, &next));
    }
    k.segment = probe.lo;
    probe     = ih_probe_begin(ih_run_low(r, k.segment), ih_run_high(r, k.segment), fan);
    while (ih_probe_open(&probe)) {
        k.vertex = (int32_t)ih_probe_at(&probe);
        const ih_vertex here = ih_run_point(s, r, k), next = ih_run_point(s, r, ih_run_next(r, k));
        ih_probe_tell(&probe, ih_store_convex(s, j, p, &here, &next));
    }
    k.vertex = (int32_t)probe.lo;
    return k;
}

/* Is vertex i of l (not its last) at the bridge's left end or behind it? */
IH_ANY_JUDGE IH_HD int32_t ih_side_reached(const ih_store *s, ih_any_judge *j, const ih_run *l, ih_place i, const ih_run *r, int64_t fan)
{
    const ih_vertex here = ih_run_point(s, l, i), next = ih_run_point(s, l, ih_run_next(l, i));
    const ih_vertex q = ih_run_point(s, r, ih_tangent(s, j, &here, r, fan));
    return !ih_store_convex(s, j, &here, &next, &q);
}

/* On input  as for ih_walk: the turn at s is flat, l ends before it, r begins after it.
 * On output *to is the bridge.
 * fan       candidates of a step over l; the tangents from each are bisected, as by one lane of a warp. */
IH_ANY_JUDGE IH_HD void ih_search(const ih_store *s, ih_any_judge *j, const ih_run *l, const ih_run *r, int64_t fan, ih_bridge *to)
{
    ih_place i;
    ih_vertex from;
    ih_probe probe = ih_probe_begin(l->first.segment, l->last.segment, fan);

    while (ih_probe_open(&probe)) {
        i.segment = ih_probe_at(&probe);
        i.vertex  = ih_run_high(l, i.segment);
        ih_probe_tell(&probe, ih_side_reached(s, j, l, i, r, 1));
    }
    i.segment = probe.lo;
    probe     = ih_probe_begin(ih_run_low(l, i.segment), ih_run_high(l, i.segment), fan);
    while (ih_probe_open(&probe)) {
        i.vertex = (int32_t)ih_probe_at(&probe);
        ih_probe_tell(&probe, ih_side_reached(s, j, l, i, r, 1));
    }
    i.vertex = (int32_t)probe.lo;
    from     = ih_run_point(s, l, i);
    to->a    = i;
    to->b    = ih_tangent(s, j, &from, r, 1);
}

#endif
