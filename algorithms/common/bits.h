/* SPDX-License-Identifier: Apache-2.0
 * bits.h: positions of set bits. */
#ifndef IH_COMMON_BITS_H
#define IH_COMMON_BITS_H

#include "hd.h"

#include <stdint.h>

/* Highest and lowest set bit of a word that is not 0, and the number of set bits. */
IH_HD int32_t ih_bit_high(uint32_t v)
{
#if defined(__CUDA_ARCH__)
    return 31 - __clz((int)v);
#else
    return 31 - __builtin_clz(v);
#endif
}

IH_HD int32_t ih_bit_low(uint32_t v)
{
#if defined(__CUDA_ARCH__)
    return __ffs((int)v) - 1;
#else
    return __builtin_ctz(v);
#endif
}

IH_HD int32_t ih_bit_count(uint32_t v)
{
#if defined(__CUDA_ARCH__)
    return __popc(v);
#else
    return __builtin_popcount(v);
#endif
}

#endif
