/* SPDX-License-Identifier: Apache-2.0
 * cmd_predict.c: isohull predict, the values of fitted curves at new points. */
#include "args.h"
#include "commands.h"
#include "curve.h"
#include "say.h"

#include "io/outputs.h"

#include <inttypes.h>
#include <string.h>

static const char about[] =
    "Evaluates curves that 'isohull fit DATA.csv' wrote: between the x of a curve piecewise linear, as scikit-learn's\n"
    "IsotonicRegression defines it; a value never leaves the range of its two neighbours. Writes the rows of the data as they\n"
    "are, with a last column `fit`.\n";

static const char rest[] =
    "Examples:\n"
    "  $ printf 'dose,effect\\n1,0.2\\n2,0.1\\n3,0.7\\n' > seen.csv\n"
    "  $ isohull fit seen.csv --x dose --y effect -o curve.csv\n"
    "  $ printf 'dose\\n1.5\\n2.5\\n9\\n' > new.csv\n"
    "  $ isohull predict curve.csv new.csv --x dose -o out.csv --out-of-range clip\n\n"
    "Exit codes: 0 good; 2 wrong command line, unreadable or invalid input (a cell is named by line and column), a point out of\n"
    "range with --out-of-range error, or an output that cannot be written; 130 interrupted. The output appears whole or not at all.\n";

static int read_outside(const char *text, curve_outside *outside)
{
    static const char *const words[] = { "nan", "clip", "error" };
    static const curve_outside values[] = { CURVE_OUTSIDE_NAN, CURVE_OUTSIDE_CLIP, CURVE_OUTSIDE_ERROR };

    for (int k = 0; k < 3; ++k)
        if (strcmp(text, words[k]) == 0) {
            *outside = values[k];
            return ARGS_GO_ON;
        }
    return say_bad("option --out-of-range: '%s' is none of clip, nan, error", text);
}

static int predict(const predict_request *request, const char *out)
{
    outputs        files;
    FILE          *stream = NULL;
    predict_report report = { 0, 0 };
    fault          f;
    fault_kind     kind;

    fault_clear(&f);
    outputs_init(&files);
    kind = outputs_add(&files, out, &stream, &f);
    if (!kind) kind = curve_predict(request, stream, &report, &f);
    if (!kind) kind = outputs_commit(&files, &f);
    outputs_discard(&files);
    if (kind) {
        say("%s", f.message);
        return f.exit_code;
    }
    say("%s: %" PRId64 " rows, of which %" PRId64 " out of range", out, report.rows, report.outside);
    return EXIT_GOOD;
}

int cmd_predict(int argc, char **argv)
{
    predict_request  request = { .outside = CURVE_OUTSIDE_NAN };
    const char      *operands[2], *x = NULL, *by = NULL, *out = NULL, *outside = NULL;
    const arg_option options[] = {
        { "--x", "COL", "Column of x in the data; a cell that is empty or NA is an error. Required.", &x },
        { "--by", "COL", "Column of groups in the data, for curves fitted with --by. Default: one curve.", &by },
        { "-o", "FILE", "Where the result goes, .csv. Required.", &out },
        { "--out-of-range", "clip|nan|error", "What an x outside its curve gives: the fit at the nearest end, nan, or an error. A group without a curve is\n"
                                              "out of range, and has no nearest end: it gives nan under clip too. Default: nan.", &outside },
    };
    const arg_page page = { "isohull predict CURVE.csv DATA.csv --x COL [--by COL] -o OUT.csv [options]", about, options,
                            sizeof options / sizeof options[0], rest };
    int n_operands, code;

    code = args_read(&page, argc, argv, operands, 2, &n_operands);
    if (code == ARGS_GO_ON && n_operands < 2) code = say_bad("needs a curve and data (%s --help shows the usage)", say_name);
    if (code == ARGS_GO_ON && !x) code = say_bad("needs --x COL");
    if (code == ARGS_GO_ON && !out) code = say_bad("needs -o FILE");
    if (code == ARGS_GO_ON) code = args_output("-o", out, ".csv");
    if (code == ARGS_GO_ON && outside) code = read_outside(outside, &request.outside);
    if (code != ARGS_GO_ON) return code;
    request.curve_path = operands[0];
    request.data_path  = operands[1];
    request.x          = x;
    request.by         = by;
    return predict(&request, out);
}
