/* SPDX-License-Identifier: Apache-2.0
 * nvml_fake.c: what the harness calls of NVML, in a library of its name: one GPU, whose clocks are lowered by heat at every
 * NVML_FAKE_HOT-th question for the reasons (0 or not set: never). */
#include <stdio.h>
#include <stdlib.h>

#define API __attribute__((visibility("default")))

API int nvmlInit_v2(void);
API int nvmlShutdown(void);
API int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle);
API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle);
API int nvmlDeviceGetClockInfo(void *handle, int type, unsigned *mhz);
API int nvmlDeviceGetMaxClockInfo(void *handle, int type, unsigned *mhz);
API int nvmlDeviceGetPowerUsage(void *handle, unsigned *milliwatts);
API int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius);
API int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *bits);
API int nvmlSystemGetDriverVersion(char *text, unsigned bytes);

static int gpu;

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }

int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle)
{
    *handle = &gpu;
    return uuid[0] == 'G' ? 0 : 6;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle)
{
    *handle = &gpu;
    return index == 0 ? 0 : 6;
}

int nvmlDeviceGetClockInfo(void *handle, int type, unsigned *mhz)
{
    *mhz = type == 1 ? 1755 : 2619;
    return handle == &gpu ? 0 : 2;
}

int nvmlDeviceGetMaxClockInfo(void *handle, int type, unsigned *mhz)
{
    *mhz = type == 1 ? 1980 : 3201;
    return handle == &gpu ? 0 : 2;
}

int nvmlDeviceGetPowerUsage(void *handle, unsigned *milliwatts)
{
    *milliwatts = 123500;
    return handle == &gpu ? 0 : 2;
}

int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius)
{
    *celsius = 41;
    return handle == &gpu && sensor == 0 ? 0 : 2;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *bits)
{
    static int  asked;
    const char *hot   = getenv("NVML_FAKE_HOT");
    const int   every = hot ? atoi(hot) : 0;

    *bits = every && ++asked % every == 0 ? 0x40 : 0x4; /* heat; the power limit, which always counts */
    return handle == &gpu ? 0 : 2;
}

int nvmlSystemGetDriverVersion(char *text, unsigned bytes)
{
    snprintf(text, bytes, "580.00");
    return 0;
}
