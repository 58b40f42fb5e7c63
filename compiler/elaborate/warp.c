/* Exchange inside a warp: shuffles, votes and ballots. They store the array in the warp's shared memory and read it there,
   which is right on every target, for arrays of any length, and where a warp is a single thread. */
#include "elaborate/value.h"

/* ---- shuffles ---- */

/* Whose element it is that place i gets; it may be outside the array. */
static struct ir_value *source(struct elaborator *e, const struct push *push, struct ir_value *i) {
    struct ir_builder *b = e->builder;
    switch ((int)push->shuffle) {
    case PRIM_SHUFFLE_UP: return ir_binary(b, OP_SUB, i, push->count);
    case PRIM_SHUFFLE_DOWN: return ir_binary(b, OP_ADD, i, push->count);
    case PRIM_SHUFFLE_XOR: return ir_binary(b, OP_XOR, i, push->count);
    default: return elab_as_scalar(e, elab_apply(e, push->function, elab_scalar(e, i)));
    }
}

void elab_run_shuffle(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct split_frame *split = e->split;
    e->split = NULL; /* elements are not chunks */
    struct pull *array = elab_force(e, push->of, push->element);
    struct ir_value *length = ir_resolve(b, array->length);
    struct ir_value *i = elab_begin_threads(e, LEVEL_WARP, length);
    struct ir_value *from = source(e, push, i);
    struct ir_value *inside =
        ir_binary(b, OP_AND, ir_binary(b, OP_LE, ir_int(b, 0), from), ir_binary(b, OP_LT, from, length));
    writer->write(e, writer, i, elab_index(e, array, ir_ternary(b, OP_SELECT, inside, from, i)));
    elab_end_threads(e, LEVEL_WARP, i);
    e->split = split;
}

static struct elab_value *shuffle(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                                  struct elab_value **arguments) {
    struct push *push = elab_push_new(e, PUSH_SHUFFLE, LEVEL_WARP);
    push->shuffle = primitive;
    if (primitive == PRIM_SHUFFLE)
        push->function = arguments[0];
    else
        push->count = elab_as_scalar(e, arguments[0]);
    push->of = elab_as_push(e, arguments[1]);
    push->element = elab_type(e, instance, 0);
    return elab_of_push(e, push);
}

/* ---- votes ---- */

/* All lanes go through the array together: each load is one broadcast. `bit` is the vote at i as it joins the state. */
static struct elab_value *vote(struct elaborator *e, struct elab_value *votes, enum ir_op op, struct ir_value *start,
                               struct ir_value *(*bit)(struct elaborator *, struct ir_value *, struct ir_value *)) {
    struct ir_builder *b = e->builder;
    struct push *push = elab_as_push(e, votes);
    if (e->shape)
        return elab_unknown(e);
    struct split_frame *split = e->split;
    e->split = NULL;
    struct type *type = ARENA_NEW(e->arena, struct type);
    *type = (struct type){.kind = TYPE_BASE, .base = BASE_BOOL};
    struct pull *array = elab_force(e, push, type);
    struct ir_value *count = ir_resolve(b, array->length), *state = start, *result;
    if (bit)
        count = ir_binary(b, OP_MIN, count, ir_int(b, 32));
    struct ir_value *i = ir_begin_for(b, count, &state, 1, "lane");
    struct ir_value *one = elab_as_scalar(e, elab_index(e, array, i));
    struct ir_value *next = ir_binary(b, op, state, bit ? bit(e, one, i) : one);
    ir_end_for(b, &next, &result);
    e->split = split;
    return elab_scalar(e, result);
}

static struct ir_value *ballot_bit(struct elaborator *e, struct ir_value *one, struct ir_value *i) {
    struct ir_builder *b = e->builder;
    return ir_binary(b, OP_SHL, ir_convert(b, one, BASE_U32), ir_convert(b, i, BASE_U32));
}

#define PRIMITIVE(id)                                                                                                  \
    struct elab_value *elab_##id(struct elaborator *e, enum primitive primitive, const struct instance *instance,      \
                                 struct elab_value **arguments)

PRIMITIVE(SHUFFLE) { return shuffle(e, primitive, instance, arguments); }
PRIMITIVE(SHUFFLE_UP) { return shuffle(e, primitive, instance, arguments); }
PRIMITIVE(SHUFFLE_DOWN) { return shuffle(e, primitive, instance, arguments); }
PRIMITIVE(SHUFFLE_XOR) { return shuffle(e, primitive, instance, arguments); }

PRIMITIVE(ANY_WARP) {
    (void)primitive, (void)instance;
    return vote(e, arguments[0], OP_OR, ir_bool(e->builder, false), NULL);
}

PRIMITIVE(ALL_WARP) {
    (void)primitive, (void)instance;
    return vote(e, arguments[0], OP_AND, ir_bool(e->builder, true), NULL);
}

PRIMITIVE(BALLOT) {
    (void)primitive, (void)instance;
    return vote(e, arguments[0], OP_OR, ir_constant(e->builder, BASE_U32, (union scalar){0}), ballot_bit);
}
