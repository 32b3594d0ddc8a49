/* SPDX-License-Identifier: Apache-2.0
 * hulls_tree.c: the tree over chunks, a level at a time (paper 3.3, Algorithm 1; the schedule rule of its section 5). */
#include "hulls.h"

#include "../common/fenv.h"

#ifdef _OPENMP
#  include <omp.h>
#endif

static void merge_nodes(hulls *h, hulls_worker *w, const hulls_row *row, int64_t merge, int32_t level, ih_merge_rule rule)
{
    const ih_store s     = hulls_store(h, row);
    const int64_t  left  = merge << (level + 1), right = left + ((int64_t)1 << level);
    const int64_t  end   = right + ((int64_t)1 << level) < row->chunks ? right + ((int64_t)1 << level) : row->chunks;
    const int64_t  stop  = end * h->size < row->n ? end * h->size : row->n, elements = stop - left * h->size;
    ih_segment    *lists = h->segment + row->chunk0;
    int32_t       *sizes = h->length + row->chunk0;
    const int64_t  moved = w->merge.moved;
    int64_t        rounds;

    hulls_unit_begin(h, w, row->row, elements);
    sizes[left] = (int32_t)ih_merge_lists(&s, &w->judge, lists + left, sizes[left], lists + right, sizes[right], rule, &w->merge);
    rounds      = w->merge.moved - moved;
    if (rule.warp) rounds = (rounds + IH_WARP - 1) / IH_WARP;
    if (rounds > w->longest_move) w->longest_move = rounds;
    hulls_unit_end(h, w, row, elements);
}

/* The row of a merge, by the numbers of merges before each row. */
static const hulls_row *row_of_merge(const hulls *h, int64_t merge)
{
    int64_t lo = 0, hi = h->rows;
    while (hi - lo > 1) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (h->row[mid].merges <= merge) lo = mid;
        else hi = mid;
    }
    return &h->row[lo];
}

void hulls_merge_level(hulls *h, int32_t level)
{
    int64_t       merges = 0, longest = 0, grain;
    ih_merge_rule rule;

    for (int64_t k = 0; k < h->rows; ++k) {
        h->row[k].merges = merges;
        merges += ih_tree_merges(h->row[k].chunks, level);
    }
    rule.warp     = merges < h->o->thread_merges;
    rule.walk_cap = h->o->walk_cap;
    grain         = merges / (16 * h->threads) + 1;
    if (grain > 64) grain = 64;
#ifdef _OPENMP
#  pragma omp parallel num_threads(h->threads) if (merges > 1)
#endif
    {
        const ih_fenv saved = ih_fenv_enter();
#ifdef _OPENMP
        hulls_worker *w = &h->worker[omp_get_thread_num()];
#else
        hulls_worker *w = h->worker;
#endif
        w->longest_move = 0;
#ifdef _OPENMP
#  pragma omp for schedule(dynamic, grain)
#endif
        for (int64_t k = 0; k < merges; ++k) {
            const hulls_row *row = row_of_merge(h, k);
            if (!row->given_up) merge_nodes(h, w, row, k - row->merges, level, rule);
        }
        ih_fenv_leave(saved);
    }
    for (int32_t t = 0; t < h->threads; ++t) {
        if (h->worker[t].longest_move > longest) longest = h->worker[t].longest_move;
        h->worker[t].longest_move = 0;
    }
    h->worker[0].counters.move_rounds += longest;
}
