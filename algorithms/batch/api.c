/* SPDX-License-Identifier: Apache-2.0
 * api.c: the public edge: arguments are checked here once, structs of older callers are widened, the floating-point
 * environment is set, and the implementation is called. */
#include "check.h"
#include "registry.h"

#include "../common/error.h"
#include "../common/fenv.h"
#include "../common/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- init and widening ---- */

/* Fill the first `size` bytes of a caller's struct from one of this version. */
static void put_sized(void *to, size_t size, const void *from, size_t known)
{
    memcpy(to, from, size < known ? size : known);
    if (size >= sizeof size) memcpy(to, &size, sizeof size);
}

/* Over the defaults in `to`, copy what the caller's struct (which begins with its size) has. */
static void read_sized(void *to, size_t known, const void *from)
{
    size_t size;
    memcpy(&size, from, sizeof size);
    memcpy(to, from, size < known ? size : known);
    memcpy(to, &known, sizeof known);
}

static const ih_problem problem_default = { .size = sizeof(ih_problem), .y_min = -INFINITY, .y_max = INFINITY };
static const ih_outputs outputs_default = { .size = sizeof(ih_outputs) };
static const ih_options options_default = { .size = sizeof(ih_options), .walk_cap = 64, .thread_merges = 256 };
static const ih_counters counters_default = { .size = sizeof(ih_counters) };
static const ih_gradient gradient_default = { .size = sizeof(ih_gradient) };

void ih_problem_init_sized(ih_problem *p, size_t size) { put_sized(p, size, &problem_default, sizeof problem_default); }
void ih_outputs_init_sized(ih_outputs *out, size_t size) { put_sized(out, size, &outputs_default, sizeof outputs_default); }
void ih_options_init_sized(ih_options *o, size_t size) { put_sized(o, size, &options_default, sizeof options_default); }
void ih_counters_init_sized(ih_counters *c, size_t size) { put_sized(c, size, &counters_default, sizeof counters_default); }
void ih_gradient_init_sized(ih_gradient *g, size_t size) { put_sized(g, size, &gradient_default, sizeof gradient_default); }

void ih_options_read(ih_options *to, const ih_options *from)
{
    *to = options_default;
    if (from) read_sized(to, sizeof *to, from);
}

/* ---- checks ---- */

static ih_status bad(const char *argument, const char *why)
{
    return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, argument, -1, -1, "%s: %s", argument, why);
}

static ih_status check_struct(const void *s, size_t smallest, const char *name)
{
    size_t size;
    if (!s) return bad(name, "null");
    memcpy(&size, s, sizeof size);
    return size < smallest ? bad(name, "its size field is not set: call its init function") : IH_OK;
}

static ih_status check_aligned(const char *name, const void *at, size_t align)
{
    if ((uintptr_t)at % align == 0) return IH_OK;
    return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, name, -1, -1, "%s: not aligned to its type (%zu bytes)", name, align);
}

static ih_status check_offsets(const ih_problem *p)
{
    const ih_status st = check_aligned("offsets", p->offsets, sizeof *p->offsets); /* before they are read */
    if (st != IH_OK) return st;
    for (int64_t r = 0; r <= p->rows; ++r) {
        const int64_t at = p->offsets[r];
        if ((r == 0 && at != 0) || (r > 0 && at < p->offsets[r - 1]) || (r == p->rows && at != p->n))
            return ih_set_error(IH_EARGUMENT, IH_FAULT_OFFSETS, "offsets", r, -1,
                                "offsets: value %lld at %lld: offsets must rise from 0 to the length of y, %lld", (long long)at, (long long)r,
                                (long long)p->n);
    }
    return IH_OK;
}

/* Round a bound to the dtype; an infinite result is a bound all the same. A bound of -0 is 0: a clipped zero is +0. */
static double round_bound(double v, ih_dtype dtype) { return (dtype == IH_F32 ? (double)(float)v : v) + 0.0; }

static ih_status check_problem(const ih_problem *caller, ih_device device, ih_problem *p)
{
    ih_status st = check_struct(caller, offsetof(ih_problem, y_max) + sizeof caller->y_max, "problem");
    int64_t   total;

    if (st != IH_OK) return st;
    *p = problem_default;
    read_sized(p, sizeof *p, caller);
    if (p->dtype != IH_F32 && p->dtype != IH_F64) return bad("dtype", "neither IH_F32 nor IH_F64");
    if (p->direction != IH_INCREASING && p->direction != IH_DECREASING) return bad("direction", "neither IH_INCREASING nor IH_DECREASING");
    if (p->rows < 0) return bad("rows", "negative");
    if (p->n < 0) return bad("n", "negative");
    if (isnan(p->y_min)) return ih_set_error(IH_EARGUMENT, IH_FAULT_NAN, "y_min", -1, -1, "y_min: NaN");
    if (isnan(p->y_max)) return ih_set_error(IH_EARGUMENT, IH_FAULT_NAN, "y_max", -1, -1, "y_max: NaN");
    if (p->y_min > p->y_max)
        return ih_set_error(IH_EARGUMENT, IH_FAULT_REVERSED, "y_min", -1, -1, "y_min: %.17g is above y_max, %.17g", p->y_min, p->y_max);
    if (p->rows == INT64_MAX) return ih_set_error(IH_EOVERFLOW, IH_FAULT_NONE, "rows", -1, -1, "rows: rows + 1 overflows");
    if (!p->offsets) {
        if (__builtin_mul_overflow(p->rows, p->n, &total))
            return ih_set_error(IH_EOVERFLOW, IH_FAULT_NONE, "n", -1, -1, "n: rows x n, %lld x %lld, overflows", (long long)p->rows, (long long)p->n);
    } else {
        total = p->n;
    }
    /* 64 bytes an element leaves room for every size computed from it */
    if (total > INT64_MAX / 64) return ih_set_error(IH_EOVERFLOW, IH_FAULT_NONE, "n", -1, -1, "n: %lld elements overflow", (long long)total);
    if (p->offsets && device == IH_DEVICE_CPU) {
        st = check_offsets(p);
        if (st != IH_OK) return st;
    }
    if (total > 0 && !p->y) return bad("y", "null");
    p->y_min = round_bound(p->y_min, p->dtype);
    p->y_max = round_bound(p->y_max, p->dtype);
    return IH_OK;
}

typedef struct span { const char *name; const void *at; size_t bytes; int output; size_t align; } span;

/* Arrays are aligned to their type, and no output may overlap anything else. Addresses alone are looked at, of whatever memory. */
static ih_status check_arrays(const span *spans, int count)
{
    for (int i = 0; i < count; ++i) {
        const ih_status st = spans[i].bytes ? check_aligned(spans[i].name, spans[i].at, spans[i].align) : IH_OK;
        if (st != IH_OK) return st;
    }
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < i; ++k) {
            const uintptr_t a = (uintptr_t)spans[i].at, b = (uintptr_t)spans[k].at;
            if (!a || !b || !spans[i].bytes || !spans[k].bytes || !(spans[i].output || spans[k].output)) continue;
            if (a < b + spans[k].bytes && b < a + spans[i].bytes)
                return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, spans[i].name, -1, -1, "%s: overlaps %s", spans[i].name, spans[k].name);
        }
    return IH_OK;
}

static ih_status check_outputs(const ih_outputs *caller, const ih_problem *p, ih_outputs *out)
{
    const int64_t total = ih_problem_elements(p);
    ih_status     st    = check_struct(caller, offsetof(ih_outputs, block_means) + sizeof caller->block_means, "outputs");

    if (st != IH_OK) return st;
    *out = outputs_default;
    read_sized(out, sizeof *out, caller);
    if (total > 0 && !out->z) return bad("z", "null");
    if ((out->block_starts || out->block_weights || out->block_means) && !out->block_offsets)
        return bad("block_offsets", "null, but block arrays are asked for");
    return IH_OK;
}

static ih_status check_output_arrays(const ih_problem *p, const ih_outputs *out, const void *ws, size_t ws_bytes)
{
    const size_t item = p->dtype == IH_F32 ? 4 : 8, total = (size_t)ih_problem_elements(p), offsets = ((size_t)p->rows + 1) * 8;
    const span   spans[] = {
        { "y", p->y, total * item, 0, item },
        { "w", p->w, total * item, 0, item },
        { "offsets", p->offsets, offsets, 0, 8 },
        { "z", out->z, total * item, 1, item },
        { "block_offsets", out->block_offsets, offsets, 1, 8 },
        { "block_starts", out->block_starts, total * 8, 1, 8 },
        { "block_weights", out->block_weights, total * 8, 1, 8 },
        { "block_means", out->block_means, total * 8, 1, 8 },
        { "workspace", ws, ws_bytes, 1, 1 },
    };
    return check_arrays(spans, (int)(sizeof spans / sizeof spans[0]));
}

static ih_status unsupported(const ih_impl *impl, const char *what)
{
    return ih_set_error(IH_EUNSUPPORTED, IH_FAULT_NONE, "impl", -1, -1, "%s: %s", impl->name, what);
}

static ih_status check_supported(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out)
{
    const uint32_t has = impl->features;

    if (!(has & (p->dtype == IH_F32 ? IH_HAS_F32 : IH_HAS_F64)))
        return unsupported(impl, p->dtype == IH_F32 ? "float32 is not supported" : "float64 is not supported");
    if (p->w && !(has & IH_HAS_WEIGHTS)) return unsupported(impl, "weights are not supported");
    if (p->offsets && !(has & IH_HAS_RAGGED)) return unsupported(impl, "ragged rows are not supported");
    if ((p->y_min != -INFINITY || p->y_max != INFINITY) && !(has & IH_HAS_BOUNDS)) return unsupported(impl, "bounds are not supported");
    if (out->block_offsets && !(has & IH_HAS_BLOCKS)) return unsupported(impl, "block outputs are not supported");
    return impl->supports ? impl->supports(p, o, out) : IH_OK;
}

static const ih_impl *chosen(const ih_impl *impl) { return impl ? impl : ih_impl_default(IH_DEVICE_CPU); }

/* What a fit works on: the caller's structs, checked and of this version. */
typedef struct call {
    const ih_impl *impl;
    ih_problem     p;
    ih_options     o;
    ih_outputs     out;
} call;

static ih_status check_call(call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out)
{
    ih_status st = IH_OK;

    c->impl = chosen(impl);
    if (o) IH_TRY(check_struct(o, sizeof o->size, "options"));
    ih_options_read(&c->o, o);
    if (c->o.counters) IH_TRY(check_struct(c->o.counters, sizeof c->o.counters->size, "counters"));
    IH_TRY(check_problem(p, c->impl->device, &c->p));
    IH_TRY(check_outputs(out, &c->p, &c->out));
    IH_TRY(ih_options_check(c->impl, &c->o));
    IH_TRY(check_supported(c->impl, &c->p, &c->o, &c->out));
done:
    return st;
}

/* ---- workspace ---- */

typedef struct workspace { void *at; size_t bytes; void *owned; } workspace;

/* The caller's workspace, checked, or one of our own if there is none (CPU only). */
static ih_status workspace_open(workspace *w, const ih_impl *impl, void *ws, size_t ws_bytes, size_t needed)
{
    w->at    = ws;
    w->bytes = ws_bytes;
    w->owned = NULL;
    if (!ws && ws_bytes == 0 && impl->device == IH_DEVICE_CPU && needed > 0) {
        const size_t rounded = (needed + IH_WORKSPACE_ALIGN - 1) / IH_WORKSPACE_ALIGN * IH_WORKSPACE_ALIGN;
        w->owned = rounded < needed ? NULL : aligned_alloc(IH_WORKSPACE_ALIGN, rounded);
        w->at    = w->owned;
        w->bytes = rounded;
        if (!w->owned) return ih_set_error(IH_EMEMORY, IH_FAULT_NONE, "workspace", -1, -1, "workspace: no memory for %zu bytes", needed);
    }
    if (w->bytes < needed)
        return ih_set_error(IH_EWORKSPACE, IH_FAULT_NONE, "workspace", -1, -1, "workspace: %zu bytes given, %zu needed", w->bytes, needed);
    if (w->bytes > 0 && !w->at) return bad("workspace", "null, but its size is not 0");
    if ((uintptr_t)w->at % IH_WORKSPACE_ALIGN != 0)
        return ih_set_error(IH_EWORKSPACE, IH_FAULT_NONE, "workspace", -1, -1, "workspace: not aligned to %d bytes", IH_WORKSPACE_ALIGN);
    return IH_OK;
}

static void workspace_close(workspace *w) { free(w->owned); }

static ih_status fit_workspace_bytes(const call *c, size_t *bytes)
{
    *bytes = 0;
    return c->impl->workspace_bytes ? c->impl->workspace_bytes(&c->p, &c->o, &c->out, bytes) : IH_OK;
}

ih_status ih_workspace_bytes(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, size_t *bytes)
{
    call      c;
    ih_status st = IH_OK;

    if (!bytes) return bad("bytes", "null");
    IH_TRY(check_call(&c, impl, p, o, out));
    IH_TRY(fit_workspace_bytes(&c, bytes));
done:
    return st;
}

/* ---- fit ---- */

ih_status ih_fit(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, void *ws, size_t ws_bytes, void *stream)
{
    call          c;
    size_t        needed = 0;
    workspace     w      = { 0 };
    ih_counters   counters, *caller = NULL; /* the caller's counters, if they are of another version's size */
    const ih_fenv saved  = ih_fenv_enter();
    ih_status     st     = IH_OK;

    IH_TRY(check_call(&c, impl, p, o, out));
    IH_TRY(ih_impl_available(c.impl));
    if (c.impl->device == IH_DEVICE_CPU && c.o.counters && c.o.counters->size != sizeof counters) {
        caller   = c.o.counters;
        counters = counters_default;
        read_sized(&counters, sizeof counters, caller);
        c.o.counters = &counters;
    }
    IH_TRY(fit_workspace_bytes(&c, &needed));
    IH_TRY(workspace_open(&w, c.impl, ws, ws_bytes, needed));
    IH_TRY(check_output_arrays(&c.p, &c.out, ws, ws_bytes));
    if (c.impl->device == IH_DEVICE_CPU && !(c.impl->features & IH_CHECKS_DATA)) IH_TRY(ih_check_data(&c.p));
    if (ih_problem_elements(&c.p) == 0 && !c.out.block_offsets) goto done; /* however many rows there are */
    IH_TRY(c.impl->fit(&c.p, &c.o, &c.out, w.at, w.bytes, stream));
    if (caller) put_sized(caller, caller->size, &counters, sizeof counters);
done:
    workspace_close(&w);
    ih_fenv_leave(saved);
    return st;
}

/* ---- status of a device ---- */

ih_status ih_device_status(const ih_impl *impl, const ih_problem *p, const ih_options *o, const void *ws, size_t ws_bytes)
{
    const ih_impl *own = chosen(impl);
    ih_problem     problem;
    ih_options     options;
    ih_counters    counters, *caller = NULL;
    ih_status      st = IH_OK;

    if (o) IH_TRY(check_struct(o, sizeof o->size, "options"));
    ih_options_read(&options, o);
    IH_TRY(check_problem(p, IH_DEVICE_CUDA, &problem)); /* offsets are not looked at */
    if (own->device == IH_DEVICE_CPU || !own->status) goto done;
    if (ih_problem_elements(&problem) == 0) goto done;
    if (!ws) IH_TRY(bad("workspace", "null"));
    if (options.counters) {
        IH_TRY(check_struct(options.counters, sizeof options.counters->size, "counters"));
        caller   = options.counters;
        counters = counters_default;
        read_sized(&counters, sizeof counters, caller);
        options.counters = &counters;
    }
    st = own->status(&problem, &options, ws, ws_bytes);
    if (caller) put_sized(caller, caller->size, &counters, sizeof counters);
done:
    return st;
}

/* ---- backward ---- */

static ih_status check_blocks(const ih_problem *p, const ih_gradient *g)
{
    int64_t   k  = 0;
    ih_status st = check_aligned("block_offsets", g->block_offsets, sizeof *g->block_offsets); /* before they are read */

    if (st == IH_OK) st = check_aligned("block_starts", g->block_starts, sizeof *g->block_starts);
    if (st != IH_OK || ih_problem_elements(p) == 0) return st;
    if (g->block_offsets[0] != 0) return bad("block_offsets", "does not begin with 0");
    for (int64_t r = 0; r < p->rows; ++r) {
        const int64_t begin = ih_row_begin(p, r), end = begin + ih_row_length(p, r), next = g->block_offsets[r + 1];
        if (next < k || next - k > end - begin || (end > begin) != (next > k))
            return ih_set_error(IH_EARGUMENT, IH_FAULT_OFFSETS, "block_offsets", r, -1, "block_offsets: wrong number of blocks in row %lld", (long long)r);
        for (int64_t b = k; b < next; ++b) {
            const int64_t at = g->block_starts[b];
            if (b == k ? at != begin : (at <= g->block_starts[b - 1] || at >= end))
                return ih_set_error(IH_EARGUMENT, IH_FAULT_OFFSETS, "block_starts", r, -1, "block_starts: %lld is not a block start of row %lld",
                                    (long long)at, (long long)r);
        }
        k = next;
    }
    return IH_OK;
}

static ih_status check_gradient(const ih_gradient *caller, const ih_impl *impl, const ih_problem *p, ih_gradient *g)
{
    const int64_t total = ih_problem_elements(p);
    ih_status     st    = check_struct(caller, offsetof(ih_gradient, grad_w) + sizeof caller->grad_w, "gradient");

    if (st != IH_OK) return st;
    *g = gradient_default;
    read_sized(g, sizeof *g, caller);
    if (!g->block_offsets) return bad("block_offsets", "null");
    if (total > 0 && !g->block_starts) return bad("block_starts", "null");
    if (total > 0 && !g->g) return bad("g", "null");
    return impl->device == IH_DEVICE_CPU ? check_blocks(p, g) : IH_OK;
}

static ih_status check_gradient_arrays(const ih_gradient *g, const ih_impl *impl, const ih_problem *p, const void *ws, size_t ws_bytes)
{
    const size_t item = p->dtype == IH_F32 ? 4 : 8, total = (size_t)ih_problem_elements(p), offsets = ((size_t)p->rows + 1) * 8;
    /* how many starts there are stands in the device's memory: there is one at least */
    const size_t starts  = impl->device == IH_DEVICE_CPU ? (size_t)g->block_offsets[p->rows] : total > 0;
    const span   spans[] = {
        { "y", p->y, total * item, 0, item },
        { "w", p->w, total * item, 0, item },
        { "offsets", p->offsets, offsets, 0, 8 },
        { "block_offsets", g->block_offsets, offsets, 0, 8 },
        { "block_starts", g->block_starts, starts * 8, 0, 8 },
        { "g", g->g, total * item, 0, item },
        { "grad_y", g->grad_y, total * item, 1, item },
        { "grad_w", g->grad_w, total * item, 1, item },
        { "workspace", ws, ws_bytes, 1, 1 },
    };
    return check_arrays(spans, (int)(sizeof spans / sizeof spans[0]));
}

typedef struct backward_call {
    const ih_impl *impl;
    ih_problem     p;
    ih_options     o;
    ih_gradient    g;
} backward_call;

static ih_status check_backward(backward_call *c, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *gradient)
{
    const ih_outputs none = outputs_default;
    ih_status        st   = IH_OK;

    c->impl = chosen(impl);
    if (o) IH_TRY(check_struct(o, sizeof o->size, "options"));
    ih_options_read(&c->o, o);
    IH_TRY(check_problem(p, c->impl->device, &c->p));
    IH_TRY(ih_options_check(c->impl, &c->o));
    if (!(c->impl->features & IH_HAS_GRADIENT) || !c->impl->backward) IH_TRY(unsupported(c->impl, "it has no gradient"));
    IH_TRY(check_supported(c->impl, &c->p, &c->o, &none));
    IH_TRY(check_gradient(gradient, c->impl, &c->p, &c->g));
done:
    return st;
}

static ih_status backward_bytes(const backward_call *c, size_t *bytes)
{
    *bytes = 0;
    return c->impl->backward_workspace_bytes ? c->impl->backward_workspace_bytes(&c->p, &c->o, &c->g, bytes) : IH_OK;
}

ih_status ih_backward_workspace_bytes(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *gradient, size_t *bytes)
{
    backward_call c;
    ih_status     st = IH_OK;

    if (!bytes) return bad("bytes", "null");
    IH_TRY(check_backward(&c, impl, p, o, gradient));
    IH_TRY(backward_bytes(&c, bytes));
done:
    return st;
}

ih_status ih_backward(const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_gradient *gradient, void *ws, size_t ws_bytes, void *stream)
{
    backward_call c;
    size_t        needed = 0;
    workspace     w      = { 0 };
    const ih_fenv saved  = ih_fenv_enter();
    ih_status     st     = IH_OK;

    IH_TRY(check_backward(&c, impl, p, o, gradient));
    IH_TRY(ih_impl_available(c.impl));
    IH_TRY(backward_bytes(&c, &needed));
    IH_TRY(workspace_open(&w, c.impl, ws, ws_bytes, needed));
    IH_TRY(check_gradient_arrays(&c.g, c.impl, &c.p, ws, ws_bytes));
    if (c.impl->device == IH_DEVICE_CPU) {
        IH_TRY(ih_check_data(&c.p));
        IH_TRY(ih_check_finite(&c.p, "g", c.g.g));
    }
    if (c.impl->device == IH_DEVICE_CPU && ih_problem_elements(&c.p) == 0) goto done;
    IH_TRY(c.impl->backward(&c.p, &c.o, &c.g, w.at, w.bytes, stream));
done:
    workspace_close(&w);
    ih_fenv_leave(saved);
    return st;
}
