/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole columns of numbers from a CSV file.
 */
#include <string.h>

#include "io/table.h"

typedef struct reader {
    const source      *s;
    table_header       header;
    int                n_columns;
    const char *const *names;
    array             *columns;
    int64_t           *place;    /* [n_columns] cell of each column   */
    int64_t            rows, room, width;
    bool               begun;
} reader;

static fault_kind grow(reader *r, fault *f)
{
    const int64_t room = 2 * r->room + 256;
    for (int k = 0; k < r->n_columns; k++) {
        array            larger;
        const int64_t    shape[2] = {room, 1};
        const fault_kind kind     = array_alloc(&larger, r->columns[k].type, 1, shape, f);
        if (kind != FAULT_NONE) return kind;
        if (r->rows > 0) memcpy(larger.data, r->columns[k].data, (size_t)(r->rows * array_type_bytes(larger.type)));
        array_free(&r->columns[k]);
        r->columns[k] = larger;
    }
    r->room = room;
    return FAULT_NONE;
}

/* The first row: find the columns. *is_data says whether it also holds numbers. */
static fault_kind begin(reader *r, const table_row *row, bool *is_data, fault *f)
{
    r->begun = true;
    r->width = row->n_cells;
    *is_data = r->header != TABLE_HEADER_FIRST_ROW;
    for (int k = 0; k < r->n_columns; k++) {
        r->place[k] = k;
        if (r->header == TABLE_HEADER_FIRST_ROW) {
            const fault_kind kind = table_find_column(r->s, row, r->names[k], &r->place[k], f);
            if (kind != FAULT_NONE) return kind;
        } else if (k >= row->n_cells) {
            fault_set(f, FAULT_COLUMN, "%s: line %lld: %lld cells, where %d are needed", r->s->name, (long long)row->line,
                      (long long)row->n_cells, r->n_columns);
            if (f != NULL) f->line = row->line;
            return FAULT_COLUMN;
        } else if (r->header == TABLE_HEADER_AUTO) {
            double value;
            if (number_parse(row->cells[k].text, row->cells[k].bytes, IH_F64, &value) == NUMBER_BAD) *is_data = false;
        }
    }
    return FAULT_NONE;
}

static fault_kind on_row(void *user, const table_row *row, fault *f)
{
    reader    *r    = user;
    fault_kind kind = FAULT_NONE;
    if (!r->begun) {
        bool is_data;
        kind = begin(r, row, &is_data, f);
        if (kind != FAULT_NONE || !is_data) return kind;
    }
    kind = table_check_width(r->s, row, r->width, f);
    if (kind == FAULT_NONE && r->rows == r->room) kind = grow(r, f);
    for (int k = 0; k < r->n_columns && kind == FAULT_NONE; k++) {
        double         value = 0;
        const ih_dtype dtype = r->columns[k].type == ARRAY_F32 ? IH_F32 : IH_F64;
        kind                 = table_number(r->s, row, r->place[k], r->names[k], dtype, &value, f);
        if (kind != FAULT_NONE) break;
        if (dtype == IH_F32)
            ((float *)r->columns[k].data)[r->rows] = (float)value;
        else
            ((double *)r->columns[k].data)[r->rows] = value;
    }
    r->rows++;
    return kind;
}

#define COLUMNS_MAX 16

fault_kind table_read_columns_source(source *s, table_header header, int n_columns, const char *const names[],
                                     array_type type, array columns[], fault *f)
{
    int64_t place[COLUMNS_MAX];
    reader  r = {.s = s, .header = header, .n_columns = n_columns, .names = names, .columns = columns, .place = place};
    for (int k = 0; k < n_columns; k++) {
        array_init(&columns[k]);
        columns[k].type = type;
    }
    fault_kind kind = n_columns <= COLUMNS_MAX && type != ARRAY_I64
        ? table_each_row(s, NULL, on_row, &r, f)
        : fault_set(f, FAULT_USAGE, "%s: more than %d columns, or columns of integers", s->name, COLUMNS_MAX);
    if (kind == FAULT_NONE && !r.begun && header == TABLE_HEADER_FIRST_ROW)
        kind = fault_set(f, FAULT_FORMAT, "%s: no header line", s->name);
    if (kind == FAULT_NONE && r.room == 0) kind = grow(&r, f); /* data is never NULL */
    for (int k = 0; k < n_columns; k++) {
        if (kind != FAULT_NONE)
            array_free(&columns[k]);
        else
            columns[k].shape[0] = columns[k].elements = r.rows;
    }
    return kind;
}

fault_kind table_read_columns(const char *path, table_header header, int n_columns, const char *const names[],
                              array_type type, array columns[], fault *f)
{
    source s;
    for (int k = 0; k < n_columns; k++) array_init(&columns[k]);
    fault_kind kind = source_open(&s, path, f);
    if (kind != FAULT_NONE) return kind;
    kind = table_read_columns_source(&s, header, n_columns, names, type, columns, f);
    source_close(&s);
    return kind;
}
