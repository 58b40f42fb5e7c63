/* Loops of the sides of a branch as note [borders] in ir/passes/split.c has it: the condition is solved for the loop's
   index. */
#include "map/lower.h"

const struct ir_instruction *borders_of(const struct ir_instruction *loop) {
    const struct ir_region *body = loop->regions[0];
    const struct ir_instruction *last =
        body->instructions.count ? body->instructions.at[body->instructions.count - 1] : NULL;
    return last && last->kind == IR_IF && IR_PART(last, branch).is_inside ? last : NULL;
}

static struct target_expr *wide(struct lowering *l, struct target_expr *x) { return expr_convert(l, x, BASE_I64); }

static struct target_expr *sum(struct lowering *l, struct target_expr *x, struct target_expr *y) {
    return expr_operation(l, OP_ADD, BASE_I64, wide(l, x), wide(l, y));
}

/* The index of which the place is so much more; NULL: it is no place of the loop's. */
static struct target_expr *start_of(struct lowering *l, const struct ir_instruction *loop, const struct rows *rows,
                                    const struct ir_value *value) {
    while (value->definition && value->definition->kind == IR_OPERATION && value->definition->op == OP_CONVERT)
        value = value->definition->operands[0];
    if (value == loop->parameters[0])
        return expr_integer(l, BASE_I64, 0);
    return rows && value->definition && rows_gives_rest(rows, value->definition) ? rows->start : NULL;
}

/* Where its condition holds, from *first to *limit, which are what they have to be for others. False: it is not such
   a condition. */
static bool solve(struct lowering *l, const struct ir_instruction *loop, const struct rows *rows,
                  const struct ir_value *condition, struct target_expr **first, struct target_expr **limit) {
    const struct ir_instruction *at = condition->definition;
    if (!at || at->kind != IR_OPERATION || at->operand_count != 2)
        return false;
    const struct ir_value *x = at->operands[0], *y = at->operands[1];
    if (at->op == OP_AND)
        return solve(l, loop, rows, x, first, limit) && solve(l, loop, rows, y, first, limit);
    struct target_expr *last = start_of(l, loop, rows, x), *start = last ? last : start_of(l, loop, rows, y);
    if ((at->op != OP_LT && at->op != OP_LE) || !start || lower_varies(loop, last ? y : x))
        return false;
    struct target_expr **bound = last ? limit : first;
    struct target_expr *border = sum(l, start, lower_value(l, last ? y : x));
    border = sum(l, border, expr_integer(l, BASE_I64, (at->op == OP_LE) == (last != NULL)));
    *bound = *bound ? expr_operation(l, last ? OP_MIN : OP_MAX, BASE_I64, *bound, border) : border;
    return true;
}

bool borders_enter(struct lowering *l, const struct ir_instruction *loop, const struct rows *rows,
                   struct target_expr **first, struct target_expr **limit) {
    const struct ir_instruction *inside = borders_of(loop);
    struct target_expr *begin = NULL, *end = NULL;
    if (!inside || !solve(l, loop, rows, inside->operands[0], &begin, &end))
        return false;
    enum base base = (*first)->base;
    if (begin) {
        begin = expr_operation(l, OP_MAX, BASE_I64, wide(l, *first), begin);
        begin = expr_operation(l, OP_MIN, BASE_I64, begin, wide(l, *limit));
        *first = lower_named(l, expr_convert(l, begin, base), NULL, "inside");
    }
    if (end) {
        end = expr_operation(l, OP_MIN, BASE_I64, wide(l, *limit), end);
        end = expr_operation(l, OP_MAX, BASE_I64, end, wide(l, *first));
        *limit = lower_named(l, expr_convert(l, end, base), NULL, "outside");
    }
    return true;
}

/* The text has one loop for both sides, which runs twice. */
struct lower_scope borders_enter_others(struct lowering *l, struct target_expr *inside, struct target_expr *outside,
                                        struct target_expr **first, struct target_expr **limit) {
    struct lower_scope scope = {l->block, names_mark(l->names)};
    if (inside == *first || outside == *limit) {
        inside == *first ? (*first = outside) : (*limit = inside);
        return scope;
    }
    struct target_statement *sides = lower_emit(l, TARGET_FOR);
    sides->value = expr_integer(l, BASE_I32, 0);
    sides->limit = expr_integer(l, BASE_I32, 2);
    sides->step = expr_integer(l, BASE_I32, 1);
    sides->is_short = true;
    lower_enter(l, &sides->body);
    sides->variable = lower_variable(l, BASE_I32, NULL, "side");
    struct target_expr *side = expr_variable(l, sides->variable, 0, 1);
    struct target_expr *is_before = expr_operation(l, OP_EQ, BASE_BOOL, side, expr_integer(l, BASE_I32, 0));
    *first = lower_named(l, expr_choice(l, is_before, *first, outside), NULL, "from");
    *limit = lower_named(l, expr_choice(l, is_before, inside, *limit), NULL, "to");
    return scope;
}
