/* SPDX-License-Identifier: Apache-2.0
 * pav_scan.h: a part of pav_tmpl.h: which boundaries between elements can be vertices of the lower hull at all.
 *
 * A boundary strictly above a chord between two points of the diagram is no vertex, whatever happens to those two points
 * later. So a coarse hull of the chunk starts, in plain doubles, gives chords; a chunk that cannot reach its chord is
 * dropped by its record alone; in the others a boundary stays only if it reaches the chord, the value rises there, and
 * the means of the 2, 4, ..., 64 elements before it are below those behind it. Boundaries kept in error cost time, a
 * boundary dropped in error would cost the result: every test allows for its rounding errors. */

/* What has been read but not pushed: [start, at), at the end of what was read. */
typedef struct FN(pending) {
    int64_t start;
    double  s, lo, e, W, Wlo, eW; /* |sum - (s + lo)| <= e + the low parts' own errors, see FN(pending_chunk) */
} FN(pending);

static inline void FN(pending_clear)(FN(pending) *p, int64_t start)
{
    p->start = start;
    p->s = 0, p->lo = 0, p->e = 0, p->W = 0, p->Wlo = 0, p->eW = 0;
}

/* A whole chunk by its record, whose own error is below 2^-86 mag (pav_chunk); the low part's additions round at u of
 * themselves. */
static inline void FN(pending_chunk)(const FN(ctx) *c, FN(pending) *p, const pav_chunk *ch)
{
    const double s = p->s + ch->s, mag = FN(magnitude)(c, ch);
    p->lo += sum_error(p->s, ch->s, s) + ch->lo;
    p->s = s;
    p->e += 0x1p-80 * (mag + fabs(s)) + 2 * PAV_U * fabs(p->lo) + PAV_TINY;
    if (PAV_WEIGHTED) {
        const double W = p->W + ch->W;
        p->Wlo += sum_error(p->W, ch->W, W) + ch->Wlo;
        p->W = W;
        p->eW += 0x1p-80 * W + 2 * PAV_U * fabs(p->Wlo);
    } else {
        p->W += ch->W;
    }
}

/* Push [p->start, b) with what was pending, and begin anew at b. */
static __attribute__((noinline)) void FN(pending_push)(FN(ctx) *c, FN(pending) *p, int64_t b)
{
    if (b - p->start == 1) {
        FN(push_element)(c, p->start);
    } else if (b > p->start) {
        pav_entry cur;
        cur.s     = p->s + p->lo;
        cur.e     = p->e + PAV_U * fabs(cur.s);
        cur.W     = PAV_WEIGHTED ? p->W + p->Wlo : p->W;
        cur.eW    = PAV_WEIGHTED ? p->eW + PAV_U * cur.W : 0;
        cur.start = p->start;
        if (FN(one_value)(c, cur.start, b)) FN(push_level)(c, cur.start, b, cur);
        else FN(push_block)(c, cur, b);
    }
    FN(pending_clear)(p, b);
}

/* Cumulative sums around a tile: entry j belongs to the boundary before element origin + j. */
enum { FN(ENTRIES) = PAV_TILE + 2 * PAV_HALO + 2 * 64 };

typedef struct FN(tile) {
    double V[FN(ENTRIES)];                    /* values after the sign                                    */
    double Q[FN(ENTRIES)];                    /* sums of w (y - shift)                                    */
    double U[PAV_WEIGHTED ? FN(ENTRIES) : 1]; /* sums of w                                                */
    double epsQ, epsU, T, shift;              /* errors of an entry of Q and of U; >= sum of |w (y - shift)|  */
} FN(tile);

/* Elements [a, b) into entries a - origin on; t->T is set by the caller. */
static void FN(tile_sums)(FN(ctx) *c, FN(tile) *t, int64_t origin, int64_t a, int64_t b)
{
    const vd shift = v_set1(t->shift);
    double  *V = t->V + (a - origin), *Q = t->Q + (a - origin), *U = t->U + (PAV_WEIGHTED ? a - origin : 0);
    vd       q = v_set1(0.0), u = q;
    int64_t  i = 0;
    const int64_t count = b - a;

    Q[0] = 0;
    if (PAV_WEIGHTED) U[0] = 0;
    for (; i + VL <= count; i += VL) {
        const vd v = FN(values)(c, a + i);
        vd       x = v_sub(v, shift);
        v_store(V + i, v);
        if (PAV_WEIGHTED) {
            const vd w = FN(load)(c->w + a + i);
            x = v_mul(x, w);
            u = v_add(v_last(u), v_prefix(w));
            v_store(U + i + 1, u);
        }
        q = v_add(v_last(q), v_prefix(x));
        v_store(Q + i + 1, q);
    }
    for (; i < count; ++i) {
        const double v = FN(at)(c, a + i), w = FN(weight_at)(c, a + i);
        V[i]     = v;
        Q[i + 1] = Q[i] + (v - t->shift) * w;
        if (PAV_WEIGHTED) U[i + 1] = U[i] + w;
    }
    /* two roundings in a term, then fewer than count + 8 additions */
    t->epsQ = ((double)count + 16) * PAV_U * t->T + (double)count * PAV_TINY;
    t->epsU = PAV_WEIGHTED ? ((double)count + 8) * PAV_U * U[count] * 1.01 : 0;
}

/* Lanes of a window that reaches over an end of the row: lane l passes if l + before < 0 or l > behind. */
static inline uint32_t FN(outside)(int64_t before, int64_t behind)
{
    const int64_t low = before >= 0 ? 0 : -before > VL ? VL : -before, high = behind < 0 ? 0 : behind + 1 > VL ? VL : behind + 1;
    return ((1u << low) - 1u) | (~((1u << high) - 1u) & ((1u << VL) - 1u));
}

/* What the mask of a tile needs besides its sums. */
typedef struct FN(chord) {
    double  base, lean, tolerance, window; /* height over the chord of entry j: base + Q[j] - lean (U[j] - U[PAV_HALO]) */
    int     at_edge;                       /* windows may reach over an end of the row, whose boundaries are            */
    int64_t row_first, row_end;            /* these entries                                                             */
} FN(chord);

/* Windows of 2, 4, ... elements, up to the halo of the tile: a chunk alone is not worth a halo as long as itself. */
enum { FN(WINDOWS) = 6, FN(WINDOWS_ALONE) = 4, FN(HALO_ALONE) = 1 << FN(WINDOWS_ALONE) };

/* The boundaries of entries j .. j + 63 that may be vertices, as bits. At a vertex every mean of elements that end there
 * is below every mean of elements that begin there. Unweighted: the largest mean on the left against the smallest on the
 * right; scaling by powers of two is exact. Weighted: equal windows against each other, without a division. */
static inline __attribute__((always_inline)) uint64_t FN(candidates)(const FN(tile) *t, const FN(chord) *h, int64_t j, const int windows)
{
    const vd vbase = v_set1(h->base), vlean = v_set1(h->lean), vtol = v_set1(h->tolerance), vwin = v_set1(h->window);
    const vd U0 = v_set1(PAV_WEIGHTED ? t->U[PAV_HALO] : 0);
    double   lane[VL];
    uint64_t word = 0;
    vd       along;

    for (int l = 0; l < VL; ++l) lane[l] = (double)(j - PAV_HALO + l);
    along = v_load64(lane);
    for (int64_t k = 0; k < 64; k += VL, j += VL, along = v_add(along, v_set1((double)VL))) {
        const vd q = v_load64(t->Q + j), left_one = v_load64(t->V + j - 1), right_one = v_load64(t->V + j);
        uint32_t keep;
        const vd weight = PAV_WEIGHTED ? v_sub(v_load64(t->U + j), U0) : along;
        keep = v_gt(vtol, v_sub(v_add(vbase, q), v_mul(vlean, weight))) & v_gt(right_one, left_one);
        if (!keep) continue; /* whole stretches are above the chord, or falling: well predicted */
        if (PAV_WEIGHTED) {
            const vd u = v_load64(t->U + j);
            for (int e = 1; e <= windows; ++e) {
                const vd right = v_sub(v_load64(t->Q + j + (1 << e)), q), left = v_sub(q, v_load64(t->Q + j - (1 << e)));
                const vd wr = v_sub(v_load64(t->U + j + (1 << e)), u), wl = v_sub(u, v_load64(t->U + j - (1 << e)));
                uint32_t pass = v_gt(v_sub(v_mul(right, wl), v_mul(left, wr)), vwin);
                if (h->at_edge) pass |= FN(outside)(j - (1 << e) - h->row_first, h->row_end - (1 << e) - j);
                keep &= pass;
            }
        } else if (!h->at_edge) {
            vd lowest = v_sub(right_one, v_set1(t->shift)), highest = v_sub(left_one, v_set1(t->shift));
            for (int e = 1; e <= windows; ++e) {
                const vd scale = v_set1(1.0 / (1 << e));
                lowest  = v_min(lowest, v_mul(v_sub(v_load64(t->Q + j + (1 << e)), q), scale));
                highest = v_max(highest, v_mul(v_sub(q, v_load64(t->Q + j - (1 << e))), scale));
            }
            keep &= v_gt(v_sub(lowest, highest), vwin);
        } else {
            for (int e = 1; e <= windows; ++e) {
                const vd right = v_sub(v_load64(t->Q + j + (1 << e)), q), left = v_sub(q, v_load64(t->Q + j - (1 << e)));
                keep &= v_gt(v_sub(right, left), vwin) | FN(outside)(j - (1 << e) - h->row_first, h->row_end - (1 << e) - j);
            }
        }
        word |= (uint64_t)keep << k;
    }
    return word;
}

/* Scan the chunks [first, last) (at most PAV_TILE elements) under a chord of slope m; height is that of the first
 * boundary over the chord, with its error. */
static void FN(scan)(FN(ctx) *c, FN(pending) *p, int64_t first, int64_t last, double m, double height, double height_error)
{
    FN(tile)      t;
    const int64_t A = first * PAV_CHUNK, B = last * PAV_CHUNK < c->n ? last * PAV_CHUNK : c->n, origin = A - PAV_HALO;
    const int64_t halo = last - first > 1 ? (int64_t)PAV_HALO : (int64_t)FN(HALO_ALONE);
    const int64_t a = A > halo ? A - halo : 0, b = B + halo < c->n ? B + halo : c->n;
    const int64_t end = B - origin; /* entries PAV_HALO .. end - 1 are this tile's boundaries */
    double        low = c->job->chunks[first].low, high = c->job->chunks[first].high;
    FN(chord)     h;

    for (int64_t k = first + 1; k < last; ++k) {
        low  = smaller(low, c->job->chunks[k].low);
        high = larger(high, c->job->chunks[k].high);
    }
    /* A shift with few bits near the values makes y - shift exact and small; without one the sums would carry the
     * rounding errors of a large common part. It is a multiple of a power of two that the spread reaches, so that a
     * row whose sums are exact keeps exact sums. */
    t.shift = 0;
    if (high > low && smaller(fabs(low), fabs(high)) > 4 * (high - low)) {
        int e;
        frexp(high - low, &e);
        if (e > -900) t.shift = ldexp(rint(ldexp(m, -(e - 1))), e - 1);
        if (!(t.shift >= low - (high - low) && t.shift <= high + (high - low))) t.shift = 0;
    }
    {
        double largest = larger(fabs(low - t.shift), fabs(high - t.shift));
        double W = 0;
        const int64_t before = first > 0 ? first - 1 : first, behind = last < c->n_chunks ? last : last - 1; /* the halo's chunks */
        for (int64_t k = before; k <= behind; ++k) {
            const pav_chunk *ch = &c->job->chunks[k];
            largest = larger(largest, larger(fabs(ch->low - t.shift), fabs(ch->high - t.shift)));
            W += ch->W;
        }
        t.T = 1.01 * largest * W;
    }
    h.at_edge = A < halo || B + halo > c->n;
    FN(tile_sums)(c, &t, origin, a, b);
    for (int64_t j = b - origin + 1; h.at_edge && j < FN(ENTRIES); ++j) { /* lanes past the row are read, and masked out */
        t.Q[j] = 0;
        if (PAV_WEIGHTED) t.U[j] = 0;
    }
    for (int64_t j = b - origin; h.at_edge && j < FN(ENTRIES); ++j) t.V[j] = 0;
    for (int64_t j = 0; j < a - origin; ++j) {
        t.V[j] = 0, t.Q[j] = 0;
        if (PAV_WEIGHTED) t.U[j] = 0;
    }
    {
        const double W = PAV_WEIGHTED ? t.U[b - origin] : (double)(b - a);
        h.lean      = m - t.shift;
        h.base      = height - t.Q[PAV_HALO];
        h.tolerance = height_error + 4 * t.epsQ + 4 * PAV_U * (fabs(height) + (fabs(m) + fabs(t.shift)) * W) + fabs(h.lean) * 4 * t.epsU
                      + 8 * PAV_U * fabs(h.lean) * W + 0x1p-50 * (t.T + fabs(h.lean) * W) + PAV_TINY;
        h.tolerance += 0x1p-1074; /* never 0: a point on the chord itself stays */
        /* a window's sum is off by 2 epsQ and a rounding, on both sides; means of it by no more */
        h.window    = PAV_WEIGHTED ? -(8 * (t.epsQ * W + t.epsU * t.T) + 0x1p-48 * t.epsQ * W + PAV_TINY) : -(8 * t.epsQ + 0x1p-1070); /* a scaled mean may be subnormal */
        h.row_first = a - origin;
        h.row_end   = b - origin;
    }

    int64_t from = p->start > A ? p->start : A; /* p holds the sum up to here */

    for (int64_t j = PAV_HALO; j < end; j += 64) {
        uint64_t word = halo == PAV_HALO ? FN(candidates)(&t, &h, j, FN(WINDOWS)) : FN(candidates)(&t, &h, j, FN(WINDOWS_ALONE));
        if (end - j < 64) word &= ((uint64_t)1 << (end - j)) - 1;
        while (word) {
            const int     bit = __builtin_ctzll(word);
            const int64_t at = origin + j + bit; /* the boundary before element at */
            const uint64_t after = ~(word >> bit);
            const int     in_a_row = after ? __builtin_ctzll(after) : 64; /* boundaries: values that rise one by one */
            word = in_a_row + bit < 64 ? word & (~(uint64_t)0 << (in_a_row + bit)) : 0;
            if (at - p->start > 1) {
                const int64_t f = from - origin, g = at - origin;
                const double  W = PAV_WEIGHTED ? t.U[g] - t.U[f] : (double)(at - from), dQ = t.Q[g] - t.Q[f], add = dQ + t.shift * W;
                p->s += add;
                p->e += 2 * t.epsQ + 2 * PAV_U * (fabs(dQ) + fabs(t.shift) * W + fabs(add) + fabs(p->s));
                p->W += W;
                if (PAV_WEIGHTED) {
                    p->eW += 2 * t.epsU + 2 * PAV_U * p->W;
                    p->e += 2 * fabs(t.shift) * t.epsU;
                }
            }
            FN(pending_push)(c, p, at);
            if (in_a_row > 1) {
                FN(push_run)(c, at, at + in_a_row - 1);
                p->start = at + in_a_row - 1;
            }
            from = p->start;
        }
    }
    if (B > from) { /* what is left waits for the next boundary */
        const int64_t f = from - origin, g = B - origin;
        const double  W = PAV_WEIGHTED ? t.U[g] - t.U[f] : (double)(B - from), dQ = t.Q[g] - t.Q[f], add = dQ + t.shift * W, s = p->s + add;
        p->lo += sum_error(p->s, add, s);
        p->s = s;
        p->e += 2 * t.epsQ + 2 * PAV_U * (fabs(dQ) + fabs(t.shift) * W + fabs(add) + fabs(p->lo));
        if (PAV_WEIGHTED) {
            p->Wlo += sum_error(p->W, W, p->W + W);
            p->eW += 2 * t.epsU + 2 * PAV_U * (W + fabs(p->Wlo));
            p->e += 2 * fabs(t.shift) * t.epsU;
        }
        p->W += W;
    }
}

/* Pool adjacent violators over the chunks, in plain doubles: its blocks end at real points, so their chords are valid
 * whatever the rounding. Chunks of one value compare by it, so that rounding does not pool a constant row. */
static int64_t FN(coarse)(FN(ctx) *c)
{
    pav_coarse *blocks = c->job->coarse;
    int64_t     top    = -1;

    for (int64_t k = 0; k < c->n_chunks; ++k) {
        const pav_chunk *ch = &c->job->chunks[k];
        pav_coarse       cur = { ch->s, ch->W, ch->low == ch->high ? ch->low : ch->s / ch->W, 0, k };
        while (top >= 0 && blocks[top].m > cur.m) {
            cur.s += blocks[top].s;
            cur.W += blocks[top].W;
            cur.m     = cur.s / cur.W;
            cur.first = blocks[top].first;
            --top;
        }
        blocks[++top] = cur;
    }
    return top + 1;
}

/* Height over the line of slope m that a chunk adds, and the error of it. */
static inline double FN(rise)(const FN(ctx) *c, const pav_chunk *ch, double m, double *error)
{
    const double slope = m * ch->W;
    *error += 8 * PAV_U * (fabs(ch->s) + fabs(slope)) + 0x1p-80 * FN(magnitude)(c, ch) + PAV_TINY;
    return (ch->s - slope) + ch->lo;
}

/* Which chunks [first, last) of a coarse block may reach its chord. Heights are over the line of slope m through the
 * block's first point; the chord itself lies off it by at most the height that is found at the far end, so that height
 * is part of the tolerance. */
static void FN(mark_block)(FN(ctx) *c, pav_coarse *block, int64_t first, int64_t last)
{
    const double m = block->m;
    double       height = 0, error = 0;

    for (int64_t k = first; k < last; ++k) {
        pav_chunk *ch = &c->job->chunks[k];
        ch->height    = height;
        height += FN(rise)(c, ch, m, &error);
        error += 2 * PAV_U * fabs(height);
    }
    block->tolerance = error + fabs(height);
    for (int64_t k = first; k < last; ++k) {
        pav_chunk   *ch = &c->job->chunks[k];
        const double h0 = ch->height, h1 = k + 1 < last ? ch[1].height : height;
        const double down = larger(m - ch->low, 0), up = larger(ch->high - m, 0), area = ch->W * down * up;
        /* The diagram lies above h0 - down t and above h1 - up (W - t), which cross at inside / (up + down). */
        const double inside    = h0 * up + h1 * down - area;
        const double tolerance = block->tolerance * (up + down) + 8 * PAV_U * (fabs(h0) * up + fabs(h1) * down + area) + PAV_TINY;
        ch->keep               = !(inside > 1.01 * tolerance);
    }
    if (last - first == 1 && c->job->chunks[first].rising) c->job->chunks[first].keep = 0; /* a run: not looked at */
}

/* The values of a chunk that will be looked at soon: the chunks kept may be far apart in memory. */
static inline void FN(prefetch)(const FN(ctx) *c, int64_t k)
{
    enum { LINE = 64 / sizeof(real) };
    if (k >= c->n_chunks || !c->job->chunks[k].keep) return;
    for (int64_t i = k * PAV_CHUNK - PAV_HALO; i < (k + 1) * PAV_CHUNK + PAV_HALO; i += LINE) {
        __builtin_prefetch(c->y + i);
        if (PAV_WEIGHTED) __builtin_prefetch(c->w + i);
    }
}

static void FN(filter_row)(FN(ctx) *c)
{
    enum { AHEAD = 12 };
    const int64_t    blocks = FN(coarse)(c);
    pav_coarse      *coarse = c->job->coarse;
    const pav_chunk *chunks = c->job->chunks;
    FN(pending)      p;

    for (int64_t k = 0; k < blocks; ++k) FN(mark_block)(c, &coarse[k], coarse[k].first, k + 1 < blocks ? coarse[k + 1].first : c->n_chunks);
    FN(pending_clear)(&p, 0);
    for (int64_t k = 0; k < blocks && c->end == PAV_DONE; ++k) {
        const int64_t first = coarse[k].first, last = k + 1 < blocks ? coarse[k + 1].first : c->n_chunks;
        if (last - first == 1 && chunks[first].rising) {
            const int64_t a = first * PAV_CHUNK, b = last * PAV_CHUNK < c->n ? last * PAV_CHUNK : c->n;
            FN(prefetch)(c, first + AHEAD);
            FN(pending_push)(c, &p, a);
            FN(push_run)(c, a, b);
            FN(pending_clear)(&p, b);
            continue;
        }
        for (int64_t i = first; i < last && c->end == PAV_DONE;) {
            if (!chunks[i].keep) {
                FN(prefetch)(c, i + AHEAD);
                FN(pending_chunk)(c, &p, &chunks[i++]);
            } else {
                int64_t end = i;
                while (end < last && chunks[end].keep && end - i < PAV_TILE / PAV_CHUNK) FN(prefetch)(c, AHEAD + end++);
                FN(scan)(c, &p, i, end, coarse[k].m, chunks[i].height, coarse[k].tolerance);
                i = end;
            }
        }
    }
    if (c->end == PAV_DONE) FN(pending_push)(c, &p, c->n);
}
