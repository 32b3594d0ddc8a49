/* SPDX-License-Identifier: Apache-2.0
 * nvml.c: the few functions of NVML that are used, with their types written out: its header is not needed to build. */
#include "nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* nvmlClockType_t, and nvmlClocksThrottleReasons (stable since they were introduced) */
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };
enum { HW_SLOWDOWN = 0x8, SW_THERMAL = 0x20, HW_THERMAL = 0x40, HW_POWER_BRAKE = 0x80 };

struct nvml {
    void *library, *handle; /* handle: of the GPU */
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *uuid, void **handle);
    int (*by_index)(unsigned index, void **handle);
    int (*clock)(void *handle, int type, unsigned *mhz);
    int (*max_clock)(void *handle, int type, unsigned *mhz);
    int (*power)(void *handle, unsigned *milliwatts);
    int (*power_limit)(void *handle, unsigned *milliwatts);
    int (*temperature)(void *handle, int sensor, unsigned *celsius);
    int (*reasons)(void *handle, unsigned long long *bits);
    int (*persistence)(void *handle, unsigned *on);
    int (*driver)(char *text, unsigned bytes);
};

/* 0 if the library has no such function; POSIX promises that function pointers fit. */
static int find(const nvml *n, const char *name, void *function)
{
    *(void **)function = dlsym(n->library, name);
    return *(void **)function != NULL;
}

static int find_all(nvml *n)
{
    find(n, "nvmlDeviceGetMaxClockInfo", &n->max_clock);
    find(n, "nvmlDeviceGetPowerUsage", &n->power);
    find(n, "nvmlDeviceGetEnforcedPowerLimit", &n->power_limit);
    find(n, "nvmlDeviceGetTemperature", &n->temperature);
    find(n, "nvmlDeviceGetPersistenceMode", &n->persistence);
    find(n, "nvmlSystemGetDriverVersion", &n->driver);
    if (!find(n, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons)) find(n, "nvmlDeviceGetCurrentClocksEventReasons", &n->reasons);
    return find(n, "nvmlInit_v2", &n->init) & find(n, "nvmlShutdown", &n->shutdown) & find(n, "nvmlDeviceGetHandleByUUID", &n->by_uuid) &
           find(n, "nvmlDeviceGetHandleByIndex_v2", &n->by_index) & find(n, "nvmlDeviceGetClockInfo", &n->clock);
}

/* Where the loader looks, or where containers get the driver's libraries. */
static void *load(void)
{
    static const char *const names[] = { "libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/local/nvidia/lib/libnvidia-ml.so.1" };
    void                    *library = NULL;

    for (size_t k = 0; k < sizeof names / sizeof names[0] && !library; ++k) library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    return library;
}

nvml *nvml_open(const char *uuid, int ordinal, char *why, size_t why_bytes)
{
    nvml *n = calloc(1, sizeof *n);
    int   code;

    why[0] = 0;
    if (!n) return NULL;
    n->library = load();
    if (!n->library) {
        snprintf(why, why_bytes, "libnvidia-ml.so.1 cannot be loaded");
    } else if (!find_all(n)) {
        snprintf(why, why_bytes, "libnvidia-ml.so.1 lacks functions");
    } else if ((code = n->init()) != 0) {
        snprintf(why, why_bytes, "NVML does not start: error %d", code);
    } else if ((code = uuid[0] ? n->by_uuid(uuid, &n->handle) : n->by_index((unsigned)ordinal, &n->handle)) != 0) {
        n->shutdown();
        snprintf(why, why_bytes, "NVML does not know this GPU: error %d", code);
    } else {
        return n;
    }
    if (n->library) dlclose(n->library);
    free(n);
    return NULL;
}

void nvml_close(nvml *n)
{
    if (!n) return;
    n->shutdown();
    dlclose(n->library);
    free(n);
}

static unsigned long long reasons_of(const nvml *n)
{
    unsigned long long bits = 0;
    return n->reasons && n->reasons(n->handle, &bits) == 0 ? bits : 0;
}

int nvml_throttled(const nvml *n) { return n && (reasons_of(n) & (HW_SLOWDOWN | SW_THERMAL | HW_THERMAL | HW_POWER_BRAKE)) != 0; }

json_t *nvml_state(const nvml *n)
{
    json_t  *o = n ? json_object() : NULL;
    unsigned value;

    if (!o) return NULL;
    if (n->clock(n->handle, CLOCK_SM, &value) == 0) json_object_set_new(o, "sm_mhz", json_integer(value));
    if (n->clock(n->handle, CLOCK_MEMORY, &value) == 0) json_object_set_new(o, "memory_mhz", json_integer(value));
    if (n->power && n->power(n->handle, &value) == 0) json_object_set_new(o, "power_w", json_real(1e-3 * value));
    if (n->temperature && n->temperature(n->handle, TEMPERATURE_GPU, &value) == 0) json_object_set_new(o, "temperature_c", json_integer(value));
    if (n->reasons) json_object_set_new(o, "throttle_reasons", json_integer((json_int_t)reasons_of(n)));
    return o;
}

json_t *nvml_constants(const nvml *n)
{
    json_t  *o = n ? json_object() : NULL;
    unsigned value;
    char     text[96] = "";

    if (!o) return NULL;
    if (n->driver && n->driver(text, sizeof text) == 0) json_object_set_new(o, "driver", json_string(text));
    if (n->max_clock && n->max_clock(n->handle, CLOCK_SM, &value) == 0) json_object_set_new(o, "sm_mhz_max", json_integer(value));
    if (n->max_clock && n->max_clock(n->handle, CLOCK_MEMORY, &value) == 0) json_object_set_new(o, "memory_mhz_max", json_integer(value));
    if (n->power_limit && n->power_limit(n->handle, &value) == 0) json_object_set_new(o, "power_limit_w", json_real(1e-3 * value));
    if (n->persistence && n->persistence(n->handle, &value) == 0) json_object_set_new(o, "persistence", json_boolean(value != 0));
    return o;
}
