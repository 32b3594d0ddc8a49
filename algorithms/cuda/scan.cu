/* SPDX-License-Identifier: Apache-2.0
 * scan.cu: the scan of chunk totals (paper 2.3 of the method): starts of chunks in their rows, as pairs, over all rows with a
 * tree at once: a segmented scan in two kernels, totals of tiles and then starts. */
#include "launch.h"
#include "stage.h"

enum { TILE = 256 };

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
}
#endif

/* Inclusive scan over a block, in `space` [TILE]. */
IH_DEV partial block_scan(partial own, partial *space)
{
    const int32_t t = (int32_t)threadIdx.x;
    space[t] = own;
    __syncthreads();
    for (int32_t by = 1; by < TILE; by *= 2) {
        partial before = nothing();
        if (t >= by) before = space[t - by];
        __syncthreads();
        if (t >= by) space[t] = own = joined(before, own);
        __syncthreads();
    }
    return own;
}

IH_KERNEL(TILE, 1) totals_kernel(IH_CONSTANT ih_cuda_fit f)
{
    IH_SHARED(shared);
    const int64_t chunks = ih_cuda_chunks(&f), chunk = (int64_t)blockIdx.x * TILE + threadIdx.x;
    partial       p;

    if ((int64_t)blockIdx.x * TILE >= chunks) return;
    p = block_scan(of_chunk(&f, chunk, chunks), (partial *)shared);
    if (threadIdx.x == TILE - 1) ((partial *)f.tile)[blockIdx.x] = p;
}

IH_KERNEL(TILE, 1) starts_kernel(IH_CONSTANT ih_cuda_fit f)
{
    IH_SHARED(shared);
    partial      *space  = (partial *)shared;
    const int64_t chunks = ih_cuda_chunks(&f), chunk = (int64_t)blockIdx.x * TILE + threadIdx.x;
    const int64_t tiles = blockIdx.x, each = (tiles + TILE - 1) / TILE, from = each * threadIdx.x, to = from + each < tiles ? from + each : tiles;
    partial       before = nothing(), own, sum;

    if ((int64_t)blockIdx.x * TILE >= chunks) return;
    for (int64_t t = from; t < to; ++t) before = joined(before, ((const partial *)f.tile)[t]); /* the tiles before this one */
    block_scan(before, space);
    before = space[TILE - 1];
    __syncthreads();
    own = of_chunk(&f, chunk, chunks);
    sum = block_scan(own, space);
    if (threadIdx.x > 0) sum = joined(before, space[threadIdx.x - 1]);
    else sum = before;
    if (chunk < chunks) put(&f.record[chunk], own.head ? nothing() : sum);
}

extern "C" cudaError_t ih_cuda_launch_scan(const ih_cuda_fit *f, cudaStream_t stream)
{
    const int64_t grid = (f->chunks + TILE - 1) / TILE;
    IH_LAUNCH(totals_kernel, grid, TILE, TILE * sizeof(partial), stream, *f);
    IH_LAUNCH(starts_kernel, grid, TILE, TILE * sizeof(partial), stream, *f);
    return cudaGetLastError();
}
