/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves from tables: pooling of equal x, groups, weights, text in and out, faults named by line and column.
 */
#include "curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/outputs.h"
#include "support.h"

/* The referee's fit of the problem of some data. */
static double *fit(const curve_data *data)
{
    ih_problem p;
    ih_outputs out;
    double    *z = malloc((size_t)(data->n + 1) * sizeof *z);
    assert_non_null(z);
    curve_problem(data, &p);
    ih_outputs_init(&out);
    out.z = z;
    assert_int_equal(ih_fit(ih_impl_find("cpu_exact"), &p, NULL, &out, NULL, 0, NULL), IH_OK);
    return z;
}

/* table text -> curve text */
static void check_curve(const char *table, const curve_columns *columns, ih_direction direction, bool skip, const char *curve)
{
    curve_data data;
    fault      f;
    outputs    o;
    FILE      *stream;
    write_text("data.csv", table);
    assert_fault(FAULT_NONE, curve_read(in_folder("data.csv"), columns, direction, skip, &data, &f), f);
    double *z = fit(&data);
    outputs_init(&o);
    assert_fault(FAULT_NONE, outputs_add(&o, in_folder("curve.csv"), &stream, &f), f);
    assert_fault(FAULT_NONE, curve_write(&data, z, stream, &f), f);
    assert_fault(FAULT_NONE, outputs_commit(&o, &f), f);
    outputs_discard(&o);
    assert_file("curve.csv", curve);
    free(z);
    curve_free(&data);
}

static const curve_columns plain    = {.x = "x", .y = "y"};
static const curve_columns weighted = {.x = "x", .y = "y", .w = "w"};
static const curve_columns grouped  = {.x = "x", .y = "y", .w = "w", .by = "who"};

static void test_curves(void **state)
{
    (void)state;
    check_curve("x,y\n", &plain, IH_INCREASING, false, "x,fit,weight\n");
    check_curve("x,y\n0.1,7\n", &plain, IH_INCREASING, false, "x,fit,weight\n0.1,7,1\n");
    /* From the middle of the file, unsorted, with ties: x = 2 has 1 and 5, mean 3; 1 and 2 stay apart. */
    check_curve("y,x\n5,2\n2,1\n1,2\n4,3\n", &plain, IH_INCREASING, false, "x,fit,weight\n1,2,1\n2,3,2\n3,4,1\n");
    check_curve("y,x\n5,2\n2,1\n1,2\n4,3\n", &plain, IH_DECREASING, false, "x,fit,weight\n1,3,1\n2,3,2\n3,3,1\n");
    check_curve("y,x\n5,2\n9,1\n1,2\n2,3\n", &plain, IH_DECREASING, false, "x,fit,weight\n1,9,1\n2,3,2\n3,2,1\n");
    /* -0 and +0 are one x. */
    check_curve("x,y\n0,1\n-0,2\n-0.0,3\n1,9\n", &plain, IH_INCREASING, false, "x,fit,weight\n0,2,3\n1,9,1\n");
    /* Weights: 1/4 of 8 and 3/4 of 4. */
    check_curve("x,y,w\n1,8,0.25\n1,4,0.75\n2,9,3\n", &weighted, IH_INCREASING, false, "x,fit,weight\n1,5,1\n2,9,3\n");
    /* Weights are summed exactly: in any other way 1 + 2^-53 + 2^-60 loses its end. */
    check_curve("x,y,w\n1,1,1\n1,1,1.1102230246251565e-16\n1,1,8.673617379884035e-19\n", &weighted, IH_INCREASING, false,
                "x,fit,weight\n1,1,1.0000000000000002\n");
    check_curve("x,y,w\n1,1,1.5e308\n1,2,1.5e308\n", &weighted, IH_INCREASING, false, "x,fit,weight\n1,1.5,inf\n");
    /* Shortest digits. */
    check_curve("x,y\n0.30000000000000004,1\n1e300,2\n", &plain, IH_INCREASING, false,
                "x,fit,weight\n0.30000000000000004,1,1\n1e+300,2,1\n");
}

static void test_groups(void **state)
{
    (void)state;
    check_curve("who,x,y,w\nb,1,1,1\n\"a,1\",2,5,2\nb,0,3,1\n\"a,1\",1,4,1\nB,1,1,1\n", &grouped, IH_INCREASING, false,
                "who,x,fit,weight\nB,1,1,1\n\"a,1\",1,4,1\n\"a,1\",2,5,2\nb,0,2,1\nb,1,2,1\n");
    check_curve("who,x,y,w\n", &grouped, IH_INCREASING, false, "who,x,fit,weight\n");
    const curve_columns quoted = {.x = "x", .y = "y", .by = "a \"name\""};
    check_curve("\"a \"\"name\"\"\",x,y\ng,1,2\n", &quoted, IH_INCREASING, false, "\"a \"\"name\"\"\",x,fit,weight\ng,1,2,1\n");
    /* Many groups of one observation each: a curve of the fit is the data, sorted by name. */
    char *table = malloc(1 << 20), *curve = malloc(1 << 20), *p = table, *q = curve;
    assert_true(table != NULL && curve != NULL);
    p += sprintf(p, "who,x,y,w\n");
    q += sprintf(q, "who,x,fit,weight\n");
    for (int i = 0; i < 5000; i++) {
        p += sprintf(p, "g%04d,%d,%d,1\n", (i * 7) % 5000, i, -((i * 7) % 5000));
        q += sprintf(q, "g%04d,%d,%d,1\n", i, (i * 2143) % 5000, -i); /* 7 * 2143 = 1 modulo 5000 */
    }
    check_curve(table, &grouped, IH_INCREASING, false, curve);
    free(table);
    free(curve);
}

static void test_missing(void **state)
{
    (void)state;
    static const char table[] = "who,x,y,w,note\na,1,2,1,\na,,3,1,NA\na,2,NA,1,k\n,2,3,1,k\nNA,2,3,1,k\na,3,9, ,k\na,4,5,1,k\n";
    curve_data        data;
    fault             f;
    check_curve(table, &grouped, IH_INCREASING, true, "who,x,fit,weight\na,1,2,1\na,4,5,1\n");
    assert_fault(FAULT_NONE, curve_read(in_folder("data.csv"), &grouped, IH_INCREASING, true, &data, &f), f);
    assert_int_equal(data.skipped, 5);
    assert_int_equal(data.n, 2);
    assert_int_equal(data.groups, 1);
    curve_free(&data);
    assert_fault(FAULT_MISSING, curve_read(in_folder("data.csv"), &grouped, IH_INCREASING, false, &data, &f), f);
    assert_int_equal(f.line, 3);
    assert_non_null(strstr(f.message, "line 3, column 'x'"));
}

static void test_refused(void **state)
{
    (void)state;
    static const struct { const char *table; fault_kind kind; int64_t line; const char *says; } cases[] = {
        {"who,x,y,w\na,1,2,3\na,b,2,3\n", FAULT_NUMBER, 3, "line 3, column 'x': \"b\" is not a decimal number"},
        {"who,x,y,w\r\n\r\na,1,nan,3\r\n", FAULT_NUMBER, 3, "column 'y'"},
        {"who,x,y,w\na,inf,2,3\n", FAULT_NUMBER, 2, "column 'x'"},
        {"who,x,y,w\na,1,2,0\n", FAULT_VALUE, 2, "column 'w': \"0\" is not a positive weight"},
        {"who,x,y,w\na,1,2,-1\n", FAULT_VALUE, 2, "positive"},
        {"who,x,y,w\na,1,2,1e-999\n", FAULT_VALUE, 2, "positive"},
        {"who,x,y,w\n\"a\nb\",1,2,1\na,1,2,x\n", FAULT_NUMBER, 4, "line 4"},
        {"who,x,y,w\na,1,2\n", FAULT_COLUMN, 2, "3 cells"},
        {"who,x,y,w\na,1,2,3,4\n", FAULT_COLUMN, 2, "5 cells"},
        {"who,x,y\na,1,2\n", FAULT_COLUMN, 1, "'w'"},
        {"x,y,w\n1,2,3\n", FAULT_COLUMN, 1, "'who'"},
        {"who,x,x,y,w\na,1,1,2,3\n", FAULT_COLUMN, 1, "two columns"},
        {"", FAULT_FORMAT, 0, "no header"},
    };
    curve_data data;
    fault      f;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_text("data.csv", cases[i].table);
        assert_fault(cases[i].kind, curve_read(in_folder("data.csv"), &grouped, IH_INCREASING, true, &data, &f), f);
        assert_int_equal(f.line, cases[i].line);
        if (strstr(f.message, cases[i].says) == NULL) fail_msg("%s", f.message);
        assert_null(data.x);
    }
    write_file("data.csv", "who,x,y,w\na\0b,1,2,3\n", 21);
    assert_fault(FAULT_FORMAT, curve_read(in_folder("data.csv"), &grouped, IH_INCREASING, true, &data, &f), f);
    static const char *const taken[] = {"x", "fit", "weight"};
    for (int i = 0; i < 3; i++) {
        const curve_columns columns = {.x = "a", .y = "b", .by = taken[i]};
        write_text("data.csv", "a,b,x,fit,weight\n1,2,3,4,5\n");
        assert_fault(FAULT_USAGE, curve_read(in_folder("data.csv"), &columns, IH_INCREASING, true, &data, &f), f);
    }
    assert_fault(FAULT_OPEN, curve_read(in_folder("none.csv"), &plain, IH_INCREASING, false, &data, &f), f);
}

/* Equal x have equal z, and the fit is the one of the pooled points: means of 2 or 4 small integers are exact. */
static void test_ties(void **state)
{
    (void)state;
    uint64_t seed = 21;
    for (int round = 0; round < 400; round++) {
        enum { POINTS = 40 };
        const ih_direction direction = round % 2 ? IH_DECREASING : IH_INCREASING;
        const int64_t      points    = 1 + (int64_t)(random_bits(&seed) % POINTS);
        double             x[4 * POINTS], y[4 * POINTS], w[4 * POINTS];
        double             pooled_y[POINTS], pooled_w[POINTS];
        int64_t            n = 0;
        for (int64_t k = 0; k < points; k++) {
            const int     count  = 1 << random_bits(&seed) % 3;
            const double  weight = (double)(1 << random_bits(&seed) % 4);
            double        sum    = 0;
            for (int i = 0; i < count; i++, n++) {
                x[n] = (double)k - 7;
                y[n] = (double)(random_bits(&seed) % 16);
                w[n] = weight;
                sum += y[n];
            }
            pooled_y[k] = sum / count;
            pooled_w[k] = weight * count;
        }
        for (int64_t i = n - 1; i > 0; i--) { /* any order */
            const int64_t k = (int64_t)(random_bits(&seed) % (uint64_t)(i + 1));
            double *const arrays[] = {x, y, w};
            for (int j = 0; j < 3; j++) {
                const double swap = arrays[j][i];
                arrays[j][i]      = arrays[j][k];
                arrays[j][k]      = swap;
            }
        }
        curve_data data;
        fault      f;
        ih_problem p;
        ih_outputs out;
        double     expected[POINTS];
        assert_fault(FAULT_NONE, curve_from_arrays(x, y, w, n, direction, &data, &f), f);
        double *z = fit(&data);
        ih_problem_init(&p);
        ih_outputs_init(&out);
        p.dtype     = IH_F64;
        p.direction = direction;
        p.rows      = 1;
        p.n         = points;
        p.y         = pooled_y;
        p.w         = pooled_w;
        out.z       = expected;
        assert_int_equal(ih_fit(ih_impl_find("cpu_exact"), &p, NULL, &out, NULL, 0, NULL), IH_OK);
        for (int64_t i = 0; i < n; i++) {
            assert_true(i == 0 || data.x[i - 1] <= data.x[i]);
            assert_true(data.x[i] == x[data.source[i]] && data.y[i] == y[data.source[i]] && data.w[i] == w[data.source[i]]);
            assert_memory_equal(&z[i], &expected[(int64_t)data.x[i] + 7], sizeof z[i]);
        }
        free(z);
        curve_free(&data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curves),  cmocka_unit_test(test_groups), cmocka_unit_test(test_missing),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_ties),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
