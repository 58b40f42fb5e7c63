/* Most tiles of an array lie wholly inside of it: then all that guards their elements against its
   end is true at once, and a loop without guards can do them, whose loads and stores are of whole
   vectors. Only the tiles at the end take the loop with guards. For CPUs, where a guard keeps
   stores from being vectors; on GPUs it costs next to nothing.

   note [wholly inside]
   In a parallel loop whose iterations are a block's or a warp's, what guards its elements is
   compared for all iterations together: a < b always holds when the most that a can be is less
   than the least that b can be. The bounds are computed before the loop, in 64 bits, where nothing
   of 32 bits overflows; that what wraps in the loop does not do so is among the conditions. A
   minimum of which one side is never larger is that side. */
#include "ir/build/range.h"
#include "ir/build/rebuild.h"
#include "ir/machine.h"
#include "ir/passes/pass_list.h"

enum { DEEPEST = 24 };

struct bounds {
    struct ir_value *low, *high; /* i64 */
};

struct condition {
    enum ir_op op; /* LT, LE; AND: x alone, a bool */
    struct ir_value *x, *y;
};

struct splitter {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_builder *b;
    const struct ir_instruction *loop; /* that is looked at */
    VEC(struct condition) conditions;
    VEC(const struct ir_instruction *) fitting;  /* arithmetic that does not wrap when these hold */
    VEC(struct ir_value *) truths;               /* conditions in the loop that then hold */
    VEC(const struct ir_instruction *) extremes; /* minima and maxima in the loop */
    VEC(struct ir_value *) same;                 /* and what they then are */
};

static bool is_varying(const struct splitter *s, const struct ir_value *value) {
    return value->region && ir_region_inside(value->region, s->loop->regions[0]);
}

/* ---- conditions ---- */

static struct ir_value *number(struct splitter *s, int64_t integer) {
    return ir_constant(s->b, BASE_I64, (union scalar){.integer = integer});
}

static struct ir_value *widen(struct splitter *s, struct ir_value *value) { return ir_convert(s->b, value, BASE_I64); }

/* Does the one hold wherever the other does? By what is known of the sides that they do not share. */
static bool implies(const struct condition *known, const struct condition *asked) {
    if (known->op == OP_AND || asked->op == OP_AND)
        return known->op == asked->op && known->x == asked->x;
    bool is_strict = known->op == OP_LT || asked->op == OP_LE;
    if (known->x == asked->x)
        return known->y == asked->y ? is_strict : known->y->high + !is_strict <= asked->y->low;
    return known->y == asked->y && known->x->low >= asked->x->high + !is_strict;
}

/* False: it never holds, or there are too many. */
static bool demand(struct splitter *s, enum ir_op op, struct ir_value *x, struct ir_value *y) {
    struct condition asked = {op, x, y};
    if (op == OP_LT ? x->high < y->low : x->high <= y->low)
        return true;
    for (size_t i = 0; i < s->conditions.count; i++)
        if (implies(&s->conditions.at[i], &asked))
            return true;
    if ((op == OP_LT ? x->low >= y->high : x->low > y->high) || s->conditions.count == CPU_TILE_CONDITIONS)
        return false;
    vec_push(s->arena, &s->conditions, asked);
    return true;
}

static bool demand_fits(struct splitter *s, enum base base, const struct bounds *bounds) {
    return demand(s, OP_LE, bounds->high, number(s, (int64_t)base_high(base))) &&
           demand(s, OP_LE, number(s, (int64_t)base_low(base)), bounds->low);
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
    *bounds = factor->low >= 0 ? (struct bounds){a, b}
                               : (struct bounds){ir_binary(s->b, OP_MIN, a, b), ir_binary(s->b, OP_MAX, a, b)};
    return true;
}

static bool bounds_of_operation(struct splitter *s, const struct ir_instruction *operation, int depth,
                                struct bounds *bounds) {
    struct bounds x, y = {0};
    if (!bounds_of(s, operation->operands[0], depth - 1, &x) ||
        (operation->operand_count > 1 && !bounds_of(s, operation->operands[1], depth - 1, &y)))
        return false;
    switch (operation->op) {
    case OP_ADD:
        *bounds = (struct bounds){ir_binary(s->b, OP_ADD, x.low, y.low), ir_binary(s->b, OP_ADD, x.high, y.high)};
        break;
    case OP_SUB:
        *bounds = (struct bounds){ir_binary(s->b, OP_SUB, x.low, y.high), ir_binary(s->b, OP_SUB, x.high, y.low)};
        break;
    case OP_MUL:
        if (x.low != x.high && y.low != y.high)
            return false;
        if (!bounds_of_product(s, y.low == y.high ? &x : &y, y.low == y.high ? y.low : x.low, bounds))
            return false;
        break;
    case OP_SHL:
        if (!operation->operands[1]->is_constant || operation->operands[1]->constant.natural > 30 ||
            !bounds_of_product(s, &x, number(s, (int64_t)1 << operation->operands[1]->constant.natural), bounds))
            return false;
        break;
    case OP_MIN:
    case OP_MAX:
        *bounds = (struct bounds){ir_binary(s->b, operation->op, x.low, y.low),
                                  ir_binary(s->b, operation->op, x.high, y.high)};
        return true;
    default: return false;
    }
    /* A product must fit for what follows to fit 64 bits, whoever knows that it does where it is computed. */
    if ((!operation->no_wrap || operation->op == OP_MUL) && !demand_fits(s, operation->results[0]->base, bounds))
        return false;
    vec_push(s->arena, &s->fitting, operation);
    return true;
}

/* The least and the most that a value of at most 32 bits can be in the loop; false: it is not known. */
static bool bounds_of(struct splitter *s, struct ir_value *value, int depth, struct bounds *bounds) {
    const struct base_info *base = &base_info[value->base];
    if (!base->is_integer || base->bits > 32 || depth == 0)
        return false;
    if (!is_varying(s, value)) {
        bounds->low = bounds->high = widen(s, value);
        return true;
    }
    if (value == s->loop->parameters[0]) {
        *bounds = (struct bounds){number(s, 0), ir_binary(s->b, OP_SUB, widen(s, s->loop->operands[0]), number(s, 1))};
        return true;
    }
    struct mark before = mark(s);
    if (value->definition && value->definition->kind == IR_OPERATION &&
        bounds_of_operation(s, value->definition, depth, bounds))
        return true;
    forget(s, before);
    *bounds = (struct bounds){number(s, value->low), number(s, value->high)};
    return value->low > (int64_t)base_low(value->base) && value->high < (int64_t)base_high(value->base);
}

/* ---- what holds in the whole loop ---- */

static bool holds(struct splitter *s, struct ir_value *condition, bool truth) {
    const struct ir_instruction *operation = condition->definition;
    if (!is_varying(s, condition)) {
        if (!truth || s->conditions.count == CPU_TILE_CONDITIONS)
            return false;
        vec_push(s->arena, &s->conditions, (struct condition){OP_AND, condition, NULL});
        return true;
    }
    if (!operation || operation->kind != IR_OPERATION)
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
        if (truth)
            return demand(s, operation->op, x.high, y.low);
        return demand(s, operation->op == OP_LT ? OP_LE : OP_LT, y.high, x.low);
    default: return false;
    }
}

static bool try_condition(struct splitter *s, struct ir_value *condition) {
    struct mark before = mark(s);
    if (!is_varying(s, condition) || !holds(s, condition, true)) {
        forget(s, before);
        return false;
    }
    vec_push(s->arena, &s->truths, condition);
    return true;
}

/* min(x, y) that is always x, as y does not vary. */
static void try_extreme(struct splitter *s, const struct ir_instruction *operation) {
    struct mark before = mark(s);
    int varying = is_varying(s, operation->operands[1]);
    struct ir_value *x = operation->operands[varying], *y = operation->operands[!varying];
    struct bounds bounds, limit;
    if (is_varying(s, y) || !bounds_of(s, x, DEEPEST, &bounds) || !bounds_of(s, y, DEEPEST, &limit) ||
        !(operation->op == OP_MIN ? demand(s, OP_LE, bounds.high, limit.low)
                                  : demand(s, OP_LE, limit.high, bounds.low))) {
        forget(s, before);
        return;
    }
    vec_push(s->arena, &s->extremes, operation);
    vec_push(s->arena, &s->same, x);
}

static size_t find_guards(struct splitter *s, const struct ir_region *region) {
    size_t size = region->instructions.count;
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        bool is_operation = instruction->kind == IR_OPERATION, is_true = false;
        if (is_operation && (instruction->op == OP_MIN || instruction->op == OP_MAX))
            try_extreme(s, instruction);
        else if (instruction->kind == IR_IF || (is_operation && instruction->op == OP_SELECT))
            is_true = try_condition(s, instruction->operands[0]);
        for (int r = 0; r < (is_true ? 1 : 2); r++)
            if (instruction->regions[r])
                size += find_guards(s, instruction->regions[r]);
    }
    return size;
}

/* ---- both loops ---- */

static struct ir_value *all_conditions(struct splitter *s) {
    struct ir_value *all = NULL;
    for (size_t i = 0; i < s->conditions.count; i++) {
        const struct condition *condition = &s->conditions.at[i];
        bool is_implied = false; /* by a later one */
        for (size_t k = i + 1; k < s->conditions.count && !is_implied; k++)
            is_implied = implies(&s->conditions.at[k], condition);
        if (is_implied)
            continue;
        struct ir_value *one =
            condition->op == OP_AND ? condition->x : ir_binary(s->b, condition->op, condition->x, condition->y);
        all = all ? ir_binary(s->b, OP_AND, all, one) : one;
    }
    return all;
}

/* The loop without what its conditions make superfluous. */
static void put_whole(struct splitter *s, struct rebuild *r, const struct ir_instruction *loop) {
    for (size_t i = 0; i < s->truths.count; i++)
        rebuild_is(r, s->truths.at[i], ir_bool(s->b, true));
    for (size_t i = 0; i < s->extremes.count; i++)
        rebuild_is(r, s->extremes.at[i]->results[0], s->same.at[i]);
    for (size_t i = 0; i < s->fitting.count; i++)
        rebuild_fits(r, s->fitting.at[i]);
    rebuild_copy(r, loop);
}

/* The branch that takes the place of a tile's loop, where there is something to gain. */
static bool split(void *context, struct rebuild *r, struct ir_instruction *loop) {
    struct splitter *s = context;
    bool is_tile = loop->kind == IR_FORALL && loop->inner == LEVEL_THREAD && loop->outer < LEVEL_GRID && !loop->buffer;
    if (!is_tile)
        return false;
    s->b = rebuild_builder(r);
    s->loop = loop;
    s->conditions.count = s->fitting.count = s->truths.count = s->extremes.count = s->same.count = 0;
    size_t size = find_guards(s, loop->regions[0]);
    if (s->truths.count + s->extremes.count == 0 || s->conditions.count == 0 || size > CPU_TILE_BODY)
        return false;
    struct ir_value *condition = all_conditions(s);
    enum ir_truth truth = ir_begin_choice(s->b, condition);
    if (truth == IR_FALSE)
        return false;
    s->kernel->changes++;
    put_whole(s, r, loop);
    ir_other_choice(s->b, truth);
    if (truth == IR_UNKNOWN)
        rebuild_keep(r, loop);
    ir_end_choice(s->b, truth);
    return true;
}

void pass_whole_tiles(struct arena *arena, struct ir_kernel *kernel) {
    rebuild_kernel(arena, kernel, split, &(struct splitter){.arena = arena, .kernel = kernel});
}
