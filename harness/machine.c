/* SPDX-License-Identifier: Apache-2.0
 * machine.c: reads /proc and /sys; nothing is started or changed. */
#include "machine.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void machine_cpu_name(char *name, size_t name_bytes)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char  line[512];

    snprintf(name, name_bytes, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(name, name_bytes, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (file) fclose(file);
}

int machine_cpus(void)
{
    cpu_set_t set;
    long      online;

    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    online = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than the set has room for */
    return online > 0 ? (int)online : 1;
}

static int64_t read_number(const char *path)
{
    FILE     *file  = fopen(path, "r");
    long long value = -1;

    if (file && fscanf(file, "%lld", &value) != 1) value = -1;
    if (file) fclose(file);
    return value;
}

void machine_memory(int64_t *all, int64_t *available)
{
    FILE          *file  = fopen("/proc/meminfo", "r");
    const int64_t  limit = read_number("/sys/fs/cgroup/memory.max"), used = read_number("/sys/fs/cgroup/memory.current");
    char           line[256];
    long long      kib;

    *all = *available = -1;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemTotal: %lld", &kib) == 1) *all = kib * 1024;
        if (sscanf(line, "MemAvailable: %lld", &kib) == 1) *available = kib * 1024;
    }
    if (file) fclose(file);
    if (limit > 0 && (*all < 0 || limit < *all)) *all = limit;
    if (limit > 0 && used >= 0 && (*available < 0 || limit - used < *available)) *available = limit > used ? limit - used : 0;
}

int machine_nvidia_gpus(void)
{
    static const char bus[] = "/sys/bus/pci/devices";
    DIR              *dir   = opendir(bus);
    int               count = 0;

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char         path[512], text[32] = "";
        unsigned     vendor = 0, class = 0;
        static const char *const names[] = { "vendor", "class" };
        if (entry->d_name[0] == '.') continue;
        for (int k = 0; k < 2; ++k) {
            FILE *file;
            snprintf(path, sizeof path, "%s/%.255s/%s", bus, entry->d_name, names[k]);
            file = fopen(path, "r");
            if (file && fgets(text, sizeof text, file)) *(k ? &class : &vendor) = (unsigned)strtoul(text, NULL, 16);
            if (file) fclose(file);
        }
        count += vendor == 0x10deu && class >> 16 == 0x03u; /* NVIDIA; display controllers, 3-D ones among them */
    }
    if (dir) closedir(dir);
    return count;
}

int machine_nvidia_driver(void) { return access("/proc/driver/nvidia/version", F_OK) == 0 || access("/dev/nvidiactl", F_OK) == 0; }

int machine_has_program(const char *name)
{
    const char *path = getenv("PATH");
    char        file[4096];

    while (path && *path) {
        const size_t length = strcspn(path, ":");
        if (length && snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name) < (int)sizeof file && access(file, X_OK) == 0) return 1;
        path += length + (path[length] == ':');
    }
    return 0;
}
