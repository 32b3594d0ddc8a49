/* SPDX-License-Identifier: Apache-2.0
 *
 * The digest of a fit: XXH3-64 with seed 0 of z after the bounds as little-endian dtype with -0 as +0, then the block
 * starts as little-endian int64. Two fits are the same exactly when it is (up to the chance of 2^-64).
 */
#ifndef IH_HARNESS_IO_DIGEST_H
#define IH_HARNESS_IO_DIGEST_H

#include <stdint.h>

#include "isohull.h"

#define DIGEST_TEXT_BYTES 17

/* z [elements] of dtype, block_starts [blocks] as indices into the flattened y, rows in order. */
uint64_t digest_fit(ih_dtype dtype, const void *z, int64_t elements, const int64_t *block_starts, int64_t blocks);

/* 16 lower-case hexadecimal digits and a 0. */
void     digest_format(uint64_t digest, char text[DIGEST_TEXT_BYTES]);

#endif
