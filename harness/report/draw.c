/* SPDX-License-Identifier: Apache-2.0
 * draw.c: tables of the figures as files, and gnuplot over them. The scripts are looked for in $ISOHULL_PLOTS, beside the
 * build folder (plots/) and where they are installed (share/isohull/plots). */
#include "draw.h"

#include "io/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

char *file_read(const char *path, size_t *bytes, fault *f)
{
    FILE  *from = fopen(path, "rb");
    char  *text = NULL;
    size_t room = 1 << 16, n = 0;

    if (!from) {
        fault_set(f, FAULT_OPEN, "%s: %s", path, strerror(errno));
        return NULL;
    }
    for (;;) {
        char *longer = realloc(text, room + 1);
        if (!longer) break;
        text = longer;
        n += fread(text + n, 1, room - n, from);
        if (n < room) break;
        room *= 2;
    }
    if (ferror(from) || n == room || !text) {
        fault_set(f, FAULT_READ, "%s: cannot be read", path);
        free(text);
        text = NULL;
    } else {
        text[n] = 0;
        if (bytes) *bytes = n;
    }
    fclose(from);
    return text;
}

fault_kind file_write(const char *path, const char *text, fault *f)
{
    outputs    files;
    FILE      *to = NULL;
    fault_kind kind;

    outputs_init(&files);
    kind = outputs_add(&files, path, &to, f);
    if (!kind) fputs(text, to);
    if (!kind) kind = outputs_commit(&files, f);
    outputs_discard(&files);
    return kind;
}

static int find_scripts(char folder[4096])
{
    const char *named = getenv("ISOHULL_PLOTS");
    char        self[3000], script[4200];
    ssize_t     n = readlink("/proc/self/exe", self, sizeof self - 1);
    char       *slash;

    self[n > 0 ? n : 0] = 0;
    slash               = strrchr(self, '/');
    if (slash) *slash = 0;
    for (int k = 0; k < 3; ++k) {
        if (k == 0) snprintf(folder, 4096, "%s", named ? named : "");
        else snprintf(folder, 4096, k == 1 ? "%s/../plots" : "%s/../share/isohull/plots", self);
        snprintf(script, sizeof script, "%s/style.gp", folder);
        if (folder[0] && access(script, R_OK) == 0) return 1;
    }
    return 0;
}

void draw_version(char drawn[64])
{
    char  folder[4096], line[128] = "";
    FILE *from = find_scripts(folder) ? popen("gnuplot --version 2>/dev/null", "r") : NULL;

    strcpy(drawn, "none");
    if (!from) return;
    if (fgets(line, sizeof line, from) && strncmp(line, "gnuplot ", 8) == 0) {
        line[strcspn(line, "\n;")] = 0;
        snprintf(drawn, 64, "%.60s", line + 8);
    }
    if (pclose(from) != 0) strcpy(drawn, "none");
}

/* name='value'; with quotes in the value doubled */
static void assign(FILE *to, const char *name, const char *value)
{
    fprintf(to, "%s='", name);
    for (; *value; ++value) {
        if (*value == '\'') fputc('\'', to);
        fputc(*value, to);
    }
    fputs("';", to);
}

/* Run gnuplot on a script; standard output and its warnings are dropped, a failure names the figure. */
static fault_kind plot(const char *scripts, const char *folder, const char *name, const char *kind, fault *f)
{
    char                      *settings = NULL, path[8192], script[8192];
    size_t                     bytes;
    FILE                      *to = open_memstream(&settings, &bytes);
    posix_spawn_file_actions_t actions;
    pid_t                      child;
    int                        status = -1;

    if (!to) return fault_set(f, FAULT_MEMORY, "memory ran out");
    assign(to, "here", scripts);
    assign(to, "kind", kind);
    snprintf(path, sizeof path, "%s/%s.tsv", folder, name);
    assign(to, "table", path);
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, kind);
    assign(to, "picture", path);
    if (fclose(to) != 0) return fault_set(f, FAULT_MEMORY, "memory ran out");
    snprintf(script, sizeof script, "%s/%s.gp", scripts, name);
    {
        char  program[] = "gnuplot", option[] = "-e";
        char *argv[] = { program, option, settings, script, NULL };
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        if (!getenv("ISOHULL_PLOTS_DEBUG")) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        if (posix_spawnp(&child, program, &actions, NULL, argv, environ) == 0)
            while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
        posix_spawn_file_actions_destroy(&actions);
    }
    free(settings);
    if (status == 0) return FAULT_NONE;
    return fault_set(f, FAULT_WRITE, "%s: gnuplot could not draw it (script %s)", path, script);
}

fault_kind draw_figures(const view *v, const char *folder, int pictures, char *svg[REPORT_FIGURES], fault *f)
{
    char       scripts[4096], path[8192];
    fault_kind kind = FAULT_NONE;

    for (int k = 0; k < REPORT_FIGURES; ++k) svg[k] = NULL;
    if (pictures && !find_scripts(scripts)) return fault_set(f, FAULT_OPEN, "the scripts of the figures (plots/style.gp) are not there");
    for (int k = 0; k < REPORT_FIGURES && !kind; ++k) {
        char *table = report_figure_table(v, k);
        if (!table) kind = fault_set(f, FAULT_MEMORY, "memory ran out");
        if (table && table[0]) {
            snprintf(path, sizeof path, "%s/%s.tsv", folder, report_figure_name(k));
            kind = file_write(path, table, f);
            if (!kind && pictures) kind = plot(scripts, folder, report_figure_name(k), "svg", f);
            if (!kind && pictures) kind = plot(scripts, folder, report_figure_name(k), "png", f);
            snprintf(path, sizeof path, "%s/%s.svg", folder, report_figure_name(k));
            if (!kind && pictures && !(svg[k] = file_read(path, NULL, f))) kind = f->kind;
        }
        free(table);
    }
    return kind;
}
