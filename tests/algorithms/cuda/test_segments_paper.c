/* SPDX-License-Identifier: Apache-2.0
 * test_segments_paper.c: the approximate solver against cpu_exact: fits near it on the families, at all seams of lengths, ragged,
 * weighted, of both directions; blocks that agree with z; nothing written outside; data that break its arithmetic end it all
 * the same; rows at fault. */
#include "device.h"

#include "datasets/generate.h"
#include "rows.h"
#include "specs.h"
#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int           failures, compared;
static double        farthest[2]; /* largest deviation in float32, float64 */
static const ih_impl *impl;

/* Device memory of an exact size between zones whose bytes must not change. */
enum { ZONE = 1024, POISON = 0xc9 };
typedef struct fenced { unsigned char *at; size_t bytes; } fenced;

static fenced fenced_new(size_t bytes)
{
    const fenced f = { (unsigned char *)device_new(bytes + 2 * ZONE) + ZONE, bytes };
    device_must(cudaMemset(f.at - ZONE, POISON, bytes + 2 * ZONE), "cudaMemset");
    return f;
}

static int fenced_intact(fenced f)
{
    unsigned char zone[2 * ZONE];
    device_read(zone, f.at - ZONE, ZONE);
    device_read(zone + ZONE, f.at + f.bytes, ZONE);
    for (int k = 0; k < 2 * ZONE; ++k)
        if (zone[k] != POISON) return 0;
    return 1;
}

static int fenced_close(fenced f)
{
    const int intact = fenced_intact(f);
    device_free(f.at - ZONE);
    return intact;
}

static int fault(const char *label, const char *what, int64_t at, double got, double expected)
{
    fprintf(stderr, "%s: %s at %" PRId64 " is %a instead of %a\n", label, what, at, got, expected);
    return ++failures;
}

typedef struct paper_fit {
    void     *z;
    int64_t  *offsets, *starts; /* of blocks */
    ih_status status;
    ih_error  error;
} paper_fit;

static void paper_fit_close(paper_fit *r)
{
    free(r->z);
    free(r->offsets);
    free(r->starts);
}

static void run(const char *label, const ih_problem *host, const ih_options *o, paper_fit *r)
{
    const int64_t total = problem_elements(host);
    const size_t  item = problem_item(host), bytes = (size_t)total * item, rows = (size_t)host->rows;
    ih_problem    p = *host;
    ih_outputs    out;
    size_t        ws_bytes;
    fenced        z = fenced_new(bytes), offsets = fenced_new((rows + 1) * 8), starts = fenced_new((size_t)total * 8), ws;

    p.y       = device_copy(host->y, bytes);
    p.w       = device_copy(host->w, bytes);
    p.offsets = device_copy(host->offsets, (rows + 1) * 8);
    ih_outputs_init(&out);
    out.z             = z.at;
    out.block_offsets = (int64_t *)offsets.at;
    out.block_starts  = (int64_t *)starts.at;
    r->z       = malloc(bytes + 1);
    r->offsets = malloc((rows + 1) * 8);
    r->starts  = malloc((size_t)total * 8 + 8);
    r->error.size = sizeof r->error;
    r->status  = ih_workspace_bytes(impl, &p, o, &out, &ws_bytes);
    ws         = fenced_new(r->status == IH_OK ? ws_bytes : 0);
    if (r->status == IH_OK) r->status = ih_fit(impl, &p, o, &out, ws.at, ws_bytes, NULL);
    device_must(cudaDeviceSynchronize(), "run");
    if (r->status == IH_OK) r->status = ih_device_status(impl, &p, o, ws.at, ws_bytes);
    if (r->status != IH_OK) ih_last_error(&r->error);
    device_read(r->z, out.z, bytes);
    device_read(r->offsets, out.block_offsets, (rows + 1) * 8);
    if (total > 0) device_read(r->starts, out.block_starts, (size_t)total * 8);
    if (!fenced_close(z) || !fenced_close(offsets) || !fenced_close(starts) || !fenced_close(ws)) fault(label, "memory outside", 0, 1, 0);
    if (p.y) device_free((void *)p.y);
    if (p.w) device_free((void *)p.w);
    if (p.offsets) device_free((void *)p.offsets);
}

/* Blocks cover the rows, and z is one value in each. */
static void check_blocks(const char *label, const ih_problem *p, const paper_fit *r)
{
    const int before = failures;

    if (r->offsets[0] != 0) fault(label, "block_offsets", 0, (double)r->offsets[0], 0);
    for (int64_t row = 0; row < p->rows && failures == before; ++row) {
        const int64_t begin = problem_row_begin(p, row), n = problem_row_length(p, row), blocks = r->offsets[row + 1] - r->offsets[row];
        const int64_t *start = r->starts + r->offsets[row];
        if (blocks < (n > 0) || blocks > n) {
            fault(label, "blocks of a row", row, (double)blocks, (double)n);
            break;
        }
        if (n > 0 && start[0] != begin) fault(label, "first block", row, (double)start[0], (double)begin);
        for (int64_t k = 0; k < blocks && failures == before; ++k) {
            const int64_t to = k + 1 < blocks ? start[k + 1] : begin + n;
            if (to <= start[k] || to > begin + n) fault(label, "block_starts", k, (double)to, (double)start[k]);
            else
                for (int64_t i = start[k] + 1; i < to; ++i) {
                    const double z = problem_value(p, r->z, i), first = problem_value(p, r->z, start[k]);
                    if (!(z == first || (z != z && first != first))) {
                        fault(label, "z within a block", i, z, first);
                        break;
                    }
                }
        }
    }
}

/* tolerance 0: only that it ends, and its blocks; -1 (check_text): what the type and the weights allow. */
static void check(const char *label, const ih_problem *p, const ih_options *o, double tolerance)
{
    const int64_t total  = problem_elements(p);
    const int     before = failures;
    paper_fit     r;
    fit_result    cpu;
    verdict       v;

    run(label, p, o, &r);
    if (r.status != IH_OK) {
        fprintf(stderr, "%s: %s: %s\n", label, ih_status_name(r.status), r.error.message);
        ++failures;
    } else {
        check_blocks(label, p, &r);
    }
    if (tolerance > 0 && failures == before) {
        fit_result_open(&cpu, p);
        if (fit_run(referee(), p, one_thread(), 1, IH_OK, &cpu, &v) != PASSED) {
            fprintf(stderr, "%s: the referee: %s\n", label, v.text);
            ++failures;
        }
        for (int64_t i = 0; i < total && failures == before; ++i) {
            const double z = problem_value(p, r.z, i), best = problem_value(p, cpu.out.z, i), off = fabs(z - best) / (1 + fabs(best));
            if (!(off <= tolerance)) fault(label, "z", i, z, best);
            if (off > farthest[p->dtype]) farthest[p->dtype] = off;
        }
        compared += total > 0;
        fit_result_close(&cpu);
    }
    paper_fit_close(&r);
}

static void check_text(const char *text, const ih_options *o, double tolerance)
{
    char    message[IH_SPEC_MESSAGE];
    ih_spec s;
    ih_data d;

    if (ih_spec_parse(&s, text, message, sizeof message) || ih_data_generate(&d, &s, 1, message, sizeof message)) {
        fprintf(stderr, "%s: %s\n", text, message);
        exit(1);
    }
    /* float64 sums are plain ones: small weights behind large ones keep few digits */
    if (tolerance < 0) tolerance = d.problem.dtype == IH_F32 ? 1e-5 : s.weighting == IH_WEIGHTING_extreme ? 1e-9 : 1e-12;
    check(text, &d.problem, o, tolerance);
    ih_data_free(&d);
}

static const char *const ordinary[] = { "noise", "increasing", "decreasing", "sawtooth", "saw", "cliff", "cliffs", "trend", "constant",
                                        "valley", "steps", "random_walk", "labels", "ties", "near_ties" };

static void seams(void)
{
    static const int64_t seam[] = { 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 511, 512, 513, 1023, 1024, 1025, 1056, 1057, 2047, 2048, 2049, 3073, 5000 };
    static const char *const weights[] = { "unit", "uniform", "extreme" };

    for (size_t k = 0; k < sizeof seam / sizeof *seam; ++k)
        for (size_t m = 0; m < sizeof ordinary / sizeof *ordinary; ++m) {
            char text[128];
            snprintf(text, sizeof text, "%s:f%d:w=%s:rows=%d:n=%" PRId64 ":seed=%d%s", ordinary[m], (k + m) % 2 ? 32 : 64, weights[(k + m / 2) % 3], seam[k] < 600 ? 37 : 2, seam[k],
                     (int)k, m % 3 ? "" : ":dec=1");
            check_text(text, NULL, -1);
        }
}

static void schedules(void)
{
    static const int32_t cap[] = { -1, 0, 1, 64 }, merges[] = { 0, 2, 1 << 30 };

    for (size_t k = 0; k < 4; ++k)
        for (size_t m = 0; m < 3; ++m)
            for (size_t q = 0; q < sizeof ordinary / sizeof *ordinary; ++q) {
                char       text[128];
                ih_options o;
                ih_options_init(&o);
                o.walk_cap      = cap[k];
                o.thread_merges = merges[m];
                snprintf(text, sizeof text, "%s:f%d:w=%s:n=20011:seed=%d", ordinary[q], q % 2 ? 32 : 64, (q + k + m) % 2 ? "uniform" : "unit", (int)(k + m));
                check_text(text, &o, -1);
            }
}

/* Values at which its sums overflow, underflow or cancel: it ends, in bounds, with blocks that agree with z. */
static void random_problems(int64_t count)
{
    for (int64_t k = 0; k < count; ++k) {
        const uint64_t seed = 9100 + (uint64_t)k;
        rng            r = rng_seeded(seed);
        char           label[64];
        ih_options     o;

        snprintf(label, sizeof label, "seed %" PRIu64, seed);
        ih_options_init(&o);
        random_options(&r, impl, &o);
        if (rng_one_in(&r, 2)) {
            random_problem rp;
            random_problem_open(&rp, seed, 5000);
            check(label, &rp.problem, &o, 0);
            random_problem_close(&rp);
        } else {
            ih_spec s = spec_random(&r, 5000);
            char    text[IH_SPEC_PATH];
            ih_spec_format(&s, text, sizeof text);
            check_text(text, &o, 0);
        }
    }
}

/* A row with a fault is filled with NaN and is one block; the others are what they are without it. */
static void rows_at_fault(void)
{
    enum { ROWS = 3 };
    static const int64_t lengths[] = { 20, 700, 2500 };
    static const double  values[] = { NAN, INFINITY, -1, 0 };

    for (size_t k = 0; k < 3; ++k)
        for (int bad = 0; bad < 4; ++bad)
            for (int ragged = 0; ragged < 2; ++ragged) {
                const int64_t n = lengths[k], at = n + n / 2;
                const int64_t offsets[ROWS + 1] = { 0, n, 2 * n, 3 * n };
                double       *y = malloc((size_t)(ROWS * n) * 8), *w = malloc((size_t)(ROWS * n) * 8);
                ih_problem    p;
                paper_fit     r;
                rng           random = rng_seeded(77);

                for (int64_t i = 0; i < ROWS * n; ++i) y[i] = (double)rng_below(&random, 1000), w[i] = 1;
                (bad < 2 ? y : w)[at] = values[bad];
                ih_problem_init(&p);
                p.dtype   = IH_F64;
                p.rows    = ROWS;
                p.n       = ragged ? ROWS * n : n;
                p.offsets = ragged ? offsets : NULL;
                p.y       = y;
                p.w       = bad < 2 && ragged ? NULL : w;
                run("row at fault", &p, NULL, &r);
                if (r.status != IH_EDATA || r.error.row != 1 || r.error.index != n / 2) fault("row at fault", "index", r.error.row, (double)r.error.index, (double)(n / 2));
                check_blocks("row at fault", &p, &r);
                for (int64_t i = 0; i < ROWS * n; ++i) {
                    const double z = ((double *)r.z)[i];
                    if ((z != z) != (i / n == 1)) {
                        fault("row at fault", "z", i, z, NAN);
                        break;
                    }
                }
                if (r.offsets[2] - r.offsets[1] != 1) fault("row at fault", "blocks", 1, (double)(r.offsets[2] - r.offsets[1]), 1);
                paper_fit_close(&r);
                free(y);
                free(w);
            }
}

int main(void)
{
    impl = implementation_of("test_segments_paper", "segments_paper");
    if (impl->features & IH_CANONICAL) return fault("segments_paper", "canonical", 0, 1, 0);
    rows_at_fault();
    seams();
    schedules();
    check_text("noise:f32:rows=3000:n=16", NULL, -1);
    check_text("noise:f32:w=uniform:ragged=scales:rows=60:n=3000", NULL, -1);
    check_text("trend:f64:ragged=empty:rows=400:n=40:dec=1", NULL, -1);
    check_text("sawtooth:f32:ragged=long:rows=40:n=700", NULL, -1);
    check_text("noise:f64:w=extreme:ragged=geometric:rows=500:n=60:min=-0.1:max=0.2", NULL, -1);
    check_text("increasing:f32:w=uniform:n=300000", NULL, -1);
    check_text("noise:f32:n=1000000", NULL, -1);
    check_text("constant:f32:rows=3:n=0", NULL, -1);
    random_problems(scaled(600));
    printf("%d fits compared, off by at most %.2g in float32 and %.2g in float64; %d faults\n", compared, farthest[IH_F32], farthest[IH_F64], failures);
    return failures > 0 || compared == 0;
}
