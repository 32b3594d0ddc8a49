/* SPDX-License-Identifier: Apache-2.0
 * target_cpu.c: samples taken on this CPU. */
#include "target.h"

#include "flush.h"
#include "nvtx.h"
#include "problem_load.h"
#include "stages.h"

#include "io/digest.h"
#include "machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct prepared {
    char           text[256];
    const ih_impl *impl;
    ih_options     options;
    void          *ws;
    size_t         ws_bytes;
} prepared;

typedef struct cpu {
    problem_arrays arrays;
    ih_problem     problem;
    int64_t        elements;
    size_t         item;               /* bytes of an element                                          */
    void          *z, *z_want;
    int64_t       *offsets, *starts;
    prepared      *prepared;
    int32_t        prepared_count;
    int            throttle_fd;        /* the processor's count of throttling events; -1: there is none */
    volatile uint64_t sink;            /* what reading ends in, so that it is not left out              */
} cpu;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whole nanoseconds until the division: a sample has few digits, in the journal too. */
static double since_ms(int64_t begin_ns) { return (double)(now_ns() - begin_ns) / 1e6; }

static double now_ms(target *t)
{
    (void)t;
    return (double)now_ns() / 1e6;
}

static void *aligned(size_t bytes)
{
    const size_t rounded = (bytes + IH_WORKSPACE_ALIGN - 1) / IH_WORKSPACE_ALIGN * IH_WORKSPACE_ALIGN;
    return aligned_alloc(IH_WORKSPACE_ALIGN, rounded ? rounded : IH_WORKSPACE_ALIGN);
}

static int64_t throttle_count(const cpu *s)
{
    char          text[32] = "";
    const ssize_t got      = s->throttle_fd >= 0 ? pread(s->throttle_fd, text, sizeof text - 1, 0) : 0;
    return got > 0 ? strtoll(text, NULL, 10) : 0;
}

static void outputs_of(cpu *s, int blocks, ih_outputs *out)
{
    ih_outputs_init(out);
    out->z = s->z;
    if (blocks) {
        out->block_offsets = s->offsets;
        out->block_starts  = s->starts;
    }
}

/* ---- a problem ---- */

static void cpu_close(target *t)
{
    cpu *s = t->state;

    for (int32_t k = 0; k < s->prepared_count; ++k) free(s->prepared[k].ws);
    free(s->prepared);
    free(s->z);
    free(s->z_want);
    free(s->offsets);
    free(s->starts);
    problem_arrays_free(&s->arrays);
    s->z = s->z_want = NULL;
    s->offsets = s->starts = NULL;
    s->prepared       = NULL;
    s->prepared_count = 0;
}

static void describe(cpu *s, const ih_spec *spec)
{
    problem_describe(&s->problem, spec, &s->arrays);
    s->elements = s->arrays.y.elements;
    s->item     = s->problem.dtype == IH_F32 ? 4 : 8;
}

/* Digest of what stands in z and the blocks; a fault if these cannot be right. */
static fault_kind digest_outputs(const cpu *s, char digest[17], int64_t *blocks, fault *f)
{
    *blocks = s->offsets[s->problem.rows];
    if (*blocks < 0 || *blocks > s->elements) return fault_set(f, FAULT_LIBRARY, "the block offsets are out of range");
    digest_format(digest_fit(s->problem.dtype, s->z, s->elements, s->starts, *blocks), digest);
    return FAULT_NONE;
}

static fault_kind cpu_open(target *t, const ih_spec *spec, problem_info *info, fault *f)
{
    cpu           *s       = t->state;
    const ih_impl *referee = ih_impl_find("cpu_exact");
    ih_outputs     out;
    void          *held;
    fault_kind     kind = problem_load(spec, false, &s->arrays, f);

    if (kind) return kind;
    describe(s, spec);
    s->z       = aligned((size_t)s->elements * s->item);
    s->z_want  = aligned((size_t)s->elements * s->item);
    s->starts  = malloc((size_t)s->elements * sizeof *s->starts + 8);
    s->offsets = malloc(((size_t)s->problem.rows + 1) * sizeof *s->offsets);
    if (!s->z || !s->z_want || !s->starts || !s->offsets) return fault_set(f, FAULT_MEMORY, "no memory for %lld elements", (long long)s->elements);
    outputs_of(s, 1, &out);
    kind = fault_from_library(f, ih_fit(referee, &s->problem, NULL, &out, NULL, 0, NULL), "referee");
    if (!kind) kind = digest_outputs(s, info->digest, &info->blocks, f);
    held       = s->z_want; /* what the referee wrote is wanted from all others */
    s->z_want  = s->z;
    s->z       = held;
    info->rows = s->problem.rows;
    info->n    = s->elements;
    return kind;
}

/* ---- implementations ---- */

static prepared *find(const cpu *s, const cell_record *c)
{
    for (int32_t k = 0; k < s->prepared_count; ++k)
        if (strcmp(s->prepared[k].text, c->impl) == 0) return &s->prepared[k];
    return NULL;
}

static fault_kind unsupported(cell_record *c)
{
    ih_error error = { .size = sizeof error };

    ih_last_error(&error);
    c->status = CELL_UNSUPPORTED;
    snprintf(c->why, sizeof c->why, "%s", error.message);
    return FAULT_NONE;
}

static fault_kind cpu_prepare(target *t, cell_record *c, fault *f)
{
    cpu       *s     = t->state;
    prepared  *grown = realloc(s->prepared, ((size_t)s->prepared_count + 1) * sizeof *grown), *p;
    ih_outputs bare, full;
    size_t     with_blocks = 0;
    ih_status  st;

    if (!grown) return fault_set(f, FAULT_MEMORY, "memory ran out");
    s->prepared = grown;
    p           = &grown[s->prepared_count];
    memset(p, 0, sizeof *p);
    snprintf(p->text, sizeof p->text, "%s", c->impl);
    ih_options_init(&p->options);
    st = ih_impl_parse(c->impl, &p->impl, &p->options);
    if (st != IH_OK) return fault_from_library(f, st, NULL);
    if (nvtx_profiled()) p->options.hook = nvtx_stage_hook; /* the tool shows the stages of every call; no time of such a run counts */
    c->threads = 1;
    if (p->impl->features & IH_HAS_THREADS) c->threads = p->options.threads ? p->options.threads : machine_cpus();
    outputs_of(s, 0, &bare);
    outputs_of(s, (p->impl->features & IH_HAS_BLOCKS) != 0, &full);
    st = ih_impl_available(p->impl);
    if (st == IH_OK) st = ih_workspace_bytes(p->impl, &s->problem, &p->options, &bare, &p->ws_bytes);
    if (st == IH_OK) st = ih_workspace_bytes(p->impl, &s->problem, &p->options, &full, &with_blocks);
    if (st == IH_EUNSUPPORTED || st == IH_ENODEVICE) return unsupported(c);
    if (st != IH_OK) return fault_from_library(f, st, NULL);
    c->workspace_bytes = (int64_t)p->ws_bytes;
    if (with_blocks > p->ws_bytes) p->ws_bytes = with_blocks;
    p->ws = aligned(p->ws_bytes);
    if (!p->ws) return fault_set(f, FAULT_MEMORY, "no memory for a workspace of %zu bytes", p->ws_bytes);
    s->prepared_count++;
    return c->protocol.cold ? flush_caches(f) : FAULT_NONE; /* the first one makes the buffer, which takes long */
}

static void poison(cpu *s) { memset(s->z, 0xff, (size_t)s->elements * s->item); } /* NaN everywhere */

/* Hot: right after an untimed call of the same kind, whatever was measured before. */
static fault_kind cpu_sample(target *t, cell_record *c, double *ms, bool *throttled, fault *f)
{
    cpu       *s = t->state;
    prepared  *p = find(s, c);
    ih_outputs out;
    ih_status  st = IH_OK;
    int64_t    events, begin;

    outputs_of(s, 0, &out);
    if (!c->protocol.cold) st = ih_fit(p->impl, &s->problem, &p->options, &out, p->ws, p->ws_bytes, NULL);
    poison(s);
    if (c->protocol.cold) {
        const fault_kind kind = flush_caches(f);
        if (kind) return kind;
    }
    events = throttle_count(s);
    if (st == IH_OK) {
        begin = now_ns();
        st    = ih_fit(p->impl, &s->problem, &p->options, &out, p->ws, p->ws_bytes, NULL);
        *ms   = since_ms(begin);
    }
    *throttled = throttle_count(s) != events;
    return fault_from_library(f, st, NULL);
}

static fault_kind cpu_verify(target *t, cell_record *c, bool *same, fault *f)
{
    const cpu *s      = t->state;
    int64_t    differ = 0; /* by value: -0 is 0, and the poison is equal to nothing */

    (void)f;
    if (s->problem.dtype == IH_F32)
        for (int64_t i = 0; i < s->elements; ++i) differ += !(((const float *)s->z)[i] == ((const float *)s->z_want)[i]);
    else
        for (int64_t i = 0; i < s->elements; ++i) differ += !(((const double *)s->z)[i] == ((const double *)s->z_want)[i]);
    *same = differ == 0 || !(find(s, c)->impl->features & IH_CANONICAL);
    return FAULT_NONE;
}

static fault_kind cpu_digest(target *t, cell_record *c, fault *f)
{
    cpu       *s = t->state;
    prepared  *p = find(s, c);
    ih_outputs out;
    fault_kind kind;

    if (!(p->impl->features & IH_HAS_BLOCKS)) return FAULT_NONE; /* z alone is verified, sample by sample */
    if (!(p->impl->features & IH_CANONICAL)) c->digest_want[0] = 0;
    outputs_of(s, 1, &out);
    poison(s);
    memset(s->starts, 0xff, (size_t)s->elements * sizeof *s->starts);
    memset(s->offsets, 0xff, ((size_t)s->problem.rows + 1) * sizeof *s->offsets);
    kind = fault_from_library(f, ih_fit(p->impl, &s->problem, &p->options, &out, p->ws, p->ws_bytes, NULL), NULL);
    return kind ? kind : digest_outputs(s, c->digest, &c->blocks, f);
}

static fault_kind cpu_stages(target *t, cell_record *c, fault *f)
{
    cpu        *s = t->state;
    prepared   *p = find(s, c);
    ih_options  o = p->options;
    stage_times times;
    ih_counters counters;
    nvtx_chain  chain = { stage_times_hook, &times };
    ih_outputs  out;
    ih_status   st;

    outputs_of(s, 0, &out);
    stage_times_init(&times);
    o.hook      = nvtx_stage_hook;
    o.hook_user = &chain;
    st = ih_fit(p->impl, &s->problem, &o, &out, p->ws, p->ws_bytes, NULL);
    if (st != IH_OK) return fault_from_library(f, st, "with the stage hook");
    stage_times_store(&times, c);

    o = p->options;
    ih_counters_init(&counters);
    o.counters = &counters;
    st = ih_fit(p->impl, &s->problem, &o, &out, p->ws, p->ws_bytes, NULL);
    if (st != IH_OK) return fault_from_library(f, st, "with counters");
    json_decref(c->counters);
    c->counters = counters_to_json(&counters);
    return FAULT_NONE;
}

/* ---- ceilings: one thread ---- */

/* At least 64 bits at a time, so that the memory and not the addition is the limit. */
static uint64_t read_all(const void *from, size_t bytes)
{
    const uint64_t *words = from;
    uint64_t        mixed = 0;
    for (size_t i = 0; i < bytes / 8; ++i) mixed ^= words[i];
    return mixed;
}

static fault_kind ready(const protocol *p, fault *f) { return p->cold ? flush_caches(f) : FAULT_NONE; }

static fault_kind cpu_copy(target *t, const protocol *p, double *ms, fault *f)
{
    cpu         *s     = t->state;
    const size_t bytes = (size_t)s->elements * s->item;
    fault_kind   kind;
    int64_t      begin;

    if (!p->cold) memcpy(s->z, s->problem.y, bytes);
    kind = ready(p, f);
    if (kind) return kind;
    begin = now_ns();
    memcpy(s->z, s->problem.y, bytes);
    __asm__ volatile("" : : "r"(s->z) : "memory");
    if (s->problem.w) s->sink ^= read_all(s->problem.w, bytes);
    *ms = since_ms(begin);
    return FAULT_NONE;
}

static fault_kind cpu_read(target *t, const protocol *p, double *ms, fault *f)
{
    cpu         *s     = t->state;
    const size_t bytes = (size_t)s->elements * s->item;
    fault_kind   kind;
    int64_t      begin;

    if (!p->cold) s->sink ^= read_all(s->problem.y, bytes);
    kind = ready(p, f);
    if (kind) return kind;
    begin = now_ns();
    s->sink ^= read_all(s->problem.y, bytes);
    if (s->problem.w) s->sink ^= read_all(s->problem.w, bytes);
    *ms = since_ms(begin);
    return FAULT_NONE;
}

static fault_kind cpu_empty(target *t, cell_record *c, double *ms, fault *f)
{
    cpu       *s    = t->state;
    prepared  *p    = find(s, c);
    ih_problem none = s->problem;
    ih_outputs out;
    fault_kind kind;
    ih_status  st = IH_OK;
    int64_t    begin;

    none.rows    = 1;
    none.n       = 0;
    none.offsets = NULL;
    outputs_of(s, 0, &out);
    if (!c->protocol.cold) st = ih_fit(p->impl, &none, &p->options, &out, p->ws, p->ws_bytes, NULL);
    kind = ready(&c->protocol, f);
    if (kind) return kind;
    begin = now_ns();
    if (st == IH_OK) st = ih_fit(p->impl, &none, &p->options, &out, p->ws, p->ws_bytes, NULL);
    *ms = since_ms(begin);
    return fault_from_library(f, st, "a fit of no elements");
}

static void cpu_free(target *t)
{
    cpu *s = t->state;

    if (s->throttle_fd >= 0) close(s->throttle_fd);
    flush_free();
    free(s);
    free(t);
}

target *target_cpu(fault *f)
{
    target *t = malloc(sizeof *t);
    cpu    *s = calloc(1, sizeof *s);

    if (!t || !s) {
        fault_set(f, FAULT_MEMORY, "memory ran out");
        free(t);
        free(s);
        return NULL;
    }
    *t = (target){ .device = "cpu", .state = s, .now_ms = now_ms, .open = cpu_open, .prepare = cpu_prepare, .sample = cpu_sample,
                   .verify = cpu_verify, .digest = cpu_digest, .stages = cpu_stages, .copy = cpu_copy, .read = cpu_read,
                   .empty = cpu_empty, .close = cpu_close, .free = cpu_free };
    array_init(&s->arrays.y);
    array_init(&s->arrays.w);
    array_init(&s->arrays.offsets);
    s->throttle_fd = open("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", O_RDONLY | O_CLOEXEC);
    return t;
}
