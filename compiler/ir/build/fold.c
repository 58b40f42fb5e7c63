/* Constant folding. Integers are computed in unsigned 64-bit arithmetic and wrapped afterwards, so nothing here
   overflows; floats are computed in the precision of their type. */
#include "ir/build/fold.h"

#include <math.h>

#include "ir/build/range.h"

bool fold_is_comparison(enum ir_op op) { return ir_op_info[op].result == RESULT_BOOL; }

enum base fold_result_base(enum ir_op op, enum base operand) {
    switch (ir_op_info[op].result) {
    case RESULT_BOOL: return BASE_BOOL;
    case RESULT_I32: return BASE_I32;
    case RESULT_SAME:
    case RESULT_GIVEN: return operand;
    }
    return operand;
}

static union scalar of_natural(enum base base, uint64_t value) {
    return base_wrap(base, (union scalar){.natural = value});
}

static union scalar of_bool(bool value) { return (union scalar){.integer = value}; }

/* ---- conversions ---- */

static uint64_t saturate(enum base to, double x) {
    if (isnan(x))
        return 0;
    int bits = base_info[to].bits;
    if (base_info[to].is_signed) {
        double limit = ldexp(1, bits - 1);
        if (x >= limit)
            return ((uint64_t)1 << (bits - 1)) - 1;
        return x < -limit ? (uint64_t)0 - ((uint64_t)1 << (bits - 1)) : (uint64_t)(int64_t)x;
    }
    if (x >= ldexp(1, bits))
        return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return x <= 0 ? 0 : (uint64_t)x;
}

static union scalar convert(enum base to, enum base from, union scalar x) {
    bool from_float = base_info[from].is_floating, to_float = base_info[to].is_floating;
    if (to == BASE_BOOL)
        return of_bool(from_float ? x.floating != 0 : x.natural != 0);
    if (from_float)
        return to_float ? (union scalar){.floating = base_of_floating(to, x.floating)}
                        : of_natural(to, saturate(to, x.floating));
    if (!to_float)
        return base_wrap(to, x);
    return (union scalar){.floating =
                              from == BASE_U64 ? base_of_natural(to, x.natural) : base_of_signed(to, x.integer)};
}

/* ---- integers and bools ---- */

static uint64_t divide(enum base base, const union scalar *x, bool remainder) {
    uint64_t a = x[0].natural, b = x[1].natural;
    if (b == 0)
        return remainder ? a : 0;
    if (!base_info[base].is_signed)
        return remainder ? a % b : a / b;
    if (x[1].integer == -1) /* MIN / -1 has no int64 result */
        return remainder ? 0 : 0 - a;
    return (uint64_t)(remainder ? x[0].integer % x[1].integer : x[0].integer / x[1].integer);
}

static uint64_t shift_right(enum base base, union scalar x, int count) {
    return base_info[base].is_signed && x.integer < 0 ? ~(~x.natural >> count) : x.natural >> count;
}

static uint64_t leading_zeros(int bits, uint64_t x) {
    uint64_t count = 0;
    for (int bit = bits - 1; bit >= 0 && !(x >> bit & 1); bit--)
        count++;
    return count;
}

static uint64_t ones(int bits, uint64_t x) {
    uint64_t count = 0;
    for (int bit = 0; bit < bits; bit++)
        count += x >> bit & 1;
    return count;
}

static uint64_t reversed(int bits, uint64_t x) {
    uint64_t result = 0;
    for (int bit = 0; bit < bits; bit++)
        result = result << 1 | (x >> bit & 1);
    return result;
}

static uint64_t high_product(enum base base, const union scalar *x) {
    __extension__ typedef unsigned __int128 wide;
    int bits = base_info[base].bits;
    if (base_info[base].is_signed)
        return (uint64_t)((range_wide)x[0].integer * x[1].integer >> bits);
    return (uint64_t)((wide)x[0].natural * x[1].natural >> bits);
}

static uint64_t fold_integer(enum ir_op op, enum base base, const union scalar *x) {
    bool is_signed = base_info[base].is_signed;
    int bits = base_info[base].bits;
    uint64_t a = x[0].natural, b = ir_op_info[op].arity > 1 ? x[1].natural : 0;
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    int count = (int)(b & (uint64_t)(bits - 1));
    switch (op) {
#define OP(id, name, arity, commutes, wraps, result, cost, lanes, integer, ...)                                        \
    case OP_##id:                                                                                                      \
        return integer;
#include "ir/ops.def"
#undef OP
    case OP_COUNT: break;
    }
    return a;
}

/* ---- floats: narrow ones are only converted (note [narrow floats] in ir/build/build.c) ---- */

/* NaN loses, and -0 is below 0: C leaves the zeros open, and executors are to agree. */
static double least(double a, double b) { return isnan(b) || a < b || (a == b && signbit(a)) ? a : b; }

static double greatest(double a, double b) { return isnan(b) || a > b || (a == b && !signbit(a)) ? a : b; }

static union scalar same_bits(enum base to, enum base from, union scalar x) {
    if (base_info[to].is_floating)
        return (union scalar){.floating = floating_of_bits(base_info[to].format, x.natural)};
    return (union scalar){.natural = floating_bits(base_info[from].format, x.floating)};
}

#define CALL_1(function) function(a)
#define CALL_2(function) function(a, b)
#define CALL_3(function) function(a, b, c)

static double fold_single(enum ir_op op, float a, float b, float c) {
    switch (op) {
#define F(name) name##f
#define OP(id, name, arity, commutes, wraps, result, cost, lanes, integer, floating, ...)                              \
    case OP_##id:                                                                                                      \
        return (float)(floating);
#include "ir/ops.def"
#undef OP
#undef F
    case OP_COUNT: break;
    }
    return a;
}

static double fold_double(enum ir_op op, double a, double b, double c) {
    switch (op) {
#define F(name) name
#define OP(id, name, arity, commutes, wraps, result, cost, lanes, integer, floating, ...)                              \
    case OP_##id:                                                                                                      \
        return floating;
#include "ir/ops.def"
#undef OP
#undef F
    case OP_COUNT: break;
    }
    return a;
}

static union scalar fold_floating(enum ir_op op, enum base base, const union scalar *x) {
    int arity = ir_op_info[op].arity;
    double a = x[0].floating, b = arity > 1 ? x[1].floating : 0, c = arity > 2 ? x[2].floating : 0;
    double result = base == BASE_F32 ? fold_single(op, (float)a, (float)b, (float)c) : fold_double(op, a, b, c);
    return fold_is_comparison(op) ? of_bool(result != 0) : (union scalar){.floating = result};
}

union scalar fold_operation(enum ir_op op, enum base result, enum base operand, const union scalar *x) {
    if (op == OP_SELECT)
        return x[0].integer ? x[1] : x[2];
    if (op == OP_CONVERT)
        return convert(result, operand, x[0]);
    if (op == OP_BITS)
        return same_bits(result, operand, x[0]);
    return base_info[operand].is_floating ? fold_floating(op, operand, x)
                                          : of_natural(result, fold_integer(op, operand, x));
}
