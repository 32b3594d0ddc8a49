/* SPDX-License-Identifier: Apache-2.0
 * pav_stack.h: a part of pav_tmpl.h: the exact pool-adjacent-violators stack over blocks and runs.
 *
 * Every comparison of means is decided in the order: doubles with an error bound; exactly, where every sum of the row
 * is exact in a double (labels, counts, ties of short numbers); pairs with an error bound; integers. */

/* Are all values multiples of 2^k? Adding and taking off 1.5 2^(52 + k) rounds to such a multiple (|v| < 2^(51 + k)). */
static int FN(all_multiples)(const FN(ctx) *c, int k)
{
    const double big = ldexp(1.5, 52 + k);
    const vd     vbig = v_set1(big);
    int64_t      i = 0;

    for (; i + VL <= c->n; i += VL) {
        const vd x = FN(values)(c, i), rest = v_sub(v_sub(v_add(x, vbig), vbig), x);
        if (v_gt(v_abs(rest), v_set1(0.0))) return 0;
    }
    for (; i < c->n; ++i)
        if ((FN(at)(c, i) + big) - big != FN(at)(c, i)) return 0;
    return 1;
}

/* The largest k such that all weights are multiples of 2^k, or INT32_MIN once it is below `least`. */
static int FN(weights_lowest_bit)(const FN(ctx) *c, int least)
{
    int lowest = INT32_MAX;
    for (int64_t i = 0; i < c->n; ++i) {
        int          e;
        const double m = ldexp(frexp((double)c->w[i], &e), 53);
        const int    low = e - 53 + __builtin_ctzll((unsigned long long)m);
        if (low < least) return INT32_MIN;
        lowest = low < lowest ? low : lowest;
    }
    return lowest;
}

/* Are all sums of the row exact in a double, as the filter forms them (shifts of the scan included)? They are multiples
 * of the product of the lowest bits of y and of w, and at most 4 max|y| sum w. */
static int FN(row_is_exact)(FN(ctx) *c)
{
    if (c->certified < 0) {
        double largest = c->largest, total = c->total;
        int    e_total, e_sum, qw = 0, q;
        if (!c->filtered) {
            largest = 0, total = PAV_WEIGHTED ? 0 : (double)c->n;
            for (int64_t i = 0; i < c->n; ++i) largest = larger(largest, fabs((double)c->y[i]));
            for (int64_t i = 0; PAV_WEIGHTED && i < c->n; ++i) total += (double)c->w[i];
        }
        c->certified = 0;
        c->cost += c->n / 8;
        if (PAV_WEIGHTED && c->m0 != 0) return 0; /* the records' low parts may have rounded */
        frexp(total * 1.01, &e_total); /* total < 2^e_total */
        if (PAV_WEIGHTED) qw = FN(weights_lowest_bit)(c, e_total - 53);
        if (qw == INT32_MIN) return 0;
        frexp(largest * total * 1.01, &e_sum);
        q = e_sum + 3 - 53 - qw; /* 8 max|y| sum w < 2^53 2^q 2^qw */
        if (q + qw < -900) q = -900 - qw;
        if (q < -1000 || q > 900) return 0;
        c->certified = FN(all_multiples)(c, q);
    }
    return c->certified;
}

static inline int FN(sign)(double d) { return (d > 0) - (d < 0); }

/* Order of the means of [a1, b1) and [a2, b2) when the filter could not tell; s and W are the filter's sums. */
static __attribute__((noinline)) int FN(order_slow)(FN(ctx) *c, double s1, double W1, int64_t a1, int64_t b1, double s2, double W2, int64_t a2,
                                                    int64_t b2)
{
    FN(pair)  r1, r2;
    int       order = 0;

    if (c->end != PAV_DONE) return -1;
    if (FN(row_is_exact)(c)) {
        /* Rounding is monotone: unequal rounded products have the order of the exact ones; equal ones leave it to the
         * error terms, which are exact (the certificate keeps them far from underflow). */
        const double p = s1 * W2, q = s2 * W1;
        c->job->decisions_pair += 1;
        return p != q ? FN(sign)(p - q) : FN(sign)(prod_error(s1, W2, p) - prod_error(s2, W1, q));
    }
    if (c->cost > c->budget) {
        c->end = PAV_TIES;
        return -1;
    }
    FN(range)(c, a1, b1, &r1);
    FN(range)(c, a2, b2, &r2);
    {
        const double p = r1.s * r2.W, q = r2.s * r1.W;
        const double pe = prod_error(r1.s, r2.W, p) + (r1.lo * r2.W + r1.s * r2.Wlo);
        const double qe = prod_error(r2.s, r1.W, q) + (r2.lo * r1.W + r2.s * r1.Wlo);
        const double d = p - q, d_lo = sum_error(p, -q, d) + (pe - qe);
        /* each of pe, qe, d_lo rounds terms of size u (|p| + |q|) a few times; lo Wlo, left out, is below u^2 |p| */
        const double bound = 32 * PAV_U * PAV_U * (fabs(p) + fabs(q)) + PAV_TINY
                             + 1.01 * (r1.e * (r2.W + r2.eW) + r2.e * (r1.W + r1.eW) + fabs(r1.s) * r2.eW + fabs(r2.s) * r1.eW);
        const double whole = d + d_lo;
        if (fabs(whole) > bound) {
            c->job->decisions_pair += 1;
            return FN(sign)(whole);
        }
    }
    c->job->decisions_exact += 1;
    c->job->elements_exact += (b1 - a1) + (b2 - a2);
    c->cost += 16 * ((b1 - a1) + (b2 - a2)) + 64;
    if (ih_exact_compare(&c->job->row, a1, b1, a2, b2, &order) != IH_OK) c->end = PAV_FAILED;
    return order;
}

static inline int FN(checked)(FN(ctx) *c, int order, int64_t a1, int64_t b1, int64_t a2, int64_t b2)
{
#if IH_CHECK_DECISIONS
    int truth = 0;
    if (c->end == PAV_DONE && ih_exact_compare(&c->job->row, a1, b1, a2, b2, &truth) == IH_OK && truth != order) pav_decision_differs(c->job, a1, b1, b2);
#else
    (void)c, (void)a1, (void)b1, (void)a2, (void)b2;
#endif
    return order;
}

/* Sign of mean [a1, b1) - mean [a2, b2). With true sums s + ds, weights W + dW, |ds| <= e, |dW| <= eW, the cross product
 * differs from the computed one by at most e1 (W2 + eW2) + |s1| eW2 + (the same with 1 and 2 exchanged), plus the
 * roundings of two products and a difference; e and eW are sums that may themselves be rounded down by n u. */
static inline int FN(order)(FN(ctx) *c, double s1, double e1, double W1, double eW1, int64_t a1, int64_t b1, double s2, double e2, double W2,
                            double eW2, int64_t a2, int64_t b2)
{
    const double p = s1 * W2, q = s2 * W1, d = p - q;
    double       bound = e1 * (W2 + eW2) + e2 * (W1 + eW1);
    if (PAV_WEIGHTED) bound += fabs(s1) * eW2 + fabs(s2) * eW1;
    bound = 1.01 * bound + 4 * PAV_U * (fabs(p) + fabs(q)) + PAV_TINY;
    if (__builtin_expect(fabs(d) > bound, 1)) {
        c->filtered_decisions += 1;
        return FN(checked)(c, d > 0 ? 1 : -1, a1, b1, a2, b2);
    }
    return FN(checked)(c, FN(order_slow)(c, s1, W1, a1, b1, s2, W2, a2, b2), a1, b1, a2, b2);
}

static inline void FN(absorb)(const FN(ctx) *c, pav_entry *cur, int64_t i)
{
    const double v = FN(at)(c, i);
    if (PAV_WEIGHTED) {
        const double w = (double)c->w[i], p = v * w;
        cur->s += p;
        cur->e += PAV_U * (fabs(p) + fabs(cur->s)) + PAV_TINY;
        cur->W += w;
        cur->eW += PAV_U * cur->W;
    } else {
        cur->s += v;
        cur->e += PAV_U * fabs(cur->s);
        cur->W += 1;
    }
    cur->start = i;
}

static inline void FN(absorb_block)(pav_entry *cur, const pav_entry *t)
{
    cur->s += t->s;
    cur->e += t->e + PAV_U * fabs(cur->s);
    cur->W += t->W;
    if (PAV_WEIGHTED) cur->eW += t->eW + PAV_U * cur->W;
    cur->start = t->start;
}

/* Push the block [cur.start, b) of two elements or more, pooling it with what it violates. */
static inline void FN(push_block)(FN(ctx) *c, pav_entry cur, int64_t b)
{
    pav_entry *const stack = c->job->stack;
    int64_t          top   = c->top;

    while (top >= 0) {
        pav_entry *t = &stack[top];
        if (t->e < 0) { /* a run: its last elements, one by one */
            const int64_t i = cur.start - 1;
            if (FN(order)(c, FN(at)(c, i), 0, 1, 0, i, i + 1, cur.s, cur.e, cur.W, cur.eW, cur.start, b) < 0) break;
            FN(absorb)(c, &cur, i);
            if (t->start == i) --top;
        } else {
            if (FN(order)(c, t->s, t->e, t->W, t->eW, t->start, cur.start, cur.s, cur.e, cur.W, cur.eW, cur.start, b) < 0) break;
            FN(absorb_block)(&cur, t);
            --top;
        }
    }
    stack[++top] = cur;
    c->top       = top;
}

/* Push a stretch [a, b) of one value: that value alone decides whether it goes on top, without its sums. cur holds them
 * (all 0 for the caller's element alone, which is then summed here). */
static inline void FN(push_level)(FN(ctx) *c, int64_t a, int64_t b, pav_entry cur)
{
    const double v   = FN(at)(c, a);
    pav_entry   *top = c->top >= 0 ? &c->job->stack[c->top] : NULL;

    if (!top || (top->e >= 0 && FN(order)(c, top->s, top->e, top->W, top->eW, top->start, a, v, 0, 1, 0, a, a + 1) < 0)) {
        pav_entry *const run = &c->job->stack[++c->top];
        run->start           = a;
        run->e               = -1;
        return;
    }
    if (top->e < 0 && FN(at)(c, a - 1) <= v) return; /* the run goes on */
    if (b - a == 1) FN(absorb)(c, &cur, a);
    if (top->e < 0) {
        FN(absorb)(c, &cur, a - 1);
        if (top->start == a - 1) --c->top;
    } else {
        FN(absorb_block)(&cur, top);
        --c->top;
    }
    FN(push_block)(c, cur, b);
}

static inline void FN(push_element)(FN(ctx) *c, int64_t i)
{
    const pav_entry none = { 0 };
    FN(push_level)(c, i, i + 1, none);
}

static inline int FN(one_value)(const FN(ctx) *c, int64_t a, int64_t b)
{
    const real v = c->y[a];
    if (c->y[b - 1] != v) return 0;
    while (a + 1 < b && c->y[a + 1] == v) ++a;
    return a + 1 == b;
}

/* Push the non-decreasing stretch [a, b): elements until one stays on top, then the rest follows it unseen. */
static void FN(push_run)(FN(ctx) *c, int64_t a, int64_t b)
{
    for (int64_t i = a; i < b; ++i) {
        FN(push_element)(c, i);
        if (c->job->stack[c->top].e < 0) return;
    }
}
