/* SPDX-License-Identifier: Apache-2.0
 * stats.c: order statistics of samples on GSL, and the seeded order of measurement. */
#include "stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sorted copy, which the caller frees; NULL if memory ran out. */
static double *sorted(const double *samples, int64_t n)
{
    double *copy = malloc((size_t)n * sizeof *copy);

    if (!copy) return NULL;
    memcpy(copy, samples, (size_t)n * sizeof *copy);
    gsl_sort(copy, 1, (size_t)n);
    return copy;
}

double stats_quantile(const double *samples, int64_t n, double fraction)
{
    double *copy = sorted(samples, n);
    double  q    = -1;

    if (copy) q = gsl_stats_quantile_from_sorted_data(copy, 1, (size_t)n, fraction);
    free(copy);
    return q;
}

double stats_median(const double *samples, int64_t n)
{
    double *copy = sorted(samples, n);
    double  m    = -1;

    if (copy) m = gsl_stats_median_from_sorted_data(copy, 1, (size_t)n);
    free(copy);
    return m;
}

/* The interval from the k-th smallest to the k-th largest misses the median when fewer than k of n fair coins fall on one
 * side: its coverage is 1 - 2 P(Binomial(n, 1/2) < k). The largest such k gives the narrowest interval. */
int stats_median_interval(const double *samples, int64_t n, double level, double *low, double *high)
{
    int64_t k = 0;
    double *copy;

    while (2 * (k + 1) <= n && 1 - 2 * gsl_cdf_binomial_P((unsigned)k, 0.5, (unsigned)n) >= level) ++k;
    if (k == 0) return 0;
    copy = sorted(samples, n);
    if (!copy) return 0;
    *low  = copy[k - 1];
    *high = copy[n - k];
    free(copy);
    return 1;
}

int stats_settled(const double *samples, int64_t n, int64_t window, double fraction)
{
    double least, most;

    if (n < window) return 0;
    least = most = samples[n - 1];
    for (int64_t i = n - window; i < n; ++i) {
        least = fmin(least, samples[i]);
        most  = fmax(most, samples[i]);
    }
    return most <= least * (1 + fraction);
}

/* splitmix64, written out so that a recorded seed means the same order with every version of every library. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z          = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform below `bound`: draws from the incomplete last span are thrown away. */
static int32_t random_below(uint64_t *state, int32_t bound)
{
    const uint64_t span = UINT64_MAX - UINT64_MAX % (uint64_t)bound;
    uint64_t       draw = next_random(state);

    while (draw >= span) draw = next_random(state);
    return (int32_t)(draw % (uint64_t)bound);
}

void stats_interleave(uint64_t seed, int32_t items, int64_t rounds, int32_t *order)
{
    for (int64_t r = 0; r < rounds; ++r, order += items) {
        for (int32_t i = 0; i < items; ++i) order[i] = i;
        for (int32_t i = items; i-- > 1;) {
            const int32_t other = random_below(&seed, i + 1), held = order[i];
            order[i]     = order[other];
            order[other] = held;
        }
    }
}
