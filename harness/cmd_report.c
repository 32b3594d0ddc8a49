/* SPDX-License-Identifier: Apache-2.0
 * cmd_report.c: isohull report and isohull verify: a report made from journals, and the same made again and compared. */
#include "args.h"
#include "commands.h"
#include "say.h"

#include "io/digest.h"
#include "report/compare.h"
#include "report/draw.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { JOURNALS = REPORT_SOURCES };

static fault_kind digest_file(const char *path, char digest[17], fault *f)
{
    size_t bytes;
    char  *text = file_read(path, &bytes, f);

    if (!text) return f->kind;
    digest_format(XXH3_64bits(text, bytes), digest);
    free(text);
    return FAULT_NONE;
}

/* The way from a folder to a file, both absolute and without links. */
static void relative_path(const char *folder, const char *file, char *to, size_t room)
{
    size_t common = 0, n = 0;

    for (size_t k = 0;; ++k) {
        const char a = folder[k] ? folder[k] : '/', b = file[k];
        if (a != b) break;
        if (b == '/') common = k + 1;
        if (!folder[k]) break;
    }
    to[0] = 0;
    for (const char *p = folder + (common <= strlen(folder) ? common : strlen(folder)); *p;) {
        n += (size_t)snprintf(to + n, n < room ? room - n : 0, "../");
        p += strcspn(p, "/");
        p += *p == '/';
    }
    snprintf(to + n, n < room ? room - n : 0, "%s", file + common);
}

/* ---- report ---- */

typedef struct made { journal_data data; view v; doc d; } made;

static void made_free(made *m)
{
    doc_free(&m->d);
    view_free(&m->v);
    journal_free(&m->data);
}

static fault_kind write_report(const made *m, const char *folder, fault *f)
{
    char      *markdown = doc_markdown(&m->d), *html = doc_html(&m->d), path[PATH_MAX + 32];
    fault_kind kind     = markdown && html ? FAULT_NONE : fault_set(f, FAULT_MEMORY, "memory ran out");

    snprintf(path, sizeof path, "%s/report.md", folder);
    if (!kind) kind = file_write(path, markdown, f);
    snprintf(path, sizeof path, "%s/report.html", folder);
    if (!kind) kind = file_write(path, html, f);
    free(markdown);
    free(html);
    return kind;
}

static fault_kind name_sources(const char *const *journals, int count, const char *folder, report_source *sources, fault *f)
{
    char       place[PATH_MAX], file[PATH_MAX];
    fault_kind kind = FAULT_NONE;

    if (!realpath(folder, place)) return fault_set(f, FAULT_OPEN, "%s: %s", folder, strerror(errno));
    for (int k = 0; k < count && !kind; ++k) {
        if (!realpath(journals[k], file)) return fault_set(f, FAULT_OPEN, "%s: %s", journals[k], strerror(errno));
        relative_path(place, file, sources[k].path, sizeof sources[k].path);
        kind = digest_file(journals[k], sources[k].digest, f);
    }
    return kind;
}

static fault_kind report(const char *const *journals, int count, const char *folder, report_source *sources, fault *f)
{
    made       m;
    char       drawn[64], *svg[REPORT_FIGURES] = { NULL };
    fault_kind kind;

    memset(&m, 0, sizeof m);
    draw_version(drawn);
    kind = journal_read(&m.data, journals, count, f);
    if (kind) return kind;
    if (m.data.cell_count == 0) kind = fault_set(f, FAULT_FORMAT, "%s: holds no cells", journals[0]);
    if (!kind) kind = view_make(&m.v, &m.data, f);
    if (!kind && mkdir(folder, 0777) != 0 && errno != EEXIST) kind = fault_set(f, FAULT_WRITE, "%s: %s", folder, strerror(errno));
    if (!kind) kind = name_sources(journals, count, folder, sources, f);
    if (!kind) kind = draw_figures(&m.v, folder, strcmp(drawn, "none") != 0, svg, f);
    if (!kind) kind = report_build(&m.d, &m.v, sources, count, svg, drawn, f);
    if (!kind) kind = write_report(&m, folder, f);
    made_free(&m);
    if (!kind && strcmp(drawn, "none") == 0) say("without figures: gnuplot is not there (or its scripts, plots/)");
    return kind;
}

int cmd_report(int argc, char **argv)
{
    const char      *folder = NULL, *journals[JOURNALS];
    const arg_option options[] = {
        { "-o", "DIR", "Folder for the report, made if it is not there. Required.", &folder },
    };
    const arg_page page = {
        "isohull report JOURNAL... -o DIR",
        "Makes one report from journals that bench and accuracy wrote, and from nothing else: report.md, report.html (with its\n"
        "figures inside), each figure as .svg and .png with its numbers as .tsv. Every number is derived from raw samples. The\n"
        "report names its journals by relative path and digest, so that 'isohull verify' can make it again and compare.\n",
        options, sizeof options / sizeof options[0],
        "Figures are drawn by gnuplot if it is there; without it the report says that they are missing.\n\n"
        "Exit codes: 0 good; 2 usage, a journal that cannot be read or holds no cells, or a report that cannot be written.\n",
    };
    report_source *sources;
    fault          f;
    int            count, code;

    fault_clear(&f);
    code = args_read(&page, argc, argv, journals, JOURNALS, &count);
    if (code == ARGS_GO_ON && count == 0) code = say_bad("which journal? (%s --help shows the usage)", say_name);
    if (code == ARGS_GO_ON && !folder) code = say_bad("needs -o DIR");
    if (code != ARGS_GO_ON) return code;
    sources = calloc(JOURNALS, sizeof *sources);
    if (!sources) return say_bad("memory ran out");
    if (report(journals, count, folder, sources, &f)) {
        say("%s", f.message);
        code = f.exit_code;
    } else {
        printf("%s/report.md\n%s/report.html\n", folder, folder);
        code = EXIT_GOOD;
    }
    free(sources);
    return code;
}

/* ---- verify ---- */

/* The journals as the report names them, from its folder; each must have the digest that it had. */
static fault_kind find_sources(const char *folder, const report_source *sources, int count, char (*paths)[PATH_MAX], fault *f)
{
    char       digest[17];
    fault_kind kind = FAULT_NONE;

    for (int k = 0; k < count && !kind; ++k) {
        if (sources[k].path[0] == '/') snprintf(paths[k], PATH_MAX, "%.*s", PATH_MAX - 1, sources[k].path);
        else if (snprintf(paths[k], PATH_MAX, "%s/%s", folder, sources[k].path) >= PATH_MAX)
            return fault_set(f, FAULT_OPEN, "%s: the path is too long", sources[k].path);
        kind = digest_file(paths[k], digest, f);
        if (!kind && strcmp(digest, sources[k].digest) != 0)
            kind = fault_set(f, FAULT_FORMAT, "%s: changed since the report was made: its digest is %s, the report has %s", paths[k], digest, sources[k].digest);
    }
    return kind;
}

/* The tables and pictures that lie beside the report. A report that was moved alone has none; then there is nothing to compare. */
static int compare_beside(const view *v, const char *folder, char *const svg[REPORT_FIGURES])
{
    int   differences = 0;
    char  path[PATH_MAX + 64];
    fault f;

    for (int k = 0; k < REPORT_FIGURES; ++k) {
        char *table = report_figure_table(v, k), *beside;

        fault_clear(&f);
        snprintf(path, sizeof path, "%s/%s.tsv", folder, report_figure_name(k));
        beside = file_read(path, NULL, &f);
        if (table && beside) differences += compare_texts(stdout, path, table, beside);
        free(beside);
        free(table);
        snprintf(path, sizeof path, "%s/%s.svg", folder, report_figure_name(k));
        beside = svg[k] ? file_read(path, NULL, &f) : NULL;
        if (beside) differences += compare_texts(stdout, path, svg[k], beside);
        free(beside);
    }
    return differences;
}

/* Pictures to compare with: drawn again where the same gnuplot is there, else those beside the report. */
static fault_kind pictures(const view *v, const char *folder, const char *drawn, char *svg[REPORT_FIGURES], fault *f)
{
    char       here[64], place[] = "/tmp/isohull-verify-XXXXXX", path[PATH_MAX + 64];
    fault_kind kind = FAULT_NONE;

    if (strcmp(drawn, "none") == 0) return FAULT_NONE;
    draw_version(here);
    if (strcmp(here, drawn) == 0) {
        static const char *const endings[] = { "tsv", "svg", "png" };
        if (!mkdtemp(place)) return fault_set(f, FAULT_WRITE, "%s: %s", place, strerror(errno));
        kind = draw_figures(v, place, 1, svg, f);
        for (int k = 0; k < 3 * REPORT_FIGURES; ++k) {
            snprintf(path, sizeof path, "%s/%s.%s", place, report_figure_name(k / 3), endings[k % 3]);
            unlink(path);
        }
        rmdir(place);
        return kind;
    }
    say("the figures were drawn by gnuplot %s, here it is %s: they are compared with the files beside the report, not drawn again", drawn, here);
    for (int k = 0; k < REPORT_FIGURES && !kind; ++k) {
        char *table = report_figure_table(v, k);
        snprintf(path, sizeof path, "%s/%s.svg", folder, report_figure_name(k));
        if (table && table[0] && !(svg[k] = file_read(path, NULL, f))) kind = f->kind;
        free(table);
    }
    return kind;
}

static fault_kind verify(const char *path, const char *text, const char *folder, int *differences, fault *f)
{
    report_source *sources = calloc(JOURNALS, sizeof *sources);
    char         (*paths)[PATH_MAX] = calloc(JOURNALS, sizeof *paths);
    const char    *journals[JOURNALS];
    char           drawn[64], *svg[REPORT_FIGURES] = { NULL }, *again = NULL;
    made           m;
    int            count = 0;
    fault_kind     kind = FAULT_NONE;

    memset(&m, 0, sizeof m);
    if (!sources || !paths) kind = fault_set(f, FAULT_MEMORY, "memory ran out");
    else if (!report_read_mark(text, sources, &count, drawn)) kind = fault_set(f, FAULT_FORMAT, "%s: is no report of isohull, or its first comment is damaged", path);
    else kind = find_sources(folder, sources, count, paths, f);
    for (int k = 0; !kind && k < count; ++k) journals[k] = paths[k];
    if (!kind) kind = journal_read(&m.data, journals, count, f);
    if (!kind) kind = view_make(&m.v, &m.data, f);
    if (!kind) kind = pictures(&m.v, folder, drawn, svg, f);
    if (!kind) *differences = compare_beside(&m.v, folder, svg);
    if (!kind) kind = report_build(&m.d, &m.v, sources, count, svg, drawn, f);
    if (!kind) {
        again = args_ends_with(path, ".html") ? doc_html(&m.d) : doc_markdown(&m.d);
        if (!again) kind = fault_set(f, FAULT_MEMORY, "memory ran out");
        else *differences += compare_texts(stdout, path, again, text);
    }
    for (int k = 0; k < REPORT_FIGURES; ++k) free(svg[k]);
    free(again);
    free(sources);
    free(paths);
    made_free(&m);
    return kind;
}

int cmd_verify(int argc, char **argv)
{
    const arg_page page = {
        "isohull verify REPORT",
        "Makes a report again from the raw samples of the journals that it names, and compares: report.md or report.html, and the\n"
        "tables and pictures beside it. Prints each difference, with what the report has and what the journal gives.\n",
        NULL, 0,
        "Exit codes: 0 the same; 1 something differs; 2 usage, no report, or a journal that is missing or has changed.\n",
    };
    const char *path = NULL;
    char        folder[PATH_MAX], *slash, *text;
    fault       f;
    int         n_operands, code, differences = 0;

    fault_clear(&f);
    code = args_read(&page, argc, argv, &path, 1, &n_operands);
    if (code == ARGS_GO_ON && !path) code = say_bad("which report? (%s --help shows the usage)", say_name);
    if (code == ARGS_GO_ON && strlen(path) >= sizeof folder) code = say_bad("the path is too long");
    if (code != ARGS_GO_ON) return code;
    strcpy(folder, path);
    slash = strrchr(folder, '/');
    if (!slash) strcpy(folder, ".");
    else slash[slash == folder] = 0;
    text = file_read(path, NULL, &f);
    if (text && !verify(path, text, folder, &differences, &f)) {
        if (differences) printf("%s: %d differences\n", path, differences);
        else printf("%s: all of it follows from its journals\n", path);
        code = differences ? EXIT_VERDICT : EXIT_GOOD;
    } else {
        say("%s", f.message);
        code = f.exit_code;
    }
    free(text);
    return code;
}
