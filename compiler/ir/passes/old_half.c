/* note [old halves]
   A loop carries the place p of the half that a step reads, and writes the other one (note [in
   place] in ir/passes/in_place.c). Where a step copies that half into an array of its own to update it, as
   in `force (scatter state pairs)`, and uses the half no more, the array can lie in it: p + i for
   element i. The copy then stores each element where it is, and goes. */
#include "ir/passes/old_half.h"

#include "ir/places.h"
#include "ir/passes/rewrite.h"

struct lending {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_value *place, *next; /* p, and that of the other half */
    struct ir_buffer *half, *own;  /* own: goes into the half */
};

/* Is that the place of the old half and i? */
static bool is_place_of(const struct lending *l, struct ir_value *at, const struct ir_value *i) {
    struct linear sum;
    return linear_expand(at, &sum) && sum.count == 2 && sum.constant == 0 && linear_coefficient(&sum, l->place) == 1 &&
           linear_coefficient(&sum, i) == 1;
}

/* In the other half, which no place of the old one is in. */
static bool is_in_other(const struct lending *l, struct ir_value *at) {
    struct linear sum, other;
    return linear_expand(at, &sum) && linear_expand(l->next, &other) && linear_add(&sum, &other, -1) &&
           linear_coefficient(&sum, l->place) == 0;
}

/* The store of a loop that copies element i of the half to element i of an array that is updated. */
static struct ir_instruction *find_copy(struct lending *l, const struct ir_instruction *copy) {
    const struct ir_region *body = copy->regions[0];
    for (size_t i = 0; i < body->instructions.count; i++) {
        struct ir_instruction *store = body->instructions.at[i];
        const struct ir_instruction *load = ir_copied(store);
        if (load && IR_PART(store, store).is_start && load->region == body && !load->is_volatile &&
            store->operands[0] == copy->parameters[0] && is_place_of(l, load->operands[0], copy->parameters[0])) {
            l->half = load->buffer;
            l->own = store->buffer;
            return store;
        }
    }
    return NULL;
}

/* Has the half room for all of the array? */
static bool has_room(const struct lending *l) {
    const struct ir_buffer *half = l->half, *own = l->own;
    struct linear room, wanted;
    if (half->memory != own->memory || half->owner != own->owner || half->element != own->element ||
        (half->memory != MEMORY_SHARED && half->memory != MEMORY_PRIVATE) || own->is_packed != half->is_packed ||
        !own->capacity || !linear_expand(l->next, &room) || linear_take(&room, l->place) != -1 ||
        !linear_expand(own->capacity, &wanted))
        return false;
    return linear_add(&room, &wanted, -1) && room.count == 0 && room.constant >= 0;
}

/* Is the copy the first that touches the array, and the last that touches the half? */
static bool is_lent(const struct lending *l, const struct ir_region *step, const struct ir_instruction *copy,
                    const struct ir_instruction *store) {
    bool is_made = false, is_behind = false;
    for (size_t i = 0; i < step->instructions.count; i++) {
        const struct ir_instruction *instruction = step->instructions.at[i];
        if (instruction->kind == IR_ALLOCATE && instruction->buffer == l->own) {
            is_made = true;
            continue;
        }
        for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk)) {
            bool is_own = walk.at->buffer == l->own, is_half = walk.at->buffer == l->half;
            if ((is_own || is_half) && !ir_touches_element(walk.at))
                return false;
            if (is_own && walk.at != store && !is_behind)
                return false;
            if (is_half && is_behind && !is_in_other(l, walk.at->operands[0]))
                return false;
        }
        is_behind |= instruction == copy;
    }
    return is_made;
}

static void put_in_half(void *context, struct ir_region *to, struct ir_instruction *instruction) {
    const struct lending *l = context;
    if (instruction->buffer == l->own && instruction->kind == IR_ALLOCATE)
        return;
    if (instruction->buffer == l->own) {
        instruction->buffer = l->half;
        struct rewriter rewriter = {l->arena, l->kernel, to, instruction};
        instruction->operands[0] = rewrite_operation(&rewriter, OP_ADD, l->place, instruction->operands[0]);
    }
    vec_push(l->arena, &to->instructions, instruction);
}

void ir_lend_halves(struct arena *arena, struct ir_kernel *kernel, const struct ir_instruction *loop,
                    struct ir_value *place, struct ir_value *next) {
    struct lending l = {.arena = arena, .kernel = kernel, .place = place, .next = next};
    struct ir_region *step = loop->regions[loop->kind == IR_WHILE];
    for (size_t i = 0; i < step->instructions.count; i++) {
        const struct ir_instruction *copy = step->instructions.at[i];
        if ((copy->kind != IR_FORALL || copy->inner != LEVEL_THREAD || copy->buffer) &&
            (copy->kind != IR_FOR || copy->result_count > 0))
            continue;
        const struct ir_instruction *store = find_copy(&l, copy);
        if (!store || !has_room(&l) || !is_lent(&l, step, copy, store))
            continue;
        rewrite_each(step, put_in_half, &l);
        rewrite_forget(kernel, l.own);
        kernel->changes++;
        i = (size_t)-1; /* other instructions are there now */
    }
}
