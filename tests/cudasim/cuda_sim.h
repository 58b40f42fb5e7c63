// Tells g++ what nvcc and NVRTC know without any include: put before a .cu file when the simulator compiles it. Like
// NVRTC it brings no standard header. With CUDASIM_HIP, what hiprtc knows, put before a .hip file.
#pragma once

#if defined CUDASIM_HIP /* the lanes of a wave */
#define __HIPCC__ 1
#define __HIPCC_RTC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __AMDGCN_WAVEFRONT_SIZE CUDASIM_HIP
#else
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 750
#endif
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

#include "../support/cuda_builtins.h"

// ---------------------------------------------------------------- threads, barriers, warps

extern "C" {
__attribute__((const)) uint3 cudasim_thread_idx();
__attribute__((const)) uint3 cudasim_block_idx();
__attribute__((const)) uint3 cudasim_block_dim();
__attribute__((const)) uint3 cudasim_grid_dim();
__attribute__((const)) unsigned cudasim_lane();
char *cudasim_dynamic_shared();
unsigned long cudasim_syncthreads(const char *what, int line, int vote);
void cudasim_syncwarp(int line, unsigned long mask);
unsigned long cudasim_shuffle(const char *what, int line, unsigned long mask, unsigned long value, int source_lane);
unsigned long cudasim_ballot(const char *what, int line, unsigned long mask, int vote);
unsigned cudasim_match(int line, unsigned long mask, unsigned long value);
unsigned cudasim_activemask();
void cudasim_fence();
void cudasim_failed();
void cudasim_atomic(void *place, size_t bytes, void *code);
}

#define threadIdx (cudasim_thread_idx())
#define blockIdx (cudasim_block_idx())
#define blockDim (cudasim_block_dim())
#define gridDim (cudasim_grid_dim())
#define __syncthreads() ((void)cudasim_syncthreads("__syncthreads", __LINE__, 0))
#define __syncthreads_count(p) ((int)(cudasim_syncthreads("__syncthreads_count", __LINE__, (p) != 0) & 0xFFFFFFFF))
#define __syncthreads_or(p) ((int)(cudasim_syncthreads("__syncthreads_or", __LINE__, (p) != 0) >> 63 & 1))
#define __syncthreads_and(p) ((int)(~cudasim_syncthreads("__syncthreads_and", __LINE__, (p) != 0) >> 62 & 1))
#if defined CUDASIM_HIP
/* Those of a program for warps of 32 lanes or of 64, FCL_LANES, are what takes part. The others of
   the wave are elsewhere: what a ballot has of them means nothing. */
#define warpSize CUDASIM_HIP
#define __lane_id() cudasim_lane()
#define __ballot(p) cudasim::ballot_of_wave(__LINE__, FCL_LANES, (p) != 0)
#define __shfl(x, lane, width) cudasim::shuffle(__LINE__, cudasim::lanes_with(width), x, lane, width)
#define __shfl_up(x, by, width) cudasim::shuffle_up(__LINE__, cudasim::lanes_with(width), x, by, width)
#define __shfl_down(x, by, width) cudasim::shuffle_down(__LINE__, cudasim::lanes_with(width), x, by, width)
#define __shfl_xor(x, with, width) cudasim::shuffle_xor(__LINE__, cudasim::lanes_with(width), x, with, width)
#define fcl_warp_barrier() cudasim_syncwarp(__LINE__, cudasim::lanes_with(FCL_LANES))
#define __builtin_amdgcn_s_sleep(n) ((void)0)
#define __hip_atomic_fetch_min(p, x, order, scope) atomicMin(p, x)
#define __hip_atomic_fetch_max(p, x, order, scope) atomicMax(p, x)
#define __hip_atomic_load(from, order, scope) (*cudasim::as_it_stands(from))
#define __hip_atomic_store(to, x, order, scope) ((void)(*cudasim::as_it_stands(to) = (x)))
#else
#define warpSize 32
#define __syncwarp(...) cudasim_syncwarp(__LINE__, cudasim::mask_or_all(__VA_ARGS__))
#define __activemask() cudasim_activemask()
#define __shfl_sync(...) cudasim::shuffle(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) cudasim::shuffle_up(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) cudasim::shuffle_down(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) cudasim::shuffle_xor(__LINE__, __VA_ARGS__)
#define __ballot_sync(mask, p) ((unsigned)cudasim_ballot("__ballot_sync", __LINE__, mask, (p) != 0))
#define __any_sync(mask, p) (cudasim_ballot("__any_sync", __LINE__, mask, (p) != 0) != 0)
#define __all_sync(mask, p) (cudasim_ballot("__all_sync", __LINE__, mask, (p) == 0) == 0)
/* In place of PTX (backend/parts/cuda.cu). */
#define fcl_match(x, bits) cudasim::match_bits(__LINE__, x, bits)
#define fcl_pause() ((void)0)
#define fcl_fast_sqrt(x) sqrtf(x)
#define fcl_fast_tanh(x) tanhf(x)
#define __builtin_amdgcn_sqrtf(x) sqrtf(x)
#define FCL_BY_BITS 1 // conversions of floats of 16 bits
#define fcl_equal(x, y) ((x) == (y))
#define fcl_apart(x) (x)
#define fcl_see(from) (*cudasim::as_it_stands(from))
#define fcl_show(to, x) ((void)(*cudasim::as_it_stands(to) = (x)))
#define FCL_THREADS(count) ((void)0)
#define FCL_PIECE cudasim::piece
#define fcl_load_four(to, from) cudasim::load_four(to, from)
#define __match_any_sync(mask, v) cudasim_match(__LINE__, mask, cudasim::to_bits(v))
#endif
/* Four of the eight bytes of both, the one that each digit says. */
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned digits) {
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(((unsigned long)y << 32 | x) >> (digits >> 4 * i & 7) * 8 & 255) << 8 * i;
    return result;
}
static inline void __threadfence() { cudasim_fence(); }
static inline void __threadfence_system() { cudasim_fence(); }
static inline void __threadfence_block() {}

/* In place of PTX (backend/parts/cuda.cu), like those above. */
template <int count, class T> inline void fcl_load_halves(unsigned *to, const volatile T *from) {
    for (int i = 0; i < count; i += 2)
        to[i / 2] = (unsigned short)from[i] | (unsigned)(unsigned short)from[i + 1] << 16;
}

namespace cudasim {

constexpr unsigned mask_or_all(unsigned mask = 0xFFFFFFFFu) { return mask; }

/* A word that others write or read meanwhile: volatile accesses are atomic here. */
template <class T> constexpr volatile T *as_it_stands(T *word) { return word; }

/* 16 bytes that are loaded or stored at a time. */
typedef unsigned piece __attribute__((vector_size(16), may_alias));

/* They are words here: where they lie is the same. */
template <class T> inline void load_four(T *to, const volatile T *from) {
    for (int i = 0; i < 4; ++i)
        to[i] = from[i];
}

inline unsigned match_bits(int line, unsigned x, unsigned bits) {
    const unsigned lanes = (unsigned)cudasim_ballot("fcl_match", line, 0xFFFFFFFFu, (x & bits) != 0);
    return x & bits ? lanes : ~lanes;
}

/* The lane's group of so many. */
inline unsigned long lanes_with(unsigned count) {
    return count == 64 ? ~0ul : ((1ul << count) - 1) << (cudasim_lane() & ~(count - 1));
}

inline unsigned long ballot_of_wave(int line, unsigned lanes, int vote) {
    const unsigned long mask = lanes_with(lanes);
    const unsigned long votes = cudasim_ballot("__ballot", line, mask, vote);
    return warpSize == 64 ? votes | ~mask : votes;
}

template <class T> inline unsigned long to_bits(T value) {
    static_assert(sizeof(T) <= 8, "warp operations take values of up to 8 bytes");
    unsigned long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T> inline T shuffle_from(const char *what, int line, unsigned long mask, T value, int lane) {
    unsigned long bits = cudasim_shuffle(what, line, mask, to_bits(value), lane);
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T> inline T shuffle(int line, unsigned long mask, T value, int lane, int width = 32) {
    int self = (int)cudasim_lane(), first = self & ~(width - 1);
    return shuffle_from("__shfl_sync", line, mask, value, first | (lane & (width - 1)));
}

template <class T> inline T shuffle_up(int line, unsigned long mask, T value, unsigned by, int width = 32) {
    int self = (int)cudasim_lane(), first = self & ~(width - 1);
    int lane = self - (int)by;
    return shuffle_from("__shfl_up_sync", line, mask, value, lane < first ? self : lane);
}

template <class T> inline T shuffle_down(int line, unsigned long mask, T value, unsigned by, int width = 32) {
    int self = (int)cudasim_lane(), first = self & ~(width - 1);
    int lane = self + (int)by;
    return shuffle_from("__shfl_down_sync", line, mask, value, lane >= first + width ? self : lane);
}

template <class T> inline T shuffle_xor(int line, unsigned long mask, T value, int with, int width = 32) {
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

// How many parameters it has, and the bytes of each.
template <class... P> __attribute__((no_sanitize_thread)) unsigned sizes_of(void (*)(P...), unsigned *sizes) {
    const unsigned all[] = {0, (unsigned)sizeof(P)...};
    for (unsigned i = 0; i < sizeof...(P); i++)
        sizes[i] = all[i + 1];
    return sizeof...(P);
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
