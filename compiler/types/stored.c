/* Stored types (type.h, note [stored types]): those that cannot be stored are found when a definition is complete. */
#include "types/checker.h"

struct type *type_store(struct checker *c, struct type *of, struct level *level) {
    struct type *type = type_stored(c->arena, of, level);
    vec_push(c->arena, &c->stored, ((struct stored_check){type, c->at, c->reason}));
    return type;
}

/* Level variables of arrays are proper ones. */
static void require_proper(struct level *level) {
    struct level view = level_view(level);
    if (view.variable)
        view.variable->domain &= DOMAIN_PROPER;
}

static void report(struct checker *c, const struct stored_check *check, struct type *type, const char *why,
                   const char *hint) {
    const char *function = check->reason ? check->reason->name : NULL;
    struct diagnostic *d = function ? diag_error(c->diagnostics, DIAG_KIND, check->span, "`%s` cannot store `%s`: %s",
                                                 function, type_text(c, type), why)
                                    : diag_error(c->diagnostics, DIAG_KIND, check->span, "`%s` cannot be stored: %s",
                                                 type_text(c, type), why);
    diag_hint(c->diagnostics, d, "%s", hint);
}

enum found { FOUND_ALL, FOUND_VARIABLE, FOUND_WRONG };

static enum found find(struct checker *c, const struct stored_check *check, struct type *of, struct level *level) {
    of = type_resolve(of);
    switch (of->kind) {
    case TYPE_VARIABLE: return of->variable->kind >= KIND_BT ? FOUND_ALL : FOUND_VARIABLE;
    case TYPE_BASE:
    case TYPE_ERROR: return FOUND_ALL;
    case TYPE_TUPLE: {
        enum found all = FOUND_ALL;
        for (size_t i = 0; i < of->tuple.count && all != FOUND_WRONG; i++) {
            enum found one = find(c, check, of->tuple.items[i], level);
            all = one > all ? one : all;
        }
        return all;
    }
    case TYPE_PULL:
        require_proper(level);
        if (type_require(c, of->array.element, KIND_BT, 0))
            return FOUND_ALL;
        report(c, check, of, "its elements are arrays, or functions",
               "the rows of an array of arrays are stored as one array: `flatten` gives it, and `rows` takes it apart");
        return FOUND_WRONG;
    case TYPE_PUSH:
        report(c, check, of, "what was stored is read as a pull array", "`push` makes a push array of it again");
        return FOUND_WRONG;
    case TYPE_ARROW:
    case TYPE_LEVEL_ARROW:
    case TYPE_STORED:
        report(c, check, of, "it is a function",
               "push arrays, scalars and tuples of these are stored; functions are for the compiler only");
        return FOUND_WRONG;
    }
    return FOUND_ALL;
}

void check_stored(struct checker *c) {
    size_t kept = 0;
    for (size_t i = 0; i < c->stored.count; i++) {
        const struct stored_check check = c->stored.at[i];
        if (find(c, &check, check.type->stored.of, check.type->stored.level) == FOUND_VARIABLE)
            c->stored.at[kept++] = check;
    }
    c->stored.count = kept;
}

/* ---- unification of what is stored with what it may be ---- */

static bool no_shape(struct checker *c, struct type *found, struct type *expected) {
    c->failure = (struct failure){.why = FAILED_SHAPE, .a = found, .b = expected};
    return false;
}

bool unify_stored(struct checker *c, struct type *stored, struct type *other, struct type *found,
                  struct type *expected) {
    struct type *of = type_resolve(stored->stored.of);
    if (other->kind == TYPE_STORED)
        return unify(c, of, other->stored.of) && level_unify(c, stored->stored.level, other->stored.level, NULL);
    if (of->kind != TYPE_VARIABLE)
        return no_shape(c, found, expected);
    switch (other->kind) {
    case TYPE_BASE: return unify(c, of, other);
    case TYPE_PUSH:
        return level_unify(c, stored->stored.level, other->array.level, NULL) &&
               unify(c, of, type_pull(c, other->array.element, level_constant(c, LEVEL_PURE)));
    case TYPE_TUPLE: {
        struct type **items = ARENA_ARRAY(c->arena, struct type *, other->tuple.count);
        for (size_t i = 0; i < other->tuple.count; i++)
            items[i] = type_fresh(c, KIND_TYP, 0, c->at);
        return unify(c, of, type_tuple_like(c, other, items));
    }
    case TYPE_VARIABLE:
    case TYPE_ARROW:
    case TYPE_LEVEL_ARROW:
    case TYPE_PULL:
    case TYPE_STORED:
    case TYPE_ERROR: break;
    }
    return no_shape(c, found, expected);
}
