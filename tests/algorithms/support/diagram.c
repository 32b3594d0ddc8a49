/* SPDX-License-Identifier: Apache-2.0
 * diagram.c: the cumulative sum diagram in GMP rationals. */
#include "diagram.h"

#include <math.h>
#include <stdlib.h>

void diagram_open(diagram *d, const ih_values *v, int64_t n)
{
    mpq_t w, y;

    d->n = n;
    d->x = malloc((size_t)(n + 1) * sizeof *d->x);
    d->y = malloc((size_t)(n + 1) * sizeof *d->y);
    if (!d->x || !d->y) abort();
    mpq_inits(w, y, NULL);
    for (int64_t k = 0; k <= n; ++k) {
        mpq_inits(d->x[k], d->y[k], NULL);
        if (k == 0) continue;
        mpq_set_d(y, ih_value(v, k - 1, v->kind));
        mpq_set_d(w, v->w ? ih_load(v->w, k - 1, v->kind) : 1.0);
        mpq_add(d->x[k], d->x[k - 1], w);
        mpq_mul(y, y, w);
        mpq_add(d->y[k], d->y[k - 1], y);
    }
    mpq_clears(w, y, NULL);
}

void diagram_close(diagram *d)
{
    for (int64_t k = 0; k <= d->n; ++k) mpq_clears(d->x[k], d->y[k], NULL);
    free(d->x);
    free(d->y);
}

int diagram_turn(const diagram *d, int64_t a, int64_t b, int64_t c)
{
    mpq_t x1, y1, x2, y2;
    int   sign;

    mpq_inits(x1, y1, x2, y2, NULL);
    mpq_sub(x1, d->x[b], d->x[a]);
    mpq_sub(y1, d->y[b], d->y[a]);
    mpq_sub(x2, d->x[c], d->x[b]);
    mpq_sub(y2, d->y[c], d->y[b]);
    mpq_mul(y1, y1, x2);
    mpq_mul(y2, y2, x1);
    sign = mpq_cmp(y2, y1);
    mpq_clears(x1, y1, x2, y2, NULL);
    return (sign > 0) - (sign < 0);
}

int64_t diagram_hull(const diagram *d, int64_t from, int64_t to, int64_t *vertices)
{
    int64_t top = 0;

    for (int64_t k = from; k <= to; ++k) {
        while (top >= 2 && diagram_turn(d, vertices[top - 2], vertices[top - 1], k) <= 0) --top;
        vertices[top++] = k;
    }
    return top;
}

int32_t diagram_exact(void *user, int64_t a, int64_t b, int64_t c) { return diagram_turn(user, a, b, c) > 0; }

static double value_of(rng *r, int shape, int64_t i, int64_t n)
{
    const double t = (double)i / (double)n;

    switch (shape) {
    case 0: return rng_bell(r);                                                  /* few vertices            */
    case 1: return (double)rng_below(r, 3);                                      /* ties                    */
    case 2: return (double)i;                                                    /* every point             */
    case 3: return -(double)i;                                                   /* two vertices            */
    case 4: return 1 + 0x1p-22 * (double)rng_below(r, 3);                        /* near ties               */
    case 5: return rng_bell(r) + 0.05 * (double)i;                               /* many vertices           */
    case 6: return (double)(i % 7) * 0.1;                                        /* ties of inexact values  */
    case 7: return i % 64 < 32 ? 1e6 : i % 64 == 32 ? -32e6 : 1e-2 * rng_bell(r); /* sums that return        */
    case 8: return i == n - 1 ? -1e5 : t * t;                                    /* a low point at the end  */
    case 9: return ldexp(rng_bell(r), (int)rng_below(r, 60) - 30);               /* many exponents          */
    case 10: return floor(8 * t) + (rng_one_in(r, 9) ? 1 : 0);                   /* runs                    */
    case 11: return (double)(i % 40) + 1e-3 * (double)(i / 40);                  /* sawtooth                */
    default: return i == 0 ? -0x1p44 : 1 + 0x1p-9 * (double)rng_below(r, 5);     /* small steps of large sums */
    }
}

static double weight_of(rng *r, int64_t i)
{
    if (i == 0) return rng_one_in(r, 2) ? 1 : 0x1p44 + (double)rng_below(r, 1000);
    switch (i / 50 % 3) {
    case 0: return (double)(1 + rng_below(r, 4));
    case 1: return 0.5 + rng_unit(r);
    default: return exp(16 * rng_unit(r) - 8);
    }
}

void test_row_open(test_row *row, rng *r, int64_t n, int shape, int32_t kind, int sign)
{
    const size_t item = kind & IH_KIND_F32 ? sizeof(float) : sizeof(double);

    row->n = n;
    row->y = malloc((size_t)n * item);
    row->w = kind & IH_KIND_WEIGHTED ? malloc((size_t)n * item) : NULL;
    if (!row->y || (kind & IH_KIND_WEIGHTED && !row->w)) abort();
    for (int64_t i = 0; i < n; ++i) {
        const double y = sign * value_of(r, shape, i, n), w = weight_of(r, i);
        if (kind & IH_KIND_F32) ((float *)row->y)[i] = (float)y;
        else ((double *)row->y)[i] = y;
        if (!row->w) continue;
        if (kind & IH_KIND_F32) ((float *)row->w)[i] = (float)w;
        else ((double *)row->w)[i] = w;
    }
    row->values.y    = row->y;
    row->values.w    = row->w;
    row->values.sign = sign;
    row->values.kind = kind;
}

void test_row_close(test_row *row)
{
    free(row->y);
    free(row->w);
}
