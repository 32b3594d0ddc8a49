/* SPDX-License-Identifier: Apache-2.0
 * warp_sums.h: prefix sums of a chunk by a warp, in the working type: inside the lanes first, then the starts of lanes as pairs.
 * float32 products are rounded, and its sums are pairs; float64 sums are doubles. For the sums in warp_chunk.h. */
#ifndef IH_PAPER_WARP_SUMS_H
#define IH_PAPER_WARP_SUMS_H

/* Shared memory of a warp: 8 bytes a place, 16 with weights, for either type. */
typedef struct ih_warp_space {
    void     *y, *x;             /* [33 * 32] */
    void     *start_y, *start_x; /* [32] duo<T>, and behind them, for float32, [32] doubles */
    uint32_t *mask, *rise;       /* [32]      */
} ih_warp_space;

IH_HD size_t paper_starts_bytes(int32_t kind) { return PAPER_LANES * (kind & IH_KIND_F32 ? sizeof(duo<float>) + sizeof(double) : sizeof(duo<double>)); }

IH_HD size_t ih_warp_space_bytes(int32_t kind)
{
    return (size_t)(kind & IH_KIND_WEIGHTED ? 2 : 1) * (IH_WARP_PLACES * sizeof(double) + paper_starts_bytes(kind)) + 2 * PAPER_LANES * sizeof(uint32_t);
}

IH_DEV ih_warp_space ih_warp_space_at(unsigned char *at, int32_t kind)
{
    ih_warp_space s;
    s.y = at;
    at += IH_WARP_PLACES * sizeof(double);
    s.x = at;
    if (kind & IH_KIND_WEIGHTED) at += IH_WARP_PLACES * sizeof(double);
    s.start_y = at;
    at += paper_starts_bytes(kind);
    s.start_x = at;
    if (kind & IH_KIND_WEIGHTED) at += paper_starts_bytes(kind);
    s.mask = (uint32_t *)at;
    s.rise = s.mask + 32;
    return s;
}

/* An element to a place: its value (times the sign) and weight. */
IH_DEV void ih_warp_put(const ih_warp_space *s, int32_t place, const ih_element *e, double sign, int32_t kind)
{
    if (kind & IH_KIND_F32) {
        ((float *)s->y)[place] = (float)sign * e->y32;
        if (kind & IH_KIND_WEIGHTED) ((float *)s->x)[place] = e->w32;
    } else {
        ((double *)s->y)[place] = sign * e->y;
        if (kind & IH_KIND_WEIGHTED) ((double *)s->x)[place] = e->w;
    }
}

/* Where values of blocks stand, from a place on. */
template <int KIND> IH_DEV working<KIND> *ih_warp_places(const ih_warp_space *s, int32_t place) { return (working<KIND> *)s->y + place; }

/* Each lane keeps its own: only the warp's answer below is asked for. */
IH_DEV ih_range ih_range_of_warp(ih_range r, int32_t kind)
{
    (void)kind;
    return r;
}

IH_DEV int32_t ih_range_apart(const ih_range *r, uint32_t binades, int32_t kind)
{
    (void)r, (void)binades, (void)kind;
    return 0;
}

/* Is every value of the warp finite, and every weight positive? */
IH_DEV int32_t ih_range_good(const ih_range *r, ih_binades y, ih_binades w, int32_t kind)
{
    const uint32_t infinite = kind & IH_KIND_F32 ? 0x7f800000u : 0x7ff00000u;
    (void)y, (void)w;
    return __all_sync(IH_ALL_LANES, r->most_y < infinite && (!(kind & IH_KIND_WEIGHTED) || r->most_w < infinite));
}

template <class T> IH_DEV int32_t place_good(const ih_warp_space *s, int32_t place, int32_t weighted)
{
    const T y = ((const T *)s->y)[place], w = weighted ? ((const T *)s->x)[place] : 1;
    return (y - y == 0) & (w > 0) & (w - w == 0);
}

IH_DEV int32_t ih_place_in_range(const ih_warp_space *s, int32_t place, int32_t kind)
{
    return kind & IH_KIND_F32 ? place_good<float>(s, place, kind & IH_KIND_WEIGHTED) : place_good<double>(s, place, kind & IH_KIND_WEIGHTED);
}

/* A running sum inside a lane, and its place in shared memory, where a pair is renormalised. */
template <class T> struct lane_sum;

template <> struct lane_sum<float> {
    float s = 0, rest = 0; /* s is the plain sum, so that the next addition need not wait for the rest */

    IH_HD_MEMBER void add(float v)
    {
        const duo<float> r = exact_sum(s, v);
        s = r.hi;
        rest += r.lo;
    }
    IH_HD_MEMBER duo<float> pair() const { return renormal(s, rest); }
    IH_HD_MEMBER float store(float *at) const /* returns the high part */
    {
        const duo<float> r = pair();
        at[0]            = r.hi;
        at[PAPER_PLACES] = r.lo;
        return r.hi;
    }
};

template <> struct lane_sum<double> {
    double s = 0;

    IH_HD_MEMBER void add(double v) { s += v; }
    IH_HD_MEMBER duo<double> pair() const { return single(s); }
    IH_HD_MEMBER double store(double *at) const { return at[0] = s; }
};

/* Exclusive prefix sum over a group. */
template <class T> IH_DEV duo<T> starts_of(duo<T> own, ih_lane_part p)
{
    duo<T> sum = own, before;
    for (int32_t by = 1; by < p.lanes; by *= 2) {
        before.hi = __shfl_up_sync(IH_ALL_LANES, sum.hi, (unsigned)by, p.lanes);
        before.lo = __shfl_up_sync(IH_ALL_LANES, sum.lo, (unsigned)by, p.lanes);
        if (p.own >= by) sum = plus(before, sum);
    }
    before.hi = __shfl_up_sync(IH_ALL_LANES, sum.hi, 1u, p.lanes);
    before.lo = __shfl_up_sync(IH_ALL_LANES, sum.lo, 1u, p.lanes);
    return p.own == 0 ? single((T)0) : before;
}

/* start + sum inside the lane as the chunk's total. */
IH_DEV ih_pair total_of(duo<float> start, duo<float> inside)
{
    const ih_pair r = { (widened(start.hi) + widened(inside.hi)) + (widened(start.lo) + widened(inside.lo)), 0 };
    return r;
}

IH_DEV ih_pair total_of(duo<double> start, duo<double> inside)
{
    const duo<double> sum = plus(start, inside.hi);
    const ih_pair     r   = { sum.hi, sum.lo };
    return r;
}

IH_DEV void put_start(void *starts, int32_t lane, duo<float> start)
{
    ((duo<float> *)starts)[lane] = start;
    ((double *)starts)[PAPER_LANES + lane] = widened(start.hi) + widened(start.lo);
}

IH_DEV void put_start(void *starts, int32_t lane, duo<double> start) { ((duo<double> *)starts)[lane] = start; }

/* A lane on its way through its values, which its sums replace. */
template <class T, bool WEIGHTED> struct lane_at_work {
    T          *y, *x, before, most_y = 0, last_x = 0;
    lane_sum<T> sum_y, sum_x;

    /* The sums before element k to its place. */
    IH_HD_MEMBER void store(int32_t k)
    {
        most_y = larger(most_y, magnitude(sum_y.store(y + k)));
        if (WEIGHTED) last_x = sum_x.store(x + k);
    }

    /* Element k: 1 if it is above the one before. */
    IH_HD_MEMBER uint32_t next(int32_t k)
    {
        const T        v = y[k], w = WEIGHTED ? x[k] : 1;
        const uint32_t rises = before < v;
        before = v;
        store(k);
        if (WEIGHTED) {
            sum_x.add(w);
            sum_y.add(w * v);
        } else {
            sum_y.add(v);
        }
        return rises;
    }
};

template <class T, bool WEIGHTED> IH_DEV void warp_sums(ih_chunk *c, const ih_warp_space *space, ih_lane_part p, int32_t lane, ih_sums *end)
{
    const int32_t             first = lane - p.own;
    lane_at_work<T, WEIGHTED> work;
    uint32_t                  rise = 0;
    int32_t                   k = 0;

    work.y      = (T *)space->y + 33 * lane;
    work.x      = (T *)space->x + 33 * lane;
    work.before = p.own > 0 && p.count > 0 ? work.y[-2] : 0; /* the lane before is full */
    __syncwarp();
    for (; k + 8 <= p.count; k += 8) {
        uint32_t bits = 0;
#pragma unroll
        for (int32_t i = 0; i < 8; ++i) bits |= work.next(k + i) << i;
        rise |= bits << k;
    }
    for (; k < p.count; ++k) rise |= work.next(k) << k;
    if (p.own == 0) rise |= 1u;
    if (p.count > 0) work.store(p.count);
    {
        const duo<T> inside = work.sum_y.pair(), start = starts_of(inside, p);
        put_start(space->start_y, lane, start);
        end->y = total_of(start, inside);
    }
    if (WEIGHTED) {
        const duo<T> inside = work.sum_x.pair(), start = starts_of(inside, p);
        put_start(space->start_x, lane, start);
        end->x = total_of(start, inside);
    }
    space->rise[lane] = rise;
    c->y       = (T *)space->y + 33 * first;
    c->x       = (T *)space->x + 33 * first;
    c->start_y = (duo<T> *)space->start_y + first;
    c->start_x = (duo<T> *)space->start_x + first;
    c->rise    = space->rise + first;
    c->mask    = space->mask + first;
    c->n       = p.n;
    c->most_y  = work.most_y;
    c->most_x  = work.last_x; /* the largest: weights are positive */
    __syncwarp();
}

/* On input  the values of the group's chunk (times the sign) stand at their places: element k at k + k / 32.
 * On output sums inside the lanes stand there; c is ready for turns. *end: the sums at the end of the lane. c->values and
 * c->begin are the caller's. What the values have in common is of no use here. */
IH_DEV void ih_warp_sums(ih_chunk *c, const ih_warp_space *space, ih_lane_part p, int32_t lane, ih_binades range_y, ih_binades range_w, ih_sums *end, int32_t kind)
{
    (void)range_y, (void)range_w;
    if (kind & IH_KIND_F32) {
        if (kind & IH_KIND_WEIGHTED) warp_sums<float, true>(c, space, p, lane, end);
        else warp_sums<float, false>(c, space, p, lane, end);
    } else {
        if (kind & IH_KIND_WEIGHTED) warp_sums<double, true>(c, space, p, lane, end);
        else warp_sums<double, false>(c, space, p, lane, end);
    }
}

/* start + sum as one double. */
IH_HD double coordinate(const void *starts, const void *sums, int32_t lane, int32_t place, float)
{
    const duo<float> t = sum_at<float>(sums, place);
    return ((const double *)starts)[PAPER_LANES + lane] + (widened(t.hi) + widened(t.lo));
}

IH_HD double coordinate(const void *starts, const void *sums, int32_t lane, int32_t place, double)
{
    const duo<double> s = ((const duo<double> *)starts)[lane];
    return (s.hi + ((const double *)sums)[place]) + s.lo;
}

/* Coordinates at a place of lane l, from the chunk's start; of a warp's first group. */
IH_HD_FORCED double ih_chunk_y(const ih_chunk *c, int32_t l, int32_t place, int32_t kind)
{
    return kind & IH_KIND_F32 ? coordinate(c->start_y, c->y, l, place, 0.0f) : coordinate(c->start_y, c->y, l, place, 0.0);
}

IH_HD_FORCED double ih_chunk_x(const ih_chunk *c, int32_t l, int32_t place, int32_t kind)
{
    return kind & IH_KIND_F32 ? coordinate(c->start_x, c->x, l, place, 0.0f) : coordinate(c->start_x, c->x, l, place, 0.0);
}

/* The chunk of a group so many lanes further on; its n and values are the caller's. */
template <class T> IH_DEV void shift(ih_chunk *c, int32_t lanes)
{
    c->y       = (T *)c->y + 33 * lanes;
    c->x       = (T *)c->x + 33 * lanes;
    c->start_y = (const duo<T> *)c->start_y + lanes;
    c->start_x = (const duo<T> *)c->start_x + lanes;
    c->rise += lanes;
    c->mask += lanes;
}

IH_DEV void ih_chunk_shift(ih_chunk *c, int32_t lanes, int32_t kind)
{
    if (kind & IH_KIND_F32) shift<float>(c, lanes);
    else shift<double>(c, lanes);
}

#endif
