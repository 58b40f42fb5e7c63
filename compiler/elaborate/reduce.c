/* reduceByIndex: generalised reduction (Rasmussen et al., paper 002 of the design notes). Every pair changes one place of an array
   by the operator; threads exclude each other per place.

   note [exclusion]
   What an update costs is decided by the operator and its type. It is applied once to unknown values to see what it does:
   1. A component that becomes `old op x`, where x does not depend on what was there and the hardware has `op`, takes one
      atomic instruction.
   2. A component that depends on no other old component is exchanged by compare-and-swap on its bits.
   3. Components that depend on each other must change together: where they fit into 64 bits, the array is kept packed while
      it is being updated, and 2. applies to the whole.
   Atomics are for words of 32 and 64 bits, so a smaller component is kept in a word while the array is being updated.
   4. Otherwise each place has a lock. It is released inside the branch of the thread that has taken it, so that lanes which
      run in lockstep with that thread do not keep it from getting there.

   note [own buckets]
   At grid, threads of the whole device would meet at few places. So where there are enough pairs for it, each of some blocks
   combines a part of the pairs in buckets of its own, in shared memory, which begin as the neutral element, and these are
   then combined with the array. Buckets that do not fit are done a range at a time: one pass over the pairs each.

   note [copies]
   Where even that would take too many passes, but there are fewer places than threads, the places are copied in global
   memory: blocks share out the copies, and so meet less often. The first copy would be the array itself; but then the rest would
   need other code, so all copies begin as the neutral element, and a last launch combines each place's copies in order. */
#include <string.h>

#include "elaborate/value.h"

/* Buckets are as large as is worth their emptying and combining: see note [own buckets]. */
enum { PAIRS_PER_BUCKET = 2, LEAST_BLOCKS = 8 };

/* Of CPUs: blocks with buckets of their own, copies of these, and what these may take of the first-level cache. */
enum { CPU_BLOCKS = 64, MOST_WAYS = 8, FIRST_CACHE_BYTES = 16 * 1024 };

enum update { UPDATE_ATOMIC, UPDATE_REPLACE };

struct reducing {
    struct push *push;
    struct elab_value *function, *neutral;
    base_list bases; /* of the element's components */
    size_t count;
    enum update *updates; /* by component */
    enum ir_atomic *atomics;
    bool is_packed, is_locked;
    enum base word;  /* packed */
    bool has_narrow; /* components that are kept in a word */
};

/* Where places lie: one buffer for each component, or a packed one; `lock` when they are locked. */
struct places {
    struct ir_buffer **buffers;
    size_t count;
    struct ir_value *offset; /* or NULL */
    struct ir_buffer *lock;
    struct ir_value *lock_offset;   /* or NULL */
    struct ir_value *ways, *stride; /* copies, one after the other, that pairs take in turns; NULL: one */
};

/* ---- what the operator does ---- */

/* Does the value depend on one of `on`? What loops give is taken to, unless it was there before these. */
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
static void study(struct elaborator *e, struct reducing *r) {
    struct ir_builder *b = e->builder;
    ir_values leaves = {0};
    elab_flatten(e, r->neutral, &leaves);
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
    size_t next = 0;
    struct elab_value *old = elab_unflatten(e, r->neutral, carried, &next);
    struct elab_value *new = elab_unflatten(e, r->neutral, carried, &next);
    ir_values results = {0};
    elab_flatten(e, elab_apply2(e, r->function, old, new), &results);
    bool is_apart = true;
    for (size_t k = 0; k < n; k++) {
        const struct ir_value *result = ir_resolve(b, results.at[k]);
        for (size_t j = 0; j < n && is_apart; j++)
            is_apart = j == k || !depends_on(e, result, &carried[j], 1);
        bool is_atomic = other_operand(e, result, carried, n, k, &r->atomics[k]) != NULL;
        r->updates[k] = is_atomic ? UPDATE_ATOMIC : UPDATE_REPLACE;
    }
    ir_unwind(b, here);
    if (is_apart)
        return;
    int bits = elab_bits(&r->bases);
    r->is_packed = bits <= 64;
    r->word = bits <= 32 ? BASE_U32 : BASE_U64;
    r->is_locked = !r->is_packed;
}

static struct ir_value *pack(struct elaborator *e, const struct reducing *r, struct elab_value *element) {
    ir_values leaves = {0};
    elab_flatten(e, element, &leaves);
    return elab_pack(e, r->word, leaves.at, leaves.count);
}

static struct elab_value *unpack(struct elaborator *e, const struct reducing *r, struct ir_value *word) {
    size_t next = 0;
    return elab_unflatten(e, r->neutral, elab_unpack(e, word, &r->bases), &next);
}

/* A component as it is kept while the array is being updated, and back. */
static enum base kept_base(const struct reducing *r, size_t which) {
    return elab_leaf_bits(r->bases.at[which]) < 32 ? BASE_U32 : r->bases.at[which];
}

static struct ir_value *kept(struct elaborator *e, struct ir_value *leaf) {
    return elab_leaf_bits(leaf->base) < 32 ? elab_pack(e, BASE_U32, &leaf, 1) : leaf;
}

static struct ir_value *component_of(struct elaborator *e, const struct reducing *r, size_t which,
                                     struct ir_value *kept) {
    const base_list one = {&r->bases.at[which], 1, 1};
    return elab_leaf_bits(r->bases.at[which]) < 32 ? elab_unpack(e, kept, &one)[0] : kept;
}

/* ---- one place ---- */

static struct ir_value *place_in(struct elaborator *e, const struct places *places, struct ir_value *place) {
    return places->offset ? ir_binary(e->builder, OP_ADD, places->offset, place) : place;
}

static struct elab_value *read_place(struct elaborator *e, const struct reducing *r, const struct places *places,
                                     struct ir_value *place) {
    struct ir_value *at = place_in(e, places, place);
    if (r->is_packed)
        return unpack(e, r, ir_load(e->builder, places->buffers[0], at));
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, r->count);
    for (size_t k = 0; k < r->count; k++)
        leaves[k] = component_of(e, r, k, ir_load(e->builder, places->buffers[k], at));
    size_t next = 0;
    return elab_unflatten(e, r->neutral, leaves, &next);
}

static void write_place(struct elaborator *e, const struct reducing *r, const struct places *places,
                        struct ir_value *place, struct elab_value *element) {
    struct ir_value *at = place_in(e, places, place);
    if (r->is_packed) {
        ir_store(e->builder, places->buffers[0], at, pack(e, r, element));
        return;
    }
    ir_values leaves = {0};
    elab_flatten(e, element, &leaves);
    for (size_t k = 0; k < r->count; k++)
        ir_store(e->builder, places->buffers[k], at, kept(e, leaves.at[k]));
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
    struct ir_value *seen = ir_compare_exchange(b, buffer, at, carried[0], next(e, context, carried[0]));
    ir_name(seen, "seen");
    struct ir_value *same = ir_binary(b, OP_EQ, elab_bits_of(e, seen), elab_bits_of(e, carried[0]));
    struct ir_value *nexts[2] = {seen, same};
    ir_end_while(b, nexts, results);
}

struct component {
    const struct reducing *reducing;
    struct elab_value *new;
    struct ir_value **old; /* leaves */
    size_t which;
};

static struct ir_value *next_component(struct elaborator *e, void *context, struct ir_value *old) {
    const struct component *c = context;
    size_t n = c->reducing->count, next = 0;
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, n);
    memcpy(leaves, c->old, n * sizeof *leaves);
    leaves[c->which] = component_of(e, c->reducing, c->which, old);
    struct elab_value *before = elab_unflatten(e, c->reducing->neutral, leaves, &next);
    ir_values results = {0};
    elab_flatten(e, elab_apply2(e, c->reducing->function, before, c->new), &results);
    return kept(e, results.at[c->which]);
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
            e, r, k,
            ir_load(b, places->buffers[k], at)); /* a name for what is there; not read where an atomic does all */
    ir_set_volatile(b, was_volatile);
    size_t next = 0;
    ir_values results = {0};
    elab_flatten(e, elab_apply2(e, r->function, elab_unflatten(e, r->neutral, old, &next), new), &results);
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
        struct component component = {r, new, old, k};
        replace(e, places->buffers[k], at, next_component, &component);
    }
}

static void update_locked(struct elaborator *e, const struct reducing *r, const struct places *places,
                          struct ir_value *place, struct elab_value *new) {
    struct ir_builder *b = e->builder;
    struct ir_value *carried[1] = {ir_bool(b, false)}, *results[1];
    ir_begin_while(b, carried, 1, NULL, NULL);
    ir_while_body(b, ir_unary(b, OP_NOT, carried[0]));
    struct ir_value *lock = places->lock_offset ? ir_binary(b, OP_ADD, places->lock_offset, place) : place;
    struct ir_value *was = ir_compare_exchange(b, places->lock, lock, ir_int(b, 0), ir_int(b, 1));
    ir_name(was, "taken");
    struct ir_value *is_mine = ir_binary(b, OP_EQ, was, ir_int(b, 0));
    ir_begin_if(b, is_mine);
    ir_fence(b);
    bool was_volatile = ir_set_volatile(b, true);
    struct elab_value *old = read_place(e, r, places, place);
    write_place(e, r, places, place, elab_apply2(e, r->function, old, new));
    ir_set_volatile(b, was_volatile);
    ir_fence(b);
    ir_atomic(b, ATOMIC_EXCHANGE, places->lock, lock, ir_int(b, 0));
    ir_else(b, NULL, 0);
    ir_end_if(b, NULL, NULL, 0, false);
    ir_end_while(b, &is_mine, results);
}

static void update(struct elaborator *e, const struct reducing *r, const struct places *places, struct ir_value *place,
                   struct elab_value *new) {
    if (r->is_locked) {
        update_locked(e, r, places, place, new);
        return;
    }
    struct ir_value *at = place_in(e, places, place);
    if (r->is_packed) {
        struct component component = {r, new, NULL, 0};
        replace(e, places->buffers[0], at, next_word, &component);
        return;
    }
    update_components(e, r, places, at, new);
}

/* ---- choices ---- */

/* One of two ways of running, by a condition that the host may know only when it has the lengths. Inside a branch the
   condition is known, so what was known before is kept. */
static enum ir_truth begin_choice(struct elaborator *e, struct ir_value *condition) {
    enum ir_truth truth = ir_known(e->builder, condition);
    if (truth == IR_UNKNOWN)
        ir_begin_if(e->builder, condition);
    return truth;
}

static void other_choice(struct elaborator *e, enum ir_truth truth) {
    if (truth == IR_UNKNOWN)
        ir_else(e->builder, NULL, 0);
}

static void end_choice(struct elaborator *e, enum ir_truth truth) {
    if (truth == IR_UNKNOWN)
        ir_end_if(e->builder, NULL, NULL, 0, false);
}

/* Without buckets of the blocks' own. */

/* ---- phases ---- */

/* New buffers for that many places, allocated here. */
static struct places new_places(struct elaborator *e, const struct reducing *r, enum level_value level,
                                struct ir_value *capacity, const char *name) {
    struct ir_builder *b = e->builder;
    struct places places = {.count = r->is_packed ? 1 : r->count};
    places.buffers = ARENA_ARRAY(e->arena, struct ir_buffer *, places.count);
    enum ir_memory memory = level == LEVEL_GRID ? MEMORY_OUTPUT : MEMORY_SHARED;
    for (size_t k = 0; k < places.count; k++) {
        enum base base = r->is_packed ? r->word : kept_base(r, k);
        places.buffers[k] = ir_buffer_new(b, memory, level, base, capacity, name);
        places.buffers[k]->rewritten = true;
        places.buffers[k]->span = r->push->span;
        ir_allocate(b, places.buffers[k]);
    }
    return places;
}

static void add_lock(struct elaborator *e, const struct reducing *r, struct places *places, enum level_value level,
                     struct ir_value *capacity) {
    if (!r->is_locked)
        return;
    enum ir_memory memory = level == LEVEL_GRID ? MEMORY_OUTPUT : MEMORY_SHARED;
    places->lock = ir_buffer_new(e->builder, memory, level, BASE_I32, capacity, "locks");
    places->lock->rewritten = true;
    places->lock->is_zeroed = level == LEVEL_GRID;
    places->lock->span = r->push->span;
    ir_allocate(e->builder, places->lock);
}

static void free_locks(struct elaborator *e, const struct places *places, struct ir_value *place) {
    if (places->lock && !places->lock->is_zeroed)
        ir_store(e->builder, places->lock, place, ir_int(e->builder, 0));
}

/* Places begin as the array says. */
static void fill(struct elaborator *e, const struct reducing *r, const struct places *places, enum level_value level) {
    struct pull *array = r->push->array;
    struct ir_value *h = elab_begin_threads(e, level, ir_resolve(e->builder, array->length));
    write_place(e, r, places, h, elab_index(e, array, h));
    free_locks(e, places, h);
    elab_end_threads(e, level, h);
}

static void take_pair(struct elaborator *e, const struct reducing *r, const struct places *places,
                      struct ir_value *which, struct ir_value *low, struct ir_value *width) {
    struct ir_builder *b = e->builder;
    struct elab_value *pair = elab_index(e, r->push->pairs, which);
    if (pair->kind != ELAB_TUPLE)
        elab_internal(e, "a write is no pair");
    struct ir_value *index = elab_as_scalar(e, pair->tuple.items[0]);
    /* index - low could overflow and come out inside: the bounds are compared before. */
    struct ir_value *high = ir_binary(b, OP_ADD, low, width);
    struct ir_value *inside = ir_binary(b, OP_AND, ir_binary(b, OP_LE, low, index), ir_binary(b, OP_LT, index, high));
    enum ir_truth truth = ir_known(b, inside);
    if (truth == IR_UNKNOWN)
        ir_begin_if(b, inside);
    if (truth != IR_FALSE)
        update(e, r, places, ir_binary(b, OP_SUB, index, low), pair->tuple.items[1]);
    if (truth == IR_UNKNOWN) {
        ir_else(b, NULL, 0);
        ir_end_if(b, NULL, NULL, 0, false);
    }
}

/* Pairs first, first + 1, … of that number go to the places low, low + 1, … of that number. */
static void take_pairs(struct elaborator *e, const struct reducing *r, const struct places *places,
                       enum level_value level, struct ir_value *first, struct ir_value *count, struct ir_value *low,
                       struct ir_value *width) {
    struct ir_value *i = elab_begin_threads(e, level, count);
    take_pair(e, r, places, ir_binary(e->builder, OP_ADD, first, i), low, width);
    elab_end_threads(e, level, i);
}

/* The same, as many in a row as there are copies of the places: each goes to a copy of its own. */
static void take_in_turns(struct elaborator *e, const struct reducing *r, const struct places *places,
                          struct ir_value *first, struct ir_value *count, struct ir_value *low,
                          struct ir_value *width) {
    struct ir_builder *b = e->builder;
    struct ir_value *ways = ir_int(b, MOST_WAYS), *groups = ir_binary(b, OP_DIV, count, ways);
    struct ir_value *i = elab_begin_threads(e, LEVEL_BLOCK, groups);
    struct ir_value *start = ir_binary(b, OP_ADD, first, ir_binary(b, OP_MUL, i, ways));
    struct ir_value *way = ir_begin_for(b, ways, NULL, 0, "way");
    struct places copy = *places;
    copy.offset = copy.lock_offset = ir_binary(b, OP_MUL, way, places->stride);
    take_pair(e, r, &copy, ir_binary(b, OP_ADD, start, way), low, width);
    ir_end_for(b, NULL, NULL);
    elab_end_threads(e, LEVEL_BLOCK, i);
    struct ir_value *done = ir_binary(b, OP_MUL, groups, ways);
    take_pairs(e, r, places, LEVEL_BLOCK, ir_binary(b, OP_ADD, first, done), ir_binary(b, OP_SUB, count, done), low,
               width);
}

/* The element combined with those at `first`, `first + step` and so on, of that number. */
static struct elab_value *fold_places(struct elaborator *e, const struct reducing *r, const struct places *places,
                                      struct elab_value *element, struct ir_value *first, struct ir_value *step,
                                      struct ir_value *count) {
    struct ir_builder *b = e->builder;
    ir_values leaves = {0}, combined = {0};
    elab_flatten(e, element, &leaves);
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, leaves.count);
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, leaves.count);
    memcpy(carried, leaves.at, leaves.count * sizeof *carried);
    struct ir_value *copy = ir_begin_for(b, count, carried, leaves.count, "copy");
    size_t next = 0;
    struct elab_value *so_far = elab_unflatten(e, r->neutral, carried, &next);
    struct ir_value *at = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, copy, step), first);
    elab_flatten(e, elab_apply2(e, r->function, so_far, read_place(e, r, places, at)), &combined);
    ir_end_for(b, combined.at, results);
    next = 0;
    return elab_unflatten(e, r->neutral, results, &next);
}

/* What a place and its copies have come to. */
static struct elab_value *read_ways(struct elaborator *e, const struct reducing *r, const struct places *places,
                                    struct ir_value *place) {
    struct ir_builder *b = e->builder;
    struct elab_value *element = read_place(e, r, places, place);
    if (!places->ways)
        return element;
    return fold_places(e, r, places, element, ir_binary(b, OP_ADD, place, places->stride), places->stride,
                       ir_binary(b, OP_SUB, places->ways, ir_int(b, 1)));
}

static void hand_on(struct elaborator *e, const struct reducing *r, const struct places *places, enum level_value level,
                    const struct writer *writer) {
    struct ir_value *h = elab_begin_threads(e, level, ir_resolve(e->builder, r->push->array->length));
    writer->write(e, writer, h, read_ways(e, r, places, h));
    elab_end_threads(e, level, h);
}

/* ---- at block ---- */

static bool are_in(const struct writer *writer, enum ir_memory memory) {
    for (size_t i = 0; i < writer->buffer_count; i++)
        if (writer->buffers[i]->memory != memory)
            return false;
    return true;
}

/* Can the places be updated where the writer wants them? */
static bool keeps_plainly(const struct reducing *r, const struct writer *writer) {
    return elab_writes_plainly(writer) && !r->is_packed && !r->has_narrow;
}

static struct places places_of(struct writer const *writer) {
    for (size_t k = 0; k < writer->buffer_count; k++)
        writer->buffers[k]->rewritten = true;
    return (struct places){.buffers = writer->buffers, .count = writer->buffer_count, .offset = writer->offset};
}

static int64_t place_bytes(const struct reducing *r) {
    if (r->is_packed)
        return base_info[r->word].bits / 8;
    int64_t bytes = r->is_locked ? 4 : 0;
    for (size_t k = 0; k < r->count; k++)
        bytes += base_info[kept_base(r, k)].bits / 8;
    return bytes;
}

static int64_t most_in_ways(const struct reducing *r) { return FIRST_CACHE_BYTES / MOST_WAYS / place_bytes(r); }

/* For many pairs and few places on a CPU: in copies, as add_ways says, that are combined at the end. */
static void run_in_turns(struct elaborator *e, const struct reducing *r, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length), *zero = ir_int(b, 0);
    struct ir_value *capacity = ir_int(b, length->high * MOST_WAYS);
    struct places places = new_places(e, r, LEVEL_BLOCK, capacity, "buckets");
    add_lock(e, r, &places, LEVEL_BLOCK, capacity);
    places.ways = ir_int(b, MOST_WAYS);
    places.stride = length;
    fill(e, r, &places, LEVEL_BLOCK);
    struct ir_value *h = elab_begin_threads(e, LEVEL_BLOCK, ir_binary(b, OP_MUL, length, ir_int(b, MOST_WAYS - 1)));
    struct ir_value *copy = ir_binary(b, OP_ADD, length, h);
    write_place(e, r, &places, copy, r->neutral);
    free_locks(e, &places, copy);
    elab_end_threads(e, LEVEL_BLOCK, h);
    take_in_turns(e, r, &places, zero, ir_resolve(b, r->push->pairs->length), zero, length);
    hand_on(e, r, &places, LEVEL_BLOCK, writer);
}

static void run_at_block(struct elaborator *e, const struct reducing *r, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length);
    struct ir_value *count = ir_resolve(b, r->push->pairs->length), *zero = ir_int(b, 0);
    if (e->options->is_cpu && length->high > 0 && length->high <= most_in_ways(r) &&
        count->low >= PAIRS_PER_BUCKET * MOST_WAYS * length->high) {
        run_in_turns(e, r, writer);
        return;
    }
    bool fits = length->high <= e->options->shared_bytes / place_bytes(r);
    bool is_shared = are_in(writer, MEMORY_SHARED);
    bool in_place = keeps_plainly(r, writer) && (is_shared || !fits);
    struct ir_value *capacity = r->is_locked || !in_place ? elab_capacity(e, length, LEVEL_BLOCK) : NULL;
    struct places places = in_place ? places_of(writer) : new_places(e, r, LEVEL_BLOCK, capacity, "buckets");
    add_lock(e, r, &places, LEVEL_BLOCK, capacity);
    fill(e, r, &places, LEVEL_BLOCK);
    bool before = ir_set_overwrites(b, true);
    take_pairs(e, r, &places, LEVEL_BLOCK, zero, count, zero, length);
    ir_set_overwrites(b, before);
    if (!in_place)
        hand_on(e, r, &places, LEVEL_BLOCK, writer);
}

/* ---- at grid ---- */

struct own_buckets {
    struct ir_value *limit;  /* buckets that fit */
    struct ir_value *width;  /* of them that are used */
    struct ir_value *passes; /* over the pairs */
    struct ir_value *blocks; /* with buckets of their own */
    struct ir_value *worthwhile;
};

static struct own_buckets plan_buckets(struct elaborator *e, const struct reducing *r) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length), *pairs = ir_resolve(b, r->push->pairs->length);
    struct ir_value *bytes = r->push->sizes[0], *blocks = r->push->sizes[1], *most_passes = r->push->sizes[2];
    struct ir_value *zero = ir_int(b, 0), *one = ir_int(b, 1);
    struct own_buckets own;
    bytes = ir_ternary(b, OP_SELECT, ir_binary(b, OP_LT, zero, bytes), bytes, ir_int(b, e->options->shared_bytes));
    own.limit = ir_binary(b, OP_MAX, one, ir_binary(b, OP_DIV, bytes, ir_int(b, place_bytes(r))));
    own.width = ir_binary(b, OP_MAX, one, ir_binary(b, OP_MIN, length, own.limit));
    struct ir_value *full = ir_binary(b, OP_DIV, length, own.limit);
    struct ir_value *rest = ir_binary(b, OP_REM, length, own.limit);
    own.passes = ir_binary(b, OP_ADD, full, ir_ternary(b, OP_SELECT, ir_binary(b, OP_LT, zero, rest), one, zero));
    struct ir_value *gain = ir_binary(b, OP_DIV, pairs, ir_binary(b, OP_MUL, own.width, ir_int(b, PAIRS_PER_BUCKET)));
    struct ir_value *most = ir_int(b, e->options->is_cpu ? CPU_BLOCKS : e->options->grid_size);
    struct ir_value *found = e->options->is_cpu ? ir_binary(b, OP_DIV, gain, ir_int(b, MOST_WAYS)) : gain;
    found = ir_binary(b, OP_MAX, one, ir_binary(b, OP_MIN, found, most));
    /* A number of blocks that is asked for is taken as it is. */
    struct ir_value *is_asked = ir_binary(b, OP_LT, zero, blocks);
    own.blocks = ir_ternary(b, OP_SELECT, is_asked, blocks, found);
    struct ir_value *enough =
        ir_ternary(b, OP_SELECT, is_asked, ir_bool(b, true), ir_binary(b, OP_LE, ir_int(b, LEAST_BLOCKS), gain));
    own.worthwhile = ir_binary(b, OP_AND, enough, ir_binary(b, OP_LE, own.passes, most_passes));
    return own;
}

/* A block's buckets are combined with the array; those that nothing came to are left out. */
static void combine(struct elaborator *e, const struct reducing *r, const struct places *own,
                    const struct places *places, struct ir_value *low, struct ir_value *width) {
    struct ir_builder *b = e->builder;
    struct ir_value *h = elab_begin_threads(e, LEVEL_BLOCK, width);
    struct elab_value *element = read_ways(e, r, own, h);
    ir_values leaves = {0}, neutral = {0};
    elab_flatten(e, element, &leaves);
    elab_flatten(e, r->neutral, &neutral);
    struct ir_value *is_used = ir_bool(b, false);
    for (size_t k = 0; k < r->count; k++)
        is_used = ir_binary(b, OP_OR, is_used,
                            ir_binary(b, OP_NE, elab_bits_of(e, leaves.at[k]), elab_bits_of(e, neutral.at[k])));
    ir_begin_if(b, is_used);
    update(e, r, places, ir_binary(b, OP_ADD, low, h), element);
    ir_else(b, NULL, 0);
    ir_end_if(b, NULL, NULL, 0, false);
    elab_end_threads(e, LEVEL_BLOCK, h);
}

/* The pairs of one block: an even share each, the last ones maybe fewer or none. */
struct share {
    struct ir_value *size; /* of all, computed before the blocks begin */
    struct ir_value *first, *count;
};

/* Of x that is not negative. */
static struct ir_value *divide_up(struct ir_builder *b, struct ir_value *x, struct ir_value *y) {
    struct ir_value *is_exact = ir_binary(b, OP_EQ, ir_binary(b, OP_REM, x, y), ir_int(b, 0));
    return ir_binary(b, OP_ADD, ir_binary(b, OP_DIV, x, y),
                     ir_ternary(b, OP_SELECT, is_exact, ir_int(b, 0), ir_int(b, 1)));
}

/* In whole sectors of memory, so that no block begins in the middle of one. */
static struct share even_shares(struct elaborator *e, struct ir_value *pairs, struct ir_value *blocks) {
    enum { SECTOR = 32 }; /* elements of the smallest types */
    struct ir_builder *b = e->builder;
    struct ir_value *sectors = divide_up(b, ir_binary(b, OP_MAX, ir_int(b, 0), pairs), ir_int(b, SECTOR));
    struct ir_value *size = ir_convert(b, divide_up(b, sectors, blocks), BASE_I64);
    return (struct share){.size = ir_binary(b, OP_MUL, size, ir_convert(b, ir_int(b, SECTOR), BASE_I64))};
}

static void begin_share(struct elaborator *e, struct share *share, struct ir_value *pairs, struct ir_value *block) {
    struct ir_builder *b = e->builder;
    struct ir_value *all = ir_convert(b, pairs, BASE_I64);
    struct ir_value *first =
        ir_binary(b, OP_MIN, ir_binary(b, OP_MUL, ir_convert(b, block, BASE_I64), share->size), all);
    share->first = ir_convert(b, first, BASE_I32);
    share->count = ir_convert(b, ir_binary(b, OP_MIN, share->size, ir_binary(b, OP_SUB, all, first)), BASE_I32);
}

/* A core cannot change one place twice in a row without waiting for the first change: pairs that follow one another go to
   different copies of the block's buckets, where these stay in the first-level cache. */
static void add_ways(struct elaborator *e, const struct reducing *r, struct places *buckets, struct ir_value *width) {
    struct ir_builder *b = e->builder;
    int64_t most = most_in_ways(r);
    if (!e->options->is_cpu || most < 1 || width->low > most)
        return;
    struct ir_value *are_few = ir_binary(b, OP_LE, width, ir_int(b, most));
    buckets->ways = ir_ternary(b, OP_SELECT, are_few, ir_int(b, MOST_WAYS), ir_int(b, 1));
    buckets->stride = width;
}

static struct ir_value *room_for_ways(struct elaborator *e, const struct reducing *r, struct ir_value *capacity) {
    struct ir_builder *b = e->builder;
    struct ir_value *most = ir_int(b, most_in_ways(r) * MOST_WAYS);
    if (capacity->is_constant && capacity->constant.integer <= most_in_ways(r))
        return ir_int(b, capacity->constant.integer * MOST_WAYS);
    struct ir_region *here = ir_enter_outermost(b);
    capacity = ir_binary(b, OP_MAX, capacity, most);
    ir_leave_outermost(b, here);
    return capacity;
}

static void run_pass(struct elaborator *e, const struct reducing *r, const struct own_buckets *own,
                     const struct places *places, struct ir_value *pass) {
    struct ir_builder *b = e->builder;
    struct ir_value *pairs = ir_resolve(b, r->push->pairs->length), *length = ir_resolve(b, r->push->array->length);
    struct ir_value *low = ir_binary(b, OP_MUL, pass, own->limit);
    struct ir_value *width = ir_binary(b, OP_MIN, own->width, ir_binary(b, OP_SUB, length, low));
    struct ir_value *capacity = elab_upper_bound(e, own->width); /* the array's length may be what a loop carries */
    if (!capacity)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span,
                  "no bound is known for the number of buckets that a block has for itself here");
    if (e->options->is_cpu)
        capacity = room_for_ways(e, r, capacity);
    struct share share = even_shares(e, pairs, own->blocks);
    struct ir_value *block = ir_begin_forall(b, LEVEL_GRID, LEVEL_BLOCK, own->blocks, "block");
    struct places buckets = new_places(e, r, LEVEL_BLOCK, capacity, "own_buckets");
    add_lock(e, r, &buckets, LEVEL_BLOCK, capacity);
    add_ways(e, r, &buckets, width);
    struct ir_value *h =
        elab_begin_threads(e, LEVEL_BLOCK, buckets.ways ? ir_binary(b, OP_MUL, buckets.ways, width) : width);
    write_place(e, r, &buckets, h, r->neutral);
    free_locks(e, &buckets, h);
    elab_end_threads(e, LEVEL_BLOCK, h);
    begin_share(e, &share, pairs, block);
    if (buckets.ways) {
        enum ir_truth truth = begin_choice(e, ir_binary(b, OP_LT, ir_int(b, 1), buckets.ways));
        if (truth != IR_FALSE)
            take_in_turns(e, r, &buckets, share.first, share.count, low, width);
        other_choice(e, truth);
        if (truth != IR_TRUE)
            take_pairs(e, r, &buckets, LEVEL_BLOCK, share.first, share.count, low, width);
        end_choice(e, truth);
    } else {
        take_pairs(e, r, &buckets, LEVEL_BLOCK, share.first, share.count, low, width);
    }
    combine(e, r, &buckets, places, low, width);
    ir_end_forall(b);
}

static void run_own_buckets(struct elaborator *e, const struct reducing *r, const struct own_buckets *own,
                            const struct places *places) {
    struct ir_builder *b = e->builder;
    struct ir_value *passes = ir_resolve(b, own->passes);
    if (passes->high <= 1) {
        run_pass(e, r, own, places, ir_int(b, 0));
        return;
    }
    struct ir_value *pass = ir_begin_for(b, passes, NULL, 0, "pass");
    run_pass(e, r, own, places, pass);
    ir_end_for(b, NULL, NULL);
}

/* See note [copies]: how many, 1 where the array itself is updated. */
static struct ir_value *plan_copies(struct elaborator *e, const struct reducing *r, const struct own_buckets *own) {
    struct ir_builder *b = e->builder;
    struct ir_value *zero = ir_int(b, 0), *one = ir_int(b, 1), *said = r->push->sizes[3];
    struct ir_value *length = ir_binary(b, OP_MAX, one, ir_resolve(b, r->push->array->length));
    struct ir_value *pairs = ir_resolve(b, r->push->pairs->length);
    struct ir_value *by_threads =
        ir_binary(b, OP_DIV, ir_int(b, (int64_t)e->options->grid_size * e->options->block_size), length);
    struct ir_value *by_pairs = ir_binary(b, OP_DIV, ir_binary(b, OP_DIV, pairs, ir_int(b, PAIRS_PER_BUCKET)), length);
    /* Few threads of a CPU run at a time: they seldom meet. */
    struct ir_value *found =
        e->options->is_cpu ? one : ir_binary(b, OP_MAX, one, ir_binary(b, OP_MIN, by_threads, by_pairs));
    struct ir_value *copies = ir_ternary(b, OP_SELECT, ir_binary(b, OP_LT, zero, said), said, found);
    return ir_ternary(b, OP_SELECT, own->worthwhile, one, copies);
}

static struct places new_copies(struct elaborator *e, const struct reducing *r, struct ir_value *copies) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length), *one = ir_int(b, 1);
    struct ir_value *capacity =
        ir_ternary(b, OP_SELECT, ir_binary(b, OP_LT, one, copies), ir_binary(b, OP_MUL, copies, length), ir_int(b, 0));
    struct places result = new_places(e, r, LEVEL_GRID, capacity, "copies");
    add_lock(e, r, &result, LEVEL_GRID, capacity);
    return result;
}

static void run_copies(struct elaborator *e, const struct reducing *r, const struct places *copied,
                       struct ir_value *copies, const struct places *places) {
    struct ir_builder *b = e->builder;
    struct ir_value *pairs = ir_resolve(b, r->push->pairs->length), *length = ir_resolve(b, r->push->array->length);
    struct ir_value *h = elab_begin_threads(e, LEVEL_GRID, ir_binary(b, OP_MUL, copies, length));
    write_place(e, r, copied, h, r->neutral);
    elab_end_threads(e, LEVEL_GRID, h);

    struct ir_value *blocks = ir_int(b, e->options->grid_size);
    struct share share = even_shares(e, pairs, blocks);
    struct ir_value *block = ir_begin_forall(b, LEVEL_GRID, LEVEL_BLOCK, blocks, "block");
    begin_share(e, &share, pairs, block);
    struct places mine = *copied;
    mine.offset = mine.lock_offset = ir_binary(b, OP_MUL, ir_binary(b, OP_REM, block, copies), length);
    take_pairs(e, r, &mine, LEVEL_BLOCK, share.first, share.count, ir_int(b, 0), length);
    ir_end_forall(b);

    h = elab_begin_threads(e, LEVEL_GRID, length);
    write_place(e, r, places, h, fold_places(e, r, copied, read_place(e, r, places, h), h, length, copies));
    elab_end_threads(e, LEVEL_GRID, h);
}

static void run_in_global(struct elaborator *e, const struct reducing *r, const struct places *copied,
                          struct ir_value *copies, struct ir_value *has_copies, const struct places *places) {
    struct ir_builder *b = e->builder;
    struct ir_value *zero = ir_int(b, 0);
    enum ir_truth copy = begin_choice(e, has_copies);
    if (copy != IR_FALSE)
        run_copies(e, r, copied, copies, places);
    other_choice(e, copy);
    if (copy != IR_TRUE)
        take_pairs(e, r, places, LEVEL_GRID, zero, ir_resolve(b, r->push->pairs->length), zero,
                   ir_resolve(b, r->push->array->length));
    end_choice(e, copy);
}

static void run_at_grid(struct elaborator *e, const struct reducing *r, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length);
    bool in_place = keeps_plainly(r, writer);
    struct places places = in_place ? places_of(writer) : new_places(e, r, LEVEL_GRID, length, "buckets");
    add_lock(e, r, &places, LEVEL_GRID, length);
    struct own_buckets own = plan_buckets(e, r);
    struct ir_value *copies = plan_copies(e, r, &own), *has_copies = ir_binary(b, OP_LT, ir_int(b, 1), copies);
    struct places copied = {0};
    if (ir_known(b, has_copies) != IR_FALSE)
        copied = new_copies(e, r, copies);
    fill(e, r, &places, LEVEL_GRID);
    enum ir_truth own_truth = begin_choice(e, own.worthwhile);
    if (own_truth != IR_FALSE)
        run_own_buckets(e, r, &own, &places);
    other_choice(e, own_truth);
    if (own_truth != IR_TRUE)
        run_in_global(e, r, &copied, copies, has_copies, &places);
    end_choice(e, own_truth);
    if (!in_place)
        hand_on(e, r, &places, LEVEL_GRID, writer);
}

void elab_run_reduce(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct reducing r = {.push = push, .function = push->function, .neutral = push->initial};
    struct split_frame *split = e->split;
    e->split = NULL; /* elements are not chunks */
    study(e, &r);
    if (push->level == LEVEL_GRID)
        run_at_grid(e, &r, writer);
    else
        run_at_block(e, &r, writer);
    e->split = split;
}

struct elab_value *elab_REDUCE_BY_INDEX(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                                        struct elab_value **arguments) {
    (void)primitive;
    struct push *push = elab_push_new(e, PUSH_REDUCE, elab_level(e, instance, 0));
    for (int i = 0; i < 4; i++)
        push->sizes[i] = elab_as_scalar(e, arguments[i]);
    push->function = arguments[4];
    push->initial = arguments[5];
    push->array = elab_as_pull(e, arguments[6]);
    push->pairs = elab_as_pull(e, arguments[7]);
    push->span = e->span;
    return elab_of_push(e, push);
}
