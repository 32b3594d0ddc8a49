/* SPDX-License-Identifier: Apache-2.0
 * pav_tmpl.c: cpu_pav's solver for one dtype (IH_REAL_BITS) and one instruction set (PAV_ISA, and the compiler's flags);
 * compiled once for each. Unweighted and weighted rows are two instances of the same text. */
#include "pav.h"
#include "simd.h"

#if IH_REAL_BITS == 32
typedef float real;
#  define PAV_BITS f32
#else
typedef double real;
#  define PAV_BITS f64
#endif

#define PAV_JOIN3_(a, b, c) a##_##b##_##c
#define PAV_JOIN3(a, b, c) PAV_JOIN3_(a, b, c)

#define PAV_U 0x1p-53

#define PAV_WEIGHTED 0
#define PAV_TINY 0.0 /* sums of doubles do not underflow, and counts are whole numbers */
#define FN(name) unweighted_##name
#include "pav_row.h"
#undef PAV_WEIGHTED
#undef PAV_TINY
#undef FN

#define PAV_WEIGHTED 1
#if IH_REAL_BITS == 32
#  define PAV_TINY 0.0 /* products of floats and their sums are normal doubles, or 0 */
#else
#  define PAV_TINY 0x1p-1060 /* more than a few underflowing products can lose */
#endif
#define FN(name) weighted_##name
#include "pav_row.h"

pav_end PAV_JOIN3(pav_solve, PAV_BITS, PAV_ISA)(pav_job *job)
{
    return job->row.w ? weighted_solve(job) : unweighted_solve(job);
}
