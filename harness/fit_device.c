/* SPDX-License-Identifier: Apache-2.0
 * fit_device.c: a fit on a CUDA device: copies in, enqueues, waits, asks how it went, copies back. */
#include "fit.h"

#include "device.h"

#include <stdlib.h>

struct fit_device {
    device    *d;
    ih_problem problem;   /* as in fit_run, with arrays of the device */
    ih_outputs outputs;   /* likewise                                 */
    void      *y, *w, *offsets, *workspace;
    size_t     workspace_bytes;
};

static fault_kind bring(device *d, const void *from, size_t bytes, void **at, fault *f)
{
    fault_kind kind = device_alloc(d, bytes, at, f);
    return kind ? kind : device_put(d, *at, from, bytes, f);
}

static size_t item_bytes(const ih_problem *p) { return p->dtype == IH_F32 ? 4 : 8; }

static fault_kind bring_problem(struct fit_device *s, const fit_run *run, fault *f)
{
    const ih_problem *p     = &run->problem;
    const size_t      bytes = (size_t)run->elements * item_bytes(p);
    fault_kind        kind  = bring(s->d, p->y, bytes, &s->y, f);

    if (!kind && p->w) kind = bring(s->d, p->w, bytes, &s->w, f);
    if (!kind && p->offsets) kind = bring(s->d, p->offsets, ((size_t)p->rows + 1) * 8, &s->offsets, f);
    s->problem         = *p;
    s->problem.y       = s->y;
    s->problem.w       = s->w;
    s->problem.offsets = s->offsets;
    return kind;
}

static fault_kind make_outputs(struct fit_device *s, const fit_run *run, int blocks, fault *f)
{
    void      *at   = NULL;
    fault_kind kind = device_alloc(s->d, (size_t)run->elements * item_bytes(&run->problem), &s->outputs.z, f);

    if (kind || !blocks) return kind;
    kind                     = device_alloc(s->d, (size_t)run->elements * 8, &at, f);
    s->outputs.block_starts  = at;
    if (!kind) kind = device_alloc(s->d, ((size_t)run->problem.rows + 1) * 8, &at, f);
    if (!kind) s->outputs.block_offsets = at;
    return kind;
}

/* Enqueue, wait, and ask what the device found in the data. */
static fault_kind call(struct fit_device *s, const fit_request *request, const ih_outputs *out, fault *f)
{
    ih_status  st   = ih_fit(request->solver, &s->problem, &request->options, out, s->workspace, s->workspace_bytes, device_stream(s->d));
    fault_kind kind = st == IH_OK ? device_wait(s->d, f) : fit_library_fault(request, st, f);

    if (kind) return kind;
    st = ih_device_status(request->solver, &s->problem, &request->options, s->workspace, s->workspace_bytes);
    return st == IH_OK ? FAULT_NONE : fit_library_fault(request, st, f);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* By events on the stream, so that what the host does besides is not in it. */
static fault_kind time_calls(struct fit_device *s, fit_run *run, const fit_request *request, const ih_outputs *out, fault *f)
{
    double     ms[FIT_CALLS_MOST], all = 0;
    fault_kind kind = FAULT_NONE;

    for (run->calls = 0; !kind && (run->calls < FIT_CALLS_LEAST || (run->calls < FIT_CALLS_MOST && all < FIT_TIMED_LEAST_MS)); ++run->calls) {
        ih_status st = IH_OK;
        kind = device_mark(s->d, 0, f);
        if (!kind) st = ih_fit(request->solver, &s->problem, &request->options, out, s->workspace, s->workspace_bytes, device_stream(s->d));
        if (st != IH_OK) return fit_library_fault(request, st, f);
        if (!kind) kind = device_mark(s->d, 1, f);
        if (!kind) kind = device_elapsed(s->d, 0, 1, &ms[run->calls], f);
        if (kind) return kind;
        all += ms[run->calls];
    }
    qsort(ms, (size_t)run->calls, sizeof ms[0], compare_doubles);
    run->ms = (ms[(run->calls - 1) / 2] + ms[run->calls / 2]) / 2;
    return kind;
}

static fault_kind take_back(struct fit_device *s, fit_run *run, fault *f)
{
    fault_kind kind = device_get(s->d, run->outputs.z, s->outputs.z, (size_t)run->elements * item_bytes(&run->problem), f);

    if (kind || !s->outputs.block_offsets) return kind;
    kind = device_get(s->d, run->outputs.block_offsets, s->outputs.block_offsets, ((size_t)run->problem.rows + 1) * 8, f);
    if (kind) return kind;
    run->blocks = run->outputs.block_offsets[run->problem.rows];
    if (run->blocks < 0 || run->blocks > run->elements) return fault_set(f, FAULT_LIBRARY, "the block offsets are out of range");
    return device_get(s->d, run->outputs.block_starts, s->outputs.block_starts, (size_t)run->blocks * 8, f);
}

fault_kind fit_device_call(fit_run *run, const fit_request *request, int want_blocks, fault *f)
{
    struct fit_device *s = calloc(1, sizeof *s);
    ih_outputs         asked;
    size_t             all_bytes = 0;
    fault_kind         kind;
    ih_status          st;

    if (!s) return fault_set(f, FAULT_MEMORY, "memory ran out");
    run->device = s;
    ih_outputs_init(&s->outputs);
    /* Offsets lie on the device in the call that counts, where they are not looked at before it: here they can be. */
    st = ih_workspace_bytes(NULL, &run->problem, NULL, &run->outputs, &all_bytes);
    if (st != IH_OK) return fit_library_fault(request, st, f);
    kind = device_open(&s->d, request->ordinal, f);
    if (kind) return kind;
    run->gpu = device_about(s->d)->name;
    st       = ih_impl_available(request->solver);
    if (st != IH_OK) return fit_library_fault(request, st, f);
    kind = bring_problem(s, run, f);
    if (!kind) kind = make_outputs(s, run, run->outputs.block_offsets != NULL, f);
    if (kind) return kind;

    asked = s->outputs;
    if (!want_blocks) asked.block_starts = asked.block_offsets = NULL;
    st = ih_workspace_bytes(request->solver, &s->problem, &request->options, &s->outputs, &all_bytes);
    if (st == IH_OK) st = ih_workspace_bytes(request->solver, &s->problem, &request->options, &asked, &run->workspace_bytes);
    if (st != IH_OK) return fit_library_fault(request, st, f);
    s->workspace_bytes = all_bytes > run->workspace_bytes ? all_bytes : run->workspace_bytes;
    kind = device_alloc(s->d, s->workspace_bytes, &s->workspace, f);
    if (!kind) kind = call(s, request, &s->outputs, f);
    if (!kind) kind = take_back(s, run, f);
    if (!kind && request->json) kind = time_calls(s, run, request, &asked, f);
    return kind;
}

fault_kind fit_device_backward(const fit_run *run, const fit_request *request, const ih_gradient *host, fault *f)
{
    struct fit_device *s     = run->device;
    const size_t       bytes = (size_t)run->elements * item_bytes(&run->problem);
    void              *g = NULL, *workspace = NULL;
    ih_gradient        gradient;
    size_t             workspace_bytes = 0;
    ih_status          st              = IH_OK;
    fault_kind         kind            = bring(s->d, host->g, bytes, &g, f);

    ih_gradient_init(&gradient);
    gradient.block_offsets = s->outputs.block_offsets;
    gradient.block_starts  = s->outputs.block_starts;
    gradient.g             = g;
    if (!kind && host->grad_y) kind = device_alloc(s->d, bytes, &gradient.grad_y, f);
    if (!kind && host->grad_w) kind = device_alloc(s->d, bytes, &gradient.grad_w, f);
    if (!kind) st = ih_backward_workspace_bytes(request->solver, &s->problem, &request->options, &gradient, &workspace_bytes);
    if (!kind && st == IH_OK) kind = device_alloc(s->d, workspace_bytes, &workspace, f);
    if (!kind && st == IH_OK) st = ih_backward(request->solver, &s->problem, &request->options, &gradient, workspace, workspace_bytes, device_stream(s->d));
    if (!kind && st == IH_OK) kind = device_wait(s->d, f);
    if (!kind && st == IH_OK) st = ih_device_status(request->solver, &s->problem, &request->options, workspace, workspace_bytes);
    if (st != IH_OK) kind = fit_library_fault(request, st, f);
    if (!kind && host->grad_y) kind = device_get(s->d, host->grad_y, gradient.grad_y, bytes, f);
    if (!kind && host->grad_w) kind = device_get(s->d, host->grad_w, gradient.grad_w, bytes, f);
    device_release(s->d, workspace);
    device_release(s->d, gradient.grad_w);
    device_release(s->d, gradient.grad_y);
    device_release(s->d, g);
    return kind;
}

void fit_device_free(struct fit_device *s)
{
    if (!s) return;
    device_release(s->d, s->workspace);
    device_release(s->d, s->outputs.block_offsets);
    device_release(s->d, s->outputs.block_starts);
    device_release(s->d, s->outputs.z);
    device_release(s->d, s->offsets);
    device_release(s->d, s->w);
    device_release(s->d, s->y);
    device_close(s->d);
    free(s);
}
