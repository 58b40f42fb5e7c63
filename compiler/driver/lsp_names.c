/* Names and what they stand for: hover, definitions, references, renaming, symbols. */
#define _GNU_SOURCE /* memmem */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "driver/lsp.h"
#include "parser.h"
#include "syntax/lexer.h"
#include "syntax/syntax.h"
#include "values/value.h"

struct lsp_view *lsp_view_open(struct arena *arena, const struct options *options, const lsp_documents *documents,
                               const struct lsp_document *document) {
    struct lsp_view *view = ARENA_NEW(arena, struct lsp_view);
    struct options *checking = ARENA_NEW(arena, struct options);
    const char **operand = ARENA_NEW(arena, const char *);
    *operand = document->path;
    *checking = *options;
    checking->command = COMMAND_CHECK;
    checking->operands = operand;
    checking->operand_count = 1;
    memset(&checking->unsaved, 0, sizeof checking->unsaved); /* those of another view */
    *view = (struct lsp_view){
        .arena = arena, .options = checking, .documents = documents, .document = document, .lines = map_new(arena)};
    for (size_t i = 0; i < documents->count; i++) {
        const struct lsp_document *one = documents->at[i];
        vec_push(arena, &checking->unsaved, (struct unsaved){one->path, one->text, one->length});
    }
    struct compilation *c = view->c = compilation_new(checking);
    c->names = &view->names;
    view->status = compilation_check(c, document->path);
    if (c->file)
        view->source = c->file->source;
    return view;
}

/* ---- what a name stands for ---- */

const struct name_place *lsp_place_at(const struct lsp_view *view, uint32_t offset) {
    const struct name_place *best = NULL;
    for (size_t i = 0; i < view->names.count; i++) {
        const struct name_place *place = &view->names.at[i];
        if (place->span.begin > offset || place->span.end < offset)
            continue;
        /* Behind `f` in `f(x)` both touch the place: the one that begins there is meant. */
        if (!best || place->span.begin > best->span.begin)
            best = place;
    }
    return best;
}

static bool is_same_name(const struct name_place *a, const struct name_place *b) {
    if (a->primitive != PRIM_COUNT || b->primitive != PRIM_COUNT)
        return a->primitive == b->primitive;
    return a->definition.begin == b->definition.begin;
}

static const char *with_type(struct arena *arena, const char *name, const struct scheme *scheme) {
    return arena_printf(arena, "%s : %s", name, scheme ? scheme_spelling(arena, scheme) : "_");
}

const char *lsp_global_type(const struct lsp_view *view, const struct core_global *global) {
    return with_type(view->arena, global->name->text, global->scheme);
}

const char *lsp_primitive_type(const struct lsp_view *view, enum primitive primitive) {
    struct diagnostics *unread = diagnostics_new(view->arena, view->c->sources);
    return with_type(view->arena, primitive_info[primitive].name,
                     types_of_primitive(view->arena, view->c->symbols, unread, primitive));
}

const char *lsp_type_text(const struct lsp_view *view, const struct name_place *place) {
    if (place->global)
        return lsp_global_type(view, place->global);
    return with_type(view->arena, place->name->text, place->scheme);
}

/* The comment's lines without their dashes; examples, `> e ==> v`, as programs. */
static const char *markdown_of(const struct lsp_view *view, const char *at, const char *end) {
    struct text text;
    bool in_code = false;
    text_init(&text, view->arena);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        while (at < stop && (*at == '-' || *at == ' '))
            at++;
        bool is_code = at < stop && *at == '>';
        if (is_code != in_code)
            text_add(&text, is_code ? "\n```fcl\n" : "```\n");
        in_code = is_code;
        if (is_code)
            at += at + 1 < stop && at[1] == ' ' ? 2 : 1;
        text_add_n(&text, at, (size_t)(stop - at));
        text_add(&text, "\n");
        at = newline ? newline + 1 : end;
    }
    if (in_code)
        text_add(&text, "```\n");
    return text_string(&text);
}

const char *lsp_global_doc(const struct lsp_view *view, const struct core_global *global) {
    for (size_t m = 0; m < view->c->modules.count; m++) {
        const struct ast_file *file = view->c->modules.at[m]->file;
        for (size_t i = 0; file->source == global->source && i < file->decls.count; i++) {
            const struct ast_decl *decl = file->decls.at[i];
            if (decl->name_span.begin != global->span.begin)
                continue;
            if (i > 0 && file->decls.at[i - 1]->kind == DECL_SIG && file->decls.at[i - 1]->name == decl->name)
                decl = file->decls.at[i - 1];
            struct span doc = syntax_doc(file->source, decl);
            const char *text = (const char *)file->source->text;
            return markdown_of(view, text + (doc.begin - file->source->base), text + (doc.end - file->source->base));
        }
    }
    return "";
}

/* Where its arguments are all there, the level at which it runs, if it is for one level only. */
static const char *ambient_of(const struct scheme *scheme) {
    struct type *type = type_resolve(scheme->type);
    while (type->kind == TYPE_ARROW || type->kind == TYPE_LEVEL_ARROW) {
        if (type->kind == TYPE_ARROW) {
            struct level *ambient = level_resolve(type->arrow.ambient);
            if (!ambient->variable && ambient->value != LEVEL_PURE)
                return level_names[ambient->value];
        }
        type = type_resolve(type->kind == TYPE_ARROW ? type->arrow.to : type->level_arrow.to);
    }
    return NULL;
}

static const char *origin_of(const struct lsp_view *view, const struct name_place *place) {
    if (place->primitive != PRIM_COUNT)
        return "A primitive.";
    if (!place->global || place->global->source == view->source)
        return NULL;
    return arena_printf(view->arena, "From `%s`.", place->global->source->path);
}

yyjson_mut_val *lsp_hover(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    const struct name_place *place = lsp_place_at(view, lsp_offset(view, yyjson_obj_get(params, "position")));
    if (!place)
        return yyjson_mut_null(json);
    const struct scheme *scheme = place->global ? place->global->scheme : place->scheme;
    const char *type = lsp_type_text(view, place), *here = NULL;
    if (place->type && scheme && scheme->type_count + scheme->level_count)
        here = arena_printf(view->arena, "%s : %s", place->name->text, type_spelling(view->arena, place->type));
    struct text text;
    text_init(&text, view->arena);
    const char *word = place->global && place->global->kind == GLOBAL_KERNEL  ? "kernel "
                       : place->global && place->global->kind == GLOBAL_PARAM ? "param "
                                                                              : "";
    text_printf(&text, "```fcl\n%s%s\n", word, type);
    if (here && strcmp(here, type) != 0)
        text_printf(&text, "-- here\n%s\n", here);
    text_add(&text, "```\n");
    const char *ambient = scheme ? ambient_of(scheme) : NULL;
    if (ambient)
        text_printf(&text, "Runs at ambient `%s`.\n\n", ambient);
    if (place->primitive != PRIM_COUNT)
        text_printf(&text, "%s\n\n", primitive_info[place->primitive].doc);
    else if (place->global)
        text_printf(&text, "%s\n", lsp_global_doc(view, place->global));
    const char *origin = origin_of(view, place);
    if (origin)
        text_printf(&text, "*%s*\n", origin);
    yyjson_mut_val *hover = yyjson_mut_obj(json);
    yyjson_mut_val *contents = json_add_object(json, hover, "contents");
    yyjson_mut_obj_add_str(json, contents, "kind", "markdown");
    json_add_text(json, view->arena, contents, "value", text_string(&text));
    yyjson_mut_obj_add_val(json, hover, "range", lsp_range(view, json, place->span));
    return hover;
}

/* ---- definitions ---- */

/* The place of the file that an import at the offset names; NULL: there is no import. */
static yyjson_mut_val *imported_file(struct lsp_view *view, yyjson_mut_doc *json, uint32_t offset) {
    const struct ast_file *file = view->c->file;
    for (size_t i = 0; i < file->decls.count; i++) {
        const struct ast_decl *decl = file->decls.at[i];
        if (decl->kind != DECL_IMPORT || !decl->path || offset < decl->span.begin || offset > decl->span.end)
            continue;
        const char *wanted = text_file_name(decl->path);
        size_t length = strlen(wanted);
        for (size_t k = 0; k < view->c->files.count; k++) {
            const char *base = text_file_name(view->c->files.at[k]->path);
            if (strncmp(base, wanted, length) == 0 && (!base[length] || strcmp(base + length, ".fcl") == 0)) {
                uint32_t at = view->c->files.at[k]->module->file->source->base;
                return lsp_location(view, json, (struct span){at, at});
            }
        }
    }
    return NULL;
}

/* Where a `type` is defined, in this file or one that it imports; the last definition counts. */
static yyjson_mut_val *type_definition(struct lsp_view *view, yyjson_mut_doc *json, uint32_t offset) {
    struct tokens tokens;
    struct diagnostics *unread = diagnostics_new(view->arena, view->c->sources);
    lex_source(view->arena, view->c->symbols, view->source, unread, &tokens);
    for (size_t i = 0; i < tokens.count; i++) {
        const struct token *token = &tokens.at[i];
        if (token->kind != TOKEN_NAME || token->span.begin > offset || token->span.end < offset)
            continue;
        for (size_t m = view->c->modules.count; m-- > 0;) {
            const struct ast_file *file = view->c->modules.at[m]->file;
            for (size_t k = file->decls.count; k-- > 0;)
                if (file->decls.at[k]->kind == DECL_TYPE && file->decls.at[k]->name == token->name)
                    return lsp_location(view, json, file->decls.at[k]->name_span);
        }
    }
    return yyjson_mut_null(json);
}

yyjson_mut_val *lsp_definition(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    uint32_t offset = lsp_offset(view, yyjson_obj_get(params, "position"));
    const struct name_place *place = lsp_place_at(view, offset);
    if (place && place->definition.end)
        return lsp_location(view, json, place->definition);
    yyjson_mut_val *file = imported_file(view, json, offset);
    return file ? file : type_definition(view, json, offset);
}

/* ---- references ---- */

/* An occurrence in any file: by the file's URI, as offsets of different programs do not compare. */
struct occurrence {
    struct lsp_view *view;
    struct span span;
    const char *uri;
    uint32_t at; /* in its file */
    bool is_definition;
};
typedef VEC(struct occurrence) occurrences;

static void add_occurrences(occurrences *found, struct lsp_view *view, const struct name_place *of) {
    for (size_t i = 0; i < view->names.count; i++) {
        const struct name_place *place = &view->names.at[i];
        const struct source *source = source_at(view->c->sources, place->span);
        if (!is_same_name(place, of) || !source || (source->is_ours && source != view->source))
            continue;
        struct occurrence one = {.view = view,
                                 .span = place->span,
                                 .uri = lsp_uri_of_source(view, source),
                                 .at = place->span.begin - source->base,
                                 .is_definition = !place->type};
        bool is_known = false;
        for (size_t k = 0; k < found->count && !is_known; k++)
            is_known = found->at[k].at == one.at && strcmp(found->at[k].uri, one.uri) == 0;
        if (!is_known)
            vec_push(view->arena, found, one);
    }
}

/* The place in the view of what is defined at `at` of the file with that URI. */
static const struct name_place *defined_at(struct lsp_view *view, const char *uri, uint32_t at) {
    for (size_t i = 0; i < view->names.count; i++) {
        const struct name_place *place = &view->names.at[i];
        const struct source *source = source_at(view->c->sources, place->definition);
        if (source && place->definition.begin - source->base == at && strcmp(lsp_uri_of_source(view, source), uri) == 0)
            return place;
    }
    return NULL;
}

/* The documents that may import the view's: the open ones, and those beside it. */
static lsp_documents neighbours_of(struct lsp_view *view) {
    enum { FILES_MOST = 500 };
    struct arena *arena = view->arena;
    lsp_documents all = {0};
    for (size_t i = 0; i < view->documents->count; i++)
        if (view->documents->at[i] != view->document)
            vec_push(arena, &all, view->documents->at[i]);
    const char *directory = path_directory(arena, view->document->path);
    DIR *listing = *directory ? opendir(directory) : NULL;
    struct dirent *entry;
    for (size_t count = 0; listing && count < FILES_MOST && (entry = readdir(listing)); count++) {
        if (!text_ends_with(entry->d_name, ".fcl"))
            continue;
        const char *path = path_join(arena, directory, arena_printf(arena, "%s", entry->d_name));
        const char *uri = lsp_uri_of_path(arena, path), *why;
        bool is_known = false;
        for (size_t i = 0; i < view->documents->count && !is_known; i++)
            is_known = strcmp(lsp_uri_of_path(arena, view->documents->at[i]->path), uri) == 0;
        struct value_bytes bytes;
        if (is_known || !value_read_file(arena, path, &bytes, &why))
            continue;
        struct lsp_document *document = ARENA_NEW(arena, struct lsp_document);
        *document = (struct lsp_document){uri, path, (const char *)bytes.at, bytes.length, 0};
        vec_push(arena, &all, document);
    }
    if (listing)
        closedir(listing);
    return all;
}

static bool mentions(const struct lsp_document *document, const char *name) {
    return memmem(document->text, document->length, name, strlen(name)) != NULL;
}

static occurrences occurrences_of(struct lsp_view *view, const struct name_place *place) {
    occurrences found = {0};
    add_occurrences(&found, view, place);
    const struct source *source = source_at(view->c->sources, place->definition);
    if (!place->global || !source || source->is_ours)
        return found; /* what is local, or used by too many to look for */
    const char *uri = lsp_uri_of_source(view, source);
    lsp_documents neighbours = neighbours_of(view);
    for (size_t i = 0; i < neighbours.count; i++) {
        const struct lsp_document *document = neighbours.at[i];
        if (!mentions(document, place->name->text) || !mentions(document, "import"))
            continue;
        struct lsp_view *other = lsp_view_open(view->arena, view->options, view->documents, document);
        const struct name_place *there =
            other->source ? defined_at(other, uri, place->definition.begin - source->base) : NULL;
        if (there)
            add_occurrences(&found, other, there);
    }
    return found;
}

static const struct name_place *place_of_params(struct lsp_view *view, yyjson_val *params) {
    return lsp_place_at(view, lsp_offset(view, yyjson_obj_get(params, "position")));
}

yyjson_mut_val *lsp_references(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    const struct name_place *place = place_of_params(view, params);
    yyjson_mut_val *all = yyjson_mut_arr(json);
    bool with_definition = yyjson_get_bool(yyjson_obj_get(yyjson_obj_get(params, "context"), "includeDeclaration"));
    occurrences found = {0};
    if (place)
        found = occurrences_of(view, place);
    for (size_t i = 0; i < found.count; i++)
        if (with_definition || !found.at[i].is_definition)
            yyjson_mut_arr_append(all, lsp_location(found.at[i].view, json, found.at[i].span));
    return all;
}

yyjson_mut_val *lsp_highlight(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    const struct name_place *place = place_of_params(view, params);
    yyjson_mut_val *all = yyjson_mut_arr(json);
    for (size_t i = 0; place && i < view->names.count; i++) {
        const struct name_place *other = &view->names.at[i];
        if (is_same_name(place, other) && source_at(view->c->sources, other->span) == view->source)
            yyjson_mut_obj_add_val(json, yyjson_mut_arr_add_obj(json, all), "range",
                                   lsp_range(view, json, other->span));
    }
    return all;
}

/* ---- renaming ---- */

/* Names that are words; operators, and what the prelude and the library define, keep theirs. */
static const struct name_place *renamable(struct lsp_view *view, yyjson_val *params) {
    const struct name_place *place = place_of_params(view, params);
    if (!place || place->primitive != PRIM_COUNT || !place->definition.end)
        return NULL;
    const struct source *source = source_at(view->c->sources, place->definition);
    return source && (!source->is_ours || source == view->source) ? place : NULL;
}

yyjson_mut_val *lsp_prepare_rename(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    const struct name_place *place = renamable(view, params);
    return place ? lsp_range(view, json, place->span) : yyjson_mut_null(json);
}

static bool is_name(struct lsp_view *view, const char *name) {
    struct sources *sources = sources_new(view->arena);
    const struct source *source = source_add(sources, "name", name, strlen(name));
    struct diagnostics *errors = diagnostics_new(view->arena, sources);
    struct tokens tokens;
    lex_source(view->arena, view->c->symbols, source, errors, &tokens);
    return diag_error_count(errors) == 0 && tokens.count == 2 && tokens.at[0].kind == TOKEN_NAME &&
           tokens.at[0].span.end - tokens.at[0].span.begin == strlen(name);
}

typedef VEC(size_t) indices;

/* For each name of the document, in order, the first one that is the same. */
static indices first_uses(struct lsp_view *view) {
    indices firsts = {0};
    struct map *seen = map_new(view->arena);
    size_t count = 0;
    for (size_t i = 0; i < view->names.count; i++) {
        const struct name_place *place = &view->names.at[i];
        if (source_at(view->c->sources, place->span) != view->source)
            continue;
        /* What other files define keeps its place among them, as they are read first. */
        const void *key = place->primitive != PRIM_COUNT ? (const void *)&primitive_info[place->primitive]
                          : place->global                ? (const void *)place->global
                                                         : (const void *)(uintptr_t)place->definition.begin;
        if (!map_has(seen, key))
            map_set(seen, key, (void *)(uintptr_t)count);
        vec_push(view->arena, &firsts, (size_t)(uintptr_t)map_get(seen, key));
        count++;
    }
    return firsts;
}

static int by_place(const void *a, const void *b) {
    const struct occurrence *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* The view's document with the new name in the occurrences of it. */
static struct lsp_document *renamed_document(struct lsp_view *view, const occurrences *found, const char *name) {
    struct text text;
    text_init(&text, view->arena);
    size_t at = 0;
    qsort(found->at, found->count, sizeof *found->at, by_place);
    for (size_t i = 0; i < found->count; i++) {
        const struct occurrence *one = &found->at[i];
        if (strcmp(one->uri, view->document->uri) != 0)
            continue;
        text_add_n(&text, view->document->text + at, one->at - at);
        text_add(&text, name);
        at = one->at + (one->span.end - one->span.begin);
    }
    text_add_n(&text, view->document->text + at, view->document->length - at);
    struct lsp_document *document = ARENA_NEW(view->arena, struct lsp_document);
    *document = *view->document;
    document->text = text_string(&text);
    document->length = text.length;
    return document;
}

/* Whether every name of the document means what it meant. Files that are imported and change, too,
   are not looked at: there nothing is known of the new name. */
static bool keeps_meaning(struct lsp_view *view, const occurrences *found, const char *name) {
    struct lsp_document *document = renamed_document(view, found, name);
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->at[i].uri, view->document->uri) != 0)
            return true;
    lsp_documents documents = {0};
    for (size_t i = 0; i < view->documents->count; i++) {
        struct lsp_document *one = view->documents->at[i];
        vec_push(view->arena, &documents, one == view->document ? document : one);
    }
    struct lsp_view *after = lsp_view_open(view->arena, view->options, &documents, document);
    if (!after->source)
        return false;
    indices old = first_uses(view), new = first_uses(after);
    bool is_same = old.count == new.count;
    for (size_t i = 0; is_same && i < old.count; i++)
        is_same = old.at[i] == new.at[i];
    return is_same && diag_error_count(after->c->diagnostics) == diag_error_count(view->c->diagnostics);
}

static yyjson_mut_val *refusal(yyjson_mut_doc *json, const char *message) {
    yyjson_mut_val *answer = yyjson_mut_obj(json);
    yyjson_mut_obj_add_str(json, answer, LSP_REFUSAL, message);
    return answer;
}

yyjson_mut_val *lsp_rename(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    const struct name_place *place = renamable(view, params);
    const char *name = yyjson_get_str(yyjson_obj_get(params, "newName"));
    if (!place)
        return refusal(json, "there is no name of this program here");
    if (!name || !is_name(view, name))
        return refusal(json, "a name is a letter, then letters, digits, `_` and `'`; no keyword");
    occurrences found = occurrences_of(view, place);
    if (!keeps_meaning(view, &found, name))
        return refusal(json, "with that name something here would mean another thing");
    yyjson_mut_val *answer = yyjson_mut_obj(json);
    yyjson_mut_val *changes = json_add_object(json, answer, "changes");
    for (size_t i = 0; i < found.count; i++) {
        yyjson_mut_val *edits = yyjson_mut_obj_get(changes, found.at[i].uri);
        if (!edits) {
            edits = yyjson_mut_arr(json);
            yyjson_mut_obj_add(changes, json_text(json, view->arena, found.at[i].uri), edits);
        }
        yyjson_mut_val *edit = yyjson_mut_arr_add_obj(json, edits);
        yyjson_mut_obj_add_val(json, edit, "range", lsp_range(found.at[i].view, json, found.at[i].span));
        json_add_text(json, view->arena, edit, "newText", name);
    }
    return answer;
}

/* ---- symbols ---- */

yyjson_mut_val *lsp_symbols(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    (void)params;
    enum { KIND_CLASS = 5, KIND_FUNCTION = 12, KIND_CONSTANT = 14, KIND_EVENT = 24 };
    static const int kinds[] = {[DECL_FUN] = KIND_FUNCTION,
                                [DECL_VAL] = KIND_CONSTANT,
                                [DECL_KERNEL] = KIND_EVENT,
                                [DECL_TYPE] = KIND_CLASS,
                                [DECL_PARAM] = KIND_CONSTANT};
    yyjson_mut_val *all = yyjson_mut_arr(json);
    const struct ast_file *file = view->c->file;
    for (size_t i = 0; i < file->decls.count; i++) {
        const struct ast_decl *decl = file->decls.at[i];
        if (decl->kind == DECL_SIG || decl->kind == DECL_IMPORT || !decl->name)
            continue;
        yyjson_mut_val *symbol = yyjson_mut_arr_add_obj(json, all);
        json_add_text(json, view->arena, symbol, "name", decl->name->text);
        yyjson_mut_obj_add_int(json, symbol, "kind", kinds[decl->kind]);
        yyjson_mut_obj_add_val(json, symbol, "range", lsp_range(view, json, decl->span));
        struct span name = decl->name_span;
        if (name.begin < decl->span.begin || name.end > decl->span.end)
            name = decl->span;
        yyjson_mut_obj_add_val(json, symbol, "selectionRange", lsp_range(view, json, name));
        const struct name_place *place = lsp_place_at(view, decl->name_span.begin);
        if (place && place->global)
            json_add_text(json, view->arena, symbol, "detail", lsp_type_text(view, place));
    }
    return all;
}
