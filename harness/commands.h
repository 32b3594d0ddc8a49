/* SPDX-License-Identifier: Apache-2.0
 * commands.h: one function per command; argv[0] is its name. Each returns its exit code. */
#ifndef IH_HARNESS_COMMANDS_H
#define IH_HARNESS_COMMANDS_H

int cmd_fit(int argc, char **argv);
int cmd_predict(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_gen(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_results(int argc, char **argv);
int cmd_accuracy(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

#endif
