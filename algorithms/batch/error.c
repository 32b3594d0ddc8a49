/* SPDX-License-Identifier: Apache-2.0
 * error.c: the last error of each thread, and the names of status codes. */
#include "../common/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local ih_error last_error;

ih_status ih_set_error(ih_status status, ih_fault fault, const char *argument, int64_t row, int64_t index, const char *format, ...)
{
    va_list args;

    last_error.size   = sizeof last_error;
    last_error.status = status;
    last_error.fault  = fault;
    last_error.row    = row;
    last_error.index  = index;
    snprintf(last_error.argument, sizeof last_error.argument, "%s", argument ? argument : "");
    va_start(args, format);
    vsnprintf(last_error.message, sizeof last_error.message, format, args);
    va_end(args);
    return status;
}

void ih_last_error(ih_error *out)
{
    const size_t size = out ? out->size : 0;

    if (size < sizeof out->size) return;
    last_error.size = sizeof last_error;
    memcpy(out, &last_error, size < sizeof last_error ? size : sizeof last_error);
    out->size = size;
}

const char *ih_status_name(ih_status status)
{
    static const char *const names[] = {
        "IH_OK", "IH_EARGUMENT", "IH_EDATA", "IH_EOVERFLOW", "IH_EUNSUPPORTED", "IH_ENODEVICE",
        "IH_EMEMORY", "IH_EWORKSPACE", "IH_EDEVICE", "IH_EINTERNAL",
    };
    return status >= 0 && (size_t)status < sizeof names / sizeof names[0] ? names[status] : "unknown status";
}

int32_t     ih_abi_version(void) { return IH_ABI_VERSION; }
const char *ih_version(void) { return IH_VERSION; }
