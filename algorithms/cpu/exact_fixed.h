/* SPDX-License-Identifier: Apache-2.0
 * exact_fixed.h: rows whose sums fit a few limbs, as those of ordinary data do: a common fixed point for the row. */
#ifndef IH_CPU_EXACT_FIXED_H
#define IH_CPU_EXACT_FIXED_H

#include "exact_solve.h"

/* Sums of sign w y are integers times 2^s_low of at most s_bits with the sign, sums of w times 2^w_low of w_bits. */
typedef struct ih_fixed_point { int32_t s_low, s_bits, w_low, w_bits; } ih_fixed_point;

enum { IH_FIXED_S_BITS = 256, IH_FIXED_W_BITS = 128 }; /* beyond: ih_exact_solve_wide */

ih_fixed_point ih_fixed_point_of(const ih_row *row);

ih_status ih_exact_solve_fixed(ih_exact_scratch *scratch, const ih_row *row, ih_fixed_point fp, const ih_exact_results *to, int64_t *blocks);

#endif
