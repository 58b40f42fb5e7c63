/* OpenCL C 1.2, for both mappings. */
#include "backend/print.h"
#include "ir/machine.h"
#include "map/map.h"

static const char head[] =
#include "compiler/backend/parts/opencl.cl.inc"
    ;

static void kernel_head(struct printer *p, const struct target_kernel *kernel) {
    bool is_as_written = kernel->quirks & quirk_bit(QUIRK_AS_WRITTEN);
    p->points_to_shared = kernel->quirks & quirk_bit(QUIRK_SHARED_ADDRESSES);
    if (kernel->mapping == TARGET_LOOP)
        text_add(p->out, "__kernel FCL_WIDE __attribute__((reqd_work_group_size(1, 1, 1)))\n");
    else
        text_printf(p->out, "__kernel %s%s", is_as_written ? "FCL_AS_WRITTEN " : "",
                    kernel->needs_warps ? "FCL_SUB_GROUPS " : "");
    if (kernel->mapping == TARGET_SIMT && kernel->is_exact)
        text_printf(p->out, "__attribute__((reqd_work_group_size(%d, 1, 1)))\n", kernel->block_threads);
    text_printf(p->out, "void %s(", kernel->name);
    print_parameters(p, kernel, "");
    text_add(p->out, ") {\n");
}

/* The function for an atomic; those of 64 bits are of cl_khr_int64_base_atomics. */
static const char *atomic(enum ir_atomic atomic, enum base base) {
    static const char *const names[ATOMIC_COUNT] = {"atomic_add", "atomic_min", "atomic_max",  "atomic_and",
                                                    "atomic_or",  "atomic_xor", "atomic_xchg", "atomic_cmpxchg"};
    if (base == BASE_I32 || base == BASE_U32)
        return names[atomic];
    if (base == BASE_F32 && atomic == ATOMIC_EXCHANGE)
        return names[atomic];
    if (base != BASE_I64 && base != BASE_U64)
        return NULL;
    switch (atomic) {
    case ATOMIC_ADD: return "atom_add";
    case ATOMIC_EXCHANGE: return "atom_xchg";
    case ATOMIC_COMPARE_EXCHANGE: return "atom_cmpxchg";
    case ATOMIC_MIN:
    case ATOMIC_MAX:
    case ATOMIC_AND:
    case ATOMIC_OR:
    case ATOMIC_XOR:
    case ATOMIC_COUNT: break;
    }
    return NULL;
}

static const struct dialect dialect_opencl = {
    .language = LANGUAGE_OPENCL,
    .where = ON_OPENCL,
    .types = {[BASE_BOOL] = "bool",
              [BASE_I8] = "char",
              [BASE_I16] = "short",
              [BASE_I32] = "int",
              [BASE_I64] = "long",
              [BASE_U8] = "uchar",
              [BASE_U16] = "ushort",
              [BASE_U32] = "uint",
              [BASE_U64] = "ulong",
              [BASE_F32] = "float",
              [BASE_F64] = "double",
              [BASE_F16] = "ushort",
              [BASE_BF16] = "ushort"},
    .byte = "uchar",
    .spaces = {"__global ", "__local ", "", "__constant "},
    .pointees = {"__global ", "__local ", "", "__constant "},
    .restrict_word = "restrict",
    .suffix_i64 = "l",
    .suffix_u64 = "ul",
    // QUIRK_WARP_NUMBERS: a warp's number is a quotient of 32 bits.
    .hardware = {[TARGET_BLOCK_ID] = {"get_group_id(0)", PRECEDENCE_PRIMARY},
                 [TARGET_BLOCK_COUNT] = {"get_num_groups(0)", PRECEDENCE_PRIMARY},
                 [TARGET_THREAD_ID] = {"get_local_id(0)", PRECEDENCE_PRIMARY},
                 [TARGET_THREAD_COUNT] = {"get_local_size(0)", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_THREAD_ID] = {"get_global_id(0)", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_THREAD_COUNT] = {"get_global_size(0)", PRECEDENCE_PRIMARY},
                 [TARGET_WARP_ID] = {"(uint)get_local_id(0) / 32", PRECEDENCE_PRODUCT},
                 [TARGET_WARP_COUNT] = {"get_local_size(0) / 32", PRECEDENCE_PRODUCT},
                 [TARGET_GLOBAL_WARP_ID] = {"(uint)get_global_id(0) / 32", PRECEDENCE_PRODUCT},
                 [TARGET_GLOBAL_WARP_COUNT] = {"get_global_size(0) / 32", PRECEDENCE_PRODUCT},
                 [TARGET_LANE_ID] = {"get_local_id(0) % 32", PRECEDENCE_PRODUCT},
                 [TARGET_LANE_NUMBERS] = {"FCL_LANES", PRECEDENCE_PRIMARY}},
    .has_min_max = true,
    .function_head = "static inline ",
    .bits = {[BASE_U32] = "as_uint", [BASE_U64] = "as_ulong", [BASE_F32] = "as_float", [BASE_F64] = "as_double"},
    .approximate = {[OP_DIV] = "native_divide",
                    [OP_SQRT] = "native_sqrt",
                    [OP_RSQRT] = "native_rsqrt",
                    [OP_EXP] = "native_exp",
                    [OP_EXP2] = "native_exp2",
                    [OP_LOG] = "native_log",
                    [OP_LOG2] = "native_log2",
                    [OP_LOG10] = "native_log10",
                    [OP_SIN] = "native_sin",
                    [OP_COS] = "native_cos",
                    [OP_POW] = "native_powr"},
    .float_of_f16 = {"defined cl_khr_fp16", "    return convert_float(as_half(x));\n"},
    .f16_of_float = {"defined cl_khr_fp16", "    return x != x ? 0x7e00 : as_ushort(convert_half_rte(x));\n"},
    .infinity = {"INFINITY", "as_double(0x7ff0000000000000ul)"},
    .has_rsqrt = true,
    .block_barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
    .global_barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .warp_barrier = "FCL_SUB_GROUP_BARRIER();",
    .shuffle = {[TARGET_EXCHANGE_AT] = "FCL_SHUFFLE(",
                [TARGET_EXCHANGE_UP] = "FCL_SHUFFLE_UP(",
                [TARGET_EXCHANGE_DOWN] = "FCL_SHUFFLE_DOWN(",
                [TARGET_EXCHANGE_XOR] = "FCL_SHUFFLE_XOR(",
                [TARGET_EXCHANGE_MATCH] = "FCL_MATCH("},
    .ballot = "FCL_BALLOT(",
    .failed_head = "static ",
    .fence = "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .block_fence = "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .atomic = atomic,
    .unroll = "#pragma unroll",
    .vectors = {[TARGET_VECTORS_WANTED] = "FCL_SIMD",
                [TARGET_VECTORS_WANTED_EIGHT] = "FCL_SIMD_EIGHT",
                [TARGET_VECTORS_EIGHT] = "FCL_EIGHT",
                [TARGET_VECTORS_NONE] = "FCL_SCALAR",
                [TARGET_VECTORS_WITHIN] = "FCL_SCALAR"},
    .alignment = " __attribute__((aligned(%d)))",
    .kernel_head = kernel_head,
    .head = head,
};

/* ---- the target ---- */

#define OF_THREADS                                                                                                     \
    .device = "opencl-gpu", .polls_by_atomics = true, .shared_most = GPU_SHARED_MOST, .table_bytes = OPENCL_TABLE
#define MAP_OF_THREADS                                                                                                 \
    .mapping = TARGET_SIMT, .has_exact_blocks = true, .where = ON_OPENCL_THREADS, .dynamic_as_parameters = true,       \
    .stack_limit = GPU_THREAD_STACK, .block_stack_limit = OPENCL_BLOCK_STACK

static const struct machine machine_opencl_gpu = {OF_THREADS, .map = {MAP_OF_THREADS}};

/* The same, whose warps are sub-groups of 32. */
static const struct machine machine_opencl_sub_groups = {OF_THREADS, .has_shuffles = true, .warp_sizes = 32,
                                                         .map = {MAP_OF_THREADS, .has_warps = true}};

static const struct machine machine_opencl_cpu = {
    .device = "opencl-cpu",
    .shared_bytes = CPU_SHARED,
    .map = {.mapping = TARGET_LOOP, .dynamic_as_parameters = true, .has_vectors = true, .where = ON_OPENCL_LOOPS}};

const struct target target_opencl = {.name = "opencl",
                                     .extension = ".cl",
                                     .language = "OpenCL",
                                     .runtime = "FCL_BACKEND_OPENCL",
                                     .dialect = &dialect_opencl,
                                     .simt = &machine_opencl_gpu,
                                     .loop = &machine_opencl_cpu,
                                     .sub_groups = &machine_opencl_sub_groups,
                                     .linked = LINK_NEVER};
