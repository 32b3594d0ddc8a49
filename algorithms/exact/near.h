/* SPDX-License-Identifier: Apache-2.0
 * near.h: turns by doubles with a bound on every error, whatever the exponents: most are decided so, and the integers are
 * left for the others. A sum has an exponent of its own, that of its largest term, so that nothing overflows, and what
 * underflows is below 2^-900 of that. */
#ifndef IH_EXACT_NEAR_H
#define IH_EXACT_NEAR_H

#include "../common/turn.h"
#include "sums.h"

/* v 2^e, and the sum of the absolute values of its terms, all 2^e. */
typedef struct ih_near { double v, all; int32_t e; } ih_near;

#define IH_NEAR_NOTHING 0x1p-900

IH_HD ih_near ih_near_zero(void)
{
    ih_near a;
    a.v = a.all = 0;
    a.e = INT32_MIN / 2;
    return a;
}

/* 2^k for k <= 0, or 0 if it is below 2^-1000. */
IH_HD double ih_near_power(int32_t k)
{
    const uint64_t bits = (uint64_t)(k + 1023) << 52;
    double         v;
    if (k < -1000) return 0;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* A value is m 2^e, |m| in [1, 2) or m = 0. */
IH_HD double ih_near_parts(const void *values, int64_t i, int32_t kind, int32_t *e)
{
    double   v = ih_load(values, i, kind);
    uint64_t bits;

    *e = -1023;
    if (fabs(v) < 0x1p-1022) {
        v *= 0x1p54;
        *e -= 54;
    }
    if (v == 0) return 0;
    memcpy(&bits, &v, sizeof bits);
    *e += (int32_t)(bits >> 52 & 2047);
    bits = (bits & ~((uint64_t)2047 << 52)) | (uint64_t)1023 << 52;
    memcpy(&v, &bits, sizeof v);
    return v;
}

IH_HD void ih_near_add(ih_near *a, double m, int32_t e)
{
    double scale;
    if (e > a->e) {
        scale = ih_near_power(a->e - e);
        a->v *= scale;
        a->all *= scale;
        a->e = e;
    }
    scale = ih_near_power(e - a->e);
    m *= scale;
    a->v += m;
    a->all += fabs(m);
}

/* Add the elements from .. to - 1 times sign, 1 or -1. */
IH_HD_FORCED void ih_near_add_range(const ih_exact_row *r, ih_near *s, ih_near *w, int64_t from, int64_t to, double sign)
{
    const double sign_y = r->decreasing ? -sign : sign;

    for (int64_t i = from; i < to; ++i) {
        int32_t      ey, ew;
        const double y = sign_y * ih_near_parts(r->y, i, r->kind, &ey);
        if (r->kind & IH_KIND_WEIGHTED) {
            const double u = ih_near_parts(r->w, i, r->kind, &ew);
            ih_near_add(w, sign * u, ew);
            if (y != 0) ih_near_add(s, u * y, ey + ew);
        } else if (y != 0) {
            ih_near_add(s, y, ey);
        }
    }
}

/* Add (to - from) 2^place, two's complement of k limbs (NULL: 0), of which only the leading ones are read. A difference of
 * limbs is below 2^32, so all that is left out at limb i is below 2^(32 i), and 2^-64 of v; v is exact up to 2^53, each later
 * step rounds once: an error below 2^-51 |v|. |v| stays below 2^97. */
IH_HD void ih_near_add_between(ih_near *a, const uint32_t *from, const uint32_t *to, int32_t k, int32_t place)
{
    double  v = (double)((int64_t)(int32_t)to[k - 1] - (from ? (int32_t)from[k - 1] : 0));
    int32_t i = k - 1;

    while (i > 0 && fabs(v) < 0x1p64) {
        --i;
        v = v * 0x1p32 + (double)((int64_t)to[i] - (from ? (int64_t)from[i] : 0));
    }
    ih_near_add(a, v * 0x1p-96, 32 * i + place + 96);
}

/* A bound on the error of a sum of so many terms: each is rounded, and each addition is: u of the sum of absolute values,
 * which is itself low by as much at most. What underflows is below 2^-900 each time. */
IH_HD double ih_near_error(const ih_near *a, double terms) { return (terms + 8) * (0x1p-51 * a->all + IH_NEAR_NOTHING); }

/* Sums over [a, b). */
IH_HD_FORCED void ih_near_sums(const ih_exact_row *r, int64_t a, int64_t b, ih_near *s, ih_near *w)
{
    const int64_t ja = ih_exact_nearest(r, a), jb = ih_exact_nearest(r, b);
    const int64_t pa = ja ? ja << r->shift : 0, pb = jb ? jb << r->shift : 0;

    *s = ih_near_zero();
    *w = ih_near_zero();
    if (ih_exact_stops_help(a, b, pa, pb, 4)) {
        const int64_t   each = ih_exact_stop_words(r->frame, r->kind);
        const uint32_t *from = ja ? r->stops + (ja - 1) * each : NULL, *to = r->stops + (jb - 1) * each;
        ih_near_add_between(s, from, to, r->frame.ky, r->frame.ey);
        if (r->kind & IH_KIND_WEIGHTED) ih_near_add_between(w, from ? from + r->frame.ky : NULL, to + r->frame.ky, r->frame.kx, r->frame.ex);
        ih_near_add_range(r, s, w, a < pa ? a : pa, a < pa ? pa : a, a < pa ? 1 : -1);
        ih_near_add_range(r, s, w, b < pb ? b : pb, b < pb ? pb : b, b < pb ? -1 : 1);
    } else {
        ih_near_add_range(r, s, w, a, b, 1);
    }
    if (!(r->kind & IH_KIND_WEIGHTED)) {
        w->v = (double)(b - a);
        w->e = 0;
    }
}

/* The turn at points a < b < d. As ih_turn_filter, each product with its bound brought to the larger exponent. */
IH_HD_SLOW ih_turn ih_near_turn(const ih_exact_row *r, int64_t a, int64_t b, int64_t d)
{
    const double terms = (double)(d - a), weighted = r->kind & IH_KIND_WEIGHTED ? 1 : 0;
    ih_near      s1, w1, s2, w2;
    double       es1, es2, ew1, ew2, p1, p2, bound1, bound2, c, bound;
    int32_t      apart;

    ih_near_sums(r, a, b, &s1, &w1);
    ih_near_sums(r, b, d, &s2, &w2);
    es1    = ih_near_error(&s1, terms);
    es2    = ih_near_error(&s2, terms);
    ew1    = weighted * ih_near_error(&w1, terms);
    ew2    = weighted * ih_near_error(&w2, terms);
    p1     = s1.v * w2.v;
    p2     = s2.v * w1.v;
    bound1 = es1 * (fabs(w2.v) + ew2) + ew2 * fabs(s1.v) + 0x1p-52 * fabs(p1);
    bound2 = es2 * (fabs(w1.v) + ew1) + ew1 * fabs(s2.v) + 0x1p-52 * fabs(p2);
    apart  = s1.e + w2.e - s2.e - w1.e;
    if (apart < 0) {
        p1 *= ih_near_power(apart);
        bound1 *= ih_near_power(apart);
    } else {
        p2 *= ih_near_power(-apart);
        bound2 *= ih_near_power(-apart);
    }
    c     = p2 - p1;
    bound = bound1 + bound2 + IH_NEAR_NOTHING;
    if (fabs(c) > bound * (1 + 0x1p-40)) return c > 0 ? IH_TURN_CONVEX : IH_TURN_FLAT;
    return IH_TURN_UNDECIDED;
}

#endif
