/* SPDX-License-Identifier: Apache-2.0
 * args.h: options of a command. One table serves the parser and the help page, so that the page cannot fall behind. */
#ifndef IH_HARNESS_ARGS_H
#define IH_HARNESS_ARGS_H

#include <stdint.h>

typedef struct arg_option {
    const char  *name;  /* as typed: "--weights" or "-o"                                             */
    const char  *value; /* what the help page calls its value: "FILE"; NULL for a switch             */
    const char  *help;  /* lines of the help page, separated by '\n', with unit and default          */
    const char **text;  /* receives the value ("" for a switch); NULL before. Given twice: an error, */
} arg_option;           /* unless value ends with "...": text is then an array [ARGS_REPEATS] of NULL, filled in order */

enum { ARGS_REPEATS = 64 }; /* the last one stays NULL */

typedef struct arg_page {
    const char       *usage;    /* one line or several: "isohull fit Y.npy -o Z.npy [options]"        */
    const char       *about;    /* what the command does, above the options                           */
    const arg_option *options;
    int               n_options;
    const char       *rest;     /* below them: examples (lines that begin with "  $ " work as they stand), exit codes */
} arg_page;

enum { ARGS_GO_ON = -1 };

/* Read a command line. argv[0] is the command's own name. Values may follow as the next argument or behind '=' (long
 * options) or directly (letters), and may begin with '-'. "--" ends the options. --help and -h print the page.
 *
 *   operands [most]  out: arguments that are no options, in order; *n_operands of them
 *   Returns ARGS_GO_ON, or the exit code with which to end: EXIT_GOOD after the help page, EXIT_USAGE after a message. */
int args_read(const arg_page *page, int argc, char **argv, const char **operands, int most, int *n_operands);

void args_print_page(const arg_page *page);

/* Values, read the same under every locale. ARGS_GO_ON, or EXIT_USAGE after a message naming the option.
 * number: any number or inf, -inf (to which what is past the range is rounded); NaN is refused. count: a whole number in low to high. */
int args_number(const char *option, const char *text, double *value);
int args_count(const char *option, const char *text, int64_t low, int64_t high, int64_t *value);

/* Does a path end like this (".csv"), in capitals or not? */
int args_ends_with(const char *path, const char *ending);

/* ARGS_GO_ON unless path (or NULL) is named like the other one of the formats ".npy" and ".csv" than what is written. */
int args_output(const char *option, const char *path, const char *written);

#endif
