/* SPDX-License-Identifier: Apache-2.0
 * run.h: measuring a plan: each problem in a child process, which alone touches the device; this process alone writes the
 * journal, so that neither a death nor a hang costs a recorded cell. */
#ifndef IH_BENCH_RUN_H
#define IH_BENCH_RUN_H

#include "journal.h"
#include "plan.h"
#include "target.h"

typedef enum run_have { RUN_MISSING, RUN_EARLIER, RUN_NOW } run_have;

typedef struct bench_run {
    plan               *plan;     /* its cells receive the results                                      */
    journal            *journal;  /* or NULL: nothing is kept                                           */
    const journal_data *earlier;  /* cells that need not be measured again; or NULL                     */
    json_t             *record;   /* of this run; appended before the first cell                        */
    double              limit_ms; /* of one problem; 0: ten times its share of the time, at least 60 s  */
    run_have           *have;     /* [cells] out; owned, free it with run_free                          */
    int                 interrupted, out_of_time; /* out                                                */
} bench_run;

fault_kind run_measure(bench_run *r, fault *f);
int        run_exit_code(const bench_run *r); /* EXIT_GOOD, or the first that holds of 5, 1, 3, 6; 130 if interrupted */
void       run_free(bench_run *r);

/* The target that a plan names. NULL on a fault. */
target *run_target(const plan *p, fault *f);

/* Was the cell measured, but under clocks too low for enough samples to count? */
int run_undecided(const cell_record *c);

#endif
