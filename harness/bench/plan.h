/* SPDX-License-Identifier: Apache-2.0
 * plan.h: the cells that `bench` was asked for, problem by problem, with protocol and identity. */
#ifndef IH_BENCH_PLAN_H
#define IH_BENCH_PLAN_H

#include "record.h"
#include "datasets/problem.h"

/* The options as typed; NULL where not given. */
typedef struct plan_request {
    const char *const *impls, *const *problems; /* end with NULL (select.h) */
    const char *const *peers;                   /* names, possibly several separated by commas; ends with NULL; or NULL */
    const char        *preset, *threads, *time, *seed, *protocol, *device, *call, *work, *digests;
} plan_request;

enum { PLAN_PEERS = 16 };

typedef struct plan {
    char         device[64]; /* as in records: "cpu", "cuda:0", "replay"                 */
    int          ordinal;    /* of a CUDA device; -1: none                               */
    const char  *trace;      /* replay: path of the trace                                */
    const char  *digests;    /* CUDA device: file of digests by cpu_exact, or NULL       */
    ih_spec     *problems;   /* [problem_count]                                          */
    int32_t      problem_count, impl_count; /* peers are counted as implementations, the last of each problem; with both kinds of
                                               call each is counted twice, first all by direct calls, then all by graphs */
    int32_t      calls;      /* kinds of call: 1 or 2                                    */
    char         peers[PLAN_PEERS][64];
    char         peer_hashes[PLAN_PEERS][32];
    int32_t      peer_count;
    json_t      *peer_versions;             /* of each peer, or why it cannot run, for the run's record; NULL without peers */
    cell_record *cells;      /* [problem_count * impl_count]; those of a problem together; identity filled */
    double       time_ms;    /* of the whole command                                     */
    uint64_t     seed;
} plan;

/* code_hash, gpu_code_hash: of this build, for cells of the CPU and of a CUDA device. On a fault there is nothing to free. */
fault_kind plan_make(plan *out, const plan_request *request, const char *code_hash, const char *gpu_code_hash, fault *f);
void       plan_free(plan *p);

/* "90", "90s", "1.5m", "2h", "500ms": milliseconds. 0 if it is no time. */
int plan_parse_time(const char *text, double *ms);

#endif
