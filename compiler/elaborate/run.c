/* Iteration schemes that run another array, and arrays that are run together. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/push.h"

static void write_mapped(struct elaborator *e, const struct writer *self, struct ir_value *index,
                         struct elab_value *element) {
    const struct push *push = self->push;
    struct elab_value *mapped = !element               ? NULL
                                : push->map.with_index ? elab_apply2(e, push->function, elab_scalar(e, index), element)
                                                       : elab_apply(e, push->function, element);
    self->next->write(e, self->next, index, mapped);
}

static void write_permuted(struct elaborator *e, const struct writer *self, struct ir_value *index,
                           struct elab_value *element) {
    struct ir_value *place = elab_as_scalar(e, elab_apply(e, self->push->function, elab_scalar(e, index)));
    self->next->write(e, self->next, place, element);
}

static void write_shifted(struct elaborator *e, const struct writer *self, struct ir_value *index,
                          struct elab_value *element) {
    struct ir_value *place = ir_binary(e->builder, OP_ADD, self->offset, index);
    ir_assume(e->builder, ir_binary(e->builder, OP_LE, self->offset, place)); /* lengths do not wrap */
    self->next->write(e, self->next, place, element);
}

/* If the length is one: -1 says nothing. With --check its complement is stored, as 0 says that
   there was none before. */
static void write_length(struct elaborator *e, const struct push *push, struct ir_value *length) {
    struct ir_builder *b = e->builder;
    struct ir_value *says = ir_binary(b, OP_LE, ir_int(b, 0), length);
    if (ir_known(b, says) == IR_FALSE)
        return;
    ir_begin_if(b, says);
    if (elab_checks_all(e))
        elab_check_said(e, push, length);
    else
        ir_store(b, push->into.said, ir_int(b, 0), length);
    ir_end_only(b);
}

/* Elements that say where they belong, and before that, of forceUpTo's, how many there are. */
static void write_placed(struct elaborator *e, const struct writer *self, struct ir_value *index,
                         struct elab_value *element) {
    (void)index;
    if (!element) /* nobody knows what it would be the place of */
        return;
    if (element->kind != ELAB_TUPLE)
        elab_internal(e, "a write is no pair");
    struct elab_value **items = element->tuple.items;
    if (self->push->into.said)
        write_length(e, self->push, elab_as_scalar(e, *items++));
    elab_write_within(e, self->next, elab_as_scalar(e, items[0]), items[1], self->push->total);
}

/* ---- running ---- */

/* A thread writes the items of a list one after the other, each by code of its own. */
static bool is_thread_list(const struct elaborator *e, const struct push *push) {
    const struct pull *array = push->array;
    while (array->kind == PULL_MAP)
        array = array->of;
    return push->level == LEVEL_THREAD && array->kind == PULL_LIST &&
           array->length->constant.integer <= e->options->unroll;
}

/* In which order their loop goes through the elements: that of memory, where one is written or read; or NULL. */
static const struct element_order *order_of(const struct running *all, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (all[k].writer->order)
            return all[k].writer->order;
    for (size_t k = 0; k < count; k++)
        if (order_of_pull(all[k].push->array))
            return order_of_pull(all[k].push->array);
    return NULL;
}

/* All of them have so many elements. */
static void run_pulls(struct elaborator *e, const struct running *all, size_t count) {
    struct push *first = all[0].push;
    if (elab_is_none(e, first->array->length))
        return;
    if (count == 1 && is_thread_list(e, first)) {
        for (int64_t k = 0; k < ir_resolve(e->builder, first->array->length)->constant.integer; k++)
            all->writer->write(e, all->writer, ir_int(e->builder, k),
                               elab_index(e, first->array, ir_int(e->builder, k)));
        return;
    }
    struct ir_value *place = elab_begin_threads(e, first->level, ir_resolve(e->builder, first->array->length)),
                    *i = place;
    const struct element_order *order = order_of(all, count);
    if (order)
        i = order_index(e, order, place);
    struct elab_value **elements = ARENA_ARRAY(e->arena, struct elab_value *, count);
    for (size_t k = 0; k < count; k++)
        elements[k] = elab_index(e, all[k].push->array, i);
    for (size_t k = 0; k < count; k++)
        all[k].writer->write(e, all[k].writer, i, elements[k]);
    elab_end_threads(e, first->level, place);
}

void elab_run_pull(struct elaborator *e, struct push *push, const struct writer *writer) {
    run_pulls(e, &(struct running){push, writer}, 1);
}

void elab_run_map(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct writer mapped = {.write = write_mapped, .push = push, .next = writer, .order = writer->order};
    elab_run(e, push->of, &mapped);
}

void elab_run_append(struct elaborator *e, struct push *push, const struct writer *writer) {
    elab_run_together(e, &(struct running){push, writer}, 1);
}

void elab_run_permute(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct writer permuted = {.write = write_permuted, .push = push, .next = writer};
    elab_run(e, push->of, &permuted);
}

void elab_run_permute_into(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct writer pairs = {.write = write_placed, .push = push, .next = writer};
    elab_run(e, push->of, &pairs);
}

void elab_run_choice(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *condition = ir_resolve(b, push->both.condition);
    switch (ir_known(b, condition)) {
    case IR_TRUE: elab_run(e, push->of, writer); return;
    case IR_FALSE: elab_run(e, push->both.second, writer); return;
    case IR_UNKNOWN: break;
    }
    ir_begin_if(b, condition);
    elab_run(e, push->of, writer);
    ir_else(b, NULL, 0);
    elab_run(e, push->both.second, writer);
    ir_end_if(b, NULL, NULL, 0, true);
}

/* ---- running together ----

   note [together]
   Arrays that a program stores at one time, as the results of a kernel, the parts of a tuple and
   those of an `append`, share a loop, at grid a launch, where they have as many elements or as
   many chunks. Elements share what the builder finds to be the same (loads among it). A chunk is
   elaborated once for all that are made of it: arrays keep the elements that were asked for in the
   region of `together` whatever was stored since, for nothing there is written twice
   (note [asked again]). Updates come last, as they may write over what the others read, and the
   last of these are those that do so for certain (note [taking turns] in step.c). */

/* So many parts of an append are looked at, so that very many take no time by their square. */
enum { MOST_JOINED = 64 };

/* Views write elsewhere what another array runs; the two parts of an append are two arrays. */
static void add_running(struct elaborator *e, runnings *all, struct push *push, const struct writer *writer) {
    elab_count_step(e, e->span); /* of n appends there may be 2^n parts */
    struct writer *next;
    switch (push->kind) {
    case PUSH_MAP:
        next = ARENA_NEW(e->arena, struct writer);
        *next = (struct writer){.write = write_mapped, .push = push, .next = writer, .order = writer->order};
        add_running(e, all, push->of, next);
        return;
    case PUSH_APPEND:
        add_running(e, all, push->of, writer);
        next = ARENA_NEW(e->arena, struct writer);
        *next = (struct writer){.write = write_shifted, .offset = elab_push_length(e, push->of), .next = writer};
        add_running(e, all, push->both.second, next);
        return;
    default: vec_push(e->arena, all, ((struct running){push, writer}));
    }
}

/* A concat, an interleave or an interleaveInto: their chunks may be run together. */
static bool is_of_chunks(const struct push *push) { return elab_schemes[push->kind].run == elab_run_chunks; }

static bool is_joined(struct elaborator *e, struct push *x, struct push *y) {
    bool may_be = x->kind == PUSH_PULL ? y->kind == PUSH_PULL : is_of_chunks(x) && is_of_chunks(y);
    if (!may_be || x->level != y->level || !elab_is_same_length(e, x->array->length, y->array->length))
        return false;
    if (x->kind == PUSH_PULL)
        return !is_thread_list(e, x) && !is_thread_list(e, y);
    bool are_marked = (x->function || y->function) && e->guards;
    return x->chunks.level == y->chunks.level && !are_marked;
}

static void run_joined(struct elaborator *e, const runnings *joined) {
    if (joined->count == 1)
        elab_run(e, joined->at[0].push, joined->at[0].writer);
    else if (joined->at[0].push->kind == PUSH_PULL)
        run_pulls(e, joined->at, joined->count);
    else
        elab_run_all_chunks(e, joined->at, joined->count);
}

void elab_run_together(struct elaborator *e, const struct running *wanted, size_t count) {
    if (e->shape)
        return;
    struct split_frame *split = e->split;
    e->split = NULL; /* as in elab_run */
    runnings all = {0}, updates = {0}, over = {0};
    for (size_t k = 0; k < count; k++)
        add_running(e, &all, wanted[k].push, wanted[k].writer);
    bool *is_done = ARENA_ARRAY(e->arena, bool, all.count + 1);
    for (size_t i = 0; i < all.count; i++) {
        if (is_done[i])
            continue;
        runnings joined = {0};
        struct push *first = all.at[i].push;
        if (elab_is_update(first)) {
            vec_push(e->arena, first->update.is_over ? &over : &updates, all.at[i]);
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
    for (size_t i = 0; i < over.count; i++)
        vec_push(e->arena, &updates, over.at[i]);
    for (size_t i = 0; i < updates.count; i++)
        for (size_t k = 0; k < i; k++)
            elab_hold_pairs(e, updates.at[i].push, updates.at[k].push);
    for (size_t i = 0; i < updates.count; i++)
        elab_run(e, updates.at[i].push, updates.at[i].writer);
    e->split = split;
}
