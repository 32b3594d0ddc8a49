/* SPDX-License-Identifier: Apache-2.0
 * warp_values.h: the means of a chunk's blocks (paper 3.4): quotients of differences, rounded as they come: of pairs in the
 * working type where the sums are at hand, of doubles where they stand in a slot. For the means in warp/warp_values.h. */
#ifndef IH_PAPER_WARP_VALUES_H
#define IH_PAPER_WARP_VALUES_H

/* In float corrected by the residue: nearly rounded once. */
IH_DEV float quotient(duo<float> y, duo<float> x)
{
    const float r = 1 / x.hi, q = y.hi * r;
    return q + (fmaf(-q, x.hi, y.hi) + (y.lo - q * x.lo)) * r;
}

IH_DEV double quotient(duo<double> y, duo<double> x) { return (y.hi + y.lo) / (x.hi + x.lo); }

/* The mean of elements a .. b - 1 of a group as the caller wants it. */
template <class T, bool WEIGHTED> IH_DEV T mean_between(const ih_chunk *c, const ih_warp_hull_part *h, int32_t a, int32_t b)
{
    const int32_t la = a >> 5, lb = (b - (b == c->n)) >> 5;
    const duo<T>  y = gap_between<T>(c->start_y, c->y, la, a + la, lb, b + lb);
    const duo<T>  x = WEIGHTED ? gap_between<T>(c->start_x, c->x, la, a + la, lb, b + lb) : single(small_number<T>(b - a));
    return ih_within<T>((T)h->sign * quotient(y, x) + 0, (T)h->z_min, (T)h->z_max);
}

template <class T, bool WEIGHTED> IH_DEV void warp_means(const ih_chunk *c, const ih_warp_hull_part *h, ih_lane_part p, ih_warp_blocks b)
{
    const int32_t first = 32 * p.own, top = b.all ? ih_bit_high(b.all) : 0;
    T            *places = (T *)c->y + 33 * p.own, z_last = 0;
    uint32_t      more = b.more;

    if (more >> top & 1u) z_last = mean_between<T, WEIGHTED>(c, h, first + top, ih_mask_after(c->mask, first + top, h->last)); /* leaves the lane */
    __syncwarp(); /* sums of other lanes are read */
    for (; more; more &= more - 1) {
        const int32_t k = ih_bit_low(more);
        places[k] = k == top ? z_last : mean_between<T, WEIGHTED>(c, h, first + k, first + ih_bit_low(b.all & ~((2u << k) - 1)));
    }
    __syncwarp();
}

/* Values of a short row's blocks, but single ones, to the places of their first points, where sums are used up. */
IH_DEV void ih_warp_means(const ih_chunk *c, const ih_warp_hull_part *h, ih_lane_part p, ih_warp_blocks b, ih_level *worst, int32_t kind)
{
    (void)worst; /* no mean is left open */
    if (kind & IH_KIND_F32) {
        if (kind & IH_KIND_WEIGHTED) warp_means<float, true>(c, h, p, b);
        else warp_means<float, false>(c, h, p, b);
    } else {
        if (kind & IH_KIND_WEIGHTED) warp_means<double, true>(c, h, p, b);
        else warp_means<double, false>(c, h, p, b);
    }
}

/* From coordinates that stood in a slot. */
IH_DEV int32_t ih_chunk_mean_quick(const ih_chunk *, int32_t a, int32_t b, double ya, double yb, double xa, double xb, double sign, double *z, int32_t kind)
{
    *z = sign * ((yb - ya) / (kind & IH_KIND_WEIGHTED ? xb - xa : ih_small_double(b - a))) + 0.0;
    return 1;
}

#endif
