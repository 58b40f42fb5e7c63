/* Constructors of the syntax tree; see ast_build.h. */
#include "syntax/ast_build.h"

#include <string.h>

#include "parser.h"

static uint32_t deeper(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* ---- depth ---- */

static void report_nesting(struct parser *p, struct span span) {
    if (p->nesting_reported)
        return;
    p->nesting_reported = true;
    /* Where the nesting begins is enough; the whole span may be the whole file. */
    struct diagnostic *error = diag_error(p->diagnostics, DIAG_NESTING, (struct span){span.begin, span.begin + 1},
                                          "this is nested too deeply: more than %d levels", AST_MAX_DEPTH);
    diag_hint(p->diagnostics, error, "give names to parts of it with `let`, or use a list and `foldl`");
}

static struct ast_expr *new_expr(struct parser *p, enum ast_expr_kind kind, struct span span) {
    struct ast_expr *expr = ARENA_NEW(p->arena, struct ast_expr);
    expr->kind = kind;
    expr->span = span;
    expr->depth = 1;
    return expr;
}

/* Called last by the constructor of every expression that has parts. */
static struct ast_expr *finish_expr(struct parser *p, struct ast_expr *expr, uint32_t depth_of_parts) {
    if (depth_of_parts >= AST_MAX_DEPTH) {
        report_nesting(p, expr->span);
        return build_error(p, expr->span);
    }
    expr->depth = depth_of_parts + 1;
    return expr;
}

/* ---- expressions ---- */

struct ast_expr *build_error(struct parser *p, struct span span) {
    return new_expr(p, EXPR_ERROR, span);
}

struct ast_expr *build_name(struct parser *p, const struct token *token) {
    struct ast_expr *expr = new_expr(p, EXPR_NAME, token->span);
    expr->name.name = token->name;
    return expr;
}

static struct ast_expr *build_operator(struct parser *p, struct span span, const char *name) {
    struct ast_expr *expr = new_expr(p, EXPR_NAME, span);
    expr->name.name = symbol_of(p->symbols, name);
    return expr;
}

struct ast_expr *build_literal(struct parser *p, const struct token *token) {
    struct ast_expr *expr = new_expr(p, EXPR_ERROR, token->span);
    switch (token->kind) {
    case TOKEN_INTEGER:
        expr->kind = EXPR_INTEGER;
        expr->integer.value = token->integer;
        expr->integer.too_large = token->too_large;
        expr->integer.suffix = token->suffix;
        break;
    case TOKEN_FLOATING:
        expr->kind = EXPR_FLOATING;
        expr->floating.value = token->floating;
        expr->floating.suffix = token->suffix;
        break;
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        expr->kind = EXPR_BOOL;
        expr->boolean = token->kind == TOKEN_TRUE;
        break;
    case TOKEN_CONFIG:
        expr->kind = EXPR_CONFIG;
        expr->name.name = token->name;
        break;
    default: /* TOKEN_BAD_LITERAL: the lexer has said so */ break;
    }
    return expr;
}

struct ast_expr *build_apply(struct parser *p, struct span span, struct ast_expr *function, struct ast_expr *argument) {
    struct ast_expr *expr = new_expr(p, EXPR_APPLY, span);
    expr->apply.function = function;
    expr->apply.argument = argument;
    return finish_expr(p, expr, deeper(function->depth, argument->depth));
}

struct ast_expr *build_level_apply(struct parser *p, struct span span, struct ast_expr *function,
                                   struct level_list *levels) {
    struct ast_expr *expr = new_expr(p, EXPR_LEVEL_APPLY, span);
    expr->level_apply.function = function;
    SHARE_VEC(&expr->level_apply.levels, &levels->all);
    return finish_expr(p, expr, function->depth);
}

struct ast_expr *build_text(struct parser *p, const struct token *token) {
    enum { LONGEST = 1 << 16 };
    if (token->name->length > LONGEST) {
        struct diagnostic *error =
            diag_error(p->diagnostics, DIAG_BAD_STRING, token->span,
                       "this text has %zu bytes, and at most %d can be written", token->name->length, LONGEST);
        diag_hint(p->diagnostics, error, "a kernel gets a long text as a parameter, of type `[u8]`");
        return build_error(p, token->span);
    }
    struct expr_list *bytes = ARENA_NEW(p->arena, struct expr_list);
    symbol suffix = symbol_of(p->symbols, "u8");
    for (size_t i = 0; i < token->name->length; i++) {
        struct ast_expr *byte = new_expr(p, EXPR_INTEGER, token->span);
        byte->integer.value = (unsigned char)token->name->text[i];
        byte->integer.suffix = suffix;
        vec_push(p->arena, &bytes->all, byte);
    }
    struct ast_expr *list = build_sequence(p, token->span, EXPR_LIST, bytes);
    if (bytes->all.count)
        return list;
    const struct token name = {.span = token->span, .name = suffix}; /* of no bytes, which would not say their type */
    return build_typed(p, token->span, list, build_type_array(p, token->span, build_type_name(p, &name), NULL));
}

static struct ast_expr *mark_operator(struct ast_expr *expr) {
    if (expr->kind == EXPR_APPLY)
        expr->apply.is_operator = true;
    return expr;
}

struct ast_expr *build_infix(struct parser *p, struct span span, struct ast_expr *left, struct span operator_span,
                             const char *name, struct ast_expr *right) {
    struct ast_expr *operator= build_operator(p, operator_span, name);
    struct span left_half = {span.begin, operator_span.end};
    struct ast_expr *partial = mark_operator(build_apply(p, left_half, operator, left));
    return mark_operator(build_apply(p, span, partial, right));
}

struct ast_expr *build_prefix(struct parser *p, struct span span, struct span operator_span, const char *name,
                              struct ast_expr *operand) {
    return mark_operator(build_apply(p, span, build_operator(p, operator_span, name), operand));
}

struct ast_expr *build_negation(struct parser *p, struct span span, struct span operator_span,
                                struct ast_expr *operand) {
    bool is_in_parentheses = span.end != operand->span.end;
    if (operand->kind == EXPR_INTEGER && !is_in_parentheses)
        operand->integer.is_negated = true;
    return build_prefix(p, span, operator_span, "neg", operand);
}

static struct ast_expr *build_boolean(struct parser *p, struct span span, bool value) {
    struct ast_expr *expr = new_expr(p, EXPR_BOOL, span);
    expr->boolean = value;
    return expr;
}

struct ast_expr *build_if(struct parser *p, struct span span, struct ast_expr *condition, struct ast_expr *then_branch,
                          struct ast_expr *else_branch) {
    struct ast_expr *expr = new_expr(p, EXPR_IF, span);
    expr->conditional.condition = condition;
    expr->conditional.then_branch = then_branch;
    expr->conditional.else_branch = else_branch;
    return finish_expr(p, expr, deeper(condition->depth, deeper(then_branch->depth, else_branch->depth)));
}

struct ast_expr *build_logical(struct parser *p, struct span span, const char *name, struct ast_expr *left,
                               struct ast_expr *right) {
    bool is_and = name[0] == '&';
    struct ast_expr *constant = build_boolean(p, span, !is_and);
    struct ast_expr *expr =
        is_and ? build_if(p, span, left, right, constant) : build_if(p, span, left, constant, right);
    if (expr->kind == EXPR_IF)
        expr->conditional.logical = symbol_of(p->symbols, name);
    return expr;
}

struct ast_expr *build_section(struct parser *p, struct span span, const char *name) {
    bool is_logical = (name[0] == '&' && name[1] == '&') || (name[0] == '|' && name[1] == '|');
    if (!is_logical)
        return build_operator(p, span, name);
    const struct token left = {.kind = TOKEN_NAME, .span = span, .name = symbol_of(p->symbols, "a")};
    const struct token right = {.kind = TOKEN_NAME, .span = span, .name = symbol_of(p->symbols, "b")};
    struct pattern_list *parameters = ARENA_NEW(p->arena, struct pattern_list);
    vec_push(p->arena, &parameters->all, build_pattern_name(p, &left));
    vec_push(p->arena, &parameters->all, build_pattern_name(p, &right));
    struct ast_expr *body = build_logical(p, span, name, build_name(p, &left), build_name(p, &right));
    return build_lambda(p, span, NULL, parameters, body);
}

static bool is_commutative(const char *name) {
    static const char *const others[] = {"<", "<=", ">", ">=", "/", "%", "<<", ">>", "div", "mod"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], name) == 0)
            return false;
    return true;
}

/* The operand as it is written, with parentheses where another operator would take it apart; `…` when it is long. */
static const char *operand_text(struct parser *p, const struct ast_expr *operand) {
    enum { SHOWN_LONGEST = 30 };
    size_t length = operand->span.end - operand->span.begin;
    const char *text =
        arena_strndup(p->arena, (const char *)p->source->text + (operand->span.begin - p->source->base), length);
    if (length > SHOWN_LONGEST || strpbrk(text, "\n`"))
        return "…";
    bool is_closed = operand->kind == EXPR_NAME || operand->kind == EXPR_INTEGER || operand->kind == EXPR_FLOATING ||
                     operand->kind == EXPR_CONFIG || (operand->kind == EXPR_APPLY && !operand->apply.is_operator);
    return is_closed ? text : arena_printf(p->arena, "(%s)", text);
}

/* `(> 0)` is a legal function, and the other way round than in Haskell: who means that gets wrong
   results and no word. */
struct ast_expr *build_applied_section(struct parser *p, struct span span, struct span operator_span, const char *name,
                                       struct ast_expr *operand) {
    if (!is_commutative(name) && !p->source->is_ours) {
        const char *text = operand_text(p, operand), *x = strchr(text, 'x') ? "y" : "x";
        struct diagnostic *warning = diag_warning(p->diagnostics, DIAG_SECTION, span, "`(%s %s) %s` is `%s %s %s`",
                                                  name, text, x, text, name, x);
        diag_hint(p->diagnostics, warning,
                  "for `%s %s %s` write `fn %s => %s %s %s`, and if this is meant `fn %s => %s %s %s`", x, name, text,
                  x, x, name, text, x, text, name, x);
    }
    return build_apply(p, span, build_section(p, operator_span, name), operand);
}

struct ast_expr *build_lambda(struct parser *p, struct span span, struct binder_list *levels,
                              struct pattern_list *parameters, struct ast_expr *body) {
    struct ast_expr *expr = new_expr(p, EXPR_LAMBDA, span);
    if (levels)
        SHARE_VEC(&expr->lambda.levels, &levels->all);
    if (parameters)
        SHARE_VEC(&expr->lambda.parameters, &parameters->all);
    expr->lambda.body = body;
    return finish_expr(p, expr, body->depth);
}

struct ast_expr *build_let(struct parser *p, struct span span, struct binding_list *bindings, struct ast_expr *body) {
    struct ast_expr *expr = new_expr(p, EXPR_LET, span);
    SHARE_VEC(&expr->let.bindings, &bindings->all);
    expr->let.body = body;
    uint32_t depth = body->depth;
    for (size_t i = 0; i < bindings->all.count; i++)
        depth = deeper(depth, bindings->all.at[i].value->depth);
    return finish_expr(p, expr, depth);
}

struct ast_expr *build_sequence(struct parser *p, struct span span, enum ast_expr_kind kind, struct expr_list *items) {
    struct ast_expr *expr = new_expr(p, kind, span);
    SHARE_VEC(&expr->sequence.items, &items->all);
    uint32_t depth = 0;
    for (size_t i = 0; i < items->all.count; i++)
        depth = deeper(depth, items->all.at[i]->depth);
    return finish_expr(p, expr, depth);
}

struct ast_expr *build_record(struct parser *p, struct span span, struct ast_expr *of, struct field_values *fields) {
    struct ast_expr *expr = new_expr(p, EXPR_RECORD, span);
    expr->record.of = of;
    SHARE_VEC(&expr->record.fields, &fields->names);
    SHARE_VEC(&expr->record.items, &fields->items);
    uint32_t depth = of ? of->depth : 0;
    for (size_t i = 0; i < fields->items.count; i++)
        depth = deeper(depth, fields->items.at[i]->depth);
    return finish_expr(p, expr, depth);
}

struct ast_expr *build_field(struct parser *p, struct span span, struct ast_expr *of, const struct token *name) {
    struct ast_expr *expr = new_expr(p, EXPR_FIELD, span);
    expr->field.of = of;
    expr->field.name = (struct ast_name){name->name, name->span};
    return finish_expr(p, expr, of->depth);
}

struct ast_expr *build_match(struct parser *p, struct span span, struct ast_expr *of, struct binding_list *arms) {
    struct ast_expr *expr = new_expr(p, EXPR_MATCH, span);
    expr->match.of = of;
    SHARE_VEC(&expr->match.arms, &arms->all);
    uint32_t depth = of->depth;
    for (size_t i = 0; i < arms->all.count; i++) /* as many are as deep as `else if`s */
        depth = deeper(depth, arms->all.at[i].value->depth + (uint32_t)i);
    return finish_expr(p, expr, depth);
}

struct ast_expr *build_typed(struct parser *p, struct span span, struct ast_expr *body, struct ast_type *type) {
    struct ast_expr *expr = new_expr(p, EXPR_TYPED, span);
    expr->typed.body = body;
    expr->typed.type = type;
    return finish_expr(p, expr, body->depth);
}

/* ---- patterns ---- */

static struct ast_pattern *new_pattern(struct parser *p, enum ast_pattern_kind kind, struct span span) {
    struct ast_pattern *pattern = ARENA_NEW(p->arena, struct ast_pattern);
    pattern->kind = kind;
    pattern->span = span;
    pattern->depth = 1;
    return pattern;
}

static struct ast_pattern *finish_pattern(struct parser *p, struct ast_pattern *pattern, uint32_t depth_of_parts) {
    if (depth_of_parts >= AST_MAX_DEPTH) {
        report_nesting(p, pattern->span);
        return build_wildcard(p, pattern->span);
    }
    pattern->depth = depth_of_parts + 1;
    return pattern;
}

/* Finishes a pattern whose parts are its items. */
static struct ast_pattern *finish_items(struct parser *p, struct ast_pattern *pattern) {
    uint32_t depth = 0;
    for (size_t i = 0; i < pattern->items.count; i++)
        depth = deeper(depth, pattern->items.at[i]->depth);
    return finish_pattern(p, pattern, depth);
}

struct ast_pattern *build_pattern_name(struct parser *p, const struct token *token) {
    struct ast_pattern *pattern = new_pattern(p, AST_PATTERN_NAME, token->span);
    pattern->name = token->name;
    return pattern;
}

struct ast_pattern *build_wildcard(struct parser *p, struct span span) {
    return new_pattern(p, AST_PATTERN_WILDCARD, span);
}

struct ast_pattern *build_pattern_error(struct parser *p, struct span span) {
    return new_pattern(p, AST_PATTERN_ERROR, span);
}

struct ast_pattern *build_pattern_tuple(struct parser *p, struct span span, struct pattern_list *items) {
    struct ast_pattern *pattern = new_pattern(p, AST_PATTERN_TUPLE, span);
    SHARE_VEC(&pattern->items, &items->all);
    return finish_items(p, pattern);
}

struct ast_pattern *build_pattern_record(struct parser *p, struct span span, struct field_patterns *fields) {
    struct ast_pattern *pattern = new_pattern(p, AST_PATTERN_RECORD, span);
    SHARE_VEC(&pattern->fields, &fields->names);
    SHARE_VEC(&pattern->items, &fields->items);
    return finish_items(p, pattern);
}

struct ast_pattern *build_pattern_literal(struct parser *p, struct span span, struct ast_expr *literal) {
    struct ast_pattern *pattern = new_pattern(p, AST_PATTERN_LITERAL, span);
    pattern->literal = literal;
    return pattern;
}

struct ast_pattern *build_pattern_constructor(struct parser *p, struct span span, const struct token *name,
                                              struct ast_pattern *of) {
    struct ast_pattern *pattern = new_pattern(p, AST_PATTERN_CONSTRUCTOR, span);
    pattern->name = name->name;
    pattern->of = of;
    return finish_pattern(p, pattern, of->depth);
}

struct ast_pattern *build_pattern_or(struct parser *p, struct span span, struct ast_pattern *left,
                                     struct ast_pattern *right) {
    struct ast_pattern *pattern = new_pattern(p, AST_PATTERN_OR, span);
    if (left->kind == AST_PATTERN_OR)
        pattern->items = left->items;
    else
        vec_push(p->arena, &pattern->items, left);
    vec_push(p->arena, &pattern->items, right);
    return finish_pattern(p, pattern, deeper(left->depth, right->depth));
}

struct ast_pattern *build_pattern_typed(struct parser *p, struct span span, struct ast_pattern *of,
                                        struct ast_type *type) {
    struct ast_pattern *pattern = new_pattern(p, AST_PATTERN_TYPED, span);
    pattern->of = of;
    pattern->type = type;
    return finish_pattern(p, pattern, of->depth);
}

/* ---- levels ---- */

struct ast_level *build_level_name(struct parser *p, const struct token *token) {
    struct ast_level *level = ARENA_NEW(p->arena, struct ast_level);
    level->kind = AST_LEVEL_NAME;
    level->depth = 1;
    level->span = token->span;
    level->name = token->name;
    return level;
}

/* `n + level`, as n successors. There are four levels, so that a large n can only be a mistake. */
struct ast_level *build_level_successor(struct parser *p, struct span span, const struct token *count,
                                        struct ast_level *of) {
    enum { MOST_SUCCESSORS = 4 };
    uint64_t steps = count->integer;
    if (steps + of->depth > MOST_SUCCESSORS + 1 || count->too_large || count->suffix) {
        struct diagnostic *error = diag_error(p->diagnostics, DIAG_LEVEL_LIST, span, "there is no such level");
        diag_hint(p->diagnostics, error, "the levels are thread, warp, block and grid; `1+l` is the one above `l`");
        return of;
    }
    for (; steps > 0; steps--) {
        struct ast_level *level = ARENA_NEW(p->arena, struct ast_level);
        level->kind = AST_LEVEL_SUCCESSOR;
        level->depth = of->depth + 1;
        level->span = span;
        level->of = of;
        of = level;
    }
    return of;
}

/* ---- types ---- */

static struct ast_type *new_type(struct parser *p, enum ast_type_kind kind, struct span span) {
    struct ast_type *type = ARENA_NEW(p->arena, struct ast_type);
    type->kind = kind;
    type->span = span;
    type->depth = 1;
    return type;
}

static struct ast_type *finish_type(struct parser *p, struct ast_type *type, uint32_t depth_of_parts) {
    if (depth_of_parts >= AST_MAX_DEPTH) {
        report_nesting(p, type->span);
        return build_type_error(p, type->span);
    }
    type->depth = depth_of_parts + 1;
    return type;
}

struct ast_type *build_type_variable(struct parser *p, const struct token *token) {
    struct ast_type *type = new_type(p, AST_TYPE_VARIABLE, token->span);
    type->name = token->name;
    return type;
}

struct ast_type *build_type_name(struct parser *p, const struct token *token) {
    struct ast_type *type = new_type(p, AST_TYPE_NAME, token->span);
    type->name = token->name;
    return type;
}

struct ast_type *build_type_error(struct parser *p, struct span span) {
    return new_type(p, AST_TYPE_ERROR, span);
}

struct ast_type *build_type_argument(struct parser *p, struct span span, struct ast_type *applied,
                                     struct ast_type *argument) {
    if (applied->kind == AST_TYPE_ERROR)
        return applied;
    vec_push(p->arena, &applied->items, argument);
    applied->span = span;
    return finish_type(p, applied, deeper(applied->depth - 1, argument->depth));
}

struct ast_type *build_type_tuple(struct parser *p, struct span span, struct type_list *items) {
    struct ast_type *type = new_type(p, AST_TYPE_TUPLE, span);
    SHARE_VEC(&type->items, &items->all);
    uint32_t depth = 0;
    for (size_t i = 0; i < items->all.count; i++)
        depth = deeper(depth, items->all.at[i]->depth);
    return finish_type(p, type, depth);
}

struct ast_type *build_type_record(struct parser *p, struct span span, struct field_types *fields) {
    struct ast_type *type = new_type(p, AST_TYPE_RECORD, span);
    SHARE_VEC(&type->fields, &fields->names);
    SHARE_VEC(&type->items, &fields->items);
    uint32_t depth = 0;
    for (size_t i = 0; i < fields->items.count; i++)
        depth = deeper(depth, fields->items.at[i]->depth);
    return finish_type(p, type, depth);
}

struct ast_type *build_type_arrow(struct parser *p, struct span span, struct ast_type *from, struct ast_type *to) {
    struct ast_type *type = new_type(p, AST_TYPE_ARROW, span);
    type->from = from;
    type->to = to;
    return finish_type(p, type, deeper(from->depth, to->depth));
}

struct ast_type *build_type_level_arrow(struct parser *p, struct span span, struct binder_list *levels,
                                        struct ast_type *to) {
    for (size_t i = levels->all.count; i-- > 0;) {
        struct ast_type *type = new_type(p, AST_TYPE_LEVEL_ARROW, span);
        type->level = ARENA_NEW(p->arena, struct ast_level);
        *type->level = (struct ast_level){
            .kind = AST_LEVEL_NAME, .depth = 1, .span = levels->all.at[i].span, .name = levels->all.at[i].name};
        type->to = to;
        to = finish_type(p, type, to->depth);
    }
    return to;
}

struct ast_type *build_type_array(struct parser *p, struct span span, struct ast_type *element,
                                  struct ast_level *level) {
    struct ast_type *type = new_type(p, level ? AST_TYPE_PUSH : AST_TYPE_PULL, span);
    type->element = element;
    type->level = level;
    return finish_type(p, type, element->depth);
}

/* `num a` reads as the type `num` applied to `a`; in front of `=>` it is a constraint. */
static void add_class(struct parser *p, struct ast_signature_type *signature, const struct ast_type *type) {
    bool fits = type->kind == AST_TYPE_NAME && type->items.count == 1 &&
                (type->items.at[0]->kind == AST_TYPE_VARIABLE ||
                 (type->items.at[0]->kind == AST_TYPE_NAME && type->items.at[0]->items.count == 0));
    if (!fits) {
        struct diagnostic *error =
            diag_error(p->diagnostics, DIAG_SYNTAX, type->span, "expected a constraint like `num a` before `=>`");
        diag_hint(p->diagnostics, error, "function types are written with `->`; `=>` belongs to `fn x => e`");
        return;
    }
    vec_push(p->arena, &signature->classes,
             (struct ast_class_constraint){
                 .span = type->span, .class_name = type->name, .variable = type->items.at[0]->name});
}

struct ast_constraint build_stored(struct parser *p, struct span span, const struct token *pushed,
                                   const struct token *first, const struct token *second, const struct token *stored) {
    if (strcmp(first->name->text, "stored") != 0 || strcmp(second->name->text, "as") != 0)
        diag_error(p->diagnostics, DIAG_SYNTAX, span, "expected a constraint like `l < m` or `p stored as s` here");
    return (struct ast_constraint){.span = span, .pushed = pushed->name, .stored = stored->name};
}

struct ast_signature_type *build_signature(struct parser *p, struct span span, struct symbol_list *binders,
                                           struct type_list *before, struct ast_type *type,
                                           struct constraint_list *where) {
    struct ast_signature_type *signature = ARENA_NEW(p->arena, struct ast_signature_type);
    signature->span = span;
    signature->type = type;
    if (binders)
        SHARE_VEC(&signature->binders, &binders->all);
    for (size_t i = 0; before && i < before->all.count; i++)
        add_class(p, signature, before->all.at[i]);
    if (where)
        SHARE_VEC(&signature->constraints, &where->all);
    return signature;
}

/* ---- declarations ---- */

struct ast_decl *build_decl(struct parser *p, enum ast_decl_kind kind, struct span span, const struct token *name) {
    struct ast_decl *decl = ARENA_NEW(p->arena, struct ast_decl);
    decl->kind = kind;
    decl->span = span;
    decl->name_span = name->span;
    decl->name = name->name;
    return decl;
}

struct ast_decl *build_data(struct parser *p, struct span span, const struct token *name,
                            struct symbol_list *parameters, struct constructor_list *constructors) {
    struct ast_decl *decl = build_decl(p, DECL_DATA, span, name);
    if (parameters)
        SHARE_VEC(&decl->type_parameters, &parameters->all);
    SHARE_VEC(&decl->constructors, &constructors->all);
    return decl;
}

struct ast_decl *build_function(struct parser *p, enum ast_decl_kind kind, struct span span, const struct token *name,
                                struct binder_list *levels, struct pattern_list *parameters, struct ast_expr *body) {
    struct ast_decl *decl = build_decl(p, kind, span, name);
    if (levels)
        SHARE_VEC(&decl->levels, &levels->all);
    if (parameters)
        SHARE_VEC(&decl->parameters, &parameters->all);
    decl->body = body;
    if (kind == DECL_FUN && !levels && !parameters) {
        struct diagnostic *error =
            diag_error(p->diagnostics, DIAG_NO_PARAMETERS, name->span, "the function %s has no parameters",
                       token_quote(p->arena, p->source, name->span));
        diag_hint(p->diagnostics, error, "a value is defined with `val name = e`");
    }
    return decl;
}

struct ast_decl *build_param(struct parser *p, struct span span, const struct token *name, struct ast_expr *value,
                             struct expr_list *choices) {
    struct ast_decl *decl = build_decl(p, DECL_PARAM, span, name);
    decl->body = value;
    if (choices)
        SHARE_VEC(&decl->choices, &choices->all);
    return decl;
}

struct ast_decl *build_broken(struct parser *p, struct span span, const struct token *name) {
    struct ast_decl *decl = build_decl(p, DECL_VAL, span, name);
    decl->body = build_error(p, span);
    return decl;
}

struct ast_decl *build_broken_type(struct parser *p, struct span span, const struct token *name) {
    struct ast_decl *decl = build_decl(p, DECL_TYPE, span, name);
    decl->type = build_type_error(p, span);
    return decl;
}

void report_unit(struct parser *p, struct span span) {
    struct diagnostic *error = diag_error(p->diagnostics, DIAG_UNIT, span, "there is no unit value `()` in FCL");
    diag_hint(p->diagnostics, error, "FCL is pure: use `val` for what needs no argument, and leave `()` out of calls");
}
