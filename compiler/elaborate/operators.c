/* Analyses functions that a program gives: whether an operator commutes, how it treats a start value, what a comparison
   compares. The elaborator applies such a function to values of which nothing is known, and drops the code that this
   builds. */
#include <math.h>
#include <string.h>

#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "ir/walk.h"

static bool commutes(struct elaborator *e, const struct elab_value *f) {
    return f->kind == ELAB_CLOSURE ? core_commutes(e->arena, f->closure.lambda)
                                   : f->kind == ELAB_PRIMITIVE && core_commutes_primitive(f->primitive.primitive);
}

PRIMITIVE(COMMUTES) { return elab_scalar(e, ir_bool(e->builder, commutes(e, arguments[0]))); }

/* Two elements of which nothing is known, between begin and end; what is built with them is dropped. */
struct unknown_elements {
    struct ir_region *here;
    struct span span;
    struct elab_value *x, *y;
};

static struct unknown_elements begin_unknown(struct elaborator *e, struct type *element) {
    struct ir_builder *b = e->builder;
    base_list bases = elab_bases_of(e, element);
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, 2 * bases.count);
    for (size_t k = 0; k < 2 * bases.count; k++)
        carried[k] = ir_constant(b, bases.at[k % bases.count], (union scalar){0});
    struct unknown_elements unknown = {.here = ir_current(b), .span = e->span};
    ir_begin_for(b, ir_int(b, 2), carried, 2 * bases.count, "unknown");
    unknown.x = elab_of_type(e, element, carried);
    unknown.y = elab_of_type(e, element, carried + bases.count);
    return unknown;
}

static void end_unknown(struct elaborator *e, const struct unknown_elements *unknown) {
    ir_unwind(e->builder, unknown->here);
    e->span = unknown->span;
}

bool elab_gives(struct elaborator *e, struct elab_value *f, struct elab_value *x, struct elab_value *y,
                struct elab_value *same) {
    ir_values results = elab_leaves(e, elab_apply2(e, f, x, y)), wanted = elab_leaves(e, same);
    for (size_t k = 0; k < wanted.count; k++) {
        if (!results.at[k])
            return false;
        const struct ir_value *result = ir_resolve(e->builder, results.at[k]);
        const struct ir_value *want = ir_resolve(e->builder, wanted.at[k]);
        if (result->base != want->base || !ir_is_same(result, want))
            return false;
    }
    return true;
}

/* True if the result is a float that may differ from every operand by more than the sign. */
static bool rounds(const struct ir_instruction *instruction) {
    if (instruction->kind != IR_OPERATION || !base_info[instruction->results[0]->base].is_floating)
        return false;
    enum ir_op op = instruction->op;
    return op != OP_MIN && op != OP_MAX && op != OP_ABS && op != OP_NEG && op != OP_SELECT && op != OP_BITS;
}

/* Applies the operator to elements of which nothing is known, and looks whether code that rounds comes of it: where
   none does, an associative operator gives the same by every tree. */
static bool operator_rounds(struct elaborator *e, struct elab_value *f, struct type *element) {
    struct unknown_elements unknown = begin_unknown(e, element);
    elab_leaves(e, elab_apply2(e, f, unknown.x, unknown.y));
    bool result = false;
    for (struct ir_walk walk = ir_walk(ir_current(e->builder)); walk.at && !result; ir_next(&walk))
        result = rounds(walk.at);
    end_unknown(e, &unknown);
    return result;
}

bool elab_may_reorder(struct elaborator *e, struct elab_value *f, struct type *element) {
    return e->global->any_order || !operator_rounds(e, f, element);
}

PRIMITIVE(MAY_REORDER) {
    return elab_scalar(e, ir_bool(e->builder, elab_may_reorder(e, arguments[0], elab_type(e, instance, 0))));
}

static bool is_zero(const struct ir_value *value) {
    return value->is_constant && value->constant.floating == 0 && !signbit(value->constant.floating);
}

/* True if the operator, applied to the start value and any element, rounds nothing, or rounds only where it adds 0; or
   if the kernel allows any order. */
static bool adds_nothing(struct elaborator *e, struct elab_value *f, struct elab_value *start, struct elab_value *any) {
    elab_leaves(e, elab_apply2(e, f, start, any));
    for (struct ir_walk walk = ir_walk(ir_current(e->builder)); walk.at; ir_next(&walk))
        if (rounds(walk.at) &&
            (walk.at->op != OP_ADD || (!is_zero(walk.at->operands[0]) && !is_zero(walk.at->operands[1]))))
            return e->global->any_order;
    return true;
}

bool elab_may_repeat(struct elaborator *e, struct elab_value *f, struct elab_value *start) {
    struct ir_builder *b = e->builder;
    ir_values leaves = elab_leaves(e, start);
    for (size_t k = 0; k < leaves.count; k++)
        if (!leaves.at[k]) /* in a shape: depends on data */
            return false;
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, leaves.count);
    memcpy(carried, leaves.at, leaves.count * sizeof *carried);
    struct ir_region *here = ir_current(b);
    ir_begin_for(b, ir_int(b, 2), carried, leaves.count, "unknown");
    struct elab_value *any = elab_unflatten(e, start, carried);
    struct span span = e->span;
    bool result = (commutes(e, f) && elab_gives(e, f, start, start, start) && adds_nothing(e, f, start, any)) ||
                  (elab_gives(e, f, start, any, any) && elab_gives(e, f, any, start, any));
    ir_unwind(b, here);
    e->span = span;
    return result;
}

PRIMITIVE(MAY_REPEAT) { return elab_scalar(e, ir_bool(e->builder, elab_may_repeat(e, arguments[0], arguments[1]))); }

struct float_comparisons {
    struct map *seen;
    bool is_ordered, asks_for_nan;
};

/* Goes through what a truth is made of. */
static void find_comparisons(struct float_comparisons *found, const struct ir_value *truth) {
    const struct ir_instruction *definition = truth->definition;
    if (truth->base != BASE_BOOL || !definition || map_has(found->seen, truth))
        return;
    map_set(found->seen, truth, (void *)definition);
    if (definition->kind == IR_OPERATION && base_info[definition->operands[0]->base].is_floating) {
        found->is_ordered |= definition->op == OP_LT || definition->op == OP_LE;
        found->asks_for_nan |= definition->operand_count == 2 && definition->operands[0] == definition->operands[1];
    }
    for (size_t i = 0; i < definition->operand_count; i++)
        find_comparisons(found, definition->operands[i]);
    for (size_t r = 0; r < 2 && definition->kind == IR_IF; r++)
        for (size_t i = 0; i < definition->result_count; i++)
            if (definition->results[i] == truth)
                find_comparisons(found, definition->regions[r]->yields.at[i]);
}

/* Applies it to values of which nothing is known. */
static bool compares_floats(struct elaborator *e, struct elab_value *before, struct type *element) {
    struct unknown_elements unknown = begin_unknown(e, element);
    struct float_comparisons found = {.seen = map_new(e->arena)};
    struct ir_value *truth = elab_as_scalar(e, elab_apply2(e, before, unknown.x, unknown.y));
    if (truth)
        find_comparisons(&found, truth);
    end_unknown(e, &unknown);
    return found.is_ordered && !found.asks_for_nan;
}

/* Where the program has the comparison; else the sort. */
static struct span comparison_span(struct elaborator *e, const struct elab_value *before) {
    if (before->kind == ELAB_CLOSURE && !diag_is_ours(e->diagnostics, before->closure.lambda->span))
        return before->closure.lambda->span;
    return elab_users_span(e, e->span);
}

PRIMITIVE(COMPARISON) {
    struct span span = comparison_span(e, arguments[0]);
    if (!e->shape && span.end && compares_floats(e, arguments[0], elab_type(e, instance, 0))) {
        struct diagnostic *d = diag_warning(e->diagnostics, DIAG_FLOAT_ORDER, span,
                                            "a sort by this compares floats, among which NaN has no place: beside "
                                            "one, elements stay in some order");
        diag_hint(e->diagnostics, d,
                  "`orderBits x <= orderBits y` is a total order; without a comparison sort `sort`, `sortDescending`, "
                  "`sortByKey`, `sortDescendingByKey`, `argsort` and `topK`");
    }
    return arguments[0];
}
