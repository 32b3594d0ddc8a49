/* SPDX-License-Identifier: Apache-2.0
 * referee.c: see referee.h. */
#include "referee.h"

#include "io/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ih_impl *referee_for(int64_t elements) { return elements <= REFEREE_EXACT_MOST ? ih_impl_find("cpu_exact") : ih_impl_default(IH_DEVICE_CPU); }

const char *referee_name(const ih_impl *referee) { return strcmp(referee->name, "cpu_exact") == 0 ? "" : referee->name; }

fault_kind referee_kept(const char *path, const char *problem, char digest[17], fault *f)
{
    const size_t length = strlen(problem);
    FILE        *file   = fopen(path, "re");
    char        *line   = NULL;
    size_t       room   = 0;

    digest[0] = 0;
    if (!file) return fault_set(f, FAULT_OPEN, "%s: %s", path, strerror(errno));
    while (!digest[0] && getline(&line, &room, file) > 0)
        if (strncmp(line, problem, length) == 0 && line[length] == ' ') sscanf(line + length, " %16[0-9a-f]", digest);
    free(line);
    fclose(file);
    return FAULT_NONE;
}

fault_kind referee_fit(const ih_impl *referee, const ih_problem *p, void *z, int64_t *starts, int64_t *offsets, char digest[17], int64_t *blocks, fault *f)
{
    ih_outputs out;
    fault_kind kind;

    ih_outputs_init(&out);
    out.z             = z;
    out.block_starts  = starts;
    out.block_offsets = offsets;
    kind = fault_from_library(f, ih_fit(referee, p, NULL, &out, NULL, 0, NULL), "referee");
    if (kind) return kind;
    *blocks = offsets[p->rows];
    digest_format(digest_fit(p->dtype, z, p->offsets ? p->n : p->rows * p->n, starts, *blocks), digest);
    return FAULT_NONE;
}
