/* The loop mapping, for CPUs: one work-item does a contiguous range of the grid's iterations, everything inside is plain
   nested loops, and the threads of a block are the innermost one, at unit stride, for the device's compiler to
   vectorise. A barrier is just the end of a loop. */
#include "map/lower.h"

enum { VECTOR_ALIGNMENT = 64, DEFAULT_STACK = 256 * 1024 };

/* Bound of the range of group number `group` (and of the next: + 1): count * group / groups, in 64 bits. */
static struct target_expr *range_bound(struct lowering *l, struct target_expr *count, int64_t plus, enum base base) {
    struct target_expr *group =
        expr_operation(l, OP_ADD, BASE_I64, expr_hardware(l, TARGET_BLOCK_ID), expr_integer(l, BASE_I32, plus));
    struct target_expr *scaled = expr_operation(l, OP_MUL, BASE_I64, expr_convert(l, count, BASE_I64), group);
    struct target_expr *groups = expr_hardware(l, TARGET_BLOCK_COUNT);
    groups->low = 1;
    return expr_convert(l, expr_operation(l, OP_DIV, BASE_I64, scaled, groups), base);
}

/* Nothing in the loop that could keep it from being one vector loop, or that its iterations share. */
static bool is_simple(const struct target_block *body) {
    for (size_t i = 0; i < body->statements.count; i++) {
        const struct target_statement *statement = body->statements.at[i];
        switch (statement->kind) {
        case TARGET_DECLARE:
        case TARGET_ASSIGN:
        case TARGET_STORE: break;
        case TARGET_IF:
            if (!is_simple(&statement->body) || !is_simple(&statement->other))
                return false;
            break;
        case TARGET_DECLARE_ARRAY:
        case TARGET_DECLARE_POINTER:
        case TARGET_FOR:
        case TARGET_WHILE:
        case TARGET_LEAVE_UNLESS:
        case TARGET_BLOCK_BARRIER:
        case TARGET_WARP_BARRIER: return false;
        }
    }
    return true;
}

/* One iteration: of the grid, the first work-item does it. */
static void lower_single(struct lowering *l, const struct ir_instruction *forall) {
    const struct ir_value *index = forall->parameters[0];
    lower_bind(l, index, expr_integer(l, index->base, 0));
    if (forall->outer != LEVEL_GRID) {
        lower_region(l, forall->regions[0]);
        return;
    }
    struct target_statement *only = lower_emit(l, TARGET_IF);
    only->value = expr_operation(l, OP_EQ, BASE_BOOL, expr_hardware(l, TARGET_BLOCK_ID), expr_integer(l, BASE_I32, 0));
    struct lower_scope scope = lower_enter(l, &only->body);
    lower_region(l, forall->regions[0]);
    lower_leave(l, scope);
}

void loop_forall(struct lowering *l, const struct ir_instruction *forall) {
    const struct ir_value *index = forall->parameters[0], *count = forall->operands[0];
    if (count->is_constant && count->constant.integer == 1) {
        lower_single(l, forall);
        return;
    }
    struct target_expr *first = expr_integer(l, index->base, 0), *limit = lower_simple(l, count, "count");
    if (forall->outer == LEVEL_GRID) {
        if (count->low < 0)
            limit = lower_named(l, expr_operation(l, OP_MAX, count->base, limit, expr_integer(l, count->base, 0)), NULL,
                                "count");
        struct target_expr *end = range_bound(l, limit, 1, index->base);
        first = lower_named(l, range_bound(l, limit, 0, index->base), NULL, "first");
        limit = lower_named(l, end, NULL, "end");
    }
    struct target_statement *loop = lower_emit(l, TARGET_FOR);
    loop->value = first;
    loop->limit = limit;
    loop->step = expr_integer(l, index->base, 1);
    struct lower_scope scope = lower_enter(l, &loop->body);
    loop->variable = lower_variable(l, index->base, index->name, "i");
    lower_bind(l, index, expr_variable(l, loop->variable, index->low, index->high));
    lower_region(l, forall->regions[0]);
    loop->simd = forall->inner == LEVEL_THREAD && is_simple(&loop->body);
    lower_leave(l, scope);
}

/* Large arrays of a block would overflow the stack of a worker thread. */
void loop_declare(struct lowering *l, struct extent *extent) {
    struct ir_buffer *buffer = extent->buffer;
    if (buffer->memory != MEMORY_SHARED && buffer->memory != MEMORY_PRIVATE)
        return;
    int64_t limit = l->options->stack_limit ? l->options->stack_limit : DEFAULT_STACK;
    if (buffer->capacity->is_constant) {
        int64_t bytes = buffer->capacity->constant.integer * (int64_t)target_element_bytes(buffer->element);
        if (l->stack_bytes + bytes <= limit) {
            l->stack_bytes += bytes;
            lower_private_array(l, buffer, buffer->memory == MEMORY_SHARED ? VECTOR_ALIGNMENT : 0);
            return;
        }
    }
    lower_scratch(l, buffer, LEVEL_BLOCK, expr_hardware(l, TARGET_BLOCK_ID));
}

void loop_begin(struct lowering *l) { loop_forall(l, l->forall); }
