/* SPDX-License-Identifier: Apache-2.0
 * report_mark.c: the first comment of a report, by which verify finds what it was made from:
 * isohull report 1; figures drawn by 5.4.4; journal DIGEST PATH; journal ... In paths '%', ';', '-' and bytes below a blank are
 * written %XX, so that the comment cannot end early. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

static const char begin[] = "isohull report 1; figures drawn by ", item[] = "; journal ";

char *report_mark(const report_source *sources, int count, const char *drawn)
{
    char  *text = NULL;
    size_t bytes;
    FILE  *to = open_memstream(&text, &bytes);

    if (!to) return NULL;
    fprintf(to, "%s%s", begin, drawn);
    for (int k = 0; k < count; ++k) {
        fprintf(to, "%s%s ", item, sources[k].digest);
        for (const char *p = sources[k].path; *p; ++p) {
            if ((unsigned char)*p < 32 || strchr("%;-", *p)) fprintf(to, "%%%02X", (unsigned char)*p);
            else fputc(*p, to);
        }
    }
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}

/* Decode %XX up to the end of the item. */
static const char *read_path(const char *from, const char *end, char *to, size_t room)
{
    size_t n = 0;

    for (; from < end && *from != ';'; ++from) {
        char one = *from;
        if (one == '%') {
            const char digits[3] = { from + 2 < end ? from[1] : 0, from + 2 < end ? from[2] : 0, 0 };
            char      *stop;
            one = (char)strtol(digits, &stop, 16);
            if (stop != digits + 2) return NULL;
            from += 2;
        }
        if (n + 1 >= room) return NULL;
        to[n++] = one;
    }
    to[n] = 0;
    return n ? from : NULL;
}

int report_read_mark(const char *text, report_source *sources, int *count, char drawn[64])
{
    const char *at = strstr(text, begin), *end = at ? strstr(at, " -->") : NULL;
    size_t      length;

    *count = 0;
    if (!end) return 0;
    at += strlen(begin);
    length = strcspn(at, ";");
    if (length == 0 || length >= 64 || at + length > end) return 0;
    memcpy(drawn, at, length);
    drawn[length] = 0;
    for (at += length; at < end;) {
        report_source *s = &sources[*count];
        if (*count == REPORT_SOURCES || strncmp(at, item, strlen(item)) != 0 || at + strlen(item) + 17 >= end) return 0;
        at += strlen(item);
        memcpy(s->digest, at, 16);
        s->digest[16] = 0;
        if (at[16] != ' ') return 0;
        at = read_path(at + 17, end, s->path, sizeof s->path);
        if (!at) return 0;
        ++*count;
    }
    return *count > 0;
}
