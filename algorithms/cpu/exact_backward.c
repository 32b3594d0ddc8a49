/* SPDX-License-Identifier: Apache-2.0
 * exact_backward.c: gradients of blocks in integers: G, W, and y[j] W - S are exact, then rounded once each. */
#include "exact_backward.h"

#include "span.h"

/* A number m 2^e, as what a product or quotient is made of: no sum, so doubles do, and nothing leaves the range. */
typedef struct scaled { double m; int32_t e; } scaled;

static scaled scaled_of(ih_lead v, int negative)
{
    const scaled s = { negative ? -(double)v.q : (double)v.q, v.e };
    return s;
}

static scaled scaled_double(double v)
{
    const ih_parts p = ih_parts_of(v);
    const scaled   s = { p.negative ? -(double)p.m : (double)p.m, p.e };
    return s;
}

static scaled times(scaled a, scaled b)
{
    const scaled s = { a.m * b.m, a.e + b.e };
    return s;
}

static scaled over(scaled a, scaled b)
{
    const scaled s = { a.m / b.m, a.e - b.e };
    return s;
}

static double value(scaled a) { return a.m == 0.0 ? 0.0 : ldexp(a.m, a.e); }

void ih_backward_block_exact(const ih_backward_row *r, int64_t a, int64_t b)
{
    const ih_row g_row = { r->g, NULL, r->row.n, r->row.dtype, 1 };
    ih_sums      sums, g;
    scaled       ratio, weight;
    uint64_t     room[2 * IH_LIMBS_REST];

    ih_sums_of(&r->row, a, b, &sums);
    if ((r->y_min > -INFINITY && ih_span_compare_value(&r->row, sums.s, sums.w, r->y_min) < 0) ||
        (r->y_max < INFINITY && ih_span_compare_value(&r->row, sums.s, sums.w, r->y_max) > 0)) {
        ih_backward_zero(r, a, b);
        return;
    }
    ih_sums_of(&g_row, a, b, &g);
    if (!g.s.sign) {
        ih_backward_zero(r, a, b);
        return;
    }
    weight = scaled_of(ih_span_lead(sums.w, ih_frame_w(&r->row)), 0);
    ratio  = over(scaled_of(ih_span_lead(g.s, ih_frame_s(&g_row)), g.s.sign < 0), weight);
    for (int64_t j = a; j < b; ++j) {
        if (r->grad_y) {
            const scaled w = scaled_double(r->row.w ? ih_row_w(&r->row, j) : 1.0);
            ih_backward_put(r, r->grad_y, j, value(times(w, ratio)));
        }
        if (r->grad_w) {
            const ih_span rest = ih_span_remainder(&r->row, sums.s, sums.w, ih_row_y(&r->row, j), room); /* S - y W */
            const scaled  d    = scaled_of(ih_span_lead(rest, ih_frame_s(&r->row)), rest.sign > 0);
            ih_backward_put(r, r->grad_w, j, rest.sign ? value(times(over(d, weight), ratio)) : 0.0);
        }
    }
}

void ih_backward_zero(const ih_backward_row *r, int64_t a, int64_t b)
{
    const size_t item = r->row.dtype == IH_F32 ? 4 : 8, at = (size_t)a * item, bytes = (size_t)(b - a) * item;

    if (r->grad_y) memset((char *)r->grad_y + at, 0, bytes);
    if (r->grad_w) memset((char *)r->grad_w + at, 0, bytes);
}

/* One element: its mean is y itself, so the gradient in y is g and that in w is 0. */
static void block_of_one(const ih_backward_row *r, int64_t j)
{
    const double y = ih_row_y(&r->row, j), g = ih_backward_g(r, j) + 0.0;

    if (r->grad_y) ih_backward_put(r, r->grad_y, j, y < r->y_min || y > r->y_max ? 0.0 : g);
    if (r->grad_w) ih_backward_put(r, r->grad_w, j, 0.0);
}

void ih_backward_blocks(const ih_backward_row *r, const int64_t *starts, int64_t k, int64_t end, int64_t blocks)
{
    for (; k < end; ++k) {
        const int64_t a = starts[k], b = k + 1 < blocks ? starts[k + 1] : r->row.n;
        if (b - a == 1) block_of_one(r, a);
        else if (!ih_backward_block_pairs(r, a, b)) ih_backward_block_exact(r, a, b);
    }
}

ih_status ih_exact_backward(const ih_row *row, double y_min, double y_max, const int64_t *starts, int64_t blocks, const void *g,
                            void *grad_y, void *grad_w)
{
    ih_backward_row r = { *row, y_min, y_max, g, grad_y, grad_w };

    r.row.sign = 1;
    ih_backward_blocks(&r, starts, 0, blocks, blocks);
    return IH_OK;
}
