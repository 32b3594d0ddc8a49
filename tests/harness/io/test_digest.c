/* SPDX-License-Identifier: Apache-2.0
 *
 * The digest against the plain hash of the same bytes in one piece, and against fixed values.
 */
#include "io/digest.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "support.h"

/* The stream of bytes that is hashed, put together by hand. */
static uint64_t by_hand(const void *z, size_t z_bytes, const int64_t *starts, size_t blocks)
{
    unsigned char *bytes = malloc(z_bytes + 8 * blocks + 1);
    assert_non_null(bytes);
    if (z_bytes > 0) memcpy(bytes, z, z_bytes);
    for (size_t b = 0; b < blocks; b++)
        for (int i = 0; i < 8; i++) bytes[z_bytes + 8 * b + (size_t)i] = (unsigned char)((uint64_t)starts[b] >> 8 * i);
    const uint64_t digest = XXH3_64bits(bytes, z_bytes + 8 * blocks);
    free(bytes);
    return digest;
}

static void test_against_one_piece(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 1, 2, 1023, 1024, 1025, 5000};
    uint64_t             seed      = 9;
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        const int64_t n      = lengths[k];
        float        *z32    = calloc((size_t)n + 1, sizeof *z32);
        double       *z64    = calloc((size_t)n + 1, sizeof *z64);
        int64_t      *starts = calloc((size_t)n + 1, sizeof *starts);
        for (int64_t i = 0; i < n; i++) {
            z32[i]    = (float)(random_bits(&seed) % 3);
            z64[i]    = (double)random_bits(&seed);
            starts[i] = (int64_t)(random_bits(&seed) >> 1);
        }
        assert_true(digest_fit(IH_F32, z32, n, starts, n) == by_hand(z32, 4 * (size_t)n, starts, (size_t)n));
        assert_true(digest_fit(IH_F64, z64, n, starts, n / 2) == by_hand(z64, 8 * (size_t)n, starts, (size_t)n / 2));
        const uint64_t plain32 = digest_fit(IH_F32, z32, n, starts, n);
        bool           any     = false;
        for (int64_t i = 0; i < n; i++) {
            if (z32[i] != 0) continue;
            z32[i] = -0.0f;
            any    = true;
        }
        assert_true(digest_fit(IH_F32, z32, n, starts, n) == plain32);
        assert_true(!any || by_hand(z32, 4 * (size_t)n, starts, (size_t)n) != plain32);
        if (n > 0) {
            z64[n - 1] = 0;
            const uint64_t plus = digest_fit(IH_F64, z64, n, starts, 1);
            z64[n - 1]          = -0.0;
            assert_true(digest_fit(IH_F64, z64, n, starts, 1) == plus);
            z64[n - 1] = -0x1p-1074;
            assert_true(digest_fit(IH_F64, z64, n, starts, 1) != plus);
        }
        free(z32);
        free(z64);
        free(starts);
    }
}

static void test_fixed(void **state)
{
    (void)state;
    static const double  z[]      = {1, 2, 2.5};
    static const int64_t starts[] = {0, 1, 2};
    char                 text[DIGEST_TEXT_BYTES];
    digest_format(digest_fit(IH_F64, NULL, 0, NULL, 0), text);
    assert_string_equal(text, "2d06800538d394c2"); /* XXH3-64 of nothing */
    digest_format(digest_fit(IH_F64, z, 3, starts, 3), text);
    assert_string_equal(text, "f1528a67dfc1c8bb");
    digest_format(0xab, text);
    assert_string_equal(text, "00000000000000ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_one_piece), cmocka_unit_test(test_fixed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
