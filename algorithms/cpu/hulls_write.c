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

/* Blocks of one element each, numbered from `block`: z is y. */
void hulls_write_singles(const hulls *h, const hulls_worker *w, const hulls_target *t, int64_t a, int64_t b, int64_t block)
{
    const double low = h->p->y_min + 0.0, high = h->p->y_max + 0.0;

    if (h->kind & IH_KIND_F32) {
        const float *y = w->row.y;
        float       *z = t->z;
        for (int64_t i = a; i < b; ++i) z[i] = y[i] < (float)low ? (float)low : y[i] > (float)high ? (float)high : y[i] + 0.0f;
    } else {
        const double *y = w->row.y;
        double       *z = t->z;
        for (int64_t i = a; i < b; ++i) z[i] = y[i] < low ? low : y[i] > high ? high : y[i] + 0.0;
    }
    if (t->starts)
        for (int64_t i = a; i < b; ++i) t->starts[block + i - a] = i;
    if (t->weights)
        for (int64_t i = a; i < b; ++i) t->weights[block + i - a] = w->row.w ? ih_load(w->row.w, i, h->kind) : 1.0;
    if (t->means)
        for (int64_t i = a; i < b; ++i) t->means[block + i - a] = ih_load(w->row.y, i, h->kind) + 0.0;
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
    const ih_block  sum = block_sum(&v, a, b);
    ih_edge         e;

    hulls_settle(h, w, a, b, &sum, &e);
    hulls_fill(h, t, a, b, e.z);
    hulls_put_block(h, t, block, a, &e);
}
