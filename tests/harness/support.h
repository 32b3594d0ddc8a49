/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the harness share: a folder for files, whole files in and out, and .npy bytes made by hand.
 */
#ifndef IH_TESTS_HARNESS_SUPPORT_H
#define IH_TESTS_HARNESS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/fault.h"

/* A fresh folder, removed with everything in it at the end of the test group. For cmocka_run_group_tests. */
int make_folder(void **state);
int remove_folder(void **state);

/* The path of a file in it; valid until the 8th call after. */
const char *in_folder(const char *name);
void        write_file(const char *name, const void *bytes, size_t n);
void        write_text(const char *name, const char *text);
char       *read_file(const char *name, size_t *n); /* followed by a 0; NULL if it is not there; free it */
int         count_files(void);                       /* hidden ones too                                   */
void        assert_file(const char *name, const char *text);

/* The bytes of a .npy file; free them. dict is padded with blanks and a newline to a multiple of 64. */
unsigned char *npy_bytes(int version, const char *dict, const void *data, size_t data_bytes, size_t *n);

/* Random bits from a counter (splitmix64). */
uint64_t random_bits(uint64_t *state);

/* Fail with the fault's message unless kind is what was expected. */
#define assert_fault(expected, kind, f)                                                                 \
    do {                                                                                                \
        const fault_kind got_kind = (kind);                                                             \
        if (got_kind != (expected)) fail_msg("fault %d, expected %d: %s", (int)got_kind, (int)(expected), (f).message); \
    } while (0)

#endif
