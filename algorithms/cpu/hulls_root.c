/* SPDX-License-Identifier: Apache-2.0
 * hulls_root.c: reconstruction (paper 3.4): edges between segments are computed once and read by all chunks; then each
 * chunk finds its segment in the root list and writes its elements and the blocks that begin at its vertices. */
#include "hulls.h"

#include "../common/fenv.h"

#ifdef _OPENMP
#  include <omp.h>
#endif

/* Numbers of the blocks that begin at each segment's first vertex, and of all. */
static void rank_row(hulls *h, hulls_row *row)
{
    const ih_segment *list  = h->segment + row->chunk0;
    int64_t          *rank  = h->rank + row->chunk0;
    int64_t           count = 0;

    row->segments = h->length[row->chunk0];
    for (int64_t k = 0; k < row->segments; ++k) {
        rank[k] = count;
        count += list[k].last - list[k].first + 1;
    }
    if (h->out->block_offsets) h->out->block_offsets[row->row + 1] = count - 1; /* no block begins at the row's end */
}

static void find_edge(hulls *h, hulls_worker *w, const hulls_row *row, int64_t k)
{
    const ih_store    s    = hulls_store(h, row);
    const ih_segment *list = h->segment + row->chunk0;
    const int64_t     a = ih_store_index(&s, &list[k], list[k].last), b = ih_store_index(&s, &list[k + 1], list[k + 1].first);
    ih_edge          *e = &h->edge[row->chunk0 + k];

    hulls_take_row(h, w, row->row);
    if (b - a == 1) {
        e->z = e->mean = ih_load(s.values.y, a, h->kind) + 0.0;
        e->weight      = s.values.w ? ih_load(s.values.w, a, h->kind) : 1.0;
    } else {
        const ih_point from = ih_store_vertex(&s, &list[k], list[k].last), to = ih_store_vertex(&s, &list[k + 1], list[k + 1].first);
        const ih_block sum = ih_block_between(&from, &to);
        hulls_settle(h, w, a, b, &sum, e);
    }
}

/* How many edges from vertex v on, within the segment, are of one element each. */
static int32_t consecutive(const ih_store *s, const ih_segment *own, int32_t v)
{
    const int32_t first = v, position = ih_store_position(s, own->slot, v);
    while (v < own->last && ih_store_position(s, own->slot, v + 1) == position + (v + 1 - first)) ++v;
    return v - first;
}

static void write_chunk(hulls *h, hulls_worker *w, const hulls_row *row, int64_t j)
{
    const ih_store     s     = hulls_store(h, row);
    const ih_segment  *list  = h->segment + row->chunk0;
    const int64_t      begin = j * h->size, end = row->n - begin < h->size ? row->n : begin + h->size;
    const int64_t      k     = ih_root_find(list, row->segments, j);
    const hulls_target t     = hulls_target_of(h, row->row);
    const ih_edge     *edges = h->edge + row->chunk0;
    const ih_segment  *own   = &list[k];
    int64_t            block = h->rank[row->chunk0 + k], at;

    hulls_take_row(h, w, row->row);
    if (own->chunk != j) { /* an edge spans the chunk */
        hulls_fill(h, &t, begin, end, edges[k].z);
        return;
    }
    at = ih_store_index(&s, own, own->first);
    if (begin < at) hulls_fill(h, &t, begin, at, edges[k - 1].z);
    for (int32_t v = own->first; v < own->last;) {
        const int32_t run  = consecutive(&s, own, v);
        const int64_t next = ih_store_index(&s, own, v + (run > 0 ? run : 1));
        if (run > 0) hulls_write_singles(h, w, &t, at, next, block);
        else hulls_write_block(h, w, &t, at, next, block);
        v += run > 0 ? run : 1;
        block += run > 0 ? run : 1;
        at = next;
    }
    if (k + 1 == row->segments) return; /* the row ends at this segment's last vertex */
    hulls_put_block(h, &t, block, at, &edges[k]);
    if (at < end) hulls_fill(h, &t, at, end, edges[k].z);
}

void hulls_reconstruct_stage(hulls *h)
{
    const int64_t grain = 4096 / h->size + 1;

#ifdef _OPENMP
#  pragma omp parallel num_threads(h->threads)
#endif
    {
        const ih_fenv saved = ih_fenv_enter();
#ifdef _OPENMP
        hulls_worker *w = &h->worker[omp_get_thread_num()];
#  pragma omp for schedule(dynamic, 1)
#else
        hulls_worker *w = h->worker;
#endif
        for (int64_t r = 0; r < h->rows; ++r) {
            if (h->row[r].given_up) hulls_solve_exactly(h, w, h->row[r].row);
            else rank_row(h, &h->row[r]);
        }
#ifdef _OPENMP
#  pragma omp for schedule(dynamic, 16)
#endif
        for (int64_t k = 0; k < h->chunks; ++k) {
            const hulls_row *row = hulls_row_of_chunk(h, k);
            if (!row->given_up && k - row->chunk0 + 1 < row->segments) find_edge(h, w, row, k - row->chunk0);
        }
#ifdef _OPENMP
#  pragma omp for schedule(dynamic, grain)
#endif
        for (int64_t k = 0; k < h->chunks; ++k) {
            const hulls_row *row = hulls_row_of_chunk(h, k);
            if (!row->given_up) write_chunk(h, w, row, k - row->chunk0);
        }
        ih_fenv_leave(saved);
    }
    (void)grain;
}
