/* SPDX-License-Identifier: Apache-2.0
 * test_registry.c: the table of implementations, and their options as text. */
#include "isohull.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void table(void **state)
{
    (void)state;
    assert_true(ih_impl_count() >= 3);
    for (int32_t k = 0; k < ih_impl_count(); ++k) {
        const ih_impl *impl = ih_impl_at(k);
        assert_non_null(impl);
        assert_int_equal(impl->size, sizeof(ih_impl));
        assert_int_equal(impl->abi_version, IH_ABI_VERSION);
        assert_true(impl->name[0] && impl->summary[0] && impl->section);
        assert_null(strpbrk(impl->name, ":= "));
        assert_ptr_equal(ih_impl_find(impl->name), impl); /* names are unique */
        assert_true(impl->features & (IH_HAS_F32 | IH_HAS_F64));
        assert_non_null(impl->fit);
        assert_int_equal(!!(impl->features & IH_HAS_GRADIENT), impl->backward != NULL);
        assert_int_equal(!!(impl->features & IH_HAS_THREADS), !!(impl->options & IH_OPT_THREADS));
        if (impl->device == IH_DEVICE_CPU) assert_int_equal(ih_impl_available(impl), IH_OK);
    }
    assert_null(ih_impl_at(-1));
    assert_null(ih_impl_at(ih_impl_count()));
    assert_null(ih_impl_find(NULL));
    assert_null(ih_impl_find(""));
    assert_null(ih_impl_find("cpu_ex"));
    assert_int_equal(ih_impl_available(NULL), IH_EARGUMENT);
}

/* The three of the CPU can do everything, exactly. */
static void cpu_implementations(void **state)
{
    static const char *const names[] = { "cpu_exact", "cpu_pav", "cpu_hulls" };
    const uint32_t           all = IH_HAS_F32 | IH_HAS_F64 | IH_HAS_WEIGHTS | IH_HAS_RAGGED | IH_HAS_GRADIENT | IH_HAS_BLOCKS | IH_HAS_BOUNDS | IH_CANONICAL;
    const ih_impl           *by_default = ih_impl_default(IH_DEVICE_CPU);
    (void)state;
    for (int k = 0; k < 3; ++k) {
        const ih_impl *impl = ih_impl_find(names[k]);
        assert_non_null(impl);
        assert_int_equal(impl->features & all, all);
    }
    assert_non_null(by_default);
    assert_true(by_default->features & IH_CANONICAL);
    assert_int_equal(by_default->device, IH_DEVICE_CPU);
}

/* No implementation named: the default of the CPU; no options: the defaults. */
static void no_implementation_named(void **state)
{
    const double y[4] = { 2, 1, 4, 3 };
    double       z[4];
    ih_problem   p;
    ih_outputs   out;
    size_t       bytes = 1, same = 2;
    (void)state;
    ih_problem_init(&p);
    ih_outputs_init(&out);
    p.dtype = IH_F64;
    p.rows  = 1;
    p.n     = 4;
    p.y     = y;
    out.z   = z;
    assert_int_equal(ih_fit(NULL, &p, NULL, &out, NULL, 0, NULL), IH_OK);
    assert_true(z[0] == 1.5 && z[1] == 1.5 && z[2] == 3.5 && z[3] == 3.5);
    assert_int_equal(ih_workspace_bytes(NULL, &p, NULL, &out, &bytes), IH_OK);
    assert_int_equal(ih_workspace_bytes(ih_impl_default(IH_DEVICE_CPU), &p, NULL, &out, &same), IH_OK);
    assert_int_equal(bytes, same);
}

/* ---- text ---- */

static void good_text(void **state)
{
    static const struct { const char *text, *canonical; int32_t threads, chunk, walk_cap, thread_merges; } good[] = {
        { "cpu_hulls", "cpu_hulls", 0, 0, 64, 256 },
        { "cpu_hulls:threads=3", "cpu_hulls:threads=3", 3, 0, 64, 256 },
        { "cpu_hulls:walk_cap=8:chunk=512:threads=2", "cpu_hulls:threads=2:chunk=512:walk_cap=8", 2, 512, 8, 256 },
        { "cpu_hulls:walk_cap=unlimited:thread_merges=0", "cpu_hulls:walk_cap=-1:thread_merges=0", 0, 0, -1, 0 },
        { "cpu_hulls:walk_cap=-1", "cpu_hulls:walk_cap=-1", 0, 0, -1, 256 },
        { "cpu_hulls:walk_cap=64:chunk=0", "cpu_hulls", 0, 0, 64, 256 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof good / sizeof good[0]; ++k) {
        const ih_impl *impl = NULL;
        ih_options     o;
        char           text[128], cut[6];
        ih_options_init(&o);
        o.hook_user = &o; /* is kept */
        assert_int_equal(ih_impl_parse(good[k].text, &impl, &o), IH_OK);
        assert_ptr_equal(impl, ih_impl_find("cpu_hulls"));
        assert_ptr_equal(o.hook_user, &o);
        assert_int_equal(o.size, sizeof o);
        assert_int_equal(o.threads, good[k].threads);
        assert_int_equal(o.chunk, good[k].chunk);
        assert_int_equal(o.walk_cap, good[k].walk_cap);
        assert_int_equal(o.thread_merges, good[k].thread_merges);
        assert_int_equal(ih_impl_format(impl, &o, text, sizeof text), strlen(good[k].canonical));
        assert_string_equal(text, good[k].canonical);
        assert_int_equal(ih_impl_format(impl, &o, cut, sizeof cut), strlen(good[k].canonical)); /* like snprintf */
        assert_string_equal(cut, "cpu_h");
        assert_int_equal(ih_impl_format(impl, &o, NULL, 0), strlen(good[k].canonical));
    }
}

static void bad_text(void **state)
{
    static const struct { const char *text; ih_status status; const char *says; } bad[] = {
        { "", IH_EARGUMENT, "" },
        { ":", IH_EARGUMENT, "" },
        { "cpu", IH_EARGUMENT, "cpu" },
        { "CPU_PAV", IH_EARGUMENT, "CPU_PAV" },
        { "cpu_pav ", IH_EARGUMENT, "cpu_pav " },
        { "cpu_hulls:threads", IH_EARGUMENT, "threads" },
        { "cpu_hulls:threads=", IH_EARGUMENT, "threads" },
        { "cpu_hulls:threads=x", IH_EARGUMENT, "threads" },
        { "cpu_hulls:threads=2x", IH_EARGUMENT, "threads" },
        { "cpu_hulls:threads=-1", IH_EARGUMENT, "threads" },
        { "cpu_hulls:threads=99999999999999999999", IH_EARGUMENT, "threads" },
        { "cpu_hulls:chunk=1e3", IH_EARGUMENT, "chunk" },
        { "cpu_hulls:walk_cap=-2", IH_EARGUMENT, "walk_cap" },
        { "cpu_hulls:threads=unlimited", IH_EARGUMENT, "threads" },
        { "cpu_hulls:speed=9", IH_EARGUMENT, "speed" },
        { "cpu_hulls:speed=9", IH_EARGUMENT, "threads, chunk, walk_cap, thread_merges" },
        { "cpu_hulls:=9", IH_EARGUMENT, "" },
        { ":cpu_hulls", IH_EARGUMENT, "''" },
        { "cpu_hulls:", IH_EARGUMENT, "''" },
        { "cpu_hulls::threads=1", IH_EARGUMENT, "''" },
        { "cpu_hulls:threads=1:", IH_EARGUMENT, "''" },
        { "cpu_hulls:threads=3:threads=1", IH_EARGUMENT, "threads is given twice" },
        { "cpu_pav:isa=auto:isa=base", IH_EARGUMENT, "isa is given twice" },
        { "cpu_hulls:chunk= 3", IH_EARGUMENT, "' 3'" },
        { "cpu_hulls:chunk=+3", IH_EARGUMENT, "'+3'" },
        { "cpu_pav:isa=sse9", IH_EARGUMENT, "sse9" },
        { "cpu_pav:isa=sse9", IH_EARGUMENT, "auto, base, avx2, avx512" },
        { "cpu_pav:chunk=64", IH_EUNSUPPORTED, "chunk" },
        { "cpu_pav:chunk=64", IH_EUNSUPPORTED, "isa" },
    };
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
        const ih_impl *impl = NULL;
        ih_options     o, before;
        ih_error       e = { .size = sizeof e };
        ih_options_init(&o);
        before = o;
        if (ih_impl_parse(bad[k].text, &impl, &o) != bad[k].status) fail_msg("'%s'", bad[k].text);
        ih_last_error(&e);
        assert_int_equal(e.status, bad[k].status);
        if (!strstr(e.message, bad[k].says)) fail_msg("'%s': the message '%s' does not name it", bad[k].text, e.message);
        assert_null(impl);
        assert_memory_equal(&o, &before, sizeof o);
    }
}

static void text_of_any_length(void **state)
{
    char           text[5000];
    const ih_impl *impl = NULL;
    ih_options     o;
    (void)state;
    ih_options_init(&o);
    for (size_t length = 1; length < sizeof text; length += 97) {
        memset(text, 'c', length);
        text[length] = 0;
        assert_int_equal(ih_impl_parse(text, &impl, &o), IH_EARGUMENT);
    }
    assert_int_equal(ih_impl_parse(NULL, &impl, &o), IH_EARGUMENT);
    assert_int_equal(ih_impl_parse("cpu_pav", NULL, &o), IH_EARGUMENT);
    assert_int_equal(ih_impl_parse("cpu_pav", &impl, NULL), IH_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),     cmocka_unit_test(cpu_implementations), cmocka_unit_test(no_implementation_named),
        cmocka_unit_test(good_text), cmocka_unit_test(bad_text),            cmocka_unit_test(text_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
