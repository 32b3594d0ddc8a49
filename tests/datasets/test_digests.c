/* SPDX-License-Identifier: Apache-2.0
 * test_digests.c: the bits of the data, kept in digests.txt: "DIGEST PROBLEM" a line. Every problem is made three ways:
 * whole on one thread, whole on four, and element by element from the formulas; all must have the digest of the file.
 * With --print it writes the lines anew. Families, weightings and laws that no line has are a failure. */
#include "datasets/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a, 64 bits. */
static uint64_t digest(uint64_t state, const void *bytes, size_t n)
{
    for (size_t k = 0; k < n; k++) state = (state ^ ((const unsigned char *)bytes)[k]) * UINT64_C(0x100000001b3);
    return state;
}

/* Of y, w and offsets. */
static uint64_t digest_data(const ih_data *d, const ih_spec *s)
{
    const size_t bytes = (size_t)ih_spec_elements(s, NULL) * (s->dtype == IH_F32 ? 4 : 8);
    uint64_t     h     = digest(UINT64_C(0xcbf29ce484222325), d->y, bytes);
    if (d->w) h = digest(h, d->w, bytes);
    if (d->offsets) h = digest(h, d->offsets, ((size_t)s->rows + 1) * sizeof *d->offsets);
    return h;
}

/* y and w once more from ih_generate in pieces of a few elements, and by ih_generate_row an element at a time. */
static void remake_in_slices(ih_data *d, const ih_spec *s)
{
    const int64_t n    = ih_spec_elements(s, NULL);
    const size_t  item = s->dtype == IH_F32 ? 4 : 8;
    char         *y = d->y, *w = d->w;
    int64_t       piece = 1;
    memset(y, 0xff, (size_t)n * item);
    for (int64_t at = 0, left = 0; at < n; at += left, piece = piece * 5 % 997) {
        left = piece < n - at ? piece : n - at;
        ih_generate(s, d->offsets, at, at + left, y + (size_t)at * item, w ? w + (size_t)at * item : NULL, 3);
    }
}

static void remake_by_element(ih_data *d, const ih_spec *s)
{
    const size_t item = s->dtype == IH_F32 ? 4 : 8;
    char        *y = d->y, *w = d->w;
    int64_t      at = ih_spec_elements(s, NULL);
    memset(y, 0xff, (size_t)at * item);
    for (int64_t r = s->rows - 1; r >= 0; r--) {
        const int64_t n = ih_spec_row_length(s, r);
        for (int64_t i = n - 1; i >= 0; i--) {
            at -= 1;
            ih_generate_row(s, r, n, i, i + 1, y + (size_t)at * item, w ? w + (size_t)at * item : NULL);
        }
    }
}

static int check_line(const char *text, uint64_t expected, int print, ih_spec *s)
{
    char     message[IH_SPEC_MESSAGE], canonical[1024];
    ih_data  d, again;
    uint64_t whole, others[3];
    int      bad = 0;

    if (ih_spec_parse(s, text, message, sizeof message) || ih_data_generate(&d, s, 1, message, sizeof message) ||
        ih_data_generate(&again, s, 4, message, sizeof message)) {
        printf("%s: %s\n", text, message);
        return 1;
    }
    ih_spec_format(s, canonical, sizeof canonical);
    if (strcmp(text, canonical)) bad = printf("%s: not canonical, which is %s\n", text, canonical) > 0;
    whole     = digest_data(&d, s);
    others[0] = digest_data(&again, s);
    remake_in_slices(&again, s);
    others[1] = digest_data(&again, s);
    remake_by_element(&again, s);
    others[2] = digest_data(&again, s);
    ih_data_free(&d);
    ih_data_free(&again);
    if (print) printf("%016llx %s\n", (unsigned long long)whole, text);
    else if (whole != expected)
        bad = printf("%s: digest %016llx instead of %016llx\n", text, (unsigned long long)whole, (unsigned long long)expected) > 0;
    for (int k = 0; k < 3; k++)
        if (others[k] != whole) bad = printf("%s: differs when made %s\n", text, k == 0 ? "on 4 threads" : k == 1 ? "in slices" : "by element") > 0;
    return bad;
}

int main(int argc, char **argv)
{
    const int print = argc > 2 && !strcmp(argv[2], "--print");
    FILE     *file  = argc > 1 ? fopen(argv[1], "r") : NULL;
    char      line[1024], text[1024];
    int       bad = 0, lines = 0;
    int       families[IH_FAMILY_COUNT][2] = { { 0 } }, weightings[IH_WEIGHTING_COUNT][2] = { { 0 } }, laws[IH_RAGGED_COUNT] = { 0 };

    if (!file) {
        fprintf(stderr, "usage: test_digests digests.txt [--print]\n");
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        unsigned long long expected;
        ih_spec            s;
        if (line[0] == '#') {
            if (print) fputs(line, stdout);
            continue;
        }
        if (sscanf(line, "%llx %1023s", &expected, text) != 2) {
            bad = printf("not a line: %s", line) > 0;
            continue;
        }
        bad |= check_line(text, expected, print, &s);
        lines += 1;
        families[s.family][s.dtype]      = 1;
        weightings[s.weighting][s.dtype] = 1;
        laws[s.ragged]                   = 1;
    }
    fclose(file);
    for (int type = 0; type < 2; type++) {
        for (int k = 0; k < IH_FAMILY_COUNT; k++)
            if (!families[k][type]) bad = printf("no line has family %s with type %d\n", ih_family_at(k)->name, type) > 0;
        for (int k = 0; k < IH_WEIGHTING_COUNT; k++)
            if (!weightings[k][type]) bad = printf("no line has weighting %s with type %d\n", ih_weighting_at(k)->name, type) > 0;
    }
    for (int k = 0; k < IH_RAGGED_COUNT; k++)
        if (!laws[k]) bad = printf("no line has ragged=%s\n", ih_ragged_at(k)->name) > 0;
    if (!print) printf("%d problems\n", lines);
    return bad;
}
