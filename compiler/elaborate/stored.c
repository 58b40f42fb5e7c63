/* What is stored together: a tuple of arrays and scalars, nested or not, and its parts from left to right. */
#include "elaborate/value.h"

struct parts_of {
    VEC(struct part) all;
};

static void collect(struct elaborator *e, struct type *type, struct parts_of *parts) {
    type = type_resolve(type);
    if (type->kind == TYPE_TUPLE)
        for (size_t i = 0; i < type->tuple.count; i++)
            collect(e, type->tuple.items[i], parts);
    else if (type->kind == TYPE_PULL)
        vec_push(e->arena, &parts->all, ((struct part){.is_array = true, .type = type->array.element}));
    else
        vec_push(e->arena, &parts->all, ((struct part){.type = type}));
}

const struct part *elab_parts_of(struct elaborator *e, struct type *type, size_t *count) {
    struct parts_of parts = {0};
    collect(e, type, &parts);
    *count = parts.all.count;
    return parts.all.at;
}

typedef VEC(struct elab_value *) value_list;

static void take_apart(struct elaborator *e, struct type *type, struct elab_value *value, value_list *parts) {
    type = type_resolve(type);
    if (type->kind != TYPE_TUPLE) {
        vec_push(e->arena, parts, value);
        return;
    }
    if (value->kind != ELAB_TUPLE)
        elab_internal(e, "a tuple was expected");
    for (size_t i = 0; i < type->tuple.count; i++)
        take_apart(e, type->tuple.items[i], value->tuple.items[i], parts);
}

struct elab_value **elab_take_apart(struct elaborator *e, struct type *type, struct elab_value *value) {
    value_list parts = {0};
    take_apart(e, type, value, &parts);
    return parts.at;
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

struct elab_value *elab_FORCE(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                              struct elab_value **arguments) {
    (void)primitive;
    struct type *type = elab_type(e, instance, 0);
    size_t count;
    const struct part *parts = elab_parts_of(e, type, &count);
    struct elab_value **values = elab_take_apart(e, type, arguments[0]);
    struct elab_value **stored = ARENA_ARRAY(e->arena, struct elab_value *, count + 1);
    for (size_t k = 0; k < count; k++)
        stored[k] =
            parts[k].is_array ? elab_of_pull(e, elab_force(e, elab_as_push(e, values[k]), parts[k].type)) : values[k];
    return elab_put_together(e, type, stored);
}
