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

/* Vectors, as extensions of GCC and Clang have them, with what OpenCL C has built in: note [width] in map/vectors.c. */
static const char vector_head[] =
    "#if defined __clang__ || __GNUC__ >= 9 /* convertvector */\n"
    "#pragma GCC diagnostic ignored \"-Wpsabi\" /* of functions in this file only */\n"
    "#define FCL_INLINE static inline __attribute__((always_inline, unused))\n"
    "/* Elements of 4 bytes in a vector: GCC keeps vectors in memory that are larger than a register. */\n"
    "#if defined __AVX512F__ || defined __clang__\n"
    "#define FCL_WIDTH 16\n"
    "#define FCL_ALL(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}\n"
    "#define FCL_LANES ((fcl_int_vec){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})\n"
    "#elif defined __AVX2__\n"
    "#define FCL_WIDTH 8\n"
    "#define FCL_ALL(x) {x, x, x, x, x, x, x, x}\n"
    "#define FCL_LANES ((fcl_int_vec){0, 1, 2, 3, 4, 5, 6, 7})\n"
    "#else\n"
    "#define FCL_WIDTH 4\n"
    "#define FCL_ALL(x) {x, x, x, x}\n"
    "#define FCL_LANES ((fcl_int_vec){0, 1, 2, 3})\n"
    "#endif\n"
    "typedef float fcl_float_vec __attribute__((vector_size(4 * FCL_WIDTH)));\n"
    "typedef int fcl_int_vec __attribute__((vector_size(4 * FCL_WIDTH)));\n"
    "typedef uint32_t fcl_uint_vec __attribute__((vector_size(4 * FCL_WIDTH)));\n"
    "typedef uint8_t fcl_u8_vec __attribute__((vector_size(FCL_WIDTH)));\n"
    "typedef float fcl_floats_at __attribute__((vector_size(4 * FCL_WIDTH), aligned(4), may_alias));\n"
    "typedef int fcl_ints_at __attribute__((vector_size(4 * FCL_WIDTH), aligned(4), may_alias));\n"
    "typedef uint32_t fcl_uint32_ts_at __attribute__((vector_size(4 * FCL_WIDTH), aligned(4), may_alias));\n"
    "typedef fcl_uint_vec fcl_uint32_t_vec;\n"
    "#define FCL_MASK(x) (x) /* of comparisons: all bits of each lane, or none */\n"
    "#define FCL_VECTOR(TYPE, at) ((fcl_##TYPE##_vec)*(const fcl_##TYPE##s_at *)(at))\n"
    "#define fcl_vector_store(value, first, at)               \\\n"
    "    do {                                                 \\\n"
    "        const __typeof__(value) fcl_all = (value);       \\\n"
    "        memcpy((at) + (first), &fcl_all, sizeof fcl_all); \\\n"
    "    } while (0)\n"
    "FCL_INLINE fcl_float_vec fcl_float_vec_of(float x) { return (fcl_float_vec)FCL_ALL(x); }\n"
    "FCL_INLINE fcl_int_vec fcl_int_vec_of(int x) { return (fcl_int_vec)FCL_ALL(x); }\n"
    "FCL_INLINE fcl_uint_vec fcl_uint_vec_of(uint32_t x) { return (fcl_uint_vec)FCL_ALL(x); }\n"
    "FCL_INLINE fcl_u8_vec fcl_u8_vec_of(uint8_t x) { return (fcl_u8_vec)FCL_ALL(x); }\n"
    "#define fcl_float_vec_from(x) __builtin_convertvector(x, fcl_float_vec)\n"
    "#define fcl_u8_vec_from(x) __builtin_convertvector(x, fcl_u8_vec)\n"
    "/* b where the lanes of c are all ones, else a */\n"
    "#define fcl_vector_select(a, b, c) FCL_CHOSEN(__typeof__(a), a, b, c)\n"
    "#define FCL_CHOSEN(TYPE, a, b, c) ((TYPE)fcl_chosen((fcl_int_vec)(a), (fcl_int_vec)(b), c))\n"
    "FCL_INLINE fcl_int_vec fcl_chosen(fcl_int_vec a, fcl_int_vec b, fcl_int_vec c) { return (b & c) | (a & ~c); }\n"
    "#define fcl_vector_signbit(x) ((fcl_int_vec)(x) < 0)\n"
    "#define fcl_vector_fabs(x) ((fcl_float_vec)((fcl_int_vec)(x) & 0x7fffffff))\n"
    "FCL_INLINE bool fcl_vector_any(fcl_int_vec x) {\n"
    "#if FCL_WIDTH == 8\n"
    "    return __builtin_ia32_movmskps256((fcl_float_vec)x) != 0;\n"
    "#elif FCL_WIDTH == 16\n"
    "    union {\n        fcl_u8_vec all;\n        uint64_t at[2];\n    } u = {__builtin_convertvector(x, "
    "fcl_u8_vec)};\n"
    "    return (u.at[0] | u.at[1]) != 0;\n"
    "#else\n"
    "    union {\n        fcl_int_vec all;\n        uint64_t at[2];\n    } u = {x};\n"
    "    return (u.at[0] | u.at[1]) != 0;\n"
    "#endif\n"
    "}\n"
    "#define FCL_BY_LANES(name, function)                                   \\\n"
    "    FCL_INLINE fcl_float_vec fcl_vector_##name(fcl_float_vec x) {      \\\n"
    "        union {                                                        \\\n"
    "            fcl_float_vec all;                                         \\\n"
    "            float at[FCL_WIDTH];                                       \\\n"
    "        } u = {x};                                                     \\\n"
    "        FCL_SIMD                                                       \\\n"
    "        for (int i = 0; i < FCL_WIDTH; ++i)                            \\\n"
    "            u.at[i] = function(u.at[i]);                               \\\n"
    "        return u.all;                                                  \\\n"
    "    }\n"
    "FCL_INLINE fcl_float_vec fcl_vector_fma(fcl_float_vec x, fcl_float_vec y, fcl_float_vec z) {\n"
    "#if defined __FMA__ && !defined __clang__ && FCL_WIDTH == 8\n"
    "    return __builtin_ia32_vfmaddps256(x, y, z);\n"
    "#elif defined __FMA__ && !defined __clang__ && FCL_WIDTH == 16\n"
    "    return __builtin_ia32_vfmaddps512_mask(x, y, z, (unsigned short)-1, 4);\n"
    "#else\n"
    "    union {\n        fcl_float_vec all;\n        float at[FCL_WIDTH];\n    } a = {x}, b = {y}, c = {z};\n"
    "    FCL_SIMD\n"
    "    for (int i = 0; i < FCL_WIDTH; ++i)\n"
    "        a.at[i] = fmaf(a.at[i], b.at[i], c.at[i]);\n"
    "    return a.all;\n"
    "#endif\n"
    "}\n"
    "#else /* vectors of one element, in loops that are too long to be unrolled then */\n"
    "#undef FCL_UNROLL\n"
    "#define FCL_UNROLL\n"
    "#define FCL_WIDTH 1\n"
    "#define FCL_INLINE static inline\n"
    "#define FCL_LANES 0\n"
    "#define FCL_MASK(x) (-(x))\n"
    "typedef float fcl_float_vec;\n"
    "typedef int fcl_int_vec;\n"
    "typedef uint32_t fcl_uint_vec;\n"
    "typedef uint8_t fcl_u8_vec;\n"
    "#define FCL_VECTOR(TYPE, at) (*(at))\n"
    "#define fcl_vector_store(value, first, at) ((at)[first] = (value))\n"
    "#define fcl_float_vec_of(x) ((float)(x))\n"
    "#define fcl_int_vec_of(x) ((int)(x))\n"
    "#define fcl_uint_vec_of(x) ((uint32_t)(x))\n"
    "#define fcl_u8_vec_of(x) ((uint8_t)(x))\n"
    "#define fcl_float_vec_from(x) ((float)(x))\n"
    "#define fcl_u8_vec_from(x) ((uint8_t)(x))\n"
    "#define fcl_vector_select(a, b, c) ((c) ? (b) : (a))\n"
    "#define fcl_vector_signbit(x) FCL_MASK(signbit(x) != 0)\n"
    "#define fcl_vector_fabs(x) fabsf(x)\n"
    "#define fcl_vector_any(x) ((x) != 0)\n"
    "#define FCL_BY_LANES(name, function) FCL_INLINE float fcl_vector_##name(float x) { return function(x); }\n"
    "#define fcl_vector_fma(x, y, z) fmaf(x, y, z)\n"
    "#endif\n"
    "FCL_BY_LANES(sqrt, sqrtf)\nFCL_BY_LANES(floor, floorf)\nFCL_BY_LANES(ceil, ceilf)\nFCL_BY_LANES(trunc, truncf)\n"
    "#define fcl_vector_rsqrt(x) (1.0f / fcl_vector_sqrt(x))\n"
    "#define fcl_vector_min(a, b) fcl_vector_select(b, a, (a) < (b))\n"
    "#define fcl_vector_max(a, b) fcl_vector_select(b, a, (b) < (a))\n";

/* Note [selections] in map/selections.c: how many of the loop's rounds are done, 16 at a time. `at` is where the next
   element that is kept goes; those from min(end, length) on are dropped. The last one stays where the next belongs if
   it is not kept, as the loop would leave it. */
static const char selection_head[] =
    "#if defined __AVX512F__ && defined __has_builtin\n"
    "#if __has_builtin(__builtin_ia32_compresssi512_mask) && __has_builtin(__builtin_ia32_storedqusi512_mask)\n"
    "#define FCL_SELECTS\n"
    "#endif\n"
    "#endif\n"
    "#ifdef FCL_SELECTS\n"
    "typedef int fcl_v16 __attribute__((vector_size(64)));\n"
    "typedef long long fcl_v8 __attribute__((vector_size(64)));\n"
    "static inline int fcl_lanes(int64_t room, int count) {\n"
    "    return room <= 0 ? 0 : (1 << (room < count ? (int)room : count)) - 1;\n"
    "}\n"
    "static inline void fcl_store_4(char *to, const char *from, int kept, int64_t room) {\n"
    "    fcl_v16 x;\n"
    "    memcpy(&x, from, sizeof x);\n"
    "    x = __builtin_ia32_compresssi512_mask(x, (fcl_v16){0}, (unsigned short)kept);\n"
    "    __builtin_ia32_storedqusi512_mask((void *)to, x, (unsigned short)fcl_lanes(room, __builtin_popcount(kept)));\n"
    "}\n"
    "static inline void fcl_store_8(char *to, const char *from, int kept, int64_t room) {\n"
    "    for (int half = 0; half < 2; ++half) {\n"
    "        const int own = kept >> 8 * half & 255, count = __builtin_popcount(own);\n"
    "        fcl_v8 x;\n"
    "        memcpy(&x, from + half * 64, sizeof x);\n"
    "        x = __builtin_ia32_compressdi512_mask(x, (fcl_v8){0}, (unsigned char)own);\n"
    "        __builtin_ia32_storedqudi512_mask((void *)to, x, (unsigned char)fcl_lanes(room, count));\n"
    "        to += count * 8;\n"
    "        room -= count;\n"
    "    }\n"
    "}\n"
    "#define FCL_SELECT(bytes) \\\n"
    "    static inline int fcl_select_##bytes(const int *ones, int count, int *at, int end, int length, \\\n"
    "                                         const void *from, void *to) { \\\n"
    "        const int64_t limit = end < length ? end : length; \\\n"
    "        int done = 0, next = *at; \\\n"
    "        for (; next >= 0 && done + 16 <= count; done += 16) { \\\n"
    "            fcl_v16 one; \\\n"
    "            memcpy(&one, ones + done, sizeof one); \\\n"
    "            const int kept = __builtin_ia32_cmpd512_mask(one, (fcl_v16){0}, 4, (unsigned short)-1); \\\n"
    "            if (__builtin_ia32_cmpd512_mask(one & ~1, (fcl_v16){0}, 4, (unsigned short)-1)) \\\n"
    "                break; \\\n"
    "            fcl_store_##bytes((char *)to + (int64_t)next * bytes, (const char *)from + (int64_t)done * bytes, \\\n"
    "                              kept, limit - next); \\\n"
    "            next = (int)((uint32_t)next + (uint32_t)__builtin_popcount(kept)); \\\n"
    "        } \\\n"
    "        if (done && !ones[done - 1] && next >= 0 && next < limit) \\\n"
    "            memcpy((char *)to + (int64_t)next * bytes, (const char *)from + (int64_t)(done - 1) * bytes, bytes); "
    "\\\n"
    "        *at = next; \\\n"
    "        return done; \\\n"
    "    }\n"
    "FCL_SELECT(4)\n"
    "FCL_SELECT(8)\n"
    "#else\n"
    "#define fcl_select_4(ones, count, at, end, length, from, to) 0\n"
    "#define fcl_select_8(ones, count, at, end, length, from, to) 0\n"
    "#endif\n";

static void file_head(struct text *out, struct file_needs needs) {
    text_add(
        out,
        "/* Compile with -ffp-contract=off: multiplications and additions are not to be contracted; and with\n"
        "   -fno-tree-slp-vectorize: GCC 12's straight-line vectoriser loses the rounding in (double)(float)x.\n"
        "   Loops are faster with -O3 -march=native -fno-math-errno -fno-trapping-math. */\n"
        "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n\n"
        "#if defined __clang__\n"
        "#pragma clang diagnostic ignored \"-Wpass-failed\" /* a loop that cannot be vectorised is no fault */\n"
        "#pragma clang diagnostic ignored \"-Wunused-function\" /* helpers for processors with fewer instructions */\n"
        "#elif defined __GNUC__ /* quotients compared; what one loop fills and another reads, which GCC may not see "
        "*/\n"
        "#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n"
        "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
        "#endif\n"
        "#if defined __GNUC__\n"
        "#define FCL_BLOCK __attribute__((noinline)) /* keeps what `restrict` says about its parameters */\n"
        "#define FCL_ALIGNED(bytes) __attribute__((aligned(bytes)))\n"
        "#else\n#define FCL_BLOCK\n#define FCL_ALIGNED(bytes)\n#endif\n"
        "#if defined __clang__\n#define FCL_UNROLL _Pragma(\"unroll\")\n"
        "#define FCL_SCALAR _Pragma(\"clang loop vectorize(disable)\")\n"
        "#elif defined __GNUC__\n#define FCL_UNROLL _Pragma(\"GCC unroll 128\")\n#define FCL_SCALAR\n"
        "#else\n#define FCL_UNROLL\n#define FCL_SCALAR\n#endif\n"
        "#if defined _OPENMP || defined FCL_OPENMP_SIMD /* as where -fopenmp-simd is given */\n"
        "#define FCL_SIMD _Pragma(\"omp simd\")\n#else\n#define FCL_SIMD\n#endif\n"
        "#if defined __clang__ /* clang 15 begins anew with an index where it goes on with shorter vectors than 16 */\n"
        "#define FCL_EIGHT _Pragma(\"clang loop vectorize_width(8)\")\n"
        "#define FCL_SIMD_EIGHT _Pragma(\"clang loop vectorize(assume_safety) vectorize_width(8)\")\n"
        "#else\n#define FCL_EIGHT\n#define FCL_SIMD_EIGHT FCL_SIMD\n#endif\n");
    text_add(out, needs.own_vectors ? vector_head : "");
    text_add(out, needs.selections ? selection_head : "");
    quirks_print(out, needs.quirks, ON_C);
}

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
    .file_head = file_head,
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
