/* SPDX-License-Identifier: Apache-2.0
 * plan.c: from options to cells. */
#include "plan.h"

#include "device.h"
#include "peer.h"
#include "select.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int plan_parse_time(const char *text, double *ms)
{
    static const struct { const char *unit; double ms; } units[] = { { "", 1e3 }, { "s", 1e3 }, { "ms", 1 }, { "m", 6e4 }, { "min", 6e4 }, { "h", 3.6e6 } };
    char        *end;
    const double value = strtod(text, &end);

    if (end == text || !(value > 0) || isinf(value)) return 0;
    for (size_t k = 0; k < sizeof units / sizeof units[0]; ++k) {
        if (strcmp(end, units[k].unit) != 0) continue;
        *ms = value * units[k].ms;
        return 1;
    }
    return 0;
}

static fault_kind read_device(plan *p, const char *text, fault *f)
{
    p->ordinal = -1;
    if (!text || strcmp(text, "cpu") == 0) {
        strcpy(p->device, "cpu");
    } else if (strncmp(text, "replay:", 7) == 0 && text[7]) {
        strcpy(p->device, "replay");
        p->trace = text + 7;
    } else if (device_number(text) >= 0 && device_built() != DEVICE_BUILD_NONE) {
        p->ordinal = device_number(text);
        device_label(p->ordinal, p->device);
    } else if (device_number(text) >= 0) {
        fault_set(f, FAULT_USAGE, "--device %s: this build has no CUDA implementation to measure", text);
        f->exit_code = EXIT_NO_DEVICE;
        return FAULT_USAGE;
    } else {
        return fault_set(f, FAULT_USAGE, "option --device: '%s' is none of cpu, cuda:N (N from 0 to 1023), replay:FILE", text);
    }
    return FAULT_NONE;
}

static fault_kind read_numbers(plan *p, const plan_request *request, long long *threads, fault *f)
{
    char     *end;
    long long seed = 1;

    *threads = 0;
    if (request->threads && ((*threads = strtoll(request->threads, &end, 10)) < 1 || *threads > 4096 || *end))
        return fault_set(f, FAULT_USAGE, "option --threads: '%s' is not a whole number from 1 to 4096", request->threads);
    errno = 0;
    if (request->seed && ((seed = strtoll(request->seed, &end, 10)) < 0 || errno || *end || end == request->seed))
        return fault_set(f, FAULT_USAGE, "option --seed: '%s' is not a whole number from 0 to %lld", request->seed, INT64_MAX + 0LL);
    p->seed    = (uint64_t)seed;
    p->time_ms = 2e4;
    if (request->time && !plan_parse_time(request->time, &p->time_ms))
        return fault_set(f, FAULT_USAGE, "option --time: '%s' is no time (20s, 1.5m, 1h)", request->time);
    if (request->protocol && strcmp(request->protocol, "hot") != 0 && strcmp(request->protocol, "cold") != 0)
        return fault_set(f, FAULT_USAGE, "option --protocol: '%s' is neither cold nor hot", request->protocol);
    if (request->call && p->ordinal < 0) return fault_set(f, FAULT_USAGE, "option --call goes with --device cuda:N");
    p->calls = request->call && strcmp(request->call, "both") == 0 ? 2 : 1;
    if (request->call && p->calls == 1 && !call_kind_parse(request->call, &(call_kind){ CALL_HOST }))
        return fault_set(f, FAULT_USAGE, "option --call: '%s' is none of direct, graph, both", request->call);
    if (request->digests && p->ordinal < 0) return fault_set(f, FAULT_USAGE, "option --digests goes with --device cuda:N");
    if (request->digests && access(request->digests, R_OK) != 0) return fault_set(f, FAULT_OPEN, "%s: %s", request->digests, strerror(errno));
    p->digests = request->digests;
    if (request->work && p->ordinal < 0) return fault_set(f, FAULT_USAGE, "option --what goes with --device cuda:N");
    if (request->work && !work_kind_parse(request->work, &(work_kind){ WORK_FIT })) return fault_set(f, FAULT_USAGE, "option --what: '%s' is none of fit, backward, fit+backward", request->work);
    return FAULT_NONE;
}

static fault_kind read_problems(plan *p, const selection *s, fault *f)
{
    char message[IH_SPEC_MESSAGE];

    p->problem_count = s->n_problems;
    p->problems      = malloc((size_t)s->n_problems * sizeof *p->problems);
    if (!p->problems) return fault_set(f, FAULT_MEMORY, "memory ran out");
    for (int k = 0; k < s->n_problems; ++k) {
        if (strlen(s->problems[k]) >= RECORD_TEXT) return fault_set(f, FAULT_USAGE, "%.100s...: a problem of a record has at most %d letters", s->problems[k], RECORD_TEXT - 1);
        if (ih_spec_parse(&p->problems[k], s->problems[k], message, sizeof message) != 0) return fault_set(f, FAULT_USAGE, "%s", message);
    }
    return FAULT_NONE;
}

/* A peer is started to learn its versions, which are its code_hash: with other versions it is another cell. */
static fault_kind add_peer(plan *p, const char *name, size_t length, fault *f)
{
    char       why[PEER_WHY];
    peer      *process;
    fault_kind kind;

    if (p->peer_count == PLAN_PEERS) return fault_set(f, FAULT_USAGE, "option --peer: more than %d peers", PLAN_PEERS);
    if (length == 0 || length >= sizeof p->peers[0]) return fault_set(f, FAULT_USAGE, "option --peer: '%.*s' is no name", (int)(length < 80 ? length : 80), name);
    snprintf(p->peers[p->peer_count], sizeof p->peers[0], "%.*s", (int)length, name);
    for (int32_t k = 0; k < p->peer_count; ++k)
        if (strcmp(p->peers[k], p->peers[p->peer_count]) == 0) return fault_set(f, FAULT_USAGE, "--peer: %s is named twice", p->peers[k]);
    if (ih_impl_find(p->peers[p->peer_count])) return fault_set(f, FAULT_USAGE, "--peer %s: that is an implementation (--impl)", p->peers[p->peer_count]);
    kind = peer_start(&process, p->peers[p->peer_count], p->peer_hashes[p->peer_count], why, f);
    if (kind) return kind;
    if (!p->peer_versions) p->peer_versions = json_object();
    if (json_object_set_new(p->peer_versions, p->peers[p->peer_count], process ? json_deep_copy(peer_versions(process)) : json_string(why)))
        kind = fault_set(f, FAULT_MEMORY, "memory ran out");
    peer_stop(process);
    p->peer_count++;
    return kind;
}

static fault_kind read_peers(plan *p, const char *const *peers, fault *f)
{
    fault_kind kind = FAULT_NONE;

    if (peers && peers[0] && p->trace) return fault_set(f, FAULT_USAGE, "--peer goes with --device cpu or cuda:N: peers are measured, not replayed");
    for (; peers && *peers && !kind; ++peers) {
        const char *at = *peers;
        for (int more = 1; more && !kind;) {
            const size_t length = strcspn(at, ",");
            kind = add_peer(p, at, length, f);
            more = at[length] == ',';
            at += length + 1;
        }
    }
    return kind;
}

/* The implementation's text in the record: threads= of its own, or --threads if it has that option. */
static fault_kind name_impl(cell_record *c, const char *text, ih_device on, int32_t threads, fault *f)
{
    const ih_impl *impl;
    ih_options     options;

    ih_options_init(&options);
    if (ih_impl_parse(text, &impl, &options) != IH_OK) return fault_from_library(f, IH_EARGUMENT, "--impl");
    if (impl->device != on)
        return fault_set(f, FAULT_USAGE, "--impl %s: runs on %s; give --device %s", text, impl->device == IH_DEVICE_CUDA ? "a GPU" : "the CPU",
                         impl->device == IH_DEVICE_CUDA ? "cuda:N" : "cpu");
    if (impl->options & IH_OPT_THREADS && options.threads == 0) options.threads = threads;
    if (ih_impl_format(impl, &options, c->impl, sizeof c->impl) >= sizeof c->impl) return fault_set(f, FAULT_USAGE, "--impl %s: too long", text);
    return FAULT_NONE;
}

static double round_digits(double x) /* to three digits: readable in records, and the same for the same command */
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", x);
    return strtod(text, NULL);
}

static ih_device device_of(const plan *p) { return p->ordinal >= 0 ? IH_DEVICE_CUDA : IH_DEVICE_CPU; }

static fault_kind make_cells(plan *p, const selection *s, const plan_request *request, int32_t threads, const char *code_hash, fault *f)
{
    const int32_t each = s->n_impls + p->peer_count, count = s->n_problems * each * p->calls;
    fault_kind    kind = FAULT_NONE;

    p->impl_count = each * p->calls;
    p->cells      = calloc((size_t)count, sizeof *p->cells);
    if (!p->cells) return fault_set(f, FAULT_MEMORY, "memory ran out");
    for (int32_t k = 0; k < count && !kind; ++k) {
        cell_record *c = &p->cells[k];
        cell_init(c);
        const int32_t which = k % p->impl_count % each, guest = which - s->n_impls;
        if (guest < 0) kind = name_impl(c, s->impls[which], device_of(p), threads, f);
        else snprintf(c->impl, sizeof c->impl, "%s", p->peers[guest]);
        snprintf(c->problem, sizeof c->problem, "%s", s->problems[k / p->impl_count]);
        snprintf(c->device, sizeof c->device, "%s", p->device);
        snprintf(c->code_hash, sizeof c->code_hash, "%s", guest < 0 ? code_hash : p->peer_hashes[guest]);
        c->protocol.cold    = !request->protocol || strcmp(request->protocol, "cold") == 0;
        c->protocol.cell_ms = round_digits(0.5 * p->time_ms / count); /* the other half: data, referee, warm-up, ceilings */
        c->order_seed       = p->seed;
        if (p->ordinal >= 0) c->protocol.call = k % p->impl_count >= each ? CALL_GRAPH : CALL_DIRECT;
        if (request->call && p->calls == 1) call_kind_parse(request->call, &c->protocol.call);
        if (request->work) work_kind_parse(request->work, &c->protocol.work);
        for (int32_t e = k / p->impl_count * p->impl_count; e < k && !kind; ++e)
            if (strcmp(p->cells[e].impl, c->impl) == 0 && p->cells[e].protocol.call == c->protocol.call) kind = fault_set(f, FAULT_USAGE, "--impl: %s is named twice", c->impl);
    }
    return kind;
}

fault_kind plan_make(plan *out, const plan_request *request, const char *code_hash, const char *gpu_code_hash, fault *f)
{
    const char *preset = request->preset;
    selection   s      = { 0 };
    long long   threads;
    fault_kind  kind;

    memset(out, 0, sizeof *out);
    if (!preset && !request->problems[0]) preset = "smoke";
    kind = read_device(out, request->device, f);
    if (!kind) kind = read_numbers(out, request, &threads, f);
    if (!kind) kind = read_peers(out, request->peers, f);
    if (!kind) kind = select_make(&s, device_of(out), request->impls, request->problems, preset, f);
    if (!kind) {
        if (s.n_impls == 0) kind = fault_set(f, FAULT_USAGE, "there is no implementation to measure");
        if (!kind) kind = read_problems(out, &s, f);
        if (!kind) kind = make_cells(out, &s, request, (int32_t)threads, out->ordinal >= 0 ? gpu_code_hash : code_hash, f);
        select_free(&s);
    }
    if (kind) plan_free(out);
    return kind;
}

void plan_free(plan *p)
{
    for (int32_t k = 0; p->cells && k < p->problem_count * p->impl_count; ++k) cell_free(&p->cells[k]);
    free(p->cells);
    free(p->problems);
    json_decref(p->peer_versions);
    memset(p, 0, sizeof *p);
}
