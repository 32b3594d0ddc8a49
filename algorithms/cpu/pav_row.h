/* SPDX-License-Identifier: Apache-2.0
 * pav_row.h: the solver of one row, a template over `real`, IH_REAL_BITS, PAV_WEIGHTED and the name FN(...). Included
 * twice by pav_tmpl.c. */

/* The work on a row. */
typedef struct FN(ctx) {
    pav_job    *job;
    const real *y, *w;
    int64_t     n, n_chunks;
    double      sgn, m0;         /* decisions are over sgn y - m0, exact; m0 is 0 but for values close together */
    real        z_min, z_max;
    double      low, high;       /* of the values, after the sign                                            */
    double      largest, total;  /* of |value| after the shift, of the weights (rounded)                     */
    int         filtered;        /* the chunk records exist                                                  */
    int         certified;       /* -1 unknown; 1: every sum of the row is exact in a double                  */
    int64_t     top;             /* of the stack                                                             */
    int64_t     cost, budget;    /* of decisions that the filter left over, in elements read again            */
    int64_t     filtered_decisions, rounded;
    pav_end     end;
} FN(ctx);

static inline int FN(power_of_two)(double a)
{
    int e;
    return frexp(a, &e) == 0.5;
}

#include "pav_sums.h"
#include "pav_stack.h"
#include "pav_scan.h"
#include "pav_write.h"

/* A short row is pushed element by element; only the range that the error bounds assume is looked at first. */
static int FN(short_row_in_range)(FN(ctx) *c)
{
    double largest = 0, total = PAV_WEIGHTED ? 0 : (double)c->n, least = INFINITY;
    int    ey, eW;

    if (IH_REAL_BITS == 32) return 1;
    for (int64_t i = 0; i < c->n; ++i) largest = larger(largest, fabs((double)c->y[i]));
    for (int64_t i = 0; PAV_WEIGHTED && i < c->n; ++i) {
        total += (double)c->w[i];
        least = smaller(least, (double)c->w[i]);
    }
    frexp(largest, &ey);
    frexp(total, &eW);
    return total - total == 0.0 && ey + 2 * eW <= 960 && (!PAV_WEIGHTED || least >= 0x1p-200);
}

static pav_end FN(solve)(pav_job *job)
{
    FN(ctx) c = { 0 };

    c.job       = job;
    c.y         = (const real *)job->row.y;
    c.w         = (const real *)job->row.w;
    c.n         = job->row.n;
    c.sgn       = job->row.sign;
    c.z_min     = (real)job->y_min;
    c.z_max     = (real)job->y_max;
    c.certified = -1;
    c.top       = -1;
    c.budget    = c.n / 2 + 4096;
    c.end       = PAV_DONE;
    job->blocks = 0;
    if (c.n >= PAV_SHORT) {
        c.filtered = 1;
        if (!FN(sum_chunks)(&c)) return PAV_SUSPECT;
        FN(shift_row)(&c);
        FN(filter_row)(&c);
    } else {
        if (!FN(short_row_in_range)(&c)) return PAV_SUSPECT;
        for (int64_t i = 0; i < c.n && c.end == PAV_DONE; ++i) FN(push_element)(&c, i);
    }
    if (c.end == PAV_DONE) FN(write_row)(&c);
    job->decisions_filter += c.filtered_decisions;
    job->roundings_filter += c.rounded;
    return c.end;
}
