/* SPDX-License-Identifier: Apache-2.0
 * device.h: arrays of a test in device memory: of a GPU, or of the emulator. */
#ifndef TESTS_CUDA_DEVICE_H
#define TESTS_CUDA_DEVICE_H

#include <cuda_runtime_api.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static inline void device_must(cudaError_t e, const char *what)
{
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
    exit(1);
}

static inline void *device_new(size_t bytes)
{
    void *p = NULL;
    device_must(cudaMalloc(&p, bytes ? bytes : 1), "cudaMalloc");
    return p;
}

/* Tests end with 77, skipped, where there is no device. */
static inline void device_there(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return;
    printf("there is no CUDA device\n");
    exit(77);
}

/* A copy of host memory; NULL of NULL. */
static inline void *device_copy(const void *from, size_t bytes)
{
    void *p;
    if (!from) return NULL;
    p = device_new(bytes);
    device_must(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice), "to the device");
    return p;
}

static inline void device_read(void *to, const void *from, size_t bytes)
{
    device_must(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "from the device");
}

static inline void device_free(void *p) { device_must(cudaFree(p), "cudaFree"); }

#endif
