/* Makes one operation, rounded once, of a product of floats and the sum that alone takes it:
   `a * b + c` becomes `fma a b c`, `a * b - c` and `c - a * b` the same of negated operands. Only
   where the kernel says `with contract`, or the command line `--contract`. It is done here, early,
   and not by the languages' compilers, which are told to contract nothing: so all targets contract
   the same sums.

   A product that something else takes, too, stays, as it would be computed anyway. One of another
   region stays: it was moved out of a loop, and would come back. Where both sides of a sum are
   products, the first is taken. */
#include "ir/passes/pass_list.h"
#include "ir/passes/rewrite.h"
#include "ir/walk.h"

struct contraction {
    struct arena *arena;
    struct ir_kernel *kernel;
    size_t *uses; /* how many take the value, by its id */
};

static void count_uses(struct contraction *c) {
    c->uses = ARENA_ARRAY(c->arena, size_t, c->kernel->value_count + 1);
    for (struct ir_walk walk = ir_walk(c->kernel->body); walk.at; ir_next(&walk))
        for (size_t i = 0; ir_taken(walk.at, i); i++)
            if (*ir_taken(walk.at, i))
                c->uses[(*ir_taken(walk.at, i))->id]++;
    for (size_t i = 0; i < c->kernel->body->yields.count; i++)
        c->uses[c->kernel->body->yields.at[i]->id]++;
    for (size_t i = 0; i < c->kernel->results.count; i++)
        if (c->kernel->results.at[i].value)
            c->uses[c->kernel->results.at[i].value->id]++;
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
    rewriter->kernel->changes++;
    sum->op = OP_FMA;
    sum->operands = ARENA_ARRAY(rewriter->arena, struct ir_value *, 3);
    sum->operand_count = 3;
    sum->operands[0] = a;
    sum->operands[1] = product->operands[1];
    sum->operands[2] = other;
}

static void put(void *context, struct ir_region *to, struct ir_instruction *at) {
    const struct contraction *c = context;
    const struct rewriter rewriter = {c->arena, c->kernel, to, at};
    bool is_sum = at->kind == IR_OPERATION && (at->op == OP_ADD || at->op == OP_SUB) &&
                  base_info[at->results[0]->base].is_floating;
    if (is_sum &&
        (is_product(c->uses, at->operands[0], at->region) || is_product(c->uses, at->operands[1], at->region)))
        contract(&rewriter, c->uses, at);
    vec_push(c->arena, &to->instructions, at);
}

/* Dead products are left, which nobody prints. */
void pass_contract(struct arena *arena, struct ir_kernel *kernel) {
    if (!kernel->contracts)
        return;
    struct contraction c = {.arena = arena, .kernel = kernel};
    count_uses(&c);
    rewrite_each(kernel->body, put, &c);
}
