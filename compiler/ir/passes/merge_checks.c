/* Makes the checks of neighbouring elements one check.

   note [neighbouring checks]
   An unrolled loop asks for elements next to each other, and checks each index. Where a place in the program asks for
   the elements from `first` to `last` of an array in one region, each of them, they are all there if these two are, and
   `first + n` does not wrap, which `first <= last` says. The check is where the last of them was; it names the first of
   the elements that is outside. No loop is between: it may be one that does not end where an index is wrong, as loops
   stop when a check has failed. The host's checks stay: it stops at the first that fails. */
#include "ir/passes/pass_list.h"

#include "ir/build/linear.h"
#include "ir/passes/rewrite.h"
#include "ir/walk.h"
#include "support/map.h"

enum { MOST_GROUPS = 16, MOST_MEMBERS = 64 };

struct group {
    struct ir_instruction *last; /* in the text */
    struct ir_value *indices[MOST_MEMBERS];
    int64_t distances[MOST_MEMBERS]; /* from the first */
    size_t count;
    bool asks_below, asks_above;
    struct ir_value *first_index, *last_index; /* once it is complete */
};

struct merging {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct map *groups; /* of checks */
};

/* Finds what the condition demands of the index: *above, that it is below the limit; *below, that it is not negative.
   False: the condition demands something else. */
static bool take_condition(const struct ir_value *condition, const struct ir_instruction *check, bool *below,
                           bool *above) {
    const struct ir_instruction *made = condition->definition;
    const struct ir_value *index = check->operands[1], *limit = check->operands[2];
    if (!made || made->kind != IR_OPERATION || made->operand_count != 2)
        return false;
    const struct ir_value *x = made->operands[0], *y = made->operands[1];
    if (made->op == OP_AND)
        return take_condition(x, check, below, above) && take_condition(y, check, below, above);
    bool asks_below = made->op == OP_LE && x->is_constant && x->constant.integer == 0 && ir_is_same(y, index);
    bool asks_above = made->op == OP_LT && ir_is_same(x, index) && ir_is_same(y, limit);
    *below |= asks_below;
    *above |= asks_above;
    return asks_below || asks_above;
}

static bool joins(struct merging *m, struct group *group, struct ir_instruction *check, bool below, bool above) {
    int64_t distance = 0;
    struct ir_value *index = check->operands[1];
    bool fits = group->count == 0 ||
                (group->count < MOST_MEMBERS && group->last->site == check->site &&
                 ir_is_same(group->last->operands[2], check->operands[2]) && group->indices[0]->base == index->base &&
                 linear_distance(group->indices[0], index, &distance) && distance > -INT16_MAX && distance < INT16_MAX);
    if (!fits)
        return false;
    group->last = check;
    group->indices[group->count] = index;
    group->distances[group->count++] = distance;
    group->asks_below |= below;
    group->asks_above |= above;
    map_set(m->groups, check, group);
    return true;
}

/* True if the group checks every index between its least and its greatest. */
static bool complete(struct group *group) {
    size_t first = 0, last = 0;
    bool found = true;
    for (size_t i = 1; i < group->count; i++) {
        first = group->distances[i] < group->distances[first] ? i : first;
        last = group->distances[i] > group->distances[last] ? i : last;
    }
    for (int64_t at = group->distances[first]; found && at < group->distances[last]; at++) {
        found = false;
        for (size_t i = 0; i < group->count && !found; i++)
            found = group->distances[i] == at;
    }
    group->first_index = group->indices[first];
    group->last_index = group->indices[last];
    return found && group->count > 1 && first != last;
}

static void find_groups(struct merging *m, const struct ir_region *region) {
    struct group *open[MOST_GROUPS];
    size_t count = 0;
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *at = region->instructions.at[i];
        for (int r = 0; r < 2 && at->regions[r]; r++)
            find_groups(m, at->regions[r]);
        bool below = false, above = false, is_joined = false;
        if (at->regions[0])
            count = 0; /* a loop, or a branch with one in it */
        if (at->kind != IR_CHECK || region->ambient == LEVEL_GRID ||
            m->kernel->checks.at[at->site].check != CHECK_INDEX || !take_condition(at->operands[0], at, &below, &above))
            continue;
        for (size_t g = 0; g < count && !is_joined; g++)
            is_joined = joins(m, open[g], at, below, above);
        if (!is_joined && count < MOST_GROUPS) {
            open[count] = ARENA_NEW(m->arena, struct group);
            joins(m, open[count++], at, below, above);
        }
    }
}

static struct ir_value * and (const struct rewriter *rewriter, struct ir_value *x, struct ir_value *y) {
    return x ? rewrite_operation(rewriter, OP_AND, x, y) : y;
}

/* The check of all. */
static void ask(const struct rewriter *rewriter, const struct group *group, struct ir_instruction *check) {
    struct ir_value *first = group->first_index, *last = group->last_index, *limit = check->operands[2],
                    *is_right = NULL;
    struct ir_value *outside = rewrite_operation(rewriter, OP_MAX, first, limit);
    if (group->asks_below) {
        struct ir_value *zero = rewrite_constant(rewriter, first->base, 0);
        struct ir_value *begins = rewrite_operation(rewriter, OP_LE, zero, first);
        is_right = and(rewriter, begins, rewrite_operation(rewriter, OP_LE, first, last));
        struct ir_value *which = rewrite_value(rewriter, first->base, rewriter->region, INT32_MIN, INT32_MAX);
        rewrite_select(rewriter, which, begins, outside, first);
        outside = which;
    }
    if (group->asks_above)
        is_right = and(rewriter, is_right, rewrite_operation(rewriter, OP_LT, last, limit));
    check->operands[0] = is_right;
    check->operands[1] = outside;
    vec_push(rewriter->arena, &rewriter->region->instructions, check);
}

static void put(void *context, struct ir_region *to, struct ir_instruction *at) {
    struct merging *m = context;
    struct group *group = at->kind == IR_CHECK ? map_get(m->groups, at) : NULL;
    if (!group || !complete(group))
        vec_push(m->arena, &to->instructions, at);
    else if (group->last == at) {
        m->kernel->changes++;
        ask(&(struct rewriter){m->arena, m->kernel, to, at}, group, at);
    }
}

void pass_merge_checks(struct arena *arena, struct ir_kernel *kernel) {
    struct merging m = {arena, kernel, map_new(arena)};
    if (!ir_uses(kernel, IR_CHECK))
        return;
    find_groups(&m, kernel->body);
    rewrite_each(kernel->body, put, &m);
}
