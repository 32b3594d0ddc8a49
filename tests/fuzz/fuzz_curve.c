/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves: a table (before the first byte 1) gives observations, the fit of which is a curve file; a second table (behind
 * it) is predicted from that curve, or else from the first table taken as a curve itself.
 */
#include <math.h>
#include <string.h>

#include "curve.h"
#include "fuzz.h"

static void predict(const char *curve, const char *data, int grouped, int outside)
{
    const predict_request request = {.curve_path = curve, .data_path = data, .x = "x", .by = grouped ? "g" : NULL, .outside = (curve_outside)outside};
    predict_report report;
    fault          f;
    char          *text = NULL;
    size_t         n    = 0;
    FILE          *out  = open_memstream(&text, &n);
    CHECK(out != NULL);
    const fault_kind kind = curve_predict(&request, out, &report, &f);
    CHECK(fclose(out) == 0);
    CHECK(kind == FAULT_NONE || f.message[0] != 0);
    CHECK(kind != FAULT_NONE || report.outside <= report.rows);
    CHECK(kind != FAULT_RANGE || outside == CURVE_OUTSIDE_ERROR);
    free(text);
}

/* The order that the solver needs, and a curve of the observations with z = their rank. */
static void check_data(const curve_data *d, FILE *curve)
{
    double *z = malloc((size_t)(d->n + 1) * sizeof *z);
    CHECK(z != NULL);
    CHECK(d->offsets[0] == 0 && d->offsets[d->groups] == d->n);
    for (int64_t k = 0; k < d->groups; k++) {
        CHECK(d->offsets[k] <= d->offsets[k + 1]);
        CHECK(k == 0 || strcmp(d->names[k - 1], d->names[k]) < 0);
        for (int64_t i = d->offsets[k]; i < d->offsets[k + 1]; i++) {
            const int first = i == d->offsets[k];
            CHECK(isfinite(d->x[i]) && isfinite(d->y[i]) && (d->w == NULL || (d->w[i] > 0 && isfinite(d->w[i]))));
            CHECK(first || d->x[i - 1] <= d->x[i]);
            if (!first && d->x[i - 1] == d->x[i])
                CHECK(d->direction == IH_DECREASING ? d->y[i - 1] <= d->y[i] : d->y[i - 1] >= d->y[i]);
            z[i] = (double)i;
        }
    }
    CHECK(curve_write(d, z, curve, NULL) == FAULT_NONE);
    free(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const curve_columns plain = {.x = "x", .y = "fit"}, grouped = {.x = "x", .y = "fit", .w = "weight", .by = "g"};
    const uint8_t *cut  = n > 0 ? memchr(bytes, 1, n) : NULL;
    const size_t   size = cut != NULL ? (size_t)(cut - bytes) : n;
    char           table[32], data[32];
    const int      table_fd = memory_file(bytes, size, table);
    const int      data_fd  = cut != NULL ? memory_file(cut + 1, n - size - 1, data) : memory_file(bytes, n, data);
    for (int way = 0; way < 4; way++) {
        curve_data d;
        fault      f;
        predict(table, data, way & 1, way % 3);
        const fault_kind kind = curve_read(table, way & 1 ? &grouped : &plain, way & 2 ? IH_DECREASING : IH_INCREASING, way & 2, &d, &f);
        CHECK(kind == FAULT_NONE || (f.message[0] != 0 && d.x == NULL));
        if (kind != FAULT_NONE) continue;
        char  *text = NULL, curve[32];
        size_t text_bytes = 0;
        FILE  *stream     = open_memstream(&text, &text_bytes);
        CHECK(stream != NULL);
        check_data(&d, stream);
        CHECK(fclose(stream) == 0);
        const int curve_fd = memory_file((const uint8_t *)text, text_bytes, curve);
        predict(curve, data, way & 1, CURVE_OUTSIDE_CLIP);
        close(curve_fd);
        free(text);
        curve_free(&d);
    }
    close(table_fd);
    close(data_fd);
    return 0;
}
