/* SPDX-License-Identifier: Apache-2.0
 * backward.c: the backward pass over threads. A block's gradient depends on its own elements only, so the blocks of all
 * rows are one list, and any division of it gives the same bits. */
#include "backward.h"
#include "exact_backward.h"
#include "team.h"

#include "../common/fenv.h"

#ifdef _OPENMP
#  include <omp.h>
#endif

ih_status ih_cpu_backward_workspace_bytes(const ih_problem *p, const ih_options *o, const ih_gradient *gradient, size_t *bytes)
{
    (void)p, (void)o, (void)gradient;
    *bytes = 0;
    return IH_OK;
}

ih_status ih_cpu_backward(const ih_problem *p, const ih_options *o, const ih_gradient *gradient, void *ws, size_t ws_bytes, void *stream)
{
    const int64_t         blocks = gradient->block_offsets[p->rows], share = 1024; /* blocks a thread takes at once */
    const int64_t         shares = (blocks + share - 1) / share;
    const ih_row          all    = { p->y, p->w, ih_problem_elements(p), p->dtype, 1 };
    const ih_backward_row r      = { all, p->y_min, p->y_max, gradient->g, gradient->grad_y, gradient->grad_w };

    (void)ws, (void)ws_bytes, (void)stream;
#ifdef _OPENMP
    int threads = all.n <= 65536 ? 1 : o->threads > 0 ? o->threads : omp_get_num_procs();
    if (threads > shares) threads = shares > 0 ? (int)shares : 1;
    threads = ih_team_size(threads);
#  pragma omp parallel num_threads(threads) if (threads > 1)
#else
    (void)o;
#endif
    {
        const ih_fenv saved = ih_fenv_enter();
#ifdef _OPENMP
#  pragma omp for schedule(dynamic, 1)
#endif
        for (int64_t k = 0; k < shares; ++k)
            ih_backward_blocks(&r, gradient->block_starts, k * share, k + 1 < shares ? (k + 1) * share : blocks, blocks);
        ih_fenv_leave(saved);
    }
    return IH_OK;
}
