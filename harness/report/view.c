/* SPDX-License-Identifier: Apache-2.0
 * view.c: choosing the records that count, and deriving numbers from samples. Derived numbers that stand in a record are
 * never read. */
#include "view.h"

#include "bench/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int same_work(const protocol *a, const protocol *b) { return !a->cold == !b->cold && a->call == b->call && a->work == b->work; }

/* Device code that the CPU emulates has no times. */
static int has_times(const cell_record *c) { return strncmp(c->device, "emulated:", 9) != 0; }

/* Two records of one thing: the later one counts. Other code is the same thing, measured again. */
static int same_thing(const cell_record *a, const cell_record *b)
{
    return strcmp(a->impl, b->impl) == 0 && strcmp(a->problem, b->problem) == 0 && strcmp(a->device, b->device) == 0 &&
           !a->accuracy == !b->accuracy && (a->accuracy || same_work(&a->protocol, &b->protocol));
}

static int is_final(const cell_record *c) { return c->status == CELL_OK || c->status == CELL_WRONG || c->status == CELL_UNSUPPORTED; }

/* Does a record give way to another one? Final ones win, then later ones. */
static int is_older(const journal_data *data, int64_t k)
{
    for (int64_t i = 0; i < data->cell_count; ++i) {
        if (i == k || !same_thing(&data->cells[i], &data->cells[k])) continue;
        if (is_final(&data->cells[i]) != is_final(&data->cells[k]) ? is_final(&data->cells[i]) : i > k) return 1;
    }
    return 0;
}

static void describe(view_cell *v)
{
    ih_spec *spec = malloc(sizeof *spec);
    char     message[IH_SPEC_MESSAGE], more[64] = "";

    v->dtype = v->weighting = "";
    v->call[0] = 0;
    if (v->cell->protocol.call != CALL_HOST)
        snprintf(v->call, sizeof v->call, "%.63s, %s%s%s", v->cell->device, call_kind_name(v->cell->protocol.call), v->cell->protocol.work == WORK_FIT ? "" : ", ",
                 v->cell->protocol.work == WORK_FIT ? "" : work_kind_name(v->cell->protocol.work));
    snprintf(v->family, sizeof v->family, "%.*s", (int)strcspn(v->cell->problem, ":"), v->cell->problem);
    snprintf(v->set, sizeof v->set, "%s", v->family);
    if (spec && ih_spec_parse(spec, v->cell->problem, message, sizeof message) == 0) {
        v->dtype     = spec->dtype == IH_F32 ? "float32" : "float64";
        v->weighting = ih_weighting_at((int32_t)spec->weighting)->name;
        if (spec->rows > 1) snprintf(more, sizeof more, ", %lld rows", (long long)spec->rows);
        snprintf(v->set, sizeof v->set, "%s, %s%s%s%s%s%s", v->family, v->dtype, spec->weighting == IH_WEIGHTING_unit ? "" : ", w=",
                 spec->weighting == IH_WEIGHTING_unit ? "" : v->weighting, more, v->call[0] ? ", " : "", v->call);
    }
    free(spec);
}

static fault_kind derive(view_cell *v, fault *f)
{
    const cell_record *c        = v->cell;
    double            *counting = malloc((size_t)(c->samples + 1) * sizeof *counting);

    if (!counting) return fault_set(f, FAULT_MEMORY, "memory ran out");
    v->median_ms = v->low_ms = v->high_ms = v->copy_ms = v->times_copy = v->ns_per_element = v->over_empty_us = -1;
    v->samples = cell_counting(c, counting);
    if (v->samples > 0) {
        v->median_ms = stats_median(counting, v->samples);
        stats_median_interval(counting, v->samples, 0.95, &v->low_ms, &v->high_ms);
    }
    free(counting);
    if (c->copy_samples > 0) v->copy_ms = stats_median(c->copy_samples_ms, c->copy_samples);
    if (v->median_ms >= 0 && v->copy_ms > 0) v->times_copy = v->median_ms / v->copy_ms;
    if (v->median_ms >= 0 && c->n > 0) v->ns_per_element = v->median_ms * 1e6 / (double)c->n;
    if (v->median_ms >= 0 && c->n < 1000000 && c->empty_call_ms >= 0) v->over_empty_us = (v->median_ms - c->empty_call_ms) * 1e3;
    return FAULT_NONE;
}

static int64_t first_place(const view_cell *list, int64_t n, const char *problem)
{
    for (int64_t k = 0; k < n; ++k)
        if (strcmp(list[k].cell->problem, problem) == 0) return k;
    return n;
}

/* Bring the cells of one problem together, in the order in which problems come first. */
static fault_kind group(view_cell *list, int64_t n, fault *f)
{
    view_cell *sorted = malloc((size_t)(n + 1) * sizeof *sorted);
    int64_t    filled = 0;

    if (!sorted) return fault_set(f, FAULT_MEMORY, "memory ran out");
    for (int64_t k = 0; k < n; ++k) {
        if (first_place(list, n, list[k].cell->problem) != k) continue;
        for (int64_t i = k; i < n; ++i)
            if (strcmp(list[i].cell->problem, list[k].cell->problem) == 0) sorted[filled++] = list[i];
    }
    memcpy(list, sorted, (size_t)n * sizeof *list);
    free(sorted);
    return FAULT_NONE;
}

static fault_kind find_peers(view *v, fault *f)
{
    v->peers = calloc((size_t)v->n_bench + 1, sizeof *v->peers);
    if (!v->peers) return fault_set(f, FAULT_MEMORY, "memory ran out");
    for (int64_t k = 0; k < v->n_bench; ++k) {
        const char *impl = v->bench[k].cell->impl;
        char        name[64];
        int         known = 0;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(impl, ":"), impl);
        /* ours, perhaps of another build: peers have neither digest nor workspace */
        if (ih_impl_find(name) || v->bench[k].cell->digest[0] || v->bench[k].cell->workspace_bytes >= 0) continue;
        for (int i = 0; i < v->n_peers; ++i) known |= strcmp(v->peers[i], impl) == 0;
        if (!known) strcpy(v->peers[v->n_peers++], impl);
    }
    return FAULT_NONE;
}

fault_kind view_make(view *v, const journal_data *data, fault *f)
{
    const size_t room = (size_t)data->cell_count + 1;
    fault_kind   kind = FAULT_NONE;

    memset(v, 0, sizeof *v);
    v->data     = data;
    v->bench    = calloc(room, sizeof *v->bench);
    v->accuracy = calloc(room, sizeof *v->accuracy);
    v->refused  = calloc(room, sizeof *v->refused);
    if (!v->bench || !v->accuracy || !v->refused) kind = fault_set(f, FAULT_MEMORY, "memory ran out");
    for (int64_t k = 0; k < data->cell_count && !kind; ++k) {
        const cell_record *c   = &data->cells[k];
        view_cell          one = { .at = k, .cell = c };
        if (is_older(data, k)) {
            ++v->older;
            continue;
        }
        describe(&one);
        kind = derive(&one, f);
        if (c->accuracy && json_object_size(c->accuracy) > 0) v->accuracy[v->n_accuracy++] = one;
        else if (!c->accuracy && c->status == CELL_OK && has_times(c)) v->bench[v->n_bench++] = one;
        else if (!c->accuracy && c->status == CELL_OK) ++v->emulated;
        if (c->status != CELL_OK) v->refused[v->n_refused++] = one;
    }
    if (!kind) kind = group(v->bench, v->n_bench, f);
    if (!kind) kind = find_peers(v, f);
    if (kind) view_free(v);
    return kind;
}

void view_free(view *v)
{
    free(v->bench);
    free(v->accuracy);
    free(v->refused);
    free(v->peers);
    memset(v, 0, sizeof *v);
}

const view_cell *view_beside(const view *v, const view_cell *cell, const char *impl)
{
    for (int64_t k = 0; k < v->n_bench; ++k) {
        const cell_record *c = v->bench[k].cell;
        if (strcmp(c->impl, impl) == 0 && strcmp(c->problem, cell->cell->problem) == 0 && strcmp(c->device, cell->cell->device) == 0 &&
            same_work(&c->protocol, &cell->cell->protocol))
            return &v->bench[k];
    }
    return NULL;
}

double view_measure(const view_cell *cell, const char *name)
{
    const json_t *value = json_object_get(cell->cell->accuracy, name);
    return json_is_number(value) ? json_number_value(value) : -1;
}
