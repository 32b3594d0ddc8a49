/* SPDX-License-Identifier: Apache-2.0
 * curve_data.c: observations from a CSV table or from arrays, sorted as the solver takes them. */
#include "curve.h"

#include <stdlib.h>
#include <string.h>

#include "io/table.h"
#include "names.h"

typedef struct observation {
    double  x, y, w;
    int64_t group, source;
} observation;

typedef struct reader {
    const source        *s;
    const curve_columns *columns;
    bool                 skip_missing, begun;
    int64_t              x, y, w, by; /* places of the columns; -1: not used */
    int64_t              width;
    names                groups;
    observation         *list;
    int64_t              n, room, skipped;
} reader;

static fault_kind no_memory(const char *what, fault *f)
{
    return fault_set(f, FAULT_MEMORY, "%s: memory ran out", what);
}

static fault_kind begin(reader *r, const table_row *header, fault *f)
{
    const curve_columns *c = r->columns;
    r->begun               = true;
    r->width               = header->n_cells;
    r->w = r->by = -1;
    fault_kind kind = table_find_column(r->s, header, c->x, &r->x, f);
    if (kind == FAULT_NONE) kind = table_find_column(r->s, header, c->y, &r->y, f);
    if (kind == FAULT_NONE && c->w != NULL) kind = table_find_column(r->s, header, c->w, &r->w, f);
    if (kind == FAULT_NONE && c->by != NULL) kind = table_find_column(r->s, header, c->by, &r->by, f);
    return kind;
}

static bool any_missing(const reader *r, const table_row *row)
{
    return table_is_missing(&row->cells[r->x]) || table_is_missing(&row->cells[r->y]) ||
        (r->w >= 0 && table_is_missing(&row->cells[r->w])) || (r->by >= 0 && table_is_missing(&row->cells[r->by]));
}

static fault_kind read_group(reader *r, const table_row *row, int64_t *group, fault *f)
{
    *group = 0;
    if (r->by < 0) return FAULT_NONE;
    const table_cell *cell = &row->cells[r->by];
    if (table_is_missing(cell)) return table_cell_fault(r->s, row, r->by, r->columns->by, FAULT_MISSING, "is missing", f);
    if (strlen(cell->text) != cell->bytes)
        return table_cell_fault(r->s, row, r->by, r->columns->by, FAULT_FORMAT, "holds a zero byte", f);
    *group = names_add(&r->groups, cell->text, cell->bytes);
    return *group < 0 ? no_memory(r->s->name, f) : FAULT_NONE;
}

static fault_kind on_row(void *user, const table_row *row, fault *f)
{
    reader *r = user;
    if (!r->begun) return begin(r, row, f);
    fault_kind kind = table_check_width(r->s, row, r->width, f);
    if (kind != FAULT_NONE) return kind;
    if (r->skip_missing && any_missing(r, row)) {
        r->skipped++;
        return FAULT_NONE;
    }
    observation o = {.w = 1, .source = r->n};
    kind          = table_number(r->s, row, r->x, r->columns->x, IH_F64, &o.x, f);
    if (kind == FAULT_NONE) kind = table_number(r->s, row, r->y, r->columns->y, IH_F64, &o.y, f);
    if (kind == FAULT_NONE && r->w >= 0) {
        kind = table_number(r->s, row, r->w, r->columns->w, IH_F64, &o.w, f);
        if (kind == FAULT_NONE && !(o.w > 0))
            kind = table_cell_fault(r->s, row, r->w, r->columns->w, FAULT_VALUE, "is not a positive weight", f);
    }
    if (kind == FAULT_NONE) kind = read_group(r, row, &o.group, f);
    if (kind != FAULT_NONE) return kind;
    if (r->n == r->room) {
        const int64_t room   = 2 * r->room + 1024;
        observation  *larger = realloc(r->list, (size_t)room * sizeof *larger);
        if (larger == NULL) return no_memory(r->s->name, f);
        r->list = larger;
        r->room = room;
    }
    r->list[r->n++] = o;
    return FAULT_NONE;
}

/* Group, then x (-0 and +0 are one), then y from the top, so that equal x are adjacent violators and pool exactly. For a
 * decreasing fit y rises. */
static int compare(const void *pa, const void *pb, void *user)
{
    const observation *a = pa, *b = pb;
    const int          turn = *(const ih_direction *)user == IH_DECREASING ? -1 : 1;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    if (a->y != b->y) return a->y > b->y ? -turn : turn;
    return (a->source > b->source) - (a->source < b->source);
}

/* Sort the list and lay it out as arrays. groups: how many; their numbers are in order. */
static fault_kind lay_out(curve_data *d, observation *list, int64_t n, int64_t groups, bool weights, const char *name,
                          fault *f)
{
    const size_t room = (size_t)(n > 0 ? n : 1);
    if (n > 0) qsort_r(list, (size_t)n, sizeof *list, compare, &d->direction);
    d->n       = n;
    d->offsets = calloc((size_t)groups + 1, sizeof *d->offsets);
    d->x       = malloc(room * sizeof *d->x);
    d->y       = malloc(room * sizeof *d->y);
    d->w       = weights ? malloc(room * sizeof *d->w) : NULL;
    d->source  = malloc(room * sizeof *d->source);
    if (d->offsets == NULL || d->x == NULL || d->y == NULL || (weights && d->w == NULL) || d->source == NULL)
        return no_memory(name, f);
    for (int64_t i = 0; i < n; i++) {
        d->x[i]      = list[i].x + 0.0; /* -0 becomes +0 */
        d->y[i]      = list[i].y;
        d->source[i] = list[i].source;
        if (weights) d->w[i] = list[i].w;
        d->offsets[list[i].group + 1]++;
    }
    for (int64_t k = 0; k < groups; k++) d->offsets[k + 1] += d->offsets[k];
    return FAULT_NONE;
}

/* Number the groups by the order of their names, and hand the names over. */
static fault_kind sort_groups(curve_data *d, reader *r, fault *f)
{
    const bool grouped = r->columns->by != NULL;
    int64_t   *rank    = NULL;
    if (!grouped && names_add(&r->groups, "", 0) < 0) return no_memory(r->s->name, f);
    const int64_t n = r->groups.n;
    d->names        = calloc((size_t)n + 1, sizeof *d->names);
    d->by           = grouped ? strdup(r->columns->by) : NULL;
    rank            = malloc(((size_t)n + 1) * sizeof *rank);
    if (d->names == NULL || rank == NULL || (grouped && d->by == NULL) || !names_rank(&r->groups, rank)) {
        free(rank);
        return no_memory(r->s->name, f);
    }
    for (int64_t i = 0; i < r->n; i++) r->list[i].group = rank[r->list[i].group];
    for (int64_t k = 0; k < n; k++) {
        d->names[rank[k]]  = r->groups.text[k];
        r->groups.text[k]  = NULL;
    }
    d->groups = n;
    free(rank);
    return FAULT_NONE;
}

static fault_kind check_names(const curve_columns *c, fault *f)
{
    static const char *const taken[] = {"x", "fit", "weight"};
    for (size_t i = 0; c->by != NULL && i < sizeof taken / sizeof taken[0]; i++)
        if (strcmp(c->by, taken[i]) == 0)
            return fault_set(f, FAULT_USAGE, "the group column cannot be called '%s': the curve has a column of that name",
                             c->by);
    return FAULT_NONE;
}

fault_kind curve_read(const char *path, const curve_columns *columns, ih_direction direction, bool skip_missing,
                      curve_data *data, fault *f)
{
    source s;
    reader r = {.s = &s, .columns = columns, .skip_missing = skip_missing};
    *data    = (curve_data){.direction = direction};
    names_init(&r.groups);
    fault_kind kind = check_names(columns, f);
    if (kind != FAULT_NONE) return kind;
    kind = source_open(&s, path, f);
    if (kind != FAULT_NONE) return kind;
    kind = table_each_row(&s, NULL, on_row, &r, f);
    source_close(&s);
    if (kind == FAULT_NONE && !r.begun) kind = fault_set(f, FAULT_FORMAT, "%s: no header line", path);
    if (kind == FAULT_NONE) kind = sort_groups(data, &r, f);
    if (kind == FAULT_NONE) kind = lay_out(data, r.list, r.n, data->groups, columns->w != NULL, path, f);
    data->skipped = r.skipped;
    names_free(&r.groups);
    free(r.list);
    if (kind != FAULT_NONE) curve_free(data);
    return kind;
}

fault_kind curve_from_arrays(const double *x, const double *y, const double *w, int64_t n, ih_direction direction,
                             curve_data *data, fault *f)
{
    *data             = (curve_data){.direction = direction, .groups = 1};
    observation *list = malloc((size_t)(n > 0 ? n : 1) * sizeof *list);
    data->names       = calloc(1, sizeof *data->names);
    if (data->names != NULL) data->names[0] = strdup("");
    fault_kind kind = list == NULL || data->names == NULL || data->names[0] == NULL ? no_memory("curve", f) : FAULT_NONE;
    for (int64_t i = 0; i < n && kind == FAULT_NONE; i++)
        list[i] = (observation){.x = x[i], .y = y[i], .w = w != NULL ? w[i] : 1, .source = i};
    if (kind == FAULT_NONE) kind = lay_out(data, list, n, 1, w != NULL, "curve", f);
    free(list);
    if (kind != FAULT_NONE) curve_free(data);
    return kind;
}

void curve_free(curve_data *data)
{
    for (int64_t k = 0; data->names != NULL && k < data->groups; k++) free(data->names[k]);
    free(data->names);
    free(data->by);
    free(data->offsets);
    free(data->x);
    free(data->y);
    free(data->w);
    free(data->source);
    *data = (curve_data){0};
}
