/* SPDX-License-Identifier: Apache-2.0
 * test_cpu_hulls.c: cut anywhere and scheduled anyhow, cpu_hulls gives the referee's bits; its counters keep the paper's
 * bounds on every family and do not depend on threads; stages, workspace, rows given up. */
#include "datasets/generate.h"
#include "specs.h"
#include "support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ih_impl *hulls(void) { return ih_impl_find("cpu_hulls"); }

static void generate(ih_data *data, const ih_spec *s)
{
    char message[IH_SPEC_MESSAGE];
    if (ih_data_generate(data, s, 1, message, sizeof message) != 0) fail_msg("%s", message);
}

static ih_options options_of(int32_t chunk, int32_t walk_cap, int32_t thread_merges, int32_t threads)
{
    ih_options o;
    ih_options_init(&o);
    o.chunk         = chunk;
    o.walk_cap      = walk_cap;
    o.thread_merges = thread_merges;
    o.threads       = threads;
    return o;
}

static void same_as(const fit_result *expected, const ih_spec *s, const ih_problem *p, const ih_options *o)
{
    char    name[512], impl[128];
    verdict v;
    if (fit_check(hulls(), p, o, expected, &v) == PASSED) return;
    ih_spec_format(s, name, sizeof name);
    ih_impl_format(hulls(), o, impl, sizeof impl);
    fail_msg("%s %s: %s", name, impl, v.text);
}

/* Every chunk size 1 .. 70, and larger ones, with all caps and schedules in turn. */
static void cut_anywhere(void **state)
{
    static const int32_t caps[] = { 0, 1, 2, 8, 64, -1 }, schedules[] = { 0, 1, 256, 1 << 30 }, large[] = { 100, 1024, 4096 };
    static const int64_t lengths[] = { 63, 64, 65, 200, 701, 4097 };
    rng                  r = rng_seeded(1);

    (void)state;
    for (int32_t family = 0; family < IH_FAMILY_COUNT; ++family)
        for (int round = 0; round < 8; ++round) {
            ih_spec    s = spec_of((ih_family)family, lengths[rng_below(&r, 6)]);
            ih_data    data;
            fit_result expected;
            verdict    v;
            s.dtype      = round & 1 ? IH_F64 : IH_F32;
            s.weighting  = (ih_weighting)(round & 2 ? 0 : rng_below(&r, IH_WEIGHTING_COUNT));
            s.decreasing = round >> 2;
            s.seed       = round;
            generate(&data, &s);
            fit_result_open(&expected, &data.problem);
            if (fit_run(referee(), &data.problem, one_thread(), 1, IH_OK, &expected, &v) != PASSED) fail_msg("%s", v.text);
            for (int32_t k = round + 1; k <= 73; k += s.n > 1000 ? 23 : 8) {
                const ih_options o = options_of(k <= 70 ? k : large[k - 71], caps[rng_below(&r, 6)], schedules[rng_below(&r, 4)], 1 + (int32_t)rng_below(&r, 4));
                same_as(&expected, &s, &data.problem, &o);
            }
            fit_result_close(&expected);
            ih_data_free(&data);
        }
}

/* Positions of four bytes, and of two at their limit. */
static void large_chunks(void **state)
{
    ih_spec    s = spec_of(IH_FAMILY_trend, 140000);
    ih_data    data;
    fit_result expected;
    verdict    v;

    (void)state;
    s.dtype     = IH_F64;
    s.weighting = IH_WEIGHTING_uniform;
    generate(&data, &s);
    fit_result_open(&expected, &data.problem);
    if (fit_run(referee(), &data.problem, one_thread(), 1, IH_OK, &expected, &v) != PASSED) fail_msg("%s", v.text);
    for (int k = 0; k < 4; ++k) {
        static const int32_t sizes[] = { 65535, 65536, 69999, 1 << 20 };
        const ih_options     o       = options_of(sizes[k], 64, 256, 2);
        same_as(&expected, &s, &data.problem, &o);
    }
    fit_result_close(&expected);
    ih_data_free(&data);
}

static int64_t counted_fit(const ih_problem *p, const ih_options *base, ih_counters *c)
{
    ih_options o = *base;
    fit_result got;
    verdict    v;
    int64_t    blocks;

    ih_counters_init(c);
    o.counters = c;
    fit_result_open(&got, p);
    if (fit_run(hulls(), p, &o, 1, IH_OK, &got, &v) != PASSED) fail_msg("%s", v.text);
    blocks = got.out.block_offsets[p->rows];
    fit_result_close(&got);
    return blocks;
}

/* The bounds of the paper's section 5 and Theorem 4.4 on one row. */
static void keeps_bounds(const ih_counters *c, const ih_options *o, int64_t n, int64_t blocks)
{
    const int64_t m = (n + o->chunk - 1) / o->chunk;
    const int32_t levels = (int32_t)ceil(log2((double)m));

    assert_int_equal(c->chunks, m);
    assert_int_equal(c->levels, levels);
    assert_true(c->walk_excess <= 2);
    assert_true(c->walk_steps <= 3 * c->vertices[1] + 2 * m);
    assert_true(c->vertices[1] <= n + m && c->vertices[1] <= c->vertices[0]);
    assert_true(c->list_excess <= 0);
    assert_int_equal(c->list_faults, 0);
    if (o->thread_merges == 256) assert_true(c->move_rounds <= m / 16 + levels);
    if (o->walk_cap == 0) assert_int_equal(c->walks, 0);
    if (o->walk_cap < 0) assert_int_equal(c->walks_capped, 0);
    if (o->walk_cap > 0) assert_true(c->walk_steps <= c->walks * (int64_t)o->walk_cap);
    if (o->thread_merges == 0) assert_int_equal(c->searches, o->walk_cap == 0 ? c->searches : c->walks_capped);
    assert_true(c->walks <= m - 1 && c->searches <= m - 1);
    for (int32_t r = 0; r < levels; ++r) {
        const int64_t nodes = (m + ((int64_t)2 << r) - 1) >> (r + 1);
        assert_in_range(c->longest_list[2 + r], 1, (int64_t)2 << r);
        assert_in_range(c->segments[2 + r], nodes, m);
        assert_in_range(c->vertices[2 + r], 2 * nodes, c->vertices[1 + r]);
    }
    assert_int_equal(c->vertices[1 + levels], blocks + 1);
    for (int32_t k = 2 + levels; k < IH_MAX_LEVELS; ++k) assert_int_equal(c->vertices[k] + c->segments[k] + c->longest_list[k], 0);
}

static void counters_keep_bounds(void **state)
{
    static const int32_t caps[] = { 64, 64, 0, 2, -1 }, schedules[] = { 256, 0, 0, 0, 0 };
    int64_t              walks = 0, capped = 0, searches = 0, moves = 0, lanes = 0;

    (void)state;
    for (int32_t family = 0; family < IH_FAMILY_COUNT; ++family)
        for (int round = 0; round < 5; ++round) {
            static const int32_t sizes[] = { 17, 1, 32, 5, 64 };
            ih_spec              s       = spec_of((ih_family)family, 20011);
            const ih_options     o       = options_of(sizes[round], caps[round], schedules[round], 1);
            ih_data              data;
            ih_counters          c;
            int64_t              blocks;
            s.dtype = round & 1 ? IH_F64 : IH_F32;
            s.seed  = 3;
            generate(&data, &s);
            blocks = counted_fit(&data.problem, &o, &c);
            if (c.rows_exact == 0) keeps_bounds(&c, &o, s.n, blocks);
            else assert_true(family == (int32_t)IH_FAMILY_tiny || family == (int32_t)IH_FAMILY_huge || family == (int32_t)IH_FAMILY_wide);
            walks += c.walks;
            capped += c.walks_capped;
            searches += c.searches;
            moves += c.move_rounds;
            lanes += c.lane_walks;
            ih_data_free(&data);
        }
    assert_true(walks > 1000 && capped > 100 && searches > 1000 && moves > 100 && lanes > 1000);
}

/* Also for rows that are given up, and over a batch. */
static void counters_do_not_depend_on_threads(void **state)
{
    static const char *const problems[] = { "labels:f64:n=30000", "wide:f64:n=5000:rows=3", "near_ties:f64:w=extreme:n=9000", "period", "trend:f32:w=uniform:rows=40:n=900" };

    (void)state;
    for (int k = 0; k < 5; ++k) {
        const char *text = strcmp(problems[k], "period") == 0 ? "saw:f64:w=extreme:n=20000" : problems[k];
        ih_spec     s;
        ih_data     data;
        ih_counters one, more;
        char        message[IH_SPEC_MESSAGE];
        if (ih_spec_parse(&s, text, message, sizeof message) != 0) fail_msg("%s", message);
        generate(&data, &s);
        for (int32_t threads = 1; threads <= 4; ++threads) {
            const ih_options o = options_of(64, 8, 100, threads);
            (void)counted_fit(&data.problem, &o, threads == 1 ? &one : &more);
            if (threads > 1) assert_memory_equal(&one, &more, sizeof one);
        }
        ih_data_free(&data);
    }
}

/* Ties of sums that two doubles cannot hold: the third level runs out and the row is solved in integers, with its bits. */
static void rows_are_given_up(void **state)
{
    enum { N = 6000 };
    static double    y[N];
    ih_problem       p;
    ih_counters      c;
    fit_result       expected;
    verdict          v;
    const ih_options o = options_of(8, -1, 256, 2);
    ih_spec          s = spec_of(IH_FAMILY_noise, N);

    (void)state;
    for (int i = 0; i < N; ++i) { /* the same mean in every six, over 400 bits of sums */
        static const double group[] = { 0x1p200, 0x1p30, 0x1p-200, -0x1p200, -0x1p30, 0 };
        y[i] = group[i % 6];
    }
    ih_problem_init(&p);
    p.dtype = IH_F64;
    p.rows  = 1;
    p.n     = N;
    p.y     = y;
    fit_result_open(&expected, &p);
    if (fit_run(referee(), &p, one_thread(), 1, IH_OK, &expected, &v) != PASSED) fail_msg("%s", v.text);
    same_as(&expected, &s, &p, &o);
    (void)counted_fit(&p, &o, &c);
    assert_true(c.decisions_exact > 0);
    assert_int_equal(c.rows_exact, 1);
    assert_true(c.elements_exact <= 3 * (16 * (int64_t)N + 4096)); /* linear, whatever it had to do */
    fit_result_close(&expected);
}

static struct { char text[4096]; int depth; } seen;

static void note(void *user, const char *stage, int32_t level, int32_t begin, void *stream)
{
    const size_t at = strlen(seen.text);
    assert_ptr_equal(user, &seen);
    assert_ptr_equal(stream, &seen.depth);
    seen.depth += begin ? 1 : -1;
    assert_true(seen.depth == (begin ? 1 : 0));
    if (begin) snprintf(seen.text + at, sizeof seen.text - at, "%s %d;", stage, level);
}

static void stages_are_reported(void **state)
{
    double     y[100], z[100];
    ih_problem p;
    ih_outputs out;
    ih_options o = options_of(10, 64, 256, 1);

    (void)state;
    for (int i = 0; i < 100; ++i) y[i] = i * 7 % 13;
    ih_problem_init(&p);
    ih_outputs_init(&out);
    p.dtype     = IH_F64;
    p.rows      = 1;
    p.n         = 100;
    p.y         = y;
    out.z       = z;
    o.hook      = note;
    o.hook_user = &seen;
    assert_int_equal(ih_fit(hulls(), &p, &o, &out, NULL, 0, &seen.depth), IH_OK);
    assert_string_equal(seen.text, "chunk 0;scan 0;merge 0;merge 1;merge 2;merge 3;reconstruct 0;");
}

/* At most 5 bytes an element of a long row, whatever is in it. */
static void workspace_is_small(void **state)
{
    static const int64_t lengths[] = { 1000000, 10000000, 100000000 };
    ih_options           o         = options_of(0, 64, 256, 2);

    (void)state;
    for (int k = 0; k < 3; ++k)
        for (int kind = 0; kind < 4; ++kind) {
            ih_problem p;
            ih_outputs out;
            size_t     bytes = 0;
            ih_problem_init(&p);
            ih_outputs_init(&out);
            p.dtype = kind & 1 ? IH_F64 : IH_F32;
            p.rows  = 1;
            p.n     = lengths[k];
            p.y     = &o; /* not read */
            p.w     = kind & 2 ? &o : NULL;
            out.z   = &out;
            assert_int_equal(ih_workspace_bytes(hulls(), &p, &o, &out, &bytes), IH_OK);
            assert_true(bytes > 0 && bytes <= 5 * (size_t)p.n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_anywhere),        cmocka_unit_test(large_chunks),        cmocka_unit_test(counters_keep_bounds),
        cmocka_unit_test(counters_do_not_depend_on_threads), cmocka_unit_test(rows_are_given_up), cmocka_unit_test(stages_are_reported),
        cmocka_unit_test(workspace_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
