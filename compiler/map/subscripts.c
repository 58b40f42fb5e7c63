/* How a subscript is computed, so that compilers know what we know of it, and do not take for
   granted what is not so. */
#include "map/lower.h"

/* Is it a sum of variables alone? Where one of them counts up, the places lie next to each other then. */
static bool is_straight(const struct target_expr *expr) {
    bool is_sum = expr->kind == TARGET_EXPR_OPERATION && (expr->op == OP_ADD || expr->op == OP_SUB);
    return is_sum ? is_straight(expr->operands[0]) && is_straight(expr->operands[1])
                  : expr->kind == TARGET_EXPR_VARIABLE || expr->kind == TARGET_EXPR_CONSTANT;
}

/* A subscript names an element, so it is at least 0. A sum with one part that is at least 0, or a
   difference from one, could only wrap below that, and one less than a number to 2^31 - 1, before
   which arrays end; and it is computed in the subscript itself, which is evaluated where the element
   is. So it has not wrapped, and compilers that know it take constants into addresses, and load
   neighbours by vectors; what else is gathered needs wider indices then, so it is left. */
static bool is_exact(const struct target_expr *index) {
    const struct target_expr *x = index->operands[0], *y = index->operands[1];
    return (index->op == OP_ADD && (x->low >= 0 || y->low >= 0)) ||
           (index->op == OP_SUB && (x->low >= 0 || (y->low == 1 && y->high == 1 && is_straight(x))));
}

/* note [wrapped subscripts]
   QUIRK_WRAPPED_SUBSCRIPTS: NVIDIA's compilers take constants out of all signed subscripts, as if
   no sum of them wrapped: of xs[(int)((unsigned)t - 7u)] they make the place of xs[t] and seven
   elements less, and of xs[t + 7] that of xs[t + 8] and one less (NVRTC 12.4 and 13.0). Where one
   of the sums wraps and the other does not, an address is then 2^32 elements from where it should
   be. They do not do so with unsigned subscripts; and where there is an element, the number is the
   same. But unsigned ones share nothing of their addresses. So they are only for sums that may
   wrap into an array, or whose neighbours may: such a sum has a constant below -1 (with -1 it
   could only be the place 2^31 - 1, and arrays end before), or a large one. The indices of loops
   are constants where loops are unrolled, and so are, in part, those of the loops over threads. */
enum { MOST_UNROLLED = 1 << 14, MOST_PARTS = 64 };

/* The parts of a value that is a sum, modulo 2^32. */
struct sum_parts {
    bool wraps;        /* the value may be another number than the sum */
    uint32_t constant; /* of the sum */
    int64_t low, high; /* of what indices add to it */
    int left;          /* so many parts may be looked at */
};

static int64_t as_signed(uint64_t bits) { return (int32_t)(uint32_t)bits; }

static bool is_counted(struct sum_parts *parts, const struct ir_value *value, bool is_next);

/* `is_next`: it is asked of what a loop carries on, for which the value itself may be taken to be counted. */
static bool is_counted_by_loop(struct sum_parts *parts, const struct ir_value *value, bool is_next) {
    const struct ir_instruction *loop = value->region->owner;
    if (!loop || (loop->kind != IR_FOR && loop->kind != IR_FORALL))
        return false;
    for (size_t i = 1; i < loop->parameter_count; i++)
        if (loop->parameters[i] == value)
            return is_next || (is_counted(parts, loop->operands[i], false) &&
                               is_counted(parts, loop->regions[0]->yields.at[i - 1], true));
    return true;
}

/* Is it known when the loops around it are unrolled? */
static bool is_counted(struct sum_parts *parts, const struct ir_value *value, bool is_next) {
    if (value->is_constant)
        return true;
    if (!value->definition)
        return value->region && is_counted_by_loop(parts, value, is_next);
    if (value->definition->kind != IR_OPERATION || parts->left-- <= 0)
        return false;
    for (size_t i = 0; i < value->definition->operand_count; i++)
        if (!is_counted(parts, value->definition->operands[i], is_next))
            return false;
    return true;
}

/* Adds a term that is no sum. It bounds the term by the most turns of an unrolled loop, because the known ranges are
   those of the turns that the loop has. */
static void add_term(struct sum_parts *parts, const struct ir_value *value, int64_t factor) {
    if (!base_info[value->base].is_integer || !is_counted(parts, value, false))
        return;
    int64_t a = value->low < 0 ? -factor * MOST_UNROLLED : 0, b = value->high > 0 ? factor * MOST_UNROLLED : 0;
    parts->low += a < b ? a : b;
    parts->high += a < b ? b : a;
}

/* `factor`: how often it counts, modulo 2^32. */
static void add_parts(struct sum_parts *parts, const struct ir_value *value, int64_t factor) {
    if (value->is_constant) {
        parts->constant += (uint32_t)((uint64_t)factor * value->constant.natural);
        return;
    }
    const struct ir_instruction *definition = value->definition;
    if (!definition || definition->kind != IR_OPERATION || parts->left-- <= 0) {
        add_term(parts, value, factor);
        return;
    }
    const struct ir_value *x = definition->operands[0],
                          *y = definition->operand_count > 1 ? definition->operands[1] : x;
    uint64_t count = (uint64_t)factor;
    bool wraps = !definition->no_wrap || base_info[value->base].bits > 32;
    switch (definition->op) {
    case OP_ADD:
    case OP_SUB:
        parts->wraps |= wraps;
        add_parts(parts, x, factor);
        add_parts(parts, y, definition->op == OP_ADD ? factor : as_signed(-count));
        return;
    case OP_NEG:
        parts->wraps |= wraps;
        add_parts(parts, x, as_signed(-count));
        return;
    case OP_MUL:
    case OP_SHL:
        if (!y->is_constant)
            break;
        parts->wraps |= wraps;
        add_parts(parts, x,
                  as_signed(definition->op == OP_MUL
                                ? count * y->constant.natural
                                : count << (y->constant.natural & (base_info[x->base].bits - 1u))));
        return;
    case OP_XOR: /* with the highest bit it is a sum that wraps */
        if (!y->is_constant || (uint32_t)y->constant.natural != UINT32_C(1) << 31)
            break;
        parts->wraps = true;
        add_parts(parts, x, factor);
        add_parts(parts, y, factor);
        return;
    case OP_CONVERT:
        if (!base_info[x->base].is_integer || base_info[x->base].bits < 32)
            break;
        parts->wraps |= x->low < INT32_MIN || x->high > INT32_MAX;
        add_parts(parts, x, factor);
        return;
    default: break;
    }
    add_term(parts, value, factor);
}

/* See note [wrapped subscripts]. */
static bool may_wrap_into_array(const struct ir_value *value) {
    struct sum_parts parts = {.left = MOST_PARTS};
    add_parts(&parts, value, 1);
    int64_t constant = as_signed(parts.constant);
    bool may_meet = constant + parts.low < -1 || constant + parts.high > INT32_MAX || constant > MOST_UNROLLED;
    return parts.left < 0 || (parts.wraps && may_meet);
}

struct target_expr *lower_subscript(struct lowering *l, const struct ir_value *value) {
    struct target_expr *index = lower_value(l, value);
    if (index->base != BASE_I32)
        return index;
    bool is_wrapping = index->kind == TARGET_EXPR_OPERATION && index->wraps;
    bool is_unsigned = lower_has_quirk(l, QUIRK_WRAPPED_SUBSCRIPTS) && may_wrap_into_array(value);
    if (!is_unsigned && !(is_wrapping && is_exact(index)))
        return index;
    bool is_sum = is_wrapping && ir_op_info[index->op].wraps == WRAPS;
    if (is_unsigned && !is_sum)
        return expr_convert(l, index, BASE_U32);
    struct target_expr *copy = ARENA_NEW(l->arena, struct target_expr);
    *copy = *index;
    if (is_unsigned)
        copy->base = BASE_U32;
    else
        copy->wraps = false;
    return copy;
}
