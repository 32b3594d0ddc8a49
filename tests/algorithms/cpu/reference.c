/* SPDX-License-Identifier: Apache-2.0
 * reference.c: isotonic fits in GMP rationals. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static double bits_of(rng *r, ih_dtype dtype)
{
    for (;;) {
        const uint64_t u = rng_next(r);
        const uint32_t h = (uint32_t)u;
        double         d;
        float          f;
        memcpy(&d, &u, sizeof d);
        memcpy(&f, &h, sizeof f);
        if (dtype == IH_F32) d = f;
        if (isfinite(d)) return d;
    }
}

double ref_value(rng *r, int kind, ih_dtype dtype)
{
    const double tiny = dtype == IH_F32 ? 0x1p-149 : 0x1p-1074, large = dtype == IH_F32 ? 0x1p126 : 0x1p1022;
    const double ulp = dtype == IH_F32 ? 0x1p-23 : 0x1p-52;
    double       v = 0;

    switch (kind) {
    case KIND_SMALL_INTEGERS: v = (double)(rng_below(r, 7) - 3); break;
    case KIND_NOISE: v = rng_bell(r); break;
    case KIND_NEAR_TIES: v = 1.0 + ulp * (double)rng_below(r, 3); break;
    case KIND_ALL_EXPONENTS: v = bits_of(r, dtype); break;
    case KIND_SUBNORMAL: v = tiny * (double)(rng_below(r, 9) - 4); break;
    case KIND_HUGE: v = large * (rng_unit(r) * 4 - 2) * 0.9999; break;
    case KIND_CANCELLING: v = rng_one_in(r, 3) ? rng_bell(r) : (rng_one_in(r, 2) ? 1 : -1) * (large * 0.5 + (double)rng_below(r, 2)); break;
    case KIND_SHORT_SPAN: v = ldexp(rng_bell(r), (int)rng_below(r, dtype == IH_F32 ? 60 : 80) - 30); break;
    case KIND_MIDDLE_SPAN: v = ldexp(rng_bell(r), (int)rng_below(r, dtype == IH_F32 ? 90 : 140) - 60); break;
    default: v = ldexp(rng_one_in(r, 2) ? 1 : -1, (int)rng_below(r, 40) - 20); break;
    }
    return dtype == IH_F32 ? (double)(float)v : v;
}

static void *own_copy(const double *v, int64_t n, ih_dtype dtype)
{
    const size_t item = dtype == IH_F32 ? sizeof(float) : sizeof(double);
    void        *to   = malloc((size_t)n * item);
    if (!to) abort();
    for (int64_t i = 0; i < n; ++i) {
        if (dtype == IH_F32) ((float *)to)[i] = (float)v[i];
        else ((double *)to)[i] = v[i];
    }
    return to;
}

void ref_row_open(ref_row *row, rng *r, int64_t n, ih_dtype dtype, int sign, int kind, int weight_kind)
{
    memset(row, 0, sizeof *row);
    row->n = n;
    row->y = malloc((size_t)n * sizeof(double));
    if (!row->y) abort();
    for (int64_t i = 0; i < n; ++i) row->y[i] = ref_value(r, kind, dtype);
    row->y_own = own_copy(row->y, n, dtype);
    if (weight_kind != KIND_COUNT) {
        row->w = malloc((size_t)n * sizeof(double));
        if (!row->w) abort();
        for (int64_t i = 0; i < n; ++i)
            do row->w[i] = fabs(ref_value(r, weight_kind, dtype));
            while (row->w[i] == 0);
        row->w_own = own_copy(row->w, n, dtype);
    }
    row->row.y     = row->y_own;
    row->row.w     = row->w_own;
    row->row.n     = n;
    row->row.dtype = dtype;
    row->row.sign  = sign;
}

void ref_row_close(ref_row *row)
{
    free(row->y);
    free(row->w);
    free(row->y_own);
    free(row->w_own);
}

/* ---- rounding ---- */

/* The number with these bits, as a rational; the one after the largest stands for infinity's place, 2^(emax + 1). */
static void number_at(uint64_t bits, ih_dtype dtype, mpq_t v)
{
    const uint32_t h = (uint32_t)bits;
    double         d;
    float          f;

    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &h, sizeof f);
    if (dtype == IH_F32) d = f;
    if (isinf(d)) {
        mpq_set_ui(v, 1, 1);
        mpq_mul_2exp(v, v, dtype == IH_F32 ? 128 : 1024);
    } else {
        mpq_set_d(v, d);
    }
}

double ref_round(const mpq_t q, ih_dtype dtype)
{
    uint64_t low = 0, high = dtype == IH_F32 ? 0x7f800000u : 0x7ff0000000000000u; /* low <= |q|, and |q| < high unless it overflows */
    mpq_t    a, v, next;
    uint32_t h;
    double   d;
    float    f;
    int      order;

    mpq_inits(a, v, next, NULL);
    mpq_abs(a, q);
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        number_at(middle, dtype, v);
        if (mpq_cmp(v, a) <= 0) low = middle;
        else high = middle;
    }
    number_at(low, dtype, v);
    number_at(low + 1, dtype, next);
    mpq_add(v, v, next);
    mpq_div_2exp(v, v, 1);
    order = mpq_cmp(a, v);
    if (order > 0 || (order == 0 && (low & 1))) ++low;
    h = (uint32_t)low;
    memcpy(&d, &low, sizeof d);
    memcpy(&f, &h, sizeof f);
    if (dtype == IH_F32) d = f;
    mpq_clears(a, v, next, NULL);
    return mpq_sgn(q) < 0 ? -d : d;
}

int ref_same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* ---- means and fits ---- */

static void add_element(const ref_row *row, int64_t i, mpq_t s, mpq_t w)
{
    mpq_t v, t;

    mpq_inits(v, t, NULL);
    mpq_set_d(t, row->w ? row->w[i] : 1.0);
    mpq_add(w, w, t);
    mpq_set_d(v, row->row.sign * row->y[i]);
    mpq_mul(t, t, v);
    mpq_add(s, s, t);
    mpq_clears(v, t, NULL);
}

void ref_mean(const ref_row *row, int64_t a, int64_t b, mpq_t mean)
{
    mpq_t s, w;

    mpq_inits(s, w, NULL);
    for (int64_t i = a; i < b; ++i) add_element(row, i, s, w);
    mpq_div(mean, s, w);
    mpq_clears(s, w, NULL);
}

void ref_weight(const ref_row *row, int64_t a, int64_t b, mpq_t weight)
{
    mpq_t s;

    mpq_init(s);
    mpq_set_ui(weight, 0, 1);
    for (int64_t i = a; i < b; ++i) add_element(row, i, s, weight);
    mpq_clear(s);
}

mpq_t *ref_array_open(int64_t n)
{
    mpq_t *v = malloc((size_t)n * sizeof *v);
    if (!v) abort();
    for (int64_t i = 0; i < n; ++i) mpq_init(v[i]);
    return v;
}

void ref_array_close(mpq_t *v, int64_t n)
{
    for (int64_t i = 0; i < n; ++i) mpq_clear(v[i]);
    free(v);
}

void ref_fit_minmax(const ref_row *row, mpq_t *z)
{
    mpq_t *least = ref_array_open(row->n); /* least[i] = min over b > i of mean[a, b) for the a of the loop */
    mpq_t  s, w;

    mpq_inits(s, w, NULL);
    for (int64_t a = 0; a < row->n; ++a) {
        mpq_set_ui(s, 0, 1);
        mpq_set_ui(w, 0, 1);
        for (int64_t i = a; i < row->n; ++i) {
            add_element(row, i, s, w);
            mpq_div(least[i], s, w);
        }
        for (int64_t i = row->n - 2; i >= a; --i)
            if (mpq_cmp(least[i + 1], least[i]) < 0) mpq_set(least[i], least[i + 1]);
        for (int64_t i = a; i < row->n; ++i)
            if (a == 0 || mpq_cmp(least[i], z[i]) > 0) mpq_set(z[i], least[i]);
    }
    mpq_clears(s, w, NULL);
    ref_array_close(least, row->n);
}

void ref_fit_pooling(const ref_row *row, mpq_t *z)
{
    mpq_t   *s = ref_array_open(row->n), *w = ref_array_open(row->n), *mean = ref_array_open(row->n);
    int64_t *start = malloc((size_t)row->n * sizeof *start), count = 0;

    if (!start) abort();
    for (int64_t i = 0; i < row->n; ++i) {
        mpq_set_ui(s[count], 0, 1);
        mpq_set_ui(w[count], 0, 1);
        add_element(row, i, s[count], w[count]);
        mpq_div(mean[count], s[count], w[count]);
        start[count] = i;
        for (++count; count > 1 && mpq_cmp(mean[count - 2], mean[count - 1]) >= 0; --count) {
            mpq_add(s[count - 2], s[count - 2], s[count - 1]);
            mpq_add(w[count - 2], w[count - 2], w[count - 1]);
            mpq_div(mean[count - 2], s[count - 2], w[count - 2]);
        }
    }
    for (int64_t k = 0; k < count; ++k)
        for (int64_t i = start[k]; i < (k + 1 < count ? start[k + 1] : row->n); ++i) mpq_set(z[i], mean[k]);
    free(start);
    ref_array_close(s, row->n);
    ref_array_close(w, row->n);
    ref_array_close(mean, row->n);
}
