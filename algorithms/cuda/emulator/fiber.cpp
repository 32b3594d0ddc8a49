/* SPDX-License-Identifier: Apache-2.0
 * Switching between stacks: a few instructions on x86-64, ucontext elsewhere; the address sanitizer is told of each switch. */
#include "fiber.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#  define IH_FIBER_ASAN 1
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define IH_FIBER_ASAN 1
#  endif
#endif
#if defined(IH_FIBER_ASAN)
#  include <sanitizer/common_interface_defs.h>
#endif

#if !defined(IH_FIBER_UCONTEXT) && (!defined(__x86_64__) || defined(__SHSTK__))
#  define IH_FIBER_UCONTEXT 1
#endif
#if defined(IH_FIBER_UCONTEXT)
#  include <ucontext.h>
#endif

static ih_fiber *running;     /* set just before a switch, read by the one switched to */
static ih_fiber *came_from;

enum { STACK_BYTES = 256 << 10, GUARD_BYTES = 4096 };

static void after_switch(void *fake)
{
#if defined(IH_FIBER_ASAN)
    const void *bottom = nullptr;
    size_t      bytes  = 0;
    __sanitizer_finish_switch_fiber(fake, &bottom, &bytes);
    if (came_from && !came_from->main) { /* the host's own stack */
        came_from->stack = (char *)const_cast<void *>(bottom);
        came_from->bytes = bytes;
    }
#else
    (void)fake;
#endif
}

static void begin(void)
{
    after_switch(nullptr);
    running->main();
    abort(); /* main() does not return */
}

#if !defined(IH_FIBER_UCONTEXT)
/* Saves what a called function must keep, changes stacks, and takes the same from there. */
extern "C" void ih_fiber_swap(void **save, void *sp);
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden ih_fiber_swap\n"
        ".globl ih_fiber_swap\n"
        ".type ih_fiber_swap,@function\n"
        "ih_fiber_swap:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size ih_fiber_swap, .-ih_fiber_swap\n");
static void swap(ih_fiber *from, ih_fiber *to) { ih_fiber_swap(&from->sp, to->sp); }
#else
static ucontext_t *context(ih_fiber *f)
{
    if (!f->sp && !(f->sp = calloc(1, sizeof(ucontext_t)))) abort();
    return (ucontext_t *)f->sp;
}
static void swap(ih_fiber *from, ih_fiber *to) { swapcontext(context(from), context(to)); }
#endif

void ih_fiber_prepare(ih_fiber *f, void (*main)(void))
{
    if (!f->stack) {
        char *p = (char *)mmap(nullptr, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (p == (char *)MAP_FAILED || mprotect(p, GUARD_BYTES, PROT_NONE) != 0) {
            fprintf(stderr, "CUDA emulator: no memory for the stacks of a block's threads\n");
            abort();
        }
        f->stack = p + GUARD_BYTES;
        f->bytes = STACK_BYTES;
    }
    f->main = main;
    f->fake = nullptr;
#if !defined(IH_FIBER_UCONTEXT)
    void **top = (void **)(void *)(f->stack + STACK_BYTES);
    *--top     = nullptr; /* return address of begin(): a backtrace ends here */
    *--top     = (void *)begin;
    for (int i = 0; i < 6; i++) *--top = nullptr;
    f->sp = top;
#else
    getcontext(context(f));
    context(f)->uc_stack.ss_sp   = f->stack;
    context(f)->uc_stack.ss_size = STACK_BYTES;
    context(f)->uc_link          = nullptr;
    makecontext(context(f), begin, 0);
#endif
}

void ih_fiber_switch(ih_fiber *from, ih_fiber *to)
{
    came_from = from;
    running   = to;
#if defined(IH_FIBER_ASAN)
    __sanitizer_start_switch_fiber(&from->fake, to->stack, to->bytes);
#endif
    swap(from, to);
    after_switch(from->fake);
}

void ih_fiber_exit(ih_fiber *to)
{
    static ih_fiber ended = { nullptr, nullptr, 0, nullptr, begin }; /* its saved state is never used */
    came_from = &ended;
    running   = to;
#if defined(IH_FIBER_ASAN)
    __sanitizer_start_switch_fiber(nullptr, to->stack, to->bytes);
#endif
    swap(&ended, to);
    abort();
}
