/* SPDX-License-Identifier: Apache-2.0
 * child.c: the measuring process, and the watch over it. Finished cells come through a pipe as the lines that go into the
 * journal; which cell is being worked on stands in shared memory, so that a death or a hang has a name. */
#include "child.h"

#include "measure.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 50 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* ---- in the child ---- */

/* What child and parent share. */
typedef struct shared {
    volatile int32_t working;          /* the cell, as counted by measure            */
    char             why[RECORD_TEXT]; /* why the child gave up before it measured   */
} shared;

typedef struct teller {
    int     to; /* the pipe */
    double  share_ms, left_ms;
    shared *shared;
} teller;

static void tell_busy(void *user, int32_t cell) { ((teller *)user)->shared->working = cell; }

static void tell(const teller *t, json_t *line)
{
    char  *text = line ? json_dumps(line, RECORD_DUMP) : NULL;
    size_t length;

    if (!text) abort();
    length         = strlen(text);
    text[length++] = '\n';
    for (size_t at = 0; at < length;) {
        const ssize_t wrote = write(t->to, text + at, length - at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) _exit(EXIT_USAGE); /* nobody listens any more */
        at += (size_t)wrote;
    }
    free(text);
    json_decref(line);
}

static void tell_done(void *user, const cell_record *cell) { tell(user, cell_to_json(cell)); }

static void measure(const bench_run *r, int32_t problem, cell_record *cells, int32_t count, teller *to)
{
    const measure_watch watch = { to, tell_busy, tell_done };
    fault               f;
    target             *t = run_target(r->plan, &f);
    double              began;

    if (!t) {
        snprintf(to->shared->why, sizeof to->shared->why, "%.*s", RECORD_TEXT - 1, f.message);
        _exit(EXIT_USAGE);
    }
    began = t->now_ms(t);
    measure_problem(t, &r->plan->problems[problem], cells, count, to->share_ms, to->left_ms, &watch);
    tell(to, json_pack("{ss sf}", "kind", "end", "elapsed_ms", t->virtual_time ? t->now_ms(t) - began : 0.0));
    t->free(t);
}

/* ---- in the parent ---- */

typedef struct watch {
    bench_run *r;
    int32_t    first;          /* cell of the plan where the problem begins  */
    int32_t   *pending;        /* [count] cells of the plan that the child has */
    int32_t    count;
    char      *text;           /* read, not yet a whole line                  */
    size_t     length, room;
    double    *played_ms;
} watch;

static fault_kind keep(watch *w, int32_t k, fault *f)
{
    json_t    *line = cell_to_json(&w->r->plan->cells[k]);
    fault_kind kind = line ? FAULT_NONE : fault_set(f, FAULT_MEMORY, "memory ran out");

    w->r->have[k] = RUN_NOW;
    if (!kind && w->r->journal) kind = journal_append(w->r->journal, line, f);
    json_decref(line);
    return kind;
}

static fault_kind take_line(watch *w, const char *text, size_t length, fault *f)
{
    json_t     *line = json_loadb(text, length, 0, NULL);
    const char *what = json_string_value(json_object_get(line, "kind"));
    cell_record c;
    fault_kind  kind = FAULT_NONE;

    if (what && strcmp(what, "end") == 0) {
        *w->played_ms += json_number_value(json_object_get(line, "elapsed_ms"));
    } else {
        kind = cell_from_json(line, &c, f);
        for (int32_t k = 0; !kind && k < w->count; ++k) {
            cell_record *cell = &w->r->plan->cells[w->pending[k]];
            if (w->r->have[w->pending[k]] != RUN_MISSING || strcmp(cell->impl, c.impl) != 0 || cell->protocol.call != c.protocol.call) continue;
            cell_free(cell);
            cell_move(cell, &c);
            kind = keep(w, w->pending[k], f);
            break;
        }
        if (!kind) cell_free(&c);
    }
    json_decref(line);
    return kind;
}

/* Read what is there. 1: more may come; 0: the end; -1: a fault. */
static int take_some(watch *w, int from, fault *f)
{
    ssize_t got;
    char   *end;

    if (w->length == w->room) {
        char *grown = realloc(w->text, w->room + 65536);
        if (!grown) {
            fault_set(f, FAULT_MEMORY, "memory ran out");
            return -1;
        }
        w->text = grown;
        w->room += 65536;
    }
    got = read(from, w->text + w->length, w->room - w->length);
    if (got < 0) return errno == EINTR || errno == EAGAIN ? 1 : 0;
    if (got == 0) return 0;
    w->length += (size_t)got;
    while ((end = memchr(w->text, '\n', w->length)) != NULL) {
        const size_t line = (size_t)(end - w->text) + 1;
        if (take_line(w, w->text, line, f) != FAULT_NONE) return -1;
        memmove(w->text, w->text + line, w->length - line);
        w->length -= line;
    }
    return 1;
}

/* Listen to the child until it ends, is stopped, or its time is over. Returns 1 if it had to be ended for its time. */
static int listen_to(watch *w, pid_t child, int from, double limit_ms, const volatile sig_atomic_t *stopped, fault_kind *kind, fault *f)
{
    const double  until = now_ms() + limit_ms;
    struct pollfd wait  = { .fd = from, .events = POLLIN };

    for (;;) {
        const int ready = poll(&wait, 1, WAIT_MS);
        if (*stopped) break;
        if (ready > 0) {
            const int more = take_some(w, from, f);
            if (more < 0) *kind = f->kind;
            if (more <= 0) return 0;
        }
        if (now_ms() > until) {
            kill(child, SIGKILL);
            while (take_some(w, from, f) == 1) {} /* what it had finished before */
            return 1;
        }
    }
    kill(child, SIGKILL);
    return 0;
}

/* The child has ended: cells that it still had are nobody's, or the one's it was working on. */
static fault_kind blame(watch *w, int32_t working, cell_status status, const char *why, fault *f)
{
    fault_kind kind = FAULT_NONE;
    const int  all  = working < 0 || working >= w->count || w->r->have[w->pending[working]] != RUN_MISSING;

    for (int32_t k = 0; k < w->count && !kind; ++k) {
        cell_record *c = &w->r->plan->cells[w->pending[k]];
        if (w->r->have[w->pending[k]] != RUN_MISSING || (!all && k != working)) continue;
        c->status = status;
        snprintf(c->why, sizeof c->why, "%s", why);
        kind = keep(w, w->pending[k], f);
    }
    return kind;
}

static void describe_end(int status, char *why, size_t bytes)
{
    if (WIFSIGNALED(status)) snprintf(why, bytes, "the measuring process died of signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else snprintf(why, bytes, "the measuring process ended with status %d before it was done", WEXITSTATUS(status));
}

static void be_child(const bench_run *r, int32_t problem, const watch *w, pid_t parent, teller *to)
{
    static const int defaults[] = { SIGTERM, SIGHUP };
    cell_record     *cells      = calloc((size_t)w->count, sizeof *cells);

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the parent gone there is nothing to measure for */
    if (getppid() != parent || !cells) _exit(EXIT_USAGE);
    for (size_t k = 0; k < sizeof defaults / sizeof defaults[0]; ++k) signal(defaults[k], SIG_DFL);
    signal(SIGINT, SIG_IGN); /* a terminal sends it to both: the parent decides */
    journal_forget(r->journal);
    for (int32_t k = 0; k < w->count; ++k) cells[k] = r->plan->cells[w->pending[k]];
    measure(r, problem, cells, w->count, to);
    _exit(EXIT_GOOD);
}

static fault_kind run_child(watch *w, int32_t problem, double share_ms, double left_ms, double limit_ms, const volatile sig_atomic_t *stopped, shared *both, fault *f)
{
    const pid_t parent = getpid();
    fault_kind  kind   = FAULT_NONE;
    int         ends[2], status = 0, late;
    char        why[RECORD_TEXT];
    pid_t       child;

    if (pipe(ends) != 0) return fault_set(f, FAULT_OPEN, "no pipe: %s", strerror(errno));
    both->working = MEASURE_ALL;
    both->why[0]  = 0;
    fflush(NULL); /* or the child would write it again */
    child = fork();
    if (child == 0) {
        teller to = { ends[1], share_ms, left_ms, both };
        close(ends[0]);
        be_child(w->r, problem, w, parent, &to);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return fault_set(f, FAULT_OPEN, "no process for measuring: %s", strerror(errno));
    }
    w->length = 0;
    late      = listen_to(w, child, ends[0], limit_ms, stopped, &kind, f);
    close(ends[0]);
    if (kind) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (kind || *stopped) return kind;
    if (late) snprintf(why, sizeof why, "not done after %.3g s (--limit)", limit_ms * 1e-3);
    else if (both->why[0]) snprintf(why, sizeof why, "%s", both->why);
    else describe_end(status, why, sizeof why);
    return blame(w, both->working, late ? CELL_TIMEOUT : CELL_ERROR, why, f);
}

fault_kind child_measure(bench_run *r, int32_t problem, double share_ms, double left_ms, double limit_ms,
                         const volatile sig_atomic_t *stopped, double *played_ms, fault *f)
{
    watch      w    = { .r = r, .first = problem * r->plan->impl_count, .played_ms = played_ms };
    shared    *both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fault_kind kind = FAULT_NONE;

    w.pending = calloc((size_t)r->plan->impl_count, sizeof *w.pending);
    if (!w.pending || both == MAP_FAILED) kind = fault_set(f, FAULT_MEMORY, "memory ran out");
    while (!kind && !*stopped) { /* each time round at least one cell gets its record */
        w.count = 0;
        for (int32_t i = 0; i < r->plan->impl_count; ++i)
            if (r->have[w.first + i] == RUN_MISSING) w.pending[w.count++] = w.first + i;
        if (w.count == 0) break;
        kind = run_child(&w, problem, share_ms, left_ms, limit_ms, stopped, both, f);
    }
    if (both != MAP_FAILED) munmap(both, sizeof *both);
    free(w.pending);
    free(w.text);
    return kind;
}
