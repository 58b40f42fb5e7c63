/* QUIRK_CHOSEN_ZEROS of map/quirks: LLVM changes `x < 0.0 ? -0.0 : x` to `x <= 0.0 ? -0.0 : x`,
   which is another zero where x is 0: it takes the zero that is compared with for the one that is
   chosen. Comparisons do not tell the zeros apart, so that x is compared with the chosen one
   instead, by a comparison that nothing else uses. */
#include <math.h>

#include "ir/passes/pass_list.h"
#include "ir/passes/rewrite.h"

static bool is_zero(const struct ir_value *value) {
    return value->is_constant && base_info[value->base].is_floating && value->constant.floating == 0;
}

/* The condition that chooses between these two, or the one to take in its place. */
static struct ir_value *compare_with_chosen(const struct rewriter *rewriter, struct ir_value *condition,
                                            struct ir_value *a, struct ir_value *b) {
    const struct ir_instruction *comparison = condition->definition;
    struct ir_value *chosen = is_zero(a) ? a : b;
    if (!is_zero(chosen) || !comparison || comparison->kind != IR_OPERATION ||
        (comparison->op != OP_LT && comparison->op != OP_LE))
        return condition;
    struct ir_value *operands[] = {comparison->operands[0], comparison->operands[1]};
    int with = is_zero(operands[0]) ? 0 : 1;
    bool are_positive = !signbit(chosen->constant.floating) && !signbit(operands[with]->constant.floating);
    if (!is_zero(operands[with]) || operands[with]->base != chosen->base || are_positive)
        return condition;
    operands[with] = chosen;
    rewriter->kernel->changes++;
    return rewrite_operation(rewriter, comparison->op, operands[0], operands[1]);
}

/* Makes selects before the branch of those results that it chooses so and does not compute. False: the branch is
   empty. */
static bool split_branch(const struct rewriter *rewriter, struct ir_instruction *branch) {
    ir_values *a = &branch->regions[0]->yields, *b = &branch->regions[1]->yields;
    size_t kept = 0, count = branch->result_count;
    for (size_t i = 0; i < count; i++) {
        bool is_computed = a->at[i]->region == branch->regions[0] || b->at[i]->region == branch->regions[1];
        struct ir_value *condition = branch->operands[0];
        if (!is_computed)
            condition = compare_with_chosen(rewriter, condition, a->at[i], b->at[i]);
        if (condition != branch->operands[0]) {
            rewrite_select(rewriter, branch->results[i], condition, a->at[i], b->at[i]);
            continue;
        }
        branch->results[kept] = branch->results[i];
        a->at[kept] = a->at[i];
        b->at[kept++] = b->at[i];
    }
    branch->result_count = a->count = b->count = kept;
    return kept == count || kept > 0 || branch->regions[0]->instructions.count > 0 ||
           branch->regions[1]->instructions.count > 0;
}

struct zeros {
    struct arena *arena;
    struct ir_kernel *kernel;
};

static void put(void *context, struct ir_region *to, struct ir_instruction *instruction) {
    const struct zeros *z = context;
    const struct rewriter rewriter = {z->arena, z->kernel, to, instruction};
    struct ir_value **x = instruction->operands;
    if (instruction->kind == IR_OPERATION && instruction->op == OP_SELECT)
        x[0] = compare_with_chosen(&rewriter, x[0], x[1], x[2]);
    if (instruction->kind != IR_IF || split_branch(&rewriter, instruction))
        vec_push(z->arena, &to->instructions, instruction);
}

void pass_zeros(struct arena *arena, struct ir_kernel *kernel) {
    rewrite_each(kernel->body, put, &(struct zeros){arena, kernel});
}
