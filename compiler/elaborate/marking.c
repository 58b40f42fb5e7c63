/* Places that a function of the program gives, with --check: a bit for every place of the result
   says that it was written. With --check=memory the result is cleared first, but where each place
   is known to be written (note [covered]).

   note [covered]
   Where all places are inside, and no two elements have one, there are as many places as elements:
   all of them. That no two are the same is seen by bits (ir/build/bits.h), or as the place is an odd
   multiple of the index and something that all have alike. The prelude says `covers` of what it
   writes whole, which is tested, and not trusted with being inside. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/push.h"

#include "ir/build/bits.h"
#include "ir/build/conflict.h"
#include "ir/build/linear.h"
#include "ir/walk.h"
#include "support/map.h"

typedef VEC(struct ir_write) writes;
struct marking {
    struct push *push;
    enum ir_check outside;
    struct ir_buffer *marks;
    const struct ir_region *around;
    struct ir_value *length;
    bool is_over; /* a place may be written again */
    bool is_cleared;
    struct map *places; /* by the atomics, or stores, that mark them */
    writes *looked_at;  /* without marks */
    bool *has_left_out; /* a write to a place that is known to be outside, which the check at run time tells */
};

static enum ir_memory marks_memory(enum level_value level) {
    return level == LEVEL_GRID ? MEMORY_OUTPUT : level == LEVEL_THREAD ? MEMORY_PRIVATE : MEMORY_SHARED;
}

/* Marks the place as written. The result is true if the place may be written: this is the first write, or writing again
   is allowed (`is_over`). */
static struct ir_value *mark(struct elaborator *e, const struct marking *marking, struct ir_value *place) {
    struct ir_builder *b = e->builder;
    struct ir_value *word = ir_binary(b, OP_SHR, place, ir_int(b, 5));
    struct ir_value *at = ir_convert(b, ir_binary(b, OP_AND, place, ir_int(b, 31)), BASE_U32);
    struct ir_value *one = ir_constant(b, BASE_U32, (union scalar){.natural = 1});
    struct ir_value *zero = ir_constant(b, BASE_U32, (union scalar){.natural = 0});
    struct ir_value *bit = ir_binary(b, OP_SHL, one, at), *old;
    const struct ir_instruction *marks;
    if (marking->marks->memory == MEMORY_PRIVATE) {
        old = ir_load(b, marking->marks, word);
        ir_store(b, marking->marks, word, ir_binary(b, OP_OR, old, bit));
        marks = ir_current(b)->instructions.at[ir_current(b)->instructions.count - 1];
    } else {
        old = ir_atomic(b, ATOMIC_OR, marking->marks, word, bit);
        marks = old->definition;
    }
    map_set(marking->places, marks, place);
    if (marking->is_over)
        return ir_bool(b, true);
    struct ir_value *is_first = ir_binary(b, OP_EQ, ir_binary(b, OP_AND, old, bit), zero);
    elab_check_push(e, marking->push, CHECK_TWICE, is_first, place, marking->length);
    return is_first;
}

/* In steps that may be none, what is wrong may never be done. */
static bool runs_if_reached(struct elaborator *e) {
    for (const struct ir_region *region = ir_current(e->builder); region->owner; region = region->parent) {
        const struct ir_instruction *owner = region->owner;
        if (owner->kind == IR_WHILE || (owner->kind == IR_FOR && owner->operands[0]->low < 1))
            return false;
    }
    return elab_runs_if_reached(e);
}

/* One place for all turns of a loop that has several, in no branch, is wrong for certain. */
static void refute_constant(struct elaborator *e, const struct marking *marking, const struct ir_value *place) {
    const struct ir_region *region = ir_current(e->builder);
    int64_t turns = 1;
    if (!place->is_constant || place->constant.integer < 0 || marking->is_over || !runs_if_reached(e))
        return;
    for (; region != marking->around; region = region->parent) {
        const struct ir_instruction *owner = region->owner;
        if (!owner || (owner->kind != IR_FORALL && owner->kind != IR_FOR))
            return;
        turns = owner->operands[0]->high > turns ? owner->operands[0]->high : turns;
    }
    if (turns < 2)
        return;
    struct span made_at = e->made_at;
    e->made_at = marking->push->made_at;
    elab_reject(e, DIAG_WRITTEN_TWICE, marking->push->span,
                marking->push->kind == PUSH_EACH ? "two writes are to place %lld"
                                                 : "places 0 and 1 are both written at %lld",
                (long long)place->constant.integer);
    e->made_at = made_at;
}

/* Without checks. */
static void write_looked_at(struct elaborator *e, const struct writer *self, struct ir_value *index,
                            struct elab_value *element) {
    const struct marking *marking = self->marking;
    refute_constant(e, marking, index);
    if (marking->length && marking->length->is_constant)
        vec_push(e->arena, marking->looked_at, ((struct ir_write){index, ir_current(e->builder)}));
    self->next->write(e, self->next, index, element);
}

static void write_marked(struct elaborator *e, const struct writer *self, struct ir_value *index,
                         struct elab_value *element) {
    const struct marking *marking = self->marking;
    struct ir_builder *b = e->builder;
    struct ir_value *inside = elab_is_inside(e, index, marking->length);
    refute_constant(e, marking, index);
    enum ir_truth truth = ir_prove(b, inside) ? IR_TRUE : ir_known(b, inside);
    if (truth != IR_TRUE)
        elab_check_push(e, marking->push, marking->outside, inside, index, marking->length);
    if (truth == IR_FALSE) {
        *marking->has_left_out = true;
        return;
    }
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
    struct ir_value *inside = elab_is_inside(e, index, marking->length);
    refute_constant(e, marking, index);
    elab_check_push(e, marking->push, marking->outside, inside, index, marking->length);
    bool before = ir_set_overwrites(b, false);
    ir_set_overwrites(b, before || marking->is_cleared);
    enum ir_truth truth = ir_begin_choice(b, inside);
    if (marking->length->is_constant || marking->is_cleared)
        vec_push(e->arena, marking->looked_at, ((struct ir_write){index, ir_current(b)}));
    if (truth != IR_FALSE)
        self->next->write(e, self->next, index, element);
    ir_end_only_choice(b, truth);
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

/* ---- what is proved afterwards ---- */

static bool is_left(const struct map *left, const struct ir_instruction *at) {
    for (size_t i = 0; i < at->operand_count; i++)
        if (map_has(left, at->operands[i]))
            return true;
    return false;
}

/* Collects in `taken` the instructions that use the marks and are removed with them. False: an instruction that must
   stay uses them, too. */
static bool find_marks(const struct ir_region *region, const struct ir_buffer *marks, bool are_all, struct map *taken) {
    struct map *left = taken; /* values and instructions */
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        struct ir_instruction *at = walk.at;
        bool is_mark = at->buffer == marks, is_first = is_left(left, at);
        if (!is_mark && !is_first)
            continue;
        for (size_t i = 0; i < at->result_count; i++)
            map_set(left, at->results[i], at);
        if (is_first && !is_mark && at->kind == IR_OPERATION && at->operands[0]->base == BASE_BOOL)
            return false;
        if (is_first && !is_mark && at->kind != IR_OPERATION && at->kind != IR_CHECK &&
            (at->kind != IR_IF || at->result_count > 0 || at->regions[1]->instructions.count > 0))
            return false;
        if (are_all || at->kind == IR_CHECK || at->kind == IR_IF)
            map_set(taken, at, at);
    }
    return true;
}

/* True if the elements say how many places the array has, as those of forceUpTo do. */
static bool is_said(const struct push *push) { return push->kind == PUSH_PERMUTE_INTO && push->into.said; }

static bool leaves_out(const struct push *push) {
    return push->kind == PUSH_PERMUTE_INTO || push->kind == PUSH_INTERLEAVE_INTO;
}

/* Reports an error if the writes go wrong whenever this code runs. */
static void refute(struct elaborator *e, const struct marking *marking, const writes *all) {
    const struct push *push = marking->push;
    if (is_said(push) || *marking->has_left_out || !runs_if_reached(e))
        return;
    struct ir_conflict found = ir_find_conflict(e->arena, ir_current(e->builder), all->at, all->count, marking->length,
                                                leaves_out(push), marking->is_over);
    long long place = found.place, length = marking->length->constant.integer;
    struct span made_at = e->made_at;
    e->made_at = push->made_at;
    switch (found.kind) {
    case CONFLICT_TWICE:
        elab_reject(e, DIAG_WRITTEN_TWICE, push->span,
                    push->kind == PUSH_EACH ? "writes %lld and %lld are both to place %lld"
                                            : "places %lld and %lld are both written at %lld",
                    (long long)found.first, (long long)found.second, place);
        break;
    case CONFLICT_OUTSIDE:
        elab_reject(e, DIAG_WRITE_OUT_OF_RANGE, push->span,
                    push->kind == PUSH_EACH ? "write %lld is to place %lld, and the array has %lld elements"
                                            : "place %lld is written at %lld, and the array has %lld elements",
                    (long long)found.first, place, length);
        break;
    case CONFLICT_MISSING:
        elab_reject(e, DIAG_NEVER_WRITTEN, push->span, "place %lld of %lld is never written", place, length);
        break;
    case CONFLICT_NONE: break;
    }
    e->made_at = made_at;
}

/* Leaves out what is proved; true: that is all. */
static bool prove_marks(struct elaborator *e, const struct marking *marking, const struct ir_instruction *cleared) {
    struct ir_builder *b = e->builder;
    const struct ir_region *here = ir_current(b);
    writes all = {0};
    for (struct ir_walk walk = ir_walk(here); walk.at; ir_next(&walk))
        if (map_has(marking->places, walk.at))
            vec_push(e->arena, &all, ((struct ir_write){map_get(marking->places, walk.at), walk.at->region}));
    bool is_once = ir_writes_once(b, here, all.at, all.count);
    bool are_all =
        is_once && !is_said(marking->push) && ir_writes_all(b, here, all.at, all.count, marking->length, true);
    if (!are_all)
        refute(e, marking, &all);
    if (!is_once)
        return false;
    struct map *taken = map_new(e->arena);
    if (!find_marks(here, marking->marks, are_all, taken))
        return false;
    if (are_all) {
        map_set(taken, marking->marks, NULL);
        if (cleared)
            map_set(taken, cleared, NULL);
    }
    ir_take_all_back(b, taken);
    return are_all;
}

/* Without marks: what is wrong for certain; and what was cleared in vain. Regions that were left behind are not
   there. */
static void look_at(struct elaborator *e, const struct marking *marking, const struct ir_instruction *cleared) {
    const writes *all = marking->looked_at;
    struct ir_builder *b = e->builder;
    if (!all->count)
        return;
    struct map *there = map_new(e->arena);
    map_set(there, marking->around, NULL);
    for (struct ir_walk walk = ir_walk(marking->around); walk.at; ir_next(&walk))
        for (int r = 0; r < 2 && walk.at->regions[r]; r++)
            map_set(there, walk.at->regions[r], NULL);
    writes kept = {0};
    for (size_t i = 0; i < all->count; i++)
        if (map_has(there, all->at[i].region))
            vec_push(e->arena, &kept, all->at[i]);
    bool is_once = ir_writes_once(b, marking->around, kept.at, kept.count);
    bool are_all = is_once && ir_writes_all(b, marking->around, kept.at, kept.count, marking->length, cleared != NULL);
    if (are_all && cleared) {
        struct map *taken = map_new(e->arena);
        map_set(taken, cleared, NULL);
        ir_take_all_back(b, taken);
    } else if (!are_all && marking->length->is_constant) {
        refute(e, marking, &kept);
    }
}

static bool is_cleared(const struct writer *writer) {
    for (; writer; writer = writer->next)
        if (writer->marking && writer->marking->is_cleared)
            return true;
    return false;
}

/* Writers take no element for zeros in memory. */
static const struct ir_instruction *clear(struct elaborator *e, const struct push *push, struct ir_value *length,
                                          const struct writer *writer) {
    if (elab_is_none(e, length))
        return NULL;
    struct ir_value *i = elab_begin_threads(e, push->level, length);
    writer->write(e, writer, i, NULL);
    const struct ir_instruction *loop = i->region ? i->region->owner : NULL;
    elab_end_threads(e, push->level, i);
    return loop;
}

/* With --check=memory; and without checks, where lengths may be unfinished (check.c). */
static void run_inside(struct elaborator *e, struct push *push, const struct marking *of, const struct writer *writer,
                       elab_run_function *run) {
    struct marking marking = *of;
    const struct ir_instruction *cleared = NULL;
    bool wants = e->options->check == DEGREE_MEMORY && !e->tries && !is_cleared(writer);
    if (wants && !is_covered(e, push, ir_resolve(e->builder, marking.length))) {
        cleared = clear(e, push, ir_resolve(e->builder, marking.length), writer);
        marking.is_cleared = true;
    }
    struct writer inside = {.write = write_inside, .marking = &marking, .next = writer};
    run(e, push, &inside);
    look_at(e, &marking, is_said(push) ? NULL : cleared);
}

static void run_marked(struct elaborator *e, struct push *push, enum ir_check outside, const struct writer *writer,
                       elab_run_function *run) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, push);
    bool is_over = push->kind == PUSH_PERMUTE_INTO && push->into.is_over;
    writes looked_at = {0};
    bool has_left_out = false;
    struct marking marking = {push,  outside,           NULL,       ir_current(b), length, is_over,
                              false, map_new(e->arena), &looked_at, &has_left_out};
    if (!e->guards || !length) {
        struct writer looking = {.write = write_looked_at, .marking = &marking, .next = writer};
        run(e, push, &looking);
        look_at(e, &marking, NULL);
        return;
    }
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
    const struct ir_instruction *cleared = w->region ? w->region->owner : NULL;
    elab_end_threads(e, push->level, w);
    struct writer marked = {.write = write_marked, .marking = &marking, .next = writer};
    run(e, push, &marked);
    if (prove_marks(e, &marking, cleared))
        return;
    struct ir_value *stored = is_said(push) ? elab_said_length(e, push) : length;
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
