/* note [ahead]
   An unrolled loop that reads and writes memory in every iteration has one load under way at a
   time, unless the compiler behind us knows that no write changes what is read later. It does not
   where both are in one buffer, as of `while` and `power`, or both in the block's shared memory.
   We know: iterations of a parallel loop read nothing that another writes, and different arrays do
   not overlap. So the loads of all iterations go into registers first:

       for (turn…) { result[i + n] = f(result[i]); }
       for (turn…) held[turn] = result[i];   for (turn…) { result[i + n] = f(held[turn]); }

   Only loads that every iteration does before it writes, at places that do not depend on other
   loads. */
#include "ir/machine.h"
#include "map/lower.h"

struct ahead {
    struct lowering *l;
    struct target_statement *loop;
    bool is_parallel;
    VEC(struct target_array *) written;
    VEC(struct target_variable *) assigned;
    VEC(struct target_statement *) declared; /* in the body, so far, of what is known before */
    VEC(struct target_expr *) lifted;
};

/* False where something in the block orders memory, or is not to be done again or earlier. */
static bool look_into(struct ahead *a, const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        switch (statement->kind) {
        case TARGET_DECLARE: break;
        case TARGET_ASSIGN: vec_push(a->l->arena, &a->assigned, statement->variable); break;
        case TARGET_STORE:
            if (statement->is_volatile)
                return false;
            vec_push(a->l->arena, &a->written, statement->array);
            break;
        case TARGET_IF:
            if (!look_into(a, &statement->body) || !look_into(a, &statement->other))
                return false;
            break;
        default: return false;
        }
    }
    return true;
}

/* Would a compiler have to take them for one piece of memory? */
static bool may_overlap(const struct target_array *x, const struct target_array *y) {
    return x == y || (x->space == TARGET_SPACE_SHARED && y->space == TARGET_SPACE_SHARED);
}

static bool is_known(const struct ahead *a, const struct target_variable *variable) {
    for (size_t i = 0; i < a->declared.count; i++)
        if (a->declared.at[i]->variable == variable)
            return true;
    return false;
}

static bool is_declared_in(const struct target_block *block, const struct target_variable *variable) {
    for (size_t i = 0; i < block->statements.count; i++)
        if (block->statements.at[i]->kind == TARGET_DECLARE && block->statements.at[i]->variable == variable)
            return true;
    return false;
}

/* Is it known before the iteration begins, but for what is computed from that? */
static bool is_known_before(const struct ahead *a, const struct target_expr *expr) {
    if (expr->kind == TARGET_EXPR_ELEMENT)
        return false;
    if (expr->kind == TARGET_EXPR_VARIABLE) {
        for (size_t i = 0; i < a->assigned.count; i++)
            if (a->assigned.at[i] == expr->variable)
                return false;
        return is_known(a, expr->variable) || !is_declared_in(&a->loop->body, expr->variable);
    }
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        if (!is_known_before(a, expr->operands[i]))
            return false;
    return true;
}

static bool is_worth_it(const struct ahead *a, const struct target_expr *load) {
    bool overlaps = false;
    for (size_t i = 0; i < a->written.count; i++) {
        overlaps |= may_overlap(load->array, a->written.at[i]);
        if (load->array == a->written.at[i] && !a->is_parallel)
            return false;
    }
    bool is_alike = !a->lifted.count || a->lifted.at[0]->base == load->base;
    for (size_t i = 0; i < a->lifted.count; i++)
        if (a->lifted.at[i] == load)
            return false;
    return overlaps && is_alike && !load->is_volatile && !load->lanes && is_known_before(a, load->operands[0]);
}

/* Where load k of an iteration is held. */
static struct target_expr *place_of_load(const struct ahead *a, size_t k) {
    struct lowering *l = a->l;
    struct target_expr *turn = expr_variable(l, a->loop->variable, 0, INT32_MAX);
    struct target_expr *of_turn =
        expr_operation(l, OP_MUL, BASE_I32, turn, expr_integer(l, BASE_I32, (int64_t)a->lifted.count));
    return expr_operation(l, OP_ADD, BASE_I32, of_turn, expr_integer(l, BASE_I32, (int64_t)k));
}

/* Loads that are done whatever the operands are. */
static void find(struct ahead *a, struct target_expr *expr) {
    if (expr->kind == TARGET_EXPR_ELEMENT) {
        if (is_worth_it(a, expr))
            vec_push(a->l->arena, &a->lifted, expr);
        return;
    }
    bool is_conditional = expr->op == OP_SELECT || expr->op == OP_AND || expr->op == OP_OR;
    if (expr->kind != TARGET_EXPR_OPERATION || is_conditional)
        return;
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        find(a, expr->operands[i]);
}

static void find_all(struct ahead *a) {
    const struct target_block *body = &a->loop->body;
    for (size_t i = 0; i < body->statements.count; i++) {
        struct target_statement *statement = body->statements.at[i];
        bool is_store = statement->kind == TARGET_STORE;
        if ((statement->kind != TARGET_DECLARE && !is_store) || !statement->value)
            return;
        find(a, statement->value);
        if (is_store)
            return;
        if (is_known_before(a, statement->value))
            vec_push(a->l->arena, &a->declared, statement);
    }
}

static struct target_expr *replaced(struct ahead *a, struct target_expr *expr, struct target_array *array) {
    for (size_t k = 0; k < a->lifted.count; k++)
        if (a->lifted.at[k] == expr)
            return expr_element(a->l, array->element, array, place_of_load(a, k));
    struct target_expr *copy = expr;
    for (int i = 0; i < 3 && expr->operands[i]; i++) {
        struct target_expr *operand = replaced(a, expr->operands[i], array);
        if (operand != expr->operands[i] && copy == expr) {
            copy = ARENA_NEW(a->l->arena, struct target_expr);
            *copy = *expr;
        }
        if (operand != expr->operands[i])
            copy->operands[i] = operand;
    }
    return copy;
}

/* For a load, or for what one needs. */
static bool is_needed(const struct ahead *a, size_t declared) {
    const struct target_variable *variable = a->declared.at[declared]->variable;
    for (size_t k = 0; k < a->lifted.count; k++)
        if (expr_mentions(a->lifted.at[k], variable))
            return true;
    for (size_t i = declared + 1; i < a->declared.count; i++)
        if (expr_mentions(a->declared.at[i]->value, variable) && is_needed(a, i))
            return true;
    return false;
}

static void emit_loads(struct ahead *a, struct target_array *array) {
    struct lowering *l = a->l;
    struct target_statement *loads = lower_emit(l, TARGET_FOR);
    *loads = *a->loop;
    loads->body = (struct target_block){0};
    for (size_t i = 0; i < a->declared.count; i++)
        if (is_needed(a, i))
            vec_push(l->arena, &loads->body.statements, a->declared.at[i]);
    for (size_t k = 0; k < a->lifted.count; k++) {
        struct target_statement *store = ARENA_NEW(l->arena, struct target_statement);
        store->kind = TARGET_STORE;
        store->array = array;
        store->index = place_of_load(a, k);
        store->value = a->lifted.at[k];
        vec_push(l->arena, &loads->body.statements, store);
    }
}

static bool block_mentions(const struct target_block *block, const struct target_variable *variable) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        if ((statement->value && expr_mentions(statement->value, variable)) ||
            (statement->index && expr_mentions(statement->index, variable)) ||
            block_mentions(&statement->body, variable) || block_mentions(&statement->other, variable))
            return true;
    }
    return false;
}

/* What only the loads needed. */
static void drop_unused(struct ahead *a) {
    struct target_block *body = &a->loop->body;
    for (size_t k = a->declared.count; k-- > 0;) {
        if (block_mentions(body, a->declared.at[k]->variable))
            continue;
        size_t kept = 0;
        for (size_t i = 0; i < body->statements.count; i++)
            if (body->statements.at[i] != a->declared.at[k])
                body->statements.at[kept++] = body->statements.at[i];
        body->statements.count = kept;
    }
}

void ahead_load(struct lowering *l, const char *name, bool is_parallel) {
    struct target_statement *loop = l->block->statements.at[l->block->statements.count - 1];
    bool is_counted = loop->unroll && loop->variable->base == BASE_I32 && expr_is_integer(loop->value, 0) &&
                      expr_is_integer(loop->step, 1) && loop->limit->kind == TARGET_EXPR_CONSTANT;
    struct ahead a = {.l = l, .loop = loop, .is_parallel = is_parallel};
    if (!l->options->loads_ahead || !is_counted || !look_into(&a, &loop->body))
        return;
    find_all(&a);
    int64_t turns = loop->limit->constant.integer, count = turns * (int64_t)a.lifted.count;
    if (turns < 2 || !count || count * (int64_t)target_element_bytes(a.lifted.at[0]->base) > GPU_HELD_AHEAD)
        return;
    l->block->statements.count--;
    struct target_array *array = ARENA_NEW(l->arena, struct target_array);
    *array = (struct target_array){.name = name,
                                   .element = a.lifted.at[0]->array->element,
                                   .space = TARGET_SPACE_PRIVATE,
                                   .capacity = count,
                                   .is_brief = true};
    lower_emit(l, TARGET_DECLARE_ARRAY)->array = array;
    emit_loads(&a, array);
    for (size_t i = 0; i < loop->body.statements.count; i++) {
        struct target_statement *statement = loop->body.statements.at[i];
        if ((statement->kind == TARGET_DECLARE || statement->kind == TARGET_STORE) && statement->value)
            statement->value = replaced(&a, statement->value, array);
        if (statement->kind == TARGET_STORE)
            break;
    }
    drop_unused(&a);
    vec_push(l->arena, &l->block->statements, loop);
}
