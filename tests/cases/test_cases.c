/* SPDX-License-Identifier: Apache-2.0
 * test_cases.c: run the cases of a file by one implementation.
 *
 *   test_cases IMPL FILE.jsonl [ID]
 *
 * Ends by saying how many cases ran, and which were skipped and why. */
#include "cases.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void case_fail(report *r, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "%s: ", r->id);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    ++r->failed;
}

void case_skip(report *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(r->why_skipped, sizeof r->why_skipped, format, args);
    va_end(args);
    ++r->skipped;
}

static const json_t *field(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

const json_t *case_field(const test_case *c, const char *name) { return field(c->json, name); }
const json_t *case_expected(const test_case *c, const char *name) { return field(c->expect, name); }

/* values in the order of the problem */
static double *ordered(const test_case *c, const double *values)
{
    const int64_t total = c->shape.rows * c->shape.n;
    double       *to    = values ? malloc((size_t)total * sizeof *to + 1) : NULL;

    for (int64_t k = 0; to && k < total; ++k) to[k] = values[c->order ? c->order[k] : k];
    return to;
}

void case_set_problem(test_case *c)
{
    const int64_t total = c->shape.rows * c->shape.n;
    double       *y = ordered(c, c->y), *w = ordered(c, c->w);

    free(c->typed_y);
    free(c->typed_w);
    c->typed_y = typed_copy(y, total, c->dtype);
    c->typed_w = typed_copy(w, total, c->dtype);
    free(y);
    free(w);
    ih_problem_init(&c->problem);
    c->problem.dtype     = c->dtype;
    c->problem.direction = json_is_false(json_object_get(c->json, "increasing")) ? IH_DECREASING : IH_INCREASING;
    c->problem.rows      = c->shape.rows;
    c->problem.n         = c->shape.n;
    c->problem.y         = c->typed_y;
    c->problem.w         = c->typed_w;
    if (case_field(c, "y_min")) c->problem.y_min = number_of(case_field(c, "y_min"));
    if (case_field(c, "y_max")) c->problem.y_max = number_of(case_field(c, "y_max"));
}

static void run_case(report *r, test_case *c)
{
    fit_result fit = { 0 };

    if (!(r->impl->features & (c->dtype == IH_F32 ? IH_HAS_F32 : IH_HAS_F64))) {
        case_skip(r, "%s has not this type", r->impl->name);
        return;
    }
    if (case_field(c, "file") && case_field(c, "y")) { /* a case gives one or the other */
        case_fail(r, "the case has an array and a file");
        return;
    }
    if (case_field(c, "file")) {
        if (!check_file(r, c)) return;
    } else {
        c->y = numbers_of(case_field(c, "y"), c->shape, c->dtype, NULL);
        c->w = numbers_of(case_field(c, "w"), c->shape, c->dtype, NULL);
        case_set_problem(c);
    }
    if (case_field(c, "eps")) {
        check_soft_rank(r, c);
        return;
    }
    if (case_field(c, "x")) check_positions(r, c);
    if (r->failed) return;
    /* an error in the queries leaves the fit good */
    if (check_fit(r, c, &fit)) {
        if (case_field(c, "g")) check_gradient(r, c, &fit);
        if (case_field(c, "query")) check_prediction(r, c, &fit);
        check_text(r, c, &fit);
        if (strcmp(c->kind, "time") == 0 && json_is_object(case_field(c, "y"))) check_growth(r, c);
    }
    fit_result_close(&fit);
}

static void open_case(test_case *c, const json_t *json)
{
    const json_t *s = field(json, "shape");

    memset(c, 0, sizeof *c);
    c->json   = json;
    c->expect = json_object_get(json, "expect");
    c->id     = json_string_value(json_object_get(json, "id"));
    c->kind   = json_string_value(json_object_get(json, "kind"));
    c->dtype  = strcmp(json_string_value(json_object_get(json, "dtype")), "f32") == 0 ? IH_F32 : IH_F64;
    if (s) c->shape = (shape){ json_integer_value(json_array_get(s, 0)), json_integer_value(json_array_get(s, 1)) };
}

static void close_case(test_case *c)
{
    free(c->y);
    free(c->w);
    free(c->typed_y);
    free(c->typed_w);
    free(c->order);
}

int main(int argc, char **argv)
{
    const ih_impl *impl  = implementation_of("test_cases", argc > 1 ? argv[1] : NULL);
    FILE          *file  = argc > 2 ? fopen(argv[2], "r") : NULL;
    char          *line  = NULL;
    size_t         bytes = 0;
    int            ran = 0, skipped = 0, failed = 0;

    if (!file) {
        fprintf(stderr, "test_cases: name a file of cases\n");
        return 2;
    }
    while (getline(&line, &bytes, file) > 0) {
        json_error_t e;
        json_t      *json = json_loads(line, 0, &e);
        test_case    c;
        if (!json) {
            fprintf(stderr, "%s: %s\n", argv[2], e.text);
            return 1;
        }
        open_case(&c, json);
        if (argc < 4 || strcmp(argv[3], c.id) == 0) {
            report r = { .impl = impl, .id = c.id };
            if (json_is_true(json_object_get(json, "large")) && scaled(1000) < 1000) case_skip(&r, "large, and IH_TEST_SCALE is below 1");
            else run_case(&r, &c);
            if (r.skipped) printf("skipped %s: %s\n", c.id, r.why_skipped);
            ran += !r.skipped;
            skipped += r.skipped > 0;
            failed += r.failed > 0;
        }
        close_case(&c);
        json_decref(json);
    }
    free(line);
    fclose(file);
    printf("%s: %d cases ran, %d failed, %d skipped\n", impl->name, ran, failed, skipped);
    return failed > 0 || ran == 0;
}
