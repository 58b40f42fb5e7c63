/* Single scalar operations in C, for host code: the same spelling as in kernels. */
#include "backend/print.h"

struct backend_scalars {
    struct arena *arena;
    struct printer printer;
};

struct backend_scalars *backend_scalars_new(struct arena *arena) {
    struct backend_scalars *scalars = ARENA_NEW(arena, struct backend_scalars);
    scalars->arena = arena;
    scalars->printer.dialect = &dialect_c;
    scalars->printer.are_shared = true; /* by the headers that one file includes */
    return scalars;
}

static struct target_expr *operand_expr(struct backend_scalars *scalars, const struct backend_operand *operand) {
    struct target_expr *expr = ARENA_NEW(scalars->arena, struct target_expr);
    expr->base = operand->value->base;
    expr->low = operand->value->low;
    expr->high = operand->value->high;
    if (operand->value->is_constant) {
        expr->kind = TARGET_EXPR_CONSTANT;
        expr->constant = operand->value->constant;
        return expr;
    }
    expr->kind = TARGET_EXPR_VARIABLE;
    expr->variable = ARENA_NEW(scalars->arena, struct target_variable);
    expr->variable->name = operand->text;
    expr->variable->base = expr->base;
    return expr;
}

const char *backend_scalars_operation(struct backend_scalars *scalars, const struct ir_instruction *operation,
                                      const struct backend_operand *operands) {
    struct target_expr *expr = ARENA_NEW(scalars->arena, struct target_expr);
    expr->kind = TARGET_EXPR_OPERATION;
    expr->base = operation->results[0]->base;
    expr->low = operation->results[0]->low;
    expr->high = operation->results[0]->high;
    expr->op = operation->op;
    expr->wraps = !operation->no_wrap;
    for (size_t i = 0; i < operation->operand_count; i++)
        expr->operands[i] = operand_expr(scalars, &operands[i]);
    struct text text;
    text_init(&text, scalars->arena);
    scalars->printer.out = &text;
    print_expr(&scalars->printer, expr, PRECEDENCE_ANY);
    return text_string(&text);
}

const char *backend_scalars_constant(struct backend_scalars *scalars, const struct ir_value *constant) {
    struct text text;
    text_init(&text, scalars->arena);
    scalars->printer.out = &text;
    print_constant(&scalars->printer, constant->base, constant->constant, PRECEDENCE_PRIMARY);
    return text_string(&text);
}

const char *backend_scalars_helpers(struct backend_scalars *scalars) {
    struct text text;
    text_init(&text, scalars->arena);
    scalars->printer.out = &text;
    print_helpers(&scalars->printer);
    return text_string(&text);
}
