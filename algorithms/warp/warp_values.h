/* SPDX-License-Identifier: Apache-2.0
 * warp_values.h: the fit of a chunk from its hull by the lanes of a warp (paper 3.4): means of the blocks inside it, rounded
 * once; then the value of every element, written side by side. */
#ifndef IH_WARP_VALUES_H
#define IH_WARP_VALUES_H

#include "../common/mean.h"
#include "warp_hull.h"

/* What a group of lanes works on. */
typedef struct ih_warp_hull_part {
    int32_t last;             /* the last vertex: the block that begins there (if last < n) has value z_out    */
    double  z_in, z_out;      /* values before the first vertex and from the last one on (as the caller wants them) */
    double  sign;
    double  z_min, z_max;     /* bounds */
} ih_warp_hull_part;

#if !defined(IH_PAPER)
/* The mean of elements a .. b - 1, b - a > 1, times sign, an exact zero +0. The slow part: from the values, or from the pairs. */
typedef struct ih_rounded { double z; ih_level level; } ih_rounded;

/* *sum += b. Out of line, as loops with it are not unrolled: where few means are left open, instructions are what they wait for. */
IH_DEV_SLOW void ih_add_pair(ih_pair *sum, ih_pair b, double *lost) { *sum = ih_pair_add(*sum, b, lost); }

/* The sum over the lanes of one coordinate, in all lanes, perhaps with other low parts. */
IH_DEV void ih_sum_over_warp(ih_pair *sum, double *lost)
{
#pragma unroll 1
    for (int32_t by = 16; by > 0; by /= 2) {
        ih_pair other;
        other.hi = __shfl_xor_sync(IH_ALL_LANES, sum->hi, by);
        other.lo = __shfl_xor_sync(IH_ALL_LANES, sum->lo, by);
        *lost += __shfl_xor_sync(IH_ALL_LANES, *lost, by);
        ih_add_pair(sum, other, lost);
    }
}

/* Each lane's sums, of n elements together: their mean as the caller wants it, but for the bounds. NONE: not settled. */
IH_DEV ih_rounded ih_warp_mean(ih_sums sums, int64_t n, double sign, int32_t kind)
{
    ih_rounded r = { 0, IH_LEVEL_FILTER };
    double     low, high;

    ih_sum_over_warp(&sums.y, &sums.lost_y);
    if (kind & IH_KIND_WEIGHTED) {
        ih_sum_over_warp(&sums.x, &sums.lost_x);
    } else {
        sums.x.hi = ih_index_double(n);
        sums.x.lo = sums.lost_x = 0;
    }
    if (sums.y.hi == 0 && sums.lost_y == 0) return r;
    r.level = ih_round_quotient(sums.y, sums.x, sums.lost_y * (1 + 0x1p-10), sums.lost_x * (1 + 0x1p-10), kind, &low, &high) && ih_bits_of(low) == ih_bits_of(high)
                  ? IH_LEVEL_FILTER : IH_LEVEL_NONE;
    r.z     = sign * low;
    return r;
}

IH_DEV_SLOW ih_rounded ih_chunk_mean_slow(ih_chunk c, int32_t a, int32_t b, double sign)
{
    const int32_t kind = c.values.kind;
    ih_block      block;
    ih_rounded    r = { 0, IH_LEVEL_NONE };

    if (b - a <= 64) {
        block = ih_block_sum(&c.values, a, b, kind);
    } else {
        const ih_point pa = ih_chunk_point(&c, a), pb = ih_chunk_point(&c, b);
        block = ih_block_between(&pa, &pb);
    }
    r.level = ih_round_mean(&block, kind, &r.z);
    if (r.level == IH_LEVEL_NONE && b - a > 64) { /* the pairs carry the errors of the chunk, the values only their own */
        block = ih_block_sum(&c.values, a, b, kind);
        r.level = ih_round_mean(&block, kind, &r.z);
    }
    r.z = block.ny == 0 && block.lost_y == 0 ? 0.0 : sign * r.z;
    return r;
}

/* The same from what stands in shared memory or a slot: 1 and *z, or 0, if that does not settle it.
 * ya, yb, xa, xb: coordinates of points a and b, one double each, off by at most c->near_y and near_x.
 * The quotient q of the rounded differences is off by (u |dy| + 2 near_y + |q| (u dx + 2 near_x)) / dx and two roundings: 2^-50 |q|
 * covers what is relative. */
IH_DEV int32_t ih_chunk_mean_quick(const ih_chunk *c, int32_t a, int32_t b, double ya, double yb, double xa, double xb, double sign, double *z, int32_t kind)
{
    const double dy = yb - ya, dx = kind & IH_KIND_WEIGHTED ? xb - xa : ih_small_double(b - a);

    if (c->near_y == 0 && c->near_x == 0 && ih_two_diff(yb, ya).lo == 0 && (!(kind & IH_KIND_WEIGHTED) || ih_two_diff(xb, xa).lo == 0)) {
        /* the sums are exact */
        const double q = dy / dx;
        if (dy == 0) {
            *z = 0.0;
        } else if (!(kind & IH_KIND_F32)) {
            *z = sign * q; /* rounded once */
        } else {
            const float below = (float)(q - 0x1p-52 * fabs(q)), above = (float)(q + 0x1p-52 * fabs(q));
            if (below == above) {
                *z = sign * ih_widen(below);
            } else { /* the sign of the remainder at the boundary, which fma rounds but does not change */
                const double low = ih_widen(below), high = ih_widen(above), side = fma(-(low + (high - low) / 2), dx, dy);
                *z = side > 0 || (side == 0 && ih_is_even(high, kind)) ? sign * high : sign * low;
            }
        }
        return 1;
    }
    if (kind & IH_KIND_F32) {
        const double r = 1 / dx, q = dy * r, d = 0x1p-50 * fabs(q) + 2 * (c->near_y + fabs(q) * c->near_x) * r * (1 + 0x1p-10);
        const float  low = (float)(q - d), high = (float)(q + d);
        if (low == high && low != 0) {
            *z = sign * ih_widen(low);
            return 1;
        }
    }
    return 0;
}

/* The same, settled or not: then *worst becomes NONE. */
IH_DEV double ih_chunk_mean(const ih_chunk *c, int32_t a, int32_t b, double ya, double yb, double xa, double xb, double sign, ih_level *worst, int32_t kind)
{
    double     z;
    ih_rounded slow;

    if (ih_chunk_mean_quick(c, a, b, ya, yb, xa, xb, sign, &z, kind)) return z;
    slow = ih_chunk_mean_slow(*c, a, b, sign);
    if (slow.level > *worst) *worst = slow.level;
    return slow.z;
}
#endif

IH_DEV double ih_clipped(double z, double z_min, double z_max) { return z < z_min ? z_min + 0.0 : z > z_max ? z_max + 0.0 : z; }

/* The place of a value: of the type of z, where a sum was. */
IH_DEV void ih_place_z(double *place, double z, int32_t kind)
{
    if (kind & IH_KIND_F32) *(float *)place = (float)z;
    else *place = z;
}

/* The vertices of a lane by what begins there: a block of one element, whose value is that of the element, or of more. */
typedef struct ih_warp_blocks { uint32_t all, single, more; } ih_warp_blocks;

/* word: the lane's vertices, from the first to the last one (which has a bit if it is not the end of the chunk). */
IH_DEV ih_warp_blocks ih_warp_blocks_of(uint32_t word, const ih_warp_hull_part *h, ih_lane_part p)
{
    const uint32_t next = __shfl_down_sync(IH_ALL_LANES, word, 1, p.lanes) & 1u;
    const int32_t  last = h->last - 32 * p.own; /* within the lane's points, or not */
    uint32_t       followed = word >> 1; /* whose next point is a vertex too */
    ih_warp_blocks b;
    if (p.own + 1 < p.lanes) followed |= next << 31;
    if (last > 0 && last <= 32) followed |= 1u << (last - 1);
    b.all    = word;
    b.single = word & followed;
    b.more   = word & ~followed;
    if (last >= 0 && last < 32) { /* no block of this chunk begins at the last vertex */
        b.single &= ~(1u << last);
        b.more &= ~(1u << last);
    }
    return b;
}

/* What a value is in the type of z. */
template <int KIND> struct ih_real { typedef double type; };
template <> struct ih_real<IH_KIND_F32> { typedef float type; };
template <> struct ih_real<IH_KIND_F32 | IH_KIND_WEIGHTED> { typedef float type; };

template <typename R> IH_DEV R ih_within(R z, R z_min, R z_max) { return z < z_min ? z_min + (R)0 : z > z_max ? z_max + (R)0 : z; }

#if defined(IH_PAPER)
#  include "../paper/warp_values.h" /* means as quotients, rounded as they come */
#else
/* Values of a short row's blocks, but single ones, to the places of their first points in y, where prefix sums are used up.
 * *worst: the level that settled the hardest rounding. */
IH_DEV void ih_warp_means(const ih_chunk *c, const ih_warp_hull_part *h, ih_lane_part p, ih_warp_blocks b, ih_level *worst, int32_t kind)
{
    const int32_t first = 32 * p.own, weighted = kind & IH_KIND_WEIGHTED, top = b.all ? ih_bit_high(b.all) : 0;
    double        z_last = 0;
    uint32_t      more = b.more;

    if (more >> top & 1u) { /* the block that leaves the lane, from sums of other lanes: before those are used up */
        const int32_t a = first + top, e = ih_mask_after(c->mask, a, h->last), ka = ih_chunk_at(c, a), ke = ih_chunk_at(c, e);
        z_last = ih_clipped(ih_chunk_mean(c, a, e, c->y[ka], c->y[ke], weighted ? c->x[ka] : 0, weighted ? c->x[ke] : 0, h->sign, worst, kind), h->z_min, h->z_max);
    }
    __syncwarp();
    for (; more; more &= more - 1) {
        const int32_t k = ih_bit_low(more), a = first + k, ka = ih_chunk_at(c, a);
        if (k == top) {
            ih_place_z(&c->y[ka], z_last, kind);
        } else {
            const int32_t e = first + ih_bit_low(b.all & ~((2u << k) - 1)), ke = ka + (e - a);
            ih_place_z(&c->y[ka], ih_clipped(ih_chunk_mean(c, a, e, c->y[ka], c->y[ke], weighted ? c->x[ka] : 0, weighted ? c->x[ke] : 0, h->sign, worst, kind), h->z_min, h->z_max), kind);
        }
    }
    __syncwarp();
}
#endif

/* The value of element k of a chunk. word, single: of lane k / 32; before: the last vertex before it; y: the element's own,
 * if it is single; places: where values stand, at those of their first points. */
template <typename R, typename P> IH_DEV R ih_warp_value(const ih_warp_hull_part *h, const P *places, R y, int32_t k, uint32_t word, uint32_t single, int32_t before)
{
    const int32_t  bit = k & 31;
    const uint32_t low = word & (~0u >> (31 - bit));
    const int32_t  v   = low ? k - bit + ih_bit_high(low) : before;
    R              z   = *(const R *)&places[v < 0 ? 0 : v + (v >> 5)]; /* read in any case, so that no address is of two kinds of memory */
    if (v < 0) z = (R)h->z_in;
    if (v == h->last) z = (R)h->z_out;
    if (single >> bit & 1u) z = ih_within<R>(y + (R)0, (R)h->z_min, (R)h->z_max);
    return z;
}

/* The values of all elements of a lane to their places (of the group), but of blocks of one element. before: the last vertex before the lane's. */
template <typename R, typename P> IH_DEV void ih_warp_fill(const ih_warp_hull_part *h, P *places, ih_lane_part p, ih_warp_blocks blocks, int32_t before)
{
    R z = before < 0 ? (R)h->z_in : *(const R *)&places[before + (before >> 5)]; /* stays: a block's first place keeps its value */
#pragma unroll 4
    for (int32_t k = 0; k < p.count; ++k) {
        R *const here = (R *)&places[33 * p.own + k];
        if (blocks.all >> k & 1u) z = *here;
        else *here = z;
    }
    __syncwarp();
}

/* Elements 32 i + lane, 32 (i + 1) + lane, .. of y [n], MANY loads under way together; zeros where nothing is to be read. */
template <int MANY, typename R> IH_DEV void ih_warp_hold(R *held, const R *y, int32_t i, int32_t n, int32_t read, int32_t lane)
{
#pragma unroll
    for (int32_t k = 0; k < MANY; ++k) {
        const int32_t e = 32 * (i + k) + lane;
        held[k] = read && e < n ? y[e] : (R)0;
    }
}

/* Values of the elements of a chunk, side by side. before: the last vertex before the lane's points. y is read only if there is a
 * block of one element. */
template <typename R, typename P> IH_DEV void ih_warp_write(R *z, const R *y, int32_t n, const ih_warp_hull_part *h, const P *places, ih_warp_blocks blocks,
                                                            int32_t before, int32_t lane)
{
    enum { AT_ONCE = 8 };
    const int32_t read = __any_sync(IH_ALL_LANES, blocks.single);
    for (int32_t i = 0; 32 * i < n; i += AT_ONCE) {
        R held[AT_ONCE];
        ih_warp_hold<AT_ONCE>(held, y, i, n, read, lane);
#pragma unroll
        for (int32_t k = 0; k < AT_ONCE; ++k) {
            const int32_t  e = 32 * (i + k) + lane, from = __shfl_sync(IH_ALL_LANES, before, i + k);
            const uint32_t all = __shfl_sync(IH_ALL_LANES, blocks.all, i + k), single = __shfl_sync(IH_ALL_LANES, blocks.single, i + k);
            if (e < n) z[e] = ih_warp_value<R>(h, places, held[k], e, all, single, from);
        }
    }
}

/* The bits of elements that begin a block, of a lane, into the batch's bits from element `flat` on. */
IH_DEV void ih_warp_put_bits(uint32_t *bits, int64_t flat, uint32_t word)
{
    const int32_t shift = (int32_t)(flat & 31);
    if (!word) return;
    atomicOr(&bits[flat >> 5], word << shift);
    if (shift && word >> (32 - shift)) atomicOr(&bits[(flat >> 5) + 1], word >> (32 - shift));
}

#endif
