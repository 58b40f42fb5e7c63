/* Expressions in C's syntax: few parentheses, no casts but those that the meaning needs. */
#include "backend/print.h"

/* ---- helpers of the printing ---- */

static void open_if(struct printer *p, bool condition) { text_add(p->out, condition ? "(" : ""); }

static void close_if(struct printer *p, bool condition) { text_add(p->out, condition ? ")" : ""); }

static void print_call(struct printer *p, const char *function, const struct target_expr *expr) {
    text_printf(p->out, "%s(", function);
    for (int i = 0; i < 3 && expr->operands[i]; i++) {
        text_add(p->out, i ? ", " : "");
        print_expr(p, expr->operands[i], PRECEDENCE_ANY);
    }
    text_add(p->out, ")");
}

/* The helper of the expression's operation, at that base. */
static void print_helper_call(struct printer *p, enum base base, enum base from, const struct target_expr *expr) {
    p->helpers[expr->op][base][from] = true;
    print_call(p, helper_name(p->out->arena, expr->op, base, from), expr);
}

/* How an operation is printed. Operators are the same in all languages. */
typedef void print_operation_function(struct printer *p, const struct target_expr *expr, enum precedence least);
#define OP(id, name, arity, commutes, wraps, result, cost, lanes, integer, floating, bounds, sign, precedence, print)  \
    static print_operation_function print_##print;
#include "ir/ops.def"
#undef OP

static const struct {
    const char *sign; /* "": no operator */
    enum precedence precedence;
    print_operation_function *print;
} forms[OP_COUNT] = {
#define OP(id, name, arity, commutes, wraps, result, cost, lanes, integer, floating, bounds, sign, precedence, print)  \
    [OP_##id] = {sign, PRECEDENCE_##precedence, print_##print},
#include "ir/ops.def"
#undef OP
};

/* A function of C's mathematics, of that name? */
static bool is_mathematics(enum ir_op op) { return forms[op].print == print_mathematical; }

/* See note [approximations]. False: it is computed as ever. */
static bool print_approximate(struct printer *p, const struct target_expr *expr) {
    const char *function = p->dialect->approximate[expr->op];
    if (!p->is_approximate || !function || expr->base != BASE_F32)
        return false;
    use_part(p, expr->op == OP_SQRT, PART_FAST_ROOTS);
    use_part(p, expr->op == OP_TANH, PART_FAST_TANGENTS);
    print_call(p, function, expr);
    return true;
}

/* A function of C's mathematics: with the suffix f where a float's has one. */
static void print_math(struct printer *p, const char *function, const struct target_expr *expr) {
    if (p->dialect->has_scalar_mathematics && !p->are_shared && mathematics_has(expr->op, expr->base, false)) {
        use_mathematics(p, expr->op, expr->base, false);
        print_call(p, arena_printf(p->out->arena, "fcl_%s_%s", function, expr->base == BASE_F32 ? "float" : "double"),
                   expr);
        return;
    }
    bool has_suffix = p->dialect->has_f_suffix && expr->base == BASE_F32;
    print_call(p, has_suffix ? arena_printf(p->out->arena, "%sf", function) : function, expr);
}

/* The name, noting those of QUIRK_KNOWN_NANS. (The results of these changed from run to run; of
   the others it gave a NaN.) */
static const char *use_function(struct printer *p, const struct target_expr *expr) {
    switch (expr->op) {
    case OP_FLOOR:
    case OP_CEIL:
    case OP_TRUNC:
    case OP_ROUND:
    case OP_EXP:
    case OP_EXP2:
    case OP_SINH:
    case OP_TANH:
        p->guarded[expr->op][expr->base][expr->lanes != 0] = quirk_is_on(QUIRK_KNOWN_NANS, p->dialect->where);
        break;
    default: break;
    }
    return ir_op_info[expr->op].name;
}

static enum base unsigned_base(enum base base) { return base_info[base].bits == 64 ? BASE_U64 : BASE_U32; }

static bool is_wrapping(const struct target_expr *expr) {
    if (expr->kind != TARGET_EXPR_OPERATION || !base_info[expr->base].is_integer)
        return false;
    if (expr->op == OP_SHL && base_info[expr->base].is_signed && expr->operands[0]->low < 0)
        return true; /* undefined, however far it is from overflow */
    return expr->wraps && ir_op_info[expr->op].wraps == WRAPS;
}

/* Compilers ask for parentheses around a different operator inside << >> & ^ | and around a comparison in one. */
static bool wants_parentheses(const struct target_expr *operand, enum precedence outer, enum ir_op op) {
    bool is_cast = is_wrapping(operand) && operand->base != unsigned_base(operand->base);
    if (operand->kind != TARGET_EXPR_OPERATION || is_cast)
        return false;
    bool is_bits = outer == PRECEDENCE_SHIFT || outer == PRECEDENCE_BIT_AND || outer == PRECEDENCE_BIT_OR ||
                   outer == PRECEDENCE_BIT_XOR || outer == PRECEDENCE_OR;
    bool is_equality = outer == PRECEDENCE_EQUAL || outer == PRECEDENCE_LESS;
    enum precedence own = forms[operand->op].precedence;
    if (operand->op == OP_CONVERT && operand->base == BASE_BOOL)
        own = PRECEDENCE_EQUAL; /* x != 0 */
    if (operand->op == OP_NEG && is_wrapping(operand))
        own = PRECEDENCE_SUM; /* 0u - x */
    switch (own) {
    case PRECEDENCE_SHIFT:
    case PRECEDENCE_SUM:
    case PRECEDENCE_PRODUCT: return is_bits && outer != PRECEDENCE_OR;
    case PRECEDENCE_BIT_OR:
    case PRECEDENCE_BIT_XOR:
    case PRECEDENCE_BIT_AND: return (is_bits && operand->op != op) || is_equality;
    case PRECEDENCE_EQUAL:
    case PRECEDENCE_LESS: return (is_bits && outer != PRECEDENCE_OR) || is_equality;
    default: return false;
    }
}

typedef void print_operand(struct printer *p, const struct target_expr *expr, enum precedence least);

static void print_infix(struct printer *p, const struct target_expr *expr, const char *sign, enum precedence own,
                        enum precedence least, print_operand *operand) {
    bool is_closed = own < least;
    const struct target_expr *x = expr->operands[0], *y = expr->operands[1];
    open_if(p, is_closed);
    operand(p, x, wants_parentheses(x, own, expr->op) ? PRECEDENCE_PRIMARY : own);
    text_printf(p->out, " %s ", sign);
    operand(p, y, wants_parentheses(y, own, expr->op) ? PRECEDENCE_PRIMARY : own + 1);
    close_if(p, is_closed);
}

static void print_operator(struct printer *p, const struct target_expr *expr, enum precedence least) {
    print_infix(p, expr, forms[expr->op].sign, forms[expr->op].precedence, least, print_expr);
}

static void print_cast(struct printer *p, const char *type, const struct target_expr *expr, enum precedence least) {
    open_if(p, least > PRECEDENCE_UNARY);
    text_printf(p->out, "(%s)", type);
    print_expr(p, expr, PRECEDENCE_UNARY);
    close_if(p, least > PRECEDENCE_UNARY);
}

/* ---- integers that wrap ----

   Signed overflow is undefined in all three languages, so what may overflow is computed in the unsigned type (narrow
   ones in uint) and converted back once, outside the whole chain of such operations. */

static void print_shift_count(struct printer *p, const struct target_expr *count, int bits) {
    if (p->dialect->is_plain || (count->low >= 0 && count->high < bits)) {
        print_expr(p, count,
                   wants_parentheses(count, PRECEDENCE_SHIFT, OP_COUNT) ? PRECEDENCE_PRIMARY : PRECEDENCE_SHIFT + 1);
        return;
    }
    text_add(p->out, "(");
    print_expr(p, count,
               wants_parentheses(count, PRECEDENCE_BIT_AND, OP_COUNT) ? PRECEDENCE_PRIMARY : PRECEDENCE_BIT_AND + 1);
    text_printf(p->out, " & %d)", bits - 1);
}

static void print_unsigned(struct printer *p, const struct target_expr *expr, enum precedence least) {
    enum base to = unsigned_base(expr->base);
    if (!is_wrapping(expr)) {
        if (expr->kind == TARGET_EXPR_CONSTANT) {
            union scalar value = expr->constant;
            value.natural = to == BASE_U32 ? (uint32_t)value.natural : value.natural;
            print_constant(p, to, value, least);
        } else if (expr->base == to) {
            print_expr(p, expr, least);
        } else {
            /* (unsigned)(int)x is (unsigned)x */
            bool is_twice = expr->kind == TARGET_EXPR_OPERATION && expr->op == OP_CONVERT &&
                            base_info[expr->base].bits == base_info[to].bits &&
                            !base_info[expr->operands[0]->base].is_floating;
            print_cast(p, p->dialect->types[to], is_twice ? expr->operands[0] : expr, least);
        }
        return;
    }
    if (expr->op == OP_NEG) {
        open_if(p, least > PRECEDENCE_SUM);
        text_printf(p->out, "0%s - ", to == BASE_U64 ? p->dialect->suffix_u64 : "u");
        print_unsigned(p, expr->operands[0], PRECEDENCE_SUM + 1);
        close_if(p, least > PRECEDENCE_SUM);
    } else if (expr->op == OP_SHL) {
        open_if(p, least > PRECEDENCE_SHIFT);
        print_unsigned(p, expr->operands[0], PRECEDENCE_UNARY);
        text_add(p->out, " << ");
        print_shift_count(p, expr->operands[1], base_info[expr->base].bits);
        close_if(p, least > PRECEDENCE_SHIFT);
    } else {
        print_infix(p, expr, forms[expr->op].sign, forms[expr->op].precedence, least, print_unsigned);
    }
}

static void print_wrapped(struct printer *p, const struct target_expr *expr, enum precedence least) {
    if (expr->base == unsigned_base(expr->base)) {
        print_unsigned(p, expr, least);
        return;
    }
    open_if(p, least > PRECEDENCE_UNARY);
    text_printf(p->out, "(%s)(", p->dialect->types[expr->base]);
    print_unsigned(p, expr, PRECEDENCE_ANY);
    text_add(p->out, ")");
    close_if(p, least > PRECEDENCE_UNARY);
}

/* ---- operations ---- */

static bool excludes(const struct target_expr *expr, int64_t value) {
    if (expr->kind == TARGET_EXPR_CONSTANT)
        return expr->constant.integer != value;
    return value < expr->low || value > expr->high;
}

static int64_t lowest(enum base base) {
    return base_info[base].bits == 64 ? INT64_MIN : -(INT64_C(1) << (base_info[base].bits - 1));
}

static bool division_is_safe(const struct target_expr *expr) {
    const struct target_expr *x = expr->operands[0], *y = expr->operands[1];
    if (!excludes(y, 0))
        return false;
    return !base_info[expr->base].is_signed || excludes(y, -1) || excludes(x, lowest(expr->base));
}

static void print_division(struct printer *p, const struct target_expr *expr, enum precedence least) {
    if (print_approximate(p, expr))
        return;
    if (base_info[expr->base].is_floating || p->dialect->is_plain || division_is_safe(expr))
        print_operator(p, expr, least);
    else
        print_helper_call(p, expr->base, BASE_BOOL, expr);
}

static void print_min_max(struct printer *p, const struct target_expr *expr, enum precedence least) {
    bool is_min = expr->op == OP_MIN;
    enum base base = expr->base;
    if (base_info[base].is_floating && (p->dialect->is_plain || p->dialect->orders_zeros))
        print_math(p, is_min ? "fmin" : "fmax", expr);
    else if (base == BASE_BOOL)
        print_infix(p, expr, is_min ? "&&" : "||", is_min ? PRECEDENCE_AND : PRECEDENCE_OR, least, print_expr);
    else if (base_info[base].is_integer &&
             (p->dialect->is_plain || (p->dialect->has_min_max && base_info[base].bits >= 32)))
        print_call(p, is_min ? "min" : "max", expr);
    else if (base_info[base].is_floating && expr->operands[0]->kind == TARGET_EXPR_CONSTANT &&
             quirk_is_on(QUIRK_CONSTANT_EXTREMES, p->dialect->where)) {
        struct target_expr turned = *expr;
        turned.operands[0] = expr->operands[1];
        turned.operands[1] = expr->operands[0];
        print_helper_call(p, base, BASE_BOOL, &turned);
    } else
        print_helper_call(p, base, BASE_BOOL, expr);
}

/* ---- halves: note [halves] in map/statements.c ---- */

/* A float made of a number of a narrow base. */
static bool is_widened(const struct target_expr *expr) {
    return expr->kind == TARGET_EXPR_OPERATION && expr->op == OP_CONVERT && expr->base == BASE_F32 &&
           base_info[expr->operands[0]->base].is_narrow;
}

/* Such a float of that base, or a constant that is one of its numbers? */
static bool is_half(const struct target_expr *expr, enum base base) {
    if (expr->kind != TARGET_EXPR_CONSTANT)
        return is_widened(expr) && expr->operands[0]->base == base;
    return floating_round(base_info[base].format, expr->constant.floating) == expr->constant.floating;
}

/* A number of a narrow base that is the sum, difference or product of two, and has an instruction? */
static bool is_of_halves(const struct printer *p, const struct target_expr *expr) {
    if (expr->kind != TARGET_EXPR_OPERATION || expr->op != OP_CONVERT || !p->dialect->half_arithmetic[expr->base])
        return false;
    const struct target_expr *made = expr->operands[0];
    if (made->kind != TARGET_EXPR_OPERATION || (made->op != OP_ADD && made->op != OP_SUB && made->op != OP_MUL))
        return false;
    const struct target_expr *x = made->operands[0], *y = made->operands[1];
    return is_half(x, expr->base) && is_half(y, expr->base) && (is_widened(x) || is_widened(y));
}

/* A float as the number of the base that it is; where that is a NaN, any. */
static void print_half(struct printer *p, const struct target_expr *expr, enum base base) {
    if (expr->kind == TARGET_EXPR_CONSTANT) {
        print_constant(p, base, expr->constant, PRECEDENCE_ANY);
        return;
    }
    const struct target_expr *number = expr->base == base ? expr : expr->operands[0], *made = number->operands[0];
    if (!is_of_halves(p, number)) {
        print_expr(p, number, PRECEDENCE_ANY);
        return;
    }
    unsigned helper = (unsigned)HELPER_HALVES + made->op - OP_ADD;
    p->helpers[helper][base][BASE_BOOL] = true;
    use_narrow_conversion(p, base, BASE_F32);
    use_narrow_conversion(p, BASE_F32, base);
    text_printf(p->out, "%s(", helper_name(p->out->arena, helper, base, BASE_BOOL));
    print_half(p, made->operands[0], base);
    text_add(p->out, ", ");
    print_half(p, made->operands[1], base);
    text_add(p->out, ")");
}

/* A conversion from or to a narrow base, of such a number. False: it is as any other. */
static bool print_of_halves(struct printer *p, const struct target_expr *expr) {
    bool is_result = is_of_halves(p, expr);
    const struct target_expr *number = is_result ? expr : expr->operands[0];
    if (!is_result && !(is_widened(expr) && is_of_halves(p, number)))
        return false;
    enum base base = number->base;
    if (is_result)
        p->helpers[HELPER_ONE_NAN][base][BASE_BOOL] = true;
    text_printf(p->out, "%s(", helper_name(p->out->arena, is_result ? HELPER_ONE_NAN : OP_CONVERT, expr->base, base));
    print_half(p, number, base);
    text_add(p->out, ")");
    return true;
}

static void print_convert(struct printer *p, const struct target_expr *expr, enum precedence least) {
    const struct target_expr *x = expr->operands[0];
    if (print_of_halves(p, expr))
        return;
    if (expr->base == BASE_BOOL) {
        open_if(p, least > PRECEDENCE_EQUAL);
        print_expr(p, x, wants_parentheses(x, PRECEDENCE_EQUAL, OP_NE) ? PRECEDENCE_PRIMARY : PRECEDENCE_EQUAL + 1);
        text_add(p->out, " != 0");
        close_if(p, least > PRECEDENCE_EQUAL);
    } else if (base_info[x->base].is_floating && base_info[expr->base].is_integer && !p->dialect->is_plain) {
        print_helper_call(p, expr->base, x->base, expr);
    } else if ((base_info[x->base].is_narrow || base_info[expr->base].is_narrow) && !p->dialect->is_plain) {
        use_narrow_conversion(p, expr->base, x->base);
        print_helper_call(p, expr->base, x->base, expr);
    } else {
        print_cast(p, p->dialect->types[expr->base], x, least);
    }
}

/* `0 <= x && x < bound`, where the bound is not negative, is `x < bound` of unsigned numbers: one
   comparison instead of two, and one branch. */
static bool is_below_unsigned(const struct target_expr *below, const struct target_expr *from) {
    if (below->kind != TARGET_EXPR_OPERATION || below->op != OP_LT || from->kind != TARGET_EXPR_OPERATION ||
        from->op != OP_LE)
        return false;
    const struct target_expr *place = below->operands[0], *bound = below->operands[1];
    const struct target_expr *zero = from->operands[0], *again = from->operands[1];
    return zero->kind == TARGET_EXPR_CONSTANT && zero->constant.integer == 0 && place->kind == TARGET_EXPR_VARIABLE &&
           again->kind == TARGET_EXPR_VARIABLE && place->variable == again->variable && bound->low >= 0 &&
           (place->base == BASE_I32 || place->base == BASE_I64);
}

static void print_bits(struct printer *p, const struct target_expr *expr, enum precedence least) {
    const struct target_expr *x = expr->operands[0], *y = expr->operands[1];
    bool is_bool = expr->base == BASE_BOOL;
    if (expr->op == OP_AND && is_bool && !p->dialect->is_plain && (is_below_unsigned(x, y) || is_below_unsigned(y, x)))
        print_infix(p, is_below_unsigned(x, y) ? x : y, "<", PRECEDENCE_LESS, least, print_unsigned);
    else if (!is_bool)
        print_operator(p, expr, least);
    else if (print_condition(p, expr, least))
        return;
    else if (expr->op == OP_AND)
        print_infix(p, expr, "&&", PRECEDENCE_AND, least, print_expr);
    else if (expr->op == OP_OR)
        print_infix(p, expr, "||", PRECEDENCE_OR, least, print_expr);
    else
        print_infix(p, expr, "!=", PRECEDENCE_EQUAL, least, print_expr);
}

static void print_sign(struct printer *p, const char *sign, const struct target_expr *operand, enum precedence least) {
    open_if(p, least > PRECEDENCE_UNARY);
    text_add(p->out, sign);
    /* -(-x), not --x */
    print_expr(p, operand, *sign == '-' ? PRECEDENCE_PRIMARY : PRECEDENCE_UNARY);
    close_if(p, least > PRECEDENCE_UNARY);
}

static void print_prefix(struct printer *p, const struct target_expr *expr, enum precedence least) {
    print_sign(p, forms[expr->op].sign, expr->operands[0], least);
}

static void print_complement(struct printer *p, const struct target_expr *expr, enum precedence least) {
    /* A narrow unsigned value is complemented as an int, and so gets high bits. */
    bool is_narrow = !base_info[expr->base].is_signed && base_info[expr->base].bits < 32 && !p->dialect->is_plain;
    if (is_narrow)
        text_printf(p->out, "%s(%s)", least > PRECEDENCE_UNARY ? "(" : "", p->dialect->types[expr->base]);
    print_sign(p, expr->base == BASE_BOOL ? "!" : "~", expr->operands[0], is_narrow ? PRECEDENCE_UNARY : least);
    if (is_narrow)
        close_if(p, least > PRECEDENCE_UNARY);
}

static void print_shift(struct printer *p, const struct target_expr *expr, enum precedence least) {
    const struct target_expr *x = expr->operands[0];
    open_if(p, least > PRECEDENCE_SHIFT);
    print_expr(p, x, wants_parentheses(x, PRECEDENCE_SHIFT, expr->op) ? PRECEDENCE_PRIMARY : PRECEDENCE_SHIFT);
    text_printf(p->out, " %s ", forms[expr->op].sign);
    print_shift_count(p, expr->operands[1], base_info[expr->base].bits);
    close_if(p, least > PRECEDENCE_SHIFT);
}

static void print_sum(struct printer *p, const struct target_expr *expr, enum precedence least) {
    const struct target_expr *y = expr->operands[1];
    bool is_signed = base_info[expr->base].is_integer && base_info[expr->base].is_signed;
    if (expr->op == OP_ADD && is_signed && y->kind == TARGET_EXPR_CONSTANT && y->constant.integer < 0 &&
        y->constant.integer > INT32_MIN) {
        struct target_expr positive = *y, difference = *expr;
        positive.constant.integer = -y->constant.integer;
        difference.op = OP_SUB;
        difference.operands[1] = &positive;
        print_infix(p, &difference, "-", PRECEDENCE_SUM, least, print_expr);
        return;
    }
    print_operator(p, expr, least);
}

static void print_choice(struct printer *p, const struct target_expr *expr, enum precedence least) {
    open_if(p, least > PRECEDENCE_CHOICE);
    print_expr(p, expr->operands[0], PRECEDENCE_CHOICE + 1);
    text_add(p->out, " ? ");
    print_expr(p, expr->operands[1], PRECEDENCE_CHOICE + 1);
    text_add(p->out, " : ");
    print_expr(p, expr->operands[2], PRECEDENCE_CHOICE + 1);
    close_if(p, least > PRECEDENCE_CHOICE);
}

static void print_reciprocal_root(struct printer *p, const struct target_expr *expr, enum precedence least) {
    if (print_approximate(p, expr))
        return;
    p->quirks |= quirk_bit(QUIRK_RECIPROCAL_ROOTS);
    if (p->dialect->has_rsqrt) {
        print_math(p, "rsqrt", expr);
        return;
    }
    open_if(p, least > PRECEDENCE_PRODUCT);
    text_add(p->out, expr->base == BASE_F64 ? "1.0 / " : "1.0f / ");
    print_math(p, "sqrt", expr);
    close_if(p, least > PRECEDENCE_PRODUCT);
}

static void print_absolute(struct printer *p, const struct target_expr *expr, enum precedence least) {
    (void)least;
    if (base_info[expr->base].is_floating)
        print_math(p, "fabs", expr);
    else if (p->dialect->is_plain)
        print_call(p, "abs", expr);
    else
        print_helper_call(p, expr->base, BASE_BOOL, expr);
}

static void print_same_bits(struct printer *p, const struct target_expr *expr, enum precedence least) {
    bool is_stored_so = base_info[expr->base].is_narrow || base_info[expr->operands[0]->base].is_narrow;
    if (p->dialect->is_plain)
        print_call(p, "bits", expr);
    else if (is_stored_so)
        print_expr(p, expr->operands[0], least);
    else
        print_helper_call(p, expr->base, BASE_BOOL, expr);
}

static void print_function(struct printer *p, const struct target_expr *expr, enum precedence least) {
    (void)least;
    print_helper_call(p, expr->operands[0]->base, BASE_BOOL, expr);
}

static void print_mathematical(struct printer *p, const struct target_expr *expr, enum precedence least) {
    (void)least;
    if (!print_approximate(p, expr))
        print_math(p, use_function(p, expr), expr);
}

/* See note [clamped equalities]. */
static void print_by_bits(struct printer *p, const struct target_expr *expr, enum precedence least) {
    use_part(p, true, PART_EQUALITIES);
    open_if(p, expr->op == OP_NE && least > PRECEDENCE_UNARY);
    text_add(p->out, expr->op == OP_NE ? "!" : "");
    print_call(p, "fcl_equal", expr);
    close_if(p, expr->op == OP_NE && least > PRECEDENCE_UNARY);
}

static void print_operation(struct printer *p, const struct target_expr *expr, enum precedence least) {
    if (is_wrapping(expr) && !p->dialect->is_plain)
        print_wrapped(p, expr, least);
    else if (expr->by_bits)
        print_by_bits(p, expr, least);
    else
        forms[expr->op].print(p, expr, least);
}

/* ---- vectors, in OpenCL's spelling: scalars beside them are widened ---- */

/* Opens what makes a vector of a scalar, or of a vector with the same bits. */
static void open_vector(struct printer *p, enum base base, bool is_same_bits) {
    const char *type = vector_type(p, base);
    if (p->dialect->has_own_vectors)
        text_printf(p->out, is_same_bits ? "(%s)(" : "%s_of(", type);
    else
        text_printf(p->out, is_same_bits ? "as_%s(" : "(%s)(", type);
}

bool has_words(const struct printer *p, const struct target_array *array) {
    const struct base_info *info = &base_info[array->element];
    return p->dialect->see && array->space == TARGET_SPACE_GLOBAL && info->is_integer && info->bits >= 32;
}

void print_element(struct printer *p, const struct target_array *array, const struct target_expr *index,
                   bool is_volatile) {
    if (is_volatile)
        text_printf(p->out, "((volatile %s%s *)%s)[", p->dialect->pointees[array->space],
                    memory_type(p->dialect, array->element), array->name);
    else
        text_printf(p->out, "%s[", array->name);
    print_expr(p, index, PRECEDENCE_ANY);
    text_add(p->out, "]");
}

void print_address(struct printer *p, const struct target_array *array, const struct target_expr *index) {
    text_add(p->out, array->name);
    if (is_begin(index))
        return;
    text_add(p->out, " + ");
    print_expr(p, index, PRECEDENCE_SUM + 1);
}

void print_widened(struct printer *p, const struct target_expr *x) {
    if (x->lanes) {
        print_expr(p, x, PRECEDENCE_ANY);
    } else if (x->base == BASE_BOOL) { /* true is 1 in C, and all bits in vectors */
        open_vector(p, x->base, false);
        print_expr(p, x, PRECEDENCE_CHOICE + 1);
        text_add(p->out, " ? -1 : 0)");
    } else if (p->dialect->has_own_vectors) {
        open_vector(p, x->base, false);
        print_expr(p, x, PRECEDENCE_ANY);
        text_add(p->out, ")");
    } else {
        print_cast(p, vector_type(p, x->base), x, PRECEDENCE_ANY);
    }
}

static void print_vector_infix(struct printer *p, const struct target_expr *expr, enum precedence least);

/* Sums that may wrap are computed in the unsigned type, and converted back outside the whole chain. */
static void print_natural(struct printer *p, const struct target_expr *x, enum precedence least) {
    if (x->lanes && x->kind == TARGET_EXPR_OPERATION && is_wrapping(x)) {
        print_vector_infix(p, x, least);
    } else if (x->lanes) {
        open_vector(p, BASE_U32, true);
        print_expr(p, x, PRECEDENCE_ANY);
        text_add(p->out, ")");
    } else {
        print_cast(p, p->dialect->types[BASE_U32], x, least);
    }
}

static void print_vector_call(struct printer *p, const char *function, const struct target_expr *expr) {
    text_printf(p->out, "%s(", function);
    for (int i = 0; i < 3 && expr->operands[i]; i++) {
        text_add(p->out, i ? ", " : "");
        print_widened(p, expr->operands[i]);
    }
    text_add(p->out, ")");
}

static void print_vector_choice(struct printer *p, const struct target_expr *expr) {
    const struct target_expr *condition = expr->operands[0];
    text_printf(p->out, "%s(", condition->lanes ? arena_printf(p->out->arena, "%sselect", vector_prefix(p)) : "");
    if (!condition->lanes) {
        print_expr(p, condition, PRECEDENCE_CHOICE + 1);
        text_add(p->out, " ? ");
    }
    print_widened(p, expr->operands[condition->lanes ? 2 : 1]);
    text_add(p->out, condition->lanes ? ", " : " : ");
    print_widened(p, expr->operands[condition->lanes ? 1 : 2]);
    if (condition->lanes) {
        text_add(p->out, ", ");
        print_expr(p, condition, PRECEDENCE_ANY);
    }
    text_add(p->out, ")");
}

/* The function that does it with vectors; NULL: an operator does. */
static const char *vector_function(struct printer *p, const struct target_expr *expr) {
    switch (expr->op) {
    case OP_MIN:
    case OP_MAX: {
        enum helper helper = expr->op == OP_MIN ? HELPER_MIN_VECTOR : HELPER_MAX_VECTOR;
        if (!base_info[expr->base].is_floating || p->dialect->is_plain)
            return arena_printf(p->out->arena, "%s%s", vector_prefix(p), expr->op == OP_MIN ? "min" : "max");
        p->helpers[helper][expr->base][BASE_BOOL] = true;
        return helper_name(p->out->arena, helper, expr->base, BASE_BOOL);
    }
    case OP_ABS: return arena_printf(p->out->arena, "%sfabs", vector_prefix(p));
    case OP_RSQRT:
        p->quirks |= quirk_bit(QUIRK_RECIPROCAL_ROOTS);
        return arena_printf(p->out->arena, "%srsqrt", vector_prefix(p));
    case OP_CONVERT:
        return arena_printf(p->out->arena, p->dialect->has_own_vectors ? "%s_from" : "convert_%s",
                            vector_type(p, expr->base));
    default:
        if (p->dialect->has_own_vectors && mathematics_has(expr->op, expr->base, true))
            use_mathematics(p, expr->op, expr->base, true);
        return is_mathematics(expr->op) ? arena_printf(p->out->arena, "%s%s", vector_prefix(p), use_function(p, expr))
                                        : NULL;
    }
}

/* Truth beside vectors of it. */
static void print_truth(struct printer *p, const struct target_expr *x, enum precedence least) {
    x->lanes ? print_expr(p, x, least) : print_widened(p, x);
}

static void print_vector_infix(struct printer *p, const struct target_expr *expr, enum precedence least) {
    const char *sign = forms[expr->op].sign;
    enum precedence own = forms[expr->op].precedence;
    bool is_comparison = expr->op == OP_EQ || expr->op == OP_NE || expr->op == OP_LT || expr->op == OP_LE;
    print_operand *operand = is_wrapping(expr) && expr->base == BASE_I32 && !p->dialect->is_plain ? print_natural
                             : expr->operands[0]->base == BASE_BOOL                               ? print_truth
                                                                                                  : print_expr;
    if (is_comparison && p->dialect->has_own_vectors) {
        text_add(p->out, "FCL_MASK(");
        print_infix(p, expr, sign, own, PRECEDENCE_ANY, operand);
        text_add(p->out, ")");
        return;
    }
    print_infix(p, expr, sign, own, least, operand);
}

static void print_vector_wrapped(struct printer *p, const struct target_expr *expr) {
    open_vector(p, BASE_I32, true);
    print_vector_infix(p, expr, PRECEDENCE_ANY);
    text_add(p->out, ")");
}

static void print_vector_operation(struct printer *p, const struct target_expr *expr, enum precedence least) {
    const char *function = vector_function(p, expr);
    if (function)
        print_vector_call(p, function, expr);
    else if (expr->op == OP_SELECT)
        print_vector_choice(p, expr);
    else if (expr->op == OP_NEG || expr->op == OP_NOT)
        print_sign(p, expr->op == OP_NEG ? "-" : "~", expr->operands[0], least);
    else if (expr->base == BASE_I32 && is_wrapping(expr) && !p->dialect->is_plain)
        print_vector_wrapped(p, expr);
    else
        print_vector_infix(p, expr, least);
}

static void print_vector(struct printer *p, const struct target_expr *expr, enum precedence least) {
    if (expr->kind == TARGET_EXPR_OPERATION) {
        print_vector_operation(p, expr, least);
    } else if (expr->array->lanes) {
        text_printf(p->out, "%s[", expr->array->name);
        print_expr(p, expr->operands[0], PRECEDENCE_ANY);
        text_add(p->out, "]");
    } else {
        text_printf(p->out, "FCL_VECTOR(%s%s, ", p->dialect->pointees[expr->array->space],
                    p->dialect->types[expr->array->element]);
        print_address(p, expr->array, expr->operands[0]);
        text_add(p->out, ")");
    }
}

void print_vector_store(struct printer *p, const struct target_statement *store) {
    text_add(p->out, p->dialect->has_own_vectors ? "fcl_vector_store(" : "vstore16(");
    print_widened(p, store->value);
    text_add(p->out, ", 0, ");
    print_address(p, store->array, store->index);
    text_add(p->out, ");\n");
}

void print_expr(struct printer *p, const struct target_expr *expr, enum precedence least) {
    if (expr->lanes && (expr->kind == TARGET_EXPR_OPERATION || expr->kind == TARGET_EXPR_ELEMENT)) {
        print_vector(p, expr, least);
        return;
    }
    switch (expr->kind) {
    case TARGET_EXPR_CONSTANT:
        if (expr->lanes && p->dialect->has_own_vectors)
            text_printf(p->out, "%s_of(%s)", vector_type(p, expr->base), expr->constant.integer ? "-1" : "0");
        else if (expr->lanes)
            text_printf(p->out, "(%s)%s", vector_type(p, expr->base), expr->constant.integer ? "-1" : "0");
        else
            print_constant(p, expr->base, expr->constant, least);
        return;
    case TARGET_EXPR_VARIABLE: text_add(p->out, expr->variable->name); return;
    case TARGET_EXPR_OPERATION: print_operation(p, expr, least); return;
    case TARGET_EXPR_ELEMENT:
        if (expr->is_volatile && has_words(p, expr->array)) {
            use_part(p, true, PART_WORDS);
            text_add(p->out, p->dialect->see);
            print_address(p, expr->array, expr->operands[0]);
            text_add(p->out, ")");
            return;
        }
        bool is_guarded = expr->is_guarded && !p->dialect->is_plain;
        bool is_apart = expr->is_apart && !p->dialect->is_plain;
        text_add(p->out, is_guarded ? "FCL_GUARDED(" : is_apart ? "fcl_apart(" : "");
        print_element(p, expr->array, expr->operands[0],
                      expr->is_volatile || (expr->is_early && quirk_is_on(QUIRK_LATE_LOADS, p->dialect->where)));
        text_add(p->out, is_guarded || is_apart ? ")" : "");
        return;
    case TARGET_EXPR_HARDWARE: {
        const struct spelling *spelling = &p->dialect->hardware[expr->hardware];
        open_if(p, spelling->precedence < least);
        text_add(p->out, spelling->text);
        close_if(p, spelling->precedence < least);
        return;
    }
    case TARGET_EXPR_KEPT:
        text_add(p->out, "fcl_kept(");
        print_expr(p, expr->operands[0], PRECEDENCE_ANY);
        text_add(p->out, ")");
        return;
    case TARGET_EXPR_ALIGNED: text_printf(p->out, "fcl_is_aligned(%s)", expr->array->name); return;
    }
}
