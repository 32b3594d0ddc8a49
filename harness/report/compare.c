/* SPDX-License-Identifier: Apache-2.0
 * compare.c: line by line. Reports are written so that a line is a row of a Markdown table, a cell of an HTML table, a
 * point of a figure's table, or a sentence; cells of rows are named by the head of their table. */
#include "compare.h"

#include <string.h>

typedef struct text_line { const char *at; size_t length; } text_line;

static text_line next_line(const char **at)
{
    text_line l = { *at, strcspn(*at, "\n") };
    *at += l.length + ((*at)[l.length] == '\n');
    return l;
}

static int same(text_line a, text_line b) { return a.length == b.length && memcmp(a.at, b.at, a.length) == 0; }

static int shown(size_t length) { return length > 300 ? 300 : (int)length; }

/* The next cell of a row of a table, without the blanks around; 0 at its end. */
static int next_cell(text_line *row, char separator, text_line *cell)
{
    size_t n = 0;

    if (row->length == 0) return 0;
    while (n < row->length && !(row->at[n] == separator && (n == 0 || row->at[n - 1] != '\\'))) ++n;
    cell->at     = row->at;
    cell->length = n;
    row->at += n + (n < row->length);
    row->length -= n + (n < row->length);
    while (cell->length && *cell->at == ' ') ++cell->at, --cell->length;
    while (cell->length && cell->at[cell->length - 1] == ' ') --cell->length;
    return 1;
}

static int is_row(text_line l) { return l.length > 1 && l.at[0] == '|'; }

/* Name every cell that differs in two rows of one table. The first two cells say which row it is. */
static int compare_rows(FILE *to, const char *name, int number, char separator, text_line head, text_line a, text_line b)
{
    text_line h, x, y, first[2] = { { "", 0 }, { "", 0 } };
    int       differences = 0, column = 0;

    if (separator == '|') {
        ++head.at, --head.length;
        ++a.at, --a.length;
        ++b.at, --b.length;
    }
    for (;; ++column) {
        const int in_head = next_cell(&head, separator, &h), in_a = next_cell(&a, separator, &x), in_b = next_cell(&b, separator, &y);
        if (!in_a && !in_b) break;
        if (!in_a) x = (text_line){ "", 0 };
        if (!in_b) y = (text_line){ "", 0 };
        if (!in_head) h = (text_line){ "?", 1 };
        if (column < 2) first[column] = x;
        if (same(x, y)) continue;
        ++differences;
        fprintf(to, "%s:%d: %.*s of %.*s, %.*s: the report has '%.*s', the journal gives '%.*s'\n", name, number, shown(h.length), h.at,
                shown(first[0].length), first[0].at, shown(first[1].length), first[1].at, shown(y.length), y.at, shown(x.length), x.at);
    }
    return differences;
}

int compare_texts(FILE *to, const char *name, const char *journal, const char *report)
{
    text_line head = { "", 0 }, before = { "", 0 };
    int       differences = 0, number = 1;
    const int tabs = strchr(journal, '\t') != NULL;

    if (tabs) {
        const char *at = journal;
        head           = next_line(&at);
    }
    for (; *journal || *report; ++number) {
        const int       short_journal = !*journal, short_report = !*report;
        const text_line a = next_line(&journal), b = next_line(&report);

        if (is_row(a) && !is_row(before)) head = a;
        before = a;
        if (short_journal || short_report) {
            ++differences;
            fprintf(to, "%s:%d: %s: '%.*s'\n", name, number, short_report ? "the report ends before" : "the report goes on with",
                    shown(short_report ? a.length : b.length), short_report ? a.at : b.at);
            break;
        }
        if (same(a, b)) continue;
        if (is_row(a) && is_row(b)) {
            const int cells = compare_rows(to, name, number, '|', head, a, b);
            differences += cells;
            if (cells) continue;
        } else if (tabs) {
            const int cells = compare_rows(to, name, number, '\t', head, a, b);
            differences += cells;
            if (cells) continue;
        }
        ++differences;
        fprintf(to, "%s:%d: the report has '%.*s', the journal gives '%.*s'\n", name, number, shown(b.length), b.at, shown(a.length), a.at);
    }
    return differences;
}
