/* Scalar primitives, and the sequential loops on scalar state. */
#include "elaborate/value.h"

#include <math.h>

struct translation {
    enum ir_op op;
    bool swapped; /* a > b is b < a */
};

static const struct translation translations[PRIM_COUNT] = {
    [PRIM_ADD] = {OP_ADD, false},
    [PRIM_SUB] = {OP_SUB, false},
    [PRIM_MUL] = {OP_MUL, false},
    [PRIM_DIV] = {OP_DIV, false},
    [PRIM_REM] = {OP_REM, false},
    [PRIM_DIV_WORD] = {OP_DIV, false},
    [PRIM_MOD_WORD] = {OP_REM, false},
    [PRIM_NEG] = {OP_NEG, false},
    [PRIM_MIN] = {OP_MIN, false},
    [PRIM_MAX] = {OP_MAX, false},
    [PRIM_ABS] = {OP_ABS, false},
    [PRIM_EQ] = {OP_EQ, false},
    [PRIM_NE] = {OP_NE, false},
    [PRIM_LT] = {OP_LT, false},
    [PRIM_LE] = {OP_LE, false},
    [PRIM_GT] = {OP_LT, true},
    [PRIM_GE] = {OP_LE, true},
    [PRIM_NOT] = {OP_NOT, false},
    [PRIM_BIT_AND] = {OP_AND, false},
    [PRIM_BIT_OR] = {OP_OR, false},
    [PRIM_BIT_XOR] = {OP_XOR, false},
    [PRIM_BIT_NOT] = {OP_BIT_NOT, false},
    [PRIM_SHL] = {OP_SHL, false},
    [PRIM_SHR] = {OP_SHR, false},
    [PRIM_CLZ] = {OP_CLZ, false},
    [PRIM_POPCOUNT] = {OP_POPCOUNT, false},
    [PRIM_SQRT] = {OP_SQRT, false},
    [PRIM_RSQRT] = {OP_RSQRT, false},
    [PRIM_EXP] = {OP_EXP, false},
    [PRIM_LOG] = {OP_LOG, false},
    [PRIM_POW] = {OP_POW, false},
    [PRIM_SIN] = {OP_SIN, false},
    [PRIM_COS] = {OP_COS, false},
    [PRIM_TAN] = {OP_TAN, false},
    [PRIM_FLOOR] = {OP_FLOOR, false},
    [PRIM_CEIL] = {OP_CEIL, false},
    [PRIM_FMA] = {OP_FMA, false},
    [PRIM_EXP2] = {OP_EXP2, false},
    [PRIM_LOG2] = {OP_LOG2, false},
    [PRIM_LOG10] = {OP_LOG10, false},
    [PRIM_ASIN] = {OP_ASIN, false},
    [PRIM_ACOS] = {OP_ACOS, false},
    [PRIM_ATAN] = {OP_ATAN, false},
    [PRIM_SINH] = {OP_SINH, false},
    [PRIM_COSH] = {OP_COSH, false},
    [PRIM_TANH] = {OP_TANH, false},
    [PRIM_ROUND] = {OP_ROUND, false},
    [PRIM_TRUNC] = {OP_TRUNC, false},
    [PRIM_CBRT] = {OP_CBRT, false},
    [PRIM_ATAN2] = {OP_ATAN2, false},
    [PRIM_HYPOT] = {OP_HYPOT, false},
    [PRIM_COPYSIGN] = {OP_COPYSIGN, false},
    [PRIM_BITS_OF_F32] = {OP_BITS, false},
    [PRIM_F32_OF_BITS] = {OP_BITS, false},
    [PRIM_BITS_OF_F64] = {OP_BITS, false},
    [PRIM_F64_OF_BITS] = {OP_BITS, false},
};

static bool conversion(enum primitive primitive, enum base *to) {
    switch ((int)primitive) {
    case PRIM_TO_BOOL: *to = BASE_BOOL; return true;
    case PRIM_TO_I8: *to = BASE_I8; return true;
    case PRIM_TO_I16: *to = BASE_I16; return true;
    case PRIM_TO_I32:
    case PRIM_TO_I32_ALIAS: *to = BASE_I32; return true;
    case PRIM_TO_I64: *to = BASE_I64; return true;
    case PRIM_TO_U8: *to = BASE_U8; return true;
    case PRIM_TO_U16: *to = BASE_U16; return true;
    case PRIM_TO_U32:
    case PRIM_TO_U32_ALIAS: *to = BASE_U32; return true;
    case PRIM_TO_U64: *to = BASE_U64; return true;
    case PRIM_TO_F32:
    case PRIM_TO_F32_ALIAS: *to = BASE_F32; return true;
    case PRIM_TO_F64:
    case PRIM_TO_F64_ALIAS: *to = BASE_F64; return true;
    default: return false;
    }
}

/* Equality by component: all are equal, or any differs. */
static struct elab_value *compare_tuples(struct elaborator *e, enum primitive primitive,
                                         struct elab_value **arguments) {
    ir_values a = {0}, b = {0};
    elab_flatten(e, arguments[0], &a);
    elab_flatten(e, arguments[1], &b);
    struct ir_value *result = ir_bool(e->builder, primitive == PRIM_EQ);
    for (size_t i = 0; i < a.count; i++) {
        if (!a.at[i] || !b.at[i])
            return elab_unknown(e);
        struct ir_value *one = ir_binary(e->builder, primitive == PRIM_EQ ? OP_EQ : OP_NE, a.at[i], b.at[i]);
        result = ir_binary(e->builder, primitive == PRIM_EQ ? OP_AND : OP_OR, result, one);
    }
    return elab_scalar(e, result);
}

/* Through comparisons, which every language has alike. */
static struct ir_value *classify(struct ir_builder *b, enum primitive primitive, struct ir_value *x) {
    if (primitive == PRIM_ISNAN)
        return ir_binary(b, OP_NE, x, x);
    struct ir_value *infinity = ir_constant(b, x->base, (union scalar){.floating = INFINITY});
    return ir_binary(b, primitive == PRIM_ISINF ? OP_EQ : OP_LT, ir_unary(b, OP_ABS, x), infinity);
}

/* Counts are modulo the width, so a rotation by 0 is x | x. */
static struct ir_value *rotate(struct ir_builder *b, struct ir_value *x, struct ir_value *count, bool left) {
    static const enum base naturals[BASE_COUNT] = {
        [BASE_I8] = BASE_U8, [BASE_I16] = BASE_U16, [BASE_I32] = BASE_U32, [BASE_I64] = BASE_U64,
        [BASE_U8] = BASE_U8, [BASE_U16] = BASE_U16, [BASE_U32] = BASE_U32, [BASE_U64] = BASE_U64};
    enum base natural = naturals[x->base];
    struct ir_value *bits = ir_convert(b, x, natural), *up = ir_convert(b, count, natural);
    struct ir_value *down = ir_unary(b, OP_NEG, up);
    struct ir_value *high = ir_binary(b, OP_SHL, bits, left ? up : down);
    struct ir_value *low = ir_binary(b, OP_SHR, bits, left ? down : up);
    return ir_convert(b, ir_binary(b, OP_OR, high, low), x->base);
}

struct elab_value *elab_scalar_primitive(struct elaborator *e, enum primitive primitive,
                                         const struct instance *instance, struct elab_value **arguments) {
    (void)instance;
    struct ir_builder *b = e->builder;
    if (arguments[0]->kind == ELAB_TUPLE)
        return compare_tuples(e, primitive, arguments);
    struct ir_value *x[3] = {0};
    int arity = primitive_info[primitive].arity;
    for (int i = 0; i < arity; i++) {
        x[i] = elab_as_scalar(e, arguments[i]);
        if (!x[i])
            return elab_unknown(e);
    }
    enum base to;
    if (conversion(primitive, &to))
        return elab_scalar(e, ir_convert(b, x[0], to));
    if (primitive == PRIM_ISNAN || primitive == PRIM_ISINF || primitive == PRIM_ISFINITE)
        return elab_scalar(e, classify(b, primitive, x[0]));
    if (primitive == PRIM_ROTATE_LEFT || primitive == PRIM_ROTATE_RIGHT)
        return elab_scalar(e, rotate(b, x[0], x[1], primitive == PRIM_ROTATE_LEFT));
    const struct translation *to_ir = &translations[primitive];
    if (arity == 3)
        return elab_scalar(e, ir_ternary(b, to_ir->op, x[0], x[1], x[2]));
    struct elab_value *result = elab_scalar(e, arity == 1       ? ir_unary(b, to_ir->op, x[0])
                                               : to_ir->swapped ? ir_binary(b, to_ir->op, x[1], x[0])
                                                                : ir_binary(b, to_ir->op, x[0], x[1]));
    elab_remember(e, to_ir->op, arguments, arity, result);
    return result;
}

/* ---- loop ---- */

/* Once its condition holds, a loop whose step changes nothing goes on for ever; so does one whose condition always holds. */
static void warn_endless(struct elaborator *e, bool always, struct ir_value *const *before, const ir_values *after,
                         struct span span) {
    bool is_kept = true;
    for (size_t i = 0; i < after->count; i++)
        is_kept &= ir_resolve(e->builder, after->at[i]) == before[i];
    if (is_kept)
        diag_warning(e->diagnostics, DIAG_ENDLESS, span,
                     "this loop does not end if it begins: its step gives back the state that it gets");
    else if (always)
        diag_warning(e->diagnostics, DIAG_ENDLESS, span, "this loop does not end: its condition always holds");
}

struct elab_value *elab_LOOP(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                             struct elab_value **arguments) {
    (void)primitive, (void)instance;
    struct ir_builder *b = e->builder;
    struct elab_value *state = arguments[2];
    struct span span = e->span;
    /* As long as the condition is known at compile time, steps are taken there. */
    for (int i = 0; i <= e->options->unroll; i++) {
        struct ir_value *more = elab_as_scalar(e, elab_apply(e, arguments[0], state));
        enum ir_truth truth = more ? ir_known(b, more) : IR_UNKNOWN;
        if (truth == IR_FALSE)
            return state;
        if (truth == IR_UNKNOWN)
            break;
        if (i < e->options->unroll)
            state = elab_apply(e, arguments[1], state);
    }
    ir_values carried = {0};
    elab_flatten(e, state, &carried);
    size_t count = carried.count;
    for (size_t i = 0; i < count; i++)
        if (!carried.at[i]) { /* a shape that depends on data */
            size_t next = 0;
            return elab_unflatten(e, state, ARENA_ARRAY(e->arena, struct ir_value *, count), &next);
        }
    elab_repeats_carry(e, &carried);
    size_t all = carried.count;
    struct ir_value **current = ARENA_ARRAY(e->arena, struct ir_value *, all);
    memcpy(current, carried.at, all * sizeof *current);
    struct split_frame *split = e->split;
    e->split = NULL;
    ir_begin_while(b, current, all, NULL, NULL);
    size_t next = 0;
    struct elab_value *now = elab_unflatten(e, state, current, &next);
    struct ir_value *more = elab_as_scalar(e, elab_apply(e, arguments[0], now));
    bool known = more != NULL, always = known && ir_known(b, more) == IR_TRUE;
    ir_while_body(b, known ? more : ir_bool(b, false));
    ir_values after = {0};
    if (known)
        elab_flatten(e, elab_apply(e, arguments[1], now), &after);
    for (size_t i = 0; i < after.count; i++)
        known = known && after.at[i];
    if (known && !e->shape)
        warn_endless(e, always, current, &after, span);
    if (known)
        elab_repeats_check(e, current, count, &after, span);
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, all);
    ir_end_while(b, known ? after.at : current, results);
    e->split = split;
    if (!known)
        memset(results, 0, count * sizeof *results);
    next = 0;
    return elab_unflatten(e, state, results, &next);
}

/* ---- foldl ---- */

struct elab_value *elab_FOLDL(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                              struct elab_value **arguments) {
    (void)primitive, (void)instance;
    struct ir_builder *b = e->builder;
    struct elab_value *function = arguments[0], *state = arguments[1];
    struct pull *array = elab_as_pull(e, arguments[2]);
    ir_values carried = {0};
    elab_flatten(e, state, &carried);
    size_t count = carried.count, next = 0;
    struct ir_value *length = array->length ? ir_resolve(b, array->length) : NULL;
    bool known = length != NULL;
    for (size_t i = 0; i < count; i++)
        known = known && carried.at[i];
    if (!known)
        return elab_unflatten(e, state, ARENA_ARRAY(e->arena, struct ir_value *, count), &next);
    /* Lists have code of their own for each item; short static arrays are cheaper without the loop. */
    enum { SHORT = 8 };
    if (length->is_constant && (array->kind == PULL_LIST || length->constant.integer <= SHORT)) {
        for (int64_t i = 0; i < length->constant.integer; i++)
            state = elab_apply2(e, function, state, elab_index(e, array, ir_int(b, i)));
        return state;
    }
    struct ir_value **current = ARENA_ARRAY(e->arena, struct ir_value *, count);
    memcpy(current, carried.at, count * sizeof *current);
    struct split_frame *split = e->split;
    e->split = NULL;
    struct ir_value *i = ir_begin_for(b, length, current, count, "i");
    struct elab_value *now = elab_unflatten(e, state, current, &next);
    ir_values after = {0};
    elab_flatten(e, elab_apply2(e, function, now, elab_index(e, array, i)), &after);
    for (size_t k = 0; k < count; k++)
        known = known && after.at[k];
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, count);
    ir_end_for(b, known ? after.at : current, results);
    e->split = split;
    if (!known)
        memset(results, 0, count * sizeof *results);
    next = 0;
    return elab_unflatten(e, state, results, &next);
}
