/* How often each value is used in a device kernel, and which operations and loads are printed inside their only user
   instead of getting a name. */
#include "map/lower.h"

static void count_operand(struct value_use *uses, const struct ir_value *value, const struct ir_instruction *user,
                          const struct ir_region *region) {
    struct value_use *use = &uses[value->id];
    use->count++;
    use->user = user;
    use->region = region;
}

/* Backwards, so that an operation that only dead ones use is dead itself. */
static void count_region(struct value_use *uses, const struct ir_kernel *kernel, const struct ir_region *region) {
    for (size_t i = 0; i < region->yields.count; i++)
        count_operand(uses, region->yields.at[i], NULL, region);
    for (size_t i = region->instructions.count; i-- > 0;) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        bool is_pure = instruction->kind == IR_OPERATION || instruction->kind == IR_LOAD;
        if (is_pure && !uses[instruction->results[0]->id].count)
            continue;
        for (size_t r = 0; r < 2; r++)
            if (instruction->regions[r])
                count_region(uses, kernel, instruction->regions[r]);
        int64_t distance;
        bool is_near =
            instruction->kind == IR_SHUFFLE && exchange_of(kernel, instruction, &distance) != TARGET_EXCHANGE_AT;
        for (size_t k = 0; k < (is_near ? 1 : instruction->operand_count); k++)
            count_operand(uses, instruction->operands[k], instruction, region);
    }
}

struct value_use *uses_count(struct arena *arena, const struct ir_kernel *kernel, const struct ir_instruction *forall) {
    struct value_use *uses = ARENA_ARRAY(arena, struct value_use, kernel->value_count + 1);
    count_region(uses, kernel, forall->regions[0]);
    return uses;
}

/* Used once, in the region it is computed in. */
static bool has_one_user_here(const struct value_use *uses, const struct ir_instruction *instruction) {
    const struct value_use *use = &uses[instruction->results[0]->id];
    return use->count == 1 && use->region == instruction->region;
}

/* note [loads inside expressions]
   A load printed inside its user happens where the user is printed, so nothing that stores, and no barrier, may come
   between. Above ambient thread barriers fall between instructions, so there every load gets its own statement. */
static bool load_may_move(const struct value_use *uses, const struct ir_instruction *load) {
    if (load->region->ambient > LEVEL_THREAD || load->is_volatile)
        return false;
    const struct ir_instruction *user = uses[load->results[0]->id].user;
    while (user && user->kind == IR_OPERATION && has_one_user_here(uses, user))
        user = uses[user->results[0]->id].user;
    const struct ir_region *region = load->region;
    size_t i = 0;
    while (region->instructions.at[i] != load)
        i++;
    for (i++; i < region->instructions.count && region->instructions.at[i] != user; i++) {
        enum ir_kind kind = region->instructions.at[i]->kind;
        if (kind != IR_OPERATION && kind != IR_LOAD)
            return false;
    }
    return true;
}

bool uses_inline(const struct value_use *uses, const struct ir_instruction *instruction) {
    return has_one_user_here(uses, instruction) &&
           (instruction->kind == IR_OPERATION || load_may_move(uses, instruction));
}
