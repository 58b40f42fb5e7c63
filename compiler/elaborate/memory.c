/* Memory for stored arrays and scalars, and force. */
#include "elaborate/check.h"
#include "elaborate/push.h"

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
    base_list bases = elab_bases_of(e, element);
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
struct type elab_float_type = {.kind = TYPE_BASE, .base = BASE_F32};

struct pull *elab_stored(struct elaborator *e, struct type *element, struct ir_buffer **buffers,
                         struct ir_value *offset, struct ir_value *length) {
    struct pull *pull = elab_pull_new(e, PULL_MEMORY, length);
    pull->memory.element = element;
    pull->memory.buffers = buffers;
    pull->memory.offset = offset;
    return pull;
}

struct pull *elab_unknown_array(struct elaborator *e, struct type *element, struct ir_value *length) {
    struct pull *pull = elab_pull_new(e, PULL_UNKNOWN, length);
    if (e->touched)
        e->touched->others = true;
    pull->memory.element = element;
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

struct pull *elab_force_later(struct elaborator *e, struct push *push, struct type *element,
                              const struct element_order *order, runnings *all) {
    struct ir_value *length = elab_push_length(e, push);
    if (e->shape)
        return elab_unknown_array(e, element, length);
    if (is_stored(push))
        return push->array;
    struct ir_value *capacity = elab_capacity(e, length, push->level);
    size_t count;
    struct ir_buffer **buffers = elab_buffers(e, element, push->level, capacity, NULL, &count);
    elab_allocate(e, buffers, count);
    struct writer writer = elab_store_writer(buffers, count, NULL);
    writer.order = order;
    elab_run_later(e, all, push, writer);
    struct pull *stored = elab_stored(e, element, buffers, NULL, length);
    stored->order = order;
    return stored;
}

struct pull *elab_force(struct elaborator *e, struct push *push, struct type *element) {
    runnings all = {0};
    struct pull *stored = elab_force_later(e, push, element, NULL, &all);
    if (all.count)
        elab_run(e, push, all.at[0].writer);
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
    struct ir_value *length = ir_load(b, push->into.said, ir_int(b, 0));
    if (elab_checks_all(e))
        length = ir_unary(b, OP_BIT_NOT, length);
    return ir_binary(b, OP_MIN, ir_binary(b, OP_MAX, length, ir_int(b, 0)), push->total);
}
