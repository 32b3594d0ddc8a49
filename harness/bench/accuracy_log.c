/* SPDX-License-Identifier: Apache-2.0
 * accuracy_log.c: see accuracy_log.h. */
#include "accuracy_log.h"

#include "device.h"
#include "env.h"
#include "env_gpu.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct accuracy_log {
    journal     *journal;
    journal_data earlier;
    json_t      *run;     /* record of this run */
    int          ordinal;
    char         label[32];
    int          begun;   /* it is in the journal */
};

static const char *code_of(const accuracy_log *log) { return log && log->ordinal >= 0 ? env_gpu_code_hash() : env_code_hash(); }

fault_kind accuracy_log_open(accuracy_log **out, const char *path, int ordinal, int argc, char **argv, fault *f)
{
    accuracy_log *log  = calloc(1, sizeof *log);
    int64_t       torn = 0;
    fault_kind    kind = log ? FAULT_NONE : fault_set(f, FAULT_MEMORY, "memory ran out");

    if (log) log->ordinal = ordinal;
    if (log) device_label(ordinal, log->label);
    if (!kind) kind = journal_open(&log->journal, path, &torn, f);
    if (!kind && torn) say("%s: its last line was torn, %lld bytes without an end: cut off", path, (long long)torn);
    if (!kind) kind = journal_read(&log->earlier, &path, 1, f);
    if (!kind && !(log->run = env_run(argc, argv, log->label, 0))) kind = fault_set(f, FAULT_MEMORY, "memory ran out");
    if (!kind && ordinal >= 0) kind = env_gpu_add(log->run, ordinal, f);
    if (kind) {
        accuracy_log_close(log);
        log = NULL;
    }
    *out = log;
    return kind;
}

void accuracy_log_close(accuracy_log *log)
{
    if (!log) return;
    journal_close(log->journal);
    journal_free(&log->earlier);
    json_decref(log->run);
    free(log);
}

int accuracy_log_has(const accuracy_log *log, const char *impl, const char *problem)
{
    cell_record like;
    int         has;

    if (!log) return 0;
    cell_init(&like);
    snprintf(like.impl, sizeof like.impl, "%s", impl);
    snprintf(like.problem, sizeof like.problem, "%s", problem);
    snprintf(like.device, sizeof like.device, "%s", log->label);
    snprintf(like.code_hash, sizeof like.code_hash, "%s", code_of(log));
    like.accuracy = json_object();
    has           = like.accuracy && journal_find(&log->earlier, &like) != NULL;
    cell_free(&like);
    return has;
}

fault_kind accuracy_log_append(accuracy_log *log, cell_record *cell, fault *f)
{
    json_t    *line;
    fault_kind kind = FAULT_NONE;

    if (!cell->code_hash[0]) snprintf(cell->code_hash, sizeof cell->code_hash, "%s", code_of(log));
    if (!log) return FAULT_NONE;
    snprintf(cell->run, sizeof cell->run, "%s", json_string_value(json_object_get(log->run, "run")));
    if (!log->begun) kind = journal_append(log->journal, log->run, f);
    if (kind) return kind;
    log->begun = 1;
    line       = cell_to_json(cell);
    if (!line) return fault_set(f, FAULT_MEMORY, "memory ran out");
    kind = journal_append(log->journal, line, f);
    json_decref(line);
    return kind;
}
