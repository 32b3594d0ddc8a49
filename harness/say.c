/* SPDX-License-Identifier: Apache-2.0
 * say.c: messages on stderr, the hint for a mistyped word, and the end of standard output. */
#include "say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *say_name = "isohull";

static void vsay(const char *format, va_list args)
{
    fprintf(stderr, "%s: ", say_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsay(format, args);
    va_end(args);
}

int say_bad(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsay(format, args);
    va_end(args);
    return EXIT_USAGE;
}

enum { WORD_MAX = 40 };

static int smallest(int a, int b, int c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

/* Edits (insert, delete, replace, swap neighbours) from a to b; both at most WORD_MAX long. */
static int edits(const char *a, const char *b)
{
    static int d[WORD_MAX + 1][WORD_MAX + 1];
    const int  m = (int)strlen(a), n = (int)strlen(b);

    for (int i = 0; i <= m; ++i) d[i][0] = i;
    for (int k = 0; k <= n; ++k) d[0][k] = k;
    for (int i = 1; i <= m; ++i)
        for (int k = 1; k <= n; ++k) {
            d[i][k] = smallest(d[i - 1][k] + 1, d[i][k - 1] + 1, d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && d[i - 2][k - 2] + 1 < d[i][k]) d[i][k] = d[i - 2][k - 2] + 1;
        }
    return d[m][n];
}

const char *say_nearest(const char *word, const char *const *candidates, int count)
{
    const char *best  = NULL;
    int         least = ((int)strlen(word) + 1) / 3 + 1; /* more edits than a third of it: another word */

    if (strlen(word) > WORD_MAX) return NULL;
    for (int k = 0; k < count; ++k) {
        if (!candidates[k] || strlen(candidates[k]) > WORD_MAX) continue;
        const int e = edits(word, candidates[k]);
        if (e < least) {
            least = e;
            best  = candidates[k];
        }
    }
    return best;
}

/* Has the reader of the pipe gone? Asked of the descriptor, since errno of an earlier write may be lost. */
static int reader_gone(void)
{
    struct pollfd fd = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return poll(&fd, 1, 0) == 1 && (fd.revents & POLLERR);
}

int say_flush(void)
{
    int error;

    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_GOOD;
    error = errno;
    if (reader_gone()) return EXIT_GOOD;
    return say_bad("cannot write to standard output: %s", error ? strerror(error) : "an earlier write failed");
}
