/* SPDX-License-Identifier: Apache-2.0
 * record.h: what the harness writes down: a run (where and how it was measured) and a cell (one implementation on one
 * problem), as structs and as one line of JSON each. The format is docs/journal.md and journal.schema.json.
 *
 * Times are milliseconds, sizes bytes; units stand in the names. A number that was not measured is absent (NULL, a count
 * of 0, or -1 as said), never 0 and never NaN. */
#ifndef IH_BENCH_RECORD_H
#define IH_BENCH_RECORD_H

#include <isohull.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "io/fault.h"

/* How lines are written: times are whole nanoseconds and come back as they were from 15 digits. */
#define RECORD_DUMP (JSON_COMPACT | JSON_REAL_PRECISION(15))

enum { RECORD_SCHEMA = 1, RECORD_STAGES = 16, RECORD_TEXT = 512 };

typedef enum cell_status {
    CELL_OK,          /* digest right, times count                                              */
    CELL_WRONG,       /* digest differs from the canonical one: exit code 5, in no table        */
    CELL_UNSUPPORTED, /* the implementation cannot do this: an answer, not a fault              */
    CELL_ERROR,       /* it failed or its process died                                          */
    CELL_TIMEOUT
} cell_status;

const char *cell_status_name(cell_status status); /* "ok", "wrong", "unsupported", "error", "timeout" */
int         cell_status_parse(const char *text, cell_status *status);

/* What one call is. On a device: enqueued by the host each time, or a captured graph that is launched. */
typedef enum call_kind { CALL_HOST, CALL_DIRECT, CALL_GRAPH } call_kind; /* CALL_HOST: not on a device, not recorded */
typedef enum work_kind { WORK_FIT, WORK_BACKWARD, WORK_BOTH } work_kind; /* the gradient in y of a fit; WORK_BOTH: fit with blocks, then gradient */

const char *call_kind_name(call_kind call); /* "direct", "graph" */
const char *work_kind_name(work_kind work); /* "fit", "backward", "fit+backward" */
int         call_kind_parse(const char *text, call_kind *call);
int         work_kind_parse(const char *text, work_kind *work);

/* How a cell is measured. Part of its identity. */
typedef struct protocol {
    int     cold;         /* 1: caches flushed (a buffer larger than the last level is written) before each sample; 0: hot */
    double  settle;       /* warm-up until the last three times agree within this fraction, at most settle_max calls        */
    int32_t settle_max;
    int32_t samples_min;  /* at least so many samples ...                                                                   */
    double  cell_ms;      /* ... and then until this much time has been spent on the cell                                   */
    call_kind call;
    work_kind work;
} protocol;

/* One implementation on one problem, measured (bench) or compared (accuracy: no samples). */
typedef struct cell_record {
    char        run[64];                /* id of the run record it belongs to                                    */
    char        impl[256];              /* canonical text of --impl, or the name of a peer ("scipy")              */
    char        problem[RECORD_TEXT];   /* canonical problem string                                              */
    char        device[64];             /* "cpu", "cuda:0", "emulated:0", "replay"                               */
    char        code_hash[32];          /* hash of the machine code measured (peers: name and version)           */
    cell_status status;
    char        why[RECORD_TEXT];       /* for anything but ok                                                   */
    int64_t     rows, n;                /* n: elements in all                                                    */
    char        digest[17], digest_want[17]; /* "" if there is none (a peer that has no blocks)                  */
    char        referee[64];            /* what computed digest_want, where that is not cpu_exact; "" otherwise   */
    int64_t     blocks;                 /* -1 if not known                                                       */
    double      max_deviation;          /* of a peer: largest |z - canonical z| over the largest |y|; -1: not known */
    protocol    protocol;
    int32_t     threads;
    uint64_t    order_seed;             /* of the interleaved order of samples                                   */
    int32_t     warmup_calls;
    int64_t     samples;                /* length of samples_ms                                                  */
    double     *samples_ms;             /* in the order they were taken; owned                                   */
    int64_t     throttled_count;
    int64_t    *throttled;              /* rising indices of samples taken under lowered clocks: they do not count; owned */
    double      median_ms, ci_low_ms, ci_high_ms; /* of the samples that count: median, exact 95 % interval; -1: too few  */
    int64_t     copy_samples;           /* copy of y to z (and read of w), interleaved with the samples           */
    double     *copy_samples_ms;        /* owned                                                                 */
    double      read_ms, empty_call_ms; /* medians: y and w read once; a fit of no elements. -1: not measured      */
    int32_t     stages;
    struct { char name[32]; double ms; } stage[RECORD_STAGES]; /* from the stage hook, in a call of its own        */
    double      closure;                /* sum of the stages over the time of the call they are from; -1: not known */
    int64_t     workspace_bytes;        /* -1 if not known                                                       */
    int64_t     peak_bytes;             /* memory of the device that holds inputs, outputs and workspace; -1: not known */
    json_t     *gpu_before, *gpu_after; /* objects of numbers: clocks, power, temperature, throttle reasons around the samples; NULL: not known; owned */
    json_t     *counters;               /* object of integers, or NULL; owned                                    */
    json_t     *accuracy;               /* object of numbers (accuracy cells), or NULL; owned                    */
} cell_record;

void cell_init(cell_record *c);  /* nothing known; defaults of the protocol */
void cell_free(cell_record *c);

void cell_move(cell_record *to, cell_record *from); /* *to takes over everything, *from is empty after it */

/* The samples that count, copied to `to` [samples]; returns how many. */
int64_t cell_counting(const cell_record *c, double *to);

/* Fill median_ms, ci_low_ms and ci_high_ms from the samples (stats.h). */
fault_kind cell_derive(cell_record *c, fault *f);

/* The identity by which a cell counts as done: impl, problem, device, protocol but for cell_ms, code_hash; whether it is
 * accuracy. */
int cell_same(const cell_record *a, const cell_record *b);

json_t    *cell_to_json(const cell_record *c);                              /* NULL: no memory            */
fault_kind cell_from_json(const json_t *line, cell_record *c, fault *f);    /* checks every field         */

/* ---- runs ---- */

/* The manifest as a JSON object; built by env.h, kept as JSON because readers only look fields up. Required fields:
 * schema, kind "run", run (id), version, commit, dirty, argv, seed, time (UTC, ISO 8601), cpu, cpus, isa, memory_bytes,
 * os, compiler, flags, buildtype, gsl, code_hash; gpu objects where there are any. */
fault_kind run_check(const json_t *line, fault *f);

#endif
