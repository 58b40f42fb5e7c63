/* Lowering that both mappings share: scalars, loads and stores, sequential loops and branches. The mappings themselves
   (simt.c, loop.c) say what a parallel loop becomes and where buffers lie.

   note [noted checks]
   A check that is noted ends nothing, so it may cost next to nothing: what fails leaves the number of its site in a
   variable of the thread, or of the work-item, and the kernel's last statement stores that to the report, where there
   is one. So no store stands between loads. In loops that compilers make vectors of it is a maximum, which they make
   vectors of, too. 0 <= i && i < n is one comparison of unsigned numbers there, where n is not negative. */
#include "map/lower.h"

#include <string.h>

#include "ir/machine.h"

/* A larger tree is given a name: an expression should fit on a line. */
enum { LARGEST_TREE = 10 };

static void lower_assign(struct lowering *l, struct target_variable *variable, struct target_expr *value) {
    struct target_statement *assign = lower_emit(l, TARGET_ASSIGN);
    assign->variable = variable;
    assign->value = value;
}

static bool rounds_to_half(const struct lowering *l, const struct ir_instruction *operation) {
    return l->options->computes_halves && operation->kind == IR_OPERATION && operation->op == OP_CONVERT &&
           base_info[operation->results[0]->base].is_narrow;
}

/* Is it of no use but to be rounded? */
static bool is_rounded_to_half(const struct lowering *l, const struct ir_instruction *instruction) {
    const struct ir_instruction *user = l->uses[instruction->results[0]->id].user;
    return user && rounds_to_half(l, user);
}

static void lower_result(struct lowering *l, const struct ir_instruction *instruction, struct target_expr *expr,
                         const char *fallback) {
    const struct ir_value *result = instruction->results[0];
    expr->low = result->low;
    expr->high = result->high;
    bool is_large = expr->size > LARGEST_TREE && !is_rounded_to_half(l, instruction);
    bool is_named = is_large || !uses_inline(l->uses, instruction);
    lower_bind(l, result, is_named ? lower_named(l, expr, result->name, fallback) : expr);
}

/* A sum with a lesser constant that wraps could name an element of an array that there may be. */
enum { LEAST_CONSTANT = -(1 << 16), MOST_CONSTANT = 1 << 30, MOST_FEW = 1 << 16 };

/* A sum with so small a number that wraps is far below 0: no constant that follows makes a subscript of it. */
static bool is_few(const struct ir_value *value) { return value->low >= 0 && value->high <= MOST_FEW; }

/* On processors an address takes 64 bits, so that a sum of 32 bits has to be extended; of one that
   never wraps the parts may be extended before, outside of loops or once for all, and then the
   processor adds them as it reads. Where a subscript is the only use, C compilers do that
   themselves with what counts up, but not with what is read from memory. */
static bool is_loaded(const struct ir_value *value) { return value->definition && value->definition->kind == IR_LOAD; }

static bool is_wide_subscript(const struct lowering *l, const struct ir_instruction *instruction,
                              const struct target_expr *expr) {
    if (!pass_wanted(l->options->passes, PASS_SUBSCRIPTS) || instruction->op != OP_ADD || expr->base != BASE_I32 ||
        !uses_as_subscript(l->uses, instruction->results[0]))
        return false;
    const struct ir_value *x = instruction->operands[0], *y = instruction->operands[1];
    if (expr->operands[0]->base == BASE_I64) /* such a sum, and a constant: it may be less than 0, but is a subscript */
        return instruction->no_wrap || (y->low >= LEAST_CONSTANT && y->high <= MOST_CONSTANT);
    bool fits = instruction->no_wrap || is_few(x) || is_few(y);
    return fits && (is_loaded(x) || is_loaded(y) || !uses_inline(l->uses, instruction));
}

/* 0 <= index && index < end; NULL: it is another condition. */
static const struct ir_instruction *inside_of(const struct ir_instruction *both, const struct ir_value **end) {
    for (int i = 0; i < 2 && both->op == OP_AND && both->results[0]->base == BASE_BOOL; i++) {
        const struct ir_instruction *least = both->operands[i]->definition, *most = both->operands[1 - i]->definition;
        bool is_inside = least && most && least->kind == IR_OPERATION && most->kind == IR_OPERATION &&
                         least->op == OP_LE && most->op == OP_LT && least->operands[0]->is_constant &&
                         least->operands[0]->constant.integer == 0 && least->operands[1] == most->operands[0] &&
                         most->operands[0]->base == BASE_I32 && most->operands[1]->low >= 0;
        if (!is_inside)
            continue;
        *end = most->operands[1];
        return most;
    }
    return NULL;
}

static void lower_operation(struct lowering *l, const struct ir_instruction *instruction) {
    const struct ir_value *result = instruction->results[0], *end;
    const struct ir_instruction *inside = l->noted ? inside_of(instruction, &end) : NULL;
    if (inside) {
        struct target_expr *index = expr_convert(l, lower_value(l, inside->operands[0]), BASE_U32);
        struct target_expr *most = expr_convert(l, lower_value(l, end), BASE_U32);
        lower_result(l, instruction, expr_operation(l, OP_LT, BASE_BOOL, index, most), "is_inside");
        return;
    }
    const struct ir_value *same = uses_same_as(l->values, instruction);
    if (same) {
        lower_bind(l, result, lower_value(l, same));
        return;
    }
    struct target_expr *expr = expr_new(l, TARGET_EXPR_OPERATION, result->base);
    expr->op = instruction->op;
    expr->wraps = !instruction->no_wrap;
    expr->by_bits = lower_has_quirk(l, QUIRK_CLAMPED_EQUALITIES) && lower_compares_clamped(instruction);
    expr->size = !lower_widens_half(l, instruction) && !rounds_to_half(l, instruction);
    for (size_t i = 0; i < instruction->operand_count; i++) {
        expr->operands[i] = lower_value(l, instruction->operands[i]);
        expr->size += expr->operands[i]->size;
    }
    if (is_wide_subscript(l, instruction, expr)) {
        expr->base = BASE_I64;
        expr->wraps = false;
        pass_changed(l->options->passes, PASS_SUBSCRIPTS);
    }
    for (size_t i = 0; expr->op == OP_ADD && i < 2; i++)
        expr->operands[i] = expr_convert(l, expr->operands[i], expr->base);
    if (lower_widens_half(l, instruction) && !uses_inline(l->uses, instruction)) {
        expr->operands[0] = lower_simple(l, instruction->operands[0], "x");
        lower_bind(l, instruction->operands[0], expr->operands[0]);
        lower_bind(l, result, expr);
        return;
    }
    lower_result(l, instruction, expr, base_info[result->base].is_integer ? "t" : "x");
}

static struct target_expr *lower_place(struct lowering *l, const struct target_array *array,
                                       const struct ir_value *value) {
    struct target_expr *index = lower_subscript(l, value);
    return array->stride ? expr_operation(l, OP_MUL, BASE_U64, expr_convert(l, index, BASE_U64), array->stride) : index;
}

static void lower_load(struct lowering *l, const struct ir_instruction *instruction) {
    if (l->piece) /* the store has it */
        return;
    struct target_array *held = l->held ? map_get(l->held, instruction) : NULL;
    if (held) {
        lower_result(l, instruction, expr_element(l, held->element, held, l->held_at), "x");
        return;
    }
    struct target_array *array = lower_array(l, instruction->buffer);
    struct target_expr *expr =
        expr_element(l, instruction->results[0]->base, array, lower_place(l, array, instruction->operands[0]));
    expr->is_volatile = instruction->is_volatile;
    expr->is_early = IR_PART(instruction, load).is_early;
    expr->nth = IR_PART(instruction, load).nth;
    expr->of = IR_PART(instruction, load).of;
    expr->is_guarded = array->space == TARGET_SPACE_PRIVATE && lower_is_guarded(l, instruction);
    if (expr->is_guarded)
        l->target->quirks |= quirk_bit(QUIRK_GUARDED);
    lower_result(l, instruction, expr, "x");
}

/* note [copies ahead] in ir.h: of elements of 4 and 8 bytes, and by pieces. */
static bool lower_copy_ahead(struct lowering *l, const struct ir_instruction *store) {
    const struct ir_instruction *load = ir_copied(store);
    int bits = base_info[store->buffer->element].bits;
    if (!store->buffer->stages || !load || !ir_is_plain(load) || (!l->piece && bits < 32))
        return false;
    struct target_array *to = lower_array(l, store->buffer), *from = lower_array(l, load->buffer);
    if (to->space != TARGET_SPACE_SHARED || from->space != TARGET_SPACE_GLOBAL || to->element != from->element)
        return false;
    struct target_statement *copy = lower_emit(l, TARGET_COPY);
    copy->array = to;
    copy->index = lower_place(l, to, store->operands[0]);
    copy->value = expr_element(l, from->element, from, lower_place(l, from, load->operands[0]));
    copy->copied = l->piece ? l->piece : 1;
    copy->piece = l->piece_by;
    return true;
}

static void lower_store(struct lowering *l, const struct ir_instruction *instruction) {
    if (lower_copy_ahead(l, instruction))
        return;
    struct target_array *held = l->held ? map_get(l->held, instruction) : NULL;
    struct target_statement *store = lower_emit(l, TARGET_STORE);
    store->array = held ? held : lower_array(l, instruction->buffer);
    store->index = held ? l->held_at : lower_place(l, store->array, instruction->operands[0]);
    store->value = lower_value(l, instruction->operands[1]);
    store->is_volatile = instruction->is_volatile;
    store->may_meet = IR_PART(instruction, store).may_meet && l->target->mapping == TARGET_SIMT;
    store->of_pair = IR_PART(instruction, store).of_pair;
}

/* ---- exchange of lanes ---- */

static void lower_exchange(struct lowering *l, const struct ir_instruction *instruction) {
    const struct ir_value *result = instruction->results[0];
    if (!l->uses[result->id].count)
        return;
    struct target_expr *value = lower_value(l, instruction->operands[0]);
    int64_t distance = 0;
    enum target_exchange kind = TARGET_EXCHANGE_AT;
    if (instruction->kind == IR_SHUFFLE)
        kind = exchange_of(l->kernel, instruction, &distance);
    struct target_expr *lane = kind != TARGET_EXCHANGE_AT       ? expr_integer(l, BASE_I32, distance)
                               : instruction->operand_count > 1 ? lower_value(l, instruction->operands[1])
                                                                : NULL;
    if (instruction->kind == IR_MATCH)
        kind = TARGET_EXCHANGE_MATCH;
    struct target_variable *variable = lower_variable(l, result->base, result->name, "got");
    struct target_statement *exchange = lower_emit(l, TARGET_SHUFFLE);
    exchange->variable = variable;
    exchange->value = value;
    exchange->index = lane;
    exchange->exchange = kind;
    lower_bind(l, result, expr_variable(l, variable, result->low, result->high));
}

/* See note [fragments] in ir.h. */
static void lower_mma(struct lowering *l, const struct ir_instruction *instruction) {
    const struct mma_form form = mma_form(instruction->operands[0]->base);
    struct target_expr **operands = ARENA_ARRAY(l->arena, struct target_expr *, form.operands);
    struct target_variable **results = ARENA_ARRAY(l->arena, struct target_variable *, MMA_SUMS);
    struct target_expr **rows = instruction->operand_count > form.operands && l->now
                                    ? ARENA_ARRAY(l->arena, struct target_expr *, MMA_PLACES + 1)
                                    : NULL;
    size_t missing = form.operands + MMA_PLACES - instruction->operand_count; /* of the first matrix */
    for (size_t i = missing; i < MMA_PLACES && rows; i++) {
        const struct ir_instruction *load = instruction->operands[i ? form.first : 0]->definition;
        struct target_array *array = load && load->kind == IR_LOAD ? lower_array(l, load->buffer) : NULL;
        if (!array || array->space != TARGET_SPACE_SHARED)
            rows = NULL;
        else
            rows[i] = expr_element(l, array->element, array,
                                   lower_place(l, array, instruction->operands[form.operands + i - missing]));
    }
    if (rows) {
        rows[MMA_PLACES] = expr_variable(l, l->now->variable, 0, UINT32_MAX);
        l->now->is_used = true;
    }
    for (size_t i = 0; i < form.operands; i++)
        operands[i] = lower_value(l, instruction->operands[i]);
    for (size_t i = 0; i < MMA_SUMS; i++) {
        const struct ir_value *result = instruction->results[i];
        results[i] = lower_variable(l, result->base, result->name, "sum");
        lower_bind(l, result, expr_variable(l, results[i], result->low, result->high));
    }
    struct target_statement *product = lower_emit(l, TARGET_MMA);
    product->operands = operands;
    product->operand_count = form.operands;
    product->results = results;
    product->rows = rows;
    product->are_columns = rows && IR_PART(instruction, mma).by_columns;
}

/* ---- checks ---- */

bool lower_notes(const struct lowering *l) {
    for (struct ir_walk walk = ir_walk_of(l->forall); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_CHECK && l->kernel->checks.at[walk.at->site].is_noted)
            return true;
    return false;
}

void lower_begin_notes(struct lowering *l) {
    if (!lower_notes(l))
        return;
    l->noted = lower_variable(l, BASE_I32, "failed", "failed");
    l->noted->is_mutable = true;
    struct target_statement *declare = lower_emit(l, TARGET_DECLARE);
    declare->variable = l->noted;
    declare->value = expr_integer(l, BASE_I32, 0);
}

static struct target_expr *noted(struct lowering *l) { return expr_variable(l, l->noted, 0, INT32_MAX); }

void lower_end_notes(struct lowering *l) {
    if (!l->noted)
        return;
    struct target_statement *any = lower_emit(l, TARGET_IF);
    any->value = expr_operation(l, OP_NE, BASE_BOOL, noted(l), expr_integer(l, BASE_I32, 0));
    struct lower_scope scope = lower_enter(l, &any->body);
    struct target_statement *store = lower_emit(l, TARGET_STORE);
    store->array = l->report;
    store->index = expr_integer(l, BASE_I32, 0);
    store->value = noted(l);
    store->may_meet = l->target->mapping == TARGET_SIMT;
    lower_leave(l, scope);
    kept_drop_unused(l, &l->target->body); /* such as 0 <= index, where one comparison tells both */
}

static void lower_noted(struct lowering *l, const struct ir_instruction *instruction) {
    struct target_expr *good = lower_value(l, instruction->operands[0]);
    if (l->target->mapping == TARGET_SIMT) {
        struct target_statement *check = lower_emit(l, TARGET_CHECK);
        check->variable = l->noted;
        check->site = instruction->site + 1;
        check->value = good;
        return;
    }
    struct target_expr *found = expr_new(l, TARGET_EXPR_OPERATION, BASE_I32);
    found->op = OP_SELECT;
    found->operands[0] = good;
    found->operands[1] = expr_integer(l, BASE_I32, 0);
    found->operands[2] = expr_integer(l, BASE_I32, instruction->site + 1);
    found->size = good->size + 1;
    found->high = INT32_MAX;
    lower_assign(l, l->noted, expr_operation(l, OP_MAX, BASE_I32, noted(l), found));
}

static void lower_check(struct lowering *l, const struct ir_instruction *instruction) {
    if (l->kernel->checks.at[instruction->site].is_noted) {
        lower_noted(l, instruction);
        return;
    }
    struct target_statement *check = lower_emit(l, TARGET_CHECK);
    check->array = l->report;
    check->site = instruction->site + 1;
    check->value = lower_value(l, instruction->operands[0]);
    check->index = lower_value(l, instruction->operands[1]);
    check->limit = lower_value(l, instruction->operands[2]);
}

/* Among the lanes of a warp, which come to it together, a barrier is the fence there is; at ambient block or
   warp the barrier that stands before it. */
static void lower_fence(struct lowering *l, const struct ir_instruction *fence) {
    if (fence->region->ambient != LEVEL_THREAD) {
        if (fence->buffer && fence->outer != LEVEL_THREAD) {
            l->now = lower_emit(l, TARGET_NOW);
            l->now->variable = lower_variable(l, BASE_U32, "now", "now");
        }
        return;
    }
    if (fence->outer == LEVEL_WARP)
        lower_emit(l, TARGET_WARP_BARRIER);
    else if (fence->outer == LEVEL_THREAD)
        lower_emit(l, TARGET_FENCE)->is_pause = true;
    else
        lower_emit(l, TARGET_FENCE)->is_global = fence->outer == LEVEL_GRID;
}

bool lower_leaves_loops(const struct lowering *l, const struct ir_instruction *instruction) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_CHECK && !l->kernel->checks.at[walk.at->site].is_contained)
            return true;
    return false;
}

/* Leaves the loop when a check has failed: the event that the loop waits for may then never come. Above ambient thread
   all threads must leave the loop together, but not all of them see the report at the same time. */
static void leave_on_failure(struct lowering *l, const struct ir_instruction *loop) {
    if (!lower_leaves_loops(l, l->forall))
        return;
    struct target_expr *site = expr_element(l, BASE_I32, l->report, expr_integer(l, BASE_I32, 0));
    site->is_volatile = true;
    enum level_value together = loop->region->ambient;
    if (together == LEVEL_THREAD &&
        (ir_has(loop, IR_BALLOT) || ir_has(loop, IR_MATCH) || ir_has(loop, IR_SHUFFLE) || ir_has(loop, IR_MMA)))
        together = LEVEL_WARP; /* lanes that have left would not come to what the others do together */
    if (l->target->mapping == TARGET_SIMT)
        site = simt_agree(l, site, together);
    lower_emit(l, TARGET_LEAVE_UNLESS)->value = expr_operation(l, OP_EQ, BASE_BOOL, site, expr_integer(l, BASE_I32, 0));
}

/* ---- atomics ---- */

static struct target_expr *bits_of(struct lowering *l, struct target_expr *x) {
    if (!base_info[x->base].is_floating)
        return x;
    return expr_operation(l, OP_BITS, base_of_bits(x->base), x, NULL);
}

/* In the loop mapping a block is one thread of the machine: what belongs to it needs no atomics. */
static void lower_sequential_atomic(struct lowering *l, const struct ir_instruction *atomic) {
    enum base base = atomic->buffer->element;
    struct target_array *array = lower_array(l, atomic->buffer);
    struct target_expr *index = lower_simple(l, atomic->operands[0], "place");
    struct target_expr *element = expr_element(l, base, array, index);
    struct target_expr *old = element, *value = lower_value(l, atomic->operands[1]);
    if (IR_PART(atomic, store).atomic == ATOMIC_COMPARE_EXCHANGE || l->uses[atomic->results[0]->id].count) {
        old = lower_named(l, element, atomic->results[0]->name, "old");
        lower_bind(l, atomic->results[0], old);
    }
    enum ir_op op = OP_COUNT;
    switch (IR_PART(atomic, store).atomic) {
    case ATOMIC_ADD: op = OP_ADD; break;
    case ATOMIC_MIN: op = OP_MIN; break;
    case ATOMIC_MAX: op = OP_MAX; break;
    case ATOMIC_AND: op = OP_AND; break;
    case ATOMIC_OR: op = OP_OR; break;
    case ATOMIC_XOR: op = OP_XOR; break;
    case ATOMIC_EXCHANGE:
    case ATOMIC_COMPARE_EXCHANGE:
    case ATOMIC_COUNT: break;
    }
    if (op != OP_COUNT) {
        struct target_expr *result = expr_new(l, TARGET_EXPR_OPERATION, base);
        result->op = op;
        result->wraps = true;
        result->operands[0] = old;
        result->operands[1] = value;
        result->size = 1 + old->size + value->size;
        value = result;
    }
    struct lower_scope scope = {0};
    bool is_guarded = IR_PART(atomic, store).atomic == ATOMIC_COMPARE_EXCHANGE;
    if (is_guarded) {
        struct target_statement *same = lower_emit(l, TARGET_IF);
        same->value = expr_operation(l, OP_EQ, BASE_BOOL, bits_of(l, old), bits_of(l, value));
        value = lower_value(l, atomic->operands[2]);
        scope = lower_enter(l, &same->body);
    }
    struct target_statement *store = lower_emit(l, TARGET_STORE);
    store->array = array;
    store->index = index;
    store->value = value;
    if (is_guarded)
        lower_leave(l, scope);
}

static void lower_atomic(struct lowering *l, const struct ir_instruction *instruction) {
    bool is_loops = l->target->mapping == TARGET_LOOP && instruction->buffer->memory == MEMORY_SHARED;
    if (is_loops ||
        lower_array(l, instruction->buffer)->space == TARGET_SPACE_PRIVATE) { /* a warp that is one thread */
        lower_sequential_atomic(l, instruction);
        return;
    }
    const struct ir_value *result = instruction->results[0];
    struct target_array *array = lower_array(l, instruction->buffer);
    struct target_expr *index = lower_place(l, array, instruction->operands[0]);
    struct target_expr *value = lower_value(l, instruction->operands[instruction->operand_count - 1]);
    struct target_expr *expected = instruction->operand_count == 3 ? lower_value(l, instruction->operands[1]) : NULL;
    struct target_variable *variable = NULL;
    if (l->uses[result->id].count) {
        variable = lower_variable(l, result->base, result->name, "old");
        lower_bind(l, result, expr_variable(l, variable, result->low, result->high));
    }
    struct target_statement *atomic = lower_emit(l, TARGET_ATOMIC);
    atomic->variable = variable;
    atomic->array = array;
    atomic->index = index;
    atomic->value = value;
    atomic->expected = expected;
    atomic->atomic = IR_PART(instruction, store).atomic;
    l->target->uses_atomic64 |= base_info[instruction->buffer->element].bits == 64;
}

/* ---- loops ---- */

/* Declares what a loop carries: parameters[first…] begin as operands[first…] and end as the results. */
static struct target_variable **declare_carried(struct lowering *l, const struct ir_instruction *loop, size_t first) {
    size_t count = loop->parameter_count - first;
    struct target_variable **variables = ARENA_ARRAY(l->arena, struct target_variable *, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct ir_value *parameter = loop->parameters[first + i], *result = loop->results[i];
        struct target_expr *initial = lower_value(l, loop->operands[first + i]);
        variables[i] = lower_variable(l, parameter->base, parameter->name ? parameter->name : result->name, "state");
        variables[i]->is_mutable = true;
        struct target_statement *declare = lower_emit(l, TARGET_DECLARE);
        declare->variable = variables[i];
        declare->value = initial;
    }
    for (size_t i = 0; i < count; i++) {
        const struct ir_value *parameter = loop->parameters[first + i], *result = loop->results[i];
        lower_bind(l, parameter, expr_variable(l, variables[i], parameter->low, parameter->high));
        lower_bind(l, result, expr_variable(l, variables[i], result->low, result->high));
    }
    return variables;
}

/* All carried values change at once: one that reads an already assigned one must be computed before. */
static void assign_carried(struct lowering *l, struct target_variable **variables, const ir_values *next) {
    struct target_expr **exprs = ARENA_ARRAY(l->arena, struct target_expr *, next->count + 1);
    for (size_t i = 0; i < next->count; i++)
        exprs[i] = lower_value(l, next->at[i]);
    for (size_t i = 1; i < next->count; i++) {
        bool is_late = false;
        for (size_t k = 0; k < i; k++)
            is_late |= expr_mentions(exprs[i], variables[k]);
        if (is_late && !(exprs[i]->kind == TARGET_EXPR_VARIABLE && exprs[i]->variable == variables[i]))
            exprs[i] = lower_named(l, exprs[i], NULL, "next");
    }
    for (size_t i = 0; i < next->count; i++)
        if (!(exprs[i]->kind == TARGET_EXPR_VARIABLE && exprs[i]->variable == variables[i]))
            lower_assign(l, variables[i], exprs[i]);
}

void lower_keep_order(struct lowering *l, struct target_statement *loop, bool is_ordered) {
    if (!is_ordered || !lower_has_quirk(l, QUIRK_ORDERED_LOOPS))
        return;
    loop->is_ordered = true;
    l->target->quirks |= quirk_bit(QUIRK_ORDERED_LOOPS);
    if (loop->vectors == TARGET_VECTORS_EIGHT) /* of a loop that is not vectorised, the other macro says how */
        lower_scalar(l, loop);
}

static void lower_for(struct lowering *l, const struct ir_instruction *loop) {
    struct target_expr *limit = lower_simple(l, loop->operands[0], "count");
    struct target_variable **carried = declare_carried(l, loop, 1);
    const struct ir_value *index = loop->parameters[0];
    const char *const *held = ahead_names(l, loop->regions[0]);
    bool is_slow = lower_has_quirk(l, QUIRK_NARROW_UNROLLED) && lower_computes_narrow(loop->regions[0]);
    bool is_unrolled = IR_PART(loop, loop).unroll && !is_slow && limit->kind == TARGET_EXPR_CONSTANT &&
                       limit->constant.integer <= ANY_UNROLLED_LIST;
    struct counted_place places[COUNTED_PLACES];
    size_t place_count = is_unrolled ? 0 : places_begin(l, loop, places);
    struct target_statement *statement = lower_emit(l, TARGET_FOR);
    statement->limit = limit;
    statement->value = expr_integer(l, index->base, 0);
    statement->step = expr_integer(l, index->base, 1);
    bool is_alone = lower_has_quirk(l, QUIRK_THREADS_BY_VECTORS);
    if (is_alone || (lower_has_quirk(l, QUIRK_SHORT_LOOPS) && lower_vectors_lose_stores(loop)) ||
        (lower_has_quirk(l, QUIRK_STEPS_WRAP) && lower_steps_wrap(loop->regions[0])))
        lower_scalar(l, statement);
    else if (lower_has_quirk(l, QUIRK_RESTARTED_INDICES) && !loop->result_count && lower_has_narrow(loop->regions[0]) &&
             lower_restarts_index(l->arena, loop))
        statement->vectors = TARGET_VECTORS_EIGHT;
    lower_keep_order(l, statement, lower_sums_floats(l->arena, loop) || lower_updates(loop) || lower_hands_on(loop));
    statement->unroll = is_unrolled;
    statement->is_update = lower_has_quirk(l, QUIRK_ROLLED_UPDATES) && !is_unrolled && lower_updates_in_turn(loop);
    if (statement->is_update)
        l->target->quirks |= quirk_bit(QUIRK_ROLLED_UPDATES);
    struct lower_scope scope = lower_enter(l, &statement->body);
    statement->variable = lower_variable(l, index->base, index->name, "k");
    lower_bind(l, index, expr_variable(l, statement->variable, index->low, index->high));
    lower_region(l, loop->regions[0]);
    assign_carried(l, carried, &loop->regions[0]->yields);
    places_count_up(l, places, place_count);
    lower_leave(l, scope);
    ahead_load(l, held, false);
}

static void lower_while(struct lowering *l, const struct ir_instruction *loop) {
    struct target_variable **carried = declare_carried(l, loop, 0);
    if (IR_PART(loop, loop).is_lock)
        carried[0]->is_lock = true;
    struct target_statement *statement = lower_emit(l, TARGET_WHILE);
    if (lower_has_quirk(l, QUIRK_THREADS_BY_VECTORS) && loop->region->ambient == LEVEL_THREAD)
        lower_scalar(l, statement);
    lower_keep_order(l, statement, lower_sums_floats(l->arena, loop) || lower_hands_on(loop));
    struct lower_scope scope = lower_enter(l, &statement->body);
    leave_on_failure(l, loop);
    lower_region(l, loop->regions[0]);
    struct target_expr *condition = lower_value(l, loop->regions[0]->yields.at[0]);
    if (statement->body.statements.count)
        lower_emit(l, TARGET_LEAVE_UNLESS)->value = condition;
    else
        statement->value = condition;
    lower_region(l, loop->regions[1]);
    assign_carried(l, carried, &loop->regions[1]->yields);
    lower_leave(l, scope);
    if (l->target->mapping == TARGET_SIMT && loop->region->ambient == LEVEL_BLOCK &&
        pass_wanted(l->options->passes, PASS_KEPT))
        kept_emit(l);
}

/* ---- branches ---- */

static void lower_branch(struct lowering *l, const struct ir_region *region, struct target_block *body,
                         struct target_variable **results, struct target_expr **only) {
    struct lower_scope scope = lower_enter(l, body);
    lower_region(l, region);
    if (only && !body->statements.count)
        *only = lower_value(l, region->yields.at[0]);
    for (size_t i = 0; i < region->yields.count; i++)
        if (results[i])
            lower_assign(l, results[i], lower_value(l, region->yields.at[i]));
    lower_leave(l, scope);
}

static bool is_truth(const struct target_expr *expr, bool truth) {
    return expr->base == BASE_BOOL && expr_is_integer(expr, truth);
}

/* A branch whose condition is known: only one side is lowered. Note [borders] in ir/passes/split.c has why it may be
   known here. */
static void lower_decided(struct lowering *l, const struct ir_instruction *branch, bool truth) {
    const struct ir_region *region = branch->regions[truth ? 0 : 1];
    if (region)
        lower_region(l, region);
    for (size_t i = 0; i < branch->result_count; i++)
        if (l->uses[branch->results[i]->id].count)
            lower_bind(l, branch->results[i], lower_simple(l, region->yields.at[i], "chosen"));
}

/* Are all results known that are used, and is there nothing else to it? It may store something, too. */
static bool is_known(const struct lowering *l, const struct ir_instruction *branch) {
    for (size_t i = 0; i < branch->result_count; i++)
        if (l->uses[branch->results[i]->id].count && !l->values[branch->results[i]->id])
            return false;
    for (struct ir_walk walk = ir_walk_of(branch); walk.at; ir_next(&walk))
        if (walk.at->kind != IR_OPERATION && walk.at->kind != IR_LOAD && walk.at->kind != IR_IF)
            return false;
    return branch->result_count;
}

static void lower_if(struct lowering *l, const struct ir_instruction *branch) {
    if (is_known(l, branch)) /* the loop mapping knows some beforehand: note [rows] */
        return;
    struct target_expr *condition = lower_value(l, branch->operands[0]);
    bool truth;
    if (uses_know(l->values, branch->operands[0], &truth)) {
        lower_decided(l, branch, truth);
        return;
    }
    size_t count = branch->result_count, used = 0, mark = names_mark(l->names);
    struct target_variable **results = ARENA_ARRAY(l->arena, struct target_variable *, count + 1);
    struct target_block *block = l->block;
    struct target_block declarations = {0};
    l->block = &declarations;
    for (size_t i = 0; i < count; i++) {
        const struct ir_value *result = branch->results[i];
        if (!l->uses[result->id].count)
            continue;
        used++;
        results[i] = lower_variable(l, result->base, result->name, "chosen");
        results[i]->is_mutable = true;
        lower_emit(l, TARGET_DECLARE)->variable = results[i];
        lower_bind(l, result, expr_variable(l, results[i], result->low, result->high));
    }
    l->block = block;
    struct target_statement *statement = ARENA_NEW(l->arena, struct target_statement);
    statement->kind = TARGET_IF;
    statement->span = l->span;
    statement->value = condition;
    struct target_expr *chosen[2] = {NULL, NULL};
    bool is_choice = count == 1 && used == 1;
    lower_branch(l, branch->regions[0], &statement->body, results, is_choice ? &chosen[0] : NULL);
    if (branch->regions[1])
        lower_branch(l, branch->regions[1], &statement->other, results, is_choice ? &chosen[1] : NULL);
    if (chosen[0] && chosen[1]) {
        /* Both branches are single expressions: `c ? a : b`, of which only one is evaluated too. */
        names_release(l->names, mark);
        bool is_condition = is_truth(chosen[0], true) && is_truth(chosen[1], false);
        struct target_expr *expr = condition;
        if (!is_condition) {
            expr = expr_choice(l, condition, chosen[0], chosen[1]);
            expr->low = branch->results[0]->low;
            expr->high = branch->results[0]->high;
        }
        if (!is_condition || expr->size)
            expr = lower_named(l, expr, branch->results[0]->name, "chosen");
        lower_bind(l, branch->results[0], expr);
        return;
    }
    for (size_t i = 0; i < declarations.statements.count; i++)
        vec_push(l->arena, &l->block->statements, declarations.statements.at[i]);
    if (statement->body.statements.count || statement->other.statements.count)
        vec_push(l->arena, &l->block->statements, statement);
}

/* ---- regions ---- */

void lower_instruction(struct lowering *l, const struct ir_instruction *instruction) {
    struct span outer = l->span;
    if (instruction->users.end)
        l->span = instruction->users;
    switch (instruction->kind) {
    case IR_OPERATION:
        if (l->uses[instruction->results[0]->id].count && !l->values[instruction->results[0]->id])
            lower_operation(l, instruction); /* the loop mapping binds some beforehand: note [rows] */
        break;
    case IR_LOAD:
        if (l->uses[instruction->results[0]->id].count)
            lower_load(l, instruction);
        break;
    case IR_STORE: lower_store(l, instruction); break;
    case IR_ATOMIC: lower_atomic(l, instruction); break;
    case IR_FENCE: lower_fence(l, instruction); break;
    case IR_SHUFFLE:
    case IR_MATCH:
    case IR_BALLOT: lower_exchange(l, instruction); break;
    case IR_MMA: lower_mma(l, instruction); break;
    case IR_CHECK: lower_check(l, instruction); break;
    case IR_SWAP:
    case IR_ALLOCATE: break; /* declared where it is first accessed; swapped by the host */
    case IR_FORALL:
        if (l->target->mapping == TARGET_SIMT)
            simt_forall(l, instruction);
        else
            loop_forall(l, instruction);
        break;
    case IR_FOR: lower_for(l, instruction); break;
    case IR_WHILE: lower_while(l, instruction); break;
    case IR_IF: lower_if(l, instruction); break;
    }
    l->span = outer;
}

/* Before the barrier that makes a group known to all threads. */
static void lower_end_copies(struct lowering *l, const struct ir_instruction *fence) {
    if (fence->kind == IR_FENCE && fence->buffer && lower_array(l, fence->buffer)->space == TARGET_SPACE_SHARED)
        lower_emit(l, TARGET_END_COPIES)->copied = fence->outer == LEVEL_THREAD ? -1
                                                   : fence->buffer->stages > 2  ? fence->buffer->stages - 2
                                                                                : 0;
}

/* With the barrier before it. */
static void lower_in_region(struct lowering *l, const struct ir_instruction *instruction) {
    lower_end_copies(l, instruction);
    if (l->barriers)
        simt_barrier(l, instruction->region->ambient, barrier_of(l->barriers->before, instruction));
    struct extent *extent = map_get(l->extents->by_first, instruction);
    for (; extent; extent = extent->next_here) {
        if (l->target->mapping == TARGET_SIMT)
            simt_declare(l, extent);
        else
            loop_declare(l, extent);
    }
    lower_instruction(l, instruction);
}

void lower_region(struct lowering *l, const struct ir_region *region) {
    struct target_statement *now = l->now;
    for (size_t i = 0, end; i < region->instructions.count; i = end) {
        end = l->barriers ? simt_first_warp(l, region, i) : i;
        if (end == i)
            lower_in_region(l, region->instructions.at[end++]);
    }
    if (l->barriers)
        simt_barrier(l, region->ambient, barrier_of(l->barriers->at_end, region));
    l->now = now;
}
