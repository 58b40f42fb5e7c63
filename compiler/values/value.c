/* Making host values, taking them apart, and moving scalars in and out of their data. */
#include "values/value.h"

#include <string.h>
#include <unistd.h>

#include "support/floating.h"

/* ---- elements ---- */

size_t base_size(enum base base) { return (size_t)base_info[base].bits / 8; }

union scalar value_get(enum base base, const void *data, size_t index) {
    union scalar bits = {0};
    switch (base_size(base)) {
    case 1: bits.natural = ((const uint8_t *)data)[index]; break;
    case 2: bits.natural = ((const uint16_t *)data)[index]; break;
    case 4: bits.natural = ((const uint32_t *)data)[index]; break;
    default: bits.natural = ((const uint64_t *)data)[index]; break;
    }
    if (base_info[base].is_floating)
        return (union scalar){.floating = floating_of_bits(base_info[base].format, bits.natural)};
    return base == BASE_BOOL ? bits : base_wrap(base, bits);
}

void value_set(enum base base, void *data, size_t index, union scalar value) {
    uint64_t bits = value.natural;
    if (base_info[base].is_floating)
        bits = floating_bits(base_info[base].format, value.floating);
    switch (base_size(base)) {
    case 1: ((uint8_t *)data)[index] = (uint8_t)bits; break;
    case 2: ((uint16_t *)data)[index] = (uint16_t)bits; break;
    case 4: ((uint32_t *)data)[index] = (uint32_t)bits; break;
    default: ((uint64_t *)data)[index] = bits; break;
    }
}

/* ---- making ---- */

struct host_value *value_scalar(struct arena *arena, enum base base, union scalar value) {
    struct host_value *result = ARENA_NEW(arena, struct host_value);
    result->kind = VALUE_SCALAR;
    result->scalar.base = base;
    result->scalar.value = value;
    return result;
}

struct host_value *value_tuple(struct arena *arena, struct type *type, struct host_value **items) {
    size_t count = type->tuple.count;
    struct host_value *result = ARENA_NEW(arena, struct host_value);
    result->kind = VALUE_TUPLE;
    result->tuple.items = ARENA_ARRAY(arena, struct host_value *, count);
    memcpy(result->tuple.items, items, count * sizeof *items);
    result->tuple.count = count;
    result->tuple.record = type->tuple.record;
    return result;
}

static struct host_value *array_of(struct arena *arena, struct type *element, size_t rank, const int64_t *shape,
                                   size_t count) {
    struct host_value *result = ARENA_NEW(arena, struct host_value);
    element = type_resolve(element);
    if (element->kind == TYPE_TUPLE) {
        result->kind = VALUE_ZIPPED;
        result->tuple.count = element->tuple.count;
        result->tuple.record = element->tuple.record;
        result->tuple.items = ARENA_ARRAY(arena, struct host_value *, element->tuple.count);
        for (size_t i = 0; i < element->tuple.count; i++)
            result->tuple.items[i] = array_of(arena, element->tuple.items[i], rank, shape, count);
        return result;
    }
    result->kind = VALUE_ARRAY;
    result->array.base = element->kind == TYPE_BASE ? element->base : BASE_I32;
    result->array.rank = rank;
    result->array.shape = ARENA_ARRAY(arena, int64_t, rank);
    memcpy(result->array.shape, shape, rank * sizeof *shape);
    result->array.data = arena_alloc(arena, count * base_size(result->array.base));
    return result;
}

struct host_value *value_array(struct arena *arena, struct type *element, size_t rank, const int64_t *shape) {
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)shape[i];
    return array_of(arena, element, rank, shape, count);
}

static size_t element_bytes(struct type *element) {
    element = type_resolve(element);
    size_t bytes = 0;
    if (element->kind == TYPE_TUPLE)
        for (size_t i = 0; i < element->tuple.count; i++)
            bytes += element_bytes(element->tuple.items[i]);
    else if (element->kind == TYPE_BASE)
        bytes = base_size(element->base);
    return bytes;
}

const char *value_why_too_many(struct arena *arena, const char *digits, size_t count) {
    return arena_printf(arena, "%.*s elements are too many: lengths are of type int, at most %lld", (int)count, digits,
                        (long long)VALUE_MAX_LENGTH);
}

bool value_check_shape(struct arena *arena, struct type *element, size_t rank, const int64_t *shape, int64_t *count,
                       const char **why) {
    *count = 1;
    for (size_t i = 0; i < rank; i++)
        if (shape[i] < 0) {
            *why = arena_printf(arena, "a length cannot be negative: %lld", (long long)shape[i]);
            return false;
        } else if (shape[i] > VALUE_MAX_LENGTH) {
            const char *digits = arena_printf(arena, "%lld", (long long)shape[i]);
            *why = value_why_too_many(arena, digits, strlen(digits));
            return false;
        }
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] && *count > VALUE_MAX_ELEMENTS / shape[i]) {
            *why = arena_printf(arena, "too many elements: an array has at most %lld", (long long)VALUE_MAX_ELEMENTS);
            return false;
        }
        *count *= shape[i];
    }
    double bytes = (double)*count * (double)element_bytes(element);
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (memory > 0 && bytes > memory) {
        *why = arena_printf(arena, "%lld elements need %.0f MiB, more than this machine has (%.0f MiB)",
                            (long long)*count, bytes / 1048576, memory / 1048576);
        return false;
    }
    return true;
}

/* ---- taking apart ---- */

static enum base *put_leaf_bases(struct type *element, enum base *next) {
    element = type_resolve(element);
    if (element->kind == TYPE_TUPLE)
        for (size_t i = 0; i < element->tuple.count; i++)
            next = put_leaf_bases(element->tuple.items[i], next);
    else
        *next++ = element->kind == TYPE_BASE ? element->base : BASE_I32;
    return next;
}

void value_leaf_bases(struct type *element, enum base *bases) { put_leaf_bases(element, bases); }

static struct host_value **put_leaves(struct host_value *value, struct host_value **next) {
    if (value->kind == VALUE_ZIPPED)
        for (size_t i = 0; i < value->tuple.count; i++)
            next = put_leaves(value->tuple.items[i], next);
    else
        *next++ = value;
    return next;
}

void value_leaves(struct host_value *value, struct host_value **leaves) { put_leaves(value, leaves); }

static const struct host_value *first_leaf(const struct host_value *value) {
    while (value->kind == VALUE_ZIPPED)
        value = value->tuple.items[0];
    return value;
}

size_t value_rank(const struct host_value *value) { return first_leaf(value)->array.rank; }

const int64_t *value_shape(const struct host_value *value) { return first_leaf(value)->array.shape; }

int64_t value_element_count(const struct host_value *value) {
    int64_t count = 1;
    for (size_t i = 0; i < value_rank(value); i++)
        count *= value_shape(value)[i];
    return count;
}

/* ---- types ---- */

size_t value_type_rank(struct type *type, struct type **element) {
    size_t rank = 0;
    type = type_resolve(type);
    while (type->kind == TYPE_PULL || type->kind == TYPE_PUSH) {
        rank++;
        type = type_resolve(type->array.element);
    }
    *element = type;
    return rank;
}

bool value_type_is_host(struct type *type) {
    struct type *element;
    size_t rank = value_type_rank(type, &element);
    if (rank > 0)
        return rank <= VALUE_MAX_RANK && type_is_of_scalars(element);
    if (element->kind != TYPE_TUPLE)
        return element->kind == TYPE_BASE;
    for (size_t i = 0; i < element->tuple.count; i++)
        if (!value_type_is_host(element->tuple.items[i]))
            return false;
    return true;
}

bool value_is_bytes(struct type *type) {
    struct type *element;
    return value_type_rank(type, &element) == 1 && element->kind == TYPE_BASE && element->base == BASE_U8;
}
