/* SPDX-License-Identifier: Apache-2.0
 * span.c: exact sums of ranges, and comparisons of quotients of them. */
#include "span.h"

ih_span ih_span_trim(const uint64_t *d, int lo, int hi, int sign)
{
    ih_span v = { d, 0, 0, 0 };
    int     skip = 0;

    while (hi > lo && !d[hi - lo - 1]) --hi;
    while (hi > lo + skip && !d[skip]) ++skip;
    if (hi > lo + skip) {
        v.d    = d + skip;
        v.lo   = lo + skip;
        v.hi   = hi;
        v.sign = sign;
    }
    return v;
}

void ih_sums_of(const ih_row *row, int64_t a, int64_t b, ih_sums *sums)
{
    int lo = IH_LIMBS_S, hi = 0, wlo = IH_LIMBS_W, whi = 0, sign;

    memset(sums->positive, 0, sizeof sums->positive);
    memset(sums->negative, 0, sizeof sums->negative);
    memset(sums->weight, 0, sizeof sums->weight);
    for (int64_t i = a; i < b; ++i) {
        const ih_parts y = ih_parts_of(ih_row_y(row, i));
        ih_u128        m = y.m;
        int            p = y.e + 1074, k, top;
        if (row->w) {
            const ih_parts w = ih_parts_of(ih_row_w(row, i));
            const int      q = w.e + 1074;
            m *= w.m;
            p += q;
            k   = q >> 6;
            top = ih_limbs_add_at(sums->weight, w.m, q);
            wlo = k < wlo ? k : wlo;
            whi = top > whi ? top : whi;
        }
        if (!m) continue;
        k   = p >> 6;
        top = ih_limbs_add_at(y.negative == (row->sign > 0) ? sums->negative : sums->positive, m, p);
        lo  = k < lo ? k : lo;
        hi  = top > hi ? top : hi;
    }
    if (!row->w) {
        sums->weight[0] = (uint64_t)(b - a);
        wlo             = 0;
        whi             = 1;
    }
    sums->w = ih_span_trim(sums->weight + wlo, wlo, whi, 1);
    if (lo > hi) lo = hi;
    sign = ih_limbs_compare(sums->positive + lo, sums->negative + lo, hi - lo);
    if (sign >= 0) ih_limbs_sub(sums->positive + lo, hi - lo, sums->negative + lo, hi - lo);
    else ih_limbs_sub(sums->negative + lo, hi - lo, sums->positive + lo, hi - lo);
    sums->s = ih_span_trim((sign >= 0 ? sums->positive : sums->negative) + lo, lo, hi, sign);
}

/* The 64 bits from the highest one down, and the place of the lowest of them. */
static uint64_t leading(ih_span v, int *place)
{
    const int      n    = v.hi - v.lo;
    const uint64_t top  = v.d[n - 1], next = n > 1 ? v.d[n - 2] : 0;
    const int      lift = __builtin_clzll(top);

    *place = 64 * (v.hi - 1) - lift;
    return lift ? top << lift | next >> (64 - lift) : top;
}

/* Sign of |s1| w2 - |s2| w1 in full. */
static int compare_full(ih_span s1, ih_span w1, ih_span s2, ih_span w2)
{
    uint64_t p[IH_LIMBS_S + IH_LIMBS_W], q[IH_LIMBS_S + IH_LIMBS_W];
    ih_span  a, b;

    ih_limbs_multiply(p, s1.d, s1.hi - s1.lo, w2.d, w2.hi - w2.lo);
    ih_limbs_multiply(q, s2.d, s2.hi - s2.lo, w1.d, w1.hi - w1.lo);
    a = ih_span_trim(p, s1.lo + w2.lo, s1.hi + w2.hi, 1);
    b = ih_span_trim(q, s2.lo + w1.lo, s2.hi + w1.hi, 1);
    if (a.hi != b.hi) return a.hi < b.hi ? -1 : 1;
    for (int k = a.hi - 1; k >= a.lo || k >= b.lo; --k) {
        const uint64_t x = k >= a.lo ? a.d[k - a.lo] : 0, y = k >= b.lo ? b.d[k - b.lo] : 0;
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

int ih_span_compare(ih_span s1, ih_span w1, ih_span s2, ih_span w2)
{
    int      place[4], e1, e2;
    uint64_t a, b, c, d;
    ih_u128  low1, high1, low2, high2;

    if (s1.sign != s2.sign) return s1.sign < s2.sign ? -1 : 1;
    if (!s1.sign) return 0;
    a  = leading(s1, &place[0]);
    b  = leading(w2, &place[1]);
    c  = leading(s2, &place[2]);
    d  = leading(w1, &place[3]);
    e1 = place[0] + place[1];
    e2 = place[2] + place[3];
    /* a product of leading parts is in [2^126, 2^128); the whole one is below (a + 1)(b + 1). In quarters, so that
     * neither the allowance nor a doubling overflows. */
    if (e1 - e2 >= 2) return s1.sign;
    if (e2 - e1 >= 2) return -s1.sign;
    low1  = ((ih_u128)a * b) >> 2;
    low2  = ((ih_u128)c * d) >> 2;
    high1 = low1 + (a >> 2) + (b >> 2) + 4;
    high2 = low2 + (c >> 2) + (d >> 2) + 4;
    if (e1 > e2) {
        low1 <<= 1;
        high1 <<= 1;
    } else if (e2 > e1) {
        low2 <<= 1;
        high2 <<= 1;
    }
    if (low1 > high2) return s1.sign;
    if (low2 > high1) return -s1.sign;
    return s1.sign * compare_full(s1, w1, s2, w2);
}

ih_span ih_span_remainder(const ih_row *row, ih_span s, ih_span w, double v, uint64_t *room)
{
    const ih_parts p      = ih_parts_of(v);
    const int      v_sign = p.m ? (p.negative ? -1 : 1) : 0;
    const int      offset = p.e - ih_frame_s(row) + ih_frame_w(row) + 64 * w.lo; /* of m w in the frame of s */
    uint64_t      *t = room, *r = room + IH_LIMBS_REST, product[IH_LIMBS_W + 1];
    int            lo, hi, sign;

    if (!v_sign) return s;
    ih_limbs_multiply(product, w.d, w.hi - w.lo, &p.m, 1);
    lo = offset >> 6;
    hi = lo + (w.hi - w.lo) + 3;
    if (s.sign) {
        lo = s.lo < lo ? s.lo : lo;
        hi = s.hi > hi ? s.hi : hi;
    }
    if (++hi > IH_LIMBS_REST) hi = IH_LIMBS_REST;
    memset(t + lo, 0, (size_t)(hi - lo) * sizeof *t);
    memset(r + lo, 0, (size_t)(hi - lo) * sizeof *r);
    for (int k = 0; k <= w.hi - w.lo; ++k)
        if (product[k]) ih_limbs_add_at(t, product[k], offset + 64 * k);
    if (s.sign) memcpy(r + s.lo, s.d, (size_t)(s.hi - s.lo) * sizeof *r);
    if (s.sign != v_sign) { /* s - v w = s + |v w| in magnitude, or -v w alone */
        ih_limbs_add(r + lo, hi - lo, t + lo, hi - lo);
        return ih_span_trim(r + lo, lo, hi, -v_sign);
    }
    sign = ih_limbs_compare(r + lo, t + lo, hi - lo);
    if (sign >= 0) ih_limbs_sub(r + lo, hi - lo, t + lo, hi - lo);
    else ih_limbs_sub(t + lo, hi - lo, r + lo, hi - lo);
    return ih_span_trim((sign >= 0 ? r : t) + lo, lo, hi, sign * s.sign);
}

int ih_span_compare_value(const ih_row *row, ih_span s, ih_span w, double v)
{
    const ih_parts p      = ih_parts_of(v);
    const int      v_sign = p.m ? (p.negative ? -1 : 1) : 0, one = -ih_frame_w(row);
    uint64_t       value[IH_LIMBS_REST] = { 0 }, unit[IH_LIMBS_W] = { 0 };

    ih_limbs_add_at(value, p.m, p.e - ih_frame_s(row));
    unit[one >> 6] = (uint64_t)1 << (one & 63);
    return ih_span_compare(s, w, ih_span_trim(value, 0, IH_LIMBS_REST, v_sign), ih_span_trim(unit, 0, IH_LIMBS_W, 1));
}
