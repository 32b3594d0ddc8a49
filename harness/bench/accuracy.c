/* SPDX-License-Identifier: Apache-2.0
 * accuracy.c: the measures. z* is known to 2^-106 of itself (below 2^-969 to half a smallest subnormal number), sums of n
 * terms in quadruple precision to n 2^-113 of the sum of their sizes. */
#include "accuracy.h"

#include "common/row.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if defined(__SIZEOF_FLOAT128__)
typedef __float128 quad;
#else
typedef long double quad;
_Static_assert(LDBL_MANT_DIG >= 113 && LDBL_MAX_EXP >= 16384, "the measures need quadruple precision");
#endif

static quad quad_abs(quad x) { return x < 0 ? -x : x; }
static quad quad_max(quad a, quad b) { return a > b ? a : b; }

static double value_at(ih_dtype dtype, const void *values, int64_t i)
{
    return dtype == IH_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* Numerator over denominator; absolute where there is nothing to be relative to. Past the range of double: its largest. */
static double ratio(quad numerator, quad denominator)
{
    const quad r = denominator > 0 ? numerator / denominator : numerator;
    return r > DBL_MAX ? DBL_MAX : r < -DBL_MAX ? -DBL_MAX : (double)r;
}

/* The unit in the last place of the dtype at the number high + low, which is not rounded yet: just below a power of two
 * high is that power but the unit is the smaller one. */
static double unit_at(ih_dtype dtype, double high, double low)
{
    const int least = dtype == IH_F32 ? FLT_MIN_EXP - FLT_MANT_DIG : DBL_MIN_EXP - DBL_MANT_DIG;
    const int bits  = dtype == IH_F32 ? FLT_MANT_DIG : DBL_MANT_DIG;
    int       exponent;
    double    fraction = frexp(fabs(high), &exponent);

    if (fraction == 0) return ldexp(1, least);
    if (fraction == 0.5 && (high > 0 ? low < 0 : low > 0)) --exponent;
    return ldexp(1, exponent - bits > least ? exponent - bits : least);
}

typedef struct row_measures {
    quad step_down, largest_y, deviation, ulps;
    quad excess, objective, squares; /* sums of w (z - y)^2 - w (z* - y)^2, w (z* - y)^2, w y^2 */
    quad multiplier, kkt, absolute;  /* running lambda / 2, its largest violation, sum w|y|     */
} row_measures;

typedef struct exact_value { quad mean; double high, low, rounded; } exact_value;

static exact_value clipped(const ih_problem *p, const exact_fit *e, int64_t block)
{
    exact_value v     = { (quad)e->high[block] + e->low[block], e->high[block], e->low[block], e->value[block] };
    double      least = p->y_min, most = p->y_max;

    if (p->dtype == IH_F32) {
        least = (double)(float)least;
        most  = (double)(float)most;
    }
    if (v.mean < least) v = (exact_value){ least, least, 0, v.rounded };
    if (v.mean > most) v = (exact_value){ most, most, 0, v.rounded };
    return v;
}

static void measure_element(const ih_problem *p, const exact_value *exact, double y, double w, double z, row_measures *m)
{
    const quad apart = (quad)z - exact->mean, size = quad_abs(apart), residual = exact->mean - y;

    m->deviation = quad_max(m->deviation, size / (1 + quad_abs(exact->mean)));
    m->ulps      = quad_max(m->ulps, size / unit_at(p->dtype, exact->high, exact->low));
    m->largest_y = quad_max(m->largest_y, fabs(y));
    /* (z - y)^2 - (z* - y)^2 = (z - z*)^2 + 2 (z - z*)(z* - y): no difference of two large sums */
    m->excess += w * (apart * apart + 2 * apart * residual);
    m->objective += w * (residual * residual);
    m->squares += (quad)w * y * y;
    m->absolute += (quad)w * fabs(y);
}

/* lambda_i = -2 sum_{j <= i} w_j (z_j - y_j) must not be negative, and must be 0 where z rises and at the end of the row. */
static void measure_optimality(int sign, double y, double w, double z, int free, row_measures *m)
{
    m->multiplier -= (quad)w * ((quad)z - y) * sign;
    m->kkt = quad_max(m->kkt, free ? quad_abs(m->multiplier) : -m->multiplier);
}

static void measure_row(const ih_problem *p, const exact_fit *e, int64_t r, const void *z, accuracy *out)
{
    const int64_t from = ih_row_begin(p, r), to = from + ih_row_length(p, r);
    const int     sign = p->direction == IH_DECREASING ? -1 : 1;
    int64_t       block = e->offsets[r];
    row_measures  m;
    exact_value   exact = { 0 };

    memset(&m, 0, sizeof m);
    for (int64_t i = from; i < to; ++i) {
        const double y = value_at(p->dtype, p->y, i), w = p->w ? value_at(p->dtype, p->w, i) : 1;
        const double here = value_at(p->dtype, z, i), next = i + 1 < to ? value_at(p->dtype, z, i + 1) : here;
        const int    begins = block < e->offsets[r + 1] && e->starts[block] == i;

        if (begins) exact = clipped(p, e, block++);
        if (begins && i > from) {
            out->coinciding += value_at(p->dtype, z, i - 1) == here;
            out->coinciding_exact += e->value[block - 2] == exact.rounded;
        }
        out->not_rounded += !(here == exact.rounded);
        if (!isfinite(here)) ++out->not_finite;
        if (out->not_finite) continue;
        measure_element(p, &exact, y, w, here, &m);
        m.step_down = quad_max(m.step_down, ((quad)here - next) * sign);
        measure_optimality(sign, y, w, here, i + 1 == to || (sign > 0 ? here < next : here > next), &m);
    }
    if (out->not_finite) return;
    out->step_down = fmax(out->step_down, ratio(m.step_down, m.largest_y));
    out->deviation = fmax(out->deviation, ratio(m.deviation, 1));
    out->ulps      = fmax(out->ulps, ratio(m.ulps, 1));
    if (from < to) {
        const double eps    = p->dtype == IH_F32 ? FLT_EPSILON : DBL_EPSILON;
        const double excess = ratio(m.excess, quad_max(m.objective, eps * m.squares));
        out->objective_excess = fmax(out->objective_excess, excess);
        out->kkt = fmax(out->kkt, ratio(2 * m.kkt, 2 * m.absolute));
    }
}

/* Both lists rise within a row, so one walk over them finds what only one has. */
static void compare_blocks(const exact_fit *e, int64_t r, const int64_t *block_offsets, const int64_t *block_starts, accuracy *out)
{
    int64_t a = e->offsets[r], b = block_offsets[r];

    while (a < e->offsets[r + 1] || b < block_offsets[r + 1]) {
        const int64_t here  = a < e->offsets[r + 1] ? e->starts[a] : INT64_MAX;
        const int64_t there = b < block_offsets[r + 1] ? block_starts[b] : INT64_MAX;
        out->missing += here < there;
        out->extra += there < here;
        a += here <= there;
        b += there <= here;
    }
}

void accuracy_measure(const ih_problem *p, const exact_fit *e, const void *z, const int64_t *block_offsets,
                      const int64_t *block_starts, accuracy *out)
{
    memset(out, 0, sizeof *out);
    out->elements     = ih_problem_elements(p);
    out->blocks_exact = e->blocks;
    out->objective_excess = -INFINITY;
    for (int64_t r = 0; r < p->rows; ++r) {
        measure_row(p, e, r, z, out);
        if (block_starts) compare_blocks(e, r, block_offsets, block_starts, out);
    }
    if (block_starts) out->blocks = block_offsets[p->rows] - block_offsets[0];
    else out->blocks = out->missing = out->extra = -1;
    if (!isfinite(out->objective_excess)) out->objective_excess = 0; /* no elements */
    if (isfinite(p->y_min) || isfinite(p->y_max)) out->kkt = -1;
}

int accuracy_canonical(const accuracy *a)
{
    return a->not_finite == 0 && a->not_rounded == 0 && a->missing <= 0 && a->extra <= 0;
}

json_t *accuracy_to_json(const accuracy *a)
{
    json_t *o  = json_pack("{sI sI sI sI sI sI}", "elements", (json_int_t)a->elements, "not_finite", (json_int_t)a->not_finite, "not_rounded",
                           (json_int_t)a->not_rounded, "blocks_exact", (json_int_t)a->blocks_exact, "coinciding",
                           (json_int_t)a->coinciding, "coinciding_exact", (json_int_t)a->coinciding_exact);
    int     ok = o != NULL;

    if (ok && a->blocks >= 0)
        ok = json_object_set_new(o, "blocks", json_integer(a->blocks)) == 0 && json_object_set_new(o, "missing", json_integer(a->missing)) == 0 &&
             json_object_set_new(o, "extra", json_integer(a->extra)) == 0;
    if (ok && a->not_finite == 0)
        ok = json_object_set_new(o, "step_down", json_real(a->step_down)) == 0 && json_object_set_new(o, "deviation", json_real(a->deviation)) == 0 &&
             json_object_set_new(o, "ulps", json_real(a->ulps)) == 0 &&
             json_object_set_new(o, "objective_excess", json_real(a->objective_excess)) == 0 &&
             (a->kkt < 0 || json_object_set_new(o, "kkt", json_real(a->kkt)) == 0);
    if (ok) return o;
    json_decref(o);
    return NULL;
}
