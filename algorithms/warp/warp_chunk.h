/* SPDX-License-Identifier: Apache-2.0
 * warp_chunk.h: the hulls of up to 32 lanes of 32 elements by the lanes of a warp (paper 3.1, 3.2): one chunk, or several
 * short rows side by side, each on a group of lanes; all in shared memory. Functions here are called by whole warps. */
#ifndef IH_WARP_CHUNK_H
#define IH_WARP_CHUNK_H

#include "../chunk/chunk_hull.h"

#define IH_ALL_LANES 0xffffffffu

/* Shared memory of a warp. */
enum { IH_WARP_PLACES = 33 * 32 };

#if !defined(IH_PAPER)
typedef struct ih_warp_space {
    double   *y, *x;             /* [33 * 32] x with weights only                  */
    ih_pair  *start_y, *start_x; /* [32] start_x with weights only                  */
    uint32_t *mask, *rise;       /* [32]                                           */
} ih_warp_space;

IH_HD size_t ih_warp_space_bytes(int32_t kind)
{
    return (size_t)(kind & IH_KIND_WEIGHTED ? 2 : 1) * (IH_WARP_PLACES * sizeof(double) + 32 * sizeof(ih_pair)) + 2 * 32 * sizeof(uint32_t);
}

IH_DEV ih_warp_space ih_warp_space_at(unsigned char *at, int32_t kind)
{
    ih_warp_space s;
    s.y = (double *)at;
    at += IH_WARP_PLACES * sizeof(double);
    s.x = (double *)at;
    if (kind & IH_KIND_WEIGHTED) at += IH_WARP_PLACES * sizeof(double);
    s.start_y = (ih_pair *)at;
    at += 32 * sizeof(ih_pair);
    s.start_x = (ih_pair *)at;
    if (kind & IH_KIND_WEIGHTED) at += 32 * sizeof(ih_pair);
    s.mask = (uint32_t *)at;
    s.rise = s.mask + 32;
    return s;
}

/* Element e of the values to a place: its value (times the sign) and weight. */
IH_DEV void ih_warp_put(const ih_warp_space *s, int32_t place, const ih_values *v, int64_t e, int32_t kind)
{
    s->y[place] = ih_value(v, e, kind);
    if (kind & IH_KIND_WEIGHTED) s->x[place] = ih_load(v->w, e, kind);
}
#endif

/* A lane's part of a row on a group of lanes. */
typedef struct ih_lane_part {
    int32_t lanes; /* of the group, a power of two                                     */
    int32_t own;   /* this lane within the group                                       */
    int32_t n;     /* elements of the group's chunk; 0: none                           */
    int32_t count; /* of this lane: 0 .. 32                                            */
} ih_lane_part;

IH_DEV ih_lane_part ih_lane_part_of(int32_t lane, int32_t lanes, int32_t n)
{
    ih_lane_part p;
    p.lanes = lanes;
    p.own   = lane & (lanes - 1);
    p.n     = n;
    p.count = n - 32 * p.own;
    p.count = p.count < 0 ? 0 : p.count > 32 ? 32 : p.count;
    return p;
}

IH_DEV ih_pair ih_shfl_up_pair(ih_pair v, int32_t by, int32_t width)
{
    ih_pair r;
    r.hi = __shfl_up_sync(IH_ALL_LANES, v.hi, (unsigned)by, width);
    r.lo = __shfl_up_sync(IH_ALL_LANES, v.lo, (unsigned)by, width);
    return r;
}

#if defined(IH_PAPER)
#  include "../paper/warp_sums.h" /* sums of the working type, on the places of shared memory that it wants */
#else
/* Exclusive prefix sum of pairs over a group; *lost of the lane becomes a bound on the error of its prefix and own sum. */
IH_DEV ih_pair ih_warp_prefix(ih_pair own, double *lost, ih_lane_part p)
{
    ih_pair sum = own, zero = { 0, 0 };
    for (int32_t by = 1; by < p.lanes; by *= 2) {
        const ih_pair before = ih_shfl_up_pair(sum, by, p.lanes);
        const double  lost_before = __shfl_up_sync(IH_ALL_LANES, *lost, (unsigned)by, p.lanes);
        if (p.own >= by) {
            *lost += lost_before;
            sum = ih_pair_add(before, sum, lost);
        }
    }
    sum = ih_shfl_up_pair(sum, 1, p.lanes);
    return p.own == 0 ? zero : sum;
}

IH_DEV double ih_warp_max(double v, int32_t lanes)
{
    for (int32_t by = lanes / 2; by > 0; by /= 2) {
        const double other = __shfl_xor_sync(IH_ALL_LANES, v, by);
        v = other > v ? other : v;
    }
    return v;
}

/* Add element k of the lane, whose values stand at its places, to running sums. */
IH_HD_FORCED void ih_place_add(ih_sums *s, const double *y, const double *x, int32_t k, int32_t kind)
{
    if (!(kind & IH_KIND_WEIGHTED)) {
        ih_sum_add(&s->y, y[k], &s->lost_y);
    } else {
        ih_sum_add(&s->x, x[k], &s->lost_x);
        if (kind & IH_KIND_F32) {
            ih_sum_add(&s->y, x[k] * y[k], &s->lost_y);
        } else {
            const ih_pair q = ih_two_prod(x[k], y[k]);
            ih_sum_add(&s->y, q.hi, &s->lost_y);
            ih_sum_add_low(&s->y, q.lo, &s->lost_y);
        }
    }
}

/* May double arithmetic be trusted with this value (values.h)? */
IH_HD_FORCED int32_t ih_place_in_range(double y, double w, int32_t kind)
{
    const double p = fabs(kind & IH_KIND_WEIGHTED ? w * y : y);
    if (kind & IH_KIND_F32) return (fabs(y) <= IH_F32_MOST) & (!(kind & IH_KIND_WEIGHTED) || ((w > 0) & (w <= IH_F32_MOST)));
    return ((y == 0) | ((p >= 0x1p-300) & (p <= 0x1p300))) & (!(kind & IH_KIND_WEIGHTED) || ((w >= 0x1p-150) & (w <= 0x1p150)));
}

/* On input  the values of the group's chunk (times the sign) stand at their places in y and x: element k at k + k / 32.
 * On output prefix sums stand there; c is ready for turns: y, x, starts, rise, mask, errors. Returns 0 in lanes that saw a
 * value out of range; then the sums of the group mean nothing.
 * *end      the sums at the end of the lane. c->values and c->begin are the caller's. */
IH_DEV int32_t ih_warp_sums(ih_chunk *c, const ih_warp_space *space, ih_lane_part p, int32_t lane, ih_sums *end, int32_t kind)
{
    const int32_t first = lane - p.own, place = 33 * lane;
    double       *y = space->y + place, *x = space->x + place;
    ih_sums       s = { { 0, 0 }, { 0, 0 }, 0, 0 };
    double        most_y = 0, most_x = 0, start_lost_y, start_lost_x;
    uint32_t      rise = 0;
    int32_t       good = 1;

    /* totals of lanes, and where values rise */
    {
        double before = p.own > 0 && p.count > 0 ? y[-2] : 0; /* the lane before is full */
        for (int32_t k = 0; k < p.count; ++k) {
            const double v = y[k];
            good &= ih_place_in_range(v, kind & IH_KIND_WEIGHTED ? x[k] : 1.0, kind);
            rise |= (uint32_t)(before < v) << k;
            before = v;
            ih_place_add(&s, y, x, k, kind);
        }
        if (p.own == 0) rise |= 1u;
    }
    __syncwarp();
    start_lost_y = s.lost_y;
    start_lost_x = s.lost_x;
    s.y    = ih_warp_prefix(s.y, &start_lost_y, p);
    if (kind & IH_KIND_WEIGHTED) s.x = ih_warp_prefix(s.x, &start_lost_x, p);
    space->start_y[lane] = s.y;
    if (kind & IH_KIND_WEIGHTED) space->start_x[lane] = s.x;
    space->rise[lane] = rise;
    s.lost_y = s.lost_x = 0;

    /* prefix sums, in place */
    for (int32_t k = 0; k < p.count; ++k) {
        const double hi_y = s.y.hi, hi_x = s.x.hi;
        most_y = fabs(s.y.lo) > most_y ? fabs(s.y.lo) : most_y;
        if (kind & IH_KIND_WEIGHTED) most_x = fabs(s.x.lo) > most_x ? fabs(s.x.lo) : most_x;
        ih_place_add(&s, y, x, k, kind);
        y[k] = hi_y;
        if (kind & IH_KIND_WEIGHTED) x[k] = hi_x;
    }
    if (p.count > 0) {
        most_y = fabs(s.y.lo) > most_y ? fabs(s.y.lo) : most_y;
        y[p.count] = s.y.hi;
        if (kind & IH_KIND_WEIGHTED) {
            most_x = fabs(s.x.lo) > most_x ? fabs(s.x.lo) : most_x;
            x[p.count] = s.x.hi;
        }
    }
    *end       = s;
    c->y       = space->y + 33 * first;
    c->x       = space->x + 33 * first;
    c->start_y = space->start_y + first;
    c->start_x = space->start_x + first;
    c->rise    = space->rise + first;
    c->mask    = space->mask + first;
    c->n       = p.n;
    /* the sums of absolute values were rounded themselves, at most 2^21 times each */
    c->lost_y = (ih_warp_max(start_lost_y, p.lanes) + ih_warp_max(s.lost_y, p.lanes)) * (1 + 0x1p-30);
    c->near_y = (ih_warp_max(most_y, p.lanes) + c->lost_y) * (1 + 0x1p-50);
    c->lost_x = c->near_x = 0;
    if (kind & IH_KIND_WEIGHTED) {
        c->lost_x = (ih_warp_max(start_lost_x, p.lanes) + ih_warp_max(s.lost_x, p.lanes)) * (1 + 0x1p-30);
        c->near_x = (ih_warp_max(most_x, p.lanes) + c->lost_x) * (1 + 0x1p-50);
    }
    __syncwarp();
    return good;
}
#endif

/* On input  c from ih_warp_sums.
 * On output c->mask holds the hull of the group's chunk: lane hulls, joined in rounds by the first lane of each pair. */
IH_DEV void ih_warp_hull(const ih_chunk *c, ih_judge *j, ih_lane_part p, ih_walk_count *walks, int32_t kind)
{
    if (p.count > 0) c->mask[p.own] = ih_lane_hull(c, j, p.own, kind);
    __syncwarp();
    for (int32_t width = 1; width < p.lanes; width *= 2) {
        const int32_t s = 32 * (p.own + width), rest = c->n - s, span = 32 * width;
        if ((p.own & (2 * width - 1)) == 0 && rest > 0) ih_chunk_join(c, j, 32 * p.own, s, rest < span ? c->n : s + span, walks, kind);
        __syncwarp();
    }
}

#endif
