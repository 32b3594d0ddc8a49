/* SPDX-License-Identifier: Apache-2.0
 * pav_write.h: a part of pav_tmpl.h: means rounded once, and the row written. */

static inline real FN(clip)(const FN(ctx) *c, real z)
{
    z = z < c->z_min ? c->z_min : z;
    return z > c->z_max ? c->z_max : z;
}

#if IH_REAL_BITS == 32
static inline float FN(round)(double v) { return (float)v; }
#else
static inline double FN(round)(double v) { return v; }
#endif

/* A mean: rounded to the row's type and to double, in the caller's direction. */
typedef struct FN(mean) {
    real   z;
    double hi, weight;
} FN(mean);

#if IH_REAL_BITS == 32
/* Is v halfway between two floats? Then *mid is v. Such a double ends in 28 zero bits at least. */
static int FN(is_midpoint)(double v, double *mid)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    *mid = v;
    if (bits & 0x0fffffffu) return 0;
    {
        const float  f = (float)v, g = nextafterf(f, v > (double)f ? INFINITY : -INFINITY);
        return (double)f != v && (double)g - v == v - (double)f;
    }
}
#else
static int FN(is_midpoint)(double v, double *mid)
{
    *mid = v;
    return 0;
}
#endif

static __attribute__((unused)) int FN(same)(real a, real b) { return memcmp(&a, &b, sizeof a) == 0; }

static __attribute__((noinline)) void FN(mean_exact)(FN(ctx) *c, int64_t a, int64_t b, FN(mean) *m)
{
    ih_mean exact = { 0 };

    c->job->roundings_exact += 1;
    c->job->elements_exact += b - a;
    if (ih_exact_mean(&c->job->row, a, b, &exact) != IH_OK) c->end = PAV_FAILED;
    m->z      = (real)exact.z;
    m->hi     = exact.hi;
    m->weight = exact.weight;
}

/* Quotient of the pairs as q1 + q2 with |error| <= *err. */
static inline void FN(divide)(const FN(pair) *r, double *q1, double *q2, double *err)
{
    const double q    = r->s / r->W, p = q * r->W;
    const double rest = (((r->s - p) - prod_error(q, r->W, p)) + r->lo) - q * r->Wlo;
    *q1               = q;
    *q2               = rest / r->W;
    *err              = 16 * PAV_U * PAV_U * fabs(q) + 1.01 * (r->e + fabs(q) * r->eW) / r->W;
}

static void FN(mean_of)(FN(ctx) *c, int64_t a, int64_t b, FN(mean) *m)
{
    FN(pair) r;
    double   q1, q2, err;

    if (b - a == 1) {
        m->z      = (real)(c->y[a] + (real)0); /* -0 becomes +0 */
        m->hi     = (double)m->z;
        m->weight = FN(weight_at)(c, a);
        return;
    }
    FN(range)(c, a, b, &r);
    if (r.e == 0 && r.s == 0 && r.lo == 0 && c->m0 == 0) {
        m->z = 0, m->hi = 0;
    } else {
        if (b - a == 2 && !PAV_WEIGHTED) r.e = 0; /* a single error-free sum */
        FN(divide)(&r, &q1, &q2, &err);
        if (c->m0 == 0 ? !(fabs(q1) > 0x1p-900) || !(fabs(q1) < 0x1p1000) : !(fabs(c->m0) > 0x1p-800)) { /* no room for error terms */
            FN(mean_exact)(c, a, b, m);
            return;
        }
        const int exact_pair = r.e == 0 && r.eW == 0 && r.Wlo == 0, halving = exact_pair && !PAV_WEIGHTED && FN(power_of_two)(r.W);
        if (halving && r.lo == 0) q2 = 0, err = 0; /* the division is exact */
        if (c->m0 != 0) { /* back to the values themselves: m0 + q1 as a pair */
            const double sum = c->m0 + q1, rest = sum_error(c->m0, q1, sum) + q2;
            if (q2 != 0) err += 2 * PAV_U * fabs(rest); /* else rest is an error term, exact */
            q1 = sum;
            q2 = rest;
        }
        const double below = q1 + (q2 - err), above = q1 + (q2 + err);
        if (below == above) {
            m->hi = below;
        } else if (exact_pair && r.lo == 0 && c->m0 == 0) {
            m->hi = q1; /* the quotient of two doubles, rounded once */
        } else if (halving && c->m0 == 0) {
            m->hi = q1; /* s is the sum rounded once, and the division is exact */
        } else {
            FN(mean_exact)(c, a, b, m);
            return;
        }
        if (IH_REAL_BITS == 32) {
            /* The float next to the mean is that next to hi, unless hi stands on the midpoint of two floats. */
            double mid, side = 0;
            m->z = FN(round)(m->hi);
            if (FN(is_midpoint)(m->hi, &mid)) {
                if (exact_pair && r.lo == 0) {
                    const double p = mid * r.W;
                    side = p != r.s ? r.s - p : -prod_error(mid, r.W, p); /* sign of s - mid W: rounding is monotone */
                } else {
                    side = (q1 - mid) + q2;
                    if (!(fabs(side) > 2 * err)) {
                        FN(mean_exact)(c, a, b, m);
                        return;
                    }
                }
                if (side != 0) m->z = FN(round)(mid + (side > 0 ? 1 : -1) * 0x1p-10 * fabs(mid - (double)m->z));
            }
        } else {
            m->z = (real)m->hi;
        }
        m->z  = (real)(c->sgn * m->z);
        m->hi = c->sgn * m->hi;
    }
    c->rounded += 1;
    m->weight = r.W;
    if (PAV_WEIGHTED && c->job->weights && (r.eW != 0 || r.Wlo != 0)) {
        const double lo = r.W + (r.Wlo - r.eW), hi = r.W + (r.Wlo + r.eW);
        if (lo == hi) {
            m->weight = lo;
        } else {
            ih_mean exact = { 0 };
            if (ih_exact_mean(&c->job->row, a, b, &exact) != IH_OK) c->end = PAV_FAILED;
            m->weight = exact.weight;
        }
    }
#if IH_CHECK_DECISIONS
    {
        ih_mean truth = { 0 };
        if (ih_exact_mean(&c->job->row, a, b, &truth) == IH_OK
            && (!FN(same)(m->z, (real)truth.z) || m->hi != truth.hi || (c->job->weights && m->weight != truth.weight)))
            pav_decision_differs(c->job, a, b, b);
    }
#endif
}

static inline void FN(emit)(FN(ctx) *c, int64_t a, double weight, double mean)
{
    pav_job *j = c->job;
    if (j->starts) j->starts[j->blocks] = a;
    if (j->weights) j->weights[j->blocks] = weight;
    if (j->means) j->means[j->blocks] = mean;
    j->blocks += 1;
}

#if defined(IH_SIMD_STREAM)
#  if IH_REAL_BITS == 32
#    define VR(name) vr32##name
enum { FN(VR) = VR32 };
#  else
#    define VR(name) vr64##name
enum { FN(VR) = VR64 };
#  endif
#endif

static void FN(fill)(FN(ctx) *c, int64_t a, int64_t b, real z)
{
    real *const out = (real *)c->job->z;
    int64_t     i   = a;
#if defined(IH_SIMD_STREAM)
    if (c->job->streaming && b - a >= 64) {
        const VR() v = VR(_set1)(z);
        for (; (uintptr_t)(out + i) % 64 != 0; ++i) out[i] = z;
        for (; i + FN(VR) <= b; i += FN(VR)) VR(_stream)(out + i, v);
    }
#endif
    for (; i < b; ++i) out[i] = z;
}

/* A run: every element is its own mean, -0 becomes +0. */
static void FN(copy)(FN(ctx) *c, int64_t a, int64_t b)
{
    real *const       out = (real *)c->job->z;
    const real *const y   = c->y;
    const real        lo = c->z_min, hi = c->z_max;
    int64_t           i = a;
#if defined(IH_SIMD_STREAM)
    if (c->job->streaming && b - a >= 64) {
        const VR() l = VR(_set1)(lo), h = VR(_set1)(hi);
        for (; (uintptr_t)(out + i) % 64 != 0; ++i) out[i] = FN(clip)(c, (real)(y[i] + (real)0));
        for (; i + FN(VR) <= b; i += FN(VR)) VR(_stream)(out + i, VR(_clip)(VR(_load)(y + i), l, h));
    }
#endif
    for (; i < b; ++i) {
        real z = (real)(y[i] + (real)0);
        z      = z < lo ? lo : z;
        out[i] = z > hi ? hi : z;
    }
}
#undef VR

static void FN(emit_run)(FN(ctx) *c, int64_t a, int64_t b)
{
    pav_job *j = c->job;

    if (!PAV_WEIGHTED || !j->weights) {
        for (int64_t i = a; i < b;) {
            int64_t k = i + 1;
            while (k < b && c->y[k] == c->y[i]) ++k;
            FN(emit)(c, i, (double)(k - i), (double)(c->y[i] + (real)0));
            i = k;
        }
        return;
    }
    for (int64_t i = a; i < b;) {
        int64_t  k = i + 1;
        FN(mean) m;
        while (k < b && c->y[k] == c->y[i]) ++k;
        FN(mean_of)(c, i, k, &m);
        FN(emit)(c, i, m.weight, (double)(c->y[i] + (real)0));
        i = k;
    }
}

static void FN(write_row)(FN(ctx) *c)
{
    pav_job *j = c->job;

    for (int64_t k = 0; k <= c->top && c->end == PAV_DONE; ++k) {
        const pav_entry *t = &j->stack[k];
        const int64_t    a = t->start, b = k < c->top ? j->stack[k + 1].start : c->n;
        if (k + 4 <= c->top && j->streaming) { /* the ends of a later block, whose sums will read them: far apart in memory */
            const real *const ahead = c->y + j->stack[k + 4].start;
            if (j->stack[k + 4].start - j->stack[k + 3].start > 2 * PAV_CHUNK)
                for (int64_t e = -(int64_t)PAV_CHUNK; e < PAV_CHUNK; e += 64 / (int64_t)sizeof(real)) __builtin_prefetch(ahead + e);
        }
        if (t->e < 0) {
            FN(copy)(c, a, b);
            if (j->count_blocks) FN(emit_run)(c, a, b);
        } else {
            FN(mean) m = { 0 };
            FN(mean_of)(c, a, b, &m);
            FN(fill)(c, a, b, FN(clip)(c, m.z));
            FN(emit)(c, a, m.weight, m.hi);
        }
    }
#if defined(__SSE2__)
    if (j->streaming) _mm_sfence();
#endif
}
