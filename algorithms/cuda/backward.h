/* SPDX-License-Identifier: Apache-2.0
 * backward.h: the gradient on a device. The workspace begins with ih_cuda_status; nothing but enqueueing. */
#ifndef IH_CUDA_BACKWARD_H
#define IH_CUDA_BACKWARD_H

#include "isohull.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds of p are rounded to its type, as ih_fit gives them. A row with a value in g, or in w or y where the gradient needs these,
 * that is not allowed gets NaN; status->fault tells the first one. */
size_t      ih_cuda_backward_bytes(const ih_problem *p, const ih_gradient *g);
cudaError_t ih_cuda_launch_backward(const ih_problem *p, const ih_gradient *g, void *ws, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
