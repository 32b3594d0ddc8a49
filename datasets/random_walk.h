/* SPDX-License-Identifier: Apache-2.0
 * random_walk.h: a random walk with normal steps of which any place can be computed alone, for host and device.
 *
 * Midpoint construction: with N the smallest power of two >= n, W(0) = 0 and W(N) = sqrt(N) Z_N; the middle m of a
 * span (a, b) whose ends are known is W(m) = (W(a) + W(b)) / 2 + sqrt(b - a) / 2 Z_m. Each place is the middle of one
 * span only, so Z_m is a function of m. One place costs log2 N normal values; neighbours share most of them, which
 * ih_walk_cursor uses: one normal value a place, the same bits. */
#ifndef IH_DATASETS_RANDOM_WALK_H
#define IH_DATASETS_RANDOM_WALK_H

#include "datasets/arithmetic.h"
#include "datasets/counter.h"

IH_HD double ih_walk_normal(ih_key key, int64_t place)
{
    return ih_normal_quantile(ih_uniform(ih_draw(key, (uint64_t)place)));
}

IH_HD int64_t ih_walk_span(int64_t n)
{
    int64_t span = 1;
    while (span < n) span *= 2;
    return span;
}

IH_HD double ih_walk_end(ih_key key, int64_t span) { return sqrt((double)span) * ih_walk_normal(key, span); }

IH_HD double ih_walk_middle(ih_key key, int64_t a, int64_t b, double at_a, double at_b)
{
    return (at_a + at_b) * 0.5 + (sqrt((double)(b - a)) * 0.5) * ih_walk_normal(key, a + (b - a) / 2);
}

/* W(place), 1 <= place <= n. */
IH_HD double ih_walk_at(ih_key key, int64_t n, int64_t place)
{
    int64_t a = 0, b = ih_walk_span(n);
    double  at_a = 0.0, at_b = ih_walk_end(key, b);
    while (b != place) {
        const int64_t m    = a + (b - a) / 2;
        const double  at_m = ih_walk_middle(key, a, b, at_a, at_b);
        if (place <= m) {
            b    = m;
            at_b = at_m;
        } else {
            a    = m;
            at_a = at_m;
        }
    }
    return at_b;
}

/* Places one after the other. ends holds the right ends of the spans around the next place, the innermost last. */
typedef struct ih_walk_cursor {
    ih_key  key;
    int64_t place;
    double  at_place; /* W(place), the place last returned */
    int32_t depth;
    int64_t ends[64];
    double  at_ends[64];
} ih_walk_cursor;

/* Begin so that ih_walk_next returns W(place) first, 1 <= place <= n. */
IH_HD void ih_walk_begin(ih_walk_cursor *c, ih_key key, int64_t n, int64_t place)
{
    c->key        = key;
    c->place      = 0;
    c->at_place   = 0.0;
    c->depth      = 1;
    c->ends[0]    = ih_walk_span(n);
    c->at_ends[0] = ih_walk_end(key, c->ends[0]);
    while (c->place < place - 1) { /* place - 1 is the left end of some span: go there */
        const int64_t b    = c->ends[c->depth - 1];
        const int64_t m    = c->place + (b - c->place) / 2;
        const double  at_m = ih_walk_middle(key, c->place, b, c->at_place, c->at_ends[c->depth - 1]);
        if (m <= place - 1) {
            c->place    = m;
            c->at_place = at_m;
        } else {
            c->ends[c->depth]      = m;
            c->at_ends[c->depth++] = at_m;
        }
    }
}

IH_HD double ih_walk_next(ih_walk_cursor *c)
{
    while (c->ends[c->depth - 1] - c->place > 1) {
        const int64_t b        = c->ends[c->depth - 1];
        const double  at_m     = ih_walk_middle(c->key, c->place, b, c->at_place, c->at_ends[c->depth - 1]);
        c->ends[c->depth]      = c->place + (b - c->place) / 2;
        c->at_ends[c->depth++] = at_m;
    }
    c->depth -= 1;
    c->place    = c->ends[c->depth];
    c->at_place = c->at_ends[c->depth];
    return c->at_place;
}

#endif
