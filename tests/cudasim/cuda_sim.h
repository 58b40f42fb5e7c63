// What nvcc and NVRTC know without any include, for g++: put before a .cu file when the simulator compiles it.
// Like NVRTC it brings no standard header.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 750
#define CUDASIM 1
#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define __launch_bounds__(...)
// Read by nvrtc.cc, too, which rewrites `extern __shared__`.
#define __shared__ static __attribute__((section("cudasim_shared")))

// One lies before and one (in nvrtc.cc) behind all shared variables, or the other way round: nothing may touch them.
__attribute__((section("cudasim_shared"), used)) static char cudasim_guard_header[1024];

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

#define CUDASIM_VECTORS(T, name)                                                                                       \
    struct name##1 {                                                                                                   \
        T x;                                                                                                           \
    };                                                                                                                 \
    struct __align__(2 * sizeof(T)) name##2 {                                                                          \
        T x, y;                                                                                                        \
    };                                                                                                                 \
    struct __align__(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 {                                                \
        T x, y, z, w;                                                                                                  \
    };                                                                                                                 \
    static inline name##1 make_##name##1(T x) { return {x}; }                                                          \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                                  \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define CUDASIM_VECTOR3(T, name)                                                                                       \
    struct name##3 {                                                                                                   \
        T x, y, z;                                                                                                     \
    };                                                                                                                 \
    static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
CUDASIM_VECTORS(signed char, char)
CUDASIM_VECTORS(unsigned char, uchar)
CUDASIM_VECTORS(short, short)
CUDASIM_VECTORS(unsigned short, ushort)
CUDASIM_VECTORS(int, int)
CUDASIM_VECTORS(unsigned, uint)
CUDASIM_VECTORS(long long, longlong)
CUDASIM_VECTORS(unsigned long long, ulonglong)
CUDASIM_VECTORS(float, float)
CUDASIM_VECTORS(double, double)
CUDASIM_VECTOR3(int, int)
CUDASIM_VECTOR3(float, float)
CUDASIM_VECTOR3(double, double)
static inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

// ---------------------------------------------------------------- threads, barriers, warps

extern "C" {
__attribute__((const)) uint3 cudasim_thread_idx();
__attribute__((const)) uint3 cudasim_block_idx();
__attribute__((const)) uint3 cudasim_block_dim();
__attribute__((const)) uint3 cudasim_grid_dim();
__attribute__((const)) unsigned cudasim_lane();
char *cudasim_dynamic_shared();
unsigned long cudasim_syncthreads(const char *what, int line, int vote);
void cudasim_syncwarp(int line, unsigned mask);
unsigned long cudasim_shuffle(const char *what, int line, unsigned mask, unsigned long value, int source_lane);
unsigned cudasim_ballot(const char *what, int line, unsigned mask, int vote);
unsigned cudasim_match(int line, unsigned mask, unsigned long value);
unsigned cudasim_activemask();
void cudasim_fence();
void cudasim_atomic(void *place, size_t bytes, void *code);
}

#define threadIdx (cudasim_thread_idx())
#define blockIdx (cudasim_block_idx())
#define blockDim (cudasim_block_dim())
#define gridDim (cudasim_grid_dim())
#define warpSize 32

#define __syncthreads() ((void)cudasim_syncthreads("__syncthreads", __LINE__, 0))
#define __syncthreads_count(p) ((int)(cudasim_syncthreads("__syncthreads_count", __LINE__, (p) != 0) & 0xFFFFFFFF))
#define __syncthreads_or(p) ((int)(cudasim_syncthreads("__syncthreads_or", __LINE__, (p) != 0) >> 63 & 1))
#define __syncthreads_and(p) ((int)(~cudasim_syncthreads("__syncthreads_and", __LINE__, (p) != 0) >> 62 & 1))
#define __syncwarp(...) cudasim_syncwarp(__LINE__, cudasim::mask_or_all(__VA_ARGS__))
#define __activemask() cudasim_activemask()
#define __shfl_sync(...) cudasim::shuffle(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) cudasim::shuffle_up(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) cudasim::shuffle_down(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) cudasim::shuffle_xor(__LINE__, __VA_ARGS__)
#define __ballot_sync(mask, p) cudasim_ballot("__ballot_sync", __LINE__, mask, (p) != 0)
#define __any_sync(mask, p) (cudasim_ballot("__any_sync", __LINE__, mask, (p) != 0) != 0)
#define __all_sync(mask, p) (cudasim_ballot("__all_sync", __LINE__, mask, (p) == 0) == 0)
#define __match_any_sync(mask, v) cudasim_match(__LINE__, mask, cudasim::to_bits(v))
static inline void __threadfence() { cudasim_fence(); }
static inline void __threadfence_system() { cudasim_fence(); }
static inline void __threadfence_block() {}

namespace cudasim {

constexpr unsigned mask_or_all(unsigned mask = 0xFFFFFFFFu) { return mask; }

template <class T> inline unsigned long to_bits(T value) {
    static_assert(sizeof(T) <= 8, "warp operations take values of up to 8 bytes");
    unsigned long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T> inline T shuffle_from(const char *what, int line, unsigned mask, T value, int lane) {
    unsigned long bits = cudasim_shuffle(what, line, mask, to_bits(value), lane);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T> inline T shuffle(int line, unsigned mask, T value, int lane, int width = 32) {
    int self = (int)cudasim_lane(), first = self & ~(width - 1);
    return shuffle_from("__shfl_sync", line, mask, value, first | (lane & (width - 1)));
}

template <class T> inline T shuffle_up(int line, unsigned mask, T value, unsigned by, int width = 32) {
    int self = (int)cudasim_lane(), first = self & ~(width - 1);
    int lane = self - (int)by;
    return shuffle_from("__shfl_up_sync", line, mask, value, lane < first ? self : lane);
}

template <class T> inline T shuffle_down(int line, unsigned mask, T value, unsigned by, int width = 32) {
    int self = (int)cudasim_lane(), first = self & ~(width - 1);
    int lane = self + (int)by;
    return shuffle_from("__shfl_down_sync", line, mask, value, lane >= first + width ? self : lane);
}

template <class T> inline T shuffle_xor(int line, unsigned mask, T value, int with, int width = 32) {
    int self = (int)cudasim_lane(), first = self & ~(width - 1);
    int lane = self ^ with;
    return shuffle_from("__shfl_xor_sync", line, mask, value, lane >= first + width ? self : lane);
}

// How a kernel is called with driver-style arguments.
template <unsigned... I> struct numbers {};
template <unsigned N, unsigned... I> struct count_to : count_to<N - 1, N - 1, I...> {};
template <unsigned... I> struct count_to<0, I...> { typedef numbers<I...> type; };
template <class... P, unsigned... I>
__attribute__((no_sanitize_thread)) void invoke_with(void (*kernel)(P...), void **arguments, numbers<I...>) {
    (void)arguments;
    kernel(*(P *)arguments[I]...);
}
template <class... P> __attribute__((no_sanitize_thread)) void invoke(void (*kernel)(P...), void **arguments) {
    invoke_with(kernel, arguments, typename count_to<sizeof...(P)>::type());
}

} // namespace cudasim

// ---------------------------------------------------------------- atomics

#define CUDASIM_ATOMIC(T, name, updated)                                                                               \
    __attribute__((no_sanitize_thread, noinline)) static T name(T *place, T value) {                                   \
        cudasim_atomic(place, sizeof *place, __builtin_return_address(0));                                             \
        T old = *place;                                                                                                \
        *place = (updated);                                                                                            \
        return old;                                                                                                    \
    }                                                                                                                  \
    __attribute__((unused)) static inline T name##_block(T *place, T value) { return name(place, value); }             \
    __attribute__((unused)) static inline T name##_system(T *place, T value) { return name(place, value); }
#define CUDASIM_ATOMIC_CAS(T)                                                                                          \
    __attribute__((no_sanitize_thread, noinline)) static T atomicCAS(T *place, T compare, T value) {                   \
        cudasim_atomic(place, sizeof *place, __builtin_return_address(0));                                             \
        T old = *place;                                                                                                \
        if (old == compare)                                                                                            \
            *place = value;                                                                                            \
        return old;                                                                                                    \
    }
#define CUDASIM_ATOMICS_ANY(T)                                                                                         \
    CUDASIM_ATOMIC(T, atomicAdd, old + value)                                                                          \
    CUDASIM_ATOMIC(T, atomicExch, value)
#define CUDASIM_ATOMICS_INTEGER(T)                                                                                     \
    CUDASIM_ATOMIC(T, atomicMin, value < old ? value : old)                                                            \
    CUDASIM_ATOMIC(T, atomicMax, value > old ? value : old)                                                            \
    CUDASIM_ATOMIC(T, atomicAnd, old &value)                                                                           \
    CUDASIM_ATOMIC(T, atomicOr, old | value)                                                                           \
    CUDASIM_ATOMIC(T, atomicXor, old ^ value)                                                                          \
    CUDASIM_ATOMIC_CAS(T)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
CUDASIM_ATOMICS_ANY(int)
CUDASIM_ATOMICS_ANY(unsigned)
CUDASIM_ATOMICS_ANY(unsigned long long)
CUDASIM_ATOMICS_ANY(float)
CUDASIM_ATOMIC(double, atomicAdd, old + value)
CUDASIM_ATOMIC(int, atomicSub, old - value)
CUDASIM_ATOMIC(unsigned, atomicSub, old - value)
CUDASIM_ATOMIC(unsigned, atomicInc, old >= value ? 0 : old + 1)
CUDASIM_ATOMIC(unsigned, atomicDec, old == 0 || old > value ? value : old - 1)
CUDASIM_ATOMICS_INTEGER(int)
CUDASIM_ATOMICS_INTEGER(unsigned)
CUDASIM_ATOMICS_INTEGER(unsigned long long)
CUDASIM_ATOMIC(long long, atomicMin, value < old ? value : old)
CUDASIM_ATOMIC(long long, atomicMax, value > old ? value : old)
CUDASIM_ATOMIC(long long, atomicAnd, old &value)
CUDASIM_ATOMIC(long long, atomicOr, old | value)
CUDASIM_ATOMIC(long long, atomicXor, old ^ value)
CUDASIM_ATOMIC_CAS(unsigned short)
#pragma GCC diagnostic pop

// ---------------------------------------------------------------- mathematics

#define CUDASIM_MATH1(name)                                                                                            \
    extern "C" double name(double) noexcept;                                                                           \
    extern "C" float name##f(float) noexcept;                                                                          \
    static inline float name(float x) { return name##f(x); }
#define CUDASIM_MATH2(name)                                                                                            \
    extern "C" double name(double, double) noexcept;                                                                   \
    extern "C" float name##f(float, float) noexcept;                                                                   \
    static inline float name(float x, float y) { return name##f(x, y); }
CUDASIM_MATH1(acos)
CUDASIM_MATH1(acosh)
CUDASIM_MATH1(asin)
CUDASIM_MATH1(asinh)
CUDASIM_MATH1(atan)
CUDASIM_MATH1(atanh)
CUDASIM_MATH1(cbrt)
CUDASIM_MATH1(ceil)
CUDASIM_MATH1(cos)
CUDASIM_MATH1(cosh)
CUDASIM_MATH1(erf)
CUDASIM_MATH1(erfc)
CUDASIM_MATH1(exp)
CUDASIM_MATH1(exp2)
CUDASIM_MATH1(expm1)
CUDASIM_MATH1(fabs)
CUDASIM_MATH1(floor)
CUDASIM_MATH1(lgamma)
CUDASIM_MATH1(log)
CUDASIM_MATH1(log10)
CUDASIM_MATH1(log1p)
CUDASIM_MATH1(log2)
CUDASIM_MATH1(nearbyint)
CUDASIM_MATH1(rint)
CUDASIM_MATH1(round)
CUDASIM_MATH1(sin)
CUDASIM_MATH1(sinh)
CUDASIM_MATH1(sqrt)
CUDASIM_MATH1(tan)
CUDASIM_MATH1(tanh)
CUDASIM_MATH1(tgamma)
CUDASIM_MATH1(trunc)
CUDASIM_MATH2(atan2)
CUDASIM_MATH2(copysign)
CUDASIM_MATH2(fdim)
CUDASIM_MATH2(fmax)
CUDASIM_MATH2(fmin)
CUDASIM_MATH2(fmod)
CUDASIM_MATH2(hypot)
CUDASIM_MATH2(nextafter)
CUDASIM_MATH2(pow)
CUDASIM_MATH2(remainder)
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" long long llrint(double) noexcept;
extern "C" long lrint(double) noexcept;
extern "C" int abs(int) noexcept;
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline double exp10(double x) { return pow(10.0, x); }
static inline float exp10f(float x) { return powf(10.0f, x); }
static inline long long llabs(long long x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return llabs(x); }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
#define CUDASIM_CLASSIFY(name)                                                                                         \
    static inline bool name(float x) { return __builtin_##name(x); }                                                   \
    static inline bool name(double x) { return __builtin_##name(x); }
CUDASIM_CLASSIFY(isnan)
CUDASIM_CLASSIFY(isinf)
CUDASIM_CLASSIFY(isfinite)
CUDASIM_CLASSIFY(signbit)

#define CUDASIM_EXTREMES(A, B, T)                                                                                      \
    static inline T min(A x, B y) { return (T)x < (T)y ? (T)x : (T)y; }                                                \
    static inline T max(A x, B y) { return (T)x > (T)y ? (T)x : (T)y; }
CUDASIM_EXTREMES(int, int, int)
CUDASIM_EXTREMES(unsigned, unsigned, unsigned)
CUDASIM_EXTREMES(int, unsigned, unsigned)
CUDASIM_EXTREMES(unsigned, int, unsigned)
CUDASIM_EXTREMES(long, long, long)
CUDASIM_EXTREMES(unsigned long, unsigned long, unsigned long)
CUDASIM_EXTREMES(long long, long long, long long)
CUDASIM_EXTREMES(unsigned long long, unsigned long long, unsigned long long)
static inline float min(float x, float y) { return fminf(x, y); }
static inline float max(float x, float y) { return fmaxf(x, y); }
static inline double min(double x, double y) { return fmin(x, y); }
static inline double max(double x, double y) { return fmax(x, y); }

// ---------------------------------------------------------------- intrinsics

#define CUDASIM_AS(name, from, to)                                                                                     \
    static inline to name(from x) {                                                                                    \
        to y;                                                                                                          \
        __builtin_memcpy(&y, &x, sizeof y);                                                                            \
        return y;                                                                                                      \
    }
CUDASIM_AS(__float_as_int, float, int)
CUDASIM_AS(__float_as_uint, float, unsigned)
CUDASIM_AS(__int_as_float, int, float)
CUDASIM_AS(__uint_as_float, unsigned, float)
CUDASIM_AS(__double_as_longlong, double, long long)
CUDASIM_AS(__longlong_as_double, long long, double)
#define CUDASIM_EQUALS(T, name, parameters, value)                                                                     \
    static inline T name parameters { return (T)(value); }
CUDASIM_EQUALS(int, __popc, (unsigned x), __builtin_popcount(x))
CUDASIM_EQUALS(int, __popcll, (unsigned long long x), __builtin_popcountll(x))
CUDASIM_EQUALS(int, __clz, (int x), x ? __builtin_clz((unsigned)x) : 32)
CUDASIM_EQUALS(int, __clzll, (long long x), x ? __builtin_clzll((unsigned long long)x) : 64)
CUDASIM_EQUALS(int, __ffs, (int x), __builtin_ffs(x))
CUDASIM_EQUALS(int, __ffsll, (long long x), __builtin_ffsll(x))
CUDASIM_EQUALS(int, __mulhi, (int x, int y), (long long)x *y >> 32)
CUDASIM_EQUALS(unsigned, __umulhi, (unsigned x, unsigned y), (unsigned long long)x *y >> 32)
CUDASIM_EQUALS(long long, __mul64hi, (long long x, long long y), (__int128)x *y >> 64)
CUDASIM_EQUALS(unsigned long long, __umul64hi, (unsigned long long x, unsigned long long y),
               (unsigned __int128)x *y >> 64)
CUDASIM_EQUALS(int, __mul24, (int x, int y), (x << 8 >> 8) * (y << 8 >> 8))
CUDASIM_EQUALS(unsigned, __umul24, (unsigned x, unsigned y), (x & 0xFFFFFF) * (y & 0xFFFFFF))
CUDASIM_EQUALS(unsigned, __sad, (int x, int y, unsigned z), z + (x > y ? (unsigned)x - y : (unsigned)y - x))
CUDASIM_EQUALS(unsigned, __funnelshift_l, (unsigned low, unsigned high, unsigned by),
               ((unsigned long long)high << 32 | low) << (by & 31) >> 32)
CUDASIM_EQUALS(unsigned, __funnelshift_r, (unsigned low, unsigned high, unsigned by),
               ((unsigned long long)high << 32 | low) >> (by & 31))
static inline unsigned __brev(unsigned x) {
    unsigned y = 0;
    for (int i = 0; i < 32; i++)
        y |= (x >> i & 1) << (31 - i);
    return y;
}
CUDASIM_EQUALS(float, __fadd_rn, (float x, float y), x + y)
CUDASIM_EQUALS(float, __fsub_rn, (float x, float y), x - y)
CUDASIM_EQUALS(float, __fmul_rn, (float x, float y), x *y)
CUDASIM_EQUALS(float, __fdiv_rn, (float x, float y), x / y)
CUDASIM_EQUALS(float, __fmaf_rn, (float x, float y, float z), fmaf(x, y, z))
CUDASIM_EQUALS(float, __frcp_rn, (float x), 1 / x)
CUDASIM_EQUALS(float, __fsqrt_rn, (float x), sqrtf(x))
CUDASIM_EQUALS(double, __dadd_rn, (double x, double y), x + y)
CUDASIM_EQUALS(double, __dsub_rn, (double x, double y), x - y)
CUDASIM_EQUALS(double, __dmul_rn, (double x, double y), x *y)
CUDASIM_EQUALS(double, __ddiv_rn, (double x, double y), x / y)
CUDASIM_EQUALS(double, __fma_rn, (double x, double y, double z), fma(x, y, z))
CUDASIM_EQUALS(float, __fdividef, (float x, float y), x / y)
CUDASIM_EQUALS(float, __expf, (float x), expf(x))
CUDASIM_EQUALS(float, __logf, (float x), logf(x))
CUDASIM_EQUALS(float, __sinf, (float x), sinf(x))
CUDASIM_EQUALS(float, __cosf, (float x), cosf(x))
CUDASIM_EQUALS(float, __powf, (float x, float y), powf(x, y))
CUDASIM_EQUALS(float, __saturatef, (float x), x > 0 ? (x < 1 ? x : 1) : 0)

// Conversions: out of range goes to the nearest value, not-a-number to zero, as the hardware does.
#define CUDASIM_CONVERT(name, from, to, rounded, low, high)                                                            \
    static inline to name(from x) {                                                                                    \
        return x != x ? 0 : x <= (from)(low) ? (low) : x >= (from)(high) ? (high) : (to)rounded(x);                    \
    }
#define CUDASIM_CONVERSIONS(from, suffix, to, low, high)                                                               \
    CUDASIM_CONVERT(__##from##2##suffix##_rn, from, to, rint, low, high)                                               \
    CUDASIM_CONVERT(__##from##2##suffix##_rz, from, to, trunc, low, high)                                              \
    CUDASIM_CONVERT(__##from##2##suffix##_rd, from, to, floor, low, high)                                              \
    CUDASIM_CONVERT(__##from##2##suffix##_ru, from, to, ceil, low, high)
CUDASIM_CONVERSIONS(float, int, int, -__INT_MAX__ - 1, __INT_MAX__)
CUDASIM_CONVERSIONS(float, uint, unsigned, 0u, ~0u)
CUDASIM_CONVERSIONS(float, ll, long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)
CUDASIM_CONVERSIONS(float, ull, unsigned long long, 0ull, ~0ull)
CUDASIM_CONVERSIONS(double, int, int, -__INT_MAX__ - 1, __INT_MAX__)
CUDASIM_CONVERSIONS(double, uint, unsigned, 0u, ~0u)
CUDASIM_CONVERSIONS(double, ll, long long, -__LONG_LONG_MAX__ - 1, __LONG_LONG_MAX__)
CUDASIM_CONVERSIONS(double, ull, unsigned long long, 0ull, ~0ull)
CUDASIM_EQUALS(float, __int2float_rn, (int x), x)
CUDASIM_EQUALS(float, __uint2float_rn, (unsigned x), x)
CUDASIM_EQUALS(float, __ll2float_rn, (long long x), x)
CUDASIM_EQUALS(double, __int2double_rn, (int x), x)
CUDASIM_EQUALS(double, __uint2double_rn, (unsigned x), x)
CUDASIM_EQUALS(double, __ll2double_rn, (long long x), x)
CUDASIM_EQUALS(float, __double2float_rn, (double x), x)

template <class T> static inline T __ldg(const T *place) { return *place; }
template <class T> static inline T __ldcs(const T *place) { return *place; }
template <class T> static inline void __stcs(T *place, T value) { *place = value; }
