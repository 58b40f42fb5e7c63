/* Values that are stored together: a tuple of arrays and scalars, nested or not, and its parts from left to right. */
#include "elaborate/check.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"
#include "elaborate/state.h"

static struct part *collect(struct type *type, struct part *next) {
    type = type_resolve(type);
    if (type->kind != TYPE_TUPLE) {
        bool is_array = type->kind == TYPE_PULL;
        *next = (struct part){.is_array = is_array, .type = is_array ? type->array.element : type};
        return next + 1;
    }
    for (size_t i = 0; i < type->tuple.count; i++)
        next = collect(type->tuple.items[i], next);
    return next;
}

const struct part *elab_parts_of(struct elaborator *e, struct type *type, size_t *count) {
    *count = type_leaf_count(type);
    struct part *parts = ARENA_ARRAY(e->arena, struct part, *count);
    collect(type, parts);
    return parts;
}

static struct elab_value **take_apart(struct elaborator *e, struct type *type, struct elab_value *value,
                                      struct elab_value **next) {
    type = type_resolve(type);
    if (type->kind != TYPE_TUPLE) {
        *next = value;
        return next + 1;
    }
    if (value->kind != ELAB_TUPLE)
        elab_internal(e, "a tuple was expected");
    for (size_t i = 0; i < type->tuple.count; i++)
        next = take_apart(e, type->tuple.items[i], value->tuple.items[i], next);
    return next;
}

struct elab_value **elab_take_apart(struct elaborator *e, struct type *type, struct elab_value *value) {
    struct elab_value **parts = ARENA_ARRAY(e->arena, struct elab_value *, type_leaf_count(type));
    take_apart(e, type, value, parts);
    return parts;
}

static struct elab_value *put_together(struct elaborator *e, struct type *type, struct elab_value ***next) {
    type = type_resolve(type);
    if (type->kind != TYPE_TUPLE)
        return *(*next)++;
    struct elab_value **items = ARENA_ARRAY(e->arena, struct elab_value *, type->tuple.count);
    for (size_t i = 0; i < type->tuple.count; i++)
        items[i] = put_together(e, type->tuple.items[i], next);
    return elab_tuple(e, items, type->tuple.count);
}

struct elab_value *elab_put_together(struct elaborator *e, struct type *type, struct elab_value **parts) {
    return put_together(e, type, &parts);
}

struct elab_value **elab_force_parts(struct elaborator *e, const struct part *parts, size_t count,
                                     struct elab_value *const *values, const struct element_order *const *orders) {
    struct elab_value **stored = ARENA_ARRAY(e->arena, struct elab_value *, count + 1);
    runnings all = {0};
    for (size_t k = 0; k < count; k++) {
        stored[k] = values[k];
        if (parts[k].is_array)
            stored[k] = elab_of_pull(
                e, elab_force_later(e, elab_as_push(e, values[k]), parts[k].type, orders ? orders[k] : NULL, &all));
    }
    elab_run_together(e, all.at, all.count);
    return stored;
}

/* Could it have been read without `force`? */
static bool is_of_pull(const struct push *push) {
    while (push->kind == PUSH_MAP)
        push = push->of;
    return push->kind == PUSH_PULL;
}

/* For the pass rereads. */
static void mark_plain(struct elaborator *e, const struct part *part, const struct push *push,
                       const struct pull *stored) {
    if (!is_of_pull(push) || stored->kind != PULL_MEMORY)
        return;
    base_list bases = elab_bases_of(e, part->type);
    for (size_t k = 0; k < bases.count; k++)
        stored->memory.buffers[k]->is_plain = !ir_is_constant_memory(stored->memory.buffers[k]);
}

/* `is_asked`: by `force`, and not to be there before it is used. */
static struct elab_value *force_value(struct elaborator *e, struct type *type, struct elab_value *value,
                                      bool is_asked) {
    size_t count;
    const struct part *parts = elab_parts_of(e, type, &count);
    struct elab_value *const *values = elab_take_apart(e, type, value);
    struct elab_value **stored = elab_force_parts(e, parts, count, values, NULL);
    for (size_t k = 0; k < count; k++)
        if (parts[k].is_array && is_asked)
            mark_plain(e, &parts[k], elab_as_push(e, values[k]), elab_as_pull(e, stored[k]));
    return elab_plain(e, elab_put_together(e, type, stored));
}

struct elab_value *elab_force_value(struct elaborator *e, struct type *type, struct elab_value *value) {
    return force_value(e, type, value, false);
}

PRIMITIVE(FORCE) { return force_value(e, elab_type(e, instance, 0), arguments[0], true); }

PRIMITIVE(FORCE_UP_TO) {
    struct ir_builder *b = e->builder;
    struct type *element = elab_type(e, instance, 0);
    struct push *of = elab_as_push(e, arguments[1]);
    if (e->shape)
        return elab_of_pull(e, elab_unknown_array(e, element, NULL));
    struct ir_value *total = elab_given_length(e, arguments[0]);
    struct push *push =
        elab_push_new(e, (struct push){.kind = PUSH_PERMUTE_INTO, .level = of->level, .total = total, .of = of});
    push->into.said = elab_one_int(e, push->level, "said_length");
    push->into.said->is_zeroed = push->into.said->is_said = push->level == LEVEL_GRID;
    if (!push->into.said->is_zeroed) {
        struct ir_value *i = elab_begin_threads(e, push->level, ir_int(b, 1));
        ir_store(b, push->into.said, i, ir_int(b, 0));
        elab_end_threads(e, push->level, i);
    }
    struct pull *stored = elab_force(e, push, element);
    stored->length = elab_said_length(e, push);
    return elab_of_pull(e, stored);
}
