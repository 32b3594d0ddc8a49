/* SPDX-License-Identifier: Apache-2.0
 * view.h: what a report shows of journals: the records that count, and the numbers derived from their raw samples. */
#ifndef IH_REPORT_VIEW_H
#define IH_REPORT_VIEW_H

#include "bench/journal.h"
#include "datasets/problem.h"

/* A measured cell. Numbers that there are not: -1. */
typedef struct view_cell {
    int64_t            at;          /* its number: place among the cells of the journals, from 0        */
    const cell_record *cell;
    char               set[160];    /* the problem without its length: "noise, float64, w=extreme"       */
    char               call[96];    /* on a device: which, and what a call is: "cuda:0, graph"; else ""   */
    char               family[48];
    const char        *dtype, *weighting; /* "" for a file problem without either                        */
    int64_t            samples;     /* that count                                                        */
    double             median_ms, low_ms, high_ms, copy_ms;
    double             times_copy, ns_per_element;
    double             over_empty_us; /* below 1e6 elements only                                         */
} view_cell;

typedef struct view {
    const journal_data *data;
    view_cell          *bench;     /* status ok, by problem, then by implementation, as they first come    */
    int64_t             n_bench;
    view_cell          *accuracy;  /* with measures, status ok or wrong                                   */
    int64_t             n_accuracy;
    view_cell          *refused;   /* everything else: wrong, unsupported, error, timeout                  */
    int64_t             n_refused;
    int64_t             older;     /* records left out because a later one is of the same thing            */
    int64_t             emulated;  /* of emulated devices: left out                                       */
    char              (*peers)[256]; /* names of peers (no implementations of ours) with measured cells    */
    int                 n_peers;
} view;

fault_kind view_make(view *v, const journal_data *data, fault *f);
void       view_free(view *v);

/* The measured cell of this implementation on the same problem under the same protocol, or NULL. */
const view_cell *view_beside(const view *v, const view_cell *cell, const char *impl);

/* A measure of an accuracy cell, or -1. */
double view_measure(const view_cell *cell, const char *name);

#endif
