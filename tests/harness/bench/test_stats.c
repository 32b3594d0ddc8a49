/* SPDX-License-Identifier: Apache-2.0
 * Statistics: known values, GSL's own selection as a second opinion, exact coverage of the interval, fair orders. */
#include "support.h"

#include "bench/stats.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

static void test_known_values(void **state)
{
    (void)state;
    const double odd[] = { 5, 1, 4 }, even[] = { 4, 1, 3, 10 };
    assert_true(stats_median(odd, 3) == 4);
    assert_true(stats_median(even, 4) == 3.5);
    assert_true(stats_median(odd, 1) == 5);
    assert_true(stats_quantile(even, 4, 0) == 1);
    assert_true(stats_quantile(even, 4, 1) == 10);
    assert_true(stats_quantile(even, 4, 0.25) == 2.5); /* place 0.75 between 1 and 3 */
    assert_true(odd[0] == 5 && even[3] == 10);         /* left as they were          */
}

static void test_against_selection(void **state)
{
    (void)state;
    double   x[101], copy[101];
    uint64_t random = 1;
    for (int n = 1; n <= 101; ++n) {
        for (int i = 0; i < n; ++i) x[i] = (double)(random_bits(&random) >> 40);
        memcpy(copy, x, sizeof x);
        assert_true(stats_median(x, n) == gsl_stats_median(copy, 1, (size_t)n));
    }
}

/* Coverage of [x_(k), x_(n+1-k)] counted over all 2^n ways of n samples to fall left or right of the median. */
static double coverage(int n, int k)
{
    double   covered = 0, choose = 1;
    for (int left = 0; left <= n; ++left) { /* choose = n over left, exact in a double here */
        if (left >= k && n - left >= k) covered += choose;
        choose = choose * (n - left) / (left + 1);
    }
    return covered / ldexp(1, n);
}

static void test_interval_coverage(void **state)
{
    (void)state;
    static const double levels[] = { 0.95, 0.99, 0.6 };
    double              x[30];
    for (int i = 0; i < 30; ++i) x[i] = (double)((i * 7) % 30); /* a permutation of 0 .. 29 */
    for (size_t l = 0; l < sizeof levels / sizeof levels[0]; ++l) {
        for (int n = 1; n <= 30; ++n) {
            double    y[30], low = -7, high = -7;
            for (int i = 0, at = 0; i < 30; ++i)
                if (x[i] < n) y[at++] = x[i]; /* a permutation of 0 .. n - 1: order statistic k is k - 1 */
            const int found = stats_median_interval(y, n, levels[l], &low, &high);
            if (!found) {
                assert_true(coverage(n, 1) < levels[l]);
                assert_true(low == -7 && high == -7);
                continue;
            }
            const int k = (int)low + 1;
            assert_true(high == n - k);
            assert_true(coverage(n, k) >= levels[l]);     /* enough ...                       */
            assert_true(coverage(n, k + 1) < levels[l]);  /* ... and no narrower one would do */
        }
    }
    double low, high;
    assert_false(stats_median_interval(x, 5, 0.95, &low, &high)); /* 1 - 2/32 < 0.95 <= 1 - 2/64 */
    assert_true(stats_median_interval(x, 6, 0.95, &low, &high));
}

static void test_settled(void **state)
{
    (void)state;
    const double x[] = { 9, 1.00, 1.04, 1.02 };
    assert_false(stats_settled(x, 2, 3, 0.05));
    assert_false(stats_settled(x, 3, 3, 0.05));
    assert_true(stats_settled(x, 4, 3, 0.05));
    assert_false(stats_settled(x, 4, 3, 0.03));
}

static void test_interleave(void **state)
{
    (void)state;
    enum { ITEMS = 5, ROUNDS = 2000 };
    static int32_t a[ITEMS * ROUNDS], b[ITEMS * ROUNDS];
    int            first[ITEMS] = { 0 };
    stats_interleave(7, ITEMS, ROUNDS, a);
    stats_interleave(7, ITEMS, ROUNDS, b);
    assert_memory_equal(a, b, sizeof a);
    stats_interleave(8, ITEMS, ROUNDS, b);
    assert_memory_not_equal(a, b, sizeof a);
    for (int r = 0; r < ROUNDS; ++r) {
        unsigned seen = 0;
        for (int i = 0; i < ITEMS; ++i) seen |= 1u << a[r * ITEMS + i];
        assert_int_equal(seen, (1u << ITEMS) - 1);
        first[a[r * ITEMS]]++;
    }
    for (int i = 0; i < ITEMS; ++i) assert_in_range(first[i], 300, 500); /* 400 expected, standard deviation 18 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),  cmocka_unit_test(test_against_selection), cmocka_unit_test(test_interval_coverage),
        cmocka_unit_test(test_settled),       cmocka_unit_test(test_interleave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
