/* SPDX-License-Identifier: Apache-2.0
 * accuracy_exact.c: the exact fit that the measures compare with, from the exact level in integers. */
#include "accuracy.h"

#include "common/fenv.h"
#include "common/row.h"
#include "cpu/exact.h"

#include <stdlib.h>
#include <string.h>

void exact_fit_free(exact_fit *e)
{
    free(e->offsets);
    free(e->starts);
    free(e->high);
    free(e->low);
    free(e->value);
    memset(e, 0, sizeof *e);
}

static double clip(const ih_problem *p, double z)
{
    const double least = p->dtype == IH_F32 ? (double)(float)p->y_min : p->y_min;
    const double most  = p->dtype == IH_F32 ? (double)(float)p->y_max : p->y_max;
    return z < least ? least : z > most ? most : z;
}

static ih_status solve_row(const ih_problem *p, int64_t r, exact_fit *e)
{
    const ih_row  row  = ih_row_of(p, r);
    const int64_t at   = ih_row_begin(p, r);
    int64_t      *starts = e->starts + e->blocks, blocks = 0;
    ih_status     st   = row.n ? ih_exact_solve(&row, NULL, starts, &blocks, NULL, NULL) : IH_OK;

    for (int64_t b = 0; st == IH_OK && b < blocks; ++b) {
        const int64_t end = b + 1 < blocks ? starts[b + 1] : row.n;
        ih_mean       mean;
        st = ih_exact_mean(&row, starts[b], end, &mean);
        e->high[e->blocks + b]  = mean.hi;
        e->low[e->blocks + b]   = mean.lo;
        e->value[e->blocks + b] = clip(p, mean.z);
    }
    for (int64_t b = 0; b < blocks; ++b) starts[b] += at;
    e->blocks += blocks;
    e->offsets[r + 1] = e->blocks;
    return st;
}

fault_kind exact_fit_make(const ih_problem *p, exact_fit *out, fault *f)
{
    const size_t room = (size_t)ih_problem_elements(p) + 1;
    ih_status    st   = IH_OK;

    memset(out, 0, sizeof *out);
    out->offsets = calloc((size_t)p->rows + 1, sizeof *out->offsets);
    out->starts  = malloc(room * sizeof *out->starts);
    out->high    = malloc(room * sizeof *out->high);
    out->low     = malloc(room * sizeof *out->low);
    out->value   = malloc(room * sizeof *out->value);
    if (!out->offsets || !out->starts || !out->high || !out->low || !out->value) st = IH_EMEMORY;
    if (st == IH_OK) {
        const ih_fenv saved = ih_fenv_enter();
        for (int64_t r = 0; st == IH_OK && r < p->rows; ++r) st = solve_row(p, r, out);
        ih_fenv_leave(saved);
    }
    if (st == IH_OK) return FAULT_NONE;
    exact_fit_free(out);
    if (st == IH_EMEMORY) return fault_set(f, FAULT_MEMORY, "memory ran out for the exact fit of %lld elements", (long long)room - 1);
    return fault_set(f, FAULT_LIBRARY, "the exact level failed: %s", ih_status_name(st));
}
