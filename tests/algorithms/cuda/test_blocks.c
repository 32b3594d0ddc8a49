/* SPDX-License-Identifier: Apache-2.0
 * test_blocks.c: block arrays from the bits of block starts, with weights and means, against cpu_exact bit for bit. */
#include "device.h"

#include "cuda/launch.h"
#include "datasets/generate.h"
#include "rows.h"
#include "specs.h"
#include "support.h"

#include "common/values.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int failures, sums_checked;

/* The device's block arrays. without_starts: weights and means are wanted, starts are not. */
static void run(const ih_problem *p, const fit_result *cpu, const int32_t *state, int without_starts, int64_t *offsets, int64_t *starts, double *weights, double *means)
{
    const int64_t total = problem_elements(p), rows = p->rows, words = (total + 31) / 32;
    const size_t  item = problem_item(p), bytes = (size_t)total * 8;
    uint32_t     *bits = calloc((size_t)words + 1, sizeof *bits);
    ih_cuda_fit   f;
    ih_cuda_status status;
    ih_outputs    out;
    void         *scratch;
    size_t        scratch_bytes;

    for (int64_t k = 0; k < cpu->out.block_offsets[rows]; ++k) bits[cpu->out.block_starts[k] / 32] |= 1u << cpu->out.block_starts[k] % 32;
    memset(&f, 0, sizeof f);
    memset(&status, 0, sizeof status);
    f.y       = device_copy(p->y, (size_t)total * item);
    f.w       = device_copy(p->w, (size_t)total * item);
    f.offsets = device_copy(p->offsets, ((size_t)rows + 1) * 8);
    f.rows    = rows;
    f.n       = p->n;
    f.total   = total;
    f.sign    = p->direction == IH_DECREASING ? -1 : 1;
    f.kind    = (p->dtype == IH_F32 ? IH_KIND_F32 : 0) | (p->w ? IH_KIND_WEIGHTED : 0);
    f.bits    = device_copy(bits, (size_t)words * 4);
    f.state   = device_copy(state, (size_t)rows * 4);
    f.status  = device_copy(&status, sizeof status);
    ih_outputs_init(&out);
    out.block_offsets = device_new(((size_t)rows + 1) * 8);
    if (!without_starts) out.block_starts = device_new(bytes);
    if (weights) out.block_weights = device_new(bytes);
    if (means) out.block_means = device_new(bytes);
    scratch_bytes = ih_cuda_blocks_scratch(total, rows, &out);
    scratch       = device_new(scratch_bytes);
    device_must(ih_cuda_launch_blocks(&f, &out, scratch, NULL), "launch");
    device_must(cudaDeviceSynchronize(), "run");
    device_read(offsets, out.block_offsets, ((size_t)rows + 1) * 8);
    if (!without_starts) device_read(starts, out.block_starts, (size_t)offsets[rows] * 8);
    if (weights) device_read(weights, out.block_weights, (size_t)offsets[rows] * 8);
    if (means) device_read(means, out.block_means, (size_t)offsets[rows] * 8);
    device_free(out.block_offsets);
    if (out.block_starts) device_free(out.block_starts);
    if (out.block_weights) device_free(out.block_weights);
    if (out.block_means) device_free(out.block_means);
    device_free(scratch);
    device_free((void *)f.y);
    if (f.w) device_free((void *)f.w);
    if (f.offsets) device_free((void *)f.offsets);
    device_free(f.bits);
    device_free(f.state);
    device_free(f.status);
    free(bits);
}

static int same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static int fault(const char *label, const char *what, int64_t at, double got, double expected)
{
    fprintf(stderr, "%s: %s at %" PRId64 " is %a instead of %a\n", label, what, at, got, expected);
    return ++failures;
}

/* sums: 0 only offsets and starts; else bits of what is wanted: 1 weights, 2 means, 4 without starts. */
static void check(const char *label, const ih_problem *p, int sums)
{
    const int64_t total   = problem_elements(p), rows = p->rows;
    int64_t      *offsets = malloc(((size_t)rows + 1) * 8), *starts = malloc((size_t)total * 8 + 8);
    double       *weights = malloc((size_t)total * 8 + 8), *means = malloc((size_t)total * 8 + 8);
    int32_t      *state   = calloc((size_t)rows + 1, sizeof *state);
    fit_result    cpu;
    verdict       v;

    fit_result_open(&cpu, p);
    if (fit_run(referee(), p, one_thread(), 1, IH_OK, &cpu, &v) != PASSED) {
        fprintf(stderr, "%s: the referee: %s\n", label, v.text);
        ++failures;
    } else {
        const int64_t blocks = cpu.out.block_offsets[rows];
        const int     before = failures;
        run(p, &cpu, state, sums & 4, offsets, starts, sums & 1 ? weights : NULL, sums & 2 ? means : NULL);
        for (int64_t r = 0; r <= rows && failures == before; ++r)
            if (offsets[r] != cpu.out.block_offsets[r]) fault(label, "block_offsets", r, (double)offsets[r], (double)cpu.out.block_offsets[r]);
        for (int64_t k = 0; k < blocks && failures == before; ++k) {
            if (!(sums & 4) && starts[k] != cpu.out.block_starts[k]) fault(label, "block_starts", k, (double)starts[k], (double)cpu.out.block_starts[k]);
            if (sums & 1 && !same(weights[k], cpu.out.block_weights[k])) fault(label, "block_weights", k, weights[k], cpu.out.block_weights[k]);
            if (sums & 2 && !same(means[k], cpu.out.block_means[k])) fault(label, "block_means", k, means[k], cpu.out.block_means[k]);
            sums_checked += sums & 3;
        }
    }
    fit_result_close(&cpu);
    free(offsets);
    free(starts);
    free(weights);
    free(means);
    free(state);
}

static void check_text(const char *text, int sums)
{
    char    message[IH_SPEC_MESSAGE];
    ih_spec s;
    ih_data d;

    if (ih_spec_parse(&s, text, message, sizeof message) || ih_data_generate(&d, &s, 1, message, sizeof message)) {
        fprintf(stderr, "%s: %s\n", text, message);
        exit(1);
    }
    check(text, &d.problem, sums);
    ih_data_free(&d);
}

static void random_problems(int64_t count)
{
    for (int64_t k = 0; k < count; ++k) {
        const uint64_t seed = 7000 + (uint64_t)k;
        rng            r = rng_seeded(seed);
        const int      sums = (int)rng_below(&r, 8);
        char           label[64];

        snprintf(label, sizeof label, "seed %" PRIu64, seed);
        if (rng_one_in(&r, 2)) {
            random_problem rp;
            random_problem_open(&rp, seed, 3000);
            check(label, &rp.problem, sums);
            random_problem_close(&rp);
        } else {
            ih_spec s = spec_random(&r, 5000);
            ih_data d;
            char    text[IH_SPEC_PATH];
            ih_spec_format(&s, text, sizeof text);
            check_text(text, sums);
            (void)d;
        }
    }
}

/* Lengths at the seams of words, windows and tiles; one block, and one of each element. */
static void seams(void)
{
    static const int64_t seam[] = { 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2047, 2049, 3072, 32767, 32768, 32769, 70000 };
    static const char *const family[] = { "decreasing", "increasing", "noise", "sawtooth:period=33", "sawtooth:period=700" };

    for (size_t k = 0; k < sizeof seam / sizeof *seam; ++k)
        for (size_t m = 0; m < sizeof family / sizeof *family; ++m) {
            char text[128];
            snprintf(text, sizeof text, "%s:f%d:w=%s:n=%" PRId64, family[m], m % 2 ? 32 : 64, k % 2 ? "uniform" : "unit", seam[k]);
            check_text(text, 3);
        }
}

/* Long blocks whose values are out of the range of the pairs. */
static void long_blocks_in_integers(void)
{
    static const int64_t length[] = { 700, 16384, 16385, 70000 };

    for (int c = 0; c < 16; ++c) {
        const int64_t n = length[c / 4], rows = 2;
        double       *y = malloc((size_t)(rows * n) * 8), *w = malloc((size_t)(rows * n) * 8);
        rng           r = rng_seeded((uint64_t)c);
        ih_problem    p;
        char          label[64];

        for (int64_t i = 0; i < rows * n; ++i) {
            y[i] = ldexp((double)(n / 3 - i % n), c & 2 ? -700 : 800);
            w[i] = ldexp(0.5 + rng_unit(&r), i & 1 ? -200 : 200);
        }
        ih_problem_init(&p);
        p.dtype = IH_F64;
        p.rows  = rows;
        p.n     = n;
        p.y     = y;
        p.w     = c & 1 ? w : NULL;
        snprintf(label, sizeof label, "integers %d", c);
        check(label, &p, 3);
        free(y);
        free(w);
    }
}

/* A row at fault has one block, whose weight and mean are NaN; the others are as they would be alone. */
static void rows_at_fault(void)
{
    enum { ROWS = 3, N = 25000 };
    static float y[ROWS * N], w[ROWS * N];
    static int64_t offsets[ROWS + 1], starts[ROWS * N];
    static double  weights[ROWS * N], means[ROWS * N];

    for (int weighted = 0; weighted < 2; ++weighted)
        for (int bad = 0; bad < ROWS; ++bad) {
            int32_t    state[ROWS] = { 0 };
            ih_problem p;
            fit_result cpu;
            ih_problem_init(&p);
            p.dtype = IH_F32;
            p.rows  = ROWS;
            p.n     = N;
            p.y     = y;
            p.w     = weighted ? w : NULL;
            for (int i = 0; i < ROWS * N; ++i) y[i] = (float)-i, w[i] = 1;
            fit_result_open(&cpu, &p);
            for (int r = 0; r <= ROWS; ++r) cpu.out.block_offsets[r] = r;
            for (int r = 0; r < ROWS; ++r) cpu.out.block_starts[r] = (int64_t)r * N;
            state[bad] = IH_ROW_FAULT | IH_ROW_UNCERTAIN;
            if (weighted) w[bad * N + 7] = -1;
            else y[bad * N + 7] = NAN;
            run(&p, &cpu, state, 0, offsets, starts, weights, means);
            for (int r = 0; r < ROWS; ++r) {
                const double mean = -(double)r * N - (N - 1) / 2.0;
                if (r == bad ? !isnan(means[r]) || !isnan(weights[r]) : means[r] != mean || weights[r] != N) fault("row at fault", "mean", r, means[r], mean);
            }
            fit_result_close(&cpu);
        }
}

int main(void)
{
    device_there();
    seams();
    rows_at_fault();
    long_blocks_in_integers();
    random_problems(scaled(400));
    check_text("noise:f32:n=1000000", 3);
    check_text("decreasing:f64:w=uniform:n=600000", 3);
    check_text("noise:f32:rows=20000:n=16", 3);
    check_text("constant:f32:rows=3:n=0", 3);
    printf("%d sums of blocks compared, %d faults\n", sums_checked, failures);
    return failures > 0 || sums_checked == 0;
}
