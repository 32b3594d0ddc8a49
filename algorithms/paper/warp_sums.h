/* SPDX-License-Identifier: Apache-2.0
 * warp_sums.h: prefix sums of a chunk by a warp, in the working type: inside the lanes first, then the starts of lanes as pairs.
 * float32 products are rounded, and its sums are pairs; float64 sums are doubles. Part of warp_chunk.h. */
#ifndef IH_PAPER_WARP_SUMS_H
#define IH_PAPER_WARP_SUMS_H

/* Shared memory of a warp: 8 bytes a place, 16 with weights, for either type. */
typedef struct ih_warp_space {
    void     *y, *x;             /* [33 * 32] */
    void     *start_y, *start_x; /* [32]      */
    uint32_t *mask, *rise;       /* [32]      */
} ih_warp_space;

IH_HD size_t paper_starts_bytes(int32_t kind) { return 32 * (kind & IH_KIND_F32 ? sizeof(duo<float>) : sizeof(duo<double>)); }

IH_HD size_t ih_warp_space_bytes(int32_t kind)
{
    return (size_t)(kind & IH_KIND_WEIGHTED ? 2 : 1) * (IH_WARP_PLACES * sizeof(double) + paper_starts_bytes(kind)) + 2 * 32 * sizeof(uint32_t);
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

/* Element e of the values to a place: its value (times the sign) and weight. */
template <class T> IH_DEV void put_value(const ih_warp_space *s, int32_t place, const ih_values *v, int64_t e, int32_t weighted)
{
    ((T *)s->y)[place] = (T)v->sign * ((const T *)v->y)[e];
    if (weighted) ((T *)s->x)[place] = ((const T *)v->w)[e];
}

IH_DEV void ih_warp_put(const ih_warp_space *s, int32_t place, const ih_values *v, int64_t e, int32_t kind)
{
    if (kind & IH_KIND_F32) put_value<float>(s, place, v, e, kind & IH_KIND_WEIGHTED);
    else put_value<double>(s, place, v, e, kind & IH_KIND_WEIGHTED);
}

/* A running sum inside a lane, and its place in shared memory. */
template <class T> struct lane_sum;

template <> struct lane_sum<float> {
    duo<float> s = { 0, 0 };
    IH_HD_MEMBER void add(float v) { s = plus(s, v); }
    IH_HD_MEMBER void store(float *at) const { at[0] = s.hi, at[PAPER_PLACES] = s.lo; }
    IH_HD_MEMBER float high() const { return s.hi; }
    IH_HD_MEMBER duo<float> pair() const { return s; }
};

template <> struct lane_sum<double> {
    double s = 0;
    IH_HD_MEMBER void add(double v) { s += v; }
    IH_HD_MEMBER void store(double *at) const { at[0] = s; }
    IH_HD_MEMBER double high() const { return s; }
    IH_HD_MEMBER duo<double> pair() const { return single(s); }
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
    const ih_pair r = { in_double(start, inside), 0 };
    return r;
}

IH_DEV ih_pair total_of(duo<double> start, duo<double> inside)
{
    const duo<double> sum = plus(start, inside.hi);
    const ih_pair     r   = { sum.hi, sum.lo };
    return r;
}

template <class T, bool WEIGHTED> IH_DEV int32_t warp_sums(ih_chunk *c, const ih_warp_space *space, ih_lane_part p, int32_t lane, ih_sums *end)
{
    const int32_t first = lane - p.own;
    T            *y = (T *)space->y + 33 * lane, *x = (T *)space->x + 33 * lane;
    T             before = p.own > 0 && p.count > 0 ? y[-2] : 0, most_y = 0; /* the lane before is full */
    lane_sum<T>   sum_y, sum_x;
    uint32_t      rise = 0;
    int32_t       good = 1;

    __syncwarp();
    for (int32_t k = 0; k < p.count; ++k) {
        const T v = y[k], w = WEIGHTED ? x[k] : 1;
        good &= magnitude(v) <= limits<T>::most;
        rise |= (uint32_t)(before < v) << k;
        before = v;
        sum_y.store(y + k);
        if (WEIGHTED) {
            good &= (w > 0) & (w <= limits<T>::most);
            sum_x.store(x + k);
            sum_x.add(w);
            sum_y.add(w * v);
        } else {
            sum_y.add(v);
        }
        most_y = larger(most_y, magnitude(sum_y.high()));
    }
    if (p.own == 0) rise |= 1u;
    if (p.count > 0) {
        sum_y.store(y + p.count);
        if (WEIGHTED) sum_x.store(x + p.count);
    }
    {
        const duo<T> start = starts_of(sum_y.pair(), p);
        ((duo<T> *)space->start_y)[lane] = start;
        end->y = total_of(start, sum_y.pair());
    }
    if (WEIGHTED) {
        const duo<T> start = starts_of(sum_x.pair(), p);
        ((duo<T> *)space->start_x)[lane] = start;
        end->x = total_of(start, sum_x.pair());
    }
    space->rise[lane] = rise;
    c->y         = (T *)space->y + 33 * first;
    c->x         = (T *)space->x + 33 * first;
    c->start_y   = (duo<T> *)space->start_y + first;
    c->start_x   = (duo<T> *)space->start_x + first;
    c->rise      = space->rise + first;
    c->mask      = space->mask + first;
    c->n         = p.n;
    c->from_slot = 0;
    c->most_y    = most_y;
    c->most_x    = sum_x.high();
    __syncwarp();
    return good;
}

/* On input  the values of the group's chunk (times the sign) stand at their places: element k at k + k / 32.
 * On output sums inside the lanes stand there; c is ready for turns. Returns 0 in lanes that saw a value that is not
 * allowed. *end: the sums at the end of the lane. c->values and c->begin are the caller's. */
IH_DEV int32_t ih_warp_sums(ih_chunk *c, const ih_warp_space *space, ih_lane_part p, int32_t lane, ih_sums *end, int32_t kind)
{
    if (kind & IH_KIND_F32) return kind & IH_KIND_WEIGHTED ? warp_sums<float, true>(c, space, p, lane, end) : warp_sums<float, false>(c, space, p, lane, end);
    return kind & IH_KIND_WEIGHTED ? warp_sums<double, true>(c, space, p, lane, end) : warp_sums<double, false>(c, space, p, lane, end);
}

#endif
