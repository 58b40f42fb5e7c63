/* A floating-point number as it is written, rounded to each type: what is rounded to a double first may become another float. */
#ifndef FCL_SUPPORT_FLOATING_H
#define FCL_SUPPORT_FLOATING_H

struct floating {
    double as_double;
    float as_float;
};

#endif
