/* SPDX-License-Identifier: Apache-2.0
 * check_gradient.c: gradients in y and w of a case, within its tolerance, and the zeros that must be exact. */
#include "cases.h"
#include "call.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Elements whose gradient must be exactly 0: those that the bounds clip, and blocks in which g is all zero. */
static unsigned char *exact_zeros(const test_case *c, const fit_result *fit, const double *g)
{
    const ih_outputs *out   = &fit->out;
    unsigned char    *zeros = calloc((size_t)problem_elements(&c->problem) + 1, 1);

    for (int64_t row = 0; row < c->shape.rows; ++row)
        for (int64_t b = out->block_offsets[row]; b < out->block_offsets[row + 1]; ++b) {
            const int64_t end   = b + 1 < out->block_offsets[row + 1] ? out->block_starts[b + 1] : (row + 1) * c->shape.n;
            int           quiet = out->block_means[b] < c->problem.y_min || out->block_means[b] > c->problem.y_max;
            int           any   = 0;
            for (int64_t i = out->block_starts[b]; i < end; ++i) any |= g[i] != 0;
            quiet |= !any;
            for (int64_t i = out->block_starts[b]; i < end; ++i) zeros[i] = (unsigned char)quiet;
        }
    return zeros;
}

static void compare(report *r, const test_case *c, const char *name, const guarded *got, const double *g, const unsigned char *zeros)
{
    const double tolerance = number_of(case_expected(c, "grad_tol"));
    double      *expected  = numbers_of(case_expected(c, name), c->shape, IH_F64, g);

    for (int64_t row = 0; expected && row < c->shape.rows; ++row) {
        double largest = 0;
        for (int64_t i = row * c->shape.n; i < (row + 1) * c->shape.n; ++i) largest = fmax(largest, fabs(expected[i]));
        for (int64_t i = row * c->shape.n; i < (row + 1) * c->shape.n; ++i) {
            const double value = problem_value(&c->problem, got->at, i);
            if (fabs(value - expected[i]) <= tolerance * largest && !(zeros[i] && value != 0)) continue;
            case_fail(r, "%s at row %" PRId64 ", index %" PRId64 " is %a instead of %a", name, row, i - row * c->shape.n, value, expected[i]);
            row = c->shape.rows;
            break;
        }
    }
    free(expected);
}

void check_gradient(report *r, const test_case *c, const fit_result *fit)
{
    const size_t   bytes = (size_t)problem_elements(&c->problem) * problem_item(&c->problem);
    double        *g     = numbers_of(case_field(c, "g"), c->shape, c->dtype, c->y);
    void          *typed = typed_copy(g, c->shape.rows * c->shape.n, c->dtype);
    unsigned char *zeros = exact_zeros(c, fit, g);
    guarded        grad_y, grad_w;
    ih_gradient    gradient;

    guarded_open(&grad_y, bytes, 0xee);
    guarded_open(&grad_w, bytes, 0xee);
    ih_gradient_init(&gradient);
    gradient.block_offsets = fit->out.block_offsets;
    gradient.block_starts  = fit->out.block_starts;
    gradient.g             = typed;
    gradient.grad_y        = grad_y.at;
    gradient.grad_w        = grad_w.at;
    if (!(r->impl->features & IH_HAS_GRADIENT)) {
        case_skip(r, "%s has no gradient", r->impl->name);
    } else if (call_backward(r->impl, &c->problem, NULL, &gradient, NULL, 0) != IH_OK) {
        ih_error e = { .size = sizeof e };
        ih_last_error(&e);
        case_fail(r, "ih_backward: %s", e.message);
    } else {
        compare(r, c, "grad_y", &grad_y, g, zeros);
        compare(r, c, "grad_w", &grad_w, g, zeros);
        if (!guarded_intact(&grad_y) || !guarded_intact(&grad_w)) case_fail(r, "a gradient was written outside its array");
    }
    guarded_close(&grad_y);
    guarded_close(&grad_w);
    free(zeros);
    free(typed);
    free(g);
}
