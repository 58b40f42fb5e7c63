/* Algebra: what an operation is equal to, given what is known of its operands. Every rule holds for all operands that
   reach it, NaN and -0 included; nothing on floats is reassociated. */
#include "ir/build/simplify.h"

static bool is_op(const struct ir_value *value, enum ir_op op) {
    return value->definition && value->definition->kind == IR_OPERATION && value->definition->op == op;
}

static struct ir_value *operand_of(const struct ir_value *value, size_t i) { return value->definition->operands[i]; }

static bool is_floating(const struct ir_value *value) { return base_info[value->base].is_floating; }

static bool is_integer_constant(const struct ir_value *value, int64_t constant) {
    return value->is_constant && !is_floating(value) &&
           value->constant.natural == base_wrap(value->base, (union scalar){.integer = constant}).natural;
}

/* Compares bits, as 0.0 is not -0.0. */
static bool is_float_constant(const struct ir_value *value, double constant) {
    union scalar wanted = {.floating = constant};
    return value->is_constant && is_floating(value) && value->constant.natural == wanted.natural;
}

static bool is_not_negative(struct ir_builder *b, const struct ir_value *value) {
    return facts_range(b, value).low >= 0;
}

static bool is_not_zero(struct ir_builder *b, const struct ir_value *value) {
    struct range range = facts_range(b, value);
    return range.low > 0 || range.high < 0;
}

static struct ir_value *zero(struct ir_builder *b, enum base base) { return builder_integer(b, base, 0); }

static void swap(struct ir_value **x) {
    struct ir_value *first = x[0];
    x[0] = x[1];
    x[1] = first;
}

/* fmin and fmax may tell their operands apart (zeros of both signs), so floats keep theirs in order there. */
static bool is_commutative(enum ir_op op, bool floating) {
    enum commutes commutes = ir_op_info[op].commutes;
    return commutes == COMMUTES || (commutes == INTEGERS_COMMUTE && !floating);
}

/* ---- what is built in the place of an operation ---- */

struct ir_value simplify_again;

/* y NULL: it has one operand. */
static struct ir_value *again(struct wanted *w, enum ir_op op, struct ir_value *x, struct ir_value *y) {
    w->again = AGAIN_OPERATION;
    w->op = op;
    w->base = fold_result_base(op, (y ? y : x)->base);
    w->count = y ? 2 : 1;
    w->x[0] = x;
    w->x[1] = y;
    return &simplify_again;
}

static struct ir_value *selection(struct wanted *w, struct ir_value *condition, struct ir_value *x,
                                  struct ir_value *y) {
    w->again = AGAIN_OPERATION;
    w->x[0] = condition;
    w->x[1] = x;
    w->x[2] = y;
    return &simplify_again;
}

static struct ir_value *converted(struct wanted *w, struct ir_value *x, enum base to) {
    if (x->base == to)
        return x;
    again(w, OP_CONVERT, x, NULL);
    w->base = to;
    return &simplify_again;
}

static struct ir_value *sum_of(struct wanted *w, const struct linear *sum) {
    w->again = AGAIN_SUM;
    w->sum = *sum;
    return &simplify_again;
}

/* The operation of `rest` in place of its first operand, and `sum` added to that; NULL: nothing is. */
static struct ir_value *of_rest(struct wanted *w, const struct linear *rest, const struct linear *sum) {
    w->again = AGAIN_OF_REST;
    w->rest = *rest;
    w->sum = sum ? *sum : (struct linear){.base = rest->base};
    return &simplify_again;
}

/* The operation on two constants, computed now. */
static struct ir_value *folded(struct ir_builder *b, enum ir_op op, const struct ir_value *x,
                               const struct ir_value *y) {
    union scalar operands[] = {x->constant, y->constant};
    return ir_constant(b, x->base, fold_operation(op, x->base, x->base, operands));
}

/* ---- sums and products ---- */

static struct ir_value *as_shorter_sum(struct ir_builder *b, struct wanted *w) {
    struct linear sum;
    return !b->rebuilding && linear_shorter(b, w->op, w->x[0], w->x[1], &sum) ? sum_of(w, &sum) : NULL;
}

/* The integer that a conversion to a wider one leaves as it is; another value itself. */
static struct ir_value *unwidened(struct ir_value *x) {
    if (!is_op(x, OP_CONVERT) || !base_info[x->base].is_integer)
        return x;
    const struct base_info *from = &base_info[operand_of(x, 0)->base], *to = &base_info[x->base];
    return from->is_integer && from->bits < to->bits && (to->is_signed || !from->is_signed) ? operand_of(x, 0) : x;
}

/* x of (x / n) * n + x % n, for an n that is not constant (linear.c does the others); in more
   bits, too, where the quotient is not of the least number and -1. NULL: the sum is another. */
static struct ir_value *undivided(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    for (int i = 0; i < 2; i++) {
        const struct ir_value *rest = unwidened(x[!i]);
        if (!is_op(x[i], OP_MUL) || !is_op(rest, OP_REM))
            continue;
        struct ir_value *whole = operand_of(rest, 0);
        const struct ir_value *n = operand_of(rest, 1);
        bool is_exact =
            whole->base == x[i]->base || facts_range(b, whole).low > base_low(whole->base) || is_not_negative(b, n);
        for (size_t j = 0; j < 2; j++) {
            const struct ir_value *quotient = unwidened(operand_of(x[i], j));
            if (is_exact && unwidened(operand_of(x[i], !j)) == n && is_op(quotient, OP_DIV) &&
                operand_of(quotient, 0) == whole && operand_of(quotient, 1) == n)
                return converted(w, whole, x[i]->base);
        }
    }
    return NULL;
}

static struct ir_value *simplify_add(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    if (is_floating(x[0]))
        return is_float_constant(x[1], -0.0) ? x[0] : NULL;
    if (is_integer_constant(x[1], 0))
        return x[0];
    struct ir_value *whole = undivided(b, w);
    if (whole)
        return whole;
    if (is_op(x[1], OP_NEG))
        return again(w, OP_SUB, x[0], operand_of(x[1], 0));
    struct ir_value *shorter = as_shorter_sum(b, w);
    if (shorter)
        return shorter;
    /* x + -1 is written x - 1 */
    if (x[1]->is_constant && base_info[x[1]->base].is_signed && x[1]->constant.integer < 0 &&
        x[1]->constant.integer > base_low(x[1]->base))
        return again(w, OP_SUB, x[0], builder_integer(b, x[1]->base, -x[1]->constant.integer));
    return NULL;
}

static struct ir_value *simplify_sub(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    if (is_floating(x[0]))
        return is_float_constant(x[1], 0.0) ? x[0] : NULL;
    if (x[0] == x[1])
        return zero(b, x[0]->base);
    if (is_integer_constant(x[1], 0))
        return x[0];
    if (is_integer_constant(x[0], 0))
        return again(w, OP_NEG, x[1], NULL);
    if (is_op(x[1], OP_NEG))
        return again(w, OP_ADD, x[0], operand_of(x[1], 0));
    struct ir_value *shorter = as_shorter_sum(b, w);
    if (shorter)
        return shorter;
    if (x[1]->is_constant && base_info[x[1]->base].is_signed && x[1]->constant.integer < 0 &&
        x[1]->constant.integer > base_low(x[1]->base))
        return again(w, OP_ADD, x[0], builder_integer(b, x[1]->base, -x[1]->constant.integer));
    /* x - (x / n) * n = x % n, whatever the signs */
    if (is_op(x[1], OP_MUL))
        for (size_t j = 0; j < 2; j++) {
            struct ir_value *quotient = operand_of(x[1], j), *n = operand_of(x[1], !j);
            if (is_op(quotient, OP_DIV) && operand_of(quotient, 0) == x[0] && operand_of(quotient, 1) == n)
                return again(w, OP_REM, x[0], n);
        }
    return NULL;
}

static struct ir_value *simplify_mul(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    if (is_floating(x[0]))
        return is_float_constant(x[1], 1.0) ? x[0] : NULL;
    if (is_integer_constant(x[1], 0))
        return x[1];
    if (is_integer_constant(x[1], 1))
        return x[0];
    if (is_integer_constant(x[1], -1) && base_info[x[1]->base].is_signed)
        return again(w, OP_NEG, x[0], NULL);
    if (x[1]->is_constant && is_op(x[0], OP_MUL) && operand_of(x[0], 1)->is_constant)
        return again(w, OP_MUL, operand_of(x[0], 0), folded(b, OP_MUL, operand_of(x[0], 1), x[1]));
    return NULL;
}

static struct ir_value *simplify_neg(struct wanted *w) {
    struct ir_value **x = w->x;
    if (is_op(x[0], OP_NEG))
        return operand_of(x[0], 0);
    if (!is_floating(x[0]) && is_op(x[0], OP_SUB))
        return again(w, OP_SUB, operand_of(x[0], 1), operand_of(x[0], 0));
    return NULL;
}

/* ---- division ---- */

/* x = quotient * n + rest, where n is not constant, 0 <= rest < n, quotient >= 0 and nothing wraps. rest NULL: 0. */
static bool split_by(struct ir_builder *b, struct ir_value *x, struct ir_value *n, struct ir_value **quotient,
                     struct ir_value **rest) {
    struct ir_value *product = x;
    *rest = NULL;
    if (is_op(x, OP_ADD)) {
        int side = is_op(operand_of(x, 0), OP_MUL) ? 0 : 1;
        product = operand_of(x, (size_t)side);
        *rest = operand_of(x, (size_t)!side);
    }
    if (!is_op(product, OP_MUL))
        return false;
    if (operand_of(product, 0) != n && operand_of(product, 1) != n)
        return false;
    *quotient = operand_of(product, operand_of(product, 0) == n);
    struct range factors[] = {facts_range(b, *quotient), facts_range(b, n)};
    if (factors[0].low < 0 || factors[1].low < 0 || !range_never_wraps(OP_MUL, x->base, factors))
        return false;
    if (!*rest)
        return factors[1].low > 0;
    struct range terms[] = {range_operation(OP_MUL, x->base, x->base, factors), facts_range(b, *rest)};
    return terms[1].low >= 0 && range_never_wraps(OP_ADD, x->base, terms) && facts_less(b, *rest, n, true);
}

static int power_of_two(const struct ir_value *value) {
    uint64_t x = value->constant.natural;
    if (!value->is_constant || value->constant.integer <= 0 || (x & (x - 1)) != 0)
        return -1;
    int power = 0;
    while (x >>= 1)
        power++;
    return power;
}

static struct ir_value *simplify_div(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    if (is_floating(x[0]))
        return is_float_constant(x[1], 1.0) ? x[0] : NULL;
    if (is_integer_constant(x[1], 0) || is_integer_constant(x[1], 1))
        return x[x[1]->constant.natural == 0];
    if (is_integer_constant(x[0], 0))
        return x[0];
    if (is_integer_constant(x[1], -1) && base_info[x[1]->base].is_signed)
        return again(w, OP_NEG, x[0], NULL);
    if (x[0] == x[1] && is_not_zero(b, x[0]))
        return builder_integer(b, x[0]->base, 1);
    if (is_not_negative(b, x[0]) && facts_less(b, x[0], x[1], true))
        return zero(b, x[0]->base);
    struct linear quotient, remainder;
    struct ir_value *factor, *rest;
    if (x[1]->is_constant && linear_divide(b, x[0], x[1]->constant.integer, &quotient, &remainder))
        return sum_of(w, &quotient);
    if (x[1]->is_constant &&
        linear_separate(b, x[0], x[1]->constant.integer, &quotient, &remainder)) /* t + 256 by 32 */
        return of_rest(w, &remainder, &quotient);
    if (!x[1]->is_constant && split_by(b, x[0], x[1], &factor, &rest))
        return factor;
    int power = power_of_two(x[1]);
    bool is_natural = is_not_negative(b, x[0]) || (power > 0 && facts_less(b, zero(b, x[0]->base), x[0], false));
    if (!is_natural)
        return NULL;
    /* (x / c) / d = x / (c * d), all positive and the product in range */
    int64_t product = 0;
    if (is_op(x[0], OP_DIV) && x[1]->is_constant && operand_of(x[0], 1)->is_constant && x[1]->constant.integer > 0 &&
        is_not_negative(b, operand_of(x[0], 0)) && operand_of(x[0], 1)->constant.integer > 0 &&
        !__builtin_mul_overflow(x[1]->constant.integer, operand_of(x[0], 1)->constant.integer, &product) &&
        product <= range_of_base(x[0]->base).high)
        return again(w, OP_DIV, operand_of(x[0], 0), builder_integer(b, x[0]->base, product));
    return power > 0 ? again(w, OP_SHR, x[0], builder_integer(b, x[0]->base, power)) : NULL;
}

static struct ir_value *simplify_rem(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    if (is_integer_constant(x[1], 0))
        return x[0];
    if (is_integer_constant(x[1], 1) || (is_integer_constant(x[1], -1) && base_info[x[1]->base].is_signed))
        return zero(b, x[0]->base);
    if (is_integer_constant(x[0], 0))
        return x[0];
    if (x[0] == x[1])
        return zero(b, x[0]->base); /* 0 % 0 = 0 too */
    if (is_not_negative(b, x[0]) && facts_less(b, x[0], x[1], true))
        return x[0];
    struct linear quotient, remainder;
    struct ir_value *factor, *rest;
    if (x[1]->is_constant && linear_divide(b, x[0], x[1]->constant.integer, &quotient, &remainder))
        return sum_of(w, &remainder);
    if (x[1]->is_constant && linear_separate(b, x[0], x[1]->constant.integer, &quotient, &remainder))
        return of_rest(w, &remainder, NULL);
    if (!x[1]->is_constant && split_by(b, x[0], x[1], &factor, &rest))
        return rest ? rest : zero(b, x[0]->base);
    int power = power_of_two(x[1]);
    if (power > 0 && (is_not_negative(b, x[0]) || facts_less(b, zero(b, x[0]->base), x[0], false)))
        return again(w, OP_AND, x[0], builder_integer(b, x[0]->base, x[1]->constant.integer - 1));
    return NULL;
}

/* ---- order ---- */

/* The lesser of a value and a constant says wherever it is used what the value alone would not:
   memory is set aside by that. */
static bool is_a_bound(enum ir_op op, const struct ir_value *x, const struct ir_value *limit) {
    return op == OP_MIN && limit->is_constant && x->high > limit->high;
}

static struct ir_value *simplify_extreme(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    enum ir_op op = w->op;
    if (x[0] == x[1])
        return x[0];
    if (is_floating(x[0]))
        return NULL;
    if (!is_a_bound(op, x[0], x[1]) && facts_less(b, x[0], x[1], false))
        return x[op == OP_MIN ? 0 : 1];
    if (!is_a_bound(op, x[1], x[0]) && facts_less(b, x[1], x[0], false))
        return x[op == OP_MIN ? 1 : 0];
    for (int i = 0; i < 2; i++)
        if (is_op(x[i], op)) {
            if (operand_of(x[i], 0) == x[!i] || operand_of(x[i], 1) == x[!i])
                return x[i];
            if (i == 0 && x[1]->is_constant && operand_of(x[0], 1)->is_constant)
                return again(w, op, operand_of(x[0], 0), folded(b, op, operand_of(x[0], 1), x[1]));
        }
    return NULL;
}

/* Compares the result of a branch with a constant: where each branch decides the comparison, it is
   their condition or its opposite. */
static struct ir_value *compare_chosen(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    enum ir_op op = w->op;
    int chosen = x[0]->is_constant;
    const struct ir_instruction *branch = x[chosen]->definition;
    if (!x[!chosen]->is_constant || !branch || branch->kind != IR_IF || is_floating(x[0]))
        return NULL;
    size_t which = 0;
    while (branch->results[which] != x[chosen])
        which++;
    enum ir_truth truth[2];
    for (int r = 0; r < 2; r++) {
        struct ir_value *y[2] = {x[0], x[1]};
        y[chosen] = branch->regions[r]->yields.at[which];
        truth[r] = facts_comparison(b, op, y[0], y[1]);
    }
    if (truth[0] == IR_UNKNOWN || truth[1] == IR_UNKNOWN || truth[0] == truth[1])
        return NULL;
    return truth[0] == IR_TRUE ? branch->operands[0] : again(w, OP_NOT, branch->operands[0], NULL);
}

static struct ir_value *simplify_comparison(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    enum ir_op op = w->op;
    enum ir_truth known = facts_comparison(b, op, x[0], x[1]);
    if (known != IR_UNKNOWN)
        return ir_bool(b, known == IR_TRUE);
    struct ir_value *condition = compare_chosen(b, w);
    if (condition)
        return condition;
    if (x[0]->base == BASE_BOOL && x[1]->is_constant && (op == OP_EQ || op == OP_NE))
        return (x[1]->constant.integer != 0) == (op == OP_EQ) ? x[0] : again(w, OP_NOT, x[0], NULL);
    return NULL;
}

static struct ir_value *simplify_abs(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    if (is_op(x[0], OP_ABS))
        return x[0];
    if (is_floating(x[0]))
        return is_op(x[0], OP_NEG) ? again(w, OP_ABS, operand_of(x[0], 0), NULL) : NULL;
    if (is_not_negative(b, x[0]))
        return x[0];
    return facts_range(b, x[0]).high <= 0 ? again(w, OP_NEG, x[0], NULL) : NULL;
}

/* ---- bits and bools ---- */

static struct ir_value *simplify_not(struct wanted *w) {
    struct ir_value **x = w->x;
    if (is_op(x[0], OP_NOT))
        return operand_of(x[0], 0);
    if (is_op(x[0], OP_EQ) || is_op(x[0], OP_NE)) /* also with NaN */
        return again(w, is_op(x[0], OP_EQ) ? OP_NE : OP_EQ, operand_of(x[0], 0), operand_of(x[0], 1));
    if ((is_op(x[0], OP_LT) || is_op(x[0], OP_LE)) && !is_floating(operand_of(x[0], 0)))
        return again(w, is_op(x[0], OP_LT) ? OP_LE : OP_LT, operand_of(x[0], 1), operand_of(x[0], 0));
    return NULL;
}

static bool are_opposite(const struct ir_value *x, const struct ir_value *y) {
    return (is_op(x, OP_NOT) && operand_of(x, 0) == y) || (is_op(y, OP_NOT) && operand_of(y, 0) == x);
}

static struct ir_value *simplify_bitwise(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    enum ir_op op = w->op;
    enum base base = x[0]->base;
    int64_t ones = base == BASE_BOOL ? 1 : -1;
    if (x[0] == x[1])
        return op == OP_XOR ? zero(b, base) : x[0];
    if (is_integer_constant(x[1], 0))
        return op == OP_AND ? x[1] : x[0];
    if (is_integer_constant(x[1], ones))
        return op == OP_AND ? x[0] : op == OP_OR ? x[1] : again(w, base == BASE_BOOL ? OP_NOT : OP_BIT_NOT, x[0], NULL);
    if (base == BASE_BOOL && are_opposite(x[0], x[1]))
        return ir_bool(b, op != OP_AND);
    if (op != OP_XOR) /* (x op y) op x */
        for (int i = 0; i < 2; i++)
            if (is_op(x[i], op) && (operand_of(x[i], 0) == x[!i] || operand_of(x[i], 1) == x[!i]))
                return x[i];
    if (x[1]->is_constant && is_op(x[0], op) && operand_of(x[0], 1)->is_constant)
        return again(w, op, operand_of(x[0], 0), folded(b, op, operand_of(x[0], 1), x[1]));
    if (op != OP_AND || !x[1]->is_constant)
        return NULL;
    /* A mask of low bits: nothing to do when the value has no others, else the part that it keeps of a sum */
    int64_t mask = x[1]->constant.integer;
    struct range range = facts_range(b, x[0]);
    if (mask <= 0 || mask == INT64_MAX || (mask & (mask + 1)) != 0 || range.low < 0)
        return NULL;
    if (range_high(base, range) <= mask)
        return x[0];
    struct linear quotient, remainder;
    if (linear_divide(b, x[0], mask + 1, &quotient, &remainder))
        return sum_of(w, &remainder);
    if (linear_separate(b, x[0], mask + 1, &quotient, &remainder)) /* (t + 256) & 31 */
        return of_rest(w, &remainder, NULL);
    return NULL;
}

static struct ir_value *simplify_shift(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    enum ir_op op = w->op;
    if (is_integer_constant(x[0], 0))
        return x[0];
    if (!x[1]->is_constant)
        return NULL;
    int64_t count = x[1]->constant.integer & (base_info[x[0]->base].bits - 1);
    if (count == 0)
        return x[0];
    if (count != x[1]->constant.integer)
        return again(w, op, x[0], builder_integer(b, x[1]->base, count));
    struct linear quotient, remainder;
    if (op != OP_SHR || count > 61 || !is_not_negative(b, x[0]))
        return NULL;
    if (linear_divide(b, x[0], (int64_t)1 << count, &quotient, &remainder))
        return sum_of(w, &quotient);
    if (linear_separate(b, x[0], (int64_t)1 << count, &quotient, &remainder)) /* (t + 256) >> 5 */
        return of_rest(w, &remainder, &quotient);
    if (is_op(x[0], OP_SHR) && operand_of(x[0], 1)->is_constant && is_not_negative(b, operand_of(x[0], 0))) {
        int64_t sum = count + operand_of(x[0], 1)->constant.integer;
        if (sum < base_info[x[0]->base].bits)
            return again(w, op, operand_of(x[0], 0), builder_integer(b, x[1]->base, sum));
    }
    return NULL;
}

/* True if the last operand of `0 < n ? c * n + d : d` is the first one at n = 0, for an n that is not negative. */
static bool is_where_none(struct ir_builder *b, struct ir_value **x) {
    struct linear sum;
    if (!is_op(x[0], OP_LT) || !is_integer_constant(operand_of(x[0], 0), 0) || is_floating(x[1]) || !x[2]->is_constant)
        return false;
    struct ir_value *n = operand_of(x[0], 1);
    return is_not_negative(b, n) && linear_of(b, x[1], &sum) && sum.count == 1 && sum.term[0].value == n &&
           sum.constant == x[2]->constant.integer;
}

static struct ir_value *simplify_select(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    if (x[0]->is_constant)
        return x[x[0]->constant.integer ? 1 : 2];
    if (x[1] == x[2])
        return x[1];
    if (is_op(x[0], OP_NOT))
        return selection(w, operand_of(x[0], 0), x[2], x[1]);
    if (is_where_none(b, x))
        return x[1];
    if (x[1]->base != BASE_BOOL)
        return NULL;
    if (x[1]->is_constant && x[2]->is_constant)
        return x[1]->constant.integer ? x[0] : again(w, OP_NOT, x[0], NULL);
    if (is_integer_constant(x[2], 0))
        return again(w, OP_AND, x[0], x[1]);
    return is_integer_constant(x[1], 1) ? again(w, OP_OR, x[0], x[2]) : NULL;
}

/* ---- conversions ---- */

/* A sum or product of what was converted from the base that it is converted to, without wrapping there: that base has
   it by itself. NULL: it is another. */
static struct ir_value *unwidened_sum(struct ir_builder *b, struct wanted *w) {
    const struct ir_instruction *sum = w->x[0]->definition;
    enum base to = w->base, by = w->x[0]->base;
    struct ir_value *x[2];
    struct range ranges[2];
    if (!sum || sum->kind != IR_OPERATION || (sum->op != OP_ADD && sum->op != OP_SUB && sum->op != OP_MUL) ||
        !base_info[to].is_integer || !base_info[by].is_integer || base_info[to].bits > base_info[by].bits)
        return NULL;
    for (int i = 0; i < 2; i++) {
        struct ir_value *operand = sum->operands[i];
        bool is_converted = is_op(operand, OP_CONVERT) && operand_of(operand, 0)->base == to;
        if (!is_converted && !operand->is_constant)
            return NULL;
        x[i] = is_converted ? operand_of(operand, 0)
                            : ir_constant(b, to, fold_operation(OP_CONVERT, to, by, &operand->constant));
        ranges[i] = facts_range(b, x[i]);
    }
    return range_never_wraps(sum->op, to, ranges) ? again(w, sum->op, x[0], x[1]) : NULL;
}

static struct ir_value *simplify_convert(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    enum base to = w->base;
    if (x[0]->base == to)
        return x[0];
    if (!is_op(x[0], OP_CONVERT))
        return unwidened_sum(b, w);
    struct ir_value *inner = operand_of(x[0], 0);
    enum base from = inner->base, by = x[0]->base;
    if (from == BASE_F32 && by == BASE_F64)
        return converted(w, inner, to); /* every float is a double */
    if (!base_info[by].is_integer || base_info[from].is_floating || to == BASE_BOOL)
        return NULL;
    bool narrower = base_info[to].is_integer && base_info[to].bits <= base_info[by].bits;
    struct range range = facts_range(b, inner);
    bool lossless = range.low >= base_low(by) && range_high(from, range) <= base_high(by);
    return lossless || (narrower && from != BASE_BOOL) ? converted(w, inner, to) : NULL;
}

struct ir_value *simplify(struct ir_builder *b, struct wanted *w) {
    struct ir_value **x = w->x;
    if (is_commutative(w->op, is_floating(x[0])) && (x[0]->is_constant || (!x[1]->is_constant && x[1]->id < x[0]->id)))
        swap(x);
    switch (w->op) {
    case OP_ADD: return simplify_add(b, w);
    case OP_SUB: return simplify_sub(b, w);
    case OP_MUL: return simplify_mul(b, w);
    case OP_DIV: return simplify_div(b, w);
    case OP_REM: return simplify_rem(b, w);
    case OP_NEG: return simplify_neg(w);
    case OP_MIN:
    case OP_MAX: return simplify_extreme(b, w);
    case OP_ABS: return simplify_abs(b, w);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE: return simplify_comparison(b, w);
    case OP_NOT: return simplify_not(w);
    case OP_AND:
    case OP_OR:
    case OP_XOR: return simplify_bitwise(b, w);
    case OP_BIT_NOT: return is_op(x[0], OP_BIT_NOT) ? operand_of(x[0], 0) : NULL;
    case OP_SHL:
    case OP_SHR: return simplify_shift(b, w);
    case OP_CONVERT: return simplify_convert(b, w);
    case OP_SELECT: return simplify_select(b, w);
    default: return NULL; /* nothing is known of others */
    }
}
