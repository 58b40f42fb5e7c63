/* ask-before: what all checks of a loop ask is asked once, before the loop, and the loop without checks does the work.

   note [asked before]
   The checks of a loop hold if they hold for the least and the most that each index can be: of the loops within, of
   what is computed of their indices, and of what branches around a check say. These bounds are numbers where the loop
   begins, in 64 bits, so one condition of them is asked there. Where it holds, a copy of the loop runs that has no
   check, and no choice of another index. Else the loop runs as it was, and tells what it told before: so the condition
   only has to be enough. It is asked where it costs least. That is on the host, before a launch, where the bounds are
   made of lengths and numbers that it has. The checks that are left of a launch are asked before counted loops of its
   threads, as where a row of a sparse matrix lies.

   A sum is the sum of its terms' bounds. It is computed modulo 2^32 in the loop, and as an integer here: where the
   integer is an index of an array, both are the same. A number that is divided, compared or chosen must fit its type
   instead, which is asked, too. Only checks of accesses are taken out, as there is one for each element. */
#include "ir/passes/pass_list.h"

#include "ir/build/linear.h"
#include "ir/build/rebuild.h"
#include "ir/machine.h"
#include "ir/walk.h"
#include "support/map.h"

enum { DEEPEST_INTERVAL = 24, DEEPEST_STEADY = 8, SMALL_FACTOR = 1 << 20, MOST_FACTS = 16 };

/* The least and the most that a value is, i64, known where the loop begins; if `needs` holds, which NULL always does.
   An end that nothing is known of is that of the value's type. */
struct interval {
    struct ir_value *low, *high, *needs;
    bool no_low, no_high;
};

/* A sum that is not negative in the region; x and y are what was compared. */
struct fact {
    struct linear sum;
    struct ir_value *x, *y;
    const struct ir_region *region;
    bool is_apart; /* in place of that: y is not the constant x */
};

struct asker {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct rebuild *r;
    struct ir_builder *b;
    const struct ir_instruction *loop; /* before which is asked */
    struct map *intervals, *narrowed;  /* by value: without the facts, and with them */
    VEC(struct fact) facts;
    bool uses_fact;                 /* which it does for one value at a time */
    VEC(struct ir_value *) asked;   /* conditions that are to hold */
    VEC(struct ir_value *) holding; /* conditions of checks, which then hold */
    bool may_end;                   /* a check in the loop leaves loops before arrays are stored */
    bool within;                    /* loops within launches are looked at; else launches */
    struct map *kept;               /* launches as they were, in which nothing is asked again */
    bool is_kept;                   /* it is in one of these, or in a loop as it was */
};

static struct interval interval_of(struct asker *k, struct ir_value *value, int depth);

/* An integer of which 64 bits hold sums and products. */
static bool is_counted(const struct ir_value *value) {
    return base_info[value->base].is_integer && base_info[value->base].bits <= 32;
}

static const struct ir_instruction *operation_of(const struct ir_value *value) {
    return value->definition && value->definition->kind == IR_OPERATION ? value->definition : NULL;
}

static bool is_varying(const struct asker *k, const struct ir_value *value) {
    return value->region && ir_region_inside(value->region, k->loop->regions[0]);
}

/* Can it be computed before the loop? */
static bool is_steady(const struct asker *k, const struct ir_value *value, int depth) {
    const struct ir_instruction *made = operation_of(value);
    if (!is_varying(k, value))
        return true;
    for (size_t i = 0; made && i < made->operand_count; i++)
        if (depth == 0 || !is_steady(k, made->operands[i], depth - 1))
            return false;
    return made != NULL;
}

/* ---- numbers before the loop ---- */

static struct ir_value *number(struct asker *k, int64_t integer) {
    return ir_constant(k->b, BASE_I64, (union scalar){.integer = integer});
}

static struct ir_value *times(struct asker *k, struct ir_value *x, int64_t factor) {
    return factor == 1 ? x : ir_binary(k->b, OP_MUL, x, number(k, factor));
}

static struct ir_value *both(struct asker *k, struct ir_value *x, struct ir_value *y) {
    return !x ? y : !y || x == y ? x : ir_binary(k->b, OP_AND, x, y);
}

static struct ir_value *at_most(struct asker *k, struct ir_value *x, struct ir_value *y) {
    return ir_binary(k->b, OP_LE, x, y);
}

static bool is_false(const struct ir_value *condition) {
    return condition->is_constant && !condition->constant.integer;
}

static struct ir_value *natural(struct asker *k, struct ir_value *x) { return at_most(k, number(k, 0), x); }

static struct interval fitting(struct asker *k, struct interval of, enum base base) {
    of.needs = both(k, of.needs, at_most(k, number(k, (int64_t)base_low(base)), of.low));
    of.needs = both(k, of.needs, at_most(k, of.high, number(k, (int64_t)base_high(base))));
    return of;
}

/* The integer that the value itself is. */
static struct interval exact(struct asker *k, struct ir_value *value, int depth) {
    return fitting(k, interval_of(k, value, depth), value->base);
}

/* ---- intervals ---- */

static struct interval anything(struct asker *k, const struct ir_value *value) {
    return (struct interval){.low = number(k, value->low),
                             .high = number(k, value->high),
                             .no_low = value->low == (int64_t)base_low(value->base),
                             .no_high = value->high == (int64_t)base_high(value->base)};
}

static struct interval sum_of(struct asker *k, const struct linear *sum, int depth) {
    struct interval total = {.low = number(k, sum->constant), .high = number(k, sum->constant)};
    for (size_t i = 0; i < sum->count; i++) {
        int64_t factor = sum->term[i].coefficient;
        struct interval term = exact(k, sum->term[i].value, depth - 1);
        struct ir_value *x = times(k, term.low, factor), *y = times(k, term.high, factor);
        term.low = factor < 0 ? y : x;
        term.high = factor < 0 ? x : y;
        if (factor > SMALL_FACTOR || factor < -SMALL_FACTOR)
            term = fitting(k, term, BASE_I32);
        total.low = ir_binary(k->b, OP_ADD, total.low, term.low);
        total.high = ir_binary(k->b, OP_ADD, total.high, term.high);
        total.needs = both(k, total.needs, term.needs);
        total.no_low |= factor < 0 ? term.no_high : term.no_low;
        total.no_high |= factor < 0 ? term.no_low : term.no_high;
    }
    return total;
}

static struct interval product_of(struct asker *k, struct interval x, struct interval y) {
    struct ir_value *needs = both(k, x.needs, y.needs), *low = NULL, *high = NULL;
    bool is_open = x.no_low || x.no_high || y.no_low || y.no_high;
    if (x.low->low >= 0 && y.low->low >= 0)
        return (struct interval){.low = ir_binary(k->b, OP_MUL, x.low, y.low),
                                 .high = ir_binary(k->b, OP_MUL, x.high, y.high),
                                 .needs = needs,
                                 .no_high = x.no_high || y.no_high};
    for (int corner = 0; corner < 4; corner++) {
        struct ir_value *at = ir_binary(k->b, OP_MUL, corner & 1 ? x.high : x.low, corner & 2 ? y.high : y.low);
        low = low ? ir_binary(k->b, OP_MIN, low, at) : at;
        high = high ? ir_binary(k->b, OP_MAX, high, at) : at;
    }
    return (struct interval){low, high, needs, is_open, is_open};
}

/* Both are natural numbers, and the divisor is not 0. */
static struct interval quotient_of(struct asker *k, enum ir_op op, struct interval x, struct interval y) {
    struct ir_value *needs = both(k, both(k, x.needs, y.needs), natural(k, x.low)), *one = number(k, 1);
    needs = both(k, needs, at_most(k, one, y.low));
    struct ir_value *least = ir_binary(k->b, OP_MAX, y.low, one);
    if (op == OP_DIV)
        return (struct interval){number(k, 0), ir_binary(k->b, OP_DIV, x.high, least), needs, x.no_low, x.no_high};
    struct ir_value *most = ir_binary(k->b, OP_SUB, y.high, one);
    return (struct interval){number(k, 0), ir_binary(k->b, OP_MIN, x.high, most), needs, x.no_low,
                             x.no_high && y.no_high};
}

static struct interval either(struct asker *k, struct interval x, struct interval y) {
    return (struct interval){ir_binary(k->b, OP_MIN, x.low, y.low), ir_binary(k->b, OP_MAX, x.high, y.high),
                             both(k, x.needs, y.needs), x.no_low || y.no_low, x.no_high || y.no_high};
}

static struct interval lesser_or_greater(struct asker *k, enum ir_op op, struct interval x, struct interval y) {
    bool is_least = op == OP_MIN;
    return (struct interval){ir_binary(k->b, op, x.low, y.low), ir_binary(k->b, op, x.high, y.high),
                             both(k, x.needs, y.needs), is_least ? x.no_low || y.no_low : x.no_low && y.no_low,
                             is_least ? x.no_high && y.no_high : x.no_high || y.no_high};
}

/* All turns shift by the same count. */
static struct interval shifted(struct asker *k, enum ir_op op, struct interval x, struct interval count) {
    struct ir_value *by = ir_binary(k->b, OP_MIN, ir_binary(k->b, OP_MAX, count.low, number(k, 0)), number(k, 30));
    struct ir_value *needs = both(k, x.needs, ir_binary(k->b, OP_EQ, by, count.low));
    if (op == OP_SHL) {
        struct ir_value *factor = ir_binary(k->b, OP_SHL, number(k, 1), by);
        x.needs = needs;
        return product_of(k, x, (struct interval){.low = factor, .high = factor});
    }
    return (struct interval){ir_binary(k->b, OP_SHR, x.low, by), ir_binary(k->b, OP_SHR, x.high, by), needs, x.no_low,
                             x.no_high};
}

/* The bits of one natural number and of another one, or of two. */
static struct interval bits_of(struct asker *k, enum ir_op op, struct interval x, struct interval y) {
    if (op == OP_AND) {
        struct interval *least = y.low->low >= 0 || x.no_high ? &y : &x;
        return (struct interval){.low = number(k, 0),
                                 .high = least->high,
                                 .needs = both(k, least->needs, natural(k, least->low)),
                                 .no_low = least->no_low,
                                 .no_high = least->no_high};
    }
    struct ir_value *greatest = ir_binary(k->b, OP_MAX, x.high, y.high), *needs = both(k, x.needs, y.needs);
    struct ir_value *zeros = ir_convert(k->b, ir_unary_to(k->b, OP_CLZ, greatest, BASE_I32), BASE_I64);
    struct ir_value *power = ir_binary(k->b, OP_SHL, number(k, 1), ir_binary(k->b, OP_SUB, number(k, 64), zeros));
    needs = both(k, needs, both(k, natural(k, x.low), natural(k, y.low)));
    return (struct interval){number(k, 0), ir_binary(k->b, OP_SUB, power, number(k, 1)), needs, x.no_low || y.no_low,
                             x.no_high || y.no_high};
}

static bool is_holding(const struct asker *k, const struct ir_value *condition) {
    for (size_t i = 0; i < k->holding.count; i++)
        if (k->holding.at[i] == condition)
            return true;
    return false;
}

static struct interval interval_of_operation(struct asker *k, const struct ir_instruction *at, int depth) {
    struct ir_value *result = at->results[0], **x = at->operands;
    struct linear sum = {.base = result->base};
    bool is_sum = (at->op == OP_ADD || at->op == OP_SUB || at->op == OP_NEG || at->op == OP_SHL || at->op == OP_MUL) &&
                  linear_expand(result, &sum) && (sum.count != 1 || sum.term[0].value != result);
    if (is_sum)
        return sum_of(k, &sum, depth);
    struct interval of[3] = {{0}};
    for (size_t i = at->op == OP_SELECT; i < at->operand_count; i++) {
        if (!is_counted(x[i]))
            return anything(k, result);
        of[i] = exact(k, x[i], depth - 1);
    }
    switch (at->op) {
    case OP_MUL: return product_of(k, of[0], of[1]);
    case OP_DIV:
    case OP_REM: return quotient_of(k, at->op, of[0], of[1]);
    case OP_MIN:
    case OP_MAX: return lesser_or_greater(k, at->op, of[0], of[1]);
    case OP_SHL:
    case OP_SHR: return of[1].low == of[1].high ? shifted(k, at->op, of[0], of[1]) : anything(k, result);
    case OP_AND:
    case OP_OR:
    case OP_XOR: return bits_of(k, at->op, of[0], of[1]);
    case OP_SELECT: return is_holding(k, x[0]) ? of[1] : either(k, of[1], of[2]);
    case OP_CONVERT: return of[0];
    default: return anything(k, result);
    }
}

/* An array of the loop, whose elements are stored once, holds what the loop stores there. */
static struct interval interval_of_load(struct asker *k, const struct ir_instruction *load, int depth) {
    const struct ir_buffer *buffer = load->buffer;
    struct interval all = {0};
    bool is_own = false;
    if (ir_is_constant_memory(buffer) || buffer->memory == MEMORY_OUTPUT || buffer->rewritten || k->may_end)
        return anything(k, load->results[0]);
    for (struct ir_walk walk = ir_walk(k->loop->regions[0]); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_STORE && walk.at->buffer == buffer) {
            struct interval one = exact(k, walk.at->operands[1], depth - 1);
            all = all.low ? either(k, all, one) : one;
        } else {
            is_own |= walk.at->kind == IR_ALLOCATE && walk.at->buffer == buffer;
        }
    return all.low && is_own ? all : anything(k, load->results[0]);
}

/* The count of the loop whose index it is. */
static struct ir_value *count_of(const struct ir_value *value) {
    const struct ir_instruction *loop = value->region && !value->definition ? value->region->owner : NULL;
    bool counts = loop && (loop->kind == IR_FORALL || loop->kind == IR_FOR);
    return counts && loop->parameters[0] == value ? loop->operands[0] : NULL;
}

/* If this holds, a fact's sum is the difference of the integers that were compared. */
static struct ir_value *needs_of(struct asker *k, const struct fact *fact, int depth) {
    return both(k, exact(k, fact->x, depth - 1).needs, exact(k, fact->y, depth - 1).needs);
}

/* The same, as the facts around the check let it be. */
static struct interval narrowed(struct asker *k, struct ir_value *value, struct interval of, int depth) {
    k->uses_fact = true;
    for (size_t i = 0; i < k->facts.count; i++) {
        struct linear rest = k->facts.at[i].sum;
        int64_t factor = linear_take(&rest, value);
        if (k->facts.at[i].is_apart && value == k->facts.at[i].y) {
            struct ir_value *is_same = ir_binary(k->b, OP_EQ, of.low, number(k, k->facts.at[i].x->constant.integer));
            of.low = ir_binary(k->b, OP_ADD, of.low, ir_convert(k->b, is_same, BASE_I64));
        }
        if (factor == 0)
            continue;
        struct interval by = sum_of(k, &rest, depth);
        struct ir_value *needs = both(k, by.needs, needs_of(k, &k->facts.at[i], depth));
        if (by.no_high)
            continue;
        struct ir_value **bound = factor < 0 ? &of.high : &of.low;
        *(factor < 0 ? &of.no_high : &of.no_low) = false;
        struct ir_value *other =
            ir_binary(k->b, OP_DIV, times(k, by.high, factor < 0 ? 1 : -1), number(k, factor < 0 ? -factor : factor));
        struct ir_value *best = ir_binary(k->b, factor < 0 ? OP_MIN : OP_MAX, *bound, other);
        *bound = needs ? ir_ternary(k->b, OP_SELECT, needs, best, *bound) : best;
    }
    k->uses_fact = false;
    return of;
}

static struct interval found_interval(struct asker *k, struct ir_value *value, int depth) {
    const struct ir_instruction *made = value->definition;
    struct ir_value *count = count_of(value);
    if (depth <= 0)
        return anything(k, value);
    if (is_steady(k, value, DEEPEST_STEADY)) {
        struct ir_value *itself = ir_convert(k->b, rebuild_early(k->r, value), BASE_I64);
        return (struct interval){.low = itself, .high = itself};
    }
    if (count) {
        struct interval of = exact(k, count, depth - 1);
        return (struct interval){.low = number(k, 0),
                                 .high = ir_binary(k->b, OP_SUB, of.high, number(k, 1)),
                                 .needs = of.needs,
                                 .no_high = of.no_high};
    }
    if (made && made->kind == IR_OPERATION)
        return interval_of_operation(k, made, depth);
    if (made && made->kind == IR_LOAD && is_counted(value))
        return interval_of_load(k, made, depth);
    for (size_t i = 0; made && made->kind == IR_IF && i < made->result_count; i++)
        if (made->results[i] == value)
            return either(k, exact(k, made->regions[0]->yields.at[i], depth - 1),
                          exact(k, made->regions[1]->yields.at[i], depth - 1));
    return anything(k, value);
}

/* A sum of it is one modulo 2^32; see note [asked before]. */
static struct interval interval_of(struct asker *k, struct ir_value *value, int depth) {
    bool narrows = k->facts.count && !k->uses_fact && !is_steady(k, value, DEEPEST_STEADY);
    struct map *map = narrows ? k->narrowed : k->intervals;
    struct interval *of = map_get(map, value);
    if (!of) {
        of = ARENA_NEW(k->b->scratch, struct interval);
        *of = found_interval(k, value, depth);
        if (narrows)
            *of = narrowed(k, value, *of, depth);
        map_set(map, value, of);
    }
    return *of;
}

/* ---- conditions ---- */

static bool is_compared(const struct ir_value *value) { return is_counted(value) && value->base != BASE_U32; }

/* Sums that far from the ends of 32 bits are the same as integers when they are added up. */
static bool has_small_factors(const struct linear *sum) {
    bool are_small = sum->constant < INT32_MAX / 2 && sum->constant > INT32_MIN / 2;
    for (size_t i = 0; i < sum->count; i++)
        are_small &= sum->term[i].coefficient < SMALL_FACTOR && sum->term[i].coefficient > -SMALL_FACTOR;
    return are_small;
}

/* y - x - strict. */
static bool difference_of(struct ir_value *x, struct ir_value *y, bool strict, struct linear *difference) {
    struct linear part = {.base = x->base};
    *difference = (struct linear){.base = y->base};
    if (!is_compared(x) || !is_compared(y) || !linear_expand(y, difference) || !linear_expand(x, &part) ||
        !has_small_factors(difference) || !has_small_factors(&part) || !linear_add(difference, &part, -1))
        return false;
    difference->constant -= strict;
    return true;
}

/* Is the sum natural? Where a fact says something of one of its terms, also by that. */
static struct ir_value *ask_sum(struct asker *k, const struct linear *sum) {
    struct interval of = sum_of(k, sum, DEEPEST_INTERVAL);
    struct ir_value *asked = of.no_low ? NULL : both(k, of.needs, natural(k, of.low));
    for (size_t i = 0; i < k->facts.count; i++) {
        const struct fact *fact = &k->facts.at[i];
        struct linear rest = *sum;
        bool joins = false;
        for (size_t t = 0; t < fact->sum.count; t++)
            joins |= is_varying(k, fact->sum.term[t].value) &&
                     linear_coefficient(sum, fact->sum.term[t].value) == fact->sum.term[t].coefficient;
        if (!joins || !linear_add(&rest, &fact->sum, -1))
            continue;
        of = sum_of(k, &rest, DEEPEST_INTERVAL);
        if (of.no_low)
            continue;
        struct ir_value *other = both(k, of.needs, natural(k, of.low));
        other = both(k, other, needs_of(k, fact, DEEPEST_INTERVAL));
        asked = asked ? ir_binary(k->b, OP_OR, asked, other) : other;
    }
    return asked;
}

static bool is_comparison(const struct ir_instruction *at) { return at && (at->op == OP_LT || at->op == OP_LE); }

/* 0 <= x and x < y, in either order: then it does not matter whether x wraps. */
static bool is_inside(const struct ir_instruction *both, struct ir_value **x, struct ir_value **y) {
    for (int i = 0; i < 2; i++) {
        const struct ir_instruction *low = operation_of(both->operands[i]), *high = operation_of(both->operands[1 - i]);
        if (is_comparison(low) && low->op == OP_LE && low->operands[0]->is_constant &&
            low->operands[0]->constant.integer == 0 && is_comparison(high) && high->op == OP_LT &&
            high->operands[0] == low->operands[1]) {
            *x = high->operands[0];
            *y = high->operands[1];
            return true;
        }
    }
    return false;
}

/* x < y or x <= y. NULL: nothing is known. */
static struct ir_value *ask_order(struct asker *k, struct ir_value *x, struct ir_value *y, bool strict, bool may_wrap) {
    struct linear difference;
    if (!difference_of(x, y, strict, &difference))
        return NULL;
    struct ir_value *asked = ask_sum(k, &difference);
    struct interval of = interval_of(k, x, DEEPEST_INTERVAL);
    if (!asked || (may_wrap && of.no_low))
        return NULL;
    asked = both(k, asked, exact(k, y, DEEPEST_INTERVAL).needs);
    return both(k, asked, may_wrap ? of.needs : fitting(k, of, x->base).needs);
}

/* If this holds before the loop, the condition holds wherever the loop asks it. NULL: nothing is known. */
static struct ir_value *ask(struct asker *k, struct ir_value *condition) {
    const struct ir_instruction *made = operation_of(condition);
    struct ir_value *x, *y;
    if (is_steady(k, condition, DEEPEST_STEADY))
        return rebuild_early(k->r, condition);
    if (!made)
        return NULL;
    if (made->op == OP_AND && is_inside(made, &x, &y)) {
        struct ir_value *below = ask_order(k, x, y, true, true);
        return below ? both(k, below, natural(k, interval_of(k, x, DEEPEST_INTERVAL).low)) : NULL;
    }
    if (made->op == OP_AND || made->op == OP_OR) {
        struct ir_value *a = ask(k, made->operands[0]), *b = ask(k, made->operands[1]);
        if (made->op == OP_AND)
            return a && b ? both(k, a, b) : NULL;
        return a && b ? ir_binary(k->b, OP_OR, a, b) : a ? a : b;
    }
    return is_comparison(made) ? ask_order(k, made->operands[0], made->operands[1], made->op == OP_LT, false) : NULL;
}

/* ---- the checks of a loop ---- */

static void know(struct asker *k, struct ir_value *x, struct ir_value *y, bool strict) {
    struct fact fact = {.x = x, .y = y};
    bool varies = false;
    if (k->facts.count == MOST_FACTS || !difference_of(x, y, strict, &fact.sum))
        return;
    for (size_t i = 0; i < fact.sum.count; i++)
        varies |= !is_steady(k, fact.sum.term[i].value, DEEPEST_STEADY);
    if (varies)
        vec_push(k->arena, &k->facts, fact);
}

static void know_apart(struct asker *k, struct ir_value *x, struct ir_value *y) {
    for (int i = 0; i < 2; i++) {
        struct fact fact = {.sum = {.base = x->base}, .x = i ? y : x, .y = i ? x : y, .is_apart = true};
        if (fact.x->is_constant && is_counted(fact.y) && k->facts.count < MOST_FACTS)
            vec_push(k->arena, &k->facts, fact);
    }
}

static void know_condition(struct asker *k, const struct ir_value *condition, bool truth) {
    const struct ir_instruction *made = operation_of(condition);
    if (!made)
        return;
    if (made->op == OP_NOT || made->op == (truth ? OP_AND : OP_OR)) {
        for (size_t i = 0; i < made->operand_count; i++)
            know_condition(k, made->operands[i], truth == (made->op != OP_NOT));
        return;
    }
    if ((made->op == OP_EQ && !truth) || (made->op == OP_NE && truth))
        know_apart(k, made->operands[0], made->operands[1]);
    bool strict = (made->op == OP_LT) == truth;
    if (is_comparison(made))
        know(k, made->operands[truth ? 0 : 1], made->operands[truth ? 1 : 0], strict);
}

/* So many facts hold wherever the value is known. */
static size_t facts_around(const struct asker *k, const struct ir_value *value) {
    size_t count = k->facts.count;
    while (count > 0 && !ir_region_inside(value->region, k->facts.at[count - 1].region))
        count--;
    return count;
}

/* Those of which it consists, where it was asked by what holds of these. */
static void hold(struct asker *k, struct ir_value *condition) {
    const struct ir_instruction *made = operation_of(condition);
    if (condition->is_constant || facts_around(k, condition) < k->facts.count)
        return;
    for (size_t i = 0; made && made->op == OP_AND && i < 2; i++)
        hold(k, made->operands[i]);
    vec_push(k->arena, &k->holding, condition);
}

/* Adds what the condition consists of, where that is not asked yet; false: there would be too much. Parts may be
   shared, so that `seen` has those that were added. */
static bool add(struct asker *k, struct ir_value *condition, struct map *seen) {
    const struct ir_instruction *made = operation_of(condition);
    if (map_has(seen, condition))
        return true;
    map_set(seen, condition, condition);
    if (made && made->op == OP_AND)
        return add(k, made->operands[0], seen) && add(k, made->operands[1], seen);
    for (size_t i = 0; i < k->asked.count; i++)
        if (ir_is_same(k->asked.at[i], condition))
            return true;
    if (condition->is_constant)
        return condition->constant.integer != 0;
    vec_push(k->arena, &k->asked, condition);
    return k->asked.count <= (k->within ? ANY_ASKED_WITHIN : ANY_ASKED_BEFORE);
}

/* A condition that holds is true wherever it is known, which may be outside of a branch around the check: no fact of
   that branch counts. */
static void look_at_check(struct asker *k, struct ir_value *condition) {
    size_t count = k->asked.count, facts = k->facts.count;
    struct map *narrowed = k->narrowed;
    if (condition->is_constant || is_holding(k, condition))
        return;
    k->facts.count = facts_around(k, condition);
    if (k->facts.count < facts)
        k->narrowed = map_new(k->b->scratch);
    struct ir_value *asked = ask(k, condition);
    if (asked && !is_false(asked) && add(k, asked, map_new(k->b->scratch)))
        hold(k, condition);
    else
        k->asked.count = count;
    k->facts.count = facts;
    k->narrowed = narrowed;
}

static bool is_of_access(const struct asker *k, const struct ir_instruction *at) {
    return at->kind == IR_CHECK && ir_check_info[k->kernel->checks.at[at->site].check].brief;
}

static bool has_accesses(const struct asker *k, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (is_of_access(k, walk.at))
            return true;
    return false;
}

static void look(struct asker *k, const struct ir_region *region);

static void look_inside(struct asker *k, const struct ir_region *region, const struct ir_value *condition, bool truth) {
    size_t count = k->facts.count;
    if (!has_accesses(k, region))
        return;
    if (condition)
        know_condition(k, condition, truth);
    else if (region->owner != k->loop && region->owner->kind != IR_WHILE &&
             !is_steady(k, region->owner->operands[0], DEEPEST_STEADY))
        know(k, region->owner->parameters[0], region->owner->operands[0], true);
    for (size_t i = count; i < k->facts.count; i++)
        k->facts.at[i].region = region;
    if (k->facts.count > count)
        k->narrowed = map_new(k->b->scratch);
    look(k, region);
    if (k->facts.count > count)
        k->narrowed = map_new(k->b->scratch);
    k->facts.count = count;
}

static void look(struct asker *k, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        switch (at->kind) {
        case IR_CHECK:
            if (is_of_access(k, at))
                look_at_check(k, at->operands[0]);
            break;
        case IR_IF:
            look_inside(k, at->regions[0], at->operands[0], true);
            look_inside(k, at->regions[1], at->operands[0], false);
            break;
        case IR_WHILE:
            look_inside(k, at->regions[0], NULL, true);
            look_inside(k, at->regions[1], at->regions[0]->yields.at[0], true);
            break;
        case IR_FOR:
        case IR_FORALL: look_inside(k, at->regions[0], NULL, true); break;
        default: break;
        }
    }
}

/* ---- both loops ---- */

/* One comparison stands for another that it says more than: of the same number, or with the same. */
static bool is_covered(struct asker *k, const struct ir_value *condition, const struct ir_value *by) {
    const struct ir_instruction *asked = operation_of(condition), *told = operation_of(by);
    if (!asked || !told || asked->op != told->op || !is_comparison(asked))
        return false;
    struct ir_value **x = asked->operands, **y = told->operands;
    if (ir_is_same(x[0], y[0]))
        return x[1]->base == y[1]->base && facts_less(k->b, y[1], x[1], false);
    return ir_is_same(x[1], y[1]) && x[0]->base == y[0]->base && facts_less(k->b, x[0], y[0], false);
}

static struct ir_value *all_asked(struct asker *k) {
    struct ir_value *all = NULL;
    for (size_t i = 0; i < k->asked.count; i++) {
        bool is_needed = true;
        for (size_t other = 0; is_needed && other < k->asked.count; other++)
            is_needed = other == i || !k->asked.at[other] || !is_covered(k, k->asked.at[i], k->asked.at[other]);
        if (!is_needed)
            k->asked.at[i] = NULL;
        else
            all = both(k, all, k->asked.at[i]);
    }
    return all ? all : ir_bool(k->b, true);
}

/* Then what an array holds may never have been stored. */
static bool leaves_loops(const struct asker *k, const struct ir_instruction *loop) {
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_CHECK && !k->kernel->checks.at[walk.at->site].is_contained)
            return true;
    return false;
}

/* Do lanes come together in it? Not all would take the same loop. */
static bool meets(const struct ir_instruction *loop) {
    static const enum ir_kind kinds[] = {IR_SHUFFLE, IR_BALLOT, IR_MATCH, IR_MMA, IR_FENCE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (ir_has(loop, kinds[i]))
            return true;
    return false;
}

static bool is_small(const struct ir_instruction *loop) {
    int count = 0;
    for (struct ir_walk walk = ir_walk_of(loop); walk.at && count <= ANY_COPIED; ir_next(&walk))
        count++;
    return count <= ANY_COPIED;
}

/* Is it worth a copy of the loop? */
static bool is_wanted(const struct asker *k, const struct ir_instruction *at) {
    if (!k->within)
        return at->kind == IR_FORALL && at->outer == LEVEL_GRID && is_small(at);
    return at->kind == IR_FOR && at->region->ambient == LEVEL_THREAD && !meets(at) && is_small(at) &&
           (!at->operands[0]->is_constant || at->operands[0]->constant.integer > ANY_TURNS_CHECKED);
}

static bool version(void *context, struct rebuild *r, struct ir_instruction *at) {
    struct asker *k = context;
    if (k->kept && map_has(k->kept, at)) {
        k->is_kept = true;
        rebuild_keep(r, at);
        k->is_kept = false;
        return true;
    }
    if (k->is_kept || !is_wanted(k, at))
        return false;
    k->r = r;
    k->b = rebuild_builder(r);
    k->loop = at;
    k->intervals = map_new(k->b->scratch);
    k->narrowed = map_new(k->b->scratch);
    k->facts.count = k->asked.count = k->holding.count = 0;
    k->may_end = leaves_loops(k, at);
    look(k, at->regions[0]);
    if (k->holding.count == 0)
        return false;
    struct ir_value *condition = all_asked(k);
    if (ir_known(k->b, condition) == IR_FALSE)
        return false;
    k->kernel->changes++;
    for (size_t i = 0; i < k->holding.count; i++)
        rebuild_is(r, k->holding.at[i], ir_bool(k->b, true));
    if (!k->within)
        map_set(k->kept, at, at);
    k->is_kept = true;
    struct ir_instruction *branch = rebuild_versions(r, at, condition);
    k->is_kept = false;
    if (branch)
        IR_PART(branch, branch).is_asked = true;
    return true;
}

void pass_ask_before(struct arena *arena, struct ir_kernel *kernel) {
    struct asker k = {.arena = arena, .kernel = kernel, .kept = map_new(arena)};
    if (!has_accesses(&k, kernel->body))
        return;
    rebuild_kernel(arena, kernel, version, &k);
    k.within = true;
    rebuild_kernel(arena, kernel, version, &k);
}
