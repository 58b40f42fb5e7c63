/* while and power: steps from array to array, in two halves of memory, in registers, or unrolled. */
#include "elaborate/value.h"

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
    if (stepping->level != LEVEL_GRID && length->high > ELAB_SMALL_CAPACITY)
        return -1;
    int steps = count->constant.integer < 0 ? 0 : (int)count->constant.integer;
    e->shape++;
    struct pull *array = elab_unknown_array(e, stepping->element, length);
    for (int i = 0; i < steps && steps >= 0; i++) {
        struct ir_value *next = elab_push_length(e, next_push(e, stepping, array, ir_int(b, i)));
        if (!next || (stepping->level != LEVEL_GRID && ir_resolve(b, next) != length))
            steps = -1;
        else
            array = elab_unknown_array(e, stepping->element, next);
    }
    e->shape--;
    return steps;
}

/* How many steps there are, if shapes alone decide it and there are at most `limit`; otherwise -1. */
static int static_steps(struct elaborator *e, const struct stepping *stepping, struct push *initial, int limit) {
    struct ir_builder *b = e->builder;
    e->shape++;
    int steps = -1;
    struct pull *array = elab_unknown_array(e, stepping->element, elab_push_length(e, initial));
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
        array = elab_unknown_array(e, stepping->element, elab_push_length(e, next_push(e, stepping, array, done)));
    }
    e->shape--;
    return steps;
}

/* Does each step keep this length, whichever step it is? */
static bool keeps_length(struct elaborator *e, const struct stepping *stepping, struct ir_value *length) {
    e->shape++;
    struct pull *array = elab_unknown_array(e, stepping->element, length);
    struct ir_value *next = elab_push_length(e, next_push(e, stepping, array, NULL));
    e->shape--;
    length = ir_resolve(e->builder, length);
    return next == length || (next && ir_prove(e->builder, ir_binary(e->builder, OP_EQ, next, length)));
}

/* Lengths only: a loop on the length, and on the number of steps. */
static struct pull *step_shape(struct elaborator *e, const struct stepping *stepping, struct push *initial) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, initial);
    struct pull *result = elab_unknown_array(e, stepping->element, NULL);
    if (!length)
        return result;
    if (keeps_length(e, stepping, length)) { /* it does not matter how many there are */
        result->length = length;
        return result;
    }
    if (!stepping->condition && !stepping->count)
        return result;
    struct ir_value *carried[2] = {length, ir_int(b, 0)};
    int64_t lows[2] = {0, 0}, highs[2] = {length->high, INT32_MAX};
    ir_begin_while(b, carried, 2, lows, highs);
    struct pull *array = elab_unknown_array(e, stepping->element, carried[0]);
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
    if (stepping->level == LEVEL_GRID && !e->shape)
        elab_require(e, CHECK_GROWS, shrinks, after, before, stepping->span);
    else
        elab_check_length(e, CHECK_GROWS, shrinks, after, before, stepping->span, false);
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
    elab_allocate(e, buffers, count);
    struct writer writer = elab_store_writer(buffers, count, NULL);
    elab_run(e, initial, &writer);
    bool is_kept = keeps_length(e, stepping, length);
    size_t carries = is_kept ? 2 : 3; /* the half, the number of steps, and the length where that changes */
    struct ir_value *carried[3] = {ir_int(b, 0), ir_int(b, 0), length};
    int64_t lows[3] = {0, 0, 0}, highs[3] = {capacity->high, INT32_MAX, length->high};
    ir_begin_while(b, carried, carries, lows, highs);
    if (!is_kept)
        map_set(e->bounds, carried[2], capacity);
    struct pull *array = elab_stored(e, stepping->element, buffers, carried[0], carried[2]);
    ir_while_body(b, goes_on(e, stepping, array, carried[1]));
    struct split_frame *split = e->split;
    e->split = NULL;
    struct push *next = next_push(e, stepping, array, carried[1]);
    struct ir_value *next_length = elab_push_length(e, next);
    if (!next_length)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span, "the length after a step of this loop depends on data");
    if (ir_prove(b, ir_binary(b, OP_EQ, next_length, carried[2])))
        next_length = carried[2];
    struct ir_value *shrinks = check_shrinks(e, stepping, carried[2], next_length);
    if (stepping->level != LEVEL_GRID) /* what grows would leave its half, and is not run */
        next_length = ir_binary(b, OP_MIN, next_length, carried[2]);
    struct ir_value *other = ir_binary(b, OP_SUB, capacity, carried[0]);
    ir_bound(other, 0, capacity->high); /* it is 0 where this is the capacity, and the capacity where this is 0 */
    writer = elab_store_writer(buffers, count, other);
    elab_run_if(e, shrinks, next, &writer);
    e->split = split;
    struct ir_value *nexts[3] = {other, ir_binary(b, OP_ADD, carried[1], ir_int(b, 1)), next_length};
    struct ir_value *results[3] = {NULL, NULL, length};
    ir_end_while(b, nexts, results);
    if (!is_kept)
        map_set(e->bounds, results[2], capacity);
    return elab_stored(e, stepping->element, buffers, results[0], results[2]);
}

/* The most elements that a thread steps in registers. */
enum { MOST_IN_REGISTERS = 64 };

/* Is it a thread's array of a few elements, whose number is static and which each step keeps? */
static bool fits_registers(struct elaborator *e, const struct stepping *stepping, struct push *initial) {
    struct ir_value *length = elab_push_length(e, initial);
    if (stepping->level != LEVEL_THREAD || !length)
        return false;
    length = ir_resolve(e->builder, length);
    return length->is_constant && length->constant.integer <= MOST_IN_REGISTERS && keeps_length(e, stepping, length);
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
    elab_allocate(e, buffers, count);
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
