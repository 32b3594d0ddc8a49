/* SPDX-License-Identifier: Apache-2.0
 * test_device_archs.c: which device code runs on which GPU. */
#include "device_archs.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_machine_code(void **state)
{
    (void)state;
    assert_true(device_archs_run("75 80 90", 0, 8, 0));
    assert_true(device_archs_run("75 80 90", 0, 8, 9)); /* of its major number, upwards */
    assert_true(device_archs_run("75,80;90", 0, 9, 0));
    assert_false(device_archs_run("75 86", 0, 8, 0));   /* not downwards           */
    assert_false(device_archs_run("75 80", 0, 9, 0));   /* not of another major one */
    assert_true(device_archs_run("100 120", 0, 10, 3));
    assert_false(device_archs_run("100", 0, 12, 0));
    assert_false(device_archs_run("", 0, 9, 0));
}

static void test_ptx(void **state)
{
    (void)state;
    assert_true(device_archs_run("75", 1, 7, 5));
    assert_true(device_archs_run("75", 1, 12, 0));
    assert_false(device_archs_run("120", 1, 9, 0));
    assert_false(device_archs_run("", 1, 9, 0));
}

static void test_of_one_architecture(void **state)
{
    (void)state;
    assert_true(device_archs_run("80 90a", 0, 9, 0));
    assert_false(device_archs_run("100a", 0, 10, 3));
    assert_false(device_archs_run("90a", 1, 10, 0));
    assert_true(device_archs_run("90a 80", 1, 10, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_machine_code), cmocka_unit_test(test_ptx), cmocka_unit_test(test_of_one_architecture) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
