/* SPDX-License-Identifier: Apache-2.0
 * block_exact.h: blocks that pairs leave open, from the inputs by integers: a warp each, but the whole grid for huge ones. */
#ifndef IH_CUDA_BLOCK_EXACT_H
#define IH_CUDA_BLOCK_EXACT_H

#include "block_integers.h"
#include "block_windows.h"

#if defined(IH_SIMT)

enum {
    IH_EXACT_THREADS = 128,
    IH_EXACT_CTAS    = 528,
    IH_EXACT_PIECE   = 2048 /* elements of a huge block that a warp takes at once */
};

/* CTAs of its kernels: so many have work, if all blocks are open. */
static inline int64_t ih_exact_ctas(int64_t total)
{
    const int64_t each = IH_EXACT_THREADS / 32 * IH_EXACT_PIECE, ctas = (total + each / 16 - 1) / (each / 16);
    return ctas < IH_EXACT_CTAS ? ctas : (int64_t)IH_EXACT_CTAS;
}

IH_HD size_t ih_exact_bytes(void) { return IH_EXACT_THREADS / 32 * sizeof(ih_exact_room); }

/* ---- one block, by a warp ---- */

IH_DEV void ih_exact_clear(ih_exact_room *room)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31);
    for (int32_t k = lane; k < IH_EXACT_S; k += 32) room->s[k] = 0;
    for (int32_t k = lane; k < IH_EXACT_W; k += 32) room->w[k] = room->g[k] = 0;
    __syncwarp();
}

/* Add the sums over [a, b) to those in the room; which of them: `what`. *top: exponent of the largest |y|, the lane's own. */
IH_DEV void ih_exact_accumulate(const ih_block_job *job, ih_exact_room *room, int64_t a, int64_t b, const int32_t what, int32_t *top)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31);

    for (int64_t from = a; from < b; from += IH_EXACT_TERMS) {
        const int64_t to = b - from < IH_EXACT_TERMS ? b : from + IH_EXACT_TERMS;
        for (int64_t i = from + lane; i < to; i += 32) {
            uint64_t mw = 1;
            int32_t  ew = -IH_EXACT_BASE, e;
            if (what & IH_KIND_WEIGHTED) {
                mw = ih_exact_parts(ih_load(job->w, i, what), &ew);
                ih_exact_add(room->w, 0, mw, ew + IH_EXACT_BASE, 0);
            }
            if (what & IH_SUM_Y) {
                const double   y   = ih_load(job->y, i, what);
                const uint64_t my  = ih_exact_parts(y, &e);
                const int32_t  own = my ? e + 64 - __clzll((long long)my) : -1074;
                ih_exact_add(room->s, __umul64hi(my, mw), my * mw, e + ew + 2 * IH_EXACT_BASE, y < 0);
                *top = own > *top ? own : *top;
            }
            if (what & IH_SUM_G) {
                const double   g  = ih_load(job->g, i, what);
                const uint64_t mg = ih_exact_parts(g, &e);
                ih_exact_add(room->g, 0, mg, e + IH_EXACT_BASE, g < 0);
            }
        }
        __syncwarp();
        if (lane == 0) {
            ih_exact_carry(room->s, IH_EXACT_S);
            ih_exact_carry(room->w, IH_EXACT_W);
            ih_exact_carry(room->g, IH_EXACT_W);
        }
        __syncwarp();
    }
}

IH_DEV int32_t ih_exact_most(int32_t top)
{
    for (int32_t d = 16; d; d /= 2) {
        const int32_t other = __shfl_xor_sync(IH_EVERY_LANE, top, d);
        top = other > top ? other : top;
    }
    return top;
}

/* The sums of block [a, b) in the room, as magnitudes and signs, for lane 0; of a huge block, those that are summed already. */
IH_DEV void ih_exact_sums(const ih_block_job *job, ih_exact_room *room, int64_t a, int64_t b, const ih_block_huge *huge, const int32_t what, int32_t *most_e)
{
    const int32_t lane = (int32_t)(threadIdx.x & 31);
    int32_t       top  = -1074;

    if (huge) {
        for (int32_t k = lane; k < IH_EXACT_S; k += 32) room->s[k] = huge->s[k];
        for (int32_t k = lane; k < IH_EXACT_W; k += 32) {
            room->w[k] = huge->w[k];
            room->g[k] = huge->g[k];
        }
        top = huge->most_e;
        __syncwarp();
        if (lane == 0) ih_exact_carry(room->w, IH_EXACT_W);
    } else {
        ih_exact_clear(room);
        ih_exact_accumulate(job, room, a, b, what, &top);
    }
    *most_e = ih_exact_most(top);
    if (lane == 0) {
        if (!(what & IH_KIND_WEIGHTED)) {
            room->w[0] = (b - a) & 0xffffffff;
            room->w[1] = (b - a) >> 32;
        }
        room->sign_s = ih_exact_magnitude(room->s, IH_EXACT_S);
        room->sign_g = ih_exact_magnitude(room->g, IH_EXACT_W);
    }
}

/* The frames: w y - w is always IH_EXACT_BASE; w and g begin at 2^-IH_EXACT_BASE, a count at 1. */
IH_DEV int32_t ih_exact_frame_w(int32_t what) { return what & IH_KIND_WEIGHTED ? -IH_EXACT_BASE : 0; }

/* By one lane. most_e: all |y| are below 2^most_e. */
IH_DEV void ih_exact_rule_of(const ih_block_job *job, ih_exact_room *room, int32_t what, int32_t most_e)
{
    const int32_t weighted = what & IH_KIND_WEIGHTED;
    ih_exact_rule r;

    r.ratio = r.z = r.z_low = 0.0;
    r.ratio_e = r.unused = 0;
    r.scale   = -most_e;
    r.code    = IH_RULE_ZERO;
    if (room->sign_g && !(what & IH_SUM_Y && ((job->y_min > -INFINITY && ih_exact_side(room, job->y_min, weighted) < 0) ||
                                              (job->y_max < INFINITY && ih_exact_side(room, job->y_max, weighted) > 0)))) {
        r.code    = IH_RULE_RATIO;
        r.ratio_e = ih_exact_quotient(room->g, IH_EXACT_W, room, &r.ratio) - IH_EXACT_BASE - ih_exact_frame_w(what);
        r.ratio *= room->sign_g;
        if (what & IH_SUM_Y && room->sign_s) {
            const double  z = ih_exact_round_mean(room, weighted);
            int32_t       e, sign;
            const uint64_t m = ih_exact_parts(z, &e);
            sign = ih_exact_remainder(room, m, e, weighted);
            r.z  = room->sign_s * ldexp(z, r.scale);
            if (sign) {
                double q;
                for (int32_t k = 0; k < IH_EXACT_S; ++k) room->s[k] = sign < 0 ? (int64_t)(uint32_t)~room->rest[k] : (int64_t)room->rest[k];
                if (sign < 0) { /* |rest| = ~rest + 1 */
                    ++room->s[0];
                    ih_exact_carry(room->s, IH_EXACT_S);
                }
                e       = ih_exact_quotient(room->s, IH_EXACT_S, room, &q) - IH_EXACT_BASE;
                r.z_low = room->sign_s * sign * ldexp(q, e + r.scale);
            }
        }
    }
    room->rule = r;
}

/* m 2^e in the type. */
IH_DEV void ih_exact_put(void *to, int64_t i, double m, int32_t e, int32_t kind) { ih_job_put(to, i, m == 0.0 ? 0.0 : ldexp(m, e), kind); }

/* Gradient in y: w times the ratio. In w: with |y 2^scale| below 1, y - z loses at most 2^-52 of the largest |y - z|, as
 * values that differ do so by 2^-53 of the largest |y|. */
IH_DEV void ih_exact_write(const ih_block_job *job, const ih_exact_rule *r, int64_t a, int64_t b, const int32_t what)
{
    for (int64_t i = a + (threadIdx.x & 31); i < b; i += 32) {
        if (job->grad_y) {
            double  m = 1.0;
            int32_t e = 0;
            if (what & IH_KIND_WEIGHTED) m = (double)ih_exact_parts(ih_load(job->w, i, what), &e);
            ih_exact_put(job->grad_y, i, m * r->ratio, e + r->ratio_e, what);
        }
        if (job->grad_w) {
            const ih_pair d = ih_two_diff(ldexp(ih_load(job->y, i, what), r->scale), r->z);
            ih_exact_put(job->grad_w, i, r->code == IH_RULE_ZERO ? 0.0 : (d.hi + (d.lo - r->z_low)) * r->ratio, r->ratio_e - r->scale, what);
        }
    }
}

/* ---- faults ---- */

IH_DEV ih_fault ih_job_fault(double v, int32_t positive)
{
    if (v != v) return IH_FAULT_NAN;
    if (positive && v < 0) return IH_FAULT_NEGATIVE;
    if (fabs(v) == INFINITY) return IH_FAULT_INFINITE;
    return positive && v == 0 ? IH_FAULT_ZERO : IH_FAULT_NONE;
}

/* Does [a, b) hold a value that is not allowed? Then the row gets NaN. By a warp. */
IH_DEV int32_t ih_job_faults(const ih_block_job *job, int64_t a, int64_t b, const int32_t what)
{
    uint64_t first = 0;

    for (int64_t i = a + (threadIdx.x & 31); i < b && !first; i += 32) {
        const ih_fault y = what & IH_SUM_Y ? ih_job_fault(ih_load(job->y, i, what), 0) : IH_FAULT_NONE;
        const ih_fault w = what & IH_KIND_WEIGHTED ? ih_job_fault(ih_load(job->w, i, what), 1) : IH_FAULT_NONE;
        const ih_fault g = ih_job_fault(ih_load(job->g, i, what), 0);
        if (y) first = ~(((uint64_t)i << 6) + (IH_ARGUMENT_Y << 3) + (uint64_t)y);
        else if (w) first = ~(((uint64_t)i << 6) + (IH_ARGUMENT_W << 3) + (uint64_t)w);
        else if (g) first = ~(((uint64_t)i << 6) + (IH_ARGUMENT_G << 3) + (uint64_t)g);
    }
    if (first) {
        const int64_t row = ih_job_row_of(job, a);
        atomicMax((unsigned long long *)&job->status->fault, (unsigned long long)first);
        atomicOr(&job->bad_rows[row >> 5], 1u << (row & 31));
    }
    return __any_sync(IH_EVERY_LANE, first != 0);
}

/* ---- kernels' bodies: the warps of the grid share the words of open_bits, and the pieces of huge blocks ---- */

IH_DEV void ih_exact_gradient(const ih_block_job *job, ih_exact_room *room, int64_t a, int64_t b, ih_block_huge *huge, const int32_t what)
{
    int32_t most_e;

    if (huge ? huge->bad : ih_job_faults(job, a, b, what)) return;
    ih_exact_sums(job, room, a, b, huge, what, &most_e);
    if ((threadIdx.x & 31) == 0) {
        ih_exact_rule_of(job, room, what, most_e);
        if (huge) huge->rule = room->rule;
    }
    __syncwarp();
    if (!huge) ih_exact_write(job, &room->rule, a, b, what);
    __syncwarp();
}

IH_DEV void ih_exact_mean(const ih_block_job *job, ih_exact_room *room, int64_t k, int64_t a, int64_t b, const ih_block_huge *huge, const int32_t what)
{
    const int32_t fault = job->state[ih_job_row_of(job, a)] & IH_ROW_FAULT;
    int32_t       most_e;

    if (!fault) ih_exact_sums(job, room, a, b, huge, what, &most_e);
    if ((threadIdx.x & 31) == 0) {
        const double sign = !fault && room->sign_s < 0 ? -1.0 : 1.0;
        if (job->weights) job->weights[k] = fault ? NAN : what & IH_KIND_WEIGHTED ? ih_exact_round_weight(room->w, -IH_EXACT_BASE) : (double)(b - a);
        if (job->means) job->means[k] = fault ? NAN : sign * ih_exact_round_mean(room, what & IH_KIND_WEIGHTED);
    }
    __syncwarp();
}

IH_DEV int64_t ih_exact_warp(void) { return (int64_t)blockIdx.x * (IH_EXACT_THREADS / 32) + (threadIdx.x >> 5); }
IH_DEV int64_t ih_exact_warps(void) { return (int64_t)gridDim.x * (IH_EXACT_THREADS / 32); }

/* Huge blocks are summed by all warps, each first for itself. */
IH_DEV void ih_exact_huge(const ih_block_job *job, const int32_t what)
{
    IH_SHARED(shared);
    ih_exact_room *const room  = (ih_exact_room *)shared + (threadIdx.x >> 5);
    const int64_t        count = (int64_t)job->open[1], step = ih_exact_warps() * IH_EXACT_PIECE;
    const int32_t        lane  = (int32_t)(threadIdx.x & 31);

    for (int64_t number = 0; number < count; ++number) {
        ih_block_huge *const h    = &job->huge[number];
        const int64_t        from = h->a + ih_exact_warp() * IH_EXACT_PIECE;
        int32_t              top = -1074, bad = 0;

        if (from >= h->b) continue;
        ih_exact_clear(room);
        for (int64_t a = from; a < h->b; a += step) {
            const int64_t b = h->b - a < IH_EXACT_PIECE ? h->b : a + IH_EXACT_PIECE;
            if (what & IH_SUM_G) bad |= ih_job_faults(job, a, b, what);
            ih_exact_accumulate(job, room, a, b, what, &top);
        }
        top = ih_exact_most(top);
        if (lane == 0) {
            atomicMax(&h->most_e, top);
            if (bad) atomicOr(&h->bad, 1);
        }
        for (int32_t k = lane; k < IH_EXACT_S; k += 32)
            if (room->s[k]) atomicAdd((unsigned long long *)&h->s[k], (unsigned long long)room->s[k]);
        for (int32_t k = lane; k < IH_EXACT_W; k += 32) {
            if (room->w[k]) atomicAdd((unsigned long long *)&h->w[k], (unsigned long long)room->w[k]);
            if (room->g[k]) atomicAdd((unsigned long long *)&h->g[k], (unsigned long long)room->g[k]);
        }
        __syncwarp();
    }
}

IH_DEV void ih_exact_blocks(const ih_block_job *job, const int32_t what)
{
    IH_SHARED(shared);
    ih_exact_room *const room = (ih_exact_room *)shared + (threadIdx.x >> 5);
    const int64_t        words = (job->total + 31) / 32;
    int64_t              blocks;

    if (job->open[0] == 0) return;
    blocks = ih_job_blocks(job);
    for (int64_t word = ih_exact_warp(); word < words; word += ih_exact_warps())
        for (uint32_t rest = job->open_bits[word]; rest; rest &= rest - 1) {
            const int64_t  a = word * 32 + ih_bit_low(rest), k = ih_job_search(job, a), b = ih_job_block_end(job, k, blocks);
            ih_block_huge *huge = b - a > IH_HUGE ? &job->huge[job->rule[a / IH_WINDOW].huge] : NULL;
            if (what & IH_SUM_MEANS) ih_exact_mean(job, room, k, a, b, huge, what);
            else ih_exact_gradient(job, room, a, b, huge, what);
        }
}

/* Gradients of huge blocks. */
IH_DEV void ih_exact_spread(const ih_block_job *job, const int32_t what)
{
    const int64_t count = (int64_t)job->open[1], step = ih_exact_warps() * IH_EXACT_PIECE;

    for (int64_t number = 0; number < count; ++number) {
        const ih_block_huge *const h = &job->huge[number];
        if (h->bad) continue;
        for (int64_t a = h->a + ih_exact_warp() * IH_EXACT_PIECE; a < h->b; a += step)
            ih_exact_write(job, &h->rule, a, h->b - a < IH_EXACT_PIECE ? h->b : a + IH_EXACT_PIECE, what);
    }
}

#endif
#endif
