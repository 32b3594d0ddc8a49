/* SPDX-License-Identifier: Apache-2.0
 * exact_fixed.c: pooling with sums of a constant number of limbs: one body, forced inline, for each size in use.
 *
 * A block of one element has its value as its mean: only its start is kept, and its sums are made again from the input.
 * starts (the output):                      start of every block below the open one
 * stack, for those of several elements:     | S of the first one (two's complement) | W, if there are weights | S of ...
 * The open block, the topmost one, lives in registers. */
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

/* Is p >= q, both signed, of n limbs? */
INLINE int not_below(const uint64_t *p, const uint64_t *q, int n)
{
    uint64_t borrow = 0;

    for (int k = 0; k < n - 1; ++k) borrow = (uint64_t)(((ih_u128)p[k] - q[k] - borrow) >> 64) & 1;
    return (ih_i128)(int64_t)p[n - 1] - (int64_t)q[n - 1] - (ih_i128)borrow >= 0;
}

/* Is s1 / w1 >= s2 / w2? */
INLINE int at_least(const uint64_t *s1, const uint64_t *w1, const uint64_t *s2, const uint64_t *w2, int K, int KW)
{
    uint64_t p[MAX_S + MAX_W], q[MAX_S + MAX_W];

    multiply(p, s1, K, w2, KW);
    multiply(q, s2, K, w1, KW);
    return not_below(p, q, K + KW);
}

/* p = y w and q = s, to compare a value with the mean s / w. */
INLINE void value_against(uint64_t *p, uint64_t *q, const uint64_t *y, const uint64_t *s, const uint64_t *w, int K, int KW)
{
    multiply(p, y, K, w, KW);
    for (int k = 0; k < K + KW; ++k) q[k] = k < K ? s[k] : (uint64_t)((int64_t)s[K - 1] >> 63);
}

/* ---- the solver ---- */

/* sign y[i] in the place of y, 2^(s_low - w_low). */
INLINE void read_value(const ih_row *row, const ih_fixed_point *fp, int64_t i, int K, uint64_t *y)
{
    const ih_parts p = ih_parts_of(ih_row_y(row, i));
    set_element(y, K, p.m, p.m ? p.e - (fp->s_low - fp->w_low) : 0, p.negative == (row->sign > 0));
}

/* S and W of the element i, whose value is y. */
INLINE void read_sums(const ih_row *row, const ih_fixed_point *fp, int64_t i, int K, int KW, int weighted, const uint64_t *y, uint64_t *s,
                      uint64_t *w)
{
    if (weighted) {
        const ih_parts p = ih_parts_of(ih_row_y(row, i)), v = ih_parts_of(ih_row_w(row, i));
        set_element(s, K, (ih_u128)p.m * v.m, p.m ? p.e + v.e - fp->s_low : 0, p.negative == (row->sign > 0));
        if (KW == 1) w[0] = v.e >= fp->w_low ? v.m << (v.e - fp->w_low) : v.m >> (fp->w_low - v.e);
        else set_element(w, KW, v.m, v.e - fp->w_low, 0);
    } else {
        for (int k = 0; k < K; ++k) s[k] = y[k];
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
    const int64_t stride = K + (weighted ? KW : 0), n = row->n;
    int64_t      *starts = to->starts, count = 0, open = 0; /* count: blocks below the open one */
    uint64_t     *stack, *end, *top;
    uint64_t      y[MAX_S], s[MAX_S], w[MAX_W], p[MAX_S + MAX_W], q[MAX_S + MAX_W];
    ih_status     st = IH_OK;

    IH_TRY(ih_exact_grow(&scratch->stack, &scratch->stack_bytes, (size_t)stride * 8));
    stack = scratch->stack;
    end   = stack + scratch->stack_bytes / 8;
    top   = stack;
    read_value(row, &fp, 0, K, y);
    read_sums(row, &fp, 0, K, KW, weighted, y, s, w);
    for (int64_t i = 1; i < n; ++i) {
        uint64_t es[MAX_S], ew[MAX_W];
        read_value(row, &fp, i, K, y);
        value_against(p, q, y, s, w, K, KW);
        if (!not_below(q, p, K + KW)) { /* y[i] is above the open mean: that block is pushed, and i opens one */
            if (i - open > 1) {
                if (end - top < stride) {
                    const size_t used = (size_t)(top - stack);
                    IH_TRY(ih_exact_grow(&scratch->stack, &scratch->stack_bytes, (used + (size_t)stride) * 8));
                    stack = scratch->stack;
                    end   = stack + scratch->stack_bytes / 8;
                    top   = stack + used;
                }
                for (int k = 0; k < K; ++k) top[k] = s[k];
                for (int k = 0; weighted && k < KW; ++k) top[K + k] = w[k];
                top += stride;
            }
            starts[count++] = open;
            /* while values rise each is a block, and comparing two of the inputs is exact */
            for (; i + 1 < n && (row->sign > 0 ? ih_row_y(row, i) < ih_row_y(row, i + 1) : ih_row_y(row, i) > ih_row_y(row, i + 1)); ++i)
                starts[count++] = i;
            open = i;
            read_value(row, &fp, i, K, y);
            read_sums(row, &fp, i, K, KW, weighted, y, s, w);
            continue;
        }
        read_sums(row, &fp, i, K, KW, weighted, y, es, ew);
        add(s, es, K);
        add(w, ew, KW);
        for (; count > 0; --count) {
            const int64_t start = starts[count - 1];
            if (open - start == 1) {
                read_value(row, &fp, start, K, y);
                value_against(p, q, y, s, w, K, KW);
                if (!not_below(p, q, K + KW)) break;
                read_sums(row, &fp, start, K, KW, weighted, y, es, ew);
                add(s, es, K);
                add(w, ew, KW);
            } else {
                const uint64_t *below = top - stride, size = (uint64_t)(open - start), *below_w = weighted ? below + K : &size;
                if (!at_least(below, below_w, s, w, K, KW)) break;
                add(s, below, K);
                add(w, below_w, KW);
                top -= stride;
            }
            open = start;
        }
    }

    *blocks       = count + 1;
    starts[count] = open;
    top           = stack; /* now from the bottom up */
    for (int64_t k = 0; k <= count; ++k) {
        const int64_t  start = starts[k], next = k < count ? starts[k + 1] : n;
        const uint64_t size  = (uint64_t)(next - start);
        if (size == 1) {
            put_single(row, to, k, start);
        } else if (k < count) {
            put_block(row, &fp, to, k, start, next, top, K, weighted ? top + K : &size, KW);
            top += stride;
        } else {
            put_block(row, &fp, to, k, start, next, s, K, weighted ? w : &size, KW);
        }
    }
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
