/* SPDX-License-Identifier: Apache-2.0
 * gbench.h: `bench --format gbench`, cells run through Google Benchmark: its console table, its --benchmark_filter, and JSON
 * that its compare.py and other tools read. It is a front end: order, journal, resume and verdicts are the other
 * formats'. One sample is one repetition (--benchmark_repetitions=N), so that the file keeps each; a cell's digest is
 * compared and its warm-up done before the first counts. */
#ifndef IH_BENCH_GBENCH_H
#define IH_BENCH_GBENCH_H

#include "target.h"

/* 0 in a build without Google Benchmark. */
int gbench_built(void);

/* Run the cells on t, which has no problem open, and close what was opened.
 *
 *   cells [count]  in: impl, problem (canonical), protocol, threads. Out: status, why, n, rows, digests, blocks, workspace_bytes.
 *                  Best sorted by problem: a change of problem generates and referees it again
 *   run            the run's record, or NULL: its texts and numbers go into the file's context
 *   argv [argc]    Google Benchmark's own flags, argv[0] a program's name
 *
 * Returns an exit code, messages said: EXIT_WRONG if a cell's result was wrong (Google Benchmark itself reports that as an
 * error and exits 0), EXIT_USAGE for flags that it does not know, a filter that matches nothing, or a cell that failed.
 * A cell that is unsupported is an error row and no fault. Once a process. */
int gbench_run(target *t, cell_record *cells, int64_t count, const json_t *run, int argc, char **argv);

#endif
