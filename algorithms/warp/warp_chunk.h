/* SPDX-License-Identifier: Apache-2.0
 * warp_chunk.h: prefix sums of up to 32 lanes of 32 elements by the lanes of a warp (paper 3.1): one chunk, or several short
 * rows side by side, each on a group of lanes; all in shared memory. Functions here are called by whole warps.
 *
 * Sums are kept as cheaply as they are certain. Where all sums of a warp are multiples of one q and below 2^53 q, plain
 * doubles hold them exactly. Elsewhere the sums of lanes are pairs, and the points between have one double with an error
 * bound; pairs are formed again from the lane's start where that does not decide. */
#ifndef IH_WARP_CHUNK_H
#define IH_WARP_CHUNK_H

#include "../chunk/chunk_hull.h"

#define IH_ALL_LANES 0xffffffffu

enum { IH_WARP_PLACES = 33 * 32 }; /* of a coordinate in the shared memory of a warp */

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

/* ---- what the values of a warp have in common ---- */

/* Largest and least magnitude that is not 0, as the leading 32 bits of their type's encoding (least minus 1, so that 0 is the
 * largest); of weights with their sign, so that a negative one is larger than all; and which low halves of doubles are not 0. */
typedef struct ih_range { uint32_t most_y, least_y, most_w, least_w, low_y, low_w; } ih_range;

IH_DEV ih_range ih_range_none(void)
{
    const ih_range r = { 0, ~0u, 0, ~0u, 0, 0 };
    return r;
}

IH_DEV uint32_t ih_leading_bits(uint64_t bits, uint32_t *low)
{
    *low |= (uint32_t)bits;
    return (uint32_t)(bits >> 32) | ((uint32_t)bits != 0); /* 0 only for 0 */
}

/* y, v: leading bits of a value and a weight. */
IH_DEV void ih_range_add(ih_range *r, uint32_t y, uint32_t v, int32_t kind)
{
    const uint32_t b = y & 0x7fffffffu;
    r->most_y  = b > r->most_y ? b : r->most_y;
    r->least_y = b - 1 < r->least_y ? b - 1 : r->least_y;
    if (kind & IH_KIND_WEIGHTED) {
        r->most_w  = v > r->most_w ? v : r->most_w;
        r->least_w = v - 1 < r->least_w ? v - 1 : r->least_w; /* a weight of 0 shows in most_w below */
        if (v == 0) r->most_w = ~0u;
    }
}

/* An element as it stands in memory: y32 and w32, or y and w, as its kind says; w with weights only. */
typedef struct ih_element { double y, w; float y32, w32; } ih_element;

IH_DEV ih_element ih_element_of(const ih_values *values, int64_t i, int32_t kind)
{
    ih_element e = { 0, 0, 0, 0 };
    if (kind & IH_KIND_F32) {
        e.y32 = ((const float *)values->y)[i];
        if (kind & IH_KIND_WEIGHTED) e.w32 = ((const float *)values->w)[i];
    } else {
        e.y = ((const double *)values->y)[i];
        if (kind & IH_KIND_WEIGHTED) e.w = ((const double *)values->w)[i];
    }
    return e;
}

IH_DEV void ih_range_add_element(ih_range *r, const ih_element *e, int32_t kind)
{
    if (kind & IH_KIND_F32) ih_range_add(r, (uint32_t)__float_as_int(e->y32), (uint32_t)__float_as_int(e->w32), kind);
    else ih_range_add(r, ih_leading_bits((uint64_t)__double_as_longlong(e->y), &r->low_y), ih_leading_bits((uint64_t)__double_as_longlong(e->w), &r->low_w), kind);
}

/* A value and a weight as doubles. */
IH_DEV void ih_range_add_value(ih_range *r, double y, double w, int32_t kind)
{
    const ih_element e = { y, w, (float)y, (float)w };
    ih_range_add_element(r, &e, kind);
}

/* float32: are there subnormal numbers, infinities or NaN? */
IH_DEV int32_t ih_range_unusual(const ih_range *r, int32_t kind)
{
    return r->most_y >= 0x7f800000u || r->least_y < 0x007fffffu || (kind & IH_KIND_WEIGHTED && (r->most_w >= 0x7f800000u || r->least_w < 0x007fffffu));
}

/* Powers of two that bound the values: all are below 2^top and multiples of 2^unit. */
typedef struct ih_binades { int32_t top, unit; } ih_binades;

IH_DEV ih_binades ih_binades_of(uint32_t most, uint32_t least, uint32_t low, int32_t kind)
{
    ih_binades b = { -1100, 0 };
    if (least == ~0u) return b; /* all are 0 */
    if (kind & IH_KIND_F32) {
        const int32_t high = (int32_t)(most >> 23), small = (int32_t)((least + 1) >> 23);
        b.top  = high - 126;
        b.unit = (small ? small : 1) - 150;
    } else {
        const int32_t high = (int32_t)(most >> 20), small = (int32_t)((least + 1) >> 20);
        b.top  = high - 1022;
        b.unit = (small ? small : 1) - (low ? 1075 : 1043);
    }
    return b;
}

/* A number not below that of any lane, all of which are 0 or more, and above none by more than 2^-20 of it; NaN if one is. */
IH_DEV double ih_warp_bound(double v)
{
    return __hiloint2double((int)__reduce_max_sync(IH_ALL_LANES, (unsigned)__double2hiint(v)), -1);
}

/* ---- sums ---- */

#if defined(IH_PAPER)
#  include "../paper/warp_sums.h" /* sums of the working type, and the places of shared memory that these want */
#else
/* Shared memory of a warp. */
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

/* An element to a place, its value times the sign. */
IH_DEV void ih_warp_put(const ih_warp_space *s, int32_t place, const ih_element *e, double sign, int32_t kind)
{
    /* float32: as if all were normal; warps with others load them again */
    s->y[place] = sign * (kind & IH_KIND_F32 ? ih_widen_normal(e->y32) : e->y);
    if (kind & IH_KIND_WEIGHTED) s->x[place] = kind & IH_KIND_F32 ? ih_widen_normal(e->w32) : e->w;
}

/* Where values of blocks stand, from a place on. */
template <int KIND> IH_DEV double *ih_warp_places(const ih_warp_space *s, int32_t place) { return s->y + place; }

IH_DEV ih_range ih_range_of_warp(ih_range r, int32_t kind)
{
    r.most_y  = __reduce_max_sync(IH_ALL_LANES, r.most_y);
    r.least_y = __reduce_min_sync(IH_ALL_LANES, r.least_y);
    if (!(kind & IH_KIND_F32)) r.low_y = __reduce_or_sync(IH_ALL_LANES, r.low_y);
    if (kind & IH_KIND_WEIGHTED) {
        r.most_w  = __reduce_max_sync(IH_ALL_LANES, r.most_w);
        r.least_w = __reduce_min_sync(IH_ALL_LANES, r.least_w);
        if (!(kind & IH_KIND_F32)) r.low_w = __reduce_or_sync(IH_ALL_LANES, r.low_w);
    }
    return r;
}

/* Do values lie more binades apart than that, about, those of weights added? */
IH_DEV int32_t ih_range_apart(const ih_range *r, uint32_t binades, int32_t kind)
{
    const uint32_t y = r->most_y - r->least_y, w = kind & IH_KIND_WEIGHTED ? r->most_w - r->least_w : 0; /* of zeros: 0 - ~0u */
    return y + w > binades << (kind & IH_KIND_F32 ? 23 : 20);
}

/* Is every value of the warp known to be in the range that values.h asks for? */
IH_DEV int32_t ih_range_good(const ih_range *r, ih_binades y, ih_binades w, int32_t kind)
{
    if (kind & IH_KIND_F32) return r->most_y < 0x7f800000u && (!(kind & IH_KIND_WEIGHTED) || r->most_w < 0x7f800000u);
    if (r->most_y >= 0x7ff00000u || (kind & IH_KIND_WEIGHTED && r->most_w >= 0x7ff00000u)) return 0;
    /* the least magnitude is at least 2^(its exponent): unit + 52 or + 20 */
    if (kind & IH_KIND_WEIGHTED) {
        const int32_t least_w = w.unit + (r->low_w ? 52 : 20), least_y = y.unit + (r->low_y ? 52 : 20);
        if (w.top > 150 || least_w < -150) return 0;
        return r->least_y == ~0u || (y.top + w.top <= 300 && least_y + least_w >= -300);
    }
    return r->least_y == ~0u || (y.top <= 300 && y.unit + (r->low_y ? 52 : 20) >= -300);
}

/* May double arithmetic be trusted with the values at a place (values.h)? */
IH_HD_FORCED int32_t ih_place_in_range(const ih_warp_space *s, int32_t place, int32_t kind)
{
    const double y = s->y[place], w = kind & IH_KIND_WEIGHTED ? s->x[place] : 1.0, p = fabs(w * y);
    if (kind & IH_KIND_F32) return (fabs(y) <= IH_F32_MOST) & (!(kind & IH_KIND_WEIGHTED) || ((w > 0) & (w <= IH_F32_MOST)));
    return ((y == 0) | ((p >= 0x1p-300) & (p <= 0x1p300))) & (!(kind & IH_KIND_WEIGHTED) || ((w >= 0x1p-150) & (w <= 0x1p150)));
}

/* 2^k, -1022 <= k <= 1023. */
IH_DEV double ih_power_of_two(int32_t k) { return __hiloint2double((1023 + k) << 20, 0); }

IH_DEV ih_pair ih_shfl_up_pair(ih_pair v, int32_t by, int32_t width)
{
    ih_pair r;
    r.hi = __shfl_up_sync(IH_ALL_LANES, v.hi, (unsigned)by, width);
    r.lo = __shfl_up_sync(IH_ALL_LANES, v.lo, (unsigned)by, width);
    return r;
}

/* a + b, renormalised, in few operations: see ih_warp_sum for its error. */
IH_DEV ih_pair ih_pair_add_fast(ih_pair a, ih_pair b)
{
    const ih_pair s = ih_two_sum(a.hi, b.hi);
    return ih_two_sum(s.hi, s.lo + (a.lo + b.lo));
}

/* Exclusive prefix sums over a group of lanes. */
IH_DEV double ih_warp_prefix(double own, ih_lane_part p)
{
    double sum = own;
    for (int32_t by = 1; by < p.lanes; by *= 2) {
        const double before = __shfl_up_sync(IH_ALL_LANES, sum, (unsigned)by, p.lanes);
        if (p.own >= by) sum += before;
    }
    sum = __shfl_up_sync(IH_ALL_LANES, sum, 1, p.lanes);
    return p.own == 0 ? 0.0 : sum;
}

IH_DEV ih_pair ih_warp_prefix_pair(ih_pair own, ih_lane_part p)
{
    const ih_pair zero = { 0, 0 };
    ih_pair       sum  = own;
    for (int32_t by = 1; by < p.lanes; by *= 2) {
        const ih_pair before = ih_shfl_up_pair(sum, by, p.lanes);
        if (p.own >= by) sum = ih_pair_add_fast(before, sum);
    }
    sum = ih_shfl_up_pair(sum, 1, p.lanes);
    return p.own == 0 ? zero : sum;
}

/* The sum of a lane's terms as a pair. h begins at 1.5 2^(top + 6), so that 32 terms below 2^top keep it in one binade: every
 * difference h - h' is exact, and so is what an addition rounds off, which l collects. */
typedef struct ih_biased { double h, l, bias; } ih_biased;

IH_DEV ih_biased ih_biased_zero(int32_t top)
{
    ih_biased b;
    b.bias = b.h = 1.5 * ih_power_of_two(top + 6);
    b.l = 0;
    return b;
}

IH_DEV void ih_biased_add(ih_biased *b, double v)
{
    const double h = b->h + v;
    b->l += v + (b->h - h);
    b->h = h;
}

IH_DEV ih_pair ih_biased_sum(ih_biased b)
{
    return ih_two_sum(b.h - b.bias, b.l);
}

/* Sums of one coordinate over a warp, ready for turns. */
typedef struct ih_warp_sum {
    ih_pair start; /* of this lane, before its first element                                             */
    ih_pair end;   /* after its last element                                                             */
    double  lost;  /* bound on the error of start                                                        */
    double  near;  /* bound on the error of the points between, as one double; 0: they and their differences are exact */
} ih_warp_sum;

/* top, unit: terms are below 2^top and multiples of 2^unit. Up to 1024 of them are below 2^(top + 10). */
IH_DEV int32_t ih_sum_is_plain(ih_binades b) { return b.top + 10 - b.unit <= 53; }

/* Roundings on pairs. In a lane l is below 16 ulp(h) = 2^(top - 42); over lanes the low parts that ih_pair_add_fast adds are below
 * 3 u 2^(top + 11) < 2^(top - 40). All are multiples of 2^unit, so nothing is rounded if top - 40 - unit <= 53. Otherwise each of the
 * at most 64 + 3 * 5 additions rounds off at most 2^(top - 93): together, with what fma products lose, below 2^(top - 84). */
IH_DEV double ih_sum_lost(ih_binades b) { return b.top - 40 - b.unit <= 53 ? 0.0 : ih_power_of_two(b.top - 84); }

/* On input  the values of the group's chunk (times the sign) stand at their places in y and x: element k at k + k / 32; range is
 *           that of the warp, and good.
 * On output prefix sums stand there; c is ready for turns: y, x, starts, rise, mask, errors.
 * *end      the sums at the end of the lane. c->values and c->begin are the caller's. */
IH_DEV void ih_warp_sums(ih_chunk *c, const ih_warp_space *space, ih_lane_part p, int32_t lane, ih_binades range_y, ih_binades range_w, ih_sums *end,
                         int32_t kind)
{
    const int32_t    weighted = kind & IH_KIND_WEIGHTED, first = lane - p.own;
    double          *y = space->y + 33 * lane, *x = space->x + 33 * lane;
    const ih_binades zero = { -1100, 0 };
    ih_binades       terms;
    int32_t          plain, plain_x;
    uint32_t         rise = 0;
    ih_pair          start_y = { 0, 0 }, start_x = { 0, 0 }, total_y = { 0, 0 }, total_x = { 0, 0 };

    terms.top  = range_y.top + (weighted ? range_w.top : 0);
    terms.unit = range_y.unit + (weighted ? range_w.unit : 0);
    if (range_y.top <= -1100) terms = zero;
    plain   = terms.top <= -1100 || ih_sum_is_plain(terms);
    plain_x = !weighted || ih_sum_is_plain(range_w);

    { /* where values rise; the lane before is full */
        double before = p.own > 0 && p.count > 0 ? y[-2] : 0;
        if (plain) {
            double sum = 0;
#pragma unroll 8
            for (int32_t k = 0; k < p.count; ++k) {
                const double v = y[k];
                rise |= (uint32_t)(before < v) << k;
                before = v;
                sum += weighted ? x[k] * v : v;
            }
            total_y.hi = sum;
        } else {
            ih_biased sum = ih_biased_zero(terms.top);
#pragma unroll 4
            for (int32_t k = 0; k < p.count; ++k) {
                const double v = y[k];
                rise |= (uint32_t)(before < v) << k;
                before = v;
                if (!weighted) {
                    ih_biased_add(&sum, v);
                } else if (kind & IH_KIND_F32) { /* 24 + 24 bits: the product is exact */
                    ih_biased_add(&sum, x[k] * v);
                } else {
                    const ih_pair q = ih_two_prod(x[k], v);
                    ih_biased_add(&sum, q.hi);
                    sum.l += q.lo;
                }
            }
            total_y = ih_biased_sum(sum);
        }
        if (p.own == 0) rise |= 1u;
    }
    if (weighted) {
        if (plain_x) {
#pragma unroll 8
            for (int32_t k = 0; k < p.count; ++k) total_x.hi += x[k];
        } else {
            ih_biased sum = ih_biased_zero(range_w.top);
#pragma unroll 4
            for (int32_t k = 0; k < p.count; ++k) ih_biased_add(&sum, x[k]);
            total_x = ih_biased_sum(sum);
        }
    }
    __syncwarp(); /* y[-2] is read */
    if (plain) start_y.hi = ih_warp_prefix(total_y.hi, p);
    else start_y = ih_warp_prefix_pair(total_y, p);
    if (weighted) {
        if (plain_x) start_x.hi = ih_warp_prefix(total_x.hi, p);
        else start_x = ih_warp_prefix_pair(total_x, p);
    }
    space->start_y[lane] = start_y;
    if (weighted) space->start_x[lane] = start_x;
    space->rise[lane] = rise;

    { /* prefix sums, in place, one double each */
        double sum_y = start_y.hi, sum_x = start_x.hi;
#pragma unroll 4
        for (int32_t k = 0; k < p.count; ++k) {
            const double v = y[k];
            y[k] = sum_y;
            if (weighted) {
                const double w = x[k];
                x[k] = sum_x;
                sum_x += w;
                sum_y = fma(w, v, sum_y);
            } else {
                sum_y += v;
            }
        }
        if (p.count > 0) {
            y[p.count] = sum_y;
            if (weighted) x[p.count] = sum_x;
        }
    }
    end->y = plain ? start_y : ih_pair_add_fast(start_y, total_y);
    if (plain) end->y.hi += total_y.hi;
    end->x = plain_x ? start_x : ih_pair_add_fast(start_x, total_x);
    if (plain_x) end->x.hi += total_x.hi;

    c->y       = space->y + 33 * first;
    c->x       = space->x + 33 * first;
    c->start_y = space->start_y + first;
    c->start_x = space->start_x + first;
    c->rise    = space->rise + first;
    c->mask    = space->mask + first;
    c->n       = p.n;
    c->lost_y = c->near_y = c->lost_x = c->near_x = 0;
    if (!plain) { /* 32 additions to at most the largest start and 32 terms; and what start keeps in lo */
        c->lost_y = ih_sum_lost(terms);
        c->near_y = 0x1.2p-48 * (ih_warp_bound(fabs(start_y.hi)) + ih_power_of_two(terms.top + 5)) + c->lost_y;
    }
    if (!plain_x) {
        c->lost_x = ih_sum_lost(range_w);
        c->near_x = 0x1.2p-48 * (ih_warp_bound(start_x.hi) + ih_power_of_two(range_w.top + 5)) + c->lost_x;
    }
    __syncwarp();
}

/* Coordinates at a place of a lane, from the chunk's start. */
IH_DEV double ih_chunk_y(const ih_chunk *c, int32_t lane, int32_t place, int32_t kind)
{
    (void)lane, (void)kind;
    return c->y[place];
}

IH_DEV double ih_chunk_x(const ih_chunk *c, int32_t lane, int32_t place, int32_t kind)
{
    (void)lane, (void)kind;
    return c->x[place];
}

/* The chunk of a group so many lanes further on; its n and values are the caller's. */
IH_DEV void ih_chunk_shift(ih_chunk *c, int32_t lanes, int32_t kind)
{
    (void)kind;
    c->y += 33 * lanes;
    c->x += 33 * lanes;
    c->start_y += lanes;
    c->start_x += lanes;
    c->rise += lanes;
    c->mask += lanes;
}
#endif

#endif
