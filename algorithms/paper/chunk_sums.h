/* SPDX-License-Identifier: Apache-2.0
 * chunk_sums.h: the sums of a chunk in the working type, and turns between its points, filtered by the bounds of the paper's
 * Appendix B.2 and formed again in pairs where these do not decide.
 *
 * Coordinate of a point = start of its lane (a pair) + sum inside the lane: for float32 a pair too, for float64 one double. */
#ifndef IH_PAPER_CHUNK_SUMS_H
#define IH_PAPER_CHUNK_SUMS_H

#include "../common/judge.h"
#include "duo.h"

enum { PAPER_LANES = 32, PAPER_PLACES = 33 * PAPER_LANES };

/* A chunk at work: point k = 0 .. n stands before element begin + k of the row. In arrays of the working type T: of places,
 * and behind the PAPER_PLACES high parts of float32 the low parts; starts are duo<T>, and for float32
 * once more as doubles behind the PAPER_LANES pairs. */
typedef struct ih_chunk {
    void       *y, *x;             /* without weights there is no x: x = k                                  */
    const void *start_y, *start_x;
    ih_values   values;            /* of the row, whose element 0 is element begin of this chunk            */
    uint32_t   *rise;              /* [lanes] bit k of lane l: element 32 l + k is above the one before it  */
    uint32_t   *mask;              /* [lanes] the hulls                                                     */
    int64_t     begin;             /* index of point 0 in the row                                           */
    int32_t     n;                 /* elements                                                              */
    double      most_y, most_x;    /* largest |sum| inside the lane of the thread that has this struct        */
} ih_chunk;

/* As in the canonical chunk: 33 places a lane, the last that of the lane's own end. */
IH_HD int32_t ih_chunk_at(const ih_chunk *c, int32_t k) { return k + ((k - (k == c->n)) >> 5); }
IH_HD int32_t ih_chunk_rises(const ih_chunk *c, int32_t k) { return (int32_t)(c->rise[k >> 5] >> (k & 31) & 1u); }

template <class T> IH_HD T high_at(const void *sums, int32_t place) { return ((const T *)sums)[place]; }

IH_HD duo<double> sum_at(const void *sums, int32_t place, double) { return single(((const double *)sums)[place]); }
IH_HD duo<float>  sum_at(const void *sums, int32_t place, float)
{
    const duo<float> r = { ((const float *)sums)[place], ((const float *)sums)[PAPER_PLACES + place] };
    return r;
}

template <class T> IH_HD duo<T> sum_at(const void *sums, int32_t place) { return sum_at(sums, place, (T)0); }

/* Difference of two places in pairs; points of one lane share its start. */
template <class T> IH_HD duo<T> gap_between(const void *starts, const void *sums, int32_t lane_a, int32_t a, int32_t lane_b, int32_t b)
{
    const duo<T> inside = minus(sum_at<T>(sums, b), sum_at<T>(sums, a));
    if (lane_a == lane_b) return inside;
    return plus(minus(((const duo<T> *)starts)[lane_b], ((const duo<T> *)starts)[lane_a]), inside);
}

/* Places of three points, and the lane of each. */
typedef struct paper_three { int32_t a, b, d, lane_a, lane_b, lane_d; } paper_three;

/* The turn in pairs. */
template <class T, bool WEIGHTED> IH_HD_FORCED int32_t convex_in_pairs(const void *start_y, const void *y, const void *start_x, const void *x, paper_three p)
{
    const duo<T> y1 = gap_between<T>(start_y, y, p.lane_a, p.a, p.lane_b, p.b), y2 = gap_between<T>(start_y, y, p.lane_a, p.a, p.lane_d, p.d);
    duo<T>       x1, x2;
    if (WEIGHTED) {
        x1 = gap_between<T>(start_x, x, p.lane_a, p.a, p.lane_b, p.b);
        x2 = gap_between<T>(start_x, x, p.lane_a, p.a, p.lane_d, p.d);
    } else { /* the point's number is its place without those of lanes' ends before it */
        x1 = single(small_number<T>((p.b - p.lane_b) - (p.a - p.lane_a)));
        x2 = single(small_number<T>((p.d - p.lane_d) - (p.a - p.lane_a)));
    }
    return minus(times(x1, y2), times(y1, x2)).hi > 0;
}

/* turn(a, b, d) = x1 y2 - y1 x2 > 0, differences from a? The bound of the paper with coefficients 12 u and 8 u; without weights abscissae are
 * exact. *sure = 0: it does not decide. */
template <class T, bool WEIGHTED> IH_HD int32_t convex_by_filter(T x1, T y1, T x2, T y2, T most_y, T most_x, int32_t *sure)
{
    const T u  = unit<T>::u;
    const T p1 = x1 * y2, p2 = y1 * x2, turn = p1 - p2;
    T       bound = 12 * u * most_y * (magnitude(x1) + magnitude(x2)) + 8 * u * (magnitude(p1) + magnitude(p2));
    if (WEIGHTED) bound += 12 * u * most_x * (magnitude(y1) + magnitude(y2));
    *sure = magnitude(turn) > bound;
    return turn > 0;
}

/* Points of any lanes: high part of start + sum, off by 2 u m, m = |start| + |sum|. */
template <class T> struct across { T at, most; };

template <class T> IH_HD across<T> across_at(const void *starts, const void *sums, int32_t lane, int32_t place)
{
    const T   s = ((const duo<T> *)starts)[lane].hi, t = high_at<T>(sums, place);
    across<T> r;
    r.at   = s + t;
    r.most = magnitude(s) + magnitude(t);
    return r;
}

template <class T, bool WEIGHTED> IH_HD int32_t chunk_convex(const ih_chunk *c, ih_judge *j, int32_t a, int32_t b, int32_t d)
{
    const int32_t la = a >> 5, lb = b >> 5, ld = (d - (d == c->n)) >> 5;
    const across<T> ya = across_at<T>(c->start_y, c->y, la, a + la), yb = across_at<T>(c->start_y, c->y, lb, b + lb), yd = across_at<T>(c->start_y, c->y, ld, d + ld);
    T             x1, x2, most_x = 0;
    int32_t       sure, convex;
    if (WEIGHTED) {
        const T xa = across_at<T>(c->start_x, c->x, la, a + la).at, xd = across_at<T>(c->start_x, c->x, ld, d + ld).at;
        x1     = across_at<T>(c->start_x, c->x, lb, b + lb).at - xa;
        x2     = xd - xa;
        most_x = xd; /* the largest: weights are positive */
    } else {
        x1 = small_number<T>(b - a);
        x2 = small_number<T>(d - a);
    }
    convex = convex_by_filter<T, WEIGHTED>(x1, yb.at - ya.at, x2, yd.at - ya.at, larger(larger(ya.most, yb.most), yd.most), most_x, &sure);
    if (sure) {
        ++j->by_filter;
        return convex;
    }
    ++j->by_pair;
    const paper_three p = { a + la, b + lb, d + ld, la, lb, ld };
    return convex_in_pairs<T, WEIGHTED>(c->start_y, c->y, c->start_x, c->x, p);
}

IH_HD_FORCED int32_t ih_chunk_convex(const ih_chunk *c, ih_judge *j, int32_t a, int32_t b, int32_t d, int32_t exact, int32_t kind)
{
    (void)exact;
    if (kind & IH_KIND_F32) return kind & IH_KIND_WEIGHTED ? chunk_convex<float, true>(c, j, a, b, d) : chunk_convex<float, false>(c, j, a, b, d);
    return kind & IH_KIND_WEIGHTED ? chunk_convex<double, true>(c, j, a, b, d) : chunk_convex<double, false>(c, j, a, b, d);
}

#endif
