/* SPDX-License-Identifier: Apache-2.0
 * blocks.h: block outputs of a fit on a device, from the bits of block starts. */
#ifndef IH_CUDA_BLOCKS_H
#define IH_CUDA_BLOCKS_H

#include "fit.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* f->bits is complete: the first element of each row that is not empty begins a block. scratch: ih_cuda_blocks_scratch bytes,
 * aligned to IH_WORKSPACE_ALIGN. Rows in the state IH_ROW_FAULT have one block, of NaN. */
size_t      ih_cuda_blocks_scratch(int64_t total, int64_t rows, const ih_outputs *out);
cudaError_t ih_cuda_launch_blocks(const ih_cuda_fit *f, const ih_outputs *out, void *scratch, cudaStream_t s);

#ifdef __cplusplus
}
#endif
#endif
