/* Proofs of orders: x < y or x <= y, from the ranges of values, their definitions and the orders
   that are known here. Goals are sums that must not be negative. The search replaces a term that
   pulls the sum down by an upper bound of the term, and a term that lifts the sum by a lower bound,
   until the ranges of the terms that are left decide.

   note [proofs of products]
   A longer proof has sums of products (note [products] in linear.h). An operation is the sum or
   product of what it is made of where that fits its type, which is a goal of its own (`fits`). In a
   product one factor is replaced by a bound of it, where the others are natural: `times` is what
   that bound is multiplied by. */
#include "ir/build/bits.h"
#include "ir/build/linear.h"

/* Proofs are tried for every comparison that is built, so they are short: what is provable takes a
   few dozen steps, what is not would take hundreds, deep in branches. Those that are asked for may
   be longer. */
enum {
    PROOF_DEPTH = 3,
    PROOF_STEPS = 100,
    PROOF_ORDERS = 8,
    FITS_DEPTH = 9,
    FITS_STEPS = 2000,
    FITS_AS_DEPTH = 4,
    FITS_AS_STEPS = 60
};
/* To prove that a sum does not wrap may want the same of its parts: so deep are these questions. */
enum { MOST_ASKED = 3 };
enum { LONG_PROOF_DEPTH = 9, LONG_PROOF_STEPS = 6000, LONG_PROOF_ORDERS = 24, TOLD_ORDERS = 12, MOST_TOLD = 1000 };
/* A kernel may spend so many steps of long proofs in vain; further proofs get few, and then fewer. So a program that
   makes very many checks that no proof settles compiles in a second. Without these bounds 1,519 checks are left in 72
   programs with --check=memory, in place of 1,536 (tests/support/checks_left.py --degree memory, 2026-11-30), and
   examples/clusters/kmeans.fcl takes three times as long to compile. */
enum { MANY_VAIN_STEPS = 80000, FEW_LONG_STEPS = 300, MOST_VAIN_STEPS = 110000, LEAST_LONG_STEPS = 40 };
enum { ALL_VAIN_STEPS = 130000, ALL_LONG_STEPS = 1000000 }; /* in vain or not: after which ranges alone decide */
/* The same of short proofs, of which benchmarks/fcl/matrices.fcl makes 211,356 steps in vain. */
enum { MOST_VAIN_SHORT_STEPS = 300000 };

/* A known order x <= y as the sum y - x, which is not negative. It is kept while no more is known or told. */
enum { KNOWN_ORDERS = 64 };
struct known_order {
    uint32_t known, told;
    int asks;
    const struct ir_value *x, *y;
    bool is_long, is_sum;
    uint64_t bits; /* of the sum's terms */
    struct linear sum;
};

static const struct known_order *known_order(struct ir_builder *b, size_t which);

static bool prove(struct ir_builder *b, const struct linear *sum, int depth);

/* Values as exact sums, kept while no more is known: a proof asks for the same ones at each step, and so does the next
   proof. */
enum { KNOWN_SUMS = 64 };
struct known_sum {
    uint32_t known;
    const struct ir_value *value;
    struct linear sum;
};

static int steps_left(const struct ir_builder *b, bool is_long) {
    if (!is_long)
        return b->vain_short_steps < MOST_VAIN_SHORT_STEPS ? PROOF_STEPS : 0;
    if (b->long_steps >= ALL_LONG_STEPS)
        return 0;
    return b->vain_steps < MANY_VAIN_STEPS   ? LONG_PROOF_STEPS
           : b->vain_steps < MOST_VAIN_STEPS ? FEW_LONG_STEPS
           : b->vain_steps < ALL_VAIN_STEPS  ? LEAST_LONG_STEPS
                                             : 0;
}

/* False: no steps are left, so there is no proof. */
static bool begin_proof(struct ir_builder *b, int steps, bool is_long) {
    int left = steps_left(b, is_long);
    if (left == 0)
        return false;
    b->proof_steps = steps > left ? left : steps;
    b->is_long_proof = is_long;
    b->asks = is_long ? MOST_ASKED : 0;
    b->times = NULL;
    b->proof_began_with = b->proof_steps;
    return true;
}

static void end_proof(struct ir_builder *b, bool is_proved) {
    int taken = b->proof_began_with - b->proof_steps;
    if (b->is_long_proof)
        b->long_steps += taken;
    if (!is_proved)
        *(b->is_long_proof ? &b->vain_steps : &b->vain_short_steps) += taken;
    b->is_long_proof = false;
}

static const struct linear *sum_of(struct ir_builder *b, struct ir_value *x) {
    if (!b->sums)
        b->sums = ARENA_ARRAY(b->scratch, struct known_sum, KNOWN_SUMS);
    struct known_sum *known = &b->sums[x->id % KNOWN_SUMS];
    if (known->known != b->known || known->value != x) {
        bool is_long = b->is_long_proof;
        b->is_long_proof = false; /* a sum that is kept holds in shorter proofs, too */
        known->known = b->known;
        known->value = x;
        linear_exact(b, x, &known->sum);
        b->is_long_proof = is_long;
    }
    return &known->sum;
}

/* A goal of its own: terms that are settled in another one are not in this. */
static bool prove_apart(struct ir_builder *b, const struct linear *sum, int depth) {
    size_t from = b->settled_from;
    b->settled_from = b->settled.count;
    bool is_proved = prove(b, sum, depth);
    b->settled_from = from;
    return is_proved;
}

/* Where one number divides all coefficients, the sum is less than 0 only if it is by so much more than the constant's
   rest: the constant may be rounded up to the next number before a multiple. False: nothing is gained. */
static bool round_up(struct linear *sum) {
    int64_t divisor = sum->count ? sum->term[0].coefficient : 1;
    for (size_t i = 1; i < sum->count && divisor != 1 && divisor != -1; i++)
        divisor = linear_common_divisor(divisor, sum->term[i].coefficient);
    divisor = divisor < 0 ? -divisor : divisor;
    if (divisor == 1)
        return false;
    int64_t rest = sum->constant % divisor, lacks = divisor - 1 - (rest < 0 ? rest + divisor : rest);
    return lacks > 0 && !__builtin_add_overflow(sum->constant, lacks, &sum->constant);
}

/* The same of the terms that a term's coefficient divides, where the others are the least that they may be. */
static bool prove_rounded_to(struct ir_builder *b, const struct linear *sum, int64_t divisor, int depth) {
    struct linear rest = *sum, others = {.base = sum->base, .exact = true};
    for (size_t i = rest.count; i-- > 0;)
        if (rest.term[i].coefficient % divisor != 0) {
            others.term[others.count++] = rest.term[i];
            linear_remove(&rest, i);
        }
    range_wide low, high;
    linear_bounds(b, &others, &low, &high);
    return high - low < divisor && low > INT64_MIN && low < INT64_MAX &&
           !__builtin_add_overflow(rest.constant, (int64_t)low, &rest.constant) && round_up(&rest) &&
           prove_apart(b, &rest, depth - 1);
}

static bool prove_rounded(struct ir_builder *b, const struct linear *sum, int depth) {
    for (size_t i = 0; i < sum->count; i++) {
        int64_t size = sum->term[i].coefficient;
        size = size < -INT64_MAX ? 1 : size < 0 ? -size : size;
        if (size > 1 && prove_rounded_to(b, sum, size, depth))
            return true;
    }
    return false;
}

/* In steps of a few, as what is deep takes many. */
static bool prove_deeper(struct ir_builder *b, const struct linear *sum, int depth) {
    for (int so_far = 3; so_far < depth; so_far += 3)
        if (prove_apart(b, sum, so_far))
            return true;
    return prove_apart(b, sum, depth) || prove_rounded(b, sum, depth);
}

/* How many of the product's factors the value has, which is a product or one factor: both have theirs in one order. */
static size_t common_factors(struct ir_value *value, const struct ir_instruction *product) {
    bool is_product = linear_is_product(value);
    struct ir_value **factors = is_product ? value->definition->operands : &value;
    size_t count = is_product ? value->definition->operand_count : 1, common = 0;
    for (size_t i = 0, k = 0; i < count && k < product->operand_count;) {
        uint32_t a = factors[i]->id, b = product->operands[k]->id;
        common += a == b;
        i += a <= b;
        k += b <= a;
    }
    return common;
}

/* Has a term of most factors all factors of the product but one, and perhaps another in place of that? */
static bool is_like_term(const struct linear *sum, const struct ir_instruction *product) {
    size_t most = 1;
    bool is_like = false;
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < sum->count; i++) {
            struct ir_value *term = sum->term[i].value;
            size_t factors = linear_is_product(term) ? term->definition->operand_count : 1;
            most = factors > most ? factors : most;
            is_like |= turn == 1 && factors == most && factors <= product->operand_count &&
                       common_factors(term, product) == product->operand_count - 1;
        }
    return is_like;
}

/* A sum fits where it is no more than a product that is known to fit. */
static bool fits_as_known_product(struct ir_builder *b, const struct linear *above) {
    bool is_proved = false;
    for (size_t i = b->outside ? 0 : b->orders.count; i-- > 0 && !is_proved;) {
        const struct order order = b->orders.at[i];
        const struct ir_instruction *made = order.x->definition;
        if (!order.y->is_constant || !made || made->kind != IR_OPERATION || made->op != OP_MUL)
            continue;
        const struct linear known = known_order(b, i)->sum;
        struct linear below = *above;
        if (known.count != 1 || !linear_is_product(known.term[0].value) ||
            !is_like_term(above, known.term[0].value->definition) || !linear_add(&below, &known, -1))
            continue;
        int kept = b->proof_steps > FITS_AS_STEPS ? b->proof_steps - FITS_AS_STEPS : 0;
        b->proof_steps -= kept;
        is_proved = prove_deeper(b, &below, FITS_AS_DEPTH);
        b->proof_steps += kept;
    }
    return is_proved;
}

/* Is what it comes to one of the type? Where ranges do not show it, a longer proof asks what is known. */
static bool fits(struct ir_builder *b, enum base base, const struct linear *sum) {
    range_wide low, high;
    linear_bounds(b, sum, &low, &high);
    if (low >= base_low(base) && high <= base_high(base))
        return true;
    if (b->asks == 0 || base != BASE_I32)
        return false;
    struct linear below = *sum, above = {.base = base, .exact = true, .constant = INT32_MAX};
    int kept = b->proof_steps > FITS_STEPS ? b->proof_steps - FITS_STEPS : 0;
    b->proof_steps -= kept;
    b->asks--;
    bool is_proved =
        !__builtin_sub_overflow(below.constant, INT32_MIN, &below.constant) && linear_add(&above, sum, -1) &&
        (low >= base_low(base) || prove_deeper(b, &below, FITS_DEPTH)) &&
        (high <= base_high(base) || prove_deeper(b, &above, FITS_DEPTH) || fits_as_known_product(b, &above));
    b->asks++;
    b->proof_steps += kept;
    return is_proved;
}

/* Is the comparison one of the first so many orders that are known? */
static bool has_order(const struct ir_builder *b, const struct ir_instruction *made, size_t count) {
    for (size_t i = count; i-- > 0;) {
        const struct order *order = &b->orders.at[i];
        if (order->x == made->operands[0] && order->y == made->operands[1] && order->strict >= (made->op == OP_LT))
            return true;
    }
    return false;
}

/* Does a branch's condition hold, as the branch that is open, or an order here, tells? No supposition of a proof
   counts, as sums that are kept are made by this. */
static enum ir_truth settled_truth(struct ir_builder *b, const struct ir_value *condition) {
    const struct ir_instruction *made = condition->definition;
    size_t count = b->supposed.count > b->supposed_from ? b->orders_supposed_from : b->orders.count;
    if (b->outside || facts_of(b, condition)->truth != IR_UNKNOWN)
        return b->outside ? IR_UNKNOWN : facts_of(b, condition)->truth;
    if (!b->is_long_proof || !made || made->kind != IR_OPERATION || (made->op != OP_LT && made->op != OP_LE))
        return IR_UNKNOWN;
    return has_order(b, made, count) ? IR_TRUE : IR_UNKNOWN;
}

static bool is_given(const struct ir_instruction *branch, const struct ir_value *x, size_t *which) {
    *which = 0;
    while (*which < branch->result_count && branch->results[*which] != x)
        ++*which;
    return *which < branch->result_count;
}

/* A branch whose condition is known gives this value. NULL: the condition is not known; or the value is an operation of
   the branch's own, and the branch's result says more in a product. */
static struct ir_value *given_here(struct ir_builder *b, const struct ir_value *x) {
    const struct ir_instruction *made = x->definition;
    enum ir_truth truth = made && made->kind == IR_IF ? settled_truth(b, made->operands[0]) : IR_UNKNOWN;
    size_t which;
    if (truth == IR_UNKNOWN || !is_given(made, x, &which))
        return NULL;
    const struct ir_region *region = made->regions[truth == IR_FALSE];
    struct ir_value *given = region->yields.at[which];
    bool is_made_there = given->region && ir_region_inside(given->region, region);
    return is_made_there && given->definition && given->definition->kind == IR_OPERATION ? NULL : given;
}

/* The integer itself, where it was only widened, narrowed to what holds it, compared with a bound that it is known
   to keep, or is given by a branch that is known. */
static struct ir_value *unconverted(struct ir_builder *b, struct ir_value *x) {
    for (const struct ir_instruction *made = x->definition; made; made = x->definition) {
        struct ir_value *given = b->is_long_proof ? given_here(b, x) : NULL;
        if (given) {
            x = given;
            continue;
        }
        if (made->kind != IR_OPERATION)
            break;
        struct ir_value *from = made->operands[0];
        struct range range = facts_range(b, from);
        if (made->op == OP_CONVERT && base_info[from->base].is_integer && base_info[x->base].is_integer) {
            if (range.low < base_low(x->base) || range_high(from->base, range) > base_high(x->base))
                break;
        } else if ((made->op == OP_MAX || made->op == OP_MIN) && made->operands[1]->is_constant &&
                   base_info[x->base].is_integer && x->base != BASE_U64) {
            int64_t bound = made->operands[1]->constant.integer;
            if (made->op == OP_MAX ? range.low < bound : range.high > bound)
                break;
        } else {
            break;
        }
        x = from;
    }
    return x;
}

/* ---- sums and products that do not wrap ---- */

/* Operations as sums, kept while no more is known or told. They are found without what a proof supposes, so that they
   hold without it. */
enum { KNOWN_PARTS = 128, MOST_SUPPOSED = 32 };
struct known_parts {
    uint32_t known, told;
    int asks;      /* that the proof had */
    bool is_apart; /* the operation is the sum */
    const struct ir_value *value;
    struct linear sum;
};

static void exact_sum(struct ir_builder *b, struct ir_value *x, struct linear *sum);
static void take_apart(struct ir_builder *b, struct linear *sum);

static bool has_parts(const struct ir_value *x) {
    const struct ir_instruction *made = x->definition;
    if (!made || linear_is_product(x) || made->kind != IR_OPERATION || (x->base != BASE_I32 && x->base != BASE_I64))
        return false;
    return ((made->op == OP_ADD || made->op == OP_SUB) && x->base == BASE_I32) || made->op == OP_MUL;
}

static bool find_parts(struct ir_builder *b, struct ir_value *x, struct linear *sum) {
    enum ir_op op = x->definition->op;
    struct linear y[2];
    for (int i = 0; i < 2; i++)
        exact_sum(b, unconverted(b, x->definition->operands[i]), &y[i]);
    if (op == OP_MUL)
        return linear_multiply(b, &y[0], &y[1], sum) && fits(b, x->base, sum);
    *sum = y[0];
    if (linear_add(sum, &y[1], op == OP_ADD ? 1 : -1) && fits(b, x->base, sum))
        return true;
    if (!linear_of(b, x, sum) || (sum->count == 1 && sum->term[0].value == x)) /* what wraps on the way may be right */
        return false;
    sum->exact = true;
    take_apart(b, sum);
    return fits(b, x->base, sum);
}

/* The operation as a sum, if it is known not to wrap; else NULL. */
static const struct linear *parts_of(struct ir_builder *b, struct ir_value *x) {
    if (!b->known_parts)
        b->known_parts = ARENA_ARRAY(b->scratch, struct known_parts, KNOWN_PARTS);
    struct known_parts *known = &b->known_parts[x->id % KNOWN_PARTS];
    size_t from = b->supposed_from, orders_from = b->orders_supposed_from, count = b->orders.count;
    size_t first = b->supposed.count > from ? orders_from : count;
    struct order supposed[MOST_SUPPOSED];
    int asks = b->asks;
    if (count - first > MOST_SUPPOSED)
        b->asks = 0;
    for (size_t i = first; i < count && b->asks; i++)
        supposed[i - first] = b->orders.at[i];
    if (known->value != x || known->known != b->known || known->told != b->told_proof ||
        (!known->is_apart && known->asks < b->asks)) {
        struct known_parts found = {b->known, b->told_proof, b->asks, false, x, {0}};
        b->supposed_from = b->supposed.count;
        b->orders.count = b->asks ? first : count;
        found.is_apart = find_parts(b, x, &found.sum);
        *known = found;
    }
    b->orders.count = count;
    for (size_t i = first; i < count && b->asks; i++)
        b->orders.at[i] = supposed[i - first];
    b->supposed_from = from;
    b->orders_supposed_from = orders_from;
    b->asks = asks;
    return known->is_apart ? &known->sum : NULL;
}

/* Sums of products have them for the operations of which it is known that they are these, and what was converted for
   what it is converted to. */
static void take_apart(struct ir_builder *b, struct linear *sum) {
    for (size_t i = 0; b->is_long_proof && i < sum->count; i++) {
        struct ir_value *value = sum->term[i].value, *from = linear_is_product(value) ? value : unconverted(b, value);
        const struct linear *parts = from == value && has_parts(value) ? parts_of(b, value) : NULL;
        struct linear converted;
        if (from != value) {
            exact_sum(b, from, &converted);
            parts = &converted;
        }
        if (!parts)
            continue;
        struct linear rest = *sum;
        linear_remove(&rest, i);
        if (linear_add(&rest, parts, sum->term[i].coefficient)) {
            *sum = rest;
            i--;
        }
    }
}

static void exact_sum(struct ir_builder *b, struct ir_value *x, struct linear *sum) {
    if (linear_is_product(x)) {
        *sum = (struct linear){.base = x->base, .exact = true, .count = 1, .term = {{x, 1}}};
        return;
    }
    *sum = *sum_of(b, x);
    take_apart(b, sum);
}

static bool add_value(struct ir_builder *b, struct linear *sum, struct ir_value *x, int64_t factor) {
    struct linear part;
    exact_sum(b, unconverted(b, x), &part);
    return linear_add_times(b, sum, &part, factor, b->times);
}

/* sum >= 0 follows when sum - factor * (y - x - strict) >= 0, as the latter is not negative; and so it follows with a
   natural number times that. */
static bool prove_with(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                       struct ir_value *y, bool strict, int depth) {
    struct linear rest = *sum;
    if (!add_value(b, &rest, y, -factor) || !add_value(b, &rest, x, factor))
        return false;
    if (strict) {
        const struct linear one = {.base = sum->base, .exact = true, .constant = 1};
        if (!linear_add_times(b, &rest, &one, factor, b->times))
            return false;
    }
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

/* x is an index below the bound, so there is one: of what the bound is the least of, none is 0. */
static bool prove_below(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                        struct ir_value *bound, bool strict, int depth) {
    const struct ir_instruction *definition = unconverted(b, bound)->definition;
    struct ir_value *natural = natural_of(unconverted(b, bound));
    if (natural && prove_below(b, sum, factor, x, natural, strict, depth))
        return true;
    if (definition && definition->kind == IR_OPERATION && definition->op == OP_MIN)
        return prove_below(b, sum, factor, x, definition->operands[0], strict, depth) ||
               prove_below(b, sum, factor, x, definition->operands[1], strict, depth);
    return prove_with(b, sum, factor, x, bound, strict, depth);
}

/* The value, which is in the sum -factor times, replaced by one that is no less, or no more where
   the factor is negative. */
static bool prove_instead(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                          struct ir_value *y, int depth) {
    return prove_with(b, sum, factor, x, y, false, depth);
}

/* The same for both values: what is replaced for the one may have to stay for the other. */
static bool prove_both(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                       struct ir_value *const *y, int depth) {
    size_t from = b->settled_from;
    b->settled_from = b->settled.count;
    bool are_proved = prove_instead(b, sum, factor, x, y[0], depth) && prove_instead(b, sum, factor, x, y[1], depth);
    b->settled_from = from;
    return are_proved;
}

/* In a proof that goes by what was told. */
static bool is_told(const struct ir_builder *b, const struct ir_value *condition) {
    size_t first = b->told.count > MOST_TOLD ? b->told.count - MOST_TOLD : 0;
    for (size_t i = b->told.count; b->goes_by_told && i-- > first;)
        if (b->told.at[i] == condition)
            return true;
    return false;
}

/* A condition may share its parts, so that it has far more as a tree than as code: so many of them are looked at. */
enum { MOST_PARTS = 64 };

static void push_parts(struct ir_builder *b, const struct ir_value *value, bool truth, int *parts) {
    const struct ir_instruction *condition = value->definition;
    if (!condition || condition->kind != IR_OPERATION || *parts == 0)
        return;
    --*parts;
    struct ir_value **x = condition->operands;
    if (condition->op == OP_NOT || condition->op == (truth ? OP_AND : OP_OR)) {
        for (size_t i = 0; i < condition->operand_count; i++)
            push_parts(b, x[i], truth == (condition->op != OP_NOT), parts);
        return;
    }
    bool is_order = condition->op == OP_LT || condition->op == OP_LE;
    bool are_same = condition->op == (truth ? OP_EQ : OP_NE);
    if ((!is_order && !are_same) || base_info[x[0]->base].is_floating)
        return;
    bool is_strict = is_order && (condition->op == OP_LT) == truth;
    vec_push(b->scratch, &b->orders,
             ((struct order){truth || are_same ? x[0] : x[1], truth || are_same ? x[1] : x[0], is_strict, false}));
    if (are_same)
        vec_push(b->scratch, &b->orders, ((struct order){x[1], x[0], false, false}));
}

/* Pushes the orders of ints that follow if the condition has this truth. */
static void push_orders(struct ir_builder *b, const struct ir_value *value, bool truth) {
    int parts = MOST_PARTS;
    push_parts(b, value, truth, &parts);
}

/* Until end_supposing, which gets what this gives. */
static size_t suppose(struct ir_builder *b, const struct ir_value *condition, bool truth) {
    size_t orders = b->orders.count;
    if (b->supposed.count == b->supposed_from)
        b->orders_supposed_from = orders;
    vec_push(b->scratch, &b->supposed, ((struct supposed){condition, truth}));
    push_orders(b, condition, truth);
    return orders;
}

static void end_supposing(struct ir_builder *b, size_t orders) {
    b->supposed.count--;
    b->orders.count = orders;
}

/* The same, or what the proof supposes. */
static enum ir_truth truth_of(struct ir_builder *b, const struct ir_value *condition) {
    const struct ir_instruction *made = condition->definition;
    bool is_order = made && made->kind == IR_OPERATION && (made->op == OP_LT || made->op == OP_LE);
    for (size_t i = b->supposed_from; i < b->supposed.count; i++)
        if (b->supposed.at[i].condition == condition)
            return b->supposed.at[i].truth ? IR_TRUE : IR_FALSE;
    if (b->outside || facts_of(b, condition)->truth != IR_UNKNOWN)
        return b->outside ? IR_UNKNOWN : facts_of(b, condition)->truth;
    return is_order && b->is_long_proof && has_order(b, made, b->orders.count) ? IR_TRUE : IR_UNKNOWN;
}

/* Can the condition not have this truth? Asked where that alone would help: of a constant that is too small or too
   large. */
static bool is_refuted(struct ir_builder *b, const struct ir_value *condition, bool truth, int depth) {
    const struct ir_instruction *made = condition->definition;
    if (!b->is_long_proof || depth < 2 || !made || made->kind != IR_OPERATION)
        return false;
    struct ir_value **x = made->operands;
    if (made->op == OP_NOT)
        return is_refuted(b, x[0], !truth, depth);
    if (made->op == OP_AND || made->op == OP_OR) {
        bool is_first = is_refuted(b, x[0], truth, depth);
        return truth == (made->op == OP_AND) ? is_first || is_refuted(b, x[1], truth, depth)
                                             : is_first && is_refuted(b, x[1], truth, depth);
    }
    if ((made->op != OP_LT && made->op != OP_LE) || x[0]->base != BASE_I32)
        return false;
    struct linear sum = {.base = BASE_I32, .exact = true, .constant = truth ? made->op == OP_LE : made->op == OP_LT};
    sum.constant = -sum.constant;
    struct ir_value *times = b->times;
    b->times = NULL;
    bool is_proved = add_value(b, &sum, x[0], truth ? 1 : -1) && add_value(b, &sum, x[1], truth ? -1 : 1) &&
                     prove_apart(b, &sum, depth - 1);
    b->times = times;
    return is_proved;
}

/* Whichever of the two it is. Where the condition is known, or was told, there is one alone. */
static bool prove_by_selection(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                               int depth) {
    struct ir_value **y = x->definition->operands;
    enum ir_truth known = is_told(b, y[0]) ? IR_TRUE : truth_of(b, y[0]);
    bool is_proved = true;
    for (int which = 1; which <= 2 && is_proved; which++) {
        if (known == (which == 1 ? IR_FALSE : IR_TRUE))
            continue;
        size_t orders = suppose(b, y[0], which == 1);
        size_t from = b->settled_from;
        b->settled_from = b->settled.count; /* more is known */
        is_proved = prove_instead(b, sum, factor, x, y[which], depth);
        b->settled_from = from;
        end_supposing(b, orders);
        is_proved =
            is_proved || (y[which]->is_constant && known == IR_UNKNOWN && is_refuted(b, y[0], which == 1, depth));
    }
    return is_proved;
}

/* Replaces what the branch gives, in a term or a factor of one, by what it yields there. */
static bool replace_given(struct ir_builder *b, struct linear *rest, struct ir_value *x, int64_t coefficient,
                          const struct ir_instruction *branch, const struct ir_region *region) {
    bool is_product = linear_is_product(x), is_added = true;
    size_t which;
    for (size_t k = 0; k < (is_product ? x->definition->operand_count : 1); k++)
        if (is_given(branch, is_product ? x->definition->operands[k] : x, &which)) {
            is_added = add_value(b, rest, x, -coefficient);
            b->times = is_product ? linear_other_factors(b, x, k) : NULL;
            is_added =
                is_added && (b->times || !is_product) && add_value(b, rest, region->yields.at[which], coefficient);
            b->times = NULL;
            break;
        }
    return is_added;
}

static bool yields_constant(const struct ir_region *region) {
    for (size_t i = 0; i < region->yields.count; i++)
        if (region->yields.at[i]->is_constant)
            return true;
    return false;
}

/* Whichever branch they come from: all that the branch gives is replaced together. */
static bool prove_by_branches(struct ir_builder *b, const struct linear *sum, const struct ir_instruction *branch,
                              int depth) {
    enum ir_truth known = truth_of(b, branch->operands[0]);
    struct ir_value *times = b->times;
    bool is_proved = true;
    b->times = NULL;
    for (int r = 0; r < 2 && is_proved; r++) {
        if (known == (r == 0 ? IR_FALSE : IR_TRUE))
            continue;
        struct linear rest = *sum;
        size_t orders = b->orders.count;
        if (known == IR_UNKNOWN)
            suppose(b, branch->operands[0], r == 0);
        for (size_t i = 0; i < sum->count && is_proved; i++)
            is_proved =
                replace_given(b, &rest, sum->term[i].value, sum->term[i].coefficient, branch, branch->regions[r]);
        is_proved = is_proved && prove_apart(b, &rest, depth - 1);
        if (known != IR_UNKNOWN)
            continue;
        end_supposing(b, orders);
        is_proved =
            is_proved || (yields_constant(branch->regions[r]) && is_refuted(b, branch->operands[0], r == 0, depth));
    }
    b->times = times;
    return is_proved;
}

static bool is_at_least(struct ir_builder *b, struct ir_value *x, int64_t least, int depth) {
    struct linear sum = {.base = x->base, .exact = true, .constant = -least};
    struct ir_value *times = b->times;
    if (facts_range(b, x).low >= least || depth == 0)
        return facts_range(b, x).low >= least;
    b->times = NULL;
    bool is_proved = add_value(b, &sum, x, 1) && prove_apart(b, &sum, depth - 1);
    b->times = times;
    return is_proved;
}

static bool is_natural(struct ir_builder *b, struct ir_value *x, int depth) {
    for (size_t i = 0; linear_is_product(x); i++)
        if (i == x->definition->operand_count || !is_at_least(b, x->definition->operands[i], 0, depth))
            return i == x->definition->operand_count;
    return is_at_least(b, x, 0, depth);
}

/* Divides a sum that must not be negative by what divides its coefficients: they make whole numbers, so the constant
   is rounded down. */
static bool divide_by(struct linear *sum, int64_t divisor) {
    for (size_t i = 0; i < sum->count; i++)
        if (sum->term[i].coefficient % divisor != 0)
            return false;
    for (size_t i = 0; i < sum->count; i++)
        sum->term[i].coefficient /= divisor;
    sum->constant = sum->constant / divisor - (sum->constant % divisor < 0);
    return true;
}

/* The count of a loop that runs is at least 1. So max(n, 0) is n, and a branch whose condition is known is what that
   side gives. */
static struct ir_value *count_of_run(struct ir_builder *b, struct ir_value *count) {
    for (struct ir_value *next = count; next;) {
        count = unconverted(b, next);
        const struct ir_instruction *made = count->definition;
        enum ir_truth truth = made && made->kind == IR_IF ? truth_of(b, made->operands[0]) : IR_UNKNOWN;
        size_t which;
        next = natural_of(count);
        if (truth != IR_UNKNOWN && is_given(made, count, &which))
            next = made->regions[truth == IR_FALSE]->yields.at[which];
    }
    return count;
}

/* A quotient y / c that pulls the sum down, of a sum y of which one term is an index. Where the index is the most that
   it may be, y comes to a multiple of c and a constant, so that the quotient of this is a sum. y / c is no more where
   it is rounded down: a shift is, a division of a natural y is. */
static bool prove_by_most_quotient(struct ir_builder *b, const struct linear *sum, struct ir_value *x, int64_t factor,
                                   const struct linear *below, struct ir_value *count, int depth) {
    const struct ir_instruction *made = unconverted(b, count)->definition;
    struct linear most = *below, rest = *sum, last;
    if (made && made->kind == IR_OPERATION && made->op == OP_MIN)
        return prove_by_most_quotient(b, sum, x, factor, below, made->operands[0], depth) ||
               prove_by_most_quotient(b, sum, x, factor, below, made->operands[1], depth);
    exact_sum(b, count_of_run(b, count), &last);
    return linear_add(&most, &last, 1) && !__builtin_sub_overflow(most.constant, 1, &most.constant) &&
           divide_by(&most, linear_divisor(x)) && add_value(b, &rest, x, factor) &&
           linear_add_times(b, &rest, &most, -factor, b->times) && prove(b, &rest, depth - 1);
}

static bool prove_by_quotient_of_index(struct ir_builder *b, const struct linear *sum, struct ir_value *x,
                                       int64_t factor, int depth) {
    struct ir_value *y = linear_divisor(x) > 1 ? x->definition->operands[0] : NULL;
    struct linear whole, below;
    if (!y || (!b->is_long_proof && !count_of_index(y)))
        return false;
    exact_sum(b, y, &whole);
    for (size_t i = 0; i < whole.count; i++) {
        struct ir_value *count = whole.term[i].coefficient == 1 ? count_of_index(whole.term[i].value) : NULL;
        if (!count || count->is_constant || (x->definition->op == OP_DIV && !is_natural(b, y, depth)))
            continue;
        below = whole;
        linear_remove(&below, i);
        if (prove_by_most_quotient(b, sum, x, factor, &below, count, depth))
            return true;
    }
    return false;
}

/* The least that a known order says that y % c is, for a natural y; or 0. */
static int64_t least_rest(struct ir_builder *b, const struct ir_value *y, int64_t c) {
    int64_t least = 0;
    for (size_t i = 0; b->is_long_proof && !b->outside && i < b->orders.count; i++) {
        const struct order *order = &b->orders.at[i];
        const struct ir_instruction *made = order->y->definition;
        bool is_rest = made && made->kind == IR_OPERATION && made->operands[0] == y &&
                       (made->op == OP_REM || made->op == OP_AND) && made->operands[1]->is_constant &&
                       made->operands[1]->constant.integer == (made->op == OP_REM ? c : c - 1) &&
                       (made->op == OP_REM || (c & (c - 1)) == 0);
        int64_t low = is_rest ? facts_range(b, order->x).low : 0;
        if (is_rest && low >= 0 && low < INT32_MAX && low + order->strict > least)
            least = low + order->strict;
    }
    return least;
}

/* A quotient q = y / c that pulls the sum down. Alone, rest - q >= 0 says c * rest + c - 1 - y >=
   0; of a multiple of c, c * q is at most y less its rest. Both want y / c rounded down: a shift is, a division of a
   natural y is. */
static bool prove_by_quotient(struct ir_builder *b, const struct linear *sum, struct ir_value *x, int64_t factor,
                              int depth) {
    int64_t c = linear_divisor(x);
    struct ir_value *y = c ? x->definition->operands[0] : NULL;
    if (!c || (x->definition->op == OP_DIV && !is_natural(b, y, depth)))
        return false;
    struct linear rest = {.base = sum->base, .exact = sum->exact};
    if (factor % c == 0) {
        const struct linear least = {.base = sum->base, .exact = true, .constant = least_rest(b, y, c)};
        rest = *sum;
        return add_value(b, &rest, x, factor) && add_value(b, &rest, y, -factor / c) &&
               linear_add_times(b, &rest, &least, factor / c, b->times) && prove(b, &rest, depth - 1);
    }
    if (factor != 1 || b->times || !linear_add(&rest, sum, c) || !add_value(b, &rest, x, c) ||
        !add_value(b, &rest, y, -1) || __builtin_add_overflow(rest.constant, c - 1, &rest.constant))
        return false;
    return prove(b, &rest, depth - 1);
}

/* The rest of y / c, as y % c of a natural y, or as the last bits of y, is y less c times the quotient, where the sum
   has that. */
static bool prove_by_rest(struct ir_builder *b, const struct linear *sum, struct ir_value *x, int64_t factor,
                          int depth) {
    struct ir_value **y = x->definition->operands;
    int64_t c = y[1]->is_constant ? y[1]->constant.integer : 0, multiple;
    if (x->definition->op == OP_AND)
        c = c > 0 && c < INT32_MAX && (c & (c + 1)) == 0 ? c + 1 : 0;
    else if (!is_natural(b, y[0], depth))
        return false;
    for (size_t i = 0; c > 1 && !b->times && i < sum->count; i++) {
        struct ir_value *quotient = sum->term[i].value;
        if (linear_is_product(quotient) || linear_divisor(quotient) != c || quotient->definition->operands[0] != y[0] ||
            (x->definition->op == OP_AND && quotient->definition->op == OP_DIV && !is_natural(b, y[0], depth)))
            continue;
        struct linear rest = *sum;
        return !__builtin_mul_overflow(c, factor, &multiple) && add_value(b, &rest, x, factor) &&
               add_value(b, &rest, y[0], -factor) && add_value(b, &rest, quotient, multiple) &&
               prove(b, &rest, depth - 1);
    }
    return false;
}

/* The same of a quotient by a number that is at least 1: rest - q >= 0 says d * rest + d - 1 - y >= 0. */
static bool prove_by_division(struct ir_builder *b, const struct linear *sum, struct ir_value *x, int64_t factor,
                              int depth) {
    struct ir_value **y = x->definition->operands;
    struct linear rest = *sum, divisor, product;
    if (!divide_by(&rest, factor) || !add_value(b, &rest, x, 1))
        return false;
    exact_sum(b, y[1], &divisor);
    return linear_multiply(b, &rest, &divisor, &product) && linear_add(&product, &divisor, 1) &&
           !__builtin_sub_overflow(product.constant, 1, &product.constant) && add_value(b, &product, y[0], -1) &&
           prove(b, &product, depth - 1);
}

/* d, or the larger of it and 1. */
static struct ir_value *at_least_one(struct ir_builder *b, struct ir_value *d) {
    const struct ir_instruction *made = d->definition;
    for (int i = 0; made && made->kind == IR_OPERATION && made->op == OP_MAX && i < 2; i++)
        if (made->operands[i]->is_constant && made->operands[i]->constant.integer == 1)
            return unconverted(b, made->operands[1 - i]);
    return unconverted(b, d);
}

/* A quotient y / d of an index y that is below d * n is below n, whatever it is multiplied by. */
static bool prove_by_division_of_index(struct ir_builder *b, const struct linear *sum, struct ir_value *x,
                                       int64_t factor, int depth) {
    struct ir_value *count = count_of_index(x->definition->operands[0]),
                    *d = at_least_one(b, x->definition->operands[1]);
    struct linear product, most = {.base = sum->base, .exact = true, .constant = -1}, rest = *sum;
    if (!count || count->is_constant || !is_natural(b, d, depth)) /* two negative factors would make it positive, too */
        return false;
    exact_sum(b, count_of_run(b, count), &product);
    struct ir_value *value = product.count == 1 ? product.term[0].value : NULL;
    if (!value || !linear_is_product(value) || product.term[0].coefficient != 1 || product.constant != 0)
        return false;
    for (size_t k = 0; k < value->definition->operand_count; k++) {
        struct ir_value *n = value->definition->operands[k] == d ? linear_other_factors(b, value, k) : NULL;
        const struct linear one = {.base = sum->base, .exact = true, .count = 1, .term = {{n, 1}}};
        if (n)
            return linear_add(&most, &one, 1) && add_value(b, &rest, x, factor) &&
                   linear_add_times(b, &rest, &most, -factor, b->times) && prove(b, &rest, depth - 1);
    }
    return false;
}

static size_t pulling_terms(const struct linear *sum) {
    size_t count = 0;
    for (size_t i = 0; i < sum->count; i++)
        count += sum->term[i].coefficient < 0;
    return count;
}

/* Either of the two may replace the value. In a long proof that is tried first which leaves fewer terms to replace. */
static bool prove_either(struct ir_builder *b, const struct linear *sum, int64_t factor, struct ir_value *x,
                         struct ir_value *const *y, int depth) {
    struct linear rest[2] = {*sum, *sum};
    bool is_sum[2];
    for (int i = 0; i < 2; i++)
        is_sum[i] = add_value(b, &rest[i], y[i], -factor) && add_value(b, &rest[i], x, factor);
    int first = b->is_long_proof && pulling_terms(&rest[1]) < pulling_terms(&rest[0]);
    return (is_sum[first] && prove(b, &rest[first], depth - 1)) ||
           (is_sum[1 - first] && prove(b, &rest[1 - first], depth - 1));
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
        return prove_either(b, sum, factor, x, y, depth);
    if (definition->op == OP_MAX && b->times && !y[0]->definition && !y[1]->definition)
        return false; /* of a number of which nothing is known */
    if (definition->op == OP_MAX)
        return prove_both(b, sum, factor, x, y, depth);
    if (definition->op == OP_SELECT)
        return prove_by_selection(b, sum, factor, x, depth);
    if (definition->op == OP_CONVERT)
        return unconverted(b, x) != x && prove_instead(b, sum, factor, x, unconverted(b, x), depth);
    if (prove_by_quotient_of_index(b, sum, x, factor, depth) || prove_by_quotient(b, sum, x, factor, depth))
        return true;
    if ((definition->op == OP_AND || definition->op == OP_REM) && b->is_long_proof &&
        prove_by_rest(b, sum, x, factor, depth))
        return true;
    if (definition->op == OP_SHR && b->is_long_proof)
        return is_at_least(b, y[0], 0, depth) && prove_instead(b, sum, factor, x, y[0], depth);
    if ((definition->op != OP_REM && definition->op != OP_DIV) ||
        !is_at_least(b, y[1], 1, b->is_long_proof ? depth : 0))
        return false;
    if (definition->op == OP_REM) /* of a number below 0, too */
        return prove_with(b, sum, factor, x, y[1], true, depth);
    if (!is_at_least(b, y[0], 0, b->is_long_proof ? depth : 0))
        return false;
    if (b->is_long_proof && prove_by_division_of_index(b, sum, x, factor, depth))
        return true;
    return prove_instead(b, sum, factor, x, y[0], depth) ||
           (b->is_long_proof && !b->times && prove_by_division(b, sum, x, factor, depth));
}

/* A quotient q = y / c that lifts it, however it is rounded. Alone, rest + q >= 0 says c * rest + y >= 0; of a multiple
   of c, c * q is at least y - (c - 1). */
static bool prove_by_lifting_quotient(struct ir_builder *b, const struct linear *sum, struct ir_value *x,
                                      int64_t factor, int depth) {
    int64_t c = linear_divisor(x);
    struct ir_value *y = c ? x->definition->operands[0] : NULL;
    struct linear rest = *sum;
    if (b->is_long_proof && c > 1 && factor == 1) { /* many fail, and each costs a sum */
        rest = (struct linear){.base = sum->base, .exact = sum->exact};
        return linear_add(&rest, sum, c) && add_value(b, &rest, x, -c) && add_value(b, &rest, y, 1) &&
               prove(b, &rest, depth - 1);
    }
    return c && factor % c == 0 && add_value(b, &rest, x, -factor) && add_value(b, &rest, y, factor / c) &&
           !__builtin_sub_overflow(rest.constant, factor / c * (c - 1), &rest.constant) && prove(b, &rest, depth - 1);
}

/* A quotient x / y or a rest x % y that lifts it, for a y that is at least 1: it is not negative where x is not. Else a
   rest is more than -y. */
static bool prove_by_lifting_division(struct ir_builder *b, const struct linear *sum, struct ir_value *x,
                                      int64_t factor, int depth) {
    const struct linear one = {.base = sum->base, .exact = true, .constant = 1};
    struct ir_value **y = x->definition->operands;
    struct linear rest = *sum;
    if (facts_range(b, x).low >= 0 || !is_at_least(b, y[1], 1, depth) || !add_value(b, &rest, x, -factor))
        return false;
    if (is_at_least(b, y[0], 0, depth))
        return prove(b, &rest, depth - 1);
    return x->definition->op == OP_REM && add_value(b, &rest, y[1], -factor) &&
           linear_add_times(b, &rest, &one, factor, b->times) && prove(b, &rest, depth - 1);
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
    if (definition->op == OP_MAX && b->times && (y[0]->is_constant || y[1]->is_constant))
        return false; /* a range says it */
    if (definition->op == OP_MAX)
        return prove_either(b, sum, -factor, x, y, depth);
    if (definition->op == OP_MIN)
        return prove_both(b, sum, -factor, x, y, depth);
    if (definition->op == OP_SELECT)
        return prove_by_selection(b, sum, -factor, x, depth);
    if (definition->op == OP_CONVERT)
        return unconverted(b, x) != x && prove_instead(b, sum, -factor, x, unconverted(b, x), depth);
    if ((definition->op == OP_REM || definition->op == OP_DIV) && !linear_divisor(x))
        return b->is_long_proof && prove_by_lifting_division(b, sum, x, factor, depth);
    return !b->times && prove_by_lifting_quotient(b, sum, x, factor, depth);
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
        !prove_apart(b, &difference, depth - 1))
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

/* A bit that stands for the term, and for others. */
static uint64_t bit_of(const struct ir_value *term) { return UINT64_C(1) << ((uintptr_t)term / sizeof *term % 64); }

/* How often a term with the coefficient c has to be taken out to rid a sum of the same term; 0: it does not. */
static int64_t factor_of_term(int64_t c, int64_t coefficient) {
    return c > 0 && coefficient > 0 && coefficient % c == 0 ? coefficient / c : 0;
}

static void order_sum(struct ir_builder *b, struct ir_value *x, struct linear *sum) {
    exact_sum(b, b->is_long_proof ? unconverted(b, x) : x, sum);
}

static const struct known_order *known_order(struct ir_builder *b, size_t which) {
    if (!b->known_orders)
        b->known_orders = ARENA_ARRAY(b->scratch, struct known_order, KNOWN_ORDERS);
    const struct order order = b->orders.at[which];
    struct known_order *known = &b->known_orders[which % KNOWN_ORDERS];
    if (known->x != order.x || known->y != order.y || known->known != b->known || known->told != b->told_proof ||
        known->asks != b->asks || known->is_long != b->is_long_proof) {
        struct known_order found = {b->known,         b->told_proof, b->asks, order.x, order.y,
                                    b->is_long_proof, false,         0,       {0}};
        struct linear x;
        order_sum(b, order.y, &found.sum);
        order_sum(b, order.x, &x);
        found.is_sum = linear_add(&found.sum, &x, -1); /* else it is too long a sum */
        for (size_t i = 0; found.is_sum && i < found.sum.count; i++)
            found.bits |= bit_of(found.sum.term[i].value);
        *known = found;
    }
    return known;
}

/* How often an order has to be taken out of a sum to rid it of a term: one that pulls the sum down as it does y - x, or
   one that lifts both; 0: it does not help. */
static int64_t factor_of_order(struct ir_builder *b, size_t which, const struct ir_value *term, int64_t coefficient) {
    const struct known_order *order = known_order(b, which);
    int64_t c = order->bits & bit_of(term) ? coefficient_of(&order->sum, term) : 0;
    return coefficient < 0 ? factor_of_term(-c, -coefficient) : factor_of_term(c, coefficient);
}

/* A factor of a product is replaced by the end of its range, where that says much. */
enum { MOST_END = 1 << 26 };
static bool prove_by_end(struct ir_builder *b, const struct linear *sum, struct ir_value *x, int64_t coefficient,
                         int depth) {
    struct range range = facts_range(b, x);
    struct linear end = {.base = sum->base, .exact = true, .constant = coefficient > 0 ? range.low : range.high};
    struct linear rest = *sum;
    return end.constant > -MOST_END && end.constant < MOST_END && end.constant != 0 &&
           add_value(b, &rest, x, -coefficient) && linear_add_times(b, &rest, &end, coefficient, b->times) &&
           prove(b, &rest, depth - 1);
}

static bool prove_by_orders(struct ir_builder *b, const struct linear *sum, struct ir_value *x, int64_t coefficient,
                            int depth) {
    for (size_t i = b->outside ? 0 : b->orders.count; i-- > 0;) {
        struct order order = b->orders.at[i];
        struct linear part;
        exact_sum(b, unconverted(b, coefficient > 0 ? order.y : order.x), &part);
        int64_t factor = factor_of_term(coefficient_of(&part, x), coefficient > 0 ? coefficient : -coefficient);
        if (factor > 0 && prove_with(b, sum, factor, order.x, order.y, order.strict, depth))
            return true;
    }
    return false;
}

/* A quotient q = y / d times d, and perhaps times more: at most y where y is natural, at least y - (d - 1). A term of
   the divisor is a factor, so that the sum has d * q, or less of it. The caller has proved that all factors but q are
   natural (is_natural asks each factor of a product). */
static bool prove_by_whole(struct ir_builder *b, const struct linear *sum, struct ir_value *product, size_t which,
                           int64_t coefficient, int depth) {
    struct ir_value **x = product->definition->operands;
    const struct ir_instruction *made = x[which]->definition;
    if (!made || made->kind != IR_OPERATION || made->op != OP_DIV || !is_at_least(b, made->operands[1], 1, depth) ||
        (coefficient < 0 && !is_natural(b, made->operands[0], depth)))
        return false;
    struct linear divisor, whole;
    const struct linear one = {.base = sum->base, .exact = true, .constant = 1},
                        quotient = {.base = sum->base, .exact = true, .count = 1, .term = {{x[which], 1}}};
    exact_sum(b, made->operands[1], &divisor);
    if (!linear_multiply(b, &divisor, &quotient, &whole))
        return false;
    for (size_t k = 0; k < product->definition->operand_count; k++) {
        int64_t times = k == which ? 0 : coefficient_of(&divisor, x[k]);
        if (times < 1 || coefficient % times != 0)
            continue;
        struct linear rest = *sum;
        struct ir_value *others = NULL; /* than the quotient and the divisor */
        for (size_t j = 0; j < product->definition->operand_count; j++)
            others = j != which && j != k ? x[j] : others;
        int64_t factor = coefficient / times;
        bool is_added = linear_add_times(b, &rest, &whole, -factor, others);
        b->times = others;
        is_added = is_added && add_value(b, &rest, made->operands[0], factor);
        if (coefficient > 0)
            is_added = is_added && linear_add_times(b, &rest, &divisor, -factor, others) &&
                       linear_add_times(b, &rest, &one, factor, others);
        b->times = NULL;
        return is_added && prove(b, &rest, depth - 1);
    }
    return false;
}

/* A product that lifts the sum is left out where no factor is negative. */
static bool prove_without(struct ir_builder *b, const struct linear *sum, size_t at, int depth) {
    struct linear rest = *sum;
    linear_remove(&rest, at);
    return sum->term[at].coefficient > 0 && is_natural(b, sum->term[at].value, depth) && prove(b, &rest, depth - 1);
}

/* Replaces one factor of a product by a bound of that factor, where the other factors are not negative. */
static bool prove_by_product(struct ir_builder *b, const struct linear *sum, size_t at, int depth) {
    struct ir_value *product = sum->term[at].value;
    int64_t coefficient = sum->term[at].coefficient;
    bool is_proved = false;
    for (size_t k = product->definition->operand_count; k-- > 0 && !is_proved;) { /* what was made last first */
        struct ir_value *x = product->definition->operands[k], *times = linear_other_factors(b, product, k);
        if (!times || !is_natural(b, times, depth))
            continue;
        if (prove_by_whole(b, sum, product, k, coefficient, depth))
            return true;
        b->times = times;
        is_proved = (coefficient < 0 ? prove_by_term(b, sum, x, -coefficient, depth)
                                     : prove_by_lifting_term(b, sum, x, coefficient, depth)) ||
                    prove_by_orders(b, sum, x, coefficient, depth) || prove_by_end(b, sum, x, coefficient, depth);
        b->times = NULL;
    }
    return is_proved;
}

/* Terms are replaced in one order, not in each: a term that was not replaced so far stays, as often as it is there. */
static bool is_settled(const struct ir_builder *b, const struct linear *sum, size_t at) {
    for (size_t i = b->settled_from; b->is_long_proof && i < b->settled.count; i++)
        if (b->settled.at[i].value == sum->term[at].value && b->settled.at[i].coefficient == sum->term[at].coefficient)
            return true;
    return false;
}

static bool prove_by_replacing(struct ir_builder *b, const struct linear *sum, size_t at, int depth) {
    struct ir_value *value = sum->term[at].value;
    int64_t factor = sum->term[at].coefficient;
    if (linear_is_product(value))
        return prove_by_product(b, sum, at, depth) || prove_without(b, sum, at, depth);
    if (factor > 0)
        return prove_by_lifting_term(b, sum, value, factor, depth);
    if (factor == INT64_MIN || prove_by_term(b, sum, value, -factor, depth))
        return factor != INT64_MIN;
    for (size_t up = 0; up < sum->count; up++)
        if (sum->term[up].coefficient > 0 && prove_by_quotients(b, sum, up, at, depth))
            return true;
    return false;
}

/* The orders that a proof adds up with: the last ones that are known, from this one on. */
static size_t first_order(const struct ir_builder *b) {
    size_t first = b->outside ? 0 : b->orders.count, most = PROOF_ORDERS;
    if (b->is_long_proof)
        return first > LONG_PROOF_ORDERS ? first - LONG_PROOF_ORDERS : 0;
    for (; first > 0 && most > 0; first--)
        most -= !b->orders.at[first - 1].is_minor;
    return first;
}

/* Adds up with a known order x <= y that has one of the terms `from` to `end` - 1 of the sum, so that this goes.
   `bits`: of the terms of each order, as far as they are known. */
static bool prove_by_known_orders(struct ir_builder *b, const struct linear *sum, size_t from, size_t end,
                                  const uint64_t *bits, int depth) {
    size_t count = b->outside ? 0 : b->orders.count, first = first_order(b);
    for (size_t i = first; i < count; i++) {
        struct order order = b->orders.at[i];
        int64_t factor = 0;
        if ((order.is_minor && !b->is_long_proof) || (bits && !(bits[i - first] & bit_of(sum->term[from].value))))
            continue;
        for (size_t at = from; at < end && factor == 0; at++)
            factor = factor_of_order(b, i, sum->term[at].value, sum->term[at].coefficient);
        if (factor > 0 && prove_with(b, sum, factor, order.x, order.y, order.strict, depth))
            return true;
    }
    return false;
}

/* When the value, or the last factor of the product, was made. */
static uint32_t made_at(const struct ir_value *value) {
    uint32_t last = linear_is_product(value) ? 0 : value->id;
    for (size_t i = 0; linear_is_product(value) && i < value->definition->operand_count; i++)
        last = value->definition->operands[i]->id > last ? value->definition->operands[i]->id : last;
    return last;
}

/* Which term is replaced next: those that pull, then those that lift; in a long proof what was made last comes first,
   as it is made of the others. */
static size_t next_term(const struct ir_builder *b, const struct linear *sum, const bool *done) {
    size_t best = sum->count;
    for (size_t i = 0; i < sum->count; i++) {
        bool lifts = sum->term[i].coefficient > 0;
        if (done[i])
            continue;
        if (best == sum->count || lifts < (sum->term[best].coefficient > 0) ||
            (b->is_long_proof && lifts == (sum->term[best].coefficient > 0) &&
             made_at(sum->term[i].value) > made_at(sum->term[best].value)))
            best = i;
    }
    return best;
}

/* Goals that a long proof has failed to prove, and how deep it looked: nobody looks there again while no more is known
   or told. */
enum { KNOWN_FAILURES = 8192 };
struct failed_goal {
    uint64_t goal;
    int64_t constant;
    uint32_t known, told;
    int depth, asks;
};

static uint64_t name_of(const struct ir_value *value) {
    uint64_t name = value->id;
    for (size_t i = 0; linear_is_product(value) && i < value->definition->operand_count; i++)
        name = builder_mix(name, value->definition->operands[i]->id);
    return name;
}

/* But for its constant. */
static uint64_t goal_of(const struct ir_builder *b, const struct linear *sum) {
    uint64_t goal = builder_mix(b->outside ? 0 : b->orders.count + 1, b->supposed.count);
    for (size_t i = 0; i < sum->count; i++) {
        uint64_t term = builder_mix(name_of(sum->term[i].value), (uint64_t)sum->term[i].coefficient);
        goal += builder_mix(term, is_settled(b, sum, i)); /* in whatever order */
    }
    return goal;
}

static bool has_failed(const struct failed_goal *known, const struct failed_goal *goal) {
    return known->known == goal->known && known->told == goal->told && known->goal == goal->goal &&
           known->depth >= goal->depth && known->asks >= goal->asks && known->constant >= goal->constant;
}

static bool search(struct ir_builder *b, const struct linear *sum, int depth) {
    range_wide low, high;
    bool done[LINEAR_MAX_TERMS] = {false};
    uint64_t bits[LONG_PROOF_ORDERS];
    linear_bounds(b, sum, &low, &high);
    if (low >= 0)
        return true;
    if (depth == 0 || high < 0 || b->proof_steps == 0)
        return false;
    if (!b->failures)
        b->failures = ARENA_ARRAY(b->scratch, struct failed_goal, KNOWN_FAILURES);
    struct failed_goal goal = {
        b->is_long_proof ? goal_of(b, sum) : 0, sum->constant, b->known, b->told_proof, depth, b->asks};
    struct failed_goal *known = &b->failures[goal.goal % KNOWN_FAILURES];
    if (b->is_long_proof && has_failed(known, &goal))
        return false;
    b->proof_steps--;
    for (size_t i = first_order(b), at = 0; b->is_long_proof && !b->outside && i < b->orders.count; i++)
        bits[at++] = known_order(b, i)->bits;
    for (size_t i; (i = next_term(b, sum, done)) < sum->count; done[i] = true) {
        if (is_settled(b, sum, i))
            continue;
        if ((b->is_long_proof && prove_by_known_orders(b, sum, i, i + 1, bits, depth)) ||
            prove_by_replacing(b, sum, i, depth))
            return true;
        vec_push(b->scratch, &b->settled, ((struct settled_term){sum->term[i].value, sum->term[i].coefficient}));
    }
    if (b->is_long_proof && b->proof_steps > 0)
        *known = goal;
    return !b->is_long_proof &&
           prove_by_known_orders(b, sum, 0, sum->count, NULL, depth); /* each once: it is cheaper */
}

static bool prove(struct ir_builder *b, const struct linear *sum, int depth) {
    struct ir_value *times = b->times;
    size_t settled = b->settled.count;
    b->times = NULL; /* the bound that is looked for is in the sum */
    bool is_proved = search(b, sum, depth);
    b->settled.count = settled;
    b->times = times;
    return is_proved;
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
    if (depth > PROOF_DEPTH && !b->outside && b->vain_steps < MOST_VAIN_STEPS) {
        ir_bits_bound(x, &below.low, &below.high);
        ir_bits_bound(y, &above.low, &above.high);
        if (range_high(x->base, below) < (range_wide)above.low + !strict)
            return true;
    }
    struct linear difference = {.base = x->base, .exact = true, .constant = -(int64_t)strict};
    if (!begin_proof(b, steps, depth > PROOF_DEPTH))
        return false;
    bool is_proved = b->is_long_proof ? add_value(b, &difference, y, 1) && add_value(b, &difference, x, -1) &&
                                            prove_deeper(b, &difference, depth)
                                      : linear_add(&difference, sum_of(b, y), 1) &&
                                            linear_add(&difference, sum_of(b, x), -1) && prove(b, &difference, depth);
    end_proof(b, is_proved);
    return is_proved;
}

bool facts_less(struct ir_builder *b, struct ir_value *x, struct ir_value *y, bool strict) {
    return is_less(b, x, y, strict, PROOF_DEPTH, PROOF_STEPS);
}

bool facts_add(struct ir_builder *b, struct linear *sum, struct ir_value *value, int64_t factor) {
    return add_value(b, sum, value, factor);
}

bool facts_are_natural(struct ir_builder *b, const struct linear *sum) {
    if (!begin_proof(b, LONG_PROOF_STEPS, true))
        return false;
    bool is_proved = prove_deeper(b, sum, LONG_PROOF_DEPTH);
    end_proof(b, is_proved);
    return is_proved;
}

bool facts_is_natural(struct ir_builder *b, struct ir_value *value) {
    struct linear sum = {.base = value->base, .exact = true};
    if (!begin_proof(b, LONG_PROOF_STEPS, true))
        return false;
    bool is_proved = add_value(b, &sum, value, 1) && prove_deeper(b, &sum, LONG_PROOF_DEPTH);
    end_proof(b, is_proved);
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
    b->told_proof = ++b->told_proofs;
    bool is_proved = is_told(b, condition);
    if (!is_proved) {
        for (size_t i = count > TOLD_ORDERS ? count - TOLD_ORDERS : 0; i < count; i++)
            push_orders(b, b->told.at[i], true);
        is_proved = ir_prove(b, condition);
    }
    b->goes_by_told = false;
    b->told_proof = 0;
    b->orders.count = orders;
    return is_proved;
}

bool ir_never_wraps(struct ir_builder *b, struct ir_value *value) {
    value = builder_operand(b, value);
    if (b->optimise == 0 || value->is_constant || value->base != BASE_I32)
        return false;
    struct linear sum;
    if (!begin_proof(b, LONG_PROOF_STEPS, true))
        return false;
    exact_sum(b, value, &sum);
    end_proof(b, sum.count != 1 || sum.term[0].value != value);
    return sum.count != 1 || sum.term[0].value != value;
}
