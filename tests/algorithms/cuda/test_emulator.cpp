/* SPDX-License-Identifier: Apache-2.0
 * The emulator itself: functions of warp and block against plain loops, its answers to faulty kernels, streams and graphs. */
#include "cuda/simt.h"

#include <cstdarg>
#include <csetjmp>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
extern "C" {
#include <cmocka.h>
}

namespace {

constexpr unsigned FULL = 0xffffffffu;

template <class T> struct Device { /* an array in device memory */
    T     *p = nullptr;
    size_t n;
    explicit Device(size_t n_) : n(n_) { assert_int_equal(cudaMalloc(&p, n * sizeof(T)), cudaSuccess); }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    ~Device() { cudaFree(p); }
    std::vector<T> host()
    {
        std::vector<T> v(n);
        assert_int_equal(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
        return v;
    }
    void set(const std::vector<T> &v) { assert_int_equal(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess); }
};

uint64_t hash(uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15ull ^ (i << 31); }

/* ---- warps ---- */

enum { RESULTS = 20 };
IH_KERNEL(64, 1) warp_kernel(uint64_t *out)
{
    const unsigned t    = blockIdx.x * blockDim.x + threadIdx.x;
    const int      lane = (int)(threadIdx.x & 31);
    const uint64_t v    = hash(t);
    uint64_t      *to   = out + t * RESULTS;
    to[0]  = __shfl_sync(FULL, (unsigned long long)v, lane * 7 + 3);
    to[1]  = (uint64_t)__shfl_up_sync(FULL, (int)v, 5);
    to[2]  = __shfl_down_sync(FULL, (unsigned)v, 9, 16);
    to[3]  = (uint64_t)__double_as_longlong(__shfl_xor_sync(FULL, __longlong_as_double((long long)v), 21));
    to[4]  = __float_as_uint(__shfl_sync(FULL, __uint_as_float((unsigned)v), lane / 2, 8));
    to[5]  = __ballot_sync(FULL, (int)(v & 2));
    to[6]  = (uint64_t)__any_sync(FULL, (v & 63) == 5);
    to[7]  = (uint64_t)__all_sync(FULL, (v & 63) != 5);
    to[8]  = __match_any_sync(FULL, (unsigned)(v >> 60));
    to[9]  = __reduce_add_sync(FULL, (unsigned)v);
    to[10] = (uint64_t)__reduce_min_sync(FULL, (int)v);
    to[11] = __reduce_max_sync(FULL, (unsigned)v);
    to[12] = __reduce_or_sync(FULL, (unsigned)v);
    to[13] = __reduce_and_sync(FULL, (unsigned)v | 0xffff);
    to[14] = (uint64_t)__reduce_max_sync(FULL, (int)v);
    to[15] = 0;
    if (lane < 12) to[15] = __ballot_sync(0xfffu, lane % 3 == 0); /* two parts of the warp at once */
    else to[15] = __shfl_xor_sync(0xfffff000u, (unsigned)v, 1);
    __syncwarp();
    to[16] = __reduce_min_sync(FULL, (unsigned)v);
    to[17] = (uint64_t)__syncthreads_count(v & 1);
    to[18] = (uint64_t)__syncthreads_and((v & 1023) != 77);
    to[19] = (uint64_t)__syncthreads_or((v & 31) == 3);
}

void check_warps(void)
{
    const unsigned   blocks = 3, threads = 64;
    Device<uint64_t> out(blocks * threads * RESULTS);
    IH_LAUNCH(warp_kernel, blocks, threads, 0, nullptr, out.p);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    const std::vector<uint64_t> got = out.host();
    for (unsigned t = 0; t < blocks * threads; t++) {
        const unsigned  lane = t % 32, first = t - lane;
        auto            at = [first](unsigned k) { return hash(first + k); };
        const uint64_t *g  = &got[t * RESULTS];
        uint64_t ballot = 0, match = 0, sum = 0, any = 0, all = 1, ors = 0, ands = FULL, most = 0, least = FULL;
        int      smallest = 0x7fffffff, largest = -0x7fffffff - 1;
        for (unsigned k = 0; k < 32; k++) {
            const uint64_t v = at(k);
            ballot |= (v >> 1 & 1) << k;
            match |= (uint64_t)(v >> 60 == at(lane) >> 60) << k;
            sum += (unsigned)v;
            any |= (v & 63) == 5;
            all &= (v & 63) != 5;
            ors |= (unsigned)v;
            ands &= (unsigned)v | 0xffff;
            most     = std::max(most, (uint64_t)(unsigned)v);
            least    = std::min(least, (uint64_t)(unsigned)v);
            smallest = std::min(smallest, (int)v);
            largest  = std::max(largest, (int)v);
        }
        unsigned odd = 0, some = 0, every = 1;
        for (unsigned k = 0; k < threads; k++) {
            const uint64_t v = hash(t - t % threads + k);
            odd += v & 1;
            every &= (v & 1023) != 77;
            some |= (v & 31) == 3;
        }
        assert_true(g[0] == at((lane * 7 + 3) % 32));
        assert_true((int)g[1] == (int)at(lane < 5 ? lane : lane - 5));
        assert_true(g[2] == (unsigned)at(lane % 16 + 9 < 16 ? lane + 9 : lane));
        assert_true(g[3] == at(lane ^ 21));
        assert_true(g[4] == (unsigned)at(lane / 8 * 8 + lane / 2 % 8));
        assert_true(g[5] == ballot);
        assert_true(g[6] == any);
        assert_true(g[7] == all);
        assert_true(g[8] == match);
        assert_true(g[9] == (unsigned)sum);
        assert_true((int)g[10] == smallest);
        assert_true(g[11] == most);
        assert_true(g[12] == ors);
        assert_true(g[13] == ands);
        assert_true((int)g[14] == largest);
        assert_true(g[15] == (lane < 12 ? 01111u : (unsigned)at(lane ^ 1)));
        assert_true(g[16] == least);
        assert_true(g[17] == odd);
        assert_true(g[18] == every);
        assert_true(g[19] == some);
    }
}

/* In the order of numbers and in drawn ones. */
void in_orders(void (*check)(void))
{
    check();
    for (const char *seed : { "1", "2", "3" }) {
        setenv("IH_EMULATED_SEED", seed, 1);
        check();
    }
    unsetenv("IH_EMULATED_SEED");
}
void test_warps(void **) { in_orders(check_warps); }

/* ---- blocks ---- */

IH_KERNEL(1024, 1) sum_kernel(const int *in, int n, unsigned long long *total, unsigned *first_seen)
{
    IH_SHARED(memory);
    int *part = (int *)(void *)memory;
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *first_seen = (unsigned)part[0];
    __syncthreads();
    part[threadIdx.x] = i < (unsigned)n ? in[i] : 0;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(total, (unsigned long long)part[0]);
}

void check_blocks(void)
{
    for (unsigned block : { 32u, 64u, 256u, 1024u }) {
        const int        n = 5000;
        std::vector<int> in(n);
        uint64_t         want = 0;
        for (int i = 0; i < n; i++) want += (uint64_t)(in[(size_t)i] = i * 37 % 1001);
        Device<int>                d_in(n);
        Device<unsigned long long> total(1);
        Device<unsigned>           seen(1);
        d_in.set(in);
        total.set({ 0 });
        IH_LAUNCH(sum_kernel, (n + block - 1) / block, block, block * sizeof(int), nullptr, d_in.p, n, total.p, seen.p);
        assert_true(total.host()[0] == want);
        assert_true(seen.host()[0] == 0x7ff4deadu); /* shared memory comes with a pattern */
    }
}
void test_blocks(void **) { in_orders(check_blocks); }

/* Threads that end early leave the others a complete block. */
IH_KERNEL(96, 1) early_kernel(int *out)
{
    if (threadIdx.x >= 70 || threadIdx.x == 3) return;
    __syncthreads();
    const unsigned here = __ballot_sync(FULL, 1);
    out[threadIdx.x]    = (int)here;
    __syncthreads();
}
void check_early(void)
{
    Device<int> out(96);
    IH_LAUNCH(early_kernel, 1, 96, 0, nullptr, out.p);
    const std::vector<int> got = out.host();
    assert_int_equal(got[0], -9);
    assert_int_equal(got[40], -1);
    assert_int_equal(got[69], 63);
    assert_int_equal(got[70], 0x7ff4dead);
}
void test_early(void **) { in_orders(check_early); }

/* A kernel whose result depends on the order of its threads gives another one when the order changes. */
IH_KERNEL(64, 1) order_kernel(unsigned *ticket, unsigned *place) { place[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(ticket, 1u); }
void test_order(void **)
{
    std::vector<std::vector<unsigned>> seen;
    for (const char *seed : { "0", "1", "2" }) {
        setenv("IH_EMULATED_SEED", seed, 1);
        Device<unsigned> ticket(1), place(256);
        ticket.set({ 0 });
        IH_LAUNCH(order_kernel, 4, 64, 0, nullptr, ticket.p, place.p);
        seen.push_back(place.host());
    }
    unsetenv("IH_EMULATED_SEED");
    for (unsigned i = 0; i < 256; i++) assert_int_equal(seen[0][i], i);
    assert_true(seen[1] != seen[0] && seen[2] != seen[0] && seen[1] != seen[2]);
}

/* ---- faults ---- */

IH_KERNEL(64, 1) hang_kernel(int *) { if (threadIdx.x != 40) __syncthreads(); else __syncwarp(0xffffffffu); }
IH_KERNEL(32, 1) mixed_kernel(int *out) { *out = threadIdx.x < 16 ? (int)__ballot_sync(FULL, 1) : __shfl_sync(FULL, 1, 0); }
IH_KERNEL(32, 1) outside_kernel(int *out) { *out = __shfl_sync(0xffffu, 1, 0); }
IH_KERNEL(32, 1) trap_kernel(int *) { if (threadIdx.x == 5) __trap(); }

void expect_end(void (*kernel)(int *), const char *message)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(nullptr);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], 2);
        signal(SIGABRT, SIG_DFL);
        int *p = nullptr;
        cudaMalloc(&p, 4);
        IH_LAUNCH(kernel, 1, kernel == hang_kernel ? 64 : 32, 0, nullptr, p);
        cudaDeviceSynchronize();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char        part[512];
    for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;) said.append(part, (size_t)got);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (said.find(message) == std::string::npos) fail_msg("'%s' is not in: %s", message, said.c_str());
}
void test_faults(void **)
{
    expect_end(hang_kernel, "lanes 00000100 at __syncwarp with mask ffffffff");
    expect_end(mixed_kernel, "lanes of one mask in different functions");
    expect_end(outside_kernel, "without the lane that calls it");
    expect_end(trap_kernel, "thread 5: __trap()");
}

/* ---- host ---- */

IH_KERNEL(32, 1) add_kernel(int *x, int n, int v) { for (int i = (int)threadIdx.x; i < n; i += 32) x[i] += v; }

void test_launch_errors(void **)
{
    Device<int> x(4);
    IH_LAUNCH(add_kernel, 1, 1025, 0, nullptr, x.p, 4, 1);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    IH_LAUNCH(add_kernel, 0, 32, 0, nullptr, x.p, 4, 1);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    IH_LAUNCH(add_kernel, 1, 32, 64 << 10, nullptr, x.p, 4, 1);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
    assert_int_equal(cudaFuncSetAttribute(add_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10), cudaSuccess);
    IH_LAUNCH(add_kernel, 1, 32, 64 << 10, nullptr, x.p, 4, 1);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    assert_int_equal(cudaFuncSetAttribute(add_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10), cudaErrorInvalidValue);
    cudaGetLastError();
}

void test_copies(void **)
{
    Device<int>      x(8);
    std::vector<int> h(8, 5);
    assert_int_equal(cudaMemcpy(x.p, h.data(), 36, cudaMemcpyHostToDevice), cudaErrorInvalidValue);          /* past the end */
    assert_int_equal(cudaMemcpy(x.p, h.data(), 32, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);          /* wrong way    */
    assert_int_equal(cudaMemcpy(h.data(), x.p, 32, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemset(h.data(), 0, 32), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(x.p + 2, h.data(), 24, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(x.host()[7], 5);
    assert_int_equal(x.host()[1], 0x7ff4dead);
    cudaPointerAttributes a;
    cudaPointerGetAttributes(&a, x.p + 3);
    assert_int_equal(a.type, cudaMemoryTypeDevice);
    cudaPointerGetAttributes(&a, h.data());
    assert_int_equal(a.type, cudaMemoryTypeUnregistered);
    setenv("IH_EMULATED_MEMORY", "1000", 1);
    void *p = nullptr;
    assert_int_equal(cudaMalloc(&p, 1000), cudaErrorMemoryAllocation);
    unsetenv("IH_EMULATED_MEMORY");
    setenv("IH_EMULATED_DEVICES", "0", 1);
    int n = -1;
    assert_int_equal(cudaGetDeviceCount(&n), cudaErrorNoDevice);
    assert_int_equal(n, 0);
    assert_int_equal(cudaMalloc(&p, 8), cudaErrorNoDevice);
    unsetenv("IH_EMULATED_DEVICES");
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    cudaGetLastError();
}

/* Work waits until somebody synchronises; events tell. */
void test_queue(void **)
{
    Device<int>  x(1);
    cudaStream_t s;
    cudaEvent_t  begin, end;
    float        ms = -1;
    assert_int_equal(cudaStreamCreate(&s), cudaSuccess);
    assert_int_equal(cudaEventCreate(&begin), cudaSuccess);
    assert_int_equal(cudaEventCreate(&end), cudaSuccess);
    x.set({ 1 });
    cudaEventRecord(begin, s);
    {
        int v = 41;
        IH_LAUNCH(add_kernel, 1, 32, 0, s, x.p, 1, v);
        v = 0; /* the argument was copied */
    }
    cudaEventRecord(end, s);
    assert_int_equal(cudaEventQuery(end), cudaErrorNotReady);
    assert_int_equal(*x.p, 1);
    assert_int_equal(cudaStreamSynchronize(s), cudaSuccess);
    assert_int_equal(*x.p, 42);
    assert_int_equal(cudaEventElapsedTime(&ms, begin, end), cudaSuccess);
    assert_true(ms >= 0);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaStreamDestroy(s);
}

void test_graph(void **)
{
    Device<int>     x(40);
    cudaStream_t    s, other;
    cudaEvent_t     fork_event, join;
    cudaGraph_t     graph;
    cudaGraphExec_t exec;
    size_t          nodes = 0;
    cudaStreamCreate(&s);
    cudaStreamCreate(&other);
    cudaEventCreate(&fork_event);
    cudaEventCreate(&join);
    assert_int_equal(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    cudaMemsetAsync(x.p, 0, 40 * sizeof(int), s);
    IH_LAUNCH(add_kernel, 1, 32, 0, s, x.p, 40, 3);
    cudaEventRecord(fork_event, s);
    cudaStreamWaitEvent(other, fork_event, 0);
    IH_LAUNCH(add_kernel, 1, 32, 0, other, x.p, 20, 4);
    cudaEventRecord(join, other);
    cudaStreamWaitEvent(s, join, 0);
    assert_int_equal(cudaStreamEndCapture(s, &graph), cudaSuccess);
    assert_int_equal(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
    assert_int_equal(nodes, 3);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    assert_int_equal(x.host()[0], 0x7ff4dead); /* nothing ran yet */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cudaGraphLaunch(exec, s), cudaSuccess);
        const std::vector<int> got = x.host();
        assert_int_equal(got[19], 7);
        assert_int_equal(got[20], 3);
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);

    /* Waiting or allocating spoils a capture. */
    for (int i = 0; i < 2; i++) {
        void *p = nullptr;
        assert_int_equal(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
        assert_int_equal(i ? cudaStreamSynchronize(s) : cudaMalloc(&p, 8), cudaErrorStreamCaptureUnsupported);
        assert_int_equal(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    }
    cudaGetLastError();
    cudaEventDestroy(fork_event);
    cudaEventDestroy(join);
    cudaStreamDestroy(other);
    cudaStreamDestroy(s);
}

void test_numbers(void **)
{
    assert_int_equal(__clz(0), 32);
    assert_int_equal(__clzll(1), 63);
    assert_int_equal(__ffs(8), 4);
    assert_int_equal(__popcll(~0ull), 64);
    assert_true(__brev(0x80000001u) == 0x80000001u && __brev(2u) == 0x40000000u);
    assert_true(__umul64hi(~0ull, ~0ull) == ~0ull - 1);
    assert_true(__mul64hi(-1, 1) == -1);
    assert_true(__hiloint2double(0x3ff00000, 0) == 1.0);
    assert_true(__funnelshift_l(0x80000000u, 1u, 1) == 3u && __funnelshift_r(2u, 1u, 1) == 0x80000001u);
    assert_true(max(3, 4u) == 4u && min(-1ll, 5ll) == -1 && min(1.0f, NAN) == 1.0f);
}

} // namespace

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_warps),         cmocka_unit_test(test_blocks), cmocka_unit_test(test_early),
        cmocka_unit_test(test_order),   cmocka_unit_test(test_faults),        cmocka_unit_test(test_copies), cmocka_unit_test(test_launch_errors),
        cmocka_unit_test(test_queue),   cmocka_unit_test(test_graph),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
