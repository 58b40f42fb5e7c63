/* The table of base types, the names they are known by, and how values become theirs. */
#include "types/base.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const struct base_info base_info[BASE_COUNT] = {
#define BASE(id, name, suffix, bits, is_integer, is_signed, significand, c_type, numpy_name)                           \
    [BASE_##id] = {name,                                                                                               \
                   suffix,                                                                                             \
                   bits,                                                                                               \
                   is_integer,                                                                                         \
                   is_signed,                                                                                          \
                   significand != 0,                                                                                   \
                   {bits, significand},                                                                                \
                   significand != 0 && bits < 32,                                                                      \
                   c_type,                                                                                             \
                   numpy_name},
    BASE_TYPES(BASE)
#undef BASE
};

bool base_of_name(const char *name, enum base *base) {
    for (int i = 0; i < BASE_COUNT; i++)
        if (strcmp(base_info[i].name, name) == 0 || (*name && strcmp(base_info[i].suffix, name) == 0)) {
            *base = (enum base)i;
            return true;
        }
    *base = BASE_F16;
    return strcmp(name, "half") == 0;
}

enum base base_of_bits(enum base base) {
    switch (base_info[base].bits) {
    case 8: return BASE_U8;
    case 16: return BASE_U16;
    case 32: return BASE_U32;
    default: return BASE_U64;
    }
}

double base_of_natural(enum base base, uint64_t number) {
    if (base == BASE_F32)
        return (float)number;
    return floating_in(base_info[base].format, floating_of_natural(number));
}

double base_of_signed(enum base base, int64_t number) {
    return number < 0 ? -base_of_natural(base, 0 - (uint64_t)number) : base_of_natural(base, (uint64_t)number);
}

double base_of_floating(enum base base, double number) {
    return base_info[base].is_narrow && isnan(number) ? NAN : floating_round(base_info[base].format, number);
}

/* C's conversions to narrower integers are modulo the width on every compiler that builds this. */
union scalar base_wrap(enum base base, union scalar value) {
    const struct base_info *info = &base_info[base];
    union scalar result = {0};
    if (info->is_floating)
        result.floating = floating_round(info->format, value.floating);
    else if (base == BASE_BOOL)
        result.natural = value.natural != 0;
    else if (!info->is_signed)
        result.natural = value.natural & UINT64_MAX >> (64 - info->bits);
    else if (info->bits == 64)
        result = value;
    else {
        uint64_t sign = UINT64_C(1) << (info->bits - 1), low = value.natural & (2 * sign - 1);
        result.natural = (low ^ sign) - sign;
    }
    return result;
}
