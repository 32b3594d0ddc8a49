/* SPDX-License-Identifier: Apache-2.0
 * block_long.h: blocks longer than a window: their sums from those of the pieces, and their gradients. */
#ifndef IH_CUDA_BLOCK_LONG_H
#define IH_CUDA_BLOCK_LONG_H

#include "block_windows.h"

#if defined(IH_SIMT)

enum {
    IH_JOIN_THREADS = 512, /* pieces are added by so many               */
    IH_JOIN_BY_WARP = 256  /* at most so many pieces are added by a warp */
};

/* The sums of the long block of n elements that begins in the window: pieces in turn by all lanes, or by the threads of the CTA. */
IH_DEV ih_block_sums ih_join_strided(const ih_block_job *job, int64_t window, int64_t n, int32_t stride, const int32_t what)
{
    const int64_t        pieces = (n + IH_WINDOW - 1) / IH_WINDOW;
    const ih_block_sums *part   = job->part + 2 * window;
    ih_block_sums        t      = ih_sums_none();

#pragma unroll 2
    for (int64_t p = threadIdx.x & (unsigned)(stride - 1); p < pieces; p += stride) {
        const ih_block_sums u = part[p ? 2 * p + 1 : 0];
        t                     = ih_sums_join(&t, &u, what);
    }
    return t;
}

/* The long block [a, a + n) is left to integers; the number of a huge one. */
IH_DEV int32_t ih_join_leave(const ih_block_job *job, int64_t a, int64_t n)
{
    int32_t number = 0;

    ih_job_leave(job, a);
    if (n > IH_HUGE) {
        ih_block_huge *h;
        number    = (int32_t)atomicAdd((unsigned long long *)job->open + 1, 1ull);
        h         = &job->huge[number];
        h->a      = a;
        h->b      = a + n;
        h->most_e = -1074;
        h->bad    = 0;
        for (int32_t k = 0; k < IH_EXACT_S; ++k) h->s[k] = 0;
        for (int32_t k = 0; k < IH_EXACT_W; ++k) h->w[k] = h->g[k] = 0;
    }
    return number;
}

IH_DEV void ih_join_finish(const ih_block_job *job, const ih_block_sums *t, int64_t window, int64_t n, const int32_t what)
{
    const int64_t k = job->first[window + 1] - 1, a = job->block_starts[k];
    ih_block_rule r;

    if (what & IH_SUM_MEANS) {
        r.code  = ih_means_put(job, k, n, t, what) ? IH_RULE_ZERO : IH_RULE_OPEN;
        r.ratio = r.z.hi = r.z.lo = 0.0;
        r.huge  = 0;
    } else {
        r = ih_rule_of(job, t, n, what);
    }
    if (r.code == IH_RULE_OPEN) r.huge = ih_join_leave(job, a, n);
    job->rule[window] = r;
}

/* join kernel: one CTA of IH_JOIN_THREADS for as many windows. */
IH_DEV void ih_windows_join(const ih_block_job *job, const int32_t what)
{
    IH_SHARED(shared);
    ih_block_sums *const room = (ih_block_sums *)shared;             /* [IH_JOIN_THREADS / 32] */
    int32_t *const       list = (int32_t *)(room + IH_JOIN_THREADS / 32), *const count = list + IH_JOIN_THREADS;
    const int32_t        tid = (int32_t)threadIdx.x, lane = tid & 31;
    const int64_t        base = (int64_t)blockIdx.x * IH_JOIN_THREADS;
    int32_t              all;

    if (tid == 0) *count = 0;
    __syncthreads();
    if (base + tid < job->windows && job->long_of[base + tid]) list[atomicAdd(count, 1)] = tid;
    __syncthreads();
    all = *count;
    for (int32_t m = tid >> 5; m < all; m += IH_JOIN_THREADS / 32) {
        const int64_t window = base + list[m], n = job->long_of[window];
        if (n <= (int64_t)IH_JOIN_BY_WARP * IH_WINDOW) {
            ih_block_sums t = ih_join_strided(job, window, n, 32, what);
            t               = ih_sums_of_warp(t, what);
            if (lane == 0) ih_join_finish(job, &t, window, n, what);
        }
    }
    __syncwarp();
    for (int32_t m = 0; m < all; ++m) {
        const int64_t window = base + list[m], n = job->long_of[window];
        if (n > (int64_t)IH_JOIN_BY_WARP * IH_WINDOW) {
            ih_block_sums t = ih_join_strided(job, window, n, IH_JOIN_THREADS, what);
            t               = ih_sums_of_cta(t, room, IH_JOIN_THREADS / 32, what);
            if (tid == 0) ih_join_finish(job, &t, window, n, what);
            __syncthreads();
        }
    }
}

IH_HD size_t ih_join_bytes(void) { return IH_JOIN_THREADS / 32 * sizeof(ih_block_sums) + (IH_JOIN_THREADS + 1) * sizeof(int32_t); }

/* Gradients of the elements of long blocks in one window; by a CTA. */
IH_DEV void ih_window_long(const ih_block_job *job, int64_t window, const int32_t what)
{
    const int64_t begin = window * IH_WINDOW, behind = job->total - begin < IH_WINDOW ? job->total : begin + IH_WINDOW, blocks = ih_job_blocks(job);
    const int64_t k0 = job->first[window], k1 = job->first[window + 1];

    if (k0 > 0) {
        const int64_t a = job->block_starts[k0 - 1], b = k0 < blocks ? job->block_starts[k0] : job->total;
        if (b - a > IH_WINDOW && b > begin) {
            const ih_block_rule r = job->rule[a / IH_WINDOW];
            if (r.code != IH_RULE_OPEN) ih_rule_write(job, &r, begin, b < behind ? b : behind, IH_WINDOW_THREADS, what);
        }
    }
    if (job->long_of[window]) {
        const ih_block_rule r = job->rule[window];
        if (r.code != IH_RULE_OPEN) ih_rule_write(job, &r, job->block_starts[k1 - 1], behind, IH_WINDOW_THREADS, what);
    }
}

#endif
#endif
