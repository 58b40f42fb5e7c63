/* Portable C. A kernel is three functions: fcl_block_NAME does one block's share; fcl_part_NAME
   does some of the blocks, for who has threads of his own to share them out among, as the runtime;
   and NAME does all of them, by OpenMP where the compiler has it. */
#include "backend/print.h"
#include "ir/machine.h"
#include "map/map.h"

static void kernel_head(struct printer *p, const struct target_kernel *kernel) {
    text_printf(p->out, "FCL_BLOCK %sstatic void fcl_block_%s(",
                kernel->quirks & quirk_bit(QUIRK_PLACES_BY_TRUTH) ? "FCL_SCALAR_BLOCK " : "", kernel->name);
    print_parameters(p, kernel, "int64_t block, int64_t blocks");
    text_add(p->out, ") {\n");
    if (kernel->forall->buffer)
        text_add(p->out, "    (void)block, (void)blocks;\n"); /* tickets say what is to be done */
    else if (kernel->count->is_constant && kernel->count->constant.integer == 1)
        text_add(p->out, "    (void)blocks;\n"); /* the first one does all */
}

static void kernel_tail(struct printer *p, const struct target_kernel *kernel) {
    const char *name = kernel->name;
    text_printf(p->out, "\nvoid fcl_part_%s(void *const *args, int64_t fcl_first, int64_t fcl_end, int64_t blocks) {\n",
                name);
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct target_parameter *parameter = &kernel->parameters.at[i];
        const char *type = memory_type(p->dialect, parameter->base);
        if (parameter->kind == TARGET_PARAMETER_SCALAR)
            text_printf(p->out, "    const %s %s = *(const %s *)args[%zu];\n", type, parameter->name, type, i);
        else
            text_printf(p->out, "    %s%s *const %s = *(void *const *)args[%zu];\n",
                        parameter->is_const ? "const " : "", type, parameter->name, i);
    }
    text_printf(p->out, "    for (int64_t block = fcl_first; block < fcl_end; ++block)\n        fcl_block_%s(", name);
    for (size_t i = 0; i < kernel->parameters.count; i++)
        text_printf(p->out, "%s, ", kernel->parameters.at[i].name);
    text_add(p->out, "block, blocks);\n}\n");
    text_printf(p->out,
                "\nvoid %s(void *const *args, int64_t blocks) {\n"
                "#ifdef _OPENMP\n#pragma omp parallel for schedule(static) if (blocks > 1)\n#endif\n"
                "    for (int64_t block = 0; block < blocks; ++block)\n"
                "        fcl_part_%s(args, block, block + 1, blocks);\n}\n",
                name, name);
}

static const char head[] =
#include "compiler/backend/parts/c.h.inc"
    ;

/* GCC's and Clang's built-in functions, in helpers: they take a memory order. */
static const char *atomic(enum ir_atomic atomic, enum base base) {
    (void)atomic, (void)base;
    return NULL;
}

const struct dialect dialect_c = {
    .language = LANGUAGE_C,
    .where = ON_C,
    .types = {[BASE_BOOL] = "bool",
              [BASE_I8] = "int8_t",
              [BASE_I16] = "int16_t",
              [BASE_I32] = "int",
              [BASE_I64] = "int64_t",
              [BASE_U8] = "uint8_t",
              [BASE_U16] = "uint16_t",
              [BASE_U32] = "uint32_t",
              [BASE_U64] = "uint64_t",
              [BASE_F32] = "float",
              [BASE_F64] = "double",
              [BASE_F16] = "uint16_t",
              [BASE_BF16] = "uint16_t"},
    .byte = "uint8_t",
    .spaces = {"", "", "", "static const "},
    .pointees = {"", "", "", "const "},
    .restrict_word = "restrict",
    .suffix_i64 = "ll",
    .suffix_u64 = "ull",
    /* Only the loop mapping is printed as C: one thread to a block. */
    .hardware = {[TARGET_BLOCK_ID] = {"block", PRECEDENCE_PRIMARY},
                 [TARGET_BLOCK_COUNT] = {"blocks", PRECEDENCE_PRIMARY},
                 [TARGET_THREAD_ID] = {"0", PRECEDENCE_PRIMARY},
                 [TARGET_THREAD_COUNT] = {"1", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_THREAD_ID] = {"block", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_THREAD_COUNT] = {"blocks", PRECEDENCE_PRIMARY},
                 [TARGET_WARP_ID] = {"0", PRECEDENCE_PRIMARY},
                 [TARGET_WARP_COUNT] = {"1", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_WARP_ID] = {"block", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_WARP_COUNT] = {"blocks", PRECEDENCE_PRIMARY},
                 [TARGET_LANE_ID] = {"0", PRECEDENCE_PRIMARY},
                 [TARGET_LANE_NUMBERS] = {"FCL_LANES", PRECEDENCE_PRIMARY},
                 [TARGET_LANE_COUNT] = {"FCL_WIDTH", PRECEDENCE_PRIMARY}},
    .has_f_suffix = true,
    .has_scalar_mathematics = true,
    .has_own_vectors = true,
    .function_head = "static inline ",
    .float_of_f16 = {"defined __clang__ && defined __F16C__", "    __fp16 number;\n"
                                                              "    memcpy(&number, &x, sizeof x);\n"
                                                              "    return (float)number;\n"},
    .f16_of_float = {"defined __clang__ && defined __F16C__", "    const __fp16 number = (__fp16)x;\n"
                                                              "    uint16_t bits;\n"
                                                              "    memcpy(&bits, &number, sizeof bits);\n"
                                                              "    return x != x ? 0x7e00 : bits;\n"},
    .infinity = {"INFINITY", "(double)INFINITY"},
    .block_barrier = "",
    .global_barrier = "",
    .warp_barrier = "",
    .failed_head = "static ",
    .fence = "__atomic_thread_fence(__ATOMIC_ACQ_REL);",
    .block_fence = "__atomic_thread_fence(__ATOMIC_ACQ_REL);",
    .atomic = atomic,
    .has_generic_atomics = true,
    .unroll = "FCL_UNROLL",
    .vectors = {[TARGET_VECTORS_WANTED] = "FCL_SIMD",
                [TARGET_VECTORS_WANTED_EIGHT] = "FCL_SIMD_EIGHT",
                [TARGET_VECTORS_EIGHT] = "FCL_EIGHT",
                [TARGET_VECTORS_NONE] = "FCL_SCALAR",
                [TARGET_VECTORS_WITHIN] = "FCL_SCALAR"},
    .alignment = " FCL_ALIGNED(%d)",
    .kernel_head = kernel_head,
    .kernel_tail = kernel_tail,
    .head = head,
};

/* ---- the target ---- */

static const struct machine machine_c = {.device = "c",
                                         .shared_bytes = CPU_SHARED,
                                         .map = {.mapping = TARGET_LOOP, .may_have_vectors = true, .where = ON_C}};

const struct target target_c = {.name = "c",
                                .extension = ".c",
                                .language = "C",
                                .runtime = "FCL_BACKEND_C",
                                .dialect = &dialect_c,
                                .loop = &machine_c,
                                .linked = LINK_FUNCTIONS};
