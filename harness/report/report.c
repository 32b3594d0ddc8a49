/* SPDX-License-Identifier: Apache-2.0
 * report.c: the tables and texts of a report. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers as text ---- */

/* Four significant digits without an exponent from 0.0001 to 1e9; "" for a number that there is not. */
static const char *number(double value, char text[40])
{
    const int digits = value > 0 ? (int)floor(log10(value)) : 0;

    if (value == -1) text[0] = 0;
    else if (value == 0) strcpy(text, "0");
    else if (value > 0 && (digits < -4 || digits > 8)) snprintf(text, 40, "%.3g", value);
    else snprintf(text, 40, "%.*f", digits >= 3 || value < 0 ? 0 : 3 - digits, value);
    return text;
}

static const char *measure(double value, char text[40])
{
    if (value == -1) text[0] = 0;
    else snprintf(text, 40, "%.3g", value);
    return text;
}

static void put_number(doc *d, double value)
{
    char text[40];
    doc_cell(d, "%s", number(value, text));
}

static void put_count(doc *d, int64_t count)
{
    if (count < 0) doc_cell(d, "%s", "");
    else doc_cell(d, "%lld", (long long)count);
}

static void start_row(doc *d, const view_cell *c)
{
    char source[24];
    snprintf(source, sizeof source, "%lld", (long long)c->at);
    doc_row(d, source);
}

/* ---- runs ---- */

static const char *text_of(const json_t *run, const char *key)
{
    const char *text = json_string_value(json_object_get(run, key));
    return text ? text : "";
}

static void add_runs(doc *d, const view *v)
{
    static const char *const heads[] = { "run", "time (UTC)", "version", "commit", "seed", "cells", "command" };

    doc_table(d, "runs", "Runs: each begin of a command that measured.", 7, heads);
    for (int64_t k = 0; k < v->data->run_count; ++k) {
        const json_t *run = v->data->runs[k], *argv = json_object_get(run, "argv");
        int64_t       cells = 0;
        char          command[2048];
        size_t        at = 0;

        for (int64_t i = 0; i < v->data->cell_count; ++i) cells += strcmp(v->data->cells[i].run, text_of(run, "run")) == 0;
        command[0] = 0;
        for (size_t i = 0; i < json_array_size(argv) && at < sizeof command; ++i)
            at += (size_t)snprintf(command + at, sizeof command - at, "%s%s", i ? " " : "", json_string_value(json_array_get(argv, i)));
        doc_row(d, "");
        doc_cell(d, "%s", text_of(run, "run"));
        doc_cell(d, "%s", text_of(run, "time"));
        doc_cell(d, "%s", text_of(run, "version"));
        doc_cell(d, "%s%s", text_of(run, "commit"), json_is_true(json_object_get(run, "dirty")) ? " (with changes)" : "");
        put_count(d, (int64_t)json_integer_value(json_object_get(run, "seed")));
        put_count(d, cells);
        doc_cell(d, "%s", command);
    }
}

static int is_of_machine(const char *key)
{
    static const char *const others[] = { "schema", "kind", "run", "time", "version", "commit", "dirty", "seed", "argv" };
    for (size_t k = 0; k < sizeof others / sizeof others[0]; ++k)
        if (strcmp(key, others[k]) == 0) return 0;
    return 1;
}

static void put_json(doc *d, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL;

    if (json_is_string(value)) doc_cell(d, "%s", json_string_value(value));
    else doc_cell(d, "%s", text ? text : "");
    free(text);
}

/* Everything else that the runs say, once where it is the same in all. */
static void add_machine(doc *d, const view *v)
{
    static const char *const heads[] = { "field", "value", "runs" };
    const char              *key;
    json_t                  *value;

    doc_table(d, "machine", "Machine and build, as the runs recorded them.", 3, heads);
    for (int64_t k = 0; k < v->data->run_count; ++k)
        json_object_foreach(v->data->runs[k], key, value) {
            int64_t same = 0;
            int     seen = 0;
            if (!is_of_machine(key) || strcmp(key, "device_code") == 0) continue;
            for (int64_t i = 0; i < v->data->run_count; ++i) {
                const int equal = json_equal(json_object_get(v->data->runs[i], key), value);
                seen |= equal && i < k;
                same += equal;
            }
            if (seen) continue;
            doc_row(d, "");
            doc_cell(d, "%s", key);
            put_json(d, value);
            put_count(d, same);
        }
}

/* ---- device code ---- */

/* The code that a GPU runs: the highest architecture of its major number that is not above it; 0 if that is PTX. */
static int arch_taken(const json_t *run)
{
    const json_t *kernels = json_object_get(json_object_get(run, "device_code"), "kernels");
    const double  device  = atof(text_of(json_object_get(run, "gpu"), "compute_capability"));
    int           taken   = 0;

    for (size_t k = 0; k < json_array_size(kernels); ++k) {
        const int arch = (int)json_integer_value(json_object_get(json_array_get(kernels, k), "arch"));
        if (arch / 10 == (int)device && arch <= (int)(10 * device + 0.5) && arch > taken) taken = arch;
    }
    return taken;
}

static void add_kernels(doc *d, const json_t *run)
{
    static const char *const heads[] = { "kernel", "architecture", "registers", "stack (bytes)", "spill stores (bytes)", "spill loads (bytes)", "static shared (bytes)", "code" };
    static const char *const counts[] = { "arch", "registers", "stack_bytes", "spill_store_bytes", "spill_load_bytes", "shared_bytes" };
    const json_t            *code = json_object_get(run, "device_code"), *kernels = json_object_get(code, "kernels");
    const int                arch = arch_taken(run);

    if (json_is_true(json_object_get(code, "emulated"))) doc_add(d, DOC_TEXT, "Device code: emulated on the CPU (%s); flags: %s", text_of(code, "compiler"), text_of(code, "flags"));
    else doc_add(d, DOC_TEXT, "Device code: %s; machine code for %s, PTX for %s; flags: %s", text_of(code, "compiler"), text_of(code, "archs"), text_of(code, "ptx"), text_of(code, "flags"));
    if (arch == 0) return;
    doc_table(d, "kernels", "Kernels that ran: registers of a thread, and what did not fit into them; a hash of the machine code.", 8, heads);
    for (size_t k = 0; k < json_array_size(kernels); ++k) {
        const json_t *kernel = json_array_get(kernels, k);
        if (json_integer_value(json_object_get(kernel, "arch")) != arch) continue;
        doc_row(d, "");
        doc_cell(d, "%s", text_of(kernel, "name"));
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) put_count(d, (int64_t)json_integer_value(json_object_get(kernel, counts[i])));
        doc_cell(d, "%s", text_of(kernel, "hash"));
    }
}

/* Of each build that there is, once. */
static void add_device_code(doc *d, const view *v)
{
    for (int64_t k = 0; k < v->data->run_count; ++k) {
        const json_t *code = json_object_get(v->data->runs[k], "device_code");
        int           seen = code == NULL;
        for (int64_t i = 0; i < k && !seen; ++i) seen = json_equal(json_object_get(v->data->runs[i], "device_code"), code);
        if (!seen) add_kernels(d, v->data->runs[k]);
    }
}

/* ---- protocol ---- */

static void add_protocols(doc *d, const view *v)
{
    for (int64_t k = 0; k < v->n_bench; ++k) {
        const protocol *p    = &v->bench[k].cell->protocol;
        int             seen = 0;
        for (int64_t i = 0; i < k && !seen; ++i) {
            const protocol *o = &v->bench[i].cell->protocol;
            seen = o->call == p->call && o->work == p->work && !o->cold == !p->cold && o->settle == p->settle && o->settle_max == p->settle_max && o->samples_min == p->samples_min && o->cell_ms == p->cell_ms;
        }
        if (seen) continue;
        doc_add(d, DOC_TEXT,
                "Protocol %s%s%s: %s. Outputs are poisoned before each call and compared after it; warm-up until the last three times agree within %g %%, at "
                "most %d calls; then at least %d samples, and until %g ms have been spent on a cell; all cells of a problem and a copy are sampled "
                "once in each round, in an order shuffled from the recorded seed.",
                p->cold ? "cold" : "hot", v->bench[k].call[0] ? "; " : "", v->bench[k].call,
                p->call != CALL_HOST && p->cold ? "on a device: a buffer three times as large as its L2 is written before each sample, events around the call are timed" :
                p->call != CALL_HOST ? "on a device: each sample follows an untimed call on the same data, events around the call are timed" :
                p->cold ? "before each sample every line of a buffer larger than the last-level cache is read and written" :
                          "each sample follows an untimed call on the same data",
                100 * p->settle, (int)p->settle_max, (int)p->samples_min, p->cell_ms);
    }
}

/* ---- times ---- */

static void add_times(doc *d, const view *v)
{
    const char *heads[16] = { "problem", "implementation", "cache", "threads", "samples", "median (ms)", "95 % interval (ms)", "× copy",
                              "ns per element", "µs over the empty call" };
    char        names[4][320], text[40];
    int         columns = 10, deviations = 0;

    for (int k = 0; k < v->n_peers && k < 4; ++k) {
        snprintf(names[k], sizeof names[k], "%s / this", v->peers[k]);
        heads[columns++] = names[k];
    }
    for (int64_t k = 0; k < v->n_bench; ++k) deviations |= v->bench[k].cell->max_deviation >= 0;
    if (deviations) heads[columns++] = "deviation over max|y|";
    doc_table(d, "times", "Times of correct fits: median of all samples that count, with its exact (order statistic) 95 % interval. × copy: over the "
              "median time of copying y to z (and reading w) in the same run. Microseconds over a call without elements are given below 1e6 "
              "elements. Peers are compared with the canonical fit: their largest deviation from it.", columns, heads);
    for (int64_t k = 0; k < v->n_bench; ++k) {
        const view_cell *c = &v->bench[k];
        char             low[40], high[40];

        start_row(d, c);
        doc_cell(d, "%s", c->cell->problem);
        doc_cell(d, "%s", c->cell->impl);
        doc_cell(d, "%s%s%s", c->cell->protocol.cold ? "cold" : "hot", c->call[0] ? "; " : "", c->call);
        put_count(d, c->cell->threads);
        put_count(d, c->samples);
        put_number(d, c->median_ms);
        if (c->low_ms >= 0) doc_cell(d, "%s – %s", number(c->low_ms, low), number(c->high_ms, high));
        else doc_cell(d, "%s", "");
        put_number(d, c->times_copy);
        put_number(d, c->ns_per_element);
        put_number(d, c->over_empty_us);
        for (int i = 0; i < v->n_peers && i < 4; ++i) {
            const view_cell *peer = view_beside(v, c, v->peers[i]);
            put_number(d, peer && peer != c && c->median_ms > 0 ? peer->median_ms / c->median_ms : -1);
        }
        if (deviations) doc_cell(d, "%s", measure(c->cell->max_deviation, text));
    }
}

static void add_stages(doc *d, const view *v)
{
    static const char *const heads[] = { "problem", "implementation", "stage", "ms", "share of the stages (%)", "all stages over the median" };
    int                      any     = 0;

    for (int64_t k = 0; k < v->n_bench; ++k) any |= v->bench[k].cell->stages > 0;
    if (!any) return;
    doc_add(d, DOC_HEADING, "Stages");
    doc_table(d, "stages", "Stages, timed in a call of their own: their sum over the median says how far the two agree.", 6, heads);
    for (int64_t k = 0; k < v->n_bench; ++k) {
        const view_cell *c   = &v->bench[k];
        double           sum = 0;
        for (int32_t s = 0; s < c->cell->stages; ++s) sum += c->cell->stage[s].ms;
        for (int32_t s = 0; s < c->cell->stages; ++s) {
            start_row(d, c);
            doc_cell(d, "%s", c->cell->problem);
            doc_cell(d, "%s", c->cell->impl);
            doc_cell(d, "%s", c->cell->stage[s].name);
            put_number(d, c->cell->stage[s].ms);
            put_number(d, sum > 0 ? 100 * c->cell->stage[s].ms / sum : -1);
            put_number(d, c->median_ms > 0 ? sum / c->median_ms : -1);
        }
    }
}

/* ---- accuracy ---- */

static int same_group(const view_cell *a, const view_cell *b)
{
    return strcmp(a->cell->impl, b->cell->impl) == 0 && strcmp(a->dtype, b->dtype) == 0 && strcmp(a->weighting, b->weighting) == 0;
}

static double worst(const view *v, int64_t of, const char *name)
{
    double most = -1;

    for (int64_t k = of; k < v->n_accuracy; ++k)
        if (same_group(&v->accuracy[k], &v->accuracy[of]) && view_measure(&v->accuracy[k], name) > most) most = view_measure(&v->accuracy[k], name);
    return most;
}

/* -1 if a cell of the group lacks it. */
static int64_t sum_of(const view *v, int64_t of, const char *name)
{
    int64_t sum = 0;

    for (int64_t k = of; k < v->n_accuracy; ++k) {
        if (!same_group(&v->accuracy[k], &v->accuracy[of])) continue;
        if (!json_object_get(v->accuracy[k].cell->accuracy, name)) return -1;
        sum += (int64_t)view_measure(&v->accuracy[k], name);
    }
    return sum;
}

static void add_group(doc *d, const view *v, int64_t of)
{
    static const char *const measures[] = { "step_down", "deviation", "ulps", "objective_excess", "kkt" };
    static const char *const counts[]   = { "not_rounded", "blocks", "blocks_exact", "missing", "extra", "coinciding", "coinciding_exact" };
    char                    *sources    = NULL, text[40];
    size_t                   bytes;
    FILE                    *to       = open_memstream(&sources, &bytes);
    int64_t                  problems = 0, exact = 0;

    for (int64_t k = of; to && k < v->n_accuracy; ++k) {
        const view_cell *c = &v->accuracy[k];
        if (!same_group(c, &v->accuracy[of])) continue;
        fprintf(to, "%s%lld", problems ? " " : "", (long long)c->at);
        ++problems;
        exact += c->cell->digest[0] && strcmp(c->cell->digest, c->cell->digest_want) == 0;
    }
    if (!to || fclose(to) != 0) {
        free(sources);
        d->failed = 1;
        return;
    }
    doc_row(d, sources);
    free(sources);
    doc_cell(d, "%s", v->accuracy[of].cell->impl);
    doc_cell(d, "%s", v->accuracy[of].dtype);
    doc_cell(d, "%s", v->accuracy[of].weighting);
    put_count(d, problems);
    put_count(d, exact);
    for (int k = 0; k < 5; ++k) doc_cell(d, "%s", measure(worst(v, of, measures[k]), text));
    for (int k = 0; k < 7; ++k) put_count(d, sum_of(v, of, counts[k]));
}

static void add_accuracy(doc *d, const view *v)
{
    static const char *const heads[] = { "implementation", "type", "weights", "problems", "canonical bits", "step down", "deviation", "ulp", "objective",
                                         "KKT", "unrounded", "blocks", "exact blocks", "missing", "extra", "coincide", "coincide exactly" };

    doc_table(d, "accuracy",
              "Against the exact fit, all problems of an implementation, type and weighting: how many have the canonical bits; the worst step down over "
              "max|y|, deviation |z - z*| / (1 + |z*|), error in units of the last place of z* (0.5 if all is rounded right), excess of the "
              "objective over the exact one, and violation of the optimality conditions over 2 sum w|y|; the sums of values not rounded to nearest, of "
              "blocks, of block starts missing and extra, and of neighbours in different exact blocks that coincide in this fit and in the exact "
              "one rounded.", 17, heads);
    for (int64_t k = 0; k < v->n_accuracy; ++k) {
        int first = 1;
        for (int64_t i = 0; i < k && first; ++i) first = !same_group(&v->accuracy[i], &v->accuracy[k]);
        if (first) add_group(d, v, k);
    }
}

static void add_refused(doc *d, const view *v)
{
    static const char *const heads[] = { "problem", "implementation", "status", "why" };

    doc_add(d, DOC_HEADING, "Not in the tables");
    doc_table(d, "refused", "Cells without a result that counts. Wrong: the fit differs from the canonical one.", 4, heads);
    for (int64_t k = 0; k < v->n_refused; ++k) {
        const cell_record *c = v->refused[k].cell;
        start_row(d, &v->refused[k]);
        doc_cell(d, "%s", c->problem);
        doc_cell(d, "%s", c->impl);
        doc_cell(d, "%s", cell_status_name(c->status));
        doc_cell(d, "%s", c->why);
    }
}

/* ---- the whole ---- */

static void add_sources(doc *d, const view *v, const report_source *sources, int count)
{
    static const char *const heads[] = { "journal", "digest (XXH3-64 of the file)" };

    doc_add(d, DOC_TEXT, "Made by isohull report from the journals below, and from nothing else: every number is derived from their raw samples, and "
                         "isohull verify makes it again and compares. A row's cells are given by their places in the journals, from 0, in the sources of "
                         "this page.");
    doc_table(d, "journals", "Journals.", 2, heads);
    for (int k = 0; k < count; ++k) {
        doc_row(d, "");
        doc_cell(d, "%s", sources[k].path);
        doc_cell(d, "%s", sources[k].digest);
    }
    doc_add(d, DOC_TEXT, "%lld run%s; %lld cells measured, %lld compared with the exact fit, %lld without a result%s.", (long long)v->data->run_count,
            v->data->run_count == 1 ? "" : "s", (long long)v->n_bench, (long long)v->n_accuracy, (long long)v->n_refused, v->older ? "; older records of the same cell do not count" : "");
    if (v->emulated)
        doc_add(d, DOC_TEXT, "Left out: %lld cell%s of an emulated device. The CPU ran the device's code, and such times mean nothing.", (long long)v->emulated, v->emulated == 1 ? "" : "s");
}

static void add_figure(doc *d, char *svg[REPORT_FIGURES], int k)
{
    if (svg[k]) doc_figure(d, report_figure_name(k), report_figure_text(k), svg[k]);
    svg[k] = NULL;
}

fault_kind report_build(doc *d, const view *v, const report_source *sources, int count, char *svg[REPORT_FIGURES], const char *drawn, fault *f)
{
    memset(d, 0, sizeof *d);
    d->mark = report_mark(sources, count, drawn);
    if (!d->mark) d->failed = 1;
    doc_add(d, DOC_TITLE, "isohull: measured");
    add_sources(d, v, sources, count);
    if (strcmp(drawn, "none") == 0) doc_add(d, DOC_TEXT, "The figures are missing: gnuplot was not there to draw them. Their numbers are in the .tsv files beside this report.");
    if (v->n_bench) {
        doc_add(d, DOC_HEADING, "Times");
        add_protocols(d, v);
        for (int k = 0; k < 2; ++k) add_figure(d, svg, k);
        add_times(d, v);
        add_figure(d, svg, 3);
        add_stages(d, v);
        add_figure(d, svg, 2);
    }
    if (v->n_accuracy) {
        doc_add(d, DOC_HEADING, "Accuracy");
        add_accuracy(d, v);
    }
    if (v->n_refused) add_refused(d, v);
    doc_add(d, DOC_HEADING, "Where it was measured");
    add_machine(d, v);
    add_device_code(d, v);
    add_runs(d, v);
    for (int k = 0; k < REPORT_FIGURES; ++k) {
        free(svg[k]);
        svg[k] = NULL;
    }
    return d->failed ? fault_set(f, FAULT_MEMORY, "memory ran out") : FAULT_NONE;
}
