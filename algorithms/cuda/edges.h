/* SPDX-License-Identifier: Apache-2.0
 * edges.h: the values over edges between the segments of a root list (paper 3.4), each computed once. A lane tries what is cheap;
 * what that does not settle the warp does from pairs, one edge after the other; and what is still open the lanes do, from all that is known. */
#ifndef IH_CUDA_EDGES_H
#define IH_CUDA_EDGES_H

#include "stage.h"

#include "../warp/warp_values.h"

#if defined(IH_PAPER)
#  include "../paper/edge.h" /* the same from differences of the parts: nothing is left for a warp */
#else
/* The value over the edge from one segment to the next, as the caller wants it. 0: not settled. */
IH_DEV int32_t edge_value(const ih_cuda_fit *f, const ih_store *s, const ih_segment *from, const ih_segment *to, double *z)
{
    const ih_vertex a = ih_store_vertex(s, from, from->last), b = ih_store_vertex(s, to, to->first);
    const int32_t   kind = s->values.kind;

    if (b.index - a.index == 1) {
        *z = ih_clipped(ih_load(s->values.y, a.index, kind) + 0.0, f->y_min, f->y_max);
        return 1;
    }
    if (kind & IH_KIND_F32) { /* a quotient of single doubles decides most of them */
        double       ey, ex = 0;
        const double dy = ih_store_gap_y(s, &a, &b, &ey), dx = ih_store_gap_x(s, &a, &b, &ex), r = 1 / dx, q = dy * r;
        const double d   = 0x1p-50 * fabs(q) + (ey + fabs(q) * ex) * r * (1 + 0x1p-10);
        const float  low = (float)(q - d), high = (float)(q + d);
        if (ex < 0x1p-20 * dx && low == high && low != 0) {
            *z = ih_clipped(f->sign * (double)low, f->y_min, f->y_max);
            if (f->counting) atomicAdd((unsigned long long *)&f->status->roundings_filter, 1ull);
            return 1;
        }
    }
    return 0;
}

IH_DEV ih_pair negative(ih_pair a)
{
    a.hi = -a.hi;
    a.lo = -a.lo;
    return a;
}

/* The same value from pairs, by a warp: the parts of both coordinates, and what lies between them and the stored prefix sums
 * before them, an element of either a lane. The answer is that of lane 0; NONE: not settled. */
template <int KIND> IH_DEV ih_rounded edge_by_warp(const ih_store *s, const ih_segment *from, const ih_segment *to, double sign, int32_t lane)
{
    const ih_vertex        a = ih_store_vertex(s, from, from->last), b = ih_store_vertex(s, to, to->first);
    const ih_chunk_record *ra = &s->records[from->chunk], *rb = &s->records[to->chunk];
    const int64_t          n = b.index - a.index;
    ih_sums                d = { { 0, 0 }, { 0, 0 }, 0, 0 }, minus = d;

    if (n <= 32) {
        if (lane < n) ih_sums_add(&d, &s->values, a.index + lane, KIND);
    } else {
        const ih_refined before = ih_store_refined_from(s, &a), after = ih_store_refined_from(s, &b);
        if (after.from + lane < b.index) ih_sums_add(&d, &s->values, after.from + lane, KIND);
        if (before.from + lane < a.index) ih_sums_add(&minus, &s->values, before.from + lane, KIND);
        ih_add_pair(&d.y, negative(minus.y), &d.lost_y);
        if (KIND & IH_KIND_WEIGHTED) ih_add_pair(&d.x, negative(minus.x), &d.lost_x);
        if (lane < 4) { /* the other parts, a lane each */
            const ih_chunk_record *r = lane & 1 ? ra : rb;
            const ih_sums         *stop = lane & 1 ? &before.sums : &after.sums;
            ih_pair                y = lane < 2 ? r->y : stop->y;
            ih_add_pair(&d.y, lane & 1 ? negative(y) : y, &d.lost_y);
            d.lost_y += lane < 2 ? r->lost_y0 : r->lost_y;
            if (KIND & IH_KIND_WEIGHTED) {
                y = lane < 2 ? r->x : stop->x;
                ih_add_pair(&d.x, lane & 1 ? negative(y) : y, &d.lost_x);
                d.lost_x += lane < 2 ? r->lost_x0 : r->lost_x;
            }
        }
    }
    return ih_warp_mean(d, n, sign, KIND);
}

/* The same with all that can be known, by a thread. */
IH_DEV_SLOW ih_rounded edge_exact(ih_store s, ih_segment from, ih_segment to, double sign)
{
    const ih_vertex a = ih_store_vertex(&s, &from, from.last), b = ih_store_vertex(&s, &to, to.first);
    const int32_t   kind = s.values.kind;
    const int64_t   n = b.index - a.index;
    ih_block        block;
    ih_rounded      r = { 0, IH_LEVEL_NONE };

    if (n > 32) {
        const ih_point fine_a = ih_store_refined(&s, &a), fine_b = ih_store_refined(&s, &b);
        block   = ih_block_between(&fine_a, &fine_b);
        r.level = ih_round_mean(&block, kind, &r.z);
    }
    if (r.level == IH_LEVEL_NONE && n <= 4 * IH_CUDA_CHUNK) { /* its own errors only */
        block   = ih_block_sum(&s.values, a.index, b.index, kind);
        r.level = ih_round_mean(&block, kind, &r.z);
    }
    r.z = block.ny == 0 && block.lost_y == 0 ? 0.0 : sign * r.z;
    return r;
}
#endif

/* Edges of a warp: each lane that over the edge behind segment number k of its row's root list, chunk = row.chunk0 + k; -1: none. */
template <int KIND> IH_DEV void ih_cuda_edges(const ih_cuda_fit *f, int64_t chunk, int32_t lane)
{
    int32_t open = 0;
    if (chunk >= 0) {
        const ih_cuda_row row = ih_cuda_tree_row(f, ih_cuda_row_of_chunk(f, chunk));
        if (chunk - row.chunk0 + 1 < f->length[row.chunk0] && f->state[row.row] == IH_ROW_FINE) {
            const ih_store s = ih_cuda_store_of<KIND>(f, &row);
            open = !edge_value(f, &s, &f->segment[chunk], &f->segment[chunk + 1], &f->edge[chunk]);
        }
    }
#if !defined(IH_PAPER)
    int32_t exact = 0;
    for (uint32_t todo = __ballot_sync(IH_ALL_LANES, open); todo; todo &= todo - 1) {
        const int32_t     owner = ih_bit_low(todo);
        const int64_t     at    = __shfl_sync(IH_ALL_LANES, (long long)chunk, owner);
        const ih_cuda_row row   = ih_cuda_tree_row(f, ih_cuda_row_of_chunk(f, at));
        const ih_store    s     = ih_cuda_store_of<KIND>(f, &row);
        const ih_rounded  mean  = edge_by_warp<KIND>(&s, &f->segment[at], &f->segment[at + 1], f->sign, lane);
        const ih_level    level = __shfl_sync(IH_ALL_LANES, mean.level, 0);
        if (level == IH_LEVEL_NONE) exact |= lane == owner;
        else if (lane == 0) {
            f->edge[at] = ih_clipped(mean.z, f->y_min, f->y_max);
            if (f->counting) atomicAdd((unsigned long long *)&f->status->roundings_filter, 1ull);
        }
    }
    if (exact) { /* each lane its own */
        const ih_cuda_row row = ih_cuda_tree_row(f, ih_cuda_row_of_chunk(f, chunk));
        const ih_rounded  r   = edge_exact(ih_cuda_store_of<KIND>(f, &row), f->segment[chunk], f->segment[chunk + 1], f->sign);
        f->edge[chunk] = ih_clipped(r.z, f->y_min, f->y_max);
        if (r.level == IH_LEVEL_NONE) ih_cuda_give_up(f, row.row, IH_ROW_UNCERTAIN);
        if (f->counting)
            atomicAdd((unsigned long long *)(r.level == IH_LEVEL_FILTER ? &f->status->roundings_filter : r.level == IH_LEVEL_PAIR ? &f->status->roundings_pair : &f->status->roundings_exact), 1ull);
    }
#else
    (void)open, (void)lane;
#endif
}

#endif
