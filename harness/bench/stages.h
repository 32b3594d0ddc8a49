/* SPDX-License-Identifier: Apache-2.0
 * stages.h: what a fit says of itself: times of stages through its hook, counters as JSON. */
#ifndef IH_BENCH_STAGES_H
#define IH_BENCH_STAGES_H

#include "record.h"

/* Times by stage; the levels of a stage are added up. Stages past the first RECORD_STAGES are left out. */
typedef struct stage_times {
    int32_t count;
    double  begin_ms;
    struct { const char *name; double ms; } stage[RECORD_STAGES];
} stage_times;

void stage_times_init(stage_times *s);
void stage_times_hook(void *user, const char *stage, int32_t level, int32_t begin, void *stream); /* user: stage_times */
void stage_times_store(const stage_times *s, cell_record *c);

/* Object of the counters that are not 0; arrays as "vertices_3". NULL if all are 0. */
json_t *counters_to_json(const ih_counters *counters);

#endif
