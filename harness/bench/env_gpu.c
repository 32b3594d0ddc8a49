/* SPDX-License-Identifier: Apache-2.0
 * env_gpu.c: see env_gpu.h. */
#include "env_gpu.h"

#include "device.h"
#include "env.h"
#include "nvml.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#if IH_WITH_CUDA
#  include "cuda/build_info.h"
#else
typedef struct ih_cuda_build_info { const char *compiler, *flags, *archs, *ptx, *refused; int emulated, kernels; const struct { const char *name, *hash; int arch, registers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes; } *kernel; } ih_cuda_build_info_t;
static const ih_cuda_build_info_t *ih_cuda_build_info(void) { return NULL; }
#endif

const char *env_gpu_refused(void) { return ih_cuda_build_info() ? ih_cuda_build_info()->refused : NULL; }

const char *env_gpu_code_hash(void)
{
    static char                 text[24];
    const ih_cuda_build_info_t *b = ih_cuda_build_info();
    XXH3_state_t               *state;

    if (text[0] || !b) return text[0] ? text : env_code_hash();
    state = XXH3_createState();
    if (!state) return env_code_hash();
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, env_code_hash(), strlen(env_code_hash()));
    for (int32_t k = 0; k < b->kernels; ++k) XXH3_64bits_update(state, b->kernel[k].hash, strlen(b->kernel[k].hash) + 1);
    snprintf(text, sizeof text, "%016" PRIx64, (uint64_t)XXH3_64bits_digest(state));
    XXH3_freeState(state);
    return text;
}

/* ---- asking the device, in a process of its own ---- */

static json_t *describe(const device *d, int ordinal)
{
    const device_info *a = device_about(d);
    char               why[256];
    nvml              *n = device_built() == DEVICE_BUILD_CUDA || getenv("ISOHULL_NVML_ANYWAY") ? nvml_open(a->uuid, ordinal, why, sizeof why) : NULL;
    json_t            *gpu;

    gpu = json_pack("{ss ss si si ss si sI sI so* so*}", "name", a->name, "uuid", a->uuid, "cuda_driver", a->driver, "cuda_runtime", a->runtime,
                    "compute_capability", "", "multiprocessors", a->multiprocessors, "l2_bytes", (json_int_t)a->l2_bytes, "memory_bytes",
                    (json_int_t)a->memory_bytes, "nvml", nvml_constants(n), "state", nvml_state(n));
    snprintf(why, sizeof why, "%d.%d", a->major, a->minor);
    if (gpu) json_object_set_new(gpu, "compute_capability", json_string(why));
    nvml_close(n);
    return gpu;
}

static json_t *ask_here(int ordinal)
{
    device *d;
    fault   f;
    json_t *answer;

    if (device_open(&d, ordinal, &f) != FAULT_NONE) return json_pack("{ss si si}", "fault", f.message, "kind", (int)f.kind, "exit_code", f.exit_code);
    answer = describe(d, ordinal);
    device_close(d);
    return answer;
}

/* What ask_here says, from a child; NULL if it died. */
static json_t *ask(int ordinal)
{
    json_t *answer = NULL;
    int     ends[2], status;
    pid_t   child;

    if (pipe(ends) != 0) return NULL;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        FILE *to = fdopen(ends[1], "w");
        close(ends[0]);
        if (to) json_dumpf(ask_here(ordinal), to, JSON_COMPACT);
        _exit(to && fclose(to) == 0 ? 0 : 1);
    }
    close(ends[1]);
    if (child > 0) {
        FILE *from = fdopen(ends[0], "r");
        if (from) answer = json_loadf(from, 0, NULL);
        if (from) fclose(from);
        else close(ends[0]);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    } else {
        close(ends[0]);
    }
    return answer;
}

/* ---- the device code ---- */

static json_t *device_code(const ih_cuda_build_info_t *b)
{
    json_t *kernels = json_array();

    for (int32_t k = 0; k < b->kernels; ++k)
        json_array_append_new(kernels, json_pack("{ss si si si si si si ss}", "name", b->kernel[k].name, "arch", (int)b->kernel[k].arch, "registers",
                                                 (int)b->kernel[k].registers, "stack_bytes", (int)b->kernel[k].stack_bytes, "spill_store_bytes",
                                                 (int)b->kernel[k].spill_store_bytes, "spill_load_bytes", (int)b->kernel[k].spill_load_bytes,
                                                 "shared_bytes", (int)b->kernel[k].shared_bytes, "hash", b->kernel[k].hash));
    return json_pack("{ss ss ss ss sb so}", "compiler", b->compiler, "flags", b->flags, "archs", b->archs, "ptx", b->ptx, "emulated", b->emulated,
                     "kernels", kernels);
}

fault_kind env_gpu_add(json_t *run, int ordinal, fault *f)
{
    json_t     *gpu = ask(ordinal);
    const char *bad = json_string_value(json_object_get(gpu, "fault"));

    if (bad) {
        const int exit_code = (int)json_integer_value(json_object_get(gpu, "exit_code"));
        fault_set(f, (fault_kind)json_integer_value(json_object_get(gpu, "kind")), "%s", bad);
        f->exit_code = exit_code;
        json_decref(gpu);
        return f->kind;
    }
    if (!gpu) return fault_set(f, FAULT_LIBRARY, "the process that asked the GPU died");
    if (json_object_set_new(run, "gpu", gpu) || json_object_set_new(run, "device_code", device_code(ih_cuda_build_info())))
        return fault_set(f, FAULT_MEMORY, "memory ran out");
    if (env_gpu_refused() && !json_object_get(run, "timing_refused")) json_object_set_new(run, "timing_refused", json_string(env_gpu_refused()));
    return FAULT_NONE;
}
