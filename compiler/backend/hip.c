/* HIP C++, AMD's: hipcc compiles it, or hiprtc, which needs no header. A warp is 32 lanes on all GPUs,
   and where a wave has 64 it holds two of them; or, with --warp-size=64, a wave of 64. */
#include "backend/cuda_family.h"
#include "ir/machine.h"
#include "map/map.h"

static const char head[] =
#include "compiler/backend/parts/hip.hip.inc"
#include "compiler/backend/parts/copies.cu.inc"
    ;

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
    .head = head,
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
