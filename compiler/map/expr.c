/* Making target expressions, and the arrays that both mappings declare alike. */
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
    struct target_expr *expr = expr_new(l, TARGET_EXPR_OPERATION, base);
    expr->op = op;
    expr->operands[0] = x;
    expr->operands[1] = y;
    expr->size = 1 + x->size + (y ? y->size : 0);
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

void lower_private_array(struct lowering *l, const struct ir_buffer *buffer, int alignment) {
    struct target_array *array = ARENA_NEW(l->arena, struct target_array);
    int64_t capacity = buffer->capacity->constant.integer;
    *array = (struct target_array){.name = names_fresh(l->names, buffer->name, "local_array"),
                                   .element = buffer->element,
                                   .space = TARGET_SPACE_PRIVATE,
                                   .capacity = capacity > 0 ? capacity : 1,
                                   .alignment = alignment};
    lower_emit(l, TARGET_DECLARE_ARRAY)->array = array;
    l->target->uses_double |= buffer->element == BASE_F64;
    map_set(l->arrays, buffer, array);
}

void lower_scratch(struct lowering *l, struct ir_buffer *buffer, enum level_value unit, struct target_expr *unit_id) {
    struct target_array *memory = ARENA_NEW(l->arena, struct target_array);
    struct target_array *slice = ARENA_NEW(l->arena, struct target_array);
    slice->name = names_fresh(l->names, buffer->name, "local_array");
    slice->element = memory->element = buffer->element;
    slice->space = memory->space = TARGET_SPACE_GLOBAL;
    struct target_parameter parameter = {.kind = TARGET_PARAMETER_SCRATCH, .base = buffer->element};
    /* Never released: a parameter is visible everywhere, so its name must not depend on the scope. */
    parameter.name = arena_printf(l->arena, "fcl_scratch%zu", l->target->parameters.count);
    parameter.capacity = buffer->capacity;
    parameter.unit = unit;
    parameter.is_met = l->target->mapping == TARGET_SIMT && unit != LEVEL_THREAD;
    parameter.array = memory;
    parameter.length = parameters_describe(l, buffer->capacity, 4);
    memory->name = parameter.name;
    vec_push(l->arena, &l->target->parameters, parameter);
    struct target_statement *pointer = lower_emit(l, TARGET_DECLARE_POINTER);
    pointer->array = slice;
    pointer->from = memory;
    pointer->index = expr_convert(l, unit_id, BASE_U64);
    if (unit == LEVEL_THREAD) /* elements of one place side by side, as neighbours ask for them together */
        slice->stride =
            lower_named(l, expr_convert(l, expr_hardware(l, TARGET_GLOBAL_THREAD_COUNT), BASE_U64), "stride", NULL);
    else
        pointer->index = expr_operation(l, OP_MUL, BASE_U64, pointer->index,
                                        expr_convert(l, lower_value(l, buffer->capacity), BASE_U64));
    l->target->uses_double |= buffer->element == BASE_F64;
    map_set(l->arrays, buffer, slice);
}
