/* Ground types at run time: the evaluators substitute what an instance says, and share what has no variables. */
#include <string.h>

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
    if (type->kind == TYPE_TUPLE)
        copy->tuple.items = memcpy(ARENA_ARRAY(arena, struct type *, type->tuple.count), type->tuple.items,
                                   type->tuple.count * sizeof *type->tuple.items);
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

static struct type *instantiate_parts(struct instantiation *in, struct type *type) {
    struct type *copy = NULL;
    for (size_t i = 0; type_part(type, i); i++) {
        struct type *part = instantiate(in, *type_part(type, i));
        if (part == *type_part(type, i))
            continue;
        copy = copy ? copy : copy_of(in->arena, type);
        *type_part(copy, i) = part;
    }
    struct level *level = type_level(type) ? ground_level(in->arena, in->instance, *type_level(type)) : NULL;
    if (level && level != *type_level(type)) {
        copy = copy ? copy : copy_of(in->arena, type);
        *type_level(copy) = level;
    }
    return copy ? copy : type;
}

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
    case TYPE_TUPLE:
    case TYPE_ARROW:
    case TYPE_LEVEL_ARROW:
    case TYPE_PULL:
    case TYPE_PUSH: return instantiate_parts(in, type);
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
