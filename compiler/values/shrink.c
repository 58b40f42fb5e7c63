/* Makes arguments small that show a failure: shorter arrays first, those of one length together, then smaller numbers,
   for as long as they still show it. */
#include <math.h>
#include <string.h>

#include "values/value.h"

struct shrinking {
    struct arena *arena;
    struct host_value **values;
    size_t count;
    bool (*still)(void *context);
    void *context;
};

/* ---- lengths ---- */

struct cut {
    int64_t extent; /* dimensions of this one lose */
    int64_t first, count;
    int dimension;     /* and they alone; -1: all */
    bool with_scalars; /* and so do integers that are equal to it */
};

static bool is_cut(struct cut cut, size_t dimension, int64_t extent) {
    return extent == cut.extent && (cut.dimension < 0 || (size_t)cut.dimension == dimension);
}

static bool is_left_out(struct cut cut, size_t dimension, int64_t extent, int64_t at) {
    return is_cut(cut, dimension, extent) && at >= cut.first && at < cut.first + cut.count;
}

static void cut_array(struct arena *arena, struct host_value *array, struct cut cut) {
    size_t rank = array->array.rank, bytes = base_size(array->array.base);
    const int64_t *before = array->array.shape;
    size_t count = (size_t)value_element_count(array), kept = 0;
    unsigned char *to = arena_alloc(arena, count * bytes + 1);
    for (size_t i = 0; i < count; i++) {
        size_t rest = i;
        bool is_kept = true;
        for (size_t d = rank; d-- > 0; rest /= (size_t)before[d])
            is_kept = is_kept && !is_left_out(cut, d, before[d], (int64_t)(rest % (size_t)before[d]));
        if (is_kept)
            memcpy(to + bytes * kept++, (const unsigned char *)array->array.data + bytes * i, bytes);
    }
    array->array.data = to;
    array->array.shape = ARENA_ARRAY(arena, int64_t, rank);
    for (size_t d = 0; d < rank; d++)
        array->array.shape[d] = is_cut(cut, d, before[d]) ? before[d] - cut.count : before[d];
}

static struct host_value *copy(struct arena *arena, const struct host_value *value) {
    struct host_value *made = ARENA_NEW(arena, struct host_value);
    *made = *value;
    if (value->kind == VALUE_ARRAY) {
        size_t bytes = (size_t)value_element_count(value) * base_size(value->array.base);
        made->array.data = arena_alloc(arena, bytes + 1);
        memcpy(made->array.data, value->array.data, bytes);
    } else if (value->kind != VALUE_SCALAR) {
        made->tuple.items = ARENA_ARRAY(arena, struct host_value *, value->tuple.count + 1);
        for (size_t i = 0; i < value->tuple.count; i++)
            made->tuple.items[i] = copy(arena, value->tuple.items[i]);
    }
    return made;
}

static bool is_size(const struct host_value *value, int64_t extent) {
    return value->kind == VALUE_SCALAR && base_info[value->scalar.base].is_integer &&
           value->scalar.value.integer == extent;
}

static void cut_value(struct arena *arena, struct host_value *value, struct cut cut) {
    if (value->kind == VALUE_ARRAY)
        cut_array(arena, value, cut);
    else if (cut.with_scalars && is_size(value, cut.extent))
        value->scalar.value.integer -= cut.count;
    else if (value->kind != VALUE_SCALAR)
        for (size_t i = 0; i < value->tuple.count; i++)
            cut_value(arena, value->tuple.items[i], cut);
}

/* The largest extent of an array below `end`; 0: there is none. */
static int64_t largest_extent(const struct host_value *value, int64_t end) {
    int64_t largest = 0;
    if (value->kind == VALUE_ARRAY) {
        for (size_t d = 0; d < value->array.rank; d++)
            if (value->array.shape[d] < end && value->array.shape[d] > largest)
                largest = value->array.shape[d];
    } else if (value->kind != VALUE_SCALAR) {
        for (size_t i = 0; i < value->tuple.count; i++) {
            int64_t one = largest_extent(value->tuple.items[i], end);
            largest = one > largest ? one : largest;
        }
    }
    return largest;
}

/* Tries with other values in the place of those from `first` up to `end`. */
static bool try_cut(struct shrinking *s, size_t first, size_t end, struct cut cut) {
    struct host_value *before[VALUE_MOST_SHRUNK];
    memcpy(before, s->values, s->count * sizeof *before);
    for (size_t i = first; i < end; i++)
        cut_value(s->arena, s->values[i] = copy(s->arena, s->values[i]), cut);
    if (s->still(s->context))
        return true;
    memcpy(s->values, before, s->count * sizeof *before);
    return false;
}

/* Cuts from the end on, by halves, quarters, … of the extent. */
static bool cut_extent(struct shrinking *s, size_t first, size_t end, int64_t extent, int dimension) {
    bool has_changed = false, has_sizes = false;
    for (size_t i = first; i < end; i++)
        has_sizes |= is_size(s->values[i], extent);
    for (int64_t count = extent; count > 0; count /= 2)
        for (int64_t at = extent - count; at >= 0; at -= count)
            if (try_cut(s, first, end, (struct cut){extent, at, count, dimension, false}) ||
                (has_sizes && try_cut(s, first, end, (struct cut){extent, at, count, dimension, true}))) {
                has_changed = true;
                extent -= count;
                at = at > extent ? extent : at;
            }
    return has_changed;
}

static bool shorten(struct shrinking *s) {
    bool has_changed = false;
    int64_t end = INT64_MAX;
    for (;;) {
        int64_t extent = 0;
        size_t holders = 0;
        for (size_t i = 0; i < s->count; i++) {
            int64_t one = largest_extent(s->values[i], end);
            extent = one > extent ? one : extent;
        }
        if (extent == 0)
            return has_changed;
        has_changed |= cut_extent(s, 0, s->count, extent, -1);
        for (size_t i = 0; i < s->count; i++)
            holders += largest_extent(s->values[i], extent + 1) == extent;
        for (size_t i = 0; i < s->count && holders > 1; i++)
            if (largest_extent(s->values[i], extent + 1) == extent)
                has_changed |= cut_extent(s, i, i + 1, extent, -1);
        for (int dimension = 0; dimension < 2 && holders > 0; dimension++)
            has_changed |= cut_extent(s, 0, s->count, extent, dimension);
        end = extent;
    }
}

/* ---- numbers ---- */

/* Small where it is easily read: 0, then 1, whole numbers, the others, those that are none. */
static double weight(enum base base, union scalar value) {
    if (!base_info[base].is_floating) {
        double number = base_info[base].is_signed ? (double)value.integer : (double)value.natural;
        return 2 * fabs(number) + (number < 0);
    }
    double x = value.floating, size = fmin(fabs(x), 1e200);
    if (!isfinite(x))
        return isnan(x) ? 4e300 : 3e300 + signbit(x) * 1e299;
    return (x == trunc(x) && size < 1e6 ? 0 : 1e7) + 2 * size + (signbit(x) != 0);
}

enum { SIMPLER = 6 };

static void simpler_than(enum base base, union scalar value, union scalar *simpler) {
    if (base_info[base].is_floating) {
        double x = value.floating;
        const double those[SIMPLER] = {0, 1, trunc(x), trunc(x / 2), -x, x - copysign(1, x)};
        for (int i = 0; i < SIMPLER; i++)
            simpler[i] = base_wrap(base, (union scalar){.floating = those[i]});
        return;
    }
    int64_t x = value.integer, sign = x < 0 && base_info[base].is_signed ? -1 : 1;
    int64_t half = base_info[base].is_signed ? x / 2 : (int64_t)(value.natural / 2);
    const uint64_t those[SIMPLER] = {
        0, 1, (uint64_t)half / 2, (uint64_t)half, 0 - (uint64_t)x, (uint64_t)x - (uint64_t)sign};
    for (int i = 0; i < SIMPLER; i++)
        simpler[i] = base_wrap(base, (union scalar){.natural = those[i]});
}

/* A number of the value whose array or scalar `node` is. */
static union scalar number_at(const struct host_value *node, size_t at) {
    return node->kind == VALUE_SCALAR ? node->scalar.value : value_get(node->array.base, node->array.data, at);
}

static void set_number(struct host_value *node, size_t at, union scalar number) {
    if (node->kind == VALUE_SCALAR)
        node->scalar.value = number;
    else
        value_set(node->array.base, node->array.data, at, number);
}

static bool simplify_number(struct shrinking *s, struct host_value *node, size_t at) {
    enum base base = node->kind == VALUE_SCALAR ? node->scalar.base : node->array.base;
    bool has_changed = false;
    for (bool goes_on = true; goes_on;) {
        union scalar before = number_at(node, at), simpler[SIMPLER];
        simpler_than(base, before, simpler);
        goes_on = false;
        for (int i = 0; i < SIMPLER && !goes_on; i++) {
            if (!(weight(base, simpler[i]) < weight(base, before)))
                continue;
            set_number(node, at, simpler[i]);
            goes_on = s->still(s->context);
            if (!goes_on)
                set_number(node, at, before);
        }
        has_changed |= goes_on;
    }
    return has_changed;
}

enum { MOST_SINGLE = 64 /* elements that are made smaller each for itself */ };

/* Zeros in place of whole parts, by halves. */
static bool clear_parts(struct shrinking *s, struct host_value *array) {
    size_t count = (size_t)value_element_count(array), bytes = base_size(array->array.base);
    bool has_changed = false;
    unsigned char *data = array->array.data, *before = arena_alloc(s->arena, count * bytes + 1);
    for (size_t part = count; part > 1; part /= 2)
        for (size_t at = 0; at < count; at += part) {
            size_t length = (at + part > count ? count - at : part) * bytes;
            unsigned char *from = data + at * bytes;
            bool is_clear = true;
            for (size_t i = 0; i < length && is_clear; i++)
                is_clear = from[i] == 0;
            if (is_clear)
                continue;
            memcpy(before, from, length);
            memset(from, 0, length);
            if (s->still(s->context))
                has_changed = true;
            else
                memcpy(from, before, length);
        }
    return has_changed;
}

static bool simplify(struct shrinking *s, struct host_value *value) {
    bool has_changed = false;
    if (value->kind == VALUE_SCALAR)
        return simplify_number(s, value, 0);
    if (value->kind == VALUE_ARRAY) {
        int64_t count = value_element_count(value);
        has_changed = clear_parts(s, value);
        for (size_t i = 0; i < (size_t)count && count <= MOST_SINGLE; i++)
            has_changed |= simplify_number(s, value, i);
        return has_changed;
    }
    for (size_t i = 0; i < value->tuple.count; i++)
        has_changed |= simplify(s, value->tuple.items[i]);
    return has_changed;
}

void value_shrink(struct arena *arena, struct host_value **values, size_t count, bool (*still)(void *context),
                  void *context) {
    struct shrinking s = {arena, values, count < VALUE_MOST_SHRUNK ? count : VALUE_MOST_SHRUNK, still, context};
    for (size_t i = 0; i < s.count; i++)
        values[i] = copy(arena, values[i]);
    for (bool has_changed = true; has_changed;) {
        has_changed = shorten(&s);
        for (size_t i = 0; i < s.count; i++)
            has_changed |= simplify(&s, values[i]);
    }
}
