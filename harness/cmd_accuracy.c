/* SPDX-License-Identifier: Apache-2.0
 * cmd_accuracy.c: isohull accuracy, fits of implementations measured against the exact fit. */
#include "args.h"
#include "commands.h"
#include "device.h"
#include "say.h"

#include "bench/accuracy_cell.h"
#include "bench/accuracy_log.h"
#include "bench/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Fits every problem by every implementation and measures how far each fit is from the exact one (which is computed in\n"
    "integers; sums are taken in quadruple precision). Canonical implementations must return the exact solution rounded once,\n"
    "bit for bit. The measures, each the worst over the rows:\n\n"
    "  step down   largest fall of the fit (decreasing: rise) over max|y|\n"
    "  deviation   largest |z - z*| / (1 + |z*|), z* the exact solution\n"
    "  ulp         largest |z - z*| in units of the last place of z*; at most 0.5 if every value is rounded right\n"
    "  unrounded   values that are not z* rounded to nearest\n"
    "  objective   excess of sum w (z - y)^2 over the exact one, relative to it (or to eps sum w y^2, if that is more)\n"
    "  KKT         largest violation of the optimality conditions over sum w|y|; not with bounds\n"
    "  missing, extra\n"
    "              block starts that the exact fit has and this one lacks, and the other way round\n"
    "  coincide    neighbours in different exact blocks with equal outputs (JSON: and how many the canonical fit has)\n";

static const char rest[] =
    "Without --problem and --preset the preset accuracy is measured. --format table prints a line a problem if there are few,\n"
    "else the worst of each implementation, type and weighting; --format json an object a line, as in the journal.\n\n"
    "Examples:\n"
    "  $ isohull accuracy --impl cpu_pav,cpu_hulls --problem consecutive:n=1e5 --problem cancellation:f64:B=1e12:n=1e5\n"
    "  $ isohull gen noise:n=1000 -o y.npy\n"
    "  $ isohull fit y.npy -o z.npy\n"
    "  $ isohull accuracy --problem noise:n=1000 --fit z.npy --name mine\n\n"
    "Exit codes: 0 good; 2 usage, unreadable input or no memory; 5 an implementation that claims the canonical fit differs from\n"
    "it in a bit, or failed; 77 no such device; 130 interrupted.\n";

typedef struct request {
    const char *impls[ARGS_REPEATS], *problems[ARGS_REPEATS];
    const char *preset, *fit, *name, *format, *journal, *where;
    int         ordinal; /* of a CUDA device; -1: the CPU */
} request;

/* ---- the table ---- */

enum { LABEL = 1024 };

typedef struct line { char label[LABEL]; int64_t problems, wrong; accuracy worst; } line;

typedef struct table { line *lines; int count, room, single; } table;

static void print_head(void)
{
    printf("%-9s %-9s %-9s %-9s %-9s %-9s %-8s %-8s %-8s %-8s  %s\n", "step down", "deviation", "ulp", "unrounded", "objective", "KKT",
           "blocks", "missing", "extra", "coincide", "implementation, problem");
}

static void print_measure(int there, double value)
{
    char text[32];
    snprintf(text, sizeof text, there ? "%.3g" : "-", value);
    printf("%-9s ", text);
}

static void print_count(int there, int64_t value)
{
    if (there) printf("%-8lld ", (long long)value);
    else printf("%-8s ", "-");
}

static void print_line(const line *l)
{
    const accuracy *a = &l->worst;
    const int       finite = a->not_finite == 0;

    print_measure(finite, a->step_down);
    print_measure(finite, a->deviation);
    print_measure(finite, a->ulps);
    printf("%-9lld ", (long long)a->not_rounded);
    print_measure(finite, a->objective_excess);
    print_measure(finite && a->kkt >= 0, a->kkt);
    print_count(a->blocks >= 0, a->blocks);
    print_count(a->blocks >= 0, a->missing);
    print_count(a->blocks >= 0, a->extra);
    print_count(1, a->coinciding);
    printf(" %s", l->label);
    if (l->problems > 1) printf(" (%lld problems)", (long long)l->problems);
    if (l->wrong) printf("  %lld WRONG", (long long)l->wrong);
    putchar('\n');
}

static double larger(double a, double b) { return a > b ? a : b; }

static void fold(accuracy *into, const accuracy *a)
{
    into->not_finite += a->not_finite;
    into->not_rounded += a->not_rounded;
    into->step_down        = larger(into->step_down, a->step_down);
    into->deviation        = larger(into->deviation, a->deviation);
    into->ulps             = larger(into->ulps, a->ulps);
    into->objective_excess = larger(into->objective_excess, a->objective_excess);
    into->kkt              = larger(into->kkt, a->kkt);
    into->coinciding += a->coinciding;
    if (into->blocks < 0 || a->blocks < 0) {
        into->blocks = -1;
        return;
    }
    into->blocks += a->blocks;
    into->missing += a->missing;
    into->extra += a->extra;
}

static int add_line(table *t, const char *label, const accuracy *a, int wrong)
{
    int k = 0;

    while (k < t->count && strcmp(t->lines[k].label, label) != 0) ++k;
    if (k == t->count) {
        if (t->count == t->room) {
            const int room  = t->room ? 2 * t->room : 32;
            line     *lines = realloc(t->lines, (size_t)room * sizeof *lines);
            if (!lines) return 0;
            t->lines = lines;
            t->room  = room;
        }
        memset(&t->lines[k], 0, sizeof t->lines[k]);
        snprintf(t->lines[k].label, sizeof t->lines[k].label, "%s", label);
        t->lines[k].worst = *a;
        ++t->count;
    } else {
        fold(&t->lines[k].worst, a);
    }
    ++t->lines[k].problems;
    t->lines[k].wrong += wrong;
    if (t->single) print_line(&t->lines[k]);
    return 1;
}

/* ---- cells ---- */

typedef struct job {
    const request *q;
    table          table;
    accuracy_log  *log;
    device        *d;      /* NULL: the CPU */
    int            json, wrong, failed, done;
} job;

static const char *label_of(const job *j, const char *impl, const ih_spec *spec, const char *problem, char *label, size_t bytes)
{
    if (j->table.single) snprintf(label, bytes, "%s, %s", impl, problem);
    else snprintf(label, bytes, "%s, %s, w=%s", impl, spec->dtype == IH_F32 ? "float32" : "float64", ih_weighting_at((int32_t)spec->weighting)->name);
    return label;
}

static int finish(job *j, cell_record *cell, const ih_spec *spec, const accuracy *a, fault *f)
{
    char label[LABEL];

    j->done++;
    j->wrong += cell->status == CELL_WRONG;
    j->failed += cell->status == CELL_ERROR;
    if (accuracy_log_append(j->log, cell, f)) return say_bad("%s", f->message);
    if (j->json) {
        json_t *o    = cell_to_json(cell);
        char   *text = o ? json_dumps(o, JSON_COMPACT) : NULL; /* a line each, as in the journal */
        if (text) puts(text);
        free(text);
        json_decref(o);
        return text ? ARGS_GO_ON : say_bad("memory ran out");
    }
    if (!a) {
        say("%s, %s: %s", cell->impl, cell->problem, cell->why);
        return ARGS_GO_ON;
    }
    if (!add_line(&j->table, label_of(j, cell->impl, spec, cell->problem, label, sizeof label), a, cell->status == CELL_WRONG))
        return say_bad("memory ran out");
    return ARGS_GO_ON;
}

static void describe(cell_record *cell, const job *j, const accuracy_case *c, const char *impl, const char *problem)
{
    char label[32];

    cell_init(cell);
    snprintf(cell->impl, sizeof cell->impl, "%s", impl);
    snprintf(cell->problem, sizeof cell->problem, "%s", problem);
    device_label(j->q->ordinal, label);
    snprintf(cell->device, sizeof cell->device, "%s", label);
    snprintf(cell->digest_want, sizeof cell->digest_want, "%s", c->digest_want);
    cell->rows = c->problem.rows;
    cell->n    = c->exact.blocks ? (int64_t)c->arrays.y.elements : 0;
}

static int measure_file(job *j, accuracy_case *c, const ih_spec *spec, const char *problem)
{
    cell_record cell;
    accuracy    a;
    fault       f;
    int         code;

    fault_clear(&f);
    describe(&cell, j, c, j->q->name ? j->q->name : "file", problem);
    if (accuracy_file(c, j->q->fit, &a, &f)) return say_bad("%s", f.message);
    cell.status   = CELL_OK;
    cell.digest_want[0] = 0; /* without blocks there is no digest */
    snprintf(cell.code_hash, sizeof cell.code_hash, "%.31s", cell.impl);
    cell.accuracy = accuracy_to_json(&a);
    code          = cell.accuracy ? finish(j, &cell, spec, &a, &f) : say_bad("memory ran out");
    cell_free(&cell);
    return code;
}

static int measure_impl(job *j, accuracy_case *c, const ih_spec *spec, const char *problem, const char *text)
{
    const ih_impl *impl;
    ih_options     options;
    ih_error       error = { .size = sizeof error };
    ih_status      status;
    cell_record    cell;
    accuracy       a;
    fault          f;
    fault_kind     kind;
    int            code;

    fault_clear(&f);
    ih_options_init(&options);
    if (ih_impl_parse(text, &impl, &options) != IH_OK) return say_bad("implementation '%s' is gone", text);
    describe(&cell, j, c, text, problem);
    kind = accuracy_fit(c, j->d, impl, &options, &status, &a, cell.digest, &f);
    if (kind || status != IH_OK) {
        ih_last_error(&error);
        cell.status = !kind && status == IH_EUNSUPPORTED ? CELL_UNSUPPORTED : CELL_ERROR;
        snprintf(cell.why, sizeof cell.why, "%.511s", kind ? f.message : error.message);
        cell.digest[0] = 0;
        cell.accuracy  = json_object(); /* empty: what it is without an answer */
        code           = cell.accuracy ? finish(j, &cell, spec, NULL, &f) : say_bad("memory ran out");
    } else {
        const int right = accuracy_canonical(&a) && (!cell.digest[0] || strcmp(cell.digest, cell.digest_want) == 0);
        cell.blocks     = a.blocks;
        cell.status     = right || !(impl->features & IH_CANONICAL) ? CELL_OK : CELL_WRONG;
        if (cell.status == CELL_WRONG) snprintf(cell.why, sizeof cell.why, "claims the canonical fit but differs from it");
        if (!right && cell.status == CELL_OK) cell.digest[0] = cell.digest_want[0] = 0; /* approximate: nothing to compare */
        cell.accuracy = accuracy_to_json(&a);
        code          = cell.accuracy ? finish(j, &cell, spec, &a, &f) : say_bad("memory ran out");
    }
    cell_free(&cell);
    return code;
}

static int measure_problem(job *j, const selection *s, const char *problem)
{
    ih_spec      *spec = malloc(sizeof *spec);
    accuracy_case c;
    char          message[IH_SPEC_MESSAGE];
    fault         f;
    int           code = ARGS_GO_ON;

    fault_clear(&f);
    if (!spec) return say_bad("memory ran out");
    if (ih_spec_parse(spec, problem, message, sizeof message) != 0) code = say_bad("%s", message);
    else if (accuracy_open(&c, spec, &f)) {
        code = say_bad("%s: %s", problem, f.message);
        accuracy_close(&c);
    } else {
        spec->dtype = c.problem.dtype;
        if (j->q->fit) code = measure_file(j, &c, spec, problem);
        else
            for (int k = 0; k < s->n_impls && code == ARGS_GO_ON; ++k)
                if (!accuracy_log_has(j->log, s->impls[k], problem)) code = measure_impl(j, &c, spec, problem, s->impls[k]);
        accuracy_close(&c);
    }
    free(spec);
    return code;
}

static int measure(const request *q, const selection *s, int argc, char **argv)
{
    job   j = { .q = q };
    fault f;
    int   code = ARGS_GO_ON;

    fault_clear(&f);
    j.json         = q->format && strcmp(q->format, "json") == 0;
    j.table.single = !j.json && (q->fit || s->n_impls * s->n_problems <= 60);
    /* the log asks the device in a process of its own, so that it comes first */
    if ((q->journal && accuracy_log_open(&j.log, q->journal, q->ordinal, argc, argv, &f)) || (q->ordinal >= 0 && device_open(&j.d, q->ordinal, &f))) {
        say("%s", f.message);
        accuracy_log_close(j.log);
        return f.exit_code;
    }
    if (!j.json) print_head();
    for (int k = 0; k < s->n_problems && code == ARGS_GO_ON; ++k) code = measure_problem(&j, s, s->problems[k]);
    for (int k = 0; !j.table.single && k < j.table.count; ++k) print_line(&j.table.lines[k]);
    device_close(j.d);
    accuracy_log_close(j.log);
    free(j.table.lines);
    if (code != ARGS_GO_ON) return code;
    if (q->journal) say("%d cells measured, %s", j.done, q->journal);
    if (j.wrong) say("%d of %d fits are wrong", j.wrong, j.done);
    if (j.failed) say("%d of %d fits failed: nothing is known of them", j.failed, j.done);
    return j.wrong ? EXIT_WRONG : j.failed ? EXIT_USAGE : EXIT_GOOD;
}

static int choose_device(request *q)
{
    q->ordinal = q->where ? device_number(q->where) : -1;
    if (q->ordinal < 0 && q->where && strcmp(q->where, "cpu") != 0) return say_bad("option --device: '%s' is neither cpu nor cuda:N (N from 0 to 1023)", q->where);
    if (q->ordinal < 0) return ARGS_GO_ON;
    if (q->fit) return say_bad("--fit goes with --device cpu: the file is only compared");
    if (device_built() != DEVICE_BUILD_NONE) return ARGS_GO_ON;
    say("no device %s: this build has no CUDA implementation (isohull doctor says more)", q->where);
    return EXIT_NO_DEVICE;
}

static const char *runs_elsewhere(const request *q, const selection *s)
{
    for (int k = 0; k < s->n_impls; ++k) {
        const ih_impl *impl;
        ih_options     options;
        ih_options_init(&options);
        if (ih_impl_parse(s->impls[k], &impl, &options) == IH_OK && (impl->device == IH_DEVICE_CUDA) != (q->ordinal >= 0)) return s->impls[k];
    }
    return NULL;
}

int cmd_accuracy(int argc, char **argv)
{
    request          q;
    selection        s;
    fault            f;
    int              n_operands, code;
    const arg_option options[] = {
        { "--impl", "NAME[,NAME]...", "Implementations, with options behind ':'. Default: all of the device.", q.impls },
        { "--device", "cpu|cuda:N", "Where they run. Default: cpu.", &q.where },
        { "--problem", "PROBLEM...", "A problem (isohull gen --help). May be given several times.", q.problems },
        { "--preset", "NAME", "A set of problems: accuracy, smoke or speed ('isohull list' explains them).", &q.preset },
        { "--fit", "FILE", "Measure the fit in this file (.npy, raw, .csv) of the one problem instead of fitting it.", &q.fit },
        { "--name", "NAME", "What made that fit, for the table and the journal. Default: file.", &q.name },
        { "--format", "FORMAT", "table (default) or json.", &q.format },
        { "-o", "JOURNAL", "Append cells to this journal (.jsonl); those that it already has are not measured again.", &q.journal },
    };
    const arg_page page = { "isohull accuracy [--impl LIST]... [--problem PROBLEM]... [--preset NAME] [-o JOURNAL]\n"
                            "       isohull accuracy --problem PROBLEM --fit Z.npy [--name NAME] [-o JOURNAL]",
                            about, options, sizeof options / sizeof options[0], rest };

    memset(&q, 0, sizeof q);
    fault_clear(&f);
    code = args_read(&page, argc, argv, NULL, 0, &n_operands);
    if (code != ARGS_GO_ON) return code;
    if (q.format && strcmp(q.format, "table") != 0 && strcmp(q.format, "json") != 0)
        return say_bad("option --format: '%s' is neither table nor json", q.format);
    if (q.name && !q.fit) return say_bad("--name goes with --fit");
    if (q.name && strlen(q.name) >= 64) return say_bad("option --name: at most 63 letters");
    if (!q.problems[0] && !q.preset) q.preset = "accuracy";
    code = choose_device(&q);
    if (code != ARGS_GO_ON) return code;
    if (select_make(&s, q.ordinal >= 0 ? IH_DEVICE_CUDA : IH_DEVICE_CPU, q.impls, q.problems, q.preset, &f)) return say_bad("%s", f.message);
    if (runs_elsewhere(&q, &s)) {
        code = say_bad("--impl %s: runs on %s", runs_elsewhere(&q, &s), q.ordinal >= 0 ? "the CPU; give --device cpu" : "a GPU; give --device cuda:N");
        select_free(&s);
        return code;
    }
    code = q.fit && (s.n_problems != 1 || q.impls[0]) ? say_bad("--fit goes with one --problem and without --impl") : measure(&q, &s, argc, argv);
    select_free(&s);
    return code;
}
