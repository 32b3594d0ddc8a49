/* SPDX-License-Identifier: Apache-2.0
 * device_kernels.h: kernels of the harness itself: ceilings, and comparing on the device. Each enqueues one kernel. */
#ifndef IH_HARNESS_DEVICE_KERNELS_H
#define IH_HARNESS_DEVICE_KERNELS_H

#include <cuda_runtime.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t device_kernels_empty(cudaStream_t stream);

/* Read all of it, aligned to 16 bytes; *sink (on the device) receives something so that this is not left out. */
cudaError_t device_kernels_read(const void *from, size_t bytes, uint64_t *sink, int multiprocessors, cudaStream_t stream);

/* Add to *count (on the device) the elements in which a and b are neither equal as numbers nor within the tolerance; NaN differs
 * from everything. is_f64: else float. */
cudaError_t device_kernels_differ(const void *a, const void *b, int64_t n, int is_f64, double tolerance, uint64_t *count, int multiprocessors,
                                  cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
