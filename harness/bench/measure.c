/* SPDX-License-Identifier: Apache-2.0
 * measure.c: the protocol, step by step: referee, preparation, warm-up, digest, interleaved samples with copies among them,
 * ceilings, stages. A cell leaves it as soon as it is known to be wrong, unsupported, failed or too slow. */
#include "measure.h"

#include "nvtx.h"
#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTLE_WINDOW = 3, CEILING_SAMPLES = 5 };

typedef struct entry {
    cell_record *cell;
    double       spent_ms; /* on samples, flushing and checking among it */
    int32_t      number;   /* among the cells given                      */
    int          open;     /* still to be measured                       */
} entry;

typedef struct work {
    target              *t;
    const measure_watch *watch;
    entry               *entries;
    int32_t              count;
    double               share_end_ms, deadline_ms; /* of this problem, of the whole command; on the target's clock */
    double              *copies;      /* [MEASURE_SAMPLES_MOST]                       */
    int64_t              copy_count;
    double               read_ms;
} work;

static void busy(const work *w, int32_t number) { w->watch->busy(w->watch->user, number); }

static void finish(const work *w, entry *e)
{
    e->open = 0;
    w->watch->done(w->watch->user, e->cell);
}

/* A cell that did not come through: no numbers but those that say why. why NULL: the target has said it. */
static void give_up(const work *w, entry *e, cell_status status, const char *why)
{
    cell_record *c = e->cell;

    c->status = status;
    if (why) snprintf(c->why, sizeof c->why, "%s", why);
    finish(w, e);
}

static void failed(const work *w, entry *e, const fault *f)
{
    char why[RECORD_TEXT];
    snprintf(why, sizeof why, "%.*s", RECORD_TEXT - 1, f->message[0] ? f->message : "failed without a reason");
    give_up(w, e, CELL_ERROR, why);
}

/* ---- one call ---- */

static fault_kind sample(const work *w, entry *e, double *ms, bool *throttled, fault *f)
{
    cell_record *c     = e->cell;
    const double begin = w->t->now_ms(w->t);
    bool         same  = false;
    fault_kind   kind;

    busy(w, e->number);
    nvtx_case_begin(c->impl, c->problem, c->n);
    kind = w->t->sample(w->t, c, ms, throttled, f);
    nvtx_case_end();
    if (!kind) kind = w->t->verify(w->t, c, &same, f);
    e->spent_ms += w->t->now_ms(w->t) - begin;
    if (kind) {
        failed(w, e, f);
    } else if (!same) {
        free(c->samples_ms); /* times of a wrong result are no times */
        c->samples_ms = NULL;
        c->samples    = 0;
        give_up(w, e, CELL_WRONG, c->why[0] ? NULL : "a timed call wrote another z than the referee");
        kind = FAULT_LIBRARY;
    }
    return kind;
}

/* After the first calls: one of them may have been disturbed, so that the faster of two counts, unless one alone is too long. */
static int too_slow(const work *w, entry *e, double call_ms)
{
    const double left = fmax(w->deadline_ms - w->t->now_ms(w->t), 2 * e->cell->protocol.cell_ms);
    char         why[RECORD_TEXT];

    if (call_ms * e->cell->protocol.samples_min <= left || (e->cell->warmup_calls == 1 && call_ms <= left)) return 0;
    snprintf(why, sizeof why, "one sample takes %.3g s: %d of them do not fit into the time that is left (--time)", call_ms * 1e-3,
             (int)e->cell->protocol.samples_min);
    give_up(w, e, CELL_TIMEOUT, why);
    return 1;
}

/* ---- before the samples ---- */

static void warm_up(const work *w, entry *e)
{
    cell_record *c  = e->cell;
    double      *ms = malloc((size_t)(c->protocol.settle_max + 1) * sizeof *ms);
    double       least_ms = INFINITY; /* of a call with what belongs to it */
    bool         throttled;
    fault        f;

    if (!ms) {
        give_up(w, e, CELL_ERROR, "memory ran out");
        return;
    }
    while (e->open && c->warmup_calls < c->protocol.settle_max && !stats_settled(ms, c->warmup_calls, SETTLE_WINDOW, c->protocol.settle) &&
           (c->warmup_calls < 2 || e->spent_ms < c->protocol.cell_ms / 2)) {
        const double before_ms = e->spent_ms;
        if (sample(w, e, &ms[c->warmup_calls], &throttled, &f) != FAULT_NONE) break;
        c->warmup_calls++;
        least_ms = fmin(least_ms, e->spent_ms - before_ms);
        if (c->warmup_calls <= 2 && too_slow(w, e, least_ms)) break;
    }
    e->spent_ms = 0;
    free(ms);
}

static void compare_digest(const work *w, entry *e)
{
    cell_record *c = e->cell;
    fault        f;

    busy(w, e->number);
    if (w->t->digest(w->t, c, &f) != FAULT_NONE) failed(w, e, &f);
    else if (c->digest[0] && c->digest_want[0] && strcmp(c->digest, c->digest_want) != 0) give_up(w, e, CELL_WRONG, "the digest differs from the canonical one");
}

static void prepare(const work *w, entry *e, const problem_info *info)
{
    cell_record *c = e->cell;
    fault        f;

    busy(w, e->number);
    c->rows = info->rows;
    c->n    = info->n;
    strcpy(c->digest_want, info->digest);
    strcpy(c->referee, info->referee);
    if (w->t->prepare(w->t, c, &f) != FAULT_NONE) failed(w, e, &f);
    else if (c->status == CELL_UNSUPPORTED) finish(w, e);
    if (e->open) warm_up(w, e);
    if (e->open) compare_digest(w, e);
}

/* ---- samples ---- */

static int enough(const work *w, const entry *e)
{
    const cell_record *c        = e->cell;
    const int64_t      counting = c->samples - c->throttled_count, least = c->protocol.samples_min;
    const int          late     = w->t->now_ms(w->t) >= w->share_end_ms;

    if (c->samples >= MEASURE_SAMPLES_MOST) return 1;
    if (counting < least) return c->samples >= 3 * least; /* throttled ones are repeated, but not for ever */
    return late || e->spent_ms >= c->protocol.cell_ms;
}

static void take_sample(const work *w, entry *e)
{
    cell_record *c         = e->cell;
    double       ms        = 0;
    bool         throttled = false;
    fault        f;

    if (sample(w, e, &ms, &throttled, &f) != FAULT_NONE) return;
    if (throttled) c->throttled[c->throttled_count++] = c->samples;
    c->samples_ms[c->samples++] = ms;
}

static int any_open(const work *w)
{
    for (int32_t k = 0; k < w->count; ++k)
        if (w->entries[k].open) return 1;
    return 0;
}

static void make_room(const work *w)
{
    for (int32_t k = 0; k < w->count; ++k) {
        entry *e = &w->entries[k];
        if (!e->open) continue;
        e->cell->samples_ms = calloc(MEASURE_SAMPLES_MOST, sizeof *e->cell->samples_ms);
        e->cell->throttled  = calloc(MEASURE_SAMPLES_MOST, sizeof *e->cell->throttled);
        if (!e->cell->samples_ms || !e->cell->throttled) give_up(w, e, CELL_ERROR, "memory ran out");
    }
}

/* Rounds in which each unfinished cell is sampled once, and a copy, in the recorded order; finished cells are passed over. */
static void sample_all(work *w, uint64_t seed)
{
    const int32_t items = w->count + 1;
    int32_t      *order = malloc((size_t)items * MEASURE_SAMPLES_MOST * sizeof *order);
    int           more  = any_open(w);
    fault         f;

    if (!order) return; /* the cells end without samples, and say so */
    stats_interleave(seed, items, MEASURE_SAMPLES_MOST, order);
    for (int64_t r = 0; r < MEASURE_SAMPLES_MOST && more; ++r) {
        more = 0;
        for (int32_t i = 0; i < items; ++i) {
            const int32_t item = order[r * items + i];
            if (item == w->count) {
                busy(w, MEASURE_ALL);
                if (w->t->copy(w->t, &w->entries[0].cell->protocol, &w->copies[w->copy_count], &f) == FAULT_NONE) w->copy_count++;
            } else if (w->entries[item].open && !enough(w, &w->entries[item])) {
                take_sample(w, &w->entries[item]);
                more |= w->entries[item].open && !enough(w, &w->entries[item]);
            }
        }
    }
    free(order);
}

/* Before and after the samples: the state of the device. */
static void look_all(const work *w, int after)
{
    for (int32_t k = 0; w->t->look && k < w->count; ++k)
        if (w->entries[k].open) w->t->look(w->t, w->entries[k].cell, after);
}

/* ---- after the samples ---- */

static double median_of_ceiling(const work *w, cell_record *c, int empty)
{
    double  ms[CEILING_SAMPLES];
    int64_t n = 0;
    fault   f;

    for (int k = 0; k < CEILING_SAMPLES; ++k) {
        const fault_kind kind = empty ? w->t->empty(w->t, c, &ms[n], &f) : w->t->read(w->t, &c->protocol, &ms[n], &f);
        n += kind == FAULT_NONE;
    }
    return n > 0 ? stats_median(ms, n) : -1;
}

static void complete(const work *w, entry *e)
{
    cell_record  *c        = e->cell;
    const int64_t counting = c->samples - c->throttled_count;
    char          why[RECORD_TEXT];
    fault_kind    staged;
    fault         f;

    busy(w, e->number);
    c->read_ms       = w->read_ms;
    c->empty_call_ms = median_of_ceiling(w, c, 1);
    if (w->copy_count > 0) {
        c->copy_samples_ms = malloc((size_t)w->copy_count * sizeof *c->copy_samples_ms);
        if (c->copy_samples_ms) {
            memcpy(c->copy_samples_ms, w->copies, (size_t)w->copy_count * sizeof *c->copy_samples_ms);
            c->copy_samples = w->copy_count;
        }
    }
    nvtx_case_begin(c->impl, c->problem, c->n);
    staged = w->t->stages(w->t, c, &f);
    nvtx_case_end();
    if (staged != FAULT_NONE || cell_derive(c, &f) != FAULT_NONE) {
        failed(w, e, &f);
    } else if (counting < c->protocol.samples_min) {
        snprintf(why, sizeof why, "throttled: of %lld samples %lld count, and %d are needed", (long long)c->samples, (long long)counting,
                 (int)c->protocol.samples_min);
        give_up(w, e, CELL_ERROR, why);
    } else {
        finish(w, e);
    }
}

static void all_failed(const work *w, const fault *f)
{
    for (int32_t k = 0; k < w->count; ++k)
        if (w->entries[k].open) failed(w, &w->entries[k], f);
}

void measure_problem(target *t, const ih_spec *problem, cell_record *cells, int32_t count, double share_ms, double left_ms,
                     const measure_watch *watch)
{
    work         w    = { .t = t, .watch = watch, .count = count, .read_ms = -1 };
    problem_info info = { .blocks = -1 };
    fault        f;

    fault_clear(&f);
    w.share_end_ms = t->now_ms(t) + share_ms;
    w.deadline_ms  = t->now_ms(t) + left_ms;
    w.entries     = calloc((size_t)count, sizeof *w.entries);
    w.copies      = calloc(MEASURE_SAMPLES_MOST, sizeof *w.copies);
    if (!w.entries || !w.copies) abort(); /* the parent records that this process ended */
    for (int32_t k = 0; k < count; ++k) w.entries[k] = (entry){ .cell = &cells[k], .number = k, .open = 1 };

    nvtx_start();
    busy(&w, MEASURE_ALL);
    if (t->open(t, problem, &info, &f) != FAULT_NONE) {
        all_failed(&w, &f);
    } else {
        for (int32_t k = 0; k < count; ++k) prepare(&w, &w.entries[k], &info);
        make_room(&w);
        look_all(&w, 0);
        if (any_open(&w)) sample_all(&w, cells[0].order_seed);
        look_all(&w, 1);
        if (any_open(&w)) {
            busy(&w, MEASURE_ALL);
            w.read_ms = median_of_ceiling(&w, &cells[0], 0);
        }
        for (int32_t k = 0; k < count; ++k)
            if (w.entries[k].open) complete(&w, &w.entries[k]);
    }
    t->close(t);
    free(w.copies);
    free(w.entries);
}
