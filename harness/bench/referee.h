/* SPDX-License-Identifier: Apache-2.0
 * referee.h: the canonical fit of a problem in host memory, by the implementation that can be afforded. */
#ifndef IH_BENCH_REFEREE_H
#define IH_BENCH_REFEREE_H

#include "io/fault.h"

#include <isohull.h>

#define REFEREE_EXACT_MOST 20000000 /* elements up to which cpu_exact is asked; above, the CPU's default, canonical too */

const ih_impl *referee_for(int64_t elements);

/* By which name a record says so: "" for cpu_exact. */
const char *referee_name(const ih_impl *referee);

/* The digest that a file keeps for a problem: lines "PROBLEM DIGEST BLOCKS", '#' begins a remark (tests/data/fit_digests.txt, by
 * cpu_exact). digest: "" if it keeps none. */
fault_kind referee_kept(const char *path, const char *problem, char digest[17], fault *f);

/* Fit with blocks. z, starts [elements], offsets [rows + 1]; digest and blocks come from them. */
fault_kind referee_fit(const ih_impl *referee, const ih_problem *p, void *z, int64_t *starts, int64_t *offsets, char digest[17], int64_t *blocks, fault *f);

#endif
