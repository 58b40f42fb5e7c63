/* Names and what they stand for: hover, definitions, references, symbols. */
#define _GNU_SOURCE /* memmem */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/arguments.h"
#include "ir/ir.h"
#include "tools/directive.h"
#include "tools/lsp.h"
#include "tools/property.h"
#include "parser.h"
#include "syntax/lexer.h"
#include "syntax/syntax.h"
#include "values/value.h"

/* The last kernel of that name that the source defines, as it is in the names; NULL: none. */
static const struct name_place *kernel_of(const struct lsp_view *view, const struct source *source, symbol name) {
    for (size_t i = view->names.count; i-- > 0;) {
        const struct name_place *place = &view->names.at[i];
        if (place->name == name && place->global && place->global->kind == GLOBAL_KERNEL &&
            place->global->source == source)
            return place;
    }
    return NULL;
}

/* A value in a line `-- test`, as its text, which begins at that place. */
struct value_text {
    struct lsp_view *view;
    const char *text;
    uint32_t place;
};

/* A use, at that place, of what is defined at `definition`. */
static void note_use(struct lsp_view *view, uint32_t begin, uint32_t definition) {
    for (size_t i = 0; i < view->names.count; i++) {
        struct name_place place = view->names.at[i];
        if (place.span.begin != definition || place.definition.begin != definition)
            continue;
        place.span = (struct span){begin, begin + (uint32_t)place.name->length};
        vec_push(view->arena, &view->names, place);
        return;
    }
}

static void note_field(void *context, const struct record *record, size_t field, const char *at) {
    const struct value_text *value = context;
    note_use(value->view, value->place + (uint32_t)(at - value->text), record->field_spans[field].begin);
}

/* The fields that a value of that type names. */
static void note_value(struct lsp_view *view, const struct source *source, struct span span, struct type *type) {
    const char *text = arena_strndup(view->arena, (const char *)source->text + (span.begin - source->base),
                                     span.end - span.begin),
               *unread;
    struct value_text value = {view, text, span.begin};
    struct value_argument argument = {.name = "", .on_field = note_field, .context = &value};
    if (strchr(text, '{'))
        (void)value_parse(view->arena, type, &argument, text, &unread);
}

/* The place of a kernel's parameter, which is the first of that name behind the kernel's own; 0: it has no place. */
static uint32_t parameter_place(const struct lsp_view *view, const struct core_global *kernel, const char *name) {
    uint32_t first = 0;
    for (size_t i = 0; i < view->names.count; i++) {
        const struct name_place *place = &view->names.at[i];
        if (place->definition.begin == place->span.begin && place->span.begin > kernel->span.begin &&
            (!first || place->span.begin < first) && strcmp(place->name->text, name) == 0)
            first = place->span.begin;
    }
    return first;
}

/* Notes the fields in what follows a value's name in that of a size, as `_mass` in `bodies_mass`. Gives true where it
   is a size of a value of that type. */
static bool note_size_fields(struct lsp_view *view, struct type *type, const char *name, uint32_t place) {
    size_t rank = value_type_rank(type, &type);
    if (!*name)
        return true;
    for (size_t i = 0; *name == '_' && type->kind == TYPE_TUPLE && i < type->tuple.count; i++) {
        const struct record *record = type->tuple.record;
        const char *part = record && record->fields ? record->fields[i]->text : arena_printf(view->arena, "%zu", i);
        size_t length = strlen(part);
        if (strncmp(name + 1, part, length) == 0 && strchr("_", name[1 + length]) &&
            note_size_fields(view, type->tuple.items[i], name + 1 + length, place + 1 + (uint32_t)length)) {
            if (record && record->fields)
                note_use(view, place + 1, record->field_spans[i].begin);
            return true;
        }
    }
    bool is_extent = false;
    for (size_t i = 0; i < rank; i++)
        is_extent |= *name == '_' && strcmp(name + 1, ir_extent_name(view->arena, rank, i)) == 0;
    return is_extent;
}

/* The parameters and fields that the formulas of a line `-- cost` name. */
static void note_costs(struct lsp_view *view, const struct source *source, struct span costs,
                       const struct core_global *kernel, const struct kernel_interface *interface) {
    const char *text = (const char *)source->text - source->base;
    for (uint32_t begin = costs.begin, end; begin < costs.end; begin = end) {
        end = begin + 1;
        if (!isalpha((unsigned char)text[begin]))
            continue;
        while (end < costs.end && (isalnum((unsigned char)text[end]) || strchr("_'", text[end])))
            end++;
        uint32_t next = end + (uint32_t)strspn(text + end, " ");
        if (text[next] == '(' || text[next] == '=' || text[next] == '<') /* `ceil`, and what is counted */
            continue;
        const char *name = arena_strndup(view->arena, text + begin, end - begin);
        for (size_t i = 0; i < interface->count; i++) {
            size_t length = strlen(interface->names[i]);
            uint32_t place = parameter_place(view, kernel, interface->names[i]);
            if (place && strncmp(name, interface->names[i], length) == 0 &&
                note_size_fields(view, interface->parameters[i], name + length, begin + (uint32_t)length))
                note_use(view, begin, place);
        }
    }
}

/* The names of kernels in lines `-- test` are names, too, and so are those of fields in what these take and give, and
   the parameters that a line `-- cost` names. */
static void note_directives(struct lsp_view *view) {
    for (size_t i = 0; i < view->c->modules.count; i++) {
        const struct ast_file *file = view->c->modules.at[i]->file;
        const struct source *source = file->source;
        if (source->is_ours && file != view->c->file)
            continue;
        directive_calls calls = directives_calls(view->arena, file);
        for (size_t k = 0; k < calls.count; k++) {
            const struct directive_call *call = &calls.at[k];
            const char *text = (const char *)source->text + (call->kernel.begin - source->base);
            symbol name = symbol_intern(view->c->symbols, text, call->kernel.end - call->kernel.begin);
            const struct name_place *kernel = kernel_of(view, source, name);
            if (!kernel)
                continue;
            struct name_place place = *kernel;
            place.span = call->kernel;
            place.type = kernel->global->scheme ? kernel->global->scheme->type : NULL;
            vec_push(view->arena, &view->names, place);
            if (!place.type)
                continue;
            struct kernel_interface interface = kernel_interface(view->arena, place.global);
            for (size_t a = 0; a < call->arguments.count && a < interface.count; a++)
                note_value(view, source, call->arguments.at[a], interface.parameters[a]);
            note_value(view, source, call->wanted, interface.result);
            note_costs(view, source, call->costs, place.global, &interface);
        }
    }
}

/* The view's source of that text. */
static const struct source *same_source(const struct lsp_view *view, const struct source *source) {
    for (size_t i = 0; source && i < view->c->modules.count; i++) {
        const struct source *ours = view->c->modules.at[i]->file->source;
        if (ours->length == source->length && memcmp(ours->text, source->text, source->length) == 0)
            return ours;
    }
    return NULL;
}

/* The names in the conditions of lines `-- test forall`. */
static void note_conditions(struct lsp_view *view) {
    struct compilation *c = view->c;
    directives unread = {0};
    directives tests = directives_find(view->arena, c->file, &unread, diagnostics_new(view->arena, c->sources));
    if (diag_error_count(c->diagnostics) || !property_has_conditions(&tests))
        return;
    name_places names = {0};
    struct property_places places;
    enum exit_status status;
    struct compilation *made = property_check(c, &tests, &names, &places, &status);
    for (size_t i = 0; i < names.count; i++) {
        const struct name_place *name = &names.at[i];
        const struct source *from = source_at(made->sources, name->definition), *home = same_source(view, from);
        for (size_t k = 0; home && k < tests.count; k++) {
            const struct directive *test = &tests.at[k];
            if (places.at[k].begin > name->span.begin || name->span.begin >= places.at[k].end)
                continue;
            uint32_t condition = test->span.begin + test->forall->column - 1;
            note_use(view, condition + name->span.begin - places.at[k].begin,
                     home->base + name->definition.begin - from->base);
        }
    }
    compilation_free(made);
}

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
    *view = (struct lsp_view){.arena = arena,
                              .options = checking,
                              .documents = documents,
                              .document = document,
                              .lines = map_new(arena),
                              .uris = map_new(arena)};
    for (size_t i = 0; i < documents->count; i++) {
        const struct lsp_document *one = documents->at[i];
        vec_push(arena, &checking->unsaved, (struct unsaved){one->path, one->text, one->length});
    }
    struct compilation *c = view->c = compilation_new(checking);
    c->names = &view->names;
    view->status = compilation_check(c, document->path);
    if (c->file) {
        view->source = c->file->source;
        note_directives(view);
        note_conditions(view);
    }
    return view;
}

/* ---- what a name stands for ---- */

const struct name_place *lsp_place_at(const struct lsp_view *view, uint32_t offset) {
    const struct name_place *best = NULL;
    for (size_t i = 0; i < view->names.count; i++) {
        const struct name_place *place = &view->names.at[i];
        if (place->span.begin > offset || place->span.end < offset)
            continue;
        /* Behind `f` in `f(x)` both touch the place: take the one that begins there. In a pattern `{ mass }` take what
           is bound, not the field. */
        bool is_bound = place->definition.begin == place->span.begin;
        if (!best || place->span.begin > best->span.begin || (place->span.begin == best->span.begin && is_bound))
            best = place;
    }
    return best;
}

bool lsp_is_local(const struct name_place *place) { return !place->global && !place->is_field; }

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
        if ((size_t)(stop - at) >= strlen(SYNTAX_ALSO) && memcmp(at, SYNTAX_ALSO, strlen(SYNTAX_ALSO)) == 0) {
            at = newline ? newline + 1 : end;
            continue;
        }
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
yyjson_mut_val *lsp_type_definition(struct lsp_view *view, yyjson_mut_doc *json, uint32_t offset) {
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
                if ((file->decls.at[k]->kind == DECL_TYPE || file->decls.at[k]->kind == DECL_DATA) &&
                    file->decls.at[k]->name == token->name)
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
    return file ? file : lsp_type_definition(view, json, offset);
}

/* ---- references ---- */

static bool is_defined_at(struct lsp_view *view, const struct name_place *place, const char *uri, uint32_t at) {
    const struct source *source = source_at(view->c->sources, place->definition);
    return source && place->definition.begin - source->base == at && strcmp(lsp_uri_of_source(view, source), uri) == 0;
}

/* False for sources of the prelude and the library, unless the editor shows that one. */
bool lsp_is_shown(const struct lsp_view *view, const struct source *source) {
    return source && (!source->is_ours || source == view->source);
}

static void add_occurrence(lsp_occurrences *found, struct lsp_view *view, const struct name_place *place) {
    const struct source *source = source_at(view->c->sources, place->span);
    struct lsp_occurrence one = {.view = view,
                                 .span = place->span,
                                 .uri = lsp_uri_of_source(view, source),
                                 .at = place->span.begin - source->base,
                                 .is_definition = !place->type};
    for (size_t i = 0; i < found->count; i++)
        if (found->at[i].at == one.at && strcmp(found->at[i].uri, one.uri) == 0)
            return;
    vec_push(view->arena, found, one);
}

lsp_occurrences lsp_occurrences_of(const lsp_views *views, const struct name_place *of) {
    lsp_occurrences found = {0};
    struct lsp_view *first = views->at[0];
    const struct source *home = source_at(first->c->sources, of->definition);
    const char *uri = home ? lsp_uri_of_source(first, home) : NULL;
    for (size_t v = 0; v < views->count; v++) {
        struct lsp_view *view = views->at[v];
        for (size_t i = 0; i < view->names.count; i++) {
            const struct name_place *place = &view->names.at[i];
            bool is_same = v == 0 ? is_same_name(place, of)
                                  : strcmp(place->name->text, of->name->text) == 0 &&
                                        is_defined_at(view, place, uri, of->definition.begin - home->base);
            if (is_same && lsp_is_shown(view, source_at(view->c->sources, place->span)))
                add_occurrence(&found, view, place);
        }
    }
    return found;
}

/* ---- other files ---- */

/* The documents that may import others: the open ones, and those in folders. */
struct search {
    struct arena *arena;
    struct symbols *symbols;
    struct map *known; /* URIs, as symbols, of those that were found */
    lsp_documents found;
    size_t left; /* entries of folders that are looked at yet */
};

static bool is_new(struct search *search, const char *uri) {
    symbol key = symbol_of(search->symbols, uri);
    if (map_has(search->known, key))
        return false;
    map_set(search->known, key, NULL);
    return true;
}

static void add_file(struct search *search, const char *path) {
    const char *uri = lsp_uri_of_path(search->arena, path), *why;
    struct value_bytes bytes;
    if (!is_new(search, uri) || !value_read_file(search->arena, path, &bytes, &why))
        return;
    struct lsp_document *document = ARENA_NEW(search->arena, struct lsp_document);
    *document = (struct lsp_document){uri, path, (const char *)bytes.at, bytes.length, 0};
    vec_push(search->arena, &search->found, document);
}

/* The files of a folder, and of those within it where there are levels left. Links are not followed. */
static void add_folder(struct search *search, const char *folder, unsigned levels) {
    DIR *listing = *folder ? opendir(folder) : NULL;
    for (struct dirent *entry; listing && search->left && (entry = readdir(listing));) {
        struct stat status;
        const char *path = path_join(search->arena, folder, arena_printf(search->arena, "%s", entry->d_name));
        search->left--;
        if (text_ends_with(entry->d_name, ".fcl"))
            add_file(search, path);
        else if (levels && entry->d_name[0] != '.' && lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
            add_folder(search, path, levels - 1);
    }
    if (listing)
        closedir(listing);
}

static lsp_documents neighbours_of(struct lsp_view *view, const char *home, bool *is_all) {
    enum { ENTRIES_MOST = 20000, LEVELS_MOST = 16 };
    struct arena *arena = view->arena;
    struct search search = {.arena = arena, .symbols = view->c->symbols, .known = map_new(arena), .left = ENTRIES_MOST};
    for (size_t i = 0; i < view->documents->count; i++) {
        is_new(&search, lsp_uri_of_path(arena, view->documents->at[i]->path));
        if (view->documents->at[i] != view->document)
            vec_push(arena, &search.found, view->documents->at[i]);
    }
    add_folder(&search, path_directory(arena, view->document->path), 0);
    add_folder(&search, path_directory(arena, home), 0);
    for (size_t i = 0; view->folders && i < view->folders->count; i++)
        add_folder(&search, view->folders->at[i], LEVELS_MOST);
    *is_all = search.left > 0;
    return search.found;
}

static bool mentions(const struct lsp_document *document, const char *name) {
    return memmem(document->text, document->length, name, strlen(name)) != NULL;
}

static bool has_file(struct lsp_view *view, const char *uri) {
    for (size_t i = 0; i < view->c->files.count; i++)
        if (strcmp(lsp_uri_of_source(view, view->c->files.at[i]->module->file->source), uri) == 0)
            return true;
    return false;
}

lsp_views lsp_views_of(struct lsp_view *view, const struct name_place *place, const char *other, bool *is_all) {
    lsp_views views = {0};
    vec_push(view->arena, &views, view);
    *is_all = true;
    const struct source *source = source_at(view->c->sources, place->definition);
    if (lsp_is_local(place) || !source || source->is_ours)
        return views; /* what is local, or used by too many to look for */
    const char *uri = lsp_uri_of_source(view, source);
    lsp_documents neighbours = neighbours_of(view, lsp_path_of_source(view, source), is_all);
    for (size_t i = 0; i < neighbours.count; i++) {
        const struct lsp_document *document = neighbours.at[i];
        bool is_concerned = mentions(document, place->name->text) || (other && mentions(document, other));
        if (!is_concerned || !mentions(document, "import"))
            continue;
        struct lsp_view *one = lsp_view_open(view->arena, view->options, view->documents, document);
        if (one->source && has_file(one, uri))
            vec_push(view->arena, &views, one);
    }
    return views;
}

yyjson_mut_val *lsp_references(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    const struct name_place *place = lsp_place_at(view, lsp_offset(view, yyjson_obj_get(params, "position")));
    yyjson_mut_val *all = yyjson_mut_arr(json);
    bool with_definition = yyjson_get_bool(yyjson_obj_get(yyjson_obj_get(params, "context"), "includeDeclaration"));
    lsp_occurrences found = {0};
    bool is_all;
    if (place) {
        lsp_views views = lsp_views_of(view, place, NULL, &is_all);
        found = lsp_occurrences_of(&views, place);
    }
    for (size_t i = 0; i < found.count; i++)
        if (with_definition || !found.at[i].is_definition)
            yyjson_mut_arr_append(all, lsp_location(found.at[i].view, json, found.at[i].span));
    return all;
}

yyjson_mut_val *lsp_highlight(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    const struct name_place *place = lsp_place_at(view, lsp_offset(view, yyjson_obj_get(params, "position")));
    yyjson_mut_val *all = yyjson_mut_arr(json);
    for (size_t i = 0; place && i < view->names.count; i++) {
        const struct name_place *other = &view->names.at[i];
        if (is_same_name(place, other) && source_at(view->c->sources, other->span) == view->source)
            yyjson_mut_obj_add_val(json, yyjson_mut_arr_add_obj(json, all), "range",
                                   lsp_range(view, json, other->span));
    }
    return all;
}

/* ---- symbols ---- */

yyjson_mut_val *lsp_symbols(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    (void)params;
    enum { KIND_CLASS = 5, KIND_FUNCTION = 12, KIND_CONSTANT = 14, KIND_EVENT = 24 };
    static const int kinds[] = {[DECL_FUN] = KIND_FUNCTION, [DECL_VAL] = KIND_CONSTANT, [DECL_KERNEL] = KIND_EVENT,
                                [DECL_TYPE] = KIND_CLASS,   [DECL_DATA] = KIND_CLASS,   [DECL_PARAM] = KIND_CONSTANT};
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
