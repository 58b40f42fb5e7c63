// Kernels in HIP C++ call these functions, beside copies.cu. hipcc compiles it, or hiprtc, which needs no header.
// backend/parts.h says what `//@` and `//` are.

//@ HEAD
/* Compile with -ffp-contract=off: multiplications and additions are not to be contracted. */
#if !defined __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that is not unrolled is no fault */

//@ LANES_64: EXCHANGES
#define FCL_LANES 64 /* of a warp, a wave */
#if defined __HIP_DEVICE_COMPILE__ && defined __AMDGCN_WAVEFRONT_SIZE
#if __AMDGCN_WAVEFRONT_SIZE < FCL_LANES
#error waves of this GPU have 32 lanes: without --warp-size=64 they are enough
#endif
#endif
#define FCL_BALLOT(x) __ballot(x)

//@ LANES_32: EXCHANGES
#define FCL_LANES 32 /* of a warp: a wave has as many, or two warps */
#define FCL_BALLOT(x) ((unsigned)(__ballot(x) >> (__lane_id() & FCL_LANES)))

//@ EXCHANGES
#define FCL_SHUFFLE(x, i) __shfl(x, (int)((i) & (FCL_LANES - 1)), FCL_LANES)
#define FCL_SHUFFLE_UP(x, n) __shfl_up(x, n, FCL_LANES)
#define FCL_SHUFFLE_DOWN(x, n) __shfl_down(x, n, FCL_LANES)
#define FCL_SHUFFLE_XOR(x, n) __shfl_xor(x, n, FCL_LANES)
/* Lanes of a wave go together, but for what the compiler or memory puts in another order. */
#if !defined fcl_warp_barrier /* what simulates a GPU may have its own */
static __device__ __forceinline__ __attribute__((unused)) void fcl_warp_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#endif

//@ ATOMICS64
// HIP has them by CUDA's names since ROCm 5.3.
#define FCL_ATOMIC_MIN(p, x) __hip_atomic_fetch_min(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define FCL_ATOMIC_MAX(p, x) __hip_atomic_fetch_max(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)

//@ PAUSES
static __device__ __forceinline__ void fcl_pause() { __builtin_amdgcn_s_sleep(4); }

//@ WORDS
#define fcl_see(from) __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define fcl_show(to, x) __hip_atomic_store(to, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)

//@ MATCHES
#define FCL_MATCH(x, bits) (FCL_BALLOT(((x) & (bits)) != 0) ^ ((x) & (bits) ? NO_LANES : ~NO_LANES))
