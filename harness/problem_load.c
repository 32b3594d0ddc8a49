/* SPDX-License-Identifier: Apache-2.0
 * problem_load.c: the arrays of a problem string. */
#include "problem_load.h"

#include <string.h>
#include <strings.h>

#include "io/npy.h"
#include "io/table.h"

static bool ends_with(const char *path, const char *ending)
{
    const size_t a = strlen(path), b = strlen(ending);
    return a > b && strcasecmp(path + a - b, ending) == 0;
}

static array_type type_of(ih_dtype dtype) { return dtype == IH_F32 ? ARRAY_F32 : ARRAY_F64; }

/* ---- files ---- */

/* Numbers of the type that is asked for, or of the file's own. */
static fault_kind read_numbers(const char *path, bool typed, array_type type, array *a, fault *f)
{
    static const char *const first_column[] = { "column 1" };
    fault_kind               kind;
    if (!typed && (ends_with(path, ".raw") || ends_with(path, ".bin")))
        return fault_set(f, FAULT_USAGE, "%s: raw numbers of which type? Name it in the problem, f32 or f64, or in the file's ending", path);
    if (typed && (ends_with(path, ".csv") || ends_with(path, ".txt")))
        return table_read_columns(path, TABLE_HEADER_AUTO, 1, first_column, type, a, f);
    kind = array_read(path, type, a, f);
    return kind || !typed ? kind : array_convert(a, type, path, f);
}

static fault_kind check_offsets(const char *path, const array *offsets, const array *y, fault *f)
{
    const int64_t *at = offsets->data;
    if (y->dimensions != 1) return fault_set(f, FAULT_SHAPE, "%s: offsets cut a 1-D y into rows, but y is 2-D", path);
    if (offsets->elements < 1 || at[0] != 0 || at[offsets->elements - 1] != y->elements)
        return fault_set(f, FAULT_VALUE, "%s: offsets must go from 0 to the length of y, %lld", path, (long long)y->elements);
    for (int64_t r = 1; r < offsets->elements; r++)
        if (at[r] < at[r - 1]) return fault_set(f, FAULT_VALUE, "%s: the offsets fall at row %lld", path, (long long)(r - 1));
    return FAULT_NONE;
}

static fault_kind read_files(const ih_spec *s, problem_arrays *out, fault *f)
{
    fault_kind kind = read_numbers(s->path, s->dtype_given, type_of(s->dtype), &out->y, f);
    if (!kind && s->offsets[0]) kind = npy_read_int64(s->offsets, &out->offsets, f);
    if (!kind && s->offsets[0]) kind = check_offsets(s->offsets, &out->offsets, &out->y, f);
    if (kind || !s->weights[0]) return kind;
    kind = read_numbers(s->weights, true, out->y.type, &out->w, f);
    if (kind) return kind;
    if (out->w.dimensions != out->y.dimensions || out->w.shape[0] != out->y.shape[0] || out->w.shape[1] != out->y.shape[1])
        return fault_set(f, FAULT_SHAPE, "%s: the weights have another shape than y", s->weights);
    return FAULT_NONE;
}

/* The generated problem of the shape of the file's data, for its weights. */
static ih_spec shape_of_file(const ih_spec *s, const problem_arrays *a)
{
    ih_spec like = *s;
    like.family  = IH_FAMILY_noise;
    like.dtype   = a->y.type == ARRAY_F32 ? IH_F32 : IH_F64;
    like.ragged  = a->offsets.data ? IH_RAGGED_uniform : IH_RAGGED_none; /* which law does not matter: the offsets are given */
    like.rows    = a->offsets.data ? a->offsets.elements - 1 : array_rows(&a->y);
    like.n       = array_row_length(&a->y);
    like.seed    = 0;
    return like;
}

/* ---- families ---- */

static fault_kind generate_y(const ih_spec *s, problem_arrays *out, fault *f)
{
    const bool    ragged   = s->ragged != IH_RAGGED_none;
    const int64_t edges[2] = { s->rows + 1, 1 };
    const int     rank     = ragged || s->rows == 1 ? 1 : 2;
    int64_t       shape[2] = { s->rows, s->n };
    fault_kind    kind     = ragged ? array_alloc(&out->offsets, ARRAY_I64, 1, edges, f) : FAULT_NONE;
    if (kind) return kind;
    if (rank == 1) {
        shape[0] = ih_spec_elements(s, out->offsets.data);
        shape[1] = 1;
    }
    kind = array_alloc(&out->y, type_of(s->dtype), rank, shape, f);
    if (!kind) ih_generate(s, out->offsets.data, 0, out->y.elements, out->y.data, NULL, 0);
    return kind;
}

fault_kind problem_load(const ih_spec *s, bool ones, problem_arrays *out, fault *f)
{
    const bool file = s->family == IH_FAMILY_file;
    fault_kind kind;

    array_init(&out->y);
    array_init(&out->w);
    array_init(&out->offsets);
    kind = file ? read_files(s, out, f) : generate_y(s, out, f);
    if (!kind && !out->w.data && (ones || s->weighting != IH_WEIGHTING_unit)) {
        const ih_spec like = file ? shape_of_file(s, out) : *s;
        kind = array_alloc(&out->w, out->y.type, out->y.dimensions, out->y.shape, f);
        if (!kind) ih_generate(&like, out->offsets.data, 0, out->y.elements, NULL, out->w.data, 0);
    }
    return kind;
}

void problem_arrays_free(problem_arrays *a)
{
    array_free(&a->y);
    array_free(&a->w);
    array_free(&a->offsets);
}

void problem_describe(ih_problem *p, const ih_spec *s, const problem_arrays *a)
{
    ih_problem_init(p);
    p->dtype     = a->y.type == ARRAY_F32 ? IH_F32 : IH_F64;
    p->direction = s->decreasing ? IH_DECREASING : IH_INCREASING;
    p->rows      = a->offsets.data ? a->offsets.elements - 1 : array_rows(&a->y);
    p->n         = a->offsets.data ? a->y.elements : array_row_length(&a->y);
    p->offsets   = a->offsets.data;
    p->y         = a->y.data;
    p->w         = a->w.data;
    p->y_min     = s->min;
    p->y_max     = s->max;
}
