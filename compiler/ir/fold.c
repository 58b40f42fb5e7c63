/* Constant folding. Integers are computed in unsigned 64-bit arithmetic and wrapped afterwards, so nothing here
   overflows; floats are computed in the precision of their type. */
#include "ir/fold.h"

#include <math.h>

#include "support/floating.h"

union scalar fold_wrap(enum base base, union scalar value) {
    union scalar result = {0};
    switch (base) {
    case BASE_BOOL: result.integer = value.natural != 0; break;
    case BASE_I8: result.integer = (int8_t)(uint8_t)value.natural; break;
    case BASE_I16: result.integer = (int16_t)(uint16_t)value.natural; break;
    case BASE_I32: result.integer = (int32_t)(uint32_t)value.natural; break;
    case BASE_U8: result.natural = (uint8_t)value.natural; break;
    case BASE_U16: result.natural = (uint16_t)value.natural; break;
    case BASE_U32: result.natural = (uint32_t)value.natural; break;
    case BASE_I64:
    case BASE_U64: result.natural = value.natural; break;
    case BASE_F32: result.floating = floating_single(value.floating); break;
    case BASE_F64: result.floating = value.floating; break;
    case BASE_COUNT: break;
    }
    return result;
}

bool fold_is_comparison(enum ir_op op) { return op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE; }

enum base fold_result_base(enum ir_op op, enum base operand) {
    if (fold_is_comparison(op) || op == OP_NOT)
        return BASE_BOOL;
    if (op == OP_BITS)
        return operand == BASE_F32   ? BASE_U32
               : operand == BASE_F64 ? BASE_U64
               : operand == BASE_U32 ? BASE_F32
                                     : BASE_F64;
    return op == OP_CLZ || op == OP_POPCOUNT ? BASE_I32 : operand;
}

static union scalar of_natural(enum base base, uint64_t value) {
    return fold_wrap(base, (union scalar){.natural = value});
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
        return to_float ? fold_wrap(to, x) : of_natural(to, saturate(to, x.floating));
    if (!to_float)
        return fold_wrap(to, x);
    /* Straight from the integer: by way of double, a float would be rounded twice. */
    union scalar result;
    if (to == BASE_F32)
        result.floating = from == BASE_U64 ? (float)x.natural : (float)x.integer;
    else
        result.floating = from == BASE_U64 ? (double)x.natural : (double)x.integer;
    return result;
}

/* ---- integers and bools ---- */

static union scalar divide(enum base base, union scalar x, union scalar y, bool remainder) {
    if (y.natural == 0)
        return remainder ? x : y;
    if (!base_info[base].is_signed)
        return of_natural(base, remainder ? x.natural % y.natural : x.natural / y.natural);
    if (y.integer == -1) /* MIN / -1 has no int64 result */
        return of_natural(base, remainder ? 0 : 0 - x.natural);
    return of_natural(base, (uint64_t)(remainder ? x.integer % y.integer : x.integer / y.integer));
}

static union scalar shift_right(enum base base, union scalar x, int count) {
    if (base_info[base].is_signed && x.integer < 0)
        return of_natural(base, ~(~x.natural >> count));
    return of_natural(base, x.natural >> count);
}

static int leading_zeros(int bits, uint64_t x) {
    int count = 0;
    for (int bit = bits - 1; bit >= 0 && !(x >> bit & 1); bit--)
        count++;
    return count;
}

static int ones(int bits, uint64_t x) {
    int count = 0;
    for (int bit = 0; bit < bits; bit++)
        count += (int)(x >> bit & 1);
    return count;
}

static union scalar fold_integer(enum ir_op op, enum base base, const union scalar *x) {
    bool is_signed = base_info[base].is_signed;
    int bits = base_info[base].bits;
    uint64_t a = x[0].natural, b = ir_op_info[op].arity > 1 ? x[1].natural : 0;
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    int count = (int)(b & (uint64_t)(bits - 1));
    switch (op) {
    case OP_ADD: return of_natural(base, a + b);
    case OP_SUB: return of_natural(base, a - b);
    case OP_MUL: return of_natural(base, a * b);
    case OP_DIV: return divide(base, x[0], x[1], false);
    case OP_REM: return divide(base, x[0], x[1], true);
    case OP_NEG: return of_natural(base, 0 - a);
    case OP_MIN: return less ? x[0] : x[1];
    case OP_MAX: return less ? x[1] : x[0];
    case OP_ABS: return of_natural(base, is_signed && (int64_t)a < 0 ? 0 - a : a);
    case OP_EQ: return of_bool(a == b);
    case OP_NE: return of_bool(a != b);
    case OP_LT: return of_bool(less);
    case OP_LE: return of_bool(less || a == b);
    case OP_NOT: return of_bool(!a);
    case OP_AND: return of_natural(base, a & b);
    case OP_OR: return of_natural(base, a | b);
    case OP_XOR: return of_natural(base, a ^ b);
    case OP_BIT_NOT: return base == BASE_BOOL ? of_bool(!a) : of_natural(base, ~a);
    case OP_SHL: return of_natural(base, a << count);
    case OP_SHR: return shift_right(base, x[0], count);
    case OP_CLZ: return (union scalar){.integer = leading_zeros(bits, a)};
    case OP_POPCOUNT: return (union scalar){.integer = ones(bits, a)};
    case OP_FMA: return of_natural(base, a * b + x[2].natural);
    case OP_CONVERT:
    case OP_SELECT:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_EXP:
    case OP_LOG:
    case OP_POW:
    case OP_SIN:
    case OP_COS:
    case OP_TAN:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_EXP2:
    case OP_LOG2:
    case OP_LOG10:
    case OP_ASIN:
    case OP_ACOS:
    case OP_ATAN:
    case OP_SINH:
    case OP_COSH:
    case OP_TANH:
    case OP_ROUND:
    case OP_TRUNC:
    case OP_CBRT:
    case OP_ATAN2:
    case OP_HYPOT:
    case OP_COPYSIGN:
    case OP_BITS:
    case OP_COUNT: break; /* not on integers */
    }
    return x[0];
}

/* ---- floats ---- */

/* NaN loses, and -0 is below 0: C leaves the zeros open, and executors are to agree. */
static double least(double a, double b) { return isnan(b) || a < b || (a == b && signbit(a)) ? a : b; }

static double greatest(double a, double b) { return isnan(b) || a > b || (a == b && !signbit(a)) ? a : b; }

static union scalar same_bits(enum base operand, union scalar x) {
    switch (operand) {
    case BASE_F32: return (union scalar){.natural = floating_bits(x.floating)};
    case BASE_U32: return (union scalar){.floating = floating_of_bits((uint32_t)x.natural)};
    default: return x; /* doubles and u64 */
    }
}

static float fold_single(enum ir_op op, float a, float b, float c) {
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    case OP_NEG: return -a;
    case OP_MIN: return (float)least(a, b);
    case OP_MAX: return (float)greatest(a, b);
    case OP_ABS: return fabsf(a);
    case OP_SQRT: return sqrtf(a);
    case OP_RSQRT: return 1.0f / sqrtf(a);
    case OP_EXP: return expf(a);
    case OP_LOG: return logf(a);
    case OP_POW: return powf(a, b);
    case OP_SIN: return sinf(a);
    case OP_COS: return cosf(a);
    case OP_TAN: return tanf(a);
    case OP_FLOOR: return floorf(a);
    case OP_CEIL: return ceilf(a);
    case OP_FMA: return fmaf(a, b, c);
    case OP_EXP2: return exp2f(a);
    case OP_LOG2: return log2f(a);
    case OP_LOG10: return log10f(a);
    case OP_ASIN: return asinf(a);
    case OP_ACOS: return acosf(a);
    case OP_ATAN: return atanf(a);
    case OP_SINH: return sinhf(a);
    case OP_COSH: return coshf(a);
    case OP_TANH: return tanhf(a);
    case OP_ROUND: return roundf(a);
    case OP_TRUNC: return truncf(a);
    case OP_CBRT: return cbrtf(a);
    case OP_ATAN2: return atan2f(a, b);
    case OP_HYPOT: return hypotf(a, b);
    case OP_COPYSIGN: return copysignf(a, b);
    case OP_REM:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_NOT:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_BIT_NOT:
    case OP_SHL:
    case OP_SHR:
    case OP_CLZ:
    case OP_POPCOUNT:
    case OP_CONVERT:
    case OP_BITS:
    case OP_SELECT:
    case OP_COUNT: break; /* comparisons: fold_floating; the rest are not on floats */
    }
    return a;
}

static double fold_double(enum ir_op op, double a, double b, double c) {
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    case OP_NEG: return -a;
    case OP_MIN: return least(a, b);
    case OP_MAX: return greatest(a, b);
    case OP_ABS: return fabs(a);
    case OP_SQRT: return sqrt(a);
    case OP_RSQRT: return 1.0 / sqrt(a);
    case OP_EXP: return exp(a);
    case OP_LOG: return log(a);
    case OP_POW: return pow(a, b);
    case OP_SIN: return sin(a);
    case OP_COS: return cos(a);
    case OP_TAN: return tan(a);
    case OP_FLOOR: return floor(a);
    case OP_CEIL: return ceil(a);
    case OP_FMA: return fma(a, b, c);
    case OP_EXP2: return exp2(a);
    case OP_LOG2: return log2(a);
    case OP_LOG10: return log10(a);
    case OP_ASIN: return asin(a);
    case OP_ACOS: return acos(a);
    case OP_ATAN: return atan(a);
    case OP_SINH: return sinh(a);
    case OP_COSH: return cosh(a);
    case OP_TANH: return tanh(a);
    case OP_ROUND: return round(a);
    case OP_TRUNC: return trunc(a);
    case OP_CBRT: return cbrt(a);
    case OP_ATAN2: return atan2(a, b);
    case OP_HYPOT: return hypot(a, b);
    case OP_COPYSIGN: return copysign(a, b);
    case OP_REM:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_NOT:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_BIT_NOT:
    case OP_SHL:
    case OP_SHR:
    case OP_CLZ:
    case OP_POPCOUNT:
    case OP_CONVERT:
    case OP_BITS:
    case OP_SELECT:
    case OP_COUNT: break;
    }
    return a;
}

static union scalar fold_floating(enum ir_op op, enum base base, const union scalar *x) {
    int arity = ir_op_info[op].arity;
    double a = x[0].floating, b = arity > 1 ? x[1].floating : 0, c = arity > 2 ? x[2].floating : 0;
    switch (op) {
    case OP_EQ: return of_bool(a == b);
    case OP_NE: return of_bool(a != b);
    case OP_LT: return of_bool(a < b);
    case OP_LE: return of_bool(a <= b);
    default: break; /* arithmetic, which has a full list above */
    }
    if (base == BASE_F32)
        return (union scalar){.floating = fold_single(op, (float)a, (float)b, (float)c)};
    return (union scalar){.floating = fold_double(op, a, b, c)};
}

union scalar fold_operation(enum ir_op op, enum base result, enum base operand, const union scalar *x) {
    if (op == OP_SELECT)
        return x[0].integer ? x[1] : x[2];
    if (op == OP_CONVERT)
        return convert(result, operand, x[0]);
    if (op == OP_BITS)
        return same_bits(operand, x[0]);
    return base_info[operand].is_floating ? fold_floating(op, operand, x) : fold_integer(op, operand, x);
}
