/* SPDX-License-Identifier: Apache-2.0
 * hd.h: IH_HD marks a function that is written once and compiled for host and device. */
#ifndef IH_COMMON_HD_H
#define IH_COMMON_HD_H

#if defined(__CUDACC__)
#  define IH_HD static __host__ __device__ __forceinline__
#else
#  define IH_HD static inline
#endif

#endif
