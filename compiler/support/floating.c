/* Floats in doubles: a NaN keeps its sign and its upper bits, whether it is quiet among them. */
#include "support/floating.h"

#include <string.h>

enum { KEPT_BELOW = 29 }; /* a double's mantissa has that many bits more */
static const uint32_t infinity = 0x7f800000, mantissa = 0x007fffff, quiet = 0x00400000;

uint32_t floating_bits(double number) {
    if (number == number) {
        float single = (float)number;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        return bits;
    }
    uint64_t wide;
    memcpy(&wide, &number, sizeof wide);
    uint32_t kept = (uint32_t)(wide >> KEPT_BELOW) & mantissa;
    return (uint32_t)(wide >> 32 & 0x80000000) | infinity | (kept ? kept : quiet);
}

double floating_of_bits(uint32_t bits) {
    if ((bits & infinity) != infinity || !(bits & mantissa)) {
        float single;
        memcpy(&single, &bits, sizeof single);
        return single;
    }
    uint64_t wide =
        (uint64_t)(bits & 0x80000000) << 32 | (uint64_t)0x7ff << 52 | (uint64_t)(bits & mantissa) << KEPT_BELOW;
    double number;
    memcpy(&number, &wide, sizeof number);
    return number;
}

double floating_single(double number) {
    return number == number ? (float)number : floating_of_bits(floating_bits(number));
}
