/* Comparing a result with what was wanted, for test directives: exactly, or within a tolerance. */
#include "values/value.h"

#include <math.h>

struct comparer {
    struct arena *arena;
    struct value_comparison how;
    const char *why;
};

/* A few units in the last place of what is narrow. */
static double usual_tolerance(enum base base) {
    if (base_info[base].is_narrow)
        return ldexp(8, -base_info[base].format.significand);
    return base == BASE_F32 ? 1e-5 : 1e-9;
}

static bool close_enough(const struct comparer *c, enum base base, double got, double wanted) {
    if (isnan(got) || isnan(wanted))
        return isnan(got) && isnan(wanted);
    if (got == wanted)
        return true;
    if (!c->how.close || isinf(got) || isinf(wanted))
        return false;
    double tolerance = c->how.tolerance > 0 ? c->how.tolerance : usual_tolerance(base);
    return fabs(got - wanted) <= tolerance + tolerance * fabs(wanted);
}

static bool same_scalar(struct comparer *c, enum base base, union scalar got, union scalar wanted, const char *where) {
    if (base_info[base].is_floating ? close_enough(c, base, got.floating, wanted.floating)
                                    : got.natural == wanted.natural)
        return true;
    struct text text;
    text_init(&text, c->arena);
    text_add(&text, where);
    value_print_scalar(&text, base, got);
    text_add(&text, " instead of ");
    value_print_scalar(&text, base, wanted);
    c->why = text_string(&text);
    return false;
}

static const char *element_name(struct comparer *c, const struct host_value *array, size_t index, const char *where) {
    size_t rank = value_rank(array);
    if (rank == 1)
        return arena_printf(c->arena, "%selement %zu: ", where, index);
    size_t coordinates[VALUE_MAX_RANK];
    for (size_t i = rank; i-- > 0;) {
        coordinates[i] = index % (size_t)value_shape(array)[i];
        index /= (size_t)value_shape(array)[i];
    }
    struct text text;
    text_init(&text, c->arena);
    text_printf(&text, "%selement ", where);
    for (size_t i = 0; i < rank; i++)
        text_printf(&text, "[%zu]", coordinates[i]);
    text_add(&text, ": ");
    return text_string(&text);
}

/* A literal without rows, `[]`, does not say how long they would be: then any length is right. */
static bool same_shape(struct comparer *c, const struct host_value *got, const struct host_value *wanted,
                       const char *where) {
    size_t rank = value_rank(got);
    bool same = rank == value_rank(wanted);
    bool is_empty = false;
    for (size_t i = 0; same && i < rank; i++) {
        int64_t extent = value_shape(wanted)[i];
        same = value_shape(got)[i] == extent || (is_empty && extent == 0);
        is_empty |= extent == 0;
    }
    if (same)
        return true;
    struct text text;
    text_init(&text, c->arena);
    text_add(&text, where);
    for (size_t i = 0; i < rank; i++)
        text_printf(&text, "%s%lld", i ? "x" : "", (long long)value_shape(got)[i]);
    text_printf(&text, " element%s instead of ", rank == 1 && value_shape(got)[0] == 1 ? "" : "s");
    for (size_t i = 0; i < value_rank(wanted); i++)
        text_printf(&text, "%s%lld", i ? "x" : "", (long long)value_shape(wanted)[i]);
    c->why = text_string(&text);
    return false;
}

static bool same_value(struct comparer *c, const struct host_value *got, const struct host_value *wanted,
                       const char *where) {
    if (got->kind != wanted->kind) {
        c->why = arena_printf(c->arena, "%sa value of another form than the one wanted", where);
        return false;
    }
    switch (got->kind) {
    case VALUE_SCALAR: return same_scalar(c, got->scalar.base, got->scalar.value, wanted->scalar.value, where);
    case VALUE_ARRAY: {
        if (!same_shape(c, got, wanted, where))
            return false;
        enum base base = got->array.base;
        int64_t count = value_element_count(got);
        for (size_t i = 0; i < (size_t)count; i++) {
            union scalar a = value_get(base, got->array.data, i), b = value_get(base, wanted->array.data, i);
            if (!same_scalar(c, base, a, b, ""))
                return same_scalar(c, base, a, b, element_name(c, got, i, where));
        }
        return true;
    }
    case VALUE_ZIPPED:
    case VALUE_TUPLE:
        if (got->kind == VALUE_ZIPPED && !same_shape(c, got, wanted, where))
            return false;
        for (size_t i = 0; i < got->tuple.count; i++)
            if (!same_value(c, got->tuple.items[i], wanted->tuple.items[i],
                            arena_printf(c->arena, "%scomponent %zu: ", where, i + 1)))
                return false;
        return true;
    }
    return false;
}

bool value_same(struct arena *arena, const struct host_value *got, const struct host_value *wanted,
                struct value_comparison comparison, const char **why) {
    struct comparer comparer = {arena, comparison, NULL};
    bool same = same_value(&comparer, got, wanted, "");
    *why = comparer.why;
    return same;
}
