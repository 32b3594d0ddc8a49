/* SPDX-License-Identifier: Apache-2.0
 * report_figures.c: the numbers that the figures draw, as tables of tab-separated values that gnuplot reads. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

static const struct { const char *name, *text; } figures[] = {
    { "ns_per_element", "Time per element over the length of a row, in nanoseconds (median; bars: exact 95 % interval)" },
    { "times_copy", "Time of the fit over the time of copying y to z in the same run" },
    { "stages", "Stages of a fit at the greatest length measured, in nanoseconds per element" },
    { "accuracy_speed", "Largest error in units of the last place against time per element" },
};

const char *report_figure_name(int k) { return k >= 0 && k < REPORT_FIGURES ? figures[k].name : NULL; }
const char *report_figure_text(int k) { return k >= 0 && k < REPORT_FIGURES ? figures[k].text : NULL; }

static const char *cache_of(const view_cell *c) { return c->cell->protocol.cold ? "cold" : "hot"; }

static int speed_table(FILE *to, const view *v)
{
    int rows = 0;

    fputs("set\tcache\timplementation\telements\tns_per_element\tlow\thigh\ttimes_copy\n", to);
    for (int64_t k = 0; k < v->n_bench; ++k) {
        const view_cell *c     = &v->bench[k];
        const double     scale = 1e6 / (double)c->cell->n;
        if (c->ns_per_element < 0) continue;
        fprintf(to, "%s\t%s\t%s\t%lld\t%.9g\t%.9g\t%.9g\t", c->set, cache_of(c), c->cell->impl, (long long)c->cell->n, c->ns_per_element,
                (c->low_ms >= 0 ? c->low_ms : c->median_ms) * scale, (c->high_ms >= 0 ? c->high_ms : c->median_ms) * scale);
        if (c->times_copy >= 0) fprintf(to, "%.9g\n", c->times_copy);
        else fputs("NaN\n", to);
        ++rows;
    }
    return rows;
}

/* Is there no longer problem of this set for this implementation, among those with stages, if these are wanted? */
static int is_longest(const view *v, const view_cell *c, int stages)
{
    for (int64_t k = 0; k < v->n_bench; ++k) {
        const view_cell *o = &v->bench[k];
        if (strcmp(o->set, c->set) == 0 && strcmp(o->cell->impl, c->cell->impl) == 0 && o->cell->protocol.cold == c->cell->protocol.cold &&
            o->cell->n > c->cell->n && (!stages || o->cell->stages > 0))
            return 0;
    }
    return 1;
}

static double stage_ms(const cell_record *c, const char *name)
{
    for (int32_t k = 0; k < c->stages; ++k)
        if (strcmp(c->stage[k].name, name) == 0) return c->stage[k].ms;
    return 0;
}

static int stage_table(FILE *to, const view *v)
{
    char names[RECORD_STAGES][32];
    int  n_names = 0, rows = 0;

    for (int64_t k = 0; k < v->n_bench; ++k)
        for (int32_t s = 0; s < v->bench[k].cell->stages; ++s) {
            int known = 0;
            for (int i = 0; i < n_names; ++i) known |= strcmp(names[i], v->bench[k].cell->stage[s].name) == 0;
            if (!known && n_names < RECORD_STAGES) strcpy(names[n_names++], v->bench[k].cell->stage[s].name);
        }
    fputs("set\timplementation\telements", to);
    for (int i = 0; i < n_names; ++i) fprintf(to, "\t%s", names[i]);
    fputc('\n', to);
    for (int64_t k = 0; k < v->n_bench; ++k) {
        const view_cell *c = &v->bench[k];
        if (c->cell->stages == 0 || c->cell->n == 0 || !is_longest(v, c, 1)) continue;
        fprintf(to, "%s\t%s\t%lld", c->set, c->cell->impl, (long long)c->cell->n);
        for (int i = 0; i < n_names; ++i) fprintf(to, "\t%.9g", stage_ms(c->cell, names[i]) * 1e6 / (double)c->cell->n);
        fputc('\n', to);
        ++rows;
    }
    return rows;
}

/* Largest error of an implementation over all accuracy cells of this family and type; -1 if there are none. */
static double worst_ulps(const view *v, const view_cell *c)
{
    double worst = -1;

    for (int64_t k = 0; k < v->n_accuracy; ++k) {
        const view_cell *a = &v->accuracy[k];
        if (strcmp(a->cell->impl, c->cell->impl) != 0 || strcmp(a->family, c->family) != 0 || strcmp(a->dtype, c->dtype) != 0) continue;
        if (view_measure(a, "ulps") > worst) worst = view_measure(a, "ulps");
    }
    return worst;
}

static int accuracy_table(FILE *to, const view *v)
{
    int rows = 0;

    fputs("set\timplementation\telements\tns_per_element\tulps\n", to);
    for (int64_t k = 0; k < v->n_bench; ++k) {
        const view_cell *c    = &v->bench[k];
        const double     ulps = worst_ulps(v, c);
        if (ulps < 0 || c->ns_per_element < 0 || !is_longest(v, c, 0)) continue;
        fprintf(to, "%s\t%s\t%lld\t%.9g\t%.9g\n", c->set, c->cell->impl, (long long)c->cell->n, c->ns_per_element, ulps);
        ++rows;
    }
    return rows;
}

char *report_figure_table(const view *v, int k)
{
    char  *text = NULL;
    size_t bytes;
    FILE  *to = open_memstream(&text, &bytes);
    int    rows;

    if (!to) return NULL;
    rows = k <= 1 ? speed_table(to, v) : k == 2 ? stage_table(to, v) : accuracy_table(to, v);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    if (rows == 0) text[0] = 0;
    return text;
}
