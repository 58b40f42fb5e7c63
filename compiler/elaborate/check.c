/* What the interpreter finds out about a run, found out by generated code: lengths always, the
   rest with --check. A check that ranges prove is not emitted.

   note [after a failure]
   A kernel goes on when a check has failed: only the first failure is reported, and what is
   computed afterwards means nothing. It must touch no memory that is not its own, though: an index
   that was found wrong is replaced by 0 (memory is never empty), and a write to a wrong place is
   left out. Loops stop, as what they wait for may never come (map/lower.c).

   note [unfinished lengths]
   So what a loop carries may be unfinished once a check has failed in any block, and what was read
   may be anything. A length made of these may differ from the one for which there is memory: it is
   compared once more before an array is written. Without --check, too, where a length can fail
   below grid (may_leave_loops); then indices and places are made right as well, and not
   reported. */
#include "elaborate/value.h"

static struct ir_check_site site_of(const struct elaborator *e, enum ir_check check, struct span span,
                                    bool is_contained) {
    struct span users = elab_users_span(e, span);
    return (struct ir_check_site){.check = check,
                                  .span = users.end ? users : span,
                                  .found = users.end ? span : (struct span){0, 0},
                                  .is_contained = is_contained};
}

void elab_check(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                struct ir_value *b, struct span span) {
    if (!e->options->check || e->shape || ir_prove(e->builder, condition))
        return;
    ir_check(e->builder, site_of(e, check, span, false), condition, a, b);
}

void elab_check_length(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                       struct ir_value *b, struct span span, bool is_contained) {
    if (e->shape || ir_prove(e->builder, condition))
        return;
    ir_check(e->builder, site_of(e, check, span, is_contained), condition, a, b);
}

static bool is_unfinished(struct map *seen, const struct ir_value *value) {
    const struct ir_instruction *definition = value->definition;
    if (!definition) { /* a constant, a parameter, an index; or carried by a loop */
        const struct ir_instruction *owner = value->region ? value->region->owner : NULL;
        return owner && (owner->kind == IR_WHILE || owner->parameters[0] != value);
    }
    if (definition->kind != IR_OPERATION && definition->kind != IR_IF)
        return true;
    if (map_has(seen, value))
        return false;
    map_set(seen, value, (void *)definition);
    for (size_t i = 0; i < definition->operand_count; i++)
        if (is_unfinished(seen, definition->operands[i]))
            return true;
    for (int r = 0; r < 2 && definition->kind == IR_IF; r++)
        for (size_t i = 0; i < definition->result_count; i++)
            if (definition->results[i] == value && is_unfinished(seen, definition->regions[r]->yields.at[i]))
                return true;
    return false;
}

bool elab_may_be_unfinished(struct elaborator *e, const struct ir_value *length) {
    return e->may_leave_loops && is_unfinished(map_new(e->arena), length);
}

void elab_run_if(struct elaborator *e, struct ir_value *condition, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    enum ir_truth truth = ir_begin_choice(b, condition);
    if (truth != IR_FALSE)
        elab_run(e, push, writer);
    ir_end_only_choice(b, truth);
}

void elab_require(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                  struct ir_value *b, struct span span) {
    if (ir_known(e->builder, condition) == IR_TRUE)
        return;
    ir_check(e->builder, site_of(e, check, span, true), condition, a, b);
    ir_assume(e->builder, condition);
}

struct ir_value *elab_load(struct elaborator *e, struct ir_buffer *buffer, struct ir_value *index) {
    struct ir_value *value = ir_load(e->builder, buffer, index);
    struct ir_instruction *definition = value->definition;
    if (definition && definition->kind == IR_LOAD && ir_current(e->builder)->ambient == LEVEL_GRID)
        definition->site = ir_site(e->builder, site_of(e, CHECK_INDEX, e->span, true));
    return value;
}

static struct span swap_made_at(struct elaborator *e, struct span made_at) {
    struct span before = e->made_at;
    e->made_at = made_at;
    return before;
}

static void check_push(struct elaborator *e, const struct push *push, enum ir_check check, struct ir_value *condition,
                       struct ir_value *a, struct ir_value *b) {
    struct span made_at = swap_made_at(e, push->made_at);
    elab_check(e, check, condition, a, b, push->span);
    swap_made_at(e, made_at);
}

void elab_check_chunk(struct elaborator *e, const struct push *push, struct ir_value *condition,
                      struct ir_value *length, struct ir_value *size) {
    struct span made_at = swap_made_at(e, push->made_at);
    elab_check_length(e, CHECK_CHUNK, condition, length, size, push->span, push->level == LEVEL_GRID);
    swap_made_at(e, made_at);
}

void elab_require_push(struct elaborator *e, const struct push *push, enum ir_check check, struct ir_value *condition,
                       struct ir_value *a, struct ir_value *b) {
    struct span made_at = swap_made_at(e, push->made_at);
    elab_require(e, check, condition, a, b, push->span);
    swap_made_at(e, made_at);
}

struct ir_value *elab_is_inside(struct elaborator *e, struct ir_value *index, struct ir_value *length) {
    struct ir_builder *b = e->builder;
    return ir_binary(b, OP_AND, ir_binary(b, OP_LE, ir_int(b, 0), index), ir_binary(b, OP_LT, index, length));
}

struct ir_value *elab_checked_index(struct elaborator *e, struct ir_value *index, struct ir_value *length) {
    if (!e->may_leave_loops || e->shape || !index || !length)
        return index;
    struct ir_value *inside = elab_is_inside(e, index, length);
    if (ir_prove(e->builder, inside))
        return index;
    elab_check(e, CHECK_INDEX, inside, index, length, e->span);
    return ir_ternary(e->builder, OP_SELECT, inside, index, ir_int(e->builder, 0));
}

/* The second element that says it finds what the first one has left. */
void elab_check_said(struct elaborator *e, const struct push *push, struct ir_value *length) {
    struct ir_builder *b = e->builder;
    struct ir_value *zero = ir_int(b, 0), *said = ir_unary(b, OP_BIT_NOT, length), *before;
    if (push->said->memory == MEMORY_PRIVATE) {
        before = ir_load(b, push->said, zero);
        ir_store(b, push->said, zero, said);
    } else {
        before = ir_atomic(b, ATOMIC_EXCHANGE, push->said, zero, said);
    }
    struct ir_value *is_first = ir_binary(b, OP_EQ, before, zero);
    check_push(e, push, CHECK_SAID_TWICE, is_first, ir_unary(b, OP_BIT_NOT, before), length);
}

/* ---- places that an index function of the program gives ----
   A bit for every place of the result says that it was written. */

struct marking {
    struct push *push;
    enum ir_check outside;
    struct ir_buffer *marks;
    struct ir_value *length;
};

static enum ir_memory marks_memory(enum level_value level) {
    return level == LEVEL_GRID ? MEMORY_OUTPUT : level == LEVEL_THREAD ? MEMORY_PRIVATE : MEMORY_SHARED;
}

/* Whether it is the first time. */
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
    struct ir_value *is_first = ir_binary(b, OP_EQ, ir_binary(b, OP_AND, old, bit), zero);
    check_push(e, marking->push, CHECK_TWICE, is_first, place, marking->length);
    return is_first;
}

static void write_marked(struct elaborator *e, const struct writer *self, struct ir_value *index,
                         struct elab_value *element) {
    const struct marking *marking = self->marking;
    struct ir_builder *b = e->builder;
    struct ir_value *inside = elab_is_inside(e, index, marking->length);
    check_push(e, marking->push, marking->outside, inside, index, marking->length);
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
    elab_write_within(e, self->next, index, element, self->marking->length);
}

void elab_run_marked(struct elaborator *e, struct push *push, enum ir_check outside, const struct writer *writer,
                     elab_run_function *run) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, push);
    if (!e->may_leave_loops || !length) {
        run(e, push, writer);
        return;
    }
    struct marking marking = {push, outside, NULL, length};
    if (!e->options->check) {
        struct writer inside = {.write = write_inside, .marking = &marking, .next = writer};
        run(e, push, &inside);
        return;
    }
    struct ir_value *capacity = elab_capacity(e, length, push->level);
    bool is_bound = push->level != LEVEL_GRID; /* a value of the outermost region */
    struct ir_region *here = is_bound ? ir_enter_outermost(b) : NULL;
    struct ir_value *words = ir_binary(b, OP_ADD, ir_binary(b, OP_SHR, capacity, ir_int(b, 5)), ir_int(b, 1));
    if (is_bound)
        ir_leave_outermost(b, here);
    marking.marks = ir_buffer_new(b, marks_memory(push->level), push->level, BASE_U32, words, "written");
    marking.marks->rewritten = true;
    ir_allocate(b, marking.marks);
    struct split_frame *split = e->split;
    e->split = NULL;
    struct ir_value *w = elab_begin_threads(e, push->level, words);
    ir_store(b, marking.marks, w, ir_constant(b, BASE_U32, (union scalar){.natural = 0}));
    elab_end_threads(e, push->level, w);
    struct writer marked = {.write = write_marked, .marking = &marking, .next = writer};
    run(e, push, &marked);
    struct ir_value *stored = push->said ? elab_said_length(e, push) : length;
    struct ir_value *i = elab_begin_threads(e, push->level, stored);
    struct ir_value *word = ir_load(b, marking.marks, ir_binary(b, OP_SHR, i, ir_int(b, 5)));
    struct ir_value *at = ir_convert(b, ir_binary(b, OP_AND, i, ir_int(b, 31)), BASE_U32);
    struct ir_value *bit =
        ir_binary(b, OP_AND, ir_binary(b, OP_SHR, word, at), ir_constant(b, BASE_U32, (union scalar){.natural = 1}));
    struct ir_value *is_set = ir_binary(b, OP_EQ, bit, ir_constant(b, BASE_U32, (union scalar){.natural = 1}));
    check_push(e, push, CHECK_MISSING, is_set, i, stored);
    elab_end_threads(e, push->level, i);
    e->split = split;
}

/* ---- scatter ---- */

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
        ir_values leaves = {0};
        elab_flatten(e, pair->tuple.items[1], &leaves);
        struct ir_value *at = writer->offset ? ir_binary(b, OP_ADD, writer->offset, place) : place;
        struct ir_value *same = ir_bool(b, true);
        for (size_t k = 0; k < leaves.count; k++) {
            struct ir_value *stored = ir_load_stored(b, writer->buffers[k], at);
            same = ir_binary(b, OP_AND, same,
                             ir_binary(b, OP_EQ, ir_bits(e->builder, stored), ir_bits(e->builder, leaves.at[k])));
        }
        check_push(e, finding->push, CHECK_SCATTER, same, place, place);
    }
    ir_end_only_choice(b, truth);
}

/* Once all pairs are stored, each must find its value at its place. */
void elab_check_scatter(struct elaborator *e, struct push *push, const struct writer *writer) {
    if (!e->options->check || !elab_writes_plainly(writer))
        return;
    for (size_t k = 0; k < writer->buffer_count; k++)
        writer->buffers[k]->rewritten = true;
    struct ir_value *i = elab_begin_threads(e, push->level, ir_resolve(e->builder, push->pairs->length));
    struct finding finding = {push, writer};
    elab_take_pairs(e, push, i, find_pair, &finding);
    elab_end_threads(e, push->level, i);
}
