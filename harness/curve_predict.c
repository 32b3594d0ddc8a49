/* SPDX-License-Identifier: Apache-2.0
 * curve_predict.c: evaluation of curves at the rows of a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve.h"
#include "curve_points.h"
#include "io/number.h"
#include "io/table.h"

/* Between two points, with both differences past the range taken care of. t rises with the query and every operation
 * rounds monotonically, so the values never step against the curve. */
static double interpolate(double x0, double x1, double fit0, double fit1, double query)
{
    double t = (query - x0) / (x1 - x0);
    if (isinf(x1 - x0)) t = (query / 2 - x0 / 2) / (x1 / 2 - x0 / 2); /* some x is huge: halving loses nothing that counts */
    const double difference = fit1 - fit0;
    const double value      = isinf(difference) ? fit0 * (1 - t) + fit1 * t : fit0 + t * difference;
    return fit0 <= fit1 ? fmin(fmax(value, fit0), fit1) : fmin(fmax(value, fit1), fit0);
}

double curve_value(const double *x, const double *fit, int64_t n, double query, bool *outside)
{
    *outside = n == 0 || !(query >= x[0] && query <= x[n - 1]);
    if (n == 0) return NAN;
    if (query <= x[0]) return fit[0];
    if (query >= x[n - 1]) return fit[n - 1];
    int64_t low = 0, high = n - 1; /* x[low] <= query < x[high] */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (x[middle] <= query)
            low = middle;
        else
            high = middle;
    }
    return query == x[low] ? fit[low] : interpolate(x[low], x[high], fit[low], fit[high], query);
}

typedef struct predictor {
    const source          *s;
    const predict_request *request;
    const curve_points    *curve;
    predict_report        *report;
    FILE                  *stream;
    const table_style     *style;
    int64_t                x, by, width;
    bool                   begun;
} predictor;

static void write_row(const predictor *p, const table_row *row, const char *last)
{
    fwrite(row->raw, 1, row->raw_bytes, p->stream);
    fprintf(p->stream, ",%s%s", last, p->style->crlf ? "\r\n" : "\n");
}

static fault_kind begin(predictor *p, const table_row *header, fault *f)
{
    p->begun        = true;
    p->width        = header->n_cells;
    p->by           = -1;
    fault_kind kind = table_find_column(p->s, header, p->request->x, &p->x, f);
    if (kind == FAULT_NONE && p->request->by != NULL)
        kind = table_find_column(p->s, header, p->request->by, &p->by, f);
    for (int64_t i = 0; kind == FAULT_NONE && i < header->n_cells; i++) {
        if (strcmp(header->cells[i].text, "fit") != 0) continue;
        kind = fault_set(f, FAULT_COLUMN, "%s: line %lld: there is a column 'fit' already", p->s->name,
                         (long long)header->line);
        if (f != NULL) f->line = header->line;
    }
    if (kind == FAULT_NONE) {
        if (p->style->byte_order_mark) fputs("\xef\xbb\xbf", p->stream);
        write_row(p, header, "fit");
    }
    return kind;
}

static fault_kind outside_fault(const predictor *p, const table_row *row, int64_t group, fault *f)
{
    char what[2 * NUMBER_TEXT_BYTES + 64], low[NUMBER_TEXT_BYTES], high[NUMBER_TEXT_BYTES];
    if (group < 0) return table_cell_fault(p->s, row, p->by, p->request->by, FAULT_RANGE, "is no group of the curve", f);
    if (p->curve->n == 0) return table_cell_fault(p->s, row, p->x, p->request->x, FAULT_RANGE, "is outside the empty curve", f);
    number_format(p->curve->x[p->curve->offsets[group]], IH_F64, low);
    number_format(p->curve->x[p->curve->offsets[group + 1] - 1], IH_F64, high);
    snprintf(what, sizeof what, "is outside the curve, which goes from %s to %s", low, high);
    return table_cell_fault(p->s, row, p->x, p->request->x, FAULT_RANGE, what, f);
}

static fault_kind on_row(void *user, const table_row *row, fault *f)
{
    predictor *p = user;
    if (!p->begun) return begin(p, row, f);
    double     query, value = NAN;
    bool       outside = true;
    fault_kind kind    = table_check_width(p->s, row, p->width, f);
    if (kind == FAULT_NONE) kind = table_number(p->s, row, p->x, p->request->x, IH_F64, &query, f);
    if (kind != FAULT_NONE) return kind;
    const char   *name  = p->by >= 0 ? row->cells[p->by].text : "";
    const int64_t group = curve_points_group(p->curve, name, p->by >= 0 ? row->cells[p->by].bytes : 0);
    if (group >= 0) {
        const int64_t first = p->curve->offsets[group];
        value = curve_value(p->curve->x + first, p->curve->fit + first, p->curve->offsets[group + 1] - first, query, &outside);
    }
    p->report->rows++;
    p->report->outside += outside;
    if (outside && p->request->outside == CURVE_OUTSIDE_ERROR) return outside_fault(p, row, group, f);
    if (outside && p->request->outside == CURVE_OUTSIDE_NAN) value = NAN;
    char text[NUMBER_TEXT_BYTES];
    number_format(value, IH_F64, text);
    write_row(p, row, text);
    return FAULT_NONE;
}

fault_kind curve_predict(const predict_request *request, FILE *stream, predict_report *report, fault *f)
{
    source       s;
    curve_points curve;
    table_style  style = {0};
    predictor    p     = {.s = &s, .request = request, .curve = &curve, .report = report, .stream = stream, .style = &style};
    *report            = (predict_report){0};
    fault_kind kind    = curve_points_read(request->curve_path, request->by, &curve, f);
    if (kind != FAULT_NONE) return kind;
    kind = source_open(&s, request->data_path, f);
    if (kind == FAULT_NONE) {
        kind = table_each_row(&s, &style, on_row, &p, f);
        source_close(&s);
        if (kind == FAULT_NONE && !p.begun) kind = fault_set(f, FAULT_FORMAT, "%s: no header line", request->data_path);
    }
    curve_points_free(&curve);
    if (kind == FAULT_NONE && ferror(stream)) kind = fault_set(f, FAULT_WRITE, "writing the predictions failed");
    return kind;
}
