/* SPDX-License-Identifier: Apache-2.0
 * target.h: where samples come from: this CPU, later a GPU, or a recorded trace (replay). The scheduler, statistics,
 * tables and exit codes above it are the same for all. */
#ifndef IH_BENCH_TARGET_H
#define IH_BENCH_TARGET_H

#include "record.h"
#include "datasets/problem.h"

typedef struct target target;

/* What one opened problem can be asked for. A target is used by one process, a problem at a time. */
struct target {
    const char *device; /* "cpu", "replay" */
    void       *state;
    /* Generate or load the problem, fit it by the referee (digest_want), poison nothing yet. */
    fault_kind (*open)(target *t, const ih_spec *problem, char digest_want[17], int64_t *blocks, fault *f);
    /* Get an implementation ready: workspace allocated. FAULT_LIBRARY with status unsupported: c->status says so. */
    fault_kind (*prepare)(target *t, cell_record *c, fault *f);
    /* One sample: outputs poisoned, caches flushed if c->protocol.cold, then the call alone is timed. */
    fault_kind (*sample)(target *t, cell_record *c, double *ms, fault *f);
    /* One call with block outputs, untimed: the digest of what it wrote. */
    fault_kind (*digest)(target *t, cell_record *c, char digest[17], fault *f);
    /* One call with the stage hook: c->stage; and one with counters: c->counters. Untimed as a whole. */
    fault_kind (*stages)(target *t, cell_record *c, fault *f);
    /* Ceilings under the same protocol: y copied to z (and w read), y and w read, a call without elements. */
    fault_kind (*copy)(target *t, const protocol *p, double *ms, fault *f);
    fault_kind (*read)(target *t, const protocol *p, double *ms, fault *f);
    fault_kind (*empty)(target *t, cell_record *c, double *ms, fault *f);
    void (*close)(target *t); /* the problem */
    void (*free)(target *t);
};

target *target_cpu(void);
target *target_replay(const char *trace_path, fault *f); /* NULL on a fault */

#endif
