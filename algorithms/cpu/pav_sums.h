/* SPDX-License-Identifier: Apache-2.0
 * pav_sums.h: a part of pav_tmpl.h: sums of values times weights as unevaluated pairs: of every chunk (the first pass
 * over the row) and of any range (when a decision or a mean needs it).
 *
 * Error of a pair. An addition with an error-free transform loses nothing: its error term goes to the low part, and only
 * the low part's own additions round. There are at most k of them in a chain, each on a value of at most `lost`, the sum
 * of the absolute error terms; so the pair is off by k u lost at most. Within a chunk's record the low part has at most
 * 128 terms of 128 u mag. Products of float64 values and weights bring their own error term, exact unless it underflows:
 * 2^-1070 an element covers that. float32 products are exact. */

/* value i of the row, after sign and shift (see FN(shift_row)) */
static inline double FN(at)(const FN(ctx) *c, int64_t i)
{
    return IH_REAL_BITS == 64 ? c->sgn * (double)c->y[i] - c->m0 : c->sgn * (double)c->y[i];
}

/* max|value| W of a chunk before the shift: what the error of its record is proportional to */
static inline double FN(magnitude)(const FN(ctx) *c, const pav_chunk *ch)
{
    return ch->W * (larger(fabs(ch->low), fabs(ch->high)) + fabs(c->m0));
}

static inline double FN(weight_at)(const FN(ctx) *c, int64_t i) { return PAV_WEIGHTED ? (double)c->w[i] : 1.0; }

#if IH_REAL_BITS == 32
static inline vd FN(load)(const real *p) { return v_load32(p); }
#else
static inline vd FN(load)(const real *p) { return v_load64(p); }
#endif

/* VL values from i on, after sign and shift */
static inline vd FN(values)(const FN(ctx) *c, int64_t i)
{
    const vd v = v_xor(FN(load)(c->y + i), v_set1(c->sgn < 0 ? -0.0 : 0.0));
    return IH_REAL_BITS == 64 ? v_sub(v, v_set1(c->m0)) : v;
}

/* A sum in the making. */
typedef struct FN(sum) {
    double s, lo, lost;    /* s + lo; the sum of |error terms|                        */
    double W, Wlo, Wlost;
    double records, Wrecords; /* sums of max|y| W and of W over chunks taken from records that are not exact  */
    double k;              /* longest chain of additions                               */
} FN(sum);

static inline void FN(sum_add)(FN(sum) *t, double x, double x_lo)
{
    const double s = t->s + x, err = sum_error(t->s, x, s);
    t->lo += err + x_lo;
    t->lost += fabs(err) + fabs(x_lo);
    t->s = s;
}

static inline void FN(sum_add_weight)(FN(sum) *t, double w, double w_lo)
{
    const double W = t->W + w, err = sum_error(t->W, w, W);
    t->Wlo += err + w_lo;
    t->Wlost += fabs(err) + fabs(w_lo);
    t->W = W;
}

static inline void FN(sum_one)(const FN(ctx) *c, FN(sum) *t, int64_t i)
{
    const double v = FN(at)(c, i);
    if (PAV_WEIGHTED) {
        const double w = (double)c->w[i], p = v * w;
        FN(sum_add)(t, p, IH_REAL_BITS == 64 ? prod_error(v, w, p) : 0.0);
        FN(sum_add_weight)(t, w, 0.0);
    } else {
        FN(sum_add)(t, v, 0.0);
        t->W += 1.0;
    }
    t->k += 1.0;
}

/* Add the elements [a, b) one by one, or VL lanes at once. */
static void FN(sum_elements)(const FN(ctx) *c, FN(sum) *t, int64_t a, int64_t b)
{
    int64_t i = a;

    if (b - a >= 4 * VL) {
        const vd zero = v_set1(0.0);
        vd       s = zero, lo = zero, lost = zero, W = zero, Wlo = zero, Wlost = zero;
        for (; i + VL <= b; i += VL) {
            vd x = FN(values)(c, i), x_lo = zero;
            if (PAV_WEIGHTED) {
                const vd w = FN(load)(c->w + i), p = v_mul(x, w), next = v_add(W, w), err = v_sum_error(W, w, next);
                if (IH_REAL_BITS == 64) x_lo = v_prod_error(x, w, p);
                x     = p;
                Wlo   = v_add(Wlo, err);
                Wlost = v_add(Wlost, v_abs(err));
                W     = next;
            }
            const vd next = v_add(s, x), err = v_sum_error(s, x, next);
            lo   = v_add(lo, v_add(err, x_lo));
            lost = v_add(lost, v_add(v_abs(err), v_abs(x_lo)));
            s    = next;
        }
        v_fold(&s, &lo, &lost);
        t->lost += v_total(lost);
        FN(sum_add)(t, v_first(s), v_first(lo));
        if (PAV_WEIGHTED) {
            v_fold(&W, &Wlo, &Wlost);
            t->Wlost += v_total(Wlost);
            FN(sum_add_weight)(t, v_first(W), v_first(Wlo));
        }
        if (!PAV_WEIGHTED) t->W += (double)(i - a);
        t->k += (double)((i - a) / VL + VL);
    }
    for (; i < b; ++i) FN(sum_one)(c, t, i);
}

/* A finished sum: the weight of its range, the pair renormalised, and error bounds (0: exact). */
typedef struct FN(pair) {
    double s, lo, e, W, Wlo, eW;
} FN(pair);

static void FN(sum_finish)(const FN(sum) *t, int64_t elements, FN(pair) *r)
{
    const double chain = 2 * (t->k + 16) * PAV_U, record = 8 * (128 * PAV_U) * (128 * PAV_U);

    r->s  = t->s + t->lo;
    r->lo = sum_error(t->s, t->lo, r->s);
    r->e  = 1.01 * (chain * t->lost + record * t->records);
    if (t->lost != 0.0 || t->records != 0.0) r->e += 0x1p-1074; /* the bound may underflow; 0 says that nothing was lost at all */
    if (PAV_WEIGHTED && IH_REAL_BITS == 64) r->e += (double)elements * 0x1p-1070;
    r->W   = t->W + t->Wlo;
    r->Wlo = PAV_WEIGHTED ? sum_error(t->W, t->Wlo, r->W) : 0.0;
    r->eW  = PAV_WEIGHTED ? 1.01 * (chain * t->Wlost + record * t->Wrecords) : 0.0;
}

/* Sum of [a, b) as a pair: whole chunks from their records, the rest from the inputs. */
static void FN(range)(FN(ctx) *c, int64_t a, int64_t b, FN(pair) *r)
{
    FN(sum)       t     = { 0 };
    const int64_t first = (a + PAV_CHUNK - 1) / PAV_CHUNK, last = b / PAV_CHUNK;

    if (!c->filtered || last <= first) {
        FN(sum_elements)(c, &t, a, b);
        c->cost += b - a;
    } else {
        FN(sum_elements)(c, &t, a, first * PAV_CHUNK);
        for (int64_t k = first; k < last; ++k) {
            const pav_chunk *ch = &c->job->chunks[k];
            FN(sum_add)(&t, ch->s, ch->lo);
            if (!ch->exact) t.records += FN(magnitude)(c, ch);
            if (PAV_WEIGHTED) {
                FN(sum_add_weight)(&t, ch->W, ch->Wlo);
                t.Wrecords += ch->W;
            }
        }
        if (!PAV_WEIGHTED) t.W += (double)((last - first) * PAV_CHUNK);
        t.k += (double)(last - first);
        FN(sum_elements)(c, &t, last * PAV_CHUNK, b);
        c->cost += last - first + 2 * PAV_CHUNK;
    }
    FN(sum_finish)(&t, b - a, r);
}

/* The record of the chunk [a, b), any length up to PAV_CHUNK. */
static void FN(chunk_scalar)(const FN(ctx) *c, int64_t a, int64_t b, pav_chunk *ch)
{
    FN(sum) t = { 0 };
    double  low = FN(at)(c, a), high = low, last = low;
    int     rising = 1;

    for (int64_t i = a; i < b; ++i) {
        const double v = FN(at)(c, i);
        FN(sum_one)(c, &t, i);
        if (!(last <= v)) rising = 0;
        low  = v < low ? v : low;
        high = v > high ? v : high;
        last = v;
    }
    ch->s = t.s, ch->lo = t.lo, ch->W = t.W, ch->Wlo = t.Wlo;
    ch->low = low, ch->high = high, ch->rising = rising, ch->exact = t.lost == 0.0;
}

/* The record of a whole chunk at a. */
static inline void FN(chunk_vector)(const FN(ctx) *c, int64_t a, pav_chunk *ch, double *least_weight)
{
    const vd sign = v_set1(c->sgn < 0 ? -0.0 : 0.0), zero = v_set1(0.0);
    vd       s = zero, lo = zero, lost = zero, W = zero, Wlo = zero;
    vd       low = v_xor(FN(load)(c->y + a), sign), high = low, wmin = PAV_WEIGHTED ? FN(load)(c->w + a) : zero;
    uint32_t falls = 0;

    for (int64_t i = a; i < a + PAV_CHUNK; i += VL) {
        const vd v = v_xor(FN(load)(c->y + i), sign);
        vd       x = v;
        low  = v_min(low, v);
        high = v_max(high, v);
        if (i + VL < a + PAV_CHUNK) falls |= v_gt(v, v_xor(FN(load)(c->y + i + 1), sign));
        if (PAV_WEIGHTED) {
            const vd w = FN(load)(c->w + i), p = v_mul(v, w), next = v_add(W, w);
            if (IH_REAL_BITS == 64) {
                const vd x_lo = v_prod_error(v, w, p);
                lo   = v_add(lo, x_lo);
                lost = v_or(lost, x_lo);
            }
            x    = p;
            Wlo  = v_add(Wlo, v_sum_error(W, w, next));
            W    = next;
            wmin = v_min(wmin, w);
        }
        const vd next = v_add(s, x), err = v_sum_error(s, x, next);
        lo   = v_add(lo, err);
        lost = v_or(lost, err);
        s    = next;
    }
    if (VL > 1) /* the pairs that the last vector's neighbours would have read past the chunk */
        falls |= v_gt(v_xor(FN(load)(c->y + a + PAV_CHUNK - VL - 1), sign), v_xor(FN(load)(c->y + a + PAV_CHUNK - VL), sign));
    ch->exact = !v_any(lost);
    lost      = zero;
    v_fold(&s, &lo, &lost);
    ch->exact  = ch->exact && !v_any(lost);
    ch->s      = v_first(s);
    ch->lo     = v_first(lo);
    ch->low    = v_least(low);
    ch->high   = v_greatest(high);
    ch->rising = falls == 0;
    if (PAV_WEIGHTED) {
        const double w_least = v_least(wmin);
        v_fold(&W, &Wlo, &lost);
        ch->W   = v_first(W);
        ch->Wlo = v_first(Wlo);
        if (!(w_least >= *least_weight)) *least_weight = w_least;
    } else {
        ch->W   = PAV_CHUNK;
        ch->Wlo = 0;
    }
}

/* The first pass. Returns 0 if a value is not finite, a weight is not positive, or the range forbids the bounds used. */
static int FN(sum_chunks)(FN(ctx) *c)
{
    const int64_t n_chunks = (c->n + PAV_CHUNK - 1) / PAV_CHUNK;
    double        least_weight = PAV_WEIGHTED ? (double)c->w[0] : 1.0, low = INFINITY, high = -INFINITY, total = 0, check = 0;

    for (int64_t k = 0; k < n_chunks; ++k) {
        pav_chunk    *ch = &c->job->chunks[k];
        const int64_t a  = k * PAV_CHUNK;
        if (a + PAV_CHUNK <= c->n) {
            FN(chunk_vector)(c, a, ch, &least_weight);
        } else {
            FN(chunk_scalar)(c, a, c->n, ch);
            for (int64_t i = a; PAV_WEIGHTED && i < c->n; ++i)
                if (!((double)c->w[i] >= least_weight)) least_weight = (double)c->w[i];
        }
        check += (ch->s - ch->s) + (ch->W - ch->W); /* NaN once a sum is not finite */
        low     = smaller(low, ch->low);
        high    = larger(high, ch->high);
        total += ch->W;
    }
    c->n_chunks = n_chunks;
    c->low      = low;
    c->high     = high;
    c->largest  = larger(fabs(low), fabs(high));
    c->total    = total;
    if (!(check == 0.0) || !(total - total == 0.0) || !(least_weight > 0)) return 0;
    if (IH_REAL_BITS == 64) { /* cross products must not overflow, weights not vanish in them */
        int ey, eW;
        frexp(c->largest, &ey);
        frexp(total, &eW);
        if (ey + 2 * eW > 960) return 0;
        if (PAV_WEIGHTED && least_weight < 0x1p-200) return 0;
    }
    return 1;
}

/* Values that are close together (an offset with small differences) are compared by what they differ in: one of them is
 * taken off all, which is exact, since no two differ by a factor of 2 (Sterbenz). Bounds then follow the differences. */
static void FN(shift_row)(FN(ctx) *c)
{
    if (IH_REAL_BITS == 32 || !(smaller(fabs(c->low), fabs(c->high)) > 4 * (c->high - c->low)) || c->low == c->high) return;
    c->m0      = FN(at)(c, 0);
    c->largest = larger(fabs(c->low - c->m0), fabs(c->high - c->m0));
    for (int64_t k = 0; k < c->n_chunks; ++k) {
        pav_chunk   *ch = &c->job->chunks[k];
        const double W = PAV_WEIGHTED ? ch->W : (double)(smaller((double)c->n, (double)(k + 1) * PAV_CHUNK) - (double)k * PAV_CHUNK);
        const double p = c->m0 * W, d = ch->s - p;
        const double lo = ((ch->lo - prod_error(c->m0, W, p)) + sum_error(ch->s, -p, d)) - (PAV_WEIGHTED ? c->m0 * ch->Wlo : 0);
        ch->s     = d + lo;
        ch->lo    = sum_error(d, lo, ch->s);
        ch->low   = ch->low - c->m0;
        ch->high  = ch->high - c->m0;
        ch->exact = 0;
    }
}
