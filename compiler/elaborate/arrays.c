/* Pull and push arrays: their constructors, indexing and lengths. Nothing here emits a loop. */
#include <math.h>
#include <string.h>

#include "elaborate/value.h"

static struct pull *new_pull(struct elaborator *e, enum pull_kind kind, struct ir_value *length) {
    struct pull *pull = ARENA_NEW(e->arena, struct pull);
    pull->kind = kind;
    pull->length = length;
    return pull;
}

struct push *elab_push_new(struct elaborator *e, enum push_kind kind, enum level_value level) {
    struct push *push = ARENA_NEW(e->arena, struct push);
    push->kind = kind;
    push->level = level;
    push->span = e->span;
    push->made_at = elab_users_span(e, e->span);
    return push;
}

struct type *elab_type(struct elaborator *e, const struct instance *instance, size_t index) {
    if (!instance || index >= instance->scheme->type_count)
        elab_internal(e, "a primitive's type variable is missing");
    return instance->types[index];
}

enum level_value elab_level(struct elaborator *e, const struct instance *instance, size_t index) {
    if (!instance || index >= instance->scheme->level_count || instance->levels[index] == LEVEL_PURE)
        elab_internal(e, "a primitive's level variable is missing");
    return instance->levels[index];
}

/* ---- indexing ---- */

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

/* No branch decides about the current place: what goes wrong here goes wrong whenever there is
   anything to do at all, or a whole chunk of it. */
static bool runs_if_reached(struct elaborator *e) {
    if (never_runs(e))
        return false;
    for (const struct ir_region *region = ir_current(e->builder); region->owner; region = region->parent)
        if (region->owner->kind == IR_IF && !region->owner->takes_both &&
            !(region->owner->is_split && region == region->owner->regions[0]))
            return false;
    return true;
}

/* Whatever the arguments: in no branch, and in no loop that may have no iterations. */
bool elab_runs_for_certain(struct elaborator *e) {
    for (const struct ir_region *region = ir_current(e->builder); region->owner; region = region->parent) {
        const struct ir_instruction *owner = region->owner;
        bool counts = owner->kind == IR_FORALL || owner->kind == IR_FOR;
        if (!counts || owner->operands[0]->low < 1)
            return false;
    }
    return true;
}

/* Whether the index is outside of any array that there can be here, which is told. */
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
                    "the index is the length of the array, whose last element is one place before");
    else if (is_at_end || (index->low >= length->high && elab_runs_for_certain(e)))
        elab_reject(e, DIAG_INDEX_RANGE, e->span, "index %lld%s is out of range: the array has %s%lld %s",
                    (long long)index->low, at_least, at_most, (long long)length->high, text_elements(length->high));
    else
        return false;
    return true;
}

static struct elab_value *index_memory(struct elaborator *e, struct pull *pull, struct ir_value *index) {
    struct ir_builder *b = e->builder;
    size_t inner = pull->memory.extent_count;
    if (inner) { /* a row: the same memory, further on */
        /* Every extent is an int, their product need not be: rows begin at 64-bit offsets. */
        struct ir_value *stride = ir_convert(b, ir_resolve(b, pull->memory.extents[0]), BASE_I64);
        for (size_t i = 1; i < inner; i++)
            stride = ir_binary(b, OP_MUL, stride, ir_convert(b, pull->memory.extents[i], BASE_I64));
        index = ir_convert(b, index, BASE_I64);
        struct pull *row = new_pull(e, PULL_MEMORY, pull->memory.extents[0]);
        row->memory = pull->memory;
        row->memory.extents++;
        row->memory.extent_count--;
        row->memory.offset = ir_binary(b, OP_MUL, index, stride);
        if (pull->memory.offset)
            row->memory.offset = ir_binary(b, OP_ADD, pull->memory.offset, row->memory.offset);
        return elab_of_pull(e, row);
    }
    struct ir_value *place = index;
    if (pull->memory.offset)
        place = ir_binary(b, OP_ADD, pull->memory.offset, ir_convert(b, index, pull->memory.offset->base));
    base_list bases = {0};
    elab_leaf_bases(e, pull->memory.element, &bases);
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, bases.count);
    for (size_t i = 0; i < bases.count; i++)
        leaves[i] = e->shape ? NULL : elab_load(e, pull->memory.buffers[i], place);
    size_t next = 0;
    return elab_of_type(e, pull->memory.element, leaves, &next);
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
    if (indexing->is_complete && indexing->to - indexing->from < indexing->pull->list->sequence.count)
        ir_current(e->builder)->owner->takes_both = true;
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
    elab_flatten(e, item, leaves);
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
    size_t width = (*tables)->count, next = 0;
    if (width == 0)
        return NULL;
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, width);
    for (size_t k = 0; k < width; k++)
        leaves[k] = elab_load(e, (*tables)->at[k], index);
    return elab_unflatten(e, (*tables)->first, leaves, &next);
}

/* Scalars, tuples of these, or rows of such. */
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
        struct pull *row = new_pull(e, PULL_LIST, ir_int(e->builder, 0));
        row->memory.element = type_resolve(type->array.element);
        return elab_of_pull(e, row);
    }
    base_list bases = {0};
    elab_leaf_bases(e, type, &bases);
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, bases.count);
    for (size_t i = 0; i < bases.count; i++)
        leaves[i] = e->shape ? NULL : ir_constant(e->builder, bases.at[i], (union scalar){0});
    size_t next = 0;
    return elab_of_type(e, type, leaves, &next);
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

struct elab_value *elab_index(struct elaborator *e, struct pull *pull, struct ir_value *index) {
    switch (pull->kind) {
    case PULL_GENERATE:
    case PULL_MAP: return computed(e, pull, index);
    case PULL_MEMORY:
        if (!index && !pull->memory.extent_count) {
            size_t next = 0;
            base_list bases = {0};
            elab_leaf_bases(e, pull->memory.element, &bases);
            return elab_of_type(e, pull->memory.element, ARENA_ARRAY(e->arena, struct ir_value *, bases.count), &next);
        }
        if (!index)
            index = ir_int(e->builder, 0); /* in a shape: all rows have one length */
        return index_memory(e, pull, index);
    case PULL_LIST: {
        size_t count = (size_t)ir_resolve(e->builder, pull->length)->constant.integer;
        if (index)
            index = ir_resolve(e->builder, index);
        if (!count && pull->memory.element && is_array_of_scalars(pull->memory.element) &&
            (!runs_if_reached(e) || e->rejected.count))
            return index_nothing(e, pull->memory.element);
        if (index && index->is_constant) {
            bool is_outside = index->constant.integer < 0 || (uint64_t)index->constant.integer >= count;
            if (is_outside && count && !runs_if_reached(e))
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
    case PULL_JOINED: {
        struct ir_builder *b = e->builder;
        struct ir_value *width = index ? ir_binary(b, OP_MAX, pull->width, ir_int(b, 1)) : NULL;
        struct ir_value *i = index ? ir_binary(b, OP_DIV, index, width) : NULL;
        struct pull *row = elab_as_pull(e, elab_index(e, pull->of, i));
        struct ir_value *j = index ? ir_binary(b, OP_REM, index, width) : NULL;
        return elab_index(e, row, elab_checked_index(e, j, row->length));
    }
    case PULL_CHOICE: {
        struct elab_value *chosen = elab_choose_array(e, pull, index);
        if (chosen)
            return chosen;
        struct indexing a = {.pull = pull->then_array, .index = index}, b = {.pull = pull->else_array, .index = index};
        return elab_choose(e, pull->condition ? ir_resolve(e->builder, pull->condition) : NULL, index_thunk, &a,
                           index_thunk, &b);
    }
    case PULL_UNKNOWN: {
        if (e->touched && index != e->touched->own)
            e->touched->others = true;
        if (!pull->memory.element)
            return elab_unknown(e);
        base_list bases = {0};
        elab_leaf_bases(e, pull->memory.element, &bases);
        size_t next = 0;
        return elab_of_type(e, pull->memory.element, ARENA_ARRAY(e->arena, struct ir_value *, bases.count), &next);
    }
    }
    elab_internal(e, "unknown pull array");
}

/* ---- lengths of push arrays ---- */

struct last_chunk {
    struct push *push;
    struct ir_value *count;
    struct ir_buffer *measured; /* where its length is, which depends on data; or NULL */
};

static struct ir_value *length_of_last(struct elaborator *e, const struct last_chunk *last) {
    struct ir_value *index = ir_binary(e->builder, OP_SUB, last->count, ir_int(e->builder, 1));
    return elab_push_length(e, elab_as_push(e, elab_index(e, last->push->array, index)));
}

static struct elab_value *some_chunks(struct elaborator *e, void *context) {
    const struct last_chunk *last = context;
    struct ir_builder *b = e->builder;
    struct ir_value *size = last->push->chunk_size, *length = NULL;
    if (last->measured)
        length = elab_not_negative(e, ir_load(b, last->measured, ir_int(b, 0)));
    else
        length = length_of_last(e, last);
    if (last->measured && last->push->is_capped)
        length = ir_binary(b, OP_MIN, length, size);
    if (!length || !size)
        return elab_unknown(e);
    struct ir_value *before = ir_binary(b, OP_SUB, last->count, ir_int(b, 1));
    struct ir_value *zero = ir_int(b, 0), *most = ir_int(b, INT32_MAX);
    bool is_hosts = ir_ambient(b) == LEVEL_GRID && e->shape == 1;
    if (is_hosts) {
        struct ir_value *fit = ir_binary(b, OP_DIV, most, ir_binary(b, OP_MAX, size, ir_int(b, 1)));
        elab_require_push(e, last->push, CHECK_MANY_CHUNKS, ir_binary(b, OP_LE, before, fit), last->count, size);
    }
    before = ir_binary(b, OP_MUL, before, size);
    struct ir_value *whole = ir_binary(b, OP_ADD, before, length);
    if (is_hosts)
        elab_require_push(e, last->push, CHECK_LONG, ir_binary(b, OP_LE, zero, whole), before, length);
    return elab_scalar(e, whole);
}

static struct elab_value *no_chunks(struct elaborator *e, void *context) {
    (void)context;
    return elab_scalar(e, ir_int(e->builder, 0));
}

static void measure_chunk(struct elaborator *e, void *context) {
    const struct last_chunk *last = context;
    enum level_value level = last->push->chunk_level;
    struct ir_value *length = length_of_last(e, last);
    if (!length)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span, "the length of what is put together here depends on data");
    struct ir_value *one = elab_begin_threads(e, level, ir_int(e->builder, 1));
    ir_store(e->builder, last->measured, ir_int(e->builder, 0), length);
    elab_end_threads(e, level, one);
}

/* Computes the last chunk, if there is one, up to where its length is known. */
static void measure_last(struct elaborator *e, struct last_chunk *last) {
    struct ir_builder *b = e->builder;
    struct push *push = last->push;
    push->is_capped = push->level != LEVEL_GRID; /* where memory wants a bound */
    last->measured = elab_one_int(e, push->level, "measured_length");
    struct ir_value *at_most_one = ir_binary(b, OP_MIN, last->count, ir_int(b, 1));
    struct blocks_run nothing_before = {.is_measured = true}, *blocks = e->blocks;
    e->blocks = &nothing_before;
    if (push->chunk_level == push->level)
        ir_begin_for(b, at_most_one, NULL, 0, "chunk");
    else
        ir_begin_forall(b, push->level, push->chunk_level, at_most_one, "chunk");
    elab_with_split(e, measure_chunk, last);
    if (push->chunk_level == push->level)
        ir_end_for(b, NULL, NULL);
    else
        ir_end_forall(b);
    e->blocks = blocks;
}

static struct ir_value *length_of_chunks(struct elaborator *e, struct push *push) {
    struct ir_builder *b = e->builder;
    struct ir_value *count = push->array->length;
    if (!count)
        return NULL;
    struct ir_value *whole = push->chunk_size ? elab_parts_length(e, push->array, push->chunk_size) : NULL;
    if (whole)
        return whole;
    struct last_chunk last = {.push = push, .count = ir_resolve(b, count)};
    struct ir_value *some = ir_binary(b, OP_LT, ir_int(b, 0), last.count);
    for (;;) {
        e->shape++;
        struct ir_value *length = elab_as_scalar(e, elab_choose(e, some, some_chunks, &last, no_chunks, NULL));
        e->shape--;
        if (length || e->shape || !push->chunk_size || last.measured || ir_ambient(b) != push->level)
            return elab_not_negative(e, length);
        measure_last(e, &last);
    }
}

static struct ir_value *compute_length(struct elaborator *e, struct push *push) {
    struct ir_builder *b = e->builder;
    switch (push->kind) {
    case PUSH_PULL:
    case PUSH_SCANL:
    case PUSH_REDUCE:
    case PUSH_RANKS:
    case PUSH_SCATTER: return push->array->length;
    case PUSH_MAP:
    case PUSH_PERMUTE:
    case PUSH_SHUFFLE: return elab_push_length(e, push->of);
    case PUSH_APPEND: {
        struct ir_value *x = elab_push_length(e, push->of), *y = elab_push_length(e, push->second);
        if (!x || !y)
            return NULL;
        struct ir_value *whole = ir_binary(b, OP_ADD, x, y);
        if (ir_ambient(b) == LEVEL_GRID && !e->shape)
            elab_require_push(e, push, CHECK_LONG, ir_binary(b, OP_LE, ir_int(b, 0), whole), x, y);
        return whole;
    }
    case PUSH_CHOICE: {
        struct ir_value *x = elab_push_length(e, push->of), *y = elab_push_length(e, push->second);
        return elab_choose_length(e, push->condition, x, y);
    }
    case PUSH_INTO:
    case PUSH_EACH:
    case PUSH_SEQFOR: return push->total;
    case PUSH_BUCKETS: return push->pairs->length;
    case PUSH_CHUNKS: return push->total ? push->total : length_of_chunks(e, push);
    }
    elab_internal(e, "unknown push array");
}

struct ir_value *elab_push_length(struct elaborator *e, struct push *push) {
    struct ir_builder *b = e->builder;
    if (!push->length_known || !ir_region_inside(ir_current(b), push->length_region)) {
        push->length = compute_length(e, push);
        push->length_region = ir_current(b);
        push->length_known = true;
    }
    return push->length ? ir_resolve(b, push->length) : NULL;
}

struct ir_value *elab_length(struct elaborator *e, struct elab_value *array) {
    return array->kind == ELAB_PUSH ? elab_push_length(e, array->push) : elab_as_pull(e, array)->length;
}

struct push *elab_push_of_pull(struct elaborator *e, enum level_value level, struct pull *pull) {
    struct push *push = elab_push_new(e, PUSH_PULL, level);
    push->array = pull;
    return push;
}

/* ---- primitives ---- */

PRIMITIVE(GENERATE) {
    struct pull *pull = new_pull(e, PULL_GENERATE, elab_given_length(e, arguments[0]));
    pull->function = arguments[1];
    return elab_of_pull(e, pull);
}

PRIMITIVE(LENGTH) { return elab_scalar(e, elab_as_pull(e, arguments[0])->length); }

static struct elab_value *columns_of_first(struct elaborator *e, void *rows) {
    return elab_scalar(e, elab_length(e, elab_index(e, rows, ir_int(e->builder, 0))));
}

static struct elab_value *no_columns(struct elaborator *e, void *context) {
    (void)context;
    return elab_scalar(e, ir_int(e->builder, 0));
}

PRIMITIVE(COLUMNS) {
    struct pull *rows = elab_as_pull(e, arguments[0]);
    struct ir_value *columns;
    if (elab_columns(e, rows, 2, &columns))
        return elab_scalar(e, columns);
    if (e->shape || !rows->length)
        return elab_unknown(e);
    struct ir_value *is_some = ir_binary(e->builder, OP_LT, ir_int(e->builder, 0), rows->length);
    return elab_choose(e, is_some, columns_of_first, rows, no_columns, NULL);
}

PRIMITIVE(LENGTH_PULL) { return elab_LENGTH(e, primitive, instance, arguments); }

PRIMITIVE(ELEMENT_BYTES) {
    base_list bases = {0};
    elab_leaf_bases(e, elab_type(e, instance, 0), &bases);
    return elab_scalar(e, ir_int(e->builder, elab_bits(&bases) / 8));
}

PRIMITIVE(COMMUTES) {
    const struct elab_value *f = arguments[0];
    bool commutes = f->kind == ELAB_CLOSURE ? core_commutes(e->arena, f->closure.lambda)
                                            : f->kind == ELAB_PRIMITIVE && !f->primitive.count &&
                                                  core_commutes_primitive(f->primitive.primitive);
    return elab_scalar(e, ir_bool(e->builder, commutes));
}

PRIMITIVE(NO_GROUPS) {
    struct ir_builder *b = e->builder;
    struct ir_value *n = elab_as_scalar(e, arguments[0]);
    elab_hold(e, CHECK_GROUP, ir_bool(b, false), n, n, e->span);
    return elab_scalar(e, ir_int(b, 0));
}

PRIMITIVE(LENGTH_PUSH) { return elab_scalar(e, elab_push_length(e, elab_as_push(e, arguments[0]))); }

struct ir_value *elab_combined_length(struct elaborator *e, enum ir_op op, enum ir_check check, struct ir_value *x,
                                      struct ir_value *y) {
    struct ir_builder *b = e->builder;
    if (!x || !y)
        return NULL;
    struct ir_value *exact = ir_binary(b, op, ir_convert(b, x, BASE_I64), ir_convert(b, y, BASE_I64));
    struct ir_value *fits = ir_binary(b, OP_LE, exact, ir_convert(b, ir_int(b, INT32_MAX), BASE_I64));
    struct ir_value *length = ir_binary(b, op, x, y);
    if (ir_ambient(b) == LEVEL_GRID && !e->shape)
        elab_require(e, check, fits, x, y, e->span);
    else
        elab_check(e, check, fits, x, y, e->span);
    if (ir_ambient(b) == LEVEL_GRID && !e->shape && x->low >= 0 && y->low >= 0 && !length->is_constant)
        ir_bound(length, 0, INT32_MAX); /* else the host has ended the run */
    return length;
}

static struct elab_value *combined_length(struct elaborator *e, enum ir_op op, enum ir_check check,
                                          struct elab_value **arguments) {
    struct ir_value *x = elab_as_scalar(e, arguments[0]), *y = elab_as_scalar(e, arguments[1]);
    return elab_scalar(e, elab_combined_length(e, op, check, x, y));
}

PRIMITIVE(LENGTH_PLUS) { return combined_length(e, OP_ADD, CHECK_LONG, arguments); }

PRIMITIVE(LENGTH_TIMES) { return combined_length(e, OP_MUL, CHECK_MANY_TIMES, arguments); }

struct ir_value *elab_place(struct elaborator *e, const struct pull *pull, struct ir_value *index) {
    if (index && pull->length && !e->shape && runs_if_reached(e) &&
        reject_index(e, ir_resolve(e->builder, index), ir_resolve(e->builder, pull->length)))
        return ir_int(e->builder, 0);
    return elab_checked_index(e, index, pull->length);
}

PRIMITIVE(INDEX) {
    struct pull *pull = elab_as_pull(e, arguments[0]);
    struct ir_value *index = elab_as_scalar(e, arguments[1]);
    return elab_index(e, pull, elab_place(e, pull, index));
}

PRIMITIVE(INDEX_OPERATOR) { return elab_INDEX(e, primitive, instance, arguments); }

PRIMITIVE(MAP) {
    struct pull *of = elab_as_pull(e, arguments[1]);
    struct pull *pull = new_pull(e, PULL_MAP, of->length);
    pull->function = arguments[0];
    pull->of = of;
    return elab_of_pull(e, pull);
}

PRIMITIVE(MAP_PULL) { return elab_MAP(e, primitive, instance, arguments); }

static struct elab_value *map_push(struct elaborator *e, struct elab_value **arguments, bool with_index) {
    struct push *of = elab_as_push(e, arguments[1]);
    struct push *push = elab_push_new(e, PUSH_MAP, of->level);
    push->function = arguments[0];
    push->of = of;
    push->with_index = with_index;
    return elab_of_push(e, push);
}

PRIMITIVE(MAP_PUSH) { return map_push(e, arguments, false); }

PRIMITIVE(MAP_PUSH_IX) { return map_push(e, arguments, true); }

PRIMITIVE(PUSH) {
    return elab_of_push(e, elab_push_of_pull(e, elab_level(e, instance, 0), elab_as_pull(e, arguments[0])));
}

static struct push *chunks(struct elaborator *e, const struct instance *instance, bool sequential,
                           struct elab_value *array) {
    enum level_value inner = elab_level(e, instance, 0);
    struct push *push = elab_push_new(e, PUSH_CHUNKS, sequential ? inner : elab_level(e, instance, 1));
    push->chunk_level = inner;
    push->array = elab_as_pull(e, array);
    return push;
}

PRIMITIVE(CONCAT) {
    struct push *push = chunks(e, instance, false, arguments[1]);
    push->chunk_size = elab_chunk_size(e, arguments[0]);
    return elab_of_push(e, push);
}

PRIMITIVE(CONCAT_SEQ) {
    struct push *push = chunks(e, instance, true, arguments[1]);
    push->chunk_size = elab_chunk_size(e, arguments[0]);
    return elab_of_push(e, push);
}

static struct elab_value *interleaved(struct elaborator *e, const struct instance *instance, bool sequential,
                                      struct elab_value **arguments) {
    struct push *push = chunks(e, instance, sequential, arguments[2]);
    push->chunk_size = elab_chunk_size(e, arguments[0]);
    push->function = arguments[1];
    return elab_of_push(e, push);
}

PRIMITIVE(INTERLEAVE) { return interleaved(e, instance, false, arguments); }

PRIMITIVE(INTERLEAVE_SEQ) { return interleaved(e, instance, true, arguments); }

PRIMITIVE(INTERLEAVE_INTO) {
    struct push *push = chunks(e, instance, false, arguments[2]);
    push->total = elab_given_length(e, arguments[0]);
    push->function = arguments[1];
    return elab_of_push(e, push);
}

PRIMITIVE(APPEND) {
    struct push *a = elab_as_push(e, arguments[0]);
    struct push *push = elab_push_new(e, PUSH_APPEND, a->level);
    push->of = a;
    push->second = elab_as_push(e, arguments[1]);
    return elab_of_push(e, push);
}

PRIMITIVE(PERMUTE) {
    struct push *of = elab_as_push(e, arguments[1]);
    struct push *push = elab_push_new(e, PUSH_PERMUTE, of->level);
    push->function = arguments[0];
    push->of = of;
    return elab_of_push(e, push);
}

PRIMITIVE(PERMUTE_INTO) {
    struct push *of = elab_as_push(e, arguments[1]);
    struct push *push = elab_push_new(e, PUSH_INTO, of->level);
    push->total = elab_given_length(e, arguments[0]);
    push->of = of;
    return elab_of_push(e, push);
}

PRIMITIVE(PIPE) { return elab_apply(e, arguments[1], arguments[0]); }

PRIMITIVE(COMPOSE) { return elab_apply(e, arguments[0], elab_apply(e, arguments[1], arguments[2])); }

static struct elab_value *component(struct elaborator *e, struct elab_value *tuple, size_t index) {
    if (tuple->kind == ELAB_SCALAR && !tuple->scalar)
        return tuple;
    if (tuple->kind != ELAB_TUPLE)
        elab_internal(e, "a pair was expected");
    return tuple->tuple.items[index];
}

PRIMITIVE(FST) { return component(e, arguments[0], 0); }

PRIMITIVE(SND) { return component(e, arguments[0], 1); }
