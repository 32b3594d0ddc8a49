/* SPDX-License-Identifier: Apache-2.0
 * registry.c: the table of implementations, and their options as text. */
#include "registry.h"

#include "../common/error.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IH_IMPL(id) extern const ih_impl ih_impl_##id;
#include "../implementations.def"
#undef IH_IMPL

static const ih_impl *const table[] = {
#define IH_IMPL(id) &ih_impl_##id,
#include "../implementations.def"
#undef IH_IMPL
};

enum { TABLE_COUNT = sizeof table / sizeof table[0] };

int32_t ih_impl_count(void) { return TABLE_COUNT; }

const ih_impl *ih_impl_at(int32_t k) { return k >= 0 && k < TABLE_COUNT ? table[k] : NULL; }

const ih_impl *ih_impl_find(const char *name)
{
    for (int32_t k = 0; name && k < TABLE_COUNT; ++k)
        if (strcmp(table[k]->name, name) == 0) return table[k];
    return NULL;
}

const ih_impl *ih_impl_default(ih_device device) { return ih_impl_find(device == IH_DEVICE_CPU ? "cpu_pav" : "segments"); }

ih_status ih_impl_available(const ih_impl *impl)
{
    if (!impl) return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, "impl", -1, -1, "impl: null");
    return impl->available ? impl->available() : IH_OK;
}

/* ---- options as text ---- */

static const struct option {
    const char *key;
    uint32_t    bit;
    size_t      offset;
    int32_t     low, high;   /* allowed values                                   */
    const char *words;       /* names of values low, low + 1, ... or NULL         */
} options_table[] = {
    { "threads", IH_OPT_THREADS, offsetof(ih_options, threads), 0, 4096, NULL },
    { "chunk", IH_OPT_CHUNK, offsetof(ih_options, chunk), 0, 1 << 20, NULL },
    { "walk_cap", IH_OPT_WALK_CAP, offsetof(ih_options, walk_cap), -1, INT_MAX, NULL },
    { "thread_merges", IH_OPT_THREAD_MERGES, offsetof(ih_options, thread_merges), 0, INT_MAX, NULL },
    { "isa", IH_OPT_ISA, offsetof(ih_options, isa), IH_ISA_AUTO, IH_ISA_AVX512, "auto\0base\0avx2\0avx512\0" },
};

enum { OPTION_COUNT = sizeof options_table / sizeof options_table[0] };

static int32_t *field_of(ih_options *o, const struct option *opt) { return (int32_t *)(void *)((char *)o + opt->offset); }

int32_t ih_option_value(const ih_options *o, int32_t k)
{
    return *(const int32_t *)(const void *)((const char *)o + options_table[k].offset);
}

ih_status ih_options_check(const ih_impl *impl, const ih_options *o)
{
    ih_options fallback;

    ih_options_init(&fallback);
    for (int32_t k = 0; k < OPTION_COUNT; ++k) {
        const struct option *opt   = &options_table[k];
        const int32_t        value = ih_option_value(o, k);
        if (value < opt->low || value > opt->high)
            return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, opt->key, -1, -1, "option %s: %d is not in %d to %d", opt->key, value,
                                opt->low, opt->high);
        /* threads is a limit, which an implementation that uses one thread keeps by itself */
        if (value != ih_option_value(&fallback, k) && !(impl->options & opt->bit) && opt->bit != IH_OPT_THREADS)
            return ih_set_error(IH_EUNSUPPORTED, IH_FAULT_NONE, opt->key, -1, -1, "%s has no option %s", impl->name, opt->key);
    }
    return IH_OK;
}

static int word_value(const char *words, const char *text, int32_t low, int32_t *value)
{
    for (int32_t k = low; *words; ++k, words += strlen(words) + 1)
        if (strcmp(words, text) == 0) {
            *value = k;
            return 1;
        }
    return 0;
}

/* "threads, chunk" of an implementation, or "auto, base, avx2" of an option's words: what there is instead. */
static void list_options(const ih_impl *impl, char *text, size_t bytes)
{
    size_t at = (size_t)snprintf(text, bytes, "%s", impl->options ? "" : "none");
    for (int32_t k = 0; k < OPTION_COUNT && at < bytes; ++k)
        if (impl->options & options_table[k].bit) at += (size_t)snprintf(text + at, bytes - at, "%s%s", at ? ", " : "", options_table[k].key);
}

static void list_words(const char *words, char *text, size_t bytes)
{
    size_t at = 0;
    for (*text = 0; *words && at < bytes; words += strlen(words) + 1)
        at += (size_t)snprintf(text + at, bytes - at, "%s%s", at ? ", " : "", words);
}

/* seen: bits of the options that the text had before */
static ih_status parse_option(const ih_impl *impl, const char *key, const char *text, uint32_t *seen, ih_options *o)
{
    char known[128];

    list_options(impl, known, sizeof known);
    for (int32_t k = 0; k < OPTION_COUNT; ++k) {
        const struct option *opt = &options_table[k];
        char                *end = NULL;
        long                 value;
        if (strcmp(opt->key, key) != 0) continue;
        if (!(impl->options & opt->bit))
            return ih_set_error(IH_EUNSUPPORTED, IH_FAULT_NONE, "impl", -1, -1, "%s has no option '%s'; it has %s", impl->name, key, known);
        if (*seen & opt->bit) return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, key, -1, -1, "option %s is given twice", key);
        *seen |= opt->bit;
        if (opt->words) {
            if (word_value(opt->words, text, opt->low, field_of(o, opt))) return IH_OK;
            list_words(opt->words, known, sizeof known);
            return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, key, -1, -1, "option %s: '%.60s' is none of %s", key, text, known);
        }
        if (strcmp(text, "unlimited") == 0 && opt->low == -1) {
            *field_of(o, opt) = -1;
            return IH_OK;
        }
        errno = 0;
        value = strtol(text, &end, 10);
        if ((*text != '-' && !isdigit((unsigned char)*text)) || *end || errno || value < opt->low || value > opt->high)
            return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, key, -1, -1, "option %s: '%s' is not a whole number in %d to %d", key, text,
                                opt->low, opt->high);
        *field_of(o, opt) = (int32_t)value;
        return IH_OK;
    }
    return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, "impl", -1, -1, "%s: unknown option '%.60s'; it has %s", impl->name, key, known);
}

ih_status ih_impl_parse(const char *text, const ih_impl **impl, ih_options *options)
{
    char           copy[256];
    char          *rest = copy, *part;
    uint32_t       seen = 0;
    const ih_impl *found;
    ih_options     o;

    if (!text || !impl || !options)
        return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, !text ? "text" : !impl ? "impl" : "options", -1, -1, "ih_impl_parse: null argument");
    if (strlen(text) >= sizeof copy)
        return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, "impl", -1, -1, "implementation: text longer than %zu", sizeof copy - 1);
    strcpy(copy, text);
    part  = strsep(&rest, ":");
    found = ih_impl_find(part);
    if (!found) return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, "impl", -1, -1, "no implementation is called '%.100s'", part);
    ih_options_read(&o, options);
    while ((part = strsep(&rest, ":"))) {
        char     *equals = strchr(part, '=');
        ih_status st;
        if (!equals) return ih_set_error(IH_EARGUMENT, IH_FAULT_NONE, "impl", -1, -1, "'%.100s' is not option=value", part);
        *equals = 0;
        st = parse_option(found, part, equals + 1, &seen, &o);
        if (st != IH_OK) return st;
    }
    memcpy((char *)options + sizeof options->size, (char *)&o + sizeof o.size,
           (options->size < sizeof o ? options->size : sizeof o) - sizeof o.size);
    *impl = found;
    return IH_OK;
}

size_t ih_impl_format(const ih_impl *impl, const ih_options *options, char *text, size_t text_bytes)
{
    ih_options fallback, o;
    size_t     length;

    ih_options_init(&fallback);
    ih_options_read(&o, options);
    length = (size_t)snprintf(text, text_bytes, "%s", impl->name);
    for (int32_t k = 0; k < OPTION_COUNT; ++k) {
        const struct option *opt   = &options_table[k];
        const int32_t        value = ih_option_value(&o, k);
        char                *at    = length < text_bytes ? text + length : NULL;
        const size_t         left  = at ? text_bytes - length : 0;
        if (value == ih_option_value(&fallback, k) || !(impl->options & opt->bit)) continue;
        if (opt->words) {
            const char *word = opt->words;
            for (int32_t v = opt->low; v < value; ++v) word += strlen(word) + 1;
            length += (size_t)snprintf(at, left, ":%s=%s", opt->key, word);
        } else {
            length += (size_t)snprintf(at, left, ":%s=%d", opt->key, value);
        }
    }
    return length;
}
