/* SPDX-License-Identifier: Apache-2.0
 * edges.h: the values over edges between the segments of a root list (paper 3.4), each computed once. A lane tries what is cheap;
 * what that does not settle a warp does, one edge after the other. */
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

/* Sums of elements a .. b - 1, by a warp. */
IH_DEV ih_sums sums_by_warp(const ih_values *v, int64_t a, int64_t b, int32_t lane, int32_t kind)
{
    ih_sums s = { { 0, 0 }, { 0, 0 }, 0, 0 };
    for (int64_t i = a + lane; i < b; i += 32) ih_sums_add(&s, v, i, kind);
    for (int32_t by = 16; by > 0; by /= 2) {
        ih_pair other;
        other.hi = __shfl_xor_sync(IH_ALL_LANES, s.y.hi, by);
        other.lo = __shfl_xor_sync(IH_ALL_LANES, s.y.lo, by);
        s.lost_y += __shfl_xor_sync(IH_ALL_LANES, s.lost_y, by);
        s.y = ih_pair_add(s.y, other, &s.lost_y);
        if (kind & IH_KIND_WEIGHTED) {
            other.hi = __shfl_xor_sync(IH_ALL_LANES, s.x.hi, by);
            other.lo = __shfl_xor_sync(IH_ALL_LANES, s.x.lo, by);
            s.lost_x += __shfl_xor_sync(IH_ALL_LANES, s.lost_x, by);
            s.x = ih_pair_add(s.x, other, &s.lost_x);
        }
    }
    return s;
}

IH_DEV ih_block block_by_warp(const ih_values *v, int64_t a, int64_t b, int32_t lane, int32_t kind)
{
    const ih_sums s = sums_by_warp(v, a, b, lane, kind);
    return ih_block_of(&s, b - a, kind);
}

/* ih_store_refined by a warp. */
IH_DEV ih_point refined_by_warp(const ih_store *s, const ih_vertex *vertex, int32_t lane)
{
    const ih_refined r = ih_store_refined_from(s, vertex);
    const ih_sums    rest = sums_by_warp(&s->values, r.from, vertex->index, lane, s->values.kind);
    ih_sums          sums = r.sums;
    sums.lost_y = rest.lost_y;
    sums.lost_x = rest.lost_x;
    sums.y      = ih_pair_add(sums.y, rest.y, &sums.lost_y);
    sums.x      = ih_pair_add(sums.x, rest.x, &sums.lost_x);
    return ih_store_refined_point(s, vertex, &sums);
}

/* The same with all that can be known, by a warp; the answer is alike in all lanes. */
IH_DEV_SLOW ih_level edge_by_warp(ih_store s, ih_segment from, ih_segment to, double sign, double *z, int32_t lane)
{
    const ih_vertex a = ih_store_vertex(&s, &from, from.last), b = ih_store_vertex(&s, &to, to.first);
    const int32_t   kind = s.values.kind;
    const int64_t   n = b.index - a.index;
    ih_block        block;
    ih_level        level;

    if (n <= 32) {
        block = block_by_warp(&s.values, a.index, b.index, lane, kind);
    } else {
        const ih_point fine_a = refined_by_warp(&s, &a, lane), fine_b = refined_by_warp(&s, &b, lane);
        block = ih_block_between(&fine_a, &fine_b);
    }
    level = ih_round_mean(&block, kind, z);
    if (__any_sync(IH_ALL_LANES, level == IH_LEVEL_NONE) && n > 32 && n <= 4 * IH_CUDA_CHUNK) {
        block = block_by_warp(&s.values, a.index, b.index, lane, kind); /* its own errors only */
        level = ih_round_mean(&block, kind, z);
    }
    *z = block.ny == 0 && block.lost_y == 0 ? 0.0 : sign * *z;
    return level;
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
    for (uint32_t todo = __ballot_sync(IH_ALL_LANES, open); todo; todo &= todo - 1) {
        const int64_t     at  = __shfl_sync(IH_ALL_LANES, (long long)chunk, ih_bit_low(todo));
        const ih_cuda_row row = ih_cuda_tree_row(f, ih_cuda_row_of_chunk(f, at));
        double            z;
        const ih_level    level = edge_by_warp(ih_cuda_store_of<KIND>(f, &row), f->segment[at], f->segment[at + 1], f->sign, &z, lane);
        if (lane == 0) {
            f->edge[at] = ih_clipped(z, f->y_min, f->y_max);
            if (level == IH_LEVEL_NONE) ih_cuda_give_up(f, row.row, IH_ROW_UNCERTAIN);
            if (f->counting)
                atomicAdd((unsigned long long *)(level == IH_LEVEL_FILTER ? &f->status->roundings_filter : level == IH_LEVEL_PAIR ? &f->status->roundings_pair : &f->status->roundings_exact), 1ull);
        }
    }
#else
    (void)open, (void)lane;
#endif
}

#endif
