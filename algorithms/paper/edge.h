/* SPDX-License-Identifier: Apache-2.0
 * edge.h: for write.cu: the values over edges between chunks. */
#ifndef IH_PAPER_EDGE_H
#define IH_PAPER_EDGE_H

/* The value over the edge from the last vertex of a segment to the first of the next, from differences of the parts. */
IH_DEV int32_t edge_value(const ih_cuda_fit *f, const ih_store *s, const ih_segment *from, const ih_segment *to, double *z)
{
    const ih_vertex a = ih_store_vertex(s, from, from->last), b = ih_store_vertex(s, to, to->first);

    if (b.index - a.index == 1) *z = ih_load(s->values.y, a.index, s->values.kind) + 0.0;
    else *z = f->sign * (ih_parts_y(s, &a, &b) / ih_parts_x(s, &a, &b)) + 0.0;
    *z = ih_clipped(*z, f->y_min, f->y_max);
    return 1;
}

/* Means from a slot need nothing else of their chunk. */
IH_DEV ih_chunk chunk_of_slot(const ih_cuda_fit *, int64_t, ih_values, int64_t, int32_t, int32_t)
{
    const ih_chunk none = {};
    return none;
}

/* Nor is a mean left open. */
template <int KIND> IH_DEV ih_level open_means(const ih_cuda_fit *, const ih_chunk *, double *, const uint16_t *, uint32_t, uint32_t, int32_t) { return IH_LEVEL_FILTER; }

#endif
