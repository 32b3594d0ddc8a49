/* SPDX-License-Identifier: Apache-2.0
 * test_root.c: the segment of a chunk in a root list, against a plain scan. */
#include "row/root.h"
#include "../../fits/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void segment_of_chunk(void **state)
{
    rng        r = rng_seeded(1);
    ih_segment list[64];

    (void)state;
    for (int round = 0; round < 500; ++round) {
        const int64_t count = 1 + rng_below(&r, 64);
        int32_t       chunk = 0;
        for (int64_t k = 0; k < count; ++k) {
            list[k] = (ih_segment){ chunk, 0, 0, 0, 0 };
            chunk += 1 + (int32_t)rng_below(&r, 3);
        }
        for (int64_t c = 0, want = 0; c < chunk + 3; ++c) {
            while (want + 1 < count && list[want + 1].chunk <= c) ++want;
            assert_int_equal(ih_root_find(list, count, c), want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(segment_of_chunk) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
