/* SPDX-License-Identifier: Apache-2.0
 * cmd_serve.c: isohull serve, an implementation as a peer: it answers on its standard streams, one JSON object a line, as
 * other libraries do (docs/peers.md), so that both can be measured in turn, each by itself. */
#include "args.h"
#include "commands.h"
#include "say.h"

#include "bench/env.h"
#include "bench/env_gpu.h"
#include "bench/serve.h"
#include "device.h"

#include <isohull.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Answers requests on standard input, one JSON object a line, by measuring an implementation on a GPU: load a problem, take\n"
    "samples, measure ceilings. scripts/bench_gpu_peer asks several such processes, and several of another library, in turn.\n";

static const char rest[] =
    "Requests and answers: docs/peers.md.\n\n"
    "Example, on a GPU:\n"
    "  printf '{\"do\":\"state\"}\\n' | isohull serve --device cuda:0\n\n"
    "Exit codes: 0 good; 2 usage, or a build whose times mean nothing; 77 no such device.\n";

/* The record of a run, for journals that the asker writes. */
static json_t *manifest_of(int argc, char **argv, int ordinal, int *code)
{
    char    label[32];
    json_t *run;
    fault   f;

    device_label(ordinal, label);
    run = env_run(argc, argv, label, 0);
    if (run && env_gpu_add(run, ordinal, &f) == FAULT_NONE) {
        json_object_set_new(run, "code_hash", json_string(env_gpu_code_hash()));
        return run;
    }
    *code = run ? f.exit_code : EXIT_USAGE;
    say("%s", run ? f.message : "memory ran out");
    json_decref(run);
    return NULL;
}

static int choose(const char *impl, const char *where, char text[256], int *ordinal)
{
    const ih_impl *found = ih_impl_default(IH_DEVICE_CUDA);
    ih_options     options;
    ih_error       error = { .size = sizeof error };

    ih_options_init(&options);
    *ordinal = where ? device_number(where) : 0;
    if (*ordinal < 0) return say_bad("option --device: '%s' is not cuda:N (N from 0 to 1023)", where);
    if (impl && ih_impl_parse(impl, &found, &options) != IH_OK) {
        ih_last_error(&error);
        return say_bad("option --impl: %s", error.message);
    }
    if (!found || device_built() == DEVICE_BUILD_NONE) {
        say("no device cuda:%d: this build has no CUDA implementation (isohull doctor says more)", *ordinal);
        return EXIT_NO_DEVICE;
    }
    if (found->device != IH_DEVICE_CUDA) return say_bad("%s runs on the CPU: isohull bench measures it", found->name);
    ih_impl_format(found, &options, text, 256);
    return ARGS_GO_ON;
}

int cmd_serve(int argc, char **argv)
{
    const char      *impl = NULL, *where = NULL;
    const arg_option options[] = {
        { "--impl", "NAME[:option=value...]", "Which implementation. Default: the default one of CUDA devices.", &impl },
        { "--device", "cuda:N", "Where. Default: cuda:0.", &where },
    };
    const arg_page page = { "isohull serve [--impl NAME] [--device cuda:N]", about, options, sizeof options / sizeof options[0], rest };
    char           text[256];
    json_t        *run;
    int            n_operands, ordinal = 0, code = args_read(&page, argc, argv, NULL, 0, &n_operands);

    if (code == ARGS_GO_ON) code = choose(impl, where, text, &ordinal);
    if (code != ARGS_GO_ON) return code;
    if (env_timing_refused() && !getenv("ISOHULL_TIMING_ANYWAY")) return say_bad("%s: its times would mean nothing", env_timing_refused());
    if (env_gpu_refused() && !getenv("ISOHULL_TIMING_ANYWAY")) return say_bad("%s: its times would mean nothing", env_gpu_refused());
    code = EXIT_GOOD;
    run  = manifest_of(argc, argv, ordinal, &code);
    if (run) code = serve(text, ordinal, run);
    json_decref(run);
    return code;
}
