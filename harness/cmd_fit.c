/* SPDX-License-Identifier: Apache-2.0
 * cmd_fit.c: the command line of isohull fit. */
#include "args.h"
#include "commands.h"
#include "device.h"
#include "fit.h"
#include "say.h"

#include "io/outputs.h"

#include <isohull.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Fits every row of y: the non-decreasing sequence z with the least sum of w (z - y)^2. Fits are canonical: the exact\n"
    "solution, rounded once, so z has the same bits from every implementation and at any number of threads.\n\n"
    "y.npy has one dimension (one row) or two (a row per row), of type float32 or float64; integers become float64. A name\n"
    "that ends in .csv is a table, from which curves are fitted: y as a function of x, in a curve for each group.\n";

static const char rest[] =
    "Files\n"
    "  z.npy has the type and shape of y, little-endian, in C order; so have gradients. An exact zero is +0; a negative mean\n"
    "  that underflows is -0. curve.csv has the columns GROUP (only with --by, under its own name), x, fit, weight: one line per\n"
    "  distinct x, ascending; equal x are pooled exactly. All files appear whole or not at all.\n\n"
    "The JSON object\n"
    "  impl, device, threads (used at most), dtype, rows, n (elements in all), blocks (in all), digest, ms, workspace_bytes,\n"
    "  calls (timed), weights (true or false), cpu, version; on a GPU also gpu (its name); from a table also groups, skipped\n"
    "  (rows left out).\n"
    "  ms       milliseconds on a monotonic clock (GPU: between events on its stream, without the copies to and from it): the\n"
    "           median of at least three calls of the solver after one to warm up, with the workspace allocated before; no\n"
    "           files, no digest. The library's own search for bad values in y and w is\n"
    "           inside; blocks are computed in the timed calls only if --blocks or --grad asks for them.\n"
    "  digest   of the fit, the same wherever the fit is the same: XXH3-64, seed 0, of z as little-endian numbers with -0 as +0,\n"
    "           then the block starts as int64; 16 hexadecimal digits. Of a table: of the fit to each observation used, by\n"
    "           group, then x.\n\n"
    "Bad values (NaN, infinities, weights that are not positive) end with exit code 2, name row and index (from 0, the index\n"
    "within its row; in a table the line, from 1, and the column), and nothing is written.\n\n"
    "Examples, one row, with weights:\n"
    "  $ isohull gen noise:f64:n=1000:w=uniform -o y.npy --weights-out w.npy\n"
    "  $ isohull fit y.npy --weights w.npy -o z.npy --blocks b.npy\n"
    "  $ isohull fit y.npy --decreasing --min -3 --max inf --json\n"
    "Many rows at once, a named implementation:\n"
    "  $ isohull gen random_walk:rows=50:n=200 -o rows.npy\n"
    "  $ isohull fit rows.npy --impl cpu_exact --threads 1 -o rows_fit.npy --json\n"
    "The gradient of a loss through the fit, from its gradient g in z:\n"
    "  $ isohull gen noise:f64:n=1000:seed=2 -o g.npy\n"
    "  $ isohull fit y.npy --weights w.npy -o z.npy --grad g.npy --grad-y gy.npy --grad-w gw.npy\n"
    "A calibration curve per model from a table, and its values at other points:\n"
    "  $ printf 'model,score,hit\\na,0.1,0\\na,0.7,1\\na,0.4,1\\nb,0.3,0\\na,0.4,0\\nb,0.9,1\\n' > data.csv\n"
    "  $ isohull fit data.csv --x score --y hit --by model -o curve.csv\n"
    "  $ isohull predict curve.csv data.csv --x score --by model -o fitted.csv\n\n"
    "Exit codes: 0 good; 2 wrong command line, unreadable or invalid input, an output that cannot be written, something that\n"
    "the implementation cannot do, or memory that ran out, here or on the GPU (the message says what); 77 the device is not there; 130 interrupted.\n";

static const char *default_name(void)
{
    const ih_impl *impl = ih_impl_default(IH_DEVICE_CPU);
    return impl ? impl->name : "none in this build";
}

/* Options that do not go together with the kind of input. */
static int check_kind(const fit_request *q, int is_table)
{
    const struct { const char *name, *text; int of_table; } options[] = {
        { "--weights", q->weights, 0 }, { "--offsets", q->offsets, 0 }, { "--blocks", q->blocks, 0 }, { "--grad", q->grad, 0 },
        { "--grad-y", q->grad_y, 0 }, { "--grad-w", q->grad_w, 0 }, { "--x", q->x, 1 }, { "--y", q->y, 1 }, { "--w", q->w, 1 },
        { "--by", q->by, 1 }, { "--skip-missing", q->skip_missing, 1 },
    };

    for (size_t k = 0; k < sizeof options / sizeof options[0]; ++k)
        if (options[k].text && options[k].of_table != is_table)
            return say_bad("option %s goes with %s input, but %s is %s", options[k].name, options[k].of_table ? ".csv" : "array", q->input,
                           is_table ? "a table" : "an array");
    if (is_table && (!q->x || !q->y)) return say_bad("a table needs --x COL and --y COL");
    if (!q->out && !q->json) return say_bad("nowhere to put the fit: give -o FILE, or --json");
    if (!q->grad && (q->grad_y || q->grad_w)) return say_bad("--grad-y and --grad-w need --grad FILE, the gradient in z");
    if (q->grad && !q->grad_y && !q->grad_w) return say_bad("--grad needs --grad-y FILE or --grad-w FILE for what comes of it");
    return ARGS_GO_ON;
}

/* Two outputs of one name would overwrite each other; a table under the name of an array would mislead its next reader. */
static int check_outputs(const fit_request *q)
{
    const char *const paths[] = { q->out, q->blocks, q->grad_y, q->grad_w };

    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < i; ++k)
            if (paths[i] && paths[k] && strcmp(paths[i], paths[k]) == 0 && strncmp(paths[i], "/dev/", 5) != 0)
                return say_bad("two outputs have the same name: %s", paths[i]);
    for (int i = 0; i < 4; ++i)
        if (q->json && outputs_is_stdout(paths[i])) return say_bad("--json and %s would mix on standard output", paths[i]);
    return args_output("-o", q->out, args_ends_with(q->input, ".csv") ? ".csv" : ".npy");
}

static int check_bounds(const fit_request *q)
{
    double low = 0, high = 0;
    int    code = ARGS_GO_ON;

    if (q->min) code = args_number("--min", q->min, &low);
    if (code == ARGS_GO_ON && q->max) code = args_number("--max", q->max, &high);
    if (code == ARGS_GO_ON && q->min && q->max && low > high) return say_bad("--min %s is above --max %s", q->min, q->max);
    return code;
}

static int unknown_solver(const char *text)
{
    enum { MOST = 64 };
    const char  *names[MOST], *near;
    char         word[64];
    ih_error     error = { .size = sizeof error };
    int          count = 0;

    ih_last_error(&error);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":"), text);
    if (ih_impl_find(word)) return say_bad("option --impl: %s", error.message);
    for (int32_t k = 0; k < ih_impl_count() && count < MOST; ++k) names[count++] = ih_impl_at(k)->name;
    near = say_nearest(word, names, count);
    if (near) return say_bad("option --impl: %s: did you mean %s? (isohull list lists all)", error.message, near);
    return say_bad("option --impl: %s (isohull list lists all)", error.message);
}

/* --impl, --device and --threads; the device's absence is the last of the faults looked for. */
static int choose_solver(fit_request *q)
{
    ih_device on     = IH_DEVICE_CPU;
    int64_t   number = 0;
    int       code;

    ih_options_init(&q->options);
    q->ordinal = q->device ? device_number(q->device) : -1;
    if (q->impl && ih_impl_parse(q->impl, &q->solver, &q->options) != IH_OK) return unknown_solver(q->impl);
    if (q->ordinal >= 0) {
        on = IH_DEVICE_CUDA;
    } else if (q->device && strcmp(q->device, "cpu") != 0) {
        return say_bad("option --device: '%s' is neither cpu nor cuda:N (N from 0 to 1023)", q->device);
    } else if (!q->device && q->solver) {
        on = q->solver->device;
        if (on == IH_DEVICE_CUDA) q->ordinal = 0;
    }
    if (q->solver && q->solver->device != on)
        return say_bad("%s runs on the %s, not on %s", q->solver->name, q->solver->device == IH_DEVICE_CUDA ? "GPU" : "CPU", q->device);
    if (q->threads) {
        if (q->options.threads) return say_bad("threads are given twice, by --impl and by --threads");
        code = args_count("--threads", q->threads, 1, 4096, &number);
        if (code != ARGS_GO_ON) return code;
    }
    if (!q->solver) q->solver = ih_impl_default(on);
    if (!q->solver && on == IH_DEVICE_CUDA) {
        say("no device %s: this build has no CUDA implementation (isohull doctor says more)", q->device);
        return EXIT_NO_DEVICE;
    }
    if (!q->solver) return say_bad("this build has no default implementation: name one with --impl");
    ih_impl_format(q->solver, &q->options, q->solver_text, sizeof q->solver_text);
    if (q->threads) q->options.threads = (int32_t)number;
    if (q->grad && !(q->solver->features & IH_HAS_GRADIENT)) return say_bad("%s has no gradient", q->solver->name);
    return ARGS_GO_ON;
}

int cmd_fit(int argc, char **argv)
{
    fit_request q = { .input = NULL };
    char        impl_help[256];
    int         n_operands, code;

    const arg_option options[] = {
        { "-o", "FILE", "Where the fit goes: .npy for an array, .csv for a table. Required unless --json is given.", &q.out },
        { "--decreasing", NULL, "Non-increasing fits. Default: non-decreasing.", &q.decreasing },
        { "--min", "A", "Lower bound, in units of y: the finished fit is clipped to it (A rounded to the type of y). Default: none.", &q.min },
        { "--max", "B", "Upper bound likewise. Bounds may be infinite (inf, -inf). Default: none.", &q.max },
        { "--impl", "NAME[:option=value...]", impl_help, &q.impl },
        { "--device", "cpu|cuda:N", "Where to fit. Default: cpu, or where --impl runs.", &q.device },
        { "--threads", "N", "Use at most N threads, N >= 1. Default: as many as processors may be used.", &q.threads },
        { "--json", NULL, "Print one JSON object about the fit, and time it; see below. -o is then optional.", &q.json },
        { "--weights", "FILE", "(array) .npy of weights, positive, with the shape of y. Default: weights of 1.", &q.weights },
        { "--offsets", "FILE", "(array) .npy of integers, rows + 1 of them, from 0, never falling, to the length of a 1-D y:\n"
                               "row r is y[offsets[r]] ... y[offsets[r + 1] - 1]. Rows may be empty.", &q.offsets },
        { "--blocks", "FILE", "(array) Write .npy, 1-D int64: the first element of every maximal run of equal exact fit, as an\n"
                              "index into the flattened y, rows in order, before the bounds.", &q.blocks },
        { "--grad", "FILE", "(array) .npy with the shape of y: gradient of a loss in z, for --grad-y and --grad-w.", &q.grad },
        { "--grad-y", "FILE", "(array) Write .npy: the gradient in y. Elements strictly outside the bounds pass 0.", &q.grad_y },
        { "--grad-w", "FILE", "(array) Write .npy: the gradient in the weights; without --weights, at weights of 1.", &q.grad_w },
        { "--x", "COL", "(table) Column of x. Required.", &q.x },
        { "--y", "COL", "(table) Column of y. Required.", &q.y },
        { "--w", "COL", "(table) Column of weights, positive. Default: weights of 1.", &q.w },
        { "--by", "COL", "(table) Column of groups, each of which gets its own curve. Default: one curve.", &q.by },
        { "--skip-missing", NULL, "(table) Leave out rows in which a used cell is empty or NA, and say how many. Default: an error.", &q.skip_missing },
    };
    const arg_page page = {
        "isohull fit Y.npy -o Z.npy [options]\n"
        "       isohull fit DATA.csv --x COL --y COL -o CURVE.csv [options]",
        about, options, sizeof options / sizeof options[0], rest,
    };

    snprintf(impl_help, sizeof impl_help,
             "Which implementation, with options such as cpu_hulls:chunk=4096 ('isohull list' lists both).\nDefault: %s.", default_name());
    code = args_read(&page, argc, argv, &q.input, 1, &n_operands);
    if (code == ARGS_GO_ON && n_operands == 0) code = say_bad("which file? (%s --help shows the usage)", say_name);
    if (code == ARGS_GO_ON) code = check_kind(&q, args_ends_with(q.input, ".csv"));
    if (code == ARGS_GO_ON) code = check_outputs(&q);
    if (code == ARGS_GO_ON) code = check_bounds(&q);
    if (code == ARGS_GO_ON) code = choose_solver(&q);
    if (code != ARGS_GO_ON) return code;
    return args_ends_with(q.input, ".csv") ? fit_table(&q) : fit_arrays(&q);
}
