/* lanes: an array of a warp whose elements every lane stores and loads for itself needs no memory that lanes share, and no
   barriers: each lane has a variable. What goes from lane to lane goes by shuffles then. */
#include "map/lower.h"

/* Does the lane that comes to it access its own element? */
static bool is_own(const struct lowering *l, const struct ir_instruction *access) {
    const struct ir_value *index = access->operands[0];
    const struct ir_region *region = access->region;
    while (region->owner && !(region->owner->kind == IR_FORALL && region->owner->inner == LEVEL_THREAD))
        region = region->owner->region;
    const struct ir_instruction *forall = region->owner;
    if (!forall || forall->outer != LEVEL_WARP)
        return false;
    const struct ir_value *count = forall->operands[0];
    if (!count->is_constant || count->constant.integer > l->kernel->warp_size)
        return false;
    bool is_first = count->constant.integer == 1 && index->is_constant && index->constant.integer == 0;
    return is_first || index == forall->parameters[0];
}

static bool is_variable(const struct lowering *l, const struct extent *extent) {
    const struct ir_buffer *buffer = extent->buffer;
    if (buffer->memory != MEMORY_SHARED || buffer->owner != LEVEL_WARP || buffer->rewritten)
        return false;
    for (size_t i = 0; i < extent->accesses.count; i++) {
        const struct ir_instruction *access = extent->accesses.at[i];
        if ((access->kind != IR_LOAD && access->kind != IR_STORE) || access->is_volatile || !is_own(l, access))
            return false;
    }
    return true;
}

/* `l->lanes`: the buffers of warps that are variables. */
void lanes_find(struct lowering *l) {
    for (size_t i = 0; i < l->extents->all.count; i++) {
        const struct extent *extent = l->extents->all.at[i];
        if (!is_variable(l, extent))
            continue;
        struct target_variable *variable = ARENA_NEW(l->arena, struct target_variable);
        variable->base = extent->buffer->element;
        variable->is_mutable = true;
        map_set(l->lanes, extent->buffer, variable);
        for (size_t k = 0; k < extent->accesses.count; k++) { /* nobody needs to know the lane for it */
            const struct ir_instruction *access = extent->accesses.at[k];
            struct value_use *use = &l->uses[access->operands[0]->id];
            bool is_dead = access->kind == IR_LOAD && !l->uses[access->results[0]->id].count;
            if (use->count && !is_dead)
                use->count--;
        }
    }
}

/* Is there one store, by all lanes, before all else? Then it may declare the variable. */
static bool is_stored_first(const struct lowering *l, const struct extent *extent) {
    const struct ir_value *count = extent->first->kind == IR_FORALL ? extent->first->operands[0] : NULL;
    if (!count || !count->is_constant || count->constant.integer != l->kernel->warp_size)
        return false;
    for (size_t i = 0; i < extent->accesses.count; i++) {
        const struct ir_instruction *access = extent->accesses.at[i];
        if ((access->kind == IR_STORE) != (i == 0) || (i == 0 && access->region != extent->first->regions[0]))
            return false;
    }
    return true;
}

void lanes_declare(struct lowering *l, const struct extent *extent) {
    struct target_variable *variable = map_get(l->lanes, extent->buffer);
    variable->name = names_fresh(l->names, extent->buffer->name, "own");
    l->target->uses_double |= variable->base == BASE_F64;
    variable->is_mutable = !is_stored_first(l, extent);
    if (variable->is_mutable)
        lower_emit(l, TARGET_DECLARE)->variable = variable;
}
