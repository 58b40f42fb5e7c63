/* Turns a branch that only computes a few cheap values into selects: a select costs less than a jump, on a GPU and in a
   vectorised loop. What was computed on one side only is then computed always, so what the condition told
   about it (ranges, freedom from overflow) is computed anew. */
#include "ir/pass_list.h"

#include "ir/range.h"
#include "ir/rewrite.h"

enum { TIDY_MAX_OPERATIONS = 4, TIDY_MAX_RESULTS = 4 };

static bool is_small(const struct ir_instruction *branch) {
    size_t operations = 0;
    if (branch->result_count > TIDY_MAX_RESULTS)
        return false;
    for (int side = 0; side < 2; side++) {
        const struct ir_region *region = branch->regions[side];
        operations += region->instructions.count;
        if (operations > TIDY_MAX_OPERATIONS)
            return false;
        for (size_t i = 0; i < region->instructions.count; i++)
            if (!ir_is_cheap(region->instructions.at[i]))
                return false;
    }
    return true;
}

static void append(struct arena *arena, struct ir_region *region, struct ir_instruction *instruction) {
    struct ir_value *result = instruction->results[0];
    struct range ranges[3];
    for (size_t i = 0; i < instruction->operand_count; i++)
        ranges[i] = (struct range){instruction->operands[i]->low, instruction->operands[i]->high};
    enum base operand = instruction->operands[instruction->operand_count - 1]->base;
    struct range range = range_operation(instruction->op, result->base, operand, ranges);
    result->low = range.low;
    result->high = range.high;
    result->region = region;
    instruction->no_wrap = false;
    instruction->region = region;
    vec_push(arena, &region->instructions, instruction);
}

/* c ? x : false is c and x; c ? true : x is c or x. */
static void make_logical(struct ir_instruction *select) {
    struct ir_value *then_value = select->operands[1], *else_value = select->operands[2];
    if (then_value->base != BASE_BOOL)
        return;
    if (else_value->is_constant && !else_value->constant.integer) {
        select->op = OP_AND;
    } else if (then_value->is_constant && then_value->constant.integer) {
        select->op = OP_OR;
        select->operands[1] = else_value;
    } else {
        return;
    }
    select->operand_count = 2;
}

static void flatten(struct arena *arena, struct ir_kernel *kernel, struct ir_region *region,
                    const struct ir_instruction *branch) {
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < branch->regions[side]->instructions.count; i++)
            append(arena, region, branch->regions[side]->instructions.at[i]);
    const struct rewriter rewriter = {arena, kernel, region, branch};
    for (size_t i = 0; i < branch->result_count; i++)
        make_logical(rewrite_select(&rewriter, branch->results[i], branch->operands[0],
                                    branch->regions[0]->yields.at[i], branch->regions[1]->yields.at[i]));
}

static void tidy_region(struct arena *arena, struct ir_kernel *kernel, struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++)
        for (int r = 0; r < 2; r++)
            if (region->instructions.at[i]->regions[r])
                tidy_region(arena, kernel, region->instructions.at[i]->regions[r]);
    size_t count = region->instructions.count;
    struct ir_instruction **before = region->instructions.at;
    bool any = false;
    for (size_t i = 0; i < count && !any; i++)
        any = before[i]->kind == IR_IF && is_small(before[i]);
    if (!any)
        return;
    region->instructions.at = NULL;
    region->instructions.count = region->instructions.capacity = 0;
    for (size_t i = 0; i < count; i++)
        if (before[i]->kind == IR_IF && is_small(before[i]))
            flatten(arena, kernel, region, before[i]);
        else
            vec_push(arena, &region->instructions, before[i]);
}

void pass_tidy(struct arena *arena, struct ir_kernel *kernel) { tidy_region(arena, kernel, kernel->body); }
