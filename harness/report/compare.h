/* SPDX-License-Identifier: Apache-2.0
 * compare.h: the differences of two texts, named. */
#ifndef IH_REPORT_COMPARE_H
#define IH_REPORT_COMPARE_H

#include <stdio.h>

/* Print each line that differs, with the table cell it is: what the report says and what the journal gives. name: of the
 * text, for the messages. Returns how many differences there are; 0 only if the texts are the same bytes. */
int compare_texts(FILE *to, const char *name, const char *journal, const char *report);

#endif
