/* SPDX-License-Identifier: Apache-2.0
 * hulls_write.c: results of ranges of elements: z within the bounds, and block arrays. */
#include "hulls.h"

#include "blocks.h"

hulls_target hulls_target_of(const hulls *h, int64_t row)
{
    const ih_row_blocks own = ih_row_blocks_of(h->p, h->out, row);
    hulls_target        t;
    t.z       = h->out->z ? (char *)h->out->z + (size_t)ih_row_begin(h->p, row) * (h->kind & IH_KIND_F32 ? 4 : 8) : NULL;
    t.starts  = own.starts;
    t.weights = own.weights;
    t.means   = own.means;
    return t;
}

static double clipped(const ih_problem *p, double z) { return z < p->y_min ? p->y_min + 0.0 : z > p->y_max ? p->y_max + 0.0 : z; }

void hulls_fill(const hulls *h, const hulls_target *t, int64_t a, int64_t b, double z)
{
    z = clipped(h->p, z);
    if (h->kind & IH_KIND_F32) {
        float *v = t->z;
        for (int64_t i = a; i < b; ++i) v[i] = (float)z;
    } else {
        double *v = t->z;
        for (int64_t i = a; i < b; ++i) v[i] = z;
    }
}

void hulls_put_block(const hulls *h, const hulls_target *t, int64_t block, int64_t start, const ih_edge *e)
{
    (void)h;
    if (t->starts) t->starts[block] = start;
    if (t->weights) t->weights[block] = e->weight;
    if (t->means) t->means[block] = e->mean;
}

static ih_edge single(const ih_row *row, int32_t kind, int64_t a)
{
    ih_edge e;
    e.z = e.mean = ih_load(row->y, a, kind) + 0.0; /* -0 becomes +0 */
    e.weight     = row->w ? ih_load(row->w, a, kind) : 1.0;
    return e;
}

static ih_block block_sum(const ih_values *v, int64_t a, int64_t b)
{
    switch (v->kind) {
    case 0: return ih_block_sum(v, a, b, 0);
    case IH_KIND_F32: return ih_block_sum(v, a, b, IH_KIND_F32);
    case IH_KIND_WEIGHTED: return ih_block_sum(v, a, b, IH_KIND_WEIGHTED);
    default: return ih_block_sum(v, a, b, IH_KIND_F32 | IH_KIND_WEIGHTED);
    }
}

void hulls_write_block(const hulls *h, hulls_worker *w, const hulls_target *t, int64_t a, int64_t b, int64_t block)
{
    const ih_values v = { w->row.y, w->row.w, (double)w->row.sign, h->kind };
    ih_edge         e;

    if (b - a == 1) {
        e = single(&w->row, h->kind, a);
    } else {
        const ih_block sum = block_sum(&v, a, b);
        hulls_settle(h, w, a, b, &sum, &e);
    }
    hulls_fill(h, t, a, b, e.z);
    hulls_put_block(h, t, block, a, &e);
}
