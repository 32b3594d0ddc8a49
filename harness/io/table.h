/* SPDX-License-Identifier: Apache-2.0
 *
 * CSV: comma-separated cells, quoted by "..." where needed (quotes inside doubled), lines ended by LF, CRLF or CR, blank
 * lines skipped, the last line end optional, a byte order mark at the start ignored. Lines count from 1.
 */
#ifndef IH_HARNESS_IO_TABLE_H
#define IH_HARNESS_IO_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "io/array.h"
#include "io/number.h"
#include "io/source.h"

typedef struct table_cell {
    const char *text;  /* without quotes and the blanks around, 0-terminated */
    size_t      bytes;
} table_cell;

typedef struct table_row {
    int64_t           line;    /* on which the row begins                                */
    int64_t           n_cells;
    const table_cell *cells;
    const char       *raw;     /* the row as it stands in the file, without its line end */
    size_t            raw_bytes;
} table_row;

typedef struct table_style {
    bool byte_order_mark, crlf; /* as the file begins; for writing it again */
} table_style;

typedef fault_kind (*table_row_function)(void *user, const table_row *row, fault *f);

/* Call on_row for each row in order, the header line too; stop at its first fault. style may be NULL. */
fault_kind table_each_row(source *s, table_style *style, table_row_function on_row, void *user, fault *f);

/* The place of a column in a header row; FAULT_COLUMN if it is not there or there twice. */
fault_kind table_find_column(const source *s, const table_row *header, const char *name, int64_t *column, fault *f);

/* A row must have as many cells as the header. */
fault_kind table_check_width(const source *s, const table_row *row, int64_t n_cells, fault *f);

/* A cell as a finite number of dtype; the fault names line and column. */
fault_kind table_number(const source *s, const table_row *row, int64_t column, const char *column_name, ih_dtype dtype,
                        double *value, fault *f);
bool       table_is_missing(const table_cell *cell); /* empty or NA */

/* A fault of one cell: "data.csv: line 3, column 'y': "abc" is not a decimal number". */
fault_kind table_cell_fault(const source *s, const table_row *row, int64_t column, const char *column_name, fault_kind kind,
                            const char *what, fault *f);

/* Whole columns of numbers of type float32 or float64. Every row must have as many cells as the first one. */
typedef enum table_header {
    TABLE_HEADER_NONE,      /* every row is data; column k is the k-th, names[k] is for messages only                  */
    TABLE_HEADER_FIRST_ROW, /* the first row names the columns, and names[k] is looked up there                        */
    TABLE_HEADER_AUTO       /* like NONE, but a first row in which a column asked for is no number is left out         */
} table_header;
fault_kind table_read_columns(const char *path, table_header header, int n_columns, const char *const names[],
                              array_type type, array columns[], fault *f);
fault_kind table_read_columns_source(source *s, table_header header, int n_columns, const char *const names[],
                                     array_type type, array columns[], fault *f);

/* Write a cell, quoted where it must be. */
void table_write_cell(FILE *stream, const char *text, size_t bytes);

#endif
