/* SPDX-License-Identifier: Apache-2.0
 * test_device.c: an implementation of a device as a guest on the caller's streams: any stream, two at once, captured into a graph that
 * is replayed with new data, the same bits every time, calls that only enqueue; and a device that is not there.
 *
 *   test_device IMPL                 all of it
 *   test_device IMPL capture-first   a capture that is the first thing the process does on the device
 *   test_device IMPL no-device       (started by the test) every call says that there is none */
#include "call.h"
#include "device_fit.h"
#include "faulty.h"
#include "rows.h"

#include "datasets/generate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const ih_impl *impl;
static const char    *program;

/* Problems that take every way through a solver: short rows, trees, ragged, rows left to integers, bounds. */
static const char *const problems[] = {
    "noise:f32:n=5000",
    "increasing:f64:w=uniform:n=5000",
    "trend:f32:rows=300:n=16",
    "sawtooth:f64:rows=20:n=700:dec=1",
    "near_ties:f32:w=wide:rows=3:n=1500",
    "wide:f64:w=wide:n=3000",
    "ties:f64:rows=40:ragged=scales:n=600",
    "noise:f32:w=extreme:rows=60:ragged=empty:n=100:min=-0.25:max=0.5",
    "noise:f64:n=70001",
};
enum { PROBLEMS = sizeof problems / sizeof problems[0] };

typedef struct subject {
    ih_data    data;
    device_fit fit;
    fit_result expected, got;
} subject;

static void make(ih_data *d, const char *text, int64_t seed)
{
    ih_spec s;
    char    message[IH_SPEC_MESSAGE];

    if (ih_spec_parse(&s, text, message, sizeof message) != 0) fail_msg("%s", message);
    s.seed = seed;
    if (ih_data_generate(d, &s, 1, message, sizeof message) != 0) fail_msg("%s", message);
}

static void expect(const ih_problem *p, fit_result *r)
{
    verdict v = { "" };
    if (fit_run(referee(), p, one_thread(), 1, IH_OK, r, &v) != PASSED) fail_msg("%s", v.text);
}

static void open_subject(subject *s, const char *text, int64_t seed)
{
    make(&s->data, text, seed);
    device_fit_open(&s->fit, impl, &s->data.problem, NULL);
    fit_result_open(&s->expected, &s->data.problem);
    fit_result_open(&s->got, &s->data.problem);
    expect(&s->data.problem, &s->expected);
}

static void close_subject(subject *s)
{
    device_fit_close(&s->fit);
    fit_result_close(&s->expected);
    fit_result_close(&s->got);
    ih_data_free(&s->data);
}

static void check(subject *s, const char *text)
{
    verdict v = { "" };
    assert_int_equal(device_fit_read(&s->fit, &s->got), IH_OK);
    if (!fit_equal(&s->data.problem, &s->expected, &s->got, &v)) fail_msg("%s: %s", text, v.text);
}

/* ---- streams ---- */

static void any_stream(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        subject      s;
        cudaStream_t own = NULL, blocking = NULL;
        open_subject(&s, problems[k], k);
        device_must(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), "stream");
        device_must(cudaStreamCreate(&blocking), "stream");
        const cudaStream_t streams[] = { NULL, own, blocking, cudaStreamPerThread };
        for (int i = 0; i < 4; ++i) {
            device_must(cudaMemset(s.fit.out.z, 0xa7, s.got.z.bytes), "poison");
            device_must(cudaDeviceSynchronize(), "poison");
            assert_int_equal(device_fit_enqueue(&s.fit, streams[i]), IH_OK);
            device_must(cudaStreamSynchronize(streams[i]), "fit");
            check(&s, problems[k]);
        }
        cudaStreamDestroy(own);
        cudaStreamDestroy(blocking);
        close_subject(&s);
    }
}

/* Fits of other problems under way on both streams at the same time, many times over. */
static void two_streams(void **state)
{
    const int64_t times = scaled(50);
    (void)state;
    for (int k = 0; k + 1 < PROBLEMS; ++k) {
        subject      s[2];
        cudaStream_t streams[2];
        for (int i = 0; i < 2; ++i) {
            open_subject(&s[i], problems[k + i], 10 + k);
            device_must(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), "stream");
        }
        for (int64_t t = 0; t < times; ++t)
            for (int i = 0; i < 2; ++i) assert_int_equal(device_fit_enqueue(&s[i].fit, streams[i]), IH_OK);
        for (int i = 0; i < 2; ++i) {
            device_must(cudaStreamSynchronize(streams[i]), "fits");
            check(&s[i], problems[k + i]);
        }
        for (int i = 0; i < 2; ++i) {
            close_subject(&s[i]);
            cudaStreamDestroy(streams[i]);
        }
    }
}

/* ---- graphs ---- */

/* Fit and gradient in one graph. */
static void capture(subject *s, cudaStream_t stream, cudaGraphExec_t *exec)
{
    cudaGraph_t graph;

    device_must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin of the capture");
    assert_int_equal(device_fit_enqueue(&s->fit, stream), IH_OK);
    if (s->fit.gradient_ws) assert_int_equal(device_fit_enqueue_gradient(&s->fit, stream), IH_OK);
    device_must(cudaStreamEndCapture(stream, &graph), "end of the capture"); /* fails if a call waited or allocated */
    device_must(cudaGraphInstantiate(exec, graph, 0), "graph");
    device_must(cudaGraphDestroy(graph), "graph");
}

/* The gradient of a replay has the bits of one that is called. */
static void check_gradient(subject *s, size_t bytes)
{
    char        *grad[4];
    device_fit   direct;
    char        *g = malloc(bytes + 1);

    device_read(g, s->fit.gradient.g, bytes);
    device_fit_open(&direct, impl, &s->data.problem, NULL);
    device_fit_with_gradient(&direct, g);
    assert_int_equal(device_fit_enqueue(&direct, NULL), IH_OK);
    assert_int_equal(device_fit_enqueue_gradient(&direct, NULL), IH_OK);
    device_must(cudaDeviceSynchronize(), "gradient");
    for (int k = 0; k < 4; ++k) {
        const device_fit *f = k < 2 ? &s->fit : &direct;
        grad[k] = malloc(bytes + 1);
        device_read(grad[k], k % 2 ? f->gradient.grad_w : f->gradient.grad_y, bytes);
    }
    assert_memory_equal(grad[0], grad[2], bytes);
    assert_memory_equal(grad[1], grad[3], bytes);
    for (int k = 0; k < 4; ++k) free(grad[k]);
    device_fit_close(&direct);
    free(g);
}

/* New data in place between replays: other values, then values at fault, then good ones again. */
static void replayed_graph(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        subject         s;
        cudaStream_t    stream;
        cudaGraphExec_t exec;
        open_subject(&s, problems[k], k);
        const size_t bytes = s.got.z.bytes;
        device_fit_with_gradient(&s.fit, s.data.y);
        device_must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
        capture(&s, stream, &exec);
        device_must(cudaMemset(s.fit.out.z, 0xa7, bytes), "poison");
        device_must(cudaDeviceSynchronize(), "poison");
        for (int replay = 0; replay < 5; ++replay) {
            ih_data other;
            verdict v = { "" };
            make(&other, problems[k], replay < 2 ? k : 100 * replay);
            if (replay == 3) { /* one NaN in the last element */
                if (other.problem.dtype == IH_F32) memset((char *)other.y + bytes - 4, 0xff, 4);
                else memset((char *)other.y + bytes - 8, 0xff, 8);
            }
            /* rows of a ragged law have other lengths under another seed: only y is taken, whatever it was made for */
            const size_t had = (size_t)problem_elements(&other.problem) * problem_item(&other.problem), n = had < bytes ? had : bytes;
            if (replay != 3 || had == bytes) memcpy(s.data.y, other.y, n);
            else memset((char *)s.data.y + bytes - problem_item(&s.data.problem), 0xff, problem_item(&s.data.problem));
            device_fit_set_y(&s.fit, s.data.y, stream);
            device_must(cudaGraphLaunch(exec, stream), "replay");
            device_must(cudaStreamSynchronize(stream), "replay");
            if (replay == 3) {
                assert_int_equal(device_fit_read(&s.fit, &s.got), IH_EDATA);
                if (faulty_rows_check(&s.data.problem, &s.got, &v) != PASSED) fail_msg("%s, replay %d: %s", problems[k], replay, v.text);
                memset((char *)s.data.y + bytes - problem_item(&s.data.problem), 0, problem_item(&s.data.problem));
            } else {
                expect(&s.data.problem, &s.expected);
                check(&s, problems[k]);
                check_gradient(&s, bytes);
            }
            ih_data_free(&other);
        }
        device_must(cudaGraphExecDestroy(exec), "graph");
        cudaStreamDestroy(stream);
        close_subject(&s);
    }
}

static int capture_first(void)
{
    subject         s;
    cudaStream_t    stream;
    cudaGraphExec_t exec;

    for (int k = 0; k < PROBLEMS; ++k) {
        open_subject(&s, problems[k], k);
        device_fit_with_gradient(&s.fit, s.data.y);
        device_must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
        capture(&s, stream, &exec);
        device_must(cudaGraphLaunch(exec, stream), "replay");
        device_must(cudaStreamSynchronize(stream), "replay");
        check(&s, problems[k]);
        device_must(cudaGraphExecDestroy(exec), "graph");
        cudaStreamDestroy(stream);
        close_subject(&s);
    }
    return 0;
}

static void captured_first(void **state)
{
    char command[4096];
    (void)state;
    snprintf(command, sizeof command, "'%s' %s capture-first", program, impl->name);
    assert_int_equal(system(command), 0);
}

/* ---- the same bits, and only enqueued ---- */

static void hundred_times(void **state)
{
    const int times = emulated() ? 8 : 100;
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        subject s;
        char   *first[2] = { NULL, NULL }, *again;
        open_subject(&s, problems[k], 7 * k);
        device_fit_with_gradient(&s.fit, s.data.y);
        const size_t bytes = s.got.z.bytes;
        again = malloc(bytes + 1);
        for (int t = 0; t < times; ++t) {
            char seed[16];
            snprintf(seed, sizeof seed, "%d", t);
            setenv("IH_EMULATED_SEED", seed, 1); /* the emulator then runs lanes, warps and blocks in another order */
            device_must(cudaMemset(s.fit.ws, t % 2 ? 0xff : t, s.fit.ws_bytes), "workspace");
            device_must(cudaMemset(s.fit.gradient_ws, t % 2 ? 0xff : t, s.fit.gradient_ws_bytes), "workspace");
            assert_int_equal(device_fit_enqueue(&s.fit, NULL), IH_OK);
            assert_int_equal(device_fit_enqueue_gradient(&s.fit, NULL), IH_OK);
            device_must(cudaDeviceSynchronize(), "fit");
            check(&s, problems[k]);
            for (int i = 0; i < 2; ++i) {
                device_read(again, i ? s.fit.gradient.grad_w : s.fit.gradient.grad_y, bytes);
                if (t == 0) memcpy(first[i] = malloc(bytes + 1), again, bytes);
                else if (memcmp(first[i], again, bytes) != 0) fail_msg("%s: gradient %d has other bits in run %d", problems[k], i, t);
            }
        }
        unsetenv("IH_EMULATED_SEED");
        free(again);
        free(first[0]);
        free(first[1]);
        close_subject(&s);
    }
}

/* The emulator counts; on a GPU captured_first and replayed_graph would fail. */
static void only_enqueues(void **state)
{
    (void)state;
#if defined(IH_CUDA_EMULATED)
    for (int k = 0; k < PROBLEMS; ++k) {
        subject s;
        open_subject(&s, problems[k], k);
        device_fit_with_gradient(&s.fit, s.data.y);
        const ih_emulated_counts_s before = ih_emulated_counts();
        assert_int_equal(device_fit_enqueue(&s.fit, NULL), IH_OK);
        assert_int_equal(device_fit_enqueue_gradient(&s.fit, NULL), IH_OK);
        const ih_emulated_counts_s after = ih_emulated_counts();
        assert_int_equal(after.allocations, before.allocations);
        assert_int_equal(after.waits, before.waits);
        assert_int_equal(after.copies, before.copies);
        assert_true(after.launches > before.launches);
        device_must(cudaDeviceSynchronize(), "fit");
        check(&s, problems[k]);
        close_subject(&s);
    }
#else
    skip();
#endif
}

/* ---- no device ---- */

static int no_device(void)
{
    static const float y[3] = { 1, 3, 2 };
    float              z[3] = { 7, 7, 7 };
    char               ws[512];
    ih_problem         p;
    ih_outputs         out;
    ih_error           e = { .size = sizeof e };
    size_t             bytes = 0;

    ih_problem_init(&p);
    p.rows = 1;
    p.n    = 3;
    p.y    = y;
    ih_outputs_init(&out);
    out.z = z;
    if (ih_impl_available(impl) != IH_ENODEVICE) return 1;
    ih_last_error(&e);
    if (e.status != IH_ENODEVICE || !strstr(e.message, "no CUDA device")) return 2;
    if (ih_workspace_bytes(impl, &p, NULL, &out, &bytes) != IH_OK || bytes == 0) return 3; /* a matter of the shape alone */
    if (ih_fit(impl, &p, NULL, &out, ws, sizeof ws, NULL) != IH_ENODEVICE || z[0] != 7) return 4;
    return 0;
}

static void device_not_there(void **state)
{
    char command[4096];
    (void)state;
    snprintf(command, sizeof command, "IH_EMULATED_DEVICES=0 CUDA_VISIBLE_DEVICES= '%s' %s no-device", program, impl->name);
    assert_int_equal(system(command), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_stream),    cmocka_unit_test(two_streams),   cmocka_unit_test(captured_first),   cmocka_unit_test(replayed_graph),
        cmocka_unit_test(hundred_times), cmocka_unit_test(only_enqueues), cmocka_unit_test(device_not_there),
    };
    program = argv[0];
    impl    = argc > 1 ? ih_impl_find(argv[1]) : NULL;
    if (argc > 2 && strcmp(argv[2], "no-device") == 0) return impl ? no_device() : 9;
    impl = implementation_of("test_device", argc > 1 ? argv[1] : NULL);
    if (argc > 2 && strcmp(argv[2], "capture-first") == 0) return capture_first();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
