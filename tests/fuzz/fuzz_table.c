/* SPDX-License-Identifier: Apache-2.0
 *
 * CSV and numbers: any bytes give rows or a fault. A row's raw text is again that row, its cells survive being written and
 * read, and a number read from a cell is read again from its shortest digits.
 */
#include <string.h>

#include "fuzz.h"
#include "io/table.h"

static fault_kind compare_row(void *user, const table_row *row, fault *f)
{
    const table_row **expected = user;
    (void)f;
    CHECK(*expected != NULL);
    CHECK(row->n_cells == (*expected)->n_cells);
    for (int64_t i = 0; i < row->n_cells; i++) {
        CHECK(row->cells[i].bytes == (*expected)->cells[i].bytes);
        CHECK(memcmp(row->cells[i].text, (*expected)->cells[i].text, row->cells[i].bytes) == 0);
    }
    *expected = NULL;
    return FAULT_NONE;
}

/* Text must be exactly one row, this one. */
static void check_same(const char *text, size_t n, const table_row *row)
{
    source           s;
    const table_row *expected = row;
    source_from_memory(&s, "memory", text, n);
    CHECK(table_each_row(&s, NULL, compare_row, &expected, NULL) == FAULT_NONE);
    CHECK(expected == NULL);
    source_close(&s);
}

static void check_number(const table_cell *cell, ih_dtype dtype)
{
    double value, back;
    char   text[NUMBER_TEXT_BYTES];
    if (number_parse(cell->text, cell->bytes, dtype, &value) != NUMBER_GOOD) return;
    const size_t n = number_format(value, dtype, text);
    CHECK(n == strlen(text) && n < NUMBER_TEXT_BYTES);
    CHECK(number_parse(text, n, dtype, &back) == NUMBER_GOOD);
    CHECK(memcmp(&back, &value, sizeof value) == 0);
}

typedef struct state {
    int64_t line;
} state;

static fault_kind on_row(void *user, const table_row *row, fault *f)
{
    state *last    = user;
    char  *written = NULL;
    size_t n       = 0;
    FILE  *stream  = open_memstream(&written, &n);
    (void)f;
    CHECK(stream != NULL && row->n_cells > 0 && row->line > last->line);
    last->line = row->line;
    for (int64_t i = 0; i < row->n_cells; i++) {
        CHECK(row->cells[i].text[row->cells[i].bytes] == 0);
        if (i > 0) putc(',', stream);
        table_write_cell(stream, row->cells[i].text, row->cells[i].bytes);
        check_number(&row->cells[i], IH_F32);
        check_number(&row->cells[i], IH_F64);
    }
    CHECK(fclose(stream) == 0);
    /* One empty cell alone is a blank line; a raw row that begins like a byte order mark would lose it. */
    if (n > 0 && memcmp(written, "\xef\xbb\xbf", n < 3 ? n : 3) != 0) check_same(written, n, row);
    free(written);
    if (row->raw_bytes < 3 || memcmp(row->raw, "\xef\xbb\xbf", 3) != 0) check_same(row->raw, row->raw_bytes, row);
    return FAULT_NONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const names[] = {"y", "w"};
    source s;
    fault  f;
    state  last = {0};
    source_from_memory(&s, "fuzz", bytes, n);
    fault_kind kind = table_each_row(&s, NULL, on_row, &last, &f);
    CHECK(kind == FAULT_NONE || (f.kind == kind && f.message[0] != 0 && f.line > 0));
    source_close(&s);
    for (int header = TABLE_HEADER_NONE; header <= TABLE_HEADER_AUTO; header++) {
        array columns[2];
        source_from_memory(&s, "fuzz", bytes, n);
        kind = table_read_columns_source(&s, (table_header)header, 2, names, header == TABLE_HEADER_AUTO ? ARRAY_F32 : ARRAY_F64, columns, &f);
        CHECK((kind == FAULT_NONE) == (columns[0].data != NULL) && (kind == FAULT_NONE) == (columns[1].data != NULL));
        CHECK(columns[0].elements == columns[1].elements);
        array_free(&columns[0]);
        array_free(&columns[1]);
        source_close(&s);
    }
    return 0;
}
