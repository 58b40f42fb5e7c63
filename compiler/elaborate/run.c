/* What executes: running a push array's scheme into a writer, and storing with force, while and power. */
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

/* --check: only places below the offset. */
static void write_bounded(struct elaborator *e, const struct writer *self, struct ir_value *index,
                          struct elab_value *element) {
    struct ir_builder *b = e->builder;
    struct ir_value *fits = ir_binary(b, OP_LT, index, self->offset);
    enum ir_truth truth = ir_known(b, fits);
    if (truth == IR_UNKNOWN)
        ir_begin_if(b, fits);
    if (truth != IR_FALSE)
        self->next->write(e, self->next, index, element);
    if (truth == IR_UNKNOWN) {
        ir_else(b, NULL, 0);
        ir_end_if(b, NULL, NULL, 0, false);
    }
}

/* Places outside 0 … total - 1 are dropped. */
static void write_within(struct elaborator *e, const struct writer *next, struct ir_value *place,
                         struct elab_value *element, struct ir_value *total) {
    struct ir_builder *b = e->builder;
    struct ir_value *inside =
        ir_binary(b, OP_AND, ir_binary(b, OP_LE, ir_int(b, 0), place), ir_binary(b, OP_LT, place, total));
    enum ir_truth truth = ir_known(b, inside);
    if (truth == IR_UNKNOWN)
        ir_begin_if(b, inside);
    if (truth != IR_FALSE)
        next->write(e, next, place, element);
    if (truth == IR_UNKNOWN) {
        ir_else(b, NULL, 0);
        ir_end_if(b, NULL, NULL, 0, false);
    }
}

/* If the length is one: -1 says nothing. */
static void write_length(struct elaborator *e, struct ir_buffer *said, struct ir_value *length) {
    struct ir_builder *b = e->builder;
    struct ir_value *says = ir_binary(b, OP_LE, ir_int(b, 0), length);
    if (ir_known(b, says) == IR_FALSE)
        return;
    ir_begin_if(b, says);
    ir_store(b, said, ir_int(b, 0), length);
    ir_else(b, NULL, 0);
    ir_end_if(b, NULL, NULL, 0, false);
}

/* Elements that say where they belong, and before that, of forceUpTo's, how many there are. */
static void write_placed(struct elaborator *e, const struct writer *self, struct ir_value *index,
                         struct elab_value *element) {
    (void)index;
    if (element->kind != ELAB_TUPLE)
        elab_internal(e, "a write is no pair");
    struct elab_value **items = element->tuple.items;
    if (self->push->said)
        write_length(e, self->push->said, elab_as_scalar(e, *items++));
    write_within(e, self->next, elab_as_scalar(e, items[0]), items[1], self->push->total);
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
        write_within(e, self->next, place, placing->element, self->push->total);
    else
        self->next->write(e, self->next, place, placing->element);
}

static void write_chunk(struct elaborator *e, const struct writer *self, struct ir_value *index,
                        struct elab_value *element) {
    struct ir_builder *b = e->builder;
    struct placing placing = {self, element};
    struct ir_value *fits = self->is_bounded ? ir_binary(b, OP_LT, index, self->push->chunk_size) : ir_bool(b, true);
    enum ir_truth truth = ir_known(b, fits);
    if (truth == IR_FALSE)
        return;
    if (truth == IR_UNKNOWN)
        ir_begin_if(b, fits);
    if (self->push->function) {
        struct elab_value *where = elab_pair(e, elab_scalar(e, self->chunk), elab_scalar(e, index));
        elab_apply_into(e, self->push->function, where, write_at, &placing);
    } else {
        struct ir_value *start = ir_binary(b, OP_MUL, self->chunk, self->push->chunk_size);
        write_at(e, &placing, elab_scalar(e, ir_binary(b, OP_ADD, start, index)));
    }
    if (truth == IR_UNKNOWN) {
        ir_else(b, NULL, 0);
        ir_end_if(b, NULL, NULL, 0, false);
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

static void run_pull(struct elaborator *e, struct push *push, const struct writer *writer) {
    if (elab_is_none(e, push->array->length))
        return;
    struct split_frame *split = e->split;
    e->split = NULL; /* elements are not chunks */
    struct ir_value *i = elab_begin_threads(e, push->level, ir_resolve(e->builder, push->array->length));
    writer->write(e, writer, i, elab_index(e, push->array, i));
    elab_end_threads(e, push->level, i);
    e->split = split;
}

struct chunk_body {
    struct push *push;
    const struct writer *writer;
    struct ir_value *chunk;
    struct blocks_run *blocks; /* or NULL */
};

/* --check: every chunk but concat's last has the size that was said; what is more than that is not written. */
static void check_chunk(struct elaborator *e, const struct chunk_body *body, struct push *chunk,
                        struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, chunk), *size = body->push->chunk_size;
    if (!length || e->shape)
        return;
    struct ir_value *fits = ir_binary(b, OP_EQ, length, size);
    if (!body->push->function) {
        struct ir_value *next = ir_binary(b, OP_ADD, body->chunk, ir_int(b, 1));
        struct ir_value *is_last = ir_binary(b, OP_LE, ir_resolve(b, body->push->array->length), next);
        fits = ir_binary(b, OP_OR, fits, ir_binary(b, OP_AND, is_last, ir_binary(b, OP_LE, length, size)));
    }
    elab_check(e, CHECK_CHUNK, fits, length, size, body->push->span);
    writer->is_bounded = ir_known(b, ir_binary(b, OP_LE, length, size)) != IR_TRUE;
}

static void run_chunk(struct elaborator *e, void *context) {
    const struct chunk_body *body = context;
    int shape = e->shape;
    if (body->blocks)
        body->blocks->next = 0;
    struct ir_builder *b = e->builder;
    const struct ir_value *size = body->push->chunk_size;
    if (!body->push->function && size && size->is_constant &&
        size->low > 0) /* no array has more than INT32_MAX elements */
        ir_assume(b, ir_binary(b, OP_LE, body->chunk, ir_int(b, INT32_MAX / size->low)));
    struct push *chunk = elab_as_push(e, elab_index(e, body->push->array, body->chunk));
    struct writer writer = {.write = write_chunk, .push = body->push, .chunk = body->chunk, .next = body->writer};
    if (e->options->check && body->push->chunk_size)
        check_chunk(e, body, chunk, &writer);
    elab_run(e, chunk, &writer);
    e->shape = shape; /* raised where a pass ends at a lookback */
}

/* Over blocks of the grid: once, unless a lookback wants launches of its own. */
static void run_blocks(struct elaborator *e, struct chunk_body *body, struct ir_value *count) {
    struct ir_builder *b = e->builder;
    struct blocks_run *outer = e->blocks;
    struct blocks_run *blocks = e->blocks = body->blocks = ARENA_NEW(e->arena, struct blocks_run);
    blocks->parent = ir_current(b);
    blocks->count = count;
    for (;; blocks->pass++) {
        blocks->is_collected = false;
        blocks->index = body->chunk = ir_begin_forall(b, LEVEL_GRID, LEVEL_BLOCK, count, "chunk");
        blocks->region = ir_current(b);
        elab_with_split(e, run_chunk, body);
        ir_end_forall(b);
        if (!blocks->is_collected)
            break;
        elab_scan_collected(e, blocks);
    }
    e->blocks = outer;
}

static void run_chunks(struct elaborator *e, struct push *push, const struct writer *writer) {
    if (elab_is_none(e, push->array->length))
        return;
    struct ir_builder *b = e->builder;
    struct ir_value *count = ir_resolve(b, push->array->length);
    bool sequential = push->chunk_level == push->level;
    struct chunk_body *body = ARENA_NEW(e->arena, struct chunk_body);
    body->push = push;
    body->writer = writer;
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
    case PUSH_PULL: run_pull(e, push, writer); return;
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
    case PUSH_SCATTER: elab_run_scatter(e, push, writer); return;
    case PUSH_REDUCE: elab_run_reduce(e, push, writer); return;
    case PUSH_SHUFFLE: elab_run_shuffle(e, push, writer); return;
    case PUSH_APPEND: {
        elab_run(e, push->of, writer);
        struct writer shifted = {.write = write_shifted, .offset = elab_push_length(e, push->of), .next = writer};
        elab_run(e, push->second, &shifted);
        return;
    }
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

/* ---- storing ---- */

static enum ir_memory memory_of(enum level_value level) {
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
        buffers[i] = ir_buffer_new(e->builder, memory_of(level), level, bases.at[i], capacity, name);
        buffers[i]->span = e->span;
    }
    *count = bases.count;
    return buffers;
}

static void allocate(struct elaborator *e, struct ir_buffer **buffers, size_t count) {
    for (size_t i = 0; i < count; i++)
        ir_allocate(e->builder, buffers[i]);
}

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

static struct pull *unknown_array(struct elaborator *e, struct type *element, struct ir_value *length) {
    struct pull *pull = ARENA_NEW(e->arena, struct pull);
    pull->kind = PULL_UNKNOWN;
    pull->memory.element = element;
    pull->length = length;
    return pull;
}

/* Below grid a small constant bound is better than an exact one that only the launch knows: memory is then laid out at compile
   time, and private arrays can live in registers. */
enum { SMALL_CAPACITY = 4096 };

struct ir_value *elab_capacity(struct elaborator *e, struct ir_value *length, enum level_value level) {
    if (!length)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span, "the length of what is stored here depends on data");
    if (level == LEVEL_GRID)
        return ir_resolve(e->builder, length); /* the host allocates where it is */
    if (length->high <= SMALL_CAPACITY)
        return ir_int(e->builder, length->high);
    struct ir_value *capacity = elab_upper_bound(e, length);
    if (!capacity)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span,
                  "no bound is known for the length of what is stored at %s here, so no memory can be set aside for it",
                  level_names[level]);
    return capacity;
}

struct pull *elab_force(struct elaborator *e, struct push *push, struct type *element) {
    struct ir_value *length = elab_push_length(e, push);
    if (e->shape)
        return unknown_array(e, element, length);
    struct ir_value *capacity = elab_capacity(e, length, push->level);
    size_t count;
    struct ir_buffer **buffers = elab_buffers(e, element, push->level, capacity, NULL, &count);
    allocate(e, buffers, count);
    struct writer writer = elab_store_writer(buffers, count, NULL);
    elab_run(e, push, &writer);
    return elab_stored(e, element, buffers, NULL, length);
}

struct elab_value *elab_FORCE(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                              struct elab_value **arguments) {
    (void)primitive;
    return elab_of_pull(e, elab_force(e, elab_as_push(e, arguments[0]), elab_type(e, instance, 0)));
}

struct ir_buffer *elab_one_int(struct elaborator *e, enum level_value level, const char *name) {
    struct ir_builder *b = e->builder;
    struct ir_buffer *buffer = ir_buffer_new(b, memory_of(level), level, BASE_I32, ir_int(b, 1), name);
    buffer->rewritten = true;
    buffer->span = e->span;
    ir_allocate(b, buffer);
    return buffer;
}

struct ir_value *elab_said_length(struct elaborator *e, const struct push *push) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_load(b, push->said, ir_int(b, 0));
    return ir_binary(b, OP_MIN, ir_binary(b, OP_MAX, length, ir_int(b, 0)), push->total);
}

struct elab_value *elab_FORCE_UP_TO(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                                    struct elab_value **arguments) {
    (void)primitive;
    struct ir_builder *b = e->builder;
    struct type *element = elab_type(e, instance, 0);
    struct push *of = elab_as_push(e, arguments[1]);
    if (e->shape)
        return elab_of_pull(e, unknown_array(e, element, NULL));
    struct push *push = elab_push_new(e, PUSH_INTO, of->level);
    push->total = elab_not_negative(e, elab_as_scalar(e, arguments[0]));
    push->of = of;
    push->span = e->span;
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

/* ---- while and power ---- */

/* Both are a sequence of steps from array to array. `condition` is a function of the array (while), or NULL and `count` steps
   are taken (power), whose step takes its number first. */
struct stepping {
    struct elab_value *condition, *step;
    struct ir_value *count;
    struct type *element;
    enum level_value level;
    struct span span;
};

static struct ir_value *goes_on(struct elaborator *e, const struct stepping *stepping, struct pull *array,
                                struct ir_value *done) {
    if (stepping->condition)
        return elab_as_scalar(e, elab_apply(e, stepping->condition, elab_of_pull(e, array)));
    return ir_binary(e->builder, OP_LT, done, stepping->count);
}

static struct push *next_push(struct elaborator *e, const struct stepping *stepping, struct pull *array,
                              struct ir_value *done) {
    struct elab_value *value = elab_of_pull(e, array);
    return elab_as_push(e, stepping->condition ? elab_apply(e, stepping->step, value)
                                               : elab_apply2(e, stepping->step, elab_scalar(e, done), value));
}

/* A static number of steps, whatever the lengths; below grid only where each keeps the length, and that is short, as arrays
   whose memory the launch sets aside do not share it. */
static int counted_steps(struct elaborator *e, const struct stepping *stepping, struct push *initial, int limit) {
    struct ir_builder *b = e->builder;
    struct ir_value *count = stepping->condition ? NULL : ir_resolve(b, stepping->count);
    struct ir_value *length = elab_push_length(e, initial);
    if (!count || !count->is_constant || count->constant.integer > limit || !length)
        return -1;
    length = ir_resolve(b, length);
    if (stepping->level != LEVEL_GRID && length->high > SMALL_CAPACITY)
        return -1;
    int steps = count->constant.integer < 0 ? 0 : (int)count->constant.integer;
    e->shape++;
    struct pull *array = unknown_array(e, stepping->element, length);
    for (int i = 0; i < steps && steps >= 0; i++) {
        struct ir_value *next = elab_push_length(e, next_push(e, stepping, array, ir_int(b, i)));
        if (!next || (stepping->level != LEVEL_GRID && ir_resolve(b, next) != length))
            steps = -1;
        else
            array = unknown_array(e, stepping->element, next);
    }
    e->shape--;
    return steps;
}

/* How many steps there are, if shapes alone decide it and there are at most `limit`; otherwise -1. */
static int static_steps(struct elaborator *e, const struct stepping *stepping, struct push *initial, int limit) {
    struct ir_builder *b = e->builder;
    e->shape++;
    int steps = -1;
    struct pull *array = unknown_array(e, stepping->element, elab_push_length(e, initial));
    for (int i = 0; i <= limit; i++) {
        if (!array->length || !ir_resolve(b, array->length)->is_constant)
            break;
        struct ir_value *done = ir_int(b, i);
        struct ir_value *more = goes_on(e, stepping, array, done);
        enum ir_truth truth = more ? ir_known(b, more) : IR_UNKNOWN;
        if (truth == IR_FALSE)
            steps = i;
        if (truth != IR_TRUE)
            break;
        array = unknown_array(e, stepping->element, elab_push_length(e, next_push(e, stepping, array, done)));
    }
    e->shape--;
    return steps;
}

/* Lengths only: a loop on the length, and on the number of steps. */
static struct pull *step_shape(struct elaborator *e, const struct stepping *stepping, struct push *initial) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, initial);
    struct pull *result = unknown_array(e, stepping->element, NULL);
    if (!length)
        return result;
    /* Where a step keeps the length, it does not matter how many there are. */
    struct push *kept = next_push(e, stepping, unknown_array(e, stepping->element, length), NULL);
    if (elab_push_length(e, kept) == ir_resolve(b, length)) {
        result->length = length;
        return result;
    }
    if (!stepping->condition && !stepping->count)
        return result;
    struct ir_value *carried[2] = {length, ir_int(b, 0)};
    int64_t lows[2] = {0, 0}, highs[2] = {length->high, INT32_MAX};
    ir_begin_while(b, carried, 2, lows, highs);
    struct pull *array = unknown_array(e, stepping->element, carried[0]);
    struct ir_value *more = goes_on(e, stepping, array, carried[1]);
    bool known = more != NULL;
    ir_while_body(b, known ? more : ir_bool(b, false));
    struct ir_value *next = known ? elab_push_length(e, next_push(e, stepping, array, carried[1])) : NULL;
    if (!next) {
        known = false;
        next = carried[0];
    }
    struct ir_value *nexts[2] = {next, ir_binary(b, OP_ADD, carried[1], ir_int(b, 1))}, *results[2];
    ir_end_while(b, nexts, results);
    if (known) {
        map_set(e->bounds, results[0], length);
        result->length = results[0];
    }
    return result;
}

/* How many elements both halves have. At grid, the host computes it where it is; below, it must be known before a kernel starts. */
static struct ir_value *two_halves(struct elaborator *e, struct ir_value *capacity, enum level_value level) {
    struct ir_builder *b = e->builder;
    if (level == LEVEL_GRID) { /* below it there is no such memory */
        elab_require(e, CHECK_STEPPED, ir_binary(b, OP_LE, capacity, ir_int(b, INT32_MAX / 2)), capacity, capacity,
                     e->span);
        return ir_binary(b, OP_MUL, capacity, ir_int(b, 2));
    }
    struct ir_region *here = ir_enter_outermost(b);
    struct ir_value *both = ir_binary(b, OP_MUL, capacity, ir_int(b, 2));
    ir_leave_outermost(b, here);
    return both;
}

/* What is stepped has no more elements after a step than before it. */
static struct ir_value *check_shrinks(struct elaborator *e, const struct stepping *stepping, struct ir_value *before,
                                      struct ir_value *after) {
    struct ir_value *shrinks = ir_binary(e->builder, OP_LE, after, before);
    elab_check(e, CHECK_GROWS, shrinks, after, before, stepping->span);
    return shrinks;
}

static struct pull *step_dynamically(struct elaborator *e, const struct stepping *stepping, struct push *initial) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, initial);
    struct ir_value *capacity = elab_capacity(e, length, stepping->level);
    /* Two halves in turn: what a step reads is never what it writes. */
    size_t count;
    struct ir_value *both = two_halves(e, capacity, stepping->level);
    struct ir_buffer **buffers = elab_buffers(e, stepping->element, stepping->level, both, NULL, &count);
    for (size_t i = 0; i < count; i++)
        buffers[i]->rewritten = true;
    allocate(e, buffers, count);
    struct writer writer = elab_store_writer(buffers, count, NULL);
    elab_run(e, initial, &writer);
    struct ir_value *carried[3] = {ir_int(b, 0), length, ir_int(b, 0)};
    int64_t lows[3] = {0, 0, 0}, highs[3] = {capacity->high, length->high, INT32_MAX};
    ir_begin_while(b, carried, 3, lows, highs);
    map_set(e->bounds, carried[1], capacity);
    struct pull *array = elab_stored(e, stepping->element, buffers, carried[0], carried[1]);
    ir_while_body(b, goes_on(e, stepping, array, carried[2]));
    struct split_frame *split = e->split;
    e->split = NULL;
    struct push *next = next_push(e, stepping, array, carried[2]);
    struct ir_value *next_length = elab_push_length(e, next);
    if (!next_length)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span, "the length after a step of this loop depends on data");
    struct ir_value *shrinks = check_shrinks(e, stepping, carried[1], next_length);
    if (e->options->check) /* what grows would leave its half */
        next_length = ir_binary(b, OP_MIN, next_length, carried[1]);
    struct ir_value *other = ir_binary(b, OP_SUB, capacity, carried[0]);
    writer = elab_store_writer(buffers, count, other);
    struct writer bounded = {.write = write_bounded, .offset = carried[1], .next = &writer};
    elab_run(e, next, e->options->check && ir_known(b, shrinks) != IR_TRUE ? &bounded : &writer);
    e->split = split;
    struct ir_value *nexts[3] = {other, next_length, ir_binary(b, OP_ADD, carried[2], ir_int(b, 1))}, *results[3];
    ir_end_while(b, nexts, results);
    map_set(e->bounds, results[1], capacity);
    return elab_stored(e, stepping->element, buffers, results[0], results[1]);
}

/* The most elements that a thread steps in registers. */
enum { MOST_IN_REGISTERS = 64 };

/* Is it a thread's array of a few elements, whose number is static and which each step keeps? */
static bool fits_registers(struct elaborator *e, const struct stepping *stepping, struct push *initial) {
    struct ir_value *length = elab_push_length(e, initial);
    if (stepping->level != LEVEL_THREAD || !length)
        return false;
    length = ir_resolve(e->builder, length);
    if (!length->is_constant || length->constant.integer > MOST_IN_REGISTERS)
        return false;
    e->shape++;
    struct pull *array = unknown_array(e, stepping->element, length);
    struct ir_value *next = elab_push_length(e, next_push(e, stepping, array, NULL));
    e->shape--;
    return next && ir_resolve(e->builder, next) == length;
}

/* Registers cannot be indexed, so which of two halves is read must not depend on the step: each step makes a new array, and is
   then copied over the old one, which costs nothing where both are in registers. */
static struct pull *step_in_registers(struct elaborator *e, const struct stepping *stepping, struct push *initial) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, initial);
    size_t count;
    struct ir_buffer **buffers = elab_buffers(e, stepping->element, LEVEL_THREAD, length, NULL, &count);
    for (size_t i = 0; i < count; i++)
        buffers[i]->rewritten = true;
    allocate(e, buffers, count);
    struct writer writer = elab_store_writer(buffers, count, NULL);
    elab_run(e, initial, &writer);
    struct pull *array = elab_stored(e, stepping->element, buffers, NULL, length);
    struct ir_value *done = ir_int(b, 0), *result;
    int64_t low = 0, high = INT32_MAX;
    ir_begin_while(b, &done, 1, &low, &high);
    ir_while_body(b, goes_on(e, stepping, array, done));
    struct split_frame *split = e->split;
    e->split = NULL;
    struct pull *next = elab_force(e, next_push(e, stepping, array, done), stepping->element);
    elab_run(e, elab_push_of_pull(e, LEVEL_THREAD, next), &writer);
    e->split = split;
    struct ir_value *more = ir_binary(b, OP_ADD, done, ir_int(b, 1));
    ir_end_while(b, &more, &result);
    return array;
}

static struct elab_value *step(struct elaborator *e, const struct stepping *stepping, struct push *initial) {
    struct ir_builder *b = e->builder;
    int steps = static_steps(e, stepping, initial, e->options->unroll);
    if (steps < 0)
        steps = counted_steps(e, stepping, initial, e->options->unroll);
    if (steps < 0 && e->shape)
        return elab_of_pull(e, step_shape(e, stepping, initial));
    if (steps < 0)
        return elab_of_pull(e, fits_registers(e, stepping, initial) ? step_in_registers(e, stepping, initial)
                                                                    : step_dynamically(e, stepping, initial));
    struct pull *array = elab_force(e, initial, stepping->element);
    for (int i = 0; i < steps; i++) {
        struct push *next = next_push(e, stepping, array, ir_int(b, i));
        struct ir_value *length = elab_push_length(e, next);
        if (!e->shape && length)
            check_shrinks(e, stepping, ir_resolve(b, array->length), ir_resolve(b, length));
        array = elab_force(e, next, stepping->element);
    }
    return elab_of_pull(e, array);
}

struct elab_value *elab_WHILE(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                              struct elab_value **arguments) {
    (void)primitive;
    struct stepping stepping = {.condition = arguments[0],
                                .step = arguments[1],
                                .element = elab_type(e, instance, 0),
                                .level = elab_level(e, instance, 0),
                                .span = e->span};
    return step(e, &stepping, elab_as_push(e, arguments[2]));
}

struct elab_value *elab_POWER(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                              struct elab_value **arguments) {
    (void)primitive;
    struct ir_value *count = elab_as_scalar(e, arguments[0]);
    struct push *initial = elab_as_push(e, arguments[2]);
    struct type *element = elab_type(e, instance, 0);
    struct stepping stepping = {
        .step = arguments[1], .count = count, .element = element, .level = elab_level(e, instance, 0), .span = e->span};
    if (!count) /* while only lengths matter, a number that depends on data */
        return elab_of_pull(e, step_shape(e, &stepping, initial));
    return step(e, &stepping, initial);
}
