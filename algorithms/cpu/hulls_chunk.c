/* SPDX-License-Identifier: Apache-2.0
 * hulls_chunk.c: the chunk stage (paper 3.1, 3.2): prefix sums, lane hulls, joins; then, for a row of several chunks, the
 * vertices into the chunk's slot, and for a row of one chunk the fit itself. And the scan of chunk totals. */
#include "hulls.h"

#include "../common/fenv.h"

#ifdef _OPENMP
#  include <omp.h>
#endif

/* The hull of elements begin .. begin + n - 1 of the worker's row as masks. 0: out of range. */
IH_HD_FORCED int32_t build(hulls_worker *w, const ih_values *v, ih_pair *stops, int32_t kind)
{
    ih_chunk *c = &w->chunk;

    if (!ih_chunk_sums(c, v, stops, IH_STOP_STRIDE, kind)) return 0;
    ih_chunk_rise(c, v, kind);
    for (int32_t l = 0; l < ih_chunk_lanes(c->n); ++l) c->mask[l] = ih_lane_hull(c, &w->judge, l, 0, kind);
    for (int32_t l = 0; l < ih_chunk_lanes(c->n); ++l) w->counters.vertices[0] += ih_bit_count(c->mask[l]);
    ++w->counters.vertices[0]; /* the end of the chunk has no bit */
    ++w->counters.chunks;
    ih_chunk_join_lanes(c, &w->judge, &w->lane_walk, kind);
    return 1;
}

static int32_t build_hull(hulls_worker *w, const ih_values *v, int64_t begin, int32_t n, ih_pair *stops)
{
    w->chunk.begin = begin;
    w->chunk.n     = n;
    switch (v->kind) {
    case 0: return build(w, v, stops, 0);
    case IH_KIND_F32: return build(w, v, stops, IH_KIND_F32);
    case IH_KIND_WEIGHTED: return build(w, v, stops, IH_KIND_WEIGHTED);
    default: return build(w, v, stops, IH_KIND_F32 | IH_KIND_WEIGHTED);
    }
}

static void chunk_of_row(hulls *h, hulls_worker *w, int64_t chunk)
{
    const hulls_row *row   = hulls_row_of_chunk(h, chunk);
    const ih_store   s     = hulls_store(h, row);
    const int64_t    j     = chunk - row->chunk0, begin = j * h->size;
    const int32_t    n     = (int32_t)(row->n - begin < h->size ? row->n - begin : h->size);
    const int64_t    slot  = ih_store_slot(&s, j);
    ih_segment      *leaf  = &h->segment[chunk];
    ih_chunk_record *rec   = &h->record[chunk];
    ih_chunk        *c     = &w->chunk;
    int32_t          count = 0;

    hulls_unit_begin(h, w, row->row, n);
    if (!build_hull(w, &s.values, begin, n, ih_store_stops(&s, j))) {
        w->failed = w->suspect = 1;
    } else {
        for (int32_t l = 0; l < ih_chunk_lanes(n); ++l)
            for (uint32_t bits = c->mask[l]; bits; bits &= bits - 1) ih_store_put(&s, slot, count++, 32 * l + ih_bit_low(bits));
        ih_store_put(&s, slot, count++, n);
        rec->y.hi = c->y[n];
        rec->y.lo = c->y_lo[n];
        rec->x.hi = c->x ? c->x[n] : (double)n;
        rec->x.lo = c->x ? c->x_lo[n] : 0.0;
    }
    rec->lost_y      = c->lost_y;
    rec->lost_x      = c->lost_x;
    rec->vertices    = count;
    leaf->chunk      = (int32_t)j;
    leaf->first      = 0;
    leaf->last       = count - 1;
    leaf->slot       = slot;
    h->length[chunk] = 1;
    w->counters.vertices[1] += count;
    hulls_unit_end(h, w, row, n);
}

/* A row of at most one chunk: its fit. */
static void whole_row(hulls *h, hulls_worker *w, int64_t r)
{
    const int64_t n = ih_row_length(h->p, r);
    hulls_target  t;
    ih_values     v;
    int64_t       blocks = 0, start = 0;

    if (n == 0) {
        if (h->out->block_offsets) h->out->block_offsets[r + 1] = 0;
        return;
    }
    hulls_unit_begin(h, w, r, n);
    t      = hulls_target_of(h, r);
    v.y    = w->row.y;
    v.w    = w->row.w;
    v.sign = (double)w->row.sign;
    v.kind = h->kind;
    if (!build_hull(w, &v, 0, (int32_t)n, NULL) || w->failed) {
        hulls_solve_exactly(h, w, r);
        return;
    }
    while (start < n) {
        const int64_t end = ih_mask_after(w->chunk.mask, (int32_t)start, (int32_t)n);
        if (end - start == 1) hulls_write_singles(h, w, &t, start, end, blocks++);
        else hulls_write_block(h, w, &t, start, end, blocks++);
        start = end;
    }
    w->counters.vertices[1] += blocks + 1;
    if (h->out->block_offsets) h->out->block_offsets[r + 1] = blocks;
}

void hulls_chunk_stage(hulls *h)
{
    const int64_t rows = h->p->rows, total = ih_problem_elements(h->p);
    const int64_t grain = rows > 0 && total > 0 ? 4096 / (total / rows + 1) + 1 : 1; /* rows a thread takes at a time */
    const int64_t chunk_grain = 4096 / h->size + 1;

#ifdef _OPENMP
#  pragma omp parallel num_threads(h->threads)
#endif
    {
        const ih_fenv saved = ih_fenv_enter();
#ifdef _OPENMP
        hulls_worker *w = &h->worker[omp_get_thread_num()];
#  pragma omp for schedule(dynamic, chunk_grain) nowait
#else
        hulls_worker *w = h->worker;
#endif
        for (int64_t k = 0; k < h->chunks; ++k) chunk_of_row(h, w, k);
#ifdef _OPENMP
#  pragma omp for schedule(dynamic, grain)
#endif
        for (int64_t r = 0; r < rows; ++r)
            if (ih_row_length(h->p, r) <= h->size) whole_row(h, w, r);
        ih_fenv_leave(saved);
    }
    (void)grain, (void)chunk_grain;
}

/* Totals of chunks become starts, one row after the other: m pair additions, a thousandth of the elements. */
static void scan_row(hulls *h, hulls_row *row)
{
    ih_chunk_record *rec    = h->record + row->chunk0;
    const ih_pair    zero   = { 0, 0 };
    ih_pair          y      = zero, x = zero;
    double           lost_y = 0, lost_x = 0;

    for (int64_t j = 0; j < row->chunks; ++j) {
        const ih_pair own_y = rec[j].y, own_x = rec[j].x;
        rec[j].y = y;
        rec[j].x = x;
        y        = ih_pair_add(y, own_y, &lost_y);
        lost_y += rec[j].lost_y;
        if (h->kind & IH_KIND_WEIGHTED) {
            x = ih_pair_add(x, own_x, &lost_x);
            lost_x += rec[j].lost_x;
        }
    }
    row->lost_y0 = lost_y * (1 + 0x1p-20); /* rounded itself, at most 2^31 times */
    row->lost_x0 = lost_x * (1 + 0x1p-20);
}

void hulls_scan_stage(hulls *h)
{
#ifdef _OPENMP
#  pragma omp parallel num_threads(h->threads) if (h->rows > 1)
#endif
    {
        const ih_fenv saved = ih_fenv_enter();
#ifdef _OPENMP
#  pragma omp for schedule(dynamic, 1)
#endif
        for (int64_t k = 0; k < h->rows; ++k)
            if (!h->row[k].given_up) scan_row(h, &h->row[k]);
        ih_fenv_leave(saved);
    }
}
