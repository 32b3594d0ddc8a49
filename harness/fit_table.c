/* SPDX-License-Identifier: Apache-2.0
 * fit_table.c: isohull fit data.csv: the curve of y on x, one per group. */
#include "curve.h"
#include "fit.h"
#include "say.h"

#include "io/outputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void say_what_was_done(const fit_request *request, const curve_data *data, const fit_run *run)
{
    if (request->skip_missing)
        say("%s: %" PRId64 " row%s left out (empty or NA cells)", request->input, data->skipped, data->skipped == 1 ? "" : "s");
    if (!request->json && request->by)
        say("%s: %" PRId64 " observations in %" PRId64 " group%s, by %s", request->out, run->elements, data->groups,
            data->groups == 1 ? "" : "s", request->solver_text);
    else if (!request->json)
        say("%s: %" PRId64 " observations, by %s", request->out, run->elements, request->solver_text);
}

int fit_table(const fit_request *request)
{
    const curve_columns columns = { .x = request->x, .y = request->y, .w = request->w, .by = request->by };
    curve_data          data;
    outputs             files;
    FILE               *curve = NULL;
    fit_run             run   = { .elements = 0 };
    fault               f;
    fault_kind          kind;
    int                 code = EXIT_GOOD;

    fault_clear(&f);
    outputs_init(&files);
    ih_problem_init(&run.problem);
    kind = curve_read(request->input, &columns, request->decreasing ? IH_DECREASING : IH_INCREASING, request->skip_missing != NULL, &data, &f);
    if (!kind && request->out) kind = outputs_add(&files, request->out, &curve, &f);
    if (!kind) {
        curve_problem(&data, &run.problem);
        fit_run_set(&run, request);
        kind = fit_run_call(&run, request, 0, &f);
    }
    if (!kind && curve) kind = curve_write(&data, run.outputs.z, curve, &f);
    if (!kind) kind = outputs_commit(&files, &f);
    if (kind) {
        say("%s%s", f.message, kind == FAULT_MISSING ? " (--skip-missing leaves such rows out)" : "");
        code = f.exit_code;
    } else {
        const fit_extra extra[] = { { "groups", data.groups }, { "skipped", data.skipped }, { NULL, 0 } };
        say_what_was_done(request, &data, &run);
        if (request->json) code = fit_run_print(&run, request, extra);
    }
    outputs_discard(&files);
    fit_run_free(&run);
    curve_free(&data);
    return code;
}
