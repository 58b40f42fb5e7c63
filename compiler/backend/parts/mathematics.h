// Functions of C's mathematics, of floats, that a C compiler makes vectors of: for C, whose library has them for one
// number at a time. They compute in double, so that nearly every result is the float nearest to the true one, as the C
// libraries' are, too: at most 4 in 100,000 of a function's are its neighbour. Without branches, and without tables,
// which vectors would gather from. Loops that go by vectors of ours call the same functions for all lanes.
//
// note [mathematics]
// e^x = 2^k e^r, where k is the integer nearest to x / ln 2 and |r| <= ln 2 / 2; ln x = k ln 2 + ln m, where sqrt(1/2)
// <= m < sqrt(2). The polynomials are Chebyshev approximations of (e^r - 1 - r) / r^2 and of (ln (1 + f) - f) / f^2 on
// these intervals; their errors are below 2e-10 and 6e-11 of the whole, of the long ones, for powers, 4e-12 and 2e-14.
// Adding 1.5 * 2^52 to a small double rounds it to an integer, which its lowest bits then are.

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

//@ LOG_PARTS: BITS
/* ln x = *k ln 2 + the result, for positive numbers */
static inline double fcl_log_parts(double x, double *k) {
    uint64_t bits = fcl_to_bits(x), from_root = bits - 0x3fe6a09e667f3bcd;
    double f = fcl_of_bits(bits - (from_root & 0xfff0000000000000)) - 1.0;
    *k = fcl_of_bits(0x4330000000000000 | ((from_root >> 52) ^ 0x800)) - (0x1p52 + 2048.0);
    double p = 0x1.b9ce201c5fbb0p-5;
    p = fcl_fma(p, f, -0x1.903d12a33abedp-4);
    p = fcl_fma(p, f, 0x1.967b6c007aa1cp-4);
    p = fcl_fma(p, f, -0x1.96fbfe69b0695p-4);
    p = fcl_fma(p, f, 0x1.c3b930b4ce5fdp-4);
    p = fcl_fma(p, f, -0x1.ffed885e08173p-4);
    p = fcl_fma(p, f, 0x1.24a4605850f32p-3);
    p = fcl_fma(p, f, -0x1.555628452ffd2p-3);
    p = fcl_fma(p, f, 0x1.99994a9651e26p-3);
    p = fcl_fma(p, f, -0x1.fffffce751926p-3);
    p = fcl_fma(p, f, 0x1.5555558685d78p-2);
    p = fcl_fma(p, f, -0x1.0000000061fefp-1);
    return fcl_fma(p * f, f, f);
}

/* What a logarithm is where it is not the finite number `y` */
static inline float fcl_log_of(float x, double y) {
    return x > 0.0f ? x < INFINITY ? (float)y : x : x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x;
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

//@ EXP: EXP_NEAR_0
static inline float fcl_exp_float(float x) {
    double d = fcl_clamp(x, -104.0, 89.0);
    double t = fcl_fma(d, 0x1.71547652b82fep0, 0x1.8p52), k = t - 0x1.8p52;
    double r = fcl_fma(k, -0x1.62e42fefa39efp-1, d);
    return (float)fcl_of_bits(fcl_to_bits(1.0 + fcl_expm1_near_0(r)) + (fcl_to_bits(t) << 52));
}

//@ EXP_BY_LANES: EXP
FCL_BY_LANES(exp, fcl_exp_float)

//@ LOG: LOG_PARTS
static inline float fcl_log_float(float x) {
    double k, log = fcl_log_parts(x, &k);
    return fcl_log_of(x, fcl_fma(k, 0x1.62e42fefa39efp-1, log));
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

//@ EXP2: EXP_NEAR_0
static inline float fcl_exp2_float(float x) {
    double d = fcl_clamp(x, -152.0, 129.0), t = d + 0x1.8p52;
    double r = (d - (t - 0x1.8p52)) * 0x1.62e42fefa39efp-1;
    return (float)fcl_of_bits(fcl_to_bits(1.0 + fcl_expm1_near_0(r)) + (fcl_to_bits(t) << 52));
}

//@ EXP2_BY_LANES: EXP2
FCL_BY_LANES(exp2, fcl_exp2_float)

//@ LOG2: LOG_PARTS
static inline float fcl_log2_float(float x) {
    double k, log = fcl_log_parts(x, &k);
    return fcl_log_of(x, fcl_fma(log, 0x1.71547652b82fep0, k));
}

//@ LOG2_BY_LANES: LOG2
FCL_BY_LANES(log2, fcl_log2_float)

//@ LOG10: LOG_PARTS
static inline float fcl_log10_float(float x) {
    double k, log = fcl_log_parts(x, &k);
    return fcl_log_of(x, fcl_fma(k, 0x1.34413509f79ffp-2, log * 0x1.bcb7b1526e50ep-2));
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
