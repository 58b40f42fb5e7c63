/* Types and levels as written to types: sigs (variables are rigid) and annotations (variables are those of the
   enclosing sig, or unknowns). Ambients are never written: each place gets a fresh one. */
#include <string.h>
#include <strings.h>

#include "support/edit.h"
#include "types/checker.h"

static struct type *read_type(struct checker *c, const struct ast_type *ast, enum signature_mode mode,
                              signature_variables *variables);

static struct signature_variable *find_variable(signature_variables *variables, symbol name, bool is_level) {
    for (size_t i = 0; variables && i < variables->count; i++)
        if (variables->at[i].name == name && (variables->at[i].level != NULL) == is_level)
            return &variables->at[i];
    return NULL;
}

/* ---- levels ---- */

/* The level that a user meant: `<blok>` is misspelt, `<l>` and `<block1>` are variables, which gives LEVEL_PURE. */
static enum level_value nearest_level(symbol name) {
    struct suggestion suggestion = suggestion_for(name->text);
    enum level_value nearest = LEVEL_PURE;
    if (name->length && strchr("0123456789'", name->text[name->length - 1]))
        return LEVEL_PURE;
    for (int value = LEVEL_THREAD; value < LEVEL_VALUE_COUNT; value++) {
        suggestion_offer(&suggestion, level_names[value]);
        if (suggestion.best == level_names[value])
            nearest = (enum level_value)value;
    }
    return nearest;
}

static struct level *named_level(struct checker *c, const struct ast_level *ast, enum signature_mode mode,
                                 signature_variables *variables) {
    const char *text = ast->name->text;
    if (text[0] == 'Z' && !text[1])
        return level_constant(c, LEVEL_THREAD);
    struct level_binding *binding = mode == SIGNATURE_RIGID ? NULL : map_get(c->levels, ast->name);
    if (binding) {
        binding->is_used = true;
        return binding->level;
    }
    for (int value = LEVEL_THREAD; value < LEVEL_VALUE_COUNT; value++)
        if (strcmp(text, level_names[value]) == 0)
            return level_constant(c, (enum level_value)value);
    struct signature_variable *known = find_variable(variables, ast->name, true);
    if (!known && mode == SIGNATURE_ANNOTATION)
        known = find_variable(c->signature_scope, ast->name, true);
    if (known)
        return known->level;
    enum level_value nearest = nearest_level(ast->name);
    if (mode == SIGNATURE_USE || nearest != LEVEL_PURE) {
        report_unbound_level(c, ast->name, ast->span);
        return nearest != LEVEL_PURE ? level_constant(c, nearest) : level_fresh(c, DOMAIN_PROPER);
    }
    bool is_rigid = mode == SIGNATURE_RIGID;
    struct level *level = is_rigid ? level_rigid(c, ast->name, ast->span) : level_fresh(c, DOMAIN_PROPER);
    vec_push(c->arena, variables, (struct signature_variable){ast->name, NULL, level});
    return level;
}

struct level *level_of_ast(struct checker *c, const struct ast_level *ast, enum signature_mode mode,
                           signature_variables *variables) {
    int steps = 0;
    const struct ast_level *at = ast;
    for (; at->kind == AST_LEVEL_SUCCESSOR; at = at->of)
        steps++;
    struct level *level = named_level(c, at, mode, variables);
    if (steps == 0)
        return level;
    struct level *above = steps < LEVEL_VALUE_COUNT ? level_shifted(c, level_view(level), steps) : NULL;
    if (above)
        return above;
    diag_error(c->diagnostics, DIAG_UNBOUND_LEVEL, ast->span, "there is no level above `grid`");
    return level_fresh(c, DOMAIN_PROPER);
}

/* ---- names of types ---- */

/* Names of array types in other languages. */
static bool names_arrays(const char *name) {
    static const char *const foreign[] = {"array", "Array", "list", "List", "vector", "Vector", "arr", "vec"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(foreign[i], name) == 0)
            return true;
    return false;
}

/* Names of types in other languages; NULL: FCL has nothing of the kind. Names of one or two letters are variables. */
static const struct {
    const char *name, *here;
} foreign_types[] = {
    {"Int", "int"},      {"integer", "int"},   {"Integer", "int"},    {"int32", "int"},        {"int32_t", "int"},
    {"Int32", "int"},    {"signed", "int"},    {"Float", "float"},    {"float32", "float"},    {"float32_t", "float"},
    {"real", "float"},   {"Double", "double"}, {"float64", "double"}, {"float64_t", "double"}, {"Bool", "bool"},
    {"boolean", "bool"}, {"Boolean", "bool"},  {"_Bool", "bool"},     {"char", "u8"},          {"schar", "i8"},
    {"int8", "i8"},      {"int8_t", "i8"},     {"byte", "u8"},        {"uchar", "u8"},         {"uint8", "u8"},
    {"uint8_t", "u8"},   {"short", "i16"},     {"int16", "i16"},      {"int16_t", "i16"},      {"ushort", "u16"},
    {"uint16", "u16"},   {"uint16_t", "u16"},  {"uint", "u32"},       {"unsigned", "u32"},     {"uint32", "u32"},
    {"uint32_t", "u32"}, {"long", "i64"},      {"int64", "i64"},      {"int64_t", "i64"},      {"Int64", "i64"},
    {"size_t", "i64"},   {"ssize_t", "i64"},   {"ptrdiff_t", "i64"},  {"usize", "u64"},        {"isize", "i64"},
    {"ulong", "u64"},    {"uint64", "u64"},    {"uint64_t", "u64"},   {"i128", NULL},          {"u128", NULL},
    {"Half", "f16"},     {"fp16", "f16"},      {"float16", "f16"},    {"_Float16", "f16"},     {"bfloat16", "bf16"},
    {"bfloat", "bf16"},  {"tf32", NULL},       {"float8", NULL},      {"fp8", NULL},           {"f8", NULL},
    {"f128", NULL},      {"string", NULL},     {"String", NULL},      {"str", NULL},           {"void", NULL},
    {"unit", NULL},
};

/* Has what is being checked no type variables? */
static bool in_kernel(const struct checker *c) { return c->definition && c->definition->kind == DECL_KERNEL; }

static size_t find_foreign_type(const char *name) {
    size_t i = 0;
    while (i < sizeof foreign_types / sizeof *foreign_types && strcmp(foreign_types[i].name, name) != 0)
        i++;
    return i;
}

static bool is_foreign_type(const char *name) {
    return find_foreign_type(name) < sizeof foreign_types / sizeof *foreign_types;
}

static void hint_foreign_type(struct checker *c, struct diagnostic *d, const char *name) {
    const char *here = foreign_types[find_foreign_type(name)].here;
    if (here)
        diag_hint(c->diagnostics, d, "the name here is `%s`", here);
    else if (strcasecmp(name, "string") == 0 || strcmp(name, "str") == 0)
        diag_hint(c->diagnostics, d, "a text is an array of its bytes: `[u8]`");
    else if (strcmp(name, "void") == 0 || strcmp(name, "unit") == 0)
        diag_hint(c->diagnostics, d, "everything gives a value: there is no type of nothing");
    else
        diag_hint(c->diagnostics, d, "the types of numbers are i8 to i64, u8 to u64, f16, bf16, `float` and `double`");
}

/* The element of `float4` and the like, types of CUDA and OpenCL; NULL: it is none of them. */
static const char *vector_element(const char *name) {
    size_t length = strlen(name);
    if (length < 2 || name[length - 1] < '2' || name[length - 1] > '4')
        return NULL;
    for (int i = 0; i < BASE_COUNT; i++)
        if (strlen(base_info[i].name) + 1 == length && strncmp(base_info[i].name, name, length - 1) == 0)
            return base_info[i].name;
    for (size_t i = 0; i < sizeof foreign_types / sizeof *foreign_types; i++)
        if (strlen(foreign_types[i].name) + 1 == length && strncmp(foreign_types[i].name, name, length - 1) == 0)
            return foreign_types[i].here;
    return NULL;
}

static void hint_vector(struct checker *c, struct diagnostic *d, const char *name) {
    struct text text;
    text_init(&text, c->arena);
    for (char at = '0', count = name[strlen(name) - 1]; at < count; at++)
        text_printf(&text, "%s%s", at > '0' ? ", " : "", vector_element(name));
    diag_hint(c->diagnostics, d, "there are no vectors of a few numbers, but tuples, whose type is `(%s)`",
              text_string(&text));
}

void report_unbound_type(struct checker *c, symbol name, struct span span) {
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_UNBOUND_TYPE, span, "no type is called `%s` here", name->text);
    struct suggestion suggestion = suggestion_for(name->text);
    const char *use = NULL, *file = c->library ? c->library->file_of_type(c->library->context, name, &use) : NULL;
    for (int i = 0; i < BASE_COUNT; i++)
        suggestion_offer(&suggestion, base_info[i].name);
    for (size_t i = 0; i < map_count(c->scope->synonyms); i++)
        suggestion_offer(&suggestion, ((symbol)map_entry(c->scope->synonyms, i).key)->text);
    const struct ast_decl *later = defined_later(c, name, span);
    if (later && later->kind == DECL_TYPE) {
        diag_note(c->diagnostics, d, later->name_span, "`%s` is defined here, after its use", name->text);
        diag_hint(c->diagnostics, d, "names are defined before they are used: move the definition up");
    } else if (class_of_name(name->text))
        diag_hint(c->diagnostics, d, "a class of types stands before `=>`: `%s a => a -> a`", name->text);
    else if (names_arrays(name->text))
        diag_hint(c->diagnostics, d, "the type of arrays of `a` is written `[a]`");
    else if (is_foreign_type(name->text))
        hint_foreign_type(c, d, name->text);
    else if (file && strcmp(use, name->text) != 0)
        diag_hint(c->diagnostics, d, "`%s` is in the library: `import \"%s\"`, and there it is `%s`, for example",
                  name->text, file, use);
    else if (file)
        diag_hint(c->diagnostics, d, "`%s` is in the library: `import \"%s\"`", name->text, file);
    else if (vector_element(name->text))
        hint_vector(c, d, name->text);
    else if (suggestion.best)
        diag_hint(c->diagnostics, d, "did you mean `%s`?", suggestion.best);
    else if (in_kernel(c))
        diag_hint(c->diagnostics, d, "a kernel has one type, without variables: `(x : float)`, or `type %s = …` before",
                  name->text);
}

static struct type *unknown_type(struct checker *c, const struct ast_type *ast) {
    report_unbound_type(c, ast->name, ast->span);
    return c->error_type;
}

/* Was the variable meant for one? Names of one or two letters are, and those behind a mark. */
bool is_meant_as_variable(symbol name) { return name->length < 3 || name->text[0] == '\''; }

/* `flaot` is a misspelt type, `a` and `elem` are variables. */
static bool looks_misspelt(const struct checker *c, symbol name) {
    struct suggestion suggestion = suggestion_for(name->text);
    if (name->length < 3)
        return false;
    for (int i = 0; i < BASE_COUNT; i++)
        if (strlen(base_info[i].name) >= 3)
            suggestion_offer(&suggestion, base_info[i].name);
    for (size_t i = 0; i < map_count(c->scope->synonyms); i++)
        suggestion_offer(&suggestion, ((symbol)map_entry(c->scope->synonyms, i).key)->text);
    bool is_near = suggestion.best && suggestion.distance <= 2 && name->length > suggestion.distance + 2;
    return is_near || is_foreign_type(name->text) || vector_element(name->text);
}

static struct type *variable_type(struct checker *c, const struct ast_type *ast, enum signature_mode mode,
                                  signature_variables *variables) {
    struct signature_variable *known = find_variable(variables, ast->name, false);
    if (!known && mode == SIGNATURE_ANNOTATION)
        known = find_variable(c->signature_scope, ast->name, false);
    if (known)
        return known->type;
    if (ast->kind == AST_TYPE_NAME && ast->name->text[0] != '\'' && looks_misspelt(c, ast->name))
        return unknown_type(c, ast);
    if (mode == SIGNATURE_RIGID && in_kernel(c) && !is_meant_as_variable(ast->name)) {
        vec_push(c->arena, variables, (struct signature_variable){ast->name, c->error_type, NULL});
        return unknown_type(c, ast);
    }
    struct type *type = type_fresh(c, KIND_TYP, 0, ast->span);
    map_set(c->type_names, ast->name, (void *)(uintptr_t)ast);
    type->variable->name = ast->name;
    type->variable->rigid = mode == SIGNATURE_RIGID;
    vec_push(c->arena, variables, (struct signature_variable){ast->name, type, NULL});
    return type;
}

void type_collect_leaves(struct checker *c, struct type *declared, struct type *type, type_leaves *leaves) {
    declared = type_resolve(declared);
    type = type_resolve(type);
    if (declared->kind != TYPE_TUPLE || type->kind != TYPE_TUPLE) {
        vec_push(c->arena, leaves, type);
        return;
    }
    for (size_t i = 0; i < declared->tuple.count; i++)
        type_collect_leaves(c, declared->tuple.items[i], type->tuple.items[i], leaves);
}

struct type *type_of_data(struct checker *c, struct synonym *synonym, signature_variables *parameters,
                          struct type **payloads) {
    const struct record *record = synonym->record;
    const struct scope *scope = c->scope;
    signature_variables *enclosing = c->signature_scope;
    c->scope = synonym->scope;
    c->signature_scope = NULL;
    synonym->is_open = true;
    struct type **items = ARENA_ARRAY(c->arena, struct type *, record->count);
    items[0] = c->base_types[BASE_U8];
    for (size_t i = 0; i < record->constructor_count; i++) {
        const struct constructor *constructor = &record->constructors[i];
        const struct ast_type *written = synonym->decl->constructors.at[i].of;
        payloads[i] = written ? read_type(c, written, SIGNATURE_ANNOTATION, parameters) : NULL;
        if (!written)
            continue;
        type_leaves leaves = {0};
        type_collect_leaves(c, constructor->of, payloads[i], &leaves);
        for (size_t k = 0; k < constructor->slot_count && k < leaves.count; k++)
            items[constructor->slots[k]] = leaves.at[k];
    }
    synonym->is_open = false;
    c->scope = scope;
    c->signature_scope = enclosing;
    struct type *type = type_tuple(c, items, record->count);
    type->tuple.record = record;
    return type;
}

struct type *type_of_synonym(struct checker *c, struct synonym *synonym, signature_variables *parameters) {
    if (synonym->record && synonym->record->constructor_count)
        return type_of_data(c, synonym, parameters,
                            ARENA_ARRAY(c->arena, struct type *, synonym->record->constructor_count));
    const struct ast_type *written = synonym->decl->type;
    const struct scope *scope = c->scope;
    signature_variables *enclosing = c->signature_scope;
    c->scope = synonym->scope;
    c->signature_scope = NULL;
    synonym->is_open = true;
    c->synonym_depth++;
    struct type *type;
    if (synonym->record) {
        struct type **items = ARENA_ARRAY(c->arena, struct type *, written->items.count);
        for (size_t i = 0; i < written->items.count; i++)
            items[i] = read_type(c, written->items.at[i], SIGNATURE_ANNOTATION, parameters);
        type = type_tuple(c, items, written->items.count);
        type->tuple.record = synonym->record;
    } else {
        type = read_type(c, written, SIGNATURE_ANNOTATION, parameters);
    }
    c->synonym_depth--;
    synonym->is_open = false;
    c->scope = scope;
    c->signature_scope = enclosing;
    return type;
}

/* A synonym means its right-hand side, read where it was declared with its parameters bound. */
static struct type *expand_synonym(struct checker *c, const struct ast_type *ast, struct synonym *synonym,
                                   enum signature_mode mode, signature_variables *variables) {
    const struct ast_decl *decl = synonym->decl;
    if (synonym->is_broken) {
        c->reads_broken = true;
        return c->error_type;
    }
    if (ast->items.count != decl->type_parameters.count) {
        struct diagnostic *d =
            diag_error(c->diagnostics, DIAG_TYPE_ARGUMENTS, ast->span,
                       "the type `%s` takes %zu argument%s, but has %zu here", ast->name->text,
                       decl->type_parameters.count, decl->type_parameters.count == 1 ? "" : "s", ast->items.count);
        diag_note(c->diagnostics, d, synonym->span, "`%s` is declared here", ast->name->text);
        return c->error_type;
    }
    if (synonym->is_open) {
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_TYPE_RECURSIVE, ast->span,
                                          "the type `%s` is defined by itself", ast->name->text);
        diag_note(c->diagnostics, d, synonym->span,
                  decl->kind == DECL_DATA ? "a value of alternatives has a fixed number of scalars; this one would not"
                                          : "`type` gives a name to a type that could be written out;"
                                            " this one would never end");
        synonym->is_broken = true;
        return c->error_type;
    }
    unsigned depth = c->synonym_depth + 1 + (c->declares ? synonym->height : 0);
    if (depth > c->synonym_height)
        c->synonym_height = depth;
    if (depth > SYNONYM_DEPTH_LIMIT) {
        c->type_nodes = TYPE_SIZE_LIMIT;
        return c->error_type;
    }
    if (c->declares && synonym->declared) { /* without parameters, and looked through already */
        c->type_nodes += synonym->nodes;
        return synonym->declared;
    }
    signature_variables parameters = {0};
    for (size_t i = 0; i < ast->items.count; i++)
        vec_push(c->arena, &parameters,
                 (struct signature_variable){decl->type_parameters.at[i],
                                             read_type(c, ast->items.at[i], mode, variables), NULL});
    struct type *type = type_of_synonym(c, synonym, &parameters);
    if (parameters.count > ast->items.count && !synonym->is_broken) {
        diag_error(c->diagnostics, DIAG_UNBOUND_TYPE, synonym->span,
                   "the type `%s` uses `%s`, which is not among its parameters", ast->name->text,
                   parameters.at[ast->items.count].name->text);
        synonym->is_broken = true;
    }
    return synonym->is_broken ? c->error_type : type;
}

static struct type *named_type(struct checker *c, const struct ast_type *ast, enum signature_mode mode,
                               signature_variables *variables) {
    struct signature_variable *parameter = find_variable(variables, ast->name, false);
    if (parameter && !ast->items.count)
        return parameter->type;
    struct synonym *synonym = find_synonym(c->scope, ast->name);
    if (synonym)
        return expand_synonym(c, ast, synonym, mode, variables);
    enum base base;
    bool is_base = base_of_name(ast->name->text, &base);
    if (ast->items.count) {
        if (!is_base)
            return unknown_type(c, ast);
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_TYPE_ARGUMENTS, ast->span,
                                          "the type `%s` takes no arguments", ast->name->text);
        const struct ast_type *last = ast->items.at[ast->items.count - 1];
        if (last->kind == AST_TYPE_NAME && names_arrays(last->name->text))
            diag_hint(c->diagnostics, d, "the type of arrays of `%s` is written `[%s]`", ast->name->text,
                      ast->name->text);
        return c->error_type;
    }
    return is_base ? c->base_types[base] : variable_type(c, ast, mode, variables);
}

/* ---- types ---- */

static struct type *array_type(struct checker *c, const struct ast_type *ast, enum signature_mode mode,
                               signature_variables *variables) {
    struct type *element = read_type(c, ast->element, mode, variables);
    bool is_push = ast->kind == AST_TYPE_PUSH;
    struct level *level = is_push ? level_of_ast(c, ast->level, mode, variables) : level_fresh(c, DOMAIN_AMBIENT);
    if (!type_require(c, element, is_push ? KIND_BT : KIND_GT, 0)) {
        report_failure(c, ast->element->span, element, NULL);
        return c->error_type;
    }
    return is_push ? type_push(c, element, level) : type_pull(c, element, level);
}

/* In an annotation it binds its level itself, unless the place has one of that name. */
static struct type *level_arrow_type(struct checker *c, const struct ast_type *ast, enum signature_mode mode,
                                     signature_variables *variables) {
    bool binds = mode == SIGNATURE_ANNOTATION && ast->level->kind == AST_LEVEL_NAME &&
                 !map_get(c->levels, ast->level->name) && !find_variable(variables, ast->level->name, true) &&
                 !find_variable(c->signature_scope, ast->level->name, true) &&
                 nearest_level(ast->level->name) == LEVEL_PURE;
    struct ast_level_binder binder = {ast->level->name, ast->level->span};
    struct level_binding *binding = binds ? bind_level(c, &binder, level_fresh(c, DOMAIN_PROPER)) : NULL;
    struct level *level = level_of_ast(c, ast->level, mode, variables);
    struct type *to = read_type(c, ast->to, mode, variables);
    if (binding)
        unbind_level(c, binding);
    return type_level_arrow(c, level, to);
}

static struct type *read_type(struct checker *c, const struct ast_type *ast, enum signature_mode mode,
                              signature_variables *variables) {
    if (c->type_nodes++ >= TYPE_SIZE_LIMIT)
        return c->error_type; /* type_of_ast says so */
    switch (ast->kind) {
    case AST_TYPE_RECORD: /* only of a whole `type`: type_of_synonym */
    case AST_TYPE_ERROR: return c->error_type;
    case AST_TYPE_VARIABLE:
    case AST_TYPE_NAME: return named_type(c, ast, mode, variables);
    case AST_TYPE_TUPLE: {
        struct type **items = ARENA_ARRAY(c->arena, struct type *, ast->items.count);
        for (size_t i = 0; i < ast->items.count; i++)
            items[i] = read_type(c, ast->items.at[i], mode, variables);
        return type_tuple(c, items, ast->items.count);
    }
    case AST_TYPE_ARROW: {
        struct type *from = read_type(c, ast->from, mode, variables);
        struct type *to = read_type(c, ast->to, mode, variables);
        return type_arrow(c, from, to, level_fresh(c, DOMAIN_AMBIENT));
    }
    case AST_TYPE_LEVEL_ARROW: return level_arrow_type(c, ast, mode, variables);
    case AST_TYPE_PULL:
    case AST_TYPE_PUSH: return array_type(c, ast, mode, variables);
    }
    return c->error_type;
}

struct type *type_of_ast(struct checker *c, const struct ast_type *ast, enum signature_mode mode,
                         signature_variables *variables) {
    c->type_nodes = 0;
    c->synonym_height = 0;
    c->reads_broken = false;
    signature_variables own = {0}; /* an annotation's variables are the sig's, and its own */
    struct type *type = read_type(c, ast, mode, variables ? variables : &own);
    if (c->type_nodes <= TYPE_SIZE_LIMIT)
        return type;
    diag_error(c->diagnostics, DIAG_TYPE_SIZE, ast->span,
               "this type is too large: written out, it has more than %d parts, or more than %d names in names",
               TYPE_SIZE_LIMIT, SYNONYM_DEPTH_LIMIT);
    return c->error_type;
}

/* `p stored as s`: p is no variable, but what is stored as the variable s. */
static void bind_stored(struct checker *c, const struct ast_signature_type *ast, signature_variables *variables) {
    for (size_t i = 0; i < ast->constraints.count; i++) {
        const struct ast_constraint *k = &ast->constraints.at[i];
        if (!k->pushed)
            continue;
        const struct ast_type stored = {.kind = AST_TYPE_VARIABLE, .span = k->span, .name = k->stored};
        struct type *of = variable_type(c, &stored, SIGNATURE_RIGID, variables);
        struct type *type = type_store(c, of, level_fresh(c, DOMAIN_AMBIENT));
        vec_push(c->arena, variables, (struct signature_variable){k->pushed, type, NULL});
    }
}

struct type *type_of_signature(struct checker *c, const struct ast_signature_type *ast,
                               signature_variables *variables) {
    bind_stored(c, ast, variables);
    struct type *type = type_of_ast(c, ast->type, SIGNATURE_RIGID, variables);
    for (size_t i = 0; i < ast->classes.count; i++) {
        const struct ast_class_constraint *k = &ast->classes.at[i];
        unsigned class = class_of_name(k->class_name->text);
        struct signature_variable *variable = find_variable(variables, k->variable, false);
        if (!class) {
            struct diagnostic *d = diag_error(c->diagnostics, DIAG_UNKNOWN_CLASS, k->span,
                                              "no class of types is called `%s`", k->class_name->text);
            diag_hint(c->diagnostics, d, "there are eq, ord, num, integral and floating");
            if (variable && variable->type->kind == TYPE_VARIABLE)
                variable->type->variable->link = c->error_type; /* no second error about what it can do */
        } else if (variable && variable->type->kind == TYPE_ERROR) {
            continue; /* enough was said of it */
        } else if (!variable || variable->type->kind != TYPE_VARIABLE) {
            diag_error(c->diagnostics, DIAG_UNBOUND_TYPE, k->span, "the type after `=>` has no variable `%s`",
                       k->variable->text);
        } else {
            variable->type->variable->classes |= class;
            variable->type->variable->kind = KIND_BT;
        }
    }
    for (size_t i = 0; i < ast->constraints.count; i++) {
        const struct ast_constraint *k = &ast->constraints.at[i];
        if (k->pushed)
            continue;
        level_require(c, LEVEL_BELOW, level_of_ast(c, k->below, SIGNATURE_RIGID, variables),
                      level_of_ast(c, k->above, SIGNATURE_RIGID, variables), k->span, &callee_where);
    }
    return type;
}

struct synonym *declare_type_name(struct checker *c, const struct ast_decl *decl) {
    struct synonym *synonym = ARENA_NEW(c->arena, struct synonym);
    *synonym = (struct synonym){.name = decl->name, .span = decl->name_span, .decl = decl, .scope = c->scope};
    enum base base;
    if (base_of_name(decl->name->text, &base)) {
        diag_error(c->diagnostics, DIAG_TYPE_RECURSIVE, decl->name_span, "`%s` is a base type", decl->name->text);
        return NULL;
    }
    map_set(c->scope->synonyms, decl->name, synonym);
    return synonym;
}
