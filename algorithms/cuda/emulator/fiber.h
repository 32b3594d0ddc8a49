/* SPDX-License-Identifier: Apache-2.0
 * Fibers of the emulator: functions with their own stacks that hand over to each other. */
#ifndef IH_EMULATED_FIBER_H
#define IH_EMULATED_FIBER_H

#include <cstddef>

struct ih_fiber {
    void  *sp;    /* saved stack pointer (or context) while it does not run */
    char  *stack; /* lowest address; the host's is found out by the sanitizer */
    size_t bytes;
    void  *fake;  /* of the address sanitizer */
    void (*main)(void);
};

/* Make f begin with main() when it is switched to; main must end by ih_fiber_exit. The stack is kept for the next time. */
void ih_fiber_prepare(ih_fiber *f, void (*main)(void));
void ih_fiber_switch(ih_fiber *from, ih_fiber *to);
[[noreturn]] void ih_fiber_exit(ih_fiber *to);

#endif
