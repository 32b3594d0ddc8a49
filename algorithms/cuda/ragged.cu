/* SPDX-License-Identifier: Apache-2.0
 * ragged.cu: what the host cannot know of ragged rows, whose offsets are on the device: which rows have a tree and where their
 * chunks are, and the others by the number of lanes they take. Counts of tiles of rows, a scan of these, then the lists. */
#include "launch.h"
#include "stage.h"

enum { THREADS = 256, EACH = 4, TILE = THREADS * EACH, QUANTITIES = 8, CLASSES = 6, TREE_ROWS = 6, TREE_CHUNKS = 7 };

/* Quantity of a row: its class (0 .. 5), or TREE_ROWS; -1: an empty row. */
IH_DEV int32_t class_of(int64_t n)
{
    int32_t k = 0;
    if (n <= 0) return -1;
    if (n > IH_CUDA_CHUNK) return TREE_ROWS;
    while (32 << k < n) ++k;
    return k;
}

IH_DEV int64_t chunks_of(int64_t n) { return (n + IH_CUDA_CHUNK - 1) / IH_CUDA_CHUNK; }

/* What the thread's rows add to each quantity. */
IH_DEV void own_counts(const ih_cuda_fit *f, int64_t first, int32_t *count, int64_t *chunks)
{
    for (int32_t q = 0; q < QUANTITIES - 1; ++q) count[q] = 0;
    *chunks = 0;
    for (int64_t r = first; r < first + EACH && r < f->rows; ++r) {
        const int64_t n = f->offsets[r + 1] - f->offsets[r];
        const int32_t q = class_of(n);
        for (int32_t k = 0; k < QUANTITIES - 1; ++k) count[k] += k == q;
        if (q == TREE_ROWS) *chunks += chunks_of(n);
    }
}

IH_KERNEL(THREADS, 1) check_kernel(IH_CONSTANT ih_cuda_fit f)
{
    for (int64_t r = (int64_t)blockIdx.x * THREADS + threadIdx.x; r <= f.rows; r += (int64_t)gridDim.x * THREADS) {
        const int64_t at = f.offsets[r];
        if ((r == 0 && at != 0) || (r > 0 && at < f.offsets[r - 1]) || (r == f.rows && at != f.n)) {
            atomicMax((unsigned long long *)&f.status->fault, ~(unsigned long long)((r << 6) + (IH_ARGUMENT_OFFSETS << 3) + IH_FAULT_OFFSETS));
            f.status->stopped = 1;
        }
    }
}

IH_KERNEL(THREADS, 1) tiles_kernel(IH_CONSTANT ih_cuda_fit f)
{
    IH_SHARED(shared);
    unsigned long long *sum   = (unsigned long long *)shared;
    const int64_t       first = (int64_t)blockIdx.x * TILE + (int64_t)threadIdx.x * EACH;
    int32_t             count[QUANTITIES - 1];
    int64_t             chunks;

    if (f.status->stopped) return;
    if (threadIdx.x < QUANTITIES) sum[threadIdx.x] = 0;
    __syncthreads();
    own_counts(&f, first, count, &chunks);
    for (int32_t q = 0; q < QUANTITIES - 1; ++q)
        if (count[q]) atomicAdd(&sum[q], (unsigned long long)count[q]);
    if (chunks) atomicAdd(&sum[TREE_CHUNKS], (unsigned long long)chunks);
    for (int64_t r = first; r < first + EACH && r < f.rows; ++r) {
        const int64_t n = f.offsets[r + 1] - f.offsets[r];
        if (n > IH_CUDA_CHUNK)
            for (int32_t level = 0; level < ih_tree_levels(chunks_of(n)); ++level)
                atomicAdd((unsigned long long *)&f.status->merges[level], (unsigned long long)ih_tree_merges(chunks_of(n), level));
    }
    __syncthreads();
    if (threadIdx.x < QUANTITIES) f.row_tiles[(int64_t)blockIdx.x * QUANTITIES + threadIdx.x] = (int64_t)sum[threadIdx.x];
}

/* Tile counts become counts before the tile; a warp a quantity. Short rows go behind those of smaller classes. */
IH_KERNEL(32 * QUANTITIES, 1) offsets_kernel(IH_CONSTANT ih_cuda_fit f, int64_t tiles)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31), q = (int32_t)(threadIdx.x >> 5);
    int64_t       before = 0;

    if (f.status->stopped) return;
    for (int64_t t = lane; t - lane < tiles; t += 32) {
        const int64_t own = t < tiles ? f.row_tiles[t * QUANTITIES + q] : 0;
        int64_t       sum = own;
        for (int32_t by = 1; by < 32; by *= 2) {
            const int64_t other = __shfl_up_sync(IH_ALL_LANES, (long long)sum, (unsigned)by);
            if (lane >= by) sum += other;
        }
        if (t < tiles) f.row_tiles[t * QUANTITIES + q] = before + sum - own;
        before += __shfl_sync(IH_ALL_LANES, (long long)sum, 31);
    }
    if (lane == 0) {
        if (q < CLASSES) f.status->class_rows[q] = (uint64_t)before;
        else if (q == TREE_ROWS) f.status->tree_rows = (uint64_t)before;
        else f.status->tree_chunks = (uint64_t)before;
    }
}

IH_KERNEL(THREADS, 1) lists_kernel(IH_CONSTANT ih_cuda_fit f)
{
    IH_SHARED(shared);
    int64_t      *space = (int64_t *)shared; /* [QUANTITIES][THREADS] */
    const int32_t t     = (int32_t)threadIdx.x;
    const int64_t first = (int64_t)blockIdx.x * TILE + (int64_t)t * EACH;
    int32_t       count[QUANTITIES - 1];
    int64_t       chunks, at[QUANTITIES], base = 0;

    if (f.status->stopped) return;
    own_counts(&f, first, count, &chunks);
    for (int32_t q = 0; q < QUANTITIES - 1; ++q) space[q * THREADS + t] = count[q];
    space[TREE_CHUNKS * THREADS + t] = chunks;
    __syncthreads();
    for (int32_t by = 1; by < THREADS; by *= 2) {
        int64_t before[QUANTITIES];
        for (int32_t q = 0; q < QUANTITIES; ++q) before[q] = t >= by ? space[q * THREADS + t - by] : 0;
        __syncthreads();
        for (int32_t q = 0; q < QUANTITIES; ++q) space[q * THREADS + t] += before[q];
        __syncthreads();
    }
    for (int32_t q = 0; q < QUANTITIES; ++q)
        at[q] = f.row_tiles[(int64_t)blockIdx.x * QUANTITIES + q] + space[q * THREADS + t] - (q == TREE_CHUNKS ? chunks : count[q < TREE_CHUNKS ? q : 0]);
    for (int32_t q = 0; q < CLASSES; ++q) {
        at[q] += base;
        base += (int64_t)f.status->class_rows[q];
    }
    for (int64_t r = first; r < first + EACH && r < f.rows; ++r) {
        const int64_t begin = f.offsets[r], n = f.offsets[r + 1] - begin;
        const int32_t q = class_of(n);
        if (q == TREE_ROWS) {
            ih_cuda_row *row = &f.tree[at[TREE_ROWS]++];
            row->row    = r;
            row->begin  = begin;
            row->n      = n;
            row->chunk0 = at[TREE_CHUNKS];
            row->chunks = chunks_of(n);
            at[TREE_CHUNKS] += row->chunks;
        } else {
            for (int32_t k = 0; k < CLASSES; ++k)
                if (k == q) f.short_rows[at[k]++] = r;
        }
    }
}

IH_KERNEL(THREADS, 1) chunk_rows_kernel(IH_CONSTANT ih_cuda_fit f)
{
    const int64_t chunks = ih_cuda_chunks(&f);
    for (int64_t chunk = (int64_t)blockIdx.x * THREADS + threadIdx.x; chunk < chunks; chunk += (int64_t)gridDim.x * THREADS) {
        int64_t lo = 0, hi = ih_cuda_tree_rows(&f);
        while (hi - lo > 1) {
            const int64_t mid = lo + (hi - lo) / 2;
            if (f.tree[mid].chunk0 <= chunk) lo = mid;
            else hi = mid;
        }
        f.chunk_row[chunk] = (int32_t)lo;
    }
}

extern "C" cudaError_t ih_cuda_launch_ragged(const ih_cuda_fit *f, cudaStream_t stream)
{
    const int64_t tiles = (f->rows + TILE - 1) / TILE, checks = (f->rows + THREADS) / THREADS, spans = (f->chunks + THREADS - 1) / THREADS;
    IH_LAUNCH(check_kernel, checks < 4096 ? checks : 4096, THREADS, 0, stream, *f);
    if (tiles > 0) {
        IH_LAUNCH(tiles_kernel, tiles, THREADS, QUANTITIES * 8, stream, *f);
        IH_LAUNCH(offsets_kernel, 1, 32 * QUANTITIES, 0, stream, *f, tiles);
        IH_LAUNCH(lists_kernel, tiles, THREADS, QUANTITIES * THREADS * 8, stream, *f);
        if (spans > 0) IH_LAUNCH(chunk_rows_kernel, spans < 65536 ? spans : 65536, THREADS, 0, stream, *f);
    }
    return cudaGetLastError();
}
