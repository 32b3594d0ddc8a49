/* SPDX-License-Identifier: Apache-2.0
 * gbench.c: cells as benchmarks of Google Benchmark, in the harness's own protocol: referee, digest, warm-up, samples. */
#include "gbench.h"
#include "say.h"

#if IH_WITH_GBENCH

#include "bench_c.h"
#include "nvtx.h"
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTLE_WINDOW = 3, COPIES = 5 };

typedef struct session session;

typedef struct gcase {
    session     *s;
    cell_record *cell;
    int64_t      opening; /* of the problem for which the cell was made ready; 0: not yet */
} gcase;

struct session {
    target      *t;
    const gcase *last;    /* the case that ran last                                 */
    char        *problem; /* the open one, a cell's text; NULL: none                */
    int64_t      opening; /* counts openings from 1                                 */
    problem_info info;
    double       copy_ms;
};

int gbench_built(void) { return 1; }

static fault_kind fail(gcase *k, const fault *f)
{
    if (k->cell->status == CELL_OK) k->cell->status = CELL_ERROR;
    if (!k->cell->why[0]) snprintf(k->cell->why, sizeof k->cell->why, "%.*s", RECORD_TEXT - 1, f->message);
    return f->kind;
}

static void close_problem(session *s)
{
    if (s->problem) s->t->close(s->t);
    s->problem = NULL;
}

static fault_kind open_problem(session *s, cell_record *c, fault *f)
{
    double     ms[COPIES];
    char       message[IH_SPEC_MESSAGE];
    ih_spec   *spec;
    fault_kind kind;

    if (s->problem && strcmp(s->problem, c->problem) == 0) return FAULT_NONE;
    close_problem(s);
    spec = malloc(sizeof *spec);
    if (!spec) return fault_set(f, FAULT_MEMORY, "memory ran out");
    kind = ih_spec_parse(spec, c->problem, message, sizeof message) ? fault_set(f, FAULT_USAGE, "%s", message)
                                                                    : s->t->open(s->t, spec, &s->info, f);
    free(spec);
    if (kind) return kind;
    s->problem = c->problem;
    s->opening++;
    for (int i = 0; i < COPIES; ++i)
        if ((kind = s->t->copy(s->t, &c->protocol, &ms[i], f))) return kind;
    s->copy_ms = stats_median(ms, COPIES);
    return FAULT_NONE;
}

static fault_kind one_sample(gcase *k, double *ms, fault *f)
{
    cell_record *c = k->cell;
    bool         throttled = false, same = false;
    fault_kind   kind = k->s->t->sample(k->s->t, c, ms, &throttled, f);

    if (!kind) kind = k->s->t->verify(k->s->t, c, &same, f);
    if (kind || same) return kind;
    c->status = CELL_WRONG;
    return fault_set(f, FAULT_LIBRARY, "wrong: a sample's z is not the canonical fit");
}

static fault_kind warm_up(gcase *k, fault *f)
{
    const protocol *p = &k->cell->protocol;
    double         *ms;
    fault_kind      kind = FAULT_NONE;
    int64_t         calls = 0;

    ms = malloc((size_t)(p->settle_max > 0 ? p->settle_max : 1) * sizeof *ms);
    if (!ms) return fault_set(f, FAULT_MEMORY, "memory ran out");
    while (!kind && calls < p->settle_max && !stats_settled(ms, calls, SETTLE_WINDOW, p->settle))
        kind = one_sample(k, &ms[calls++], f);
    k->cell->warmup_calls = (int32_t)calls;
    free(ms);
    return kind;
}

/* The problem open, the implementation prepared, its digest right, its times settled. */
static fault_kind make_ready(gcase *k, fault *f)
{
    session     *s = k->s;
    cell_record *c = k->cell;
    double       ms;
    fault_kind   kind = open_problem(s, c, f);

    if (kind) return kind;
    if (k->opening == s->opening) return s->last == k ? FAULT_NONE : one_sample(k, &ms, f); /* caches are another's */
    c->n    = s->info.n;
    c->rows = s->info.rows;
    memcpy(c->digest_want, s->info.digest, sizeof c->digest_want);
    if ((kind = s->t->prepare(s->t, c, f))) return kind;
    if (c->status != CELL_OK) return fault_set(f, FAULT_LIBRARY, "%s: %s", cell_status_name(c->status), c->why);
    if ((kind = s->t->digest(s->t, c, f))) return kind;
    if (c->status == CELL_OK && c->digest[0] && c->digest_want[0] && strcmp(c->digest, c->digest_want) != 0) {
        c->status = CELL_WRONG;
        snprintf(c->why, sizeof c->why, "digest %s, canonical %s", c->digest, c->digest_want);
    }
    if (c->status != CELL_OK) return fault_set(f, FAULT_LIBRARY, "%s: %s", cell_status_name(c->status), c->why);
    if ((kind = warm_up(k, f))) return kind;
    k->opening = s->opening;
    return FAULT_NONE;
}

static void describe(const gcase *k, bench_state *state, double ms)
{
    const cell_record *c = k->cell;
    char               label[128];

    bench_set_counter(state, "elements", (double)c->n);
    bench_set_counter(state, "rows", (double)c->rows);
    bench_set_counter(state, "threads", c->threads);
    if (c->blocks >= 0) bench_set_counter(state, "blocks", (double)c->blocks);
    if (c->workspace_bytes >= 0) bench_set_counter(state, "workspace_bytes", (double)c->workspace_bytes);
    if (c->n > 0) bench_set_counter(state, "ns_per_element", 1e6 * ms / (double)c->n);
    if (k->s->copy_ms > 0) bench_set_counter(state, "times_copy", ms / k->s->copy_ms);
    snprintf(label, sizeof label, "%s%s%s", c->protocol.cold ? "cold" : "hot", c->digest[0] ? " digest=" : "", c->digest);
    bench_set_label(state, label);
}

/* One repetition. */
static void run_case(bench_state *state, void *user)
{
    gcase       *k = user;
    cell_record *c = k->cell;
    fault        f;
    fault_kind   kind = FAULT_NONE;
    double       ms = 0;

    fault_clear(&f);
    if (c->status != CELL_OK) { /* failed in an earlier repetition */
        bench_skip_error(state, c->why);
        return;
    }
    nvtx_case_begin(c->impl, c->problem, c->n);
    kind = make_ready(k, &f);
    k->s->last = k;
    while (!kind && bench_keep_running(state)) {
        kind = one_sample(k, &ms, &f);
        bench_set_iteration_time(state, 1e-3 * ms);
    }
    nvtx_case_end();
    if (kind) {
        fail(k, &f);
        bench_skip_error(state, f.message);
    } else {
        describe(k, state, ms);
    }
}

static int add_context(const json_t *run)
{
    const char *key;
    json_t     *value;
    int         failed = 0;

    json_object_foreach((json_t *)run, key, value) {
        char *text = json_is_string(value) ? strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        char  name[64];
        snprintf(name, sizeof name, "isohull_%s", key);
        if (!text || bench_add_context(name, text)) failed = 1;
        free(text);
    }
    return failed;
}

static int add_cases(session *s, gcase *cases, cell_record *cells, int64_t count)
{
    static const bench_options options = { .manual_time = 1, .iterations = 1 };
    char                       name[sizeof cells->impl + sizeof cells->problem + 16];

    for (int64_t k = 0; k < count; ++k) {
        cases[k] = (gcase) { s, &cells[k], 0 };
        cells[k].status = CELL_OK;
        snprintf(name, sizeof name, "%s/%s%s%s", cells[k].impl, cells[k].problem, cells[k].protocol.cold ? "/cold" : "/hot",
                 cells[k].protocol.call == CALL_GRAPH ? "/graph" : "");
        if (bench_register(name, run_case, &cases[k], &options)) return -1;
    }
    return 0;
}

static int verdict(const cell_record *cells, int64_t count)
{
    int code = EXIT_GOOD;

    for (int64_t k = 0; k < count; ++k) {
        if (cells[k].status == CELL_OK || cells[k].status == CELL_UNSUPPORTED) continue;
        say("%s on %s: %s: %s", cells[k].impl, cells[k].problem, cell_status_name(cells[k].status), cells[k].why);
        if (cells[k].status == CELL_WRONG) code = EXIT_WRONG;
        else if (code != EXIT_WRONG) code = EXIT_USAGE;
    }
    return code;
}

int gbench_run(target *t, cell_record *cells, int64_t count, const json_t *run, int argc, char **argv)
{
    session s     = { .t = t };
    gcase  *cases = calloc((size_t)(count > 0 ? count : 1), sizeof *cases);
    char  **words = calloc((size_t)argc + 1, sizeof *words); /* Google Benchmark moves the flags it knows out of its array */
    int64_t ran   = 0;
    int     code, outcome;

    if (!cases || !words) {
        free(cases);
        free(words);
        return say_bad("memory ran out");
    }
    memcpy(words, argv, (size_t)argc * sizeof *words);
    if (add_context(run) || add_cases(&s, cases, cells, count)) {
        free(cases);
        free(words);
        return say_bad("Google Benchmark: %s", bench_error());
    }
    outcome = bench_run(argc, words, &ran);
    close_problem(&s);
    code = verdict(cells, count);
    if (outcome == BENCH_FAILED) code = say_bad("Google Benchmark: %s", bench_error());
    else if (outcome == BENCH_FLAGS) code = EXIT_USAGE;
    else if (ran == 0 && code == EXIT_GOOD) code = say_bad("no cell matches --benchmark_filter");
    free(cases);
    free(words);
    return code;
}

#else

int gbench_built(void) { return 0; }

int gbench_run(target *t, cell_record *cells, int64_t count, const json_t *run, int argc, char **argv)
{
    (void)t;
    (void)cells;
    (void)count;
    (void)run;
    (void)argc;
    (void)argv;
    return say_bad("--format gbench: this build has no Google Benchmark. "
                   "Remedy: apt install libbenchmark-dev g++, then build again: meson setup --wipe build");
}

#endif
