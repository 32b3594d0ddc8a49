/* SPDX-License-Identifier: Apache-2.0
 * json.c: one JSON object on standard output. */
#include "json.h"

#include "say.h"

#include <stdio.h>
#include <stdlib.h>

int json_print(json_t *object)
{
    char *text = object ? json_dumps(object, JSON_INDENT(2)) : NULL;

    json_decref(object);
    if (!text) return say_bad("no memory for the JSON object");
    puts(text);
    free(text);
    return say_flush();
}
