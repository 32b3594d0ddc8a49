/* SPDX-License-Identifier: Apache-2.0
 * store.h: the slots of chunks (paper 3.2) and turns between vertices of different chunks as in its Appendix B: on absolute
 * coordinates with a test by exponents, else on differences of the parts, in double arithmetic that may err. */
#ifndef IH_PAPER_STORE_H
#define IH_PAPER_STORE_H

#include "../common/judge.h"
#include "../common/segment.h"
#include "../common/values.h"
#include "magnitude.h"

enum { IH_SLOT_CHUNK = 1024 };

/* One chunk of a row: its total, then (after the scan) its start in the row, renormalised; x without weights unused. */
typedef struct ih_chunk_record { ih_pair y, x; } ih_chunk_record;

/* Of one row. Slot of chunk j: IH_SLOT_CHUNK + 1 entries from j (IH_SLOT_CHUNK + 1). */
typedef struct ih_store {
    ih_values              values;
    int64_t                n;       /* elements of the row                                     */
    int64_t                chunks;  /* m                                                       */
    int32_t                size;    /* IH_SLOT_CHUNK                                           */
    const uint16_t        *at;      /* positions                                               */
    const double          *y, *x;   /* coordinates from the chunk's start; x with weights only */
    const ih_chunk_record *records; /* [m]                                                     */
} ih_store;

IH_HD int64_t ih_store_index(const ih_store *s, const ih_segment *segment, int32_t v)
{
    return (int64_t)segment->chunk * IH_SLOT_CHUNK + s->at[segment->slot + v];
}

/* A vertex: X = c + c' + h, start of the chunk and coordinate from there, as fl(c + h). Without weights x is the index, exact. */
typedef struct ih_vertex {
    int64_t index, entry; /* in the row; in its slots           */
    double  x, y;
    int32_t most;         /* magnitude of the largest of X and c */
} ih_vertex;

IH_HD ih_vertex ih_store_vertex(const ih_store *s, const ih_segment *segment, int32_t v)
{
    const ih_chunk_record *record = &s->records[segment->chunk];
    ih_vertex              p;

    p.entry = segment->slot + v;
    p.index = (int64_t)segment->chunk * IH_SLOT_CHUNK + s->at[p.entry];
    p.y     = record->y.hi + s->y[p.entry];
    p.most  = ih_most(ih_magnitude(record->y.hi), ih_magnitude(p.y));
    if (s->values.kind & IH_KIND_WEIGHTED) {
        p.x    = record->x.hi + s->x[p.entry];
        p.most = ih_most(p.most, ih_magnitude(p.x)); /* above its start: weights are positive */
    } else {
        p.x = ih_index_double(p.index);
    }
    return p;
}

/* The canonical turns look at the values first. These do not. */
IH_HD int32_t ih_store_rises(const ih_store *s, const ih_segment *first)
{
    (void)s, (void)first;
    return 1;
}

IH_HD int32_t ih_store_neighbours(const ih_vertex *before, const ih_vertex *after)
{
    (void)before, (void)after;
    return 0;
}

/* b - a from the parts. */
IH_HD double ih_parts_between(ih_pair a0, double a, ih_pair b0, double b) { return ((b0.hi - a0.hi) + (b0.lo - a0.lo)) + (b - a); }

IH_HD double ih_parts_y(const ih_store *s, const ih_vertex *a, const ih_vertex *b)
{
    const int64_t per_slot = IH_SLOT_CHUNK + 1;
    return ih_parts_between(s->records[a->entry / per_slot].y, s->y[a->entry], s->records[b->entry / per_slot].y, s->y[b->entry]);
}

IH_HD double ih_parts_x(const ih_store *s, const ih_vertex *a, const ih_vertex *b)
{
    const int64_t per_slot = IH_SLOT_CHUNK + 1;
    if (!(s->values.kind & IH_KIND_WEIGHTED)) return b->x - a->x;
    return ih_parts_between(s->records[a->entry / per_slot].x, s->x[a->entry], s->records[b->entry / per_slot].x, s->x[b->entry]);
}

/* turn(a, b, d) = (b_x - a_x)(d_y - a_y) - (b_y - a_y)(d_x - a_x) > 0? On coordinates rounded to one double each its error is
 * below 2^(em + ed - 45), em the exponent of the largest coordinate, start or difference and ed that of the largest
 * difference. Without weights abscissae are exact and take no part in em. */
IH_HD int32_t ih_store_convex(const ih_store *s, ih_judge *j, const ih_vertex *a, const ih_vertex *b, const ih_vertex *d)
{
    const double  x1 = b->x - a->x, y1 = b->y - a->y, x2 = d->x - a->x, y2 = d->y - a->y;
    const double  c = x1 * y2 - y1 * x2;
    const int32_t gap_y = ih_most(ih_magnitude(y1), ih_magnitude(y2)), gap = ih_most(gap_y, ih_magnitude(x2));
    const int32_t most = ih_most(ih_most(a->most, b->most), ih_most(d->most, gap_y));

    if ((ih_magnitude(c) >> 20) >= (most >> 20) + (gap >> 20) - 1023 - 45) {
        ++j->by_filter;
        return c > 0;
    }
    ++j->by_pair;
    return ih_parts_x(s, a, b) * ih_parts_y(s, a, d) - ih_parts_y(s, a, b) * ih_parts_x(s, a, d) > 0;
}

#endif
