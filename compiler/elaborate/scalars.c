/* Scalar primitives, and the sequential loops on scalar state. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/state.h"
#include "ir/machine.h"

#include <math.h>

/* ---- what is BUILT of other operations: make_<id> ---- */

/* Through comparisons, which every language has alike. */
static struct ir_value *make_ISNAN(struct ir_builder *b, struct ir_value *const *x) {
    return ir_binary(b, OP_NE, x[0], x[0]);
}

static struct ir_value *against_infinity(struct ir_builder *b, enum ir_op op, struct ir_value *x) {
    struct ir_value *infinity = ir_constant(b, x->base, (union scalar){.floating = INFINITY});
    return ir_binary(b, op, ir_unary(b, OP_ABS, x), infinity);
}

static struct ir_value *make_ISINF(struct ir_builder *b, struct ir_value *const *x) {
    return against_infinity(b, OP_EQ, x[0]);
}

static struct ir_value *make_ISFINITE(struct ir_builder *b, struct ir_value *const *x) {
    return against_infinity(b, OP_LT, x[0]);
}

/* Counts are modulo the width, so a rotation by 0 is x | x. */
static struct ir_value *rotate(struct ir_builder *b, struct ir_value *x, struct ir_value *count, bool left) {
    enum base natural = base_of_bits(x->base);
    struct ir_value *bits = ir_convert(b, x, natural), *up = ir_convert(b, count, natural);
    struct ir_value *down = ir_unary(b, OP_NEG, up);
    struct ir_value *high = ir_binary(b, OP_SHL, bits, left ? up : down);
    struct ir_value *low = ir_binary(b, OP_SHR, bits, left ? down : up);
    return ir_convert(b, ir_binary(b, OP_OR, high, low), x->base);
}

static struct ir_value *make_ROTATE_LEFT(struct ir_builder *b, struct ir_value *const *x) {
    return rotate(b, x[0], x[1], true);
}

static struct ir_value *make_ROTATE_RIGHT(struct ir_builder *b, struct ir_value *const *x) {
    return rotate(b, x[0], x[1], false);
}

/* Narrow numbers are added as ints, which hold the sum. Elsewhere a signed sum has wrapped if its sign
   is that of neither operand, and a natural one if it is below an operand. */
static struct ir_value *make_ADD_SATURATE(struct ir_builder *b, struct ir_value *const *x) {
    enum base base = x[0]->base;
    bool is_signed = base_info[base].is_signed;
    int bits = base_info[base].bits;
    int64_t most = (int64_t)(UINT64_MAX >> (64 - bits + is_signed));
    if (bits < 32) {
        struct ir_value *sum = ir_binary(b, OP_ADD, ir_convert(b, x[0], BASE_I32), ir_convert(b, x[1], BASE_I32));
        struct ir_value *kept = ir_binary(b, OP_MIN, sum, ir_int(b, most));
        return ir_convert(b, is_signed ? ir_binary(b, OP_MAX, kept, ir_int(b, -most - 1)) : kept, base);
    }
    struct ir_value *sum = ir_binary(b, OP_ADD, x[0], x[1]);
    struct ir_value *end = ir_constant(b, base, (union scalar){.integer = most});
    if (!is_signed)
        return ir_ternary(b, OP_SELECT, ir_binary(b, OP_LT, sum, x[0]), end, sum);
    struct ir_value *signs = ir_binary(b, OP_AND, ir_binary(b, OP_XOR, x[0], sum), ir_binary(b, OP_XOR, x[1], sum));
    struct ir_value *wrapped = ir_binary(b, OP_LT, signs, ir_constant(b, base, (union scalar){0}));
    struct ir_value *sign = ir_binary(b, OP_SHR, x[0], ir_constant(b, base, (union scalar){.integer = bits - 1}));
    return ir_ternary(b, OP_SELECT, wrapped, ir_binary(b, OP_XOR, sign, end), sum);
}

/* ---- all ---- */

struct translation {
    enum ir_op op;
    bool is_turned;                                                            /* a > b is b < a */
    enum base to;                                                              /* CONVERT, BITS */
    struct ir_value *(*make)(struct ir_builder *b, struct ir_value *const *x); /* or NULL */
};

static const struct translation translations[PRIM_COUNT] = {
#define IS(id)                                                                                                         \
    { .op = OP_##id }
#define TURNED(id)                                                                                                     \
    { .op = OP_##id, .is_turned = true }
#define CONVERTS(base)                                                                                                 \
    { .op = OP_CONVERT, .to = BASE_##base }
#define SAME_BITS(base)                                                                                                \
    { .op = OP_BITS, .to = BASE_##base }
#define BUILT(id)                                                                                                      \
    { .op = OP_COUNT, .make = make_##id }
#define PRIM(id, name, arity, type, doc)
#define SCALAR(id, name, arity, type, doc, commutes, made) [PRIM_##id] = made,
#include "types/primitives.def"
};

static struct ir_value *translate(struct ir_builder *b, const struct translation *to, int arity,
                                  struct ir_value *const *x) {
    if (to->make)
        return to->make(b, x);
    if (arity == 3)
        return ir_ternary(b, to->op, x[0], x[1], x[2]);
    return arity == 1 ? ir_unary_to(b, to->op, x[0], to->to)
                      : ir_binary(b, to->op, x[to->is_turned], x[!to->is_turned]);
}

/* Compares tuples by component: == wants all equal, != any different; < and <= go by the first that differs. */
static struct elab_value *compare_tuples(struct elaborator *e, const struct translation *to,
                                         struct elab_value **arguments) {
    struct ir_builder *b = e->builder;
    ir_values x = elab_leaves(e, arguments[to->is_turned]), y = elab_leaves(e, arguments[!to->is_turned]);
    struct ir_value *result = NULL;
    for (size_t i = x.count; i-- > 0;) {
        if (!x.at[i] || !y.at[i])
            return elab_unknown(e);
        bool orders = to->op == OP_LT || to->op == OP_LE;
        struct ir_value *one = ir_binary(b, orders && result ? OP_LT : to->op, x.at[i], y.at[i]);
        if (orders && result)
            result = ir_binary(b, OP_AND, ir_binary(b, OP_EQ, x.at[i], y.at[i]), result);
        result = result ? ir_binary(b, to->op == OP_EQ ? OP_AND : OP_OR, one, result) : one;
    }
    return elab_scalar(e, result);
}

struct elab_value *elab_scalar_primitive(struct elaborator *e, enum primitive primitive,
                                         const struct instance *instance, struct elab_value **arguments) {
    (void)instance;
    if (arguments[0]->kind == ELAB_TUPLE)
        return compare_tuples(e, &translations[primitive], arguments);
    struct ir_value *x[3] = {0};
    int arity = primitive_info[primitive].arity;
    for (int i = 0; i < arity; i++) {
        x[i] = elab_as_scalar(e, arguments[i]);
        if (!x[i])
            return elab_unknown(e);
    }
    const struct translation *to = &translations[primitive];
    if (to->op == OP_SHL || to->op == OP_SHR) /* the count is taken modulo a width that divides 2^8 */
        x[1] = ir_convert(e->builder, x[1], x[0]->base);
    struct elab_value *result = elab_scalar(e, translate(e->builder, to, arity, x));
    elab_remember(e, to->op, arguments, arity, result);
    return result;
}

/* ---- loop ---- */

/* Is the value the same whenever it is asked for in a loop whose first carried value is `first`?
   A loaded value counts as one that changes. `kept`: values that stay the same, carried by the loop or seen before. */
static bool never_changes(struct map *kept, const struct ir_value *value, const struct ir_value *first) {
    const struct ir_instruction *definition = value->definition;
    if (value->is_constant || value->id < first->id || map_has(kept, value))
        return true;
    if (!definition || definition->kind != IR_OPERATION)
        return false;
    for (size_t i = 0; i < definition->operand_count; i++)
        if (!never_changes(kept, definition->operands[i], first))
            return false;
    map_set(kept, value, (void *)definition);
    return true;
}

struct loop_condition elab_loop_condition(struct elaborator *e, struct ir_value *more) {
    return (struct loop_condition){ir_resolve(e->builder, more), ir_known(e->builder, more) == IR_TRUE};
}

void elab_find_endless(struct elaborator *e, struct loop_condition condition, struct ir_value *const *before,
                       struct ir_value *const *after, size_t count, bool is_kept, struct span span) {
    struct map *kept = map_new(e->arena);
    for (size_t i = 0; i < count; i++)
        if (ir_resolve(e->builder, after[i]) == before[i])
            map_set(kept, before[i], (void *)before);
    const char *why = NULL;
    if (is_kept)
        why = "its step gives back the state that it gets";
    else if (condition.always_holds)
        why = "its condition always holds";
    else if (never_changes(kept, condition.value, before[0]))
        why = "no step changes what its condition looks at";
    if (!why || e->shape)
        return;
    diag_warning(e->diagnostics, DIAG_ENDLESS, span, "this loop does not end if it begins: %s", why);
    if (elab_checks_all(e)) {
        struct ir_value *zero = ir_int(e->builder, 0);
        elab_check(e, CHECK_ENDLESS, ir_bool(e->builder, false), zero, zero, span);
    }
}

/* Do the steps of a loop that were taken since then come to so much that it had better stay a loop? The code of
   these steps is dead then, but a trace would stay, and must not come twice. */
static bool is_too_much(const struct elaborator *e, uint64_t begun) {
    return e->steps - begun > ANY_UNROLLED_EVALUATION && !e->kernel->trace;
}

/* note [kept ends]
   With checks, an end of the range in which an int of a loop begins is looked for in all of its steps: an index that
   begins at 0 and grows while it is below a length is never negative. All these ends are taken for kept. A trial of a
   step says of which that is not proved, and so on with the others, until what is taken for kept is. A number that does
   not stay as large may still stay natural. */
enum { MOST_TRIALS = 5 };
struct keeping {
    struct elab_value **arguments, *state;
    ir_values first;
    int64_t *lows, *highs;
    bool is_kept;
};

static bool keeps(struct ir_builder *b, struct ir_value *x, struct ir_value *y) {
    return ir_prove(b, ir_binary(b, OP_LE, x, y));
}

static void try_step(struct elaborator *e, void *context) {
    struct keeping *k = context;
    struct ir_builder *b = e->builder;
    struct ir_value **current = ARENA_ARRAY(e->arena, struct ir_value *, k->first.count);
    memcpy(current, k->first.at, k->first.count * sizeof *current);
    ir_begin_while(b, current, k->first.count, k->lows, k->highs);
    struct elab_value *now = elab_unflatten(e, k->state, current);
    struct ir_value *more = elab_as_scalar(e, elab_apply(e, k->arguments[0], now));
    ir_while_body(b, more ? more : ir_bool(b, false));
    ir_values after = elab_leaves(e, elab_apply(e, k->arguments[1], now));
    k->is_kept = true;
    for (size_t i = 0; i < after.count; i++) {
        struct ir_value *x = after.at[i];
        bool is_low = k->lows[i] == INT64_MIN || (more && x && keeps(b, ir_int(b, k->lows[i]), x));
        bool is_high = k->highs[i] == INT64_MAX || (more && x && keeps(b, x, ir_int(b, k->highs[i])));
        k->lows[i] = is_low ? k->lows[i] : k->lows[i] > 0 ? 0 : INT64_MIN;
        k->highs[i] = is_high ? k->highs[i] : INT64_MAX;
        k->is_kept &= is_low && is_high;
    }
}

/* Finds the ends that are kept (note [kept ends]) of so many carried values; INT64_MIN and INT64_MAX: none is. */
static void find_kept_ends(struct elaborator *e, struct keeping *k, size_t count) {
    bool is_any = false;
    k->lows = ARENA_ARRAY(e->arena, int64_t, count);
    k->highs = ARENA_ARRAY(e->arena, int64_t, count);
    for (size_t i = 0; i < count; i++) {
        const struct ir_value *x = i < k->first.count ? k->first.at[i] : NULL;
        bool is_int = x && x->base == BASE_I32 && e->guards && !e->shape && !e->tries;
        k->lows[i] = is_int && x->low > INT32_MIN ? x->low : INT64_MIN;
        k->highs[i] = is_int && x->high < INT32_MAX ? x->high : INT64_MAX;
        is_any |= k->lows[i] > INT64_MIN || k->highs[i] < INT64_MAX;
    }
    k->is_kept = !is_any;
    for (int i = 0; i < MOST_TRIALS && !k->is_kept; i++)
        if (!elab_try(e, try_step, k))
            break;
    for (size_t i = 0; i < count && !k->is_kept; i++) {
        k->lows[i] = INT64_MIN;
        k->highs[i] = INT64_MAX;
    }
}

PRIMITIVE(LOOP) {
    struct ir_builder *b = e->builder;
    struct elab_value *first = elab_plain(e, arguments[2]), *state = first;
    struct span span = e->span;
    uint64_t begun = e->steps;
    /* Steps whose condition is known at compile time are taken here. */
    for (int i = 0; i <= e->options->unroll; i++) {
        if (is_too_much(e, begun)) {
            state = first;
            break;
        }
        struct ir_value *more = elab_as_scalar(e, elab_apply(e, arguments[0], state));
        enum ir_truth truth = more ? ir_known(b, more) : IR_UNKNOWN;
        if (truth == IR_FALSE)
            return state;
        if (truth == IR_UNKNOWN)
            break;
        e->unrolled++;
        if (i < e->options->unroll)
            state = elab_plain(e, elab_apply(e, arguments[1], state));
    }
    ir_values carried = elab_leaves(e, state);
    size_t count = carried.count;
    for (size_t i = 0; i < count; i++)
        if (!carried.at[i]) /* a shape that depends on data */
            return elab_unknown_like(e, state);
    struct keeping keeping = {.arguments = arguments, .state = state, .first = carried};
    elab_repeats_carry(e, &carried);
    size_t all = carried.count;
    find_kept_ends(e, &keeping, all);
    struct ir_value **current = ARENA_ARRAY(e->arena, struct ir_value *, all);
    memcpy(current, carried.at, all * sizeof *current);
    struct split_frame *split = e->split;
    e->split = NULL;
    ir_begin_while(b, current, all, keeping.lows, keeping.highs);
    struct elab_value *now = elab_unflatten(e, state, current);
    struct ir_value *more = elab_as_scalar(e, elab_apply(e, arguments[0], now));
    bool known = more != NULL;
    struct loop_condition condition = {0};
    if (known)
        condition = elab_loop_condition(e, more);
    ir_while_body(b, known ? more : ir_bool(b, false));
    ir_values after = {0};
    if (known)
        after = elab_leaves(e, elab_apply(e, arguments[1], now));
    for (size_t i = 0; i < after.count; i++)
        known = known && after.at[i];
    bool is_kept = true;
    for (size_t i = 0; known && i < count; i++)
        is_kept &= ir_resolve(b, after.at[i]) == current[i];
    if (known) {
        elab_repeats_check(e, current, count, &after, span);
        elab_find_endless(e, condition, current, after.at, count, is_kept, span);
    }
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, all);
    ir_end_while(b, known ? after.at : current, results);
    e->split = split;
    if (!known)
        memset(results, 0, count * sizeof *results);
    return elab_unflatten(e, state, results);
}

struct elab_value *elab_select(struct elaborator *e, struct ir_value *condition, struct elab_value *a,
                               struct elab_value *b) {
    ir_values x = elab_leaves(e, a), y = elab_leaves(e, b);
    for (size_t k = 0; k < x.count; k++)
        x.at[k] =
            condition && x.at[k] && y.at[k] ? ir_ternary(e->builder, OP_SELECT, condition, x.at[k], y.at[k]) : NULL;
    return elab_unflatten(e, a, x.at);
}

PRIMITIVE(EITHER_OF) { return elab_select(e, elab_as_scalar(e, arguments[0]), arguments[1], arguments[2]); }

PRIMITIVE(SPIN) {
    struct ir_builder *b = e->builder;
    struct elab_value *first = elab_plain(e, arguments[2]);
    if (ir_known(b, elab_as_scalar(e, elab_apply(e, arguments[0], first))) == IR_FALSE)
        return first;
    ir_values carried = elab_leaves(e, first);
    struct split_frame *split = e->split;
    e->split = NULL;
    ir_begin_while(b, carried.at, carried.count, NULL, NULL);
    struct elab_value *now = elab_unflatten(e, first, carried.at);
    ir_while_body(b, elab_as_scalar(e, elab_apply(e, arguments[0], now)));
    ir_values after = elab_leaves(e, elab_apply(e, arguments[1], now));
    ir_end_while(b, after.at, carried.at);
    e->split = split;
    return elab_unflatten(e, first, carried.at);
}

/* ---- foldl ---- */

static struct elab_value *fold(struct elaborator *e, struct elab_value **arguments, bool unrolls) {
    struct ir_builder *b = e->builder;
    struct elab_value *function = arguments[0], *state = elab_plain(e, arguments[1]);
    struct pull *array = elab_as_pull(e, arguments[2]);
    ir_values carried = elab_leaves(e, state);
    size_t count = carried.count;
    struct ir_value *length = array->length ? ir_resolve(b, array->length) : NULL;
    bool known = length != NULL;
    for (size_t i = 0; i < count; i++)
        known = known && carried.at[i];
    if (!known)
        return elab_unknown_like(e, state);
    /* Lists have code of their own for each item; short static arrays are cheaper without the loop. */
    if (unrolls && length->is_constant && (array->kind == PULL_LIST || length->constant.integer <= ANY_FOLDED)) {
        e->unrolled += (uint64_t)length->constant.integer;
        for (int64_t i = 0; i < length->constant.integer; i++)
            state = elab_plain(e, elab_apply2(e, function, state, elab_index(e, array, ir_int(b, i))));
        return state;
    }
    struct ir_value **current = ARENA_ARRAY(e->arena, struct ir_value *, count);
    memcpy(current, carried.at, count * sizeof *current);
    struct split_frame *split = e->split;
    e->split = NULL;
    struct ir_value *i = ir_begin_for(b, length, current, count, "i");
    struct elab_value *now = elab_unflatten(e, state, current);
    ir_values after = elab_leaves(e, elab_apply2(e, function, now, elab_index(e, array, i)));
    for (size_t k = 0; k < count; k++)
        known = known && after.at[k];
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, count);
    ir_end_for(b, known ? after.at : current, results);
    e->split = split;
    if (!known)
        memset(results, 0, count * sizeof *results);
    return elab_unflatten(e, state, results);
}

PRIMITIVE(FOLDL) { return fold(e, arguments, true); }

PRIMITIVE(FOLD_LOOP) { return fold(e, arguments, false); }
