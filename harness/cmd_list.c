/* SPDX-License-Identifier: Apache-2.0
 * cmd_list.c: isohull list, what there is to choose from. */
#include "args.h"
#include "commands.h"
#include "json.h"
#include "say.h"

#include "bench/select.h"
#include "datasets/families.h"

#include <isohull.h>

#include <stdio.h>
#include <string.h>

static const char *claim_of(const ih_impl *impl) { return impl->features & IH_CANONICAL ? "canonical" : "approximate"; }
static const char *device_of(const ih_impl *impl) { return impl->device == IH_DEVICE_CUDA ? "cuda" : "cpu"; }

/* The options of implementations, as ih_options in isohull.h explains them. */
static const struct { uint32_t bit; const char *name, *summary; } impl_options[] = {
    { IH_OPT_THREADS, "threads", "most threads to use; 0 (default): as many as processors may be used" },
    { IH_OPT_CHUNK, "chunk", "elements of a chunk; 0 (default): as the implementation likes" },
    { IH_OPT_WALK_CAP, "walk_cap", "steps of a walk before the search takes over; -1: never; default 64" },
    { IH_OPT_THREAD_MERGES, "thread_merges", "a level with at least so many merges gives each one thread, else a warp; default 256" },
    { IH_OPT_ISA, "isa", "instruction set, no more than the machine has: auto (default), base, avx2 or avx512" },
};

enum { IMPL_OPTIONS = sizeof impl_options / sizeof impl_options[0] };

/* Is it usable here? If not, why. */
static int usable(const ih_impl *impl, ih_error *error)
{
    memset(error, 0, sizeof *error);
    error->size = sizeof *error;
    if (ih_impl_available(impl) == IH_OK) return 1;
    ih_last_error(error);
    return 0;
}

/* ---- JSON ---- */

static json_t *implementation_json(const ih_impl *impl)
{
    ih_error  error;
    const int available = usable(impl, &error);
    json_t   *dtypes    = json_array(), *options = json_array();

    if (impl->features & IH_HAS_F32) json_array_append_new(dtypes, json_string("float32"));
    if (impl->features & IH_HAS_F64) json_array_append_new(dtypes, json_string("float64"));
    for (int k = 0; k < IMPL_OPTIONS; ++k)
        if (impl->options & impl_options[k].bit) json_array_append_new(options, json_string(impl_options[k].name));
    return json_pack("{ss ss ss so so sb sb sb sb ss ss ss sb}", "name", impl->name, "claim", claim_of(impl), "device", device_of(impl),
                     "dtypes", dtypes, "options", options, "weights", (impl->features & IH_HAS_WEIGHTS) != 0, "ragged", (impl->features & IH_HAS_RAGGED) != 0,
                     "gradient", (impl->features & IH_HAS_GRADIENT) != 0, "available", available, "why", error.message, "section",
                     impl->section, "summary", impl->summary, "default", impl == ih_impl_default(impl->device));
}

static json_t *name_json(const ih_name_info *info) { return json_pack("{ss ss}", "name", info->name, "summary", info->summary); }

static json_t *family_json(const ih_family_info *family)
{
    json_t *parameters = json_array();

    for (int k = 0; k < IH_MAX_PARAMETERS && family->parameter[k].name; ++k) {
        const ih_parameter_info *p = &family->parameter[k];
        json_array_append_new(parameters, json_pack("{ss ss sf sf sf sb}", "name", p->name, "summary", p->summary, "default", p->initial,
                                                    "least", p->least, "most", p->most, "whole", p->whole));
    }
    return json_pack("{ss ss so}", "name", family->name, "summary", family->summary, "parameters", parameters);
}

static json_t *preset_json(const select_preset *preset)
{
    static const char *const none[] = { NULL }, *const any[] = { "cpu_exact", NULL };
    json_t                  *problems = json_array();
    selection                s;
    fault                    f;

    if (select_make(&s, IH_DEVICE_CPU, any, none, preset->name, &f) == FAULT_NONE) {
        for (int k = 0; k < s.n_problems; ++k) json_array_append_new(problems, json_string(s.problems[k]));
        select_free(&s);
    }
    return json_pack("{ss ss so}", "name", preset->name, "summary", preset->summary, "problems", problems);
}

static int print_json(void)
{
    json_t *implementations = json_array(), *families = json_array(), *weightings = json_array(), *ragged = json_array(), *presets = json_array();

    for (int32_t k = 0; k < ih_impl_count(); ++k) json_array_append_new(implementations, implementation_json(ih_impl_at(k)));
    for (int32_t k = 0; k < IH_FAMILY_COUNT; ++k) json_array_append_new(families, family_json(ih_family_at(k)));
    for (int32_t k = 0; k < IH_WEIGHTING_COUNT; ++k) json_array_append_new(weightings, name_json(ih_weighting_at(k)));
    for (int32_t k = 0; k < IH_RAGGED_COUNT; ++k) json_array_append_new(ragged, name_json(ih_ragged_at(k)));
    for (int k = 0; select_preset_at(k); ++k)
        json_array_append_new(presets, preset_json(select_preset_at(k)));
    return json_print(json_pack("{so so so so so}", "implementations", implementations, "families", families, "weightings", weightings,
                                "ragged", ragged, "presets", presets));
}

/* ---- table ---- */

static void print_implementations(void)
{
    puts("Implementations (--impl NAME; * is the default of its device)");
    for (int32_t k = 0; k < ih_impl_count(); ++k) {
        const ih_impl *impl = ih_impl_at(k);
        ih_error       error;
        printf("  %s %-12s %-11s %-4s %s%s%s%s%s\n", impl == ih_impl_default(impl->device) ? "*" : " ", impl->name, claim_of(impl),
               device_of(impl), impl->features & IH_HAS_F32 ? " float32" : "", impl->features & IH_HAS_F64 ? " float64" : "",
               impl->features & IH_HAS_WEIGHTS ? " weights" : "", impl->features & IH_HAS_RAGGED ? " ragged" : "",
               impl->features & IH_HAS_GRADIENT ? " gradient" : "");
        printf("      %s\n", impl->summary);
        if (impl->options) {
            printf("      options:");
            for (int o = 0; o < IMPL_OPTIONS; ++o)
                if (impl->options & impl_options[o].bit) printf(" %s", impl_options[o].name);
            putchar('\n');
        }
        if (!usable(impl, &error)) printf("      not here: %s\n", error.message);
    }
    puts("\nOptions of implementations (--impl NAME:option=value...); none changes a bit of a canonical fit");
    for (int k = 0; k < IMPL_OPTIONS; ++k) printf("  %-13s %s\n", impl_options[k].name, impl_options[k].summary);
}

static void print_families(void)
{
    puts("\nFamilies of data (isohull gen FAMILY:n=...), their parameters and defaults");
    for (int32_t k = 0; k < IH_FAMILY_COUNT; ++k) {
        const ih_family_info *family = ih_family_at(k);
        printf("  %-13s %s\n", family->name, family->summary);
        for (int i = 0; i < IH_MAX_PARAMETERS && family->parameter[i].name; ++i)
            printf("      %s=%g: %s\n", family->parameter[i].name, family->parameter[i].initial, family->parameter[i].summary);
    }
}

static void print_names(const char *title, const ih_name_info *(*at)(int32_t), int32_t count)
{
    puts(title);
    for (int32_t k = 0; k < count; ++k) printf("  %-13s %s\n", at(k)->name, at(k)->summary);
}

int cmd_list(int argc, char **argv)
{
    const char      *json      = NULL;
    const arg_option options[] = {
        { "--json", NULL, "One JSON object instead of tables.", &json },
    };
    const arg_page page = {
        "isohull list [--json]",
        "Lists what the other commands can be given: implementations of the fit (and whether they can run here) and their\n"
        "options, families of data, weightings and laws of row lengths for problems, and presets.\n",
        options, sizeof options / sizeof options[0],
        "The JSON object has the arrays\n"
        "  implementations  each with name, claim (canonical: the exact solution rounded once; or approximate), device, dtypes,\n"
        "                   options (names), weights, ragged, gradient, available, why (the reason if it is not), section, summary, default\n"
        "  families         each with name, summary and parameters (name, summary, default, least, most, whole)\n"
        "  weightings, ragged (laws of row lengths), presets   each with name and summary; presets also with problems\n\n"
        "Examples:\n"
        "  $ isohull list\n"
        "  $ isohull list --json\n\n"
        "Exit codes: 0 good, 2 usage.\n",
    };
    int       n_operands;
    const int code = args_read(&page, argc, argv, NULL, 0, &n_operands);

    if (code != ARGS_GO_ON) return code;
    if (json) return print_json();
    print_implementations();
    print_families();
    print_names("\nWeightings (w=...)", ih_weighting_at, IH_WEIGHTING_COUNT);
    print_names("\nLaws of row lengths (ragged=...)", ih_ragged_at, IH_RAGGED_COUNT);
    puts("\nPresets of problems (isohull accuracy --preset NAME)");
    for (int k = 0; select_preset_at(k); ++k) printf("  %-13s %s\n", select_preset_at(k)->name, select_preset_at(k)->summary);
    return EXIT_GOOD;
}
