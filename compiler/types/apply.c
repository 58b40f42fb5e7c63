/* Application: the head and its arguments are taken together, so that messages can speak of `the second argument
   of map`, whether it was written behind the function or piped into it. */
#include <string.h>

#include "types/checker.h"

struct argument {
    const struct ast_expr *expr;
    struct core *core; /* already inferred, when it came through a pipe */
};
typedef VEC(struct argument) arguments;

static bool is_operator_name(const struct checker *c, const struct ast_expr *expr, symbol name) {
    return expr->kind == EXPR_NAME && expr->name.name == name && !map_get(c->locals, name) &&
           !find_global(c->scope, name);
}

/* x when the expression is `x |> f`. */
static const struct ast_expr *piped_into(const struct checker *c, const struct ast_expr *expr) {
    if (expr->kind != EXPR_APPLY || !expr->apply.is_operator)
        return NULL;
    const struct ast_expr *left = expr->apply.function;
    return left->kind == EXPR_APPLY && is_operator_name(c, left->apply.function, c->name_pipe) ? left->apply.argument
                                                                                               : NULL;
}

/* The arguments of nested applications, outermost last; gives the head. */
static const struct ast_expr *unwind(const struct checker *c, const struct ast_expr *expr, arguments *list) {
    const struct ast_expr *head = expr;
    size_t count = 0;
    while (head->kind == EXPR_APPLY && !piped_into(c, head)) {
        count++;
        head = head->apply.function;
    }
    for (size_t i = 0; i < count; i++)
        vec_push(c->arena, list, (struct argument){0});
    for (size_t i = count; i-- > 0; expr = expr->apply.function)
        list->at[i].expr = expr->apply.argument;
    return head;
}

const char *head_name(const struct core *head) {
    while (head->kind == CORE_APPLY)
        head = head->apply.function;
    switch (head->kind) {
    case CORE_LOCAL: return head->local.local->name ? head->local.local->name->text : NULL;
    case CORE_GLOBAL: return head->global.global->name->text;
    case CORE_PRIMITIVE: return primitive_info[head->primitive.primitive].name;
    case CORE_LITERAL:
    case CORE_CONFIG:
    case CORE_LAMBDA:
    case CORE_APPLY:
    case CORE_LET:
    case CORE_IF:
    case CORE_TUPLE:
    case CORE_SELECT:
    case CORE_LIST: return NULL;
    }
    return NULL;
}

static struct core *infer_argument(struct checker *c, const struct ast_expr *head, const struct argument *argument) {
    if (argument->core)
        return argument->core;
    if (argument->expr->kind == EXPR_INTEGER && is_operator_name(c, head, c->name_neg))
        return infer_literal(c, argument->expr, true);
    return infer_expr(c, argument->expr);
}

/* The function type to apply, or NULL after an error. */
static struct type *function_type(struct checker *c, struct core *core, struct core *head, size_t taken, size_t given,
                                  struct span extra) {
    struct type *type = type_resolve(core->type);
    const char *name = head_name(head);
    while (type->kind == TYPE_LEVEL_ARROW) {
        struct diagnostic *d = name ? diag_error(c->diagnostics, DIAG_LEVEL_ARGUMENT, head->span,
                                                 "`%s` takes a level before its arguments", name)
                                    : diag_error(c->diagnostics, DIAG_LEVEL_ARGUMENT, head->span,
                                                 "this function takes a level before its arguments");
        if (name)
            diag_hint(c->diagnostics, d, "write `%s <block>`, or another level, or a level variable that is bound here",
                      name);
        type = type_resolve(type->level_arrow.to);
    }
    if (type->kind == TYPE_ARROW)
        return type;
    if (type->kind == TYPE_ERROR)
        return NULL;
    if (type->kind == TYPE_VARIABLE && !type->variable->rigid) {
        c->at = core->span;
        struct type *arrow = type_arrow(c, type_fresh(c, KIND_TYP, 0, extra), type_fresh(c, KIND_TYP, 0, core->span),
                                        level_fresh(c, DOMAIN_AMBIENT));
        if (unify(c, type, arrow))
            return arrow;
    }
    struct diagnostic *d;
    if (taken == 0 && name)
        d = diag_error(c->diagnostics, DIAG_NOT_A_FUNCTION, head->span,
                       "`%s` is applied to an argument, but it is no function: its type is `%s`", name,
                       type_text(c, type));
    else if (taken == 0)
        d = diag_error(c->diagnostics, DIAG_NOT_A_FUNCTION, head->span,
                       "this is applied to an argument, but it is no function: its type is `%s`", type_text(c, type));
    else if (name)
        d = diag_error(c->diagnostics, DIAG_TOO_MANY_ARGUMENTS, extra,
                       "`%s` takes %zu argument%s, but is applied to %zu", name, taken, taken == 1 ? "" : "s", given);
    else
        d = diag_error(c->diagnostics, DIAG_TOO_MANY_ARGUMENTS, extra,
                       "this function takes %zu argument%s, but is applied to %zu", taken, taken == 1 ? "" : "s",
                       given);
    note_definition(c, d, head);
    return NULL;
}

struct core *infer_apply(struct checker *c, const struct ast_expr *expr) {
    arguments list = {0};
    const struct ast_expr *head_expr, *piped = piped_into(c, expr);
    struct core *piped_core = NULL;
    if (piped) {
        piped_core = infer_expr(c, piped); /* first, as it is read */
        head_expr = unwind(c, expr->apply.argument, &list);
        vec_push(c->arena, &list, (struct argument){piped, piped_core});
    } else {
        head_expr = unwind(c, expr, &list);
    }
    struct core *head = infer_expr(c, head_expr), *core = head;
    const char *name = head_name(head);
    bool failed = type_resolve(head->type)->kind == TYPE_ERROR;
    for (size_t i = 0; i < list.count; i++) {
        struct type *function = failed ? NULL : function_type(c, core, head, i, list.count, list.at[i].expr->span);
        struct core *argument = infer_argument(c, head_expr, &list.at[i]);
        failed |= !function;
        if (failed)
            continue;
        struct core *apply = core_new(c, CORE_APPLY, span_join(head->span, argument->span), function->arrow.to);
        apply->apply.function = core;
        apply->apply.argument = argument;
        c->at = argument->span;
        c->reason = head_name(argument);
        if (!subsume(c, argument->type, function->arrow.from)) {
            bool is_infix = expr->apply.is_operator && !piped && list.count == 2 && i == 1;
            struct diagnostic *d;
            if (is_infix && type_resolve(core->apply.argument->type)->kind != TYPE_ERROR)
                d = report_argument(c, expr->span, name, SIZE_MAX, 2, argument->type, core->apply.argument->type);
            else
                d = report_argument(c, argument->span, name, i, list.count, argument->type, function->arrow.from);
            note_definition(c, d, head);
            failed = true;
            continue;
        }
        level_require(c, LEVEL_FITS, function->arrow.ambient, c->ambient, head->span, name);
        core = apply;
    }
    if (failed)
        return error_core(c, expr->span);
    core->span = expr->span;
    return core;
}

struct core *infer_level_apply(struct checker *c, const struct ast_expr *expr) {
    struct core *core = infer_expr(c, expr->level_apply.function);
    const char *name = head_name(core);
    for (size_t i = 0; i < expr->level_apply.levels.count; i++) {
        const struct ast_level *written = expr->level_apply.levels.at[i];
        struct level *level = level_of_ast(c, written, SIGNATURE_ANNOTATION, c->signature_scope);
        struct type *type = type_resolve(core->type);
        if (type->kind == TYPE_ERROR)
            return core;
        if (type->kind == TYPE_VARIABLE && !type->variable->rigid) {
            struct type *arrow = type_level_arrow(c, level, type_fresh(c, KIND_TYP, 0, expr->span));
            if (unify(c, type, arrow)) {
                core->type = arrow->level_arrow.to;
                continue;
            }
        }
        if (type->kind != TYPE_LEVEL_ARROW) {
            struct diagnostic *d =
                diag_error(c->diagnostics, DIAG_LEVEL_ARGUMENT, written->span, "%s%s%s takes %s level", name ? "`" : "",
                           name ? name : "this", name ? "`" : "", i ? "no further" : "no");
            note_definition(c, d, core);
            return error_core(c, expr->span);
        }
        if (!level_unify(c, type->level_arrow.level, level, NULL)) {
            struct diagnostic *d = diag_error(
                c->diagnostics, DIAG_LEVEL_MISMATCH, written->span, "%s%s%s cannot be used at level `%s` here",
                name ? "`" : "", name ? name : "this function", name ? "`" : "", level_text(c, level_view(level)));
            note_definition(c, d, core);
            return error_core(c, expr->span);
        }
        core->type = type->level_arrow.to;
    }
    return core;
}
