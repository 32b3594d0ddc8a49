/* SPDX-License-Identifier: Apache-2.0
 * exact_fixed.c: pooling with sums of a constant number of limbs: one body, forced inline, for each size in use.
 *
 * stack, stride KS + KW + 1:  | S of block 0 (two's complement) | W of block 0 | start | S of block 1 | ...
 * Without weights KW is 0 in the layout: W is the difference of starts. */
#include "exact_fixed.h"

#include "span.h"

#include "../common/error.h"

#define INLINE static inline __attribute__((always_inline))

enum { MAX_S = IH_FIXED_S_BITS / 64, MAX_W = IH_FIXED_W_BITS / 64 };

/* ---- the fixed point ---- */

typedef struct reach { int32_t low, top; } reach;

/* low: no value has a bit below 2^low; top: all are below 2^top. From the exponents alone, or exactly if asked. */
static reach reach_of(const void *values, ih_dtype dtype, int64_t n, int exactly)
{
    reach r = { 0, 0 };

    if (exactly) {
        int32_t low = INT32_MAX, top = INT32_MIN;
        for (int64_t i = 0; i < n; ++i) {
            const ih_parts v = ih_parts_of(dtype == IH_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i]);
            if (!v.m) continue;
            low = v.e + __builtin_ctzll(v.m) < low ? v.e + __builtin_ctzll(v.m) : low;
            top = v.e + ih_bits64(v.m) > top ? v.e + ih_bits64(v.m) : top;
        }
        if (low < top) r.low = low, r.top = top;
    } else if (dtype == IH_F32) {
        uint32_t least = UINT32_MAX, most = 0;
        float    f;
        for (int64_t i = 0; i < n; ++i) {
            uint32_t bits;
            memcpy(&bits, (const float *)values + i, sizeof bits);
            bits &= 0x7fffffff;
            most  = bits > most ? bits : most;
            bits -= 1; /* zeros become the largest */
            least = bits < least ? bits : least;
        }
        if (most) {
            least += 1;
            memcpy(&f, &least, sizeof f);
            r.low = ih_parts_of(f).e + 29;
            if (r.low < -149) r.low = -149;
            memcpy(&f, &most, sizeof f);
            r.top = ih_parts_of(f).e + 53;
        }
    } else {
        uint64_t least = UINT64_MAX, most = 0;
        double   d;
        for (int64_t i = 0; i < n; ++i) {
            uint64_t bits;
            memcpy(&bits, (const double *)values + i, sizeof bits);
            bits &= ~((uint64_t)1 << 63);
            most  = bits > most ? bits : most;
            bits -= 1;
            least = bits < least ? bits : least;
        }
        if (most) {
            least += 1;
            memcpy(&d, &least, sizeof d);
            r.low = ih_parts_of(d).e;
            memcpy(&d, &most, sizeof d);
            r.top = ih_parts_of(d).e + 53;
        }
    }
    return r;
}

static ih_fixed_point fixed_point(const ih_row *row, int exactly)
{
    const int32_t  count = ih_bits64((uint64_t)row->n);
    const reach    y     = reach_of(row->y, row->dtype, row->n, exactly);
    reach          w     = { 0, 0 };
    ih_fixed_point fp;

    if (row->w) w = reach_of(row->w, row->dtype, row->n, exactly);
    fp.s_low  = y.low + w.low;
    fp.s_bits = y.top + w.top - fp.s_low + count + 1;
    fp.w_low  = w.low;
    fp.w_bits = w.top - w.low + count;
    return fp;
}

ih_fixed_point ih_fixed_point_of(const ih_row *row)
{
    ih_fixed_point fp = fixed_point(row, 0);
    if (fp.s_bits > 128) fp = fixed_point(row, 1); /* dearer, but data of few digits may need half the limbs */
    return fp;
}

/* ---- arithmetic of K limbs, K constant after inlining ---- */

/* s = (-1)^negative v 2^shift, a negative shift dropping only zeros. */
INLINE void set_element(uint64_t *s, int K, ih_u128 v, int shift, int negative)
{
    const uint64_t flip = -(uint64_t)(negative != 0);
    uint64_t       carry = flip & 1;

    if (shift < 0) {
        v >>= -shift;
        shift = 0;
    }
    if (K == 2) {
        v <<= shift;
        v    = (v ^ ((ih_u128)flip << 64 | flip)) + carry;
        s[0] = (uint64_t)v;
        s[1] = (uint64_t)(v >> 64);
    } else {
        const int      limb = shift >> 6, bit = shift & 63;
        const ih_u128  low  = v << bit;
        const uint64_t a = (uint64_t)low, b = (uint64_t)(low >> 64), c = bit ? (uint64_t)(v >> 64) >> (64 - bit) : 0;
        for (int k = 0; k < K; ++k) {
            const uint64_t d = k == limb ? a : k == limb + 1 ? b : k == limb + 2 ? c : 0;
            s[k]             = (d ^ flip) + carry;
            carry            = carry & (s[k] == 0);
        }
    }
}

INLINE void add(uint64_t *a, const uint64_t *b, int K)
{
    if (K == 1) {
        a[0] += b[0];
    } else if (K == 2) {
        const ih_u128 t = ((ih_u128)a[1] << 64 | a[0]) + ((ih_u128)b[1] << 64 | b[0]);
        a[0]            = (uint64_t)t;
        a[1]            = (uint64_t)(t >> 64);
    } else {
        uint64_t carry = 0;
        for (int k = 0; k < K; ++k) {
            const ih_u128 t = (ih_u128)a[k] + b[k] + carry;
            a[k]            = (uint64_t)t;
            carry           = (uint64_t)(t >> 64);
        }
    }
}

/* r [K + 1] = s w for a signed s of K limbs and one unsigned limb w. */
INLINE void multiply_limb(uint64_t *r, const uint64_t *s, int K, uint64_t w)
{
    uint64_t carry = 0;
    ih_i128  top;

    for (int k = 0; k < K - 1; ++k) {
        const ih_u128 t = (ih_u128)s[k] * w + carry;
        r[k]            = (uint64_t)t;
        carry           = (uint64_t)(t >> 64);
    }
    top      = (ih_i128)(int64_t)s[K - 1] * (ih_i128)w + (ih_i128)carry;
    r[K - 1] = (uint64_t)top;
    r[K]     = (uint64_t)(top >> 64);
}

/* r [K + KW] = s w. */
INLINE void multiply(uint64_t *r, const uint64_t *s, int K, const uint64_t *w, int KW)
{
    multiply_limb(r, s, K, w[0]);
    if (KW == 2) {
        uint64_t high[MAX_S + 1];
        multiply_limb(high, s, K, w[1]);
        r[K + 1] = (uint64_t)((int64_t)r[K] >> 63);
        add(r + 1, high, K + 1);
    }
}

/* Is s1 / w1 >= s2 / w2? */
INLINE int at_least(const uint64_t *s1, const uint64_t *w1, const uint64_t *s2, const uint64_t *w2, int K, int KW)
{
    uint64_t p[MAX_S + MAX_W], q[MAX_S + MAX_W], borrow = 0;

    multiply(p, s1, K, w2, KW);
    multiply(q, s2, K, w1, KW);
    for (int k = 0; k < K + KW - 1; ++k) borrow = (uint64_t)(((ih_u128)p[k] - q[k] - borrow) >> 64) & 1;
    return (ih_i128)(int64_t)p[K + KW - 1] - (int64_t)q[K + KW - 1] - (ih_i128)borrow >= 0;
}

/* ---- the solver ---- */

INLINE void read_element(const ih_row *row, const ih_fixed_point *fp, int64_t i, int K, int KW, int weighted, uint64_t *s, uint64_t *w)
{
    const ih_parts y        = ih_parts_of(ih_row_y(row, i));
    const int      negative = y.negative == (row->sign > 0);

    if (weighted) {
        const ih_parts v = ih_parts_of(ih_row_w(row, i));
        set_element(s, K, (ih_u128)y.m * v.m, y.m ? y.e + v.e - fp->s_low : 0, negative);
        if (KW == 1) w[0] = v.e >= fp->w_low ? v.m << (v.e - fp->w_low) : v.m >> (fp->w_low - v.e);
        else set_element(w, KW, v.m, v.e - fp->w_low, 0);
    } else {
        set_element(s, K, y.m, y.m ? y.e - fp->s_low : 0, negative);
        w[0] = 1;
    }
}

static void put_block(const ih_row *row, const ih_fixed_point *fp, const ih_exact_results *to, int64_t k, int64_t a, int64_t b,
                      const uint64_t *s, int K, const uint64_t *w, int KW)
{
    uint64_t  m[MAX_S];
    const int negative = (int64_t)s[K - 1] < 0, nw = ih_limbs_trim(w, KW);
    uint64_t  carry    = (uint64_t)negative;
    double    weight   = 0.0;
    int       ns;

    for (int i = 0; i < K; ++i) {
        m[i]  = (negative ? ~s[i] : s[i]) + carry;
        carry = carry & (m[i] == 0);
    }
    ns = ih_limbs_trim(m, K);
    if (to->weights) weight = ih_round_lead(ih_lead_of(w, nw, fp->w_low), 0, 53, -1074);
    ih_exact_put_block(row, to, k, a, b, ih_divide(m, ns, fp->s_low, w, nw, fp->w_low), negative == (row->sign > 0), weight);
}

/* A block of one element has that element as its mean. */
static void put_single(const ih_row *row, const ih_exact_results *to, int64_t k, int64_t i)
{
    const double v = ih_row_y(row, i) + 0.0; /* -0 becomes +0 */

    to->starts[k] = i;
    if (to->weights) to->weights[k] = row->w ? ih_row_w(row, i) : 1.0;
    if (to->means) to->means[k] = v;
    if (!to->z) return;
    if (row->dtype == IH_F32) ((float *)to->z)[i] = (float)v;
    else ((double *)to->z)[i] = v;
}

INLINE ih_status solve(ih_exact_scratch *scratch, const ih_row *row, const ih_fixed_point fp, const ih_exact_results *to,
                       int64_t *blocks, const int K, const int KW, const int weighted)
{
    enum { START = 0 };
    const int64_t stride = 1 + K + (weighted ? KW : 0), n = row->n;
    uint64_t     *stack = scratch->stack, *end = stack ? stack + scratch->stack_bytes / 8 : NULL;
    uint64_t     *top = stack; /* one past the last block */
    int64_t       count;
    ih_status     st = IH_OK;

    for (int64_t i = 0; i < n; ++i) {
        uint64_t s[MAX_S], w[MAX_W];
        int64_t  start = i;
        read_element(row, &fp, i, K, KW, weighted, s, w);
        while (top != stack) {
            const uint64_t *below = top - stride;
            uint64_t        count_w[1];
            const uint64_t *below_w = below + 1 + K;
            if (!weighted) {
                count_w[0] = (uint64_t)start - below[START];
                w[0]       = (uint64_t)(i + 1 - start);
                below_w    = count_w;
            }
            if (!at_least(below + 1, below_w, s, w, K, KW)) break;
            add(s, below + 1, K);
            if (weighted) add(w, below_w, KW);
            start = (int64_t)below[START];
            top -= stride;
        }
        if (end - top < stride) {
            const size_t used = (size_t)(top - stack);
            IH_TRY(ih_exact_grow(&scratch->stack, &scratch->stack_bytes, (used + (size_t)stride) * 8));
            stack = scratch->stack;
            end   = stack + scratch->stack_bytes / 8;
            top   = stack + used;
        }
        top[START] = (uint64_t)start;
        for (int k = 0; k < K; ++k) top[1 + k] = s[k];
        if (weighted)
            for (int k = 0; k < KW; ++k) top[1 + K + k] = w[k];
        top += stride;
    }
    count = 0;
    for (const uint64_t *b = stack; b != top; b += stride, ++count) {
        const int64_t  start = (int64_t)b[START], next = b + stride != top ? (int64_t)b[stride + START] : n;
        const uint64_t size = (uint64_t)(next - start);
        if (size == 1) put_single(row, to, count, start);
        else put_block(row, &fp, to, count, start, next, b + 1, K, weighted ? b + 1 + K : &size, KW);
    }
    *blocks = count;
done:
    return st;
}

ih_status ih_exact_solve_fixed(ih_exact_scratch *scratch, const ih_row *row, ih_fixed_point fp, const ih_exact_results *to, int64_t *blocks)
{
    if (!row->w)
        return fp.s_bits <= 128   ? solve(scratch, row, fp, to, blocks, 2, 1, 0)
               : fp.s_bits <= 192 ? solve(scratch, row, fp, to, blocks, 3, 1, 0)
                                  : solve(scratch, row, fp, to, blocks, 4, 1, 0);
    return fp.s_bits <= 128 && fp.w_bits <= 64 ? solve(scratch, row, fp, to, blocks, 2, 1, 1)
           : fp.s_bits <= 192                  ? solve(scratch, row, fp, to, blocks, 3, 2, 1)
                                               : solve(scratch, row, fp, to, blocks, 4, 2, 1);
}
