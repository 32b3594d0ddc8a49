/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a CSV file, parsed by libcsv.
 *
 * libcsv is fed up to one line end at a time, so that it completes at most one row per call: this gives each row its line
 * and its raw text, which libcsv itself does not keep.
 */
#include "io/table.h"

#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row_builder {
    char       *text; /* the cells of the row, each followed by a 0 */
    size_t      used, room;
    table_cell *cells; /* .text is set when the row is complete: `text` moves while it grows */
    int64_t     n_cells, cells_room;
    bool        complete, out_of_memory;
} row_builder;

static void on_cell(void *bytes, size_t n, void *user)
{
    row_builder *b = user;
    if (b->out_of_memory) return;
    if (b->used + n + 1 > b->room) {
        const size_t room  = 2 * (b->used + n + 1) + 256;
        char        *text  = realloc(b->text, room);
        b->out_of_memory   = text == NULL;
        if (b->out_of_memory) return;
        b->text = text;
        b->room = room;
    }
    if (b->n_cells == b->cells_room) {
        const int64_t room  = 2 * b->cells_room + 16;
        table_cell   *cells = realloc(b->cells, (size_t)room * sizeof *cells);
        b->out_of_memory    = cells == NULL;
        if (b->out_of_memory) return;
        b->cells      = cells;
        b->cells_room = room;
    }
    if (n > 0) memcpy(b->text + b->used, bytes, n);
    b->text[b->used + n]          = 0;
    b->cells[b->n_cells++].bytes  = n;
    b->used += n + 1;
}

static void on_row_end(int end, void *user)
{
    (void)end;
    ((row_builder *)user)->complete = true;
}

static fault_kind line_fault(const source *s, fault_kind kind, int64_t line, const char *what, fault *f)
{
    fault_set(f, kind, "%s: line %lld: %s", s->name, (long long)line, what);
    if (f != NULL) f->line = line;
    return kind;
}

static fault_kind hand_over(row_builder *b, table_row *row, const char *raw, const char *raw_end,
                            table_row_function on_row, void *user, fault *f)
{
    const char *text = b->text;
    for (int64_t i = 0; i < b->n_cells; i++) {
        b->cells[i].text = text;
        text += b->cells[i].bytes + 1;
    }
    row->n_cells   = b->n_cells;
    row->cells     = b->cells;
    row->raw       = raw;
    row->raw_bytes = (size_t)(raw_end - raw);
    b->used        = 0;
    b->n_cells     = 0;
    b->complete    = false;
    return on_row(user, row, f);
}

static bool all_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t')) p++;
    return p == end;
}

static fault_kind parse(const source *s, struct csv_parser *parser, row_builder *b, const char *p, const char *end,
                        table_row_function on_row, void *user, fault *f)
{
    static const char quotes[] = "a quote inside an unquoted cell, or text behind a closing quote";
    table_row   row     = {.line = 1};
    const char *raw     = p;
    int64_t     line    = 1;
    bool        pending = false; /* inside a row: a quoted cell spans the line end */
    while (p < end) {
        const char *stop = p;
        while (stop < end && *stop != '\n' && *stop != '\r') stop++;
        const char *next = stop + (stop < end);
        if (stop < end && *stop == '\r' && next < end && *next == '\n') next++;
        if (!pending) {
            raw      = p;
            row.line = line;
        }
        if (pending || !all_blank(p, stop)) {
            const size_t bytes = (size_t)(next - p);
            if (csv_parse(parser, p, bytes, on_cell, on_row_end, b) != bytes)
                return csv_error(parser) == CSV_EPARSE ? line_fault(s, FAULT_FORMAT, line, quotes, f)
                                                       : line_fault(s, FAULT_MEMORY, line, "memory ran out", f);
            if (next == end && !b->complete && csv_fini(parser, on_cell, on_row_end, b) != 0)
                return line_fault(s, FAULT_FORMAT, row.line, "a quoted cell never ends", f);
            if (b->out_of_memory) return line_fault(s, FAULT_MEMORY, line, "memory ran out", f);
            pending = !b->complete;
            if (b->complete) {
                const fault_kind kind = hand_over(b, &row, raw, stop, on_row, user, f);
                if (kind != FAULT_NONE) return kind;
            }
        }
        line++;
        p = next;
    }
    return FAULT_NONE;
}

fault_kind table_each_row(source *s, table_style *style, table_row_function on_row, void *user, fault *f)
{
    char      *bytes;
    int64_t    size;
    fault_kind kind = source_slurp(s, &bytes, &size, f);
    if (kind != FAULT_NONE) return kind;
    const char *begin = bytes, *end = bytes + size;
    const bool  mark  = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
    if (mark) begin += 3;
    if (style != NULL) {
        const char *newline    = memchr(begin, '\n', (size_t)(end - begin));
        style->byte_order_mark = mark;
        style->crlf            = newline != NULL && newline > begin && newline[-1] == '\r';
    }
    struct csv_parser parser;
    row_builder       b = {0};
    csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL);
    csv_set_blk_size(&parser, 64 << 10); /* libcsv grows a long cell by this much at a time, copying it */
    kind = parse(s, &parser, &b, begin, end, on_row, user, f);
    csv_free(&parser);
    free(b.text);
    free(b.cells);
    return kind;
}

/* ---------------------------------------------------------------- cells ---- */

/* "'x', 'y', 'w'", cut with dots where text is full. */
static void name_columns(const table_row *header, char *text, size_t bytes)
{
    size_t at = 0;
    for (int64_t i = 0; i < header->n_cells; i++) {
        const int n = snprintf(text + at, bytes - at, "%s'%.40s%s'", i > 0 ? ", " : "", header->cells[i].text,
                               header->cells[i].bytes > 40 ? "..." : "");
        if (at + (size_t)n + sizeof ", ..." > bytes) {
            strcpy(text + at, i > 0 ? ", ..." : "...");
            return;
        }
        at += (size_t)n;
    }
}

fault_kind table_find_column(const source *s, const table_row *header, const char *name, int64_t *column, fault *f)
{
    int64_t found = -1;
    for (int64_t i = 0; i < header->n_cells; i++) {
        if (header->cells[i].bytes != strlen(name) || memcmp(header->cells[i].text, name, strlen(name)) != 0) continue;
        if (found >= 0) {
            fault_set(f, FAULT_COLUMN, "%s: line %lld: two columns are called '%s'", s->name, (long long)header->line, name);
            if (f != NULL) f->line = header->line;
            return FAULT_COLUMN;
        }
        found = i;
    }
    if (found < 0) {
        char names[512];
        name_columns(header, names, sizeof names);
        fault_set(f, FAULT_COLUMN, "%s: line %lld: no column is called '%.200s'; there are %s", s->name, (long long)header->line, name, names);
        if (f != NULL) f->line = header->line;
        return FAULT_COLUMN;
    }
    *column = found;
    return FAULT_NONE;
}

fault_kind table_check_width(const source *s, const table_row *row, int64_t n_cells, fault *f)
{
    if (row->n_cells == n_cells) return FAULT_NONE;
    fault_set(f, FAULT_COLUMN, "%s: line %lld: %lld cells, where the first line has %lld", s->name, (long long)row->line,
              (long long)row->n_cells, (long long)n_cells);
    if (f != NULL) f->line = row->line;
    return FAULT_COLUMN;
}

bool table_is_missing(const table_cell *cell)
{
    double value;
    return number_parse(cell->text, cell->bytes, IH_F64, &value) == NUMBER_MISSING;
}

fault_kind table_cell_fault(const source *s, const table_row *row, int64_t column, const char *column_name, fault_kind kind,
                            const char *what, fault *f)
{
    const table_cell *cell = &row->cells[column];
    fault_set(f, kind, "%s: line %lld, column '%s': \"%.40s\"%s %s", s->name, (long long)row->line, column_name, cell->text,
              cell->bytes > 40 ? "..." : "", what);
    if (f != NULL) f->line = row->line;
    return kind;
}

fault_kind table_number(const source *s, const table_row *row, int64_t column, const char *column_name, ih_dtype dtype,
                        double *value, fault *f)
{
    const table_cell    *cell    = &row->cells[column];
    const number_verdict verdict = number_parse(cell->text, cell->bytes, dtype, value);
    if (verdict == NUMBER_GOOD) return FAULT_NONE;
    return table_cell_fault(s, row, column, column_name, verdict == NUMBER_MISSING ? FAULT_MISSING : FAULT_NUMBER,
                            number_verdict_text(verdict), f);
}

void table_write_cell(FILE *stream, const char *text, size_t bytes)
{
    const bool edges = bytes > 0 && (text[0] == ' ' || text[0] == '\t' || text[bytes - 1] == ' ' || text[bytes - 1] == '\t');
    if (!edges && strcspn(text, ",\"\r\n") == bytes)
        fwrite(text, 1, bytes, stream);
    else
        csv_fwrite(stream, text, bytes);
}
