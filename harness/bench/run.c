/* SPDX-License-Identifier: Apache-2.0
 * run.c: over the problems of a plan: what is done already, what to measure, budget, progress, exit code. */
#include "run.h"

#include "child.h"
#include "env.h"
#include "say.h"
#include "target_peers.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void stop(int number) { stopped = number; }

static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
enum { STOPS = sizeof stops / sizeof stops[0] };

/* While a run is on, signals only set a flag; what the caller ignores stays ignored. */
static void watch_signals(struct sigaction before[STOPS])
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = stop;
    stopped           = 0;
    for (int k = 0; k < STOPS; ++k)
        if (sigaction(stops[k], NULL, &before[k]) == 0 && before[k].sa_handler != SIG_IGN) sigaction(stops[k], &action, NULL);
}

static void restore_signals(const struct sigaction before[STOPS])
{
    for (int k = 0; k < STOPS; ++k) sigaction(stops[k], &before[k], NULL);
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

target *run_target(const plan *p, fault *f)
{
    target     *t = p->trace ? target_replay(p->trace, f) : p->ordinal >= 0 ? target_cuda(p->ordinal, p->digests, f) : target_cpu(f);
    const char *names[PLAN_PEERS];

    if (!t || p->peer_count == 0) return t;
    for (int32_t k = 0; k < p->peer_count; ++k) names[k] = p->peers[k];
    return target_peers(t, names, p->peer_count, f);
}

int run_undecided(const cell_record *c)
{
    return c->status == CELL_ERROR && c->throttled_count > 0 && c->samples - c->throttled_count < c->protocol.samples_min;
}

/* ---- what is done already ---- */

static fault_kind copy_cell(cell_record *to, const cell_record *from, fault *f)
{
    json_t    *line = cell_to_json(from);
    fault_kind kind;

    if (!line) return fault_set(f, FAULT_MEMORY, "memory ran out");
    cell_free(to);
    kind = cell_from_json(line, to, f);
    json_decref(line);
    return kind;
}

static fault_kind take_earlier(bench_run *r, int32_t *count, fault *f)
{
    const int32_t cells = r->plan->problem_count * r->plan->impl_count;
    fault_kind    kind  = FAULT_NONE;

    *count = 0;
    for (int32_t k = 0; k < cells && r->earlier && !kind; ++k) {
        const cell_record *found = journal_find(r->earlier, &r->plan->cells[k]);
        if (!found) continue;
        kind       = copy_cell(&r->plan->cells[k], found, f);
        r->have[k] = RUN_EARLIER;
        ++*count;
    }
    return kind;
}

/* ---- progress ---- */

typedef struct progress {
    int    terminal;
    double began_ms, time_ms;
} progress;

static void show_begin(const progress *p, const plan *all, int32_t problem)
{
    const double passed = now_ms() - p->began_ms, each = problem ? passed / problem : 0;
    double       eta    = fmin(each * (all->problem_count - problem), fmax(p->time_ms - passed, 0));

    if (!p->terminal) return;
    if (problem == 0) eta = p->time_ms;
    fprintf(stderr, "\r\033[K[%d/%d] %.100s, about %.0f s left", (int)problem + 1, (int)all->problem_count, all->cells[problem * all->impl_count].problem, eta * 1e-3);
    fflush(stderr);
}

static void show_end(const progress *p, const bench_run *r, int32_t problem)
{
    const cell_record *cells = &r->plan->cells[problem * r->plan->impl_count];

    if (p->terminal) return;
    fprintf(stderr, "[%d/%d] %s:", (int)problem + 1, (int)r->plan->problem_count, cells->problem);
    for (int32_t i = 0; i < r->plan->impl_count; ++i) {
        const run_have have = r->have[problem * r->plan->impl_count + i];
        if (have == RUN_MISSING) fprintf(stderr, " %s not measured", cells[i].impl);
        else if (cells[i].status == CELL_OK) fprintf(stderr, " %s %.4g ms", cells[i].impl, cells[i].median_ms);
        else fprintf(stderr, " %s %s", cells[i].impl, cell_status_name(cells[i].status));
        fputs(have == RUN_EARLIER ? " (earlier)" : "", stderr);
        fputc(i + 1 < r->plan->impl_count ? ',' : '\n', stderr);
    }
}

/* ---- the problems ---- */

static int all_there(const bench_run *r, int32_t problem)
{
    for (int32_t i = 0; i < r->plan->impl_count; ++i)
        if (r->have[problem * r->plan->impl_count + i] == RUN_MISSING) return 0;
    return 1;
}

static int32_t problems_left(const bench_run *r)
{
    int32_t left = 0;
    for (int32_t k = 0; k < r->plan->problem_count; ++k) left += !all_there(r, k);
    return left;
}

/* What a problem's time is of an equal part: the least number of samples, ceilings and stages come on top. */
static const double SHARE = 0.8;

static double limit_of(const bench_run *r)
{
    return r->limit_ms > 0 ? r->limit_ms : fmax(10 * r->plan->time_ms / r->plan->problem_count, 60e3);
}

static fault_kind measure_all(bench_run *r, const progress *p, fault *f)
{
    double     played_ms = 0; /* virtual time of a replay */
    int        recorded  = 0;
    fault_kind kind      = FAULT_NONE;

    for (int32_t k = 0; k < r->plan->problem_count && !kind && !stopped; ++k) {
        const double spent = r->plan->trace ? played_ms : now_ms() - p->began_ms;
        if (all_there(r, k)) continue;
        if (spent >= r->plan->time_ms) {
            r->out_of_time = 1;
            break;
        }
        if (!recorded && r->journal) kind = journal_append(r->journal, r->record, f);
        recorded = 1;
        if (kind) break;
        show_begin(p, r->plan, k);
        kind = child_measure(r, k, SHARE * (r->plan->time_ms - spent) / problems_left(r), r->plan->time_ms - spent, limit_of(r), &stopped, &played_ms, f);
        if (!kind && !stopped) show_end(p, r, k);
    }
    if (p->terminal) fputs("\r\033[K", stderr);
    return kind;
}

fault_kind run_measure(bench_run *r, fault *f)
{
    const int32_t    cells = r->plan->problem_count * r->plan->impl_count;
    struct sigaction before[STOPS];
    progress         p = { isatty(STDERR_FILENO), now_ms(), r->plan->time_ms };
    int32_t          earlier;
    fault_kind       kind;

    r->have        = calloc((size_t)cells, sizeof *r->have);
    r->interrupted = r->out_of_time = 0;
    if (!r->have) return fault_set(f, FAULT_MEMORY, "memory ran out");
    for (int32_t k = 0; k < cells; ++k)
        snprintf(r->plan->cells[k].run, sizeof r->plan->cells[k].run, "%s", json_string_value(json_object_get(r->record, "run")));
    kind = take_earlier(r, &earlier, f);
    if (kind) return kind;
    if (earlier) say("%d of %d cells have been measured earlier and are kept", (int)earlier, (int)cells);
    watch_signals(before);
    kind           = measure_all(r, &p, f);
    r->interrupted = stopped;
    restore_signals(before);
    return kind;
}

int run_exit_code(const bench_run *r)
{
    const int32_t cells = r->plan->problem_count * r->plan->impl_count;
    int           wrong = 0, failed = 0, undecided = 0, left = r->out_of_time;

    for (int32_t k = 0; k < cells; ++k) {
        const cell_record *c = &r->plan->cells[k];
        if (r->have[k] == RUN_MISSING) continue;
        wrong |= c->status == CELL_WRONG;
        undecided |= run_undecided(c);
        failed |= c->status == CELL_ERROR && !run_undecided(c);
        left |= c->status == CELL_TIMEOUT;
    }
    if (r->interrupted) return EXIT_INTERRUPTED;
    return wrong ? EXIT_WRONG : failed ? EXIT_VERDICT : undecided ? EXIT_UNDECIDED : left ? EXIT_BUDGET : EXIT_GOOD;
}

void run_free(bench_run *r)
{
    free(r->have);
    r->have = NULL;
}
