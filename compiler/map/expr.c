/* Making target expressions. */
#include "ir/build/fold.h"
#include "map/lower.h"

struct target_expr *expr_new(struct lowering *l, enum target_expr_kind kind, enum base base) {
    struct target_expr *expr = ARENA_NEW(l->arena, struct target_expr);
    expr->kind = kind;
    expr->base = base;
    expr->low = INT64_MIN;
    expr->high = INT64_MAX;
    l->target->uses_double |= base == BASE_F64;
    return expr;
}

struct target_expr *expr_integer(struct lowering *l, enum base base, int64_t value) {
    struct target_expr *expr = expr_new(l, TARGET_EXPR_CONSTANT, base);
    expr->constant.integer = value;
    expr->low = expr->high = value;
    return expr;
}

struct target_expr *expr_variable(struct lowering *l, struct target_variable *variable, int64_t low, int64_t high) {
    struct target_expr *expr = expr_new(l, TARGET_EXPR_VARIABLE, variable->base);
    expr->variable = variable;
    expr->low = low;
    expr->high = high;
    return expr;
}

struct target_expr *expr_element(struct lowering *l, enum base base, struct target_array *array,
                                 struct target_expr *index) {
    struct target_expr *expr = expr_new(l, TARGET_EXPR_ELEMENT, base);
    expr->array = array;
    expr->operands[0] = index;
    expr->size = 1 + index->size;
    return expr;
}

struct target_expr *expr_hardware(struct lowering *l, enum target_hardware hardware) {
    struct target_expr *expr =
        expr_new(l, TARGET_EXPR_HARDWARE, l->target->mapping == TARGET_LOOP ? BASE_I64 : BASE_U32);
    expr->hardware = hardware;
    expr->low = 0;
    return expr;
}

bool expr_is_integer(const struct target_expr *expr, int64_t value) {
    return expr->kind == TARGET_EXPR_CONSTANT && expr->constant.integer == value;
}

bool expr_reads(const struct target_expr *expr, bool vectors_only) {
    if (expr->kind == TARGET_EXPR_ELEMENT && (!vectors_only || expr->array->lanes))
        return true;
    for (size_t i = 0; i < 3 && expr->operands[i]; i++)
        if (expr_reads(expr->operands[i], vectors_only))
            return true;
    return false;
}

bool expr_mentions(const struct target_expr *expr, const struct target_variable *variable) {
    if (expr->kind == TARGET_EXPR_VARIABLE)
        return expr->variable == variable;
    for (size_t i = 0; i < 3 && expr->operands[i]; i++)
        if (expr_mentions(expr->operands[i], variable))
            return true;
    return false;
}

/* For integers of the mapping's own, whose sizes are far from any overflow. */
struct target_expr *expr_operation(struct lowering *l, enum ir_op op, enum base base, struct target_expr *x,
                                   struct target_expr *y) {
    if (op == OP_ADD && expr_is_integer(x, 0))
        return y;
    if (op == OP_ADD && expr_is_integer(y, 0))
        return x;
    if (op == OP_MUL && (expr_is_integer(y, 1) || expr_is_integer(x, 0)))
        return x;
    if (op == OP_MUL && (expr_is_integer(x, 1) || expr_is_integer(y, 0)))
        return y;
    bool is_known = y && x->kind == TARGET_EXPR_CONSTANT && y->kind == TARGET_EXPR_CONSTANT;
    if (is_known && !base_info[x->base].is_floating) {
        const union scalar operands[] = {x->constant, y->constant};
        return expr_integer(l, base, fold_operation(op, base, y->base, operands).integer);
    }
    struct target_expr *expr = expr_new(l, TARGET_EXPR_OPERATION, base);
    expr->op = op;
    expr->operands[0] = x;
    expr->operands[1] = y;
    expr->size = 1 + x->size + (y ? y->size : 0);
    return expr;
}

struct target_expr *expr_choice(struct lowering *l, struct target_expr *condition, struct target_expr *x,
                                struct target_expr *y) {
    struct target_expr *expr = expr_new(l, TARGET_EXPR_OPERATION, x->base);
    expr->op = OP_SELECT;
    expr->operands[0] = condition;
    expr->operands[1] = x;
    expr->operands[2] = y;
    expr->size = 1 + condition->size + x->size + y->size;
    return expr;
}

struct target_expr *expr_convert(struct lowering *l, struct target_expr *x, enum base to) {
    if (x->base == to)
        return x;
    if (x->kind == TARGET_EXPR_CONSTANT)
        return expr_integer(l, to, x->constant.integer);
    struct target_expr *expr = expr_operation(l, OP_CONVERT, to, x, NULL);
    expr->low = x->low;
    expr->high = x->high;
    return expr;
}

struct target_expr *expr_describe(struct lowering *l, const struct ir_value *value, int depth) {
    if (value->is_constant)
        return expr_integer(l, value->base, value->constant.integer);
    const struct ir_instruction *definition = value->definition;
    if (!definition && !value->region) {
        struct target_variable *variable = ARENA_NEW(l->arena, struct target_variable);
        variable->name = value->name ? value->name : "?";
        variable->base = value->base;
        return expr_variable(l, variable, value->low, value->high);
    }
    if (!definition || definition->kind != IR_OPERATION || depth == 0)
        return NULL;
    struct target_expr *expr = expr_new(l, TARGET_EXPR_OPERATION, value->base);
    expr->op = definition->op;
    for (size_t i = 0; i < definition->operand_count; i++)
        if (!(expr->operands[i] = expr_describe(l, definition->operands[i], depth - 1)))
            return NULL;
    return expr;
}
