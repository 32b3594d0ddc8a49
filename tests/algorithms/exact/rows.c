/* SPDX-License-Identifier: Apache-2.0
 * rows.c: see rows.h. */
#include "rows.h"

#include <math.h>
#include <stdlib.h>

enum { STEP = 3 }; /* limbs of a room stand this far apart */

static double any_finite(rng *r, int32_t kind)
{
    for (;;) {
        const uint64_t bits = rng_next(r);
        if (kind & IH_KIND_F32) {
            const uint32_t half = (uint32_t)bits;
            float          v;
            memcpy(&v, &half, sizeof v);
            if (isfinite(v)) return v;
        } else {
            double v;
            memcpy(&v, &bits, sizeof v);
            if (isfinite(v)) return v;
        }
    }
}

static double value_of(rng *r, int shape, int64_t i, int64_t n, int32_t kind)
{
    const double least = kind & IH_KIND_F32 ? 0x1p-149 : 0x1p-1074, most = kind & IH_KIND_F32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    switch (shape) {
    case 0: return any_finite(r, kind);
    case 1: return least * (double)rng_below(r, 9) * (rng_one_in(r, 2) ? -1 : 1);                /* subnormal */
    case 2: return rng_one_in(r, 2) ? most : most * (1 - 0x1p-20 * (double)rng_below(r, 4));      /* huge */
    case 3: return (double)(rng_below(r, 7) - 3);                                                 /* small integers */
    case 4: return rng_one_in(r, 3) ? (i & 1 ? most : -most) : least * (double)rng_below(r, 5);   /* cancellation */
    case 5: return i == n / 2 ? -1.0 : 1.0 + 0x1p-20 * (double)(i * i % 3);
    case 6: return fabs(any_finite(r, kind));
    case 7: return 0.25;                                                                          /* constant */
    case 8: return ldexp(1.0, (int)(i * 200 / n) - 100) * (1 + rng_unit(r) / 256);                /* rising, a hull of many vertices */
    case 9: return 3 + (kind & IH_KIND_F32 ? 0x1p-22 : 0x1p-51) * (double)rng_below(r, 3);         /* near ties */
    default: return rng_bell(r) + (double)i / (double)n;
    }
}

static double weight_of(rng *r, int shape, int32_t kind)
{
    double w;
    if (shape == 3) return (double)(1 + rng_below(r, 3));
    if (shape == 9) return 1 + rng_unit(r);
    if (shape == 10 && rng_one_in(r, 2)) return 0x1p-60;
    if (rng_one_in(r, 4)) return 1.0;
    do w = fabs(any_finite(r, kind));
    while (w == 0);
    return w;
}

void hard_row_frame(hard_row *h)
{
    ih_reach y = ih_reach_none(), w = ih_reach_none();

    for (int64_t i = 0; i < h->row.n; ++i) {
        ih_reach_value(&y, h->y, i, h->row.kind);
        if (h->w) ih_reach_value(&w, h->w, i, h->row.kind);
    }
    free(h->room_words);
    h->row        = ih_exact_row_of(h->y, h->w, h->row.n, h->row.kind, h->row.decreasing, y, w);
    h->room_words = malloc((size_t)(ih_exact_space_words(h->row.frame) * STEP) * sizeof *h->room_words);
    h->room.d     = h->room_words;
    h->room.step  = STEP;
}

void hard_row_open(hard_row *h, rng *r, int64_t n, int shape, int32_t kind, int decreasing)
{
    const size_t item = kind & IH_KIND_F32 ? 4 : 8;

    h->y = malloc((size_t)n * item);
    h->w = kind & IH_KIND_WEIGHTED ? malloc((size_t)n * item) : NULL;
    for (int64_t i = 0; i < n; ++i) {
        const double v = value_of(r, shape, i, n, kind), u = h->w ? weight_of(r, shape, kind) : 1.0;
        if (kind & IH_KIND_F32) ((float *)h->y)[i] = (float)v;
        else ((double *)h->y)[i] = v;
        if (h->w && kind & IH_KIND_F32) ((float *)h->w)[i] = (float)u;
        else if (h->w) ((double *)h->w)[i] = u;
    }
    h->in.y     = h->y;
    h->in.w     = h->w;
    h->in.n     = n;
    h->in.dtype = kind & IH_KIND_F32 ? IH_F32 : IH_F64;
    h->in.sign  = decreasing ? -1 : 1;

    h->row.n          = n;
    h->row.kind       = kind;
    h->row.decreasing = decreasing;
    h->stops          = NULL;
    h->room_words     = NULL;
    hard_row_frame(h);
}

void hard_row_stops(hard_row *h, int32_t shift)
{
    ih_exact_sum  sum   = ih_exact_sum_at(h->room, h->row.frame, 0);
    const int64_t count = h->row.n >> shift;

    h->stops     = malloc((size_t)(count * ih_exact_stop_words(h->row.frame, h->row.kind)) * sizeof *h->stops + 1);
    h->row.shift = shift;
    ih_exact_add_stops(&h->row, &sum, 0, count, h->stops);
    h->row.stops = h->stops;
}

void hard_row_close(hard_row *h)
{
    free(h->y);
    free(h->w);
    free(h->stops);
    free(h->room_words);
}
