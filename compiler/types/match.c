/* `match`: each arm becomes lets for what its pattern takes apart, and an `if` on whether it matches, before the arms
   that follow. A component that is taken out of a value of another constructor is zero, or another number, and is not
   looked at. */
#include <ctype.h>

#include "types/checker.h"

struct arm_name { /* that the pattern binds */
    const struct ast_pattern *pattern;
    struct core *value;
};
typedef VEC(struct arm_name) arm_names;

struct arm {
    unpackings lets;
    arm_names names;
    struct core *test; /* NULL: it matches always */
    bool failed;
};

/* ---- conditions ---- */

static struct core *choice(struct checker *c, struct core *condition, struct core *then_branch,
                           struct core *else_branch) {
    struct core *core = core_new(c, CORE_IF, condition->span, then_branch->type);
    core->conditional.condition = condition;
    core->conditional.then_branch = then_branch;
    core->conditional.else_branch = else_branch;
    return core;
}

static struct core *truth(struct checker *c, struct span span, bool value) {
    struct core *core = core_new(c, CORE_LITERAL, span, c->base_types[BASE_BOOL]);
    core->literal.is_bool = true;
    core->literal.magnitude = value;
    return core;
}

static struct core *both(struct checker *c, struct core *a, struct core *b) {
    return !a ? b : !b ? a : choice(c, a, b, truth(c, a->span, false));
}

static struct core *equals(struct checker *c, struct core *value, struct core *literal) {
    struct core *equal = core_new(c, CORE_PRIMITIVE, literal->span, NULL);
    equal->primitive.primitive = PRIM_EQ;
    equal->type = instantiate(c, primitive_scheme(c, PRIM_EQ), literal->span, NULL, &equal->primitive.instance);
    (void)unify(c, type_resolve(equal->type)->arrow.from, value->type);
    struct core *core = equal;
    struct core *const operands[] = {value, literal};
    for (size_t i = 0; i < 2; i++) {
        struct core *apply = core_new(c, CORE_APPLY, literal->span, type_resolve(core->type)->arrow.to);
        apply->apply.function = core;
        apply->apply.argument = operands[i];
        core = apply;
    }
    return core;
}

/* ---- patterns ---- */

static struct core *local_of(struct checker *c, struct core *value, struct arm *arm) {
    if (value->kind == CORE_LOCAL)
        return value;
    const struct core_local *local = fresh_local(c, NULL);
    vec_push(c->arena, &arm->lets, ((struct unpacking){local, value, value->span}));
    struct core *core = core_new(c, CORE_LOCAL, value->span, value->type);
    core->local.local = local;
    return core;
}

static struct case_pattern *new_case(struct checker *c, size_t count) {
    struct case_pattern *one = ARENA_NEW(c->arena, struct case_pattern);
    one->parts = ARENA_ARRAY(c->arena, struct case_pattern *, count + 1);
    one->count = count;
    return one;
}

static struct case_pattern *take(struct checker *c, const struct ast_pattern *pattern, struct core *value,
                                 struct arm *arm);

/* Binds the names of a wrong pattern to errors, so that their uses give no further messages. */
static void bind_failed(struct checker *c, const struct ast_pattern *pattern, struct arm *arm) {
    if (pattern->kind == AST_PATTERN_NAME && !isupper((unsigned char)pattern->name->text[0]))
        vec_push(c->arena, &arm->names, ((struct arm_name){pattern, error_core(c, pattern->span)}));
    if (pattern->of)
        bind_failed(c, pattern->of, arm);
    for (size_t i = 0; i < pattern->items.count; i++)
        bind_failed(c, pattern->items.at[i], arm);
}

static struct case_pattern *fail(struct checker *c, const struct ast_pattern *pattern, struct arm *arm) {
    arm->failed = true;
    bind_failed(c, pattern, arm);
    return new_case(c, 0);
}

static struct core *part_of(struct checker *c, struct core *value, size_t index, struct type *type, struct span span) {
    struct core *part = core_new(c, CORE_SELECT, span, type);
    part->select.tuple = value;
    part->select.index = index;
    return part;
}

static struct case_pattern *take_items(struct checker *c, const struct ast_pattern *pattern, struct core *value,
                                       struct type *tuple, const size_t *places, struct arm *arm) {
    struct case_pattern *one = new_case(c, tuple->tuple.count);
    one->kind = CASE_OF;
    one->head = CASE_TUPLE;
    one->record = tuple->tuple.record;
    for (size_t i = 0; i < one->count; i++)
        one->parts[i] = new_case(c, 0);
    value = local_of(c, value, arm);
    for (size_t i = 0; i < pattern->items.count; i++) {
        size_t place = places ? places[i] : i;
        struct core *part = part_of(c, value, place, tuple->tuple.items[place], pattern->items.at[i]->span);
        one->parts[place] = take(c, pattern->items.at[i], part, arm);
    }
    return one;
}

static struct case_pattern *take_tuple(struct checker *c, const struct ast_pattern *pattern, struct core *value,
                                       struct arm *arm) {
    size_t count = pattern->items.count;
    struct type *type = type_resolve(value->type);
    if (type->kind != TYPE_TUPLE || type->tuple.count != count || type->tuple.record) {
        struct type **items = ARENA_ARRAY(c->arena, struct type *, count);
        for (size_t i = 0; i < count; i++)
            items[i] = type_fresh(c, KIND_TYP, 0, pattern->items.at[i]->span);
        struct type *tuple = type_tuple(c, items, count);
        c->at = pattern->span;
        if (!unify(c, type, tuple)) {
            report_failure(c, pattern->span, tuple, type);
            return fail(c, pattern, arm);
        }
        type = tuple;
    }
    return take_items(c, pattern, value, type, NULL, arm);
}

static struct case_pattern *take_record(struct checker *c, const struct ast_pattern *pattern, struct core *value,
                                        struct arm *arm) {
    size_t *places = ARENA_ARRAY(c->arena, size_t, pattern->items.count);
    struct type *type = record_of_pattern(c, pattern, value->type, places);
    return type ? take_items(c, pattern, value, type, places, arm) : fail(c, pattern, arm);
}

static struct case_pattern *take_literal(struct checker *c, const struct ast_pattern *pattern, struct core *value,
                                         struct arm *arm) {
    const struct ast_expr *expr = pattern->literal;
    struct core *literal = infer_wanted(c, expr, value->type);
    c->at = pattern->span;
    c->reason = NULL;
    if (type_resolve(literal->type)->kind == TYPE_ERROR || !subsume(c, literal->type, value->type)) {
        if (type_resolve(literal->type)->kind != TYPE_ERROR)
            report_value(c, literal, value->type);
        return fail(c, pattern, arm);
    }
    struct case_pattern *one = new_case(c, 0);
    one->kind = CASE_OF;
    bool is_negative = expr->kind == EXPR_APPLY;
    const struct ast_expr *number = is_negative ? expr->apply.argument : expr;
    if (number->kind == EXPR_BOOL) {
        one->head = CASE_BOOL;
        one->index = number->boolean;
        struct core *is_it =
            number->boolean ? value : choice(c, value, truth(c, pattern->span, false), truth(c, pattern->span, true));
        arm->test = both(c, arm->test, is_it);
        return one;
    }
    one->head = number->kind == EXPR_FLOATING ? CASE_FLOATING : CASE_INTEGER;
    one->is_negative = is_negative;
    one->magnitude = number->kind == EXPR_INTEGER ? number->integer.value : 0;
    one->floating = number->kind == EXPR_FLOATING ? number->floating.value.as_double : 0;
    one->floating = is_negative ? -one->floating : one->floating;
    arm->test = both(c, arm->test, equals(c, value, literal));
    return one;
}

/* `of` NULL: the constructor stands alone. */
static struct case_pattern *take_constructor(struct checker *c, const struct ast_pattern *pattern, struct core *value,
                                             struct arm *arm) {
    size_t index = 0;
    const struct record *record = data_find(c, pattern->name, value->type, &index);
    if (!record) {
        data_report_unknown(c, pattern->name, pattern->span, value->type);
        return fail(c, pattern, arm);
    }
    struct type **payloads = ARENA_ARRAY(c->arena, struct type *, record->constructor_count);
    struct type *data = data_fresh(c, record, pattern->span, payloads);
    const struct constructor *constructor = &record->constructors[index];
    c->at = pattern->span;
    c->reason = NULL;
    if (!unify(c, value->type, data)) {
        report_failure(c, pattern->span, data, value->type);
        return fail(c, pattern, arm);
    }
    if (!constructor->of != !pattern->of) {
        struct diagnostic *d = constructor->of ? diag_error(c->diagnostics, DIAG_CONSTRUCTOR, pattern->span,
                                                            "`%s` was applied to a `%s`, which this pattern leaves out",
                                                            constructor->name->text, type_text(c, payloads[index]))
                                               : diag_error(c->diagnostics, DIAG_CONSTRUCTOR, pattern->span,
                                                            "`%s` stands alone: there is nothing in it for a pattern",
                                                            constructor->name->text);
        diag_note(c->diagnostics, d, constructor->span, "it is declared here");
        if (constructor->of)
            diag_hint(c->diagnostics, d, "write `%s x`, or `%s _`", constructor->name->text, constructor->name->text);
        return fail(c, pattern, arm);
    }
    data_note(c, constructor, pattern->span, data);
    struct case_pattern *one = new_case(c, pattern->of != NULL);
    one->kind = CASE_OF;
    one->head = CASE_CONSTRUCTOR;
    one->record = record;
    one->index = index;
    value = local_of(c, value, arm);
    if (record->constructor_count > 1) {
        struct core *tag = core_new(c, CORE_LITERAL, pattern->span, c->base_types[BASE_U8]);
        tag->literal.magnitude = index;
        struct core *found = part_of(c, value, 0, c->base_types[BASE_U8], pattern->span);
        arm->test = both(c, arm->test, equals(c, found, tag));
    }
    if (pattern->of)
        one->parts[0] = take(c, pattern->of, data_payload(c, constructor, payloads[index], value), arm);
    return one;
}

static size_t find_name(const arm_names *names, symbol name) {
    size_t i = 0;
    while (i < names->count && names->at[i].pattern->name != name)
        i++;
    return i;
}

/* Both sides of an `|` bind the same names: what they stand for follows from which side matches first. */
static void join_names(struct checker *c, arm_names *names, const arm_names *others, struct core *test,
                       struct arm *arm) {
    for (size_t i = 0; i < names->count; i++) {
        size_t other = find_name(others, names->at[i].pattern->name);
        if (other == others->count)
            continue;
        struct core *first = names->at[i].value, *second = others->at[other].value;
        c->at = second->span;
        c->reason = NULL;
        if (!unify(c, second->type, first->type)) {
            report_value(c, second, first->type);
            arm->failed = true;
        }
        names->at[i].value = test ? choice(c, test, first, second) : first;
    }
}

static void report_one_sided(struct checker *c, const arm_names *names, const arm_names *others, struct arm *arm) {
    for (size_t i = 0; i < names->count; i++) {
        const struct ast_pattern *pattern = names->at[i].pattern;
        if (find_name(others, pattern->name) < others->count)
            continue;
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_CONSTRUCTOR, pattern->span,
                                          "`%s` is bound on one side of `|` only", pattern->name->text);
        diag_hint(c->diagnostics, d, "both sides bind the same names; a value that is not needed is `_`");
        arm->failed = true;
    }
}

static struct case_pattern *take_either(struct checker *c, const struct ast_pattern *pattern, struct core *value,
                                        struct arm *arm) {
    struct case_pattern *one = new_case(c, pattern->items.count);
    one->kind = CASE_EITHER;
    value = local_of(c, value, arm);
    struct core *before = arm->test, *all = NULL;
    arm_names outer = arm->names, joined = {0};
    bool is_certain = false;
    for (size_t i = 0; i < pattern->items.count; i++) {
        arm->test = NULL;
        arm->names = (arm_names){0};
        one->parts[i] = take(c, pattern->items.at[i], value, arm);
        if (i == 0) {
            joined = arm->names;
        } else {
            report_one_sided(c, &joined, &arm->names, arm);
            report_one_sided(c, &arm->names, &joined, arm);
            join_names(c, &joined, &arm->names, all, arm);
        }
        is_certain |= !arm->test;
        if (arm->test)
            all = all ? choice(c, all, truth(c, pattern->span, true), arm->test) : arm->test;
    }
    arm->test = both(c, before, is_certain ? NULL : all);
    arm->names = outer;
    for (size_t i = 0; i < joined.count; i++)
        vec_push(c->arena, &arm->names, joined.at[i]);
    return one;
}

static bool names_constructor(struct checker *c, const struct ast_pattern *pattern, struct type *type) {
    size_t index;
    return isupper((unsigned char)pattern->name->text[0]) || data_find(c, pattern->name, type, &index);
}

static struct case_pattern *take(struct checker *c, const struct ast_pattern *pattern, struct core *value,
                                 struct arm *arm) {
    switch (pattern->kind) {
    case AST_PATTERN_NAME:
        if (names_constructor(c, pattern, value->type))
            return take_constructor(c, pattern, value, arm);
        vec_push(c->arena, &arm->names, ((struct arm_name){pattern, value}));
        return new_case(c, 0);
    case AST_PATTERN_WILDCARD: return new_case(c, 0);
    case AST_PATTERN_ERROR: return fail(c, pattern, arm);
    case AST_PATTERN_TUPLE: return take_tuple(c, pattern, value, arm);
    case AST_PATTERN_RECORD: return take_record(c, pattern, value, arm);
    case AST_PATTERN_LITERAL: return take_literal(c, pattern, value, arm);
    case AST_PATTERN_CONSTRUCTOR: return take_constructor(c, pattern, value, arm);
    case AST_PATTERN_OR: return take_either(c, pattern, value, arm);
    case AST_PATTERN_TYPED: {
        struct type *written = type_of_ast(c, pattern->type, SIGNATURE_ANNOTATION, NULL);
        c->at = pattern->span;
        c->reason = NULL;
        if (!subsume(c, value->type, written))
            report_failure(c, pattern->span, value->type, written);
        return take(c, pattern->of, value, arm);
    }
    }
    return new_case(c, 0);
}

/* ---- the whole ---- */

static struct core *infer_arm(struct checker *c, const struct ast_binding *written, struct arm *arm,
                              struct type *wanted) {
    size_t bound = c->bound.count;
    pattern_names seen = NULL;
    for (size_t i = 0; i < arm->names.count; i++) {
        if (arm->failed && find_name(&arm->names, arm->names.at[i].pattern->name) < i)
            continue;
        const struct arm_name *name = &arm->names.at[i];
        struct core_local *local = bind_name(c, name->pattern, scheme_of_type(c, name->value->type), &seen);
        vec_push(c->arena, &arm->lets, ((struct unpacking){local, name->value, name->pattern->span}));
    }
    struct core *body = infer_wanted(c, written->value, wanted);
    unbind_locals(c, bound);
    return body;
}

/* Does the `match` begin where an arm of another one does? */
static bool is_in_arm(const struct checker *c, const struct ast_expr *expr) {
    const struct source *source = c->scope->file->source;
    size_t at = expr->span.begin - source->base;
    while (at > 0 && isspace(source->text[at - 1]))
        at--;
    return c->matches > 1 && at > 1 && memcmp(source->text + at - 2, "=>", 2) == 0;
}

static void check_cases(struct checker *c, const struct ast_expr *expr, struct case_pattern *const *cases) {
    size_t count = expr->match.arms.count;
    for (size_t i = 1; i < count; i++) {
        const struct ast_pattern *pattern = expr->match.arms.at[i].pattern;
        if (cases_is_useful(c, cases, i, cases[i]))
            continue;
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_USELESS_CASE, pattern->span,
                                          "this case is never reached: those before it take all its values");
        if (is_in_arm(c, expr))
            diag_hint(c->diagnostics, d,
                      "a `match` takes all cases that follow: in an arm of another one it is put in parentheses");
        if (!cases_is_useful(c, cases, i - 1, cases[i - 1]))
            continue;
        for (size_t k = 0; k < i; k++)
            if (!cases_is_useful(c, &cases[k], 1, cases[i])) {
                diag_note(c->diagnostics, d, expr->match.arms.at[k].pattern->span, "this one takes them");
                break;
            }
    }
    bool is_too_large;
    const char *missing = cases_missing(c, cases, count, &is_too_large);
    struct span word = {expr->span.begin, expr->span.begin + 5};
    if (is_too_large) {
        diag_error(c->diagnostics, DIAG_MISSING_CASE, word, "this `match` has too many cases in cases to be checked");
    } else if (missing) {
        struct diagnostic *d =
            diag_error(c->diagnostics, DIAG_MISSING_CASE, word, "this `match` has no case for `%s`", missing);
        diag_hint(c->diagnostics, d, "add `| %s => …`, or `| _ => …` for all that is left", missing);
    }
}

struct core *infer_match(struct checker *c, const struct ast_expr *expr, struct type *wanted) {
    size_t count = expr->match.arms.count, errors = diag_error_count(c->diagnostics);
    struct core *of = infer_expr(c, expr->match.of);
    const struct core_local *subject = fresh_local(c, NULL);
    struct core *value = core_new(c, CORE_LOCAL, of->span, of->type);
    value->local.local = subject;
    struct arm *arms = ARENA_ARRAY(c->arena, struct arm, count);
    struct core **bodies = ARENA_ARRAY(c->arena, struct core *, count);
    struct case_pattern **cases = ARENA_ARRAY(c->arena, struct case_pattern *, count);
    struct type *result = type_fresh(c, KIND_TYP, 0, expr->span);
    bool failed = false;
    c->matches++;
    for (size_t i = 0; i < count; i++) {
        const struct ast_binding *written = &expr->match.arms.at[i];
        cases[i] = take(c, written->pattern, value, &arms[i]);
        bodies[i] = infer_arm(c, written, &arms[i], wanted ? wanted : i ? bodies[0]->type : NULL);
        failed |= arms[i].failed;
        c->at = bodies[i]->span;
        c->reason = NULL;
        if (failed || subsume(c, bodies[i]->type, result))
            continue;
        struct diagnostic *d = report_value(c, bodies[i], bodies[0]->type);
        diag_note(c->diagnostics, d, bodies[0]->span, "the cases of a `match` have one type; this one is `%s`",
                  type_text(c, bodies[0]->type));
        failed = true;
    }
    bool is_read_wrong = c->definition && diag_has_error_in(c->diagnostics, c->definition->span);
    bool is_known = !failed && type_resolve(of->type)->kind != TYPE_ERROR;
    if (is_known && diag_error_count(c->diagnostics) == errors && !is_read_wrong)
        check_cases(c, expr, cases);
    c->matches--;
    if (!is_known)
        return error_core(c, expr->span);
    struct core *core = NULL;
    for (size_t i = count; i-- > 0;) {
        /* The last case takes what is left. */
        core = core && arms[i].test ? choice(c, arms[i].test, bodies[i], core) : bodies[i];
        core->type = core == bodies[i] ? core->type : result;
        core = wrap_unpackings(c, &arms[i].lets, core);
    }
    struct core *let = core_new(c, CORE_LET, expr->span, result);
    let->let.local = subject;
    let->let.value = of;
    let->let.body = core;
    return let;
}
