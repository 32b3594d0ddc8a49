/* SPDX-License-Identifier: Apache-2.0
 * rng.h: the random numbers of the tests (splitmix64): a seed gives the same numbers everywhere. */
#ifndef TESTS_RNG_H
#define TESTS_RNG_H

#include <stdint.h>

typedef struct rng { uint64_t state; } rng;

static inline uint64_t rng_next(rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline rng rng_seeded(uint64_t seed)
{
    rng r = { seed };
    r.state = rng_next(&r); /* neighbouring seeds give unrelated streams */
    return r;
}

/* 0 .. n - 1; n > 0. The bias of the remainder does not matter here. */
static inline int64_t rng_below(rng *r, int64_t n) { return (int64_t)(rng_next(r) % (uint64_t)n); }

static inline double rng_unit(rng *r) { return (double)(rng_next(r) >> 11) * 0x1p-53; }

/* Nearly normal: the sum of 4 uniforms, mean 0, variance 1/3. */
static inline double rng_bell(rng *r) { return rng_unit(r) + rng_unit(r) + rng_unit(r) + rng_unit(r) - 2; }

static inline int rng_one_in(rng *r, int64_t n) { return rng_below(r, n) == 0; }

#endif
