/* SPDX-License-Identifier: Apache-2.0
 * sums.h: exact sums over ranges of a row, from the inputs and from prefix sums stored at some points, and turns. */
#ifndef IH_EXACT_SUMS_H
#define IH_EXACT_SUMS_H

#include "frame.h"

/* A row, values multiplied by sign. Stop j = 1 .. n >> shift is the sum of the first j 2^shift elements: ky limbs of w y,
 * and with weights kx limbs of w behind them. */
typedef struct ih_exact_row {
    const void     *y, *w;
    int64_t         n;
    int32_t         kind, decreasing;
    ih_frame        frame;
    const uint32_t *stops; /* of stop 0, which is 0 and is not there: stop j at stops + (j - 1) (ky + kx) */
    int32_t         shift; /* at most 62, for none                                                        */
} ih_exact_row;

/* The row, from the reach of its values and weights; without stops. */
IH_HD ih_exact_row ih_exact_row_of(const void *y, const void *w, int64_t n, int32_t kind, int32_t decreasing, ih_reach in_y, ih_reach in_w)
{
    ih_exact_row r;

    r.y          = y;
    r.w          = w;
    r.n          = n;
    r.kind       = kind;
    r.decreasing = decreasing;
    r.frame      = ih_frame_of(in_y, in_w, n, kind);
    r.stops      = NULL;
    r.shift      = 62;
    return r;
}

/* Where one thread keeps the sums of two neighbouring ranges. */
typedef struct ih_exact_space { uint32_t *d; int64_t step; } ih_exact_space;

/* Words of room of a thread: two sums of w y, two of w, each with a limb for carries. */
IH_HD int64_t ih_exact_space_words(ih_frame f) { return 2 * ((int64_t)f.ky + 1) + 2 * ((int64_t)f.kx + 1); }

/* Sum of w y and of w of a range: in two's complement, then as magnitudes. */
typedef struct ih_exact_sum { ih_wide s, w; int32_t sign; } ih_exact_sum;

IH_HD ih_exact_sum ih_exact_sum_at(ih_exact_space room, ih_frame f, int32_t which)
{
    uint32_t    *d = room.d + which * ((int64_t)f.ky + f.kx + 2) * room.step;
    ih_exact_sum a;
    a.s    = ih_wide_at(d, room.step);
    a.w    = ih_wide_at(d + ((int64_t)f.ky + 1) * room.step, room.step);
    a.sign = 0;
    return a;
}

/* Words of a stop. */
IH_HD int32_t ih_exact_stop_words(ih_frame f, int32_t kind) { return f.ky + (kind & IH_KIND_WEIGHTED ? f.kx : 0); }

/* Add (or take away) element i, w only if there are weights. */
IH_HD_FORCED void ih_exact_add_element(const ih_exact_row *r, ih_exact_sum *a, int64_t i, int32_t away)
{
    const ih_digits y = ih_digits_of(r->y, i, r->kind);
    const int32_t   negative = y.negative ^ r->decreasing ^ away;

    if (r->kind & IH_KIND_WEIGHTED) {
        const ih_digits w = ih_digits_of(r->w, i, r->kind);
        if (y.m) {
            uint64_t       low;
            const uint64_t high = ih_multiply_words(y.m, w.m, &low);
            ih_wide_add(&a->s, high, low, y.e + w.e - r->frame.ey, negative);
        }
        ih_wide_add(&a->w, 0, w.m, w.e - r->frame.ex, away);
    } else if (y.m) {
        ih_wide_add(&a->s, 0, y.m, y.e - r->frame.ey, negative);
    }
}

/* The nearest stop to a point. */
IH_HD int64_t ih_exact_nearest(const ih_exact_row *r, int64_t k)
{
    const int64_t stops = r->n >> r->shift;
    const int64_t j     = stops > 0 ? (k >> r->shift) + (k >> (r->shift - 1) & 1) : 0;
    return j < stops ? j : stops;
}

/* Are the elements between a, b and stops at pa, pb fewer than those of [a, b), counting the stops themselves as `cost`? */
IH_HD int32_t ih_exact_stops_help(int64_t a, int64_t b, int64_t pa, int64_t pb, int64_t cost)
{
    return pb > pa && (a < pa ? pa - a : a - pa) + (b < pb ? pb - b : b - pb) + cost < b - a;
}

/* Sum over [a, b), a < b, in two's complement. */
IH_HD_SLOW void ih_exact_sum_range(const ih_exact_row *r, ih_exact_sum *sum, int64_t a, int64_t b)
{
    const int64_t ja = ih_exact_nearest(r, a), jb = ih_exact_nearest(r, b);
    const int64_t pa = ja ? ja << r->shift : 0, pb = jb ? jb << r->shift : 0;

    if (ih_exact_stops_help(a, b, pa, pb, r->frame.ky / 8)) {
        const int64_t   each = ih_exact_stop_words(r->frame, r->kind);
        const uint32_t *from = ja ? r->stops + (ja - 1) * each : NULL, *to = r->stops + (jb - 1) * each;
        ih_wide_between(&sum->s, from, to, r->frame.ky);
        if (r->kind & IH_KIND_WEIGHTED) ih_wide_between(&sum->w, from ? from + r->frame.ky : NULL, to + r->frame.ky, r->frame.kx);
        for (int64_t i = a; i < pa; ++i) ih_exact_add_element(r, sum, i, 0);
        for (int64_t i = pa; i < a; ++i) ih_exact_add_element(r, sum, i, 1);
        for (int64_t i = pb; i < b; ++i) ih_exact_add_element(r, sum, i, 0);
        for (int64_t i = b; i < pb; ++i) ih_exact_add_element(r, sum, i, 1);
    } else {
        for (int64_t i = a; i < b; ++i) ih_exact_add_element(r, sum, i, 0);
    }
    if (!(r->kind & IH_KIND_WEIGHTED)) ih_wide_add(&sum->w, 0, (uint64_t)(b - a), 0, 0);
}

/* The same as magnitudes with a sign. */
IH_HD ih_exact_sum ih_exact_sum_of(const ih_exact_row *r, ih_exact_space room, int32_t which, int64_t a, int64_t b)
{
    ih_exact_sum sum = ih_exact_sum_at(room, r->frame, which);
    ih_exact_sum_range(r, &sum, a, b);
    sum.sign = ih_wide_finish(&sum.s);
    ih_wide_finish(&sum.w);
    return sum;
}

/* Add the elements between stops j and to; each stop passed is put where it belongs if stops is not NULL. */
IH_HD_SLOW void ih_exact_add_stops(const ih_exact_row *r, ih_exact_sum *sum, int64_t j, int64_t to, uint32_t *stops)
{
    const int32_t each = ih_exact_stop_words(r->frame, r->kind);

    for (; j < to; ++j) {
        for (int64_t i = j << r->shift; i < (j + 1) << r->shift; ++i) ih_exact_add_element(r, sum, i, 0);
        if (!stops) continue;
        ih_wide_store(&sum->s, stops + j * each, 1, r->frame.ky);
        if (r->kind & IH_KIND_WEIGHTED) ih_wide_store(&sum->w, stops + j * each + r->frame.ky, 1, r->frame.kx);
    }
}

/* Words for stops of rows that have `elements` in all: stops far enough apart that even the largest frame fits. */
IH_HD int64_t ih_exact_stops_words(int32_t kind, int64_t elements)
{
    const int32_t apart = kind & IH_KIND_F32 ? 64 : kind & IH_KIND_WEIGHTED ? 256 : 128;
    return elements / apart * (ih_frame_most_y(kind) + (kind & IH_KIND_WEIGHTED ? ih_frame_most_x(kind) : 0));
}

/* Logarithm of the distance of stops, as many as fit into so many words, at most one in 32 elements. */
IH_HD int32_t ih_exact_shift(ih_frame f, int32_t kind, int64_t n, int64_t words)
{
    const int64_t fit   = words / ih_exact_stop_words(f, kind);
    int32_t       shift = 5;
    while (n >> shift > fit) ++shift;
    return shift;
}

IH_HD int32_t ih_exact_rises(const ih_exact_row *r, int64_t i)
{
    const double before = ih_load(r->y, i - 1, r->kind), here = ih_load(r->y, i, r->kind);
    return r->decreasing ? before > here : before < here;
}

/* Is mean[a, b) below mean[b, d)? */
IH_HD_SLOW int32_t ih_exact_convex(const ih_exact_row *r, ih_exact_space room, int64_t a, int64_t b, int64_t d)
{
    ih_exact_sum left, right;

    if (d - a == 2) return ih_exact_rises(r, b);
    left  = ih_exact_sum_of(r, room, 0, a, b);
    right = ih_exact_sum_of(r, room, 1, b, d);
    if (left.sign != right.sign) return left.sign < right.sign;
    if (left.sign == 0) return 0;
    return left.sign * ih_wide_cross(&left.s, &right.w, &right.s, &left.w, 0) < 0;
}

#endif
