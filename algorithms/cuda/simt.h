/* SPDX-License-Identifier: Apache-2.0
 * simt.h: what kernels are written with. They are CUDA C; the same text also runs on the CPU in the emulator (emulator/),
 * where each thread is a fiber, so that kernels are tested without a GPU.
 *
 * A struct that is a kernel's parameter is IH_CONSTANT: it stays in constant memory even where its address is taken, which
 * would otherwise copy it to the stack of every thread.
 *
 * Rules that both keep: one-dimensional grids and blocks; dynamic shared memory only (IH_SHARED); launches by IH_LAUNCH; warp
 * functions (__shfl_sync and others) with all 32 lanes converged; no inline assembly outside #if defined(__CUDACC__). */
#ifndef IH_CUDA_SIMT_H
#define IH_CUDA_SIMT_H

#define IH_SIMT 1 /* headers shared with the CPU lay out a chunk and a store as kernels need them */

#include <cuda_runtime.h> /* the toolkit's, or the emulator's */

#if defined(__CUDACC__)
#  define IH_KERNEL(threads, blocks) __global__ void __launch_bounds__(threads, blocks)
#  define IH_CONSTANT const __grid_constant__
#  define IH_DEV static __device__ __forceinline__
#  define IH_DEV_SLOW static __device__ __noinline__
#  define IH_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#  define IH_LAUNCH(kernel, grid, block, shared, stream, ...) kernel<<<(unsigned)(grid), (unsigned)(block), (size_t)(shared), (stream)>>>(__VA_ARGS__)
#else
#  define IH_KERNEL(threads, blocks) static void
#  define IH_CONSTANT const
#  define IH_DEV static inline
#  define IH_DEV_SLOW static __attribute__((noinline, unused))
#  define IH_SHARED(name) unsigned char *const name = ih_emulated_shared()
#  define IH_LAUNCH(kernel, grid, block, shared, stream, ...) \
    ih_emulated_launch(#kernel, kernel, (unsigned)(grid), (unsigned)(block), (size_t)(shared), (cudaStream_t)(stream), __VA_ARGS__)
#endif

/* Kernels that follow one another closely. One launched with `overlap` may begin while the one before it in the stream still runs, if
 * all blocks of that have passed ih_follow(), and waits there until it is done: what a launch costs passes meanwhile. Every
 * thread of such a kernel calls ih_follow() before anything else: the next one takes its end for the end of all before it. The wait
 * comes first, so that only one kernel waits at a time: many blocks that wait slow down those that work (H200: sawtooth 1e5 by 12 %). */
#if defined(__CUDACC__)
IH_DEV void ih_follow(void)
{
#  if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
#  endif
}

template <class... P, class... A> static cudaError_t ih_launch_next(void (*kernel)(P...), int64_t grid, int64_t block, size_t shared, cudaStream_t stream, int32_t overlap, const A &...a)
{
    cudaLaunchConfig_t  config = {};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim          = dim3((unsigned)grid);
    config.blockDim         = dim3((unsigned)block);
    config.dynamicSmemBytes = shared;
    config.stream           = stream;
    config.attrs            = &attribute;
    config.numAttrs         = overlap ? 1 : 0;
    cudaError_t error = cudaLaunchKernelEx(&config, kernel, P(a)...);
    if (error == cudaErrorInvalidValue && overlap) { /* seen once (H200, CUDA 13.0) for a kernel with a larger stack than any before it */
        (void)cudaGetLastError();
        config.numAttrs = 0;
        error = cudaLaunchKernelEx(&config, kernel, P(a)...);
    }
    return error;
}
#  define IH_LAUNCH_NEXT(kernel, grid, block, shared, stream, overlap, ...) (void)ih_launch_next(kernel, grid, block, shared, stream, overlap, __VA_ARGS__)
#else
IH_DEV void ih_follow(void) {}
#  define IH_LAUNCH_NEXT(kernel, grid, block, shared, stream, overlap, ...) IH_LAUNCH(kernel, grid, block, shared, stream, __VA_ARGS__)
#endif

/* Reductions over a warp are instructions from compute capability 8.0 on; before, shuffles. All lanes, as always. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#  define IH_REDUCE(name, T, change) \
    static __device__ __forceinline__ T name(unsigned mask, T v) \
    { \
        for (int by = 16; by > 0; by /= 2) { \
            const T other = __shfl_xor_sync(mask, v, by); \
            v             = (change); \
        } \
        return v; \
    }
IH_REDUCE(__reduce_add_sync, unsigned, v + other)
IH_REDUCE(__reduce_min_sync, unsigned, other < v ? other : v)
IH_REDUCE(__reduce_max_sync, unsigned, other > v ? other : v)
IH_REDUCE(__reduce_min_sync, int, other < v ? other : v)
IH_REDUCE(__reduce_max_sync, int, other > v ? other : v)
IH_REDUCE(__reduce_and_sync, unsigned, v & other)
IH_REDUCE(__reduce_or_sync, unsigned, v | other)
IH_REDUCE(__reduce_xor_sync, unsigned, v ^ other)
#  undef IH_REDUCE
#endif

#endif
