/* SPDX-License-Identifier: Apache-2.0
 * cmd_gen.c: isohull gen, the data of a problem string as .npy files. */
#include "args.h"
#include "commands.h"
#include "problem_load.h"
#include "say.h"

#include "io/npy.h"
#include "io/outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Writes the data of a problem: family[:f32|f64][:key=value]..., the keys in any order. The same problem has the same bits\n"
    "on every machine. Prints the problem in its canonical order (on standard error if a file goes to standard output).\n\n"
    "Keys of every problem\n"
    "  f32, f64   float32 (default) or float64\n"
    "  n          elements of a row; required; 1e7 may be written for 10000000\n"
    "  rows       number of rows; default 1\n"
    "  seed       whole number from 0; default 0\n"
    "  w          weights: unit (default), uniform, extreme, ...\n"
    "  ragged     law of the row lengths, n being the nominal one; default none: rows of equal length\n"
    "  dec, min, max\n"
    "             belong to the name of the problem, not to its data: repeat them to fit as --decreasing, --min, --max\n"
    "Further keys are the parameters of the family. 'isohull list' lists families, their parameters, weightings and laws.\n"
    "file:PATH[:f32|f64][:key=value]... takes the data of a file instead (.npy, .f32, .f64, .raw, .bin; the first column of .csv,\n"
    ".txt), with ':' and '%' in the path written %3A and %25; keys w, weights=PATH, offsets=PATH, dec, min, max.\n";

static const char rest[] =
    "One row gives a 1-D file, several a 2-D one, ragged rows a flat 1-D file. All files appear whole or not at all.\n\n"
    "Examples:\n"
    "  $ isohull gen noise:n=1e5 -o y.npy\n"
    "  $ isohull gen trend:f64:slope=0.01:w=extreme:n=1000:rows=20:seed=7 -o y.npy --weights-out w.npy\n"
    "  $ isohull gen labels:ragged=geometric:n=100:rows=50 -o y.npy --offsets-out o.npy\n"
    "  $ isohull fit y.npy --offsets o.npy -o z.npy\n"
    "  $ printf '3.5\\n1.5\\n2\\n' > data.csv\n"
    "  $ isohull gen file:data.csv:w=uniform -o y.npy --weights-out w.npy\n\n"
    "Exit codes: 0 good; 2 wrong command line, a problem that does not exist (an unknown key among them), no memory for it, or a\n"
    "file that cannot be written; 130 interrupted.\n";

typedef struct targets { const char *y, *w, *offsets; } targets;

static fault_kind generate(const ih_spec *s, const targets *to, outputs *files, fault *f)
{
    problem_arrays a;
    FILE          *y_file = NULL, *w_file = NULL, *offsets_file = NULL;
    fault_kind     kind = outputs_add(files, to->y, &y_file, f); /* before the work, so that a wrong path costs no wait */

    if (!kind && to->w) kind = outputs_add(files, to->w, &w_file, f);
    if (!kind && to->offsets) kind = outputs_add(files, to->offsets, &offsets_file, f);
    if (kind) return kind;
    kind = problem_load(s, to->w != NULL, &a, f);
    if (!kind) kind = npy_write(y_file, to->y, a.y.type, a.y.dimensions, a.y.shape, a.y.data, f);
    if (!kind && to->w) kind = npy_write(w_file, to->w, a.w.type, a.w.dimensions, a.w.shape, a.w.data, f);
    if (!kind && to->offsets) kind = npy_write(offsets_file, to->offsets, ARRAY_I64, 1, a.offsets.shape, a.offsets.data, f);
    if (!kind) kind = outputs_commit(files, f);
    problem_arrays_free(&a);
    return kind;
}

static bool is_ragged(const ih_spec *s) { return s->ragged != IH_RAGGED_none || s->offsets[0]; }

static int check(const ih_spec *s, const targets *to)
{
    if (to->offsets && !is_ragged(s)) return say_bad("--offsets-out goes with ragged rows (ragged=..., or offsets=... of a file)");
    if (to->w && strcmp(to->w, to->y) == 0) return say_bad("two outputs have the same name: %s", to->w);
    if (to->offsets && (strcmp(to->offsets, to->y) == 0 || (to->w && strcmp(to->offsets, to->w) == 0)))
        return say_bad("two outputs have the same name: %s", to->offsets);
    return ARGS_GO_ON;
}

int cmd_gen(int argc, char **argv)
{
    targets          to      = { NULL, NULL, NULL };
    const char      *problem = NULL;
    const arg_option options[] = {
        { "-o", "FILE", "Where y goes, .npy. Required.", &to.y },
        { "--weights-out", "FILE", "Where the weights go, .npy of the shape of y; ones for w=unit. Default: not written.", &to.w },
        { "--offsets-out", "FILE", "Where the row offsets of ragged rows go, .npy, rows + 1 of int64. Default: not written.", &to.offsets },
    };
    const arg_page page = { "isohull gen PROBLEM -o Y.npy [--weights-out W.npy] [--offsets-out O.npy]", about, options,
                            sizeof options / sizeof options[0], rest };
    char       message[IH_SPEC_MESSAGE], *canonical;
    ih_spec   *s;
    outputs    files;
    fault      f;
    fault_kind kind;
    int        n_operands, code;

    code = args_read(&page, argc, argv, &problem, 1, &n_operands);
    if (code == ARGS_GO_ON && !problem) code = say_bad("which problem? (%s --help shows what there is)", say_name);
    if (code == ARGS_GO_ON && !to.y) code = say_bad("needs -o FILE");
    if (code == ARGS_GO_ON) code = args_output("-o", to.y, ".npy");
    if (code == ARGS_GO_ON) code = args_output("--weights-out", to.w, ".npy");
    if (code != ARGS_GO_ON) return code;

    s         = malloc(sizeof *s);
    canonical = malloc(4 * IH_SPEC_PATH);
    if (!s || !canonical) code = say_bad("memory ran out");
    else if (ih_spec_parse(s, problem, message, sizeof message) != 0) code = say_bad("%s", message);
    else code = check(s, &to);
    if (code == ARGS_GO_ON) {
        fault_clear(&f);
        outputs_init(&files);
        kind = generate(s, &to, &files, &f);
        outputs_discard(&files);
        ih_spec_format(s, canonical, 4 * IH_SPEC_PATH);
        if (kind) {
            say("%s", f.message);
            code = f.exit_code;
        } else {
            if (outputs_is_stdout(to.y) || outputs_is_stdout(to.w) || outputs_is_stdout(to.offsets)) say("%s", canonical);
            else puts(canonical);
            if (is_ragged(s) && !to.offsets) say("the rows of %s cannot be told apart without their offsets (--offsets-out)", to.y);
            code = EXIT_GOOD;
        }
    }
    free(canonical);
    free(s);
    return code;
}
