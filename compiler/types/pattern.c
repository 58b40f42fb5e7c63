/* Patterns to locals: a tuple goes to a local of the compiler's own, and its parts are lets around the body. */
#include <ctype.h>

#include "types/checker.h"

static void check_duplicate(struct checker *c, const struct ast_pattern *pattern, pattern_names *seen) {
    if (!*seen)
        *seen = map_new(c->arena);
    const struct ast_pattern *earlier = map_get(*seen, pattern->name);
    if (!earlier) {
        map_set(*seen, pattern->name, (void *)(uintptr_t)pattern);
        return;
    }
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_DUPLICATE_NAME, pattern->span, "`%s` is bound twice", pattern->name->text);
    diag_note(c->diagnostics, d, earlier->span, "it is bound here already");
    diag_hint(c->diagnostics, d, "a value that is not needed can be called `_`");
}

static struct core *local_core(struct checker *c, const struct core_local *local, struct type *type, struct span span) {
    struct core *core = core_new(c, CORE_LOCAL, span, type);
    core->local.local = local;
    return core;
}

/* The component of that index of a tuple, which has that type. */
static void bind_part(struct checker *c, const struct ast_pattern *pattern, struct core *tuple, size_t index,
                      struct type *type, unpackings *parts, pattern_names *seen) {
    if (pattern->kind == AST_PATTERN_WILDCARD)
        return;
    struct core *part = core_new(c, CORE_SELECT, pattern->span, type);
    part->select.tuple = tuple;
    part->select.index = index;
    size_t place = parts->count;
    vec_push(c->arena, parts, (struct unpacking){NULL, part, pattern->span});
    const struct core_local *local = bind_pattern(c, pattern, type, parts, seen);
    parts->at[place].local = local;
}

static const struct core_local *bind_tuple(struct checker *c, const struct ast_pattern *pattern, struct type *type,
                                           unpackings *parts, pattern_names *seen) {
    const struct core_local *whole = fresh_local(c, NULL);
    size_t count = pattern->items.count;
    struct type **items = ARENA_ARRAY(c->arena, struct type *, count);
    struct type *resolved = type_resolve(type);
    if (resolved->kind == TYPE_TUPLE && resolved->tuple.count == count && !resolved->tuple.record) {
        items = resolved->tuple.items;
    } else {
        for (size_t i = 0; i < count; i++)
            items[i] = type_fresh(c, KIND_TYP, 0, pattern->items.at[i]->span);
        struct type *tuple = type_tuple(c, items, count);
        c->at = pattern->span;
        if (!unify(c, resolved, tuple)) {
            hint_tuple_parameter(c, report_failure(c, pattern->span, tuple, resolved), pattern, c->parameter_rest);
            for (size_t i = 0; i < count; i++)
                items[i] = c->error_type;
        }
    }
    for (size_t i = 0; i < count; i++)
        bind_part(c, pattern->items.at[i], local_core(c, whole, type, pattern->items.at[i]->span), i, items[i], parts,
                  seen);
    return whole;
}

static const struct core_local *bind_record(struct checker *c, const struct ast_pattern *pattern, struct type *type,
                                            unpackings *parts, pattern_names *seen) {
    const struct core_local *whole = fresh_local(c, NULL);
    size_t *places = ARENA_ARRAY(c->arena, size_t, pattern->items.count);
    struct type *record = record_of_pattern(c, pattern, type, places);
    for (size_t i = 0; i < pattern->items.count; i++) {
        struct type *of = record && places[i] < record->tuple.count ? record->tuple.items[places[i]] : c->error_type;
        bind_part(c, pattern->items.at[i], local_core(c, whole, type, pattern->items.at[i]->span), places[i], of, parts,
                  seen);
    }
    return whole;
}

static void report_refutable(struct checker *c, const struct ast_pattern *pattern) {
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_REFUTABLE, pattern->span,
                   "this pattern does not match every value, and a parameter or a `let` has no other");
    diag_hint(c->diagnostics, d,
              "a function has one definition, for all arguments: `fun f x = match x with p => … | q => …`");
}

/* `fn None => …`, `let Some x = …`: as elsewhere the name is the constructor's, and no new one. */
static void refuse_constructor(struct checker *c, const struct ast_pattern *pattern) {
    const char *name = pattern->name->text;
    const struct global_entry *entry = isupper((unsigned char)name[0]) && !map_get(c->locals, pattern->name)
                                           ? find_global(c->scope, pattern->name)
                                           : NULL;
    if (!entry || !entry->global->alternatives)
        return;
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_REFUTABLE, pattern->span,
                   "`%s` is a constructor, not a new name, and a parameter or a `let` takes every value", name);
    diag_hint(c->diagnostics, d,
              "`match e with %s%s => … | _ => …` asks what `e` is; a new name begins with a small letter", name,
              entry->global->kind == GLOBAL_FUN ? " x" : "");
}

/* Binds the pattern of a type that has one constructor. */
static const struct core_local *bind_constructor(struct checker *c, const struct ast_pattern *pattern,
                                                 struct type *type, unpackings *parts, pattern_names *seen) {
    const struct core_local *whole = fresh_local(c, NULL);
    struct core *value = local_core(c, whole, type, pattern->span);
    struct type *payload = c->error_type;
    size_t index = 0;
    const struct record *record = data_find(c, pattern->name, type, &index);
    if (!record) {
        data_report_unknown(c, pattern->name, pattern->span, type);
        if (!isupper((unsigned char)pattern->name->text[0])) /* `(x int)`: of `x` enough was said */
            bind_local(c, pattern->name, pattern->span, scheme_of_type(c, c->error_type))->is_used = true;
    } else {
        struct type **payloads = ARENA_ARRAY(c->arena, struct type *, record->constructor_count);
        struct type *data = data_fresh(c, record, pattern->span, payloads);
        c->at = pattern->span;
        if (!unify(c, type, data)) {
            report_failure(c, pattern->span, data, type);
        } else if (record->constructor_count > 1 || !payloads[index]) {
            report_refutable(c, pattern);
        } else {
            payload = payloads[index];
            data_note(c, &record->constructors[index], pattern->span, data);
            value = data_payload(c, &record->constructors[index], payload, value);
        }
    }
    size_t place = parts->count;
    vec_push(c->arena, parts, (struct unpacking){NULL, value, pattern->span});
    const struct core_local *local = bind_pattern(c, pattern->of, payload, parts, seen);
    parts->at[place].local = local;
    return whole;
}

struct core_local *bind_name(struct checker *c, const struct ast_pattern *pattern, struct scheme *scheme,
                             pattern_names *seen) {
    check_duplicate(c, pattern, seen);
    refuse_constructor(c, pattern);
    return bind_local(c, pattern->name, pattern->span, scheme)->local;
}

const struct core_local *bind_pattern(struct checker *c, const struct ast_pattern *pattern, struct type *type,
                                      unpackings *parts, pattern_names *seen) {
    switch (pattern->kind) {
    case AST_PATTERN_NAME: return bind_name(c, pattern, scheme_of_type(c, type), seen);
    case AST_PATTERN_WILDCARD: return fresh_local(c, NULL);
    case AST_PATTERN_ERROR: {
        struct type *resolved = type_resolve(type);
        if (resolved->kind == TYPE_VARIABLE && !resolved->variable->rigid)
            resolved->variable->link = c->error_type;
        return fresh_local(c, NULL);
    }
    case AST_PATTERN_TUPLE: return bind_tuple(c, pattern, type, parts, seen);
    case AST_PATTERN_RECORD: return bind_record(c, pattern, type, parts, seen);
    case AST_PATTERN_CONSTRUCTOR: return bind_constructor(c, pattern, type, parts, seen);
    case AST_PATTERN_LITERAL:
    case AST_PATTERN_OR: report_refutable(c, pattern); return fresh_local(c, NULL);
    case AST_PATTERN_TYPED: {
        struct type *written = type_of_ast(c, pattern->type, SIGNATURE_ANNOTATION, NULL);
        c->at = pattern->span;
        c->reason = NULL;
        if (!subsume(c, type, written))
            report_failure(c, pattern->span, type, written);
        return bind_pattern(c, pattern->of, type, parts, seen);
    }
    }
    return fresh_local(c, NULL);
}

struct core *wrap_unpackings(struct checker *c, const unpackings *parts, struct core *body) {
    for (size_t i = parts->count; i-- > 0;) {
        struct core *let = core_new(c, CORE_LET, parts->at[i].span, body->type);
        let->let.local = parts->at[i].local;
        let->let.value = parts->at[i].value;
        let->let.body = body;
        body = let;
    }
    return body;
}
