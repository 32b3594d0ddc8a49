/* SPDX-License-Identifier: Apache-2.0
 * pairs.c: a greedy covering array: each test begins with a pair that is still missing, and the other axes take, in random
 * order, the value that adds the most missing pairs. Deterministic in the seed. */
#include "pairs.h"

#include <stdlib.h>
#include <string.h>

static unsigned char *cell(const pairs *p, int a, int b) { return &p->covered[(size_t)a * (size_t)p->total + (size_t)b]; }

static int axis_of(const pairs *p, int number)
{
    int a = p->axes - 1;
    while (p->first[a] > number) --a;
    return a;
}

void pairs_open(pairs *p, const int *values, int axes, uint64_t seed)
{
    memset(p, 0, sizeof *p);
    p->axes   = axes;
    p->random = rng_seeded(seed);
    for (int a = 0; a < axes; ++a) {
        p->values[a] = values[a];
        p->first[a]  = p->total;
        p->total += values[a];
    }
    for (int a = 0; a < axes; ++a)
        for (int b = 0; b < a; ++b) p->missing += (int64_t)values[a] * values[b];
    p->covered = calloc((size_t)p->total * (size_t)p->total, 1);
}

/* The first missing pair at or behind the last one found. */
static void seek(pairs *p)
{
    for (; p->seek_a < p->total; ++p->seek_a, p->seek_b = 0)
        for (; p->seek_b < p->total; ++p->seek_b)
            if (axis_of(p, p->seek_a) != axis_of(p, p->seek_b) && !*cell(p, p->seek_a, p->seek_b)) return;
}

int pairs_next(pairs *p, int *test)
{
    int order[PAIRS_AXES], set[PAIRS_AXES], chosen = 0; /* numbers of the values chosen so far */

    if (p->missing == 0) return 0;
    seek(p);
    for (int a = 0; a < p->axes; ++a) test[a] = -1;
    set[chosen++] = p->seek_a;
    set[chosen++] = p->seek_b;
    for (int k = 0; k < 2; ++k) test[axis_of(p, set[k])] = set[k] - p->first[axis_of(p, set[k])];
    for (int a = 0; a < p->axes; ++a) order[a] = a;
    for (int a = p->axes - 1; a > 0; --a) {
        const int at = (int)rng_below(&p->random, a + 1), other = order[at];
        order[at] = order[a];
        order[a]  = other;
    }
    for (int k = 0; k < p->axes; ++k) {
        const int a     = order[k];
        int       best = 0, best_gain = -1;
        if (test[a] >= 0) continue;
        const int shift = (int)rng_below(&p->random, p->values[a]);
        for (int j = 0; j < p->values[a]; ++j) {
            const int v    = (j + shift) % p->values[a];
            int       gain = 0;
            for (int s = 0; s < chosen; ++s) gain += !*cell(p, p->first[a] + v, set[s]);
            if (gain > best_gain) best = v, best_gain = gain;
        }
        test[a]       = best;
        set[chosen++] = p->first[a] + best;
    }
    for (int i = 0; i < chosen; ++i)
        for (int j = 0; j < i; ++j) {
            p->missing -= !*cell(p, set[i], set[j]);
            *cell(p, set[i], set[j]) = *cell(p, set[j], set[i]) = 1;
        }
    return 1;
}

void pairs_close(pairs *p)
{
    free(p->covered);
    p->covered = NULL;
}
