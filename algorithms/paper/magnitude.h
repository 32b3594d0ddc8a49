/* SPDX-License-Identifier: Apache-2.0
 * magnitude.h: orders of magnitude by integers, which cost less than doubles. */
#ifndef IH_PAPER_MAGNITUDE_H
#define IH_PAPER_MAGNITUDE_H

#include "../common/hd.h"

#include <stdint.h>
#include <string.h>

/* The upper half of |v|: its exponent, and some digits that do not change an order of exponents. */
IH_HD int32_t ih_magnitude(double v)
{
#if defined(__CUDA_ARCH__)
    return __double2hiint(v) & 0x7fffffff;
#else
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return (int32_t)(bits >> 32 & 0x7fffffff);
#endif
}

IH_HD int32_t ih_most(int32_t a, int32_t b) { return a > b ? a : b; }

#endif
