/* SPDX-License-Identifier: Apache-2.0
 * device_kernels.cu: see device_kernels.h. In the dialect of cuda/simt.h, so that they run in the emulator too. */
#include "device_kernels.h"

#include "cuda/simt.h"

enum { THREADS = 256, BLOCKS_EACH = 8, UNROLL = 4 };

IH_KERNEL(32, 1) empty_kernel(int unused) { (void)unused; }

/* Each thread reads UNROLL words of 16 bytes at a time, neighbours beside each other. */
IH_KERNEL(THREADS, 1) read_kernel(const uint4 *from, int64_t words, const unsigned char *rest, int32_t rest_bytes, unsigned long long *sink)
{
    const int64_t step  = (int64_t)gridDim.x * blockDim.x, first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned      mixed = 0;
    int64_t       i     = first;

    for (; i + (UNROLL - 1) * step < words; i += UNROLL * step) {
        uint4 v[UNROLL];
        for (int k = 0; k < UNROLL; ++k) v[k] = from[i + k * step];
        for (int k = 0; k < UNROLL; ++k) mixed ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    for (; i < words; i += step) mixed ^= from[i].x ^ from[i].y ^ from[i].z ^ from[i].w;
    if (first < rest_bytes) mixed ^= rest[first];
    if (mixed == 0x9e3779b9u) atomicXor(sink, (unsigned long long)mixed); /* as good as never, but no compiler knows */
}

template <typename real> static __device__ void differ(const real *a, const real *b, int64_t n, double tolerance, unsigned long long *count)
{
    const int64_t      step = (int64_t)gridDim.x * blockDim.x;
    unsigned long long mine = 0;

    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const double x = (double)a[i], y = (double)b[i];
        mine += !(x == y || fabs(x - y) <= tolerance);
    }
    if (mine) atomicAdd(count, mine);
}

IH_KERNEL(THREADS, 1) differ32_kernel(const float *a, const float *b, int64_t n, double tolerance, unsigned long long *count)
{
    differ(a, b, n, tolerance, count);
}

IH_KERNEL(THREADS, 1) differ64_kernel(const double *a, const double *b, int64_t n, double tolerance, unsigned long long *count)
{
    differ(a, b, n, tolerance, count);
}

static int64_t grid_for(int64_t threads, int multiprocessors)
{
    const int64_t most = (int64_t)multiprocessors * BLOCKS_EACH, wanted = (threads + THREADS - 1) / THREADS;
    return wanted < 1 ? 1 : wanted < most ? wanted : most;
}

cudaError_t device_kernels_empty(cudaStream_t stream)
{
    IH_LAUNCH(empty_kernel, 1, 32, 0, stream, 0);
    return cudaGetLastError();
}

cudaError_t device_kernels_read(const void *from, size_t bytes, uint64_t *sink, int multiprocessors, cudaStream_t stream)
{
    const int64_t words = (int64_t)(bytes / 16);
    IH_LAUNCH(read_kernel, grid_for(words / UNROLL, multiprocessors), THREADS, 0, stream, (const uint4 *)from, words,
              (const unsigned char *)from + 16 * words, (int32_t)(bytes % 16), (unsigned long long *)sink);
    return cudaGetLastError();
}

cudaError_t device_kernels_differ(const void *a, const void *b, int64_t n, int is_f64, double tolerance, uint64_t *count, int multiprocessors,
                                  cudaStream_t stream)
{
    if (is_f64) IH_LAUNCH(differ64_kernel, grid_for(n, multiprocessors), THREADS, 0, stream, (const double *)a, (const double *)b, n, tolerance, (unsigned long long *)count);
    else IH_LAUNCH(differ32_kernel, grid_for(n, multiprocessors), THREADS, 0, stream, (const float *)a, (const float *)b, n, tolerance, (unsigned long long *)count);
    return cudaGetLastError();
}
