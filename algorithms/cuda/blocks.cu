/* SPDX-License-Identifier: Apache-2.0
 * blocks.cu: block arrays from the bits of block starts: count bits, scan the counts, write starts and offsets.
 *
 *   tile     IH_BLOCKS_TILE words of bits; rank[tile] = bits set before it, rank[tiles] = all blocks
 *   in_tile  [words] bits set in the word's tile before it */
#include "simt.h"

#include "block_job.h"
#include "launch.h"

#include "../common/bits.h"

enum { IH_BLOCKS_TILE = 1024, IH_BLOCKS_THREADS = 256, IH_BLOCKS_SCAN = 1024, IH_BLOCKS_SPARSE = 96 };

typedef struct ih_blocks_ws {
    int64_t   words, tiles;
    int64_t  *rank;    /* [tiles + 1] */
    uint16_t *in_tile; /* [words]     */
    int64_t  *starts;  /* [total] where the caller wants weights or means but no starts */
    void     *sums;    /* of ih_cuda_launch_block_sums */
    size_t    bytes;
} ih_blocks_ws;

static size_t blocks_room(size_t *at, size_t bytes)
{
    const size_t here = *at;
    *at += (bytes + IH_WORKSPACE_ALIGN - 1) / IH_WORKSPACE_ALIGN * IH_WORKSPACE_ALIGN;
    return here;
}

static ih_blocks_ws blocks_ws(int64_t total, int64_t rows, const ih_outputs *out, void *scratch)
{
    unsigned char *const base = (unsigned char *)scratch;
    const int            sums = out->block_weights || out->block_means;
    ih_blocks_ws         ws;
    size_t               at = 0;

    ws.words   = (total + 31) / 32;
    ws.tiles   = (ws.words + IH_BLOCKS_TILE - 1) / IH_BLOCKS_TILE;
    ws.rank    = (int64_t *)(base + blocks_room(&at, ((size_t)ws.tiles + 1) * sizeof *ws.rank));
    ws.in_tile = (uint16_t *)(base + blocks_room(&at, (size_t)ws.words * sizeof *ws.in_tile));
    ws.starts  = NULL;
    ws.sums    = NULL;
    if (sums && !out->block_starts) ws.starts = (int64_t *)(base + blocks_room(&at, (size_t)total * sizeof *ws.starts));
    if (sums) ws.sums = base + blocks_room(&at, ih_cuda_block_sums_bytes(total, rows));
    ws.bytes = at;
    return ws;
}

/* blocks_count_kernel: bits of each tile, and before each word in its tile.
 *
 *   bits    [words]  read
 *   in_tile [words], rank [tiles]  written: rank holds the tile's own count until the scan
 *   Launch  a CTA a tile, 4 words a thread */
IH_KERNEL(IH_BLOCKS_THREADS, 4) blocks_count_kernel(const uint32_t *bits, int64_t words, uint16_t *in_tile, int64_t *rank)
{
    IH_SHARED(shared);
    int32_t *const sums  = (int32_t *)shared; /* [warps] */
    const int32_t  tid   = (int32_t)threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int64_t  first = (int64_t)blockIdx.x * IH_BLOCKS_TILE + 4 * tid;
    int32_t        count[4], own = 0, sum, before = 0;

    for (int32_t k = 0; k < 4; ++k) {
        count[k] = own;
        if (first + k < words) own += ih_bit_count(bits[first + k]);
    }
    sum = own;
    for (int32_t d = 1; d < 32; d *= 2) {
        const int32_t other = __shfl_up_sync(0xffffffffu, sum, (unsigned)d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    for (int32_t k = 0; k < warp; ++k) before += sums[k];
    before += sum - own;
    for (int32_t k = 0; k < 4; ++k)
        if (first + k < words) in_tile[first + k] = (uint16_t)(before + count[k]);
    if (tid == IH_BLOCKS_THREADS - 1) rank[blockIdx.x] = before + own;
}

/* blocks_scan_kernel: counts of tiles into ranks, in place; one CTA. */
IH_KERNEL(IH_BLOCKS_SCAN, 1) blocks_scan_kernel(int64_t *rank, int64_t tiles)
{
    IH_SHARED(shared);
    int64_t *const sums = (int64_t *)shared; /* [32] */
    const int32_t  tid = (int32_t)threadIdx.x, lane = tid & 31, warp = tid >> 5;
    int64_t        carry = 0;

    for (int64_t base = 0; base < tiles; base += IH_BLOCKS_SCAN) {
        const int64_t own = base + tid < tiles ? rank[base + tid] : 0;
        int64_t       sum = own, all;
        for (int32_t d = 1; d < 32; d *= 2) {
            const int64_t other = (int64_t)__shfl_up_sync(0xffffffffu, (long long)sum, (unsigned)d);
            if (lane >= d) sum += other;
        }
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        if (warp == 0) {
            int64_t t = sums[lane];
            for (int32_t d = 1; d < 32; d *= 2) {
                const int64_t other = (int64_t)__shfl_up_sync(0xffffffffu, (long long)t, (unsigned)d);
                if (lane >= d) t += other;
            }
            sums[lane] = t;
        }
        __syncthreads();
        all = sums[31];
        if (base + tid < tiles) rank[base + tid] = carry + (warp ? sums[warp - 1] : 0) + (sum - own);
        carry += all;
        __syncthreads(); /* sums are written again */
    }
    if (tid == 0) rank[tiles] = carry;
}

/* Starts of the blocks in 32 words, by one warp. Where they are dense, word after word, so that lanes write neighbours. */
IH_DEV void blocks_write_starts(const uint32_t *bits, int64_t words, const uint16_t *in_tile, const int64_t *rank, int64_t group, int64_t *starts)
{
    const int32_t  lane  = (int32_t)(threadIdx.x & 31);
    const int64_t  at    = group * 32 + lane;
    const uint32_t own   = at < words ? bits[at] : 0;
    const int64_t  tile  = rank[group * 32 / IH_BLOCKS_TILE];
    const int32_t  begin = at < words ? in_tile[at] : 0;
    const int32_t  count = ih_bit_count(own);
    int32_t        all = count;

    for (int32_t d = 16; d; d /= 2) all += __shfl_xor_sync(0xffffffffu, all, d);
    if (all <= IH_BLOCKS_SPARSE) {
        int64_t to = tile + begin;
        for (uint32_t rest = own; rest; rest &= rest - 1) starts[to++] = at * 32 + ih_bit_low(rest);
        return;
    }
    for (int32_t k = 0; k < 32; ++k) {
        const uint32_t word = __shfl_sync(0xffffffffu, own, k);
        const int64_t  to   = tile + __shfl_sync(0xffffffffu, begin, k) + ih_bit_count(word & ((1u << lane) - 1));
        if (word >> lane & 1) starts[to] = (group * 32 + k) * 32 + lane;
    }
}

/* blocks_write_kernel: the first `groups` warps write starts, the threads of the CTAs behind them offsets. */
IH_KERNEL(IH_BLOCKS_THREADS, 4) blocks_write_kernel(IH_CONSTANT ih_cuda_fit f, IH_CONSTANT ih_blocks_ws ws, int64_t start_ctas, int64_t *starts, int64_t *block_offsets)
{
    const int32_t warps = IH_BLOCKS_THREADS / 32;
    if ((int64_t)blockIdx.x < start_ctas) {
        const int64_t group = (int64_t)blockIdx.x * warps + (threadIdx.x >> 5);
        if (group * 32 < ws.words) blocks_write_starts(f.bits, ws.words, ws.in_tile, ws.rank, group, starts);
    } else {
        const int64_t r = ((int64_t)blockIdx.x - start_ctas) * IH_BLOCKS_THREADS + threadIdx.x;
        if (r <= f.rows) {
            const int64_t begin = r < f.rows ? ih_cuda_row_begin(&f, r) : f.total, word = begin >> 5;
            if (begin == f.total || f.status->stopped) block_offsets[r] = ws.rank[ws.tiles];
            else block_offsets[r] = ws.rank[word / IH_BLOCKS_TILE] + ws.in_tile[word] + ih_bit_count(f.bits[word] & ((1u << (begin & 31)) - 1));
        }
    }
}

extern "C" size_t ih_cuda_blocks_scratch(int64_t total, int64_t rows, const ih_outputs *out)
{
    return out->block_offsets ? blocks_ws(total, rows, out, NULL).bytes : 0;
}

extern "C" cudaError_t ih_cuda_launch_blocks(const ih_cuda_fit *fit, const ih_outputs *out, void *scratch, cudaStream_t stream)
{
    const ih_cuda_fit  f  = *fit;
    const ih_blocks_ws ws = blocks_ws(f.total, f.rows, out, scratch);
    const int64_t      row_ctas = f.rows / IH_BLOCKS_THREADS + 1;
    int64_t *const     offsets = out->block_offsets, *const starts = out->block_starts ? out->block_starts : ws.starts;
    const int64_t      start_ctas = starts ? (ws.words + 32 * (IH_BLOCKS_THREADS / 32) - 1) / (32 * (IH_BLOCKS_THREADS / 32)) : 0;
    cudaError_t        e;

    if (!offsets) return cudaSuccess;
    if (f.total == 0) return cudaMemsetAsync(offsets, 0, ((size_t)f.rows + 1) * sizeof *offsets, stream);
    IH_LAUNCH(blocks_count_kernel, ws.tiles, IH_BLOCKS_THREADS, 8 * sizeof(int32_t), stream, f.bits, ws.words, ws.in_tile, ws.rank);
    IH_LAUNCH(blocks_scan_kernel, 1, IH_BLOCKS_SCAN, 32 * sizeof(int64_t), stream, ws.rank, ws.tiles);
    IH_LAUNCH(blocks_write_kernel, start_ctas + row_ctas, IH_BLOCKS_THREADS, 0, stream, f, ws, start_ctas, starts, offsets);
    e = cudaGetLastError();
    if (e == cudaSuccess && ws.sums) e = ih_cuda_launch_block_sums(&f, offsets, starts, out->block_weights, out->block_means, ws.sums, stream);
    return e;
}
