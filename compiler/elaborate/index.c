/* The elements of pull arrays. */
#include <math.h>
#include <string.h>

#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "ir/build/conflict.h"

/* Counts up to this come from lengths that the program knows, as those of chunks. */
enum { MOST_OF_CHUNK = 65536 };

/* In a loop that has no iterations, and is built all the same; or that may have none by numbers
   that the program knows: what is wrong there may be wrong only where there are none. */
static bool never_runs(struct elaborator *e) {
    for (const struct ir_region *region = ir_current(e->builder); region->owner; region = region->parent) {
        const struct ir_instruction *owner = region->owner;
        bool counts = owner->kind == IR_FORALL || owner->kind == IR_FOR;
        if (counts && owner->operands[0]->low < 1 && owner->operands[0]->high <= MOST_OF_CHUNK)
            return true;
    }
    return false;
}

bool elab_runs_if_reached(struct elaborator *e) {
    if (never_runs(e))
        return false;
    for (const struct ir_region *region = ir_current(e->builder); region->owner; region = region->parent)
        if (region->owner->kind == IR_IF && !IR_PART(region->owner, branch).takes_both &&
            !(IR_PART(region->owner, branch).is_split && region == region->owner->regions[0]))
            return false;
    return true;
}

/* One that loops come to for certain, and that is outside. */
static bool reject_reached(struct elaborator *e, const struct ir_value *index, const struct ir_value *length) {
    struct ir_outside found;
    if (!length->is_constant || index->is_constant || !elab_runs_for_certain(e) ||
        !ir_find_outside(e->builder, (struct ir_value *)index, length->constant.integer, &found))
        return false;
    const char *when = found.of ? arena_printf(e->arena, ", when %s is %lld", found.of->name ? found.of->name : "i",
                                               (long long)found.at)
                                : "";
    if (found.index < 0)
        elab_reject(e, DIAG_INDEX_RANGE, e->span, "index %lld is negative%s", (long long)found.index, when);
    else
        elab_reject(e, DIAG_INDEX_RANGE, e->span, "index %lld is out of range: the array has %lld %s%s",
                    (long long)found.index, (long long)length->constant.integer,
                    text_elements(length->constant.integer), when);
    return true;
}

/* True if the index is certainly out of range: for every length that is possible here, or at a value that it certainly
   takes. The function reports that. */
static bool reject_index(struct elaborator *e, const struct ir_value *index, const struct ir_value *length) {
    if (never_runs(e))
        return false;
    const char *at_least = index->is_constant ? "" : " or more", *at_most = length->is_constant ? "" : "at most ";
    bool is_at_end = index->is_constant && length->is_constant && index->low >= length->high;
    if (index->high < 0)
        elab_reject(e, DIAG_INDEX_RANGE, e->span,
                    index->is_constant ? "index %lld is negative" : "the index is negative, at most %lld",
                    (long long)index->high);
    else if (index == length && !length->is_constant && elab_runs_for_certain(e))
        elab_reject(e, DIAG_INDEX_RANGE, e->span,
                    "the index is the length of the array, whose last element is `xs ! (length xs - 1)`: `!` binds "
                    "tighter than `-`");
    else if (is_at_end || (index->low >= length->high && elab_runs_for_certain(e)))
        elab_reject(e, DIAG_INDEX_RANGE, e->span, "index %lld%s is out of range: the array has %s%lld %s",
                    (long long)index->low, at_least, at_most, (long long)length->high, text_elements(length->high));
    else
        return reject_reached(e, index, length);
    return true;
}

struct ir_value *elab_stride(struct elaborator *e, const struct pull *pull) {
    struct ir_builder *b = e->builder;
    struct ir_value *stride = ir_convert(b, ir_resolve(b, pull->memory.extents[0]), BASE_I64);
    for (size_t i = 1; i < pull->memory.extent_count; i++)
        stride = ir_binary(b, OP_MUL, stride, ir_convert(b, pull->memory.extents[i], BASE_I64));
    return stride;
}

static struct elab_value *index_memory(struct elaborator *e, struct pull *pull, struct ir_value *index) {
    struct ir_builder *b = e->builder;
    size_t inner = pull->memory.extent_count;
    if (pull->length && elab_is_none(e, pull->length)) /* see elab_checked_index */
        index = ir_int(b, 0);
    if (inner) { /* a row: the same memory, further on */
        /* Every extent is an int, their product need not be: rows begin at 64-bit offsets. */
        struct ir_value *stride = elab_stride(e, pull);
        index = ir_convert(b, index, BASE_I64);
        struct pull *row = elab_pull_new(e, PULL_MEMORY, pull->memory.extents[0]);
        row->memory = pull->memory;
        row->memory.extents++;
        row->memory.extent_count--;
        row->memory.offset = ir_binary(b, OP_MUL, index, stride);
        if (pull->memory.offset)
            row->memory.offset = ir_binary(b, OP_ADD, pull->memory.offset, row->memory.offset);
        return elab_of_pull(e, row);
    }
    struct ir_value *place = pull->order ? order_place(e, pull->order, index) : index;
    if (pull->memory.offset)
        place = ir_binary(b, OP_ADD, pull->memory.offset, ir_convert(b, place, pull->memory.offset->base));
    base_list bases = elab_bases_of(e, pull->memory.element);
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, bases.count);
    for (size_t i = 0; i < bases.count; i++)
        leaves[i] = e->shape ? NULL : elab_load(e, pull->memory.buffers[i], place);
    return elab_of_type(e, pull->memory.element, leaves);
}

struct indexing {
    struct pull *pull;
    struct ir_value *index;
    size_t from, to;  /* PULL_LIST: the items still possible */
    bool is_complete; /* each of them is asked for by some turn of a loop */
};

static struct elab_value *index_thunk(struct elaborator *e, void *context) {
    const struct indexing *indexing = context;
    return elab_index(e, indexing->pull, indexing->index);
}

/* Is it the index of a loop over as many elements? */
static bool goes_through(const struct ir_value *index, size_t count) {
    const struct ir_instruction *loop = index && !index->definition && index->region ? index->region->owner : NULL;
    return loop && (loop->kind == IR_FORALL || loop->kind == IR_FOR) && loop->parameters[0] == index &&
           loop->operands[0]->is_constant && loop->operands[0]->constant.integer == (int64_t)count;
}

/* A list at a dynamic index: a binary decision; at one that is not known, in a shape, what all have in common. */
static struct elab_value *index_list(struct elaborator *e, void *context) {
    const struct indexing *indexing = context;
    elab_count_step(e, e->span);
    struct ir_instruction *owner = ir_current(e->builder)->owner;
    bool is_part = indexing->to - indexing->from < indexing->pull->list->sequence.count;
    if (indexing->is_complete && is_part && owner->kind == IR_IF)
        IR_PART(owner, branch).takes_both = true;
    if (indexing->to - indexing->from <= 1)
        return elab_list_item(e, indexing->pull, indexing->from);
    size_t middle = indexing->from + (indexing->to - indexing->from) / 2;
    struct indexing below = *indexing, above = *indexing;
    below.to = middle;
    above.from = middle;
    struct ir_value *is_below =
        indexing->index ? ir_binary(e->builder, OP_LT, indexing->index, ir_int(e->builder, (int64_t)middle)) : NULL;
    return elab_choose(e, is_below, index_list, &below, index_list, &above);
}

/* note [tables]
   A list at an index that depends on data is a binary decision among its elements: a few
   selections, without a load. Long lists of constants become tables in the program's text, an
   array for each component. */
enum { LONGEST_DECISION = 8 };

static bool is_constant_item(struct elaborator *e, struct elab_value *item, ir_values *leaves) {
    if (!elab_is_ground(item))
        return false;
    *leaves = elab_leaves(e, item);
    for (size_t i = 0; i < leaves->count; i++)
        if (!leaves->at[i] || !leaves->at[i]->is_constant ||
            (base_info[leaves->at[i]->base].is_floating && !isfinite(leaves->at[i]->constant.floating)))
            return false;
    return true;
}

/* One for each component; none where there is no table of it. */
static struct tables *make_tables(struct elaborator *e, struct pull *list, size_t count) {
    struct tables *tables = ARENA_NEW(e->arena, struct tables);
    ir_values *items = ARENA_ARRAY(e->arena, ir_values, count);
    for (size_t i = 0; i < count; i++) {
        e->shape++; /* whatever it is, it does nothing yet */
        struct elab_value *item = elab_list_item(e, list, i);
        e->shape--;
        if (!is_constant_item(e, item, &items[i]))
            return tables;
        tables->first = tables->first ? tables->first : item;
    }
    size_t width = items[0].count;
    tables->at = ARENA_ARRAY(e->arena, struct ir_buffer *, width);
    for (size_t k = 0; k < width; k++) {
        union scalar *constants = ARENA_ARRAY(e->kept, union scalar, count);
        for (size_t i = 0; i < count; i++)
            constants[i] = items[i].at[k]->constant;
        tables->at[k] = ir_table(e->builder, items[0].at[k]->base, constants, count, e->options->table_bytes);
        if (!tables->at[k])
            return tables;
    }
    tables->count = width;
    return tables;
}

/* NULL: there is no table of it. */
static struct elab_value *index_table(struct elaborator *e, struct pull *list, struct ir_value *index, size_t count) {
    if (!index || e->shape || count <= LONGEST_DECISION)
        return NULL;
    struct tables **tables = &list->tables[ir_current(e->builder) == e->kernel->body];
    if (!*tables)
        *tables = make_tables(e, list, count);
    size_t width = (*tables)->count;
    if (width == 0)
        return NULL;
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, width);
    for (size_t k = 0; k < width; k++)
        leaves[k] = elab_load(e, (*tables)->at[k], index);
    return elab_unflatten(e, (*tables)->first, leaves);
}

/* True if the elements, or the elements of rows of rows, are known to be scalars. */
static bool is_array_of_scalars(struct type *type) {
    for (type = type_resolve(type); type->kind == TYPE_PULL;)
        type = type_resolve(type->array.element);
    return type_is_of_scalars(type);
}

/* Zeros for an element of an empty list, a row of none, in code that is built but never runs, if
   the branch's condition is right. */
static struct elab_value *index_nothing(struct elaborator *e, struct type *type) {
    type = type_resolve(type);
    if (type->kind == TYPE_PULL) {
        struct pull *row = elab_pull_new(e, PULL_LIST, ir_int(e->builder, 0));
        row->memory.element = type_resolve(type->array.element);
        return elab_of_pull(e, row);
    }
    base_list bases = elab_bases_of(e, type);
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, bases.count);
    for (size_t i = 0; i < bases.count; i++)
        leaves[i] = e->shape ? NULL : ir_constant(e->builder, bases.at[i], (union scalar){0});
    return elab_of_type(e, type, leaves);
}

/* note [asked again]
   `f (xs ! i) (xs ! i)` has an element elaborated twice, and 2^n times in n such arrays made of
   each other. So each array keeps those that were asked for, as long as no more is known than then
   (in a branch there is) and nothing was stored since; but for the chunks that note [together] in
   run.c speaks of. */
static struct elab_value *asked_before(const struct pull *pull, const struct ir_value *index) {
    if (pull->asked.index == index)
        return pull->asked.element;
    return pull->asked.others ? map_get(pull->asked.others, index) : NULL;
}

static void keep_asked(struct elaborator *e, struct pull *pull, struct ir_value *index, struct elab_value *element) {
    if (!pull->asked.index) {
        pull->asked.index = index;
        pull->asked.element = element;
        return;
    }
    if (!pull->asked.others)
        pull->asked.others = map_new(e->arena);
    map_set(pull->asked.others, index, element);
}

static struct elab_value *computed(struct elaborator *e, struct pull *pull, struct ir_value *index) {
    if (!index)
        return elab_apply(e, pull->function, pull->kind == PULL_MAP ? elab_index(e, pull->of, NULL) : elab_unknown(e));
    struct ir_builder *b = e->builder;
    const struct ir_region *here = ir_current(b);
    bool is_shared = e->together == here;
    size_t stores = is_shared ? 0 : ir_stores(b);
    index = ir_resolve(b, index);
    if (pull->asked.region != here || pull->asked.stores != stores || pull->asked.shape != e->shape) {
        memset(&pull->asked, 0, sizeof pull->asked);
        pull->asked.region = here;
        pull->asked.stores = stores;
        pull->asked.shape = e->shape;
    }
    struct elab_value *known = ir_is_volatile(b) ? NULL : asked_before(pull, index);
    if (known)
        return known;
    struct elab_value *element =
        elab_apply(e, pull->function, pull->kind == PULL_MAP ? elab_index(e, pull->of, index) : elab_scalar(e, index));
    if (pull->asked.region == here && (is_shared || pull->asked.stores == ir_stores(b)) &&
        pull->asked.shape == e->shape)
        keep_asked(e, pull, index, element);
    return element;
}

/* The row, of a large result, that is so many behind the first one: a number like the length of all rows. */
static struct ir_value *row_from(struct elaborator *e, const struct pull *pull, struct ir_value *row) {
    struct ir_builder *b = e->builder;
    struct ir_value *rows = pull->of->length ? ir_resolve(b, pull->of->length) : NULL;
    if (!rows || (!pull->first && row->base == rows->base))
        return row;
    row = ir_convert(b, row, rows->base);
    if (pull->first)
        row = ir_binary(b, OP_ADD, ir_convert(b, pull->first, rows->base), row);
    ir_assume(b, ir_binary(b, OP_LE, ir_constant(b, rows->base, (union scalar){.integer = 0}), row));
    ir_assume(b, ir_binary(b, OP_LT, row, rows));
    return row;
}

static struct elab_value *index_joined(struct elaborator *e, const struct pull *pull, struct ir_value *index) {
    struct ir_builder *b = e->builder;
    struct ir_value *i = NULL, *j = NULL;
    if (index) {
        struct ir_value *width = ir_binary(b, OP_MAX, pull->width, ir_int(b, 1));
        width = ir_convert(b, width, index->base);
        i = row_from(e, pull, ir_binary(b, OP_DIV, index, width));
        j = ir_convert(b, ir_binary(b, OP_REM, index, width), BASE_I32);
    }
    struct pull *row = elab_as_pull(e, elab_index(e, pull->of, i));
    return elab_index(e, row, elab_checked_index(e, j, row->length));
}

struct elab_value *elab_index(struct elaborator *e, struct pull *pull, struct ir_value *index) {
    switch (pull->kind) {
    case PULL_GENERATE:
    case PULL_MAP: return computed(e, pull, index);
    case PULL_MEMORY:
        if (!index && !pull->memory.extent_count)
            return elab_of_type(e, pull->memory.element, NULL);
        if (!index)
            index = ir_int(e->builder, 0); /* in a shape: all rows have one length */
        return index_memory(e, pull, index);
    case PULL_LIST: {
        size_t count = (size_t)ir_resolve(e->builder, pull->length)->constant.integer;
        if (index)
            index = ir_resolve(e->builder, index);
        if (!count && pull->memory.element && is_array_of_scalars(pull->memory.element) &&
            (!elab_runs_if_reached(e) || e->rejected.count))
            return index_nothing(e, pull->memory.element);
        if (index && index->is_constant) {
            bool is_outside = index->constant.integer < 0 || (uint64_t)index->constant.integer >= count;
            if (is_outside && count && !elab_runs_if_reached(e))
                return elab_list_item(e, pull, 0); /* never asked for, if the branch's condition is right */
            if (is_outside)
                elab_fail(e, DIAG_INDEX_RANGE, e->span, "index %lld is out of range: the array has %zu %s",
                          (long long)index->constant.integer, count, text_elements((int64_t)count));
            return elab_list_item(e, pull, (size_t)index->constant.integer);
        }
        if (!count)
            elab_fail(e, DIAG_INDEX_RANGE, e->span, "an element is asked for: the array has 0 elements (it is empty)");
        struct elab_value *element = index_table(e, pull, index, count);
        struct indexing all = {pull, index, 0, count, goes_through(index, count)};
        return element ? element : index_list(e, &all);
    }
    case PULL_JOINED: return index_joined(e, pull, index);
    case PULL_CHOICE: {
        struct elab_value *chosen = elab_choose_array(e, pull, index);
        if (chosen)
            return chosen;
        struct indexing a = {.pull = pull->then_array, .index = index}, b = {.pull = pull->else_array, .index = index};
        return elab_choose(e, pull->condition ? ir_resolve(e->builder, pull->condition) : NULL, index_thunk, &a,
                           index_thunk, &b);
    }
    case PULL_UNKNOWN:
        if (e->touched && index != e->touched->own)
            e->touched->others = true;
        return pull->memory.element ? elab_of_type(e, pull->memory.element, NULL) : elab_unknown(e);
    }
    elab_internal(e, "unknown pull array");
}

struct ir_value *elab_place(struct elaborator *e, const struct pull *pull, struct ir_value *index) {
    if (index && pull->length && !e->shape && elab_runs_if_reached(e) &&
        reject_index(e, ir_resolve(e->builder, index), ir_resolve(e->builder, pull->length)))
        return ir_int(e->builder, 0);
    return elab_checked_index(e, index, pull->length);
}
