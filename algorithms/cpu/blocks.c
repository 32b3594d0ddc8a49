/* SPDX-License-Identifier: Apache-2.0
 * blocks.c: bounds, and block arrays over the rows of a batch. */
#include "blocks.h"

#include <math.h>
#include <string.h>

void ih_clip(const ih_problem *p, void *z, int64_t n)
{
    const double y_min = p->y_min + 0.0, y_max = p->y_max + 0.0; /* a bound of -0 gives +0 */

    if (y_min == -INFINITY && y_max == INFINITY) return;
    if (p->dtype == IH_F32) {
        const float low = (float)y_min, high = (float)y_max;
        float      *v   = z;
        for (int64_t i = 0; i < n; ++i) v[i] = v[i] < low ? low : v[i] > high ? high : v[i];
    } else {
        double *v = z;
        for (int64_t i = 0; i < n; ++i) v[i] = v[i] < y_min ? y_min : v[i] > y_max ? y_max : v[i];
    }
}

void ih_blocks_gather(const ih_problem *p, const ih_outputs *out)
{
    int64_t at = 0;

    if (!out->block_offsets) return;
    out->block_offsets[0] = 0;
    for (int64_t r = 0; r < p->rows; ++r) {
        const int64_t       begin = ih_row_begin(p, r), count = out->block_offsets[r + 1];
        const ih_row_blocks from = ih_row_blocks_of(p, out, r);
        if (out->block_starts && begin != 0) /* the blocks of the first row stand where they belong */
            for (int64_t k = 0; k < count; ++k) out->block_starts[at + k] = from.starts[k] + begin;
        if (at != begin && out->block_weights) memmove(out->block_weights + at, from.weights, (size_t)count * sizeof(double));
        if (at != begin && out->block_means) memmove(out->block_means + at, from.means, (size_t)count * sizeof(double));
        at += count;
        out->block_offsets[r + 1] = at;
    }
}
