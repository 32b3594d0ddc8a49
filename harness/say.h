/* SPDX-License-Identifier: Apache-2.0
 * say.h: exit codes of the command, and messages on stderr. Standard output belongs to results alone. */
#ifndef IH_HARNESS_SAY_H
#define IH_HARNESS_SAY_H

/* Where several hold: 2, 5, 4, 1, 3, 6. */
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

/* The command that is running: "isohull fit"; messages begin with it. */
extern const char *say_name;

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* say, and return EXIT_USAGE. */
int say_bad(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The candidate nearest to a mistyped word (Damerau-Levenshtein, at most a third of its letters wrong), or NULL. */
const char *say_nearest(const char *word, const char *const *candidates, int count);

/* Flush standard output. EXIT_GOOD, also if the reader has gone (nobody misses the rest); EXIT_USAGE and a message if
 * it could not be written. */
int say_flush(void);

#endif
