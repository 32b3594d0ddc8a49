/* SPDX-License-Identifier: Apache-2.0
 * chunk_sums.h: the prefix sums of a chunk, measured from its start, and turns between its points (paper 3.1, B.2). */
#ifndef IH_CHUNK_SUMS_H
#define IH_CHUNK_SUMS_H

#include "../common/judge.h"
#include "../common/values.h"

#if defined(IH_PAPER)
#  include "../paper/chunk_sums.h" /* the same functions with the paper's own predicates */
#else

/* A chunk at work: point k = 0 .. n stands before element begin + k of the row. */
typedef struct ih_chunk {
#if defined(IH_SIMT)
    double   *y;              /* at ih_chunk_at(k): sum of w y rounded to one double                           */
    double   *x;              /* likewise of w; without weights not there: x = k                               */
    const ih_pair *start_y, *start_x; /* [lanes] sums at points 32 l as pairs, from which any other is formed again */
    ih_values values;         /* of the row, whose element 0 is element begin of this chunk (begin = 0 below)   */
#else
    double   *y, *y_lo;       /* [n + 1] sums of w y as pairs                                                  */
    double   *x, *x_lo;       /* [n + 1] sums of w, NULL without weights: x = k                                */
#endif
    uint32_t *rise;           /* [lanes] bit k of lane l: element 32 l + k is above the one before it          */
    uint32_t *mask;           /* [lanes] the hulls: bit k of lane l is set while point 32 l + k is a vertex     */
    int64_t   begin;          /* index of point 0 in the row                                                   */
    int32_t   n;              /* elements                                                                      */
    double    lost_x, lost_y; /* bounds on |exact - pair|, 0 if every pair is exact                            */
    double    near_x, near_y; /* bounds on |exact - hi|                                                        */
} ih_chunk;

IH_HD int32_t ih_chunk_lanes(int32_t n) { return (n + 31) / 32; }

/* Where the sums of point k stand. On a device a lane has 33 places, so that the lanes of a warp meet in different banks of
 * shared memory; the last place is that of the end of the chunk, if the lane is its last. */
IH_HD int32_t ih_chunk_at(const ih_chunk *c, int32_t k)
{
#if defined(IH_SIMT)
    return k + ((k - (k == c->n)) >> 5);
#else
    (void)c;
    return k;
#endif
}

#if !defined(IH_SIMT)
/* Prefix sums into c; pairs of points 0, 16, 32, ... also into stops (step 1 pair, or 2 with weights: y, then x) if it is
 * not NULL. Returns 0 if a value is out of range (values.h), and then the sums mean nothing. kind is constant. */
IH_HD_FORCED int32_t ih_chunk_sums(ih_chunk *c, const ih_values *v, ih_pair *stops, int32_t stride, int32_t kind)
{
    ih_sums s    = { { 0, 0 }, { 0, 0 }, 0, 0 };
    double  most_x = 0, most_y = 0;
    int32_t good = 1;

    for (int32_t k = 0;; ++k) {
        c->y[k]    = s.y.hi;
        c->y_lo[k] = s.y.lo;
        most_y     = fabs(s.y.lo) > most_y ? fabs(s.y.lo) : most_y;
        if (kind & IH_KIND_WEIGHTED) {
            c->x[k]    = s.x.hi;
            c->x_lo[k] = s.x.lo;
            most_x     = fabs(s.x.lo) > most_x ? fabs(s.x.lo) : most_x;
        }
        if (stops && k % stride == 0 && k < c->n) {
            ih_pair *stop = stops + (kind & IH_KIND_WEIGHTED ? 2 : 1) * (k / stride);
            stop[0]       = s.y;
            if (kind & IH_KIND_WEIGHTED) stop[1] = s.x;
        }
        if (k == c->n) break;
        good &= ih_value_in_range(v, c->begin + k, kind);
        ih_sums_add(&s, v, c->begin + k, kind);
    }
    /* the sums of absolute values were rounded themselves, at most 2^21 times each */
    c->lost_x = s.lost_x * (1 + 0x1p-30);
    c->lost_y = s.lost_y * (1 + 0x1p-30);
    c->near_x = (most_x + c->lost_x) * (1 + 0x1p-50);
    c->near_y = (most_y + c->lost_y) * (1 + 0x1p-50);
    return good;
}

/* Which elements are above the one before: a point between two elements that do not rise is no vertex of any hull that
 * holds its neighbours, and where three neighbouring points meet this is the whole decision. Bit 0 of lane 0 is set. */
IH_HD_FORCED void ih_chunk_rise(const ih_chunk *c, const ih_values *v, int32_t kind)
{
    for (int32_t l = 0; l < ih_chunk_lanes(c->n); ++l) {
        const int32_t first = 32 * l, count = c->n - first < 32 ? c->n - first : 32;
        uint32_t      bits  = 0;
        for (int32_t k = l == 0; k < count; ++k) {
            const int64_t i = c->begin + first + k;
            bits |= (uint32_t)(ih_value(v, i - 1, kind) < ih_value(v, i, kind)) << k;
        }
        c->rise[l] = l == 0 ? bits | 1u : bits;
    }
}

#endif

IH_HD int32_t ih_chunk_rises(const ih_chunk *c, int32_t k) { return (int32_t)(c->rise[k >> 5] >> (k & 31) & 1u); }

IH_HD ih_point ih_chunk_point(const ih_chunk *c, int32_t k)
{
    ih_point p = { 0 };
    p.index = c->begin + k;
#if defined(IH_SIMT) /* from the lane's start */
    const int32_t lane = (k - (k == c->n)) >> 5, kind = c->values.kind;
    ih_sums       s    = { { 0, 0 }, { 0, 0 }, 0, 0 };
    s.y = c->start_y[lane];
    if (kind & IH_KIND_WEIGHTED) s.x = c->start_x[lane];
    for (int32_t i = 32 * lane; i < k; ++i) ih_sums_add(&s, &c->values, i, kind);
    p.y = s.y;
    p.x = s.x;
    if (!(kind & IH_KIND_WEIGHTED)) p.x.hi = (double)k;
    p.err_x = c->lost_x + s.lost_x * (1 + 0x1p-10);
    p.err_y = c->lost_y + s.lost_y * (1 + 0x1p-10);
#else
    p.y.hi  = c->y[k];
    p.y.lo  = c->y_lo[k];
    p.x.hi  = c->x ? c->x[k] : (double)k;
    p.x.lo  = c->x ? c->x_lo[k] : 0.0;
    p.err_x = c->lost_x;
    p.err_y = c->lost_y;
#endif
    return p;
}

/* After the cheap filter: the filter with the lo parts, then the other levels. */
#if defined(IH_SIMT)
/* By value, and answers as ih_judge_slow takes them: what is passed by its address would have to stand in memory elsewhere too. */
IH_HD_SLOW int32_t ih_chunk_convex_slow(ih_chunk c, int32_t a, int32_t b, int32_t d)
{
    ih_turn turn;
    const ih_point pa = ih_chunk_point(&c, a), pb = ih_chunk_point(&c, b), pd = ih_chunk_point(&c, d);
    turn = ih_turn_near(&pa, &pb, &pd);
    if (turn != IH_TURN_UNDECIDED) return turn == IH_TURN_CONVEX;
    turn = ih_turn_pair(&pa, &pb, &pd);
    return turn == IH_TURN_UNDECIDED ? 4 : 2 + (turn == IH_TURN_CONVEX);
}

IH_HD int32_t ih_chunk_convex_more(const ih_chunk *c, ih_judge *j, int32_t a, int32_t b, int32_t d) { return ih_judge_slow(j, ih_chunk_convex_slow(*c, a, b, d)); }

#  if defined(__cplusplus)
IH_HD int32_t ih_chunk_convex_more(const ih_chunk *c, ih_judge_quick *j, int32_t a, int32_t b, int32_t d)
{
    (void)c, (void)a, (void)b, (void)d;
    j->undecided = 1;
    return 0;
}
#  endif
#else
IH_HD_SLOW int32_t ih_chunk_convex_more(const ih_chunk *c, ih_judge *j, int32_t a, int32_t b, int32_t d)
{
    const ih_point pa = ih_chunk_point(c, a), pb = ih_chunk_point(c, b), pd = ih_chunk_point(c, d);
    return ih_judge_convex(j, &pa, &pb, &pd);
}
#endif

/* Is the turn at a < b < d convex, whose rounded differences are given? The cheap filter takes hi parts only. Its errors: each hi is off by near, each
 * difference is rounded once, so a difference t is off by u |t| + 2 near; then as in ih_turn_filter. That is
 * 2 near_y (x1 + x2) + 2 near_x (|y1| + |y2|) + 8 near_x near_y + (3 u + ...) (|p1| + |p2|), rounding of p and the u |t|
 * of both factors together; 4 u, and the factor 1 + 2^-40, cover second orders and the rounding of the bound. */
IH_ANY_JUDGE IH_HD_FORCED int32_t ih_chunk_convex_of(const ih_chunk *c, ih_any_judge *j, int32_t a, int32_t b, int32_t d, double y1, double x1, double y2, double x2,
                                        int32_t exact, int32_t kind)
{
    const double p1 = y1 * x2, p2 = y2 * x1;
    if (exact) { /* all differences are: rounding keeps the order of the products, and their residues are exact */
        const int32_t convex = p1 != p2 ? p2 > p1 : fma(y2, x1, -p2) > fma(y1, x2, -p1);
        return ih_judge_settled(j, c->begin + a, c->begin + b, c->begin + d, convex, 0);
    } else {
        double bound = 2 * c->near_y * (x1 + x2) + 0x1p-51 * (fabs(p1) + fabs(p2));
        if (kind & IH_KIND_WEIGHTED) bound += c->near_x * (2 * (fabs(y1) + fabs(y2)) + 8 * c->near_y);
        if (fabs(p2 - p1) > bound * (1 + 0x1p-40)) return ih_judge_settled(j, c->begin + a, c->begin + b, c->begin + d, p2 > p1, 0);
    }
    return ih_chunk_convex_more(c, j, a, b, d);
}

IH_ANY_JUDGE IH_HD_FORCED int32_t ih_chunk_convex(const ih_chunk *c, ih_any_judge *j, int32_t a, int32_t b, int32_t d, int32_t exact, int32_t kind)
{
    const int32_t ka = ih_chunk_at(c, a), kb = ih_chunk_at(c, b), kd = ih_chunk_at(c, d);
    const double  y1 = c->y[kb] - c->y[ka], y2 = c->y[kd] - c->y[kb];
    const double  x1 = kind & IH_KIND_WEIGHTED ? c->x[kb] - c->x[ka] : ih_small_double(b - a);
    const double  x2 = kind & IH_KIND_WEIGHTED ? c->x[kd] - c->x[kb] : ih_small_double(d - b);
    return ih_chunk_convex_of(c, j, a, b, d, y1, x1, y2, x2, exact, kind);
}

#endif
#endif
