/* Push arrays whose iteration scheme is their own: pushEach, scanl, seqfor, scatter. */
#include <string.h>

#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"

/* ---- pushEach ---- */

static struct elab_value **pair_at(struct elaborator *e, struct pull *pairs, struct ir_value *which) {
    struct elab_value *pair = elab_index(e, pairs, which);
    if (pair->kind != ELAB_TUPLE)
        elab_internal(e, "a write is no pair");
    return pair->tuple.items;
}

static void write_pair(struct elaborator *e, struct elab_value **pair, const struct writer *writer) {
    writer->write(e, writer, elab_as_scalar(e, pair[0]), pair[1]);
}

/* All that is read is read before the first write: loads are under way together, and what is
   written may be what is read. */
static void write_list(struct elaborator *e, struct pull *pairs, int64_t count, const struct writer *writer) {
    struct elab_value ***read = ARENA_ARRAY(e->arena, struct elab_value **, count);
    for (int64_t k = 0; k < count; k++)
        read[k] = pair_at(e, pairs, ir_int(e->builder, k));
    for (int64_t k = 0; k < count; k++)
        write_pair(e, read[k], writer);
}

/* How many writes there are in an iteration is part of the code, not of the data: each is a statement, without a branch
   around it. Only very many of them, which no list has, become a loop. */
void elab_run_each(struct elaborator *e, struct push *push, const struct writer *writer) {
    if (elab_is_none(e, push->each.count))
        return;
    struct ir_builder *b = e->builder;
    struct ir_value *i = elab_begin_threads(e, push->level, ir_resolve(b, push->each.count));
    struct pull *pairs = elab_as_pull(e, elab_apply(e, push->function, elab_scalar(e, i)));
    struct ir_value *writes = pairs->length ? ir_resolve(b, pairs->length) : NULL;
    if (!writes || !writes->is_constant)
        elab_fail(
            e, DIAG_DYNAMIC_WRITES, push->span,
            "how many writes an iteration of this `pushEach` makes must be known at compile time: give it a list, "
            "as in [(i, x), (j, y)], or a `generate` of a constant length");
    if (pairs->kind == PULL_LIST) {
        write_list(e, pairs, writes->constant.integer, writer);
    } else if (writes->constant.integer > e->options->unroll && writes->constant.integer > 1) {
        write_pair(e, pair_at(e, pairs, ir_begin_for(b, writes, NULL, 0, "k")), writer);
        ir_end_for(b, NULL, NULL);
    } else {
        for (int64_t k = 0; k < writes->constant.integer; k++)
            write_pair(e, pair_at(e, pairs, ir_int(b, k)), writer);
    }
    elab_end_threads(e, push->level, i);
}

PRIMITIVE(PUSH_EACH) {
    struct ir_value *total = elab_given_length(e, arguments[0]), *count = elab_given_length(e, arguments[1]);
    enum level_value level = elab_level(e, instance, 0);
    return NEW_PUSH(EACH, level, .total = total, .each.count = count, .function = arguments[2]);
}

/* ---- scanl ---- */

/* The state is in registers, as foldl's; each one is written as soon as it is there. */
void elab_run_scanl(struct elaborator *e, struct push *push, const struct writer *writer) {
    if (elab_is_none(e, push->array->length))
        return;
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, push->array->length);
    struct elab_value *state = push->scanl.initial;
    if (length->is_constant && push->array->kind == PULL_LIST) { /* each item has code of its own */
        for (int64_t i = 0; i < length->constant.integer; i++) {
            state = elab_apply2(e, push->function, state, elab_index(e, push->array, ir_int(b, i)));
            writer->write(e, writer, ir_int(b, i), state);
        }
        return;
    }
    ir_values carried = elab_leaves(e, state);
    size_t count = carried.count;
    struct ir_value **current = ARENA_ARRAY(e->arena, struct ir_value *, count);
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, count);
    memcpy(current, carried.at, count * sizeof *current);
    struct ir_value *i = ir_begin_for(b, length, current, count, "i");
    struct elab_value *now = elab_unflatten(e, state, current);
    struct elab_value *after = elab_apply2(e, push->function, now, elab_index(e, push->array, i));
    writer->write(e, writer, i, after);
    ir_values nexts = elab_leaves(e, after);
    ir_end_for(b, nexts.at, results);
}

PRIMITIVE(SCANL) {
    struct pull *array = elab_as_pull(e, arguments[2]);
    return NEW_PUSH(SCANL, LEVEL_THREAD, .function = arguments[0], .array = array, .scanl.initial = arguments[1]);
}

/* ---- seqfor ---- */

static bool are_private(const struct writer *writer) {
    for (size_t i = 0; i < writer->buffer_count; i++)
        if (writer->buffers[i]->memory != MEMORY_PRIVATE)
            return false;
    return true;
}

/* The loop reads back the elements that it has written, from a private array. This is the array into which the result
   is forced, if the elements go there unchanged. Otherwise it is a second array, as elements may be changed, moved or
   out of reach on their way. */
void elab_run_seqfor(struct elaborator *e, struct push *push, const struct writer *writer) {
    if (elab_is_none(e, push->total))
        return;
    struct ir_builder *b = e->builder;
    bool is_shared = elab_writes_plainly(writer) && are_private(writer);
    struct ir_buffer **buffers = writer->buffers;
    size_t count = writer->buffer_count;
    struct writer own;
    if (!is_shared) {
        struct ir_value *capacity = elab_capacity(e, push->total, LEVEL_THREAD);
        buffers = elab_buffers(e, push->seqfor.element, LEVEL_THREAD, capacity, NULL, &count);
        for (size_t k = 0; k < count; k++)
            ir_allocate(b, buffers[k]);
        own = elab_store_writer(buffers, count, NULL);
    }
    for (size_t k = 0; k < count; k++)
        buffers[k]->rewritten = true;
    struct ir_value *i = ir_begin_for(b, ir_resolve(b, push->total), NULL, 0, "i");
    struct pull *before = elab_stored(e, push->seqfor.element, buffers, is_shared ? writer->offset : NULL, i);
    struct elab_value *element = elab_apply2(e, push->function, elab_scalar(e, i), elab_of_pull(e, before));
    if (!is_shared)
        own.write(e, &own, i, element);
    writer->write(e, writer, i, element);
    ir_end_for(b, NULL, NULL);
}

PRIMITIVE(SEQFOR) {
    return NEW_PUSH(SEQFOR, LEVEL_THREAD, .function = arguments[1], .total = elab_given_length(e, arguments[0]),
                    .seqfor.element = elab_type(e, instance, 0));
}

/* ---- scanByIndex ---- */

/* Combines the bucket, where there is one, and gives what it held before. */
static struct elab_value *pass_bucket(struct elaborator *e, const struct push *push, const struct writer *store,
                                      struct pull *buckets, struct ir_value *index, struct elab_value *element) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, push->array->length);
    struct ir_value *inside = elab_is_inside(e, index, length);
    enum ir_truth truth = ir_known(b, inside);
    if (truth == IR_FALSE)
        return element;
    ir_values otherwise = elab_leaves(e, element);
    if (truth == IR_UNKNOWN)
        ir_begin_if(b, inside);
    struct elab_value *old = elab_index(e, buckets, index);
    store->write(e, store, index, elab_apply2(e, push->function, old, element));
    if (truth == IR_TRUE)
        return old;
    ir_values held = elab_leaves(e, old);
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, held.count);
    ir_else(b, held.at, held.count);
    ir_end_if(b, otherwise.at, results, held.count, false);
    return elab_unflatten(e, element, results);
}

void elab_run_scan_by_index(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_value *count = push->update.pairs->length;
    if (elab_is_none(e, count))
        return;
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, push->array->length);
    size_t buffer_count;
    struct ir_buffer **buffers = elab_buffers(e, push->update.element, LEVEL_THREAD,
                                              elab_capacity(e, length, LEVEL_THREAD), NULL, &buffer_count);
    for (size_t k = 0; k < buffer_count; k++) {
        buffers[k]->rewritten = true;
        ir_allocate(b, buffers[k]);
    }
    struct writer store = elab_store_writer(buffers, buffer_count, NULL);
    elab_run(e, elab_push_of_pull(e, LEVEL_THREAD, push->array), &store);
    struct pull *held = elab_stored(e, push->update.element, buffers, NULL, length);
    struct ir_value *i = ir_begin_for(b, ir_resolve(b, count), NULL, 0, "i");
    struct elab_value **pair = pair_at(e, push->update.pairs, i);
    writer->write(e, writer, i, pass_bucket(e, push, &store, held, elab_as_scalar(e, pair[0]), pair[1]));
    ir_end_for(b, NULL, NULL);
}

PRIMITIVE(SCAN_BY_INDEX) {
    return NEW_PUSH(SCAN_BY_INDEX, LEVEL_THREAD, .function = arguments[0], .array = elab_as_pull(e, arguments[1]),
                    .update = {.pairs = elab_as_pull(e, arguments[2]), .element = elab_type(e, instance, 0)});
}

/* ---- scatter ---- */

/* Two phases: the array is copied, then the pairs are stored over the copy. They are loops of
   their own, so at block there is a barrier between them and at grid the one is launched after the
   other.

   note [whole tuples]
   Pairs may name a place twice, and the components of a tuple are stored one after the other: a
   tuple could be made of two pairs. So where elements have several components each pair first puts
   its number at its place in an array of numbers, and only the pair whose number has stayed there
   stores its tuple. The array need not be cleared: a pair looks only where it has stored before.
   Pairs of one element share its number: one thread stores them one after the other.
   One thread alone does not mix its pairs up, and on a processor a block is one thread. */

struct scattering {
    const struct writer *writer;
    struct ir_value *length, *number; /* of the array; of the element */
    struct ir_buffer *chosen;         /* see note [whole tuples]; or NULL */
};

static void choose_pair(struct elaborator *e, void *context, struct elab_value *pair) {
    const struct scattering *s = context;
    struct ir_value *place = elab_as_scalar(e, pair->tuple.items[0]);
    enum ir_truth is_inside = ir_begin_choice(e->builder, elab_is_inside(e, place, s->length));
    if (is_inside != IR_FALSE)
        ir_store(e->builder, s->chosen, place, s->number);
    ir_end_only_choice(e->builder, is_inside);
}

/* The numbers of the elements that store, by places. */
static void choose_pairs(struct elaborator *e, struct push *push, struct scattering *s) {
    struct ir_builder *b = e->builder;
    size_t count;
    struct ir_value *capacity = elab_capacity(e, s->length, push->level);
    s->chosen = *elab_buffers(e, &elab_int_type, push->level, capacity, "chosen", &count);
    ir_allocate(b, s->chosen);
    s->number = elab_begin_threads(e, push->level, ir_resolve(b, push->update.pairs->length));
    bool before = ir_set_may_meet(b, true);
    elab_take_pairs(e, push, s->number, choose_pair, s);
    ir_set_may_meet(b, before);
    elab_end_threads(e, push->level, s->number);
}

static bool is_one_thread(const struct elaborator *e, const struct push *push) {
    return push->level == LEVEL_THREAD || (e->options->is_cpu && push->level == LEVEL_BLOCK);
}

static bool may_mix_tuples(struct elaborator *e, const struct push *push) {
    base_list leaves = elab_bases_of(e, push->update.element);
    return leaves.count > 1 && push->update.pairs->length->high > 1 && !is_one_thread(e, push) &&
           !push->update.are_distinct;
}

static void store_pair(struct elaborator *e, void *context, struct elab_value *pair) {
    const struct scattering *s = context;
    struct ir_builder *b = e->builder;
    struct ir_value *place = elab_as_scalar(e, pair->tuple.items[0]);
    enum ir_truth is_inside = ir_begin_choice(e->builder, elab_is_inside(e, place, s->length)), is_chosen = IR_TRUE;
    if (is_inside != IR_FALSE && s->chosen) {
        struct ir_value *stays = ir_binary(b, OP_EQ, ir_load(b, s->chosen, place), s->number);
        is_chosen = ir_begin_choice(b, stays);
    }
    if (is_inside != IR_FALSE && is_chosen != IR_FALSE)
        s->writer->write(e, s->writer, place, pair->tuple.items[1]);
    ir_end_only_choice(e->builder, is_chosen);
    ir_end_only_choice(e->builder, is_inside);
}

static void store_pairs(struct elaborator *e, struct push *push, const struct writer *writer, struct ir_value *length) {
    struct ir_builder *b = e->builder;
    struct scattering s = {.writer = writer, .length = length};
    if (may_mix_tuples(e, push))
        choose_pairs(e, push, &s);
    s.number = elab_begin_threads(e, push->level, ir_resolve(b, push->update.pairs->length));
    bool may_meet = !s.chosen && push->level > LEVEL_THREAD && !push->update.are_distinct;
    bool overwrote = ir_set_overwrites(b, true), met = ir_set_may_meet(b, may_meet);
    elab_take_pairs(e, push, s.number, store_pair, &s);
    ir_set_overwrites(b, overwrote);
    ir_set_may_meet(b, met);
    elab_end_threads(e, push->level, s.number);
}

struct finding {
    struct push *push;
    const struct writer *writer;
};

static void find_pair(struct elaborator *e, void *context, struct elab_value *pair) {
    const struct finding *finding = context;
    const struct writer *writer = finding->writer;
    struct ir_builder *b = e->builder;
    struct ir_value *place = elab_as_scalar(e, pair->tuple.items[0]);
    struct ir_value *inside = elab_is_inside(e, place, ir_resolve(b, finding->push->array->length));
    enum ir_truth truth = ir_begin_choice(b, inside);
    if (truth != IR_FALSE) {
        ir_values leaves = elab_leaves(e, pair->tuple.items[1]);
        struct ir_value *at = writer->offset ? ir_binary(b, OP_ADD, writer->offset, place) : place;
        struct ir_value *same = ir_bool(b, true);
        for (size_t k = 0; k < leaves.count; k++) {
            struct ir_value *stored = ir_load_stored(b, writer->buffers[k], at);
            same = ir_binary(b, OP_AND, same,
                             ir_binary(b, OP_EQ, ir_bits(e->builder, stored), ir_bits(e->builder, leaves.at[k])));
        }
        elab_check_push(e, finding->push, CHECK_SCATTER, same, place, place);
    }
    ir_end_only_choice(b, truth);
}

/* Once all pairs are stored, each must find its value at its place. */
static void check_scatter(struct elaborator *e, struct push *push, const struct writer *writer) {
    if (!elab_checks_all(e) || !elab_writes_plainly(writer))
        return;
    for (size_t k = 0; k < writer->buffer_count; k++)
        writer->buffers[k]->rewritten = true;
    struct ir_value *i = elab_begin_threads(e, push->level, ir_resolve(e->builder, push->update.pairs->length));
    struct finding finding = {push, writer};
    elab_take_pairs(e, push, i, find_pair, &finding);
    elab_end_threads(e, push->level, i);
}

void elab_run_scatter(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_value *length = ir_resolve(e->builder, push->array->length);
    struct push copy = *push;
    copy.kind = PUSH_PULL;
    elab_hold_pairs(e, push, push);
    if (elab_checks_all(e) && !elab_writes_plainly(writer)) { /* what each place got can be looked at in memory only */
        copy.array = elab_force(e, push, push->update.element);
        elab_run(e, &copy, writer);
        return;
    }
    elab_begin_start(e, push);
    elab_run(e, &copy, writer);
    elab_end_start(e);
    if (!elab_is_none(e, push->update.pairs->length)) {
        store_pairs(e, push, writer, length);
        check_scatter(e, push, writer);
    }
}

static struct elab_value *scatter(struct elaborator *e, const struct instance *instance, struct elab_value **arguments,
                                  bool is_each) {
    struct pull *pairs = elab_as_pull(e, arguments[1]);
    return NEW_PUSH(SCATTER, elab_level(e, instance, 0), .array = elab_as_pull(e, arguments[0]),
                    .update = {.pairs = pairs, .element = elab_type(e, instance, 0), .is_each = is_each});
}

PRIMITIVE(SCATTER) { return scatter(e, instance, arguments, false); }

PRIMITIVE(SCATTER_EACH) { return scatter(e, instance, arguments, true); }
