/* Diagnostics of a document, and what to do about them: those of `fclc check`, and
   edits for those of their hints that name what to write. */
#include <string.h>

#include "tools/lsp.h"
#include "syntax/syntax.h"

enum { SEVERITY_ERROR = 1, SEVERITY_WARNING = 2, DIAGNOSTICS_MOST = 200 };

/* A place in the document for what may be in a file that it imports: there, the import. */
static struct span place_in_document(const struct lsp_view *view, struct span span) {
    const struct source *found = source_at(view->c->sources, span);
    if (found == view->source)
        return span;
    const struct ast_file *file = view->c->file;
    for (size_t i = 0; found && i < file->decls.count; i++)
        if (file->decls.at[i]->kind == DECL_IMPORT)
            return file->decls.at[i]->name_span;
    return (struct span){view->source->base, view->source->base};
}

static const char *message_of(const struct lsp_view *view, const struct diag_view *one) {
    struct text text;
    struct place place;
    text_init(&text, view->arena);
    if (source_at(view->c->sources, one->span) != view->source && place_of(view->c->sources, one->span.begin, &place))
        text_printf(&text, "%s:%u:%u: ", place.source->path, place.line, place.column);
    text_add(&text, one->message);
    for (size_t i = 0; i < one->note_count; i++)
        if (!source_at(view->c->sources, one->notes[i].span))
            text_printf(&text, "\nnote: %s", one->notes[i].message);
    for (size_t i = 0; i < one->hint_count; i++)
        text_printf(&text, "\nhint: %s", one->hints[i]);
    return text_string(&text);
}

static void add_notes(struct lsp_view *view, yyjson_mut_doc *json, yyjson_mut_val *to, const struct diag_view *one) {
    yyjson_mut_val *related = yyjson_mut_arr(json);
    for (size_t i = 0; i < one->note_count; i++) {
        if (!source_at(view->c->sources, one->notes[i].span))
            continue;
        yyjson_mut_val *note = yyjson_mut_arr_add_obj(json, related);
        yyjson_mut_obj_add_val(json, note, "location", lsp_location(view, json, one->notes[i].span));
        json_add_text(json, view->arena, note, "message", one->notes[i].message);
    }
    if (yyjson_mut_arr_size(related))
        yyjson_mut_obj_add_val(json, to, "relatedInformation", related);
}

static yyjson_mut_val *diagnostic(struct lsp_view *view, yyjson_mut_doc *json, const struct diag_view *one) {
    yyjson_mut_val *object = yyjson_mut_obj(json);
    struct span span = place_in_document(view, one->span);
    yyjson_mut_obj_add_val(json, object, "range", lsp_range(view, json, span));
    yyjson_mut_obj_add_int(json, object, "severity", one->is_error ? SEVERITY_ERROR : SEVERITY_WARNING);
    yyjson_mut_obj_add_str(json, object, "code", one->number);
    yyjson_mut_obj_add_str(json, object, "source", "fclc");
    json_add_text(json, view->arena, object, "message", message_of(view, one));
    add_notes(view, json, object, one);
    return object;
}

static yyjson_mut_val *publication(yyjson_mut_doc *json, struct arena *arena, const char *uri, int64_t version,
                                   yyjson_mut_val **all) {
    yyjson_mut_val *params = yyjson_mut_obj(json);
    json_add_text(json, arena, params, "uri", uri);
    yyjson_mut_obj_add_sint(json, params, "version", version);
    *all = json_add_array(json, params, "diagnostics");
    return params;
}

yyjson_mut_val *lsp_diagnostics(struct lsp_view *view, yyjson_mut_doc *json) {
    const struct lsp_document *document = view->document;
    yyjson_mut_val *all;
    yyjson_mut_val *params = publication(json, view->arena, document->uri, document->version, &all);
    const struct diag_view *views;
    size_t count = diag_view_all(view->c->diagnostics, &views);
    for (size_t i = 0; i < count && i < DIAGNOSTICS_MOST; i++)
        yyjson_mut_arr_append(all, diagnostic(view, json, &views[i]));
    return params;
}

yyjson_mut_val *lsp_diagnostics_of_failure(yyjson_mut_doc *json, const char *uri, int64_t version,
                                           const char *message) {
    yyjson_mut_val *params = yyjson_mut_obj(json), *range = yyjson_mut_obj(json);
    yyjson_mut_obj_add_str(json, params, "uri", uri);
    yyjson_mut_obj_add_sint(json, params, "version", version);
    static const char *const ends[] = {"start", "end"};
    for (size_t i = 0; i < 2; i++) {
        yyjson_mut_val *position = json_add_object(json, range, ends[i]);
        yyjson_mut_obj_add_uint(json, position, "line", 0);
        yyjson_mut_obj_add_uint(json, position, "character", 0);
    }
    yyjson_mut_val *one = yyjson_mut_arr_add_obj(json, json_add_array(json, params, "diagnostics"));
    yyjson_mut_obj_add_val(json, one, "range", range);
    yyjson_mut_obj_add_int(json, one, "severity", SEVERITY_ERROR);
    yyjson_mut_obj_add_str(json, one, "source", "fclc");
    yyjson_mut_obj_add_str(json, one, "message", message);
    return params;
}

/* ---- what to do ---- */

struct edit {
    struct span span; /* what is replaced */
    const char *text; /* by this */
    const char *title;
};

static void add_action(struct lsp_view *view, yyjson_mut_doc *json, yyjson_mut_val *actions, const char *kind,
                       const struct edit *edit, const struct diag_view *of) {
    yyjson_mut_val *action = yyjson_mut_arr_add_obj(json, actions);
    json_add_text(json, view->arena, action, "title", edit->title);
    yyjson_mut_obj_add_str(json, action, "kind", kind);
    if (of)
        yyjson_mut_arr_append(json_add_array(json, action, "diagnostics"), diagnostic(view, json, of));
    yyjson_mut_val *changes = json_add_object(json, json_add_object(json, action, "edit"), "changes");
    yyjson_mut_val *edits = yyjson_mut_arr(json);
    yyjson_mut_obj_add(changes, json_text(json, view->arena, view->document->uri), edits);
    yyjson_mut_val *one = yyjson_mut_arr_add_obj(json, edits);
    yyjson_mut_obj_add_val(json, one, "range", lsp_range(view, json, edit->span));
    json_add_text(json, view->arena, one, "newText", edit->text);
}

/* The text between the first backquotes behind `before` in the hint; NULL: the hint has none. */
static const char *quoted_after(struct arena *arena, const char *hint, const char *before) {
    const char *at = strstr(hint, before);
    const char *begin = at ? strchr(at + strlen(before) - 1, '`') : NULL;
    const char *end = begin ? strchr(begin + 1, '`') : NULL;
    return end ? arena_strndup(arena, begin + 1, (size_t)(end - begin - 1)) : NULL;
}

static bool begins_with(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* Before the first declaration and its comment: behind the imports, if there are any. */
static uint32_t place_of_import(const struct lsp_view *view) {
    const struct ast_file *file = view->c->file;
    uint32_t place = 0;
    for (size_t i = 0; i < file->decls.count; i++)
        if (file->decls.at[i]->kind == DECL_IMPORT)
            place = file->decls.at[i]->span.begin;
    if (place)
        return place;
    return file->decls.count ? syntax_doc(view->source, file->decls.at[0]).begin : view->source->base;
}

/* The hints that name what to write in the place of what is marked. */
static bool edit_of_hint(const struct lsp_view *view, const struct diag_view *one, const char *hint,
                         struct edit *edit) {
    static const struct {
        const char *code, *words; /* code: NULL: of any */
    } replacing[] = {
        {NULL, "did you mean `"},
        {NULL, "the name here is `"},
    };
    struct arena *arena = view->arena;
    edit->span = one->span;
    for (size_t i = 0; i < sizeof replacing / sizeof *replacing; i++)
        if (begins_with(hint, replacing[i].words)) {
            edit->text = quoted_after(arena, hint, replacing[i].words);
            edit->title = arena_printf(arena, "Write `%s`", edit->text ? edit->text : "");
            return edit->text != NULL;
        }
    if (begins_with(hint, "write `") && strcmp(one->number, "E0101") == 0) {
        edit->text = quoted_after(arena, hint, "write `");
        edit->title = arena_printf(arena, "Write `%s`", edit->text ? edit->text : "");
        return edit->text && strchr(edit->text, ' ') == NULL;
    }
    const char *import = strstr(hint, "is in the library: `import ");
    if (import) {
        const char *line = quoted_after(arena, import, "library: `");
        uint32_t place = place_of_import(view);
        edit->span = (struct span){place, place};
        edit->text = line ? arena_printf(arena, "%s\n", line) : NULL;
        edit->title = line ? arena_printf(arena, "Add `%s`", line) : NULL;
        return line != NULL;
    }
    if (hint[0] == '`' && strstr(hint, "says that this is meant")) {
        edit->text = quoted_after(arena, hint, "`");
        edit->title = arena_printf(arena, "Call it `%s`: it is meant to be unused", edit->text ? edit->text : "");
        return edit->text != NULL;
    }
    return false;
}

/* A sig for the definition whose name is at the offset and that has none. */
static bool edit_of_sig(const struct lsp_view *view, uint32_t offset, struct edit *edit) {
    const struct ast_file *file = view->c->file;
    for (size_t i = 0; i < file->decls.count; i++) {
        const struct ast_decl *decl = file->decls.at[i];
        bool has_sig = i > 0 && file->decls.at[i - 1]->kind == DECL_SIG && file->decls.at[i - 1]->name == decl->name;
        if ((decl->kind != DECL_FUN && decl->kind != DECL_VAL) || has_sig || offset < decl->name_span.begin ||
            offset > decl->name_span.end)
            continue;
        const struct name_place *place = lsp_place_at(view, decl->name_span.begin);
        if (!place || !place->global || type_resolve(place->global->scheme->type)->kind == TYPE_ERROR)
            return false;
        edit->span = (struct span){decl->span.begin, decl->span.begin};
        edit->text = arena_printf(view->arena, "sig %s\n", lsp_type_text(view, place));
        edit->title = "Write its type as a sig";
        return true;
    }
    return false;
}

yyjson_mut_val *lsp_actions(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    yyjson_mut_val *actions = yyjson_mut_arr(json);
    yyjson_val *range = yyjson_obj_get(params, "range");
    uint32_t begin = lsp_offset(view, yyjson_obj_get(range, "start"));
    uint32_t end = lsp_offset(view, yyjson_obj_get(range, "end"));
    const struct diag_view *views;
    size_t count = diag_view_all(view->c->diagnostics, &views);
    struct edit edit;
    for (size_t i = 0; i < count; i++) {
        if (source_at(view->c->sources, views[i].span) != view->source || views[i].span.end < begin ||
            views[i].span.begin > end)
            continue;
        for (size_t k = 0; k < views[i].hint_count; k++)
            if (edit_of_hint(view, &views[i], views[i].hints[k], &edit))
                add_action(view, json, actions, "quickfix", &edit, &views[i]);
    }
    if (edit_of_sig(view, begin, &edit))
        add_action(view, json, actions, "refactor", &edit, NULL);
    return actions;
}
