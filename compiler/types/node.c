/* Nodes of the core as they are made, and what stands at the head of an application. */
#include <string.h>

#include "types/checker.h"

struct core *core_new(struct checker *c, enum core_kind kind, struct span span, struct type *type) {
    struct core *core = ARENA_NEW(c->arena, struct core);
    core->kind = kind;
    core->span = span;
    core->type = type;
    return core;
}

struct core *error_core(struct checker *c, struct span span) {
    struct core *core = core_new(c, CORE_LITERAL, span, c->error_type);
    core->literal.is_bool = true;
    return core;
}

struct core_local *fresh_local(struct checker *c, symbol name) {
    struct core_local *local = ARENA_NEW(c->arena, struct core_local);
    local->id = c->next_local++;
    local->name = name;
    return local;
}

const char *head_name(const struct core *head) {
    while (head->kind == CORE_APPLY)
        head = head->apply.function;
    if (head->kind == CORE_LOCAL)
        return head->local.local->name ? head->local.local->name->text : NULL;
    if (head->kind == CORE_GLOBAL)
        return head->global.global->name->text;
    return head->kind == CORE_PRIMITIVE ? primitive_info[head->primitive.primitive].name : NULL;
}

/* The expression that a name is bound to, if that is another name: `sort` for `s` in `let s = sort`. */
static const struct core *other_name(const struct core *name) {
    for (;;) {
        const struct core *value = NULL;
        if (name->kind == CORE_LOCAL)
            value = name->local.local->value;
        else if (name->kind == CORE_GLOBAL && name->global.global->kind == GLOBAL_VAL)
            value = name->global.global->body;
        if (!value || (value->kind != CORE_LOCAL && value->kind != CORE_GLOBAL && value->kind != CORE_PRIMITIVE))
            return name;
        name = value;
    }
}

struct callee callee_of(const struct core *head) {
    while (head->kind == CORE_APPLY)
        head = head->apply.function;
    struct callee callee = {head_name(head), PRIM_COUNT, NULL};
    head = other_name(head);
    if (head->kind == CORE_PRIMITIVE)
        callee.primitive = head->primitive.primitive;
    if (head->kind == CORE_GLOBAL)
        callee.global = head->global.global;
    return callee;
}

bool callee_is(const struct callee *callee, struct known known) {
    if (!known.of_prelude)
        return callee && callee->primitive == known.primitive;
    return callee && callee->global && callee->global->from_prelude &&
           strcmp(callee->global->name->text, known.of_prelude) == 0;
}

const struct callee *callee_keep(struct checker *c, const struct core *head) {
    struct callee callee = callee_of(head);
    if (!callee.name)
        return NULL;
    struct callee *kept = ARENA_NEW(c->arena, struct callee);
    *kept = callee;
    return kept;
}

const struct callee callee_kernel = {"kernel", PRIM_COUNT, NULL};
const struct callee callee_where = {"where", PRIM_COUNT, NULL};
