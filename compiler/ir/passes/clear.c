/* clear: an array that a launch fills with zeros, for others to change, begins as zeros instead. The
   launch is saved where it does nothing else, as before sums by index and before the counts of a
   sort: the runtime cuts small arrays from memory that it has cleared before (runtime/buffers.c),
   and the driver clears large ones and results. */
#include "ir/passes/pass_list.h"

#include "ir/places.h"
#include "ir/passes/rewrite.h"

/* A store of zero to each element of its array, by a launch of a thread for each. */
static bool is_clearing(const struct ir_instruction *store, const struct ir_instruction *launch) {
    const struct ir_buffer *buffer = store->buffer;
    return store->kind == IR_STORE && !store->is_volatile && buffer->memory == MEMORY_OUTPUT && buffer->rewritten &&
           !buffer->is_swapped && !buffer->is_said && store->operands[0] == launch->parameters[0] &&
           store->operands[1]->is_constant &&
           store->operands[1]->constant.integer == 0 && /* the bits of a float, too */
           ir_is_same(buffer->capacity, launch->operands[0]);
}

/* Does it come to life in this region, and nothing touch it before the i-th instruction? */
static bool is_fresh(const struct ir_region *region, size_t i, const struct ir_buffer *buffer) {
    for (size_t k = 0; k < i; k++)
        if (ir_touch_in(region->instructions.at[k], buffer))
            return false;
    const struct ir_instruction *made = ir_made_in(region, buffer);
    return made && ir_position(region, made) < i;
}

/* Leaves the launch without the stores that clear. */
static void clear_ahead(struct ir_kernel *kernel, const struct ir_region *region, size_t i) {
    struct ir_region *body = region->instructions.at[i]->regions[0];
    for (size_t k = 0; k < body->instructions.count; k++) {
        struct ir_instruction *store = body->instructions.at[k];
        if (!is_clearing(store, region->instructions.at[i]) || !is_fresh(region, i, store->buffer))
            continue;
        bool is_touched = false; /* by the launch itself, else */
        for (size_t j = 0; j < body->instructions.count; j++)
            is_touched |= j != k && ir_touch_in(body->instructions.at[j], store->buffer);
        if (is_touched)
            continue;
        store->buffer->is_zeroed = true;
        store->marked = true;
        kernel->changes++;
    }
}

static bool stays(void *context, struct ir_instruction *instruction) {
    (void)context;
    bool is_launch = instruction->kind == IR_FORALL && instruction->outer == LEVEL_GRID;
    return !instruction->marked && (!is_launch || instruction->regions[0]->instructions.count > 0);
}

void pass_clear(struct arena *arena, struct ir_kernel *kernel) {
    (void)arena;
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        walk.at->marked = false;
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_FORALL && walk.at->outer == LEVEL_GRID && walk.at->inner == LEVEL_THREAD)
            clear_ahead(kernel, walk.region, walk.next - 1);
    rewrite_keep(kernel->body, stays, NULL);
}
