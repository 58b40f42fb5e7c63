/* note [ahead]
   An unrolled loop that reads and writes memory in every iteration has one load under way at a
   time, unless the compiler behind us knows that no write changes what is read later. It does not
   where both are in one buffer, as of `while` and `power`, or both in the block's shared memory.
   We know: iterations of a parallel loop read nothing that another writes, and different arrays do
   not overlap. So the loads of all iterations go into registers first:

       for (turn…) { result[i + n] = f(result[i]); }
       for (turn…) held[turn] = result[i];   for (turn…) { result[i + n] = f(held[turn]); }

   Only loads that every iteration does before it writes, at places that do not depend on other
   loads.

   note [filling]
   At the end of an array a block loads each element that is left behind a guard. There are seven
   predicates, and a store is behind its guard, too: so the loads come in batches, each of which
   waits for the one before.

       for (turn…) { if (i < count) tile[i] = array[i + n]; }

   Where a shared array begins with this loop, and has room for all turns, all of it is written:
   nothing is behind its end yet that anybody reads, and it is not another's meanwhile. A guard is
   for a load alone then, and all loads are under way together:

       for (turn…) held[turn] = i < count ? array[i + n] : 0;   for (turn…) tile[i] = held[turn]; */
#include <string.h>

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
    struct target_array *arrays[BASE_COUNT]; /* where they are held, by their base */
    struct target_expr *guard;               /* of them all, or NULL */
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

static enum base base_of_load(const struct ahead *a, size_t k) { return a->lifted.at[k]->array->element; }

/* Where load k of an iteration is held. */
static struct target_expr *place_of_load(const struct ahead *a, size_t k) {
    struct lowering *l = a->l;
    int64_t alike = 0, before = 0;
    for (size_t i = 0; i < a->lifted.count; i++) {
        bool is_alike = base_of_load(a, i) == base_of_load(a, k);
        alike += is_alike;
        before += is_alike && i < k;
    }
    struct target_expr *turn = expr_variable(l, a->loop->variable, 0, INT32_MAX);
    struct target_expr *of_turn = expr_operation(l, OP_MUL, BASE_I32, turn, expr_integer(l, BASE_I32, alike));
    return expr_operation(l, OP_ADD, BASE_I32, of_turn, expr_integer(l, BASE_I32, before));
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

static struct target_expr *replaced(struct ahead *a, struct target_expr *expr) {
    for (size_t k = 0; k < a->lifted.count; k++)
        if (a->lifted.at[k] == expr)
            return expr_element(a->l, base_of_load(a, k), a->arrays[base_of_load(a, k)], place_of_load(a, k));
    struct target_expr *copy = expr;
    for (int i = 0; i < 3 && expr->operands[i]; i++) {
        struct target_expr *operand = replaced(a, expr->operands[i]);
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

/* Bytes of what an iteration loads. */
static int64_t lifted_bytes(const struct ahead *a) {
    int64_t bytes = 0;
    for (size_t k = 0; k < a->lifted.count; k++)
        bytes += (int64_t)target_element_bytes(base_of_load(a, k));
    return bytes;
}

static void declare_arrays(struct ahead *a, const char *const *names, int64_t turns) {
    for (size_t k = 0; k < a->lifted.count; k++) {
        enum base base = base_of_load(a, k);
        struct target_array *array = a->arrays[base];
        if (!array) {
            array = a->arrays[base] = ARENA_NEW(a->l->arena, struct target_array);
            *array = (struct target_array){
                .name = names[base], .element = base, .space = TARGET_SPACE_PRIVATE, .is_brief = true};
            lower_emit(a->l, TARGET_DECLARE_ARRAY)->array = array;
        }
        array->capacity += turns;
    }
}

static void emit_loads(struct ahead *a) {
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
        store->span = a->loop->span;
        struct target_expr *load = a->lifted.at[k];
        store->array = a->arrays[base_of_load(a, k)];
        store->index = place_of_load(a, k);
        store->value = a->guard ? expr_choice(l, a->guard, load, expr_integer(l, load->base, 0)) : load;
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

void ahead_drop_unused(struct target_block *body) {
    for (size_t k = body->statements.count; k-- > 0;) {
        const struct target_statement *at = body->statements.at[k];
        if (at->kind != TARGET_DECLARE || !at->value || at->variable->is_mutable || block_mentions(body, at->variable))
            continue;
        memmove(&body->statements.at[k], &body->statements.at[k + 1],
                (--body->statements.count - k) * sizeof body->statements.at[0]);
    }
}

const char *const *ahead_names(struct lowering *l, const struct ir_region *body) {
    const char **names = ARENA_ARRAY(l->arena, const char *, BASE_COUNT);
    for (struct ir_walk walk = ir_walk(body); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_LOAD && !names[walk.at->buffer->element])
            names[walk.at->buffer->element] = names_fresh(l->names, NULL, "held");
    return names;
}

static bool is_counted(const struct target_statement *loop) {
    return loop->variable->base == BASE_I32 && expr_is_integer(loop->value, 0) && expr_is_integer(loop->step, 1) &&
           loop->limit->kind == TARGET_EXPR_CONSTANT;
}

void ahead_load(struct lowering *l, const char *const *names, bool is_parallel) {
    struct target_statement *loop = l->block->statements.at[l->block->statements.count - 1];
    struct ahead a = {.l = l, .loop = loop, .is_parallel = is_parallel};
    if (!pass_wanted(l->options->passes, PASS_AHEAD) || !loop->unroll || !is_counted(loop) ||
        !look_into(&a, &loop->body))
        return;
    find_all(&a);
    int64_t turns = loop->limit->constant.integer, bytes = turns * lifted_bytes(&a);
    if (turns < 2 || !bytes || bytes > GPU_HELD_AHEAD)
        return;
    pass_changed(l->options->passes, PASS_AHEAD);
    l->block->statements.count--;
    declare_arrays(&a, names, turns);
    emit_loads(&a);
    for (size_t i = 0; i < loop->body.statements.count; i++) {
        struct target_statement *statement = loop->body.statements.at[i];
        if ((statement->kind == TARGET_DECLARE || statement->kind == TARGET_STORE) && statement->value)
            statement->value = replaced(&a, statement->value);
        if (statement->kind == TARGET_STORE)
            break;
    }
    ahead_drop_unused(&loop->body);
    vec_push(l->arena, &l->block->statements, loop);
}

/* ---- note [filling] ---- */

/* Finds the loads; false: one of them is not of global memory, or not known before, or not always done. */
static bool find_global(struct ahead *a, struct target_expr *expr, bool is_conditional) {
    if (expr->kind == TARGET_EXPR_ELEMENT) {
        bool is_global = expr->array->space == TARGET_SPACE_GLOBAL && !expr->is_volatile && !expr->lanes;
        if (is_conditional || !is_global || !is_known_before(a, expr->operands[0]))
            return false;
        for (size_t k = 0; k < a->lifted.count; k++)
            if (a->lifted.at[k] == expr)
                return true;
        vec_push(a->l->arena, &a->lifted, expr);
        return true;
    }
    is_conditional |= expr->op == OP_SELECT || expr->op == OP_AND || expr->op == OP_OR;
    for (int i = 0; expr->kind == TARGET_EXPR_OPERATION && i < 3 && expr->operands[i]; i++)
        if (!find_global(a, expr->operands[i], is_conditional))
            return false;
    return true;
}

/* Has the array room for an element of each iteration, at its index? */
static bool fills(const struct target_statement *store, const struct target_variable *index, int64_t room) {
    return store->array->space == TARGET_SPACE_SHARED && store->array->capacity >= room && !store->array->stride &&
           !store->is_volatile && !store->may_meet && !store->lanes && store->index->kind == TARGET_EXPR_VARIABLE &&
           store->index->variable == index;
}

void ahead_fill(struct lowering *l, const char *const *names, int64_t room) {
    struct target_statement *guarded = l->block->statements.at[l->block->statements.count - 1];
    struct target_block *body = &guarded->body;
    const struct target_statement *guard = body->statements.count == 2 ? body->statements.at[1] : NULL;
    if (!pass_wanted(l->options->passes, PASS_FILL) || !is_counted(guarded) || !guard || guard->kind != TARGET_IF ||
        guard->other.statements.count || body->statements.at[0]->kind != TARGET_DECLARE)
        return;
    struct target_statement *loop = ARENA_NEW(l->arena, struct target_statement);
    *loop = *guarded;
    loop->body = (struct target_block){0};
    loop->unroll = true;
    loop->unroll_by = 0;
    struct ahead a = {.l = l, .loop = loop, .is_parallel = true, .guard = guard->value};
    const struct target_variable *index = body->statements.at[0]->variable;
    vec_push(l->arena, &loop->body.statements, body->statements.at[0]);
    vec_push(l->arena, &a.declared, body->statements.at[0]);
    for (size_t i = 0; i < guard->body.statements.count; i++)
        vec_push(l->arena, &loop->body.statements, guard->body.statements.at[i]);
    for (size_t i = 1; i < loop->body.statements.count; i++) {
        struct target_statement *statement = loop->body.statements.at[i];
        bool is_declared = statement->kind == TARGET_DECLARE && statement->value;
        if (!is_declared && (statement->kind != TARGET_STORE || !fills(statement, index, room)))
            return;
        if (!find_global(&a, statement->value, false))
            return;
        if (is_declared && is_known_before(&a, statement->value))
            vec_push(l->arena, &a.declared, statement);
    }
    int64_t turns = loop->limit->constant.integer;
    if (!a.lifted.count || turns * lifted_bytes(&a) > GPU_HELD_AHEAD)
        return;
    pass_changed(l->options->passes, PASS_FILL);
    l->block->statements.count--;
    declare_arrays(&a, names, turns);
    emit_loads(&a);
    for (size_t i = 1; i < loop->body.statements.count; i++)
        loop->body.statements.at[i]->value = replaced(&a, loop->body.statements.at[i]->value);
    ahead_drop_unused(&loop->body);
    vec_push(l->arena, &l->block->statements, loop);
}
