/* Places that a function of the program gives, with --check: a bit for every place of the result
   says that it was written. With --check=memory the result is cleared first, but where each place
   is known to be written (note [covered]).

   note [covered]
   Where all places are inside, and no two elements have one, there are as many places as elements:
   all of them. That no two are the same is seen by bits (ir/build/bits.h), or as the place is an odd
   multiple of the index and something that all have alike. The prelude says `covers` of what it
   writes whole, which is tested, and not trusted with being inside. */
#include "elaborate/value.h"
#include "ir/build/bits.h"
#include "ir/build/linear.h"

struct marking {
    struct push *push;
    enum ir_check outside;
    struct ir_buffer *marks;
    struct ir_value *length;
    bool is_over; /* a place may be written again */
    bool is_cleared;
};

static enum ir_memory marks_memory(enum level_value level) {
    return level == LEVEL_GRID ? MEMORY_OUTPUT : level == LEVEL_THREAD ? MEMORY_PRIVATE : MEMORY_SHARED;
}

/* Whether it may be written: for the first time, mostly. */
static struct ir_value *mark(struct elaborator *e, const struct marking *marking, struct ir_value *place) {
    struct ir_builder *b = e->builder;
    struct ir_value *word = ir_binary(b, OP_SHR, place, ir_int(b, 5));
    struct ir_value *at = ir_convert(b, ir_binary(b, OP_AND, place, ir_int(b, 31)), BASE_U32);
    struct ir_value *one = ir_constant(b, BASE_U32, (union scalar){.natural = 1});
    struct ir_value *zero = ir_constant(b, BASE_U32, (union scalar){.natural = 0});
    struct ir_value *bit = ir_binary(b, OP_SHL, one, at), *old;
    if (marking->marks->memory == MEMORY_PRIVATE) {
        old = ir_load(b, marking->marks, word);
        ir_store(b, marking->marks, word, ir_binary(b, OP_OR, old, bit));
    } else {
        old = ir_atomic(b, ATOMIC_OR, marking->marks, word, bit);
    }
    if (marking->is_over)
        return ir_bool(b, true);
    struct ir_value *is_first = ir_binary(b, OP_EQ, ir_binary(b, OP_AND, old, bit), zero);
    elab_check_push(e, marking->push, CHECK_TWICE, is_first, place, marking->length);
    return is_first;
}

static void write_marked(struct elaborator *e, const struct writer *self, struct ir_value *index,
                         struct elab_value *element) {
    const struct marking *marking = self->marking;
    struct ir_builder *b = e->builder;
    struct ir_value *inside = elab_is_inside(e, index, marking->length);
    elab_check_push(e, marking->push, marking->outside, inside, index, marking->length);
    enum ir_truth truth = ir_known(b, inside);
    if (truth == IR_FALSE)
        return;
    if (truth == IR_UNKNOWN)
        ir_begin_if(b, inside);
    ir_begin_if(b, mark(e, marking, index)); /* two writes would be a race */
    self->next->write(e, self->next, index, element);
    ir_end_only(b);
    ir_end_only_choice(b, truth);
}

/* Places outside are left out. */
static void write_inside(struct elaborator *e, const struct writer *self, struct ir_value *index,
                         struct elab_value *element) {
    const struct marking *marking = self->marking;
    struct ir_builder *b = e->builder;
    elab_check_push(e, marking->push, marking->outside, elab_is_inside(e, index, marking->length), index,
                    marking->length);
    bool before = ir_set_overwrites(b, false);
    ir_set_overwrites(b, before || marking->is_cleared);
    elab_write_within(e, self->next, index, element, marking->length);
    ir_set_overwrites(b, before);
}

enum { MOST_COVERING = 16 };

struct covering {
    const struct push *push;
    struct ir_value *length;
    ir_values places; /* of one iteration */
    const struct ir_value *index;
    const struct ir_region *body;
    bool is_covered;
};

static bool varies_in(const struct ir_region *body, const struct ir_value *value) {
    const struct ir_region *region = value->definition ? value->definition->region : value->region;
    return region && ir_region_inside(region, body);
}

/* The place as a sum in which the index alone varies. */
static bool is_sum_of_index(struct elaborator *e, const struct covering *c, struct ir_value *place,
                            struct linear *sum) {
    if (!linear_of(e->builder, place, sum))
        return false;
    for (size_t i = 0; i < sum->count; i++)
        if (sum->term[i].value != c->index && varies_in(c->body, sum->term[i].value))
            return false;
    return true;
}

/* Two places of two iterations, whichever they are. */
static bool are_apart_by_sums(struct elaborator *e, const struct covering *c, struct ir_value *x, struct ir_value *y) {
    struct linear a, b;
    if (!is_sum_of_index(e, c, x, &a))
        return false;
    int64_t factor = linear_coefficient(&a, c->index);
    if (x == y)
        return factor % 2 != 0;
    /* Without wrapping, as both are places. */
    return is_sum_of_index(e, c, y, &b) && linear_add(&b, &a, -1) && b.count == 0 && factor != 0 &&
           b.constant % factor != 0;
}

static bool are_apart(struct elaborator *e, const struct covering *c, struct ir_value *x, struct ir_value *y) {
    if (are_apart_by_sums(e, c, x, y))
        return true;
    return ir_places_apart(x, y, c->index, c->body) && (x == y || ir_places_differ(x, y, c->body));
}

static bool are_all_apart(struct elaborator *e, const struct covering *c) {
    for (size_t k = 0; k < c->places.count; k++) {
        if (!ir_prove(e->builder, elab_is_inside(e, c->places.at[k], c->length)))
            return false;
        for (size_t j = 0; j <= k; j++)
            if ((j < k && c->places.at[j] == c->places.at[k]) ||
                (!c->index->is_constant && !are_apart(e, c, c->places.at[j], c->places.at[k])))
                return false;
    }
    return true;
}

static void add_place(struct elaborator *e, struct covering *c, struct elab_value *place) {
    struct ir_value *at = elab_as_scalar(e, place);
    if (at)
        vec_push(e->arena, &c->places, ir_resolve(e->builder, at));
}

static void see_permuted(struct elaborator *e, void *context) {
    struct covering *c = context;
    c->index = elab_begin_threads(e, c->push->level, c->length);
    c->body = ir_current(e->builder);
    add_place(e, c, elab_apply(e, c->push->function, elab_scalar(e, (struct ir_value *)c->index)));
    c->is_covered = c->places.count == 1 && are_all_apart(e, c);
}

static void see_each(struct elaborator *e, void *context) {
    struct covering *c = context;
    struct ir_builder *b = e->builder;
    struct ir_value *count = ir_resolve(b, c->push->each.count);
    struct ir_value *i = elab_begin_threads(e, c->push->level, count);
    c->index = i;
    c->body = ir_current(b);
    struct pull *pairs = elab_as_pull(e, elab_apply(e, c->push->function, elab_scalar(e, i)));
    const struct ir_value *writes = pairs->length ? ir_resolve(b, pairs->length) : NULL;
    int64_t most = writes && writes->is_constant ? writes->constant.integer : 0;
    for (int64_t k = 0; k < most && most <= MOST_COVERING; k++)
        add_place(e, c, elab_index(e, pairs, ir_int(b, k))->tuple.items[0]);
    struct ir_value *all = ir_binary(b, OP_MUL, count, ir_int(b, most));
    bool is_all = count->high <= INT32_MAX / MOST_COVERING && ir_prove(b, ir_binary(b, OP_EQ, all, c->length));
    c->is_covered = is_all && (int64_t)c->places.count == most && are_all_apart(e, c);
}

/* Elements that say their own index, of as many as there are places, or more. */
static void see_placed(struct elaborator *e, void *context) {
    struct covering *c = context;
    struct ir_builder *b = e->builder;
    struct pull *pairs = c->push->of->array;
    if (c->push->into.said || !pairs->length)
        return;
    struct ir_value *count = ir_resolve(b, pairs->length);
    struct linear sum;
    c->index = elab_begin_threads(e, c->push->level, count);
    c->body = ir_current(b);
    add_place(e, c, elab_index(e, pairs, (struct ir_value *)c->index)->tuple.items[0]);
    c->is_covered = c->places.count == 1 && !c->index->is_constant && is_sum_of_index(e, c, c->places.at[0], &sum) &&
                    sum.count == 1 && sum.constant == 0 && linear_coefficient(&sum, c->index) == 1 &&
                    ir_prove(b, ir_binary(b, OP_LE, c->length, count));
}

/* See note [covered]. */
static bool is_covered(struct elaborator *e, const struct push *push, struct ir_value *length) {
    struct covering c = {.push = push, .length = length};
    bool is_seen = push->kind == PUSH_PERMUTE                                       ? elab_try(e, see_permuted, &c)
                   : push->kind == PUSH_EACH                                        ? elab_try(e, see_each, &c)
                   : push->kind == PUSH_PERMUTE_INTO && push->of->kind == PUSH_PULL ? elab_try(e, see_placed, &c)
                                                                                    : false;
    bool is_said = push->is_covered || (push->kind == PUSH_PERMUTE_INTO && push->of->is_covered); /* of forceUpTo */
    return is_said || (is_seen && c.is_covered);
}

static bool is_cleared(const struct writer *writer) {
    for (; writer; writer = writer->next)
        if (writer->marking && writer->marking->is_cleared)
            return true;
    return false;
}

/* Writers take no element for zeros in memory. */
static void clear(struct elaborator *e, const struct push *push, struct ir_value *length, const struct writer *writer) {
    if (elab_is_none(e, length))
        return;
    struct ir_value *i = elab_begin_threads(e, push->level, length);
    writer->write(e, writer, i, NULL);
    elab_end_threads(e, push->level, i);
}

/* With --check=memory; and without checks, where lengths may be unfinished (check.c). */
static void run_inside(struct elaborator *e, struct push *push, const struct marking *of, const struct writer *writer,
                       elab_run_function *run) {
    struct marking marking = *of;
    bool wants = e->options->check == DEGREE_MEMORY && !e->tries && !is_cleared(writer);
    if (wants && !is_covered(e, push, ir_resolve(e->builder, marking.length))) {
        clear(e, push, ir_resolve(e->builder, marking.length), writer);
        marking.is_cleared = true;
    }
    struct writer inside = {.write = write_inside, .marking = &marking, .next = writer};
    run(e, push, &inside);
}

static void run_marked(struct elaborator *e, struct push *push, enum ir_check outside, const struct writer *writer,
                       elab_run_function *run) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, push);
    if (!e->guards || !length) {
        run(e, push, writer);
        return;
    }
    bool is_over = push->kind == PUSH_PERMUTE_INTO && push->into.is_over;
    struct marking marking = {push, outside, NULL, length, is_over, false};
    if (!elab_checks_all(e)) {
        run_inside(e, push, &marking, writer, run);
        return;
    }
    struct ir_value *capacity = elab_capacity(e, length, push->level);
    bool is_bound = push->level != LEVEL_GRID; /* a value of the host's */
    struct ir_region *here = is_bound ? elab_enter_host(e) : NULL;
    struct ir_value *words = ir_binary(b, OP_ADD, ir_binary(b, OP_SHR, capacity, ir_int(b, 5)), ir_int(b, 1));
    if (is_bound)
        ir_leave(b, here);
    marking.marks = ir_buffer_new(b, marks_memory(push->level), push->level, BASE_U32, words, "written");
    marking.marks->rewritten = true;
    ir_allocate(b, marking.marks);
    struct ir_value *w = elab_begin_threads(e, push->level, words);
    ir_store(b, marking.marks, w, ir_constant(b, BASE_U32, (union scalar){.natural = 0}));
    elab_end_threads(e, push->level, w);
    struct writer marked = {.write = write_marked, .marking = &marking, .next = writer};
    run(e, push, &marked);
    bool is_said = push->kind == PUSH_PERMUTE_INTO && push->into.said;
    struct ir_value *stored = is_said ? elab_said_length(e, push) : length;
    struct ir_value *i = elab_begin_threads(e, push->level, stored);
    struct ir_value *word = ir_load(b, marking.marks, ir_binary(b, OP_SHR, i, ir_int(b, 5)));
    struct ir_value *at = ir_convert(b, ir_binary(b, OP_AND, i, ir_int(b, 31)), BASE_U32);
    struct ir_value *bit =
        ir_binary(b, OP_AND, ir_binary(b, OP_SHR, word, at), ir_constant(b, BASE_U32, (union scalar){.natural = 1}));
    struct ir_value *is_set = ir_binary(b, OP_EQ, bit, ir_constant(b, BASE_U32, (union scalar){.natural = 1}));
    elab_check_push(e, push, CHECK_MISSING, is_set, i, stored);
    elab_end_threads(e, push->level, i);
}

void elab_check_none(struct elaborator *e, struct push *push, const struct writer *writer, elab_run_function *run) {
    run(e, push, writer);
}

void elab_check_places(struct elaborator *e, struct push *push, const struct writer *writer, elab_run_function *run) {
    run_marked(e, push, CHECK_PLACE, writer, run);
}

void elab_check_each(struct elaborator *e, struct push *push, const struct writer *writer, elab_run_function *run) {
    run_marked(e, push, CHECK_EACH, writer, run);
}
