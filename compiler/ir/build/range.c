/* Interval arithmetic. Everything is computed exactly, in 128 bits, from the two ends of each operand; what does
   not fit into the base afterwards may have wrapped, and then nothing is known. */
#include "ir/build/range.h"

struct bounds {
    range_wide low, high;
};

range_wide base_low(enum base base) {
    return base_info[base].is_signed ? -((range_wide)1 << (base_info[base].bits - 1)) : 0;
}

range_wide base_high(enum base base) {
    if (base == BASE_BOOL)
        return 1;
    return ((range_wide)1 << (base_info[base].bits - base_info[base].is_signed)) - 1;
}

struct range range_of_base(enum base base) {
    if (base_info[base].is_floating)
        return (struct range){INT64_MIN, INT64_MAX};
    range_wide high = base_high(base);
    return (struct range){(int64_t)base_low(base), high > INT64_MAX ? INT64_MAX : (int64_t)high};
}

struct range range_of_constant(enum base base, union scalar value) {
    if (base_info[base].is_floating)
        return range_of_base(base);
    if (base == BASE_U64 && value.natural > INT64_MAX)
        return (struct range){INT64_MAX, INT64_MAX};
    return (struct range){value.integer, value.integer};
}

struct range range_union(struct range a, struct range b) {
    return (struct range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

bool range_intersect(struct range a, struct range b, struct range *both) {
    *both = (struct range){a.low > b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
    return both->low <= both->high;
}

bool range_within(struct range inner, struct range outer) { return inner.low >= outer.low && inner.high <= outer.high; }

bool range_is_point(enum base base, struct range range) {
    return range.low == range.high && !base_info[base].is_floating && !(base == BASE_U64 && range.high == INT64_MAX);
}

range_wide range_high(enum base base, struct range range) {
    return base == BASE_U64 && range.high == INT64_MAX ? (range_wide)UINT64_MAX : range.high;
}

/* ---- ends ---- */

static struct bounds widen(enum base base, struct range range) {
    return (struct bounds){range.low, range_high(base, range)};
}

static bool fits(enum base base, struct bounds x) { return x.low >= base_low(base) && x.high <= base_high(base); }

static struct range narrow(enum base base, struct bounds x) {
    if (!fits(base, x))
        return range_of_base(base);
    return (struct range){x.low > INT64_MAX ? INT64_MAX : (int64_t)x.low,
                          x.high > INT64_MAX ? INT64_MAX : (int64_t)x.high};
}

static range_wide least(range_wide a, range_wide b) { return a < b ? a : b; }
static range_wide most(range_wide a, range_wide b) { return a > b ? a : b; }

static struct bounds cover(struct bounds a, struct bounds b) {
    return (struct bounds){least(a.low, b.low), most(a.high, b.high)};
}

/* ---- operations: the column `bounds` of ops.def ---- */

static struct bounds anything(enum base base) { return (struct bounds){base_low(base), base_high(base)}; }

static struct bounds sum(struct bounds a, struct bounds b) { return (struct bounds){a.low + b.low, a.high + b.high}; }

static struct bounds negated(struct bounds x) { return (struct bounds){-x.high, -x.low}; }

static struct bounds size(struct bounds x) {
    return x.low >= 0 ? x : x.high <= 0 ? negated(x) : (struct bounds){0, most(-x.low, x.high)};
}

static struct bounds lesser(struct bounds a, struct bounds b) {
    return (struct bounds){least(a.low, b.low), least(a.high, b.high)};
}

static struct bounds greater(struct bounds a, struct bounds b) {
    return (struct bounds){most(a.low, b.low), most(a.high, b.high)};
}

static struct bounds product(struct bounds x, struct bounds y) {
    const range_wide limit = (range_wide)1 << 62; /* beyond it a product may exceed 128 bits (U64) */
    const struct bounds too_much = {-(limit << 8), limit << 8};
    if (x.high > limit * 2 && y.high > limit * 2)
        return too_much;
    range_wide a = x.low * y.low, b = x.low * y.high, c = x.high * y.low, d = x.high * y.high;
    return (struct bounds){least(least(a, b), least(c, d)), most(most(a, b), most(c, d))};
}

/* The upper half of a product; nothing is known where it has 64 bits, as `product` stops there. */
static struct bounds upper_half(enum base base, struct bounds a, struct bounds b) {
    int bits = base_info[base].bits;
    struct bounds both = product(a, b);
    return bits == 64 ? anything(base) : (struct bounds){both.low >> bits, both.high >> bits};
}

/* Truncating division moves towards 0 as the divisor grows, and with the dividend: the ends suffice for each sign. */
static struct bounds divide_by(struct bounds x, range_wide low, range_wide high) {
    range_wide a = x.low / low, b = x.low / high, c = x.high / low, d = x.high / high;
    return (struct bounds){least(least(a, b), least(c, d)), most(most(a, b), most(c, d))};
}

static struct bounds quotient(enum base base, struct bounds x, struct bounds y) {
    struct bounds result = {0, 0}; /* x / 0 */
    bool any = y.low <= 0 && y.high >= 0;
    if (y.high >= 1) {
        struct bounds part = divide_by(x, most(y.low, 1), y.high);
        result = any ? cover(result, part) : part;
        any = true;
    }
    if (y.low <= -1) {
        struct bounds part = divide_by(x, y.low, least(y.high, -1));
        result = any ? cover(result, part) : part;
    }
    return fits(base, result) ? result : anything(base);
}

/* A remainder has the sign of what is divided, and is no larger; it is less than the divisor where that is not 0. */
static struct bounds remainder_of(struct bounds x, struct bounds y) {
    range_wide size = most(most(y.high, -y.low), 0); /* |y| at most */
    range_wide least_size = y.low > 0 ? y.low : y.high < 0 ? -y.high : 0;
    if (x.low >= 0 && x.high < least_size)
        return x;
    struct bounds result = {least(x.low, 0), most(x.high, 0)};
    if (least_size > 0) {
        result.low = most(result.low, 1 - size);
        result.high = least(result.high, size - 1);
    }
    return result;
}

/* The least 2^k - 1 that is not below x >= 0. */
static range_wide mask_over(range_wide x) {
    range_wide mask = 0;
    while (mask < x)
        mask = mask * 2 + 1;
    return mask;
}

/* or and xor */
static struct bounds all_bits(enum base base, struct bounds x, struct bounds y, bool keeps_ones) {
    if (x.low < 0 || y.low < 0)
        return anything(base);
    return (struct bounds){keeps_ones ? most(x.low, y.low) : 0, mask_over(most(x.high, y.high))};
}

/* and */
static struct bounds common_bits(enum base base, struct bounds x, struct bounds y) {
    if (x.low < 0 && y.low < 0)
        return anything(base);
    return (struct bounds){0, x.low < 0 ? y.high : y.low < 0 ? x.high : least(x.high, y.high)};
}

static struct bounds complement(enum base base, struct bounds x) {
    range_wide ends = base_low(base) + base_high(base); /* x and its complement add up to that */
    return (struct bounds){ends - x.high, ends - x.low};
}

static bool shift_count(enum base base, struct bounds y, int *count) {
    *count = (int)(y.low & (base_info[base].bits - 1));
    return y.low == y.high;
}

static struct bounds shifted_left(enum base base, struct bounds x, struct bounds y) {
    int count;
    if (!shift_count(base, y, &count)) {
        bool is_counted = y.low >= 0 && y.high < base_info[base].bits && x.low >= 0 && x.high < (range_wide)1 << 62;
        return is_counted ? (struct bounds){x.low << y.low, x.high << y.high}
                          : (struct bounds){0, (range_wide)1 << 100};
    }
    range_wide factor = (range_wide)1 << count; /* at most 2^63 by 2^64: 128 bits hold it, just */
    if (x.high > (range_wide)1 << 62 && count > 60)
        return (struct bounds){0, (range_wide)1 << 100};
    return (struct bounds){x.low * factor, x.high * factor};
}

static struct bounds shifted_right(enum base base, struct bounds x, struct bounds y) {
    int count, bits = base_info[base].bits;
    if (y.low < 0 || y.high >= bits) {
        if (!shift_count(base, y, &count))
            return (struct bounds){least(x.low, 0), most(x.high, -1)};
        y = (struct bounds){count, count};
    }
    int few = (int)y.low, many = (int)y.high; /* a shift moves towards 0 or -1 */
    return (struct bounds){x.low >> (x.low < 0 ? few : many), x.high >> (x.high < 0 ? many : few)};
}

static struct bounds up_to_width(enum base base) { return (struct bounds){0, base_info[base].bits}; }

static int64_t leading_zeros(enum base base, range_wide x) {
    int64_t count = base_info[base].bits;
    for (; x > 0; x >>= 1)
        count--;
    return count;
}

static struct bounds zeros_above(enum base base, struct bounds x) {
    if (x.low < 0)
        return (struct bounds){0, x.high < 0 ? 0 : base_info[base].bits};
    return (struct bounds){leading_zeros(base, x.high), leading_zeros(base, x.low)};
}

/* The opposite of a truth value: 0 … 1 where it may be either. */
static struct bounds inverse(struct bounds x) { return (struct bounds){1 - x.high, 1 - x.low}; }

static struct bounds equal(struct bounds x, struct bounds y) {
    bool is_one_point = x.low == x.high && y.low == y.high && x.low == y.low;
    bool are_apart = x.high < y.low || y.high < x.low;
    return (struct bounds){is_one_point, !are_apart};
}

static struct bounds below(struct bounds x, struct bounds y) { return (struct bounds){x.high < y.low, x.low < y.high}; }

static struct bounds converted(enum base to, enum base from, struct bounds x) {
    if (to == BASE_BOOL && from != BASE_BOOL)
        return (struct bounds){x.low > 0 || x.high < 0, x.low != 0 || x.high != 0};
    return x;
}

/* The range of an operation on integers, exactly: it may exceed the result's base. */
static struct bounds operate(enum ir_op op, enum base result, enum base base, const struct range *x) {
    struct bounds a = widen(base, x[0]), b = ir_op_info[op].arity > 1 ? widen(base, x[1]) : a;
    switch (op) {
#define OP(id, name, arity, commutes, wraps, of, cost, lanes, integer, floating, bounds, ...)                          \
    case OP_##id:                                                                                                      \
        return bounds;
#include "ir/ops.def"
#undef OP
    case OP_COUNT: break;
    }
    return anything(result);
}

bool range_never_wraps(enum ir_op op, enum base base, const struct range *x) {
    return base_info[base].is_integer && fits(base, operate(op, base, base, x));
}

struct range range_operation(enum ir_op op, enum base result, enum base operand, const struct range *x) {
    if (op == OP_SELECT)
        return x[0].low == x[0].high ? x[x[0].low ? 1 : 2] : range_union(x[1], x[2]);
    if (base_info[operand].is_floating || base_info[result].is_floating)
        return range_of_base(result);
    return narrow(result, operate(op, result, operand, x));
}
