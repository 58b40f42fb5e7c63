/* With --check: does a `loop` end?

   note [loops that do not end]
   A step depends on nothing but the state, so a loop that comes back to a state which it has had goes
   round for ever. Compilers for C and CUDA take a loop without effects for one that ends, and make
   of one that does not whatever they like; so it is an error, in the interpreter (interp/primitives.c)
   and, with --check, in generated code. The search is Brent's (An improved Monte Carlo factorization
   algorithm, BIT 20, 1980): the loop carries a state that it has had, and how many steps ago that was;
   after 1, 2, 4, … steps the present state takes its place. So every period is found, and the period,
   which the message names, is the same wherever the search began. States are equal when their bits are:
   a NaN is itself, and -0 is not 0.
   A state with a counter comes back after billions of steps only, for which nobody waits. That such a loop cannot
   end is found where nothing that its condition looks at changes (elab_find_endless). */
#include "elaborate/check.h"
#include "elaborate/state.h"

enum { PATIENCE = 30 }; /* a period of less than 2^30 steps is looked for */

void elab_repeats_carry(struct elaborator *e, ir_values *carried) {
    if (!elab_checks_all(e) || e->shape)
        return;
    for (size_t i = 0, count = carried->count; i < count; i++)
        vec_push(e->arena, carried, carried->at[i]);
    vec_push(e->arena, carried, ir_int(e->builder, 0)); /* steps since then */
    vec_push(e->arena, carried, ir_int(e->builder, 1)); /* after how many it makes room */
}

static bool counts(struct ir_builder *b, struct ir_value *before, struct ir_value *after) {
    if (base_info[before->base].is_floating || before->base == BASE_BOOL)
        return false;
    struct ir_value *step = ir_binary(b, OP_SUB, after, before);
    if (!step->is_constant || step->constant.integer == 0)
        return false;
    return base_info[before->base].bits - __builtin_ctzll((uint64_t)step->constant.integer) >= PATIENCE;
}

void elab_repeats_check(struct elaborator *e, struct ir_value *const *current, size_t count, ir_values *after,
                        struct span span) {
    struct ir_builder *b = e->builder;
    if (!elab_checks_all(e) || e->shape)
        return;
    bool is_counting = false;
    for (size_t i = 0; i < count; i++)
        is_counting = is_counting || counts(b, current[i], after->at[i]);
    if (is_counting) {
        for (size_t i = count; i < 2 * count + 2; i++)
            vec_push(e->arena, after, current[i]);
        return;
    }
    struct ir_value *const *saved = current + count;
    struct ir_value *steps = ir_binary(b, OP_ADD, current[2 * count], ir_int(b, 1));
    struct ir_value *limit = current[2 * count + 1], *is_new = ir_bool(b, count == 0);
    for (size_t i = 0; i < count; i++) {
        struct ir_value *x = ir_bits(b, after->at[i]), *y = ir_bits(b, saved[i]);
        is_new = ir_binary(b, OP_OR, is_new, ir_binary(b, OP_NE, x, y));
    }
    elab_check(e, CHECK_REPEATS, is_new, steps, steps, span);
    struct ir_value *moves = ir_binary(b, OP_EQ, steps, limit);
    for (size_t i = 0; i < count; i++)
        vec_push(e->arena, after, ir_ternary(b, OP_SELECT, moves, after->at[i], saved[i]));
    vec_push(e->arena, after, ir_ternary(b, OP_SELECT, moves, ir_int(b, 0), steps));
    vec_push(e->arena, after, ir_ternary(b, OP_SELECT, moves, ir_binary(b, OP_ADD, limit, limit), limit));
}
