/* SPDX-License-Identifier: Apache-2.0
 * select.c: lists of implementations and problems, and presets as products of families, weightings, types and lengths. */
#include "select.h"

#include "datasets/problem.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const select_preset presets[] = {
    { "accuracy", "every family, weighting and type, rows of 1025 (three of them) and of 10000 elements" },
    { "gpu_speed", "float32 rows of 1e5 to 1e8 elements of five families, batches of noise, float64 and weights at 1e7 and 1e8" },
    { "smoke", "four families in float64 at 1e4 elements, for a look in a few seconds" },
    { "speed", "noise, increasing, sawtooth and trend in float64 at 1e5, 1e6 and 1e7 elements" },
};

enum { PRESETS = sizeof presets / sizeof presets[0] };

static const char *const main_families[] = { "noise", "increasing", "sawtooth", "trend" };

const select_preset *select_preset_at(int k) { return k >= 0 && k < PRESETS ? &presets[k] : NULL; }

/* Append a copy of text unless it is there. */
static fault_kind add(char ***list, int *count, const char *text, fault *f)
{
    char **longer, *copy;

    for (int k = 0; k < *count; ++k)
        if (strcmp((*list)[k], text) == 0) return FAULT_NONE;
    longer = realloc(*list, ((size_t)*count + 1) * sizeof **list);
    if (longer) *list = longer;
    copy = longer ? strdup(text) : NULL;
    if (!copy) return fault_set(f, FAULT_MEMORY, "memory ran out");
    (*list)[(*count)++] = copy;
    return FAULT_NONE;
}

/* ---- implementations ---- */

static fault_kind add_impl(selection *s, const char *text, fault *f)
{
    char           canonical[256];
    const ih_impl *impl;
    ih_options     options;
    ih_status      status;

    ih_options_init(&options);
    status = ih_impl_parse(text, &impl, &options);
    if (status != IH_OK) {
        char prefix[300];
        snprintf(prefix, sizeof prefix, "implementation '%s'", text);
        return fault_from_library(f, status, prefix);
    }
    ih_impl_format(impl, &options, canonical, sizeof canonical);
    return add(&s->impls, &s->n_impls, canonical, f);
}

static fault_kind add_impls(selection *s, const char *const *texts, fault *f)
{
    fault_kind kind = FAULT_NONE;

    for (; *texts && !kind; ++texts) {
        char *copy = strdup(*texts), *rest = copy;
        if (!copy) return fault_set(f, FAULT_MEMORY, "memory ran out");
        for (char *name = strsep(&rest, ","); name && !kind; name = strsep(&rest, ",")) kind = add_impl(s, name, f);
        free(copy);
    }
    return kind;
}

static fault_kind add_all_impls(selection *s, ih_device device, fault *f)
{
    fault_kind kind = FAULT_NONE;

    for (int32_t k = 0; k < ih_impl_count() && !kind; ++k) {
        const ih_impl *impl = ih_impl_at(k);
        if (impl->device == device && (device != IH_DEVICE_CPU || ih_impl_available(impl) == IH_OK)) kind = add_impl(s, impl->name, f);
    }
    return kind;
}

/* ---- problems ---- */

static fault_kind add_problem(selection *s, const char *text, fault *f)
{
    char       message[IH_SPEC_MESSAGE], *canonical = malloc(4 * IH_SPEC_PATH);
    ih_spec   *spec = malloc(sizeof *spec);
    fault_kind kind = FAULT_NONE;

    if (!canonical || !spec) {
        kind = fault_set(f, FAULT_MEMORY, "memory ran out");
    } else if (ih_spec_parse(spec, text, message, sizeof message) != 0) {
        kind = fault_set(f, FAULT_USAGE, "%s", message);
    } else {
        ih_spec_format(spec, canonical, 4 * IH_SPEC_PATH);
        kind = add(&s->problems, &s->n_problems, canonical, f);
    }
    free(canonical);
    free(spec);
    return kind;
}

static fault_kind add_accuracy(selection *s, fault *f)
{
    static const char *const shapes[] = { "rows=3:n=1025", "n=10000" };
    fault_kind               kind     = FAULT_NONE;
    char                     text[256];

    for (int32_t k = 0; k < IH_FAMILY_COUNT; ++k)
        for (int32_t w = 0; w < IH_WEIGHTING_COUNT; ++w)
            for (int c = 0; c < 4 && !kind; ++c) {
                snprintf(text, sizeof text, "%s:%s:w=%s:%s", ih_family_at(k)->name, c / 2 ? "f64" : "f32", ih_weighting_at(w)->name, shapes[c % 2]);
                kind = add_problem(s, text, f);
            }
    return kind;
}

static fault_kind add_main(selection *s, const char *const *lengths, fault *f)
{
    fault_kind kind = FAULT_NONE;
    char       text[256];

    for (size_t k = 0; k < sizeof main_families / sizeof main_families[0]; ++k)
        for (const char *const *n = lengths; *n && !kind; ++n) {
            snprintf(text, sizeof text, "%s:f64:n=%s", main_families[k], *n);
            kind = add_problem(s, text, f);
        }
    return kind;
}

/* What GPU solvers are compared by. */
static fault_kind add_gpu_speed(selection *s, fault *f)
{
    static const char *const families[] = { "noise", "increasing", "sawtooth", "cliff", "saw" };
    static const char *const lengths[]  = { "1e5", "1e6", "1e7", "1e8" };
    static const char *const batches[]  = { "rows=1e6:n=16", "rows=1e5:n=128", "rows=1e4:n=1000", "rows=1e3:n=1e4", "rows=100:n=1e5", "rows=10:n=1e6" };
    static const char *const kinds[]    = { "f64", "f32:w=uniform" };
    fault_kind               kind       = FAULT_NONE;
    char                     text[256];

    for (int k = 0; k < 20 && !kind; ++k) {
        snprintf(text, sizeof text, "%s:f32:n=%s", families[k / 4], lengths[k % 4]);
        kind = add_problem(s, text, f);
    }
    for (int k = 0; k < 6 && !kind; ++k) {
        snprintf(text, sizeof text, "noise:f32:%s", batches[k]);
        kind = add_problem(s, text, f);
    }
    for (int k = 0; k < 8 && !kind; ++k) {
        snprintf(text, sizeof text, "%s:%s:n=%s", families[k / 4], kinds[k / 2 % 2], lengths[2 + k % 2]);
        kind = add_problem(s, text, f);
    }
    return kind;
}

static fault_kind add_preset(selection *s, const char *name, fault *f)
{
    static const char *const smoke[] = { "1e4", NULL }, *const speed[] = { "1e5", "1e6", "1e7", NULL };
    const char              *names[PRESETS], *near;

    if (strcmp(name, "accuracy") == 0) return add_accuracy(s, f);
    if (strcmp(name, "gpu_speed") == 0) return add_gpu_speed(s, f);
    if (strcmp(name, "smoke") == 0) return add_main(s, smoke, f);
    if (strcmp(name, "speed") == 0) return add_main(s, speed, f);
    for (int k = 0; k < PRESETS; ++k) names[k] = presets[k].name;
    near = say_nearest(name, names, PRESETS);
    if (near) return fault_set(f, FAULT_USAGE, "unknown preset '%s': did you mean %s?", name, near);
    return fault_set(f, FAULT_USAGE, "unknown preset '%s': there are accuracy, gpu_speed, smoke and speed", name);
}

fault_kind select_make(selection *out, ih_device device, const char *const *impls, const char *const *problems, const char *preset, fault *f)
{
    fault_kind kind;

    memset(out, 0, sizeof *out);
    kind = *impls ? add_impls(out, impls, f) : add_all_impls(out, device, f);
    for (; *problems && !kind; ++problems) kind = add_problem(out, *problems, f);
    if (!kind && preset) kind = add_preset(out, preset, f);
    if (kind) select_free(out);
    return kind;
}

static void free_list(char **list, int count)
{
    for (int k = 0; k < count; ++k) free(list[k]);
    free(list);
}

void select_free(selection *s)
{
    free_list(s->impls, s->n_impls);
    free_list(s->problems, s->n_problems);
    memset(s, 0, sizeof *s);
}
