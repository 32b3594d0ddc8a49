/* SPDX-License-Identifier: Apache-2.0
 * journal.c: the file of records: opened by one process at a time, lines appended whole, read back. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct journal {
    int   fd;
    char *path;
};

/* ---- writing ---- */

/* A process that was killed a moment ago, or a child of it, may still hold the lock: wait for up to a second. */
static int lock(int fd)
{
    const struct timespec pause = { 0, 20 * 1000 * 1000 };

    for (int k = 0; k < 50; ++k) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
        if (errno != EWOULDBLOCK && errno != EINTR) return -1;
        nanosleep(&pause, NULL);
    }
    errno = EWOULDBLOCK;
    return -1;
}

/* Where the last whole line ends: 0 if there is none. -1: cannot be read. */
static off_t whole_lines(int fd, off_t end)
{
    char buffer[4096];

    while (end > 0) {
        const off_t   begin = end > (off_t)sizeof buffer ? end - (off_t)sizeof buffer : 0;
        const ssize_t got   = pread(fd, buffer, (size_t)(end - begin), begin);
        if (got != end - begin) return -1;
        for (ssize_t i = got; i-- > 0;)
            if (buffer[i] == '\n') return begin + i + 1;
        end = begin;
    }
    return 0;
}

fault_kind journal_open(journal **out, const char *path, int64_t *torn_bytes, fault *f)
{
    journal    *j = malloc(sizeof *j);
    struct stat is;
    off_t       whole;

    *out = NULL;
    if (torn_bytes) *torn_bytes = 0;
    if (!j) return fault_set(f, FAULT_MEMORY, "memory ran out");
    j->path = strdup(path);
    j->fd   = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (!j->path || j->fd < 0) {
        fault_set(f, FAULT_OPEN, "%s: %s", path, strerror(errno));
    } else if (fstat(j->fd, &is) != 0 || !S_ISREG(is.st_mode)) {
        fault_set(f, FAULT_OPEN, "%s: a journal is a regular file", path);
    } else if (lock(j->fd) != 0) {
        fault_set(f, FAULT_WRITE, errno == EWOULDBLOCK ? "%s: another process is writing this journal" : "%s: the journal cannot be locked", path);
    } else if (fstat(j->fd, &is) != 0 || (whole = whole_lines(j->fd, is.st_size)) < 0) {
        fault_set(f, FAULT_READ, "%s: %s", path, strerror(errno));
    } else if (whole < is.st_size && ftruncate(j->fd, whole) != 0) {
        fault_set(f, FAULT_WRITE, "%s: its torn last line cannot be cut off: %s", path, strerror(errno));
    } else {
        if (torn_bytes) *torn_bytes = is.st_size - whole;
        *out = j;
        return FAULT_NONE;
    }
    journal_close(j);
    return f ? f->kind : FAULT_OPEN;
}

fault_kind journal_append(journal *j, const json_t *line, fault *f)
{
    char   *text   = line ? json_dumps(line, RECORD_DUMP) : NULL;
    size_t  length = text ? strlen(text) : 0;
    ssize_t wrote;
    off_t   before;

    if (!text) return fault_set(f, FAULT_MEMORY, "%s: no memory for a line, or a number in it is not finite", j->path);
    text[length++] = '\n'; /* in the place of the terminating 0: one write of the whole line */
    before         = lseek(j->fd, 0, SEEK_END);
    do wrote = write(j->fd, text, length);
    while (wrote < 0 && errno == EINTR);
    free(text);
    if (wrote == (ssize_t)length && fdatasync(j->fd) == 0) return FAULT_NONE;
    fault_set(f, FAULT_WRITE, "%s: %s", j->path, wrote >= 0 && wrote < (ssize_t)length ? "no space for a whole line" : strerror(errno));
    if (before >= 0 && wrote > 0 && wrote < (ssize_t)length && ftruncate(j->fd, before) != 0) return FAULT_WRITE; /* torn: cut off at the next opening */
    return FAULT_WRITE;
}

void journal_forget(journal *j)
{
    if (!j) return;
    if (j->fd >= 0) close(j->fd);
    free(j->path);
    free(j);
}

void journal_close(journal *j) { journal_forget(j); }

/* ---- reading ---- */

static fault_kind add_line(journal_data *out, json_t *line, fault *f)
{
    const json_t *kind  = json_object_get(line, "kind");
    fault_kind    found = FAULT_NONE;

    if (json_is_string(kind) && strcmp(json_string_value(kind), "run") == 0) {
        json_t **grown = realloc(out->runs, (size_t)(out->run_count + 1) * sizeof *grown);
        if (!grown) return fault_set(f, FAULT_MEMORY, "memory ran out");
        out->runs = grown;
        found     = run_check(line, f);
        if (!found) out->runs[out->run_count++] = json_incref(line);
        return found;
    }
    if ((out->cell_count & (out->cell_count - 1)) == 0) { /* grows at powers of two */
        const int64_t room  = out->cell_count ? 2 * out->cell_count : 1;
        cell_record  *grown = realloc(out->cells, (size_t)room * sizeof *grown);
        if (!grown) return fault_set(f, FAULT_MEMORY, "memory ran out");
        out->cells = grown;
    }
    found = cell_from_json(line, &out->cells[out->cell_count], f);
    if (!found) out->cell_count++;
    return found;
}

static fault_kind read_file(journal_data *out, const char *path, fault *f)
{
    FILE      *file   = fopen(path, "re");
    char      *text   = NULL;
    size_t     room   = 0;
    int64_t    number = 0;
    ssize_t    length;
    fault_kind kind = FAULT_NONE;

    if (!file) return fault_set(f, FAULT_OPEN, "%s: %s", path, strerror(errno));
    errno = 0;
    while (!kind && (length = getline(&text, &room, file)) > 0) {
        json_error_t error;
        json_t      *line;
        ++number;
        if (text[length - 1] != '\n') { /* the last one, torn */
            out->torn_bytes += length;
            break;
        }
        line = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
        if (line) {
            kind = add_line(out, line, f);
            if (kind && f) fault_set(f, kind, "%s:%lld: %s", path, (long long)number, f->message);
        } else {
            kind = fault_set(f, FAULT_FORMAT, "%s:%lld: no JSON: %s", path, (long long)number, error.text);
        }
        if (kind && f) f->line = number;
        json_decref(line);
    }
    if (!kind && ferror(file)) kind = fault_set(f, FAULT_READ, "%s: %s", path, strerror(errno));
    free(text);
    fclose(file);
    return kind;
}

fault_kind journal_read(journal_data *out, const char *const *paths, int count, fault *f)
{
    fault_kind kind = FAULT_NONE;

    memset(out, 0, sizeof *out);
    for (int k = 0; k < count && !kind; ++k) kind = read_file(out, paths[k], f);
    if (kind) journal_free(out);
    return kind;
}

void journal_free(journal_data *data)
{
    for (int64_t k = 0; k < data->run_count; ++k) json_decref(data->runs[k]);
    for (int64_t k = 0; k < data->cell_count; ++k) cell_free(&data->cells[k]);
    free(data->runs);
    free(data->cells);
    memset(data, 0, sizeof *data);
}

const cell_record *journal_find(const journal_data *data, const cell_record *like)
{
    for (int64_t k = data->cell_count; k-- > 0;) {
        const cell_record *c = &data->cells[k];
        const int          final = c->status == CELL_OK || c->status == CELL_WRONG || c->status == CELL_UNSUPPORTED;
        if (final && cell_same(c, like) && c->protocol.cell_ms >= like->protocol.cell_ms) return c;
    }
    return NULL;
}
