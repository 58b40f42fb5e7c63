/* note [stores of pairs]
   Elements of 16 bits that a load has brought two in a register (note [loads by vectors] in
   own_places.c) go to shared memory likewise, by one store of both where they lie in one word. Else
   the device's compiler takes each out of its register and puts the pairs together again, before
   the barrier that the stores wait for: so it waits there for what is being loaded, and not after
   all that the loads were to overlap with.

   A pair's two stores become neighbours, the first and the second of it, at a place that is even,
   whatever it is. A kernel's own array is put at a multiple of 16 bytes for that, so that the device's
   compiler may do with still fewer.

   The gain, in machine code for sm_90 by NVRTC 13.0 (`unitProduct_0` of benchmarks/fcl/matrices.fcl, with the pass and
   with --skip=store-pairs, 2026-11-29): 1,595 instructions for 1,682, 42 stores to shared memory for 46, 90 PRMT for
   121, no spills for 4. */
#include "ir/passes/pass_list.h"
#include "ir/places.h"
#include "ir/passes/rewrite.h"

static bool is_from_pairs(const struct ir_instruction *store) {
    const struct ir_instruction *load = ir_copied(store);
    const struct ir_buffer *buffer = store->buffer;
    return load && load->region == store->region && load->buffer->is_packed && ir_is_plain(store) &&
           buffer->memory == MEMORY_SHARED && buffer->owner == LEVEL_BLOCK && base_info[buffer->element].bits == 16 &&
           buffer->capacity->is_constant;
}

/* Is b's place the one behind a's, which is even? Sums may be too deep to be taken apart from the top. */
static bool is_pair(const struct ir_instruction *a, const struct ir_instruction *b) {
    const struct ir_instruction *sum = b->operands[0]->definition;
    bool is_said = sum && sum->kind == IR_OPERATION && sum->op == OP_ADD && sum->operands[0] == a->operands[0] &&
                   sum->operands[1]->is_constant && sum->operands[1]->constant.integer == 1;
    struct linear at;
    int64_t distance;
    return linear_expand(a->operands[0], &at) && linear_twos(&at) != 1 &&
           (is_said || (linear_distance(a->operands[0], b->operands[0], &distance) && distance == 1));
}

/* The next store, if nothing before it touches more than registers. */
static size_t next_store(const struct ir_region *region, size_t i) {
    for (i++; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        bool is_load = at->kind == IR_LOAD && at->buffer->memory == MEMORY_PRIVATE;
        if (is_from_pairs(at))
            return i;
        if (at->kind != IR_OPERATION && !is_load)
            break;
    }
    return region->instructions.count;
}

/* The second's value may be loaded right before it: it is loaded after the first store, and nothing else between
   uses it. */
static bool may_move(const struct ir_region *region, size_t a, size_t b) {
    const struct ir_instruction *load = region->instructions.at[b]->operands[1]->definition;
    bool is_between = false;
    for (size_t i = a + 1; i < b; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        is_between |= at == load;
        for (size_t k = 0; k < at->operand_count; k++)
            if (at->operands[k] == load->results[0])
                return false;
    }
    return is_between;
}

struct pairing {
    struct arena *arena;
    struct ir_kernel *kernel;
};

/* Leaves nothing between the two but the second's place, as a sum with the first's, and the value that it
   stores: both are then in its text. */
static void pair_up(const struct pairing *p, struct ir_region *region, struct ir_instruction *a,
                    struct ir_instruction *b) {
    struct ir_instruction *load = b->operands[1]->definition;
    struct ir_region fresh = {0};
    struct rewriter rewriter = {p->arena, p->kernel, &fresh, b};
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *at = region->instructions.at[i];
        if (at == a || at == load)
            continue;
        if (at == b) {
            struct ir_value *one = rewrite_constant(&rewriter, a->operands[0]->base, 1);
            vec_push(p->arena, &fresh.instructions, a);
            b->operands[0] = rewrite_operation(&rewriter, OP_ADD, a->operands[0], one);
            vec_push(p->arena, &fresh.instructions, load);
        }
        vec_push(p->arena, &fresh.instructions, at);
    }
    region->instructions = fresh.instructions;
    IR_PART(a, store).of_pair = 1;
    IR_PART(b, store).of_pair = 2;
    a->buffer->has_pairs = true;
}

static void find_pairs(const struct pairing *p, struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *a = region->instructions.at[i];
        size_t k = is_from_pairs(a) ? next_store(region, i) : region->instructions.count;
        struct ir_instruction *b = k < region->instructions.count ? region->instructions.at[k] : NULL;
        if (b && a->buffer == b->buffer && is_pair(a, b) && may_move(region, i, k)) {
            pair_up(p, region, a, b);
            p->kernel->changes++;
            i = k;
        }
    }
}

void pass_store_pairs(struct arena *arena, struct ir_kernel *kernel) {
    const struct pairing p = {arena, kernel};
    find_pairs(&p, kernel->body);
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        for (int r = 0; r < 2; r++)
            if (walk.at->regions[r])
                find_pairs(&p, walk.at->regions[r]);
}
