/* note [selections]
   Who keeps some elements of a chunk, as `filter` does, stores each of them where the next one that is kept
   belongs, and moves on if it is kept:

       for i: if (next < end) result[next] = values[i]; next += ones[i]

   That is an element in a cycle or more. Processors with AVX-512 put the elements of a vector that are
   kept next to each other in one instruction, so that text in C has a function go through such a
   loop by vectors (fcl_select, backend/parts/c.h). It leaves in memory what the loop leaves, and what is not
   a whole vector to the loop, as all of it where the processor has no such instruction. */
#include "map/lower.h"

static bool is_variable(const struct target_expr *expr, const struct target_variable *variable) {
    return expr && expr->kind == TARGET_EXPR_VARIABLE && expr->variable == variable;
}

static bool is_operation(const struct target_expr *expr, enum ir_op op) {
    return expr && expr->kind == TARGET_EXPR_OPERATION && expr->op == op;
}

static const struct target_expr *bound_of(const struct target_expr *expr) {
    bool is_number = expr->kind == TARGET_EXPR_CONSTANT || expr->kind == TARGET_EXPR_VARIABLE;
    return is_number && expr->base == BASE_I32 ? expr : NULL; /* no loop of this form changes it */
}

/* The array whose element with the loop's index the variable is. */
static struct target_array *loaded(const struct target_statement *at, const struct target_variable *index) {
    bool is_element = at->kind == TARGET_DECLARE && at->value && at->value->kind == TARGET_EXPR_ELEMENT &&
                      !at->value->is_volatile && !at->value->lanes && is_variable(at->value->operands[0], index);
    struct target_array *array = is_element ? at->value->array : NULL;
    return array && !array->stride && !array->lanes && array->space == TARGET_SPACE_PRIVATE ? array : NULL;
}

static struct target_array *array_of(const struct target_statement *loop, size_t loads, const struct target_expr *x) {
    for (size_t i = 0; i < loads; i++)
        if (is_variable(x, loop->body.statements.at[i]->variable))
            return loaded(loop->body.statements.at[i], loop->variable);
    return NULL;
}

/* The stores of a condition's branch, at that place, of elements of 4 or 8 bytes. */
static bool find_stores(struct target_selection *s, const struct target_statement *loop, size_t loads,
                        const struct target_statement *branch, const struct target_variable *place) {
    if (branch->other.statements.count || branch->body.statements.count > TARGET_SELECTED)
        return false;
    for (size_t i = 0; i < branch->body.statements.count; i++) {
        const struct target_statement *store = branch->body.statements.at[i];
        if (store->kind != TARGET_STORE || store->is_volatile || store->lanes || store->array->stride ||
            store->array->space != TARGET_SPACE_GLOBAL || !is_variable(store->index, place))
            return false;
        struct target_array *from = array_of(loop, loads, store->value);
        size_t bytes = target_element_bytes(store->array->element);
        if (!from || from->element != store->array->element || (bytes != 4 && bytes != 8))
            return false;
        s->from[s->count] = from;
        s->to[s->count++] = store->array;
    }
    return s->count;
}

static struct target_selection *selection_of(struct lowering *l, const struct target_statement *loop) {
    size_t count = loop->body.statements.count, loads = count - 3;
    if (count < 5 || loop->unroll || !expr_is_integer(loop->value, 0) || !expr_is_integer(loop->step, 1))
        return NULL;
    struct target_statement *const *at = loop->body.statements.at;
    for (size_t i = 0; i < loads; i++)
        if (!loaded(at[i], loop->variable))
            return NULL;
    const struct target_statement *place = at[loads], *branch = at[loads + 1], *end = at[loads + 2];
    if (place->kind != TARGET_DECLARE || branch->kind != TARGET_IF || end->kind != TARGET_ASSIGN)
        return NULL;
    struct target_variable *next = end->variable;
    /* next = next + one */
    const struct target_expr *sum = end->value;
    if (!is_operation(sum, OP_ADD) || sum->base != BASE_I32 || !is_variable(sum->operands[0], next))
        return NULL;
    struct target_array *ones = array_of(loop, loads, sum->operands[1]);
    /* place = next < end ? next : -1 */
    const struct target_expr *choice = place->value;
    if (!ones || ones->element != BASE_I32 || !is_operation(choice, OP_SELECT) ||
        !is_operation(choice->operands[0], OP_LT) || !is_variable(choice->operands[0]->operands[0], next) ||
        !is_variable(choice->operands[1], next) || !expr_is_integer(choice->operands[2], -1))
        return NULL;
    /* place < length && 0 <= place */
    const struct target_expr *inside = branch->value;
    if (!is_operation(inside, OP_AND) || !is_operation(inside->operands[0], OP_LT) ||
        !is_operation(inside->operands[1], OP_LE) || !is_variable(inside->operands[0]->operands[0], place->variable) ||
        !expr_is_integer(inside->operands[1]->operands[0], 0) ||
        !is_variable(inside->operands[1]->operands[1], place->variable))
        return NULL;
    struct target_selection *s = ARENA_NEW(l->arena, struct target_selection);
    *s = (struct target_selection){.next = next,
                                   .ones = ones,
                                   .end = bound_of(choice->operands[0]->operands[1]),
                                   .length = bound_of(inside->operands[0]->operands[1])};
    return s->end && s->length && find_stores(s, loop, loads, branch, place->variable) ? s : NULL;
}

void selections_mark(struct lowering *l, const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        struct target_statement *at = block->statements.at[i];
        at->selection = at->kind == TARGET_FOR ? selection_of(l, at) : NULL;
        l->options->passes->changes[PASS_SELECTIONS] += at->selection != NULL;
        selections_mark(l, &at->body);
        selections_mark(l, &at->other);
    }
}
