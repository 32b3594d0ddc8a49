/* SPDX-License-Identifier: Apache-2.0
 * test_fit_digests.c: the bits of fits, kept as data: "PROBLEM DIGEST BLOCKS" a line, by cpu_exact (scripts/fit_digests).
 *
 *   test_fit_digests IMPL[:option=value...] FILE [--from N] [--up-to N] [--only TEXT] [--print]
 *
 * Fits every problem of at least --from and at most --up-to elements whose string contains TEXT, and compares. --print writes the
 * lines anew instead. Without --up-to it takes what the environment variable IH_TEST_UP_TO says, or all. */
#include "call.h"
#include "support.h"

#include "datasets/generate.h"
#include "io/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kept { char problem[512]; unsigned long long digest; int64_t blocks; int fields; } kept;

typedef struct fitted { uint64_t digest; int64_t blocks; } fitted;

/* 0, or 1 after saying what failed. */
static int fit_digest(const ih_impl *impl, const ih_options *o, const ih_spec *s, const ih_data *d, fitted *f)
{
    const int64_t total = ih_spec_elements(s, NULL);
    const size_t  item  = s->dtype == IH_F32 ? 4 : 8;
    ih_outputs    out;
    ih_status     status;

    ih_outputs_init(&out);
    out.z             = malloc((size_t)total * item + 1);
    out.block_offsets = malloc(((size_t)s->rows + 1) * 8);
    out.block_starts  = malloc((size_t)total * 8 + 1);
    status            = out.z && out.block_offsets && out.block_starts ? call_fit_large(impl, &d->problem, o, &out) : IH_EMEMORY;
    if (status == IH_OK) {
        f->blocks = out.block_offsets[s->rows];
        f->digest = digest_fit(s->dtype, out.z, total, out.block_starts, f->blocks);
    } else {
        ih_error e = { .size = sizeof e };
        ih_last_error(&e);
        printf("%s: %s\n", ih_status_name(status), e.message);
    }
    free(out.z);
    free(out.block_offsets);
    free(out.block_starts);
    return status != IH_OK;
}

static int run_line(const ih_impl *impl, const ih_options *o, const ih_spec *s, const kept *k, int print)
{
    char    message[IH_SPEC_MESSAGE];
    ih_data d;
    fitted  f   = { 0, 0 };
    int     bad = ih_data_generate(&d, s, 0, message, sizeof message);

    if (bad) printf("%s: %s\n", k->problem, message);
    else bad = fit_digest(impl, o, s, &d, &f);
    ih_data_free(&d);
    if (bad) {
        printf("%s: no fit\n", k->problem);
    } else if (print) {
        printf("%s %016" PRIx64 " %" PRId64 "\n", k->problem, f.digest, f.blocks);
    } else if (f.digest != k->digest || f.blocks != k->blocks) {
        printf("%s: digest %016" PRIx64 " and %" PRId64 " blocks instead of %016llx and %" PRId64 "\n", k->problem, f.digest, f.blocks, k->digest, k->blocks);
        bad = 1;
    }
    fflush(stdout);
    return bad;
}

int main(int argc, char **argv)
{
    const ih_impl *impl = NULL;
    const char    *text = getenv("IH_TEST_UP_TO"), *only = "";
    FILE          *file = argc > 2 ? fopen(argv[2], "r") : NULL;
    int64_t        from = 0, up_to = text ? strtoll(text, NULL, 10) : INT64_MAX;
    int            print = 0, bad = 0;
    int64_t        lines = 0, left = 0, failed = 0;
    char           line[1024], message[IH_SPEC_MESSAGE];
    ih_options     o;

    ih_options_init(&o);
    for (int k = 3; k < argc; ++k) {
        if (strcmp(argv[k], "--print") == 0) print = 1;
        else if (k + 1 < argc && strcmp(argv[k], "--from") == 0) from = strtoll(argv[++k], NULL, 10);
        else if (k + 1 < argc && strcmp(argv[k], "--up-to") == 0) up_to = strtoll(argv[++k], NULL, 10);
        else if (k + 1 < argc && strcmp(argv[k], "--only") == 0) only = argv[++k];
        else bad = 1;
    }
    if (!file || bad) {
        fprintf(stderr, "usage: test_fit_digests IMPL FILE [--from N] [--up-to N] [--only TEXT] [--print]\n");
        return 2;
    }
    if (ih_impl_parse(argv[1], &impl, &o) != IH_OK) impl = NULL;
    impl = implementation_of("test_fit_digests", impl ? impl->name : argv[1]);
    while (fgets(line, sizeof line, file)) {
        kept    k = { 0 };
        ih_spec s;
        if (line[0] == '#') continue;
        k.fields = sscanf(line, "%511s %llx %" SCNd64, k.problem, &k.digest, &k.blocks);
        if (k.fields != 3 && !(print && k.fields == 1)) {
            printf("not a line: %s", line);
            return 1;
        }
        if (ih_spec_parse(&s, k.problem, message, sizeof message)) {
            printf("%s: %s\n", k.problem, message);
            return 1;
        }
        if (s.rows * s.n < from || s.rows * s.n > up_to || !strstr(k.problem, only)) {
            ++left;
            continue;
        }
        failed += run_line(impl, &o, &s, &k, print);
        ++lines;
    }
    fclose(file);
    if (!print) printf("%s: %" PRId64 " fits have the digests of the file, %" PRId64 " have not, %" PRId64 " lines left out\n", impl->name, lines - failed, failed, left);
    return failed > 0 || lines == 0;
}
