/* HIP C++, AMD's: hipcc compiles it, or hiprtc, which needs no header. A warp is 32 lanes on all GPUs,
   and where a wave has 64 it holds two of them; or, with --warp-size=64, a wave of 64. */
#include "backend/cuda_family.h"
#include "ir/machine.h"
#include "map/map.h"

static void file_head(struct text *out, struct file_needs needs) {
    bool is_whole = needs.warp_threads == 64;
    text_add(out, "/* Compile with -ffp-contract=off: multiplications and additions are not to be contracted. */\n"
                  "#if !defined __HIPCC_RTC__\n#include <hip/hip_runtime.h>\n#endif\n"
                  "#pragma clang diagnostic ignored \"-Wpass-failed\" /* a loop that is not unrolled is no fault */\n");
    text_add(out, is_whole ? "#define FCL_LANES 64 /* of a warp, a wave */\n"
                             "#if defined __HIP_DEVICE_COMPILE__ && defined __AMDGCN_WAVEFRONT_SIZE\n"
                             "#if __AMDGCN_WAVEFRONT_SIZE < FCL_LANES\n"
                             "#error waves of this GPU have 32 lanes: without --warp-size=64 they are enough\n"
                             "#endif\n#endif\n"
                             "#define FCL_BALLOT(x) __ballot(x)\n"
                           : "#define FCL_LANES 32 /* of a warp: a wave has as many, or two warps */\n"
                             "#define FCL_BALLOT(x) ((unsigned)(__ballot(x) >> (__lane_id() & FCL_LANES)))\n");
    text_add(out, "#define FCL_SHUFFLE(x, i) __shfl(x, (int)((i) & (FCL_LANES - 1)), FCL_LANES)\n"
                  "#define FCL_SHUFFLE_UP(x, n) __shfl_up(x, n, FCL_LANES)\n"
                  "#define FCL_SHUFFLE_DOWN(x, n) __shfl_down(x, n, FCL_LANES)\n"
                  "#define FCL_SHUFFLE_XOR(x, n) __shfl_xor(x, n, FCL_LANES)\n"
                  "/* Lanes of a wave go together, but for what the compiler or memory puts in another order. */\n"
                  "#if !defined fcl_warp_barrier /* what simulates a GPU may have its own */\n"
                  "static __device__ __forceinline__ __attribute__((unused)) void fcl_warp_barrier() {\n"
                  "    __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"wavefront\");\n"
                  "    __builtin_amdgcn_wave_barrier();\n"
                  "    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"wavefront\");\n"
                  "}\n#endif\n");
    if (needs.atomics64) /* HIP has them by CUDA's names since ROCm 5.3 */
        text_add(out, "#define FCL_ATOMIC_MIN(p, x) "
                      "__hip_atomic_fetch_min(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)\n"
                      "#define FCL_ATOMIC_MAX(p, x) "
                      "__hip_atomic_fetch_max(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)\n");
    if (needs.pauses)
        text_add(out, "static __device__ __forceinline__ void fcl_pause() { __builtin_amdgcn_s_sleep(4); }\n");
    if (needs.words)
        text_add(out,
                 "#define fcl_see(from) __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)\n"
                 "#define fcl_show(to, x) __hip_atomic_store(to, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)\n");
    if (needs.copies) {
        cuda_pieces(out);
        cuda_copies(out);
    }
    if (needs.matches)
        text_printf(out, "#define FCL_MATCH(x, bits) (FCL_BALLOT(((x) & (bits)) != 0) ^ ((x) & (bits) ? 0%s : ~0%s))\n",
                    is_whole ? "ull" : "u", is_whole ? "ull" : "u");
}

static const char *hip_atomic(enum ir_atomic atomic, enum base base) {
    if (base == BASE_I64 && (atomic == ATOMIC_MIN || atomic == ATOMIC_MAX))
        return atomic == ATOMIC_MIN ? "FCL_ATOMIC_MIN" : "FCL_ATOMIC_MAX";
    return cuda_atomic(atomic, base);
}

static const struct dialect dialect_hip = {
    CUDA_FAMILY("FCL_LANES"),
    .atomic = hip_atomic,
    .where = ON_HIP,
    .infinity = {"__int_as_float(0x7f800000)", "__longlong_as_double(0x7ff0000000000000ll)"},
    .approximate = {CUDA_APPROXIMATE, [OP_SQRT] = "__builtin_amdgcn_sqrtf"},
    .float_of_f16 = {"", "    return (float)__builtin_bit_cast(_Float16, x);\n"},
    .f16_of_float = {"", "    return x != x ? 0x7e00 : __builtin_bit_cast(unsigned short, (_Float16)x);\n"},
    .warp_barrier = "fcl_warp_barrier();",
    .shuffle = {[TARGET_EXCHANGE_AT] = "FCL_SHUFFLE(",
                [TARGET_EXCHANGE_UP] = "FCL_SHUFFLE_UP(",
                [TARGET_EXCHANGE_DOWN] = "FCL_SHUFFLE_DOWN(",
                [TARGET_EXCHANGE_XOR] = "FCL_SHUFFLE_XOR(",
                [TARGET_EXCHANGE_MATCH] = "FCL_MATCH("},
    .ballot = "FCL_BALLOT(",
    .alignment = " __attribute__((aligned(%d)))",
    .file_head = file_head,
};

/* ---- the target ---- */

static const struct machine machine_hip = {.device = "hip",
                                           .has_shuffles = true,
                                           .warp_sizes = 32 | 64,
                                           .pauses = true,
                                           .bucket_threads = GPU_BUCKET_BLOCK,
                                           .warp_threads = GPU_WARP_BLOCK,
                                           .shared_most = HIP_SHARED,
                                           .map = {.mapping = TARGET_SIMT,
                                                   .where = ON_HIP,
                                                   .has_warps = true,
                                                   .has_exact_blocks = true,
                                                   .static_shared_limit = HIP_SHARED,
                                                   .loads_ahead = true,
                                                   .copies_by_pieces = true,
                                                   .stack_limit = GPU_THREAD_STACK}};

const struct target target_hip = {.name = "hip",
                                  .extension = ".hip",
                                  .language = "HIP",
                                  .runtime = "FCL_BACKEND_HIP",
                                  .dialect = &dialect_hip,
                                  .simt = &machine_hip,
                                  .linked = LINK_NEVER};
