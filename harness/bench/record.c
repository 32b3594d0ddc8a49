/* SPDX-License-Identifier: Apache-2.0
 * record.c: cells as structs: made, moved, compared, their derived numbers. Reading and writing: record_json.c. */
#include "record.h"

#include "stats.h"

#include <stdlib.h>
#include <string.h>

static const char *const status_names[] = { "ok", "wrong", "unsupported", "error", "timeout" };

const char *cell_status_name(cell_status status) { return status_names[status]; }

int cell_status_parse(const char *text, cell_status *status)
{
    for (int k = 0; k <= CELL_TIMEOUT; ++k) {
        if (strcmp(text, status_names[k]) != 0) continue;
        *status = (cell_status)k;
        return 1;
    }
    return 0;
}

static const char *const call_names[] = { "host", "direct", "graph" };
static const char *const work_names[] = { "fit", "backward", "fit+backward" };

const char *call_kind_name(call_kind call) { return call_names[call]; }
const char *work_kind_name(work_kind work) { return work_names[work]; }

int call_kind_parse(const char *text, call_kind *call)
{
    for (int k = CALL_DIRECT; k <= CALL_GRAPH; ++k) {
        if (strcmp(text, call_names[k]) != 0) continue;
        *call = (call_kind)k;
        return 1;
    }
    return 0;
}

int work_kind_parse(const char *text, work_kind *work)
{
    for (int k = WORK_FIT; k <= WORK_BOTH; ++k) {
        if (strcmp(text, work_names[k]) != 0) continue;
        *work = (work_kind)k;
        return 1;
    }
    return 0;
}

void cell_init(cell_record *c)
{
    memset(c, 0, sizeof *c);
    c->protocol        = (protocol){ .cold = 1, .settle = 0.05, .settle_max = 10, .samples_min = 7, .cell_ms = 1000 };
    c->blocks          = -1;
    c->max_deviation   = -1;
    c->median_ms       = -1;
    c->ci_low_ms       = -1;
    c->ci_high_ms      = -1;
    c->read_ms         = -1;
    c->empty_call_ms   = -1;
    c->workspace_bytes = -1;
    c->peak_bytes      = -1;
    c->closure         = -1;
}

void cell_free(cell_record *c)
{
    free(c->samples_ms);
    free(c->copy_samples_ms);
    free(c->throttled);
    json_decref(c->counters);
    json_decref(c->accuracy);
    json_decref(c->gpu_before);
    json_decref(c->gpu_after);
    cell_init(c);
}

void cell_move(cell_record *to, cell_record *from)
{
    *to = *from;
    cell_init(from);
}

int64_t cell_counting(const cell_record *c, double *to)
{
    int64_t count = 0, skip = 0;

    for (int64_t i = 0; i < c->samples; ++i) {
        if (skip < c->throttled_count && c->throttled[skip] == i) ++skip;
        else to[count++] = c->samples_ms[i];
    }
    return count;
}

fault_kind cell_derive(cell_record *c, fault *f)
{
    double *counting = malloc((size_t)(c->samples > 0 ? c->samples : 1) * sizeof *counting);
    int64_t count;

    c->median_ms = c->ci_low_ms = c->ci_high_ms = -1;
    if (!counting) return fault_set(f, FAULT_MEMORY, "memory ran out");
    count = cell_counting(c, counting);
    if (count > 0) {
        c->median_ms = stats_median(counting, count);
        stats_median_interval(counting, count, 0.95, &c->ci_low_ms, &c->ci_high_ms);
    }
    free(counting);
    return FAULT_NONE;
}

static int same_protocol(const protocol *a, const protocol *b)
{
    return !a->cold == !b->cold && a->settle == b->settle && a->settle_max == b->settle_max && a->samples_min == b->samples_min &&
           a->call == b->call && a->work == b->work;
}

int cell_same(const cell_record *a, const cell_record *b)
{
    return strcmp(a->impl, b->impl) == 0 && strcmp(a->problem, b->problem) == 0 && strcmp(a->device, b->device) == 0 &&
           strcmp(a->code_hash, b->code_hash) == 0 && !a->accuracy == !b->accuracy && (a->accuracy || same_protocol(&a->protocol, &b->protocol));
}
