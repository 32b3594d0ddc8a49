/* SPDX-License-Identifier: Apache-2.0
 * target_peers.c: cells of peers, asked in their own processes; everything else is the inner target's.
 *
 * A peer reads y, w, offsets and the canonical z as .npy files, written by the writer of `isohull gen`. They are files without
 * a name, opened by the peer through /proc: nothing is left behind, however this process ends. */
#include "target_peers.h"

#include "flush.h"
#include "peer.h"
#include "problem_load.h"

#include "io/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct one_peer {
    char  name[64];
    peer *process; /* NULL: not started, or it cannot run                     */
    char  why[PEER_WHY], code_hash[PEER_HASH];
    bool  close;   /* is its z within the tolerance, and the same every time? */
} one_peer;

typedef struct peers {
    target    *inner;
    one_peer  *peer;
    int        count;
    ih_spec    spec;    /* the open problem */
} peers;

static one_peer *find(const peers *s, const cell_record *c)
{
    for (int k = 0; k < s->count; ++k)
        if (strcmp(s->peer[k].name, c->impl) == 0) return &s->peer[k];
    return NULL;
}

/* ---- files for a peer ---- */

typedef struct handed { FILE *y, *w, *offsets, *z; } handed;

static void take_back(handed *h)
{
    FILE *all[] = { h->y, h->w, h->offsets, h->z };
    for (int k = 0; k < 4; ++k)
        if (all[k]) fclose(all[k]);
}

/* A file without a name that holds the array; none for an array without data. */
static fault_kind hand(FILE **file, const array *a, fault *f)
{
    fault_kind kind;

    *file = NULL;
    if (!a->data) return FAULT_NONE;
    *file = tmpfile();
    if (!*file) return fault_set(f, FAULT_WRITE, "no temporary file for a peer");
    kind = npy_write(*file, "temporary file for a peer", a->type, a->dimensions, a->shape, a->data, f);
    if (!kind && (fflush(*file) != 0 || ferror(*file))) kind = fault_set(f, FAULT_WRITE, "temporary file for a peer: it could not be written");
    return kind;
}

static int put_path(json_t *request, const char *key, FILE *file)
{
    char path[64];

    if (!file) return json_object_set_new(request, key, json_null());
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), fileno(file));
    return json_object_set_new(request, key, json_string(path));
}

/* The canonical fit, of the shape of y. */
static fault_kind canonical(const ih_spec *spec, const problem_arrays *a, array *z, fault *f)
{
    ih_problem p;
    ih_outputs out;
    fault_kind kind = array_alloc(z, a->y.type, a->y.dimensions, a->y.shape, f);

    if (kind) return kind;
    ih_problem_init(&p);
    ih_outputs_init(&out);
    p.dtype     = a->y.type == ARRAY_F32 ? IH_F32 : IH_F64;
    p.direction = spec->decreasing ? IH_DECREASING : IH_INCREASING;
    p.rows      = a->offsets.data ? a->offsets.elements - 1 : array_rows(&a->y);
    p.n         = a->offsets.data ? a->y.elements : array_row_length(&a->y);
    p.offsets   = a->offsets.data;
    p.y         = a->y.data;
    p.w         = a->w.data;
    p.y_min     = spec->min;
    p.y_max     = spec->max;
    out.z       = z->data;
    return fault_from_library(f, ih_fit(NULL, &p, NULL, &out, NULL, 0, NULL), "canonical fit for a peer");
}

static fault_kind hand_problem(const ih_spec *spec, handed *h, json_t *request, fault *f)
{
    problem_arrays a;
    array          z;
    fault_kind     kind = problem_load(spec, false, &a, f);

    array_init(&z);
    if (!kind) kind = canonical(spec, &a, &z, f);
    if (!kind) kind = hand(&h->y, &a.y, f);
    if (!kind) kind = hand(&h->w, &a.w, f);
    if (!kind) kind = hand(&h->offsets, &a.offsets, f);
    if (!kind) kind = hand(&h->z, &z, f);
    problem_arrays_free(&a);
    array_free(&z);
    if (kind) return kind;
    if (put_path(request, "y", h->y) || put_path(request, "w", h->w) || put_path(request, "offsets", h->offsets) ||
        put_path(request, "z", h->z) || json_object_set_new(request, "decreasing", json_boolean(spec->decreasing)) ||
        json_object_set_new(request, "min", isfinite(spec->min) ? json_real(spec->min) : json_null()) ||
        json_object_set_new(request, "max", isfinite(spec->max) ? json_real(spec->max) : json_null()))
        return fault_set(f, FAULT_MEMORY, "memory ran out");
    return FAULT_NONE;
}

/* ---- cells of a peer ---- */

static fault_kind unsupported(cell_record *c, const char *why)
{
    c->status = CELL_UNSUPPORTED;
    snprintf(c->why, sizeof c->why, "%.*s", RECORD_TEXT - 1, why);
    return FAULT_NONE;
}

/* Started, again if it ended over an earlier problem. */
static fault_kind start(one_peer *p, fault *f)
{
    if (peer_alive(p->process) || p->why[0]) return FAULT_NONE;
    peer_stop(p->process);
    return peer_start(&p->process, p->name, p->code_hash, p->why, f);
}

static json_int_t flush_size(const peers *s) { return s->inner->flush_bytes ? (json_int_t)s->inner->flush_bytes : (json_int_t)flush_bytes(); }

static fault_kind peers_prepare(target *t, cell_record *c, fault *f)
{
    peers      *s = t->state;
    one_peer   *p = find(s, c);
    handed      h = { NULL, NULL, NULL, NULL };
    json_t     *request, *answer = NULL, *deviation, *tolerance;
    const char *why;
    fault_kind  kind;

    if (!p) return s->inner->prepare(s->inner, c, f);
    kind = start(p, f);
    if (kind) return kind;
    if (!p->process) return unsupported(c, p->why);
    if (c->protocol.work != WORK_FIT) return unsupported(c, "gradients of peers are not measured");
    c->threads         = 1;
    c->workspace_bytes = -1;
    request            = json_pack("{ss sI ss}", "do", "load", "flush_bytes", c->protocol.cold ? flush_size(s) : (json_int_t)0, "device", c->device);
    kind = request ? hand_problem(&s->spec, &h, request, f) : fault_set(f, FAULT_MEMORY, "memory ran out");
    if (kind) json_decref(request);
    else kind = peer_ask(p->process, request, &answer, f);
    take_back(&h);
    if (kind) return kind;
    why       = json_string_value(json_object_get(answer, "unsupported"));
    deviation = json_object_get(answer, "max_deviation");
    tolerance = json_object_get(answer, "tolerance");
    if (why) {
        unsupported(c, why);
    } else if (json_is_number(tolerance) && json_is_number(deviation)) {
        c->max_deviation = json_number_value(deviation);
        p->close         = c->max_deviation <= json_number_value(tolerance);
        if (!p->close)
            snprintf(c->why, sizeof c->why, "z differs from the canonical fit by %.3g of the largest |y|, allowed is %.3g", c->max_deviation,
                     json_number_value(tolerance));
    } else { /* null: z is not finite where the canonical fit is */
        p->close = false;
        snprintf(c->why, sizeof c->why, "z is not finite");
    }
    json_decref(answer);
    return FAULT_NONE;
}

/* Ask for one timed call. */
static fault_kind timed(const peers *s, one_peer *p, const char *what, const protocol *how, double *ms, bool *throttled, bool *same, fault *f)
{
    json_t       *answer;
    const json_t *value;
    fault_kind    kind = peer_ask(p->process, json_pack("{ss sb sI ss}", "do", what, "cold", how->cold, "flush_bytes", flush_size(s), "call", call_kind_name(how->call)),
                                  &answer, f);

    if (kind) return kind;
    value      = json_object_get(answer, "ms");
    *ms        = json_number_value(value);
    *throttled = json_is_true(json_object_get(answer, "throttled"));
    *same      = json_is_true(json_object_get(answer, "same"));
    if (!json_is_number(value) || !(*ms >= 0)) kind = fault_set(f, FAULT_FORMAT, "peer %s: no \"ms\" in its answer", p->name);
    json_decref(answer);
    return kind;
}

static fault_kind peers_sample(target *t, cell_record *c, double *ms, bool *throttled, fault *f)
{
    peers     *s = t->state;
    one_peer  *p = find(s, c);
    bool       same;
    fault_kind kind;

    if (!p) return s->inner->sample(s->inner, c, ms, throttled, f);
    kind = timed(s, p, "sample", &c->protocol, ms, throttled, &same, f);
    if (kind || same) return kind;
    p->close = false;
    snprintf(c->why, sizeof c->why, "z of two calls on the same data differ");
    return FAULT_NONE;
}

static fault_kind peers_verify(target *t, cell_record *c, bool *same, fault *f)
{
    const peers    *s = t->state;
    const one_peer *p = find(s, c);

    if (!p) return s->inner->verify(s->inner, c, same, f);
    *same = p->close;
    return FAULT_NONE;
}

static fault_kind peers_digest(target *t, cell_record *c, fault *f)
{
    peers *s = t->state;

    if (!find(s, c)) return s->inner->digest(s->inner, c, f);
    c->digest[0] = c->digest_want[0] = 0; /* no blocks: nothing to digest */
    return FAULT_NONE;
}

static fault_kind peers_stages(target *t, cell_record *c, fault *f)
{
    peers *s = t->state;
    return find(s, c) ? FAULT_NONE : s->inner->stages(s->inner, c, f);
}

/* Of one element: the peers we know refuse none. */
static fault_kind peers_empty(target *t, cell_record *c, double *ms, fault *f)
{
    peers    *s = t->state;
    one_peer *p = find(s, c);
    bool      throttled, same;

    return p ? timed(s, p, "empty", &c->protocol, ms, &throttled, &same, f) : s->inner->empty(s->inner, c, ms, f);
}

/* ---- the rest is the inner target's ---- */

static double peers_now_ms(target *t)
{
    peers *s = t->state;
    return s->inner->now_ms(s->inner);
}

static fault_kind peers_open(target *t, const ih_spec *spec, problem_info *info, fault *f)
{
    peers *s = t->state;

    s->spec = *spec;
    return s->inner->open(s->inner, spec, info, f);
}

static fault_kind peers_copy(target *t, const protocol *p, double *ms, fault *f)
{
    peers *s = t->state;
    return s->inner->copy(s->inner, p, ms, f);
}

static fault_kind peers_read(target *t, const protocol *p, double *ms, fault *f)
{
    peers *s = t->state;
    return s->inner->read(s->inner, p, ms, f);
}

static void peers_look(target *t, cell_record *c, int after)
{
    peers *s = t->state;
    s->inner->look(s->inner, c, after);
}

static void peers_close(target *t)
{
    peers *s = t->state;
    s->inner->close(s->inner);
}

static void peers_free(target *t)
{
    peers *s = t->state;

    for (int k = 0; s->peer && k < s->count; ++k) peer_stop(s->peer[k].process);
    s->inner->free(s->inner);
    free(s->peer);
    free(s);
    free(t);
}

target *target_peers(target *inner, const char *const *names, int count, fault *f)
{
    target *t = malloc(sizeof *t);
    peers  *s = calloc(1, sizeof *s);

    if (s) s->peer = calloc((size_t)(count > 0 ? count : 1), sizeof *s->peer);
    if (!t || !s || !s->peer) {
        fault_set(f, FAULT_MEMORY, "memory ran out");
        inner->free(inner);
        free(s);
        free(t);
        return NULL;
    }
    s->inner = inner;
    s->count = count;
    for (int k = 0; k < count; ++k) snprintf(s->peer[k].name, sizeof s->peer[k].name, "%s", names[k]);
    *t = (target){ .device = inner->device, .virtual_time = inner->virtual_time, .flush_bytes = inner->flush_bytes, .state = s, .now_ms = peers_now_ms, .open = peers_open,
                   .prepare = peers_prepare, .sample = peers_sample, .verify = peers_verify, .digest = peers_digest,
                   .stages = peers_stages, .copy = peers_copy, .read = peers_read, .empty = peers_empty, .look = inner->look ? peers_look : NULL, .close = peers_close,
                   .free = peers_free };
    return t;
}
