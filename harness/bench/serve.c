/* SPDX-License-Identifier: Apache-2.0
 * serve.c: see serve.h. */
#include "serve.h"

#include "say.h"
#include "stats.h"
#include "target_cuda.h"

#include "io/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MOST = 1001 };

typedef struct server {
    target       *t;
    const char   *impl;
    const json_t *run;
    int           loaded;
    int           ready[2]; /* the cell of CALL_DIRECT, of CALL_GRAPH: prepared */
    bool          same;     /* did the first call give the canonical fit?       */
    cell_record   cell[2];
} server;

static json_t *failed(const fault *f) { return json_pack("{ss}", "error", f->message); }
static json_t *refuse(const char *why) { return json_pack("{ss}", "error", why); }

static void unload(server *s)
{
    if (s->loaded) s->t->close(s->t);
    for (int k = 0; k < 2; ++k) {
        if (s->loaded) cell_free(&s->cell[k]);
        s->ready[k] = 0;
    }
    s->loaded = 0;
}

/* The problem of a request: its data stand in files. */
static int read_request(const json_t *ask, ih_spec *spec, const char **z, char *message, size_t bytes)
{
    const char   *y = json_string_value(json_object_get(ask, "y")), *w = json_string_value(json_object_get(ask, "w"));
    const char   *offsets = json_string_value(json_object_get(ask, "offsets"));
    const json_t *min = json_object_get(ask, "min"), *max = json_object_get(ask, "max");

    *z = json_string_value(json_object_get(ask, "z"));
    if (!y || !*z || ih_spec_parse(spec, "file:y.npy", message, bytes) != 0) return 0;
    snprintf(spec->path, sizeof spec->path, "%s", y);
    snprintf(spec->weights, sizeof spec->weights, "%s", w ? w : "");
    snprintf(spec->offsets, sizeof spec->offsets, "%s", offsets ? offsets : "");
    spec->decreasing = json_is_true(json_object_get(ask, "decreasing"));
    if (json_is_number(min)) spec->min = json_number_value(min);
    if (json_is_number(max)) spec->max = json_number_value(max);
    return 1;
}

/* Ready for direct calls or graphs; NULL, or the answer that says why not. */
static json_t *prepare(server *s, call_kind call)
{
    const int    k = call == CALL_GRAPH;
    cell_record *c = &s->cell[k];
    bool         throttled;
    double       ms;
    fault        f;
    fault_kind   kind;

    if (!s->loaded) return refuse("no problem is loaded");
    if (s->ready[k]) return NULL;
    cell_init(c);
    snprintf(c->impl, sizeof c->impl, "%s", s->impl);
    c->protocol.call = call;
    kind             = s->t->prepare(s->t, c, &f);
    if (kind) return failed(&f);
    if (c->status == CELL_UNSUPPORTED) return json_pack("{ss}", "unsupported", c->why);
    s->ready[k] = 1;
    kind        = s->t->sample(s->t, c, &ms, &throttled, &f);
    if (!kind) kind = s->t->verify(s->t, c, &s->same, &f);
    return kind ? failed(&f) : NULL;
}

static json_t *load(server *s, const json_t *ask)
{
    ih_spec     *spec = malloc(sizeof *spec);
    const char  *z_path = NULL;
    char         message[IH_SPEC_MESSAGE];
    array        z;
    problem_info info;
    json_t      *answer = NULL;
    fault        f;
    fault_kind   kind = FAULT_NONE;

    unload(s);
    array_init(&z);
    if (!spec || !read_request(ask, spec, &z_path, message, sizeof message)) answer = refuse("a problem needs y and z");
    if (!answer) kind = npy_read(z_path, &z, &f);
    if (!answer && !kind) {
        kind      = target_cuda_open_given(s->t, spec, &z, &info, &f);
        s->loaded = 1; /* what there is of it is to be closed */
    }
    array_free(&z);
    free(spec);
    if (answer) return answer;
    if (kind) return failed(&f);
    answer = prepare(s, CALL_DIRECT);
    if (answer) return answer;
    return json_pack("{sb so so sI sI}", "same", s->same, "max_deviation", s->same ? json_real(0) : json_null(), "tolerance",
                     s->same ? json_real(0) : json_null(), "workspace_bytes", (json_int_t)s->cell[0].workspace_bytes, "peak_bytes",
                     (json_int_t)s->cell[0].peak_bytes);
}

/* "samples": `warmup` calls that do not count, then `count`; each is compared with the canonical fit. */
static json_t *samples(server *s, const json_t *ask)
{
    const json_int_t count = json_integer_value(json_object_get(ask, "count")), warmup = json_integer_value(json_object_get(ask, "warmup"));
    const char      *call  = json_string_value(json_object_get(ask, "call"));
    const int        graph = call && strcmp(call, "graph") == 0;
    json_t          *ms    = json_array(), *throttled = json_array(), *answer = prepare(s, graph ? CALL_GRAPH : CALL_DIRECT);
    cell_record     *c     = &s->cell[graph];
    int              all_same = 1;
    fault            f;

    if (!answer && (count < 1 || count > SAMPLES_MOST || warmup < 0 || warmup > SAMPLES_MOST)) answer = refuse("\"count\" or \"warmup\" is out of range");
    if (!answer) c->protocol.cold = json_is_true(json_object_get(ask, "cold"));
    for (json_int_t k = 0; k < warmup + count && !answer; ++k) {
        double     one = 0;
        bool       slow = false, same = false;
        fault_kind kind = s->t->sample(s->t, c, &one, &slow, &f);
        if (!kind) kind = s->t->verify(s->t, c, &same, &f);
        if (kind) answer = failed(&f);
        all_same &= same;
        if (k < warmup) continue;
        json_array_append_new(ms, json_real(one));
        if (slow) json_array_append_new(throttled, json_integer(k - warmup));
    }
    if (!answer) return json_pack("{so so sb}", "ms", ms, "throttled", throttled, "same", all_same);
    json_decref(ms);
    json_decref(throttled);
    return answer;
}

/* "sample" of the protocol with peers: one call. */
static json_t *one_sample(server *s, const json_t *ask)
{
    json_t *many = json_copy((json_t *)(uintptr_t)ask), *answer, *ms;

    json_object_set_new(many, "count", json_integer(1));
    json_object_set_new(many, "warmup", json_integer(0));
    answer = samples(s, many);
    json_decref(many);
    ms = json_object_get(answer, "ms");
    if (!ms) return answer;
    json_object_set_new(answer, "throttled", json_boolean(json_array_size(json_object_get(answer, "throttled")) > 0));
    json_object_set(answer, "ms", json_array_get(ms, 0));
    return answer;
}

static json_t *ceilings(server *s, const json_t *ask)
{
    const json_int_t count = json_integer_value(json_object_get(ask, "count"));
    json_t          *copies = json_array(), *answer = prepare(s, CALL_DIRECT);
    double           read_ms[SAMPLES_MOST], empty_ms[SAMPLES_MOST];
    fault            f;
    fault_kind       kind = FAULT_NONE;

    if (!answer && (count < 1 || count > SAMPLES_MOST)) answer = refuse("\"count\" is out of range");
    if (!answer) s->cell[0].protocol.cold = json_is_true(json_object_get(ask, "cold"));
    for (json_int_t k = 0; k < count && !answer && !kind; ++k) {
        double copy = 0;
        kind = s->t->copy(s->t, &s->cell[0].protocol, &copy, &f);
        if (!kind) kind = s->t->read(s->t, &s->cell[0].protocol, &read_ms[k], &f);
        if (!kind) kind = s->t->empty(s->t, &s->cell[0], &empty_ms[k], &f);
        json_array_append_new(copies, json_real(copy));
    }
    if (!answer && kind) answer = failed(&f);
    if (!answer) return json_pack("{so sf sf}", "copy_ms", copies, "read_ms", stats_median(read_ms, count), "empty_ms", stats_median(empty_ms, count));
    json_decref(copies);
    return answer;
}

static json_t *empty(server *s, const json_t *ask)
{
    json_t *answer = prepare(s, CALL_DIRECT);
    double  ms;
    fault   f;

    if (answer) return answer;
    s->cell[0].protocol.cold = json_is_true(json_object_get(ask, "cold"));
    if (s->t->empty(s->t, &s->cell[0], &ms, &f) != FAULT_NONE) return failed(&f);
    return json_pack("{sf sb sb}", "ms", ms, "throttled", 0, "same", 1);
}

static json_t *state(server *s)
{
    json_t *now;

    s->t->look(s->t, &s->cell[0], 0);
    now                   = s->cell[0].gpu_before;
    s->cell[0].gpu_before = NULL;
    return now ? now : json_object();
}

static json_t *answer_to(server *s, const json_t *ask)
{
    const char *what = json_string_value(json_object_get(ask, "do"));

    if (!what) return refuse("no request: \"do\" is missing");
    if (strcmp(what, "load") == 0) return load(s, ask);
    if (strcmp(what, "samples") == 0) return samples(s, ask);
    if (strcmp(what, "sample") == 0) return one_sample(s, ask);
    if (strcmp(what, "empty") == 0) return empty(s, ask);
    if (strcmp(what, "ceilings") == 0) return ceilings(s, ask);
    if (strcmp(what, "state") == 0) return state(s);
    if (strcmp(what, "manifest") == 0) return json_deep_copy(s->run);
    if (strcmp(what, "unload") == 0) {
        unload(s);
        return json_object();
    }
    return refuse("there is no such request");
}

static void say_line(json_t *line)
{
    json_dumpf(line, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
    putchar('\n');
    fflush(stdout);
    json_decref(line);
}

int serve(const char *impl, int ordinal, const json_t *run)
{
    server  s = { .impl = impl, .run = run };
    char   *line = NULL;
    size_t  room = 0;
    fault   f;

    s.t = target_cuda(ordinal, NULL, &f);
    if (!s.t) {
        say("%s", f.message);
        return f.exit_code;
    }
    for (int k = 0; k < 2; ++k) cell_init(&s.cell[k]);
    say_line(json_pack("{ss s{ss sO sO}}", "peer", impl, "versions", "isohull", ih_version(), "commit", json_object_get(run, "commit"), "code_hash",
                       json_object_get(run, "code_hash")));
    while (getline(&line, &room, stdin) > 0) {
        json_t *ask = json_loads(line, 0, NULL);
        say_line(ask ? answer_to(&s, ask) : refuse("that is no JSON object"));
        json_decref(ask);
    }
    free(line);
    unload(&s);
    s.t->free(s.t);
    return EXIT_GOOD;
}
