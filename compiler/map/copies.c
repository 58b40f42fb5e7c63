/* note [copies by 16 bytes]
   A block that fills a shared array from global memory, or writes one back, is asked for elements one
   by one: of 4 bytes, four times the loads and stores that there need be. Where all elements of a
   loop are copied, and their places are next to each other on both sides, its threads copy 16 bytes
   each at a time, if all have as many such pieces. Whether global memory begins at a multiple of 16
   is seen when it runs: one that does not, as a part of a larger array, is copied element by element
   as before.

   Another thread copies element i then than the one that does iteration i of other loops: barriers are
   placed for that (barrier.c). */
#include "ir/machine.h"
#include "map/lower.h"

enum { PIECE_BYTES = 16, MOST_COPIES = 4 };

/* What is added to the index: *added, NULL where it is nothing. False: the place is not such a sum. */
static bool take_index(const struct ir_region *body, struct ir_value *place, const struct ir_value *index,
                       struct ir_value **added) {
    const struct ir_instruction *sum = place->definition;
    *added = NULL;
    if (place == index)
        return true;
    if (!sum || sum->kind != IR_OPERATION || sum->op != OP_ADD || sum->region != body)
        return false;
    for (int k = 0; k < 2; k++) {
        *added = sum->operands[!k];
        bool is_outside = (*added)->is_constant || !(*added)->region || !ir_region_inside((*added)->region, body);
        if (sum->operands[k] == index && is_outside)
            return true;
    }
    return false;
}

static bool is_copied(const struct ir_instruction *store, const struct ir_value *index) {
    const struct ir_instruction *load = ir_copied(store);
    struct ir_value *added;
    if (!load || load->region != store->region || !ir_is_plain(load) || !ir_is_plain(store) ||
        load->buffer->element != store->buffer->element)
        return false;
    enum ir_memory from = load->buffer->memory, to = store->buffer->memory;
    bool fills = (from == MEMORY_INPUT || from == MEMORY_OUTPUT) && to == MEMORY_SHARED;
    bool empties = from == MEMORY_SHARED && to == MEMORY_OUTPUT;
    return (fills || empties) && take_index(store->region, load->operands[0], index, &added) &&
           take_index(store->region, store->operands[0], index, &added);
}

bool copies_by_pieces(const struct map_options *options, int threads, const struct ir_instruction *forall) {
    if (!pass_wanted(options->passes, PASS_COPIES) || forall->kind != IR_FORALL || forall->inner != LEVEL_THREAD ||
        forall->outer == LEVEL_GRID || forall->buffer || !forall->operands[0]->is_constant)
        return false;
    int64_t count = forall->operands[0]->constant.integer;
    const struct ir_region *body = forall->regions[0];
    int copies = 0, loads = 0;
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct ir_instruction *instruction = body->instructions.at[i];
        if (instruction->kind == IR_LOAD) {
            loads++;
        } else if (instruction->kind == IR_STORE) {
            int64_t bytes = count * (int64_t)target_element_bytes(instruction->buffer->element);
            if (bytes % ((int64_t)PIECE_BYTES * threads) != 0 || bytes > (int64_t)GPU_COPIED * threads ||
                !is_copied(instruction, forall->parameters[0]))
                return false;
            copies++;
        } else if (instruction->kind != IR_OPERATION) {
            return false;
        }
    }
    return copies > 0 && copies == loads && copies <= MOST_COPIES && count % threads == 0;
}

static struct target_expr *begin_of(struct lowering *l, const struct ir_region *body, struct ir_value *place,
                                    const struct ir_value *index) {
    struct ir_value *added;
    take_index(body, place, index, &added);
    return added ? lower_value(l, added) : expr_integer(l, BASE_I32, 0);
}

void copies_lower(struct lowering *l, const struct ir_instruction *forall, int threads, enum target_hardware first) {
    pass_changed(l->options->passes, PASS_COPIES);
    const struct ir_region *body = forall->regions[0];
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct ir_instruction *store = body->instructions.at[i], *load = ir_copied(store);
        if (!load)
            continue;
        struct target_statement *copy = lower_emit(l, TARGET_COPY);
        copy->array = lower_array(l, store->buffer);
        copy->index = begin_of(l, body, store->operands[0], forall->parameters[0]);
        struct target_array *from = lower_array(l, load->buffer);
        copy->value = expr_element(l, from->element, from, begin_of(l, body, load->operands[0], forall->parameters[0]));
        copy->limit = expr_hardware(l, first);
        copy->copied = forall->operands[0]->constant.integer;
        copy->threads = threads;
    }
}
