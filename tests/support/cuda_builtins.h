// The types and functions of CUDA that are plain C++: vector types, mathematics, intrinsics.
// Included by the simulator's cuda_sim.h, for g++, and by cuda_shim.h, for clang's own CUDA; each
// defines __device__ first.
#pragma once

#define CUDA_FUNCTION __device__ static inline __attribute__((unused))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

// ---------------------------------------------------------------- vector types

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

#define CUDA_VECTORS(T, name)                                                                                          \
    struct name##1 {                                                                                                   \
        T x;                                                                                                           \
    };                                                                                                                 \
    struct __align__(2 * sizeof(T)) name##2 {                                                                          \
        T x, y;                                                                                                        \
    };                                                                                                                 \
    struct __align__(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 {                                                \
        T x, y, z, w;                                                                                                  \
    };                                                                                                                 \
    CUDA_FUNCTION name##1 make_##name##1(T x) { return {x}; }                                                          \
    CUDA_FUNCTION name##2 make_##name##2(T x, T y) { return {x, y}; }                                                  \
    CUDA_FUNCTION name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define CUDA_VECTOR3(T, name)                                                                                          \
    struct name##3 {                                                                                                   \
        T x, y, z;                                                                                                     \
    };                                                                                                                 \
    CUDA_FUNCTION name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
CUDA_VECTORS(signed char, char)
CUDA_VECTORS(unsigned char, uchar)
CUDA_VECTORS(short, short)
CUDA_VECTORS(unsigned short, ushort)
CUDA_VECTORS(int, int)
CUDA_VECTORS(unsigned, uint)
CUDA_VECTORS(long long, longlong)
CUDA_VECTORS(unsigned long long, ulonglong)
CUDA_VECTORS(float, float)
CUDA_VECTORS(double, double)
CUDA_VECTOR3(int, int)
CUDA_VECTOR3(float, float)
CUDA_VECTOR3(double, double)
CUDA_FUNCTION uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

// ---------------------------------------------------------------- mathematics

#define CUDA_MATH1(name)                                                                                               \
    extern "C" __device__ double name(double) noexcept;                                                                \
    extern "C" __device__ float name##f(float) noexcept;                                                               \
    CUDA_FUNCTION float name(float x) { return name##f(x); }
#define CUDA_MATH2(name)                                                                                               \
    extern "C" __device__ double name(double, double) noexcept;                                                        \
    extern "C" __device__ float name##f(float, float) noexcept;                                                        \
    CUDA_FUNCTION float name(float x, float y) { return name##f(x, y); }
CUDA_MATH1(acos)
CUDA_MATH1(acosh)
CUDA_MATH1(asin)
CUDA_MATH1(asinh)
CUDA_MATH1(atan)
CUDA_MATH1(atanh)
CUDA_MATH1(cbrt)
CUDA_MATH1(ceil)
CUDA_MATH1(cos)
CUDA_MATH1(cosh)
CUDA_MATH1(erf)
CUDA_MATH1(erfc)
CUDA_MATH1(exp)
CUDA_MATH1(exp2)
CUDA_MATH1(expm1)
CUDA_MATH1(fabs)
CUDA_MATH1(floor)
CUDA_MATH1(lgamma)
CUDA_MATH1(log)
CUDA_MATH1(log10)
CUDA_MATH1(log1p)
CUDA_MATH1(log2)
CUDA_MATH1(nearbyint)
CUDA_MATH1(rint)
CUDA_MATH1(round)
CUDA_MATH1(sin)
CUDA_MATH1(sinh)
CUDA_MATH1(sqrt)
CUDA_MATH1(tan)
CUDA_MATH1(tanh)
CUDA_MATH1(tgamma)
CUDA_MATH1(trunc)
CUDA_MATH2(atan2)
CUDA_MATH2(copysign)
CUDA_MATH2(fdim)
CUDA_MATH2(fmod)
CUDA_MATH2(hypot)
CUDA_MATH2(nextafter)
CUDA_MATH2(pow)
CUDA_MATH2(remainder)
extern "C" __device__ double fma(double, double, double) noexcept;
extern "C" __device__ float fmaf(float, float, float) noexcept;
extern "C" __device__ double ldexp(double, int) noexcept;
extern "C" __device__ float ldexpf(float, int) noexcept;
extern "C" __device__ long long llrint(double) noexcept;
extern "C" __device__ long lrint(double) noexcept;
extern "C" __device__ int abs(int) noexcept;
// Does what the hardware does: NaN loses, and -0 is below 0.
#define CUDA_EXTREME(T, name, sign, is_first)                                                                          \
    CUDA_FUNCTION T name(T x, T y) {                                                                                   \
        return y != y || x sign y || (x == y && (bool)__builtin_signbit(x) == is_first) ? x : y;                       \
    }
CUDA_EXTREME(float, fminf, <, true)
CUDA_EXTREME(float, fmaxf, >, false)
CUDA_EXTREME(float, fmin, <, true)
CUDA_EXTREME(float, fmax, >, false)
CUDA_EXTREME(double, fmin, <, true)
CUDA_EXTREME(double, fmax, >, false)
CUDA_FUNCTION float fma(float x, float y, float z) { return fmaf(x, y, z); }
CUDA_FUNCTION double rsqrt(double x) { return 1 / sqrt(x); }
CUDA_FUNCTION float rsqrtf(float x) { return 1 / sqrtf(x); }
CUDA_FUNCTION float rsqrt(float x) { return rsqrtf(x); }
CUDA_FUNCTION double exp10(double x) { return pow(10.0, x); }
CUDA_FUNCTION float exp10f(float x) { return powf(10.0f, x); }
CUDA_FUNCTION long long llabs(long long x) { return x < 0 ? -x : x; }
CUDA_FUNCTION long long abs(long long x) { return llabs(x); }
CUDA_FUNCTION float abs(float x) { return fabsf(x); }
CUDA_FUNCTION double abs(double x) { return fabs(x); }
#define CUDA_CLASSIFY(name)                                                                                            \
    CUDA_FUNCTION bool name(float x) { return __builtin_##name(x); }                                                   \
    CUDA_FUNCTION bool name(double x) { return __builtin_##name(x); }
CUDA_CLASSIFY(isnan)
CUDA_CLASSIFY(isinf)
CUDA_CLASSIFY(isfinite)
CUDA_CLASSIFY(signbit)

#define CUDA_EXTREMES(A, B, T)                                                                                         \
    CUDA_FUNCTION T min(A x, B y) { return (T)x < (T)y ? (T)x : (T)y; }                                                \
    CUDA_FUNCTION T max(A x, B y) { return (T)x > (T)y ? (T)x : (T)y; }
CUDA_EXTREMES(int, int, int)
CUDA_EXTREMES(unsigned, unsigned, unsigned)
CUDA_EXTREMES(int, unsigned, unsigned)
CUDA_EXTREMES(unsigned, int, unsigned)
CUDA_EXTREMES(long, long, long)
CUDA_EXTREMES(unsigned long, unsigned long, unsigned long)
CUDA_EXTREMES(long long, long long, long long)
CUDA_EXTREMES(unsigned long long, unsigned long long, unsigned long long)
CUDA_FUNCTION float min(float x, float y) { return fminf(x, y); }
CUDA_FUNCTION float max(float x, float y) { return fmaxf(x, y); }
CUDA_FUNCTION double min(double x, double y) { return fmin(x, y); }
CUDA_FUNCTION double max(double x, double y) { return fmax(x, y); }

// ---------------------------------------------------------------- intrinsics

#define CUDA_AS(name, from, to)                                                                                        \
    CUDA_FUNCTION to name(from x) {                                                                                    \
        to y;                                                                                                          \
        __builtin_memcpy(&y, &x, sizeof y);                                                                            \
        return y;                                                                                                      \
    }
CUDA_AS(__float_as_int, float, int)
CUDA_AS(__float_as_uint, float, unsigned)
CUDA_AS(__int_as_float, int, float)
CUDA_AS(__uint_as_float, unsigned, float)
CUDA_AS(__double_as_longlong, double, long long)
CUDA_AS(__longlong_as_double, long long, double)
#define CUDA_EQUALS(T, name, parameters, value)                                                                        \
    CUDA_FUNCTION T name parameters { return (T)(value); }
CUDA_EQUALS(int, __popc, (unsigned x), __builtin_popcount(x))
CUDA_EQUALS(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
CUDA_EQUALS(int, __clz, (int x), x ? __builtin_clz((unsigned)x) : 32)
CUDA_EQUALS(int, __clzll, (long long x), x ? __builtin_clzll((unsigned long long)x) : 64)
CUDA_EQUALS(int, __ffs, (int x), __builtin_ffs(x))
CUDA_EQUALS(int, __ffsll, (long long x), __builtin_ffsll(x))
CUDA_EQUALS(int, __mulhi, (int x, int y), (long long)x *y >> 32)
CUDA_EQUALS(unsigned, __umulhi, (unsigned x, unsigned y), (unsigned long long)x *y >> 32)
CUDA_EQUALS(long long, __mul64hi, (long long x, long long y), (__int128)x *y >> 64)
CUDA_EQUALS(unsigned long long, __umul64hi, (unsigned long long x, unsigned long long y), (unsigned __int128)x *y >> 64)
CUDA_EQUALS(int, __mul24, (int x, int y), (x << 8 >> 8) * (y << 8 >> 8))
CUDA_EQUALS(unsigned, __umul24, (unsigned x, unsigned y), (x & 0xFFFFFF) * (y & 0xFFFFFF))
CUDA_EQUALS(unsigned, __sad, (int x, int y, unsigned z), z + (x > y ? (unsigned)x - y : (unsigned)y - x))
CUDA_EQUALS(unsigned, __funnelshift_l, (unsigned low, unsigned high, unsigned by),
            ((unsigned long long)high << 32 | low) << (by & 31) >> 32)
CUDA_EQUALS(unsigned, __funnelshift_r, (unsigned low, unsigned high, unsigned by),
            ((unsigned long long)high << 32 | low) >> (by & 31))
CUDA_FUNCTION unsigned __brev(unsigned x) {
    unsigned y = 0;
    for (int i = 0; i < 32; i++)
        y |= (x >> i & 1) << (31 - i);
    return y;
}
CUDA_FUNCTION unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
CUDA_EQUALS(float, __fadd_rn, (float x, float y), x + y)
CUDA_EQUALS(float, __fsub_rn, (float x, float y), x - y)
CUDA_EQUALS(float, __fmul_rn, (float x, float y), x *y)
CUDA_EQUALS(float, __fdiv_rn, (float x, float y), x / y)
CUDA_EQUALS(float, __fmaf_rn, (float x, float y, float z), fmaf(x, y, z))
CUDA_EQUALS(float, __frcp_rn, (float x), 1 / x)
CUDA_EQUALS(float, __fsqrt_rn, (float x), sqrtf(x))
CUDA_EQUALS(double, __dadd_rn, (double x, double y), x + y)
CUDA_EQUALS(double, __dsub_rn, (double x, double y), x - y)
CUDA_EQUALS(double, __dmul_rn, (double x, double y), x *y)
CUDA_EQUALS(double, __ddiv_rn, (double x, double y), x / y)
CUDA_EQUALS(double, __fma_rn, (double x, double y, double z), fma(x, y, z))
CUDA_EQUALS(float, __fdividef, (float x, float y), x / y)
CUDA_EQUALS(float, __expf, (float x), expf(x))
CUDA_EQUALS(float, __logf, (float x), logf(x))
CUDA_EQUALS(float, __log2f, (float x), log2f(x))
CUDA_EQUALS(float, __log10f, (float x), log10f(x))
CUDA_EQUALS(float, __sinf, (float x), sinf(x))
CUDA_EQUALS(float, __cosf, (float x), cosf(x))
CUDA_EQUALS(float, __powf, (float x, float y), powf(x, y))
CUDA_EQUALS(float, __saturatef, (float x), x > 0 ? (x < 1 ? x : 1) : 0)

// Conversions: out of range goes to the nearest value, not-a-number to zero, as the hardware does.
#define CUDA_CONVERT(name, from, to, rounded, low, high)                                                               \
    CUDA_FUNCTION to name(from x) {                                                                                    \
        return x != x ? 0 : x <= (from)(low) ? (low) : x >= (from)(high) ? (high) : (to)rounded(x);                    \
    }
#define CUDA_CONVERSIONS(from, suffix, to, low, high)                                                                  \
    CUDA_CONVERT(__##from##2##suffix##_rn, from, to, rint, low, high)                                                  \
    CUDA_CONVERT(__##from##2##suffix##_rz, from, to, trunc, low, high)                                                 \
    CUDA_CONVERT(__##from##2##suffix##_rd, from, to, floor, low, high)                                                 \
    CUDA_CONVERT(__##from##2##suffix##_ru, from, to, ceil, low, high)
CUDA_CONVERSIONS(float, int, int, -__INT_MAX__ - 1, __INT_MAX__)
CUDA_CONVERSIONS(float, uint, unsigned, 0u, ~0u)
CUDA_CONVERSIONS(float, ll, long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)
CUDA_CONVERSIONS(float, ull, unsigned long long, 0ull, ~0ull)
CUDA_CONVERSIONS(double, int, int, -__INT_MAX__ - 1, __INT_MAX__)
CUDA_CONVERSIONS(double, uint, unsigned, 0u, ~0u)
CUDA_CONVERSIONS(double, ll, long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)
CUDA_CONVERSIONS(double, ull, unsigned long long, 0ull, ~0ull)
CUDA_EQUALS(float, __int2float_rn, (int x), x)
CUDA_EQUALS(float, __uint2float_rn, (unsigned x), x)
CUDA_EQUALS(float, __ll2float_rn, (long long x), x)
CUDA_EQUALS(double, __int2double_rn, (int x), x)
CUDA_EQUALS(double, __uint2double_rn, (unsigned x), x)
CUDA_EQUALS(double, __ll2double_rn, (long long x), x)
CUDA_EQUALS(float, __double2float_rn, (double x), x)

template <class T> CUDA_FUNCTION T __ldg(const T *place) { return *place; }
template <class T> CUDA_FUNCTION T __ldcg(const T *place) { return *place; }
template <class T> CUDA_FUNCTION T __ldcs(const T *place) { return *place; }
template <class T> CUDA_FUNCTION void __stcs(T *place, T value) { *place = value; }
