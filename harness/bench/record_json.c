/* SPDX-License-Identifier: Apache-2.0
 * record_json.c: cells and runs as lines of JSON; the rules of docs/journal.md and journal.schema.json. */
#include "record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static int put(json_t *to, const char *key, json_t *value) { return json_object_set_new(to, key, value); }

static int put_text(json_t *to, const char *key, const char *text) { return text[0] ? put(to, key, json_string(text)) : 0; }

/* Left out below 0: not measured. */
static int put_number(json_t *to, const char *key, double value) { return value >= 0 ? put(to, key, json_real(value)) : 0; }

static int put_count(json_t *to, const char *key, int64_t count) { return count >= 0 ? put(to, key, json_integer((json_int_t)count)) : 0; }

static int put_samples(json_t *to, const char *key, const double *samples, int64_t n)
{
    json_t *array = json_array();
    int     bad   = 0;

    for (int64_t i = 0; i < n; ++i) bad |= json_array_append_new(array, json_real(samples[i]));
    return put(to, key, array) | bad;
}

static int put_protocol(json_t *to, const protocol *p)
{
    json_t *o   = json_pack("{ss sf si si sf}", "cache", p->cold ? "cold" : "hot", "settle", p->settle, "settle_max", (int)p->settle_max,
                            "samples_min", (int)p->samples_min, "cell_ms", p->cell_ms);
    int     bad = 0;

    if (p->call != CALL_HOST) bad |= put(o, "call", json_string(call_kind_name(p->call)));
    if (p->work != WORK_FIT) bad |= put(o, "work", json_string(work_kind_name(p->work)));
    return put(to, "protocol", o) | bad;
}

static int put_measured(json_t *to, const cell_record *c)
{
    int bad = put_protocol(to, &c->protocol) | put_count(to, "threads", c->threads) | put_count(to, "order_seed", (int64_t)c->order_seed) |
              put_count(to, "warmup_calls", c->warmup_calls) | put_samples(to, "samples_ms", c->samples_ms, c->samples);

    if (c->throttled_count > 0) {
        json_t *array = json_array();
        for (int64_t i = 0; i < c->throttled_count; ++i) bad |= json_array_append_new(array, json_integer((json_int_t)c->throttled[i]));
        bad |= put(to, "throttled", array);
    }
    bad |= put_number(to, "median_ms", c->median_ms);
    if (c->ci_low_ms >= 0) bad |= put(to, "ci_ms", json_pack("[ff]", c->ci_low_ms, c->ci_high_ms));
    if (c->copy_samples > 0) bad |= put_samples(to, "copy_samples_ms", c->copy_samples_ms, c->copy_samples);
    bad |= put_number(to, "read_ms", c->read_ms) | put_number(to, "empty_call_ms", c->empty_call_ms);
    if (c->stages > 0) {
        json_t *stages = json_object();
        for (int32_t k = 0; k < c->stages; ++k) bad |= put(stages, c->stage[k].name, json_real(c->stage[k].ms));
        bad |= put(to, "stages_ms", stages);
    }
    bad |= put_number(to, "closure", c->closure) | put_count(to, "peak_bytes", c->peak_bytes);
    if (c->gpu_before) bad |= json_object_set(to, "gpu_before", c->gpu_before);
    if (c->gpu_after) bad |= json_object_set(to, "gpu_after", c->gpu_after);
    return bad;
}

json_t *cell_to_json(const cell_record *c)
{
    json_t *to = json_pack("{si ss ss ss ss ss ss ss}", "schema", (int)RECORD_SCHEMA, "kind", "cell", "run", c->run, "impl", c->impl,
                           "problem", c->problem, "device", c->device, "code_hash", c->code_hash, "status", cell_status_name(c->status));
    int     bad;

    if (!to) return NULL;
    bad = put_text(to, "why", c->why) | put_count(to, "rows", c->rows) | put_count(to, "n", c->n) | put_text(to, "digest", c->digest) |
          put_text(to, "digest_want", c->digest_want) | put_text(to, "referee", c->referee) | put_count(to, "blocks", c->blocks) |
          put_number(to, "max_deviation", c->max_deviation);
    if (!c->accuracy) bad |= put_measured(to, c);
    bad |= put_count(to, "workspace_bytes", c->workspace_bytes);
    if (c->counters) bad |= json_object_set(to, "counters", c->counters);
    if (c->accuracy) bad |= json_object_set(to, "accuracy", c->accuracy);
    if (!bad) return to;
    json_decref(to);
    return NULL;
}

/* ---- reading ---- */

typedef struct reader {
    const json_t *from;
    fault        *f;
    fault_kind    kind; /* of the first fault */
} reader;

static const json_t *fail(reader *r, const char *key, const char *why)
{
    if (!r->kind) r->kind = fault_set(r->f, FAULT_FORMAT, "field \"%s\" %s", key, why);
    return NULL;
}

/* The field, or NULL if it is absent (a fault if it must be there). */
static const json_t *field(reader *r, const char *key, int must)
{
    const json_t *value = json_object_get(r->from, key);
    return value || !must ? value : fail(r, key, "is missing");
}

static void get_text(reader *r, const char *key, int must, char *to, size_t bytes)
{
    const json_t *value = field(r, key, must);

    if (!value) return;
    if (!json_is_string(value)) fail(r, key, "is no text");
    else if (must && json_string_length(value) == 0) fail(r, key, "is empty");
    else if (json_string_length(value) >= bytes) fail(r, key, "is too long");
    else strcpy(to, json_string_value(value));
}

static int64_t get_count(reader *r, const char *key, int must, int64_t absent)
{
    const json_t *value = field(r, key, must);

    if (!value) return absent;
    if (!json_is_integer(value) || json_integer_value(value) < 0) fail(r, key, "is no whole number from 0");
    return json_integer_value(value);
}

static int32_t get_small(reader *r, const char *key, int must)
{
    const int64_t value = get_count(r, key, must, 0);
    if (value > INT32_MAX) fail(r, key, "is too large");
    return (int32_t)value;
}

static double get_number(reader *r, const char *key, int must, double absent)
{
    const json_t *value = field(r, key, must);

    if (!value) return absent;
    if (!json_is_number(value) || !(json_number_value(value) >= 0)) fail(r, key, "is no number from 0");
    return json_number_value(value);
}

static int64_t get_samples(reader *r, const char *key, int must, double **to)
{
    const json_t *value = field(r, key, must);
    const int64_t n     = value ? (int64_t)json_array_size(value) : 0;

    if (value && !json_is_array(value)) fail(r, key, "is no array");
    if (n == 0) return 0;
    *to = malloc((size_t)n * sizeof **to);
    if (!*to) {
        r->kind = fault_set(r->f, FAULT_MEMORY, "memory ran out");
        return 0;
    }
    for (int64_t i = 0; i < n; ++i) {
        const json_t *one = json_array_get(value, (size_t)i);
        (*to)[i]          = json_number_value(one);
        if (!json_is_number(one) || !((*to)[i] >= 0)) fail(r, key, "holds something that is no number from 0");
    }
    return n;
}

static void get_throttled(reader *r, cell_record *c)
{
    const json_t *value = field(r, "throttled", 0);
    int64_t       last  = -1;

    if (!value) return;
    if (!json_is_array(value) || json_array_size(value) == 0) fail(r, "throttled", "is no array of indices");
    if (r->kind) return;
    c->throttled = malloc(json_array_size(value) * sizeof *c->throttled);
    if (!c->throttled) r->kind = fault_set(r->f, FAULT_MEMORY, "memory ran out");
    for (size_t i = 0; c->throttled && i < json_array_size(value); ++i) {
        const json_t *one = json_array_get(value, i);
        if (!json_is_integer(one) || json_integer_value(one) <= last || json_integer_value(one) >= c->samples) {
            fail(r, "throttled", "holds no rising indices of samples");
            return;
        }
        last = c->throttled[c->throttled_count++] = json_integer_value(one);
    }
}

static int is_digest(const char *text) { return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16; }

static void get_digest(reader *r, const char *key, char to[17])
{
    get_text(r, key, 0, to, 17);
    if (!r->kind && field(r, key, 0) && !is_digest(to)) fail(r, key, "is no digest: 16 hexadecimal digits");
}

static void get_protocol(reader *r, protocol *p)
{
    reader      in      = { field(r, "protocol", 1), r->f, r->kind };
    char        cache[8] = "", call[16] = "", work[16] = "";

    if (!in.from) return;
    if (!json_is_object(in.from)) {
        fail(r, "protocol", "is no object");
        return;
    }
    get_text(&in, "cache", 1, cache, sizeof cache);
    if (strcmp(cache, "cold") != 0 && strcmp(cache, "hot") != 0) fail(&in, "cache", "is neither \"cold\" nor \"hot\"");
    p->cold        = strcmp(cache, "cold") == 0;
    p->settle      = get_number(&in, "settle", 1, 0);
    p->settle_max  = get_small(&in, "settle_max", 1);
    p->samples_min = get_small(&in, "samples_min", 1);
    p->cell_ms     = get_number(&in, "cell_ms", 1, 0);
    get_text(&in, "call", 0, call, sizeof call);
    if (call[0] && !call_kind_parse(call, &p->call)) fail(&in, "call", "is neither \"direct\" nor \"graph\"");
    get_text(&in, "work", 0, work, sizeof work);
    if (work[0] && !work_kind_parse(work, &p->work)) fail(&in, "work", "is none of \"fit\", \"backward\", \"fit+backward\"");
    if (json_object_size(in.from) != 5u + (call[0] != 0) + (work[0] != 0)) fail(&in, "protocol", "has fields that are not known");
    r->kind = in.kind;
}

static void get_stages(reader *r, cell_record *c)
{
    const json_t *stages = field(r, "stages_ms", 0), *value;
    const char   *name;

    if (stages && !json_is_object(stages)) fail(r, "stages_ms", "is no object");
    if (stages && json_object_size(stages) > RECORD_STAGES) fail(r, "stages_ms", "has too many stages");
    if (!stages || r->kind) return;
    json_object_foreach((json_t *)(uintptr_t)stages, name, value) {
        if (!json_is_number(value) || !(json_number_value(value) >= 0)) fail(r, "stages_ms", "holds something that is no number from 0");
        if (strlen(name) >= sizeof c->stage[0].name) fail(r, "stages_ms", "has a name that is too long");
        if (r->kind) return;
        strcpy(c->stage[c->stages].name, name);
        c->stage[c->stages++].ms = json_number_value(value);
    }
}

/* An object of numbers, or of whole numbers. */
static json_t *get_object(reader *r, const char *key, int whole)
{
    const json_t *object = field(r, key, 0), *value;
    const char   *name;

    if (!object) return NULL;
    if (!json_is_object(object)) fail(r, key, "is no object");
    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        if (whole ? !json_is_integer(value) : !json_is_number(value)) fail(r, key, whole ? "holds something that is no whole number" : "holds something that is no number");
    }
    return r->kind ? NULL : json_deep_copy(object);
}

static void check_known(reader *r)
{
    static const char *const known[] = {
        "schema", "kind", "run", "impl", "problem", "device", "code_hash", "status", "why", "rows", "n", "digest", "digest_want",
        "referee", "blocks", "max_deviation", "protocol", "threads", "order_seed", "warmup_calls", "samples_ms", "throttled", "median_ms", "ci_ms",
        "copy_samples_ms", "read_ms", "empty_call_ms", "stages_ms", "closure", "workspace_bytes", "peak_bytes", "gpu_before", "gpu_after",
        "counters", "accuracy",
    };
    const json_t *value;
    const char   *name;

    json_object_foreach((json_t *)(uintptr_t)r->from, name, value) {
        size_t k = 0;
        while (k < sizeof known / sizeof known[0] && strcmp(name, known[k]) != 0) ++k;
        if (k == sizeof known / sizeof known[0]) fail(r, name, "is not known in schema 1");
    }
}

/* A cell of accuracy has no times. */
static void check_unmeasured(reader *r)
{
    static const char *const measured[] = { "protocol", "threads", "order_seed", "warmup_calls", "samples_ms", "throttled", "median_ms", "ci_ms",
                                            "copy_samples_ms", "read_ms", "empty_call_ms", "stages_ms", "closure", "peak_bytes", "gpu_before", "gpu_after" };

    for (size_t k = 0; k < sizeof measured / sizeof measured[0]; ++k)
        if (json_object_get(r->from, measured[k])) fail(r, measured[k], "is not for a cell of accuracy");
}

static void get_measured(reader *r, cell_record *c)
{
    const json_t *ci = field(r, "ci_ms", 0);

    get_protocol(r, &c->protocol);
    c->threads      = get_small(r, "threads", 0);
    c->order_seed   = (uint64_t)get_count(r, "order_seed", 0, 0);
    c->warmup_calls = get_small(r, "warmup_calls", 0);
    c->samples      = get_samples(r, "samples_ms", 1, &c->samples_ms);
    get_throttled(r, c);
    c->median_ms    = get_number(r, "median_ms", c->status == CELL_OK, -1);
    if (ci && (!json_is_array(ci) || json_array_size(ci) != 2 || !json_is_number(json_array_get(ci, 0)) || !json_is_number(json_array_get(ci, 1)) ||
               !(json_number_value(json_array_get(ci, 0)) >= 0) || json_number_value(json_array_get(ci, 1)) < json_number_value(json_array_get(ci, 0))))
        fail(r, "ci_ms", "is no pair [low, high] of numbers from 0");
    if (ci && !r->kind) {
        c->ci_low_ms  = json_number_value(json_array_get(ci, 0));
        c->ci_high_ms = json_number_value(json_array_get(ci, 1));
    }
    c->copy_samples  = get_samples(r, "copy_samples_ms", 0, &c->copy_samples_ms);
    c->read_ms       = get_number(r, "read_ms", 0, -1);
    c->empty_call_ms = get_number(r, "empty_call_ms", 0, -1);
    get_stages(r, c);
    c->closure    = get_number(r, "closure", 0, -1);
    c->peak_bytes = get_count(r, "peak_bytes", 0, -1);
    c->gpu_before = get_object(r, "gpu_before", 0);
    c->gpu_after  = get_object(r, "gpu_after", 0);
    if (!r->kind && c->status == CELL_OK && c->samples == 0) fail(r, "samples_ms", "is empty in a cell that is ok");
}

static void check_head(reader *r, const char *kind)
{
    const json_t *schema = json_object_get(r->from, "schema"), *is = json_object_get(r->from, "kind");

    if (!json_is_object(r->from)) r->kind = fault_set(r->f, FAULT_FORMAT, "is no JSON object");
    else if (!json_is_integer(schema) || json_integer_value(schema) != RECORD_SCHEMA) fail(r, "schema", "is not 1");
    else if (!json_is_string(is) || strcmp(json_string_value(is), kind) != 0) fail(r, "kind", "is neither \"run\" nor \"cell\"");
}

fault_kind cell_from_json(const json_t *line, cell_record *c, fault *f)
{
    reader r          = { line, f, FAULT_NONE };
    char   status[16] = "";

    cell_init(c);
    check_head(&r, "cell");
    if (r.kind) return r.kind;
    check_known(&r);
    get_text(&r, "run", 1, c->run, sizeof c->run);
    get_text(&r, "impl", 1, c->impl, sizeof c->impl);
    get_text(&r, "problem", 1, c->problem, sizeof c->problem);
    get_text(&r, "device", 1, c->device, sizeof c->device);
    get_text(&r, "code_hash", 1, c->code_hash, sizeof c->code_hash);
    get_text(&r, "status", 1, status, sizeof status);
    if (!r.kind && !cell_status_parse(status, &c->status)) fail(&r, "status", "is none of ok, wrong, unsupported, error, timeout");
    get_text(&r, "why", !r.kind && c->status != CELL_OK, c->why, sizeof c->why);
    c->rows = get_count(&r, "rows", 1, 0);
    c->n    = get_count(&r, "n", 1, 0);
    get_digest(&r, "digest", c->digest);
    get_digest(&r, "digest_want", c->digest_want);
    get_text(&r, "referee", 0, c->referee, sizeof c->referee);
    c->blocks        = get_count(&r, "blocks", 0, -1);
    c->max_deviation = get_number(&r, "max_deviation", 0, -1);
    c->accuracy = get_object(&r, "accuracy", 0);
    if (c->accuracy) check_unmeasured(&r);
    else if (!r.kind) get_measured(&r, c);
    c->workspace_bytes = get_count(&r, "workspace_bytes", 0, -1);
    c->counters        = get_object(&r, "counters", 1);
    if (!r.kind && c->status == CELL_OK && c->digest[0] && c->digest_want[0] && strcmp(c->digest, c->digest_want) != 0)
        fail(&r, "status", "is ok although digest and digest_want differ");
    if (r.kind) cell_free(c);
    return r.kind;
}

/* ---- runs ---- */

fault_kind run_check(const json_t *line, fault *f)
{
    static const char *const texts[]  = { "run", "version", "commit", "time", "cpu", "isa", "os", "compiler", "flags", "buildtype", "gsl", "code_hash" };
    static const char *const counts[] = { "cpus", "memory_bytes", "seed" };
    reader                   r        = { line, f, FAULT_NONE };
    const json_t            *argv, *dirty;
    char                     text[4096];

    check_head(&r, "run");
    if (r.kind) return r.kind;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k) get_text(&r, texts[k], 1, text, k == 0 ? 64 : sizeof text);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; ++k) get_count(&r, counts[k], 1, 0);
    dirty = field(&r, "dirty", 1);
    if (dirty && !json_is_boolean(dirty)) fail(&r, "dirty", "is neither true nor false");
    argv = field(&r, "argv", 1);
    if (argv && !json_is_array(argv)) fail(&r, "argv", "is no array");
    for (size_t k = 0; k < json_array_size(argv); ++k)
        if (!json_is_string(json_array_get(argv, k))) fail(&r, "argv", "holds something that is no text");
    return r.kind;
}
