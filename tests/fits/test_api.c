/* SPDX-License-Identifier: Apache-2.0
 * test_api.c: promises of isohull.h about memory and calls, by one implementation: the workspace's contents do not matter,
 * outputs are optional, a row's fit does not depend on its neighbours, calls may run side by side, structs of other sizes. */
#include "rows.h"
#include "call.h"
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static const ih_impl *impl;

enum { SEEDS = 60 };

static void fit_by_referee(const ih_problem *p, fit_result *r)
{
    verdict v;
    fit_result_open(r, p);
    assert_int_equal(fit_run(referee(), p, one_thread(), 1, IH_OK, r, &v), PASSED);
}

static void workspace_contents(void **state)
{
    (void)state;
    for (uint64_t seed = 500; seed < 500 + (uint64_t)scaled(SEEDS); ++seed) {
        random_problem rp;
        fit_result     expected, got;
        size_t         bytes;
        guarded        ws;
        rng            r = rng_seeded(seed);
        verdict        v;
        random_problem_open(&rp, seed, 3000);
        fit_by_referee(&rp.problem, &expected);
        fit_result_open(&got, &rp.problem);
        assert_int_equal(ih_workspace_bytes(impl, &rp.problem, NULL, &got.out, &bytes), IH_OK);
        guarded_open(&ws, bytes, 0);
        for (int k = 0; k < 4; ++k) { /* zeros, ones, noise, and what the last call left */
            if (k == 1) guarded_fill(&ws, 0xff);
            if (k == 2)
                for (size_t i = 0; i < bytes; ++i) ws.at[i] = (unsigned char)rng_next(&r);
            assert_int_equal(call_fit(impl, &rp.problem, NULL, &got.out, bytes ? ws.at : NULL, bytes), IH_OK);
            if (!fit_equal(&rp.problem, &expected, &got, &v)) fail_msg("seed %llu, workspace %d: %s", (unsigned long long)seed, k, v.text);
            assert_true(guarded_intact(&ws));
        }
        guarded_close(&ws);
        fit_result_close(&got);
        fit_result_close(&expected);
        random_problem_close(&rp);
    }
}

/* Whatever subset of the outputs is asked for: those are the same bits, the others are not written. */
static void optional_outputs(void **state)
{
    (void)state;
    for (uint64_t seed = 600; seed < 600 + (uint64_t)scaled(SEEDS); ++seed) {
        random_problem rp;
        fit_result     expected;
        random_problem_open(&rp, seed, 1500);
        fit_by_referee(&rp.problem, &expected);
        for (int subset = 0; subset < 9; ++subset) { /* bit 3: nothing but z */
            const int64_t blocks = expected.out.block_offsets[rp.problem.rows];
            fit_result    got;
            ih_outputs    out;
            fit_result_open(&got, &rp.problem);
            out = got.out;
            if (!(subset & 1)) out.block_starts = NULL;
            if (!(subset & 2)) out.block_weights = NULL;
            if (!(subset & 4)) out.block_means = NULL;
            if (subset & 8) out.block_offsets = NULL;
            assert_int_equal(call_fit(impl, &rp.problem, NULL, &out, NULL, 0), IH_OK);
            assert_memory_equal(got.z.at, expected.z.at, got.z.bytes);
            if (out.block_offsets) assert_memory_equal(got.block_offsets.at, expected.block_offsets.at, got.block_offsets.bytes);
            else assert_true(guarded_untouched(&got.block_offsets));
            if (out.block_starts) assert_memory_equal(got.block_starts.at, expected.block_starts.at, (size_t)blocks * 8);
            else assert_true(guarded_untouched(&got.block_starts));
            if (out.block_weights) assert_memory_equal(got.block_weights.at, expected.block_weights.at, (size_t)blocks * 8);
            else assert_true(guarded_untouched(&got.block_weights));
            if (out.block_means) assert_memory_equal(got.block_means.at, expected.block_means.at, (size_t)blocks * 8);
            else assert_true(guarded_untouched(&got.block_means));
            assert_true(guarded_intact(&got.z) && guarded_intact(&got.block_starts) && guarded_intact(&got.block_weights) &&
                        guarded_intact(&got.block_means) && guarded_intact(&got.block_offsets));
            fit_result_close(&got);
        }
        fit_result_close(&expected);
        random_problem_close(&rp);
    }
}

/* One row alone, and as row k of a ragged batch between other rows: the same bits. */
static void batch_position(void **state)
{
    enum { AROUND = 7 };
    (void)state;
    for (uint64_t seed = 700; seed < 700 + (uint64_t)scaled(SEEDS); ++seed) {
        rng            r     = rng_seeded(seed);
        const ih_dtype dtype = seed % 2 ? IH_F32 : IH_F64;
        const size_t   item  = dtype == IH_F32 ? 4 : 8;
        const int64_t  n     = 1 + rng_below(&r, 1200);
        char          *y = malloc((size_t)n * item), *w = malloc((size_t)n * item);
        fit_result     alone;
        ih_problem     p;

        random_values(&r, dtype, n, y);
        random_weights(&r, dtype, n, w);
        ih_problem_init(&p);
        p.dtype = dtype;
        p.rows  = 1;
        p.n     = n;
        p.y     = y;
        p.w     = w;
        fit_result_open(&alone, &p);
        assert_int_equal(call_fit(impl, &p, NULL, &alone.out, NULL, 0), IH_OK);
        for (int64_t before = 0; before < AROUND; before += 3) {
            const int64_t shift = rng_below(&r, 70) * before, after = rng_below(&r, 70), total = shift + n + after;
            const int64_t offsets[4] = { 0, shift, shift + n, total };
            char         *by = malloc((size_t)total * item), *bw = malloc((size_t)total * item);
            fit_result    batch;
            ih_problem    b = p;
            int64_t       first;

            random_values(&r, dtype, total, by);
            random_weights(&r, dtype, total, bw);
            memcpy(by + (size_t)shift * item, y, (size_t)n * item);
            memcpy(bw + (size_t)shift * item, w, (size_t)n * item);
            b.rows    = 3;
            b.n       = total;
            b.offsets = offsets;
            b.y       = by;
            b.w       = bw;
            fit_result_open(&batch, &b);
            assert_int_equal(call_fit(impl, &b, NULL, &batch.out, NULL, 0), IH_OK);
            first = batch.out.block_offsets[1];
            assert_memory_equal(batch.z.at + (size_t)shift * item, alone.z.at, (size_t)n * item);
            assert_int_equal(batch.out.block_offsets[2] - first, alone.out.block_offsets[1]);
            for (int64_t k = 0; k < alone.out.block_offsets[1]; ++k) {
                assert_int_equal(batch.out.block_starts[first + k], alone.out.block_starts[k] + shift);
                assert_memory_equal(batch.out.block_weights + first + k, alone.out.block_weights + k, 8);
                assert_memory_equal(batch.out.block_means + first + k, alone.out.block_means + k, 8);
            }
            fit_result_close(&batch);
            free(by);
            free(bw);
        }
        fit_result_close(&alone);
        free(y);
        free(w);
    }
}

/* ---- calls side by side ---- */

typedef struct side { uint64_t seed; int64_t count; char wrong[256]; } side;

static void *fit_many(void *user)
{
    side *s = user;

    for (int64_t k = 0; k < s->count && !s->wrong[0]; ++k) {
        random_problem rp;
        fit_result     expected;
        ih_options     o;
        verdict        v;
        rng            r = rng_seeded(s->seed + (uint64_t)k);
        random_problem_open(&rp, s->seed + (uint64_t)k, 2000);
        fit_result_open(&expected, &rp.problem);
        random_options(&r, impl, &o);
        if (fit_run(referee(), &rp.problem, one_thread(), 1, IH_OK, &expected, &v) != PASSED ||
            fit_check(impl, &rp.problem, &o, &expected, &v) == FAILED)
            snprintf(s->wrong, sizeof s->wrong, "seed %llu: %.200s", (unsigned long long)(s->seed + (uint64_t)k), v.text);
        fit_result_close(&expected);
        random_problem_close(&rp);
    }
    return NULL;
}

static void side_by_side(void **state)
{
    enum { SIDES = 4 };
    side      sides[SIDES];
    pthread_t threads[SIDES];
    (void)state;
    for (int k = 0; k < SIDES; ++k) {
        sides[k] = (side){ .seed = 10000 + (uint64_t)k % 2 * 5000, .count = scaled(400) }; /* pairs fit the same problems */
        assert_int_equal(pthread_create(&threads[k], NULL, fit_many, &sides[k]), 0);
    }
    for (int k = 0; k < SIDES; ++k) pthread_join(threads[k], NULL);
    for (int k = 0; k < SIDES; ++k)
        if (sides[k].wrong[0]) fail_msg("%s", sides[k].wrong);
}

/* ---- structs of other sizes, counters, hook ---- */

static const double some_y[8] = { 3, 1, 2, 5, 4, 4, 9, 8 };

static ih_problem some_problem(void)
{
    ih_problem p;
    ih_problem_init(&p);
    p.dtype = IH_F64;
    p.rows  = 1;
    p.n     = 8;
    p.y     = some_y;
    return p;
}

/* A caller built against a later version has longer structs, one built against an earlier version shorter options. */
static void other_sizes(void **state)
{
    struct { ih_problem p; char later[64]; } longer_p;
    struct { ih_outputs out; char later[64]; } longer_out;
    struct { ih_options o; char later[64]; } longer_o;
    ih_options short_o;
    fit_result expected, got;
    verdict    v;
    (void)state;
    memset(&longer_p, 0x3f, sizeof longer_p);
    memset(&longer_out, 0x3f, sizeof longer_out);
    memset(&longer_o, 0x3f, sizeof longer_o);
    memset(&short_o, 0x3f, sizeof short_o); /* behind its size there may be anything */
    longer_p.p      = some_problem();
    longer_p.p.size = sizeof longer_p;
    fit_by_referee(&longer_p.p, &expected);
    fit_result_open(&got, &longer_p.p);
    longer_out.out      = got.out;
    longer_out.out.size = sizeof longer_out;
    ih_options_init(&longer_o.o);
    longer_o.o.size = sizeof longer_o;
    assert_int_equal(call_fit(impl, &longer_p.p, &longer_o.o, &longer_out.out, NULL, 0), IH_OK);
    assert_true(fit_equal(&longer_p.p, &expected, &got, &v));
    ih_options_init_sized(&short_o, offsetof(ih_options, chunk));
    assert_int_equal(short_o.size, offsetof(ih_options, chunk));
    assert_int_equal(((unsigned char *)&short_o)[offsetof(ih_options, chunk)], 0x3f); /* init wrote no further */
    assert_int_equal(call_fit(impl, &longer_p.p, &short_o, &got.out, NULL, 0), IH_OK);
    assert_true(fit_equal(&longer_p.p, &expected, &got, &v));
    short_o.size = sizeof short_o.size;
    assert_int_equal(call_fit(impl, &longer_p.p, &short_o, &got.out, NULL, 0), IH_OK);
    fit_result_close(&got);
    fit_result_close(&expected);
}

/* Counters change nothing; a second fit adds to them; those of an earlier version's size are not overrun. */
static void counters(void **state)
{
    (void)state;
    for (uint64_t seed = 800; seed < 800 + (uint64_t)scaled(SEEDS); ++seed) {
        random_problem rp;
        fit_result     expected;
        guarded        memory;
        ih_counters    once, *shorter;
        ih_options     o;
        verdict        v;
        const size_t   size = offsetof(ih_counters, decisions_exact);
        random_problem_open(&rp, seed, 3000);
        fit_by_referee(&rp.problem, &expected);
        ih_options_init(&o);
        ih_counters_init(&once);
        o.counters = &once;
        assert_int_equal(fit_check(impl, &rp.problem, &o, &expected, &v), PASSED);
        assert_int_equal(once.size, sizeof once);
        const ih_counters first = once;
        assert_int_equal(fit_check(impl, &rp.problem, &o, &expected, &v), PASSED);
        assert_int_equal(once.decisions_filter, 2 * first.decisions_filter);
        assert_int_equal(once.decisions_pair, 2 * first.decisions_pair);
        assert_int_equal(once.decisions_exact, 2 * first.decisions_exact);
        assert_int_equal(once.rows_exact, 2 * first.rows_exact);
        assert_int_equal(once.walk_steps, 2 * first.walk_steps);
        assert_int_equal(once.chunks, 2 * first.chunks);
        guarded_open(&memory, size, 0);
        shorter = (ih_counters *)(void *)memory.at;
        ih_counters_init_sized(shorter, size);
        o.counters = shorter;
        assert_int_equal(fit_check(impl, &rp.problem, &o, &expected, &v), PASSED);
        if (!guarded_intact(&memory)) fail_msg("counters of an earlier version's size were overrun");
        assert_int_equal(shorter->size, size);
        assert_int_equal(shorter->decisions_filter, first.decisions_filter);
        guarded_close(&memory);
        fit_result_close(&expected);
        random_problem_close(&rp);
    }
}

typedef struct stages { int open, calls, wrong; char name[64][16]; } stages;

static void note_stage(void *user, const char *stage, int32_t level, int32_t begin, void *stream)
{
    stages *s = user;
    (void)stream;
    ++s->calls;
    if (level < 0 || (begin != 0 && begin != 1)) s->wrong = 1;
    if (strcmp(stage, "chunk") != 0 && strcmp(stage, "scan") != 0 && strcmp(stage, "merge") != 0 && strcmp(stage, "reconstruct") != 0 &&
        (!on_device(impl) || (strcmp(stage, "exact") != 0 && strcmp(stage, "blocks") != 0)))
        s->wrong = 1;
    if (begin && s->open < 64) snprintf(s->name[s->open++], sizeof s->name[0], "%s", stage);
    else if (!begin && (s->open == 0 || strcmp(s->name[--s->open], stage) != 0)) s->wrong = 1;
}

/* Stages begin and end in pairs, and hooking in changes nothing. */
static void stage_hook(void **state)
{
    (void)state;
    for (uint64_t seed = 900; seed < 900 + (uint64_t)scaled(SEEDS); ++seed) {
        random_problem rp;
        fit_result     expected;
        stages         s = { 0 };
        ih_options     o;
        verdict        v;
        random_problem_open(&rp, seed, 3000);
        fit_by_referee(&rp.problem, &expected);
        ih_options_init(&o);
        o.hook      = note_stage;
        o.hook_user = &s;
        assert_int_equal(fit_check(impl, &rp.problem, &o, &expected, &v), PASSED);
        assert_int_equal(s.open, 0);
        assert_int_equal(s.wrong, 0);
        fit_result_close(&expected);
        random_problem_close(&rp);
    }
}

/* The workspace query reads neither y nor w. */
static void query_reads_no_values(void **state)
{
    void      *none = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ih_problem p    = some_problem();
    fit_result r;
    size_t     bytes = 0, again = 1;
    (void)state;
    assert_true(none != MAP_FAILED);
    fit_result_open(&r, &p);
    assert_int_equal(ih_workspace_bytes(impl, &p, NULL, &r.out, &bytes), IH_OK);
    p.y = none;
    p.w = NULL;
    assert_int_equal(ih_workspace_bytes(impl, &p, NULL, &r.out, &again), IH_OK);
    assert_int_equal(bytes, again);
    p.w = (char *)none + 4096;
    assert_int_equal(ih_workspace_bytes(impl, &p, NULL, &r.out, &again), IH_OK);
    fit_result_close(&r);
    munmap(none, 1 << 20);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workspace_contents), cmocka_unit_test(optional_outputs), cmocka_unit_test(batch_position),
        cmocka_unit_test(side_by_side),       cmocka_unit_test(other_sizes),      cmocka_unit_test(counters),
        cmocka_unit_test(stage_hook),         cmocka_unit_test(query_reads_no_values),
    };
    impl = implementation_of("test_api", argc > 1 ? argv[1] : NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
