/* SPDX-License-Identifier: Apache-2.0
 *
 * XXH3-64 of a fit, in blocks of a few kilobytes in which zeros lose their sign and bytes get their order.
 */
#include "io/digest.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL /* the state can then live on the stack: nothing to allocate, nothing that can fail */
#include <xxhash.h>

#define BLOCK 1024

static void put_f32(XXH3_state_t *state, const float *z, int64_t n)
{
    uint32_t bits[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int count = n - i < BLOCK ? (int)(n - i) : BLOCK;
        for (int k = 0; k < count; k++) {
            memcpy(&bits[k], &z[i + k], sizeof bits[k]);
            bits[k] = htole32(bits[k] == 0x80000000u ? 0 : bits[k]);
        }
        XXH3_64bits_update(state, bits, (size_t)count * sizeof bits[0]);
    }
}

static void put_f64(XXH3_state_t *state, const double *z, int64_t n)
{
    uint64_t bits[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int count = n - i < BLOCK ? (int)(n - i) : BLOCK;
        for (int k = 0; k < count; k++) {
            memcpy(&bits[k], &z[i + k], sizeof bits[k]);
            bits[k] = htole64(bits[k] == (uint64_t)1 << 63 ? 0 : bits[k]);
        }
        XXH3_64bits_update(state, bits, (size_t)count * sizeof bits[0]);
    }
}

static void put_i64(XXH3_state_t *state, const int64_t *starts, int64_t n)
{
    uint64_t bits[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK) {
        const int count = n - i < BLOCK ? (int)(n - i) : BLOCK;
        for (int k = 0; k < count; k++) bits[k] = htole64((uint64_t)starts[i + k]);
        XXH3_64bits_update(state, bits, (size_t)count * sizeof bits[0]);
    }
}

uint64_t digest_fit(ih_dtype dtype, const void *z, int64_t elements, const int64_t *block_starts, int64_t blocks)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    if (dtype == IH_F32)
        put_f32(&state, z, elements);
    else
        put_f64(&state, z, elements);
    put_i64(&state, block_starts, blocks);
    return XXH3_64bits_digest(&state);
}

void digest_format(uint64_t digest, char text[DIGEST_TEXT_BYTES])
{
    snprintf(text, DIGEST_TEXT_BYTES, "%016llx", (unsigned long long)digest);
}
