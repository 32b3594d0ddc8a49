/* SPDX-License-Identifier: Apache-2.0
 * test_environment.c: fits and gradients have the same bits under every rounding mode, with flush-to-zero and with traps
 * enabled in the caller, and leave the caller's floating-point environment as it was, sticky flags included. */
#include "rows.h"
#include "call.h"
#include "support.h"

#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const ih_impl *impl;

/* The caller's control and status register; all of what a solver could see is in it. */
#if defined(__x86_64__)
#  include <xmmintrin.h>
static unsigned get_register(void) { return _mm_getcsr(); }
static void     set_register(unsigned v) { _mm_setcsr(v); }
enum { FLUSH_TO_ZERO = 0x8000, DENORMALS_ARE_ZERO = 0x40, ALL_MASKED = 0x1f80, NONE_MASKED = 0, STICKY = 0x2a };
static const unsigned rounding[4] = { 0x0000, 0x2000, 0x4000, 0x6000 };
#else /* rounding modes only, through the C library */
static unsigned get_register(void) { return (unsigned)fegetround(); }
static void     set_register(unsigned v) { fesetround((int)v); }
enum { FLUSH_TO_ZERO = 0, DENORMALS_ARE_ZERO = 0, ALL_MASKED = 0, NONE_MASKED = 0, STICKY = 0 };
static const unsigned rounding[4] = { FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO };
#endif

enum { THREADS = 3 };

/* The same in the threads that OpenMP keeps for its parallel regions: they have registers of their own. */
static void set_all_registers(unsigned v)
{
#if defined(_OPENMP)
#  pragma omp parallel num_threads(THREADS)
    set_register(v);
#else
    set_register(v);
#endif
}

/* Sticky flags apart: clang's OpenMP runtime hands the caller's control bits, and those only, to its threads. */
static int all_registers_are(unsigned v)
{
    int same = 1;
#if defined(_OPENMP)
#  pragma omp parallel num_threads(THREADS) reduction(& : same)
    same = ((get_register() ^ v) & ~(unsigned)STICKY) == 0;
#else
    same = get_register() == v;
#endif
    return same;
}

typedef struct subject {
    random_problem rp;
    fit_result     expected, got;
    ih_gradient    gradient;
    void          *g;
    guarded        grad_y, grad_w, expected_grad_y, expected_grad_w;
} subject;

static void open_subject(subject *s, uint64_t seed)
{
    verdict v;
    rng     r = rng_seeded(seed + 1000000);
    size_t  bytes;

    random_problem_open(&s->rp, seed, 1500);
    bytes = (size_t)problem_elements(&s->rp.problem) * problem_item(&s->rp.problem);
    fit_result_open(&s->expected, &s->rp.problem);
    fit_result_open(&s->got, &s->rp.problem);
    assert_int_equal(fit_run(referee(), &s->rp.problem, one_thread(), 1, IH_OK, &s->expected, &v), PASSED);
    s->g = malloc(bytes + 1);
    random_values(&r, s->rp.problem.dtype, problem_elements(&s->rp.problem), s->g);
    guarded_open(&s->grad_y, bytes, 1);
    guarded_open(&s->grad_w, bytes, 1);
    guarded_open(&s->expected_grad_y, bytes, 1);
    guarded_open(&s->expected_grad_w, bytes, 1);
    ih_gradient_init(&s->gradient);
    s->gradient.block_offsets = s->expected.out.block_offsets;
    s->gradient.block_starts  = s->expected.out.block_starts;
    s->gradient.g             = s->g;
    s->gradient.grad_y        = s->expected_grad_y.at;
    s->gradient.grad_w        = s->expected_grad_w.at;
    if (impl->features & IH_HAS_GRADIENT) assert_int_equal(call_backward(impl, &s->rp.problem, NULL, &s->gradient, NULL, 0), IH_OK);
    s->gradient.grad_y = s->grad_y.at;
    s->gradient.grad_w = s->grad_w.at;
}

static void close_subject(subject *s)
{
    guarded_close(&s->grad_y);
    guarded_close(&s->grad_w);
    guarded_close(&s->expected_grad_y);
    guarded_close(&s->expected_grad_w);
    free(s->g);
    fit_result_close(&s->expected);
    fit_result_close(&s->got);
    random_problem_close(&s->rp);
}

static void same_bits_in(subject *s, uint64_t seed, unsigned environment)
{
    const unsigned normal = get_register();
    ih_options     o;
    call           fit, backward; /* opened and closed in the normal environment */
    unsigned       after;
    int            everywhere;
    verdict        v;

    ih_options_init(&o);
    o.threads = THREADS;
    call_open_fit(&fit, impl, &s->rp.problem, &o, &s->got.out, NULL, 0);
    if (impl->features & IH_HAS_GRADIENT) call_open_backward(&backward, impl, &s->rp.problem, &o, &s->gradient, NULL, 0);
    set_all_registers(environment);
    set_register(environment);
    call_launch(&fit);
    if (impl->features & IH_HAS_GRADIENT) call_launch(&backward);
    after      = get_register();
    everywhere = all_registers_are(environment);
    set_all_registers(normal);
    set_register(normal);

    assert_int_equal(call_close(&fit), IH_OK);
    if (impl->features & IH_HAS_GRADIENT) assert_int_equal(call_close(&backward), IH_OK);
    if (after != environment) fail_msg("the environment was %#x and came back as %#x", environment, after);
    if (!everywhere) fail_msg("a worker thread did not get its environment %#x back", environment);
    if (!fit_equal(&s->rp.problem, &s->expected, &s->got, &v)) fail_msg("seed %llu, environment %#x: %s", (unsigned long long)seed, environment, v.text);
    if (impl->features & IH_HAS_GRADIENT) {
        assert_memory_equal(s->grad_y.at, s->expected_grad_y.at, s->grad_y.bytes);
        assert_memory_equal(s->grad_w.at, s->expected_grad_w.at, s->grad_w.bytes);
    }
}

static void any_environment(void **state)
{
    const int64_t count = scaled(150);
    (void)state;
    for (int64_t seed = 1; seed <= count; ++seed) {
        subject s;
        open_subject(&s, (uint64_t)seed);
        for (int k = 0; k < 4; ++k) {
            same_bits_in(&s, (uint64_t)seed, ALL_MASKED | rounding[k]);
            same_bits_in(&s, (uint64_t)seed, ALL_MASKED | rounding[k] | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO | STICKY);
        }
        same_bits_in(&s, (uint64_t)seed, ALL_MASKED | FLUSH_TO_ZERO);
        same_bits_in(&s, (uint64_t)seed, ALL_MASKED | DENORMALS_ARE_ZERO);
        close_subject(&s);
    }
}

/* Traps enabled: an overflow or an inexact sum inside the solver must not end the caller. */
static void traps_enabled(void **state)
{
    const int64_t count = scaled(60);
    (void)state;
#if defined(__x86_64__)
    for (int64_t seed = 1; seed <= count; ++seed) {
        subject s;
        open_subject(&s, (uint64_t)seed);
        same_bits_in(&s, (uint64_t)seed, NONE_MASKED);
        same_bits_in(&s, (uint64_t)seed, NONE_MASKED | rounding[2]);
        close_subject(&s);
    }
#else
    (void)count;
    skip();
#endif
}

/* A call that fails gives the environment back too. */
static void restored_after_failure(void **state)
{
    const unsigned normal = get_register(), odd = ALL_MASKED | rounding[1] | FLUSH_TO_ZERO | STICKY;
    static float   y[3]   = { 1, 2, 3 }, w[3] = { 1, 0, 1 };
    ih_problem     p;
    fit_result     r;
    call           c;
    unsigned       after;
    (void)state;
    ih_problem_init(&p);
    p.rows = 1;
    p.n    = 3;
    p.y    = y;
    p.w    = w;
    fit_result_open(&r, &p);
    call_open_fit(&c, impl, &p, NULL, &r.out, NULL, 0);
    set_register(odd);
    call_launch(&c);
    after = get_register();
    set_register(normal);
    assert_int_equal(call_close(&c), IH_EDATA);
    assert_int_equal(after, odd);
    fit_result_close(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_environment), cmocka_unit_test(traps_enabled), cmocka_unit_test(restored_after_failure),
    };
    impl = implementation_of("test_environment", argc > 1 ? argv[1] : NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
