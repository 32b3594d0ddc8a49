/* SPDX-License-Identifier: Apache-2.0
 * curve_points.c: reading a curve file. */
#include "curve_points.h"

#include <stdlib.h>
#include <string.h>

#include "io/table.h"

typedef struct point {
    double  x, fit;
    int64_t group, line;
} point;

typedef struct reader {
    const source *s;
    const char   *by;
    bool          begun;
    int64_t       x, fit, group, width; /* group: -1 without */
    names        *groups;
    point        *list;
    int64_t       n, room;
} reader;

static fault_kind no_memory(const source *s, fault *f)
{
    return fault_set(f, FAULT_MEMORY, "%s: memory ran out", s->name);
}

static bool is_reserved(const char *name)
{
    return strcmp(name, "x") == 0 || strcmp(name, "fit") == 0 || strcmp(name, "weight") == 0;
}

static fault_kind find_group_column(reader *r, const table_row *header, fault *f)
{
    int64_t others = 0;
    r->group       = -1;
    for (int64_t i = 0; i < header->n_cells; i++) {
        if (is_reserved(header->cells[i].text)) continue;
        others++;
        r->group = i;
    }
    if (r->by == NULL && others == 0) return FAULT_NONE;
    if (r->by == NULL)
        return fault_set(f, FAULT_USAGE, "%s: the curve has a group column '%s': name the data's with --by", r->s->name,
                         header->cells[r->group].text);
    if (others == 0) return fault_set(f, FAULT_USAGE, "%s: the curve has no group column, so --by has no meaning", r->s->name);
    return others == 1 ? FAULT_NONE : table_find_column(r->s, header, r->by, &r->group, f);
}

static fault_kind begin(reader *r, const table_row *header, fault *f)
{
    r->begun        = true;
    r->width        = header->n_cells;
    fault_kind kind = table_find_column(r->s, header, "x", &r->x, f);
    if (kind == FAULT_NONE) kind = table_find_column(r->s, header, "fit", &r->fit, f);
    if (kind == FAULT_NONE) kind = find_group_column(r, header, f);
    /* Without groups there is one, also if the curve has no points. */
    if (kind == FAULT_NONE && r->group < 0 && names_add(r->groups, "", 0) < 0) kind = no_memory(r->s, f);
    return kind;
}

static fault_kind on_row(void *user, const table_row *row, fault *f)
{
    reader *r = user;
    if (!r->begun) return begin(r, row, f);
    point      p    = {.line = row->line};
    fault_kind kind = table_check_width(r->s, row, r->width, f);
    if (kind == FAULT_NONE) kind = table_number(r->s, row, r->x, "x", IH_F64, &p.x, f);
    if (kind == FAULT_NONE) kind = table_number(r->s, row, r->fit, "fit", IH_F64, &p.fit, f);
    if (kind == FAULT_NONE && r->group >= 0) {
        const table_cell *cell = &row->cells[r->group];
        if (strlen(cell->text) != cell->bytes)
            return table_cell_fault(r->s, row, r->group, r->by, FAULT_FORMAT, "holds a zero byte", f);
        p.group = names_add(r->groups, cell->text, cell->bytes);
        if (p.group < 0) kind = no_memory(r->s, f);
    }
    if (kind != FAULT_NONE) return kind;
    if (r->n == r->room) {
        const int64_t room   = 2 * r->room + 256;
        point        *larger = realloc(r->list, (size_t)room * sizeof *larger);
        if (larger == NULL) return no_memory(r->s, f);
        r->list = larger;
        r->room = room;
    }
    r->list[r->n++] = p;
    return FAULT_NONE;
}

static int compare(const void *pa, const void *pb)
{
    const point *a = pa, *b = pb;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static fault_kind lay_out(curve_points *c, const reader *r, fault *f)
{
    if (r->n > 0) qsort(r->list, (size_t)r->n, sizeof *r->list, compare);
    c->n       = r->n;
    c->offsets = calloc((size_t)c->groups.n + 1, sizeof *c->offsets);
    c->x       = malloc((size_t)(r->n + 1) * sizeof *c->x);
    c->fit     = malloc((size_t)(r->n + 1) * sizeof *c->fit);
    if (c->offsets == NULL || c->x == NULL || c->fit == NULL) return no_memory(r->s, f);
    for (int64_t i = 0; i < r->n; i++) {
        const point *p = &r->list[i];
        if (i > 0 && p[-1].group == p->group && p[-1].x == p->x) {
            fault_set(f, FAULT_VALUE, "%s: line %lld: x stands in line %lld already", r->s->name, (long long)p->line,
                      (long long)p[-1].line);
            if (f != NULL) f->line = p->line;
            return FAULT_VALUE;
        }
        c->x[i]   = p->x;
        c->fit[i] = p->fit;
        c->offsets[p->group + 1]++;
    }
    for (int64_t k = 0; k < c->groups.n; k++) c->offsets[k + 1] += c->offsets[k];
    return FAULT_NONE;
}

fault_kind curve_points_read(const char *path, const char *by, curve_points *curve, fault *f)
{
    source s;
    reader r = {.s = &s, .by = by, .group = -1, .groups = &curve->groups};
    *curve   = (curve_points){0};
    names_init(&curve->groups);
    fault_kind kind = source_open(&s, path, f);
    if (kind != FAULT_NONE) return kind;
    kind = table_each_row(&s, NULL, on_row, &r, f);
    if (kind == FAULT_NONE && !r.begun) kind = fault_set(f, FAULT_FORMAT, "%s: no header line", path);
    if (kind == FAULT_NONE) kind = lay_out(curve, &r, f);
    source_close(&s);
    free(r.list);
    if (kind != FAULT_NONE) curve_points_free(curve);
    return kind;
}

void curve_points_free(curve_points *curve)
{
    names_free(&curve->groups);
    free(curve->offsets);
    free(curve->x);
    free(curve->fit);
    *curve = (curve_points){0};
}

int64_t curve_points_group(const curve_points *curve, const char *name, size_t bytes)
{
    if (memchr(name, 0, bytes) != NULL) return -1;
    return names_find(&curve->groups, name, bytes);
}
