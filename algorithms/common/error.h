/* SPDX-License-Identifier: Apache-2.0
 * error.h: record the last error of this thread and return its status. */
#ifndef IH_COMMON_ERROR_H
#define IH_COMMON_ERROR_H

#include "isohull.h"

/* argument may be NULL (none); row and index -1 for no place. The message is formatted as by printf. */
ih_status ih_set_error(ih_status status, ih_fault fault, const char *argument, int64_t row, int64_t index, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 6, 7)))
#endif
    ;

/* IH_TRY: leave by the single exit `done`, which frees what was taken. */
#define IH_TRY(expr) do { st = (expr); if (st != IH_OK) goto done; } while (0)

#endif
