/* SPDX-License-Identifier: Apache-2.0
 * hulls_exact.c: the third level of decisions and roundings, and the rows that are left to it whole.
 *
 * Work of the third level stays linear: a unit of work (a chunk, a merge, an edge) may sum 16 times its elements again and
 * a row 16 times its own, looked at after each stage; beyond that, or with values out of the range of double arithmetic,
 * the row is given up and solved in integers. Both are decided by counts that do not depend on threads. */
#include "hulls.h"

#include "blocks.h"
#include "exact.h"

#include "../common/error.h"

#include <stdio.h>
#include <stdlib.h>

static int64_t allowance(int64_t elements) { return 16 * elements + 4096; }

static int32_t exact_turn(void *user, int64_t a, int64_t b, int64_t d)
{
    hulls_worker *w     = user;
    int           order = 0;
    ih_status     st;

    if (w->failed || w->budget < d - a) {
        w->failed = 1;
        return 0;
    }
    w->budget -= d - a;
    w->counters.elements_exact += d - a;
    st = ih_exact_compare(&w->row, a, b, b, d, &order);
    if (st != IH_OK && w->status == IH_OK) w->status = st;
    return order < 0;
}

#ifdef IH_CHECK_DECISIONS
static void check_turn(void *user, int64_t a, int64_t b, int64_t d, int32_t convex, int32_t level)
{
    hulls_worker *w     = user;
    int           order = 0;
    ih_status     st    = ih_exact_compare(&w->row, a, b, b, d, &order);

    if (st != IH_OK && w->status == IH_OK) w->status = st;
    if (st == IH_OK && (order < 0) != convex && w->status == IH_OK) {
        w->status = IH_EINTERNAL;
        snprintf(w->fault, sizeof w->fault, "level %d decides the turn at (%lld, %lld, %lld) of row %lld wrongly", (int)level, (long long)a,
                 (long long)b, (long long)d, (long long)w->row_number);
    }
}
#endif

void hulls_worker_init(hulls *h, int32_t thread)
{
    hulls_worker *w      = &h->worker[thread];
    const size_t  points = (size_t)h->size + 1, lanes = ((size_t)h->size + 31) / 32;
    double       *at     = (double *)(void *)(h->scratch + (size_t)thread * h->scratch_bytes);

    memset(w, 0, sizeof *w);
    w->chunk.y    = at;
    w->chunk.y_lo = at + points;
    at += 2 * points;
    if (h->kind & IH_KIND_WEIGHTED) {
        w->chunk.x    = at;
        w->chunk.x_lo = at + points;
        at += 2 * points;
    }
    w->chunk.mask  = (uint32_t *)(void *)at;
    w->chunk.rise  = w->chunk.mask + lanes;
    w->judge.exact = exact_turn;
    w->judge.user  = w;
#ifdef IH_CHECK_DECISIONS
    w->judge.check = check_turn;
#endif
    w->lane_walk.excess  = INT64_MIN;
    w->merge.walk.excess = INT64_MIN;
}

/* A unit of work on some elements of a row begins, and ends; row is NULL for one that has no tree. */
void hulls_unit_begin(const hulls *h, hulls_worker *w, int64_t row, int64_t elements)
{
    hulls_take_row(h, w, row);
    w->budget = allowance(elements);
    w->failed = 0;
}

void hulls_unit_end(hulls *h, hulls_worker *w, const hulls_row *row, int64_t elements)
{
    hulls_row    *own   = &h->row[row - h->row];
    const int64_t spent = allowance(elements) - w->budget;

    if (spent) __atomic_fetch_add(&own->exact, spent, __ATOMIC_RELAXED);
    if (w->failed) __atomic_store_n(&own->failed, 1, __ATOMIC_RELAXED);
}

/* Between stages: give up the rows that need it. */
void hulls_review(hulls *h)
{
    for (int64_t k = 0; k < h->rows; ++k) h->row[k].given_up |= h->row[k].failed || h->row[k].exact > allowance(h->row[k].n);
}

/* A mean in the direction of the sums, as the caller wants it. */
static double directed(const ih_block *b, double z, double sign) { return b->ny == 0 && b->lost_y == 0 ? 0.0 : sign * z; }

#ifdef IH_CHECK_DECISIONS
static void check_mean(hulls_worker *w, int64_t a, int64_t b, const ih_edge *e, const ih_mean *m)
{
    if (w->status != IH_OK) return;
    if (ih_bits_of(e->z) != ih_bits_of(m->z) || ih_bits_of(e->mean) != ih_bits_of(m->hi + 0.0) || e->weight != m->weight)
    {
        w->status = IH_EINTERNAL;
        snprintf(w->fault, sizeof w->fault, "mean of elements %lld to %lld of row %lld rounded wrongly: %.17g (float64 %.17g), weight %.17g",
                 (long long)a, (long long)b, (long long)w->row_number, e->z, e->mean, e->weight);
    }
}
#endif

/* The results of the block a .. b - 1 of more than one element, whose sums are given. */
void hulls_settle(const hulls *h, hulls_worker *w, int64_t a, int64_t b, const ih_block *block, ih_edge *to)
{
    const double sign = (double)w->row.sign;
    double       z    = 0, mean = 0;
    ih_level     level = ih_round_mean(block, h->kind, &z), level_mean = level;
    int          known = 1;

    to->z = to->mean = directed(block, z, sign);
    to->weight       = (double)(b - a);
#ifndef IH_CHECK_DECISIONS
    if (h->out->block_means && h->kind & IH_KIND_F32)
#else
    if (h->kind & IH_KIND_F32)
#endif
    {
        level_mean = ih_round_mean(block, h->kind & ~IH_KIND_F32, &mean);
        to->mean   = directed(block, mean, sign);
        if (level_mean > level) level = level_mean;
    }
#ifndef IH_CHECK_DECISIONS
    if (h->out->block_weights && h->kind & IH_KIND_WEIGHTED) known = ih_round_weight(block, &to->weight);
#else
    if (h->kind & IH_KIND_WEIGHTED) known = ih_round_weight(block, &to->weight);
#endif
    if (level == IH_LEVEL_NONE || !known) {
        ih_mean         exact;
        const ih_status st = ih_exact_mean(&w->row, a, b, &exact);
        if (st != IH_OK && w->status == IH_OK) w->status = st;
        if (st == IH_OK) {
            to->z      = exact.z;
            to->mean   = exact.hi;
            to->weight = exact.weight;
        }
        ++w->counters.roundings_exact;
        w->counters.elements_exact += b - a;
        return;
    }
    if (level == IH_LEVEL_FILTER) ++w->counters.roundings_filter;
    else ++w->counters.roundings_pair;
#ifdef IH_CHECK_DECISIONS
    {
        ih_mean         exact;
        const ih_status st = ih_exact_mean(&w->row, a, b, &exact);
        if (st != IH_OK && w->status == IH_OK) w->status = st;
        if (st == IH_OK) check_mean(w, a, b, to, &exact);
    }
#endif
}

/* A row in integers, from the inputs. */
void hulls_solve_exactly(const hulls *h, hulls_worker *w, int64_t row)
{
    const ih_row       in     = ih_row_of(h->p, row);
    const hulls_target t      = hulls_target_of(h, row);
    int64_t           *starts = t.starts ? t.starts : malloc((size_t)in.n * sizeof *starts);
    int64_t            blocks = 0;
    ih_status          st     = IH_EMEMORY;

    if (starts) st = ih_exact_solve(&in, t.z, starts, &blocks, t.weights, t.means);
    else ih_set_error(st, IH_FAULT_NONE, NULL, row, -1, "cpu_hulls: no memory to solve row %lld in integers", (long long)row);
    if (st == IH_OK) {
        ih_clip(h->p, t.z, in.n);
        if (h->out->block_offsets) h->out->block_offsets[row + 1] = blocks;
        ++w->counters.rows_exact;
    } else if (w->status == IH_OK) {
        w->status = st;
    }
    if (!t.starts) free(starts);
}
