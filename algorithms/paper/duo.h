/* SPDX-License-Identifier: Apache-2.0
 * duo.h: unevaluated sums of two numbers of the working type, float or double, as on a device (paper, Appendix B). */
#ifndef IH_PAPER_DUO_H
#define IH_PAPER_DUO_H

#include "../common/hd.h"
#include "../common/values.h"
#include "magnitude.h"

template <class T> struct duo { T hi, lo; };

#if defined(__CUDACC__)
#  define IH_HD_MEMBER __host__ __device__ __forceinline__
#else
#  define IH_HD_MEMBER inline
#endif

/* Unit roundoff of a working type. */
template <class T> struct unit;
template <> struct unit<float> { static constexpr float u = 0x1p-24f; };
template <> struct unit<double> { static constexpr double u = 0x1p-53; };

template <bool F32> struct working_type { typedef double type; };
template <> struct working_type<true> { typedef float type; };
template <int KIND> using working = typename working_type<(KIND & IH_KIND_F32) != 0>::type;

IH_HD float  magnitude(float v) { return fabsf(v); }
IH_HD double magnitude(double v) { return fabs(v); }
IH_HD float  fused(float a, float b, float c) { return fmaf(a, b, c); }
IH_HD double fused(double a, double b, double c) { return fma(a, b, c); }

IH_HD float  larger(float a, float b) { return fmaxf(a, b); }
IH_HD double larger(double a, double b) { return a > b ? a : b; }

/* v = 0 .. 2^22 as a T: a device adds faster than it converts. */
IH_HD double small_number(int32_t v, double) { return ih_small_double(v); }
IH_HD float  small_number(int32_t v, float)
{
#if defined(__CUDA_ARCH__)
    return __int_as_float(0x4b000000 | v) - 0x1p23f;
#else
    return (float)v;
#endif
}

IH_HD double widened(float v) { return ih_widen(v); }
IH_HD double widened(double v) { return v; }

template <class T> IH_HD T small_number(int32_t v) { return small_number(v, (T)0); }

template <class T> IH_HD duo<T> single(T v)
{
    const duo<T> r = { v, 0 };
    return r;
}

/* hi + lo of |hi| >= |lo|, renormalised. */
template <class T> IH_HD duo<T> renormal(T hi, T lo)
{
    duo<T> r;
    r.hi = hi + lo;
    r.lo = lo - (r.hi - hi);
    return r;
}

template <class T> IH_HD duo<T> exact_sum(T a, T b)
{
    const T s = a + b, t = s - a;
    const duo<T> r = { s, (a - (s - t)) + (b - t) };
    return r;
}

template <class T> IH_HD duo<T> plus(duo<T> a, T b)
{
    const duo<T> s = exact_sum(a.hi, b);
    return renormal(s.hi, s.lo + a.lo);
}

template <class T> IH_HD duo<T> plus(duo<T> a, duo<T> b)
{
    const duo<T> s = exact_sum(a.hi, b.hi);
    return renormal(s.hi, s.lo + (a.lo + b.lo));
}

template <class T> IH_HD duo<T> minus(duo<T> a, duo<T> b)
{
    const duo<T> s = exact_sum(a.hi, -b.hi);
    return renormal(s.hi, s.lo + (a.lo - b.lo));
}

template <class T> IH_HD duo<T> times(duo<T> a, duo<T> b)
{
    const T p = a.hi * b.hi;
    return renormal(p, fused(a.hi, b.hi, -p) + (a.hi * b.lo + a.lo * b.hi));
}

#endif
