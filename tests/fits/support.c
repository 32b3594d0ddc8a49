/* SPDX-License-Identifier: Apache-2.0
 * support.c: watched fits and their comparison. */
#include "support.h"

#include "call.h"
#include "faulty.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- problems ---- */

int64_t problem_elements(const ih_problem *p) { return p->offsets ? p->n : p->rows * p->n; }

int64_t problem_row_begin(const ih_problem *p, int64_t row) { return p->offsets ? p->offsets[row] : row * p->n; }

int64_t problem_row_length(const ih_problem *p, int64_t row)
{
    return p->offsets ? p->offsets[row + 1] - p->offsets[row] : p->n;
}

size_t problem_item(const ih_problem *p) { return p->dtype == IH_F32 ? 4 : 8; }

double problem_value(const ih_problem *p, const void *array, int64_t i)
{
    return p->dtype == IH_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

uint64_t hash_bytes(const void *at, size_t bytes)
{
    const unsigned char *b = at;
    uint64_t             h = 0xcbf29ce484222325u ^ bytes;

    for (; bytes >= 8; bytes -= 8, b += 8) {
        uint64_t word;
        memcpy(&word, b, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    while (bytes--) h = (h ^ *b++) * 0x100000001b3u;
    return h;
}

static uint64_t hash_inputs(const ih_problem *p)
{
    const size_t bytes = (size_t)problem_elements(p) * problem_item(p);
    uint64_t     h     = hash_bytes(p, p->size);

    if (p->y) h ^= hash_bytes(p->y, bytes);
    if (p->w) h ^= hash_bytes(p->w, bytes) * 3;
    if (p->offsets) h ^= hash_bytes(p->offsets, ((size_t)p->rows + 1) * 8) * 5;
    return h;
}

/* ---- results ---- */

enum { POISON = 0xa7 };

void fit_result_open(fit_result *r, const ih_problem *p)
{
    const size_t total = (size_t)problem_elements(p);

    memset(r, 0, sizeof *r);
    guarded_open(&r->z, total * problem_item(p), POISON);
    guarded_open(&r->block_offsets, ((size_t)p->rows + 1) * 8, POISON);
    guarded_open(&r->block_starts, total * 8, POISON);
    guarded_open(&r->block_weights, total * 8, POISON);
    guarded_open(&r->block_means, total * 8, POISON);
    ih_outputs_init(&r->out);
    r->out.z             = r->z.at;
    r->out.block_offsets = (int64_t *)(void *)r->block_offsets.at;
    r->out.block_starts  = (int64_t *)(void *)r->block_starts.at;
    r->out.block_weights = (double *)(void *)r->block_weights.at;
    r->out.block_means   = (double *)(void *)r->block_means.at;
}

void fit_result_close(fit_result *r)
{
    guarded_close(&r->z);
    guarded_close(&r->block_offsets);
    guarded_close(&r->block_starts);
    guarded_close(&r->block_weights);
    guarded_close(&r->block_means);
}

int fit_result_untouched(const fit_result *r)
{
    return guarded_untouched(&r->z) && guarded_untouched(&r->block_offsets) && guarded_untouched(&r->block_starts) &&
           guarded_untouched(&r->block_weights) && guarded_untouched(&r->block_means);
}

__attribute__((format(printf, 2, 3))) static outcome failed(verdict *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->text, sizeof v->text, format, args);
    va_end(args);
    return FAILED;
}

static void poison_outputs(fit_result *r)
{
    guarded_fill(&r->z, POISON);
    guarded_fill(&r->block_offsets, POISON);
    guarded_fill(&r->block_starts, POISON);
    guarded_fill(&r->block_weights, POISON);
    guarded_fill(&r->block_means, POISON);
}

static const char *overrun(const fit_result *r)
{
    return !guarded_intact(&r->z)               ? "z"
           : !guarded_intact(&r->block_offsets) ? "block_offsets"
           : !guarded_intact(&r->block_starts)  ? "block_starts"
           : !guarded_intact(&r->block_weights) ? "block_weights"
           : !guarded_intact(&r->block_means)   ? "block_means"
                                                : NULL;
}

outcome fit_run(const ih_impl *impl, const ih_problem *p, const ih_options *o, int own_workspace, ih_status expected, fit_result *r, verdict *v)
{
    const uint64_t before = hash_inputs(p);
    guarded        ws     = { 0 };
    size_t         bytes  = 0;
    outcome        result = PASSED;

    poison_outputs(r);
    r->error.size = sizeof r->error;
    if (own_workspace && !on_device(impl)) {
        r->status = ih_workspace_bytes(impl, p, o, &r->out, &bytes);
        guarded_open(&ws, bytes, 0xc9);
    } else {
        r->status = IH_OK;
    }
    /* a device has a workspace of its own in any case, watched by call_fit */
    if (r->status == IH_OK && on_device(impl)) r->status = call_fit(impl, p, o, &r->out, NULL, 0);
    else if (r->status == IH_OK) r->status = ih_fit(impl, p, o, &r->out, own_workspace && bytes ? ws.at : NULL, bytes, NULL);
    if (r->status != IH_OK) ih_last_error(&r->error);

    if (ws.at && !guarded_intact(&ws)) result = failed(v, "wrote outside its workspace of %zu bytes", bytes);
    else if (overrun(r)) result = failed(v, "wrote outside %s", overrun(r));
    else if (hash_inputs(p) != before) result = failed(v, "changed an input");
    else if (r->status == IH_EDATA && expected == IH_EDATA && on_device(impl)) result = faulty_rows_check(p, r, v);
    else if (r->status != IH_OK && !fit_result_untouched(r)) result = failed(v, "failed (%s) but wrote an output", r->error.message);
    else if (r->status != IH_OK && (r->error.status != r->status || !r->error.message[0]))
        result = failed(v, "%s, but the last error is %s: '%s'", ih_status_name(r->status), ih_status_name(r->error.status), r->error.message);
    else if (r->status == IH_EUNSUPPORTED && expected != IH_EUNSUPPORTED) result = SKIPPED;
    else if (r->status != expected)
        result = failed(v, "status %s instead of %s: %s", ih_status_name(r->status), ih_status_name(expected),
                        r->status == IH_OK ? "" : r->error.message);
    guarded_close(&ws);
    return result;
}

/* ---- comparison ---- */

/* The row and index of a flattened index, for messages. */
static void place(const ih_problem *p, int64_t i, int64_t *row, int64_t *index)
{
    int64_t r = 0;
    while (r + 1 < p->rows && problem_row_begin(p, r + 1) <= i) ++r;
    *row   = r;
    *index = i - problem_row_begin(p, r);
}

int fit_equal(const ih_problem *p, const fit_result *expected, const fit_result *got, verdict *v)
{
    const int64_t total  = problem_elements(p);
    const size_t  item   = problem_item(p);
    const int64_t blocks = expected->out.block_offsets[p->rows];

    for (int64_t r = 0; r <= p->rows; ++r)
        if (expected->out.block_offsets[r] != got->out.block_offsets[r]) {
            failed(v, "block_offsets[%" PRId64 "] is %" PRId64 " instead of %" PRId64, r, got->out.block_offsets[r], expected->out.block_offsets[r]);
            return 0;
        }
    if (memcmp(expected->z.at, got->z.at, (size_t)total * item) != 0)
        for (int64_t i = 0; i < total; ++i)
            if (memcmp(expected->z.at + (size_t)i * item, got->z.at + (size_t)i * item, item) != 0) {
                int64_t row, index;
                place(p, i, &row, &index);
                failed(v, "z at row %" PRId64 ", index %" PRId64 " is %a instead of %a", row, index, problem_value(p, got->z.at, i),
                       problem_value(p, expected->z.at, i));
                return 0;
            }
    for (int64_t b = 0; b < blocks; ++b) {
        const int64_t start = expected->out.block_starts[b];
        if (start != got->out.block_starts[b]) {
            failed(v, "block %" PRId64 " starts at %" PRId64 " instead of %" PRId64, b, got->out.block_starts[b], start);
            return 0;
        }
        if (memcmp(expected->out.block_weights + b, got->out.block_weights + b, 8) != 0) {
            failed(v, "weight of block %" PRId64 " (from %" PRId64 ") is %a instead of %a", b, start, got->out.block_weights[b], expected->out.block_weights[b]);
            return 0;
        }
        if (memcmp(expected->out.block_means + b, got->out.block_means + b, 8) != 0) {
            failed(v, "mean of block %" PRId64 " (from %" PRId64 ") is %a instead of %a", b, start, got->out.block_means[b], expected->out.block_means[b]);
            return 0;
        }
    }
    return 1;
}

outcome fit_check(const ih_impl *impl, const ih_problem *p, const ih_options *o, const fit_result *expected, verdict *v)
{
    fit_result got;
    outcome    result;

    fit_result_open(&got, p);
    result = fit_run(impl, p, o, 1, IH_OK, &got, v);
    if (result == PASSED && !fit_equal(p, expected, &got, v)) result = FAILED;
    fit_result_close(&got);
    return result;
}

/* ---- programs ---- */

const ih_impl *referee(void)
{
    const ih_impl *impl = ih_impl_find("cpu_exact");
    if (!impl) {
        fprintf(stderr, "the referee cpu_exact is not in the registry\n");
        exit(1);
    }
    return impl;
}

const ih_options *one_thread(void)
{
    static _Thread_local ih_options o;
    ih_options_init(&o);
    o.threads = 1;
    return &o;
}

enum { EMULATED = 30 }; /* so much less work for a device that is emulated */
static int slow;

/* Of all builds. */
static int in_list_file(const char *name)
{
#undef IH_WITH_CUDA
#define IH_WITH_CUDA 1
#define IH_IMPL(own) #own,
    static const char *const names[] = {
#include "implementations.def"
    };
#undef IH_IMPL
    for (size_t k = 0; name && k < sizeof names / sizeof names[0]; ++k)
        if (strcmp(names[k], name) == 0) return 1;
    return 0;
}

const ih_impl *implementation_of(const char *program, const char *name)
{
    const ih_impl *impl = name ? ih_impl_find(name) : NULL;

    if (!impl && in_list_file(name)) {
        fprintf(stderr, "%s is not in this build\n", name);
        exit(77);
    }
    if (!impl) {
        fprintf(stderr, "%s: name one of the implementations:", program);
        for (int32_t k = 0; k < ih_impl_count(); ++k) fprintf(stderr, " %s", ih_impl_at(k)->name);
        fprintf(stderr, "\n");
        exit(1);
    }
    if (ih_impl_available(impl) != IH_OK) {
        ih_error e = { .size = sizeof e };
        ih_last_error(&e);
        fprintf(stderr, "%s is not available: %s\n", name, e.message);
        exit(77);
    }
    slow = on_device(impl) && emulated();
    return impl;
}

int64_t scaled(int64_t count)
{
    const char  *text   = getenv("IH_TEST_SCALE");
    const double factor = text ? strtod(text, NULL) : 1;
    const double value  = (double)count * (factor > 0 ? factor : 1) / (slow ? EMULATED : 1);
    return value < 1 ? 1 : (int64_t)value;
}

int64_t test_stride(void) { return (1000000 / scaled(1000000)) | 1; }

void print_row(const ih_problem *p, int64_t row, int64_t most)
{
    const int64_t begin = problem_row_begin(p, row), n = problem_row_length(p, row), shown = n < most ? n : most;

    fprintf(stderr, "  row %" PRId64 ": %s, %s, y_min %a, y_max %a, n %" PRId64 "\n", row, p->dtype == IH_F32 ? "float32" : "float64",
            p->direction == IH_DECREASING ? "decreasing" : "increasing", p->y_min, p->y_max, n);
    for (int pass = 0; pass < (p->w ? 2 : 1); ++pass) {
        fprintf(stderr, "  %s = {", pass ? "w" : "y");
        for (int64_t i = 0; i < shown; ++i) fprintf(stderr, "%s%a", i ? ", " : " ", problem_value(p, pass ? p->w : p->y, begin + i));
        fprintf(stderr, "%s }\n", shown < n ? ", ..." : "");
    }
}
