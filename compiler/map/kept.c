/* note [kept places]
   What note [steady places] of ir/passes/steady.c adds up apart is the same in all steps of a loop of copies ahead.
   But NVIDIA's compiler, which sees that, does not keep it in a register: it computes a thread's row and column once
   more in each step, which takes more instructions than the step's products. So it is computed before the loop, an
   element for each turn of the unrolled loops around it,

       for (piece…) kept[piece] = fcl_kept(row * n + column);
       while (…) { for (piece…) copy(a + (k * 32 + kept[piece])); }

   and handed over by an instruction that hides how it was made. Turns that have the same share a register. The part
   that is a constant in an unrolled loop is added in the loop: an instruction has room for it. Where the place has a
   name, that is of the sum.

   note [pairs of matrices]
   The lanes' instruction that loads the second matrix of a product has room for two of them: half of the lanes say
   where the rows of the one begin, the others where those of the other begin. So two turns next to each other of the
   innermost loop, the place of each of which is kept anyway, load theirs together.

   note [rows held]
   The products of a loop that is unrolled, below and beside each other, have their matrices in common. These are loaded
   before the loop, each once: those that are the same for `run` turns after one another, and those that are the same in
   every `period`-th turn. NVIDIA's compiler finds that for compute capability 9.0, and not before. The places of a turn
   are compared by what they are where the loop's index is known.

   The gain, in machine code by NVRTC 13.0 (a step of the loop of `unitProduct_0` of benchmarks/fcl/matrices.fcl,
   2026-11-29): 147 instructions and 16 loads of matrices for a warp's 64 products. With tiles half as wide, and none of
   these notes, it was 244 for 32 products, and 64 loads of matrices for compute capability 8.0. */
#include "map/lower.h"

enum { MOST_AROUND = 4, MOST_KEPT = 1 << 10 };

struct kept {
    struct target_expr *steady;
    struct target_array *array;
    struct target_array
        *alone; /* of note [pairs of matrices]: for the turn alone, before it is put in pairs; or NULL */
    size_t depth;
    struct target_statement *around[MOST_AROUND]; /* the unrolled loops, from outside in */
    VEC(struct target_statement *) declared;      /* what is seen there */
};
struct keeping {
    struct lowering *l;
    struct target_statement *loop;
    struct target_statement *around[MOST_AROUND];
    size_t depth;
    VEC(struct target_statement *) declared;
    VEC(struct kept) all;
};

static struct target_statement *declaration_of(const struct keeping *k, const struct target_variable *variable) {
    for (size_t i = k->declared.count; i-- > 0;)
        if (k->declared.at[i]->variable == variable)
            return k->declared.at[i];
    return NULL;
}

static bool is_around(const struct keeping *k, const struct target_variable *variable) {
    for (size_t i = 0; i < k->depth; i++)
        if (k->around[i]->variable == variable)
            return true;
    return false;
}

/* Is the variable made in the block? */
static bool is_made_in(const struct target_block *block, const struct target_variable *variable) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        if (statement->variable == variable || is_made_in(&statement->body, variable) ||
            is_made_in(&statement->other, variable))
            return true;
        for (size_t k = 0; statement->results && k < MMA_SUMS; k++)
            if (statement->results[k] == variable)
                return true;
    }
    return false;
}

/* Is it the same in all steps? `in_turns`: and known where the loops around are unrolled? */
static bool is_steady(const struct keeping *k, const struct target_expr *expr, bool in_turns) {
    if (expr->kind == TARGET_EXPR_CONSTANT)
        return true;
    if (expr->kind == TARGET_EXPR_HARDWARE)
        return !in_turns;
    if (expr->kind == TARGET_EXPR_VARIABLE) {
        const struct target_statement *declaration = declaration_of(k, expr->variable);
        if (declaration)
            return is_steady(k, declaration->value, in_turns);
        return is_around(k, expr->variable) || (!in_turns && !is_made_in(&k->loop->body, expr->variable));
    }
    if (expr->kind != TARGET_EXPR_OPERATION)
        return false;
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        if (!is_steady(k, expr->operands[i], in_turns))
            return false;
    return true;
}

static bool depends_on(const struct keeping *k, const struct target_expr *expr,
                       const struct target_variable *variable) {
    if (expr->kind == TARGET_EXPR_VARIABLE) {
        const struct target_statement *declaration = declaration_of(k, expr->variable);
        return declaration ? depends_on(k, declaration->value, variable) : expr->variable == variable;
    }
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        if (depends_on(k, expr->operands[i], variable))
            return true;
    return false;
}

static struct target_expr *turn_of(struct lowering *l, const struct target_statement *loop) {
    return expr_variable(l, loop->variable, 0, loop->limit->constant.integer - 1);
}

/* Among the elements of all turns: that of this one, whose number in the innermost loop is `last`. */
static struct target_expr *place_in_turns(struct lowering *l, struct target_statement *const *around, size_t depth,
                                          struct target_expr *last) {
    struct target_expr *place = expr_integer(l, BASE_I32, 0);
    for (size_t i = 0; i < depth; i++) {
        place = expr_operation(l, OP_MUL, BASE_I32, place, around[i]->limit);
        place = expr_operation(l, OP_ADD, BASE_I32, place, i + 1 < depth ? turn_of(l, around[i]) : last);
    }
    return place;
}

static struct target_array *declare_kept(struct lowering *l, int64_t count) {
    struct target_array *array = ARENA_NEW(l->arena, struct target_array);
    *array = (struct target_array){.name = names_fresh(l->names, NULL, "kept"),
                                   .element = BASE_I32,
                                   .space = TARGET_SPACE_PRIVATE,
                                   .capacity = count,
                                   .is_brief = true};
    return array;
}

static struct target_expr *keep_it(struct keeping *k, struct target_expr *steady, bool in_pairs) {
    struct kept *known = NULL;
    int64_t count = 1;
    for (size_t i = 0; i < k->all.count && !known; i++) {
        const struct target_expr *other = k->all.at[i].steady;
        bool is_same = other == steady || (other->kind == TARGET_EXPR_VARIABLE &&
                                           steady->kind == TARGET_EXPR_VARIABLE && other->variable == steady->variable);
        if (is_same && !k->all.at[i].alone == !in_pairs && k->all.at[i].depth == k->depth &&
            k->all.at[i].around[k->depth - 1] == k->around[k->depth - 1])
            known = &k->all.at[i];
    }
    if (!known) {
        struct kept fresh = {.steady = steady, .depth = k->depth};
        for (size_t i = 0; i < k->depth; i++) {
            fresh.around[i] = k->around[i];
            count *= k->around[i]->limit->constant.integer;
        }
        if (count > MOST_KEPT)
            return steady;
        for (size_t i = 0; i < k->declared.count; i++)
            vec_push(k->l->arena, &fresh.declared, k->declared.at[i]);
        fresh.array = declare_kept(k->l, count);
        fresh.alone = in_pairs ? declare_kept(k->l, count) : NULL;
        vec_push(k->l->arena, &k->all, fresh);
        known = &k->all.at[k->all.count - 1];
    }
    struct target_expr *last = turn_of(k->l, k->around[k->depth - 1]);
    return expr_element(k->l, BASE_I32, known->array, place_in_turns(k->l, k->around, k->depth, last));
}

static struct target_expr *sum_of(const struct target_expr *like, struct target_expr *x, struct target_expr *y,
                                  struct lowering *l) {
    struct target_expr *sum = ARENA_NEW(l->arena, struct target_expr);
    *sum = *like;
    sum->operands[0] = x;
    sum->operands[1] = y;
    sum->size = x->size + y->size + 1;
    return sum;
}

static bool is_sum(const struct target_expr *expr) {
    return expr->kind == TARGET_EXPR_OPERATION && expr->op == OP_ADD && expr->base == BASE_I32;
}

static bool keep(struct keeping *k, struct target_expr **place, bool in_pairs) {
    struct target_statement *named =
        (*place)->kind == TARGET_EXPR_VARIABLE ? declaration_of(k, (*place)->variable) : NULL;
    place = named ? &named->value : place;
    if (!is_sum(*place) || !k->depth || is_steady(k, (*place)->operands[0], false) ||
        !is_steady(k, (*place)->operands[1], false) || is_steady(k, (*place)->operands[1], true))
        return false;
    struct target_expr *steady = (*place)->operands[1];
    const struct target_statement *declaration =
        steady->kind == TARGET_EXPR_VARIABLE ? declaration_of(k, steady->variable) : NULL;
    const struct target_expr *said = declaration ? declaration->value : steady;
    bool is_alike = !in_pairs || (is_sum(said) && !depends_on(k, said->operands[1], k->around[k->depth - 1]->variable));
    if (is_sum(said) && is_steady(k, said->operands[1], true) && is_alike)
        steady = sum_of(said, keep_it(k, said->operands[0], in_pairs), said->operands[1], k->l);
    else
        steady = keep_it(k, steady, in_pairs);
    *place = sum_of(*place, (*place)->operands[0], steady, k->l);
    return true;
}

/* Where lanes have the elements of the first matrix in registers, as weights of attention, they have none to spare:
   the loop of `attention` takes 514 instructions and spills nothing so, and 497 with spills. */
static void keep_rows(struct keeping *k, struct target_statement *product) {
    for (size_t r = 0; product->rows && product->rows[0] && r < MMA_PLACES; r++)
        keep(k, &product->rows[r]->operands[0], false);
}

/* The expression's value where the variable has that value and it depends on nothing else. */
static bool fold_at(const struct keeping *k, const struct target_expr *expr, const struct target_variable *variable,
                    int64_t at, int64_t *value) {
    int64_t x = 0, y = 0;
    if (expr->kind == TARGET_EXPR_CONSTANT) {
        *value = expr->constant.integer;
        return true;
    }
    if (expr->kind == TARGET_EXPR_VARIABLE) {
        const struct target_statement *declaration = declaration_of(k, expr->variable);
        *value = at;
        return declaration ? fold_at(k, declaration->value, variable, at, value) : expr->variable == variable;
    }
    if (expr->kind != TARGET_EXPR_OPERATION || expr->base != BASE_I32 || !expr->operands[1] ||
        !fold_at(k, expr->operands[0], variable, at, &x) || !fold_at(k, expr->operands[1], variable, at, &y))
        return false;
    switch (expr->op) {
    case OP_ADD: *value = x + y; break;
    case OP_SUB: *value = x - y; break;
    case OP_MUL: *value = x * y; break;
    case OP_AND: *value = x & y; break;
    case OP_OR: *value = x | y; break;
    case OP_XOR: *value = x ^ y; break;
    case OP_SHR: *value = y >= 0 && y < 32 ? x >> y : x; return y >= 0 && y < 32;
    default: return false;
    }
    return *value >= INT32_MIN && *value <= INT32_MAX;
}

/* Is it the same for two values of the variable? */
static bool is_same_at(const struct keeping *k, const struct target_expr *expr, const struct target_variable *variable,
                       int64_t at, int64_t other) {
    int64_t x, y;
    if (!depends_on(k, expr, variable))
        return true;
    if (fold_at(k, expr, variable, at, &x) && fold_at(k, expr, variable, other, &y))
        return x == y;
    const struct target_statement *declaration =
        expr->kind == TARGET_EXPR_VARIABLE ? declaration_of(k, expr->variable) : NULL;
    if (declaration)
        return is_same_at(k, declaration->value, variable, at, other);
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        if (!is_same_at(k, expr->operands[i], variable, at, other))
            return false;
    return expr->kind == TARGET_EXPR_OPERATION;
}

/* The expression where the loop's index is `turn`, without what is declared in the loop. */
static struct target_expr *at_turn(struct keeping *k, struct target_expr *expr, const struct target_statement *loop,
                                   struct target_expr *turn) {
    if (expr->kind == TARGET_EXPR_VARIABLE) {
        const struct target_statement *declaration =
            is_made_in(&loop->body, expr->variable) ? declaration_of(k, expr->variable) : NULL;
        return declaration                        ? at_turn(k, declaration->value, loop, turn)
               : expr->variable == loop->variable ? turn
                                                  : expr;
    }
    struct target_expr *copy = ARENA_NEW(k->l->arena, struct target_expr);
    *copy = *expr;
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        copy->operands[i] = at_turn(k, expr->operands[i], loop, turn);
    return copy;
}

enum { HELD_WORDS = 4 };

/* Loads that many rows before the loop: those of every `distance`-th turn. */
static struct target_array *hold(struct keeping *k, struct target_block *before, const struct target_statement *loop,
                                 struct target_expr *rows, int64_t count, int64_t distance, bool are_columns) {
    struct lowering *l = k->l;
    struct target_array *held = ARENA_NEW(l->arena, struct target_array);
    *held = (struct target_array){.name = names_fresh(l->names, NULL, "rows"),
                                  .element = BASE_U32,
                                  .space = TARGET_SPACE_PRIVATE,
                                  .capacity = count * HELD_WORDS,
                                  .is_brief = true};
    struct target_block *block = l->block;
    l->block = before;
    lower_emit(l, TARGET_DECLARE_ARRAY)->array = held;
    struct target_statement *loads = lower_emit(l, TARGET_FOR);
    loads->variable = lower_variable(l, BASE_I32, NULL, "nth");
    loads->value = expr_integer(l, BASE_I32, 0);
    loads->limit = expr_integer(l, BASE_I32, count);
    loads->step = expr_integer(l, BASE_I32, 1);
    loads->unroll = true;
    l->block = &loads->body;
    struct target_expr *nth = turn_of(l, loads);
    struct target_statement *load = lower_emit(l, TARGET_HOLD_ROWS);
    load->array = held;
    load->index = expr_operation(l, OP_MUL, BASE_I32, nth, expr_integer(l, BASE_I32, HELD_WORDS));
    load->are_columns = are_columns;
    load->value = at_turn(k, rows, loop, expr_operation(l, OP_MUL, BASE_I32, nth, expr_integer(l, BASE_I32, distance)));
    l->block = block;
    return held;
}

/* Where what a turn has begins: `words` after one another for each of these. */
static struct target_expr *held_at(struct lowering *l, struct target_array *held, enum ir_op op, int64_t by,
                                   int64_t words, const struct target_statement *loop) {
    struct target_expr *turn = expr_operation(l, op, BASE_I32, turn_of(l, loop), expr_integer(l, BASE_I32, by));
    return expr_element(l, BASE_U32, held, expr_operation(l, OP_MUL, BASE_I32, turn, expr_integer(l, BASE_I32, words)));
}

static void hold_rows(struct keeping *k, struct target_statement *product, struct target_block *before) {
    const struct target_statement *loop = k->around[k->depth - 1];
    int64_t turns = loop->limit->constant.integer, run = turns, period = 2;
    struct target_expr *first = product->rows[0]->operands[0], *second = product->rows[1]->operands[0];
    bool is_run = false, is_period = false;
    for (; turns % 2 == 0 && !is_run && run > 1; run -= !is_run) {
        is_run = turns % run == 0;
        for (int64_t t = 0; is_run && t < turns; t++)
            is_run = is_same_at(k, first, loop->variable, t, t / run * run);
    }
    for (; turns % 2 == 0 && !is_period && period <= turns; period += is_period ? 0 : 2) {
        is_period = turns % period == 0;
        for (int64_t t = 0; is_period && t < turns; t++)
            is_period = is_same_at(k, second, loop->variable, t, t % period);
    }
    if (!is_run && turns % 2 == 0)
        run = 1;
    keep(k, &product->rows[0]->operands[0], false);
    if (turns % 2 || !is_period || !keep(k, &product->rows[1]->operands[0], true)) {
        keep(k, &product->rows[1]->operands[0], false);
        return;
    }
    product->held = ARENA_ARRAY(k->l->arena, struct target_expr *, MMA_PLACES);
    struct target_array *rows = hold(k, before, loop, product->rows[0], turns / run, run, false);
    product->held[0] = held_at(k->l, rows, OP_DIV, run, HELD_WORDS, loop);
    rows = hold(k, before, loop, product->rows[1], period / 2, 2, !product->are_columns);
    product->held[1] = held_at(k->l, rows, OP_REM, period, HELD_WORDS / 2, loop);
}

static void put_before(struct arena *arena, struct target_block *block, size_t at, const struct target_block *what) {
    struct target_block all = {0};
    for (size_t i = 0; what->statements.count && i < block->statements.count; i++) {
        for (size_t k = 0; i == at && k < what->statements.count; k++)
            vec_push(arena, &all.statements, what->statements.at[k]);
        vec_push(arena, &all.statements, block->statements.at[i]);
    }
    if (what->statements.count)
        *block = all;
}

static void look_at(struct keeping *k, struct target_block *block, const struct target_statement *loop,
                    struct target_block *before) {
    size_t declared = k->declared.count;
    for (size_t i = 0; i < block->statements.count; i++) {
        struct target_statement *at = block->statements.at[i];
        switch (at->kind) {
        case TARGET_DECLARE:
            if (at->value)
                vec_push(k->l->arena, &k->declared, at);
            break;
        case TARGET_IF:
            look_at(k, &at->body, NULL, NULL);
            look_at(k, &at->other, NULL, NULL);
            break;
        case TARGET_FOR:
            if (!at->unroll || at->unroll_by || k->depth == MOST_AROUND || at->variable->base != BASE_I32 ||
                !expr_is_integer(at->value, 0) || !expr_is_integer(at->step, 1) ||
                at->limit->kind != TARGET_EXPR_CONSTANT)
                break;
            k->around[k->depth++] = at;
            struct target_block rows = {0};
            look_at(k, &at->body, at, &rows);
            k->depth--;
            put_before(k->l->arena, block, i, &rows);
            i += rows.statements.count;
            break;
        case TARGET_COPY:
            if (at->piece == TARGET_PIECE_ALIGNED) {
                keep(k, &at->index, false);
                keep(k, &at->value->operands[0], false);
            }
            break;
        case TARGET_MMA:
            if (at->rows && at->rows[0] && k->depth && k->around[k->depth - 1] == loop)
                hold_rows(k, at, before);
            else
                keep_rows(k, at);
            break;
        default: break;
        }
    }
    k->declared.count = declared;
}

/* Is the declaration needed for what is kept, or for one that is, behind it? */
static bool is_needed(const struct kept *kept, size_t declared) {
    const struct target_variable *variable = kept->declared.at[declared]->variable;
    if (expr_mentions(kept->steady, variable))
        return true;
    for (size_t i = declared + 1; i < kept->declared.count; i++)
        if (expr_mentions(kept->declared.at[i]->value, variable) && is_needed(kept, i))
            return true;
    return false;
}

static bool are_alike(const struct kept *x, const struct kept *y) {
    return x->depth == y->depth && x->around[x->depth - 1] == y->around[y->depth - 1];
}

/* The loops once more; gives the innermost, which is empty. */
static struct target_statement *emit_loops(struct lowering *l, const struct kept *kept) {
    struct target_statement *innermost = NULL;
    for (size_t i = 0; i < kept->depth; i++) {
        struct target_statement *loop = ARENA_NEW(l->arena, struct target_statement);
        *loop = *kept->around[i];
        loop->body = (struct target_block){0};
        vec_push(l->arena, innermost ? &innermost->body.statements : &l->block->statements, loop);
        innermost = loop;
    }
    return innermost;
}

static void store_kept(struct lowering *l, const struct kept *kept, struct target_block *to, struct target_array *array,
                       struct target_expr *value, bool is_hidden) {
    struct target_statement *store = ARENA_NEW(l->arena, struct target_statement);
    store->kind = TARGET_STORE;
    store->array = array;
    store->index = place_in_turns(l, kept->around, kept->depth, turn_of(l, kept->around[kept->depth - 1]));
    store->value = value;
    if (is_hidden) {
        store->value = expr_new(l, TARGET_EXPR_KEPT, BASE_I32);
        store->value->operands[0] = value;
    }
    vec_push(l->arena, &to->statements, store);
}

/* The place for this turn, or the one next to it, in `half` 0 or 1 of the lanes. */
static struct target_expr *of_pair(struct lowering *l, const struct kept *kept, int half) {
    struct target_expr *turn = turn_of(l, kept->around[kept->depth - 1]);
    struct target_expr *other =
        expr_operation(l, half ? OP_OR : OP_AND, BASE_I32, turn, expr_integer(l, BASE_I32, half ? 1 : -2));
    return expr_element(l, BASE_I32, kept->alone, place_in_turns(l, kept->around, kept->depth, other));
}

/* Computes, in one copy of their loops, all places that are kept for the turns of these loops. */
static void emit_kept(struct keeping *k, size_t first) {
    struct lowering *l = k->l;
    const struct kept *kept = &k->all.at[first];
    struct target_statement *innermost = emit_loops(l, kept), *pairs = NULL;
    VEC(const struct target_statement *) done = {0};
    for (size_t i = first; i < k->all.count; i++) {
        const struct kept *one = &k->all.at[i];
        if (!are_alike(one, kept))
            continue;
        for (size_t d = 0; d < one->declared.count; d++) {
            bool is_there = !is_needed(one, d);
            for (size_t j = 0; j < done.count; j++)
                is_there |= done.at[j] == one->declared.at[d];
            if (is_there)
                continue;
            vec_push(l->arena, &done, one->declared.at[d]);
            vec_push(l->arena, &innermost->body.statements, one->declared.at[d]);
        }
    }
    struct target_expr *lane =
        expr_operation(l, OP_AND, BASE_U32, expr_hardware(l, TARGET_THREAD_ID), expr_integer(l, BASE_U32, 16));
    for (size_t i = first; i < k->all.count; i++) {
        const struct kept *one = &k->all.at[i];
        if (!are_alike(one, kept))
            continue;
        store_kept(l, one, &innermost->body, one->alone ? one->alone : one->array, one->steady, !one->alone);
        if (!one->alone)
            continue;
        pairs = pairs ? pairs : emit_loops(l, kept);
        struct target_expr *is_first = expr_operation(l, OP_EQ, BASE_BOOL, lane, expr_integer(l, BASE_U32, 0));
        store_kept(l, one, &pairs->body, one->array, expr_choice(l, is_first, of_pair(l, one, 0), of_pair(l, one, 1)),
                   true);
    }
}

static void see_expr(struct map *used, const struct target_expr *expr) {
    if (!expr)
        return;
    if (expr->kind == TARGET_EXPR_VARIABLE)
        map_set(used, expr->variable, NULL);
    for (int i = 0; i < 3; i++)
        see_expr(used, expr->operands[i]);
    if (expr->array)
        see_expr(used, expr->array->stride);
}

static void see_used(struct map *used, const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *at = block->statements.at[i];
        const struct target_selection *selection = at->selection;
        const struct target_expr *parts[] = {at->value,
                                             at->index,
                                             at->limit,
                                             at->step,
                                             at->expected,
                                             at->array ? at->array->stride : NULL,
                                             at->from ? at->from->stride : NULL,
                                             selection ? selection->end : NULL,
                                             selection ? selection->length : NULL};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            see_expr(used, parts[k]);
        for (size_t k = 0; k < at->operand_count; k++)
            see_expr(used, at->operands[k]);
        for (size_t k = 0; at->rows && !at->held && k <= MMA_PLACES; k++)
            see_expr(used, at->rows[k]);
        for (size_t k = 0; at->held && k < MMA_PLACES; k++)
            see_expr(used, at->held[k]);
        see_used(used, &at->body);
        see_used(used, &at->other);
    }
}

/* Declarations of what only places had that are kept now. */
static bool drop_unused(const struct map *used, struct target_block *block) {
    size_t stay = 0, count = block->statements.count;
    bool has_dropped = false;
    for (size_t i = 0; i < count; i++) {
        struct target_statement *at = block->statements.at[i];
        if (at->kind == TARGET_NOW)
            at->is_used = map_has(used, at->variable);
        has_dropped |= drop_unused(used, &at->body);
        has_dropped |= drop_unused(used, &at->other);
        if (at->kind != TARGET_DECLARE || at->variable->is_mutable || map_has(used, at->variable))
            block->statements.at[stay++] = at;
    }
    block->statements.count = stay;
    return has_dropped || stay < count;
}

void kept_drop_unused(struct lowering *l, struct target_block *block) {
    for (bool goes_on = true; goes_on;) {
        struct map *used = map_new(l->arena);
        see_used(used, block);
        goes_on = drop_unused(used, block);
    }
}

void kept_emit(struct lowering *l) {
    struct target_statement *loop = l->block->statements.at[l->block->statements.count - 1];
    struct keeping k = {.l = l, .loop = loop};
    look_at(&k, &loop->body, NULL, NULL);
    if (!k.all.count)
        return;
    pass_changed(l->options->passes, PASS_KEPT);
    l->block->statements.count--;
    for (size_t i = 0; i < k.all.count; i++)
        for (int alone = 0; alone <= !!k.all.at[i].alone; alone++)
            lower_emit(l, TARGET_DECLARE_ARRAY)->array = alone ? k.all.at[i].alone : k.all.at[i].array;
    for (size_t i = 0; i < k.all.count; i++) {
        bool is_done = false;
        for (size_t j = 0; j < i; j++)
            is_done |= are_alike(&k.all.at[i], &k.all.at[j]);
        if (!is_done)
            emit_kept(&k, i);
    }
    vec_push(l->arena, &l->block->statements, loop);
    kept_drop_unused(l, &loop->body);
}
