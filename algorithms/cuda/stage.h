/* SPDX-License-Identifier: Apache-2.0
 * stage.h: what the kernels of the stages share: the store of a row, loading values, counting. */
#ifndef IH_CUDA_STAGE_H
#define IH_CUDA_STAGE_H

#include "simt.h"

#include "fit.h"

#include "../row/merge.h"
#include "../warp/warp_hull.h"

enum { IH_CUDA_APART = 54 }; /* binades between values of a warp from which on its groups may have to be fitted in turns */
enum { IH_CUDA_STOPS = IH_CUDA_CHUNK / IH_CUDA_STOP };

IH_DEV const void *ih_cuda_at(const void *values, int64_t i, int32_t kind)
{
    return kind & IH_KIND_F32 ? (const void *)((const float *)values + i) : (const void *)((const double *)values + i);
}

/* Values of the row (or chunk) whose first element is element `flat` of the batch. */
IH_DEV ih_values ih_cuda_values(const ih_cuda_fit *f, int64_t flat, int32_t kind)
{
    ih_values v;
    v.y    = ih_cuda_at(f->y, flat, kind);
    v.w    = kind & IH_KIND_WEIGHTED ? ih_cuda_at(f->w, flat, kind) : NULL;
    v.sign = f->sign;
    v.kind = kind;
    return v;
}

IH_DEV ih_store ih_cuda_store(const ih_cuda_fit *f, const ih_cuda_row *row)
{
    const int64_t entry = row->chunk0 * (IH_CUDA_CHUNK + 1);
    ih_store      s;
    s.values  = ih_cuda_values(f, row->begin, f->kind);
    s.n       = row->n;
    s.chunks  = row->chunks;
    s.size    = IH_CUDA_CHUNK;
    s.at      = f->slot_at + entry;
    s.y       = f->slot_y + entry;
    s.x       = f->kind & IH_KIND_WEIGHTED ? f->slot_x + entry : NULL;
#if !defined(IH_PAPER)
    s.stops   = f->stop + row->chunk0 * (f->kind & IH_KIND_WEIGHTED ? 2 * IH_CUDA_STOPS : IH_CUDA_STOPS);
#endif
    s.records = f->record + row->chunk0;
    return s;
}

/* The same with a constant kind. */
template <int KIND> IH_DEV ih_store ih_cuda_store_of(const ih_cuda_fit *f, const ih_cuda_row *row)
{
    ih_store s = ih_cuda_store(f, row);
    s.values.kind = KIND;
    return s;
}

/* Number of the row (of those with a tree) that holds a chunk; chunks there are in all. */
IH_DEV int64_t ih_cuda_row_of_chunk(const ih_cuda_fit *f, int64_t chunk) { return f->offsets ? f->chunk_row[chunk] : chunk / f->row_chunks; }
IH_DEV int64_t ih_cuda_chunks(const ih_cuda_fit *f) { return f->offsets ? (int64_t)f->status->tree_chunks : f->chunks; }
IH_DEV int64_t ih_cuda_tree_rows(const ih_cuda_fit *f) { return f->offsets ? (int64_t)f->status->tree_rows : f->tree_rows; }

IH_DEV void ih_cuda_store_z(const ih_cuda_fit *f, int64_t flat, double z, int32_t kind)
{
    if (kind & IH_KIND_F32) ((float *)f->z)[flat] = (float)z;
    else ((double *)f->z)[flat] = z;
}

/* The fault of an element, if it has one. */
IH_DEV ih_fault ih_cuda_fault_of(double v, int32_t weight)
{
    if (v != v) return IH_FAULT_NAN;
    if (weight && v == 0) return IH_FAULT_ZERO;
    if (weight && v < 0) return IH_FAULT_NEGATIVE;
    return fabs(v) > 0x1.fffffffffffffp1023 ? IH_FAULT_INFINITE : IH_FAULT_NONE;
}

/* Row and begin of the first fault. */
IH_DEV void ih_cuda_find_fault(const ih_cuda_fit *f)
{
    const uint64_t key  = ~(uint64_t)f->status->fault;
    const int64_t  flat = (int64_t)(key >> 6);
    int64_t        low = 0, high = f->rows;

    if (f->status->fault == 0 || (key >> 3 & 7) == IH_ARGUMENT_OFFSETS) return;
    if (f->offsets) {
        while (high - low > 1) { /* offsets[low] <= flat < offsets[high] */
            const int64_t mid = low + (high - low) / 2;
            if (f->offsets[mid] <= flat) low = mid;
            else high = mid;
        }
    } else {
        low = flat / f->n;
    }
    f->status->fault_row   = low;
    f->status->fault_begin = ih_cuda_row_begin(f, low);
}

/* A lane saw values out of range among count elements from `flat` on: faults, or values for the exact level. */
IH_DEV_SLOW void ih_cuda_suspect(const ih_cuda_fit *f, int64_t row, int64_t flat, int32_t count)
{
    const int32_t kind = f->kind;
    for (int32_t k = 0; k < count; ++k) {
        const ih_fault y = ih_cuda_fault_of(ih_load(f->y, flat + k, kind), 0);
        const ih_fault w = kind & IH_KIND_WEIGHTED ? ih_cuda_fault_of(ih_load(f->w, flat + k, kind), 1) : IH_FAULT_NONE;
        if (y != IH_FAULT_NONE || w != IH_FAULT_NONE) {
            ih_cuda_fault(f, row, flat + k, y != IH_FAULT_NONE ? IH_ARGUMENT_Y : IH_ARGUMENT_W, y != IH_FAULT_NONE ? y : w);
            return;
        }
    }
    ih_cuda_give_up(f, row, IH_ROW_UNCERTAIN);
}

#if !defined(IH_PAPER)
/* Each lane its own values, whatever they are. */
IH_DEV_SLOW void ih_cuda_load_again(ih_values values, const ih_warp_space *space, ih_lane_part p, int32_t lane)
{
    for (int32_t k = 0; k < p.count; ++k) {
        space->y[33 * lane + k] = ih_value(&values, 32 * p.own + k, values.kind);
        if (values.kind & IH_KIND_WEIGHTED) space->x[33 * lane + k] = ih_load(values.w, 32 * p.own + k, values.kind);
    }
    __syncwarp();
}
#endif

/* How rows lie in a warp: one on all lanes; several of one length, side by side, on a lane each or on groups of lanes; ragged, by lists. */
enum { IH_WARP_WIDE, IH_WARP_LANES, IH_WARP_PACKED, IH_WARP_RAGGED };

/* The values of the groups' chunks to their places. Returns what the values of the warp have in common.
 * equal: of rows side by side: elements of all of them together; their first value is the first lane's.
 * A lane has several loads under way before it looks at the first value: a warp waits for memory two or four times in all. */
template <int KIND, int SHAPE> IH_DEV ih_range ih_cuda_load(const ih_chunk *c, const ih_warp_space *space, ih_lane_part p, int32_t lane, int32_t equal)
{
    enum { WIDE = KIND == IH_KIND_WEIGHTED ? 8 : 16, NARROW = 8 }; /* at once */
    const int32_t kind = KIND, first = 33 * (lane - p.own);
    const double  sign = c->values.sign;
    ih_range      range = ih_range_none();
    if (SHAPE == IH_WARP_WIDE) {
        for (int32_t i = 0; 32 * i < p.n; i += WIDE) {
            ih_element held[WIDE];
#pragma unroll
            for (int32_t k = 0; k < WIDE; ++k) { /* behind the end: the last one again, at places that are not read */
                const int32_t e = 32 * (i + k) + lane;
                held[k] = ih_element_of(&c->values, e < p.n ? e : p.n - 1, kind);
            }
#pragma unroll
            for (int32_t k = 0; k < WIDE; ++k) {
                ih_warp_put(space, 33 * (i + k) + lane, &held[k], sign, kind);
                ih_range_add_element(&range, &held[k], kind);
            }
        }
    } else if (SHAPE != IH_WARP_RAGGED) {
        const int32_t n = __shfl_sync(IH_ALL_LANES, p.n, 0), groups = 32 / n, rest = 32 % n; /* 32 elements on: so many rows and elements */
        ih_values     values = c->values;
        int32_t       at = lane / n, own = lane % n;
        values.y = (const void *)__shfl_sync(IH_ALL_LANES, (unsigned long long)values.y, 0);
        values.w = (const void *)__shfl_sync(IH_ALL_LANES, (unsigned long long)values.w, 0);
        for (int32_t i = 0; 32 * i < equal; i += NARROW) {
            ih_element held[NARROW];
#pragma unroll
            for (int32_t k = 0; k < NARROW; ++k) {
                const int32_t e = 32 * (i + k) + lane;
                held[k] = ih_element_of(&values, e < equal ? e : equal - 1, kind);
            }
            __syncwarp(); /* loads above it are under way before one is waited for: with weights ptxas split the batch */
#pragma unroll
            for (int32_t k = 0; k < NARROW; ++k) {
                if (32 * (i + k) + lane < equal) ih_warp_put(space, 33 * at * p.lanes + own + (own >> 5), &held[k], sign, kind);
                ih_range_add_element(&range, &held[k], kind);
                own += rest;
                at += groups;
                if (own >= n) own -= n, ++at;
            }
        }
    } else {
        for (int32_t i = 0; i < 32; i += NARROW) {
            ih_element held[NARROW] = {};
#pragma unroll
            for (int32_t k = 0; k < NARROW; ++k) {
                const int32_t e = (i + k) * p.lanes + p.own;
                if (p.n > 0) held[k] = ih_element_of(&c->values, e < p.n ? e : p.n - 1, kind);
            }
#pragma unroll
            for (int32_t k = 0; k < NARROW; ++k) {
                const int32_t e = (i + k) * p.lanes + p.own;
                if (e < p.n) {
                    ih_warp_put(space, first + e + (e >> 5), &held[k], sign, kind);
                    ih_range_add_element(&range, &held[k], kind);
                }
            }
        }
    }
    __syncwarp();
    range = ih_range_of_warp(range, kind);
#if !defined(IH_PAPER)
    if (kind & IH_KIND_F32 && ih_range_unusual(&range, kind)) ih_cuda_load_again(c->values, space, p, lane);
#endif
    return range;
}

/* Are the values of this lane in range? For warps that are not known to be good as a whole. */
IH_DEV_SLOW int32_t ih_cuda_lane_good(const ih_warp_space *space, ih_lane_part p, int32_t lane, int32_t kind)
{
    int32_t good = 1;
    for (int32_t k = 0; k < p.count; ++k) good &= ih_place_in_range(space, 33 * lane + k, kind);
    return good;
}

#if defined(IH_PAPER)
IH_DEV ih_range ih_cuda_range_of_some(const ih_warp_space *, ih_lane_part, int32_t, int32_t, int32_t) { return ih_range_none(); } /* of no use there */
IH_DEV uint32_t ih_cuda_groups_alike(const ih_warp_space *, ih_lane_part, int32_t, uint32_t out, int32_t) { return ~out; }
#else
/* Lanes of the group with the largest values and of those whose values are not much smaller; of groups in `out` none. Sums of a group much
 * smaller than another would get lost in the bounds on errors that the large one sets for the warp. */
IH_DEV_SLOW uint32_t ih_cuda_groups_alike(const ih_warp_space *space, ih_lane_part p, int32_t lane, uint32_t out, int32_t kind)
{
    enum { NEAR = 24 }; /* binades */
    const int32_t shift = kind & IH_KIND_F32 ? 23 : 20;
    ih_range      r  = ih_range_none();
    int32_t       in = !(out >> lane & 1u), y, w;

    for (int32_t k = 0; k < p.count; ++k) ih_range_add_value(&r, space->y[33 * lane + k], kind & IH_KIND_WEIGHTED ? space->x[33 * lane + k] : 1.0, kind);
    y = r.most_y ? (int32_t)(r.most_y >> shift) + 1 : 0; /* 0: only zeros, or nothing, which goes with anything */
    w = kind & IH_KIND_WEIGHTED && r.most_w ? (int32_t)(r.most_w >> shift) + 1 : 0;
    for (int32_t by = 1; by < p.lanes; by *= 2) {
        const int32_t other_y = __shfl_xor_sync(IH_ALL_LANES, y, by), other_w = __shfl_xor_sync(IH_ALL_LANES, w, by);
        y = other_y > y ? other_y : y;
        w = other_w > w ? other_w : w;
    }
    in &= (__reduce_max_sync(IH_ALL_LANES, in ? y : 0) - y <= NEAR) | (y == 0);
    in &= (__reduce_max_sync(IH_ALL_LANES, in ? w : 0) - w <= NEAR) | (w == 0);
    return __ballot_sync(IH_ALL_LANES, in);
}

/* What the values of a warp have in common but for groups left out, which get zeros in their places, and a weight of the others. */
IH_DEV_SLOW ih_range ih_cuda_range_of_some(const ih_warp_space *space, ih_lane_part p, int32_t lane, int32_t out, int32_t kind)
{
    const int32_t weighted = kind & IH_KIND_WEIGHTED;
    double       *y = space->y + 33 * lane, *x = space->x + 33 * lane;
    ih_range      range = ih_range_none();

    for (int32_t k = 0; !out && k < p.count; ++k) ih_range_add_value(&range, y[k], weighted ? x[k] : 1.0, kind);
    __syncwarp();
    range = ih_range_of_warp(range, kind);
    for (int32_t k = 0; out && k < p.count; ++k) {
        y[k] = 0;
        if (weighted) x[k] = kind & IH_KIND_F32 ? (double)__int_as_float((int)range.most_w) : __hiloint2double((int)range.most_w, 0);
    }
    __syncwarp();
    return range;
}
#endif

/* Add a number of each lane to a count. */
IH_DEV void ih_cuda_count(uint64_t *to, int64_t v, int32_t lane)
{
    for (int32_t by = 16; by > 0; by /= 2) v += __shfl_xor_sync(IH_ALL_LANES, (long long)v, by);
    if (lane == 0 && v) atomicAdd((unsigned long long *)to, (unsigned long long)v);
}

/* The decisions of a warp; those of the filter only if they are wanted. Converged. */
IH_DEV void ih_cuda_count_decisions(const ih_cuda_fit *f, const ih_judge *j, int32_t lane)
{
    if (f->counting) {
        ih_cuda_count(&f->status->decisions_filter, j->by_filter, lane);
        ih_cuda_count(&f->status->decisions_pair, j->by_pair, lane);
        ih_cuda_count(&f->status->decisions_exact, j->by_exact, lane);
    }
}

#endif
