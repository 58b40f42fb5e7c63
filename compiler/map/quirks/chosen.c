/* note [chosen loads]
   NVVM makes one load of `c ? in[i] : own[j]`, and takes it through the cache for what no one writes (ld.global.nc)
   if that is right for `in`, which the kernel only reads; `own` may have been written by the same thread a moment ago,
   and then the load may give what was there before. NVVM does so with a choice, with both branches of an `if`, and
   with two `if`s of which one alone is true. So where a kernel loads under conditions from both kinds of memory,
   elements of one size, what comes from memory that is only read goes through a function that NVVM cannot look into:
   the two loads are no longer alike. It takes no instruction. */
#include "map/lower.h"

struct chosen {
    struct arena *arena;
    VEC(struct target_expr *) inputs; /* loads under conditions of what the kernel only reads */
    unsigned written;                 /* the sizes of others, in bits: a bit each */
};

static void look_at(struct chosen *c, struct target_expr *expr, bool is_conditional) {
    if (!expr)
        return;
    bool chooses =
        expr->kind == TARGET_EXPR_OPERATION && (expr->op == OP_SELECT || expr->op == OP_AND || expr->op == OP_OR);
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        look_at(c, expr->operands[i], is_conditional || (chooses && i > 0));
    if (expr->kind != TARGET_EXPR_ELEMENT || !is_conditional || expr->is_volatile || expr->is_early ||
        expr->array->space != TARGET_SPACE_GLOBAL)
        return;
    if (expr->array->is_const)
        vec_push(c->arena, &c->inputs, expr);
    else
        c->written |= (unsigned)base_info[expr->array->element].bits;
}

static void look_into(struct chosen *c, const struct target_block *block, bool is_conditional) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        struct target_expr *const exprs[] = {statement->value, statement->index, statement->limit, statement->step,
                                             statement->expected};
        for (size_t k = 0; k < sizeof exprs / sizeof *exprs; k++)
            look_at(c, exprs[k], is_conditional);
        bool chooses = statement->kind == TARGET_IF;
        look_into(c, &statement->body, is_conditional || chooses);
        look_into(c, &statement->other, is_conditional || chooses);
    }
}

void lower_keep_loads_apart(struct lowering *l) {
    struct chosen c = {.arena = l->arena};
    bool is_cuda = lower_has_quirk(l, QUIRK_CHOSEN_LOADS);
    enum quirk quirk = is_cuda ? QUIRK_CHOSEN_LOADS : QUIRK_CHOSEN_LOADS_OPENCL;
    if (!lower_has_quirk(l, quirk))
        return;
    look_into(&c, &l->target->body, false);
    for (size_t i = 0; i < c.inputs.count; i++) {
        bool is_apart = c.written & (unsigned)base_info[c.inputs.at[i]->array->element].bits;
        c.inputs.at[i]->is_apart |= is_apart;
        l->target->quirks |= is_apart ? quirk_bit(quirk) : 0;
    }
}
