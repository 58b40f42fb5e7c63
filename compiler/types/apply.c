/* Application: the head and its arguments are taken together, so that messages can speak of `the second argument
   of map`, whether it was written behind the function or piped into it. */
#include <string.h>

#include "types/checker.h"

struct argument {
    const struct ast_expr *expr;
    struct core *core;     /* once it is inferred: at once, when it came through a pipe */
    struct type *function; /* what takes it; NULL for a level */
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

/* The function type to apply, or NULL after an error. */
static struct type *function_type(struct checker *c, struct type *type, struct core *head, size_t taken, size_t given,
                                  const struct ast_expr *argument) {
    struct span extra = argument->span;
    type = type_resolve(type);
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
        c->at = head->span;
        struct type *arrow = type_arrow(c, type_fresh(c, KIND_TYP, 0, extra), type_fresh(c, KIND_TYP, 0, head->span),
                                        level_fresh(c, DOMAIN_AMBIENT));
        if (unify(c, type, arrow))
            return arrow;
    }
    if (argument->kind == EXPR_NAME && !is_bound_name(c, argument->name.name))
        return NULL; /* `x rem y`: the unknown name will be reported, and that is enough */
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
    if (taken == 0)
        hint_not_a_function(c, d, type, head, argument);
    else
        hint_too_many(c, d, head);
    return NULL;
}

static struct level *level_of_name(struct checker *c, symbol name) {
    struct level_binding *binding = map_get(c->levels, name);
    if (binding) {
        binding->is_used = true;
        return binding->level;
    }
    for (int value = LEVEL_THREAD; value < LEVEL_VALUE_COUNT; value++)
        if (strcmp(name->text, level_names[value]) == 0)
            return level_constant(c, (enum level_value)value);
    return NULL;
}

/* `push block xs`: a level written as an argument. Reported, and taken for what it means. */
static bool is_level_as_argument(struct checker *c, struct type **function, const struct core *head,
                                 const struct ast_expr *argument) {
    struct type *type = type_resolve(*function);
    if (type->kind != TYPE_LEVEL_ARROW || argument->kind != EXPR_NAME || is_bound_name(c, argument->name.name))
        return false;
    struct level *level = level_of_name(c, argument->name.name);
    if (!level)
        return false;
    const char *name = head_name(head);
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_LEVEL_ARGUMENT, argument->span,
                   "a level is written in angle brackets: `%s <%s>`", name ? name : "f", argument->name.name->text);
    note_definition(c, d, head);
    level_unify(c, type->level_arrow.level, level, NULL);
    *function = type->level_arrow.to;
    return true;
}

struct call {
    const struct ast_expr *head_expr;
    struct core *head;
    arguments list;
    struct span infix; /* of the whole, where the head is an operator between its operands */
    bool is_infix, failed;
};

/* The minus of `[x * 2 | x <- xs]`, when enough was said. */
static bool is_after_less(const struct checker *c, const struct call *call) {
    const struct source *source = c->scope->file->source;
    uint32_t begin = call->head_expr->span.begin;
    return is_operator_name(c, call->head_expr, c->name_neg) && begin > source->base &&
           begin < source->base + source->length && source->text[begin - source->base - 1] == '<' && c->definition &&
           diag_has_error_in(c->diagnostics, c->definition->span);
}

/* Reports a push array that is read as a pull array once: what mends it mends all reads of that name. */
static void forget_push(struct checker *c, const struct core *core, struct type *expected) {
    if (core->kind != CORE_LOCAL || !core->local.local->name || type_resolve(core->type)->kind != TYPE_PUSH ||
        type_resolve(expected)->kind != TYPE_PULL)
        return;
    struct binding *binding = map_get(c->locals, core->local.local->name);
    if (binding && binding->local == core->local.local)
        binding->scheme = scheme_of_type(c, c->error_type);
}

/* Infers an argument, knowing what is expected of it, and reports what does not fit. */
static void take_argument(struct checker *c, struct call *call, size_t i) {
    struct argument *argument = &call->list.at[i];
    const struct ast_expr *expr = argument->expr;
    struct type *expected = call->failed ? NULL : argument->function->arrow.from;
    if (!argument->core) {
        if (expr->kind == EXPR_LAMBDA)
            argument->core = infer_lambda(c, expr, expected);
        else if (expr->kind == EXPR_INTEGER && expr->integer.is_negated)
            argument->core = infer_literal(c, expr, is_operator_name(c, call->head_expr, c->name_neg));
        else
            argument->core = infer_wanted(c, expr, expected);
    }
    if (!expected)
        return;
    struct core *core = argument->core, *left = call->list.at[0].core;
    const char *name = head_name(call->head);
    c->at = core->span;
    c->reason = callee_keep(c, core);
    if (subsume(c, core->type, expected)) {
        level_require(c, LEVEL_FITS, argument->function->arrow.ambient, c->ambient, call->head->span,
                      callee_keep(c, call->head));
        return;
    }
    call->failed = true;
    if (is_after_less(c, call))
        return;
    bool are_operands = call->is_infix && i == 1 && left && type_resolve(left->type)->kind != TYPE_ERROR;
    struct application use = {.function = name,
                              .callee = callee_of(call->head),
                              .span = are_operands ? call->infix : core->span,
                              .head = call->head->span,
                              .place = are_operands ? SIZE_MAX : i,
                              .count = call->list.count,
                              .left = are_operands ? left : NULL,
                              .argument = core,
                              .rest = argument->function,
                              .whole = call->head->type};
    struct diagnostic *d = report_argument(c, &use, core->type, are_operands ? left->type : expected);
    note_definition(c, d, call->head);
    if (are_operands)
        note_local(c, d, left);
    note_local(c, d, core);
    forget_push(c, core, expected);
}

/* The functions written in place among the first `count` arguments, which have waited for the others. */
static void take_lambdas(struct checker *c, struct call *call, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (call->list.at[i].function && !call->list.at[i].core)
            take_argument(c, call, i);
}

static bool is_applied_number(const struct ast_expr *expr) {
    if (expr->kind != EXPR_APPLY)
        return false;
    while (expr->kind == EXPR_APPLY)
        expr = expr->apply.function;
    return expr->kind == EXPR_INTEGER || expr->kind == EXPR_FLOATING;
}

struct core *infer_apply(struct checker *c, const struct ast_expr *expr) {
    struct call call = {.infix = expr->span};
    const struct ast_expr *piped = piped_into(c, expr);
    if (piped) {
        struct core *piped_core = infer_expr(c, piped); /* first, as it is read */
        call.head_expr = unwind(c, expr->apply.argument, &call.list);
        vec_push(c->arena, &call.list, (struct argument){piped, piped_core, NULL});
    } else {
        call.head_expr = unwind(c, expr, &call.list);
    }
    call.is_infix = expr->apply.is_operator && !piped && call.list.count == 2;
    struct core *core = call.head = infer_expr(c, call.head_expr);
    struct type *rest = core->type;
    call.failed = type_resolve(rest)->kind == TYPE_ERROR;
    for (size_t i = 0; i < call.list.count; i++) {
        struct argument *argument = &call.list.at[i];
        if (!call.failed && is_unknown(rest))
            take_lambdas(c, &call, i); /* they may say what is applied here */
        if (!call.failed && is_level_as_argument(c, &rest, call.head, argument->expr))
            continue;
        if (!call.failed)
            argument->function = function_type(c, rest, call.head, i, call.list.count, argument->expr);
        call.failed |= !argument->function;
        rest = call.failed ? rest : argument->function->arrow.to;
        if (call.failed && call.is_infix && is_applied_number(argument->expr))
            break; /* `f -1 x`, `reduce + 0 xs`: of the operator enough was said */
        if (call.failed || argument->core || argument->expr->kind != EXPR_LAMBDA)
            take_argument(c, &call, i);
    }
    take_lambdas(c, &call, call.list.count);
    if (call.failed)
        return error_core(c, expr->span);
    for (size_t i = 0; i < call.list.count; i++) {
        const struct argument *argument = &call.list.at[i];
        if (!argument->function) {
            core->type = type_resolve(core->type)->level_arrow.to;
            continue;
        }
        struct core *apply =
            core_new(c, CORE_APPLY, span_join(call.head->span, argument->core->span), argument->function->arrow.to);
        apply->apply.function = core;
        apply->apply.argument = argument->core;
        core = apply;
    }
    core->span = expr->span;
    return core;
}

/* `(a < b, c > 3)`, which reads as a level list: a level that there is not is the name of a value. */
static bool is_comparison(struct checker *c, const struct ast_expr *expr, const struct core *head) {
    size_t count = expr->level_apply.levels.count;
    for (size_t i = 0; i < count; i++) {
        const struct ast_level *level = expr->level_apply.levels.at[i];
        if (level->kind != AST_LEVEL_NAME || level_of_name(c, level->name) || !is_bound_name(c, level->name))
            continue;
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_UNBOUND_LEVEL, level->span,
                                          "no level is called `%s` here: it is a value", level->name->text);
        const struct ast_level *last = expr->level_apply.levels.at[count - 1];
        if (type_resolve(head->type)->kind == TYPE_LEVEL_ARROW)
            hint_bind_level(c, d, level->name);
        else if (count == 2 && head_name(head) && last->kind == AST_LEVEL_NAME && i == 0)
            diag_hint(c->diagnostics, d,
                      "`<…>` reads as a level list; put comparisons in parentheses: "
                      "`(%s < %s), (%s > …)`",
                      head_name(head), level->name->text, last->name->text);
        else
            diag_hint(c->diagnostics, d, "`<…>` reads as a level list; put comparisons in parentheses");
        return true;
    }
    return false;
}

struct core *infer_level_apply(struct checker *c, const struct ast_expr *expr) {
    struct core *core = infer_expr(c, expr->level_apply.function);
    const char *name = head_name(core);
    if (is_comparison(c, expr, core))
        return error_core(c, expr->span);
    for (size_t i = 0; i < expr->level_apply.levels.count; i++) {
        const struct ast_level *written = expr->level_apply.levels.at[i];
        struct level *level = level_of_ast(c, written, SIGNATURE_USE, c->signature_scope);
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
        if (type->kind != TYPE_LEVEL_ARROW && diag_has_error_in(c->diagnostics, expr->level_apply.function->span))
            return error_core(c, expr->span); /* that the level is missing before, for example */
        if (type->kind != TYPE_LEVEL_ARROW) {
            struct diagnostic *d =
                diag_error(c->diagnostics, DIAG_LEVEL_ARGUMENT, written->span, "%s%s%s takes %s level", name ? "`" : "",
                           name ? name : "this", name ? "`" : "", i ? "no further" : "no");
            note_definition(c, d, core);
            if (i == 0)
                hint_no_level(c, d, core, level);
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
