/* Where all elements of an array are one value, that value is taken in place of what is loaded. A
   `replicate` that is forced is such an array, and so is what is the same in all pairs of an update
   (note [old values] in elaborate/updates.c). The array goes with its stores, which nothing reads
   then (pass_dce).

   The value must be the same for as long as the array lives: it is computed around the place where
   the array comes to life, or beside it. An element that was not stored to is never read, so where
   one is loaded the value is known. */
#include "ir/passes/pass_list.h"

#include "ir/passes/rewrite.h"
#include "ir/walk.h"
#include "support/map.h"

struct array {
    struct ir_value *value;              /* of all elements that have been stored; NULL: none has */
    const struct ir_instruction *begins; /* its ALLOCATE */
    bool is_out;                         /* something else is done to it, or elements differ */
};

struct alike {
    struct arena *arena;
    struct map *arrays; /* ir_buffer → array */
};

static struct array *array_of(struct alike *a, const struct ir_buffer *buffer) {
    struct array *array = map_get(a->arrays, buffer);
    if (!array) {
        array = ARENA_NEW(a->arena, struct array);
        map_set(a->arrays, buffer, array);
    }
    return array;
}

static bool is_same(const struct ir_value *x, const struct ir_value *y) {
    return x->base == y->base && ir_is_same(x, y);
}

static bool is_within(const struct ir_region *region, const struct ir_instruction *loop) {
    while (region && region->owner != loop)
        region = region->parent;
    return region;
}

static bool is_known_in(const struct ir_region *region, const struct ir_value *value) {
    if (!value->definition) /* a constant, or a parameter of the kernel or of a loop, which has two regions */
        return !value->region || is_within(region, value->region->owner);
    return ir_region_inside(region, value->region);
}

static void look(struct alike *a, struct ir_instruction *instruction) {
    if (!instruction->buffer)
        return;
    struct array *array = array_of(a, instruction->buffer);
    switch (instruction->kind) {
    case IR_ALLOCATE:
        array->is_out |= array->begins || instruction->buffer->is_zeroed;
        array->begins = instruction;
        break;
    case IR_STORE: {
        struct ir_value *value = instruction->operands[1];
        array->is_out |= instruction->is_volatile || !array->begins || (array->value && !is_same(array->value, value));
        array->is_out = array->is_out || !is_known_in(array->begins->region, value);
        array->value = value;
        break;
    }
    case IR_LOAD: array->is_out |= instruction->is_volatile; break;
    case IR_SWAP: array_of(a, IR_PART(instruction, swap).other)->is_out = true; /* fall through */
    default: array->is_out = true;
    }
}

static bool stays(void *context, struct ir_instruction *instruction) {
    (void)context;
    return !instruction->marked;
}

void pass_alike(struct arena *arena, struct ir_kernel *kernel) {
    struct alike a = {arena, map_new(arena)};
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        look(&a, walk.at);
    struct replacements replaced = rewrite_begin(arena, kernel);
    bool any = false;
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk)) {
        const struct array *array = walk.at->kind == IR_LOAD ? map_get(a.arrays, walk.at->buffer) : NULL;
        /* The host's may be a result or a length, which are no operands. Of two branches on one
           condition, the second may read what the first has made. */
        walk.at->marked = array && !array->is_out && array->value && walk.region->ambient != LEVEL_GRID &&
                          is_known_in(walk.region, array->value);
        if (!walk.at->marked)
            continue;
        rewrite_set(&replaced, walk.at->results[0], array->value);
        any = true;
    }
    if (!any)
        return;
    rewrite_replace(kernel->body, &replaced);
    rewrite_keep(kernel->body, stays, NULL);
}
