/* SPDX-License-Identifier: Apache-2.0
 * edge.h: for write.cu: the values over edges between chunks, and a chunk's vertices as they stand in its slot. */
#ifndef IH_PAPER_EDGE_H
#define IH_PAPER_EDGE_H

/* The value over the edge from the last vertex of a segment to the first of the next, from differences of the parts. */
IH_DEV int32_t edge_value(const ih_cuda_fit *f, const ih_store *s, const ih_segment *from, const ih_segment *to, double *z)
{
    const ih_point a = ih_store_vertex(s, from, from->last), b = ih_store_vertex(s, to, to->first);

    if (b.index - a.index == 1) *z = ih_load(s->values.y, a.index, s->values.kind) + 0.0;
    else *z = f->sign * (ih_parts_between(a.y0, a.y, b.y0, b.y) / ih_parts_between(a.x0, a.x, b.x0, b.x)) + 0.0;
    *z = clipped(*z, f->y_min, f->y_max);
    return 1;
}

/* The chunk whose vertices are about to be read from its slot into the space. */
IH_DEV ih_chunk chunk_of_slot(const ih_cuda_fit *f, int64_t chunk, const ih_warp_space *space, ih_values values, int64_t begin, int32_t n, int32_t kind)
{
    ih_chunk c = {};
    (void)f, (void)chunk, (void)kind;
    c.values    = values;
    c.begin     = begin;
    c.y         = space->y;
    c.x         = space->x;
    c.rise      = space->rise;
    c.mask      = space->mask;
    c.n         = n;
    c.from_slot = 1;
    return c;
}

/* The vertex of an entry of the slots to a place. */
IH_DEV void put_vertex(const ih_cuda_fit *f, const ih_chunk *c, int32_t place, int64_t entry, int32_t kind)
{
    ((slot_place *)c->y)[place].d = f->slot_y[entry];
    if (kind & IH_KIND_WEIGHTED) ((slot_place *)c->x)[place].d = f->slot_x[entry];
}

#endif
