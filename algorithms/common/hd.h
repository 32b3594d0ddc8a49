/* SPDX-License-Identifier: Apache-2.0
 * hd.h: marks functions that are written once and compiled for host and device. */
#ifndef IH_COMMON_HD_H
#define IH_COMMON_HD_H

/* IH_HD         an ordinary inline function
 * IH_HD_FORCED  inlined whatever its size: it is compiled for each value of its constant arguments
 * IH_HD_SLOW    a rare path, kept out of line and out of the registers of the fast ones */
#if defined(__CUDACC__)
#  define IH_HD static __host__ __device__ __forceinline__
#  define IH_HD_FORCED static __host__ __device__ __forceinline__
#  define IH_HD_SLOW static __host__ __device__ __noinline__
#else
#  define IH_HD static inline
#  define IH_HD_FORCED static inline __attribute__((always_inline))
#  define IH_HD_SLOW static __attribute__((noinline, unused))
#endif

/* v = 0 .. 2^31 - 1 as a double. A device adds faster than it converts. */
IH_HD double ih_small_double(int v)
{
#if defined(__CUDA_ARCH__)
    return __hiloint2double(0x43300000, v) - 0x1p52;
#else
    return (double)v;
#endif
}

/* v = 0 .. 2^52 - 1 likewise. */
IH_HD double ih_index_double(long long v)
{
#if defined(__CUDA_ARCH__)
    return __longlong_as_double(0x4330000000000000ll | v) - 0x1p52;
#else
    return (double)v;
#endif
}

#endif
