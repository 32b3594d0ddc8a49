/* SPDX-License-Identifier: Apache-2.0
 * test_peers.c: cells of peers through target_peers.c: the plain Python solver of scripts/peers (argument 1) on all kinds of
 * problems, and peers that misbehave (fake_peers, argument 2). */
#include "bench/target_peers.h"
#include "bench/peer.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *real_program, *fake_program;

/* ---- an inner target that only opens ---- */

static int inner_open, inner_prepared, inner_freed;

static fault_kind open_inner(target *t, const ih_spec *problem, problem_info *info, fault *f)
{
    (void)t;
    (void)problem;
    (void)f;
    *info = (problem_info) { .rows = 1, .n = 1, .blocks = 1 };
    inner_open++;
    return FAULT_NONE;
}

static fault_kind prepare_inner(target *t, cell_record *c, fault *f)
{
    (void)t;
    (void)f;
    inner_prepared++;
    c->workspace_bytes = 77;
    return FAULT_NONE;
}

static void close_inner(target *t)
{
    (void)t;
    inner_open--;
}

static void free_inner(target *t)
{
    (void)t;
    inner_freed++;
}

static target inner = { .device = "cpu", .open = open_inner, .prepare = prepare_inner, .close = close_inner, .free = free_inner };

/* ---- helpers ---- */

static target *make(const char *program, const char *name)
{
    target *t;
    fault   f;

    setenv("ISOHULL_PEERS", program, 1);
    inner_open = inner_prepared = inner_freed = 0;
    t = target_peers(&inner, &name, 1, &f);
    assert_non_null(t);
    return t;
}

static void open_problem(target *t, const char *text, cell_record *c, const char *impl, int cold)
{
    static ih_spec spec;
    problem_info   info;
    char           message[IH_SPEC_MESSAGE];
    fault          f;

    cell_init(c);
    snprintf(c->impl, sizeof c->impl, "%s", impl);
    snprintf(c->problem, sizeof c->problem, "%s", text);
    strcpy(c->digest_want, "0123456789abcdef");
    c->protocol.cold = cold;
    assert_int_equal(ih_spec_parse(&spec, text, message, sizeof message), 0);
    assert_int_equal(t->open(t, &spec, &info, &f), FAULT_NONE);
}

static void end(target *t, cell_record *c)
{
    cell_free(c);
    t->close(t);
    t->free(t);
    assert_int_equal(inner_open, 0);
    assert_int_equal(inner_freed, 1);
}

/* ---- tests ---- */

static void test_problems(void **state)
{
    static const char *const problems[] = {
        "noise:f64:n=2000", "noise:f32:w=extreme:n=2000", "trend:f64:w=uniform:rows=7:n=100", "labels:f32:ragged=geometric:rows=20:n=30",
        "noise:f64:n=500:dec=1", "noise:f64:w=uniform:rows=3:n=100:min=-0.25:max=0.25", "constant:f64:n=10", "noise:f64:n=0", "noise:f64:n=1",
    };
    target     *t = make(real_program, "python");
    cell_record c;
    fault       f;
    bool        throttled, same;
    double      ms;

    (void)state;
    for (size_t k = 0; k < sizeof problems / sizeof problems[0]; ++k) {
        print_message("%s\n", problems[k]);
        open_problem(t, problems[k], &c, "python", (int)(k % 2));
        fault_clear(&f);
        assert_int_equal(t->prepare(t, &c, &f), FAULT_NONE);
        assert_int_equal(c.status, CELL_OK);
        assert_int_equal(c.threads, 1);
        assert_true(c.max_deviation >= 0 && c.max_deviation < 1e-6);
        assert_string_equal(c.why, "");
        for (int call = 0; call < 2; ++call) {
            ms = -1;
            assert_int_equal(t->sample(t, &c, &ms, &throttled, &f), FAULT_NONE);
            assert_true(ms >= 0);
            assert_int_equal(t->verify(t, &c, &same, &f), FAULT_NONE);
            assert_true(same);
        }
        assert_int_equal(t->digest(t, &c, &f), FAULT_NONE);
        assert_string_equal(c.digest, "");
        assert_string_equal(c.digest_want, "");
        ms = -1;
        assert_int_equal(t->empty(t, &c, &ms, &f), FAULT_NONE);
        assert_true(ms >= 0);
        assert_int_equal(t->stages(t, &c, &f), FAULT_NONE);
        assert_int_equal(c.stages, 0);
        cell_free(&c);
        t->close(t);
    }
    assert_int_equal(inner_prepared, 0);
    t->free(t);
    assert_int_equal(inner_freed, 1);
}

static void test_others_go_to_the_inner_target(void **state)
{
    target     *t = make(fake_program, "good");
    cell_record c;
    fault       f;

    (void)state;
    open_problem(t, "noise:f64:n=3", &c, "cpu_pav", 1);
    assert_int_equal(t->prepare(t, &c, &f), FAULT_NONE);
    assert_int_equal(inner_prepared, 1);
    assert_int_equal(c.workspace_bytes, 77);
    assert_true(c.max_deviation == -1);
    end(t, &c);
}

static void test_wrong_results(void **state)
{
    static const struct { const char *name, *why; } cases[] = { { "off", "differs from the canonical fit by 1e-08" }, { "nan", "not finite" }, { "wavers", "two calls" } };
    cell_record c;
    fault       f;
    bool        throttled, same = true;
    double      ms;

    (void)state;
    for (int k = 0; k < 3; ++k) {
        target *t = make(fake_program, cases[k].name);
        open_problem(t, "noise:f64:n=3", &c, cases[k].name, 1);
        assert_int_equal(t->prepare(t, &c, &f), FAULT_NONE);
        assert_int_equal(t->sample(t, &c, &ms, &throttled, &f), FAULT_NONE);
        assert_int_equal(t->verify(t, &c, &same, &f), FAULT_NONE);
        assert_int_equal(same, k == 2); /* wavers on its second call only */
        assert_int_equal(t->sample(t, &c, &ms, &throttled, &f), FAULT_NONE);
        assert_int_equal(t->verify(t, &c, &same, &f), FAULT_NONE);
        assert_false(same);
        assert_non_null(strstr(c.why, cases[k].why));
        end(t, &c);
    }
}

static void test_times_are_the_peers_own(void **state)
{
    cell_record c;
    fault       f;
    bool        throttled = false;
    double      ms;
    target     *t = make(fake_program, "throttled");

    (void)state;
    open_problem(t, "noise:f64:n=3", &c, "throttled", 1);
    assert_int_equal(t->prepare(t, &c, &f), FAULT_NONE);
    assert_int_equal(t->sample(t, &c, &ms, &throttled, &f), FAULT_NONE);
    assert_true(ms == 1.5);
    assert_true(throttled);
    assert_int_equal(t->empty(t, &c, &ms, &f), FAULT_NONE);
    assert_true(ms == 0.5);
    assert_true(c.max_deviation == 1e-12);
    end(t, &c);
}

static void test_unsupported(void **state)
{
    static const struct { const char *name, *why; } cases[] = { { "missing", "missing is not installed here" }, { "refuses", "no bounds" } };
    cell_record c;
    fault       f;

    (void)state;
    for (int k = 0; k < 2; ++k) {
        target *t = make(fake_program, cases[k].name);
        open_problem(t, "noise:f64:n=3", &c, cases[k].name, 1);
        assert_int_equal(t->prepare(t, &c, &f), FAULT_NONE);
        assert_int_equal(c.status, CELL_UNSUPPORTED);
        assert_string_equal(c.why, cases[k].why);
        end(t, &c);
    }
}

static void test_faults(void **state)
{
    static const struct { const char *name, *why; } cases[] = {
        { "raises", "peer raises: ValueError: no" }, { "dies", "peer dies ended with exit code 7 instead of answering" },
        { "babbles", "no JSON object" }, { "timeless", "no \"ms\"" },
    };
    cell_record c;
    fault       f;
    bool        throttled;
    double      ms;

    (void)state;
    for (int k = 0; k < 4; ++k) {
        fault_kind kind;
        target    *t = make(fake_program, cases[k].name);
        open_problem(t, "noise:f64:n=3", &c, cases[k].name, 1);
        assert_int_equal(t->prepare(t, &c, &f), FAULT_NONE);
        kind = t->sample(t, &c, &ms, &throttled, &f);
        if (!kind) kind = t->sample(t, &c, &ms, &throttled, &f); /* dies in its second */
        assert_int_not_equal(kind, FAULT_NONE);
        assert_non_null(strstr(f.message, cases[k].why));
        if (k == 1) { /* it stays dead for this problem, and lives again for the next */
            assert_int_not_equal(t->sample(t, &c, &ms, &throttled, &f), FAULT_NONE);
            assert_int_equal(t->prepare(t, &c, &f), FAULT_NONE);
            assert_int_equal(t->sample(t, &c, &ms, &throttled, &f), FAULT_NONE);
        }
        end(t, &c);
    }
}

static void test_greetings(void **state)
{
    char  hash[PEER_HASH], again[PEER_HASH], why[PEER_WHY];
    peer *p;
    fault f;

    (void)state;
    setenv("ISOHULL_PEERS", fake_program, 1);
    assert_int_equal(peer_start(&p, "good", hash, why, &f), FAULT_NONE);
    assert_int_equal(strlen(hash), 16);
    peer_stop(p);
    assert_int_equal(peer_start(&p, "good", again, why, &f), FAULT_NONE);
    assert_string_equal(again, hash);
    peer_stop(p);
    assert_int_equal(peer_start(&p, "missing", again, why, &f), FAULT_NONE);
    assert_null(p);
    assert_string_not_equal(again, hash); /* once installed it is another cell */
    assert_int_equal(peer_start(&p, "other", hash, why, &f), FAULT_USAGE);
    assert_string_equal(f.message, "there is no peer 'other'");
    assert_int_equal(peer_start(&p, "mute", hash, why, &f), FAULT_LIBRARY);
    assert_non_null(strstr(f.message, "exit code 3"));
    setenv("ISOHULL_PEERS", "/nonexistent/peers", 1);
    assert_int_equal(peer_start(&p, "good", hash, why, &f), FAULT_USAGE);
    assert_non_null(strstr(f.message, "/nonexistent/peers"));
    setenv("ISOHULL_PEERS", real_program, 1);
    assert_int_equal(peer_start(&p, "sipy", hash, why, &f), FAULT_USAGE);
    assert_non_null(strstr(f.message, "python, scipy, sklearn"));
    assert_int_equal(peer_start(&p, "torchsort", hash, why, &f), FAULT_NONE);
    assert_non_null(strstr(why, "GPU"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problems), cmocka_unit_test(test_others_go_to_the_inner_target), cmocka_unit_test(test_wrong_results),
        cmocka_unit_test(test_times_are_the_peers_own), cmocka_unit_test(test_unsupported), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_greetings),
    };

    if (argc != 3) return 1;
    real_program = argv[1];
    fake_program = argv[2];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
