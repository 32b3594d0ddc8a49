/* SPDX-License-Identifier: Apache-2.0
 * limbs.h: unsigned integers of 64-bit limbs, least significant first, and finite doubles taken apart. */
#ifndef IH_CPU_LIMBS_H
#define IH_CPU_LIMBS_H

#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 ih_u128;
__extension__ typedef __int128          ih_i128;

/* A finite double is (-1)^negative m 2^e with m < 2^53 and e >= -1074. */
typedef struct ih_parts { uint64_t m; int32_t e; int32_t negative; } ih_parts;

static inline ih_parts ih_parts_of(double v)
{
    uint64_t bits;
    ih_parts p;

    memcpy(&bits, &v, sizeof bits);
    p.negative = (int32_t)(bits >> 63);
    p.e        = (int32_t)(bits >> 52 & 2047);
    p.m        = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)(p.e != 0) << 52;
    p.e        = p.e - (p.e != 0) - 1074;
    return p;
}

static inline int ih_bits64(uint64_t v) { return v ? 64 - __builtin_clzll(v) : 0; }

static inline int ih_bits128(ih_u128 v) { return v >> 64 ? 64 + ih_bits64((uint64_t)(v >> 64)) : ih_bits64((uint64_t)v); }

/* Limbs without the zeros at the top. */
static inline int ih_limbs_trim(const uint64_t *d, int n)
{
    while (n > 0 && !d[n - 1]) --n;
    return n;
}

/* Bits of a trimmed number. */
static inline int ih_limbs_bits(const uint64_t *d, int n) { return n ? 64 * (n - 1) + ih_bits64(d[n - 1]) : 0; }

/* a += b, na >= nb; returns the carry out of a[na - 1]. */
static inline uint64_t ih_limbs_add(uint64_t *a, int na, const uint64_t *b, int nb)
{
    uint64_t carry = 0;
    int      k     = 0;

    for (; k < nb; ++k) {
        const ih_u128 t = (ih_u128)a[k] + b[k] + carry;
        a[k]            = (uint64_t)t;
        carry           = (uint64_t)(t >> 64);
    }
    for (; carry && k < na; ++k) carry = ++a[k] == 0;
    return carry;
}

/* a -= b, na >= nb; returns the borrow (1 if a < b). */
static inline uint64_t ih_limbs_sub(uint64_t *a, int na, const uint64_t *b, int nb)
{
    uint64_t borrow = 0;
    int      k      = 0;

    for (; k < nb; ++k) {
        const ih_u128 t = (ih_u128)a[k] - b[k] - borrow;
        a[k]            = (uint64_t)t;
        borrow          = (uint64_t)(t >> 64) & 1;
    }
    for (; borrow && k < na; ++k) borrow = a[k]-- == 0;
    return borrow;
}

/* Sign of a - b, both of n limbs. */
static inline int ih_limbs_compare(const uint64_t *a, const uint64_t *b, int n)
{
    for (int k = n - 1; k >= 0; --k)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return 0;
}

/* r [na + nb] = a b; r overlaps neither. */
static inline void ih_limbs_multiply(uint64_t *r, const uint64_t *a, int na, const uint64_t *b, int nb)
{
    memset(r, 0, (size_t)(na + nb) * sizeof *r);
    for (int i = 0; i < na; ++i) {
        uint64_t carry = 0;
        for (int k = 0; k < nb; ++k) {
            const ih_u128 t = (ih_u128)a[i] * b[k] + r[i + k] + carry;
            r[i + k]        = (uint64_t)t;
            carry           = (uint64_t)(t >> 64);
        }
        r[i + nb] = carry;
    }
}

/* Add v 2^p into d, whose carries stay within it by its size; returns one past the highest limb touched. */
static inline int ih_limbs_add_at(uint64_t *d, ih_u128 v, int p)
{
    const int      s    = p & 63;
    const uint64_t high = (uint64_t)(v >> 64);
    int            k    = p >> 6;
    ih_u128        low = v << s, t;

    t    = (ih_u128)d[k] + (uint64_t)low;
    d[k] = (uint64_t)t;
    t    = (ih_u128)d[k + 1] + (uint64_t)(low >> 64) + (uint64_t)(t >> 64);
    d[++k] = (uint64_t)t;
    t    = (ih_u128)d[k + 1] + (s ? high >> (64 - s) : 0) + (uint64_t)(t >> 64);
    d[++k] = (uint64_t)t;
    for (uint64_t carry = (uint64_t)(t >> 64); carry;) carry = ++d[++k] == 0;
    return k + 1;
}

/* Bits [from, from + 64) of a number of n limbs; what lies outside it is 0. from may be negative. */
static inline uint64_t ih_limbs_window(const uint64_t *d, int n, int from)
{
    const int      k    = from >= 0 ? from / 64 : -((63 - from) / 64), s = from - 64 * k;
    const uint64_t low  = k >= 0 && k < n ? d[k] : 0;
    const uint64_t high = k + 1 >= 0 && k + 1 < n ? d[k + 1] : 0;
    return s ? low >> s | high << (64 - s) : low;
}

/* Is any of the bits [0, below) set? */
static inline int ih_limbs_any_below(const uint64_t *d, int n, int below)
{
    int k = 0;
    for (; k < n && 64 * (k + 1) <= below; ++k)
        if (d[k]) return 1;
    return k < n && below > 64 * k && (d[k] & (((uint64_t)1 << (below - 64 * k)) - 1)) != 0;
}

#endif
