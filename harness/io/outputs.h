/* SPDX-License-Identifier: Apache-2.0
 *
 * Output files that appear whole or not at all. All outputs of a command are written to temporaries beside their targets
 * and renamed together at commit. A target that exists and is no regular file (/dev/null, a fifo) is written directly.
 * Since an input is read before the commit, an output may have the path of an input.
 *
 *   outputs o;  outputs_init(&o);
 *   FILE *z = NULL;
 *   if (!outputs_add(&o, path, &z, f) && !npy_write(z, path, ..., f) && !outputs_commit(&o, f)) ...
 *   outputs_discard(&o);            // removes what was not committed
 */
#ifndef IH_HARNESS_IO_OUTPUTS_H
#define IH_HARNESS_IO_OUTPUTS_H

#include <stdbool.h>
#include <stdio.h>

#include "io/fault.h"

#define OUTPUTS_MAX 8

typedef struct outputs {
    int n;
    struct outputs_entry {
        FILE *stream;
        char *target;    /* links resolved; NULL when written directly */
        char *path;      /* as given                                   */
        int   temporary; /* place in the list of names to remove, or -1 */
    } entries[OUTPUTS_MAX];
} outputs;

void       outputs_init(outputs *o);
fault_kind outputs_add(outputs *o, const char *path, FILE **stream, fault *f);

/* Is it the name of this process's standard output (/dev/stdout, /dev/fd/1)? NULL is not. */
bool       outputs_is_stdout(const char *path);

/* Flush and check all streams, then rename all temporaries; signals wait meanwhile (outputs_abandon). On a fault nothing
 * that can be taken back stays. */
fault_kind outputs_commit(outputs *o, fault *f);

/* Close everything and remove the temporaries. After a commit: nothing to do. Call it always. */
void       outputs_discard(outputs *o);

/* For a handler of a signal that ends the process; async-signal-safe, in any thread. True: the temporaries are removed and
 * the process may end. False: files are just being put in place; return, and the signal is raised again after it. */
bool       outputs_abandon(int signal_number);

#endif
