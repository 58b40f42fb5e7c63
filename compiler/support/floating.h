/* Floating-point numbers as they are written and kept: those of all formats in doubles. */
#ifndef FCL_SUPPORT_FLOATING_H
#define FCL_SUPPORT_FLOATING_H

#include <stdint.h>

/* A binary format as IEEE 754 lays them out, no wider than a double: a sign, the exponent, and the
   significand, whose first bit is not stored but counted here. */
struct floating_format {
    int bits, significand;
};

/* A number as it is written. A number that is rounded to a double first may become another number
   of a narrower format. For narrower formats `as_odd` is rounded to odd: where the number lies
   between two doubles, that whose last bit is 1. Rounding it once more gives what rounding once
   gives. */
struct floating {
    double as_double, as_odd;
};

struct floating floating_read(const char *text, char **end);
struct floating floating_of_natural(uint64_t number);
struct floating floating_negated(struct floating number);
double floating_in(struct floating_format format, struct floating number);

enum { FLOATING_DIGITS = 40 };
/* The fewest digits that are read as this number of the format: with a point or an exponent, or nan or inf. */
const char *floating_digits(struct floating_format format, double number, char digits[FLOATING_DIGITS]);

/* To the nearest number, of two the even one. A NaN keeps its sign and the upper bits of its payload,
   whether it is quiet among them (C's conversions would make it quiet). */
double floating_round(struct floating_format format, double number);
/* The sum of a * b and c, rounded to odd. The product must be a double. */
double floating_sum_of_product(double a, double b, double c);

/* The bits of the number that `number` rounds to; and the number that bits stand for. */
uint64_t floating_bits(struct floating_format format, double number);
double floating_of_bits(struct floating_format format, uint64_t bits);

#endif
