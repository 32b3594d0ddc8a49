/* SPDX-License-Identifier: Apache-2.0
 * stats.h: numbers that tables and verdicts use, over samples as they were taken (not sorted, not changed). On GSL; the
 * command has no bench without it. */
#ifndef IH_BENCH_STATS_H
#define IH_BENCH_STATS_H

#include <stdint.h>

double stats_median(const double *samples, int64_t n);                    /* n >= 1 */
double stats_quantile(const double *samples, int64_t n, double fraction); /* linear between order statistics */

/* Order-statistic interval of the median with at least `level` exact coverage (binomial, 1/2); 0 if n is too small for
 * one, and the ends are left alone. */
int stats_median_interval(const double *samples, int64_t n, double level, double *low, double *high);

/* Have the last `window` times settled: largest over smallest at most 1 + fraction? 0 if there are fewer. */
int stats_settled(const double *samples, int64_t n, int64_t window, double fraction);

/* A recorded order of `items` items, `rounds` times: in every round each item once, shuffled by a generator seeded with
 * `seed`. order holds rounds * items indices. */
void stats_interleave(uint64_t seed, int32_t items, int64_t rounds, int32_t *order);

#endif
