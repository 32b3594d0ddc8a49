/* SPDX-License-Identifier: Apache-2.0
 * expansion.h: exact sums of doubles as expansions (Shewchuk 1997): components that do not overlap, in rising order of
 * magnitude, zeros left out, so that the last one has the sign of the sum. Slow and rare. */
#ifndef IH_COMMON_EXPANSION_H
#define IH_COMMON_EXPANSION_H

#include "pair.h"

#include <stdint.h>

enum {
    IH_SUM_TERMS     = 8,                               /* a difference of two points: start and inside, hi and lo, twice */
#if defined(IH_SIMT)
    IH_CROSS_TERMS = 64, /* two products of two sums, most often: each thread of a device keeps such room aside */
#else
    IH_CROSS_TERMS = 4 * IH_SUM_TERMS * IH_SUM_TERMS, /* two products of two such sums, always */
#endif
};

/* e [n] + v into e; returns the new length, at most n + 1 (grow-expansion with zero elimination, Theorem 10 there). */
IH_HD int32_t ih_expansion_add(double *e, int32_t n, double v)
{
    int32_t k = 0;
    double  q = v;
    for (int32_t i = 0; i < n; ++i) {
        const ih_pair s = ih_two_sum(q, e[i]);
        q               = s.hi;
        if (s.lo != 0) e[k++] = s.lo;
    }
    if (q != 0) e[k++] = q;
    return k;
}

/* Add the exact product of two expansions, negated if sign is -1. No product may have bits below 2^-1074 or overflow. */
IH_HD int32_t ih_expansion_add_product(double *e, int32_t n, const double *a, int32_t na, const double *b, int32_t nb, double sign)
{
    for (int32_t i = 0; i < na; ++i)
        for (int32_t k = 0; k < nb; ++k) {
            const ih_pair p = ih_two_prod(sign * a[i], b[k]);
            if (p.lo != 0) n = ih_expansion_add(e, n, p.lo);
            if (p.hi != 0) n = ih_expansion_add(e, n, p.hi);
        }
    return n;
}

IH_HD int32_t ih_expansion_sign(const double *e, int32_t n) { return n == 0 ? 0 : e[n - 1] > 0 ? 1 : -1; }

/* An expansion as a renormalised pair; *rest bounds what is left out. Expansions grown by two_sum are nonadjacent
 * (Shewchuk, Theorem 10), so partial sums from below stay under twice the total; each of at most 7 errors is under u times
 * that, and their sum is rounded 6 times: 6 u (14 u 2 |hi|) < 2^-98 |hi|. */
IH_HD ih_pair ih_expansion_pair(const double *e, int32_t n, double *rest)
{
    ih_pair sum = { 0, 0 };
    double  low = 0;
    for (int32_t i = 0; i < n; ++i) {
        sum = ih_two_sum(sum.hi, e[i]);
        low += sum.lo;
    }
    *rest = n > 2 ? 0x1p-98 * fabs(sum.hi) : 0;
    return ih_two_sum(sum.hi, low);
}

/* The same sum in as few components as double precision allows, nearly (Shewchuk, Theorem 23); returns their number. */
IH_HD int32_t ih_expansion_compress(double *e, int32_t n)
{
    int32_t bottom = n - 1, top = 0;
    double  q;

    if (n <= 1) return n;
    q = e[n - 1];
    for (int32_t i = n - 2; i >= 0; --i) {
        const ih_pair s = ih_two_sum(q, e[i]);
        q               = s.hi;
        if (s.lo != 0) {
            e[bottom--] = q;
            q           = s.lo;
        }
    }
    e[bottom] = q;
    for (int32_t i = bottom + 1; i < n; ++i) {
        const ih_pair s = ih_two_sum(e[i], q);
        q               = s.hi;
        if (s.lo != 0) e[top++] = s.lo;
    }
    e[top] = q;
    return top + 1;
}

/* Sign of a b - c d, exactly; 2 if there is no room for it (on a device). The sums may be compressed. */
IH_HD_SLOW int32_t ih_expansion_cross(double *a, int32_t na, double *b, int32_t nb, double *c, int32_t nc, double *d, int32_t nd)
{
    double  e[IH_CROSS_TERMS];
    int32_t n = 0;

    if (na <= 1 && nb <= 1 && nc <= 1 && nd <= 1) { /* the common tie: small integers. Rounding keeps the order of the products */
        const ih_pair p = ih_two_prod(na ? a[0] : 0.0, nb ? b[0] : 0.0);
        const ih_pair q = ih_two_prod(nc ? c[0] : 0.0, nd ? d[0] : 0.0);
        if (p.hi != q.hi) return p.hi > q.hi ? 1 : -1;
        return p.lo > q.lo ? 1 : p.lo < q.lo ? -1 : 0;
    }
    if (2 * (na * nb + nc * nd) > IH_CROSS_TERMS) {
        na = ih_expansion_compress(a, na), nb = ih_expansion_compress(b, nb);
        nc = ih_expansion_compress(c, nc), nd = ih_expansion_compress(d, nd);
        if (2 * (na * nb + nc * nd) > IH_CROSS_TERMS) return 2;
    }
    n = ih_expansion_add_product(e, n, a, na, b, nb, 1.0);
    n = ih_expansion_add_product(e, n, c, nc, d, nd, -1.0);
    return ih_expansion_sign(e, n);
}

#endif
