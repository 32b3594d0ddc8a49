/* SPDX-License-Identifier: Apache-2.0
 * table.c: tables of measured cells. A cell that is not ok has no numbers here, only its reason. */
#include "table.h"

#include "stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const int64_t FLOOR_BELOW = 1000000; /* elements below which the empty call is a share worth showing */

static double iqr(const cell_record *c)
{
    double *counting = malloc((size_t)(c->samples > 0 ? c->samples : 1) * sizeof *counting);
    int64_t n;
    double  range = -1;

    if (!counting) return -1;
    n = cell_counting(c, counting);
    if (n > 0) range = stats_quantile(counting, n, 0.75) - stats_quantile(counting, n, 0.25);
    free(counting);
    return range;
}

/* Four digits, or a dash for what was not measured. */
static const char *number(char text[32], double value)
{
    if (value >= 0) snprintf(text, 32, "%.4g", value);
    else strcpy(text, "-");
    return text;
}

/* Its name, with the kind of call where there are two. */
static const char *label_of(const bench_run *r, const cell_record *c, char text[300])
{
    snprintf(text, 300, "%s%s", c->impl, r->plan->calls < 2 ? "" : c->protocol.call == CALL_GRAPH ? ", graph" : ", direct");
    return text;
}

static void print_row(FILE *to, const bench_run *r, const cell_record *c, int width)
{
    const double copy = c->copy_samples > 0 ? stats_median(c->copy_samples_ms, c->copy_samples) : -1;
    char         a[32], b[32], d[32], e[32], g[32], h[32], i[32], label[300];

    fprintf(to, "  %-*s %10s  %10s .. %-10s %9s %8s %9s", width, label_of(r, c, label), number(a, c->median_ms), number(b, c->ci_low_ms), number(d, c->ci_high_ms),
            number(e, iqr(c)), number(g, copy > 0 ? c->median_ms / copy : -1), number(h, c->n > 0 ? c->median_ms * 1e6 / (double)c->n : -1));
    if (c->n < FLOOR_BELOW) {
        const double over = (c->median_ms - c->empty_call_ms) * 1e3;
        fprintf(to, " %11s", number(i, c->empty_call_ms < 0 ? -1 : over > 0 ? over : 0));
    }
    fprintf(to, " %8" PRId64, c->samples - c->throttled_count);
    if (c->throttled_count) fprintf(to, "  (%" PRId64 " throttled, left out)", c->throttled_count);
    if (c->closure >= 0) fprintf(to, "  (stages are %.0f %% of a call)", 100 * c->closure);
    if (c->max_deviation >= 0) fprintf(to, "  (z within %.1e of max |y|)", c->max_deviation);
    fputc('\n', to);
}

static void print_status(FILE *to, const bench_run *r, const cell_record *c, run_have have, int width)
{
    char label[300];

    if (have == RUN_MISSING) fprintf(to, "  %-*s not measured\n", width, label_of(r, c, label));
    else fprintf(to, "  %-*s %s: %s\n", width, label_of(r, c, label), run_undecided(c) ? "undecided" : cell_status_name(c->status), c->why);
}

static void print_head(FILE *to, const cell_record *cells, int32_t count, int width)
{
    const cell_record *c = NULL;
    char               a[32], b[32], blocks[32] = "unknown";

    fprintf(to, "\n%s\n", cells[0].problem);
    for (int32_t i = 0; i < count && !c; ++i)
        if (cells[i].status == CELL_OK && cells[i].samples > 0 && cells[i].blocks >= 0) c = &cells[i];
    for (int32_t i = 0; i < count && !c; ++i)
        if (cells[i].status == CELL_OK && cells[i].samples > 0) c = &cells[i]; /* peers alone know no blocks */
    if (!c) return;
    if (c->blocks >= 0) snprintf(blocks, sizeof blocks, "%" PRId64, c->blocks);
    fprintf(to, "  %" PRId64 " elements in %" PRId64 " row%s, %s block%s; copy %s ms, read %s ms\n", c->n, c->rows, c->rows == 1 ? "" : "s",
            blocks, c->blocks == 1 ? "" : "s", number(a, c->copy_samples > 0 ? stats_median(c->copy_samples_ms, c->copy_samples) : -1), number(b, c->read_ms));
    fprintf(to, "  %-*s %10s  %24s %9s %8s %9s%s %8s\n", width, "", "median ms", "95 % interval, ms   ", "IQR, ms", "x copy", "ns/elem", c->n < FLOOR_BELOW ? " us > empty " : "", "samples");
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "unknown";
}

static void print_foot(FILE *to, const bench_run *r)
{
    const protocol *p = &r->plan->cells[0].protocol;

    fprintf(to, "\n%s samples (%s), interleaved by seed %" PRIu64 "; copy and read %s.\n", p->cold ? "Cold" : "Hot",
            p->cold ? "caches emptied before each" : "each right after an untimed call", r->plan->seed,
            p->call == CALL_HOST ? "on one thread" : "on the device");
    if (p->call != CALL_HOST)
        fprintf(to, "Work: %s, %s. \"us > empty\": above the launch of an empty kernel.\n", work_kind_name(p->work),
                r->plan->calls == 2 ? "direct: enqueued by the host, graph: a captured graph launched" :
                p->call == CALL_GRAPH ? "a captured graph launched" : "enqueued by the host");
    if (json_object_get(r->record, "gpu"))
        fprintf(to, "%s, %s, driver %s; ", text_of(json_object_get(r->record, "gpu"), "name"), text_of(json_object_get(r->record, "device_code"), "compiler"),
                text_of(json_object_get(json_object_get(r->record, "gpu"), "nvml"), "driver"));
    if (r->plan->trace) fprintf(to, "Replayed from %s: nothing was measured here.\n", r->plan->trace);
    else fprintf(to, "%s, %d processors, %s; isohull %s, commit %.12s%s.\n", text_of(r->record, "cpu"), (int)json_integer_value(json_object_get(r->record, "cpus")),
                 text_of(r->record, "compiler"), text_of(r->record, "version"), text_of(r->record, "commit"), json_is_true(json_object_get(r->record, "dirty")) ? " and changes" : "");
    if (!r->plan->trace && json_is_true(json_object_get(r->record, "profiled"))) fprintf(to, "Measured under a profiler, whose cost is in all times: to be compared with nothing.\n");
    if (!r->plan->trace && json_object_get(r->record, "timing_refused")) fprintf(to, "THESE TIMES DO NOT COUNT: %s.\n", text_of(r->record, "timing_refused"));
}

void table_print(FILE *to, const bench_run *r)
{
    const plan *p     = r->plan;
    int         width = 12;
    char        label[300];

    for (int32_t i = 0; i < p->impl_count; ++i)
        if ((int)strlen(label_of(r, &p->cells[i], label)) > width) width = (int)strlen(label);
    for (int32_t k = 0; k < p->problem_count; ++k) {
        const cell_record *cells = &p->cells[k * p->impl_count];
        print_head(to, cells, p->impl_count, width);
        for (int32_t i = 0; i < p->impl_count; ++i) {
            const run_have have = r->have[k * p->impl_count + i];
            if (have != RUN_MISSING && cells[i].status == CELL_OK) print_row(to, r, &cells[i], width);
            else print_status(to, r, &cells[i], have, width);
        }
    }
    print_foot(to, r);
}

json_t *table_json(const bench_run *r)
{
    const int32_t count = r->plan->problem_count * r->plan->impl_count;
    json_t       *cells = json_array(), *missing = json_array();
    int           bad   = !cells || !missing;

    for (int32_t k = 0; k < count && !bad; ++k) {
        const cell_record *c = &r->plan->cells[k];
        bad = r->have[k] == RUN_MISSING ? json_array_append_new(missing, json_pack("{ss ss}", "impl", c->impl, "problem", c->problem))
                                        : json_array_append_new(cells, cell_to_json(c));
    }
    return bad ? NULL : json_pack("{si sO so so}", "schema", (int)RECORD_SCHEMA, "run", r->record, "cells", cells, "not_measured", missing);
}
