/* How often each value is used in a device kernel, and which operations and loads are printed inside their only user
   instead of getting a name. */
#include "map/lower.h"

bool uses_as_subscript(const struct value_use *uses, const struct ir_value *value) {
    return uses[value->id].count > 0 && uses[value->id].count == uses[value->id].subscripts;
}

static void count_operand(struct value_use *uses, const struct ir_value *value, const struct ir_instruction *user,
                          const struct ir_region *region) {
    struct value_use *use = &uses[value->id];
    use->count++;
    use->user = user;
    use->region = region;
}

static bool adds_constant(const struct ir_instruction *instruction) {
    return instruction->kind == IR_OPERATION && instruction->op == OP_ADD && instruction->operands[1]->is_constant;
}

/* Is the first operand used as a subscript here, or as one but for a constant? */
static bool is_subscript_of(const struct value_use *uses, const struct ir_instruction *user) {
    return ir_is_access(user) || (adds_constant(user) && uses_as_subscript(uses, user->results[0]));
}

bool uses_know(struct target_expr *const *values, const struct ir_value *value, bool *truth) {
    const struct target_expr *expr = values[value->id];
    if (value->base != BASE_BOOL || !(value->is_constant || (expr && expr->kind == TARGET_EXPR_CONSTANT)))
        return false;
    *truth = (value->is_constant ? value->constant : expr->constant).integer;
    return true;
}

const struct ir_value *uses_same_as(struct target_expr *const *values, const struct ir_instruction *operation) {
    bool truth;
    if (operation->kind != IR_OPERATION)
        return NULL;
    if (operation->op == OP_SELECT)
        return uses_know(values, operation->operands[0], &truth) ? operation->operands[truth ? 1 : 2] : NULL;
    bool is_and = operation->op == OP_AND;
    for (size_t i = 0; (is_and || operation->op == OP_OR) && i < 2; i++)
        if (uses_know(values, operation->operands[i], &truth))
            return operation->operands[truth == is_and ? 1 - i : i];
    return NULL;
}

/* Backwards, so that an operation that only dead ones use is dead itself. `values`: those that are bound, or NULL. */
static void count_region(struct value_use *uses, const struct ir_kernel *kernel, struct target_expr *const *values,
                         const struct ir_region *region) {
    const struct ir_instruction *next_other = NULL;
    for (size_t i = 0; i < region->yields.count; i++)
        count_operand(uses, region->yields.at[i], NULL, region);
    for (size_t i = region->instructions.count; i-- > 0;) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        bool is_pure = instruction->kind == IR_OPERATION || instruction->kind == IR_LOAD;
        if (is_pure)
            uses[instruction->results[0]->id].next_other = next_other;
        else
            next_other = instruction;
        if (is_pure && (!uses[instruction->results[0]->id].count || (values && values[instruction->results[0]->id])))
            continue;
        const struct ir_value *same = values ? uses_same_as(values, instruction) : NULL;
        if (same) {
            count_operand(uses, same, instruction, region);
            continue;
        }
        bool truth,
            is_decided = values && instruction->kind == IR_IF && uses_know(values, instruction->operands[0], &truth);
        for (size_t r = 0; r < 2; r++)
            if (instruction->regions[r] && !(is_decided && truth == (r == 1)))
                count_region(uses, kernel, values, instruction->regions[r]);
        if (is_decided)
            continue;
        int64_t distance;
        bool is_near =
            instruction->kind == IR_SHUFFLE && exchange_of(kernel, instruction, &distance) != TARGET_EXCHANGE_AT;
        /* without its numbers: note [noted checks] in lower.c */
        bool is_noted = instruction->kind == IR_CHECK && kernel->checks.at[instruction->site].is_noted;
        for (size_t k = 0; k < (is_near || is_noted ? 1 : instruction->operand_count); k++)
            count_operand(uses, instruction->operands[k], instruction, region);
        if (is_subscript_of(uses, instruction))
            uses[instruction->operands[0]->id].subscripts++;
    }
}

void uses_count(struct value_use *uses, const struct ir_kernel *kernel, const struct ir_instruction *forall) {
    count_region(uses, kernel, NULL, forall->regions[0]);
}

void uses_count_unbound(struct lowering *l, const struct ir_instruction *loop) {
    uses_clear(l->uses, loop->regions[0]);
    count_region(l->uses, l->kernel, l->values, loop->regions[0]);
}

void uses_clear(struct value_use *uses, const struct ir_region *region) {
    const struct value_use none = {0};
    for (size_t i = 0; i < region->yields.count; i++)
        uses[region->yields.at[i]->id] = none;
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        for (size_t k = 0; ir_taken(walk.at, k); k++)
            uses[(*ir_taken(walk.at, k))->id] = none;
        for (size_t k = 0; k < walk.at->result_count; k++)
            uses[walk.at->results[k]->id] = none;
    }
}

/* Used once, in the region it is computed in. */
static bool has_one_user_here(const struct value_use *uses, const struct ir_instruction *instruction) {
    const struct value_use *use = &uses[instruction->results[0]->id];
    return use->count == 1 && use->region == instruction->region;
}

/* A load printed inside its user happens where the user is printed, so nothing that stores, and no
   barrier, may come between. Above ambient thread barriers fall between instructions, so there
   every load gets its own statement. And C asks for some operands of `&&`, `||` and `?:` only when
   it needs them, by a branch that the next loads would wait behind: loads have names there. */
static bool is_asked_late(const struct ir_instruction *user, const struct ir_value *operand) {
    if (user->kind != IR_OPERATION)
        return false;
    bool is_logical = (user->op == OP_AND || user->op == OP_OR) && operand->base == BASE_BOOL;
    return (is_logical && user->operands[1] == operand) || (user->op == OP_SELECT && user->operands[0] != operand);
}

static bool load_may_move(const struct value_use *uses, const struct ir_instruction *load) {
    if (load->region->ambient > LEVEL_THREAD || load->is_volatile)
        return false;
    const struct ir_value *value = load->results[0];
    const struct ir_instruction *user = uses[value->id].user;
    while (user && !is_asked_late(user, value) && user->kind == IR_OPERATION && has_one_user_here(uses, user)) {
        value = user->results[0];
        user = uses[value->id].user;
    }
    if (user && is_asked_late(user, value))
        return false;
    const struct ir_instruction *next_other = uses[load->results[0]->id].next_other;
    if (!next_other || next_other == user)
        return true;
    bool is_pure = user && (user->kind == IR_OPERATION || user->kind == IR_LOAD) && user->region == load->region;
    return is_pure && uses[user->results[0]->id].next_other == next_other;
}

/* x + 1, where all uses are subscripts and x has a name: processors add constants to addresses for nothing. */
static bool is_near_subscript(const struct value_use *uses, const struct ir_instruction *instruction) {
    if (!adds_constant(instruction) || !uses_as_subscript(uses, instruction->results[0]))
        return false;
    const struct ir_value *base = instruction->operands[0];
    bool is_named = uses[base->id].count > 1 || !base->definition ||
                    (base->definition->kind != IR_OPERATION && base->definition->kind != IR_LOAD);
    return is_named;
}

bool uses_inline(const struct value_use *uses, const struct ir_instruction *instruction) {
    if (is_near_subscript(uses, instruction))
        return true;
    return has_one_user_here(uses, instruction) &&
           (instruction->kind == IR_OPERATION || load_may_move(uses, instruction));
}
