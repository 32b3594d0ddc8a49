/* SPDX-License-Identifier: Apache-2.0
 * target_cuda.c: samples taken on a CUDA device, by events on a stream of its own around the call. */
#include "target_cuda.h"

#include "cuda_call.h"
#include "nvml.h"
#include "nvtx.h"
#include "referee.h"
#include "stages.h"

#include "io/digest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EVENT_BEGIN, EVENT_END, EVENT_STAGES, STAGE_MARKS = (DEVICE_EVENTS - EVENT_STAGES) / 2 };
static const int64_t FLUSH_LEAST = 1 << 20;

typedef struct cuda {
    device    *d;
    nvml      *n;          /* NULL: there is none */
    const char *digests;   /* or NULL             */
    char       label[32];
    void      *flush;      /* [flush_bytes] on the device */
    size_t     flush_bytes;
    cuda_data  data;
    cuda_call *call;
    int32_t    calls;
} cuda;

static double now_ms(target *t)
{
    struct timespec now;

    (void)t;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* ---- a problem ---- */

static void cuda_close(target *t)
{
    cuda *s = t->state;

    for (int32_t k = 0; k < s->calls; ++k) cuda_call_free(&s->call[k], &s->data);
    free(s->call);
    s->call  = NULL;
    s->calls = 0;
    cuda_data_close(&s->data);
}

/* The referee was not cpu_exact, but what cpu_exact found may be kept. */
static fault_kind check_referee(const cuda *s, const ih_spec *spec, problem_info *info, fault *f)
{
    char       problem[RECORD_TEXT], kept[17], by[sizeof info->referee];
    fault_kind kind;

    ih_spec_format(spec, problem, sizeof problem);
    kind = referee_kept(s->digests, problem, kept, f);
    if (kind || !kept[0]) return kind;
    if (strcmp(kept, info->digest) != 0) return fault_set(f, FAULT_LIBRARY, "%s finds the digest %s, but %s keeps %s of cpu_exact", info->referee, info->digest, s->digests, kept);
    snprintf(by, sizeof by, "%.30s, digest as of cpu_exact", info->referee);
    strcpy(info->referee, by);
    return FAULT_NONE;
}

static fault_kind cuda_open(target *t, const ih_spec *spec, problem_info *info, fault *f)
{
    cuda      *s    = t->state;
    fault_kind kind = cuda_data_open(&s->data, s->d, spec, info, f);
    return kind || !s->digests || !info->referee[0] ? kind : check_referee(s, spec, info, f);
}

fault_kind target_cuda_open_given(target *t, const ih_spec *spec, const array *z_want, problem_info *info, fault *f)
{
    cuda      *s    = t->state;
    fault_kind kind = cuda_data_open_given(&s->data, s->d, spec, z_want, f);

    *info = (problem_info){ .rows = s->data.host.rows, .n = s->data.elements, .blocks = -1 };
    return kind;
}

/* ---- implementations ---- */

static cuda_call *find(const cuda *s, const cell_record *c)
{
    for (int32_t k = 0; k < s->calls; ++k)
        if (strcmp(s->call[k].text, c->impl) == 0 && s->call[k].kind == c->protocol.call && s->call[k].work == c->protocol.work) return &s->call[k];
    return NULL;
}

static fault_kind cuda_prepare(target *t, cell_record *c, fault *f)
{
    cuda      *s     = t->state;
    cuda_call *grown = realloc(s->call, ((size_t)s->calls + 1) * sizeof *grown);
    fault_kind kind;

    if (!grown) return fault_set(f, FAULT_MEMORY, "memory ran out");
    s->call    = grown;
    c->threads = 1; /* the one that enqueues */
    kind       = cuda_call_make(&grown[s->calls], &s->data, c, f);
    if (!kind && c->status != CELL_UNSUPPORTED) s->calls++;
    else cuda_call_free(&grown[s->calls], &s->data);
    return kind;
}

/* NaN in what the call should write. */
static fault_kind poison(cuda *s, work_kind work, fault *f)
{
    const size_t bytes = (size_t)s->data.elements * s->data.item;
    fault_kind   kind  = work == WORK_BACKWARD ? FAULT_NONE : device_fill(s->d, s->data.z, 0xff, bytes, f);

    if (!kind && work != WORK_FIT) kind = device_fill(s->d, s->data.grad, 0xff, bytes, f);
    return kind;
}

/* With the device at rest, and, if cold, something else in its L2: it is flushed on the stream just before the begin. */
static fault_kind begin(cuda *s, int cold, fault *f)
{
    fault_kind kind = device_wait(s->d, f);

    if (!kind && cold) kind = device_fill(s->d, s->flush, 0, s->flush_bytes, f);
    if (!kind) kind = device_mark(s->d, EVENT_BEGIN, f);
    return kind;
}

/* Whole nanoseconds: events give a float. */
static fault_kind end(cuda *s, double *ms, fault *f)
{
    fault_kind kind = device_mark(s->d, EVENT_END, f);

    if (!kind) kind = device_elapsed(s->d, EVENT_BEGIN, EVENT_END, ms, f);
    *ms = round(*ms * 1e6) / 1e6;
    return kind;
}

static fault_kind cuda_sample(target *t, cell_record *c, double *ms, bool *throttled, fault *f)
{
    cuda      *s    = t->state;
    cuda_call *call = find(s, c);
    fault_kind kind = c->protocol.cold ? FAULT_NONE : cuda_call_enqueue(call, &s->data, f);
    int        hot;

    if (!kind) kind = poison(s, call->work, f);
    if (!kind) kind = device_wait(s->d, f);
    hot = nvml_throttled(s->n);
    if (!kind) kind = begin(s, c->protocol.cold, f);
    if (!kind) kind = cuda_call_enqueue(call, &s->data, f);
    if (!kind) kind = end(s, ms, f);
    *throttled = hot || nvml_throttled(s->n);
    return kind;
}

static fault_kind cuda_verify(target *t, cell_record *c, bool *same, fault *f)
{
    cuda            *s      = t->state;
    const cuda_call *call   = find(s, c);
    const cuda_data *d      = &s->data;
    int64_t          differ = 0, differ_grad = 0;
    fault_kind       kind   = FAULT_NONE;

    if (call->work != WORK_BACKWARD) kind = device_differ(s->d, d->z, d->z_want, d->elements, d->host.dtype, 0, &differ, f);
    if (!kind && call->work != WORK_FIT) kind = device_differ(s->d, d->grad, d->grad_want, d->elements, d->host.dtype, d->grad_tolerance, &differ_grad, f);
    *same = (differ == 0 && differ_grad == 0) || !(call->impl->features & IH_CANONICAL);
    if (!*same && differ == 0)
        snprintf(c->why, sizeof c->why, "a timed call wrote another gradient than the referee: %lld of %lld entries differ", (long long)differ_grad, (long long)d->elements);
    return kind;
}

/* z and the blocks come back to the host and are digested there. */
static fault_kind take_digest(cuda *s, cell_record *c, fault *f)
{
    const cuda_data *d      = &s->data;
    const size_t     bytes  = (size_t)d->elements * d->item;
    void            *z      = malloc(bytes + 8);
    int64_t         *starts = NULL;
    fault_kind       kind   = z ? device_get(s->d, z, d->z, bytes, f) : fault_set(f, FAULT_MEMORY, "memory ran out");

    if (!kind) kind = device_get(s->d, &c->blocks, d->block_offsets + d->host.rows, sizeof c->blocks, f);
    if (!kind && (c->blocks < 0 || c->blocks > d->elements)) kind = fault_set(f, FAULT_LIBRARY, "the block offsets are out of range");
    if (!kind && !(starts = malloc((size_t)c->blocks * sizeof *starts + 8))) kind = fault_set(f, FAULT_MEMORY, "memory ran out");
    if (!kind) kind = device_get(s->d, starts, d->block_starts, (size_t)c->blocks * sizeof *starts, f);
    if (!kind) digest_format(digest_fit(d->host.dtype, z, d->elements, starts, c->blocks), c->digest);
    free(starts);
    free(z);
    return kind;
}

static fault_kind cuda_digest(target *t, cell_record *c, fault *f)
{
    cuda            *s    = t->state;
    const cuda_call *call = find(s, c);
    const cuda_data *d    = &s->data;
    fault_kind       kind;

    if (!(call->impl->features & IH_HAS_BLOCKS)) return FAULT_NONE; /* z alone is verified, sample by sample */
    if (!(call->impl->features & IH_CANONICAL)) c->digest_want[0] = 0;
    kind = poison(s, WORK_FIT, f);
    if (!kind) kind = device_fill(s->d, d->block_starts, 0xff, (size_t)d->elements * 8, f);
    if (!kind) kind = device_fill(s->d, d->block_offsets, 0xff, ((size_t)d->host.rows + 1) * 8, f);
    if (!kind) kind = cuda_call_fit_blocks(call, &s->data, &call->options, f);
    return kind ? kind : take_digest(s, c, f);
}

/* ---- stages and counters ---- */

typedef struct stage_marks {
    device *d;
    int     count; /* of stages begun */
    const char *name[STAGE_MARKS];
    fault_kind  kind;
    fault      *f;
} stage_marks;

static void mark_stage(void *user, const char *stage, int32_t level, int32_t is_begin, void *stream)
{
    stage_marks *m = user;

    (void)level;
    (void)stream;
    if (m->kind || m->count >= STAGE_MARKS) return;
    if (is_begin) m->name[m->count] = stage;
    else if (!m->name[m->count]) return; /* stages do not nest */
    m->kind = device_mark(m->d, EVENT_STAGES + 2 * m->count + !is_begin, m->f);
    if (!is_begin) m->count++;
}

/* Times of the stages by name, levels added up, and how much of the whole they are. */
static fault_kind add_up(const stage_marks *m, double whole, cell_record *c, fault *f)
{
    double     sum  = 0;
    fault_kind kind = FAULT_NONE;

    c->stages = 0;
    for (int k = 0; k < m->count && !kind; ++k) {
        double  ms = 0;
        int32_t at = 0;
        kind = device_elapsed(m->d, EVENT_STAGES + 2 * k, EVENT_STAGES + 2 * k + 1, &ms, f);
        sum += ms;
        while (at < c->stages && strcmp(c->stage[at].name, m->name[k]) != 0) ++at;
        if (at == RECORD_STAGES) continue;
        if (at == c->stages) {
            snprintf(c->stage[at].name, sizeof c->stage[at].name, "%s", m->name[k]);
            c->stage[at].ms = 0;
            c->stages++;
        }
        c->stage[at].ms += ms;
    }
    for (int32_t k = 0; k < c->stages; ++k) c->stage[k].ms = round(c->stage[k].ms * 1e6) / 1e6;
    if (!kind && c->stages > 0 && whole > 0) c->closure = round(sum / whole * 1e4) / 1e4;
    return kind;
}

/* The first call makes the events, the second counts; always enqueued by the host: a graph has no stages. */
static fault_kind take_stages(cuda *s, const cuda_call *call, cell_record *c, fault *f)
{
    stage_marks *m     = malloc(sizeof *m);
    nvtx_chain   chain = { mark_stage, m };
    ih_options   o     = call->options;
    double       whole = 0;
    fault_kind   kind  = m ? FAULT_NONE : fault_set(f, FAULT_MEMORY, "memory ran out");

    o.hook      = nvtx_stage_hook;
    o.hook_user = &chain;
    for (int k = 0; k < 2 && !kind; ++k) {
        *m   = (stage_marks){ .d = s->d, .f = f };
        kind = begin(s, c->protocol.cold, f);
        if (!kind) kind = cuda_call_direct(call, &s->data, &o, f);
        if (!kind) kind = m->kind;
        if (!kind) kind = end(s, &whole, f);
    }
    if (!kind) kind = add_up(m, whole, c, f);
    free(m);
    return kind;
}

static fault_kind cuda_stages(target *t, cell_record *c, fault *f)
{
    cuda            *s    = t->state;
    const cuda_call *call = find(s, c);
    ih_options       o    = call->options;
    ih_counters      counters;
    fault_kind       kind = take_stages(s, call, c, f);

    if (kind || call->work == WORK_BACKWARD) return kind;
    ih_counters_init(&counters);
    o.counters = &counters;
    kind       = cuda_call_fit_blocks(call, &s->data, &o, f);
    if (kind) return kind;
    json_decref(c->counters);
    c->counters = counters_to_json(&counters);
    return FAULT_NONE;
}

/* ---- ceilings ---- */

static fault_kind copy_once(cuda *s, fault *f)
{
    const cuda_data *d     = &s->data;
    const size_t     bytes = (size_t)d->elements * d->item;
    fault_kind       kind  = device_copy(s->d, d->z, d->y, bytes, f);
    return kind || !d->w ? kind : device_read(s->d, d->w, bytes, f);
}

static fault_kind read_once(cuda *s, fault *f)
{
    const cuda_data *d     = &s->data;
    const size_t     bytes = (size_t)d->elements * d->item;
    fault_kind       kind  = device_read(s->d, d->y, bytes, f);
    return kind || !d->w ? kind : device_read(s->d, d->w, bytes, f);
}

static fault_kind ceiling(cuda *s, int cold, fault_kind (*once)(cuda *, fault *), double *ms, fault *f)
{
    fault_kind kind = cold ? FAULT_NONE : once(s, f);

    if (!kind) kind = begin(s, cold, f);
    if (!kind) kind = once(s, f);
    return kind ? kind : end(s, ms, f);
}

static fault_kind nothing_once(cuda *s, fault *f) { return device_nothing(s->d, f); }

static fault_kind cuda_copy(target *t, const protocol *p, double *ms, fault *f) { return ceiling(t->state, p->cold, copy_once, ms, f); }
static fault_kind cuda_read(target *t, const protocol *p, double *ms, fault *f) { return ceiling(t->state, p->cold, read_once, ms, f); }
static fault_kind cuda_empty(target *t, cell_record *c, double *ms, fault *f) { return ceiling(t->state, c->protocol.cold, nothing_once, ms, f); }

static void cuda_look(target *t, cell_record *c, int after)
{
    const cuda *s  = t->state;
    json_t    **to = after ? &c->gpu_after : &c->gpu_before;

    json_decref(*to);
    *to = nvml_state(s->n);
}

static void cuda_free(target *t)
{
    cuda *s = t->state;

    if (s->d) device_release(s->d, s->flush);
    device_close(s->d);
    nvml_close(s->n);
    free(s);
    free(t);
}

target *target_cuda(int ordinal, const char *digests, fault *f)
{
    target    *t = calloc(1, sizeof *t);
    cuda      *s = calloc(1, sizeof *s);
    char       why[256];
    fault_kind kind;

    if (!t || !s) {
        fault_set(f, FAULT_MEMORY, "memory ran out");
        free(t);
        free(s);
        return NULL;
    }
    device_label(ordinal, s->label);
    s->digests = digests;
    *t = (target){ .device = s->label, .state = s, .now_ms = now_ms, .open = cuda_open, .prepare = cuda_prepare, .sample = cuda_sample,
                   .verify = cuda_verify, .digest = cuda_digest, .stages = cuda_stages, .copy = cuda_copy, .read = cuda_read,
                   .empty = cuda_empty, .look = cuda_look, .close = cuda_close, .free = cuda_free };
    kind = device_open(&s->d, ordinal, f);
    if (!kind) {
        const int64_t l2 = device_about(s->d)->l2_bytes;
        s->flush_bytes   = (size_t)(3 * l2 > FLUSH_LEAST ? 3 * l2 : FLUSH_LEAST);
        t->flush_bytes   = (int64_t)s->flush_bytes;
        kind             = device_alloc(s->d, s->flush_bytes, &s->flush, f);
    }
    if (kind) {
        cuda_free(t);
        return NULL;
    }
    if (device_built() == DEVICE_BUILD_CUDA || getenv("ISOHULL_NVML_ANYWAY")) s->n = nvml_open(device_about(s->d)->uuid, ordinal, why, sizeof why);
    return t;
}
