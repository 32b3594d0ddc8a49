/* SPDX-License-Identifier: Apache-2.0
 * cmd_bench.c: isohull bench, times of implementations on problems. */
#include "args.h"
#include "commands.h"
#include "json.h"
#include "say.h"

#include "bench/env.h"
#include "bench/env_gpu.h"
#include "bench/gbench.h"
#include "bench/run.h"
#include "bench/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLAGS_MOST = 64 };

static const char about[] =
    "Measures how long implementations take on problems, each problem in a process of its own. Before a time counts, what was\n"
    "computed is compared with the exact fit: a wrong result is in no table and makes the exit code 5. Tables give medians with\n"
    "exact 95 % intervals, quartile ranges, and times in units of a copy of y to z made in the same run. With -o every\n"
    "finished cell (an implementation on a problem) is kept in a journal at once: after an interruption of any kind the same\n"
    "command goes on where it was.\n";

static const char rest[] =
    "Options of implementations stand behind their names: --impl cpu_pav,cpu_hulls:chunk=2048:threads=1.\n"
    "docs/measuring.md explains the protocol, docs/journal.md the journal; 'isohull results check' validates journals.\n\n"
    "Examples:\n"
    "  $ isohull bench --preset smoke --time 5s\n"
    "  $ isohull bench --problem noise:n=1e5 --impl cpu_pav,cpu_hulls --protocol hot --time 2s -o bench.jsonl\n"
    "  $ isohull bench --problem noise:n=1e5 --impl cpu_pav,cpu_hulls --protocol hot --time 2s -o bench.jsonl --format json\n"
    "On a GPU:\n"
    "  isohull bench --device cuda:0 --preset gpu_speed --call both --time 10m -o gpu.jsonl\n\n"
    "Exit codes: 0 good; 2 usage, or a build whose times mean nothing; 5 wrong results; 4 the journal is from another machine; 1 a\n"
    "cell failed; 3 undecided (too few samples under full clocks); 6 time spent with cells left (run it again); 77 no such\n"
    "device; 130 interrupted (what had been measured is kept).\n";

typedef struct bench_options {
    const char *format, *out, *limit;
} bench_options;

/* Is the journal from a machine whose times can be compared with this one's, and with or without a profiler as this run is? */
static int check_machine(const journal_data *earlier, const json_t *run, const char *device, const char *path)
{
    for (int64_t k = 0; k < earlier->run_count; ++k) {
        const json_t *other = earlier->runs[k];
        const char   *differs = env_differs(run, other), *on = json_string_value(json_object_get(other, "device"));
        if (!differs || !on || strcmp(on, device) != 0) continue; /* peers and other devices stand for themselves */
        char *here = json_dumps(json_object_get(run, differs), JSON_ENCODE_ANY), *there = json_dumps(json_object_get(other, differs), JSON_ENCODE_ANY);
        say("%s was measured elsewhere or otherwise: \"%s\" is %s there and %s here; choose another journal", path, differs, there ? there : "?", here ? here : "?");
        free(here);
        free(there);
        return EXIT_ENVIRONMENT;
    }
    return EXIT_GOOD;
}

static void say_left(const bench_run *r)
{
    const int32_t count = r->plan->problem_count * r->plan->impl_count;

    for (int32_t k = 0; k < count; ++k)
        if (r->have[k] == RUN_MISSING) say("not measured: %s on %s", r->plan->cells[k].impl, r->plan->cells[k].problem);
}

static int report(const bench_run *r, const bench_options *o)
{
    const int code = run_exit_code(r);
    int       printed = EXIT_GOOD;

    if (o->format && strcmp(o->format, "json") == 0) printed = json_print(table_json(r));
    else table_print(stdout, r);
    if (r->out_of_time) {
        say("the time of %.3g s (--time) is spent; the same command goes on%s:", r->plan->time_ms * 1e-3, o->out ? "" : " if a journal is kept (-o)");
        say_left(r);
    }
    if (r->interrupted) say("interrupted; %s", o->out ? "what was measured is in the journal, and the same command goes on" : "no journal was kept (-o)");
    return printed == EXIT_GOOD ? code : printed;
}

/* Open the journal, look what is in it, measure the rest. */
static int measure(bench_run *r, const bench_options *o)
{
    journal_data earlier = { 0 };
    int64_t      torn    = 0;
    fault        f;
    int          code = EXIT_GOOD;
    fault_kind   kind = FAULT_NONE;

    fault_clear(&f);
    if (o->out) {
        kind = journal_open(&r->journal, o->out, &torn, &f);
        if (!kind && torn) say("%s: its last line was torn, %lld bytes without an end: cut off", o->out, (long long)torn);
        if (!kind) kind = journal_read(&earlier, &o->out, 1, &f);
        r->earlier = &earlier;
        if (!kind) code = check_machine(&earlier, r->record, r->plan->device, o->out);
    }
    if (!kind && code == EXIT_GOOD) {
        kind = run_measure(r, &f);
        if (!kind) code = report(r, o);
        run_free(r);
    }
    journal_close(r->journal);
    journal_free(&earlier);
    if (!kind) return code;
    say("%s", f.message);
    return f.exit_code;
}

static int run_gbench(plan *p, const json_t *record, const char **flags, int count)
{
    char   *argv[FLAGS_MOST + 2];
    target *t;
    fault   f;
    int     code;

    if (!gbench_built()) return say_bad("--format gbench: this build has no Google Benchmark (apt install libbenchmark-dev, then build again)");
    t = run_target(p, &f);
    if (!t) return say_bad("%s", f.message);
    argv[0] = strdup("isohull bench");
    for (int k = 0; k < count; ++k) argv[k + 1] = strdup(flags[k]);
    argv[count + 1] = NULL;
    code            = gbench_run(t, p->cells, (int64_t)p->problem_count * p->impl_count, record, count + 1, argv);
    for (int k = 0; k <= count; ++k) free(argv[k]);
    t->free(t);
    return code;
}

static int check_options(const bench_options *o, const plan *p, const char **flags, int n_flags)
{
    const int gbench = o->format && strcmp(o->format, "gbench") == 0;

    if (o->format && !gbench && strcmp(o->format, "table") != 0 && strcmp(o->format, "json") != 0)
        return say_bad("option --format: '%s' is none of table, json, gbench", o->format);
    if (!gbench && n_flags) return say_bad("unexpected argument '%s' (problems are given by --problem)", flags[0]);
    if (gbench && o->out) return say_bad("--format gbench keeps no journal: its file is --benchmark_out=FILE behind --");
    if (!p->trace && env_timing_refused() && !getenv("ISOHULL_TIMING_ANYWAY"))
        return say_bad("%s: its times would mean nothing (meson setup --buildtype=release)", env_timing_refused());
    if (p->ordinal >= 0 && env_gpu_refused() && !getenv("ISOHULL_TIMING_ANYWAY")) return say_bad("%s: its times would mean nothing", env_gpu_refused());
    return ARGS_GO_ON;
}

int cmd_bench(int argc, char **argv)
{
    const char      *impls[ARGS_REPEATS] = { NULL }, *problems[ARGS_REPEATS] = { NULL }, *peers[ARGS_REPEATS] = { NULL }, *flags[FLAGS_MOST];
    plan_request     request = { .impls = impls, .problems = problems, .peers = peers };
    bench_options    o       = { NULL, NULL, NULL };
    const arg_option options[] = {
        { "--impl", "NAME[,NAME]...", "Implementations, with options behind ':'. Default: all of the device.", impls },
        { "--problem", "PROBLEM...", "A problem (isohull gen --help). May be given several times.", problems },
        { "--peer", "NAME[,NAME]...", "Other libraries' solvers beside them, from scripts/peers (scripts/peers list; docs/peers.md). Default: none.", peers },
        { "--preset", "NAME", "A selection of problems (isohull list). Default if there is no --problem: smoke.", &request.preset },
        { "--time", "T", "Time for all, shared by the cells: 20s (default), 1.5m, 1h. A problem that has begun gets the least\nnumber of samples, 7, even past it.", &request.time },
        { "--protocol", "cold|hot", "cold (default): caches are emptied before each sample; hot: each sample follows an untimed call.", &request.protocol },
        { "--threads", "N", "Threads for implementations that have this option. Default: as many as processors may be used.", &request.threads },
        { "--seed", "S", "Seed of the order of samples, a whole number. Default 1.", &request.seed },
        { "--device", "DEVICE", "cpu (default), cuda:N (N from 0), or replay:FILE: a recorded trace instead of measurements (docs/journal.md).", &request.device },
        { "--call", "direct|graph|both", "(cuda:N) direct (default): each call is enqueued by the host; graph: captured once, each call launches the graph;\nboth: cells of both kinds, in the same rounds.", &request.call },
        { "--what", "WORK", "(cuda:N) What is timed: fit (default), backward (the gradient in y of a fit), or fit+backward.", &request.work },
        { "--digests", "FILE", "(cuda:N) Digests by cpu_exact (tests/data/fit_digests.txt): past 2e7 elements, where it is too slow to be the\nreferee, what the other referee finds is compared with them. Default: none.", &request.digests },
        { "--limit", "T", "Longest time of one problem; then its process is ended (status timeout). Default: ten times its share\nof --time, at least 60s.", &o.limit },
        { "--format", "table|json|gbench", "What is printed. table (default); json: one object with the run and its cells; gbench: run by Google\nBenchmark, whose own flags follow '--'.", &o.format },
        { "-o", "JOURNAL", "Journal, .jsonl: appended to, one line a cell; cells that it has are not measured again. Default: none.", &o.out },
    };
    const arg_page page = { "isohull bench [--impl NAME,...] [--problem PROBLEM]... [--preset NAME] [--time 20s] [-o JOURNAL] [options]", about, options,
                            sizeof options / sizeof options[0], rest };
    plan      p;
    bench_run r = { .plan = &p };
    fault     f;
    int       n_flags, code;

    code = args_read(&page, argc, argv, flags, FLAGS_MOST, &n_flags);
    if (code != ARGS_GO_ON) return code;
    fault_clear(&f);
    if (plan_make(&p, &request, env_code_hash(), env_gpu_code_hash(), &f) != FAULT_NONE) {
        say("%s", f.message);
        return f.exit_code;
    }
    code = ARGS_GO_ON;
    if (o.limit && !plan_parse_time(o.limit, &r.limit_ms)) code = say_bad("option --limit: '%s' is no time (20s, 1.5m, 1h)", o.limit);
    if (code == ARGS_GO_ON) code = check_options(&o, &p, flags, n_flags);
    if (code == ARGS_GO_ON && p.trace) { /* before anything is written */
        target *t = run_target(&p, &f);
        if (t) t->free(t);
        else code = say_bad("%s", f.message);
    }
    if (code == ARGS_GO_ON) {
        r.record = env_run(argc, argv, p.device, p.seed);
        if (r.record && p.ordinal >= 0 && env_gpu_add(r.record, p.ordinal, &f) != FAULT_NONE) {
            say("%s", f.message);
            code = f.exit_code;
        } else if (!r.record || (p.peer_versions && json_object_set(r.record, "peers", p.peer_versions))) code = say_bad("memory ran out");
        else if (o.format && strcmp(o.format, "gbench") == 0) code = run_gbench(&p, r.record, flags, n_flags);
        else code = measure(&r, &o);
        json_decref(r.record);
    }
    plan_free(&p);
    return code;
}
