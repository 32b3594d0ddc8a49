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

/* A vertex as it stands in its slot. */
typedef struct ih_vertex {
    int64_t index; /* within the row                                                       */
    int32_t chunk;
    double  y, x;  /* from the chunk's start, off by at most near of its record; x with weights only */
} ih_vertex;

IH_HD ih_vertex ih_store_vertex(const ih_store *s, const ih_segment *segment, int32_t v)
{
    const int64_t entry = segment->slot + v;
    ih_vertex     p;
    p.chunk = segment->chunk;
    p.index = (int64_t)segment->chunk * IH_SLOT_CHUNK + s->at[entry];
    p.y     = s->y[entry];
    p.x     = s->values.kind & IH_KIND_WEIGHTED ? s->x[entry] : 0;
    return p;
}

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

/* b - a of vertices, and a bound on its error. */
IH_HD double ih_store_gap_y(const ih_store *s, const ih_vertex *a, const ih_vertex *b, double *error)
{
    const ih_chunk_record *ra = &s->records[a->chunk], *rb = &s->records[b->chunk];
    const int32_t          same = a->chunk == b->chunk;
    return ih_vertex_gap(a->y, b->y, ra->y, rb->y, ra->near_y + (same ? 0 : ra->lost_y0), rb->near_y + (same ? 0 : rb->lost_y0), same, error);
}

IH_HD double ih_store_gap_x(const ih_store *s, const ih_vertex *a, const ih_vertex *b, double *error)
{
    const ih_chunk_record *ra = &s->records[a->chunk], *rb = &s->records[b->chunk];
    const int32_t          same = a->chunk == b->chunk;
    *error = 0;
    if (!(s->values.kind & IH_KIND_WEIGHTED)) return ih_index_double(b->index - a->index);
    return ih_vertex_gap(a->x, b->x, ra->x, rb->x, ra->near_x + (same ? 0 : ra->lost_x0), rb->near_x + (same ? 0 : rb->lost_x0), same, error);
}

/* The first filter on vertices as they stand. */
IH_HD ih_turn ih_store_turn(const ih_store *s, const ih_vertex *a, const ih_vertex *b, const ih_vertex *d)
{
    double       ey1, ey2, ex1, ex2;
    const double y1 = ih_store_gap_y(s, a, b, &ey1), y2 = ih_store_gap_y(s, b, d, &ey2);
    const double x1 = ih_store_gap_x(s, a, b, &ex1), x2 = ih_store_gap_x(s, b, d, &ex2);
    return ih_turn_filter(x1, ex1, y1, ey1, x2, ex2, y2, ey2);
}

/* A vertex as exactly as it is known: its coordinates as pairs. */
IH_HD ih_point ih_store_refined(const ih_store *s, const ih_vertex *vertex)
{
    const ih_chunk_record *record = &s->records[vertex->chunk];
    const int32_t          kind   = s->values.kind;
    const int64_t          begin = vertex->chunk * (int64_t)s->size, length = s->n - begin < s->size ? s->n - begin : s->size;
    const int32_t          position = (int32_t)(vertex->index - begin), from = (position - (position == length)) / IH_STOP_STRIDE;
    const ih_pair         *stop = ih_store_stops(s, vertex->chunk);
    ih_sums                sums = { { 0, 0 }, { 0, 0 }, 0, 0 };
    ih_point               p;

    sums.y = stop[from];
    if (kind & IH_KIND_WEIGHTED) sums.x = stop[IH_SLOT_CHUNK / IH_STOP_STRIDE + from];
    for (int32_t i = from * IH_STOP_STRIDE; i < position; ++i) ih_sums_add(&sums, &s->values, begin + i, kind);
    p.index  = vertex->index;
    p.chunk  = vertex->chunk;
    p.y      = sums.y;
    p.y0     = record->y;
    p.err_y  = record->lost_y + sums.lost_y * (1 + 0x1p-10);
    p.err_y0 = record->lost_y0;
    p.x      = sums.x;
    p.x0     = record->x;
    p.err_x  = record->lost_x + sums.lost_x * (1 + 0x1p-10);
    p.err_x0 = record->lost_x0;
    if (!(kind & IH_KIND_WEIGHTED)) {
        p.x.hi  = (double)position;
        p.x.lo  = p.x0.lo = 0;
        p.x0.hi = (double)begin;
        p.err_x = p.err_x0 = 0;
    }
    return p;
}

#endif
