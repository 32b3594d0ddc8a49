/* SPDX-License-Identifier: Apache-2.0
 * fit_run.c: allocates for a fit, calls the solver, times it if asked, and reports.
 *
 * The arrays come from mmap: their pages take memory only once they are written, so block starts, which need room for as
 * many entries as there are elements, cost no more than the blocks that there are. */
#include "fit.h"
#include "device.h"
#include "json.h"
#include "machine.h"
#include "say.h"

#include "io/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

void fit_run_set(fit_run *run, const fit_request *request)
{
    ih_problem *p = &run->problem;

    p->direction = request->decreasing ? IH_DECREASING : IH_INCREASING;
    /* from the text straight to the dtype: rounded once */
    if (request->min) p->y_min = p->dtype == IH_F32 ? (double)strtof(request->min, NULL) : strtod(request->min, NULL);
    if (request->max) p->y_max = p->dtype == IH_F32 ? (double)strtof(request->max, NULL) : strtod(request->max, NULL);
    run->elements = p->offsets ? p->n : p->rows * p->n;
    run->rows     = p->rows;
    if (run->elements == 0 && !p->offsets) p->rows = 0; /* a header alone may say 1e18 rows of no elements */
    run->blocks   = -1;
    run->threads  = 1;
#if defined(_OPENMP)
    if (request->solver->features & IH_HAS_THREADS) run->threads = request->options.threads ? request->options.threads : machine_cpus();
#endif
}

static fault_kind map_memory(size_t bytes, void **at, size_t *mapped, fault *f)
{
    *mapped = bytes ? bytes : 1;
    *at     = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (*at != MAP_FAILED) return FAULT_NONE;
    *at = NULL;
    return fault_set(f, FAULT_MEMORY, "no memory for %zu bytes", bytes);
}

fault_kind fit_library_fault(const fit_request *request, ih_status status, fault *f)
{
    const struct { const char *argument, *file; } files[] = {
        { "y", request->input }, { "w", request->weights }, { "offsets", request->offsets }, { "g", request->grad },
    };
    ih_error         error = { .size = sizeof error };
    const fault_kind kind  = fault_from_library(f, status, NULL);

    ih_last_error(&error);
    for (size_t k = 0; k < sizeof files / sizeof files[0]; ++k) {
        const size_t length = strlen(f->message);
        if (strcmp(error.argument, files[k].argument) == 0 && files[k].file)
            snprintf(f->message + length, sizeof f->message - length, " (%s)", files[k].file);
    }
    return kind;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static ih_status time_calls(fit_run *run, const fit_request *request, const ih_outputs *out)
{
    double    ms[FIT_CALLS_MOST], all = 0;
    ih_status st = IH_OK;

    for (run->calls = 0; run->calls < FIT_CALLS_LEAST || (run->calls < FIT_CALLS_MOST && all < FIT_TIMED_LEAST_MS); ++run->calls) {
        const double begin = now_ms();
        st = ih_fit(request->solver, &run->problem, &request->options, out, run->workspace, run->workspace_mapped, NULL);
        if (st != IH_OK) return st;
        ms[run->calls] = now_ms() - begin;
        all += ms[run->calls];
    }
    qsort(ms, (size_t)run->calls, sizeof ms[0], compare_doubles);
    run->ms = (ms[(run->calls - 1) / 2] + ms[run->calls / 2]) / 2;
    return st;
}

fault_kind fit_run_call(fit_run *run, const fit_request *request, int want_blocks, fault *f)
{
    const ih_problem *p    = &run->problem;
    const size_t      item = p->dtype == IH_F32 ? 4 : 8;
    ih_outputs        all, asked;
    size_t            all_bytes, asked_bytes;
    fault_kind        kind;
    ih_status         st;

    ih_outputs_init(&run->outputs);
    kind = map_memory((size_t)run->elements * item, &run->outputs.z, &run->z_mapped, f);
    if (!kind && (want_blocks || request->json)) {
        kind = map_memory((size_t)run->elements * 8, (void **)&run->outputs.block_starts, &run->starts_mapped, f);
        if (!kind) kind = map_memory(((size_t)p->rows + 1) * 8, (void **)&run->outputs.block_offsets, &run->offsets_mapped, f);
    }
    if (kind) return kind;

    if (request->ordinal >= 0) return fit_device_call(run, request, want_blocks, f);
    asked = all = run->outputs;
    if (!want_blocks) asked.block_starts = asked.block_offsets = NULL;
    st = ih_impl_available(request->solver);
    if (st == IH_OK) st = ih_workspace_bytes(request->solver, p, &request->options, &all, &all_bytes);
    if (st == IH_OK) st = ih_workspace_bytes(request->solver, p, &request->options, &asked, &asked_bytes);
    if (st != IH_OK) return fit_library_fault(request, st, f);
    run->workspace_bytes = asked_bytes;
    kind = map_memory(all_bytes > asked_bytes ? all_bytes : asked_bytes, &run->workspace, &run->workspace_mapped, f);
    if (kind) return kind;

    st = ih_fit(request->solver, p, &request->options, &all, run->workspace, run->workspace_mapped, NULL);
    if (st == IH_OK && run->outputs.block_offsets) run->blocks = run->outputs.block_offsets[p->rows];
    if (st == IH_OK && request->json) st = time_calls(run, request, &asked);
    return st == IH_OK ? FAULT_NONE : fit_library_fault(request, st, f);
}

fault_kind fit_run_backward(const fit_run *run, const fit_request *request, ih_gradient *gradient, fault *f)
{
    ih_status st;

    if (request->ordinal >= 0) return fit_device_backward(run, request, gradient, f);
    gradient->block_offsets = run->outputs.block_offsets;
    gradient->block_starts  = run->outputs.block_starts;
    st = ih_backward(request->solver, &run->problem, &request->options, gradient, NULL, 0, NULL);
    return st == IH_OK ? FAULT_NONE : fit_library_fault(request, st, f);
}

static void unmap(void *at, size_t mapped)
{
    if (at) munmap(at, mapped);
}

void fit_run_free(fit_run *run)
{
    fit_device_free(run->device);
    unmap(run->outputs.z, run->z_mapped);
    unmap(run->outputs.block_starts, run->starts_mapped);
    unmap(run->outputs.block_offsets, run->offsets_mapped);
    unmap(run->workspace, run->workspace_mapped);
}

int fit_run_print(const fit_run *run, const fit_request *request, const fit_extra *extra)
{
    const ih_problem *p = &run->problem;
    char              digest[DIGEST_TEXT_BYTES], cpu[256], place[32];
    json_t           *object;

    digest_format(digest_fit(p->dtype, run->outputs.z, run->elements, run->outputs.block_starts, run->blocks), digest);
    machine_cpu_name(cpu, sizeof cpu);
    device_label(request->ordinal, place);
    object = json_pack("{ss ss si ss sI sI sI ss sf sI si sb ss ss}", "impl", request->solver_text, "device",
                       place, "threads", (int)run->threads, "dtype",
                       p->dtype == IH_F32 ? "float32" : "float64", "rows", (json_int_t)run->rows, "n", (json_int_t)run->elements, "blocks",
                       (json_int_t)run->blocks, "digest", digest, "ms", run->ms, "workspace_bytes", (json_int_t)run->workspace_bytes,
                       "calls", (int)run->calls, "weights", p->w != NULL, "cpu", cpu, "version", ih_version());
    if (object && run->gpu) json_object_set_new(object, "gpu", json_string(run->gpu));
    for (; object && extra && extra->name; ++extra) json_object_set_new(object, extra->name, json_integer((json_int_t)extra->value));
    return json_print(object);
}
