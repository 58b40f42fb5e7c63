/* Unification of types, and its one-sided form that lets ambients fit instead of being equal. */
#include "types/checker.h"

static bool fail(struct checker *c, enum unify_failure why, struct type *a, struct type *b) {
    c->failure = (struct failure){.why = why, .a = a, .b = b};
    return false;
}

static void lower_level(struct level *level, uint32_t depth) {
    struct level view = level_view(level);
    if (view.variable && view.variable->depth > depth)
        view.variable->depth = depth;
}

struct walk {
    uint32_t number;
    size_t left; /* nodes that it may still see */
};

static struct walk walk_begin(struct checker *c) { return (struct walk){type_walk_begin(c), TYPE_SIZE_LIMIT}; }

/* Makes every variable in `type` at most as deep as `variable`, which must not be among them. */
static bool adjust(struct checker *c, struct type_variable *variable, struct type *type, struct walk *walk) {
    type = type_resolve(type);
    if (!type_walk_comes(walk->number, type, 0))
        return true;
    if (walk->left == 0)
        return fail(c, FAILED_SIZE, type, NULL);
    walk->left--;
    if (type->kind == TYPE_VARIABLE && type->variable == variable)
        return fail(c, FAILED_OCCURS, NULL, NULL);
    if (type->kind == TYPE_VARIABLE && type->variable->depth > variable->depth)
        type->variable->depth = variable->depth;
    if (type_level(type))
        lower_level(*type_level(type), variable->depth);
    for (size_t i = 0; type_part(type, i); i++)
        if (!adjust(c, variable, *type_part(type, i), walk))
            return false;
    return true;
}

/* Suppresses later errors about types that contain an error. */
static void give_up(struct checker *c, struct type *type, struct walk *walk) {
    type = type_resolve(type);
    if (!type_walk_comes(walk->number, type, 0) || walk->left == 0)
        return;
    walk->left--;
    if (type->kind == TYPE_VARIABLE && !type->variable->rigid)
        type->variable->link = c->error_type;
    for (size_t i = 0; type_part(type, i); i++)
        give_up(c, *type_part(type, i), walk);
}

static bool bind(struct checker *c, struct type *at, struct type *to) {
    struct type_variable *variable = at->variable;
    struct walk walk = walk_begin(c);
    if (!adjust(c, variable, to, &walk)) {
        c->failure.a = at;
        c->failure.b = to;
        return false;
    }
    bool gives_class =
        to->kind == TYPE_VARIABLE && !to->variable->rigid && (variable->classes & ~to->variable->classes);
    if (!type_require(c, to, variable->kind, variable->classes))
        return false;
    if (gives_class)
        to->variable->span = variable->span;
    if (to->kind == TYPE_VARIABLE && !to->variable->name && !to->variable->rigid)
        to->variable->name = variable->name;
    variable->link = to;
    variable->decided = c->at;
    return true;
}

static bool unify_variables(struct checker *c, struct type *a, struct type *b) {
    if (a->variable->rigid && b->variable->rigid)
        return fail(c, FAILED_RIGID, a, b);
    return a->variable->rigid ? bind(c, b, a) : bind(c, a, b);
}

/* ---- ambients ---- */

static void equal_ambients(struct checker *c, struct level *a, struct level *b) {
    struct level_constraint *k = ARENA_NEW(c->arena, struct level_constraint);
    *k = (struct level_constraint){LEVEL_FITS, a, b, c->at, c->reason};
    if (!level_unify(c, a, b, k))
        report_constraint(c, k);
    c->failure.why = FAILED_NOT;
}

/* Larger types than this, written out, are not lifted: they would be as many copies of what they share. With 2,000
   a name for each step of `fun p x = fn f => f x x` took 16 MB (tests/suites/limits.py); with 500 it takes 1 MB. */
enum { LIFTED_MOST = 500 };

static bool is_small_tree(struct type *type, size_t *left) {
    type = type_resolve(type);
    if (*left == 0)
        return false;
    --*left;
    bool is_kept = type->kind == TYPE_PUSH || type->kind == TYPE_STORED;
    for (size_t i = 0; !is_kept && type_part(type, i); i++)
        if (!is_small_tree(*type_part(type, i), left))
            return false;
    return true;
}

/* A copy of `type` with ambients of its own: `up`, those of `type` fit them; else the other way round.
   So a variable bound to it commits the other uses of the variable to nothing, nor do the places of a part commit each
   other: the copy is a tree. */
static struct type *lifted(struct checker *c, struct type *type, bool up) {
    type = type_resolve(type);
    switch (type->kind) {
    case TYPE_VARIABLE:
    case TYPE_BASE:
    case TYPE_PUSH:
    case TYPE_STORED:
    case TYPE_ERROR: return type;
    case TYPE_TUPLE: {
        struct type **items = ARENA_ARRAY(c->arena, struct type *, type->tuple.count);
        bool same = true;
        for (size_t i = 0; i < type->tuple.count; i++) {
            items[i] = lifted(c, type->tuple.items[i], up);
            same &= items[i] == type_resolve(type->tuple.items[i]);
        }
        return same ? type : type_tuple_like(c, type, items);
    }
    case TYPE_ARROW: {
        struct level *ambient = level_fresh(c, DOMAIN_AMBIENT);
        level_require(c, LEVEL_FITS, up ? type->arrow.ambient : ambient, up ? ambient : type->arrow.ambient, c->at,
                      c->reason);
        return type_arrow(c, lifted(c, type->arrow.from, !up), lifted(c, type->arrow.to, up), ambient);
    }
    case TYPE_LEVEL_ARROW: {
        struct type *to = lifted(c, type->level_arrow.to, up);
        return to == type_resolve(type->level_arrow.to) ? type : type_level_arrow(c, type->level_arrow.level, to);
    }
    case TYPE_PULL: {
        struct level *ambient = level_fresh(c, DOMAIN_AMBIENT);
        level_require(c, LEVEL_FITS, up ? type->array.level : ambient, up ? ambient : type->array.level, c->at,
                      c->reason);
        return type_pull(c, lifted(c, type->array.element, up), ambient);
    }
    }
    return type;
}

/* ---- the two relations ---- */

/* The pairs of nodes that one call has related already: a pair of nodes says the same wherever it comes. */
struct relation {
    struct checker *c;
    size_t steps;
    struct map *done[2]; /* exactly or not: found → a map of what it was related to; NULL in the first few steps */
};
enum { FEW_STEPS = 64 };

static bool is_related(struct relation *r, struct type *found, struct type *expected, bool exactly) {
    if (++r->steps < FEW_STEPS)
        return false;
    struct arena *arena = r->c->arena;
    if (!r->done[exactly])
        r->done[exactly] = map_new(arena);
    struct map *to = map_get(r->done[exactly], found);
    if (!to)
        map_set(r->done[exactly], found, to = map_new(arena));
    if (map_has(to, expected))
        return true;
    map_set(to, expected, NULL);
    return false;
}

static bool relate(struct relation *r, struct type *found, struct type *expected, bool exactly);

static bool relate_tuples(struct relation *r, struct type *found, struct type *expected, bool exactly) {
    if (found->tuple.count != expected->tuple.count || found->tuple.record != expected->tuple.record)
        return fail(r->c, FAILED_SHAPE, found, expected);
    for (size_t i = 0; i < found->tuple.count; i++)
        if (!relate(r, found->tuple.items[i], expected->tuple.items[i], exactly))
            return false;
    return true;
}

static void relate_ambients(struct checker *c, struct level *found, struct level *expected, bool exactly) {
    if (exactly)
        equal_ambients(c, found, expected);
    else
        level_require(c, LEVEL_FITS, found, expected, c->at, c->reason);
}

static bool relate(struct relation *r, struct type *found, struct type *expected, bool exactly) {
    struct checker *c = r->c;
    found = type_resolve(found);
    expected = type_resolve(expected);
    if (found == expected)
        return true;
    if (found->kind == TYPE_ERROR || expected->kind == TYPE_ERROR) {
        struct walk walk = walk_begin(c);
        give_up(c, found->kind == TYPE_ERROR ? expected : found, &walk);
        return true;
    }
    if (found->kind == TYPE_VARIABLE && expected->kind == TYPE_VARIABLE)
        return found->variable == expected->variable || unify_variables(c, found, expected);
    if (found->kind == TYPE_VARIABLE || expected->kind == TYPE_VARIABLE) {
        bool up = expected->kind == TYPE_VARIABLE;
        struct type *variable = up ? expected : found, *other = up ? found : expected;
        if (variable->variable->rigid)
            return fail(c, FAILED_RIGID, found, expected);
        size_t left = LIFTED_MOST;
        return bind(c, variable, exactly || !is_small_tree(other, &left) ? other : lifted(c, other, up));
    }
    if (found->kind == TYPE_STORED || expected->kind == TYPE_STORED) {
        struct type *stored = expected->kind == TYPE_STORED ? expected : found;
        struct type *other = stored == expected ? found : expected;
        return unify_stored(c, stored, other, found, expected) &&
               (other->kind == TYPE_STORED || relate(r, found, expected, exactly));
    }
    if (found->kind != expected->kind)
        return fail(c, FAILED_SHAPE, found, expected);
    if (found->kind != TYPE_BASE && is_related(r, found, expected, exactly))
        return true;
    switch (found->kind) {
    case TYPE_VARIABLE:
    case TYPE_STORED:
    case TYPE_ERROR: return true;
    case TYPE_BASE: return found->base == expected->base || fail(c, FAILED_SHAPE, found, expected);
    case TYPE_TUPLE: return relate_tuples(r, found, expected, exactly);
    case TYPE_ARROW:
        if (!relate(r, expected->arrow.from, found->arrow.from, exactly) ||
            !relate(r, found->arrow.to, expected->arrow.to, exactly))
            return false;
        relate_ambients(c, found->arrow.ambient, expected->arrow.ambient, exactly);
        return true;
    case TYPE_LEVEL_ARROW:
        return level_unify(c, found->level_arrow.level, expected->level_arrow.level, NULL) &&
               relate(r, found->level_arrow.to, expected->level_arrow.to, exactly);
    case TYPE_PULL:
        if (!relate(r, found->array.element, expected->array.element, exactly))
            return false;
        relate_ambients(c, found->array.level, expected->array.level, exactly);
        return true;
    case TYPE_PUSH:
        return relate(r, found->array.element, expected->array.element, true) &&
               level_unify(c, found->array.level, expected->array.level, NULL);
    }
    return true;
}

bool unify(struct checker *c, struct type *a, struct type *b) {
    struct relation r = {.c = c};
    return relate(&r, a, b, true);
}

bool subsume(struct checker *c, struct type *found, struct type *expected) {
    struct relation r = {.c = c};
    return relate(&r, found, expected, false);
}
