/* Loops are split from what guards their elements: what holds for most iterations at once is asked once, and a loop
   without guards does these. For CPUs, where a guard keeps stores from being vectors; on GPUs it costs next to nothing.

   A guard is a comparison, or a minimum or maximum that clamps. Its sides are sums, in 64 bits, where nothing of 32
   bits overflows; that what wraps in the loop does not do so is among the conditions. So a guard is solved in one of
   two ways: for all iterations together, or for the places at which it holds.

   note [wholly inside]
   Most tiles of an array lie wholly inside of it. In a parallel loop whose iterations are a block's or a warp's, what
   guards its elements is compared for all iterations together: a < b always holds when the most that a can be is less
   than the least that b can be. A minimum of which one side is never larger is that side. Only the tiles at the end
   take the loop with guards.

   note [borders]
   In a long loop the elements at the borders of an array differ from those inside. A guard with the index, or with what
   is left of the index in its row, has the same outcome for all places between two borders. So the loop's body becomes
   a branch on where the place lies: the one side as guards make it inside, the other as it was, which is right
   everywhere. The mapping makes loops of the sides (map/loop.c). Where rows are loops it is the row that has borders,
   and so it is where a block does a row; but tiles are too short to gain.

   A border that lies at a constant, or where a sum with the place reaches one, is taken for the first one, and what is
   computed for the last: where that is not so, the loop as it was does the more, but nothing is wrong. A remainder by
   the number of places, as indices that go round have it, is its dividend inside, or less than that by the divisor. */
#include "ir/build/linear.h"
#include "ir/build/rebuild.h"
#include "ir/machine.h"
#include "ir/passes/pass_list.h"
#include "ir/walk.h"

enum { DEEPEST = 24, DEEPEST_SUM = 4, DEEPEST_OF_ROW = 12 };

/* A sum of the place, `times` times (1 or -1; 0 where `place` is NULL), and what lies between these. */
struct bounds {
    struct ir_value *low, *high; /* i64 */
    struct ir_value *place;
    int times;
};

/* A side is an i64 from before the loop, or a place in it. */
struct condition {
    enum ir_op op; /* LT, LE; AND: x alone, a bool */
    struct ir_value *x, *y;
};

struct outcome {
    struct ir_value *result, *by;
};

struct splitter {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct rebuild *r;
    struct ir_builder *b;
    const struct ir_instruction *loop; /* that is looked at */
    bool is_tile;                      /* guards are solved for all iterations together */
    struct ir_value *rest;             /* else: the place that is left of the index in its row; or NULL */
    VEC(struct condition) conditions;
    VEC(const struct ir_instruction *) fitting; /* arithmetic that does not wrap when these hold */
    VEC(struct outcome) known;                  /* what chooses, and what it then is */
    VEC(const struct ir_instruction *) around;  /* remainders that are then less by the divisor */
    bool has_indices;                           /* some of these are indices, rather than conditions */
};

static bool is_varying(const struct splitter *s, const struct ir_value *value) {
    return value->region && ir_region_inside(value->region, s->loop->regions[0]);
}

static const struct ir_instruction *operation_of(const struct ir_value *value) {
    return value->definition && value->definition->kind == IR_OPERATION ? value->definition : NULL;
}

/* True if it is the same in all iterations: also a sum that is computed in the loop, in a branch. */
static bool is_steady(const struct splitter *s, const struct ir_value *value, int depth) {
    const struct ir_instruction *sum = operation_of(value);
    return !is_varying(s, value) ||
           (sum && depth && (sum->op == OP_ADD || sum->op == OP_SUB) && is_steady(s, sum->operands[0], depth - 1) &&
            is_steady(s, sum->operands[1], depth - 1));
}

/* ---- conditions ---- */

static struct ir_value *number(struct splitter *s, int64_t integer) {
    return ir_constant(s->b, BASE_I64, (union scalar){.integer = integer});
}

static struct ir_value *widen(struct splitter *s, struct ir_value *value) {
    return ir_convert(s->b, rebuild_early(s->r, value), BASE_I64);
}

/* True if `asked` holds wherever `known` does, as ranges of the sides that they do not share tell. */
static bool implies(const struct condition *known, const struct condition *asked) {
    if (known->op == OP_AND || asked->op == OP_AND)
        return known->op == asked->op && known->x == asked->x;
    bool is_strict = known->op == OP_LT || asked->op == OP_LE;
    if (known->x == asked->x)
        return known->y == asked->y ? is_strict : known->y->high + !is_strict <= asked->y->low;
    return known->y == asked->y && known->x->low >= asked->x->high + !is_strict;
}

/* False: it never holds, or there are too many. */
static bool demand_condition(struct splitter *s, struct condition asked) {
    const struct ir_value *x = asked.x, *y = asked.y;
    if (asked.op == OP_LT ? x->high < y->low : x->high <= y->low)
        return true;
    for (size_t i = 0; i < s->conditions.count; i++)
        if (implies(&s->conditions.at[i], &asked))
            return true;
    if ((asked.op == OP_LT ? x->low >= y->high : x->low > y->high) || s->conditions.count == CPU_TILE_CONDITIONS)
        return false;
    vec_push(s->arena, &s->conditions, asked);
    return true;
}

/* x - y, times the place; false: of two places, or of more than one. */
static bool subtract_places(const struct bounds *x, const struct bounds *y, struct bounds *difference) {
    difference->times = x->times - y->times;
    difference->place = difference->times ? x->times ? x->place : y->place : NULL;
    return (!x->place || !y->place || x->place == y->place) && difference->times * difference->times <= 1;
}

/* The place with which x < y changes, of which there is one more in x, or in y. */
static struct ir_value *border_between(struct splitter *s, const struct bounds *x, const struct bounds *y,
                                       bool is_in_x) {
    return is_in_x ? ir_binary(s->b, OP_SUB, y->low, x->high) : ir_binary(s->b, OP_SUB, x->high, y->low);
}

/* x < y, or x <= y, wherever control comes to them in the loop; or where the place is as it has to be for that. */
static bool demand(struct splitter *s, enum ir_op op, const struct bounds *x, const struct bounds *y) {
    struct bounds difference;
    if (!subtract_places(x, y, &difference))
        return false;
    if (difference.times) {
        bool is_last = difference.times > 0;
        struct ir_value *at = border_between(s, x, y, is_last);
        at = ir_binary(s->b, OP_ADD, at, number(s, (op == OP_LE) == is_last));
        return demand_condition(s, is_last ? (struct condition){OP_LT, difference.place, at}
                                           : (struct condition){OP_LE, at, difference.place});
    }
    size_t count = s->conditions.count;
    return demand_condition(s, (struct condition){op, x->high, y->low}) && (s->is_tile || s->conditions.count == count);
}

static bool is_small(const struct ir_value *value) {
    return value->low >= -((int64_t)1 << 60) && value->high <= (int64_t)1 << 60;
}

static bool demand_fits(struct splitter *s, enum base base, const struct bounds *bounds) {
    if (base == BASE_I64)
        return is_small(bounds->low) && is_small(bounds->high);
    struct ir_value *low = number(s, (int64_t)base_low(base)), *high = number(s, (int64_t)base_high(base));
    return demand(s, OP_LE, bounds, &(struct bounds){.low = high, .high = high}) &&
           demand(s, OP_LE, &(struct bounds){.low = low, .high = low}, bounds);
}

struct mark {
    size_t conditions, fitting;
};
static struct mark mark(const struct splitter *s) { return (struct mark){s->conditions.count, s->fitting.count}; }
static void forget(struct splitter *s, struct mark since) {
    s->conditions.count = since.conditions;
    s->fitting.count = since.fitting;
}

/* ---- bounds ---- */

static bool bounds_of(struct splitter *s, struct ir_value *value, int depth, struct bounds *bounds);

static bool bounds_of_product(struct splitter *s, const struct bounds *x, struct ir_value *factor,
                              struct bounds *bounds) {
    struct ir_value *a = ir_binary(s->b, OP_MUL, x->low, factor), *b = ir_binary(s->b, OP_MUL, x->high, factor);
    *bounds = factor->low >= 0
                  ? (struct bounds){.low = a, .high = b}
                  : (struct bounds){.low = ir_binary(s->b, OP_MIN, a, b), .high = ir_binary(s->b, OP_MAX, a, b)};
    return !x->place;
}

static bool bounds_of_operation(struct splitter *s, const struct ir_instruction *operation, int depth,
                                struct bounds *bounds) {
    struct bounds x, y = {0};
    if (!bounds_of(s, operation->operands[0], depth - 1, &x) ||
        (operation->operand_count > 1 && !bounds_of(s, operation->operands[1], depth - 1, &y)))
        return false;
    switch (operation->op) {
    case OP_ADD:
    case OP_SUB: {
        const struct bounds minus = {.place = y.place, .times = operation->op == OP_ADD ? -y.times : y.times};
        struct ir_value *low = operation->op == OP_ADD ? y.low : y.high,
                        *high = operation->op == OP_ADD ? y.high : y.low;
        if (!subtract_places(&x, &minus, bounds))
            return false;
        bounds->low = ir_binary(s->b, operation->op, x.low, low);
        bounds->high = ir_binary(s->b, operation->op, x.high, high);
        break;
    }
    case OP_MUL:
        if (x.low != x.high && y.low != y.high)
            return false;
        if (y.place || !bounds_of_product(s, y.low == y.high ? &x : &y, y.low == y.high ? y.low : x.low, bounds))
            return false;
        break;
    case OP_SHL:
        if (!operation->operands[1]->is_constant || operation->operands[1]->constant.natural > 30 ||
            !bounds_of_product(s, &x, number(s, (int64_t)1 << operation->operands[1]->constant.natural), bounds))
            return false;
        break;
    case OP_MIN:
    case OP_MAX:
        *bounds = (struct bounds){.low = ir_binary(s->b, operation->op, x.low, y.low),
                                  .high = ir_binary(s->b, operation->op, x.high, y.high)};
        return !x.place && !y.place;
    case OP_CONVERT: *bounds = x; return demand_fits(s, operation->results[0]->base, bounds);
    default: return false;
    }
    /* A product must fit for what follows to fit 64 bits, whoever knows that it does where it is computed. */
    enum base base = operation->results[0]->base;
    if ((!operation->no_wrap || operation->op == OP_MUL || base == BASE_I64) && !demand_fits(s, base, bounds))
        return false;
    vec_push(s->arena, &s->fitting, operation);
    return true;
}

static struct ir_value *known_as(const struct splitter *s, const struct ir_value *value) {
    for (size_t i = 0; i < s->known.count; i++)
        if (s->known.at[i].result == value)
            return s->known.at[i].by;
    return NULL;
}

/* Are rows of that length taken for loops (map/rows.c)? */
static bool is_length_of_rows(const struct ir_instruction *rest) {
    int64_t length = rest->operands[1]->constant.integer + (rest->op == OP_AND);
    bool is_power = (length & (length - 1)) == 0;
    return rest->operands[1]->is_constant
               ? length >= (is_power ? CPU_ROWS_WIDTH : CPU_ROWS_DIVIDED) && (rest->op == OP_REM || is_power)
               : rest->op == OP_REM;
}

/* Is it what is left of the index, or of a sum with it, in its row? All iterations divide a natural number by a length
   that is the same for all. */
static bool is_rest(struct splitter *s, struct ir_value *value) {
    const struct ir_instruction *rest = operation_of(value);
    struct linear sum;
    if (s->loop->outer != LEVEL_GRID || !rest || (rest->op != OP_REM && rest->op != OP_AND) ||
        value->base != BASE_I32 || is_varying(s, rest->operands[1]) || !is_length_of_rows(rest) ||
        rest->operands[0]->low < 0 || rest->operands[0]->region != s->loop->regions[0] || ir_has(s->loop, IR_CHECK) ||
        !linear_expand(rest->operands[0], &sum) || linear_take(&sum, s->loop->parameters[0]) != 1)
        return false;
    for (size_t i = 0; i < sum.count; i++)
        if (is_varying(s, sum.term[i].value))
            return false;
    s->rest = s->rest ? s->rest : value;
    return value == s->rest;
}

/* The index of a loop within this one lies below the count of that. */
static bool bounds_of_index(struct splitter *s, const struct ir_value *index, int depth, struct bounds *bounds) {
    const struct ir_instruction *within = index->definition ? NULL : index->region->owner;
    if (!within || within->kind != IR_FOR || index != within->parameters[0] || s->is_tile ||
        !bounds_of(s, within->operands[0], depth - 1, bounds) || bounds->place)
        return false;
    *bounds = (struct bounds){.low = number(s, 0), .high = ir_binary(s->b, OP_SUB, bounds->high, number(s, 1))};
    return true;
}

/* The least and the most that a value can be in the loop, where these fit well into 64 bits; false: it is not known. */
static bool bounds_of(struct splitter *s, struct ir_value *value, int depth, struct bounds *bounds) {
    const struct base_info *base = &base_info[value->base];
    if (!base->is_integer || (base->bits > 32 && (value->base != BASE_I64 || !is_small(value))) || depth == 0)
        return false;
    *bounds = (struct bounds){0};
    if (is_steady(s, value, DEEPEST_SUM)) {
        bounds->low = bounds->high = widen(s, value);
        return true;
    }
    if (!s->is_tile && (value == s->loop->parameters[0] || is_rest(s, value))) {
        *bounds = (struct bounds){number(s, 0), number(s, 0), value, 1};
        return true;
    }
    if (value == s->loop->parameters[0]) {
        bounds->low = number(s, 0);
        bounds->high = ir_binary(s->b, OP_SUB, widen(s, s->loop->operands[0]), number(s, 1));
        return true;
    }
    struct ir_value *by = s->is_tile ? NULL : known_as(s, value);
    if (by)
        return bounds_of(s, by, depth - 1, bounds);
    if (bounds_of_index(s, value, depth, bounds))
        return true;
    struct mark before = mark(s);
    const struct ir_instruction *operation = operation_of(value);
    if (operation && bounds_of_operation(s, operation, depth, bounds))
        return true;
    forget(s, before);
    *bounds = (struct bounds){.low = number(s, value->low), .high = number(s, value->high)};
    return s->is_tile && value->low > (int64_t)base_low(value->base) && value->high < (int64_t)base_high(value->base);
}

/* ---- what holds ---- */

static bool holds(struct splitter *s, struct ir_value *condition, bool truth) {
    const struct ir_instruction *operation = operation_of(condition);
    if (!is_varying(s, condition)) {
        if (!truth || s->conditions.count == CPU_TILE_CONDITIONS)
            return false;
        vec_push(s->arena, &s->conditions, (struct condition){OP_AND, condition, NULL});
        return true;
    }
    if (!operation)
        return false;
    struct bounds x, y;
    switch (operation->op) {
    case OP_AND: return truth && holds(s, operation->operands[0], true) && holds(s, operation->operands[1], true);
    case OP_OR: return !truth && holds(s, operation->operands[0], false) && holds(s, operation->operands[1], false);
    case OP_NOT: return holds(s, operation->operands[0], !truth);
    case OP_LT:
    case OP_LE:
        if (!bounds_of(s, operation->operands[0], DEEPEST, &x) || !bounds_of(s, operation->operands[1], DEEPEST, &y))
            return false;
        return truth ? demand(s, operation->op, &x, &y) : demand(s, operation->op == OP_LT ? OP_LE : OP_LT, &y, &x);
    default: return false;
    }
}

static void know(struct splitter *s, struct ir_value *result, struct ir_value *by) {
    vec_push(s->arena, &s->known, (struct outcome){result, by});
}

static bool try_condition(struct splitter *s, struct ir_value *condition) {
    struct mark before = mark(s);
    if (!is_varying(s, condition) || !holds(s, condition, true)) {
        forget(s, before);
        return false;
    }
    know(s, condition, ir_bool(s->b, true));
    return true;
}

/* Is x to be less than y in the copy without guards? In a tile what varies is not clamped. Else that is so on one side
   of the border between them. False, too: there is none. */
static bool is_wanted_less(struct splitter *s, const struct ir_instruction *operation, const struct bounds *x,
                           const struct bounds *y, bool *is_less) {
    if (s->is_tile) {
        *is_less = is_varying(s, operation->operands[1]) == (operation->op == OP_MAX);
        return is_varying(s, operation->operands[0]) != is_varying(s, operation->operands[1]);
    }
    struct bounds difference;
    if (!subtract_places(x, y, &difference) || !difference.times)
        return false;
    bool is_in_x = difference.times > 0;
    const struct ir_value *at = border_between(s, x, y, is_in_x);
    const struct bounds *of_place = is_in_x ? x : y, *other = is_in_x ? y : x;
    bool is_first =
        at->is_constant ? at->constant.integer <= CPU_BORDER : other->low->is_constant && !of_place->low->is_constant;
    *is_less = is_in_x != is_first;
    return true;
}

/* Are there as many places as the number, or at least one? */
static bool is_count_of(const struct splitter *s, const struct ir_value *place, const struct ir_value *number) {
    const struct ir_instruction *most = operation_of(number);
    const struct ir_value *count = place == s->rest ? place->definition->operands[1] : s->loop->operands[0];
    return ir_is_same(number, count) || (most && most->op == OP_MAX && most->operands[1]->is_constant &&
                                         most->operands[1]->low <= 1 && ir_is_same(most->operands[0], count));
}

/* x % y, which is x or x - y inside; or |x|, which is x. */
static bool try_rest(struct splitter *s, const struct ir_instruction *operation, const struct bounds *x,
                     const struct bounds *y) {
    bool is_rest = operation->op == OP_REM, is_less;
    const struct bounds nothing = {.low = number(s, 0), .high = number(s, 0)};
    if (x->times != 1 || (is_rest && (y->low != y->high || !is_count_of(s, x->place, operation->operands[1]))) ||
        !is_wanted_less(s, operation, x, is_rest ? y : &nothing, &is_less))
        return false;
    if (is_rest && !is_less) {
        struct ir_value *end = ir_binary(s->b, OP_ADD, y->low, y->low);
        if (!demand(s, OP_LE, y, x) || !demand(s, OP_LE, &nothing, y) ||
            !demand(s, OP_LT, x, &(struct bounds){.low = end, .high = end}))
            return false;
        vec_push(s->arena, &s->around, operation);
    } else if (is_rest == is_less && demand(s, OP_LE, &nothing, x) && (!is_rest || demand(s, OP_LT, x, y))) {
        know(s, operation->results[0], operation->operands[0]);
    } else {
        return false;
    }
    s->has_indices = true;
    return true;
}

static bool try_choice(struct splitter *s, const struct ir_instruction *operation, const struct bounds *x,
                       const struct bounds *y) {
    enum ir_op op = operation->op;
    bool is_extreme = op == OP_MIN || op == OP_MAX, is_equality = op == OP_EQ || op == OP_NE, is_less;
    if (!is_wanted_less(s, operation, x, y, &is_less) ||
        !demand(s, is_equality || op == (is_less ? OP_LT : OP_LE) ? OP_LT : OP_LE, is_less ? x : y, is_less ? y : x))
        return false;
    know(s, operation->results[0],
         is_extreme ? operation->operands[is_less == (op == OP_MIN) ? 0 : 1]
                    : ir_bool(s->b, is_equality ? op == OP_NE : is_less));
    s->has_indices |= is_extreme;
    return true;
}

/* A comparison whose outcome is known, or what is always the same operand. */
static void try_operation(struct splitter *s, const struct ir_instruction *operation) {
    enum ir_op op = operation->op;
    bool is_rest = op == OP_REM || op == OP_ABS, is_extreme = op == OP_MIN || op == OP_MAX;
    if (!is_extreme && (s->is_tile || (!is_rest && op != OP_EQ && op != OP_NE && op != OP_LT && op != OP_LE)))
        return;
    struct mark before = mark(s);
    struct bounds x, y = {0};
    if (!bounds_of(s, operation->operands[0], DEEPEST, &x) ||
        (op != OP_ABS && !bounds_of(s, operation->operands[1], DEEPEST, &y)) ||
        !(is_rest ? try_rest : try_choice)(s, operation, &x, &y))
        forget(s, before);
}

static size_t find_guards(struct splitter *s, const struct ir_region *region) {
    size_t size = region->instructions.count;
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        bool is_operation = instruction->kind == IR_OPERATION, is_true = false;
        if (is_operation)
            try_operation(s, instruction);
        if (s->is_tile && (instruction->kind == IR_IF || (is_operation && instruction->op == OP_SELECT)))
            is_true = try_condition(s, instruction->operands[0]);
        for (int r = 0; r < (is_true ? 1 : 2); r++)
            if (instruction->regions[r])
                size += find_guards(s, instruction->regions[r]);
    }
    return size;
}

/* ---- both loops ---- */

static struct ir_value *side(struct splitter *s, struct ir_value *value) {
    if (!is_varying(s, value))
        return value;
    if (value == s->rest) { /* what is divided is a natural number here, too */
        const struct ir_value *divided = value->definition->operands[0];
        ir_bound(rebuild_early(s->r, value->definition->operands[0]), divided->low, divided->high);
    }
    return widen(s, value);
}

static bool is_less(struct splitter *s, struct ir_value *x, struct ir_value *y) {
    return !is_varying(s, x) && !is_varying(s, y) && ir_known(s->b, ir_binary(s->b, OP_LT, x, y)) == IR_TRUE;
}

/* True if the condition holds wherever the other one does, as is known of both sides. */
static bool is_covered(struct splitter *s, const struct condition *condition, const struct condition *other) {
    if (implies(other, condition) || condition->op == OP_AND || other->op == OP_AND)
        return implies(other, condition);
    return (other->x == condition->x && is_less(s, other->y, condition->y)) ||
           (other->y == condition->y && is_less(s, condition->x, other->x));
}

static void drop_covered(struct splitter *s) {
    struct condition *all = s->conditions.at;
    for (size_t i = 0, k = 0; i < s->conditions.count; k = 0) {
        while (k < s->conditions.count && (k == i || !is_covered(s, &all[i], &all[k])))
            k++;
        if (k == s->conditions.count)
            i++;
        else
            memmove(&all[i], &all[i + 1], (--s->conditions.count - i) * sizeof *all);
    }
}

static struct ir_value *all_conditions(void *context) {
    struct splitter *s = context;
    struct ir_value *all = NULL;
    drop_covered(s);
    for (size_t i = 0; i < s->conditions.count; i++) {
        const struct condition *condition = &s->conditions.at[i];
        struct ir_value *one = condition->op == OP_AND
                                   ? condition->x
                                   : ir_binary(s->b, condition->op, side(s, condition->x), side(s, condition->y));
        all = all ? ir_binary(s->b, OP_AND, all, one) : one;
    }
    return all;
}

/* In the next copy guards are what they are where all conditions hold. */
static void say_known(struct splitter *s) {
    for (size_t i = 0; i < s->known.count; i++)
        rebuild_is(s->r, s->known.at[i].result, s->known.at[i].by);
    for (size_t i = 0; i < s->fitting.count; i++)
        rebuild_fits(s->r, s->fitting.at[i]);
    for (size_t i = 0; i < s->around.count; i++)
        rebuild_as(s->r, s->around.at[i], OP_SUB);
}

static size_t look_at(struct splitter *s, struct rebuild *r, const struct ir_instruction *loop, bool is_tile) {
    s->r = r;
    s->b = rebuild_builder(r);
    s->loop = loop;
    s->is_tile = is_tile;
    s->rest = NULL;
    s->has_indices = false;
    s->conditions.count = s->fitting.count = s->known.count = s->around.count = 0;
    return find_guards(s, loop->regions[0]);
}

/* The branch that takes the place of a tile's loop, where there is something to gain. */
static bool split_tile(void *context, struct rebuild *r, struct ir_instruction *loop) {
    struct splitter *s = context;
    bool is_tile = loop->kind == IR_FORALL && loop->inner == LEVEL_THREAD && loop->outer < LEVEL_GRID && !loop->buffer;
    if (!is_tile)
        return false;
    size_t size = look_at(s, r, loop, true);
    if (s->known.count == 0 || s->conditions.count == 0 || size > CPU_TILE_BODY)
        return false;
    struct ir_value *condition = all_conditions(s), *count = rebuilt(r, loop->operands[0]);
    struct ir_value *runs = ir_binary(s->b, OP_LT, ir_constant(s->b, count->base, (union scalar){.integer = 0}), count);
    if (ir_implies(s->b, runs, ir_unary(s->b, OP_NOT, condition)))
        return false;
    s->kernel->changes++;
    say_known(s);
    rebuild_versions(r, loop, condition);
    return true;
}

void pass_whole_tiles(struct arena *arena, struct ir_kernel *kernel) {
    rebuild_kernel(arena, kernel, split_tile, &(struct splitter){.arena = arena, .kernel = kernel});
}

/* A loop over a grid's threads, or over the elements of a block's row. */
static bool is_long(const struct ir_instruction *loop) {
    if (loop->kind != IR_FORALL || loop->inner != LEVEL_THREAD || loop->operands[0]->base != BASE_I32)
        return false;
    int64_t high = loop->operands[0]->high;
    return loop->outer == LEVEL_GRID ? high >= CPU_ROWS_COUNT : loop->outer == LEVEL_BLOCK && high >= CPU_BORDERED_ROW;
}

/* Is it known inside, or of what is? */
static bool is_decided(const struct splitter *s, const struct ir_value *condition, int depth) {
    const struct ir_instruction *made = operation_of(condition);
    bool is_of_others = made && depth && (made->op == OP_AND || made->op == OP_OR || made->op == OP_NOT);
    for (size_t i = 0; is_of_others && i < made->operand_count; i++)
        if (is_decided(s, made->operands[i], depth - 1))
            return true;
    return known_as(s, condition);
}

/* Does what is known choose it, or a part of it? */
static bool is_chosen(const struct splitter *s, const struct ir_value *index, int depth) {
    const struct ir_instruction *made = operation_of(index);
    if (!made || !depth || !is_varying(s, index))
        return false;
    if (made->op == OP_SELECT && is_decided(s, made->operands[0], DEEPEST_SUM))
        return true;
    for (size_t i = 0; i < made->operand_count; i++)
        if (is_chosen(s, made->operands[i], depth - 1))
            return true;
    return false;
}

static bool is_long_loop(const struct ir_instruction *at) { return at->kind == IR_FOR && !IR_PART(at, loop).unroll; }

/* Is it computed again in each turn of a loop within? */
static bool is_repeated(const struct splitter *s, const struct ir_value *result) {
    const struct ir_region *region = result->region;
    while (region != s->loop->regions[0] && !is_long_loop(region->owner))
        region = region->parent;
    return region != s->loop->regions[0];
}

/* Is it worth it? If it decides of loads, or where they are: a clamped index, or a branch; beside a loop of any length
   a comparison is nothing. */
static bool decides(const struct splitter *s) {
    bool has_loops = false, is_any_repeated = false;
    for (struct ir_walk walk = ir_walk(s->loop->regions[0]); walk.at; ir_next(&walk))
        has_loops |= is_long_loop(walk.at);
    for (size_t i = 0; has_loops && i < s->known.count; i++)
        is_any_repeated |= is_repeated(s, s->known.at[i].result);
    for (size_t i = 0; has_loops && i < s->around.count; i++)
        is_any_repeated |= is_repeated(s, s->around.at[i]->results[0]);
    if (has_loops && !is_any_repeated)
        return false;
    for (struct ir_walk walk = ir_walk(s->loop->regions[0]); !s->has_indices && walk.at; ir_next(&walk))
        if ((walk.at->kind == IR_IF && ir_has(walk.at, IR_LOAD)) ||
            (walk.at->kind == IR_LOAD && is_chosen(s, walk.at->operands[0], DEEPEST_SUM)))
            return true;
    return s->has_indices;
}

/* Checks would fail in another order; and beside rounds, or arrays of its own, a comparison is nothing. */
static bool has_much(const struct splitter *s, const struct ir_instruction *loop) {
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk))
        if (ir_may_end(s->kernel, walk.at) || walk.at->kind == IR_ALLOCATE || walk.at->kind == IR_WHILE)
            return true;
    return false;
}

/* Is it computed of the number of a row, or of a row of rows, and of nothing else that varies? And is it the same on
   all sides of the borders? */
static bool is_of_row(const struct splitter *s, const struct ir_value *value, int depth) {
    const struct ir_instruction *at = value->definition;
    if (!is_varying(s, value))
        return true;
    if (!depth || !at || known_as(s, value) || (at->kind != IR_OPERATION && at->kind != IR_IF) || ir_touches_memory(at))
        return false;
    bool is_quotient = at->kind == IR_OPERATION && (at->op == OP_DIV || at->op == OP_SHR) &&
                       at->operands[0] == s->rest->definition->operands[0] && !is_varying(s, at->operands[1]);
    for (size_t i = 0; !is_quotient && ir_taken(at, i); i++)
        if (!is_of_row(s, *ir_taken(at, i), depth - 1))
            return false;
    return true;
}

static bool is_before(void *context, const struct ir_instruction *instruction) {
    const struct splitter *s = context;
    return s->rest && instruction->result_count && is_of_row(s, instruction->results[0], DEEPEST_OF_ROW);
}

static bool split_at_borders(void *context, struct rebuild *r, struct ir_instruction *loop) {
    struct splitter *s = context;
    if (!is_long(loop) || has_much(s, loop))
        return false;
    size_t size = look_at(s, r, loop, false);
    if (s->known.count + s->around.count == 0 || s->conditions.count == 0 || size > CPU_BORDERED || !decides(s))
        return false;
    s->kernel->changes++;
    say_known(s);
    rebuild_branched(r, loop, all_conditions, is_before, s);
    return true;
}

void pass_borders(struct arena *arena, struct ir_kernel *kernel) {
    rebuild_kernel(arena, kernel, split_at_borders, &(struct splitter){.arena = arena, .kernel = kernel});
}
