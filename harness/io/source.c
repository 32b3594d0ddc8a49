/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes from a file, a pipe or memory.
 *
 * Files are read, not mapped: a mapped file that someone shortens meanwhile ends the process with SIGBUS, and reading
 * straight into the array costs no second copy either.
 */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One read may ask for at most 2^31 - 4096 bytes on Linux. */
#define READ_BYTES ((int64_t)1 << 30)
#define PIPE_BYTES ((int64_t)1 << 16)

/* Read up to `bytes` bytes; fewer only at the end of the file. -1 on an error (errno). */
static int64_t read_fully(int fd, unsigned char *into, int64_t bytes)
{
    int64_t got = 0;
    while (got < bytes) {
        int64_t ask = bytes - got < READ_BYTES ? bytes - got : READ_BYTES;
        ssize_t n   = read(fd, into + got, (size_t)ask);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        got += n;
    }
    return got;
}

/* A pipe has no length that a header could be compared with: take all of it first. */
static fault_kind read_pipe(source *s, fault *f)
{
    int64_t room = PIPE_BYTES;
    s->owned     = malloc((size_t)room);
    for (;;) {
        if (s->owned == NULL) return fault_set(f, FAULT_MEMORY, "%s: memory ran out", s->name);
        int64_t n = read_fully(s->fd, s->owned + s->size, room - s->size);
        if (n < 0) return fault_set(f, FAULT_READ, "%s: %s", s->name, strerror(errno));
        if (n == 0 || s->size + n < room) {
            s->size += n;
            break;
        }
        s->size += n;
        room *= 2;
        unsigned char *larger = realloc(s->owned, (size_t)room);
        if (larger == NULL) free(s->owned);
        s->owned = larger;
    }
    close(s->fd);
    s->fd     = -1;
    s->memory = s->owned;
    return FAULT_NONE;
}

fault_kind source_open(source *s, const char *path, fault *f)
{
    *s    = (source){.name = path, .fd = -1};
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0) return fault_set(f, FAULT_OPEN, "%s: %s", path, strerror(errno));
    struct stat   st;
    fault_kind    kind = FAULT_NONE;
    if (fstat(s->fd, &st) != 0) {
        kind = fault_set(f, FAULT_OPEN, "%s: %s", path, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        kind = fault_set(f, FAULT_OPEN, "%s: is a directory", path);
    } else if (S_ISREG(st.st_mode) && st.st_size > 0) {
        s->size = st.st_size;
    } else { /* also files of /proc, which are regular and claim a length of 0 */
        kind = read_pipe(s, f);
    }
    if (kind != FAULT_NONE) source_close(s);
    return kind;
}

void source_from_memory(source *s, const char *name, const void *bytes, size_t size)
{
    *s = (source){.name = name, .fd = -1, .memory = bytes, .size = (int64_t)size};
}

void source_close(source *s)
{
    if (s->fd >= 0) close(s->fd);
    free(s->owned);
    *s = (source){.name = s->name, .fd = -1};
}

fault_kind source_read(source *s, void *into, int64_t bytes, fault *f)
{
    if (bytes == 0) return FAULT_NONE;
    int64_t got = s->size - s->at < bytes ? s->size - s->at : bytes;
    if (s->fd >= 0)
        got = read_fully(s->fd, into, bytes);
    else if (got > 0)
        memcpy(into, s->memory + s->at, (size_t)got);
    if (got < 0) return fault_set(f, FAULT_READ, "%s: %s", s->name, strerror(errno));
    s->at += got;
    if (got < bytes)
        return fault_set(f, FAULT_TRUNCATED, "%s: ends at byte %lld, where %lld more are needed", s->name,
                         (long long)s->at, (long long)(bytes - got));
    return FAULT_NONE;
}

fault_kind source_slurp(source *s, char **bytes, int64_t *size, fault *f)
{
    *size = s->size - s->at;
    if (s->owned != NULL && s->at == 0) { /* a pipe: hand its memory out, with room for the 0 */
        unsigned char *larger = realloc(s->owned, (size_t)s->size + 1);
        if (larger == NULL) return fault_set(f, FAULT_MEMORY, "%s: memory ran out", s->name);
        s->owned = larger;
    } else {
        unsigned char *all = malloc((size_t)*size + 1);
        if (all == NULL) return fault_set(f, FAULT_MEMORY, "%s: memory ran out", s->name);
        fault_kind kind = source_read(s, all, *size, f);
        if (kind != FAULT_NONE) {
            free(all);
            return kind;
        }
        free(s->owned);
        s->owned = all;
    }
    s->owned[*size] = 0;
    *bytes          = (char *)s->owned;
    if (s->fd >= 0) close(s->fd);
    s->fd     = -1;
    s->memory = s->owned;
    s->size = s->at = *size;
    return FAULT_NONE;
}
