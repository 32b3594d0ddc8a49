/* SPDX-License-Identifier: Apache-2.0
 * warp_sums.h: prefix sums of a chunk by a warp, in the working type: inside the lanes first, then the starts of lanes as pairs.
 * float32 products are rounded, and its sums are pairs; float64 sums are doubles. Part of warp_chunk.h. */
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
    IH_HD_MEMBER void store(float *at) const
    {
        const duo<float> r = pair();
        at[0]            = r.hi;
        at[PAPER_PLACES] = r.lo;
    }
    IH_HD_MEMBER float high() const { return s + rest; }
};

template <> struct lane_sum<double> {
    double s = 0;

    IH_HD_MEMBER void add(double v) { s += v; }
    IH_HD_MEMBER duo<double> pair() const { return single(s); }
    IH_HD_MEMBER void store(double *at) const { at[0] = s; }
    IH_HD_MEMBER double high() const { return s; }
};

/* Is every value finite? */
template <class T> struct watch;

template <> struct watch<float> {
    float zero = 0; /* times 0, an infinity or NaN is NaN */
    IH_HD_MEMBER void add(float v) { zero = fmaf(v, 0.0f, zero); }
    IH_HD_MEMBER int32_t good() const { return zero == 0; }
};

template <> struct watch<double> {
    int32_t most = 0; /* upper half of the largest */
    IH_HD_MEMBER void add(double v) { most = ih_most(most, ih_magnitude(v)); }
    IH_HD_MEMBER int32_t good() const { return most < 0x7ff00000; }
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
    const ih_pair r = { ((double)start.hi + (double)inside.hi) + ((double)start.lo + (double)inside.lo), 0 };
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
    ((double *)starts)[PAPER_LANES + lane] = (double)start.hi + (double)start.lo;
}

IH_DEV void put_start(void *starts, int32_t lane, duo<double> start) { ((duo<double> *)starts)[lane] = start; }

/* A lane on its way through its values, which its sums replace. */
template <class T, bool WEIGHTED> struct lane_at_work {
    T          *y, *x, before, most_y = 0, least_w = 1;
    lane_sum<T> sum_y, sum_x;
    watch<T>    finite;

    /* Element k: 1 if it is above the one before. */
    IH_HD_MEMBER uint32_t next(int32_t k)
    {
        const T        v = y[k];
        const uint32_t rises = before < v;
        before = v;
        finite.add(v);
        sum_y.store(y + k);
        if (WEIGHTED) {
            const T w = x[k];
            finite.add(w);
            least_w = w < least_w ? w : least_w;
            sum_x.store(x + k);
            sum_x.add(w);
            sum_y.add(w * v);
        } else {
            sum_y.add(v);
        }
        most_y = larger(most_y, magnitude(sum_y.high()));
        return rises;
    }
};

template <class T, bool WEIGHTED> IH_DEV int32_t warp_sums(ih_chunk *c, const ih_warp_space *space, ih_lane_part p, int32_t lane, ih_sums *end)
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
    if (p.count > 0) {
        work.sum_y.store(work.y + p.count);
        if (WEIGHTED) work.sum_x.store(work.x + p.count);
    }
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
    c->y         = (T *)space->y + 33 * first;
    c->x         = (T *)space->x + 33 * first;
    c->start_y   = (duo<T> *)space->start_y + first;
    c->start_x   = (duo<T> *)space->start_x + first;
    c->rise      = space->rise + first;
    c->mask      = space->mask + first;
    c->n         = p.n;
    c->from_slot = 0;
    c->most_y    = work.most_y;
    c->most_x    = work.sum_x.high();
    __syncwarp();
    return work.finite.good() & (work.least_w > 0);
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
