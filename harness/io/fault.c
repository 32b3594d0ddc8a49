/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling in the one error of the harness.
 */
#include "io/fault.h"

#include <stdarg.h>
#include <stdio.h>

void fault_clear(fault *f)
{
    *f = (fault){.kind = FAULT_NONE, .exit_code = EXIT_GOOD, .row = -1, .index = -1};
}

fault_kind fault_set(fault *f, fault_kind kind, const char *format, ...)
{
    if (f == NULL) return kind;
    /* The arguments may point into the old message: write the new one beside it. */
    char    message[sizeof f->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fault_clear(f);
    f->kind      = kind;
    f->exit_code = kind == FAULT_NONE ? EXIT_GOOD : EXIT_USAGE;
    for (size_t i = 0; message[i] != 0; i++) /* one line, whatever a file name or a cell holds */
        if ((unsigned char)message[i] < 0x20 || message[i] == 0x7f) message[i] = '?';
    snprintf(f->message, sizeof f->message, "%s", message);
    return kind;
}

fault_kind fault_from_library(fault *f, ih_status status, const char *what)
{
    if (status == IH_OK) return FAULT_NONE;
    ih_error error = {.size = sizeof error};
    ih_last_error(&error);
    const char *before = what != NULL ? what : "", *colon = what != NULL ? ": " : "";
    if (error.status == status && error.message[0] != 0)
        fault_set(f, FAULT_LIBRARY, "%s%s%s", before, colon, error.message);
    else
        fault_set(f, FAULT_LIBRARY, "%s%s%s", before, colon, ih_status_name(status));
    if (f != NULL) {
        f->row   = error.row;
        f->index = error.index;
        if (status == IH_ENODEVICE) f->exit_code = EXIT_NO_DEVICE;
    }
    return FAULT_LIBRARY;
}
