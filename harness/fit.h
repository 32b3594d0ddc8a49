/* SPDX-License-Identifier: Apache-2.0
 * fit.h: the parts of `isohull fit`: what was asked for, the call of the solver, and its report. */
#ifndef IH_HARNESS_FIT_H
#define IH_HARNESS_FIT_H

#include "io/array.h"
#include "io/fault.h"

#include <isohull.h>

#include <stddef.h>
#include <stdint.h>

/* The command line: texts as typed, NULL where not given; and what has been read from them already. */
typedef struct fit_request {
    const char *input;
    const char *out, *json, *decreasing, *min, *max, *impl, *device, *threads;      /* for both kinds of input */
    const char *weights, *offsets, *blocks, *grad, *grad_y, *grad_w;                /* arrays                  */
    const char *x, *y, *w, *by, *skip_missing;                                      /* tables                  */

    const ih_impl *solver;
    ih_options     options;
    int            ordinal;          /* of the device; -1: the CPU */
    char           solver_text[256]; /* canonical text of --impl */
} fit_request;

/* The two kinds of input. Return the exit code; messages have been said. */
int fit_arrays(const fit_request *request);
int fit_table(const fit_request *request);

/* ---- the call of the solver (fit_run.c) ---- */

enum { FIT_CALLS_LEAST = 3, FIT_CALLS_MOST = 101 };
#define FIT_TIMED_LEAST_MS 200.0 /* more calls than three for short fits, whose times scatter */

typedef struct fit_run {
    ih_problem problem;
    ih_outputs outputs;      /* z, and blocks where needed; owned (see fit_run_free)              */
    int64_t    rows;         /* of the input: problem.rows is 0 if its equal rows have no elements */
    int64_t    elements;
    int64_t    blocks;       /* in all; -1 if they were not computed                              */
    int32_t    threads;      /* at most so many were used                                         */
    int32_t    calls;        /* timed calls                                                       */
    double     ms;           /* their median; with --json only                                    */
    size_t     workspace_bytes;
    void      *workspace;
    const char *gpu;         /* name of the device; NULL: the CPU                                 */
    struct fit_device *device; /* what lies on it                                                 */
    size_t     workspace_mapped, z_mapped, starts_mapped, offsets_mapped; /* bytes to unmap */
} fit_run;

/* Set direction and bounds of run->problem, whose shape, dtype and data have been set, from the request. */
void fit_run_set(fit_run *run, const fit_request *request);

/* Allocate and fit once; with --json, again at least three times, timed. want_blocks: the caller needs the blocks (the digest
 * of --json takes them from the first call, so that the timed calls do only what the user asked for). */
fault_kind fit_run_call(fit_run *run, const fit_request *request, int want_blocks, fault *f);
void       fit_run_free(fit_run *run);

/* The gradient of the fit that fit_run_call made: gradient has g and where grad_y and grad_w go, in host memory. */
fault_kind fit_run_backward(const fit_run *run, const fit_request *request, ih_gradient *gradient, fault *f);

/* The same on a device (fit_device.c). run->outputs has been allocated. */
fault_kind fit_device_call(fit_run *run, const fit_request *request, int want_blocks, fault *f);
fault_kind fit_device_backward(const fit_run *run, const fit_request *request, const ih_gradient *gradient, fault *f);
void       fit_device_free(struct fit_device *device); /* takes NULL */

/* The error of the library after a call that returned status, with the file that its argument came from. */
fault_kind fit_library_fault(const fit_request *request, ih_status status, fault *f);

/* Print the JSON object, at its end the integers in `extra`, which ends with a NULL name; or NULL. Needs the blocks. */
typedef struct fit_extra { const char *name; int64_t value; } fit_extra;
int fit_run_print(const fit_run *run, const fit_request *request, const fit_extra *extra);

#endif
