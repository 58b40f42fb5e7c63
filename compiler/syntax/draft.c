/* Files by their declarations. Each begins with a word that begins nothing else, so that the tokens say where it ends
   and which names are in it. */
#include "syntax/draft.h"

#include "parser.h"
#include "support/map.h"
#include "syntax/ast_build.h"

static enum ast_decl_kind kind_of(int token) {
    switch (token) {
    case TOKEN_SIG: return DECL_SIG;
    case TOKEN_FUN: return DECL_FUN;
    case TOKEN_KERNEL: return DECL_KERNEL;
    case TOKEN_PARAM: return DECL_PARAM;
    case TOKEN_TYPE: return DECL_TYPE;
    case TOKEN_DATA: return DECL_DATA;
    case TOKEN_IMPORT: return DECL_IMPORT;
    default: return DECL_VAL;
    }
}

struct draft *draft_new(struct arena *arena, struct symbols *symbols, const struct source *source,
                        struct diagnostics *diagnostics) {
    struct draft *draft = ARENA_NEW(arena, struct draft);
    *draft = (struct draft){.arena = arena, .symbols = symbols, .source = source, .diagnostics = diagnostics};
    draft->file = ARENA_NEW(arena, struct ast_file);
    draft->file->source = source;
    lex_source(arena, symbols, source, diagnostics, &draft->tokens);
    draft->file->comments = draft->tokens.comments;
    size_t count = draft->tokens.count - 1; /* without the end */
    for (size_t i = 0; i < count; i++) {
        const struct token *token = &draft->tokens.at[i];
        if (i == 0 || token_starts_declaration(token->kind)) {
            bool is_named = token_starts_declaration(token->kind) && token[1].kind == TOKEN_NAME;
            struct draft_decl decl = {.kind = kind_of(token->kind), .draft = draft, .first = i};
            decl.name = is_named ? token[1].name : NULL;
            vec_push(arena, &draft->decls, decl);
        }
        draft->decls.at[draft->decls.count - 1].end = i + 1;
    }
    return draft;
}

/* ---- what is wanted ---- */

void draft_want_all(struct draft *draft) {
    for (size_t i = 0; i < draft->decls.count; i++)
        draft->decls.at[i].is_wanted = true;
}

void draft_want_kind(struct draft *draft, enum ast_decl_kind kind) {
    for (size_t i = 0; i < draft->decls.count; i++)
        draft->decls.at[i].is_wanted |= draft->decls.at[i].kind == kind;
}

typedef VEC(struct draft_decl *) draft_decls;

struct wanting {
    struct arena *arena;
    struct map *named;   /* symbol → draft_decls *: what is still to be wanted where the name is used */
    draft_decls reached; /* wanted, and their own names not looked at */
};

static draft_decls *named(struct wanting *w, symbol name) {
    draft_decls *all = map_get(w->named, name);
    if (!all)
        map_set(w->named, name, all = ARENA_NEW(w->arena, draft_decls));
    return all;
}

static void want_names(struct wanting *w, const struct draft *draft, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        draft_decls *all = draft->tokens.at[i].kind == TOKEN_NAME ? map_get(w->named, draft->tokens.at[i].name) : NULL;
        for (size_t k = 0; all && k < all->count; k++) {
            if (!all->at[k]->is_wanted)
                vec_push(w->arena, &w->reached, all->at[k]);
            all->at[k]->is_wanted = true;
        }
        if (all)
            all->count = 0;
    }
}

void draft_want_used(const drafts *library, const drafts *programs, const draft_needs *needs) {
    if (!library->count)
        return;
    const struct draft *any = library->at[0];
    struct wanting w = {.arena = any->arena, .named = map_new(any->arena)};
    for (size_t i = 0; i < library->count; i++)
        for (size_t k = 0; k < library->at[i]->decls.count; k++) {
            struct draft_decl *decl = &library->at[i]->decls.at[k];
            if (decl->name)
                vec_push(w.arena, named(&w, decl->name), decl);
            if (decl->is_wanted)
                vec_push(w.arena, &w.reached, decl);
        }
    for (size_t i = 0; i < needs->count; i++) {
        draft_decls *user = named(&w, symbol_of(any->symbols, needs->at[i].user));
        const draft_decls *used = named(&w, symbol_of(any->symbols, needs->at[i].used));
        for (size_t k = 0; k < used->count; k++)
            vec_push(w.arena, user, used->at[k]);
    }
    for (size_t i = 0; i < programs->count; i++)
        want_names(&w, programs->at[i], 0, programs->at[i]->tokens.count);
    while (w.reached.count) {
        const struct draft_decl *decl = w.reached.at[--w.reached.count];
        want_names(&w, decl->draft, decl->first, decl->end);
    }
}

/* ---- reading ---- */

/* A declaration that was cut off before its end is known by its name alone. */
static void forget_cut(struct parser *p, const struct tokens *tokens) {
    struct ast_file *file = p->file;
    const struct token *end = &tokens->at[tokens->count - 1];
    if (!file->decls.count || !end->is_reported)
        return;
    struct ast_decl *last = file->decls.at[file->decls.count - 1];
    if (last->span.end != end->span.end)
        return; /* what could not be read follows it */
    if (last->kind == DECL_SIG) {
        file->decls.count--; /* its definition was not read */
    } else if (tokens->is_cut && last->body) {
        last->kind = DECL_VAL;
        last->body = build_error(p, last->name_span);
    } else if (tokens->is_cut && last->type) {
        last->type = build_type_error(p, last->name_span);
    }
}

void draft_read(struct draft *draft) {
    struct parser parser = {.arena = draft->arena,
                            .symbols = draft->symbols,
                            .source = draft->source,
                            .diagnostics = draft->diagnostics,
                            .file = draft->file};
    struct tokens *tokens = &parser.tokens;
    for (size_t i = 0; i < draft->decls.count; i++)
        tokens->capacity += draft->decls.at[i].is_wanted ? draft->decls.at[i].end - draft->decls.at[i].first : 0;
    tokens->at = ARENA_ARRAY(draft->arena, struct token, ++tokens->capacity);
    for (size_t i = 0; i < draft->decls.count; i++) {
        const struct draft_decl *decl = &draft->decls.at[i];
        if (!decl->is_wanted)
            continue;
        memcpy(tokens->at + tokens->count, draft->tokens.at + decl->first,
               (decl->end - decl->first) * sizeof *tokens->at);
        tokens->count += decl->end - decl->first;
    }
    tokens->at[tokens->count++] = draft->tokens.at[draft->tokens.count - 1];
    mark_layout(draft->arena, draft->symbols, draft->source, draft->diagnostics, tokens);
    draft->file->decls.count = 0;
    yyparse(&parser);
    forget_cut(&parser, &draft->tokens);
}
