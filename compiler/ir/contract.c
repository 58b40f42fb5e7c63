/* Makes one operation, rounded once, of a product of floats and the sum that alone takes it:
   `a * b + c` becomes `fma a b c`, `a * b - c` and `c - a * b` the same of negated operands. Only
   where the kernel says `with contract`, or the command line `--contract`. It is done here, early,
   and not by the languages' compilers, which are told to contract nothing: so all targets contract
   the same sums.

   A product that something else takes, too, stays, as it would be computed anyway. One of another
   region stays: it was moved out of a loop, and would come back. Where both sides of a sum are
   products, the first is taken. */
#include "ir/pass_list.h"
#include "ir/rewrite.h"

static void count(size_t *uses, const struct ir_value *value) {
    if (value)
        uses[value->id]++;
}

static void count_uses(size_t *uses, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        for (size_t k = 0; k < at->operand_count; k++)
            count(uses, at->operands[k]);
        for (int r = 0; r < 2; r++)
            if (at->regions[r])
                count_uses(uses, at->regions[r]);
    }
    for (size_t i = 0; i < region->yields.count; i++)
        count(uses, region->yields.at[i]);
}

static bool is_product(const size_t *uses, const struct ir_value *value, const struct ir_region *region) {
    const struct ir_instruction *at = value->definition;
    return at && at->kind == IR_OPERATION && at->op == OP_MUL && at->region == region && uses[value->id] == 1;
}

/* The operation in the place of a sum one of whose sides is a product. */
static void contract(const struct rewriter *rewriter, const size_t *uses, struct ir_instruction *sum) {
    int side = is_product(uses, sum->operands[0], sum->region) ? 0 : 1;
    const struct ir_instruction *product = sum->operands[side]->definition;
    struct ir_value *a = product->operands[0], *other = sum->operands[1 - side];
    if (sum->op == OP_SUB && side == 0)
        other = rewrite_negated(rewriter, other);
    if (sum->op == OP_SUB && side == 1)
        a = rewrite_negated(rewriter, a);
    sum->op = OP_FMA;
    sum->operands = ARENA_ARRAY(rewriter->arena, struct ir_value *, 3);
    sum->operand_count = 3;
    sum->operands[0] = a;
    sum->operands[1] = product->operands[1];
    sum->operands[2] = other;
}

static void visit(struct arena *arena, struct ir_kernel *kernel, const size_t *uses, struct ir_region *region) {
    size_t before_count = region->instructions.count;
    struct ir_instruction **before = region->instructions.at;
    region->instructions.at = NULL;
    region->instructions.count = region->instructions.capacity = 0;
    for (size_t i = 0; i < before_count; i++) {
        struct ir_instruction *at = before[i];
        for (int r = 0; r < 2; r++)
            if (at->regions[r])
                visit(arena, kernel, uses, at->regions[r]);
        const struct rewriter rewriter = {arena, kernel, region, at};
        bool is_sum = at->kind == IR_OPERATION && (at->op == OP_ADD || at->op == OP_SUB) &&
                      base_info[at->results[0]->base].is_floating;
        if (is_sum && (is_product(uses, at->operands[0], region) || is_product(uses, at->operands[1], region)))
            contract(&rewriter, uses, at);
        vec_push(arena, &region->instructions, at);
    }
}

/* Dead products are left, which nobody prints. */
void pass_contract(struct arena *arena, struct ir_kernel *kernel) {
    if (!kernel->contracts)
        return;
    size_t *uses = ARENA_ARRAY(arena, size_t, kernel->value_count + 1);
    count_uses(uses, kernel->body);
    for (size_t i = 0; i < kernel->results.count; i++)
        count(uses, kernel->results.at[i].value);
    visit(arena, kernel, uses, kernel->body);
}
