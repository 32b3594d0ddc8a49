/* SPDX-License-Identifier: Apache-2.0
 * warp_values.h: the fit of a chunk from its hull by the lanes of a warp (paper 3.4): a mean is a quotient of differences of the
 * parts, rounded as it comes. Part of the warp_values.h that this stands for. */
#ifndef IH_PAPER_WARP_VALUES_H
#define IH_PAPER_WARP_VALUES_H

typedef int32_t ih_level;
enum { IH_LEVEL_FILTER = 0, IH_LEVEL_PAIR = 1, IH_LEVEL_NONE = 2 }; /* a mean is never left open here */

template <class T> IH_DEV T clipped(T z, T z_min, T z_max) { return z < z_min ? z_min + 0 : z > z_max ? z_max + 0 : z; }

/* Slopes in float are corrected by their residue: nearly rounded once. */
IH_DEV float quotient(duo<float> y, duo<float> x)
{
    const float r = 1 / x.hi, q = y.hi * r;
    return q + (fmaf(-q, x.hi, y.hi) + (y.lo - q * x.lo)) * r;
}

IH_DEV double quotient(duo<double> y, duo<double> x) { return (y.hi + y.lo) / (x.hi + x.lo); }

IH_DEV duo<float> in_two(double v, float)
{
    duo<float> r;
    r.hi = (float)v;
    r.lo = (float)(v - (double)r.hi);
    return r;
}

IH_DEV duo<double> in_two(double v, double) { return single(v); }

/* A place that holds a coordinate read from a slot, then the value of a block. */
typedef union slot_place {
    double d;
    float  f;
} slot_place;

/* Difference of two points a < b of the chunk. */
template <class T> IH_DEV duo<T> rise_between(const ih_chunk *c, const void *starts, const void *sums, int32_t a, int32_t b)
{
    const int32_t la = a >> 5, lb = (b - (b == c->n)) >> 5;
    if (c->from_slot) return in_two(((const slot_place *)sums)[b + lb].d - ((const slot_place *)sums)[a + la].d, (T)0);
    return gap_between<T>(starts, sums, la, a + la, lb, b + lb);
}

/* The mean of elements a .. b - 1 as the caller wants it. */
template <class T, bool WEIGHTED> IH_DEV T mean_between(const ih_chunk *c, const ih_warp_hull_part *h, int32_t a, int32_t b)
{
    const duo<T> y = rise_between<T>(c, c->start_y, c->y, a, b);
    const duo<T> x = WEIGHTED ? rise_between<T>(c, c->start_x, c->x, a, b) : single(small_number<T>(b - a));
    return clipped((T)h->sign * quotient(y, x) + 0, (T)h->z_min, (T)h->z_max);
}

/* Where the value of the block that begins at a point stands: in place of its sum, which is used up. */
IH_DEV float &value_at(const ih_chunk *c, int32_t k, float)
{
    const int32_t place = ih_chunk_at(c, k);
    return c->from_slot ? ((slot_place *)c->y)[place].f : ((float *)c->y)[place];
}

IH_DEV double &value_at(const ih_chunk *c, int32_t k, double) { return ((slot_place *)c->y)[ih_chunk_at(c, k)].d; }

template <class T, bool WEIGHTED> IH_DEV void warp_means(const ih_chunk *c, const ih_warp_hull_part *h, ih_lane_part p)
{
    const uint32_t word  = p.count > 0 ? c->mask[p.own] : 0;
    const int32_t  first = 32 * p.own;
    T              z_last = (T)h->z_out;

    if (word) { /* the block that leaves the lane, from sums of other lanes: before those are used up */
        const int32_t a = first + ih_bit_high(word);
        if (a < h->last) {
            const int32_t b = ih_mask_after(c->mask, a, h->last);
            if (b - a > 1) z_last = mean_between<T, WEIGHTED>(c, h, a, b);
        }
    }
    __syncwarp();
    if (word) {
        uint32_t rest = word & (word - 1);
        int32_t  a    = first + ih_bit_low(word);
        for (; rest; rest &= rest - 1) {
            const int32_t b = first + ih_bit_low(rest);
            if (b - a > 1) value_at(c, a, (T)0) = mean_between<T, WEIGHTED>(c, h, a, b);
            a = b;
        }
        value_at(c, a, (T)0) = z_last;
    }
    __syncwarp();
}

/* Values of blocks to the places of their first points, but for blocks of one element: their value is that of the element. */
IH_DEV void ih_warp_means(const ih_chunk *c, const ih_warp_hull_part *h, ih_lane_part p, ih_level *worst, int32_t kind)
{
    (void)worst;
    if (kind & IH_KIND_F32) {
        if (kind & IH_KIND_WEIGHTED) warp_means<float, true>(c, h, p);
        else warp_means<float, false>(c, h, p);
    } else {
        if (kind & IH_KIND_WEIGHTED) warp_means<double, true>(c, h, p);
        else warp_means<double, false>(c, h, p);
    }
}

/* The value of element k of the group's chunk; before = ih_warp_vertex_before of lane k / 32. */
template <int KIND> IH_DEV working<KIND> warp_value(const ih_chunk *c, const ih_warp_hull_part *h, int32_t k, int32_t before)
{
    typedef working<KIND> T;
    const int32_t  l = k >> 5;
    const uint32_t word = c->mask[l], low = word & (~0u >> (31 - (k & 31)));
    const int32_t  v = low ? 32 * l + ih_bit_high(low) : before;

    if (v < 0) return (T)h->z_in;
    if (v == k && k < h->last && ih_mask_after(c->mask, k, h->last) == k + 1) return clipped(((const T *)c->values.y)[k] + 0, (T)h->z_min, (T)h->z_max);
    return value_at(c, v, (T)0);
}

/* With a constant kind: the value is of its type. */
#define ih_warp_value(c, h, k, before, kind) warp_value<kind>(c, h, k, before)

#endif
