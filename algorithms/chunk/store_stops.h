/* SPDX-License-Identifier: Apache-2.0
 * store_stops.h: vertices as the CPU keeps them, in few bytes: the position of each in its chunk (2 bytes, 4 for chunks beyond
 * 65535 elements) and the pairs of every 16th prefix sum (1 byte an element, 2 with weights), from which a vertex's
 * coordinates are formed again by at most 15 additions: the same additions in the same order, hence the same bits as in
 * the chunk stage. */
#ifndef IH_CHUNK_STORE_STOPS_H
#define IH_CHUNK_STORE_STOPS_H

#include "../common/segment.h"
#include "../common/turn.h"
#include "../common/values.h"

enum { IH_STOP_STRIDE = 16 };

/* One chunk of a row. */
typedef struct ih_chunk_record {
    ih_pair y, x;           /* its total, then (after the scan) its start in the row; x without weights unused       */
    double  lost_y, lost_x; /* bounds on the error of its pairs                                                      */
    int32_t vertices;       /* of its hull, both ends included                                                       */
    int32_t unused;
} ih_chunk_record;

typedef struct ih_store {
    ih_values              values;   /* of the row                                                                   */
    int64_t                n;        /* elements of the row                                                          */
    int64_t                chunks;   /* m                                                                            */
    int32_t                size;     /* C, elements of every chunk but the last                                      */
    int32_t                wide;     /* positions of 4 bytes                                                         */
    void                  *slots;    /* the row's first slot; slot of chunk j at j (C + 1)                           */
    ih_pair               *stops;    /* the row's first; stops of chunk j at j (C / 16 + 1) (times 2 with weights)   */
    ih_chunk_record       *records;  /* [m]                                                                          */
    double                 lost_y0, lost_x0; /* bounds on the error of the starts                                    */
} ih_store;

IH_HD int64_t ih_store_slot(const ih_store *s, int64_t chunk) { return chunk * ((int64_t)s->size + 1); }

IH_HD ih_pair *ih_store_stops(const ih_store *s, int64_t chunk)
{
    const int64_t each = (s->size + IH_STOP_STRIDE - 1) / IH_STOP_STRIDE;
    return s->stops + chunk * each * (s->values.kind & IH_KIND_WEIGHTED ? 2 : 1);
}

/* Position in its chunk of vertex v of a slot. */
IH_HD int32_t ih_store_position(const ih_store *s, int64_t slot, int32_t v)
{
    return s->wide ? (int32_t)((const uint32_t *)s->slots)[slot + v] : (int32_t)((const uint16_t *)s->slots)[slot + v];
}

IH_HD void ih_store_put(const ih_store *s, int64_t slot, int32_t v, int32_t position)
{
    if (s->wide) ((uint32_t *)s->slots)[slot + v] = (uint32_t)position;
    else ((uint16_t *)s->slots)[slot + v] = (uint16_t)position;
}

IH_HD int64_t ih_store_index(const ih_store *s, const ih_segment *segment, int32_t v)
{
    return (int64_t)segment->chunk * s->size + ih_store_position(s, segment->slot, v);
}

typedef ih_point ih_vertex;

IH_HD ih_vertex ih_store_vertex(const ih_store *s, const ih_segment *segment, int32_t v)
{
    const ih_chunk_record *record   = &s->records[segment->chunk];
    const int32_t          kind     = s->values.kind, position = ih_store_position(s, segment->slot, v);
    const int64_t          begin    = (int64_t)segment->chunk * s->size;
    const int64_t          length   = s->n - begin < s->size ? s->n - begin : s->size;
    int32_t                from     = position / IH_STOP_STRIDE;
    const ih_pair         *stop;
    ih_sums                sums = { { 0, 0 }, { 0, 0 }, 0, 0 };
    ih_point               p    = { 0 };

    if (position == length && from > 0 && position % IH_STOP_STRIDE == 0) --from; /* no stop stands at the end */
    stop   = ih_store_stops(s, segment->chunk) + (kind & IH_KIND_WEIGHTED ? 2 * from : from);
    sums.y = stop[0];
    if (kind & IH_KIND_WEIGHTED) sums.x = stop[1];
    for (int64_t i = begin + (int64_t)from * IH_STOP_STRIDE; i < begin + position; ++i) ih_sums_add(&sums, &s->values, i, kind);
    p.index  = begin + position;
    p.chunk  = segment->chunk;
    p.y      = sums.y;
    p.y0     = record->y;
    p.err_y  = record->lost_y;
    p.err_y0 = s->lost_y0;
    if (kind & IH_KIND_WEIGHTED) {
        p.x      = sums.x;
        p.x0     = record->x;
        p.err_x  = record->lost_x;
        p.err_x0 = s->lost_x0;
    } else {
        p.x.hi  = (double)position;
        p.x0.hi = (double)begin;
    }
    return p;
}

/* A vertex as exactly as it is known: here it always is. */
IH_HD ih_point ih_store_refined(const ih_store *s, const ih_vertex *p)
{
    (void)s;
    return *p;
}

#endif
