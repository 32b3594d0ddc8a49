/* SPDX-License-Identifier: Apache-2.0
 * target.h: where samples come from: this CPU, later a GPU, or a recorded trace (replay). The scheduler, statistics,
 * tables and exit codes above it are the same for all. */
#ifndef IH_BENCH_TARGET_H
#define IH_BENCH_TARGET_H

#include "record.h"
#include "datasets/problem.h"

#include <stdbool.h>

typedef struct target target;

typedef struct problem_info {
    int64_t rows, n;        /* n: elements in all                        */
    char    digest[17];     /* of the canonical fit, by the referee       */
    char    referee[64];    /* which, if not cpu_exact; else ""           */
    int64_t blocks;
} problem_info;

/* What one opened problem can be asked for. A target is used by one process, a problem at a time. Functions over a cell
 * read its impl, problem and protocol, and find what prepare made by impl. */
struct target {
    const char *device;  /* "cpu", "replay": as it stands in records                                                   */
    bool        virtual_time; /* times do not pass, they are played                                                   */
    int64_t     flush_bytes;  /* what a cold sample writes on a device; 0: the CPU, whose flush.h knows                  */
    void       *state;
    double (*now_ms)(target *t); /* its clock, for budgets                                                             */
    /* Generate or load the problem and fit it by the referee. */
    fault_kind (*open)(target *t, const ih_spec *problem, problem_info *info, fault *f);
    /* Get an implementation ready: workspace allocated, c->workspace_bytes and threads set. Where the implementation
     * cannot do this: FAULT_NONE, c->status CELL_UNSUPPORTED and c->why; otherwise c->status is left alone. */
    fault_kind (*prepare)(target *t, cell_record *c, fault *f);
    /* One sample: output poisoned, caches flushed if c->protocol.cold, then the call alone is timed. */
    fault_kind (*sample)(target *t, cell_record *c, double *ms, bool *throttled, fault *f);
    /* Is what the last sample wrote the z of the referee, value by value? */
    fault_kind (*verify)(target *t, cell_record *c, bool *same, fault *f);
    /* One call with block outputs, untimed: fills c->digest and c->blocks. */
    fault_kind (*digest)(target *t, cell_record *c, fault *f);
    /* One call with the stage hook: c->stage; and one with counters: c->counters. Untimed as a whole. */
    fault_kind (*stages)(target *t, cell_record *c, fault *f);
    /* Ceilings under the same protocol: y copied to z (and w read), y and w read, a call without elements. */
    fault_kind (*copy)(target *t, const protocol *p, double *ms, fault *f);
    fault_kind (*read)(target *t, const protocol *p, double *ms, fault *f);
    fault_kind (*empty)(target *t, cell_record *c, double *ms, fault *f);
    /* The device's clocks and the like, into c->gpu_before or c->gpu_after; NULL: there is nothing to look at. */
    void (*look)(target *t, cell_record *c, int after);
    void (*close)(target *t); /* the problem */
    void (*free)(target *t);
};

target *target_cpu(fault *f);                             /* NULL on a fault */
/* A CUDA device (target_cuda.h). digests: NULL, or a file of digests by cpu_exact, with which those of another referee are compared. */
target *target_cuda(int ordinal, const char *digests, fault *f);
target *target_replay(const char *trace_path, fault *f);

#endif
