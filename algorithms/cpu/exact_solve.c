/* SPDX-License-Identifier: Apache-2.0
 * exact_solve.c: a whole row in integers: which solver, its memory, and what it writes. */
#include "exact_solve.h"

#include "exact_fixed.h"

#include "../common/error.h"

#include <stdlib.h>

void ih_exact_scratch_free(ih_exact_scratch *scratch)
{
    free(scratch->stack);
    free(scratch->limbs);
    memset(scratch, 0, sizeof *scratch);
}

ih_status ih_exact_grow(void **at, size_t *bytes, size_t needed)
{
    size_t size = *bytes < 4096 ? 4096 : *bytes;
    void  *grown;

    if (needed <= *bytes) return IH_OK;
    while (size < needed) {
        if (size > SIZE_MAX / 2) return ih_set_error(IH_EMEMORY, IH_FAULT_NONE, NULL, -1, -1, "exact level: no memory for %zu bytes", needed);
        size *= 2;
    }
    grown = realloc(*at, size);
    if (!grown) return ih_set_error(IH_EMEMORY, IH_FAULT_NONE, NULL, -1, -1, "exact level: no memory for %zu bytes", size);
    *at    = grown;
    *bytes = size;
    return IH_OK;
}

static void fill(void *z, ih_dtype dtype, int64_t a, int64_t b, double v)
{
    if (dtype == IH_F32) {
        for (int64_t i = a; i < b; ++i) ((float *)z)[i] = (float)v;
    } else {
        for (int64_t i = a; i < b; ++i) ((double *)z)[i] = v;
    }
}

void ih_exact_put_block(const ih_row *row, const ih_exact_results *to, int64_t k, int64_t a, int64_t b, ih_lead quotient,
                        int negative, double weight)
{
    to->starts[k] = a;
    if (quotient.q == 0) negative = 0; /* an exact zero is +0 */
    if (to->weights) to->weights[k] = weight;
    if (to->means) to->means[k] = ih_round_lead(quotient, negative, 53, -1074);
    if (to->z) fill(to->z, row->dtype, a, b, ih_round_lead_to(quotient, negative, row->dtype));
}

ih_status ih_exact_solve_with(ih_exact_scratch *scratch, const ih_row *row, const ih_exact_results *to, int64_t *blocks)
{
    ih_fixed_point fp;

    *blocks = 0;
    if (row->n == 0) return IH_OK;
    fp = ih_fixed_point_of(row);
    if (fp.s_bits > IH_FIXED_S_BITS || fp.w_bits > IH_FIXED_W_BITS) return ih_exact_solve_wide(scratch, row, to, blocks);
    return ih_exact_solve_fixed(scratch, row, fp, to, blocks);
}

ih_status ih_exact_solve(const ih_row *row, void *z, int64_t *starts, int64_t *blocks, double *weights, double *means)
{
    const ih_exact_results to      = { z, starts, weights, means };
    ih_exact_scratch       scratch = { 0 };
    const ih_status        st      = ih_exact_solve_with(&scratch, row, &to, blocks);

    ih_exact_scratch_free(&scratch);
    return st;
}
