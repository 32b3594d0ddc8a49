/* SPDX-License-Identifier: Apache-2.0
 * Runs a kernel: one fiber per thread of a block, blocks one after the other. A fiber runs until it waits for others in a
 * function of its warp or block; the one that comes last computes the result for all. With IH_EMULATED_SEED the next fiber
 * is drawn among all that can go on, and blocks come in a drawn order: a kernel whose result depends on it shows.
 *
 * Faults that a GPU would answer with a hang or with garbage end the program with a message: threads that wait for others
 * that never come, and lanes of one mask in different functions. */
#include "emulator.h"
#include "cuda_runtime.h"
#include "fiber.h"

#include <cstdlib>
#include <vector>

uint3 ih_emulated_thread, ih_emulated_block;
dim3  ih_emulated_block_size, ih_emulated_grid_size;
bool  ih_emulated_shuffled;

namespace {

enum { MAX_THREADS = 1024, MAX_WARPS = MAX_THREADS / 32 };

const char *const op_names[] = { "__syncwarp", "__shfl*_sync", "__ballot_sync", "__match_any_sync", "__match_all_sync", "__reduce_add_sync",
                                 "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync (int)", "__reduce_max_sync (int)",
                                 "__reduce_and_sync or __all_sync", "__reduce_or_sync or __any_sync", "__reduce_xor_sync" };
const char *const barrier_names[] = { "__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or" };

struct Lane { /* what a lane waits for in a function of its warp */
    ih_emulated_op op;
    unsigned       mask;
    int            source;
    uint64_t       value, result;
};

struct Warp {
    uint32_t live, ready, waiting, at_barrier; /* bit per lane; a live one has one bit in the other three */
    Lane     lane[32];
};

Warp                    warps[MAX_WARPS];
ih_fiber                fibers[MAX_THREADS], host;
int                     n_warps, n_live, n_barrier, current;
ih_emulated_barrier     barrier_kind;
int                     barrier_sum, barrier_result;
unsigned char          *shared_memory;
const ih_emulated_call *call;
uint64_t                random_state;

uint32_t draw(uint32_t n)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((random_state >> 33) * (uint64_t)n >> 31);
}

void where(void)
{
    fflush(stdout);
    fprintf(stderr, "CUDA emulator: kernel %s, grid %u, block %u, block number %u, thread %u: ", call ? call->name : "(none)",
            ih_emulated_grid_size.x, ih_emulated_block_size.x, ih_emulated_block.x, ih_emulated_thread.x);
}

[[noreturn]] void stuck(void)
{
    where();
    fprintf(stderr, "%d threads wait, and none can go on:\n", n_live);
    for (int i = 0; i < n_warps; i++) {
        const Warp &w = warps[i];
        if (w.at_barrier) fprintf(stderr, "  warp %d: lanes %08x at %s\n", i, w.at_barrier, barrier_names[barrier_kind]);
        for (uint32_t rest = w.waiting; rest;) {
            const Lane &first = w.lane[__builtin_ctz(rest)];
            uint32_t    same  = 0;
            for (int k = 0; k < 32; k++)
                if ((rest >> k & 1) && w.lane[k].op == first.op && w.lane[k].mask == first.mask) same |= 1u << k;
            fprintf(stderr, "  warp %d: lanes %08x at %s with mask %08x\n", i, same, op_names[first.op], first.mask);
            rest &= ~same;
        }
        if (w.live != 0xffffffffu) fprintf(stderr, "  warp %d: lanes %08x have ended or never were\n", i, ~w.live);
    }
    abort();
}

void go(int thread)
{
    const int from = current;
    if (thread == from) return;
    current              = thread;
    ih_emulated_thread.x = (unsigned)thread;
    ih_fiber_switch(&fibers[from], &fibers[thread]);
}

uint32_t bits_above(uint32_t bits, int k) { return k == 31 ? 0 : bits & ~0u << (k + 1); }

/* A fiber that can go on, -1 if there is none; if wished, of other warps when those of this warp had their turn. */
int choose(bool fair = false)
{
    if (ih_emulated_shuffled) {
        const int first = (int)draw((uint32_t)n_warps);
        for (int i = 0; i < n_warps; i++) {
            const int w     = (first + i) % n_warps;
            uint32_t  ready = warps[w].ready;
            if (!ready) continue;
            for (uint32_t skip = draw((uint32_t)__builtin_popcount(ready)); skip; skip--) ready &= ready - 1;
            return w * 32 + __builtin_ctz(ready);
        }
        return -1;
    }
    const int own   = current / 32;
    uint32_t  ready = warps[own].ready;
    if (ready) {
        const uint32_t above = bits_above(ready, current % 32);
        if (above || !fair) return own * 32 + __builtin_ctz(above ? above : ready);
    }
    for (int i = 1; i <= n_warps; i++) {
        const int w = (own + i) % n_warps;
        if (warps[w].ready) return w * 32 + __builtin_ctz(warps[w].ready);
    }
    return -1;
}

void wait_for_others(void)
{
    const int next = choose();
    if (next < 0) stuck();
    go(next);
}

void warp_result(Warp &w, uint32_t lanes)
{
    const ih_emulated_op op  = w.lane[__builtin_ctz(lanes)].op;
    uint64_t             all = w.lane[__builtin_ctz(lanes)].value;
    if (op == IH_EMULATED_SYNCWARP) return;
    if (op == IH_EMULATED_SHFL) {
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            Lane &a  = w.lane[__builtin_ctz(rest)];
            a.result = (lanes >> a.source & 1) ? w.lane[a.source].value : (uint64_t)IH_EMULATED_POISON << 32 | IH_EMULATED_POISON;
        }
        return;
    }
    if (op == IH_EMULATED_MATCH_ANY) {
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            Lane &a  = w.lane[__builtin_ctz(rest)];
            a.result = 0;
            for (uint32_t others = lanes; others; others &= others - 1)
                if (w.lane[__builtin_ctz(others)].value == a.value) a.result |= others & -others;
        }
        return;
    }
    if (op == IH_EMULATED_BALLOT) all = all << __builtin_ctz(lanes);
    bool equal = true;
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) {
        const int      k = __builtin_ctz(rest);
        const uint64_t v = w.lane[k].value;
        equal            = equal && v == all;
        switch (op) {
        case IH_EMULATED_BALLOT: all |= v << k; break;
        case IH_EMULATED_ADD: all += v; break;
        case IH_EMULATED_MIN: all = v < all ? v : all; break;
        case IH_EMULATED_MAX: all = v > all ? v : all; break;
        case IH_EMULATED_MIN_SIGNED: all = (int64_t)v < (int64_t)all ? v : all; break;
        case IH_EMULATED_MAX_SIGNED: all = (int64_t)v > (int64_t)all ? v : all; break;
        case IH_EMULATED_AND: all &= v; break;
        case IH_EMULATED_OR: all |= v; break;
        case IH_EMULATED_XOR: all ^= v; break;
        default: break;
        }
    }
    if (op == IH_EMULATED_MATCH_ALL) all = equal ? lanes : 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) w.lane[__builtin_ctz(rest)].result = all;
}

/* If all live lanes of the mask have come, let them go on. */
bool warp_complete(Warp &w, unsigned mask)
{
    const uint32_t lanes = mask & w.live;
    if (!lanes || (w.waiting & lanes) != lanes) return false;
    const Lane &first = w.lane[__builtin_ctz(lanes)];
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const Lane &other = w.lane[__builtin_ctz(rest)];
        if (other.op == first.op && other.mask == first.mask) continue;
        where();
        fprintf(stderr, "lanes of one mask in different functions: lane %d in %s with mask %08x, lane %d in %s with mask %08x\n",
                __builtin_ctz(lanes), op_names[first.op], first.mask, __builtin_ctz(rest), op_names[other.op], other.mask);
        abort();
    }
    warp_result(w, lanes);
    w.waiting &= ~lanes;
    w.ready |= lanes;
    return true;
}

bool barrier_complete(void)
{
    if (n_barrier == 0 || n_barrier != n_live) return false;
    barrier_result = barrier_kind == IH_EMULATED_ALL_OF ? barrier_sum == n_barrier : barrier_kind == IH_EMULATED_ANY_OF ? barrier_sum > 0 : barrier_sum;
    n_barrier = barrier_sum = 0;
    for (int i = 0; i < n_warps; i++) {
        warps[i].ready |= warps[i].at_barrier;
        warps[i].at_barrier = 0;
    }
    return true;
}

void thread_main(void)
{
    call->thread();
    Warp          &w   = warps[current / 32];
    const uint32_t bit = 1u << (current % 32);
    w.live &= ~bit;
    w.ready &= ~bit;
    n_live--;
    /* Others may have waited for this one only. */
    for (uint32_t rest = w.waiting; rest; rest &= rest - 1) {
        const int k = __builtin_ctz(rest);
        if (w.waiting >> k & 1) warp_complete(w, w.lane[k].mask);
    }
    barrier_complete();
    if (n_live == 0) ih_fiber_exit(&host);
    const int next = choose();
    if (next < 0) stuck();
    current              = next;
    ih_emulated_thread.x = (unsigned)next;
    ih_fiber_exit(&fibers[next]);
}

void run_block(unsigned block)
{
    const int n = (int)call->block;
    ih_emulated_block.x = block;
    ih_emulated_poison(shared_memory, call->shared);
    n_warps = (n + 31) / 32;
    n_live  = n;
    n_barrier = barrier_sum = 0;
    for (int i = 0; i < n_warps; i++) {
        const uint32_t lanes = n - i * 32 >= 32 ? 0xffffffffu : (1u << (n - i * 32)) - 1;
        warps[i].live = warps[i].ready = lanes;
        warps[i].waiting = warps[i].at_barrier = 0;
    }
    for (int i = 0; i < n; i++) ih_fiber_prepare(&fibers[i], thread_main);
    current = ih_emulated_shuffled ? choose() : 0;
    ih_emulated_thread.x = (unsigned)current;
    ih_fiber_switch(&host, &fibers[current]);
}

} // namespace

void ih_emulated_poison(void *p, size_t bytes)
{
    const uint32_t pattern = IH_EMULATED_POISON;
    unsigned char *to      = (unsigned char *)p;
    size_t         i       = 0;
    for (; i + 4 <= bytes; i += 4) memcpy(to + i, &pattern, 4);
    memcpy(to + i, &pattern, bytes - i);
}

unsigned char *ih_emulated_shared(void) { return shared_memory; }

void ih_emulated_trap(const char *why)
{
    where();
    fprintf(stderr, "%s\n", why);
    abort();
}

void ih_emulated_pause(void) /* the thread stays ready */
{
    if (call) go(choose(true));
}

uint64_t ih_emulated_warp(ih_emulated_op op, unsigned mask, uint64_t value, int source)
{
    if (!call) abort(); /* a device function called by the host */
    Warp          &w   = warps[current / 32];
    const uint32_t bit = 1u << (current % 32);
    Lane          &own = w.lane[current % 32];
    if (!(mask & bit)) {
        where();
        fprintf(stderr, "%s with mask %08x, without the lane that calls it\n", op_names[op], mask);
        abort();
    }
    own.op     = op;
    own.mask   = mask;
    own.value  = value;
    own.source = source & 31;
    w.waiting |= bit;
    w.ready &= ~bit;
    if (!warp_complete(w, mask)) wait_for_others();
    else if (ih_emulated_shuffled) ih_emulated_pause();
    return own.result;
}

int ih_emulated_wait(ih_emulated_barrier kind, int predicate)
{
    if (!call) abort();
    if (n_barrier > 0 && kind != barrier_kind) {
        where();
        fprintf(stderr, "%s, but others of the block wait at %s\n", barrier_names[kind], barrier_names[barrier_kind]);
        abort();
    }
    Warp          &w   = warps[current / 32];
    const uint32_t bit = 1u << (current % 32);
    barrier_kind       = kind;
    barrier_sum += predicate != 0;
    n_barrier++;
    w.at_barrier |= bit;
    w.ready &= ~bit;
    if (!barrier_complete()) wait_for_others();
    else if (ih_emulated_shuffled) ih_emulated_pause();
    return barrier_result;
}

void ih_emulated_run(const ih_emulated_call &c)
{
    const char    *text = getenv("IH_EMULATED_SEED");
    const uint64_t seed = text ? strtoull(text, nullptr, 10) : 0;
    ih_emulated_shuffled = seed != 0;
    random_state        = seed * 0x9e3779b97f4a7c15ull + 1;
    void *memory        = nullptr; /* not rounded up: the address sanitizer sees where it ends */
    if (posix_memalign(&memory, 128, c.shared ? c.shared : 1) != 0) abort();
    shared_memory          = (unsigned char *)memory;
    ih_emulated_grid_size  = dim3(c.grid);
    ih_emulated_block_size = dim3(c.block);
    call                   = &c;

    std::vector<unsigned> order;
    if (ih_emulated_shuffled) {
        order.resize(c.grid);
        for (unsigned i = 0; i < c.grid; i++) {
            const unsigned k = draw(i + 1);
            order[i]         = order[k];
            order[k]         = i;
        }
    }
    for (unsigned i = 0; i < c.grid; i++) run_block(ih_emulated_shuffled ? order[i] : i);
    call = nullptr;
    free(shared_memory);
    shared_memory = nullptr;
}
