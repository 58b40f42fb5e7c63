/* Marks the arithmetic whose operands' ranges prove that it does not overflow, so that backends may use plain signed
   operators and index arithmetic may be widened. A mark made by the builder (which knows more inside branches) stays.
   A signed index that is used for certain is in range, so it is not negative: a sum with a summand that is not
   negative has then not gone over the top. Where indices are checked, this is not known before the check. */
#include "ir/passes/pass_list.h"

#include "ir/build/range.h"
#include "ir/walk.h"

static void mark(struct ir_kernel *kernel, struct ir_instruction *instruction) {
    kernel->changes += !instruction->no_wrap;
    instruction->no_wrap = true;
}

static void mark_fitting(struct ir_kernel *kernel, struct ir_instruction *instruction) {
    struct range ranges[3];
    if (ir_op_info[instruction->op].wraps == FITS)
        return;
    for (size_t i = 0; i < instruction->operand_count; i++)
        ranges[i] = (struct range){instruction->operands[i]->low, instruction->operands[i]->high};
    if (range_never_wraps(instruction->op, instruction->results[0]->base, ranges))
        mark(kernel, instruction);
}

/* True if every run of `region` is certain to run `inside`. No launch is certain to run: the host may fail on its way
   to it. */
static bool always_runs(const struct ir_region *inside, const struct ir_region *region) {
    while (inside != region) {
        const struct ir_instruction *loop = inside->owner;
        bool is_loop = loop && (loop->kind == IR_FOR || (loop->kind == IR_FORALL && loop->outer != LEVEL_GRID));
        if (!is_loop || loop->operands[0]->low < 1)
            return false;
        inside = loop->region;
    }
    return true;
}

static void mark_index(struct ir_kernel *kernel, const struct ir_instruction *access) {
    struct ir_instruction *sum = access->operands[0]->definition;
    if (sum && sum->kind == IR_OPERATION && sum->op == OP_ADD && always_runs(access->region, sum->region) &&
        base_info[sum->results[0]->base].is_signed && (sum->operands[0]->low >= 0 || sum->operands[1]->low >= 0))
        mark(kernel, sum);
}

static void mark_all(struct ir_kernel *kernel, bool is_checked) {
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk)) {
        if (walk.at->kind == IR_OPERATION)
            mark_fitting(kernel, walk.at);
        if (ir_is_access(walk.at) && !is_checked)
            mark_index(kernel, walk.at);
    }
}

/* Are there checks on the device after which the host ends the run? */
static bool has_checks(const struct ir_kernel *kernel) {
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_CHECK && walk.region->ambient != LEVEL_GRID &&
            !kernel->checks.at[walk.at->site].is_noted)
            return true;
    return false;
}

void pass_no_wrap(struct arena *arena, struct ir_kernel *kernel) {
    (void)arena;
    mark_all(kernel, has_checks(kernel));
}
