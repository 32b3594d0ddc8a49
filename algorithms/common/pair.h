/* SPDX-License-Identifier: Apache-2.0
 * pair.h: error-free transforms, and running sums kept as two doubles.
 *
 * All of it needs rounding to nearest without contraction or flush-to-zero (-ffp-contract=off, -fmad=false, -ftz=false);
 * fma is written where a product is meant to be fused. u = 2^-53. */
#ifndef IH_COMMON_PAIR_H
#define IH_COMMON_PAIR_H

#include "hd.h"

#include <math.h>

typedef struct ih_pair { double hi, lo; } ih_pair; /* unevaluated sum; renormalised where |lo| <= u |hi| is said */

/* a + b = hi + lo exactly, hi rounded to nearest (no overflow). */
IH_HD_FORCED ih_pair ih_two_sum(double a, double b)
{
    const double s = a + b, t = s - a;
    ih_pair      r;
    r.hi = s;
    r.lo = (a - (s - t)) + (b - t);
    return r;
}

IH_HD_FORCED ih_pair ih_two_diff(double a, double b) { return ih_two_sum(a, -b); }

/* a b = hi + lo exactly, if a b has no bit below 2^-1074 and does not overflow. */
IH_HD_FORCED ih_pair ih_two_prod(double a, double b)
{
    ih_pair r;
    r.hi = a * b;
    r.lo = fma(a, b, -r.hi);
    return r;
}

/* Add p to a running sum. Not renormalised: hi is the plain sum of the terms, so |hi - exact| <= |lo| + lost, and *lost
 * grows by what lo had to round away: lost = 0 says that the pair is the exact sum. The order of the additions is part of
 * the value: every place that needs a prefix sum again calls this with the same terms in the same order. */
IH_HD_FORCED void ih_sum_add(ih_pair *sum, double p, double *lost)
{
    const ih_pair high = ih_two_sum(sum->hi, p);
    const ih_pair low  = ih_two_sum(sum->lo, high.lo);
    sum->hi = high.hi;
    sum->lo = low.hi;
    *lost += fabs(low.lo);
}

/* Add a correction (the low part of a product), far smaller than the terms. */
IH_HD_FORCED void ih_sum_add_low(ih_pair *sum, double p, double *lost)
{
    const ih_pair low = ih_two_sum(sum->lo, p);
    sum->lo = low.hi;
    *lost += fabs(low.lo);
}

/* a + b of two pairs, renormalised; *lost grows by the exact rounding, 0 if there is none. */
IH_HD ih_pair ih_pair_add(ih_pair a, ih_pair b, double *lost)
{
    const ih_pair high = ih_two_sum(a.hi, b.hi);
    const ih_pair low  = ih_two_sum(a.lo, b.lo);
    const ih_pair mid  = ih_two_sum(high.lo, low.hi);
    const ih_pair sum  = ih_two_sum(high.hi, mid.hi);
    const ih_pair rest = ih_two_sum(mid.lo, low.lo);
    const ih_pair tail = ih_two_sum(sum.lo, rest.hi);
    *lost += fabs(rest.lo) + fabs(tail.lo);
    return ih_two_sum(sum.hi, tail.hi);
}

#endif
