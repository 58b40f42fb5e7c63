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
#include "support/map.h"
#include "ir/passes/pass_list.h"

#include "ir/machine.h"
#include "ir/build/range.h"
#include "ir/passes/rewrite.h"

enum { DEEPEST = 24, MOST_SHARED = 256 };

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
    struct ir_instruction *loop; /* that is looked at */
    struct rewriter rewriter;    /* what is computed before it */
    struct ir_region before;
    VEC(struct condition) conditions;
    VEC(const struct ir_instruction *) fitting; /* arithmetic that does not wrap when these hold */
    VEC(const struct ir_value *) truths;        /* conditions in the loop that then hold */
    struct map *same;                           /* minima and maxima in the loop, and what they then are */
    size_t replaced;
};

static bool is_varying(const struct splitter *s, const struct ir_value *value) {
    return value->region && ir_region_inside(value->region, s->loop->regions[0]);
}

/* ---- arithmetic before the loop ---- */

static bool is_integer(const struct ir_value *value, int64_t wanted) {
    return value->is_constant && value->constant.integer == wanted;
}

static struct ir_value *number(struct splitter *s, int64_t integer) {
    return rewrite_constant(&s->rewriter, BASE_I64, integer);
}

/* What has been computed already is not computed again. */
static struct ir_value *compute(struct splitter *s, enum ir_op op, struct ir_value *x, struct ir_value *y) {
    if ((op == OP_ADD || op == OP_SUB) && is_integer(y, 0))
        return x;
    if (op == OP_ADD && is_integer(x, 0))
        return y;
    if (op == OP_MUL && is_integer(y, 1))
        return x;
    if ((op == OP_MIN || op == OP_MAX) && x == y)
        return x;
    if (x->is_constant && y->is_constant) {
        struct range ranges[2] = {{x->low, x->high}, {y->low, y->high}};
        struct range range = range_operation(op, BASE_I64, BASE_I64, ranges);
        if (range.low == range.high)
            return number(s, range.low);
    }
    for (size_t i = 0; i < s->before.instructions.count && i < MOST_SHARED; i++) {
        const struct ir_instruction *known = s->before.instructions.at[i];
        bool is_same = known->op == op && known->operand_count == 2 && known->operands[0] == x;
        if (is_same &&
            (known->operands[1] == y || (y->is_constant && is_integer(known->operands[1], y->constant.integer))))
            return known->results[0];
    }
    return rewrite_operation(&s->rewriter, op, x, y);
}

static struct ir_value *widen(struct splitter *s, struct ir_value *value) {
    if (value->is_constant)
        return number(s, value->constant.integer);
    for (size_t i = 0; i < s->before.instructions.count && i < MOST_SHARED; i++) {
        const struct ir_instruction *known = s->before.instructions.at[i];
        if (known->op == OP_CONVERT && known->operands[0] == value)
            return known->results[0];
    }
    return rewrite_convert(&s->rewriter, value, BASE_I64);
}

/* ---- conditions ---- */

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
    struct ir_value *a = compute(s, OP_MUL, x->low, factor), *b = compute(s, OP_MUL, x->high, factor);
    *bounds =
        factor->low >= 0 ? (struct bounds){a, b} : (struct bounds){compute(s, OP_MIN, a, b), compute(s, OP_MAX, a, b)};
    return true;
}

static bool bounds_of_operation(struct splitter *s, const struct ir_instruction *operation, int depth,
                                struct bounds *bounds) {
    struct bounds x, y = {0};
    if (!bounds_of(s, operation->operands[0], depth - 1, &x) ||
        (operation->operand_count > 1 && !bounds_of(s, operation->operands[1], depth - 1, &y)))
        return false;
    switch (operation->op) {
    case OP_ADD: *bounds = (struct bounds){compute(s, OP_ADD, x.low, y.low), compute(s, OP_ADD, x.high, y.high)}; break;
    case OP_SUB: *bounds = (struct bounds){compute(s, OP_SUB, x.low, y.high), compute(s, OP_SUB, x.high, y.low)}; break;
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
        *bounds = (struct bounds){compute(s, operation->op, x.low, y.low), compute(s, operation->op, x.high, y.high)};
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
        *bounds = (struct bounds){number(s, 0), compute(s, OP_SUB, widen(s, s->loop->operands[0]), number(s, 1))};
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
    map_set(s->same, operation->results[0], x);
    s->replaced++;
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

/* ---- the copy of the loop ---- */

struct copier {
    struct splitter *splitter;
    struct map *values; /* what stands for a value of the loop */
    VEC(struct ir_buffer *) from, to;
};

static bool is_true(const struct splitter *s, const struct ir_value *condition) {
    for (size_t i = 0; i < s->truths.count; i++)
        if (s->truths.at[i] == condition)
            return true;
    return false;
}

static struct ir_value *copied(const struct copier *c, struct ir_value *value) {
    struct ir_value *same = map_get(c->splitter->same, value), *copy = map_get(c->values, value);
    if (same)
        return copied(c, same);
    return copy ? copy : value;
}

static struct ir_value *copy_value(struct copier *c, const struct ir_value *value, struct ir_region *region,
                                   struct ir_instruction *definition) {
    struct ir_value *copy = ARENA_NEW(c->splitter->arena, struct ir_value);
    *copy = *value;
    copy->id = c->splitter->kernel->value_count++;
    copy->region = region;
    copy->definition = definition;
    map_set(c->values, value, copy);
    return copy;
}

static struct ir_buffer *copied_buffer(struct copier *c, struct ir_buffer *buffer, bool is_new) {
    for (size_t i = 0; i < c->from.count; i++)
        if (c->from.at[i] == buffer)
            return c->to.at[i];
    if (!is_new)
        return buffer;
    struct ir_buffer *copy = ARENA_NEW(c->splitter->arena, struct ir_buffer);
    *copy = *buffer;
    copy->id = (uint32_t)c->splitter->kernel->buffers.count;
    copy->capacity = copied(c, buffer->capacity);
    vec_push(c->splitter->arena, &c->splitter->kernel->buffers, copy);
    vec_push(c->splitter->arena, &c->from, buffer);
    vec_push(c->splitter->arena, &c->to, copy);
    return copy;
}

static void copy_region(struct copier *c, const struct ir_region *from, struct ir_region *to);

static void copy_instruction(struct copier *c, const struct ir_instruction *from, struct ir_region *to) {
    struct arena *arena = c->splitter->arena;
    struct ir_instruction *copy = ARENA_NEW(arena, struct ir_instruction);
    *copy = *from;
    copy->region = to;
    copy->operands = ARENA_ARRAY(arena, struct ir_value *, from->operand_count + 1);
    copy->results = ARENA_ARRAY(arena, struct ir_value *, from->result_count + 1);
    copy->parameters = ARENA_ARRAY(arena, struct ir_value *, from->parameter_count + 1);
    if (from->buffer)
        copy->buffer = copied_buffer(c, from->buffer, from->kind == IR_ALLOCATE);
    for (size_t i = 0; i < c->splitter->fitting.count && !copy->no_wrap; i++)
        copy->no_wrap = c->splitter->fitting.at[i] == from;
    for (size_t i = 0; i < from->operand_count; i++)
        copy->operands[i] = copied(c, from->operands[i]);
    for (int r = 0; r < 2; r++)
        if (from->regions[r])
            copy->regions[r] = rewrite_region(arena, c->splitter->kernel, from->regions[r]->ambient, copy, to);
    for (size_t i = 0; i < from->parameter_count; i++) {
        const struct ir_region *of = from->parameters[i]->region;
        copy->parameters[i] = copy_value(c, from->parameters[i], copy->regions[of == from->regions[1]], NULL);
    }
    for (int r = 0; r < 2; r++)
        if (from->regions[r])
            copy_region(c, from->regions[r], copy->regions[r]);
    for (size_t i = 0; i < from->result_count; i++)
        copy->results[i] = copy_value(c, from->results[i], to, copy);
    vec_push(arena, &to->instructions, copy);
}

/* Without what its conditions make superfluous. */
static void copy_region(struct copier *c, const struct ir_region *from, struct ir_region *to) {
    for (size_t i = 0; i < from->instructions.count; i++) {
        const struct ir_instruction *instruction = from->instructions.at[i];
        bool is_extreme = instruction->kind == IR_OPERATION && map_has(c->splitter->same, instruction->results[0]);
        bool is_select = instruction->kind == IR_OPERATION && instruction->op == OP_SELECT;
        bool is_decided = (instruction->kind == IR_IF || is_select) && is_true(c->splitter, instruction->operands[0]);
        if (is_decided && is_select) {
            map_set(c->values, instruction->results[0], copied(c, instruction->operands[1]));
        } else if (is_decided) {
            copy_region(c, instruction->regions[0], to);
            for (size_t k = 0; k < instruction->result_count; k++)
                map_set(c->values, instruction->results[k], copied(c, instruction->regions[0]->yields.at[k]));
        } else if (!is_extreme) {
            copy_instruction(c, instruction, to);
        }
    }
    if (from->owner->kind != IR_IF || !is_true(c->splitter, from->owner->operands[0]))
        for (size_t i = 0; i < from->yields.count; i++)
            vec_push(c->splitter->arena, &to->yields, copied(c, from->yields.at[i]));
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
        struct ir_value *one = condition->op == OP_AND
                                   ? condition->x
                                   : rewrite_operation(&s->rewriter, condition->op, condition->x, condition->y);
        all = all ? rewrite_operation(&s->rewriter, OP_AND, all, one) : one;
    }
    return all;
}

/* The branch that takes the place of the loop, or NULL when there is nothing to gain. */
static struct ir_instruction *split(struct splitter *s, struct ir_instruction *loop) {
    s->loop = loop;
    s->before.instructions.count = s->conditions.count = s->fitting.count = s->truths.count = s->replaced = 0;
    s->rewriter = (struct rewriter){s->arena, s->kernel, &s->before, loop};
    s->same = map_new(s->arena);
    size_t size = find_guards(s, loop->regions[0]);
    if (s->truths.count + s->replaced == 0 || s->conditions.count == 0 || size > CPU_TILE_BODY)
        return NULL;
    struct ir_value *condition = all_conditions(s);
    struct ir_instruction *branch = rewrite_branch(&s->rewriter, condition);
    s->kernel->changes++;
    struct copier copier = {.splitter = s, .values = map_new(s->arena)};
    copy_instruction(&copier, loop, branch->regions[0]);
    loop->region = branch->regions[1];
    loop->regions[0]->parent = branch->regions[1];
    vec_push(s->arena, &branch->regions[1]->instructions, loop);
    return branch;
}

static void split_region(struct splitter *s, struct ir_region *region) {
    struct ir_region fresh = {0};
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        bool is_tile = instruction->kind == IR_FORALL && instruction->inner == LEVEL_THREAD &&
                       instruction->outer < LEVEL_GRID && !instruction->buffer;
        struct ir_instruction *branch = is_tile ? split(s, instruction) : NULL;
        for (size_t k = 0; branch && k < s->before.instructions.count; k++)
            vec_push(s->arena, &fresh.instructions, s->before.instructions.at[k]);
        if (!branch)
            vec_push(s->arena, &fresh.instructions, instruction);
        for (int r = 0; r < 2 && !is_tile; r++)
            if (instruction->regions[r])
                split_region(s, instruction->regions[r]);
    }
    region->instructions = fresh.instructions;
}

void pass_whole_tiles(struct arena *arena, struct ir_kernel *kernel) {
    struct splitter s = {.arena = arena, .kernel = kernel};
    split_region(&s, kernel->body);
}
