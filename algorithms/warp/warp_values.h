/* SPDX-License-Identifier: Apache-2.0
 * warp_values.h: the fit of a chunk from its hull by the lanes of a warp (paper 3.4): means of the blocks inside it, rounded
 * once; then the value of every element, written side by side. */
#ifndef IH_WARP_VALUES_H
#define IH_WARP_VALUES_H

#include "warp_chunk.h"
#if !defined(IH_PAPER)
#  include "../common/mean.h"
#endif

/* What a group of lanes works on. */
typedef struct ih_warp_hull_part {
    int32_t last;             /* the last vertex: the block that begins there (if last < n) has value z_out    */
    double  z_in, z_out;      /* values before the first vertex and from the last one on (as the caller wants them) */
    double  sign;
    double  z_min, z_max;     /* bounds */
} ih_warp_hull_part;

#if defined(IH_PAPER)
#  include "../paper/warp_values.h" /* means as quotients, rounded as they come */
#else
/* The mean of elements a .. b - 1, b - a > 1, times sign, an exact zero +0. The slow part: from the values, or from the pairs. */
IH_DEV_SLOW ih_level ih_chunk_mean_slow(const ih_chunk *c, int32_t a, int32_t b, double sign, double *z)
{
    const int32_t kind = c->values.kind;
    ih_block      block;
    ih_level      level;

    if (b - a <= 64) {
        block = ih_block_sum(&c->values, a, b, kind);
    } else {
        const ih_point pa = ih_chunk_point(c, a), pb = ih_chunk_point(c, b);
        block = ih_block_between(&pa, &pb);
    }
    level = ih_round_mean(&block, kind, z);
    if (level == IH_LEVEL_NONE && b - a > 64) { /* the pairs carry the errors of the chunk, the values only their own */
        block = ih_block_sum(&c->values, a, b, kind);
        level = ih_round_mean(&block, kind, z);
    }
    *z = block.ny == 0 && block.lost_y == 0 ? 0.0 : sign * *z;
    return level;
}

/* The mean of such a block as the caller wants it, but for the bounds: times sign, an exact zero +0.
 * ya, yb, xa, xb: coordinates of points a and b, one double each, off by at most c->near_y and near_x.
 * The quotient q of the rounded differences is off by (u |dy| + 2 near_y + |q| (u dx + 2 near_x)) / dx and two roundings: 2^-50 |q|
 * covers what is relative. */
IH_DEV double ih_chunk_mean(const ih_chunk *c, int32_t a, int32_t b, double ya, double yb, double xa, double xb, double sign, ih_level *worst, int32_t kind)
{
    const double dy = yb - ya, dx = kind & IH_KIND_WEIGHTED ? xb - xa : ih_small_double(b - a);
    double       z = 0;
    ih_level     level;

    if (c->near_y == 0 && c->near_x == 0 && ih_two_diff(yb, ya).lo == 0 && (!(kind & IH_KIND_WEIGHTED) || ih_two_diff(xb, xa).lo == 0)) {
        /* the sums are exact */
        const double q = dy / dx;
        if (!(kind & IH_KIND_F32)) return dy == 0 ? 0.0 : sign * q; /* rounded once */
        {
            const double low = (double)(float)(q - 0x1p-52 * fabs(q)), high = (double)(float)(q + 0x1p-52 * fabs(q));
            if (low == high && (q != 0 || dy == 0)) return dy == 0 ? 0.0 : sign * low;
            if (low != high) { /* the sign of the remainder at the boundary, which fma rounds but does not change */
                const double side = fma(-(low + (high - low) / 2), dx, dy);
                return side > 0 || (side == 0 && ih_is_even(high, kind)) ? sign * high : sign * low;
            }
        }
    } else if (kind & IH_KIND_F32) {
        const double r = 1 / dx, q = dy * r, d = 0x1p-50 * fabs(q) + 2 * (c->near_y + fabs(q) * c->near_x) * r * (1 + 0x1p-10);
        const float  low = (float)(q - d), high = (float)(q + d);
        if (low == high && low != 0) return sign * (double)low;
    }
    level = ih_chunk_mean_slow(c, a, b, sign, &z);
    if (level > *worst) *worst = level;
    return z;
}

IH_DEV double ih_clipped(double z, double z_min, double z_max) { return z < z_min ? z_min + 0.0 : z > z_max ? z_max + 0.0 : z; }

/* Values of blocks to the places of their first points (in y; prefix sums there are used up). Blocks of one element are left
 * out: their value is that of the element. *worst: the level that settled the hardest rounding. */
IH_DEV void ih_warp_means(const ih_chunk *c, const ih_warp_hull_part *h, ih_lane_part p, ih_level *worst, int32_t kind)
{
    const uint32_t word = p.count > 0 ? c->mask[p.own] : 0;
    const int32_t  first = 32 * p.own;
    const int32_t  weighted = kind & IH_KIND_WEIGHTED;
    double         z_last = h->z_out;

    if (word) { /* the block that leaves the lane, from sums of other lanes: before those are used up */
        const int32_t a = first + ih_bit_high(word);
        if (a < h->last) {
            const int32_t b = ih_mask_after(c->mask, a, h->last), ka = ih_chunk_at(c, a), kb = ih_chunk_at(c, b);
            if (b - a > 1)
                z_last = ih_clipped(ih_chunk_mean(c, a, b, c->y[ka], c->y[kb], weighted ? c->x[ka] : 0, weighted ? c->x[kb] : 0, h->sign, worst, kind), h->z_min, h->z_max);
        }
    }
    __syncwarp();
    if (word) {
        uint32_t rest = word & (word - 1);
        int32_t  a = first + ih_bit_low(word), ka = ih_chunk_at(c, a);
        double   ya = c->y[ka], xa = weighted ? c->x[ka] : 0;
        for (; rest; rest &= rest - 1) {
            const int32_t b = first + ih_bit_low(rest), kb = ih_chunk_at(c, b);
            const double  yb = c->y[kb], xb = weighted ? c->x[kb] : 0;
            if (b - a > 1) c->y[ka] = ih_clipped(ih_chunk_mean(c, a, b, ya, yb, xa, xb, h->sign, worst, kind), h->z_min, h->z_max);
            a = b, ka = kb, ya = yb, xa = xb;
        }
        c->y[ka] = z_last;
    }
    __syncwarp();
}
#endif

/* The last vertex before each lane's first point, -1: none. */
IH_DEV int32_t ih_warp_vertex_before(const ih_chunk *c, ih_lane_part p, int32_t lane)
{
    const uint32_t word  = p.count > 0 ? c->mask[p.own] : 0;
    const int32_t  high  = word ? 32 * p.own + ih_bit_high(word) : -1;
    const uint32_t some  = __ballot_sync(IH_ALL_LANES, word != 0);
    const uint32_t below = some & ((1u << lane) - 1) & ~((1u << (lane - p.own)) - 1); /* lanes of the group before this one */
    const int32_t  from  = below ? ih_bit_high(below) : lane;
    const int32_t  found = __shfl_sync(IH_ALL_LANES, high, from);
    return below ? found : -1;
}

#if !defined(IH_PAPER)
/* The value of element k of the group's chunk; before = ih_warp_vertex_before of lane k / 32. */
IH_DEV double ih_warp_value(const ih_chunk *c, const ih_warp_hull_part *h, int32_t k, int32_t before, int32_t kind)
{
    const int32_t  l = k >> 5;
    const uint32_t word = c->mask[l], low = word & (~0u >> (31 - (k & 31)));
    const int32_t  v = low ? 32 * l + ih_bit_high(low) : before;

    if (v < 0) return h->z_in;
    if (v == k && k < h->last && ih_mask_after(c->mask, k, h->last) == k + 1) {
        return ih_clipped(ih_load(c->values.y, k, kind) + 0.0, h->z_min, h->z_max);
    }
    return c->y[ih_chunk_at(c, v)];
}
#endif

/* The bits of elements that begin a block, of a lane, into the batch's bits from element `flat` on. */
IH_DEV void ih_warp_put_bits(uint32_t *bits, int64_t flat, uint32_t word)
{
    const int32_t shift = (int32_t)(flat & 31);
    if (!word) return;
    atomicOr(&bits[flat >> 5], word << shift);
    if (shift && word >> (32 - shift)) atomicOr(&bits[(flat >> 5) + 1], word >> (32 - shift));
}

#endif
