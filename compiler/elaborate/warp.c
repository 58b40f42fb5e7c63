/* Exchange inside a warp: shuffles, votes and ballots. Where the hardware exchanges lanes and the
   array has an element for each, through that. Else the array is stored in the warp's shared
   memory and read there, which is right on every target, for arrays of any length, and where a
   warp is a single thread. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"

/* ---- shuffles ---- */

/* Whose element it is that place i gets; it may be outside the array. */
static struct ir_value *source(struct elaborator *e, const struct push *push, struct ir_value *i) {
    struct ir_builder *b = e->builder;
    switch (push->shuffle.exchange) {
    case EXCHANGE_BY_FUNCTION: break;
    case EXCHANGE_UP: return ir_binary(b, OP_SUB, i, push->shuffle.count);
    case EXCHANGE_DOWN: return ir_binary(b, OP_ADD, i, push->shuffle.count);
    case EXCHANGE_XOR: return ir_binary(b, OP_XOR, i, push->shuffle.count);
    }
    return elab_as_scalar(e, elab_apply(e, push->function, elab_scalar(e, i)));
}

/* Has it an element for each lane, made by that lane, so that registers can be exchanged? */
static bool is_in_lanes(struct elaborator *e, struct push *push) {
    struct ir_value *length = e->options->has_shuffles ? elab_push_length(e, push) : NULL;
    if (!length || !length->is_constant || length->constant.integer != e->options->warp_size)
        return false;
    while (push->kind == PUSH_MAP || push->kind == PUSH_SHUFFLE)
        push = push->of;
    return push->kind == PUSH_PULL;
}

struct ir_value *elab_exchange(struct elaborator *e, struct ir_value *value, struct ir_value *lane) {
    if (value->base != BASE_BOOL && base_info[value->base].bits >= 32)
        return ir_shuffle(e->builder, value, lane);
    struct ir_value *bits = ir_bits(e->builder, value);
    struct ir_value *got = ir_shuffle(e->builder, ir_convert(e->builder, bits, BASE_I32), lane);
    got = ir_convert(e->builder, got, bits->base);
    return bits == value ? got : ir_same_bits(e->builder, got, value->base);
}

struct ir_value *elab_lanes(struct elaborator *e, uint64_t lanes) {
    enum base base = ir_lanes_base(e->kernel);
    return ir_constant(e->builder, base, (union scalar){.natural = base == BASE_U32 ? (uint32_t)lanes : lanes});
}

static struct ir_value *source_lane(struct elaborator *e, const struct push *push, struct ir_value *i,
                                    struct ir_value *length) {
    struct ir_builder *b = e->builder;
    struct ir_value *from = source(e, push, i);
    struct ir_value *inside = elab_is_inside(e, from, length);
    return ir_ternary(b, OP_SELECT, inside, from, i);
}

/* The element of lane i, in that lane. */
static struct elab_value *in_lane(struct elaborator *e, struct push *push, struct ir_value *i) {
    if (push->kind == PUSH_PULL)
        return elab_index(e, push->array, i);
    struct elab_value *own = in_lane(e, push->of, i);
    if (push->kind == PUSH_MAP)
        return push->map.with_index ? elab_apply2(e, push->function, elab_scalar(e, i), own)
                                    : elab_apply(e, push->function, own);
    struct ir_value *lane = source_lane(e, push, i, ir_int(e->builder, e->options->warp_size));
    ir_values leaves = elab_leaves(e, own);
    for (size_t k = 0; k < leaves.count; k++)
        leaves.at[k] = elab_exchange(e, leaves.at[k], lane);
    return elab_unflatten(e, own, leaves.at);
}

void elab_run_shuffle(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    if (is_in_lanes(e, push)) {
        struct ir_value *lane = elab_begin_threads(e, LEVEL_WARP, ir_int(b, e->options->warp_size));
        writer->write(e, writer, lane, in_lane(e, push, lane));
        elab_end_threads(e, LEVEL_WARP, lane);
        return;
    }
    struct pull *array = elab_force(e, push->of, push->shuffle.element);
    struct ir_value *length = ir_resolve(b, array->length);
    struct ir_value *i = elab_begin_threads(e, LEVEL_WARP, length);
    writer->write(e, writer, i, elab_index(e, array, source_lane(e, push, i, length)));
    elab_end_threads(e, LEVEL_WARP, i);
}

static struct elab_value *shuffle(struct elaborator *e, enum exchange exchange, const struct instance *instance,
                                  struct elab_value **arguments) {
    bool has_function = exchange == EXCHANGE_BY_FUNCTION;
    return NEW_PUSH(
        SHUFFLE, LEVEL_WARP, .of = elab_as_push(e, arguments[1]), .function = has_function ? arguments[0] : NULL,
        .shuffle = {exchange, has_function ? NULL : elab_as_scalar(e, arguments[0]), elab_type(e, instance, 0)});
}

PRIMITIVE(SHUFFLE) { return shuffle(e, EXCHANGE_BY_FUNCTION, instance, arguments); }
PRIMITIVE(SHUFFLE_UP) { return shuffle(e, EXCHANGE_UP, instance, arguments); }
PRIMITIVE(SHUFFLE_DOWN) { return shuffle(e, EXCHANGE_DOWN, instance, arguments); }
PRIMITIVE(SHUFFLE_XOR) { return shuffle(e, EXCHANGE_XOR, instance, arguments); }

/* ---- votes ---- */

/* The ballot of all lanes; one tells it to the warp. */
static struct ir_value *ballot_of_lanes(struct elaborator *e, struct push *push) {
    struct ir_builder *b = e->builder;
    struct ir_buffer *shared_ballot =
        ir_buffer_new(b, MEMORY_SHARED, LEVEL_WARP, ir_lanes_base(e->kernel), ir_int(b, 1), "ballot");
    ir_allocate(b, shared_ballot);
    struct ir_value *lane = elab_begin_threads(e, LEVEL_WARP, ir_int(b, e->options->warp_size));
    struct ir_value *ballot = ir_ballot(b, elab_as_scalar(e, in_lane(e, push, lane)));
    ir_begin_if(b, ir_binary(b, OP_EQ, lane, ir_int(b, 0)));
    ir_store(b, shared_ballot, ir_int(b, 0), ballot);
    ir_end_only(b);
    elab_end_threads(e, LEVEL_WARP, lane);
    return ir_load(b, shared_ballot, ir_int(b, 0));
}

/* All lanes go through the array together: each load is one broadcast. `bit` is the vote at i as it joins the state. */
static struct elab_value *vote(struct elaborator *e, struct elab_value *votes, enum ir_op op, struct ir_value *start,
                               struct ir_value *(*bit)(struct elaborator *, struct ir_value *, struct ir_value *)) {
    struct ir_builder *b = e->builder;
    struct push *push = elab_as_push(e, votes);
    if (e->shape)
        return elab_unknown(e);
    struct split_frame *split = e->split;
    e->split = NULL;
    if (is_in_lanes(e, push)) {
        struct ir_value *ballot = ballot_of_lanes(e, push);
        e->split = split;
        if (bit) /* of the first 32 */
            return elab_scalar(e, ir_convert(b, ballot, BASE_U32));
        return elab_scalar(
            e, ir_binary(b, op == OP_OR ? OP_NE : OP_EQ, ballot, elab_lanes(e, op == OP_OR ? 0 : UINT64_MAX)));
    }
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

PRIMITIVE(ANY_WARP) { return vote(e, arguments[0], OP_OR, ir_bool(e->builder, false), NULL); }

PRIMITIVE(ALL_WARP) { return vote(e, arguments[0], OP_AND, ir_bool(e->builder, true), NULL); }

PRIMITIVE(BALLOT) {
    return vote(e, arguments[0], OP_OR, ir_constant(e->builder, BASE_U32, (union scalar){0}), ballot_bit);
}
