/* Inference over expressions (FCL §5.1, rules 17–30): the core is built as the types are found. */
#include <string.h>

#include "types/checker.h"

/* ---- literals and names ---- */

struct core *infer_literal(struct checker *c, const struct ast_expr *expr, bool is_negated) {
    symbol suffix = NULL;
    struct core *core = core_new(c, CORE_LITERAL, expr->span, NULL);
    bool too_large = false;
    if (expr->kind == EXPR_INTEGER) {
        core->literal.magnitude = expr->integer.value;
        too_large = expr->integer.too_large;
        suffix = expr->integer.suffix;
    } else {
        core->literal.is_floating = true;
        core->literal.floating = expr->floating.value;
        suffix = expr->floating.suffix;
    }
    enum base base;
    if (suffix && base_of_name(suffix->text, &base))
        core->type = c->base_types[base];
    else
        core->type = type_fresh(c, KIND_BT, core->literal.is_floating ? CLASS_FLOATING : CLASS_NUM, expr->span);
    vec_push(c->arena, &c->literals, (struct literal_check){core, is_negated, too_large});
    return core;
}

static struct core *infer_bool(struct checker *c, struct span span, bool value) {
    struct core *core = core_new(c, CORE_LITERAL, span, c->base_types[BASE_BOOL]);
    core->literal.is_bool = true;
    core->literal.magnitude = value;
    return core;
}

static struct core *infer_global(struct checker *c, struct global_entry *entry, struct span span) {
    struct core_global *global = entry->global;
    if (global->kind == GLOBAL_KERNEL) {
        report_kernel_called(c, global->name, global->span, span);
        return error_core(c, span);
    }
    if (global->is_internal && !c->scope->file->source->is_ours) {
        report_internal_name(c, global, span);
        return error_core(c, span);
    }
    struct core *core = core_new(c, CORE_GLOBAL, span, NULL);
    core->global.global = global;
    if (!entry->is_open) {
        core->type = instantiate(c, global->scheme, span, callee_keep(c, core), &core->global.instance);
        return core;
    }
    /* Within itself: levels and ambients are the definition's own; with a sig, types may differ. */
    struct self_use use = {core, NULL};
    core->type = global->scheme->type;
    core->global.instance.scheme = global->scheme;
    if (entry->self_types) {
        size_t count = 0;
        while (entry->self_types[count])
            count++;
        use.types = ARENA_ARRAY(c->arena, struct type *, count + 1);
        core->type = instantiate_types(c, global->scheme->type, entry->self_types, count, use.types);
    }
    vec_push(c->arena, &c->self_uses, use);
    return core;
}

static struct core *infer_name(struct checker *c, symbol name, struct span span) {
    struct binding *binding = map_get(c->locals, name);
    if (binding) {
        binding->is_used = true;
        struct core *core = core_new(c, CORE_LOCAL, span, NULL);
        core->local.local = binding->local;
        core->type = instantiate(c, binding->scheme, span, callee_keep(c, core), &core->local.instance);
        note_place(
            c, (struct name_place){name, span, binding->span, NULL, PRIM_COUNT, binding->scheme, core->type, false});
        return core;
    }
    struct global_entry *entry = find_global(c->scope, name);
    if (entry) {
        struct core *core = infer_global(c, entry, span);
        note_place(c, (struct name_place){name, span, entry->global->span, entry->global, PRIM_COUNT, NULL, core->type,
                                          false});
        return core;
    }
    size_t primitive = (size_t)(uintptr_t)map_get(c->primitives, name);
    if (primitive && primitive_is_internal((enum primitive)(primitive - 1)) && !c->scope->file->source->is_trusted) {
        report_internal_primitive(c, (enum primitive)(primitive - 1), span);
        return error_core(c, span);
    }
    if (primitive) {
        struct core *core = core_new(c, CORE_PRIMITIVE, span, NULL);
        core->primitive.primitive = (enum primitive)(primitive - 1);
        const struct scheme *scheme = primitive_scheme(c, core->primitive.primitive);
        core->type = instantiate(c, scheme, span, callee_keep(c, core), &core->primitive.instance);
        note_place(c, (struct name_place){.name = name,
                                          .span = span,
                                          .primitive = core->primitive.primitive,
                                          .scheme = scheme,
                                          .type = core->type});
        return core;
    }
    report_unbound_name(c, name, span);
    return error_core(c, span);
}

static struct core *infer_config(struct checker *c, const struct ast_expr *expr) {
    for (int i = 0; i < CONFIG_COUNT; i++)
        if (strcmp(expr->name.name->text, core_config_info[i].name) == 0) {
            struct core *core = core_new(c, CORE_CONFIG, expr->span, c->base_types[core_config_info[i].base]);
            core->config = (enum core_config)i;
            return core;
        }
    struct diagnostic *d = diag_error(c->diagnostics, DIAG_UNKNOWN_CONFIG, expr->span,
                                      "there is no configuration constant `%s`", expr->name.name->text);
    diag_hint(c->diagnostics, d,
              "there are `#BlockSize`, `#WarpSize`, `#GridSize`, `#IsCpu`, `#HasWarps`, `#HasMma` and `#VectorBytes`; "
              "others are "
              "declared: "
              "`param chunk : int = 1024`");
    return error_core(c, expr->span);
}

/* ---- functions ---- */

/* A function's sig, or the function that it is an argument of, gives types before the checker reads the body: the
   parameters start with these types, so that the checker finds an error where it is made. A type of which nothing is
   known is left to the body: the body may use a type at lower ambients than the one where it finds the type. */
static struct type *expected_parameter(struct type **expected) {
    struct type *type = *expected ? type_resolve(*expected) : NULL;
    bool is_arrow = type && type->kind == TYPE_ARROW;
    *expected = is_arrow ? type->arrow.to : NULL;
    struct type *from = is_arrow ? type_resolve(type->arrow.from) : NULL;
    bool is_known = from && (from->kind != TYPE_VARIABLE || from->variable->rigid || from->variable->classes);
    return is_known ? from : NULL;
}

static struct level *expected_level(struct type **expected) {
    struct type *type = *expected ? type_resolve(*expected) : NULL;
    bool is_level = type && type->kind == TYPE_LEVEL_ARROW;
    *expected = is_level ? type->level_arrow.to : NULL;
    return is_level ? type->level_arrow.level : NULL;
}

static void check_level_binder(struct checker *c, const struct function_parts *f, size_t index) {
    const struct ast_level_binder *binder = &f->levels[index];
    for (size_t i = 0; i < index && i < LEVEL_VALUE_COUNT; i++) /* more than there are levels: these will do */
        if (f->levels[i].name == binder->name) {
            struct diagnostic *d = diag_error(c->diagnostics, DIAG_DUPLICATE_NAME, binder->span,
                                              "the level `%s` is bound twice", binder->name->text);
            diag_note(c->diagnostics, d, f->levels[i].span, "it is bound here already");
            return;
        }
    for (size_t value = 0; value < LEVEL_VALUE_COUNT; value++)
        if (level_names[value] && strcmp(binder->name->text, level_names[value]) == 0) {
            struct diagnostic *d =
                diag_warning(c->diagnostics, DIAG_LEVEL_NAME, binder->span,
                             "this binds a variable for any level, which hides the level `%s`", binder->name->text);
            diag_hint(c->diagnostics, d,
                      "a function for the level `%s` alone is written without `<%s>` here; a variable has another "
                      "name, `<l>`",
                      binder->name->text, binder->name->text);
        }
}

/* A sig that names the level behind its binder, as in that of the result, lets callers choose by it. */
static bool names_level(struct type *type, const struct level_variable *variable, uint32_t walk) {
    if (!type || !variable)
        return false;
    type = type_resolve(type);
    if (!type_walk_comes(walk, type, 0))
        return false;
    struct level **level = type_level(type);
    if (level && level_resolve(*level)->variable == variable)
        return true;
    for (size_t i = 0; type_part(type, i); i++)
        if (names_level(*type_part(type, i), variable, walk))
            return true;
    return false;
}

struct core *infer_function(struct checker *c, const struct function_parts *f, struct type *expected,
                            struct level **inner) {
    size_t mark = c->pending.count, bound = c->bound.count;
    struct level_binding **levels = ARENA_ARRAY(c->arena, struct level_binding *, f->level_count + 1);
    bool *own_level = ARENA_ARRAY(c->arena, bool, f->level_count + 1);
    for (size_t i = 0; i < f->level_count; i++) {
        struct level *level = expected_level(&expected);
        own_level[i] = level == NULL;
        check_level_binder(c, f, i);
        levels[i] = bind_level(c, &f->levels[i], level ? level : level_rigid(c, f->levels[i].name, f->levels[i].span));
        levels[i]->is_used = f->has_levels_of_sig ||
                             (level && names_level(expected, level_resolve(level)->variable, type_walk_begin(c)));
    }
    struct type **types = ARENA_ARRAY(c->arena, struct type *, f->parameter_count + 1);
    const struct core_local **locals = ARENA_ARRAY(c->arena, const struct core_local *, f->parameter_count + 1);
    struct level *outer = c->ambient;
    unpackings parts = {0};
    pattern_names seen = NULL;
    for (size_t i = 0; i < f->parameter_count; i++) {
        struct type *known = expected_parameter(&expected);
        types[i] = known ? known : type_fresh(c, KIND_TYP, 0, f->parameters[i]->span);
        c->parameter_rest = i + 1 == f->parameter_count ? expected : NULL;
        locals[i] = bind_pattern(c, f->parameters[i], types[i], &parts, &seen);
    }
    c->parameter_rest = NULL;
    if (f->parameter_count) {
        c->at = f->span;
        c->ambient = level_fresh(c, DOMAIN_AMBIENT);
    }
    if (inner)
        *inner = c->ambient;
    struct core *body = infer_wanted(c, f->body, expected);
    if (expected && f->sig_span.end && type_resolve(body->type)->kind != TYPE_ERROR) {
        c->at = body->span;
        c->reason = NULL;
        if (!subsume(c, body->type, expected)) {
            struct diagnostic *d = report_value(c, body, expected);
            if (c->failure.why != FAILED_RIGID) /* else the note is of what the sig promises */
                diag_note(c->diagnostics, d, f->sig_span, "the sig says so");
            body->type = c->error_type;
        }
    }
    struct core *core = wrap_unpackings(c, &parts, body);
    struct level *ambient = c->ambient;
    c->ambient = outer;
    unbind_locals(c, bound);

    for (size_t i = f->parameter_count; i-- > 0;) {
        /* Taking an argument that is not the last does nothing, at any level. */
        struct level *at = i + 1 == f->parameter_count ? ambient : level_constant(c, LEVEL_PURE);
        struct core *lambda = core_new(c, CORE_LAMBDA, f->span, type_arrow(c, types[i], core->type, at));
        lambda->lambda.parameter = locals[i];
        lambda->lambda.body = core;
        core = lambda;
    }
    if (f->level_count)
        level_propagate(c, mark);
    for (size_t i = f->level_count; i-- > 0;) {
        /* Within its binder the level was any; from here on it is what the uses make it. */
        if (own_level[i])
            levels[i]->level->variable->rigid = false;
        core->type = type_level_arrow(c, levels[i]->level, core->type);
        unbind_level(c, levels[i]);
    }
    return core;
}

struct core *infer_lambda(struct checker *c, const struct ast_expr *expr, struct type *expected) {
    struct function_parts parts = {.levels = expr->lambda.levels.at,
                                   .level_count = expr->lambda.levels.count,
                                   .parameters = expr->lambda.parameters.at,
                                   .parameter_count = expr->lambda.parameters.count,
                                   .body = expr->lambda.body,
                                   .span = expr->span};
    return infer_function(c, &parts, expr->lambda.levels.count ? NULL : expected, NULL);
}

/* ---- let ---- */

static bool is_value(const struct ast_expr *expr) {
    switch (expr->kind) {
    case EXPR_NAME:
    case EXPR_INTEGER:
    case EXPR_FLOATING:
    case EXPR_BOOL:
    case EXPR_CONFIG:
    case EXPR_LAMBDA: return true;
    case EXPR_APPLY: return is_value(expr->apply.function) && is_value(expr->apply.argument);
    case EXPR_LEVEL_APPLY: return is_value(expr->level_apply.function);
    case EXPR_TYPED: return is_value(expr->typed.body);
    case EXPR_LET:
    case EXPR_IF:
    case EXPR_TUPLE:
    case EXPR_LIST:
    case EXPR_RECORD:
    case EXPR_FIELD:
    case EXPR_MATCH:
    case EXPR_ERROR: return false;
    }
    return false;
}

/* Nothing in it ran at a level: nothing fits its ambient but what is pure. */
static bool ran_nothing(const struct checker *c, struct level *ambient, size_t mark) {
    struct level view = level_view(ambient);
    if (!view.variable)
        return view.value == LEVEL_PURE;
    for (size_t i = mark; i < c->pending.count; i++)
        if (c->pending.at[i]->kind == LEVEL_FITS && level_view(c->pending.at[i]->b).variable == view.variable)
            return false;
    return true;
}

static struct core *infer_named_value(struct checker *c, const struct ast_expr *value, struct scheme **scheme) {
    struct level *outer = c->ambient;
    size_t mark = c->pending.count;
    c->depth++;
    c->at = value->span;
    c->ambient = level_fresh(c, DOMAIN_AMBIENT);
    struct core *core = infer_expr(c, value);
    struct level *ambient = c->ambient;
    c->ambient = outer;
    c->depth--;
    if (!type_is_small(c, core->type)) {
        diag_error(c->diagnostics, DIAG_TYPE_SIZE, value->span, "the type of this expression is too large");
        core->type = c->error_type;
    }
    enum type_kind kind = type_resolve(core->type)->kind;
    bool generalises =
        (kind == TYPE_ARROW || kind == TYPE_LEVEL_ARROW) && is_value(value) && ran_nothing(c, ambient, mark);
    level_require(c, LEVEL_FITS, ambient, outer, value->span, callee_keep(c, core));
    if (generalises) {
        *scheme = generalise(c, core->type, mark, true);
        lower_depth(c, core->type);
    } else {
        lower_depth(c, core->type);
        *scheme = scheme_of_type(c, core->type);
    }
    return core;
}

/* The value of a binding, or a component of it where both sides are tuples: each component is generalised like a
   binding that stands alone. */
struct bound_value {
    const struct ast_pattern *pattern;
    struct core *value;
    struct scheme *scheme; /* of a name */
    unpackings parts;      /* of another pattern */
};
typedef VEC(struct bound_value) bound_values;

static void infer_bound(struct checker *c, const struct ast_pattern *pattern, const struct ast_expr *value,
                        bound_values *found) {
    if (pattern->kind == AST_PATTERN_TUPLE && value->kind == EXPR_TUPLE &&
        pattern->items.count == value->sequence.items.count) {
        for (size_t i = 0; i < value->sequence.items.count; i++)
            infer_bound(c, pattern->items.at[i], value->sequence.items.at[i], found);
        return;
    }
    struct bound_value bound = {.pattern = pattern};
    bound.value = pattern->kind == AST_PATTERN_NAME ? infer_named_value(c, value, &bound.scheme) : infer_expr(c, value);
    vec_push(c->arena, found, bound);
}

static struct core *infer_let(struct checker *c, const struct ast_expr *expr, struct type *wanted) {
    size_t outer = c->bound.count, count = expr->let.bindings.count;
    bound_values found = {0};
    VEC(struct core *) lets = {0};
    for (size_t i = 0; i < count; i++) {
        size_t first = found.count;
        const struct ast_binding *binding = &expr->let.bindings.at[i];
        bool is_named = binding->pattern->kind == AST_PATTERN_NAME;
        const struct open_binding open = {is_named ? binding->pattern->name : NULL, binding->value->kind == EXPR_LAMBDA,
                                          c->open_bindings};
        c->open_bindings = &open;
        infer_bound(c, binding->pattern, binding->value, &found);
        c->open_bindings = open.outer;
        pattern_names seen = NULL;
        for (size_t k = first; k < found.count; k++) { /* only now, as the values do not see these names */
            struct bound_value *bound = &found.at[k];
            struct core *let = core_new(c, CORE_LET, expr->span, NULL);
            let->let.value = bound->value;
            if (bound->scheme) {
                struct core_local *local = bind_name(c, bound->pattern, bound->scheme, &seen);
                local->value = bound->value;
                let->let.local = local;
                if (bound->scheme->type_count + bound->scheme->proper_count)
                    let->let.scheme = bound->scheme;
            } else {
                let->let.local = bind_pattern(c, bound->pattern, bound->value->type, &bound->parts, &seen);
            }
            vec_push(c->arena, &lets, let);
        }
    }
    struct core *body = infer_wanted(c, expr->let.body, wanted);
    for (size_t i = lets.count; i-- > 0;) {
        lets.at[i]->let.body = wrap_unpackings(c, &found.at[i].parts, body);
        lets.at[i]->type = body->type;
        body = lets.at[i];
    }
    unbind_locals(c, outer);
    return body;
}

/* ---- the rest ---- */

/* `logical`: && or || when the conditional was written so. */
static void require_bool(struct checker *c, struct core *core, const char *logical, size_t place) {
    c->at = core->span;
    c->reason = NULL;
    if (subsume(c, core->type, c->base_types[BASE_BOOL]))
        return;
    struct application use = {.function = logical,
                              .callee = {logical, PRIM_COUNT, NULL},
                              .span = core->span,
                              .place = place,
                              .count = 2,
                              .argument = core};
    struct diagnostic *d;
    if (logical) {
        d = report_argument(c, &use, core->type, c->base_types[BASE_BOOL]);
    } else {
        d = diag_error(c->diagnostics, DIAG_TYPE_MISMATCH, core->span,
                       "the condition of `if` is a `bool`, but this is `%s`", type_text(c, core->type));
        hint_types(c, d, core->type, c->base_types[BASE_BOOL], &use);
    }
    note_local(c, d, core);
}

static struct core *infer_if(struct checker *c, const struct ast_expr *expr, struct type *wanted) {
    symbol logical = expr->conditional.logical;
    struct core *core = core_new(c, CORE_IF, expr->span, NULL);
    core->conditional.condition = infer_expr(c, expr->conditional.condition);
    require_bool(c, core->conditional.condition, logical ? logical->text : NULL, 0);
    struct core *then_core = infer_wanted(c, expr->conditional.then_branch, wanted);
    struct core *else_core = infer_wanted(c, expr->conditional.else_branch, wanted ? wanted : then_core->type);
    core->conditional.then_branch = then_core;
    core->conditional.else_branch = else_core;
    if (logical) {
        core->type = c->base_types[BASE_BOOL];
        require_bool(c, strcmp(logical->text, "&&") == 0 ? then_core : else_core, logical->text, 1);
        return core;
    }
    core->type = type_fresh(c, KIND_TYP, 0, expr->span);
    c->at = then_core->span;
    c->reason = NULL;
    subsume(c, then_core->type, core->type);
    c->at = else_core->span;
    if (!subsume(c, else_core->type, core->type)) {
        struct diagnostic *d = report_value(c, else_core, then_core->type);
        diag_note(c->diagnostics, d, then_core->span, "both branches of an `if` have one type; this one is `%s`",
                  type_text(c, then_core->type));
        core->type = c->error_type;
    }
    return core;
}

/* The type that the context wants of item i; NULL where nothing is known. */
static struct type *item_wanted(struct type *wanted, bool is_list, size_t count, size_t i) {
    struct type *type = wanted ? type_resolve(wanted) : NULL;
    if (is_list)
        return type && type->kind == TYPE_PULL ? type->array.element : NULL;
    return type && type->kind == TYPE_TUPLE && type->tuple.count == count ? type->tuple.items[i] : NULL;
}

static struct core *infer_sequence(struct checker *c, const struct ast_expr *expr, struct type *wanted) {
    bool is_list = expr->kind == EXPR_LIST;
    size_t count = expr->sequence.items.count;
    struct core *core = core_new(c, is_list ? CORE_LIST : CORE_TUPLE, expr->span, NULL);
    core->sequence.items = ARENA_ARRAY(c->arena, struct core *, count + 1);
    core->sequence.count = count;
    struct type **types = ARENA_ARRAY(c->arena, struct type *, count + 1);
    struct type *element = is_list ? type_fresh(c, KIND_GT, 0, expr->span) : NULL;
    bool is_alone = is_list && count == 1; /* nothing to agree with: no copy of its type, which may be deep */
    bool failed = false;
    struct level *outer = c->ambient;
    size_t mark = c->pending.count;
    if (is_list) /* its elements run where they are demanded */
        c->ambient = level_fresh(c, DOMAIN_AMBIENT);
    for (size_t i = 0; i < count; i++) {
        struct core *item = infer_wanted(c, expr->sequence.items.at[i], item_wanted(wanted, is_list, count, i));
        core->sequence.items[i] = item;
        types[i] = item->type;
        c->at = item->span;
        c->reason = NULL;
        if (!is_list || failed)
            continue;
        if (is_alone ? type_require(c, item->type, KIND_GT, 0) : subsume(c, item->type, element)) {
            element = is_alone ? item->type : element;
            continue;
        }
        struct diagnostic *d = report_value(c, item, element);
        if (i > 0)
            diag_note(c->diagnostics, d, core->sequence.items[0]->span,
                      "the elements of a list have one type; this one is `%s`", type_text(c, types[0]));
        failed = true;
    }
    struct level *ambient = c->ambient;
    c->ambient = outer;
    if (failed)
        core->type = c->error_type;
    else if (is_list)
        core->type = type_pull(c, element, ran_nothing(c, ambient, mark) ? level_constant(c, LEVEL_PURE) : ambient);
    else
        core->type = type_tuple(c, types, count);
    return core;
}

static struct core *infer_typed(struct checker *c, const struct ast_expr *expr) {
    struct type *written = type_of_ast(c, expr->typed.type, SIGNATURE_ANNOTATION, NULL);
    struct core *core = infer_wanted(c, expr->typed.body, written);
    c->at = expr->span;
    c->reason = NULL;
    if (!subsume(c, core->type, written)) {
        struct diagnostic *d = report_value(c, core, written);
        diag_note(c->diagnostics, d, expr->typed.type->span, "the annotation says so here");
        return error_core(c, expr->span);
    }
    /* The written type has ambients of its own, which nothing else must get: the found one's are right. */
    return core;
}

struct core *infer_wanted(struct checker *c, const struct ast_expr *expr, struct type *wanted) {
    c->wanted = wanted;
    return infer_expr(c, expr);
}

struct core *infer_expr(struct checker *c, const struct ast_expr *expr) {
    struct type *wanted = c->wanted;
    c->wanted = NULL;
    switch (expr->kind) {
    case EXPR_NAME: return infer_name(c, expr->name.name, expr->span);
    case EXPR_INTEGER:
    case EXPR_FLOATING: return infer_literal(c, expr, false);
    case EXPR_BOOL: return infer_bool(c, expr->span, expr->boolean);
    case EXPR_CONFIG: return infer_config(c, expr);
    case EXPR_APPLY: return infer_apply(c, expr);
    case EXPR_LEVEL_APPLY: return infer_level_apply(c, expr);
    case EXPR_LAMBDA: return infer_lambda(c, expr, NULL);
    case EXPR_LET: return infer_let(c, expr, wanted);
    case EXPR_IF: return infer_if(c, expr, wanted);
    case EXPR_TUPLE:
    case EXPR_LIST: return infer_sequence(c, expr, wanted);
    case EXPR_RECORD: return infer_record(c, expr, wanted);
    case EXPR_FIELD: return infer_field(c, expr);
    case EXPR_MATCH: return infer_match(c, expr, wanted);
    case EXPR_TYPED: return infer_typed(c, expr);
    case EXPR_ERROR: return error_core(c, expr->span);
    }
    return error_core(c, expr->span);
}
