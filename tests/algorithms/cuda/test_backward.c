/* SPDX-License-Identifier: Apache-2.0
 * test_backward.c: gradients on the device against those of the CPU, which tests/algorithms/cpu holds against exact rationals:
 * each block to the accuracy that both promise, the same bits alone and in a batch, exact zeros, rows at fault. */
#include "device.h"

#include "cuda/launch.h"
#include "datasets/generate.h"
#include "rows.h"
#include "specs.h"
#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int     failures;
static int64_t entries, zeros, single;

typedef struct gradients { void *y, *w; ih_cuda_status status; } gradients;

/* A bound in the type of the problem, as ih_backward passes it on. */
static double bound_of(const ih_problem *p, double v)
{
    volatile float rounded = (float)v; /* gcc 12 at -O3 leaves out a conversion to float and back under a condition */
    return p->dtype == IH_F32 ? (double)rounded : v;
}

/* The gradients that `which` asks for (1: in y, 2: in w), of a problem and blocks in host memory. */
static gradients run(const ih_problem *host, const int64_t *block_offsets, const int64_t *block_starts, const void *g, int which)
{
    const int64_t total = problem_elements(host), rows = host->rows;
    const size_t  bytes = (size_t)total * problem_item(host), ws_bytes_most = (size_t)1 << 40;
    ih_problem    p     = *host;
    ih_gradient   gradient;
    gradients     got;
    void         *ws;
    size_t        ws_bytes;

    p.y       = device_copy(host->y, bytes);
    p.w       = device_copy(host->w, bytes);
    p.offsets = device_copy(host->offsets, ((size_t)rows + 1) * 8);
    p.y_min = bound_of(host, host->y_min);
    p.y_max = bound_of(host, host->y_max);
    ih_gradient_init(&gradient);
    gradient.block_offsets = device_copy(block_offsets, ((size_t)rows + 1) * 8);
    gradient.block_starts  = device_copy(block_starts, (size_t)block_offsets[rows] * 8);
    gradient.g             = device_copy(g, bytes);
    if (which & 1) gradient.grad_y = device_new(bytes);
    if (which & 2) gradient.grad_w = device_new(bytes);
    ws_bytes = ih_cuda_backward_bytes(&p, &gradient);
    if (ws_bytes > ws_bytes_most) exit(1);
    ws = device_new(ws_bytes);
    device_must(ih_cuda_launch_backward(&p, &gradient, ws, NULL), "launch");
    device_must(cudaDeviceSynchronize(), "run");
    got.y = got.w = NULL;
    if (which & 1) device_read(got.y = malloc(bytes + 1), gradient.grad_y, bytes);
    if (which & 2) device_read(got.w = malloc(bytes + 1), gradient.grad_w, bytes);
    device_read(&got.status, ws, sizeof got.status);
    device_free((void *)p.y);
    if (p.w) device_free((void *)p.w);
    if (p.offsets) device_free((void *)p.offsets);
    device_free((void *)gradient.block_offsets);
    device_free((void *)gradient.block_starts);
    device_free((void *)gradient.g);
    if (gradient.grad_y) device_free(gradient.grad_y);
    if (gradient.grad_w) device_free(gradient.grad_w);
    device_free(ws);
    return got;
}

static void discard(gradients *g)
{
    free(g->y);
    free(g->w);
}

static void fault(const char *label, const char *what, int64_t at, double got, double expected)
{
    fprintf(stderr, "%s: %s at %" PRId64 " is %a instead of %a\n", label, what, at, got, expected);
    ++failures;
}

/* Entries of a block against those of the CPU: each is right to 2^-45 (float32: 2^-22) of the largest of its block, or but for the
 * rounding of a subnormal; what is exactly 0 there is +0. */
static void compare_block(const char *label, const char *what, const ih_problem *p, const void *got, const void *expected, int64_t a, int64_t b)
{
    const double tolerance = p->dtype == IH_F32 ? 0x1p-21 : 0x1p-44, least = p->dtype == IH_F32 ? 0x1p-148 : 0x1p-1073;
    double       largest = 0;

    for (int64_t i = a; i < b; ++i) largest = fmax(largest, fabs(problem_value(p, expected, i)));
    for (int64_t i = a; i < b; ++i) {
        const double x = problem_value(p, got, i), e = problem_value(p, expected, i);
        ++entries;
        zeros += largest == 0;
        if (x == e && (e != 0 || largest != 0 || !signbit(x) == !signbit(e))) continue;
        if (largest == 0 || !(fabs(x - e) <= tolerance * largest + least)) {
            fault(label, what, i, x, e);
            return;
        }
    }
}

static void check_rows_alone(const char *label, const ih_problem *p, const fit_result *fit, const void *g, const gradients *all, int which)
{
    const size_t item = problem_item(p);
    for (int64_t r = 0; r < p->rows && r < 40; ++r) {
        const int64_t begin = problem_row_begin(p, r), n = problem_row_length(p, r), k = fit->out.block_offsets[r], blocks = fit->out.block_offsets[r + 1] - k;
        const int64_t offsets[2] = { 0, blocks };
        int64_t      *starts     = malloc((size_t)blocks * 8 + 8);
        ih_problem    row        = *p;
        gradients     one;

        if (n == 0) {
            free(starts);
            continue;
        }
        for (int64_t b = 0; b < blocks; ++b) starts[b] = fit->out.block_starts[k + b] - begin;
        row.rows    = 1;
        row.n       = n;
        row.offsets = NULL;
        row.y       = (const char *)p->y + (size_t)begin * item;
        row.w       = p->w ? (const char *)p->w + (size_t)begin * item : NULL;
        one         = run(&row, offsets, starts, (const char *)g + (size_t)begin * item, which);
        ++single;
        if ((which & 1 && memcmp(one.y, (const char *)all->y + (size_t)begin * item, (size_t)n * item) != 0) ||
            (which & 2 && memcmp(one.w, (const char *)all->w + (size_t)begin * item, (size_t)n * item) != 0))
            fault(label, "bits of a row alone: row", r, 0, 0);
        discard(&one);
        free(starts);
    }
}

/* g, or NULL for a random one */
static void check(const char *label, const ih_problem *p, const void *given, uint64_t seed)
{
    const int64_t total = problem_elements(p);
    const size_t  item  = problem_item(p), bytes = (size_t)total * item;
    rng           r     = rng_seeded(seed ^ 0xb0b);
    char         *g     = malloc(bytes + 1), *expected[2] = { malloc(bytes + 1), malloc(bytes + 1) };
    const int     before = failures;
    fit_result    fit;
    verdict       v;

    random_values(&r, p->dtype, total, g);
    if (rng_one_in(&r, 3)) /* sums cancel in pairs, but for some */
        for (int64_t i = 1; i < total; i += 2)
            if (!rng_one_in(&r, 9)) {
                memcpy(g + (size_t)i * item, g + (size_t)(i - 1) * item, item);
                g[(size_t)(i + 1) * item - 1] = (char)(g[(size_t)(i + 1) * item - 1] ^ 0x80);
            }
    if (rng_one_in(&r, 3))
        for (int64_t i = 0; i < total; ++i)
            if (!rng_one_in(&r, 5)) memset(g + (size_t)i * item, 0, item);
    if (given) memcpy(g, given, bytes);
    fit_result_open(&fit, p);
    if (fit_run(referee(), p, one_thread(), 1, IH_OK, &fit, &v) != PASSED) {
        fprintf(stderr, "%s: the referee: %s\n", label, v.text);
        ++failures;
    } else {
        ih_gradient gradient;
        ih_gradient_init(&gradient);
        gradient.block_offsets = fit.out.block_offsets;
        gradient.block_starts  = fit.out.block_starts;
        gradient.g             = g;
        gradient.grad_y        = expected[0];
        gradient.grad_w        = expected[1];
        if (total && ih_backward(referee(), p, one_thread(), &gradient, NULL, 0, NULL) != IH_OK) {
            fprintf(stderr, "%s: the referee's gradient\n", label);
            ++failures;
        }
        for (int which = 1; which <= 3 && total && failures == before; ++which) {
            gradients got = run(p, fit.out.block_offsets, fit.out.block_starts, g, which);
            for (int64_t k = 0; k < fit.out.block_offsets[p->rows] && failures == before; ++k) {
                const int64_t a = fit.out.block_starts[k], b = k + 1 < fit.out.block_offsets[p->rows] ? fit.out.block_starts[k + 1] : total;
                if (which & 1) compare_block(label, "grad_y", p, got.y, expected[0], a, b);
                if (which & 2) compare_block(label, "grad_w", p, got.w, expected[1], a, b);
            }
            if (got.status.fault) fault(label, "fault", 0, (double)got.status.fault, 0);
            if (which != 2 && failures == before && p->rows > 1) check_rows_alone(label, p, &fit, g, &got, which);
            discard(&got);
        }
    }
    fit_result_close(&fit);
    free(g);
    free(expected[0]);
    free(expected[1]);
}

/* bounds: 1 in 3 on each side, values of y or next to them */
static void bound(ih_problem *p, rng *r)
{
    const int64_t total = problem_elements(p);
    if (total == 0) return;
    if (rng_one_in(r, 3)) p->y_min = problem_value(p, p->y, rng_below(r, total));
    if (rng_one_in(r, 3)) p->y_max = problem_value(p, p->y, rng_below(r, total));
    if (rng_one_in(r, 3)) p->y_min = nextafter(p->y_min, 0);
    if (!(p->y_min <= p->y_max)) p->y_min = -INFINITY;
}

static void check_text(const char *text, uint64_t seed, int bounded)
{
    char    message[IH_SPEC_MESSAGE];
    rng     r = rng_seeded(seed);
    ih_spec s;
    ih_data d;

    if (ih_spec_parse(&s, text, message, sizeof message) || ih_data_generate(&d, &s, 1, message, sizeof message)) {
        fprintf(stderr, "%s: %s\n", text, message);
        exit(1);
    }
    if (bounded) bound(&d.problem, &r);
    check(text, &d.problem, NULL, seed);
    ih_data_free(&d);
}

static void random_problems(int64_t count)
{
    for (int64_t k = 0; k < count; ++k) {
        const uint64_t seed = 9000 + (uint64_t)k;
        rng            r    = rng_seeded(seed);

        if (rng_one_in(&r, 2)) {
            random_problem rp;
            char           label[64];
            snprintf(label, sizeof label, "seed %" PRIu64, seed);
            random_problem_open(&rp, seed, 3000);
            bound(&rp.problem, &r);
            check(label, &rp.problem, NULL, seed);
            random_problem_close(&rp);
        } else {
            ih_spec s = spec_random(&r, 5000);
            char    text[IH_SPEC_PATH];
            ih_spec_format(&s, text, sizeof text);
            check_text(text, seed, 1);
        }
    }
}

/* Lengths at the seams of short, medium, large and long blocks and of windows. */
static void seams(void)
{
    static const int64_t seam[] = { 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 1056, 2047, 2049, 3072, 5000 };
    static const char *const family[] = { "decreasing", "increasing", "noise", "sawtooth:period=33", "decreasing:rows=3", "decreasing:rows=5:ragged=scales" };

    for (size_t k = 0; k < sizeof seam / sizeof *seam; ++k)
        for (size_t m = 0; m < sizeof family / sizeof *family; ++m)
            for (int type = 0; type < 4; ++type) {
                char text[128];
                snprintf(text, sizeof text, "%s:f%d:w=%s:n=%" PRId64, family[m], type % 2 ? 32 : 64, type / 2 ? "uniform" : "unit", seam[k]);
                check_text(text, k, (k + m) % 2);
            }
}

/* Long blocks that only integers settle: sums of g that cancel but for a needle, and y out of the range of the pairs. */
static void long_blocks_in_integers(void)
{
    static const int64_t length[] = { 700, 16384, 16385, 40000 };

    for (int c = 0; c < 16; ++c) {
        const int64_t n = length[c / 4], rows = 2;
        const int     weighted = c & 1, tiny = c & 2, bounded = (c >> 2 ^ c >> 1) & 1;
        double       *y = malloc((size_t)(rows * n) * 8), *w = malloc((size_t)(rows * n) * 8), *g = malloc((size_t)(rows * n) * 8);
        rng           r = rng_seeded((uint64_t)c);
        ih_problem    p;
        char          label[64];

        for (int64_t i = 0; i < rows * n; ++i) {
            y[i] = ldexp(-(double)(i % n), tiny ? -700 : 0);
            w[i] = 0.5 + rng_unit(&r);
            g[i] = i & 1 ? -g[i - 1] : ldexp(rng_bell(&r), (int)rng_below(&r, 20));
        }
        for (int64_t k = 0; k < rows; ++k) {
            for (int64_t i = n - 1; i > 0; --i) {
                const int64_t j = rng_below(&r, i + 1);
                const double  t = g[k * n + i];
                g[k * n + i]    = g[k * n + j];
                g[k * n + j]    = t;
            }
            g[k * n + rng_below(&r, n)] = ldexp(rng_bell(&r), -150);
        }
        ih_problem_init(&p);
        p.dtype = IH_F64;
        p.rows  = rows;
        p.n     = n;
        p.y     = y;
        p.w     = weighted ? w : NULL;
        if (bounded) p.y_max = ldexp(-(double)(n - 1) / 2, tiny ? -700 : 0); /* without weights the mean itself */
        snprintf(label, sizeof label, "integers %d", c);
        check(label, &p, g, (uint64_t)c);
        free(y);
        free(w);
        free(g);
    }
}

/* A value of g, y or w that is not allowed: NaN in its row, the others as without it, and its place in the status. */
static void rows_at_fault(void)
{
    enum { ROWS = 4, MOST = ROWS * 20000 };
    static const struct { double value; ih_fault fault; } bad[] = {
        { NAN, IH_FAULT_NAN }, { INFINITY, IH_FAULT_INFINITE }, { -INFINITY, IH_FAULT_INFINITE }, { 0, IH_FAULT_ZERO }, { -1, IH_FAULT_NEGATIVE }
    };
    static double  y[MOST], w[MOST], g[MOST];
    static float   y32[MOST], w32[MOST], g32[MOST];
    static int64_t starts[MOST];

    for (int c = 0; c < 240; ++c) {
        const int     type = c % 2, ragged = c / 2 % 2, length = c / 4 % 4, argument = c / 16 % 3, kind = c / 48 % 5;
        const int64_t n    = length == 3 ? 20000 : 1500, total = ROWS * n, at = 3 * n / 2 + c % 7;
        const int64_t each = length == 0 ? 1 : length == 1 ? 50 : n, offsets[ROWS + 1] = { 0, 100, 100, at, total };
        double       *const array[] = { y, w, g };
        int64_t       block_offsets[ROWS + 1] = { 0 }, row = 0, blocks = 0;
        ih_problem    p;
        gradients     want, got;

        if (kind > 2 && argument != IH_ARGUMENT_W) continue;
        if (kind == 2 && argument == IH_ARGUMENT_W) continue; /* minus infinity is a negative weight */
        ih_problem_init(&p);
        p.dtype   = type ? IH_F32 : IH_F64;
        p.rows    = ROWS;
        p.n       = ragged ? total : n;
        p.offsets = ragged ? offsets : NULL;
        p.y       = type ? (void *)y32 : (void *)y;
        p.w       = type ? (void *)w32 : (void *)w;
        for (int r = 0; r < ROWS; ++r) {
            for (int64_t i = problem_row_begin(&p, r); i < problem_row_begin(&p, r) + problem_row_length(&p, r); i += each) starts[blocks++] = i;
            block_offsets[r + 1] = blocks;
        }
        for (int pass = 0; pass < 2; ++pass) {
            for (int i = 0; i < total; ++i) y[i] = (i * 7) % 11, w[i] = 1 + i % 3, g[i] = i % 13 - 3;
            if (pass) array[argument][at] = bad[kind].value;
            for (int i = 0; i < total; ++i) y32[i] = (float)y[i], w32[i] = (float)w[i], g32[i] = (float)g[i];
            *(pass ? &got : &want) = run(&p, block_offsets, starts, type ? (void *)g32 : (void *)g, 3);
        }
        while (problem_row_begin(&p, row) + problem_row_length(&p, row) <= at) ++row;
        for (int64_t i = 0; i < total; ++i) {
            const int in = i >= problem_row_begin(&p, row) && i < problem_row_begin(&p, row) + problem_row_length(&p, row);
            for (int k = 0; k < 2; ++k) {
                const double x = problem_value(&p, k ? got.w : got.y, i), e = problem_value(&p, k ? want.w : want.y, i);
                if (in ? !isnan(x) : x != e) {
                    fault("row at fault", k ? "grad_w" : "grad_y", i, x, e);
                    i = total;
                    break;
                }
            }
        }
        if (~got.status.fault != ((uint64_t)at << 6) + ((uint64_t)argument << 3) + (uint64_t)bad[kind].fault || got.status.fault_row != row ||
            got.status.fault_begin != problem_row_begin(&p, row) || want.status.fault)
            fault("row at fault", "status", at, (double)~got.status.fault, (double)got.status.fault_row);
        discard(&want);
        discard(&got);
    }
}

/* Ragged offsets that fall: the fit has written no blocks; the status says where. */
static void offsets_at_fault(void)
{
    enum { ROWS = 3, N = 10 };
    static const int64_t offsets[ROWS + 1] = { 0, 7, 5, N }, none[ROWS + 1] = { 0 };
    static const double  y[N] = { 0 };
    ih_problem           p;
    gradients            got;

    ih_problem_init(&p);
    p.dtype   = IH_F64;
    p.rows    = ROWS;
    p.n       = N;
    p.offsets = offsets;
    p.y       = y;
    got       = run(&p, none, none, y, 3);
    if (~got.status.fault != (2u << 6) + (IH_ARGUMENT_OFFSETS << 3) + IH_FAULT_OFFSETS || !got.status.stopped) fault("offsets", "status", 2, (double)~got.status.fault, 2);
    discard(&got);
}

int main(void)
{
    device_there();
    seams();
    offsets_at_fault();
    rows_at_fault();
    long_blocks_in_integers();
    random_problems(scaled(150));
    check_text("decreasing:f32:n=600000", 1, 0);
    check_text("decreasing:f64:w=uniform:n=600000", 2, 1);
    check_text("trend:f32:n=200000", 3, 0);
    check_text("noise:f32:rows=5000:n=16", 4, 0);
    printf("%" PRId64 " entries compared, %" PRId64 " of them zeros; %" PRId64 " rows alone; %d faults\n", entries, zeros, single, failures);
    return failures > 0 || entries == 0 || single == 0;
}
