/* SPDX-License-Identifier: Apache-2.0
 * doc.c: building a document part by part. The first failure of memory is kept; what follows does nothing. */
#include "doc.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void doc_free(doc *d)
{
    for (int k = 0; k < d->count; ++k) {
        doc_part *p = &d->parts[k];
        for (int i = 0; p->cells && i < (p->rows + 1) * p->columns; ++i) free(p->cells[i]);
        for (int i = 0; i < p->rows; ++i) free(p->sources[i]);
        free(p->cells);
        free(p->sources);
        free(p->text);
        free(p->name);
        free(p->svg);
    }
    free(d->parts);
    free(d->mark);
    memset(d, 0, sizeof *d);
}

static char *copy_of(doc *d, const char *text)
{
    char *copy = d->failed ? NULL : strdup(text);
    if (!copy) d->failed = 1;
    return copy;
}

static doc_part *new_part(doc *d, doc_kind kind)
{
    if (d->failed) return NULL;
    if (d->count == d->room) {
        const int room  = d->room ? 2 * d->room : 16;
        doc_part *parts = realloc(d->parts, (size_t)room * sizeof *parts);
        if (!parts) {
            d->failed = 1;
            return NULL;
        }
        d->parts = parts;
        d->room  = room;
    }
    memset(&d->parts[d->count], 0, sizeof *d->parts);
    d->parts[d->count].kind = kind;
    return &d->parts[d->count++];
}

static char *formatted(doc *d, const char *format, va_list arguments)
{
    char *text = NULL;
    if (d->failed) return NULL;
    if (vasprintf(&text, format, arguments) >= 0) return text;
    d->failed = 1;
    return NULL;
}

void doc_add(doc *d, doc_kind kind, const char *format, ...)
{
    doc_part *p = new_part(d, kind);
    va_list   arguments;

    if (!p) return;
    va_start(arguments, format);
    p->text = formatted(d, format, arguments);
    va_end(arguments);
}

/* Room for one more row, all of it empty. */
static int grow(doc *d, doc_part *p, int rows)
{
    char **cells   = realloc(p->cells, (size_t)(rows + 1) * (size_t)p->columns * sizeof *cells);
    char **sources = cells ? realloc(p->sources, (size_t)(rows + 1) * sizeof *sources) : NULL;

    if (cells) p->cells = cells;
    if (!sources) {
        d->failed = 1;
        return 0;
    }
    p->sources = sources;
    for (int k = rows * p->columns; k < (rows + 1) * p->columns; ++k) p->cells[k] = NULL;
    p->rows   = rows;
    d->filled = 0;
    return 1;
}

void doc_table(doc *d, const char *name, const char *caption, int columns, const char *const *heads)
{
    doc_part *p = new_part(d, DOC_TABLE);

    if (!p) return;
    p->name    = copy_of(d, name);
    p->text    = copy_of(d, caption);
    p->columns = columns;
    if (!grow(d, p, 0)) return;
    for (int k = 0; k < columns; ++k) p->cells[k] = copy_of(d, heads[k]);
}

void doc_row(doc *d, const char *sources)
{
    doc_part *p = d->failed ? NULL : &d->parts[d->count - 1];

    if (p && grow(d, p, p->rows + 1)) p->sources[p->rows - 1] = copy_of(d, sources);
}

void doc_cell(doc *d, const char *format, ...)
{
    doc_part *p = d->failed ? NULL : &d->parts[d->count - 1];
    va_list   arguments;

    if (!p || d->filled >= p->columns) return;
    va_start(arguments, format);
    p->cells[p->rows * p->columns + d->filled++] = formatted(d, format, arguments);
    va_end(arguments);
}

void doc_figure(doc *d, const char *name, const char *text, char *svg)
{
    doc_part *p = new_part(d, DOC_FIGURE);

    if (!p) {
        free(svg);
        return;
    }
    p->name = copy_of(d, name);
    p->text = copy_of(d, text);
    p->svg  = svg;
}
