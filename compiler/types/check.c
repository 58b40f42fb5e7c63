/* Checking a program: its modules and declarations in order, each definition inferred, generalised and settled
   before the next, so that a later one only ever meets schemes. */
#include "syntax/syntax.h"
#include "types/checker.h"

/* ---- setting up ---- */

static struct checker *checker_new(struct arena *arena, struct symbols *symbols, struct diagnostics *diagnostics) {
    struct checker *c = ARENA_NEW(arena, struct checker);
    c->arena = arena;
    c->symbols = symbols;
    c->diagnostics = diagnostics;
    c->program = ARENA_NEW(arena, struct program);
    for (int i = 0; i < BASE_COUNT; i++) {
        c->base_types[i] = ARENA_NEW(arena, struct type);
        *c->base_types[i] = (struct type){.kind = TYPE_BASE, .is_settled = true, .base = (enum base)i};
    }
    c->error_type = ARENA_NEW(arena, struct type);
    *c->error_type = (struct type){.kind = TYPE_ERROR, .is_settled = true};
    for (int i = 0; i < LEVEL_VALUE_COUNT; i++) {
        c->constants[i] = ARENA_NEW(arena, struct level);
        c->constants[i]->value = (enum level_value)i;
    }
    c->primitives = map_new(arena);
    for (size_t i = 0; i < PRIM_COUNT; i++)
        map_set(c->primitives, symbol_of(symbols, primitive_info[i].name), (void *)(uintptr_t)(i + 1));
    c->locals = map_new(arena);
    c->levels = map_new(arena);
    c->type_names = map_new(arena);
    c->name_pipe = symbol_of(symbols, "|>");
    c->name_neg = symbol_of(symbols, "neg");
    return c;
}

static void define(struct checker *c, struct global_entry *entry) {
    struct global_entry *earlier = map_get(c->scope->globals, entry->global->name);
    if (earlier && earlier != entry && earlier->global->kind == GLOBAL_KERNEL) {
        struct diagnostic *d = diag_warning(c->diagnostics, DIAG_HIDDEN_KERNEL, entry->global->span,
                                            "`%s` is defined again, and the kernel before of this name is not compiled",
                                            entry->global->name->text);
        diag_note(c->diagnostics, d, earlier->global->span, "the kernel");
    }
    map_set(c->scope->globals, entry->global->name, entry);
}

/* ---- definitions ---- */

/* Uses of a definition within itself get their instance: its own variables, or with a sig the types they need. */
static void finish_self_uses(struct checker *c, const struct global_entry *entry) {
    const struct scheme *scheme = entry->global->scheme;
    for (size_t i = 0; i < c->self_uses.count; i++) {
        struct self_use *use = &c->self_uses.at[i];
        struct core_instance *instance = &use->core->global.instance;
        *instance = (struct core_instance){.scheme = scheme};
        instance->types = ARENA_ARRAY(c->arena, struct type *, scheme->type_count + 1);
        instance->levels = ARENA_ARRAY(c->arena, struct level *, scheme->level_count + 1);
        for (size_t j = 0; j < scheme->type_count; j++) {
            struct type *type = ARENA_NEW(c->arena, struct type);
            *type = (struct type){.kind = TYPE_VARIABLE, .variable = scheme->type_variables[j]};
            for (size_t k = 0; use->types && entry->self_types[k]; k++)
                if (entry->self_types[k]->variable == scheme->type_variables[j])
                    type = use->types[k];
            instance->types[j] = type;
        }
        for (size_t j = 0; j < scheme->level_count; j++) {
            struct level *level = ARENA_NEW(c->arena, struct level);
            *level = (struct level){.variable = scheme->level_variables[j]};
            instance->levels[j] = level;
        }
    }
    c->self_uses.count = 0;
}

static size_t count_arguments(struct type *type) {
    size_t count = 0;
    for (type = type_resolve(type); type->kind == TYPE_ARROW || type->kind == TYPE_LEVEL_ARROW;
         type = type_resolve(type->kind == TYPE_ARROW ? type->arrow.to : type->level_arrow.to))
        count += type->kind == TYPE_ARROW;
    return count;
}

/* `sig f : (int, int) -> int` of `fun f x y`. */
static void hint_sig_arguments(struct checker *c, struct diagnostic *d, const struct ast_decl *decl,
                               struct type *expected) {
    size_t given = decl->parameters.count, said = count_arguments(expected);
    struct type *sig = type_resolve(expected);
    struct type *first = sig->kind == TYPE_ARROW ? type_resolve(sig->arrow.from) : sig;
    if (given <= said)
        return;
    if (said != 1 || first->kind != TYPE_TUPLE || first->tuple.count != given) {
        diag_hint(c->diagnostics, d, "the sig has %zu argument%s, and the definition %zu", said, said == 1 ? "" : "s",
                  given);
        return;
    }
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < given; i++) {
        bool is_function = type_resolve(first->tuple.items[i])->kind == TYPE_ARROW;
        text_printf(&text, is_function ? "(%s) -> " : "%s -> ", type_text(c, first->tuple.items[i]));
    }
    diag_hint(c->diagnostics, d, "a tuple is one argument; of arguments one after another the type is `%s%s`",
              text_string(&text), type_text(c, sig->arrow.to));
}

/* The definition's type against its sig's, where they were not made one on the way (infer_function). */
static void compare_with_sig(struct checker *c, const struct ast_decl *decl, const struct ast_decl *sig,
                             struct type *found, struct type *expected) {
    c->at = decl->name_span;
    c->reason = NULL;
    bool has_more = decl->parameters.count > count_arguments(expected);
    const char *own = has_more ? type_text(c, found) : NULL; /* before the sig's types go into it */
    if (subsume(c, found, expected))
        return;
    const struct failure f = c->failure;
    bool too_general = f.why == FAILED_RIGID || f.why == FAILED_PROMISE ||
                       (f.why == FAILED_CLASS && f.a->kind == TYPE_VARIABLE && f.a->variable->rigid);
    struct diagnostic *d;
    if (too_general)
        d = diag_error(c->diagnostics, DIAG_SIG_TOO_GENERAL, decl->name_span,
                       "the sig of `%s` promises more than its definition keeps", decl->name->text);
    else
        d = diag_error(c->diagnostics, DIAG_TYPE_MISMATCH, decl->name_span,
                       "the definition of `%s` does not have the type that its sig says", decl->name->text);
    diag_note(c->diagnostics, d, sig->signature->type->span, "the sig says `%s`", type_text(c, expected));
    diag_note(c->diagnostics, d, (struct span){0, 0}, "the definition has the type `%s`",
              own ? own : type_text(c, found));
    hint_sig_arguments(c, d, decl, expected);
}

static struct type **rigid_types(struct checker *c, const signature_variables *variables) {
    struct type **types = ARENA_ARRAY(c->arena, struct type *, variables->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < variables->count; i++)
        if (variables->at[i].type && variables->at[i].type->kind == TYPE_VARIABLE)
            types[count++] = variables->at[i].type;
    return types;
}

static void name_parameters(struct checker *c, struct core_global *global, const struct ast_decl *decl) {
    global->parameter_count = decl->parameters.count;
    global->parameter_names = ARENA_ARRAY(c->arena, const char *, decl->parameters.count + 1);
    for (size_t i = 0; i < decl->parameters.count; i++) {
        const struct ast_pattern *pattern = decl->parameters.at[i];
        while (pattern->kind == AST_PATTERN_TYPED)
            pattern = pattern->of;
        global->parameter_names[i] =
            pattern->kind == AST_PATTERN_NAME ? pattern->name->text : arena_printf(c->arena, "arg%zu", i);
    }
}

/* The levels that a function takes first: those it names, or, where it names none, those its sig
   does, as in the paper's `sig red : <lvl> -> …` and `fun red f arr = …`. */
static void take_levels(struct checker *c, struct function_parts *parts, const struct ast_decl *decl,
                        const struct ast_decl *sig) {
    parts->levels = decl->levels.at;
    parts->level_count = decl->levels.count;
    if (!sig || decl->kind != DECL_FUN || decl->levels.count)
        return;
    VEC(struct ast_level_binder) levels = {0};
    for (const struct ast_type *type = sig->signature->type; type->kind == AST_TYPE_LEVEL_ARROW; type = type->to)
        vec_push(c->arena, &levels, (struct ast_level_binder){type->level->name, type->level->span});
    parts->levels = levels.at;
    parts->level_count = levels.count;
    parts->has_levels_of_sig = true;
}

static struct scheme *scheme_of_definition(struct checker *c, const struct ast_decl *decl, struct core_global *global,
                                           struct type *expected, struct level *inner) {
    struct type *type = global->body->type;
    enum type_kind kind = type_resolve(type)->kind;
    if (global->kind == GLOBAL_KERNEL) {
        check_stored(c);
        level_propagate(c, 0);
        if (kind != TYPE_ERROR)
            check_kernel(c, global, decl, inner);
        return scheme_of_type(c, type);
    }
    if (expected)
        return generalise(c, expected, 0, true);
    if (global->kind == GLOBAL_FUN)
        return generalise(c, type, 0, true);
    if (global->kind == GLOBAL_VAL) /* a number that is computed once has one type */
        return generalise(c, type, 0, kind == TYPE_ARROW || kind == TYPE_LEVEL_ARROW);
    level_propagate(c, 0);
    return scheme_of_type(c, type);
}

static bool hides_prelude(const struct scope *scope, symbol name) {
    const struct global_entry *entry = scope->prelude ? map_get(scope->prelude->globals, name) : NULL;
    return entry && !entry->global->is_internal;
}

static struct global_entry *new_entry(struct checker *c, const struct ast_decl *decl, const struct ast_decl *sig) {
    struct core_global *global = ARENA_NEW(c->arena, struct core_global);
    struct global_entry *entry = ARENA_NEW(c->arena, struct global_entry);
    *global = (struct core_global){.kind = decl->kind == DECL_FUN      ? GLOBAL_FUN
                                           : decl->kind == DECL_KERNEL ? GLOBAL_KERNEL
                                           : decl->kind == DECL_PARAM  ? GLOBAL_PARAM
                                                                       : GLOBAL_VAL,
                                   .name = decl->name,
                                   .span = decl->name_span,
                                   .source = c->scope->file->source,
                                   .from_prelude = c->scope->is_prelude,
                                   .hides_prelude = hides_prelude(c->scope, decl->name)};
    const struct source *source = c->scope->file->source;
    global->is_internal = source->is_ours && syntax_is_internal(source, sig ? sig : decl);
    if (sig)
        note_place(
            c, (struct name_place){decl->name, sig->name_span, decl->name_span, global, PRIM_COUNT, NULL, NULL, false});
    note_place(
        c, (struct name_place){decl->name, decl->name_span, decl->name_span, global, PRIM_COUNT, NULL, NULL, false});
    entry->global = global;
    return entry;
}

/* Finds the type of a definition by its sig and its body, and reports where they differ. */
static void check_body(struct checker *c, struct global_entry *entry, const struct ast_decl *decl,
                       const struct ast_decl *sig) {
    struct core_global *global = entry->global;
    size_t errors = diag_error_count(c->diagnostics);
    signature_variables variables = {0};
    struct type *expected = NULL;
    c->depth = 1;
    if (sig) {
        expected = type_of_signature(c, sig->signature, &variables);
        if (diag_has_error_in(c->diagnostics, sig->span)) { /* it does not say what was meant */
            sig = NULL;
            expected = NULL;
        }
    }
    if (sig) {
        entry->sig_span = sig->span;
        entry->self_types = rigid_types(c, &variables);
        c->signature_scope = &variables;
    }
    global->scheme = scheme_of_type(c, expected ? expected : type_fresh(c, KIND_TYP, 0, decl->name_span));
    if (decl->kind == DECL_FUN) {
        entry->is_open = true;
        define(c, entry);
    }
    /* A kernel without parameters is no value: its body runs, at the level of its result. */
    c->ambient = decl->kind == DECL_KERNEL ? level_fresh(c, DOMAIN_AMBIENT) : level_constant(c, LEVEL_PURE);
    struct level *inner = NULL;
    if (decl->kind == DECL_VAL) {
        global->body = infer_expr(c, decl->body);
    } else {
        struct function_parts parts = {.parameters = decl->parameters.at,
                                       .parameter_count = decl->parameters.count,
                                       .body = decl->body,
                                       .span = decl->span,
                                       .sig_span = sig ? sig->signature->type->span : (struct span){0, 0}};
        take_levels(c, &parts, decl, sig);
        if (decl->kind == DECL_KERNEL && decl->levels.count)
            diag_error(c->diagnostics, DIAG_KERNEL_LEVELS, decl->levels.at[0].span,
                       "a kernel takes no levels: the level of its result says where it runs");
        if (decl->kind == DECL_KERNEL) {
            check_launch(c, global, decl);
            name_parameters(c, global, decl);
        }
        /* Where the sig has fewer arguments, its types are not those of the parameters. */
        bool has_fewer = expected && count_arguments(expected) < decl->parameters.count;
        global->body = infer_function(c, &parts, has_fewer ? NULL : expected, &inner);
    }
    struct type *found = global->body->type;
    if (diag_error_count(c->diagnostics) == errors) {
        if (expected)
            compare_with_sig(c, decl, sig, found, expected);
        else if (entry->is_open) {
            c->reason = callee_keep(c, &(const struct core){.kind = CORE_GLOBAL, .global.global = global});
            if (!subsume(c, found, global->scheme->type))
                report_failure(c, decl->name_span, found, global->scheme->type);
        }
    }
    c->depth = 0;
    struct scheme *scheme;
    if (diag_error_count(c->diagnostics) != errors)
        scheme = expected ? (c->pending.count = c->stored.count = 0, generalise(c, expected, 0, true))
                          : scheme_of_type(c, c->error_type);
    else
        scheme = scheme_of_definition(c, decl, global, expected, inner);
    global->scheme = scheme;
    finish_self_uses(c, entry);
    settle_scheme(c, scheme);
    settle_core(c, global->body);
    check_literals(c);
    c->pending.count = c->stored.count = 0;
    c->signature_scope = NULL;
    entry->is_open = false;
    if (diag_error_count(c->diagnostics) != errors && !expected)
        global->scheme = scheme_of_type(c, c->error_type);
}

static void check_definition(struct checker *c, const struct ast_decl *decl, const struct ast_decl *sig) {
    struct global_entry *entry = new_entry(c, decl, sig);
    c->at = decl->name_span;
    c->definition = decl;
    if (decl->kind == DECL_PARAM)
        check_param(c, entry->global, decl);
    else
        check_body(c, entry, decl, sig);
    if (decl->kind != DECL_FUN)
        define(c, entry);
    entry->global->index = (uint32_t)c->program->globals.count;
    vec_push(c->arena, &c->program->globals, entry->global);
}

/* ---- declarations ---- */

static struct type *declared_type(struct checker *c, struct synonym *synonym, signature_variables *parameters) {
    struct record *record = synonym->record;
    if (!record)
        return type_of_ast(c, synonym->decl->type, SIGNATURE_ANNOTATION, parameters);
    c->type_nodes = c->synonym_height = 0;
    c->reads_broken = false;
    record->parameter_count = parameters->count;
    record->parameters = ARENA_ARRAY(c->arena, struct type *, parameters->count + 1);
    for (size_t i = 0; i < parameters->count; i++)
        record->parameters[i] = parameters->at[i].type;
    record->declared = type_of_synonym(c, synonym, parameters);
    for (size_t i = 0; i < record->count; i++)
        note_place(c, (struct name_place){.name = record->fields[i],
                                          .span = record->field_spans[i],
                                          .definition = record->field_spans[i],
                                          .is_field = true,
                                          .primitive = PRIM_COUNT,
                                          .scheme = scheme_of_type(c, record->declared->tuple.items[i])});
    return record->declared;
}

static void declare_synonym(struct checker *c, const struct ast_decl *decl) {
    struct synonym *synonym = declare_type_name(c, decl);
    if (!synonym)
        return;
    /* Read once here, so that errors in it are reported even when it is never used. */
    signature_variables parameters = {0};
    for (size_t i = 0; i < decl->type_parameters.count; i++) {
        struct signature_variable parameter = {decl->type_parameters.at[i], type_fresh(c, KIND_TYP, 0, decl->name_span),
                                               NULL};
        for (size_t k = 0; k < i; k++)
            if (parameters.at[k].name == parameter.name)
                diag_error(c->diagnostics, DIAG_DUPLICATE_NAME, decl->name_span,
                           "the type `%s` has two parameters called `%s`", decl->name->text, parameter.name->text);
        vec_push(c->arena, &parameters, parameter);
    }
    size_t errors = diag_error_count(c->diagnostics);
    c->definition = decl;
    synonym->is_open = c->declares = true;
    if (decl->type->kind == AST_TYPE_RECORD)
        declare_record(c, synonym);
    struct type *type = declared_type(c, synonym, &parameters);
    synonym->is_open = c->declares = false;
    synonym->declared = decl->type_parameters.count ? NULL : type;
    synonym->nodes = c->type_nodes;
    synonym->height = c->synonym_height;
    if (parameters.count > decl->type_parameters.count && diag_error_count(c->diagnostics) == errors) {
        const char *free = parameters.at[decl->type_parameters.count].name->text;
        struct diagnostic *d =
            diag_error(c->diagnostics, DIAG_UNBOUND_TYPE, decl->type->span,
                       "the type `%s` uses `%s`, which is not among its parameters", decl->name->text, free);
        struct text written;
        text_init(&written, c->arena);
        bool is_level = false;
        for (size_t i = 0; i < parameters.count; i++) {
            text_printf(&written, " %s", parameters.at[i].name->text);
            is_level |= parameters.at[i].level != NULL;
        }
        if (is_level)
            diag_hint(c->diagnostics, d, "a level is `thread`, `warp`, `block` or `grid` here, or bound by `<l> -> …`");
        else
            diag_hint(c->diagnostics, d, "write `type %s%s = …`", decl->name->text, text_string(&written));
    }
    synonym->is_broken =
        c->reads_broken || decl->type->kind == AST_TYPE_ERROR || diag_error_count(c->diagnostics) != errors;
}

static bool takes_sig(const struct ast_decl *decl) {
    return decl->kind == DECL_FUN || decl->kind == DECL_VAL || decl->kind == DECL_KERNEL;
}

/* A sig and what follows it: an error unless that is its definition. */
static bool sig_belongs(struct checker *c, const struct ast_decl *sig, const struct ast_decl *next) {
    if (next && takes_sig(next) && next->name == sig->name)
        return true;
    if (next && takes_sig(next)) {
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_SIG_NAME, sig->name_span,
                                          "this sig is for `%s`, but the definition after it is of `%s`",
                                          sig->name->text, next->name->text);
        diag_note(c->diagnostics, d, next->name_span, "the definition");
        return false;
    }
    struct diagnostic *d = diag_error(c->diagnostics, DIAG_SIG_ALONE, sig->name_span,
                                      "the sig of `%s` has no definition after it", sig->name->text);
    if (next)
        diag_note(c->diagnostics, d, next->name_span, "this comes instead");
    diag_hint(c->diagnostics, d, "a sig stands directly before its `fun`, `val` or `kernel`");
    return false;
}

static void check_module(struct checker *c, const struct ast_file *file) {
    for (size_t i = 0; i < file->decls.count; i++) {
        const struct ast_decl *decl = file->decls.at[i];
        const struct ast_decl *next = i + 1 < file->decls.count ? file->decls.at[i + 1] : NULL;
        switch (decl->kind) {
        case DECL_SIG:
            if (sig_belongs(c, decl, next))
                check_definition(c, file->decls.at[++i], decl);
            break;
        case DECL_FUN:
        case DECL_VAL:
        case DECL_KERNEL:
        case DECL_PARAM: check_definition(c, decl, NULL); break;
        case DECL_TYPE: declare_synonym(c, decl); break;
        case DECL_DATA: declare_data(c, decl); break;
        case DECL_IMPORT: break; /* the driver's */
        }
    }
}

/* The params of the file to compile hide others of their names from -D. */
static void aim_settings(const struct ast_file *file, struct param_setting *settings, size_t count) {
    for (size_t i = 0; i < count; i++) {
        settings[i].only = NULL;
        for (size_t k = 0; k < file->decls.count; k++) {
            const struct ast_decl *decl = file->decls.at[k];
            if (decl->kind == DECL_PARAM && strcmp(decl->name->text, settings[i].name) == 0)
                settings[i].only = file;
        }
    }
}

struct program *types_check(struct arena *arena, struct symbols *symbols, const struct module *const *modules,
                            size_t count, struct param_setting *settings, size_t setting_count,
                            const struct library *library, name_places *places, struct diagnostics *diagnostics) {
    struct checker *c = checker_new(arena, symbols, diagnostics);
    c->places = places;
    c->settings = settings;
    c->setting_count = setting_count;
    c->library = library;
    if (count > 0)
        aim_settings(modules[count - 1]->file, settings, setting_count);
    struct scope prelude = {.globals = map_new(arena), .synonyms = map_new(arena), .is_prelude = true};
    struct map *scopes = map_new(arena);
    for (size_t i = 0; i < count; i++) {
        const struct module *module = modules[i];
        struct scope *scope = ARENA_NEW(arena, struct scope);
        map_set(scopes, module, scope);
        *scope = prelude;
        scope->file = module->file;
        if (!module->is_prelude) {
            scope->is_prelude = false;
            scope->globals = map_new(arena);
            scope->synonyms = map_new(arena);
            scope->prelude = &prelude;
        }
        scope->imports = ARENA_ARRAY(arena, const struct scope *, module->import_count + 1);
        for (size_t j = 0; j < module->import_count; j++) {
            const struct scope *import = map_get(scopes, module->imports[j]);
            if (import && !module->is_prelude)
                scope->imports[scope->import_count++] = import;
        }
        c->scope = scope;
        check_module(c, module->file);
    }
    return c->program;
}

const struct scheme *types_of_primitive(struct arena *arena, struct symbols *symbols, struct diagnostics *diagnostics,
                                        enum primitive primitive) {
    return primitive_scheme(checker_new(arena, symbols, diagnostics), primitive);
}
