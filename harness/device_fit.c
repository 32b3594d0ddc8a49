/* SPDX-License-Identifier: Apache-2.0
 * device_fit.c: see device_fit.h. */
#include "device_fit.h"

typedef struct copies {
    ih_problem problem; /* with arrays of the device */
    ih_outputs outputs;
    void      *y, *w, *offsets, *z, *starts, *block_offsets, *workspace;
} copies;

static fault_kind bring(device *d, const void *from, size_t bytes, void **at, fault *f)
{
    fault_kind kind = device_alloc(d, bytes, at, f);
    return kind ? kind : device_put(d, *at, from, bytes, f);
}

static fault_kind bring_all(device *d, const ih_problem *p, const ih_outputs *out, size_t elements, copies *c, fault *f)
{
    const size_t bytes = elements * (p->dtype == IH_F32 ? 4 : 8), rows = ((size_t)p->rows + 1) * 8;
    fault_kind   kind  = bring(d, p->y, bytes, &c->y, f);

    if (!kind && p->w) kind = bring(d, p->w, bytes, &c->w, f);
    if (!kind && p->offsets) kind = bring(d, p->offsets, rows, &c->offsets, f);
    if (!kind) kind = device_alloc(d, bytes, &c->z, f);
    if (!kind && out->block_offsets) kind = device_alloc(d, rows, &c->block_offsets, f);
    if (!kind && out->block_offsets) kind = device_alloc(d, elements * 8, &c->starts, f);
    c->problem         = *p;
    c->problem.y       = c->y;
    c->problem.w       = c->w;
    c->problem.offsets = c->offsets;
    ih_outputs_init(&c->outputs);
    c->outputs.z             = c->z;
    c->outputs.block_offsets = c->block_offsets;
    c->outputs.block_starts  = c->starts;
    return kind;
}

static fault_kind take_back(device *d, const copies *c, const ih_outputs *out, size_t elements, fault *f)
{
    const ih_problem *p    = &c->problem;
    fault_kind        kind = device_get(d, out->z, c->z, elements * (p->dtype == IH_F32 ? 4 : 8), f);

    if (kind || !out->block_offsets) return kind;
    kind = device_get(d, out->block_offsets, c->block_offsets, ((size_t)p->rows + 1) * 8, f);
    if (kind) return kind;
    if (out->block_offsets[p->rows] < 0 || (size_t)out->block_offsets[p->rows] > elements) return fault_set(f, FAULT_LIBRARY, "the block offsets are out of range");
    return device_get(d, out->block_starts, c->starts, (size_t)out->block_offsets[p->rows] * 8, f);
}

fault_kind device_fit(device *d, const ih_impl *impl, const ih_problem *p, const ih_options *o, const ih_outputs *out, ih_status *status, fault *f)
{
    const size_t elements = (size_t)(p->offsets ? p->n : p->rows * p->n);
    copies       c        = { .y = NULL };
    size_t       bytes    = 0;
    fault_kind   kind     = bring_all(d, p, out, elements, &c, f);

    *status = IH_OK;
    if (!kind) *status = ih_workspace_bytes(impl, &c.problem, o, &c.outputs, &bytes);
    if (!kind && *status == IH_OK) kind = device_alloc(d, bytes, &c.workspace, f);
    if (!kind && *status == IH_OK) *status = ih_fit(impl, &c.problem, o, &c.outputs, c.workspace, bytes, device_stream(d));
    if (!kind && *status == IH_OK) kind = device_wait(d, f);
    if (!kind && *status == IH_OK) *status = ih_device_status(impl, &c.problem, o, c.workspace, bytes);
    if (!kind && *status == IH_OK) kind = take_back(d, &c, out, elements, f);
    void *const all[] = { c.y, c.w, c.offsets, c.z, c.starts, c.block_offsets, c.workspace };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) device_release(d, all[k]);
    return kind;
}
