/* SPDX-License-Identifier: Apache-2.0
 * env.c: the manifest: machine from /proc and /sys, build from the compiler and from meson (build_info.h). */
#include "env.h"

#include "code_hash.h"   /* generated: IH_CODE_HASH, over the objects of the implementations */
#include "commit.h"      /* generated: IH_COMMIT, "+dirty" behind it if files had changed    */
#include "flush.h"
#include "machine.h"
#include "nvtx.h"

#include <gsl/gsl_version.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#  if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#    define SANITIZED 1
#  endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define SANITIZED 1
#endif

const char *env_code_hash(void) { return IH_CODE_HASH; }

const char *env_timing_refused(void)
{
#if !defined(__OPTIMIZE__)
    return "this build is not optimised";
#elif defined(SANITIZED)
    return "this build has sanitizers";
#elif !defined(NDEBUG)
    return "this build has assertions";
#else
    if (strcmp(IH_SANITIZE, "none") != 0) return "this build has sanitizers";
    if (IH_CHECK_DECISIONS_BUILT) return "this build compares every decision with the exact one";
    if (IH_COVERAGE_BUILT) return "this build counts coverage";
    return NULL;
#endif
}

/* First line of a file, without its end; "" if there is none. */
static const char *first_line(const char *path, char *text, size_t bytes)
{
    FILE *file = fopen(path, "re");

    text[0] = 0;
    if (file && fgets(text, (int)bytes, file)) text[strcspn(text, "\n")] = 0;
    if (file) fclose(file);
    return text;
}

static const char *isa(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return "avx512";
    if (__builtin_cpu_supports("avx2")) return "avx2";
    return "x86-64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "generic";
#endif
}

/* Clocks of the processors now, in MHz, as /proc/cpuinfo gives them; empty where it does not. */
static json_t *clocks(void)
{
    json_t *array = json_array();
    FILE   *file  = fopen("/proc/cpuinfo", "re");
    char    line[512];
    double  mhz;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "cpu MHz", 7) == 0 && strchr(line, ':') && sscanf(strchr(line, ':') + 1, "%lf", &mhz) == 1) json_array_append_new(array, json_real(mhz));
    if (file) fclose(file);
    return array;
}

static void name_run(char id[64], const struct tm *utc)
{
    char stamp[32];
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", utc);
    snprintf(id, 64, "%s-%ld", stamp, (long)getpid());
}

static int put_text(json_t *to, const char *key, const char *text) { return json_object_set_new(to, key, json_string(text[0] ? text : "unknown")); }

json_t *env_run(int argc, char **argv, const char *device, uint64_t seed)
{
    json_t        *run   = json_pack("{si ss}", "schema", (int)RECORD_SCHEMA, "kind", "run"), *arguments = json_array();
    const time_t   now   = time(NULL);
    const char    *changed = strstr(IH_COMMIT, "+dirty");
    struct tm      utc;
    struct utsname os = { .sysname = "unknown" };
    int64_t        memory, available;
    char           id[64], text[512];
    int            bad = 0;

    if (!run || !arguments) return NULL;
    gmtime_r(&now, &utc);
    name_run(id, &utc);
    bad |= put_text(run, "run", id) | put_text(run, "version", ih_version()) | put_text(run, "device", device);
    snprintf(text, sizeof text, "%.*s", (int)strcspn(IH_COMMIT, "+"), IH_COMMIT);
    bad |= put_text(run, "commit", text) | json_object_set_new(run, "dirty", json_boolean(changed != NULL));
    for (int k = 0; k < argc; ++k) {
        const char *name = argv[k][0] == '/' ? strrchr(argv[k], '/') + 1 : argv[k]; /* records name no folders of a machine */
        json_t     *one  = json_string(name);                                         /* NULL if it is no UTF-8 */
        bad |= json_array_append_new(arguments, one ? one : json_string("?"));
    }
    bad |= json_object_set_new(run, "argv", arguments) | json_object_set_new(run, "seed", json_integer((json_int_t)seed));
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    bad |= put_text(run, "time", text);

    machine_cpu_name(text, sizeof text);
    bad |= put_text(run, "cpu", text) | json_object_set_new(run, "cpus", json_integer(machine_cpus())) | put_text(run, "isa", isa());
    if (first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof text)[0]) bad |= put_text(run, "governor", text);
    bad |= json_object_set_new(run, "clocks_mhz", clocks());
    bad |= json_object_set_new(run, "throttling_seen", json_boolean(access("/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", R_OK) == 0));
    machine_memory(&memory, &available);
    bad |= json_object_set_new(run, "memory_bytes", json_integer((json_int_t)(memory > 0 ? memory : 0)));
    bad |= json_object_set_new(run, "flush_bytes", json_integer((json_int_t)flush_bytes()));
    uname(&os);
    snprintf(text, sizeof text, "%.100s %.100s %.100s", os.sysname, os.release, os.machine);
    bad |= put_text(run, "os", text);

    bad |= put_text(run, "compiler", IH_COMPILER) | put_text(run, "flags", IH_FLAGS) | put_text(run, "buildtype", IH_BUILDTYPE);
    bad |= put_text(run, "gsl", gsl_version) | put_text(run, "code_hash", IH_CODE_HASH) | json_object_set_new(run, "profiled", json_boolean(nvtx_profiled()));
    if (env_timing_refused()) bad |= put_text(run, "timing_refused", env_timing_refused());
    if (!bad) return run;
    json_decref(run);
    return NULL;
}

static int same_gpu(const json_t *one, const json_t *other)
{
    if (!one || !other) return !one && !other;
    return json_equal(json_object_get(one, "name"), json_object_get(other, "name"));
}

const char *env_differs(const json_t *one, const json_t *other)
{
    static const char *const fields[] = { "cpu", "cpus", "isa", "profiled" };

    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; ++k)
        if (!json_equal(json_object_get(one, fields[k]), json_object_get(other, fields[k]))) return fields[k];
    /* another GPU of the same name will do */
    if (!same_gpu(json_object_get(one, "gpu"), json_object_get(other, "gpu"))) return "gpu";
    return NULL;
}
