/* SPDX-License-Identifier: Apache-2.0
 * test_error.c: the last error of each thread, names of status codes, versions, and init functions of any size. */
#include "isohull.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static ih_error last(void)
{
    ih_error e = { .size = sizeof e };
    ih_last_error(&e);
    assert_int_equal(e.size, sizeof e);
    return e;
}

static void names_and_versions(void **state)
{
    (void)state;
    assert_string_equal(ih_status_name(IH_OK), "IH_OK");
    assert_string_equal(ih_status_name(IH_EDATA), "IH_EDATA");
    assert_string_equal(ih_status_name(IH_EINTERNAL), "IH_EINTERNAL");
    for (ih_status s = -3; s < 20; ++s) {
        assert_non_null(ih_status_name(s));
        for (ih_status t = IH_OK; t < s && s <= IH_EINTERNAL; ++t) assert_string_not_equal(ih_status_name(s), ih_status_name(t));
    }
    assert_non_null(ih_status_name(INT32_MIN));
    assert_int_equal(ih_abi_version(), IH_ABI_VERSION);
    assert_true(strchr(ih_version(), '.') != NULL);
}

/* Fail with an error that names `at`. */
static ih_status fail_at(int at)
{
    float      y[8] = { 0 }, z[8];
    ih_problem p;
    ih_outputs out;
    y[at] = NAN;
    ih_problem_init(&p);
    ih_outputs_init(&out);
    p.rows = 2;
    p.n    = 4;
    p.y    = y;
    out.z  = z;
    return ih_fit(ih_impl_find("cpu_exact"), &p, NULL, &out, NULL, 0, NULL);
}

typedef struct thread_result { ih_error before, after; } thread_result;

static void *fail_in_thread(void *user)
{
    thread_result *r = user;
    r->before = last();
    fail_at(6);
    r->after = last();
    return NULL;
}

static void error_of_each_thread(void **state)
{
    pthread_t     thread;
    thread_result r;
    ih_error      e;
    (void)state;
    assert_int_equal(fail_at(3), IH_EDATA);
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, &r), 0);
    pthread_join(thread, NULL);
    assert_int_equal(r.before.status, IH_OK); /* nothing failed in that thread before */
    assert_string_equal(r.before.message, "");
    assert_int_equal(r.after.row, 1);
    assert_int_equal(r.after.index, 2);
    e = last();
    assert_int_equal(e.status, IH_EDATA);
    assert_int_equal(e.fault, IH_FAULT_NAN);
    assert_int_equal(e.row, 0);
    assert_int_equal(e.index, 3);
    assert_string_equal(e.argument, "y");
    assert_true(strstr(e.message, "row 0") && strstr(e.message, "index 3"));
}

/* A call that succeeds leaves the last error as it was. */
static void error_stays(void **state)
{
    ih_error before, after;
    (void)state;
    fail_at(5);
    before = last();
    assert_int_equal(ih_impl_available(ih_impl_find("cpu_exact")), IH_OK);
    after = last();
    assert_memory_equal(&before, &after, sizeof before);
}

/* A caller's shorter or longer struct is filled as far as both sides know it. */
static void error_of_other_sizes(void **state)
{
    struct { ih_error e; char later[32]; } longer;
    ih_error shorter;
    (void)state;
    fail_at(1);
    memset(&longer, 0x6e, sizeof longer);
    longer.e.size = sizeof longer;
    ih_last_error(&longer.e);
    assert_int_equal(longer.e.size, sizeof longer);
    assert_int_equal(longer.e.index, 1);
    assert_int_equal(longer.later[0], 0x6e);
    memset(&shorter, 0x6e, sizeof shorter);
    shorter.size = offsetof(ih_error, row);
    ih_last_error(&shorter);
    assert_int_equal(shorter.status, IH_EDATA);
    assert_int_equal(((char *)&shorter)[offsetof(ih_error, row)], 0x6e);
    ih_last_error(NULL);
}

static void init_of_any_size(void **state)
{
    union { ih_problem p; ih_outputs out; ih_options o; ih_counters c; ih_gradient g; unsigned char bytes[sizeof(ih_counters) + 64]; } u;
    (void)state;
    for (size_t size = sizeof size; size < sizeof u; size += 8)
        for (int which = 0; which < 5; ++which) {
            memset(&u, 0x42, sizeof u);
            if (which == 0) ih_problem_init_sized(&u.p, size);
            if (which == 1) ih_outputs_init_sized(&u.out, size);
            if (which == 2) ih_options_init_sized(&u.o, size);
            if (which == 3) ih_counters_init_sized(&u.c, size);
            if (which == 4) ih_gradient_init_sized(&u.g, size);
            assert_int_equal(u.p.size, size);
            for (size_t k = size; k < sizeof u; ++k) assert_int_equal(u.bytes[k], 0x42);
        }
    ih_problem_init(&u.p);
    assert_true(u.p.y_min == -INFINITY && u.p.y_max == INFINITY && u.p.rows == 0 && !u.p.y && !u.p.w && !u.p.offsets);
    ih_options_init(&u.o);
    assert_true(u.o.threads == 0 && u.o.chunk == 0 && u.o.walk_cap == 64 && u.o.thread_merges == 256 && u.o.isa == IH_ISA_AUTO && !u.o.hook && !u.o.counters);
    ih_counters_init(&u.c);
    for (size_t k = sizeof u.c.size; k < sizeof u.c; ++k) assert_int_equal(u.bytes[k], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_versions), cmocka_unit_test(error_of_each_thread), cmocka_unit_test(error_stays),
        cmocka_unit_test(error_of_other_sizes), cmocka_unit_test(init_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
