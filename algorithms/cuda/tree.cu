/* SPDX-License-Identifier: Apache-2.0
 * tree.cu: a level of the tree over the chunks of all rows (paper 3.3, Algorithm 1): a thread a merge, or a warp where there
 * are few merges (the schedule rule of its section 5). */
#include "launch.h"
#include "stage.h"

#include "../warp/warp_merge.h"

enum { THREADS = 128 };

/* Merge number u of a level: the row (of those with a tree) and the node within it, or none. Ragged rows: numbers are given
 * out by the place of the row's chunks, so that a few lead to no merge. */
IH_DEV int32_t merge_of(const ih_cuda_fit *f, int32_t level, int64_t u, int64_t *k, int64_t *merge)
{
    if (!f->offsets) {
        const int64_t each = ih_tree_merges(f->row_chunks, level);
        *k     = u / each;
        *merge = u - *k * each;
        return *k < f->tree_rows;
    }
    {
        int64_t lo = 0, hi = ih_cuda_tree_rows(f);
        if (hi == 0) return 0;
        while (hi - lo > 1) {
            const int64_t mid = lo + (hi - lo) / 2;
            if ((f->tree[mid].chunk0 >> (level + 1)) + mid <= u) lo = mid;
            else hi = mid;
        }
        *k     = lo;
        *merge = u - ((f->tree[lo].chunk0 >> (level + 1)) + lo);
        return *merge < ih_tree_merges(f->tree[lo].chunks, level);
    }
}

IH_KERNEL(THREADS, 3) merge_kernel(IH_CONSTANT ih_cuda_fit f, const int32_t level)
{
    const int64_t merges = f.offsets ? (int64_t)f.status->merges[level] : f.tree_rows * ih_tree_merges(f.row_chunks, level);
    const int64_t units  = f.offsets ? (ih_cuda_chunks(&f) >> (level + 1)) + ih_cuda_tree_rows(&f) : merges;
    const int32_t by_warp = merges < f.thread_merges, lane = (int32_t)(threadIdx.x & 31);
    const int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x, threads = (int64_t)gridDim.x * THREADS;
    ih_judge       judge = { 0, 0, 0, 0 };
    ih_merge_count count = { { 0, 0, 0, 0 }, 0, 0 };

    if (merges == 0) return;
    for (int64_t u = by_warp ? thread >> 5 : thread; u < units; u += by_warp ? threads >> 5 : threads) {
        int64_t k, merge;
        if (!merge_of(&f, level, u, &k, &merge)) continue;
        const ih_cuda_row row = ih_cuda_tree_row(&f, k);
        if (f.state[row.row] != IH_ROW_FINE) continue;
        const ih_store s    = ih_cuda_store(&f, &row);
        const int64_t  left = merge << (level + 1), right = left + ((int64_t)1 << level);
        ih_segment    *lists = f.segment + row.chunk0;
        int32_t       *sizes = f.length + row.chunk0;
        if (by_warp) {
            const int64_t n = ih_warp_merge_lists(&s, &judge, lists + left, sizes[left], lists + right, sizes[right], &count, lane);
            __syncwarp();
            if (lane == 0) sizes[left] = (int32_t)n;
        } else {
            const ih_merge_rule rule = { f.walk_cap, 0 };
            sizes[left] = (int32_t)ih_merge_lists(&s, &judge, lists + left, sizes[left], lists + right, sizes[right], rule, &count);
        }
        if (judge.undecided) {
            ih_cuda_give_up(&f, row.row, IH_ROW_UNCERTAIN);
            judge.undecided = 0;
        }
    }
    if (f.counting) {
        const int64_t counts = !by_warp || lane == 0; /* what all lanes of a warp did together counts once; searches' own turns all */
        __syncwarp();
        ih_cuda_count_decisions(&f, &judge, lane);
        ih_cuda_count(&f.status->walks, count.walk.walks, lane);
        ih_cuda_count(&f.status->walk_steps, count.walk.steps, lane);
        ih_cuda_count(&f.status->walks_capped, count.walk.capped, lane);
        ih_cuda_count(&f.status->searches, counts * count.searches, lane);
    }
}

extern "C" cudaError_t ih_cuda_launch_merge(const ih_cuda_fit *f, int32_t level, cudaStream_t stream)
{
    const int64_t merges  = f->tree_rows * ih_tree_merges(f->row_chunks, level);
    const int64_t units   = f->offsets ? (f->chunks >> (level + 1)) + f->tree_rows : merges;
    const int64_t by_warp = units < f->thread_merges ? units : f->offsets ? (units < 1024 ? units : 1024) : 0;
    int64_t       threads = by_warp * 32;
    if ((f->offsets || !by_warp) && threads < units) threads = units;
    if (threads == 0) return cudaSuccess;
    if (threads > (int64_t)THREADS << 20) threads = (int64_t)THREADS << 20; /* the kernel goes on in strides */
    IH_LAUNCH(merge_kernel, (threads + THREADS - 1) / THREADS, THREADS, 0, stream, *f, level);
    return cudaGetLastError();
}
