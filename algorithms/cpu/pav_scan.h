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
static inline void FN(pending_chunk)(FN(pending) *p, const pav_chunk *ch)
{
    const double s = p->s + ch->s, mag = ch->W * fmax(fabs(ch->low), fabs(ch->high));
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
static inline void FN(pending_push)(FN(ctx) *c, FN(pending) *p, int64_t b)
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

enum { FN(PARTS) = 4 };

/* Cumulative sums around a tile: entry j belongs to the boundary before element origin + j. */
typedef struct FN(tile) {
    double V[PAV_TILE + 2 * PAV_HALO + 16];     /* values after the sign                                  */
    double Q[PAV_TILE + 2 * PAV_HALO + 16];     /* sums of w (y - shift); far up outside of the row        */
    double U[PAV_WEIGHTED ? PAV_TILE + 2 * PAV_HALO + 16 : 1]; /* sums of w                                */
    double epsQ, epsU, T, shift;                /* errors of one entry of Q and U, sum of |w (y - shift)|    */
} FN(tile);

/* Elements [a, b) into entries a - origin on. Four chains of additions run side by side. */
static void FN(tile_sums)(FN(ctx) *c, FN(tile) *t, int64_t origin, int64_t a, int64_t b)
{
    const int64_t count = b - a, part = (count + 3) / 4, from = a - origin;
    double        Q[FN(PARTS)] = { 0 }, U[FN(PARTS)] = { 0 }, T[FN(PARTS)] = { 0 }, total = 0, weight = 0;
    int64_t       k = 0;

#define PAV_STEP(l, i)                                                                                                                 \
    {                                                                                                                                  \
        const int64_t at = (i);                                                                                                        \
        const double  v = FN(at)(c, a + at), x = PAV_WEIGHTED ? (v - t->shift) * (double)c->w[a + at] : v - t->shift;                   \
        t->V[from + at] = v;                                                                                                           \
        t->Q[from + at] = Q[l];                                                                                                        \
        Q[l] += x;                                                                                                                     \
        T[l] += fabs(x);                                                                                                               \
        if (PAV_WEIGHTED) {                                                                                                            \
            t->U[from + at] = U[l];                                                                                                    \
            U[l] += (double)c->w[a + at];                                                                                              \
        }                                                                                                                              \
    }
    for (; k + 3 * part < count; ++k) { PAV_STEP(0, k) PAV_STEP(1, k + part) PAV_STEP(2, k + 2 * part) PAV_STEP(3, k + 3 * part) }
    for (; k < part; ++k) { /* the last part is shorter by up to three */
        PAV_STEP(0, k)
        if (k + part < count && part < count) PAV_STEP(1, k + part)
        if (k + 2 * part < count) PAV_STEP(2, k + 2 * part)
    }
#undef PAV_STEP
    for (int l = 0; l < FN(PARTS); ++l) {
        const int64_t first = from + l * part, end = from + (l + 1) * part < from + count ? from + (l + 1) * part : from + count;
        for (int64_t j = first; l && j < end; ++j) t->Q[j] += total;
        for (int64_t j = first; PAV_WEIGHTED && l && j < end; ++j) t->U[j] += weight;
        total += Q[l];
        weight += U[l];
    }
    t->Q[from + count] = total;
    if (PAV_WEIGHTED) t->U[from + count] = weight;
    t->T    = (T[0] + T[1] + T[2] + T[3]) * 1.01;
    t->epsQ = ((double)count + 8) * PAV_U * t->T + (double)count * PAV_TINY; /* two roundings in x, then at most count additions */
    t->epsU = PAV_WEIGHTED ? ((double)count + 8) * PAV_U * weight * 1.01 : 0;
}

/* Lanes of a window that reaches over an end of the row: lane l passes if l + before < 0 or l > behind. */
static inline uint32_t FN(outside)(int64_t before, int64_t behind)
{
    const int64_t low = before >= 0 ? 0 : -before > VL ? VL : -before, high = behind < 0 ? 0 : behind + 1 > VL ? VL : behind + 1;
    return ((1u << low) - 1u) | (~((1u << high) - 1u) & ((1u << VL) - 1u));
}

/* Scan the chunks [first, last) (at most PAV_TILE elements) under a chord of slope m; height is that of the first
 * boundary over the chord, with its error. */
static void FN(scan)(FN(ctx) *c, FN(pending) *p, int64_t first, int64_t last, double m, double height, double height_error)
{
    FN(tile)      t;
    const int64_t A = first * PAV_CHUNK, B = last * PAV_CHUNK < c->n ? last * PAV_CHUNK : c->n, origin = A - PAV_HALO;
    const int64_t a = A > PAV_HALO ? A - PAV_HALO : 0, b = B + PAV_HALO < c->n ? B + PAV_HALO : c->n;
    const int64_t end = B - origin; /* entries PAV_HALO .. end - 1 are this tile's boundaries */
    double        low = c->job->chunks[first].low, high = c->job->chunks[first].high, tolerance, lean, window;

    for (int64_t k = first + 1; k < last; ++k) {
        low  = fmin(low, c->job->chunks[k].low);
        high = fmax(high, c->job->chunks[k].high);
    }
    /* A shift with few bits near the values makes y - shift exact and small; without one the sums would carry the
     * rounding errors of a large common part. It is a multiple of a power of two that the spread reaches, so that a
     * row whose sums are exact keeps exact sums. */
    t.shift = 0;
    if (high > low && fmin(fabs(low), fabs(high)) > 4 * (high - low)) {
        int e;
        frexp(high - low, &e);
        if (e > -900) t.shift = ldexp(rint(ldexp(m, -(e - 1))), e - 1);
        if (!(t.shift >= low - (high - low) && t.shift <= high + (high - low))) t.shift = 0;
    }
    FN(tile_sums)(c, &t, origin, a, b);
    for (int64_t j = b - origin + 1; j < end + PAV_HALO + 8; ++j) { /* lanes past the row are read, and masked out */
        t.Q[j] = 0;
        if (PAV_WEIGHTED) t.U[j] = 0;
    }
    for (int64_t j = b - origin; j < end + 8; ++j) t.V[j] = 0;
    for (int64_t j = 0; j < a - origin; ++j) {
        t.V[j] = 0, t.Q[j] = 0;
        if (PAV_WEIGHTED) t.U[j] = 0;
    }
    {
        const double W = PAV_WEIGHTED ? t.U[b - origin] : (double)(b - a);
        lean      = m - t.shift;
        tolerance = height_error + 4 * t.epsQ + 4 * PAV_U * (fabs(height) + (fabs(m) + fabs(t.shift)) * W) + fabs(lean) * 4 * t.epsU
                    + 8 * PAV_U * fabs(lean) * W + PAV_TINY;
        tolerance += 0x1p-50 * (t.T + fabs(lean) * W) + 0x1p-1074; /* never 0: a point on the chord itself stays */
        window = PAV_WEIGHTED ? -(8 * (t.epsQ * W + t.epsU * t.T) + 0x1p-48 * t.epsQ * W + PAV_TINY) : -8 * t.epsQ;
    }

    const double base = height - t.Q[PAV_HALO], U0 = PAV_WEIGHTED ? t.U[PAV_HALO] : 0;
    int64_t      from = p->start > A ? p->start : A; /* entry up to which p holds the sum */
    double       lane[VL];
    for (int l = 0; l < VL; ++l) lane[l] = (double)l;
    vd       steps = v_load64(lane);
    const int     at_edge = A < PAV_HALO || B + PAV_HALO > c->n;
    const int64_t row_first = a - origin, row_end = b - origin; /* entries of the row's boundaries, where at_edge */
    const vd step = v_set1((double)VL), vbase = v_set1(base), vlean = v_set1(lean), vtol = v_set1(tolerance), vwin = v_set1(window);

    for (int64_t j = PAV_HALO; j < end; j += VL, steps = v_add(steps, step)) {
        const vd q = v_load64(t.Q + j);
        vd       along = steps;
        uint32_t keep;
        if (PAV_WEIGHTED) along = v_sub(v_load64(t.U + j), v_set1(U0));
        keep = v_gt(vtol, v_sub(v_add(vbase, q), v_mul(vlean, along))) & v_gt(v_load64(t.V + j), v_load64(t.V + j - 1));
        if (!keep) continue;
#define PAV_WINDOW(k)                                                                                                                  \
    {                                                                                                                                  \
        const vd right = v_sub(v_load64(t.Q + j + (k)), q), left = v_sub(q, v_load64(t.Q + j - (k)));                                   \
        uint32_t pass;                                                                                                                 \
        if (PAV_WEIGHTED) {                                                                                                            \
            const vd u = v_load64(t.U + j), wr = v_sub(v_load64(t.U + j + (k)), u), wl = v_sub(u, v_load64(t.U + j - (k)));             \
            pass = v_gt(v_sub(v_mul(right, wl), v_mul(left, wr)), vwin);                                                               \
        } else {                                                                                                                       \
            pass = v_gt(v_sub(right, left), vwin);                                                                                     \
        }                                                                                                                              \
        if (at_edge) pass |= FN(outside)(j - (k) - row_first, row_end - (k) - j);                                                      \
        keep &= pass;                                                                                                                  \
    }
        PAV_WINDOW(2)
        PAV_WINDOW(4)
        PAV_WINDOW(8)
        if (!keep) continue;
        PAV_WINDOW(16)
        PAV_WINDOW(32)
        PAV_WINDOW(64)
#undef PAV_WINDOW
        for (; keep; keep &= keep - 1) {
            const int64_t at = origin + j + __builtin_ctz(keep); /* the boundary before element at */
            if (at >= B) break;
            if (at == p->start) continue;
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
            from = at;
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
        pav_coarse       cur = { ch->s, ch->W, ch->low == ch->high ? ch->low : ch->s / ch->W, k };
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
static inline double FN(rise)(const pav_chunk *ch, double m, double *error)
{
    const double slope = m * ch->W;
    *error += 8 * PAV_U * (fabs(ch->s) + fabs(slope)) + 0x1p-80 * ch->W * fmax(fabs(ch->low), fabs(ch->high)) + PAV_TINY;
    return (ch->s - slope) + ch->lo;
}

/* The chunks [first, last) of a coarse block of slope m: drop those that stay above its chord, scan the others. Heights
 * are over the line of slope m through the block's first point; the chord itself lies off it by at most the height
 * that is found at the far end, so that height is part of the tolerance. */
static void FN(scan_block)(FN(ctx) *c, FN(pending) *p, int64_t first, int64_t last, double m)
{
    double  height = 0, error = 0, tile_height = 0;
    int64_t tile = -1; /* first chunk of the tile being gathered */

    for (int64_t k = first; k < last; ++k) {
        height += FN(rise)(&c->job->chunks[k], m, &error);
        error += 2 * PAV_U * fabs(height);
    }
    error += fabs(height);
    height = 0;
    for (int64_t k = first; k < last && c->end == PAV_DONE; ++k) {
        const pav_chunk *ch = &c->job->chunks[k];
        const double     h0 = height, down = fmax(m - ch->low, 0), up = fmax(ch->high - m, 0), area = ch->W * down * up;
        double           unused = 0, inside, tolerance;
        height += FN(rise)(ch, m, &unused);
        /* The diagram lies above h0 - down t and above height - up (W - t), which cross at inside / (up + down). */
        inside    = h0 * up + height * down - area;
        tolerance = error * (up + down) + 8 * PAV_U * (fabs(h0) * up + fabs(height) * down + area) + PAV_TINY;
        if (inside > 1.01 * tolerance) {
            if (tile >= 0) FN(scan)(c, p, tile, k, m, tile_height, error);
            tile = -1;
            FN(pending_chunk)(p, ch);
        } else {
            if (tile >= 0 && (k - tile + 1) * PAV_CHUNK > PAV_TILE) {
                FN(scan)(c, p, tile, k, m, tile_height, error);
                tile = -1;
            }
            if (tile < 0) tile = k, tile_height = h0;
        }
    }
    if (tile >= 0 && c->end == PAV_DONE) FN(scan)(c, p, tile, last, m, tile_height, error);
}

static void FN(filter_row)(FN(ctx) *c)
{
    const int64_t     blocks = FN(coarse)(c);
    const pav_coarse *coarse = c->job->coarse;
    FN(pending)       p;

    FN(pending_clear)(&p, 0);
    for (int64_t k = 0; k < blocks && c->end == PAV_DONE; ++k) {
        const int64_t first = coarse[k].first, last = k + 1 < blocks ? coarse[k + 1].first : c->n_chunks;
        if (last - first == 1 && c->job->chunks[first].rising) {
            const int64_t a = first * PAV_CHUNK, b = last * PAV_CHUNK < c->n ? last * PAV_CHUNK : c->n;
            FN(pending_push)(c, &p, a);
            FN(push_run)(c, a, b);
            FN(pending_clear)(&p, b);
        } else {
            FN(scan_block)(c, &p, first, last, coarse[k].m);
        }
    }
    if (c->end == PAV_DONE) FN(pending_push)(c, &p, c->n);
}
