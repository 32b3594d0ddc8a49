/* SPDX-License-Identifier: Apache-2.0
 * store.h: the slots of chunks (paper 3.2) and turns between vertices of different chunks as in its Appendix B: on absolute
 * coordinates with a test by exponents, else on differences of the parts, in double arithmetic that may err. */
#ifndef IH_PAPER_STORE_H
#define IH_PAPER_STORE_H

#include "../common/segment.h"
#include "../common/values.h"
#include "judge.h"
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

/* X = c + c' + h: start of the chunk, and the coordinate from there. Without weights x is the index, exact: h alone. */
typedef struct ih_point {
    int64_t index;
    ih_pair x0, y0;
    double  x, y;
} ih_point;

IH_HD int64_t ih_store_index(const ih_store *s, const ih_segment *segment, int32_t v)
{
    return (int64_t)segment->chunk * IH_SLOT_CHUNK + s->at[segment->slot + v];
}

IH_HD ih_point ih_store_vertex(const ih_store *s, const ih_segment *segment, int32_t v)
{
    const ih_chunk_record *record = &s->records[segment->chunk];
    const int64_t          entry  = segment->slot + v;
    ih_point               p;

    p.index = (int64_t)segment->chunk * IH_SLOT_CHUNK + s->at[entry];
    p.y     = s->y[entry];
    p.y0    = record->y;
    if (s->values.kind & IH_KIND_WEIGHTED) {
        p.x  = s->x[entry];
        p.x0 = record->x;
    } else {
        p.x     = (double)p.index;
        p.x0.hi = p.x0.lo = 0;
    }
    return p;
}

/* The canonical turns look at the values first. These do not. */
IH_HD int32_t ih_store_rises(const ih_store *s, int64_t index)
{
    (void)s, (void)index;
    return 1;
}

/* b - a from the parts. */
IH_HD double ih_parts_between(ih_pair a0, double a, ih_pair b0, double b) { return ((b0.hi - a0.hi) + (b0.lo - a0.lo)) + (b - a); }

/* turn(a, b, d) = (b_x - a_x)(d_y - a_y) - (b_y - a_y)(d_x - a_x) > 0? On coordinates rounded to one double each its error is
 * below 2^(em + ed - 45), em the exponent of the largest coordinate, start or difference and ed that of the largest
 * difference. Without weights abscissae are exact and take no part in em. */
IH_HD int32_t ih_store_convex(const ih_store *s, ih_judge *j, const ih_point *a, const ih_point *b, const ih_point *d)
{
    const int32_t weighted = s->values.kind & IH_KIND_WEIGHTED;
    const double  ya = a->y0.hi + a->y, yb = b->y0.hi + b->y, yd = d->y0.hi + d->y;
    const double  xa = weighted ? a->x0.hi + a->x : a->x, xb = weighted ? b->x0.hi + b->x : b->x, xd = weighted ? d->x0.hi + d->x : d->x;
    const double  x1 = xb - xa, y1 = yb - ya, x2 = xd - xa, y2 = yd - ya;
    const double  c = x1 * y2 - y1 * x2;
    const int32_t gap_y = ih_most(ih_magnitude(y1), ih_magnitude(y2)), gap = ih_most(gap_y, ih_magnitude(x2));
    int32_t       most = ih_most(ih_most(ih_magnitude(ya), ih_magnitude(yb)), ih_magnitude(yd));

    most = ih_most(most, ih_most(ih_most(ih_magnitude(a->y0.hi), ih_magnitude(b->y0.hi)), ih_magnitude(d->y0.hi)));
    most = ih_most(most, gap_y);
    if (weighted) most = ih_most(most, ih_magnitude(xd)); /* the largest: weights are positive */
    if ((ih_magnitude(c) >> 20) >= (most >> 20) + (gap >> 20) - 1023 - 45) {
        ++j->by_filter;
        return c > 0;
    }
    ++j->by_pair;
    {
        const double fine_x1 = ih_parts_between(a->x0, a->x, b->x0, b->x), fine_x2 = ih_parts_between(a->x0, a->x, d->x0, d->x);
        const double fine_y1 = ih_parts_between(a->y0, a->y, b->y0, b->y), fine_y2 = ih_parts_between(a->y0, a->y, d->y0, d->y);
        return fine_x1 * fine_y2 - fine_y1 * fine_x2 > 0;
    }
}

#endif
