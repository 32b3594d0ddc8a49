/* SPDX-License-Identifier: Apache-2.0
 * launch.h: the kernels of a fit, as the host side calls them: each enqueues on the stream and returns. */
#ifndef IH_CUDA_LAUNCH_H
#define IH_CUDA_LAUNCH_H

#include "fit.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t ih_cuda_launch_ragged(const ih_cuda_fit *f, cudaStream_t stream);      /* ragged.cu: rows by length, chunks of rows */
cudaError_t ih_cuda_launch_rows(const ih_cuda_fit *f, int32_t processors, cudaStream_t stream); /* rows.cu: rows of one chunk */
cudaError_t ih_cuda_launch_chunk(const ih_cuda_fit *f, cudaStream_t stream);       /* chunk.cu */
cudaError_t ih_cuda_launch_scan(const ih_cuda_fit *f, cudaStream_t stream);        /* scan.cu */
cudaError_t ih_cuda_launch_merge(const ih_cuda_fit *f, int32_t level, cudaStream_t stream); /* tree.cu: one level */
cudaError_t ih_cuda_launch_tail(const ih_cuda_fit *f, cudaStream_t stream);        /* tree.cu: the levels from f->tail on */
cudaError_t ih_cuda_launch_write(const ih_cuda_fit *f, cudaStream_t stream);       /* write.cu: edges, then values */
size_t      ih_cuda_exact_words(const ih_cuda_fit *f);                             /* from shape and kind */
cudaError_t ih_cuda_launch_exact_rows(const ih_cuda_fit *f, cudaStream_t stream);  /* exact_rows.cu: rows that were given up */

size_t      ih_cuda_blocks_scratch(int64_t total, int64_t rows, const ih_outputs *out);
cudaError_t ih_cuda_launch_blocks(const ih_cuda_fit *f, const ih_outputs *out, void *scratch, cudaStream_t stream); /* blocks.cu: block outputs */

size_t      ih_cuda_backward_bytes(const ih_problem *p, const ih_gradient *g);
cudaError_t ih_cuda_launch_backward(const ih_problem *p, const ih_gradient *g, void *ws, cudaStream_t stream); /* backward.cu: the gradient */

#ifdef __cplusplus
}
#endif
#endif
