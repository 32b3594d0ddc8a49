/* SPDX-License-Identifier: Apache-2.0
 * The part of the CUDA runtime's host interface that this project uses, for builds with -Demulate_cuda=true: C and C++,
 * same names, types and numbers as the toolkit's header. Implementation: runtime.cpp.
 *
 * "Device memory" is host memory, filled with a pattern when it is allocated. Work is queued and runs, all streams in the
 * order of the calls, when something synchronises: a missing synchronisation shows. Calls that wait or allocate fail while
 * a stream is captured, as they do on a GPU. Copies are checked: both ranges must lie in one allocation, on the side that the kind says.
 *
 * Environment:  IH_EMULATED_SEED=N       lanes, warps and blocks in an order drawn from N (default 0: in the order of their numbers)
 *               IH_EMULATED_IMMEDIATE=1  work runs in the call that queues it (for a debugger)
 *               IH_EMULATED_DEVICES=N    number of devices, 0 too (default 1)
 *               IH_EMULATED_MEMORY=N     bytes of device memory (default 64 GiB) */
#ifndef IH_EMULATED_CUDA_RUNTIME_API_H
#define IH_EMULATED_CUDA_RUNTIME_API_H

#define IH_CUDA_EMULATED 1
#define CUDART_VERSION 13000

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum cudaError {
    cudaSuccess                          = 0,
    cudaErrorInvalidValue                = 1,
    cudaErrorMemoryAllocation            = 2,
    cudaErrorInitializationError         = 3,
    cudaErrorInvalidConfiguration        = 9,
    cudaErrorInvalidDevicePointer        = 17,
    cudaErrorInvalidMemcpyDirection      = 21,
    cudaErrorInsufficientDriver          = 35,
    cudaErrorInvalidDeviceFunction       = 98,
    cudaErrorNoDevice                    = 100,
    cudaErrorInvalidDevice               = 101,
    cudaErrorNoKernelImageForDevice      = 209,
    cudaErrorUnsupportedPtxVersion       = 222,
    cudaErrorInvalidResourceHandle       = 400,
    cudaErrorNotReady                    = 600,
    cudaErrorIllegalAddress              = 700,
    cudaErrorLaunchOutOfResources        = 701,
    cudaErrorLaunchTimeout               = 702,
    cudaErrorLaunchFailure               = 719,
    cudaErrorNotSupported                = 801,
    cudaErrorStreamCaptureUnsupported    = 900,
    cudaErrorStreamCaptureInvalidated    = 901,
    cudaErrorStreamCaptureUnmatched      = 903,
    cudaErrorIllegalState                = 401,
    cudaErrorUnknown                     = 999
} cudaError_t;

typedef struct CUstream_st    *cudaStream_t;
typedef struct CUevent_st     *cudaEvent_t;
typedef struct CUgraph_st     *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef void (*cudaHostFn_t)(void *data);

#define cudaStreamLegacy    ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum { cudaHostAllocDefault = 0 };

typedef enum cudaMemcpyKind {
    cudaMemcpyHostToHost     = 0,
    cudaMemcpyHostToDevice   = 1,
    cudaMemcpyDeviceToHost   = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault        = 4
} cudaMemcpyKind;

typedef enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal = 0, cudaStreamCaptureModeThreadLocal = 1, cudaStreamCaptureModeRelaxed = 2
} cudaStreamCaptureMode;
typedef enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1, cudaStreamCaptureStatusInvalidated = 2
} cudaStreamCaptureStatus;

typedef enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock               = 1,
    cudaDevAttrMaxGridDimX                      = 5,
    cudaDevAttrMaxSharedMemoryPerBlock          = 8,
    cudaDevAttrWarpSize                         = 10,
    cudaDevAttrMaxRegistersPerBlock             = 12,
    cudaDevAttrClockRate                        = 13,
    cudaDevAttrMultiProcessorCount              = 16,
    cudaDevAttrMemoryClockRate                  = 36,
    cudaDevAttrGlobalMemoryBusWidth             = 37,
    cudaDevAttrL2CacheSize                      = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor      = 39,
    cudaDevAttrComputeCapabilityMajor           = 75,
    cudaDevAttrComputeCapabilityMinor           = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor    = 82,
    cudaDevAttrManagedMemory                    = 83,
    cudaDevAttrMaxSharedMemoryPerBlockOptin     = 97,
    cudaDevAttrReservedSharedMemoryPerBlock     = 111
} cudaDeviceAttr;

typedef enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9
} cudaFuncAttribute;

typedef enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost = 1, cudaMemoryTypeDevice = 2, cudaMemoryTypeManaged = 3
} cudaMemoryType;

struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int                 device;
    void               *devicePointer, *hostPointer;
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int    maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

typedef struct CUuuid_st { char bytes[16]; } cudaUUID_t;

struct cudaDeviceProp {
    char       name[256];
    cudaUUID_t uuid;
    size_t     totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
    int        regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
    int        maxThreadsDim[3], maxGridSize[3];
    int        major, minor, multiProcessorCount, l2CacheSize, persistingL2CacheMaxSize, memoryBusWidth, ECCEnabled;
    int        pciBusID, pciDeviceID, pciDomainID, integrated, concurrentKernels, asyncEngineCount, unifiedAddressing;
};

cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaMallocHost(void **p, size_t bytes);
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset(void *to, int byte, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p);

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *data);

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaEventDestroy(cudaEvent_t event);

cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device);
cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attr, int value);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads, size_t shared);

/* What was called since the program began: tests show by it that a call only enqueues. Not part of CUDA. */
typedef struct ih_emulated_counts_s {
    uint64_t launches, copies, sets, allocations, waits;
} ih_emulated_counts_s;
ih_emulated_counts_s ih_emulated_counts(void);

#if defined(__cplusplus)
}
#endif
#endif
