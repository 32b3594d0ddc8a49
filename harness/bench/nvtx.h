/* SPDX-License-Identifier: Apache-2.0
 * nvtx.h: NVTX ranges around the cases of a benchmark and around the stages of a fit, for Nsight and other tools.
 *
 * Two domains: "isohull" holds a range for each case (its name is "IMPL PROBLEM", its payload the number of elements);
 * "isohull.stages" one for each stage ("chunk", "scan", "merge", "reconstruct", which are its categories too; the payload
 * is the tree level), so that tools that group by name add up a stage over all cases. Without a tool a range costs
 * half a nanosecond; in a build without NVTX the functions do nothing. Ranges bracket host time: a device
 * implementation only enqueues between them. */
#ifndef IH_BENCH_NVTX_H
#define IH_BENCH_NVTX_H

#include <stdint.h>

int nvtx_built(void); /* was this build made with NVTX? */

/* Is a tool attached by an injection library (NVTX_INJECTION64_PATH or CUDA_INJECTION64_PATH)? Its cost is in all times, so
 * that they are kept apart from others: `profiled` in the manifest of the run. Answers without NVTX too. */
int nvtx_profiled(void);

/* Create the domains and register the names of stages. The first call of NVTX looks for tools, which takes microseconds:
 * call this at start-up, not in a timed region. Later calls do nothing. */
void nvtx_start(void);

/* Around everything that is done for one case; cases do not nest. Not for several threads at once. */
void nvtx_case_begin(const char *impl, const char *problem, int64_t elements);
void nvtx_case_end(void);

/* An ih_stage_hook: set as ih_options.hook. user: NULL, or an nvtx_chain whose own hook is called inside the range, so that
 * what NVTX costs is not in what that hook times. */
typedef struct nvtx_chain {
    void (*hook)(void *user, const char *stage, int32_t level, int32_t begin, void *stream);
    void  *user;
} nvtx_chain;

void nvtx_stage_hook(void *user, const char *stage, int32_t level, int32_t begin, void *stream);

#endif
