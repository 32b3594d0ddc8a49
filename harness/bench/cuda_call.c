/* SPDX-License-Identifier: Apache-2.0
 * cuda_call.c: see cuda_call.h. */
#include "cuda_call.h"

#include "nvtx.h"

#include <stdio.h>
#include <string.h>

static void outputs_of(const cuda_data *s, int blocks, ih_outputs *out)
{
    ih_outputs_init(out);
    out->z = s->z;
    if (blocks) {
        out->block_offsets = s->block_offsets;
        out->block_starts  = s->block_starts;
    }
}

static void gradient_of(const cuda_data *s, ih_gradient *g)
{
    ih_gradient_init(g);
    g->block_offsets = s->block_offsets;
    g->block_starts  = s->block_starts;
    g->g             = s->g;
    g->grad_y        = s->grad;
}

static fault_kind unsupported(cell_record *c)
{
    ih_error error = { .size = sizeof error };

    ih_last_error(&error);
    c->status = CELL_UNSUPPORTED;
    snprintf(c->why, sizeof c->why, "%s", error.message);
    return FAULT_NONE;
}

/* Workspace of a fit without blocks, one with them, and a gradient: all are done with one buffer. */
static ih_status sizes(cuda_call *call, const cuda_data *s)
{
    const int   has_blocks = (call->impl->features & IH_HAS_BLOCKS) != 0;
    ih_outputs  out;
    ih_gradient gradient;
    size_t      bare = 0, full = 0, back = 0;
    ih_status   st;

    outputs_of(s, 0, &out);
    st = ih_workspace_bytes(call->impl, &s->problem, &call->options, &out, &bare);
    outputs_of(s, has_blocks, &out);
    if (st == IH_OK) st = ih_workspace_bytes(call->impl, &s->problem, &call->options, &out, &full);
    gradient_of(s, &gradient);
    if (st == IH_OK && call->work != WORK_FIT) st = ih_backward_workspace_bytes(call->impl, &s->problem, &call->options, &gradient, &back);
    call->work_bytes = call->work == WORK_FIT ? bare : call->work == WORK_BACKWARD ? back : full > back ? full : back;
    call->ws_bytes   = bare > full ? bare : full;
    if (back > call->ws_bytes) call->ws_bytes = back;
    return st;
}

/* What lies on the device while the work is done. */
static int64_t peak_of(const cuda_call *call, const cuda_data *s)
{
    const int64_t each = s->elements * (int64_t)s->item, blocks = (s->elements + s->host.rows + 1) * 8;
    int64_t       peak = each + (s->w ? each : 0) + (s->row_offsets ? (s->host.rows + 1) * 8 : 0) + (int64_t)call->work_bytes;

    if (call->work != WORK_BACKWARD) peak += each;                /* z            */
    if (call->work != WORK_FIT) peak += blocks + 2 * each;       /* g, grad_y    */
    return peak;
}

fault_kind cuda_call_make(cuda_call *call, cuda_data *s, cell_record *c, fault *f)
{
    fault_kind kind = FAULT_NONE;
    ih_status  st;

    memset(call, 0, sizeof *call);
    snprintf(call->text, sizeof call->text, "%s", c->impl);
    call->work = c->protocol.work;
    call->kind = c->protocol.call;
    ih_options_init(&call->options);
    st = ih_impl_parse(c->impl, &call->impl, &call->options);
    if (st != IH_OK) return fault_from_library(f, st, NULL);
    if (nvtx_profiled() && call->kind != CALL_GRAPH) call->options.hook = nvtx_stage_hook; /* no time of such a run counts */
    if (call->impl->features & IH_HAS_BLOCKS || call->work != WORK_FIT) kind = cuda_data_blocks(s, f);
    if (!kind && call->work != WORK_FIT) kind = cuda_data_gradient(s, f);
    if (kind) return kind;
    st = ih_impl_available(call->impl);
    if (st == IH_OK) st = sizes(call, s);
    if (st == IH_EUNSUPPORTED || st == IH_ENODEVICE) return unsupported(c);
    if (st != IH_OK) return fault_from_library(f, st, NULL);
    kind               = device_alloc(s->d, call->ws_bytes, &call->ws, f);
    c->workspace_bytes = (int64_t)call->work_bytes;
    c->peak_bytes      = peak_of(call, s);
    if (!kind && call->work == WORK_BACKWARD) kind = cuda_call_fit_blocks(call, s, &call->options, f); /* once: its blocks stay */
    if (kind || call->kind != CALL_GRAPH) return kind;
    kind = cuda_call_direct(call, s, &call->options, f); /* whatever is loaded at first use is loaded before the capture */
    if (!kind) kind = device_wait(s->d, f);
    if (!kind) kind = device_capture(s->d, f);
    if (kind) return kind;
    kind = cuda_call_direct(call, s, &call->options, f);
    if (!kind) return device_captured(s->d, &call->graph, f);
    fault ignored;
    if (device_captured(s->d, &call->graph, &ignored) == FAULT_NONE) device_graph_free(call->graph); /* the stream must leave the capture */
    call->graph = NULL;
    return kind;
}

void cuda_call_free(cuda_call *call, cuda_data *s)
{
    device_graph_free(call->graph);
    device_release(s->d, call->ws);
    memset(call, 0, sizeof *call);
}

fault_kind cuda_call_direct(const cuda_call *call, cuda_data *s, const ih_options *o, fault *f)
{
    ih_outputs  out;
    ih_gradient gradient;
    ih_status   st = IH_OK;

    if (call->work != WORK_BACKWARD) {
        outputs_of(s, call->work == WORK_BOTH, &out);
        st = ih_fit(call->impl, &s->problem, o, &out, call->ws, call->ws_bytes, device_stream(s->d));
    }
    if (st == IH_OK && call->work != WORK_FIT) {
        gradient_of(s, &gradient);
        st = ih_backward(call->impl, &s->problem, o, &gradient, call->ws, call->ws_bytes, device_stream(s->d));
    }
    return fault_from_library(f, st, NULL);
}

fault_kind cuda_call_enqueue(cuda_call *call, cuda_data *s, fault *f)
{
    return call->graph ? device_replay(s->d, call->graph, f) : cuda_call_direct(call, s, &call->options, f);
}

fault_kind cuda_call_fit_blocks(const cuda_call *call, cuda_data *s, const ih_options *options, fault *f)
{
    ih_outputs out;
    fault_kind kind;

    outputs_of(s, (call->impl->features & IH_HAS_BLOCKS) != 0, &out);
    kind = fault_from_library(f, ih_fit(call->impl, &s->problem, options, &out, call->ws, call->ws_bytes, device_stream(s->d)), NULL);
    if (!kind) kind = device_wait(s->d, f);
    if (!kind) kind = fault_from_library(f, ih_device_status(call->impl, &s->problem, options, call->ws, call->ws_bytes), NULL);
    return kind;
}
