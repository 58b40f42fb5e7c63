/* A file by its declarations, before it is read further: of the prelude only that is read which a program uses. A local
   name counts as a use of what is called so: too much may be read, never too little. Commands and messages that speak
   of what else there is read all of it. */
#ifndef FCL_SYNTAX_DRAFT_H
#define FCL_SYNTAX_DRAFT_H

#include "syntax/ast.h"
#include "syntax/lexer.h"

struct draft_decl {
    enum ast_decl_kind kind;
    symbol name; /* what it declares; NULL: none, as of an import or of what is wrong */
    const struct draft *draft;
    size_t first, end; /* of its tokens */
    bool is_wanted;
};
struct draft {
    struct arena *arena;
    struct symbols *symbols;
    const struct source *source;
    struct diagnostics *diagnostics;
    struct tokens tokens;
    VEC(struct draft_decl) decls; /* in source order */
    struct ast_file *file;        /* those that were wanted when it was last read; never NULL */
};
typedef VEC(struct draft *) drafts;

struct draft *draft_new(struct arena *arena, struct symbols *symbols, const struct source *source,
                        struct diagnostics *diagnostics);
void draft_want_all(struct draft *draft);
void draft_want_kind(struct draft *draft, enum ast_decl_kind kind);
/* A program that uses the name `user` needs `used`, too, though nothing that is written says so. */
struct draft_need {
    const char *user, *used;
};
typedef VEC(struct draft_need) draft_needs;
/* Wants of the library what the names in the programs could mean, and what is wanted of it already, with all that these
   use in turn. A local name is taken for a use of what is called so: this may want too much, never too little. */
void draft_want_used(const drafts *library, const drafts *programs, const draft_needs *needs);
/* Parses what is wanted into draft->file, anew each time. */
void draft_read(struct draft *draft);

#endif
