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
/* a, then b. */
IH_DEV partial joined(const partial &a, const partial &b)
{
    partial r = b;
    if (!b.head) {
        r.lost_y = a.lost_y + b.lost_y;
        r.lost_x = a.lost_x + b.lost_x;
        r.y      = ih_pair_add(a.y, b.y, &r.lost_y);
        r.x      = ih_pair_add(a.x, b.x, &r.lost_x);
        r.head   = a.head;
    }
    return r;
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

IH_DEV void put(ih_chunk_record *r, const partial &p)
{
    r->y       = p.y;
    r->x       = p.x;
    r->lost_y0 = p.lost_y * (1 + 0x1p-20); /* rounded itself, at most 2^31 times */
    r->lost_x0 = p.lost_x * (1 + 0x1p-20);
    r->rest_y  = (fabs(p.y.lo) + (r->near_y + r->lost_y0)) * (1 + 0x1p-40);
    r->rest_x  = (fabs(p.x.lo) + (r->near_x + r->lost_x0)) * (1 + 0x1p-40);
}
#endif

IH_DEV ih_pair shfl_up(ih_pair v, int32_t by)
{
    v.hi = __shfl_up_sync(IH_ALL_LANES, v.hi, (unsigned)by);
    v.lo = __shfl_up_sync(IH_ALL_LANES, v.lo, (unsigned)by);
    return v;
}

template <int WEIGHTED> IH_DEV partial shfl_up(partial p, int32_t by)
{
    p.y = shfl_up(p.y, by);
    if (WEIGHTED) p.x = shfl_up(p.x, by);
#if !defined(IH_PAPER)
    p.lost_y = __shfl_up_sync(IH_ALL_LANES, p.lost_y, (unsigned)by);
    if (WEIGHTED) p.lost_x = __shfl_up_sync(IH_ALL_LANES, p.lost_x, (unsigned)by);
#endif
    p.head = __shfl_up_sync(IH_ALL_LANES, p.head, (unsigned)by);
    return p;
}

/* Inclusive scan over the first `lanes` lanes of a warp. */
template <int WEIGHTED> IH_DEV partial warp_scan(partial own, int32_t lane, int32_t lanes)
{
    for (int32_t by = 1; by < lanes; by *= 2) {
        const partial before = shfl_up<WEIGHTED>(own, by);
        if (lane >= by) own = joined(before, own);
    }
    return own;
}

/* Exclusive scan over a block; space [WARPS]: *total is the sum of all. */
template <int WEIGHTED> IH_DEV partial block_scan(partial own, partial *space, partial *total)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31), warp = (int32_t)(threadIdx.x >> 5);
    partial       before;
    own    = warp_scan<WEIGHTED>(own, lane, 32);
    before = shfl_up<WEIGHTED>(own, 1);
    if (lane == 0) before = nothing();
    __syncthreads(); /* space is read no more */
    if (lane == 31) space[warp] = own;
    __syncthreads();
    if (warp == 0) {
        own = warp_scan<WEIGHTED>(lane < WARPS ? space[lane] : nothing(), lane, WARPS);
        if (lane < WARPS) space[lane] = own;
    }
    __syncthreads();
    if (warp > 0) before = joined(space[warp - 1], before);
    *total = space[WARPS - 1];
    return before;
}

template <int WEIGHTED> IH_KERNEL(TILE, 1) totals_kernel(IH_CONSTANT ih_cuda_fit f)
{
    IH_SHARED(shared);
    const int64_t chunks = ih_cuda_chunks(&f), chunk = (int64_t)blockIdx.x * TILE + threadIdx.x;
    partial       total;

    if ((int64_t)blockIdx.x * TILE >= chunks) return;
    block_scan<WEIGHTED>(of_chunk(&f, chunk, chunks), (partial *)shared, &total);
    if (threadIdx.x == 0) ((partial *)f.tile)[blockIdx.x] = total;
}

template <int WEIGHTED> IH_KERNEL(TILE, 1) starts_kernel(IH_CONSTANT ih_cuda_fit f)
{
    IH_SHARED(shared);
    partial      *space  = (partial *)shared;
    const int64_t chunks = ih_cuda_chunks(&f), chunk = (int64_t)blockIdx.x * TILE + threadIdx.x;
    const int64_t tiles = blockIdx.x, each = (tiles + TILE - 1) / TILE, from = each * threadIdx.x, to = from + each < tiles ? from + each : tiles;
    partial       tile = nothing(), own, sum, total;

    if ((int64_t)blockIdx.x * TILE >= chunks) return;
    own = of_chunk(&f, chunk, chunks);
    sum = block_scan<WEIGHTED>(own, space, &total);
    if (tiles > 0) { /* those before this one */
        for (int64_t t = from; t < to; ++t) tile = joined(tile, ((const partial *)f.tile)[t]);
        block_scan<WEIGHTED>(tile, space, &total);
        sum = joined(total, sum);
    }
    if (chunk < chunks) put(&f.record[chunk], own.head ? nothing() : sum);
}

template <int WEIGHTED> static cudaError_t launch(const ih_cuda_fit *f, cudaStream_t stream)
{
    const int64_t grid = (f->chunks + TILE - 1) / TILE;
    if (grid > 1) IH_LAUNCH(totals_kernel<WEIGHTED>, grid, TILE, WARPS * sizeof(partial), stream, *f);
    IH_LAUNCH(starts_kernel<WEIGHTED>, grid, TILE, WARPS * sizeof(partial), stream, *f);
    return cudaGetLastError();
}

extern "C" cudaError_t ih_cuda_launch_scan(const ih_cuda_fit *f, cudaStream_t stream)
{
    return f->kind & IH_KIND_WEIGHTED ? launch<1>(f, stream) : launch<0>(f, stream);
}
