/* SPDX-License-Identifier: Apache-2.0
 *
 * Damaged .npy files: heads that are wrong, every truncation, every bit flip, files that are not there.
 */
#include "npy_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_bad_heads(void **state)
{
    (void)state;
    static const struct { const char *dict; fault_kind kind; } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", FAULT_SHAPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2), }", FAULT_SHAPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", FAULT_SHAPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", FAULT_SHAPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", FAULT_SHAPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2305843009213693952,), }", FAULT_SHAPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", FAULT_TRUNCATED},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", FAULT_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", FAULT_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 2), }", FAULT_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2.,), }", FAULT_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [2], }", FAULT_FORMAT},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", FAULT_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", FAULT_FORMAT},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", FAULT_FORMAT},
        {"{'descr': '<f4', 'shape': (2,)}", FAULT_FORMAT},
        {"{'fortran_order': False, 'shape': (2,)}", FAULT_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False}", FAULT_FORMAT},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", FAULT_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", FAULT_FORMAT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", FAULT_FORMAT},
        {"{'descr': '<f4", FAULT_FORMAT},
        {"", FAULT_FORMAT},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': '<U4', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': '<f04', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': '<', 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
        {"{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': (2,)}", FAULT_DTYPE},
    };
    const float data[2] = {1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t         n;
        array          a;
        fault          f;
        unsigned char *file = npy_bytes(1, cases[i].dict, data, sizeof data, &n);
        const fault_kind kind = read_bytes(file, n, &a, &f);
        if (kind != cases[i].kind) fail_msg("%s: fault %d, expected %d", cases[i].dict, (int)kind, (int)cases[i].kind);
        assert_int_equal(f.exit_code, 2);
        assert_true(strncmp(f.message, "test.npy: ", 10) == 0);
        assert_null(a.data);
        array_free(&a);
        free(file);
    }
}

static void test_bad_beginnings(void **state)
{
    (void)state;
    const float    data[2] = {1, 2};
    const char     dict[]  = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    size_t         n;
    array          a;
    fault          f;
    unsigned char *file = npy_bytes(2, dict, data, sizeof data, &n);
    file[6]             = 4;
    assert_fault(FAULT_FORMAT, read_bytes(file, n, &a, &f), f);
    file[6]  = 0;
    assert_fault(FAULT_FORMAT, read_bytes(file, n, &a, &f), f);
    file[6]  = 2;
    file[11] = 0x80; /* a header of more than 2^31 bytes */
    assert_fault(FAULT_FORMAT, read_bytes(file, n, &a, &f), f);
    file[11] = 0;
    file[9]  = 1; /* one of more bytes than the file has */
    assert_fault(FAULT_TRUNCATED, read_bytes(file, n, &a, &f), f);
    file[9] = 0;
    file[0] = 0x92;
    assert_fault(FAULT_FORMAT, read_bytes(file, n, &a, &f), f);
    free(file);
    /* A header of 64 KiB of blanks is fine. */
    enum { LONG = 65000 };
    char *wide = malloc(LONG + 1);
    assert_non_null(wide);
    memset(wide, ' ', LONG);
    memcpy(wide, dict, strlen(dict));
    wide[LONG] = 0;
    file       = npy_bytes(1, wide, data, sizeof data, &n);
    assert_fault(FAULT_NONE, read_bytes(file, n, &a, &f), f);
    assert_memory_equal(a.data, data, sizeof data);
    array_free(&a);
    free(file);
    free(wide);
}

static volatile double read_values;

/* Every strict prefix is refused; every file with one bit changed is refused or is a whole array. */
static void test_damage(void **state)
{
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        for (int version = 1; version <= 2; version++) {
            const unsigned char data[48] = {1, 0, 1};
            char                dict[128];
            size_t              n;
            fault               f;
            array               a;
            snprintf(dict, sizeof dict, "{'descr': '%c%c%d', 'fortran_order': True, 'shape': (2, 3), }",
                     types[t].width == 1 ? '|' : '>', types[t].kind, types[t].width);
            unsigned char *file = npy_bytes(version, dict, data, (size_t)(6 * types[t].width), &n);
            for (size_t k = 0; k < n; k++) {
                unsigned char *prefix = malloc(k > 0 ? k : 1); /* of its exact length: an overrun is seen */
                assert_non_null(prefix);
                memcpy(prefix, file, k);
                assert_int_not_equal(read_bytes(prefix, k, &a, &f), FAULT_NONE);
                assert_null(a.data);
                free(prefix);
            }
            for (size_t k = 0; k < 8 * n; k++) {
                file[k / 8] ^= (unsigned char)(1 << k % 8);
                if (read_bytes(file, n, &a, &f) == FAULT_NONE) {
                    /* No bit makes another width of this one, and the bytes are counted. */
                    assert_int_equal(a.elements, 6);
                    assert_int_equal(a.elements, a.shape[0] * a.shape[1]);
                    for (int64_t i = 0; i < a.elements; i++) read_values += value_at(&a, i); /* for AddressSanitizer */
                }
                array_free(&a);
                file[k / 8] ^= (unsigned char)(1 << k % 8);
            }
            free(file);
        }
    }
}

static void test_files(void **state)
{
    (void)state;
    const float    data[2] = {1, 2};
    size_t         n;
    array          a;
    fault          f;
    unsigned char *file = npy_bytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", data, sizeof data, &n);
    write_file("good.npy", file, n);
    assert_fault(FAULT_NONE, npy_read(in_folder("good.npy"), &a, &f), f);
    assert_memory_equal(a.data, data, sizeof data);
    array_free(&a);
    write_file("short.npy", file, n - 1);
    assert_fault(FAULT_TRUNCATED, npy_read(in_folder("short.npy"), &a, &f), f);
    write_file("long.npy", file, n);
    assert_int_equal(truncate(in_folder("long.npy"), (off_t)n + 5), 0);
    assert_fault(FAULT_FORMAT, npy_read(in_folder("long.npy"), &a, &f), f);
    assert_non_null(strstr(f.message, "5 bytes behind"));
    write_file("empty.npy", file, 0);
    assert_fault(FAULT_TRUNCATED, npy_read(in_folder("empty.npy"), &a, &f), f);
    assert_fault(FAULT_OPEN, npy_read(in_folder("none.npy"), &a, &f), f);
    assert_non_null(strstr(f.message, "none.npy"));
    assert_fault(FAULT_OPEN, npy_read(in_folder("."), &a, &f), f);
    assert_fault(FAULT_OPEN, npy_read_int64(in_folder("none.npy"), &a, &f), f);
    if (geteuid() != 0) {
        write_file("closed.npy", file, n);
        assert_int_equal(chmod(in_folder("closed.npy"), 0), 0);
        assert_fault(FAULT_OPEN, npy_read(in_folder("closed.npy"), &a, &f), f);
    }
    /* A pipe, and one that ends too early. */
    for (size_t cut = 0; cut < 2; cut++) {
        int  ends[2];
        char path[32];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], file, n - cut), n - cut);
        close(ends[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        assert_fault(cut == 0 ? FAULT_NONE : FAULT_TRUNCATED, npy_read(path, &a, &f), f);
        if (cut == 0) assert_memory_equal(a.data, data, sizeof data);
        array_free(&a);
        close(ends[0]);
    }
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_heads),
        cmocka_unit_test(test_bad_beginnings),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
