/* SPDX-License-Identifier: Apache-2.0
 * counter.h: counter-based random numbers, a hash of (seed, row, stream, index), for host and device.
 *
 * There is no state: draw k of a row is a function of its key and k alone, so data can be made in parallel and in any
 * slice. The hash is two rounds of a 64-bit finalizer (the variant-13 constants of SplitMix64) with a key word added
 * before each round; one round over a Weyl sequence passes the usual test batteries, the second keeps the rows of one
 * seed from being shifted copies of one sequence. */
#ifndef IH_DATASETS_COUNTER_H
#define IH_DATASETS_COUNTER_H

#include <stdint.h>

#include "common/hd.h"

typedef struct ih_key { uint64_t first, second; } ih_key;

enum { IH_STREAM_Y = 1, IH_STREAM_W = 2, IH_STREAM_LENGTH = 3 };

IH_HD uint64_t ih_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#define IH_GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* odd, 2^64 over the golden ratio: the Weyl step of SplitMix64 */

IH_HD ih_key ih_make_key(uint64_t seed, uint64_t row, uint64_t stream)
{
    ih_key         key;
    const uint64_t of_seed = ih_mix64(seed + IH_GOLDEN);
    const uint64_t of_row  = ih_mix64(of_seed ^ (row * IH_GOLDEN + stream));
    key.first  = ih_mix64(of_row + IH_GOLDEN);
    key.second = ih_mix64(of_row + 2 * IH_GOLDEN);
    return key;
}

IH_HD uint64_t ih_draw(ih_key key, uint64_t k)
{
    return ih_mix64(ih_mix64(key.first + k * IH_GOLDEN) + key.second);
}

/* Uniform in (0, 1): the 2^52 midpoints (j + 1/2) 2^-52. All are exact, neither 0, 1/2 nor 1 is among them, and u and
 * 1 - u are equally likely. */
IH_HD double ih_uniform(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

/* A whole number below bound (at least 1). The bias is below bound / 2^64. */
IH_HD uint64_t ih_below(uint64_t bits, uint64_t bound) { return bits % bound; }

#endif
