/* Finds arrays that are stored for nothing: each element is read once, by the thread that wrote
   it. Nothing is changed here: later passes may keep such elements in registers, and the
   programmer is told (kernel->rereads).

   A thread is the iteration of a parallel loop: the array is stored by one such loop and read by
   one behind it in the same region, with as many iterations, each of which touches the element of
   its own index, and that once. */
#include "ir/passes/pass_list.h"
#include "ir/places.h"

/* The iteration of a parallel loop that touches the element of its own index, and once; or NULL. */
static const struct ir_instruction *own_loop(const struct ir_instruction *at) {
    const struct ir_instruction *owner = at->region->owner;
    while (owner && owner->kind == IR_IF)
        owner = owner->region->owner;
    bool is_own = owner && owner->kind == IR_FORALL && owner->inner == LEVEL_THREAD && ir_is_access(at) &&
                  !at->is_volatile && at->operands[0] == owner->parameters[0];
    return is_own ? owner : NULL;
}

static bool is_read_once(const struct ir_touched *touched) {
    if (touched->buffer->is_result || ir_is_constant_memory(touched->buffer) || touched->all.count != 2 ||
        touched->all.at[0]->kind == touched->all.at[1]->kind)
        return false;
    const struct ir_instruction *first = own_loop(touched->all.at[0]), *second = own_loop(touched->all.at[1]);
    return first && second && first != second && first->region == second->region && first->outer == second->outer &&
           first->operands[0] == second->operands[0];
}

/* Where one `force` stores several arrays, as those of a tuple's components, their readers may
   share what it has computed. In a branch each, they are the same array of whole chunks and of the
   last one: then it must be stored for nothing in both, and the message comes once. */
static bool is_needless(const struct ir_places *places, size_t index) {
    const struct ir_touched *touched = places->all.at[index];
    if (!touched->buffer->is_plain || !is_read_once(touched))
        return false;
    struct span span = touched->buffer->span;
    const struct ir_region *region = own_loop(touched->all.at[0])->region;
    for (size_t i = 0; i < places->all.count; i++) {
        const struct ir_touched *other = places->all.at[i];
        bool is_same = other->buffer->span.begin == span.begin && other->buffer->span.end == span.end;
        if (i != index && other->all.count > 0 && is_same &&
            (i < index || !is_read_once(other) || own_loop(other->all.at[0])->region == region))
            return false;
    }
    return true;
}

void pass_rereads(struct arena *arena, struct ir_kernel *kernel) {
    const struct ir_places places = ir_places(arena, kernel->body);
    for (size_t i = 0; i < places.all.count; i++)
        if (is_needless(&places, i)) {
            vec_push(arena, &kernel->rereads, places.all.at[i]->buffer->span);
            kernel->changes++;
        }
}
