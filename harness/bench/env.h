/* SPDX-License-Identifier: Apache-2.0
 * env.h: where and by what is measured: the manifest of a run, and whether this build's times mean anything. */
#ifndef IH_BENCH_ENV_H
#define IH_BENCH_ENV_H

#include "record.h"

/* Hash of the implementations' machine code, as it was compiled into this build. */
const char *env_code_hash(void);

/* NULL, or in words why times taken by this build do not count (no optimisation, assertions, sanitizers, checks). */
const char *env_timing_refused(void);

/* The record of a run that begins now. device: as in cells. NULL: no memory. */
json_t *env_run(int argc, char **argv, const char *device, uint64_t seed);

/* Can records of these two runs stand in one table? NULL, or in words what differs. */
const char *env_differs(const json_t *one, const json_t *other);

#endif
