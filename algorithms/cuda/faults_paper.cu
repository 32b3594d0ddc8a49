/* SPDX-License-Identifier: Apache-2.0
 * faults_paper.cu: what is left of exact_rows.cu where nothing is solved again: rows with a fault are filled with NaN. */
#include "../paper/names.h"

#include "launch.h"
#include "stage.h"

enum { THREADS = 256, BLOCKS = 256 };

IH_KERNEL(THREADS, 1) faults_paper_kernel(IH_CONSTANT ih_cuda_fit f)
{
    ih_follow();
    const int64_t rows = (int64_t)f.status->given_up;

    if (blockIdx.x >= rows) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) ih_cuda_find_fault(&f);
    for (int64_t k = blockIdx.x; k < rows; k += gridDim.x) {
        const int64_t row = f.list[k], flat = ih_cuda_row_begin(&f, row), n = ih_cuda_row_length(&f, row);
        for (int64_t i = threadIdx.x; i < n; i += THREADS) ih_cuda_store_z(&f, flat + i, NAN, f.kind);
        if (f.bits && threadIdx.x == 0) atomicOr(&f.bits[flat >> 5], 1u << (flat & 31)); /* one block */
    }
}

extern "C" size_t ih_cuda_exact_words(const ih_cuda_fit *f)
{
    (void)f;
    return 0;
}

extern "C" cudaError_t ih_cuda_launch_exact_rows(const ih_cuda_fit *f, cudaStream_t stream)
{
    const int64_t grid = f->rows < BLOCKS ? f->rows : (int64_t)BLOCKS;
    if (grid > 0) IH_LAUNCH_NEXT(faults_paper_kernel, grid, THREADS, 0, stream, f->overlap, *f);
    return cudaGetLastError();
}
