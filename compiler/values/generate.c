/* Arrays that are made up: iota, fill, random. The generator is splitmix64 (Steele, Lea and Flood, 2014), so that a
   seed gives the same numbers everywhere. Elements are drawn in order, the components of a tuple from left to right.
   Without a range integers are uniform over 0 … 999 (as far as their type reaches), floats over [0, 1). */
#include "values/value.h"

#include <math.h>

uint64_t value_random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* The leaves of an array, with what is drawn for each. */
struct leaf {
    enum base base;
    void *data;
};

static size_t leaves_of(struct host_value *array, struct leaf *leaves, size_t capacity) {
    size_t count = 0;
    if (array->kind == VALUE_ARRAY) {
        if (capacity > 0)
            leaves[0] = (struct leaf){array->array.base, array->array.data};
        return 1;
    }
    for (size_t i = 0; i < array->tuple.count; i++)
        count += leaves_of(array->tuple.items[i], leaves + count, count < capacity ? capacity - count : 0);
    return count;
}

static union scalar counted(enum base base, int64_t number) {
    union scalar value;
    if (base_info[base].is_floating)
        value.floating = (double)number;
    else
        value.integer = base == BASE_BOOL ? number & 1 : number;
    return base_wrap(base, value);
}

void value_fill_iota(struct host_value *array) {
    if (array->kind == VALUE_ZIPPED) {
        for (size_t i = 0; i < array->tuple.count; i++)
            value_fill_iota(array->tuple.items[i]);
        return;
    }
    int64_t count = value_element_count(array);
    for (int64_t i = 0; i < count; i++)
        value_set(array->array.base, array->array.data, (size_t)i, counted(array->array.base, i));
}

static size_t fill_scalars(struct host_value *array, const union scalar *leaves) {
    if (array->kind == VALUE_ZIPPED) {
        size_t used = 0;
        for (size_t i = 0; i < array->tuple.count; i++)
            used += fill_scalars(array->tuple.items[i], leaves + used);
        return used;
    }
    int64_t count = value_element_count(array);
    for (int64_t i = 0; i < count; i++)
        value_set(array->array.base, array->array.data, (size_t)i, leaves[0]);
    return 1;
}

void value_fill_scalars(struct host_value *array, const union scalar *leaves) { fill_scalars(array, leaves); }

static void default_range(enum base base, union scalar *low, union scalar *high) {
    const struct base_info *info = &base_info[base];
    if (info->is_floating) {
        low->floating = 0;
        high->floating = 1;
        return;
    }
    low->integer = 0;
    high->integer = base == BASE_BOOL ? 1 : base == BASE_I8 ? INT8_MAX : base == BASE_U8 ? UINT8_MAX : 999;
}

/* Integers include both ends; floats exclude the upper one, also where rounding to float would reach it. */
static union scalar draw(enum base base, union scalar low, union scalar high, uint64_t *state) {
    uint64_t bits = value_random_next(state);
    union scalar value;
    if (base_info[base].is_floating) {
        int digits = base_info[base].format.significand;
        double unit = ldexp((double)(bits >> (64 - digits)), -digits);
        double width = high.floating - low.floating; /* which may be more than the largest number */
        value.floating = isinf(width) ? low.floating * (1 - unit) + high.floating * unit : low.floating + width * unit;
        value = base_wrap(base, value);
        if (value.floating >= high.floating)
            value = low;
        return value;
    }
    uint64_t choices = high.natural - low.natural + 1; /* 0: all 2^64 */
    value.natural = low.natural + (choices ? bits % choices : bits);
    return base_wrap(base, value);
}

void value_fill_random(struct host_value *array, uint64_t seed, bool has_range, const union scalar *low,
                       const union scalar *high) {
    struct leaf leaves[64];
    union scalar from[64], to[64];
    size_t count = leaves_of(array, leaves, 64);
    if (count > 64)
        count = 64;
    for (size_t k = 0; k < count; k++) {
        default_range(leaves[k].base, &from[k], &to[k]);
        if (has_range) {
            from[k] = low[k];
            to[k] = high[k];
        }
    }
    int64_t elements = value_element_count(array);
    for (int64_t i = 0; i < elements; i++)
        for (size_t k = 0; k < count; k++)
            value_set(leaves[k].base, leaves[k].data, (size_t)i, draw(leaves[k].base, from[k], to[k], &seed));
}
