/* note [counted places]
   A thread that goes through an array by steps of 8 or 32 elements has places i * 32 + first in a
   loop over i. NVIDIA's compiler seldom sees that such a place only grows: it computes each anew,
   in 64 bits, and where it counts another number than the loop's it unrolls less, so that less is
   on its way (`rowTotals_3` had 4 instructions an element, four loads at a time, and has 2 and 16:
   benchmarks/sass.py). So the place is counted in a number of its own, in 64 bits, in which it does
   not wrap after the last turn either:

       for (i…) { … matrix[row + (long long)(i * 32 + lane)] … }
       long long at = row + (long long)lane;   for (i…) { … matrix[at] …   at = at + 32; }

   Places that differ by a constant share a number. The compiler sees it for steps of one element;
   and in a loop with atomics nothing goes ahead of these, so that the number would only take
   registers (`bucketSums_5`, sm_90: 48 in place of 40). */
#include "map/lower.h"

enum { MOST_PARTS = 32, MOST_TERMS = 8 };

/* A place as `step` times the loop's index, and what is the same in all of its turns. */
struct sum {
    const struct ir_instruction *loop;
    int64_t step, constant;
    struct {
        const struct ir_value *value;
        int64_t factor;
    } term[MOST_TERMS];
    size_t count;
    int left; /* so many parts may be looked at */
};

static bool add_term(struct sum *sum, const struct ir_value *value, int64_t factor) {
    for (size_t i = 0; i < sum->count; i++)
        if (sum->term[i].value == value) {
            sum->term[i].factor += factor;
            return true;
        }
    if (sum->count == MOST_TERMS)
        return false;
    sum->term[sum->count].value = value;
    sum->term[sum->count++].factor = factor;
    return true;
}

static bool is_factor(int64_t x) { return x > INT16_MIN && x < INT16_MAX; }

/* False where it is no such place, or may wrap in fewer than 64 bits. */
static bool add_parts(struct sum *sum, const struct ir_value *value, int64_t factor) {
    if (value->is_constant) {
        sum->constant += factor * value->constant.integer;
        return value->high <= INT32_MAX && value->low >= INT32_MIN;
    }
    if (value == sum->loop->parameters[0]) {
        sum->step += factor;
        return true;
    }
    if (!lower_varies(sum->loop, value))
        return add_term(sum, value, factor);
    const struct ir_instruction *definition = value->definition;
    if (!definition || definition->kind != IR_OPERATION || sum->left-- <= 0)
        return false;
    const struct ir_value *x = definition->operands[0],
                          *y = definition->operand_count > 1 ? definition->operands[1] : NULL;
    bool is_exact = definition->no_wrap || value->base == BASE_I64;
    switch (definition->op) {
    case OP_ADD: return is_exact && add_parts(sum, x, factor) && add_parts(sum, y, factor);
    case OP_SUB: return is_exact && add_parts(sum, x, factor) && add_parts(sum, y, -factor);
    case OP_MUL:
        return is_exact && y->is_constant && is_factor(y->constant.integer) && is_factor(factor) &&
               add_parts(sum, x, factor * y->constant.integer);
    case OP_SHL:
        return is_exact && y->is_constant && y->low >= 0 && y->high < 15 && is_factor(factor) &&
               add_parts(sum, x, factor * (INT64_C(1) << y->constant.integer));
    case OP_CONVERT: return value->base == BASE_I64 && x->base == BASE_I32 && add_parts(sum, x, factor);
    default: return false;
    }
}

static bool is_counted(const struct lowering *l, const struct ir_instruction *loop, const struct ir_instruction *access,
                       struct sum *sum) {
    const struct ir_value *place = ir_is_access(access) ? access->operands[0] : NULL;
    *sum = (struct sum){.loop = loop, .left = MOST_PARTS};
    return place && access->buffer->memory <= MEMORY_OUTPUT && (place->base == BASE_I32 || place->base == BASE_I64) &&
           lower_varies(loop, place) && uses_as_subscript(l->uses, place) && add_parts(sum, place, 1) &&
           (sum->step > 1 || sum->step < -1);
}

static bool is_same(const struct sum *x, const struct sum *y) {
    bool is_same = x->step == y->step && x->count == y->count;
    for (size_t i = 0; is_same && i < x->count; i++) {
        size_t k = 0;
        while (k < y->count && (x->term[i].value != y->term[k].value || x->term[i].factor != y->term[k].factor))
            k++;
        is_same = k < y->count;
    }
    return is_same;
}

/* Which of them it is, but for a constant; `count`: none. */
static size_t find(const struct sum *sums, size_t count, const struct sum *sum) {
    size_t k = 0;
    while (k < count && !is_same(&sums[k], sum))
        k++;
    return k;
}

static struct target_expr *start_of(struct lowering *l, const struct sum *sum) {
    struct target_expr *start = expr_integer(l, BASE_I64, sum->constant);
    for (size_t i = 0; i < sum->count; i++) {
        struct target_expr *term = expr_convert(l, lower_value(l, sum->term[i].value), BASE_I64);
        term = expr_operation(l, OP_MUL, BASE_I64, term, expr_integer(l, BASE_I64, sum->term[i].factor));
        start = expr_operation(l, OP_ADD, BASE_I64, term, start);
    }
    return start;
}

size_t places_begin(struct lowering *l, const struct ir_instruction *loop, struct counted_place *places) {
    struct sum sums[COUNTED_PLACES], sum;
    size_t count = 0;
    if (!pass_wanted(l->options->passes, PASS_PLACES) || loop->region->ambient != LEVEL_THREAD ||
        ir_has(loop, IR_ATOMIC))
        return 0;
    for (struct ir_walk walk = ir_walk(loop->regions[0]); walk.at; ir_next(&walk)) {
        size_t k = is_counted(l, loop, walk.at, &sum) ? find(sums, count, &sum) : COUNTED_PLACES;
        if (k == COUNTED_PLACES)
            continue;
        if (k == count) {
            pass_changed(l->options->passes, PASS_PLACES);
            sums[count++] = sum;
            places[k].step = sum.step;
            places[k].variable = lower_variable(l, BASE_I64, NULL, "at");
            places[k].variable->is_mutable = true;
            struct target_statement *declare = lower_emit(l, TARGET_DECLARE);
            declare->variable = places[k].variable;
            declare->value = start_of(l, &sum);
        }
        struct target_expr *at = expr_variable(l, places[k].variable, INT64_MIN, INT64_MAX);
        struct target_expr *apart = expr_integer(l, BASE_I64, sum.constant - sums[k].constant);
        lower_bind(l, walk.at->operands[0], expr_operation(l, OP_ADD, BASE_I64, at, apart));
    }
    if (count)
        uses_count_unbound(l, loop);
    for (size_t k = 0; k < count; k++) /* what they begin with is used, should the loop be lowered again */
        for (size_t i = 0; i < sums[k].count; i++)
            l->uses[sums[k].term[i].value->id].count++;
    return count;
}

void places_count_up(struct lowering *l, const struct counted_place *places, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct target_expr *at = expr_variable(l, places[i].variable, INT64_MIN, INT64_MAX);
        struct target_statement *assign = lower_emit(l, TARGET_ASSIGN);
        assign->variable = places[i].variable;
        assign->value = expr_operation(l, OP_ADD, BASE_I64, at, expr_integer(l, BASE_I64, places[i].step));
    }
}
