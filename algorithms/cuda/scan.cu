/* SPDX-License-Identifier: Apache-2.0
 * scan.cu: the scan of chunk totals (paper 2.3 of the method): starts of chunks in their rows, as pairs, over all rows with a
 * tree at once: a segmented scan in two kernels, totals of tiles and then starts; one tile needs the second only. */
#include "launch.h"
#include "stage.h"

enum { TILE = 256, WARPS = TILE / 32 };

/* What is scanned: sums since the last head of a row, if there is one. */
typedef struct partial {
    ih_pair y, x;
#if !defined(IH_PAPER)
    double  lost_y, lost_x;
#endif
    int32_t head;
} partial;

static_assert(sizeof(partial) <= IH_CUDA_TILE_BYTES, "partial sums of tiles lie in the workspace");

IH_DEV partial nothing()
{
    partial p = {};
    return p;
}

#if defined(IH_PAPER)
#  include "../paper/partial.h" /* the same without bounds on errors */
#else
/* a, then b. Without a branch, so that scans side by side wait for one another's additions only. */
IH_DEV partial joined(const partial &a, const partial &b)
{
    partial r;
    r.lost_y = a.lost_y + b.lost_y;
    r.lost_x = a.lost_x + b.lost_x;
    r.y      = ih_pair_add(a.y, b.y, &r.lost_y);
    r.x      = ih_pair_add(a.x, b.x, &r.lost_x);
    r.head   = a.head;
    return b.head ? b : r;
}

IH_DEV partial of_chunk(const ih_cuda_fit *f, int64_t chunk, int64_t chunks)
{
    partial p = nothing();
    if (chunk < chunks) {
        const ih_chunk_record *r = &f->record[chunk];
        p.y      = r->y;
        p.lost_y = r->lost_y;
        if (f->kind & IH_KIND_WEIGHTED) {
            p.x      = r->x;
            p.lost_x = r->lost_x;
        }
        p.head = ih_cuda_tree_row(f, ih_cuda_row_of_chunk(f, chunk)).chunk0 == chunk;
    }
    return p;
}

template <int WEIGHTED> IH_DEV void put(ih_chunk_record *r, const partial &p, double near_y, double near_x)
{
    r->y       = p.y;
    r->lost_y0 = p.lost_y * (1 + 0x1p-20); /* rounded itself, at most 2^31 times */
    r->lost_x0 = 0;
    r->rest_y  = (fabs(p.y.lo) + (near_y + r->lost_y0)) * (1 + 0x1p-40);
    if (WEIGHTED) {
        r->x       = p.x;
        r->lost_x0 = p.lost_x * (1 + 0x1p-20);
        r->rest_x  = (fabs(p.x.lo) + (near_x + r->lost_x0)) * (1 + 0x1p-40);
    }
}
#endif

/* What another lane has: of `by` lanes before (UP), or lane `by`. */
template <bool UP> IH_DEV double shfl(double v, int32_t by) { return UP ? __shfl_up_sync(IH_ALL_LANES, v, (unsigned)by) : __shfl_sync(IH_ALL_LANES, v, by); }

template <int WEIGHTED, bool UP> IH_DEV partial shfl(partial p, int32_t by)
{
    p.y.hi = shfl<UP>(p.y.hi, by);
    p.y.lo = shfl<UP>(p.y.lo, by);
    if (WEIGHTED) {
        p.x.hi = shfl<UP>(p.x.hi, by);
        p.x.lo = shfl<UP>(p.x.lo, by);
    }
#if !defined(IH_PAPER)
    p.lost_y = shfl<UP>(p.lost_y, by);
    if (WEIGHTED) p.lost_x = shfl<UP>(p.lost_x, by);
#endif
    p.head = UP ? __shfl_up_sync(IH_ALL_LANES, p.head, (unsigned)by) : __shfl_sync(IH_ALL_LANES, p.head, by);
    return p;
}

/* Inclusive scans over the first `lanes` lanes of a warp, MANY at once. The loop is not unrolled: instructions are waited for, too. */
template <int WEIGHTED, int MANY> IH_DEV void warp_scan(partial *own, int32_t lane, int32_t lanes)
{
#pragma unroll 1
    for (int32_t by = 1; by < lanes; by *= 2) {
#pragma unroll
        for (int32_t k = 0; k < MANY; ++k) {
            const partial before = shfl<WEIGHTED, true>(own[k], by), sum = joined(before, own[k]);
            if (lane >= by) own[k] = sum;
        }
    }
}

/* Exclusive scans over a block; space [MANY * WARPS]: totals[k] is the sum of all. */
template <int WEIGHTED, int MANY> IH_DEV void block_scan(partial *own, partial *space, partial *totals)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31), warp = (int32_t)(threadIdx.x >> 5);
    partial       of_warps[MANY];

    warp_scan<WEIGHTED, MANY>(own, lane, 32);
#pragma unroll
    for (int32_t k = 0; k < MANY; ++k) {
        if (lane == 31) space[k * WARPS + warp] = own[k];
        own[k] = shfl<WEIGHTED, true>(own[k], 1);
        if (lane == 0) own[k] = nothing();
    }
    __syncthreads();
#pragma unroll
    for (int32_t k = 0; k < MANY; ++k) of_warps[k] = lane < WARPS ? space[k * WARPS + lane] : nothing();
    warp_scan<WEIGHTED, MANY>(of_warps, lane, WARPS); /* by each warp for itself */
#pragma unroll
    for (int32_t k = 0; k < MANY; ++k) {
        const partial before = shfl<WEIGHTED, false>(of_warps[k], warp > 0 ? warp - 1 : 0), sum = joined(before, own[k]);
        if (warp > 0) own[k] = sum;
        totals[k] = shfl<WEIGHTED, false>(of_warps[k], WARPS - 1);
    }
}

template <int WEIGHTED> IH_KERNEL(TILE, 1) totals_kernel(IH_CONSTANT ih_cuda_fit f)
{
    ih_follow();
    IH_SHARED(shared);
    const int64_t chunks = ih_cuda_chunks(&f), chunk = (int64_t)blockIdx.x * TILE + threadIdx.x;
    partial       own, total;

    if ((int64_t)blockIdx.x * TILE >= chunks) return;
    own = of_chunk(&f, chunk, chunks);
    block_scan<WEIGHTED, 1>(&own, (partial *)shared, &total);
    if (threadIdx.x == 0) ((partial *)f.tile)[blockIdx.x] = total;
}

template <int WEIGHTED, int MANY> IH_KERNEL(TILE, 1) starts_kernel(IH_CONSTANT ih_cuda_fit f)
{
    ih_follow();
    IH_SHARED(shared);
    const int64_t chunks = ih_cuda_chunks(&f), chunk = (int64_t)blockIdx.x * TILE + threadIdx.x;
    const int64_t tiles = blockIdx.x, each = (tiles + TILE - 1) / TILE, from = each * threadIdx.x, to = from + each < tiles ? from + each : tiles;
    partial       sums[2] = { nothing(), nothing() }, totals[2]; /* of the chunk's tile; of the tiles before it */
    double        near_y = 0, near_x = 0;
    int32_t       head;

    if ((int64_t)blockIdx.x * TILE >= chunks) return;
    sums[0] = of_chunk(&f, chunk, chunks);
#if !defined(IH_PAPER)
    if (chunk < chunks) near_y = f.record[chunk].near_y, near_x = WEIGHTED ? f.record[chunk].near_x : 0;
#endif
    head    = sums[0].head;
    if (MANY > 1)
        for (int64_t t = from; t < to; ++t) sums[1] = joined(sums[1], ((const partial *)f.tile)[t]);
    block_scan<WEIGHTED, MANY>(sums, (partial *)shared, totals);
    if (MANY > 1) sums[0] = joined(totals[1], sums[0]);
    if (chunk < chunks) put<WEIGHTED>(&f.record[chunk], head ? nothing() : sums[0], near_y, near_x);
}

template <int WEIGHTED> static cudaError_t launch(const ih_cuda_fit *f, cudaStream_t stream)
{
    const int64_t grid = (f->chunks + TILE - 1) / TILE;
    if (grid > 1) IH_LAUNCH_NEXT(totals_kernel<WEIGHTED>, grid, TILE, WARPS * sizeof(partial), stream, f->overlap, *f);
    if (grid > 1) IH_LAUNCH_NEXT((starts_kernel<WEIGHTED, 2>), grid, TILE, 2 * WARPS * sizeof(partial), stream, f->overlap, *f);
    else IH_LAUNCH_NEXT((starts_kernel<WEIGHTED, 1>), grid, TILE, WARPS * sizeof(partial), stream, f->overlap, *f);
    return cudaGetLastError();
}

extern "C" cudaError_t ih_cuda_launch_scan(const ih_cuda_fit *f, cudaStream_t stream)
{
    return f->kind & IH_KIND_WEIGHTED ? launch<1>(f, stream) : launch<0>(f, stream);
}
