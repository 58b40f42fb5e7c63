/* note [clamped equalities]
   For Hopper and Blackwell, ptxas (13.0) makes one instruction of max(min(a, b), 0), or of
   max(max(a, b), 0), and takes from it, too, whether the result equals a or b: what the instruction
   says is which of the two is the lesser, which is another matter. On an H200 the last chunk of an
   array, where min(left, 32) is compared with 32, was taken for a whole one. So such equalities are
   printed as the inequalities that they amount to. Of these ptxas makes a comparison. */
#include "map/lower.h"

static bool is_same(const struct ir_value *x, const struct ir_value *y) {
    return x == y || (x->is_constant && y->is_constant && x->constant.integer == y->constant.integer);
}

static const struct ir_instruction *operation_of(const struct ir_value *value) {
    return value->definition && value->definition->kind == IR_OPERATION ? value->definition : NULL;
}

/* The a and b of a clamp max(min(a, b), 0) or max(max(a, b), 0); NULL for what is none. */
static const struct ir_instruction *clamped_pair(const struct ir_value *value) {
    const struct ir_instruction *clamp = operation_of(value);
    if (!clamp || clamp->op != OP_MAX)
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct ir_instruction *pair = operation_of(clamp->operands[!i]);
        if (clamp->operands[i]->is_constant && clamp->operands[i]->constant.integer == 0 && pair &&
            (pair->op == OP_MIN || pair->op == OP_MAX))
            return pair;
    }
    return NULL;
}

struct target_expr *lower_clamped_equality(struct lowering *l, const struct ir_instruction *instruction) {
    bool is_equal = instruction->op == OP_EQ;
    enum base base = instruction->operands[0]->base;
    if ((!is_equal && instruction->op != OP_NE) || !base_info[base].is_integer || !base_info[base].is_signed ||
        base_info[base].bits > 32)
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct ir_value *clamp = instruction->operands[i], *other = instruction->operands[!i];
        const struct ir_instruction *pair = clamped_pair(clamp);
        if (!pair || (!is_same(pair->operands[0], other) && !is_same(pair->operands[1], other)))
            continue;
        struct target_expr *n = lower_value(l, clamp), *b = lower_value(l, other), *none = expr_integer(l, base, 0);
        enum ir_op op = is_equal ? OP_LE : OP_LT;
        if (pair->op == OP_MAX) /* n >= b, always */
            return is_equal ? expr_operation(l, op, BASE_BOOL, n, b) : expr_operation(l, op, BASE_BOOL, b, n);
        /* n <= b, unless b < 0 */
        struct target_expr *meets =
            is_equal ? expr_operation(l, op, BASE_BOOL, b, n) : expr_operation(l, op, BASE_BOOL, n, b);
        if (other->low >= 0)
            return meets;
        struct target_expr *sign =
            is_equal ? expr_operation(l, op, BASE_BOOL, none, b) : expr_operation(l, op, BASE_BOOL, b, none);
        return expr_operation(l, is_equal ? OP_AND : OP_OR, BASE_BOOL, sign, meets);
    }
    return NULL;
}
