/* SPDX-License-Identifier: Apache-2.0
 * target_replay.c: samples from a recorded trace, so that all above a target runs the same on every machine: throttled
 * clocks, wrong results, processes that die or hang among it. The format of traces is in docs/journal.md. */
#include "target.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct replay {
    json_t       *lines;   /* array of objects                          */
    const json_t *problem; /* the open one's line                       */
    json_t       *calls;   /* calls made so far, by implementation      */
    int64_t       copies;
    double        now_ms;  /* virtual                                   */
} replay;

static double replay_now(target *t) { return ((replay *)t->state)->now_ms; }

/* ---- reading a trace ---- */

static int is_times(const json_t *value)
{
    if (!json_is_array(value) || json_array_size(value) == 0) return 0;
    for (size_t k = 0; k < json_array_size(value); ++k)
        if (!json_is_number(json_array_get(value, k)) || !(json_number_value(json_array_get(value, k)) >= 0)) return 0;
    return 1;
}

static const char *what_is_wrong(const json_t *line)
{
    static const char *const of_problem[] = { "problem", "rows", "n", "blocks", "digest", "copy_ms", "read_ms" };
    static const char *const of_impl[]    = { "problem", "impl", "calls_ms", "empty_ms", "digest", "throttled", "wait_ms", "dies", "hangs_at",
                                              "fails_at", "wrong_at", "unsupported", "stages_ms", "counters", "workspace_bytes" };
    const int                impl         = json_object_get(line, "impl") != NULL;
    const char *const       *known        = impl ? of_impl : of_problem;
    const size_t             count        = impl ? sizeof of_impl / sizeof of_impl[0] : sizeof of_problem / sizeof of_problem[0];
    const json_t            *value;
    const char              *name;

    if (!json_is_string(json_object_get(line, "problem"))) return "no \"problem\"";
    if (impl && !json_is_string(json_object_get(line, "impl"))) return "\"impl\" is no text";
    if (impl && !json_object_get(line, "unsupported") && !is_times(json_object_get(line, "calls_ms"))) return "no \"calls_ms\", an array of times";
    if (!impl && !is_times(json_object_get(line, "copy_ms"))) return "no \"copy_ms\", an array of times";
    if (!impl && (!json_is_integer(json_object_get(line, "n")) || !json_is_string(json_object_get(line, "digest")))) return "no \"n\" or no \"digest\"";
    json_object_foreach((json_t *)(uintptr_t)line, name, value) {
        size_t k = 0;
        while (k < count && strcmp(name, known[k]) != 0) ++k;
        if (k == count) return "a field that is not known";
    }
    return NULL;
}

static fault_kind read_trace(json_t *lines, const char *path, fault *f)
{
    FILE      *file   = fopen(path, "re");
    char      *text   = NULL;
    size_t     room   = 0;
    long       number = 0;
    fault_kind kind   = FAULT_NONE;

    if (!file) return fault_set(f, FAULT_OPEN, "%s: %s", path, strerror(errno));
    while (!kind && getline(&text, &room, file) > 0) {
        json_error_t error;
        json_t      *line  = json_loads(text, JSON_REJECT_DUPLICATES, &error);
        const char  *wrong = line ? what_is_wrong(line) : error.text;
        ++number;
        if (wrong) kind = fault_set(f, FAULT_FORMAT, "%s:%ld: %s", path, number, wrong);
        else if (json_array_append(lines, line) != 0) kind = fault_set(f, FAULT_MEMORY, "memory ran out");
        json_decref(line);
    }
    if (!kind && ferror(file)) kind = fault_set(f, FAULT_READ, "%s: %s", path, strerror(errno));
    free(text);
    fclose(file);
    return kind;
}

/* ---- lines and their fields ---- */

static const char *text_of(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return text ? text : "";
}

static const json_t *find(const replay *s, const char *problem, const char *impl)
{
    for (size_t k = 0; k < json_array_size(s->lines); ++k) {
        const json_t *line = json_array_get(s->lines, k);
        if (strcmp(text_of(line, "problem"), problem) == 0 && strcmp(text_of(line, "impl"), impl) == 0) return line;
    }
    return NULL;
}

static const json_t *line_of(const replay *s, const cell_record *c) { return find(s, c->problem, c->impl); }

static double play(replay *s, const json_t *times, int64_t k)
{
    const size_t n  = json_array_size(times);
    const double ms = n ? json_number_value(json_array_get(times, (size_t)k % n)) : json_number_value(times);

    s->now_ms += ms;
    return ms;
}

static int is_at(const json_t *line, const char *key, int64_t call)
{
    const json_t *at = json_object_get(line, key);
    return json_is_integer(at) && json_integer_value(at) == call;
}

/* ---- the target ---- */

static fault_kind replay_open(target *t, const ih_spec *spec, problem_info *info, fault *f)
{
    replay       *s = t->state;
    const json_t *line;
    char          text[RECORD_TEXT];

    ih_spec_format(spec, text, sizeof text);
    line = find(s, text, "");
    if (!line) return fault_set(f, FAULT_USAGE, "the trace has no problem %s", text);
    s->problem   = line;
    info->rows   = json_object_get(line, "rows") ? json_integer_value(json_object_get(line, "rows")) : 1;
    info->n      = json_integer_value(json_object_get(line, "n"));
    info->blocks = json_integer_value(json_object_get(line, "blocks"));
    snprintf(info->digest, sizeof info->digest, "%s", text_of(line, "digest"));
    return FAULT_NONE;
}

static fault_kind replay_prepare(target *t, cell_record *c, fault *f)
{
    replay       *s    = t->state;
    const json_t *line = line_of(s, c);

    if (!line) return fault_set(f, FAULT_USAGE, "the trace has no %s on this problem", c->impl);
    c->threads = 1;
    if (json_object_get(line, "workspace_bytes")) c->workspace_bytes = json_integer_value(json_object_get(line, "workspace_bytes"));
    if (!json_object_get(line, "unsupported")) return FAULT_NONE;
    c->status = CELL_UNSUPPORTED;
    snprintf(c->why, sizeof c->why, "%s", text_of(line, "unsupported"));
    return FAULT_NONE;
}

static void wait_really(double ms)
{
    struct timespec left = { (time_t)(ms / 1e3), (long)(fmod(ms, 1e3) * 1e6) };
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

static fault_kind replay_sample(target *t, cell_record *c, double *ms, bool *throttled, fault *f)
{
    replay       *s         = t->state;
    const json_t *line      = line_of(s, c), *dies = json_object_get(line, "dies"), *low = json_object_get(line, "throttled");
    const int64_t call      = json_integer_value(json_object_get(s->calls, c->impl));

    json_object_set_new(s->calls, c->impl, json_integer((json_int_t)(call + 1)));
    if (dies && is_at(dies, "at", call)) {
        const int number = (int)json_integer_value(json_object_get(dies, "signal"));
        signal(number, SIG_DFL); /* no handler of a sanitizer or of ours */
        raise(number);
        _exit(EXIT_VERDICT); /* a signal that does not kill */
    }
    if (is_at(line, "hangs_at", call))
        for (;;) pause();
    if (is_at(line, "fails_at", call)) return fault_set(f, FAULT_LIBRARY, "failed at call %lld of the trace", (long long)call);
    wait_really(json_number_value(json_object_get(line, "wait_ms")));
    *ms        = play(s, json_object_get(line, "calls_ms"), call);
    *throttled = false;
    for (size_t k = 0; k < json_array_size(low); ++k) *throttled |= json_integer_value(json_array_get(low, k)) == call;
    return FAULT_NONE;
}

static fault_kind replay_verify(target *t, cell_record *c, bool *same, fault *f)
{
    replay *s = t->state;

    (void)f;
    *same = !is_at(line_of(s, c), "wrong_at", json_integer_value(json_object_get(s->calls, c->impl)) - 1);
    return FAULT_NONE;
}

static fault_kind replay_digest(target *t, cell_record *c, fault *f)
{
    replay     *s   = t->state;
    const char *own = text_of(line_of(s, c), "digest");

    (void)f;
    snprintf(c->digest, sizeof c->digest, "%s", own[0] ? own : text_of(s->problem, "digest"));
    c->blocks = json_integer_value(json_object_get(s->problem, "blocks"));
    return FAULT_NONE;
}

static fault_kind replay_stages(target *t, cell_record *c, fault *f)
{
    replay       *s        = t->state;
    const json_t *line     = line_of(s, c), *value;
    const json_t *counters = json_object_get(line, "counters");
    const char   *name;

    (void)f;
    json_object_foreach(json_object_get(line, "stages_ms"), name, value) {
        if (c->stages == RECORD_STAGES) break;
        snprintf(c->stage[c->stages].name, sizeof c->stage[0].name, "%s", name);
        c->stage[c->stages++].ms = json_number_value(value);
    }
    if (counters) c->counters = json_deep_copy(counters);
    return FAULT_NONE;
}

static fault_kind replay_copy(target *t, const protocol *p, double *ms, fault *f)
{
    replay *s = t->state;

    (void)p;
    (void)f;
    *ms = play(s, json_object_get(s->problem, "copy_ms"), s->copies++);
    return FAULT_NONE;
}

static fault_kind replay_read(target *t, const protocol *p, double *ms, fault *f)
{
    replay *s = t->state;

    (void)p;
    if (!json_object_get(s->problem, "read_ms")) return fault_set(f, FAULT_USAGE, "the trace has no \"read_ms\"");
    *ms = play(s, json_object_get(s->problem, "read_ms"), 0);
    return FAULT_NONE;
}

static fault_kind replay_empty(target *t, cell_record *c, double *ms, fault *f)
{
    replay       *s    = t->state;
    const json_t *line = line_of(s, c);

    if (!json_object_get(line, "empty_ms")) return fault_set(f, FAULT_USAGE, "the trace has no \"empty_ms\"");
    *ms = play(s, json_object_get(line, "empty_ms"), 0);
    return FAULT_NONE;
}

static void replay_close(target *t)
{
    replay *s = t->state;

    s->problem = NULL;
    s->copies  = 0;
    json_object_clear(s->calls);
}

static void replay_free(target *t)
{
    replay *s = t->state;

    json_decref(s->lines);
    json_decref(s->calls);
    free(s);
    free(t);
}

target *target_replay(const char *trace_path, fault *f)
{
    target *t = malloc(sizeof *t);
    replay *s = calloc(1, sizeof *s);

    if (!t || !s) {
        fault_set(f, FAULT_MEMORY, "memory ran out");
        free(t);
        free(s);
        return NULL;
    }
    *t = (target){ .device = "replay", .virtual_time = true, .state = s, .now_ms = replay_now, .open = replay_open, .prepare = replay_prepare,
                   .sample = replay_sample, .verify = replay_verify, .digest = replay_digest, .stages = replay_stages, .copy = replay_copy,
                   .read = replay_read, .empty = replay_empty, .close = replay_close, .free = replay_free };
    s->lines = json_array();
    s->calls = json_object();
    if (read_trace(s->lines, trace_path, f) == FAULT_NONE) return t;
    replay_free(t);
    return NULL;
}
