/* The tree as S-expressions, one a declaration, broken over lines when long:
     (fun step <lvl> (f arr) (let ((x (halve arr))) (push <lvl> (zipWith f (fst x) (snd x)))))
   Applications are flattened, infix ones start with their operator, types are printed as they are written. */
#include "syntax/syntax.h"

enum { DUMP_WIDTH = 100, DUMP_MOST_INDENT = 60 };

/* ---- a general tree of atoms and lists ---- */

struct sexp {
    const char *atom; /* NULL: a list */
    VEC(struct sexp *) items;
};

static struct sexp *new_atom(struct arena *arena, const char *atom) {
    struct sexp *sexp = ARENA_NEW(arena, struct sexp);
    sexp->atom = atom;
    return sexp;
}

static struct sexp *new_list(struct arena *arena) { return ARENA_NEW(arena, struct sexp); }

static struct sexp *new_form(struct arena *arena, const char *head) {
    struct sexp *sexp = new_list(arena);
    vec_push(arena, &sexp->items, new_atom(arena, head));
    return sexp;
}

static void add(struct arena *arena, struct sexp *list, struct sexp *item) { vec_push(arena, &list->items, item); }

static void add_atom(struct arena *arena, struct sexp *list, const char *atom) {
    add(arena, list, new_atom(arena, atom));
}

/* Characters on one line; more than `left` stops the count, so that a measurement is short. */
static size_t measure(const struct sexp *sexp, size_t left) {
    size_t width = 0;
    if (sexp->atom) {
        while (sexp->atom[width] && width <= left)
            width++;
        return width;
    }
    width = 2;
    for (size_t i = 0; i < sexp->items.count && width <= left; i++)
        width += (i > 0) + measure(sexp->items.at[i], left - width);
    return width;
}

static void print_sexp(struct text *text, const struct sexp *sexp, size_t indent) {
    if (sexp->atom) {
        text_add(text, sexp->atom);
        return;
    }
    size_t left = DUMP_WIDTH - (indent < DUMP_MOST_INDENT ? indent : DUMP_MOST_INDENT);
    bool flat = measure(sexp, left) <= left;
    text_add(text, "(");
    for (size_t i = 0; i < sexp->items.count; i++) {
        const struct sexp *item = sexp->items.at[i];
        bool stays = flat || item->atom || (i > 0 && i < 3 && sexp->items.at[i - 1]->atom && measure(item, 20) <= 20);
        if (i > 0 && stays)
            text_add(text, " ");
        else if (i > 0)
            text_printf(text, "\n%*s", (int)(indent + 2 < DUMP_MOST_INDENT ? indent + 2 : DUMP_MOST_INDENT), "");
        print_sexp(text, item, indent + 2);
    }
    text_add(text, ")");
}

/* ---- types and levels, as written ---- */

static void print_level(struct text *text, const struct ast_level *level) {
    for (; level->kind == AST_LEVEL_SUCCESSOR; level = level->of)
        text_add(text, "1+");
    text_add(text, level->name->text);
}

/* Where a type stands decides whether it needs parentheses. */
enum position { ANYWHERE, BEFORE_ARROW, ARGUMENT };

static void print_type(struct text *text, const struct ast_type *type, enum position position) {
    bool is_arrow = type->kind == AST_TYPE_ARROW || type->kind == AST_TYPE_LEVEL_ARROW;
    bool is_applied = type->kind == AST_TYPE_NAME && type->items.count > 0;
    bool parentheses = (is_arrow && position != ANYWHERE) || (is_applied && position == ARGUMENT);
    if (parentheses)
        text_add(text, "(");
    switch (type->kind) {
    case AST_TYPE_ERROR: text_add(text, "<error>"); break;
    case AST_TYPE_VARIABLE: text_printf(text, "'%s", type->name->text); break;
    case AST_TYPE_NAME:
        text_add(text, type->name->text);
        for (size_t i = 0; i < type->items.count; i++) {
            text_add(text, " ");
            print_type(text, type->items.at[i], ARGUMENT);
        }
        break;
    case AST_TYPE_RECORD:
        for (size_t i = 0; i < type->items.count; i++) {
            text_printf(text, "%s%s : ", i ? ", " : "{", type->fields.at[i].name->text);
            print_type(text, type->items.at[i], ANYWHERE);
        }
        text_add(text, "}");
        break;
    case AST_TYPE_TUPLE:
        for (size_t i = 0; i < type->items.count; i++) {
            text_add(text, i ? ", " : "(");
            print_type(text, type->items.at[i], ANYWHERE);
        }
        text_add(text, ")");
        break;
    case AST_TYPE_ARROW:
        print_type(text, type->from, BEFORE_ARROW);
        text_add(text, " -> ");
        print_type(text, type->to, ANYWHERE);
        break;
    case AST_TYPE_LEVEL_ARROW:
        text_add(text, "<");
        print_level(text, type->level);
        text_add(text, "> -> ");
        print_type(text, type->to, ANYWHERE);
        break;
    case AST_TYPE_PULL:
    case AST_TYPE_PUSH:
        text_add(text, "[");
        print_type(text, type->element, ANYWHERE);
        text_add(text, "]");
        if (type->level) {
            text_add(text, "<");
            print_level(text, type->level);
            text_add(text, ">");
        }
        break;
    }
    if (parentheses)
        text_add(text, ")");
}

static struct sexp *type_sexp(struct arena *arena, const struct ast_type *type) {
    struct text text;
    text_init(&text, arena);
    print_type(&text, type, ANYWHERE);
    return new_atom(arena, text_string(&text));
}

static struct sexp *signature_sexp(struct arena *arena, const struct ast_signature_type *signature) {
    struct text text;
    text_init(&text, arena);
    if (signature->binders.count) {
        text_add(&text, "forall");
        for (size_t i = 0; i < signature->binders.count; i++)
            text_printf(&text, " %s", signature->binders.at[i]->text);
        text_add(&text, ". ");
    }
    for (size_t i = 0; i < signature->classes.count; i++)
        text_printf(&text, "%s%s %s", i ? ", " : "", signature->classes.at[i].class_name->text,
                    signature->classes.at[i].variable->text);
    if (signature->classes.count)
        text_add(&text, " => ");
    print_type(&text, signature->type, ANYWHERE);
    for (size_t i = 0; i < signature->constraints.count; i++) {
        const struct ast_constraint *constraint = &signature->constraints.at[i];
        text_add(&text, i ? ", " : " where ");
        if (constraint->pushed) {
            text_printf(&text, "%s stored as %s", constraint->pushed->text, constraint->stored->text);
            continue;
        }
        print_level(&text, constraint->below);
        text_add(&text, " < ");
        print_level(&text, constraint->above);
    }
    return new_atom(arena, text_string(&text));
}

/* ---- patterns and expressions ---- */

static void add_field(struct arena *arena, struct sexp *form, symbol name, struct sexp *value) {
    struct sexp *field = new_form(arena, name->text);
    add(arena, field, value);
    add(arena, form, field);
}

static struct sexp *expr_sexp(struct arena *arena, const struct ast_expr *expr);

static struct sexp *pattern_sexp(struct arena *arena, const struct ast_pattern *pattern) {
    struct sexp *form = NULL;
    switch (pattern->kind) {
    case AST_PATTERN_NAME: return new_atom(arena, pattern->name->text);
    case AST_PATTERN_WILDCARD: return new_atom(arena, "_");
    case AST_PATTERN_ERROR: return new_atom(arena, "<error>");
    case AST_PATTERN_TUPLE:
        form = new_form(arena, "tuple");
        for (size_t i = 0; i < pattern->items.count; i++)
            add(arena, form, pattern_sexp(arena, pattern->items.at[i]));
        return form;
    case AST_PATTERN_RECORD:
        form = new_form(arena, "record");
        for (size_t i = 0; i < pattern->items.count; i++)
            add_field(arena, form, pattern->fields.at[i].name, pattern_sexp(arena, pattern->items.at[i]));
        return form;
    case AST_PATTERN_LITERAL: return expr_sexp(arena, pattern->literal);
    case AST_PATTERN_CONSTRUCTOR:
        form = new_form(arena, pattern->name->text);
        add(arena, form, pattern_sexp(arena, pattern->of));
        return form;
    case AST_PATTERN_OR:
        form = new_form(arena, "|");
        for (size_t i = 0; i < pattern->items.count; i++)
            add(arena, form, pattern_sexp(arena, pattern->items.at[i]));
        return form;
    case AST_PATTERN_TYPED:
        form = new_form(arena, ":");
        add(arena, form, pattern_sexp(arena, pattern->of));
        add(arena, form, type_sexp(arena, pattern->type));
        return form;
    }
    return form;
}

static const char *binders_text(struct arena *arena, const struct ast_level_binder *binders, size_t count) {
    struct text text;
    text_init(&text, arena);
    for (size_t i = 0; i < count; i++)
        text_printf(&text, "%s%s", i ? ", " : "<", binders[i].name->text);
    text_add(&text, ">");
    return text_string(&text);
}

/* f a b <l> c: one list, however it is nested to the left. */
static struct sexp *application_sexp(struct arena *arena, const struct ast_expr *expr) {
    VEC(const struct ast_expr *) steps = {.at = NULL};
    while (expr->kind == EXPR_APPLY || expr->kind == EXPR_LEVEL_APPLY) {
        vec_push(arena, &steps, expr);
        expr = expr->kind == EXPR_APPLY ? expr->apply.function : expr->level_apply.function;
    }
    struct sexp *form = new_list(arena);
    add(arena, form, expr_sexp(arena, expr));
    for (size_t i = steps.count; i-- > 0;) {
        const struct ast_expr *step = steps.at[i];
        if (step->kind == EXPR_APPLY) {
            add(arena, form, expr_sexp(arena, step->apply.argument));
            continue;
        }
        struct text text;
        text_init(&text, arena);
        for (size_t j = 0; j < step->level_apply.levels.count; j++) {
            text_add(&text, j ? ", " : "<");
            print_level(&text, step->level_apply.levels.at[j]);
        }
        text_add(&text, ">");
        add_atom(arena, form, text_string(&text));
    }
    return form;
}

static struct sexp *expr_sexp(struct arena *arena, const struct ast_expr *expr) {
    struct sexp *form = NULL, *inner;
    char digits[FLOATING_DIGITS];
    switch (expr->kind) {
    case EXPR_NAME:
    case EXPR_CONFIG: return new_atom(arena, expr->name.name->text);
    case EXPR_INTEGER:
        if (expr->integer.too_large)
            return new_atom(arena, "too-large");
        return new_atom(arena, arena_printf(arena, "%llu%s", (unsigned long long)expr->integer.value,
                                            expr->integer.suffix ? expr->integer.suffix->text : ""));
    case EXPR_FLOATING:
        return new_atom(arena, arena_printf(arena, "%s%s",
                                            floating_digits((struct floating_format){64, 53},
                                                            expr->floating.value.as_double, digits),
                                            expr->floating.suffix ? expr->floating.suffix->text : ""));
    case EXPR_BOOL: return new_atom(arena, expr->boolean ? "true" : "false");
    case EXPR_ERROR: return new_atom(arena, "<error>");
    case EXPR_APPLY:
    case EXPR_LEVEL_APPLY: return application_sexp(arena, expr);
    case EXPR_LAMBDA:
        form = new_form(arena, "fn");
        if (expr->lambda.levels.count)
            add_atom(arena, form, binders_text(arena, expr->lambda.levels.at, expr->lambda.levels.count));
        if (expr->lambda.parameters.count) {
            add(arena, form, inner = new_list(arena));
            for (size_t i = 0; i < expr->lambda.parameters.count; i++)
                add(arena, inner, pattern_sexp(arena, expr->lambda.parameters.at[i]));
        }
        add(arena, form, expr_sexp(arena, expr->lambda.body));
        return form;
    case EXPR_LET:
        form = new_form(arena, "let");
        add(arena, form, inner = new_list(arena));
        for (size_t i = 0; i < expr->let.bindings.count; i++) {
            struct sexp *binding = new_list(arena);
            add(arena, binding, pattern_sexp(arena, expr->let.bindings.at[i].pattern));
            add(arena, binding, expr_sexp(arena, expr->let.bindings.at[i].value));
            add(arena, inner, binding);
        }
        add(arena, form, expr_sexp(arena, expr->let.body));
        return form;
    case EXPR_IF:
        if (expr->conditional.logical) {
            bool is_and = expr->conditional.logical->text[0] == '&';
            form = new_form(arena, expr->conditional.logical->text);
            add(arena, form, expr_sexp(arena, expr->conditional.condition));
            add(arena, form, expr_sexp(arena, is_and ? expr->conditional.then_branch : expr->conditional.else_branch));
            return form;
        }
        form = new_form(arena, "if");
        add(arena, form, expr_sexp(arena, expr->conditional.condition));
        add(arena, form, expr_sexp(arena, expr->conditional.then_branch));
        add(arena, form, expr_sexp(arena, expr->conditional.else_branch));
        return form;
    case EXPR_TUPLE:
    case EXPR_LIST:
        form = new_form(arena, expr->kind == EXPR_TUPLE ? "tuple" : "list");
        for (size_t i = 0; i < expr->sequence.items.count; i++)
            add(arena, form, expr_sexp(arena, expr->sequence.items.at[i]));
        return form;
    case EXPR_RECORD:
        form = new_form(arena, expr->record.of ? "with" : "record");
        if (expr->record.of)
            add(arena, form, expr_sexp(arena, expr->record.of));
        for (size_t i = 0; i < expr->record.items.count; i++)
            add_field(arena, form, expr->record.fields.at[i].name, expr_sexp(arena, expr->record.items.at[i]));
        return form;
    case EXPR_MATCH:
        form = new_form(arena, "match");
        add(arena, form, expr_sexp(arena, expr->match.of));
        for (size_t i = 0; i < expr->match.arms.count; i++) {
            add(arena, form, inner = new_list(arena));
            add(arena, inner, pattern_sexp(arena, expr->match.arms.at[i].pattern));
            add(arena, inner, expr_sexp(arena, expr->match.arms.at[i].value));
        }
        return form;
    case EXPR_FIELD:
        form = new_form(arena, "field");
        add(arena, form, expr_sexp(arena, expr->field.of));
        add_atom(arena, form, expr->field.name.name->text);
        return form;
    case EXPR_TYPED:
        form = new_form(arena, ":");
        add(arena, form, expr_sexp(arena, expr->typed.body));
        add(arena, form, type_sexp(arena, expr->typed.type));
        return form;
    }
    return form;
}

/* ---- declarations ---- */

static struct sexp *decl_sexp(struct arena *arena, const struct ast_decl *decl) {
    static const char *const heads[] = {
        [DECL_SIG] = "sig",   [DECL_FUN] = "fun",   [DECL_VAL] = "val",     [DECL_KERNEL] = "kernel",
        [DECL_TYPE] = "type", [DECL_DATA] = "data", [DECL_PARAM] = "param", [DECL_IMPORT] = "import"};
    struct sexp *form = new_form(arena, heads[decl->kind]), *inner;
    add_atom(arena, form,
             decl->kind == DECL_IMPORT ? arena_printf(arena, "\"%s\"", decl->path ? decl->path : "")
                                       : decl->name->text);
    switch (decl->kind) {
    case DECL_SIG: add(arena, form, signature_sexp(arena, decl->signature)); break;
    case DECL_FUN:
    case DECL_KERNEL:
        if (decl->levels.count)
            add_atom(arena, form, binders_text(arena, decl->levels.at, decl->levels.count));
        add(arena, form, inner = new_list(arena));
        for (size_t i = 0; i < decl->parameters.count; i++)
            add(arena, inner, pattern_sexp(arena, decl->parameters.at[i]));
        for (size_t i = 0; i < decl->launch.count; i++)
            add(arena, form, decl_sexp(arena, decl->launch.at[i]));
        add(arena, form, expr_sexp(arena, decl->body));
        break;
    case DECL_VAL: add(arena, form, expr_sexp(arena, decl->body)); break;
    case DECL_TYPE:
        add(arena, form, inner = new_list(arena));
        for (size_t i = 0; i < decl->type_parameters.count; i++)
            add_atom(arena, inner, decl->type_parameters.at[i]->text);
        add(arena, form, type_sexp(arena, decl->type));
        break;
    case DECL_DATA:
        add(arena, form, inner = new_list(arena));
        for (size_t i = 0; i < decl->type_parameters.count; i++)
            add_atom(arena, inner, decl->type_parameters.at[i]->text);
        for (size_t i = 0; i < decl->constructors.count; i++) {
            add(arena, form, inner = new_form(arena, decl->constructors.at[i].name->text));
            if (decl->constructors.at[i].of)
                add(arena, inner, type_sexp(arena, decl->constructors.at[i].of));
        }
        break;
    case DECL_PARAM:
        if (decl->type)
            add(arena, form, type_sexp(arena, decl->type));
        if (!decl->body) /* a word of leaves.def */
            break;
        add(arena, form, expr_sexp(arena, decl->body));
        add(arena, form, inner = new_list(arena));
        for (size_t i = 0; i < decl->choices.count; i++)
            add(arena, inner, expr_sexp(arena, decl->choices.at[i]));
        break;
    case DECL_IMPORT: break;
    }
    return form;
}

void syntax_dump_ast(struct text *text, const struct ast_file *file) {
    for (size_t i = 0; i < file->decls.count; i++) {
        print_sexp(text, decl_sexp(text->arena, file->decls.at[i]), 0);
        text_add(text, "\n");
    }
}
