/* SPDX-License-Identifier: Apache-2.0
 * test_accuracy.c: the measures of accuracy on wrong fits whose measures are known exactly, and on canonical and
 * perturbed fits of every family. */
#include "bench/accuracy.h"
#include "datasets/generate.h"
#include "support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static accuracy measure(const ih_problem *p, const void *z, const int64_t *offsets, const int64_t *starts)
{
    exact_fit  e;
    accuracy   a;
    fault      f;
    fault_kind kind = exact_fit_make(p, &e, &f);
    assert_fault(FAULT_NONE, kind, f);
    accuracy_measure(p, &e, z, offsets, starts, &a);
    exact_fit_free(&e);
    return a;
}

static ih_problem row_of(ih_dtype dtype, int64_t n, const void *y, const void *w)
{
    ih_problem p;
    ih_problem_init(&p);
    p.dtype = dtype;
    p.rows  = 1;
    p.n     = n;
    p.y     = y;
    p.w     = w;
    return p;
}

/* y = 3 1 2 has the fit 2 2 2 with objective 2. */
static void test_known(void **state)
{
    const double     y[] = { 3, 1, 2 }, split[] = { 1.5, 2, 2.5 }, down[] = { 2, 2, 1 };
    const int64_t    offsets[] = { 0, 3 }, starts[] = { 0, 1, 2 };
    const ih_problem p = row_of(IH_F64, 3, y, NULL);
    accuracy         a = measure(&p, split, offsets, starts);

    (void)state;
    assert_int_equal(a.elements, 3);
    assert_int_equal(a.not_finite, 0);
    assert_int_equal(a.not_rounded, 2);
    assert_true(a.step_down == 0);
    assert_true(a.deviation == 0.5 / 3);
    assert_true(a.ulps == 0.5 / 0x1p-51);
    assert_true(a.objective_excess == 0.75); /* 3.5 against 2 */
    assert_true(a.kkt == 0.25);              /* lambda_1 = 3, over 12 */
    assert_int_equal(a.blocks, 3);
    assert_int_equal(a.blocks_exact, 1);
    assert_int_equal(a.missing, 0);
    assert_int_equal(a.extra, 2);
    assert_int_equal(a.coinciding, 0);
    assert_false(accuracy_canonical(&a));

    a = measure(&p, down, NULL, NULL);
    assert_true(a.step_down == 1.0 / 3);
    assert_true(a.objective_excess == 0.5); /* 1 + 1 + 1 against 2 */
    assert_true(a.kkt == 1.0 / 6);          /* lambda_3 = 2: it ends too low */
    assert_int_equal(a.blocks, -1);
    assert_int_equal(a.missing, -1);
    assert_int_equal(a.extra, -1);
}

static void test_decreasing_weighted(void **state)
{
    const float   y[] = { 1, 2, 3 }, w[] = { 1, 1, 0.5f }; /* one block, mean 1.8 */
    const float   z[] = { 2.5f, 2, 1.5f };
    ih_problem    p   = row_of(IH_F32, 3, y, w);
    accuracy      a;

    (void)state;
    p.direction = IH_DECREASING;
    a           = measure(&p, z, NULL, NULL);
    assert_true(a.step_down == 0);
    assert_true(fabs(a.deviation - 0.7 / 2.8) < 1e-15);
    assert_true(fabs(a.ulps - 0.7 * 0x1p23) < 1e-6);
    /* objectives 1.4 = 0.64 + 0.04 + 0.72 and 3.375 = 2.25 + 0 + 1.125 */
    assert_true(fabs(a.objective_excess - (3.375 - 1.4) / 1.4) < 1e-15);
    /* running w (z - y): 1.5, 1.5, 0.75; over sum w|y| = 4.5 */
    assert_true(fabs(a.kkt - 1.5 / 4.5) < 1e-15);
}

/* A multiplier that is negative where nothing binds. */
static void test_kkt_sign(void **state)
{
    const double     y[] = { 0, 4 }, pooled[] = { 2, 2 };
    const ih_problem p = row_of(IH_F64, 2, y, NULL);
    const int64_t    offsets[] = { 0, 1 }, starts[] = { 0 };
    const accuracy   a = measure(&p, pooled, offsets, starts);

    (void)state;
    assert_true(a.kkt == 0.5); /* lambda_1 = -4 over 8 */
    assert_int_equal(a.missing, 1);
    assert_int_equal(a.extra, 0);
    assert_int_equal(a.coinciding, 1);
    assert_int_equal(a.coinciding_exact, 0);
    assert_true(a.objective_excess == 8 / (DBL_EPSILON * 16)); /* the exact objective is 0: relative to eps sum w y^2 */
}

/* Two blocks whose means 1 and 1 + 2^-25 round to the same float. */
static void test_coinciding(void **state)
{
    const float      y[] = { 1, 1 + 0x1p-23f, 1 - 0x1p-24f }, z[] = { 1, 1, 1 };
    const int64_t    offsets[] = { 0, 2 }, starts[] = { 0, 1 }, one[] = { 0, 1 };
    const ih_problem p = row_of(IH_F32, 3, y, NULL);
    accuracy         a = measure(&p, z, offsets, starts);

    (void)state;
    assert_true(accuracy_canonical(&a));
    assert_int_equal(a.blocks_exact, 2);
    assert_int_equal(a.coinciding, 1);
    assert_int_equal(a.coinciding_exact, 1);
    assert_true(a.ulps == 0.25);
    a = measure(&p, z, one, starts);
    assert_false(accuracy_canonical(&a));
    assert_int_equal(a.missing, 1);
    assert_int_equal(a.not_rounded, 0);
}

/* The unit in the last place is that of the exact mean: below a power of two it is half of that above. */
static void test_unit_below_power(void **state)
{
    const float      y[] = { 1, 1 - 0x1p-24f, 1 - 0x1p-24f }, z[] = { 1, 1, 1 }; /* mean 1 - (2/3) 2^-24 */
    const ih_problem p = row_of(IH_F32, 3, y, NULL);
    const accuracy   a = measure(&p, z, NULL, NULL);

    (void)state;
    assert_true(fabs(a.ulps - 2.0 / 3) < 1e-15);
    assert_int_equal(a.not_rounded, 3); /* the nearest float is 1 - 2^-24 */
}

static void test_bounds_rows_and_faults(void **state)
{
    const double  y[] = { 0, 10, 5, 1 }, z[] = { 0, 5, 3, 3 }, worse[] = { 0, 5, 3, 4 }, nan[] = { 0, 5, NAN, INFINITY };
    const int64_t offsets[] = { 0, 0, 2, 4 };
    ih_problem    p = row_of(IH_F64, 4, y, NULL);
    accuracy      a;
    json_t       *o;

    (void)state;
    p.rows    = 3;
    p.offsets = offsets;
    p.y_max   = 5;
    a         = measure(&p, z, NULL, NULL);
    assert_true(accuracy_canonical(&a));
    assert_true(a.deviation == 0 && a.ulps == 0 && a.objective_excess == 0 && a.step_down == 0);
    assert_true(a.kkt == -1); /* the conditions are others with bounds */
    a = measure(&p, worse, NULL, NULL);
    assert_int_equal(a.not_rounded, 1);
    assert_true(a.deviation == 0.25);
    assert_true(a.objective_excess == 5.0 / 8);
    a = measure(&p, nan, NULL, NULL);
    assert_int_equal(a.not_finite, 2);
    assert_false(accuracy_canonical(&a));
    o = accuracy_to_json(&a);
    assert_null(json_object_get(o, "deviation")); /* no NaN in a record */
    assert_null(json_object_get(o, "blocks"));
    assert_int_equal(json_integer_value(json_object_get(o, "not_finite")), 2);
    json_decref(o);
}

/* ---- fits of every family ---- */

typedef struct fitted { ih_data data; void *z; int64_t *offsets, *starts; } fitted;

static fitted fit(const char *text)
{
    ih_spec    s;
    fitted     t;
    ih_outputs out;
    char       message[IH_SPEC_MESSAGE];
    size_t     elements;

    assert_int_equal(ih_spec_parse(&s, text, message, sizeof message), 0);
    assert_int_equal(ih_data_generate(&t.data, &s, 1, message, sizeof message), 0);
    elements  = (size_t)ih_spec_elements(&s, NULL);
    t.z       = malloc(elements * 8 + 8);
    t.offsets = malloc(((size_t)s.rows + 1) * 8);
    t.starts  = malloc(elements * 8 + 8);
    ih_outputs_init(&out);
    out.z             = t.z;
    out.block_offsets = t.offsets;
    out.block_starts  = t.starts;
    assert_int_equal(ih_fit(NULL, &t.data.problem, NULL, &out, NULL, 0, NULL), IH_OK);
    return t;
}

static void fitted_free(fitted *t)
{
    ih_data_free(&t->data);
    free(t->z);
    free(t->offsets);
    free(t->starts);
}

/* Move an element up by one float; whether that changed it (not past the largest). */
static int step_up(ih_dtype dtype, void *z, int64_t i)
{
    if (dtype == IH_F32) {
        float *at = (float *)z + i;
        *at       = nextafterf(*at, INFINITY);
        return isfinite(*at);
    }
    ((double *)z)[i] = nextafter(((double *)z)[i], INFINITY);
    return isfinite(((double *)z)[i]);
}

static void check_family(const char *text, ih_dtype dtype)
{
    fitted   t = fit(text);
    accuracy a = measure(&t.data.problem, t.z, t.offsets, t.starts), b;

    if (!accuracy_canonical(&a)) fail_msg("%s: not canonical", text);
    assert_true(a.step_down == 0);
    if (!(a.ulps <= 0.5)) fail_msg("%s: %.17g ulp", text, a.ulps);
    assert_true(a.deviation <= (dtype == IH_F32 ? 0x1p-24 : 0x1p-53));
    assert_int_equal(a.missing, 0);
    assert_int_equal(a.extra, 0);
    assert_int_equal(a.blocks, a.blocks_exact);
    assert_int_equal(a.coinciding, a.coinciding_exact);
    if (!(a.objective_excess >= 0 && a.objective_excess < (dtype == IH_F32 ? 1e-6 : 1e-15)))
        fail_msg("%s: objective %.17g", text, a.objective_excess);
    if (!(a.kkt >= 0 && a.kkt < (dtype == IH_F32 ? 1e-6 : 1e-15))) fail_msg("%s: kkt %.17g", text, a.kkt);

    if (step_up(dtype, t.z, 150)) {
        b = measure(&t.data.problem, t.z, t.offsets, t.starts);
        assert_int_equal(b.not_rounded, 1);
        if (!(b.ulps >= 0.5 && b.ulps <= 1.5)) fail_msg("%s: %.17g ulp of a neighbouring float", text, b.ulps);
        assert_true(b.deviation >= a.deviation);
    }
    fitted_free(&t);
}

static void test_families(void **state)
{
    (void)state;
    for (int32_t k = 0; k < IH_FAMILY_COUNT; ++k)
        for (int32_t w = 0; w < IH_WEIGHTING_COUNT; ++w)
            for (int dtype = 0; dtype < 2; ++dtype) {
                char text[128];
                snprintf(text, sizeof text, "%s:%s:w=%s:rows=2:n=300", ih_family_at(k)->name, dtype ? "f64" : "f32", ih_weighting_at(w)->name);
                check_family(text, dtype ? IH_F64 : IH_F32);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),          cmocka_unit_test(test_decreasing_weighted), cmocka_unit_test(test_kkt_sign),
        cmocka_unit_test(test_coinciding),     cmocka_unit_test(test_unit_below_power),    cmocka_unit_test(test_bounds_rows_and_faults),
        cmocka_unit_test(test_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
