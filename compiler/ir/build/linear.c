/* Sums: integer expressions taken apart into coefficients and values.
   Wrapping addition and multiplication by constants are a ring modulo 2^bits, so terms may be collected and cancelled
   freely; only division and order need the sum not to wrap, which its bounds tell (fits_base). */
#include "ir/build/linear.h"

enum { EXPANSION_DEPTH = 6 };

/* The number that is congruent modulo the base's width and nearest to 0. */
static int64_t centred(enum base base, int64_t value) {
    int bits = base_info[base].bits;
    if (bits == 64)
        return value;
    uint64_t half = (uint64_t)1 << (bits - 1), mask = half * 2 - 1;
    return (int64_t)((((uint64_t)value & mask) ^ half) - half);
}

static int64_t wrapping_multiply(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t wrapping_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

int64_t linear_coefficient(const struct linear *sum, const struct ir_value *value) {
    for (size_t i = 0; i < sum->count; i++)
        if (sum->term[i].value == value)
            return sum->term[i].coefficient;
    return 0;
}

int64_t linear_take(struct linear *sum, const struct ir_value *value) {
    for (size_t i = 0; i < sum->count; i++)
        if (sum->term[i].value == value) {
            int64_t coefficient = sum->term[i].coefficient;
            sum->term[i] = sum->term[--sum->count];
            return coefficient;
        }
    return 0;
}

int64_t linear_common_divisor(int64_t x, int64_t y) {
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x < 0 ? -x : x;
}

int64_t linear_twos(const struct linear *sum) {
    int64_t bits = sum->constant;
    for (size_t i = 0; i < sum->count; i++)
        bits |= sum->term[i].coefficient;
    return bits & -bits;
}

void linear_remove(struct linear *sum, size_t at) {
    sum->count--;
    memmove(&sum->term[at], &sum->term[at + 1], (sum->count - at) * sizeof sum->term[0]);
}

/* Exact sums keep their coefficients in 32 bits, so that bounds of them stay within 128 (eight terms, values of 64; of
   products, whose bounds may have 94, in 25). */
static bool is_small(const struct ir_value *value, int64_t x) {
    int64_t most = linear_is_product(value) ? 1 << 24 : INT32_MAX;
    return x >= -most - 1 && x <= most;
}

static bool add_term(struct linear *sum, struct ir_value *value, int64_t coefficient) {
    if (sum->exact && !is_small(value, coefficient))
        return false;
    coefficient = sum->exact ? coefficient : centred(sum->base, coefficient);
    if (coefficient == 0)
        return true;
    for (size_t i = 0; i < sum->count; i++)
        if (sum->term[i].value == value) {
            int64_t total = wrapping_add(sum->term[i].coefficient, coefficient);
            sum->term[i].coefficient = sum->exact ? total : centred(sum->base, total);
            if (total == 0 || sum->term[i].coefficient == 0)
                linear_remove(sum, i);
            return !sum->exact || is_small(value, total);
        }
    if (sum->count == LINEAR_MAX_TERMS)
        return false;
    sum->term[sum->count].value = value;
    sum->term[sum->count++].coefficient = coefficient;
    return true;
}

static void add_constant(struct linear *sum, int64_t constant) {
    sum->constant = centred(sum->base, wrapping_add(sum->constant, constant));
}

bool linear_add(struct linear *sum, const struct linear *other, int64_t factor) {
    int64_t product, total;
    if (sum->exact) {
        if (factor < INT32_MIN || factor > INT32_MAX || __builtin_mul_overflow(other->constant, factor, &product) ||
            __builtin_add_overflow(sum->constant, product, &total))
            return false;
        for (size_t i = 0; i < other->count; i++)
            if (!add_term(sum, other->term[i].value, other->term[i].coefficient * factor))
                return false;
        sum->constant = total;
        return true;
    }
    for (size_t i = 0; i < other->count; i++)
        if (!add_term(sum, other->term[i].value, wrapping_multiply(other->term[i].coefficient, factor)))
            return false;
    add_constant(sum, wrapping_multiply(other->constant, factor));
    return true;
}

static bool expand(struct linear *sum, struct ir_value *value, int64_t factor, int depth) {
    const struct ir_instruction *definition = value->definition;
    if (value->is_constant) {
        add_constant(sum, wrapping_multiply(value->constant.integer, factor));
        return true;
    }
    if (depth == 0 || !definition || definition->kind != IR_OPERATION)
        return add_term(sum, value, factor);
    struct ir_value **x = definition->operands;
    switch (definition->op) {
    case OP_ADD: return expand(sum, x[0], factor, depth - 1) && expand(sum, x[1], factor, depth - 1);
    case OP_SUB:
        return expand(sum, x[0], factor, depth - 1) && expand(sum, x[1], wrapping_multiply(factor, -1), depth - 1);
    case OP_NEG: return expand(sum, x[0], wrapping_multiply(factor, -1), depth - 1);
    case OP_MUL:
        if (x[1]->is_constant)
            return expand(sum, x[0], wrapping_multiply(factor, x[1]->constant.integer), depth - 1);
        return add_term(sum, value, factor);
    case OP_SHL:
        if (x[1]->is_constant) {
            int count = (int)(x[1]->constant.natural & (uint64_t)(base_info[value->base].bits - 1));
            return expand(sum, x[0], (int64_t)((uint64_t)factor << count), depth - 1);
        }
        return add_term(sum, value, factor);
    default: return add_term(sum, value, factor); /* no sum */
    }
}

/* value = x / c or its form for x >= 0, a shift; or the same of x % c. A quotient and a remainder of x < 0 are both
   rounded to 0, so that they join; a shift and a mask are of x >= 0 alone, and so may be joined with these. */
static bool is_quotient(struct ir_builder *b, const struct ir_value *value, struct ir_value **x, int64_t *c,
                        bool remainder) {
    const struct ir_instruction *definition = value->definition;
    if (!definition || definition->kind != IR_OPERATION ||
        !definition->operands[definition->operand_count - 1]->is_constant)
        return false;
    *x = definition->operands[0];
    *c = definition->operands[definition->operand_count - 1]->constant.integer;
    if (definition->op == (remainder ? OP_REM : OP_DIV))
        return *c > 1;
    if (facts_range(b, *x).low < 0)
        return false;
    if (remainder && definition->op == OP_AND && *c > 0 && *c < INT64_MAX && ((*c + 1) & *c) == 0) {
        ++*c;
        return true;
    }
    if (!remainder && definition->op == OP_SHR && *c > 0 && *c < 62 && *c < base_info[value->base].bits) {
        *c = (int64_t)1 << *c;
        return true;
    }
    return false;
}

/* (x / c) * c + x % c is x, also k times it. */
static bool join_quotients(struct ir_builder *b, struct linear *sum) {
    for (size_t i = 0; i < sum->count; i++) {
        struct ir_value *x, *y;
        int64_t c, d;
        if (!is_quotient(b, sum->term[i].value, &x, &c, true))
            continue;
        for (size_t j = 0; j < sum->count; j++) {
            int64_t factor = sum->term[i].coefficient;
            if (j == i || !is_quotient(b, sum->term[j].value, &y, &d, false) || y != x || d != c ||
                sum->term[j].coefficient != centred(sum->base, wrapping_multiply(factor, c)))
                continue;
            linear_remove(sum, i > j ? i : j);
            linear_remove(sum, i > j ? j : i);
            return expand(sum, x, factor, EXPANSION_DEPTH);
        }
    }
    return true;
}

/* The dividend may be negative: then x >> n rounds down, and x / c rounds up. */
int64_t linear_divisor(const struct ir_value *quotient) {
    const struct ir_instruction *definition = quotient->definition;
    if (!definition || definition->kind != IR_OPERATION || definition->operand_count != 2 ||
        !definition->operands[1]->is_constant)
        return 0;
    int64_t c = definition->operands[1]->constant.integer;
    if (definition->op == OP_SHR)
        return c >= 0 && c < 31 ? (int64_t)1 << c : 0;
    return definition->op == OP_DIV && c > 0 ? c : 0;
}

bool linear_expand(struct ir_value *value, struct linear *sum) {
    *sum = (struct linear){.base = value->base};
    return expand(sum, value, 1, EXPANSION_DEPTH);
}

bool linear_distance(struct ir_value *from, struct ir_value *to, int64_t *distance) {
    struct linear apart, begin;
    if (!linear_expand(to, &apart) || !linear_expand(from, &begin) || !linear_add(&apart, &begin, -1))
        return false;
    *distance = apart.constant;
    return apart.count == 0;
}

bool linear_of(struct ir_builder *b, struct ir_value *value, struct linear *sum) {
    return linear_expand(value, sum) && join_quotients(b, sum);
}

static range_wide least_of(range_wide a, range_wide b) { return a < b ? a : b; }
static range_wide most_of(range_wide a, range_wide b) { return a > b ? a : b; }

/* Three factors of 32 bits fit 94 bits. */
static void product_bounds(struct ir_builder *b, const struct ir_value *product, range_wide *low, range_wide *high) {
    const struct ir_instruction *made = product->definition;
    *low = *high = 1;
    for (size_t i = 0; i < made->operand_count; i++) {
        struct range range = facts_range(b, made->operands[i]);
        if (*low >= 0 && range.low >= 0) {
            *low *= range.low;
            *high *= range.high;
            continue;
        }
        range_wide p = *low * range.low, q = *low * range.high, r = *high * range.low, s = *high * range.high;
        *low = least_of(least_of(p, q), least_of(r, s));
        *high = most_of(most_of(p, q), most_of(r, s));
    }
}

void linear_bounds(struct ir_builder *b, const struct linear *sum, range_wide *low, range_wide *high) {
    *low = *high = sum->constant;
    for (size_t i = 0; i < sum->count; i++) {
        const struct ir_value *value = sum->term[i].value;
        range_wide factor = sum->term[i].coefficient, least, most;
        if (linear_is_product(value)) {
            product_bounds(b, value, &least, &most);
        } else {
            struct range range = facts_range(b, value);
            least = range.low;
            most = range_high(value->base, range);
        }
        *low += factor * (factor > 0 ? least : most);
        *high += factor * (factor > 0 ? most : least);
    }
}

/* Is the sum, computed without wrapping, always one of the base? */
static bool fits_base(struct ir_builder *b, const struct linear *sum) {
    range_wide low, high;
    for (size_t i = 0; i < sum->count; i++)
        if (!is_small(sum->term[i].value, sum->term[i].coefficient))
            return false;
    linear_bounds(b, sum, &low, &high);
    return low >= base_low(sum->base) && high <= base_high(sum->base);
}

void linear_exact(struct ir_builder *b, struct ir_value *value, struct linear *sum) {
    if (linear_of(b, value, sum) && fits_base(b, sum)) {
        sum->exact = true;
        return;
    }
    *sum = (struct linear){.base = value->base, .exact = true};
    if (value->is_constant && !(value->base == BASE_U64 && value->high == INT64_MAX))
        sum->constant = value->constant.integer;
    else
        add_term(sum, value, 1);
}

static bool is_single(const struct linear *sum) { return sum->count == 1 && sum->constant != 0; }

static uint32_t deepest(struct ir_builder *b, const struct linear *sum) {
    uint32_t depth = 0;
    for (size_t i = 0; i < sum->count; i++)
        if (builder_depth(b, sum->term[i].value) > depth)
            depth = builder_depth(b, sum->term[i].value);
    return depth;
}

/* The part of the sum that is known outside that depth. */
static struct linear outer_part(struct ir_builder *b, const struct linear *sum, uint32_t depth) {
    struct linear outer = {.base = sum->base, .constant = sum->constant};
    for (size_t i = 0; i < sum->count; i++)
        if (builder_depth(b, sum->term[i].value) < depth)
            add_term(&outer, sum->term[i].value, sum->term[i].coefficient);
    return outer;
}

static bool is_something(const struct linear *sum) { return sum->count > 0 || sum->constant != 0; }

/* start + (i + 256) is better as (start + 256) + i: what does not depend on the inner loop leaves
   it, and a compiler that reads the result sees a place that moves by one. Not where that would
   lose that nothing overflows. */
static bool mixes_depths(struct ir_builder *b, const struct linear *left, const struct linear *right,
                         const struct linear *sum) {
    uint32_t depth = deepest(b, sum);
    if (depth == 0)
        return false;
    struct linear outer_left = outer_part(b, left, depth), outer_right = outer_part(b, right, depth);
    struct linear outer = outer_part(b, sum, depth);
    return is_something(&outer_left) && is_something(&outer_right) && outer.count > 0 &&
           (fits_base(b, &outer) || !fits_base(b, sum));
}

bool linear_shorter(struct ir_builder *b, enum ir_op op, struct ir_value *x, struct ir_value *y, struct linear *sum) {
    struct linear left, right;
    if (!linear_of(b, x, &left) || !linear_of(b, y, &right))
        return false;
    *sum = left;
    if (!linear_add(sum, &right, op == OP_SUB ? -1 : 1) || !join_quotients(b, sum))
        return false;
    bool cancelled = sum->count < left.count + right.count;
    /* Constants meet: (x + 1) + 2; and (x + 1) - (y + 2), where it costs an operation less. */
    bool constants =
        (y->is_constant && left.constant != 0 && left.count <= 2) || (is_single(&left) && is_single(&right));
    return cancelled || constants || mixes_depths(b, &left, &right, sum);
}

/* x = c * quotient + remainder, both at least 0; *high: the most that the remainder may be. */
static bool take_apart(struct ir_builder *b, struct ir_value *x, int64_t c, struct linear *quotient,
                       struct linear *remainder, range_wide *high) {
    struct linear sum;
    if (c < 2 || !linear_of(b, x, &sum) || !fits_base(b, &sum))
        return false;
    *quotient = *remainder = (struct linear){.base = x->base};
    for (size_t i = 0; i < sum.count; i++) {
        int64_t factor = sum.term[i].coefficient;
        bool whole = factor % c == 0;
        if (!add_term(whole ? quotient : remainder, sum.term[i].value, whole ? factor / c : factor))
            return false;
    }
    /* The constant's part in the remainder is the one that keeps it at 0 or above, if any does. */
    int64_t part = sum.constant % c;
    if (part < 0)
        part += c;
    if (sum.constant < INT64_MIN + part)
        return false;
    remainder->constant = part;
    quotient->constant = (sum.constant - part) / c;
    range_wide low, most;
    linear_bounds(b, remainder, &low, high);
    if (low < 0)
        return false;
    linear_bounds(b, quotient, &low, &most);
    return quotient->count + (quotient->constant != 0) > 0 && low >= 0 && fits_base(b, quotient);
}

bool linear_divide(struct ir_builder *b, struct ir_value *x, int64_t c, struct linear *quotient,
                   struct linear *remainder) {
    range_wide high;
    return take_apart(b, x, c, quotient, remainder, &high) && high < c;
}

bool linear_separate(struct ir_builder *b, struct ir_value *x, int64_t c, struct linear *multiple,
                     struct linear *rest) {
    range_wide high;
    return take_apart(b, x, c, multiple, rest, &high) && rest->count > 0 && rest->constant == 0 && fits_base(b, rest);
}
