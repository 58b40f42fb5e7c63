/* The part that the updates `scatter` and `reduceByIndex` share.

   note [old values]
   An update may write into the array that it starts from (note [updates] in ir/passes/reuse.c), and its
   pairs see that array as it was. So pairs that read it are computed first and stored, which takes
   as much memory as there are pairs. Where an element makes as many pairs as it likes, there is no
   place for them: then the array is copied, as the pairs use it while it is updated.
   A scatter need not store its pairs where each thread reads only what no other one writes, as the
   bits of the places show (note [bits] in ir/build/bits.h): so a stage of a network is one loop. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/push.h"
#include "ir/build/bits.h"
#include "ir/walk.h"

enum { MOST_PLACES = 16 }; /* that an element reads or writes, and that are compared */

bool elab_is_update(const struct push *push) {
    return push->kind == PUSH_SCATTER || push->kind == PUSH_REDUCE_BY_INDEX;
}

/* ---- the pairs that an element makes ---- */

struct taking {
    struct writer writer; /* first: it is cast back */
    elab_take *take;
    void *context;
};

static void take_checked(struct elaborator *e, elab_take *take, void *context, struct elab_value *pair) {
    if (pair->kind != ELAB_TUPLE)
        elab_internal(e, "a write is no pair");
    take(e, context, pair);
}

static void write_taken(struct elaborator *e, const struct writer *self, struct ir_value *index,
                        struct elab_value *element) {
    (void)index;
    const struct taking *taking = (const struct taking *)self;
    if (!element) /* it goes to no memory */
        return;
    take_checked(e, taking->take, taking->context, element);
}

/* All that few pairs read is read before the first is taken, so that their loads are under way together. */
static bool take_few(struct elaborator *e, struct push *pairs, elab_take *take, void *context) {
    if (pairs->kind != PUSH_PULL)
        return false;
    const struct ir_value *length = ir_resolve(e->builder, pairs->array->length);
    if (!length->is_constant || length->constant.integer > e->options->unroll)
        return false;
    int64_t count = length->constant.integer;
    struct elab_value **all = ARENA_ARRAY(e->arena, struct elab_value *, count);
    for (int64_t k = 0; k < count; k++)
        all[k] = elab_index(e, pairs->array, ir_int(e->builder, k));
    for (int64_t k = 0; k < count; k++)
        take_checked(e, take, context, all[k]);
    return true;
}

static struct push *pairs_at(struct elaborator *e, const struct push *push, struct ir_value *which) {
    return elab_as_push(e, elab_index(e, push->update.pairs, which));
}

bool elab_take_pairs(struct elaborator *e, const struct push *push, struct ir_value *which, elab_take *take,
                     void *context) {
    if (!push->update.is_each) {
        take_checked(e, take, context, elab_index(e, push->update.pairs, which));
        return true;
    }
    struct push *pairs = pairs_at(e, push, which);
    if (take_few(e, pairs, take, context))
        return true;
    struct taking taking = {.writer.write = write_taken, .take = take, .context = context};
    elab_run(e, pairs, &taking.writer);
    return false;
}

/* ---- old values ---- */

struct looking {
    const struct push *push, *other;
    const struct ir_region *around, *body; /* of what is looked at, and nothing else; of the loop over pairs */
    bool finds;
    struct ir_value *each;        /* how many pairs an element makes, where that is known; else NULL */
    ir_values reads, writes;      /* places, in the loop's body */
    bool are_apart, are_distinct; /* no thread reads what another one writes; no two write one place */
};

static void add_place(struct elaborator *e, ir_values *places, struct ir_value *place) {
    for (size_t i = 0; i < places->count; i++)
        if (places->at[i] == place)
            return;
    if (places->count < MOST_PLACES) /* more are not compared */
        vec_push(e->arena, places, place);
}

static void find_reads(struct elaborator *e, struct looking *looking, const struct ir_region *region,
                       size_t leaf_count) {
    const struct pull *array = looking->other->array;
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        for (size_t k = 0; walk.at->kind == IR_LOAD && k < leaf_count; k++) {
            if (walk.at->buffer != array->memory.buffers[k])
                continue;
            looking->finds = true;
            if (ir_region_inside(region, looking->body))
                add_place(e, &looking->reads, walk.at->operands[0]);
        }
}

/* Loops that store nothing are gone when they end, so all that is open here is looked at. */
static void see_pair(struct elaborator *e, void *context, struct elab_value *pair) {
    struct looking *looking = context;
    elab_leaves(e, pair);
    add_place(e, &looking->writes, ir_resolve(e->builder, elab_as_scalar(e, pair->tuple.items[0])));
    base_list bases = elab_bases_of(e, looking->other->update.element);
    for (const struct ir_region *at = ir_current(e->builder); at != looking->around->parent; at = at->parent)
        find_reads(e, looking, at, bases.count);
}

/* In different turns of the loop. */
static bool are_apart(struct elaborator *e, const struct looking *looking, const ir_values *places,
                      const struct ir_value *index) {
    bool good = places->count < MOST_PLACES && looking->writes.count < MOST_PLACES;
    for (size_t k = 0; k < places->count && good; k++)
        for (size_t j = 0; j < looking->writes.count && good; j++)
            good = ir_places_apart(ir_resolve(e->builder, places->at[k]), ir_resolve(e->builder, looking->writes.at[j]),
                                   index, looking->body);
    return good;
}

static void look(struct elaborator *e, void *context) {
    struct looking *looking = context;
    const struct push *push = looking->push;
    looking->around = ir_current(e->builder);
    struct ir_value *i = elab_begin_threads(e, push->level, ir_resolve(e->builder, push->update.pairs->length));
    looking->body = ir_current(e->builder);
    if (push->update.is_each) {
        struct ir_value *each = elab_push_length(e, pairs_at(e, push, i));
        looking->each = each && ir_resolve(e->builder, each)->is_constant ? ir_resolve(e->builder, each) : NULL;
    }
    bool is_read_first = elab_take_pairs(e, push, i, see_pair, looking);
    if (push->level == LEVEL_THREAD || !is_read_first)
        return;
    looking->are_apart = are_apart(e, looking, &looking->reads, i);
    looking->are_distinct = are_apart(e, looking, &looking->writes, i);
}

/* May it read the array while it writes into it? Checks read all pairs once more; and arrays that take turns in one
   piece of memory, as the halves of a loop do, differ by more than bits. */
static bool may_read_old(const struct elaborator *e, const struct push *push, const struct push *other) {
    return push == other && push->kind == PUSH_SCATTER && !push->update.is_over && !elab_checks_all(e) &&
           !other->array->memory.offset;
}

bool elab_may_hold_pairs(struct elaborator *e, const struct push *push) {
    if (!push->update.pairs->length || !elab_upper_bound(e, push->update.pairs->length))
        return false;
    if (!push->update.is_each)
        return true;
    struct ir_value *which = ir_parameter_value(e->builder, BASE_I32, 0, INT32_MAX, NULL);
    struct ir_value *each = elab_push_length(e, pairs_at(e, push, which));
    return each && ir_resolve(e->builder, each)->is_constant;
}

void elab_note_copied(struct elaborator *e, const struct push *push, enum ir_update_kind kind) {
    const struct pull *array = push->array;
    if (e->tries || array->kind != PULL_MEMORY || ir_is_constant_memory(array->memory.buffers[0]))
        return;
    struct span update = push->made_at.end ? push->made_at : push->span;
    ir_note_update(e->kept, e->kernel, (struct ir_update){.kind = kind, .update = update});
}

/* See note [old values]. */
void elab_hold_pairs(struct elaborator *e, struct push *push, const struct push *other) {
    const struct pull *array = other->array;
    if (array->kind != PULL_MEMORY || ir_is_constant_memory(array->memory.buffers[0]) ||
        elab_is_none(e, push->update.pairs->length))
        return;
    struct looking looking = {.push = push, .other = other};
    bool is_seen = elab_try(e, look, &looking);
    if (is_seen ? !looking.finds : !push->update.is_over)
        return;
    if (is_seen && looking.are_apart && may_read_old(e, push, other)) {
        push->update.are_distinct = looking.are_distinct;
        return;
    }
    bool has_room = push->level == LEVEL_GRID || elab_upper_bound(e, push->update.pairs->length);
    if (!has_room || (push->update.is_each && !looking.each)) {
        elab_note_copied(e, push, UPDATE_COPIES_MANY);
        return;
    }
    struct type *items[2] = {&elab_int_type, push->update.element};
    struct type *pair = ARENA_NEW(e->arena, struct type);
    pair->kind = TYPE_TUPLE;
    pair->tuple.items = ARENA_ARRAY(e->arena, struct type *, 2);
    pair->tuple.count = 2;
    for (int k = 0; k < 2; k++)
        pair->tuple.items[k] = items[k];
    struct push *all = elab_push_of_pull(e, push->level, push->update.pairs);
    if (push->update.is_each) {
        all->kind = PUSH_CONCAT;
        all->chunks.level = LEVEL_THREAD;
        all->chunks.size = looking.each;
        push->update.is_each = false;
    }
    push->update.pairs = elab_force(e, all, pair);
}

void elab_begin_start(struct elaborator *e, const struct push *push) {
    ir_set_start(e->builder, push->made_at.end ? push->made_at : push->span);
}

void elab_end_start(struct elaborator *e) { ir_set_start(e->builder, (struct span){0, 0}); }
