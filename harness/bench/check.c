/* SPDX-License-Identifier: Apache-2.0
 * check.c: every line of a journal by the rules of record_json.c, then what depends on other lines and on the samples. */
#include "check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct checker {
    const char   *path;
    int64_t       line, most;
    void        (*say_one)(const char *text);
    check_result *out;
    json_t       *runs; /* ids seen: object of true */
} checker;

static void differ(checker *c, const char *text)
{
    char whole[1280];

    if (c->out->differences++ >= c->most) return;
    snprintf(whole, sizeof whole, "%.200s:%lld: %.1000s", c->path, (long long)c->line, text);
    c->say_one(whole);
}

/* Written with 15 digits. */
static void compare(checker *c, const char *name, double written, double derived)
{
    char text[256];

    if (fabs(written - derived) <= 1e-12 * fabs(derived)) return;
    if (derived < 0) snprintf(text, sizeof text, "%s is %.15g, but the samples are too few to give one", name, written);
    else if (written < 0) snprintf(text, sizeof text, "%s is missing, but the samples give %.15g", name, derived);
    else snprintf(text, sizeof text, "%s is %.15g, but the samples give %.15g", name, written, derived);
    differ(c, text);
}

static void check_cell(checker *c, const json_t *line)
{
    cell_record cell;
    double      median, low, high;
    char        text[256];
    fault       f;

    c->out->cells++;
    if (cell_from_json(line, &cell, &f) != FAULT_NONE) {
        differ(c, f.message);
        return;
    }
    if (!json_object_get(c->runs, cell.run)) {
        snprintf(text, sizeof text, "the run %.60s of this cell is not recorded before it", cell.run);
        differ(c, text);
    }
    median = cell.median_ms;
    low    = cell.ci_low_ms;
    high   = cell.ci_high_ms;
    /* what failed half-way has samples, but nothing derived from them */
    if (!cell.accuracy && (cell.status == CELL_OK || median >= 0) && cell_derive(&cell, &f) == FAULT_NONE) {
        compare(c, "median_ms", median, cell.median_ms);
        compare(c, "ci_ms[0]", low, cell.ci_low_ms);
        compare(c, "ci_ms[1]", high, cell.ci_high_ms);
    }
    cell_free(&cell);
}

static void check_run(checker *c, const json_t *line)
{
    fault f;

    c->out->runs++;
    if (run_check(line, &f) != FAULT_NONE) differ(c, f.message);
    else json_object_set_new(c->runs, json_string_value(json_object_get(line, "run")), json_true());
}

static void check_line(checker *c, const char *text, size_t length)
{
    json_error_t error;
    json_t      *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    const char  *kind = json_string_value(json_object_get(line, "kind"));

    if (!line) differ(c, error.text);
    else if (kind && strcmp(kind, "run") == 0) check_run(c, line);
    else check_cell(c, line);
    json_decref(line);
}

fault_kind check_file(const char *path, int64_t most, void (*say_one)(const char *text), check_result *out, fault *f)
{
    checker    c    = { path, 0, most, say_one, out, json_object() };
    FILE      *file = fopen(path, "re");
    char      *text = NULL;
    size_t     room = 0;
    ssize_t    length;
    fault_kind kind = FAULT_NONE;

    memset(out, 0, sizeof *out);
    if (!file || !c.runs) {
        kind = fault_set(f, FAULT_OPEN, "%s: %s", path, strerror(errno));
    } else {
        errno = 0;
        while ((length = getline(&text, &room, file)) > 0) {
            c.line++;
            if (text[length - 1] == '\n') check_line(&c, text, (size_t)length);
            else out->torn_bytes = length;
        }
        if (ferror(file)) kind = fault_set(f, FAULT_READ, "%s: %s", path, strerror(errno));
    }
    if (file) fclose(file);
    free(text);
    json_decref(c.runs);
    return kind;
}
