/* What executes: running a push array's scheme into a writer, and storing with force. */
#include "elaborate/value.h"

/* ---- writers ---- */

static void write_store(struct elaborator *e, const struct writer *self, struct ir_value *index,
                        struct elab_value *element) {
    if (self->offset)
        index = ir_binary(e->builder, OP_ADD, self->offset, index);
    ir_values leaves = {0};
    elab_flatten(e, element, &leaves);
    if (leaves.count != self->buffer_count)
        elab_internal(e, "an element has more components than its buffers");
    elab_count_step(e, e->span); /* a list may have many items, of which each is a store */
    for (size_t i = 0; i < leaves.count; i++)
        ir_store(e->builder, self->buffers[i], index, leaves.at[i]);
}

struct writer elab_store_writer(struct ir_buffer **buffers, size_t count, struct ir_value *offset) {
    return (struct writer){.write = write_store, .buffers = buffers, .buffer_count = count, .offset = offset};
}

bool elab_writes_plainly(const struct writer *writer) { return writer->write == write_store; }

static void write_mapped(struct elaborator *e, const struct writer *self, struct ir_value *index,
                         struct elab_value *element) {
    struct elab_value *mapped = self->with_index ? elab_apply2(e, self->function, elab_scalar(e, index), element)
                                                 : elab_apply(e, self->function, element);
    self->next->write(e, self->next, index, mapped);
}

static void write_permuted(struct elaborator *e, const struct writer *self, struct ir_value *index,
                           struct elab_value *element) {
    struct ir_value *place = elab_as_scalar(e, elab_apply(e, self->function, elab_scalar(e, index)));
    self->next->write(e, self->next, place, element);
}

static void write_shifted(struct elaborator *e, const struct writer *self, struct ir_value *index,
                          struct elab_value *element) {
    self->next->write(e, self->next, ir_binary(e->builder, OP_ADD, self->offset, index), element);
}

void elab_write_within(struct elaborator *e, const struct writer *next, struct ir_value *place,
                       struct elab_value *element, struct ir_value *total) {
    struct ir_builder *b = e->builder;
    struct ir_value *inside = elab_is_inside(e, place, total);
    enum ir_truth truth = ir_begin_choice(b, inside);
    if (truth != IR_FALSE)
        next->write(e, next, place, element);
    ir_end_only_choice(b, truth);
}

/* If the length is one: -1 says nothing. With --check its complement is stored, as 0 says that
   there was none before. */
static void write_length(struct elaborator *e, const struct push *push, struct ir_value *length) {
    struct ir_builder *b = e->builder;
    struct ir_value *says = ir_binary(b, OP_LE, ir_int(b, 0), length);
    if (ir_known(b, says) == IR_FALSE)
        return;
    ir_begin_if(b, says);
    if (e->options->check)
        elab_check_said(e, push, length);
    else
        ir_store(b, push->said, ir_int(b, 0), length);
    ir_end_only(b);
}

/* Elements that say where they belong, and before that, of forceUpTo's, how many there are. */
static void write_placed(struct elaborator *e, const struct writer *self, struct ir_value *index,
                         struct elab_value *element) {
    (void)index;
    if (element->kind != ELAB_TUPLE)
        elab_internal(e, "a write is no pair");
    struct elab_value **items = element->tuple.items;
    if (self->push->said)
        write_length(e, self->push, elab_as_scalar(e, *items++));
    elab_write_within(e, self->next, elab_as_scalar(e, items[0]), items[1], self->push->total);
}

/* Into the chunk's part of the whole. */
struct placing {
    const struct writer *writer;
    struct elab_value *element;
};

static void write_at(struct elaborator *e, void *context, struct elab_value *where) {
    const struct placing *placing = context;
    const struct writer *self = placing->writer;
    struct ir_value *place = elab_as_scalar(e, where);
    if (self->push->total)
        elab_write_within(e, self->next, place, placing->element, self->push->total);
    else
        self->next->write(e, self->next, place, placing->element);
}

static void write_chunk(struct elaborator *e, const struct writer *self, struct ir_value *index,
                        struct elab_value *element) {
    struct placing placing = {self, element};
    if (self->push->function) {
        struct elab_value *where = elab_pair(e, elab_scalar(e, self->chunk), elab_scalar(e, index));
        elab_apply_into(e, self->push->function, where, write_at, &placing);
    } else {
        struct ir_value *start = ir_binary(e->builder, OP_MUL, self->chunk, self->push->chunk_size);
        write_at(e, &placing, elab_scalar(e, ir_binary(e->builder, OP_ADD, start, index)));
    }
}

/* ---- running ---- */

struct ir_value *elab_begin_threads(struct elaborator *e, enum level_value level, struct ir_value *count) {
    if (level == LEVEL_THREAD && count->is_constant && count->constant.integer == 1)
        return ir_int(e->builder, 0);
    return level == LEVEL_THREAD ? ir_begin_for(e->builder, count, NULL, 0, "i")
                                 : ir_begin_forall(e->builder, level, LEVEL_THREAD, count, "i");
}

void elab_end_threads(struct elaborator *e, enum level_value level, const struct ir_value *index) {
    if (level == LEVEL_THREAD && index->is_constant)
        return;
    if (level == LEVEL_THREAD)
        ir_end_for(e->builder, NULL, NULL);
    else
        ir_end_forall(e->builder);
}

bool elab_is_none(struct elaborator *e, struct ir_value *count) {
    const struct ir_value *known = ir_resolve(e->builder, count);
    return known->is_constant && known->constant.integer == 0;
}

/* A thread writes the items of a list one after the other, each by code of its own. */
static bool is_thread_list(const struct elaborator *e, const struct push *push) {
    const struct pull *array = push->array;
    while (array->kind == PULL_MAP)
        array = array->of;
    return push->level == LEVEL_THREAD && array->kind == PULL_LIST &&
           array->length->constant.integer <= e->options->unroll;
}

/* All of them have so many elements. */
static void run_pulls(struct elaborator *e, const struct running *all, size_t count) {
    struct push *first = all[0].push;
    if (elab_is_none(e, first->array->length))
        return;
    struct split_frame *split = e->split;
    e->split = NULL; /* elements are not chunks */
    if (count == 1 && is_thread_list(e, first)) {
        for (int64_t k = 0; k < ir_resolve(e->builder, first->array->length)->constant.integer; k++)
            all->writer->write(e, all->writer, ir_int(e->builder, k),
                               elab_index(e, first->array, ir_int(e->builder, k)));
        e->split = split;
        return;
    }
    struct ir_value *i = elab_begin_threads(e, first->level, ir_resolve(e->builder, first->array->length));
    struct elab_value **elements = ARENA_ARRAY(e->arena, struct elab_value *, count);
    for (size_t k = 0; k < count; k++)
        elements[k] = elab_index(e, all[k].push->array, i);
    for (size_t k = 0; k < count; k++)
        all[k].writer->write(e, all[k].writer, i, elements[k]);
    elab_end_threads(e, first->level, i);
    e->split = split;
}

struct chunk_body {
    const struct running *all;
    size_t count;
    struct ir_value *chunk;
    struct blocks_run *blocks; /* or NULL */
};

/* Whether the chunk may be written, which is reported where it may not: every chunk has the size
   that was said, but for the last of a concat, of which the whole has as many elements as there is
   memory for. Of a negative size, which is an error of its own, chunks are empty. */
static struct ir_value *chunk_fits(struct elaborator *e, const struct chunk_body *body, struct push *whole,
                                   struct push *chunk) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, chunk), *size = whole->chunk_size;
    struct ir_value *wanted = size->low < 0 ? ir_binary(b, OP_MAX, size, ir_int(b, 0)) : size;
    struct ir_value *fits = ir_binary(b, OP_EQ, length, wanted);
    if (whole->function || ir_known(b, fits) == IR_TRUE) {
        elab_check_chunk(e, whole, fits, length, size);
        return fits;
    }
    struct ir_value *next = ir_binary(b, OP_ADD, body->chunk, ir_int(b, 1)),
                    *count = ir_resolve(b, whole->array->length);
    struct ir_value *least = whole->is_capped ? length : ir_int(b, 0);
    struct ir_value *may_be_last = ir_binary(b, OP_LE, least, size);
    struct ir_value *is_last = ir_binary(b, OP_AND, ir_binary(b, OP_LE, count, next), may_be_last);
    bool is_kept =
        ir_prove(b, is_last) || (ir_prove(b, may_be_last) && ir_implies(b, ir_binary(b, OP_LT, next, count), fits));
    fits = is_kept ? ir_bool(b, true) : ir_binary(b, OP_OR, fits, is_last);
    elab_check_chunk(e, whole, fits, length, size);
    if (whole->level == LEVEL_GRID && elab_may_be_unfinished(e, length)) {
        struct ir_value *start = ir_binary(b, OP_MUL, body->chunk, size);
        struct ir_value *room = ir_binary(b, OP_SUB, elab_push_length(e, whole), start);
        fits = ir_binary(b, OP_AND, fits, ir_binary(b, OP_LE, length, room));
    }
    return fits;
}

/* Chunks that are run together are all made before the first is stored: what they share is
   computed once, and stored once. */
static void run_chunk(struct elaborator *e, void *context) {
    const struct chunk_body *body = context;
    int shape = e->shape;
    if (body->blocks)
        body->blocks->next = body->blocks->next_pass = 0;
    struct ir_builder *b = e->builder;
    const struct ir_region *together = e->together;
    e->together = body->count > 1 ? ir_current(b) : NULL;
    struct push **chunks = ARENA_ARRAY(e->arena, struct push *, body->count);
    for (size_t k = 0; k < body->count; k++) {
        const struct push *push = body->all[k].push;
        const struct ir_value *size = push->chunk_size;
        if (!push->function && size && size->is_constant && size->low > 0) /* as many as an array's elements allow */
            ir_assume_range(b, body->chunk, 0, INT32_MAX / size->low);
        chunks[k] = elab_as_push(e, elab_index(e, push->array, body->chunk));
    }
    e->together = together;
    for (size_t k = 0; k < body->count; k++) {
        const struct running *one = &body->all[k];
        struct writer writer = {.write = write_chunk, .push = one->push, .chunk = body->chunk, .next = one->writer};
        if (one->push->chunk_size && !e->shape)
            elab_run_if(e, chunk_fits(e, body, one->push, chunks[k]), chunks[k], &writer);
        else
            elab_run(e, chunks[k], &writer);
    }
    e->shape = shape; /* raised where a pass ends at a lookback */
    if (body->blocks)
        elab_end_lookbacks(e, body->blocks);
}

/* Over blocks of the grid: once, unless a lookback wants launches of its own. */
static void run_blocks(struct elaborator *e, struct chunk_body *body, struct ir_value *count) {
    struct ir_builder *b = e->builder;
    struct blocks_run *outer = e->blocks;
    struct blocks_run *blocks = e->blocks = body->blocks = ARENA_NEW(e->arena, struct blocks_run);
    blocks->parent = ir_current(b);
    blocks->count = count;
    for (;; blocks->pass++) {
        blocks->collected = NULL;
        blocks->has_ended = false;
        blocks->index = body->chunk = ir_begin_forall(b, LEVEL_GRID, LEVEL_BLOCK, count, "chunk");
        blocks->region = ir_current(b);
        elab_with_split(e, run_chunk, body);
        ir_end_forall(b);
        if (!blocks->collected)
            break;
        elab_scan_collected(e, blocks);
    }
    e->blocks = outer;
}

/* All of them are so many chunks of one level. */
static void run_all_chunks(struct elaborator *e, const struct running *all, size_t all_count) {
    const struct push *push = all[0].push;
    if (elab_is_none(e, push->array->length))
        return;
    struct ir_builder *b = e->builder;
    struct ir_value *count = ir_resolve(b, push->array->length);
    bool sequential = push->chunk_level == push->level;
    struct chunk_body *body = ARENA_NEW(e->arena, struct chunk_body);
    body->all = all;
    body->count = all_count;
    if (push->level == LEVEL_GRID && push->chunk_level == LEVEL_BLOCK) {
        run_blocks(e, body, count);
        return;
    }
    body->chunk = sequential ? ir_begin_for(b, count, NULL, 0, "chunk")
                             : ir_begin_forall(b, push->level, push->chunk_level, count, "chunk");
    elab_with_split(e, run_chunk, body);
    if (sequential)
        ir_end_for(b, NULL, NULL);
    else
        ir_end_forall(b);
}

static void run_chunks(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct running *one = ARENA_NEW(e->arena, struct running);
    *one = (struct running){push, writer};
    run_all_chunks(e, one, 1);
}

static void run_permute(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct writer permuted = {.write = write_permuted, .function = push->function, .next = writer};
    elab_run(e, push->of, &permuted);
}

static void run_into(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct writer pairs = {.write = write_placed, .push = push, .next = writer};
    elab_run(e, push->of, &pairs);
}

void elab_run(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    if (e->shape)
        return;
    elab_count_step(e, e->span);
    switch (push->kind) {
    case PUSH_PULL: run_pulls(e, &(struct running){push, writer}, 1); return;
    case PUSH_MAP: {
        struct writer mapped = {
            .write = write_mapped, .function = push->function, .with_index = push->with_index, .next = writer};
        elab_run(e, push->of, &mapped);
        return;
    }
    case PUSH_CHUNKS:
        if (push->function)
            elab_run_marked(e, push, CHECK_PLACE, writer, run_chunks);
        else
            run_chunks(e, push, writer);
        return;
    case PUSH_EACH: elab_run_marked(e, push, CHECK_EACH, writer, elab_run_each); return;
    case PUSH_SCANL: elab_run_scanl(e, push, writer); return;
    case PUSH_SEQFOR: elab_run_seqfor(e, push, writer); return;
    case PUSH_BUCKETS: elab_run_buckets(e, push, writer); return;
    case PUSH_RANKS: elab_run_ranks(e, push, writer); return;
    case PUSH_SCATTER: elab_run_scatter(e, push, writer); return;
    case PUSH_REDUCE: elab_run_reduce(e, push, writer); return;
    case PUSH_SHUFFLE: elab_run_shuffle(e, push, writer); return;
    case PUSH_MMA: elab_run_mma(e, push, writer); return;
    case PUSH_APPEND: elab_run_together(e, &(struct running){push, writer}, 1); return;
    case PUSH_PERMUTE: elab_run_marked(e, push, CHECK_PLACE, writer, run_permute); return;
    case PUSH_INTO: elab_run_marked(e, push, CHECK_PLACE, writer, run_into); return;
    case PUSH_CHOICE: {
        struct ir_value *condition = ir_resolve(b, push->condition);
        switch (ir_known(b, condition)) {
        case IR_TRUE: elab_run(e, push->of, writer); return;
        case IR_FALSE: elab_run(e, push->second, writer); return;
        case IR_UNKNOWN: break;
        }
        struct split_frame *split = e->split;
        e->split = NULL;
        ir_begin_if(b, condition);
        elab_run(e, push->of, writer);
        ir_else(b, NULL, 0);
        elab_run(e, push->second, writer);
        ir_end_if(b, NULL, NULL, 0, true);
        e->split = split;
        return;
    }
    }
    elab_internal(e, "unknown push array");
}

/* ---- running together ----

   note [together]
   Arrays that a program stores at one time, as the results of a kernel, the parts of a tuple and
   those of an `append`, share a loop, at grid a launch, where they have as many elements or as
   many chunks. Elements share what the builder finds to be the same (loads among it). A chunk is
   elaborated once for all that are made of it: arrays keep the elements that were asked for in the
   region of `together` whatever was stored since, for nothing there is written twice
   (note [asked again]). Updates come last, as they may write over what the others read. */

void elab_run_later(struct elaborator *e, runnings *all, struct push *push, struct writer writer) {
    struct writer *kept = ARENA_NEW(e->arena, struct writer);
    *kept = writer;
    vec_push(e->arena, all, ((struct running){push, kept}));
}

/* So many parts of an append are looked at, so that very many take no time by their square. */
enum { MOST_JOINED = 64 };

/* Views write elsewhere what another array runs; the two parts of an append are two arrays. */
static void add_running(struct elaborator *e, runnings *all, struct push *push, const struct writer *writer) {
    elab_count_step(e, e->span); /* of n appends there may be 2^n parts */
    struct writer *next;
    switch (push->kind) {
    case PUSH_MAP:
        next = ARENA_NEW(e->arena, struct writer);
        *next = (struct writer){
            .write = write_mapped, .function = push->function, .with_index = push->with_index, .next = writer};
        add_running(e, all, push->of, next);
        return;
    case PUSH_APPEND:
        add_running(e, all, push->of, writer);
        next = ARENA_NEW(e->arena, struct writer);
        *next = (struct writer){.write = write_shifted, .offset = elab_push_length(e, push->of), .next = writer};
        add_running(e, all, push->second, next);
        return;
    default: vec_push(e->arena, all, ((struct running){push, writer}));
    }
}

static bool is_update(const struct push *push) { return push->kind == PUSH_SCATTER || push->kind == PUSH_REDUCE; }

static bool is_joined(struct elaborator *e, struct push *x, struct push *y) {
    bool may_be = x->kind == y->kind && (x->kind == PUSH_PULL || x->kind == PUSH_CHUNKS);
    if (!may_be || x->level != y->level || !elab_is_same_length(e, x->array->length, y->array->length))
        return false;
    if (x->kind == PUSH_PULL)
        return !is_thread_list(e, x) && !is_thread_list(e, y);
    bool are_marked = (x->function || y->function) && e->may_leave_loops;
    return x->chunk_level == y->chunk_level && !are_marked;
}

static void run_joined(struct elaborator *e, const runnings *joined) {
    if (joined->count == 1)
        elab_run(e, joined->at[0].push, joined->at[0].writer);
    else if (joined->at[0].push->kind == PUSH_PULL)
        run_pulls(e, joined->at, joined->count);
    else
        run_all_chunks(e, joined->at, joined->count);
}

void elab_run_together(struct elaborator *e, const struct running *wanted, size_t count) {
    if (e->shape)
        return;
    runnings all = {0}, updates = {0};
    for (size_t k = 0; k < count; k++)
        add_running(e, &all, wanted[k].push, wanted[k].writer);
    bool *is_done = ARENA_ARRAY(e->arena, bool, all.count + 1);
    for (size_t i = 0; i < all.count; i++) {
        if (is_done[i])
            continue;
        runnings joined = {0};
        struct push *first = all.at[i].push;
        if (is_update(first)) {
            vec_push(e->arena, &updates, all.at[i]);
            continue;
        }
        vec_push(e->arena, &joined, all.at[i]);
        for (size_t k = i + 1; k < all.count && k < i + MOST_JOINED; k++)
            if (!is_done[k] && is_joined(e, first, all.at[k].push)) {
                is_done[k] = true;
                vec_push(e->arena, &joined, all.at[k]);
            }
        run_joined(e, &joined);
    }
    for (size_t i = 0; i < updates.count; i++)
        for (size_t k = 0; k < i; k++)
            elab_hold_pairs(e, updates.at[i].push, updates.at[k].push);
    for (size_t i = 0; i < updates.count; i++)
        elab_run(e, updates.at[i].push, updates.at[i].writer);
}

/* ---- storing ---- */

enum ir_memory elab_memory(enum level_value level) {
    switch (level) {
    case LEVEL_THREAD: return MEMORY_PRIVATE;
    case LEVEL_WARP:
    case LEVEL_BLOCK: return MEMORY_SHARED;
    case LEVEL_GRID: return MEMORY_OUTPUT;
    case LEVEL_PURE:
    case LEVEL_VALUE_COUNT: break;
    }
    return MEMORY_PRIVATE;
}

struct ir_buffer **elab_buffers(struct elaborator *e, struct type *element, enum level_value level,
                                struct ir_value *capacity, const char *name, size_t *count) {
    base_list bases = {0};
    elab_leaf_bases(e, element, &bases);
    struct ir_buffer **buffers = ARENA_ARRAY(e->arena, struct ir_buffer *, bases.count);
    for (size_t i = 0; i < bases.count; i++) {
        buffers[i] = ir_buffer_new(e->builder, elab_memory(level), level, bases.at[i], capacity, name);
        buffers[i]->span = e->span;
    }
    *count = bases.count;
    return buffers;
}

void elab_allocate(struct elaborator *e, struct ir_buffer **buffers, size_t count) {
    for (size_t i = 0; i < count; i++)
        ir_allocate(e->builder, buffers[i]);
}

struct type elab_int_type = {.kind = TYPE_BASE, .base = BASE_I32};

struct pull *elab_stored(struct elaborator *e, struct type *element, struct ir_buffer **buffers,
                         struct ir_value *offset, struct ir_value *length) {
    struct pull *pull = ARENA_NEW(e->arena, struct pull);
    pull->kind = PULL_MEMORY;
    pull->length = length;
    pull->memory.element = element;
    pull->memory.buffers = buffers;
    pull->memory.offset = offset;
    return pull;
}

struct pull *elab_unknown_array(struct elaborator *e, struct type *element, struct ir_value *length) {
    struct pull *pull = ARENA_NEW(e->arena, struct pull);
    pull->kind = PULL_UNKNOWN;
    if (e->touched)
        e->touched->others = true;
    pull->memory.element = element;
    pull->length = length;
    return pull;
}

struct ir_value *elab_capacity(struct elaborator *e, struct ir_value *length, enum level_value level) {
    if (!length)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span, "the length of what is stored here depends on data");
    if (level == LEVEL_GRID)
        return ir_resolve(e->builder, length); /* the host allocates where it is */
    if (length->high <= ANY_SMALL)
        return ir_int(e->builder, length->high);
    struct ir_value *capacity = elab_upper_bound(e, length);
    if (!capacity)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span,
                  "no bound is known for the length of what is stored at %s here, so no memory can be set aside for it",
                  level_names[level]);
    return capacity;
}

/* The array that is stored at its level already, and never changes. */
static bool is_stored(const struct push *push) {
    const struct pull *array = push->array;
    if (push->kind != PUSH_PULL || array->kind != PULL_MEMORY || array->memory.offset || array->memory.extent_count)
        return false;
    const struct ir_buffer *buffer = array->memory.buffers[0];
    if (buffer->memory == MEMORY_INPUT)
        return push->level == LEVEL_GRID;
    return buffer->memory == elab_memory(push->level) && buffer->owner == push->level && !buffer->rewritten &&
           !buffer->is_swapped;
}

/* The array as it will be read, in new memory; it is stored when `all` runs. What is stored
   already stays where it is. */
static struct pull *prepare(struct elaborator *e, struct push *push, struct type *element, runnings *all) {
    struct ir_value *length = elab_push_length(e, push);
    if (e->shape)
        return elab_unknown_array(e, element, length);
    if (is_stored(push))
        return push->array;
    struct ir_value *capacity = elab_capacity(e, length, push->level);
    size_t count;
    struct ir_buffer **buffers = elab_buffers(e, element, push->level, capacity, NULL, &count);
    elab_allocate(e, buffers, count);
    elab_run_later(e, all, push, elab_store_writer(buffers, count, NULL));
    return elab_stored(e, element, buffers, NULL, length);
}

struct pull *elab_force(struct elaborator *e, struct push *push, struct type *element) {
    runnings all = {0};
    struct pull *stored = prepare(e, push, element, &all);
    if (all.count)
        elab_run(e, push, all.at[0].writer);
    return stored;
}

struct elab_value **elab_force_parts(struct elaborator *e, const struct part *parts, size_t count,
                                     struct elab_value *const *values) {
    struct elab_value **stored = ARENA_ARRAY(e->arena, struct elab_value *, count + 1);
    runnings all = {0};
    for (size_t k = 0; k < count; k++) {
        stored[k] = values[k];
        if (parts[k].is_array)
            stored[k] = elab_of_pull(e, prepare(e, elab_as_push(e, values[k]), parts[k].type, &all));
    }
    elab_run_together(e, all.at, all.count);
    return stored;
}

struct ir_buffer *elab_one_int(struct elaborator *e, enum level_value level, const char *name) {
    struct ir_builder *b = e->builder;
    struct ir_buffer *buffer = ir_buffer_new(b, elab_memory(level), level, BASE_I32, ir_int(b, 1), name);
    buffer->rewritten = true;
    buffer->span = e->span;
    ir_allocate(b, buffer);
    return buffer;
}

struct ir_value *elab_said_length(struct elaborator *e, const struct push *push) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_load(b, push->said, ir_int(b, 0));
    if (e->options->check)
        length = ir_unary(b, OP_BIT_NOT, length);
    return ir_binary(b, OP_MIN, ir_binary(b, OP_MAX, length, ir_int(b, 0)), push->total);
}

PRIMITIVE(FORCE_UP_TO) {
    struct ir_builder *b = e->builder;
    struct type *element = elab_type(e, instance, 0);
    struct push *of = elab_as_push(e, arguments[1]);
    if (e->shape)
        return elab_of_pull(e, elab_unknown_array(e, element, NULL));
    struct push *push = elab_push_new(e, PUSH_INTO, of->level);
    push->total = elab_given_length(e, arguments[0]);
    push->of = of;
    push->said = elab_one_int(e, push->level, "said_length");
    push->said->is_zeroed = push->level == LEVEL_GRID;
    if (!push->said->is_zeroed) {
        struct ir_value *i = elab_begin_threads(e, push->level, ir_int(b, 1));
        ir_store(b, push->said, i, ir_int(b, 0));
        elab_end_threads(e, push->level, i);
    }
    struct pull *stored = elab_force(e, push, element);
    stored->length = elab_said_length(e, push);
    return elab_of_pull(e, stored);
}
