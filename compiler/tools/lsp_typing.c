/* Help while typing: completion, signatures, inlay hints, and the layout of the whole. Completion
   and signatures look at tokens, as a program is seldom whole then. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "tools/lsp.h"
#include "parser.h"
#include "syntax/format.h"
#include "syntax/lexer.h"

static void tokens_of(const struct lsp_view *view, struct tokens *tokens) {
    struct diagnostics *unread = diagnostics_new(view->arena, view->c->sources);
    lex_source(view->arena, view->c->symbols, view->source, unread, tokens);
}

static yyjson_mut_val *markdown(struct lsp_view *view, yyjson_mut_doc *json, const char *text) {
    yyjson_mut_val *content = yyjson_mut_obj(json);
    yyjson_mut_obj_add_str(json, content, "kind", "markdown");
    json_add_text(json, view->arena, content, "value", text);
    return content;
}

/* ---- completion ---- */

enum item_kind {
    ITEM_FUNCTION = 3,
    ITEM_FIELD = 5,
    ITEM_VARIABLE = 6,
    ITEM_FILE = 17,
    ITEM_KEYWORD = 14,
    ITEM_CONSTANT = 21,
    ITEM_EVENT = 23,
};

struct completion {
    struct lsp_view *view;
    yyjson_mut_doc *json;
    yyjson_mut_val *items;
    struct map *offered; /* symbols */
    const char *prefix;
    size_t prefix_length;
};

/* NULL: it was offered, or does not begin so. */
static yyjson_mut_val *offer(struct completion *o, const char *label, enum item_kind kind) {
    symbol name = symbol_of(o->view->c->symbols, label);
    if (map_has(o->offered, name) || strncasecmp(label, o->prefix, o->prefix_length) != 0)
        return NULL;
    map_set(o->offered, name, o);
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(o->json, o->items);
    json_add_text(o->json, o->view->arena, item, "label", label);
    yyjson_mut_obj_add_int(o->json, item, "kind", (int)kind);
    return item;
}

static bool is_word(const char *name) {
    return (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z') || name[0] == '_';
}

static void offer_global(struct completion *o, const struct core_global *global) {
    if (global->is_internal || global->kind == GLOBAL_KERNEL || !is_word(global->name->text))
        return;
    yyjson_mut_val *item = offer(o, global->name->text, global->kind == GLOBAL_FUN ? ITEM_FUNCTION : ITEM_CONSTANT);
    if (!item)
        return;
    struct lsp_view *view = o->view;
    json_add_text(o->json, view->arena, item, "detail", lsp_global_type(view, global));
    const char *doc = lsp_global_doc(view, global);
    if (*doc)
        yyjson_mut_obj_add_val(o->json, item, "documentation", markdown(view, o->json, doc));
}

static const struct module *module_of(const struct lsp_view *view, const struct source *source) {
    for (size_t i = 0; i < view->c->modules.count; i++)
        if (view->c->modules.at[i]->file->source == source)
            return view->c->modules.at[i];
    return NULL;
}

/* Names that the document's own names hide come first. */
static void offer_globals(struct completion *o) {
    const struct lsp_view *view = o->view;
    const struct module *own = module_of(view, view->source);
    const struct program *program = view->c->program;
    for (size_t i = program->globals.count; i-- > 0;)
        if (program->globals.at[i]->source == view->source)
            offer_global(o, program->globals.at[i]);
    for (size_t k = own ? own->import_count : 0; k-- > 0;)
        for (size_t i = program->globals.count; i-- > 0;)
            if (program->globals.at[i]->source == own->imports[k]->file->source)
                offer_global(o, program->globals.at[i]);
    for (size_t i = program->globals.count; i-- > 0;)
        if (program->globals.at[i]->from_prelude)
            offer_global(o, program->globals.at[i]);
}

static void offer_primitives(struct completion *o) {
    struct lsp_view *view = o->view;
    for (int i = 0; i < PRIM_COUNT; i++) {
        const struct primitive_info *info = &primitive_info[i];
        bool is_offered = is_word(info->name) && !primitive_is_internal((enum primitive)i);
        yyjson_mut_val *item = is_offered ? offer(o, info->name, ITEM_FUNCTION) : NULL;
        if (!item)
            continue;
        json_add_text(o->json, view->arena, item, "detail", lsp_primitive_type(view, (enum primitive)i));
        yyjson_mut_obj_add_val(o->json, item, "documentation", markdown(view, o->json, info->doc));
    }
}

/* The names of the declaration that the cursor is in, before it: some may not be visible there. */
static void offer_locals(struct completion *o, const struct tokens *tokens, uint32_t offset) {
    size_t end = 0, begin;
    while (end < tokens->count && tokens->at[end].kind != 0 && tokens->at[end].span.end < offset)
        end++;
    for (begin = end; begin > 0 && !token_starts_declaration(tokens->at[begin - 1].kind); begin--)
        continue;
    for (size_t i = begin; i < end; i++) {
        const struct token *token = &tokens->at[i];
        bool is_known = false;
        for (int k = 0; token->kind == TOKEN_NAME && !is_known && k < PRIM_COUNT; k++)
            is_known = strcmp(primitive_info[k].name, token->name->text) == 0;
        const struct core_global *global = NULL;
        const struct program *program = o->view->c->program;
        for (size_t k = 0; token->kind == TOKEN_NAME && !global && k < program->globals.count; k++)
            if (program->globals.at[k]->name == token->name)
                global = program->globals.at[k];
        if (token->kind == TOKEN_NAME && !is_known && !global)
            offer(o, token->name->text, ITEM_VARIABLE);
    }
}

static void offer_words(struct completion *o) {
    for (size_t i = 0; token_word(i); i++)
        offer(o, token_word(i), ITEM_KEYWORD);
    static const char *const elsewhere_names[] = {"match", "with", "data"};
    for (size_t i = 0; i < sizeof elsewhere_names / sizeof *elsewhere_names; i++)
        offer(o, elsewhere_names[i], ITEM_KEYWORD);
    for (int level = LEVEL_THREAD; level < LEVEL_VALUE_COUNT; level++)
        offer(o, level_names[level], ITEM_KEYWORD);
    for (int i = 0; i < CONFIG_COUNT; i++)
        offer(o, core_config_info[i].name, ITEM_CONSTANT);
}

static void offer_field(struct completion *o, const char *field, const char *record) {
    yyjson_mut_val *item = offer(o, field, ITEM_FIELD);
    if (item)
        json_add_text(o->json, o->view->arena, item, "detail", arena_printf(o->view->arena, "of %s", record));
}

/* Behind a point that touches what is before it: the fields of that, or where its type is not known, all that there
   are. False: there is no such point. */
static bool offer_fields(struct completion *o, size_t begin) {
    const struct lsp_view *view = o->view;
    const unsigned char *text = view->source->text;
    if (begin < 2 || text[begin - 1] != '.' || !(isalnum(text[begin - 2]) || strchr("_')]}", text[begin - 2])))
        return false;
    const struct name_place *place = lsp_place_at(view, view->source->base + (uint32_t)begin - 2);
    struct type *type = place && place->type ? type_resolve(place->type) : NULL;
    const struct record *record = type && type->kind == TYPE_TUPLE ? type->tuple.record : NULL;
    for (size_t i = 0; record && !record->constructor_count && i < record->count; i++)
        offer_field(o, record->fields[i]->text, record->name->text);
    for (size_t m = view->c->modules.count; !record && m-- > 0;) {
        const struct ast_file *file = view->c->modules.at[m]->file;
        for (size_t k = 0; file && k < file->decls.count; k++) {
            const struct ast_decl *decl = file->decls.at[k];
            for (size_t i = 0; decl->kind == DECL_TYPE && decl->type && i < decl->type->fields.count; i++)
                offer_field(o, decl->type->fields.at[i].name->text, decl->name->text);
        }
    }
    return true;
}

/* Only levels stand behind `<` and, in such a list, behind `,`. */
static bool is_in_levels(const struct lsp_view *view, uint32_t offset) {
    const unsigned char *text = view->source->text;
    size_t at = offset - view->source->base;
    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == ',' || (text[at - 1] >= 'a' && text[at - 1] <= 'z')))
        at--;
    return at > 0 && text[at - 1] == '<' && (at < 2 || text[at - 2] == ' ' || text[at - 2] == ']');
}

/* The text behind the quote of the import that the cursor is in; NULL: in none. */
static const char *import_prefix(const struct lsp_view *view, uint32_t offset) {
    const char *text = (const char *)view->source->text;
    size_t end = offset - view->source->base, begin = end;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    const char *line = arena_strndup(view->arena, text + begin, end - begin);
    line += strspn(line, " \t");
    if (strncmp(line, "import", strlen("import")) != 0)
        return NULL;
    const char *quote = strchr(line, '"');
    return quote && !strchr(quote + 1, '"') ? quote + 1 : NULL;
}

static size_t prefix_begin(const struct lsp_view *view, uint32_t offset) {
    const unsigned char *text = view->source->text;
    size_t at = offset - view->source->base;
    while (at > 0 && (((text[at - 1] | 0x20) >= 'a' && (text[at - 1] | 0x20) <= 'z') ||
                      (text[at - 1] >= '0' && text[at - 1] <= '9') || text[at - 1] == '_' || text[at - 1] == '\''))
        at--;
    return at > 0 && text[at - 1] == '#' ? at - 1 : at;
}

yyjson_mut_val *lsp_completion(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    uint32_t offset = lsp_offset(view, yyjson_obj_get(params, "position"));
    size_t begin = prefix_begin(view, offset), length = offset - view->source->base - begin;
    yyjson_mut_val *list = yyjson_mut_obj(json);
    yyjson_mut_obj_add_bool(json, list, "isIncomplete", true); /* those of other beginnings */
    struct completion o = {.view = view,
                           .json = json,
                           .items = json_add_array(json, list, "items"),
                           .offered = map_new(view->arena),
                           .prefix = arena_strndup(view->arena, (const char *)view->source->text + begin, length),
                           .prefix_length = length};
    const char *import = import_prefix(view, offset);
    if (import) {
        size_t count;
        const char *const *files = search_library_files(view->arena, view->c->options->root, &count);
        o.prefix = import;
        o.prefix_length = strlen(import);
        for (size_t i = 0; i < count; i++)
            offer(&o, files[i], ITEM_FILE);
    } else if (is_in_levels(view, offset)) {
        for (int level = LEVEL_THREAD; level < LEVEL_VALUE_COUNT; level++)
            offer(&o, level_names[level], ITEM_KEYWORD);
    } else if (!offer_fields(&o, begin)) {
        struct tokens tokens;
        tokens_of(view, &tokens);
        offer_locals(&o, &tokens, offset);
        offer_globals(&o);
        offer_primitives(&o);
        offer_words(&o);
    }
    return list;
}

/* ---- signatures ---- */

static bool closes(int kind) { return kind == ')' || kind == ']' || kind == TOKEN_LEVEL_CLOSE; }
static bool opens(int kind) { return kind == '(' || kind == '[' || kind == TOKEN_LEVEL_OPEN; }

static bool is_atom(int kind) {
    return kind == TOKEN_NAME || kind == TOKEN_CONFIG || kind == TOKEN_INTEGER || kind == TOKEN_FLOATING ||
           kind == TOKEN_TRUE || kind == TOKEN_FALSE;
}

/* The function that the cursor is behind, and how many arguments are between. NULL: none. */
static const struct token *called_before(const struct tokens *tokens, uint32_t offset, size_t *arguments) {
    size_t end = 0;
    while (end < tokens->count && tokens->at[end].kind != 0 && tokens->at[end].span.end <= offset)
        end++;
    /* The word that touches the cursor is being typed. */
    if (end > 0 && tokens->at[end - 1].span.end == offset && is_atom(tokens->at[end - 1].kind))
        end--;
    size_t depth = 0, atoms = 0;
    const struct token *head = NULL;
    for (size_t i = end; i-- > 0;) {
        int kind = tokens->at[i].kind;
        if (closes(kind)) {
            depth++;
            continue;
        }
        if (opens(kind) && depth > 0) {
            atoms += --depth == 0;
            continue;
        }
        if (depth > 0)
            continue;
        if (is_atom(kind)) {
            head = kind == TOKEN_NAME ? &tokens->at[i] : NULL;
            *arguments = atoms++;
            continue;
        }
        if (head || !opens(kind))
            break;
        atoms = 0; /* `f (|`: nothing is called in these parentheses yet */
    }
    return head;
}

static const char *type_of_name(const struct lsp_view *view, const struct token *name, const char **doc) {
    const struct name_place *best = NULL;
    for (size_t i = 0; i < view->names.count; i++) {
        const struct name_place *place = &view->names.at[i];
        if (place->name == name->name && place->span.begin == name->span.begin)
            best = place;
    }
    *doc = "";
    if (best && !best->global)
        return lsp_type_text(view, best);
    const struct program *program = view->c->program;
    for (size_t i = program->globals.count; i-- > 0;) {
        const struct core_global *global = program->globals.at[i];
        if (global->name != name->name || global->is_internal || (best && best->global != global))
            continue;
        *doc = lsp_global_doc(view, global);
        return lsp_global_type(view, global);
    }
    for (int i = 0; i < PRIM_COUNT; i++)
        if (strcmp(primitive_info[i].name, name->name->text) == 0) {
            *doc = primitive_info[i].doc;
            return lsp_primitive_type(view, (enum primitive)i);
        }
    return NULL;
}

/* Between the arrows of `name : classes => a -> b -> c  where …`, as offsets in it. */
static yyjson_mut_val *parameters_of(yyjson_mut_doc *json, const char *label) {
    yyjson_mut_val *all = yyjson_mut_arr(json);
    const char *at = strstr(label, " : "), *classes = strstr(label, " => ");
    if (!at)
        return all;
    at = classes ? classes + 4 : at + 3;
    const char *begin = at;
    int depth = 0;
    for (; *at; at++) {
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (depth == 0 && strncmp(at, " -> ", 4) == 0) {
            yyjson_mut_val *label_of = json_add_array(json, yyjson_mut_arr_add_obj(json, all), "label");
            yyjson_mut_arr_add_uint(json, label_of, (uint64_t)(begin - label));
            yyjson_mut_arr_add_uint(json, label_of, (uint64_t)(at - label));
            begin = at + 4;
        }
    }
    return all;
}

yyjson_mut_val *lsp_signature(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    uint32_t offset = lsp_offset(view, yyjson_obj_get(params, "position"));
    struct tokens tokens;
    tokens_of(view, &tokens);
    size_t arguments = 0;
    const struct token *head = called_before(&tokens, offset, &arguments);
    const char *doc = "", *label = head ? type_of_name(view, head, &doc) : NULL;
    if (!label)
        return yyjson_mut_null(json);
    yyjson_mut_val *parameters = parameters_of(json, label);
    if (yyjson_mut_arr_size(parameters) <= arguments)
        return yyjson_mut_null(json);
    yyjson_mut_val *help = yyjson_mut_obj(json);
    yyjson_mut_val *one = yyjson_mut_arr_add_obj(json, json_add_array(json, help, "signatures"));
    json_add_text(json, view->arena, one, "label", label);
    yyjson_mut_obj_add_val(json, one, "parameters", parameters);
    if (*doc)
        yyjson_mut_obj_add_val(json, one, "documentation", markdown(view, json, doc));
    yyjson_mut_obj_add_uint(json, help, "activeSignature", 0);
    yyjson_mut_obj_add_uint(json, help, "activeParameter", arguments);
    return help;
}

/* ---- inlay hints ---- */

/* The type is written behind the name already. */
static bool is_annotated(const struct lsp_view *view, struct span span) {
    const char *text = (const char *)view->source->text + (span.end - view->source->base);
    text += strspn(text, " \t");
    return *text == ':';
}

static bool has_sig(const struct lsp_view *view, const struct name_place *place) {
    for (size_t i = 0; i < view->names.count; i++)
        if (view->names.at[i].global == place->global && !view->names.at[i].type &&
            view->names.at[i].span.begin != place->span.begin)
            return true;
    return false;
}

yyjson_mut_val *lsp_inlays(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    enum { INLAY_TYPE = 1 };
    yyjson_val *range = yyjson_obj_get(params, "range");
    uint32_t begin = lsp_offset(view, yyjson_obj_get(range, "start"));
    uint32_t end = lsp_offset(view, yyjson_obj_get(range, "end"));
    yyjson_mut_val *all = yyjson_mut_arr(json);
    for (size_t i = 0; i < view->names.count; i++) {
        const struct name_place *place = &view->names.at[i];
        bool is_value = !place->global || (place->global->kind == GLOBAL_VAL && !has_sig(view, place));
        if (place->type || !is_value || place->span.begin < begin || place->span.end > end ||
            source_at(view->c->sources, place->span) != view->source || is_annotated(view, place->span))
            continue;
        const struct scheme *scheme = place->global ? place->global->scheme : place->scheme;
        if (!scheme || type_resolve(scheme->type)->kind == TYPE_ERROR)
            continue;
        const char *label = arena_printf(view->arena, " : %s", scheme_spelling(view->arena, scheme));
        yyjson_mut_val *hint = yyjson_mut_arr_add_obj(json, all);
        yyjson_mut_obj_add_val(json, hint, "position", lsp_position(view, json, place->span.end));
        json_add_text(json, view->arena, hint, "label", label);
        yyjson_mut_obj_add_int(json, hint, "kind", INLAY_TYPE);
    }
    return all;
}

/* ---- layout ---- */

yyjson_mut_val *lsp_format(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    (void)params;
    yyjson_mut_val *edits = yyjson_mut_arr(json);
    const struct source *source = view->source;
    struct diagnostics *unread = diagnostics_new(view->arena, view->c->sources);
    struct text text;
    text_init(&text, view->arena);
    if (!syntax_format(&text, view->c->symbols, source, unread))
        return yyjson_mut_null(json);
    if (text.length == source->length && memcmp(text_string(&text), source->text, text.length) == 0)
        return edits;
    yyjson_mut_val *edit = yyjson_mut_arr_add_obj(json, edits);
    struct span whole = {source->base, source->base + (uint32_t)source->length};
    yyjson_mut_obj_add_val(json, edit, "range", lsp_range(view, json, whole));
    json_add_text(json, view->arena, edit, "newText", text_string(&text));
    return edits;
}
