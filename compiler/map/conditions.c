/* Which loops have their conditions computed whole: note [conditions] in backend/conditions.c. */
#include "map/lower.h"

/* Loops inside of it are unrolled before. */
static bool has_loops(const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *at = block->statements.at[i];
        bool is_loop = at->kind == TARGET_WHILE || (at->kind == TARGET_FOR && !at->unroll);
        if (is_loop || has_loops(&at->body) || has_loops(&at->other))
            return true;
    }
    return false;
}

static bool has_parts(const struct target_expr *expr) {
    if (!expr)
        return false;
    bool is_operation = expr->kind == TARGET_EXPR_OPERATION && expr->base == BASE_BOOL;
    return (is_operation && (expr->op == OP_AND || expr->op == OP_OR)) || has_parts(expr->operands[0]) ||
           has_parts(expr->operands[1]) || has_parts(expr->operands[2]);
}

static bool has_conditions(const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *at = block->statements.at[i];
        if (has_parts(at->value) || has_parts(at->index) || has_conditions(&at->body) || has_conditions(&at->other))
            return true;
    }
    return false;
}

void conditions_mark(struct lowering *l, const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        struct target_statement *at = block->statements.at[i];
        at->is_by_vectors =
            at->kind == TARGET_FOR && !target_is_scalar(at) && !has_loops(&at->body) && has_conditions(&at->body);
        l->options->passes->changes[PASS_CONDITIONS] += at->is_by_vectors;
        conditions_mark(l, &at->body);
        conditions_mark(l, &at->other);
    }
}
