/* SPDX-License-Identifier: Apache-2.0
 * peer.c: starts, asks and ends the child process of a peer. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

extern char **environ;

enum { PATIENCE_MS = 300000 };

struct peer {
    char    name[64];
    pid_t   pid; /* 0: it has ended */
    int     to;
    FILE   *from;
    json_t *versions;
};

const char *peer_program(void)
{
    const char *named = getenv("ISOHULL_PEERS");
    return named && named[0] ? named : "scripts/peers";
}

/* Wait for its end and say how it ended. */
static void reap(peer *p, char *how, size_t how_bytes)
{
    int status = 0;

    if (p->pid) waitpid(p->pid, &status, 0);
    p->pid = 0;
    if (!how) return;
    if (WIFSIGNALED(status)) snprintf(how, how_bytes, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else snprintf(how, how_bytes, "ended with exit code %d", WEXITSTATUS(status));
}

const json_t *peer_versions(const peer *p) { return p->versions; }

int peer_alive(const peer *p) { return p && p->pid != 0; }

void peer_stop(peer *p)
{
    if (!p) return;
    if (p->to >= 0) close(p->to); /* the end of its input is its end */
    if (p->from) fclose(p->from);
    reap(p, NULL, 0);
    json_decref(p->versions);
    free(p);
}

static fault_kind spawn(peer *p, fault *f)
{
    posix_spawn_file_actions_t actions;
    const char *program = peer_program();
    char        serve[] = "serve", *argv[] = { (char *)(uintptr_t)program, serve, p->name, NULL };
    int         in[2], out[2], error;

    if (access(program, X_OK) != 0)
        return fault_set(f, FAULT_USAGE, "peers are served by the program %s, which cannot be run: %s (the environment variable ISOHULL_PEERS names another)",
                         program, strerror(errno));
    if (pipe2(in, O_CLOEXEC)) return fault_set(f, FAULT_OPEN, "no pipe for a peer: %s", strerror(errno));
    if (pipe2(out, O_CLOEXEC)) {
        close(in[0]);
        close(in[1]);
        return fault_set(f, FAULT_OPEN, "no pipe for a peer: %s", strerror(errno));
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    error = posix_spawn(&p->pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    p->to   = in[1];
    p->from = fdopen(out[0], "r");
    if (!p->from) close(out[0]);
    if (error) p->pid = 0;
    if (error || !p->from) return fault_set(f, FAULT_OPEN, "%s could not be started: %s", program, strerror(error ? error : errno));
    return FAULT_NONE;
}

static fault_kind read_answer(peer *p, json_t **answer, fault *f)
{
    struct pollfd wait = { .fd = fileno(p->from), .events = POLLIN };
    char         *line = NULL, how[128];
    size_t        room = 0;
    int           ready, said;

    *answer = NULL;
    while ((ready = poll(&wait, 1, PATIENCE_MS)) < 0 && errno == EINTR) continue;
    if (ready == 0) {
        kill(p->pid, SIGKILL);
        reap(p, NULL, 0);
        return fault_set(f, FAULT_LIBRARY, "peer %s did not answer within %d s", p->name, PATIENCE_MS / 1000);
    }
    said = getline(&line, &room, p->from) > 0;
    if (said) *answer = json_loads(line, 0, NULL);
    free(line);
    if (json_is_object(*answer)) return FAULT_NONE;
    json_decref(*answer);
    *answer = NULL;
    if (said) kill(p->pid, SIGKILL);
    reap(p, how, sizeof how);
    if (said) return fault_set(f, FAULT_FORMAT, "peer %s answered with something that is no JSON object", p->name);
    return fault_set(f, FAULT_LIBRARY, "peer %s %s instead of answering", p->name, how);
}

fault_kind peer_ask(peer *p, json_t *request, json_t **answer, fault *f)
{
    char       *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
    const char *error;
    fault_kind  kind;

    *answer = NULL;
    json_decref(request);
    if (!text) return fault_set(f, FAULT_MEMORY, "memory ran out");
    if (!p->pid) {
        free(text);
        return fault_set(f, FAULT_LIBRARY, "peer %s has ended", p->name);
    }
    /* requests are short: a pipe takes them whole. If it has ended the answer says so, so that this needs no check. */
    if (dprintf(p->to, "%s\n", text) < 0) errno = 0;
    free(text);
    kind = read_answer(p, answer, f);
    if (kind) return kind;
    error = json_string_value(json_object_get(*answer, "error"));
    if (!error) return FAULT_NONE;
    fault_set(f, FAULT_LIBRARY, "peer %s: %s", p->name, error);
    json_decref(*answer);
    *answer = NULL;
    return FAULT_LIBRARY;
}

static void hash_of(const json_t *greeting, char code_hash[PEER_HASH])
{
    char *text = json_dumps(greeting, JSON_COMPACT | JSON_SORT_KEYS);

    snprintf(code_hash, PEER_HASH, "%016" PRIx64, (uint64_t)(text ? XXH3_64bits(text, strlen(text)) : 0));
    free(text);
}

fault_kind peer_start(peer **out, const char *name, char code_hash[PEER_HASH], char why[PEER_WHY], fault *f)
{
    peer       *p = calloc(1, sizeof *p);
    json_t     *greeting = NULL;
    const char *unknown, *unsupported;
    fault_kind  kind;

    *out   = NULL;
    why[0] = 0;
    if (!p) return fault_set(f, FAULT_MEMORY, "memory ran out");
    p->to = -1;
    snprintf(p->name, sizeof p->name, "%s", name);
    kind = spawn(p, f);
    if (!kind) kind = read_answer(p, &greeting, f);
    if (!kind) {
        hash_of(greeting, code_hash);
        unknown     = json_string_value(json_object_get(greeting, "unknown"));
        unsupported = json_string_value(json_object_get(greeting, "unsupported"));
        if (unknown) kind = fault_set(f, FAULT_USAGE, "%s", unknown);
        else if (unsupported) snprintf(why, PEER_WHY, "%s", unsupported);
        else if (!(p->versions = json_incref(json_object_get(greeting, "versions"))) || !json_is_object(p->versions))
            kind = fault_set(f, FAULT_FORMAT, "peer %s: its greeting has no versions", name);
    }
    json_decref(greeting);
    if (kind || why[0]) peer_stop(p);
    else *out = p;
    return kind;
}
