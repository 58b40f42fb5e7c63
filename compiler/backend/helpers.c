/* The functions that give operations a result where the languages leave it undefined, printed when used. */
#include <inttypes.h>

#include "backend/print.h"
#include "ir/fold.h"

static const char *const helper_words[HELPER_COUNT] = {"div", "rem",      "min",  "max", "abs",
                                                       "clz", "popcount", "bits", "of"};

const char *helper_name(struct arena *arena, enum helper helper, enum base base, enum base from) {
    if (helper == HELPER_CONVERT)
        return arena_printf(arena, "fcl_%s_of_%s", base_info[base].name, base_info[from].name);
    if (helper == HELPER_MIN_VECTOR || helper == HELPER_MAX_VECTOR)
        return arena_printf(arena, "fcl_%s_%s%d", helper == HELPER_MIN_VECTOR ? "min" : "max", base_info[base].name,
                            TARGET_LANES);
    return arena_printf(arena, "fcl_%s_%s", helper_words[helper], base_info[base].name);
}

static void print_head(struct printer *p, const char *result, const char *name) {
    text_printf(p->out, "%s%s %s(", p->dialect->function_head, result, name);
}

/* Bits are counted in 32 or 64 bits; a narrow value has zeros above. */
static void print_bit_count(struct printer *p, enum helper helper, enum base base) {
    int bits = base_info[base].bits;
    const struct dialect *d = p->dialect;
    const char *same_size[] = {
        [8] = d->types[BASE_U8], [16] = d->types[BASE_U16], [32] = d->types[BASE_U32], [64] = d->types[BASE_U64]};
    const char *wide = d->types[bits == 64 ? BASE_U64 : BASE_U32];
    text_printf(p->out, "%s a) {\n    const %s x = (%s)a;\n    return ", d->types[base], wide, same_size[bits]);
    if (helper == HELPER_CLZ)
        text_add(p->out, bits == 64 ? d->clz64 : d->clz32);
    else
        text_add(p->out, bits == 64 ? d->popcount64 : d->popcount32);
    if (helper == HELPER_CLZ && bits < 32)
        text_printf(p->out, " - %d", 32 - bits);
    text_add(p->out, ";\n}\n");
}

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

/* NaN loses, and -0 is below 0. */
static void print_float_extreme(struct printer *p, enum helper helper, enum base base) {
    const char *type = p->dialect->types[base];
    bool is_min = helper == HELPER_MIN;
    text_printf(p->out, "%s a, %s b) {\n    return b != b || a %s b || (a == b && ", type, type, is_min ? "<" : ">");
    text_printf(p->out, "%ssignbit(a)) ? a : b;\n}\n", is_min ? "" : "!");
}

static void print_vector_extreme(struct printer *p, enum helper helper, enum base base) {
    const char *type = vector_type(p, base);
    bool is_min = helper == HELPER_MIN_VECTOR;
    const char *prefix = vector_prefix(p);
    text_printf(p->out, "%s a, %s b) {\n    return %sselect(b, a, (b != b) | (a %s b) | ((a == b) & ", type, type,
                prefix, is_min ? "<" : ">");
    text_printf(p->out, "%s%ssignbit(a)));\n}\n", is_min ? "" : "~", prefix);
}

static void print_helper(struct printer *p, enum helper helper, enum base base, enum base from) {
    const char *type = p->dialect->types[base];
    bool is_signed = base_info[base].is_signed;
    const char *natural = p->dialect->types[base_info[base].bits == 64 ? BASE_U64 : BASE_U32];
    bool is_count = helper == HELPER_CLZ || helper == HELPER_POPCOUNT;
    bool is_vector = helper == HELPER_MIN_VECTOR || helper == HELPER_MAX_VECTOR;
    if (is_vector)
        type = vector_type(p, base);
    const char *result = is_count ? p->dialect->types[BASE_I32] : type;
    if (is_vector && p->dialect->has_own_vectors)
        text_printf(p->out, "#if defined FCL_HAS_VECTORS\nFCL_INLINE %s %s(", result,
                    helper_name(p->out->arena, helper, base, from));
    else
        print_head(p, result, helper_name(p->out->arena, helper, base, from));
    switch (helper) {
    case HELPER_DIV:
        text_printf(p->out, "%s a, %s b) {\n    return b == 0 ? 0 : ", type, type);
        if (is_signed)
            text_printf(p->out, "b == -1 ? (%s)(0 - (%s)a) : ", type, natural);
        text_add(p->out, "a / b;\n}\n");
        break;
    case HELPER_REM:
        text_printf(p->out, "%s a, %s b) {\n    return b == 0 ? a : %sa %% b;\n}\n", type, type,
                    is_signed ? "b == -1 ? 0 : " : "");
        break;
    case HELPER_MIN:
    case HELPER_MAX:
        if (base_info[base].is_floating) {
            print_float_extreme(p, helper, base);
            break;
        }
        text_printf(p->out, "%s a, %s b) {\n    return %s ? b : a;\n}\n", type, type,
                    helper == HELPER_MIN ? "b < a" : "a < b");
        break;
    case HELPER_ABS:
        if (is_signed)
            text_printf(p->out, "%s a) {\n    return a < 0 ? (%s)(0 - (%s)a) : a;\n}\n", type, type, natural);
        else
            text_printf(p->out, "%s a) {\n    return a;\n}\n", type);
        break;
    case HELPER_CLZ:
    case HELPER_POPCOUNT: print_bit_count(p, helper, base); break;
    case HELPER_BITS:
        from = fold_result_base(OP_BITS, base);
        text_printf(p->out, "%s x) {\n    ", p->dialect->types[from]);
        if (p->dialect->bits[base])
            text_printf(p->out, "return (%s)%s(x);\n}\n", type, p->dialect->bits[base]);
        else
            text_printf(p->out,
                        "union {\n        %s from;\n        %s to;\n    } bits;\n    bits.from = x;\n    "
                        "return bits.to;\n}\n",
                        p->dialect->types[from], type);
        break;
    case HELPER_CONVERT: print_conversion(p, base, from); break;
    case HELPER_MIN_VECTOR:
    case HELPER_MAX_VECTOR:
        print_vector_extreme(p, helper, base);
        text_add(p->out, p->dialect->has_own_vectors ? "#endif\n" : "");
        break;
    case HELPER_REPORT:
    case HELPER_ATOMIC:
    case HELPER_COUNT: break;
    }
}

/* Under the function's own name, so that kernels read as they would without. */
static void print_guarded(struct printer *p, enum ir_op op) {
    const char *name = math_function(op);
    bool is_begun = false;
    for (int base = 0; base < BASE_COUNT; base++)
        for (int is_vector = 0; is_vector < 2; is_vector++) {
            if (!p->guarded[op][base][is_vector])
                continue;
            if (!is_begun)
                text_add(p->out, "#if defined POCL_DEVICE_ADDRESS_BITS /* what it makes of a NaN that LLVM knows is "
                                 "undefined */\n");
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
                    const char *name =
                        helper_name(p->out->arena, (enum helper)helper, (enum base)base, (enum base)from);
                    bool is_guarded = p->are_shared || p->are_first;
                    if (is_guarded)
                        text_printf(p->out, "#ifndef %s_IS_DEFINED\n#define %s_IS_DEFINED\n", name, name);
                    print_helper(p, (enum helper)helper, (enum base)base, (enum base)from);
                    text_add(p->out, is_guarded ? "#endif\n\n" : "\n");
                }
}
