/* Counterexamples: each iteration is computed. */
#include "ir/build/conflict.h"

#include "ir/build/linear.h"

enum { MOST_LOOPS = 4, MOST_ITERATIONS = 4096, MOST_PLACES = 65536, DEEPEST = 24, MOST_STEPS = 200000 };

struct trying {
    const struct ir_instruction *loops[MOST_LOOPS]; /* from the innermost on */
    int64_t at[MOST_LOOPS];
    size_t count;
    int steps; /* left */
};

static bool compute(struct trying *t, const struct ir_value *value, int depth, union scalar *result) {
    const struct ir_instruction *made = value->definition;
    *result = value->constant;
    if (value->is_constant)
        return true;
    for (size_t i = 0; i < t->count; i++)
        if (t->loops[i]->parameters[0] == value) {
            *result = (union scalar){.integer = t->at[i]};
            return true;
        }
    if (!made || made->kind != IR_OPERATION || depth == 0 || t->steps-- <= 0)
        return false;
    union scalar x[3];
    for (size_t i = 0; i < made->operand_count; i++)
        if (!compute(t, made->operands[i], depth - 1, &x[i]))
            return false;
    *result = fold_operation(made->op, value->base, made->operands[made->operand_count - 1]->base, x);
    return true;
}

/* The loops around it, all of constant counts; false: others, or branches that ask for more than a place inside. */
static bool begin(struct trying *t, const struct ir_region *around, const struct ir_write *write,
                  const struct ir_value *length, int64_t *iterations) {
    *iterations = 1;
    t->count = 0;
    for (const struct ir_region *region = write->region; region != around; region = region->parent) {
        const struct ir_instruction *owner = region->owner;
        if (owner->kind == IR_IF && region == owner->regions[0] &&
            ir_asks_for_inside(owner->operands[0], write->place, length))
            continue;
        if ((owner->kind != IR_FORALL && owner->kind != IR_FOR) || t->count == MOST_LOOPS ||
            !owner->operands[0]->is_constant || owner->operands[0]->constant.integer > MOST_ITERATIONS)
            return false;
        t->loops[t->count] = owner;
        t->at[t->count++] = 0;
        *iterations *= owner->operands[0]->constant.integer > 0 ? owner->operands[0]->constant.integer : 0;
        if (*iterations > MOST_ITERATIONS)
            return false;
    }
    return true;
}

static void go_on(struct trying *t) {
    for (size_t i = 0; i < t->count; i++) {
        if (++t->at[i] < t->loops[i]->operands[0]->constant.integer)
            return;
        t->at[i] = 0;
    }
}

/* Writes in the same iteration, which follow each other in the list. */
static size_t beside(const struct ir_write *writes, size_t count, size_t first) {
    size_t same = 1;
    while (first + same < count && writes[first + same].region == writes[first].region)
        same++;
    return same;
}

struct ir_conflict ir_find_conflict(struct arena *scratch, const struct ir_region *around,
                                    const struct ir_write *writes, size_t count, const struct ir_value *all, bool drops,
                                    bool is_over) {
    const struct ir_conflict none = {CONFLICT_NONE, 0, 0, 0};
    struct trying t = {.steps = MOST_STEPS};
    int64_t length = all->constant.integer;
    if (!all->is_constant || length < 0 || length > MOST_PLACES)
        return none;
    int64_t *written = ARENA_ARRAY(scratch, int64_t, length + 1), number = 0, iterations;
    struct ir_conflict found = none;
    for (size_t i = 0, same; i < count; i += same) {
        same = beside(writes, count, i);
        if (!begin(&t, around, &writes[i], all, &iterations))
            return none;
        for (int64_t n = 0; n < iterations; n++, go_on(&t))
            for (size_t k = i; k < i + same; k++) {
                union scalar place;
                if (!compute(&t, writes[k].place, DEEPEST, &place))
                    return none;
                number++;
                bool is_outside = place.integer < 0 || place.integer >= length;
                if (found.kind || (is_outside && drops))
                    continue;
                if (is_outside)
                    found = (struct ir_conflict){CONFLICT_OUTSIDE, place.integer, number - 1, 0};
                else if (written[place.integer] && !is_over)
                    found = (struct ir_conflict){CONFLICT_TWICE, place.integer, written[place.integer] - 1, number - 1};
                else
                    written[place.integer] = number;
            }
    }
    for (int64_t place = 0; place < length && !found.kind; place++)
        if (!written[place])
            found = (struct ir_conflict){CONFLICT_MISSING, place, 0, 0};
    return found;
}

bool ir_find_outside(struct ir_builder *b, struct ir_value *index, int64_t length, struct ir_outside *found) {
    struct linear sum;
    linear_exact(b, index, &sum);
    int64_t low = sum.constant, high = sum.constant;
    for (size_t i = 0; i < sum.count; i++) {
        const struct ir_value *value = sum.term[i].value;
        const struct ir_instruction *loop = value->region ? value->region->owner : NULL;
        bool is_index = !value->definition && loop && (loop->kind == IR_FORALL || loop->kind == IR_FOR) &&
                        loop->parameters[0] == value && loop->operands[0]->is_constant;
        if (!is_index)
            return false;
        int64_t most = sum.term[i].coefficient * (loop->operands[0]->constant.integer - 1);
        *(most > 0 ? &high : &low) += most;
    }
    if (sum.count == 0 || (high < length && low >= 0))
        return false;
    bool is_above = high >= length;
    const struct ir_value *of = sum.count == 1 ? sum.term[0].value : NULL;
    bool is_last = of && (sum.term[0].coefficient > 0) == is_above;
    *found = (struct ir_outside){is_above ? high : low, of,
                                 is_last ? of->region->owner->operands[0]->constant.integer - 1 : 0};
    return true;
}
