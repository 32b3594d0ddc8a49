/* SPDX-License-Identifier: Apache-2.0
 * draw.h: the figures of a report through gnuplot, by the scripts in plots/. */
#ifndef IH_REPORT_DRAW_H
#define IH_REPORT_DRAW_H

#include "report.h"

/* The version of the gnuplot on PATH ("5.4 patchlevel 4"), or "none"; also if the scripts are not found. */
void draw_version(char drawn[64]);

/* Write FOLDER/NAME.tsv for each figure with something to draw and, with pictures, let gnuplot draw FOLDER/NAME.svg and
 * NAME.png. svg[k] receives the picture, NULL where there is none; free them. */
fault_kind draw_figures(const view *v, const char *folder, int pictures, char *svg[REPORT_FIGURES], fault *f);

/* ---- whole files ---- */

/* The bytes of a file followed by a 0, or NULL with a fault; to be freed. */
char      *file_read(const char *path, size_t *bytes, fault *f);
fault_kind file_write(const char *path, const char *text, fault *f);

#endif
