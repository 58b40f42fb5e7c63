/* The cursor over instructions. */
#include "ir/walk.h"

struct ir_walk ir_walk(const struct ir_region *region) {
    struct ir_walk walk = {.region = region};
    ir_next(&walk);
    return walk;
}

struct ir_walk ir_walk_of(const struct ir_instruction *instruction) {
    return (struct ir_walk){.at = (struct ir_instruction *)instruction};
}

static void enter(struct ir_walk *walk) {
    if (walk->depth < IR_WALK_KEPT) {
        walk->around[walk->depth].region = walk->region;
        walk->around[walk->depth].next = walk->next;
    }
    walk->depth++;
    walk->region = walk->at->regions[0];
    walk->next = 0;
}

/* At the end of a region: to the other one of its owner, or behind the owner. */
static void leave(struct ir_walk *walk) {
    const struct ir_instruction *owner = walk->region->owner;
    if (walk->region == owner->regions[0] && owner->regions[1]) {
        walk->region = owner->regions[1];
        walk->next = 0;
    } else if (--walk->depth < IR_WALK_KEPT) {
        walk->region = walk->around[walk->depth].region;
        walk->next = walk->around[walk->depth].next;
    } else {
        walk->region = owner->region;
        walk->next = 1;
        while (walk->region->instructions.at[walk->next - 1] != owner)
            walk->next++;
    }
}

void ir_next(struct ir_walk *walk) {
    if (walk->at && walk->at->regions[0] && !walk->goes_around)
        enter(walk);
    walk->goes_around = false;
    while (walk->depth && walk->next == walk->region->instructions.count)
        leave(walk);
    bool is_end = !walk->region || walk->next == walk->region->instructions.count;
    walk->at = is_end ? NULL : walk->region->instructions.at[walk->next++];
}

struct ir_value **ir_taken(const struct ir_instruction *instruction, size_t i) {
    if (i < instruction->operand_count)
        return &instruction->operands[i];
    i -= instruction->operand_count;
    for (int r = 0; r < 2 && instruction->regions[r]; r++) {
        const ir_values *yields = &instruction->regions[r]->yields;
        if (i < yields->count)
            return &yields->at[i];
        i -= yields->count;
    }
    return NULL;
}
