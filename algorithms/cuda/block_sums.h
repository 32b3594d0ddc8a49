/* SPDX-License-Identifier: Apache-2.0
 * block_sums.h: sums over elements of a block by a thread, a warp or a CTA, and the gradient's rule made of them. `what`
 * is a constant: bits of ih_values.kind and IH_SUM_... */
#ifndef IH_CUDA_BLOCK_SUMS_H
#define IH_CUDA_BLOCK_SUMS_H

#include "block_job.h"

#include "../common/bits.h"
#include "../common/mean.h"

#if defined(IH_SIMT)

#define IH_EVERY_LANE 0xffffffffu

/* Rounding a bound of up to 2^40 terms, and the least and greatest numbers whose quotients and products stay normal. */
#define IH_LOST_ROUND (1 + 0x1p-10)
#define IH_SUM_LARGE 0x1p500
#define IH_SUM_SMALL 0x1p-500

IH_DEV ih_block_sums ih_sums_none(void)
{
    ih_block_sums t;
    t.g.hi = t.g.lo = t.y.hi = t.y.lo = t.x.hi = t.x.lo = 0.0;
    t.lost_g = t.lost_y = t.lost_x = 0.0;
    t.least  = INFINITY;
    t.most   = -INFINITY;
    t.good   = 1;
    return t;
}

/* Add element i of v, and of g. */
IH_HD_FORCED void ih_sums_element(ih_block_sums *t, const ih_values *v, const void *g, int64_t i, const int32_t what)
{
    const int32_t kind = what & (IH_KIND_F32 | IH_KIND_WEIGHTED);

    if (what & IH_SUM_G) ih_sum_add(&t->g, ih_load(g, i, kind), &t->lost_g);
    if (what & IH_SUM_Y) {
        const double y = ih_load(v->y, i, kind);
        ih_sums      s;
        s.x      = t->x;
        s.y      = t->y;
        s.lost_x = t->lost_x;
        s.lost_y = t->lost_y;
        ih_sums_add(&s, v, i, kind);
        t->x      = s.x;
        t->y      = s.y;
        t->lost_x = s.lost_x;
        t->lost_y = s.lost_y;
        t->good &= ih_value_in_range(v, i, kind);
        if (what & IH_SUM_G) {
            t->least = y < t->least ? y : t->least;
            t->most  = y > t->most ? y : t->most;
        }
    } else if (what & IH_KIND_WEIGHTED) {
        const double w = ih_load(v->w, i, kind);
        ih_sum_add(&t->x, w, &t->lost_x);
        t->good &= w > 0;
    }
}

/* t + u, the same bits as u + t: the sum of pairs is symmetric, the losses are added first. */
IH_HD_FORCED ih_pair ih_sums_pair(ih_pair a, ih_pair b, double lost_a, double lost_b, double *lost)
{
    *lost = lost_a + lost_b;
    return ih_pair_add(a, b, lost);
}

IH_HD_FORCED ih_block_sums ih_sums_join(const ih_block_sums *t, const ih_block_sums *u, const int32_t what)
{
    ih_block_sums r = *t;

    if (what & IH_SUM_G) r.g = ih_sums_pair(t->g, u->g, t->lost_g, u->lost_g, &r.lost_g);
    if (what & IH_SUM_Y) r.y = ih_sums_pair(t->y, u->y, t->lost_y, u->lost_y, &r.lost_y);
    if (what & IH_KIND_WEIGHTED) r.x = ih_sums_pair(t->x, u->x, t->lost_x, u->lost_x, &r.lost_x);
    if ((what & IH_SUM_Y) && (what & IH_SUM_G)) {
        r.least = u->least < t->least ? u->least : t->least;
        r.most  = u->most > t->most ? u->most : t->most;
    }
    r.good = t->good & u->good;
    return r;
}

/* ---- by a warp, and by a CTA of IH_WINDOW_THREADS ---- */

IH_DEV ih_pair ih_lanes_pair(ih_pair a, int32_t d)
{
    ih_pair b;
    b.hi = __shfl_xor_sync(IH_EVERY_LANE, a.hi, d);
    b.lo = __shfl_xor_sync(IH_EVERY_LANE, a.lo, d);
    return b;
}

/* The sum over all lanes, in each of them. */
IH_DEV ih_block_sums ih_sums_of_warp(ih_block_sums t, const int32_t what)
{
    for (int32_t d = 1; d < 32; d *= 2) {
        ih_block_sums u = t;
        if (what & IH_SUM_G) {
            u.g      = ih_lanes_pair(t.g, d);
            u.lost_g = __shfl_xor_sync(IH_EVERY_LANE, t.lost_g, d);
        }
        if (what & IH_SUM_Y) {
            u.y      = ih_lanes_pair(t.y, d);
            u.lost_y = __shfl_xor_sync(IH_EVERY_LANE, t.lost_y, d);
        }
        if (what & IH_KIND_WEIGHTED) {
            u.x      = ih_lanes_pair(t.x, d);
            u.lost_x = __shfl_xor_sync(IH_EVERY_LANE, t.lost_x, d);
        }
        if ((what & IH_SUM_Y) && (what & IH_SUM_G)) {
            u.least = __shfl_xor_sync(IH_EVERY_LANE, t.least, d);
            u.most  = __shfl_xor_sync(IH_EVERY_LANE, t.most, d);
        }
        u.good = __shfl_xor_sync(IH_EVERY_LANE, (int)t.good, d);
        t      = ih_sums_join(&t, &u, what);
    }
    return t;
}

/* The sum over the CTA, in each of its threads. room [threads / 32] in shared memory, free again at the next barrier. */
IH_DEV ih_block_sums ih_sums_of_cta(ih_block_sums t, ih_block_sums *room, int32_t warps, const int32_t what)
{
    t = ih_sums_of_warp(t, what);
    if ((threadIdx.x & 31) == 0) room[threadIdx.x >> 5] = t;
    __syncthreads();
    t = room[0];
    for (int32_t k = 1; k < warps; ++k) t = ih_sums_join(&t, &room[k], what);
    return t;
}

/* Elements a .. b - 1, at most a window, by all lanes, or by the threads of the CTA: neighbours in turn. */
IH_DEV ih_block_sums ih_sums_strided(const ih_values *v, const void *g, int64_t a, int64_t b, int32_t stride, const int32_t what)
{
    const int32_t first = (int32_t)(threadIdx.x & (unsigned)(stride - 1)), n = (int32_t)(b - a);
    ih_block_sums t     = ih_sums_none();
#pragma unroll 4
    for (int32_t i = first; i < n; i += stride) ih_sums_element(&t, v, g, a + i, what);
    return t;
}

/* ---- the rule of a block ---- */

/* Sign of y / x - bound, in doubles, with z = y / x and a bound on its error; where the sums are exact, exactly; 2: not known. */
IH_HD_SLOW int32_t ih_rule_side_exact(ih_pair y, ih_pair x, double bound)
{
    double  e[16], p[2], q[2];
    int32_t n = 0, np = 0, nq = 0;

    if (bound != 0 && !(fabs(bound) > 0x1p-400 && fabs(bound) < IH_SUM_LARGE)) return 2;
    np = ih_expansion_add(p, np, bound);
    nq = ih_expansion_add(q, ih_expansion_add(q, nq, x.lo), x.hi);
    n  = ih_expansion_add(e, ih_expansion_add(e, n, y.lo), y.hi);
    n  = ih_expansion_add_product(e, n, p, np, q, nq, -1.0);
    return ih_expansion_sign(e, n);
}

IH_HD int32_t ih_rule_side(ih_pair y, ih_pair x, int32_t exact, ih_pair z, double error, double bound)
{
    const double d = (z.hi - bound) + z.lo;
    /* two roundings: u |z.hi - bound| and u |d|, far inside the last two terms */
    const double slack = error + 0x1p-100 * fabs(z.hi) + 0x1p-50 * fabs(d);

    if (d < -slack) return -1;
    if (d > slack) return 1;
    return exact ? ih_rule_side_exact(y, x, bound) : 2;
}

/* The rule of a block of n elements from its sums. OPEN where they do not suffice, and for values that are not finite, as all
 * tests are written to be false for these. G, and y - z against the largest |y - z|, are right to 2^-46 (float32: 2^-24).
 * z is a quotient and the quotient of its exact remainder: off by the errors of the sums and less than 16 u^2 |z|. */
IH_HD ih_block_rule ih_rule_of(const ih_block_job *job, const ih_block_sums *t, int64_t n, const int32_t what)
{
    const double  tolerance = what & IH_KIND_F32 ? 0x1p-24 : 0x1p-46;
    const ih_pair g         = ih_two_sum(t->g.hi, t->g.lo);
    const double  lost_g    = t->lost_g * IH_LOST_ROUND;
    ih_pair       x         = ih_two_sum(t->x.hi, t->x.lo);
    double        lost_x    = t->lost_x * IH_LOST_ROUND;
    ih_block_rule r;

    r.ratio = r.z.hi = r.z.lo = 0.0;
    r.code = IH_RULE_OPEN;
    r.huge = 0;
    if (!(what & IH_KIND_WEIGHTED)) {
        x.hi = (double)n;
        x.lo = lost_x = 0.0;
    }
    if (!(t->good && fabs(g.hi) < IH_SUM_LARGE && x.hi < IH_SUM_LARGE && x.hi > IH_SUM_SMALL && lost_x <= 0x1p-60 * x.hi)) return r;
    if (what & IH_SUM_Y) {
        const ih_pair y      = ih_two_sum(t->y.hi, t->y.lo);
        const double  lost_y = t->lost_y * IH_LOST_ROUND;
        double        error  = 0.0;
        int32_t       low = 1, high = -1;

        if (!(fabs(y.hi) < IH_SUM_LARGE)) return r;
        if (t->least == t->most) { /* all alike: the mean is that value */
            r.z.hi = t->least;
            low    = r.z.hi < job->y_min ? -1 : 1;
            high   = r.z.hi > job->y_max ? 1 : -1;
        } else {
            const int32_t exact = lost_y == 0 && lost_x == 0;
            if (!exact || y.hi != 0) {
                const double q = y.hi / x.hi, rest = fma(-q, x.hi, y.hi);
                if (!(fabs(y.hi) > IH_SUM_SMALL)) return r;
                r.z   = ih_two_sum(q, (rest + (y.lo - q * x.lo)) / x.hi);
                error = 1.125 * ((lost_y + fabs(q) * lost_x) / x.hi + 0x1p-102 * fabs(q)) + 0x1p-1070;
            }
            if (job->y_min > -INFINITY) low = ih_rule_side(y, x, exact, r.z, error, job->y_min);
            if (job->y_max < INFINITY) high = ih_rule_side(y, x, exact, r.z, error, job->y_max);
        }
        if (low == -1 || high == 1) {
            r.code = IH_RULE_ZERO;
            return r;
        }
        if (low == 2 || high == 2) return r;
        if (job->grad_w && !(error <= 0.5 * tolerance * (t->most - t->least)) && g.hi != 0) return r;
    }
    if (g.hi == 0 && lost_g == 0) {
        r.code = IH_RULE_ZERO;
        return r;
    }
    if (!(lost_g <= tolerance * fabs(g.hi) && fabs(g.hi) > IH_SUM_SMALL)) return r;
    r.ratio = g.hi / x.hi;
    r.code  = IH_RULE_RATIO;
    return r;
}

#endif
#endif
