/* SPDX-License-Identifier: Apache-2.0
 * tree.cu: a level of the tree over the chunks of all rows (paper 3.3, Algorithm 1): a thread a merge, or a warp where there
 * are few merges (the schedule rule of its section 5). The last levels, in which a row has few merges, are one kernel with a
 * block a row, which waits for itself instead of for launches. */
#include "edges.h"
#include "launch.h"

#include "../warp/warp_merge.h"

enum { THREADS = 128, TAIL_WARPS = 16 };
enum { ALL_ROWS, ONE_ROW };              /* whose merges are numbered: of all rows, or of the block's */
enum { BY_WARPS, BY_THREADS, BY_EITHER }; /* which rule a kernel has code for: what is not there is not waited for */

/* Merge number u of a level: the row (of those with a tree) and the node within it, or none. Ragged rows: numbers are given
 * out by the place of the row's chunks, so that a few lead to no merge. */
template <int SCOPE> IH_DEV int32_t merge_of(const ih_cuda_fit *f, int32_t level, int64_t u, int64_t *k, int64_t *merge)
{
    if (SCOPE == ONE_ROW) {
        *k     = blockIdx.x;
        *merge = u;
        return 1;
    }
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

/* A merge at work: the row's store and both lists. */
typedef struct merge_work {
    ih_store    store;
    ih_segment *left, *right;
    int32_t    *n_left;
    int32_t     n_right;
    int64_t     row;
} merge_work;

template <int WEIGHTED> IH_DEV merge_work work_of(const ih_cuda_fit *f, int64_t k, int64_t merge, int32_t level)
{
    const ih_cuda_row row  = ih_cuda_tree_row(f, k);
    const int64_t     left = row.chunk0 + (merge << (level + 1)), right = left + ((int64_t)1 << level);
    merge_work        m;
    m.store   = ih_cuda_store(f, &row);
    m.store.values.kind = (f->kind & IH_KIND_F32) | WEIGHTED;
    m.left    = f->segment + left;
    m.right   = f->segment + right;
    m.n_left  = f->length + left;
    m.n_right = f->length[right];
    m.row     = row.row;
    return m;
}

#if defined(IH_PAPER)
template <int WEIGHTED> IH_DEV ih_judge merge_slow(const ih_cuda_fit *, int64_t, int64_t, int32_t, int32_t) /* nothing stays undecided */
{
    const ih_judge none = { 0, 0, 0, 0 };
    return none;
}
#else
/* A merge again, by the warp with all levels of decisions, out of line. */
template <int WEIGHTED> IH_DEV_SLOW ih_judge merge_slow(const ih_cuda_fit *f, int64_t k, int64_t merge, int32_t level, int32_t lane)
{
    const merge_work m     = work_of<WEIGHTED>(f, k, merge, level);
    ih_judge         judge = { 0, 0, 0, 0 };
    ih_merge_count   count = { { 0, 0, 0, 0 }, 0, 0 };
    const ih_bridge  b     = ih_warp_bridge_of(&m.store, &judge, m.left, *m.n_left, m.right, m.n_right, lane);
    if (__any_sync(IH_ALL_LANES, judge.undecided)) {
        if (lane == 0) ih_cuda_give_up(f, m.row, IH_ROW_UNCERTAIN);
    } else {
        const int64_t n = ih_warp_cut(m.left, *m.n_left, m.right, m.n_right, b, &count, lane);
        __syncwarp();
        if (lane == 0) *m.n_left = (int32_t)n;
    }
    return judge;
}
#endif

/* Few merges: a warp each. units: begin .. end - 1; warp of warps. */
template <int WEIGHTED, int SCOPE> IH_DEV void merges_by_warps(const ih_cuda_fit *f, int32_t level, int64_t begin, int64_t end, int64_t warp, int64_t warps, ih_judge *judge,
                                                    ih_merge_count *count, int32_t lane)
{
    for (int64_t u = begin + warp; u < end; u += warps) {
        int64_t        k, merge;
        ih_judge_quick quick = { 0, 0 };
        if (!merge_of<SCOPE>(f, level, u, &k, &merge)) continue;
        const merge_work m = work_of<WEIGHTED>(f, k, merge, level);
        if (f->state[m.row] != IH_ROW_FINE) continue;
        const int64_t n = ih_warp_merge_lists(&m.store, &quick, m.left, *m.n_left, m.right, m.n_right, count, lane);
        __syncwarp();
        if (lane == 0 && n) *m.n_left = (int32_t)n;
        if (!n) {
            const ih_judge more = merge_slow<WEIGHTED>(f, k, merge, level, lane);
            ih_judge_add(judge, &more);
        }
        ih_judge_add(judge, &quick);
    }
}

/* Many merges: a thread each, the first of `group` lanes (more threads than merges keep a device busy). Where its walk is
 * capped the warp searches, one merge after the other. */
template <int WEIGHTED, int SCOPE> IH_DEV void merges_by_threads(const ih_cuda_fit *f, int32_t level, int64_t begin, int64_t end, int32_t group, int64_t thread, int64_t threads,
                                                      ih_judge *judge, ih_merge_count *count, int32_t lane)
{
    for (int64_t t = thread; t - lane < (end - begin) * group; t += threads) {
        const int64_t  u = begin + t / group;
        int64_t        k = 0, merge = 0;
        ih_bridge      bridge = { { 0, 0 }, { 0, 0 } };
        ih_judge_quick quick  = { 0, 0 };
        int32_t        open = 0, again = 0;
        if (t % group == 0 && u < end && merge_of<SCOPE>(f, level, u, &k, &merge)) {
            const merge_work m = work_of<WEIGHTED>(f, k, merge, level);
            if (f->state[m.row] == IH_ROW_FINE) {
                const ih_run l = ih_run_without_last(m.left, *m.n_left), r = ih_run_without_first(m.right, m.n_right);
                open  = !ih_merge_walk(&m.store, &quick, m.left, *m.n_left, &l, &r, f->walk_cap, &bridge, count);
                again = quick.undecided;
                open &= !again;
                if (!open && !again) *m.n_left = (int32_t)ih_merge_cut(m.left, *m.n_left, m.right, m.n_right, bridge, count);
            }
        }
        for (uint32_t todo = __ballot_sync(IH_ALL_LANES, open); todo; todo &= todo - 1) {
            const int32_t lead = ih_bit_low(todo);
            ih_bridge     b;
            b.a.segment = __shfl_sync(IH_ALL_LANES, (long long)bridge.a.segment, lead);
            b.a.vertex  = __shfl_sync(IH_ALL_LANES, bridge.a.vertex, lead);
            b.b.segment = __shfl_sync(IH_ALL_LANES, (long long)bridge.b.segment, lead);
            b.b.vertex  = __shfl_sync(IH_ALL_LANES, bridge.b.vertex, lead);
            const merge_work m = work_of<WEIGHTED>(f, __shfl_sync(IH_ALL_LANES, (long long)k, lead), __shfl_sync(IH_ALL_LANES, (long long)merge, lead), level);
            const ih_run     l = ih_run_without_last(m.left, *m.n_left), r = ih_run_without_first(m.right, m.n_right);
            quick.undecided = 0;
            ih_warp_bridge(&m.store, &quick, l, r, &b, lane); /* in line: where walks are capped, this is what takes the time */
            count->searches += lane == 0;
            if (__any_sync(IH_ALL_LANES, quick.undecided)) {
                again |= lane == lead;
            } else {
                const int64_t n = ih_warp_cut(m.left, *m.n_left, m.right, m.n_right, b, count, lane);
                __syncwarp();
                if (lane == 0) *m.n_left = (int32_t)n;
            }
        }
        for (uint32_t todo = __ballot_sync(IH_ALL_LANES, again); todo; todo &= todo - 1) {
            const int32_t  lead = ih_bit_low(todo);
            const ih_judge more = merge_slow<WEIGHTED>(f, __shfl_sync(IH_ALL_LANES, (long long)k, lead), __shfl_sync(IH_ALL_LANES, (long long)merge, lead), level, lane);
            ih_judge_add(judge, &more);
        }
        ih_judge_add(judge, &quick);
    }
}

IH_DEV void count_merges(const ih_cuda_fit *f, const ih_judge *judge, const ih_merge_count *count, int32_t by_warp, int32_t lane)
{
    __syncwarp();
    ih_cuda_count_decisions(f, judge, lane);
    ih_cuda_count(&f->status->walks, count->walk.walks, lane);
    ih_cuda_count(&f->status->walk_steps, count->walk.steps, lane);
    ih_cuda_count(&f->status->walks_capped, count->walk.capped, lane);
    ih_cuda_count(&f->status->searches, by_warp && lane ? 0 : count->searches, lane);
}

template <int WEIGHTED, int RULE> IH_KERNEL(THREADS, 4) merge_kernel(IH_CONSTANT ih_cuda_fit f, const int32_t level, const int32_t group)
{
    ih_follow();
    const int64_t  merges = f.offsets ? (int64_t)f.status->merges[level] : f.tree_rows * ih_tree_merges(f.row_chunks, level);
    const int64_t  units  = f.offsets ? (ih_cuda_chunks(&f) >> (level + 1)) + ih_cuda_tree_rows(&f) : merges;
    const int32_t  by_warp = RULE == BY_EITHER ? merges < f.thread_merges : RULE == BY_WARPS, lane = (int32_t)(threadIdx.x & 31);
    const int64_t  thread = (int64_t)blockIdx.x * THREADS + threadIdx.x, threads = (int64_t)gridDim.x * THREADS;
    ih_judge       judge = { 0, 0, 0, 0 };
    ih_merge_count count = { { 0, 0, 0, 0 }, 0, 0 };

    if (merges == 0) return;
    if (by_warp) merges_by_warps<WEIGHTED, ALL_ROWS>(&f, level, 0, units, thread >> 5, threads >> 5, &judge, &count, lane);
    else merges_by_threads<WEIGHTED, ALL_ROWS>(&f, level, 0, units, group, thread, threads, &judge, &count, lane);
    if (f.counting) count_merges(&f, &judge, &count, by_warp, lane);
}

/* All levels from f.tail on, and the edges of short lists: a block a row. */
template <int KIND, int RULE> IH_KERNEL(32 * TAIL_WARPS, 1) tail_kernel(IH_CONSTANT ih_cuda_fit f)
{
    ih_follow();
    constexpr int32_t WEIGHTED = KIND & IH_KIND_WEIGHTED;
    const int32_t lane = (int32_t)(threadIdx.x & 31), warp = (int32_t)(threadIdx.x >> 5), warps = (int32_t)(blockDim.x >> 5);
    for (int32_t level = f.tail; level < f.levels; ++level) {
        const int64_t  merges  = ih_tree_merges(f.row_chunks, level);
        const int32_t  by_warp = RULE == BY_WARPS || f.tree_rows * merges < f.thread_merges;
        int32_t        group   = 32;
        ih_judge       judge = { 0, 0, 0, 0 };
        ih_merge_count count = { { 0, 0, 0, 0 }, 0, 0 };
        while (group > 1 && merges * group > (int64_t)blockDim.x) group /= 2;
        if (by_warp) merges_by_warps<WEIGHTED, ONE_ROW>(&f, level, 0, merges, warp, warps, &judge, &count, lane);
        else merges_by_threads<WEIGHTED, ONE_ROW>(&f, level, 0, merges, group, threadIdx.x, blockDim.x, &judge, &count, lane);
        if (f.counting) count_merges(&f, &judge, &count, by_warp, lane);
        __syncthreads();
    }
    if (ih_cuda_edges_in_tail(&f))
        for (int64_t from = 0; from < f.row_chunks; from += blockDim.x) { /* side by side to different warps */
            const int64_t k = from + warp + (int64_t)warps * lane;
            ih_cuda_edges<KIND>(&f, k < f.row_chunks ? blockIdx.x * f.row_chunks + k : -1, lane);
        }
}

template <int WEIGHTED> static void launch_merge(const ih_cuda_fit *f, int32_t level, int32_t rule, int64_t blocks, int32_t group, cudaStream_t stream)
{
    if (rule == BY_WARPS) IH_LAUNCH_NEXT((merge_kernel<WEIGHTED, BY_WARPS>), blocks, THREADS, 0, stream, f->overlap, *f, level, group);
    else if (rule == BY_THREADS) IH_LAUNCH_NEXT((merge_kernel<WEIGHTED, BY_THREADS>), blocks, THREADS, 0, stream, f->overlap, *f, level, group);
    else IH_LAUNCH_NEXT((merge_kernel<WEIGHTED, BY_EITHER>), blocks, THREADS, 0, stream, f->overlap, *f, level, group);
}

extern "C" cudaError_t ih_cuda_launch_merge(const ih_cuda_fit *f, int32_t level, cudaStream_t stream)
{
    const int64_t merges = f->tree_rows * ih_tree_merges(f->row_chunks, level);
    const int64_t units  = f->offsets ? (f->chunks >> (level + 1)) + f->tree_rows : merges; /* ragged: at most */
    const int32_t rule   = f->offsets ? BY_EITHER : merges < f->thread_merges ? BY_WARPS : BY_THREADS;
    int64_t       threads = rule == BY_WARPS ? 32 * units : rule == BY_EITHER ? 32 * (units < 1024 ? units : 1024) : 0;
    int32_t       group   = 1;
    while (group < 32 && 2 * group * units <= 1 << 18) group *= 2;
    if (rule != BY_WARPS && threads < units * group) threads = units * group;
    if (threads == 0) return cudaSuccess;
    if (threads > (int64_t)THREADS << 20) threads = (int64_t)THREADS << 20; /* the kernel goes on in strides */
    if (f->kind & IH_KIND_WEIGHTED) launch_merge<IH_KIND_WEIGHTED>(f, level, rule, (threads + THREADS - 1) / THREADS, group, stream);
    else launch_merge<0>(f, level, rule, (threads + THREADS - 1) / THREADS, group, stream);
    return cudaGetLastError();
}

template <int KIND> static void launch_tail(const ih_cuda_fit *f, cudaStream_t stream)
{
    const int64_t merges = ih_tree_merges(f->row_chunks, f->tail), threads = 32 * (merges < (int64_t)TAIL_WARPS ? merges : (int64_t)TAIL_WARPS);
    if (f->tree_rows * merges < f->thread_merges) IH_LAUNCH_NEXT((tail_kernel<KIND, BY_WARPS>), f->tree_rows, threads, 0, stream, f->overlap, *f);
    else IH_LAUNCH_NEXT((tail_kernel<KIND, BY_EITHER>), f->tree_rows, threads, 0, stream, f->overlap, *f);
}

extern "C" cudaError_t ih_cuda_launch_tail(const ih_cuda_fit *f, cudaStream_t stream)
{
    switch (f->kind) {
    case 0: launch_tail<0>(f, stream); break;
    case IH_KIND_F32: launch_tail<IH_KIND_F32>(f, stream); break;
    case IH_KIND_WEIGHTED: launch_tail<IH_KIND_WEIGHTED>(f, stream); break;
    default: launch_tail<IH_KIND_F32 | IH_KIND_WEIGHTED>(f, stream); break;
    }
    return cudaGetLastError();
}
