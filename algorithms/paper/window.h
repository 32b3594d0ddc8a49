/* SPDX-License-Identifier: Apache-2.0
 * window.h: for warp_merge.h: turns at vertices near the shared point of two lists, whose coordinates are differences of the parts
 * from there already: what the turns between chunks come to where their test does not decide. */
#ifndef IH_PAPER_WINDOW_H
#define IH_PAPER_WINDOW_H

IH_DEV double ih_window_y(const ih_store *s, const ih_segment *of, int32_t vertex, ih_pair y0, double *error)
{
    (void)error;
    return ih_parts_between(y0, 0, s->records[of->chunk].y, s->y[of->slot + vertex]);
}

IH_DEV double ih_window_x(const ih_store *s, const ih_segment *of, int32_t vertex, ih_pair x0, double *error)
{
    (void)error;
    return ih_parts_between(x0, 0, s->records[of->chunk].x, s->x[of->slot + vertex]);
}

IH_DEV void ih_window_errors(const ih_chunk_record *origin, double *error_y, double *error_x) { (void)origin, (void)error_y, (void)error_x; }

IH_DEV int32_t ih_window_convex(double xa, double ya, double xb, double yb, double xd, double yd, double ey, double ex)
{
    (void)ey, (void)ex;
    return (xb - xa) * (yd - ya) - (yb - ya) * (xd - xa) > 0;
}

#endif
