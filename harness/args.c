/* SPDX-License-Identifier: Apache-2.0
 * args.c: reading a command line by a table of options, and printing the table as a help page. */
#include "args.h"

#include "say.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OPTIONS_MAX = 64 };

static void print_indented(const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        printf("      %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

void args_print_page(const arg_page *page)
{
    printf("Usage: %s\n\n%s\n", page->usage, page->about);
    printf("Options (a value follows its option, or, for long names, an '='; it may begin with '-'):\n");
    for (int k = 0; k < page->n_options; ++k) {
        const arg_option *opt = &page->options[k];
        printf("  %s%s%s\n", opt->name, opt->value ? " " : "", opt->value ? opt->value : "");
        print_indented(opt->help);
    }
    printf("  -h, --help\n      Print this page and end.\n\n%s", page->rest);
}

static const arg_option *find(const arg_page *page, const char *name, size_t length)
{
    for (int k = 0; k < page->n_options; ++k)
        if (strlen(page->options[k].name) == length && memcmp(page->options[k].name, name, length) == 0) return &page->options[k];
    return NULL;
}

static int unknown(const arg_page *page, const char *arg, size_t length)
{
    const char *names[OPTIONS_MAX + 1];
    char        word[48];
    const char *near;
    int         count = 0;

    for (; count < page->n_options && count < OPTIONS_MAX; ++count) names[count] = page->options[count].name;
    names[count++] = "--help";
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), arg);
    near = say_nearest(word, names, count);
    if (near) return say_bad("unknown option '%.*s': did you mean %s? (%s --help lists all)", (int)length, arg, near, say_name);
    return say_bad("unknown option '%.*s' (%s --help lists all)", (int)length, arg, say_name);
}

/* Where the next value of an option goes; NULL after a message if it has been given as often as it may be. */
static const char **slot_of(const arg_option *opt)
{
    const size_t length = opt->value ? strlen(opt->value) : 0;
    const char **slot   = opt->text;

    if (length > 3 && strcmp(opt->value + length - 3, "...") == 0) {
        while (*slot) ++slot;
        if (slot - opt->text < ARGS_REPEATS - 1) return slot;
        say("option %s is given more than %d times", opt->name, ARGS_REPEATS - 1);
        return NULL;
    }
    if (!*slot) return slot;
    say("option %s is given twice", opt->name);
    return NULL;
}

int args_read(const arg_page *page, int argc, char **argv, const char **operands, int most, int *n_operands)
{
    int options_end = 0;

    *n_operands = 0;
    for (int i = 1; i < argc; ++i) {
        const char *arg = argv[i];
        if (options_end || arg[0] != '-' || arg[1] == 0) {
            if (*n_operands == most) return say_bad("unexpected argument '%s' (%s --help shows the usage)", arg, say_name);
            operands[(*n_operands)++] = arg;
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            options_end = 1;
            continue;
        }
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            args_print_page(page);
            return EXIT_GOOD;
        }

        const int         is_long = arg[1] == '-';
        const size_t      length  = is_long ? strcspn(arg, "=") : 2;
        const arg_option *opt     = find(page, arg, length);
        const char       *value   = NULL;
        const char      **slot;

        if (!opt) return unknown(page, arg, is_long ? length : strlen(arg));
        slot = slot_of(opt);
        if (!slot) return EXIT_USAGE;
        if (arg[length]) value = arg + length + is_long;
        if (!opt->value && value) return say_bad("option %s takes no value, but '%s' is given", opt->name, value);
        if (!opt->value) value = "";
        if (!value) {
            if (i + 1 == argc) return say_bad("option %s needs a value: %s", opt->name, opt->value);
            value = argv[++i];
        }
        *slot = value;
    }
    return ARGS_GO_ON;
}

/* The command never calls setlocale(), so strtod reads a decimal point everywhere. */
int args_number(const char *option, const char *text, double *value)
{
    char *end = NULL;

    *value = strtod(text, &end);
    if (end == text || *end || isspace((unsigned char)*text)) return say_bad("option %s: '%s' is not a number", option, text);
    if (isnan(*value)) return say_bad("option %s: NaN is not allowed", option);
    return ARGS_GO_ON;
}

int args_count(const char *option, const char *text, int64_t low, int64_t high, int64_t *value)
{
    char *end = NULL;

    errno = 0;
    const long long read = strtoll(text, &end, 10);
    if (end == text || *end || isspace((unsigned char)*text) || errno || read < low || read > high)
        return say_bad("option %s: '%s' is not a whole number from %" PRId64 " to %" PRId64, option, text, low, high);
    *value = read;
    return ARGS_GO_ON;
}

int args_ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), e = strlen(ending);
    return length >= e && strcasecmp(path + length - e, ending) == 0;
}

int args_output(const char *option, const char *path, const char *written)
{
    const char *const other = strcmp(written, ".csv") == 0 ? ".npy" : ".csv";

    if (!path || !args_ends_with(path, other)) return ARGS_GO_ON;
    return say_bad("option %s: what is written is %s: %s is a name for something else", option, written, path);
}
