/* SPDX-License-Identifier: Apache-2.0
 * doc.h: a document of headings, texts, tables and figures, and its two forms: Markdown, and HTML that needs no other file.
 * Every table row carries the numbers of the journal's cells that it comes from, for machines. */
#ifndef IH_REPORT_DOC_H
#define IH_REPORT_DOC_H

#include <stdio.h>

typedef enum doc_kind { DOC_TITLE, DOC_HEADING, DOC_TEXT, DOC_TABLE, DOC_FIGURE } doc_kind;

typedef struct doc_part {
    doc_kind kind;
    char    *text;    /* of a table its caption, of a figure what it shows                  */
    char    *name;    /* of a table or figure                                               */
    int      columns, rows;
    char   **cells;   /* [(rows + 1) columns] the heads first                               */
    char   **sources; /* [rows] numbers of cells, separated by blanks; "" for none           */
    char    *svg;     /* of a figure; NULL: it could not be drawn                           */
} doc_part;

typedef struct doc {
    char     *mark;   /* first comment of both forms: from what the document was made       */
    doc_part *parts;
    int       count, room;
    int       filled; /* cells of the last row of the last table                            */
    int       failed; /* memory ran out: the document is not complete                       */
} doc;

void doc_free(doc *d);

void doc_add(doc *d, doc_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* heads: columns texts. Then doc_row and its cells in order, row after row. */
void doc_table(doc *d, const char *name, const char *caption, int columns, const char *const *heads);
void doc_row(doc *d, const char *sources);
void doc_cell(doc *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* svg is taken over. Lies beside the Markdown as NAME.svg. */
void doc_figure(doc *d, const char *name, const char *text, char *svg);

/* The forms as text to be freed; NULL if memory ran out. */
char *doc_markdown(const doc *d);
char *doc_html(const doc *d);

#endif
