/* SPDX-License-Identifier: Apache-2.0
 * CUDA as a C++ compiler for the CPU understands it: qualifiers, built-in variables and device functions for kernels in the
 * dialect of simt.h. Each thread of a block is a fiber; blocks run one after the other (emulator.cpp).
 *
 * What is missing does not compile: atomics on signed 64-bit integers (CUDA has none but max and min), __activemask, static
 * __shared__ arrays (outside the dialect), textures, cooperative groups. */
#ifndef IH_EMULATED_CUDA_RUNTIME_H
#define IH_EMULATED_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

#if defined(__cplusplus)
#include <math.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#define IH_EMULATED_VECTOR(T, name) \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; }; \
    struct alignas(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; }; \
    static inline name##2 make_##name##2(T x, T y) { return { x, y }; } \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return { x, y, z, w }; }
IH_EMULATED_VECTOR(int, int)
IH_EMULATED_VECTOR(unsigned, uint)
IH_EMULATED_VECTOR(short, short)
IH_EMULATED_VECTOR(unsigned short, ushort)
IH_EMULATED_VECTOR(long long, longlong)
IH_EMULATED_VECTOR(unsigned long long, ulonglong)
IH_EMULATED_VECTOR(float, float)
IH_EMULATED_VECTOR(double, double)
#undef IH_EMULATED_VECTOR

/* The thread that runs now; set at every switch. */
extern uint3 ih_emulated_thread, ih_emulated_block;
extern dim3  ih_emulated_block_size, ih_emulated_grid_size;
extern bool  ih_emulated_shuffled; /* IH_EMULATED_SEED is given: any atomic may switch threads */
#define threadIdx ih_emulated_thread
#define blockIdx ih_emulated_block
#define blockDim ih_emulated_block_size
#define gridDim ih_emulated_grid_size
constexpr int warpSize = 32;

unsigned char *ih_emulated_shared(void);

/* Kernel launch, as kernel<<<grid, block, shared, stream>>>(arguments): arguments are converted and copied now. */
void ih_emulated_enqueue(const char *name, const void *kernel, unsigned grid, unsigned block, size_t shared, cudaStream_t stream,
                         std::function<void()> thread);
template <class... P, class... A>
void ih_emulated_launch(const char *name, void (*kernel)(P...), unsigned grid, unsigned block, size_t shared, cudaStream_t stream, A &&...a)
{
    std::tuple<std::decay_t<P>...> kept(std::forward<A>(a)...);
    ih_emulated_enqueue(name, (const void *)kernel, grid, block, shared, stream, [kernel, kept]() { std::apply(kernel, kept); });
}
template <class F> void ih_emulated_launch(unsigned grid, unsigned block, size_t shared, cudaStream_t stream, F thread)
{
    ih_emulated_enqueue("(a lambda)", nullptr, grid, block, shared, stream, thread);
}
template <class F> cudaError_t cudaFuncSetAttribute(F *kernel, enum cudaFuncAttribute attr, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attr, value);
}
template <class F> cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, F *kernel)
{
    return cudaFuncGetAttributes(a, (const void *)kernel);
}
template <class F> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *kernel, int threads, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}
template <class T> cudaError_t cudaMalloc(T **p, size_t bytes) { return cudaMalloc((void **)(void *)p, bytes); }
template <class T> cudaError_t cudaMallocHost(T **p, size_t bytes) { return cudaMallocHost((void **)(void *)p, bytes); }

/* ---- functions of a warp and of a block ---- */

enum ih_emulated_op {
    IH_EMULATED_SYNCWARP, IH_EMULATED_SHFL, IH_EMULATED_BALLOT, IH_EMULATED_MATCH_ANY, IH_EMULATED_MATCH_ALL, IH_EMULATED_ADD,
    IH_EMULATED_MIN, IH_EMULATED_MAX, IH_EMULATED_MIN_SIGNED, IH_EMULATED_MAX_SIGNED, IH_EMULATED_AND, IH_EMULATED_OR, IH_EMULATED_XOR
};
enum ih_emulated_barrier { IH_EMULATED_SYNCTHREADS, IH_EMULATED_COUNT, IH_EMULATED_ALL_OF, IH_EMULATED_ANY_OF };
uint64_t ih_emulated_warp(ih_emulated_op op, unsigned mask, uint64_t value, int source);
int      ih_emulated_wait(ih_emulated_barrier kind, int predicate);
void     ih_emulated_pause(void);
[[noreturn]] void ih_emulated_trap(const char *why);

static inline void __syncthreads(void) { ih_emulated_wait(IH_EMULATED_SYNCTHREADS, 0); }
static inline int  __syncthreads_count(int p) { return ih_emulated_wait(IH_EMULATED_COUNT, p); }
static inline int  __syncthreads_and(int p) { return ih_emulated_wait(IH_EMULATED_ALL_OF, p); }
static inline int  __syncthreads_or(int p) { return ih_emulated_wait(IH_EMULATED_ANY_OF, p); }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { ih_emulated_warp(IH_EMULATED_SYNCWARP, mask, 0, 0); }

template <class T> static inline uint64_t ih_emulated_bits(T v)
{
    static_assert(std::is_arithmetic<T>::value && (sizeof(T) == 4 || sizeof(T) == 8), "32 or 64 bits");
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    return bits;
}
template <class T> static inline T ih_emulated_value(uint64_t bits)
{
    T v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
template <class T> static inline T ih_emulated_shfl(unsigned mask, T v, int source)
{
    return ih_emulated_value<T>(ih_emulated_warp(IH_EMULATED_SHFL, mask, ih_emulated_bits(v), source));
}
static inline int ih_emulated_lane(void) { return (int)(ih_emulated_thread.x & 31u); }
template <class T> static inline T __shfl_sync(unsigned mask, T v, int source, int width = 32)
{
    return ih_emulated_shfl(mask, v, (ih_emulated_lane() & ~(width - 1)) | (source & (width - 1)));
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
    const int lane = ih_emulated_lane(), source = lane - (int)delta;
    return ih_emulated_shfl(mask, v, source < (lane & ~(width - 1)) ? lane : source);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
    const int lane = ih_emulated_lane(), source = lane + (int)delta;
    return ih_emulated_shfl(mask, v, source > (lane | (width - 1)) ? lane : source);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32)
{
    const int lane = ih_emulated_lane(), source = lane ^ bits;
    return ih_emulated_shfl(mask, v, source > (lane | (width - 1)) ? lane : source);
}
static inline unsigned __ballot_sync(unsigned mask, int p) { return (unsigned)ih_emulated_warp(IH_EMULATED_BALLOT, mask, p != 0, 0); }
static inline int      __any_sync(unsigned mask, int p) { return ih_emulated_warp(IH_EMULATED_OR, mask, p != 0, 0) != 0; }
static inline int      __all_sync(unsigned mask, int p) { return ih_emulated_warp(IH_EMULATED_AND, mask, p != 0, 0) != 0; }
template <class T> static inline unsigned __match_any_sync(unsigned mask, T v)
{
    return (unsigned)ih_emulated_warp(IH_EMULATED_MATCH_ANY, mask, ih_emulated_bits(v), 0);
}
template <class T> static inline unsigned __match_all_sync(unsigned mask, T v, int *all)
{
    const unsigned lanes = (unsigned)ih_emulated_warp(IH_EMULATED_MATCH_ALL, mask, ih_emulated_bits(v), 0);
    *all = lanes != 0;
    return lanes;
}
/* On a GPU from compute capability 8.0 on. */
static inline unsigned __reduce_add_sync(unsigned mask, unsigned v) { return (unsigned)ih_emulated_warp(IH_EMULATED_ADD, mask, v, 0); }
static inline int      __reduce_add_sync(unsigned mask, int v) { return (int)(unsigned)ih_emulated_warp(IH_EMULATED_ADD, mask, (unsigned)v, 0); }
static inline unsigned __reduce_min_sync(unsigned mask, unsigned v) { return (unsigned)ih_emulated_warp(IH_EMULATED_MIN, mask, v, 0); }
static inline unsigned __reduce_max_sync(unsigned mask, unsigned v) { return (unsigned)ih_emulated_warp(IH_EMULATED_MAX, mask, v, 0); }
static inline int __reduce_min_sync(unsigned mask, int v) { return (int)(int64_t)ih_emulated_warp(IH_EMULATED_MIN_SIGNED, mask, (uint64_t)(int64_t)v, 0); }
static inline int __reduce_max_sync(unsigned mask, int v) { return (int)(int64_t)ih_emulated_warp(IH_EMULATED_MAX_SIGNED, mask, (uint64_t)(int64_t)v, 0); }
static inline unsigned __reduce_and_sync(unsigned mask, unsigned v) { return (unsigned)ih_emulated_warp(IH_EMULATED_AND, mask, v, 0); }
static inline unsigned __reduce_or_sync(unsigned mask, unsigned v) { return (unsigned)ih_emulated_warp(IH_EMULATED_OR, mask, v, 0); }
static inline unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return (unsigned)ih_emulated_warp(IH_EMULATED_XOR, mask, v, 0); }

/* ---- memory ---- */

/* Fibers switch nowhere inside, so that these are atomic. */
#define IH_EMULATED_ATOMIC(name, T, change) \
    static inline T name(T *p, T v) \
    { \
        if (ih_emulated_shuffled) ih_emulated_pause(); \
        const T old = *p; \
        *p = (T)(change); \
        return old; \
    }
#define IH_EMULATED_ATOMIC_3(name, change) \
    IH_EMULATED_ATOMIC(name, int, change) IH_EMULATED_ATOMIC(name, unsigned, change) IH_EMULATED_ATOMIC(name, unsigned long long, change)
IH_EMULATED_ATOMIC(atomicAdd, int, (unsigned)old + (unsigned)v)
IH_EMULATED_ATOMIC(atomicAdd, unsigned, old + v)
IH_EMULATED_ATOMIC(atomicAdd, unsigned long long, old + v)
IH_EMULATED_ATOMIC(atomicAdd, float, old + v)
IH_EMULATED_ATOMIC(atomicAdd, double, old + v)
IH_EMULATED_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)v)
IH_EMULATED_ATOMIC(atomicSub, unsigned, old - v)
IH_EMULATED_ATOMIC_3(atomicMax, old > v ? old : v)
IH_EMULATED_ATOMIC(atomicMax, long long, old > v ? old : v)
IH_EMULATED_ATOMIC_3(atomicMin, old < v ? old : v)
IH_EMULATED_ATOMIC(atomicMin, long long, old < v ? old : v)
IH_EMULATED_ATOMIC_3(atomicAnd, old & v)
IH_EMULATED_ATOMIC_3(atomicOr, old | v)
IH_EMULATED_ATOMIC_3(atomicXor, old ^ v)
IH_EMULATED_ATOMIC_3(atomicExch, v)
IH_EMULATED_ATOMIC(atomicExch, float, v)
IH_EMULATED_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
IH_EMULATED_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)
#undef IH_EMULATED_ATOMIC_3
#undef IH_EMULATED_ATOMIC
#define IH_EMULATED_CAS(T) \
    static inline T atomicCAS(T *p, T expected, T v) \
    { \
        if (ih_emulated_shuffled) ih_emulated_pause(); \
        const T old = *p; \
        if (old == expected) *p = v; \
        return old; \
    }
IH_EMULATED_CAS(int)
IH_EMULATED_CAS(unsigned)
IH_EMULATED_CAS(unsigned long long)
IH_EMULATED_CAS(unsigned short)
#undef IH_EMULATED_CAS

static inline void __threadfence(void) {}
static inline void __threadfence_block(void) {}
static inline void __threadfence_system(void) {}
static inline void __nanosleep(unsigned) { ih_emulated_pause(); } /* lets the other threads of the block go on */
static inline void __trap(void) { ih_emulated_trap("__trap()"); }
static inline long long clock64(void) { return 0; }

#define IH_EMULATED_LOAD(name) template <class T> static inline T name(const T *p) { return *p; }
#define IH_EMULATED_STORE(name) template <class T> static inline void name(T *p, T v) { *p = v; }
IH_EMULATED_LOAD(__ldg) IH_EMULATED_LOAD(__ldcg) IH_EMULATED_LOAD(__ldca) IH_EMULATED_LOAD(__ldcs) IH_EMULATED_LOAD(__ldlu) IH_EMULATED_LOAD(__ldcv)
IH_EMULATED_STORE(__stwb) IH_EMULATED_STORE(__stcg) IH_EMULATED_STORE(__stcs) IH_EMULATED_STORE(__stwt)
#undef IH_EMULATED_LOAD
#undef IH_EMULATED_STORE

/* ---- numbers ---- */

static inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline unsigned __brev(unsigned v)
{
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
static inline unsigned long long __brevll(unsigned long long v) { return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32)); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline int      __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) { return (unsigned)(((uint64_t)high << 32 | low) << (n & 31) >> 32); }
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) { return (unsigned)(((uint64_t)high << 32 | low) >> (n & 31)); }

static inline long long __double_as_longlong(double v) { return ih_emulated_value<long long>(ih_emulated_bits(v)); }
static inline double    __longlong_as_double(long long v) { return ih_emulated_value<double>(ih_emulated_bits(v)); }
static inline int       __float_as_int(float v) { return ih_emulated_value<int>(ih_emulated_bits(v)); }
static inline unsigned  __float_as_uint(float v) { return ih_emulated_value<unsigned>(ih_emulated_bits(v)); }
static inline float     __int_as_float(int v) { return ih_emulated_value<float>(ih_emulated_bits(v)); }
static inline float     __uint_as_float(unsigned v) { return ih_emulated_value<float>(ih_emulated_bits(v)); }
static inline int       __double2hiint(double v) { return (int)(ih_emulated_bits(v) >> 32); }
static inline int       __double2loint(double v) { return (int)(unsigned)ih_emulated_bits(v); }
static inline double    __hiloint2double(int high, int low) { return ih_emulated_value<double>((uint64_t)(unsigned)high << 32 | (unsigned)low); }

/* Rounded to nearest; no other direction is here. */
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return ::sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }
static inline float  __fadd_rn(float a, float b) { return a + b; }
static inline float  __fsub_rn(float a, float b) { return a - b; }
static inline float  __fmul_rn(float a, float b) { return a * b; }
static inline float  __fdiv_rn(float a, float b) { return a / b; }
static inline float  __fsqrt_rn(float a) { return ::sqrtf(a); }
static inline float  __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }
static inline float  __double2float_rn(double v) { return (float)v; }
static inline double __int2double_rn(int v) { return v; }
static inline double __ll2double_rn(long long v) { return (double)v; }
static inline double __ull2double_rn(unsigned long long v) { return (double)v; }

template <class A, class B> static inline typename std::common_type<A, B>::type min(A a, B b)
{
    using T = typename std::common_type<A, B>::type;
    if constexpr (std::is_floating_point<T>::value) return std::fmin((T)a, (T)b);
    else return (T)a < (T)b ? (T)a : (T)b;
}
template <class A, class B> static inline typename std::common_type<A, B>::type max(A a, B b)
{
    using T = typename std::common_type<A, B>::type;
    if constexpr (std::is_floating_point<T>::value) return std::fmax((T)a, (T)b);
    else return (T)a > (T)b ? (T)a : (T)b;
}

#endif
#endif
