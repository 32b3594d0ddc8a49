/* SPDX-License-Identifier: Apache-2.0
 * hulls_count.c: counters of a fit: what lists look like after each level, and the sum over workers in their order. */
#include "hulls.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* The lists of the nodes of one row after a level. */
static void count_row(const hulls *h, const hulls_row *row, int32_t level, ih_counters *c)
{
    const int64_t step = (int64_t)2 << level;

    for (int64_t node = 0; node < row->chunks; node += step) {
        const ih_segment *list   = h->segment + row->chunk0 + node;
        const int64_t     count  = h->length[row->chunk0 + node];
        const int64_t     chunks = row->chunks - node < step ? row->chunks - node : step;
        c->segments[2 + level] += count;
        c->longest_list[2 + level] = larger(c->longest_list[2 + level], count);
        c->list_excess             = larger(c->list_excess, count - chunks);
        for (int64_t k = 0; k < count; ++k) {
            c->vertices[2 + level] += list[k].last - list[k].first + 1;
            c->list_faults += list[k].first > list[k].last || (k > 0 && list[k].chunk <= list[k - 1].chunk);
        }
    }
}

/* Rows whose tree ends below this level are not counted in it. */
void hulls_count_level(hulls *h, int32_t level)
{
    for (int64_t k = 0; k < h->rows; ++k)
        if (!h->row[k].given_up && ih_tree_levels(h->row[k].chunks) > level) count_row(h, &h->row[k], level, h->o->counters);
}

static void add(ih_counters *to, const hulls_worker *w)
{
    const ih_counters *c = &w->counters;

    to->decisions_filter += w->judge.by_filter;
    to->decisions_pair += w->judge.by_pair;
    to->decisions_exact += w->judge.by_exact;
    to->roundings_filter += c->roundings_filter;
    to->roundings_pair += c->roundings_pair;
    to->roundings_exact += c->roundings_exact;
    to->elements_exact += c->elements_exact;
    to->rows_exact += c->rows_exact;
    to->chunks += c->chunks;
    to->vertices[0] += c->vertices[0];
    to->vertices[1] += c->vertices[1];
    to->walks += w->merge.walk.walks;
    to->walk_steps += w->merge.walk.steps;
    to->walks_capped += w->merge.walk.capped;
    to->searches += w->merge.searches;
    to->lane_walks += w->lane_walk.walks;
    to->lane_walk_steps += w->lane_walk.steps;
    to->walk_excess = larger(to->walk_excess, larger(w->lane_walk.excess, w->merge.walk.excess));
    to->move_rounds += c->move_rounds;
}

void hulls_count_all(hulls *h)
{
    for (int32_t t = 0; t < h->threads; ++t) add(h->o->counters, &h->worker[t]);
    h->o->counters->levels = larger(h->o->counters->levels, h->levels);
}
