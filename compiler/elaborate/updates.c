/* What the updates `scatter` and `reduceByIndex` have in common.

   note [old values]
   An update may write into the array that it starts from (note [updates] in ir/reuse.c), and its pairs see that array as it was.
   So pairs that read it are computed first and stored, which takes as much memory as there are pairs. */
#include "elaborate/value.h"

struct looking {
    const struct push *push, *other;
    bool finds;
};

static bool is_read(const struct ir_region *region, const struct pull *array, size_t leaf_count) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        for (size_t k = 0; instruction->kind == IR_LOAD && k < leaf_count; k++)
            if (instruction->buffer == array->memory.buffers[k])
                return true;
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r] && is_read(instruction->regions[r], array, leaf_count))
                return true;
    }
    return false;
}

static void look(struct elaborator *e, void *context) {
    struct looking *looking = context;
    const struct push *push = looking->push;
    struct ir_value *i = elab_begin_threads(e, push->level, ir_resolve(e->builder, push->pairs->length));
    ir_values leaves = {0};
    elab_flatten(e, elab_index(e, push->pairs, i), &leaves);
    base_list bases = {0};
    elab_leaf_bases(e, looking->other->element, &bases);
    looking->finds = is_read(ir_current(e->builder), looking->other->array, bases.count);
}

void elab_hold_pairs(struct elaborator *e, struct push *push, const struct push *other) {
    const struct pull *array = other->array;
    if (array->kind != PULL_MEMORY || ir_is_constant_memory(array->memory.buffers[0]) ||
        elab_is_none(e, push->pairs->length) || (push->level < LEVEL_GRID && !elab_upper_bound(e, push->pairs->length)))
        return;
    struct looking looking = {.push = push, .other = other};
    if (!elab_try(e, look, &looking) || !looking.finds)
        return;
    struct type *items[2] = {&elab_int_type, push->element};
    struct type *pair = ARENA_NEW(e->arena, struct type);
    pair->kind = TYPE_TUPLE;
    pair->tuple.items = ARENA_ARRAY(e->arena, struct type *, 2);
    pair->tuple.count = 2;
    for (int k = 0; k < 2; k++)
        pair->tuple.items[k] = items[k];
    push->pairs = elab_force(e, elab_push_of_pull(e, push->level, push->pairs), pair);
}

void elab_begin_start(struct elaborator *e, const struct push *push) {
    ir_set_starts(e->builder, true);
    ir_set_span(e->builder, push->maker.end ? push->maker : push->span);
}

void elab_end_start(struct elaborator *e) {
    ir_set_starts(e->builder, false);
    ir_set_span(e->builder, e->span);
}
