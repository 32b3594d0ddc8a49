/* SPDX-License-Identifier: Apache-2.0
 * generate.c: fills arrays from the element formulas, in parallel and in any slice. */
#include "datasets/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fenv.h"
#include "cpu/team.h"

#if defined(_OPENMP)
#  include <omp.h>
#endif

/* ------------------------------------------------------------------ row lengths ---- */

static int64_t ragged_length(const ih_spec *s, int64_t row)
{
    const ih_key   key  = ih_make_key((uint64_t)s->seed, (uint64_t)row, IH_STREAM_LENGTH);
    const uint64_t bits = ih_draw(key, 0);
    const uint64_t n    = (uint64_t)s->n;
    switch (s->ragged) {
    case IH_RAGGED_uniform: return (int64_t)ih_below(bits, 2 * n + 1);
    case IH_RAGGED_geometric: { /* P(k) = p (1 - p)^k, 1 - p = n / (n + 1), by inversion */
        const double t = 1.0 / (2.0 * (double)n + 1.0);
        /* -ln(1 - p) = 2 atanh t; from n = 2^9 on the first three terms of its series are exact to rounding */
        const double rate = n < 512 ? -ih_ln((double)n / ((double)n + 1.0)) : 2.0 * t * (1.0 + t * t * (1.0 / 3.0 + t * t * 0.2));
        return n ? (int64_t)(-ih_ln(ih_uniform(bits)) / rate) : 0;
    }
    case IH_RAGGED_empty: return ih_draw(key, 1) & 1 ? 0 : (int64_t)ih_below(bits, 4 * n + 1);
    case IH_RAGGED_scales: {
        uint64_t octaves = 1, octave, length; /* 2^octaves - 1 is the first such number not below 2n */
        while ((UINT64_C(1) << octaves) - 1 < 2 * n) octaves += 1;
        octave = UINT64_C(1) << ih_below(ih_draw(key, 1), octaves);
        length = octave - 1 + ih_below(bits, octave);
        return (int64_t)(length < 2 * n ? length : 2 * n);
    }
    case IH_RAGGED_long: {
        const ih_key whole = ih_make_key((uint64_t)s->seed, UINT64_MAX, IH_STREAM_LENGTH);
        const int64_t half = s->n / 2;
        return (int64_t)ih_below(ih_draw(whole, 0), (uint64_t)s->rows) == row ? s->rows * s->n - (s->rows - 1) * half : half;
    }
    default: return s->n;
    }
}

int64_t ih_spec_row_length(const ih_spec *s, int64_t row)
{
    int64_t length;
    ih_fenv env;
    if (s->ragged == IH_RAGGED_none) return s->n;
    env    = ih_fenv_enter();
    length = ragged_length(s, row);
    ih_fenv_leave(env);
    return length;
}

int64_t ih_spec_elements(const ih_spec *s, int64_t *offsets)
{
    int64_t       total = 0;
    const ih_fenv env   = ih_fenv_enter();
    if (s->ragged == IH_RAGGED_none && !offsets) total = s->rows * s->n;
    else {
        if (offsets) offsets[0] = 0;
        for (int64_t r = 0; r < s->rows; r++) { /* at most 38 (n + 1) a row and 2^53 elements nominally: below 2^60 */
            total += ragged_length(s, r);
            if (offsets) offsets[r + 1] = total;
        }
    }
    ih_fenv_leave(env);
    return total;
}

/* ------------------------------------------------------------------ elements ---- */

static ih_row_law row_law(const ih_spec *s, int64_t row, int64_t n)
{
    ih_row_law l;
    l.key_y     = ih_make_key((uint64_t)s->seed, (uint64_t)row, IH_STREAM_Y);
    l.key_w     = ih_make_key((uint64_t)s->seed, (uint64_t)row, IH_STREAM_W);
    l.n         = n;
    l.family    = s->family;
    l.weighting = s->weighting;
    l.dtype     = s->dtype;
    memcpy(l.p, s->parameter, sizeof l.p);
    return l;
}

static void put_y(const ih_row_law *l, void *y, int64_t at, double x)
{
    if (l->dtype == IH_F32) ((float *)y)[at] = ih_to_f32(x);
    else ((double *)y)[at] = ih_to_f64(x);
}

static void fill_walk(const ih_row_law *l, int64_t begin, int64_t end, void *y)
{
    ih_walk_cursor walk;
    ih_walk_begin(&walk, l->key_y, l->n, begin + 1);
    for (int64_t i = begin; i < end; i++) put_y(l, y, i - begin, element_random_walk_from(l, i, ih_walk_next(&walk)));
}

static void fill_y(const ih_row_law *l, int64_t begin, int64_t end, void *y)
{
    for (int64_t i = begin; i < end; i++) put_y(l, y, i - begin, ih_element_y(l, i));
}

static void fill_w(const ih_row_law *l, int64_t begin, int64_t end, void *w)
{
    for (int64_t i = begin; i < end; i++) {
        const double x = ih_element_w(l, i);
        if (l->dtype == IH_F32) ((float *)w)[i - begin] = ih_to_f32(x);
        else ((double *)w)[i - begin] = x;
    }
}

void ih_generate_row(const ih_spec *s, int64_t row, int64_t row_length, int64_t begin, int64_t end, void *y, void *w)
{
    const ih_fenv env = ih_fenv_enter();
    if (begin < end) {
        const ih_row_law l = row_law(s, row, row_length);
        if (y && l.family == IH_FAMILY_random_walk) fill_walk(&l, begin, end, y);
        else if (y) fill_y(&l, begin, end, y);
        if (w) fill_w(&l, begin, end, w);
    }
    ih_fenv_leave(env);
}

/* The last row that begins at or before element `at`; rows that are empty there come before it. */
static int64_t row_of(const ih_spec *s, const int64_t *offsets, int64_t at)
{
    int64_t low = 0, high = s->rows; /* begin of low <= at < begin of high */
    if (s->ragged == IH_RAGGED_none) return at / s->n;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (offsets[middle] <= at) low = middle;
        else high = middle;
    }
    return low;
}

static void generate_span(const ih_spec *s, const int64_t *offsets, int64_t begin, int64_t end, char *y, char *w)
{
    const size_t item = s->dtype == IH_F32 ? 4 : 8;
    int64_t      at   = begin;
    for (int64_t r = row_of(s, offsets, begin); at < end; r++) {
        const int64_t first = s->ragged == IH_RAGGED_none ? r * s->n : offsets[r];
        const int64_t last  = s->ragged == IH_RAGGED_none ? first + s->n : offsets[r + 1];
        const int64_t stop  = last < end ? last : end;
        const size_t  skip  = (size_t)(at - begin) * item;
        ih_generate_row(s, r, last - first, at - first, stop - first, y ? y + skip : NULL, w ? w + skip : NULL);
        at = stop;
    }
}

void ih_generate(const ih_spec *s, const int64_t *offsets, int64_t begin, int64_t end, void *y, void *w, int32_t threads)
{
    const int64_t span  = 1 << 15; /* long enough to make starting a walk and finding the row cheap */
    const int64_t spans = (end - begin + span - 1) / span;
    const size_t  item  = s->dtype == IH_F32 ? 4 : 8;
#if defined(_OPENMP)
    const int     most  = threads > 0 ? threads : omp_get_max_threads();
    const int     team  = spans > 1 ? ih_team_size(most < spans ? most : (int32_t)spans) : 1;
#  pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
#else
    (void)threads;
#endif
    for (int64_t k = 0; k < spans; k++) {
        const int64_t from = begin + k * span;
        const int64_t to   = end - from < span ? end : from + span;
        const size_t  skip = (size_t)(k * span) * item;
        generate_span(s, offsets, from, to, y ? (char *)y + skip : NULL, w ? (char *)w + skip : NULL);
    }
}

/* ------------------------------------------------------------------ whole problems ---- */

int ih_data_generate(ih_data *out, const ih_spec *s, int32_t threads, char *message, size_t message_bytes)
{
    const size_t item = s->dtype == IH_F32 ? 4 : 8;
    int64_t      elements;

    memset(out, 0, sizeof *out);
    ih_problem_init(&out->problem);
    if (s->family == IH_FAMILY_file) {
        snprintf(message, message_bytes, "a file problem is read, not generated");
        return 1;
    }
    if (s->ragged != IH_RAGGED_none) out->offsets = malloc(((size_t)s->rows + 1) * sizeof *out->offsets);
    if (s->ragged != IH_RAGGED_none && !out->offsets) goto out_of_memory;
    elements = ih_spec_elements(s, out->offsets);
    /* one element more, so that an empty problem has pointers too */
    out->y = malloc(((size_t)elements + 1) * item);
    if (!out->y) goto out_of_memory;
    if (s->weighting != IH_WEIGHTING_unit && !(out->w = malloc(((size_t)elements + 1) * item))) goto out_of_memory;
    ih_generate(s, out->offsets, 0, elements, out->y, out->w, threads);

    out->problem.dtype     = s->dtype;
    out->problem.direction = s->decreasing ? IH_DECREASING : IH_INCREASING;
    out->problem.rows      = s->rows;
    out->problem.n         = out->offsets ? elements : s->n;
    out->problem.offsets   = out->offsets;
    out->problem.y         = out->y;
    out->problem.w         = out->w;
    out->problem.y_min     = s->min;
    out->problem.y_max     = s->max;
    return 0;
out_of_memory:
    snprintf(message, message_bytes, "memory ran out");
    return 1;
}

void ih_data_free(ih_data *d)
{
    free(d->y);
    free(d->w);
    free(d->offsets);
    memset(d, 0, sizeof *d);
}
