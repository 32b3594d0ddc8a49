/* SPDX-License-Identifier: Apache-2.0
 * test_device_large.c: rows and batches past 2^31 elements and past 65,535 rows, of families whose fit is a formula: constant and rising
 * rows are their own fit, a falling row is one block. Data are made, and results compared, in pieces.
 *
 *   test_device_large IMPL        the sizes below divided by 2^14
 *   IH_TEST_LARGE=1 ...           the sizes themselves, where device memory is enough */
#include "../algorithms/cuda/device.h"
#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* rows 0: ragged, of the lengths in ragged_rows */
typedef struct size { const char *name; ih_dtype dtype; int64_t rows, n; int only; } size; /* only: the kind of every row, or -1 for all in turn */

enum { CONSTANT, RISING, FALLING, KINDS };
enum { PIECE = 1 << 22, PARTS = 64 };
enum { P31 = 31, SMALLER = 14 };

static const size sizes[] = {
    { "one constant row of 2^31 + 5", IH_F32, 1, ((int64_t)1 << P31) + 5, CONSTANT },
    { "one rising row of 2^31 + 5", IH_F32, 1, ((int64_t)1 << P31) + 5, RISING },
    { "one falling row of 2^31 + 5", IH_F32, 1, ((int64_t)1 << P31) + 5, FALLING },
    { "one falling row of 2^31 + 5, float64", IH_F64, 1, ((int64_t)1 << P31) + 5, FALLING },
    { "70,000 rows of 7", IH_F32, 70000, 7, -1 },
    { "70,000 rows of 1500", IH_F64, 70000, 1500, -1 },
    { "5e6 rows of 16", IH_F32, 5000000, 16, -1 },
    { "5e6 rows of 450", IH_F32, 5000000, 450, -1 },
    { "2,100,000 rows of 1040", IH_F32, 2100000, 1040, -1 },
    { "ragged rows, 2^31 elements and more", IH_F32, 0, 0, -1 },
};

/* ---- formulas ---- */

typedef struct batch { size s; int64_t rows, total; int64_t *offsets; } batch;

static int64_t begin_of(const batch *b, int64_t row) { return b->offsets ? b->offsets[row] : row * b->s.n; }

static int kind_of(const batch *b, int64_t row) { return b->s.only >= 0 ? b->s.only : (int)(row % KINDS); }

static int64_t row_at(const batch *b, int64_t i)
{
    int64_t low = 0, high = b->rows;
    if (!b->offsets) return i / b->s.n;
    while (high - low > 1) { /* the last row that begins at or before i and is not empty */
        const int64_t mid = low + (high - low) / 2;
        if (b->offsets[mid] <= i) low = mid;
        else high = mid;
    }
    return low;
}

static int shift_of(int64_t n) { return n > 1 << 20 ? 12 : 0; }

static double value_of(int kind, int64_t row, int64_t n, int64_t i)
{
    if (kind == CONSTANT) return (float)(0.1 + (double)(row % 7));
    if (kind == FALLING) return (double)((1 << 20) - (i >> shift_of(n)));
    const uint32_t bits = 0x00800000u + (uint32_t)(i >> 1); /* every second is equal to the one before */
    float          v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Of a falling row: the sum is exact, so is its quotient before it is rounded to dtype. */
static double mean_of(ih_dtype dtype, int64_t n)
{
    const int64_t q = n >> shift_of(n), rest = n - (q << shift_of(n));
    const int64_t sum = (n << 20) - ((q * (q - 1) / 2 << shift_of(n)) + q * rest);
    return dtype == IH_F32 ? (double)(float)((long double)sum / (long double)n) : (double)sum / (double)n;
}

static int64_t blocks_of(int kind, int64_t n) { return n == 0 ? 0 : kind == RISING ? (n + 1) / 2 : 1; }

/* Values, or expected results, of elements from .. to - 1. */
static void fill(const batch *b, int results, int64_t from, int64_t to, void *array)
{
    for (int64_t row = from < to ? row_at(b, from) : 0, i = from; i < to; ++row) {
        const int64_t begin = begin_of(b, row), n = begin_of(b, row + 1) - begin, end = begin + n < to ? begin + n : to;
        const int     kind  = kind_of(b, row);
        const double  mean  = results && kind == FALLING && n ? mean_of(b->s.dtype, n) : 0;
        for (; i < end; ++i) {
            const double v = results && kind == FALLING ? mean : value_of(kind, row, n, i - begin);
            if (b->s.dtype == IH_F32) ((float *)array)[i - from] = (float)v;
            else ((double *)array)[i - from] = v;
        }
    }
}

static void fill_piece(const batch *b, int results, int64_t from, int64_t to, void *array)
{
    const int64_t part = (to - from + PARTS - 1) / PARTS;
    const size_t  item = b->s.dtype == IH_F32 ? 4 : 8;
#if defined(_OPENMP)
#  pragma omp parallel for schedule(dynamic)
#endif
    for (int k = 0; k < PARTS; ++k) {
        const int64_t a = from + k * part, e = a + part < to ? a + part : to;
        if (a < e) fill(b, results, a, e, (char *)array + (size_t)(a - from) * item);
    }
}

/* ---- comparison ---- */

static int check_values(const batch *b, const void *device, char *got, char *expected)
{
    const size_t item = b->s.dtype == IH_F32 ? 4 : 8;

    for (int64_t at = 0; at < b->total; at += PIECE) {
        const int64_t end   = at + PIECE < b->total ? at + PIECE : b->total;
        const size_t  bytes = (size_t)(end - at) * item;
        device_read(got, (const char *)device + (size_t)at * item, bytes);
        fill_piece(b, 1, at, end, expected);
        if (memcmp(got, expected, bytes) == 0) continue;
        for (int64_t i = 0; i < end - at; ++i)
            if (memcmp(got + (size_t)i * item, expected + (size_t)i * item, item) != 0) {
                const double g = item == 4 ? (double)((float *)(void *)got)[i] : ((double *)(void *)got)[i];
                const double e = item == 4 ? (double)((float *)(void *)expected)[i] : ((double *)(void *)expected)[i];
                return printf("%s: z of element %" PRId64 " (row %" PRId64 ") is %a instead of %a\n", b->s.name, at + i, row_at(b, at + i), g, e) > 0;
            }
    }
    return 0;
}

/* Starts of blocks, piece by piece, and offsets. */
static int check_blocks(const batch *b, const int64_t *device_offsets, const int64_t *device_starts, int64_t *got)
{
    int64_t *offsets = malloc(((size_t)b->rows + 1) * 8), at = 0, have = 0, next = 0; /* got holds blocks at .. at + have - 1 */
    int      bad     = 0;

    device_read(offsets, device_offsets, ((size_t)b->rows + 1) * 8);
    for (int64_t row = 0; row < b->rows && !bad; ++row) {
        const int64_t begin = begin_of(b, row), blocks = blocks_of(kind_of(b, row), begin_of(b, row + 1) - begin);
        if (offsets[row] != next || offsets[row + 1] != next + blocks)
            bad = printf("%s: row %" PRId64 " has blocks %" PRId64 " to %" PRId64 " instead of %" PRId64 " to %" PRId64 "\n", b->s.name, row, offsets[row],
                         offsets[row + 1], next, next + blocks) > 0;
        for (int64_t k = 0; k < blocks && !bad; ++k) {
            if (next + k >= at + have) {
                at   = next + k;
                have = offsets[b->rows] - at < PIECE ? offsets[b->rows] - at : PIECE;
                device_read(got, device_starts + at, (size_t)have * 8);
            }
            if (got[next + k - at] != begin + 2 * k)
                bad = printf("%s: block %" PRId64 " starts at %" PRId64 " instead of %" PRId64 "\n", b->s.name, next + k, got[next + k - at], begin + 2 * k) > 0;
        }
        next += blocks;
    }
    free(offsets);
    return bad;
}

/* ---- one size ---- */

static void open_batch(batch *b, const size *s, int large)
{
    const int by = large ? 0 : SMALLER;

    b->s       = *s;
    b->offsets = NULL;
    if (s->rows == 1) b->s.n = s->n >> by | 5;
    else if (s->rows) b->s.rows = (s->rows >> by) + 40;
    b->rows  = b->s.rows;
    b->total = b->s.rows * b->s.n;
    if (s->rows) return;
    static const int exponents[] = { 30, 0, 2, 30, 11, 16, 0, 7 }; /* 0: an empty row */
    b->rows    = 8;
    b->offsets = malloc(9 * sizeof *b->offsets);
    b->offsets[0] = 0;
    for (int k = 0; k < 8; ++k) {
        const int64_t n = exponents[k] == 0 ? 0 : ((int64_t)1 << (exponents[k] > 20 ? exponents[k] - by : exponents[k])) + 7;
        b->offsets[k + 1] = b->offsets[k] + n;
    }
    b->total = b->offsets[8];
    b->s.n   = b->total;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *try_new(size_t bytes)
{
    void *p = NULL;
    if (cudaMalloc(&p, bytes) == cudaSuccess) return p;
    (void)cudaGetLastError();
    return NULL;
}

static outcome run(const ih_impl *impl, const size *s, int large, char *pieces[2])
{
    batch       b;
    ih_problem  p;
    ih_outputs  out;
    size_t      ws_bytes = 0;
    void       *ws = NULL;
    outcome     result = SKIPPED;
    const double began = now_s();

    open_batch(&b, s, large);
    const size_t item = s->dtype == IH_F32 ? 4 : 8, bytes = (size_t)b.total * item;
    ih_problem_init(&p);
    ih_outputs_init(&out);
    p.dtype           = s->dtype;
    p.rows            = b.rows;
    p.n               = b.s.n;
    p.offsets         = b.offsets ? device_copy(b.offsets, 9 * 8) : NULL;
    p.y               = try_new(bytes);
    out.z             = try_new(bytes);
    out.block_offsets = try_new(((size_t)b.rows + 1) * 8);
    out.block_starts  = try_new((size_t)b.total * 8);
    if (p.y && out.z && out.block_offsets && out.block_starts) {
        ih_error e = { .size = sizeof e };
        if (ih_workspace_bytes(impl, &p, NULL, &out, &ws_bytes) != IH_OK) result = FAILED;
        else ws = try_new(ws_bytes);
        for (int64_t at = 0; ws && at < b.total; at += PIECE) {
            const int64_t end = at + PIECE < b.total ? at + PIECE : b.total;
            fill_piece(&b, 0, at, end, pieces[0]);
            device_must(cudaMemcpy((char *)(uintptr_t)p.y + (size_t)at * item, pieces[0], (size_t)(end - at) * item, cudaMemcpyHostToDevice), "y");
        }
        if (ws) {
            const double made   = now_s();
            ih_status    status = ih_fit(impl, &p, NULL, &out, ws, ws_bytes, NULL);
            device_must(cudaDeviceSynchronize(), s->name);
            const double fitted = now_s();
            if (status == IH_OK) status = ih_device_status(impl, &p, NULL, ws, ws_bytes);
            result = status == IH_OK ? PASSED : FAILED;
            if (status != IH_OK) ih_last_error(&e), printf("%s: %s\n", s->name, e.message);
            if (result == PASSED && (check_values(&b, out.z, pieces[0], pieces[1]) ||
                                     check_blocks(&b, out.block_offsets, out.block_starts, (int64_t *)(void *)pieces[0])))
                result = FAILED;
            if (large) printf("%s: made in %.1f s, fitted in %.3f s, compared in %.1f s\n", s->name, made - began, fitted - made, now_s() - fitted);
        }
    }
    if (result == SKIPPED) printf("skipped, no memory on the device: %s\n", s->name);
    fflush(stdout);
    device_free((void *)(uintptr_t)p.y);
    device_free((void *)(uintptr_t)p.offsets);
    device_free(out.z);
    device_free(out.block_offsets);
    device_free(out.block_starts);
    device_free(ws);
    free(b.offsets);
    return result;
}

int main(int argc, char **argv)
{
    const ih_impl *impl  = implementation_of("test_device_large", argc > 1 ? argv[1] : NULL);
    const char    *text  = getenv("IH_TEST_LARGE");
    const int      large = text && *text == '1';
    int            counts[3] = { 0 };
    char          *pieces[2];

    for (int k = 0; k < 2; ++k) device_must(cudaMallocHost((void **)&pieces[k], (size_t)PIECE * 8), "memory of a test");
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) ++counts[run(impl, &sizes[k], large, pieces)];
    for (int k = 0; k < 2; ++k) cudaFreeHost(pieces[k]);
    printf("%s: %d sizes right, %d wrong, %d skipped\n", impl->name, counts[PASSED], counts[FAILED], counts[SKIPPED]);
    return counts[FAILED] ? 1 : counts[PASSED] ? 0 : 77;
}
