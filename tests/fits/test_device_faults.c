/* SPDX-License-Identifier: Apache-2.0
 * test_device_faults.c: what a device finds in the data: every fault at every kind of place, alone and with others, in short rows, at the
 * seams of chunks, in ragged batches; offsets that are wrong; the status of good fits, and what is counted. */
#include "call.h"
#include "device_fit.h"
#include "faulty.h"
#include "rows.h"

#include "datasets/generate.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const ih_impl *impl;

static const struct bad { int in_w; double v; } bads[] = {
    { 0, NAN }, { 0, INFINITY }, { 0, -INFINITY }, { 1, NAN }, { 1, INFINITY }, { 1, -INFINITY }, { 1, 0.0 }, { 1, -0.0 }, { 1, -1.5 }, { 1, -0x1p-140 },
};
enum { BADS = sizeof bads / sizeof bads[0] };

/* A batch of `rows` rows of n elements, or ragged: of 0 to 2 n. */
typedef struct batch { ih_problem p; void *y, *w; int64_t *offsets; } batch;

static void open_batch(batch *b, ih_dtype dtype, int weighted, int64_t rows, int64_t n, int ragged, uint64_t seed)
{
    rng     r     = rng_seeded(seed);
    int64_t total = rows * n;

    memset(b, 0, sizeof *b);
    if (ragged) {
        b->offsets = malloc(((size_t)rows + 1) * 8);
        b->offsets[0] = total = 0;
        for (int64_t k = 0; k < rows; ++k) b->offsets[k + 1] = total += rng_one_in(&r, 4) ? 0 : 1 + rng_below(&r, 2 * n);
    }
    b->y = malloc((size_t)total * 8 + 1);
    b->w = malloc((size_t)total * 8 + 1);
    for (int64_t i = 0; i < total; ++i) {
        const double y = rng_bell(&r), w = 0.5 + rng_unit(&r);
        if (dtype == IH_F32) ((float *)b->y)[i] = (float)y, ((float *)b->w)[i] = (float)w;
        else ((double *)b->y)[i] = y, ((double *)b->w)[i] = w;
    }
    ih_problem_init(&b->p);
    b->p.dtype   = dtype;
    b->p.rows    = rows;
    b->p.n       = ragged ? total : n;
    b->p.offsets = b->offsets;
    b->p.y       = b->y;
    b->p.w       = weighted ? b->w : NULL;
}

static void close_batch(batch *b)
{
    free(b->y);
    free(b->w);
    free(b->offsets);
}

static void spoil(batch *b, const struct bad *bad, int64_t i)
{
    void *to = bad->in_w && b->p.w ? b->w : b->y;
    if (to == b->y && bad->in_w) return; /* nothing of y is at fault so */
    if (b->p.dtype == IH_F32) ((float *)to)[i] = (float)bad->v;
    else ((double *)to)[i] = bad->v;
}

/* The first fault is reported, rows at fault are NaN, the others right: all of it in fit_run. */
static void expect_faults(const batch *b, const char *what)
{
    const ih_status expected = first_fault_of(&b->p).fault ? IH_EDATA : IH_OK;
    fit_result      r;
    verdict         v = { "" };

    fit_result_open(&r, &b->p);
    if (fit_run(impl, &b->p, NULL, 1, expected, &r, &v) != PASSED)
        fail_msg("%s, %s, %" PRId64 " rows, n %" PRId64 "%s: %s", what, b->p.dtype == IH_F32 ? "float32" : "float64", b->p.rows, b->p.n,
                 b->offsets ? " in all" : "", v.text);
    fit_result_close(&r);
}

static const int64_t lengths[] = { 1, 2, 5, 16, 31, 32, 33, 64, 65, 128, 300, 512, 513, 1023, 1024, 1025, 2048, 2049, 4097, 9000 };
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static void every_fault_everywhere(void **state)
{
    int64_t done = 0;
    (void)state;
    for (int l = 0; l < LENGTHS; ++l)
        for (int kind = 0; kind < BADS; ++kind)
            for (int dtype = IH_F32; dtype <= IH_F64; ++dtype) {
                const int64_t n    = lengths[l];
                const int64_t at[] = { 0, n - 1, n / 2, 31, 32, 1023, 1024, n - 2 };
                for (int k = 0; k < 8; ++k) {
                    batch b;
                    if (at[k] < 0 || at[k] >= n || (k > 1 && done % 3)) {
                        ++done;
                        continue;
                    }
                    ++done;
                    open_batch(&b, (ih_dtype)dtype, bads[kind].in_w || done % 2, 3, n, 0, (uint64_t)done);
                    b.p.direction = done % 5 == 0 ? IH_DECREASING : IH_INCREASING;
                    spoil(&b, &bads[kind], (done % 3) * n + at[k]);
                    expect_faults(&b, "one fault");
                    close_batch(&b);
                }
            }
}

/* Any number of faults, in any rows. */
static void many_faults(void **state)
{
    const int64_t count = emulated() ? 60 : 600;
    (void)state;
    for (int64_t seed = 0; seed < count; ++seed) {
        rng           r      = rng_seeded(0xfa17 + (uint64_t)seed);
        const int     ragged = rng_one_in(&r, 2);
        const int64_t n      = 1 + rng_below(&r, rng_one_in(&r, 3) ? 3000 : 200), rows = 1 + rng_below(&r, rng_one_in(&r, 3) ? 200 : 8);
        batch         b;
        open_batch(&b, rng_one_in(&r, 2) ? IH_F32 : IH_F64, rng_one_in(&r, 2), n > 200 ? 1 + rows / 25 : rows, n, ragged, (uint64_t)seed);
        const int64_t total = problem_elements(&b.p);
        for (int64_t k = rng_below(&r, 6); total > 0 && k > 0; --k) {
            const int64_t i = rng_below(&r, total);
            spoil(&b, &bads[rng_below(&r, BADS)], i);
            if (rng_one_in(&r, 3)) spoil(&b, &bads[3 + rng_below(&r, BADS - 3)], i); /* y and w at one place */
        }
        expect_faults(&b, "several faults");
        close_batch(&b);
    }
}

/* Offsets of which one is wrong: the first that is is named, and nothing is written but zeros to block_offsets. */
static void wrong_offsets(void **state)
{
    static const int64_t sizes[] = { 1, 2, 31, 33, 255, 257, 1025, 5000 };
    (void)state;
    for (int l = 0; l < 8; ++l)
        for (int kind = 0; kind < 6; ++kind) {
            rng           r = rng_seeded((uint64_t)(l * 10 + kind));
            batch         b;
            fit_result    got;
            open_batch(&b, IH_F32, kind % 2, sizes[l], 7, 1, (uint64_t)(l + kind));
            const int64_t rows = b.p.rows;
            if (b.p.n == 0) { /* without elements offsets are not looked at */
                close_batch(&b);
                continue;
            }
            if (kind == 0) b.offsets[0] = -1;
            if (kind == 1) b.offsets[rows] += 1;
            if (kind == 2) b.offsets[rng_below(&r, rows + 1)] = INT64_MIN;
            if (kind == 3) b.offsets[rng_below(&r, rows + 1)] = INT64_MAX;
            if (kind == 4) b.offsets[rows] -= 1;
            if (kind == 5) b.offsets[rng_below(&r, rows + 1)] = (int64_t)1 << 40;
            int64_t first = -1;
            for (int64_t k = 0; k <= rows && first < 0; ++k)
                if ((k == 0 && b.offsets[0] != 0) || (k > 0 && b.offsets[k] < b.offsets[k - 1]) || (k == rows && b.offsets[k] != b.p.n)) first = k;
            int64_t *const kept = b.offsets, *good = calloc((size_t)rows + 1, 8);
            good[rows]     = b.p.n;
            b.p.offsets    = good; /* room for the outputs is made by these */
            fit_result_open(&got, &b.p);
            b.p.offsets    = kept;
            got.error.size = sizeof got.error;
            assert_int_equal(call_fit(impl, &b.p, NULL, &got.out, NULL, 0), IH_EARGUMENT);
            ih_last_error(&got.error);
            assert_string_equal(got.error.argument, "offsets");
            assert_int_equal(got.error.fault, IH_FAULT_OFFSETS);
            assert_int_equal(got.error.row, first);
            assert_int_equal(got.error.index, -1);
            assert_true(guarded_untouched(&got.z) && guarded_untouched(&got.block_starts) && guarded_untouched(&got.block_means));
            for (int64_t k = 0; k <= rows; ++k) assert_int_equal(got.out.block_offsets[k], 0);
            fit_result_close(&got);
            free(good);
            close_batch(&b);
        }
}

/* ---- status and counters ---- */

static ih_counters count(const char *text, int64_t *total)
{
    ih_spec     s;
    ih_data     d;
    char        message[IH_SPEC_MESSAGE];
    ih_counters c;
    ih_options  o;
    fit_result  r;
    verdict     v = { "" };

    if (ih_spec_parse(&s, text, message, sizeof message) || ih_data_generate(&d, &s, 0, message, sizeof message)) fail_msg("%s", message);
    ih_options_init(&o);
    ih_counters_init(&c);
    o.counters = &c;
    fit_result_open(&r, &d.problem);
    if (fit_run(impl, &d.problem, &o, 1, IH_OK, &r, &v) != PASSED) fail_msg("%s: %s", text, v.text);
    *total = problem_elements(&d.problem);
    fit_result_close(&r);
    ih_data_free(&d);
    return c;
}

/* Data as they are measured take the way through integers in no row; data made for it do. */
static void rows_left_to_integers(void **state)
{
    static const char *const families[] = { "noise", "increasing", "sawtooth", "cliff" }, *const weights[] = { "unit", "uniform" };
    static const int64_t     long_lengths[] = { 900, 30000, 1000000 };
    int64_t                  total;
    (void)state;
    for (int f = 0; f < 4; ++f)
        for (int w = 0; w < 2; ++w)
            for (int dtype = 0; dtype < 2; ++dtype)
                for (int l = 0; l < (emulated() ? 2 : 3); ++l) {
                    char text[128];
                    snprintf(text, sizeof text, "%s:%s:w=%s:n=%" PRId64, families[f], dtype ? "f64" : "f32", weights[w], long_lengths[l]);
                    const ih_counters c = count(text, &total);
                    if (c.rows_exact != 0) fail_msg("%s: %" PRId64 " rows were solved in integers", text, c.rows_exact);
                    if (c.decisions_filter + c.decisions_pair <= 0) fail_msg("%s: no decisions were counted", text);
                }
    const ih_counters c = count("wide:f64:w=wide:rows=5:n=300", &total);
    assert_int_equal(c.rows_exact, 5);
    assert_true(count("wide:f64:w=wide:n=20000", &total).rows_exact == 1);
}

/* Rows in one warp have nothing to do with one another: each has a magnitude of its own, and none is solved in integers but those
 * out of the range of double arithmetic. */
static void rows_of_every_magnitude(void **state)
{
    static const int64_t sizes[] = { 1, 2, 5, 16, 31, 32, 33, 64, 65, 100, 128, 129, 256, 257, 450, 512, 513, 1024 };
    (void)state;
    for (int l = 0; l < 18; ++l)
        for (int kind = 0; kind < 16; ++kind) {
            const ih_dtype dtype = kind & 1 ? IH_F64 : IH_F32;
            const int64_t  rows = sizes[l] > 128 ? 13 : 75, ragged = kind >> 2 & 1;
            rng            r = rng_seeded((uint64_t)(100 * l + kind));
            int64_t        outside = 0;
            ih_counters    c;
            ih_options     o;
            fit_result     got;
            verdict        v = { "" };
            batch          b;

            open_batch(&b, dtype, kind >> 1 & 1, rows, sizes[l], (int)ragged, (uint64_t)(l + kind));
            for (int64_t k = 0; k < rows; ++k) {
                const int64_t begin = ragged ? b.offsets[k] : k * sizes[l], end = ragged ? b.offsets[k + 1] : begin + sizes[l];
                const int     far = dtype == IH_F64 && kind >> 3 && end > begin && rng_one_in(&r, 20);
                const int     most_y = dtype == IH_F32 ? 60 : 100, most_w = dtype == IH_F32 ? 30 : 140;
                const int     zero = !far && rng_one_in(&r, 10);
                const int     power_y = far ? -900 : (int)rng_below(&r, 2 * most_y) - most_y, power_w = (int)rng_below(&r, 2 * most_w) - most_w;
                outside += far;
                for (int64_t i = begin; i < end; ++i) {
                    if (dtype == IH_F32) ((float *)b.y)[i] = zero ? 0 : ldexpf(((float *)b.y)[i], power_y), ((float *)b.w)[i] = ldexpf(((float *)b.w)[i], power_w);
                    else ((double *)b.y)[i] = zero ? 0 : ldexp(((double *)b.y)[i], power_y), ((double *)b.w)[i] = ldexp(((double *)b.w)[i], power_w);
                }
            }
            ih_options_init(&o);
            ih_counters_init(&c);
            o.counters = &c;
            fit_result_open(&got, &b.p);
            if (fit_run(impl, &b.p, &o, 1, IH_OK, &got, &v) != PASSED) fail_msg("n %" PRId64 ", kind %d: %s", sizes[l], kind, v.text);
            if (c.rows_exact != outside) fail_msg("n %" PRId64 ", kind %d: %" PRId64 " rows in integers, not %" PRId64, sizes[l], kind, c.rows_exact, outside);
            fit_result_close(&got);
            close_batch(&b);
        }
}

/* Counters are added to, and only if the fit had them. */
static void counted_once(void **state)
{
    int64_t           total;
    const ih_counters a = count("noise:f32:n=20000", &total), b = count("noise:f32:n=20000", &total);
    (void)state;
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(a.chunks, (20000 + 1023) / 1024);
    assert_true(a.levels >= 5);
}

/* A status asked twice says the same; after a good fit in the same workspace it is good again. */
static void status_again(void **state)
{
    batch      b;
    device_fit f;
    fit_result r;
    (void)state;
    open_batch(&b, IH_F64, 1, 4, 50, 0, 1);
    fit_result_open(&r, &b.p);
    for (int round = 0; round < 3; ++round) {
        ((double *)b.w)[70] = round == 1 ? -1 : 1;
        device_fit_open(&f, impl, &b.p, NULL);
        for (int k = 0; k < 2; ++k) {
            assert_int_equal(device_fit_enqueue(&f, NULL), IH_OK);
            device_must(cudaDeviceSynchronize(), "fit");
            for (int again = 0; again < 2; ++again) {
                assert_int_equal(device_fit_read(&f, &r), round == 1 ? IH_EDATA : IH_OK);
                if (round == 1) {
                    assert_string_equal(r.error.argument, "w");
                    assert_int_equal(r.error.row, 1);
                    assert_int_equal(r.error.index, 20);
                }
            }
        }
        /* arguments of the status itself */
        assert_int_equal(ih_device_status(impl, &f.problem, NULL, NULL, 0), IH_EARGUMENT);
        assert_int_equal(ih_device_status(impl, NULL, NULL, f.ws, f.ws_bytes), IH_EARGUMENT);
        assert_int_equal(ih_device_status(impl, &f.problem, NULL, f.ws, 8), IH_EWORKSPACE);
        device_fit_close(&f);
    }
    fit_result_close(&r);
    close_batch(&b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_everywhere), cmocka_unit_test(many_faults),  cmocka_unit_test(wrong_offsets),
        cmocka_unit_test(rows_left_to_integers),  cmocka_unit_test(counted_once), cmocka_unit_test(status_again),
        cmocka_unit_test(rows_of_every_magnitude),
    };
    impl = implementation_of("test_device_faults", argc > 1 ? argv[1] : NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
