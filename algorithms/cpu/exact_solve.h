/* SPDX-License-Identifier: Apache-2.0
 * exact_solve.h: whole rows in integers: inside the exact level, and for callers with many rows. */
#ifndef IH_CPU_EXACT_SOLVE_H
#define IH_CPU_EXACT_SOLVE_H

#include "exact.h"
#include "round.h"

#include <stddef.h>

/* Memory that grows as the stack of a row does and is kept for the next row. Begin with { 0 }. */
typedef struct ih_exact_scratch {
    void  *stack, *limbs;
    size_t stack_bytes, limbs_bytes;
} ih_exact_scratch;

void ih_exact_scratch_free(ih_exact_scratch *scratch);

/* At least `needed` bytes at *at, contents kept; doubles. */
ih_status ih_exact_grow(void **at, size_t *bytes, size_t needed);

/* Where the results of a row go; all but starts may be NULL. */
typedef struct ih_exact_results {
    void    *z;
    int64_t *starts;
    double  *weights, *means;
} ih_exact_results;

/* As ih_exact_solve, with the memory given. */
ih_status ih_exact_solve_with(ih_exact_scratch *scratch, const ih_row *row, const ih_exact_results *to, int64_t *blocks);

/* The solver for any exponents. Nothing is written before all that it allocates is there. */
ih_status ih_exact_solve_wide(ih_exact_scratch *scratch, const ih_row *row, const ih_exact_results *to, int64_t *blocks);

/* Write the k-th block [a, b), whose mean in the caller's direction is +-quotient. */
void ih_exact_put_block(const ih_row *row, const ih_exact_results *to, int64_t k, int64_t a, int64_t b, ih_lead quotient,
                        int negative, double weight);

#endif
