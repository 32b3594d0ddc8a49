/* SPDX-License-Identifier: Apache-2.0
 * chunks.c: rows cut in chunks. */
#include "chunks.h"

#include <stdlib.h>
#include <string.h>

static void *memory(size_t bytes)
{
    void *at = calloc(1, bytes + 1);
    if (!at) abort();
    return at;
}

void chunk_open(ih_chunk *c, int32_t n, int32_t kind)
{
    const size_t points = ((size_t)n + 1) * sizeof(double), lanes = (size_t)ih_chunk_lanes(n) * sizeof(uint32_t);
    memset(c, 0, sizeof *c);
    c->y    = memory(points);
    c->y_lo = memory(points);
    c->x    = kind & IH_KIND_WEIGHTED ? memory(points) : NULL;
    c->x_lo = kind & IH_KIND_WEIGHTED ? memory(points) : NULL;
    c->rise = memory(lanes);
    c->mask = memory(lanes);
}

void chunk_close(ih_chunk *c)
{
    free(c->y);
    free(c->y_lo);
    free(c->x);
    free(c->x_lo);
    free(c->rise);
    free(c->mask);
}

void chunk_build(ih_chunk *c, ih_judge *j, const ih_values *v, int64_t begin, int32_t n, ih_pair *stops, ih_walk_count *count)
{
    c->begin = begin;
    c->n     = n;
    if (!ih_chunk_sums(c, v, stops, IH_STOP_STRIDE, v->kind)) abort();
    ih_chunk_rise(c, v, v->kind);
    for (int32_t l = 0; l < ih_chunk_lanes(n); ++l) c->mask[l] = ih_lane_hull(c, j, l, 0, v->kind);
    ih_chunk_join_lanes(c, j, count, v->kind);
}

int32_t chunk_masks_of(chunk_masks *m, const ih_values *v, int64_t begin, int32_t n, diagram *d)
{
    ih_judge judge = judge_of(d);
    ih_chunk c;
    int32_t  good;

    if (!d) judge.exact = NULL;
    memset(m, 0, sizeof *m);
    m->walk.excess = INT64_MIN;
    chunk_open(&c, n, v->kind);
    c.begin = begin;
    c.n     = n;
    good    = ih_chunk_sums(&c, v, NULL, 1, v->kind);
    if (good) {
        ih_chunk_rise(&c, v, v->kind);
        for (int32_t l = 0; l < ih_chunk_lanes(n); ++l) m->lane[l] = c.mask[l] = ih_lane_hull(&c, &judge, l, 0, v->kind);
        m->turns = judge.by_filter + judge.by_pair + judge.by_exact;
        ih_chunk_join_lanes(&c, &judge, &m->walk, v->kind);
        for (int32_t l = 0; l < ih_chunk_lanes(n); ++l) m->mask[l] = c.mask[l];
    }
    chunk_close(&c);
    return good;
}

void chunked_open(chunked *c, ih_judge *j, const ih_values *v, int64_t n, int32_t size, int32_t wide)
{
    const int64_t m = (n + size - 1) / size, each = (size + IH_STOP_STRIDE - 1) / IH_STOP_STRIDE;
    ih_store     *s = &c->store;
    ih_walk_count count = { 0 };
    ih_chunk      chunk;
    ih_pair       y = { 0, 0 }, x = { 0, 0 };

    memset(c, 0, sizeof *c);
    s->values  = *v;
    s->n       = n;
    s->chunks  = m;
    s->size    = size;
    s->wide    = wide;
    s->slots   = memory((size_t)(n + m) * (wide ? 4 : 2));
    s->stops   = memory((size_t)(m * each) * 2 * sizeof(ih_pair));
    s->records = memory((size_t)m * sizeof(ih_chunk_record));
    c->segments = memory((size_t)m * sizeof(ih_segment));
    chunk_open(&chunk, size, v->kind);
    for (int64_t k = 0; k < m; ++k) {
        const int64_t    begin = k * size;
        const int32_t    length = (int32_t)(n - begin < size ? n - begin : size);
        ih_chunk_record *rec = &s->records[k];
        int32_t          vertices = 0;
        const ih_pair    none = { 0, 0 };
        chunk_build(&chunk, j, v, begin, length, ih_store_stops(s, k), &count);
        for (int32_t p = 0; p < length; ++p)
            if (chunk.mask[p >> 5] >> (p & 31) & 1) ih_store_put(s, ih_store_slot(s, k), vertices++, p);
        ih_store_put(s, ih_store_slot(s, k), vertices++, length);
        rec->y      = y;
        rec->x      = x;
        rec->lost_y = chunk.lost_y;
        rec->lost_x = chunk.lost_x;
        y = ih_pair_add(y, (ih_pair){ chunk.y[length], chunk.y_lo[length] }, &s->lost_y0);
        x = ih_pair_add(x, chunk.x ? (ih_pair){ chunk.x[length], chunk.x_lo[length] } : none, &s->lost_x0);
        s->lost_y0 += chunk.lost_y;
        s->lost_x0 += chunk.lost_x;
        c->segments[k] = (ih_segment){ (int32_t)k, 0, vertices - 1, 0, ih_store_slot(s, k) };
    }
    chunk_close(&chunk);
}

void chunked_close(chunked *c)
{
    free(c->store.slots);
    free(c->store.stops);
    free(c->store.records);
    free(c->segments);
}

int64_t chunked_vertices(const chunked *c, const ih_segment *list, int64_t count, int64_t *vertices)
{
    int64_t n = 0;
    for (int64_t k = 0; k < count; ++k)
        for (int32_t v = list[k].first; v <= list[k].last; ++v) vertices[n++] = ih_store_index(&c->store, &list[k], v);
    return n;
}
