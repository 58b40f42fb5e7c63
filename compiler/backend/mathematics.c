/* Functions of C's mathematics, of floats, that a C compiler makes vectors of: for C, whose
   library has them for one number at a time. They compute in double, so that nearly every result
   is the float nearest to the true one, as the C libraries' are, too: at most 4 in 100,000 of a
   function's are its neighbour. Without branches, and without tables, which vectors would gather
   from. Loops that go by vectors of ours call the same functions for all lanes (FCL_BY_LANES).

   note [mathematics]
   e^x = 2^k e^r, where k is the integer nearest to x / ln 2 and |r| <= ln 2 / 2; ln x = k ln 2 +
   ln m, where sqrt(1/2) <= m < sqrt(2). The polynomials are Chebyshev approximations of (e^r - 1 -
   r) / r^2 and of (ln (1 + f) - f) / f^2 on these intervals; their errors are below 2e-10 and
   6e-11 of the whole, of the long ones, for powers, 4e-12 and 2e-14. Adding 1.5 * 2^52 to a small
   double rounds it to an integer, which its lowest bits then are. */
#include "backend/print.h"

enum part { PART_BASIS = 1, PART_EXP = 2, PART_LOG = 4, PART_EXPM1 = 8, PART_POW = 16, PARTS = 5 };

static const char *const parts[PARTS] = {
    "/* Where it is no instruction, as two. */\n"
    "static inline double fcl_fma(double a, double b, double c) {\n"
    "#if defined __FMA__ || defined __ARM_FEATURE_FMA\n"
    "    return __builtin_fma(a, b, c);\n"
    "#else\n"
    "    return a * b + c;\n"
    "#endif\n"
    "}\n"
    "\n"
    "static inline uint64_t fcl_to_bits(double x) {\n"
    "    union {\n        double from;\n        uint64_t to;\n    } bits;\n"
    "    bits.from = x;\n"
    "    return bits.to;\n"
    "}\n"
    "\n"
    "static inline double fcl_of_bits(uint64_t x) {\n"
    "    union {\n        uint64_t from;\n        double to;\n    } bits;\n"
    "    bits.from = x;\n"
    "    return bits.to;\n"
    "}\n"
    "\n"
    "static inline double fcl_clamp(double x, double low, double high) {\n"
    "    return x < low ? low : x > high ? high : x; /* a NaN stays one */\n"
    "}\n",

    "/* e^r - 1 for |r| <= ln 2 / 2 */\n"
    "static inline double fcl_expm1_near_0(double r) {\n"
    "    double p = 0x1.a124f19fe89acp-13;\n"
    "    p = fcl_fma(p, r, 0x1.6d43246b523b4p-10);\n"
    "    p = fcl_fma(p, r, 0x1.1110e0f238322p-7);\n"
    "    p = fcl_fma(p, r, 0x1.5554e9063586ep-5);\n"
    "    p = fcl_fma(p, r, 0x1.5555555a78ed4p-3);\n"
    "    p = fcl_fma(p, r, 0x1.0000000b9129bp-1);\n"
    "    return fcl_fma(p * r, r, r);\n"
    "}\n",

    "/* ln x = *k ln 2 + the result, for positive numbers */\n"
    "static inline double fcl_log_parts(double x, double *k) {\n"
    "    uint64_t bits = fcl_to_bits(x), from_root = bits - 0x3fe6a09e667f3bcd;\n"
    "    double f = fcl_of_bits(bits - (from_root & 0xfff0000000000000)) - 1.0;\n"
    "    *k = fcl_of_bits(0x4330000000000000 | ((from_root >> 52) ^ 0x800)) - (0x1p52 + 2048.0);\n"
    "    double p = 0x1.b9ce201c5fbb0p-5;\n"
    "    p = fcl_fma(p, f, -0x1.903d12a33abedp-4);\n"
    "    p = fcl_fma(p, f, 0x1.967b6c007aa1cp-4);\n"
    "    p = fcl_fma(p, f, -0x1.96fbfe69b0695p-4);\n"
    "    p = fcl_fma(p, f, 0x1.c3b930b4ce5fdp-4);\n"
    "    p = fcl_fma(p, f, -0x1.ffed885e08173p-4);\n"
    "    p = fcl_fma(p, f, 0x1.24a4605850f32p-3);\n"
    "    p = fcl_fma(p, f, -0x1.555628452ffd2p-3);\n"
    "    p = fcl_fma(p, f, 0x1.99994a9651e26p-3);\n"
    "    p = fcl_fma(p, f, -0x1.fffffce751926p-3);\n"
    "    p = fcl_fma(p, f, 0x1.5555558685d78p-2);\n"
    "    p = fcl_fma(p, f, -0x1.0000000061fefp-1);\n"
    "    return fcl_fma(p * f, f, f);\n"
    "}\n"
    "\n"
    "/* What a logarithm is where it is not the finite number `y` */\n"
    "static inline float fcl_log_of(float x, double y) {\n"
    "    return x > 0.0f ? x < INFINITY ? (float)y : x : x == 0.0f ? -INFINITY : x < 0.0f ? NAN : x;\n"
    "}\n",

    "/* e^x - 1 for |x| < 200 */\n"
    "static inline double fcl_expm1_of(double x) {\n"
    "    double t = fcl_fma(x, 0x1.71547652b82fep0, 0x1.8p52), k = t - 0x1.8p52;\n"
    "    double power = fcl_of_bits((fcl_to_bits(t) + 1023) << 52);\n"
    "    return fcl_fma(power, fcl_expm1_near_0(fcl_fma(k, -0x1.62e42fefa39efp-1, x)), power - 1.0);\n"
    "}\n",

    "/* x^y of a positive, finite x */\n"
    "static inline double fcl_pow_positive(double x, double y) {\n"
    "    uint64_t bits = fcl_to_bits(x), from_root = bits - 0x3fe6a09e667f3bcd;\n"
    "    double f = fcl_of_bits(bits - (from_root & 0xfff0000000000000)) - 1.0;\n"
    "    double power = fcl_of_bits(0x4330000000000000 | ((from_root >> 52) ^ 0x800)) - (0x1p52 + 2048.0);\n"
    "    double p = -0x1.1298b42da74c9p-5;\n"
    "    p = fcl_fma(p, f, 0x1.1f00e900b7058p-4);\n"
    "    p = fcl_fma(p, f, -0x1.2c4a2a9833107p-4);\n"
    "    p = fcl_fma(p, f, 0x1.125041c3125edp-4);\n"
    "    p = fcl_fma(p, f, -0x1.1e1b21a5494f7p-4);\n"
    "    p = fcl_fma(p, f, 0x1.3a1fcff4bc1a9p-4);\n"
    "    p = fcl_fma(p, f, -0x1.55ca433fb04bdp-4);\n"
    "    p = fcl_fma(p, f, 0x1.7474e739d579bp-4);\n"
    "    p = fcl_fma(p, f, -0x1.999530df8af71p-4);\n"
    "    p = fcl_fma(p, f, 0x1.c71b67c007016p-4);\n"
    "    p = fcl_fma(p, f, -0x1.00000b4975628p-3);\n"
    "    p = fcl_fma(p, f, 0x1.24924bf188235p-3);\n"
    "    p = fcl_fma(p, f, -0x1.555555392c99ap-3);\n"
    "    p = fcl_fma(p, f, 0x1.999999931f9f2p-3);\n"
    "    p = fcl_fma(p, f, -0x1.000000000dba9p-2);\n"
    "    p = fcl_fma(p, f, 0x1.555555555777bp-2);\n"
    "    p = fcl_fma(p, f, -0x1.fffffffffffdap-2);\n"
    "    double log2 = fcl_fma(fcl_fma(p * f, f, f), 0x1.71547652b82fep0, power);\n"
    "    double e = fcl_clamp(y * log2, -152.0, 130.0), t = e + 0x1.8p52;\n"
    "    double r = (e - (t - 0x1.8p52)) * 0x1.62e42fefa39efp-1;\n"
    "    double q = 0x1.a1132015ba37ep-16;\n"
    "    q = fcl_fma(q, r, 0x1.a15179d80ae96p-13);\n"
    "    q = fcl_fma(q, r, 0x1.6c16858b7acb9p-10);\n"
    "    q = fcl_fma(q, r, 0x1.1110c632a3088p-7);\n"
    "    q = fcl_fma(q, r, 0x1.5555555c87148p-5);\n"
    "    q = fcl_fma(q, r, 0x1.55555567532adp-3);\n"
    "    q = fcl_fma(q, r, 0.5);\n"
    "    return fcl_of_bits(fcl_to_bits(1.0 + fcl_fma(q * r, r, r)) + (fcl_to_bits(t) << 52));\n"
    "}\n",
};

struct function {
    unsigned needs;   /* parts */
    const char *text; /* from its parameters on */
};

static const struct function functions[OP_COUNT] = {
    [OP_EXP] = {PART_BASIS | PART_EXP, "(float x) {\n"
                                       "    double d = fcl_clamp(x, -104.0, 89.0);\n"
                                       "    double t = fcl_fma(d, 0x1.71547652b82fep0, 0x1.8p52), k = t - 0x1.8p52;\n"
                                       "    double r = fcl_fma(k, -0x1.62e42fefa39efp-1, d);\n"
                                       "    return (float)fcl_of_bits(fcl_to_bits(1.0 + fcl_expm1_near_0(r)) + "
                                       "(fcl_to_bits(t) << 52));\n"
                                       "}\n"},
    [OP_EXP2] = {PART_BASIS | PART_EXP, "(float x) {\n"
                                        "    double d = fcl_clamp(x, -152.0, 129.0), t = d + 0x1.8p52;\n"
                                        "    double r = (d - (t - 0x1.8p52)) * 0x1.62e42fefa39efp-1;\n"
                                        "    return (float)fcl_of_bits(fcl_to_bits(1.0 + fcl_expm1_near_0(r)) + "
                                        "(fcl_to_bits(t) << 52));\n"
                                        "}\n"},
    [OP_LOG] = {PART_BASIS | PART_LOG, "(float x) {\n"
                                       "    double k, log = fcl_log_parts(x, &k);\n"
                                       "    return fcl_log_of(x, fcl_fma(k, 0x1.62e42fefa39efp-1, log));\n"
                                       "}\n"},
    [OP_LOG2] = {PART_BASIS | PART_LOG, "(float x) {\n"
                                        "    double k, log = fcl_log_parts(x, &k);\n"
                                        "    return fcl_log_of(x, fcl_fma(log, 0x1.71547652b82fep0, k));\n"
                                        "}\n"},
    [OP_LOG10] = {PART_BASIS | PART_LOG, "(float x) {\n"
                                         "    double k, log = fcl_log_parts(x, &k);\n"
                                         "    return fcl_log_of(x, fcl_fma(k, 0x1.34413509f79ffp-2, "
                                         "log * 0x1.bcb7b1526e50ep-2));\n"
                                         "}\n"},
    [OP_SINH] = {PART_BASIS | PART_EXP | PART_EXPM1, "(float x) {\n"
                                                     "    double e = fcl_expm1_of(fcl_clamp(fabs(x), 0.0, 92.0));\n"
                                                     "    return copysignf((float)(0.5 * (e + e / (e + 1.0))), x);\n"
                                                     "}\n"},
    [OP_COSH] = {PART_BASIS | PART_EXP | PART_EXPM1,
                 "(float x) {\n"
                 "    double e = fcl_expm1_of(fcl_clamp(fabs(x), 0.0, 92.0)) + 1.0;\n"
                 "    return (float)(0.5 * (e + 1.0 / e));\n"
                 "}\n"},
    [OP_TANH] = {PART_BASIS | PART_EXP | PART_EXPM1,
                 "(float x) {\n"
                 "    double e = fcl_expm1_of(2.0 * fcl_clamp(fabs(x), 0.0, 20.0));\n"
                 "    return copysignf((float)(e / (e + 2.0)), x);\n"
                 "}\n"},
    [OP_POW] = {PART_BASIS | PART_POW,
                "(float x, float y) {\n"
                "    float size = fabsf(x), result = (float)fcl_pow_positive(size, y);\n"
                "    float small = y > -0x1p24f ? y < 0x1p24f ? y : 0x1p24f : -0x1p24f;\n"
                "    int whole = (int)small;\n"
                "    bool is_integer = (float)whole == small;\n"
                "    float at_end = y == 0.0f ? 1.0f : (y < 0.0f) == (size == 0.0f) ? INFINITY : 0.0f;\n"
                "    result = size == 0.0f || size == INFINITY ? at_end : size == 1.0f ? 1.0f : result;\n"
                "    result = x < 0.0f && size < INFINITY && !is_integer ? NAN : result;\n"
                "    result = (whole & 1) && is_integer ? copysignf(result, x) : result;\n"
                "    result = x != x || y != y ? x + y : result;\n"
                "    return x == 1.0f || y == 0.0f ? 1.0f : result;\n"
                "}\n"},
};

bool mathematics_has(enum ir_op op, enum base base) { return base == BASE_F32 && functions[op].text; }

/* See note [mathematics]. */
void print_mathematics(struct printer *p) {
    unsigned needs = 0;
    for (int op = 0; op < OP_COUNT; op++)
        needs |= p->mathematics[op] ? functions[op].needs : 0;
    for (int part = 0; part < PARTS; part++)
        if (needs & 1u << part)
            text_printf(p->out, "%s\n", parts[part]);
    for (int op = 0; op < OP_COUNT; op++) {
        const char *name = ir_op_info[op].name;
        if (p->mathematics[op])
            text_printf(p->out, "static inline float fcl_%s_float%s\n", name, functions[op].text);
        if (p->vector_mathematics[op])
            text_printf(p->out, "FCL_BY_LANES(%s, fcl_%s_float)\n\n", name, name);
    }
}
