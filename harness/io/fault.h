/* SPDX-License-Identifier: Apache-2.0
 *
 * The one error of the harness: what kind of fault, the exit code it asks for, where it is, and one line for a person.
 *
 * Functions that can fail return a fault_kind and take a `fault *` last; on anything but FAULT_NONE it has been filled.
 * Nothing in harness/io prints or exits: the command does, from the message.
 */
#ifndef IH_HARNESS_IO_FAULT_H
#define IH_HARNESS_IO_FAULT_H

#include <stdint.h>

#include "exit_code.h"
#include "isohull.h"

typedef enum fault_kind {
    FAULT_NONE = 0,
    FAULT_OPEN,      /* no such file, no permission, a directory                                       */
    FAULT_READ,      /* reading failed half-way                                                        */
    FAULT_WRITE,     /* an output cannot be created, written or put in its place                       */
    FAULT_TRUNCATED, /* fewer bytes than the header says                                               */
    FAULT_FORMAT,    /* not the format it should be: magic, header, quotes, bytes behind the end       */
    FAULT_SHAPE,     /* neither one nor two dimensions, lengths that do not fit together or overflow   */
    FAULT_DTYPE,     /* a type of element that is not read                                             */
    FAULT_NUMBER,    /* text that is no finite number, or a number that its type cannot hold           */
    FAULT_MISSING,   /* an empty or NA cell                                                            */
    FAULT_COLUMN,    /* a column that is not there or ambiguous, too few or too many cells in a line   */
    FAULT_VALUE,     /* a value that is not allowed: y, w, offsets                                     */
    FAULT_RANGE,     /* a query outside the curve                                                      */
    FAULT_MEMORY,    /* memory ran out                                                                 */
    FAULT_USAGE,     /* arguments that contradict each other                                           */
    FAULT_LIBRARY    /* the library refused or failed: see fault_from_library                          */
} fault_kind;

typedef struct fault {
    fault_kind kind;
    int        exit_code;     /* EXIT_USAGE unless said otherwise        */
    int64_t    line;          /* of a text file, from 1; 0 if none       */
    int64_t    row, index;    /* of an array, from 0; -1 if none         */
    char       message[1024]; /* without a newline                       */
} fault;

void fault_clear(fault *f);

/* Fill f (which may be NULL) and return kind. The place (line, row, index) is cleared: set it afterwards. */
fault_kind fault_set(fault *f, fault_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Take over the last error of the library after a call that returned status; IH_OK gives FAULT_NONE. `what` comes first
 * in the message ("fit"); may be NULL. IH_ENODEVICE asks for exit 77. */
fault_kind fault_from_library(fault *f, ih_status status, const char *what);

#endif
