/* SPDX-License-Identifier: Apache-2.0
 * child.h: one problem measured in a process of its own, and again without the culprit if that process dies. */
#ifndef IH_BENCH_CHILD_H
#define IH_BENCH_CHILD_H

#include "run.h"

#include <signal.h>

/* Measure the missing cells of a problem. All of them are there at the end, unless *stopped became true: then the child is
 * ended and only what it had finished counts. played_ms grows by the target's time if that is virtual. */
fault_kind child_measure(bench_run *r, int32_t problem, double share_ms, double left_ms, double limit_ms,
                         const volatile sig_atomic_t *stopped, double *played_ms, fault *f);

#endif
