/* SPDX-License-Identifier: Apache-2.0
 *
 * CSV: quotes, line ends, line numbers, raw rows; columns of numbers; damage.
 */
#include "io/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* Rows as one text: line, cells in angle brackets, raw text. */
typedef struct listing {
    char   text[4096];
    size_t n;
} listing;

static fault_kind list_row(void *user, const table_row *row, fault *f)
{
    (void)f;
    listing *l = user;
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%lld:", (long long)row->line);
    for (int64_t i = 0; i < row->n_cells; i++) {
        assert_int_equal(row->cells[i].text[row->cells[i].bytes], 0);
        l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "<%s>", row->cells[i].text);
    }
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "(%.*s)", (int)row->raw_bytes, row->raw);
    assert_true(l->n < sizeof l->text);
    return FAULT_NONE;
}

static fault_kind list_text(const char *text, size_t n, listing *l, table_style *style, fault *f)
{
    source s;
    *l = (listing){.n = 0};
    source_from_memory(&s, "t.csv", text, n);
    const fault_kind kind = table_each_row(&s, style, list_row, l, f);
    source_close(&s);
    return kind;
}

static void test_rows(void **state)
{
    (void)state;
    static const struct { const char *text, *rows; } cases[] = {
        {"", ""},
        {"\n\r\n  \n\t", ""},
        {"a", "1:<a>(a)"},
        {"a,b\n1,2\n", "1:<a><b>(a,b)2:<1><2>(1,2)"},
        {"a,b\r\n1,2", "1:<a><b>(a,b)2:<1><2>(1,2)"},
        {"a\rb\r\rc", "1:<a>(a)2:<b>(b)4:<c>(c)"},
        {"\n\na\n\n  \nb\n", "3:<a>(a)6:<b>(b)"},
        {" a , \"b\" ,c \n", "1:<a><b><c>( a , \"b\" ,c )"},
        {",\n,,\n", "1:<><>(,)2:<><><>(,,)"},
        {"\"\"\n", "1:<>(\"\")"},
        {"\"a,\"\"b\"\"\",c\n", "1:<a,\"b\"><c>(\"a,\"\"b\"\"\",c)"},
        {"\"x\ny\r\nz\",1\n2,3\n", "1:<x\ny\r\nz><1>(\"x\ny\r\nz\",1)4:<2><3>(2,3)"},
        {"\"a\n  \nb\"\nc", "1:<a\n  \nb>(\"a\n  \nb\")4:<c>(c)"},
        {"\xef\xbb\xbf" "a\nb", "1:<a>(a)2:<b>(b)"},
        {"\" a \"", "1:< a >(\" a \")"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        listing l;
        fault   f;
        assert_fault(FAULT_NONE, list_text(cases[i].text, strlen(cases[i].text), &l, NULL, &f), f);
        assert_string_equal(l.text, cases[i].rows);
    }
}

static void test_bad_quotes(void **state)
{
    (void)state;
    static const struct { const char *text; int64_t line; } cases[] = {
        {"a\n\"b\"c\n", 2}, {"a\nb\"c\n", 2}, {"a\n\n\"b\nc\n", 3}, {"\"", 1}, {"\"a\"\"", 1}, {"\"a\nb\"x", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        listing l;
        fault   f;
        assert_fault(FAULT_FORMAT, list_text(cases[i].text, strlen(cases[i].text), &l, NULL, &f), f);
        assert_int_equal(f.line, cases[i].line);
    }
}

static void test_style(void **state)
{
    (void)state;
    listing     l;
    fault       f;
    table_style style;
    assert_fault(FAULT_NONE, list_text("a\nb\r\n", 5, &l, &style, &f), f);
    assert_true(!style.byte_order_mark && !style.crlf);
    assert_fault(FAULT_NONE, list_text("\xef\xbb\xbf" "a\r\nb\n", 8, &l, &style, &f), f);
    assert_true(style.byte_order_mark && style.crlf);
    assert_fault(FAULT_NONE, list_text("\xef\xbb", 2, &l, &style, &f), f);
    assert_true(!style.byte_order_mark && !style.crlf);
}

static void test_long_rows(void **state)
{
    (void)state;
    enum { CELLS = 5000 };
    char *text = malloc(20 * CELLS), *p = text;
    assert_non_null(text);
    for (int i = 0; i < CELLS; i++) p += sprintf(p, "%s\"cell, %d\"", i > 0 ? "," : "", i);
    source s;
    fault  f;
    array  columns[1];
    source_from_memory(&s, "t.csv", text, (size_t)(p - text));
    const char *const last[] = {"cell, 4999"};
    assert_fault(FAULT_NONE, table_read_columns_source(&s, TABLE_HEADER_FIRST_ROW, 1, last, ARRAY_F64, columns, &f), f);
    assert_int_equal(columns[0].elements, 0);
    array_free(&columns[0]);
    source_close(&s);
    free(text);
}

/* Read two columns called y and w from text. */
static fault_kind read_columns(const char *text, size_t n, table_header header, array_type type, array columns[2], fault *f)
{
    static const char *const names[] = {"y", "w"};
    source                   s;
    source_from_memory(&s, "t.csv", text, n);
    const fault_kind kind = table_read_columns_source(&s, header, 2, names, type, columns, f);
    source_close(&s);
    return kind;
}

static void test_columns(void **state)
{
    (void)state;
    static const struct { const char *text; table_header header; double y, w; } cases[] = {
        {"1.5,2\n0.25,3\n", TABLE_HEADER_NONE, 0.25, 3},
        {"1.5,2\n0.25,3\n", TABLE_HEADER_AUTO, 0.25, 3},
        {"a,b\n1.5,2\n0.25,3\n", TABLE_HEADER_AUTO, 0.25, 3},
        {"w,z,y\n2,x,1.5\n3,x,0.25\n", TABLE_HEADER_FIRST_ROW, 0.25, 3},
        {"\"w\",z,y\n2,\"a\nb\",1.5\n3,,\" 0.25\"\n", TABLE_HEADER_FIRST_ROW, 0.25, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int t = 0; t < 2; t++) {
            array columns[2];
            fault f;
            assert_fault(FAULT_NONE, read_columns(cases[i].text, strlen(cases[i].text), cases[i].header, t ? ARRAY_F64 : ARRAY_F32, columns, &f), f);
            for (int k = 0; k < 2; k++) {
                assert_int_equal(columns[k].elements, 2);
                assert_int_equal(columns[k].dimensions, 1);
                assert_int_equal(columns[k].shape[0], 2);
            }
            assert_true((t ? ((double *)columns[0].data)[1] : (double)((float *)columns[0].data)[1]) == cases[i].y);
            assert_true((t ? ((double *)columns[1].data)[1] : (double)((float *)columns[1].data)[1]) == cases[i].w);
            array_free(&columns[0]);
            array_free(&columns[1]);
        }
    }
}

static void test_columns_refused(void **state)
{
    (void)state;
    static const struct { const char *text; table_header header; fault_kind kind; int64_t line; const char *says; } cases[] = {
        {"3,x\n", TABLE_HEADER_NONE, FAULT_NUMBER, 1, "line 1, column 'w': \"x\""},
        {"3,x\n1,2\n1,nan\n", TABLE_HEADER_AUTO, FAULT_NUMBER, 3, "column 'w': \"nan\" is not a number"},
        {"1,2\n\n1,inf\n", TABLE_HEADER_NONE, FAULT_NUMBER, 3, "is infinite"},
        {"1,2\n1e400,1\n", TABLE_HEADER_NONE, FAULT_NUMBER, 2, "column 'y': \"1e400\" is too large"},
        {"1,2\n,1\n", TABLE_HEADER_NONE, FAULT_MISSING, 2, "is missing"},
        {"1,2\n1,NA\n", TABLE_HEADER_NONE, FAULT_MISSING, 2, "column 'w'"},
        {"1,2\n1\n", TABLE_HEADER_NONE, FAULT_COLUMN, 2, "1 cells"},
        {"1,2\n1,2,3\n", TABLE_HEADER_NONE, FAULT_COLUMN, 2, "3 cells"},
        {"1\n", TABLE_HEADER_NONE, FAULT_COLUMN, 1, "2 are needed"},
        {"y,v\n1,2\n", TABLE_HEADER_FIRST_ROW, FAULT_COLUMN, 1, "no column is called 'w'"},
        {"y,w,y\n1,2,3\n", TABLE_HEADER_FIRST_ROW, FAULT_COLUMN, 1, "two columns are called 'y'"},
        {"", TABLE_HEADER_FIRST_ROW, FAULT_FORMAT, 0, "no header"},
        {"y,w\n1,2\n\"3,4\n", TABLE_HEADER_FIRST_ROW, FAULT_FORMAT, 3, "never ends"},
        {"1,2\n1,\"a\nb\"\n", TABLE_HEADER_NONE, FAULT_NUMBER, 2, "\"a?b\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        array            columns[2];
        fault            f;
        const fault_kind kind = read_columns(cases[i].text, strlen(cases[i].text), cases[i].header, ARRAY_F64, columns, &f);
        assert_fault(cases[i].kind, kind, f);
        assert_int_equal(f.line, cases[i].line);
        if (strstr(f.message, cases[i].says) == NULL) fail_msg("%s", f.message);
        assert_true(strncmp(f.message, "t.csv: ", 7) == 0);
        assert_null(columns[0].data);
        assert_null(columns[1].data);
    }
}

static void test_many_rows(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    char *text = malloc(32 * ROWS), *p = text;
    assert_non_null(text);
    for (int i = 0; i < ROWS; i++) p += sprintf(p, "%d,%d.5\r\n", i, -i);
    array columns[2];
    fault f;
    assert_fault(FAULT_NONE, read_columns(text, (size_t)(p - text), TABLE_HEADER_NONE, ARRAY_F64, columns, &f), f);
    assert_int_equal(columns[0].elements, ROWS);
    for (int i = 0; i < ROWS; i++) {
        assert_true(((double *)columns[0].data)[i] == i);
        assert_true(((double *)columns[1].data)[i] == (i == 0 ? 0.5 : -i - 0.5));
    }
    array_free(&columns[0]);
    array_free(&columns[1]);
    free(text);
}

/* No truncation and no single changed byte leads anywhere but to rows or a fault with a line. */
static void test_damage(void **state)
{
    (void)state;
    static const char whole[] = "\xef\xbb\xbfy,w\r\n1.5,\"2\"\n\n\"3\",4e1\r\"5\" , 6";
    const size_t      n       = sizeof whole - 1;
    for (size_t k = 0; k <= n; k++) {
        for (int byte = -1; byte < 256; byte++) {
            char *text = malloc(n + 1);
            assert_non_null(text);
            const size_t m = byte < 0 ? k : n;
            memcpy(text, whole, m);
            if (byte >= 0 && k < n) text[k] = (char)byte;
            array columns[2];
            fault f;
            for (int h = 0; h < 2; h++) {
                if (read_columns(text, m, h ? TABLE_HEADER_AUTO : TABLE_HEADER_FIRST_ROW, ARRAY_F64, columns, &f) == FAULT_NONE) {
                    assert_int_equal(columns[0].elements, columns[1].elements);
                    assert_true(columns[0].elements <= 4);
                } else {
                    assert_true(f.message[0] != 0);
                    assert_true(f.line >= 0 && f.line <= 7);
                }
                array_free(&columns[0]);
                array_free(&columns[1]);
            }
            free(text);
        }
    }
}

static void test_write_cell(void **state)
{
    (void)state;
    static const char *const cells[] = {"plain", "", "a,b", "say \"so\"", "two\nlines", " edge", "edge\t", "\r", "in ner"};
    enum { N = sizeof cells / sizeof cells[0] };
    FILE *file = fopen(in_folder("cells.csv"), "wb");
    for (int i = 0; i < N; i++) {
        if (i > 0) putc(',', file);
        table_write_cell(file, cells[i], strlen(cells[i]));
    }
    fclose(file);
    char   *text = read_file("cells.csv", NULL), expected[512] = "1:";
    listing l;
    fault   f;
    for (int i = 0; i < N; i++) sprintf(expected + strlen(expected), "<%s>", cells[i]);
    sprintf(expected + strlen(expected), "(%s)", text);
    assert_fault(FAULT_NONE, list_text(text, strlen(text), &l, NULL, &f), f);
    assert_string_equal(l.text, expected);
    assert_true(strncmp(text, "plain,,\"a,b\",", 13) == 0);
    free(text);
}

static void test_array_read(void **state)
{
    (void)state;
    static const float  singles[] = {1, 2.5f};
    static const double doubles[] = {1, 2.5};
    array               a;
    fault               f;
    write_file("y.f32", singles, sizeof singles);
    write_file("y.f64", doubles, sizeof doubles);
    write_file("y.raw", doubles, sizeof doubles);
    write_file("y.bin", singles, sizeof singles);
    write_text("y.csv", "y\n1\n2.5\n");
    write_text("y.TXT", "1\n2.5");
    static const struct { const char *name; array_type raw, got; } cases[] = {
        {"y.f32", ARRAY_F64, ARRAY_F32}, {"y.f64", ARRAY_F32, ARRAY_F64}, {"y.raw", ARRAY_F64, ARRAY_F64},
        {"y.bin", ARRAY_F32, ARRAY_F32}, {"y.csv", ARRAY_F32, ARRAY_F64}, {"y.TXT", ARRAY_F32, ARRAY_F64}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_fault(FAULT_NONE, array_read(in_folder(cases[i].name), cases[i].raw, &a, &f), f);
        assert_int_equal(a.type, cases[i].got);
        assert_int_equal(a.elements, 2);
        assert_memory_equal(a.data, a.type == ARRAY_F32 ? (const void *)singles : doubles, (size_t)(2 * array_type_bytes(a.type)));
        array_free(&a);
    }
    write_file("odd.f64", doubles, 15);
    assert_fault(FAULT_TRUNCATED, array_read(in_folder("odd.f64"), ARRAY_F64, &a, &f), f);
    assert_fault(FAULT_OPEN, array_read(in_folder("none.csv"), ARRAY_F64, &a, &f), f);
    write_text("y.dat", "1\n");
    assert_fault(FAULT_TRUNCATED, array_read(in_folder("y.dat"), ARRAY_F64, &a, &f), f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_bad_quotes),      cmocka_unit_test(test_style),
        cmocka_unit_test(test_long_rows), cmocka_unit_test(test_columns),         cmocka_unit_test(test_columns_refused),
        cmocka_unit_test(test_many_rows), cmocka_unit_test(test_damage),          cmocka_unit_test(test_write_cell),
        cmocka_unit_test(test_array_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
