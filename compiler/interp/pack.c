/* Flat values as rows of cells: a tuple is a cell with its width, then its items. A cell holds no pointer, so that rows
   survive the region they were made in. */
#include "interp/machine.h"

#include <stdlib.h>

#include "support/fatal.h"

size_t value_pack_width(struct value value) {
    if (value.kind == V_SCALAR || value.kind == V_UNKNOWN)
        return 1;
    if (value.kind != V_TUPLE)
        return 0;
    size_t width = 1;
    for (size_t i = 0; i < value.tuple->count; i++) {
        size_t item = value_pack_width(value.tuple->items[i]);
        if (item == 0)
            return 0;
        width += item;
    }
    return width;
}

struct value *value_pack(struct value value, struct value *cells) {
    if (value.kind != V_TUPLE) {
        *cells = value;
        cells++->wrapped = 0;
        return cells;
    }
    *cells = value;
    cells->scalar.natural = value.tuple->count;
    cells++;
    for (size_t i = 0; i < value.tuple->count; i++)
        cells = value_pack(value.tuple->items[i], cells);
    return cells;
}

struct value value_unpack(struct interp *in, const struct value **cells) {
    struct value result = *(*cells)++;
    if (result.kind != V_TUPLE)
        return result;
    size_t count = (size_t)result.scalar.natural;
    struct tuple *tuple = interp_alloc(in, sizeof *tuple + count * sizeof(struct value));
    tuple->count = count;
    for (size_t i = 0; i < count; i++)
        tuple->items[i] = value_unpack(in, cells);
    result.tuple = tuple;
    return result;
}

struct value interp_keep(struct interp *in, struct region_mark mark, struct value value) {
    size_t width = value_pack_width(value);
    if (width == 0)
        return value;
    if (width == 1) {
        region_release(in->region, mark);
        value.wrapped = 0;
        return value;
    }
    struct value few[32], *cells = few;
    if (width > sizeof few / sizeof *few) {
        cells = malloc(width * sizeof *cells);
        if (!cells)
            fatal_out_of_memory(width * sizeof *cells);
    }
    value_pack(value, cells);
    region_release(in->region, mark);
    const struct value *next = cells;
    value = value_unpack(in, &next);
    if (cells != few)
        free(cells);
    return value;
}
