/* Kernels: what they may take and give (LANGUAGE §7), and the level that their result gives their body. */
#include <string.h>

#include "types/checker.h"

/* Defaults what only arithmetic decided; false when something else is left open. */
static bool close_type(struct checker *c, struct type *type) {
    type = type_resolve(type);
    if (type->kind == TYPE_VARIABLE) {
        if (type->variable->rigid || !(type->variable->classes & (CLASS_NUM | CLASS_INTEGRAL | CLASS_FLOATING)))
            return false;
        type->variable->link = c->base_types[type->variable->classes & CLASS_FLOATING ? BASE_F64 : BASE_I32];
    }
    bool closed = true;
    for (size_t i = 0; type_part(type, i); i++)
        closed &= close_type(c, *type_part(type, i));
    return closed && type->kind != TYPE_STORED; /* before a variable that is left open, or of what cannot be stored */
}

/* A name in a parameter's type that stands for nothing and was not meant as a variable; NULL: none. */
static const struct ast_type *unknown_name(const struct checker *c, const struct ast_type *type) {
    enum base base;
    if (!type)
        return NULL;
    if (type->kind == AST_TYPE_NAME && !type->items.count)
        return base_of_name(type->name->text, &base) || find_synonym(c->scope, type->name) ||
                       is_meant_as_variable(type->name)
                   ? NULL
                   : type;
    const struct ast_type *parts[] = {type->from, type->to, type->element}, *found = NULL;
    for (size_t i = 0; !found && i < sizeof parts / sizeof *parts; i++)
        found = unknown_name(c, parts[i]);
    for (size_t i = 0; !found && i < type->items.count; i++)
        found = unknown_name(c, type->items.at[i]);
    return found;
}

static const struct ast_type *unknown_in(const struct checker *c, const struct ast_pattern *pattern) {
    const struct ast_type *found = unknown_name(c, pattern->type);
    if (!found && pattern->of)
        found = unknown_in(c, pattern->of);
    for (size_t i = 0; !found && i < pattern->items.count; i++)
        found = unknown_in(c, pattern->items.at[i]);
    return found;
}

static const char *dimension_problem(struct type *type) {
    size_t rank = 0;
    for (type = type_resolve(type); type->kind == TYPE_PULL; type = type_resolve(type->array.element))
        rank++;
    return rank > TYPE_MOST_DIMENSIONS ? "an array of the host's has at most 8 dimensions" : NULL;
}
_Static_assert(TYPE_MOST_DIMENSIONS == 8, "as the message says");

/* True if the type may have more scalars than `left`; a part that comes twice counts twice. */
static bool has_many_scalars(struct type *type, size_t *left) {
    type = type_resolve(type);
    if (type->kind == TYPE_PULL || type->kind == TYPE_PUSH)
        return has_many_scalars(type->array.element, left);
    if (type->kind != TYPE_TUPLE)
        return (*left)-- == 0;
    for (size_t i = 0; i < type->tuple.count; i++)
        if (has_many_scalars(type->tuple.items[i], left))
            return true;
    return false;
}

static bool check_width(struct checker *c, struct type *type, struct span span, const char *what) {
    size_t left = TYPE_MOST_SCALARS;
    if (!has_many_scalars(type, &left))
        return true;
    diag_error(c->diagnostics, DIAG_TYPE_SIZE, span,
               "%s is of more than %d scalars: each of them would be an argument of the device's kernel", what,
               TYPE_MOST_SCALARS);
    return false;
}

static bool is_grid(const struct type *push) {
    struct level level = level_view(push->array.level);
    return !level.variable && level.value == LEVEL_GRID;
}

static bool is_scalar(struct type *type) { /* kind BT */
    type = type_resolve(type);
    if (type->kind != TYPE_TUPLE)
        return type->kind == TYPE_BASE || type->kind == TYPE_VARIABLE || type->kind == TYPE_ERROR;
    for (size_t i = 0; i < type->tuple.count; i++)
        if (!is_scalar(type->tuple.items[i]))
            return false;
    return true;
}

/* Says what is wrong with a kernel's parameter, or result, of that type; NULL: nothing. */
static const char *problem_of(struct type *type, bool is_result);

static const char *problem_of_parts(struct type *tuple, bool is_result) {
    const char *problem = NULL;
    for (size_t i = 0; i < tuple->tuple.count && !problem; i++)
        problem = problem_of(tuple->tuple.items[i], is_result);
    return problem;
}

static const char *problem_of_passed(struct type *element) {
    if (element->kind != TYPE_TUPLE)
        return problem_of(element, false);
    const char *problem = NULL;
    for (size_t i = 0; i < element->tuple.count && !problem; i++) {
        struct type *part = type_resolve(element->tuple.items[i]);
        problem = part->kind == TYPE_PULL || part->kind == TYPE_PUSH
                      ? "an array from the host holds scalars, tuples of scalars, or arrays, but no tuples with arrays"
                      : problem_of(part, false);
    }
    return problem;
}

static const char *problem_of_given(struct type *element) {
    if (element->kind == TYPE_PUSH && is_grid(element))
        return "what is at grid takes the whole device, so there is none of it within an array: take what works in "
               "a block, as `mergeSort <block>` for `sort`, and put these together by `concat`";
    if (element->kind == TYPE_PUSH)
        return "an array of push arrays must be put together first, as by `concat n`; the matrix of that is "
               "`rows n (force (concat n …))`";
    if (element->kind == TYPE_PULL)
        return problem_of(element, true);
    return is_scalar(element) ? NULL : "a result array holds scalars or tuples of scalars";
}

static const char *problem_of(struct type *type, bool is_result) {
    type = type_resolve(type);
    if (dimension_problem(type))
        return dimension_problem(type);
    switch (type->kind) {
    case TYPE_VARIABLE:
    case TYPE_BASE:
    case TYPE_ERROR: return NULL;
    case TYPE_TUPLE: return problem_of_parts(type, is_result);
    case TYPE_ARROW:
        return is_result ? "a function is no result: is a parameter missing?" : "the host cannot pass a function";
    case TYPE_LEVEL_ARROW:
        return is_result ? "a function that takes a level is no result: give it a level"
                         : "the host cannot pass a function that takes a level";
    case TYPE_STORED: return "what is stored is not known";
    case TYPE_PUSH: return is_result ? NULL : "what the host passes is in memory, so it is a pull array";
    case TYPE_PULL:
        type = type_resolve(type->array.element);
        return is_result ? problem_of_given(type) : problem_of_passed(type);
    }
    return NULL;
}

static const char *problem_of_whole(const struct checker *c, struct type *type, bool is_result) {
    if (!type_has_alternatives(type) || (is_result && c->scope->file->source->is_shown))
        return problem_of(type, is_result);
    return is_result ? "the host has nothing like alternatives: give what they stand for, as a number or a tuple"
                     : "the host has nothing like alternatives: make them of numbers in the kernel";
}

struct result {
    struct checker *c;
    const struct core_global *global;
    struct span span;
    struct level *level; /* of the push arrays in it; NULL: none yet */
    bool failed;
};

/* The kernel's type with a level where it is open: a sig to copy. */
static const char *closed_sig(struct checker *c, const struct core_global *global, struct level open) {
    int value = LEVEL_VALUE_COUNT - 1;
    while (value > LEVEL_THREAD && !(level_domain(open) & (1u << value)))
        value--;
    struct text text;
    text_init(&text, c->arena);
    for (const char *at = type_text(c, global->body->type); *at; at++)
        if (strncmp(at, "<_>", 3) == 0) {
            text_printf(&text, "<%s>", level_names[value]);
            at += 2;
        } else {
            text_add_n(&text, at, 1);
        }
    return arena_printf(c->arena, "sig %s : %s", global->name->text, text_string(&text));
}

static bool has_failed(struct type *type) {
    type = type_resolve(type);
    bool found = type->kind == TYPE_ERROR;
    for (size_t i = 0; type_part(type, i); i++)
        found |= has_failed(*type_part(type, i));
    return found;
}

static void find_level(struct result *r, struct type *type) {
    struct checker *c = r->c;
    type = type_resolve(type);
    if (type->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < type->tuple.count; i++)
            find_level(r, type->tuple.items[i]);
        return;
    }
    for (; type->kind == TYPE_PULL; type = type_resolve(type->array.element)) /* stored by threads, an element each */
        level_require(c, LEVEL_FITS, type->array.level, level_constant(c, LEVEL_THREAD), r->span, &callee_kernel);
    if (type->kind != TYPE_PUSH || r->failed)
        return;
    struct level view = level_view(type->array.level);
    if (view.variable) {
        r->failed = true;
        if (has_failed(type))
            return; /* of what is wrong in it */
        struct diagnostic *d =
            diag_error(c->diagnostics, DIAG_KERNEL_POLYMORPHIC, r->span,
                       "the level of this kernel's result `%s` is not determined", type_text(c, type));
        diag_hint(c->diagnostics, d, "a sig before it says where it is to run, as in `%s`",
                  closed_sig(c, r->global, view));
    } else if (!r->level) {
        r->level = type->array.level;
    } else if (level_view(r->level).value != view.value) {
        r->failed = true;
        diag_error(c->diagnostics, DIAG_KERNEL_TYPE, r->span,
                   "the push arrays of this kernel's result are at different levels: `%s` and `%s`",
                   level_text(c, level_view(r->level)), level_text(c, view));
    }
}

void check_kernel(struct checker *c, struct core_global *global, const struct ast_decl *decl, struct level *ambient) {
    struct type *type = type_resolve(global->body->type);
    size_t errors = diag_error_count(c->diagnostics);
    for (size_t i = 0; i < decl->parameters.count && type->kind == TYPE_ARROW; i++) {
        const struct ast_pattern *pattern = decl->parameters.at[i];
        if (!check_width(c, type->arrow.from, pattern->span, "this parameter of a kernel"))
            return;
        bool closed = close_type(c, type->arrow.from);
        const char *problem = problem_of_whole(c, type->arrow.from, false);
        if (problem) {
            struct diagnostic *d =
                diag_error(c->diagnostics, DIAG_KERNEL_TYPE, pattern->span,
                           "a kernel cannot take a parameter of type `%s`", type_text(c, type->arrow.from));
            diag_hint(c->diagnostics, d, "%s", problem);
        } else if (!closed && unknown_in(c, pattern)) {
            const struct ast_type *unknown = unknown_in(c, pattern);
            report_unbound_type(c, unknown->name, unknown->span);
        } else if (!closed) {
            struct diagnostic *d = diag_error(c->diagnostics, DIAG_KERNEL_POLYMORPHIC, pattern->span,
                                              "a kernel has one type, but nothing determines this parameter's: `%s`",
                                              type_text(c, type->arrow.from));
            diag_hint(c->diagnostics, d,
                      "a sig determines it: `sig %s : [float] -> …`, or an annotation: `(%s : [float])`",
                      global->name->text, pattern->kind == AST_PATTERN_NAME ? pattern->name->text : "x");
        }
        type = type_resolve(type->arrow.to);
    }
    if (type->kind == TYPE_ERROR || diag_error_count(c->diagnostics) != errors)
        return;
    if (!check_width(c, type, decl->body->span, "the result of this kernel"))
        return;
    const char *problem = problem_of_whole(c, type, true);
    if (problem && diag_has_error_in(c->diagnostics, decl->span))
        return; /* a syntax error in the declaration may be the cause */
    if (problem) {
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_KERNEL_TYPE, decl->body->span,
                                          "a kernel cannot give a result of type `%s`", type_text(c, type));
        diag_hint(c->diagnostics, d, "%s", problem);
        return;
    }
    if (!close_type(c, type)) {
        struct diagnostic *d =
            diag_error(c->diagnostics, DIAG_KERNEL_POLYMORPHIC, decl->body->span,
                       "a kernel has one type, but nothing determines its result's: `%s`", type_text(c, type));
        diag_hint(c->diagnostics, d,
                  c->scope->file->source->is_shown
                      ? "an annotation determines it, as in `([] : [int])`"
                      : "a `sig` before the kernel, or an annotation in it, determines it");
        return;
    }
    struct result r = {.c = c, .global = global, .span = decl->body->span};
    find_level(&r, type);
    if (r.failed)
        return;
    level_require(c, LEVEL_FITS, ambient, r.level ? r.level : level_constant(c, LEVEL_GRID), decl->name_span,
                  &callee_kernel);
    level_propagate(c, 0);
}
