/* note [steady places]
   In the steps of a loop of copies ahead, places are sums of what the step says and of what is the same in all of
   them: the row and column of a thread's element. The program mixes the two, and multiplies such a
   sum: n * (32 * k + row) + column. The device's compiler computes such a place anew in each step. So what the step
   says is added up apart, once more by itself: n * (32 * k) + (n * row + column), of which the second part is computed
   before the loop. The part that turns of unrolled loops add comes last: an instruction has room for a constant. */
#include "ir/passes/pass_list.h"
#include "ir/places.h"
#include "ir/passes/rewrite.h"
#include "support/map.h"

/* The indices, in the loop, on which a value depends: the step's, a thread's, an unrolled loop's. */
enum { ON_STEP = 1, ON_UNIT = 2, ON_ROUND = 4, DEEPEST = 12 };

struct steady {
    struct arena *arena;
    struct ir_kernel *kernel;
    const struct ir_instruction *loop;
    struct map *known; /* value → what it depends on, plus one */
};

static unsigned depends_on(struct steady *s, const struct ir_value *value);

static unsigned find_dependence(struct steady *s, const struct ir_value *value) {
    const struct ir_instruction *i = value->definition;
    if (value->is_constant || !value->region ||
        !(ir_region_inside(value->region, s->loop->regions[0]) || ir_region_inside(value->region, s->loop->regions[1])))
        return 0;
    if (!i && value->region->owner && value->region->owner != s->loop && value->region->owner->parameters &&
        value == value->region->owner->parameters[0]) {
        if (value->region->owner->kind == IR_FORALL)
            return ON_UNIT;
        if (value->region->owner->kind == IR_FOR)
            return ON_ROUND;
    }
    if (!i || i->kind != IR_OPERATION)
        return ON_STEP | ON_UNIT | ON_ROUND;
    unsigned on = 0;
    for (size_t k = 0; k < i->operand_count; k++)
        on |= depends_on(s, i->operands[k]);
    return on;
}

static unsigned depends_on(struct steady *s, const struct ir_value *value) {
    if (!map_has(s->known, value))
        map_set(s->known, value, (void *)(uintptr_t)find_dependence(s, value));
    return (unsigned)(uintptr_t)map_get(s->known, value);
}

/* A sum in parts: of those that the step says, of those that are each unit's, of the others. NULL: none. */
enum { PART_STEP, PART_UNIT, PART_ROUND, PARTS };
struct place_parts {
    struct ir_value *of[PARTS];
};

static struct place_parts whole(struct steady *s, struct ir_value *value) {
    unsigned on = depends_on(s, value);
    struct place_parts parts = {0};
    parts.of[on & ON_STEP ? PART_STEP : on & ON_UNIT ? PART_UNIT : PART_ROUND] = value;
    return parts;
}

static struct ir_value *combine(const struct rewriter *r, enum ir_op op, struct ir_value *x, struct ir_value *y) {
    if (!x || !y)
        return x ? x : y;
    int64_t a = x->constant.integer, b = y->constant.integer;
    int64_t got = op == OP_ADD ? a + b : op == OP_SUB ? a - b : op == OP_MUL ? a * b : INT64_MAX;
    bool is_known = x->is_constant && y->is_constant && got >= INT32_MIN && got <= INT32_MAX;
    return is_known ? rewrite_constant(r, x->base, got) : rewrite_operation(r, op, x, y);
}

static struct place_parts take_apart(struct steady *s, const struct rewriter *r, struct ir_value *value, int depth) {
    const struct ir_instruction *i = value->definition;
    if (!i || i->kind != IR_OPERATION || depth == 0 || !depends_on(s, value) ||
        (i->op != OP_ADD && i->op != OP_SUB && i->op != OP_MUL && i->op != OP_SHL))
        return whole(s, value);
    struct place_parts x = take_apart(s, r, i->operands[0], depth - 1);
    if (i->op == OP_ADD || i->op == OP_SUB) {
        struct place_parts y = take_apart(s, r, i->operands[1], depth - 1);
        for (int k = 0; k < PARTS; k++)
            if (i->op == OP_SUB && y.of[k] && !x.of[k])
                return whole(s, value);
        for (int k = 0; k < PARTS; k++)
            x.of[k] = combine(r, i->op, x.of[k], y.of[k]);
        return x;
    }
    struct ir_value *factor = i->operands[1];
    if (i->op == OP_MUL && depends_on(s, factor)) {
        factor = i->operands[0];
        x = take_apart(s, r, i->operands[1], depth - 1);
    }
    if (depends_on(s, factor))
        return whole(s, value);
    for (int k = 0; k < PARTS; k++)
        x.of[k] = x.of[k] ? combine(r, i->op, x.of[k], factor) : NULL;
    return x;
}

static void settle(struct steady *s, const struct rewriter *r, struct ir_value **place) {
    if (!(depends_on(s, *place) & ON_STEP) || (*place)->base != BASE_I32)
        return;
    struct place_parts parts = take_apart(s, r, *place, DEEPEST);
    if (!parts.of[PART_STEP] || (!parts.of[PART_UNIT] && !parts.of[PART_ROUND]))
        return;
    struct linear sum; /* so that places that lie a constant apart are the same sum */
    if (parts.of[PART_UNIT] && linear_expand(parts.of[PART_UNIT], &sum)) {
        if (sum.constant)
            parts.of[PART_ROUND] =
                combine(r, OP_ADD, parts.of[PART_ROUND], rewrite_constant(r, BASE_I32, sum.constant));
        sum.constant = 0;
        parts.of[PART_UNIT] = rewrite_sum(r, &sum);
    }
    struct ir_value *steady = combine(r, OP_ADD, parts.of[PART_UNIT], parts.of[PART_ROUND]);
    *place = rewrite_operation(r, OP_ADD, parts.of[PART_STEP], steady);
    s->kernel->changes++;
}

static bool is_copied_ahead(const struct ir_instruction *load) {
    for (size_t k = 0; load->kind == IR_LOAD && k < load->region->instructions.count; k++) {
        const struct ir_instruction *store = load->region->instructions.at[k];
        if (store->kind == IR_STORE && store->buffer->stages && ir_copied(store) == load)
            return true;
    }
    return false;
}

static void put(void *context, struct ir_region *to, struct ir_instruction *i) {
    struct steady *s = context;
    const struct rewriter r = {s->arena, s->kernel, to, i};
    if (i->kind == IR_MMA)
        for (size_t k = mma_form(i->operands[0]->base).operands; k < i->operand_count; k++)
            settle(s, &r, &i->operands[k]);
    else if ((i->kind == IR_STORE && i->buffer->stages) || i->marked)
        settle(s, &r, &i->operands[0]);
    vec_push(s->arena, &to->instructions, i);
}

void pass_steady(struct arena *arena, struct ir_kernel *kernel) {
    VEC(struct ir_instruction *) loops = {0};
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk)) {
        bool is_ahead = walk.at->kind == IR_STORE && walk.at->buffer->stages;
        struct ir_region *region = is_ahead ? walk.at->region : NULL;
        while (region && !(region->owner && region->owner->kind == IR_WHILE))
            region = region->owner ? region->owner->region : NULL;
        bool is_known = !region;
        for (size_t k = 0; !is_known && k < loops.count; k++)
            is_known |= loops.at[k] == region->owner;
        if (!is_known)
            vec_push(arena, &loops, region->owner);
    }
    for (size_t k = 0; k < loops.count; k++) {
        struct steady s = {arena, kernel, loops.at[k], map_new(arena)};
        for (struct ir_walk walk = ir_walk_of(loops.at[k]); walk.at; ir_next(&walk))
            walk.at->marked = is_copied_ahead(walk.at);
        for (int r = 0; r < 2; r++)
            rewrite_each(loops.at[k]->regions[r], put, &s);
    }
}
