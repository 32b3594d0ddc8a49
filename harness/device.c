/* SPDX-License-Identifier: Apache-2.0
 * device.c: the CUDA runtime behind device.h. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int device_number(const char *text)
{
    char *end;
    long  number;

    if (strncmp(text, "cuda:", 5) != 0 || text[5] < '0' || text[5] > '9') return -1;
    number = strtol(text + 5, &end, 10);
    return *end || number > 1023 ? -1 : (int)number;
}

void device_label(int ordinal, char text[32])
{
    if (ordinal < 0) strcpy(text, "cpu");
    else snprintf(text, 32, "%s:%d", device_built() == DEVICE_BUILD_EMULATED ? "emulated" : "cuda", ordinal);
}

static fault_kind no_device(fault *f, int ordinal, const char *why)
{
    fault_set(f, FAULT_USAGE, "no device cuda:%d: %s", ordinal, why);
    f->exit_code = EXIT_NO_DEVICE;
    return FAULT_USAGE;
}

#if IH_WITH_CUDA

#include "device_archs.h"
#include "device_kernels.h"

#include "cuda/build_info.h"

#include <cuda_runtime.h>

struct device {
    int          ordinal;
    device_info  about;
    cudaStream_t stream;
    uint64_t    *cell;                 /* [2] on the device: a count, a sink */
    cudaEvent_t  event[DEVICE_EVENTS]; /* NULL: not made yet */
};

struct device_graph { cudaGraph_t graph; cudaGraphExec_t exec; };

device_build device_built(void) { return ih_cuda_build_info()->emulated ? DEVICE_BUILD_EMULATED : DEVICE_BUILD_CUDA; }

void device_build_text(char *text, size_t bytes)
{
    const ih_cuda_build_info_t *b = ih_cuda_build_info();

    if (b->emulated) snprintf(text, bytes, "emulated on the CPU, for tests (%s)", b->compiler);
    else snprintf(text, bytes, "yes: %s, machine code for %s%s%s", b->compiler, b->archs[0] ? b->archs : "none", b->ptx[0] ? ", PTX for " : "", b->ptx);
}

static fault_kind fail(fault *f, cudaError_t e, const char *what)
{
    const fault_kind kind = e == cudaErrorMemoryAllocation ? FAULT_MEMORY : FAULT_LIBRARY;

    (void)cudaGetLastError(); /* errors of a call do not stick */
    if (e == cudaErrorNoKernelImageForDevice)
        return fault_set(f, kind, "%s: this build has no code for the architecture of this GPU (it has %s%s%s)", what, ih_cuda_build_info()->archs,
                         ih_cuda_build_info()->ptx[0] ? ", PTX for " : "", ih_cuda_build_info()->ptx);
    return fault_set(f, kind, "%s: %s (%s)", what, cudaGetErrorString(e), cudaGetErrorName(e));
}

void device_versions(int *runtime, int *driver)
{
    if (cudaRuntimeGetVersion(runtime) != cudaSuccess) *runtime = 0;
    if (cudaDriverGetVersion(driver) != cudaSuccess) *driver = 0;
    (void)cudaGetLastError();
}

int device_count(char *why, size_t why_bytes)
{
    int               count = 0;
    const cudaError_t e     = cudaGetDeviceCount(&count);

    (void)cudaGetLastError();
    if (e == cudaSuccess && count > 0) return count;
    if (e == cudaSuccess || e == cudaErrorNoDevice) snprintf(why, why_bytes, "there is no GPU that CUDA can use");
    else if (e == cudaErrorInsufficientDriver) snprintf(why, why_bytes, "there is no NVIDIA driver, or one too old for this build's CUDA runtime %d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 100 / 10);
    else snprintf(why, why_bytes, "%s (%s)", cudaGetErrorString(e), cudaGetErrorName(e));
    return 0;
}

/* ---- architectures ---- */

static fault_kind check_architecture(const device *d, fault *f)
{
    const ih_cuda_build_info_t *b = ih_cuda_build_info();
    const device_info          *a = &d->about;

    if (b->emulated || device_archs_run(b->archs, 0, a->major, a->minor) || device_archs_run(b->ptx, 1, a->major, a->minor)) return FAULT_NONE;
    return fault_set(f, FAULT_USAGE, "cuda:%d is %s of compute capability %d.%d, and this build has no code for it (machine code for %s%s%s): build again with its architecture, %d%d",
                     d->ordinal, a->name, a->major, a->minor, b->archs, b->ptx[0] ? ", PTX for " : "", b->ptx, a->major, a->minor);
}

/* ---- devices ---- */

static void format_uuid(const char bytes[16], char text[64])
{
    size_t at = (size_t)snprintf(text, 64, "GPU");

    for (int k = 0; k < 16; ++k) at += (size_t)snprintf(text + at, 64 - at, "%s%02x", k == 0 || k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", (unsigned char)bytes[k]);
}

static fault_kind describe(device *d, fault *f)
{
    struct cudaDeviceProp p;
    size_t                free_bytes = 0, all = 0;
    device_info          *a = &d->about;
    cudaError_t           e;

    memset(&p, 0, sizeof p);
    e = cudaGetDeviceProperties(&p, d->ordinal);
    if (e == cudaSuccess) e = cudaMemGetInfo(&free_bytes, &all);
    if (e != cudaSuccess) return fail(f, e, "properties of the GPU");
    snprintf(a->name, sizeof a->name, "%.255s", p.name);
    format_uuid(p.uuid.bytes, a->uuid);
    cudaDriverGetVersion(&a->driver);
    cudaRuntimeGetVersion(&a->runtime);
    a->major           = p.major;
    a->minor           = p.minor;
    a->multiprocessors = p.multiProcessorCount;
    a->l2_bytes        = p.l2CacheSize;
    a->memory_bytes    = (int64_t)all;
    a->free_bytes      = (int64_t)free_bytes;
    return FAULT_NONE;
}

fault_kind device_open(device **out, int ordinal, fault *f)
{
    char        why[256];
    const int   count = device_count(why, sizeof why);
    device     *d;
    cudaError_t e;
    fault_kind  kind;

    *out = NULL;
    if (count == 0) return no_device(f, ordinal, why);
    if (ordinal >= count) {
        snprintf(why, sizeof why, "there %s, numbered from 0", count == 1 ? "is one GPU" : "are only a few GPUs");
        if (count > 1) snprintf(why, sizeof why, "there are %d GPUs, numbered from 0", count);
        return no_device(f, ordinal, why);
    }
    d = calloc(1, sizeof *d);
    if (!d) return fault_set(f, FAULT_MEMORY, "memory ran out");
    d->ordinal = ordinal;
    e          = cudaSetDevice(ordinal);
    if (e == cudaSuccess) e = cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking);
    if (e == cudaSuccess) e = cudaMalloc((void **)&d->cell, 2 * sizeof *d->cell);
    kind = e == cudaSuccess ? describe(d, f) : fail(f, e, "the GPU cannot be used");
    if (!kind) kind = check_architecture(d, f);
    if (kind) device_close(d);
    else *out = d;
    return kind;
}

void device_close(device *d)
{
    if (!d) return;
    for (int k = 0; k < DEVICE_EVENTS; ++k)
        if (d->event[k]) cudaEventDestroy(d->event[k]);
    if (d->cell) cudaFree(d->cell);
    if (d->stream) cudaStreamDestroy(d->stream);
    free(d);
}

const device_info *device_about(const device *d) { return &d->about; }
void              *device_stream(const device *d) { return d->stream; }

/* ---- memory ---- */

fault_kind device_alloc(device *d, size_t bytes, void **at, fault *f)
{
    cudaError_t e;

    (void)d;
    *at = NULL;
    e   = cudaMalloc(at, bytes ? bytes : 1);
    if (e == cudaErrorMemoryAllocation) {
        size_t left = 0, all = 0;
        (void)cudaGetLastError();
        cudaMemGetInfo(&left, &all);
        return fault_set(f, FAULT_MEMORY, "device memory ran out: %zu bytes are needed, %zu of %zu are free", bytes, left, all);
    }
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "device memory");
}

void device_release(device *d, void *at)
{
    (void)d;
    if (at) cudaFree(at);
}

fault_kind device_put(device *d, void *to, const void *from, size_t bytes, fault *f)
{
    const cudaError_t e = bytes ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, d->stream) : cudaSuccess;
    return e == cudaSuccess ? device_wait(d, f) : fail(f, e, "copy to the device");
}

fault_kind device_get(device *d, void *to, const void *from, size_t bytes, fault *f)
{
    const cudaError_t e = bytes ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, d->stream) : cudaSuccess;
    return e == cudaSuccess ? device_wait(d, f) : fail(f, e, "copy from the device");
}

fault_kind device_copy(device *d, void *to, const void *from, size_t bytes, fault *f)
{
    const cudaError_t e = bytes ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, d->stream) : cudaSuccess;
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "copy within the device");
}

fault_kind device_fill(device *d, void *to, int byte, size_t bytes, fault *f)
{
    const cudaError_t e = bytes ? cudaMemsetAsync(to, byte, bytes, d->stream) : cudaSuccess;
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "filling device memory");
}

fault_kind device_wait(device *d, fault *f)
{
    const cudaError_t e = cudaStreamSynchronize(d->stream);
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "the device");
}

/* ---- kernels ---- */

fault_kind device_nothing(device *d, fault *f)
{
    const cudaError_t e = device_kernels_empty(d->stream);
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "an empty kernel");
}

fault_kind device_read(device *d, const void *from, size_t bytes, fault *f)
{
    const cudaError_t e = device_kernels_read(from, bytes, d->cell + 1, d->about.multiprocessors, d->stream);
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "reading on the device");
}

fault_kind device_differ(device *d, const void *a, const void *b, int64_t n, ih_dtype dtype, double tolerance, int64_t *count, fault *f)
{
    uint64_t    found = 0;
    fault_kind  kind  = device_fill(d, d->cell, 0, sizeof *d->cell, f);
    cudaError_t e     = kind ? cudaSuccess : device_kernels_differ(a, b, n, dtype == IH_F64, tolerance, d->cell, d->about.multiprocessors, d->stream);

    if (e != cudaSuccess) kind = fail(f, e, "comparing on the device");
    if (!kind) kind = device_get(d, &found, d->cell, sizeof found, f);
    *count = (int64_t)found;
    return kind;
}

/* ---- events ---- */

fault_kind device_mark(device *d, int event, fault *f)
{
    cudaError_t e = cudaSuccess;

    if (event < 0 || event >= DEVICE_EVENTS) return fault_set(f, FAULT_LIBRARY, "more than %d events", DEVICE_EVENTS);
    if (!d->event[event]) e = cudaEventCreate(&d->event[event]);
    if (e == cudaSuccess) e = cudaEventRecord(d->event[event], d->stream);
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "event");
}

fault_kind device_elapsed(device *d, int from, int to, double *ms, fault *f)
{
    float       elapsed = 0;
    cudaError_t e       = cudaEventSynchronize(d->event[to]);

    if (e == cudaSuccess) e = cudaEventElapsedTime(&elapsed, d->event[from], d->event[to]);
    *ms = (double)elapsed;
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "the device");
}

/* ---- graphs ---- */

fault_kind device_capture(device *d, fault *f)
{
    const cudaError_t e = cudaStreamBeginCapture(d->stream, cudaStreamCaptureModeThreadLocal);
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "capture of a graph");
}

fault_kind device_captured(device *d, device_graph **out, fault *f)
{
    device_graph *g = calloc(1, sizeof *g);
    cudaError_t   e;

    *out = NULL;
    if (!g) return fault_set(f, FAULT_MEMORY, "memory ran out");
    e = cudaStreamEndCapture(d->stream, &g->graph);
    if (e == cudaSuccess) e = cudaGraphInstantiate(&g->exec, g->graph, 0);
    if (e == cudaSuccess) {
        *out = g;
        return FAULT_NONE;
    }
    device_graph_free(g);
    return fail(f, e, "capture of a graph");
}

fault_kind device_replay(device *d, device_graph *graph, fault *f)
{
    const cudaError_t e = cudaGraphLaunch(graph->exec, d->stream);
    return e == cudaSuccess ? FAULT_NONE : fail(f, e, "replay of a graph");
}

void device_graph_free(device_graph *graph)
{
    if (!graph) return;
    if (graph->exec) cudaGraphExecDestroy(graph->exec);
    if (graph->graph) cudaGraphDestroy(graph->graph);
    free(graph);
}

#else

static const char *const without = "this build has no CUDA (isohull doctor says more)";

static fault_kind none(fault *f) { return fault_set(f, FAULT_LIBRARY, "%s", without); }

device_build device_built(void) { return DEVICE_BUILD_NONE; }
void device_build_text(char *text, size_t bytes) { snprintf(text, bytes, "no"); }

void device_versions(int *runtime, int *driver) { *runtime = *driver = 0; }

int device_count(char *why, size_t why_bytes)
{
    snprintf(why, why_bytes, "%s", without);
    return 0;
}

fault_kind device_open(device **out, int ordinal, fault *f)
{
    *out = NULL;
    return no_device(f, ordinal, without);
}

/* There is no device on which these could be called. */
void               device_close(device *d) { (void)d; }
const device_info *device_about(const device *d) { (void)d; return NULL; }
void              *device_stream(const device *d) { (void)d; return NULL; }
fault_kind         device_alloc(device *d, size_t bytes, void **at, fault *f) { (void)d; (void)bytes; (void)at; return none(f); }
void               device_release(device *d, void *at) { (void)d; (void)at; }
fault_kind         device_put(device *d, void *to, const void *from, size_t bytes, fault *f) { (void)d; (void)to; (void)from; (void)bytes; return none(f); }
fault_kind         device_get(device *d, void *to, const void *from, size_t bytes, fault *f) { (void)d; (void)to; (void)from; (void)bytes; return none(f); }
fault_kind         device_copy(device *d, void *to, const void *from, size_t bytes, fault *f) { (void)d; (void)to; (void)from; (void)bytes; return none(f); }
fault_kind         device_fill(device *d, void *to, int byte, size_t bytes, fault *f) { (void)d; (void)to; (void)byte; (void)bytes; return none(f); }
fault_kind         device_wait(device *d, fault *f) { (void)d; return none(f); }
fault_kind         device_nothing(device *d, fault *f) { (void)d; return none(f); }
fault_kind         device_read(device *d, const void *from, size_t bytes, fault *f) { (void)d; (void)from; (void)bytes; return none(f); }
fault_kind         device_differ(device *d, const void *a, const void *b, int64_t n, ih_dtype dtype, double tolerance, int64_t *count, fault *f) { (void)d; (void)a; (void)b; (void)n; (void)dtype; (void)tolerance; (void)count; return none(f); }
fault_kind         device_mark(device *d, int event, fault *f) { (void)d; (void)event; return none(f); }
fault_kind         device_elapsed(device *d, int from, int to, double *ms, fault *f) { (void)d; (void)from; (void)to; (void)ms; return none(f); }
fault_kind         device_capture(device *d, fault *f) { (void)d; return none(f); }
fault_kind         device_captured(device *d, device_graph **out, fault *f) { (void)d; (void)out; return none(f); }
fault_kind         device_replay(device *d, device_graph *graph, fault *f) { (void)d; (void)graph; return none(f); }
void               device_graph_free(device_graph *graph) { (void)graph; }

#endif
