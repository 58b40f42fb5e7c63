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
static void unary(const char *name, float (*function)(float), double (*due)(double)) {
    static const uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x7f800000,
                                       0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000, 0x7f7fffff,
                                       0xff7fffff, 0x00800000, 0x42b17218, 0xc2cff1b5};
    const uint64_t regular = (1ull << 32) / 229;
    struct tally tally = {0, 0};
    for (uint64_t i = 0; i < regular + sizeof special / sizeof *special; i++) {
        float x = of_bits(i < regular ? (uint32_t)(i * 229) : special[i - regular]);
        float got = function(x);
        judge(name, &tally, distance(got, due(x)), x, 0.0f, got, due(x));
    }
    end(name, &tally, 10000);
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
    unary("exp", fcl_exp_float, exp);
    unary("exp2", fcl_exp2_float, exp2);
    unary("log", fcl_log_float, log);
    unary("log2", fcl_log2_float, log2);
    unary("log10", fcl_log10_float, log10);
    unary("sinh", fcl_sinh_float, sinh);
    unary("cosh", fcl_cosh_float, cosh);
    unary("tanh", fcl_tanh_float, tanh);
    powers();
    return failures != 0;
}
