/* SPDX-License-Identifier: Apache-2.0
 * json.h: one JSON object on standard output. */
#ifndef IH_HARNESS_JSON_H
#define IH_HARNESS_JSON_H

#include <jansson.h>

/* Print the object with a newline and release it. Returns EXIT_GOOD, or EXIT_USAGE after a message. NULL: no memory. */
int json_print(json_t *object);

#endif
