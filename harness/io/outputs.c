/* SPDX-License-Identifier: Apache-2.0
 *
 * Temporaries beside their targets, renamed together; a fixed list of their names for the signal handler.
 */
#include "io/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names of temporaries that exist. */
static struct {
    volatile sig_atomic_t used;
    char                  path[PATH_MAX];
} temporaries[2 * OUTPUTS_MAX];

/* Who may touch files and list: this state goes from IDLE to BUSY (a change of several steps) or STOPPING (a handler, for
 * good). Blocking signals would not do, because a handler may run in a worker thread. */
enum { IDLE, BUSY, STOPPING };
static atomic_int state = IDLE, waiting_signal;

static void begin_change(void)
{
    int expected = IDLE;
    while (!atomic_compare_exchange_strong(&state, &expected, BUSY)) {
        if (expected == STOPPING) pause(); /* a handler in another thread is ending the process */
        sched_yield();
        expected = IDLE;
    }
}

static void end_change(void)
{
    const int error = errno;
    atomic_store(&state, IDLE);
    const int signal_number = atomic_exchange(&waiting_signal, 0);
    if (signal_number != 0) raise(signal_number);
    errno = error;
}

bool outputs_abandon(int signal_number)
{
    int expected = IDLE;
    if (!atomic_compare_exchange_strong(&state, &expected, STOPPING)) {
        if (expected == BUSY) atomic_store(&waiting_signal, signal_number);
        /* The change may have ended before it could see the signal: then this is the handler that goes on. */
        expected = IDLE;
        if (!atomic_compare_exchange_strong(&state, &expected, STOPPING)) return false;
    }
    for (size_t i = 0; i < sizeof temporaries / sizeof temporaries[0]; i++)
        if (temporaries[i].used) unlink(temporaries[i].path);
    return true;
}

void outputs_init(outputs *o)
{
    *o = (outputs){.n = 0};
}

/* The target with links resolved: its directory must be there, the file itself need not. NULL with errno. */
static char *resolve(const char *path, bool exists)
{
    if (exists) return realpath(path, NULL);
    const char *slash = strrchr(path, '/');
    const char *base  = slash != NULL ? slash + 1 : path;
    if (*base == 0) {
        errno = *path == 0 ? ENOENT : EISDIR;
        return NULL;
    }
    char *folder   = slash == NULL ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    char *resolved = folder != NULL ? realpath(folder, NULL) : NULL;
    char *target   = NULL;
    if (resolved != NULL && asprintf(&target, "%s/%s", strcmp(resolved, "/") == 0 ? "" : resolved, base) < 0) target = NULL;
    free(folder);
    free(resolved);
    return target;
}

/* Create a temporary in the folder of the target; returns its descriptor or -1 with errno. */
static int create_temporary(const char *target, int *place)
{
    static unsigned counter;
    const size_t    folder = (size_t)(strrchr(target, '/') - target);
    int             fd = -1;
    *place             = -1;
    begin_change();
    for (size_t i = 0; i < sizeof temporaries / sizeof temporaries[0] && *place < 0; i++)
        if (!temporaries[i].used) *place = (int)i;
    errno = EMFILE;
    for (int tries = 0; *place >= 0 && tries < 1000; tries++) {
        char     *name = temporaries[*place].path;
        const int n    = snprintf(name, PATH_MAX, "%.*s/.isohull-%ld-%u.part", (int)folder, target, (long)getpid(), counter++);
        if (n >= PATH_MAX) {
            errno = ENAMETOOLONG;
            break;
        }
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) break; /* one is left from a process that was killed: take the next name */
    }
    if (fd >= 0)
        temporaries[*place].used = 1;
    else
        *place = -1;
    end_change();
    return fd;
}

static void drop_temporary(int place)
{
    begin_change();
    if (temporaries[place].used) unlink(temporaries[place].path);
    temporaries[place].used = 0;
    end_change();
}

static fault_kind bad_output(const char *path, const char *what, fault *f)
{
    return fault_set(f, FAULT_WRITE, "%s: %s", path, what);
}

/* Things that only look like a file in a folder: the streams of this process. */
static bool is_stream(const char *path)
{
    return strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* The descriptor of this process that a path names, or -1. */
static int own_descriptor(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    char                    *end     = NULL;
    for (int k = 0; k < 3; k++)
        if (strcmp(path, names[k]) == 0) return k;
    if (strncmp(path, "/dev/fd/", 8) == 0 && path[8] >= '0' && path[8] <= '9') {
        const long number = strtol(path + 8, &end, 10);
        if (*end == 0 && number <= INT_MAX) return (int)number;
    }
    return -1;
}

bool outputs_is_stdout(const char *path)
{
    return path != NULL && own_descriptor(path) == STDOUT_FILENO;
}

/* Opened anew, a stream that is a file would be written from its start again, over what a `>>` or an earlier command left. */
static int open_stream(const char *path)
{
    const int own = own_descriptor(path);
    return own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : open(path, O_WRONLY | O_CLOEXEC);
}

fault_kind outputs_add(outputs *o, const char *path, FILE **stream, fault *f)
{
    struct stat st;
    const bool  exists = stat(path, &st) == 0;
    if (o->n == OUTPUTS_MAX) return bad_output(path, "too many outputs", f);
    struct outputs_entry *e = &o->entries[o->n];
    *e                      = (struct outputs_entry){.temporary = -1};
    int fd                  = -1;
    if (exists && S_ISDIR(st.st_mode)) return bad_output(path, "is a directory", f);
    if (!exists && lstat(path, &st) == 0) return bad_output(path, "is a link that leads nowhere", f);
    e->path = strdup(path);
    if (e->path == NULL) return fault_set(f, FAULT_MEMORY, "%s: memory ran out", path);
    o->n++; /* from here on outputs_discard cleans up */
    if (exists && (!S_ISREG(st.st_mode) || is_stream(path))) {
        fd = open_stream(path);
    } else {
        e->target = resolve(path, exists);
        if (e->target == NULL) return bad_output(path, strerror(errno), f);
        for (int i = 0; i + 1 < o->n; i++)
            if (o->entries[i].target != NULL && strcmp(o->entries[i].target, e->target) == 0)
                return bad_output(path, "is named for two outputs", f);
        if (exists && access(e->target, W_OK) != 0) return bad_output(path, strerror(errno), f);
        fd = create_temporary(e->target, &e->temporary);
        if (fd >= 0 && exists) (void)!fchmod(fd, st.st_mode & 07777);
    }
    if (fd < 0) return bad_output(path, strerror(errno), f);
    e->stream = fdopen(fd, "wb");
    if (e->stream == NULL) {
        close(fd);
        return bad_output(path, strerror(errno), f);
    }
    *stream = e->stream;
    return FAULT_NONE;
}

/* Close every stream; the first that failed on the way is the fault. */
static fault_kind close_all(outputs *o, fault *f)
{
    fault_kind kind = FAULT_NONE;
    for (int i = 0; i < o->n; i++) {
        struct outputs_entry *e = &o->entries[i];
        if (e->stream == NULL) continue;
        errno           = 0;
        const bool bad  = fflush(e->stream) != 0 || ferror(e->stream);
        const int  code = errno;
        const bool late = fclose(e->stream) != 0;
        e->stream       = NULL;
        if ((bad || late) && kind == FAULT_NONE)
            kind = bad_output(e->path, code != 0 ? strerror(code) : late ? strerror(errno) : "writing failed", f);
    }
    return kind;
}

fault_kind outputs_commit(outputs *o, fault *f)
{
    fault_kind kind = close_all(o, f);
    bool       fresh[OUTPUTS_MAX];
    int        done = 0;
    if (kind != FAULT_NONE) return kind;
    begin_change();
    for (; done < o->n && kind == FAULT_NONE; done++) {
        struct outputs_entry *e = &o->entries[done];
        fresh[done]             = e->target != NULL && access(e->target, F_OK) != 0;
        if (e->target == NULL) continue;
        if (rename(temporaries[e->temporary].path, e->target) != 0) {
            kind = bad_output(e->path, strerror(errno), f);
            break;
        }
        temporaries[e->temporary].used = 0;
        e->temporary                   = -1;
    }
    /* All or none: files that were not there before can be taken back. */
    for (int i = 0; kind != FAULT_NONE && i < done; i++)
        if (fresh[i]) unlink(o->entries[i].target);
    end_change();
    return kind;
}

void outputs_discard(outputs *o)
{
    (void)close_all(o, NULL);
    for (int i = 0; i < o->n; i++) {
        if (o->entries[i].temporary >= 0) drop_temporary(o->entries[i].temporary);
        free(o->entries[i].target);
        free(o->entries[i].path);
    }
    outputs_init(o);
}
