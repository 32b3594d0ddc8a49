/* SPDX-License-Identifier: Apache-2.0
 * Between the two halves of the emulator: the host interface (runtime.cpp) and the fibers that run a kernel (emulator.cpp). */
#ifndef IH_EMULATOR_H
#define IH_EMULATOR_H

#include <cstddef>
#include <cstdint>
#include <functional>

/* The pattern of memory that nobody wrote: a NaN as float and as double, a large number as an integer. */
enum : uint32_t { IH_EMULATED_POISON = 0x7ff4deadu };
void ih_emulated_poison(void *p, size_t bytes);

struct ih_emulated_call {
    const char           *name;
    unsigned              grid, block;
    size_t                shared;
    std::function<void()> thread;
};
/* Run a kernel to its end. */
void ih_emulated_run(const ih_emulated_call &call);

#endif
