/* SPDX-License-Identifier: Apache-2.0
 * cmd_results.c: isohull results check, are journals sound? */
#include "args.h"
#include "commands.h"
#include "say.h"

#include "bench/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FILES_MOST = 1024, DIFFERENCES_SAID = 20 };

static void say_one(const char *text) { say("%s", text); }

static int check_files(const char *const *paths, int count)
{
    int     code        = EXIT_GOOD;
    int64_t differences = 0;

    for (int k = 0; k < count; ++k) {
        check_result result;
        fault        f;
        if (check_file(paths[k], DIFFERENCES_SAID - differences, say_one, &result, &f) != FAULT_NONE) {
            say("%s", f.message);
            code = EXIT_USAGE;
            continue;
        }
        if (result.torn_bytes) say("%s: the last line is torn, %" PRId64 " bytes without an end: ignored", paths[k], result.torn_bytes);
        printf("%s: %" PRId64 " runs, %" PRId64 " cells, %" PRId64 " differences\n", paths[k], result.runs, result.cells, result.differences);
        differences += result.differences;
    }
    if (differences > DIFFERENCES_SAID) say("%" PRId64 " differences more", differences - DIFFERENCES_SAID);
    if (code == EXIT_GOOD && differences) code = EXIT_VERDICT;
    return code;
}

int cmd_results(int argc, char **argv)
{
    const char    *operands[FILES_MOST];
    const arg_page page = {
        .usage = "isohull results check JOURNAL.jsonl...",
        .about = "Checks journals of measurements: each line against the rules of docs/journal.md (harness/bench/journal.schema.json says\n"
                 "the same for other programs), and medians and intervals against the raw samples of their cells. A torn last line is\n"
                 "said and is no fault.\n",
        .rest  = "Example:\n"
                 "  $ isohull bench --preset smoke --time 2s --protocol hot -o smoke.jsonl\n"
                 "  $ isohull results check smoke.jsonl\n\n"
                 "Exit codes: 0 all is well; 1 differences, the first of which are said; 2 usage, or a file that cannot be read.\n",
    };
    int       n_operands;
    const int code = args_read(&page, argc, argv, operands, FILES_MOST, &n_operands);

    if (code != ARGS_GO_ON) return code;
    if (n_operands == 0 || strcmp(operands[0], "check") != 0) return say_bad("what about results? There is: isohull results check JOURNAL.jsonl...");
    if (n_operands == 1) return say_bad("which journals? isohull results check JOURNAL.jsonl...");
    return check_files(operands + 1, n_operands - 1);
}
