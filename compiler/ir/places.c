/* The accesses of buffers, their order and their places: note [who touches what] in places.h. */
#include "ir/places.h"

/* ---- instructions ---- */

bool ir_is_plain(const struct ir_instruction *at) {
    return ir_is_access(at) && !at->is_volatile && !at->again && (at->kind == IR_LOAD || !IR_PART(at, store).may_meet);
}

bool ir_is_multiple(const struct ir_value *value, int64_t size) {
    const struct ir_instruction *i = value->definition;
    if (value->is_constant)
        return value->constant.integer % size == 0;
    if (!i || i->kind != IR_OPERATION)
        return false;
    bool first = i->operand_count && ir_is_multiple(i->operands[0], size);
    if (i->op == OP_MUL)
        return first || ir_is_multiple(i->operands[1], size);
    if (i->op == OP_SHL)
        return i->operands[1]->is_constant && INT64_C(1) << i->operands[1]->constant.integer % 32 >= size;
    return (i->op == OP_ADD || i->op == OP_SUB) && first && ir_is_multiple(i->operands[1], size);
}

struct ir_instruction *ir_copied(const struct ir_instruction *store) {
    struct ir_instruction *load = store->kind == IR_STORE ? store->operands[1]->definition : NULL;
    return load && load->kind == IR_LOAD ? load : NULL;
}

size_t ir_position(const struct ir_region *region, const struct ir_instruction *at) {
    while (at->region != region)
        at = at->region->owner;
    size_t i = 0;
    while (region->instructions.at[i] != at)
        i++;
    return i;
}

/* ---- buffers ---- */

bool ir_touches(const struct ir_instruction *at, const struct ir_buffer *buffer) {
    bool is_other = at->kind == IR_SWAP && IR_PART(at, swap).other == buffer;
    return is_other || (at->kind != IR_ALLOCATE && at->buffer == buffer);
}

const struct ir_instruction *ir_touch_in(const struct ir_instruction *at, const struct ir_buffer *buffer) {
    for (struct ir_walk walk = ir_walk_of(at); walk.at; ir_next(&walk))
        if (ir_touches(walk.at, buffer))
            return walk.at;
    return NULL;
}

const struct ir_instruction *ir_change_in(const struct ir_instruction *at, const struct ir_buffer *buffer) {
    for (struct ir_walk walk = ir_walk_of(at); walk.at; ir_next(&walk))
        if (walk.at->kind != IR_LOAD && ir_touches(walk.at, buffer))
            return walk.at;
    return NULL;
}

const struct ir_instruction *ir_made_in(const struct ir_region *region, const struct ir_buffer *buffer) {
    for (size_t i = 0; i < region->instructions.count; i++)
        if (region->instructions.at[i]->kind == IR_ALLOCATE && region->instructions.at[i]->buffer == buffer)
            return region->instructions.at[i];
    return NULL;
}

struct ir_touched *ir_touched(struct arena *arena, struct ir_places *places, struct ir_buffer *buffer) {
    struct ir_touched *touched = map_get(places->by_buffer, buffer);
    if (!touched) {
        touched = ARENA_NEW(arena, struct ir_touched);
        touched->buffer = buffer;
        map_set(places->by_buffer, buffer, touched);
        vec_push(arena, &places->all, touched);
    }
    return touched;
}

struct ir_places ir_places(struct arena *arena, const struct ir_region *region) {
    struct ir_places places = {.by_buffer = map_new(arena)};
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        if (!walk.at->buffer)
            continue;
        struct ir_touched *touched = ir_touched(arena, &places, walk.at->buffer);
        if (walk.at->kind == IR_ALLOCATE)
            vec_push(arena, &touched->made, walk.at);
        else
            vec_push(arena, &touched->all, walk.at);
        if (walk.at->kind == IR_SWAP)
            vec_push(arena, &ir_touched(arena, &places, IR_PART(walk.at, swap).other)->all, walk.at);
    }
    return places;
}

/* ---- threads ---- */

struct ir_instruction *ir_parallel_loop(const struct ir_region *region) {
    struct ir_instruction *owner = region->owner;
    while (owner && owner->kind != IR_FORALL)
        owner = owner->region->owner;
    return owner;
}

struct ir_instruction *ir_thread_loop(const struct ir_region *region) {
    return region->ambient == LEVEL_THREAD ? ir_parallel_loop(region) : NULL;
}

static bool is_integer(const struct ir_value *value, int64_t wanted) {
    return value->is_constant && value->constant.integer == wanted;
}

bool ir_is_own(const struct ir_instruction *loop, const struct ir_value *place) {
    return place == loop->parameters[0] || (is_integer(loop->operands[0], 1) && is_integer(place, 0));
}

/* ---- which comes first ---- */

/* In one step, and in one round of the loops that both are in: a comes first, or only one of them
   comes at all. */
static bool is_before(const struct ir_instruction *around, const struct ir_instruction *a,
                      const struct ir_instruction *b) {
    const struct ir_region *common = a->region;
    while (!ir_region_inside(b->region, common))
        common = common->parent;
    size_t of_a = ir_position(common, a), of_b = ir_position(common, b);
    const struct ir_instruction *both = common->instructions.at[of_a];
    if (of_a != of_b)
        return of_a < of_b;
    return both->kind == IR_IF ||
           (both == around && ir_region_inside(a->region, both->regions[0])); /* in the condition */
}

/* ---- which elements ---- */

/* note [elements of iterations]
   The elements that two accesses touch are told apart by their places as sums: iteration i, and
   round r of a counted loop within or around, have i a + r b + … with b beyond all that i a can be.
   So have the warps of a block. */

enum { MOST_LOOPS = 6 };

/* The indices that a place depends on, by rising steps: the place moves by `step` in each of `count` iterations. */
struct dimension {
    const struct ir_value *index;
    int64_t step, count;
};
struct dimensions {
    struct dimension at[MOST_LOOPS];
    size_t count;
};

static bool add_dimension(struct dimensions *all, const struct ir_value *index, int64_t step,
                          const struct ir_value *iterations) {
    if (step <= 0 || all->count == MOST_LOOPS)
        return false;
    int64_t count = iterations->is_constant ? iterations->constant.integer : iterations->high;
    size_t at = all->count++;
    for (; at > 0 && all->at[at - 1].step > step; at--)
        all->at[at] = all->at[at - 1];
    all->at[at] = (struct dimension){index, step, count < INT32_MAX ? count : INT32_MAX};
    return true;
}

/* No two iterations have one place. `span` is the largest distance between two. */
static bool are_distinct(const struct dimensions *all, int64_t *span) {
    *span = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->at[i].step <= *span || all->at[i].step > INT32_MAX)
            return false;
        *span += all->at[i].step * (all->at[i].count > 0 ? all->at[i].count - 1 : 0);
        if (*span > INT64_MAX / 4)
            return false;
    }
    return true;
}

/* True if each value that differs between iterations of the loops in `outermost` is one of the
   dimensions, or has no part in the other access's place. */
static bool are_known(const struct dimensions *all, const struct linear *at, const struct linear *other,
                      const struct ir_region *outermost) {
    for (size_t i = 0; i < at->count; i++) {
        const struct ir_value *value = at->term[i].value;
        bool is_known = !ir_region_inside(value->region, outermost) || linear_coefficient(other, value) == 0;
        for (size_t k = 0; k < all->count; k++)
            is_known |= all->at[k].index == value;
        if (!is_known)
            return false;
    }
    return true;
}

/* The loops that both accesses are in are the dimensions of their places; `goes_round`: one of
   them has no part in these. */
static bool find_dimensions(const struct ir_instruction *around, const struct ir_touch *read,
                            const struct ir_touch *write, struct dimensions *all, bool *goes_round) {
    const struct ir_region *outermost = NULL, *region = read->at->region;
    for (; region->owner != around; region = region->parent) {
        const struct ir_instruction *loop = region->owner;
        if (loop->kind == IR_IF || !ir_region_inside(write->at->region, region))
            continue;
        int64_t step = loop->kind == IR_WHILE ? 0 : linear_coefficient(&read->place, loop->parameters[0]);
        if (step ? !add_dimension(all, loop->parameters[0], step, loop->operands[0]) : loop == read->loop)
            return false;
        *goes_round |= step == 0;
        outermost = region;
    }
    return !outermost || (are_known(all, &read->place, &write->place, outermost) &&
                          are_known(all, &write->place, &read->place, outermost));
}

/* True if the sum is at least 0. For a number x that is not negative, c * (x / c) is no more than x. */
static bool is_natural(struct linear sum) {
    for (size_t i = 0; i < sum.count; i++) {
        struct ir_value *quotient = sum.term[i].value;
        int64_t c = linear_divisor(quotient), taken = -sum.term[i].coefficient;
        struct linear whole, part = {.base = sum.base, .count = 1};
        if (!c || quotient->definition->operands[0]->low < 0 || taken <= 0 || taken % c != 0 ||
            !linear_expand(quotient->definition->operands[0], &whole))
            continue;
        part.term[0].value = quotient;
        part.term[0].coefficient = taken;
        return linear_add(&sum, &part, 1) && linear_add(&sum, &whole, -(taken / c)) && is_natural(sum);
    }
    return sum.count == 0 && sum.constant >= 0;
}

/* Is the sum, or its negative, at least as large as `least`? Also where that is a minimum of something smaller. */
static bool is_at_least(const struct linear *sum, struct ir_value *least, int depth) {
    for (int sign = 1; sign >= -1; sign -= 2) {
        struct linear rest = {.base = sum->base}, other;
        if (linear_add(&rest, sum, sign) && linear_expand(least, &other) && linear_add(&rest, &other, -1) &&
            is_natural(rest))
            return true;
    }
    const struct ir_instruction *minimum = least->definition;
    return depth > 0 && minimum && minimum->kind == IR_OPERATION && minimum->op == OP_MIN &&
           (is_at_least(sum, minimum->operands[0], depth - 1) || is_at_least(sum, minimum->operands[1], depth - 1));
}

/* Is that the distance between the places of two iterations? */
static bool is_distance(const struct dimensions *all, size_t count, int64_t distance) {
    if (count == 0)
        return distance == 0;
    const struct dimension *last = &all->at[count - 1];
    /* Rounded down: all others reach less than a step. */
    int64_t down = distance / last->step - (distance % last->step < 0);
    for (int64_t turns = down; turns <= down + 1; turns++)
        if (turns < last->count && -turns < last->count && is_distance(all, count - 1, distance - turns * last->step))
            return true;
    return false;
}

/* Are both in a loop in the loop, or done by several warps? */
static bool are_repeated(const struct ir_instruction *around, const struct ir_touch *a, const struct ir_touch *b) {
    const struct ir_region *region = a->at->region;
    for (; region->owner != around; region = region->parent)
        if (region->owner->kind != IR_IF && ir_region_inside(b->at->region, region))
            return true;
    return false;
}

bool ir_may_follow(const struct ir_instruction *around, const struct ir_touch *write, const struct ir_touch *read) {
    bool is_first = is_before(around, read->at, write->at);
    if (read->loop != write->loop)
        return !is_first || are_repeated(around, read, write);
    struct linear apart = read->place;
    struct dimensions dimensions = {.count = 0};
    bool goes_round = false;
    int64_t span;
    if (!linear_add(&apart, &write->place, -1) || !find_dimensions(around, read, write, &dimensions, &goes_round) ||
        !are_distinct(&dimensions, &span))
        return true;
    if (apart.count > 0 && linear_twos(&apart) > span) /* so only one iteration can have both at one place */
        return goes_round || !is_first;
    if (apart.count > 0)
        return !read->loop || dimensions.count != 1 || dimensions.at[0].step != 1 ||
               !is_at_least(&apart, read->loop->operands[0], 1);
    if (apart.constant == 0)
        return goes_round || !is_first;
    return is_distance(&dimensions, dimensions.count, apart.constant);
}
