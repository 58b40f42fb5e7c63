// CUDA for Debian's clang, which has the language and its built-in functions but no toolkit. It checks that a .cu file
// compiles to PTX:
//     clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib
//     -Xclang -target-feature -Xclang +ptx63 -S -include cuda_shim.h FILE.cu -o -
// Like NVRTC it brings no standard header. Mathematical functions remain external.
#pragma once

#define __CUDACC_RTC__ 1
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#include "cuda_builtins.h"

CUDA_FUNCTION unsigned __byte_perm(unsigned x, unsigned y, unsigned digits) { return __nvvm_prmt(x, y, digits); }

// ---------------------------------------------------------------- threads and barriers

#define threadIdx                                                                                                      \
    (uint3{(unsigned)__nvvm_read_ptx_sreg_tid_x(), (unsigned)__nvvm_read_ptx_sreg_tid_y(),                             \
           (unsigned)__nvvm_read_ptx_sreg_tid_z()})
#define blockIdx                                                                                                       \
    (uint3{(unsigned)__nvvm_read_ptx_sreg_ctaid_x(), (unsigned)__nvvm_read_ptx_sreg_ctaid_y(),                         \
           (unsigned)__nvvm_read_ptx_sreg_ctaid_z()})
#define blockDim                                                                                                       \
    (uint3{(unsigned)__nvvm_read_ptx_sreg_ntid_x(), (unsigned)__nvvm_read_ptx_sreg_ntid_y(),                           \
           (unsigned)__nvvm_read_ptx_sreg_ntid_z()})
#define gridDim                                                                                                        \
    (uint3{(unsigned)__nvvm_read_ptx_sreg_nctaid_x(), (unsigned)__nvvm_read_ptx_sreg_nctaid_y(),                       \
           (unsigned)__nvvm_read_ptx_sreg_nctaid_z()})
#define warpSize 32

// __syncthreads() is clang's own.
CUDA_FUNCTION int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
CUDA_FUNCTION int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
CUDA_FUNCTION int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
CUDA_FUNCTION void __syncwarp(unsigned mask = 0xFFFFFFFFu) { __nvvm_bar_warp_sync(mask); }
CUDA_FUNCTION void __threadfence() { __nvvm_membar_gl(); }
CUDA_FUNCTION void __threadfence_block() { __nvvm_membar_cta(); }
CUDA_FUNCTION void __threadfence_system() { __nvvm_membar_sys(); }

// ---------------------------------------------------------------- warps

CUDA_FUNCTION unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
CUDA_FUNCTION int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
CUDA_FUNCTION int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
CUDA_FUNCTION unsigned __match_any_sync(unsigned mask, unsigned v) { return __nvvm_match_any_sync_i32(mask, v); }
CUDA_FUNCTION unsigned __activemask() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

// A value of up to eight bytes goes as one or two words.
#define CUDA_SHUFFLE(name, builtin, lane_type, clamp)                                                                  \
    template <class T> CUDA_FUNCTION T name(unsigned mask, T value, lane_type lane, int width = 32) {                  \
        static_assert(sizeof(T) <= 8, "warp operations take values of up to 8 bytes");                                 \
        int words[2] = {0, 0};                                                                                         \
        __builtin_memcpy(words, &value, sizeof value);                                                                 \
        words[0] = builtin(mask, words[0], (int)lane, ((32 - width) << 8) | clamp);                                    \
        if (sizeof value > 4)                                                                                          \
            words[1] = builtin(mask, words[1], (int)lane, ((32 - width) << 8) | clamp);                                \
        __builtin_memcpy(&value, words, sizeof value);                                                                 \
        return value;                                                                                                  \
    }
CUDA_SHUFFLE(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 31)
CUDA_SHUFFLE(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
CUDA_SHUFFLE(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 31)
CUDA_SHUFFLE(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 31)

// ---------------------------------------------------------------- atomics

#define CUDA_ATOMIC(T, name, as, builtin)                                                                              \
    CUDA_FUNCTION T name(T *place, T value) { return (T)builtin((as *)place, (as)value); }
#define CUDA_ATOMICS(T, as, suffix)                                                                                    \
    CUDA_ATOMIC(T, atomicExch, as, __nvvm_atom_xchg_gen_##suffix)                                                      \
    CUDA_ATOMIC(T, atomicAnd, as, __nvvm_atom_and_gen_##suffix)                                                        \
    CUDA_ATOMIC(T, atomicOr, as, __nvvm_atom_or_gen_##suffix)                                                          \
    CUDA_ATOMIC(T, atomicXor, as, __nvvm_atom_xor_gen_##suffix)                                                        \
    CUDA_FUNCTION T atomicCAS(T *place, T compare, T value) {                                                          \
        return (T)__nvvm_atom_cas_gen_##suffix((as *)place, (as)compare, (as)value);                                   \
    }
CUDA_ATOMIC(int, atomicAdd, int, __nvvm_atom_add_gen_i)
CUDA_ATOMIC(unsigned, atomicAdd, int, __nvvm_atom_add_gen_i)
CUDA_ATOMIC(unsigned long long, atomicAdd, long long, __nvvm_atom_add_gen_ll)
CUDA_ATOMIC(float, atomicAdd, float, __nvvm_atom_add_gen_f)
CUDA_ATOMIC(double, atomicAdd, double, __nvvm_atom_add_gen_d)
CUDA_ATOMIC(int, atomicMin, int, __nvvm_atom_min_gen_i)
CUDA_ATOMIC(unsigned, atomicMin, unsigned, __nvvm_atom_min_gen_ui)
CUDA_ATOMIC(long long, atomicMin, long long, __nvvm_atom_min_gen_ll)
CUDA_ATOMIC(unsigned long long, atomicMin, unsigned long long, __nvvm_atom_min_gen_ull)
CUDA_ATOMIC(int, atomicMax, int, __nvvm_atom_max_gen_i)
CUDA_ATOMIC(unsigned, atomicMax, unsigned, __nvvm_atom_max_gen_ui)
CUDA_ATOMIC(long long, atomicMax, long long, __nvvm_atom_max_gen_ll)
CUDA_ATOMIC(unsigned long long, atomicMax, unsigned long long, __nvvm_atom_max_gen_ull)
CUDA_ATOMIC(unsigned, atomicInc, unsigned, __nvvm_atom_inc_gen_ui)
CUDA_ATOMIC(unsigned, atomicDec, unsigned, __nvvm_atom_dec_gen_ui)
CUDA_ATOMICS(int, int, i)
CUDA_ATOMICS(unsigned, int, i)
CUDA_ATOMICS(unsigned long long, long long, ll)
CUDA_FUNCTION int atomicSub(int *place, int value) { return atomicAdd(place, -value); }
CUDA_FUNCTION unsigned atomicSub(unsigned *place, unsigned value) { return atomicAdd(place, 0u - value); }
CUDA_FUNCTION float atomicExch(float *place, float value) {
    return __int_as_float(atomicExch((int *)place, __float_as_int(value)));
}
