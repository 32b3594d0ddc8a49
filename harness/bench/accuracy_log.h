/* SPDX-License-Identifier: Apache-2.0
 * accuracy_log.h: the journal of an accuracy run: what it has already is not measured again. */
#ifndef IH_BENCH_ACCURACY_LOG_H
#define IH_BENCH_ACCURACY_LOG_H

#include "journal.h"

typedef struct accuracy_log accuracy_log;

/* Open a journal and read what it holds. The record of this run is appended before its first cell. ordinal: of a CUDA device, or
 * -1 for the CPU. */
fault_kind accuracy_log_open(accuracy_log **out, const char *path, int ordinal, int argc, char **argv, fault *f);
void       accuracy_log_close(accuracy_log *log); /* takes NULL */

/* The functions below take NULL for a log: nothing is kept. */

/* Does it hold a final cell of this implementation, of this code, on this problem? */
int        accuracy_log_has(const accuracy_log *log, const char *impl, const char *problem);
/* The cell's run and, for our implementations, code_hash are filled in: a peer's is its name. */
fault_kind accuracy_log_append(accuracy_log *log, cell_record *cell, fault *f);

#endif
