/* note [stores of pairs]
   Elements of 16 bits that a load has brought two in a register (note [loads by vectors] in
   own_places.c) go to shared memory likewise, by one store of both where they lie in one word. Else
   the device's compiler takes each out of its register and puts the pairs together again, before
   the barrier that the stores wait for: so it waits there for what is being loaded, and not after
   all that the loads were to overlap with.

   A pair's two stores become neighbours, the first and the second of it, at a place that is even,
   whatever it is. A kernel's own array is put at a multiple of 4 bytes for that. */
#include "ir/linear.h"
#include "ir/pass_list.h"
#include "ir/walk.h"

static bool is_from_pairs(const struct ir_instruction *store) {
    const struct ir_buffer *buffer = store->buffer;
    const struct ir_instruction *load = store->operands[1]->definition;
    bool may_be = buffer->memory == MEMORY_SHARED && buffer->owner == LEVEL_BLOCK &&
                  base_info[buffer->element].bits == 16 && buffer->capacity->is_constant;
    return may_be && !store->is_volatile && !store->again && !IR_PART(store, store).may_meet && load &&
           load->kind == IR_LOAD && load->region == store->region && load->buffer->is_packed;
}

static bool is_even(const struct linear *sum) {
    int64_t bits = sum->constant;
    for (size_t i = 0; i < sum->count; i++)
        bits |= sum->term[i].coefficient;
    return bits % 2 == 0;
}

/* Is b's place the one behind a's, which is even? */
static bool is_pair(const struct ir_instruction *a, const struct ir_instruction *b) {
    struct linear at, next;
    return linear_expand(a->operands[0], &at) && is_even(&at) && linear_expand(b->operands[0], &next) &&
           linear_add(&next, &at, -1) && next.count == 0 && next.constant == 1;
}

/* The next store, if nothing before it touches more than registers. */
static size_t next_store(const struct ir_region *region, size_t i) {
    for (i++; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        bool is_load = at->kind == IR_LOAD && at->buffer->memory == MEMORY_PRIVATE;
        if (at->kind == IR_STORE && is_from_pairs(at))
            return i;
        if (at->kind != IR_OPERATION && !is_load)
            break;
    }
    return region->instructions.count;
}

/* The instruction at i goes before the one at k, behind it. */
static void move_down(struct ir_region *region, size_t i, size_t k) {
    struct ir_instruction *moved = region->instructions.at[i];
    for (; i + 1 < k; i++)
        region->instructions.at[i] = region->instructions.at[i + 1];
    region->instructions.at[i] = moved;
}

static size_t position_of(const struct ir_region *region, const struct ir_instruction *instruction) {
    size_t i = 0;
    while (region->instructions.at[i] != instruction)
        i++;
    return i;
}

/* So that nothing is left between them but what the second stores, which its text then has in it. */
static void pair_up(struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *a = region->instructions.at[i];
        size_t k = a->kind == IR_STORE && is_from_pairs(a) ? next_store(region, i) : region->instructions.count;
        struct ir_instruction *b = k < region->instructions.count ? region->instructions.at[k] : NULL;
        if (!b || a->buffer != b->buffer || !is_pair(a, b))
            continue;
        move_down(region, i, k);
        move_down(region, position_of(region, b->operands[1]->definition), k);
        i = k;
        IR_PART(a, store).of_pair = 1;
        IR_PART(b, store).of_pair = 2;
        a->buffer->has_pairs = true;
    }
}

void pass_store_pairs(struct arena *arena, struct ir_kernel *kernel) {
    (void)arena;
    pair_up(kernel->body);
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        for (int r = 0; r < 2; r++)
            if (walk.at->regions[r])
                pair_up(walk.at->regions[r]);
}
