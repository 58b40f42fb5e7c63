/* Push arrays whose iteration scheme is their own: pushEach. */
#include "elaborate/value.h"

/* ---- pushEach ---- */

static void write_pair(struct elaborator *e, struct pull *pairs, struct ir_value *which, const struct writer *writer) {
    struct elab_value *pair = elab_index(e, pairs, which);
    if (pair->kind != ELAB_TUPLE)
        elab_internal(e, "a write is no pair");
    writer->write(e, writer, elab_as_scalar(e, pair->tuple.items[0]), pair->tuple.items[1]);
}

/* How many writes there are in an iteration is part of the code, not of the data: each is a statement, without a branch
   around it. Only very many of them, which no list has, become a loop. */
void elab_run_each(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct split_frame *split = e->split;
    e->split = NULL; /* iterations are not chunks */
    struct ir_value *i = elab_begin_threads(e, push->level, ir_resolve(b, push->count));
    struct pull *pairs = elab_as_pull(e, elab_apply(e, push->function, elab_scalar(e, i)));
    struct ir_value *writes = pairs->length ? ir_resolve(b, pairs->length) : NULL;
    if (!writes || !writes->is_constant)
        elab_fail(
            e, DIAG_DYNAMIC_WRITES, push->span,
            "how many writes an iteration of this `pushEach` makes must be known at compile time: give it a list, "
            "as in [(i, x), (j, y)], or a `generate` of a constant length");
    if (pairs->kind != PULL_LIST && writes->constant.integer > e->options->unroll && writes->constant.integer > 1) {
        write_pair(e, pairs, ir_begin_for(b, writes, NULL, 0, "k"), writer);
        ir_end_for(b, NULL, NULL);
    } else {
        for (int64_t k = 0; k < writes->constant.integer; k++)
            write_pair(e, pairs, ir_int(b, k), writer);
    }
    elab_end_threads(e, push->level);
    e->split = split;
}

struct elab_value *elab_PUSH_EACH(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                                  struct elab_value **arguments) {
    (void)primitive;
    struct push *push = elab_push_new(e, PUSH_EACH, elab_level(e, instance, 0));
    push->total = elab_not_negative(e, elab_as_scalar(e, arguments[0]));
    push->count = elab_not_negative(e, elab_as_scalar(e, arguments[1]));
    push->function = arguments[2];
    push->span = e->span;
    return elab_of_push(e, push);
}
