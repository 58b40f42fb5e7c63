/* Proofs of orders: x < y or x <= y, from the ranges of values, their definitions and the orders
   that are known here. Goals are sums that must not be negative. The search replaces a term that
   pulls the sum down by an upper bound of the term, and a term that lifts the sum by a lower bound,
   until the ranges of the terms that are left decide. */
#include "ir/build/bits.h"
#include "ir/build/linear.h"

/* Proofs are tried for every comparison that is built, so they are short: what is provable takes a
   few dozen steps, what is not would take hundreds, deep in branches. Those that are asked for may
   be longer. */
enum { PROOF_DEPTH = 3, PROOF_STEPS = 100, PROOF_ORDERS = 8 };
enum { LONG_PROOF_DEPTH = 7, LONG_PROOF_STEPS = 3000, LONG_PROOF_ORDERS = 24, TOLD_ORDERS = 12, MOST_TOLD = 1000 };
/* The steps of all long proofs of a kernel together: a program that makes very many checks is to
   compile in a second. */
enum { ALL_LONG_STEPS = 200000 };

static bool prove(struct ir_builder *b, const struct linear *sum, int depth);

/* Values as exact sums, kept while no more is known: a proof asks for the same ones at each step, and so does the next
   proof. */
enum { KNOWN_SUMS = 64 };
struct known_sum {
    uint32_t known;
    const struct ir_value *value;
    struct linear sum;
};

static void begin_proof(struct ir_builder *b, int steps, bool is_long) {
    int left = ALL_LONG_STEPS - b->long_proof_steps;
    b->proof_steps = is_long && steps > left ? left : steps;
    b->is_long_proof = is_long;
    b->proof_began_with = b->proof_steps;
}

static void end_proof(struct ir_builder *b) {
    if (b->is_long_proof)
        b->long_proof_steps += b->proof_began_with - b->proof_steps;
    b->is_long_proof = false;
}

static const struct linear *sum_of(struct ir_builder *b, struct ir_value *x) {
    if (!b->sums)
        b->sums = ARENA_ARRAY(b->scratch, struct known_sum, KNOWN_SUMS);
    struct known_sum *known = &b->sums[x->id % KNOWN_SUMS];
    if (known->known != b->known || known->value != x) {
        known->known = b->known;
        known->value = x;
        linear_exact(b, x, &known->sum);
    }
    return &known->sum;
}

/* The value as an exact sum. Where ranges do not show that its parts make no more and no less than
   an int, a longer proof asks what is known of them. */
static void exact_sum(struct ir_builder *b, struct ir_value *x, struct linear *sum) {
    *sum = *sum_of(b, x);
    const struct ir_instruction *definition = x->definition;
    bool is_sum =
        definition && definition->kind == IR_OPERATION && (definition->op == OP_ADD || definition->op == OP_SUB);
    bool is_taken_apart = sum->count != 1 || sum->term[0].value != x;
    struct linear parts, below, above;
    if (!b->is_long_proof || !is_sum || is_taken_apart || x->base != BASE_I32 || !linear_of(b, x, &parts))
        return;
    b->is_long_proof = false; /* once: the proofs that follow go by ranges */
    parts.exact = true;
    below = parts;
    below.constant -= INT32_MIN;
    above = (struct linear){.base = x->base, .exact = true, .constant = INT32_MAX};
    if (linear_add(&above, &parts, -1) && prove(b, &below, PROOF_DEPTH) && prove(b, &above, PROOF_DEPTH))
        *sum = parts;
    b->is_long_proof = true;
}

/* The integer itself, where it was only widened, or narrowed to what holds it. */
static struct ir_value *unconverted(struct ir_builder *b, struct ir_value *x) {
    const struct ir_instruction *made = x->definition;
    while (made && made->kind == IR_OPERATION && made->op == OP_CONVERT &&
           base_info[made->operands[0]->base].is_integer && base_info[x->base].is_integer) {
        struct ir_value *from = made->operands[0];
        struct range range = facts_range(b, from);
        if (range.low < base_low(x->base) || range_high(from->base, range) > base_high(x->base))
            break;
        x = from;
        made = x->definition;
    }
    return x;
}

static bool add_value(struct ir_builder *b, struct linear *sum, struct ir_value *x, int64_t factor) {
    struct linear part;
    exact_sum(b, unconverted(b, x), &part);
    return linear_add(sum, &part, factor);
}

/* sum >= 0 follows when sum - factor * (y - x - strict) >= 0, as the latter is not negative. */
static bool prove_with(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                       struct ir_value *y, bool strict, int depth) {
    struct linear rest = *sum;
    if (!add_value(b, &rest, y, -factor) || !add_value(b, &rest, x, factor))
        return false;
    if (strict && __builtin_add_overflow(rest.constant, factor, &rest.constant))
        return false;
    return prove(b, &rest, depth - 1);
}

/* x < count, for the index of a loop. */
static struct ir_value *count_of_index(const struct ir_value *x) {
    if (x->definition || !x->region || !x->region->owner)
        return NULL;
    const struct ir_instruction *loop = x->region->owner;
    bool is_index = (loop->kind == IR_FORALL || loop->kind == IR_FOR) && loop->parameters[0] == x;
    return is_index ? loop->operands[0] : NULL;
}

/* The other operand of the larger of it and a constant that is not positive, such as an array's
   length made of a number; else NULL. */
static struct ir_value *natural_of(const struct ir_value *count) {
    const struct ir_instruction *definition = count->definition;
    if (!definition || definition->kind != IR_OPERATION || definition->op != OP_MAX)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (definition->operands[i]->is_constant && definition->operands[i]->constant.integer <= 0)
            return definition->operands[1 - i];
    return NULL;
}

static bool prove_below(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                        struct ir_value *bound, bool strict, int depth) {
    const struct ir_instruction *definition = bound->definition;
    struct ir_value *natural = natural_of(bound);
    if (natural && prove_with(b, sum, factor, x, natural, strict, depth)) /* x is an index, so there is one: not 0 */
        return true;
    if (definition && definition->kind == IR_OPERATION && definition->op == OP_MIN)
        return prove_below(b, sum, factor, x, definition->operands[0], strict, depth) ||
               prove_with(b, sum, factor, x, definition->operands[1], strict, depth);
    return prove_with(b, sum, factor, x, bound, strict, depth);
}

/* The value, which is in the sum -factor times, replaced by one that is no less, or no more where
   the factor is negative. */
static bool prove_instead(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                          struct ir_value *y, int depth) {
    return prove_with(b, sum, factor, x, y, false, depth);
}

/* In a proof that goes by what was told. */
static bool is_told(const struct ir_builder *b, const struct ir_value *condition) {
    size_t first = b->told.count > MOST_TOLD ? b->told.count - MOST_TOLD : 0;
    for (size_t i = b->told.count; b->goes_by_told && i-- > first;)
        if (b->told.at[i] == condition)
            return true;
    return false;
}

/* Pushes the orders of ints that follow if the condition has this truth. */
static void push_orders(struct ir_builder *b, const struct ir_value *value, bool truth) {
    const struct ir_instruction *condition = value->definition;
    if (!condition || condition->kind != IR_OPERATION)
        return;
    struct ir_value **x = condition->operands;
    if (condition->op == OP_NOT || condition->op == (truth ? OP_AND : OP_OR)) {
        for (size_t i = 0; i < condition->operand_count; i++)
            push_orders(b, x[i], truth == (condition->op != OP_NOT));
        return;
    }
    bool is_order = condition->op == OP_LT || condition->op == OP_LE;
    bool are_same = condition->op == (truth ? OP_EQ : OP_NE);
    if ((!is_order && !are_same) || base_info[x[0]->base].is_floating)
        return;
    bool is_strict = is_order && (condition->op == OP_LT) == truth;
    vec_push(b->scratch, &b->orders,
             ((struct order){truth || are_same ? x[0] : x[1], truth || are_same ? x[1] : x[0], is_strict}));
    if (are_same)
        vec_push(b->scratch, &b->orders, ((struct order){x[1], x[0], false}));
}

/* Whichever of the two it is. Where the condition was told there is the first alone. */
static bool prove_by_selection(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                               int depth) {
    struct ir_value **y = x->definition->operands;
    bool is_proved = true;
    for (int which = 1; which <= 2 && is_proved && !(which == 2 && is_told(b, y[0])); which++) {
        size_t orders = b->orders.count;
        push_orders(b, y[0], which == 1);
        is_proved = prove_instead(b, sum, factor, x, y[which], depth);
        b->orders.count = orders;
    }
    return is_proved;
}

/* Whichever branch they come from: all that the branch gives is replaced together. */
static bool prove_by_branches(struct ir_builder *b, const struct linear *sum, const struct ir_instruction *branch,
                              int depth) {
    enum ir_truth known = b->outside ? IR_UNKNOWN : facts_of(b, branch->operands[0])->truth;
    for (int r = 0; r < 2; r++) {
        if (known == (r == 0 ? IR_FALSE : IR_TRUE))
            continue;
        struct linear rest = *sum;
        for (size_t i = 0; i < sum->count; i++) {
            struct ir_value *x = sum->term[i].value;
            size_t which = 0;
            while (which < branch->result_count && branch->results[which] != x)
                which++;
            if (which < branch->result_count &&
                (!add_value(b, &rest, x, -sum->term[i].coefficient) ||
                 !add_value(b, &rest, branch->regions[r]->yields.at[which], sum->term[i].coefficient)))
                return false;
        }
        size_t orders = b->orders.count;
        push_orders(b, branch->operands[0], r == 0);
        bool is_proved = prove(b, &rest, depth - 1);
        b->orders.count = orders;
        if (!is_proved)
            return false;
    }
    return true;
}

static bool is_natural(struct ir_builder *b, struct ir_value *x, int depth) {
    struct linear sum = {.base = x->base, .exact = true};
    return facts_range(b, x).low >= 0 || (add_value(b, &sum, x, 1) && prove(b, &sum, depth - 1));
}

/* A quotient q = y / c that pulls the sum down. Alone, rest - q >= 0 says c * rest + c - 1 - y >=
   0; of a multiple of c, c * q is at most y. Both want y / c rounded down: a shift is, a division of a natural y is. */
static bool prove_by_quotient(struct ir_builder *b, const struct linear *sum, struct ir_value *x, int64_t factor,
                              int depth) {
    int64_t c = linear_divisor(x);
    struct ir_value *y = c ? x->definition->operands[0] : NULL;
    if (!c || (x->definition->op == OP_DIV && !is_natural(b, y, depth)))
        return false;
    struct linear rest = {.base = sum->base, .exact = sum->exact};
    if (factor % c == 0) {
        rest = *sum;
        return add_value(b, &rest, x, factor) && add_value(b, &rest, y, -factor / c) && prove(b, &rest, depth - 1);
    }
    if (factor != 1 || !linear_add(&rest, sum, c) || !add_value(b, &rest, x, c) || !add_value(b, &rest, y, -1) ||
        __builtin_add_overflow(rest.constant, c - 1, &rest.constant))
        return false;
    return prove(b, &rest, depth - 1);
}

/* A term that pulls the sum down is replaced by an upper bound of it: what its definition tells. */
static bool prove_by_term(struct ir_builder *b, const struct linear *sum, struct ir_value *x, int64_t factor,
                          int depth) {
    struct ir_value *count = count_of_index(x);
    if (count)
        return prove_below(b, sum, factor, x, count, true, depth);
    const struct ir_instruction *definition = x->definition;
    if (definition && definition->kind == IR_IF)
        return prove_by_branches(b, sum, definition, depth);
    if (!definition || definition->kind != IR_OPERATION)
        return false;
    struct ir_value **y = definition->operands;
    if (definition->op == OP_MIN)
        return prove_instead(b, sum, factor, x, y[0], depth) || prove_instead(b, sum, factor, x, y[1], depth);
    if (definition->op == OP_MAX)
        return prove_instead(b, sum, factor, x, y[0], depth) && prove_instead(b, sum, factor, x, y[1], depth);
    if (definition->op == OP_SELECT)
        return prove_by_selection(b, sum, factor, x, depth);
    if (definition->op == OP_CONVERT)
        return unconverted(b, x) != x && prove_instead(b, sum, factor, x, unconverted(b, x), depth);
    if (prove_by_quotient(b, sum, x, factor, depth))
        return true;
    if (definition->op != OP_REM && definition->op != OP_DIV)
        return false;
    if (facts_range(b, y[0]).low < 0 || facts_range(b, y[1]).low < 1)
        return false;
    return definition->op == OP_REM ? prove_with(b, sum, factor, x, y[1], true, depth)
                                    : prove_instead(b, sum, factor, x, y[0], depth);
}

/* A quotient q = y / c that lifts it: a multiple of c, c * q is at least y - (c - 1), however q is rounded. */
static bool prove_by_lifting_quotient(struct ir_builder *b, const struct linear *sum, struct ir_value *x,
                                      int64_t factor, int depth) {
    int64_t c = linear_divisor(x);
    struct ir_value *y = c ? x->definition->operands[0] : NULL;
    struct linear rest = *sum;
    return c && factor % c == 0 && add_value(b, &rest, x, -factor) && add_value(b, &rest, y, factor / c) &&
           !__builtin_sub_overflow(rest.constant, factor / c * (c - 1), &rest.constant) && prove(b, &rest, depth - 1);
}

/* One that lifts it, by a lower bound. */
static bool prove_by_lifting_term(struct ir_builder *b, const struct linear *sum, struct ir_value *x, int64_t factor,
                                  int depth) {
    const struct ir_instruction *definition = x->definition;
    if (definition && definition->kind == IR_IF)
        return prove_by_branches(b, sum, definition, depth);
    if (!definition || definition->kind != IR_OPERATION)
        return false;
    struct ir_value **y = definition->operands;
    if (definition->op == OP_MAX)
        return prove_instead(b, sum, -factor, x, y[0], depth) || prove_instead(b, sum, -factor, x, y[1], depth);
    if (definition->op == OP_MIN)
        return prove_instead(b, sum, -factor, x, y[0], depth) && prove_instead(b, sum, -factor, x, y[1], depth);
    if (definition->op == OP_SELECT)
        return prove_by_selection(b, sum, -factor, x, depth);
    if (definition->op == OP_CONVERT)
        return unconverted(b, x) != x && prove_instead(b, sum, -factor, x, unconverted(b, x), depth);
    return prove_by_lifting_quotient(b, sum, x, factor, depth);
}

/* x / c or x >> c, for a positive divisor. */
static const struct ir_instruction *quotient_of(struct ir_builder *b, const struct ir_value *value) {
    const struct ir_instruction *definition = value->definition;
    if (!definition || definition->kind != IR_OPERATION)
        return NULL;
    bool is_division = definition->op == OP_DIV && facts_range(b, definition->operands[1]).low >= 1;
    return is_division || definition->op == OP_SHR ? definition : NULL;
}

/* True if both quotients have one divisor, or if `less` has a larger divisor and a dividend that is not negative.
   Quotients by one divisor that are rounded alike are in the order of their dividends below 0, too. With two divisors
   both dividends are natural here, because that of `more` is not below that of `less`. */
static bool are_in_order(struct ir_builder *b, const struct ir_instruction *more, const struct ir_instruction *less,
                         int depth) {
    if (more->op == less->op && ir_is_same(more->operands[1], less->operands[1]))
        return true;
    int64_t c = linear_divisor(more->results[0]), d = linear_divisor(less->results[0]);
    return 0 < c && c < d && is_natural(b, less->operands[0], depth);
}

/* Such quotients are in the order of what is divided: of the two, one that is added and one that is
   taken away leave the sum. */
static bool prove_by_quotients(struct ir_builder *b, const struct linear *sum, size_t up, size_t down, int depth) {
    struct ir_value *above = sum->term[up].value, *below = sum->term[down].value;
    const struct ir_instruction *more = quotient_of(b, above), *less = quotient_of(b, below);
    if (!more || !less || !are_in_order(b, more, less, depth))
        return false;
    struct linear difference = {.base = sum->base, .exact = sum->exact}, rest = *sum;
    if (!add_value(b, &difference, more->operands[0], 1) || !add_value(b, &difference, less->operands[0], -1) ||
        !prove(b, &difference, depth - 1))
        return false;
    int64_t added = sum->term[up].coefficient, taken = -sum->term[down].coefficient;
    int64_t both = added < taken ? added : taken;
    return add_value(b, &rest, above, -both) && add_value(b, &rest, below, both) && prove(b, &rest, depth - 1);
}

static int64_t coefficient_of(const struct linear *sum, const struct ir_value *x) {
    for (size_t i = 0; i < sum->count; i++)
        if (sum->term[i].value == x)
            return sum->term[i].coefficient;
    return 0;
}

/* How often a known order x <= y has to be taken out of the sum to rid it of a term: of y where it
   lifts, or of one of x's terms where that pulls; 0: it does not help. */
static int64_t factor_of_order(struct ir_builder *b, const struct linear *sum, const struct order *order) {
    int64_t lifting = coefficient_of(sum, order->y);
    if (lifting > 0)
        return lifting;
    const struct linear *part = sum_of(b, order->x);
    for (size_t t = 0; t < part->count; t++) {
        int64_t c = part->term[t].coefficient, pulling = -coefficient_of(sum, part->term[t].value);
        if (c > 0 && pulling > 0 && pulling % c == 0)
            return pulling / c;
    }
    part = sum_of(b, order->y);
    for (size_t t = 0; t < part->count; t++) {
        int64_t c = part->term[t].coefficient, lifts = coefficient_of(sum, part->term[t].value);
        if (c > 0 && lifts > 0 && lifts % c == 0)
            return lifts / c;
    }
    return 0;
}

static bool prove(struct ir_builder *b, const struct linear *sum, int depth) {
    range_wide low, high;
    linear_bounds(b, sum, &low, &high);
    if (low >= 0)
        return true;
    if (depth == 0 || high < 0 || b->proof_steps == 0)
        return false;
    b->proof_steps--;
    for (size_t i = 0; i < sum->count; i++) {
        int64_t factor = sum->term[i].coefficient;
        if (factor < 0 && factor > INT64_MIN && prove_by_term(b, sum, sum->term[i].value, -factor, depth))
            return true;
        for (size_t up = 0; factor < 0 && factor > INT64_MIN && up < sum->count; up++)
            if (sum->term[up].coefficient > 0 && prove_by_quotients(b, sum, up, i, depth))
                return true;
    }
    for (size_t i = 0; i < sum->count; i++)
        if (sum->term[i].coefficient > 0 &&
            prove_by_lifting_term(b, sum, sum->term[i].value, sum->term[i].coefficient, depth))
            return true;
    size_t most = b->is_long_proof ? LONG_PROOF_ORDERS : PROOF_ORDERS;
    size_t count = b->outside ? 0 : b->orders.count, first = count > most ? count - most : 0;
    for (size_t i = first; i < count; i++) {
        struct order order = b->orders.at[i];
        int64_t factor = factor_of_order(b, sum, &order);
        if (factor > 0 && prove_with(b, sum, factor, order.x, order.y, order.strict, depth))
            return true;
    }
    return false;
}

static bool is_less(struct ir_builder *b, struct ir_value *x, struct ir_value *y, bool strict, int depth, int steps) {
    if (base_info[x->base].is_floating || x->base != y->base)
        return false;
    struct range below = facts_range(b, x), above = facts_range(b, y);
    range_wide high = range_high(x->base, below);
    if (high < above.low || (!strict && (high <= above.low || x == y)))
        return true;
    if (x == y || (below.low >= above.high && !(y->base == BASE_U64 && above.high == INT64_MAX) &&
                   (strict || below.low > above.high)))
        return false;
    struct linear difference = *sum_of(b, y);
    if (!linear_add(&difference, sum_of(b, x), -1) ||
        __builtin_sub_overflow(difference.constant, strict, &difference.constant))
        return false;
    if (depth > PROOF_DEPTH && !b->outside) {
        ir_bits_bound(x, &below.low, &below.high);
        ir_bits_bound(y, &above.low, &above.high);
        if (range_high(x->base, below) < (range_wide)above.low + !strict)
            return true;
    }
    begin_proof(b, steps, depth > PROOF_DEPTH);
    bool is_proved = prove(b, &difference, depth);
    end_proof(b);
    return is_proved;
}

bool facts_less(struct ir_builder *b, struct ir_value *x, struct ir_value *y, bool strict) {
    return is_less(b, x, y, strict, PROOF_DEPTH, PROOF_STEPS);
}

bool facts_add(struct ir_builder *b, struct linear *sum, struct ir_value *value, int64_t factor) {
    return add_value(b, sum, value, factor);
}

bool facts_are_natural(struct ir_builder *b, const struct linear *sum) {
    begin_proof(b, LONG_PROOF_STEPS, true);
    bool is_proved = prove(b, sum, LONG_PROOF_DEPTH);
    end_proof(b);
    return is_proved;
}

/* ---- asking ---- */

enum ir_truth facts_comparison(struct ir_builder *b, enum ir_op op, struct ir_value *x, struct ir_value *y) {
    if (base_info[x->base].is_floating)
        return IR_UNKNOWN;
    if (op == OP_LT || op == OP_LE) {
        if (facts_less(b, x, y, op == OP_LT))
            return IR_TRUE;
        return facts_less(b, y, x, op == OP_LE) ? IR_FALSE : IR_UNKNOWN;
    }
    struct linear difference, part;
    enum ir_truth same = op == OP_EQ ? IR_TRUE : IR_FALSE, different = op == OP_EQ ? IR_FALSE : IR_TRUE;
    if (linear_of(b, x, &difference) && linear_of(b, y, &part) && linear_add(&difference, &part, -1) &&
        difference.count == 0)
        return base_wrap(x->base, (union scalar){.integer = difference.constant}).integer == 0 ? same : different;
    return facts_less(b, x, y, true) || facts_less(b, y, x, true) ? different : IR_UNKNOWN;
}

enum ir_truth ir_known(struct ir_builder *b, struct ir_value *condition) {
    condition = builder_operand(b, condition);
    if (condition->is_constant)
        return condition->constant.integer ? IR_TRUE : IR_FALSE;
    const struct ir_instruction *definition = condition->definition;
    if (b->optimise == 0 || !definition || definition->kind != IR_OPERATION)
        return IR_UNKNOWN;
    if (definition->op == OP_NOT) {
        enum ir_truth truth = ir_known(b, definition->operands[0]);
        return truth == IR_UNKNOWN ? IR_UNKNOWN : truth == IR_TRUE ? IR_FALSE : IR_TRUE;
    }
    if (!fold_is_comparison(definition->op))
        return IR_UNKNOWN;
    return facts_comparison(b, definition->op, definition->operands[0], definition->operands[1]);
}

bool ir_prove(struct ir_builder *b, struct ir_value *condition) {
    switch (ir_known(b, condition)) {
    case IR_TRUE: return true;
    case IR_FALSE: return false;
    case IR_UNKNOWN: break;
    }
    condition = builder_operand(b, condition);
    const struct ir_instruction *definition = condition->definition;
    if (b->optimise == 0 || !definition || definition->kind != IR_OPERATION || definition->operand_count != 2)
        return false;
    struct ir_value *x = definition->operands[0], *y = definition->operands[1];
    switch (definition->op) {
    case OP_OR: return ir_prove(b, x) || ir_prove(b, y);
    case OP_AND: return ir_prove(b, x) && ir_prove(b, y);
    case OP_LT: return is_less(b, x, y, true, LONG_PROOF_DEPTH, LONG_PROOF_STEPS);
    case OP_LE: return is_less(b, x, y, false, LONG_PROOF_DEPTH, LONG_PROOF_STEPS);
    case OP_EQ:
        return is_less(b, x, y, false, LONG_PROOF_DEPTH, LONG_PROOF_STEPS) &&
               is_less(b, y, x, false, LONG_PROOF_DEPTH, LONG_PROOF_STEPS);
    default: return false; /* no order */
    }
}

bool ir_prove_told(struct ir_builder *b, struct ir_value *condition) {
    condition = builder_operand(b, condition);
    const struct ir_instruction *made = condition->definition;
    if (b->outside || !b->told.count)
        return ir_prove(b, condition);
    if (made && made->kind == IR_OPERATION && made->op == OP_AND && b->optimise > 0 && !condition->is_constant)
        return ir_prove_told(b, made->operands[0]) && ir_prove_told(b, made->operands[1]);
    size_t orders = b->orders.count, count = b->told.count;
    b->goes_by_told = true;
    bool is_proved = is_told(b, condition);
    if (!is_proved) {
        for (size_t i = count > TOLD_ORDERS ? count - TOLD_ORDERS : 0; i < count; i++)
            push_orders(b, b->told.at[i], true);
        is_proved = ir_prove(b, condition);
    }
    b->goes_by_told = false;
    b->orders.count = orders;
    return is_proved;
}

bool ir_never_wraps(struct ir_builder *b, struct ir_value *value) {
    value = builder_operand(b, value);
    if (b->optimise == 0 || value->is_constant || value->base != BASE_I32)
        return false;
    struct linear sum;
    begin_proof(b, LONG_PROOF_STEPS, true);
    exact_sum(b, value, &sum);
    end_proof(b);
    return sum.count != 1 || sum.term[0].value != value;
}
