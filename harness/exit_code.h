/* SPDX-License-Identifier: Apache-2.0
 * exit_code.h: exit codes of every command. Where several hold: 2, 5, 4, 1, 3, 6. */
#ifndef IH_HARNESS_EXIT_CODE_H
#define IH_HARNESS_EXIT_CODE_H

enum {
    EXIT_GOOD        = 0,
    EXIT_VERDICT     = 1,   /* a verdict failed                              */
    EXIT_USAGE       = 2,   /* usage, or unreadable or invalid input         */
    EXIT_UNDECIDED   = 3,
    EXIT_ENVIRONMENT = 4,   /* environments not comparable                   */
    EXIT_WRONG       = 5,   /* wrong results                                 */
    EXIT_BUDGET      = 6,   /* time budget spent with work left              */
    EXIT_NO_DEVICE   = 77,
    EXIT_INTERRUPTED = 130
};

#endif
