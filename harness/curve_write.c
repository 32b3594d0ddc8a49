/* SPDX-License-Identifier: Apache-2.0
 * curve_write.c: the problem of a curve, and the table of its fit. */
#include <string.h>

#include "curve.h"
#include "io/number.h"
#include "io/table.h"

void curve_problem(const curve_data *data, ih_problem *problem)
{
    ih_problem_init(problem);
    problem->dtype     = IH_F64;
    problem->direction = data->direction;
    problem->rows      = data->groups;
    problem->n         = data->n;
    problem->offsets   = data->offsets;
    problem->y         = data->y;
    problem->w         = data->w;
}

/* One row of the curve: the tied observations from first to last - 1, which have one fit. */
static void write_point(const curve_data *d, const char *group, const double *z, int64_t first, int64_t last, FILE *stream)
{
    char       x[NUMBER_TEXT_BYTES], fit[NUMBER_TEXT_BYTES], weight[NUMBER_TEXT_BYTES];
    double     sum = (double)(last - first);
    number_sum exact;
    if (d->w != NULL) {
        number_sum_clear(&exact);
        for (int64_t i = first; i < last; i++) number_sum_add(&exact, d->w[i]);
        sum = number_sum_round(&exact);
    }
    number_format(d->x[first], IH_F64, x);
    number_format(z[first], IH_F64, fit);
    number_format(sum, IH_F64, weight);
    if (d->by != NULL) {
        table_write_cell(stream, group, strlen(group));
        putc(',', stream);
    }
    fprintf(stream, "%s,%s,%s\n", x, fit, weight);
}

fault_kind curve_write(const curve_data *data, const double *z, FILE *stream, fault *f)
{
    if (data->by != NULL) {
        table_write_cell(stream, data->by, strlen(data->by));
        putc(',', stream);
    }
    fputs("x,fit,weight\n", stream);
    for (int64_t k = 0; k < data->groups; k++) {
        for (int64_t i = data->offsets[k], next; i < data->offsets[k + 1]; i = next) {
            for (next = i + 1; next < data->offsets[k + 1] && data->x[next] == data->x[i];) next++;
            write_point(data, data->names[k], z, i, next, stream);
        }
    }
    return ferror(stream) ? fault_set(f, FAULT_WRITE, "writing the curve failed") : FAULT_NONE;
}
