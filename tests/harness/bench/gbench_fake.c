/* SPDX-License-Identifier: Apache-2.0
 * gbench_fake.c: the front end for Google Benchmark over a target whose times are made up: FACTOR times 2 ms for a copy,
 * 3, 4, 5 ... times FACTOR ms for the samples. What goes wrong is in the name of the implementation.
 *
 *   gbench_fake FACTOR IMPL,IMPL... [flags of Google Benchmark] */
#include "bench/gbench.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 8 };

static double  factor;
static int64_t opened, samples, copies;

static fault_kind fake_open(target *t, const ih_spec *problem, problem_info *info, fault *f)
{
    (void)t;
    (void)f;
    *info = (problem_info) { .rows = problem->rows, .n = problem->rows * problem->n, .blocks = 7 };
    strcpy(info->digest, "0123456789abcdef");
    opened++;
    return FAULT_NONE;
}

static fault_kind fake_prepare(target *t, cell_record *c, fault *f)
{
    (void)t;
    samples            = 0;
    c->threads         = 1;
    c->workspace_bytes = 4096;
    if (strcmp(c->impl, "breaks") == 0) return fault_set(f, FAULT_LIBRARY, "prepare broke");
    if (strcmp(c->impl, "cannot") != 0) return FAULT_NONE;
    c->status = CELL_UNSUPPORTED;
    strcpy(c->why, "no weights");
    return FAULT_NONE;
}

static fault_kind fake_sample(target *t, cell_record *c, double *ms, bool *throttled, fault *f)
{
    (void)t;
    (void)f;
    *throttled = false;
    /* three equal times settle the warm-up: 3, 3, 3, then 3, 4, 5 for the repetitions that count */
    *ms = factor * (samples < 3 ? 3 : (double)samples);
    samples++;
    if (strcmp(c->impl, "unmeasured") == 0) c->workspace_bytes = -1;
    return FAULT_NONE;
}

static fault_kind fake_verify(target *t, cell_record *c, bool *same, fault *f)
{
    (void)t;
    (void)f;
    *same = strcmp(c->impl, "wrong_sample") != 0 || samples < 5; /* good through the warm-up */
    return FAULT_NONE;
}

static fault_kind fake_digest(target *t, cell_record *c, fault *f)
{
    (void)t;
    (void)f;
    strcpy(c->digest, strcmp(c->impl, "wrong_digest") == 0 ? "ffffffffffffffff" : "0123456789abcdef");
    c->blocks = 7;
    return FAULT_NONE;
}

static fault_kind fake_copy(target *t, const protocol *p, double *ms, fault *f)
{
    (void)t;
    (void)p;
    (void)f;
    copies++;
    *ms = 2 * factor;
    return FAULT_NONE;
}

static void fake_close(target *t)
{
    (void)t;
    opened--;
}

int main(int argc, char **argv)
{
    target t = { .device = "fake", .virtual_time = true, .open = fake_open, .prepare = fake_prepare, .sample = fake_sample,
                 .verify = fake_verify, .digest = fake_digest, .copy = fake_copy, .close = fake_close };
    cell_record cells[CELLS];
    json_t     *run;
    char       *name;
    int         count = 0, code;

    say_name = "gbench_fake";
    if (argc < 3) return 99;
    factor = atof(argv[1]);
    for (name = strtok(argv[2], ","); name && count < CELLS; name = strtok(NULL, ",")) {
        cell_init(&cells[count]);
        snprintf(cells[count].impl, sizeof cells[0].impl, "%s", name);
        strcpy(cells[count].problem, "noise:f64:rows=2:n=500");
        cells[count].protocol.cold = 1;
        count++;
    }
    argv[2] = argv[0];
    run     = json_pack("{s:s, s:i, s:[s, s]}", "commit", "abc", "cpus", 2, "argv", "bench", "x");
    code    = gbench_run(&t, cells, count, run, argc - 2, argv + 2);
    json_decref(run);
    for (int k = 0; k < count; ++k) cell_free(&cells[k]);
    if (opened != 0) {
        say("%d problems are still open", (int)opened);
        return 98;
    }
    return code;
}
