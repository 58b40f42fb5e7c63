// Declarations and functions that kernels in C use.
// backend/parts.h says what `//@` and `//` are.

//@ HEAD
/* Compile with -ffp-contract=off: multiplications and additions are not to be contracted; and with
   -fno-tree-slp-vectorize: GCC 12's straight-line vectoriser loses the rounding in (double)(float)x;
   and with -fno-delete-null-pointer-checks: it takes sums of places for NULL, and leaves their loops out.
   Loops are faster with -O3 -march=native -fno-math-errno -fno-trapping-math. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that cannot be vectorised is no fault */
#pragma clang diagnostic ignored "-Wunused-function" /* helpers for processors with fewer instructions */
#elif defined __GNUC__ /* quotients compared; what one loop fills and another reads, which GCC may not see */
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#if defined __GNUC__
#define FCL_BLOCK __attribute__((noinline)) /* keeps what `restrict` says about its parameters */
#define FCL_ALIGNED(bytes) __attribute__((aligned(bytes)))
#else
#define FCL_BLOCK
#define FCL_ALIGNED(bytes)
#endif
#if defined __clang__
#define FCL_UNROLL _Pragma("unroll")
#define FCL_SCALAR _Pragma("clang loop vectorize(disable)")
#elif defined __GNUC__
#define FCL_UNROLL _Pragma("GCC unroll 128")
#define FCL_SCALAR
#else
#define FCL_UNROLL
#define FCL_SCALAR
#endif
#if defined _OPENMP || defined FCL_OPENMP_SIMD /* as where -fopenmp-simd is given */
#define FCL_SIMD _Pragma("omp simd")
#else
#define FCL_SIMD
#endif
#if defined __clang__ /* clang 15 begins anew with an index where it goes on with shorter vectors than 16 */
#define FCL_EIGHT _Pragma("clang loop vectorize_width(8)")
#define FCL_SIMD_EIGHT _Pragma("clang loop vectorize(assume_safety) vectorize_width(8)")
#else
#define FCL_EIGHT
#define FCL_SIMD_EIGHT FCL_SIMD
#endif

//@ VECTORS
// Vectors, as extensions of GCC and Clang have them, with what OpenCL C has built in: note [width] in map/vectors.c.
#if defined __clang__ || __GNUC__ >= 9 /* convertvector */
#pragma GCC diagnostic ignored "-Wpsabi" /* of functions in this file only */
#define FCL_INLINE static inline __attribute__((always_inline, unused))
/* Elements of 4 bytes in a vector: GCC keeps vectors in memory that are larger than a register. */
#if defined __AVX512F__ || defined __clang__
#define FCL_WIDTH 16
#define FCL_ALL(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}
#define FCL_LANES ((fcl_int_vec){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#elif defined __AVX2__
#define FCL_WIDTH 8
#define FCL_ALL(x) {x, x, x, x, x, x, x, x}
#define FCL_LANES ((fcl_int_vec){0, 1, 2, 3, 4, 5, 6, 7})
#else
#define FCL_WIDTH 4
#define FCL_ALL(x) {x, x, x, x}
#define FCL_LANES ((fcl_int_vec){0, 1, 2, 3})
#endif
typedef float fcl_float_vec __attribute__((vector_size(4 * FCL_WIDTH)));
typedef int fcl_int_vec __attribute__((vector_size(4 * FCL_WIDTH)));
typedef uint32_t fcl_uint_vec __attribute__((vector_size(4 * FCL_WIDTH)));
typedef uint8_t fcl_u8_vec __attribute__((vector_size(FCL_WIDTH)));
typedef float fcl_floats_at __attribute__((vector_size(4 * FCL_WIDTH), aligned(4), may_alias));
typedef int fcl_ints_at __attribute__((vector_size(4 * FCL_WIDTH), aligned(4), may_alias));
typedef uint32_t fcl_uint32_ts_at __attribute__((vector_size(4 * FCL_WIDTH), aligned(4), may_alias));
typedef fcl_uint_vec fcl_uint32_t_vec;
#define FCL_MASK(x) (x) /* of comparisons: all bits of each lane, or none */
#define FCL_VECTOR(TYPE, at) ((fcl_##TYPE##_vec)*(const fcl_##TYPE##s_at *)(at))
#define fcl_vector_store(value, first, at)               \
    do {                                                 \
        const __typeof__(value) fcl_all = (value);       \
        memcpy((at) + (first), &fcl_all, sizeof fcl_all); \
    } while (0)
FCL_INLINE fcl_float_vec fcl_float_vec_of(float x) { return (fcl_float_vec)FCL_ALL(x); }
FCL_INLINE fcl_int_vec fcl_int_vec_of(int x) { return (fcl_int_vec)FCL_ALL(x); }
FCL_INLINE fcl_uint_vec fcl_uint_vec_of(uint32_t x) { return (fcl_uint_vec)FCL_ALL(x); }
FCL_INLINE fcl_u8_vec fcl_u8_vec_of(uint8_t x) { return (fcl_u8_vec)FCL_ALL(x); }
#define fcl_float_vec_from(x) __builtin_convertvector(x, fcl_float_vec)
#define fcl_u8_vec_from(x) __builtin_convertvector(x, fcl_u8_vec)
/* b where the lanes of c are all ones, else a */
#define fcl_vector_select(a, b, c) FCL_CHOSEN(__typeof__(a), a, b, c)
#define FCL_CHOSEN(TYPE, a, b, c) ((TYPE)fcl_chosen((fcl_int_vec)(a), (fcl_int_vec)(b), c))
FCL_INLINE fcl_int_vec fcl_chosen(fcl_int_vec a, fcl_int_vec b, fcl_int_vec c) { return (b & c) | (a & ~c); }
#define fcl_vector_signbit(x) ((fcl_int_vec)(x) < 0)
#define fcl_vector_fabs(x) ((fcl_float_vec)((fcl_int_vec)(x) & 0x7fffffff))
FCL_INLINE bool fcl_vector_any(fcl_int_vec x) {
#if FCL_WIDTH == 8
    return __builtin_ia32_movmskps256((fcl_float_vec)x) != 0;
#elif FCL_WIDTH == 16
    union {
        fcl_u8_vec all;
        uint64_t at[2];
    } u = {__builtin_convertvector(x, fcl_u8_vec)};
    return (u.at[0] | u.at[1]) != 0;
#else
    union {
        fcl_int_vec all;
        uint64_t at[2];
    } u = {x};
    return (u.at[0] | u.at[1]) != 0;
#endif
}
#define FCL_BY_LANES(name, function)                                   \
    FCL_INLINE fcl_float_vec fcl_vector_##name(fcl_float_vec x) {      \
        union {                                                        \
            fcl_float_vec all;                                         \
            float at[FCL_WIDTH];                                       \
        } u = {x};                                                     \
        FCL_SIMD                                                       \
        for (int i = 0; i < FCL_WIDTH; ++i)                            \
            u.at[i] = function(u.at[i]);                               \
        return u.all;                                                  \
    }
FCL_INLINE fcl_float_vec fcl_vector_fma(fcl_float_vec x, fcl_float_vec y, fcl_float_vec z) {
#if defined __FMA__ && !defined __clang__ && FCL_WIDTH == 8
    return __builtin_ia32_vfmaddps256(x, y, z);
#elif defined __FMA__ && !defined __clang__ && FCL_WIDTH == 16
    return __builtin_ia32_vfmaddps512_mask(x, y, z, (unsigned short)-1, 4);
#else
    union {
        fcl_float_vec all;
        float at[FCL_WIDTH];
    } a = {x}, b = {y}, c = {z};
    FCL_SIMD
    for (int i = 0; i < FCL_WIDTH; ++i)
        a.at[i] = fmaf(a.at[i], b.at[i], c.at[i]);
    return a.all;
#endif
}
#else /* vectors of one element, in loops that are too long to be unrolled then */
#undef FCL_UNROLL
#define FCL_UNROLL
#define FCL_WIDTH 1
#define FCL_INLINE static inline
#define FCL_LANES 0
#define FCL_MASK(x) (-(x))
typedef float fcl_float_vec;
typedef int fcl_int_vec;
typedef uint32_t fcl_uint_vec;
typedef uint8_t fcl_u8_vec;
#define FCL_VECTOR(TYPE, at) (*(at))
#define fcl_vector_store(value, first, at) ((at)[first] = (value))
#define fcl_float_vec_of(x) ((float)(x))
#define fcl_int_vec_of(x) ((int)(x))
#define fcl_uint_vec_of(x) ((uint32_t)(x))
#define fcl_u8_vec_of(x) ((uint8_t)(x))
#define fcl_float_vec_from(x) ((float)(x))
#define fcl_u8_vec_from(x) ((uint8_t)(x))
#define fcl_vector_select(a, b, c) ((c) ? (b) : (a))
#define fcl_vector_signbit(x) FCL_MASK(signbit(x) != 0)
#define fcl_vector_fabs(x) fabsf(x)
#define fcl_vector_any(x) ((x) != 0)
#define FCL_BY_LANES(name, function) FCL_INLINE float fcl_vector_##name(float x) { return function(x); }
#define fcl_vector_fma(x, y, z) fmaf(x, y, z)
#endif
FCL_BY_LANES(sqrt, sqrtf)
FCL_BY_LANES(floor, floorf)
FCL_BY_LANES(ceil, ceilf)
FCL_BY_LANES(trunc, truncf)
#define fcl_vector_rsqrt(x) (1.0f / fcl_vector_sqrt(x))
#define fcl_vector_min(a, b) fcl_vector_select(b, a, (a) < (b))
#define fcl_vector_max(a, b) fcl_vector_select(b, a, (b) < (a))

//@ SELECTIONS
// Note [selections] in map/selections.c: how many of the loop's rounds are done, 16 at a time. `at` is where the
// next element that is kept goes; those from min(end, length) on are dropped. The last one stays where the next
// belongs if it is not kept, as the loop would leave it.
#if defined __AVX512F__ && defined __has_builtin
#if __has_builtin(__builtin_ia32_compresssi512_mask) && __has_builtin(__builtin_ia32_storedqusi512_mask)
#define FCL_SELECTS
#endif
#endif
#ifdef FCL_SELECTS
typedef int fcl_v16 __attribute__((vector_size(64)));
typedef long long fcl_v8 __attribute__((vector_size(64)));
static inline int fcl_lanes(int64_t room, int count) {
    return room <= 0 ? 0 : (1 << (room < count ? (int)room : count)) - 1;
}
static inline void fcl_store_4(char *to, const char *from, int kept, int64_t room) {
    fcl_v16 x;
    memcpy(&x, from, sizeof x);
    x = __builtin_ia32_compresssi512_mask(x, (fcl_v16){0}, (unsigned short)kept);
    __builtin_ia32_storedqusi512_mask((void *)to, x, (unsigned short)fcl_lanes(room, __builtin_popcount(kept)));
}
static inline void fcl_store_8(char *to, const char *from, int kept, int64_t room) {
    for (int half = 0; half < 2; ++half) {
        const int own = kept >> 8 * half & 255, count = __builtin_popcount(own);
        fcl_v8 x;
        memcpy(&x, from + half * 64, sizeof x);
        x = __builtin_ia32_compressdi512_mask(x, (fcl_v8){0}, (unsigned char)own);
        __builtin_ia32_storedqudi512_mask((void *)to, x, (unsigned char)fcl_lanes(room, count));
        to += count * 8;
        room -= count;
    }
}
#define FCL_SELECT(bytes) \
    static inline int fcl_select_##bytes(const int *ones, int count, int *at, int end, int length, \
                                         const void *from, void *to) { \
        const int64_t limit = end < length ? end : length; \
        int done = 0, next = *at; \
        for (; next >= 0 && done + 16 <= count; done += 16) { \
            fcl_v16 one; \
            memcpy(&one, ones + done, sizeof one); \
            const int kept = __builtin_ia32_cmpd512_mask(one, (fcl_v16){0}, 4, (unsigned short)-1); \
            if (__builtin_ia32_cmpd512_mask(one & ~1, (fcl_v16){0}, 4, (unsigned short)-1)) \
                break; \
            fcl_store_##bytes((char *)to + (int64_t)next * bytes, (const char *)from + (int64_t)done * bytes, \
                              kept, limit - next); \
            next = (int)((uint32_t)next + (uint32_t)__builtin_popcount(kept)); \
        } \
        if (done && !ones[done - 1] && next >= 0 && next < limit) \
            memcpy((char *)to + (int64_t)next * bytes, (const char *)from + (int64_t)(done - 1) * bytes, bytes); \
        *at = next; \
        return done; \
    }
FCL_SELECT(4)
FCL_SELECT(8)
#else
#define fcl_select_4(ones, count, at, end, length, from, to) 0
#define fcl_select_8(ones, count, at, end, length, from, to) 0
#endif

//@ QUIRKS
MACROS_OF_QUIRKS
