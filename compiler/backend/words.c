/* The words of a text: types, constants, names of helpers, indentation. */
#include <inttypes.h>
#include <math.h>

#include "backend/print.h"
#include "ir/build/fold.h"
#include "ir/build/range.h"

/* Deep nesting is not shown by more blanks than this: they would be most of the text. */
enum { MOST_INDENT = 40 };

void print_indent(struct printer *p) {
    for (int i = 0; i < p->indent && i < MOST_INDENT; i++)
        text_add(p->out, "    ");
}

const char *memory_type(const struct dialect *dialect, enum base base) {
    return base == BASE_BOOL ? dialect->byte : dialect->types[base];
}

const char *vector_type(struct printer *p, enum base base) {
    base = base == BASE_BOOL ? BASE_I32 : base; /* what comparisons give: all bits set, or none */
    use_part(p, true, PART_VECTORS);
    if (p->dialect->has_own_vectors)
        return arena_printf(p->out->arena, "fcl_%s_vec", base_info[base].name);
    return arena_printf(p->out->arena, "%s%d", p->dialect->types[base], TARGET_LANES);
}

const char *vector_prefix(const struct printer *p) { return p->dialect->has_own_vectors ? "fcl_vector_" : ""; }

const char *helper_name(struct arena *arena, unsigned helper, enum base base, enum base from) {
    if (helper == OP_CONVERT)
        return arena_printf(arena, "fcl_%s_of_%s", base_info[base].name, base_info[from].name);
    if (helper == HELPER_MIN_VECTOR || helper == HELPER_MAX_VECTOR)
        return arena_printf(arena, "fcl_%s_%s_vec", helper == HELPER_MIN_VECTOR ? "min" : "max", base_info[base].name);
    if (helper >= HELPER_HALVES && helper <= HELPER_HALVES_END)
        helper = OP_ADD + (helper - HELPER_HALVES);
    if (helper == HELPER_ONE_NAN)
        return arena_printf(arena, "fcl_one_nan_%s", base_info[base].name);
    return arena_printf(arena, "fcl_%s_%s", ir_op_info[helper].name, base_info[base].name);
}

void use_narrow_conversion(struct printer *p, enum base to, enum base from) {
    p->helpers[OP_CONVERT][to][from] = true;
    if (!p->dialect->bits[BASE_U32])
        p->helpers[OP_BITS][BASE_U32][BASE_BOOL] = p->helpers[OP_BITS][BASE_F32][BASE_BOOL] = true;
}

/* ---- constants ---- */

/* Its bits: no literal says the sign and the payload, and programs can ask for them. */
static void print_nan(struct printer *p, enum base base, double value) {
    if (p->dialect->is_plain) {
        text_add(p->out, "nan");
        return;
    }
    enum base word = base_of_bits(base);
    union scalar bits = fold_operation(OP_BITS, word, base, &(union scalar){.floating = value});
    p->helpers[OP_BITS][base][BASE_BOOL] = true;
    text_printf(p->out, "%s(", helper_name(p->out->arena, OP_BITS, base, BASE_BOOL));
    print_constant(p, word, bits, PRECEDENCE_ANY);
    text_add(p->out, ")");
}

static void print_float(struct printer *p, enum base base, double value, enum precedence least) {
    bool is_double = base == BASE_F64;
    bool is_closed = signbit(value) && !isnan(value) && least > PRECEDENCE_UNARY;
    text_add(p->out, is_closed ? "(" : "");
    if (isnan(value)) {
        print_nan(p, base, value);
    } else if (isinf(value)) {
        text_printf(p->out, "%s%s", value < 0 ? "-" : "", p->dialect->infinity[is_double]);
    } else {
        char digits[FLOATING_DIGITS];
        text_printf(p->out, "%s%s", floating_digits(base_info[base].format, value, digits), is_double ? "" : "f");
    }
    text_add(p->out, is_closed ? ")" : "");
}

void print_constant(struct printer *p, enum base base, union scalar value, enum precedence least) {
    const struct base_info *info = &base_info[base];
    if (base == BASE_BOOL) {
        text_add(p->out, value.integer ? "true" : "false");
    } else if (info->is_narrow && !p->dialect->is_plain) {
        text_printf(p->out, "0x%04" PRIx64, floating_bits(info->format, value.floating));
    } else if (info->is_floating) {
        print_float(p, base, value.floating, least);
    } else if (!info->is_signed) {
        const char *suffix = base == BASE_U64 ? p->dialect->suffix_u64 : base == BASE_U32 ? "u" : "";
        bool is_pattern = value.natural > INT32_MAX; /* of bits, most likely, as in a mask */
        text_printf(p->out, is_pattern ? "0x%" PRIx64 "%s" : "%" PRIu64 "%s", value.natural, suffix);
    } else {
        const char *suffix = base == BASE_I64 ? p->dialect->suffix_i64 : "";
        bool is_lowest = info->bits >= 32 && value.integer == (int64_t)base_low(base);
        bool is_closed = is_lowest || (value.integer < 0 && least > PRECEDENCE_UNARY);
        text_add(p->out, is_closed ? "(" : "");
        if (is_lowest) /* its absolute value is no literal of the type */
            text_printf(p->out, "%" PRId64 "%s - 1", value.integer + 1, suffix);
        else
            text_printf(p->out, "%" PRId64 "%s", value.integer, suffix);
        text_add(p->out, is_closed ? ")" : "");
    }
}
