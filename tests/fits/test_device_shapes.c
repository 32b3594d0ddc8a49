/* SPDX-License-Identifier: Apache-2.0
 * test_device_shapes.c: numbers of rows around those that share a warp, a block and a launch, times lengths around lanes, warps and
 * chunks; rows with trees of many shapes; ragged mixes of all of these with empty rows. Values of every nasty kind, against the referee bit for bit. */
#include "call.h"
#include "rows.h"
#include "shrink.h"
#include "support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t lengths[] = { 1,   2,   3,   5,   8,   15,  16,  17,   31,   32,   33,   63,   64,   65,   96,   127,  128,  129,  255,  256,  257,
                                   384, 511, 512, 513, 767, 768, 769, 1023, 1024, 1025, 1535, 2047, 2048, 2049, 3071, 3072, 3073, 4095, 4096, 4097 };
static const int64_t rows[]    = { 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 4099 };
enum { LENGTHS = sizeof lengths / sizeof lengths[0], ROWS = sizeof rows / sizeof rows[0] };

static int64_t right, wrong;

static void check(const ih_impl *impl, const ih_problem *p, rng *r, const char *what)
{
    ih_options o;
    verdict    v = { "" };

    random_options(r, impl, &o);
    if (fit_against_referee(impl, p, &o, &v) == PASSED) {
        ++right;
        return;
    }
    ++wrong;
    fprintf(stderr, "%s, %" PRId64 " rows, n %" PRId64 ": %s\n", what, p->rows, p->n, v.text);
    shrink_and_print(impl, p, &o);
}

static void batch(const ih_impl *impl, uint64_t seed, int64_t count, const int64_t *length, int ragged)
{
    rng        r     = rng_seeded(seed);
    int64_t   *offsets = ragged ? malloc(((size_t)count + 1) * 8) : NULL, total = 0;
    ih_problem p;
    void      *y, *w;

    for (int64_t k = 0; k < count; ++k) {
        if (ragged) offsets[k] = total;
        total += length[ragged ? k : 0];
    }
    if (ragged) offsets[count] = total;
    y = malloc((size_t)total * 8 + 1);
    w = malloc((size_t)total * 8 + 1);
    ih_problem_init(&p);
    p.dtype     = rng_one_in(&r, 2) ? IH_F32 : IH_F64;
    p.direction = rng_one_in(&r, 3) ? IH_DECREASING : IH_INCREASING;
    p.rows      = count;
    p.n         = ragged ? total : length[0];
    p.offsets   = offsets;
    p.y         = y;
    random_values(&r, p.dtype, total, y);
    if (rng_one_in(&r, 2)) {
        random_weights(&r, p.dtype, total, w);
        p.w = w;
    }
    check(impl, &p, &r, ragged ? "ragged" : "rectangular");
    free(y);
    free(w);
    free(offsets);
}

/* Rows of any of the lengths in any order, some empty, with runs of empty rows at the begin, in the middle and at the end. */
static void ragged_mix(const ih_impl *impl, uint64_t seed)
{
    rng           r     = rng_seeded(seed ^ 0x7a66ed);
    const int64_t count = rows[rng_below(&r, ROWS)], longest = 1 + rng_below(&r, LENGTHS);
    const int     empties = (int)rng_below(&r, 4);
    int64_t      *length = malloc((size_t)count * 8), room = 60000;

    for (int64_t k = 0; k < count; ++k) {
        const int64_t n = lengths[rng_below(&r, longest)] + (rng_one_in(&r, 9) ? rng_below(&r, 40) : 0);
        const int     run = (k < count / 4 && empties & 1) || (k > count - count / 4 && empties & 2);
        length[k] = run || rng_one_in(&r, 5) || n > room ? 0 : n;
        room -= length[k];
    }
    batch(impl, seed, count, length, 1);
    free(length);
}

/* Numbers of chunks around those at which levels, the tail of the tree, its edges and the tiles of the scan change hands. */
static const int64_t trees[]     = { 2, 3, 15, 16, 17, 31, 32, 33, 34, 35, 63, 65, 127, 129, 131, 255, 256, 257, 258, 513, 1030 };
static const int64_t tree_rows[] = { 1, 3, 9, 20, 130 };
enum { TREES = sizeof trees / sizeof trees[0], TREE_ROWS = sizeof tree_rows / sizeof tree_rows[0] };

static void tree_shapes(const ih_impl *impl, int64_t most, int64_t stride)
{
    int64_t done = 0;
    for (int c = 0; c < TREES && wrong < 5; ++c)
        for (int k = 0; k < TREE_ROWS && wrong < 5; ++k)
            for (int64_t off = -1; off <= 1 && wrong < 5; ++off) {
                const int64_t n = 1024 * trees[c] + off;
                if ((k == 0 || n * tree_rows[k] <= most) && ++done % stride == 0) batch(impl, (uint64_t)done ^ 0x73ee, tree_rows[k], &n, 0);
            }
}

int main(int argc, char **argv)
{
    const ih_impl *impl   = implementation_of("test_device_shapes", argc > 1 ? argv[1] : NULL);
    const int64_t  stride = test_stride(), mixes = scaled(1500), most = emulated() ? 20000 : 1 << 20;
    int64_t        done   = 0;

    for (int l = 0; l < LENGTHS && wrong < 5; ++l)
        for (int k = 0; k < ROWS && wrong < 5; ++k)
            if (lengths[l] * rows[k] <= most && ++done % stride == 0) batch(impl, (uint64_t)done, rows[k], &lengths[l], 0);
    tree_shapes(impl, emulated() ? 200000 : 1 << 21, stride);
    for (int64_t k = 0; k < mixes && wrong < 5; ++k) ragged_mix(impl, (uint64_t)k);
    printf("%s: %" PRId64 " batches right, %" PRId64 " wrong\n", impl->name, right, wrong);
    return wrong > 0 || right == 0;
}
