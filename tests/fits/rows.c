/* SPDX-License-Identifier: Apache-2.0
 * rows.c: random problems. Values are made as doubles that are exact in the type, by kinds that are mixed along a row. */
#include "rows.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers of a type ---- */

typedef struct format { int digits, min_exponent, max_exponent; } format; /* significand bits; exponents of 1.xxx */

static format format_of(ih_dtype dtype)
{
    const format f32 = { 24, -126, 127 }, f64 = { 53, -1022, 1023 };
    return dtype == IH_F32 ? f32 : f64;
}

static double rounded(ih_dtype dtype, double v) { return dtype == IH_F32 ? (double)(float)v : v; }

/* So many steps up or down in the type, between its largest finite values. */
static double stepped(ih_dtype dtype, double v, int64_t steps)
{
    const int64_t largest = dtype == IH_F32 ? 0x7f7fffff : 0x7fefffffffffffff;
    int64_t       place; /* of v among the numbers of the type: 0 for zero, k for the k-th positive, -k for the k-th negative */

    if (dtype == IH_F32) {
        const float f = (float)v;
        int32_t     bits;
        memcpy(&bits, &f, sizeof bits);
        place = bits < 0 ? -(int64_t)(bits & 0x7fffffff) : bits;
    } else {
        memcpy(&place, &v, sizeof place);
        if (place < 0) place = -(place & 0x7fffffffffffffff);
    }
    place += steps;
    place = place > largest ? largest : place < -largest ? -largest : place;
    if (dtype == IH_F32) {
        const int32_t bits = (int32_t)llabs(place);
        float         f;
        memcpy(&f, &bits, sizeof f);
        return place < 0 ? -(double)f : (double)f;
    }
    const int64_t bits = llabs(place);
    memcpy(&v, &bits, sizeof v);
    return place < 0 ? -v : v;
}

/* Any significand, sign chosen by the caller, exponent in [low, high] of the type's range. */
static double with_exponent(rng *r, ih_dtype dtype, int low, int high)
{
    const format f = format_of(dtype);
    const double m = 1 + ldexp((double)(rng_next(r) >> (64 - f.digits + 1)), 1 - f.digits);
    return ldexp(m, low + (int)rng_below(r, high - low + 1));
}

static double sign_of(rng *r) { return rng_one_in(r, 2) ? -1 : 1; }

/* ---- values ---- */

typedef struct maker { ih_dtype dtype; double a, b, c, state; int64_t period, seed; } maker;

/* A number that depends on position k of a period only. */
static double periodic(const maker *m, int64_t i)
{
    rng r = rng_seeded((uint64_t)(m->seed + i % m->period));
    return rng_unit(&r);
}

typedef double (*kind)(rng *, maker *, int64_t i, int64_t n);

static double noise(rng *r, maker *m, int64_t i, int64_t n) { (void)i; (void)n; return m->a + m->b * rng_bell(r); }
static double trend(rng *r, maker *m, int64_t i, int64_t n) { return m->b * (rng_bell(r) + m->c * (double)i / (double)n); }
static double few(rng *r, maker *m, int64_t i, int64_t n) { (void)i; (void)n; return m->a + m->b * (double)rng_below(r, m->period % 5 + 2); }
static double labels(rng *r, maker *m, int64_t i, int64_t n) { (void)m; return rng_unit(r) * (double)n < (double)i; }
static double ulps(rng *r, maker *m, int64_t i, int64_t n) { (void)i; (void)n; return stepped(m->dtype, m->a, rng_below(r, 3) - 1); }
static double whole(rng *r, maker *m, int64_t i, int64_t n) { (void)m; (void)i; (void)n; return (double)(rng_below(r, 41) - 20); }
static double whole_drift(rng *r, maker *m, int64_t i, int64_t n) { (void)n; return (double)(rng_below(r, m->period + 1) + i / m->period); }
static double rising(rng *r, maker *m, int64_t i, int64_t n) { (void)i; (void)n; return m->state += fabs(m->b) * rng_unit(r); }
static double falling(rng *r, maker *m, int64_t i, int64_t n) { (void)i; (void)n; return m->state -= fabs(m->b) * rng_unit(r); }
static double walk(rng *r, maker *m, int64_t i, int64_t n) { (void)i; (void)n; return m->state += m->b * (rng_unit(r) - 0.5); }
static double wave(rng *r, maker *m, int64_t i, int64_t n) { (void)r; (void)n; return periodic(m, i); }
static double wave_drift(rng *r, maker *m, int64_t i, int64_t n) { (void)r; (void)n; return 8 * periodic(m, i) + (double)(i / m->period) * m->c / 8; }
static double neighbours(rng *r, maker *m, int64_t i, int64_t n) { (void)r; (void)i; (void)n; return m->state = stepped(m->dtype, m->state, m->c < 0 ? -1 : 1); }
static double line(rng *r, maker *m, int64_t i, int64_t n) { (void)n; return m->c * (double)i + (rng_one_in(r, 40) ? m->b * rng_bell(r) : 0); }
static double constant(rng *r, maker *m, int64_t i, int64_t n) { (void)r; (void)i; (void)n; return m->a; }

/* Means that lie halfway between two numbers: values that differ in the last digits of their significand. */
static double halfway(rng *r, maker *m, int64_t i, int64_t n)
{
    (void)i; (void)n;
    return stepped(m->dtype, ldexp(1, (int)m->period % 60 - 30), rng_below(r, m->period % 7 + 2));
}

/* Large terms that cancel and leave small ones. */
static double cancel(rng *r, maker *m, int64_t i, int64_t n)
{
    (void)n;
    if (i % 3 == 2) return rng_bell(r);
    if (i % 3 == 0) m->state = rng_unit(r);
    return (i % 3 ? -1 : 1) * ldexp(m->state, m->dtype == IH_F32 ? 60 : 200);
}

static double all_exponents(rng *r, maker *m, int64_t i, int64_t n)
{
    const format f = format_of(m->dtype);
    (void)i; (void)n;
    return sign_of(r) * with_exponent(r, m->dtype, f.min_exponent - f.digits + 1, f.max_exponent);
}

static double some_exponents(rng *r, maker *m, int64_t i, int64_t n)
{
    (void)i; (void)n;
    return sign_of(r) * with_exponent(r, m->dtype, -(int)m->period, (int)m->period);
}

static double subnormal(rng *r, maker *m, int64_t i, int64_t n)
{
    const format f = format_of(m->dtype);
    (void)i; (void)n;
    return sign_of(r) * ldexp((double)rng_below(r, rng_one_in(r, 2) ? 4 : (int64_t)1 << 22), f.min_exponent - f.digits + 1);
}

static double huge(rng *r, maker *m, int64_t i, int64_t n)
{
    const format f = format_of(m->dtype);
    (void)i; (void)n;
    return sign_of(r) * with_exponent(r, m->dtype, f.max_exponent - (int)rng_below(r, 3), f.max_exponent);
}

static double stretches(rng *r, maker *m, int64_t i, int64_t n)
{
    (void)n;
    if (i == 0 || rng_one_in(r, m->period)) m->state = rng_one_in(r, 3) ? m->state + m->b : m->b * rng_bell(r);
    return m->state;
}

static double runs(rng *r, maker *m, int64_t i, int64_t n)
{
    (void)n;
    if (i == 0 || rng_one_in(r, m->period)) m->c = m->b * rng_bell(r);
    return m->state += m->c * rng_unit(r);
}

/* Pairs a + d, a - d: neighbouring blocks of exactly equal mean, now and then one step off. */
static double equal_means(rng *r, maker *m, int64_t i, int64_t n)
{
    (void)n;
    if (i % 2 == 0) m->state = (double)rng_below(r, 1 << 20);
    return 3 + (i % 2 ? -1 : 1) * ldexp(m->state, -20) + (rng_one_in(r, 50) ? ldexp(1, -20) : 0);
}

/* Position k of a falling pattern, the same in every period: each period is one block, and all have one mean. `deep` is
 * how many binary digits the pattern spans, more than one or two numbers of the type hold. */
static double falling_pattern(const maker *m, int64_t i, double deep)
{
    const int64_t k = i % m->period;
    return ldexp(4 * m->period + 1 - 4 * (double)k + periodic(m, i), -(int)(deep * (double)k / (double)m->period));
}

/* Equal means that only sums of many digits can tell to be equal, now and then one step off in the smallest term. */
static double deep_ties(rng *r, maker *m, int64_t i, int64_t n)
{
    const double v = rounded(m->dtype, falling_pattern(m, i, 24 * (double)(m->seed % 6)));
    (void)n;
    return i % m->period == m->period - 1 && rng_one_in(r, 30) ? stepped(m->dtype, v, rng_one_in(r, 2) ? 1 : -1) : v;
}

/* Means of periods that rise by about a step of the type: every period is a block, its corner hardly below the chord. */
static double creep(rng *r, maker *m, int64_t i, int64_t n)
{
    const double v = rounded(m->dtype, falling_pattern(m, i, 0));
    (void)n;
    if (i == 0) m->state = 0;
    if (i % m->period == 0) m->state += (double)(rng_below(r, 3) + (m->seed % 2) - 1);
    return i % m->period == m->period - 1 ? stepped(m->dtype, v, (int64_t)m->state) : v;
}

static const struct { const char *name; kind make; } kinds[] = {
#define KIND(name) { #name, name }
    KIND(noise), KIND(trend), KIND(few), KIND(labels), KIND(ulps), KIND(whole), KIND(whole_drift), KIND(rising), KIND(falling),
    KIND(walk), KIND(wave), KIND(wave_drift), KIND(neighbours), KIND(line), KIND(constant), KIND(halfway), KIND(cancel),
    KIND(all_exponents), KIND(some_exponents), KIND(subnormal), KIND(huge), KIND(stretches), KIND(runs), KIND(equal_means),
    KIND(deep_ties), KIND(creep),
#undef KIND
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static maker maker_of(rng *r, ih_dtype dtype)
{
    maker m = { .dtype = dtype };
    m.a      = rounded(dtype, rng_one_in(r, 3) ? 0 : with_exponent(r, dtype, -8, 8) * sign_of(r));
    m.b      = rounded(dtype, with_exponent(r, dtype, -12, 4) * sign_of(r));
    m.c      = (double)(rng_below(r, 9) - 4);
    m.state  = m.a;
    m.period = 1 + rng_below(r, rng_one_in(r, 2) ? 12 : 70);
    m.seed   = rng_below(r, 1 << 30);
    return m;
}

static void put(ih_dtype dtype, void *to, int64_t i, double v)
{
    if (dtype == IH_F32) ((float *)to)[i] = (float)v;
    else ((double *)to)[i] = v;
}

/* A finite value of the type. */
static double kept_finite(ih_dtype dtype, double v)
{
    const double most = dtype == IH_F32 ? FLT_MAX : DBL_MAX;
    return fabs(v) <= most ? v : v < 0 ? -most : most;
}

void random_values(rng *r, ih_dtype dtype, int64_t n, void *y)
{
    const int     mixed  = rng_one_in(r, 4);
    const int     scale  = rng_one_in(r, 4) ? (int)rng_below(r, dtype == IH_F32 ? 240 : 2000) - (dtype == IH_F32 ? 120 : 1000) : 0;
    const double  sign   = sign_of(r);
    int64_t       to     = 0;

    for (int64_t i = 0; i < n; i = to) {
        const kind k = kinds[rng_below(r, KINDS)].make;
        maker      m = maker_of(r, dtype);
        to = mixed ? i + 1 + rng_below(r, n - i) : n;
        for (int64_t j = i; j < to; ++j) put(dtype, y, j, kept_finite(dtype, sign * ldexp(k(r, &m, j - i, to - i), scale)));
    }
}

const char *value_kind_name(int kind_of) { return kind_of < KINDS ? kinds[kind_of].name : NULL; }

void values_of_kind(rng *r, ih_dtype dtype, int64_t n, void *y, int kind_of)
{
    maker m = maker_of(r, dtype);
    for (int64_t i = 0; i < n; ++i) put(dtype, y, i, kept_finite(dtype, kinds[kind_of].make(r, &m, i, n)));
}

/* ---- weights ---- */

static const char *const weight_kinds[] = {
    "ones", "uniform", "small whole", "equal", "2^+-6", "2^+-24", "all exponents", "subnormal", "huge", "periodic", "powers of 2", "a few large", "ulps",
};
enum { WEIGHT_KINDS = sizeof weight_kinds / sizeof weight_kinds[0] };

static double weight(rng *r, maker *m, int64_t kind_of, int64_t i)
{
    const format f = format_of(m->dtype);

    switch (kind_of) {
    case 0: return 1;
    case 1: return 0.5 + rng_unit(r);
    case 2: return (double)(1 + rng_below(r, 10));
    case 3: return fabs(m->b); /* all equal, not a round number */
    case 4: return with_exponent(r, m->dtype, -6, 6);
    case 5: return with_exponent(r, m->dtype, -24, 24);
    case 6: return with_exponent(r, m->dtype, f.min_exponent - f.digits + 1, f.max_exponent);
    case 7: return ldexp((double)(1 + rng_below(r, 100)), f.min_exponent - f.digits + 1);
    case 8: return with_exponent(r, m->dtype, f.max_exponent - 1, f.max_exponent);
    case 9: return 0.25 + periodic(m, i);
    case 10: return ldexp(1, (int)rng_below(r, 40) - 20);
    case 11: return rng_one_in(r, 20) ? 0x1p30 : 1 + rng_unit(r);
    default: return stepped(m->dtype, 1, rng_below(r, 3) - 1);
    }
}

static double kept_positive(ih_dtype dtype, double v)
{
    v = rounded(dtype, kept_finite(dtype, v));
    return v > 0 ? v : 1;
}

const char *weight_kind_name(int kind_of) { return kind_of < WEIGHT_KINDS ? weight_kinds[kind_of] : NULL; }

void weights_of_kind(rng *r, ih_dtype dtype, int64_t n, void *w, int kind_of)
{
    maker m = maker_of(r, dtype);
    for (int64_t i = 0; i < n; ++i) put(dtype, w, i, kept_positive(dtype, weight(r, &m, kind_of, i)));
}

void random_weights(rng *r, ih_dtype dtype, int64_t n, void *w)
{
    const int mixed = rng_one_in(r, 5);
    int64_t   to    = 0;

    for (int64_t i = 0; i < n; i = to) {
        const int64_t kind_of = rng_below(r, WEIGHT_KINDS);
        maker         m       = maker_of(r, dtype);
        to = mixed ? i + 1 + rng_below(r, n - i) : n;
        for (int64_t j = i; j < to; ++j) put(dtype, w, j, kept_positive(dtype, weight(r, &m, kind_of, j - i)));
    }
}

/* ---- problems ---- */

static int64_t random_length(rng *r, int64_t max_n)
{
    static const int64_t seams[] = { 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049 };
    int64_t              n;
    switch (rng_below(r, 8)) {
    case 0: n = rng_below(r, 5); break;
    case 1: case 2: n = rng_below(r, 40); break;
    case 3: case 4: n = rng_below(r, 150); break;
    case 5: n = seams[rng_below(r, (int64_t)(sizeof seams / sizeof seams[0]))]; break;
    case 6: n = rng_below(r, 700); break;
    default: n = rng_below(r, max_n + 1);
    }
    return n < max_n ? n : max_n;
}

/* A bound near the values of the row, so that it cuts some blocks. */
static double random_bound(rng *r, const random_problem *rp, int64_t total)
{
    const int64_t i = total ? rng_below(r, total) : 0;
    if (!total || rng_one_in(r, 4)) return rng_bell(r);
    return rp->problem.dtype == IH_F32 ? (double)((float *)rp->y)[i] : ((double *)rp->y)[i];
}

void random_problem_open(random_problem *rp, uint64_t seed, int64_t max_n)
{
    rng         r = rng_seeded(seed);
    ih_problem *p = &rp->problem;
    int64_t     total;
    size_t      item;

    memset(rp, 0, sizeof *rp);
    ih_problem_init(p);
    p->dtype     = rng_one_in(&r, 2) ? IH_F32 : IH_F64;
    p->direction = rng_one_in(&r, 3) ? IH_DECREASING : IH_INCREASING;
    p->rows      = rng_one_in(&r, 4) ? rng_below(&r, 6) : 1;
    if (p->rows > 1 && rng_one_in(&r, 2)) {
        rp->offsets = malloc(((size_t)p->rows + 1) * 8);
        total       = 0;
        for (int64_t k = 0; k <= p->rows; ++k) {
            rp->offsets[k] = total;
            total += rng_one_in(&r, 4) ? 0 : random_length(&r, max_n / (p->rows + 1));
        }
        total = rp->offsets[p->rows];
        p->n  = total;
    } else {
        p->n  = random_length(&r, p->rows > 1 ? 2 * max_n / p->rows : max_n);
        total = p->n * p->rows;
    }
    item  = p->dtype == IH_F32 ? 4 : 8;
    rp->y = malloc((size_t)total * item + 1);
    random_values(&r, p->dtype, total, rp->y);
    if (rng_one_in(&r, 2)) {
        rp->w = malloc((size_t)total * item + 1);
        random_weights(&r, p->dtype, total, rp->w);
    }
    p->y       = rp->y;
    p->w       = rp->w;
    p->offsets = rp->offsets;
    if (rng_one_in(&r, 5)) p->y_min = random_bound(&r, rp, total);
    if (rng_one_in(&r, 5)) p->y_max = random_bound(&r, rp, total);
    if (p->y_min > p->y_max) {
        const double low = p->y_max;
        p->y_max = p->y_min;
        p->y_min = low;
    }
}

void random_problem_close(random_problem *rp)
{
    free(rp->y);
    free(rp->w);
    free(rp->offsets);
    memset(rp, 0, sizeof *rp);
}

void random_options(rng *r, const ih_impl *impl, ih_options *o)
{
    static const int32_t chunks[] = { 0, 0, 32, 64, 96, 128, 512, 1024, 4096 }, caps[] = { -1, 0, 1, 2, 8, 64 }, warps[] = { 0, 1, 4, 256, 1 << 20 };

    ih_options_init(o);
    if (impl->options & IH_OPT_THREADS) o->threads = 1 + (int32_t)rng_below(r, 3);
    if (impl->options & IH_OPT_CHUNK) o->chunk = rng_one_in(r, 6) ? 1 + (int32_t)rng_below(r, 300) : chunks[rng_below(r, 9)];
    if ((impl->options & IH_OPT_WALK_CAP) && rng_one_in(r, 2)) o->walk_cap = caps[rng_below(r, 6)];
    if ((impl->options & IH_OPT_THREAD_MERGES) && rng_one_in(r, 2)) o->thread_merges = warps[rng_below(r, 5)];
    if (impl->options & IH_OPT_ISA) o->isa = (int32_t)rng_below(r, 4);
}
