/* SPDX-License-Identifier: Apache-2.0
 * gradients.c: watched backward passes and their comparison. */
#include "gradients.h"

#include "call.h"
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct backward { guarded grad[2]; } backward; /* in y, in w */

static const char *const names[2] = { "grad_y", "grad_w" };

/* which: bit k asks for grad[k] */
static outcome run(const ih_impl *impl, const ih_problem *p, const ih_options *o, const fit_result *fit, const void *g, int which, backward *to, verdict *v)
{
    const size_t bytes     = (size_t)problem_elements(p) * problem_item(p);
    size_t       ws_bytes  = 0;
    guarded      ws        = { 0 };
    outcome      result    = PASSED;
    ih_gradient  gradient;
    ih_status    status;

    ih_gradient_init(&gradient);
    gradient.block_offsets = fit->out.block_offsets;
    gradient.block_starts  = fit->out.block_starts;
    gradient.g             = g;
    for (int k = 0; k < 2; ++k) guarded_open(&to->grad[k], bytes, 0x3d);
    if (which & 1) gradient.grad_y = to->grad[0].at;
    if (which & 2) gradient.grad_w = to->grad[1].at;
    status = ih_backward_workspace_bytes(impl, p, o, &gradient, &ws_bytes);
    guarded_open(&ws, ws_bytes, 0xb4);
    if (status == IH_OK) status = call_backward(impl, p, o, &gradient, ws_bytes ? ws.at : NULL, ws_bytes);
    if (status == IH_EUNSUPPORTED) {
        result = SKIPPED;
    } else if (status != IH_OK) {
        ih_error e = { .size = sizeof e };
        ih_last_error(&e);
        snprintf(v->text, sizeof v->text, "backward: %s", e.message);
        result = FAILED;
    } else if (!guarded_intact(&ws)) {
        snprintf(v->text, sizeof v->text, "backward wrote outside its workspace of %zu bytes", ws_bytes);
        result = FAILED;
    }
    for (int k = 0; k < 2 && result == PASSED; ++k)
        if (!guarded_intact(&to->grad[k]) || (!(which & 1 << k) && !guarded_untouched(&to->grad[k]))) {
            snprintf(v->text, sizeof v->text, "backward wrote %s where it must not", names[k]);
            result = FAILED;
        }
    guarded_close(&ws);
    return result;
}

static void discard(backward *b)
{
    guarded_close(&b->grad[0]);
    guarded_close(&b->grad[1]);
}

static int equal(const ih_problem *p, const backward *expected, const backward *got, int which, verdict *v)
{
    const size_t item = problem_item(p);

    for (int k = 0; k < 2; ++k)
        for (int64_t i = 0; (which & 1 << k) && i < problem_elements(p); ++i)
            if (memcmp(expected->grad[k].at + (size_t)i * item, got->grad[k].at + (size_t)i * item, item) != 0) {
                snprintf(v->text, sizeof v->text, "%s at flattened index %" PRId64 " is %a instead of %a", names[k], i,
                         problem_value(p, got->grad[k].at, i), problem_value(p, expected->grad[k].at, i));
                return 0;
            }
    return 1;
}

/* Of a device other sums than the referee's are allowed: both are within the tolerance of isohull.h, and zeros are zeros where the
 * bounds clip. */
static int close_enough(const ih_problem *p, const fit_result *fit, const backward *expected, const backward *got, int which, verdict *v)
{
    const double tolerance = p->dtype == IH_F32 ? 0x1p-19 : 0x1p-43, least = p->dtype == IH_F32 ? 0x1p-149 : 0x1p-1074;

    for (int k = 0; k < 2; ++k)
        for (int64_t row = 0; (which & 1 << k) && row < p->rows; ++row) {
            const int64_t begin = problem_row_begin(p, row), end = begin + problem_row_length(p, row);
            double        largest = 0;
            for (int64_t i = begin; i < end; ++i) largest = fmax(largest, fabs(problem_value(p, expected->grad[k].at, i)));
            for (int64_t i = begin; i < end; ++i) {
                const double e = problem_value(p, expected->grad[k].at, i), g = problem_value(p, got->grad[k].at, i);
                if (e == g || (largest > 0 && fabs(e - g) <= tolerance * largest + 2 * least)) continue;
                snprintf(v->text, sizeof v->text, "%s at row %" PRId64 ", index %" PRId64 " is %a instead of %a, and the row's largest is %a", names[k], row,
                         i - begin, g, e, largest);
                return 0;
            }
            for (int64_t b = fit->out.block_offsets[row]; b < fit->out.block_offsets[row + 1]; ++b) {
                const int64_t from = fit->out.block_starts[b], to = b + 1 < fit->out.block_offsets[row + 1] ? fit->out.block_starts[b + 1] : end;
                if (!(fit->out.block_means[b] < p->y_min || fit->out.block_means[b] > p->y_max)) continue;
                for (int64_t i = from; i < to; ++i)
                    if (problem_value(p, got->grad[k].at, i) != 0) {
                        snprintf(v->text, sizeof v->text, "%s at row %" PRId64 ", index %" PRId64 " is not 0, though the bounds clip it", names[k], row, i - begin);
                        return 0;
                    }
            }
        }
    return 1;
}

/* Zeros in part, and values as nasty as those of y. */
static void *random_g(const ih_problem *p, uint64_t seed)
{
    const int64_t total = problem_elements(p);
    const size_t  item  = problem_item(p);
    rng           r     = rng_seeded(seed);
    char         *g     = malloc((size_t)total * item + 1);

    random_values(&r, p->dtype, total, g);
    if (rng_one_in(&r, 2))
        for (int64_t i = 0; i < total; ++i)
            if (!rng_one_in(&r, 5)) memset(g + (size_t)i * item, 0, item);
    return g;
}

outcome gradient_check(const ih_impl *impl, const ih_problem *p, const ih_options *o, const fit_result *fit, uint64_t seed, verdict *v)
{
    backward expected = { 0 };
    outcome  result;
    void    *g;

    if (!(impl->features & IH_HAS_GRADIENT) || !(referee()->features & IH_HAS_GRADIENT)) return SKIPPED;
    g      = random_g(p, seed);
    result = run(referee(), p, one_thread(), fit, g, 3, &expected, v);
    for (int which = 1; which <= 3 && result == PASSED; ++which) {
        backward got = { 0 };
        result = run(impl, p, o, fit, g, which, &got, v);
        if (!on_device(impl)) {
            if (result == PASSED && !equal(p, &expected, &got, which, v)) result = FAILED;
        } else if (result == PASSED) { /* near the referee, and the same bits every time; what is asked for may choose the way to sum */
            backward again = { 0 };
            if (!close_enough(p, fit, &expected, &got, which, v)) result = FAILED;
            else result = run(impl, p, o, fit, g, which, &again, v);
            if (result == PASSED && !equal(p, &got, &again, which, v)) result = FAILED;
            discard(&again);
        }
        discard(&got);
    }
    discard(&expected);
    free(g);
    return result;
}
