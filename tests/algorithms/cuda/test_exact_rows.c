/* SPDX-License-Identifier: Apache-2.0
 * test_exact_rows.c: the kernel for rows that were given up, with rows put on its list by hand: values and block bits equal to
 * cpu_exact's for every family, type, weighting and length at seams; rows at fault; nothing outside its rows is written. */
#include "cuda/launch.h"

#include "guarded.h"
#include "specs.h"
#include "support.h"
#include "datasets/generate.h"
#include "../../fits/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xa5 };

/* A fit whose workspace has the parts that the kernel uses, each of its exact size. */
typedef struct device_fit {
    ih_cuda_fit f;
    guarded     z, status, state, list, bits, exact;
} device_fit;

static void device_fit_open(device_fit *d, const ih_problem *p, int with_bits)
{
    ih_cuda_fit *f = &d->f;

    memset(d, 0, sizeof *d);
    f->y       = p->y;
    f->w       = p->w;
    f->offsets = p->offsets;
    f->rows    = p->rows;
    f->n       = p->n;
    f->total   = problem_elements(p);
    f->sign    = p->direction == IH_DECREASING ? -1 : 1;
    f->kind    = (p->dtype == IH_F32 ? IH_KIND_F32 : 0) | (p->w ? IH_KIND_WEIGHTED : 0);
    f->y_min   = p->y_min;
    f->y_max   = p->y_max;
    f->exact_words = ih_cuda_exact_words(f);
    guarded_open(&d->z, (size_t)f->total * problem_item(p), POISON);
    guarded_open(&d->status, sizeof *f->status, 0);
    guarded_open(&d->state, (size_t)p->rows * sizeof *f->state, 0);
    guarded_open(&d->list, (size_t)p->rows * sizeof *f->list, POISON);
    guarded_open(&d->bits, (size_t)((f->total + 31) / 32) * sizeof *f->bits, POISON);
    guarded_open(&d->exact, f->exact_words * sizeof *f->exact, POISON);
    f->z      = d->z.at;
    f->status = (ih_cuda_status *)(void *)d->status.at;
    f->state  = (int32_t *)(void *)d->state.at;
    f->list   = (int64_t *)(void *)d->list.at;
    f->bits   = with_bits ? (uint32_t *)(void *)d->bits.at : NULL;
    f->exact  = (uint32_t *)(void *)d->exact.at;
}

static void device_fit_close(device_fit *d)
{
    guarded *all[] = { &d->z, &d->status, &d->state, &d->list, &d->bits, &d->exact };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) {
        assert_true(guarded_intact(all[k]));
        guarded_close(all[k]);
    }
}

static void give_up(device_fit *d, int64_t row, int32_t state)
{
    d->f.state[row]                       = state;
    d->f.list[d->f.status->given_up++] = row;
}

static void solve(device_fit *d)
{
    assert_int_equal(ih_cuda_launch_exact_rows(&d->f, NULL), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
}

static int bit_of(const uint32_t *bits, int64_t i) { return bits[i / 32] >> (i & 31) & 1u; }

/* Solve the rows of a problem, some left out (those stay as they are), and compare. */
static void check(const char *name, const ih_problem *p, rng *r, int leave_out)
{
    const size_t  item = problem_item(p);
    int64_t      *order = malloc((size_t)(p->rows + 1) * sizeof *order), elements = 0;
    fit_result    expected;
    device_fit    d;
    verdict       v;

    fit_result_open(&expected, p);
    if (fit_run(referee(), p, one_thread(), 1, IH_OK, &expected, &v) != PASSED) fail_msg("%s: %s", name, v.text);
    device_fit_open(&d, p, !rng_one_in(r, 8));
    for (int64_t k = 0; k < p->rows; ++k) { /* in any order */
        const int64_t at = rng_below(r, k + 1);
        order[k]  = order[at];
        order[at] = k;
    }
    for (int64_t k = 0; k < p->rows; ++k)
        if (problem_row_length(p, order[k]) > 0 && !(leave_out && rng_one_in(r, 3))) {
            give_up(&d, order[k], IH_ROW_UNCERTAIN);
            elements += problem_row_length(p, order[k]);
        }
    solve(&d);
    for (int64_t row = 0; row < p->rows; ++row) {
        const int64_t  begin = problem_row_begin(p, row), n = problem_row_length(p, row);
        const int64_t  block = expected.out.block_offsets[row];
        const uint32_t poison = POISON * 0x01010101u;
        int64_t        k = block;
        for (int64_t i = begin; i < begin + n; ++i) {
            const unsigned char *z = d.z.at + (size_t)i * item;
            const int start = k < expected.out.block_offsets[row + 1] && expected.out.block_starts[k] == i;
            k += start;
            if (d.f.state[row] == IH_ROW_FINE) {
                if (*z != POISON || (d.f.bits && bit_of(d.f.bits, i) != bit_of(&poison, i & 31)))
                    fail_msg("%s: row %lld, index %lld was written, but is not on the list", name, (long long)row, (long long)(i - begin));
            } else {
                if (memcmp(z, expected.z.at + (size_t)i * item, item) != 0)
                    fail_msg("%s: row %lld, index %lld: z differs", name, (long long)row, (long long)(i - begin));
                if (d.f.bits && bit_of(d.f.bits, i) != start)
                    fail_msg("%s: row %lld, index %lld: bit of a block start differs", name, (long long)row, (long long)(i - begin));
            }
        }
    }
    assert_int_equal(d.f.status->rows_exact, d.f.status->given_up);
    assert_int_equal(d.f.status->elements_exact, elements);
    if (!d.f.bits) assert_true(guarded_untouched(&d.bits));
    device_fit_close(&d);
    fit_result_close(&expected);
    free(order);
}

static void check_spec(const ih_spec *s, rng *r, int leave_out)
{
    char    name[256], message[IH_SPEC_MESSAGE];
    ih_data data;

    ih_spec_format(s, name, sizeof name);
    if (ih_data_generate(&data, s, 1, message, sizeof message)) fail_msg("%s: %s", name, message);
    check(name, &data.problem, r, leave_out);
    ih_data_free(&data);
}

static void families(void **state)
{
    static const int64_t lengths[] = { 1, 2, 31, 32, 33, 63, 64, 65, 500, 1023, 1024, 1025, 2049, 3000 };
    enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
    rng     r    = rng_seeded(1);
    int64_t cell = 0;

    (void)state;
    for (int32_t family = 0; ih_family_at(family); ++family)
        for (int32_t weighting = 0; ih_weighting_at(weighting); ++weighting)
            for (int32_t f64 = 0; f64 < 2; ++f64)
                for (int k = 0; k < 3; ++k, ++cell) {
                    ih_spec s = spec_of((ih_family)family, lengths[rng_below(&r, LENGTHS)]);
                    if (cell % test_stride()) continue;
                    s.dtype      = f64 ? IH_F64 : IH_F32;
                    s.weighting  = (ih_weighting)weighting;
                    s.seed       = k;
                    s.decreasing = k == 1;
                    check_spec(&s, &r, 0);
                }
}

static void batches(void **state)
{
    rng r = rng_seeded(2);

    (void)state;
    for (int64_t k = 0; k < scaled(400); ++k) {
        const ih_spec s = spec_random(&r, k % 8 ? 300 : 5000);
        check_spec(&s, &r, 1);
    }
}

static double hard_value(rng *r, int shape, int32_t f32)
{
    const double least = f32 ? 0x1p-149 : 0x1p-1074, most = f32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    switch (shape) {
    case 0: return ldexp(rng_bell(r), (int)rng_below(r, f32 ? 260 : 2080) - (f32 ? 140 : 1060)); /* all exponents */
    case 1: return least * (double)(rng_below(r, 9) - 4);
    case 2: return rng_one_in(r, 3) ? (rng_one_in(r, 2) ? most : -most) : least * (double)rng_below(r, 5);
    default: return most * (1 - 0x1p-20 * (double)rng_below(r, 4));
    }
}

/* Values and weights over the whole range of the type, subnormal and cancelling; long rows too. */
static void hard_values(void **state)
{
    rng r = rng_seeded(3);

    (void)state;
    for (int64_t k = 0; k < scaled(96); ++k) {
        const int32_t f32 = (int32_t)(k & 1), weighted = (int32_t)(k >> 1 & 1), shape = (int)(k >> 2 & 3);
        const int64_t n = 1 + rng_below(&r, k % 12 ? 400 : 12000), rows = 1 + rng_below(&r, 3);
        double       *y = malloc((size_t)(rows * n) * 8), *w = malloc((size_t)(rows * n) * 8);
        ih_problem    p;
        for (int64_t i = 0; i < rows * n; ++i) {
            const double v = hard_value(&r, shape, f32), u = fabs(hard_value(&r, rng_one_in(&r, 2) ? 0 : shape, f32));
            if (f32) ((float *)y)[i] = (float)v, ((float *)w)[i] = (float)u > 0 ? (float)u : 1;
            else y[i] = v, w[i] = u > 0 ? u : 1;
        }
        ih_problem_init(&p);
        p.y     = y;
        p.w     = weighted ? w : NULL;
        p.dtype = f32 ? IH_F32 : IH_F64;
        p.rows  = rows;
        p.n     = n;
        p.direction = rng_one_in(&r, 2) ? IH_DECREASING : IH_INCREASING;
        if (rng_one_in(&r, 4)) p.y_min = -0.0, p.y_max = 1;
        check("hard values", &p, &r, 1);
        free(y);
        free(w);
    }
}

static void faults(void **state)
{
    rng           r = rng_seeded(4);
    const int64_t offsets[] = { 0, 0, 40, 40, 41, 141, 200, 200 };
    float         y[200];

    (void)state;
    for (int i = 0; i < 200; ++i) y[i] = (float)rng_bell(&r);
    for (int ragged = 0; ragged < 2; ++ragged) {
        ih_problem p;
        device_fit d;
        ih_problem_init(&p);
        p.y       = y;
        p.dtype   = IH_F32;
        p.rows    = ragged ? 7 : 4;
        p.n       = ragged ? 200 : 50;
        p.offsets = ragged ? offsets : NULL;
        device_fit_open(&d, &p, 1);
        d.f.status->fault = ~(uint64_t)((120 << 6) + (IH_ARGUMENT_Y << 3) + IH_FAULT_NAN);
        give_up(&d, ragged ? 5 : 3, IH_ROW_UNCERTAIN);
        give_up(&d, ragged ? 4 : 2, IH_ROW_FAULT | IH_ROW_UNCERTAIN);
        solve(&d);
        for (int64_t i = 0; i < 200; ++i) {
            const int64_t begin = ragged ? 41 : 100, end = ragged ? 141 : 150, to = 200;
            if (i >= begin && i < end) {
                assert_true(isnan(((float *)d.f.z)[i]));
                assert_int_equal(bit_of(d.f.bits, i), i == begin);
            } else if (i < begin || i >= to) {
                assert_int_equal(d.z.at[4 * i], POISON);
            } else {
                assert_false(isnan(((float *)d.f.z)[i]));
            }
        }
        assert_int_equal(d.f.status->fault_row, ragged ? 4 : 2);
        assert_int_equal(d.f.status->fault_begin, ragged ? 41 : 100);
        assert_int_equal(d.f.status->rows_exact, 1);
        device_fit_close(&d);
    }
}

/* Words an element of one long row. */
static void workspace(void **state)
{
    static const double most[IH_KINDS] = { [IH_KIND_F32] = 1.0, [IH_KIND_F32 | IH_KIND_WEIGHTED] = 2.2, [0] = 2.4, [IH_KIND_WEIGHTED] = 3.5 };

    (void)state;
    for (int32_t kind = 0; kind < IH_KINDS; ++kind) {
        ih_cuda_fit f;
        memset(&f, 0, sizeof f);
        f.kind  = kind;
        f.rows  = 1;
        f.n     = 100000000;
        f.total = f.n;
        assert_true((double)ih_cuda_exact_words(&f) * 4 <= most[kind] * 1e8);
        f.rows  = 100000;
        f.n     = 1000;
        assert_true((double)ih_cuda_exact_words(&f) * 4 <= most[kind] * 1e8);
        f.total = f.n = INT64_MAX;
        assert_true(ih_cuda_exact_words(&f) > (size_t)1 << 60);
        f.total = f.n = 0;
        assert_int_equal(ih_cuda_exact_words(&f), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workspace),
        cmocka_unit_test(faults),
        cmocka_unit_test(hard_values),
        cmocka_unit_test(batches),
        cmocka_unit_test(families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
