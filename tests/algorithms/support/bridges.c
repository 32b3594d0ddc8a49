/* SPDX-License-Identifier: Apache-2.0
 * bridges.c: two neighbouring segment lists of a random row. */
#include "bridges.h"

#include <stdlib.h>
#include <string.h>

int64_t bridge_tree(chunked *c, ih_judge *j, int64_t from, int64_t to, ih_merge_rule rule, ih_merge_count *count)
{
    int64_t half = 1, left, right;

    if (to - from == 1) return 1;
    while (2 * half < to - from) half *= 2;
    left  = bridge_tree(c, j, from, from + half, rule, count);
    right = bridge_tree(c, j, from + half, to, rule, count);
    return ih_merge_lists(&c->store, j, c->segments + from, left, c->segments + from + half, right, rule, count);
}

int64_t bridge_index(const bridge_case *c, const ih_run *run, ih_place p)
{
    return ih_store_index(&c->rows.store, &run->segments[p.segment], p.vertex);
}

int bridge_open(bridge_case *c, rng *r, int round)
{
    const ih_merge_rule rule  = { -1, 0 };
    ih_merge_count      count = { { 0, 0, 0, 0 }, 0, 0 };
    const int32_t       size  = chunked_size(r, 40);
    const int64_t       n     = size + 1 + rng_below(r, CHUNKED_MOST), m = (n + size - 1) / size, half = 1 + rng_below(r, m - 1);
    int64_t            *v = malloc((size_t)(n + 2) * sizeof *v), nl, nr, l, h, k;

    if (!v) abort();
    memset(c, 0, sizeof *c);
    test_row_open(&c->row, r, n, round % TEST_ROW_SHAPES, round % IH_KINDS, round % 7 ? 1 : -1);
    diagram_open(&c->exact, &c->row.values, n);
    c->judge = judge_of(&c->exact);
    chunked_open(&c->rows, &c->judge, &c->row.values, n, size, 0);
#if defined(IH_SIMT)
    if (c->rows.given_up) {
        free(v);
        bridge_close(c);
        return 0;
    }
#endif
    nl = bridge_tree(&c->rows, &c->judge, 0, half, rule, &count);
    nr = bridge_tree(&c->rows, &c->judge, half, m, rule, &count);
    if (judge_left(&c->judge)) {
        free(v);
        bridge_close(c);
        return 0;
    }
    l  = diagram_hull(&c->exact, 0, half * size, v);
    l += diagram_hull(&c->exact, half * size, n, v + l) - 1; /* vertices of both, the shared one counted once */
    h  = diagram_hull(&c->exact, 0, n, v);
    for (k = 0; v[k] < half * size; ++k) {}
    if (v[k] == half * size) {
        free(v);
        bridge_close(c);
        return 0;
    }
    c->a       = v[k - 1];
    c->b       = v[k];
    c->removed = l - h;
    c->left    = ih_run_without_last(c->rows.segments, nl);
    c->right   = ih_run_without_first(c->rows.segments + half, nr);
    free(v);
    return 1;
}

void bridge_close(bridge_case *c)
{
    chunked_close(&c->rows);
    diagram_close(&c->exact);
    test_row_close(&c->row);
}
