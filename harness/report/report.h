/* SPDX-License-Identifier: Apache-2.0
 * report.h: one report from journals alone. It is a function of their bytes and names (and of the pictures gnuplot draws of
 * the tables beside it), so that verify can make it again and compare. */
#ifndef IH_REPORT_REPORT_H
#define IH_REPORT_REPORT_H

#include "doc.h"
#include "view.h"

enum { REPORT_SOURCES = 64, REPORT_FIGURES = 4 };

/* A journal as the report names it: path relative to the report's folder, digest of the file's bytes (XXH3-64). */
typedef struct report_source {
    char path[4096];
    char digest[17];
} report_source;

/* Figure k: its name (of the files NAME.tsv, NAME.svg, NAME.png and of the script), what it shows; NULL past the end. */
const char *report_figure_name(int k);
const char *report_figure_text(int k);

/* The numbers that figure k draws, one row a point, with a head; to be freed. NULL: no memory. "" : nothing to draw. */
char *report_figure_table(const view *v, int k);

/* What the first comment of a report holds, and reading it back (0: that is no report). drawn: the version of gnuplot that
 * drew the figures, or "none". */
char *report_mark(const report_source *sources, int count, const char *drawn);
int   report_read_mark(const char *text, report_source *sources, int *count, char drawn[64]);

/* svg[k]: picture of figure k (taken over) or NULL. drawn as above. */
fault_kind report_build(doc *d, const view *v, const report_source *sources, int count, char *svg[REPORT_FIGURES], const char *drawn, fault *f);

#endif
