/* SPDX-License-Identifier: Apache-2.0
 * cuda_data.c: see cuda_data.h. */
#include "cuda_data.h"

#include "referee.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void describe(cuda_data *s, const ih_spec *spec)
{
    problem_describe(&s->host, spec, &s->arrays);
    s->elements = s->arrays.y.elements;
    s->item     = s->host.dtype == IH_F32 ? 4 : 8;
}

static fault_kind bring(cuda_data *s, const void *from, size_t bytes, void **at, fault *f)
{
    fault_kind kind = device_alloc(s->d, bytes, at, f);
    return kind ? kind : device_put(s->d, *at, from, bytes, f);
}

static fault_kind bring_all(cuda_data *s, const void *z_want, fault *f)
{
    const size_t bytes = (size_t)s->elements * s->item;
    fault_kind   kind  = bring(s, s->host.y, bytes, &s->y, f);

    if (!kind && s->host.w) kind = bring(s, s->host.w, bytes, &s->w, f);
    if (!kind && s->host.offsets) kind = bring(s, s->host.offsets, ((size_t)s->host.rows + 1) * 8, &s->row_offsets, f);
    if (!kind) kind = device_alloc(s->d, bytes, &s->z, f);
    if (!kind) kind = bring(s, z_want, bytes, &s->z_want, f);
    s->problem         = s->host;
    s->problem.y       = s->y;
    s->problem.w       = s->w;
    s->problem.offsets = s->row_offsets;
    return kind;
}

fault_kind cuda_data_open(cuda_data *s, device *d, const ih_spec *spec, problem_info *info, fault *f)
{
    const ih_impl *referee;
    void          *z;
    fault_kind     kind;

    memset(s, 0, sizeof *s);
    s->d = d;
    kind = problem_load(spec, false, &s->arrays, f);
    if (kind) return kind;
    describe(s, spec);
    referee    = referee_for(s->elements);
    z          = malloc((size_t)s->elements * s->item + 8);
    s->starts  = malloc((size_t)s->elements * sizeof *s->starts + 8);
    s->offsets = malloc(((size_t)s->host.rows + 1) * sizeof *s->offsets);
    if (!z || !s->starts || !s->offsets) kind = fault_set(f, FAULT_MEMORY, "no memory for %lld elements", (long long)s->elements);
    if (!kind) kind = referee_fit(referee, &s->host, z, s->starts, s->offsets, info->digest, &s->blocks, f);
    if (!kind) kind = bring_all(s, z, f);
    free(z);
    snprintf(info->referee, sizeof info->referee, "%s", referee_name(referee));
    info->blocks = s->blocks;
    info->rows   = s->host.rows;
    info->n      = s->elements;
    return kind;
}

fault_kind cuda_data_open_given(cuda_data *s, device *d, const ih_spec *spec, const array *z_want, fault *f)
{
    fault_kind kind;

    memset(s, 0, sizeof *s);
    s->d = d;
    kind = problem_load(spec, false, &s->arrays, f);
    if (kind) return kind;
    describe(s, spec);
    if (z_want->elements != s->elements || z_want->type != s->arrays.y.type)
        return fault_set(f, FAULT_SHAPE, "the canonical fit has another shape or type than y");
    return bring_all(s, z_want->data, f);
}

fault_kind cuda_data_blocks(cuda_data *s, fault *f)
{
    void      *at   = NULL;
    fault_kind kind = FAULT_NONE;

    if (!s->block_starts) {
        kind            = device_alloc(s->d, (size_t)s->elements * 8, &at, f);
        s->block_starts = at;
    }
    if (!kind && !s->block_offsets) {
        kind = device_alloc(s->d, ((size_t)s->host.rows + 1) * 8, &at, f);
        if (!kind) s->block_offsets = at;
    }
    return kind;
}

/* ---- gradients ---- */

/* splitmix64 of the element's number, as a number in [-1, 1) with 23 bits: the same for float and double. */
static double uniform(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z          = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 40) * 0x1p-23 - 1;
}

/* Each is right to 2^-20 (float) or 2^-44 (double) of the largest entry of its row: taken here of all rows. */
static double tolerance_of(const cuda_data *s, const void *grad)
{
    double most = 0;

    for (int64_t i = 0; i < s->elements; ++i) most = fmax(most, fabs(s->item == 4 ? (double)((const float *)grad)[i] : ((const double *)grad)[i]));
    return 2 * most * (s->item == 4 ? 0x1p-20 : 0x1p-44);
}

static fault_kind make_gradient(cuda_data *s, void *g, void *grad, fault *f)
{
    const size_t bytes = (size_t)s->elements * s->item;
    ih_gradient  gradient;
    fault_kind   kind;

    for (int64_t i = 0; i < s->elements; ++i) {
        if (s->item == 4) ((float *)g)[i] = (float)uniform((uint64_t)i);
        else ((double *)g)[i] = uniform((uint64_t)i);
    }
    ih_gradient_init(&gradient);
    gradient.block_offsets = s->offsets;
    gradient.block_starts  = s->starts;
    gradient.g             = g;
    gradient.grad_y        = grad;
    kind = fault_from_library(f, ih_backward(NULL, &s->host, NULL, &gradient, NULL, 0, NULL), "referee of the gradient");
    if (kind) return kind;
    s->grad_tolerance = tolerance_of(s, grad);
    kind = bring(s, g, bytes, &s->g, f);
    if (!kind) kind = bring(s, grad, bytes, &s->grad_want, f);
    if (!kind) kind = device_alloc(s->d, bytes, &s->grad, f);
    return kind;
}

fault_kind cuda_data_gradient(cuda_data *s, fault *f)
{
    const size_t bytes = (size_t)s->elements * s->item;
    void        *g, *grad;
    fault_kind   kind;

    if (s->grad) return FAULT_NONE;
    if (!s->starts) return fault_set(f, FAULT_USAGE, "gradients need the blocks of the canonical fit");
    g    = malloc(bytes + 8);
    grad = malloc(bytes + 8);
    kind = g && grad ? make_gradient(s, g, grad, f) : fault_set(f, FAULT_MEMORY, "no memory for %lld elements", (long long)s->elements);
    free(g);
    free(grad);
    return kind;
}

void cuda_data_close(cuda_data *s)
{
    void *const all[] = { s->y, s->w, s->row_offsets, s->z, s->z_want, s->block_starts, s->block_offsets, s->g, s->grad, s->grad_want };

    if (s->d)
        for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) device_release(s->d, all[k]);
    free(s->starts);
    free(s->offsets);
    if (s->d) problem_arrays_free(&s->arrays);
    memset(s, 0, sizeof *s);
}
