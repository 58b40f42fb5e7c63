/* Alternatives (type.h, note [alternatives]): their declarations, the tuples that they are, and their constructors,
   which are functions like others. */
#include <ctype.h>

#include "support/edit.h"
#include "types/checker.h"

bool type_has_alternatives(struct type *type) {
    type = type_resolve(type);
    if (type->kind == TYPE_PULL || type->kind == TYPE_PUSH)
        return type_has_alternatives(type->array.element);
    if (type->kind != TYPE_TUPLE)
        return false;
    bool found = type->tuple.record && type->tuple.record->constructor_count;
    for (size_t i = 0; !found && i < type->tuple.count; i++)
        found = type_has_alternatives(type->tuple.items[i]);
    return found;
}

struct type *data_fresh(struct checker *c, const struct record *record, struct span span, struct type **payloads) {
    struct synonym *synonym = (struct synonym *)(uintptr_t)record->synonym;
    signature_variables parameters = {0};
    for (size_t i = 0; i < record->parameter_count; i++) {
        symbol name = synonym->decl->type_parameters.at[i];
        vec_push(c->arena, &parameters, ((struct signature_variable){name, type_fresh(c, KIND_BT, 0, span), NULL}));
    }
    c->type_nodes = 0;
    return type_of_data(c, synonym, &parameters, payloads);
}

/* ---- declarations ---- */

/* The first slot behind the last one of this constructor that has the same type and that it can share, or a new one. */
static size_t slot_for(struct checker *c, type_leaves *slots, size_t from, struct type *leaf) {
    for (size_t i = from; i < slots->count; i++) {
        const struct type *slot = slots->at[i];
        bool is_same = slot->kind == leaf->kind && (slot->kind == TYPE_BASE       ? slot->base == leaf->base
                                                    : slot->kind == TYPE_VARIABLE ? slot->variable == leaf->variable
                                                                                  : false);
        if (is_same)
            return i;
    }
    vec_push(c->arena, slots, leaf);
    return slots->count - 1;
}

static void lay_out(struct checker *c, struct record *record, struct constructor *constructors) {
    type_leaves slots = {0};
    vec_push(c->arena, &slots, c->base_types[BASE_U8]);
    for (size_t i = 0; i < record->constructor_count; i++) {
        struct constructor *constructor = &constructors[i];
        type_leaves leaves = {0};
        if (constructor->of)
            type_collect_leaves(c, constructor->of, constructor->of, &leaves);
        constructor->slots = ARENA_ARRAY(c->arena, size_t, leaves.count + 1);
        constructor->slot_count = leaves.count;
        for (size_t k = 0, from = 1; k < leaves.count; k++, from++)
            constructor->slots[k] = from = slot_for(c, &slots, from, leaves.at[k]);
    }
    record->count = slots.count;
    record->declared = type_tuple(c, slots.at, slots.count);
    record->declared->tuple.record = record;
}

static void report_alternatives(struct checker *c, struct span span, const char *message, const char *hint) {
    diag_hint(c->diagnostics, diag_error(c->diagnostics, DIAG_ALTERNATIVES, span, "%s", message), "%s", hint);
}

static bool check_names(struct checker *c, const struct ast_decl *decl) {
    enum { MOST = 256 };
    size_t errors = diag_error_count(c->diagnostics);
    for (size_t i = 0; i < decl->constructors.count; i++) {
        const struct ast_constructor *one = &decl->constructors.at[i];
        if (!isupper((unsigned char)one->name->text[0]))
            report_alternatives(
                c, one->span,
                arena_printf(c->arena, "the constructor `%s` does not begin with a capital letter", one->name->text),
                "so a pattern says which of its names are constructors, and which it binds");
        for (size_t k = 0; k < i; k++)
            if (decl->constructors.at[k].name == one->name) {
                struct diagnostic *d =
                    diag_error(c->diagnostics, DIAG_ALTERNATIVES, one->span, "`%s` has two constructors called `%s`",
                               decl->name->text, one->name->text);
                diag_note(c->diagnostics, d, decl->constructors.at[k].span, "the first one");
                break;
            }
    }
    if (decl->constructors.count > MOST)
        report_alternatives(c, decl->name_span, "there are more than 256 constructors here",
                            "the tag of a value is a `u8`");
    return diag_error_count(c->diagnostics) == errors;
}

/* A scalar, a value of a parameter's type, or what is in a tuple of such, in what a constructor is applied to. */
static struct core *leaf_of(struct checker *c, struct type *declared, struct core *value, size_t *left) {
    declared = type_resolve(declared);
    struct type *type = type_resolve(value->type);
    if (declared->kind != TYPE_TUPLE)
        return (*left)-- == 0 ? value : NULL;
    struct core *found = NULL;
    for (size_t i = 0; !found && i < declared->tuple.count; i++) {
        struct core *part = core_new(c, CORE_SELECT, value->span, type->tuple.items[i]);
        part->select.tuple = value;
        part->select.index = i;
        found = leaf_of(c, declared->tuple.items[i], part, left);
    }
    return found;
}

static struct core *made_value(struct checker *c, const struct record *record, size_t index, struct type *type,
                               struct core *argument, struct span span) {
    const struct constructor *constructor = &record->constructors[index];
    struct core *core = core_new(c, CORE_TUPLE, span, type);
    core->sequence.count = record->count;
    core->sequence.items = ARENA_ARRAY(c->arena, struct core *, record->count);
    struct core *tag = core->sequence.items[0] = core_new(c, CORE_LITERAL, span, type->tuple.items[0]);
    tag->literal.magnitude = index;
    for (size_t i = 1; i < record->count; i++)
        core->sequence.items[i] = core_new(c, CORE_ZERO, span, type->tuple.items[i]);
    for (size_t k = 0; k < constructor->slot_count; k++) {
        size_t left = k;
        core->sequence.items[constructor->slots[k]] = leaf_of(c, constructor->of, argument, &left);
    }
    return core;
}

static void define_constructor(struct checker *c, const struct record *record, size_t index) {
    const struct constructor *constructor = &record->constructors[index];
    struct core_global *global = ARENA_NEW(c->arena, struct core_global);
    struct global_entry *entry = ARENA_NEW(c->arena, struct global_entry);
    *global = (struct core_global){.kind = constructor->of ? GLOBAL_FUN : GLOBAL_VAL,
                                   .name = constructor->name,
                                   .span = constructor->span,
                                   .source = c->scope->file->source,
                                   .from_prelude = c->scope->is_prelude,
                                   .alternatives = record,
                                   .constructor = index};
    entry->global = global;
    c->depth = 1;
    struct type **payloads = ARENA_ARRAY(c->arena, struct type *, record->constructor_count);
    struct type *type = data_fresh(c, record, constructor->span, payloads), *whole = type;
    if (constructor->of) {
        struct core_local *parameter = fresh_local(c, symbol_of(c->symbols, "x"));
        struct core *argument = core_new(c, CORE_LOCAL, constructor->span, payloads[index]);
        argument->local.local = parameter;
        whole = type_arrow(c, payloads[index], type, level_constant(c, LEVEL_PURE));
        global->body = core_new(c, CORE_LAMBDA, constructor->span, whole);
        global->body->lambda.parameter = parameter;
        global->body->lambda.body = made_value(c, record, index, type, argument, constructor->span);
    } else {
        global->body = made_value(c, record, index, type, NULL, constructor->span);
    }
    c->depth = 0;
    global->scheme = generalise(c, whole, c->pending.count, true);
    settle_scheme(c, global->scheme);
    settle_core(c, global->body);
    note_place(c, (struct name_place){constructor->name, constructor->span, constructor->span, global, PRIM_COUNT, NULL,
                                      NULL, false});
    map_set(c->scope->globals, constructor->name, entry);
    global->index = (uint32_t)c->program->globals.count;
    vec_push(c->arena, &c->program->globals, global);
}

/* Reads the type of a constructor's argument, which must consist of scalars. */
static struct type *read_payload(struct checker *c, const struct ast_constructor *one,
                                 signature_variables *parameters) {
    struct type *of = one->of ? type_of_ast(c, one->of, SIGNATURE_ANNOTATION, parameters) : NULL;
    if (!of || type_require(c, of, KIND_BT, 0))
        return of;
    report_alternatives(c, one->of->span,
                        arena_printf(c->arena,
                                     "`%s` cannot be applied to `%s`: a value of alternatives consists of "
                                     "scalars",
                                     one->name->text, type_text(c, of)),
                        "numbers, tuples, records and other alternatives of these can be in it; arrays and functions "
                        "are chosen by `if`");
    return of;
}

void declare_data(struct checker *c, const struct ast_decl *decl) {
    struct synonym *synonym = declare_type_name(c, decl);
    if (!synonym)
        return;
    size_t errors = diag_error_count(c->diagnostics), count = decl->constructors.count;
    struct record *record = ARENA_NEW(c->arena, struct record);
    struct constructor *constructors = ARENA_ARRAY(c->arena, struct constructor, count);
    *record = (struct record){.name = decl->name,
                              .span = decl->name_span,
                              .synonym = synonym,
                              .constructors = constructors,
                              .constructor_count = count,
                              .parameter_count = decl->type_parameters.count};
    signature_variables parameters = {0};
    record->parameters = ARENA_ARRAY(c->arena, struct type *, record->parameter_count + 1);
    for (size_t i = 0; i < record->parameter_count; i++) {
        record->parameters[i] = type_fresh(c, KIND_BT, 0, decl->name_span);
        vec_push(c->arena, &parameters,
                 ((struct signature_variable){decl->type_parameters.at[i], record->parameters[i], NULL}));
    }
    c->definition = decl;
    synonym->is_open = true;
    (void)check_names(c, decl);
    for (size_t i = 0; i < count; i++) {
        const struct ast_constructor *one = &decl->constructors.at[i];
        constructors[i] = (struct constructor){.name = one->name, .span = one->span};
        constructors[i].of = read_payload(c, one, &parameters);
    }
    synonym->is_open = false;
    if (parameters.count > record->parameter_count && diag_error_count(c->diagnostics) == errors) {
        const char *free = parameters.at[record->parameter_count].name->text;
        struct diagnostic *d =
            diag_error(c->diagnostics, DIAG_UNBOUND_TYPE, decl->name_span,
                       "the type `%s` uses `%s`, which is not among its parameters", decl->name->text, free);
        struct text names;
        text_init(&names, c->arena);
        for (size_t i = 0; i < decl->type_parameters.count; i++)
            text_printf(&names, " %s", decl->type_parameters.at[i]->text);
        diag_hint(c->diagnostics, d, "parameters follow the name: `data %s%s %s = …`", decl->name->text,
                  text_string(&names), free);
    }
    synonym->is_broken = c->reads_broken || diag_error_count(c->diagnostics) != errors;
    if (synonym->is_broken)
        return;
    lay_out(c, record, constructors);
    synonym->record = record;
    for (size_t i = 0; i < count; i++)
        define_constructor(c, record, i);
}

/* ---- uses ---- */

static struct core *payload_part(struct checker *c, struct type *declared, struct type *type, struct core *value,
                                 const struct constructor *constructor, size_t *next) {
    declared = type_resolve(declared);
    type = type_resolve(type);
    if (declared->kind != TYPE_TUPLE) {
        struct core *core = core_new(c, CORE_SELECT, value->span, type);
        core->select.tuple = value;
        core->select.index = constructor->slots[(*next)++];
        return core;
    }
    struct core *core = core_new(c, CORE_TUPLE, value->span, type);
    core->sequence.count = declared->tuple.count;
    core->sequence.items = ARENA_ARRAY(c->arena, struct core *, declared->tuple.count);
    for (size_t i = 0; i < declared->tuple.count; i++)
        core->sequence.items[i] =
            payload_part(c, declared->tuple.items[i], type->tuple.items[i], value, constructor, next);
    return core;
}

struct core *data_payload(struct checker *c, const struct constructor *constructor, struct type *payload,
                          struct core *value) {
    size_t next = 0;
    return payload_part(c, constructor->of, payload, value, constructor, &next);
}

static const struct record *known_data(struct type *type) {
    type = type_resolve(type);
    const struct record *record = type->kind == TYPE_TUPLE ? type->tuple.record : NULL;
    return record && record->constructor_count ? record : NULL;
}

const struct record *data_find(struct checker *c, symbol name, struct type *type, size_t *index) {
    const struct record *record = known_data(type);
    for (size_t i = 0; record && i < record->constructor_count; i++)
        if (record->constructors[i].name == name) {
            *index = i;
            return record;
        }
    const struct global_entry *entry = map_get(c->locals, name) ? NULL : find_global(c->scope, name);
    if (!entry || !entry->global->alternatives)
        return NULL;
    *index = entry->global->constructor;
    return entry->global->alternatives;
}

void data_note(struct checker *c, const struct constructor *constructor, struct span pattern, struct type *type) {
    const struct global_entry *entry = find_global(c->scope, constructor->name);
    const struct core_global *global =
        entry && entry->global->span.begin == constructor->span.begin ? entry->global : NULL;
    struct span span = {pattern.begin, pattern.begin + (uint32_t)constructor->name->length};
    note_place(c,
               (struct name_place){constructor->name, span, constructor->span, global, PRIM_COUNT, NULL, type, false});
}

static void offer_constructors(struct suggestion *suggestion, const struct scope *scope) {
    for (size_t i = 0; i < map_count(scope->globals); i++) {
        const struct global_entry *entry = map_entry(scope->globals, i).value;
        if (entry->global->alternatives)
            suggestion_offer(suggestion, entry->global->name->text);
    }
}

void data_report_unknown(struct checker *c, symbol name, struct span span, struct type *type) {
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_CONSTRUCTOR, span, "no constructor is called `%s` here", name->text);
    if (!isupper((unsigned char)name->text[0])) {
        diag_hint(c->diagnostics, d,
                  "a parameter with its type is `(x : int)`; constructors begin with a capital letter");
        return;
    }
    const struct record *record = known_data(type);
    struct suggestion suggestion = suggestion_for(name->text);
    struct text names;
    text_init(&names, c->arena);
    for (size_t i = 0; record && i < record->constructor_count; i++) {
        suggestion_offer(&suggestion, record->constructors[i].name->text);
        text_printf(&names, "%s`%s`",
                    i == 0                               ? ""
                    : i + 1 == record->constructor_count ? " and "
                                                         : ", ",
                    record->constructors[i].name->text);
    }
    offer_constructors(&suggestion, c->scope);
    for (size_t i = 0; i < c->scope->import_count; i++)
        offer_constructors(&suggestion, c->scope->imports[i]);
    if (suggestion.best)
        diag_hint(c->diagnostics, d, "did you mean `%s`?", suggestion.best);
    else if (record)
        diag_hint(c->diagnostics, d, "those of `%s` are %s", record->name->text, text_string(&names));
    else
        diag_hint(c->diagnostics, d, "constructors are declared: `data shape = Circle float | Empty`");
}
