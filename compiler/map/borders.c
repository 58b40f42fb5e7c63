/* note [borders]
   A comparison of the index, or a clamped index, tells the elements at the borders of an array from
   those inside. It has the same outcome for all elements inside. So a loop over the grid's threads
   becomes two: of those inside, where its outcome is known, and with it the loads that are made, by
   vectors; and of what is left before and behind, as the loop was. Where rows are loops (rows.c) it
   is the row that has borders, and so it is where a block does a row; but tiles are too short to
   gain. For CPUs: on GPUs a guard costs next to nothing.

   A border that lies at a constant is taken for the first one, and what is computed for the last:
   where that is not so, the loop as it was does the more, but nothing is wrong. Bounds are computed
   in 64 bits. */
#include "ir/machine.h"
#include "map/lower.h"

enum { MOST_BORDERS = 16, MOST_PLACES = 64, DEEPEST_LIMIT = 4 };

/* The loop's index, or what is left of it in its row, and so many. */
struct spot {
    const struct ir_value *value;
    bool is_rest;
    int64_t plus;
};

/* The result that an operation is known to give inside the borders. */
enum inside { OUTCOME_FALSE, OUTCOME_TRUE, OUTCOME_PLACE, OUTCOME_LIMIT };

struct border {
    const struct ir_instruction *operation;
    enum inside outcome;
    struct spot place;
    struct ir_value *limit;
    /* The place, but for its `plus`, with which the outcome changes: this, or `limit` and that. */
    int64_t at;
    bool is_first; /* inside begins there; else it ends there */
};

struct borders {
    const struct ir_instruction *loop;
    struct border borders[MOST_BORDERS];
    size_t count;
    struct spot places[MOST_PLACES]; /* of values in the loop that are such */
    size_t place_count;
    bool has_first, has_last;
};

/* Sums and differences of what is the same in all iterations may be computed before the loop. */
static bool is_before(const struct ir_instruction *loop, const struct ir_value *value, int depth) {
    const struct ir_instruction *at = value->definition;
    if (!lower_varies(loop, value))
        return true;
    return at && depth && at->kind == IR_OPERATION && (at->op == OP_ADD || at->op == OP_SUB) &&
           is_before(loop, at->operands[0], depth - 1) && is_before(loop, at->operands[1], depth - 1);
}

static struct target_expr *lower_before(struct lowering *l, const struct ir_instruction *loop,
                                        const struct ir_value *value) {
    if (!lower_varies(loop, value))
        return lower_value(l, value);
    const struct ir_instruction *at = value->definition;
    struct target_expr *x = lower_before(l, loop, at->operands[0]), *y = lower_before(l, loop, at->operands[1]);
    struct target_expr *expr = expr_operation(l, at->op, value->base, x, y);
    expr->wraps |= expr != x && expr != y; /* that it does not may hold in a branch alone */
    return expr;
}

static const struct spot *find_place(const struct borders *found, const struct ir_value *value) {
    for (size_t i = 0; i < found->place_count; i++)
        if (found->places[i].value == value)
            return &found->places[i];
    return NULL;
}

static void add_place(struct borders *found, const struct ir_value *value, const struct spot *place, int64_t plus) {
    if (found->place_count < MOST_PLACES)
        found->places[found->place_count++] = (struct spot){value, place && place->is_rest, plus};
}

/* A place and a constant is one, too, where the sum does not wrap. */
static void note_sum(struct borders *found, const struct ir_instruction *at) {
    if ((at->op != OP_ADD && at->op != OP_SUB) || at->results[0]->base != BASE_I32 || !at->operands[1]->is_constant)
        return;
    const struct spot *place = find_place(found, at->operands[0]);
    int64_t constant = at->operands[1]->constant.integer * (at->op == OP_ADD ? 1 : -1);
    const struct ir_value *x = at->operands[0];
    if (place && (at->no_wrap || (x->low + constant >= INT32_MIN && x->high + constant <= INT32_MAX)))
        add_place(found, at->results[0], place, place->plus + constant);
}

static bool is_first(const struct spot *place, const struct ir_value *limit) {
    return limit->is_constant && limit->constant.integer - place->plus <= CPU_BORDER;
}

/* The outcome is `before` for places less than `limit` + constant, and else `behind`. */
static void note_border(struct borders *found, const struct ir_instruction *at, const struct spot *place,
                        struct ir_value *limit, int64_t constant, enum inside before, enum inside behind) {
    if (found->count == MOST_BORDERS)
        return;
    struct border border = {.operation = at, .place = *place, .limit = limit, .at = constant - place->plus};
    border.at += limit->is_constant ? limit->constant.integer : 0;
    border.is_first = is_first(place, limit);
    border.outcome = border.is_first ? behind : before;
    found->borders[found->count++] = border;
    found->has_first |= border.is_first;
    found->has_last |= !border.is_first;
    if (border.outcome == OUTCOME_PLACE)
        add_place(found, at->results[0], place, place->plus);
}

static void note_operation(struct borders *found, const struct ir_instruction *at) {
    if (at->operand_count != 2 || at->operands[0]->base != BASE_I32)
        return;
    note_sum(found, at);
    const struct spot *x = find_place(found, at->operands[0]), *y = find_place(found, at->operands[1]);
    struct ir_value *limit = at->operands[x ? 1 : 0];
    const struct spot *place = x ? x : y;
    if (!place || !is_before(found->loop, limit, DEEPEST_LIMIT))
        return;
    switch (at->op) {
    case OP_LT:
    case OP_LE: {
        bool is_behind = x ? at->op == OP_LE : at->op == OP_LT;
        note_border(found, at, place, limit, is_behind, x ? OUTCOME_TRUE : OUTCOME_FALSE,
                    x ? OUTCOME_FALSE : OUTCOME_TRUE);
        break;
    }
    case OP_EQ:
    case OP_NE: {
        enum inside outcome = at->op == OP_NE ? OUTCOME_TRUE : OUTCOME_FALSE;
        note_border(found, at, place, limit, is_first(place, limit), outcome, outcome);
        break;
    }
    case OP_MIN: note_border(found, at, place, limit, 0, OUTCOME_PLACE, OUTCOME_LIMIT); break;
    case OP_MAX: note_border(found, at, place, limit, 0, OUTCOME_LIMIT, OUTCOME_PLACE); break;
    default: break;
    }
}

/* Is it worth it? If it decides of loads, or where they are: a clamped index, or a branch. */
static bool decides(const struct borders *found) {
    for (size_t i = 0; i < found->count; i++)
        if (found->borders[i].outcome >= OUTCOME_PLACE)
            return true;
    for (struct ir_walk walk = ir_walk(found->loop->regions[0]); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_IF)
            for (struct ir_walk within = ir_walk_of(walk.at); within.at; ir_next(&within))
                if (within.at->kind == IR_LOAD)
                    return true;
    return false;
}

/* Checks would fail in another order; and beside loops, or arrays of its own, a comparison is nothing. */
static bool is_much(const struct lowering *l, const struct ir_instruction *at) {
    return ir_may_end(l->kernel, at) || at->kind == IR_ALLOCATE || at->kind == IR_WHILE ||
           (at->kind == IR_FOR && !IR_PART(at, loop).unroll);
}

const struct borders *borders_find(struct lowering *l, const struct ir_instruction *loop, const struct rows *rows) {
    const struct ir_value *index = loop->parameters[0];
    int64_t least = loop->outer == LEVEL_BLOCK ? CPU_BORDERED_ROW : CPU_ROWS_COUNT;
    bool is_short = loop->operands[0]->high < least;
    if (is_short || loop->outer < LEVEL_BLOCK || loop->inner != LEVEL_THREAD || index->base != BASE_I32)
        return NULL;
    struct borders *found = ARENA_NEW(l->arena, struct borders);
    found->loop = loop;
    add_place(found, index, NULL, 0);
    size_t size = 0;
    for (struct ir_walk walk = ir_walk(loop->regions[0]); walk.at; ir_next(&walk)) {
        if (++size > CPU_BORDERED || is_much(l, walk.at))
            return NULL;
        if (walk.at->kind != IR_OPERATION)
            continue;
        if (rows && rows_gives_rest(rows, walk.at)) {
            const struct spot rest = {.is_rest = true};
            add_place(found, walk.at->results[0], &rest, 0);
        } else
            note_operation(found, walk.at);
    }
    return found->count && decides(found) ? found : NULL;
}

/* ---- loops ---- */

static struct target_expr *wide(struct lowering *l, struct target_expr *x) { return expr_convert(l, x, BASE_I64); }

/* The index with which the outcome changes. */
static struct target_expr *lower_at(struct lowering *l, const struct ir_instruction *loop, const struct border *border,
                                    const struct rows *rows) {
    struct target_expr *at = expr_integer(l, BASE_I64, border->at);
    if (!border->limit->is_constant)
        at = expr_operation(l, OP_ADD, BASE_I64, wide(l, lower_before(l, loop, border->limit)), at);
    return border->place.is_rest ? expr_operation(l, OP_ADD, BASE_I64, wide(l, rows->start), at) : at;
}

static bool is_same(const struct border *x, const struct border *y) {
    bool is_limit = x->limit == y->limit || (x->limit->is_constant && y->limit->is_constant);
    return x->is_first == y->is_first && x->place.is_rest == y->place.is_rest && is_limit;
}

/* Does it leave less inside than every other border that differs from it by a constant alone? The others then need no
   comparison of their own. */
static bool is_least(const struct borders *borders, size_t i) {
    const struct border *border = &borders->borders[i];
    for (size_t k = 0; k < borders->count; k++) {
        const struct border *other = &borders->borders[k];
        bool is_less = border->is_first ? other->at > border->at : other->at < border->at;
        if (k != i && is_same(border, other) && (is_less || (other->at == border->at && k < i)))
            return false;
    }
    return true;
}

void borders_enter(struct lowering *l, const struct borders *borders, const struct rows *rows,
                   struct target_expr **first, struct target_expr **limit) {
    struct target_expr *begin = wide(l, *first), *end = wide(l, *limit);
    for (size_t i = 0; i < borders->count; i++) {
        const struct border *border = &borders->borders[i];
        if (!is_least(borders, i))
            continue;
        struct target_expr **bound = border->is_first ? &begin : &end;
        *bound = expr_operation(l, border->is_first ? OP_MAX : OP_MIN, BASE_I64, *bound,
                                lower_at(l, borders->loop, border, rows));
    }
    enum base base = (*first)->base;
    if (borders->has_first) {
        begin = expr_operation(l, OP_MIN, BASE_I64, begin, wide(l, *limit));
        *first = lower_named(l, expr_convert(l, begin, base), NULL, "inside");
    }
    if (borders->has_last) {
        end = expr_operation(l, OP_MAX, BASE_I64, end, wide(l, *first));
        *limit = lower_named(l, expr_convert(l, end, base), NULL, "outside");
    }
}

/* Begins the loop over the iterations before `inside` and those from `outside` on. The text has one loop for both
   sides, which runs twice. */
struct lower_scope borders_enter_others(struct lowering *l, const struct borders *borders, struct target_expr *inside,
                                        struct target_expr *outside, struct target_expr **first,
                                        struct target_expr **limit) {
    struct lower_scope scope = {l->block, names_mark(l->names)};
    if (!borders->has_first || !borders->has_last) {
        borders->has_first ? (*limit = inside) : (*first = outside);
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

void borders_bind(struct lowering *l, const struct borders *borders, const struct rows *rows,
                  struct target_expr *index) {
    for (size_t i = 0; i < borders->count; i++) {
        const struct border *border = &borders->borders[i];
        const struct ir_value *result = border->operation->results[0];
        struct target_expr *expr = NULL;
        switch (border->outcome) {
        case OUTCOME_FALSE: expr = expr_integer(l, BASE_BOOL, 0); break;
        case OUTCOME_TRUE: expr = expr_integer(l, BASE_BOOL, 1); break;
        case OUTCOME_LIMIT: expr = lower_before(l, borders->loop, border->limit); break;
        case OUTCOME_PLACE:
            expr = border->place.is_rest ? expr_operation(l, OP_SUB, BASE_I32, index, rows->start) : index;
            expr = expr_operation(l, OP_ADD, BASE_I32, expr, expr_integer(l, BASE_I32, border->place.plus));
            break;
        }
        if (border->outcome == OUTCOME_PLACE && expr != index) {
            expr->low = result->low;
            expr->high = result->high;
        }
        lower_bind(l, result, expr);
    }
}
