/* SPDX-License-Identifier: Apache-2.0
 * fit_arrays.c: isohull fit y.npy: reads arrays, checks that they belong together, fits, and writes arrays. */
#include "fit.h"
#include "say.h"

#include "io/npy.h"
#include "io/outputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *type_name(array_type type) { return type == ARRAY_F32 ? "float32" : type == ARRAY_F64 ? "float64" : "int64"; }

static void describe_shape(const array *a, char text[64])
{
    if (a->dimensions == 1) snprintf(text, 64, "(%" PRId64 ",)", a->shape[0]);
    else snprintf(text, 64, "(%" PRId64 ", %" PRId64 ")", a->shape[0], a->shape[1]);
}

/* Read an array that goes along with y. */
static fault_kind read_like_y(const char *path, const array *y, const char *y_path, array *a, fault *f)
{
    fault_kind kind = path ? npy_read(path, a, f) : FAULT_NONE;

    if (!path || kind) return kind;
    if (a->dimensions != y->dimensions || a->shape[0] != y->shape[0] || a->shape[1] != y->shape[1]) {
        char shape[64], y_shape[64];
        describe_shape(a, shape);
        describe_shape(y, y_shape);
        return fault_set(f, FAULT_SHAPE, "%s: shape %s, but y (%s) has %s", path, shape, y_path, y_shape);
    }
    return array_convert(a, y->type, path, f);
}

typedef struct inputs { array y, w, g, offsets; } inputs;

static fault_kind read_inputs(const fit_request *request, inputs *in, ih_problem *p, fault *f)
{
    fault_kind kind = npy_read(request->input, &in->y, f);

    if (!kind) kind = read_like_y(request->weights, &in->y, request->input, &in->w, f);
    if (!kind) kind = read_like_y(request->grad, &in->y, request->input, &in->g, f);
    if (!kind && request->offsets) kind = npy_read_int64(request->offsets, &in->offsets, f);
    if (kind) return kind;
    if (request->offsets && in->y.dimensions != 1)
        return fault_set(f, FAULT_SHAPE, "%s: --offsets cuts a 1-D y into rows, but y is 2-D", request->input);
    if (request->offsets && in->offsets.elements == 0)
        return fault_set(f, FAULT_SHAPE, "%s: empty: offsets are one value more than rows, so at least one, 0", request->offsets);
    p->dtype   = in->y.type == ARRAY_F32 ? IH_F32 : IH_F64;
    p->y       = in->y.data;
    p->w       = request->weights ? in->w.data : NULL;
    p->offsets = request->offsets ? in->offsets.data : NULL;
    p->rows    = request->offsets ? in->offsets.elements - 1 : array_rows(&in->y);
    p->n       = request->offsets ? in->y.elements : array_row_length(&in->y);
    return FAULT_NONE;
}

static fault_kind backward(const fit_request *request, const fit_run *run, const inputs *in, array *grad_y, array *grad_w, fault *f)
{
    ih_gradient gradient;
    fault_kind  kind = FAULT_NONE;

    if (request->grad_y) kind = array_alloc(grad_y, in->y.type, in->y.dimensions, in->y.shape, f);
    if (!kind && request->grad_w) kind = array_alloc(grad_w, in->y.type, in->y.dimensions, in->y.shape, f);
    if (kind) return kind;
    ih_gradient_init(&gradient);
    gradient.g      = in->g.data;
    gradient.grad_y = request->grad_y ? grad_y->data : NULL;
    gradient.grad_w = request->grad_w ? grad_w->data : NULL;
    return fit_run_backward(run, request, &gradient, f);
}

typedef struct results { outputs files; FILE *z, *blocks, *grad_y, *grad_w; } results;

/* Before the fit, so that a folder that is not there does not cost the wait for it. */
static fault_kind open_results(const fit_request *request, results *r, fault *f)
{
    fault_kind kind = FAULT_NONE;

    if (request->out) kind = outputs_add(&r->files, request->out, &r->z, f);
    if (!kind && request->blocks) kind = outputs_add(&r->files, request->blocks, &r->blocks, f);
    if (!kind && request->grad_y) kind = outputs_add(&r->files, request->grad_y, &r->grad_y, f);
    if (!kind && request->grad_w) kind = outputs_add(&r->files, request->grad_w, &r->grad_w, f);
    return kind;
}

static fault_kind write_results(const fit_request *request, const fit_run *run, const array *y, const array *grad_y, const array *grad_w,
                                results *r, fault *f)
{
    const int64_t blocks_shape[2] = { run->blocks, 1 };
    fault_kind    kind            = FAULT_NONE;

    if (r->z) kind = npy_write(r->z, request->out, y->type, y->dimensions, y->shape, run->outputs.z, f);
    if (!kind && r->blocks) kind = npy_write(r->blocks, request->blocks, ARRAY_I64, 1, blocks_shape, run->outputs.block_starts, f);
    if (!kind && r->grad_y) kind = npy_write(r->grad_y, request->grad_y, y->type, y->dimensions, y->shape, grad_y->data, f);
    if (!kind && r->grad_w) kind = npy_write(r->grad_w, request->grad_w, y->type, y->dimensions, y->shape, grad_w->data, f);
    return kind ? kind : outputs_commit(&r->files, f);
}

int fit_arrays(const fit_request *request)
{
    inputs     in;
    results    out = { .z = NULL };
    array      grad_y, grad_w;
    fit_run    run = { .elements = 0 };
    fault      f;
    fault_kind kind;
    int        code = EXIT_GOOD;

    fault_clear(&f);
    array_init(&in.y);
    array_init(&in.w);
    array_init(&in.g);
    array_init(&in.offsets);
    array_init(&grad_y);
    array_init(&grad_w);
    outputs_init(&out.files);
    ih_problem_init(&run.problem);

    kind = read_inputs(request, &in, &run.problem, &f);
    if (!kind) kind = open_results(request, &out, &f);
    if (!kind) {
        fit_run_set(&run, request);
        kind = fit_run_call(&run, request, request->blocks || request->grad, &f);
    }
    if (!kind && request->grad) kind = backward(request, &run, &in, &grad_y, &grad_w, &f);
    if (!kind) kind = write_results(request, &run, &in.y, &grad_y, &grad_w, &out, &f);
    if (kind) {
        say("%s", f.message);
        code = f.exit_code;
    } else if (request->json) {
        code = fit_run_print(&run, request, NULL);
    } else {
        say("%s: %s, %" PRId64 " elements in %" PRId64 " row%s, by %s", request->out, type_name(in.y.type), run.elements, run.rows,
            run.rows == 1 ? "" : "s", request->solver_text);
    }
    outputs_discard(&out.files);
    fit_run_free(&run);
    array_free(&grad_w);
    array_free(&grad_y);
    array_free(&in.offsets);
    array_free(&in.g);
    array_free(&in.w);
    array_free(&in.y);
    return code;
}
