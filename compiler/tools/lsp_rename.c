/* Renaming: the new name is written into copies of all files that have the old one, and every
   program that may see either is checked again. There are edits only if each name in them stands
   for what it stood for before.

   note [fields and their names]
   A pattern `{ mass }` has two names in one place, the field's and that of what it binds. Where one of them is renamed,
   the pattern says both: `{ weight = mass }` or `{ mass = m }`. */
#include <stdlib.h>
#include <string.h>

#include "tools/lsp.h"
#include "parser.h"
#include "syntax/lexer.h"

struct renaming {
    struct arena *arena;
    const char *old, *name;
    struct span scope;       /* of a local name, the declaration that it is in, in the first program */
    lsp_views views;         /* the programs as they are */
    lsp_occurrences edits;   /* by file and place */
    const char **texts;      /* what each becomes */
    uint32_t *bound_at;      /* in it, the name that the pattern binds, see note [fields and their names]; 0: no such */
    lsp_documents documents; /* as they would be: those that are open, and the others that change */
};

/* ---- what has a name that can be another ---- */

/* An identifier, and no keyword. */
static bool is_word(struct lsp_view *view, const char *name) {
    struct sources *sources = sources_new(view->arena);
    const struct source *source = source_add(sources, "name", name, strlen(name));
    struct diagnostics *errors = diagnostics_new(view->arena, sources);
    struct tokens tokens;
    lex_source(view->arena, view->c->symbols, source, errors, &tokens);
    return diag_error_count(errors) == 0 && tokens.count == 2 && tokens.at[0].kind == TOKEN_NAME &&
           tokens.at[0].span.end - tokens.at[0].span.begin == strlen(name);
}

/* The place of the name that is asked for; NULL, and why: it keeps its name. */
static const struct name_place *renamable(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params,
                                          const char **why) {
    uint32_t offset = lsp_offset(view, yyjson_obj_get(params, "position"));
    const struct name_place *place = lsp_place_at(view, offset);
    const struct source *home = place ? source_at(view->c->sources, place->definition) : NULL;
    *why = NULL;
    if (!place && !yyjson_mut_is_null(lsp_type_definition(view, json, offset)))
        *why = "this names a type: names of values can be changed here, those of types cannot";
    else if (!place)
        *why = "there is no name of this program here";
    else if (!home)
        *why = arena_printf(view->arena, "`%s` is a primitive, which keeps its name", place->name->text);
    else if (home->is_ours && (!lsp_is_local(place) || home != view->source))
        *why =
            arena_printf(view->arena, "`%s` is defined in %s, which other programs use", place->name->text, home->path);
    else if (!is_word(view, place->name->text))
        *why = "operators keep their names";
    return *why ? NULL : place;
}

yyjson_mut_val *lsp_prepare_rename(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    const char *why;
    const struct name_place *place = renamable(view, json, params, &why);
    return place ? lsp_range(view, json, place->span) : yyjson_mut_null(json);
}

/* ---- the files as they would be ---- */

static int by_place(const void *a, const void *b) {
    const struct lsp_occurrence *x = a, *y = b;
    int order = strcmp(x->uri, y->uri);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* The file of the edits from `first` to `end`, with the new name in it. */
static struct lsp_document *renamed_document(const struct renaming *r, size_t first, size_t end) {
    const struct lsp_occurrence *edit = &r->edits.at[first];
    const struct source *source = source_at(edit->view->c->sources, edit->span);
    const char *from = (const char *)source->text;
    struct text text;
    size_t at = 0;
    text_init(&text, r->arena);
    for (size_t i = first; i < end; i++) {
        text_add_n(&text, from + at, r->edits.at[i].at - at);
        text_add(&text, r->texts[i]);
        at = r->edits.at[i].at + strlen(r->old);
    }
    text_add_n(&text, from + at, source->length - at);
    struct lsp_document *document = ARENA_NEW(r->arena, struct lsp_document);
    *document =
        (struct lsp_document){edit->uri, lsp_path_of_source(edit->view, source), text_string(&text), text.length, 0};
    return document;
}

static bool is_both(const struct lsp_occurrence *edit) {
    const name_places *names = &edit->view->names;
    bool is_bound = false;
    size_t here = 0;
    for (size_t i = 0; i < names->count; i++)
        if (names->at[i].span.begin == edit->span.begin) {
            here++;
            is_bound |= names->at[i].definition.begin == edit->span.begin;
        }
    return is_bound && here > 1;
}

static void write_texts(struct renaming *r) {
    r->texts = ARENA_ARRAY(r->arena, const char *, r->edits.count + 1);
    r->bound_at = ARENA_ARRAY(r->arena, uint32_t, r->edits.count + 1);
    for (size_t i = 0; i < r->edits.count; i++) {
        const struct lsp_occurrence *edit = &r->edits.at[i];
        r->texts[i] = r->name;
        r->bound_at[i] = 0;
        if (!is_both(edit))
            continue;
        const char *field = edit->is_definition ? r->old : r->name, *bound = edit->is_definition ? r->name : r->old;
        r->texts[i] = arena_printf(r->arena, "%s = %s", field, bound);
        r->bound_at[i] = (uint32_t)(strlen(field) + strlen(" = "));
    }
}

static const struct lsp_document *document_of(const struct renaming *r, const struct lsp_document *before) {
    for (size_t i = 0; i < r->documents.count; i++)
        if (strcmp(r->documents.at[i]->uri, before->uri) == 0)
            return r->documents.at[i];
    return before;
}

static void make_documents(struct renaming *r, const lsp_documents *open) {
    for (size_t i = 0, end; i < r->edits.count; i = end) {
        for (end = i; end < r->edits.count && strcmp(r->edits.at[end].uri, r->edits.at[i].uri) == 0;)
            end++;
        vec_push(r->arena, &r->documents, renamed_document(r, i, end));
    }
    for (size_t i = 0; i < open->count; i++)
        if (document_of(r, open->at[i]) == open->at[i])
            vec_push(r->arena, &r->documents, open->at[i]);
}

/* ---- what each name stands for ---- */

struct meaning {
    const struct name_place *place;
    const char *uri, *home; /* the file of the name, and of its definition; NULL: a primitive's */
    uint32_t at, home_at;   /* in these files as they would be */
    size_t index;
};
typedef VEC(struct meaning) meanings;

/* Where it would be what is at that place; `is_bound`: what is bound there. */
static uint32_t moved(const struct renaming *r, const char *uri, uint32_t at, bool is_bound) {
    uint32_t to = at;
    for (size_t i = 0; i < r->edits.count; i++)
        if (r->edits.at[i].at <= at && strcmp(r->edits.at[i].uri, uri) == 0)
            to += r->edits.at[i].at < at ? (uint32_t)strlen(r->texts[i]) - (uint32_t)strlen(r->old)
                  : is_bound             ? r->bound_at[i]
                                         : 0;
    return to;
}

static int by_meaning(const void *a, const void *b) {
    const struct meaning *x = a, *y = b;
    int order = strcmp(x->uri, y->uri);
    if (!order)
        order = (x->at > y->at) - (x->at < y->at);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Those of the program's own names, by place. */
static meanings meanings_of(const struct renaming *r, struct lsp_view *view, bool is_before) {
    meanings all = {0};
    for (size_t i = 0; i < view->names.count; i++) {
        const struct name_place *place = &view->names.at[i];
        const struct source *source = source_at(view->c->sources, place->span);
        const struct source *home = source_at(view->c->sources, place->definition);
        if (!lsp_is_shown(view, source))
            continue;
        struct meaning one = {.place = place, .uri = lsp_uri_of_source(view, source), .index = i};
        one.at = place->span.begin - source->base;
        bool is_bound = place->definition.begin == place->span.begin;
        one.at = is_before ? moved(r, one.uri, one.at, is_bound) : one.at;
        if (home) {
            one.home = lsp_uri_of_source(view, home);
            one.home_at = place->definition.begin - home->base;
            one.home_at = is_before ? moved(r, one.home, one.home_at, true) : one.home_at;
        }
        vec_push(r->arena, &all, one);
    }
    if (all.count)
        qsort(all.at, all.count, sizeof *all.at, by_meaning);
    return all;
}

static bool is_same_meaning(const struct meaning *a, const struct meaning *b) {
    if (!a->home || !b->home)
        return !a->home && !b->home && a->place->primitive == b->place->primitive;
    return a->home_at == b->home_at && strcmp(a->home, b->home) == 0;
}

/* ---- why not ---- */

/* "q.fcl:3:9" */
static const char *place_text(const struct lsp_view *view, struct span span) {
    struct place place;
    if (!place_of(view->c->sources, span.begin, &place))
        return text_file_name(view->document->path);
    const char *file = place.source->is_ours ? place.source->path : text_file_name(place.source->path);
    return arena_printf(view->arena, "%s:%u:%u", file, place.line, place.column);
}

static const char *meaning_text(const struct lsp_view *view, const struct meaning *meaning) {
    if (!meaning->home)
        return "the primitive";
    return arena_printf(view->arena, "the one defined at %s", place_text(view, meaning->place->definition));
}

/* The first name that would not stand for what it stands for; NULL: none. */
static const char *other_meaning(const struct renaming *r, struct lsp_view *before, struct lsp_view *after) {
    meanings old = meanings_of(r, before, true), new = meanings_of(r, after, false);
    for (size_t i = 0; i < old.count || i < new.count; i++) {
        const struct meaning *was = i < old.count ? &old.at[i] : NULL, *is = i < new.count ? &new.at[i] : NULL;
        int order = !was ? 1 : !is ? -1 : strcmp(was->uri, is->uri);
        if (was && is && !order)
            order = (was->at > is->at) - (was->at < is->at);
        if (order < 0)
            return arena_printf(r->arena, "%s: `%s` would stand for nothing", place_text(before, was->place->span),
                                was->place->name->text);
        if (order > 0)
            return arena_printf(r->arena, "%s: `%s`, which stands for nothing, would be %s",
                                place_text(after, is->place->span), is->place->name->text, meaning_text(after, is));
        if (!is_same_meaning(was, is))
            return arena_printf(r->arena, "%s: `%s` would be %s, and no longer %s",
                                place_text(before, was->place->span), is->place->name->text, meaning_text(after, is),
                                meaning_text(before, was));
    }
    return NULL;
}

/* An error, or that a kernel is hidden and not compiled: that changes what the program is. */
static bool is_grave(const struct diag_view *one) { return one->is_error || strcmp(one->number, "W010") == 0; }

static size_t grave_count(const struct lsp_view *view) {
    const struct diag_view *all;
    size_t count = diag_view_all(view->c->diagnostics, &all), graves = 0;
    for (size_t i = 0; i < count; i++)
        graves += is_grave(&all[i]);
    return graves;
}

static bool has_message(const struct lsp_view *view, const struct diag_view *wanted) {
    const struct diag_view *all;
    size_t count = diag_view_all(view->c->diagnostics, &all);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].number, wanted->number) == 0 && strcmp(all[i].message, wanted->message) == 0)
            return true;
    return false;
}

/* An error that there would be, and is not now; NULL: there are as many. */
static const char *other_errors(const struct renaming *r, struct lsp_view *before, struct lsp_view *after) {
    if (grave_count(before) == grave_count(after))
        return NULL;
    const struct diag_view *all;
    size_t count = diag_view_all(after->c->diagnostics, &all);
    for (size_t i = 0; i < count; i++)
        if (is_grave(&all[i]) && !has_message(before, &all[i]))
            return arena_printf(r->arena, "%s: %s[%s]: %s", place_text(after, all[i].span),
                                all[i].is_error ? "error" : "warning", all[i].number, all[i].message);
    return arena_printf(r->arena, "%s would have other errors", text_file_name(before->document->path));
}

static bool is_in_scope(const struct renaming *r, struct span span) {
    return !r->scope.end || (r->scope.begin <= span.begin && span.end <= r->scope.end);
}

/* In a program with errors, a place of either name of which nothing is known, as it is in a part
   that could not be read or checked; NULL: there is none. */
static const char *unknown_meaning(const struct renaming *r, struct lsp_view *view) {
    if (diag_error_count(view->c->diagnostics) == 0)
        return NULL;
    struct map *known = map_new(r->arena);
    for (size_t i = 0; i < view->names.count; i++)
        map_set(known, (void *)(uintptr_t)view->names.at[i].span.begin, view);
    for (size_t i = 0; i < view->c->files.count; i++) {
        const struct source *source = view->c->files.at[i]->module->file->source;
        struct tokens tokens;
        if (!lsp_is_shown(view, source))
            continue;
        lex_source(r->arena, view->c->symbols, source, diagnostics_new(r->arena, view->c->sources), &tokens);
        for (size_t k = 0; k < tokens.count; k++) {
            const struct token *token = &tokens.at[k];
            if (token->kind == TOKEN_NAME && is_in_scope(r, token->span) &&
                !map_has(known, (void *)(uintptr_t)token->span.begin) &&
                (strcmp(token->name->text, r->old) == 0 || strcmp(token->name->text, r->name) == 0))
                return arena_printf(r->arena, "%s: the program has errors, and what `%s` stands for is not known",
                                    place_text(view, token->span), token->name->text);
        }
    }
    return NULL;
}

/* Why the programs would not be what they are; NULL: they would. */
static const char *conflict_of(const struct renaming *r) {
    const char *why = NULL;
    for (size_t i = 0; i < r->views.count && !why; i++)
        why = unknown_meaning(r, r->views.at[i]);
    for (size_t i = 0; i < r->views.count && !why; i++) {
        struct lsp_view *before = r->views.at[i];
        struct lsp_view *after =
            lsp_view_open(r->arena, before->options, &r->documents, document_of(r, before->document));
        why = after->source ? other_meaning(r, before, after) : "a file cannot be read any more";
        why = why ? why : other_errors(r, before, after);
    }
    return why;
}

/* ---- the answer ---- */

static struct span scope_of(const struct lsp_view *view, const struct name_place *place) {
    const struct ast_file *file = view->c->file;
    for (size_t i = 0; i < file->decls.count && lsp_is_local(place); i++) {
        struct span span = file->decls.at[i]->span;
        if (span.begin <= place->definition.begin && place->definition.end <= span.end)
            return span;
    }
    return (struct span){0, 0};
}

static yyjson_mut_val *refusal(struct lsp_view *view, yyjson_mut_doc *json, const char *message) {
    yyjson_mut_val *answer = yyjson_mut_obj(json);
    json_add_text(json, view->arena, answer, LSP_REFUSAL, message);
    return answer;
}

static yyjson_mut_val *changes_of(const struct renaming *r, yyjson_mut_doc *json) {
    yyjson_mut_val *answer = yyjson_mut_obj(json);
    yyjson_mut_val *changes = json_add_object(json, answer, "changes");
    for (size_t i = 0; i < r->edits.count; i++) {
        const struct lsp_occurrence *one = &r->edits.at[i];
        yyjson_mut_val *edits = yyjson_mut_obj_get(changes, one->uri);
        if (!edits) {
            edits = yyjson_mut_arr(json);
            yyjson_mut_obj_add(changes, json_text(json, r->arena, one->uri), edits);
        }
        yyjson_mut_val *edit = yyjson_mut_arr_add_obj(json, edits);
        yyjson_mut_obj_add_val(json, edit, "range", lsp_range(one->view, json, one->span));
        json_add_text(json, r->arena, edit, "newText", r->texts[i]);
    }
    return answer;
}

yyjson_mut_val *lsp_rename(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params) {
    const char *name = yyjson_get_str(yyjson_obj_get(params, "newName")), *why;
    const struct name_place *place = renamable(view, json, params, &why);
    if (!place)
        return refusal(view, json, why);
    if (!name || !is_word(view, name))
        return refusal(view, json, "a name is a letter, then letters, digits, `_` and `'`; no keyword");
    bool is_all;
    struct renaming r = {.arena = view->arena, .old = place->name->text, .name = name};
    r.scope = scope_of(view, place);
    r.views = lsp_views_of(view, place, name, &is_all);
    if (!is_all)
        return refusal(view, json, "there are too many files to see which of them use this name");
    r.edits = lsp_occurrences_of(&r.views, place);
    qsort(r.edits.at, r.edits.count, sizeof *r.edits.at, by_place);
    write_texts(&r);
    make_documents(&r, view->documents);
    why = conflict_of(&r);
    return why ? refusal(view, json, why) : changes_of(&r, json);
}
