/* SPDX-License-Identifier: Apache-2.0
 * block_integers.h: sums over a block as integers in shared memory, and what is taken from them.
 *
 * A sum is an integer over a fixed frame, in limbs of 32 bits that are kept in 64: terms are added by atomics on these, whose
 * order does not matter, and carries wait until the end (at most IH_EXACT_TERMS terms of up to 2^33 come between). One lane
 * then takes what is needed from the integers: a rounded mean, a sign, quotients of leading bits. */
#ifndef IH_CUDA_BLOCK_INTEGERS_H
#define IH_CUDA_BLOCK_INTEGERS_H

#include "block_job.h"

#include "../common/bits.h"
#include "../common/mean.h"

#if defined(IH_SIMT)

enum {
    IH_EXACT_TERMS = 1 << 28,
    IH_EXACT_BASE  = 1088, /* the frame of y, w and g begins at 2^-1088, that of w y at 2^-2176, that of a count at 1 */
    IH_EXACT_REST  = 142   /* limbs of a sum of w y less a product of a double and a sum of weights */
};

/* Shared memory of a warp. */
typedef struct ih_exact_room {
    int64_t       s[IH_EXACT_S]; /* 2176 + 2048 bits and 64 for the number of terms */
    int64_t       w[IH_EXACT_W]; /* 1088 + 1024 + 64                                */
    int64_t       g[IH_EXACT_W];
    uint32_t      rest[IH_EXACT_REST];
    ih_exact_rule rule;
    int32_t       sign_s, sign_g;
} ih_exact_room;

/* |v| = m 2^e */
IH_HD uint64_t ih_exact_parts(double v, int32_t *e)
{
    const uint64_t bits = ih_bits_of(v);
    const int32_t  top  = (int32_t)(bits >> 52 & 2047);
    *e = top - (top != 0) - 1074;
    return (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)(top != 0) << 52;
}

/* Add +-(high 2^64 + low) 2^place; by any lane. */
IH_DEV void ih_exact_add(int64_t *limb, uint64_t high, uint64_t low, int32_t place, int32_t negative)
{
    const int32_t  shift   = place & 31;
    int64_t       *to      = limb + (place >> 5);
    const uint64_t part[4] = { (low & 0xffffffffu) << shift, (low >> 32) << shift, (high & 0xffffffffu) << shift, (high >> 32) << shift };
    uint64_t       carry   = 0;

    for (int32_t k = 0; k < 5; ++k) {
        const uint64_t v = carry + (k < 4 ? part[k] & 0xffffffffu : 0);
        carry            = k < 4 ? part[k] >> 32 : 0;
        if (v) atomicAdd((unsigned long long *)&to[k], (unsigned long long)(negative ? 0 - v : v));
    }
}

/* Every limb but the last into 0 .. 2^32 - 1. */
IH_DEV void ih_exact_carry(int64_t *limb, int32_t n)
{
    for (int32_t k = 0; k + 1 < n; ++k) {
        const int64_t v = limb[k];
        limb[k]         = v & 0xffffffff;
        limb[k + 1] += (v - limb[k]) / 4294967296;
    }
}

/* The magnitude in place; returns the sign. */
IH_DEV int32_t ih_exact_magnitude(int64_t *limb, int32_t n)
{
    int32_t sign = 0;

    ih_exact_carry(limb, n);
    if (limb[n - 1] < 0) {
        for (int32_t k = 0; k < n; ++k) limb[k] = -limb[k];
        ih_exact_carry(limb, n);
        return -1;
    }
    for (int32_t k = 0; k < n && !sign; ++k) sign = limb[k] != 0;
    return sign;
}

/* The leading 64 bits q of a magnitude that is not 0: q 2^*e, with *e over the frame; *below: is anything left out? */
IH_DEV uint64_t ih_exact_lead(const int64_t *limb, int32_t n, int32_t *e, int32_t *below)
{
    uint64_t q;
    int32_t  top = n - 1, lift;

    while (!limb[top]) --top;
    lift   = 31 - ih_bit_high((uint32_t)limb[top]);
    q      = (uint64_t)limb[top] << 32 | (uint64_t)(top > 0 ? limb[top - 1] : 0);
    *e     = 32 * (top - 1) - lift;
    *below = 0;
    if (lift) {
        const uint64_t next = (uint64_t)(top > 1 ? limb[top - 2] : 0);
        q      = q << lift | next >> (32 - lift);
        *below = (uint32_t)(next << lift) != 0;
    } else {
        *below = top > 1 && limb[top - 2] != 0;
    }
    for (int32_t k = top - 3; k >= 0; --k) *below |= limb[k] != 0;
    return q;
}

IH_DEV double ih_exact_round_weight(const int64_t *limb, int32_t frame)
{
    int32_t        e, below;
    const uint64_t q    = ih_exact_lead(limb, IH_EXACT_W, &e, &below), rest = q & 2047;
    uint64_t       m    = q >> 11;
    m += rest > 1024 || (rest == 1024 && (below || (m & 1))); /* a subnormal sum has nothing to round away */
    return ldexp((double)m, e + 11 + frame);
}

/* |s| - m 2^e w into room->rest, as its sign; m below 2^55, m 2^e at least 2^-1075 if not 0. */
IH_DEV int32_t ih_exact_remainder(ih_exact_room *room, uint64_t m, int32_t e, const int32_t weighted)
{
    const int32_t  offset = e + IH_EXACT_BASE, shift = offset & 31, at = offset >> 5;
    const uint64_t low = (m & 0xffffffffu) << shift, high = (m >> 32) << shift;
    const uint32_t times[3] = { (uint32_t)low, (uint32_t)(low >> 32) + (uint32_t)high, (uint32_t)(high >> 32) }; /* no carry: bits apart */
    uint32_t *const rest = room->rest;
    int32_t        n = weighted ? IH_EXACT_W : 3, sign = 0;

    while (n > 1 && !room->w[n - 1]) --n;
    for (int32_t k = 0; k < IH_EXACT_REST; ++k) rest[k] = k < IH_EXACT_S ? (uint32_t)room->s[k] : 0;
    for (int32_t j = 0; j < 3 && m; ++j) {
        uint64_t carry = 0;
        int32_t  k     = at + j;
        for (int32_t i = 0; i < n; ++i, ++k) {
            const uint64_t t   = (uint64_t)(uint32_t)room->w[i] * times[j] + carry;
            const uint32_t old = rest[k];
            rest[k]            = old - (uint32_t)t;
            carry              = (t >> 32) + (old < (uint32_t)t);
        }
        for (; carry && k < IH_EXACT_REST; ++k) {
            const uint32_t old = rest[k];
            rest[k]            = old - (uint32_t)carry;
            carry              = old < (uint32_t)carry;
        }
    }
    if (rest[IH_EXACT_REST - 1] >> 31) return -1;
    for (int32_t k = 0; k < IH_EXACT_REST && !sign; ++k) sign = rest[k] != 0;
    return sign;
}

/* Sign of the mean minus v. */
IH_DEV int32_t ih_exact_side(ih_exact_room *room, double v, const int32_t weighted)
{
    int32_t        e;
    const uint64_t m    = ih_exact_parts(v, &e);
    const int32_t  side = !m ? 0 : v < 0 ? -1 : 1;
    if (room->sign_s != side) return room->sign_s < side ? -1 : 1;
    return side * ih_exact_remainder(room, m, e, weighted);
}

/* The quotient of leading bits: *m 2^(the result), off by less than 2^-51 of itself. */
IH_DEV int32_t ih_exact_quotient(const int64_t *a, int32_t na, const ih_exact_room *room, double *m)
{
    int32_t        ea, ew, below;
    const uint64_t qa = ih_exact_lead(a, na, &ea, &below), qw = ih_exact_lead(room->w, IH_EXACT_W, &ew, &below);
    *m = (double)qa / (double)qw;
    return ea - ew;
}

/* |mean| rounded once to double: a first value by leading bits, then exactly against the middles beside it. */
IH_DEV double ih_exact_round_mean(ih_exact_room *room, const int32_t weighted)
{
    double  m, c;
    int32_t e;

    if (!room->sign_s) return 0.0;
    e = ih_exact_quotient(room->s, IH_EXACT_S, room, &m) - IH_EXACT_BASE;
    c = ldexp(m, e);
    if (!(c < INFINITY)) c = 0x1.fffffffffffffp1023;
    for (int32_t k = 0; k < 8; ++k) {
        int32_t        ec, side;
        const uint64_t mc   = ih_exact_parts(c, &ec), bits = ih_bits_of(c);
        const int32_t  step = mc == (uint64_t)1 << 52 && ec > -1074; /* the gap below is half of that above */
        uint64_t       next = bits;

        side = ih_exact_remainder(room, 2 * mc + 1, ec - 1, weighted);
        if (side > 0 || (side == 0 && (mc & 1))) {
            next = bits + 1;
        } else if (mc) {
            side = ih_exact_remainder(room, (step ? 4 : 2) * mc - 1, ec - 1 - step, weighted);
            if (side < 0 || (side == 0 && (mc & 1))) next = bits - 1;
        }
        if (next == bits) break;
        memcpy(&c, &next, sizeof c);
    }
    return c;
}

#endif
#endif
