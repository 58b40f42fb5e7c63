/* Operations on scalars, a case per SCALAR row of primitives.def. All are total: integers wrap in their own width,
   division by zero has an answer, floats are computed in their own precision. */
#include "interp/machine.h"

#include <math.h>

#include "support/fatal.h"
#include "support/floating.h"

typedef union scalar scalar;

static bool is_float(enum base base) { return base_info[base].is_floating; }
static bool is_signed(enum base base) { return base_info[base].is_signed; }

static scalar of_natural(uint64_t number) { return (scalar){.natural = number}; }
static scalar of_double(double number) { return (scalar){.floating = number}; }

/* ---- integers ---- */

static int64_t least(enum base base) { return (int64_t)(~UINT64_C(0) << (base_info[base].bits - 1)); }

static scalar divide(enum base base, scalar a, scalar b) {
    if (b.natural == 0)
        return of_natural(0);
    if (!is_signed(base))
        return of_natural(a.natural / b.natural);
    if (b.integer == -1)
        return base_wrap(base, of_natural(0 - a.natural)); /* MIN / -1 wraps to MIN */
    return (scalar){.integer = a.integer / b.integer};
}

static scalar remainder_of(enum base base, scalar a, scalar b) {
    if (b.natural == 0)
        return a;
    if (!is_signed(base))
        return of_natural(a.natural % b.natural);
    return b.integer == -1 ? of_natural(0) : (scalar){.integer = a.integer % b.integer};
}

static scalar shift_left(enum base base, scalar a, scalar b) {
    unsigned count = (unsigned)(b.natural & (uint64_t)(base_info[base].bits - 1));
    return base_wrap(base, of_natural(a.natural << count));
}

static scalar shift_right(enum base base, scalar a, scalar b) {
    unsigned count = (unsigned)(b.natural & (uint64_t)(base_info[base].bits - 1));
    return is_signed(base) ? (scalar){.integer = a.integer >> count} : of_natural(a.natural >> count);
}

/* The value's bits in its own width. */
static uint64_t bits_of(enum base base, scalar a) {
    int bits = base_info[base].bits;
    return bits == 64 ? a.natural : a.natural & ((UINT64_C(1) << bits) - 1);
}

static scalar rotate_left(enum base base, scalar a, uint64_t by) {
    int width = base_info[base].bits;
    unsigned count = (unsigned)(by & (uint64_t)(width - 1));
    uint64_t bits = bits_of(base, a);
    return base_wrap(base, of_natural(count ? bits << count | bits >> ((unsigned)width - count) : bits));
}

static int64_t leading_zeros(enum base base, scalar a) {
    uint64_t bits = bits_of(base, a);
    int64_t count = base_info[base].bits;
    for (; bits; bits >>= 1)
        count--;
    return count;
}

static int64_t trailing_zeros(enum base base, scalar a) {
    uint64_t bits = bits_of(base, a);
    int64_t count = 0;
    while (count < base_info[base].bits && !(bits >> count & 1))
        count++;
    return count;
}

static uint64_t reversed(enum base base, scalar a) {
    uint64_t bits = bits_of(base, a), result = 0;
    for (int i = 0; i < base_info[base].bits; i++)
        result |= (bits >> i & 1) << (base_info[base].bits - 1 - i);
    return result;
}

/* In halves of 32 bits; of signed numbers, what their sign bits counted too much is taken off. */
static uint64_t high_product_64(bool has_sign, uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32);
    return has_sign ? high - ((int64_t)a < 0 ? b : 0) - ((int64_t)b < 0 ? a : 0) : high;
}

static uint64_t high_product(enum base base, scalar a, scalar b) {
    int bits = base_info[base].bits;
    if (bits == 64)
        return high_product_64(is_signed(base), a.natural, b.natural);
    return is_signed(base) ? (uint64_t)(a.integer * b.integer >> bits) : a.natural * b.natural >> bits;
}

static scalar add_saturating(enum base base, scalar a, scalar b) {
    int bits = base_info[base].bits;
    uint64_t most = UINT64_MAX >> (64 - bits + is_signed(base)), sum = a.natural + b.natural;
    if (!is_signed(base))
        return of_natural(sum < a.natural || sum > most ? most : sum);
    if (b.integer < 0)
        return (scalar){.integer = a.integer < least(base) - b.integer ? least(base) : a.integer + b.integer};
    return (scalar){.integer = a.integer > (int64_t)most - b.integer ? (int64_t)most : a.integer + b.integer};
}

static int64_t ones(enum base base, scalar a) {
    int64_t count = 0;
    for (uint64_t bits = bits_of(base, a); bits; bits &= bits - 1)
        count++;
    return count;
}

/* ---- comparison ---- */

static int order(enum base base, scalar a, scalar b) {
    if (is_signed(base))
        return a.integer < b.integer ? -1 : a.integer > b.integer;
    return a.natural < b.natural ? -1 : a.natural > b.natural;
}

static bool less(enum base base, scalar a, scalar b) {
    return is_float(base) ? a.floating < b.floating : order(base, a, b) < 0;
}

static bool less_or_equal(enum base base, scalar a, scalar b) {
    return is_float(base) ? a.floating <= b.floating : order(base, a, b) <= 0;
}

static bool equal(struct value a, struct value b) {
    if (a.kind == V_TUPLE) {
        for (size_t i = 0; i < a.tuple->count; i++)
            if (!equal(a.tuple->items[i], b.tuple->items[i]))
                return false;
        return true;
    }
    return is_float((enum base)a.base) ? a.scalar.floating == b.scalar.floating : a.scalar.natural == b.scalar.natural;
}

/* Is a `primitive` b, one of PRIM_LT and PRIM_LE? Tuples go by the first component that differs. */
static bool precedes(enum primitive primitive, struct value a, struct value b) {
    if (a.kind == V_TUPLE) {
        size_t last = a.tuple->count - 1, i = 0;
        while (i < last && equal(a.tuple->items[i], b.tuple->items[i]))
            i++;
        return precedes(i < last ? PRIM_LT : primitive, a.tuple->items[i], b.tuple->items[i]);
    }
    enum base base = (enum base)a.base;
    return primitive == PRIM_LT ? less(base, a.scalar, b.scalar) : less_or_equal(base, a.scalar, b.scalar);
}

/* ---- conversion ---- */

/* Saturates; NaN gives 0. The bounds are compared as doubles, where 2^63 and 2^64 are exact. */
static scalar float_to_integer(enum base to, double number) {
    int bits = base_info[to].bits;
    if (isnan(number))
        return of_natural(0);
    if (is_signed(to)) {
        double bound = ldexp(1, bits - 1);
        if (number >= bound)
            return of_natural((UINT64_C(1) << (bits - 1)) - 1);
        if (number <= -bound)
            return (scalar){.integer = least(to)};
        return (scalar){.integer = (int64_t)number};
    }
    if (number <= 0)
        return of_natural(0);
    if (number >= ldexp(1, bits))
        return of_natural(bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
    return of_natural((uint64_t)number);
}

/* A number that was computed exactly, or in double or float, rounded to the base. */
static struct value rounded(enum base base, double number) {
    return scalar_of(base, of_double(base_of_floating(base, number)));
}

static struct value convert(enum base to, struct value of) {
    enum base from = (enum base)of.base;
    if (to == BASE_BOOL)
        return bool_of(is_float(from) ? of.scalar.floating != 0 : of.scalar.natural != 0);
    if (is_float(from))
        return is_float(to) ? rounded(to, of.scalar.floating) : scalar_of(to, float_to_integer(to, of.scalar.floating));
    if (!is_float(to))
        return scalar_of(to, base_wrap(to, of.scalar));
    return scalar_of(to, of_double(is_signed(from) ? base_of_signed(to, of.scalar.integer)
                                                   : base_of_natural(to, of.scalar.natural)));
}

/* ---- arithmetic ---- */

/* float and narrower types compute in float and then round: a float has more than twice the digits of
   the narrower ones, so that sums, products, quotients and roots are as if they were rounded once. */
#define IN_PRECISION(base, a, operator, b)                                                                             \
    ((base) == BASE_F64   ? of_double((a).floating operator(b).floating)                                               \
     : (base) == BASE_F32 ? of_double((float)(a).floating operator(float)(b).floating)                                 \
                          : of_double(base_of_floating(base, (float)(a).floating operator(float)(b).floating)))

static scalar lesser(enum base base, scalar a, scalar b) {
    double x = a.floating, y = b.floating;
    if (is_float(base))
        return of_double(base_of_floating(base, isnan(y) || x < y || (x == y && signbit(x)) ? x : y));
    return order(base, b, a) < 0 ? b : a;
}

static scalar greater(enum base base, scalar a, scalar b) {
    double x = a.floating, y = b.floating;
    if (is_float(base))
        return of_double(base_of_floating(base, isnan(y) || x > y || (x == y && !signbit(x)) ? x : y));
    return order(base, b, a) > 0 ? b : a;
}

#define ARGUMENTS_1(type) (type) x[0]
#define ARGUMENTS_2(type) (type) x[0], (type)x[1]
#define ARGUMENTS_3(type) (type) x[0], (type)x[1], (type)x[2]

/* A function of C's mathematics, in the precision of the base. */
static double call_mathematics(enum primitive primitive, enum base base, const double *x) {
    bool is_single = base != BASE_F64;
    if (base_info[base].is_narrow && primitive == PRIM_FMA)
        return floating_sum_of_product(x[0], x[1], x[2]);
    switch (primitive) {
#define PRIM(id, ...) case PRIM_##id:
#define SCALAR(id, ...) case PRIM_##id:
#define MATH(id, name, arity, type, doc, function, cost, lanes)                                                        \
    case PRIM_##id:                                                                                                    \
        return is_single ? (double)function##f(ARGUMENTS_##arity(float)) : function(ARGUMENTS_##arity(double));
#include "types/primitives.def"
    case PRIM_COUNT: break;
    }
    fatal_internal("interp", "primitive %d is no operation on scalars", (int)primitive);
}

static struct value of_bits(enum base base, uint64_t bits) {
    return scalar_of(base, of_double(floating_of_bits(base_info[base].format, bits)));
}

static struct value apply(enum primitive primitive, const struct value *arguments) {
    enum base base = (enum base)arguments[0].base;
    int arity = primitive_info[primitive].arity;
    scalar a = arguments[0].scalar, b = arity > 1 ? arguments[1].scalar : a;
    switch (primitive) {
    case PRIM_ADD:
        return scalar_of(base, is_float(base) ? IN_PRECISION(base, a, +, b)
                                              : base_wrap(base, of_natural(a.natural + b.natural)));
    case PRIM_SUB:
        return scalar_of(base, is_float(base) ? IN_PRECISION(base, a, -, b)
                                              : base_wrap(base, of_natural(a.natural - b.natural)));
    case PRIM_MUL:
        return scalar_of(base, is_float(base) ? IN_PRECISION(base, a, *, b)
                                              : base_wrap(base, of_natural(a.natural * b.natural)));
    case PRIM_DIV: return scalar_of(base, is_float(base) ? IN_PRECISION(base, a, /, b) : divide(base, a, b));
    case PRIM_DIV_WORD: return scalar_of(base, divide(base, a, b));
    case PRIM_REM:
    case PRIM_MOD_WORD: return scalar_of(base, remainder_of(base, a, b));
    case PRIM_NEG:
        return is_float(base) ? rounded(base, -a.floating)
                              : scalar_of(base, base_wrap(base, of_natural(0 - a.natural)));
    case PRIM_MIN: return scalar_of(base, lesser(base, a, b));
    case PRIM_MAX: return scalar_of(base, greater(base, a, b));
    case PRIM_ABS:
        if (is_float(base))
            return rounded(base, fabs(a.floating));
        return scalar_of(base, is_signed(base) && a.integer < 0 ? base_wrap(base, of_natural(0 - a.natural)) : a);

    case PRIM_EQ: return bool_of(equal(arguments[0], arguments[1]));
    case PRIM_NE: return bool_of(!equal(arguments[0], arguments[1]));
    case PRIM_LT: return bool_of(precedes(PRIM_LT, arguments[0], arguments[1]));
    case PRIM_LE: return bool_of(precedes(PRIM_LE, arguments[0], arguments[1]));
    case PRIM_GT: return bool_of(precedes(PRIM_LT, arguments[1], arguments[0]));
    case PRIM_GE: return bool_of(precedes(PRIM_LE, arguments[1], arguments[0]));
    case PRIM_NOT: return bool_of(!a.natural);

    case PRIM_BIT_AND: return scalar_of(base, of_natural(a.natural & b.natural));
    case PRIM_BIT_OR: return scalar_of(base, of_natural(a.natural | b.natural));
    case PRIM_BIT_XOR: return scalar_of(base, of_natural(a.natural ^ b.natural));
    case PRIM_BIT_NOT: return scalar_of(base, base_wrap(base, of_natural(~a.natural)));
    case PRIM_SHL: return scalar_of(base, shift_left(base, a, b));
    case PRIM_SHR: return scalar_of(base, shift_right(base, a, b));
    case PRIM_CLZ: return int_of(leading_zeros(base, a));
    case PRIM_CTZ: return int_of(trailing_zeros(base, a));
    case PRIM_REVERSE_BITS: return scalar_of(base, base_wrap(base, of_natural(reversed(base, a))));
    case PRIM_MUL_HIGH: return scalar_of(base, base_wrap(base, of_natural(high_product(base, a, b))));
    case PRIM_ADD_SATURATE: return scalar_of(base, add_saturating(base, a, b));
    case PRIM_ROTATE_LEFT: return scalar_of(base, rotate_left(base, a, b.natural));
    case PRIM_ROTATE_RIGHT: return scalar_of(base, rotate_left(base, a, 0 - b.natural));
    case PRIM_POPCOUNT: return int_of(ones(base, a));

    case PRIM_TO_BOOL: return convert(BASE_BOOL, arguments[0]);
    case PRIM_TO_I8: return convert(BASE_I8, arguments[0]);
    case PRIM_TO_I16: return convert(BASE_I16, arguments[0]);
    case PRIM_TO_I32:
    case PRIM_TO_I32_ALIAS: return convert(BASE_I32, arguments[0]);
    case PRIM_TO_I64: return convert(BASE_I64, arguments[0]);
    case PRIM_TO_U8: return convert(BASE_U8, arguments[0]);
    case PRIM_TO_U16: return convert(BASE_U16, arguments[0]);
    case PRIM_TO_U32:
    case PRIM_TO_U32_ALIAS: return convert(BASE_U32, arguments[0]);
    case PRIM_TO_U64: return convert(BASE_U64, arguments[0]);
    case PRIM_TO_F32:
    case PRIM_TO_F32_ALIAS: return convert(BASE_F32, arguments[0]);
    case PRIM_TO_F64:
    case PRIM_TO_F64_ALIAS: return convert(BASE_F64, arguments[0]);
    case PRIM_TO_F16:
    case PRIM_TO_F16_ALIAS: return convert(BASE_F16, arguments[0]);
    case PRIM_TO_BF16: return convert(BASE_BF16, arguments[0]);

    case PRIM_RSQRT: return rounded(base, base == BASE_F64 ? 1.0 / sqrt(a.floating) : 1.0f / sqrtf((float)a.floating));
    case PRIM_ISNAN: return bool_of(isnan(a.floating));
    case PRIM_ISINF: return bool_of(isinf(a.floating));
    case PRIM_ISFINITE: return bool_of(isfinite(a.floating));
    case PRIM_BITS_OF_F16:
    case PRIM_BITS_OF_BF16:
    case PRIM_BITS_OF_F32:
    case PRIM_BITS_OF_F64:
        return scalar_of(base_of_bits(base), of_natural(floating_bits(base_info[base].format, a.floating)));
    case PRIM_F16_OF_BITS: return of_bits(BASE_F16, a.natural);
    case PRIM_BF16_OF_BITS: return of_bits(BASE_BF16, a.natural);
    case PRIM_F32_OF_BITS: return of_bits(BASE_F32, a.natural);
    case PRIM_F64_OF_BITS: return of_bits(BASE_F64, a.natural);
#define PRIM(id, ...) case PRIM_##id:
#define SCALAR(id, ...) /* above */
#define MATH(id, ...) case PRIM_##id:
#include "types/primitives.def"
    case PRIM_COUNT: break;
    }
    if (primitive == PRIM_FMA && !is_float(base))
        return scalar_of(base, base_wrap(base, of_natural(a.natural * b.natural + arguments[2].scalar.natural)));
    double x[3] = {a.floating, b.floating, arity > 2 ? arguments[2].scalar.floating : 0};
    return rounded(base, call_mathematics(primitive, base, x));
}

struct value scalar_apply(struct interp *in, enum primitive primitive, const struct value *arguments) {
    return interp_remember(in, primitive, arguments, apply(primitive, arguments));
}

struct value interp_order_bits(struct value x) {
    const struct base_info *info = &base_info[x.base];
    uint64_t sign = (uint64_t)1 << (info->bits - 1), all = sign | (sign - 1);
    uint64_t bits = info->is_floating ? floating_bits(info->format, x.scalar.floating) : x.scalar.natural & all;
    if (info->is_floating)
        bits ^= bits & sign ? all : sign;
    else if (info->is_signed)
        bits ^= sign;
    return scalar_of(BASE_U64, of_natural(bits));
}

struct value interp_from_order_bits(struct value word, enum base base) {
    const struct base_info *info = &base_info[base];
    uint64_t sign = (uint64_t)1 << (info->bits - 1), all = sign | (sign - 1), bits = word.scalar.natural & all;
    if (base == BASE_BOOL)
        return bool_of(bits & 1);
    if (!info->is_floating)
        return scalar_of(base, base_wrap(base, of_natural(info->is_signed ? bits ^ sign : bits)));
    bits ^= bits & sign ? sign : all;
    return scalar_of(base, (union scalar){.floating = floating_of_bits(info->format, bits)});
}
