/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as text, the same under every locale: decimal, with a point, correctly rounded to the type asked for.
 */
#ifndef IH_HARNESS_IO_NUMBER_H
#define IH_HARNESS_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "isohull.h"

typedef enum number_verdict {
    NUMBER_GOOD = 0,
    NUMBER_MISSING,   /* empty, NA, or blanks only        */
    NUMBER_BAD,       /* no decimal number                */
    NUMBER_TOO_LARGE, /* rounds to an infinity            */
    NUMBER_NAN,       /* spelled NaN                      */
    NUMBER_INFINITE   /* spelled inf or infinity          */
} number_verdict;

/* [sign] digits [. digits] [e [sign] digits], blanks around it allowed, at least one digit before or behind the point.
 * Hexadecimal numbers are refused: in a table "0x10" is more likely a name. text[length] must be 0. On NUMBER_GOOD *value
 * is the number rounded once to dtype (held in a double), and tiny numbers become subnormal or zero; on NUMBER_NAN and
 * NUMBER_INFINITE (for bounds on a command line) *value is set too. */
number_verdict number_parse(const char *text, size_t length, ih_dtype dtype, double *value);

/* What is wrong, for a message: "is not a number". */
const char *number_verdict_text(number_verdict verdict);

/* The fewest digits that read back as the same number of that dtype; "nan", "inf", "-inf" otherwise. At most 31
 * characters. Returns the length. */
#define NUMBER_TEXT_BYTES 32
size_t number_format(double value, ih_dtype dtype, char text[NUMBER_TEXT_BYTES]);

/* Add positive numbers exactly and round the sum once (a sum past the range is infinite): the weight of tied x. */
typedef struct number_sum {
    int    n;
    double parts[64]; /* do not overlap, rise in magnitude */
} number_sum;
void   number_sum_clear(number_sum *s);
void   number_sum_add(number_sum *s, double value);
double number_sum_round(const number_sum *s);

#endif
