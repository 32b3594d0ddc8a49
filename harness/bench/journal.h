/* SPDX-License-Identifier: Apache-2.0
 * journal.h: an append-only file of records, one JSON object a line, each written whole and flushed to the disk before
 * the next begins. A last line without its newline is torn: it is ignored, said, and cut off before appending. */
#ifndef IH_BENCH_JOURNAL_H
#define IH_BENCH_JOURNAL_H

#include "record.h"

typedef struct journal journal;

/* Open for appending (created if absent); exclusive among processes (flock): FAULT_WRITE if another one holds it. The lock
 * belongs to the process and its children: journal_forget in a child gives the child's share back.
 * torn_bytes (may be NULL) receives the length of a torn last line, 0 if there was none. */
fault_kind journal_open(journal **out, const char *path, int64_t *torn_bytes, fault *f);
fault_kind journal_append(journal *j, const json_t *line, fault *f); /* one write(2) of the whole line, then fdatasync */
void       journal_close(journal *j);                               /* takes NULL */
void       journal_forget(journal *j);                              /* in a child after fork: close, nothing else */

/* What a journal holds, in order. */
typedef struct journal_data {
    json_t     **runs;
    int64_t      run_count;
    cell_record *cells;
    int64_t      cell_count;
    int64_t      torn_bytes;
} journal_data;

/* Read files one after the other as if concatenated. A malformed line that is not the torn last one of its file is an
 * error naming file and line. */
fault_kind journal_read(journal_data *out, const char *const *paths, int count, fault *f);
void       journal_free(journal_data *data);

/* The last cell with the identity of `like`, one of the final statuses (ok, wrong, unsupported) and at least the time for
 * samples (cell_ms) that `like` asks for; or NULL. */
const cell_record *journal_find(const journal_data *data, const cell_record *like);

#endif
