// Functions of C's mathematics that a C compiler makes vectors of: for C, whose library has them for one number at
// a time. Without branches, and without tables, which vectors would gather from. Loops that go by vectors of ours
// call the same functions for all lanes. docs/primitives.md says how exact each is; suite backend holds it.
//
// note [mathematics]
// e^x = 2^k e^r, where k is the integer nearest to x / ln 2 and |r| <= ln 2 / 2; ln x = k ln 2 + ln (1 + f), where
// sqrt(1/2) <= 1 + f < sqrt(2). Exponentials and logarithms compute in their own type: a step whose rounding would
// be seen gives its rest, too, which goes in last. The polynomials are minimax approximations (Remez) of (e^r - 1 -
// r) / r^2 and (ln (1 + f) - f) / f^2; of doubles, of (ln ((1 + s) / (1 - s)) / s - 2) / s^2 by s^2, with s = f /
// (2 + f). Their errors are below 5e-9 of the whole for floats, 4e-18 for doubles. Where 2^k may have no exponent
// of its own, it is the product of two powers, so that only the last product rounds. The other functions, of
// floats, compute in double, so that at most 4 in 100,000 results are the neighbour of the nearest float; their
// polynomials' errors are below 2e-10, for powers 4e-12 and 2e-14. Adding 1.5 * 2^52 to a small double rounds it to
// an integer, which its lowest bits then are; so does 1.5 * 2^23 with a float.

//@ BITS
/* Where it is no instruction, as two. */
static inline double fcl_fma(double a, double b, double c) {
#if defined __FMA__ || defined __ARM_FEATURE_FMA
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

static inline uint64_t fcl_to_bits(double x) {
    union {
        double from;
        uint64_t to;
    } bits;
    bits.from = x;
    return bits.to;
}

static inline double fcl_of_bits(uint64_t x) {
    union {
        uint64_t from;
        double to;
    } bits;
    bits.from = x;
    return bits.to;
}

static inline double fcl_clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x; /* a NaN stays one */
}

//@ EXP_NEAR_0: BITS
/* e^r - 1 for |r| <= ln 2 / 2 */
static inline double fcl_expm1_near_0(double r) {
    double p = 0x1.a124f19fe89acp-13;
    p = fcl_fma(p, r, 0x1.6d43246b523b4p-10);
    p = fcl_fma(p, r, 0x1.1110e0f238322p-7);
    p = fcl_fma(p, r, 0x1.5554e9063586ep-5);
    p = fcl_fma(p, r, 0x1.5555555a78ed4p-3);
    p = fcl_fma(p, r, 0x1.0000000b9129bp-1);
    return fcl_fma(p * r, r, r);
}

//@ FLOATS: BITS
static inline float fcl_fma_float(float a, float b, float c) {
#if defined __FMA__ || defined __ARM_FEATURE_FMA
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

static inline uint32_t fcl_float_to_bits(float x) {
    union {
        float from;
        uint32_t to;
    } bits;
    bits.from = x;
    return bits.to;
}

static inline float fcl_float_of_bits(uint32_t x) {
    union {
        uint32_t from;
        float to;
    } bits;
    bits.from = x;
    return bits.to;
}

static inline float fcl_clamp_float(float x, float low, float high) {
    return x < low ? low : x > high ? high : x; /* a NaN stays one */
}

//@ EXP_OF_FLOAT: FLOATS
/* 2^k e^(r + rest), where the lowest bits of `t` are k + 254 */
static inline float fcl_exp_of_float(float t, float r, float rest) {
    float p = 0x1.6a2458p-10f;
    p = fcl_fma_float(p, r, 0x1.1239e2p-7f);
    p = fcl_fma_float(p, r, 0x1.5558f2p-5f);
    p = fcl_fma_float(p, r, 0x1.555492p-3f);
    p = fcl_fma_float(p, r, 0x1.fffffcp-2f);
    p = fcl_fma_float(p * r, r, rest) + r + 1.0f;
    uint32_t power = fcl_float_to_bits(t), half = power << 22 & 0x7f800000;
    return p * fcl_float_of_bits(half) * fcl_float_of_bits((power << 23) - half);
}

//@ LOG_OF_FLOAT: FLOATS
/* ln x = k ln 2 + f + the result, for positive, finite x */
static inline float fcl_log_of_float(float x, float *k, float *f) {
    uint32_t small = (uint32_t)((int32_t)(fcl_float_to_bits(x) - 0x00800000) >> 31) & 24;
    uint32_t bits = fcl_float_to_bits(x * fcl_float_of_bits(0x3f800000 + (small << 23))), from_root = bits - 0x3f3504f3;
    *f = fcl_float_of_bits(bits - (from_root & 0xff800000)) - 1.0f;
    *k = fcl_float_of_bits(0x4b400000 + (uint32_t)((int32_t)from_root >> 23) - small) - 0x1.8p23f;
    float p = -0x1.382748p-4f;
    p = fcl_fma_float(p, *f, 0x1.08453ep-3f);
    p = fcl_fma_float(p, *f, -0x1.0f379cp-3f);
    p = fcl_fma_float(p, *f, 0x1.22721ep-3f);
    p = fcl_fma_float(p, *f, -0x1.542778p-3f);
    p = fcl_fma_float(p, *f, 0x1.99a3ecp-3f);
    p = fcl_fma_float(p, *f, -0x1.000426p-2f);
    p = fcl_fma_float(p, *f, 0x1.55555p-2f);
    p = fcl_fma_float(p, *f, -0x1.fffff8p-2f);
    return p * *f * *f;
}

/* a + b, where a is 0 or at least as large, and what rounding took from it */
static inline float fcl_sum_float(float a, float b, float *rest) {
    float sum = a + b;
    *rest = b - (sum - a);
    return sum;
}

/* y, the logarithm of x, or what it is where x is not positive and finite */
static inline float fcl_log_if_float(float x, float y) {
    uint32_t negative = (uint32_t)((int32_t)fcl_float_to_bits(x) >> 31); /* all bits: a NaN */
    return x == 0.0f ? -INFINITY : fcl_float_of_bits(fcl_float_to_bits(x < INFINITY ? y : x) | negative);
}

//@ LOG_BY_FLOAT: LOG_OF_FLOAT
/* The logarithm to a base b: `inverse` is 12 bits of 1 / ln b, `two` 12 bits of ln 2 / ln b, each with the rest. */
static inline float fcl_log_by_float(float x, float inverse, float more, float two, float more_of_two) {
    float k, f, rest, low, curve = fcl_log_of_float(x, &k, &f), log = fcl_sum_float(f, curve, &low);
    float high = fcl_float_of_bits(fcl_float_to_bits(log) & 0xfffff000); /* 12 bits, so that their product is exact */
    float sum = fcl_sum_float(k * two, high * inverse, &rest);
    low = fcl_fma_float(log, more, (low + (log - high)) * inverse);
    return fcl_log_if_float(x, sum + (fcl_fma_float(k, more_of_two, low) + rest));
}

//@ EXPM1: EXP_NEAR_0
/* e^x - 1 for |x| < 200 */
static inline double fcl_expm1_of(double x) {
    double t = fcl_fma(x, 0x1.71547652b82fep0, 0x1.8p52), k = t - 0x1.8p52;
    double power = fcl_of_bits((fcl_to_bits(t) + 1023) << 52);
    return fcl_fma(power, fcl_expm1_near_0(fcl_fma(k, -0x1.62e42fefa39efp-1, x)), power - 1.0);
}

//@ POW_POSITIVE: BITS
/* x^y of a positive, finite x */
static inline double fcl_pow_positive(double x, double y) {
    uint64_t bits = fcl_to_bits(x), from_root = bits - 0x3fe6a09e667f3bcd;
    double f = fcl_of_bits(bits - (from_root & 0xfff0000000000000)) - 1.0;
    double power = fcl_of_bits(0x4330000000000000 | ((from_root >> 52) ^ 0x800)) - (0x1p52 + 2048.0);
    double p = -0x1.1298b42da74c9p-5;
    p = fcl_fma(p, f, 0x1.1f00e900b7058p-4);
    p = fcl_fma(p, f, -0x1.2c4a2a9833107p-4);
    p = fcl_fma(p, f, 0x1.125041c3125edp-4);
    p = fcl_fma(p, f, -0x1.1e1b21a5494f7p-4);
    p = fcl_fma(p, f, 0x1.3a1fcff4bc1a9p-4);
    p = fcl_fma(p, f, -0x1.55ca433fb04bdp-4);
    p = fcl_fma(p, f, 0x1.7474e739d579bp-4);
    p = fcl_fma(p, f, -0x1.999530df8af71p-4);
    p = fcl_fma(p, f, 0x1.c71b67c007016p-4);
    p = fcl_fma(p, f, -0x1.00000b4975628p-3);
    p = fcl_fma(p, f, 0x1.24924bf188235p-3);
    p = fcl_fma(p, f, -0x1.555555392c99ap-3);
    p = fcl_fma(p, f, 0x1.999999931f9f2p-3);
    p = fcl_fma(p, f, -0x1.000000000dba9p-2);
    p = fcl_fma(p, f, 0x1.555555555777bp-2);
    p = fcl_fma(p, f, -0x1.fffffffffffdap-2);
    double log2 = fcl_fma(fcl_fma(p * f, f, f), 0x1.71547652b82fep0, power);
    double e = fcl_clamp(y * log2, -152.0, 130.0), t = e + 0x1.8p52;
    double r = (e - (t - 0x1.8p52)) * 0x1.62e42fefa39efp-1;
    double q = 0x1.a1132015ba37ep-16;
    q = fcl_fma(q, r, 0x1.a15179d80ae96p-13);
    q = fcl_fma(q, r, 0x1.6c16858b7acb9p-10);
    q = fcl_fma(q, r, 0x1.1110c632a3088p-7);
    q = fcl_fma(q, r, 0x1.5555555c87148p-5);
    q = fcl_fma(q, r, 0x1.55555567532adp-3);
    q = fcl_fma(q, r, 0.5);
    return fcl_of_bits(fcl_to_bits(1.0 + fcl_fma(q * r, r, r)) + (fcl_to_bits(t) << 52));
}

//@ EXP: EXP_OF_FLOAT
static inline float fcl_exp_float(float x) {
    float d = fcl_clamp_float(x, -104.0f, 89.0f);
    float t = fcl_fma_float(d, 0x1.715476p0f, 0x1.8p23f + 254.0f), k = t - (0x1.8p23f + 254.0f);
    float most = fcl_fma_float(k, -0x1.62e4p-1f, d), r = fcl_fma_float(k, -0x1.7f7d1cp-20f, most);
    return fcl_exp_of_float(t, r, fcl_fma_float(k, -0x1.7f7d1cp-20f, most - r));
}

//@ EXP_DOUBLE: BITS
static inline double fcl_exp_double(double x) {
    double d = fcl_clamp(x, -746.0, 710.0);
    double t = fcl_fma(d, 0x1.71547652b82fep0, 0x1.8p52 + 2046.0), k = t - (0x1.8p52 + 2046.0);
    double most = fcl_fma(k, -0x1.62e42fefa38p-1, d), r = fcl_fma(k, -0x1.ef35793c7673p-45, most);
    double rest = fcl_fma(k, -0x1.ef35793c7673p-45, most - r), sum = 1.0 + r;
    double square = r * r, p = 0x1.28ad726aacf17p-22, odd = 0x1.ad7ffae5ba1b2p-26; /* two chains, each half as long */
    odd = fcl_fma(odd, square, 0x1.71df24fb7068ap-19);
    p = fcl_fma(p, square, 0x1.a0199a0cbe94fp-16);
    odd = fcl_fma(odd, square, 0x1.a01a012a7d927p-13);
    p = fcl_fma(p, square, 0x1.6c16c18429fe0p-10);
    odd = fcl_fma(odd, square, 0x1.1111111127b7ap-7);
    p = fcl_fma(p, square, 0x1.555555555087cp-5);
    odd = fcl_fma(odd, square, 0x1.55555555554fap-3);
    p = fcl_fma(odd, r, fcl_fma(p, square, 0x1.000000000000ap-1));
    p = sum + (fcl_fma(p, square, rest) + (r - (sum - 1.0)));
    uint64_t power = fcl_to_bits(t), half = power << 51 & 0x7ff0000000000000;
    return p * fcl_of_bits(half) * fcl_of_bits((power << 52) - half);
}

//@ EXP_BY_LANES: EXP
FCL_BY_LANES(exp, fcl_exp_float)

//@ LOG: LOG_OF_FLOAT
static inline float fcl_log_float(float x) {
    float k, f, rest, curve = fcl_log_of_float(x, &k, &f), sum = fcl_sum_float(k * 0x1.62e4p-1f, f, &rest);
    return fcl_log_if_float(x, sum + (fcl_fma_float(k, 0x1.7f7d1cp-20f, curve) + rest));
}

//@ LOG_DOUBLE: BITS
static inline double fcl_log_double(double x) {
    uint64_t small = (uint64_t)((int64_t)(fcl_to_bits(x) - 0x0010000000000000) >> 63) & 56;
    uint64_t bits = fcl_to_bits(x * fcl_of_bits(0x3ff0000000000000 + (small << 52)));
    uint64_t from_root = bits - 0x3fe6a09e667f3bcd, negative = (uint64_t)((int64_t)fcl_to_bits(x) >> 63);
    double f = fcl_of_bits(bits - (from_root & 0xfff0000000000000)) - 1.0;
    double k = fcl_of_bits(0x4330000000000000 + ((from_root >> 52) ^ 0x800) - small) - (0x1p52 + 2048.0);
    double half = 0.5 * f * f, s = f / (2.0 + f), z = s * s;
    double fourth = z * z, p = 0x1.2f06365255664p-3, odd = 0x1.39a1a6a9638a5p-3;
    p = fcl_fma(p, fourth, 0x1.74663fa6daca4p-3);
    odd = fcl_fma(odd, fourth, 0x1.c71c5205e596cp-3);
    p = fcl_fma(p, fourth, 0x1.24924941f539cp-2);
    odd = fcl_fma(odd, fourth, 0x1.999999997fd71p-2);
    p = fcl_fma(odd, z, fcl_fma(p, fourth, 0x1.5555555555592p-1));
    double most = k * 0x1.62e42fefa38p-1, sum = most + f;
    double rest = fcl_fma(k, 0x1.ef35793c7673p-45, fcl_fma(s, fcl_fma(p, z, half), -half)) + (f - (sum - most));
    double y = x < INFINITY ? sum + rest : x;
    return x == 0.0 ? -INFINITY : fcl_of_bits(fcl_to_bits(y) | negative); /* of a negative number a NaN */
}

//@ LOG_BY_LANES: LOG
FCL_BY_LANES(log, fcl_log_float)

//@ POW: POW_POSITIVE
static inline float fcl_pow_float(float x, float y) {
    float size = fabsf(x), result = (float)fcl_pow_positive(size, y);
    float small = y > -0x1p24f ? y < 0x1p24f ? y : 0x1p24f : -0x1p24f;
    int whole = (int)small;
    bool is_integer = (float)whole == small;
    float at_end = y == 0.0f ? 1.0f : (y < 0.0f) == (size == 0.0f) ? INFINITY : 0.0f;
    result = size == 0.0f || size == INFINITY ? at_end : size == 1.0f ? 1.0f : result;
    result = x < 0.0f && size < INFINITY && !is_integer ? NAN : result;
    result = (whole & 1) && is_integer ? copysignf(result, x) : result;
    result = x != x || y != y ? x + y : result;
    return x == 1.0f || y == 0.0f ? 1.0f : result;
}

//@ EXP2: EXP_OF_FLOAT
static inline float fcl_exp2_float(float x) {
    float d = fcl_clamp_float(x, -151.0f, 129.0f), t = d + (0x1.8p23f + 254.0f);
    float f = d - (t - (0x1.8p23f + 254.0f)), r = f * 0x1.62e43p-1f;
#if defined __FMA__ || defined __ARM_FEATURE_FMA
    float rest = __builtin_fmaf(f, 0x1.62e43p-1f, -r);
#else
    float rest = (float)((double)f * 0x1.62e43p-1 - (double)r);
#endif
    return fcl_exp_of_float(t, r, fcl_fma_float(f, -0x1.05c61p-29f, rest));
}

//@ EXP2_BY_LANES: EXP2
FCL_BY_LANES(exp2, fcl_exp2_float)

//@ LOG2: LOG_BY_FLOAT
static inline float fcl_log2_float(float x) { return fcl_log_by_float(x, 0x1.714p0f, 0x1.47652cp-12f, 1.0f, 0.0f); }

//@ LOG2_BY_LANES: LOG2
FCL_BY_LANES(log2, fcl_log2_float)

//@ LOG10: LOG_BY_FLOAT
static inline float fcl_log10_float(float x) {
    return fcl_log_by_float(x, 0x1.bcap-2f, 0x1.7b1526p-14f, 0x1.344p-2f, 0x1.3509f8p-18f);
}

//@ LOG10_BY_LANES: LOG10
FCL_BY_LANES(log10, fcl_log10_float)

//@ SINH: EXPM1
static inline float fcl_sinh_float(float x) {
    double e = fcl_expm1_of(fcl_clamp(fabs(x), 0.0, 92.0));
    return copysignf((float)(0.5 * (e + e / (e + 1.0))), x);
}

//@ SINH_BY_LANES: SINH
FCL_BY_LANES(sinh, fcl_sinh_float)

//@ COSH: EXPM1
static inline float fcl_cosh_float(float x) {
    double e = fcl_expm1_of(fcl_clamp(fabs(x), 0.0, 92.0)) + 1.0;
    return (float)(0.5 * (e + 1.0 / e));
}

//@ COSH_BY_LANES: COSH
FCL_BY_LANES(cosh, fcl_cosh_float)

//@ TANH: EXPM1
static inline float fcl_tanh_float(float x) {
    double e = fcl_expm1_of(2.0 * fcl_clamp(fabs(x), 0.0, 20.0));
    return copysignf((float)(e / (e + 2.0)), x);
}

//@ TANH_BY_LANES: TANH
FCL_BY_LANES(tanh, fcl_tanh_float)
