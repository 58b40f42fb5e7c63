/* Ground types at run time: the evaluators substitute what an instance says, and share what has no variables. */
#include "support/fatal.h"
#include "support/map.h"
#include "types/type.h"

static struct type *lookup_type(const struct instance *instance, const struct type_variable *variable) {
    for (; instance; instance = instance->parent)
        for (size_t i = 0; instance->scheme && i < instance->scheme->type_count; i++)
            if (instance->scheme->type_variables[i] == variable)
                return instance->types ? instance->types[i] : NULL;
    return NULL;
}

static const enum level_value *lookup_level(const struct instance *instance, const struct level_variable *variable) {
    for (; instance; instance = instance->parent)
        for (size_t i = 0; instance->scheme && i < instance->scheme->level_count; i++)
            if (instance->scheme->level_variables[i] == variable)
                return instance->levels ? &instance->levels[i] : NULL;
    return NULL;
}

/* An ambient that no instance knows is pure, for nobody asks at run time. */
enum level_value level_instantiate(const struct instance *instance, struct level *level) {
    level = level_resolve(level);
    if (!level->variable)
        return level->value;
    const enum level_value *found = lookup_level(instance, level->variable);
    if (!found) {
        if (level->variable->domain & (1u << LEVEL_PURE))
            return LEVEL_PURE;
        fatal_internal("types", "level variable %u has no instance", (unsigned)level->variable->id);
    }
    return (enum level_value)((int)*found + level->offset);
}

static struct level *ground_level(struct arena *arena, const struct instance *instance, struct level *level) {
    level = level_resolve(level);
    if (!level->variable)
        return level;
    struct level *ground = ARENA_NEW(arena, struct level);
    ground->value = level_instantiate(instance, level);
    return ground;
}

static struct type *copy_of(struct arena *arena, const struct type *type) {
    struct type *copy = ARENA_NEW(arena, struct type);
    *copy = *type;
    copy->is_settled = true;
    return copy;
}

struct instantiation {
    struct arena *arena;
    const struct instance *instance;
    size_t steps;
    struct map *done; /* node → what became of it: types are graphs; NULL in the first few steps */
};
enum { FEW_STEPS = 64 };

static struct type *instantiate(struct instantiation *in, struct type *type);

static struct type *instantiate_node(struct instantiation *in, struct type *type) {
    struct arena *arena = in->arena;
    const struct instance *instance = in->instance;
    switch (type->kind) {
    case TYPE_VARIABLE: {
        struct type *found = lookup_type(instance, type->variable);
        if (!found)
            fatal_internal("types", "type variable %u has no instance", (unsigned)type->variable->id);
        return found;
    }
    case TYPE_BASE:
    case TYPE_ERROR: return type;
    case TYPE_TUPLE: {
        struct type **items = NULL;
        for (size_t i = 0; i < type->tuple.count; i++) {
            struct type *item = instantiate(in, type->tuple.items[i]);
            if (!items && item != type->tuple.items[i]) {
                items = ARENA_ARRAY(arena, struct type *, type->tuple.count);
                for (size_t j = 0; j < i; j++)
                    items[j] = type->tuple.items[j];
            }
            if (items)
                items[i] = item;
        }
        if (!items)
            return type;
        struct type *copy = copy_of(arena, type);
        copy->tuple.items = items;
        return copy;
    }
    case TYPE_ARROW: {
        struct type *from = instantiate(in, type->arrow.from);
        struct type *to = instantiate(in, type->arrow.to);
        struct level *ambient = ground_level(arena, instance, type->arrow.ambient);
        if (from == type->arrow.from && to == type->arrow.to && ambient == type->arrow.ambient)
            return type;
        struct type *copy = copy_of(arena, type);
        copy->arrow.from = from;
        copy->arrow.to = to;
        copy->arrow.ambient = ambient;
        return copy;
    }
    case TYPE_LEVEL_ARROW: {
        struct level *level = ground_level(arena, instance, type->level_arrow.level);
        struct type *to = instantiate(in, type->level_arrow.to);
        if (level == type->level_arrow.level && to == type->level_arrow.to)
            return type;
        struct type *copy = copy_of(arena, type);
        copy->level_arrow.level = level;
        copy->level_arrow.to = to;
        return copy;
    }
    case TYPE_PULL:
    case TYPE_PUSH: {
        struct type *element = instantiate(in, type->array.element);
        struct level *level = ground_level(arena, instance, type->array.level);
        if (element == type->array.element && level == type->array.level)
            return type;
        struct type *copy = copy_of(arena, type);
        copy->array.element = element;
        copy->array.level = level;
        return copy;
    }
    case TYPE_STORED:
        return type_resolve(
            type_stored(arena, instantiate(in, type->stored.of), ground_level(arena, instance, type->stored.level)));
    }
    return type;
}

static struct type *instantiate(struct instantiation *in, struct type *type) {
    type = type_resolve(type);
    if (type->kind == TYPE_BASE || type->kind == TYPE_VARIABLE)
        return instantiate_node(in, type);
    if (++in->steps == FEW_STEPS)
        in->done = map_new(in->arena);
    struct type *known = in->done ? map_get(in->done, type) : NULL;
    if (known)
        return known;
    struct type *result = instantiate_node(in, type);
    if (in->done)
        map_set(in->done, type, result);
    return result;
}

struct type *type_instantiate(struct arena *arena, const struct instance *instance, struct type *type) {
    struct instantiation in = {.arena = arena, .instance = instance};
    return instantiate(&in, type);
}
