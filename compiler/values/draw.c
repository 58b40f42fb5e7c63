/* Random arguments for properties: of lengths 0, 1, odd and long, most of them equal to each other, with numbers that
   are small, indices of the arrays, sorted, or any with those at the edges among them. A draw is of one manner, so that
   a condition as `all isfinite xs` holds for many. */
#include <math.h>

#include "values/value.h"

enum { SMALL = 10, LARGEST_SIDE = 40 /* of a matrix */ };

static uint64_t below(struct value_draw *d, uint64_t end) { return value_random_next(&d->state) % end; }

static int64_t any_length(struct value_draw *d, size_t number) {
    static const int64_t powers[] = {32, 64, 128, 256};
    if (number < 4)
        return (int64_t)number;
    if (number % 25 == 24)
        return (int64_t)(1001 + 2 * below(d, 1500));
    switch (below(d, 8)) {
    case 0: return powers[below(d, sizeof powers / sizeof *powers)] + (int64_t)below(d, 3) - 1;
    case 1: return (int64_t)below(d, 400);
    case 2:
    case 3: return (int64_t)below(d, 40);
    default: return (int64_t)(2 * below(d, 10) + 1);
    }
}

void value_draw_begin(struct value_draw *d, size_t number) {
    static const enum value_manner manners[] = {VALUE_SMALL,  VALUE_ANY,   VALUE_SMALL,  VALUE_INDICES,
                                                VALUE_FINITE, VALUE_SMALL, VALUE_SORTED, VALUE_ANY};
    d->manner = manners[number % (sizeof manners / sizeof *manners)];
    d->length = any_length(d, number);
    d->other = number < 4 ? d->length : any_length(d, number);
}

static int64_t draw_extent(struct value_draw *d, size_t rank) {
    uint64_t which = below(d, 8);
    int64_t length = which < 6 ? d->length : which == 6 ? d->other : (int64_t)below(d, 6);
    return rank > 1 && length > LARGEST_SIDE ? length % LARGEST_SIDE + 1 : length;
}

/* ---- numbers ---- */

static union scalar small_integer(struct value_draw *d, bool is_signed) {
    uint64_t which = below(d, 6);
    if (which < 2)
        return (union scalar){.natural = which};
    return (union scalar){.integer = (int64_t)below(d, 2 * SMALL + 1) - (is_signed ? SMALL : 0)};
}

static union scalar any_integer(struct value_draw *d, const struct base_info *info) {
    uint64_t most = UINT64_MAX >> (64 - info->bits) >> info->is_signed, bits = value_random_next(&d->state);
    switch (below(d, 8)) {
    case 0: return (union scalar){.natural = most};
    case 1: return (union scalar){.natural = info->is_signed ? ~most : 0};
    case 2: return (union scalar){.natural = most - 1};
    case 3: return small_integer(d, info->is_signed);
    default: bits >>= below(d, 64);
    }
    return (union scalar){.natural = info->is_signed && below(d, 2) ? 0 - bits : bits};
}

static double small_floating(struct value_draw *d) {
    uint64_t which = below(d, 8);
    if (which < 2)
        return (double)which;
    double whole = (double)below(d, 2 * SMALL + 1) - SMALL;
    return which < 6 ? whole : whole + (double)below(d, 1 << 20) / (1 << 20);
}

static double any_floating(struct value_draw *d, const struct base_info *info) {
    uint64_t bits = value_random_next(&d->state) >> (64 - info->bits);
    double one = floating_of_bits(info->format, bits);
    bool is_finite = d->manner == VALUE_FINITE;
    int stored = info->format.significand - 1;
    uint64_t infinite = ((UINT64_C(1) << (info->bits - 1 - stored)) - 1) << stored;
    switch (below(d, 12)) {
    case 0: return is_finite ? 0 : NAN;
    case 1: return is_finite ? -1 : INFINITY;
    case 2: return is_finite ? 1 : -INFINITY;
    case 3: return -0.0;
    case 4: return floating_of_bits(info->format, 1);                     /* the smallest */
    case 5: return floating_of_bits(info->format, infinite - 1);          /* the largest */
    case 6: return floating_of_bits(info->format, UINT64_C(1) << stored); /* the smallest with all its digits */
    case 7:
    case 8: return small_floating(d);
    default: return isfinite(one) || !is_finite ? one : 0.5;
    }
}

static union scalar draw_scalar(struct value_draw *d, enum base base, bool is_element) {
    const struct base_info *info = &base_info[base];
    /* A scalar is often a size. */
    bool is_small = d->manner == VALUE_SMALL || d->manner == VALUE_SORTED || (!is_element && below(d, 3));
    union scalar value;
    if (base == BASE_BOOL)
        return (union scalar){.natural = below(d, 2)};
    if (d->manner == VALUE_INDICES && (is_element || info->is_integer)) {
        int64_t most = d->length > is_element ? d->length - is_element : 0;
        value.integer = (int64_t)below(d, (uint64_t)most + 1);
        if (info->is_floating)
            value.floating = (double)value.integer;
    } else if (info->is_floating) {
        value.floating = is_small ? small_floating(d) : any_floating(d, info);
    } else if (!is_element && below(d, 4) == 0) {
        value.integer = d->length + (int64_t)below(d, 3) - 1;
    } else {
        value = is_small ? small_integer(d, info->is_signed) : any_integer(d, info);
    }
    return base_wrap(base, value);
}

/* ---- values ---- */

static void sort_numbers(struct host_value *array) {
    enum base base = array->array.base;
    void *data = array->array.data;
    size_t count = (size_t)value_element_count(array);
    for (size_t step = count / 2; step > 0; step /= 2)
        for (size_t i = step; i < count; i++)
            for (size_t k = i; k >= step; k -= step) {
                union scalar a = value_get(base, data, k - step), b = value_get(base, data, k);
                bool is_above = base_info[base].is_floating ? a.floating > b.floating
                                : base_info[base].is_signed ? a.integer > b.integer
                                                            : a.natural > b.natural;
                if (!is_above)
                    break;
                value_set(base, data, k - step, b);
                value_set(base, data, k, a);
            }
}

static void fill(struct value_draw *d, struct host_value *array) {
    if (array->kind == VALUE_ZIPPED) {
        for (size_t i = 0; i < array->tuple.count; i++)
            fill(d, array->tuple.items[i]);
        return;
    }
    int64_t count = value_element_count(array);
    for (int64_t i = 0; i < count; i++)
        value_set(array->array.base, array->array.data, (size_t)i, draw_scalar(d, array->array.base, true));
    if (d->manner == VALUE_SORTED && array->array.rank == 1)
        sort_numbers(array);
}

struct host_value *value_draw(struct arena *arena, struct value_draw *d, struct type *type) {
    struct type *element;
    size_t rank = value_type_rank(type, &element);
    if (rank > 0) {
        int64_t shape[VALUE_MAX_RANK];
        for (size_t i = 0; i < rank; i++)
            shape[i] = rank > 2 ? draw_extent(d, rank) % (SMALL + 1) : draw_extent(d, rank);
        struct host_value *array = value_array(arena, element, rank, shape);
        fill(d, array);
        return array;
    }
    if (element->kind != TYPE_TUPLE)
        return value_scalar(arena, element->base, draw_scalar(d, element->base, false));
    struct host_value **items = ARENA_ARRAY(arena, struct host_value *, element->tuple.count);
    for (size_t i = 0; i < element->tuple.count; i++)
        items[i] = value_draw(arena, d, element->tuple.items[i]);
    return value_tuple(arena, element, items);
}
