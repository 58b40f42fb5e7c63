/* The primitives on pull and push arrays that are not in a file of their own. Nothing here emits a loop. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"

PRIMITIVE(GENERATE) {
    struct pull *pull = elab_pull_new(e, PULL_GENERATE, elab_given_length(e, arguments[0]));
    pull->function = arguments[1];
    return elab_of_pull(e, pull);
}

PRIMITIVE(LENGTH) { return elab_scalar(e, elab_as_pull(e, arguments[0])->length); }

static struct elab_value *columns_of_first(struct elaborator *e, void *rows) {
    return elab_scalar(e, elab_made_length(e, rows, ir_int(e->builder, 0)));
}

static struct elab_value *no_columns(struct elaborator *e, void *context) {
    (void)context;
    return elab_scalar(e, ir_int(e->builder, 0));
}

PRIMITIVE(COLUMNS) {
    struct pull *rows = elab_as_pull(e, arguments[0]);
    struct ir_value *columns;
    bool is_within = e->shape;
    if (!is_within)
        e->row_is_compared = false;
    bool is_known = elab_columns(e, rows, 2, &columns);
    if (is_known && (is_within || !e->row_is_compared))
        return elab_scalar(e, columns);
    if (is_within || !rows->length)
        return elab_unknown(e);
    struct ir_value *is_some = ir_binary(e->builder, OP_LT, ir_int(e->builder, 0), rows->length);
    struct elab_value *of_first = elab_choose(e, is_some, columns_of_first, rows, no_columns, NULL);
    return is_known ? elab_scalar(e, columns) : of_first;
}

PRIMITIVE(LENGTH_PULL) { return elab_LENGTH(e, primitive, instance, arguments); }

PRIMITIVE(ELEMENT_BYTES) {
    base_list bases = elab_bases_of(e, elab_type(e, instance, 0));
    return elab_scalar(e, ir_int(e->builder, elab_bits(&bases) / 8));
}

PRIMITIVE(NO_GROUPS) {
    struct ir_builder *b = e->builder;
    struct ir_value *n = elab_as_scalar(e, arguments[0]);
    elab_hold(e, CHECK_GROUP, ir_bool(b, false), n, n, e->span);
    return elab_scalar(e, ir_int(b, 0));
}

PRIMITIVE(ALL_OF) {
    struct ir_builder *b = e->builder;
    struct ir_value *n = elab_as_scalar(e, arguments[0]), *length = elab_as_scalar(e, arguments[1]);
    if (n && length)
        elab_hold(e, CHECK_INDEX, ir_binary(b, OP_LE, n, length), ir_binary(b, OP_SUB, n, ir_int(b, 1)), length,
                  e->span);
    return arguments[0];
}

/* The array need not be run: see note [measured] in matrix.c. Its chunks are elaborated as shapes. */
PRIMITIVE(LENGTH_PUSH) {
    struct push *push = elab_as_push(e, arguments[0]);
    if (e->shape || !elab_checks_all(e))
        return elab_scalar(e, elab_push_length(e, push));
    e->shape++;
    struct measuring_before before = elab_begin_measured(e, ir_bool(e->builder, true));
    e->shape--;
    struct ir_value *length = elab_push_length(e, push);
    elab_end_measured(e, before, &length, 1);
    return elab_scalar(e, length);
}

static struct elab_value *combined_length(struct elaborator *e, enum ir_op op, enum ir_check check,
                                          struct elab_value **arguments) {
    struct ir_value *x = elab_as_scalar(e, arguments[0]), *y = elab_as_scalar(e, arguments[1]);
    return elab_scalar(e, elab_combined_length(e, op, check, x, y));
}

PRIMITIVE(LENGTH_PLUS) { return combined_length(e, OP_ADD, CHECK_LONG, arguments); }

PRIMITIVE(LENGTH_TIMES) { return combined_length(e, OP_MUL, CHECK_MANY_TIMES, arguments); }

PRIMITIVE(INDEX) {
    struct pull *pull = elab_as_pull(e, arguments[0]);
    struct ir_value *index = elab_as_scalar(e, arguments[1]);
    return elab_plain(e, elab_index(e, pull, elab_place(e, pull, index)));
}

PRIMITIVE(INDEX_OPERATOR) { return elab_INDEX(e, primitive, instance, arguments); }

PRIMITIVE(MAP) {
    struct pull *of = elab_as_pull(e, arguments[1]);
    struct pull *pull = elab_pull_new(e, PULL_MAP, of->length);
    pull->function = arguments[0];
    pull->of = of;
    return elab_of_pull(e, pull);
}

PRIMITIVE(MAP_PULL) { return elab_MAP(e, primitive, instance, arguments); }

static struct elab_value *map_push(struct elaborator *e, struct elab_value **arguments, bool with_index) {
    struct push *of = elab_as_push(e, arguments[1]);
    return NEW_PUSH(MAP, of->level, .function = arguments[0], .of = of, .map.with_index = with_index);
}

PRIMITIVE(MAP_PUSH) { return map_push(e, arguments, false); }

PRIMITIVE(MAP_PUSH_IX) { return map_push(e, arguments, true); }

PRIMITIVE(PUSH) {
    return elab_of_push(e, elab_push_of_pull(e, elab_level(e, instance, 0), elab_as_pull(e, arguments[0])));
}

PRIMITIVE(APPEND) {
    struct push *of = elab_as_push(e, arguments[0]);
    return NEW_PUSH(APPEND, of->level, .of = of, .both.second = elab_as_push(e, arguments[1]));
}

PRIMITIVE(PERMUTE) {
    struct push *of = elab_as_push(e, arguments[1]);
    return NEW_PUSH(PERMUTE, of->level, .function = arguments[0], .of = of);
}

PRIMITIVE(PERMUTE_INTO) {
    struct push *of = elab_as_push(e, arguments[1]);
    return NEW_PUSH(PERMUTE_INTO, of->level, .total = elab_given_length(e, arguments[0]), .of = of);
}

PRIMITIVE(PERMUTE_OVER) {
    struct push *of = elab_as_push(e, arguments[1]);
    return NEW_PUSH(PERMUTE_INTO, of->level, .total = elab_given_length(e, arguments[0]), .of = of,
                    .into.is_over = true);
}

PRIMITIVE(COVERS) {
    struct push *push = ARENA_NEW(e->arena, struct push);
    *push = *elab_as_push(e, arguments[0]);
    push->is_covered = true;
    return elab_of_push(e, push);
}

PRIMITIVE(PIPE) { return elab_apply(e, arguments[1], arguments[0]); }

PRIMITIVE(COMPOSE) { return elab_apply(e, arguments[0], elab_apply(e, arguments[1], arguments[2])); }

static struct elab_value *component(struct elaborator *e, struct elab_value *tuple, size_t index) {
    if (tuple->kind == ELAB_SCALAR && !tuple->scalar)
        return tuple;
    if (tuple->kind != ELAB_TUPLE)
        elab_internal(e, "a pair was expected");
    return tuple->tuple.items[index];
}

PRIMITIVE(FST) { return component(e, arguments[0], 0); }

PRIMITIVE(SND) { return component(e, arguments[0], 1); }
