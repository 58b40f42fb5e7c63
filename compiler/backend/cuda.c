/* CUDA C++: needs no header, so that NVRTC compiles it as it is. */
#include "backend/print.h"

static void kernel_head(struct printer *p, const struct target_kernel *kernel) {
    text_printf(p->out, "extern \"C\" __global__ void __launch_bounds__(%d", kernel->block_threads);
    if (kernel->blocks_together > 1)
        text_printf(p->out, ", %d", kernel->blocks_together);
    text_printf(p->out, ") %s(", kernel->name);
    print_parameters(p, kernel, "");
    text_add(p->out, ") {\n");
}

static void file_head(struct text *out, struct file_needs needs) {
    (void)needs;
    text_add(out, "/* Compile with --fmad=false: multiplications and additions are not to be contracted. */\n"
                  "#if defined __clang__\n"
                  "#pragma clang diagnostic ignored \"-Wpass-failed\" /* a loop that is not unrolled is no fault */\n"
                  "#endif\n");
}

static const char *atomic(enum ir_atomic atomic, enum base base) {
    static const char *const names[ATOMIC_COUNT] = {"atomicAdd", "atomicMin", "atomicMax",  "atomicAnd",
                                                    "atomicOr",  "atomicXor", "atomicExch", "atomicCAS"};
    bool is_own = base == BASE_I32 || base == BASE_U32 || base == BASE_U64;
    if (base == BASE_F32 && atomic == ATOMIC_EXCHANGE)
        is_own = true;
    if (base_info[base].is_floating && atomic == ATOMIC_ADD)
        is_own = true;
    if (base == BASE_I64 && (atomic == ATOMIC_MIN || atomic == ATOMIC_MAX))
        is_own = true;
    return is_own ? names[atomic] : NULL;
}

const struct dialect dialect_cuda = {
    .language = LANGUAGE_CUDA,
    .types = {[BASE_BOOL] = "bool",
              [BASE_I8] = "signed char",
              [BASE_I16] = "short",
              [BASE_I32] = "int",
              [BASE_I64] = "long long",
              [BASE_U8] = "unsigned char",
              [BASE_U16] = "unsigned short",
              [BASE_U32] = "unsigned",
              [BASE_U64] = "unsigned long long",
              [BASE_F32] = "float",
              [BASE_F64] = "double"},
    .byte = "unsigned char",
    .spaces = {"", "__shared__ ", "", "static const "},
    .pointees = {"", "", "", "const "},
    .restrict_word = "__restrict__",
    .suffix_i64 = "ll",
    .suffix_u64 = "ull",
    .hardware = {[TARGET_BLOCK_ID] = {"blockIdx.x", PRECEDENCE_PRIMARY},
                 [TARGET_BLOCK_COUNT] = {"gridDim.x", PRECEDENCE_PRIMARY},
                 [TARGET_THREAD_ID] = {"threadIdx.x", PRECEDENCE_PRIMARY},
                 [TARGET_THREAD_COUNT] = {"blockDim.x", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_THREAD_ID] = {"blockIdx.x * blockDim.x + threadIdx.x", PRECEDENCE_SUM},
                 [TARGET_GLOBAL_THREAD_COUNT] = {"gridDim.x * blockDim.x", PRECEDENCE_PRODUCT},
                 [TARGET_WARP_ID] = {"threadIdx.x / 32", PRECEDENCE_PRODUCT},
                 [TARGET_WARP_COUNT] = {"blockDim.x / 32", PRECEDENCE_PRODUCT},
                 [TARGET_GLOBAL_WARP_ID] = {"blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32", PRECEDENCE_SUM},
                 [TARGET_GLOBAL_WARP_COUNT] = {"gridDim.x * (blockDim.x / 32)", PRECEDENCE_PRODUCT},
                 [TARGET_LANE_ID] = {"threadIdx.x % 32", PRECEDENCE_PRODUCT}},
    .has_min_max = true,
    .has_f_suffix = true,
    .function_head = "static __device__ __forceinline__ ",
    .bits = {[BASE_U32] = "__float_as_uint",
             [BASE_U64] = "__double_as_longlong",
             [BASE_F32] = "__uint_as_float",
             [BASE_F64] = "__longlong_as_double"},
    .orders_zeros = true,
    .infinity = {"__int_as_float(0x7f800000)", "__longlong_as_double(0x7ff0000000000000ll)"},
    .has_rsqrt = true,
    .block_barrier = "__syncthreads();",
    .global_barrier = "__syncthreads();",
    .warp_barrier = "__syncwarp();",
    .shuffle = {[TARGET_EXCHANGE_AT] = "__shfl_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_UP] = "__shfl_up_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_DOWN] = "__shfl_down_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_XOR] = "__shfl_xor_sync(0xffffffffu, "},
    .ballot = "__ballot_sync(0xffffffffu, ",
    .failed_head = "static __device__ __noinline__ ",
    .fence = "__threadfence();",
    .block_fence = "__threadfence_block();",
    .atomic = atomic,
    .unroll = "#pragma unroll",
    .roll = "#pragma unroll 1",
    .alignment = "__align__(%d) ",
    .alignment_is_before = true,
    .kernel_head = kernel_head,
    .file_head = file_head,
};
