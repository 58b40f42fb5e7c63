/* Push arrays: how long they are, and running them, by the table of iteration schemes. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/push.h"

struct ir_value *elab_length_of_array(struct elaborator *e, struct push *push) {
    (void)e;
    return push->array->length;
}

struct ir_value *elab_length_of_total(struct elaborator *e, struct push *push) {
    (void)e;
    return push->total;
}

struct ir_value *elab_length_of_pairs(struct elaborator *e, struct push *push) {
    (void)e;
    return push->update.pairs->length;
}

struct ir_value *elab_length_of_inner(struct elaborator *e, struct push *push) {
    return elab_push_length(e, push->of);
}

struct ir_value *elab_length_of_both(struct elaborator *e, struct push *push) {
    struct ir_builder *b = e->builder;
    struct ir_value *x = elab_push_length(e, push->of), *y = elab_push_length(e, push->both.second);
    if (!x || !y)
        return NULL;
    struct ir_value *whole = ir_binary(b, OP_ADD, x, y);
    if (ir_ambient(b) == LEVEL_GRID && !e->shape)
        elab_require_push(e, push, CHECK_LONG, ir_binary(b, OP_LE, ir_int(b, 0), whole), x, y);
    return whole;
}

/* A length that was computed in a shape, without its checks, counts only in shapes. */
static bool is_length_known(struct elaborator *e, const struct push *push) {
    return push->length_known && (e->shape || !push->length_in_shape) &&
           ir_region_inside(ir_current(e->builder), push->length_region);
}

static struct elab_value *length_thunk(struct elaborator *e, void *push) {
    struct ir_value *length = elab_push_length(e, push);
    return length ? elab_scalar(e, length) : elab_unknown(e);
}

/* True if the length is known without computing elements. */
static bool is_known_in_shape(struct elaborator *e, struct push *push) {
    if (is_length_known(e, push))
        return push->length;
    e->shape++;
    bool is_known = elab_schemes[push->kind].length(e, push);
    e->shape--;
    return is_known;
}

struct ir_value *elab_length_of_either(struct elaborator *e, struct push *push) {
    struct ir_value *condition = push->both.condition;
    if (!condition || e->shape || (is_known_in_shape(e, push->of) && is_known_in_shape(e, push->both.second))) {
        struct ir_value *x = elab_push_length(e, push->of), *y = elab_push_length(e, push->both.second);
        return elab_choose_length(e, condition, x, y);
    }
    /* Each length is computed in its own branch: in the other branch that array may not be there. */
    return elab_as_scalar(
        e, elab_choose(e, ir_resolve(e->builder, condition), length_thunk, push->of, length_thunk, push->both.second));
}

struct ir_value *elab_push_length(struct elaborator *e, struct push *push) {
    struct ir_builder *b = e->builder;
    if (!is_length_known(e, push)) {
        push->length = elab_schemes[push->kind].length(e, push);
        push->length_region = ir_current(b);
        push->length_known = true;
        push->length_in_shape = e->shape;
    }
    return push->length ? ir_resolve(b, push->length) : NULL;
}

struct ir_value *elab_length(struct elaborator *e, struct elab_value *array) {
    return array->kind == ELAB_PUSH ? elab_push_length(e, array->push) : elab_as_pull(e, array)->length;
}

/* ---- running ---- */

void elab_run(struct elaborator *e, struct push *push, const struct writer *writer) {
    if (e->shape)
        return;
    elab_count_step(e, e->span);
    const struct elab_scheme *scheme = &elab_schemes[push->kind];
    struct split_frame *split = e->split;
    e->split = NULL; /* elements are not chunks, and each chunk has a frame of its own */
    scheme->check(e, push, writer, scheme->run);
    e->split = split;
}

void elab_run_later(struct elaborator *e, runnings *all, struct push *push, struct writer writer) {
    struct writer *kept = ARENA_NEW(e->arena, struct writer);
    *kept = writer;
    vec_push(e->arena, all, ((struct running){push, kept}));
}

void elab_run_if(struct elaborator *e, struct ir_value *condition, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    enum ir_truth truth = ir_begin_choice(b, condition);
    if (truth != IR_FALSE)
        elab_run(e, push, writer);
    ir_end_only_choice(b, truth);
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

int elab_block_threads(const struct elaborator *e) { return ir_block_threads(e->kernel, ir_current(e->builder)); }

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

static void write_store(struct elaborator *e, const struct writer *self, struct ir_value *index,
                        struct elab_value *element) {
    if (self->order)
        index = order_place(e, self->order, index);
    if (self->offset)
        index = ir_binary(e->builder, OP_ADD, self->offset, ir_convert(e->builder, index, self->offset->base));
    if (!element) {
        for (size_t i = 0; i < self->buffer_count; i++)
            ir_store(e->builder, self->buffers[i], index,
                     ir_constant(e->builder, self->buffers[i]->element, (union scalar){.natural = 0}));
        return;
    }
    ir_values leaves = elab_leaves(e, element);
    if (leaves.count != self->buffer_count)
        elab_internal(e, "an element has more components than its buffers");
    elab_count_step(e, e->span); /* a list may have many items, of which each is a store */
    for (size_t i = 0; i < leaves.count; i++)
        ir_store(e->builder, self->buffers[i], index, leaves.at[i]);
}

struct writer elab_store_writer(struct ir_buffer **buffers, size_t count, struct ir_value *offset) {
    return (struct writer){.write = write_store, .buffers = buffers, .buffer_count = count, .offset = offset};
}

bool elab_writes_plainly(const struct writer *writer) { return writer->write == write_store && !writer->order; }
