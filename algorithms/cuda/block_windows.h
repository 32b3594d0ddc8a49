/* SPDX-License-Identifier: Apache-2.0
 * block_windows.h: the kernels' bodies of a block job: where windows begin in the list of blocks, and the blocks of a window
 * (block_job.h draws them). `what` is a constant. */
#ifndef IH_CUDA_BLOCK_WINDOWS_H
#define IH_CUDA_BLOCK_WINDOWS_H

#include "block_sums.h"

#if defined(IH_SIMT)

enum {
    IH_WINDOW_STAGE  = IH_WINDOW + IH_SHORT,              /* elements kept in shared memory: those of short blocks  */
    IH_WINDOW_WARPS  = IH_WINDOW_THREADS / 32,
    IH_WINDOW_MEDIUM = IH_WINDOW / (IH_SHORT + 1) + 1,    /* at most so many medium blocks begin in a window        */
    IH_WINDOW_LARGE  = IH_WINDOW / (IH_MEDIUM + 1) + 1
};

/* Shared memory of a window; behind it the stages of g, y and w, in the type of y. */
typedef struct ih_window_shared {
    ih_block_sums room[IH_WINDOW_WARPS];
    uint32_t      mine[IH_WINDOW_STAGE / 32]; /* elements whose gradient stands in the stages                */
    uint16_t      start[IH_WINDOW];           /* of the blocks that begin in the window, from its first element */
    uint16_t      medium[IH_WINDOW_MEDIUM], large[IH_WINDOW_LARGE];
    int32_t       mediums, larges, longs;
} ih_window_shared;

IH_HD size_t ih_window_item(int32_t what) { return what & IH_KIND_F32 ? 4 : 8; }

IH_HD size_t ih_window_bytes(int32_t what)
{
    const size_t stages = (what & IH_SUM_G ? 1u : 0u) + (what & IH_SUM_Y ? 1u : 0u) + (what & IH_KIND_WEIGHTED ? 1u : 0u);
    return sizeof(ih_window_shared) + stages * IH_WINDOW_STAGE * ih_window_item(what);
}

IH_DEV int64_t ih_job_blocks(const ih_block_job *job) { return job->block_offsets[job->rows]; }

IH_DEV int64_t ih_job_block_end(const ih_block_job *job, int64_t k, int64_t blocks)
{
    return k + 1 < blocks ? job->block_starts[k + 1] : job->total;
}

/* The row that holds element i. */
IH_DEV int64_t ih_job_row_of(const ih_block_job *job, int64_t i)
{
    int64_t low = 0, high = job->rows; /* offsets[low] <= i < offsets[high] */
    if (!job->offsets) return i / job->n;
    while (high - low > 1) {
        const int64_t mid = low + (high - low) / 2;
        if (job->offsets[mid] <= i) low = mid;
        else high = mid;
    }
    return low;
}

/* Number of blocks that begin before element x, by a warp. */
IH_DEV int64_t ih_job_search(const ih_block_job *job, int64_t x)
{
    int64_t low = 0, high = ih_job_blocks(job);

    if (x >= job->total) return high;
    if (!job->offsets) { /* among those of its row */
        const int64_t row = x / job->n;
        low  = job->block_offsets[row];
        high = job->block_offsets[row + 1];
    }
    while (low < high) {
        const int64_t  step = (high - low + 31) / 32, at = low + (int64_t)(threadIdx.x & 31) * step;
        const uint32_t before = __ballot_sync(IH_EVERY_LANE, at < high && job->block_starts[at] < x);
        const int32_t  count  = ih_bit_count(before); /* starts rise: the first lanes */
        const int64_t  end    = low + count * step;
        if (count == 0) high = low;
        else low = low + (count - 1) * step + 1;
        if (end < high) high = end;
    }
    return low;
}

IH_DEV void ih_windows_find(const ih_block_job *job)
{
    const int64_t w = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int64_t       k;

    if (w > job->windows) return;
    k = ih_job_search(job, w * IH_WINDOW);
    if ((threadIdx.x & 31) == 0) job->first[w] = k;
}

/* ---- results of one block ---- */

/* The block that begins at element a is left to integers; by one thread. */
IH_DEV void ih_job_leave(const ih_block_job *job, int64_t a)
{
    atomicOr(&job->open_bits[a >> 5], 1u << (a & 31));
    atomicAdd((unsigned long long *)job->open, 1ull);
}

IH_HD_FORCED void ih_job_put(void *to, int64_t i, double v, int32_t kind)
{
    if (kind & IH_KIND_F32) ((float *)to)[i] = (float)v;
    else ((double *)to)[i] = v;
}

IH_HD_FORCED double ih_rule_grad_y(const ih_block_rule *r, double w, const int32_t what)
{
    return r->code == IH_RULE_ZERO ? 0.0 : what & IH_KIND_WEIGHTED ? w * r->ratio : r->ratio;
}

IH_HD_FORCED double ih_rule_grad_w(const ih_block_rule *r, double y)
{
    const double d = (y - r->z.hi) - r->z.lo;
    return r->code == IH_RULE_ZERO || d == 0.0 ? 0.0 : d * r->ratio;
}

/* Gradients of elements a .. b - 1, at most a window, by a rule that is not OPEN; by the threads of a warp or of a CTA. Some are
 * read before the first is written: the compiler cannot know that outputs overlap no input. */
IH_DEV void ih_rule_write(const ih_block_job *job, const ih_block_rule *r, int64_t a, int64_t b, int32_t stride, const int32_t what)
{
    enum { EACH = 4 };
    const int32_t n = (int32_t)(b - a);

    for (int32_t i = (int32_t)(threadIdx.x & (unsigned)(stride - 1)); i < n; i += EACH * stride) {
        double w[EACH] = { 1.0, 1.0, 1.0, 1.0 }, y[EACH] = { 0 };
#pragma unroll
        for (int32_t k = 0; k < EACH; ++k)
            if (i + k * stride < n) {
                if ((what & IH_KIND_WEIGHTED) && job->grad_y) w[k] = ih_load(job->w, a + i + k * stride, what);
                if ((what & IH_SUM_Y) && job->grad_w) y[k] = ih_load(job->y, a + i + k * stride, what);
            }
#pragma unroll
        for (int32_t k = 0; k < EACH; ++k)
            if (i + k * stride < n) {
                if (job->grad_y) ih_job_put(job->grad_y, a + i + k * stride, ih_rule_grad_y(r, w[k], what), what);
                if ((what & IH_SUM_Y) && job->grad_w) ih_job_put(job->grad_w, a + i + k * stride, ih_rule_grad_w(r, y[k]), what);
            }
    }
}

/* Weight and mean of block k = [a, a + n) from its sums, by one thread; 0 if they leave a choice. */
IH_DEV int32_t ih_means_put(const ih_block_job *job, int64_t k, int64_t n, const ih_block_sums *t, const int32_t what)
{
    ih_block block = { { 0 }, { 0 }, 0, 0, 0, 0 };
    double   mean = 0, weight = (double)n;

    if (!t->good) return 0;
    block.ny     = ih_expansion_add(block.y, ih_expansion_add(block.y, 0, t->y.lo), t->y.hi);
    block.lost_y = t->lost_y * IH_LOST_ROUND;
    if (what & IH_KIND_WEIGHTED) {
        block.nx     = ih_expansion_add(block.x, ih_expansion_add(block.x, 0, t->x.lo), t->x.hi);
        block.lost_x = t->lost_x * IH_LOST_ROUND;
        if (job->weights && !ih_round_weight(&block, &weight)) return 0;
    } else {
        block.nx = ih_expansion_add(block.x, 0, weight);
    }
    if (job->means && ih_round_mean(&block, what & IH_KIND_WEIGHTED, &mean) == IH_LEVEL_NONE) return 0;
    if (job->weights) job->weights[k] = weight;
    if (job->means) job->means[k] = mean;
    return 1;
}

/* A block of one element is its own mean. v, g: where element i of it is read. 0: a value that is not finite, or a weight
 * that is not positive. */
IH_DEV int32_t ih_means_put_one(const ih_block_job *job, int64_t k, const ih_values *v, int64_t i, const int32_t what)
{
    const double y = ih_load(v->y, i, what), w = what & IH_KIND_WEIGHTED ? ih_load(v->w, i, what) : 1.0;
    if (!(fabs(y) < INFINITY && w > 0 && w < INFINITY)) return 0;
    if (job->weights) job->weights[k] = w;
    if (job->means) job->means[k] = y + 0.0;
    return 1;
}

/* ---- short blocks, by one thread each, in shared memory ---- */

/* Sum of g where doubles suffice: float32, when neither z nor exact ties matter. */
IH_DEV ih_block_rule ih_rule_of_floats(const ih_values *v, const void *g, int32_t a, int32_t b, const int32_t what)
{
    ih_block_rule r;
    double        sum = 0, size = 0, x = 0;
    int32_t       good = 1;

    for (int32_t i = a; i < b; ++i) {
        const double one = ih_load(g, i, what);
        sum += one;
        size += fabs(one);
        if (what & IH_KIND_WEIGHTED) {
            const double w = ih_load(v->w, i, what);
            x += w;
            good &= w > 0;
        }
    }
    if (!(what & IH_KIND_WEIGHTED)) x = b - a;
    r.z.hi = r.z.lo = 0.0;
    r.ratio = sum / x;
    r.huge  = 0;
    /* at most 31 additions, each off by u times the sum of magnitudes */
    r.code = good && size < IH_SUM_LARGE && x < IH_SUM_LARGE && size * 0x1p-48 <= 0x1p-24 * fabs(sum) ? IH_RULE_RATIO : IH_RULE_OPEN;
    if (r.code == IH_RULE_RATIO && size == 0) r.code = IH_RULE_ZERO;
    return r;
}

/* The gradient of the short block [a, b) of the stages, in place; 0: left to integers. */
IH_DEV int32_t ih_short_gradient(const ih_block_job *job, ih_window_shared *s, const ih_values *v, void *g, int32_t a, int32_t b, const int32_t what)
{
    ih_block_rule  r;
    const uint32_t low = a & 31, n = (uint32_t)(b - a);
    const uint64_t bits = ((1ull << n) - 1) << low;

    r.code = IH_RULE_OPEN;
    if (b - a == 1) {
        const double one = ih_load(g, a, what), y = what & IH_SUM_Y ? ih_load(v->y, a, what) : 0.0;
        const double w = what & IH_KIND_WEIGHTED ? ih_load(v->w, a, what) : 1.0;
        if (!(fabs(one) < INFINITY && fabs(y) < INFINITY && w > 0 && w < INFINITY)) return 0;
        if (what & IH_SUM_Y) ih_job_put((void *)v->y, a, 0.0, what);
        ih_job_put(g, a, (what & IH_SUM_Y) && (y < job->y_min || y > job->y_max) ? 0.0 : one + 0.0, what);
    } else {
        if ((what & IH_KIND_F32) && !(what & IH_SUM_Y)) r = ih_rule_of_floats(v, g, a, b, what);
        if (r.code == IH_RULE_OPEN) {
            ih_block_sums t = ih_sums_none();
            for (int32_t i = a; i < b; ++i) ih_sums_element(&t, v, g, i, what);
            r = ih_rule_of(job, &t, n, what);
        }
        if (r.code == IH_RULE_OPEN) return 0;
        for (int32_t i = a; i < b; ++i) {
            ih_job_put(g, i, ih_rule_grad_y(&r, what & IH_KIND_WEIGHTED ? ih_load(v->w, i, what) : 1.0, what), what);
            if (what & IH_SUM_Y) ih_job_put((void *)v->y, i, ih_rule_grad_w(&r, ih_load(v->y, i, what)), what);
        }
    }
    atomicOr(&s->mine[a >> 5], (uint32_t)bits);
    if (bits >> 32) atomicOr(&s->mine[(a >> 5) + 1], (uint32_t)(bits >> 32));
    return 1;
}

IH_DEV int32_t ih_short_means(const ih_block_job *job, const ih_values *v, int64_t k, int32_t a, int32_t b, const int32_t what)
{
    ih_block_sums t = ih_sums_none();

    if (b - a == 1) return ih_means_put_one(job, k, v, a, what);
    for (int32_t i = a; i < b; ++i) ih_sums_element(&t, v, NULL, i, what);
    return ih_means_put(job, k, b - a, &t, what);
}

/* ---- a window ---- */

/* Result of block k = [a, b) from its sums, which all `stride` threads have. */
IH_DEV void ih_window_finish(const ih_block_job *job, const ih_block_sums *t, int64_t k, int64_t a, int64_t b, int32_t stride, const int32_t what)
{
    const int32_t one = (threadIdx.x & (unsigned)(stride - 1)) == 0;

    if (what & IH_SUM_MEANS) {
        if (one && !ih_means_put(job, k, b - a, t, what)) ih_job_leave(job, a);
    } else {
        const ih_block_rule r = ih_rule_of(job, t, b - a, what);
        if (r.code == IH_RULE_OPEN) {
            if (one) ih_job_leave(job, a);
        } else {
            ih_rule_write(job, &r, a, b, stride, what);
        }
    }
}

/* The elements of short blocks and a few more come into shared memory; starts of blocks too. */
IH_DEV void ih_window_load(const ih_block_job *job, ih_window_shared *s, const ih_values *stage, void *stage_g, int64_t begin, int64_t k0,
                           int32_t count, const int32_t what)
{
    const int64_t behind = job->total - begin;
    const int32_t tid = (int32_t)threadIdx.x, n = behind < IH_WINDOW_STAGE ? (int32_t)behind : IH_WINDOW_STAGE;

    for (int32_t t = tid; t < count; t += IH_WINDOW_THREADS) s->start[t] = (uint16_t)(job->block_starts[k0 + t] - begin);
#pragma unroll 4
    for (int32_t i = tid; i < n; i += IH_WINDOW_THREADS) {
        if (what & IH_SUM_G) ih_job_put(stage_g, i, ih_load(job->g, begin + i, what), what);
        if (what & IH_SUM_Y) ih_job_put((void *)stage->y, i, ih_load(job->y, begin + i, what), what);
        if (what & IH_KIND_WEIGHTED) ih_job_put((void *)stage->w, i, ih_load(job->w, begin + i, what), what);
    }
    for (int32_t i = tid; i < IH_WINDOW_STAGE / 32; i += IH_WINDOW_THREADS) s->mine[i] = 0;
    if (tid == 0) s->mediums = s->larges = s->longs = 0;
}

/* Short blocks are done, the numbers of the others listed. */
IH_DEV void ih_window_shorts(const ih_block_job *job, ih_window_shared *s, const ih_values *stage, void *stage_g, int64_t begin, int64_t end,
                             int64_t k0, int32_t count, const int32_t what)
{
    for (int32_t t = (int32_t)threadIdx.x; t < count; t += IH_WINDOW_THREADS) {
        const int32_t a = s->start[t];
        const int64_t n = (t + 1 < count ? s->start[t + 1] : end - begin) - a;
        if (n <= IH_SHORT) {
            const int32_t b    = a + (int32_t)n;
            const int32_t done = what & IH_SUM_MEANS ? ih_short_means(job, stage, k0 + t, a, b, what) : ih_short_gradient(job, s, stage, stage_g, a, b, what);
            if (!done) ih_job_leave(job, begin + a);
        } else if (n <= IH_MEDIUM) {
            s->medium[atomicAdd(&s->mediums, 1)] = (uint16_t)t;
        } else if (n <= IH_WINDOW) {
            s->large[atomicAdd(&s->larges, 1)] = (uint16_t)t;
        } else {
            s->longs = 1; /* the last one */
        }
    }
}

IH_DEV void ih_window_store(const ih_block_job *job, const ih_window_shared *s, const ih_values *stage, const void *stage_g, int64_t begin, const int32_t what)
{
#pragma unroll 4
    for (int32_t i = (int32_t)threadIdx.x; i < IH_WINDOW_STAGE; i += IH_WINDOW_THREADS)
        if (s->mine[i >> 5] >> (i & 31) & 1) {
            if (job->grad_y) ih_job_put(job->grad_y, begin + i, ih_load(stage_g, i, what), what);
            if ((what & IH_SUM_Y) && job->grad_w) ih_job_put(job->grad_w, begin + i, ih_load(stage->y, i, what), what);
        }
}

/* Blocks that begin in the window; those of one window's length at most whole, of a longer one piece 0. */
IH_DEV void ih_window_own(const ih_block_job *job, ih_window_shared *s, int64_t window, int64_t k0, int32_t count, int64_t end, const int32_t what)
{
    const int64_t        begin = window * IH_WINDOW;
    const size_t         bytes = IH_WINDOW_STAGE * ih_window_item(what);
    unsigned char *const room  = (unsigned char *)(s + 1);
    unsigned char *const room_y = what & IH_SUM_G ? room + bytes : room, *const room_w = what & IH_SUM_Y ? room_y + bytes : room_y;
    const ih_values      stage = { room_y, room_w, 1.0, what & (IH_KIND_F32 | IH_KIND_WEIGHTED) };
    const ih_values      values = { job->y, job->w, 1.0, what & (IH_KIND_F32 | IH_KIND_WEIGHTED) };
    int64_t              long_n = 0;

    ih_window_load(job, s, &stage, room, begin, k0, count, what);
    __syncthreads();
    ih_window_shorts(job, s, &stage, room, begin, end, k0, count, what);
    __syncthreads();
    if (what & IH_SUM_G) ih_window_store(job, s, &stage, room, begin, what);
    for (int32_t m = (int32_t)(threadIdx.x >> 5); m < s->mediums; m += IH_WINDOW_WARPS) {
        const int32_t t = s->medium[m];
        const int64_t a = begin + s->start[t], b = t + 1 < count ? begin + s->start[t + 1] : end;
        ih_block_sums sums = ih_sums_strided(&values, job->g, a, b, 32, what);
        sums               = ih_sums_of_warp(sums, what);
        ih_window_finish(job, &sums, k0 + t, a, b, 32, what);
    }
    __syncwarp();
    for (int32_t m = 0; m < s->larges; ++m) {
        const int32_t t = s->large[m];
        const int64_t a = begin + s->start[t], b = t + 1 < count ? begin + s->start[t + 1] : end;
        ih_block_sums sums = ih_sums_strided(&values, job->g, a, b, IH_WINDOW_THREADS, what);
        sums               = ih_sums_of_cta(sums, s->room, IH_WINDOW_WARPS, what);
        ih_window_finish(job, &sums, k0 + t, a, b, IH_WINDOW_THREADS, what);
        __syncthreads();
    }
    if (s->longs) {
        const int64_t a    = begin + s->start[count - 1];
        ih_block_sums sums = ih_sums_strided(&values, job->g, a, a + IH_WINDOW, IH_WINDOW_THREADS, what);
        sums               = ih_sums_of_cta(sums, s->room, IH_WINDOW_WARPS, what);
        if (threadIdx.x == 0) job->part[2 * window] = sums;
        long_n = end - a;
        __syncthreads();
    }
    if (threadIdx.x == 0) job->long_of[window] = long_n;
}

/* windows kernel: one CTA of IH_WINDOW_THREADS a window. */
IH_DEV void ih_windows_sum(const ih_block_job *job, const int32_t what)
{
    IH_SHARED(shared);
    ih_window_shared *const s      = (ih_window_shared *)shared;
    const int64_t           window = blockIdx.x, begin = window * IH_WINDOW, blocks = ih_job_blocks(job);
    const int64_t           k0 = job->first[window], k1 = job->first[window + 1];
    const int64_t           end = k1 < blocks ? job->block_starts[k1] : job->total; /* of the last block that begins here or before */

    if (k1 > k0) {
        ih_window_own(job, s, window, k0, (int32_t)(k1 - k0), end, what);
    } else if (threadIdx.x == 0) {
        job->long_of[window] = 0;
    }
    if (k0 > 0) { /* a piece of a block that began before */
        const int64_t a = job->block_starts[k0 - 1], b = k1 > k0 ? job->block_starts[k0] : end;
        const int64_t from = a + (begin - a + IH_WINDOW - 1) / IH_WINDOW * IH_WINDOW;
        if (b - a > IH_WINDOW && from < b) {
            const ih_values values = { job->y, job->w, 1.0, what & (IH_KIND_F32 | IH_KIND_WEIGHTED) };
            ih_block_sums   sums   = ih_sums_strided(&values, job->g, from, b - from < IH_WINDOW ? b : from + IH_WINDOW, IH_WINDOW_THREADS, what);
            sums                   = ih_sums_of_cta(sums, s->room, IH_WINDOW_WARPS, what);
            if (threadIdx.x == 0) job->part[2 * window + 1] = sums;
        }
    }
}

#endif
#endif
