/* The functions that give operations a result where the languages leave it undefined, printed when used. */
#include <inttypes.h>
#include <string.h>

#include "backend/print.h"
#include "ir/build/fold.h"

static void print_head(struct printer *p, const char *result, const char *name) {
    text_printf(p->out, "%s%s %s(", p->dialect->function_head, result, name);
}

/* ---- functions of the table ---- */

static const char *const function_texts[OP_COUNT][LANGUAGE_COUNT] = {
#define OP(...)
#define PRIM(id, name, arity, type, doc)
#define SCALAR(id, name, arity, type, doc, commutes, made)
#define FUNCTION(id, name, arity, type, doc, commutes, result, cost, integer, bounds, cuda, opencl, c)                 \
    [OP_##id] = {[LANGUAGE_CUDA] = cuda, [LANGUAGE_OPENCL] = opencl, [LANGUAGE_C] = c},
#define MATH(id, name, arity, type, doc, function, cost, lanes)
#include "types/primitives.def"
#undef OP
};

/* The text for `$c`: $T the type, $L one that holds its products, of at most 64 bits; $W the
   unsigned type of x, of 32 or 64 bits, $S the signed one, $w their width, $l `ll` where that is 64;
   $b the width of $T, $s ` - 8` where it is 8 bits less; $u `u` where $T is unsigned. */
static const char *stands_for(const struct printer *p, char c, enum base base) {
    const char *const *types = p->dialect->types;
    int bits = base_info[base].bits;
    bool is_signed = base_info[base].is_signed, is_wide = bits == 64;
    switch (c) {
    case 'T': return types[base];
    case 'L': return types[bits == 32 ? (is_signed ? BASE_I64 : BASE_U64) : (is_signed ? BASE_I32 : BASE_U32)];
    case 'W': return types[is_wide ? BASE_U64 : BASE_U32];
    case 'S': return types[is_wide ? BASE_I64 : BASE_I32];
    case 'w': return is_wide ? "64" : "32";
    case 'b': return arena_printf(p->out->arena, "%d", bits);
    case 'l': return is_wide ? "ll" : "";
    case 's': return bits < 32 ? arena_printf(p->out->arena, " - %d", 32 - bits) : "";
    default: return is_signed ? "" : "u"; /* $u */
    }
}

static void print_function(struct printer *p, enum ir_op op, enum base base) {
    const char *const *types = p->dialect->types;
    const char *natural = types[base_of_bits(base)], *wide = stands_for(p, 'W', base);
    const char *text = function_texts[op][p->dialect->language];
    if (!text)
        text = function_texts[op][LANGUAGE_C];
    const char *wide_text = strstr(text, "$|"), *end = wide_text ? wide_text : text + strlen(text);
    if (wide_text && base_info[base].bits == 64) {
        text = wide_text + 2;
        end = text + strlen(text);
    }
    bool is_binary = ir_op_info[op].arity > 1;
    text_printf(p->out, is_binary ? "%s a, %s b) {\n" : "%s a) {\n", types[base], types[base]);
    if (strchr(text, 'x'))
        text_printf(p->out, "    const %s x = (%s)a;\n", wide, natural);
    text_add(p->out, "    ");
    for (; text < end; text++)
        if (*text == '$')
            text_add(p->out, stands_for(p, *++text, base));
        else
            text_printf(p->out, "%c", *text);
    text_add(p->out, "\n}\n");
}

/* ---- others ---- */

/* Towards zero; beyond the range its nearest end; NaN is 0. The bounds are powers of two, so exact in both types. */
static void print_conversion(struct printer *p, enum base to, enum base from) {
    int bits = base_info[to].bits;
    bool is_signed = base_info[to].is_signed;
    const char *suffix = from == BASE_F32 ? "f" : "";
    union scalar low = {.integer = 0}, high = {.natural = UINT64_MAX >> (64 - bits)};
    if (is_signed) {
        high.natural >>= 1;
        low.integer = -high.integer - 1;
    }
    double bound = (double)(high.natural / 2 + 1) * 2;
    text_printf(p->out, "%s x) {\n    return x >= %.1f%s ? ", p->dialect->types[from], bound, suffix);
    print_constant(p, to, high, PRECEDENCE_ANY);
    text_printf(p->out, " : x > %s%.1f%s ? (%s)x : ", is_signed ? "-" : "", is_signed ? bound : 0.0, suffix,
                p->dialect->types[to]);
    if (is_signed) {
        text_printf(p->out, "x <= -%.1f%s ? ", bound, suffix);
        print_constant(p, to, low, PRECEDENCE_ANY);
        text_add(p->out, " : 0");
    } else {
        text_add(p->out, "0");
    }
    text_add(p->out, ";\n}\n");
}

/* note [conversions]
   Between a float and the bits of a narrow one, by the hardware's instruction where the language is sure to have it,
   else by its bits in a word; of NaNs to the one of theirs. Which NaN of a float comes of one of theirs is the device's
   affair. In f16 what is below 2^-14 has one exponent: a sum with what has it too rounds there.

   In C only Clang makes vectors of the instructions. GCC 12 makes them of the operations on bits: a loop of conversions
   to floats takes it 0.35 ns an element by these, and 0.74 by the instructions (F16C, 2026-11-29). */
static const struct conversion *conversion_of(const struct dialect *dialect, enum base to, enum base from) {
    if (from == BASE_F16)
        return &dialect->float_of_f16;
    return to == BASE_F16 ? &dialect->f16_of_float : &dialect->bf16_of_float;
}

/* A language's own functions, where it has them: the helpers would be used by one of two branches. */
static const char *word_of_float(const struct printer *p) {
    return p->dialect->bits[BASE_U32] ? p->dialect->bits[BASE_U32] : "fcl_bits_uint";
}

static const char *float_of_word(const struct printer *p) {
    return p->dialect->bits[BASE_F32] ? p->dialect->bits[BASE_F32] : "fcl_bits_float";
}

static void print_narrow_conversion(struct printer *p, enum base to, enum base from) {
    const char *word = p->dialect->types[BASE_U32], *type = p->dialect->types[to];
    const char *bits = word_of_float(p), *number = float_of_word(p);
    const struct conversion *conversion = conversion_of(p->dialect, to, from);
    bool is_native = from != BASE_BF16 && conversion->guard && !p->are_shared;
    text_printf(p->out, "%s x) {\n", p->dialect->types[from]);
    if (is_native)
        text_printf(p->out, "#if %s%s!defined FCL_BY_BITS\n%s#else\n", conversion->guard,
                    *conversion->guard ? " && " : "", conversion->body);
    if (from == BASE_BF16)
        text_printf(p->out, "    return %s((%s)x << 16);\n", number, word);
    else if (from == BASE_F16)
        text_printf(p->out,
                    "    const %s a = (x & 0x7fffu) << 13;\n"
                    "    const %s small = %s(%s(a + 0x38800000u) - 6.103515625e-05f);\n"
                    "    const %s b = a < 0x800000u ? small : a < 0xf800000u ? a + 0x38000000u : a + 0x70000000u;\n"
                    "    return %s(b | (x & 0x8000u) << 16);\n",
                    word, word, bits, number, word, number);
    else if (to == BASE_BF16)
        text_printf(p->out,
                    "    const %s a = %s(x);\n"
                    "    return (%s)(x != x ? 0x7fc0u : (a + 0x7fffu + (a >> 16 & 1u)) >> 16);\n",
                    word, bits, type);
    else
        text_printf(p->out,
                    "    const %s u = %s(x), a = u & 0x7fffffffu;\n"
                    "    const %s small = %s(%s(a) + 0.5f) - 0x3f000000u;\n"
                    "    const %s normal = (a + 0xc8000fffu + (a >> 13 & 1u)) >> 13;\n"
                    "    const %s b = a < 0x38800000u ? small : a < 0x47800000u ? normal : 0x7c00u;\n"
                    "    return (%s)(x != x ? 0x7e00u : b | (u >> 16 & 0x8000u));\n",
                    word, bits, word, bits, number, word, word, type);
    text_add(p->out, is_native ? "#endif\n}\n" : "}\n");
}

/* Arithmetic on two numbers of a narrow base gives one of the same; which NaN it gives is open. */
static void print_half_arithmetic(struct printer *p, enum helper helper, enum base base) {
    enum ir_op op = (enum ir_op)(OP_ADD + (int)(helper - HELPER_HALVES));
    const char *type = p->dialect->types[base], *narrow = base_info[base].name;
    print_head(p, type, helper_name(p->out->arena, helper, base, BASE_BOOL));
    text_printf(p->out,
                "%s a, %s b) {\n#if %s && !defined FCL_BY_BITS\n    %s y;\n"
                "    asm(\"%s.rn.%s %%0, %%1, %%2;\" : \"=h\"(y) : \"h\"(a), \"h\"(b));\n    return y;\n#else\n"
                "    return fcl_%s_of_float(fcl_float_of_%s(a) %s fcl_float_of_%s(b));\n#endif\n}\n",
                type, type, p->dialect->half_arithmetic[base], type, ir_op_info[op].name, narrow, narrow, narrow,
                op == OP_ADD   ? "+"
                : op == OP_SUB ? "-"
                               : "*",
                narrow);
}

/* These functions give one NaN for all NaNs. */
static void print_one_nan(struct printer *p, enum base base) {
    const char *type = p->dialect->types[base];
    print_head(p, type, helper_name(p->out->arena, HELPER_ONE_NAN, base, BASE_BOOL));
    text_printf(p->out,
                "%s x) {\n#if %s && !defined FCL_BY_BITS\n    %s y;\n"
                "    asm(\"{ .reg .pred p; setp.nan.%s p, %%1, %%1; selp.b16 %%0, %%2, %%1, p; }\"\n"
                "        : \"=h\"(y) : \"h\"(x), \"h\"((%s)0x%s));\n"
                "    return y;\n#else\n    return x;\n#endif\n}\n",
                type, p->dialect->half_arithmetic[base], type, base_info[base].name, type,
                base == BASE_F16 ? "7e00" : "7fc0");
}

/* NaN loses, and -0 is below 0. */
static void print_float_extreme(struct printer *p, enum ir_op op, enum base base) {
    const char *type = p->dialect->types[base];
    bool is_min = op == OP_MIN;
    text_printf(p->out, "%s a, %s b) {\n    return b != b || a %s b || (a == b && ", type, type, is_min ? "<" : ">");
    if (base == BASE_F64 && quirk_is_on(QUIRK_SIGNS_OF_DOUBLES, p->dialect->where))
        text_printf(p->out, "copysign(1.0, a) %s 0.0) ? a : b;\n}\n", is_min ? "<" : ">");
    else
        text_printf(p->out, "%ssignbit(a)) ? a : b;\n}\n", is_min ? "" : "!");
}

static void print_vector_extreme(struct printer *p, enum helper helper, enum base base) {
    const char *type = vector_type(p, base), *name = helper_name(p->out->arena, helper, base, base);
    bool is_min = helper == HELPER_MIN_VECTOR;
    const char *prefix = vector_prefix(p);
    print_head(p, type, name);
    const char *equal = p->dialect->has_own_vectors ? "FCL_MASK(a == b)" : "(a == b)";
    text_printf(p->out, "%s a, %s b) {\n    return %sselect(b, a, (b != b) | (a %s b) | (%s & ", type, type, prefix,
                is_min ? "<" : ">", equal);
    text_printf(p->out, "%s%ssignbit(a)));\n}\n", is_min ? "" : "~", prefix);
}

static void print_operation_helper(struct printer *p, enum ir_op op, enum base base, enum base from) {
    const char *type = p->dialect->types[base];
    bool is_signed = base_info[base].is_signed;
    const char *natural = p->dialect->types[base_info[base].bits == 64 ? BASE_U64 : BASE_U32];
    enum base result = op == OP_CONVERT || op == OP_BITS ? base : fold_result_base(op, base);
    if (op == OP_CONVERT && p->dialect->half_arithmetic[BASE_F16] &&
        (base_info[from].is_narrow || base_info[base].is_narrow))
        text_add(p->out, "__attribute__((unused)) "); /* where there are instructions for all that uses it */
    print_head(p, p->dialect->types[result], helper_name(p->out->arena, op, base, from));
    switch (op) {
    case OP_DIV:
        text_printf(p->out, "%s a, %s b) {\n    return b == 0 ? 0 : ", type, type);
        if (is_signed)
            text_printf(p->out, "b == -1 ? (%s)(0 - (%s)a) : ", type, natural);
        text_add(p->out, "a / b;\n}\n");
        break;
    case OP_REM:
        text_printf(p->out, "%s a, %s b) {\n    return b == 0 ? a : %sa %% b;\n}\n", type, type,
                    is_signed ? "b == -1 ? 0 : " : "");
        break;
    case OP_MIN:
    case OP_MAX:
        if (base_info[base].is_floating)
            print_float_extreme(p, op, base);
        else
            text_printf(p->out, "%s a, %s b) {\n    return %s ? b : a;\n}\n", type, type,
                        op == OP_MIN ? "b < a" : "a < b");
        break;
    case OP_ABS:
        if (is_signed)
            text_printf(p->out, "%s a) {\n    return a < 0 ? (%s)(0 - (%s)a) : a;\n}\n", type, type, natural);
        else
            text_printf(p->out, "%s a) {\n    return a;\n}\n", type);
        break;
    case OP_BITS:
        from = base_info[base].is_floating ? base_of_bits(base) : base == BASE_U64 ? BASE_F64 : BASE_F32;
        text_printf(p->out, "%s x) {\n    ", p->dialect->types[from]);
        if (p->dialect->bits[base])
            text_printf(p->out, "return (%s)%s(x);\n}\n", type, p->dialect->bits[base]);
        else
            text_printf(p->out,
                        "union {\n        %s from;\n        %s to;\n    } bits;\n    bits.from = x;\n    "
                        "return bits.to;\n}\n",
                        p->dialect->types[from], type);
        break;
    case OP_CONVERT:
        if (base_info[base].is_integer)
            print_conversion(p, base, from);
        else
            print_narrow_conversion(p, base, from);
        break;
    default: print_function(p, op, base); break;
    }
}

static void print_helper(struct printer *p, enum helper helper, enum base base, enum base from) {
    if (helper == HELPER_MIN_VECTOR || helper == HELPER_MAX_VECTOR)
        print_vector_extreme(p, helper, base);
    else if (helper == HELPER_ONE_NAN)
        print_one_nan(p, base);
    else if (helper >= HELPER_HALVES && helper <= HELPER_HALVES_END)
        print_half_arithmetic(p, helper, base);
    else
        print_operation_helper(p, (enum ir_op)helper, base, from);
}

/* Under the function's own name, so that kernels read as they would without. */
static void print_guarded(struct printer *p, enum ir_op op) {
    const char *name = ir_op_info[op].name;
    bool is_begun = false;
    for (int base = 0; base < BASE_COUNT; base++)
        for (int is_vector = 0; is_vector < 2; is_vector++) {
            if (!p->guarded[op][base][is_vector])
                continue;
            if (!is_begun)
                text_printf(p->out, "#if %s /* %s */\n", quirks[QUIRK_KNOWN_NANS].guard, quirks[QUIRK_KNOWN_NANS].what);
            is_begun = true;
            const char *type = is_vector ? vector_type(p, (enum base)base) : p->dialect->types[base];
            text_printf(p->out,
                        "%s%s __attribute__((overloadable)) fcl_%s(%s x) {\n    return x == x ? %s(x) : x;\n}\n",
                        p->dialect->function_head, type, name, type, name);
        }
    if (is_begun)
        text_printf(p->out, "#define %s(x) fcl_%s(x)\n#endif\n\n", name, name);
}

void print_helpers(struct printer *p) {
    for (int op = 0; op < OP_COUNT; op++)
        print_guarded(p, (enum ir_op)op);
    print_mathematics(p);
    for (int helper = 0; helper < HELPER_COUNT; helper++)
        for (int base = 0; base < BASE_COUNT; base++)
            for (int from = 0; from < BASE_COUNT; from++)
                if (p->helpers[helper][base][from]) {
                    if (helper == HELPER_REPORT) {
                        print_report_helper(p);
                        text_add(p->out, "\n");
                        continue;
                    }
                    if (helper >= HELPER_ATOMIC) {
                        print_atomic_helper(p, (enum ir_atomic)(helper - HELPER_ATOMIC), (enum base)base,
                                            (enum target_space)from);
                        text_add(p->out, "\n");
                        continue;
                    }
                    const char *name = helper_name(p->out->arena, (unsigned)helper, (enum base)base, (enum base)from);
                    bool is_guarded = p->are_shared || p->are_first;
                    if (is_guarded)
                        text_printf(p->out, "#ifndef %s_IS_DEFINED\n#define %s_IS_DEFINED\n", name, name);
                    print_helper(p, (enum helper)helper, (enum base)base, (enum base)from);
                    text_add(p->out, is_guarded ? "#endif\n\n" : "\n");
                }
}
