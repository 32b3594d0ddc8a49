/* SPDX-License-Identifier: Apache-2.0
 * test_nvtx.c: a profiling tool (nvtx_record.c, whose path is the argument) sees the cases and stages of a fit by name and
 * nested as they should be. The tool is looked for once a process, so everything here is one process with it. */
#include "bench/nvtx.h"

#include <isohull.h>

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 5000 }; /* five chunks: three tree levels */

static char record_path[] = "/tmp/isohull_nvtx_XXXXXX";

/* What a hook behind the ranges was called with. */
static int hook_begins, hook_ends;

static void count_hook(void *user, const char *stage, int32_t level, int32_t begin, void *stream)
{
    (void)stage;
    (void)level;
    (void)stream;
    assert_ptr_equal(user, &hook_begins);
    ++*(begin ? &hook_begins : &hook_ends);
}

static void fit(ih_stage_hook hook, void *user)
{
    static double y[N], z[N];
    ih_problem    p;
    ih_outputs    out;
    ih_options    o;

    for (int i = 0; i < N; ++i) y[i] = (double)((i * 7919) % 1013);
    ih_problem_init(&p);
    ih_outputs_init(&out);
    ih_options_init(&o);
    p.dtype = IH_F64;
    p.rows  = 1;
    p.n     = N;
    p.y     = y;
    out.z   = z;
    o.threads   = 1;
    o.chunk     = 1024;
    o.hook      = hook;
    o.hook_user = user;
    assert_int_equal(ih_fit(ih_impl_find("cpu_hulls"), &p, &o, &out, NULL, 0, NULL), IH_OK);
}

static void test_names_and_nesting(void **state)
{
    /* categories are numbered 1 .. 4 in the order of the stages; a merge's payload is its level */
    static const char want[] =
        "domain isohull \n"
        "domain isohull.stages \n"
        "category isohull.stages 1 chunk\n"
        "string isohull.stages chunk\n"
        "category isohull.stages 2 scan\n"
        "string isohull.stages scan\n"
        "category isohull.stages 3 merge\n"
        "string isohull.stages merge\n"
        "category isohull.stages 4 reconstruct\n"
        "string isohull.stages reconstruct\n"
        "string isohull cpu_hulls noise:f64:n=5000\n"
        "push isohull cpu_hulls noise:f64:n=5000 payload=5000 category=0\n"
        "  push isohull.stages chunk payload=0 category=1\n"
        "  pop isohull.stages \n"
        "  push isohull.stages scan payload=0 category=2\n"
        "  pop isohull.stages \n"
        "  push isohull.stages merge payload=0 category=3\n"
        "  pop isohull.stages \n"
        "  push isohull.stages merge payload=1 category=3\n"
        "  pop isohull.stages \n"
        "  push isohull.stages merge payload=2 category=3\n"
        "  pop isohull.stages \n"
        "  push isohull.stages reconstruct payload=0 category=4\n"
        "  pop isohull.stages \n"
        "pop isohull \n"
        "push isohull cpu_hulls noise:f64:n=5000 payload=5000 category=0\n" /* again: its name is known */
        "pop isohull \n"
        "string isohull cpu_pav noise:f64:n=7\n"
        "push isohull cpu_pav noise:f64:n=7 payload=7 category=0\n"
        "  push isohull.stages sort payload=0 category=0 (not registered)\n" /* a stage of someone else's */
        "  pop isohull.stages \n"
        "pop isohull \n";
    char       got[8192];
    nvtx_chain chain = { count_hook, &hook_begins };
    FILE      *file;
    size_t     length;

    (void)state;
    nvtx_case_begin("cpu_hulls", "noise:f64:n=5000", N);
    fit(nvtx_stage_hook, &chain);
    nvtx_case_end();
    assert_int_equal(hook_begins, 6);
    assert_int_equal(hook_ends, 6);
    nvtx_case_begin("cpu_hulls", "noise:f64:n=5000", N);
    nvtx_case_end();
    nvtx_case_begin("cpu_pav", "noise:f64:n=7", 7);
    nvtx_stage_hook(NULL, "sort", 0, 1, NULL);
    nvtx_stage_hook(NULL, "sort", 0, 0, NULL);
    nvtx_case_end();

    file = fopen(record_path, "r");
    assert_non_null(file);
    length      = fread(got, 1, sizeof got - 1, file);
    got[length] = 0;
    fclose(file);
    assert_string_equal(got, want);
}

static void test_profiled(void **state)
{
    char keep[4096];

    (void)state;
    snprintf(keep, sizeof keep, "%s", getenv("NVTX_INJECTION64_PATH"));
    unsetenv("CUDA_INJECTION64_PATH");
    assert_int_equal(nvtx_profiled(), 1);
    setenv("NVTX_INJECTION64_PATH", "", 1);
    assert_int_equal(nvtx_profiled(), 0);
    setenv("CUDA_INJECTION64_PATH", "tool.so", 1);
    assert_int_equal(nvtx_profiled(), 1);
    unsetenv("CUDA_INJECTION64_PATH");
    setenv("NVTX_INJECTION64_PATH", keep, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_names_and_nesting), cmocka_unit_test(test_profiled) };
    int                     file, failed;

    if (argc != 2 || !nvtx_built()) return 77;
    file = mkstemp(record_path);
    if (file < 0) return 1;
    close(file);
    setenv("ISOHULL_NVTX_RECORD", record_path, 1);
    setenv("NVTX_INJECTION64_PATH", argv[1], 1);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(record_path);
    return failed;
}
