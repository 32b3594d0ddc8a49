/* SPDX-License-Identifier: Apache-2.0
 * doc_write.c: a document as Markdown and as HTML. Both are lines of which each holds one thing (HTML: one table cell), so
 * that a difference between two of them can be named. */
#include "doc.h"

#include "io/digest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char style[] =
    "body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 1240px; margin: 2em auto; padding: 0 1em; }\n"
    "h1 { font-size: 1.6em; margin-bottom: 0.2em; } h2 { font-size: 1.25em; margin-top: 2.2em; }\n"
    ".scroll { overflow-x: auto; } table { border-collapse: collapse; margin: 1em 0; font-size: 0.85em; }\n"
    "caption { text-align: left; color: #555; padding-bottom: 0.4em; }\n"
    "th, td { padding: 0.2em 0.9em 0.2em 0; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; white-space: nowrap; }\n"
    "th { white-space: normal; vertical-align: bottom; } tr:hover td { background: #f5f5f5; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; } .long { white-space: normal; min-width: 30em; overflow-wrap: anywhere; }\n"
    "figure { margin: 1.5em 0; } figcaption { color: #555; } svg { max-width: 100%; height: auto; max-height: 900px; } caption { max-width: 70em; white-space: normal; }\n";

/* Does every cell of a column look like a number or a pair of them? */
static int is_numeric(const doc_part *p, int column)
{
    int digits = 0;

    for (int r = 1; r <= p->rows; ++r) {
        const char *text = p->cells[r * p->columns + column];
        if (!text || !*text) continue;
        if (strspn(text, "0123456789.e+-, –") != strlen(text)) return 0;
        digits |= isdigit((unsigned char)text[strlen(text) - 1]);
    }
    return digits;
}

static int is_long(const char *text) { return strlen(text) > 60; }

static void digest_text(const char *bytes, char text[DIGEST_TEXT_BYTES]) { digest_format(XXH3_64bits(bytes, strlen(bytes)), text); }

static const char *cell_at(const doc_part *p, int row, int column)
{
    const char *text = p->cells[row * p->columns + column];
    return text ? text : "";
}

/* ---- Markdown ---- */

static void markdown_cell(FILE *to, const char *text)
{
    for (; *text; ++text) {
        if (*text == '|') fputc('\\', to);
        fputc(*text, to);
    }
}

static void markdown_table(FILE *to, const doc_part *p)
{
    fprintf(to, "<!-- table %s, cells by row:", p->name);
    for (int r = 0; r < p->rows; ++r) fprintf(to, " [%s]", p->sources[r]);
    fprintf(to, " -->\n\n%s\n\n", p->text);
    for (int r = 0; r <= p->rows; ++r) {
        fputc('|', to);
        for (int c = 0; c < p->columns; ++c) {
            fputc(' ', to);
            markdown_cell(to, cell_at(p, r, c));
            fputs(" |", to);
        }
        fputc('\n', to);
        if (r > 0) continue;
        fputc('|', to);
        for (int c = 0; c < p->columns; ++c) fputs(is_numeric(p, c) ? " ---: |" : " --- |", to);
        fputc('\n', to);
    }
}

char *doc_markdown(const doc *d)
{
    char  *text = NULL, digest[DIGEST_TEXT_BYTES];
    size_t bytes;
    FILE  *to = d->failed ? NULL : open_memstream(&text, &bytes);

    if (!to) return NULL;
    fprintf(to, "<!-- %s -->\n", d->mark);
    for (int k = 0; k < d->count; ++k) {
        const doc_part *p = &d->parts[k];
        fputc('\n', to);
        switch (p->kind) {
        case DOC_TITLE: fprintf(to, "# %s\n", p->text); break;
        case DOC_HEADING: fprintf(to, "## %s\n", p->text); break;
        case DOC_TEXT: fprintf(to, "%s\n", p->text); break;
        case DOC_TABLE: markdown_table(to, p); break;
        case DOC_FIGURE:
            if (!p->svg) break;
            digest_text(p->svg, digest);
            fprintf(to, "![%s](%s.svg)\n<!-- figure %s, digest of the picture: %s -->\n", p->text, p->name, p->name, digest);
            break;
        }
    }
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}

/* ---- HTML ---- */

static void html_text(FILE *to, const char *text)
{
    for (; *text; ++text) {
        if (*text == '<') fputs("&lt;", to);
        else if (*text == '>') fputs("&gt;", to);
        else if (*text == '&') fputs("&amp;", to);
        else if (*text == '"') fputs("&quot;", to);
        else fputc(*text, to);
    }
}

static void html_table(FILE *to, const doc_part *p)
{
    fprintf(to, "<div class=\"scroll\"><table id=\"%s\"><caption>", p->name);
    html_text(to, p->text);
    fputs("</caption>\n", to);
    for (int r = 0; r <= p->rows; ++r) {
        if (r == 0) fputs("<tr>\n", to);
        else fprintf(to, "<tr data-cells=\"%s\">\n", p->sources[r - 1]);
        for (int c = 0; c < p->columns; ++c) {
            const char *tag = r == 0 ? "th" : "td";
            fprintf(to, "<%s%s", tag, is_numeric(p, c) ? " class=\"number\"" : is_long(cell_at(p, r, c)) ? " class=\"long\"" : "");
            if (r > 0) {
                fputs(" data-field=\"", to);
                html_text(to, cell_at(p, 0, c));
                fputc('"', to);
            }
            fputc('>', to);
            html_text(to, cell_at(p, r, c));
            fprintf(to, "</%s>\n", tag);
        }
        fputs("</tr>\n", to);
    }
    fputs("</table></div>\n", to);
}

static void html_figure(FILE *to, const doc_part *p)
{
    const char *svg = p->svg ? strstr(p->svg, "<svg") : NULL;

    if (!svg) return;
    fprintf(to, "<figure id=\"%s\"><svg role=\"img\" aria-label=\"", p->name);
    html_text(to, p->text);
    fprintf(to, "\"%s<figcaption>", svg + 4);
    html_text(to, p->text);
    fputs("</figcaption></figure>\n", to);
}

char *doc_html(const doc *d)
{
    char       *text = NULL;
    const char *title = "isohull";
    size_t      bytes;
    FILE       *to = d->failed ? NULL : open_memstream(&text, &bytes);

    if (!to) return NULL;
    for (int k = d->count - 1; k >= 0; --k)
        if (d->parts[k].kind == DOC_TITLE) title = d->parts[k].text;
    fprintf(to, "<!DOCTYPE html>\n<!-- %s -->\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", d->mark);
    html_text(to, title);
    fprintf(to, "</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n%s</style></head><body>\n", style);
    for (int k = 0; k < d->count; ++k) {
        const doc_part *p   = &d->parts[k];
        const char     *tag = p->kind == DOC_TITLE ? "h1" : p->kind == DOC_HEADING ? "h2" : "p";
        if (p->kind == DOC_TABLE) {
            html_table(to, p);
        } else if (p->kind == DOC_FIGURE) {
            html_figure(to, p);
        } else {
            fprintf(to, "<%s>", tag);
            html_text(to, p->text);
            fprintf(to, "</%s>\n", tag);
        }
    }
    fputs("</body></html>\n", to);
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}
