/* SPDX-License-Identifier: Apache-2.0
 * The emulator's host interface: one queue of work for all streams, allocations that are known by address, graphs as lists
 * of work. A stream that is captured puts its work into a graph instead. */
#include "cuda_runtime.h"
#include "emulator.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#define API extern "C" __attribute__((visibility("hidden")))

using Work = std::function<void()>;

struct CUgraph_st {
    std::vector<Work> nodes;
    bool              spoilt = false; /* something that cannot be captured was called */
};
struct CUgraphExec_st {
    std::vector<Work> nodes;
};
struct CUstream_st {
    CUgraph_st *graph = nullptr; /* being captured into */
    bool        origin = false;  /* the capture began here */
};
struct CUevent_st {
    CUgraph_st                           *graph = nullptr; /* recorded in a capture */
    bool                                  timing = true, recorded = false, done = false;
    std::chrono::steady_clock::time_point time;
};

namespace {

struct Allocation {
    size_t         bytes;
    cudaMemoryType type;
};

std::recursive_mutex            mutex;
std::map<uintptr_t, Allocation> allocations;
std::deque<Work>                queue;
std::map<const void *, int>     shared_limits;
std::vector<CUstream_st *>      streams;
CUstream_st                     default_stream;
ih_emulated_counts_s            counts;
size_t                          in_use;
bool                            running;
thread_local cudaError_t        last_error;

enum : size_t { SHARED_DEFAULT = 48 << 10, SHARED_MOST = 227 << 10 };

cudaError_t fail(cudaError_t error)
{
    last_error = error;
    return error;
}

long long environment(const char *name, long long otherwise)
{
    const char *text = getenv(name);
    char       *end  = nullptr;
    if (!text || !*text) return otherwise;
    const long long value = strtoll(text, &end, 10);
    if (*end || value < 0) {
        fprintf(stderr, "emulator: %s=%s is no whole number\n", name, text);
        exit(2);
    }
    return value;
}
int    device_count(void) { return (int)environment("IH_EMULATED_DEVICES", 1); }
size_t memory_size(void) { return (size_t)environment("IH_EMULATED_MEMORY", 64ll << 30); }

#define ENTER() \
    std::lock_guard<std::recursive_mutex> lock(mutex); \
    if (device_count() < 1) return fail(cudaErrorNoDevice)

CUstream_st *stream_of(cudaStream_t s) { return (uintptr_t)s <= 2 ? &default_stream : s; }

void drain(void)
{
    if (running) return;
    running = true;
    while (!queue.empty()) {
        Work work = std::move(queue.front());
        queue.pop_front();
        work();
    }
    running = false;
}

/* Calls that wait or allocate are not allowed while any stream is captured; the capture is lost. */
bool capture_spoilt(void)
{
    bool any = false;
    for (CUstream_st *s : streams)
        if (s->graph) any = s->graph->spoilt = true;
    return any;
}
#define NO_CAPTURE() \
    if (capture_spoilt()) return fail(cudaErrorStreamCaptureUnsupported)

void enqueue(cudaStream_t stream, Work work)
{
    CUstream_st *s = stream_of(stream);
    if (s->graph) {
        s->graph->nodes.push_back(std::move(work));
        return;
    }
    queue.push_back(std::move(work));
    if (environment("IH_EMULATED_IMMEDIATE", 0)) drain();
}

/* The allocation that holds [p, p + bytes), or NULL; outside: no part of it is in one. */
const Allocation *find(const void *p, size_t bytes, bool *outside)
{
    const uintptr_t at   = (uintptr_t)p;
    auto            next = allocations.upper_bound(at);
    *outside             = next == allocations.end() || next->first >= at + bytes;
    if (next == allocations.begin()) return nullptr;
    --next;
    if (at >= next->first + next->second.bytes && !(at == next->first && bytes == 0)) return nullptr;
    *outside = false;
    return at + bytes <= next->first + next->second.bytes ? &next->second : nullptr;
}

/* Is [p, p + bytes) whole, and on the wanted side? */
bool is_on(const void *p, size_t bytes, bool device)
{
    bool              outside;
    const Allocation *a = find(p, bytes, &outside);
    if (!a) return outside && !device; /* host memory of which the runtime knows nothing */
    return (a->type == cudaMemoryTypeDevice) == device;
}

cudaError_t allocate(void **p, size_t bytes, cudaMemoryType type)
{
    if (!p) return fail(cudaErrorInvalidValue);
    *p = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (type == cudaMemoryTypeDevice && (bytes > memory_size() || in_use > memory_size() - bytes)) return fail(cudaErrorMemoryAllocation);
    if (posix_memalign(p, 256, bytes) != 0) {
        *p = nullptr;
        return fail(cudaErrorMemoryAllocation);
    }
    ih_emulated_poison(*p, bytes);
    allocations[(uintptr_t)*p] = { bytes, type };
    if (type == cudaMemoryTypeDevice) in_use += bytes;
    counts.allocations++;
    return cudaSuccess;
}

cudaError_t release(void *p, bool device)
{
    if (!p) return cudaSuccess;
    drain(); /* cudaFree waits for the device */
    auto at = allocations.find((uintptr_t)p);
    if (at == allocations.end() || (at->second.type == cudaMemoryTypeDevice) != device) return fail(cudaErrorInvalidValue);
    if (device) in_use -= at->second.bytes;
    allocations.erase(at);
    free(p);
    return cudaSuccess;
}

cudaError_t check_copy(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    bool outside;
    if (bytes == 0) return cudaSuccess;
    if (!to || !from) return cudaErrorInvalidValue;
    if (kind == cudaMemcpyDefault) {
        const bool to_whole = find(to, bytes, &outside) || outside, from_whole = find(from, bytes, &outside) || outside;
        return to_whole && from_whole ? cudaSuccess : cudaErrorInvalidValue;
    }
    if ((int)kind < 0 || (int)kind > 4) return cudaErrorInvalidMemcpyDirection;
    const bool to_device   = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return is_on(to, bytes, to_device) && is_on(from, bytes, from_device) ? cudaSuccess : cudaErrorInvalidValue;
}

} // namespace

/* ---- memory ---- */

API cudaError_t cudaMalloc(void **p, size_t bytes) { ENTER(); NO_CAPTURE(); return allocate(p, bytes, cudaMemoryTypeDevice); }
API cudaError_t cudaFree(void *p) { ENTER(); NO_CAPTURE(); return release(p, true); }
API cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t) { ENTER(); NO_CAPTURE(); return allocate(p, bytes, cudaMemoryTypeDevice); }
API cudaError_t cudaFreeAsync(void *p, cudaStream_t) { ENTER(); NO_CAPTURE(); return release(p, true); }
API cudaError_t cudaMallocHost(void **p, size_t bytes) { ENTER(); NO_CAPTURE(); return allocate(p, bytes, cudaMemoryTypeHost); }
API cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned) { ENTER(); NO_CAPTURE(); return allocate(p, bytes, cudaMemoryTypeHost); }
API cudaError_t cudaFreeHost(void *p) { ENTER(); NO_CAPTURE(); return release(p, false); }

API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER();
    const cudaError_t error = check_copy(to, from, bytes, kind);
    if (error) return fail(error);
    counts.copies++;
    enqueue(stream, [=]() { if (bytes) memmove(to, from, bytes); });
    /* From or to memory that is not page-locked the call waits, as it may on a GPU. */
    bool outside_to = false, outside_from = false;
    find(to, bytes, &outside_to);
    find(from, bytes, &outside_from);
    if ((outside_to || outside_from) && !stream_of(stream)->graph) drain();
    return cudaSuccess;
}
API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    ENTER();
    NO_CAPTURE();
    const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    drain();
    return error;
}
API cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream)
{
    ENTER();
    if (bytes && !is_on(to, bytes, true)) return fail(cudaErrorInvalidValue);
    counts.sets++;
    enqueue(stream, [=]() { if (bytes) memset(to, byte, bytes); });
    return cudaSuccess;
}
API cudaError_t cudaMemset(void *to, int byte, size_t bytes)
{
    ENTER();
    NO_CAPTURE();
    return cudaMemsetAsync(to, byte, bytes, nullptr);
}
API cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    ENTER();
    *total     = memory_size();
    *available = *total > in_use ? *total - in_use : 0;
    return cudaSuccess;
}
API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    ENTER();
    bool              outside;
    const Allocation *found = find(p, 1, &outside);
    a->type                 = found ? found->type : cudaMemoryTypeUnregistered;
    a->device               = found ? 0 : -2;
    a->devicePointer        = found ? const_cast<void *>(p) : nullptr;
    a->hostPointer          = found && found->type == cudaMemoryTypeDevice ? nullptr : const_cast<void *>(p);
    return cudaSuccess;
}

/* ---- kernels ---- */

void ih_emulated_enqueue(const char *name, const void *kernel, unsigned grid, unsigned block, size_t shared, cudaStream_t stream,
                         std::function<void()> thread)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    if (device_count() < 1) {
        last_error = cudaErrorNoDevice;
        return;
    }
    const auto   limit = shared_limits.find(kernel);
    const size_t most  = limit == shared_limits.end() ? (size_t)SHARED_DEFAULT : (size_t)limit->second;
    if (grid < 1 || grid > 0x7fffffffu || block < 1 || block > 1024) last_error = cudaErrorInvalidConfiguration;
    else if (shared > most) last_error = cudaErrorInvalidValue;
    else {
        counts.launches++;
        const ih_emulated_call call = { name, grid, block, shared, std::move(thread) };
        enqueue(stream, [call]() { ih_emulated_run(call); });
    }
}
API cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attr, int value)
{
    ENTER();
    if (attr != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || (size_t)value > SHARED_MOST) return fail(cudaErrorInvalidValue);
    shared_limits[kernel] = value > (int)SHARED_DEFAULT ? value : (int)SHARED_DEFAULT;
    return cudaSuccess;
}
API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *kernel)
{
    ENTER();
    const auto limit = shared_limits.find(kernel);
    memset(a, 0, sizeof *a);
    a->maxThreadsPerBlock        = 1024;
    a->maxDynamicSharedSizeBytes = limit == shared_limits.end() ? (int)SHARED_DEFAULT : limit->second;
    return cudaSuccess;
}
API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int threads, size_t shared)
{
    ENTER();
    if (threads < 1 || threads > 1024 || shared > SHARED_MOST) return fail(cudaErrorInvalidValue);
    const int by_shared = (int)((228u << 10) / (shared + 1024)), by_threads = 2048 / threads;
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    if (*blocks > 32) *blocks = 32;
    return cudaSuccess;
}

/* ---- streams, graphs, events ---- */

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    ENTER();
    *stream = new CUstream_st;
    streams.push_back(*stream);
    return cudaSuccess;
}
API cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, 0); }
API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int) { return cudaStreamCreateWithFlags(stream, flags); }
API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    ENTER();
    for (size_t i = 0; i < streams.size(); i++) {
        if (streams[i] != stream) continue;
        streams.erase(streams.begin() + (std::ptrdiff_t)i);
        delete stream;
        return cudaSuccess;
    }
    return fail(cudaErrorInvalidResourceHandle);
}
API cudaError_t cudaDeviceSynchronize(void)
{
    ENTER();
    NO_CAPTURE();
    counts.waits++;
    drain();
    return cudaSuccess;
}
API cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
API cudaError_t cudaDeviceReset(void) { return cudaDeviceSynchronize(); }
API cudaError_t cudaStreamQuery(cudaStream_t)
{
    ENTER();
    NO_CAPTURE();
    return queue.empty() ? cudaSuccess : cudaErrorNotReady;
}
API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    ENTER();
    CUstream_st *s = stream_of(stream);
    if (event->graph && s != &default_stream) s->graph = event->graph; /* joins the capture */
    return cudaSuccess;                                                /* all work runs in the order of the calls */
}
API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode)
{
    ENTER();
    CUstream_st *s = stream_of(stream);
    if (s == &default_stream) return fail(cudaErrorStreamCaptureUnsupported);
    if (s->graph) return fail(cudaErrorIllegalState);
    s->graph  = new CUgraph_st;
    s->origin = true;
    return cudaSuccess;
}
API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    ENTER();
    CUstream_st *s = stream_of(stream);
    *graph         = nullptr;
    if (!s->graph) return fail(cudaErrorIllegalState);
    if (!s->origin) return fail(cudaErrorStreamCaptureUnmatched);
    CUgraph_st *g = s->graph;
    for (CUstream_st *other : streams)
        if (other->graph == g) {
            other->graph  = nullptr;
            other->origin = false;
        }
    if (g->spoilt) {
        delete g;
        return fail(cudaErrorStreamCaptureInvalidated);
    }
    *graph = g;
    return cudaSuccess;
}
API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    ENTER();
    const CUgraph_st *g = stream_of(stream)->graph;
    *status = !g ? cudaStreamCaptureStatusNone : g->spoilt ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}
API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *data)
{
    ENTER();
    enqueue(stream, [=]() { fn(data); });
    return cudaSuccess;
}

API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    ENTER();
    *exec          = new CUgraphExec_st;
    (*exec)->nodes = graph->nodes;
    return cudaSuccess;
}
API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}
API cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { ENTER(); return cudaSuccess; }
API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    ENTER();
    for (const Work &work : exec->nodes) enqueue(stream, work);
    return cudaSuccess;
}
API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n)
{
    ENTER();
    if (nodes) return fail(cudaErrorNotSupported);
    *n = graph->nodes.size();
    return cudaSuccess;
}
API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { ENTER(); delete exec; return cudaSuccess; }
API cudaError_t cudaGraphDestroy(cudaGraph_t graph) { ENTER(); delete graph; return cudaSuccess; }

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    ENTER();
    *event           = new CUevent_st;
    (*event)->timing = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
}
API cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER();
    event->graph = stream_of(stream)->graph;
    if (event->graph) return cudaSuccess;
    event->recorded = true;
    event->done     = false;
    enqueue(stream, [event]() {
        event->time = std::chrono::steady_clock::now();
        event->done = true;
    });
    return cudaSuccess;
}
API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER();
    return event->recorded && !event->done ? cudaErrorNotReady : cudaSuccess;
}
API cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    ENTER();
    if (!begin->timing || !end->timing || !begin->recorded || !end->recorded) return fail(cudaErrorInvalidResourceHandle);
    if (!begin->done || !end->done) return cudaErrorNotReady;
    *ms = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return cudaSuccess;
}
API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    ENTER();
    if (event->recorded && !event->done) drain();
    delete event;
    return cudaSuccess;
}

/* ---- errors and devices ---- */

API cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error              = cudaSuccess;
    return error;
}
API cudaError_t cudaPeekAtLastError(void) { return last_error; }

static const struct { cudaError_t error; const char *name, *text; } error_texts[] = {
    { cudaSuccess, "cudaSuccess", "no error" },
    { cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument" },
    { cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory" },
    { cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument" },
    { cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy" },
    { cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
    { cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal" },
    { cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
    { cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state" },
    { cudaErrorNotReady, "cudaErrorNotReady", "device not ready" },
    { cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported" },
    { cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing" },
    { cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture" },
    { cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began" },
};
API const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &e : error_texts)
        if (e.error == error) return e.text;
    return "unrecognized error code";
}
API const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &e : error_texts)
        if (e.error == error) return e.name;
    return "unrecognized error code";
}

API cudaError_t cudaGetDeviceCount(int *n)
{
    *n = device_count();
    return *n > 0 ? cudaSuccess : fail(cudaErrorNoDevice);
}
static thread_local int device_now;
API cudaError_t cudaGetDevice(int *device) { ENTER(); *device = device_now; return cudaSuccess; }
API cudaError_t cudaSetDevice(int device)
{
    ENTER();
    if (device < 0 || device >= device_count()) return fail(cudaErrorInvalidDevice);
    device_now = device;
    return cudaSuccess;
}
API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    ENTER();
    if (device < 0 || device >= device_count()) return fail(cudaErrorInvalidDevice);
    switch (attr) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)SHARED_DEFAULT; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxRegistersPerBlock: case cudaDevAttrMaxRegistersPerMultiprocessor: *value = 65536; break;
    case cudaDevAttrMultiProcessorCount: *value = 4; break;
    case cudaDevAttrL2CacheSize: *value = 1 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 228 << 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)SHARED_MOST; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = 1024; break;
    default: *value = 0; break;
    }
    return cudaSuccess;
}
API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    ENTER();
    if (device < 0 || device >= device_count()) return fail(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "emulated");
    p->totalGlobalMem              = memory_size();
    p->sharedMemPerBlock           = SHARED_DEFAULT;
    p->sharedMemPerBlockOptin      = SHARED_MOST;
    p->sharedMemPerMultiprocessor  = 228 << 10;
    p->reservedSharedMemPerBlock   = 1024;
    p->regsPerBlock                = p->regsPerMultiprocessor = 65536;
    p->warpSize                    = 32;
    p->maxThreadsPerBlock          = 1024;
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxBlocksPerMultiProcessor  = 32;
    p->maxThreadsDim[0]            = 1024;
    p->maxGridSize[0]              = 0x7fffffff;
    p->major                       = 9;
    p->multiProcessorCount         = 4;
    p->l2CacheSize                 = 1 << 20;
    p->memoryBusWidth              = 64;
    p->unifiedAddressing           = 1;
    return cudaSuccess;
}
API cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    ENTER();
    if (device < 0 || device >= device_count()) return fail(cudaErrorInvalidDevice);
    snprintf(id, (size_t)length, "0000:00:00.0");
    return cudaSuccess;
}
API cudaError_t cudaDriverGetVersion(int *version) { *version = CUDART_VERSION; return cudaSuccess; }
API cudaError_t cudaRuntimeGetVersion(int *version) { *version = CUDART_VERSION; return cudaSuccess; }

API ih_emulated_counts_s ih_emulated_counts(void)
{
    std::lock_guard<std::recursive_mutex> lock(mutex);
    return counts;
}
