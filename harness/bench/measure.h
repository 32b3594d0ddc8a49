/* SPDX-License-Identifier: Apache-2.0
 * measure.h: the protocol: one problem with all its implementations, measured on a target. Runs in a process of its own;
 * it tells what it is doing through calls, so that whoever waits knows what a death or a hang belongs to. */
#ifndef IH_BENCH_MEASURE_H
#define IH_BENCH_MEASURE_H

#include "target.h"

enum { MEASURE_SAMPLES_MOST = 101, MEASURE_ALL = -1 };

typedef struct measure_watch {
    void *user;
    void (*busy)(void *user, int32_t cell);           /* from now on at work for this cell, or MEASURE_ALL */
    void (*done)(void *user, const cell_record *cell); /* finished: into the journal with it                */
} measure_watch;

/* cells [count] are of one problem, with identity, order_seed and run filled; all are done at the end.
 * share_ms: this problem's time; once it is over, cells are content with the least number of samples. left_ms: of the whole
 * command's time; a cell whose least number of samples cannot fit into it becomes a timeout. */
void measure_problem(target *t, const ih_spec *problem, cell_record *cells, int32_t count, double share_ms, double left_ms,
                     const measure_watch *watch);

#endif
