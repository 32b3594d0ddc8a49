/* SPDX-License-Identifier: Apache-2.0
 * turn.h: the turn at three points of the cumulative sum diagram, anywhere in a row: filter, then in pairs, then
 * exactly on the represented coordinates (paper, Appendix B; the second step is exact here).
 *
 * turn(a, b, d), a < b < d, is convex if b lies strictly below the chord from a to d, that is if mean[a, b) < mean[b, d). */
#ifndef IH_COMMON_TURN_H
#define IH_COMMON_TURN_H

#include "expansion.h"

/* Point P_index = (sum of weights, sum of w y) of the elements before index. Row coordinate = start of its chunk +
 * coordinate inside the chunk, both pairs. Errors bound |exact - represented|; 0 says that the pair is exact. */
typedef struct ih_point {
    int64_t index;
    int64_t chunk;            /* points of one chunk share its start exactly, so that only the inside counts */
    ih_pair x, y;             /* inside the chunk                                                            */
    ih_pair x0, y0;           /* start of the chunk                                                          */
    double  err_x, err_y;     /* of x, y                                                                     */
    double  err_x0, err_y0;   /* of x0, y0                                                                   */
} ih_point;

typedef int32_t ih_turn;
enum { IH_TURN_FLAT = 0, IH_TURN_CONVEX = 1, IH_TURN_UNDECIDED = 2 }; /* FLAT: zero or concave, b is no vertex */

/* b - a in one coordinate from its parts, rounded, and a bound on the error of the roundings.
 * With the differences t of hi and of lo parts, each rounded once (u |t|), two sums of two (u (|t1| + |t2|) (1 + u)) and
 * their sum (the same again): at most 3 u (1 + 3u) sum |t|, so 4 u sum |t| covers it and its own rounding. */
IH_HD double ih_difference(ih_pair a0, ih_pair a, ih_pair b0, ih_pair b, double *error)
{
    const double start = b0.hi - a0.hi, start_lo = b0.lo - a0.lo, in = b.hi - a.hi, in_lo = b.lo - a.lo;
    *error = 0x1p-51 * (fabs(start) + fabs(in) + (fabs(start_lo) + fabs(in_lo)));
    return (start + in) + (start_lo + in_lo);
}

/* Sign of y2 x1 - y1 x2 from rounded differences with error bounds e. With X = x + dx, |dx| <= ex and so on,
 * |Y X - y x| <= ey |x| + ex |y| + ex ey, and each product is rounded once (u |p|), their difference too (u |c|, which
 * does not change its sign). The factor 1 + 2^-40 and 2 u for u cover the roundings of the bound itself, a dozen of them. */
IH_HD ih_turn ih_turn_filter(double x1, double ex1, double y1, double ey1, double x2, double ex2, double y2, double ey2)
{
    const double p1 = y1 * x2, p2 = y2 * x1, c = p2 - p1;
    const double bound = (ey1 * (fabs(x2) + ex2) + ex2 * fabs(y1)) + (ey2 * (fabs(x1) + ex1) + ex1 * fabs(y2)) + 0x1p-52 * (fabs(p1) + fabs(p2));
    if (fabs(c) > bound * (1 + 0x1p-40)) return c > 0 ? IH_TURN_CONVEX : IH_TURN_FLAT;
    return IH_TURN_UNDECIDED;
}

/* b - a exactly, from the parts, as an expansion. */
IH_HD int32_t ih_difference_exact(double *e, ih_pair a0, ih_pair a, ih_pair b0, ih_pair b)
{
    int32_t n = 0;
    n = ih_expansion_add(e, n, b.lo);
    n = ih_expansion_add(e, n, -a.lo);
    n = ih_expansion_add(e, n, b.hi);
    n = ih_expansion_add(e, n, -a.hi);
    if (b0.hi != a0.hi || b0.lo != a0.lo) {
        n = ih_expansion_add(e, n, b0.lo);
        n = ih_expansion_add(e, n, -a0.lo);
        n = ih_expansion_add(e, n, b0.hi);
        n = ih_expansion_add(e, n, -a0.hi);
    }
    return n;
}

/* The start of a chunk enters a difference only if the other point is in another chunk. */
IH_HD double ih_error_between(double a0, double a, double b0, double b, int32_t same) { return same ? a + b : (a + b) + (a0 + b0); }

IH_HD ih_turn ih_turn_near(const ih_point *a, const ih_point *b, const ih_point *d)
{
    double       ex1, ey1, ex2, ey2;
    const double x1 = ih_difference(a->x0, a->x, b->x0, b->x, &ex1), y1 = ih_difference(a->y0, a->y, b->y0, b->y, &ey1);
    const double x2 = ih_difference(b->x0, b->x, d->x0, d->x, &ex2), y2 = ih_difference(b->y0, b->y, d->y0, d->y, &ey2);
    ex1 += ih_error_between(a->err_x0, a->err_x, b->err_x0, b->err_x, a->chunk == b->chunk);
    ey1 += ih_error_between(a->err_y0, a->err_y, b->err_y0, b->err_y, a->chunk == b->chunk);
    ex2 += ih_error_between(b->err_x0, b->err_x, d->err_x0, d->err_x, b->chunk == d->chunk);
    ey2 += ih_error_between(b->err_y0, b->err_y, d->err_y0, d->err_y, b->chunk == d->chunk);
    return ih_turn_filter(x1, ex1, y1, ey1, x2, ex2, y2, ey2);
}

/* A product of two renormalised pairs. With |lo| <= u |hi|, two_prod of the hi parts is exact; the two mixed products are
 * rounded (u^2 each), their sum too (2 u^2), lo lo is left out (u^2), and adding the low part of the first costs 3 u^2:
 * off by less than 2^-102 |a b|. */
IH_HD ih_pair ih_pair_times(ih_pair a, ih_pair b)
{
    ih_pair p = ih_two_prod(a.hi, b.hi);
    p.lo += a.hi * b.lo + a.lo * b.hi;
    return p;
}

/* A difference of two points in one coordinate as a pair, and a bound on its error. */
typedef struct ih_gap { ih_pair d; double error; } ih_gap;

IH_HD ih_gap ih_gap_of(const double *e, int32_t n, double lost)
{
    ih_gap g;
    g.d = ih_expansion_pair(e, n, &g.error);
    g.error += lost;
    return g;
}

/* Sign of y2 x1 - y1 x2 in pairs. The products are off by 2^-102 each, forming their difference by 2^-103 of both, so
 * 2^-100 (|p1| + |p2|) covers it; the errors of the factors enter as in ih_turn_filter. */
IH_HD ih_turn ih_turn_pairs(ih_gap x1, ih_gap y1, ih_gap x2, ih_gap y2)
{
    const ih_pair p1 = ih_pair_times(y1.d, x2.d), p2 = ih_pair_times(y2.d, x1.d), high = ih_two_diff(p2.hi, p1.hi);
    const double  c = high.hi + (high.lo + (p2.lo - p1.lo));
    const double  bound = (y1.error * (fabs(x2.d.hi) + x2.error) + x2.error * fabs(y1.d.hi)) +
                          (y2.error * (fabs(x1.d.hi) + x1.error) + x1.error * fabs(y2.d.hi)) + 0x1p-100 * (fabs(p1.hi) + fabs(p2.hi));
    if (fabs(c) > bound * (1 + 0x1p-40)) return c > 0 ? IH_TURN_CONVEX : IH_TURN_FLAT;
    return IH_TURN_UNDECIDED;
}

/* In pairs; then, if the represented coordinates are exact, by the exact sign. */
IH_HD_SLOW ih_turn ih_turn_pair(const ih_point *a, const ih_point *b, const ih_point *d)
{
    const int32_t same1 = a->chunk == b->chunk, same2 = b->chunk == d->chunk;
    double        x1[IH_SUM_TERMS], y1[IH_SUM_TERMS], x2[IH_SUM_TERMS], y2[IH_SUM_TERMS];
    const int32_t nx1 = ih_difference_exact(x1, a->x0, a->x, b->x0, b->x), ny1 = ih_difference_exact(y1, a->y0, a->y, b->y0, b->y);
    const int32_t nx2 = ih_difference_exact(x2, b->x0, b->x, d->x0, d->x), ny2 = ih_difference_exact(y2, b->y0, b->y, d->y0, d->y);
    const double  lost_x1 = ih_error_between(a->err_x0, a->err_x, b->err_x0, b->err_x, same1);
    const double  lost_y1 = ih_error_between(a->err_y0, a->err_y, b->err_y0, b->err_y, same1);
    const double  lost_x2 = ih_error_between(b->err_x0, b->err_x, d->err_x0, d->err_x, same2);
    const double  lost_y2 = ih_error_between(b->err_y0, b->err_y, d->err_y0, d->err_y, same2);
    const int32_t exact   = lost_x1 + lost_y1 + lost_x2 + lost_y2 == 0;
    ih_turn       turn    = IH_TURN_UNDECIDED;

    if (!exact || nx1 > 1 || ny1 > 1 || nx2 > 1 || ny2 > 1) /* single doubles are decided as fast exactly */
        turn = ih_turn_pairs(ih_gap_of(x1, nx1, lost_x1), ih_gap_of(y1, ny1, lost_y1), ih_gap_of(x2, nx2, lost_x2), ih_gap_of(y2, ny2, lost_y2));
    if (turn == IH_TURN_UNDECIDED && exact) {
        const int32_t sign = ih_expansion_cross(y2, ny2, x1, nx1, y1, ny1, x2, nx2);
        if (sign != 2) turn = sign > 0 ? IH_TURN_CONVEX : IH_TURN_FLAT;
    }
    return turn;
}

#endif
