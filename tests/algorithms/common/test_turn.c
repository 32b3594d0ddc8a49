/* SPDX-License-Identifier: Apache-2.0
 * test_turn.c: turns against GMP rationals: nearly collinear triples at all exponents, inside one chunk and across. */
#include "common/judge.h"
#include "../../fits/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <gmp.h>
#include <math.h>
#include <string.h>

typedef struct exact_point { mpq_t x, y; } exact_point;

static void sum_of(mpq_t sum, ih_pair start, ih_pair in)
{
    const double part[4] = { start.hi, start.lo, in.hi, in.lo };
    mpq_t        v;
    mpq_init(v);
    mpq_set_ui(sum, 0, 1);
    for (int k = 0; k < 4; ++k) {
        mpq_set_d(v, part[k]);
        mpq_add(sum, sum, v);
    }
    mpq_clear(v);
}

static int turn_sign(exact_point *p)
{
    mpq_t x1, y1, x2, y2;
    int   sign;
    mpq_inits(x1, y1, x2, y2, NULL);
    mpq_sub(x1, p[1].x, p[0].x);
    mpq_sub(y1, p[1].y, p[0].y);
    mpq_sub(x2, p[2].x, p[1].x);
    mpq_sub(y2, p[2].y, p[1].y);
    mpq_mul(y1, y1, x2);
    mpq_mul(y2, y2, x1);
    sign = mpq_cmp(y2, y1);
    mpq_clears(x1, y1, x2, y2, NULL);
    return sign > 0;
}

/* Split a value into a chunk's start and what is inside. */
static void place(rng *r, double v, double lo, int chunk, ih_pair *start, ih_pair *in, const ih_pair *starts)
{
    *start = starts[chunk];
    *in    = ih_two_sum(v - start->hi, lo + (rng_one_in(r, 2) ? 0 : -start->lo));
}

/* A nearly straight triple: y = slope x, and the last bits of b moved. */
static void make(rng *r, ih_point *p, int exponent_x, int exponent_y, int weighted)
{
    const int    several = (int)rng_below(r, 2);
    const double slope   = rng_one_in(r, 3) ? (double)(rng_below(r, 9) - 4) : rng_bell(r);
    ih_pair      start_x[3], start_y[3];
    double       x = 0;

    for (int c = 0; c < 3; ++c) {
        start_x[c] = ih_two_sum(several ? floor(rng_unit(r) * 1024 * (c + 1)) : 0, weighted && several ? 0x1p-48 * rng_bell(r) : 0);
        start_y[c] = ih_two_sum(several ? rng_bell(r) * 1e3 : 0, several ? 0x1p-48 * rng_bell(r) : 0);
    }
    for (int k = 0; k < 3; ++k) {
        const int chunk = several ? k / (1 + (int)rng_below(r, 2)) : 0;
        double    y;
        x += weighted ? rng_unit(r) + 0x1p-9 : (double)(1 + rng_below(r, 40));
        y = slope * x;
        if (k == 1 && rng_one_in(r, 2)) y += ldexp(rng_bell(r), -(int)rng_below(r, 100));
        p[k]       = (ih_point){ 0 };
        p[k].chunk = chunk;
        p[k].index = 3 * k;
        place(r, x, weighted && rng_one_in(r, 2) ? 0x1p-58 * rng_bell(r) : 0, chunk, &p[k].x0, &p[k].x, start_x);
        place(r, y, rng_one_in(r, 2) ? 0x1p-58 * rng_bell(r) : 0, chunk, &p[k].y0, &p[k].y, start_y);
        if (!weighted) p[k].x0.lo = p[k].x.lo = 0;
        p[k].x0.hi = ldexp(p[k].x0.hi, exponent_x), p[k].x0.lo = ldexp(p[k].x0.lo, exponent_x);
        p[k].x.hi = ldexp(p[k].x.hi, exponent_x), p[k].x.lo = ldexp(p[k].x.lo, exponent_x);
        p[k].y0.hi = ldexp(p[k].y0.hi, exponent_y), p[k].y0.lo = ldexp(p[k].y0.lo, exponent_y);
        p[k].y.hi = ldexp(p[k].y.hi, exponent_y), p[k].y.lo = ldexp(p[k].y.lo, exponent_y);
    }
}

#if defined(IH_SIMT) /* a device has room for most exact signs and leaves the others open */
enum { LEAVES_OPEN = 1 };
#else
enum { LEAVES_OPEN = 0 };
static int32_t never(void *user, int64_t a, int64_t b, int64_t d)
{
    (void)a, (void)b, (void)d;
    ++*(int64_t *)user;
    return 0;
}
#endif

/* Represented coordinates that are exact: the filter is right where it decides, the second level decides always. */
static void exact_coordinates(void **state)
{
    rng         r = rng_seeded(1);
    exact_point e[3];
    int64_t     decided = 0, left = 0, convex = 0, asked = 0;
    ih_judge    judge = { 0 };

    (void)state;
#if !defined(IH_SIMT)
    judge.exact = never;
    judge.user  = &asked;
#endif
    for (int k = 0; k < 3; ++k) mpq_inits(e[k].x, e[k].y, NULL);
    for (int k = 0; k < 60000; ++k) {
        const int weighted = k % 2, exponent_x = weighted ? (int)rng_below(&r, 280) - 140 : 0, exponent_y = (int)rng_below(&r, 560) - 280;
        ih_point  p[3];
        ih_turn   turn;
        int       truth;
        make(&r, p, exponent_x, exponent_y, weighted);
        for (int q = 0; q < 3; ++q) {
            sum_of(e[q].x, p[q].x0, p[q].x);
            sum_of(e[q].y, p[q].y0, p[q].y);
        }
        if (mpq_cmp(e[0].x, e[1].x) >= 0 || mpq_cmp(e[1].x, e[2].x) >= 0) continue;
        truth = turn_sign(e);
        turn  = ih_turn_near(&p[0], &p[1], &p[2]);
        convex += truth;
        if (turn == IH_TURN_UNDECIDED) ++left;
        else ++decided, assert_int_equal(turn == IH_TURN_CONVEX, truth);
        turn = ih_turn_pair(&p[0], &p[1], &p[2]);
        if (LEAVES_OPEN && turn == IH_TURN_UNDECIDED) {
            assert_int_equal(ih_judge_convex(&judge, &p[0], &p[1], &p[2]), 0);
            asked += judge.undecided;
            judge.undecided = 0;
            --left;
            continue;
        }
        assert_int_equal(turn == IH_TURN_CONVEX, truth);
        assert_int_equal(ih_judge_convex(&judge, &p[0], &p[1], &p[2]), truth);
    }
    assert_int_equal(asked, judge.by_exact);
    assert_true(asked <= (LEAVES_OPEN ? 600 : 0));
    assert_int_equal(judge.by_filter + judge.by_pair, decided + left);
    if (!LEAVES_OPEN) assert_int_equal(judge.by_pair, left); /* a device counts both as one */
    assert_true(decided > 5000 && left > 5000 && convex > 5000);
    for (int k = 0; k < 3; ++k) mpq_clears(e[k].x, e[k].y, NULL);
}

/* Coordinates off by up to their errors: what is decided, at either level, holds for the true points. */
static void inexact_coordinates(void **state)
{
    rng         r = rng_seeded(2);
    exact_point e[3];
    int64_t     decided = 0, by_pair = 0, left = 0;
    mpq_t       v, t;

    (void)state;
    mpq_inits(v, t, NULL);
    for (int k = 0; k < 3; ++k) mpq_inits(e[k].x, e[k].y, NULL);
    for (int k = 0; k < 60000; ++k) {
        const double error = ldexp(1, -30 - (int)rng_below(&r, 80));
        const int    weighted = k % 2, starts = (int)rng_below(&r, 2);
        ih_point     p[3];
        ih_turn      turn, pair;
        make(&r, p, 0, 0, weighted);
        for (int q = 0; q < 3; ++q) {
            double *to[4] = { &p[q].err_y, &p[q].err_x, &p[q].err_y0, &p[q].err_x0 };
            for (int c = 0; c < (starts ? 4 : 2); ++c)
                if (weighted || c % 2 == 0) *to[c] = error;
            sum_of(e[q].x, p[q].x0, p[q].x);
            sum_of(e[q].y, p[q].y0, p[q].y);
        }
        /* the adversary: b up, a and d down, or the other way round; chunk starts move as one */
        const int up = (int)rng_below(&r, 2) ? 1 : -1;
        for (int q = 0; q < 3; ++q) {
            const double own = (q == 1 ? up : -up) * error;
            mpq_set_d(v, own);
            mpq_add(e[q].y, e[q].y, v);
            if (starts && p[0].chunk != p[1].chunk) { /* the start of b's chunk, with whoever is in it */
                mpq_set_d(v, p[q].chunk == p[1].chunk ? up * error : -up * error);
                mpq_add(e[q].y, e[q].y, v);
            }
            if (weighted) {
                mpq_set_d(v, (rng_one_in(&r, 2) ? 1 : -1) * error);
                mpq_add(e[q].x, e[q].x, v);
            }
        }
        if (mpq_cmp(e[0].x, e[1].x) >= 0 || mpq_cmp(e[1].x, e[2].x) >= 0) continue;
        turn = ih_turn_near(&p[0], &p[1], &p[2]);
        if (turn != IH_TURN_UNDECIDED) ++decided, assert_int_equal(turn == IH_TURN_CONVEX, turn_sign(e));
        pair = ih_turn_pair(&p[0], &p[1], &p[2]);
        if (pair == IH_TURN_UNDECIDED) ++left;
        else by_pair += turn == IH_TURN_UNDECIDED, assert_int_equal(pair == IH_TURN_CONVEX, turn_sign(e));
    }
    assert_true(decided > 5000 && by_pair > 1000 && left > 5000);
    for (int k = 0; k < 3; ++k) mpq_clears(e[k].x, e[k].y, NULL);
    mpq_clears(v, t, NULL);
}

static ih_pair pair_of(const mpq_t v)
{
    ih_pair p;
    mpq_t   t;
    mpq_init(t);
    p.hi = mpq_get_d(v);
    mpq_set_d(t, p.hi);
    mpq_sub(t, v, t);
    p.lo = mpq_get_d(t);
    mpq_clear(t);
    return ih_two_sum(p.hi, p.lo);
}

static void pair_value(mpq_t v, ih_pair p)
{
    const ih_pair none = { 0, 0 };
    sum_of(v, none, p);
}

/* Ties in the last bits of two doubles: y2 is the pair next to y1 x2 / x1. */
static void pairs_at_their_limit(void **state)
{
    rng     r = rng_seeded(3);
    int64_t decided = 0, left = 0;
    mpq_t   v[4], t;

    (void)state;
    for (int i = 0; i < 4; ++i) mpq_init(v[i]);
    mpq_init(t);
    for (int k = 0; k < 60000; ++k) {
        ih_gap  g[4]; /* x1, y1, x2, y2 */
        ih_turn turn;
        memset(g, 0, sizeof g);
        for (int i = 0; i < 3; ++i) {
            g[i].d = ih_two_sum(rng_unit(&r) + (i == 1 ? -0.5 : 0x1p-4), 0x1p-54 * rng_bell(&r));
            pair_value(v[i], g[i].d);
        }
        mpq_mul(t, v[1], v[2]);
        mpq_div(t, t, v[0]);
        g[3].d = pair_of(t);
        if (k % 2) g[3].d = ih_two_sum(g[3].d.hi, g[3].d.lo * (1 + ldexp(rng_bell(&r), -44 - (int)rng_below(&r, 8))));
        pair_value(v[3], g[3].d);
        mpq_mul(t, v[1], v[2]);
        mpq_mul(v[3], v[3], v[0]);
        turn = ih_turn_pairs(g[0], g[1], g[2], g[3]);
        if (turn == IH_TURN_UNDECIDED) ++left;
        else ++decided, assert_int_equal(turn == IH_TURN_CONVEX, mpq_cmp(v[3], t) > 0);
    }
    assert_true(decided > 1000 && left > 1000);
    for (int i = 0; i < 4; ++i) mpq_clear(v[i]);
    mpq_clear(t);
}

/* Without a third level an undecided turn is flagged and taken as flat. */
static void undecided_is_flagged(void **state)
{
    ih_judge judge = { 0 };
    ih_point p[3]  = { { 0 }, { 0 }, { 0 } };

    (void)state;
    for (int k = 0; k < 3; ++k) p[k].index = 2 * k, p[k].x.hi = 2 * k, p[k].err_y = 0x1p-60;
    assert_int_equal(ih_judge_convex(&judge, &p[0], &p[1], &p[2]), 0);
    assert_int_equal(judge.undecided, 1);
    assert_int_equal(judge.by_exact, 1);
    p[1].y.hi       = -1;
    judge.undecided = 0;
    assert_int_equal(ih_judge_convex(&judge, &p[0], &p[1], &p[2]), 1);
    assert_int_equal(judge.undecided, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(exact_coordinates), cmocka_unit_test(inexact_coordinates),
                                        cmocka_unit_test(pairs_at_their_limit), cmocka_unit_test(undecided_is_flagged) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
