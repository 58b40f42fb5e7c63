/* Finds what the operator of reduceByIndex does to an element, and updates a place that other threads
   may update, too.

   note [exclusion]
   The operator and its type decide what an update costs. It is applied once to unknown
   values to see what it does:
   1. A component that becomes `old op x`, where x does not depend on what was there and the
      hardware has `op`, takes one atomic instruction.
   2. A component that depends on no other old component is exchanged by compare-and-swap on its bits.
   3. Components that depend on each other must change together: where they fit into 64 bits, the
      array is kept packed while it is being updated, and 2. applies to the whole.
   Atomics are for words of 32 and 64 bits, so a smaller component is kept in a word while the array
   is being updated; but in the result's own memory, at grid, it is exchanged where it is, by the
   word that it lies in (backend/atomics.c).
   4. Otherwise each place has a lock. It is released inside the branch of the thread that has taken
      it, so that lanes which run in lockstep with that thread do not keep it from getting there. A
      compiler that sees that the branch and the loop's end have one condition may still put the
      branch behind the loop, where lanes wait for each other (QUIRK_VOLATILE_LOCKS of map/quirks):
      in OpenCL that condition is a volatile variable.
   A replacement that changes nothing, as most are of a least or a greatest value, takes no compare-and-swap on
   GPUs. */
#include <string.h>

#include "elaborate/reduce.h"
#include "elaborate/evaluate.h"

/* ---- what the operator does ---- */

/* Does the value depend on one of `on`? The result of a loop counts as one that does, unless it is older
   than all of them. */
static bool depends(struct map *seen, const struct ir_value *value, struct ir_value *const *on, size_t count) {
    bool is_older = true;
    for (size_t i = 0; i < count; i++) {
        if (value == on[i])
            return true;
        is_older &= value->id < on[i]->id;
    }
    const struct ir_instruction *definition = value->definition;
    if (!definition || is_older || map_has(seen, value))
        return false;
    map_set(seen, value, (void *)definition);
    if (definition->kind != IR_OPERATION && definition->kind != IR_LOAD && definition->kind != IR_IF)
        return true;
    for (size_t i = 0; i < definition->operand_count; i++)
        if (depends(seen, definition->operands[i], on, count))
            return true;
    for (size_t r = 0; r < 2 && definition->kind == IR_IF; r++)
        for (size_t i = 0; i < definition->result_count; i++)
            if (definition->results[i] == value && depends(seen, definition->regions[r]->yields.at[i], on, count))
                return true;
    return false;
}

static bool depends_on(struct elaborator *e, const struct ir_value *value, struct ir_value *const *on, size_t count) {
    return depends(map_new(e->arena), value, on, count);
}

/* `old op x` with an op of the hardware: gives x. */
static struct ir_value *other_operand(struct elaborator *e, const struct ir_value *result, struct ir_value *const *old,
                                      size_t count, size_t which, enum ir_atomic *atomic) {
    const struct ir_instruction *definition = result->definition;
    const struct base_info *info = &base_info[result->base];
    if (!definition || definition->kind != IR_OPERATION || definition->operand_count != 2 || info->bits < 32)
        return NULL;
    switch (definition->op) {
    case OP_ADD: *atomic = ATOMIC_ADD; break;
    case OP_MIN: *atomic = ATOMIC_MIN; break;
    case OP_MAX: *atomic = ATOMIC_MAX; break;
    case OP_AND: *atomic = ATOMIC_AND; break;
    case OP_OR: *atomic = ATOMIC_OR; break;
    case OP_XOR: *atomic = ATOMIC_XOR; break;
    default: return NULL; /* no atomic does it */
    }
    if (info->is_floating && *atomic != ATOMIC_ADD)
        return NULL;
    for (size_t i = 0; i < 2; i++)
        if (definition->operands[i] == old[which] && !depends_on(e, definition->operands[!i], old, count))
            return definition->operands[!i];
    return NULL;
}

/* Applies the operator to values of which nothing is known, looks at the result, and drops it. */
void reduce_study(struct elaborator *e, struct reducing *r) {
    struct ir_builder *b = e->builder;
    ir_values leaves = elab_leaves(e, r->neutral);
    size_t n = r->count = leaves.count;
    for (size_t i = 0; i < n; i++)
        vec_push(e->arena, &r->bases, leaves.at[i]->base);
    for (size_t i = 0; i < n; i++)
        r->has_narrow |= elab_leaf_bits(r->bases.at[i]) < 32;
    r->updates = ARENA_ARRAY(e->arena, enum update, n);
    r->atomics = ARENA_ARRAY(e->arena, enum ir_atomic, n);
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, 2 * n);
    memcpy(carried, leaves.at, n * sizeof *carried);
    memcpy(carried + n, leaves.at, n * sizeof *carried);
    struct ir_region *here = ir_current(b);
    ir_begin_for(b, ir_int(b, 2), carried, 2 * n, "unknown");
    struct elab_value *old = elab_unflatten(e, r->neutral, carried);
    struct elab_value *new = elab_unflatten(e, r->neutral, carried + n);
    ir_values results = elab_leaves(e, elab_apply2(e, r->function, old, new));
    bool is_apart = true;
    for (size_t k = 0; k < n; k++) {
        const struct ir_value *result = ir_resolve(b, results.at[k]);
        for (size_t j = 0; j < n && is_apart; j++)
            is_apart = j == k || !depends_on(e, result, &carried[j], 1);
        bool is_atomic = other_operand(e, result, carried, n, k, &r->atomics[k]) != NULL;
        r->updates[k] = is_atomic ? UPDATE_ATOMIC : UPDATE_REPLACE;
    }
    r->is_neutral = elab_gives(e, r->function, r->neutral, new, new);
    ir_unwind(b, here);
    if (is_apart)
        return;
    int bits = elab_bits(&r->bases);
    r->is_packed = bits <= 64;
    r->word = bits <= 32 ? BASE_U32 : BASE_U64;
    r->is_locked = !r->is_packed;
}

static struct ir_value *pack(struct elaborator *e, const struct reducing *r, struct elab_value *element) {
    ir_values leaves = elab_leaves(e, element);
    return elab_pack(e, r->word, leaves.at, leaves.count);
}

static struct elab_value *unpack(struct elaborator *e, const struct reducing *r, struct ir_value *word) {
    return elab_unflatten(e, r->neutral, elab_unpack(e, word, &r->bases));
}

/* A component as it is kept while the array is being updated, and back. */
enum base reduce_kept_base(const struct reducing *r, size_t which) {
    return elab_leaf_bits(r->bases.at[which]) < 32 && !r->is_alone ? BASE_U32 : r->bases.at[which];
}

static bool is_in_word(const struct reducing *r, const struct places *places, enum base base) {
    return elab_leaf_bits(base) < 32 && !r->is_alone && !places->is_result;
}

static struct ir_value *kept(struct elaborator *e, const struct reducing *r, const struct places *places,
                             struct ir_value *leaf) {
    return is_in_word(r, places, leaf->base) ? elab_pack(e, BASE_U32, &leaf, 1) : leaf;
}

static struct ir_value *component_of(struct elaborator *e, const struct reducing *r, const struct places *places,
                                     size_t which, struct ir_value *kept) {
    const base_list one = {&r->bases.at[which], 1, 1};
    return is_in_word(r, places, r->bases.at[which]) ? elab_unpack(e, kept, &one)[0] : kept;
}

/* ---- one place ---- */

static struct ir_value *place_from(struct elaborator *e, const struct places *places, struct ir_value *offset,
                                   struct ir_value *place) {
    if (places->lane_ways)
        place = ir_binary(e->builder, OP_MUL, place, places->lane_ways);
    return offset ? ir_binary(e->builder, OP_ADD, offset, place) : place;
}

static struct ir_value *place_in(struct elaborator *e, const struct places *places, struct ir_value *place) {
    return place_from(e, places, places->offset, place);
}

struct elab_value *reduce_read(struct elaborator *e, const struct reducing *r, const struct places *places,
                               struct ir_value *place) {
    struct ir_value *at = place_in(e, places, place);
    if (r->is_packed)
        return unpack(e, r, ir_load(e->builder, places->buffers[0], at));
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, r->count);
    for (size_t k = 0; k < r->count; k++)
        leaves[k] = component_of(e, r, places, k, ir_load(e->builder, places->buffers[k], at));
    return elab_unflatten(e, r->neutral, leaves);
}

void reduce_write(struct elaborator *e, const struct reducing *r, const struct places *places, struct ir_value *place,
                  struct elab_value *element) {
    struct ir_value *at = place_in(e, places, place);
    if (r->is_packed) {
        ir_store(e->builder, places->buffers[0], at, pack(e, r, element));
        return;
    }
    ir_values leaves = elab_leaves(e, element);
    for (size_t k = 0; k < r->count; k++)
        ir_store(e->builder, places->buffers[k], at, kept(e, r, places, leaves.at[k]));
}

/* The value of a buffer's place after the operator, from the one before. */
typedef struct ir_value *next_value(struct elaborator *e, void *context, struct ir_value *old);

/* Until nobody came in between. Bits are compared: by value a NaN would never be equal, and -0 would be lost to 0. */
static void replace(struct elaborator *e, struct ir_buffer *buffer, struct ir_value *at, next_value *next,
                    void *context) {
    struct ir_builder *b = e->builder;
    bool was_volatile = ir_set_volatile(b, true);
    struct ir_value *carried[2] = {ir_load(b, buffer, at), ir_bool(b, false)}, *results[2];
    ir_set_volatile(b, was_volatile);
    ir_begin_while(b, carried, 2, NULL, NULL);
    ir_name(carried[0], "old");
    ir_while_body(b, ir_unary(b, OP_NOT, carried[1]));
    struct ir_value *new = next(e, context, carried[0]), *old_bits = ir_bits(e->builder, carried[0]);
    struct ir_value *nexts[2] = {carried[0], ir_bool(b, true)};
    if (!e->options->is_cpu)
        ir_begin_if(b, ir_binary(b, OP_NE, ir_bits(e->builder, new), old_bits));
    struct ir_value *seen = ir_compare_exchange(b, buffer, at, carried[0], new);
    ir_name(seen, "seen");
    struct ir_value *exchanged[2] = {seen, ir_binary(b, OP_EQ, ir_bits(e->builder, seen), old_bits)};
    if (!e->options->is_cpu) {
        ir_else(b, exchanged, 2);
        ir_end_if(b, nexts, exchanged, 2, false);
    }
    ir_end_while(b, exchanged, results);
}

struct component {
    const struct reducing *reducing;
    const struct places *places;
    struct elab_value *new;
    struct ir_value **old; /* leaves */
    size_t which;
};

static struct ir_value *next_component(struct elaborator *e, void *context, struct ir_value *old) {
    const struct component *c = context;
    size_t n = c->reducing->count;
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, n);
    memcpy(leaves, c->old, n * sizeof *leaves);
    leaves[c->which] = component_of(e, c->reducing, c->places, c->which, old);
    struct elab_value *before = elab_unflatten(e, c->reducing->neutral, leaves);
    ir_values results = elab_leaves(e, elab_apply2(e, c->reducing->function, before, c->new));
    return kept(e, c->reducing, c->places, results.at[c->which]);
}

static struct ir_value *next_word(struct elaborator *e, void *context, struct ir_value *old) {
    const struct component *c = context;
    return pack(e, c->reducing, elab_apply2(e, c->reducing->function, unpack(e, c->reducing, old), c->new));
}

static void update_components(struct elaborator *e, const struct reducing *r, const struct places *places,
                              struct ir_value *at, struct elab_value *new) {
    struct ir_builder *b = e->builder;
    struct ir_value **old = ARENA_ARRAY(e->arena, struct ir_value *, r->count);
    bool was_volatile = ir_set_volatile(b, true);
    for (size_t k = 0; k < r->count; k++)
        old[k] = component_of(
            e, r, places, k,
            ir_load(b, places->buffers[k], at)); /* a name for what is there; not read where an atomic does all */
    ir_set_volatile(b, was_volatile);
    ir_values results = elab_leaves(e, elab_apply2(e, r->function, elab_unflatten(e, r->neutral, old), new));
    for (size_t k = 0; k < r->count; k++) {
        struct ir_value *result = ir_resolve(b, results.at[k]);
        if (result == old[k])
            continue; /* a value that changes nothing, known at compile time */
        enum ir_atomic atomic;
        struct ir_value *by = other_operand(e, result, old, r->count, k, &atomic);
        if (r->updates[k] == UPDATE_ATOMIC && by) {
            ir_atomic(b, atomic, places->buffers[k], at, by);
            continue;
        }
        struct component component = {r, places, new, old, k};
        replace(e, places->buffers[k], at, next_component, &component);
    }
}

static void update_locked(struct elaborator *e, const struct reducing *r, const struct places *places,
                          struct ir_value *place, struct elab_value *new) {
    struct ir_builder *b = e->builder;
    struct ir_value *carried[1] = {ir_bool(b, false)}, *results[1];
    ir_begin_while(b, carried, 1, NULL, NULL);
    ir_while_body(b, ir_unary(b, OP_NOT, carried[0]));
    IR_PART(ir_current(b)->owner, loop).is_lock = true;
    struct ir_value *lock = place_from(e, places, places->lock_offset, place);
    struct ir_value *was = ir_compare_exchange(b, places->lock, lock, ir_int(b, 0), ir_int(b, 1));
    ir_name(was, "taken");
    struct ir_value *is_mine = ir_binary(b, OP_EQ, was, ir_int(b, 0));
    enum level_value among = places->lock->memory == MEMORY_SHARED ? LEVEL_BLOCK : LEVEL_GRID;
    ir_begin_if(b, is_mine);
    ir_fence(b, among);
    bool was_volatile = ir_set_volatile(b, true);
    struct elab_value *old = reduce_read(e, r, places, place);
    reduce_write(e, r, places, place, elab_apply2(e, r->function, old, new));
    ir_set_volatile(b, was_volatile);
    ir_fence(b, among);
    ir_atomic(b, ATOMIC_EXCHANGE, places->lock, lock, ir_int(b, 0));
    ir_else(b, NULL, 0);
    if (e->options->pauses && among == LEVEL_GRID)
        ir_fence(b, LEVEL_THREAD);
    ir_end_if(b, NULL, NULL, 0, false);
    ir_end_while(b, &is_mine, results);
}

void reduce_update(struct elaborator *e, const struct reducing *r, const struct places *places, struct ir_value *place,
                   struct elab_value *new) {
    if (r->is_alone) {
        reduce_write(e, r, places, place, elab_apply2(e, r->function, reduce_read(e, r, places, place), new));
        return;
    }
    if (r->is_locked) {
        update_locked(e, r, places, place, new);
        return;
    }
    struct ir_value *at = place_in(e, places, place);
    if (r->is_packed) {
        struct component component = {r, places, new, NULL, 0};
        replace(e, places->buffers[0], at, next_word, &component);
        return;
    }
    update_components(e, r, places, at, new);
}
