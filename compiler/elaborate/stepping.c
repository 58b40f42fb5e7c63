/* Finds from shapes how steps change a state: the number of steps, what each step keeps, how long arrays become. */
#include "elaborate/stepping.h"
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/push.h"
#include "elaborate/state.h"

known_state step_new_known(struct elaborator *e, const struct stepping *s) {
    return ARENA_ARRAY(e->arena, struct ir_value *, s->part_count + 1);
}

struct ir_value *step_goes_on(struct elaborator *e, const struct stepping *s, struct elab_value **state,
                              struct ir_value *done) {
    if (s->condition)
        return elab_as_scalar(e, elab_apply(e, s->condition, elab_put_together(e, s->type, state)));
    return done && s->count ? ir_binary(e->builder, OP_LT, done, s->count) : NULL;
}

struct elab_value **step_next_parts(struct elaborator *e, const struct stepping *s, struct elab_value **state,
                                    struct ir_value *done) {
    struct elab_value *value = elab_put_together(e, s->type, state), *step = s->step;
    if (!s->condition)
        step = elab_apply(e, step, elab_scalar(e, done));
    if (s->load && s->ring && !e->shape)
        step = elab_apply(e, step, ring_step(e, s, done));
    else if (s->load)
        step = elab_apply(e, step, elab_force_value(e, s->loaded, elab_apply(e, s->load, elab_scalar(e, done))));
    return elab_take_apart(e, s->type, elab_apply(e, step, value));
}

static struct ir_value *known_part(struct elaborator *e, const struct part *part, struct elab_value *value) {
    if (!part->is_array)
        return elab_as_scalar(e, value);
    struct ir_value *length = elab_push_length(e, elab_as_push(e, value));
    return length ? ir_resolve(e->builder, length) : NULL;
}

known_state step_known_parts(struct elaborator *e, const struct stepping *s, struct elab_value **values) {
    known_state known = step_new_known(e, s);
    for (size_t k = 0; k < s->part_count; k++)
        known[k] = known_part(e, &s->parts[k], values[k]);
    return known;
}

struct elab_value **step_state_of(struct elaborator *e, const struct stepping *s, struct ir_value *const *known) {
    for (size_t k = 0; k <= s->part_count; k++)
        elab_count_step(e, s->span);
    struct elab_value **state = ARENA_ARRAY(e->arena, struct elab_value *, s->part_count + 1);
    for (size_t k = 0; k < s->part_count; k++)
        state[k] = s->parts[k].is_array ? elab_of_pull(e, elab_unknown_array(e, s->parts[k].type, known[k]))
                                        : elab_scalar(e, known[k]);
    return state;
}

/* ---- how many steps ---- */

static bool has_memory_of_its_own(const struct stepping *s, const struct ir_value *length) {
    return s->level == LEVEL_GRID || length->high <= ANY_SMALL;
}

static bool is_same(struct elaborator *e, struct ir_value *x, struct ir_value *y) {
    struct ir_builder *b = e->builder;
    if (!x || !y)
        return false;
    x = ir_resolve(b, x), y = ir_resolve(b, y);
    return x == y || (x->base == BASE_I32 && y->base == BASE_I32 && ir_prove(b, ir_binary(b, OP_EQ, x, y)));
}

/* Are so many steps, of which some were evaluated since then, too much to unroll? Each is code of its own, and is
   evaluated anew for each loop around it. Arrays that keep their lengths need no unrolling. */
static bool is_too_much(struct elaborator *e, const struct stepping *s, known_state initial, known_state known,
                        uint64_t begun, int evaluated, int steps) {
    if (steps < 2 || (e->steps - begun) / (uint64_t)evaluated * (uint64_t)steps <= ANY_UNROLLED_EVALUATION)
        return false;
    for (size_t k = 0; k < s->part_count; k++)
        if (s->parts[k].is_array && !is_same(e, initial[k], known[k]))
            return false;
    return true;
}

int step_counted(struct elaborator *e, const struct stepping *s, known_state initial, int limit) {
    struct ir_builder *b = e->builder;
    struct ir_value *count = s->condition || !s->count ? NULL : ir_resolve(b, s->count);
    if (!count || !count->is_constant || count->constant.integer > limit)
        return -1;
    for (size_t k = 0; k < s->part_count; k++)
        if (s->parts[k].is_array && (!initial[k] || !has_memory_of_its_own(s, initial[k])))
            return -1;
    int steps = count->constant.integer < 0 ? 0 : (int)count->constant.integer;
    e->shape++;
    known_state known = initial;
    uint64_t begun = e->steps;
    for (int i = 0; i < steps && steps >= 0; i++) {
        known_state next = step_known_parts(e, s, step_next_parts(e, s, step_state_of(e, s, known), ir_int(b, i)));
        for (size_t k = 0; k < s->part_count; k++)
            if (s->parts[k].is_array && (!next[k] || (s->level != LEVEL_GRID && next[k] != known[k])))
                steps = -1;
        known = next;
        if (is_too_much(e, s, initial, known, begun, i + 1, steps))
            steps = -1;
    }
    e->shape--;
    return steps;
}

int step_static(struct elaborator *e, const struct stepping *s, known_state initial, int limit) {
    struct ir_builder *b = e->builder;
    e->shape++;
    int steps = -1;
    known_state known = initial;
    uint64_t begun = e->steps;
    for (int i = 0; i <= limit; i++) {
        bool is_static = true;
        for (size_t k = 0; k < s->part_count; k++)
            is_static = is_static && (!s->parts[k].is_array || (known[k] && known[k]->is_constant));
        if (!is_static)
            break;
        struct elab_value **state = step_state_of(e, s, known);
        struct ir_value *done = ir_int(b, i), *more = step_goes_on(e, s, state, done);
        enum ir_truth truth = more ? ir_known(b, more) : IR_UNKNOWN;
        if (truth == IR_FALSE)
            steps = i;
        if (truth != IR_TRUE)
            break;
        known = step_known_parts(e, s, step_next_parts(e, s, state, done));
        struct ir_value *count = s->condition ? NULL : ir_resolve(b, s->count);
        bool is_counted = count && count->is_constant;
        if (is_too_much(e, s, initial, known, begun, i + 1, is_counted ? (int)count->constant.integer : i + 1))
            break;
    }
    e->shape--;
    return steps;
}

/* ---- what steps do to the state ---- */

enum { FROM_NOWHERE = -1 };

static struct origin origin_of(struct elaborator *e, const struct stepping *s, struct elab_value *const *state,
                               const struct push *push) {
    struct origin origin = {FROM_NOWHERE, FROM_NOWHERE, order_of_push(push), false};
    bool is_update = elab_is_update(push);
    if ((push->kind != PUSH_PULL && !is_update) || push->level != s->level)
        return origin;
    for (size_t j = 0; j < s->part_count; j++)
        if (s->parts[j].is_array && push->array == state[j]->pull)
            *(is_update ? &origin.updated : &origin.from) = (int)j;
    origin.may_hold = is_update && elab_may_hold_pairs(e, push);
    return origin;
}

void step_find_kept(struct elaborator *e, const struct stepping *s, known_state kept, struct origin *origins) {
    e->shape++;
    for (bool is_new = true; is_new;) {
        is_new = false;
        struct elab_value **state = step_state_of(e, s, kept), **next = step_next_parts(e, s, state, NULL);
        for (size_t k = 0; k < s->part_count; k++) {
            if (s->parts[k].is_array)
                origins[k] = origin_of(e, s, state, next[k]->push);
            else
                origins[k] = (struct origin){FROM_NOWHERE, FROM_NOWHERE, NULL, false};
            if (!kept[k] || is_same(e, kept[k], known_part(e, &s->parts[k], next[k])))
                continue;
            kept[k] = NULL;
            is_new = true;
        }
    }
    e->shape--;
}

/* A value that the host knows and that the length does not exceed while this condition holds; NULL: none is found. */
static struct ir_value *limit_of(struct elaborator *e, const struct ir_value *condition,
                                 const struct ir_value *length) {
    const struct ir_instruction *i = condition->definition;
    if (i && i->kind == IR_IF && i->result_count == 1) { /* as `&&` is where nothing is optimised */
        const struct ir_value *otherwise = i->regions[1]->yields.at[0];
        if (!otherwise->is_constant || otherwise->constant.integer)
            return NULL;
        struct ir_value *limit = limit_of(e, i->operands[0], length);
        return limit ? limit : limit_of(e, i->regions[0]->yields.at[0], length);
    }
    if (!i || i->kind != IR_OPERATION)
        return NULL;
    if (i->op == OP_AND) {
        struct ir_value *limit = limit_of(e, i->operands[0], length);
        return limit ? limit : limit_of(e, i->operands[1], length);
    }
    bool is_below = (i->op == OP_LT || i->op == OP_LE) && i->operands[0] == length;
    return is_below ? elab_upper_bound(e, i->operands[1]) : NULL;
}

/* Is x one of those of which `most` is the greatest, or less? Unoptimised code proves nothing. */
static bool is_within(const struct ir_value *x, const struct ir_value *most) {
    const struct ir_instruction *i = x->definition, *m = most->definition;
    if (x == most || (most->is_constant && x->high <= most->constant.integer))
        return true;
    if (i && i->kind == IR_OPERATION && i->op == OP_MAX)
        return is_within(i->operands[0], most) && is_within(i->operands[1], most);
    if (i && i->kind == IR_OPERATION && i->op == OP_MIN &&
        (is_within(i->operands[0], most) || is_within(i->operands[1], most)))
        return true;
    return m && m->kind == IR_OPERATION && m->op == OP_MAX &&
           (is_within(x, m->operands[0]) || is_within(x, m->operands[1]));
}

enum { MOST_ROUNDS = 8 };

/* Bounds of lengths that a loop carries are found by trying: if `most` bounds them, is what a step
   makes within that, too? Where it is not, the bound becomes the larger one, and in the last round
   none. Says whether all hold. */
static bool bounds_hold(struct elaborator *e, const struct stepping *s, known_state now, known_state next,
                        const bool *is_asked, known_state most, bool is_last) {
    struct ir_builder *b = e->builder;
    bool hold = true;
    for (size_t k = 0; k < s->part_count; k++) {
        bool shrinks = next[k] && now[k] && ir_prove(b, ir_binary(b, OP_LE, next[k], now[k]));
        if (!is_asked[k] || !most[k] || shrinks)
            continue;
        struct ir_value *bound = next[k] ? elab_upper_bound(e, next[k]) : NULL;
        struct ir_region *here = elab_enter_host(e);
        bool holds = bound && (is_within(bound, most[k]) || ir_prove(b, ir_binary(b, OP_LE, bound, most[k])));
        struct ir_value *larger = bound && !holds && !is_last ? ir_binary(b, OP_MAX, bound, most[k]) : NULL;
        ir_leave(b, here);
        if (holds)
            continue;
        most[k] = larger;
        hold = false;
    }
    return hold;
}

known_state step_known(struct elaborator *e, const struct stepping *s, known_state initial, known_state kept,
                       known_state most) {
    struct ir_builder *b = e->builder;
    bool *is_carried = ARENA_ARRAY(e->arena, bool, s->part_count + 1);
    known_state result = step_new_known(e, s), asked = step_new_known(e, s);
    bool *is_asked = ARENA_ARRAY(e->arena, bool, s->part_count + 1);
    for (size_t k = 0; k < s->part_count; k++) {
        result[k] = most[k] = kept[k];
        is_carried[k] = !kept[k] && initial[k];
        if (is_carried[k] && s->parts[k].is_array && s->level != LEVEL_GRID)
            asked[k] = initial[k]->high <= ANY_SMALL ? ir_int(b, initial[k]->high) : elab_upper_bound(e, initial[k]);
    }
    e->shape++;
    const struct ir_region *host = e->host;
    if (!host && s->level != LEVEL_GRID) /* the loop below is the host's where it asks for a result's length */
        e->host = ir_current(b);
    size_t rounds = 0;
    for (bool is_done = false; !is_done; rounds++) {
        is_done = true;
        ir_values carried = {0};
        vec_push(e->arena, &carried, ir_int(b, 0));
        for (size_t k = 0; k < s->part_count; k++)
            if (is_carried[k])
                vec_push(e->arena, &carried, initial[k]);
        size_t count = carried.count;
        if (count == 1) /* no shape changes: such a loop would ask for nothing, and might not end */
            break;
        int64_t *lows = ARENA_ARRAY(e->arena, int64_t, count), *highs = ARENA_ARRAY(e->arena, int64_t, count);
        highs[0] = INT32_MAX;
        for (size_t k = 0, i = 1; k < s->part_count; k++)
            if (is_carried[k]) {
                lows[i] = s->parts[k].is_array ? 0 : INT64_MIN;
                highs[i++] = s->parts[k].is_array ? INT32_MAX : INT64_MAX;
            }
        ir_begin_while(b, carried.at, count, lows, highs);
        known_state now = step_new_known(e, s);
        for (size_t k = 0, i = 1; k < s->part_count; k++)
            now[k] = is_carried[k] ? carried.at[i++] : kept[k];
        struct elab_value **state = step_state_of(e, s, now);
        struct ir_value *more = step_goes_on(e, s, state, carried.at[0]);
        ir_while_body(b, more ? more : ir_bool(b, false));
        for (size_t k = 0; k < s->part_count; k++) {
            struct ir_value *limit = more && is_carried[k] && s->parts[k].is_array ? limit_of(e, more, now[k]) : NULL;
            is_asked[k] = is_carried[k] && asked[k] && !limit;
            if (limit || is_asked[k])
                map_set(e->bounds, now[k], limit ? limit : asked[k]);
        }
        known_state next = step_known_parts(e, s, step_next_parts(e, s, state, carried.at[0]));
        ir_values after = {0};
        vec_push(e->arena, &after, ir_binary(b, OP_ADD, carried.at[0], ir_int(b, 1)));
        for (size_t k = 0, i = 1; k < s->part_count; k++)
            if (is_carried[k]) {
                is_done = is_done && next[k];
                is_carried[k] = next[k] != NULL;
                vec_push(e->arena, &after, next[k] ? next[k] : carried.at[i]);
                i++;
            }
        is_done = bounds_hold(e, s, now, next, is_asked, asked, rounds >= MOST_ROUNDS) && is_done;
        struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, count);
        ir_end_while(b, after.at, results);
        if (!is_done)
            continue;
        for (size_t k = 0, i = 1; k < s->part_count; k++) {
            if (!is_carried[k])
                continue;
            result[k] = more ? results[i] : NULL;
            i++;
            if (!s->parts[k].is_array || s->level == LEVEL_GRID)
                continue;
            struct ir_value *bound = is_asked[k] ? asked[k] : elab_upper_bound(e, next[k]);
            most[k] = bound ? ir_binary(b, OP_MAX, initial[k], bound) : NULL;
            if (results[i - 1] != initial[k]) /* as it is where the loop does not run */
                map_set(e->bounds, results[i - 1], bound ? most[k] : initial[k]);
        }
    }
    e->shape--;
    e->host = host;
    return result;
}

struct elab_value *step_shape(struct elaborator *e, const struct stepping *s, known_state initial) {
    known_state kept = step_new_known(e, s);
    for (size_t k = 0; k < s->part_count; k++)
        kept[k] = initial[k];
    struct origin *origins = ARENA_ARRAY(e->arena, struct origin, s->part_count + 1);
    step_find_kept(e, s, kept, origins);
    struct elab_value **state = step_state_of(e, s, step_known(e, s, initial, kept, step_new_known(e, s)));
    for (size_t k = 0; k < s->part_count; k++)
        if (s->parts[k].is_array)
            state[k]->pull->order = origins[k].order;
    return elab_put_together(e, s->type, state);
}
