/* The front door of the syntax stage: text to tree, and the dumps of both its forms. */
#ifndef FCL_SYNTAX_SYNTAX_H
#define FCL_SYNTAX_SYNTAX_H

#include "support/diag.h"
#include "support/text.h"
#include "syntax/ast.h"

/* Never NULL. The parts that could be read are there even after errors: a definition that could not be read in full is
   a DECL_VAL of its name whose body is EXPR_ERROR. */
struct ast_file *syntax_parse(struct arena *arena, struct symbols *symbols, const struct source *source,
                              struct diagnostics *diagnostics);

/* The comment directly above a declaration, or above the sig that comes before it, which is then given:
   whole lines with their dashes. Empty: none. */
struct span syntax_doc(const struct source *source, const struct ast_decl *decl);
/* Is it for its own library only? Then its comment begins with `Internal:`. */
bool syntax_is_internal(const struct source *source, const struct ast_decl *decl);
/* A line of such a comment that begins so, behind its dashes, has words by which others look for the definition:
   they are for searches, and no sentences to read. */
#define SYNTAX_ALSO "also: "

/* One token a line: `line:column kind text`. */
void syntax_dump_tokens(struct text *text, struct symbols *symbols, const struct source *source,
                        struct diagnostics *diagnostics);

/* One S-expression a declaration; see dump.c for the forms. */
void syntax_dump_ast(struct text *text, const struct ast_file *file);

#endif
