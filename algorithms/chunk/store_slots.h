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

IH_HD ih_point ih_store_vertex(const ih_store *s, const ih_segment *segment, int32_t v)
{
    const ih_chunk_record *record   = &s->records[segment->chunk];
    const int64_t          entry    = segment->slot + v, begin = (int64_t)segment->chunk * IH_SLOT_CHUNK;
    const int32_t          position = s->at[entry];
    ih_point               p        = { 0 };

    p.index  = begin + position;
    p.chunk  = segment->chunk;
    p.y.hi   = s->y[entry];
    p.y0     = record->y;
    p.err_y  = record->near_y;
    p.err_y0 = record->lost_y0;
    if (s->values.kind & IH_KIND_WEIGHTED) {
        p.x.hi   = s->x[entry];
        p.x0     = record->x;
        p.err_x  = record->near_x;
        p.err_x0 = record->lost_x0;
    } else {
        p.x.hi  = (double)position;
        p.x0.hi = (double)begin;
    }
    return p;
}

/* A vertex as exactly as it is known: its coordinates as pairs. */
IH_HD ih_point ih_store_refined(const ih_store *s, const ih_point *vertex)
{
    const ih_chunk_record *record = &s->records[vertex->chunk];
    const int32_t          kind   = s->values.kind;
    const int64_t          begin = vertex->chunk * s->size, length = s->n - begin < s->size ? s->n - begin : s->size;
    const int32_t          position = (int32_t)(vertex->index - begin), from = (position - (position == length)) / IH_STOP_STRIDE;
    const ih_pair         *stop = ih_store_stops(s, vertex->chunk);
    ih_sums                sums = { { 0, 0 }, { 0, 0 }, 0, 0 };
    ih_point               p    = *vertex;

    sums.y = stop[from];
    if (kind & IH_KIND_WEIGHTED) sums.x = stop[IH_SLOT_CHUNK / IH_STOP_STRIDE + from];
    for (int32_t i = from * IH_STOP_STRIDE; i < position; ++i) ih_sums_add(&sums, &s->values, begin + i, kind);
    p.y     = sums.y;
    p.err_y = record->lost_y;
    if (kind & IH_KIND_WEIGHTED) {
        p.x     = sums.x;
        p.err_x = record->lost_x;
    }
    return p;
}

#endif
