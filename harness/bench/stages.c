/* SPDX-License-Identifier: Apache-2.0
 * stages.c: stage times and counters of one fit. */
#include "stages.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

void stage_times_init(stage_times *s) { memset(s, 0, sizeof *s); }

void stage_times_hook(void *user, const char *stage, int32_t level, int32_t begin, void *stream)
{
    stage_times *s   = user;
    const double now = now_ms();
    int32_t      k   = 0;

    (void)level;
    (void)stream;
    if (begin) {
        s->begin_ms = now_ms(); /* stages do not nest */
        return;
    }
    while (k < s->count && strcmp(s->stage[k].name, stage) != 0) ++k;
    if (k == RECORD_STAGES) return;
    if (k == s->count) {
        s->stage[k].name = stage;
        s->stage[k].ms   = 0;
        s->count++;
    }
    s->stage[k].ms += now - s->begin_ms;
}

void stage_times_store(const stage_times *s, cell_record *c)
{
    c->stages = s->count;
    for (int32_t k = 0; k < s->count; ++k) {
        snprintf(c->stage[k].name, sizeof c->stage[k].name, "%s", s->stage[k].name);
        c->stage[k].ms = s->stage[k].ms;
    }
}

static void put(json_t *to, const char *name, int64_t value)
{
    if (value != 0) json_object_set_new(to, name, json_integer((json_int_t)value));
}

static void put_levels(json_t *to, const char *name, const int64_t values[IH_MAX_LEVELS])
{
    char text[64];
    for (int k = 0; k < IH_MAX_LEVELS; ++k) {
        snprintf(text, sizeof text, "%s_%d", name, k);
        put(to, text, values[k]);
    }
}

json_t *counters_to_json(const ih_counters *counters)
{
    json_t *to = json_object();

    if (!to) return NULL;
#define PUT(field) put(to, #field, counters->field)
    PUT(decisions_filter);
    PUT(decisions_pair);
    PUT(decisions_exact);
    PUT(roundings_filter);
    PUT(roundings_pair);
    PUT(roundings_exact);
    PUT(elements_exact);
    PUT(rows_exact);
    PUT(chunks);
    PUT(levels);
    put_levels(to, "vertices", counters->vertices);
    put_levels(to, "segments", counters->segments);
    put_levels(to, "longest_list", counters->longest_list);
    PUT(walks);
    PUT(walk_steps);
    PUT(walks_capped);
    PUT(searches);
    PUT(lane_walks);
    PUT(lane_walk_steps);
    PUT(walk_excess);
    PUT(list_excess);
    PUT(list_faults);
    PUT(move_rounds);
#undef PUT
    if (json_object_size(to) > 0) return to;
    json_decref(to);
    return NULL;
}
