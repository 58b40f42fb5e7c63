/* Upper bounds: memory is set aside before a kernel starts, so the length of what a block stores
   must be bounded by a value that the host knows. The bound of a chunk's length, min n (length - i
   * n), is n. */
#include "elaborate/check.h"
#include "ir/build/range.h"

struct ir_region *elab_enter_host(struct elaborator *e) {
    const struct ir_region *region = e->host ? e->host : ir_current(e->builder);
    while (region->ambient != LEVEL_GRID)
        region = region->parent;
    return ir_enter(e->builder, region);
}

/* Does the host know it when it makes the launch? It is at the host's region: what a step carries, and what is computed
   in a branch, counts as well there. */
static bool at_host(struct elaborator *e, const struct ir_value *value) {
    return value->is_constant || ir_in_scope(value, ir_current(e->builder));
}

enum { HOST_DEPTH = 6 }; /* of operations: an exact length is a simple one */

static struct ir_value *bound(struct elaborator *e, struct ir_value *value, int depth);

static struct ir_value *larger(struct elaborator *e, struct ir_value *x, struct ir_value *y) {
    return x && y ? ir_binary(e->builder, OP_MAX, x, y) : NULL;
}

/* The sum or product of two bounds, which may be more than any length: then it is the greatest, of
   which there is never memory. Wrapped around it would be too little memory. */
static struct ir_value *together(struct elaborator *e, enum ir_op op, struct ir_value *x, struct ir_value *y) {
    struct ir_builder *b = e->builder;
    const struct range ranges[2] = {{x->low, x->high}, {y->low, y->high}};
    if (range_never_wraps(op, BASE_I32, ranges))
        return ir_binary(b, op, x, y);
    struct ir_value *exact = ir_binary(b, op, ir_convert(b, x, BASE_I64), ir_convert(b, y, BASE_I64));
    struct ir_value *most = ir_constant(b, BASE_I64, (union scalar){.integer = INT32_MAX});
    return ir_convert(b, ir_binary(b, OP_MIN, exact, most), BASE_I32);
}

struct ir_value *elab_sum_of_bounds(struct elaborator *e, struct ir_value *x, struct ir_value *y) {
    return together(e, OP_ADD, x, y);
}

struct ir_value *elab_product_of_bounds(struct elaborator *e, struct ir_value *x, struct ir_value *y) {
    return together(e, OP_MUL, x, y);
}

/* A bound of what is no negative number where it matters. */
static struct ir_value *natural(struct elaborator *e, const struct ir_value *value, struct ir_value *its_bound) {
    return value->low >= 0 ? its_bound : larger(e, its_bound, ir_int(e->builder, 0));
}

/* Two negative numbers, or a product below the least int, may wrap around to a positive one, of which the bounds of its
   operands say nothing. `least` is the least that the result would be. The library's sums are places in arrays, and
   do not wrap. */
static bool may_sink(const struct elaborator *e, const struct ir_instruction *i, int64_t least) {
    return least < INT32_MIN && !diag_is_ours(e->diagnostics, i->span) && !ir_never_wraps(e->builder, i->results[0]);
}

static struct ir_value *of_operation(struct elaborator *e, const struct ir_instruction *i, int depth) {
    struct ir_builder *b = e->builder;
    struct ir_value **x = i->operands;
    if (i->op == OP_CONVERT) /* arithmetic in another type wraps elsewhere: only the host's own values are followed */
        return at_host(e, x[0]) ? ir_convert(b, x[0], BASE_I32) : NULL;
    struct ir_value *first = i->operand_count > 0 ? bound(e, x[0], depth) : NULL;
    if (i->op == OP_SELECT)
        return larger(e, bound(e, x[1], depth), bound(e, x[2], depth));
    if (i->op == OP_MIN) {
        struct ir_value *second = bound(e, x[1], depth);
        return first && second ? ir_binary(b, OP_MIN, first, second) : first ? first : second;
    }
    if (!first)
        return NULL;
    switch (i->op) {
    case OP_ADD: {
        struct ir_value *second = bound(e, x[1], depth);
        return second && !may_sink(e, i, x[0]->low + x[1]->low) ? together(e, OP_ADD, first, second) : NULL;
    }
    case OP_SUB: return x[0]->low >= 0 && x[1]->low >= 0 ? ir_binary(b, OP_SUB, first, ir_int(b, x[1]->low)) : NULL;
    case OP_MUL: {
        struct ir_value *second = bound(e, x[1], depth);
        if (!second || (x[0]->low < 0 && x[1]->low < 0) || may_sink(e, i, x[0]->low * x[1]->high) ||
            may_sink(e, i, x[0]->high * x[1]->low))
            return NULL;
        return together(e, OP_MUL, natural(e, x[0], first), natural(e, x[1], second));
    }
    case OP_DIV: return x[1]->low >= 1 ? ir_binary(b, OP_DIV, natural(e, x[0], first), ir_int(b, x[1]->low)) : NULL;
    case OP_SHR: first = natural(e, x[0], first); return x[1]->is_constant ? ir_binary(b, OP_SHR, first, x[1]) : first;
    case OP_REM: return natural(e, x[0], first);
    case OP_AND: return x[0]->low >= 0 ? first : NULL;
    case OP_MAX: return larger(e, first, bound(e, x[1], depth));
    default: return NULL; /* other operations have no bound but their range */
    }
}

/* The value itself where it is made of the host's only, by operations: unoptimised code is not taken out of loops. */
static struct ir_value *from_host(struct elaborator *e, struct ir_value *value, int depth) {
    struct ir_builder *b = e->builder;
    const struct ir_instruction *i = value->definition;
    if (at_host(e, value))
        return value;
    if (depth == 0 || !i || i->kind != IR_OPERATION)
        return NULL;
    struct ir_value *x[3] = {NULL};
    for (size_t k = 0; k < i->operand_count; k++)
        if (!(x[k] = from_host(e, i->operands[k], depth - 1)))
            return NULL;
    return i->operand_count == 3   ? ir_ternary(b, i->op, x[0], x[1], x[2])
           : i->operand_count == 2 ? ir_binary(b, i->op, x[0], x[1])
                                   : ir_unary_to(b, i->op, x[0], value->base);
}

/* `value` itself is not resolved on the way: what a branch yields would become the branch's result again. */
static struct ir_value *bound(struct elaborator *e, struct ir_value *value, int depth) {
    struct ir_builder *b = e->builder;
    if (at_host(e, value))
        return value;
    struct ir_value *known = map_get(e->bounds, value);
    if (known)
        return known == value ? NULL : bound(e, known, depth);
    struct ir_value *result = NULL;
    const struct ir_instruction *i = value->definition;
    if (depth > 0 && i && i->kind == IR_OPERATION) {
        result = from_host(e, value, HOST_DEPTH);
        if (!result)
            result = of_operation(e, i, depth - 1);
    } else if (depth > 0 && i && i->kind == IR_IF) {
        for (size_t k = 0; k < i->result_count; k++)
            if (i->results[k] == value && k < i->regions[0]->yields.count)
                result = larger(e, bound(e, i->regions[0]->yields.at[k], depth - 1),
                                bound(e, i->regions[1]->yields.at[k], depth - 1));
    } else if (depth > 0 && !i && value->region && value->region->owner && value->region->owner->kind != IR_WHILE &&
               value->region->owner->parameters[0] == value) {
        result = bound(e, value->region->owner->operands[0], depth - 1); /* an index: below its count */
    }
    if (!result && value->high < (1 << 24))
        result = ir_int(b, value->high); /* large, but finite */
    return result;
}

struct ir_value *elab_upper_bound(struct elaborator *e, struct ir_value *value) {
    struct ir_region *here = elab_enter_host(e);
    struct ir_value *result = bound(e, ir_resolve(e->builder, value), 32);
    if (result)
        result = ir_binary(e->builder, OP_MAX, result, ir_int(e->builder, 0));
    ir_leave(e->builder, here);
    return result;
}
