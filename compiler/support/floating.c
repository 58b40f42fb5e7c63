/* Rounding numbers to a format, and moving their bits in and out of doubles. */
#include "support/floating.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SINGLE = 24, DOUBLE = 53 }; /* significands that C has types for */

static uint64_t bits_of_double(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double double_of_bits(uint64_t bits) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint32_t bits_of_single(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* ---- as it is written ---- */

/* Its last bit is 1 unless it is exact: `nearer` is next to it, towards zero, or the same. */
static double to_odd(double nearer, double further) {
    return nearer == further ? nearer : double_of_bits(bits_of_double(nearer) | 1);
}

#ifdef FE_DOWNWARD

static double read_rounded(int direction, const char *text, char **end) {
    int before = fegetround();
    fesetround(direction);
    double number = strtod(text, end);
    fesetround(before);
    return number;
}

static double read_to_odd(const char *text, char **end) {
    double least = read_rounded(FE_DOWNWARD, text, end), most = read_rounded(FE_UPWARD, text, end);
    return signbit(least) ? to_odd(most, least) : to_odd(least, most);
}

#else /* as in WebAssembly, which rounds in no other direction: a wider type shows on which side the number is */

static double read_to_odd(const char *text, char **end) {
    long double wide = strtold(text, end);
    double number = (double)wide, other = nextafter(number, wide > (long double)number ? INFINITY : -INFINITY);
    if ((long double)number == wide || isinf(number))
        return number;
    return fabs(number) < fabs(other) ? to_odd(number, other) : to_odd(other, number);
}

#endif

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A decimal number as most are: the product, or quotient, of two numbers that a double holds, which is rounded once and
   whose error fma tells. False: strtod reads it. It takes a tenth of the time of that. */
static bool read_short(const char *text, char **end, struct floating *number) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MOST_DIGITS = 19, MOST_TENS = sizeof tens / sizeof *tens - 1 };
    bool is_negative = *text == '-';
    text += is_negative;
    uint64_t digits = 0;
    int count = 0, places = 0, exponent = 0;
    for (bool after_point = false;; text++) {
        if (*text == '.' && !after_point)
            after_point = true;
        else if (!is_digit(*text))
            break;
        else if (count++ == MOST_DIGITS)
            return false;
        else
            digits = digits * 10 + (uint64_t)(*text - '0'), places += after_point;
    }
    if (*text == 'e' || *text == 'E') {
        bool is_below = *++text == '-';
        text += is_below || *text == '+';
        if (!is_digit(*text))
            return false;
        for (; is_digit(*text) && exponent < 100; text++)
            exponent = exponent * 10 + (*text - '0');
        exponent = is_below ? -exponent : exponent;
    }
    exponent -= places;
    if (!count || digits >> DOUBLE || abs(exponent) > MOST_TENS || is_digit(*text) || *text == 'x' || *text == 'X')
        return false;
    double whole = (double)digits, scale = tens[abs(exponent)];
    double nearest = exponent < 0 ? whole / scale : whole * scale;
    double above = exponent < 0 ? fma(nearest, scale, -whole) : -fma(whole, scale, -nearest); /* what is right */
    double odd = above > 0   ? to_odd(nextafter(nearest, 0), nearest)
                 : above < 0 ? to_odd(nearest, nextafter(nearest, INFINITY))
                             : nearest;
    *number = is_negative ? (struct floating){-nearest, -odd} : (struct floating){nearest, odd};
    if (end)
        *end = (char *)(uintptr_t)text;
    return true;
}

struct floating floating_read(const char *text, char **end) {
    struct floating short_one;
    if (read_short(text, end, &short_one))
        return short_one;
    double odd = read_to_odd(text, end), number = strtod(text, end);
    return (struct floating){number, isnan(number) ? number : odd};
}

struct floating floating_of_natural(uint64_t number) {
    int extra = 64 - DOUBLE;
    uint64_t rest = number >> DOUBLE ? number & ((UINT64_C(1) << extra) - 1) : 0;
    uint64_t odd = rest ? (number - rest) | UINT64_C(1) << extra : number;
    return (struct floating){(double)number, (double)odd};
}

struct floating floating_negated(struct floating number) {
    return (struct floating){-number.as_double, -number.as_odd};
}

double floating_in(struct floating_format format, struct floating number) {
    return format.significand == DOUBLE ? number.as_double : floating_round(format, number.as_odd);
}

/* ---- rounding ---- */

static int exponent_bits(struct floating_format format) { return format.bits - format.significand; }

static int greatest_exponent(struct floating_format format) { return (1 << (exponent_bits(format) - 1)) - 1; }

double floating_round(struct floating_format format, double number) {
    if (number != number)
        return floating_of_bits(format, floating_bits(format, number));
    if (format.significand == DOUBLE)
        return number;
    if (format.significand == SINGLE)
        return (float)number;
    if (number == 0 || isinf(number))
        return number;
    int most = greatest_exponent(format), least = 1 - most, exponent = ilogb(number);
    double unit = ldexp(1, (exponent < least ? least : exponent) - (format.significand - 1));
    double rounded = rint(number / unit) * unit;
    return fabs(rounded) < ldexp(1, most + 1) ? rounded : copysign(INFINITY, number);
}

double floating_sum_of_product(double a, double b, double c) {
    double product = a * b, sum = product + c;
    double part = sum - product, rest = (product - (sum - part)) + (c - part);
    uint64_t bits = bits_of_double(sum);
    if (isinf(sum) || !(rest < 0 || rest > 0) || bits & 1)
        return sum;
    bool is_away = (rest > 0) == (sum > 0); /* from zero; the sum is not 0, or it would be exact */
    return double_of_bits(is_away ? bits + 1 : bits - 1);
}

/* ---- bits ---- */

struct layout {
    uint64_t sign, infinity, payload, quiet;
    int dropped; /* bits that a double's significand has more */
};

static struct layout layout_of(struct floating_format format) {
    int stored = format.significand - 1;
    uint64_t one = 1;
    return (struct layout){.sign = one << (format.bits - 1),
                           .infinity = ((one << exponent_bits(format)) - 1) << stored,
                           .payload = (one << stored) - 1,
                           .quiet = one << (stored - 1),
                           .dropped = DOUBLE - format.significand};
}

uint64_t floating_bits(struct floating_format format, double number) {
    uint64_t wide = bits_of_double(number);
    if (format.significand == DOUBLE)
        return wide;
    if (format.significand == SINGLE && number == number)
        return bits_of_single((float)number);
    struct layout layout = layout_of(format);
    uint64_t sign = wide >> 63 ? layout.sign : 0;
    if (number != number) {
        uint64_t kept = wide >> layout.dropped & layout.payload;
        return sign | layout.infinity | (kept ? kept : layout.quiet);
    }
    double size = fabs(floating_round(format, number));
    if (isinf(size))
        return sign | layout.infinity;
    int least = 1 - greatest_exponent(format), exponent = size == 0 ? least : ilogb(size);
    exponent = exponent < least ? least : exponent;
    /* The first bit of the significand adds 1 to the exponent, or there is none: a number near 0. */
    uint64_t significand = (uint64_t)ldexp(size, format.significand - 1 - exponent);
    return sign | (((uint64_t)(exponent - least) << (format.significand - 1)) + significand);
}

double floating_of_bits(struct floating_format format, uint64_t bits) {
    if (format.significand == DOUBLE)
        return double_of_bits(bits);
    struct layout layout = layout_of(format);
    uint64_t sign = bits & layout.sign ? UINT64_C(1) << 63 : 0, payload = bits & layout.payload;
    if ((bits & layout.infinity) == layout.infinity)
        return double_of_bits(sign | UINT64_C(0x7ff) << (DOUBLE - 1) | payload << layout.dropped);
    int least = 1 - greatest_exponent(format);
    int exponent = (int)((bits & layout.infinity) >> (format.significand - 1));
    uint64_t significand = exponent ? payload | (layout.payload + 1) : payload;
    double size = ldexp((double)significand, least + (exponent ? exponent - 1 : 0) - (format.significand - 1));
    return sign ? -size : size;
}

/* ---- and to be written ---- */

const char *floating_digits(struct floating_format format, double number, char digits[FLOATING_DIGITS]) {
    enum { MOST_DIGITS = 17 };
    for (int precision = 1; precision <= MOST_DIGITS; precision++) {
        snprintf(digits, FLOATING_DIGITS, "%.*g", precision, number);
        if (isnan(number) || floating_in(format, floating_read(digits, NULL)) == number)
            break;
    }
    if (isfinite(number) && !strpbrk(digits, ".e"))
        strcat(digits, ".0");
    return digits;
}
