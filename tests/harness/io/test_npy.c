/* SPDX-License-Identifier: Apache-2.0
 *
 * .npy files: every type, byte order and order of axes; what is written.
 */
#include "npy_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of one element, most significant byte first if big. */
static void put(unsigned char *p, uint64_t bits, int width, bool big)
{
    for (int i = 0; i < width; i++) p[big ? width - 1 - i : i] = (unsigned char)(bits >> (8 * i));
}

static uint64_t encode(char kind, int width, int value)
{
    uint64_t bits = (uint64_t)(int64_t)value;
    if (kind != 'f') return bits;
    if (width == 8) {
        const double v = value;
        memcpy(&bits, &v, 8);
        return bits;
    }
    const float v = (float)value;
    uint32_t    single;
    memcpy(&single, &v, 4);
    /* float16 of an integer up to 11 bits: the exponent moves from 8 bits to 5, the fraction loses zeros */
    return width == 4 ? single : value == 0 ? 0 : (single >> 16 & 0x8000) | (((single >> 23 & 255) - 112) << 10) | (single >> 13 & 0x3ff);
}

/* rows x n, element (r, i) = (r * n + i) % 100, minus 50 where there is a sign. */
static void check_type(char kind, int width, bool big, bool fortran, int version, int64_t rows, int64_t n)
{
    const int64_t  elements = rows * n;
    unsigned char *data     = malloc((size_t)(elements * width));
    const int      shift    = kind == 'i' || kind == 'f' ? 50 : 0;
    assert_non_null(data);
    for (int64_t k = 0; k < elements; k++) {
        const int64_t row = fortran ? k % rows : k / n, index = fortran ? k / rows : k % n;
        const int     v   = (int)((row * n + index) % (kind == 'b' ? 2 : 100)) - shift;
        put(data + k * width, encode(kind, width, v), width, big);
    }
    char dict[128];
    snprintf(dict, sizeof dict, "{'descr': '%c%c%d', 'fortran_order': %s, 'shape': (%lld, %lld), }",
             width == 1 ? '|' : big ? '>' : '<', kind, width, fortran ? "True" : "False", (long long)rows, (long long)n);
    size_t         bytes;
    unsigned char *file = npy_bytes(version, dict, data, (size_t)(elements * width), &bytes);
    array          a;
    fault          f;
    assert_fault(FAULT_NONE, read_bytes(file, bytes, &a, &f), f);
    assert_int_equal(a.type, kind == 'f' && width <= 4 ? ARRAY_F32 : ARRAY_F64);
    assert_int_equal(a.dimensions, 2);
    assert_int_equal(a.shape[0], rows);
    assert_int_equal(a.shape[1], n);
    assert_int_equal(a.elements, elements);
    assert_int_equal((uintptr_t)a.data % 64, 0);
    for (int64_t i = 0; i < elements; i++)
        assert_true(value_at(&a, i) == (double)((i % (kind == 'b' ? 2 : 100)) - shift));
    array_free(&a);
    free(file);
    free(data);
}

static void test_types(void **state)
{
    (void)state;
    for (int t = 0; t < TYPES; t++)
        for (int way = 0; way < 4; way++)
            for (int version = 1; version <= 3; version++)
                check_type(types[t].kind, types[t].width, way & 1, way & 2, version, 3, 5);
}

static void test_longer_than_the_buffer(void **state)
{
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        check_type(types[t].kind, types[t].width, true, false, 1, 1, 1100001);
        check_type(types[t].kind, types[t].width, false, true, 1, 7, 160001);
    }
}

static void test_one_dimension(void **state)
{
    (void)state;
    const float    y[] = {3, -0.0f, 0x1p-149f, -INFINITY};
    size_t         n;
    unsigned char *file = npy_bytes(1, "{\"shape\": (4,), 'descr':'=f4','fortran_order':True}", y, sizeof y, &n);
    array          a;
    fault          f;
    assert_fault(FAULT_NONE, read_bytes(file, n, &a, &f), f);
    assert_int_equal(a.dimensions, 1);
    assert_int_equal(array_rows(&a), 1);
    assert_int_equal(array_row_length(&a), 4);
    assert_memory_equal(a.data, y, sizeof y);
    array_free(&a);
    free(file);
}

static void test_empty(void **state)
{
    (void)state;
    static const struct { const char *shape; int64_t rows, n; } shapes[] = {
        {"(0,)", 1, 0}, {"(0, 5)", 0, 5}, {"(5, 0)", 5, 0}, {"(0L, 0L)", 0, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char   dict[128];
        size_t n;
        array  a;
        fault  f;
        snprintf(dict, sizeof dict, "{'descr': '<i4', 'fortran_order': False, 'shape': %s}", shapes[i].shape);
        unsigned char *file = npy_bytes(1, dict, NULL, 0, &n);
        assert_fault(FAULT_NONE, read_bytes(file, n, &a, &f), f);
        assert_int_equal(array_rows(&a), shapes[i].rows);
        assert_int_equal(array_row_length(&a), shapes[i].n);
        assert_int_equal(a.elements, 0);
        assert_non_null(a.data);
        array_free(&a);
        free(file);
    }
}

static void test_halves(void **state)
{
    (void)state;
    static const struct { uint16_t bits; float value; } halves[] = {
        {0x0001, 0x1p-24f}, {0x83ff, -0x1.ff8p-15f}, {0x0400, 0x1p-14f}, {0x7bff, 65504}, {0x7c00, INFINITY}, {0xfc00, -INFINITY},
        {0x3555, 0x1.554p-2f}};
    enum { N = sizeof halves / sizeof halves[0] };
    uint16_t bits[N + 2];
    for (int i = 0; i < N; i++) bits[i] = halves[i].bits;
    bits[N]     = 0x7e01;
    bits[N + 1] = 0x8000;
    size_t         n;
    array          a;
    fault          f;
    unsigned char *file = npy_bytes(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (9,), }", bits, sizeof bits, &n);
    assert_fault(FAULT_NONE, read_bytes(file, n, &a, &f), f);
    for (int i = 0; i < N; i++) assert_true(((float *)a.data)[i] == halves[i].value);
    assert_true(isnan(((float *)a.data)[N]));
    assert_true(((float *)a.data)[N + 1] == 0 && signbit(((float *)a.data)[N + 1]));
    array_free(&a);
    free(file);
}

static void test_large_integers(void **state)
{
    (void)state;
    static const struct { const char *type; uint64_t bits; bool good; double value; } cases[] = {
        {"<i8", (uint64_t)1 << 53, true, 0x1p53},       {"<i8", ((uint64_t)1 << 53) + 1, false, 0},
        {"<i8", 0 - (((uint64_t)1 << 53) + 1), false, 0}, {"<i8", (uint64_t)1 << 63, true, -0x1p63},
        {"<i8", ((uint64_t)1 << 60) + 128, false, 0},   {"<i8", ((uint64_t)1 << 60) + 256, true, 0x1p60 + 256},
        {"<u8", UINT64_MAX, false, 0},                  {"<u8", UINT64_MAX << 11, true, 0x1p64 - 2048},
        {"<u8", (uint64_t)1 << 63, true, 0x1p63}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint64_t data[6] = {1, 2, 3, 4, 5, cases[i].bits};
        char           dict[128];
        size_t         n;
        array          a;
        fault          f;
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': True, 'shape': (2, 3), }", cases[i].type);
        unsigned char *file = npy_bytes(1, dict, data, sizeof data, &n);
        assert_fault(cases[i].good ? FAULT_NONE : FAULT_NUMBER, read_bytes(file, n, &a, &f), f);
        if (cases[i].good) {
            assert_true(((double *)a.data)[5] == cases[i].value);
        } else {
            assert_int_equal(f.row, 1);
            assert_int_equal(f.index, 2);
            assert_non_null(strstr(f.message, "row 1, index 2"));
        }
        array_free(&a);
        free(file);
    }
}

static void test_offsets(void **state)
{
    (void)state;
    static const int64_t  offsets[] = {0, 5, (int64_t)1 << 40};
    static const uint32_t small[]   = {0, 7, 4000000000u};
    static const uint64_t large[]   = {0, (uint64_t)1 << 63};
    size_t                n;
    array                 a;
    fault                 f;
    source                s;
    unsigned char *file = npy_bytes(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", offsets, sizeof offsets, &n);
    source_from_memory(&s, "o.npy", file, n);
    assert_fault(FAULT_NONE, npy_read_int64_source(&s, &a, &f), f);
    assert_memory_equal(a.data, offsets, sizeof offsets);
    array_free(&a);
    free(file);
    file = npy_bytes(1, "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }", small, sizeof small, &n);
    source_from_memory(&s, "o.npy", file, n);
    assert_fault(FAULT_NONE, npy_read_int64_source(&s, &a, &f), f);
    assert_true(((int64_t *)a.data)[1] == 7 && ((int64_t *)a.data)[2] == 4000000000);
    array_free(&a);
    free(file);
    file = npy_bytes(1, "{'descr': '<u8', 'fortran_order': False, 'shape': (2,), }", large, sizeof large, &n);
    source_from_memory(&s, "o.npy", file, n);
    assert_fault(FAULT_NUMBER, npy_read_int64_source(&s, &a, &f), f);
    assert_int_equal(f.index, 1);
    free(file);
    file = npy_bytes(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", large, sizeof large, &n);
    source_from_memory(&s, "o.npy", file, n);
    assert_fault(FAULT_DTYPE, npy_read_int64_source(&s, &a, &f), f);
    free(file);
    file = npy_bytes(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2), }", large, sizeof large, &n);
    source_from_memory(&s, "o.npy", file, n);
    assert_fault(FAULT_SHAPE, npy_read_int64_source(&s, &a, &f), f);
    free(file);
}

static void test_write(void **state)
{
    (void)state;
    /* As NumPy writes it, byte for byte. */
    static const char head[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    const float       z[6]   = {1, -0.0f, 3, 4, 5, 6};
    const double      one[1] = {0.1};
    const int64_t     starts[3] = {0, 7, INT64_MAX};
    size_t            n;
    array             a;
    fault             f;
    FILE             *file = fopen(in_folder("z.npy"), "wb");
    assert_fault(FAULT_NONE, npy_write(file, "z.npy", ARRAY_F32, 2, (const int64_t[]){2, 3}, z, &f), f);
    fclose(file);
    char *bytes = read_file("z.npy", &n);
    assert_int_equal(n, 128 + sizeof z);
    assert_memory_equal(bytes, head, sizeof head - 1);
    for (size_t i = sizeof head - 1; i < 127; i++) assert_int_equal(bytes[i], ' ');
    assert_int_equal(bytes[127], '\n');
    assert_memory_equal(bytes + 128, z, sizeof z);
    free(bytes);

    file = fopen(in_folder("one.npy"), "wb");
    assert_fault(FAULT_NONE, npy_write(file, "one.npy", ARRAY_F64, 1, (const int64_t[]){1, 1}, one, &f), f);
    fclose(file);
    bytes = read_file("one.npy", &n);
    assert_non_null(strstr(bytes + 10, "'shape': (1,), }"));
    free(bytes);
    assert_fault(FAULT_NONE, npy_read(in_folder("one.npy"), &a, &f), f);
    assert_true(a.type == ARRAY_F64 && a.dimensions == 1 && a.elements == 1 && ((double *)a.data)[0] == 0.1);
    array_free(&a);

    file = fopen(in_folder("b.npy"), "wb");
    assert_fault(FAULT_NONE, npy_write(file, "b.npy", ARRAY_I64, 1, (const int64_t[]){3, 1}, starts, &f), f);
    fclose(file);
    assert_fault(FAULT_NONE, npy_read_int64(in_folder("b.npy"), &a, &f), f);
    assert_memory_equal(a.data, starts, sizeof starts);
    array_free(&a);

    file = fopen(in_folder("none.npy"), "wb");
    assert_fault(FAULT_NONE, npy_write(file, "none.npy", ARRAY_F32, 2, (const int64_t[]){0, 5}, NULL, &f), f);
    fclose(file);
    assert_fault(FAULT_NONE, npy_read(in_folder("none.npy"), &a, &f), f);
    assert_true(a.dimensions == 2 && a.shape[0] == 0 && a.shape[1] == 5);
    array_free(&a);

    file = fopen("/dev/full", "wb");
    setvbuf(file, NULL, _IONBF, 0);
    assert_fault(FAULT_WRITE, npy_write(file, "full", ARRAY_F32, 2, (const int64_t[]){2, 3}, z, &f), f);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),         cmocka_unit_test(test_longer_than_the_buffer),
        cmocka_unit_test(test_one_dimension), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_halves),        cmocka_unit_test(test_large_integers),
        cmocka_unit_test(test_offsets),       cmocka_unit_test(test_write),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
