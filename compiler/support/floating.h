/* Floating-point numbers as they are written and kept. */
#ifndef FCL_SUPPORT_FLOATING_H
#define FCL_SUPPORT_FLOATING_H

#include <stdint.h>

/* A number as it is written, rounded to each type: what is rounded to a double first may become another float. */
struct floating {
    double as_double;
    float as_float;
};

/* A `float` is kept in a double. C's conversions between the two would make NaNs quiet, so these move bits: the bits of
   the float that `number` rounds to, and the double that keeps the float of these bits. */
uint32_t floating_bits(double number);
double floating_of_bits(uint32_t bits);
/* Rounded to a float. */
double floating_single(double number);

#endif
