/* Holds the functions of compiler/backend/parts/mathematics.h to the C library's in double: what a C
   file that fclc wrote has of them is included in place of KERNELS. Exit status 1: a result is
   more than the next float away, or too many are not nearest. */
#include KERNELS

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static int32_t order(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT32_MIN - bits : bits; /* neighbours differ by one */
}

static float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* How far it is from what is due: floats between them. */
static int64_t distance(float got, double due) {
    float nearest = (float)due;
    if (nearest != nearest || got != got)
        return nearest != nearest && got != got ? 0 : INT32_MAX;
    if (nearest == 0.0f && got == 0.0f)
        return !signbit(nearest) == !signbit(got) ? 0 : INT32_MAX;
    return llabs((int64_t)order(got) - order(nearest));
}

struct tally {
    long all, not_nearest;
};

static void judge(const char *name, struct tally *tally, int64_t apart, float x, float y, float got, double due) {
    tally->all++;
    tally->not_nearest += apart != 0;
    if (apart > 1 && failures++ < 20)
        printf("%s %a %a is %a, not %a\n", name, (double)x, (double)y, (double)got, (double)(float)due);
}

static void end(const char *name, const struct tally *tally, long one_in) {
    printf("%s: %ld of %ld are the neighbour of the nearest\n", name, tally->not_nearest, tally->all);
    if (tally->not_nearest * one_in > tally->all && ++failures)
        printf("%s: too many\n", name);
}

/* Every 229th float, in order of the bits, so that all exponents, denormal numbers and NaNs are
   among them; and the special ones. */
static const uint32_t special_floats[] = {0,          0x80000000, 1,          0x80000001, 0x7f800000,
                                          0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000, 0x7f7fffff,
                                          0xff7fffff, 0x00800000, 0x42b17218, 0xc2cff1b5};
enum { SPECIAL_FLOATS = sizeof special_floats / sizeof *special_floats };
static const uint64_t regular_floats = (1ull << 32) / 229;

static float float_at(uint64_t i) {
    return of_bits(i < regular_floats ? (uint32_t)(i * 229) : special_floats[i - regular_floats]);
}

static void unary(const char *name, float (*function)(float), double (*due)(double)) {
    struct tally tally = {0, 0};
    for (uint64_t i = 0; i < regular_floats + SPECIAL_FLOATS; i++) {
        float x = float_at(i), got = function(x);
        judge(name, &tally, distance(got, due(x)), x, 0.0f, got, due(x));
    }
    end(name, &tally, 10000);
}

/* How far it is from what is due, in ulp: the distance of neighbours with `digits` digits, that of denormal numbers
   being 2^`least`. Infinite where only one of them is a finite number. */
static double ulps(long double got, long double due, int digits, int least) {
    if (isnan(due) || isnan(got) || isinf(due) || isinf(got))
        return (isnan(due) && isnan(got)) || got == due ? 0.0 : INFINITY;
    int exponent;
    frexpl(due, &exponent);
    exponent = due == 0.0L || exponent - digits < least ? least : exponent - digits;
    return (double)ldexpl(fabsl(got - due), -exponent);
}

static void tell_ulps(const char *name, double worst, double at, double most) {
    printf("%s: %.4f ulp at %a\n", name, worst, at);
    if (!(worst <= most) && ++failures)
        printf("%s: at most %.2f\n", name, most);
}

static void within(const char *name, float (*function)(float), double (*due)(double), double most) {
    double worst = 0.0, at = 0.0;
    for (uint64_t i = 0; i < regular_floats + SPECIAL_FLOATS; i++) {
        float x = float_at(i), got = function(x);
        double wide = due(x), apart = ulps(got, fabs(wide) < 0x1.ffffffp127 ? wide : (float)wide, 24, -149);
        if (apart > worst)
            worst = apart, at = x;
    }
    tell_ulps(name, worst, at, most);
}

/* Doubles of any bits; of both signs, not large; about 1; and the special ones. */
static void within_doubles(const char *name, double (*function)(double), long double (*due)(long double), double most) {
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     0x1p-1074,
                                     -0x1p-1074,
                                     1e-310,
                                     0x1p-1022,
                                     0x1.fffffffffffffp1023,
                                     709.782712893384,
                                     709.79,
                                     -708.4,
                                     -745.1,
                                     -745.2,
                                     -746.0,
                                     0x1.fffffffffffffp-1};
    enum { SPECIAL = sizeof special / sizeof *special };
    double worst = 0.0, at = 0.0;
    uint64_t state = 1;
    for (int i = 0; i < 6000000 + SPECIAL; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double unit = (double)(state >> 11) * 0x1p-53, x;
        uint64_t bits = state ^ state >> 32;
        memcpy(&x, &bits, sizeof x);
        x = i >= 6000000 ? special[i - 6000000] : i % 3 == 0 ? x : i % 3 == 1 ? 1500.0 * unit - 750.0 : 0.5 + unit;
        long double wide = due(x);
        double got = function(x), apart = ulps(got, fabsl(wide) < 0x1p1024L ? wide : (double)wide, 53, -1074);
        if (apart > worst)
            worst = apart, at = x;
    }
    tell_ulps(name, worst, at, most);
}

static void powers(void) {
    static const float special[] = {0.0f,       -0.0f,      1.0f,        -1.0f,        2.0f,  -2.0f,  3.0f,
                                    -3.0f,      0.5f,       -0.5f,       1.5f,         -1.5f, 1e-45f, -1e-45f,
                                    3e38f,      -3e38f,     16777215.0f, -16777215.0f, 1e9f,  -1e9f,  0x1p24f,
                                    1.0000001f, 0.9999999f, INFINITY,    -INFINITY,    NAN,   2.5f};
    enum { COUNT = sizeof special / sizeof *special };
    struct tally tally = {0, 0};
    for (int i = 0; i < COUNT * COUNT; i++) {
        float x = special[i / COUNT], y = special[i % COUNT], got = fcl_pow_float(x, y);
        judge("pow", &tally, distance(got, pow(x, y)), x, y, got, pow(x, y));
    }
    uint32_t state = 1;
    for (int i = 0; i < 20000000; i++) {
        float numbers[2];
        for (int k = 0; k < 2; k++) {
            state = state * 1664525u + 1013904223u;
            numbers[k] = of_bits(i % 2 ? state : (state >> 8 | 0x3f000000u) + (k && i % 4 ? 0x02000000u : 0));
        }
        float got = fcl_pow_float(numbers[0], numbers[1]);
        double due = pow(numbers[0], numbers[1]);
        judge("pow", &tally, distance(got, due), numbers[0], numbers[1], got, due);
    }
    end("pow", &tally, 10000);
}

int main(void) {
    within("exp", fcl_exp_float, exp, 0.95);
    within("exp2", fcl_exp2_float, exp2, 0.95);
    within("log", fcl_log_float, log, 0.95);
    within("log2", fcl_log2_float, log2, 0.95);
    within("log10", fcl_log10_float, log10, 0.95);
    within_doubles("exp of doubles", fcl_exp_double, expl, 0.95);
    within_doubles("log of doubles", fcl_log_double, logl, 0.95);
    unary("sinh", fcl_sinh_float, sinh);
    unary("cosh", fcl_cosh_float, cosh);
    unary("tanh", fcl_tanh_float, tanh);
    powers();
    return failures != 0;
}
