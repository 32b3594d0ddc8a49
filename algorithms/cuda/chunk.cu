/* SPDX-License-Identifier: Apache-2.0
 * chunk.cu: the chunk stage of rows with a tree (paper 3.1, 3.2): a warp a chunk; its hull into the chunk's slot. */
#include "launch.h"
#include "stage.h"

enum { RESIDENT = 6, FEW = 8 }; /* blocks of a multiprocessor, by shared memory; fewer, with more registers, were slower */

IH_HD int32_t chunk_warps(int32_t kind) { return kind & IH_KIND_WEIGHTED ? 2 : 4; } /* of a block, within 48 KB of shared memory */

/* What the scan finds of a chunk whose row was given up. */
IH_DEV void empty_chunk(const ih_cuda_fit *f, int64_t chunk, int32_t lane)
{
    const ih_chunk_record none = {};
    if (lane == 0) {
        f->record[chunk] = none;
        f->length[chunk] = 0;
    }
}

/* The vertex at point `place` of lane i. */
template <int KIND> IH_DEV void put_vertex(const ih_cuda_fit *f, int64_t entry, const ih_chunk *c, int32_t i, int32_t place)
{
    f->slot_at[entry] = (uint16_t)(32 * i + place);
    f->slot_y[entry]  = ih_chunk_y(c, i, 33 * i + place, KIND);
    if (KIND & IH_KIND_WEIGHTED) f->slot_x[entry] = ih_chunk_x(c, i, 33 * i + place, KIND);
}

template <int KIND> IH_KERNEL(KIND & IH_KIND_WEIGHTED ? 64 : 128, RESIDENT) chunk_kernel(IH_CONSTANT ih_cuda_fit f)
{
    ih_follow();
    IH_SHARED(shared);
    const int32_t lane = (int32_t)(threadIdx.x & 31), warp = (int32_t)(threadIdx.x >> 5);
    const int64_t chunk = (int64_t)blockIdx.x * (blockDim.x >> 5) + warp;
    if (chunk >= ih_cuda_chunks(&f)) return;

    const int64_t       k   = ih_cuda_row_of_chunk(&f, chunk);
    const ih_cuda_row   row = ih_cuda_tree_row(&f, k);
    const int64_t       own = chunk - row.chunk0, begin = own * IH_CUDA_CHUNK, flat = row.begin + begin, rest = row.n - begin;
    const int32_t       n   = rest < IH_CUDA_CHUNK ? (int32_t)rest : IH_CUDA_CHUNK;
    const ih_warp_space space = ih_warp_space_at(shared + warp * ih_warp_space_bytes(KIND), KIND);
    const ih_lane_part  p     = ih_lane_part_of(lane, 32, n);
    ih_judge            judge = { 0, 0, 0, 0 };
    ih_walk_count       walks = { 0, 0, 0, 0 };
    ih_chunk            c;
    ih_sums             end;
    int32_t             rises = 0;

    c.values = ih_cuda_values(&f, flat, KIND);
    c.begin  = begin;
    if (own > 0 && lane == (n - 1) >> 5) rises = ih_value(&c.values, -1, KIND) < ih_value(&c.values, 0, KIND);
    {
        const ih_range   range   = ih_cuda_load<KIND, IH_WARP_WIDE>(&c, &space, p, lane, 0);
        const ih_binades range_y = ih_binades_of(range.most_y, range.least_y, range.low_y, KIND);
        const ih_binades range_w = ih_binades_of(range.most_w, range.least_w, range.low_w, KIND);
        if (!ih_range_good(&range, range_y, range_w, KIND)) {
            const int32_t good = ih_cuda_lane_good(&space, p, lane, KIND);
            if (!__all_sync(IH_ALL_LANES, good)) {
                if (!good) ih_cuda_suspect(&f, row.row, flat + 32 * lane, p.count);
                empty_chunk(&f, chunk, lane);
                return;
            }
        }
        ih_warp_sums(&c, &space, p, lane, range_y, range_w, &end, KIND);
    }
    ih_warp_hull<KIND>(&c, &judge, p, lane, &walks);
    if (__any_sync(IH_ALL_LANES, judge.undecided)) {
        if (lane == 0) ih_cuda_give_up(&f, row.row, IH_ROW_UNCERTAIN);
        empty_chunk(&f, chunk, lane);
        return;
    }

    /* the hull: each lane its vertices where they are few; else 32 points at a time, so that a warp writes side by side */
    const int64_t  slot = chunk * (IH_CUDA_CHUNK + 1);
    const uint32_t own_word = p.count > 0 ? c.mask[lane] : 0;
    const int32_t  own_bits = ih_bit_count(own_word);
    int32_t        before = own_bits; /* vertices before the lane's */
    for (int32_t by = 1; by < 32; by *= 2) {
        const int32_t more = __shfl_up_sync(IH_ALL_LANES, before, (unsigned)by);
        if (lane >= by) before += more;
    }
    const int32_t count = __shfl_sync(IH_ALL_LANES, before, 31);
    before -= own_bits;
    if (__reduce_max_sync(IH_ALL_LANES, (unsigned)own_bits) <= FEW) {
        int64_t entry = slot + before;
        for (uint32_t word = own_word; word; word &= word - 1) put_vertex<KIND>(&f, entry++, &c, lane, ih_bit_low(word));
    } else {
#pragma unroll 4
        for (int32_t i = 0; i < 32; ++i) {
            const uint32_t word = __shfl_sync(IH_ALL_LANES, own_word, i);
            const int32_t  first = __shfl_sync(IH_ALL_LANES, before, i);
            if (word >> lane & 1u) put_vertex<KIND>(&f, slot + first + ih_bit_count(word & ((1u << lane) - 1)), &c, i, lane);
        }
    }
    f.hull[32 * chunk + lane] = own_word;
#if !defined(IH_PAPER)
    {
        ih_pair *stop = f.stop + chunk * (KIND & IH_KIND_WEIGHTED ? 2 * IH_CUDA_STOPS : IH_CUDA_STOPS);
        if (p.count > 0) {
            stop[lane] = c.start_y[lane];
            if (KIND & IH_KIND_WEIGHTED) stop[IH_CUDA_STOPS + lane] = c.start_x[lane];
        }
    }
#endif
    if (lane == (n - 1) >> 5) { /* the end of the chunk */
        const int32_t    k_end   = ih_chunk_at(&c, n);
        ih_chunk_record *record  = &f.record[chunk];
        ih_segment      *segment = &f.segment[chunk];
        f.slot_at[slot + count] = (uint16_t)n;
        f.slot_y[slot + count]  = ih_chunk_y(&c, lane, k_end, KIND);
        if (KIND & IH_KIND_WEIGHTED) f.slot_x[slot + count] = ih_chunk_x(&c, lane, k_end, KIND);
        record->y      = end.y;
        record->x      = end.x;
#if !defined(IH_PAPER)
        record->lost_y = c.lost_y;
        record->lost_x = c.lost_x;
        record->near_y = c.near_y;
        record->near_x = c.near_x;
#endif
        segment->chunk  = (int32_t)own;
        segment->first  = 0;
        segment->last   = count;
        segment->rises  = rises;
        segment->slot   = own * (IH_CUDA_CHUNK + 1); /* within the row's slots */
        f.length[chunk] = 1;
    }
    if (f.counting) {
        ih_cuda_count_decisions(&f, &judge, lane);
        ih_cuda_count(&f.status->lane_walks, walks.walks, lane);
        ih_cuda_count(&f.status->lane_walk_steps, walks.steps, lane);
        ih_cuda_count(&f.status->vertices_chunks, lane == 0 ? count + 1 : 0, lane);
        ih_cuda_count(&f.status->chunks, lane == 0, lane);
    }
}

template <int KIND> static cudaError_t launch(const ih_cuda_fit *f, cudaStream_t stream)
{
    const int32_t warps = chunk_warps(KIND);
    IH_LAUNCH(chunk_kernel<KIND>, (f->chunks + warps - 1) / warps, 32 * warps, (size_t)warps * ih_warp_space_bytes(KIND), stream, *f);
    return cudaGetLastError();
}

extern "C" cudaError_t ih_cuda_launch_chunk(const ih_cuda_fit *f, cudaStream_t stream)
{
    switch (f->kind) {
    case 0: return launch<0>(f, stream);
    case IH_KIND_F32: return launch<IH_KIND_F32>(f, stream);
    case IH_KIND_WEIGHTED: return launch<IH_KIND_WEIGHTED>(f, stream);
    default: return launch<IH_KIND_F32 | IH_KIND_WEIGHTED>(f, stream);
    }
}
