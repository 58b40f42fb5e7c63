/* What the updates `scatter` and `reduceByIndex` have in common.

   note [old values]
   An update may write into the array that it starts from (note [updates] in ir/reuse.c), and its
   pairs see that array as it was. So pairs that read it are computed first and stored, which takes
   as much memory as there are pairs. Where an element makes as many pairs as it likes, there is no
   place for them: then the array is copied, as the pairs use it while it is updated. */
#include "elaborate/value.h"
#include "ir/walk.h"

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

void elab_take_pairs(struct elaborator *e, const struct push *push, struct ir_value *which, elab_take *take,
                     void *context) {
    if (!push->update.is_each) {
        take_checked(e, take, context, elab_index(e, push->update.pairs, which));
        return;
    }
    struct push *pairs = pairs_at(e, push, which);
    if (take_few(e, pairs, take, context))
        return;
    struct taking taking = {.writer.write = write_taken, .take = take, .context = context};
    elab_run(e, pairs, &taking.writer);
}

/* ---- old values ---- */

struct looking {
    const struct push *push, *other;
    const struct ir_region *around; /* of what is looked at, and nothing else */
    bool finds;
    struct ir_value *each; /* how many pairs an element makes, where that is known; else NULL */
};

static bool is_read(const struct ir_region *region, const struct pull *array, size_t leaf_count) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        for (size_t k = 0; walk.at->kind == IR_LOAD && k < leaf_count; k++)
            if (walk.at->buffer == array->memory.buffers[k])
                return true;
    return false;
}

/* Loops that store nothing are gone when they end, so all that is open here is looked at. */
static void see_pair(struct elaborator *e, void *context, struct elab_value *pair) {
    struct looking *looking = context;
    elab_leaves(e, pair);
    base_list bases = elab_bases_of(e, looking->other->update.element);
    for (const struct ir_region *at = ir_current(e->builder); at != looking->around->parent; at = at->parent)
        looking->finds |= is_read(at, looking->other->array, bases.count);
}

static void look(struct elaborator *e, void *context) {
    struct looking *looking = context;
    const struct push *push = looking->push;
    looking->around = ir_current(e->builder);
    struct ir_value *i = elab_begin_threads(e, push->level, ir_resolve(e->builder, push->update.pairs->length));
    if (push->update.is_each) {
        struct ir_value *each = elab_push_length(e, pairs_at(e, push, i));
        looking->each = each && ir_resolve(e->builder, each)->is_constant ? ir_resolve(e->builder, each) : NULL;
    }
    elab_take_pairs(e, push, i, see_pair, looking);
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
