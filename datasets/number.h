/* SPDX-License-Identifier: Apache-2.0
 * number.h: numbers as they stand in problem strings, the same under every locale. */
#ifndef IH_DATASETS_NUMBER_H
#define IH_DATASETS_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* All parse the whole text and return 1, or return 0 and leave *out alone. */

/* A whole number >= 0 below 2^63 in decimal: digits, perhaps with a point and an exponent, as long as the value is
 * whole ("1024", "1e7", "2.5e3"). The value is exact: no floating point is involved. */
int ih_parse_count(const char *text, int64_t *out);

/* A double, decimal or hexadecimal, rounded to nearest; "inf" and "infinity" with a sign or without. NaN and decimal
 * values past the finite range are refused. */
int ih_parse_double(const char *text, double *out);

enum { IH_NUMBER_TEXT = 32 };

/* The fewest digits that read back as x, written to text[IH_NUMBER_TEXT]: whole numbers below 1e6 in full, others as
 * %g does, without + and leading zeros in the exponent. -0 is written as 0. */
void ih_format_double(double x, char *text);

#endif
