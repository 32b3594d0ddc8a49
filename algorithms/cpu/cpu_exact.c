/* SPDX-License-Identifier: Apache-2.0
 * cpu_exact.c: the referee: every row is fitted in integers, by pooling adjacent violators. */
#include "backward.h"
#include "blocks.h"
#include "exact_solve.h"
#include "team.h"

#include "../common/error.h"
#include "../common/fenv.h"

#include <stdlib.h>

#ifdef _OPENMP
#  include <omp.h>
#endif

/* One row into the outputs; *starts is memory that is grown when the caller wants none. */
static ih_status fit_row(const ih_problem *p, const ih_outputs *out, int64_t r, ih_exact_scratch *scratch, void **starts, size_t *starts_bytes)
{
    const ih_row           row  = ih_row_of(p, r);
    const ih_row_blocks    own  = ih_row_blocks_of(p, out, r);
    const size_t           item = p->dtype == IH_F32 ? 4 : 8;
    ih_exact_results       to   = { out->z ? (char *)out->z + (size_t)ih_row_begin(p, r) * item : NULL, own.starts, own.weights, own.means };
    ih_status              st   = IH_OK;
    int64_t                blocks = 0;

    if (row.n > 0) {
        if (!to.starts) {
            IH_TRY(ih_exact_grow(starts, starts_bytes, (size_t)row.n * sizeof(int64_t)));
            to.starts = *starts;
        }
        IH_TRY(ih_exact_solve_with(scratch, &row, &to, &blocks));
        ih_clip(p, to.z, row.n);
    }
    if (out->block_offsets) out->block_offsets[r + 1] = blocks;
done:
    return st;
}

static ih_status fit(const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes, void *stream)
{
    ih_status result = IH_OK;

    (void)ws, (void)ws_bytes, (void)stream;
#ifdef _OPENMP
    int threads = o->threads > 0 ? o->threads : omp_get_num_procs();
    if (threads > p->rows) threads = p->rows > 0 ? (int)p->rows : 1;
    threads = ih_team_size(threads);
#  pragma omp parallel num_threads(threads) if (threads > 1)
#else
    (void)o;
#endif
    {
        const ih_fenv    saved        = ih_fenv_enter();
        ih_exact_scratch scratch      = { 0 };
        void            *starts       = NULL;
        size_t           starts_bytes = 0;
        ih_status        st           = IH_OK;
#ifdef _OPENMP
#  pragma omp for schedule(dynamic, 1)
#endif
        for (int64_t r = 0; r < p->rows; ++r)
            if (st == IH_OK) st = fit_row(p, out, r, &scratch, &starts, &starts_bytes);
        ih_exact_scratch_free(&scratch);
        free(starts);
        ih_fenv_leave(saved);
        if (st != IH_OK) {
#ifdef _OPENMP
#  pragma omp critical(ih_cpu_exact_status)
#endif
            result = st;
        }
    }
    if (result != IH_OK) return ih_set_error(result, IH_FAULT_NONE, NULL, -1, -1, "cpu_exact: no memory for the stack of a row");
    ih_blocks_gather(p, out);
    if (o->counters) o->counters->rows_exact += p->rows;
    return IH_OK;
}

const ih_impl ih_impl_cpu_exact = {
    .size        = sizeof(ih_impl),
    .abi_version = IH_ABI_VERSION,
    .device      = IH_DEVICE_CPU,
    .features    = IH_HAS_F32 | IH_HAS_F64 | IH_HAS_WEIGHTS | IH_HAS_RAGGED | IH_HAS_BLOCKS | IH_HAS_BOUNDS | IH_HAS_GRADIENT | IH_HAS_THREADS | IH_CANONICAL,
    .options     = IH_OPT_THREADS,
    .name        = "cpu_exact",
    .section     = "",
    .summary     = "the referee: pools adjacent violators in integers, one thread a row",
    .fit         = fit,
    .backward_workspace_bytes = ih_cpu_backward_workspace_bytes,
    .backward    = ih_cpu_backward,
};
