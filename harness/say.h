/* SPDX-License-Identifier: Apache-2.0
 * say.h: exit codes of the command, and messages on stderr. Standard output belongs to results alone. */
#ifndef IH_HARNESS_SAY_H
#define IH_HARNESS_SAY_H

#include "exit_code.h"

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
