/* SPDX-License-Identifier: Apache-2.0
 * cpu_pav.c: the fastest serial solver: pool adjacent violators over what a vectorised filter leaves, decided exactly.
 *
 * A row goes through: sums of its chunks; a coarse hull whose chords rule out most boundaries (pav_scan.h); the exact
 * stack over what is left (pav_stack.h); one rounding a block (pav_write.h). Rows that need integers at every turn
 * (exact ties of long numbers, sums beyond the range) are solved by exact.h as a whole, so the time stays linear.
 */
#include "backward.h"
#include "blocks.h"
#include "pav.h"

#include "../batch/check.h"
#include "../common/error.h"

#include <math.h>
#include <stdlib.h>

/* ---- instruction sets ---- */

static int32_t isa_of_machine(void)
{
#if defined(PAV_WITH_AVX512)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) return IH_ISA_AVX512;
#endif
#if defined(PAV_WITH_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return IH_ISA_AVX2;
#endif
    return IH_ISA_BASE;
}

static pav_solver solver_of(ih_dtype dtype, int32_t isa)
{
#if defined(PAV_WITH_AVX512)
    if (isa == IH_ISA_AVX512) return dtype == IH_F32 ? pav_solve_f32_avx512 : pav_solve_f64_avx512;
#endif
#if defined(PAV_WITH_AVX2)
    if (isa == IH_ISA_AVX2) return dtype == IH_F32 ? pav_solve_f32_avx2 : pav_solve_f64_avx2;
#endif
    (void)isa;
    return dtype == IH_F32 ? pav_solve_f32_base : pav_solve_f64_base;
}

static ih_status supports(const ih_problem *p, const ih_options *o, const ih_outputs *out)
{
    (void)p, (void)out;
    if (o->isa > isa_of_machine())
        return ih_set_error(IH_EUNSUPPORTED, IH_FAULT_NONE, "isa", -1, -1, "cpu_pav: this machine or build lacks the instruction set asked for");
    return IH_OK;
}

/* ---- workspace: chunk records, coarse blocks, stack of the longest row ---- */

typedef struct layout { size_t chunks, coarse, stack, bytes; } layout;

static size_t aligned(size_t bytes) { return (bytes + IH_WORKSPACE_ALIGN - 1) / IH_WORKSPACE_ALIGN * IH_WORKSPACE_ALIGN; }

static layout layout_of(const ih_problem *p)
{
    int64_t longest = 0;
    layout  l;

    for (int64_t r = 0; r < (p->offsets ? p->rows : (p->rows > 0)); ++r) {
        const int64_t n = ih_row_length(p, r);
        longest         = n > longest ? n : longest;
    }
    const size_t n_chunks = (size_t)longest / PAV_CHUNK + 1;
    l.chunks = 0;
    l.coarse = aligned(l.chunks + n_chunks * sizeof(pav_chunk));
    l.stack  = aligned(l.coarse + n_chunks * sizeof(pav_coarse));
    l.bytes  = aligned(l.stack + ((size_t)longest / 3 * 2 + 4) * sizeof(pav_entry));
    return l;
}

static ih_status workspace_bytes(const ih_problem *p, const ih_options *o, const ih_outputs *out, size_t *bytes)
{
    (void)o, (void)out;
    *bytes = layout_of(p).bytes;
    return IH_OK;
}

/* ---- fit ---- */

void pav_decision_differs(pav_job *job, int64_t a, int64_t b, int64_t d)
{
    if (!job->differs) ih_set_error(IH_EINTERNAL, IH_FAULT_NONE, NULL, -1, a, "cpu_pav: a fast decision over [%lld, %lld, %lld) differs from the exact one",
                                    (long long)a, (long long)b, (long long)d);
    job->differs = 1;
}

/* The whole row by integers. */
static ih_status solve_exactly(const ih_problem *p, pav_job *job)
{
    int64_t  *starts = job->starts ? job->starts : malloc((size_t)job->row.n * sizeof(int64_t));
    ih_status st     = IH_EMEMORY;

    if (starts) st = ih_exact_solve(&job->row, job->z, starts, &job->blocks, job->weights, job->means);
    if (starts != job->starts) free(starts);
    if (st == IH_OK) ih_clip(p, job->z, job->row.n);
    return st;
}

static ih_status fit_row(const ih_problem *p, pav_solver solve, pav_job *job, int checked, int64_t *rows_exact)
{
    switch (solve(job)) {
    case PAV_DONE: return job->differs ? IH_EINTERNAL : IH_OK;
    case PAV_SUSPECT:
        if (!checked) {
            const ih_status st = ih_report_data(p, 0);
            if (st != IH_OK) return st;
        }
        break;
    case PAV_TIES: break;
    default: return IH_EMEMORY;
    }
    *rows_exact += 1;
    return job->differs ? IH_EINTERNAL : solve_exactly(p, job);
}

static void count(ih_counters *c, const pav_job *job, int64_t rows_exact)
{
    c->decisions_filter += job->decisions_filter;
    c->decisions_pair += job->decisions_pair;
    c->decisions_exact += job->decisions_exact;
    c->roundings_filter += job->roundings_filter;
    c->roundings_exact += job->roundings_exact;
    c->elements_exact += job->elements_exact;
    c->rows_exact += rows_exact;
}

static ih_status fit(const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes, void *stream)
{
    const layout     l     = layout_of(p);
    const pav_solver solve = solver_of(p->dtype, o->isa == IH_ISA_AUTO ? isa_of_machine() : o->isa);
    const size_t     item  = p->dtype == IH_F32 ? 4 : 8;
    const int64_t    total = ih_problem_elements(p);
    /* One long row checks its values on its way, before it writes; else a row could be written before a later one fails. */
    const int checked    = !(p->rows == 1 && p->n >= PAV_SHORT);
    int64_t   rows_exact = 0;
    pav_job   job        = { 0 };
    ih_status st         = IH_OK;

    (void)ws_bytes, (void)stream;
    if (checked) IH_TRY(ih_check_data(p));
    job.y_min        = p->y_min;
    job.y_max        = p->y_max;
    job.chunks       = (pav_chunk *)(void *)((char *)ws + l.chunks);
    job.coarse       = (pav_coarse *)(void *)((char *)ws + l.coarse);
    job.stack        = (pav_entry *)(void *)((char *)ws + l.stack);
    job.streaming    = (size_t)total * item >= (size_t)16 << 20;
    job.count_blocks = out->block_offsets != NULL;
    for (int64_t r = 0; r < p->rows; ++r) {
        const ih_row_blocks own = ih_row_blocks_of(p, out, r);
        job.row     = ih_row_of(p, r);
        job.z       = out->z ? (char *)out->z + (size_t)ih_row_begin(p, r) * item : NULL;
        job.starts  = own.starts;
        job.weights = own.weights;
        job.means   = own.means;
        job.blocks  = 0;
        if (job.row.n > 0) IH_TRY(fit_row(p, solve, &job, checked, &rows_exact));
        if (out->block_offsets) out->block_offsets[r + 1] = job.blocks;
    }
    ih_blocks_gather(p, out);
    if (o->counters) count(o->counters, &job, rows_exact);
done:
    if (st == IH_EMEMORY) ih_set_error(st, IH_FAULT_NONE, NULL, -1, -1, "cpu_pav: no memory for an exact decision");
    return st;
}

const ih_impl ih_impl_cpu_pav = {
    .size        = sizeof(ih_impl),
    .abi_version = IH_ABI_VERSION,
    .device      = IH_DEVICE_CPU,
    .features    = IH_HAS_F32 | IH_HAS_F64 | IH_HAS_WEIGHTS | IH_HAS_RAGGED | IH_HAS_BLOCKS | IH_HAS_BOUNDS | IH_HAS_GRADIENT | IH_CANONICAL
                   | IH_CHECKS_DATA,
    .options     = IH_OPT_ISA,
    .name        = "cpu_pav",
    .section     = "",
    .summary     = "the fastest serial code: vectorised filter, then pool adjacent violators with exact decisions",
    .supports    = supports,
    .workspace_bytes          = workspace_bytes,
    .fit                      = fit,
    .backward_workspace_bytes = ih_cpu_backward_workspace_bytes,
    .backward                 = ih_cpu_backward,
};
