/* SPDX-License-Identifier: Apache-2.0
 * Journal: cells come back as they went in; torn lines at every byte; one writer; malformed lines are named. */
#include "support.h"

#include "bench/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A cell with every field set. */
static cell_record full_cell(const char *impl)
{
    cell_record c;
    cell_init(&c);
    strcpy(c.run, "r1");
    snprintf(c.impl, sizeof c.impl, "%s", impl);
    strcpy(c.problem, "noise:f32:n=10");
    strcpy(c.device, "cpu");
    strcpy(c.code_hash, "00ff");
    c.rows = 1;
    c.n    = 10;
    strcpy(c.digest, "0123456789abcdef");
    strcpy(c.digest_want, "0123456789abcdef");
    c.blocks          = 3;
    c.threads         = 2;
    c.order_seed      = 9;
    c.warmup_calls    = 4;
    c.samples         = 8;
    c.samples_ms      = calloc(8, sizeof(double));
    c.copy_samples    = 2;
    c.copy_samples_ms = calloc(2, sizeof(double));
    c.throttled       = calloc(1, sizeof(int64_t));
    c.throttled_count = 1;
    c.throttled[0]    = 3;
    for (int i = 0; i < 8; ++i) c.samples_ms[i] = i == 3 ? 1000 : (1234567 * i + 1) / 1e6; /* nanoseconds */
    c.copy_samples_ms[1] = 2345679 / 1e6;
    c.read_ms            = 0.25;
    c.empty_call_ms      = 1e-4;
    c.stages             = 1;
    strcpy(c.stage[0].name, "chunk");
    c.stage[0].ms     = 0.5;
    c.workspace_bytes = 77;
    c.counters        = json_pack("{si}", "walks", 5);
    assert_int_equal(cell_derive(&c, NULL), FAULT_NONE);
    return c;
}

static void append(const char *path, const char *impl)
{
    journal    *j;
    fault       f;
    cell_record c    = full_cell(impl);
    json_t     *line = cell_to_json(&c);
    assert_fault(FAULT_NONE, journal_open(&j, path, NULL, &f), f);
    assert_fault(FAULT_NONE, journal_append(j, line, &f), f);
    journal_close(j);
    json_decref(line);
    cell_free(&c);
}

static journal_data read_journal(const char *path)
{
    journal_data data;
    fault        f;
    assert_fault(FAULT_NONE, journal_read(&data, &path, 1, &f), f);
    return data;
}

static void test_round_trip(void **state)
{
    (void)state;
    append(in_folder("a"), "cpu_pav");
    journal_data       data = read_journal(in_folder("a"));
    const cell_record *c    = &data.cells[0];
    cell_record        want = full_cell("cpu_pav");
    assert_int_equal(data.cell_count, 1);
    assert_int_equal(c->samples, 8);
    assert_memory_equal(c->samples_ms, want.samples_ms, 8 * sizeof(double));
    assert_memory_equal(c->copy_samples_ms, want.copy_samples_ms, 2 * sizeof(double));
    assert_int_equal(c->throttled_count, 1);
    assert_int_equal(c->throttled[0], 3);
    assert_true(c->median_ms == want.samples_ms[4]); /* of the seven that count */
    assert_true(c->ci_low_ms == want.samples_ms[0] && c->ci_high_ms == want.samples_ms[7]);
    assert_true(c->read_ms == 0.25 && c->empty_call_ms == 1e-4 && c->stage[0].ms == 0.5);
    assert_int_equal(c->workspace_bytes, 77);
    assert_true(json_equal(c->counters, want.counters));
    json_t *a = cell_to_json(c), *b = cell_to_json(&want);
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
    cell_free(&want);
    journal_free(&data);
}

static void test_torn_at_every_byte(void **state)
{
    (void)state;
    size_t one, two;
    append(in_folder("t"), "cpu_pav");
    free(read_file("t", &one));
    append(in_folder("t"), "cpu_exact");
    char *bytes = read_file("t", &two);
    for (size_t n = one; n <= two; n += n < one + 40 || n + 40 > two ? 1 : 17) {
        write_file("t", bytes, n);
        journal_data data = read_journal(in_folder("t"));
        assert_int_equal(data.cell_count, n == two ? 2 : 1);
        assert_int_equal(data.torn_bytes, n == two ? 0 : n - one);
        journal_free(&data);

        journal *j;
        fault    f;
        int64_t  torn = -1;
        assert_fault(FAULT_NONE, journal_open(&j, in_folder("t"), &torn, &f), f);
        journal_close(j);
        assert_int_equal(torn, n == two ? 0 : n - one);
        append(in_folder("t"), "cpu_hulls"); /* a line of its own, not glued to the torn one */
        data = read_journal(in_folder("t"));
        assert_int_equal(data.cell_count, n == two ? 3 : 2);
        assert_string_equal(data.cells[data.cell_count - 1].impl, "cpu_hulls");
        journal_free(&data);
    }
    free(bytes);
}

static void test_one_writer(void **state)
{
    (void)state;
    journal *j, *other;
    fault    f;
    assert_fault(FAULT_NONE, journal_open(&j, in_folder("w"), NULL, &f), f);
    assert_fault(FAULT_WRITE, journal_open(&other, in_folder("w"), NULL, &f), f);
    assert_null(other);
    assert_non_null(strstr(f.message, "another process"));
    const pid_t child = fork();
    if (child == 0) { /* a child that forgets its share leaves the lock alone */
        journal_forget(j);
        pause();
    }
    assert_fault(FAULT_WRITE, journal_open(&other, in_folder("w"), NULL, &f), f);
    journal_close(j);
    assert_fault(FAULT_NONE, journal_open(&other, in_folder("w"), NULL, &f), f); /* and does not keep it */
    journal_close(other);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_identity(void **state)
{
    (void)state;
    append(in_folder("i"), "cpu_pav");
    journal_data data = read_journal(in_folder("i"));
    cell_record  like = full_cell("cpu_pav");
    assert_ptr_equal(journal_find(&data, &like), &data.cells[0]);
    like.samples_ms[0] = 99; /* no part of the identity */
    assert_non_null(journal_find(&data, &like));
    like.protocol.cold = 0;
    assert_null(journal_find(&data, &like));
    like.protocol.cold = 1;
    like.protocol.cell_ms /= 2; /* less time was asked for than it had */
    assert_non_null(journal_find(&data, &like));
    like.protocol.cell_ms *= 4;
    assert_null(journal_find(&data, &like));
    like.protocol.cell_ms /= 2;
    strcpy(like.code_hash, "01");
    assert_null(journal_find(&data, &like));
    strcpy(like.code_hash, "00ff");
    data.cells[0].status = CELL_ERROR; /* is tried again */
    assert_null(journal_find(&data, &like));
    data.cells[0].status = CELL_WRONG;
    assert_non_null(journal_find(&data, &like));
    cell_free(&like);
    journal_free(&data);
}

/* Change one thing of a good cell's line; reading must fail and name file, line and field. */
static void refused(const char *key, const char *value, const char *says)
{
    cell_record  c    = full_cell("cpu_pav");
    json_t      *line = cell_to_json(&c);
    journal_data data;
    fault        f;
    const char  *path = in_folder("bad");

    if (value) json_object_set_new(line, key, json_loads(value, JSON_DECODE_ANY, NULL));
    else json_object_del(line, key);
    char *text = json_dumps(line, 0), whole[8192];
    snprintf(whole, sizeof whole, "%s\n", text);
    write_text("bad", whole);
    assert_fault(FAULT_FORMAT, journal_read(&data, &path, 1, &f), f);
    assert_non_null(strstr(f.message, "bad:1: "));
    if (!strstr(f.message, says)) fail_msg("'%s' does not say '%s'", f.message, says);
    free(text);
    json_decref(line);
    cell_free(&c);
}

static void test_malformed(void **state)
{
    (void)state;
    static const char *const needed[] = { "schema", "kind", "run", "impl", "problem", "device", "code_hash", "status", "rows", "n", "protocol", "samples_ms", "median_ms" };
    for (size_t k = 0; k < sizeof needed / sizeof needed[0]; ++k) refused(needed[k], NULL, needed[k]);
    refused("schema", "2", "schema");
    refused("kind", "\"sell\"", "kind");
    refused("status", "\"fine\"", "status");
    refused("status", "\"error\"", "why");
    refused("n", "-1", "\"n\"");
    refused("n", "1.5", "\"n\"");
    refused("digest", "\"0123456789abcdeF\"", "digest");
    refused("digest", "\"0123456789abcdee\"", "differ");
    refused("samples_ms", "[1, -1]", "samples_ms");
    refused("samples_ms", "[]", "throttled"); /* its index is past the end now */
    refused("throttled", "[8]", "throttled");
    refused("throttled", "[3, 3]", "throttled");
    refused("ci_ms", "[2, 1]", "ci_ms");
    refused("counters", "{\"walks\": 0.5}", "counters");
    refused("protocol", "{\"cache\": \"warm\"}", "cache");
    refused("colour", "1", "not known");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_torn_at_every_byte), cmocka_unit_test(test_one_writer),
        cmocka_unit_test(test_identity),   cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
