/* Lengths that a program computes.

   note [exact lengths]
   Ints wrap, lengths do not (LANGUAGE §11): where a length is a sum or product of ints, more
   elements than an int counts are an error. So an int that arithmetic may have wrapped remembers
   how it came about (struct exact), and where it is used as a length the same is computed in 64
   bits and compared: at grid by the host, below it with --check. Sums and products alone that pass
   are what the int is. Else the length is that of 64 bits, no more and no less than an int may be:
   whoever goes on after a check that failed, or has none, stays within the memory that was set
   aside for it. Code that measures lengths (`shape`) computes the same, without the checks. An int
   that a loop, a branch or memory gives remembers nothing. */
#include "elaborate/check.h"
#include "ir/build/range.h"

static bool may_wrap(enum ir_op op, struct ir_value *const *x, int arity, const struct ir_value *result) {
    struct range ranges[2] = {{x[0]->low, x[0]->high}, {0, 0}};
    if (arity == 2)
        ranges[1] = (struct range){x[1]->low, x[1]->high};
    if (result->is_constant && x[0]->is_constant && (arity == 1 || x[1]->is_constant)) {
        int64_t a = x[0]->constant.integer, b = arity == 2 ? x[1]->constant.integer : 0;
        int64_t exact = op == OP_ADD ? a + b : op == OP_SUB ? a - b : op == OP_MUL ? a * b : -a;
        return exact != result->constant.integer;
    }
    return !range_never_wraps(op, BASE_I32, ranges);
}

static bool is_ring(enum ir_op op) { return op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_NEG; }

void elab_remember(struct elaborator *e, enum ir_op op, struct elab_value **arguments, int arity,
                   struct elab_value *result) {
    bool follows = is_ring(op) || op == OP_MIN || op == OP_MAX || op == OP_DIV || op == OP_REM;
    if (!follows || result->scalar->base != BASE_I32)
        return;
    struct ir_value *x[2] = {NULL, NULL};
    bool has_wrapped = false;
    for (int i = 0; i < arity; i++) {
        x[i] = elab_as_scalar(e, arguments[i]);
        has_wrapped |= arguments[i]->exact != NULL;
    }
    if (!has_wrapped && !(is_ring(op) && may_wrap(op, x, arity, result->scalar)))
        return;
    struct exact *exact = ARENA_NEW(e->arena, struct exact);
    exact->op = op;
    exact->arity = arity;
    exact->is_users = !diag_is_ours(e->diagnostics, e->span);
    for (int i = 0; i < arity; i++) {
        exact->operands[i] = arguments[i];
        exact->is_users |= arguments[i]->exact && arguments[i]->exact->is_users;
    }
    result->exact = exact;
}

struct lengthening {
    struct span span;
    const struct exact *blamed; /* the outermost sum or product, whose operands a message names; or NULL */
    bool is_ring;               /* nothing but sums and products: modulo 2^32 the int is right */
    bool is_held;               /* it is compared with what an int counts */
};

void elab_hold(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
               struct ir_value *b, struct span span) {
    int shape = e->shape;
    if (elab_is_measured(e)) {
        e->shape = 0;
        if (ir_check_info[check].code != DIAG_ARRAY_TOO_LARGE) /* which is an error where there is no row, too */
            condition = elab_where_there(e, condition);
    }
    if (ir_ambient(e->builder) == LEVEL_GRID && !e->shape)
        elab_require(e, check, condition, a, b, span);
    else
        elab_check(e, check, condition, a, b, span);
    e->shape = shape;
}

static struct ir_value *wide(struct elaborator *e, int64_t value) {
    return ir_constant(e->builder, BASE_I64, (union scalar){.integer = value});
}

static struct ir_value *is_below(struct elaborator *e, struct ir_value *value) {
    return ir_binary(e->builder, OP_LE, value, wide(e, INT32_MAX));
}

/* Reports the sum or product whose value is too much for an int. */
static void hold(struct elaborator *e, const struct lengthening *l, const struct exact *exact, struct ir_value *fits) {
    struct ir_builder *b = e->builder;
    struct ir_value *x = elab_as_scalar(e, exact->operands[0]);
    struct ir_value *y = exact->arity == 2 ? elab_as_scalar(e, exact->operands[1]) : ir_int(b, 0);
    enum ir_check check = exact->op == OP_MUL ? CHECK_MANY_TIMES : CHECK_LONG;
    if (exact->op == OP_SUB)
        y = ir_unary(b, OP_NEG, y);
    if (ir_known(b, fits) == IR_FALSE && elab_runs_for_certain(e) && x->is_constant && y->is_constant)
        elab_reject(e, DIAG_ARRAY_TOO_LARGE, l->span, ir_check_info[check].message, (long long)x->constant.integer,
                    (long long)y->constant.integer);
    else
        elab_hold(e, check, fits, x, y, l->span);
}

/* The nearest that an int may be. */
static struct ir_value *within_int(struct elaborator *e, struct ir_value *value) {
    struct ir_builder *b = e->builder;
    value = value->low < INT32_MIN ? ir_binary(b, OP_MAX, value, wide(e, INT32_MIN)) : value;
    return value->high > INT32_MAX ? ir_binary(b, OP_MIN, value, wide(e, INT32_MAX)) : value;
}

static struct ir_value *exact_value(struct elaborator *e, struct lengthening *l, struct elab_value *value) {
    struct ir_builder *b = e->builder;
    const struct exact *exact = value->exact;
    if (!exact)
        return ir_convert(b, elab_as_scalar(e, value), BASE_I64);
    bool is_sum = is_ring(exact->op);
    l->is_ring &= is_sum;
    if (is_sum && !l->blamed && exact->op != OP_NEG)
        l->blamed = exact;
    struct ir_value *x[2] = {NULL, NULL};
    for (int i = 0; i < exact->arity; i++) {
        x[i] = exact_value(e, l, exact->operands[i]);
        const struct exact *factor = exact->operands[i]->exact;
        if (exact->op != OP_MUL || !factor)
            continue;
        if (l->is_held) /* else the product might not fit 64 bits */
            hold(e, l, factor, is_below(e, x[i]));
        else
            x[i] = within_int(e, x[i]);
    }
    return exact->arity == 2 ? ir_binary(b, exact->op, x[0], x[1]) : ir_unary(b, exact->op, x[0]);
}

/* The product in a sum that may have wrapped, as its factors say more than what the int has become; or NULL. */
static struct elab_value *product_in(const struct exact *sum) {
    for (int i = 0; i < sum->arity && is_ring(sum->op) && sum->op != OP_MUL; i++) {
        struct elab_value *x = sum->operands[i];
        struct elab_value *found = !x->exact ? NULL : x->exact->op == OP_MUL ? x : product_in(x->exact);
        if (found)
            return found;
    }
    return NULL;
}

static void hold_sum(struct elaborator *e, const struct lengthening *l, const struct exact *sum,
                     struct ir_value *value) {
    struct ir_value *fits = is_below(e, value);
    struct elab_value *product = product_in(sum);
    struct lengthening without = {.is_held = false};
    if (product)
        hold(e, l, product->exact, ir_binary(e->builder, OP_OR, fits, is_below(e, exact_value(e, &without, product))));
    hold(e, l, sum, fits);
}

/* Is every int that it is made of what it would be without wrapping? */
static bool never_wraps(struct elaborator *e, struct elab_value *value) {
    const struct exact *exact = value->exact;
    if (!exact)
        return true;
    for (int i = 0; i < exact->arity; i++)
        if (!never_wraps(e, exact->operands[i]))
            return false;
    return !is_ring(exact->op) || ir_never_wraps(e->builder, value->scalar);
}

static bool has_product(const struct exact *exact) {
    for (int i = 0; i < exact->arity; i++)
        if (exact->operands[i]->exact && has_product(exact->operands[i]->exact))
            return true;
    return exact->op == OP_MUL;
}

/* Sums of lengths and differences of offsets seldom do. */
static void warn(struct elaborator *e, const struct exact *exact) {
    if (!has_product(exact))
        return;
    struct diagnostic *d = diag_warning(e->diagnostics, DIAG_WRAPPING, e->span, "this length may wrap");
    diag_hint(e->diagnostics, d,
              "below grid it is compared with what an array may have only with `--check`; `min` bounds it");
}

static bool is_natural(const struct elab_value *value) { return !value->exact && value->scalar->low >= 0; }

/* An upper bound that the host knows, as in bound.c, but without wrapping; NULL: none. */
static struct ir_value *exact_bound(struct elaborator *e, struct elab_value *value) {
    const struct exact *exact = value->exact;
    if (!exact)
        return elab_upper_bound(e, elab_as_scalar(e, value));
    struct ir_builder *b = e->builder;
    struct elab_value *const *operands = exact->operands;
    struct ir_value *x = exact_bound(e, operands[0]), *y = exact->arity == 2 ? exact_bound(e, operands[1]) : NULL;
    if (exact->op == OP_MIN && (!x || !y))
        return x ? x : y;
    if (!x || !y)
        return exact->op == OP_SUB && is_natural(operands[1]) ? x : NULL;
    switch (exact->op) {
    case OP_ADD: return elab_sum_of_bounds(e, x, y);
    case OP_SUB: return is_natural(operands[1]) ? x : NULL;
    case OP_MUL: return is_natural(operands[0]) || is_natural(operands[1]) ? elab_product_of_bounds(e, x, y) : NULL;
    case OP_MIN:
    case OP_MAX: return ir_binary(b, exact->op, x, y);
    case OP_DIV:
        return is_natural(operands[1]) && operands[1]->scalar->low > 0
                   ? ir_binary(b, OP_DIV, x, ir_int(b, operands[1]->scalar->low))
                   : NULL;
    case OP_REM: return x;
    default: return NULL;
    }
}

/* The int of a number of elements, which may be negative; NULL: depends on data. */
static struct ir_value *exact_length(struct elaborator *e, struct elab_value *n) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_as_scalar(e, n);
    if (!length || !n->exact || never_wraps(e, n))
        return length;
    bool is_held = e->shape ? e->row_is_there != NULL : elab_checks_all(e) || ir_ambient(b) == LEVEL_GRID;
    if (!is_held && !n->exact->is_users) /* places in arrays, which do not wrap */
        return length;
    struct lengthening l = {.span = e->span, .is_ring = true, .is_held = is_held};
    struct ir_value *value = exact_value(e, &l, n);
    if (l.is_held) {
        hold_sum(e, &l, l.blamed ? l.blamed : n->exact, value);
        struct ir_value *first = elab_as_scalar(e, n->exact->operands[0]);
        struct ir_value *second = elab_as_scalar(e, n->exact->operands[n->exact->arity - 1]);
        elab_hold(e, CHECK_SUNK, ir_binary(b, OP_LE, wide(e, INT32_MIN), value), first, second, e->span);
    } else if (l.is_ring && !e->shape) {
        warn(e, n->exact);
    }
    if (l.is_ring)
        return length;
    struct ir_value *result = ir_convert(b, within_int(e, value), BASE_I32);
    struct ir_region *here = elab_enter_host(e);
    struct ir_value *most = exact_bound(e, n);
    ir_leave(b, here);
    if (most && most != result)
        map_set(e->bounds, result, most);
    return result;
}

static void check_not_negative(struct elaborator *e, struct ir_value *n, const struct ir_value *length) {
    struct ir_value *good = ir_binary(e->builder, OP_LE, ir_int(e->builder, 0), n);
    if (elab_is_measured(e))
        elab_check_measured(e, good, n, length);
    else
        elab_check(e, CHECK_LENGTH, good, n, n, e->span);
}

struct ir_value *elab_not_negative(struct elaborator *e, struct ir_value *n) {
    if (!n || n->low >= 0) /* unoptimised, too: lengths are to be seen to be equal at every level of optimisation */
        return n;
    struct ir_value *length = ir_binary(e->builder, OP_MAX, n, ir_int(e->builder, 0));
    if (elab_checks_all(e))
        check_not_negative(e, n, length);
    return length;
}

struct ir_value *elab_given_length(struct elaborator *e, struct elab_value *n) {
    return elab_not_negative(e, exact_length(e, n));
}

struct ir_value *elab_chunk_size(struct elaborator *e, struct elab_value *size) {
    struct ir_value *n = exact_length(e, size);
    if (n && elab_checks_all(e))
        elab_check(e, CHECK_CHUNK_SIZE, ir_binary(e->builder, OP_LE, ir_int(e->builder, 0), n), n, n, e->span);
    return n;
}

struct ir_value *elab_combined_length(struct elaborator *e, enum ir_op op, enum ir_check check, struct ir_value *x,
                                      struct ir_value *y) {
    struct ir_builder *b = e->builder;
    if (!x || !y)
        return NULL;
    struct ir_value *exact = ir_binary(b, op, ir_convert(b, x, BASE_I64), ir_convert(b, y, BASE_I64));
    struct ir_value *fits = ir_binary(b, OP_LE, exact, ir_convert(b, ir_int(b, INT32_MAX), BASE_I64));
    uint32_t made = e->kernel->value_count;
    struct ir_value *length = ir_binary(b, op, x, y);
    if (ir_ambient(b) == LEVEL_GRID && !e->shape)
        elab_require(e, check, fits, x, y, e->span);
    else
        elab_check(e, check, fits, x, y, e->span);
    if (ir_ambient(b) == LEVEL_GRID && !e->shape && x->low >= 0 && y->low >= 0 && !length->is_constant) {
        /* Else the host has ended the run. A value made before this check may also be used where nothing checks it. */
        if (length->id >= made && ir_stays(b, length))
            ir_bound(length, 0, INT32_MAX);
        else
            ir_assume_range(b, length, 0, INT32_MAX);
    }
    return length;
}
