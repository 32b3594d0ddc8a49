/* SPDX-License-Identifier: Apache-2.0
 * test_bad_input.c: what a fit and its gradient refuse: the status, the fault, the argument, row and index named, and
 * that nothing is written. Empty batches and empty rows succeed. */
#include "call.h"
#include "faulty.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const ih_impl *impl;

enum { ROWS = 4, N = 6, TOTAL = ROWS * N };

/* A good problem, ragged or not, whose arrays a test may spoil. */
typedef struct good {
    ih_problem p;
    double     y64[TOTAL], w64[TOTAL];
    float      y32[TOTAL], w32[TOTAL];
    int64_t    offsets[ROWS + 2];
} good;

static void open_good(good *g, ih_dtype dtype, int ragged)
{
    static const int64_t offsets[ROWS + 2] = { 0, 5, 5, 5, 20, TOTAL }; /* two empty rows in the middle */

    for (int i = 0; i < TOTAL; ++i) {
        g->y64[i] = (i * 7) % 5 - 2;
        g->w64[i] = 1 + i % 3;
        g->y32[i] = (float)g->y64[i];
        g->w32[i] = (float)g->w64[i];
    }
    memcpy(g->offsets, offsets, sizeof offsets);
    ih_problem_init(&g->p);
    g->p.dtype = dtype;
    g->p.rows  = ragged ? ROWS + 1 : ROWS;
    g->p.n     = ragged ? TOTAL : N;
    if (ragged) g->p.offsets = g->offsets;
    g->p.y = dtype == IH_F32 ? (void *)g->y32 : (void *)g->y64;
    g->p.w = dtype == IH_F32 ? (void *)g->w32 : (void *)g->w64;
}

static void spoil(good *g, int in_w, int64_t i, double v)
{
    if (in_w) g->w64[i] = v, g->w32[i] = (float)v;
    else g->y64[i] = v, g->y32[i] = (float)v;
}

typedef struct expected { ih_status status; ih_fault fault; const char *argument; int64_t row, index; } expected;

/* A fit must fail like this and write nothing (a device: values at fault spoil their rows only); places for outputs are made for `shape`, a problem that is in order. */
static void refuse_into(const ih_problem *p, const ih_problem *room, const ih_options *o, expected e)
{
    fit_result r;
    verdict    v = { "" };

    fit_result_open(&r, room);
    r.status = call_fit(impl, p, o, &r.out, NULL, 0);
    assert_int_equal(r.status, e.status);
    r.error.size = sizeof r.error;
    ih_last_error(&r.error);
    assert_int_equal(r.error.status, e.status);
    if (r.error.fault != e.fault || strcmp(r.error.argument, e.argument) != 0 || r.error.row != e.row || r.error.index != e.index)
        fail_msg("got fault %d of '%s' at %lld, %lld (%s), expected fault %d of '%s' at %lld, %lld", r.error.fault, r.error.argument,
                 (long long)r.error.row, (long long)r.error.index, r.error.message, e.fault, e.argument, (long long)e.row, (long long)e.index);
    assert_true(r.error.message[0] != 0);
    assert_null(strchr(r.error.message, '\n'));
    if (e.status == IH_EDATA && on_device(impl)) {
        if (faulty_rows_check(p, &r, &v) != PASSED) fail_msg("%s", v.text);
    } else if (e.fault == IH_FAULT_OFFSETS && on_device(impl)) { /* no blocks: a gradient behind it on the stream is safe */
        for (int64_t k = 0; k <= p->rows; ++k) assert_int_equal(r.out.block_offsets[k], 0);
        assert_true(guarded_untouched(&r.z) && guarded_untouched(&r.block_starts));
        assert_true(guarded_untouched(&r.block_weights) && guarded_untouched(&r.block_means));
    } else {
        assert_true(fit_result_untouched(&r));
    }
    assert_true(guarded_intact(&r.z) && guarded_intact(&r.block_offsets) && guarded_intact(&r.block_starts));
    fit_result_close(&r);
}

static void refuse(const ih_problem *p, const ih_options *o, expected e) { refuse_into(p, p, o, e); }

/* ---- values ---- */

static void bad_values(void **state)
{
    static const int64_t at[]    = { 0, 1, 4, 5, 11, 19, 20, TOTAL - 1 };
    static const struct { int in_w; double v; ih_fault fault; } bad[] = {
        { 0, NAN, IH_FAULT_NAN },       { 0, INFINITY, IH_FAULT_INFINITE },  { 0, -INFINITY, IH_FAULT_INFINITE }, { 1, NAN, IH_FAULT_NAN },
        { 1, INFINITY, IH_FAULT_INFINITE }, { 1, 0.0, IH_FAULT_ZERO },       { 1, -0.0, IH_FAULT_ZERO },          { 1, -1.5, IH_FAULT_NEGATIVE },
        { 1, -INFINITY, IH_FAULT_NEGATIVE }, { 1, -0x1p-140, IH_FAULT_NEGATIVE },
    };
    (void)state;
    for (int dtype = IH_F32; dtype <= IH_F64; ++dtype)
        for (int ragged = 0; ragged < 2; ++ragged)
            for (size_t k = 0; k < sizeof at / sizeof at[0]; ++k)
                for (size_t b = 0; b < sizeof bad / sizeof bad[0]; ++b) {
                    const int64_t i   = at[k];
                    int64_t       row = ragged ? (i < 5 ? 0 : i < 20 ? 3 : 4) : i / N;
                    good          g;
                    open_good(&g, dtype, ragged);
                    spoil(&g, bad[b].in_w, i, bad[b].v);
                    refuse(&g.p, NULL, (expected){ IH_EDATA, bad[b].fault, bad[b].in_w ? "w" : "y", row, i - problem_row_begin(&g.p, row) });
                    g.p.direction = IH_DECREASING;
                    refuse(&g.p, NULL, (expected){ IH_EDATA, bad[b].fault, bad[b].in_w ? "w" : "y", row, i - problem_row_begin(&g.p, row) });
                }
}

/* With several faults the smallest place is named, y before w at one place. */
static void several_faults(void **state)
{
    (void)state;
    for (int dtype = IH_F32; dtype <= IH_F64; ++dtype) {
        good g;
        open_good(&g, dtype, 0);
        spoil(&g, 0, 20, NAN);
        spoil(&g, 1, 9, 0);
        spoil(&g, 0, 10, INFINITY);
        refuse(&g.p, NULL, (expected){ IH_EDATA, IH_FAULT_ZERO, "w", 1, 3 });
        spoil(&g, 0, 9, INFINITY);
        refuse(&g.p, NULL, (expected){ IH_EDATA, IH_FAULT_INFINITE, "y", 1, 3 });
        spoil(&g, 0, 8, NAN);
        spoil(&g, 1, 8, NAN);
        refuse(&g.p, NULL, (expected){ IH_EDATA, IH_FAULT_NAN, "y", 1, 2 });
        spoil(&g, 1, 0, -1);
        refuse(&g.p, NULL, (expected){ IH_EDATA, IH_FAULT_NEGATIVE, "w", 0, 0 });
    }
}

/* The same in rows so long that a solver works on them in chunks and threads, with another fault in every later chunk. */
static void faults_in_long_rows(void **state)
{
    enum { LONG = 70000 };
    static const int64_t first[] = { 0, 4095, 4096, 33333, LONG - 1 };
    double              *y = malloc(LONG * sizeof *y), *w = malloc(LONG * sizeof *w);
    (void)state;
    for (size_t k = 0; k < sizeof first / sizeof first[0]; ++k)
        for (int in_w = 0; in_w < 2; ++in_w) {
            ih_problem p;
            ih_options o;
            for (int i = 0; i < LONG; ++i) {
                y[i] = (i * 37) % 101;
                w[i] = 1;
            }
            for (int64_t i = first[k] + 1; i < LONG; i += 999) y[i] = INFINITY;
            (in_w ? w : y)[first[k]] = NAN;
            ih_problem_init(&p);
            p.dtype = IH_F64;
            p.rows  = 1;
            p.n     = LONG;
            p.y     = y;
            p.w     = w;
            ih_options_init(&o);
            for (o.threads = 0; o.threads <= 3; ++o.threads)
                refuse(&p, &o, (expected){ IH_EDATA, IH_FAULT_NAN, in_w ? "w" : "y", 0, first[k] });
        }
    free(y);
    free(w);
}

/* ---- arguments ---- */

static void bad_problem_fields(void **state)
{
    good g, spare;
    (void)state;
    open_good(&spare, IH_F64, 0);
#define BAD(change, ...)                                                                                                              \
    do {                                                                                                                              \
        open_good(&g, IH_F64, 0);                                                                                                     \
        change;                                                                                                                       \
        refuse_into(&g.p, &spare.p, NULL, (expected){ __VA_ARGS__ });                                                                 \
    } while (0)
    BAD(g.p.size = 0, IH_EARGUMENT, IH_FAULT_NONE, "problem", -1, -1);
    BAD(g.p.size = 8, IH_EARGUMENT, IH_FAULT_NONE, "problem", -1, -1);
    BAD(g.p.dtype = 2, IH_EARGUMENT, IH_FAULT_NONE, "dtype", -1, -1);
    BAD(g.p.dtype = -1, IH_EARGUMENT, IH_FAULT_NONE, "dtype", -1, -1);
    BAD(g.p.direction = 2, IH_EARGUMENT, IH_FAULT_NONE, "direction", -1, -1);
    BAD(g.p.direction = -1, IH_EARGUMENT, IH_FAULT_NONE, "direction", -1, -1);
    BAD(g.p.rows = -1, IH_EARGUMENT, IH_FAULT_NONE, "rows", -1, -1);
    BAD(g.p.rows = INT64_MIN, IH_EARGUMENT, IH_FAULT_NONE, "rows", -1, -1);
    BAD(g.p.n = -1, IH_EARGUMENT, IH_FAULT_NONE, "n", -1, -1);
    BAD(g.p.n = INT64_MIN, IH_EARGUMENT, IH_FAULT_NONE, "n", -1, -1);
    BAD(g.p.y = NULL, IH_EARGUMENT, IH_FAULT_NONE, "y", -1, -1);
    BAD(g.p.y_min = NAN, IH_EARGUMENT, IH_FAULT_NAN, "y_min", -1, -1);
    BAD(g.p.y_max = NAN, IH_EARGUMENT, IH_FAULT_NAN, "y_max", -1, -1);
    BAD(g.p.y_min = 1; g.p.y_max = 0.5, IH_EARGUMENT, IH_FAULT_REVERSED, "y_min", -1, -1);
    BAD(g.p.y_min = INFINITY; g.p.y_max = -INFINITY, IH_EARGUMENT, IH_FAULT_REVERSED, "y_min", -1, -1);
    BAD(g.p.rows = INT64_MAX, IH_EOVERFLOW, IH_FAULT_NONE, "rows", -1, -1);
    BAD(g.p.n = INT64_MAX, IH_EOVERFLOW, IH_FAULT_NONE, "n", -1, -1);
    BAD(g.p.rows = (int64_t)1 << 32; g.p.n = (int64_t)1 << 31, IH_EOVERFLOW, IH_FAULT_NONE, "n", -1, -1);
    BAD(g.p.rows = (int64_t)1 << 32; g.p.n = (int64_t)1 << 32, IH_EOVERFLOW, IH_FAULT_NONE, "n", -1, -1);
    BAD(g.p.rows = 1; g.p.n = INT64_MAX / 8, IH_EOVERFLOW, IH_FAULT_NONE, "n", -1, -1);
#undef BAD
}

static void bad_offsets(void **state)
{
    good g, spare;
    (void)state;
    open_good(&spare, IH_F32, 1);
#define BAD(change, row)                                                                                                              \
    do {                                                                                                                              \
        open_good(&g, IH_F32, 1);                                                                                                     \
        change;                                                                                                                       \
        refuse_into(&g.p, &spare.p, NULL, (expected){ IH_EARGUMENT, IH_FAULT_OFFSETS, "offsets", row, -1 });                          \
    } while (0)
    BAD(g.offsets[0] = 1, 0);
    BAD(g.offsets[0] = -1, 0);
    BAD(g.offsets[1] = -1, 1);
    BAD(g.offsets[2] = 4, 2);
    BAD(g.offsets[3] = 21, 4);
    BAD(g.offsets[ROWS + 1] = TOTAL - 1, ROWS + 1);
    BAD(g.offsets[ROWS + 1] = TOTAL + 1, ROWS + 1);
    BAD(g.offsets[4] = INT64_MAX, ROWS + 1);
    BAD(g.offsets[4] = INT64_MIN, 4);
#undef BAD
}

static void bad_pointers(void **state)
{
    good       g;
    fit_result r;
    ih_outputs out;
    size_t     bytes;
    ih_options o;
    (void)state;
    open_good(&g, IH_F64, 0);
    fit_result_open(&r, &g.p);
    assert_int_equal(call_fit(impl, NULL, NULL, &r.out, NULL, 0), IH_EARGUMENT);
    assert_int_equal(call_fit(impl, &g.p, NULL, NULL, NULL, 0), IH_EARGUMENT);
    assert_int_equal(ih_workspace_bytes(impl, NULL, NULL, &r.out, &bytes), IH_EARGUMENT);
    assert_int_equal(ih_workspace_bytes(impl, &g.p, NULL, NULL, &bytes), IH_EARGUMENT);
    assert_int_equal(ih_workspace_bytes(impl, &g.p, NULL, &r.out, NULL), IH_EARGUMENT);
    out      = r.out;
    out.size = 0;
    assert_int_equal(call_fit(impl, &g.p, NULL, &out, NULL, 0), IH_EARGUMENT);
    out   = r.out;
    out.z = NULL;
    assert_int_equal(call_fit(impl, &g.p, NULL, &out, NULL, 0), IH_EARGUMENT);
    out               = r.out;
    out.block_offsets = NULL;
    assert_int_equal(call_fit(impl, &g.p, NULL, &out, NULL, 0), IH_EARGUMENT);
    ih_options_init(&o);
    o.size = 0;
    assert_int_equal(call_fit(impl, &g.p, &o, &r.out, NULL, 0), IH_EARGUMENT);
    assert_true(fit_result_untouched(&r));
    fit_result_close(&r);
}

static void bad_options(void **state)
{
    static const struct { const char *name; size_t at; int32_t value; } bad[] = {
        { "threads", offsetof(ih_options, threads), -1 },        { "threads", offsetof(ih_options, threads), INT32_MAX },
        { "chunk", offsetof(ih_options, chunk), -1 },            { "chunk", offsetof(ih_options, chunk), INT32_MAX },
        { "walk_cap", offsetof(ih_options, walk_cap), -2 },      { "thread_merges", offsetof(ih_options, thread_merges), -1 },
        { "isa", offsetof(ih_options, isa), -1 },                { "isa", offsetof(ih_options, isa), 4 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
        good       g;
        ih_options o;
        open_good(&g, IH_F64, 0);
        ih_options_init(&o);
        memcpy((char *)&o + bad[k].at, &bad[k].value, sizeof bad[k].value);
        refuse(&g.p, &o, (expected){ IH_EARGUMENT, IH_FAULT_NONE, bad[k].name, -1, -1 });
    }
}

/* ---- overlaps and workspace ---- */

/* Where arrays lie is looked at before anything is touched: on a device too, whose memory these addresses are not. */
static void overlapping_outputs(void **state)
{
    good       g;
    fit_result r;
    guarded    ws;
    size_t     bytes = 0;
    (void)state;
    open_good(&g, IH_F64, 1);
    fit_result_open(&r, &g.p);
    assert_int_equal(ih_workspace_bytes(impl, &g.p, NULL, &r.out, &bytes), IH_OK);
    guarded_open(&ws, bytes + 512, 0);
    void *const own = on_device(impl) ? ws.at : NULL;
    if (!own) bytes = 0;
#define BAD(change)                                                                                                                   \
    do {                                                                                                                              \
        ih_outputs out = r.out;                                                                                                       \
        ih_problem p   = g.p;                                                                                                         \
        change;                                                                                                                       \
        assert_int_equal(ih_fit(impl, &p, NULL, &out, own, bytes, NULL), IH_EARGUMENT);                                              \
        assert_true(fit_result_untouched(&r));                                                                                        \
    } while (0)
    BAD(out.z = g.y64);
    BAD(out.z = g.y64 + TOTAL - 1);
    BAD(out.z = g.w64);
    BAD(out.block_offsets = g.offsets);
    BAD(out.block_starts = (int64_t *)(void *)r.z.at);
    BAD(out.block_weights = (double *)(void *)r.z.at);
    BAD(out.block_means = out.block_weights);
    BAD(out.block_means = (double *)(void *)out.block_offsets);
    BAD(out.block_starts = (int64_t *)(void *)(r.z.at + r.z.bytes - 8));
    /* nor are arrays that are not aligned to their type */
    BAD(out.z = r.z.at + 4);
    BAD(p.y = (const char *)g.y64 + 1);
    BAD(p.w = (const char *)g.w64 + 4);
    BAD(p.offsets = (const int64_t *)(const void *)((const char *)g.offsets + 4));
    BAD(out.block_offsets = (int64_t *)(void *)((char *)out.block_offsets + 2));
#undef BAD
    guarded_close(&ws);
    /* neighbours that touch but do not overlap are fine */
    guarded both;
    guarded_open(&both, TOTAL * 16, 0);
    ih_outputs out;
    ih_outputs_init(&out);
    out.z             = both.at;
    out.block_offsets = r.out.block_offsets;
    out.block_starts  = (int64_t *)(void *)(both.at + TOTAL * 8);
    assert_int_equal(call_fit(impl, &g.p, NULL, &out, NULL, 0), IH_OK);
    guarded_close(&both);
    fit_result_close(&r);
}

static void bad_workspace(void **state)
{
    good       g;
    fit_result r;
    guarded    ws;
    size_t     bytes = 0;
    (void)state;
    open_good(&g, IH_F64, 0);
    fit_result_open(&r, &g.p);
    assert_int_equal(ih_workspace_bytes(impl, &g.p, NULL, &r.out, &bytes), IH_OK);
    guarded_open(&ws, bytes + 512, 0x11);
    if (bytes > 0) {
        assert_int_equal(call_fit(impl, &g.p, NULL, &r.out, ws.at, bytes - 1), IH_EWORKSPACE);
        assert_int_equal(call_fit(impl, &g.p, NULL, &r.out, ws.at, 1), IH_EWORKSPACE);
        for (int shift = 1; shift < IH_WORKSPACE_ALIGN; shift *= 2)
            assert_int_equal(call_fit(impl, &g.p, NULL, &r.out, ws.at + shift, bytes), IH_EWORKSPACE);
    }
    assert_int_equal(call_fit(impl, &g.p, NULL, &r.out, NULL, bytes + 1), IH_EARGUMENT);
    if (bytes > 0 && on_device(impl)) assert_int_equal(ih_fit(impl, &g.p, NULL, &r.out, NULL, 0, NULL), IH_EWORKSPACE); /* it has none of its own */
    assert_true(fit_result_untouched(&r));
    assert_true(guarded_untouched(&ws));
    assert_int_equal(call_fit(impl, &g.p, NULL, &r.out, ws.at, bytes + 256), IH_OK); /* more than needed is fine */
    if (bytes > 0 && !on_device(impl)) /* a workspace over an output */
        assert_int_equal(call_fit(impl, &g.p, NULL, &r.out, r.z.at, bytes > r.z.bytes ? bytes : r.z.bytes), IH_EARGUMENT);
    guarded_close(&ws);
    fit_result_close(&r);
}

/* ---- nothing to do ---- */

static void expect_blocks_of_nothing(const ih_problem *p)
{
    fit_result r;
    verdict    v;

    for (int own = 0; own < 2; ++own) {
        fit_result_open(&r, p);
        assert_int_equal(fit_run(impl, p, NULL, own, IH_OK, &r, &v), PASSED);
        for (int64_t k = 0; k <= p->rows; ++k) assert_int_equal(r.out.block_offsets[k], 0);
        fit_result_close(&r);
    }
}

static void empty_problems(void **state)
{
    static const int64_t zeros[5] = { 0 };
    (void)state;
    for (int dtype = IH_F32; dtype <= IH_F64; ++dtype)
        for (int ragged = 0; ragged < 2; ++ragged)
            for (int rows = 0; rows < 5; ++rows) {
                ih_problem p;
                ih_outputs out;
                ih_problem_init(&p);
                p.dtype   = dtype;
                p.rows    = rows;
                p.offsets = ragged ? zeros : NULL;
                expect_blocks_of_nothing(&p);
                if (!ragged && rows == 0) { /* no rows of five elements */
                    p.n = 5;
                    expect_blocks_of_nothing(&p);
                }
                ih_outputs_init(&out); /* z may be NULL when there is no element */
                assert_int_equal(call_fit(impl, &p, NULL, &out, NULL, 0), IH_OK);
            }
}

/* ---- gradients ---- */

/* On a device the row at fault is NaN, and the others are as they are without the fault. */
static void check_gradient_rows(const ih_impl *which, const fit_result *fit, const ih_gradient *grad, const double *in, int64_t bad_row, const guarded *gy, const guarded *gw)
{
    double      good_in[TOTAL], y[TOTAL], w[TOTAL];
    ih_gradient again = *grad;
    good        g;

    open_good(&g, IH_F64, 0);
    for (int i = 0; i < TOTAL; ++i) good_in[i] = i / N == bad_row ? 0 : in[i];
    again.block_offsets = fit->out.block_offsets;
    again.block_starts  = fit->out.block_starts;
    again.g             = good_in;
    again.grad_y        = y;
    again.grad_w        = w;
    assert_int_equal(ih_backward(referee(), &g.p, one_thread(), &again, NULL, 0, NULL), IH_OK);
    for (int i = 0; i < TOTAL; ++i) {
        const double got_y = ((double *)(void *)gy->at)[i], got_w = ((double *)(void *)gw->at)[i];
        if (i / N == bad_row ? !isnan(got_y) || !isnan(got_w) : got_y != y[i] || got_w != w[i])
            fail_msg("%s: gradient of element %d is %a, %a where row %d is at fault", which->name, i, got_y, got_w, (int)bad_row);
    }
}

static void bad_gradients(void **state)
{
    good        g;
    fit_result  r;
    verdict     v;
    ih_gradient grad;
    guarded     gy, gw;
    double      in[TOTAL];
    int64_t     offsets[ROWS + 1], starts[TOTAL + 1];
    (void)state;
    if (!(impl->features & IH_HAS_GRADIENT)) skip();
    open_good(&g, IH_F64, 0);
    fit_result_open(&r, &g.p);
    assert_int_equal(fit_run(impl, &g.p, NULL, 1, IH_OK, &r, &v), PASSED);
    guarded_open(&gy, sizeof in, 0x77);
    guarded_open(&gw, sizeof in, 0x77);
#define BAD(expected_status, what, at_row, at_index, change)                                                                          \
    do {                                                                                                                              \
        ih_error e = { .size = sizeof e };                                                                                            \
        open_good(&g, IH_F64, 0);                                                                                                     \
        for (int i = 0; i < TOTAL; ++i) in[i] = i;                                                                                    \
        ih_gradient_init(&grad);                                                                                                      \
        grad.block_offsets = r.out.block_offsets;                                                                                     \
        grad.block_starts  = r.out.block_starts;                                                                                      \
        grad.g             = in;                                                                                                      \
        grad.grad_y        = gy.at;                                                                                                   \
        grad.grad_w        = gw.at;                                                                                                   \
        guarded_fill(&gy, 0x77);                                                                                                      \
        guarded_fill(&gw, 0x77);                                                                                                      \
        change;                                                                                                                       \
        assert_int_equal(call_backward(impl, &g.p, NULL, &grad, NULL, 0), expected_status);                                           \
        ih_last_error(&e);                                                                                                            \
        assert_string_equal(e.argument, what);                                                                                        \
        assert_int_equal(e.row, at_row);                                                                                              \
        assert_int_equal(e.index, at_index);                                                                                          \
        if (on_device(impl) && (expected_status) == IH_EDATA) check_gradient_rows(impl, &r, &grad, in, at_row, &gy, &gw);             \
        else assert_true(guarded_untouched(&gy) && guarded_untouched(&gw));                                                           \
    } while (0)
    BAD(IH_EDATA, "g", 2, 1, in[2 * N + 1] = NAN);
    BAD(IH_EDATA, "g", 0, 0, in[0] = -INFINITY; in[3] = NAN);
    BAD(IH_EDATA, "y", 1, 5, g.y64[N + 5] = NAN);
    BAD(IH_EDATA, "w", 3, 0, g.w64[3 * N] = 0);
    BAD(IH_EARGUMENT, "gradient", -1, -1, grad.size = 0);
    BAD(IH_EARGUMENT, "block_offsets", -1, -1, grad.block_offsets = NULL);
    BAD(IH_EARGUMENT, "block_starts", -1, -1, grad.block_starts = NULL);
    BAD(IH_EARGUMENT, "g", -1, -1, grad.g = NULL);
#undef BAD
    /* where arrays lie, by the call itself: it is looked at before anything is touched, also on a device */
    size_t  bytes = 0;
    guarded ws;
    ih_gradient_init(&grad);
    grad.block_offsets = r.out.block_offsets;
    grad.block_starts  = r.out.block_starts;
    grad.g             = in;
    grad.grad_y        = gy.at;
    grad.grad_w        = gw.at;
    assert_int_equal(ih_backward_workspace_bytes(impl, &g.p, NULL, &grad, &bytes), IH_OK);
    guarded_open(&ws, bytes + 512, 0);
#define BAD(what, change)                                                                                                             \
    do {                                                                                                                              \
        ih_error          e    = { .size = sizeof e };                                                                                \
        const ih_gradient kept = grad;                                                                                                \
        change;                                                                                                                       \
        assert_int_equal(ih_backward(impl, &g.p, NULL, &grad, on_device(impl) ? ws.at : NULL, on_device(impl) ? bytes : 0, NULL), IH_EARGUMENT); \
        ih_last_error(&e);                                                                                                            \
        assert_string_equal(e.argument, what);                                                                                        \
        assert_true(guarded_untouched(&gy) && guarded_untouched(&gw));                                                                \
        grad = kept;                                                                                                                  \
    } while (0)
    guarded_fill(&gy, 0x77);
    guarded_fill(&gw, 0x77);
    BAD("grad_y", grad.grad_y = in);
    BAD("grad_w", grad.grad_w = grad.grad_y);
    BAD("grad_w", grad.grad_w = g.w64);
    BAD("grad_w", grad.grad_w = gw.at + 4);
    BAD("g", grad.g = (const char *)in + 1);
    BAD("block_offsets", grad.block_offsets = (const int64_t *)(const void *)((const char *)grad.block_offsets + 4));
    BAD("block_starts", grad.block_starts = (const int64_t *)(const void *)((const char *)grad.block_starts + 2));
#undef BAD
    guarded_close(&ws);
    if (on_device(impl)) goto done; /* blocks on a device are not looked at */
    /* blocks that no fit could have written */
    for (int what = 0; what < 8; ++what) {
        ih_problem p = g.p;
        memcpy(offsets, r.out.block_offsets, sizeof offsets);
        memcpy(starts, r.out.block_starts, (size_t)offsets[ROWS] * 8);
        if (what == 0) offsets[0] = 1;
        if (what == 1) offsets[1] = 0;
        if (what == 2) offsets[2] = offsets[1] + N + 1;
        if (what == 3) offsets[ROWS] = -1;
        if (what == 4) offsets[2] = INT64_MAX;
        if (what == 5) starts[0] = 1;
        if (what == 6) starts[offsets[1]] = 0;
        if (what == 7) starts[offsets[ROWS] - 1] = TOTAL;
        ih_gradient_init(&grad);
        grad.block_offsets = offsets;
        grad.block_starts  = starts;
        grad.g             = in;
        grad.grad_y        = gy.at;
        assert_int_equal(call_backward(impl, &p, NULL, &grad, NULL, 0), IH_EARGUMENT);
        assert_true(guarded_untouched(&gy));
    }
done:
    guarded_close(&gy);
    guarded_close(&gw);
    fit_result_close(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_values),         cmocka_unit_test(several_faults),      cmocka_unit_test(faults_in_long_rows),
        cmocka_unit_test(bad_problem_fields), cmocka_unit_test(bad_offsets),         cmocka_unit_test(bad_pointers),
        cmocka_unit_test(bad_options),        cmocka_unit_test(overlapping_outputs), cmocka_unit_test(bad_workspace),
        cmocka_unit_test(empty_problems),     cmocka_unit_test(bad_gradients),
    };
    impl = implementation_of("test_bad_input", argc > 1 ? argv[1] : NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
