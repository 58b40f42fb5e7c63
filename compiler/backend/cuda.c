/* CUDA C++: needs no header, so that NVRTC compiles it as it is. */
#include "backend/cuda_family.h"
#include "ir/machine.h"
#include "map/map.h"

static bool divides(const struct target_expr *expr) {
    if (expr->kind != TARGET_EXPR_OPERATION)
        return false;
    if (expr->op == OP_SHR || expr->op == OP_DIV || expr->op == OP_REM)
        return true;
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        if (divides(expr->operands[i]))
            return true;
    return false;
}

/* Is a place divided in a loop that is unrolled? NVIDIA's compiler does not conclude from the launch
   bounds how many threads a block has: it would compute the row and the column of each result of a
   tile in every thread, ahead of all, until registers spill. FCL_THREADS tells it. */
static bool unrolls_division(const struct target_block *block, bool is_unrolled) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        if (is_unrolled && statement->kind == TARGET_DECLARE && statement->value && divides(statement->value))
            return true;
        bool within = is_unrolled || (statement->kind == TARGET_FOR && statement->unroll);
        if (unrolls_division(&statement->body, within) || unrolls_division(&statement->other, within))
            return true;
    }
    return false;
}

/* A compiler that is not told how many threads there are does not conclude it from the launch bounds. In unrolled loops
   it then computes in each thread what follows from constants, such as the rows and columns of a tile's elements. */
void cuda_kernel_head(struct printer *p, const struct target_kernel *kernel) {
    text_printf(p->out, "extern \"C\" __global__ void __launch_bounds__(%d", kernel->block_threads);
    if (kernel->blocks_together > 1)
        text_printf(p->out, ", %d", kernel->blocks_together);
    text_printf(p->out, ") %s(", kernel->name);
    print_parameters(p, kernel, "");
    text_add(p->out, ") {\n");
    if (p->dialect->where == ON_CUDA && unrolls_division(&kernel->body, false)) {
        use_part(p, true, PART_THREADS);
        text_printf(p->out, "    FCL_THREADS(%d);\n", kernel->block_threads);
    }
}

static const char head[] =
#include "compiler/backend/parts/cuda.cu.inc"
#include "compiler/backend/parts/copies.cu.inc"
#include "compiler/backend/parts/ahead.cu.inc"
#include "compiler/backend/parts/pairs.cu.inc"
    ;

static const char matrices[] =
#include "compiler/backend/parts/matrices.cu.inc"
    ;

const char *cuda_atomic(enum ir_atomic atomic, enum base base) {
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

/* The words of parts/matrices.cu. */
#define SUMS_OF_FLOATS                                                                                                 \
    {"SUM", "float"}, {"KIND", "f"}, { "JOINED", "fmaf(x, y, sum)" }
#define HALVES(name)                                                                                                   \
    {"ELEMENT", name}, {"PARAMETERS", "unsigned short x0, unsigned short x1"}, {"WORD", "x0 | (unsigned)x1 << 16"},    \
        {"SHAPE", "m16n8k16.row.col.f32." name "." name ".f32"}, {"PACK", "2"}, {"TAKEN", ""},                         \
        {"PART", "fcl_float_of_" name "((unsigned short)(word >> 16 * i))"}, SUMS_OF_FLOATS
static const struct text_word products_f16[] = {HALVES("f16"), {0}};
static const struct text_word products_bf16[] = {HALVES("bf16"), {0}};
static const struct text_word products_float[] = {{"ELEMENT", "float"},
                                                  {"PARAMETERS", "float x"},
                                                  {"WORD", "__float_as_uint(x)"},
                                                  {"SHAPE", "m16n8k8.row.col.f32.tf32.tf32.f32"},
                                                  {"PACK", "1"},
                                                  {"TAKEN", "fcl_tf32"},
                                                  {"PART", "__uint_as_float(word)"},
                                                  SUMS_OF_FLOATS,
                                                  {0}};
#define BYTES(name, parameters, part)                                                                                  \
    {"ELEMENT", name}, {"PARAMETERS", parameters},                                                                     \
        {"WORD", "(x0 & 255) | (x1 & 255) << 8 | (x2 & 255) << 16 | (unsigned)x3 << 24"}, {"SUM", "int"},              \
        {"KIND", "r"}, {"SHAPE", "m16n8k32.row.col.s32." part "." part ".s32"}, {"PACK", "4"}, {"TAKEN", ""}, {        \
        "JOINED", "(int)((unsigned)sum + (unsigned)(x * y))"                                                           \
    }
static const struct text_word products_i8[] = {
    BYTES("i8", "signed char x0, signed char x1, signed char x2, signed char x3", "s8"),
    {"PART", "(signed char)(word >> 8 * i)"},
    {0}};
static const struct text_word products_u8[] = {
    BYTES("u8", "unsigned char x0, unsigned char x1, unsigned char x2, unsigned char x3", "u8"),
    {"PART", "(unsigned char)(word >> 8 * i)"},
    {0}};

static const struct dialect dialect_cuda = {
    CUDA_FAMILY("32"),
    .atomic = cuda_atomic,
    .where = ON_CUDA,
    .orders_zeros = true,
    .approximate = {CUDA_APPROXIMATE, [OP_SQRT] = "fcl_fast_sqrt", [OP_TANH] = "fcl_fast_tanh"},
    .float_of_f16 = {"", "    float y;\n"
                         "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(x));\n"
                         "    return y;\n"},
    .f16_of_float = {"", "    unsigned short y;\n"
                         "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));\n"
                         "    return x != x ? 0x7e00 : y;\n"},
    .half_arithmetic = {[BASE_F16] = "__CUDA_ARCH__ >= 530", [BASE_BF16] = "__CUDA_ARCH__ >= 900"},
    .bf16_of_float = {"__CUDA_ARCH__ >= 800", "    unsigned short y;\n"
                                              "    asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));\n"
                                              "    return x != x ? 0x7fc0 : y;\n"},
    .infinity = {"__int_as_float(0x7f800000)", "__longlong_as_double(0x7ff0000000000000ll)"},
    .has_rsqrt = true,
    .warp_barrier = "__syncwarp();",
    .shuffle = {[TARGET_EXCHANGE_AT] = "__shfl_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_UP] = "__shfl_up_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_DOWN] = "__shfl_down_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_XOR] = "__shfl_xor_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_MATCH] = "fcl_match("},
    .loads_wide = true,
    .ballot = "__ballot_sync(0xffffffffu, ",
    .alignment = "__align__(%d) ",
    .alignment_is_before = true,
    .head = head,
    .matrices = matrices,
    .products = {[BASE_F16] = products_f16,
                 [BASE_BF16] = products_bf16,
                 [BASE_F32] = products_float,
                 [BASE_I8] = products_i8,
                 [BASE_U8] = products_u8},
};

/* ---- the target ---- */

static const struct machine machine_cuda = {.device = "cuda",
                                            .shared_most = GPU_SHARED_MOST,
                                            .has_shuffles = true,
                                            .has_mma = true,
                                            .warp_sizes = 32,
                                            .pauses = true,
                                            .copies_ahead = true,
                                            .bucket_threads = GPU_BUCKET_BLOCK,
                                            .warp_threads = GPU_WARP_BLOCK,
                                            .map = {.mapping = TARGET_SIMT,
                                                    .where = ON_CUDA,
                                                    .has_warps = true,
                                                    .has_exact_blocks = true,
                                                    .threads_together = CUDA_THREADS_TOGETHER,
                                                    .threads_together_few = CUDA_THREADS_TOGETHER_FEW,
                                                    .threads_together_large = CUDA_THREADS_TOGETHER_LARGE,
                                                    .registers = CUDA_REGISTERS,
                                                    .static_shared_limit = CUDA_STATIC_SHARED,
                                                    .loads_ahead = true,
                                                    .copies_by_pieces = true,
                                                    .counts_places = true,
                                                    .computes_halves = true,
                                                    .stack_limit = GPU_THREAD_STACK}};

const struct target target_cuda = {.name = "cuda",
                                   .extension = ".cu",
                                   .language = "CUDA",
                                   .runtime = "FCL_BACKEND_CUDA",
                                   .dialect = &dialect_cuda,
                                   .simt = &machine_cuda,
                                   .linked = LINK_IMAGE,
                                   .has_graphs = true};
