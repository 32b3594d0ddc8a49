/* SPDX-License-Identifier: Apache-2.0
 * test_device_memory.c: the workspace of a device's fits and gradients for each shape, against docs/workspace.md. Needs no device.
 *
 *   test_device_memory docs/workspace.md             compare with its table
 *   test_device_memory docs/workspace.md --print     write the rows of the table anew */
#include "isohull.h"

#include "datasets/problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arrays that are never looked at: only whether they are there counts. */
static int64_t nothing[2];

static size_t bytes_of(const ih_impl *impl, const ih_spec *s, const char *work)
{
    size_t      bytes = 0;
    ih_problem  p;
    ih_outputs  out;
    ih_gradient g;
    ih_status   status;

    ih_problem_init(&p);
    p.dtype   = s->dtype;
    p.rows    = s->rows;
    p.n       = s->ragged ? s->rows * s->n : s->n;
    p.offsets = s->ragged ? nothing : NULL;
    p.y       = nothing;
    p.w       = s->weighting ? nothing : NULL;
    ih_outputs_init(&out);
    ih_gradient_init(&g);
    out.z = nothing;
    if (strcmp(work, "z") != 0) out.block_offsets = out.block_starts = nothing;
    if (strcmp(work, "z, all block outputs") == 0) out.block_weights = out.block_means = (double *)(void *)nothing;
    g.block_offsets = g.block_starts = g.g = nothing;
    g.grad_y                               = nothing;
    if (strcmp(work, "gradient in y and w") == 0) g.grad_w = nothing;
    if (strncmp(work, "gradient", 8) == 0) status = ih_backward_workspace_bytes(impl, &p, NULL, &g, &bytes);
    else status = ih_workspace_bytes(impl, &p, NULL, &out, &bytes);
    if (status != IH_OK) {
        ih_error e = { .size = sizeof e };
        ih_last_error(&e);
        printf("%s\n", e.message);
        exit(1);
    }
    return bytes;
}

/* One row of the table: "| `problem` | work | bytes an element |". 1: wrong. */
static int check_row(const ih_impl *impl, const char *line, int print)
{
    static const char *const works[] = { "z", "z, starts of blocks", "z, all block outputs", "gradient in y", "gradient in y and w" };
    char    text[256], work[64], message[IH_SPEC_MESSAGE];
    double  stated, actual;
    ih_spec s;
    int     known = 0;

    if (sscanf(line, "| `%255[^`]` | %63[^|]| %lf |", text, work, &stated) != 3) return printf("not a row: %s", line) > 0;
    for (char *end = work + strlen(work); end > work && end[-1] == ' ';) *--end = 0;
    for (size_t k = 0; k < sizeof works / sizeof works[0]; ++k) known |= strcmp(works[k], work) == 0;
    if (!known || ih_spec_parse(&s, text, message, sizeof message)) return printf("%s, '%s': %s\n", text, work, known ? message : "no such work") > 0;
    actual = (double)bytes_of(impl, &s, work) / ((double)s.rows * (double)s.n);
    if (print) return printf("| `%s` | %s | %.2f |\n", text, work, ceil(actual * 100) / 100) < 0;
    if (actual <= stated && actual >= 0.9 * stated - 0.05) return 0;
    return printf("%s, %s: %.4f bytes an element instead of %.2f (test_device_memory --print writes the table anew)\n", text, work, actual, stated) > 0;
}

/* The paper's layout: at most 13 bytes an element beyond y and z. */
static int check_peak(const ih_impl *impl)
{
    ih_spec      s;
    char         message[IH_SPEC_MESSAGE];
    const double most = 13e8;

    if (ih_spec_parse(&s, "noise:f32:n=1e8", message, sizeof message)) return 1;
    if ((double)bytes_of(impl, &s, "z") <= most) return 0;
    return printf("one float32 row of 1e8 takes %zu bytes\n", bytes_of(impl, &s, "z")) > 0;
}

/* Sizes that cannot be are refused in words. */
static int check_overflow(const ih_impl *impl)
{
    static const struct { int64_t rows, n; int ragged; } sizes[] = {
        { 1, (int64_t)1 << 50, 0 }, { INT64_MAX / 64, 1, 0 }, { 1, (int64_t)1 << 56, 1 }, { INT64_MAX - 1, 1, 1 }, { (int64_t)1 << 40, (int64_t)1 << 40, 0 },
    };
    int bad = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
        size_t     bytes = 0;
        ih_problem p;
        ih_outputs out;
        ih_problem_init(&p);
        ih_outputs_init(&out);
        p.rows    = sizes[k].rows;
        p.n       = sizes[k].n;
        p.offsets = sizes[k].ragged ? nothing : NULL;
        p.y       = nothing;
        out.z     = nothing;
        const ih_status status = ih_workspace_bytes(impl, &p, NULL, &out, &bytes);
        if (status == IH_EOVERFLOW || (status == IH_OK && bytes > (size_t)1 << 50)) continue; /* so much that nobody has it */
        bad = printf("rows %" PRId64 ", n %" PRId64 ": %s and %zu bytes\n", p.rows, p.n, ih_status_name(status), bytes) > 0;
    }
    return bad;
}

int main(int argc, char **argv)
{
    const ih_impl *impl  = ih_impl_find("segments");
    const int      print = argc > 2 && strcmp(argv[2], "--print") == 0;
    FILE          *file  = argc > 1 ? fopen(argv[1], "r") : NULL;
    char           line[1024];
    int            bad = 0, rows = 0;

    if (!impl) return 77;
    if (!file) {
        fprintf(stderr, "usage: test_device_memory docs/workspace.md [--print]\n");
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "| `", 3) != 0) continue;
        bad |= check_row(impl, line, print);
        ++rows;
    }
    fclose(file);
    if (print) return bad;
    bad |= check_peak(impl) | check_overflow(impl);
    printf("%d shapes\n", rows);
    return bad || rows == 0;
}
