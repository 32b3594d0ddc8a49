/* SPDX-License-Identifier: Apache-2.0
 * store_slots.h: vertices as a device keeps them (paper 3.2): a slot for each chunk with the vertices' positions and
 * coordinates, each of one double, which a walk reads at once; and the pairs of every 32nd prefix sum, from which the
 * coordinates are formed again as pairs where one double does not decide. */
#ifndef IH_CHUNK_STORE_SLOTS_H
#define IH_CHUNK_STORE_SLOTS_H

#include "../common/segment.h"
#include "../common/turn.h"
#include "../common/values.h"

enum { IH_STOP_STRIDE = 32, IH_SLOT_CHUNK = 1024 };

/* One chunk of a row. */
typedef struct ih_chunk_record {
    ih_pair y, x;             /* its total, then (after the scan) its start in the row; x without weights unused */
    double  lost_y, lost_x;   /* bounds on the error of its pairs                                                */
    double  near_y, near_x;   /* bounds on the error of its vertices' coordinates, one double each               */
    double  lost_y0, lost_x0; /* after the scan: bounds on the error of the start                                */
    double  rest_y, rest_x;   /* likewise: of start hi + coordinate of a vertex, before it is rounded            */
} ih_chunk_record;

/* Of one row. Slot of chunk j: IH_SLOT_CHUNK + 1 entries from j (IH_SLOT_CHUNK + 1). */
typedef struct ih_store {
    ih_values              values;
    int64_t                n;       /* elements of the row                        */
    int64_t                chunks;  /* m                                          */
    int32_t                size;    /* IH_SLOT_CHUNK                              */
    const uint16_t        *at;      /* positions                                  */
    const double          *y, *x;   /* coordinates from the chunk's start; x with weights only */
    const ih_pair         *stops;   /* [m][32] of y (and, with weights, [32] of x behind them) */
    const ih_chunk_record *records; /* [m]                                        */
} ih_store;

IH_HD int64_t ih_store_slot(const ih_store *s, int64_t chunk)
{
    (void)s;
    return chunk * (IH_SLOT_CHUNK + 1);
}

IH_HD const ih_pair *ih_store_stops(const ih_store *s, int64_t chunk)
{
    return s->stops + chunk * (IH_SLOT_CHUNK / IH_STOP_STRIDE) * (s->values.kind & IH_KIND_WEIGHTED ? 2 : 1);
}

IH_HD int32_t ih_store_position(const ih_store *s, int64_t slot, int32_t v) { return s->at[slot + v]; }

IH_HD int64_t ih_store_index(const ih_store *s, const ih_segment *segment, int32_t v)
{
    return (int64_t)segment->chunk * IH_SLOT_CHUNK + ih_store_position(s, segment->slot, v);
}

/* A vertex: its coordinates in the row, rounded to one double each, and bounds on their errors; x with weights only. */
typedef struct ih_vertex {
    int64_t index;   /* within the row                */
    int64_t entry;   /* of its coordinates from the chunk's start, in the row's slots */
    double  y, x;
    double  error_y, error_x;
} ih_vertex;

IH_HD ih_vertex ih_store_vertex(const ih_store *s, const ih_segment *segment, int32_t v)
{
    const ih_chunk_record *record = &s->records[segment->chunk];
    ih_vertex              p;
    p.entry   = segment->slot + v;
    p.index   = (int64_t)segment->chunk * IH_SLOT_CHUNK + s->at[p.entry];
    p.y       = record->y.hi + s->y[p.entry];
    p.error_y = 0x1p-53 * fabs(p.y) + record->rest_y;
    p.x = p.error_x = 0;
    if (s->values.kind & IH_KIND_WEIGHTED) {
        p.x       = record->x.hi + s->x[p.entry];
        p.error_x = 0x1p-53 * p.x + record->rest_x;
    }
    return p;
}

IH_HD int64_t ih_vertex_chunk(const ih_vertex *p) { return p->entry / (IH_SLOT_CHUNK + 1); }

/* b - a in one coordinate, and a bound on its error: as ih_difference, with the terms that there are. */
IH_HD double ih_vertex_gap(double a, double b, ih_pair a0, ih_pair b0, double a_error, double b_error, int32_t same, double *error)
{
    const double in = b - a;
    if (same) {
        *error = 0x1p-52 * fabs(in) + (a_error + b_error);
        return in;
    }
    {
        const double start = b0.hi - a0.hi, low = b0.lo - a0.lo;
        *error = 0x1p-51 * (fabs(start) + fabs(in) + fabs(low)) + (a_error + b_error);
        return (start + in) + low;
    }
}

/* b - a of vertices from the parts, and a bound on its error. */
IH_HD double ih_store_gap_y(const ih_store *s, const ih_vertex *a, const ih_vertex *b, double *error)
{
    const int64_t          ca = ih_vertex_chunk(a), cb = ih_vertex_chunk(b);
    const ih_chunk_record *ra = &s->records[ca], *rb = &s->records[cb];
    const int32_t          same = ca == cb;
    return ih_vertex_gap(s->y[a->entry], s->y[b->entry], ra->y, rb->y, ra->near_y + (same ? 0 : ra->lost_y0), rb->near_y + (same ? 0 : rb->lost_y0), same, error);
}

IH_HD double ih_store_gap_x(const ih_store *s, const ih_vertex *a, const ih_vertex *b, double *error)
{
    const int64_t          ca = ih_vertex_chunk(a), cb = ih_vertex_chunk(b);
    const ih_chunk_record *ra = &s->records[ca], *rb = &s->records[cb];
    const int32_t          same = ca == cb;
    *error = 0;
    if (!(s->values.kind & IH_KIND_WEIGHTED)) return ih_index_double(b->index - a->index);
    return ih_vertex_gap(s->x[a->entry], s->x[b->entry], ra->x, rb->x, ra->near_x + (same ? 0 : ra->lost_x0), rb->near_x + (same ? 0 : rb->lost_x0), same, error);
}

/* The first filter: coordinates in the row, whose differences t are off by u |t| and the errors of both ends. The roundings of t and of
 * the products are below 3 u (|p1| + |p2|). */
IH_HD ih_turn ih_store_turn_far(const ih_store *s, const ih_vertex *a, const ih_vertex *b, const ih_vertex *d)
{
    const int32_t weighted = s->values.kind & IH_KIND_WEIGHTED;
    const double  x1 = weighted ? b->x - a->x : ih_index_double(b->index - a->index), x2 = weighted ? d->x - b->x : ih_index_double(d->index - b->index);
    const double  y1 = b->y - a->y, y2 = d->y - b->y, ey1 = a->error_y + b->error_y, ey2 = b->error_y + d->error_y;
    const double  p1 = y1 * x2, p2 = y2 * x1, c = p2 - p1;
    double        bound = ey1 * x2 + ey2 * x1 + 0x1p-51 * (fabs(p1) + fabs(p2));
    if (weighted) {
        const double ex1 = a->error_x + b->error_x, ex2 = b->error_x + d->error_x;
        bound += ex2 * (fabs(y1) + ey1) + ex1 * (fabs(y2) + ey2);
    }
    return fabs(c) > bound * (1 + 0x1p-40) ? (c > 0 ? IH_TURN_CONVEX : IH_TURN_FLAT) : IH_TURN_UNDECIDED;
}

/* The second: differences from the parts, which are as good as they are near. */
IH_HD ih_turn ih_store_turn_parts(const ih_store *s, const ih_vertex *a, const ih_vertex *b, const ih_vertex *d)
{
    double       ey1, ey2, ex1, ex2;
    const double y1 = ih_store_gap_y(s, a, b, &ey1), y2 = ih_store_gap_y(s, b, d, &ey2);
    const double x1 = ih_store_gap_x(s, a, b, &ex1), x2 = ih_store_gap_x(s, b, d, &ex2);
    return ih_turn_filter(x1, ex1, y1, ey1, x2, ex2, y2, ey2);
}

/* On vertices as they stand. */
IH_HD ih_turn ih_store_turn(const ih_store *s, const ih_vertex *a, const ih_vertex *b, const ih_vertex *d)
{
    const ih_turn turn = ih_store_turn_far(s, a, b, d);
    return turn != IH_TURN_UNDECIDED ? turn : ih_store_turn_parts(s, a, b, d);
}

/* The prefix sum to begin with, and the row's element from which on values are missing in it. */
typedef struct ih_refined { ih_sums sums; int64_t from; } ih_refined;

IH_HD ih_refined ih_store_refined_from(const ih_store *s, const ih_vertex *vertex)
{
    const int64_t  chunk = ih_vertex_chunk(vertex), begin = chunk * s->size, length = s->n - begin < s->size ? s->n - begin : s->size;
    const int32_t  position = (int32_t)(vertex->index - begin), from = (position - (position == length)) / IH_STOP_STRIDE;
    const ih_pair *stop = ih_store_stops(s, chunk);
    ih_refined     r = { { { 0, 0 }, { 0, 0 }, 0, 0 }, 0 };
    r.from   = begin + from * IH_STOP_STRIDE;
    r.sums.y = stop[from];
    if (s->values.kind & IH_KIND_WEIGHTED) r.sums.x = stop[IH_SLOT_CHUNK / IH_STOP_STRIDE + from];
    return r;
}

/* The vertex whose prefix sums from the chunk's start are these. */
IH_HD ih_point ih_store_refined_point(const ih_store *s, const ih_vertex *vertex, const ih_sums *sums)
{
    const int64_t          chunk  = ih_vertex_chunk(vertex), begin = chunk * s->size;
    const ih_chunk_record *record = &s->records[chunk];
    ih_point               p;
    p.index  = vertex->index;
    p.chunk  = chunk;
    p.y      = sums->y;
    p.y0     = record->y;
    p.err_y  = record->lost_y + sums->lost_y * (1 + 0x1p-10);
    p.err_y0 = record->lost_y0;
    p.x      = sums->x;
    p.x0     = record->x;
    p.err_x  = record->lost_x + sums->lost_x * (1 + 0x1p-10);
    p.err_x0 = record->lost_x0;
    if (!(s->values.kind & IH_KIND_WEIGHTED)) {
        p.x.hi  = (double)(vertex->index - begin);
        p.x.lo  = p.x0.lo = 0;
        p.x0.hi = (double)begin;
        p.err_x = p.err_x0 = 0;
    }
    return p;
}

/* A vertex as exactly as it is known: its coordinates as pairs. */
IH_HD ih_point ih_store_refined(const ih_store *s, const ih_vertex *vertex)
{
    ih_refined r = ih_store_refined_from(s, vertex);
    for (int64_t i = r.from; i < vertex->index; ++i) ih_sums_add(&r.sums, &s->values, i, s->values.kind);
    return ih_store_refined_point(s, vertex, &r.sums);
}

#endif
