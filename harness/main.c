/* SPDX-License-Identifier: Apache-2.0
 * main.c: the command isohull: picks the command, and sees to signals and standard streams.
 * setlocale() is never called, here or below: numbers are read and written with a decimal point everywhere. */
#include "commands.h"
#include "device.h"
#include "say.h"

#include "io/outputs.h"

#include <isohull.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if IH_WITH_GSL
#  define NEEDS_GSL(run) run
#else
#  define NEEDS_GSL(run) without_gsl
static int without_gsl(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return say_bad("this build has no GSL, whose statistics the command needs (apt install libgsl-dev, then build again)");
}
#endif

static const struct command {
    const char *name, *full_name, *summary;
    int       (*run)(int argc, char **argv);
} commands[] = {
    { "fit", "isohull fit", "fit arrays (.npy) or curves of a table (.csv)", cmd_fit },
    { "predict", "isohull predict", "evaluate fitted curves at new points", cmd_predict },
    { "list", "isohull list", "implementations, data families, weightings, presets", cmd_list },
    { "gen", "isohull gen", "write the data of a problem as .npy", cmd_gen },
    { "bench", "isohull bench", "measure implementations on problems", NEEDS_GSL(cmd_bench) },
    { "results", "isohull results", "validate journals of measurements", NEEDS_GSL(cmd_results) },
    { "accuracy", "isohull accuracy", "how far fits are from the exact one", NEEDS_GSL(cmd_accuracy) },
    { "report", "isohull report", "a report from journals: tables and figures", NEEDS_GSL(cmd_report) },
    { "verify", "isohull verify", "make a report again and compare", NEEDS_GSL(cmd_verify) },
    { "serve", "isohull serve", "an implementation that answers requests to measure it", NEEDS_GSL(cmd_serve) },
    { "doctor", "isohull doctor", "what this machine can do, and what to install", cmd_doctor },
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *to)
{
    fprintf(to, "Usage: isohull COMMAND ...\n\n"
                "Weighted isotonic regression: the non-decreasing (or non-increasing) sequence nearest to the data in weighted\n"
                "least squares. Fits are canonical: the exact solution rounded once, so every implementation, machine and number\n"
                "of threads gives the same bits.\n\nCommands:\n");
    for (int k = 0; k < COMMANDS; ++k) fprintf(to, "  %-9s%s\n", commands[k].name, commands[k].summary);
    fprintf(to, "\n'isohull COMMAND --help' explains one of them; 'isohull --version' says what is installed.\n\n"
                "A first fit:\n"
                "  $ isohull gen noise:n=1000 -o y.npy\n"
                "  $ isohull fit y.npy -o z.npy --json\n\n"
                "Results go to standard output or to the files named, messages to standard error.\n"
                "Exit codes of all commands: 0 good, 1 a verdict failed, 2 usage, or unreadable or invalid input, 3 undecided,\n"
                "4 environments not comparable, 5 wrong results, 6 time budget spent with work left, 77 no such device here,\n"
                "130 interrupted (nothing half-written is left). Where several hold: 2, 5, 4, 1, 3, 6.\n");
}

static int print_version(void)
{
    printf("isohull %s (ABI %d)\n", ih_version(), (int)ih_abi_version());
#if IH_WITH_GSL
    puts("License: isohull is Apache-2.0. This command links GSL " IH_GSL_VERSION " (GPL-3): as a whole it is GPL-3. The library is not touched.");
#else
    puts("License: Apache-2.0. GSL (GPL-3) is not linked; a command that linked it would be GPL-3 as a whole.");
#endif
    if (device_built() != DEVICE_BUILD_NONE) {
        char text[512];
        int  runtime = 0, driver = 0;
        device_build_text(text, sizeof text);
        device_versions(&runtime, &driver);
        printf("CUDA: %s; runtime %d.%d, ", strncmp(text, "yes: ", 5) == 0 ? text + 5 : text, runtime / 1000, runtime % 100 / 10);
        if (driver) printf("driver for up to %d.%d\n", driver / 1000, driver % 100 / 10);
        else puts("no driver");
    }
    return say_flush();
}

/* A file that is opened must not become descriptor 1 by chance and receive our output: closed standard streams are filled
 * with ends on which the forbidden direction fails, so that lost results are still noticed. */
static void fill_standard_streams(void)
{
    for (int fd = 0; fd < 3; ++fd)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0) _exit(EXIT_USAGE);
}

static void stop(int number)
{
    if (!outputs_abandon(number)) return; /* files are just being put in place; it is raised again after that */
    _exit(number == SIGINT ? EXIT_INTERRUPTED : 128 + number);
}

static void watch_signals(void)
{
    static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU };
    struct sigaction action, before;

    memset(&action, 0, sizeof action);
    sigfillset(&action.sa_mask);
    action.sa_handler = stop;
    for (size_t k = 0; k < sizeof stops / sizeof stops[0]; ++k) {
        /* what the caller ignores (nohup, a shell's background job) stays ignored */
        if (sigaction(stops[k], NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(stops[k], &action, NULL);
    }
    /* a reader that leaves early is noticed when standard output is flushed, a file past its limit when it is written */
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

/* For a runtime that ends the process by exit(): nothing half-written stays then either. */
static void leave(void) { (void)outputs_abandon(0); }

static const struct command *find(const char *name)
{
    for (int k = 0; k < COMMANDS; ++k)
        if (strcmp(commands[k].name, name) == 0) return &commands[k];
    return NULL;
}

static int unknown(const char *name)
{
    const char *names[COMMANDS];
    const char *near;

    for (int k = 0; k < COMMANDS; ++k) names[k] = commands[k].name;
    near = say_nearest(name, names, COMMANDS);
    if (near) return say_bad("unknown command '%s': did you mean %s? (isohull --help lists all)", name, near);
    return say_bad("unknown command '%s' (isohull --help lists all)", name);
}

static int run(const struct command *command, int argc, char **argv)
{
    int code;

    say_name = command->full_name;
    code     = command->run(argc, argv);
    return code == EXIT_GOOD ? say_flush() : code; /* what stopped it has been said */
}

int main(int argc, char **argv)
{
    const struct command *command;

    fill_standard_streams();
    watch_signals();
    atexit(leave);
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (strcmp(argv[1], "help") == 0 && argc == 2)) {
        print_help(stdout);
        return say_flush();
    }
    if (strcmp(argv[1], "--version") == 0) return print_version();
    if (strcmp(argv[1], "help") == 0) {
        char  help[]     = "--help";
        char *question[] = { argv[2], help, NULL };
        command = find(argv[2]);
        return command ? run(command, 2, question) : unknown(argv[2]);
    }
    command = find(argv[1]);
    return command ? run(command, argc - 1, argv + 1) : unknown(argv[1]);
}
