/* SPDX-License-Identifier: Apache-2.0
 * backward_pairs.c: the gradient of a block in pairs of doubles, with an error bound that decides whether they suffice.
 *
 * Sums are pairs (s, c): s the running double sum, c the sum of its rounding errors, kept in 8 lanes over pieces of 512
 * elements, whose pairs are then added as pairs. With u = 2^-53 and A = sum of magnitudes: in a lane of at most 64 + 7
 * terms c errs by at most (71^2 + 2 71) u^2 A (71 roundings of a sum of 71 errors of at most u A each, and of what products
 * add to it); the at most n/64 + 8 additions of pairs, one after the other, err by at most 5 u^2 A each. Together below
 * (2^13 + n/8) u^2 A =: E. Products of float64 numbers come with their exact errors (Dekker), which join c; where they
 * underflow each loses at most 2^-1070, hence the second term of E. All magnitudes are required to be below 2^500, so
 * nothing overflows (an infinity or NaN on the way fails every test, which are written to be false then).
 *
 * Tolerances: G and y[j] - z may err by 2^-46 of themselves and of the block's largest |y[j] - z|; with the roundings of
 * the last operations that stays below 2^-44 of the row's largest entry. */
#include "exact_backward.h"
#include "span.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 8, PIECE = 512 };

static const double UNIT2 = 0x1p-106, LARGE = 0x1p500, SMALL = 0x1p-500;

typedef struct pair { double s, c; } pair;

INLINE pair two_sum(double a, double b)
{
    pair         r;
    const double s = a + b, t = s - a;
    r.s = s;
    r.c = (a - (s - t)) + (b - t);
    return r;
}

INLINE pair add_pairs(pair a, pair b)
{
    const pair s = two_sum(a.s, b.s);
    return two_sum(s.s, s.c + (a.c + b.c));
}

INLINE pair two_product(double a, double b)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    const double ta = split * a, ah = ta - (ta - a), al = a - ah, tb = split * b, bh = tb - (tb - b), bl = b - bh;
    pair         r;
    r.s = a * b;
    r.c = ((ah * bh - r.s) + ah * bl + al * bh) + al * bl;
    return r;
}

/* What is summed over a block. */
typedef struct block_sums {
    pair   s, w, g;    /* w y, w, g            */
    double as, ag;     /* |w y|, |g|           */
    double least, most; /* of y                */
} block_sums;

typedef struct lanes {
    double s[LANES], sc[LANES], w[LANES], wc[LANES], g[LANES], gc[LANES], as[LANES], ag[LANES], least[LANES], most[LANES];
} lanes;

INLINE void step(lanes *t, const double *y, const double *w, const double *g, const int L, const int weighted, const int exact_product)
{
    for (int l = 0; l < L; ++l) {
        pair p = { y[l], 0.0 }, r;
        if (weighted) {
            if (exact_product) p.s = y[l] * w[l];
            else p = two_product(y[l], w[l]);
            r = two_sum(t->w[l], w[l]);
            t->w[l] = r.s;
            t->wc[l] += r.c;
        }
        r = two_sum(t->s[l], p.s);
        t->s[l] = r.s;
        t->sc[l] += r.c + p.c;
        r = two_sum(t->g[l], g[l]);
        t->g[l] = r.s;
        t->gc[l] += r.c;
        t->as[l] += fabs(p.s);
        t->ag[l] += fabs(g[l]);
        t->least[l] = y[l] < t->least[l] ? y[l] : t->least[l];
        t->most[l]  = y[l] > t->most[l] ? y[l] : t->most[l];
    }
}

INLINE void load(const void *from, ih_dtype dtype, int64_t j, double *to, const int L)
{
    if (dtype == IH_F32)
        for (int l = 0; l < L; ++l) to[l] = (double)((const float *)from)[j + l];
    else
        for (int l = 0; l < L; ++l) to[l] = ((const double *)from)[j + l];
}

/* Add [a, b), at most PIECE elements: whole groups of L, then the rest one by one in lane 0. */
INLINE void add_piece(const ih_backward_row *r, int64_t a, int64_t b, const int L, const int weighted, const ih_dtype dtype, block_sums *to)
{
    lanes   t = { .s = { 0 } };
    double  y[LANES], w[LANES], g[LANES];
    int64_t j = a;

    for (int l = 0; l < L; ++l) t.least[l] = INFINITY, t.most[l] = -INFINITY;
    for (; b - j >= L; j += L) {
        load(r->row.y, dtype, j, y, L);
        load(r->g, dtype, j, g, L);
        if (weighted) load(r->row.w, dtype, j, w, L);
        step(&t, y, w, g, L, weighted, dtype == IH_F32);
    }
    for (; j < b; ++j) {
        load(r->row.y, dtype, j, y, 1);
        load(r->g, dtype, j, g, 1);
        if (weighted) load(r->row.w, dtype, j, w, 1);
        step(&t, y, w, g, 1, weighted, dtype == IH_F32);
    }
    for (int l = 0; l < L; ++l) {
        to->s = add_pairs(to->s, two_sum(t.s[l], t.sc[l]));
        to->w = add_pairs(to->w, two_sum(t.w[l], t.wc[l]));
        to->g = add_pairs(to->g, two_sum(t.g[l], t.gc[l]));
        to->as += t.as[l];
        to->ag += t.ag[l];
        to->least = t.least[l] < to->least ? t.least[l] : to->least;
        to->most  = t.most[l] > to->most ? t.most[l] : to->most;
    }
}

INLINE void add_block(const ih_backward_row *r, int64_t a, int64_t b, const int weighted, const ih_dtype dtype, block_sums *to)
{
    if (b - a < 4 * LANES) {
        add_piece(r, a, b, 1, weighted, dtype, to);
        return;
    }
    for (int64_t j = a; j < b; j += PIECE) add_piece(r, j, b - j < PIECE ? b : j + PIECE, LANES, weighted, dtype, to);
}

static void sum_block(const ih_backward_row *r, int64_t a, int64_t b, block_sums *to)
{
    const block_sums none = { { 0, 0 }, { 0, 0 }, { 0, 0 }, 0, 0, INFINITY, -INFINITY };

    *to = none;
    if (r->row.dtype == IH_F32) {
        if (r->row.w) add_block(r, a, b, 1, IH_F32, to);
        else add_block(r, a, b, 0, IH_F32, to);
    } else {
        if (r->row.w) add_block(r, a, b, 1, IH_F64, to);
        else add_block(r, a, b, 0, IH_F64, to);
    }
    if (!r->row.w) to->w = two_sum((double)(b - a), 0.0); /* a count below 2^53 */
}

/* Sign of z - bound for a finite bound, or 2 if the pair does not tell. */
static int side(pair z, double error, double bound)
{
    const double d = (z.s - bound) + z.c;
    /* two roundings: u |z.s - bound| and u |d|, far inside the last two terms */
    const double slack = error + 0x1p-100 * fabs(z.s) + 0x1p-50 * fabs(d);

    return d < -slack ? -1 : d > slack ? 1 : 2;
}

/* Is z strictly outside the bounds? 2 if the pair does not tell. */
static int outside(const ih_backward_row *r, pair z, double error)
{
    const int low = r->y_min > -INFINITY ? side(z, error, r->y_min) : 1, high = r->y_max < INFINITY ? side(z, error, r->y_max) : -1;

    if (low == -1 || high == 1) return 1;
    return low == 2 || high == 2 ? 2 : 0;
}

int ih_backward_block_pairs(const ih_backward_row *r, int64_t a, int64_t b)
{
    const double factor = (8192.0 + (double)(b - a) / 8.0) * UNIT2, lost = (double)(b - a) * 0x1p-1070;
    block_sums   t;
    pair         z, p;
    double       largest, error, q, ratio;
    int          out;

    sum_block(r, a, b, &t);
    largest = -t.least > t.most ? -t.least : t.most;
    if (!(largest < LARGE && t.w.s < LARGE && t.w.s > SMALL && t.as < LARGE && t.ag < LARGE)) return 0;

    /* z = S / W: a quotient, and the quotient of the exact remainder. E_z = (E_S + |z| E_W) / W and a few u^2 |z|. */
    q     = t.s.s / t.w.s;
    p     = two_product(q, t.w.s);
    z     = two_sum(q, (((t.s.s - p.s) - p.c) + (t.s.c - q * t.w.c)) / t.w.s);
    error = 1.125 * ((factor * t.as + lost) / t.w.s + (factor + 16 * UNIT2) * largest) + 0x1p-1070;
    if (t.least == t.most) { /* all alike: the mean is that value */
        z.s   = t.least;
        z.c   = 0.0;
        error = 0.0;
        out   = z.s < r->y_min || z.s > r->y_max;
    } else {
        out = outside(r, z, error);
    }
    if (out == 2) return 0;
    if (out || t.ag == 0.0) {
        ih_backward_zero(r, a, b);
        return 1;
    }
    if (!(factor * t.ag <= 0x1p-46 * fabs(t.g.s) && fabs(t.g.s) > SMALL)) return 0;
    if (!(error <= 0x1p-47 * (t.most - t.least))) return 0;

    ratio = t.g.s / t.w.s;
    for (int64_t j = a; r->grad_y && j < b; ++j) ih_backward_put(r, r->grad_y, j, r->row.w ? ih_row_w(&r->row, j) * ratio : ratio);
    for (int64_t j = a; r->grad_w && j < b; ++j) {
        const double d = (ih_row_y(&r->row, j) - z.s) - z.c;
        ih_backward_put(r, r->grad_w, j, d == 0.0 ? 0.0 : d * ratio);
    }
    return 1;
}
