/* SPDX-License-Identifier: Apache-2.0
 * block_means.cu: weights and means of blocks, each rounded once, from the list of their starts. */
#include "simt.h"

#include "block_exact.h"
#include "block_long.h"

/* find, sum, join: block_windows.h, block_long.h. huge, exact: blocks that pairs leave open, block_exact.h. */
IH_KERNEL(IH_WINDOW_THREADS, 8) means_find_kernel(IH_CONSTANT ih_block_job job) { ih_windows_find(&job); }

#define IH_MEANS_KERNELS(kind) \
    IH_KERNEL(IH_WINDOW_THREADS, 1) means_sum_kernel_##kind(IH_CONSTANT ih_block_job job) { ih_windows_sum(&job, (kind) | IH_SUM_Y | IH_SUM_MEANS); } \
    IH_KERNEL(IH_JOIN_THREADS, 1) means_join_kernel_##kind(IH_CONSTANT ih_block_job job) { ih_windows_join(&job, (kind) | IH_SUM_Y | IH_SUM_MEANS); }
IH_MEANS_KERNELS(0)
IH_MEANS_KERNELS(1)
IH_MEANS_KERNELS(2)
IH_MEANS_KERNELS(3)

IH_KERNEL(IH_EXACT_THREADS, 1) means_huge_kernel(IH_CONSTANT ih_block_job job) { ih_exact_huge(&job, job.kind | IH_SUM_Y | IH_SUM_MEANS); }
IH_KERNEL(IH_EXACT_THREADS, 1) means_exact_kernel(IH_CONSTANT ih_block_job job) { ih_exact_blocks(&job, job.kind | IH_SUM_Y | IH_SUM_MEANS); }

static void job_of(ih_block_job *job, int64_t total, int64_t rows)
{
    memset(job, 0, sizeof *job);
    job->total = total;
    job->rows  = rows;
}

extern "C" size_t ih_cuda_block_sums_bytes(int64_t total, int64_t rows)
{
    ih_block_job job;
    size_t       zeroed;
    job_of(&job, total, rows);
    return ih_job_layout(&job, NULL, &zeroed);
}

extern "C" cudaError_t ih_cuda_launch_block_sums(const ih_cuda_fit *f, const int64_t *block_offsets, const int64_t *block_starts, double *weights,
                                                 double *means, void *ws, cudaStream_t stream)
{
    const int64_t join_ctas = (f->total + (int64_t)IH_WINDOW * IH_JOIN_THREADS - 1) / ((int64_t)IH_WINDOW * IH_JOIN_THREADS);
    const size_t  bytes     = ih_window_bytes(f->kind | IH_SUM_Y | IH_SUM_MEANS);
    const int32_t longs     = f->n > IH_WINDOW; /* may a block be longer than a window? */
    ih_block_job  job;
    size_t        zeroed;
    cudaError_t   e;

    job_of(&job, f->total, f->rows);
    ih_job_layout(&job, ws, &zeroed);
    job.y             = f->y;
    job.w             = f->w;
    job.offsets       = f->offsets;
    job.n             = f->n;
    job.kind          = f->kind;
    job.block_offsets = block_offsets;
    job.block_starts  = block_starts;
    job.weights       = weights;
    job.means         = means;
    job.status        = f->status;
    job.state         = f->state;
    e                 = cudaMemsetAsync(ws, 0, zeroed, stream);
    if (e != cudaSuccess) return e;
    IH_LAUNCH(means_find_kernel, (job.windows + IH_WINDOW_WARPS) / IH_WINDOW_WARPS, IH_WINDOW_THREADS, 0, stream, job);
    switch (f->kind) {
#define IH_MEANS_CASE(kind) \
    case kind: \
        IH_LAUNCH(means_sum_kernel_##kind, job.windows, IH_WINDOW_THREADS, bytes, stream, job); \
        if (longs) IH_LAUNCH(means_join_kernel_##kind, join_ctas, IH_JOIN_THREADS, ih_join_bytes(), stream, job); \
        break;
        IH_MEANS_CASE(0)
        IH_MEANS_CASE(1)
        IH_MEANS_CASE(2)
        IH_MEANS_CASE(3)
#undef IH_MEANS_CASE
    default: return cudaErrorInvalidValue;
    }
    if (f->n > IH_HUGE) IH_LAUNCH(means_huge_kernel, ih_exact_ctas(job.total), IH_EXACT_THREADS, ih_exact_bytes(), stream, job);
    IH_LAUNCH(means_exact_kernel, ih_exact_ctas(job.total), IH_EXACT_THREADS, ih_exact_bytes(), stream, job);
    return cudaGetLastError();
}
