/* SPDX-License-Identifier: Apache-2.0
 * device_fit.c: memory of a fit on a device. */
#include "device_fit.h"

#include <string.h>

static size_t bytes_of(const device_fit *f) { return (size_t)problem_elements(&f->host) * problem_item(&f->host); }

static void status_must(ih_status status, const char *what)
{
    ih_error e = { .size = sizeof e };
    if (status == IH_OK) return;
    ih_last_error(&e);
    fprintf(stderr, "%s: %s\n", what, e.message);
    exit(1);
}

static void *workspace(size_t bytes)
{
    void *ws = device_new(bytes);
    device_must(cudaMemset(ws, 0xc9, bytes), "workspace");
    return ws;
}

void device_fit_open(device_fit *f, const ih_impl *impl, const ih_problem *p, const ih_options *o)
{
    const size_t total = (size_t)problem_elements(p), rows = (size_t)p->rows;

    memset(f, 0, sizeof *f);
    f->impl            = impl;
    f->options         = o;
    f->host            = *p;
    f->problem         = *p;
    f->problem.y       = device_copy(p->y, bytes_of(f));
    f->problem.w       = device_copy(p->w, bytes_of(f));
    f->problem.offsets = device_copy(p->offsets, (rows + 1) * 8);
    ih_outputs_init(&f->out);
    f->out.z             = device_new(bytes_of(f));
    f->out.block_offsets = device_new((rows + 1) * 8);
    f->out.block_starts  = device_new(total * 8);
    f->out.block_weights = device_new(total * 8);
    f->out.block_means   = device_new(total * 8);
    status_must(ih_workspace_bytes(impl, &f->problem, o, &f->out, &f->ws_bytes), "workspace");
    f->ws = workspace(f->ws_bytes);
    ih_gradient_init(&f->gradient);
    f->gradient.block_offsets = f->out.block_offsets;
    f->gradient.block_starts  = f->out.block_starts;
    device_must(cudaDeviceSynchronize(), "copies of a test");
}

void device_fit_with_gradient(device_fit *f, const void *g)
{
    f->gradient.g      = device_copy(g, bytes_of(f));
    f->gradient.grad_y = device_new(bytes_of(f));
    f->gradient.grad_w = device_new(bytes_of(f));
    status_must(ih_backward_workspace_bytes(f->impl, &f->problem, f->options, &f->gradient, &f->gradient_ws_bytes), "workspace of the gradient");
    f->gradient_ws = workspace(f->gradient_ws_bytes);
    device_must(cudaDeviceSynchronize(), "copies of a test");
}

static void drop(const void *p) { device_free((void *)(uintptr_t)p); }

void device_fit_close(device_fit *f)
{
    drop(f->problem.y);
    drop(f->problem.w);
    drop(f->problem.offsets);
    drop(f->out.z);
    drop(f->out.block_offsets);
    drop(f->out.block_starts);
    drop(f->out.block_weights);
    drop(f->out.block_means);
    drop(f->ws);
    drop(f->gradient.g);
    drop(f->gradient.grad_y);
    drop(f->gradient.grad_w);
    drop(f->gradient_ws);
    memset(f, 0, sizeof *f);
}

void device_fit_set_y(device_fit *f, const void *y, cudaStream_t stream)
{
    f->host.y = y;
    device_must(cudaMemcpyAsync((void *)(uintptr_t)f->problem.y, y, bytes_of(f), cudaMemcpyHostToDevice, stream), "new values");
}

ih_status device_fit_enqueue(device_fit *f, cudaStream_t stream)
{
    return ih_fit(f->impl, &f->problem, f->options, &f->out, f->ws, f->ws_bytes, stream);
}

ih_status device_fit_enqueue_gradient(device_fit *f, cudaStream_t stream)
{
    return ih_backward(f->impl, &f->problem, f->options, &f->gradient, f->gradient_ws, f->gradient_ws_bytes, stream);
}

ih_status device_fit_read(const device_fit *f, fit_result *r)
{
    r->status     = ih_device_status(f->impl, &f->problem, f->options, f->ws, f->ws_bytes);
    r->error.size = sizeof r->error;
    if (r->status != IH_OK) ih_last_error(&r->error);
    device_read(r->z.at, f->out.z, r->z.bytes);
    device_read(r->block_offsets.at, f->out.block_offsets, r->block_offsets.bytes);
    device_read(r->block_starts.at, f->out.block_starts, r->block_starts.bytes);
    device_read(r->block_weights.at, f->out.block_weights, r->block_weights.bytes);
    device_read(r->block_means.at, f->out.block_means, r->block_means.bytes);
    return r->status;
}
