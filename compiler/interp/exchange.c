/* The kernel's border: host values become interpreter values, results become host values. */
#include "interp/machine.h"

struct value interp_import(struct interp *in, const struct host_value *value) {
    switch (value->kind) {
    case VALUE_SCALAR: return scalar_of(value->scalar.base, value->scalar.value);
    case VALUE_ARRAY:
    case VALUE_ZIPPED: {
        struct interp_pull *pull = INTERP_NEW(in, struct interp_pull);
        *pull = (struct interp_pull){.kind = INTERP_PULL_HOST, .length = value_shape(value)[0], .host = value};
        return pull_of(pull);
    }
    case VALUE_TUPLE: break;
    }
    struct value *items = interp_alloc(in, value->tuple.count * sizeof *items);
    for (size_t i = 0; i < value->tuple.count; i++)
        items[i] = interp_import(in, value->tuple.items[i]);
    return tuple_of(in, items, value->tuple.count);
}

/* ---- results ---- */

static void export_element(struct host_value *array, size_t index, struct value value) {
    if (array->kind == VALUE_ARRAY)
        value_set(array->array.base, array->array.data, index, value.scalar);
    else
        for (size_t i = 0; i < array->tuple.count; i++)
            export_element(array->tuple.items[i], index, value.tuple->items[i]);
}

/* True if the result has no elements, and the row and all in it have the lengths that they should have, without an
   error: nothing else of such a row is computed. */
static bool is_empty_row(struct interp *in, const struct host_value *array, size_t depth,
                         const struct interp_pull *rows, int64_t row, struct span span) {
    size_t rank = value_rank(array) - depth - 1;
    int64_t lengths[VALUE_MAX_RANK];
    if (!rank || value_element_count(array))
        return false;
    interp_lengths(in, rows, row, rank, lengths, span);
    return interp_are_same(lengths, value_shape(array) + depth + 1, rank);
}

static void export_rows(struct interp *in, struct host_value *array, size_t depth, size_t *next,
                        const struct interp_pull *pull, struct span span) {
    int64_t length = value_shape(array)[depth];
    if (pull->length != length)
        interp_fail(in, DIAG_UNEQUAL_ROWS, span,
                    "a row of the result has %lld %s, and the first %lld: rows must be equally long",
                    (long long)pull->length, text_elements(pull->length), (long long)length);
    struct place_in place = {"element", 0, in->place};
    in->place = &place;
    for (int64_t i = 0; i < length; i++) {
        struct region_mark mark = region_here(in->region);
        place.index = i;
        if (is_empty_row(in, array, depth, pull, i, span))
            continue;
        struct value element = pull_element(in, pull, i, span);
        if (depth + 1 < value_rank(array))
            export_rows(in, array, depth + 1, next, element.pull, span);
        else
            export_element(array, (*next)++, element);
        region_release(in->region, mark);
    }
    in->place = place.outer;
}

static struct host_value *export_array(struct interp *in, struct value value, struct type *element, size_t rank,
                                       struct span span) {
    const struct interp_pull *pull =
        value.kind == V_PUSH ? store_finish(in, store_run(in, value.push, span)).pull : value.pull;
    int64_t shape[VALUE_MAX_RANK] = {pull->length}, count;
    const char *why;
    size_t next = 0;
    interp_columns(in, pull, rank - 1, shape + 1, span);
    if (!value_check_shape(in->arena, element, rank, shape, &count, &why))
        interp_fail(in, DIAG_ARRAY_TOO_LARGE, span, "the result is too large: %s", why);
    struct host_value *array = value_array(in->arena, element, rank, shape);
    export_rows(in, array, 0, &next, pull, span);
    return array;
}

/* The elements of a result are computed by threads. */
struct host_value *interp_export(struct interp *in, struct value value, struct type *type, struct span span) {
    in->loc = LEVEL_THREAD;
    struct type *element;
    size_t rank = value_type_rank(type, &element);
    if (rank > 0)
        return export_array(in, value, element, rank, span);
    if (value.kind == V_SCALAR)
        return value_scalar(in->arena, (enum base)value.base, value.scalar);
    struct host_value **items = ARENA_ARRAY(in->arena, struct host_value *, value.tuple->count);
    for (size_t i = 0; i < value.tuple->count; i++)
        items[i] = interp_export(in, value.tuple->items[i], element->tuple.items[i], span);
    return value_tuple(in->arena, element, items);
}
