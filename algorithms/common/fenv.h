/* SPDX-License-Identifier: Apache-2.0
 * fenv.h: the floating-point environment every host solver runs in: round to nearest, gradual underflow, no traps.
 * The caller's environment is saved and restored by the public calls; worker threads enter it for themselves. */
#ifndef IH_COMMON_FENV_H
#define IH_COMMON_FENV_H

#include <stdint.h>

#if defined(__x86_64__) || defined(_M_X64)
#  include <xmmintrin.h>
typedef struct ih_fenv { uint32_t mxcsr; } ih_fenv;

static inline ih_fenv ih_fenv_enter(void)
{
    const ih_fenv saved = { _mm_getcsr() };
    _mm_setcsr(0x1f80); /* all exceptions masked, to nearest, neither flush-to-zero nor denormals-are-zero */
    return saved;
}

static inline void ih_fenv_leave(ih_fenv saved) { _mm_setcsr(saved.mxcsr); }
#elif defined(__aarch64__)
typedef struct ih_fenv { uint64_t fpcr, fpsr; } ih_fenv;

static inline ih_fenv ih_fenv_enter(void)
{
    ih_fenv        saved;
    const uint64_t none = 0; /* to nearest, no flush-to-zero, no traps */
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(saved.fpcr), "=r"(saved.fpsr) : : "memory");
    __asm__ volatile("msr fpcr, %0" : : "r"(none) : "memory");
    return saved;
}

static inline void ih_fenv_leave(ih_fenv saved)
{
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(saved.fpcr), "r"(saved.fpsr) : "memory");
}
#else
#  include <fenv.h>
typedef struct ih_fenv { fenv_t env; } ih_fenv;

static inline ih_fenv ih_fenv_enter(void)
{
    ih_fenv saved;
    fegetenv(&saved.env);
    fesetenv(FE_DFL_ENV);
    return saved;
}

static inline void ih_fenv_leave(ih_fenv saved) { fesetenv(&saved.env); }
#endif

#endif
