/* Types: constructors, kinds and classes. */
#include <string.h>

#include "types/checker.h"

struct type *type_stored(struct arena *arena, struct type *of, struct level *level) {
    struct type *type = ARENA_NEW(arena, struct type);
    type->kind = TYPE_STORED;
    type->stored.of = of;
    type->stored.level = level;
    type->stored.arena = arena;
    return type;
}

/* NULL: not known yet, or of what cannot be stored, which is reported elsewhere (stored.c). */
static struct type *what_is_stored(const struct type *type) {
    struct type *of = type_resolve(type->stored.of);
    struct arena *arena = type->stored.arena;
    switch (of->kind) {
    case TYPE_VARIABLE: return of->variable->kind >= KIND_BT ? of : NULL;
    case TYPE_BASE:
    case TYPE_ERROR: return of;
    case TYPE_TUPLE: {
        struct type *tuple = ARENA_NEW(arena, struct type),
                    **items = ARENA_ARRAY(arena, struct type *, of->tuple.count);
        for (size_t i = 0; i < of->tuple.count; i++)
            items[i] = type_stored(arena, of->tuple.items[i], type->stored.level);
        tuple->kind = TYPE_TUPLE;
        tuple->tuple = of->tuple;
        tuple->tuple.items = items;
        return tuple;
    }
    case TYPE_PULL: {
        struct type *push = ARENA_NEW(arena, struct type);
        push->kind = TYPE_PUSH;
        push->array.element = of->array.element;
        push->array.level = type->stored.level;
        return push;
    }
    case TYPE_ARROW:
    case TYPE_LEVEL_ARROW:
    case TYPE_PUSH:
    case TYPE_STORED: return NULL;
    }
    return NULL;
}

static struct type *resolve_variable(struct type *type) {
    while (type->kind == TYPE_VARIABLE && type->variable->link) {
        struct type *next = type->variable->link;
        if (next->kind == TYPE_VARIABLE && next->variable->link) {
            type->variable->link = next->variable->link; /* keeps chains short */
            type->variable->decided = next->variable->decided;
        }
        type = next;
    }
    return type;
}

struct type *type_resolve(struct type *type) {
    for (;;) {
        type = resolve_variable(type);
        if (type->kind != TYPE_STORED)
            return type;
        if (!type->stored.is)
            type->stored.is = what_is_stored(type);
        if (!type->stored.is)
            return type;
        type = type->stored.is;
    }
}

struct type *type_without_levels(struct type *type) {
    type = type_resolve(type);
    while (type->kind == TYPE_LEVEL_ARROW)
        type = type_resolve(type->level_arrow.to);
    return type;
}

/* ---- constructors ---- */

static struct type *type_new(struct checker *c, enum type_kind kind) {
    struct type *type = ARENA_NEW(c->arena, struct type);
    type->kind = kind;
    return type;
}

struct type *type_fresh(struct checker *c, enum kind kind, unsigned classes, struct span span) {
    struct type_variable *variable = ARENA_NEW(c->arena, struct type_variable);
    variable->id = c->next_type++;
    variable->kind = classes && kind < KIND_BT ? KIND_BT : kind;
    variable->classes = classes;
    variable->depth = c->depth;
    variable->span = span;
    struct type *type = type_new(c, TYPE_VARIABLE);
    type->variable = variable;
    return type;
}

struct type *type_arrow(struct checker *c, struct type *from, struct type *to, struct level *ambient) {
    struct type *type = type_new(c, TYPE_ARROW);
    type->arrow.from = from;
    type->arrow.to = to;
    type->arrow.ambient = ambient;
    return type;
}

struct type *type_level_arrow(struct checker *c, struct level *level, struct type *to) {
    struct type *type = type_new(c, TYPE_LEVEL_ARROW);
    type->level_arrow.level = level;
    type->level_arrow.to = to;
    return type;
}

struct type *type_pull(struct checker *c, struct type *element, struct level *ambient) {
    struct type *type = type_new(c, TYPE_PULL);
    type->array.element = element;
    type->array.level = ambient;
    return type;
}

struct type *type_push(struct checker *c, struct type *element, struct level *level) {
    struct type *type = type_new(c, TYPE_PUSH);
    type->array.element = element;
    type->array.level = level;
    return type;
}

struct type *type_tuple(struct checker *c, struct type **items, size_t count) {
    struct type *type = type_new(c, TYPE_TUPLE);
    type->tuple.items = items;
    type->tuple.count = count;
    return type;
}

struct type *type_tuple_like(struct checker *c, const struct type *like, struct type **items) {
    struct type *type = type_tuple(c, items, like->tuple.count);
    type->tuple.record = like->tuple.record;
    return type;
}

/* ---- classes ---- */

static const struct {
    const char *name;
    unsigned class, implies;
} classes_by_name[] = {
    {"integral", CLASS_INTEGRAL, CLASS_NUM | CLASS_ORD | CLASS_EQ},
    {"floating", CLASS_FLOATING, CLASS_NUM | CLASS_ORD | CLASS_EQ},
    {"num", CLASS_NUM, CLASS_ORD | CLASS_EQ},
    {"ord", CLASS_ORD, CLASS_EQ},
    {"eq", CLASS_EQ, 0},
};
enum { CLASS_NAME_COUNT = sizeof classes_by_name / sizeof *classes_by_name };

/* With the classes that these imply. */
static unsigned class_closure(unsigned classes) {
    unsigned all = classes;
    for (size_t i = 0; i < CLASS_NAME_COUNT; i++)
        if (classes & classes_by_name[i].class)
            all |= classes_by_name[i].implies;
    return all;
}

unsigned class_of_name(const char *name) {
    for (size_t i = 0; i < CLASS_NAME_COUNT; i++)
        if (strcmp(classes_by_name[i].name, name) == 0)
            return classes_by_name[i].class;
    return 0;
}

const char *class_names(struct checker *c, unsigned classes) {
    struct text text;
    text_init(&text, c->arena);
    unsigned implied = 0;
    for (size_t i = 0; i < CLASS_NAME_COUNT; i++) {
        if (!(classes & classes_by_name[i].class) || (implied & classes_by_name[i].class))
            continue;
        text_printf(&text, "%s%s", text.length ? ", " : "", classes_by_name[i].name);
        implied |= classes_by_name[i].implies;
    }
    return text_string(&text);
}

static unsigned classes_of_base(enum base base) {
    const struct base_info *info = &base_info[base];
    return CLASS_EQ | CLASS_ORD | (info->is_integer ? CLASS_NUM | CLASS_INTEGRAL : 0) |
           (info->is_floating ? CLASS_NUM | CLASS_FLOATING : 0);
}

/* ---- kinds (FCL §5.1, rules 1–13) ---- */

static bool fail(struct checker *c, enum unify_failure why, struct type *type, enum kind kind, unsigned classes) {
    c->failure = (struct failure){.why = why, .a = type, .kind = kind, .classes = classes};
    return false;
}

static bool require_of_variable(struct checker *c, struct type *type, enum kind kind, unsigned classes) {
    struct type_variable *variable = type->variable;
    if (variable->rigid) {
        if (classes & ~class_closure(variable->classes))
            return fail(c, FAILED_CLASS, type, kind, classes);
    } else {
        unsigned both = variable->classes | classes;
        if ((both & CLASS_INTEGRAL) && (both & CLASS_FLOATING))
            return fail(c, FAILED_CLASS, type, kind, classes);
        variable->classes = both;
    }
    /* A sig says no kinds, so those of its variables are found as the definition is checked. */
    if (kind > variable->kind)
        variable->kind = kind;
    if (variable->classes && variable->kind < KIND_BT)
        variable->kind = KIND_BT;
    return true;
}

static bool require(struct checker *c, struct type *type, enum kind kind, unsigned classes, uint32_t walk) {
    type = type_resolve(type);
    if (!type_walk_comes(walk, type, 0))
        return true;
    switch (type->kind) {
    case TYPE_VARIABLE: return require_of_variable(c, type, kind, classes);
    case TYPE_BASE: return !(classes & ~classes_of_base(type->base)) || fail(c, FAILED_CLASS, type, kind, classes);
    case TYPE_TUPLE:
        if (kind == KIND_SCALAR || (classes & ~(unsigned)(CLASS_EQ | CLASS_ORD)))
            return fail(c, FAILED_CLASS, type, kind, classes);
        if (kind == KIND_TYP && !classes)
            return true;
        for (size_t i = 0; i < type->tuple.count; i++)
            if (!require(c, type->tuple.items[i], kind, classes, walk))
                return false;
        return true;
    case TYPE_ARROW:
    case TYPE_LEVEL_ARROW:
        if (classes)
            return fail(c, FAILED_CLASS, type, kind, classes);
        return kind == KIND_TYP || fail(c, FAILED_KIND, type, kind, 0);
    case TYPE_PULL:
    case TYPE_PUSH:
        if (classes)
            return fail(c, FAILED_CLASS, type, kind, classes);
        return kind < KIND_BT || fail(c, FAILED_KIND, type, kind, 0);
    case TYPE_STORED: /* a scalar, if that is asked for */
        return (kind < KIND_BT && !classes) || require(c, type->stored.of, kind, classes, walk);
    case TYPE_ERROR: return true;
    }
    return true;
}

bool type_require(struct checker *c, struct type *type, enum kind kind, unsigned classes) {
    return require(c, type, kind, classes, type_walk_begin(c));
}

/* ---- size ---- */

uint32_t type_walk_begin(struct checker *c) { return ++c->walks; }

struct type **type_part(struct type *type, size_t i) {
    switch (type->kind) {
    case TYPE_VARIABLE:
    case TYPE_BASE:
    case TYPE_ERROR: return NULL;
    case TYPE_TUPLE: return i < type->tuple.count ? &type->tuple.items[i] : NULL;
    case TYPE_ARROW: return i == 0 ? &type->arrow.from : i == 1 ? &type->arrow.to : NULL;
    case TYPE_LEVEL_ARROW: return i == 0 ? &type->level_arrow.to : NULL;
    case TYPE_PULL:
    case TYPE_PUSH: return i == 0 ? &type->array.element : NULL;
    case TYPE_STORED: return i == 0 ? &type->stored.of : NULL;
    }
    return NULL;
}

struct level **type_level(struct type *type) {
    switch (type->kind) {
    case TYPE_VARIABLE:
    case TYPE_BASE:
    case TYPE_ERROR:
    case TYPE_TUPLE: return NULL;
    case TYPE_ARROW: return &type->arrow.ambient;
    case TYPE_LEVEL_ARROW: return &type->level_arrow.level;
    case TYPE_PULL:
    case TYPE_PUSH: return &type->array.level;
    case TYPE_STORED: return &type->stored.level;
    }
    return NULL;
}

static struct type *found_at(struct type *declared, struct type *type, const struct type_variable *wanted) {
    struct type *found = NULL;
    declared = type_resolve(declared);
    type = type_resolve(type);
    if (declared->kind == TYPE_VARIABLE)
        return declared->variable == wanted ? type : NULL;
    for (size_t i = 0; !found && type_part(declared, i) && type_part(type, i); i++)
        found = found_at(*type_part(declared, i), *type_part(type, i), wanted);
    return found;
}

struct type *type_record_argument(struct type *type, size_t parameter) {
    const struct record *record = type->tuple.record;
    struct type *found = NULL;
    for (size_t i = 0; !found && i < type->tuple.count; i++)
        found =
            found_at(record->declared->tuple.items[i], type->tuple.items[i], record->parameters[parameter]->variable);
    return found;
}

/* ---- names of components ---- */

size_t type_leaf_count(struct type *type) {
    type = type_resolve(type);
    size_t count = type->kind != TYPE_TUPLE;
    for (size_t i = 0; type->kind == TYPE_TUPLE && i < type->tuple.count; i++)
        count += type_leaf_count(type->tuple.items[i]);
    return count;
}

static size_t component_count(struct type *type) {
    type = type_resolve(type);
    if (type->kind == TYPE_PULL || type->kind == TYPE_PUSH)
        return component_count(type->array.element);
    size_t count = type->kind != TYPE_TUPLE;
    for (size_t i = 0; type->kind == TYPE_TUPLE && i < type->tuple.count; i++)
        count += component_count(type->tuple.items[i]);
    return count;
}

static bool has_record(struct type *type) {
    type = type_resolve(type);
    bool found = type->kind == TYPE_TUPLE && type->tuple.record;
    if (type->kind == TYPE_TUPLE || type->kind == TYPE_PULL || type->kind == TYPE_PUSH)
        for (size_t i = 0; !found && type_part(type, i); i++)
            found = has_record(*type_part(type, i));
    return found;
}

const char *type_item_name(struct arena *arena, const struct type *tuple, const char *name, size_t i) {
    return tuple->tuple.record ? arena_printf(arena, "%s_%s", name, tuple->tuple.record->fields[i]->text)
                               : arena_printf(arena, "%s_%zu", name, i);
}

/* The way to the component, as far as the first array, or to its end. */
static const char *named_way(struct arena *arena, struct type *type, const char *name, size_t component,
                             bool ends_at_array) {
    type = type_resolve(type);
    if (type->kind == TYPE_PULL || type->kind == TYPE_PUSH)
        return ends_at_array ? name : named_way(arena, type->array.element, name, component, false);
    for (size_t i = 0; type->kind == TYPE_TUPLE && i < type->tuple.count; i++) {
        size_t count = component_count(type->tuple.items[i]);
        if (component < count)
            return named_way(arena, type->tuple.items[i], type_item_name(arena, type, name, i), component,
                             ends_at_array);
        component -= count;
    }
    return name;
}

static const char *numbered(struct arena *arena, const char *name, size_t component) {
    return component ? arena_printf(arena, "%s_%zu", name, component) : name;
}

const char *type_component_name(struct arena *arena, struct type *type, const char *name, size_t component) {
    return has_record(type) ? named_way(arena, type, name, component, false) : numbered(arena, name, component);
}

const char *type_array_name(struct arena *arena, struct type *type, const char *name, size_t component) {
    return has_record(type) ? named_way(arena, type, name, component, true) : numbered(arena, name, component);
}

bool type_is_of_scalars(struct type *type) {
    type = type_resolve(type);
    if (type->kind != TYPE_TUPLE)
        return type->kind == TYPE_BASE;
    for (size_t i = 0; i < type->tuple.count; i++)
        if (!type_is_of_scalars(type->tuple.items[i]))
            return false;
    return true;
}

static bool count_nodes(struct type *type, size_t *left, uint32_t walk) {
    type = type_resolve(type);
    if (!type_walk_comes(walk, type, 0))
        return true;
    if (*left == 0)
        return false;
    --*left;
    for (size_t i = 0; type_part(type, i); i++)
        if (!count_nodes(*type_part(type, i), left, walk))
            return false;
    return true;
}

bool type_is_small(struct checker *c, struct type *type) {
    size_t left = TYPE_SIZE_LIMIT;
    return count_nodes(type, &left, type_walk_begin(c));
}

bool is_unknown(struct type *type) {
    type = type_resolve(type);
    return type->kind == TYPE_VARIABLE && !type->variable->rigid;
}
