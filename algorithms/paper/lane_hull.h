/* SPDX-License-Identifier: Apache-2.0
 * lane_hull.h: the chain of lane_bitmask.h on sums of the working type, with the paper's filter. Part of that header. */
#ifndef IH_PAPER_LANE_HULL_H
#define IH_PAPER_LANE_HULL_H

/* Points of one lane, by the sums inside it: off by u times the largest. In pairs where that does not decide. */
template <class T, bool WEIGHTED> IH_HD_FORCED int32_t lane_convex(const ih_chunk *c, ih_judge *j, int32_t lane, int32_t place_a, int32_t place_b, int32_t place_d, T x1, T y1, T x2, T y2)
{
    int32_t       sure;
    const int32_t convex = convex_by_filter<T, WEIGHTED>(x1, y1, x2, y2, (T)c->most_y, (T)c->most_x, &sure);
    if (sure) {
        ++j->by_filter;
        return convex;
    }
    ++j->by_pair;
    const paper_three p = { place_a, place_b, place_d, lane, lane, lane };
    return convex_in_pairs<T, WEIGHTED>(c->start_y, c->y, c->start_x, c->x, p);
}

template <class T, bool WEIGHTED> IH_HD_FORCED uint32_t lane_hull(const ih_chunk *c, ih_judge *j, int32_t lane)
{
    const int32_t first = 32 * lane, count = c->n - first < 32 ? c->n - first : 32, base = 33 * lane;
    const T      *y = (const T *)c->y + base, *x = (const T *)c->x + base;
    uint32_t      todo = c->rise[lane] & ~1u, mask = 1;
    int32_t       under = -1, top = 0, next; /* points of the lane: at their own places, its end too */
    T             y_under = 0, y_top, y_next, x_under = 0, x_top = 0, x_next = 0;

    /* The values rise everywhere: every point is a vertex. */
    if (todo == (count == 32 ? ~0u : (1u << count) - 1) - 1) return todo | 1u;
    next   = todo ? ih_bit_low(todo) : count;
    y_top  = y[0];
    y_next = y[next];
    if (WEIGHTED) {
        x_top  = x[0];
        x_next = x[next];
    }
    for (;;) {
        const T       x1 = WEIGHTED ? x_top - x_under : small_number<T>(top - under), x2 = WEIGHTED ? x_next - x_under : small_number<T>(next - under);
        const int32_t push = under < 0 || next - under == 2 ||
                             lane_convex<T, WEIGHTED>(c, j, lane, base + under, base + top, base + next, x1, y_top - y_under, x2, y_next - y_under);
        uint32_t below;
        int32_t  wanted;
        T        at_y, at_x = 0;

        if (push && next == count) return mask;
        below  = mask & ((1u << (under & 31)) - 1); /* under >= 0 where it matters */
        todo   = push ? todo & (todo - 1) : todo;
        wanted = push ? (todo ? ih_bit_low(todo) : count) : (below ? ih_bit_high(below) : -1);
        at_y   = y[wanted < 0 ? 0 : wanted];
        if (WEIGHTED) at_x = x[wanted < 0 ? 0 : wanted];
        mask = push ? mask | 1u << next : mask & ~(1u << top);
        {
            const T       y_t = y_top, x_t = x_top;
            const int32_t t = top;
            y_top   = push ? y_next : y_under;
            y_under = push ? y_t : at_y;
            y_next  = push ? at_y : y_next;
            if (WEIGHTED) {
                x_top   = push ? x_next : x_under;
                x_under = push ? x_t : at_x;
                x_next  = push ? at_x : x_next;
            }
            top   = push ? next : under;
            under = push ? t : wanted;
            next  = push ? wanted : next;
        }
    }
}

IH_HD_FORCED uint32_t ih_lane_hull(const ih_chunk *c, ih_judge *j, int32_t lane, int32_t exact, int32_t kind)
{
    (void)exact;
    if (kind & IH_KIND_F32) return kind & IH_KIND_WEIGHTED ? lane_hull<float, true>(c, j, lane) : lane_hull<float, false>(c, j, lane);
    return kind & IH_KIND_WEIGHTED ? lane_hull<double, true>(c, j, lane) : lane_hull<double, false>(c, j, lane);
}

#endif
