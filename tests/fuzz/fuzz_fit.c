/* SPDX-License-Identifier: Apache-2.0
 *
 * Fits: any bytes give a problem, which every implementation must fit to the same bits as the referee, under options
 * that the bytes choose, and likewise the gradient.
 *
 *   | flags | rows | chunk | threads, instruction set | walk cap, warps | copies | how values are written | values ... |
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "gradients.h"
#include "support.h"

enum { HEAD = 7, MOST = 1300 };
enum { WITH_F64 = 1, WITH_WEIGHTS = 2, DECREASING = 4, WITH_MIN = 8, WITH_MAX = 16, RAGGED = 32 };
enum { WITH_GRADIENT = 64 }; /* of the byte that says how values are written */

typedef struct reader { const uint8_t *at; size_t left; } reader;

static int next_byte(reader *r) { return r->left > 0 ? (r->left--, *r->at++) : 0; }

static uint64_t next_bytes(reader *r, int count)
{
    uint64_t v = 0;
    for (int k = 0; k < count; ++k) v |= (uint64_t)next_byte(r) << 8 * k;
    return v;
}

static int bytes_of(int how, int f64) { return how == 0 ? (f64 ? 8 : 4) : how == 3 ? 2 : 1; }

/* how 0: the bits of the type; 1: small whole numbers; 2: neighbours of 1; 3: a whole number and an exponent */
static double next_value(reader *r, int how, int f64)
{
    double v;

    if (how == 0 && f64) {
        const uint64_t bits = next_bytes(r, 8);
        memcpy(&v, &bits, 8);
    } else if (how == 0) {
        const uint32_t bits = (uint32_t)next_bytes(r, 4);
        float          f;
        memcpy(&f, &bits, 4);
        v = f;
    } else if (how == 1) {
        v = (int8_t)next_byte(r);
    } else if (how == 2) {
        v = 1 + ldexp((int8_t)next_byte(r), f64 ? -52 : -23);
    } else {
        const int m = (int8_t)next_byte(r), e = (int8_t)next_byte(r);
        v = ldexp(m, f64 ? 8 * e : e);
        if (!f64) v = (float)v;
    }
    return isfinite(v) ? v : 0;
}

static void put(void *array, int f64, int64_t i, double v)
{
    if (f64) ((double *)array)[i] = v;
    else ((float *)array)[i] = (float)v;
}

static void choose_options(const ih_impl *impl, const uint8_t *head, ih_options *o)
{
    static const int32_t chunks[] = { 0, 32, 64, 96, 128, 512, 1024, 1, 7, 4096 }, caps[] = { 64, -1, 0, 1, 4, 16 }, merges[] = { 256, 0, 1, 1 << 20 };

    ih_options_init(o);
    if (impl->options & IH_OPT_THREADS) o->threads = 1 + (head[3] & 3) % 3;
    if (impl->options & IH_OPT_ISA) o->isa = head[3] >> 2 & 3;
    if (impl->options & IH_OPT_CHUNK) o->chunk = chunks[head[2] % 10];
    if (impl->options & IH_OPT_WALK_CAP) o->walk_cap = caps[(head[4] & 15) % 6];
    if (impl->options & IH_OPT_THREAD_MERGES) o->thread_merges = merges[(head[4] >> 4) % 4];
}

static void compare(const ih_problem *p, const uint8_t *head)
{
    fit_result expected;
    verdict    v;

    fit_result_open(&expected, p);
    CHECK(fit_run(referee(), p, one_thread(), 1, IH_OK, &expected, &v) == PASSED);
    for (int32_t k = 0; k < ih_impl_count(); ++k) {
        const ih_impl *impl = ih_impl_at(k);
        ih_options     o;
        char           label[256];
        if (!(impl->features & IH_CANONICAL) || impl->device != IH_DEVICE_CPU || ih_impl_available(impl) != IH_OK) continue;
        choose_options(impl, head, &o);
        if (fit_check(impl, p, &o, &expected, &v) != FAILED &&
            (!(head[6] & WITH_GRADIENT) || gradient_check(impl, p, &o, &expected, head[5], &v) != FAILED)) continue;
        ih_impl_format(impl, &o, label, sizeof label);
        fprintf(stderr, "%s: %s\n", label, v.text);
        for (int64_t row = 0; row < p->rows; ++row) print_row(p, row, 200);
        abort();
    }
    fit_result_close(&expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n < HEAD) return 0;
    const int     f64 = bytes[0] & WITH_F64, how = bytes[6] & 3, how_w = bytes[6] >> 2 & 3;
    const int     each = bytes_of(how, f64) + (bytes[0] & WITH_WEIGHTS ? bytes_of(how_w, f64) : 0);
    const int64_t given = (int64_t)((n - HEAD + (size_t)each - 1) / (size_t)each), copies = 1 + bytes[5];
    const int64_t total = given * copies < MOST ? given * copies : MOST;
    reader        r = { bytes + HEAD, n - HEAD };
    double       *y = calloc((size_t)total + 1, 8), *w = calloc((size_t)total + 1, 8);
    int64_t       offsets[5] = { 0 };
    ih_problem    p;

    CHECK(y != NULL && w != NULL);
    ih_problem_init(&p);
    p.dtype     = f64 ? IH_F64 : IH_F32;
    p.direction = bytes[0] & DECREASING ? IH_DECREASING : IH_INCREASING;
    p.y         = y;
    p.w         = bytes[0] & WITH_WEIGHTS ? w : NULL;
    for (int64_t i = 0; i < total; ++i) { /* the values given, over and over */
        if (i % given == 0) r = (reader){ bytes + HEAD, n - HEAD };
        const double v = next_value(&r, how, f64);
        put(y, f64, i, v);
        if (p.w) {
            const double weight = fabs(next_value(&r, how_w, f64));
            put(w, f64, i, weight > 0 ? weight : 1);
        }
        if (i == 0 && (bytes[0] & WITH_MIN)) p.y_min = v;
        if (i == 1 && (bytes[0] & WITH_MAX)) p.y_max = v > p.y_min ? v : p.y_min;
    }
    p.rows = 1 + bytes[1] % 4;
    p.n    = total / p.rows;
    if (bytes[0] & RAGGED) {
        for (int64_t k = 1; k <= p.rows; ++k) offsets[k] = k == p.rows ? total : offsets[k - 1] + (bytes[1] >> k) % 8 * (total - offsets[k - 1]) / 8;
        p.offsets = offsets;
        p.n       = total;
    }
    compare(&p, bytes);
    free(y);
    free(w);
    return 0;
}
