/* Text that CUDA C++ shares with languages that are nearly the same. */
#ifndef FCL_BACKEND_CUDA_FAMILY_H
#define FCL_BACKEND_CUDA_FAMILY_H

#include "backend/print.h"

void cuda_kernel_head(struct printer *p, const struct target_kernel *kernel);
const char *cuda_atomic(enum ir_atomic atomic, enum base base);

/* note [scope]
   Words that blocks poll are read and written by relaxed accesses at the scope of the GPU: all who write
   or read them are blocks of one launch, and the host and other launches come before or after it as a
   whole. Relaxed is enough. A word of a look-back says all that is told in it, so that no order of two
   words matters; and what a lock or a counter of finished blocks guards has a fence (__threadfence, at
   the same scope) between it and the atomic. A volatile access is as good, but of the whole system's
   scope, which the host and other GPUs would need. */

/* Fields of a dialect. `lanes`: how the lanes of a warp are counted there. */
#define CUDA_FAMILY(lanes)                                                                                             \
    .language = LANGUAGE_CUDA,                                                                                         \
    .types = {[BASE_BOOL] = "bool",                                                                                    \
              [BASE_I8] = "signed char",                                                                               \
              [BASE_I16] = "short",                                                                                    \
              [BASE_I32] = "int",                                                                                      \
              [BASE_I64] = "long long",                                                                                \
              [BASE_U8] = "unsigned char",                                                                             \
              [BASE_U16] = "unsigned short",                                                                           \
              [BASE_U32] = "unsigned",                                                                                 \
              [BASE_U64] = "unsigned long long",                                                                       \
              [BASE_F32] = "float",                                                                                    \
              [BASE_F64] = "double",                                                                                   \
              [BASE_F16] = "unsigned short",                                                                           \
              [BASE_BF16] = "unsigned short"},                                                                         \
    .byte = "unsigned char", .spaces = {"", "__shared__ ", "", "static const "}, .pointees = {"", "", "", "const "},   \
    .restrict_word = "__restrict__", .suffix_i64 = "ll", .suffix_u64 = "ull",                                          \
    .hardware = {[TARGET_BLOCK_ID] = {"blockIdx.x", PRECEDENCE_PRIMARY},                                               \
                 [TARGET_BLOCK_COUNT] = {"gridDim.x", PRECEDENCE_PRIMARY},                                             \
                 [TARGET_THREAD_ID] = {"threadIdx.x", PRECEDENCE_PRIMARY},                                             \
                 [TARGET_THREAD_COUNT] = {"blockDim.x", PRECEDENCE_PRIMARY},                                           \
                 [TARGET_GLOBAL_THREAD_ID] = {"blockIdx.x * blockDim.x + threadIdx.x", PRECEDENCE_SUM},                \
                 [TARGET_GLOBAL_THREAD_COUNT] = {"gridDim.x * blockDim.x", PRECEDENCE_PRODUCT},                        \
                 [TARGET_WARP_ID] = {"threadIdx.x / " lanes, PRECEDENCE_PRODUCT},                                      \
                 [TARGET_WARP_COUNT] = {"blockDim.x / " lanes, PRECEDENCE_PRODUCT},                                    \
                 [TARGET_GLOBAL_WARP_ID] = {"blockIdx.x * (blockDim.x / " lanes ") + threadIdx.x / " lanes,            \
                                            PRECEDENCE_SUM},                                                           \
                 [TARGET_GLOBAL_WARP_COUNT] = {"gridDim.x * (blockDim.x / " lanes ")", PRECEDENCE_PRODUCT},            \
                 [TARGET_LANE_ID] = {"threadIdx.x % " lanes, PRECEDENCE_PRODUCT}},                                     \
    .has_min_max = true, .has_f_suffix = true, .function_head = "static __device__ __forceinline__ ",                  \
    .bits = {[BASE_U32] = "__float_as_uint",                                                                           \
             [BASE_U64] = "__double_as_longlong",                                                                      \
             [BASE_F32] = "__uint_as_float",                                                                           \
             [BASE_F64] = "__longlong_as_double"},                                                                     \
    .block_barrier = "__syncthreads();", .global_barrier = "__syncthreads();",                                         \
    .failed_head = "static __device__ __noinline__ ", .see = "fcl_see(", .show = "fcl_show(",                          \
    .fence = "__threadfence();", .block_fence = "__threadfence_block();", .pause = "fcl_pause();",                     \
    .unroll = "#pragma unroll", .roll = "#pragma unroll 1", .kernel_head = cuda_kernel_head

/* Rows of `approximate`: fast functions that CUDA and HIP call alike. */
#define CUDA_APPROXIMATE                                                                                               \
    [OP_DIV] = "__fdividef", [OP_EXP] = "__expf", [OP_LOG] = "__logf", [OP_LOG2] = "__log2f", [OP_LOG10] = "__log10f", \
    [OP_SIN] = "__sinf", [OP_COS] = "__cosf", [OP_POW] = "__powf"

#endif
