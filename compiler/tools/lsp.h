/* The language server's parts: lsp.c talks to the editor and keeps the documents; the others look
   at programs, each time in a process of their own, so that nothing in a program can end the
   server. */
#ifndef FCL_TOOLS_LSP_H
#define FCL_TOOLS_LSP_H

#include "driver/compilation.h"
#include "support/json.h"
#include "support/map.h"

struct lsp_document {
    const char *uri, *path;
    const char *text; /* as the editor shows it */
    size_t length;
    int64_t version;
};
typedef VEC(struct lsp_document *) lsp_documents;
typedef VEC(const char *) lsp_folders;

/* A document, checked together with what it imports. */
struct lsp_view {
    struct arena *arena;
    const struct options *options;
    const lsp_documents *documents; /* all that are open */
    const lsp_folders *folders;     /* of the editor's workspace, by their paths; NULL: not known */
    const struct lsp_document *document;
    struct compilation *c;
    enum exit_status status;     /* of loading and checking, without the errors of the program */
    const struct source *source; /* the document's */
    name_places names;
    struct map *lines; /* source → struct lsp_lines * */
    struct map *uris;  /* source → const char * */
};

struct lsp_view *lsp_view_open(struct arena *arena, const struct options *options, const lsp_documents *documents,
                               const struct lsp_document *document);

/* ---- lsp_places.c: lines and characters of UTF-16, paths and URIs ---- */

const char *lsp_path_of_uri(struct arena *arena, const char *uri);
const char *lsp_uri_of_path(struct arena *arena, const char *path);
/* The editor's name for a source of the view's program. */
const char *lsp_uri_of_source(const struct lsp_view *view, const struct source *source);
/* The path by which it was opened. */
const char *lsp_path_of_source(const struct lsp_view *view, const struct source *source);
/* {"line", "character"} of an offset in the shared range. */
yyjson_mut_val *lsp_position(struct lsp_view *view, yyjson_mut_doc *json, uint32_t offset);
yyjson_mut_val *lsp_range(struct lsp_view *view, yyjson_mut_doc *json, struct span span);
yyjson_mut_val *lsp_location(struct lsp_view *view, yyjson_mut_doc *json, struct span span);
/* The offset of {"line", "character"} in the document; the nearest that there is. */
uint32_t lsp_offset(struct lsp_view *view, yyjson_val *position);

/* ---- lsp_diagnostics.c ---- */

/* The parameters of textDocument/publishDiagnostics. */
yyjson_mut_val *lsp_diagnostics(struct lsp_view *view, yyjson_mut_doc *json);
/* With one message, at the document's beginning. */
yyjson_mut_val *lsp_diagnostics_of_failure(yyjson_mut_doc *json, const char *uri, int64_t version, const char *message);
/* Answers textDocument/codeAction: the edits that mend what is wrong in a range. */
yyjson_mut_val *lsp_actions(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params);

/* ---- lsp_names.c, lsp_rename.c, lsp_typing.c: answers to what editors ask ---- */

/* An answer with this member is none, and says why. */
#define LSP_REFUSAL "fclc/refusal"
typedef yyjson_mut_val *lsp_answer(struct lsp_view *view, yyjson_mut_doc *json, yyjson_val *params);

lsp_answer lsp_hover, lsp_definition, lsp_references, lsp_highlight, lsp_prepare_rename, lsp_rename;
lsp_answer lsp_completion, lsp_signature, lsp_inlays, lsp_format, lsp_symbols;

/* No other declaration has it. */
bool lsp_is_local(const struct name_place *place);
/* The place of the name at an offset of the document; NULL: none. */
const struct name_place *lsp_place_at(const struct lsp_view *view, uint32_t offset);
/* Where the `type` is defined that is named there, or null. */
yyjson_mut_val *lsp_type_definition(struct lsp_view *view, yyjson_mut_doc *json, uint32_t offset);

/* A place of a name in any file: by the file's URI, as offsets of different programs do not compare. */
struct lsp_occurrence {
    struct lsp_view *view;
    struct span span;
    const char *uri;
    uint32_t at; /* in its file */
    bool is_definition;
};
typedef VEC(struct lsp_occurrence) lsp_occurrences;
typedef VEC(struct lsp_view *) lsp_views;

bool lsp_is_shown(const struct lsp_view *view, const struct source *source);
/* The programs that may name what the view's name stands for, the view first, of those that have
   its name or `other`, which may be NULL. False in *is_all: there are too many files to look at. */
lsp_views lsp_views_of(struct lsp_view *view, const struct name_place *place, const char *other, bool *is_all);
lsp_occurrences lsp_occurrences_of(const lsp_views *views, const struct name_place *of);

/* "name : type"; and what its comment says, as Markdown, or "". */
const char *lsp_type_text(const struct lsp_view *view, const struct name_place *place);
const char *lsp_primitive_type(const struct lsp_view *view, enum primitive primitive);
const char *lsp_global_type(const struct lsp_view *view, const struct core_global *global);
const char *lsp_global_doc(const struct lsp_view *view, const struct core_global *global);

#endif
