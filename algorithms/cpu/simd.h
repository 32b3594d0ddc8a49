/* SPDX-License-Identifier: Apache-2.0
 * simd.h: a vector of doubles, as wide as the file that includes it is compiled for. Every operation rounds as the
 * scalar one does. Masks are bit masks, lane 0 in bit 0. v_prefix: lane l becomes the sum of lanes 0 .. l, added in some
 * order; v_last: the last lane in all; v_swap1, 2, 4: lane l takes lane l xor 1, 2, 4 (where there are so
 * many); v_any: is any bit of any lane set, signs apart? */
#ifndef IH_CPU_SIMD_H
#define IH_CPU_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#  include <immintrin.h>
enum { VL = 8 };
typedef __m512d vd;
static inline vd       v_set1(double a) { return _mm512_set1_pd(a); }
static inline vd       v_load64(const double *p) { return _mm512_loadu_pd(p); }
static inline vd       v_load32(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
static inline void     v_store(double *p, vd a) { _mm512_storeu_pd(p, a); }
static inline vd       v_add(vd a, vd b) { return _mm512_add_pd(a, b); }
static inline vd       v_sub(vd a, vd b) { return _mm512_sub_pd(a, b); }
static inline vd       v_mul(vd a, vd b) { return _mm512_mul_pd(a, b); }
static inline vd       v_min(vd a, vd b) { return _mm512_min_pd(a, b); }
static inline vd       v_max(vd a, vd b) { return _mm512_max_pd(a, b); }
static inline vd       v_xor(vd a, vd b) { return _mm512_xor_pd(a, b); }
static inline vd       v_or(vd a, vd b) { return _mm512_or_pd(a, b); }
static inline vd       v_abs(vd a) { return _mm512_andnot_pd(_mm512_set1_pd(-0.0), a); }
static inline uint32_t v_gt(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
static inline vd       v_prod_error(vd a, vd b, vd p) { return _mm512_fmsub_pd(a, b, p); }
static inline vd       v_swap1(vd a) { return _mm512_permute_pd(a, 0x55); }
static inline vd       v_swap2(vd a) { return _mm512_permutex_pd(a, 0x4e); }
static inline vd       v_swap4(vd a) { return _mm512_shuffle_f64x2(a, a, 0x4e); }
static inline double   v_first(vd a) { return _mm512_cvtsd_f64(a); }
static inline int      v_any(vd a) { return _mm512_test_epi64_mask(_mm512_castpd_si512(v_abs(a)), _mm512_set1_epi64(-1)) != 0; }
static inline vd       v_last(vd a) { return _mm512_permutexvar_pd(_mm512_set1_epi64(7), a); }
static inline vd       v_prefix(vd a)
{
    const __m512i zero = _mm512_setzero_si512();
    a = _mm512_add_pd(a, _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(a), zero, 7)));
    a = _mm512_add_pd(a, _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(a), zero, 6)));
    return _mm512_add_pd(a, _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(a), zero, 4)));
}
#elif defined(__AVX2__) && defined(__FMA__)
#  include <immintrin.h>
enum { VL = 4 };
typedef __m256d vd;
static inline vd       v_set1(double a) { return _mm256_set1_pd(a); }
static inline vd       v_load64(const double *p) { return _mm256_loadu_pd(p); }
static inline vd       v_load32(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
static inline void     v_store(double *p, vd a) { _mm256_storeu_pd(p, a); }
static inline vd       v_add(vd a, vd b) { return _mm256_add_pd(a, b); }
static inline vd       v_sub(vd a, vd b) { return _mm256_sub_pd(a, b); }
static inline vd       v_mul(vd a, vd b) { return _mm256_mul_pd(a, b); }
static inline vd       v_min(vd a, vd b) { return _mm256_min_pd(a, b); }
static inline vd       v_max(vd a, vd b) { return _mm256_max_pd(a, b); }
static inline vd       v_xor(vd a, vd b) { return _mm256_xor_pd(a, b); }
static inline vd       v_or(vd a, vd b) { return _mm256_or_pd(a, b); }
static inline vd       v_abs(vd a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
static inline uint32_t v_gt(vd a, vd b) { return (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)); }
static inline vd       v_prod_error(vd a, vd b, vd p) { return _mm256_fmsub_pd(a, b, p); }
static inline vd       v_swap1(vd a) { return _mm256_permute_pd(a, 0x5); }
static inline vd       v_swap2(vd a) { return _mm256_permute2f128_pd(a, a, 1); }
static inline vd       v_swap4(vd a) { return a; }
static inline double   v_first(vd a) { return _mm256_cvtsd_f64(a); }
static inline int      v_any(vd a) { return !_mm256_testz_si256(_mm256_castpd_si256(v_abs(a)), _mm256_set1_epi64x(-1)); }
static inline vd       v_last(vd a) { return _mm256_permute4x64_pd(a, 0xff); }
static inline vd       v_prefix(vd a)
{
    const vd up = _mm256_blend_pd(_mm256_permute4x64_pd(a, 0x90), _mm256_setzero_pd(), 1);
    a = _mm256_add_pd(a, up);
    return _mm256_add_pd(a, _mm256_permute2f128_pd(a, a, 0x08));
}
#elif defined(__SSE2__)
#  include <emmintrin.h>
enum { VL = 2 };
typedef __m128d vd;
static inline vd       v_set1(double a) { return _mm_set1_pd(a); }
static inline vd       v_load64(const double *p) { return _mm_loadu_pd(p); }
static inline vd       v_load32(const float *p) { return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)p))); }
static inline void     v_store(double *p, vd a) { _mm_storeu_pd(p, a); }
static inline vd       v_add(vd a, vd b) { return _mm_add_pd(a, b); }
static inline vd       v_sub(vd a, vd b) { return _mm_sub_pd(a, b); }
static inline vd       v_mul(vd a, vd b) { return _mm_mul_pd(a, b); }
static inline vd       v_min(vd a, vd b) { return _mm_min_pd(a, b); }
static inline vd       v_max(vd a, vd b) { return _mm_max_pd(a, b); }
static inline vd       v_xor(vd a, vd b) { return _mm_xor_pd(a, b); }
static inline vd       v_or(vd a, vd b) { return _mm_or_pd(a, b); }
static inline vd       v_abs(vd a) { return _mm_andnot_pd(_mm_set1_pd(-0.0), a); }
static inline uint32_t v_gt(vd a, vd b) { return (uint32_t)_mm_movemask_pd(_mm_cmpgt_pd(a, b)); }
static inline vd       v_swap1(vd a) { return _mm_shuffle_pd(a, a, 1); }
static inline vd       v_swap2(vd a) { return a; }
static inline vd       v_swap4(vd a) { return a; }
static inline double   v_first(vd a) { return _mm_cvtsd_f64(a); }
static inline int      v_any(vd a) { return _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_castpd_si128(v_abs(a)), _mm_setzero_si128())) != 0xffff; }
static inline vd       v_last(vd a) { return _mm_unpackhi_pd(a, a); }
static inline vd       v_prefix(vd a) { return _mm_add_pd(a, _mm_unpacklo_pd(_mm_setzero_pd(), a)); }
#  define IH_SIMD_DEKKER 1
#else
enum { VL = 1 };
typedef double vd;
static inline vd       v_set1(double a) { return a; }
static inline vd       v_load64(const double *p) { return *p; }
static inline vd       v_load32(const float *p) { return (double)*p; }
static inline void     v_store(double *p, vd a) { *p = a; }
static inline vd       v_add(vd a, vd b) { return a + b; }
static inline vd       v_sub(vd a, vd b) { return a - b; }
static inline vd       v_mul(vd a, vd b) { return a * b; }
static inline vd       v_min(vd a, vd b) { return a < b ? a : b; }
static inline vd       v_max(vd a, vd b) { return a > b ? a : b; }
static inline vd       v_abs(vd a) { return fabs(a); }
static inline uint32_t v_gt(vd a, vd b) { return a > b; }
static inline vd       v_prod_error(vd a, vd b, vd p) { return fma(a, b, -p); }
static inline vd       v_swap1(vd a) { return a; }
static inline vd       v_swap2(vd a) { return a; }
static inline vd       v_swap4(vd a) { return a; }
static inline double   v_first(vd a) { return a; }
static inline int      v_any(vd a) { return a != 0; }
static inline vd       v_last(vd a) { return a; }
static inline vd       v_prefix(vd a) { return a; }
static inline uint64_t v_bits(vd a) { uint64_t u; memcpy(&u, &a, 8); return u; }
static inline vd       v_of_bits(uint64_t u) { vd a; memcpy(&a, &u, 8); return a; }
static inline vd       v_xor(vd a, vd b) { return v_of_bits(v_bits(a) ^ v_bits(b)); }
static inline vd       v_or(vd a, vd b) { return v_of_bits(v_bits(a) | v_bits(b)); }
#endif

/* Raw vectors of the row's own type for writing past the caches: VR64 or VR32 elements, aligned stores. */
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#  define IH_SIMD_STREAM 1
enum { VR64 = 8, VR32 = 16 };
typedef __m512d vr64;
typedef __m512  vr32;
static inline vr64 vr64_set1(double a) { return _mm512_set1_pd(a); }
static inline vr64 vr64_load(const double *p) { return _mm512_loadu_pd(p); }
static inline vr64 vr64_clip(vr64 v, vr64 lo, vr64 hi) { return _mm512_min_pd(hi, _mm512_max_pd(lo, _mm512_add_pd(v, _mm512_setzero_pd()))); }
static inline void vr64_stream(double *p, vr64 a) { _mm512_stream_pd(p, a); }
static inline vr32 vr32_set1(float a) { return _mm512_set1_ps(a); }
static inline vr32 vr32_load(const float *p) { return _mm512_loadu_ps(p); }
static inline vr32 vr32_clip(vr32 v, vr32 lo, vr32 hi) { return _mm512_min_ps(hi, _mm512_max_ps(lo, _mm512_add_ps(v, _mm512_setzero_ps()))); }
static inline void vr32_stream(float *p, vr32 a) { _mm512_stream_ps(p, a); }
#elif defined(__SSE2__)
#  define IH_SIMD_STREAM 1
enum { VR64 = 2, VR32 = 4 };
typedef __m128d vr64;
typedef __m128  vr32;
static inline vr64 vr64_set1(double a) { return _mm_set1_pd(a); }
static inline vr64 vr64_load(const double *p) { return _mm_loadu_pd(p); }
static inline vr64 vr64_clip(vr64 v, vr64 lo, vr64 hi) { return _mm_min_pd(hi, _mm_max_pd(lo, _mm_add_pd(v, _mm_setzero_pd()))); }
static inline void vr64_stream(double *p, vr64 a) { _mm_stream_pd(p, a); }
static inline vr32 vr32_set1(float a) { return _mm_set1_ps(a); }
static inline vr32 vr32_load(const float *p) { return _mm_loadu_ps(p); }
static inline vr32 vr32_clip(vr32 v, vr32 lo, vr32 hi) { return _mm_min_ps(hi, _mm_max_ps(lo, _mm_add_ps(v, _mm_setzero_ps()))); }
static inline void vr32_stream(float *p, vr32 a) { _mm_stream_ps(p, a); }
#endif

#if defined(IH_SIMD_DEKKER)
/* Without a fused multiply-add: Dekker's product. Exact while no part overflows (|a|, |b| < 2^996) or underflows. */
static inline vd v_split_high(vd a)
{
    const vd c = v_mul(a, v_set1(134217729.0)); /* 2^27 + 1 */
    return v_sub(c, v_sub(c, a));
}

static inline vd v_prod_error(vd a, vd b, vd p)
{
    const vd ah = v_split_high(a), al = v_sub(a, ah), bh = v_split_high(b), bl = v_sub(b, bh);
    return v_add(v_add(v_add(v_sub(v_mul(ah, bh), p), v_mul(ah, bl)), v_mul(al, bh)), v_mul(al, bl));
}

static inline double prod_error(double a, double b, double p)
{
    double lane[2];
    v_store(lane, v_prod_error(v_set1(a), v_set1(b), v_set1(p)));
    return lane[0];
}
#else
static inline double prod_error(double a, double b, double p) { return fma(a, b, -p); }
#endif

/* fmax and fmin without their rules for NaN, which cost a call. */
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

static inline double sum_error(double a, double b, double s)
{
    const double bb = s - a;
    return (a - (s - bb)) + (b - bb);
}

static inline vd v_sum_error(vd a, vd b, vd s)
{
    const vd bb = v_sub(s, a);
    return v_add(v_sub(a, v_sub(s, bb)), v_sub(b, bb));
}

/* A step of a tree over the lanes of pairs s + lo: every lane ends with the sum of it and its partner. */
static inline void v_fold_step(vd *s, vd *lo, vd *lost, vd s_partner, vd lo_partner)
{
    const vd sum = v_add(*s, s_partner), err = v_sum_error(*s, s_partner, sum);
    *lo   = v_add(v_add(*lo, lo_partner), err);
    *lost = v_add(*lost, v_abs(err));
    *s    = sum;
}

/* The sum of all lanes, in every lane; every error term is added to lost, in two lanes or more. */
static inline void v_fold(vd *s, vd *lo, vd *lost)
{
    if (VL > 1) v_fold_step(s, lo, lost, v_swap1(*s), v_swap1(*lo));
    if (VL > 2) v_fold_step(s, lo, lost, v_swap2(*s), v_swap2(*lo));
    if (VL > 4) v_fold_step(s, lo, lost, v_swap4(*s), v_swap4(*lo));
}

static inline double v_least(vd a)
{
    if (VL > 1) a = v_min(a, v_swap1(a));
    if (VL > 2) a = v_min(a, v_swap2(a));
    if (VL > 4) a = v_min(a, v_swap4(a));
    return v_first(a);
}

static inline double v_greatest(vd a)
{
    if (VL > 1) a = v_max(a, v_swap1(a));
    if (VL > 2) a = v_max(a, v_swap2(a));
    if (VL > 4) a = v_max(a, v_swap4(a));
    return v_first(a);
}

static inline double v_total(vd a)
{
    if (VL > 1) a = v_add(a, v_swap1(a));
    if (VL > 2) a = v_add(a, v_swap2(a));
    if (VL > 4) a = v_add(a, v_swap4(a));
    return v_first(a);
}

#endif
