/* SPDX-License-Identifier: Apache-2.0
 * cpu_hulls.c: the paper's method on threads of the CPU: hulls of lanes and chunks, a tree of segment lists, and the fit
 * read off the root list. Its stages are functions shared with devices (lane/, chunk/, thread/, row/).
 *
 * The sums of a row are the diagram P_k = (sum of w, sum of w y) of the elements before k; the fit over element i is the
 * slope of the diagram's lower hull there (paper 2). Every decision and rounding is exact (common/turn.h, common/mean.h,
 * hulls_exact.c), so that neither chunk size, schedule nor threads change a bit of the fit. */
#include "backward.h"
#include "hulls.h"

#include "blocks.h"
#include "team.h"

#include "../batch/check.h"
#include "../common/error.h"

static ih_status workspace_bytes(const ih_problem *p, const ih_options *o, const ih_outputs *out, size_t *bytes)
{
    hulls h;

    hulls_shape(&h, p, o, out);
    *bytes = hulls_layout(&h, NULL);
    return IH_OK;
}

static void hook(const hulls *h, const char *stage, int32_t level, int32_t begin, void *stream)
{
    if (h->o->hook) h->o->hook(h->o->hook_user, stage, level, begin, stream);
}

/* The first failure in the order of workers: memory for the exact level, or a decision of the debug build. */
static ih_status report(const hulls *h)
{
    for (int32_t t = 0; t < h->threads; ++t) {
        const hulls_worker *w = &h->worker[t];
        if (w->status == IH_EINTERNAL)
            return ih_set_error(IH_EINTERNAL, IH_FAULT_NONE, NULL, -1, -1, "cpu_hulls: %s", w->fault);
        if (w->status != IH_OK) return ih_set_error(w->status, IH_FAULT_NONE, NULL, -1, -1, "cpu_hulls: no memory for the exact level");
    }
    return IH_OK;
}

static ih_status fit(const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes, void *stream)
{
    hulls     h;
    ih_status st = IH_OK;

    hulls_shape(&h, p, o, out);
    h.threads = ih_team_size(h.threads);
    while (hulls_layout(&h, NULL) > ws_bytes && h.threads > 1) --h.threads; /* threads = 0 may mean more now than at the query */
    hulls_layout(&h, ws);
    for (int32_t t = 0; t < h.threads; ++t) hulls_worker_init(&h, t);
    hulls_list_rows(&h);

    /* Rows of one chunk are written as they are read, so their values are looked at before. The chunk stage of longer
     * rows writes no output and sees every value: a pass less. */
    if (h.rows < p->rows) IH_TRY(ih_check_data(p));
    hook(&h, "chunk", 0, 1, stream);
    hulls_chunk_stage(&h);
    hulls_review(&h);
    hook(&h, "chunk", 0, 0, stream);
    for (int32_t t = 0; t < h.threads; ++t)
        if (h.worker[t].suspect) IH_TRY(ih_check_data(p));

    hook(&h, "scan", 0, 1, stream);
    hulls_scan_stage(&h);
    hook(&h, "scan", 0, 0, stream);

    for (int32_t level = 0; level < h.levels; ++level) {
        hook(&h, "merge", level, 1, stream);
        hulls_merge_level(&h, level);
        hulls_review(&h);
        hook(&h, "merge", level, 0, stream);
        if (o->counters) hulls_count_level(&h, level);
    }

    hook(&h, "reconstruct", 0, 1, stream);
    hulls_reconstruct_stage(&h);
    ih_blocks_gather(p, out);
    hook(&h, "reconstruct", 0, 0, stream);

    if (o->counters) hulls_count_all(&h);
    st = report(&h);
done:
    return st;
}

const ih_impl ih_impl_cpu_hulls = {
    .size            = sizeof(ih_impl),
    .abi_version     = IH_ABI_VERSION,
    .device          = IH_DEVICE_CPU,
    .features        = IH_HAS_F32 | IH_HAS_F64 | IH_HAS_WEIGHTS | IH_HAS_RAGGED | IH_HAS_BLOCKS | IH_HAS_BOUNDS | IH_HAS_GRADIENT | IH_HAS_THREADS
                       | IH_CANONICAL | IH_CHECKS_DATA,
    .options         = IH_OPT_THREADS | IH_OPT_CHUNK | IH_OPT_WALK_CAP | IH_OPT_THREAD_MERGES,
    .name            = "cpu_hulls",
    .section         = "3",
    .summary         = "the paper's method on CPU threads: lane and chunk hulls, a tree of segment lists",
    .workspace_bytes = workspace_bytes,
    .fit             = fit,
    .backward_workspace_bytes = ih_cpu_backward_workspace_bytes,
    .backward                 = ih_cpu_backward,
};
