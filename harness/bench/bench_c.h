/* SPDX-License-Identifier: Apache-2.0
 * bench_c.h: what the harness uses of Google Benchmark, as C functions (bench_c.cpp, the one C++ file). Versions from 1.7.1
 * on. No exception crosses this boundary; a callback must not leave by longjmp. */
#ifndef IH_BENCH_BENCH_C_H
#define IH_BENCH_BENCH_C_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_state bench_state;
typedef void (*bench_function)(bench_state *s, void *user);

typedef struct bench_options {
    int     manual_time; /* times come from bench_set_iteration_time; needs a fixed number of iterations to end in time */
    int64_t iterations;  /* per repetition; 0: Google Benchmark chooses                                                */
} bench_options;

/* Register a benchmark, shown in milliseconds. 0, or -1: see bench_error. */
int bench_register(const char *name, bench_function function, void *user, const bench_options *options);

/* Facts about the run, for the head of the JSON file. Before bench_run. */
int bench_add_context(const char *key, const char *value);

enum { BENCH_GOOD = 0, BENCH_FLAGS = 1, BENCH_FAILED = 2 };

/* Read the flags (argv[0] is a program's name) and run what is registered and matches --benchmark_filter; *ran counts
 * that. BENCH_FLAGS: a flag is not known or its value is wrong, said on stderr. BENCH_FAILED: see bench_error. Whether a
 * benchmark skipped with an error is not seen here. Where Google Benchmark ends the process over a flag or an output file it
 * cannot open, it ends with exit code 2. Once a process. */
int bench_run(int argc, char **argv, int64_t *ran);

const char *bench_error(void); /* of the last failure; never NULL */

/* In a callback. */
int  bench_keep_running(bench_state *s);
void bench_set_iteration_time(bench_state *s, double seconds);
void bench_set_counter(bench_state *s, const char *name, double value); /* not finite: left out, since JSON has no NaN */
void bench_set_label(bench_state *s, const char *text);
void bench_skip_error(bench_state *s, const char *why);

#ifdef __cplusplus
}
#endif
#endif
