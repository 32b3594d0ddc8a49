/* SPDX-License-Identifier: Apache-2.0
 * partial.h: for scan.cu: sums of chunk totals as double-doubles. */
#ifndef IH_PAPER_PARTIAL_H
#define IH_PAPER_PARTIAL_H

IH_DEV ih_pair pair_sum(ih_pair a, ih_pair b)
{
    const ih_pair high = ih_two_sum(a.hi, b.hi);
    const double  low  = high.lo + (a.lo + b.lo);
    ih_pair       r;
    r.hi = high.hi + low;
    r.lo = low - (r.hi - high.hi);
    return r;
}

/* a, then b. */
IH_DEV partial joined(const partial &a, const partial &b)
{
    partial r;
    r.y    = pair_sum(a.y, b.y);
    r.x    = pair_sum(a.x, b.x);
    r.head = a.head;
    return b.head ? b : r;
}

IH_DEV partial of_chunk(const ih_cuda_fit *f, int64_t chunk, int64_t chunks)
{
    partial p = nothing();
    if (chunk < chunks) {
        p.y = f->record[chunk].y;
        if (f->kind & IH_KIND_WEIGHTED) p.x = f->record[chunk].x;
        p.head = ih_cuda_tree_row(f, ih_cuda_row_of_chunk(f, chunk)).chunk0 == chunk;
    }
    return p;
}

template <int WEIGHTED> IH_DEV void put(ih_chunk_record *r, const partial &p, double, double)
{
    r->y = p.y;
    if (WEIGHTED) r->x = p.x;
}

#endif
