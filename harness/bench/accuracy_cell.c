/* SPDX-License-Identifier: Apache-2.0
 * accuracy_cell.c: problems opened once, each with its exact fit, for all implementations that are measured on it. */
#include "accuracy_cell.h"

#include "device_fit.h"

#include "io/digest.h"

#include "batch/check.h"
#include "common/row.h"

#include <stdlib.h>
#include <string.h>

static void want_digest(accuracy_case *c)
{
    const int64_t elements = ih_problem_elements(&c->problem);

    for (int64_t b = 0; b < c->exact.blocks; ++b) {
        const int64_t end = b + 1 < c->exact.blocks ? c->exact.starts[b + 1] : elements;
        for (int64_t i = c->exact.starts[b]; i < end; ++i) {
            if (c->problem.dtype == IH_F32) ((float *)c->z)[i] = (float)c->exact.value[b];
            else ((double *)c->z)[i] = c->exact.value[b];
        }
    }
    digest_format(digest_fit(c->problem.dtype, c->z, elements, c->exact.starts, c->exact.blocks), c->digest_want);
}

fault_kind accuracy_open(accuracy_case *c, const ih_spec *spec, fault *f)
{
    fault_kind kind;
    size_t     elements;

    memset(c, 0, sizeof *c);
    kind = problem_load(spec, false, &c->arrays, f);
    if (kind) return kind;
    problem_describe(&c->problem, spec, &c->arrays);
    elements         = (size_t)ih_problem_elements(&c->problem);
    c->z             = malloc(elements * 8 + 8);
    c->block_offsets = malloc(((size_t)c->problem.rows + 1) * sizeof *c->block_offsets);
    c->block_starts  = malloc(elements * sizeof *c->block_starts + 8);
    if (!c->z || !c->block_offsets || !c->block_starts)
        return fault_set(f, FAULT_MEMORY, "memory ran out for a fit of %lld elements", (long long)elements);
    kind = fault_from_library(f, ih_check_data(&c->problem), NULL);
    if (!kind) kind = exact_fit_make(&c->problem, &c->exact, f);
    if (!kind) want_digest(c);
    return kind;
}

void accuracy_close(accuracy_case *c)
{
    problem_arrays_free(&c->arrays);
    exact_fit_free(&c->exact);
    free(c->z);
    free(c->block_offsets);
    free(c->block_starts);
    memset(c, 0, sizeof *c);
}

fault_kind accuracy_fit(accuracy_case *c, device *d, const ih_impl *impl, const ih_options *options, ih_status *status, accuracy *a, char digest[17], fault *f)
{
    fault_kind    kind     = FAULT_NONE;
    const int64_t elements = ih_problem_elements(&c->problem);
    const int     blocks   = (impl->features & IH_HAS_BLOCKS) != 0;
    ih_outputs    out;

    memset(c->z, 0xff, (size_t)elements * (c->problem.dtype == IH_F32 ? 4 : 8)); /* NaN, for what is not written */
    ih_outputs_init(&out);
    out.z = c->z;
    if (blocks) {
        out.block_offsets = c->block_offsets;
        out.block_starts  = c->block_starts;
    }
    digest[0] = 0;
    if (d) kind = device_fit(d, impl, &c->problem, options, &out, status, f);
    else *status = ih_fit(impl, &c->problem, options, &out, NULL, 0, NULL);
    if (kind || *status != IH_OK) return kind;
    accuracy_measure(&c->problem, &c->exact, c->z, out.block_offsets, out.block_starts, a);
    if (blocks) digest_format(digest_fit(c->problem.dtype, c->z, elements, c->block_starts, a->blocks), digest);
    return FAULT_NONE;
}

fault_kind accuracy_file(accuracy_case *c, const char *path, accuracy *a, fault *f)
{
    const array_type type = c->problem.dtype == IH_F32 ? ARRAY_F32 : ARRAY_F64;
    array            z;
    fault_kind       kind;

    array_init(&z);
    kind = array_read(path, type, &z, f);
    if (!kind && z.elements != ih_problem_elements(&c->problem))
        kind = fault_set(f, FAULT_SHAPE, "%s: %lld numbers, but the problem has %lld", path, (long long)z.elements, (long long)ih_problem_elements(&c->problem));
    if (!kind) kind = array_convert(&z, type, path, f);
    if (!kind) accuracy_measure(&c->problem, &c->exact, z.data, NULL, NULL, a);
    array_free(&z);
    return kind;
}
