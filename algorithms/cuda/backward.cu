/* SPDX-License-Identifier: Apache-2.0
 * backward.cu: gradients of a fit from its blocks: find, sum (short and medium blocks are finished there), join and write (long
 * blocks), huge, exact and spread (blocks that pairs leave open, and faults), fill (rows at fault). */
#include "simt.h"

#include "block_exact.h"
#include "block_long.h"
#include "launch.h"

enum { IH_FILL_CTAS = 128, IH_FILL_THREADS = 256 };

/* Offsets that do not rise from 0 to n: the fit wrote no blocks, and nothing is done but to say so. */
IH_KERNEL(IH_WINDOW_THREADS, 8) backward_find_kernel(IH_CONSTANT ih_block_job job)
{
    for (int64_t r = (int64_t)blockIdx.x * IH_WINDOW_THREADS + threadIdx.x; job.offsets && r <= job.rows; r += (int64_t)gridDim.x * IH_WINDOW_THREADS) {
        const int64_t at = job.offsets[r];
        if (at < (r ? job.offsets[r - 1] : 0) || (r == 0 && at != 0) || (r == job.rows && at != job.total)) {
            atomicMax((unsigned long long *)&job.status->fault, ~(unsigned long long)((r << 6) + (IH_ARGUMENT_OFFSETS << 3) + IH_FAULT_OFFSETS));
            job.status->stopped = 1;
        }
    }
    ih_windows_find(&job);
}

#define IH_BACKWARD_KERNELS(what) \
    IH_KERNEL(IH_WINDOW_THREADS, 1) backward_sum_kernel_##what(IH_CONSTANT ih_block_job job) { ih_windows_sum(&job, what); } \
    IH_KERNEL(IH_JOIN_THREADS, 1) backward_join_kernel_##what(IH_CONSTANT ih_block_job job) { ih_windows_join(&job, what); } \
    IH_KERNEL(IH_WINDOW_THREADS, 1) backward_write_kernel_##what(IH_CONSTANT ih_block_job job) { ih_window_long(&job, blockIdx.x, what); }
/* IH_SUM_G, with IH_SUM_Y 8 more, and the kind */
IH_BACKWARD_KERNELS(4)
IH_BACKWARD_KERNELS(5)
IH_BACKWARD_KERNELS(6)
IH_BACKWARD_KERNELS(7)
IH_BACKWARD_KERNELS(12)
IH_BACKWARD_KERNELS(13)
IH_BACKWARD_KERNELS(14)
IH_BACKWARD_KERNELS(15)

IH_KERNEL(IH_EXACT_THREADS, 1) backward_huge_kernel(IH_CONSTANT ih_block_job job, int32_t what) { ih_exact_huge(&job, what); }
IH_KERNEL(IH_EXACT_THREADS, 1) backward_spread_kernel(IH_CONSTANT ih_block_job job, int32_t what) { ih_exact_spread(&job, what); }
IH_KERNEL(IH_EXACT_THREADS, 1) backward_exact_kernel(IH_CONSTANT ih_block_job job, int32_t what) { ih_exact_blocks(&job, what); }

/* NaN into the rows at fault, and the row of the first fault into the status. */
IH_KERNEL(IH_FILL_THREADS, 1) backward_fill_kernel(IH_CONSTANT ih_block_job job)
{
    const uint64_t fault = job.status->fault;

    if (!fault || job.status->stopped) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        const int64_t row       = ih_job_row_of(&job, (int64_t)(~fault >> 6));
        job.status->fault_row   = row;
        job.status->fault_begin = job.offsets ? job.offsets[row] : row * job.n;
    }
    for (int64_t word = blockIdx.x; word * 32 < job.rows; word += gridDim.x)
        for (uint32_t rest = job.bad_rows[word]; rest; rest &= rest - 1) {
            const int64_t row   = word * 32 + ih_bit_low(rest);
            const int64_t begin = job.offsets ? job.offsets[row] : row * job.n, end = job.offsets ? job.offsets[row + 1] : begin + job.n;
            for (int64_t i = begin + threadIdx.x; i < end; i += IH_FILL_THREADS) {
                if (job.grad_y) ih_job_put(job.grad_y, i, NAN, job.kind);
                if (job.grad_w) ih_job_put(job.grad_w, i, NAN, job.kind);
            }
        }
}

static size_t backward_job(ih_block_job *job, const ih_problem *p, const ih_gradient *g, void *ws, size_t *zeroed)
{
    const size_t head = (sizeof(ih_cuda_status) + IH_WORKSPACE_ALIGN - 1) / IH_WORKSPACE_ALIGN * IH_WORKSPACE_ALIGN;
    size_t       bytes;

    memset(job, 0, sizeof *job);
    job->y             = p->y;
    job->w             = p->w;
    job->g             = g->g;
    job->offsets       = p->offsets;
    job->rows          = p->rows;
    job->n             = p->n;
    job->total         = p->offsets ? p->n : p->rows * p->n;
    job->kind          = (p->dtype == IH_F32 ? IH_KIND_F32 : 0) | (p->w ? IH_KIND_WEIGHTED : 0);
    job->y_min         = p->y_min;
    job->y_max         = p->y_max;
    job->block_offsets = g->block_offsets;
    job->block_starts  = g->block_starts;
    job->grad_y        = g->grad_y;
    job->grad_w        = g->grad_w;
    job->status        = (ih_cuda_status *)ws;
    bytes              = ih_job_layout(job, ws ? (unsigned char *)ws + head : NULL, zeroed);
    *zeroed += head;
    return bytes + head;
}

extern "C" size_t ih_cuda_backward_bytes(const ih_problem *p, const ih_gradient *g)
{
    ih_block_job job;
    size_t       zeroed;
    return backward_job(&job, p, g, NULL, &zeroed);
}

extern "C" cudaError_t ih_cuda_launch_backward(const ih_problem *p, const ih_gradient *g, void *ws, cudaStream_t stream)
{
    ih_block_job  job;
    size_t        zeroed, shared;
    int64_t       join_ctas;
    int32_t       what, longs;
    cudaError_t   e;

    backward_job(&job, p, g, ws, &zeroed);
    e = cudaMemsetAsync(ws, 0, job.total ? zeroed : sizeof(ih_cuda_status), stream);
    if (e != cudaSuccess || job.total == 0) return e;
    what      = job.kind | IH_SUM_G | (job.grad_w || job.y_min > -INFINITY || job.y_max < INFINITY ? IH_SUM_Y : 0);
    shared    = ih_window_bytes(what);
    longs     = job.n > IH_WINDOW; /* may a block be longer than a window? */
    join_ctas = (job.windows + IH_JOIN_THREADS - 1) / IH_JOIN_THREADS;
    IH_LAUNCH(backward_find_kernel, (job.windows + IH_WINDOW_WARPS) / IH_WINDOW_WARPS, IH_WINDOW_THREADS, 0, stream, job);
    switch (what) {
#define IH_BACKWARD_CASE(what) \
    case what: \
        IH_LAUNCH(backward_sum_kernel_##what, job.windows, IH_WINDOW_THREADS, shared, stream, job); \
        if (longs) { \
            IH_LAUNCH(backward_join_kernel_##what, join_ctas, IH_JOIN_THREADS, ih_join_bytes(), stream, job); \
            IH_LAUNCH(backward_write_kernel_##what, job.windows, IH_WINDOW_THREADS, 0, stream, job); \
        } \
        break;
        IH_BACKWARD_CASE(4)
        IH_BACKWARD_CASE(5)
        IH_BACKWARD_CASE(6)
        IH_BACKWARD_CASE(7)
        IH_BACKWARD_CASE(12)
        IH_BACKWARD_CASE(13)
        IH_BACKWARD_CASE(14)
        IH_BACKWARD_CASE(15)
#undef IH_BACKWARD_CASE
    default: return cudaErrorInvalidValue;
    }
    if (job.n > IH_HUGE) IH_LAUNCH(backward_huge_kernel, ih_exact_ctas(job.total), IH_EXACT_THREADS, ih_exact_bytes(), stream, job, what);
    IH_LAUNCH(backward_exact_kernel, ih_exact_ctas(job.total), IH_EXACT_THREADS, ih_exact_bytes(), stream, job, what);
    if (job.n > IH_HUGE) IH_LAUNCH(backward_spread_kernel, ih_exact_ctas(job.total), IH_EXACT_THREADS, 0, stream, job, what);
    IH_LAUNCH(backward_fill_kernel, job.total / 4096 < IH_FILL_CTAS ? job.total / 4096 + 1 : (int64_t)IH_FILL_CTAS, IH_FILL_THREADS, 0, stream, job);
    return cudaGetLastError();
}
