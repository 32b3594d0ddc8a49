/* SPDX-License-Identifier: Apache-2.0
 * exact_wide.c: pooling over the whole exponent range. Numbers keep the limbs that their bits need, so that single
 * elements cost little, and only blocks that really span the range cost their 67 limbs.
 *
 * limbs:  | S of block 0 | W of block 0 | S of block 1 | W of block 1 | ...      as long as each is
 * stack:  | block 0 | block 1 | ...                                              where, which places, sign
 * The block being built is dense in `open`, every limb at its place in the frame of span.h; it is pushed when done. */
#include "exact_solve.h"

#include "span.h"

#include "../common/error.h"

typedef struct block {
    int64_t start;
    size_t  at; /* of its limbs */
    int16_t lo, hi, wlo, whi;
    int32_t sign;
} block;

/* Limbs outside [lo, hi) are undefined. */
typedef struct dense { uint64_t d[IH_LIMBS_S + 2]; int32_t lo, hi, sign; } dense;

static ih_span view(const dense *v)
{
    const ih_span s = { v->d + v->lo, v->lo, v->hi, v->sign };
    return s;
}

static void dense_trim(dense *v)
{
    const ih_span s = ih_span_trim(v->d + v->lo, v->lo, v->hi, v->sign);
    v->lo           = s.lo;
    v->hi           = s.hi;
    v->sign         = s.sign;
}

static void dense_set(dense *v, ih_u128 m, int place, int sign)
{
    v->lo = place >> 6;
    v->hi = v->lo + 3;
    memset(v->d + v->lo, 0, 3 * sizeof *v->d);
    ih_limbs_add_at(v->d, m, place);
    v->sign = sign;
    dense_trim(v);
}

/* Magnitudes of a dense number and a span that lies within its limbs. */
static int magnitude_compare(const dense *v, ih_span s)
{
    for (int k = v->hi - 1; k >= v->lo; --k) {
        const uint64_t b = k >= s.lo && k < s.hi ? s.d[k - s.lo] : 0;
        if (v->d[k] != b) return v->d[k] < b ? -1 : 1;
    }
    return 0;
}

static void dense_add(dense *v, ih_span s)
{
    if (!s.sign) return;
    if (!v->sign) {
        memcpy(v->d + s.lo, s.d, (size_t)(s.hi - s.lo) * sizeof *v->d);
        v->lo   = s.lo;
        v->hi   = s.hi;
        v->sign = s.sign;
        return;
    }
    while (v->lo > s.lo) v->d[--v->lo] = 0;
    while (v->hi < s.hi) v->d[v->hi++] = 0;
    if (v->sign == s.sign) {
        if (ih_limbs_add(v->d + s.lo, v->hi - s.lo, s.d, s.hi - s.lo)) v->d[v->hi++] = 1;
    } else if (magnitude_compare(v, s) >= 0) {
        ih_limbs_sub(v->d + s.lo, v->hi - s.lo, s.d, s.hi - s.lo);
    } else { /* s - v: the complement of v - s */
        uint64_t carry = 1;
        ih_limbs_sub(v->d + s.lo, v->hi - s.lo, s.d, s.hi - s.lo);
        for (int k = v->lo; k < v->hi; ++k) {
            v->d[k] = ~v->d[k] + carry;
            carry   = carry && v->d[k] == 0;
        }
        v->sign = s.sign;
    }
    dense_trim(v);
}

typedef struct open_block { dense s, w; int64_t start; } open_block;

static void open_at(const ih_row *row, int64_t i, open_block *o)
{
    const ih_parts y    = ih_parts_of(ih_row_y(row, i));
    const int      sign = y.m ? (y.negative ? -row->sign : row->sign) : 0;

    o->start = i;
    if (row->w) {
        const ih_parts w = ih_parts_of(ih_row_w(row, i));
        dense_set(&o->s, (ih_u128)y.m * w.m, y.e + w.e + 2148, sign);
        dense_set(&o->w, w.m, w.e + 1074, 1);
    } else {
        dense_set(&o->s, y.m, y.e + 1074, sign);
        dense_set(&o->w, 1, 0, 1);
    }
}

static ih_span block_s(const block *b, const uint64_t *limbs)
{
    const ih_span s = { limbs + b->at, b->lo, b->hi, b->sign };
    return s;
}

static ih_span block_w(const block *b, const uint64_t *limbs)
{
    const ih_span w = { limbs + b->at + (b->hi - b->lo), b->wlo, b->whi, 1 };
    return w;
}

static size_t block_limbs(const block *b) { return (size_t)(b->hi - b->lo + b->whi - b->wlo); }

static ih_status push(ih_exact_scratch *scratch, int64_t count, const open_block *o)
{
    const size_t at = count ? ((block *)scratch->stack)[count - 1].at + block_limbs(&((block *)scratch->stack)[count - 1]) : 0;
    const size_t ns = (size_t)(o->s.hi - o->s.lo), nw = (size_t)(o->w.hi - o->w.lo);
    ih_status    st = IH_OK;
    block       *b;
    uint64_t    *limbs;

    IH_TRY(ih_exact_grow(&scratch->stack, &scratch->stack_bytes, ((size_t)count + 1) * sizeof *b));
    IH_TRY(ih_exact_grow(&scratch->limbs, &scratch->limbs_bytes, (at + ns + nw) * sizeof *limbs));
    b     = (block *)scratch->stack + count;
    limbs = (uint64_t *)scratch->limbs + at;
    memcpy(limbs, o->s.d + o->s.lo, ns * sizeof *limbs);
    memcpy(limbs + ns, o->w.d + o->w.lo, nw * sizeof *limbs);
    b->start = o->start;
    b->at    = at;
    b->lo    = (int16_t)o->s.lo;
    b->hi    = (int16_t)o->s.hi;
    b->wlo   = (int16_t)o->w.lo;
    b->whi   = (int16_t)o->w.hi;
    b->sign  = o->s.sign;
done:
    return st;
}

ih_status ih_exact_solve_wide(ih_exact_scratch *scratch, const ih_row *row, const ih_exact_results *to, int64_t *blocks)
{
    ih_status       st    = IH_OK;
    int64_t         count = 0;
    open_block      o;
    const uint64_t *limbs;

    for (int64_t i = 0; i < row->n; ++i) {
        open_at(row, i, &o);
        for (; count > 0; --count) {
            const block *top = (const block *)scratch->stack + count - 1;
            limbs            = (const uint64_t *)scratch->limbs;
            if (ih_span_compare(block_s(top, limbs), block_w(top, limbs), view(&o.s), view(&o.w)) < 0) break;
            dense_add(&o.s, block_s(top, limbs));
            dense_add(&o.w, block_w(top, limbs));
            o.start = top->start;
        }
        IH_TRY(push(scratch, count++, &o));
    }
    limbs = (const uint64_t *)scratch->limbs;
    for (int64_t k = 0; k < count; ++k) {
        const block  *b = (const block *)scratch->stack + k;
        const int64_t end = k + 1 < count ? b[1].start : row->n;
        const ih_span s = block_s(b, limbs), w = block_w(b, limbs);
        const double  weight = to->weights ? ih_round_lead(ih_span_lead(w, ih_frame_w(row)), 0, 53, -1074) : 0.0;
        ih_exact_put_block(row, to, k, b->start, end, ih_span_divide(row, s, w), s.sign * row->sign < 0, weight);
    }
    *blocks = count;
done:
    return st;
}
